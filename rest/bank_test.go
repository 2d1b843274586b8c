package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/limits"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/rest"
)

// The bank of the tests. Its numbers are the same in each tenant, so bodies can be golden files.
const (
	institution = customers.UID(1000000) // the bank itself
	partner     = customers.UID(1000001) // a downstream partner
	acme        = customers.UID(1000002) // the partner's customer: has everything
	bare        = customers.UID(1000003) // the partner's customer: has nothing
	direct      = customers.UID(1000004) // the bank's own customer, not the partner's
	absent      = customers.UID(1000999)

	operating  = accounts.UID(100000001) // acme's, in the bank's own books
	pseudo     = accounts.UID(100000002) // acme's, in front of the first
	loan       = accounts.UID(100000003) // acme's, kept elsewhere
	directOnly = accounts.UID(100000004)

	supplier      = contacts.UID(100000011) // acme's
	directContact = contacts.UID(100000012)
)

const (
	operatingNumber = "123456789012"
	loanNumber      = "987654321"
	directNumber    = "555000444333"
	supplierNumber  = "DE89370400440532013000"
)

// canary is in every text of what a caller must not see.
const canary = "CANARY"

// monday is the bank's day in the tests.
var monday = time.Date(2026, time.November, 16, 15, 0, 0, 0, time.UTC)

// bank is one tenant with its own core.
type bank struct {
	t       testing.TB
	core    *core.Core
	tenant  access.Tenant
	handler http.Handler
}

var opened = sync.OnceValues(func() (*db.DB, error) { return db.Open(shared, db.Options{}) })
var shared string
var keys = seal.New()

func newBank(t testing.TB) *bank {
	t.Helper()
	b := openBank(t)
	b.fill("", partner)
	return b
}

// openBank is a tenant without anything in it.
func openBank(t testing.TB) *bank {
	t.Helper()
	once.Do(func() { shared = dbtest.Shared(t) })
	d, err := opened()
	if err != nil {
		t.Fatal(err)
	}
	b := &bank{t: t, core: core.New(core.Options{DB: d, Keys: keys, Now: func() time.Time { return monday }})}
	err = d.NewRaw(`INSERT INTO tenants (code, name, zone, currency) VALUES (?, 'Test', 'America/New_York', 'USD') RETURNING id`, uuid.NewString()).Scan(context.Background(), &b.tenant)
	if err != nil {
		t.Fatal(err)
	}
	b.handler = checked(t, rest.New(b.core, slog.New(slog.DiscardHandler)))
	return b
}

var once sync.Once

// caller is somebody of the bank with these permissions; the bank itself where of is the institution.
func (b *bank) caller(of customers.UID, permissions ...access.Permission) *access.Caller {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		b.t.Fatal(err)
	}
	return &access.Caller{
		Tenant: b.tenant, Zone: zone, Client: "test", Entity: int64(of), Partner: int64(of),
		Institution: of == institution, Permissions: permissions,
	}
}

func (b *bank) staff() *access.Caller   { return b.caller(institution, access.All...) }
func (b *bank) partner() *access.Caller { return b.caller(partner, access.Readers...) }

func (b *bank) insert(rows ...any) {
	b.t.Helper()
	for _, row := range rows {
		if _, err := b.core.DB.NewInsert().Model(row).Exec(context.Background()); err != nil {
			b.t.Fatalf("insert %T: %v", row, err)
		}
	}
}

func (b *bank) exec(statement string, values ...any) {
	b.t.Helper()
	if _, err := b.core.DB.NewRaw(statement, values...).Exec(context.Background()); err != nil {
		b.t.Fatalf("%s: %v", statement, err)
	}
}

