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

// Lifecycle is how the things of one kind are made, changed, and settled once a second person has decided:
// held, locked, compared with the version that the caller saw, written or proposed, and recorded. Its domain
// says what is its own. H is what is held for a change, such as the thing's customer; T is the row.
type Lifecycle[H, T any] struct {
	Name string // of the kind, in errors: signatory

	// Hold keeps whose the thing is as it is until the transaction ends, and names that customer in the target.
	Hold func(ctx context.Context, tx *Tx, at *Target) (H, error)
	// Lock reads the thing for a change.
	Lock func(ctx context.Context, tx *Tx, held H, at Target) (*T, error)
	// Row is where a row has what all kinds have.
	Row func(*T) Row
	// Asks reports whether a second person has to agree; nil where a change never waits. was is nil for what is
	// new.
	Asks func(held H, was, now *T) bool
	// Wait marks what is new as waiting for that person; nil where its first status says so.
	Wait func(now *T)
	// Too is what changes along with the row, before and after, for whoever decides; nil where nothing does.
	Too func() (before, after any)
	// Write writes what stands in other tables, after the row; nil where nothing does. was is nil for what is
	// new.
	Write func(ctx context.Context, tx *Tx, was, now *T) error
	// Taken are the faults of the unique constraints.
	Taken map[string]error
	// Decides is whose the second person must be at least, where that is more than the maker's own reach.
	Decides access.Reach
}

// Row is where a row has what all kinds have.
type Row struct {
	Model     any // what Bun writes
	UID       fmt.Stringer
	Customer  int64 // whose it is
	Version   *int32
	UpdatedAt *time.Time
	Gone      bool // it is kept for the record only
}

// Add makes a thing: fill makes its row. Where a second person has to agree it waits, and there is a proposal
// of it.
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
	waits := l.Asks != nil && tx.NeedsApproval(l.Asks(held, nil, now))
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

// Modify changes a thing, or proposes to where a second person has to agree: then it returns the row as it
// stays.
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
	if l.Asks == nil {
		return now, update()
	}
	if err := tx.ProposeOr(ctx, l.Asks(held, was, now), l.proposal(was, now), update); err != nil {
		return nil, err
	}
	if tx.Waits() {
		return was, nil
	}
	return now, nil
}

// proposal is a change as a second person sees it; was is nil for what is new.
func (l *Lifecycle[H, T]) proposal(was, now *T) Proposal {
	row := l.Row(now)
	p := Proposal{Customer: row.Customer, UID: row.UID, Version: *row.Version, After: now, By: l.Decides}
	if was != nil {
		p.Before = was
	}
	if l.Too != nil {
		p.BeforeToo, p.AfterToo = l.Too()
	}
	return p
}

// Settlement is what a decision makes of a new thing that waited for it.
type Settlement int

const (
	Stays   Settlement = iota // as it is
	Changes                   // to what its row is now
	Goes                      // with its row
)

// Settle makes of a new thing that waited what a decision makes of it. What was agreed to is what the second
// person saw.
func (l *Lifecycle[H, T]) Settle(
	ctx context.Context, tx *Tx, at Target, settle func(now *T) (Settlement, error),
) error {
	_, was, now, err := l.open(ctx, tx, at)
	if err != nil {
		return err
	}
	becomes, err := settle(now)
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

// open holds and locks a thing. now is for changing.
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

// update stores a row as it is now, with its next version.
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

// refused is the fault behind a refused row.
func (l *Lifecycle[H, T]) refused(err error) error {
	if constraint, unique := db.UniqueViolation(err); unique && l.Taken[constraint] != nil {
		return l.Taken[constraint]
	}
	return fmt.Errorf("write a %s: %w", l.Name, err)
}

// Lock reads one row for a change; absent where there is none.
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
