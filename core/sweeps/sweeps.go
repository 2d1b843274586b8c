package sweeps

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"sweep_runs"},
	Reads: map[string]string{
		"contacts":         "whether it was changed since a payment to it came back",
		"payments":         "what earlier runs have on its way is summed up in one statement",
		"payment_requests": "whether people look at the credit that pays a request of an earlier run",
	},
}

// Service runs the sweeps of every bank.
type Service struct {
	db       *db.DB
	accounts *accounts.Service
	payments *payments.Service
	now      clock.Now

	turns changes.Turns[customers.UID] // whose sweep ran last
}

// New makes the service.
func New(d *db.DB, a *accounts.Service, p *payments.Service, now clock.Now) *Service {
	return &Service{db: d, accounts: a, payments: p, now: now}
}

// RunSearch narrows a list of runs. All fields that are not empty must match.
type RunSearch struct {
	Direction []accounts.Direction // of the sweep
	Outcome   []RunOutcome
}

func (by RunSearch) where(p *db.Params) (all db.Conditions) {
	if by.Direction != nil {
		all = append(all, "sr.direction = ANY("+p.Add(db.Texts(by.Direction))+"::text[])")
	}
	if by.Outcome != nil {
		all = append(all, "sr.outcome = ANY("+p.Add(db.Texts(by.Outcome))+"::text[])")
	}
	return all
}

var (
	listing    db.QueryCache[Run]
	ofPayments db.QueryCache[OfPayment]
	counting   db.QueryCache[db.Count]
	identity   = db.ColumnsOf[Run]("UID", "Account", "Customer", "Currency", "Payment")
)

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Run](db.Or[Run](want).And(identity),
		map[string]string{"payment": "coalesce(sr.payment, 0)"})
}

// queryKey is what the text of a list of runs depends on.
type queryKey struct {
	want   db.Columns
	reach  access.Reach
	window db.PerParentWindow
	where  string
	most   string
}

// RunsOf reads a window of the runs of each account's sweeps, newest first, those of sweeps that are removed
// too. The list of an account that the caller may not see is empty.
func (s *Service) RunsOf(
	ctx context.Context, b *db.Batch, of []accounts.UID, by RunSearch, want db.Columns, w page.Window,
) *db.Many[accounts.UID, Run] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, Run](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, !w.Backward)
	where := by.where(&p)
	key := queryKey{want: want, reach: caller.Reach, window: window, where: where.Key()}
	text := listing.Get(key, func() string {
		q := where.On(selecting(want).Where("sr.tenant = $1"))
		scope := func(string) string { return caller.Reach.Scope("sr.customer") }
		return window.Text(q, scope, "sr.account", "sr.uid")
	})
	return db.QueueMany(b, text, func(r *Run) accounts.UID { return r.Account }, p...)
}

// CountRunsOf counts the runs of each account's sweeps, up to most; 0 means no bound.
func (s *Service) CountRunsOf(
	ctx context.Context, b *db.Batch, of []accounts.UID, by RunSearch, most int64,
) *db.Many[accounts.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(&p)
	limit := p.Up(most)
	text := counting.Get(queryKey{reach: caller.Reach, where: where.Key(), most: limit}, func() string {
		q := where.On(db.Select0[Run]("1").Where("sr.tenant = $1").Where("sr.account = p.parent").
			Where(caller.Reach.Scope("sr.customer")))
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) accounts.UID { return accounts.UID(n.Of) }, p...)
}

// OfPayment is the run of a sweep that made a payment.
type OfPayment struct {
	Payment   payments.UID       `bun:"payment"`
	Account   accounts.UID       `bun:"account"`
	Direction accounts.Direction `bun:"direction"`
	Day       time.Time          `bun:"day"`
}

// RunOfPayments reads the run that made each payment. Those of accounts that the caller may not see are
// absent.
func (s *Service) RunOfPayments(
	ctx context.Context, b *db.Batch, of []payments.UID,
) *db.Many[payments.UID, OfPayment] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[payments.UID, OfPayment](err)
	}
	text := ofPayments.Get(caller.Reach, func() string {
		return "SELECT sr.payment, sr.account, sr.direction, sr.day FROM sweep_runs AS sr " +
			"WHERE sr.tenant = $1 AND sr.payment = ANY($3) AND " +
			caller.Reach.Scope("sr.customer")
	})
	return db.QueueMany(b, text, func(r *OfPayment) payments.UID { return r.Payment }, caller.Tenant,
		caller.ScopeCustomer(), of)
}