// fill makes the bank's customers and what they have. mark is put into every text.
func (b *bank) fill(mark string, owner customers.UID) {
	b.t.Helper()
	b.insert(
		b.customer(institution, 0, mark+"First Bank", "firstbank", customers.ProcessingOrg, customers.RelationSelf),
		b.customer(partner, owner, mark+"Partner Inc", "partner", customers.DownstreamPartner, customers.RelationThirdParty),
		b.fullCustomer(acme, owner, mark),
		b.customer(bare, owner, mark+"Bare LLC", "bare", customers.Consumer, customers.RelationThirdParty),
		b.customer(direct, 0, canary+" Direct Corp", "direct", customers.Corporate, customers.RelationCustomer),
	)
	b.exec(`INSERT INTO customer_counts (tenant, owner, shard, customers) VALUES (?, 0, 0, 1), (?, 0, 1, 1), (?, ?, 0, 3)`, b.tenant, b.tenant, b.tenant, owner)
	b.insert(
		&users.User{Tenant: b.tenant, UID: uuid.New(), Customer: int64(institution), LoginID: "mjones", FirstName: mark + "Mary", LastName: "Jones", Status: users.Active},
		b.operatingAccount(mark), b.pseudoAccount(mark), b.loanAccount(mark),
		b.account(directOnly, direct, canary+" account", directNumber),
		b.contact(supplier, acme, mark+"Supplier GmbH", supplierNumber), b.contact(directContact, direct, canary+" contact", supplierNumber),
	)
	b.exec(`INSERT INTO balances (tenant, account, currency, ledger, held) VALUES (?, ?, 'USD', 1234567, 34567)`, b.tenant, operating)
	forty := int64(4_000_000)
	b.insert(
		&signatories.Signatory{Tenant: b.tenant, UID: 1, Customer: acme, FullName: mark + "Ann Lee", EmailAddress: "ann@acme.example", Title: "CFO", PhoneNumber: "+12125550101", LimitMinor: &forty, Currency: "USD", Status: signatories.Active},
		&signatories.Signatory{Tenant: b.tenant, UID: 2, Customer: acme, FullName: mark + "Bo Kim", EmailAddress: "bo@acme.example", PhoneNumber: "+12125550102", Currency: "USD", Status: signatories.Pending},
		&signatories.Signatory{Tenant: b.tenant, UID: 3, Customer: acme, FullName: canary + " Gone", EmailAddress: "gone@acme.example", PhoneNumber: "+12125550103", Currency: "USD", Status: signatories.Deleted},
		&signatories.Signatory{Tenant: b.tenant, UID: 4, Customer: direct, FullName: canary + " Direct", EmailAddress: "direct@acme.example", PhoneNumber: "+12125550104", Currency: "USD", Status: signatories.Active},
	)
	b.exec(`INSERT INTO fee_tiers (tenant, id, customer, application, fee_tier, fee_name, product, account) VALUES (?, 1, ?, 'Payments', 'Gold', 'SPOT', 'Outgoing Payment', ?), (?, 2, ?, 'Payments', 'Silver', 'TN', ?, NULL)`,
		b.tenant, acme, operating, b.tenant, acme, mark+"Outgoing Payment")
	for code, ceiling := range map[string]int64{
		"ACH_PAYMENT_LIMIT_PER_TRANSACTION": 1_000_000, "ACH_PAYMENT_LIMIT_PER_DAY": 5_000_000, "ACH_PAYMENT_LIMIT_PER_MONTH": 50_000_000,
		"ACH_WEB_DEBIT_TRANSACTION_LIMIT": 50_000, "FEDWIRE_PAYMENT_LIMIT_PER_DAY": 90_000_000, "NO_OF_ACH_FILES_PER_DAY": 12,
	} {
		b.insert(&limits.Limit{Tenant: b.tenant, Customer: acme, Code: code, Application: mark + "Payments", Ceiling: ceiling, Currency: "USD"})
	}
	b.exec(`INSERT INTO limits (tenant, customer, code, application, ceiling, currency) VALUES (?, ?, 'ACH_PAYMENT_LIMIT_PER_DAY', ?, 4242, 'USD')`, b.tenant, direct, canary)
	b.exec(`INSERT INTO limit_usage (tenant, customer, rail, day, entry_type, sec_code, amount, payments) VALUES (?, ?, 'ACH', '2026-11-16', 'DEBIT', 'WEB', 4950000, 3)`, b.tenant, acme)
}

func (b *bank) customer(uid, owner customers.UID, legal, short string, of customers.Type, relation customers.Relationship) *customers.Customer {
	return &customers.Customer{
		Tenant: b.tenant, UID: uid, Owner: owner, LegalName: legal, ShortName: short, Type: of, Status: customers.Active,
		MailAddressSameAsLegal: true, RelationshipType: relation, ProcessingOrgShortName: "firstbank", SECCodes: []string{},
		AdditionalAttributes: []customers.Attribute{},
	}
}

func (b *bank) fullCustomer(uid, owner customers.UID, mark string) *customers.Customer {
	c := b.customer(uid, owner, mark+"Acme Trading & Söhne", "acme", customers.Corporate, customers.RelationThirdParty)
	c.ExternalReferenceID, c.ACHCompanyID, c.CustomerID = mark+"ref-7", "1234567890", mark+"cust-7"
	c.TaxID = keys.Seal("12-3456789", seal.Place{Tenant: int64(b.tenant), Column: customers.TaxIDColumn, Row: int64(uid)})
	c.LEI, c.SWIFTCode, c.Language = "5493001KJTIIGC8Y1R12", "ACMEUS33", "English"
	c.EmailAddress, c.PhoneNumber, c.FaxNumber = mark+"post@acme.example", "+1 212 555 0100", "+1 212 555 0199"
	c.Website, c.LogoURL, c.LinkedinURL, c.TwitterURL = "https://acme.example", "https://acme.example/logo.png", "https://linkedin.example/acme", "https://twitter.example/acme"
	c.LegalAddress = postal.Address{Line1: mark + "1 Main St", Line2: "Floor 2", City: "New York", State: "NY", PostalCode: "10001", CountryCode: "US", Country: "United States"}
	c.MailingAddress, c.MailAddressSameAsLegal = c.LegalAddress, false
	c.MailingAddress.Line1 = mark + "PO Box 9"
	c.PartnerOrgShortName, c.ParentEntityShortName, c.CostCenter = "partner", "partner", "CC-1"
	parent := partner
	c.Parent = &parent
	c.RelationshipManager, c.OriginatingOfficer = "mjones", "MJones"
	c.Profile = customers.Profile{CreditClient: true, SSO: true, ACHNonPrefund: true, ACHNonPrefundLimit: "2500.00", FXPricingTier: "Gold", CreditValueAdjustment: "0.5", DetailsOfCharge: "SHA"}
	c.SECCodes, c.Note = []string{"PPD", "WEB"}, mark+"a note"
	c.Access = customers.AccessSettings{AllowOnlineAccess: true, PaymentDualApproval: true, FirstApproverLimit: 1_000_000, SecondApproverLimit: 99_999_999_999, NumberOfApprovers: 2}
	c.AdditionalAttributes = []customers.Attribute{{Name: "Region", Value: mark + "East"}}
	return c
}

