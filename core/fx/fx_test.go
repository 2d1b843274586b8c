package fx_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fx"
	"bankgraph/core/money"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/sandbox"
)

// trader is a bank with a customer that trades.
type trader struct {
	*coretest.Bank
	of *customers.Customer
}

func newTrader(t *testing.T, edits ...func(*customers.Customer)) *trader {
	t.Helper()
	b := coretest.New(t)
	return &trader{b, b.Customer(edits...)}
}

func (d *trader) draft() fx.Draft {
	return fx.Draft{
		IDType: "CustomerUID", UID: d.of.UID, Sell: "USD", Buy: "EUR", Funding: "1000", Product: "SPOT",
		Tenor: "SPOT",
	}
}

func (d *trader) ask(t *testing.T, draft fx.Draft) fx.Quote {
	t.Helper()
	made, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.Result
}

func (d *trader) accept(ctx context.Context, uid fx.QuoteUID, a fx.Acceptance, key string) (fx.Trade, error) {
	made, err := d.FX.Accept(ctx, uid, a, changes.RequestOptions{IdempotencyKey: key})
	return made.Result, err
}

func (d *trader) trade(t *testing.T, a fx.Acceptance) fx.Trade {
	t.Helper()
	made, err := d.accept(d.Staff(), d.ask(t, d.draft()).UID, a, "")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func (d *trader) operator(t *testing.T) context.Context {
	t.Helper()
	return access.Operator(t.Context(), d.Tenant, d.Code, coretest.Zone())
}

func (d *trader) count(t *testing.T, text string, values ...any) (n int) {
	t.Helper()
	if err := d.DB.NewRaw(text, values...).Scan(t.Context(), &n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestAQuoteIsTheMarketsRateLessTheMarginOfTheCustomersTier(t *testing.T) {
	t.Parallel()
	for tier, margin := range map[string]int64{
		"Standard": 10_000, "preferred": 5_000, "Premier": 2_500, "": 10_000, "Gold": 10_000,
	} {
		d := newTrader(t, func(c *customers.Customer) { c.Profile.FXPricingTier = tier })
		q := d.ask(t, d.draft())
		market, err := sandbox.Market{}.Price(t.Context(), fx.Ask{
			Sandbox: true, Sell: "USD", Buy: "EUR", At: d.Now(), Spot: q.ValueDate, Value: q.ValueDate,
		})
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Rat).Mul(market.Spot, big.NewRat(1_000_000-margin, 1_000_000))
		if off := want.Sub(want, q.AllInRate.Rat()); off.Abs(off).Cmp(big.NewRat(1, 10_000_000)) > 0 {
			t.Errorf("tier %q: %s, off by %s", tier, q.AllInRate, off.FloatString(12))
		}
		if q.ForwardPoints != 0 || q.Reference != market.Reference || q.Status != fx.Open || q.Holds() != 30 {
			t.Errorf("%+v", q)
		}
		if q.TradeDate.Format(time.DateOnly) != "2026-11-18" ||
			q.ValueDate.Format(time.DateOnly) != "2026-11-20" {
			t.Errorf("traded %s for %s", q.TradeDate, q.ValueDate)
		}
	}
}

func decimal(t *rapid.T, a money.Amount) *big.Rat {
	n, ok := new(big.Rat).SetString(a.String())
	if !ok {
		t.Fatalf("no number: %s", a)
	}
	return n
}

// The customer gets less than a minor unit less than the market's price without the bank's margin brings, and
// never more: so no chain of trades, back to the currency that it began with, gains anything.
func TestAmountsAreExactAndRoundingNeverGainsTheCustomerAnything(t *testing.T) {
	t.Parallel()
	d := newTrader(t, func(c *customers.Customer) { c.Profile.FXPricingTier = "Premier" })
	currencies := rapid.SampledFrom([]string{"USD", "EUR", "JPY", "KWD", "GBP", "BHD", "KRW", "MXN", "CHF"})
	rapid.Check(t, func(t *rapid.T) {
		draft := d.draft()
		draft.Sell, draft.Buy = currencies.Draw(t, "sell"), currencies.Draw(t, "buy")
		if draft.Sell == draft.Buy {
			return
		}
		most := int64(math.Pow10(rapid.IntRange(0, 12).Draw(t, "digits")))
		asked := money.Of(rapid.Int64Range(1, most).Draw(t, "minor"), money.Currency(draft.Sell))
		buys := rapid.Bool().Draw(t, "buys")
		if buys {
			asked.Currency, draft.Funding = money.Currency(draft.Buy), ""
			draft.Transfer = asked.String()
		} else {
			draft.Funding = asked.String()
		}
		made, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{})
		if f, is := fault.Of(err); is && f.Kind == fault.Invalid && asked.Minor < 10_000 && !buys {
			return // what it brings is nothing
		}
		if err != nil {
			t.Fatal(err)
		}
		q := made.Result
		if got := map[bool]money.Amount{true: q.BuyAmount(), false: q.SellAmount()}[buys]; got != asked {
			t.Fatalf("%s was asked for, quoted %s", asked, got)
		}
		price, err := sandbox.Market{}.Price(t.Context(), fx.Ask{
			Sandbox: true, Sell: q.Sell, Buy: q.Buy, At: d.Now(), Spot: q.ValueDate, Value: q.ValueDate,
		})
		if err != nil {
			t.Fatal(err)
		}
		sold, bought, rate := decimal(t, q.SellAmount()), decimal(t, q.BuyAmount()), q.AllInRate.Rat()
		price.Spot.Mul(price.Spot, big.NewRat(1_000_000-2_500, 1_000_000))
		if rate.Cmp(price.Spot) > 0 || bought.Cmp(new(big.Rat).Mul(sold, rate)) > 0 {
			t.Fatalf("%s of %s for %s of %s at %s", q.SellAmount(), q.Sell, q.BuyAmount(), q.Buy, q.AllInRate)
		}
		// a minor unit less sold, or one more bought, would be more than the rate brings
		next := money.Of(q.BuyMinor+1, q.Buy)
		if buys {
			sold, next = decimal(t, money.Of(q.SellMinor-1, q.Sell)), q.BuyAmount()
		}
		if decimal(t, next).Cmp(new(big.Rat).Mul(sold, rate)) <= 0 {
			t.Fatalf("%s of %s for %s of %s at %s", q.SellAmount(), q.Sell, q.BuyAmount(), q.Buy, q.AllInRate)
		}
		// the inverse is that of the rate that is shown, within what a rate can say
		product := new(big.Rat).Mul(rate, q.InvertedRate.Rat())
		off := product.Sub(product, big.NewRat(1, 1))
		if off.Abs(off).Cmp(big.NewRat(1, 1_000_00)) > 0 {
			t.Fatalf("%s and %s", q.AllInRate, q.InvertedRate)
		}
	})
}

func TestPricesMoveWithTheClockAndByItAlone(t *testing.T) {
	t.Parallel()
	ask := fx.Ask{Sandbox: true, Sell: "EUR", Buy: "JPY", At: coretest.Start}
	price := func(at time.Time, days int) fx.Price {
		ask.At, ask.Spot, ask.Value = at, coretest.Start, coretest.Start.AddDate(0, 0, days)
		p, err := sandbox.Market{}.Price(t.Context(), ask)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := price(coretest.Start, 0)
	if again := price(coretest.Start.Add(9*time.Second), 0); again.Spot.Cmp(first.Spot) != 0 ||
		first.Points.Sign() != 0 {
		t.Errorf("%s became %s", first.Spot, again.Spot)
	}
	moved := false
	for n := range 2000 {
		p := price(coretest.Start.Add(time.Duration(n)*10*time.Second), 0)
		moved = moved || p.Spot.Cmp(first.Spot) != 0
		off := new(big.Rat).Quo(p.Spot, first.Spot)
		if off.Sub(off, big.NewRat(1, 1)); off.Abs(off).Cmp(big.NewRat(5, 1000)) > 0 {
			t.Fatalf("it has moved by %s", off.FloatString(6))
		}
	}
	if !moved {
		t.Error("it never moves")
	}
	// yen bear less interest than euros, so that they are dearer later
	if later, before := price(coretest.Start, 90), price(coretest.Start, -2); later.Points.Sign() >= 0 ||
		before.Points.Sign() <= 0 {
		t.Errorf("%s %s", later.Points, before.Points)
	}
	ask.Sandbox = false
	if _, err := (sandbox.Market{}).Price(t.Context(), ask); !errors.Is(err, fx.ErrNoPrice) {
		t.Errorf("a real bank has played prices: %v", err)
	}
}

func TestAQuoteLapsesByTheClockOfItsBank(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	first, second := d.ask(t, d.draft()), d.ask(t, d.draft())
	if at, err := d.FX.Next(d.operator(t), d.Now()); err != nil || at == nil || !at.Equal(first.ExpiresAt) {
		t.Errorf("the next at %v (%v)", at, err)
	}
	d.Clock.Set(first.ExpiresAt.Add(-time.Microsecond))
	if n, err := d.FX.Expire(d.operator(t)); n != 0 || err != nil {
		t.Error(n, err)
	}
	if _, err := d.accept(d.Staff(), first.UID, fx.Acceptance{}, ""); err != nil {
		t.Errorf("in the last moment: %v", err)
	}
	d.Clock.Set(first.ExpiresAt)
	lapsed := func(when string) {
		t.Helper()
		if _, err := d.accept(d.Staff(), second.UID, fx.Acceptance{}, ""); !errors.Is(err, fx.ErrLapsed) {
			t.Errorf("%s it is accepted: %v", when, err)
		}
		if _, err := d.FX.Reject(d.Staff(), second.UID, changes.RequestOptions{}); !errors.Is(err, fx.ErrLapsed) {
			t.Errorf("%s it is rejected: %v", when, err)
		}
	}
	lapsed("at its end")
	if n, err := d.FX.Expire(d.operator(t)); n != 1 || err != nil {
		t.Errorf("%d expired (%v)", n, err)
	}
	lapsed("once it is marked")
	if n := d.count(t,
		`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'expireQuote' AND uid = ?`,
		d.Tenant, second.UID.String()); n != 1 {
		t.Errorf("%d entries", n)
	}
	if at, err := d.FX.Next(d.operator(t), d.Now()); err != nil || at != nil {
		t.Errorf("the next at %v (%v)", at, err)
	}
}

// Nothing could use the trade: payments abroad leave until 17:00 in New York, on any day.
func TestNoTradeIsMadeForADayWhoseLastCutOffHasPassed(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	today := func(p string) time.Time {
		at, err := time.ParseInLocation("15:04:05", p, calendar.Zone())
		if err != nil {
			t.Fatal(err)
		}
		return time.Date(2026, 11, 18, at.Hour(), at.Minute(), at.Second(), 0, calendar.Zone())
	}
	overnight, dated := d.draft(), d.draft()
	overnight.Tenor, dated.Tenor = "ON", ""
	dated.ValueDate = time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	d.Clock.Set(today("16:59:50"))
	q := d.ask(t, overnight)
	if !q.ExpiresAt.Equal(today("17:00:00")) {
		t.Errorf("it holds until %s", q.ExpiresAt)
	}
	d.Clock.Set(today("17:00:00"))
	if _, err := d.accept(d.Staff(), q.UID, fx.Acceptance{}, ""); !errors.Is(err, fx.ErrLapsed) {
		t.Errorf("it is accepted: %v", err)
	}
	for field, draft := range map[string]fx.Draft{"tenor": overnight, "valueDate": dated} {
		_, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != field || f.Problem != fault.Min {
			t.Errorf("%s: %v", field, err)
		}
	}
	next := d.draft()
	next.Tenor = "TN"
	d.ask(t, next)
}

func TestHowLongAQuoteHoldsIsASettingOfTheBank(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	d.Exec(`INSERT INTO tenant_settings (tenant, people_decide, quote_seconds)
		VALUES (?, true, 90)`, d.Tenant)
	if q := d.ask(t, d.draft()); q.Holds() != 90 {
		t.Errorf("%d seconds", q.Holds())
	}
}

func TestOfAQuoteThereIsOneTradeHoweverOftenAndByWhomItIsAccepted(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]func(int) string{
		"without keys": func(int) string { return "" }, "with one key": func(int) string { return "k" },
		"with a key each": func(n int) string { return fmt.Sprint("k", n) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTrader(t)
			q := d.ask(t, d.draft())
			var all sync.WaitGroup
			booked, errs := make([]fx.Trade, 12), make([]error, 12)
			for n := range booked {
				all.Go(func() { booked[n], errs[n] = d.accept(d.Staff(), q.UID, fx.Acceptance{}, key(n)) })
			}
			all.Wait()
			var trade *fx.Trade
			for n := range booked {
				switch {
				case errs[n] != nil && (name == "with one key" || !errors.Is(errs[n], fx.ErrDecided)):
					t.Error(errs[n])
				case errs[n] != nil:
				case trade == nil:
					trade = &booked[n]
				case name != "with one key" || booked[n].UID != trade.UID:
					t.Errorf("trades %s and %s", trade.UID, booked[n].UID)
				}
			}
			if trade == nil || trade.Status != fx.Booked || trade.SellMinor != q.SellMinor ||
				trade.BuyMinor != q.BuyMinor ||
				trade.AllInRate != q.AllInRate || !trade.ValueDate.Equal(q.ValueDate) {
				t.Fatalf("%+v of %+v", trade, q)
			}
			if n := d.count(t, `SELECT count(*) FROM fx_trades WHERE tenant = ?`, d.Tenant); n != 1 {
				t.Errorf("%d trades", n)
			}
		})
	}
}

