package db

import (
	"bytes"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun/dialect/pgdialect"
	bunschema "github.com/uptrace/bun/schema"
)

// Bun writes values into its statements, and PostgreSQL logs the text of each statement that fails, which
// would put names, streets and e-mail addresses into the server's log. So this dialect marks the values that
// Bun writes, and the connection replaces each marked value by $1, $2 … and sends text and values separately.
// Booleans and NULL stay in the text, as do numbers, except those of a model's columns and of Raw.
//
// A marked value is NUL, the value's length, a colon and the value as PostgreSQL reads it. No statement has a
// NUL of its own, and because of the length nothing in a value can end it, so nothing is escaped.
type binding struct {
	*pgdialect.Dialect
	tables *bunschema.Tables
}

func newBinding() *binding {
	d := &binding{Dialect: pgdialect.New()}
	d.tables = bunschema.NewTables(d)
	return d
}

func marked(b []byte, value string) []byte {
	b = append(b, 0)
	b = strconv.AppendInt(b, int64(len(value)), 10)
	b = append(b, ':')
	return append(b, value...)
}

// markedNumber marks a number, with a cast, because the server would take it for text in some places.
func markedNumber(b []byte, number string) []byte { return append(marked(b, number), "::bigint"...) }

// Tables returns the dialect's own registry of tables, so that OnTable is called for each.
func (d *binding) Tables() *bunschema.Tables { return d.tables }

// OnTable has arrays and numbers marked too, which Bun writes without the dialect.
func (d *binding) OnTable(table *bunschema.Table) {
	d.Dialect.OnTable(table)
	for _, field := range table.FieldMap {
		if write := field.Append; write != nil {
			array := field.Tag.HasOption("array")
			field.Append = func(gen bunschema.QueryGen, b []byte, v reflect.Value) []byte {
				return markWritten(write(gen, b, v), len(b), array)
			}
		}
	}
}

// markWritten marks the value that was written from this offset on, unless it is marked already.
func markWritten(b []byte, from int, array bool) []byte {
	if array {
		return unquoted(b[:from], slices.Clone(b[from:]))
	}
	if written := string(b[from:]); whole(written) {
		return markedNumber(b[:from], written)
	}
	return b
}

