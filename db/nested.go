package db

import (
	"fmt"
	"math/bits"
	"reflect"
	"slices"
)

// Nested turns columns of Inner into those of Outer, which holds an Inner in the named field. A read that
// joins two tables scans both structs from one row this way.
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

// Aliased gives the expressions of Inner's columns, which carry a prefix in the outer row and stand
// in the table with this alias.
func Aliased[Inner any](prefix, alias string) map[string]string {
	expressions := map[string]string{}
	for _, field := range tableOf(reflect.TypeFor[Inner]()).fields {
		expressions[prefix+field.Name] = alias + "." + string(field.SQLName)
	}
	return expressions
}
