package payments

import (
	"cmp"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// CustomFee is the fee that a request asks for, in place of the fee tier's (rest/CONTRACT.md, fees of
// payments).
type CustomFee struct {
	Name     string `json:"feeName,omitempty"`  // Custom if it is empty
	Amount   string `json:"amount"`             // decimal, in Currency
	Currency string `json:"currency,omitempty"` // USD if it is empty; that of the account
	// of a series, or an order in repair, that somebody outside the bank asked for: what the tier says by then
	// counts where that is more
	Least bool `json:"least,omitempty"`
}

const (
	customFee     = "Custom"
	longestFee    = 20 // of its name
	mostCustomFee = "10000000"
)

// check checks the form of a fee.
func (d *CustomFee) check(c *check.Fields) {
	if d == nil {
		return
	}
	c.AtMost("feeName", d.Name, longestFee)
	d.Currency = string(c.Currency("currency", cmp.Or(d.Currency, "USD")))
	c.Required("amount", d.Amount)
	c.BankAmount("amount", d.Amount, mostDigits)
	if d.Amount == "" || d.Currency == "" || c.Failed("amount") {
		return
	}
	amount, err := money.Parse(d.Amount, money.Currency(d.Currency))
	most, known := money.Parse(mostCustomFee, money.Currency(d.Currency))
	switch {
	case err != nil || known != nil:
		c.Fail("amount", fault.Malformed, "must be an amount of "+d.Currency)
	case amount.Minor <= 0:
		c.Fail("amount", fault.Min, "must be greater than 0")
	case amount.Minor > most.Minor:
		c.Fail("amount", fault.Max, "must be at most "+mostCustomFee)
	}
}

// price sets the fee that an order asks for. Only the bank's own callers may ask for less than the fee tier
// says. Of a debit nobody may ask for more than it collects, as nothing is held for its fee: an account pays
// that when the debit settles, whatever is there.
func (f *facts) price(by access.Caller, p *Payment, d *CustomFee) error {
	if d == nil {
		return nil
	}
	in := f.parties[p.Own()].Currency
	if money.Currency(d.Currency) != in {
		return fault.Field("payment", "fee.currency", fault.NoMatch,
			"must be the currency of the account, "+string(in))
	}
	amount, err := money.Parse(d.Amount, in)
	if err != nil {
		return fault.Field("payment", "fee.amount", fault.Malformed, "must be an amount of "+string(in))
	}
	said := int64(0)
	if tier := f.tier(p, in); tier != nil {
		said = tier.Price
	}
	switch most := max(said, p.Minor); {
	case d.Least && amount.Minor < said:
		return nil
	case by.Reach != access.OfBank && amount.Minor < said:
		return fault.Field("payment", "fee.amount", fault.Min,
			"must be at least what the fee tier of the customer says, "+money.Of(said, in).String())
	case p.Collects() && amount.Minor > most:
		return fault.Field("payment", "fee.amount", fault.Max,
			"must be at most what the debit collects, or what the fee tier says: "+
				money.Of(most, in).String())
	}
	d.Least = d.Least || by.Reach != access.OfBank
	p.CustomFeeMinor, p.CustomFeeName = amount.Minor, cmp.Or(d.Name, customFee)
	return nil
}

// CustomFee returns the fee that was asked for in place of the fee tier's; nil if none was.
func (p *Payment) CustomFee() *money.Amount {
	if p.CustomFeeMinor == 0 {
		return nil
	}
	fee := money.Of(p.CustomFeeMinor, p.DebitedCurrency())
	return &fee
}

// Committed returns what the maker, and who approves it, answer for: what the payer is debited, with a fee
// that the request names.
func (p *Payment) Committed() money.Amount {
	amount := p.Debited()
	amount.Minor += p.CustomFeeMinor
	return amount
}

// charge returns the fee of a payment; nil if there is none.
func (f *facts) charge(p *Payment) *fees.Charge {
	if p.Enrols() {
		return nil
	}
	if p.CustomFeeMinor > 0 {
		return &fees.Charge{FeeName: p.CustomFeeName, Price: p.CustomFeeMinor, Currency: p.DebitedCurrency()}
	}
	return f.tier(p, p.DebitedCurrency())
}

// tier returns the fee of a payment from an account in a currency, by the fee tier of the customer; nil if
// there is none.
func (f *facts) tier(p *Payment, in money.Currency) *fees.Charge {
	name := cmp.Or(string(p.Speed), bookFee)
	for _, c := range f.charges[p.Own()] {
		if ident.Same(c.FeeName, name) && c.Currency == in {
			if c.Price > 0 {
				return c
			}
			return nil
		}
	}
	return nil
}
