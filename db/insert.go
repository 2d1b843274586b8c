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

// InsertAtCommit inserts rows at the end of the transaction of ctx, together with COMMIT. However many they
// are, they are one statement, whose text depends on nothing but the model: each column is an array. Nothing
// is read back, so the rows must be complete but for what the model leaves to the table (nullzero).
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
	var values []any
	for i, column := range columns {
		if column.left && column.isZero(all) {
			key.left |= 1 << i
			continue
		}
		values = append(values, column.values(all))
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
	model reflect.Type
	left  uint64 // the columns that are left to the table's defaults
}

type insertColumn struct {
	field *bunschema.Field
	as    reflect.Type // of one value: int64, string, bool, time.Time or []byte
	array string       // its type as an array
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
		n := strconv.Itoa(len(columns) + 1)
		columns, arrays = append(columns, column.field.Name), append(arrays, "$"+n+"::"+column.array)
		names, picked = append(names, "c"+n), append(picked, "r.c"+n+column.cast)
	}
	text := fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM unnest(%s) AS r(%s)", dialect.Tables().
		Get(key.model).Name, listed(columns), strings.Join(picked, ", "), strings.Join(arrays, ", "),
		strings.Join(names, ", "))
	insertTexts.Store(key, text)
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
		c.as, c.array = of, "timestamptz[]"
	case of == reflect.TypeFor[json.RawMessage]():
		c.as, c.array, c.cast = reflect.TypeFor[string](), "text[]", "::json"
	case of == reflect.TypeFor[[]byte]():
		c.as, c.array = of, "bytea[]"
	case of.Kind() == reflect.Int16:
		c.as, c.array = reflect.TypeFor[int64](), "bigint[]"
	case known && plain.Kind() == reflect.String:
		c.as, c.array = plain, "text[]"
	case known && plain.Kind() == reflect.Bool:
		c.as, c.array = plain, "boolean[]"
	case known:
		c.as, c.array = reflect.TypeFor[int64](), "bigint[]"
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

// values returns the column's values of all rows, which are pointers to structs.
func (c *insertColumn) values(rows reflect.Value) any {
	of := c.as
	if c.null {
		of = reflect.PointerTo(of)
	}
	all := reflect.MakeSlice(reflect.SliceOf(of), rows.Len(), rows.Len())
	for i := range rows.Len() {
		value := c.field.Value(rows.Index(i).Elem())
		if c.null && value.IsZero() {
			continue
		}
		value = reflect.Indirect(value).Convert(c.as)
		if c.null {
			pointer := reflect.New(c.as)
			pointer.Elem().Set(value)
			value = pointer
		}
		all.Index(i).Set(value)
	}
	return all.Interface()
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
