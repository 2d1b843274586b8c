package customers

import (
	"context"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Service keeps the customers of every bank.
type Service struct {
	db   *db.DB
	keys *seal.Keys
	now  func() time.Time
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, now func() time.Time) *Service {
	return &Service{db: d, keys: keys, now: now}
}

// identity is what every read needs: to whom the customer belongs and which one it is.
var identity = db.Want[Customer]("UID", "Owner")

// shape is what the text of a read depends on.
type shape struct {
	want    db.Columns
	partner bool
}

// within limits a query on customers to those that the caller may see. $2 is the partner.
func within(q *bun.SelectQuery, partner bool) *bun.SelectQuery {
	if partner {
		return q.Where("c.owner = $2")
	}
	return q.Where("$2 = 0::bigint")
}

var finding db.Texts[Customer]

// FindMany reads customers by UID. Those that are not the caller's to see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, Customer] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[UID, Customer](err)
	}
	want, partner := db.Or[Customer](want).And(identity), !caller.Institution
	text := finding.Get(shape{want: want, partner: partner}, func() string {
		return within(db.Select[Customer](want, nil).Where("c.tenant = $1"), partner).Where("c.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(c *Customer) UID { return c.UID }, caller.Tenant, caller.Owner(), uids)
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
		return db.Select[Customer](identity.And(db.Want[Customer]("Status", "Type")), nil).Where("c.tenant = $1").Where("c.uid = $2").String()
	})
	return &Scope{owner: UID(caller.Owner()), rows: db.Queue(b, text, caller.Tenant, uid)}
}

// Scope is the answer of Scoped.
type Scope struct {
	owner UID
	rows  *db.Rows[Customer]
}

// Check returns the customer's identity, type and status: ErrNotFound where it is absent, ErrOutOfScope
// where it is another partner's.
func (s *Scope) Check() (*Customer, error) {
	customer, err := s.rows.One()
	switch {
	case err != nil:
		return nil, err
	case customer == nil:
		return nil, ErrNotFound
	case s.owner != 0 && customer.Owner != s.owner:
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

// where narrows a query; p collects the values.
func (by Search) where(q *bun.SelectQuery, s *Service, tenant access.Tenant, p *db.Params) *bun.SelectQuery {
	if by.UID != 0 {
		q = q.Where("c.uid = " + p.Add(by.UID))
	}
	if by.Words != "" {
		q = q.Where("to_tsvector('simple', c.legal_name) @@ to_tsquery('simple', " + p.Add(wordPrefixes(by.Words)) + ")")
	}
	if by.NamePrefix != "" {
		// A range instead of LIKE: a prepared plan can use the index for it.
		from := p.Add(by.NamePrefix)
		q = q.Where("lower(c.legal_name) COLLATE \"C\" >= lower(" + from + "::text) COLLATE \"C\"").
			Where("lower(c.legal_name) COLLATE \"C\" < lower(" + from + "::text) COLLATE \"C\" || chr(1114111)")
	}
	if by.ShortName != "" {
		q = q.Where("lower(c.short_name) = lower(" + p.Add(by.ShortName) + ")")
	}
	if by.CustomerID != "" {
		q = q.Where("c.customer_id = " + p.Add(by.CustomerID) + " AND c.customer_id <> ''")
	}
	if by.TaxID != "" {
		q = q.Where("c.tax_id_hash = " + p.Add(s.keys.Hash(int64(tenant), TaxIDColumn, by.TaxID)))
	}
	if by.LEI != "" {
		q = q.Where("c.lei = " + p.Add(strings.ToUpper(by.LEI)) + " AND c.lei <> ''")
	}
	if by.Type != "" {
		q = q.Where("c.type = " + p.Add(string(by.Type)))
	}
	if by.Status != "" {
		q = q.Where("c.status = " + p.Add(string(by.Status)))
	}
	if by.Parent != 0 {
		q = q.Where("c.parent = " + p.Add(by.Parent))
	}
	return q
}

// TaxIDColumn is the place that tax ids are sealed for.
const TaxIDColumn = "customers.tax_id"

// wordPrefixes turns what a person typed into a text search in which every word is a prefix.
// Only letters and digits count, so no operator of the search language gets through.
func wordPrefixes(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !wordRune(r) })
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
	p := db.Params{caller.Tenant, caller.Owner(), w.Limit()}
	q := by.where(within(db.Select[Customer](db.Or[Customer](want).And(identity), nil).Where("c.tenant = $1"), !caller.Institution), s, caller.Tenant, &p)
	direction, compare := "", ">"
	if w.Backward {
		direction, compare = " DESC", "<"
	}
	if by.Order == ByName {
		q = q.OrderExpr("lower(c.legal_name) COLLATE \"C\"" + direction + ", c.uid" + direction)
		if w.Cursor.UID != 0 {
			q = q.Where("(lower(c.legal_name) COLLATE \"C\", c.uid) " + compare + " (lower(" + p.Add(w.Cursor.Value) + "::text) COLLATE \"C\", " + p.Add(w.Cursor.UID) + "::bigint)")
		}
	} else {
		q = q.OrderExpr("c.uid" + direction)
		if w.Cursor.UID != 0 {
			q = q.Where("c.uid " + compare + " " + p.Add(w.Cursor.UID))
		}
	}
	text := q.String() + " LIMIT $3"
	if w.Offset > 0 {
		text += " OFFSET " + p.Add(w.Offset)
	}
	return db.Queue(b, listing.Get(text, func() string { return text }), p...)
}

// listing keeps the texts of List by themselves: there are as many as combinations of filters in use.
var listing db.Texts[Customer]

// Count reads how many customers a search finds. Without any filter it comes from the counters.
func (s *Service) Count(ctx context.Context, b *db.Batch, by Search) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.Owner()}
	if by.empty() {
		return db.Queue(b, countAll, p...)
	}
	q := by.where(within(db.Select0[Customer]("count(*) AS n").Where("c.tenant = $1"), !caller.Institution), s, caller.Tenant, &p)
	return db.Queue(b, db.NewText[db.Count](q.String()), p...)
}

var countAll = db.NewText[db.Count](`SELECT coalesce(sum(customers), 0)::bigint AS n FROM customer_counts WHERE tenant = $1 AND ($2 = 0::bigint OR owner = $2)`)
