package db

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
)

// ErrUnknownOutcome means that the connection was lost while committing: the work was done or it was not.
// Who gave an idempotency key reads its row on a fresh connection to learn which.
var ErrUnknownOutcome = errors.New("the outcome of the commit is unknown")

// ErrNested refuses a transaction inside another: a retry of the inner one could not work.
var ErrNested = errors.New("db: InTx inside InTx")

type inTx struct{}

// InTx runs fn in a transaction of one bank and commits it. It is the only way to write: the database refuses
// to change the rows of any other bank in it (tenant 0 stands for no bank). See Act.
//
// A serialization failure or a deadlock runs fn again, up to five times, so fn must do nothing but
// SQL: no sending, no counting, no change of captured variables that a second run would repeat.
func (d *DB) InTx(ctx context.Context, tenant int64, fn func(ctx context.Context, tx bun.Tx) error) error {
	if ctx.Value(inTx{}) != nil {
		return ErrNested
	}
	inside := context.WithValue(ctx, inTx{}, true)
	for try := 0; ; try++ {
		err := d.once(inside, tenant, fn)
		if !IsRetryable(err) || try == 5 {
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

func (d *DB) once(ctx context.Context, tenant int64, fn func(ctx context.Context, tx bun.Tx) error) error {
	tx, err := d.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err = Act(ctx, tx, tenant); err == nil {
		err = fn(ctx, tx)
	}
	if err != nil {
		_ = tx.Rollback()
		return err
	}
	err = tx.Commit()
	var refused *pgconn.PgError
	if err != nil && !errors.As(err, &refused) {
		return errors.Join(ErrUnknownOutcome, err)
	}
	return err
}

// Act says for which bank a transaction writes from here on.
func Act(ctx context.Context, tx bun.IDB, tenant int64) error {
	_, err := tx.ExecContext(ctx, `SELECT set_config('bankgraph.tenant', ?, true)`, strconv.FormatInt(tenant, 10))
	return err
}
