package signatories

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Service keeps the signatories of every bank's customers.
type Service struct {
	db        *db.DB
	customers *customers.Service
	operations
}

// New makes the service.
func New(d *db.DB, c *customers.Service, all *changes.Service) *Service {
	s := &Service{db: d, customers: c}
	s.declare(all)
	return s
}

// ErrPartner is a caller whose token names no partner: only an external issuer can make such a token.
var ErrPartner = fault.Field("signatory", "partnerId", fault.Required, "the caller's partner identifier is missing")

var identity = db.Want[Signatory]("UID", "Customer")

type shape struct {
	want  db.Columns
	reach access.Reach
	cut   db.Cut
}

var ofCustomers db.Texts[Signatory]

// OfCustomers reads a window of the signatories of each customer, by UID. The caller shows them only where
// the customer itself came back: that is where its scope is checked.
func (s *Service) OfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, want db.Columns, w page.Window) *db.Many[customers.UID, Signatory] {
	caller, err := access.Require(ctx, access.ViewSignatories)
	if err != nil {
		return db.Refuse[customers.UID, Signatory](err)
	}
	want = db.Or[Signatory](want).And(identity)
	if want.Overlaps(db.Want[Signatory]("LimitMinor")) {
		want = want.And(db.Want[Signatory]("Currency"))
	}
	p := db.Params{caller.Tenant}
	cut := db.CutOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	text := ofCustomers.Get(shape{want: want, cut: cut}, func() string {
		return cut.Text(db.Select[Signatory](want, nil).Where("g.tenant = $1").Where("g.status <> 'Deleted'"), "g.customer", "g.uid")
	})
	return db.QueueMany(b, text, func(g *Signatory) customers.UID { return g.Customer }, p...)
}

var countOf = db.NewText[db.Count](`SELECT customer AS of, count(*) AS n FROM signatories WHERE tenant = $1 AND customer = ANY($2) AND status <> 'Deleted' GROUP BY customer`)

// CountOfCustomers counts the signatories of each customer.
func (s *Service) CountOfCustomers(ctx context.Context, b *db.Batch, of []customers.UID) *db.Many[customers.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewSignatories)
	if err != nil {
		return db.Refuse[customers.UID, db.Count](err)
	}
	return db.QueueMany(b, countOf, func(c *db.Count) customers.UID { return customers.UID(c.Of) }, caller.Tenant, of)
}

// Of lists the signatories of one customer. It checks in the published order (rest/CONTRACT.md, signatory
// checks): the partner identifier, then that the customer exists, then that it is the caller's.
func (s *Service) Of(ctx context.Context, customer customers.UID, w page.Window) (page.Of[*Signatory], error) {
	var none page.Of[*Signatory]
	caller, err := access.Require(ctx, access.ViewSignatories)
	if err != nil {
		return none, err
	}
	if caller.Partner == 0 {
		return none, ErrPartner
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, customer)
	list := s.OfCustomers(ctx, b, []customers.UID{customer}, db.Columns{}, w)
	if err := b.Send(ctx); err != nil {
		return none, err
	}
	if _, err := scope.Check(); err != nil {
		return none, err
	}
	return page.Cut(list.Of[customer], w), list.Err
}

var finding db.Texts[Signatory]

// FindMany reads signatories by UID. Those of customers that the caller may not see, and deleted ones, are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, Signatory] {
	caller, err := access.Require(ctx, access.ViewSignatories)
	if err != nil {
		return db.Refuse[UID, Signatory](err)
	}
	want = db.Or[Signatory](want).And(identity).And(db.Want[Signatory]("Currency"))
	text := finding.Get(shape{want: want, reach: caller.Reach}, func() string {
		q := db.Select[Signatory](want, nil).Where("g.tenant = $1").Where("g.uid = ANY($3)").Where("g.status <> 'Deleted'")
		return customers.Within(q, "g", caller.Reach).String()
	})
	return db.QueueMany(b, text, func(g *Signatory) UID { return g.UID }, caller.Tenant, caller.Within(), uids)
}
