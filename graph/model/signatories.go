package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/signatories"
)

type (
	SignatoryConnection = Connection[signatories.Signatory]
	SignatoryEdge       = Edge[signatories.Signatory]
	SignatoryPayload    = Payload[signatories.Signatory]
)

// SignatoryDraft is what mutations say about a signatory.
type SignatoryDraft struct {
	Customer customers.UID
	UID      signatories.UID
	signatories.Draft
	changes.RequestOptions
}
