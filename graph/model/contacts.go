package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
)

type (
	ContactConnection = Connection[contacts.Contact]
	ContactEdge       = Edge[contacts.Contact]
	ContactPayload    = Payload[contacts.Contact]
)

// ContactDraft is what mutations say about a contact.
type ContactDraft struct {
	Customer customers.UID
	UID      contacts.UID
	contacts.Draft
	changes.RequestOptions
}

// NoticeDraft is what a mutation says of a notice of change that a contact is to follow.
type NoticeDraft struct {
	Payment payments.UID
	Code    string
	changes.RequestOptions
}
