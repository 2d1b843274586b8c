package db

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

// Report runs fn in a read-only transaction that sees one moment of the whole database. It has a connection
// of its own, beside the pools, of which there is one in a process: requests do not wait for reports, and
// reports wait for each other. A report that takes longer than so long is ended, and so is one that runs when
// d is closed.
func (d *DB) Report(
	ctx context.Context, longest time.Duration, fn func(ctx context.Context, tx bun.Tx) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	defer context.AfterFunc(d.open, cancel)()
	tx, err := d.reports.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("begin a report: %w", err)
	}
	defer tx.Rollback()
	for _, setting := range []string{
		fmt.Sprintf("statement_timeout = %d", longest.Milliseconds()), "work_mem = '64MB'",
	} {
		if _, err := tx.ExecContext(ctx, "SET LOCAL "+setting); err != nil {
			return fmt.Errorf("begin a report: %w", err)
		}
	}
	return fn(ctx, tx)
}
