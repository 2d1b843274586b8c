package faults

import (
	"context"
	"database/sql/driver"

	"bankgraph/db"
)

type connector struct {
	driver.Connector
	line *Line
}

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	inner, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: inner.(*db.Conn), line: c.line}, nil
}

// conn is the driver's connection with the line in front of it.
type conn struct {
	*db.Conn
	line *Line
	rows driver.Rows // of the last query
}

// settle ends the last query, as the connection can carry nothing else before.
func (c *conn) settle() {
	if c.rows != nil {
		_ = c.rows.Close()
	}
}

func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (driver.Tx, error) {
	out := &tx{ctx: ctx, conn: c}
	err := c.line.through(ctx, c, "BEGIN", func() (err error) {
		out.Tx, err = c.Conn.BeginTx(ctx, options)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *conn) ExecContext(
	ctx context.Context, query string, values []driver.NamedValue,
) (out driver.Result, err error) {
	c.rows = nil
	err = c.line.through(ctx, c, query, func() (err error) {
		out, err = c.Conn.ExecContext(ctx, query, values)
		return err
	})
	return out, err
}

func (c *conn) QueryContext(
	ctx context.Context, query string, values []driver.NamedValue,
) (out driver.Rows, err error) {
	err = c.line.through(ctx, c, query, func() (err error) {
		out, err = c.Conn.QueryContext(ctx, query, values)
		c.rows = out
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

type tx struct {
	driver.Tx
	ctx  context.Context
	conn *conn
}

// Commit counts as a statement, unless it was sent together with others. If the server refuses it, the
// transaction has ended all the same.
func (t *tx) Commit() error {
	if t.conn.Idle() {
		return t.Tx.Commit()
	}
	committed := false
	err := t.conn.line.through(t.ctx, t.conn, "COMMIT", func() error {
		err := t.Tx.Commit()
		committed = err == nil
		return err
	})
	if err != nil && !committed && !t.conn.Conn.Conn().IsClosed() {
		_ = t.Tx.Rollback()
	}
	return err
}
