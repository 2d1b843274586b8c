package customers

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Children lists what customers have, such as their contacts or accounts. Every query includes the caller's
// scope, so the list of a customer outside it is empty, whatever was checked before.
type Children[T any] struct {
	Needs    access.Permission
	Table    string        // the table's alias; its column customer says whose the row is
	Key      string        // the column that the list is sorted by
	Shown    db.Conditions // the conditions of rows that are shown; none: all are
	Select   func(want db.Columns) *bun.SelectQuery
	Customer func(*T) UID

	lists  db.QueryCache[T]
	counts db.QueryCache[db.Count]
}

// Filter returns the conditions that narrow a list; p collects their values. A nil Filter narrows nothing.
type Filter func(tenant access.Tenant, p *db.Params) db.Conditions

// childKey is what the text of a list depends on.
type childKey struct {
	want   db.Columns
	reach  access.Reach
	window db.PerParentWindow
	where  string
	limit  string
}

// rows narrows a query to the rows that are shown and that match a filter.
func (c *Children[T]) rows(q *bun.SelectQuery, found db.Conditions) *bun.SelectQuery {
	return found.On(c.Shown.On(q.Where(c.Table + ".tenant = $1")))
}

func (by Filter) where(tenant access.Tenant, p *db.Params) db.Conditions {
	if by == nil {
		return nil
	}
	return by(tenant, p)
}

// List reads a window of what each customer has.
func (c *Children[T]) List(
	ctx context.Context, b *db.Batch, of []UID, by Filter, want db.Columns, w page.Window,
) *db.Many[UID, T] {
	caller, err := access.Require(ctx, c.Needs)
	if err != nil {
		return db.Refuse[UID, T](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(caller.Tenant, &p)
	text := c.lists.Get(childKey{want: want, reach: caller.Reach, window: window, where: where.Key()},
		func() string {
			return window.Text(c.rows(c.Select(want), where), caller.Reach.Scope, c.Table+".customer",
				c.Table+"."+c.Key)
		})
	return db.QueueMany(b, text, c.Customer, p...)
}

// Count counts what each customer has, up to most; 0 means no bound.
func (c *Children[T]) Count(
	ctx context.Context, b *db.Batch, of []UID, by Filter, most int64,
) *db.Many[UID, db.Count] {
	caller, err := access.Require(ctx, c.Needs)
	if err != nil {
		return db.Refuse[UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(caller.Tenant, &p)
	limit := p.Up(most)
	text := c.counts.Get(childKey{reach: caller.Reach, where: where.Key(), limit: limit}, func() string {
		q := c.rows(db.Select0[T]("1"), where).Where(c.Table + ".customer = p.parent").
			Where(caller.Reach.Scope("p.parent"))
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) UID { return UID(n.Of) }, p...)
}

// Page reads a page of what one customer has, how many there are, and the customer as Scope.Check returns it,
// in one round trip. It returns ErrNotFound for an absent customer, and ErrOutOfScope for one that the caller
// may not see.
func (c *Children[T]) Page(
	ctx context.Context, s *Service, of UID, by Filter, want db.Columns, w page.Window,
) (*Customer, page.Counted[*T], error) {
	var found page.Counted[*T]
	if _, err := access.Require(ctx, c.Needs); err != nil {
		return nil, found, err
	}
	b := s.db.Batch()
	scope := s.Scoped(ctx, b, of)
	list, count := c.List(ctx, b, []UID{of}, by, want, w), c.Count(ctx, b, []UID{of}, by, 0)
	if err := b.Send(ctx); err != nil {
		return nil, found, err
	}
	customer, err := scope.Check()
	if err != nil {
		return nil, found, err
	}
	found.Items, found.Total = page.Cut(list.Of[of], w).Items, db.CountOf(count, of)
	return customer, found, nil
}
