package graph_test

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
)

func init() {
	declare("Trade", node{
		needs: access.ViewTrades, list: "trades", rows: tradeRows,
		id: func(c customers.UID, n int) string { return "fxt_" + tradeOf(c, n).String() },
	})
	declare("Quote", node{
		needs: access.ViewTrades, rows: quoteRows,
		id: func(c customers.UID, n int) string { return "fxq_" + quoteOf(c, n).String() },
	})
	view := []access.Permission{access.ViewTrades}
	needs["Query.trades"], needs["Trade.quote"] = view, view
	for list, way := range map[string]string{
		"Query.trades":    "{ %s }",
		"Customer.trades": "{ customers(first: 7) { nodes { %s } } }",
	} {
		lookups[list+".filter.customer"] = lookup{fmt.Sprintf(way,
			`trades(first: 2, filter: {customer: "%s"}) { totalCount nodes { ALL(Trade) } }`), customers.UID.String}
	}
	quoted := func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, quoteOf(activeOf(c), 2*each)) }
	booked := func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, tradeOf(activeOf(c), each)) }
	const quote = `quote { id status sellAmount buyAmount allInRate invertedRate tenor valueDate
		customer { uid } version } approval { uid }`
	const trade = `trade { id status sellAmount buyAmount allInRate cover coverRate coverAt customer { uid }
		quote { status } version } approval { uid }`
	mutations["quoteExchange"] = tried{access.SpotTrade, func(c customers.UID) string {
		return fmt.Sprintf(`customer: "%s", sellCurrency: "USD", buyCurrency: "EUR", sellAmount: "12.50",
			product: SPOT, tenor: "SPOT"`,
			activeOf(c))
	}, quote}
	mutations["acceptQuote"] = tried{access.SpotTrade, func(c customers.UID) string {
		return quoted(c) + `, autoCover: true, autoCoverDelay: 30`
	}, trade}
	mutations["rejectQuote"] = tried{access.SpotTrade, quoted, quote}
	mutations["coverTrade"] = tried{access.InstructTrades, booked, trade}
	mutations["cancelTrade"] = tried{access.CancelTrades, booked, trade}
}

func tradeOf(c customers.UID, n int) fx.TradeUID {
	return fx.TradeUID(int(c-theBank)*100 + n + 700_000_000)
}

func quoteOf(c customers.UID, n int) fx.QuoteUID {
	return fx.QuoteUID{UUID: uuid.MustParse(fmt.Sprintf("00000000-0000-4000-8000-%012d", tradeOf(c, n)))}
}

// quoteRows are quotes of each customer: the last one is open, of the others there are trades.
func quoteRows(b *bank, of []customers.UID) any {
	var all []fx.Quote
	for _, c := range of {
		for n := range 2*each + 1 {
			q := fx.Quote{UID: quoteOf(c, n), Customer: c}
			b.fill(&q, int64(tradeOf(c, n)))
			q.Tenant, q.UID, q.Customer, q.Status, q.Product, q.Version = b.tenant, quoteOf(c, n), c,
				fx.Open, fx.SpotTrade, 2
			q.Sell, q.Buy, q.SellMinor, q.BuyMinor, q.Worth, q.Tenor = "USD", "EUR", 100_00, 85_19, 100_00, fx.Spot
			q.SpotRate, q.AllInRate, q.InvertedRate, q.Margin = 8_605_000_000, 8_519_000_000, 11_738_470_000, 10_000
			q.ForwardPoints = 1_000_000
			if q.ExpiresAt = now.AddDate(1, 0, 0); n < 2*each {
				q.Status = fx.Accepted
			}
			all = append(all, q)
		}
	}
	return &all
}

func tradeRows(b *bank, of []customers.UID) any {
	var all []fx.Trade
	for _, c := range of {
		for n := range 2 * each {
			t := fx.Trade{UID: tradeOf(c, n), Customer: c}
			b.fill(&t, int64(t.UID))
			later := now.Add(time.Hour)
			t.Tenant, t.Quote, t.Customer, t.Status, t.Product, t.Version = b.tenant, quoteOf(c, n), c,
				fx.Booked, fx.SpotTrade, 2
			t.Sell, t.Buy, t.SellMinor, t.BuyMinor, t.Worth, t.Tenor = "USD", "EUR", 100_00, 85_19, 100_00, fx.Spot
			t.SpotRate, t.AllInRate, t.ForwardPoints, t.CoverAt = 8_605_000_000, 8_519_000_000, 1_000_000, &later
			t.Cover, t.CoveredAt, t.CoverRate = nil, nil, nil
			if cover, rate := fx.CoverUID(t.UID), t.SpotRate; n != each { // one is Booked
				t.Status, t.Cover, t.CoveredAt, t.CoverRate = fx.Covered, &cover, &later, &rate
			}
			all = append(all, t)
		}
	}
	return &all
}
