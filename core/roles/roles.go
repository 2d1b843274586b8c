package roles

import (
	"context"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"roles"},
	Reads: map[string]string{
		"tenants":    "the bank's currency: tenants come after roles",
		"user_roles": "the roles of users are read in one statement: users come after roles",
	},
}

// Service keeps the roles of every bank's legal entities.
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

var identity = db.ColumnsOf[Role]("UID", "Number", "Customer")

// Search narrows a list of roles. An empty field matches all.
type Search struct {
	Name string // prefix, without regard to letter case
}

func (by Search) where(_ access.Tenant, p *db.Params) (all db.Conditions) {
	if by.Name != "" {
		all = append(all, "starts_with(lower(r.name), lower("+p.Add(by.Name)+"))")
	}
	return all
}

var ofCustomers = customers.Children[Role]{
	Needs: access.ViewUsers, Table: "r", Key: "number", Select: selecting,
	Customer: func(r *Role) customers.UID { return r.Customer },
}

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[Role](db.Or[Role](want).And(identity), nil)
}

// OfCustomers reads a window of the roles of each customer, in the order of their creation.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, Role] {
	return ofCustomers.List(ctx, b, of, by.where, want, w)
}

// CountOfCustomers counts the roles of each customer that a search finds.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, by.where, 0)
}

// Page reads a page of the roles of one customer that a search finds. It returns customers.ErrNotFound or
// customers.ErrOutOfScope for the customer.
func (s *Service) Page(
	ctx context.Context, of customers.UID, by Search, w page.Window,
) (page.Counted[*Role], error) {
	_, found, err := ofCustomers.Page(ctx, s.customers, of, by.where, db.Columns{}, w)
	return found, err
}

// queryKey is what the SQL of the other reads depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
}

var finding db.QueryCache[Role]

// FindMany reads roles by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, Role] {
	caller, err := access.Require(ctx, access.ViewUsers)
	if err != nil {
		return db.Refuse[UID, Role](err)
	}
	text := finding.Get(queryKey{want, caller.Reach}, func() string {
		return selecting(want).Where("r.tenant = $1").Where("r.uid = ANY($3::text[]::uuid[])").
			Where(caller.Reach.Scope("r.customer")).String()
	})
	return db.QueueMany(b, text, func(r *Role) UID { return r.UID }, caller.Tenant, caller.ScopeCustomer(),
		Texts(uids))
}

// Texts returns UUIDs as text, for the driver.
func Texts[U interface{ String() string }](uids []U) []string {
	texts := make([]string, len(uids))
	for i, uid := range uids {
		texts[i] = uid.String()
	}
	return texts
}

// Find reads one role of a customer. It returns customers.ErrNotFound or customers.ErrOutOfScope for the
// customer, and ErrNotFound if the customer has no such role.
func (s *Service) Find(ctx context.Context, of customers.UID, uid UID) (*Role, error) {
	if _, err := access.Require(ctx, access.ViewUsers); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, of)
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if _, err := scope.Check(); err != nil {
		return nil, err
	}
	if len(found.Of[uid]) == 0 || found.Of[uid][0].Customer != of {
		return nil, ErrNotFound
	}
	return found.Of[uid][0], nil
}

var ofUsers db.QueryCache[Held]

// OfUsers reads the roles of each user, in the order of their creation.
func (s *Service) OfUsers(
	ctx context.Context, b *db.Batch, of []uuid.UUID, want db.Columns,
) *db.Many[uuid.UUID, Held] {
	caller, err := access.Require(ctx, access.ViewUsers)
	if err != nil {
		return db.Refuse[uuid.UUID, Held](err)
	}
	want = db.Or[Role](want).And(identity)
	text := ofUsers.Get(queryKey{want, caller.Reach}, func() string {
		return db.Select[Role](want, nil).ColumnExpr("h.user_uid AS holder").
			Join("JOIN user_roles AS h ON h.tenant = r.tenant AND h.customer = r.customer " +
				"AND h.role_uid = r.uid").
			Where("h.tenant = $1").Where("h.user_uid = ANY($3::text[]::uuid[])").
			Where(caller.Reach.Scope("r.customer")).OrderExpr("r.number").String()
	})
	return db.QueueMany(b, text, func(h *Held) uuid.UUID { return h.Holder.UUID }, caller.Tenant,
		caller.ScopeCustomer(), Texts(of))
}

// ActiveOf returns the active roles of a user. It serves the check of a token, so it needs no caller.
func (s *Service) ActiveOf(ctx context.Context, tenant access.Tenant, user uuid.UUID) ([]*Role, error) {
	var all []*Role
	err := s.db.NewSelect().Model(&all).
		Join("JOIN user_roles AS h ON h.tenant = r.tenant AND h.customer = r.customer "+
			"AND h.role_uid = r.uid").
		Where("r.tenant = ?", tenant).Where("h.user_uid = ?", user.String()).Where("r.status = ?", Active).
		OrderExpr("r.number").Scan(ctx)
	return all, err
}
