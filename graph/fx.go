package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// A quote's key is a UUID. Quotes stand in no list.
var quoteKind = declare("Quote", kind[fx.QuoteUID, fx.Quote]{
	prefix: scalar.QuotePrefix,
	find:   func(c *core.Core) finder[fx.QuoteUID, fx.Quote] { return c.FX.FindQuotes },
	key:    func(q *fx.Quote) fx.QuoteUID { return q.UID },
	parse:  scalar.UnmarshalQuoteUID,
	place:  func(*fx.Quote) int64 { return 0 },
	columns: columns{
		"sellAmount": {"SellMinor", "Sell"}, "buyAmount": {"BuyMinor", "Buy"}, "tenor": {"Tenor"},
	},
})

var tradeKind = numbered("Trade", kind[fx.TradeUID, fx.Trade]{
	prefix: scalar.TradePrefix,
	find:   func(c *core.Core) finder[fx.TradeUID, fx.Trade] { return c.FX.FindTrades },
	key:    func(t *fx.Trade) fx.TradeUID { return t.UID },
	columns: columns{
		"sellAmount": {"SellMinor", "Sell"}, "buyAmount": {"BuyMinor", "Buy"}, "quote": {"Quote"},
		"cover": {"Cover"}, "tenor": {"Tenor"},
	},
})

func init() {
	service := func(c *core.Core) *fx.Service { return c.FX }
	queryList("trades", tradeKind, service, (*fx.Service).List, (*fx.Service).Count, nil)
	hasMany(customerKind, "trades", tradeKind, pages(service, (*fx.Service).OfCustomers,
		capped((*fx.Service).CountOfCustomers)))
	hasCustomer(tradeKind, "customer", func(t *fx.Trade) *customers.UID { return &t.Customer })
	hasOne(tradeKind, "quote", quoteKind, func(t *fx.Trade) *fx.QuoteUID { return &t.Quote })
	hasCustomer(quoteKind, "customer", func(q *fx.Quote) *customers.UID { return &q.Customer })
	prices["TradeConnection.totalCount"] = countMany
	prices["TradeConnection.totalCountIsExact"] = countMany
	prices["TradeFilter.status"], prices["TradeFilter.product"] = scan, scan
	subjects["quote"] = subject{
		codes: codes{fault.NotFound: "FXQUOTE001", fault.State: "FXQUOTE001"},
		fields: map[string]string{
			"customerUID": "customer", "fundingAmount": "sellAmount", "transferAmount": "buyAmount",
			"productType": "product",
		},
	}
	subjects["trade"] = subject{codes: codes{fault.NotFound: "FX001", fault.State: "FX001"}}
}

func (m mutations) QuoteExchange(ctx context.Context, in model.QuoteDraft) (*model.QuotePayload, error) {
	done, err := m.core.FX.Quote(ctx, in.Whole(), in.RequestOptions)
	return quoteKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) AcceptQuote(ctx context.Context, in model.QuoteDecision) (*model.TradePayload, error) {
	done, err := m.core.FX.Accept(ctx, in.UID,
		fx.Acceptance{AutoCover: in.AutoCover, Delay: in.AutoCoverDelay}, in.RequestOptions)
	return tradeKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) RejectQuote(ctx context.Context, in model.QuoteDecision) (*model.QuotePayload, error) {
	done, err := m.core.FX.Reject(ctx, in.UID, in.RequestOptions)
	return quoteKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) CoverTrade(ctx context.Context, in model.TradeDraft) (*model.TradePayload, error) {
	done, err := m.core.FX.Cover(ctx, in.UID, in.RequestOptions)
	return tradeKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) CancelTrade(ctx context.Context, in model.TradeDraft) (*model.TradePayload, error) {
	done, err := m.core.FX.Cancel(ctx, in.UID, in.RequestOptions)
	return tradeKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
