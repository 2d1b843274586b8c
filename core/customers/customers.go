package customers

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Service keeps the customers of every bank.
type Service struct {
	db   *db.DB
	keys *seal.Keys
	now  func() time.Time
	operations

	limits LimitPlanner
}

// LimitPlanner says what a customer's limits become by new ceilings, before anything is written. Limits stand behind
// customers, so they hand it over.
type LimitPlanner func(ctx context.Context, tx *changes.Tx, of *Customer, ceilings []Ceiling) (*LimitPlan, error)

// LimitPlan is what a LimitPlanner says: how the record shows it, and how it is carried out.
type LimitPlan struct {
	Before, After any
	WriteTx       func(ctx context.Context, tx *changes.Tx) error
}

// PlanLimits is told who plans limits, once, when the bank is built.
func (s *Service) PlanLimits(planner LimitPlanner) { s.limits = planner }

// planTx is nil where a draft gives no limits.
func (s *Service) planTx(ctx context.Context, tx *changes.Tx, of *Customer, ceilings []Ceiling) (*LimitPlan, error) {
	if len(ceilings) == 0 {
		return nil, nil
	}
	return s.limits(ctx, tx, of, ceilings)
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, all *changes.Service, now func() time.Time) *Service {
	s := &Service{db: d, keys: keys, now: now}
	s.declare(all)
	return s
}

// identity is what every read needs: to whom the customer belongs and which one it is.
var identity = db.Want[Customer]("UID", "Owner")

// shape is what the text of a read depends on.
type shape struct {
	want  db.Columns
	reach access.Reach
	where string
	order string
}

var finding db.Texts[Customer]

// FindMany reads customers by UID. Those that are not the caller's to see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, Customer] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[UID, Customer](err)
	}
	want = db.Or[Customer](want).And(identity)
	text := finding.Get(shape{want: want, reach: caller.Reach}, func() string {
		return within(db.Select[Customer](want, nil).Where("c.tenant = $1"), caller.Reach).Where("c.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(c *Customer) UID { return c.UID }, caller.Tenant, caller.Within(), uids)
}

var scoping db.Texts[Customer]

// Scoped reads one customer whether or not the caller may see it, with little of it: what the check needs.
// Reads of what a customer has are queued beside it; Scope.Check tells whether they may be shown.
func (s *Service) Scoped(ctx context.Context, b *db.Batch, uid UID) *Scope {
	caller, err := access.Require(ctx)
	if err != nil {
		return &Scope{rows: db.RefuseRows[Customer](err)}
	}
	text := scoping.Get(shape{}, func() string {
		return db.Select[Customer](identity.And(db.Want[Customer]("ShortName", "Status", "Type")), nil).Where("c.tenant = $1").Where("c.uid = $2").String()
	})
	return &Scope{
		caller: caller, rows: db.Queue(b, text, caller.Tenant, uid),
		foreign: func() { access.RefuseRead(ctx, "customer", uid.String()) },
	}
}

// Scope is the answer of Scoped.
type Scope struct {
	caller  access.Caller
	rows    *db.Rows[Customer]
	foreign func() // remembers a look at another's
}

// Check returns the customer's identity, short name, type and status: ErrNotFound where it is absent, ErrOutOfScope
// where it is not the caller's to see.
func (s *Scope) Check() (*Customer, error) {
	customer, err := s.rows.One()
	switch {
	case err != nil:
		return nil, err
	case customer == nil:
		return nil, ErrNotFound
	case !customer.seenBy(s.caller):
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

// Self is the number of the customer that stands for the bank itself.
func (s *Service) Self(ctx context.Context) (uid UID, err error) {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return 0, err
	}
	err = s.db.NewSelect().Model((*Customer)(nil)).Column("uid").Where("c.tenant = ?", caller.Tenant).Where("c.relationship_type = ?", RelationSelf).Scan(ctx, &uid)
	if err != nil {
		return 0, fmt.Errorf("find the bank's own customer: %w", err)
	}
	return uid, nil
}

// OneOf is the customer in an answer of FindMany, or ErrNotFound.
func OneOf(found *db.Many[UID, Customer], uid UID) (*Customer, error) {
	if found.Err != nil {
		return nil, found.Err
	}
	if len(found.Of[uid]) == 0 {
		return nil, ErrNotFound
	}
	return found.Of[uid][0], nil
}

// Order is how a list of customers is sorted. Each ends with the UID, so that no two rows are equal.
type Order string

const (
	ByUID  Order = "uid"
	ByName Order = "name" // by legal name without regard to letter case, byte by byte
)

// Search is what a list of customers is narrowed to. Empty fields do not count; all others must hold.
type Search struct {
	UID        UID
	Words      string // full text on the legal name: every word must begin a word of the name
	NamePrefix string // the legal name begins so, without regard to letter case
	ShortName  string // exact, without regard to letter case
	CustomerID string // exact
	TaxID      string // exact
	LEI        string
	Type       Type
	Status     Status
	Parent     UID
	Order      Order
}

func (by Search) empty() bool { return by == Search{Order: by.Order} }

// where are the conditions that narrow a query; p collects the values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	if by.UID != 0 {
		all = append(all, "c.uid = "+p.Add(by.UID))
	}
	if by.Words != "" {
		all = append(all, "to_tsvector('simple', c.legal_name) @@ to_tsquery('simple', "+p.Add(wordPrefixes(by.Words))+")")
	}
	if by.NamePrefix != "" {
		// A range instead of LIKE: a prepared plan can use the index for it.
		from := p.Add(by.NamePrefix)
		all = append(all, name+" >= lower("+from+"::text) COLLATE \"C\"", name+" < lower("+from+"::text) COLLATE \"C\" || chr(1114111)")
	}
	if by.ShortName != "" {
		// The first condition finds it by its index, the second decides: letters beyond ASCII have no case there.
		all = append(all, "lower(c.short_name) = lower("+p.Add(by.ShortName)+")", `lower(c.short_name COLLATE "C") = `+p.Add(ident.Fold(by.ShortName)))
	}
	if by.CustomerID != "" {
		all = append(all, "c.customer_id = "+p.Add(by.CustomerID), "c.customer_id <> ''")
	}
	if by.TaxID != "" {
		all = append(all, "c.tax_id_hash = ANY("+p.Add(s.keys.Hashes(int64(tenant), TaxIDColumn, by.TaxID))+")")
	}
	if by.LEI != "" {
		all = append(all, "c.lei = "+p.Add(strings.ToUpper(by.LEI)), "c.lei <> ''")
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

// name is the legal name as it is sorted and searched: without regard to letter case, byte by byte.
const name = `lower(c.legal_name) COLLATE "C"`

// TaxIDColumn is the place that tax ids are sealed for.
const TaxIDColumn = "customers.tax_id"

// wordPrefixes turns what a person typed into a text search in which every word is a prefix.
// Only letters and digits count, so no operator of the search language gets through. What another word says too is left
// out: the database looks for each by itself.
func wordPrefixes(text string) string {
	var words []string
	for word := range strings.FieldsFuncSeq(ident.Fold(text), func(r rune) bool { return !wordRune(r) }) {
		if slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, word) }) {
			continue
		}
		words = slices.DeleteFunc(words, func(w string) bool { return strings.HasPrefix(word, w) })
		words = append(words, word)
	}
	for i, word := range words {
		words[i] = "'" + word + "':*"
	}
	return strings.Join(words, " & ")
}

