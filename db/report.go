package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/uptrace/bun"
	"golang.org/x/sync/errgroup"
)

// A Report reads one moment of the whole database.
type Report struct {
	// Tx is its read-only transaction.
	Tx bun.Tx

	begin func(ctx context.Context) (bun.Tx, error)
	wide  int
}

// Report runs fn. It has connections of its own, beside the pools: one, and so many at most in Each. There is
// one report at a time in a process: requests do not wait for reports, and reports wait for each other. A
// report that takes longer than so long is ended, and so is one that runs when d is closed.
func (d *DB) Report(
	ctx context.Context, longest time.Duration, wide int, fn func(ctx context.Context, r *Report) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	defer context.AfterFunc(d.open, cancel)()
	select {
	case d.reporting <- struct{}{}:
		defer func() { <-d.reporting }()
	case <-ctx.Done():
		return fmt.Errorf("wait for another report: %w", context.Cause(ctx))
	}
	r := &Report{wide: wide}
	r.begin = func(ctx context.Context) (tx bun.Tx, err error) {
		tx, err = d.reports.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
		if err != nil {
			return tx, fmt.Errorf("begin a report: %w", err)
		}
		for _, setting := range []string{
			fmt.Sprintf("statement_timeout = %d", longest.Milliseconds()), "work_mem = '64MB'",
		} {
			if _, err := tx.ExecContext(ctx, "SET LOCAL "+setting); err != nil {
				return tx, errors.Join(fmt.Errorf("begin a report: %w", err), tx.Rollback())
			}
		}
		return tx, nil
	}
	tx, err := r.begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	r.Tx = tx
	return fn(ctx, r)
}

// Each runs fn for the numbers from 0 to n-1, as many at a time as the report is wide, each over a connection
// of its own. All see the moment of the report. It returns the first error, which ends the others.
func (r *Report) Each(
	ctx context.Context, n int, fn func(ctx context.Context, tx bun.Tx, i int) error,
) error {
	var moment string
	if r.wide > 1 {
		if err := r.Tx.NewRaw("SELECT pg_export_snapshot()").Scan(ctx, &moment); err != nil {
			return fmt.Errorf("share the moment of a report: %w", err)
		}
	}
	var next atomic.Int64
	work := func(ctx context.Context, tx bun.Tx) error {
		for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
			if err := fn(ctx, tx, int(i)); err != nil {
				return err
			}
		}
		return nil
	}
	all, ctx := errgroup.WithContext(ctx)
	for range min(r.wide, n) - 1 {
		all.Go(func() error {
			tx, err := r.begin(ctx)
			if err != nil {
				return err
			}
			defer tx.Rollback()
			if _, err := tx.ExecContext(ctx, "SET TRANSACTION SNAPSHOT "+quoted(moment)); err != nil {
				return fmt.Errorf("share the moment of a report: %w", err)
			}
			return work(ctx, tx)
		})
	}
	mine := work(ctx, r.Tx) // in this goroutine, so that its caller can recover
	all.Go(func() error { return mine })
	return all.Wait()
}
