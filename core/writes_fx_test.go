package core_test

import (
	"context"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
)

// exchange is a quote of dollars for euros for this customer.
func exchange(of *customers.Customer, amount string) fx.Draft {
	return fx.Draft{
		IDType: "CustomerUID", UID: of.UID, Sell: "USD", Buy: "EUR", Funding: amount, Product: "SPOT",
		Tenor: "SPOT",
	}
}

func quoteExchange(b *coretest.Bank, of *customers.Customer, amount string) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.FX.Quote(ctx, exchange(of, amount), with(key)))
	}
}

func quoted(b *coretest.Bank, of *customers.Customer) fx.QuoteUID {
	made, err := b.FX.Quote(b.Staff(), exchange(of, "1000"), with(""))
	if err != nil {
		panic(err)
	}
	return made.Result.UID
}

func acceptQuote(b *coretest.Bank, uid fx.QuoteUID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.FX.Accept(ctx, uid, fx.Acceptance{AutoCover: true, Delay: new(int32(30))}, with(key)))
	}
}

func rejectQuote(b *coretest.Bank, uid fx.QuoteUID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.FX.Reject(ctx, uid, with(key)))
	}
}

func traded(b *coretest.Bank, of *customers.Customer) fx.TradeUID {
	made, err := b.FX.Accept(b.Staff(), quoted(b, of), fx.Acceptance{}, with(""))
	if err != nil {
		panic(err)
	}
	return made.Result.UID
}

func coverTrade(b *coretest.Bank, uid fx.TradeUID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.FX.Cover(ctx, uid, with(key)))
	}
}

func cancelTrade(b *coretest.Bank, uid fx.TradeUID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.FX.Cancel(ctx, uid, with(key)))
	}
}
