package signatories

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"signatories"},
	Reads: map[string]string{
		"tenants": "the bank's currency, in the statement that takes the next number",
	},
}

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

// ErrPartner is returned when the caller's token names no partner; only an external issuer can make such a
// token.
var ErrPartner = fault.Field("signatory", "partnerId", fault.Required,
	"the caller's partner identifier is missing")

var identity = db.ColumnsOf[Signatory]("UID", "Customer")

var ofCustomers = customers.Children[Signatory]{
	Needs: access.ViewSignatories, Table: "g", Key: "uid", Shown: db.Conditions{"g.status <> 'Deleted'"},
	Select: selecting, Customer: func(g *Signatory) customers.UID { return g.Customer },
}

func selecting(want db.Columns) *bun.SelectQuery {
	want = db.Or[Signatory](want).And(identity)
	if want.Overlaps(db.ColumnsOf[Signatory]("LimitMinor")) {
		want = want.And(db.ColumnsOf[Signatory]("Currency"))
	}
	return db.Select[Signatory](want, nil)
}

// OfCustomers reads a window of the signatories of each customer, by UID.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, want db.Columns, w page.Window,
) *db.Many[customers.UID, Signatory] {
	return ofCustomers.List(ctx, b, of, nil, want, w)
}

// CountOfCustomers counts the signatories of each customer.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, nil, 0)
}

// Of reads a page of the signatories of one customer. It checks in the published order (rest/CONTRACT.md,
// signatory checks): the partner identifier, whether the customer exists, whether the caller may see it.
func (s *Service) Of(
	ctx context.Context, customer customers.UID, w page.Window,
) (page.Of[*Signatory], error) {
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

// queryKey is what the SQL of a read by UID depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
}

var finding db.QueryCache[Signatory]

// FindMany reads signatories by UID. Those of customers that the caller may not see, and deleted ones, are
// absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Signatory] {
	caller, err := access.Require(ctx, access.ViewSignatories)
	if err != nil {
		return db.Refuse[UID, Signatory](err)
	}
	text := finding.Get(queryKey{want, caller.Reach}, func() string {
		return ofCustomers.Shown.On(selecting(want)).Where("g.tenant = $1").Where("g.uid = ANY($3)").
			Where(caller.Reach.Scope("g.customer")).String()
	})
	return db.QueueMany(b, text, func(g *Signatory) UID { return g.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}
