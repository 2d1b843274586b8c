package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
)

// InformationDraft is what requestInformation says.
type InformationDraft struct {
	UID payments.UID
	payments.InformationDraft
	changes.RequestOptions
}

// IncomingInquiry is what playInformationRequest says.
type IncomingInquiry struct {
	sandbox.Inquiry
	changes.RequestOptions
}
