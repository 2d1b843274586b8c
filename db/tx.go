package db

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
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

// InTx runs fn in a transaction and commits it. It is the only way to write.
//
// A serialization failure or a deadlock runs fn again, up to five times, so fn must do nothing but
// SQL: no sending, no counting, no change of captured variables that a second run would repeat.
func (d *DB) InTx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	if ctx.Value(inTx{}) != nil {
		return ErrNested
	}
	inside := context.WithValue(ctx, inTx{}, true)
	for try := 0; ; try++ {
		err := d.once(inside, fn)
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

func (d *DB) once(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	tx, err := d.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	if err := fn(ctx, tx); err != nil {
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
