package positivepay

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"positive_pay_exceptions", "positive_pay_rules"},
	Reads: map[string]string{
		"accounts": "a rule names its account by number, without its customer; and is found and shown " +
			"with what the account is",
		"customers": "rules are found and shown with the short name of their customer, in one statement",
	},
}

// Service keeps the rules of every bank's customers.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	probes    *probes.Counter
	customers *customers.Service
	now       clock.Now
	approvers Approvers
	operations
}

// Approvers returns how many people beside the maker have to approve that an amount is taken from an account
// of a customer, and the least reach that they need. It must not lock the account's balance: whoever takes in
// requests locks first that and then the rule. Package payments comes after this one, so it hands this
// function over.
type Approvers func(ctx context.Context, tx *changes.Tx, of customers.UID, amount money.Amount) (
	people int32, by access.Reach, err error)

// ApprovedLikePayments sets the Approvers, once, when the bank is built.
func (s *Service) ApprovedLikePayments(approvers Approvers) { s.approvers = approvers }

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, c *customers.Service, all *changes.Service, now clock.Now,
) *Service {
	s := &Service{db: d, keys: keys, probes: tried, customers: c, now: now}
	s.declare(all)
	c.OnLeaving(s.leaveTx)
	return s
}

// identity are the columns that every read has. The day is a value of every query.
var identity = db.ColumnsOf[Rule]("UID", "Customer", "Today")

// selecting starts a query of rules; day is the SQL of the bank's day.
func selecting(want db.Columns, day string) *bun.SelectQuery {
	return db.Select[Rule](db.Or[Rule](want).And(identity), map[string]string{"today": day}).
		Where("pp.tenant = $1").Where(shown)
}

// shown is the condition that a rule is not deleted.
const shown = "pp.state <> 'Deleted'"

// reader returns the caller, and the current day of the caller's bank.
func (s *Service) reader(ctx context.Context) (caller access.Caller, today string, err error) {
	if caller, err = access.Require(ctx, access.ViewPositiveRules); err != nil {
		return caller, "", err
	}
	now, err := s.now(ctx, caller.Tenant)
	return caller, now.In(caller.Location()).Format(time.DateOnly), err
}

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want         db.Columns
	reach        access.Reach
	window       db.PerParentWindow
	where, order string
}

var (
	finding, listing, children db.QueryCache[Rule]
	showing                    db.QueryCache[Shown]
	counting                   db.QueryCache[db.Count]
)

// FindMany reads rules by UID. Those of customers that the caller may not see, and deleted ones, are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Rule] {
	caller, today, err := s.reader(ctx)
	if err != nil {
		return db.Refuse[UID, Rule](err)
	}
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want, "$4::date").Where("pp.uid = ANY($3)").
			Where(caller.Reach.Scope("pp.customer")).String()
	})
	return db.QueueMany(b, text, func(r *Rule) UID { return r.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids, today)
}

// OfCustomers reads a window of the rules of each customer, by UID.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, Rule] {
	caller, today, err := s.reader(ctx)
	if err != nil {
		return db.Refuse[customers.UID, Rule](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	day := p.Add(today) + "::date"
	where := by.where(s, caller.Tenant, at(day), &p)
	key := queryKey{want: want, reach: caller.Reach, window: window, where: where.Key()}
	text := children.Get(key, func() string {
		return window.Text(where.On(selecting(want, day)), caller.Reach.Scope, "pp.customer", "pp.uid")
	})
	return db.QueueMany(b, text, func(r *Rule) customers.UID { return r.Customer }, p...)
}

var ofCustomers = customers.Children[Rule]{
	Needs: access.ViewPositiveRules, Table: "pp", Key: "uid", Shown: db.Conditions{shown},
}

// CountOfCustomers counts the rules of each customer, up to most; 0 means no bound.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64,
) *db.Many[customers.UID, db.Count] {
	_, today, err := s.reader(ctx)
	if err != nil {
		return db.Refuse[customers.UID, db.Count](err)
	}
	return ofCustomers.Count(ctx, b, of, func(tenant access.Tenant, p *db.Params) db.Conditions {
		return by.where(s, tenant, added(today), p)
	}, most)
}

// List reads a window of the rules that the caller may see and a search finds, in order of UID.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Rule] {
	caller, today, err := s.reader(ctx)
	if err != nil {
		return db.RefuseRows[Rule](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset, today}
	list := by.list(s, caller, at("$5::date"), &p)
	list.Most, list.Newest = "$3::bigint + $4::bigint", w.Backward
	order, compare := "pp.uid", " > "
	if w.Backward {
		order, compare = "pp.uid DESC", " < "
	}
	if w.Cursor.UID != 0 {
		list.After = "pp.uid" + compare + p.Add(w.Cursor.UID)
	}
	where := list.Conditions(caller.Reach)
	text := listing.Get(queryKey{
		want: want, reach: caller.Reach, where: where.Key(),
		order: order,
	}, func() string {
		return where.On(selecting(want, "$5::date")).OrderExpr(order).
			String() + " LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

// CountUpTo counts the rules that a search finds, up to most; 0 means no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, today, err := s.reader(ctx)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	list := by.list(s, caller, added(today), &p)
	list.Most = p.Up(most)
	text := list.Count(caller.Reach)
	return db.Queue(b, counting.Get(text, func() string { return text }), p...)
}
