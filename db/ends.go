package db

import (
	"context"
	"database/sql/driver"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// How a writing transaction begins and ends on the driver's connection: BEGIN goes together with its
// settings, and COMMIT with the statements that AtCommit deferred.

const (
	begin  = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; "
	commit = "COMMIT"
)

// refusedInRecovery is the state in which a standby refuses to begin a transaction that writes. A connection
// through a proxy can come to lead to one.
const refusedInRecovery = "0A000"

type writingKey struct{}

// writing returns a context with which BeginTx begins a writing transaction for one bank.
func writing(ctx context.Context, tenant int64) context.Context {
	return context.WithValue(ctx, writingKey{}, tenant)
}

// BeginTx begins a transaction. A writing one gets all its settings in the same round trip.
func (c *Conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	tenant, writes := ctx.Value(writingKey{}).(int64)
	if !writes {
		return c.driverConn.BeginTx(ctx, options)
	}
	if c.Conn().IsClosed() {
		return nil, driver.ErrBadConn
	}
	if c.outdated {
		if err := c.forget(ctx); err != nil {
			return nil, err
		}
	}
	inner, err := c.Conn().BeginTx(ctx, pgx.TxOptions{BeginQuery: begin + c.bounds + act(tenant)})
	if sqlState(err) == refusedInRecovery {
		return nil, driver.ErrBadConn // database/sql ends it and takes another
	}
	if err != nil {
		return nil, err
	}
	c.writes = true
	return &writer{ctx, c, inner}, nil
}

// writer is a writing transaction.
type writer struct {
	ctx   context.Context
	conn  *Conn
	inner pgx.Tx
}

// Commit commits, unless COMMIT was already sent with deferred statements.
func (w *writer) Commit() error {
	w.conn.writes = false
	if w.conn.Idle() {
		return nil
	}
	return w.inner.Commit(w.ctx)
}

func (w *writer) Rollback() error {
	w.conn.writes = false
	if w.conn.Idle() {
		return nil
	}
	return w.inner.Rollback(w.ctx)
}

// Idle reports whether no transaction is open on the connection, by the server's last answer.
func (c *Conn) Idle() bool { return !c.Conn().IsClosed() && c.Conn().PgConn().TxStatus() == 'I' }

// didCommit returns an error if the answer to COMMIT is ROLLBACK, because a statement had failed.
func didCommit(tag pgconn.CommandTag) error {
	if tag.String() != commit {
		return pgx.ErrTxCommitRollback
	}
	return nil
}