func (b *bank) account(uid accounts.UID, of customers.UID, name, number string) *accounts.Account {
	return &accounts.Account{
		Tenant: b.tenant, UID: uid, Customer: of, Name: name, Type: accounts.Deposit, SubType: accounts.Checking,
		Number:         keys.Seal(number, seal.Place{Tenant: int64(b.tenant), Column: accounts.NumberColumn, Row: int64(uid)}),
		SystemOfRecord: accounts.InternalCore, BalanceType: "DDA", Currency: "USD", CountryCode: "US", Country: "United States",
		BankID: "021000021", BankName: "First Bank", BankIDType: accounts.NID, MasterGL: "1000", Status: accounts.Active,
		SECCodes: []string{}, AdditionalAttributes: []customers.Attribute{},
	}
}

func (b *bank) operatingAccount(mark string) *accounts.Account {
	a := b.account(operating, acme, mark+"Operating", operatingNumber)
	hundred, thousand := int64(10_000), int64(100_000)
	a.ExternalReferenceID, a.CostCenter, a.Reason = mark+"acc-1", "CC-1", mark+"opened by phone"
	a.EnableWires, a.EnableDomesticWires, a.EnableCallbacks, a.CallbackLimit = true, true, true, &hundred
	a.EnableACH, a.EnableOffset, a.DefaultOffset, a.Underwritten = true, true, true, true
	a.DebitExposureLimit, a.CreditExposureLimit, a.ACHCompanyID, a.SECCodes = &thousand, &hundred, "1234567890", []string{"PPD", "WEB"}
	a.EnableFedNow, a.FedNowSend, a.EnableRTP, a.RTPRFPSend, a.RFPReceive = true, true, true, true, true
	a.EnablePositivePay, a.FeeAccount = true, true
	a.AdditionalAttributes = []customers.Attribute{{Name: "Desk", Value: mark + "7"}}
	return a
}

func (b *bank) pseudoAccount(mark string) *accounts.Account {
	a := b.account(pseudo, acme, mark+"For benefit of", "123456789013")
	a.SubType = accounts.Pseudo
	a.FBONumber = keys.Seal(operatingNumber, seal.Place{Tenant: int64(b.tenant), Column: "accounts.fbo_number", Row: int64(pseudo)})
	return a
}

func (b *bank) loanAccount(mark string) *accounts.Account {
	a := b.account(loan, acme, mark+"Credit line", loanNumber)
	a.Type, a.SubType, a.SystemOfRecord, a.Status = accounts.Loan, accounts.LineOfCredit, accounts.External, accounts.Suspended
	a.BankID, a.BankIDType, a.Currency = "FBNKUS33", accounts.BIC, "JPY"
	a.ExternalProvider, a.ExternalID = "corebank", mark+"ext-3"
	a.ExternalToken = keys.Seal("token-of-the-provider", seal.Place{Tenant: int64(b.tenant), Column: "accounts.external_token", Row: int64(loan)})
	return a
}

func (b *bank) contact(uid contacts.UID, of customers.UID, name, number string) *contacts.Contact {
	return &contacts.Contact{
		Tenant: b.tenant, UID: uid, Customer: of, ExternalReferenceID: "con-1", TemplateName: "supplier", Name: name,
		Address:      postal.Address{Line1: "Hauptstr. 1", City: "Berlin", PostalCode: "10115", CountryCode: "DE", Country: "Germany"},
		EmailAddress: "billing@supplier.example", PhoneNumber: "+49 30 5550100",
		Bank: contacts.Bank{
			Country: "Germany", AccountCurrency: "EUR", AccountType: "Deposit", AccountSubType: "Checking", Name: "Musterbank", SWIFTCode: "MUSTDEFF",
			AccountNumber: keys.Seal(number, seal.Place{Tenant: int64(b.tenant), Column: contacts.NumberColumn, Row: int64(uid)}),
		},
		Intermediary:     contacts.IntermediaryBank{Country: "United States", Name: "Middle Bank", NationalCode: "021000089", CoverMessageRequired: true},
		BeneficiaryNotes: "invoice number", OtherBankInfo: "none",
		RegulatoryReporting: []contacts.Reporting{{Key: "TaxId", Value: "DE123456789"}},
	}
}

var _ = fees.Tier{}
