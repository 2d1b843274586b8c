package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
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
