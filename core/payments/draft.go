package payments

import (
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/fault"
)

// Draft is what a request says about a book transfer (rest/CONTRACT.md, book transfers).
type Draft struct {
	Sender              Party     `json:"senderAccount"`
	Receiver            Party     `json:"receiverAccount"`
	Amount              string    `json:"paymentAmount"`        // decimal, in the sender's currency
	Date                time.Time `json:"paymentDate,omitzero"` // midnight UTC; zero for today
	ExternalReferenceID string    `json:"externalReferenceId,omitempty"`
	Notes               string    `json:"paymentNotes,omitempty"`
	Channel             string    `json:"channel,omitempty"` // "" for API
	// how it is to be repeated; nil for a single payment
	Repeat *Repetition `json:"recurrence,omitempty"`
	// Documented requires all that the published form of a transfer does: a reference, a date, and the type
	// of an account that is named by its number
	Documented bool `json:"documented,omitempty"`
}

// Party names an account of the bank: by its UID, or else by its number. Whatever else is given must match
// the account, except the name, which nobody has to know exactly.
type Party struct {
	UID           accounts.UID `json:"accountUID,omitempty"`
	Number        string       `json:"accountNumber,omitempty"`
	Currency      string       `json:"currency,omitempty"`
	Type          string       `json:"accountType,omitempty"` // of types
	SubType       string       `json:"accountSubType,omitempty"`
	RoutingNumber string       `json:"routingNumber,omitempty"`
	BankIDType    string       `json:"bankIdType,omitempty"` // of orders: NID, or BIC or SWIFT; "" for NID
	Name          string       `json:"accountName,omitempty"`
}

// general is the type of the bank's general ledger accounts, which no transfer reaches: no account here has
// it.
const general = "GL"

var (
	types    = []string{general, string(accounts.Loan), string(accounts.Deposit)}
	subTypes = append([]accounts.SubType{general}, accounts.SubTypes...)
)

// check validates the form of a transfer. What accounts it names is checked where it is carried out.
func (d *Draft) check() error {
	c := check.Of("payment")
	d.Sender.check(c.In("senderAccount"), d.Documented)
	d.Receiver.check(c.In("receiverAccount"), d.Documented)
	CheckAmount(c, d.Amount)
	if d.Documented {
		c.Required("externalReferenceId", d.ExternalReferenceID)
		if d.Date.IsZero() {
			c.Fail("paymentDate", fault.Required, "is required")
		}
	}
	d.Repeat.check(c.In("recurrence"), d.Date, mostPayments)
	c.AtMost("externalReferenceId", d.ExternalReferenceID, 200)
	c.AtMost("paymentNotes", d.Notes, 250)
	c.AtMost("channel", d.Channel, 50)
	return c.Err()
}

// CheckAmount checks the form of the amount to be paid.
func CheckAmount(c *check.Fields, amount string) {
	c.Required("paymentAmount", amount)
	c.BankAmount("paymentAmount", amount, mostDigits)
	if amount != "" && (amount[0] == '-' || strings.Trim(amount, "0.") == "") {
		c.Fail("paymentAmount", fault.Min, "must be greater than 0")
	}
}

// Check checks the form of what names an account, and normalizes its words for comparison.
func (p *Party) Check(c *check.Fields) { p.check(c, false) }

func (p *Party) check(c *check.Fields, documented bool) {
	switch {
	case p.UID != 0:
	case p.Number == "" && !c.Failed("accountNumber"): // where the number is required anyway, that is said
		c.Fail("accountUID", fault.Required, "is required, or an accountNumber instead")
	case documented && p.Type == "":
		c.Fail("accountType", fault.Required, "is required with an accountNumber")
	}
	c.AccountNumber("accountNumber", p.Number)
	p.Currency = string(c.Currency("currency", p.Currency))
	p.Type = check.OneOf(c, "accountType", p.Type, types...)
	p.SubType = string(check.OneOf(c, "accountSubType", p.SubType, subTypes...))
	c.AtMost("routingNumber", p.RoutingNumber, 11)
	c.AtMost("accountName", p.Name, 255)
}