func TestWhatIsDecidedStays(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	q := d.ask(t, d.draft())
	if done, err := d.FX.Reject(d.Staff(), q.UID, changes.RequestOptions{}); err != nil ||
		done.Result.Status != fx.Rejected {
		t.Fatal(done, err)
	}
	if _, err := d.accept(d.Staff(), q.UID, fx.Acceptance{}, ""); !errors.Is(err, fx.ErrDecided) {
		t.Errorf("accepted after it was rejected: %v", err)
	}
	if _, err := d.FX.Reject(d.Staff(), q.UID, changes.RequestOptions{}); !errors.Is(err, fx.ErrDecided) {
		t.Errorf("rejected twice: %v", err)
	}
	made := d.trade(t, fx.Acceptance{})
	if _, err := d.FX.Reject(d.Staff(), made.Quote, changes.RequestOptions{}); !errors.Is(err, fx.ErrDecided) {
		t.Errorf("rejected after it was accepted: %v", err)
	}
	if _, err := d.accept(d.Staff(), fx.QuoteUID{}, fx.Acceptance{}, ""); !errors.Is(err, fx.ErrNoQuote) {
		t.Errorf("there is none: %v", err)
	}
}

func TestATradeIsCoveredOnce(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	made := d.trade(t, fx.Acceptance{})
	var all sync.WaitGroup
	covers, errs := make([]fx.Trade, 8), make([]error, 8)
	for n := range covers {
		all.Go(func() {
			done, err := d.FX.Cover(d.Staff(), made.UID, changes.RequestOptions{Version: int32(n % 2)})
			covers[n], errs[n] = done.Result, err
		})
	}
	all.Wait()
	d.Clock.Set(d.Now().Add(time.Hour))
	again, err := d.FX.Cover(d.Staff(), made.UID, changes.RequestOptions{})
	if err != nil || again.Result.Status != fx.Covered || again.Result.Cover == nil || again.Version != 2 {
		t.Fatal(again, err)
	}
	for n, c := range covers {
		if errs[n] != nil || *c.Cover != *again.Result.Cover || !c.CoveredAt.Equal(*again.Result.CoveredAt) ||
			*c.CoverRate != *again.Result.CoverRate || c.CoverReference != again.Result.CoverReference {
			t.Errorf("%+v, and later %+v (%v)", c, again.Result, errs[n])
		}
	}
	if n := d.count(t, `SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'coverTrade'`,
		d.Tenant); n != 1 {
		t.Errorf("%d entries", n)
	}
	if _, err := d.FX.Cancel(d.Staff(), made.UID, changes.RequestOptions{}); !errors.Is(err, fx.ErrCovered) {
		t.Errorf("cancelled after it was covered: %v", err)
	}
	other := d.trade(t, fx.Acceptance{})
	if done, err := d.FX.Cancel(d.Staff(), other.UID, changes.RequestOptions{}); err != nil ||
		done.Result.Status != fx.Cancelled {
		t.Error(done, err)
	}
	if _, err := d.FX.Cover(d.Staff(), other.UID, changes.RequestOptions{}); !errors.Is(err, fx.ErrCancelled) {
		t.Errorf("covered after it was cancelled: %v", err)
	}
	if _, err := d.FX.Cancel(d.Staff(), other.UID, changes.RequestOptions{}); !errors.Is(err, fx.ErrCancelled) {
		t.Errorf("cancelled twice: %v", err)
	}
}

