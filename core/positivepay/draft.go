package positivepay

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// Draft is what a request says about a rule (rest/CONTRACT.md, positive pay). A change changes only what is
// given.
type Draft struct {
	Form Form `json:"form,omitzero"`
	// the account, by its UID or by its number
	Account                  accounts.UID           `json:"account,omitzero"`
	AccountNumber            given.Text             `json:"customerAccountNumber,omitzero"`
	CustomerName             given.Text             `json:"customerName,omitzero"` // the customer's short name
	Type                     Type                   `json:"paymentRuleType,omitzero"`
	ACHCompanyID             given.Text             `json:"achCompanyID,omitzero"`
	BeneficiaryName          given.Text             `json:"beneName,omitzero"`
	BeneficiaryBankID        given.Text             `json:"beneBankId,omitzero"`
	BeneficiaryBankName      given.Text             `json:"beneBankName,omitzero"`
	BeneficiaryAccountNumber given.Text             `json:"beneAccountNumber,omitzero"`
	Amount                   given.Text             `json:"amount,omitzero"` // decimal
	AmountType               AmountType             `json:"amountType,omitzero"`
	Frequency                Frequency              `json:"frequency,omitzero"`
	SECCode                  given.Text             `json:"secCode,omitzero"`
	IndividualID             given.Text             `json:"transactionIdNumber,omitzero"`
	EffectiveDate            time.Time              `json:"effectiveDate,omitzero"` // midnight UTC
	ExpiryDate               given.Value[time.Time] `json:"expiryDate,omitzero"`    // the zero time: none
	NumberOfPayments         *int32                 `json:"numberOfPayments,omitempty"`
	Currency                 given.Text             `json:"currency,omitzero"`
}

// Form is the generation of the interface whose requirements a draft has to meet.
type Form string

const (
	Current Form = ""
	Second  Form = "v2" // asks for less
)

const (
	mostDigits   = 10   // of an amount, before the point
	mostPayments = 9999 // of NumberOfPayments
)

