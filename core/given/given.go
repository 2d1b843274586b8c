// Package given tells fields that a request gives from those that it leaves out: an update changes only the
// former.
package given

import (
	"bytes"
	"encoding/json"
)

// Value is a field of a request. The zero value was not given. An empty value that was given clears the
// stored one.
type Value[T any] struct {
	Given bool
	Value T
}

// Text is a text field of a request.
type Text = Value[string]

// Flag is a Boolean field of a request.
type Flag = Value[bool]

// Of returns a value that was given.
func Of[T any](value T) Value[T] { return Value[T]{Given: true, Value: value} }

// To writes the value to a field if it was given.
func (v Value[T]) To(field *T) {
	if v.Given {
		*field = v.Value
	}
}

// IsZero reports whether the value was not given, for omitzero in JSON.
func (v Value[T]) IsZero() bool { return !v.Given }

// MarshalJSON writes the plain value.
func (v Value[T]) MarshalJSON() ([]byte, error) { return json.Marshal(v.Value) }

// UnmarshalJSON reads a plain value. null counts as given: it clears.
func (v *Value[T]) UnmarshalJSON(text []byte) error {
	*v = Value[T]{Given: true}
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	return json.Unmarshal(text, &v.Value)
}
