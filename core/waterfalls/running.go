package waterfalls

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Work makes payments of the batches of the caller's bank, and returns how many steps it has dealt with. A
// step, its payment and how far the batch has come are one transaction: whenever a worker ends, the next goes
// on at the step where that one stood, and each step becomes one payment at most. It is for workers: of many,
// each has another batch.
func (s *Service) Work(ctx context.Context) (dealt int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	dealt, err = changes.WorkOff(
		func() (UID, error) { return s.step(ctx, caller, now, 0, s.deal) },
		func(which UID) (UID, error) { return s.step(ctx, caller, now, which, giveUp) },
	)
	if err != nil {
		err = fmt.Errorf("run waterfalls: %w", err)
	}
	return dealt, err
}

// running is a batch that is locked, with the step where it stands.
type running struct {
	*Waterfall
	at  *Step
	now time.Time
}

// asker is who asked for a batch.
type asker struct{ client, login string }

// step locks a batch that can go on, calls do for the step where it stands, and writes what
// became of it. only names the batch; 0: the one whose turn it is. Those who ask for batches take turns, and
// of each one's batches it is the one that was worked on, or was accepted, the longest ago. It returns which
// batch that was, also with an error of do; 0 if there is none.
func (s *Service) step(
	ctx context.Context, worker access.Caller, now time.Time, only UID,
	do func(ctx context.Context, tx bun.Tx, worker access.Caller, r *running) error,
) (which UID, err error) {
	err = s.db.InTx(ctx, int64(worker.Tenant), func(ctx context.Context, tx bun.Tx) error {
		which = 0
		w, last := new(Waterfall), s.turns.Last(worker.Tenant)
		waiting := tx.NewSelect().Model(w).Where("wf.tenant = ?", db.Number(worker.Tenant))
		if only != 0 {
			waiting.Where("wf.uid = ?", only)
		}
		err := waiting.
			Where("wf.status IN (?)", bun.List([]Status{Received, Processing, PendingApproval})).
			Where("(wf.status <> ? OR EXISTS (SELECT FROM payments AS pay WHERE pay.tenant = ? AND pay.uid = "+
				"wf.waits_for AND pay.state NOT IN (?)))", PendingApproval, db.Number(worker.Tenant), bun.List(payments.StatesThatWait)).
			OrderExpr("(wf.maker_client, wf.maker_login) <= (?, ?), wf.maker_client, wf.maker_login",
				last.client, last.login).
			OrderExpr("wf.worked_at NULLS FIRST, wf.uid").Limit(1).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil {
			return err
		}
		which = w.UID
		s.turns.Give(worker.Tenant, asker{w.MakerClient, w.MakerLogin})
		was := *w
		r := &running{Waterfall: w, at: new(Step), now: now}
		err = tx.NewSelect().Model(r.at).Where("ws.tenant = ?", w.Tenant).Where("ws.waterfall = ?", w.UID).
			Where("ws.status IN (?)", bun.List([]StepStatus{StepWaiting, StepPending})).OrderExpr("ws.id").
			Limit(1).Scan(ctx)
		if err != nil {
			return fmt.Errorf("waterfall %s: find its step: %w", w.UID, err)
		}
		if err := do(ctx, tx, worker, r); err != nil {
			return fmt.Errorf("waterfall %s: payment %d: %w", w.UID, r.at.Index, err)
		}
		return r.writeTx(ctx, tx, worker, &was)
	})
	if errors.Is(err, sql.ErrNoRows) && which == 0 {
		return 0, nil
	}
	return which, err
}

// deal makes the payment of a step, or finds out what people have decided on it.
func (s *Service) deal(ctx context.Context, tx bun.Tx, worker access.Caller, r *running) error {
	if r.at.Status == StepPending {
		return r.decided(ctx, tx)
	}
	err := changes.EndedTx(ctx, tx, r.Tenant, r.Maker.Client, r.Maker.Person())
	if errors.Is(err, changes.ErrMakerEnded) {
		r.at.fails(StepFault{"", "STATUS", "who asked for the batch has no access any more"})
		return nil
	}
	if err != nil {
		return err
	}
	draft, err := r.at.open(s.keys)
	if err != nil {
		return err
	}
	made, err := s.payments.TransferTx(ctx, tx, r.Maker.Caller(worker), draft, r.now)
	if err != nil {
		return err
	}
	r.at.Payment = made.Payment
	switch {
	case made.Why != nil:
		var all []StepFault
		for _, f := range faultsOf(made.Why) {
			all = append(all, StepFault{f.Field, problemOf(f), f.Message})
		}
		r.at.fails(all...)
	case made.State.Waits():
		r.at.Status = StepPending
	default:
		r.at.Status = StepMade
	}
	return nil
}

