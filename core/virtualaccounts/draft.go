package virtualaccounts

import (
	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
)

// Draft is what a request says about a virtual account (rest/CONTRACT.md, virtual accounts). An update
// changes only the fields that are given.
type Draft struct {
	Name        given.Text `json:"accountName,omitzero"`
	ProductCode given.Text `json:"productCode,omitzero"`
	// the master account, by one of the two; in a change also its masked number
	MasterNumber             given.Text   `json:"masterAccountNumber,omitzero"`
	Master                   accounts.UID `json:"masterAccount,omitzero"`
	Purpose                  given.Text   `json:"purpose,omitzero"`
	ExternalAccountReference given.Text   `json:"externalAccountReference,omitzero"`
	SubmittedBy              given.Text   `json:"submittedBy,omitzero"`
	LimitPeriod              LimitPeriod  `json:"limit,omitzero"`       // "" if not given
	LimitAmount              given.Text   `json:"limitAmount,omitzero"` // decimal; empty for none

	// Whole requires that a change names all that a new virtual account needs, as the published update does.
	Whole bool `json:"whole,omitzero"`
}

// check validates the draft of a new virtual account (opening) or of a change, and puts it into stored form.
func (d *Draft) check(opening bool) error {
	c := check.Of(object)
	if !opening && !d.Whole && *d == (Draft{}) {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	whole := opening || d.Whole
	c.Given("accountName", d.Name, whole)
	c.Given("productCode", d.ProductCode, whole)
	if d.Master == 0 {
		c.Given("masterAccountNumber", d.MasterNumber, whole)
	}
	c.AtMost("accountName", d.Name.Value, 255)
	c.Words("accountName", d.Name.Value)
	c.AtMost("productCode", d.ProductCode.Value, 50)
	c.AtMost("masterAccountNumber", d.MasterNumber.Value, 255)
	c.AtMost("purpose", d.Purpose.Value, 255)
	c.AtMost("externalAccountReference", d.ExternalAccountReference.Value, 255)
	c.AtMost("submittedBy", d.SubmittedBy.Value, 255)
	d.LimitPeriod = check.OneOf(c, "limit", string(d.LimitPeriod), LimitPeriods...)
	c.Decimal("limitAmount", d.LimitAmount.Value, 13, money.FinestDigits)
	c.Between("limitAmount", d.LimitAmount.Value, "0", "")
	return c.Err()
}

// to writes the given fields into a virtual account.
func (d *Draft) to(v *VirtualAccount) error {
	d.Name.To(&v.Name)
	d.ProductCode.To(&v.ProductCode)
	d.Purpose.To(&v.Purpose)
	d.ExternalAccountReference.To(&v.ExternalAccountReference)
	d.SubmittedBy.To(&v.SubmittedBy)
	return d.limitTo(v)
}

// limitTo writes the limit. Its amount and its period are given together, or neither.
func (d *Draft) limitTo(v *VirtualAccount) error {
	c := check.Of(object)
	if d.LimitPeriod != "" {
		v.LimitPeriod = d.LimitPeriod
	}
	if d.LimitAmount.Given {
		v.LimitMinor = nil
		if limit := c.Amount("limitAmount", d.LimitAmount.Value, v.Currency); limit != nil {
			v.LimitMinor = &limit.Minor
			if limit.Minor <= 0 {
				c.Fail("limitAmount", fault.Min, "must be greater than 0")
			}
		} else if d.LimitPeriod == "" {
			v.LimitPeriod = ""
		}
	}
	if (v.LimitPeriod == "") != (v.LimitMinor == nil) {
		c.Fail("limit", fault.NoMatch, "is given together with limitAmount")
	}
	return c.Err()
}
