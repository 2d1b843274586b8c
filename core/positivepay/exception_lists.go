package positivepay

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// ofException are the columns that every read of exceptions has.
var ofException = db.ColumnsOf[Exception]("UID", "Payment", "Customer", "Version")

var (
	findingExceptions, listingExceptions, childExceptions db.QueryCache[Exception]
	exceptionsOfPayments                                  db.QueryCache[Exception]
	countingExceptions                                    db.QueryCache[db.Count]
)

func selectingExceptions(want db.Columns, reach access.Reach) *bun.SelectQuery {
	return db.Select[Exception](db.Or[Exception](want).And(ofException), inExceptions(reach)).
		Where("ppe.tenant = $1")
}

// FindExceptions reads exceptions by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindExceptions(
	ctx context.Context, b *db.Batch, uids []ExceptionUID, want db.Columns,
) *db.Many[ExceptionUID, Exception] {
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return db.Refuse[ExceptionUID, Exception](err)
	}
	text := findingExceptions.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selectingExceptions(want, caller.Reach).Where("ppe.uid = ANY($3)").
			Where(caller.Reach.Scope("ppe.customer")).String()
	})
	return db.QueueMany(b, text, func(e *Exception) ExceptionUID { return e.UID },
		caller.Tenant, caller.ScopeCustomer(), uids)
}

// ExceptionsOfPayments reads the exceptions of payments, at most one of each.
func ExceptionsOfPayments[P ~int64](
	ctx context.Context, b *db.Batch, of []P, want db.Columns,
) *db.Many[P, Exception] {
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return db.Refuse[P, Exception](err)
	}
	text := exceptionsOfPayments.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selectingExceptions(want, caller.Reach).Where("ppe.payment = ANY($3)").
			Where(caller.Reach.Scope("ppe.customer")).String()
	})
	return db.QueueMany(b, text, func(e *Exception) P { return P(e.Payment) }, caller.Tenant,
		caller.ScopeCustomer(), of)
}

// ExceptionsOfCustomers reads a window of the exceptions of each customer, newest first.
func (s *Service) ExceptionsOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by ExceptionSearch, want db.Columns, w page.Window,
) *db.Many[customers.UID, Exception] {
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return db.Refuse[customers.UID, Exception](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, !w.Backward)
	where := by.where(s, caller, &p)
	key := queryKey{want: want, reach: caller.Reach, window: window, where: where.Key()}
	text := childExceptions.Get(key, func() string {
		return window.Text(where.On(selectingExceptions(want, caller.Reach)), caller.Reach.Scope,
			"ppe.customer", "ppe.uid")
	})
	return db.QueueMany(b, text, func(e *Exception) customers.UID { return e.Customer }, p...)
}

var exceptionsOfCustomers = customers.Children[Exception]{
	Needs: access.ManageExceptions,
	Table: "ppe", Key: "uid",
}

// CountExceptionsOfCustomers counts the exceptions of each customer, up to most; 0 means no bound.
func (s *Service) CountExceptionsOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by ExceptionSearch, most int64,
) *db.Many[customers.UID, db.Count] {
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return db.Refuse[customers.UID, db.Count](err)
	}
	return exceptionsOfCustomers.Count(ctx, b, of, func(_ access.Tenant, p *db.Params) db.Conditions {
		return by.where(s, caller, p)
	}, most)
}

// ListExceptions reads a window of the exceptions that the caller may see and a search finds, newest first.
func (s *Service) ListExceptions(
	ctx context.Context, b *db.Batch, by ExceptionSearch, want db.Columns, w page.Window,
) *db.Rows[Exception] {
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return db.RefuseRows[Exception](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	list := by.list(s, caller, &p)
	list.Most, list.Newest = "$3::bigint + $4::bigint", !w.Backward
	order, compare := "ppe.uid DESC", " < "
	if w.Backward {
		order, compare = "ppe.uid", " > "
	}
	if w.Cursor.UID != 0 {
		list.After = "ppe.uid" + compare + p.Add(w.Cursor.UID)
	}
	where := list.Conditions(caller.Reach)
	text := listingExceptions.Get(queryKey{
		want: want, reach: caller.Reach, where: where.Key(),
		order: order,
	}, func() string {
		return where.On(selectingExceptions(want, caller.Reach)).OrderExpr(order).String() +
			" LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

// CountExceptions counts the exceptions that a search finds, up to most; 0 means no bound.
func (s *Service) CountExceptions(
	ctx context.Context, b *db.Batch, by ExceptionSearch, most int64,
) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ManageExceptions)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	list := by.list(s, caller, &p)
	list.Most = p.Up(most)
	text := list.Count(caller.Reach)
	return db.Queue(b, countingExceptions.Get(text, func() string { return text }), p...)
}
