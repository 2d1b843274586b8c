package customers

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"attributes", "customer_counts", "customers"},
	Reads: map[string]string{
		"accounts": "an ACH company number that an account of another has is taken: accounts come after customers",
		"users":    "the people who look after a customer are named by login id: users come after customers",
	},
}

// Service keeps the customers of every bank.
type Service struct {
	db     *db.DB
	keys   *seal.Keys
	probes *probes.Counter
	now    func() time.Time
	operations

	limits  LimitPlanner
	leaving []func(ctx context.Context, tx *changes.Tx, c *Customer, partner UID) error
}

// LimitPlanner works out a customer's limits under new ceilings, before anything is written; of one that is
// created, those that whoever creates it hands on besides. Package limits comes after customers, so it hands
// this function over.
type LimitPlanner func(ctx context.Context, tx *changes.Tx, of *Customer, ceilings []Ceiling,
	created bool) (*LimitPlan, error)

// LimitPlan is the result of a LimitPlanner: what the record shows, and how to carry it out.
type LimitPlan struct {
	Before, After any
	WriteTx       func(ctx context.Context, tx *changes.Tx) error
}

func (p *LimitPlan) too() (before, after any) { return p.Before, p.After }

func (p *LimitPlan) writeTx(ctx context.Context, tx *changes.Tx) error {
	if p.WriteTx == nil {
		return nil
	}
	return p.WriteTx(ctx, tx)
}

// PlanLimits sets the LimitPlanner, once, when the bank is built.
func (s *Service) PlanLimits(planner LimitPlanner) { s.limits = planner }

// OnLeaving adds what is done when a customer leaves its partner, for another one or for the bank itself; do
// is told the former partner. It is called while the bank is built.
func (s *Service) OnLeaving(do func(ctx context.Context, tx *changes.Tx, c *Customer, partner UID) error) {
	s.leaving = append(s.leaving, do)
}

// New makes the service.
func New(
	d *db.DB, keys *seal.Keys, tried *probes.Counter, all *changes.Service, now func() time.Time,
) *Service {
	s := &Service{db: d, keys: keys, probes: tried, now: now}
	s.declare(all)
	return s
}

// identity lists the columns that every read needs.
var identity = db.ColumnsOf[Customer]("UID", "Owner")

// queryKey is what the SQL of a read depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
	where string
	order string
}

// selecting starts a query of the customers that the caller may see.
func selecting(want db.Columns, caller access.Caller) *bun.SelectQuery {
	return db.Select[Customer](want, nil).Where("c.tenant = $1").Where(caller.Reach.ScopeOfCustomers("c"))
}

var finding db.QueryCache[Customer]

// FindMany reads customers by UID. Those that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Customer] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[UID, Customer](err)
	}
	want = db.Or[Customer](want).And(identity)
	text := finding.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selecting(want, caller).Where("c.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(c *Customer) UID { return c.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

var scoping db.QueryCache[Customer]

// Scoped queues a read of the few columns of a customer that Scope.Check needs, whether or not the caller may
// see it. Reads of what the customer has can be queued in the same batch; Scope.Check then says whether they
// may be shown.
func (s *Service) Scoped(ctx context.Context, b *db.Batch, uid UID) *Scope {
	caller, err := access.Require(ctx)
	if err != nil {
		return &Scope{rows: db.RefuseRows[Customer](err)}
	}
	text := scoping.Get(queryKey{}, func() string {
		return db.Select[Customer](identity.And(db.ColumnsOf[Customer]("ShortName", "Status", "Type")), nil).
			Where("c.tenant = $1").Where("c.uid = $2").String()
	})
	return &Scope{
		caller: caller, rows: db.Queue(b, text, caller.Tenant, uid),
		foreign: func() { access.RefuseRead(ctx, "customer", uid.String()) },
	}
}

// Scope is the result of Scoped, once its batch has been sent.
type Scope struct {
	caller  access.Caller
	rows    *db.Rows[Customer]
	foreign func() // records that the caller asked for a customer that it may not see
}

// Check returns the customer's identity, short name, type and status. It returns ErrNotFound if the customer
// is absent, and ErrOutOfScope if the caller may not see it.
func (s *Scope) Check() (*Customer, error) {
	customer, err := s.rows.One()
	switch {
	case err != nil:
		return nil, err
	case customer == nil:
		return nil, ErrNotFound
	case !s.caller.Sees(int64(customer.UID), int64(customer.Owner)):
		s.foreign()
		return nil, ErrOutOfScope
	}
	return customer, nil
}

// Find reads one customer.
func (s *Service) Find(ctx context.Context, uid UID) (*Customer, error) {
	b := s.db.Batch()
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	return OneOf(found, uid)
}

// Self returns the UID of the customer that represents the bank itself.
func (s *Service) Self(ctx context.Context) (uid UID, err error) {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return 0, err
	}
	err = s.db.NewSelect().Model((*Customer)(nil)).Column("uid").Where("c.tenant = ?", caller.Tenant).
		Where("c.relationship_type = ?", RelationSelf).Scan(ctx, &uid)
	if err != nil {
		return 0, fmt.Errorf("find the bank's own customer: %w", err)
	}
	return uid, nil
}

var institution = db.NewQuery[Customer](
	`SELECT uid FROM customers WHERE tenant = $1 AND relationship_type = 'Self'`)

// Institution queues a read of the UID of the customer that represents the bank itself, which every caller
// may know.
func (s *Service) Institution(ctx context.Context, b *db.Batch) *db.Rows[Customer] {
	caller, err := access.Require(ctx)
	if err != nil {
		return db.RefuseRows[Customer](err)
	}
	return db.Queue(b, institution, caller.Tenant)
}

