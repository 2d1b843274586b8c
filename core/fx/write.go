package fx

import (
	"context"
	"crypto/sha256"
	"fmt"
	"math/big"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/probes"
	"bankgraph/db"
)

type operations struct {
	quote  *changes.Operation[Draft, Quote]
	accept *changes.Operation[Acceptance, Trade]
	reject *changes.Operation[struct{}, Quote]
	cover  *changes.Operation[struct{}, Trade]
	cancel *changes.Operation[struct{}, Trade]
}

func (s *Service) declare(all *changes.Service) {
	s.quote = changes.Declare(all, "quoteExchange", "quote", access.SpotTrade, s.quoteTx)
	s.accept = changes.Declare(all, "acceptQuote", "quote", access.SpotTrade, s.acceptTx)
	s.reject = changes.Declare(all, "rejectQuote", "quote", access.SpotTrade, s.rejectTx)
	s.cover = changes.Declare(all, "coverTrade", "trade", access.InstructTrades, s.coverTx)
	s.cancel = changes.Declare(all, "cancelTrade", "trade", access.CancelTrades, s.cancelTx)
}

// Quote offers a rate to a customer. It holds for some seconds, so that no quote waits for a second person.
func (s *Service) Quote(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Quote], error) {
	w, wrong := draft.read()
	caller, err := access.RequireTo(ctx, access.Attempt{Action: "quoteExchange", Object: "quote"},
		w.product.needs())
	if err == nil {
		err = wrong
	}
	if err != nil {
		return changes.Outcome[Quote]{}, err
	}
	return probes.Naming(s.probes, caller, draft.Account, func() (changes.Outcome[Quote], error) {
		return s.quote.Do(ctx, caller, changes.Target{}, draft, options)
	})
}

// Accept books a trade at the rate of a quote, of which there is one trade at most.
func (s *Service) Accept(
	ctx context.Context, uid QuoteUID, draft Acceptance, options changes.RequestOptions,
) (changes.Outcome[Trade], error) {
	caller, err := deciding(ctx, "acceptQuote", uid)
	if err == nil {
		err = draft.read()
	}
	if err != nil {
		return changes.Outcome[Trade]{}, err
	}
	return s.accept.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// Reject ends a quote that is not wanted.
func (s *Service) Reject(
	ctx context.Context, uid QuoteUID, options changes.RequestOptions,
) (changes.Outcome[Quote], error) {
	caller, err := deciding(ctx, "rejectQuote", uid)
	if err != nil {
		return changes.Outcome[Quote]{}, err
	}
	return s.reject.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

// deciding returns the caller if it may trade one of the products. Whether that is the quote's, is asked when
// it is read (mayTrade).
func deciding(ctx context.Context, action string, uid QuoteUID) (access.Caller, error) {
	return access.RequireTo(ctx, access.Attempt{Action: action, Object: "quote", UID: uid.String()},
		access.SpotTrade, access.InstructTrades)
}

// mayTrade returns access.ErrDenied if the caller may not trade a product.
func mayTrade(by access.Caller, p Product) error {
	if !by.May(p.needs()) {
		return access.ErrDenied.With(string(p.needs()))
	}
	return nil
}

// Cover makes the same trade in the market, so that the bank bears no risk of it. Of a trade that is covered
// it returns the same again.
func (s *Service) Cover(
	ctx context.Context, uid TradeUID, options changes.RequestOptions,
) (changes.Outcome[Trade], error) {
	caller, err := s.cover.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Trade]{}, err
	}
	return s.cover.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

// Cancel ends a trade that the bank has not covered. Outside the bank that is for its first minutes alone.
func (s *Service) Cancel(
	ctx context.Context, uid TradeUID, options changes.RequestOptions,
) (changes.Outcome[Trade], error) {
	caller, err := s.cancel.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Trade]{}, err
	}
	return s.cancel.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

