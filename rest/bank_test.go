package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/demo"
	"bankgraph/core/fees"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/limits"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/roles"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
	"bankgraph/core/virtualaccounts"
	"bankgraph/rest"
)

// bank is a bank with a partner, and its interface. Its numbers are the same in each test, so that bodies can
// be golden files.
type bank struct {
	*coretest.Bank
	t       testing.TB
	handler http.Handler

	partner *customers.Customer // a downstream partner
	acme    *customers.Customer // the partner's customer: has everything
	bare    *customers.Customer // the partner's customer: has nothing
	direct  *customers.Customer // the bank's own customer, which the partner must not see

	operating *accounts.Account // acme's, in the bank's own books
	pseudo    *accounts.Account // acme's, in front of operating
	loan      *accounts.Account // acme's, kept elsewhere
	hidden    *accounts.Account // direct's

	supplier *contacts.Contact // acme's
	stranger *contacts.Contact // direct's

	purse     *accounts.Account // the partner's
	paid      *payments.Payment // from acme's operating to the purse, with a fee
	scheduled *payments.Payment // back
	making    sync.Mutex        // of these two
	came      payments.UID      // from another bank, to the purse; see receives
	gone      payments.UID      // to another bank, from the purse; see receives
	held      payments.UID      // a debit of another bank, of the purse
	transfer  payments.UID      // from the purse to the partner's other account
	series    payments.Saved    // the first of a series of those
	desk      *accounts.Account // that one
	file      files.FileUID     // of the partner's
	waiting   files.FileUID     // of the partner's, for approval; see receives

	offer, privateOffer fx.QuoteUID // to acme and to direct; see receives
	deal, privateDeal   fx.TradeUID

	private *payments.Payment // between accounts of direct

	rule      *positivepay.Rule      // of acme's operating
	stopped   *positivepay.Rule      // of acme's operating, suspended
	foreign   *positivepay.Rule      // of hidden
	treasurer *signatories.Signatory // acme's

	virtual        *virtualaccounts.VirtualAccount // on acme's operating
	foreignVirtual *virtualaccounts.VirtualAccount // on hidden
	rent           *payments.Payment               // to virtual; see receives

	clerk  *roles.Role // acme's
	ruth   *users.User // acme's, a clerk
	locked *users.User // acme's
}

// canary is in every text that a partner of the bank must not see: the texts of the bank's own customer, and
// those of a second bank.
const canary = "CANARY"

// number is an account's number, unmasked.
func number(a *accounts.Account) string { return coretest.AccountNumber(a.UID) }

func newBank(t testing.TB) *bank {
	t.Helper()
	return fill(t, coretest.New(t))
}

