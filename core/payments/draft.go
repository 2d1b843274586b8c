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
}

// Party names an account of the bank: by its UID, or else by its number.
type Party struct {
	UID      accounts.UID `json:"accountUID,omitempty"`
	Number   string       `json:"accountNumber,omitempty"`
	Currency string       `json:"currency,omitempty"` // "" for the account's; otherwise it must be that
}

// check validates the form of a transfer. What accounts it names is checked where it is carried out.
func (d *Draft) check() error {
	c := check.Of("payment")
	for _, side := range []struct {
		field string
		party *Party
	}{{"senderAccount", &d.Sender}, {"receiverAccount", &d.Receiver}} {
		in := c.In(side.field)
		if side.party.UID == 0 {
			if side.party.Number == "" {
				in.Fail("accountUID", fault.Required, "is required, or an accountNumber instead")
			}
			in.AccountNumber("accountNumber", side.party.Number)
		}
		side.party.Currency = string(in.Currency("currency", side.party.Currency))
	}
	c.Required("paymentAmount", d.Amount)
	c.BankAmount("paymentAmount", d.Amount, 15)
	if d.Amount != "" && (d.Amount[0] == '-' || strings.Trim(d.Amount, "0.") == "") {
		c.Fail("paymentAmount", fault.Min, "must be greater than 0")
	}
	c.AtMost("externalReferenceId", d.ExternalReferenceID, 200)
	c.AtMost("paymentNotes", d.Notes, 250)
	c.AtMost("channel", d.Channel, 50)
	return c.Err()
}
