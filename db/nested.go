package db

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
)

// Nested converts columns of Inner to columns of Outer, which has an Inner in the named field. So a read that
// joins two tables can scan both structs from one row.
func Nested[Outer, Inner any](field string, want Columns) Columns {
	outer := reflect.TypeFor[Outer]()
	holder, ok := outer.FieldByName(field)
	if !ok || holder.Type != reflect.TypeFor[Inner]() {
		panic(fmt.Sprintf("db: %s has no %s of type %s", outer, field, reflect.TypeFor[Inner]()))
	}
	from, to := tableOf(reflect.TypeFor[Inner]()), tableOf(outer)
	var nested Columns
	for word, set := range want {
		for ; set != 0; set &= set - 1 {
			index := from.fields[word*64+bits.TrailingZeros64(set)].Index
			for i, field := range to.fields {
				if slices.Equal(field.Index, append(slices.Clone(holder.Index), index...)) {
					nested = nested.with(i)
				}
			}
		}
	}
	return nested
}

// Aliased returns the expressions of Inner's columns for Select: columns of the table with this alias, named
// with a prefix in the outer row.
func Aliased[Inner any](prefix, alias string) map[string]string {
	expressions := map[string]string{}
	for _, field := range tableOf(reflect.TypeFor[Inner]()).fields {
		expressions[prefix+field.Name] = alias + "." + string(field.SQLName)
	}
	return expressions
}
