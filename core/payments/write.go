package payments

import (
	"context"
	"errors"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/screening"
	"bankgraph/db"
)

// Saved is the answer to a change of a payment.
type Saved struct {
	UID                 UID    `json:"uid"`
	Status              Status `json:"status"`
	ExternalReferenceID string `json:"externalReferenceId"`
	// of the series that it begins; 0 for a single payment
	Recurrence RecurrenceUID `json:"recurrenceId,omitzero"`
}

func saved(p *Payment) Saved {
	s := Saved{UID: p.UID, Status: p.Status(), ExternalReferenceID: p.ExternalReferenceID}
	if p.series != nil {
		s.Recurrence = p.series.UID
	}
	return s
}

// transferTx carries out the transfers of a lane, each on its own: a refused one leaves no trace in what the
// others see.
func (s *Service) transferTx(
	ctx context.Context, tx *changes.LaneTx, members []*changes.Member[Draft, Saved],
) error {
	w := want{created: len(members)}
	for _, m := range members {
		w.payers, w.payees = append(w.payers, m.Draft.Sender), append(w.payees, m.Draft.Receiver)
		if m.Draft.Repeat != nil {
			w.recurrences++
		}
	}
	f, err := s.gatherTx(ctx, tx.Tx, tx.Tenant, w.madeBy(tx.Now, callersOf(members)...))
	if err != nil {
		return err
	}
	return beginAllTx(ctx, s, f, members, func(m *changes.Member[Draft, Saved]) (*Payment, error) {
		return f.transfer(s, m.Tx.Caller, &m.Draft, m.Tx.Now)
	})
}

// beginAllTx begins the payments that are drawn from the requests of a lane, and writes them.
func beginAllTx[D any](
	ctx context.Context, s *Service, f *facts, members []*changes.Member[D, Saved],
	build func(*changes.Member[D, Saved]) (*Payment, error),
) error {
	var rows rows
	for _, m := range members {
		p, err := build(m)
		var step *Step
		if err == nil {
			step, err = begin(ctx, f, m.Tx, nil, p)
		}
		if isFault(err) && !errors.Is(err, changes.ErrOpen) && p != nil && p.order != nil {
			step, err = s.setAsideTx(ctx, f, m.Tx, p, err)
		}
		switch {
		case err == nil:
			rows.add(p, step)
			f.use(p)
			m.Result = saved(p)
		case isFault(err):
			m.Refuse(err)
		default:
			return err
		}
	}
	if err := rows.writeTx(ctx); err != nil {
		return err
	}
	return f.writeTx(ctx)
}

// writeTx writes what payments have changed in the books and in the use of limits, after the steps that
// changed it.
func (f *facts) writeTx(ctx context.Context) error {
	if f.limits != nil {
		if err := f.limits.WriteTx(ctx); err != nil {
			return err
		}
	}
	if err := f.own.writeTx(ctx); err != nil {
		return err
	}
	if err := f.books.WriteTx(ctx); err != nil {
		return err
	}
	if err := screening.WriteTx(ctx, f.tenant, f.screenings); err != nil {
		return err
	}
	if err := screening.ReopenTx(ctx, f.tenant, f.reopened); err != nil {
		return err
	}
	return f.postVirtualTx(ctx)
}

func isFault(err error) bool {
	f, is := fault.Of(err)
	return is && f.Kind != fault.Internal
}

// begin begins one payment: it is carried out at once, or waits for its day or for a second person. was is
// the payment before, if it waited for repair.
func begin(ctx context.Context, f *facts, tx *changes.Tx, was, p *Payment) (step *Step, err error) {
	waits := tx.NeedsApproval(f.needsApproval(p))
	if waits {
		if err := tx.HasRoom(ctx); err != nil {
			return nil, err
		}
	}
	to, err := f.start(p, tx.Caller, tx.Now, waits)
	if err != nil {
		return nil, err
	}
	if f.limits != nil && p.counts() {
		f.limits.Take(p.planned())
	}
	step = p.enter(to, tx.Caller, tx.Now, "")
	if r := p.series; r != nil {
		if waits {
			r.Status = RecurrencePending
		}
		if err := tx.Record(ctx, changes.Change{
			Action: "startRecurrence", Object: recurrenceObject, UID: r.UID, Customer: int64(r.Customer),
			Version: r.Version,
			After:   r,
		}); err != nil {
			return step, err
		}
	}
	change := changes.Change{UID: p.UID, Customer: int64(p.Customer), Version: p.Version, After: p}
	if was != nil {
		change.Before = was
	}
	if err := tx.Record(ctx, change); err != nil || !waits {
		return step, err
	}
	proposal := changes.Proposal{Customer: int64(p.Customer), UID: p.UID, Version: p.Version, After: p}
	proposal.Approvers, proposal.By = f.approvers(p)
	return step, tx.Propose(ctx, proposal)
}