// whole reports whether a text is a whole number.
func whole(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func (d *binding) AppendString(b []byte, s string) []byte {
	if strings.IndexByte(s, 0) >= 0 {
		return d.Dialect.AppendString(b, s) // Bun's own error
	}
	return marked(b, strings.ToValidUTF8(s, "\uFFFD"))
}

func (d *binding) AppendTime(b []byte, t time.Time) []byte {
	return marked(b, t.UTC().Format("2006-01-02 15:04:05.999999-07:00"))
}

func (d *binding) AppendBytes(b, value []byte) []byte {
	return unquoted(b, d.Dialect.AppendBytes(nil, value))
}

// AppendJSON marks the value unchanged. Bun's own would escape \u0000, even where a text contains these six
// characters, so that the audit record and the checker would get another text than is stored.
func (d *binding) AppendJSON(b, value []byte) []byte { return marked(b, string(value)) }

// unquoted marks the value of a quoted literal. Anything else, such as NULL, stays unchanged.
func unquoted(b, literal []byte) []byte {
	last := len(literal) - 1
	if last < 1 || literal[0] != '\'' || literal[last] != '\'' {
		return append(b, literal...)
	}
	return marked(b, string(bytes.ReplaceAll(literal[1:last], []byte("''"), []byte("'"))))
}

// bound is a statement with its values beside it.
type bound struct {
	text   string
	values []any
}

// apart separates the values from a text.
func apart(text string) (bound, error) {
	if strings.IndexByte(text, 0) < 0 {
		return bound{text: text}, nil
	}
	var plain strings.Builder
	var values []any
	for {
		before, after, found := strings.Cut(text, "\x00")
		plain.WriteString(before)
		if !found {
			return bound{plain.String(), values}, nil
		}
		digits, rest, _ := strings.Cut(after, ":")
		length, err := strconv.Atoi(digits)
		if err != nil || length < 0 || length > len(rest) {
			return bound{}, fmt.Errorf("db: a statement has a NUL that marks no value")
		}
		values = append(values, rest[:length])
		plain.WriteString(" $" + strconv.Itoa(len(values)) + " ")
		text = rest[length:]
	}
}

type driverConn = stdlib.Conn

// Conn is a driver connection that takes statements with marked values.
type Conn struct {
	*driverConn
	bounds string // SQL that sets the bounds of a transaction, if the connection lacks them

	writes   bool     // a writing transaction is open
	repeats  *repeats // nil: nothing is prepared
	prepared map[string]bool
	outdated bool // the prepared statements no longer fit the tables
}

// binder is the connector that makes Conns.
type binder struct {
	driver.Connector
	bounds  string
	repeats *repeats // nil: nothing is prepared
	way     *way
	late    chan late     // connections whose callers had gone
	dials   chan struct{} // a place for each connection that is being made
}

// late is a connection that was made after its caller had gone.
type late struct {
	driver.Conn
	since time.Time
}

func newBinder(config *pgx.ConnConfig, to *way) binder {
	b := binder{
		Connector: stdlib.GetConnector(*config, stdlib.OptionBeforeConnect(to.prepare)), bounds: boundsOf(config),
		way: to, late: make(chan late, mostLate), dials: make(chan struct{}, mostDials),
	}
	if to.unprepared == nil || !*to.unprepared {
		b.repeats = newRepeats()
	}
	return b
}

const (
	longestDial = 30 * time.Second
	stale       = 5 * time.Second // after this time a late connection may be dead
	mostDials   = 16              // at a time
	mostLate    = 4
)

// Connect waits for a connection as long as the caller does, but keeps connecting when the caller gives up,
// and the next caller gets the connection. Otherwise nobody would ever get one over a slow network.
func (b binder) Connect(ctx context.Context) (driver.Conn, error) {
	for dials := false; !dials; {
		select {
		case l := <-b.late:
			if time.Since(l.since) < stale {
				return l.Conn, nil
			}
			_ = l.Close()
			continue
		default:
		}
		select {
		case b.dials <- struct{}{}:
			dials = true
		case l := <-b.late:
			return l.Conn, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	made, failed := make(chan driver.Conn), make(chan error, 1)
	go func() {
		defer func() { <-b.dials }()
		dialing, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestDial)
		defer cancel()
		conn, err := b.dial(dialing)
		if err != nil {
			failed <- err
			return
		}
		select {
		case made <- conn:
		case <-ctx.Done():
			b.keep(conn)
		}
	}()
	select {
	case conn := <-made:
		return conn, nil
	case err := <-failed:
		return nil, err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (b binder) keep(conn driver.Conn) {
	select {
	case b.late <- late{conn, time.Now()}:
	default:
		_ = conn.Close()
	}
}

// Close closes the late connections. database/sql calls it.
func (b binder) Close() error {
	for {
		select {
		case conn := <-b.late:
			_ = conn.Close()
		default:
			return nil
		}
	}
}

func (b binder) dial(ctx context.Context) (driver.Conn, error) {
	made, err := b.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &Conn{driverConn: made.(*stdlib.Conn), repeats: b.repeats}
	behind, err := pooled(ctx, conn.Conn())
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if behind || b.way.isPooled() { // a pooler may have ignored them
		conn.bounds, conn.repeats = b.bounds, nil
	}
	return conn, nil
}

// ExecContext sends one statement with its values, or the statements of a batch in one round trip (sendIn).
func (c *Conn) ExecContext(
	ctx context.Context, text string, given []driver.NamedValue,
) (driver.Result, error) {
	if len(given) == 1 {
		if batch, is := given[0].Value.(*pgx.Batch); is {
			return driver.ResultNoRows, c.learn(c.send(ctx, batch))
		}
	}
	statement, err := apart(text)
	if err == nil {
		err = c.prepare(ctx, statement)
	}
	if err != nil {
		return nil, err
	}
	result, err := c.driverConn.ExecContext(ctx, statement.text, statement.named(given))
	return result, c.learn(err)
}

func (c *Conn) send(ctx context.Context, batch *pgx.Batch) error {
	for _, query := range batch.QueuedQueries {
		if err := c.prepare(ctx, bound{query.SQL, query.Arguments}); err != nil {
			return err
		}
	}
	return c.Conn().SendBatch(ctx, batch).Close()
}

// QueryContext sends one statement with its values.
func (c *Conn) QueryContext(
	ctx context.Context, text string, given []driver.NamedValue,
) (driver.Rows, error) {
	statement, err := apart(text)
	if err == nil {
		err = c.prepare(ctx, statement)
	}
	if err != nil {
		return nil, err
	}
	rows, err := c.driverConn.QueryContext(ctx, statement.text, statement.named(given))
	return rows, c.learn(err)
}

// named returns the values in the form of database/sql; without any, the given ones.
func (b bound) named(given []driver.NamedValue) []driver.NamedValue {
	if len(b.values) == 0 {
		return given
	}
	named := make([]driver.NamedValue, len(b.values))
	for i, value := range b.values {
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: value}
	}
	return named
}
