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
	staged map[string]bool // the tables that have a staging table
}

// Load runs fn in one transaction of one bank, on a connection of its own and without the time limits of
// other statements. It is not retried.
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
	defer tx.Rollback() // does nothing after a commit
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

// CopyTo streams models into their table, and returns how many rows it wrote. It writes every column that the
// struct has, which must be all of the table's. Empty lists are written as such, not as NULL.
//
// The rows go through a temporary table, because PostgreSQL does not COPY into a table with row security.
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
	row := make([]any, len(columns)) // reused: written before the next one is made
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

// stage makes the temporary table for a table's rows, once for each load.
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

// listed returns the columns as SQL.
func listed(columns []string) string { return `"` + strings.Join(columns, `", "`) + `"` }

// out returns the field's value for COPY: typed ids and enums as plain values, a nil list as an empty one,
// nil bytes as NULL, and so a zero value of a column that has no other word for none.
func (to target) out(row unsafe.Pointer) any {
	field := reflect.NewAt(to.as, unsafe.Add(row, to.offset)).Elem()
	if to.none && field.IsZero() {
		return nil
	}
	if field.Kind() == reflect.Slice && field.IsNil() {
		if field.Type().Elem().Kind() == reflect.Uint8 {
			return nil
		}
		return reflect.MakeSlice(field.Type(), 0, 0).Interface()
	}
	return field.Interface()
}

// targetOf returns the target of a column.
func targetOf(model reflect.Type, field *bunschema.Field) target {
	to := target{as: model, none: field.NullZero && !field.IsPK && field.SQLDefault == ""}
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
