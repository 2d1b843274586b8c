package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/users"
)

type (
	UserConnection = Connection[users.User]
	UserEdge       = Edge[users.User]
	UserPayload    = Payload[users.User]
	SubjectPayload = Payload[users.User]
)

// UserDraft is what mutations say about a user. Its own lists, nil if not given, replace those of the draft.
type UserDraft struct {
	Customer customers.UID
	UID      users.UID
	users.Draft
	RoleNames         []string
	ApplicationLimits []users.LimitsDraft
	changes.RequestOptions
}

// Whole is the draft with its lists.
func (d UserDraft) Whole() users.Draft {
	d.Draft.RoleNames = listed(d.RoleNames)
	d.Draft.Limits = listed(d.ApplicationLimits)
	return d.Draft
}

// SubjectDraft is what mutations say about who a user is at an issuer.
type SubjectDraft struct {
	UID users.UID
	users.SubjectDraft
	changes.RequestOptions
}
