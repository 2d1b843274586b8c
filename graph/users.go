package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// A user's key is a UUID; its place in lists is a number.
var userKind = declare("User", kind[users.UID, users.User]{
	prefix:  scalar.UserPrefix,
	find:    func(c *core.Core) finder[users.UID, users.User] { return c.Users.FindMany },
	key:     func(u *users.User) users.UID { return u.UID },
	parse:   scalar.UnmarshalUserUID,
	place:   func(u *users.User) int64 { return int64(u.Number) },
	columns: columns{"name": {"FirstName", "LastName", "LoginID"}},
})

func init() {
	hasCustomer(userKind, "customer", func(u *users.User) *customers.UID { return &u.Customer })
	hasMany(customerKind, "users", userKind, pages(
		func(c *core.Core) *users.Service { return c.Users },
		(*users.Service).OfCustomers, (*users.Service).CountOfCustomers,
	))
	has(userKind, "roles", queueRoles)
	has(userKind, "limits", queueBounds).late = true
	listSizes["User.roles"], listSizes["User.limits"], listSizes["User.applicationLimits"] = 3, 2, 2
	listSizes["ApplicationLimits.limits"] = 3
	prices["UserConnection.totalCount"] = countOne
	subjects["user"] = subject{
		codes: codes{fault.NotFound: "USER001", fault.State: "USER001", fault.Conflict: "USER001"},
	}
}

// queueRoles reads the roles of users.
func queueRoles(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(users.UID) ([]*roles.Role, error), step) {
	want, relations := roleKind.wants(ctx, f.Selections)
	queued := b.Len()
	held := o.core.Roles.OfUsers(ctx, b, uuids(s), want)
	of := func(uid users.UID) ([]*roles.Role, error) { return rolesIn(held, uid), held.Err }
	if len(relations) == 0 || b.Len() == queued { // a refused read has nothing below it
		return of, nil
	}
	return of, func(ctx context.Context, next *db.Batch) []step {
		var shown []*roles.Role
		for _, uid := range s.keys.([]users.UID) {
			shown = append(shown, rolesIn(held, uid)...)
		}
		return roleKind.under(ctx, o, next, shown, relations)
	}
}

var bounding = db.ColumnsOf[roles.Role]("Status", "Type", "Applications")

// queueBounds reads the roles of users, from which their effective limits follow.
func queueBounds(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField,
) (func(users.UID) ([]*access.ApplicationLimits, error), step) {
	held := o.core.Roles.OfUsers(ctx, b, uuids(s), bounding)
	own := map[users.UID]*users.User{}
	for _, u := range s.rows.([]*users.User) {
		own[u.UID] = u
	}
	return func(uid users.UID) ([]*access.ApplicationLimits, error) {
		if held.Err != nil {
			return nil, held.Err
		}
		all := []*access.ApplicationLimits{}
		for _, bounds := range own[uid].Bounds(rolesIn(held, uid)) {
			all = append(all, &bounds)
		}
		return all, nil
	}, nil
}

func uuids(s *siblings) []uuid.UUID {
	keys := s.keys.([]users.UID)
	all := make([]uuid.UUID, len(keys))
	for i, key := range keys {
		all[i] = key.UUID
	}
	return all
}

// rolesIn returns the roles of one user, or an empty list.
func rolesIn(held *db.Many[uuid.UUID, roles.Held], uid users.UID) []*roles.Role {
	all := []*roles.Role{}
	for _, h := range held.Of[uid.UUID] {
		all = append(all, &h.Role)
	}
	return all
}

func (m mutations) CreateUser(ctx context.Context, in model.UserDraft) (*model.UserPayload, error) {
	done, err := m.core.Users.Create(ctx, in.Customer, in.Whole(), in.RequestOptions)
	return userKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeUser(ctx context.Context, in model.UserDraft) (*model.UserPayload, error) {
	done, err := m.core.Users.Change(ctx, in.Customer, in.UID, in.Whole(), in.RequestOptions)
	return userKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) SuspendUser(ctx context.Context, in model.UserDraft) (*model.UserPayload, error) {
	done, err := m.core.Users.Suspend(ctx, in.Customer, in.UID, in.RequestOptions)
	return userKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ActivateUser(ctx context.Context, in model.UserDraft) (*model.UserPayload, error) {
	done, err := m.core.Users.Activate(ctx, in.Customer, in.UID, in.RequestOptions)
	return userKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) LinkSubject(ctx context.Context, in model.SubjectDraft) (*model.UserPayload, error) {
	done, err := m.core.Users.Link(ctx, in.UID, in.SubjectDraft, in.RequestOptions)
	return userKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) UnlinkSubject(ctx context.Context, in model.SubjectDraft) (*model.UserPayload, error) {
	done, err := m.core.Users.Unlink(ctx, in.UID, in.SubjectDraft, in.RequestOptions)
	return userKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
