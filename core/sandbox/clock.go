package sandbox

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Move is what a request says of where a sandbox bank's clock is to move: to a time, or on by some minutes.
type Move struct {
	To      time.Time `json:"to,omitzero"`
	Minutes int32     `json:"minutes,omitempty"`
}

const mostMinutes = int32(clock.Farthest / time.Minute)

// check validates the form of a move.
func (m *Move) check() error {
	switch {
	case m.To.IsZero() == (m.Minutes == 0):
		return fault.Field("clock", "to", fault.Required, "is required, or minutes instead, not both")
	case m.Minutes < 0:
		return fault.Field("clock", "minutes", fault.Min, "must be more than 0: a clock moves on only")
	case m.Minutes > mostMinutes:
		return fault.Field("clock", "minutes", fault.Max, "must be at most a year, 527040 minutes")
	}
	return nil
}

// MoveClock lets the clock of a sandbox bank move on. It stops at each time at which something is due, until
// that is done: files leave, entries settle, networks answer, dated payments are carried out. The answer
// comes at once, and says where it moves to; the workers move it. Only the bank's own people and programs
// may.
func (s *Service) MoveClock(
	ctx context.Context, move Move, options changes.RequestOptions,
) (changes.Outcome[clock.Reading], error) {
	caller, err := s.move.Require(ctx, "")
	if err == nil && caller.Reach != access.OfBank {
		err = access.ErrDenied
	}
	if err == nil {
		err = move.check()
	}
	if err != nil {
		return changes.Outcome[clock.Reading]{}, err
	}
	return s.move.Do(ctx, caller, changes.Target{}, move, options)
}

// moveTx carries out MoveClock.
func (s *Service) moveTx(
	ctx context.Context, tx *changes.Tx, _ changes.Target, move Move,
) (clock.Reading, error) {
	to := move.To
	if to.IsZero() {
		to = tx.Now.Add(time.Duration(move.Minutes) * time.Minute)
	}
	reading, err := s.clock.MoveTx(ctx, tx.Tx, tx.Caller.Tenant, to)
	if err != nil {
		return reading, err
	}
	return reading, tx.Record(ctx, changes.Change{
		UID: bankCode(tx.Caller.TenantCode), Before: &clockMark{reading.Now.UTC()}, After: &clockMark{to.UTC()},
	})
}

// bankCode names the clock of a bank in the record.
type bankCode string

func (c bankCode) String() string { return string(c) }

// clockMark is a clock as the record shows it.
type clockMark struct {
	Time time.Time `json:"time"`
}

type dueAt struct {
	At *time.Time `bun:"at"`
}

var findingNext = db.NewQuery[dueAt](`SELECT min(due_at) AS at FROM sandbox_messages
	WHERE tenant = $1 AND taken_at IS NULL AND due_at > $2`)

// Next returns when the networks next say something to the caller's bank, after a time; nil if nothing waits.
func (s *Service) Next(ctx context.Context, after time.Time) (*time.Time, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	b := s.db.PrimaryBatch()
	next := db.Queue(b, findingNext, caller.Tenant, after)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	return next.Items[0].At, next.Err
}
