package accounts

import (
	"reflect"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/seal"
)

// Draft is what a request says about an account (rest/CONTRACT.md, account bodies). An update changes only
// the fields that are given. Faults use the field names of the newest interface.
type Draft struct {
	ExternalReferenceID given.Text      `json:"externalReferenceId,omitzero"`
	Name                given.Text      `json:"accountName,omitzero"`
	Number              given.Text      `json:"accountNumber,omitzero"`
	FBONumber           given.Text      `json:"fboAccountNumber,omitzero"`
	Type                *Type           `json:"accountType,omitzero"`
	SubType             *SubType        `json:"accountSubType,omitzero"`
	SystemOfRecord      *SystemOfRecord `json:"systemOfRecords,omitzero"`
	Currency            *money.Currency `json:"currency,omitzero"`
	CountryCode         given.Text      `json:"countryCode,omitzero"`   // two or three letters
	BankID              given.Text      `json:"routingNumber,omitzero"` // or BIC
	BankIDType          *BankIDType     `json:"bankIdType,omitzero"`
	MasterGL            given.Text      `json:"masterGl,omitzero"`
	CostCenter          given.Text      `json:"costCenter,omitzero"`
	Note                given.Text      `json:"reason,omitzero"` // a note on the account's state
	Features            FeaturesDraft   `json:"accountFeatures,omitzero"`
	ExternalAccount     ExternalDraft   `json:"externalAccount,omitzero"`
	// replaces all; nil: not given
	AdditionalAttributes []customers.Attribute `json:"additionalAttributes,omitzero"`

	Behind UID `json:"behind,omitzero"` // that had the FBO number when it was asked for; 0 in a request
	// Older says that the draft comes from an interface with one switch for wires and none for ACH: its
	// switch means domestic wires, and an ACH company id switches ACH on.
	Older bool `json:"older,omitzero"`
	// Oldest says that it comes from the first generation, which demands a reference of a new account.
	Oldest bool `json:"-"`
}

// ExternalDraft identifies the account at another provider.
type ExternalDraft struct {
	Provider given.Text `json:"externalProvider,omitzero"`
	ID       given.Text `json:"externalId,omitzero"`
	Token    given.Text `json:"externalAuthToken,omitzero"`
}

// highest is the largest callback limit and exposure limit (rest/CONTRACT.md, sizes).
const highest = "999999999.99"

