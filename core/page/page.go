// Package page cuts lists into pages: after a cursor, or by page number where partners expect it.
package page

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"bankgraph/core/fault"
)

// Most is the longest page that staff may ask for.
const Most = 200

// Window is the wanted part of a list: a number of rows after or before a cursor, or from an offset.
type Window struct {
	Size     int
	Backward bool   // the last rows before the cursor instead of the first after it
	Cursor   Cursor // where to start; the zero value is the list's beginning, or its end if Backward
	Offset   int    // rows to skip, for lists served by page number
}

// First returns the window of a list's first rows.
func First(size int) Window { return Window{Size: size} }

// Numbered returns the window of the n-th page, counted from 1.
func Numbered(n, size int) Window { return Window{Size: size, Offset: (n - 1) * size} }

// Limit returns how many rows to read: one more than wanted, to tell whether there are more.
func (w Window) Limit() int64 { return int64(w.Size) + 1 }

// Cursor is a place in a list: the name of the list and its order, the sort value of a row and its UID.
type Cursor struct {
	Order string `json:"o"`
	Value string `json:"v,omitempty"`
	UID   int64  `json:"u"`
}

// version begins every cursor, so that a later form is never mistaken for this one.
const version = "1"

// longest bounds the text of a cursor, in bytes. An escaped sort value of 255 characters fits.
const longest = 4096

// String returns the opaque text of the cursor.
func (c Cursor) String() string {
	text, _ := json.Marshal(c)
	return version + base64.RawURLEncoding.EncodeToString(text)
}

// ParseCursor reads the text of a cursor of the named order. It returns an Invalid fault for a cursor of
// another order, or a malformed one.
func ParseCursor(field, text, order string) (Cursor, error) {
	var c Cursor
	bad := fault.Field("list", field, fault.Malformed, "not a cursor of this list")
	if len(text) < 2 || len(text) > longest || text[:1] != version {
		return c, bad
	}
	plain, err := base64.RawURLEncoding.Strict().DecodeString(text[1:])
	if err != nil || json.Unmarshal(plain, &c) != nil || c.Order != order || c.UID <= 0 ||
		strings.ContainsRune(c.Value, 0) || c.String() != text { // PostgreSQL has no U+0000
		return Cursor{}, bad
	}
	return c, nil
}

// Of is one page of a list.
type Of[T any] struct {
	Items   []T
	Further bool // there are more rows in the direction of reading
}

// Counted is a page of a list that is served by page number, with the number of rows of the whole list.
type Counted[T any] struct {
	Items []T
	Total int64
}

// Cut makes the page from the rows that were read for a window, with its Limit.
func Cut[T any](rows []T, w Window) Of[T] {
	further := len(rows) > w.Size
	if further {
		rows = rows[:w.Size]
	}
	if w.Backward {
		rows = slices.Clone(rows)
		slices.Reverse(rows)
	}
	return Of[T]{Items: rows, Further: further}
}
