package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/verifications"
	"bankgraph/db"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var verificationKind = numbered("ContactVerification", kind[verifications.UID, verifications.Verification]{
	prefix: scalar.ContactVerificationPrefix,
	find: func(c *core.Core) finder[verifications.UID, verifications.Verification] {
		return c.Verifications.FindMany
	},
	key: func(v *verifications.Verification) verifications.UID { return v.UID },
	columns: columns{
		"triesLeft": {"Method", "Tries"}, "startedBy": {"MakerLogin", "MakerClient"}, "startedAt": {"CreatedAt"},
		"failureReason": {"Failure"}, "notice": {"NoticeCode"},
		"correctedAccountNumber": {"RightLast4"}, "correctedAccountType": {"RightAccount"},
	},
})

func init() {
	hasMany(contactKind, "verifications", verificationKind,
		list[contacts.UID, verifications.Verification, struct{}]{
			rows: func(
				c *core.Core, ctx context.Context, b *db.Batch, of []contacts.UID, _ struct{}, want db.Columns, w window,
			) *db.Many[contacts.UID, verifications.Verification] {
				return c.Verifications.OfContacts(ctx, b, of, want, w)
			},
			count: func(
				c *core.Core, ctx context.Context, b *db.Batch, of []contacts.UID, _ struct{},
			) *db.Many[contacts.UID, db.Count] {
				return c.Verifications.CountOfContacts(ctx, b, of, model.MostCounted+1)
			},
		})
	has(contactKind, "verification", queueLatestVerifications)
	hasCustomer(verificationKind, "customer",
		func(v *verifications.Verification) *customers.UID { return &v.Customer })
	hasOne(verificationKind, "contact", contactKind,
		func(v *verifications.Verification) *contacts.UID { return &v.Contact })
	hasOne(verificationKind, "account", accountKind,
		func(v *verifications.Verification) *accounts.UID { return &v.Account })
	subjects["contactVerification"] = subject{codes: codes{fault.NotFound: "CUST002"}}
}

// queueLatestVerifications reads the newest verification of each contact.
func queueLatestVerifications(
	ctx context.Context, o *operation, b *db.Batch, s *siblings, f graphql.CollectedField,
) (func(contacts.UID) (*verifications.Verification, error), step) {
	keys := s.keys.([]contacts.UID)
	want, relations := verificationKind.wants(ctx, f.Selections)
	found := o.core.Verifications.LatestOfContacts(ctx, b, keys, want)
	of := func(key contacts.UID) (*verifications.Verification, error) { return oneOf(found, key) }
	if len(relations) == 0 {
		return of, nil
	}
	return of, arrivals(verificationKind, o, keys, found, relations)
}

func (m mutations) StartContactVerification(
	ctx context.Context, in model.ContactVerificationDraft,
) (*model.ContactVerificationPayload, error) {
	done, err := m.core.Verifications.Start(ctx, in.Draft, in.RequestOptions)
	return verificationKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ConfirmContactVerification(
	ctx context.Context, in model.ContactVerificationDraft,
) (*model.ConfirmContactVerificationPayload, error) {
	done, err := m.core.Verifications.Confirm(ctx, in.UID, verifications.Amounts{Amounts: in.Amounts},
		in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.ConfirmContactVerificationPayload{
		Object: verificationKind.changed(ctx, done.Result.UID), Matched: done.Result.Matched,
		Replayed: done.Replayed,
	}, nil
}

func (m mutations) CancelContactVerification(
	ctx context.Context, in model.ContactVerificationDraft,
) (*model.ContactVerificationPayload, error) {
	done, err := m.core.Verifications.Cancel(ctx, in.UID, in.RequestOptions)
	return verificationKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
