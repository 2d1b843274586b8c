package contacts

import (
	"context"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Service keeps the contacts of every bank's customers.
type Service struct {
	db        *db.DB
	keys      *seal.Keys
	customers *customers.Service
	now       func() time.Time
	operations
}

// New makes the service.
func New(d *db.DB, keys *seal.Keys, c *customers.Service, all *changes.Service, now func() time.Time) *Service {
	s := &Service{db: d, keys: keys, customers: c, now: now}
	s.declare(all)
	return s
}

var identity = db.Want[Contact]("UID", "Customer")

// Search is what a list of contacts is narrowed to. Empty fields do not count; all others must hold.
type Search struct {
	Name          string // begins so, without regard to letter case
	AccountNumber string // exact, but for spaces
}

// where are the conditions that narrow a query; p collects the values.
func (by Search) where(s *Service, tenant access.Tenant, p *db.Params) (all db.Conditions) {
	all = append(all, "k.status <> 'Refused'")
	if by.Name != "" {
		all = append(all, "starts_with(lower(k.name), lower("+p.Add(by.Name)+"::text))")
	}
	if by.AccountNumber != "" {
		all = append(all, "k.bank_account_number_hash = ANY("+p.Add(s.keys.Hashes(int64(tenant), NumberColumn, strings.ReplaceAll(by.AccountNumber, " ", "")))+")")
	}
	return all
}

// shape is what the text of a read depends on.
type shape struct {
	want  db.Columns
	reach access.Reach
	cut   db.Cut
	where string
}

var ofCustomers db.Texts[Contact]

// OfCustomers reads a window of the contacts of each customer, by UID. The caller shows them only where
// the customer itself came back: that is where its scope is checked.
func (s *Service) OfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window) *db.Many[customers.UID, Contact] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[customers.UID, Contact](err)
	}
	want = db.Or[Contact](want).And(identity)
	p := db.Params{caller.Tenant}
	cut := db.CutOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(s, caller.Tenant, &p)
	text := ofCustomers.Get(shape{want: want, cut: cut, where: where.Key()}, func() string {
		return cut.Text(where.On(db.Select[Contact](want, nil).Where("k.tenant = $1")), "k.customer", "k.uid")
	})
	return db.QueueMany(b, text, func(k *Contact) customers.UID { return k.Customer }, p...)
}

var countOf db.Texts[db.Count]

// CountOfCustomers counts the contacts of each customer.
func (s *Service) CountOfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, by Search) *db.Many[customers.UID, db.Count] {
	return s.CountUpTo(ctx, b, of, by, 0)
}

// CountUpTo is CountOfCustomers that stops at most contacts of each, where most is not 0.
func (s *Service) CountUpTo(ctx context.Context, b *db.Batch, of []customers.UID, by Search, most int64) *db.Many[customers.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[customers.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, of}
	where := by.where(s, caller.Tenant, &p)
	limit := p.Up(most)
	text := countOf.Get(where.Key()+limit, func() string {
		q := db.Select0[Contact]("1").Where("k.tenant = $1").Where("k.customer = p.parent")
		return db.CountEachText("unnest($2::bigint[]) AS p(parent)", "p.parent", where.On(q), limit)
	})
	return db.QueueMany(b, text, func(c *db.Count) customers.UID { return customers.UID(c.Of) }, p...)
}

var finding db.Texts[Contact]

// FindMany reads contacts by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, Contact] {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return db.Refuse[UID, Contact](err)
	}
	want = db.Or[Contact](want).And(identity)
	text := finding.Get(shape{want: want, reach: caller.Reach}, func() string {
		q := db.Select[Contact](want, nil).Where("k.tenant = $1").Where("k.uid = ANY($3)").Where("k.status <> 'Refused'")
		return customers.Within(q, "k", caller.Reach).String()
	})
	return db.QueueMany(b, text, func(k *Contact) UID { return k.UID }, caller.Tenant, caller.Within(), uids)
}
