package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/core/roles"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"subjects", "user_roles", "users"},
	Reads: map[string]string{
		"customers": "who acts is read with the legal entity, and users are searched for by its short name",
		"issuers":   "a link names an issuer that the bank accepts: issuers come after users",
		"tenants":   "the bank's currency: tenants come after users",
	},
}

// Service keeps the users of every bank.
type Service struct {
	db        *db.DB
	customers *customers.Service
	roles     *roles.Service
	granted   Granted
	operations
}

// Granted returns what a user may do.
type Granted func(ctx context.Context, tenant access.Tenant, user uuid.UUID) (Grant, error)

// New makes the service. granted replaces the answer of Service.Granted in tests of its callers; nil means
// the database.
func New(d *db.DB, c *customers.Service, r *roles.Service, all *changes.Service, granted Granted) *Service {
	s := &Service{db: d, customers: c, roles: r, granted: granted}
	if granted == nil {
		s.granted = s.Granted
	}
	s.declare(all)
	c.OnLeaving(s.leaveTx)
	return s
}

var identity = db.ColumnsOf[User]("UID", "Number", "Customer")

// Search narrows a list of users. All fields that are not empty must match, without regard to letter case.
type Search struct {
	LoginID      string // exact
	FirstName    string // begins so
	LastName     string // begins so
	EmailAddress string
	PhoneNumber  string // exact, in any notation with the country code
	Status       Status
	ShortName    string // of the legal entity
}

func (by Search) where(_ access.Tenant, p *db.Params) (all db.Conditions) {
	equal := func(column, value string) {
		if value != "" {
			all = append(all, "lower("+column+` COLLATE "C") = `+p.Add(ident.Fold(value)))
		}
	}
	begins := func(column, value string) {
		if value != "" {
			all = append(all, "starts_with(lower("+column+"), lower("+p.Add(value)+"))")
		}
	}
	equal("u.login_id", by.LoginID)
	begins("u.first_name", by.FirstName)
	begins("u.last_name", by.LastName)
	equal("u.email_address", by.EmailAddress)
	equal("u.phone_number", dialled(by.PhoneNumber))
	equal("u.status", string(by.Status))
	if by.ShortName != "" {
		all = append(all,
			"EXISTS (SELECT FROM customers AS c WHERE c.tenant = $1 AND c.uid = u.customer "+
				"AND lower(c.short_name COLLATE \"C\") = "+p.Add(ident.Fold(by.ShortName))+")")
	}
	return all
}

// dialled returns a telephone number in its stored form: a + and the digits.
func dialled(number string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -()", r) {
			return -1
		}
		return r
	}, number)
}

var ofCustomers = customers.Children[User]{
	Needs: access.ViewUsers, Table: "u", Key: "number", Select: selecting,
	Customer: func(u *User) customers.UID { return u.Customer },
}

func selecting(want db.Columns) *bun.SelectQuery {
	return db.Select[User](db.Or[User](want).And(identity), nil)
}

// OfCustomers reads a window of the users of each customer, in the order of their creation.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window,
) *db.Many[customers.UID, User] {
	return ofCustomers.List(ctx, b, of, by.where, want, w)
}

// CountOfCustomers counts the users of each customer that a search finds.
func (s *Service) CountOfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID, by Search,
) *db.Many[customers.UID, db.Count] {
	return ofCustomers.Count(ctx, b, of, by.where, 0)
}

// queryKey is what the SQL of the other reads depends on.
type queryKey struct {
	want  db.Columns
	reach access.Reach
}

var finding db.QueryCache[User]

// FindMany reads users by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(
	ctx context.Context, b *db.Batch, uids []UID, want db.Columns,
) *db.Many[UID, User] {
	caller, err := access.Require(ctx, access.ViewUsers)
	if err != nil {
		return db.Refuse[UID, User](err)
	}
	text := finding.Get(queryKey{want, caller.Reach}, func() string {
		return selecting(want).Where("u.tenant = $1").Where("u.uid = ANY($3::text[]::uuid[])").
			Where(caller.Reach.Scope("u.customer")).String()
	})
	return db.QueueMany(b, text, func(u *User) UID { return u.UID }, caller.Tenant, caller.ScopeCustomer(),
		roles.Texts(uids))
}

// Shown is a user as partners see it (rest/CONTRACT.md, user answers): with the short name of its legal
// entity and the names of its roles.
type Shown struct {
	*User
	ShortName string
	RoleNames []string
}

// Find reads one user of a customer. It returns customers.ErrNotFound or customers.ErrOutOfScope for the
// customer, and ErrNotFound if the customer has no such user.
func (s *Service) Find(ctx context.Context, of customers.UID, uid UID) (*Shown, error) {
	if _, err := access.Require(ctx, access.ViewUsers); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, of)
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	held := s.roles.OfUsers(ctx, b, []uuid.UUID{uid.UUID}, db.ColumnsOf[roles.Role]("Name"))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	customer, err := scope.Check()
	if err != nil {
		return nil, err
	}
	if len(found.Of[uid]) == 0 || found.Of[uid][0].Customer != of {
		return nil, ErrNotFound
	}
	shown := &Shown{User: found.Of[uid][0], ShortName: customer.ShortName}
	for _, r := range held.Of[uid.UUID] {
		shown.RoleNames = append(shown.RoleNames, r.Name)
	}
	return shown, nil
}

// Page reads a page of the users of one customer that a search finds, without their roles.
func (s *Service) Page(
	ctx context.Context, of customers.UID, by Search, w page.Window,
) (page.Counted[*Shown], error) {
	customer, all, err := ofCustomers.Page(ctx, s.customers, of, by.where, db.Columns{}, w)
	found := page.Counted[*Shown]{Total: all.Total}
	for _, u := range all.Items {
		found.Items = append(found.Items, &Shown{User: u, ShortName: customer.ShortName})
	}
	return found, err
}

// Granted returns what an active user may do, and nothing for anybody else. It serves the check of a token,
// so it needs no caller.
func (s *Service) Granted(ctx context.Context, tenant access.Tenant, user uuid.UUID) (Grant, error) {
	u := new(User)
	err := s.db.NewSelect().Model(u).Where("u.tenant = ?", tenant).Where("u.uid = ?", user.String()).
		Where("u.status = ?", Active).Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return Grant{}, nil
	}
	var all []*roles.Role
	if err == nil {
		all, err = s.roles.ActiveOf(ctx, tenant, user)
	}
	if err != nil {
		return Grant{}, fmt.Errorf("find what user %s may do: %w", user, err)
	}
	return granted(u.Limits, all), nil
}