func fill(t testing.TB, made *coretest.Bank) *bank {
	t.Helper()
	b := &bank{Bank: made, t: t}
	b.handler = checked(t, rest.New(b.Core, rest.Options{Log: slog.New(slog.DiscardHandler)}))
	if err := demo.Directory(access.Operator(t.Context(), 0, "", nil), b.Core); err != nil {
		t.Fatal(err)
	}
	b.partner = b.DownstreamPartner()
	b.acme = b.Customer(coretest.OwnedBy(b.partner), b.furnish)
	b.bare = b.Customer(coretest.OwnedBy(b.partner), coretest.Named("Bare Person"),
		func(c *customers.Customer) { c.Type = customers.Consumer })
	b.direct = b.Customer(func(c *customers.Customer) {
		c.LegalName, c.ShortName, c.EmailAddress, c.LegalAddress.Line1 = canary+" Direct Corp", canary+"DIRECT",
			canary+"@direct.example", canary
	})
	b.fillAcme()
	b.configure(customers.ForCustomers, "Region", customers.TextAttribute)
	b.configure(customers.ForAccounts, "Desk", customers.TextAttribute)
	b.configure(customers.ForAccounts, "Programme", customers.TextAttribute)
	b.hidden = b.Account(b.direct, func(a *accounts.Account) { a.Name = canary + " account" })
	b.stranger = b.Contact(b.direct, func(k *contacts.Contact) { k.Name = canary + " contact" })
	b.Signatory(b.direct, func(g *signatories.Signatory) { g.FullName = canary + " Signatory" })
	b.User(b.direct, []*roles.Role{b.Role(b.direct, func(r *roles.Role) { r.Description = canary })},
		func(u *users.User) { u.FirstName = canary })
	b.Fee(b.direct, func(f *fees.Tier) { f.Product = canary })
	b.Limit(b.direct, "ACH_PAYMENT_LIMIT_PER_DAY", 42_42)
	b.purse = b.Account(b.partner, coretest.Holding(500_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.Name = "Purse" })
	b.rule = b.PositivePayRule(b.operating, func(r *positivepay.Rule) {
		r.BeneficiaryName, r.SECCode, r.IndividualID = b.mark(r.Tenant)+"Lakefront Utilities Inc", "CCD", "METER-7"
		r.ExpiryDate, r.NumberOfPayments = new(r.EffectiveDate.AddDate(1, 0, 0)), new(int32(12))
	})
	b.virtual = b.VirtualAccount(b.operating, func(v *virtualaccounts.VirtualAccount) {
		v.Name, v.LimitPeriod, v.LimitMinor = b.mark(v.Tenant)+"Suite 100", virtualaccounts.Monthly,
			new(int64(10_000_00))
	})
	b.foreignVirtual = b.VirtualAccount(b.hidden, func(v *virtualaccounts.VirtualAccount) { v.Name = canary })
	b.stopped = b.PositivePayRule(b.operating, func(r *positivepay.Rule) { r.State = positivepay.Suspended })
	b.foreign = b.PositivePayRule(b.hidden, func(r *positivepay.Rule) { r.BeneficiaryName = canary })
	b.desk = b.Account(b.partner, coretest.Holding(0, 0), func(a *accounts.Account) { a.Name = "Desk" })
	b.paid = b.Payment(b.operating, b.purse, func(p *payments.Payment) {
		p.FeeMinor, p.FeeName, p.FeeTier, p.Notes = 25, "Book Transfer", "Gold", b.mark(p.Tenant)+"Rent of October"
	})
	b.scheduled = b.Payment(b.purse, b.operating, func(p *payments.Payment) {
		p.State, p.Date, p.Notes = payments.Scheduled, p.Date.AddDate(0, 0, 14), b.mark(p.Tenant)+"Rent of December"
		p.ExternalReferenceID, p.MakerLogin = "INV-8", "ruth"
	})
	b.private = b.Payment(b.hidden, b.Account(b.direct), func(p *payments.Payment) { p.Notes = canary })
	return b
}

// mark is put into the texts of the second bank.
func (b *bank) mark(tenant access.Tenant) string {
	if tenant == b.Tenant {
		return ""
	}
	return canary + " "
}

// furnish sets everything that a customer can have.
func (b *bank) furnish(c *customers.Customer) {
	mark := b.mark(c.Tenant)
	c.LegalName, c.ShortName = mark+"Acme Trading & Söhne", "acme"
	c.ExternalReferenceID, c.ACHCompanyID, c.CustomerID = mark+"ref-7", "1234567890", mark+"cust-7"
	c.LEI, c.SWIFTCode = "5493001KJTIIGC8Y1R12", "ACMEUS33"
	c.FaxNumber, c.Website, c.LogoURL = "+16145550124", "https://acme.example", "https://acme.example/logo.png"
	c.LinkedinURL, c.TwitterURL = "https://linkedin.example/acme", "https://twitter.example/acme"
	c.LegalAddress.Line1, c.LegalAddress.Line2 = mark+"1 Main St", "Floor 2"
	c.MailingAddress, c.MailAddressSameAsLegal = c.LegalAddress, false
	c.MailingAddress.Line1 = mark + "PO Box 9"
	c.ProcessingOrgShortName, c.ParentEntityShortName = "testbank", "partner"
	c.RelationshipManager, c.OriginatingOfficer = "mjones", "MJones"
	c.Profile = customers.Profile{
		CreditClient: true, SSO: true, ACHNonPrefund: true, ACHNonPrefundLimit: "2500.00", FXPricingTier: "Gold",
		CreditValueAdjustment: "0.5", DetailsOfCharge: "SHA",
	}
	c.SECCodes, c.Note = []string{"PPD", "WEB"}, mark+"a note"
	c.Access = customers.AccessSettings{
		AllowOnlineAccess: true, PaymentDualApproval: true, FirstApproverLimit: 1_000_000,
		SecondApproverLimit: 99_999_999_999, NumberOfApprovers: 2,
	}
	c.AdditionalAttributes = []customers.Attribute{{Name: "Region", Value: mark + "East"}}
}

