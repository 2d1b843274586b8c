package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/db"
	"bankgraph/graph/scalar"
)

// Users and roles. Their keys are UUIDs; their places in lists are numbers.
var (
	userKind = newKind[users.User]("User", map[string][]string{
		"history": {"UID"},
		"id":      {"UID"}, "name": {"FirstName", "LastName", "LoginID"}, "email": {"EmailAddress"}, "applicationLimits": {"Limits"},
		"limits": {"Limits"}, "roles": {"UID"}, "customer": {"Customer"},
	})
	roleKind = newKind[roles.Role]("Role", map[string][]string{"id": {"UID"}, "customer": {"Customer"}, "history": {"UID"}})

	customerUsers = placed(customerUID, list[customers.UID, users.UID, users.User, users.Search]{
		rows: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by users.Search, want db.Columns, w window) *db.Many[customers.UID, users.User] {
			return o.core.Users.OfCustomers(ctx, b, of, by, want, w)
		},
		count: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by users.Search) *db.Many[customers.UID, db.Count] {
			return o.core.Users.CountOfCustomers(ctx, b, of, by)
		},
		key: userUID, place: func(u *users.User) int64 { return int64(u.Number) }, kind: func() *kind { return userKind },
	})
	customerRoles = placed(customerUID, list[customers.UID, roles.UID, roles.Role, roles.Search]{
		rows: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by roles.Search, want db.Columns, w window) *db.Many[customers.UID, roles.Role] {
			return o.core.Roles.OfCustomers(ctx, b, of, by, want, w)
		},
		count: func(ctx context.Context, o *operation, b *db.Batch, of []customers.UID, by roles.Search) *db.Many[customers.UID, db.Count] {
			return o.core.Roles.CountOfCustomers(ctx, b, of, by)
		},
		key: roleUID, place: func(r *roles.Role) int64 { return int64(r.Number) }, kind: func() *kind { return roleKind },
	})
	userRoles    = &relation[users.User, users.UID, []*roles.Role]{key: userUID, queue: queueRoles}
	userLimits   = &relation[users.User, users.UID, []*access.ApplicationLimits]{key: userUID, queue: queueBounds, late: true}
	userCustomer = toCustomer(userUID, func(u *users.User) *customers.UID { return &u.Customer })
	roleCustomer = toCustomer(roleUID, func(r *roles.Role) *customers.UID { return &r.Customer })
)

func init() {
	userKind.relations = map[string]planner{"roles": userRoles, "limits": userLimits, "customer": userCustomer, "history": userHistory}
	roleKind.relations = map[string]planner{"customer": roleCustomer, "history": roleHistory}
}

func userUID(u *users.User) users.UID { return u.UID }
func roleUID(r *roles.Role) roles.UID { return r.UID }

// userOf and roleOf read what stands behind the prefix of a global id.
func userOf(text string) (users.UID, error) { return scalar.UnmarshalUserUID(text) }
func roleOf(text string) (roles.UID, error) { return scalar.UnmarshalRoleUID(text) }

// queueRoles reads the roles of users.
func queueRoles(ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField) (func(users.UID) ([]*roles.Role, error), step) {
	want, relations := roleKind.wants(ctx, f.Selections)
	queued := b.Len()
	held := o.core.Roles.OfUsers(ctx, b, uuids(s), want)
	of := func(uid users.UID) ([]*roles.Role, error) { return rolesIn(held, uid), held.Err }
	if len(relations) == 0 || b.Len() == queued { // nothing hangs below what is refused
		return of, nil
	}
	return of, func(ctx context.Context, next *db.Batch) []step {
		var shown []*roles.Role
		for _, uid := range s.keys.([]users.UID) {
			shown = append(shown, rolesIn(held, uid)...)
		}
		return under(ctx, o, next, roleKind, shown, each(shown, func(r *roles.Role) (roles.UID, bool) { return r.UID, true }), relations)
	}
}

// queueBounds reads the roles of users for the limits that count.
func queueBounds(ctx context.Context, o *operation, b *db.Batch, s *siblings, _ graphql.CollectedField) (func(users.UID) ([]*access.ApplicationLimits, error), step) {
	held := o.core.Roles.OfUsers(ctx, b, uuids(s), db.Want[roles.Role]("Status", "Type", "Applications"))
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

// rolesIn are the roles of one user in an answer, an empty list where it has none.
func rolesIn(held *db.Many[uuid.UUID, roles.Held], uid users.UID) []*roles.Role {
	all := []*roles.Role{}
	for _, h := range held.Of[uid.UUID] {
		all = append(all, &h.Role)
	}
	return all
}