// List reads a window of the customers that the caller may see.
func (s *Service) List(ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window) *db.Rows[Customer] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[Customer](err)
	}
	p := db.Params{caller.Tenant, caller.Within(), w.Limit(), w.Offset}
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
		where = append(where, "("+name+", c.uid) "+compare+" (lower("+p.Add(w.Cursor.Value)+"::text) COLLATE \"C\", "+p.Add(w.Cursor.UID)+"::bigint)")
	default:
		where = append(where, "c.uid "+compare+" "+p.Add(w.Cursor.UID))
	}
	want = db.Or[Customer](want).And(identity)
	text := listing.Get(shape{want: want, reach: caller.Reach, where: where.Key(), order: order}, func() string {
		q := where.On(within(db.Select[Customer](want, nil).Where("c.tenant = $1"), caller.Reach))
		return q.OrderExpr(order).String() + " LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

var (
	listing  db.Texts[Customer]
	counting db.Texts[db.Count]
)

// Count reads how many customers a search finds. Without any filter it comes from the counters.
func (s *Service) Count(ctx context.Context, b *db.Batch, by Search) *db.Rows[db.Count] {
	return s.CountUpTo(ctx, b, by, 0)
}

// CountUpTo is Count that stops at most rows, where most is not 0: a filter may find half the bank. The counters know
// without looking.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, by Search, most int64) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.Within()}
	if by.empty() && (caller.Reach == access.OfBank || caller.Reach == access.OfPartner) {
		return db.Queue(b, countAll, p...)
	}
	where := by.where(s, caller.Tenant, &p)
	limit := p.Up(most)
	text := counting.Get(shape{reach: caller.Reach, where: where.Key(), order: limit}, func() string {
		return db.CountText(where.On(within(db.Select0[Customer]("1").Where("c.tenant = $1"), caller.Reach)), limit)
	})
	return db.Queue(b, text, p...)
}

var countAll = db.NewText[db.Count](`SELECT coalesce(sum(customers), 0)::bigint AS n FROM customer_counts WHERE tenant = $1 AND ($2 = 0::bigint OR owner = $2)`)
