package demo

import (
	"fmt"
	"strings"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
)

// Customers of the demo bank that documentation and tests name.
const (
	Institution customers.UID = 1_000_000 // the bank itself
	// the customer in the documentation: 5 accounts, 12 contacts, 3 signatories
	First         customers.UID = 1_000_001
	Partner       customers.UID = 1_000_010 // the downstream partner that the key demo-partner belongs to
	PartnersFirst customers.UID = 1_000_013 // its first customer
	SecondPartner customers.UID = 1_000_020
)

// Customer returns the UID of the n-th customer.
func Customer(n int64) customers.UID { return Institution + customers.UID(n) }

// bank is what all rows of one demo bank share.
type bank struct {
	tenant    access.Tenant
	shortName string // the institution's
	name      string
	keys      *seal.Keys
	start     time.Time // the time that dates are relative to, in the bank's time zone
}

// The topics of dice, so that rows of different kinds make different choices.
const (
	topicCustomer = iota + 1
	topicAccount
	topicContact
	topicSignatory
	topicLimit
	topicUsage
	topicFee
	topicSweep
	topicPayment
	topicRule
)

var statusOf = map[int64]customers.Status{
	5: customers.Suspended, 6: customers.StatusNew,
	7: customers.Pending,
}

// status returns a customer's status: of a hundred, two are suspended, one is new, one is pending.
func status(n int64) customers.Status {
	if s := statusOf[n%100]; n > 0 && s != "" {
		return s
	}
	if n%100 == 55 {
		return customers.Suspended
	}
	return customers.Active
}

// typeOf returns a customer's type: every fourth is a company, one in a hundred a bank, the others are
// people.
func typeOf(n int64) customers.Type {
	switch {
	case n == 0:
		return customers.ProcessingOrg
	case Customer(n) == Partner || Customer(n) == SecondPartner:
		return customers.DownstreamPartner
	case n%100 == 50:
		return customers.FinancialInstitution
	case n%4 == 1:
		return customers.Corporate
	}
	return customers.Consumer
}

// owner returns a customer's partner. Partner has the customers 1000013, 1000023, 1000033 …, SecondPartner
// 1000031, 1000056 ….
func owner(n int64) customers.UID {
	switch {
	case Customer(n) == Partner || n > 10 && n%10 == 3:
		return Partner
	case Customer(n) == SecondPartner || n > 20 && n%25 == 6:
		return SecondPartner
	}
	return 0
}

// parent returns a customer's parent: that of 1000017, 1000037 … is the company eight before, that of 1000009
// the first customer.
func parent(n int64) (int64, bool) {
	switch {
	case n == 9:
		return 1, true
	case n%20 == 17:
		return n - 8, true
	}
	return 0, false
}

func person(n int64) bool { return typeOf(n) == customers.Consumer }

var partnerNames = map[customers.UID]string{
	Partner:       "Quayside Pay Inc",
	SecondPartner: "Fernbrook Wallet LLC",
}

func legalName(n int64) string {
	d := roll(topicCustomer, n)
	switch typeOf(n) {
	case customers.DownstreamPartner:
		return partnerNames[Customer(n)]
	case customers.FinancialInstitution:
		return pick(d, places) + " " + pick(d, places) + " Bank NA"
	case customers.Consumer:
		return personName(d)
	}
	return pick(d, places) + " " + pick(d, trades) + " " + pick(d, forms)
}

func personName(d *dice) string { return pick(d, givenNames) + " " + pick(d, familyNames) }

// shortName makes a short name of the first two words and the number: CEDARLOGISTICS1.
func shortName(n int64) string {
	words := strings.Fields(legalName(n))
	return strings.ToUpper(slug(words[0]+words[1])) + fmt.Sprint(n)
}

func address(d *dice, at city) postal.Address {
	return postal.Address{
		Line1: fmt.Sprintf("%d %s %s", d.in(10, 4999), pick(d, streets), pick(d, streetKinds)), City: at.name,
		State: at.state, PostalCode: at.zip + d.digits(2), CountryCode: "US", Country: "United States",
	}
}

// ago returns a time of the morning, from low to high days before the start.
func (b *bank) ago(d *dice, low, high int64) time.Time {
	return b.start.AddDate(0, 0, -int(d.in(low, high))).
		Add(-time.Duration(d.below(36_000)) * time.Second).UTC().
		Truncate(time.Second)
}

var (
	managers = []string{"maria.alvarez", "james.okafor"}
	officers = []string{"linda.chen", "peter.novak"}
	charges  = words("OUR BEN SHA")
)

