package payments

import (
	"context"
	"maps"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/page"
	"bankgraph/db"
)

var (
	ofAccounts         db.QueryCache[Payment]
	countingOfAccounts db.QueryCache[db.Count]

	listed     = db.ColumnsOf[Payment]("Listed")
	inListings = func() map[string]string {
		from := maps.Clone(inAccounts)
		from["listed"] = "p.account"
		return from
	}()
)

// sided returns the conditions that the account p.account is the payment's sender, and that it is its
// receiver, with a customer whom the caller sees. Each side has an index of its own; no payment has one
// account on both sides.
func sided(reach access.Reach) [2]string {
	return [2]string{
		"pay.sender_account = p.account AND " + reach.Scope("pay.customer"),
		"pay.receiver_account = p.account AND " + reach.Scope("pay.receiver_customer"),
	}
}

// OfAccounts reads a window of the payments from or to each account, newest first. The list of an account
// that the caller may not see is empty.
func (s *Service) OfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, by Search, want db.Columns, w page.Window,
) *db.Many[accounts.UID, Payment] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[accounts.UID, Payment](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of, w.Limit(), w.Offset}
	where := by.within(caller.Reach).where(s, caller.Tenant, &p)
	order, after := newestFirst(w, &p)
	if after != "" {
		where = append(where, after)
	}
	want = db.Or[Payment](want).And(listed)
	text := ofAccounts.Get(queryKey{want, caller.Reach, where.Key(), order}, func() string {
		var sides []string
		for _, side := range sided(caller.Reach) {
			sides = append(sides, "("+where.On(selecting(caller.Reach, want, inListings).
				Where("pay.tenant = $1").Where(side)).
				OrderExpr(order).String()+" LIMIT $4::bigint + $5::bigint)")
		}
		return "SELECT r.* FROM unnest($3::bigint[]) AS p(account) CROSS JOIN LATERAL (SELECT pay.* FROM (" +
			strings.Join(sides, " UNION ALL ") + ") AS pay ORDER BY " + order +
			" LIMIT $4::bigint OFFSET $5::bigint) AS r"
	})
	return db.QueueMany(b, text, func(p *Payment) accounts.UID { return p.Listed }, p...)
}

// CountOfAccounts counts the payments from or to each account, up to most; 0 means no bound.
func (s *Service) CountOfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, by Search, most int64,
) *db.Many[accounts.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[accounts.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.within(caller.Reach).where(s, caller.Tenant, &p)
	limit := p.Up(most)
	text := countingOfAccounts.Get(queryKey{
		reach: caller.Reach, where: where.Key(),
		order: limit,
	}, func() string {
		sides := sided(caller.Reach)
		from := where.On(db.Select0[Payment]("1").Where("pay.tenant = $1").Where(sides[0]))
		to := where.On(db.Select0[Payment]("1").Where("pay.tenant = $1").Where(sides[1]))
		return db.CountEachText("unnest($3::bigint[]) AS p(account)", "p.account", from.UnionAll(to), limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) accounts.UID { return accounts.UID(n.Of) }, p...)
}