// OneOf returns one customer from the result of FindMany, or ErrNotFound.
func OneOf(found *db.Many[UID, Customer], uid UID) (*Customer, error) {
	if found.Err != nil {
		return nil, found.Err
	}
	if len(found.Of[uid]) == 0 {
		return nil, ErrNotFound
	}
	return found.Of[uid][0], nil
}

// Order is how a list of customers is sorted. Every order ends with the UID, so that no two rows are equal.
type Order string

const (
	ByUID  Order = "uid"
	ByName Order = "name" // by legal name without regard to letter case, byte by byte
)

// Search narrows a list of customers. All fields that are not empty must match.
type Search struct {
	UID        UID
	Words      string // full text on the legal name: every word must begin a word of the name
	NamePrefix string // the legal name begins so, without regard to letter case
	ShortName  string // exact, without regard to letter case
	CustomerID string // exact
	TaxID      string // exact
	LEI        string
	ACHCompany string // exact: the ACH company id
	Type       Type
	Status     Status
	Parent     UID
	Order      Order
}

func (by Search) empty() bool { return by == Search{Order: by.Order} }

// where returns the conditions that narrow a query; p collects their values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.UID != 0 {
		all = append(all, "c.uid = "+p.Add(by.UID))
	}
	if by.Words != "" {
		all = append(all, "name_words(c.tenant, c.legal_name) @@ name_search($1, "+p.Add(by.Words)+")")
	}
	if by.NamePrefix != "" {
		// A range instead of LIKE: a prepared plan can use the index for it.
		from := p.Add(by.NamePrefix)
		all = append(all, name+" >= lower("+from+"::text) COLLATE \"C\"",
			name+" < lower("+from+"::text) COLLATE \"C\" || chr(1114111)")
	}
	if by.ShortName != "" {
		all = append(all, `lower(c.short_name COLLATE "C") = `+p.Add(ident.Fold(by.ShortName)))
	}
	if by.CustomerID != "" {
		all = append(all, "c.customer_id = "+p.Add(by.CustomerID), "c.customer_id <> ''")
	}
	if by.TaxID != "" {
		hashes := p.Add(s.probes.Search(s.keys.Hashes(int64(tenant), TaxIDColumn, by.TaxID)))
		all = append(all, "c.tax_id_hash = ANY("+hashes+")")
	}
	if by.LEI != "" {
		all = append(all, "c.lei = "+p.Add(ident.Upper(by.LEI)), "c.lei <> ''")
	}
	if by.ACHCompany != "" {
		all = append(all, "c.ach_company_id = "+p.Add(by.ACHCompany), "c.ach_company_id <> ''")
	}
	if by.Type != "" {
		all = append(all, "c.type = "+p.Add(string(by.Type)))
	}
	if by.Status != "" {
		all = append(all, "c.status = "+p.Add(string(by.Status)))
	}
	if by.Parent != 0 {
		all = append(all, "c.parent = "+p.Add(by.Parent))
	}
	return all
}

// name is the legal name as it is sorted and searched: in lower case, byte by byte.
const name = `lower(c.legal_name) COLLATE "C"`

// TaxIDColumn names the column for which tax ids are sealed (seal.Place).
const TaxIDColumn = "customers.tax_id"

// List reads a window of the customers that the caller may see.
func (s *Service) List(
	ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window,
) *db.Rows[Customer] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[Customer](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), w.Limit(), w.Offset}
	where := by.where(s, caller.Tenant, &p)
	direction, compare := "", ">"
	if w.Backward {
		direction, compare = " DESC", "<"
	}
	order := "c.uid" + direction
	if by.Order == ByName {
		order = name + direction + ", " + order
	}
	switch {
	case w.Cursor.UID == 0:
	case by.Order == ByName:
		where = append(where,
			"("+name+", c.uid) "+compare+" (lower("+p.Add(w.Cursor.Value)+"::text) COLLATE \"C\", "+
				p.Add(w.Cursor.UID)+"::bigint)")
	default:
		where = append(where, "c.uid "+compare+" "+p.Add(w.Cursor.UID))
	}
	want = db.Or[Customer](want).And(identity)
	text := listing.Get(queryKey{want: want, reach: caller.Reach, where: where.Key(), order: order},
		func() string {
			return where.On(selecting(want, caller)).OrderExpr(order).String() +
				" LIMIT $3::bigint OFFSET $4::bigint"
		})
	return db.Queue(b, text, p...)
}

var (
	listing     db.QueryCache[Customer]
	counting    db.QueryCache[db.Count]
	countingAll db.QueryCache[db.Count]
)

// Count counts the customers that a search finds. Without a filter it reads the stored counters.
func (s *Service) Count(ctx context.Context, b *db.Batch, by Search) *db.Rows[db.Count] {
	return s.CountUpTo(ctx, b, by, 0)
}

// CountUpTo is Count up to most; 0 means no bound. The stored counters need no bound.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	if by.empty() && caller.Reach != access.OfCustomer {
		return db.Queue(b, countingAll.Get(caller.Reach, func() string {
			return "SELECT coalesce(sum(n.customers), 0)::bigint AS n FROM customer_counts AS n WHERE " +
				"n.tenant = $1 AND " + caller.Reach.ScopeOfCustomers("n")
		}), p...)
	}
	where := by.where(s, caller.Tenant, &p)
	limit := p.Up(most)
	text := counting.Get(queryKey{reach: caller.Reach, where: where.Key(), order: limit}, func() string {
		q := db.Select0[Customer]("1").Where("c.tenant = $1").Where(caller.Reach.ScopeOfCustomers("c"))
		return db.CountText(where.On(q), limit)
	})
	return db.Queue(b, text, p...)
}