// customer makes the n-th customer; the 0th is the bank itself.
func (b *bank) customer(n int64) *customers.Customer {
	d := roll(topicCustomer, n^1<<40)
	at := cities[(n+int64(d.below(3))*7)%int64(len(cities))]
	company := !person(n)
	created := b.ago(d, 30, 2400)
	c := &customers.Customer{
		Tenant: b.tenant, UID: Customer(n), Owner: owner(n), Type: typeOf(n), Status: status(n),
		ExternalReferenceID: fmt.Sprintf("EXT-%d", Customer(n)), CustomerID: fmt.Sprintf("CIF%08d", n),
		LegalName: legalName(n), ShortName: shortName(n), RelationshipType: customers.RelationCustomer,
		TaxID: b.keys.Seal(taxID(n, person(n)), seal.Place{
			Tenant: int64(b.tenant), Column: customers.TaxIDColumn, Row: int64(Customer(n)),
		}),
		Language: "English", PhoneNumber: phone(d, at.area), LegalAddress: address(d, at),
		MailAddressSameAsLegal: true, ProcessingOrgShortName: b.shortName,
		CostCenter: fmt.Sprintf("CC%03d", 100+d.below(40)), RelationshipManager: pick(d, managers),
		OriginatingOfficer: pick(d, officers), SECCodes: []string{}, AdditionalAttributes: []customers.Attribute{},
		Access: customers.AccessSettings{AllowOnlineAccess: true, UserPINForApproval: true}, CreatedAt: created,
		UpdatedAt: created.AddDate(0, 0, d.below(30)), Version: 1,
	}
	if d.chance(8) {
		c.Language = "Spanish"
	}
	if d.chance(10) {
		c.MailAddressSameAsLegal = false
		c.MailingAddress = address(d, at)
		c.MailingAddress.Line1 = fmt.Sprintf("PO Box %d", d.in(100, 9999))
	} else {
		c.MailingAddress = c.LegalAddress
	}
	if up, ok := parent(n); ok {
		uid := Customer(up)
		c.Parent, c.ParentEntityShortName = &uid, shortName(up)
	}
	if of := owner(n); of != 0 && of != Customer(n) {
		c.RelationshipType, c.PartnerOrgShortName = customers.RelationThirdParty, shortName(int64(of-Institution))
	}
	if n == 0 {
		c.RelationshipType, c.LegalName, c.ShortName = customers.RelationSelf, b.name, b.shortName
		c.CustomerID, c.SWIFTCode, c.ProcessingOrgShortName = "", "SNDBUS30", ""
	}
	if company {
		b.furnishCompany(c, d, n)
	} else {
		c.EmailAddress = strings.ReplaceAll(strings.ToLower(c.LegalName), " ", ".") +
			fmt.Sprintf("%d@mail.example", n)
	}
	switch status(n) {
	case customers.Suspended:
		c.Note = "Suspended: identity documents have expired"
	case customers.Pending:
		c.Note = "Waits for review of beneficial ownership"
	}
	return c
}

// furnishCompany adds what only companies and banks have.
func (b *bank) furnishCompany(c *customers.Customer, d *dice, n int64) {
	domain := slug(c.LegalName) + ".example"
	c.LEI, c.ACHCompanyID = lei(n), achCompanyID(n)
	c.EmailAddress, c.Website = "treasury@"+domain, "https://www."+domain
	c.LogoURL, c.LinkedinURL = c.Website+"/logo.png", "https://linkedin.example/company/"+slug(c.LegalName)
	c.TwitterURL = "https://twitter.example/" + slug(c.LegalName)
	c.FaxNumber = c.PhoneNumber[:len(c.PhoneNumber)-2] + d.digits(2)
	c.SECCodes = []string{"CCD", "PPD", "CTX"}
	if d.chance(40) {
		c.SECCodes = append(c.SECCodes, "WEB")
	}
	if c.Type == customers.FinancialInstitution {
		c.RelationshipType, c.SWIFTCode = customers.RelationBank,
			"DM"+string(rune('A'+n/100%26))+string(rune('A'+n/2600%26))+"US30"
	}
	c.Profile = customers.Profile{
		CreditClient: d.chance(40), AccountAnalysis: d.chance(50), SSO: d.chance(30), BillingCustomer: true,
		ACHPositivePay: d.chance(35), ACHWhitelist: d.chance(20), PaymentFileAuthentication: d.chance(50),
		FXPricingTier:         pick(d, words("Standard Preferred Premier")),
		CreditValueAdjustment: fmt.Sprintf("0.%02d", d.in(5, 95)), DetailsOfCharge: pick(d, charges),
	}
	c.Access = customers.AccessSettings{
		AllowOnlineAccess: true, UserDualApproval: c.UID == First, UserPINForApproval: true,
		CustomerPINForApproval: true, BeneDualApproval: d.chance(60), BenePINForApproval: true,
		PaymentPINForNewEntry: d.chance(50), PaymentDualApproval: true, PaymentPINForApproval: true,
		FeeTierForApproval: d.chance(20), FirstApproverLimit: customers.Cents(d.in(1, 10) * 1_000_000),
		SecondApproverLimit: customers.Cents(d.in(20, 90) * 1_000_000), NumberOfApprovers: int32(d.in(1, 2)),
	}
	if n == 0 { // the bank's own settings count for every customer
		c.Access = customers.AccessSettings{AllowOnlineAccess: true}
	}
	c.AdditionalAttributes = []customers.Attribute{
		{Name: "Industry Code", Value: d.digits(6)},
		{Name: "Cash Intensive", Value: pick(d, []string{"True", "False"})},
		{Name: "Next Review", Value: b.start.AddDate(0, 0, int(d.in(10, 360))).Format(time.DateOnly)},
	}
	if c.UID == First {
		c.Note = "Prefers a call before wires above the callback limit"
	}
}

// attributes returns the custom attributes of the demo bank.
func (b *bank) attributes() (all []*customers.Configured) {
	for _, a := range []struct {
		level customers.Level
		name  string
		of    customers.AttributeType
	}{
		{customers.ForCustomers, "Industry Code", customers.TextAttribute},
		{customers.ForCustomers, "Cash Intensive", customers.BooleanAttribute},
		{customers.ForCustomers, "Next Review", customers.DateAttribute},
		{customers.ForAccounts, "Desk", customers.TextAttribute},
		{customers.ForAccounts, "Interest Bearing", customers.BooleanAttribute},
		{customers.ForAccounts, "Signature Card", customers.DateAttribute},
	} {
		all = append(all,
			&customers.Configured{
				Tenant: b.tenant, Level: a.level, Name: a.name, Type: a.of,
				CreatedAt: b.start.AddDate(-2, 0, 0).UTC().Truncate(time.Second),
			})
	}
	return all
}

// achCompanyID returns ten digits: a 1 and the tax id.
func achCompanyID(n int64) string { return "1" + taxID(n, false) }
