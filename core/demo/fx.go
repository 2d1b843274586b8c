package demo

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/fx"
	"bankgraph/core/ledger"
	"bankgraph/core/rails/calendar"
)

// Quote returns the UUID of the n-th quote, from 1.
func Quote(n int) fx.QuoteUID {
	return fx.QuoteUID{UUID: uuid.MustParse(fmt.Sprintf("00000000-0000-4000-8000-0000000f%04d", n))}
}

// Trades is how many of the quotes were accepted; the others are open, for a day instead of seconds.
const Trades = 4

const quotes = Trades + 4

// deals returns the quotes and trades of the demo bank: the first customer's, and one of the partner's first.
func (b *bank) deals() (all []*fx.Quote, made []*fx.Trade) {
	today := ledger.Day(b.start)
	spot := calendar.Next(calendar.Next(today, 0), 2)
	for n := 1; n <= quotes; n++ {
		q := &fx.Quote{
			Tenant: b.tenant, UID: Quote(n), Customer: First, Channel: "API", IDType: fx.ByUID, Product: fx.SpotTrade,
			Sell: "USD", Buy: "EUR", SellMinor: 25_000_00, BuyMinor: 21_297_50, Worth: 25_000_00,
			SpotRate: 8_605_000_000, AllInRate: 8_519_000_000, InvertedRate: 11_738_470_000, Margin: 10_000,
			Tenor: fx.Spot, ValueDate: spot, TradeDate: today, Reference: fmt.Sprintf("DEMO-%d", n), Status: fx.Open,
			ExpiresAt: b.start.AddDate(0, 0, 1).UTC(), MakerClient: "demo-staff", CreatedAt: b.start.UTC(),
			UpdatedAt: b.start.UTC(), Version: 1,
		}
		if n == 2 {
			q.Customer, q.Product, q.Tenor = PartnersFirst, fx.Forward, "3M"
			q.ValueDate, q.ForwardPoints = calendar.Next(spot.AddDate(0, 3, 0), 0), -48_000_000
			q.AllInRate, q.InvertedRate, q.BuyMinor = 8_471_000_000, 11_804_980_000, 21_177_50
		}
		q.CustomerID = q.Customer.String()
		if n <= Trades {
			at := b.start.Add(-time.Hour).UTC()
			q.Status, q.CreatedAt, q.UpdatedAt, q.ExpiresAt, q.Version = fx.Accepted, at, at, at.Add(30*time.Second), 2
			made = append(made, b.deal(int64(n), q))
		}
		all = append(all, q)
	}
	return all, made
}

// deal is the trade of a quote. The last one is covered.
func (b *bank) deal(n int64, q *fx.Quote) *fx.Trade {
	t := &fx.Trade{
		Tenant: q.Tenant, UID: fx.TradeUID(n), Quote: q.UID, Customer: q.Customer, Channel: q.Channel,
		IDType: q.IDType, CustomerID: q.CustomerID, Product: q.Product, Sell: q.Sell, Buy: q.Buy,
		SellMinor: q.SellMinor, BuyMinor: q.BuyMinor, Worth: q.Worth, SpotRate: q.SpotRate,
		ForwardPoints: q.ForwardPoints, AllInRate: q.AllInRate, Tenor: q.Tenor, ValueDate: q.ValueDate,
		TradeDate: q.TradeDate, Reference: q.Reference, Status: fx.Booked, MakerClient: q.MakerClient,
		CreatedAt: q.CreatedAt, UpdatedAt: q.UpdatedAt, Version: 1,
	}
	if n == Trades {
		cover, rate := fx.CoverUID(1), q.SpotRate
		t.Status, t.Cover, t.CoveredAt, t.CoverRate, t.CoverReference = fx.Covered, &cover, &t.CreatedAt,
			&rate, "DEMO-COVER-1"
		t.Version = 2
	}
	return t
}
