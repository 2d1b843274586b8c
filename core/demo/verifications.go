package demo

import (
	"bankgraph/core/access"
	"bankgraph/core/payments"
	"bankgraph/core/verifications"
)

// Verification returns the UID of the n-th customer's k-th verification of a contact, k from 0.
func Verification(n int64, k int) verifications.UID {
	return verifications.UID(n*verificationsAt + int64(k))
}

// verificationsAt is how many numbers of verifications each customer has.
const verificationsAt = 2

// verificationsOf returns what the first customer, and the partner's first one, have found out about their
// first two contacts: the account of the one is there, that of the other is not.
func (b *bank) verificationsOf(n int64) []*verifications.Verification {
	if Customer(n) != First && Customer(n) != PartnersFirst {
		return nil
	}
	is, isNot := b.verification(n, 0), b.verification(n, 1)
	verified := b.start.AddDate(0, 0, -20).UTC()
	is.State, is.VerifiedAt, is.UpdatedAt = verifications.Verified, &verified, verified
	isNot.State, isNot.FailureCode, isNot.Failure = verifications.Failed, "R03", payments.MeaningOf("R03")
	return []*verifications.Verification{is, isNot}
}

// verification makes a verification of a contact by a prenote that left a month ago.
func (b *bank) verification(n int64, k int) *verifications.Verification {
	at := b.start.AddDate(0, 0, -27+k).UTC()
	return &verifications.Verification{
		Tenant: b.tenant, UID: Verification(n, k), Contact: Contact(n, k), Customer: Customer(n),
		Account: Account(n, 0), Method: verifications.Prenote, Prenote: payments.PrenoteID(Verification(n, k)),
		MakerClient: "demo-staff", MakerReach: access.OfBank, CreatedAt: at, UpdatedAt: at.AddDate(0, 0, 2),
		Version: 2,
	}
}
