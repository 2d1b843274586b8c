package db

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/uptrace/bun"
	bunschema "github.com/uptrace/bun/schema"
)

// Columns is a set of columns of a model that a read needs. The zero value means all that may be shown.
type Columns [3]uint64

// Shown is implemented by column groups of which reads may fetch only some columns: of a sealed value only
// the last digits.
type Shown interface{ ShownColumns() []string }

// table describes the columns of a model, in the order of the struct.
type table struct {
	alias  string
	fields []*bunschema.Field
	byPath map[string]Columns // Go field path: "Name", "LegalAddress", "LegalAddress.City"
	byName map[string]*bunschema.Field
	all    Columns
}

var tables sync.Map // reflect.Type -> *table

func tableOf(model reflect.Type) *table {
	if known, ok := tables.Load(model); ok {
		return known.(*table)
	}
	bunTable := dialect.Tables().Get(model)
	t := &table{alias: bunTable.Alias, byPath: map[string]Columns{}, byName: bunTable.FieldMap}
	for _, field := range bunTable.FieldMap {
		t.fields = append(t.fields, field)
	}
	slices.SortFunc(t.fields, func(a, b *bunschema.Field) int { return slices.Compare(a.Index, b.Index) })
	if len(t.fields) > 64*len(Columns{}) {
		panic(fmt.Sprintf("db: %s has more columns than a Columns can name", model))
	}
	for i, field := range t.fields {
		var paths []string // the field, after each group that it is in
		path, shown, at := "", true, model
		for _, index := range field.Index {
			step := at.Field(index)
			if group, ok := reflect.Zero(at).Interface().(Shown); ok &&
				!slices.Contains(group.ShownColumns(), step.Name) {
				shown = false
			}
			if at = step.Type; step.Anonymous {
				continue // its fields are those of the struct around it
			}
			path = strings.TrimPrefix(path+"."+step.Name, ".")
			paths = append(paths, path)
		}
		if !shown {
			continue // so the name of its group does not include it either
		}
		for _, path := range paths {
			t.byPath[path] = t.byPath[path].with(i)
		}
		t.all = t.all.with(i)
	}
	known, _ := tables.LoadOrStore(model, t)
	return known.(*table)
}

func (c Columns) with(i int) Columns {
	c[i/64] |= 1 << (i % 64)
	return c
}

// And returns the union of both. The zero value counts as empty here, not as all.
func (c Columns) And(other Columns) Columns {
	for i := range c {
		c[i] |= other[i]
	}
	return c
}

// Overlaps reports whether the two share a column.
func (c Columns) Overlaps(other Columns) bool {
	return c[0]&other[0]|c[1]&other[1]|c[2]&other[2] != 0
}

// ColumnsOf returns columns of T by the fields of its struct: "Name", or "LegalAddress" for a whole group. It
// panics if T does not have a field.
func ColumnsOf[T any](fields ...string) Columns {
	want, missing := ColumnsOfType(reflect.TypeFor[T](), fields...)
	if missing != "" {
		panic(fmt.Sprintf("db: %s has no field %s", reflect.TypeFor[T](), missing))
	}
	return want
}

// ColumnsOfType is ColumnsOf for a type known at run time; missing is the first field that it does not have.
func ColumnsOfType(model reflect.Type, fields ...string) (want Columns, missing string) {
	t := tableOf(model)
	for _, field := range fields {
		columns, ok := t.byPath[field]
		if !ok {
			return want, field
		}
		want = want.And(columns)
	}
	return want, ""
}

// Or returns these columns or, if there are none, all columns of T that may be shown.
func Or[T any](c Columns) Columns {
	if c == (Columns{}) {
		return tableOf(reflect.TypeFor[T]()).all
	}
	return c
}

// Select starts a query of the wanted columns of T. from gives the expressions of columns that are not in T's
// own table.
func Select[T any](want Columns, from map[string]string) *bun.SelectQuery {
	t := tableOf(reflect.TypeFor[T]())
	want = Or[T](want)
	q := builder.NewSelect().Model((*T)(nil))
	for word, set := range want {
		for set != 0 {
			field := t.fields[word*64+bits.TrailingZeros64(set)]
			set &= set - 1
			if expression, ok := from[field.Name]; ok {
				q = q.ColumnExpr(expression + " AS " + string(field.SQLName))
			} else {
				q = q.ColumnExpr(t.alias + "." + string(field.SQLName))
			}
		}
	}
	return q
}

// Select0 starts a query of T with this expression instead of columns, for counts.
func Select0[T any](expression string) *bun.SelectQuery {
	return builder.NewSelect().Model((*T)(nil)).ColumnExpr(expression)
}

// builder writes the texts of queries; it has no connection.
var builder = bun.NewDB(nil, dialect)
