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

// ErrUnknownOutcome means that the connection was lost while committing: the work was done or it was not.
// Who gave an idempotency key reads its row on a fresh connection to learn which.
var ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")

// ErrNested refuses a transaction inside another: a retry of the inner one could not work.
var ErrNested = errors.New("db: InTx inside InTx")

// ErrBusy means that no connection became free in time: nothing was done. It counts as a timeout.
var ErrBusy = fmt.Errorf("db: no connection became free: %w", context.DeadlineExceeded)

// patience is how long a transaction waits for a connection to begin on.
const patience = time.Second

// InTx runs fn in a transaction of one bank and commits it. It is the only way to write: the database refuses
// to change the rows of any other bank in it (tenant 0 stands for no bank). See Act. Outside of it the
// connections are read-only.
//
// UPDATE, DELETE and SELECT FOR UPDATE name their rows by plain columns, best by the primary key: behind row
// security the planner uses no index for a condition such as lower(name) = ?. Reads are free in that.
//
// A serialization failure or a deadlock runs fn again, up to five times, so fn must do nothing but SQL: no
// sending, no counting, no change of captured variables that a second run would repeat. A connection that
// turns out to be dead before fn began is replaced, once.
func (d *DB) InTx(ctx context.Context, tenant int64, fn func(ctx context.Context, tx bun.Tx) error) error {
	if ctx.Value(lastKey{}) != nil {
		return ErrNested
	}
	for try, replaced := 0, false; ; try++ {
		begun, err := d.once(ctx, tenant, fn)
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

// once is one try. begun tells whether fn was called.
func (d *DB) once(
	ctx context.Context, tenant int64, fn func(ctx context.Context, tx bun.Tx) error,
) (begun bool, err error) {
	caller := ctx
	ctx, cancel := Lasting(ctx)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	stays := context.AfterFunc(caller, func() {
		if errors.Is(caller.Err(), context.Canceled) { // its deadline is ours too
			end(context.Cause(caller))
		}
	})
	waiting := time.AfterFunc(patience, func() { end(ErrBusy) })
	leave, err := d.writers.enter(ctx, shareOf(ctx, tenant))
	if err != nil {
		return false, err
	}
	defer leave()
	ends := new(last)
	ctx = context.WithValue(ctx, lastKey{}, ends)
	tx, err := d.BeginTx(writing(ctx, tenant), nil)
	stays()              // a statement is not cancelled from here on: that would cost the connection (Lasting)
	if !waiting.Stop() { // its time has come, though ctx may not have ended yet
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
			_ = tx.Rollback()
		}
	}()
	if err = fn(ctx, tx); err == nil {
		ends.texts = append(ends.texts, d.mark(ctx, tenant)...)
		err = ends.spend(ctx)
	}
	if err == nil {
		err = caller.Err() // the caller has given up: so do we, while it is certain that nothing was done
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
		return true, nil // the server has said so, whatever has ended since
	}
	return true, committed(err)
}

// committed tells an answer to COMMIT that leaves the outcome open from one that does not.
func committed(err error) error {
	var refused *pgconn.PgError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && !strings.HasPrefix(refused.Code, "57P") &&
		!strings.HasPrefix(refused.Code, "08"):
		return err // the server says that it did not
	case errors.Is(err, pgx.ErrTxCommitRollback):
		return fmt.Errorf("db: a statement of the transaction had failed, and nobody said so: %w", err)
	case errors.Is(err, sql.ErrTxDone):
		return err // rolled back when the caller gave up
	}
	// Not even what pgconn.SafeToRetry calls safe is: an answer that does not come is "conn closed" to it (pgx
	// 5.12).
	return errors.Join(ErrUnknownOutcome, err)
}

// act is read by the policies of row security. It ends with the transaction.
func act(tenant int64) string {
	return "SET LOCAL bankgraph.tenant = '" + strconv.FormatInt(tenant, 10) + "'"
}

// Act says for which bank a transaction writes from here on.
func Act(ctx context.Context, tx bun.IDB, tenant int64) error {
	_, err := tx.ExecContext(ctx, act(tenant))
	return err
}