// Who could give a booked rate back at any time would do that when the market has become better, at the
// bank's cost.
func TestOutsideTheBankATradeIsCancelledSoonOrNotAtAll(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		minutes int // of the bank's setting; -1 for none
		after   time.Duration
		late    bool
	}{
		"at once": {-1, 0, false}, "in time": {-1, 15*time.Minute - time.Microsecond, false},
		"late":             {-1, 15 * time.Minute, true},
		"in a longer time": {60, 59 * time.Minute, false}, "late by the setting": {5, 5 * time.Minute, true},
		"never": {0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.New(t)
			partner := b.DownstreamPartner()
			d := &trader{b, b.Customer(coretest.OwnedBy(partner))}
			if one.minutes >= 0 {
				d.Exec(`INSERT INTO tenant_settings (tenant, people_decide, cancel_minutes)
					VALUES (?, true, ?)`, d.Tenant, one.minutes)
			}
			made := d.trade(t, fx.Acceptance{})
			d.Clock.Set(d.Now().Add(one.after))
			cancel := func(ctx context.Context) error {
				_, err := d.FX.Cancel(ctx, made.UID, changes.RequestOptions{})
				return err
			}
			if err := cancel(d.Partner(partner)); errors.Is(err, fx.ErrLate) != one.late ||
				err != nil && !one.late {
				t.Error(err)
			}
			if err := cancel(d.Staff()); one.late && err != nil {
				t.Errorf("by the bank: %v", err)
			}
		})
	}
}