// start decides what a new payment begins with: it waits for a second person or for its day, or is carried
// out. It counts the payment against the own limits of who makes it.
func (f *facts) start(p *Payment, by access.Caller, now time.Time, waits bool) (State, error) {
	to, err := f.begins(p, by, now, waits)
	if err == nil {
		f.own.take(by, p.Committed())
	}
	return to, err
}

func (f *facts) begins(p *Payment, by access.Caller, now time.Time, waits bool) (State, error) {
	switch {
	case waits:
		return PendingApproval, nil
	case p.starts().After(p.today(by, now)):
		p.leaves()
		return Scheduled, nil
	}
	return f.carryOut(p, now)
}

// today returns the current day for a payment: in the bank's zone, or in that of its network.
func (p *Payment) today(by access.Caller, now time.Time) time.Time {
	if p.Rail == rails.Book {
		return ledger.Day(now.In(by.Location()))
	}
	return calendar.Today(now)
}

// wanted returns the facts that existing payments need.
func wanted(all ...*Payment) (w want) {
	for _, p := range all {
		if p.Incoming() || p.Collects() {
			w.journals += journalsEach
		}
		if !p.Incoming() {
			w.payers = append(w.payers, Party{UID: p.Own()})
		}
		w.screened = w.screened || p.Rail != rails.Book && p.State.Waits()
		if p.CustomFeeMinor > 0 {
			w.houses = append(w.houses, house{ledger.HouseFees, p.DebitedCurrency()})
		}
		if p.Incoming() && p.SenderAccount != 0 {
			w.payees = append(w.payees, Party{UID: p.SenderAccount})
		}
		if p.ReceiverAccount != 0 {
			w.payees = append(w.payees, Party{UID: p.ReceiverAccount})
		}
	}
	return w
}

// enterTx writes that a payment, which is locked, has reached a state; was is the payment before.
func (s *Service) enterTx(
	ctx context.Context, tx *changes.Tx, was, p *Payment, to State, reason string,
) error {
	step := p.enter(to, tx.Caller, tx.Now, reason)
	if err := writeTx(ctx, []*Payment{p}, []*Step{step}); err != nil {
		return err
	}
	return tx.Record(ctx, changes.Change{
		UID: p.UID, Customer: int64(p.Customer), Version: p.Version, Before: was, After: p,
	})
}

// writeTx writes the present states of payments, which are locked, at the end of the transaction.
func writeTx(ctx context.Context, payments []*Payment, steps []*Step) error {
	if len(payments) == 0 {
		return nil
	}
	var uids, fees, versions, returned, sold []int64
	var states, names, tiers, reasons, days []string
	var sends, settles []*time.Time
	for _, p := range payments {
		uids, fees, versions = append(uids, int64(p.UID)), append(fees, p.FeeMinor),
			append(versions, int64(p.Version))
		states, names, tiers = append(states, string(p.State)), append(names, p.FeeName), append(tiers, p.FeeTier)
		reasons, days = append(reasons, p.Reason), append(days, p.Date.Format(time.DateOnly))
		sends, settles = append(sends, p.SendAt), append(settles, p.SettlesAt)
		returned, sold = append(returned, p.ReturnedMinor), append(sold, p.SoldReturned)
	}
	err := db.ExecAtCommit(ctx, `UPDATE payments AS p SET state = n.state, fee = n.fee, version = n.version,
		fee_name = n.fee_name, fee_tier = n.fee_tier, reason = n.reason, payment_date = n.day::date,
		send_at = n.send_at, settles_at = n.settles_at, returned = n.returned, sold_returned = n.sold,
		  updated_at = $12::timestamptz
		FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[],
		  $9::text[], $10::timestamptz[], $11::timestamptz[], $13::bigint[], $14::bigint[])
		  AS n(uid, state, fee, version, fee_name, fee_tier, reason, day, send_at, settles_at, returned, sold)
		WHERE p.tenant = $1 AND p.uid = n.uid`, payments[0].Tenant, uids, states, fees, versions, names,
		tiers, reasons, days, sends, settles, payments[0].UpdatedAt, returned, sold)
	if err != nil {
		return err
	}
	return db.InsertAtCommit(ctx, steps)
}

// lockTx reads and locks a payment of a customer that the caller may change. A payee sees the payment, but
// does not change it.
func (s *Service) lockTx(ctx context.Context, tx *changes.Tx, at changes.Target) (*Payment, error) {
	if _, err := customers.Hold(s.customers.HoldTx).Of("payments", "uid", ErrNotFound)(ctx, tx,
		&at); err != nil {
		return nil, err
	}
	p := new(Payment)
	q := tx.NewSelect().Model(p).Where("pay.tenant = ?", tx.Caller.Tenant).Where("pay.uid = ?", at.UID).
		Where("pay.customer = ?", at.Customer)
	return changes.Lock(ctx, q, p, ErrNotFound)
}