// check validates the draft of a new rule (adding) or of a change, and puts it into stored form.
func (d *Draft) check(adding bool) error {
	c := check.Of(object)
	if !adding && reflect.DeepEqual(*d, Draft{Form: d.Form}) {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	if adding {
		c.Required("paymentRuleType", string(d.Type))
		c.Required("amountType", string(d.AmountType))
		c.Required("frequency", string(d.Frequency))
		if d.EffectiveDate.IsZero() {
			c.Fail("effectiveDate", fault.Required, "is required")
		}
	}
	if d.Account == 0 {
		c.Given("customerAccountNumber", d.AccountNumber, adding)
		c.AccountNumber("customerAccountNumber", d.AccountNumber.Value)
	}
	d.Type = check.Parsed(c, "paymentRuleType", string(d.Type), ParseType)
	d.AmountType = check.Parsed(c, "amountType", string(d.AmountType), ParseAmountType)
	d.Frequency = check.Parsed(c, "frequency", string(d.Frequency), ParseFrequency)
	c.Given("amount", d.Amount, adding)
	c.BankAmount("amount", d.Amount.Value, mostDigits)
	if d.Amount.Value != "" && (d.Amount.Value[0] == '-' || strings.Trim(d.Amount.Value, "0.") == "") {
		c.Fail("amount", fault.Min, "must be greater than 0")
	}
	c.ACHCompanyID("achCompanyID", d.ACHCompanyID.Value)
	c.Routing("beneBankId", d.BeneficiaryBankID.Value)
	for _, text := range []struct {
		field string
		value given.Text
		most  int
	}{
		{"customerName", d.CustomerName, 255},
		{"beneName", d.BeneficiaryName, 255},
		{"beneBankName", d.BeneficiaryBankName, 255},
		{"transactionIdNumber", d.IndividualID, 22}, // an entry of ACH has room for so many
	} {
		c.AtMost(text.field, text.value.Value, text.most)
	}
	d.checkClass(c)
	if n := d.NumberOfPayments; n != nil && (*n < 0 || *n > mostPayments) {
		problem := fault.Max
		if *n < 0 {
			problem = fault.Min
		}
		c.Fail("numberOfPayments", problem, "must be 1 to 9999, or 0 for no bound")
	}
	if d.Currency.Value != "" && !ident.Same(d.Currency.Value, string(currency)) {
		c.Fail("currency", fault.NoMatch, "must be USD, the currency of these networks")
	}
	if d.Form == Current && adding {
		d.demand(c, d.Type, true)
	}
	return c.Err()
}

// currency is the currency of the networks that debits come over.
const currency money.Currency = "USD"

func (d *Draft) checkClass(c *check.Fields) {
	if d.SECCode.Value == "" {
		return
	}
	class := ident.Upper(d.SECCode.Value)
	if !slices.Contains(classes, class) {
		c.Fail("secCode", fault.Malformed, "must be ALL, NA, or a standard entry class of ACH, "+
			"such as CCD or PPD")
	}
	d.SECCode.Value = class
}

// demand fails for fields that the rules of a type need, whoever the customer is.
func (d *Draft) demand(c *check.Fields, of Type, adding bool) {
	if of == ACH {
		c.Given("achCompanyID", d.ACHCompanyID, adding)
		c.Given("beneName", d.BeneficiaryName, adding)
		return
	}
	if of == Fedwire || of == Instant {
		c.Given("beneBankId", d.BeneficiaryBankID, adding)
		if d.Account == 0 { // the account's number would tell the customer, too: but so it is published
			c.Given("customerName", d.CustomerName, adding)
		}
	}
	if of == Instant {
		c.Given("beneName", d.BeneficiaryName, adding)
	}
}

// demandOf fails for fields that a rule needs unless its customer is a processing organization, and for those
// that a change must not clear.
func (d *Draft) demandOf(c *check.Fields, of Type, customer *customers.Customer, adding bool) {
	if d.Form != Current {
		return
	}
	d.demand(c, of, adding)
	if customer.Type != customers.ProcessingOrg {
		c.Given("beneName", d.BeneficiaryName, adding)
		c.Given("beneAccountNumber", d.BeneficiaryAccountNumber, adding)
	}
}

// to writes the given fields into a rule, except those that are looked up or sealed.
func (d *Draft) to(r *Rule) {
	r.AmountType, r.Frequency = cmp.Or(d.AmountType, r.AmountType), cmp.Or(d.Frequency, r.Frequency)
	if !d.EffectiveDate.IsZero() {
		r.EffectiveDate = d.EffectiveDate
	}
	if d.SECCode.Given {
		r.SECCode = cmp.Or(d.SECCode.Value, AllClasses)
	}
	d.ACHCompanyID.To(&r.ACHCompanyID)
	d.BeneficiaryName.To(&r.BeneficiaryName)
	d.BeneficiaryBankID.To(&r.BeneficiaryBankID)
	d.BeneficiaryBankName.To(&r.BeneficiaryBankName)
	d.IndividualID.To(&r.IndividualID)
	if d.ExpiryDate.Given {
		r.ExpiryDate = nil
		if day := d.ExpiryDate.Value; !day.IsZero() {
			r.ExpiryDate = &day
		}
	}
	if d.NumberOfPayments != nil {
		r.NumberOfPayments = nil
		if n := *d.NumberOfPayments; n > 0 {
			r.NumberOfPayments = &n
		}
	}
}

// dates checks the dates that a rule would have; was is the rule before, or the zero Rule for a new one.
func (d *Draft) dates(c *check.Fields, was, r *Rule, today time.Time) error {
	if !r.EffectiveDate.Equal(was.EffectiveDate) && r.EffectiveDate.Before(today) {
		c.Fail("effectiveDate", fault.Min, "must be today or later, by the bank's clock")
	}
	if r.ExpiryDate == nil {
		return nil
	}
	switch {
	case !r.ExpiryDate.After(r.EffectiveDate):
		c.Fail("expiryDate", fault.Min, "must be after effectiveDate")
	case d.ExpiryDate.Given && r.ExpiryDate.Before(today):
		c.Fail("expiryDate", fault.Min, "must be today or later, by the bank's clock")
	case r.ExpiryDate.Before(today):
		return ErrExpired.With(string(Expired))
	}
	return nil
}