// inBusinessTx returns customers.ErrInactive for a customer that may not trade, or whose partner may not: its
// money stands still, whoever asks.
func inBusinessTx(
	ctx context.Context, tx *changes.Tx, held *customers.Held, err error,
) (*customers.Held, error) {
	if err != nil {
		return nil, err
	}
	status := held.Status
	if customers.InBusiness(status) && tx.Caller.Reach == access.OfBank && held.Owner != 0 &&
		held.Owner != held.UID {
		err = tx.NewRaw(`SELECT status FROM customers WHERE tenant = ? AND uid = ?`, held.Tenant, held.Owner).
			Scan(ctx, &status)
	}
	if err == nil && !customers.InBusiness(status) {
		err = customers.ErrInactive.With(string(status))
	}
	return held, err
}

// quotes is how quotes are changed. Those of one customer are accepted one after the other, as its limits
// count.
func (s *Service) quotes() *changes.Lifecycle[*customers.Held, Quote] {
	return &changes.Lifecycle[*customers.Held, Quote]{
		Name: "quote",
		Hold: customers.Hold(s.customers.LockTx).Of("fx_quotes", "uid", ErrNoQuote),
		Lock: func(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Quote, error) {
			q := new(Quote)
			found := tx.NewSelect().Model(q).Where("q.tenant = ?", tx.Caller.Tenant).
				Where("q.uid = ?", at.UID).
				Where("q.customer = ?", at.Customer)
			return changes.Lock(ctx, found, q, ErrNoQuote)
		},
		Row: func(q *Quote) changes.Row {
			return changes.Row{
				Model: q, UID: q.UID, Customer: int64(q.Customer), Version: &q.Version, UpdatedAt: &q.UpdatedAt,
			}
		},
	}
}

// trades is how trades are changed.
func (s *Service) trades() *changes.Lifecycle[*customers.Held, Trade] {
	return &changes.Lifecycle[*customers.Held, Trade]{
		Name: "trade",
		Hold: customers.Hold(s.customers.HoldTx).Of("fx_trades", "uid", ErrNotFound),
		Lock: func(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Trade, error) {
			t := new(Trade)
			found := tx.NewSelect().Model(t).Where("ft.tenant = ?", tx.Caller.Tenant).
				Where("ft.uid = ?", at.UID).
				Where("ft.customer = ?", at.Customer)
			return changes.Lock(ctx, found, t, ErrNotFound)
		},
		Row: func(t *Trade) changes.Row {
			return changes.Row{
				Model: t, UID: t.UID, Customer: int64(t.Customer), Version: &t.Version, UpdatedAt: &t.UpdatedAt,
			}
		},
	}
}

// limitsTx returns ErrLimit for a trade above a limit of its customer, and ErrOwnLimit for one above what the
// person who asks may trade (rest/CONTRACT.md, limits of foreign exchange).
func (s *Service) limitsTx(ctx context.Context, tx *changes.Tx, b bank, q *Quote) error {
	worth := money.Of(q.Worth, b.Currency)
	own := tx.Caller.Limit("Foreign_Exchange", "Per_Transaction_Payment_Limits")
	if own != nil && own.Currency == worth.Currency && worth.Minor > own.Minor {
		return ErrOwnLimit
	}
	own = tradedPerDay(tx.Caller)
	if own != nil && own.Currency == worth.Currency {
		var traded int64
		// of all customers, whatever key the person uses
		err := tx.NewRaw(`SELECT coalesce(sum(worth), 0)::bigint FROM fx_trades
			WHERE tenant = ? AND maker_login = ?
			AND trade_date = ? AND maker_login <> '' AND status <> 'Cancelled'`, q.Tenant,
			tx.Caller.LoginID, tradeDate(tx)).
			Scan(ctx, &traded)
		if err != nil {
			return err
		}
		if traded+worth.Minor > own.Minor {
			return ErrOwnLimit
		}
	}
	const forward, settlement = "FX_FORWARD_LIMIT", "FX_DAILY_SETTLEMENT_LIMIT"
	ceilings, err := s.limits.CeilingsTx(ctx, tx, q.Tenant, q.Customer, forward, settlement)
	if err != nil {
		return err
	}
	over := func(code string, used int64) error {
		most, is := ceilings[code]
		if !is || most.Currency != worth.Currency || used+worth.Minor <= most.Minor {
			return nil
		}
		return ErrLimit.Saying(fmt.Sprintf("the trade is above %s: %s of %s is left", code,
			money.Of(max(0, most.Minor-used), most.Currency), most)).With(code)
	}
	if q.Product == Forward {
		if err := over(forward, 0); err != nil {
			return err
		}
	}
	if _, is := ceilings[settlement]; !is {
		return nil
	}
	var settled int64
	err = tx.NewRaw(`SELECT coalesce(sum(worth), 0)::bigint FROM fx_trades WHERE tenant = ? AND customer = ?
		AND value_date = ? AND status <> ?`, q.Tenant, q.Customer, q.ValueDate, Cancelled).Scan(ctx, &settled)
	if err != nil {
		return err
	}
	return over(settlement, settled)
}

