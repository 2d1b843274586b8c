package fx

import (
	"strings"
	"time"

	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
)

// Draft is what a request says about a quote (rest/CONTRACT.md, quotes).
type Draft struct {
	Channel   string        `json:"channel,omitempty"`
	IDType    string        `json:"customerIdType,omitempty"`
	UID       customers.UID `json:"customerUID,omitempty"`
	ShortName string        `json:"customerShortName,omitempty"`
	ID        string        `json:"customerId,omitempty"`
	Account   string        `json:"accountNumber,omitempty"`
	Sell      string        `json:"sellCurrency"`
	Buy       string        `json:"buyCurrency"`
	Funding   string        `json:"fundingAmount,omitempty"`  // decimal, of the currency that is sold
	Transfer  string        `json:"transferAmount,omitempty"` // decimal, of the currency that is bought
	Product   string        `json:"productType"`
	Tenor     string        `json:"tenor,omitempty"`
	ValueDate time.Time     `json:"valueDate,omitzero"` // midnight UTC
}

// wanted is a draft with its words read.
type wanted struct {
	by        IDType
	sell, buy money.Currency
	amount    money.Amount // of one of the two
	product   Product
	tenor     Tenor
}

// mostDigits is how many digits an amount has at most before the point.
const mostDigits = 13

// read validates the form of a draft.
func (d *Draft) read() (w wanted, err error) {
	c := check.Of("quote")
	c.AtMost("channel", d.Channel, 35)
	w.by = d.naming(c)
	c.AtMost("customerShortName", d.ShortName, 255)
	c.AtMost("customerId", d.ID, 255)
	c.AtMost("accountNumber", d.Account, 35)
	currency := func(field, code string) (read money.Currency) {
		c.Required(field, code)
		return check.Parsed(c, field, code, func(field, text string) (money.Currency, error) {
			read, err := money.ParseCurrency(text)
			if err != nil {
				return "", fault.Field("quote", field, fault.Malformed, "must be an ISO 4217 currency code")
			}
			return read, nil
		})
	}
	w.sell, w.buy = currency("sellCurrency", d.Sell), currency("buyCurrency", d.Buy)
	if w.sell != "" && w.sell == w.buy {
		c.Fail("buyCurrency", fault.NoMatch, "must be another currency than is sold")
	}
	amount := func(field, text string, of money.Currency) {
		c.BankAmount(field, text, mostDigits)
		if text == "" || of == "" || c.Failed(field) {
			return
		}
		read, err := money.Parse(text, of)
		switch {
		case err != nil:
			c.Fail(field, fault.Malformed, "must have no more decimals than "+string(of)+" has")
		case read.Minor <= 0:
			c.Fail(field, fault.Min, "must be greater than 0")
		default:
			w.amount = read
		}
	}
	one := func(first, second string, gives, other bool) {
		if !gives && !other {
			c.Fail(first, fault.Required, "is required, or "+second)
		}
		if gives && other {
			c.Fail(second, fault.Forbidden, "must not be given with "+first)
		}
	}
	one("fundingAmount", "transferAmount", d.Funding != "", d.Transfer != "")
	amount("fundingAmount", d.Funding, w.sell)
	amount("transferAmount", d.Transfer, w.buy)
	c.Required("productType", d.Product)
	w.product = check.OneOf(c, "productType", d.Product, SpotTrade, Forward)
	one("tenor", "valueDate", d.Tenor != "", !d.ValueDate.IsZero())
	w.tenor = check.Parsed(c, "tenor", d.Tenor, ParseTenor)
	if w.tenor != "" && w.product != "" && w.tenor.Forward() != (w.product == Forward) {
		c.Fail("tenor", fault.NoMatch,
			"of SPOT must be SPOT, ON or TN; of FORWARD it must be a number with W, M or Y")
	}
	return w, c.Err()
}

// naming reads how the draft names its customer, and refuses one that does not.
func (d *Draft) naming(c *check.Fields) IDType {
	if d.IDType == "" && d.Account != "" {
		return ByAccount
	}
	c.Required("customerIdType", d.IDType)
	by := check.OneOf(c, "customerIdType", d.IDType, ByUID, ByShortName, ByID, ByAccount)
	switch by {
	case ByUID:
		if d.UID == 0 {
			c.Fail("customerUID", fault.Required, "is required")
		}
	case ByShortName:
		c.Required("customerShortName", d.ShortName)
	case ByID:
		c.Required("customerId", d.ID)
	case ByAccount:
		c.Required("accountNumber", d.Account)
	}
	return by
}

// Acceptance is what a request says about accepting a quote.
type Acceptance struct {
	AutoCover bool   `json:"autoCover,omitempty"`
	Delay     *int32 `json:"autoCoverDelay,omitempty"` // minutes
}

// The delays of covers, in minutes (rest/CONTRACT.md, covers).
const (
	leastDelayOfConsumers = 30
	mostDelay             = 120
)

// read validates the form of an acceptance.
func (a *Acceptance) read() error {
	c := check.Of("quote")
	switch {
	case !a.AutoCover:
		a.Delay = nil // nothing is done after it
	case a.Delay == nil:
		c.Fail("autoCoverDelay", fault.Required, "is required with autoCover")
	case *a.Delay < 0:
		c.Fail("autoCoverDelay", fault.Min, "must be at least 0 minutes")
	case *a.Delay > mostDelay:
		c.Fail("autoCoverDelay", fault.Max, "must be at most 120 minutes")
	}
	return c.Err()
}

// shownNumber is an account number as quotes and trades keep it: the last four.
func shownNumber(last4 string) string { return strings.Repeat("*", 4) + last4 }
