package access

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/page"
	"bankgraph/db"
)

// Lists reads lists of the whole bank of one kind of rows, such as its bulk files.
type Lists[T any] struct {
	Needs  Permission
	Select func(want db.Columns) *bun.SelectQuery

	pages  db.QueryCache[T]
	counts db.QueryCache[db.Count]
}

// Search returns the list of what a caller searches for; p collects the values of its conditions.
type Search func(caller Caller, p *db.Params) List

// listKey is what the text of a page depends on.
type listKey struct {
	want   db.Columns
	reach  Reach
	where  string
	newest bool
}

// Page reads a window of the rows that the caller may see and a search finds, in the order of its List.
func (l *Lists[T]) Page(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[T] {
	caller, err := Require(ctx, l.Needs)
	if err != nil {
		return db.RefuseRows[T](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by(caller, &p)
	list.Most, list.Newest = "$3::bigint + $4::bigint", list.Newest != w.Backward
	if w.Cursor.UID != 0 {
		compare := " > "
		if list.Newest {
			compare = " < "
		}
		list.After = list.key() + compare + p.Add(w.Cursor.UID)
	}
	where := list.Conditions(caller.Reach)
	text := l.pages.Get(listKey{want, caller.Reach, where.Key(), list.Newest}, func() string {
		return where.On(l.Select(want).Where(list.Alias+".tenant = $1")).String() + list.order() +
			" LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

// Count counts the rows that a search finds, up to most; 0 means no bound.
func (l *Lists[T]) Count(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, err := Require(ctx, l.Needs)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	list := by(caller, &p)
	list.Most = p.Up(most)
	text := list.Count(caller.Reach)
	return db.Queue(b, l.counts.Get(text, func() string { return text }), p...)
}
