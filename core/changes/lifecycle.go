package changes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Lifecycle creates, changes and settles the things of one kind: each is held, locked, compared with the
// version that the caller read, written or proposed, and recorded. The fields say what differs from kind to
// kind. H is what is held for a change, such as the thing's customer; T is the row.
type Lifecycle[H, T any] struct {
	Name string // of the kind, used in errors: signatory

	// Hold locks what owns the thing, such as its customer, until the transaction ends, and sets the target's
	// Customer.
	Hold func(ctx context.Context, tx *Tx, at *Target) (H, error)
	// Lock reads the thing for a change.
	Lock func(ctx context.Context, tx *Tx, held H, at Target) (*T, error)
	// Row is where a row has what all kinds have.
	Row func(*T) Row
	// Asks reports whether a second person has to agree. It is nil if changes never wait. was is nil for a
	// new thing.
	Asks func(held H, was, now *T) bool
	// Wait marks a new thing as Pending. It is nil if the thing's first status says so already.
	Wait func(now *T)
	// Too returns another object that changes together with the row, before and after, to show the checker.
	// It is nil if there is none.
	Too func() (before, after any)
	// Write writes rows of other tables, after the row itself. It is nil if there are none. was is nil for a
	// new thing.
	Write func(ctx context.Context, tx *Tx, was, now *T) error
	// Taken maps each unique constraint to the fault that its violation means.
	Taken map[string]error
	// Decides is the least reach of the checker, if wider than the maker's own.
	Decides access.Reach
	// Reserved says that only the bank's own people may decide on the change: it waits for one of them even
	// where Asks does not ask for a second person. What fills, modifies or settles the row sets it, before it
	// returns.
	Reserved bool
	// Approvers is how many must agree (Proposal.Approvers).
	Approvers int32
}

// Row is where a row has what all kinds have.
type Row struct {
	Model     any // the row, as Bun writes it
	UID       fmt.Stringer
	Customer  int64 // whose it is
	Version   *int32
	UpdatedAt *time.Time
	Gone      bool // deleted, but kept for the record
}

// Add creates a thing, whose row fill returns. If a second person has to agree, the thing is created waiting,
// and proposed.
func (l *Lifecycle[H, T]) Add(
	ctx context.Context, tx *Tx, at Target, fill func(held H) (*T, error),
) (*T, error) {
	held, err := l.Hold(ctx, tx, &at)
	if err != nil {
		return nil, err
	}
	now, err := fill(held)
	if err != nil {
		return nil, err
	}
	row := l.Row(now)
	*row.Version, *row.UpdatedAt = 1, tx.Now
	waits := tx.NeedsApproval(l.asks(held, nil, now))
	if waits && l.Wait != nil {
		l.Wait(now)
	}
	if _, err := tx.NewInsert().Model(row.Model).Exec(ctx); err != nil {
		return nil, l.refused(err)
	}
	if err := l.write(ctx, tx, nil, now); err != nil {
		return nil, err
	}
	if err := tx.Record(ctx, Change{UID: row.UID, Customer: row.Customer, Version: 1, After: now}); err != nil ||
		!waits {
		return now, err
	}
	return now, tx.Propose(ctx, l.proposal(nil, now))
}

// Modify changes a thing. If a second person has to agree, it proposes the change instead and returns the
// unchanged row.
func (l *Lifecycle[H, T]) Modify(
	ctx context.Context, tx *Tx, at Target, modify func(was, now *T) error,
) (*T, error) {
	held, was, now, err := l.open(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(*l.Row(was).Version)
	}
	if err != nil {
		return nil, err
	}
	if err := modify(was, now); err != nil {
		return nil, err
	}
	update := func() error { return l.update(ctx, tx, was, now) }
	if l.Asks == nil && !l.Reserved {
		return now, update()
	}
	if err := tx.ProposeOr(ctx, l.asks(held, was, now), l.proposal(was, now), update); err != nil {
		return nil, err
	}
	if tx.Waits() {
		return was, nil
	}
	return now, nil
}

// Agree is for the first of two people who agree to a change (Operation.Partly): the thing stays as it is.
// may returns a fault if that person may not agree; nil lets everybody. It returns the thing's version.
func (l *Lifecycle[H, T]) Agree(
	ctx context.Context, tx *Tx, at Target, may func(now *T) error,
) (version int32, err error) {
	_, was, now, err := l.open(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(*l.Row(was).Version)
	}
	if err == nil && may != nil {
		err = may(now)
	}
	if err != nil {
		return 0, err
	}
	return *l.Row(was).Version, nil
}

