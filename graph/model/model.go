// Package model holds the types that only GraphQL has: pages of lists, payloads, and the inputs of lookups
// and mutations, a file for each domain. Everything else that the schema names is a type of core.
//
// The input of a mutation is what core reads of a thing, to whom it belongs or which one it is, and the
// options of the change. One struct serves all mutations of a kind of thing; each input of the schema fills
// what it has.
package model

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/page"
)

// Node is an object with a global id: one of the types that the schema lists.
type Node any

// Connection is a page of a list.
type Connection[T any] struct {
	Page   page.Of[*T]
	Window page.Window
	Cursor func(*T) page.Cursor
	Count  func(context.Context) (int64, error) // asked only where totalCount is selected
}

// Payload is what there is after a change of an object.
type Payload[T any] struct {
	Object   *T                // unchanged while the change waits for approval; nil where it is not asked for
	Approval *changes.Approval // what waits for a second person
	Replayed bool              // the idempotency key came before: nothing happened this time
}

// Edge is one row of a page.
type Edge[T any] struct {
	Node *T
	at   func(*T) page.Cursor
}

// Cursor is the row's place in the list.
func (e *Edge[T]) Cursor() string { return e.at(e.Node).String() }

// Nodes are the rows.
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

// MostCounted is how far a list is counted, but for what the bank keeps counters of: counting reads all that
// it counts.
const MostCounted = 10_000

// TotalCount is how many rows the whole list has, or at least has.
func (c *Connection[T]) TotalCount(ctx context.Context) (int32, error) {
	n, err := c.Count(ctx)
	if n == MostCounted+1 {
		n = MostCounted
	}
	return int32(n), err
}

// TotalCountIsExact tells whether the whole list has no more rows than TotalCount says.
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

// PageInfo knows from reading one row more whether there are further ones; rows on the other side are
// there if the page started at a cursor.
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
