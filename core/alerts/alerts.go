package alerts

import (
	"context"
	"sync"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"balance_alerts"},
	Reads: map[string]string{
		"accounts": "the state of an account: an alert of a closed one does not fire",
		"balances": "alerts are compared with the balances of their accounts, many in one statement",
	},
}

// Service keeps the balance alerts of every bank.
type Service struct {
	db        *db.DB
	customers *customers.Service
	now       clock.Now
	operations

	mu     sync.Mutex
	places map[access.Tenant]UID // where the last call of Fire stopped, of banks that it did not get through
}

const object = "balanceAlert"

// New makes the service.
func New(d *db.DB, c *customers.Service, all *changes.Service, now clock.Now) *Service {
	s := &Service{db: d, customers: c, now: now, places: map[access.Tenant]UID{}}
	s.declare(all)
	return s
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want   db.Columns
	reach  access.Reach
	window db.PerParentWindow
	most   string
}

var (
	finding, listing db.QueryCache[Alert]
	counting         db.QueryCache[db.Count]
	identity         = db.ColumnsOf[Alert]("UID", "Account", "Customer", "Currency")
)

// shown is the condition that an alert is not deleted.
const shown = "ba.status <> 'DELETED'"

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Alert](db.Or[Alert](want).And(identity), nil).Where("ba.tenant = $1").Where(shown)
}

// FindMany reads alerts by UID. Those of customers that the caller may not see, and deleted ones, are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Alert] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[UID, Alert](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want).Where("ba.uid = ANY($3)").Where(caller.Reach.Scope("ba.customer")).String()
	})
	return db.QueueMany(b, text, func(a *Alert) UID { return a.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// OfAccounts reads a window of the alerts of each account, in the order in which they were made. The list of
// an account that the caller may not see is empty.
func (s *Service) OfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, want db.Columns, w page.Window,
) *db.Many[accounts.UID, Alert] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, Alert](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	text := listing.Get(queryKey{want: want, reach: caller.Reach, window: window}, func() string {
		scope := func(string) string { return caller.Reach.Scope("ba.customer") }
		return window.Text(selecting(want), scope, "ba.account", "ba.uid")
	})
	return db.QueueMany(b, text, func(a *Alert) accounts.UID { return a.Account }, p...)
}

// CountOfAccounts counts the alerts of each account, up to most; 0 means no bound.
func (s *Service) CountOfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, most int64,
) *db.Many[accounts.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	limit := p.Up(most)
	text := counting.Get(queryKey{reach: caller.Reach, most: limit}, func() string {
		q := db.Select0[Alert]("1").Where("ba.tenant = $1").Where(shown).Where("ba.account = p.parent").
			Where(caller.Reach.Scope("ba.customer"))
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) accounts.UID { return accounts.UID(n.Of) }, p...)
}
