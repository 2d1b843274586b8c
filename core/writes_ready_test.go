package core_test

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
)

// The operations of writes, each on a bank that is ready for it.

func addSignatory(b *coretest.Bank, to *customers.Customer) write {
	ada := signatories.Draft{
		FullName: given.Of("Ada Byron"), EmailAddress: given.Of("ada@mail.example"),
		PhoneNumber: given.Of("+16145550123"), ApprovalLimit: given.Of("12.50"),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Signatories.Add(ctx, to.UID, ada, with(key)))
	}
}

func changeSignatory(b *coretest.Bank, uid signatories.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Signatories.Change(ctx, 0, uid, signatories.Draft{Title: given.Of("CFO")}, with(key)))
	}
}

func removeSignatory(b *coretest.Bank, uid signatories.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Signatories.Remove(ctx, 0, uid, with(key)))
	}
}

// proposed returns the approval that a write of the staff waits for.
func proposed(b *coretest.Bank, do write) changes.UID {
	out, err := do(b.Staff(), "")
	if err != nil || out.Approval == 0 {
		panic(fmt.Sprintf("nothing waits for approval: %+v %v", out, err))
	}
	return changes.UID(out.Approval)
}

func approve(b *coretest.Bank, what write) write {
	uid := proposed(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Changes.Approve(ctx, uid, with(key)))
	}
}

func refuse(b *coretest.Bank, what write) write {
	uid := proposed(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Changes.Refuse(ctx, uid, with(key)))
	}
}

func addContact(b *coretest.Bank, to *customers.Customer) write {
	d := contacts.Draft{
		TemplateName: given.Of("Lumen1"), Name: given.Of("Lumen Optics"),
		Address: given.Address{
			Line1: given.Of("12 Main St"), City: given.Of("Columbus"), PostalCode: given.Of("43215"),
			CountryCode: given.Of("USA"),
		},
		Bank: contacts.BankDraft{
			Country: given.Of("united states"), AccountNumber: given.Of("7740012345678"),
			AccountCurrency: given.Of("usd"), Name: given.Of("Old Mill Bank"), NationalCode: given.Of("611090001"),
			AccountType: given.Of("Deposit"), AccountSubType: given.Of("Checking"),
		},
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Contacts.Add(ctx, to.UID, d, with(key)))
	}
}

func changeContact(b *coretest.Bank, uid contacts.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Contacts.Change(ctx, 0, uid, contacts.Draft{Name: given.Of("Lumen Optics")}, with(key)))
	}
}

// applyNotice has a new contact follow a notice of change about a payment, which says another account number.
func applyNotice(b *coretest.Bank, of *customers.Customer, number string) write {
	k, from := b.Contact(of), b.Account(of, coretest.Sends)
	p := b.Payment(from, from, func(p *payments.Payment) {
		p.Rail, p.ReceiverAccount, p.State = rails.ACH, 0, payments.Invalid // books that were never written
	})
	has, err := b.Keys.Open(k.Bank.AccountNumber, seal.Place{
		Tenant: int64(b.Tenant), Column: contacts.NumberColumn, Row: int64(k.UID),
	})
	if err != nil {
		panic(err)
	}
	sealed := b.Keys.Encrypt(has, seal.Place{
		Tenant: int64(b.Tenant), Column: payments.NumberColumn, Row: int64(p.UID),
	})
	b.Exec(`INSERT INTO payment_details (tenant, payment, contact, number_sealed, number_hash,
		number_last4, bank_id,
		uetr) VALUES (?, ?, ?, ?, '', '', ?, '')`, b.Tenant, p.UID, k.UID, sealed, k.Bank.NationalCode)
	b.Exec(`INSERT INTO ach_entries (tenant, payment, origin, class, company_id, company_name,
		description, account,
		same_day) VALUES (?, ?, '', 'PPD', '', '', '', 'CHECKING', false)`, b.Tenant, p.UID)
	data := b.Keys.Encrypt(number, seal.Place{Tenant: int64(b.Tenant), Column: payments.NoticeColumn, Row: 1})
	b.Exec(`INSERT INTO ach_notices (tenant, id, payment, number, code, data_sealed, contact_version, at)
		VALUES (?, 1, ?, 0, 'C01', ?, ?, now())`, b.Tenant, p.UID, data, k.Version)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Contacts.ApplyNotice(ctx, contacts.Notice{Payment: int64(p.UID), Code: "C01"}, with(key)))
	}
}

func createCustomer(b *coretest.Bank) write {
	officer(b)
	d := newcomer("Lakeside Bakery LLC")
	d.ShortName = given.Of("LAKESIDE")
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Customers.Create(ctx, d, with(key)))
	}
}

// newcomer returns the draft of a customer of this name, for a bank with an officer.
func newcomer(name string) customers.Draft {
	kind := customers.Corporate
	return customers.Draft{
		LegalName: given.Of(name), ShortName: given.Of(name), Type: &kind, TaxID: given.Of("12-3456789"),
		Language: given.Of("english"),
		LegalAddress: given.Address{
			Line1: given.Of("1 Lake Rd"), City: given.Of("Erie"), PostalCode: given.Of("16501"),
			CountryCode: given.Of("usa"),
		},
		MailAddressSameAsLegal: given.Of(true), CostCenter: given.Of("CC1"),
		RelationshipManager: given.Of("mjones"), OriginatingOfficer: given.Of("mjones"),
	}
}

func changeCustomer(b *coretest.Bank, c *customers.Customer, d customers.Draft) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Customers.Change(ctx, c.UID, d, with(key)))
	}
}

func suspendCustomer(b *coretest.Bank, c *customers.Customer) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Customers.Suspend(ctx, c.UID, with(key)))
	}
}

func activateCustomer(b *coretest.Bank, c *customers.Customer) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Customers.Activate(ctx, c.UID, with(key)))
	}
}

// officer makes a user of the bank itself, whom customers name.
func officer(b *coretest.Bank) {
	err := b.DB.InTx(context.Background(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(
			`INSERT INTO users (tenant, uid, customer, login_id, status)
				VALUES (?, gen_random_uuid(), ?, 'mjones', 'Active')`, b.Tenant, b.Self.UID).Exec(ctx)
		return err
	})
	if err != nil {
		panic(err)
	}
}