func TestATradeCoversItselfWhenItWasAskedTo(t *testing.T) {
	t.Parallel()
	d := newTrader(t, func(c *customers.Customer) { c.Type = customers.Consumer })
	for minutes, problem := range map[int32]fault.Problem{
		-1: fault.Min, 0: fault.Min, 29: fault.Min, 121: fault.Max,
	} {
		_, err := d.accept(d.Staff(), d.ask(t, d.draft()).UID, fx.Acceptance{AutoCover: true, Delay: &minutes}, "")
		if f, _ := fault.Of(err); f == nil || f.Field != "autoCoverDelay" || f.Problem != problem {
			t.Errorf("a consumer's after %d minutes: %v", minutes, err)
		}
	}
	_, err := d.accept(d.Staff(), d.ask(t, d.draft()).UID, fx.Acceptance{AutoCover: true}, "")
	if f, _ := fault.Of(err); f == nil || f.Field != "autoCoverDelay" || f.Problem != fault.Required {
		t.Errorf("without a delay: %v", err)
	}
	covered := d.trade(t, fx.Acceptance{AutoCover: true, Delay: new(int32(30))})
	cancelled := d.trade(t, fx.Acceptance{AutoCover: true, Delay: new(int32(30))})
	never := d.trade(t, fx.Acceptance{Delay: new(int32(30))})
	if _, err := d.FX.Cancel(d.Staff(), cancelled.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	due := d.Now().Add(30 * time.Minute)
	d.Clock.Set(due.Add(-time.Second))
	if _, err := d.Work(d.operator(t)); err != nil {
		t.Fatal(err)
	}
	if at, err := d.FX.Next(d.operator(t), d.Now()); err != nil || at == nil || !at.Equal(due) {
		t.Errorf("the next at %v (%v)", at, err)
	}
	if n, err := d.FX.CoverDue(d.operator(t)); n != 0 || err != nil {
		t.Errorf("%d are covered before the time (%v)", n, err)
	}
	d.Clock.Set(due)
	if n, err := d.FX.CoverDue(d.operator(t)); n != 1 || err != nil {
		t.Errorf("%d are covered (%v)", n, err)
	}
	for uid, want := range map[fx.TradeUID]fx.TradeStatus{
		covered.UID: fx.Covered, cancelled.UID: fx.Cancelled, never.UID: fx.Booked,
	} {
		if found, err := d.FX.Find(d.Staff(), uid); err != nil || found.Status != want ||
			found.CoverAt != nil {
			t.Errorf("trade %s: %+v (%v), want %s", uid, found, err, want)
		}
	}
	corporate := newTrader(t)
	made := corporate.trade(t, fx.Acceptance{AutoCover: true, Delay: new(int32(0))})
	if n, err := corporate.FX.CoverDue(corporate.operator(t)); n != 1 || err != nil {
		t.Errorf("at once: %d (%v) of %+v", n, err, made)
	}
}

// none is a market without prices for some currencies.
type none struct{ of money.Currency }

func (m none) Price(ctx context.Context, ask fx.Ask) (fx.Price, error) {
	if ask.Buy == m.of {
		return fx.Price{}, fx.ErrNoPrice
	}
	return sandbox.Market{}.Price(ctx, ask)
}

func TestATradeWithoutAPriceHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	at := fx.Acceptance{AutoCover: true, Delay: new(int32(0))}
	first := d.trade(t, at)
	draft := d.draft()
	draft.Buy = "GBP"
	second, err := d.accept(d.Staff(), d.ask(t, draft).UID, at, "")
	if err != nil {
		t.Fatal(err)
	}
	other := core.New(core.Options{DB: d.DB, Keys: d.Keys, Now: d.Clock.Now, Market: none{"EUR"}})
	if n, err := other.FX.CoverDue(d.operator(t)); n != 1 || !errors.Is(err, fx.ErrNoPrice) {
		t.Errorf("%d are covered (%v)", n, err)
	}
	for uid, want := range map[fx.TradeUID]fx.TradeStatus{first.UID: fx.Booked, second.UID: fx.Covered} {
		if found, err := d.FX.Find(d.Staff(), uid); err != nil || found.Status != want {
			t.Errorf("trade %s: %+v (%v)", uid, found, err)
		}
	}
	if _, err := other.FX.Quote(d.Staff(), d.draft(), changes.RequestOptions{}); !errors.Is(err, fx.ErrNoPrice) {
		t.Errorf("quoted without a price: %v", err)
	}
}

