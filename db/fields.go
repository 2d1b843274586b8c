package db

import (
	"iter"
	"reflect"
	"strings"
)

// Fields yields the columns of a row that may be shown: the path of the struct field ("LegalAddress.City")
// and the value. A group that implements Shown is one field.
func Fields(row any) iter.Seq2[string, any] {
	value := reflect.Indirect(reflect.ValueOf(row))
	return func(yield func(string, any) bool) {
		if value.IsValid() {
			fields(value, "", yield)
		}
	}
}

func fields(value reflect.Value, within string, yield func(string, any) bool) bool {
	model := value.Type()
	for i := range model.NumField() {
		field := model.Field(i)
		tag, ok := field.Tag.Lookup("bun")
		if field.Anonymous && tag == ",extend" {
			if !fields(value.Field(i), within, yield) {
				return false
			}
			continue
		}
		if !ok || field.Anonymous || !field.IsExported() || strings.Contains(tag, ",scanonly") {
			continue
		}
		path := within + field.Name
		_, shown := value.Field(i).Interface().(Shown)
		if strings.HasPrefix(tag, "embed:") && !shown {
			if !fields(value.Field(i), path+".", yield) {
				return false
			}
			continue
		}
		if !yield(path, value.Field(i).Interface()) {
			return false
		}
	}
	return true
}
