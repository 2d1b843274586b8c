package waterfalls

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
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
	decided, err := db.ReadPrimary(ctx, s.db, findingDecided, caller.Tenant)
	if err != nil {
		return 0, fmt.Errorf("find waterfalls that are decided: %w", err)
	}
	dealt, err = changes.WorkOff(
		func() (UID, error) {
			for len(decided) > 0 {
				next := decided[0].UID
				decided = decided[1:]
				if which, err := s.step(ctx, caller, now, next, s.deal); which != 0 || err != nil {
					return which, err
				} // else another worker has it
			}
			return s.step(ctx, caller, now, 0, s.deal)
		},
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
type asker struct {
	Client string `bun:"maker_client"`
	Login  string `bun:"maker_login"`
}

func (a asker) compare(b asker) int {
	return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Login, b.Login))
}

// decided is the condition that a batch of a bank waits for no person: if it waits for a payment, that is
// decided.
const decided = `(wf.status IN ('RECEIVED', 'PROCESSING') OR wf.status = 'PENDING_APPROVAL' AND EXISTS (
	SELECT FROM payments AS pay WHERE pay.tenant = ? AND pay.uid = wf.waits_for AND pay.state NOT IN (?)))`

// findingDecided finds batches of which the payment that they waited for is decided. It reads all that wait
// for people, which are as many as there may be open approvals.
var findingDecided = db.NewQuery[Waterfall](`SELECT wf.uid FROM waterfalls AS wf
	JOIN payments AS pay ON pay.tenant = wf.tenant AND pay.uid = wf.waits_for
	WHERE wf.tenant = $1 AND pay.tenant = $1 AND wf.status = 'PENDING_APPROVAL'
	  AND pay.state NOT IN (` + quoted(payments.StatesThatWait) + `)
	ORDER BY wf.worked_at, wf.uid LIMIT 250`)

func quoted(states []payments.State) string {
	all := make([]string, len(states))
	for i, state := range states {
		all[i] = "'" + string(state) + "'"
	}
	return strings.Join(all, ", ")
}

// lockTx locks a batch that can go on; nil if there is none. only names the batch; 0: the one whose turn it
// is. Those who ask for batches take turns, and of each one's batches it is the one that was worked on, or
// was accepted, the longest ago.
func (s *Service) lockTx(ctx context.Context, tx bun.Tx, worker access.Caller, only UID) (*Waterfall, error) {
	bank := db.Number(worker.Tenant)
	lock := func(which string, values ...any) (*Waterfall, error) {
		w := new(Waterfall)
		err := tx.NewSelect().Model(w).Where("wf.tenant = ?", bank).Where(which, values...).
			OrderExpr("wf.worked_at NULLS FIRST, wf.uid").Limit(1).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return nil, nil
		}
		return w, err
	}
	if only != 0 {
		return lock("wf.uid = ? AND "+decided, only, bank, bun.List(payments.StatesThatWait))
	}
	var w *Waterfall
	err := changes.InTurn(s.turns.Last(worker.Tenant), asker{}, asker.compare,
		func(place asker) (*asker, error) {
			next := new(asker)
			err := db.Raw(tx, `SELECT maker_client, maker_login FROM waterfalls WHERE tenant = ?
				AND status IN ('RECEIVED', 'PROCESSING') AND (maker_client, maker_login) > (?, ?)
				ORDER BY maker_client, maker_login LIMIT 1`, worker.Tenant, place.Client, place.Login).
				Scan(ctx, next)
			if errors.Is(err, sql.ErrNoRows) {
				return nil, nil
			}
			return next, err
		},
		func(next asker) (_ bool, err error) {
			w, err = lock("wf.status IN ('RECEIVED', 'PROCESSING') AND wf.maker_client = ? AND wf.maker_login = ?",
				next.Client, next.Login)
			return w != nil, err
		})
	return w, err
}

// step locks a batch that can go on, calls do for the step where it stands, and writes what became of it.
// only names the batch; 0: the one whose turn it is. It returns which batch that was, also with an error of
// do; 0 if there is none.
func (s *Service) step(
	ctx context.Context, worker access.Caller, now time.Time, only UID,
	do func(ctx context.Context, tx bun.Tx, worker access.Caller, r *running) error,
) (which UID, err error) {
	err = s.db.InTx(ctx, int64(worker.Tenant), func(ctx context.Context, tx bun.Tx) error {
		which = 0
		w, err := s.lockTx(ctx, tx, worker, only)
		if err != nil || w == nil {
			return err
		}
		which = w.UID
		if only == 0 {
			s.turns.Give(worker.Tenant, asker{w.MakerClient, w.MakerLogin})
		}
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
		WHERE tenant = $1 AND id = $2`, w.Tenant, int64(at.ID), string(at.Status), int64(at.Payment),
		string(at.Found))
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
			`UPDATE waterfalls SET made = $3::int, worked_at = $4::timestamptz
				WHERE tenant = $1 AND uid = $2`, w.Tenant, int64(w.UID), w.Made, w.WorkedAt)
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
