package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/roles"
)

type (
	RoleConnection = Connection[roles.Role]
	RoleEdge       = Edge[roles.Role]
	RolePayload    = Payload[roles.Role]
)

// RoleDraft is what mutations say about a role.
type RoleDraft struct {
	Customer customers.UID
	UID      roles.UID
	roles.Draft
	Applications []roles.GrantDraft
	changes.RequestOptions
}

// Whole is the draft with its list.
func (d RoleDraft) Whole() roles.Draft {
	d.Draft.Applications = listed(d.Applications)
	return d.Draft
}

func listed[T any](list []T) given.Value[[]T] {
	return given.Value[[]T]{Given: list != nil, Value: list}
}
