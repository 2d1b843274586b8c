package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
)

// ErrUnknownOutcome is returned when the connection is lost at COMMIT, or the server panics, so that it is
// not known whether the transaction was committed. With an idempotency key, its row tells.
var ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")

// Tx is the transaction of InTx, by a name for programs that measure: only core and db import Bun.
type Tx = bun.Tx

// ErrNested is returned for a transaction inside another, as the inner one could not be retried.
var ErrNested = errors.New("db: InTx inside InTx")

// ErrBusy is returned when no connection became free in time. Nothing was done. It counts as a timeout.
var ErrBusy = fmt.Errorf("db: no connection became free: %w", context.DeadlineExceeded)

// patience is how long a transaction waits for a connection, unless Options say otherwise.
const patience = time.Second

// InTx runs fn in a transaction of one bank and commits it. It is the only way to write: outside it the
// connections are read-only, and inside it the database refuses to change rows of other banks (tenant 0 is no
// bank; see Act).
//
// UPDATE, DELETE and SELECT FOR UPDATE must find their rows by plain columns, best by the primary key: under
// row security the planner uses no index for a condition such as lower(name) = ?. Plain reads are not
// affected.
//
// After a serialization failure or a deadlock fn runs again, up to five times. So fn must do nothing but SQL,
// and must not change captured variables in a way that a second run would repeat. A connection that turns out
// to be dead before fn begins is replaced, once.
func (d *DB) InTx(ctx context.Context, tenant int64, fn func(ctx context.Context, tx bun.Tx) error) error {
	if ctx.Value(lastKey{}) != nil {
		return ErrNested
	}
	for try, replaced := 0, false; ; try++ {
		ends := new(last)
		begun, err := d.once(ctx, tenant, ends, fn)
		d.short.note(err, ends.wrote || len(ends.statements) > 0)
		if !begun && !replaced && IsUnavailable(err) {
			replaced = true
			continue
		}
		if !IsRetryable(err) || try >= 5 {
			return err
		}
		pause := time.Duration(float64(5*time.Millisecond<<try) * (0.5 + rand.Float64()))
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// once is one attempt. begun reports whether fn was called.
func (d *DB) once(
	ctx context.Context, tenant int64, ends *last, fn func(ctx context.Context, tx bun.Tx) error,
) (begun bool, err error) {
	caller := ctx
	ctx, cancel := lasting(ctx)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stays := context.AfterFunc(caller, func() {
		if errors.Is(caller.Err(), context.Canceled) { // given up; a deadline applies to us too
			end(context.Cause(caller))
		}
	})
	waiting := time.AfterFunc(d.patience, func() { end(ErrBusy) })
	leave, err := d.writers.enter(ctx, shareOf(ctx, tenant))
	if err != nil {
		return false, err
	}
	defer leave()
	ctx = context.WithValue(ctx, lastKey{}, ends)
	tx, err := d.BeginTx(writing(ctx, tenant), nil)
	stays()              // from here on no statement is cancelled, which would cost the connection (lasting)
	if !waiting.Stop() { // the time is over, even if ctx has not ended yet
		if err == nil {
			_ = tx.Rollback()
		}
		return false, ErrBusy
	}
	if errors.Is(err, pgconn.ErrStandbyConnection) {
		d.fresh.Reset() // its connections may lead there too
	}
	if err != nil {
		return false, err
	}
	done := false
	defer func() {
		if !done { // fn failed or panicked
			_ = ends.awaitAhead()
			_ = tx.Rollback()
		}
	}()
	err = fn(ctx, tx)
	err = cause(ends.awaitAhead(), err)
	if err == nil {
		ends.mark(d, ctx, tenant)
		err = ends.spend(ctx)
	}
	if err == nil {
		err = caller.Err() // the caller has given up, and so far nothing was committed
	}
	if err != nil {
		return true, err
	}
	sent, err := ends.commit(ctx, tx)
	if err != nil {
		return true, committed(err)
	}
	done = true
	if err = tx.Commit(); sent {
		return true, nil // the server has confirmed it, whatever has ended since
	}
	return true, committed(err)
}

// cause returns the one of two errors of a transaction, either of which may be nil, that the other follows
// from: whichever statement comes after one that failed is refused for that alone.
func cause(ahead, of error) error {
	if ahead == nil || of != nil && sqlState(ahead) == "25P02" {
		return of
	}
	return ahead
}

// committed returns the error of a COMMIT, with ErrUnknownOutcome if it leaves the outcome open.
func committed(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !strings.HasPrefix(refused.Code, "57P") &&
		!strings.HasPrefix(refused.Code, "08") && !panicked(refused):
		return err // the server says that it did not commit
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return fmt.Errorf("db: a statement of the transaction had failed, and nobody said so: %w", err)
	case errors.Is(err, sql.ErrTxDone):
		return err // rolled back because the caller gave up
	}
	// Even pgconn.SafeToRetry does not help: it calls a missing answer safe ("conn closed", pgx 5.12).
	return errors.Join(ErrUnknownOutcome, err)
}

// act returns the SQL that sets the bank for the policies of row security, until the transaction ends.
func act(tenant int64) string {
	return "SET LOCAL bankgraph.tenant = '" + strconv.FormatInt(tenant, 10) + "'"
}

// Act sets the bank for which a transaction writes from here on.
func Act(ctx context.Context, tx bun.IDB, tenant int64) error {
	_, err := tx.ExecContext(ctx, act(tenant))
	return err
}
