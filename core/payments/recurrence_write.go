package payments

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
)

// Cancellation is what a request says about ending a series.
type Cancellation struct {
	Source string `json:"cancellationSource,omitempty"` // where it is asked for
}

// RecurrenceSaved is the answer to a change of a series.
type RecurrenceSaved struct {
	UID    RecurrenceUID    `json:"uid"`
	Status RecurrenceStatus `json:"status"`
}

// recurrenceOperations are the changes of series.
type recurrenceOperations struct {
	skip         *changes.Operation[struct{}, RecurrenceSaved]
	change       *changes.Operation[RecurrenceDraft, RecurrenceSaved]
	cancelSeries *changes.Operation[Cancellation, RecurrenceSaved]
}

func (s *Service) declareRecurrences(all *changes.Service) {
	s.skip = changes.Declare(all, "skipRecurrence", recurrenceObject, access.CancelPayments, s.skipTx)
	s.change = changes.Declare(all, changingSeries, recurrenceObject, access.InitiatePayments, s.changeTx).
		DecidedWith(access.ApprovePayments).Partly(s.mayChangeTx)
	s.cancelSeries = changes.Declare(all, "cancelRecurrence", recurrenceObject,
		access.CancelPayments, s.cancelSeriesTx)
}

// SkipRecurrence leaves out the next payment of a series. If payments wait for their day, it is the first of
// them, which is cancelled.
func (s *Service) SkipRecurrence(
	ctx context.Context, uid RecurrenceUID, options changes.RequestOptions,
) (changes.Outcome[RecurrenceSaved], error) {
	caller, err := s.skip.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[RecurrenceSaved]{}, err
	}
	return s.skip.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

