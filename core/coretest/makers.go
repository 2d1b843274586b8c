package coretest

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/positivepay"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
	"bankgraph/core/verifications"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// numbers counts what the bank has of each kind.
type numbers struct {
	customers, accounts, signatories, tiers, roles, users, payments, rules, virtual, alerts,
	verifications int64
}

// A maker fills in a plausible row, applies the test's edits, and writes it with everything that belongs to
// it. Numbers count up from the same start in every bank, so the makers of two banks give twins.

// TaxID returns the tax id that the makers seal, in the clear.
func TaxID(of customers.UID) string { return fmt.Sprintf("07%07d", of-1_000_000) }

// AccountNumber returns the account number that the makers seal, in the clear.
func AccountNumber(of accounts.UID) string { return fmt.Sprintf("70%d", of) }

// ContactNumber returns the contact's account number that the makers seal, in the clear.
func ContactNumber(of contacts.UID) string { return fmt.Sprintf("80%d", of) }

// Customer makes an active company of the bank's own, changed by the edits.
func (b *Bank) Customer(edits ...func(*customers.Customer)) *customers.Customer {
	b.t.Helper()
	b.remember(func(o *Bank) { o.customer(edits...) })
	return b.customer(edits...)
}

func (b *Bank) customer(edits ...func(*customers.Customer)) *customers.Customer {
	b.t.Helper()
	uid := customers.UID(1_000_000 + b.numbers.customers)
	b.numbers.customers++
	c := &customers.Customer{
		Tenant: b.Tenant, UID: uid, LegalName: fmt.Sprintf("Cedar Works %d LLC", uid),
		ShortName: fmt.Sprintf("CEDAR%d", uid), Type: customers.Corporate, Status: customers.Active,
		RelationshipType: customers.RelationCustomer,
		TaxID: b.Keys.Seal(TaxID(uid), seal.Place{
			Tenant: int64(b.Tenant), Column: customers.TaxIDColumn, Row: int64(uid),
		}),
		CustomerID: fmt.Sprintf("CIF%d", uid), Language: "English", EmailAddress: "office@cedarworks.example",
		PhoneNumber: "+16145550123",
		LegalAddress: postal.Address{
			Line1: "12 Main St", City: "Columbus", State: "OH", PostalCode: "43215", CountryCode: "US",
			Country: "United States",
		},
		MailAddressSameAsLegal: true, CostCenter: "CC100", SECCodes: []string{"CCD", "PPD"},
		AdditionalAttributes: []customers.Attribute{}, CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(c, edits)
	b.insert(c, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`INSERT INTO customer_counts (tenant, owner, shard, customers) VALUES (?, ?, ?, 1)
			ON CONFLICT (tenant, owner, shard) DO UPDATE SET customers = customer_counts.customers + 1`, b.Tenant,
			c.Owner, uid%4).Exec(ctx)
		return err
	})
	return c
}

// DownstreamPartner makes a partner, which sees the customers that are OwnedBy it.
func (b *Bank) DownstreamPartner() *customers.Customer {
	b.t.Helper()
	return b.Customer(func(c *customers.Customer) { c.Type, c.Owner = customers.DownstreamPartner, c.UID })
}

// OwnedBy makes a customer one of a partner's.
func OwnedBy(partner *customers.Customer) func(*customers.Customer) {
	return func(c *customers.Customer) {
		c.Owner, c.RelationshipType, c.PartnerOrgShortName = partner.UID, customers.RelationThirdParty,
			partner.ShortName
	}
}

// Named gives a customer its legal name.
func Named(name string) func(*customers.Customer) {
	return func(c *customers.Customer) { c.LegalName = name }
}

// Account makes an active checking account of a customer, opened in the ledger with 1,000.00, or with the
// balance that Holding sets.
func (b *Bank) Account(of *customers.Customer, edits ...func(*accounts.Account)) *accounts.Account {
	b.t.Helper()
	b.remember(func(o *Bank) { o.account(of, edits...) })
	return b.account(of, edits...)
}