// A customer may have any number of trades, and the market may be without the price of its currency for days.
func TestHoweverManyTradesWithoutAPriceHoldUpNoOther(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	at := fx.Acceptance{AutoCover: true, Delay: new(int32(0))}
	d.trade(t, at)
	d.Exec(`INSERT INTO fx_quotes
		SELECT (jsonb_populate_record(q, jsonb_build_object('uid', md5(n::text)::uuid))).*
		FROM fx_quotes AS q, generate_series(1, 600) AS n WHERE q.tenant = ?`, d.Tenant)
	d.Exec(`INSERT INTO fx_trades
		SELECT (jsonb_populate_record(ft, jsonb_build_object('uid', ft.uid + 1000000 + n,
		'quote', md5(n::text)::uuid))).* FROM fx_trades AS ft, generate_series(1, 600) AS n
		WHERE ft.tenant = ?`, d.Tenant)
	draft := d.draft()
	draft.UID, draft.Buy = d.Customer().UID, "GBP"
	last, err := d.accept(d.Staff(), d.ask(t, draft).UID, at, "")
	if err != nil {
		t.Fatal(err)
	}
	d.Exec(`UPDATE fx_trades SET cover_at = cover_at + interval '1 second' WHERE tenant = ? AND uid = ?`,
		d.Tenant, last.UID)
	d.Clock.Advance(time.Second)
	other := core.New(core.Options{DB: d.DB, Keys: d.Keys, Now: d.Clock.Now, Market: none{"EUR"}})
	if n, err := other.FX.CoverDue(d.operator(t)); n != 1 || !errors.Is(err, fx.ErrNoPrice) {
		t.Errorf("%d are covered (%v)", n, err)
	}
	if found, err := d.FX.Find(d.Staff(), last.UID); err != nil || found.Status != fx.Covered {
		t.Errorf("%+v (%v)", found, err)
	}
	d.Clock.Advance(time.Hour)
	waits, err := d.Attention.List(d.Staff(), attention.Search{Kind: []attention.Kind{attention.Trade}}, 1)
	if err != nil || len(waits.Items) != 1 || waits.Items[0].Reason != "was to be covered" ||
		waits.Waiting[0].Count != 601 {
		t.Errorf("people are told %+v (%v)", waits, err)
	}
	for range 3 { // once there is a price again, all are
		if _, err := d.FX.CoverDue(d.operator(t)); err != nil {
			t.Error(err)
		}
	}
	var left int
	if err := d.DB.NewRaw(`SELECT count(*) FROM fx_trades WHERE tenant = ? AND status = 'Booked'`, d.Tenant).
		Scan(t.Context(), &left); err != nil || left != 0 {
		t.Errorf("%d are not covered (%v)", left, err)
	}
}

// failing is a market that fails over a currency, or never answers.
type failing struct {
	of    money.Currency
	hangs bool
}

func (m failing) Price(ctx context.Context, ask fx.Ask) (fx.Price, error) {
	switch {
	case ask.Buy != m.of:
		return sandbox.Market{}.Price(ctx, ask)
	case m.hangs:
		<-ctx.Done()
		return fx.Price{}, ctx.Err()
	}
	return fx.Price{}, errors.New("502 Bad Gateway")
}

func TestAMarketThatFailsOverACurrencyHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"answers 502": false, "hangs": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newTrader(t)
			at := fx.Acceptance{AutoCover: true, Delay: new(int32(0))}
			d.trade(t, at)
			draft := d.draft()
			draft.Buy = "GBP"
			second, err := d.accept(d.Staff(), d.ask(t, draft).UID, at, "")
			if err != nil {
				t.Fatal(err)
			}
			other := core.New(core.Options{DB: d.DB, Keys: d.Keys, Now: d.Clock.Now, Market: failing{"EUR", hangs}})
			if n, err := other.FX.CoverDue(d.operator(t)); n != 1 || err == nil {
				t.Errorf("%d are covered (%v)", n, err)
			}
			if found, err := d.FX.Find(d.Staff(), second.UID); err != nil || found.Status != fx.Covered {
				t.Errorf("%+v (%v)", found, err)
			}
		})
	}
}

func TestAProductTakesItsOwnPermission(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	forward := d.draft()
	forward.Product, forward.Tenor = "FORWARD", "3M"
	for _, c := range []struct {
		draft  fx.Draft
		has    access.Permission
		denied bool
	}{
		{d.draft(), access.SpotTrade, false},
		{d.draft(), access.InstructTrades, true},
		{forward, access.SpotTrade, true},
		{forward, access.InstructTrades, false},
		{d.draft(), access.CancelTrades, true},
		{forward, access.ViewTrades, true},
	} {
		name := fmt.Sprint(c.draft.Product, " with ", c.has)
		caller := d.As(c.has)
		_, err := d.FX.Quote(caller, c.draft, changes.RequestOptions{})
		_, accepted := d.accept(caller, d.ask(t, c.draft).UID, fx.Acceptance{}, "")
		_, rejected := d.FX.Reject(caller, d.ask(t, c.draft).UID, changes.RequestOptions{})
		for what, err := range map[string]error{"quote": err, "accept": accepted, "reject": rejected} {
			if errors.Is(err, access.ErrDenied) != c.denied || !c.denied && err != nil {
				t.Errorf("%s %s: %v", what, name, err)
			}
		}
	}
	made := d.trade(t, fx.Acceptance{})
	for permission, may := range map[access.Permission][3]bool{ // see, cover, cancel
		access.ViewTrades: {true, false, false}, access.SpotTrade: {true, false, false},
		access.InstructTrades: {true, true, false}, access.CancelTrades: {true, false, true},
		access.ViewPayments: {},
	} {
		_, seen := d.FX.Find(d.As(permission), made.UID)
		_, covered := d.FX.Cover(d.As(permission), d.trade(t, fx.Acceptance{}).UID, changes.RequestOptions{})
		_, cancelled := d.FX.Cancel(d.As(permission), d.trade(t, fx.Acceptance{}).UID, changes.RequestOptions{})
		for i, err := range []error{seen, covered, cancelled} {
			if (err == nil) != may[i] || err != nil && !errors.Is(err, access.ErrDenied) {
				t.Errorf("%s, %d: %v", permission, i, err)
			}
		}
	}
}

