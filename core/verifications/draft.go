package verifications

import (
	"fmt"

	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// Draft is what a request says about a verification.
type Draft struct {
	Contact contacts.UID `json:"contact"`
	Account accounts.UID `json:"account"` // of the contact's customer, from which it is done
	Method  Method       `json:"method"`
}

func (d *Draft) check() error {
	c := check.Of(object)
	if d.Contact == 0 {
		c.Required("contact", "")
	}
	if d.Account == 0 {
		c.Required("account", "")
	}
	c.Required("method", string(d.Method))
	d.Method = check.OneOf(c, "method", string(d.Method), Methods...)
	return c.Err()
}

// Amounts are what somebody says that the deposits were, in any order.
type Amounts struct {
	Amounts []string `json:"amounts"` // decimal, in US dollars
}

// The deposits, and the most of each.
const (
	deposits  = 2
	mostCents = 99
	currency  = money.Currency("USD")
)

// cents reads the amounts. What cannot be amounts of deposits is no try.
func (a *Amounts) cents() (all [deposits]int64, err error) {
	c := check.Of(object)
	if len(a.Amounts) != deposits {
		c.Fail("amounts", fault.Exact, "must be two")
		return all, c.Err()
	}
	for i, text := range a.Amounts {
		amount, err := money.Parse(text, currency)
		if err != nil || amount.Minor < 1 || amount.Minor > mostCents {
			c.Fail(fmt.Sprintf("amounts[%d]", i), fault.Malformed, "must be an amount from 0.01 to 0.99")
			continue
		}
		all[i] = amount.Minor
	}
	return all, c.Err()
}
