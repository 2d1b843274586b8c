package alerts

import (
	"fmt"

	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// Draft is what a request says about an alert. A change leaves what it does not give as it is; the account
// stays.
type Draft struct {
	Account   accounts.UID `json:"account,omitzero"`
	Balance   Balance      `json:"balance,omitzero"`
	Direction Direction    `json:"direction,omitzero"`
	Threshold string       `json:"threshold,omitzero"` // decimal, in the account's currency
}

// mostDigits is how many digits a threshold has at most before the point.
const mostDigits = 15

// check validates the form of a new alert (creating) or of a change.
func (d *Draft) check(creating bool) error {
	c := check.Of(object)
	if !creating && *d == (Draft{}) {
		c.Fail("body", fault.Required, "must name something that can be changed")
	}
	if creating {
		c.Required("balance", string(d.Balance))
		c.Required("direction", string(d.Direction))
		c.Required("threshold", d.Threshold)
	}
	d.Balance = check.OneOf(c, "balance", string(d.Balance), Balances...)
	d.Direction = check.OneOf(c, "direction", string(d.Direction), Directions...)
	if d.Threshold != "" {
		c.BankAmount("threshold", d.Threshold, mostDigits)
	}
	return c.Err()
}

// to writes what is given into an alert, whose currency is known.
func (d *Draft) to(a *Alert) error {
	if d.Balance != "" {
		a.Balance = d.Balance
	}
	if d.Direction != "" {
		a.Direction = d.Direction
	}
	if d.Threshold == "" {
		return nil
	}
	amount, err := money.Parse(d.Threshold, a.Currency)
	if err != nil {
		return fault.Field(object, "threshold", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", a.Currency, a.Currency.Digits()))
	}
	a.Minor = amount.Minor
	return nil
}