// tradeDate is the date of what is quoted or booked now: the day in the bank's zone.
func tradeDate(tx *changes.Tx) time.Time { return ledger.Day(tx.Now.In(tx.Caller.Location())) }

// tradedPerDay is what the caller may trade in a day; nil if nothing bounds it.
func tradedPerDay(by access.Caller) *access.Limit {
	return by.Limit("Foreign_Exchange", "Daily_Payment_Limits")
}

// oneByOneTx lets trades of a person of whom a day is bounded be booked one after the other. They may be of
// several customers, so that the locks of those do not do it.
func oneByOneTx(ctx context.Context, tx *changes.Tx) error {
	if tradedPerDay(tx.Caller) == nil {
		return nil
	}
	person := sha256.Sum256([]byte(tx.Caller.LoginID)) // by which trades are counted
	return db.WaitTx(ctx, tx, db.PersonsTrades, [][]byte{person[:]})
}

func (s *Service) acceptTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d Acceptance,
) (Trade, error) {
	l := s.quotes()
	hold := l.Hold
	var held *customers.Held
	l.Hold = func(ctx context.Context, tx *changes.Tx, at *changes.Target) (_ *customers.Held, err error) {
		held, err = hold(ctx, tx, at)
		return inBusinessTx(ctx, tx, held, err)
	}
	q, err := l.Modify(ctx, tx, at, func(_, q *Quote) error {
		if err := mayTrade(tx.Caller, q.Product); err != nil {
			return err
		}
		if err := q.open(tx.Now); err != nil {
			return err
		}
		if held.Type == customers.Consumer && d.Delay != nil && *d.Delay < leastDelayOfConsumers {
			return fault.Field("quote", "autoCoverDelay", fault.Min,
				"must be at least 30 minutes for a consumer")
		}
		if err := oneByOneTx(ctx, tx); err != nil {
			return err
		}
		b, err := bankTx(ctx, tx, q.Tenant)
		if err == nil {
			err = s.limitsTx(ctx, tx, b, q)
		}
		q.Status = Accepted
		return err
	})
	if err != nil {
		return Trade{}, err
	}
	t := q.trade(tx, d)
	if err := tx.NewRaw(`SELECT nextval('trade_uids')`).Scan(ctx, &t.UID); err != nil {
		return Trade{}, err
	}
	if _, err := tx.NewInsert().Model(t).Exec(ctx); err != nil {
		return Trade{}, fmt.Errorf("book a trade: %w", err)
	}
	return answered(t), tx.Record(ctx, changes.Change{
		Action: "bookTrade", Object: "trade", UID: t.UID, Customer: int64(t.Customer), Version: t.Version, After: t,
	})
}

