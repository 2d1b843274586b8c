// Package given tells a value that a request gives from one that it leaves alone: an update changes only
// what is given.
package given

import (
	"bytes"
	"encoding/json"
)

// Value is a field of a request. The zero value was not given. One that was given empty clears what is
// stored.
type Value[T any] struct {
	Given bool
	Value T
}

// Text is a text that a request may give.
type Text = Value[string]

// Flag is a truth value that a request may give.
type Flag = Value[bool]

// Of is a value that was given.
func Of[T any](value T) Value[T] { return Value[T]{Given: true, Value: value} }

// To writes the value where it was given.
func (v Value[T]) To(field *T) {
	if v.Given {
		*field = v.Value
	}
}

// IsZero leaves out of JSON what was not given (omitzero).
func (v Value[T]) IsZero() bool { return !v.Given }

// MarshalJSON writes the plain value.
func (v Value[T]) MarshalJSON() ([]byte, error) { return json.Marshal(v.Value) }

// UnmarshalJSON reads a plain value. null was given too: it clears.
func (v *Value[T]) UnmarshalJSON(text []byte) error {
	*v = Value[T]{Given: true}
	if bytes.Equal(text, []byte("null")) {
		return nil
	}
	return json.Unmarshal(text, &v.Value)
}
