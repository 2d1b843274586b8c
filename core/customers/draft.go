package customers

import (
	"reflect"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
)

// Draft is what a request says about a customer (rest/CONTRACT.md, new customer). An update changes what is
// given. Faults name the fields as the second generation does.
type Draft struct {
	Oldest bool `json:"oldest,omitzero"` // of the first generation, which demands other fields and limits fewer

	ExternalReferenceID    given.Text    `json:"externalReferenceId,omitzero"`
	LegalName              given.Text    `json:"legalName,omitzero"`
	ShortName              given.Text    `json:"shortName,omitzero"` // of a new customer; it never changes
	CustomerID             given.Text    `json:"customerId,omitzero"`
	Type                   *Type         `json:"customerType,omitzero"`
	TaxID                  given.Text    `json:"taxId,omitzero"` // in the clear: a draft that is kept is sealed
	ACHCompanyID           given.Text    `json:"achCompanyID,omitzero"`
	LEI                    given.Text    `json:"lei,omitzero"`
	SWIFTCode              given.Text    `json:"swiftCode,omitzero"`
	Language               given.Text    `json:"language,omitzero"`
	EmailAddress           given.Text    `json:"emailAddress,omitzero"`
	PhoneNumber            given.Text    `json:"phoneNumber,omitzero"`
	FaxNumber              given.Text    `json:"faxNumber,omitzero"`
	Website                given.Text    `json:"webSite,omitzero"`
	LogoURL                given.Text    `json:"logoUrl,omitzero"`
	LinkedinURL            given.Text    `json:"linkedinUrl,omitzero"`
	TwitterURL             given.Text    `json:"twitterUrl,omitzero"`
	LegalAddress           given.Address `json:"legalAddress,omitzero"`
	MailAddressSameAsLegal given.Flag    `json:"mailAddressSameAsLegal,omitzero"`
	MailingAddress         given.Address `json:"mailingAddress,omitzero"`
	RelationshipType       *Relationship `json:"relationshipType,omitzero"`
	PartnerOrgShortName    given.Text    `json:"partnerOrgShortName,omitzero"`
	CostCenter             given.Text    `json:"costCenter,omitzero"`
	RelationshipManager    given.Text    `json:"relationshipManager,omitzero"`
	OriginatingOfficer     given.Text    `json:"originatingOfficer,omitzero"`
	ParentEntityShortName  given.Text    `json:"parentEntityShortName,omitzero"`
	Profile                ProfileDraft  `json:"additionalProfileDetails,omitzero"`
	SECCodes               []string      `json:"secCodes,omitzero"` // nil: not given
	Note                   given.Text    `json:"note,omitzero"`
	Access                 AccessDraft   `json:"legalEntityAccessSettings,omitzero"`
	AdditionalAttributes   []Attribute   `json:"additionalAttributes,omitzero"` // nil: not given
	Limits                 []Ceiling     `json:"limits,omitzero"`
}

// Ceiling is the ceiling that a limit of the customer is to have (rest/CONTRACT.md, customer update:
// limits[].appLimits[]). What the codes and values mean is the limits' to say.
type Ceiling struct {
	Code        string `json:"key"` // letter case does not count
	Value       string `json:"value"`
	Application string `json:"appName,omitzero"` // '': whichever the limit belongs to

	At string `json:"-"` // where partners wrote it, limits[0].appLimits[1]; '' for its place in Limits
}

