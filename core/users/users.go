package users

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/core/roles"
	"bankgraph/db"
)

// Service keeps the users of every bank.
type Service struct {
	db        *db.DB
	customers *customers.Service
	roles     *roles.Service
	granted   Granted
	operations
}

// Granted is what a user's roles grant.
type Granted func(ctx context.Context, tenant access.Tenant, user uuid.UUID) (Grant, error)

// New makes the service. granted is for tests of those who ask for it: nil means what the database says.
func New(d *db.DB, c *customers.Service, r *roles.Service, all *changes.Service, granted Granted) *Service {
	s := &Service{db: d, customers: c, roles: r, granted: granted}
	if granted == nil {
		s.granted = s.Granted
	}
	s.declare(all)
	return s
}

var named = db.NewText[User](`SELECT login_id, first_name, last_name FROM users WHERE tenant = $1 AND lower(login_id COLLATE "C") = ANY($2)`)

// Named reads the names of the people with these login ids: a customer's officers are shown by name.
func (s *Service) Named(ctx context.Context, b *db.Batch, logins []string) *db.Many[string, User] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[string, User](err)
	}
	folded := make([]string, len(logins))
	for i, login := range logins {
		folded[i] = ident.Fold(login)
	}
	return db.QueueMany(b, named, func(u *User) string { return ident.Fold(u.LoginID) }, caller.Tenant, folded)
}

var identity = db.Want[User]("UID", "Number", "Customer")

// Search is what a list of users is narrowed to. Empty fields do not count; all others must hold.
type Search struct {
	LoginID      string // exact, like everything but the names; nothing regards letter case
	FirstName    string // begins so
	LastName     string // begins so
	EmailAddress string
	PhoneNumber  string // however it is written, with the country's code
	Status       Status
	ShortName    string // of the legal entity
}

func (by Search) where(p *db.Params) (all db.Conditions) {
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
		all = append(all, "EXISTS (SELECT FROM customers AS c WHERE c.tenant = $1 AND c.uid = u.customer AND lower(c.short_name COLLATE \"C\") = "+p.Add(ident.Fold(by.ShortName))+")")
	}
	return all
}

// dialled are the digits of a telephone number, with the + before them: so it is stored.
func dialled(number string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -()", r) {
			return -1
		}
		return r
	}, number)
}

type shape struct {
	want  db.Columns
	reach access.Reach
	where string
	cut   db.Cut
}

var (
	ofCustomers db.Texts[User]
	counting    db.Texts[db.Count]
	finding     db.Texts[User]
)

// OfCustomers reads a window of the users of each customer, in the order in which they came. The caller shows them
// only where the customer itself came back: that is where its scope is checked.
func (s *Service) OfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, by Search, want db.Columns, w page.Window) *db.Many[customers.UID, User] {
	caller, err := access.Require(ctx, access.ViewUsers)
	if err != nil {
		return db.Refuse[customers.UID, User](err)
	}
	want = db.Or[User](want).And(identity)
	p := db.Params{caller.Tenant}
	cut := db.CutOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, w.Backward)
	where := by.where(&p)
	text := ofCustomers.Get(shape{want: want, where: where.Key(), cut: cut}, func() string {
		return cut.Text(where.On(db.Select[User](want, nil).Where("u.tenant = $1")), "u.customer", "u.number")
	})
	return db.QueueMany(b, text, func(u *User) customers.UID { return u.Customer }, p...)
}

// CountOfCustomers counts the users of each customer that a search finds.
func (s *Service) CountOfCustomers(ctx context.Context, b *db.Batch, of []customers.UID, by Search) *db.Many[customers.UID, db.Count] {
	caller, err := access.Require(ctx, access.ViewUsers)
	if err != nil {
		return db.Refuse[customers.UID, db.Count](err)
	}
	p := db.Params{caller.Tenant, of}
	where := by.where(&p)
	text := counting.Get(shape{where: where.Key()}, func() string {
		return where.On(db.Select0[User]("u.customer AS of, count(*) AS n").Where("u.tenant = $1").Where("u.customer = ANY($2)")).Group("u.customer").String()
	})
	return db.QueueMany(b, text, func(c *db.Count) customers.UID { return customers.UID(c.Of) }, p...)
}

// FindMany reads users by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, User] {
	caller, err := access.Require(ctx, access.ViewUsers)
	if err != nil {
		return db.Refuse[UID, User](err)
	}
	want = db.Or[User](want).And(identity)
	text := finding.Get(shape{want: want, reach: caller.Reach}, func() string {
		q := db.Select[User](want, nil).Where("u.tenant = $1").Where("u.uid = ANY($3::text[]::uuid[])")
		return customers.Within(q, "u", caller.Reach).String()
	})
	return db.QueueMany(b, text, func(u *User) UID { return u.UID }, caller.Tenant, caller.Within(), roles.Texts(uids))
}

// Shown is a user as partners see it (rest/CONTRACT.md, user answers): with the short name of its legal
// entity and the names of its roles.
type Shown struct {
	*User
	ShortName string
	RoleNames []string
}

// Find reads one user of a customer. A customer that is not the caller's to see is customers.ErrOutOfScope or
// customers.ErrNotFound, a user that is not of the customer ErrNotFound.
func (s *Service) Find(ctx context.Context, of customers.UID, uid UID) (*Shown, error) {
	if _, err := access.Require(ctx, access.ViewUsers); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, of)
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	held := s.roles.OfUsers(ctx, b, []uuid.UUID{uid.UUID}, db.Want[roles.Role]("Name"))
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
func (s *Service) Page(ctx context.Context, of customers.UID, by Search, w page.Window) (page.Counted[*Shown], error) {
	var none page.Counted[*Shown]
	if _, err := access.Require(ctx, access.ViewUsers); err != nil {
		return none, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, of)
	list := s.OfCustomers(ctx, b, []customers.UID{of}, by, db.Columns{}, w)
	count := s.CountOfCustomers(ctx, b, []customers.UID{of}, by)
	if err := b.Send(ctx); err != nil {
		return none, err
	}
	customer, err := scope.Check()
	if err != nil {
		return none, err
	}
	found := page.Counted[*Shown]{Total: db.CountOf(count, of)}
	for _, u := range page.Cut(list.Of[of], w).Items {
		found.Items = append(found.Items, &Shown{User: u, ShortName: customer.ShortName})
	}
	return found, nil
}

// Granted is what an active user may do, for a token that speaks for the person; of anybody else it is nothing.
// There is no caller yet.
func (s *Service) Granted(ctx context.Context, tenant access.Tenant, user uuid.UUID) (Grant, error) {
	u := new(User)
	err := s.db.NewSelect().Model(u).Where("u.tenant = ?", tenant).Where("u.uid = ?", user.String()).Where("u.status = ?", Active).Limit(1).Scan(ctx)
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