// fillAcme creates what acme has.
func (b *bank) fillAcme() {
	b.t.Helper()
	b.operating = b.Account(b.acme, coretest.Holding(12_345_67, 345_67), b.furnishAccount)
	b.pseudo = b.Account(b.acme, func(a *accounts.Account) {
		a.SubType, a.Name = accounts.Pseudo, b.mark(a.Tenant)+"For benefit of"
		a.FBONumber = b.Keys.Seal("70100000001",
			seal.Place{Tenant: int64(a.Tenant), Column: "accounts.fbo_number", Row: int64(a.UID)})
	})
	b.loan = b.Account(b.acme, func(a *accounts.Account) {
		a.Name, a.Type, a.SubType, a.SystemOfRecord, a.Status = b.mark(a.Tenant)+"Credit line", accounts.Loan,
			accounts.LineOfCredit, accounts.External, accounts.Inactive
		a.BankID, a.BankIDType, a.Currency, a.EnableWires = "FBNKUS33", accounts.BIC, "JPY", false
		a.ExternalProvider, a.ExternalID = "corebank", b.mark(a.Tenant)+"ext-3"
		a.ExternalToken = b.Keys.Seal("token-of-the-provider",
			seal.Place{Tenant: int64(a.Tenant), Column: "accounts.external_token", Row: int64(a.UID)})
	})
	b.supplier = b.Contact(b.acme, b.furnishContact)
	other := b.Contact(b.acme, func(k *contacts.Contact) { k.Name = b.mark(k.Tenant) + "Other Inc" })
	// the supplier's account may change
	b.Sweep(b.operating, func(w *accounts.Sweep) { w.ToContact = &other.UID })
	b.treasurer = b.Signatory(b.acme,
		func(g *signatories.Signatory) { g.FullName = b.mark(g.Tenant) + "Ann Lee" })
	b.Signatory(b.acme,
		func(g *signatories.Signatory) { g.LimitMinor, g.Title, g.Status = nil, "", signatories.Pending })
	b.Signatory(b.acme, func(g *signatories.Signatory) { g.FullName, g.Status = canary, signatories.Deleted })
	b.Fee(b.acme, func(f *fees.Tier) { f.FeeName = b.mark(f.Tenant) + "SPOT" })
	b.Fee(b.acme, func(f *fees.Tier) { f.FeeTier, f.FeeName = "Silver", b.mark(f.Tenant)+"TN" })
	b.Configured("Payments", "Outgoing Payment", "ON", "Gold")
	b.Limit(b.acme, "ACH_PAYMENT_LIMIT_PER_TRANSACTION", 10_000_00)
	b.Limit(b.acme, "ACH_PAYMENT_LIMIT_PER_DAY", 50_000_00)
	b.Limit(b.acme, "ACH_PAYMENT_LIMIT_PER_MONTH", 500_000_00)
	b.Limit(b.acme, "ACH_WEB_DEBIT_TRANSACTION_LIMIT", 500_00)
	b.Limit(b.acme, "NO_OF_ACH_FILES_PER_DAY", 12)
	b.Usage(b.acme, limits.ACH, coretest.Start.Format("2006-01-02"), 49_500_00,
		func(u *limits.Usage) { u.EntryType, u.SECCode = rails.Debit, "WEB" })
	b.clerk = b.Role(b.acme, func(r *roles.Role) {
		r.Name, r.Description, r.Owner = "Clerk", b.mark(r.Tenant)+"Enters payments", roles.OwnerCustomer
		r.Applications = []roles.Grant{
			{Name: "Digital_Banking_Portal", Entitlements: []string{"View_Portal"}},
			{
				Name: "Payments", Entitlements: []string{"View_Payments", "Initiate_Payments"},
				Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 1_000_50, Currency: "USD"}},
			},
		}
	})
	b.ruth = b.User(b.acme, []*roles.Role{b.clerk}, func(u *users.User) {
		u.LastName = b.mark(u.Tenant) + "Keller"
		u.Limits = []access.ApplicationLimits{
			{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 500_00, Currency: "USD"}}},
		}
	})
	b.locked = b.User(b.acme, nil, func(u *users.User) { u.Status = users.Locked })
	b.officer(b.Bank)
}