func (b *Bank) account(of *customers.Customer, edits ...func(*accounts.Account)) *accounts.Account {
	b.t.Helper()
	uid := accounts.UID(b.nextAccount())
	a := &accounts.Account{
		Tenant: b.Tenant, UID: uid, Customer: of.UID, Name: fmt.Sprintf("Operating %d", uid),
		Type: accounts.Deposit, SubType: accounts.Checking,
		Number: b.Keys.Seal(AccountNumber(uid), seal.Place{
			Tenant: int64(b.Tenant), Column: accounts.NumberColumn, Row: int64(uid),
		}),
		SystemOfRecord: accounts.InternalCore, Currency: "USD", CountryCode: "US", Country: "United States",
		Status: accounts.Active, BankID: "611090001", BankName: "Test Bank", BankIDType: accounts.NID,
		MasterGL: "201000", EnableWires: true, EnableDomesticWires: true, SECCodes: []string{},
		AdditionalAttributes: []customers.Attribute{}, CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	Holding(1_000_00, 0)(a)
	change(a, edits)
	if a.SystemOfRecord != accounts.InternalCore {
		a.Balance = accounts.Balance{}
		b.insert(a)
		return a
	}
	b.insert(a, func(ctx context.Context, tx bun.Tx) error {
		err := b.Ledger.OpenTx(ctx, tx, b.Tenant, ledger.Account{
			UID: uid, Opening: money.Of(*a.Balance.LedgerMinor, a.Currency),
			Overdraft: max(0, -*a.Balance.LedgerMinor), On: b.Now(),
		})
		if err != nil || *a.Balance.HeldMinor == 0 {
			return err
		}
		if err := db.AtCommit(ctx, tx, tx.NewRaw(`UPDATE balances SET held = ? WHERE tenant = ? AND account = ?`,
			*a.Balance.HeldMinor, b.Tenant, uid)); err != nil { // the opening balance is written at the end, too
			return err
		}
		return db.AtCommit(ctx, tx, tx.NewRaw(`INSERT INTO holds (tenant, id, account, amount, currency, placed,
			state, placed_at)
			VALUES (?, nextval('journal_ids'), ?, ?, ?, ?, 'OPEN', now())`,
			b.Tenant, uid, *a.Balance.HeldMinor, a.Currency, uid))
	})
	return a
}

// Holding sets an account's ledger and held balances, in minor units.
func Holding(ledger, held int64) func(*accounts.Account) {
	return func(a *accounts.Account) {
		a.Balance = accounts.Balance{LedgerMinor: &ledger, HeldMinor: &held}
	}
}

// Sweep makes a sweep that leaves 1,000.00 in an account every Monday and pays the rest to a contact, which
// the test sets.
func (b *Bank) Sweep(of *accounts.Account, edits ...func(*accounts.Sweep)) *accounts.Sweep {
	b.t.Helper()
	b.remember(func(o *Bank) { o.sweep(of, edits...) })
	return b.sweep(of, edits...)
}

func (b *Bank) sweep(of *accounts.Account, edits ...func(*accounts.Sweep)) *accounts.Sweep {
	b.t.Helper()
	target := int64(1_000_00)
	w := &accounts.Sweep{
		Tenant: b.Tenant, Account: of.UID, Direction: accounts.Out, BalanceType: accounts.Target,
		Currency: of.Currency, TargetMinor: &target, ToMethod: accounts.ACHCredit, Frequency: accounts.Weekly,
		DayOfWeek: accounts.Monday, CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(w, edits)
	b.insert(w)
	return w
}

// Contact makes a contact: a company with an account at a bank in the United States.
func (b *Bank) Contact(of *customers.Customer, edits ...func(*contacts.Contact)) *contacts.Contact {
	b.t.Helper()
	b.remember(func(o *Bank) { o.contact(of, edits...) })
	return b.contact(of, edits...)
}

func (b *Bank) contact(of *customers.Customer, edits ...func(*contacts.Contact)) *contacts.Contact {
	b.t.Helper()
	uid := contacts.UID(b.nextAccount())
	k := &contacts.Contact{
		Tenant: b.Tenant, UID: uid, Customer: of.UID, Name: fmt.Sprintf("Harbor Supply %d Inc", uid),
		TemplateName: fmt.Sprintf("Harbor%d", uid),
		Address: postal.Address{
			Line1: "9 Quay St", City: "Tampa", State: "FL", PostalCode: "33602", CountryCode: "US",
			Country: "United States",
		},
		EmailAddress: "accounts@harborsupply.example", PhoneNumber: "+18135550144",
		Bank: contacts.Bank{
			Country: "United States", AccountCurrency: "USD", AccountType: "Deposit", AccountSubType: "Checking",
			Name: "Old Mill Bank", NationalCode: "611590103",
			AccountNumber: b.Keys.Seal(ContactNumber(uid), seal.Place{
				Tenant: int64(b.Tenant), Column: contacts.NumberColumn, Row: int64(uid),
			}),
		},
		RegulatoryReporting: contacts.Report{}, Status: contacts.Active, CreatedAt: b.Now(), UpdatedAt: b.Now(),
		Version: 1,
	}
	change(k, edits)
	b.insert(k)
	return k
}

// Signatory makes an active signatory with an approval limit of 10,000.00.
func (b *Bank) Signatory(
	of *customers.Customer, edits ...func(*signatories.Signatory),
) *signatories.Signatory {
	b.t.Helper()
	b.remember(func(o *Bank) { o.signatory(of, edits...) })
	return b.signatory(of, edits...)
}

func (b *Bank) signatory(
	of *customers.Customer, edits ...func(*signatories.Signatory),
) *signatories.Signatory {
	b.t.Helper()
	b.numbers.signatories++
	uid, limit := signatories.UID(b.numbers.signatories), int64(10_000_00)
	g := &signatories.Signatory{
		Tenant: b.Tenant, UID: uid, Customer: of.UID, FullName: fmt.Sprintf("Grace Whitfield %d", uid),
		Title: "Treasurer", EmailAddress: fmt.Sprintf("grace.whitfield%d@mail.example", uid),
		PhoneNumber: "+16145550155", LimitMinor: &limit, Currency: "USD", Status: signatories.Active,
		CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(g, edits)
	b.insert(g)
	return g
}

// PositivePayRule makes an active rule for debits of ACH from an account.
func (b *Bank) PositivePayRule(
	of *accounts.Account, edits ...func(*positivepay.Rule),
) *positivepay.Rule {
	b.t.Helper()
	b.remember(func(o *Bank) { o.positivePayRule(of, edits...) })
	return b.positivePayRule(of, edits...)
}

func (b *Bank) positivePayRule(
	of *accounts.Account, edits ...func(*positivepay.Rule),
) *positivepay.Rule {
	b.t.Helper()
	b.numbers.rules++
	uid := positivepay.UID(b.numbers.rules)
	r := &positivepay.Rule{
		Tenant: b.Tenant, UID: uid, Customer: of.Customer, Account: of.UID, Type: positivepay.ACH,
		ACHCompanyID: "9100011223", BeneficiaryName: "Lakefront Utilities Inc", BeneficiaryBankID: "611590103",
		BeneficiaryBankName: "Old Mill Bank", Minor: 1_500_00, Currency: "USD", AmountType: positivepay.Maximum,
		BeneficiaryNumber: b.Keys.Seal(BeneficiaryNumber(uid),
			seal.Place{Tenant: int64(b.Tenant), Column: positivepay.NumberColumn, Row: int64(uid)}),
		Frequency: positivepay.Monthly, SECCode: positivepay.AllClasses, State: positivepay.Active,
		EffectiveDate: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC), CreatedAt: b.Now(),
		UpdatedAt: b.Now(), Version: 1,
	}
	change(r, edits)
	b.insert(r)
	return r
}

// VirtualAccount makes an active virtual account without a balance on an account.
func (b *Bank) VirtualAccount(
	on *accounts.Account, edits ...func(*virtualaccounts.VirtualAccount),
) *virtualaccounts.VirtualAccount {
	b.t.Helper()
	b.remember(func(o *Bank) { o.virtualAccount(on, edits...) })
	return b.virtualAccount(on, edits...)
}

func (b *Bank) virtualAccount(
	on *accounts.Account, edits ...func(*virtualaccounts.VirtualAccount),
) *virtualaccounts.VirtualAccount {
	b.t.Helper()
	b.numbers.virtual++
	uid := virtualaccounts.UID(b.numbers.virtual)
	v := &virtualaccounts.VirtualAccount{
		Tenant: b.Tenant, UID: uid, Customer: on.Customer, Account: on.UID, Name: fmt.Sprintf("Tenant %d", uid),
		ProductCode: "RENT", Purpose: "Rent", ExternalAccountReference: fmt.Sprintf("FLAT-%d", uid),
		SubmittedBy: "ada",
		Number: b.Keys.Seal(VirtualNumber(uid),
			seal.Place{Tenant: int64(b.Tenant), Column: virtualaccounts.NumberColumn, Row: int64(uid)}),
		Status: virtualaccounts.Active, Currency: on.Currency, CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(v, edits)
	b.insert(v)
	return v
}

// BalanceAlert makes an armed alert that fires when less than 500.00 is available on an account.
func (b *Bank) BalanceAlert(on *accounts.Account, edits ...func(*alerts.Alert)) *alerts.Alert {
	b.t.Helper()
	b.remember(func(o *Bank) { o.balanceAlert(on, edits...) })
	return b.balanceAlert(on, edits...)
}

func (b *Bank) balanceAlert(on *accounts.Account, edits ...func(*alerts.Alert)) *alerts.Alert {
	b.t.Helper()
	b.numbers.alerts++
	a := &alerts.Alert{
		Tenant: b.Tenant, UID: alerts.UID(b.numbers.alerts), Account: on.UID, Customer: on.Customer,
		Balance: alerts.Available, Direction: alerts.Below, Minor: 500_00, Currency: on.Currency,
		Status: alerts.Active, Armed: true, CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(a, edits)
	b.insert(a)
	return a
}

// Verification makes a verification of a contact that waits for the amounts of its deposits, which are not
// there.
func (b *Bank) Verification(
	of *contacts.Contact, from *accounts.Account, edits ...func(*verifications.Verification),
) *verifications.Verification {
	b.t.Helper()
	b.remember(func(o *Bank) { o.verification(of, from, edits...) })
	return b.verification(of, from, edits...)
}

func (b *Bank) verification(
	of *contacts.Contact, from *accounts.Account, edits ...func(*verifications.Verification),
) *verifications.Verification {
	b.t.Helper()
	b.numbers.verifications++
	until := b.Now().AddDate(0, 0, 14)
	v := &verifications.Verification{
		Tenant: b.Tenant, UID: verifications.UID(b.numbers.verifications), Contact: of.UID, Customer: of.Customer,
		Account: from.UID,
		Method:  verifications.SmallDeposits, State: verifications.AwaitingAmounts, First: 1, Second: 2,
		ExpiresAt: &until,
		DueAt:     &until, MakerClient: "partner", MakerReach: access.OfPartner, CreatedAt: b.Now(),
		UpdatedAt: b.Now(), Version: 1,
	}
	change(v, edits)
	b.insert(v)
	return v
}

// VirtualNumber returns the number of a virtual account that the makers seal, in the clear.
func VirtualNumber(of virtualaccounts.UID) string { return fmt.Sprintf("8%013d", of) }

// BeneficiaryNumber returns the account number of who is paid that the makers seal, in the clear.
func BeneficiaryNumber(of positivepay.UID) string { return fmt.Sprintf("44%07d", of) }

func (b *Bank) remember(again func(*Bank)) {
	if b.other != nil {
		b.t.Fatal("Other must come after everything that is made: it makes the twins once")
	}
	b.made = append(b.made, again)
}

func (b *Bank) nextAccount() int64 {
	b.numbers.accounts++
	return 100_000_000 + b.numbers.accounts
}

func change[T any](row *T, edits []func(*T)) {
	for _, edit := range edits {
		edit(row)
	}
}

// Exec writes by hand what no maker makes, in a transaction of the bank.
func (b *Bank) Exec(statement string, values ...any) {
	b.t.Helper()
	b.must(b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	}))
}

// insert writes a row, and then what belongs to it, in one transaction.
func (b *Bank) insert(row any, beside ...func(context.Context, bun.Tx) error) {
	b.t.Helper()
	b.must(b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		for _, write := range beside {
			if err == nil {
				err = write(ctx, tx)
			}
		}
		return err
	}))
}

// Renumber gives an account that a maker made another number, and its number to another account.
func (b *Bank) Renumber(account, other accounts.UID) {
	b.t.Helper()
	for _, to := range []struct {
		uid    accounts.UID
		number string
	}{{account, "7770001110"}, {other, AccountNumber(account)}} {
		out, err := b.Accounts.Change(b.Staff(), 0, to.uid, accounts.Draft{Number: given.Of(to.number)},
			changes.RequestOptions{})
		if err == nil && out.Approval != 0 {
			_, err = b.Changes.Approve(b.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
		}
		b.must(err)
	}
}

func (b *Bank) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}
