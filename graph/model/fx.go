package model

import (
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
	"bankgraph/core/money"
)

type (
	TradeConnection = Connection[fx.Trade]
	TradeEdge       = Edge[fx.Trade]
	TradePayload    = Payload[fx.Trade]
	QuotePayload    = Payload[fx.Quote]
)

// QuoteDraft says what a customer wants to exchange.
type QuoteDraft struct {
	Customer                  customers.UID
	SellCurrency, BuyCurrency money.Currency
	SellAmount, BuyAmount     string
	Product                   fx.Product
	Tenor                     string
	ValueDate                 time.Time
	Channel                   string
	changes.RequestOptions
}

// Whole is the draft as core takes it.
func (d QuoteDraft) Whole() fx.Draft {
	return fx.Draft{
		Channel: d.Channel, IDType: string(fx.ByUID), UID: d.Customer, Sell: string(d.SellCurrency),
		Buy: string(d.BuyCurrency), Funding: d.SellAmount, Transfer: d.BuyAmount, Product: string(d.Product),
		Tenor: d.Tenor, ValueDate: d.ValueDate,
	}
}

// QuoteDecision is what mutations say about a quote.
type QuoteDecision struct {
	UID            fx.QuoteUID
	AutoCover      bool
	AutoCoverDelay *int32
	changes.RequestOptions
}

// TradeDraft is what mutations say about a trade.
type TradeDraft struct {
	UID fx.TradeUID
	changes.RequestOptions
}