// check looks at the draft of a new customer, or of a change, and puts it into the form in which it is
// stored. own is a change of the caller's own legal entity.
func (d *Draft) check(caller access.Caller, making, own bool) error {
	c := check.Of("customer")
	said := *d
	said.Oldest = false // says nothing about the customer
	if !making && reflect.ValueOf(said).IsZero() {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.ShortName.Value, d.CustomerID.Value = ident.Spaced(d.ShortName.Value), ident.Spaced(d.CustomerID.Value)
	d.checkRequired(c, making)
	for _, text := range []struct {
		field string
		value given.Text
		most  int
	}{
		{"externalReferenceId", d.ExternalReferenceID, 255},
		{"legalName", d.LegalName, 255},
		{"shortName", d.ShortName, 255},
		{"customerId", d.CustomerID, 255},
		{"language", d.Language, 255},
		{"phoneNumber", d.PhoneNumber, 255},
		{"faxNumber", d.FaxNumber, 255},
		{"webSite", d.Website, 255},
		{"logoUrl", d.LogoURL, 255},
		{"linkedinUrl", d.LinkedinURL, 255},
		{"twitterUrl", d.TwitterURL, 255},
		{"partnerOrgShortName", d.PartnerOrgShortName, 255},
		{"costCenter", d.CostCenter, 20},
		{"relationshipManager", d.RelationshipManager, 255},
		{"originatingOfficer", d.OriginatingOfficer, 255},
		{"parentEntityShortName", d.ParentEntityShortName, 255},
		{"note", d.Note, 255},
	} {
		c.AtMost(text.field, text.value.Value, text.most)
	}
	d.checkCaller(c, caller, making, own)
	d.checkIdentity(c, making)
	d.checkAddresses(c, making)
	d.Profile.check(c.In("additionalProfileDetails"))
	d.Access.check(c.In("legalEntityAccessSettings"))
	d.SECCodes = c.SECCodes("secCodes", d.SECCodes)
	CheckAttributes(c, "additionalAttributes", d.AdditionalAttributes)
	return c.Err()
}

// checkRequired demands what a new customer must have, and that a change clears none of it. The first
// generation asks for a reference, and the second for the people and words of the bank (rest/CONTRACT.md, new
// customer; customers of the oldest form).
func (d *Draft) checkRequired(c *check.Fields, making bool) {
	oldest, current := making && d.Oldest, making && !d.Oldest
	if oldest {
		c.Required("externalReferenceId", d.ExternalReferenceID.Value)
	}
	c.Given("legalName", d.LegalName, making)
	if making {
		c.Required("shortName", d.ShortName.Value)
		if d.Type == nil {
			c.Fail("customerType", fault.Required, "is required")
		}
		if !d.MailAddressSameAsLegal.Given {
			c.Fail("mailAddressSameAsLegal", fault.Required, "is required")
		}
	}
	c.Given("taxId", d.TaxID, making)
	if current {
		c.Required("language", d.Language.Value)
		c.Required("costCenter", d.CostCenter.Value)
		c.Required("relationshipManager", d.RelationshipManager.Value)
		c.Required("originatingOfficer", d.OriginatingOfficer.Value)
	}
}

// clearsNothing demands that a change does not clear what the second generation demands. The oldest form
// leaves it open: a customer that never had it may be sent back as it is read.
func (d *Draft) clearsNothing(c *check.Fields, was *Customer) {
	for _, f := range []struct {
		name   string
		given  *given.Text
		stored string
	}{
		{"language", &d.Language, was.Language},
		{"costCenter", &d.CostCenter, was.CostCenter},
		{"relationshipManager", &d.RelationshipManager, was.RelationshipManager},
		{"originatingOfficer", &d.OriginatingOfficer, was.OriginatingOfficer},
	} {
		if strings.TrimSpace(f.given.Value) != "" {
			continue
		}
		if f.given.Given && f.stored != "" {
			c.Required(f.name, "")
		}
		*f.given = given.Text{}
	}
}

func (d *Draft) checkIdentity(c *check.Fields, making bool) {
	if making || !seal.LooksMasked(d.TaxID.Value) { // redraftTx looks at a mask
		c.TaxID("taxId", d.TaxID.Value, d.longestTaxID())
	}
	c.ACHCompanyID("achCompanyID", d.ACHCompanyID.Value)
	c.LEI("lei", d.LEI.Value)
	d.SWIFTCode.Value = c.BIC("swiftCode", d.SWIFTCode.Value)
	c.Email("emailAddress", d.EmailAddress.Value)
	c.URL("webSite", d.Website.Value)
	c.URL("logoUrl", d.LogoURL.Value)
	c.URL("linkedinUrl", d.LinkedinURL.Value)
	c.URL("twitterUrl", d.TwitterURL.Value)
	d.PhoneNumber.Value, d.FaxNumber.Value = check.AnyPhone(d.PhoneNumber.Value, "US"),
		check.AnyPhone(d.FaxNumber.Value, "US")
	if making && !d.Oldest { // free on an update, and in the oldest form (rest/CONTRACT.md, language)
		d.Language.Value = check.OneOf(c, "language", d.Language.Value, "English", "Spanish")
	}
}

// longestTaxID: the second generation takes 10 characters, the first names no length (rest/CONTRACT.md,
// taxId): people's have 11 with their hyphens.
func (d *Draft) longestTaxID() int {
	if d.Oldest {
		return 255
	}
	return 10
}

// checkAddresses: with the flag the mailing address is the legal one, whatever else the request says of it.
func (d *Draft) checkAddresses(c *check.Fields, making bool) {
	if d.MailAddressSameAsLegal.Value {
		d.MailingAddress = given.Address{}
	}
	var legal, mailing []string
	if making {
		legal = []string{"addressLine1", "city", "postalCode", "countryCode"}
		if d.Oldest {
			legal = []string{"addressLine1", "city", "state", "countryCode"}
		}
		if d.MailAddressSameAsLegal.Given && !d.MailAddressSameAsLegal.Value {
			mailing = legal
			if d.Oldest {
				mailing = needed
			}
		}
	}
	d.LegalAddress = c.GivenAddress("legalAddress", d.LegalAddress, legal...)
	d.MailingAddress = c.GivenAddress("mailingAddress", d.MailingAddress, mailing...)
}

// needed are the parts that every address has.
var needed = []string{"addressLine1", "city", "countryCode"}

// to writes what is given into a customer, but for what is looked up: its names of others, and its
// attributes.
func (d *Draft) to(c *Customer) {
	d.ExternalReferenceID.To(&c.ExternalReferenceID)
	d.LegalName.To(&c.LegalName)
	d.CustomerID.To(&c.CustomerID)
	d.ACHCompanyID.To(&c.ACHCompanyID)
	d.LEI.To(&c.LEI)
	d.SWIFTCode.To(&c.SWIFTCode)
	d.Language.To(&c.Language)
	d.EmailAddress.To(&c.EmailAddress)
	d.PhoneNumber.To(&c.PhoneNumber)
	d.FaxNumber.To(&c.FaxNumber)
	d.Website.To(&c.Website)
	d.LogoURL.To(&c.LogoURL)
	d.LinkedinURL.To(&c.LinkedinURL)
	d.TwitterURL.To(&c.TwitterURL)
	d.CostCenter.To(&c.CostCenter)
	d.Note.To(&c.Note)
	if d.Type != nil {
		c.Type = *d.Type
	}
	if d.SECCodes != nil {
		c.SECCodes = d.SECCodes
	}
	d.Profile.to(&c.Profile)
	d.Access.to(&c.Access)
}

// addressesTo writes the addresses, which must be whole afterwards. A mailing address that was the legal one
// so far is not merged with.
func (d *Draft) addressesTo(c *Customer) error {
	mirrored := c.MailAddressSameAsLegal
	d.MailAddressSameAsLegal.To(&c.MailAddressSameAsLegal)
	d.LegalAddress.To(&c.LegalAddress)
	switch {
	case c.MailAddressSameAsLegal:
		c.MailingAddress = c.LegalAddress
	case mirrored:
		c.MailingAddress = postal.Address{}
	}
	if !c.MailAddressSameAsLegal {
		d.MailingAddress.To(&c.MailingAddress)
	}
	f := check.Of("customer")
	if d.LegalAddress != (given.Address{}) {
		whole(f.In("legalAddress"), c.LegalAddress)
	}
	if d.MailAddressSameAsLegal.Given || d.MailingAddress != (given.Address{}) {
		whole(f.In("mailingAddress"), c.MailingAddress)
	}
	return f.Err()
}

func whole(c *check.Fields, a postal.Address) {
	c.Required("addressLine1", a.Line1)
	c.Required("city", a.City)
	c.Required("countryCode", a.CountryCode)
}

// cents reads an amount that has been checked.
func cents(text given.Text, to *Cents) {
	if text.Given {
		amount, _ := money.Parse(text.Value, money.Hundredths)
		*to = Cents(amount.Minor)
	}
}
