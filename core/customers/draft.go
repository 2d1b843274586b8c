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

// Draft is what a request says about a customer (rest/CONTRACT.md, new customer). An update changes only the
// fields that are given. Faults use the field names of the second generation.
type Draft struct {
	Oldest bool `json:"oldest,omitzero"` // the first generation: it requires other fields and bounds fewer

	ExternalReferenceID given.Text `json:"externalReferenceId,omitzero"`
	LegalName           given.Text `json:"legalName,omitzero"`
	ShortName           given.Text `json:"shortName,omitzero"` // of a new customer; it never changes
	CustomerID          given.Text `json:"customerId,omitzero"`
	Type                *Type      `json:"customerType,omitzero"`
	// in the clear; a stored draft is sealed as a whole
	TaxID                  given.Text    `json:"taxId,omitzero"`
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

// Ceiling is a new ceiling for one of the customer's limits (rest/CONTRACT.md, customer update:
// limits[].appLimits[]). Package limits checks its code and value.
type Ceiling struct {
	Code        string `json:"key"` // letter case does not count
	Value       string `json:"value"`
	Application string `json:"appName,omitzero"` // '': the one that the limit belongs to

	At string `json:"-"` // its path in the request, such as limits[0].appLimits[1]; '': its index in Limits
}

// check validates the draft of a new customer (making) or of a change, and puts it into stored form. own
// marks a change of the caller's own legal entity.
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

// checkRequired demands the fields that a new customer must have, and refuses a change that clears one. The
// generations require different fields (rest/CONTRACT.md, new customer; customers of the oldest form).
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

// clearsNothing refuses a change that clears a field that the second generation requires. A customer created
// in the oldest form may lack the field, and may be sent back as it was read.
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
	if making || !seal.LooksMasked(d.TaxID.Value) { // redraftTx checks a masked value
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
	if making && !d.Oldest { // free text on an update, and in the oldest form (rest/CONTRACT.md, language)
		d.Language.Value = check.OneOf(c, "language", d.Language.Value, "English", "Spanish")
	}
}

// longestTaxID returns how many characters a tax id may have: 10 in the second generation. The first names no
// length (rest/CONTRACT.md, taxId); a person's has 11 with its hyphens.
func (d *Draft) longestTaxID() int {
	if d.Oldest {
		return 255
	}
	return 10
}

// checkAddresses ignores the mailing address if the flag says that it is the legal one.
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

// needed lists the fields that every address must have.
var needed = []string{"addressLine1", "city", "countryCode"}

// to writes the given fields into a customer, except those that need a look-up: the names of others, and
// custom attributes.
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

// addressesTo writes the addresses, which must be complete afterwards. A mailing address that was the same as
// the legal one is replaced, not merged.
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

// cents stores an amount that has been checked.
func cents(text given.Text, to *Cents) {
	if text.Given {
		amount, _ := money.Parse(text.Value, money.Hundredths)
		*to = Cents(amount.Minor)
	}
}
