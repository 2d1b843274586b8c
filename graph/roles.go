package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/roles"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

// A role's key is a UUID; its place in lists is a number.
var roleKind = declare("Role", kind[roles.UID, roles.Role]{
	prefix: scalar.RolePrefix,
	find:   func(c *core.Core) finder[roles.UID, roles.Role] { return c.Roles.FindMany },
	key:    func(r *roles.Role) roles.UID { return r.UID },
	parse:  scalar.UnmarshalRoleUID,
	place:  func(r *roles.Role) int64 { return int64(r.Number) },
})

func init() {
	hasCustomer(roleKind, "customer", func(r *roles.Role) *customers.UID { return &r.Customer })
	hasMany(customerKind, "roles", roleKind, pages(
		func(c *core.Core) *roles.Service { return c.Roles },
		(*roles.Service).OfCustomers, (*roles.Service).CountOfCustomers,
	))
	listSizes["Role.applications"], listSizes["RoleApplication.limits"] = 5, 3
	prices["RoleConnection.totalCount"] = countOne
	subjects["role"] = subject{codes: codes{fault.NotFound: "ROLE001", fault.Conflict: "ROLE001"}}
}

func (m mutations) CreateRole(ctx context.Context, in model.RoleDraft) (*model.RolePayload, error) {
	done, err := m.core.Roles.Create(ctx, in.Customer, in.Whole(), in.RequestOptions)
	return roleKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeRole(ctx context.Context, in model.RoleDraft) (*model.RolePayload, error) {
	done, err := m.core.Roles.Change(ctx, in.Customer, in.UID, in.Whole(), in.RequestOptions)
	return roleKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
