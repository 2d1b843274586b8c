package db

import (
	"iter"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Fields yields the columns of a row that may be shown: the path of the struct field ("LegalAddress.City")
// and the value. A group that implements Shown is one field.
func Fields(row any) iter.Seq2[string, reflect.Value] {
	value := reflect.Indirect(reflect.ValueOf(row))
	return func(yield func(string, reflect.Value) bool) {
		if !value.IsValid() {
			return
		}
		for _, f := range shownFields(value.Type()) {
			if !yield(f.path, value.FieldByIndex(f.index)) {
				return
			}
		}
	}
}

// shownField is a column of a model that may be shown.
type shownField struct {
	path  string
	index []int
}

var shownModels sync.Map // reflect.Type -> []shownField

func shownFields(model reflect.Type) []shownField {
	if known, ok := shownModels.Load(model); ok {
		return known.([]shownField)
	}
	known, _ := shownModels.LoadOrStore(model, shownWithin(model, "", nil))
	return known.([]shownField)
}

func shownWithin(model reflect.Type, within string, at []int) (all []shownField) {
	for i := range model.NumField() {
		field := model.Field(i)
		index := append(slices.Clone(at), i)
		tag, ok := field.Tag.Lookup("bun")
		if field.Anonymous && tag == ",extend" {
			all = append(all, shownWithin(field.Type, within, index)...)
			continue
		}
		if !ok || field.Anonymous || !field.IsExported() || strings.Contains(tag, ",scanonly") {
			continue
		}
		path := within + field.Name
		if strings.HasPrefix(tag, "embed:") && !field.Type.Implements(reflect.TypeFor[Shown]()) {
			all = append(all, shownWithin(field.Type, path+".", index)...)
			continue
		}
		all = append(all, shownField{path, index})
	}
	return all
}