func TestOnlyWhoSeesTheCustomerTradesForIt(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, rival := b.DownstreamPartner(), b.DownstreamPartner()
	d := &trader{b, b.Customer(coretest.OwnedBy(partner),
		func(c *customers.Customer) { c.CustomerID = "cif-1" })}
	account := b.Account(d.of)
	open, made := d.ask(t, d.draft()), d.trade(t, fx.Acceptance{})
	names := map[string]fx.Draft{
		"uid":          {IDType: "customeruid", UID: d.of.UID},
		"short name":   {IDType: "CustomerShortName", ShortName: d.of.ShortName},
		"id":           {IDType: "CustomerId", ID: "cif-1"},
		"number":       {IDType: "DDA", Account: coretest.AccountNumber(account.UID)},
		"number alone": {Account: coretest.AccountNumber(account.UID)},
	}
	for name, n := range names {
		draft := d.draft()
		draft.IDType, draft.UID, draft.ShortName, draft.ID, draft.Account = n.IDType, n.UID,
			n.ShortName, n.ID, n.Account
		if q, err := d.FX.Quote(d.Partner(partner), draft, changes.RequestOptions{}); err != nil ||
			q.Result.Customer != d.of.UID {
			t.Errorf("by %s: %+v (%v)", name, q.Result, err)
		}
		if _, err := d.FX.Quote(d.Partner(rival), draft,
			changes.RequestOptions{}); !errors.Is(err, fx.ErrCustomer) {
			t.Errorf("another partner by %s: %v", name, err)
		}
	}
	absent := map[string]fx.Draft{
		"number": {Account: coretest.AccountNumber(4711)}, "uid": {UID: 999}, "short name": {ShortName: "nobody"},
		"id":           {ID: "nothing"},
		"number alone": {Account: coretest.AccountNumber(4711)},
	}
	for name, none := range absent { // nothing tells what is another's from what is not there
		said := func(n fx.Draft) string {
			draft := d.draft()
			draft.IDType, draft.UID, draft.ShortName, draft.ID, draft.Account = names[name].IDType, n.UID,
				n.ShortName, n.ID, n.Account
			_, err := d.FX.Quote(d.Partner(rival), draft, changes.RequestOptions{})
			return fmt.Sprint(err)
		}
		if got, want := said(names[name]), said(none); got != want {
			t.Errorf("by %s: another's is %q, none %q", name, got, want)
		}
	}
	stranger := d.Partner(rival)
	if _, err := d.accept(stranger, open.UID, fx.Acceptance{}, ""); !errors.Is(err, fx.ErrNoQuote) {
		t.Errorf("accepted by another partner: %v", err)
	}
	if _, err := d.FX.Reject(stranger, open.UID, changes.RequestOptions{}); !errors.Is(err, fx.ErrNoQuote) {
		t.Errorf("rejected by another partner: %v", err)
	}
	for what, err := range map[string]error{
		"seen": func() error { _, err := d.FX.Find(stranger, made.UID); return err }(),
		"covered": func() error {
			_, err := d.FX.Cover(stranger, made.UID,
				changes.RequestOptions{})
			return err
		}(),
		"cancelled": func() error {
			_, err := d.FX.Cancel(stranger, made.UID, changes.RequestOptions{})
			return err
		}(),
	} {
		if !errors.Is(err, fx.ErrNotFound) {
			t.Errorf("%s by another partner: %v", what, err)
		}
	}
	if _, err := d.accept(d.Partner(partner), open.UID, fx.Acceptance{}, ""); err != nil {
		t.Errorf("the partner itself: %v", err)
	}
	// whose an account is, is not told to who does not see the customer
	draft := d.draft()
	draft.Account = coretest.AccountNumber(b.Account(b.Customer()).UID)
	if _, err := d.FX.Quote(stranger, draft, changes.RequestOptions{}); !errors.Is(err, fx.ErrCustomer) {
		t.Errorf("a stranger with an account: %v", err)
	}
	_, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{})
	if f, _ := fault.Of(err); f == nil || f.Field != "accountNumber" || f.Problem != fault.NoMatch {
		t.Errorf("another customer's account: %v", err)
	}
	if n := d.count(t, `SELECT count(*) FROM fx_quotes WHERE tenant = ? AND customer_id LIKE '%' || ? || '%'`,
		d.Tenant,
		coretest.AccountNumber(account.UID)); n != 0 {
		t.Errorf("%d quotes have an account number in clear", n)
	}
}

func TestLimitsBoundTrades(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	d.Limit(d.of, "FX_DAILY_SETTLEMENT_LIMIT", 2500_00)
	d.Limit(d.of, "FX_FORWARD_LIMIT", 900_00)
	quotes := []fx.Quote{d.ask(t, d.draft()), d.ask(t, d.draft()), d.ask(t, d.draft())}
	var all sync.WaitGroup
	errs := make([]error, len(quotes))
	for n, q := range quotes {
		all.Go(func() { _, errs[n] = d.accept(d.Staff(), q.UID, fx.Acceptance{}, "") })
	}
	all.Wait()
	refused := 0
	for _, err := range errs {
		if errors.Is(err, fx.ErrLimit) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	if refused != 1 {
		t.Errorf("%d of three trades of 1000.00 are above a limit of 2500.00", refused)
	}
	if _, err := d.FX.Quote(d.Staff(), d.draft(), changes.RequestOptions{}); !errors.Is(err, fx.ErrLimit) {
		t.Errorf("another quote: %v", err)
	}
	draft := d.draft()
	draft.Product, draft.Tenor = "FORWARD", "1M"
	if _, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{}); !errors.Is(err, fx.ErrLimit) {
		t.Errorf("a forward above its limit: %v", err)
	}
	draft.Sell, draft.Buy, draft.Funding = "EUR", "GBP", "800" // more than 900 dollars
	if _, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{}); !errors.Is(err, fx.ErrLimit) {
		t.Errorf("a forward of other currencies above its limit: %v", err)
	}
	draft.Funding = "700"
	d.ask(t, draft)
	caller, _ := access.Require(d.Staff())
	caller.Limits = []access.ApplicationLimits{{Name: "Foreign_Exchange", Limits: []access.Limit{
		{Name: "Per_Transaction_Payment_Limits", Minor: 400_00, Currency: "USD"},
	}}}
	if _, err := d.FX.Quote(access.With(t.Context(), caller), draft,
		changes.RequestOptions{}); !errors.Is(err, fx.ErrOwnLimit) {
		t.Errorf("above what the person may: %v", err)
	}
}