// asks reports whether a second person has to agree.
func (l *Lifecycle[H, T]) asks(held H, was, now *T) bool {
	return l.Reserved || l.Asks != nil && l.Asks(held, was, now)
}

// proposal is a change as the checker sees it; was is nil for a new thing.
func (l *Lifecycle[H, T]) proposal(was, now *T) Proposal {
	row := l.Row(now)
	p := Proposal{
		Customer: row.Customer, UID: row.UID, Version: *row.Version, After: now, By: l.Decides,
		Approvers: l.Approvers,
	}
	if l.Reserved {
		p.By = access.OfBank
	}
	if was != nil {
		p.Before = was
	}
	if l.Too != nil {
		p.BeforeToo, p.AfterToo = l.Too()
	}
	return p
}

// Settlement is what becomes of a new thing once a second person has decided.
type Settlement int

const (
	Stays   Settlement = iota // the row stays as it is
	Changes                   // the row is written as settle left it
	Goes                      // the row is deleted
)

// Settle carries out a decision on a new thing that waited; settle changes the row and says what becomes of
// it. Only the version that the checker saw is settled, else the answer is ErrStale.
func (l *Lifecycle[H, T]) Settle(
	ctx context.Context, tx *Tx, at Target, settle func(now *T) (Settlement, error),
) error {
	_, was, now, err := l.open(ctx, tx, at)
	if err != nil {
		return err
	}
	becomes, err := settle(now)
	if err == nil && l.Reserved {
		err = tx.ApprovedBy(l.Approvers, access.OfBank)
	}
	if err != nil || becomes == Stays {
		return err
	}
	if err := tx.CheckVersion(*l.Row(was).Version); err != nil {
		return err
	}
	if becomes == Changes {
		return l.update(ctx, tx, was, now)
	}
	if err := l.write(ctx, tx, was, now); err != nil {
		return err
	}
	row := l.Row(now)
	if _, err := tx.NewDelete().Model(row.Model).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("delete a %s: %w", l.Name, err)
	}
	return tx.Record(ctx, Change{UID: row.UID, Customer: row.Customer, Version: *row.Version, Before: was})
}

// open holds and locks a thing. was and now are two copies of its row; now is to be changed.
func (l *Lifecycle[H, T]) open(ctx context.Context, tx *Tx, at Target) (held H, was, now *T, err error) {
	if held, err = l.Hold(ctx, tx, &at); err != nil {
		return held, nil, nil, err
	}
	if now, err = l.Lock(ctx, tx, held, at); err != nil {
		return held, nil, nil, err
	}
	before := *now
	return held, &before, now, nil
}

// update stores the row now with its next version, and records the change.
func (l *Lifecycle[H, T]) update(ctx context.Context, tx *Tx, was, now *T) error {
	row := l.Row(now)
	*row.Version, *row.UpdatedAt = *l.Row(was).Version+1, tx.Now
	if _, err := tx.NewUpdate().Model(row.Model).WherePK().Exec(ctx); err != nil {
		return l.refused(err)
	}
	if err := l.write(ctx, tx, was, now); err != nil {
		return err
	}
	done := Change{UID: row.UID, Customer: row.Customer, Version: *row.Version, Before: was, After: now}
	if row.Gone {
		done.After = nil
	}
	return tx.Record(ctx, done)
}

func (l *Lifecycle[H, T]) write(ctx context.Context, tx *Tx, was, now *T) error {
	if l.Write == nil {
		return nil
	}
	return l.Write(ctx, tx, was, now)
}

// refused turns a database error into the fault that Taken has for it.
func (l *Lifecycle[H, T]) refused(err error) error {
	if constraint, unique := db.UniqueViolation(err); unique && l.Taken[constraint] != nil {
		return l.Taken[constraint]
	}
	return fmt.Errorf("write a %s: %w", l.Name, err)
}

// Lock reads one row and locks it. It returns the error absent if there is no such row.
func Lock[T any](ctx context.Context, q *bun.SelectQuery, row *T, absent error) (*T, error) {
	err := q.For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, absent
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}
