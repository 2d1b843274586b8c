// Package model holds the types that only GraphQL has: pages of lists, payloads, and the inputs of lookups
// and mutations, one file for each domain. All other types of the schema are types of core.
//
// The input of a mutation contains what core reads of a thing, the thing's key or its owner's, and the
// options of the change. One struct serves all mutations of a kind; each input of the schema fills the fields
// that it has.
package model

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/page"
)

// Node is an object with a global id.
type Node any

// Connection is a page of a list.
type Connection[T any] struct {
	Page   page.Of[*T]
	Window page.Window
	Cursor func(*T) page.Cursor
	Count  func(context.Context) (int64, error) // called only if totalCount is selected
}

// Payload is the answer of a mutation of an object.
type Payload[T any] struct {
	Object   *T                // unchanged while the change waits for approval; nil if not asked for
	Approval *changes.Approval // nil if nothing waits for a second person
	Replayed bool              // the idempotency key was used before; nothing was done now
}

// Edge is one row of a page.
type Edge[T any] struct {
	Node *T
	at   func(*T) page.Cursor
}

// Cursor is the row's place in the list.
func (e *Edge[T]) Cursor() string { return e.at(e.Node).String() }

func (c *Connection[T]) Nodes() []*T { return c.Page.Items }

// Edges are the rows with their cursors.
func (c *Connection[T]) Edges() []*Edge[T] {
	rows := make([]Edge[T], len(c.Page.Items))
	edges := make([]*Edge[T], len(rows))
	for i, item := range c.Page.Items {
		rows[i] = Edge[T]{Node: item, at: c.Cursor}
		edges[i] = &rows[i]
	}
	return edges
}

// MostCounted is how far the rows of a list are counted, since counting reads them all. Lists with counters
// of their own have no such limit.
const MostCounted = 10_000

// TotalCount is the number of rows in the whole list, or MostCounted if there are more.
func (c *Connection[T]) TotalCount(ctx context.Context) (int32, error) {
	n, err := c.Count(ctx)
	if n == MostCounted+1 {
		n = MostCounted
	}
	return int32(n), err
}

// TotalCountIsExact reports whether TotalCount is the number of all rows.
func (c *Connection[T]) TotalCountIsExact(ctx context.Context) (bool, error) {
	n, err := c.Count(ctx)
	return n != MostCounted+1, err
}

// PageInfo is where a page stands in its list.
type PageInfo struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     string
	EndCursor       string
}

// PageInfo reports the place of the page. There are further rows if one row more than the page was read; on
// the other side there are rows if the page began at a cursor.
func (c *Connection[T]) PageInfo() *PageInfo {
	behind := c.Window.Cursor.UID != 0
	info := &PageInfo{HasNextPage: c.Page.Further, HasPreviousPage: behind}
	if c.Window.Backward {
		info.HasNextPage, info.HasPreviousPage = behind, c.Page.Further
	}
	if n := len(c.Page.Items); n > 0 {
		info.StartCursor, info.EndCursor = c.Cursor(c.Page.Items[0]).String(), c.Cursor(c.Page.Items[n-1]).String()
	}
	return info
}
