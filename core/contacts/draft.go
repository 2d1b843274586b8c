package contacts

import (
	"reflect"
	"slices"
	"strconv"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// Draft is what a request says about a contact (rest/CONTRACT.md, new contact). An update changes only the
// fields that are given.
type Draft struct {
	Form                Form              `json:"form,omitzero"`
	ExternalReferenceID given.Text        `json:"externalReferenceId,omitzero"`
	TemplateName        given.Text        `json:"templateName,omitzero"`
	Name                given.Text        `json:"name,omitzero"`
	Address             given.Address     `json:"address,omitzero"`
	EmailAddress        given.Text        `json:"emailAddress,omitzero"`
	PhoneNumber         given.Text        `json:"phoneNumber,omitzero"`
	Bank                BankDraft         `json:"contactBank,omitzero"`
	Intermediary        IntermediaryDraft `json:"intermediaryBank,omitzero"`
	BeneficiaryNotes    given.Text        `json:"beneficiaryNotes,omitzero"`
	OtherBankInfo       given.Text        `json:"otherBeneBankInfo,omitzero"`
	RegulatoryReporting []ReportingDraft  `json:"regulartoryReporting,omitzero"` // nil: not given

	// what another account took when it was asked for; nil in a request, and where the account stays
	Redirects *Redirection `json:"redirects,omitzero"`
	Notice    *Notice      `json:"notice,omitzero"` // that says what changes, in place of all fields; nil: none
}

// BankDraft is what a request says about the bank and account of a contact.
type BankDraft struct {
	Country         given.Text    `json:"country,omitzero"` // name or code
	AccountNumber   given.Text    `json:"accountNo,omitzero"`
	AccountCurrency given.Text    `json:"accountCcy,omitzero"`
	AccountType     given.Text    `json:"accountType,omitzero"`
	AccountSubType  given.Text    `json:"accountSubType,omitzero"`
	Name            given.Text    `json:"name,omitzero"`
	Address         given.Address `json:"address,omitzero"`
	NationalCode    given.Text    `json:"nationalCode,omitzero"`
	SWIFTCode       given.Text    `json:"swiftCode,omitzero"`
}

// IntermediaryDraft is what a request says about the intermediary bank.
type IntermediaryDraft struct {
	Country              given.Text    `json:"country,omitzero"` // name or code
	Name                 given.Text    `json:"name,omitzero"`
	NationalCode         given.Text    `json:"nationalCode,omitzero"`
	SWIFTCode            given.Text    `json:"swiftCode,omitzero"`
	CoverMessageRequired given.Flag    `json:"coverMessageRequired,omitzero"`
	Address              given.Address `json:"address,omitzero"`
	AddressLine3         given.Text    `json:"addressLine3,omitzero"`
}

// ReportingDraft is what a request says about a regulatory entry. The masked form of the stored value leaves
// that value as it is.
type ReportingDraft struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// Form is the generation of the interface whose requirements a draft has to meet.
type Form string

const (
	Current Form = ""
	Second  Form = "v2"
	First   Form = "G1"
)

// needed lists the fields that a new contact must have and a change must not clear (rest/CONTRACT.md, new
// contact; contacts of the oldest form).
var needed = map[Form][]string{
	First: {
		"externalReferenceId", "templateName", "name", "contactBank.country", "contactBank.accountNo",
		"contactBank.accountCcy", "contactBank.name",
	},
	Second: {
		"templateName", "name", "contactBank.country", "contactBank.accountNo", "contactBank.accountCcy",
		"contactBank.name",
	},
	Current: {
		"templateName", "name", "contactBank.country", "contactBank.accountNo", "contactBank.accountCcy",
		"contactBank.accountType", "contactBank.accountSubType",
	},
}

// neededOfAddress lists the fields that a new address must have (rest/CONTRACT.md, addresses).
var neededOfAddress = map[Form][]string{
	First: {"addressLine1", "city", "countryCode"}, Second: {"addressLine1", "city", "countryCode"},
	Current: {"addressLine1", "city", "postalCode", "countryCode"},
}

// products lists the account types that a contact can have, with the sub-types of each (rest/CONTRACT.md,
// contact accounts).
var products = map[string][]string{
	"GL": {"GL"}, "Loan": {"Line of Credit", "Credit Card", "Heloc"},
	"Deposit": {"Checking", "Savings", "Virtual"},
}

// checkNew validates the draft of a new contact, and puts it into stored form.
func (d *Draft) checkNew() error {
	c := check.Of("contact")
	d.check(c, true)
	k := new(Contact)
	d.to(k)
	d.fits(c, k)
	k.RegulatoryReporting.kept(c, d.RegulatoryReporting)
	return c.Err()
}

// checkChange validates the draft of a change by itself; fits checks it against the contact.
func (d *Draft) checkChange() error {
	c := check.Of("contact")
	if reflect.DeepEqual(*d, Draft{Form: d.Form}) {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.check(c, false)
	return c.Err()
}

// check validates each field by itself.
func (d *Draft) check(c *check.Fields, adding bool) {
	for _, text := range d.texts() {
		if slices.Contains(needed[d.Form], text.field) {
			c.Given(text.field, text.value, adding)
		}
		c.AtMost(text.field, text.value.Value, 255)
	}
	if d.Form == Current {
		c.Alphanumeric("templateName", d.TemplateName.Value)
		c.AtLeast("name", d.Name.Value, 2)
	}
	c.Email("emailAddress", d.EmailAddress.Value)
	d.Address = d.address(c, "address", d.Address, adding, d.Form == Current)
	d.Bank.check(c.In("contactBank"))
	d.Bank.Address = d.address(c, "contactBank.address", d.Bank.Address, adding, false)
	d.Intermediary.check(c.In("intermediaryBank"))
	d.Intermediary.Address = d.address(c, "intermediaryBank.address", d.Intermediary.Address, adding, false)
	if len(d.RegulatoryReporting) > mostReporting {
		c.Fail("regulartoryReporting", fault.Max, "must be at most "+strconv.Itoa(mostReporting))
	}
	for i, entry := range d.RegulatoryReporting {
		at := c.Item("regulartoryReporting", i)
		at.Required("key", entry.Key)
		at.AtMost("key", entry.Key, 255)
		at.AtMost("value", entry.Value, 255)
	}
}

// mostReporting is how many regulatory entries a contact may have. Lists of contacts show all of them.
const mostReporting = 100

// texts returns the plain text fields, in the published order.
func (d *Draft) texts() []struct {
	field string
	value given.Text
} {
	return []struct {
		field string
		value given.Text
	}{
		{"externalReferenceId", d.ExternalReferenceID},
		{"templateName", d.TemplateName},
		{"name", d.Name},
		{"emailAddress", d.EmailAddress},
		{"phoneNumber", d.PhoneNumber},
		{"contactBank.country", d.Bank.Country},
		{"contactBank.accountNo", d.Bank.AccountNumber},
		{"contactBank.accountCcy", d.Bank.AccountCurrency},
		{"contactBank.name", d.Bank.Name},
		{"contactBank.accountType", d.Bank.AccountType},
		{"contactBank.accountSubType", d.Bank.AccountSubType},
		{"intermediaryBank.country", d.Intermediary.Country},
		{"intermediaryBank.name", d.Intermediary.Name},
		{"intermediaryBank.address.addressLine3", d.Intermediary.AddressLine3},
		{"otherInfo.beneficiaryNotes", d.BeneficiaryNotes},
		{"otherInfo.otherBeneBankInfo", d.OtherBankInfo},
	}
}

// address validates an address. A new one (adding) must have all needed fields; a contact that always has the
// address must not have them cleared.
func (d *Draft) address(c *check.Fields, object string, a given.Address, adding, always bool) given.Address {
	switch {
	case adding && (always || a != (given.Address{})):
		return c.GivenAddress(object, a, neededOfAddress[d.Form]...)
	case always:
		return c.ChangedAddress(object, a, neededOfAddress[d.Form]...)
	}
	return c.GivenAddress(object, a)
}

func (b *BankDraft) check(c *check.Fields) {
	b.Country.Value = c.CountryName("country", b.Country.Value).Name
	b.AccountCurrency.Value = string(c.Currency("accountCcy", b.AccountCurrency.Value))
	b.SWIFTCode.Value = c.BIC("swiftCode", b.SWIFTCode.Value)
	b.checkProduct(c)
}

// checkProduct checks that account type and sub-type come together and fit (rest/CONTRACT.md, contact rules).
// GL needs no sub-type, as it has only one.
func (b *BankDraft) checkProduct(c *check.Fields) {
	kind := check.OneOf(c, "accountType", b.AccountType.Value, "GL", "Loan", "Deposit")
	if ident.Same(b.AccountSubType.Value, "Saving") { // (rest/CONTRACT.md, contact accounts)
		b.AccountSubType.Value = "Savings"
	}
	product := check.OneOf(c, "accountSubType", b.AccountSubType.Value, "Checking", "Savings", "Virtual",
		"Line of Credit", "Credit Card", "Heloc", "GL")
	if kind == "GL" && product == "" && !c.Failed("accountSubType") {
		product = "GL"
	}
	together := b.AccountType.Given || b.AccountSubType.Given
	b.AccountType, b.AccountSubType = given.Text{Given: together, Value: kind},
		given.Text{Given: together, Value: product}
	switch {
	case c.Failed("accountType") || c.Failed("accountSubType"):
	case kind == "" && product != "":
		c.Fail("accountType", fault.Required, "is required with accountSubType")
	case kind != "" && product == "":
		c.Fail("accountSubType", fault.Required, "is required with accountType "+kind)
	case kind != "" && !slices.Contains(products[kind], product):
		c.Fail("accountSubType", fault.NoMatch, "is no product of accountType "+kind)
	}
}

func (b *IntermediaryDraft) check(c *check.Fields) {
	b.Country.Value = c.CountryName("country", b.Country.Value).Name
	b.SWIFTCode.Value = c.BIC("swiftCode", b.SWIFTCode.Value)
}

// to writes the given fields into a contact, except the account number and the regulatory entries, which are
// sealed.
func (d *Draft) to(k *Contact) {
	d.ExternalReferenceID.To(&k.ExternalReferenceID)
	d.TemplateName.To(&k.TemplateName)
	d.Name.To(&k.Name)
	d.Address.To(&k.Address)
	d.EmailAddress.To(&k.EmailAddress)
	d.PhoneNumber.To(&k.PhoneNumber)
	d.BeneficiaryNotes.To(&k.BeneficiaryNotes)
	d.OtherBankInfo.To(&k.OtherBankInfo)
	b := d.Bank
	b.Country.To(&k.Bank.Country)
	given.Value[money.Currency]{
		Given: b.AccountCurrency.Given,
		Value: money.Currency(b.AccountCurrency.Value),
	}.To(&k.Bank.AccountCurrency)
	b.AccountType.To(&k.Bank.AccountType)
	b.AccountSubType.To(&k.Bank.AccountSubType)
	b.Name.To(&k.Bank.Name)
	b.Address.To(&k.Bank.Address)
	b.NationalCode.To(&k.Bank.NationalCode)
	b.SWIFTCode.To(&k.Bank.SWIFTCode)
	i := d.Intermediary
	i.Country.To(&k.Intermediary.Country)
	i.Name.To(&k.Intermediary.Name)
	i.NationalCode.To(&k.Intermediary.NationalCode)
	i.SWIFTCode.To(&k.Intermediary.SWIFTCode)
	i.CoverMessageRequired.To(&k.Intermediary.CoverMessageRequired)
	i.Address.To(&k.Intermediary.Address)
	i.AddressLine3.To(&k.Intermediary.AddressLine3)
}
