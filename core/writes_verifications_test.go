package core_test

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/verifications"
)

// startContactVerification begins to verify a new contact of this customer by deposits.
func startContactVerification(
	b *coretest.Bank, of *customers.Customer, edits ...func(*contacts.Contact),
) write {
	return verifies(b, b.Contact(of, edits...), b.Account(of, coretest.Holding(1000_00, 0), coretest.Sends),
		verifications.SmallDeposits)
}

// asksForContact begins to verify a new contact of this customer by a prenote.
func asksForContact(b *coretest.Bank, of *customers.Customer) write {
	return verifies(b, b.Contact(of), b.Account(of, coretest.Sends), verifications.Prenote)
}

// cancelPrenote cancels such a verification.
func cancelPrenote(b *coretest.Bank, of *customers.Customer) write {
	made, err := asksForContact(b, of)(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Verifications.Cancel(ctx, made.Result.(verifications.Saved).UID, with(key)))
	}
}

func verifies(
	b *coretest.Bank, contact *contacts.Contact, from *accounts.Account, method verifications.Method,
) write {
	b.Directory()
	draft := verifications.Draft{Contact: contact.UID, Account: from.UID, Method: method}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Verifications.Start(ctx, draft, with(key)))
	}
}

// deposited is a verification whose deposits have settled.
func deposited(b *coretest.Bank, of *customers.Customer) verifications.UID {
	made, err := startContactVerification(b, of)(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	for range 4 {
		b.Clock.Advance(6 * time.Hour)
		if _, err := b.Work(access.Operator(context.Background(), b.Tenant, b.Code, coretest.Zone())); err != nil {
			panic(err)
		}
	}
	return made.Result.(verifications.Saved).UID
}

// confirmContactVerification says what the deposits of a verification were, or something else.
func confirmContactVerification(b *coretest.Bank, of *customers.Customer, right bool) write {
	uid, amounts := deposited(b, of), verifications.Amounts{}
	err := b.DB.NewRaw(`SELECT (CASE WHEN ? THEN p.amount ELSE p.amount % 98 + 1 END / 100.0)::numeric(3,
		2)::text
		FROM payments AS p JOIN contact_verifications AS v ON v.tenant = p.tenant
		  AND p.uid IN (v.deposit_1, v.deposit_2)
		WHERE p.tenant = ? AND v.uid = ?`, right, b.Tenant, uid).Scan(context.Background(), &amounts.Amounts)
	if err != nil {
		panic(err)
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Verifications.Confirm(ctx, uid, amounts, with(key)))
	}
}

func cancelContactVerification(
	b *coretest.Bank, of *customers.Customer, edits ...func(*verifications.Verification),
) write {
	uid := b.Verification(b.Contact(of), b.Account(of), edits...).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Verifications.Cancel(ctx, uid, with(key)))
	}
}

// changeVerifiedContact gives a contact another account that was verified.
func changeVerifiedContact(b *coretest.Bank, of *customers.Customer) write {
	k := b.Contact(of)
	b.Verification(k, b.Account(of))
	return func(ctx context.Context, key string) (said, error) {
		draft := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("4417000001")}}
		return heard(b.Contacts.Change(ctx, 0, k.UID, draft, with(key)))
	}
}