// decided finds out what became of the payment of a step that waited for people.
func (r *running) decided(ctx context.Context, tx bun.Tx) error {
	var state payments.State
	err := db.Raw(tx, `SELECT state FROM payments WHERE tenant = ? AND uid = ?`, r.Tenant,
		int64(r.at.Payment)).Scan(ctx, &state)
	if err != nil {
		return err
	}
	switch state {
	case payments.Cancelled, payments.Invalid:
		r.at.fails(StepFault{"", "STATUS", "the payment is " + string(state.Status())})
	default:
		r.at.Status = StepMade
	}
	return nil
}

// giveUp says of a step that the bank could not make its payment. One that waited for people has a payment,
// and is what that has become.
func giveUp(ctx context.Context, tx bun.Tx, _ access.Caller, r *running) error {
	if r.at.Status == StepPending {
		return r.decided(ctx, tx)
	}
	r.at.fails(StepFault{"", string(fault.Internal), "the bank could not make the payment"})
	return nil
}

// writeTx writes what became of a step, and how far the batch has come with it.
func (r *running) writeTx(ctx context.Context, tx bun.Tx, worker access.Caller, was *Waterfall) error {
	w, at := r.Waterfall, r.at
	err := db.ExecAtCommit(ctx, `UPDATE waterfall_steps SET status = $3, payment = nullif($4::bigint, 0),
		faults = $5::jsonb
		WHERE tenant = $1 AND id = $2`, w.Tenant, int64(at.ID), string(at.Status), int64(at.Payment), string(at.Found))
	if err != nil {
		return err
	}
	worked := time.Now()
	w.WorkedAt, w.WaitsFor = &worked, 0
	switch at.Status {
	case StepFailed:
		w.Status = Stopped
		if err := db.ExecAtCommit(ctx, `UPDATE waterfall_steps SET status = 'NOT_RUN'
			WHERE tenant = $1 AND waterfall = $2 AND status = 'WAITING'`, w.Tenant, int64(w.UID)); err != nil {
			return err
		}
	case StepPending:
		w.Status, w.WaitsFor = PendingApproval, at.Payment
	default:
		if w.Made++; w.Made == w.Payments {
			w.Status = Processed
		} else {
			w.Status = Processing
		}
	}
	if w.Status == was.Status {
		return db.ExecAtCommit(ctx,
			`UPDATE waterfalls SET made = $3::int, worked_at = $4::timestamptz WHERE tenant = $1 AND uid = $2`,
			w.Tenant, int64(w.UID), w.Made, w.WorkedAt)
	}
	w.UpdatedAt, w.Version = r.now, w.Version+1
	if _, err := tx.NewUpdate().Model(w).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("write waterfall %s: %w", w.UID, err)
	}
	recorded := changes.Change{
		Action: "processWaterfall", Object: object, UID: w.UID, Customer: int64(w.Customer),
		Version: w.Version, Before: was,
		After: w,
	}.Recorded(worker, "")
	return events.RecordTx(ctx, tx, recorded.Entry, *recorded.Event)
}

// faultsOf returns the faults of a refusal, in the words of batches.
func faultsOf(why error) fault.Faults {
	why = fault.Called(why, words)
	var several fault.Faults
	if errors.As(why, &several) {
		return several
	}
	if f, is := fault.Of(why); is {
		return fault.Faults{f}
	}
	return nil
}

// problemOf is what is wrong with a step.
func problemOf(f *fault.Fault) string {
	if f.Problem != "" {
		return string(f.Problem)
	}
	switch f.Kind {
	case fault.NotFound:
		return string(fault.Unknown)
	case fault.State, fault.TooMany:
		return "STATUS"
	}
	return string(fault.Malformed)
}
