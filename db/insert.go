package db

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"time"

	bunschema "github.com/uptrace/bun/schema"
)

// manyRows is from how many rows on a value that they share is sent once, instead of once for each row. For
// the server, an array of one value for each row is half of the work of writing wide rows, most of whose
// columns say the same. Of fewer rows, too many are alike by chance, and each choice of columns is a
// statement of its own to whoever watches the server.
const manyRows = 50

// InsertAtCommit inserts rows at the end of the transaction of ctx, together with COMMIT. However many they
// are, they are one statement. Each column is an array, or one value where many rows share it. Nothing is
// read back, so the rows must be complete but for what the model leaves to the table (nullzero).
func InsertAtCommit[T any](ctx context.Context, rows []*T) error {
	if len(rows) == 0 {
		return nil
	}
	l, inside := ctx.Value(lastKey{}).(*last)
	if !inside {
		return errOutside
	}
	all := reflect.ValueOf(rows)
	key := insertKey{model: reflect.TypeFor[T]()}
	columns := insertColumns(key.model)
	many := len(rows) >= manyRows
	var values []any
	for i, column := range columns {
		switch {
		case column.left && column.isZero(all):
			key.left |= 1 << i
		case many && i > 0 && column.isShared(all): // the first is an array always: it says how many rows there are
			key.shared |= 1 << i
			values = append(values, column.value(all.Index(0)).Interface())
		default:
			values = append(values, column.values(all))
		}
	}
	l.statements = append(l.statements, bound{insertText(key, columns), values})
	return nil
}

// ExecAtCommit is AtCommit for a statement with $1, $2 … for its values, which may be slices.
func ExecAtCommit(ctx context.Context, text string, values ...any) error {
	l, inside := ctx.Value(lastKey{}).(*last)
	if !inside {
		return errOutside
	}
	for i, value := range values {
		values[i] = plainValue(value)
	}
	l.statements = append(l.statements, bound{text, values})
	return nil
}

var errOutside = fmt.Errorf("db: outside of a transaction nothing can be left to its end")

// insertKey is what the text of an insert depends on.
type insertKey struct {
	model  reflect.Type
	left   uint64 // the columns that are left to the table's defaults
	shared uint64 // the columns in which all rows say the same
}

type insertColumn struct {
	field *bunschema.Field
	as    reflect.Type // of one value: int64, string, bool, time.Time or []byte
	name  string       // its type to the server
	cast  string       // what the column needs beside assignment
	null  bool         // a value may be NULL
	left  bool         // where every row has none, the table's default counts (nullzero)
}

var (
	insertModels sync.Map // reflect.Type -> []*insertColumn
	insertTexts  sync.Map // insertKey -> string
)

func insertColumns(model reflect.Type) []*insertColumn {
	if known, ok := insertModels.Load(model); ok {
		return known.([]*insertColumn)
	}
	var columns []*insertColumn
	for _, field := range dialect.Tables().Get(model).Fields {
		columns = append(columns, newInsertColumn(model, field))
	}
	known, _ := insertModels.LoadOrStore(model, columns)
	return known.([]*insertColumn)
}

func insertText(key insertKey, all []*insertColumn) string {
	if known, ok := insertTexts.Load(key); ok {
		return known.(string)
	}
	var columns, arrays, names, picked []string
	for i, column := range all {
		if key.left&(1<<i) != 0 {
			continue
		}
		columns = append(columns, column.field.Name)
		n := strconv.Itoa(len(columns))
		value := "$" + n + "::" + column.name
		if key.shared&(1<<i) == 0 {
			arrays, names = append(arrays, value+"[]"), append(names, "c"+n)
			value = "r.c" + n
		}
		picked = append(picked, value+column.cast)
	}
	text := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS r(%s)", dialect.Tables().
		Get(key.model).Name, listed(columns), strings.Join(picked, ", "), strings.Join(arrays, ", "),
		strings.Join(names, ", "))
	if key.shared == 0 { // the others are too many to keep
		insertTexts.Store(key, text)
	}
	return text
}

func newInsertColumn(model reflect.Type, field *bunschema.Field) *insertColumn {
	of := field.StructField.Type
	c := &insertColumn{field: field, null: field.NullZero, left: field.NullZero}
	if of.Kind() == reflect.Pointer {
		of, c.null = of.Elem(), true
	}
	plain, known := plainTypes[of.Kind()]
	switch {
	case of == reflect.TypeFor[time.Time]():
		c.as, c.name = of, "timestamptz"
	case of == reflect.TypeFor[json.RawMessage]():
		c.as, c.name, c.cast = reflect.TypeFor[string](), "text", "::json"
	case of == reflect.TypeFor[[]byte]():
		c.as, c.name = of, "bytea"
	case of.Kind() == reflect.Int16:
		c.as, c.name = reflect.TypeFor[int64](), "bigint"
	case known && plain.Kind() == reflect.String:
		c.as, c.name = plain, "text"
	case known && plain.Kind() == reflect.Bool:
		c.as, c.name = plain, "boolean"
	case known:
		c.as, c.name = reflect.TypeFor[int64](), "bigint"
	default:
		panic(fmt.Sprintf("db: %s of %s cannot be inserted at commit", field.GoName, model))
	}
	return c
}

// isZero reports whether no row has a value for the column.
func (c *insertColumn) isZero(rows reflect.Value) bool {
	for i := range rows.Len() {
		if !c.field.Value(rows.Index(i).Elem()).IsZero() {
			return false
		}
	}
	return true
}

// isShared reports whether all rows say the same. Bytes are not compared: what is sealed differs always.
func (c *insertColumn) isShared(rows reflect.Value) bool {
	said := func(i int) reflect.Value { return reflect.Indirect(c.field.Value(rows.Index(i).Elem())) }
	first := said(0)
	if first.Kind() == reflect.Slice {
		return false
	}
	for i := 1; i < rows.Len(); i++ {
		if !first.Equal(said(i)) {
			return false
		}
	}
	return true
}

// values returns the column's values of all rows, which are pointers to structs.
func (c *insertColumn) values(rows reflect.Value) any {
	of := c.as
	if c.null {
		of = reflect.PointerTo(of)
	}
	all := reflect.MakeSlice(reflect.SliceOf(of), rows.Len(), rows.Len())
	for i := range rows.Len() {
		all.Index(i).Set(c.value(rows.Index(i)))
	}
	return all.Interface()
}

// value returns the column's value of a row, as a pointer where it may be NULL.
func (c *insertColumn) value(row reflect.Value) reflect.Value {
	value := c.field.Value(row.Elem())
	if c.null && value.IsZero() {
		return reflect.Zero(reflect.PointerTo(c.as))
	}
	value = reflect.Indirect(value).Convert(c.as)
	if !c.null {
		return value
	}
	pointer := reflect.New(c.as)
	pointer.Elem().Set(value)
	return pointer
}

// plainValue returns a value as the driver takes it where the server has not said which type it expects:
// typed numbers and words as plain ones, and slices of them alike.
func plainValue(value any) any {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return value
	case v.CanInt():
		return v.Int()
	case v.Kind() == reflect.String:
		return v.String()
	case v.Kind() != reflect.Slice:
		return value
	}
	switch v.Type().Elem().Kind() {
	case reflect.Int64:
		return converted[int64](v)
	case reflect.String:
		return converted[string](v)
	}
	return value
}

func converted[E any](v reflect.Value) []E {
	all := make([]E, v.Len())
	for i := range all {
		all[i] = v.Index(i).Convert(reflect.TypeFor[E]()).Interface().(E)
	}
	return all
}