func TestADraftIsToldWhatIsWrongWithIt(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	day := func(text string) time.Time {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for name, c := range map[string]struct {
		edit    func(*fx.Draft)
		field   string
		problem fault.Problem
	}{
		"no type":      {func(q *fx.Draft) { q.IDType = "" }, "customerIdType", fault.Required},
		"another type": {func(q *fx.Draft) { q.IDType = "Name" }, "customerIdType", fault.Malformed},
		"no uid":       {func(q *fx.Draft) { q.UID = 0 }, "customerUID", fault.Required},
		"no short name": {
			func(q *fx.Draft) { q.IDType = "CustomerShortName" },
			"customerShortName", fault.Required,
		},
		"no id":           {func(q *fx.Draft) { q.IDType = "CustomerId" }, "customerId", fault.Required},
		"no account":      {func(q *fx.Draft) { q.IDType = "DDA" }, "accountNumber", fault.Required},
		"nothing to sell": {func(q *fx.Draft) { q.Sell = "" }, "sellCurrency", fault.Required},
		"no currency":     {func(q *fx.Draft) { q.Buy = "EUX" }, "buyCurrency", fault.Malformed},
		"the same":        {func(q *fx.Draft) { q.Buy = "usd" }, "buyCurrency", fault.NoMatch},
		"no amount":       {func(q *fx.Draft) { q.Funding = "" }, "fundingAmount", fault.Required},
		"two amounts":     {func(q *fx.Draft) { q.Transfer = "1" }, "transferAmount", fault.Forbidden},
		"nothing":         {func(q *fx.Draft) { q.Funding = "0.00" }, "fundingAmount", fault.Min},
		"less":            {func(q *fx.Draft) { q.Funding = "-5" }, "fundingAmount", fault.Min},
		"too fine":        {func(q *fx.Draft) { q.Funding = "1.001" }, "fundingAmount", fault.Malformed},
		"a yen is whole": {
			func(q *fx.Draft) { q.Buy, q.Funding, q.Transfer = "JPY", "", "1.5" },
			"transferAmount", fault.Malformed,
		},
		"too little": { // a yen is less than a cent
			func(q *fx.Draft) { q.Sell, q.Buy, q.Funding = "JPY", "USD", "1" },
			"fundingAmount", fault.Malformed,
		},
		"too little to buy": {
			func(q *fx.Draft) { q.Sell, q.Buy, q.Funding = "KRW", "KWD", "1" },
			"fundingAmount", fault.Malformed,
		},
		"no product":         {func(q *fx.Draft) { q.Product = "" }, "productType", fault.Required},
		"another product":    {func(q *fx.Draft) { q.Product = "SWAP" }, "productType", fault.Malformed},
		"no date":            {func(q *fx.Draft) { q.Tenor = "" }, "tenor", fault.Required},
		"two dates":          {func(q *fx.Draft) { q.ValueDate = day("2026-11-20") }, "valueDate", fault.Forbidden},
		"no tenor":           {func(q *fx.Draft) { q.Tenor = "0W" }, "tenor", fault.Malformed},
		"a tenor of forward": {func(q *fx.Draft) { q.Tenor = "1W" }, "tenor", fault.NoMatch},
		"a tenor of spot":    {func(q *fx.Draft) { q.Product = "FORWARD" }, "tenor", fault.NoMatch},
		"yesterday": {
			func(q *fx.Draft) { q.Tenor, q.ValueDate = "", day("2026-11-17") },
			"valueDate", fault.Min,
		},
		"a Saturday": {
			func(q *fx.Draft) { q.Tenor, q.ValueDate = "", day("2026-11-21") },
			"valueDate", fault.Malformed,
		},
		"Thanksgiving": {func(q *fx.Draft) {
			q.Tenor, q.ValueDate, q.Product = "", day("2026-11-26"), "FORWARD"
		}, "valueDate", fault.Malformed},
		"after spot": {
			func(q *fx.Draft) { q.Tenor, q.ValueDate = "", day("2026-11-23") },
			"valueDate", fault.NoMatch,
		},
		"before spot": {
			func(q *fx.Draft) { q.Tenor, q.ValueDate, q.Product = "", day("2026-11-20"), "FORWARD" },
			"valueDate", fault.NoMatch,
		},
		"too far":  {func(q *fx.Draft) { q.Tenor, q.Product = "11Y", "FORWARD" }, "tenor", fault.Max},
		"no price": {func(q *fx.Draft) { q.Buy = "XPF" }, "", ""},
		"nobody":   {func(q *fx.Draft) { q.UID = 1_999_999 }, "customerUID", ""},
	} {
		draft := d.draft()
		c.edit(&draft)
		_, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{})
		f, refused := fault.Of(err)
		if !refused || f.Field != c.field || f.Problem != c.problem {
			t.Errorf("%s: %v, want %s %s", name, err, c.field, c.problem)
		}
	}
}

// The longest tenor counts from the spot date like every other, and so ends ten years after that.
func TestTheLongestTenorIsTenYears(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	for tenor, taken := range map[string]bool{
		"10Y": true, "120M": true, "121M": false, "522W": false, "521W": true,
	} {
		draft := d.draft()
		draft.Tenor, draft.Product = tenor, "FORWARD"
		if _, err := d.FX.Quote(d.Staff(), draft, changes.RequestOptions{}); (err == nil) != taken {
			t.Errorf("%s: %v", tenor, err)
		}
	}
}

