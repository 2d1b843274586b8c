package payments

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// cancelTx cancels a payment before any money has moved. A payment that waited for a second person no longer
// does.
func (s *Service) cancelTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	if err := tx.LockWaiting(ctx, "payment", at.UID); err != nil {
		return Saved{}, err
	}
	p, err := s.lockTx(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err != nil {
		return Saved{}, err
	}
	was := *p
	if _, err := cancelling.Take(p.State); err != nil {
		return Saved{}, ErrOver.Saying("the payment is " + string(p.Status()) + ": it can no longer be cancelled").
			With(string(p.State))
	}
	switch p.State {
	case Scheduled:
	case Repair:
		if err := s.forgetTx(ctx, p); err != nil {
			return Saved{}, err
		}
	case Queued:
		if err := s.releaseTx(ctx, tx.Tx, p); err != nil {
			return Saved{}, err
		}
	default:
		if err := tx.Withdraw(ctx, "payment", p.UID); err != nil {
			return Saved{}, err
		}
		if err := s.followsTx(ctx, tx, p, false); err != nil {
			return Saved{}, err
		}
	}
	if err := p.uncountTx(ctx); err != nil {
		return Saved{}, err
	}
	err = s.enterTx(ctx, tx, &was, p, Cancelled, tx.Options.Reason)
	return saved(p), err
}

// releaseTx releases the money that is held for payments of a bank, which then cost nothing. For debits, and
// for enrolments, nothing is held. What it does to balances is written at the end of the transaction, so it
// is called once in it.
func (s *Service) releaseTx(ctx context.Context, tx bun.Tx, of ...*Payment) error {
	var uids []int64
	for _, p := range of {
		if p.holds() {
			uids = append(uids, int64(p.UID))
			p.free()
		}
	}
	if len(uids) == 0 {
		return nil
	}
	return ledger.ReleaseTx(ctx, tx, of[0].Tenant, uids)
}

// free takes back the payment's fee.
func (p *Payment) free() { p.FeeMinor, p.FeeName, p.FeeTier = 0, "", "" }

// uncountTx takes a payment that is not made after all out of the use of its customer's limits.
func (p *Payment) uncountTx(ctx context.Context) error {
	c := limits.Counting(p.Tenant)
	p.uncount(c)
	return c.WriteTx(ctx)
}

func (p *Payment) uncount(c *limits.Counter) {
	if p.counts() {
		back := p.planned()
		back.Amount.Minor = -back.Amount.Minor
		c.Take(back)
	}
}

// planned returns the payment as limits count it, whatever the class of its entry.
func (p *Payment) planned() limits.Planned {
	planned := limits.Planned{Customer: p.Customer, Rail: p.Rail, Day: p.Date, Amount: p.Debited()}
	if p.Rail == rails.ACH {
		planned.EntryType = p.EntryType
	}
	return planned
}

// tested returns the payment, with its entry if it is one over ACH, as limits test it: there are some of one
// class of entries alone.
func (p *Payment) tested(e *Entry) limits.Planned {
	planned := p.planned()
	if e != nil {
		planned.SECCode = e.Class
	}
	return planned
}

var readingClass = db.NewQuery[Entry](`SELECT ae.class FROM ach_entries AS ae
	WHERE ae.tenant = $1 AND ae.payment = $2`)

// movedTx moves a payment from the day that it had before to its new one in the use of limits, if they allow
// it there: payments that have waited for different days must not all settle on one.
func (p *Payment) movedTx(ctx context.Context, tx *changes.Tx, was *Payment) error {
	if !p.counts() || p.Date.Equal(was.Date) {
		return nil
	}
	b := db.TxBatch(tx.Tx)
	c := limits.Count(b, p.Tenant, []accounts.UID{p.Own()}, p.Date, p.Date)
	entry := db.Queue(b, readingClass, p.Tenant, p.UID)
	if err := b.Send(ctx); err != nil {
		return err
	}
	e, err := entry.One()
	if err != nil {
		return err
	}
	was.uncount(c)
	if over := c.Exceeds(p.tested(e)); over != nil {
		return exceeds(tx.Caller, over)
	}
	c.Take(p.planned())
	return c.WriteTx(ctx)
}

// recount moves a payment from the day on which it was to settle to its present one.
func (p *Payment) recount(c *limits.Counter, was *Payment) {
	if p.counts() && !p.Date.Equal(was.Date) {
		was.uncount(c)
		c.Take(p.planned())
	}
}
