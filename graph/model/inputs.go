package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/limits"
	"bankgraph/core/signatories"
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

// LimitDrafts are what mutations say about a customer's limits.
type LimitDrafts struct {
	Customer customers.UID
	Limits   []limits.Draft
	changes.Terms
}