// ChangeRecurrence changes the payments of a series that are still to come, and when it ends. If the settings
// of the customer that pays ask for dual approval, it waits for a second person.
func (s *Service) ChangeRecurrence(
	ctx context.Context, uid RecurrenceUID, draft RecurrenceDraft, options changes.RequestOptions,
) (changes.Outcome[RecurrenceSaved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[RecurrenceSaved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// CancelRecurrence ends a series. Its payment that waits for its day or for approval is cancelled; what is on
// its way stays.
func (s *Service) CancelRecurrence(
	ctx context.Context, uid RecurrenceUID, draft Cancellation, options changes.RequestOptions,
) (changes.Outcome[RecurrenceSaved], error) {
	caller, err := s.cancelSeries.Require(ctx, uid.String())
	if err == nil {
		c := check.Of(recurrenceObject)
		c.AtMost("cancellationSource", draft.Source, 50)
		c.AtMost("cancelReason", options.Reason, 100)
		err = c.Err()
	}
	if err != nil {
		return changes.Outcome[RecurrenceSaved]{}, err
	}
	return s.cancelSeries.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// series is a series that is being changed, with its payments that no money has moved for.
type series struct {
	changes.Lifecycle[*customers.Held, Recurrence]
	waiting []*Payment
}

// changing returns the lifecycle of series. needed says whether a second person has to agree; nil for never.
func (s *Service) changing(needed func(*customers.Held, *Recurrence, *Recurrence) bool) *series {
	l := new(series)
	l.Lifecycle = changes.Lifecycle[*customers.Held, Recurrence]{
		Name: recurrenceObject, Asks: needed,
		Hold: customers.Hold(s.customers.HoldTx).Of("recurrences", "uid", ErrNoRecurrence),
		// Lock locks the waiting payments, as their cancellation does, then the series, then payments that
		// were made meanwhile: those wait for their day, and nobody who locks one locks its series after it.
		Lock: func(
			ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target,
		) (*Recurrence, error) {
			err := l.waitTx(ctx, tx, at, PendingApproval, PartlyApproved, Scheduled)
			if err != nil {
				return nil, err
			}
			r, err := lockRecurrenceTx(ctx, tx, at.UID, at.Customer)
			if err == nil {
				r.goesOnMeanwhile(tx)
				r.Changed = r.Version + 1
				err = l.waitTx(ctx, tx, at, Scheduled)
			}
			return r, err
		},
		Row: func(r *Recurrence) changes.Row {
			return changes.Row{
				Model: r, UID: r.UID, Customer: int64(r.Customer), Version: &r.Version, UpdatedAt: &r.UpdatedAt,
			}
		},
	}
	return l
}

// goesOnMeanwhile lets a change that was asked for be approved although the series has made payments since.
// One from before people left a payment out is stale.
func (r *Recurrence) goesOnMeanwhile(tx *changes.Tx) {
	if asked := tx.Options.Version; tx.Approved() && r.Changed <= asked && asked <= r.Version {
		tx.Options.Version = r.Version
	}
}

// waitTx locks the payments of a series that are in one of these states, and are not locked yet.
func (l *series) waitTx(ctx context.Context, tx *changes.Tx, at changes.Target, in ...State) error {
	after := UID(0) // those that are made later have higher numbers
	if n := len(l.waiting); n > 0 {
		after = l.waiting[n-1].UID
	}
	var more []*Payment
	err := tx.NewSelect().Model(&more).Where("pay.tenant = ?", tx.Caller.Tenant).
		Where("pay.recurrence = ?", at.UID).Where("pay.customer = ?", at.Customer).
		Where("pay.state IN (?)", bun.List(in)).Where("pay.uid > ?", after).
		OrderExpr("pay.uid").For("NO KEY UPDATE").Scan(ctx)
	l.waiting = append(l.waiting, more...)
	return err
}

func lockRecurrenceTx(
	ctx context.Context, tx *changes.Tx, uid any, customer int64,
) (*Recurrence, error) {
	r := new(Recurrence)
	q := tx.NewSelect().Model(r).Where("rec.tenant = ?", tx.Caller.Tenant).Where("rec.uid = ?", uid).
		Where("rec.customer = ?", customer)
	return changes.Lock(ctx, q, r, ErrNoRecurrence)
}

// drops makes the change cancel payments that wait. They no longer count as made.
func (l *series) drops(s *Service, r *Recurrence, dropped []*Payment, reason string) {
	r.Made -= int32(len(dropped)) //nolint:gosec // few
	l.Write = func(ctx context.Context, tx *changes.Tx, _, _ *Recurrence) error {
		for _, p := range dropped {
			if err := s.dropTx(ctx, tx, p, reason); err != nil {
				return err
			}
		}
		return nil
	}
}

// dropTx cancels a payment before any money has moved. What is held for it is released.
func (s *Service) dropTx(ctx context.Context, tx *changes.Tx, p *Payment, reason string) error {
	was := *p
	if p.State != Scheduled {
		if err := tx.Withdraw(ctx, "payment", p.UID); err != nil {
			return err
		}
	}
	if err := p.uncountTx(ctx); err != nil {
		return err
	}
	step := p.enter(Cancelled, tx.Caller, tx.Now, reason)
	if err := writeTx(ctx, []*Payment{p}, []*Step{step}); err != nil {
		return err
	}
	return tx.Record(ctx, changes.Change{
		Action: "cancelPayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
		Before: &was, After: p,
	})
}

// goesOn returns ErrRecurrenceOver for a series that has no payments to come.
func (l *series) goesOn(r *Recurrence) error {
	if r.Status == RecurrenceActive || r.Status == RecurrenceCompleted && len(l.waiting) > 0 {
		return nil
	}
	why := "the series is " + strings.ToLower(string(r.Status))
	if r.Status == RecurrencePending {
		why = "the first payment of the series waits for approval"
	}
	return ErrRecurrenceOver.Saying(why).With(string(r.Status))
}

// next returns the first date of a series that it has made no payment for, also if that is none of the series
// any more: while payments of a complete one wait, it may get longer.
func (l *series) next(r *Recurrence) time.Time {
	switch {
	case r.Next != nil:
		return *r.Next
	case r.End != nil:
		return r.after(*r.End)
	}
	return r.after(l.waiting[len(l.waiting)-1].Date)
}

// later returns the waiting payments that are later than a day; none if it is zero.
func (l *series) later(day time.Time) (all []*Payment) {
	for _, p := range l.waiting {
		if !day.IsZero() && p.Date.After(day) {
			all = append(all, p)
		}
	}
	return all
}

func (s *Service) skipTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (RecurrenceSaved, error) {
	l := s.changing(nil)
	r, err := l.Modify(ctx, tx, at, func(_, r *Recurrence) error {
		if err := l.goesOn(r); err != nil {
			return err
		}
		if len(l.waiting) == 0 {
			r.advance(*r.Next)
			return nil
		}
		l.drops(s, r, l.waiting[:1], "left out of the series")
		r.Status = RecurrenceActive
		r.goOn(l.next(r))
		return nil
	})
	return savedRecurrence(r), err
}

func (s *Service) cancelSeriesTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d Cancellation,
) (RecurrenceSaved, error) {
	var waits []string
	err := tx.NewSelect().Model((*Payment)(nil)).ColumnExpr("pay.uid::text").
		Where("pay.tenant = ?", tx.Caller.Tenant).
		Where("pay.recurrence = ?", at.UID).Where("pay.state IN (?)",
		bun.List([]State{PendingApproval, PartlyApproved})).
		Scan(ctx, &waits)
	if err == nil {
		err = tx.LockWaiting(ctx, "payment", waits...)
	}
	if err == nil {
		err = tx.LockWaiting(ctx, recurrenceObject, at.UID)
	}
	if err != nil {
		return RecurrenceSaved{}, fmt.Errorf("lock what waits of series %s: %w", at.UID, err)
	}
	l := s.changing(nil)
	r, err := l.Modify(ctx, tx, at, func(_, r *Recurrence) error {
		if err := l.goesOn(r); err != nil && r.Status != RecurrencePending {
			return err
		}
		l.drops(s, r, l.waiting, "the series is cancelled")
		r.Status, r.Next, r.Reason, r.Source = RecurrenceCancelled, nil, tx.Options.Reason, d.Source
		return tx.Withdraw(ctx, recurrenceObject, r.UID)
	})
	return savedRecurrence(r), err
}

func savedRecurrence(r *Recurrence) RecurrenceSaved {
	if r == nil {
		return RecurrenceSaved{}
	}
	return RecurrenceSaved{r.UID, r.Status}
}

// followsTx starts the series that a payment begins if the payment is approved, and ends the series if it is
// not. Dates of the series up to the payment's own day have passed while it waited: they are left out.
func (s *Service) followsTx(ctx context.Context, tx *changes.Tx, p *Payment, approved bool) error {
	if p.Recurrence == 0 {
		return nil
	}
	r, err := lockRecurrenceTx(ctx, tx, p.Recurrence, int64(p.Customer))
	if err != nil || r.Status != RecurrencePending {
		return err
	}
	was := *r
	r.Version, r.UpdatedAt, r.Status = r.Version+1, tx.Now, RecurrenceActive
	r.Changed = r.Version
	switch {
	case !approved:
		r.Status, r.Next, r.Reason = RecurrenceCancelled, nil, tx.Options.Reason
	case r.End != nil && p.Date.After(*r.End):
		return ErrRecurrenceOver.Saying("the series ended on " + iso(r.End) +
			", while it waited for approval")
	case r.Next == nil:
		r.Status = RecurrenceCompleted
	case !r.Next.After(p.Date):
		r.advance(p.Date)
	}
	if _, err := tx.NewUpdate().Model(r).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("write a series: %w", err)
	}
	return tx.Record(ctx, changes.Change{
		Action: "startRecurrence", Object: recurrenceObject, UID: r.UID, Customer: int64(r.Customer),
		Version: r.Version, Before: &was, After: r,
	})
}