func (b *bank) furnishAccount(a *accounts.Account) {
	hundred, thousand, mark := int64(100_00), int64(1_000_00), b.mark(a.Tenant)
	a.Name, a.ExternalReferenceID, a.CostCenter, a.Reason = mark+"Operating", mark+"acc-1", "CC-1",
		mark+"opened by phone"
	a.BalanceType, a.EnableCallbacks, a.CallbackLimit = "DDA", true, &hundred
	a.EnableACH, a.EnableOffset, a.DefaultOffset, a.Underwritten = true, true, true, true
	a.DebitExposureLimit, a.CreditExposureLimit, a.ACHCompanyID, a.SECCodes = &thousand, &hundred, "1234567890",
		[]string{"PPD", "WEB"}
	a.EnableFedNow, a.FedNowSend, a.EnableRTP, a.RTPRFPSend, a.RFPReceive = true, true, true, true, true
	a.EnablePositivePay, a.FeeAccount = true, true
	a.AdditionalAttributes = []customers.Attribute{{Name: "Desk", Value: mark + "7"}}
}

func (b *bank) furnishContact(k *contacts.Contact) {
	mark := b.mark(k.Tenant)
	k.ExternalReferenceID, k.TemplateName, k.Name = mark+"con-1", "supplier", mark+"Supplier GmbH"
	k.Address = postal.Address{
		Line1: mark + "Hauptstr. 1", City: "Berlin", PostalCode: "10115", CountryCode: "DE", Country: "Germany",
	}
	k.Bank.SWIFTCode, k.Bank.NationalCode, k.Bank.Address.City = "MUSTDEFF", "", "Berlin"
	k.Intermediary = contacts.IntermediaryBank{
		Country: "United States", Name: "Middle Bank", NationalCode: "611090001", CoverMessageRequired: true,
	}
	k.BeneficiaryNotes, k.OtherBankInfo = mark+"invoice number", "none"
	k.RegulatoryReporting = contacts.Report{k.Reported(b.Keys, "TaxId", mark+"DE123456789")}
}

// officer creates the bank's employee who looks after the customer.
func (b *bank) officer(of *coretest.Bank) {
	b.t.Helper()
	mary := users.User{
		Tenant: of.Tenant, UID: users.UID{UUID: uuid.New()}, Customer: of.Self.UID, LoginID: "mjones",
		FirstName: b.mark(of.Tenant) + "Mary", LastName: "Jones", Status: users.Active, CreatedAt: coretest.Start,
		Number: 900, Limits: []access.ApplicationLimits{},
	}
	err := b.DB.InTx(context.Background(), int64(of.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&mary).Exec(ctx)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// configure adds an attribute for customers or accounts.
func (b *bank) configure(level customers.Level, name string, of customers.AttributeType) {
	b.t.Helper()
	row := customers.Configured{Tenant: b.Tenant, Level: level, Name: name, Type: of, CreatedAt: coretest.Start}
	err := b.DB.InTx(b.t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&row).Exec(ctx)
		return err
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// program is the context of the partner's API key.
func (b *bank) program() context.Context { return b.Partner(b.partner) }

// who is program, or a program of the bank for what only the bank itself may do.
func (b *bank) who(o operation) context.Context {
	if o.ofBank() {
		return b.Staff()
	}
	return b.program()
}

// leaks reports whether a body contains something that its reader must not see.
func (b *bank) leaks(body string) bool {
	return strings.Contains(body, canary) || strings.Contains(body, b.hidden.Number.Masked()) ||
		strings.Contains(body, number(b.hidden))
}
