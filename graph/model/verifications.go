package model

import (
	"bankgraph/core/changes"
	"bankgraph/core/verifications"
)

type (
	ContactVerificationConnection = Connection[verifications.Verification]
	ContactVerificationEdge       = Edge[verifications.Verification]
	ContactVerificationPayload    = Payload[verifications.Verification]
)

// ContactVerificationDraft is what mutations say about a verification of a contact.
type ContactVerificationDraft struct {
	UID     verifications.UID
	Amounts []string
	verifications.Draft
	changes.RequestOptions
}

// ConfirmContactVerificationPayload is the answer of confirmContactVerification.
type ConfirmContactVerificationPayload struct {
	Object   *verifications.Verification
	Matched  bool
	Replayed bool
}
