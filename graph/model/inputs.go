package model

import (
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/given"
	"bankgraph/core/roles"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
)

// The inputs of mutations: what core reads of a thing, to whom it belongs or which one it is, and the terms of
// the change. One struct serves all mutations of a kind of thing; each input of the schema fills what it has.

// Decision is what a second person says of a change.
type Decision struct {
	UID changes.UID
	changes.Terms
}

// SignatoryDraft is what mutations say about a signatory.
type SignatoryDraft struct {
	Customer customers.UID
	UID      signatories.UID
	signatories.Draft
	changes.Terms
}

// ContactDraft is what mutations say about a contact.
type ContactDraft struct {
	Customer customers.UID
	UID      contacts.UID
	contacts.Draft
	changes.Terms
}

// CustomerDraft is what mutations say about a customer.
type CustomerDraft struct {
	UID customers.UID
	customers.Draft
	changes.Terms
}

// UserDraft is what mutations say about a user. Lists stand here for those of the draft: where they are not given they
// are nil.
type UserDraft struct {
	Customer customers.UID
	UID      users.UID
	users.Draft
	RoleNames         []string
	ApplicationLimits []users.LimitsDraft
	changes.Terms
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
	changes.Terms
}

// RoleDraft is what mutations say about a role.
type RoleDraft struct {
	Customer customers.UID
	UID      roles.UID
	roles.Draft
	Applications []roles.GrantDraft
	changes.Terms
}

// Whole is the draft with its list.
func (d RoleDraft) Whole() roles.Draft {
	d.Draft.Applications = listed(d.Applications)
	return d.Draft
}

func listed[T any](list []T) given.Value[[]T] {
	return given.Value[[]T]{Given: list != nil, Value: list}
}

// LimitDrafts are what mutations say about a customer's limits.
type LimitDrafts struct {
	Customer customers.UID
	Limits   []customers.Ceiling // by this name gqlgen writes the same code each time; limits.Draft is another for it
	changes.Terms
}

// AccountDraft is what mutations say about an account.
type AccountDraft struct {
	Customer customers.UID
	UID      accounts.UID
	accounts.Draft
	changes.Terms
}

// SweepDraft is what mutations say about a sweep.
type SweepDraft struct {
	accounts.SweepName
	accounts.SweepDraft
	changes.Terms
}

// FeeTierDraft is what mutations say about a fee tier.
type FeeTierDraft struct {
	Customer customers.UID
	UID      fees.ID
	fees.Draft
	changes.Terms
}