// check validates the draft of a new account (opening) or of a change, and puts it into stored form. The
// rules between fields are checked later, on the resulting account.
func (d *Draft) check(opening bool) error {
	c := check.Of("account")
	if !opening && d.empty() {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	d.checkRequired(c, opening)
	c.AtMost("accountName", d.Name.Value, 255)
	c.Words("accountName", d.Name.Value)
	if opening {
		d.keep(c, new(Account))
	}
	if !seal.LooksMasked(d.Number.Value) { // keep handles a masked number, once the account is read
		c.AccountNumber("accountNumber", d.Number.Value)
	}
	if !seal.LooksMasked(d.FBONumber.Value) {
		c.AccountNumber("fboAccountNumber", d.FBONumber.Value)
	}
	c.AtMost("routingNumber", d.BankID.Value, 255)
	d.CountryCode.Value = c.Country("countryCode", d.CountryCode.Value)
	c.AtMost("masterGl", d.MasterGL.Value, 100)
	c.AtMost("costCenter", d.CostCenter.Value, 100)
	c.AtMost("externalReferenceId", d.ExternalReferenceID.Value, 255)
	c.AtMost("reason", d.Note.Value, 255)
	external := c.In("externalAccount")
	external.AtMost("externalProvider", d.ExternalAccount.Provider.Value, 255)
	external.AtMost("externalId", d.ExternalAccount.ID.Value, 255)
	external.AtMost("externalAuthToken", d.ExternalAccount.Token.Value, 255)
	d.Features.check(c)
	customers.CheckAttributes(c, "additionalAttributes", d.AdditionalAttributes)
	return c.Err()
}

func (d *Draft) empty() bool {
	plain := *d
	plain.Older = false
	return reflect.ValueOf(plain).IsZero()
}

// keep drops from the draft the sealed values that are given masked, as callers read them, so that they stay.
func (d *Draft) keep(c *check.Fields, a *Account) {
	d.Number = a.Number.Kept(c, "accountNumber", d.Number)
	d.FBONumber = a.FBONumber.Kept(c, "fboAccountNumber", d.FBONumber)
	d.ExternalAccount.Token = a.ExternalToken.Kept(c.In("externalAccount"), "externalAuthToken",
		d.ExternalAccount.Token)
}

// arranged returns ErrArranged if a customer's own people give a field that the bank or the partner has
// arranged.
func (d *Draft) arranged(caller access.Caller) error {
	if arranges(caller) == nil {
		return nil
	}
	own := *d
	own.Name, own.ExternalReferenceID, own.Note, own.Older = given.Text{}, given.Text{}, given.Text{}, false
	if own.empty() {
		return nil
	}
	return ErrArranged
}

// ErrArranged is returned when a customer's own people are to change what the bank has arranged of an
// account.
var ErrArranged = fault.New(fault.Denied, "account.arranged",
	"a customer's own people change the name, reference and note of its accounts alone")

// checkRequired demands the fields that every account has. A type needs its sub-type (rest/CONTRACT.md,
// account rules).
func (d *Draft) checkRequired(c *check.Fields, opening bool) {
	c.Given("accountName", d.Name, opening)
	c.Given("accountNumber", d.Number, opening)
	c.Given("routingNumber", d.BankID, opening)
	c.Given("masterGl", d.MasterGL, opening)
	c.Given("countryCode", d.CountryCode, opening)
	if opening && d.Oldest {
		c.Required("externalReferenceId", d.ExternalReferenceID.Value)
	}
	required := func(field string, missing bool) {
		if missing {
			c.Fail(field, fault.Required, "is required")
		}
	}
	required("accountType", opening && d.Type == nil)
	required("accountSubType", d.SubType == nil && (opening || d.Type != nil))
	required("currency", opening && d.Currency == nil)
	required("systemOfRecords", opening && d.SystemOfRecord == nil)
}

// to writes the given fields into an account, except sealed numbers and custom attributes, which the service
// writes.
func (d *Draft) to(a *Account) error {
	d.ExternalReferenceID.To(&a.ExternalReferenceID)
	d.Name.To(&a.Name)
	set(&a.Type, d.Type)
	set(&a.SubType, d.SubType)
	set(&a.SystemOfRecord, d.SystemOfRecord)
	d.MasterGL.To(&a.MasterGL)
	d.CostCenter.To(&a.CostCenter)
	d.Note.To(&a.Reason)
	d.ExternalAccount.Provider.To(&a.ExternalProvider)
	d.ExternalAccount.ID.To(&a.ExternalID)
	c := check.Of("account")
	d.bankTo(c, a)
	former := a.Currency
	set(&a.Currency, d.Currency)
	if a.Currency != former {
		d.Features.anew(c, a)
	}
	d.Features.to(c, a, d.Older)
	return first(c.Err())
}

// bankTo writes the bank that keeps the account. Only national ids of the United States are checked as
// routing numbers.
func (d *Draft) bankTo(c *check.Fields, a *Account) {
	if !d.BankID.Given && d.BankIDType == nil && !d.CountryCode.Given {
		return
	}
	if d.CountryCode.Given {
		country, _ := check.CountryOf(d.CountryCode.Value)
		a.CountryCode, a.Country = country.Code, country.Name
	}
	if d.BankID.Given && d.BankID.Value != a.BankID {
		a.BankID, a.BankName = d.BankID.Value, ""
	}
	set(&a.BankIDType, d.BankIDType)
	if a.BankIDType == "" {
		a.BankIDType = kindOf(a.BankID)
	}
	switch {
	case a.BankIDType == BIC:
		a.BankID = c.BIC("routingNumber", a.BankID)
	case a.CountryCode == "US":
		c.Routing("routingNumber", a.BankID)
	default:
		c.AtMost("routingNumber", a.BankID, 34)
		c.Alphanumeric("routingNumber", a.BankID)
	}
}

// kindOf guesses the kind of a bank id from its form.
func kindOf(bankID string) BankIDType {
	c := check.Of("account")
	if c.BIC("routingNumber", bankID); c.Err() == nil {
		return BIC
	}
	return NID
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

// first returns one fault of several.
func first(err error) error {
	if f, ok := fault.Of(err); ok {
		return f
	}
	return err
}
