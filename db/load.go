package db

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"strings"
	"unsafe"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
	bunschema "github.com/uptrace/bun/schema"
)

// Load is a transaction that fills tables with many rows by COPY.
type Load struct {
	bun.Tx
	conn   bun.Conn
	staged map[string]bool // the tables that rows stop over for
}

// Load runs fn in one transaction of one bank on a connection of its own, without the bounds that other
// statements have: all of the rows are there afterwards or none, however it ends. It is not tried again.
func (d *DB) Load(ctx context.Context, tenant int64, fn func(ctx context.Context, load *Load) error) error {
	conn, err := d.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(writing(ctx, tenant), nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	for _, bound := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
		if _, err := tx.ExecContext(ctx, "SET LOCAL "+bound+" = 0"); err != nil {
			return err
		}
	}
	if err := fn(ctx, &Load{Tx: tx, conn: conn, staged: map[string]bool{}}); err != nil {
		return err
	}
	return tx.Commit()
}

// CopyTo streams models into their table: every column that the struct can write, so the struct must hold
// them all. Empty lists are written as such, not as NULL. It returns how many rows went in.
//
// The rows stop over in a temporary table: PostgreSQL does not COPY into a table with row security, as it
// would have to look at each row on the way.
func CopyTo[T any](ctx context.Context, load *Load, models iter.Seq[*T]) (copied int64, err error) {
	model := reflect.TypeFor[T]()
	table := dialect.Tables().Get(model)
	columns := make([]string, len(table.Fields))
	targets := make([]target, len(table.Fields))
	for i, field := range table.Fields {
		columns[i], targets[i] = field.Name, targetOf(model, field)
	}
	staging, err := load.stage(ctx, table.Name, columns)
	if err != nil {
		return 0, fmt.Errorf("copy into %s: %w", table.Name, err)
	}
	next, stop := iter.Pull(models)
	defer stop()
	row := make([]any, len(columns)) // written out before the next one is asked for
	source := &copySource{next: func() ([]any, bool, error) {
		item, more := next()
		if !more {
			return nil, false, nil
		}
		for i, to := range targets {
			row[i] = to.out(unsafe.Pointer(item))
		}
		return row, true, nil
	}}
	err = load.conn.Raw(func(driver any) error {
		conn := driver.(*Conn).Conn()
		if _, err := conn.CopyFrom(ctx, pgx.Identifier{staging}, columns, source); err != nil {
			return err
		}
		moved, err := conn.Exec(ctx,
			fmt.Sprintf("INSERT INTO %s (%s) SELECT %[2]s FROM %[3]s", table.Name, listed(columns), staging))
		if err != nil {
			return err
		}
		copied = moved.RowsAffected()
		_, err = conn.Exec(ctx, "TRUNCATE "+staging)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("copy into %s: %w", table.Name, err)
	}
	return copied, nil
}

// stage makes the temporary table that a table's rows stop over in, once for each load.
func (l *Load) stage(ctx context.Context, table string, columns []string) (name string, err error) {
	name = "load_" + table
	if l.staged[name] {
		return name, nil
	}
	l.staged[name] = true
	_, err = l.ExecContext(ctx,
		fmt.Sprintf("CREATE TEMP TABLE %s ON COMMIT DROP AS SELECT %s FROM %s WITH NO DATA",
			name, listed(columns), table))
	return name, err
}

// listed are the columns as SQL.
func listed(columns []string) string { return `"` + strings.Join(columns, `", "`) + `"` }

// out is the field's value for COPY: of typed ids and enums the plain value behind them, of an empty list
// a list, of missing bytes NULL.
func (to target) out(row unsafe.Pointer) any {
	field := reflect.NewAt(to.as, unsafe.Add(row, to.offset)).Elem()
	if field.Kind() == reflect.Slice && field.IsNil() {
		if field.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return reflect.MakeSlice(field.Type(), 0, 0).Interface()
	}
	return field.Interface()
}

// targetOf says where a column goes, and as what.
func targetOf(model reflect.Type, field *bunschema.Field) target {
	to := target{as: model}
	for _, index := range field.Index { // groups of columns are structs, never pointers
		step := to.as.Field(index)
		to.offset, to.as = to.offset+step.Offset, step.Type
	}
	if plain, ok := plainTypes[to.as.Kind()]; ok && !reflect.PointerTo(to.as).Implements(scannerType) {
		to.as = plain
	}
	return to
}

type copySource struct {
	next func() ([]any, bool, error)
	row  []any
	err  error
}

func (s *copySource) Next() bool {
	var more bool
	s.row, more, s.err = s.next()
	return more && s.err == nil
}
func (s *copySource) Values() ([]any, error) { return s.row, nil }
func (s *copySource) Err() error             { return s.err }
