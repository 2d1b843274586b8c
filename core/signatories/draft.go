package signatories

import (
	"fmt"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
)

// Draft is what a request says about a signatory (rest/CONTRACT.md, signatory bodies). An update changes only
// the fields that are given.
type Draft struct {
	FullName      given.Text `json:"fullName,omitzero"`
	EmailAddress  given.Text `json:"emailAddress,omitzero"`
	Title         given.Text `json:"title,omitzero"`
	PhoneNumber   given.Text `json:"phoneNumber,omitzero"`
	ApprovalLimit given.Text `json:"approvalLimit,omitzero"` // decimal, in the bank's currency; empty for none
}

// check validates the draft of a new signatory (adding) or of a change, and puts it into stored form.
func (d *Draft) check(adding bool) error {
	c := check.Of("signatory")
	if !adding && *d == (Draft{}) {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	c.Given("fullName", d.FullName, adding)
	c.Given("emailAddress", d.EmailAddress, adding)
	c.Given("phoneNumber", d.PhoneNumber, adding)
	c.AtMost("fullName", d.FullName.Value, 255)
	c.AtMost("title", d.Title.Value, 255)
	c.Email("emailAddress", d.EmailAddress.Value)
	d.PhoneNumber.Value = c.Phone("phoneNumber", d.PhoneNumber.Value, "US")
	c.NotNegative("approvalLimit", d.ApprovalLimit.Value)
	c.BankAmount("approvalLimit", d.ApprovalLimit.Value, 12)
	return c.Err()
}

// to writes the given fields into a signatory.
func (d *Draft) to(g *Signatory) error {
	d.FullName.To(&g.FullName)
	d.EmailAddress.To(&g.EmailAddress)
	d.Title.To(&g.Title)
	d.PhoneNumber.To(&g.PhoneNumber)
	if !d.ApprovalLimit.Given {
		return nil
	}
	g.LimitMinor = nil
	if d.ApprovalLimit.Value == "" {
		return nil
	}
	limit, err := money.Parse(d.ApprovalLimit.Value, g.Currency)
	if err != nil {
		return fault.Field("signatory", "approvalLimit", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", g.Currency, g.Currency.Digits()))
	}
	g.LimitMinor = &limit.Minor
	return nil
}