// trade is what is booked of a quote.
func (q *Quote) trade(tx *changes.Tx, d Acceptance) *Trade {
	t := &Trade{
		Tenant: q.Tenant, Quote: q.UID, Customer: q.Customer, Channel: q.Channel, IDType: q.IDType,
		CustomerID: q.CustomerID, Product: q.Product, Sell: q.Sell, Buy: q.Buy, SellMinor: q.SellMinor,
		BuyMinor: q.BuyMinor, Worth: q.Worth, SpotRate: q.SpotRate, ForwardPoints: q.ForwardPoints,
		AllInRate: q.AllInRate, Tenor: q.Tenor, ValueDate: q.ValueDate, TradeDate: tradeDate(tx),
		Reference: q.Reference, Status: Booked, MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID,
		CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
	}
	if d.Delay != nil {
		t.CoverAt = new(tx.Now.Add(time.Duration(*d.Delay) * time.Minute))
	}
	return t
}

func (s *Service) rejectTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Quote, error) {
	q, err := s.quotes().Modify(ctx, tx, at, func(_, q *Quote) error {
		if err := mayTrade(tx.Caller, q.Product); err != nil {
			return err
		}
		if err := q.open(tx.Now); err != nil {
			return err
		}
		q.Status = Rejected
		return nil
	})
	if err != nil {
		return Quote{}, err
	}
	return answered(q), nil
}

func (s *Service) coverTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Trade, error) {
	l := s.trades()
	held, err := l.Hold(ctx, tx, &at)
	if err != nil {
		return Trade{}, err
	}
	t, err := l.Lock(ctx, tx, held, at)
	if err != nil {
		return Trade{}, err
	}
	if t.Status == Covered { // whoever asks again, with whatever version, hears the same
		tx.Options.Version = 0
		return answered(t), tx.CheckVersion(t.Version)
	}
	t, err = l.Modify(ctx, tx, at, func(_, t *Trade) error {
		if t.Status == Cancelled {
			return ErrCancelled.With(string(t.Status))
		}
		b, err := bankTx(ctx, tx, t.Tenant)
		if err != nil {
			return err
		}
		return s.coveredTx(ctx, tx, b, t, tx.Now)
	})
	if err != nil {
		return Trade{}, err
	}
	return answered(t), nil
}

// coveredTx covers a trade at the market's price.
func (s *Service) coveredTx(ctx context.Context, tx bun.IDB, b bank, t *Trade, now time.Time) error {
	currencies := pair{t.Sell, t.Buy}
	price, err := s.priced(ctx, b, t.Tenant, currencies, currencies.spot(t.TradeDate), t.ValueDate, now)
	if err != nil {
		return err
	}
	rate, ok := rounded(new(big.Rat).Add(price.Spot, price.Points), halfEven)
	if !ok {
		return ErrNoPrice
	}
	var number CoverUID
	if err := tx.NewRaw(`SELECT nextval('cover_uids')`).Scan(ctx, &number); err != nil {
		return fmt.Errorf("take the number of a cover: %w", err)
	}
	t.Status, t.Cover, t.CoveredAt, t.CoverRate, t.CoverReference = Covered, &number, &now,
		&rate, price.Reference
	t.CoverAt = nil
	return nil
}

func (s *Service) cancelTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Trade, error) {
	t, err := s.trades().Modify(ctx, tx, at, func(_, t *Trade) error {
		switch t.Status {
		case Covered:
			return ErrCovered.With(string(t.Status))
		case Cancelled:
			return ErrCancelled.With(string(t.Status))
		}
		if tx.Caller.Reach != access.OfBank {
			b, err := bankTx(ctx, tx, t.Tenant)
			if err != nil {
				return err
			}
			if tx.Now.Sub(t.CreatedAt) >= time.Duration(b.Minutes)*time.Minute {
				return ErrLate
			}
		}
		// the trade is locked, and who begins a payment with it locks it, too
		var used bool
		if err := tx.NewRaw(`SELECT EXISTS (`+usedBy+`) FROM fx_trades AS ft
			WHERE ft.tenant = ?0 AND ft.uid = ?1`,
			t.Tenant, t.UID).Scan(ctx, &used); err != nil {
			return err
		}
		if used {
			return ErrUsed
		}
		t.Status, t.CoverAt = Cancelled, nil
		return nil
	})
	if err != nil {
		return Trade{}, err
	}
	return answered(t), nil
}