func TestOpenQuotesOfACustomerAreBounded(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	for range 100 {
		d.ask(t, d.draft())
	}
	if _, err := d.FX.Quote(d.Staff(), d.draft(), changes.RequestOptions{}); !fx.ErrManyQuotes.Is(err) {
		t.Errorf("one more: %v", err)
	}
	d.Clock.Advance(31 * time.Second)
	d.ask(t, d.draft()) // the others have expired
}

// What a person may trade in a day is not more for trading for several customers, or through several keys.
func TestAPersonsOwnLimitOfADayIsThatOfThePerson(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	caller, _ := access.Require(d.Someone("dealer"))
	caller.Limits = []access.ApplicationLimits{{Name: "Foreign_Exchange", Limits: []access.Limit{
		{Name: "Daily_Payment_Limits", Minor: 1_500_00, Currency: "USD"},
	}}}
	trade := func(of *customers.Customer, key string) error {
		caller.Client = key
		who, draft := access.With(t.Context(), caller), d.draft()
		draft.UID = of.UID
		quote, err := d.FX.Quote(who, draft, changes.RequestOptions{})
		if err == nil {
			_, err = d.FX.Accept(who, quote.Result.UID, fx.Acceptance{}, changes.RequestOptions{})
		}
		return err
	}
	if err := trade(d.of, "portal"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of  *customers.Customer
		key string
	}{{d.of, "portal"}, {d.of, "portal-2"}, {d.Customer(), "portal"}} {
		if err := trade(c.of, c.key); !errors.Is(err, fx.ErrOwnLimit) {
			t.Errorf("another 1000.00 of 1500.00 for %s by %s: %v", c.of.UID, c.key, err)
		}
	}
}

// A trade is of the day on which it is booked, though it was quoted on the one before: of that for its date,
// and for what a person may trade in a day.
func TestATradeIsOfTheDayOnWhichItIsBooked(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	caller, _ := access.Require(d.Someone("dealer"))
	caller.Limits = []access.ApplicationLimits{{Name: "Foreign_Exchange", Limits: []access.Limit{
		{Name: "Daily_Payment_Limits", Minor: 1_500_00, Currency: "USD"},
	}}}
	who := access.With(t.Context(), caller)
	quoted := func() fx.QuoteUID {
		t.Helper()
		made, err := d.FX.Quote(who, d.draft(), changes.RequestOptions{}) // of 1000.00
		if err != nil {
			t.Fatal(err)
		}
		return made.Result.UID
	}
	midnight := time.Date(2026, 11, 19, 0, 0, 0, 0, coretest.Zone())
	d.Clock.Set(midnight.Add(-20 * time.Second))
	if _, err := d.accept(who, quoted(), fx.Acceptance{}, ""); err != nil {
		t.Fatal(err)
	}
	d.Exec(`UPDATE fx_trades SET worth = 40000 WHERE tenant = ?`, d.Tenant) // which leaves 1100.00 of that day
	late := quoted()
	d.Clock.Set(midnight.Add(5 * time.Second))
	trade, err := d.accept(who, late, fx.Acceptance{}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := trade.TradeDate.Format(time.DateOnly); got != "2026-11-19" {
		t.Errorf("booked on the 19th, it is of %s", got)
	}
	if got := trade.ValueDate.Format(time.DateOnly); got != "2026-11-20" {
		t.Errorf("quoted for the 20th, it settles on %s", got)
	}
	if _, err := d.FX.Quote(who, d.draft(), changes.RequestOptions{}); !errors.Is(err, fx.ErrOwnLimit) {
		t.Errorf("another 1000.00 of 1500.00: %v", err)
	}
}

// Trades of several customers lock nothing that they share but the person who makes them.
func TestTradesAtOnceKeepAPersonsOwnLimitOfADay(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	caller, _ := access.Require(d.Someone("dealer"))
	caller.Limits = []access.ApplicationLimits{{Name: "Foreign_Exchange", Limits: []access.Limit{
		{Name: "Daily_Payment_Limits", Minor: 2_500_00, Currency: "USD"},
	}}}
	who := access.With(t.Context(), caller)
	booked := d.acceptedAtOnce(t, who, fx.ErrOwnLimit, func() *customers.Customer { return d.Customer() })
	if booked != 2 {
		t.Errorf("%d trades of 1000.00 are booked, where 2500.00 may be traded", booked)
	}
}

func TestTradesAtOnceKeepTheLimitOfTheirCustomer(t *testing.T) {
	t.Parallel()
	d := newTrader(t)
	d.Limit(d.of, "FX_DAILY_SETTLEMENT_LIMIT", 2_500_00)
	booked := d.acceptedAtOnce(t, d.Staff(), fx.ErrLimit, func() *customers.Customer { return d.of })
	if booked != 2 {
		t.Errorf("%d trades of 1000.00 are booked, where 2500.00 may settle", booked)
	}
}

// acceptedAtOnce accepts quotes of 1000.00 for some customers at the same time, and returns how many were;
// the others must be refused with over.
func (d *trader) acceptedAtOnce(
	t *testing.T, by context.Context, over *fault.Fault, of func() *customers.Customer,
) (booked int) {
	t.Helper()
	var quotes []fx.QuoteUID
	for range 8 {
		draft := d.draft()
		draft.UID = of().UID
		made, err := d.FX.Quote(by, draft, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		quotes = append(quotes, made.Result.UID)
	}
	errs := make(chan error)
	for _, quote := range quotes {
		go func() {
			_, err := d.accept(by, quote, fx.Acceptance{}, "")
			errs <- err
		}()
	}
	for range quotes {
		switch err := <-errs; {
		case err == nil:
			booked++
		case !errors.Is(err, over):
			t.Error(err)
		}
	}
	return booked
}
