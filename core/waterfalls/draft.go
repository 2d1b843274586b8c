package waterfalls

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
)

// Draft is what a request says about a batch (rest/CONTRACT.md, waterfalls).
type Draft struct {
	ExternalReferenceID string     `json:"externalReferenceId"`
	Payments            []Transfer `json:"payments"`
}

// Transfer is what it says about one of its payments, in US dollars.
type Transfer struct {
	Index    int32          `json:"paymentIndex"`
	Amount   string         `json:"paymentAmount"`
	Notes    string         `json:"paymentNotes,omitempty"`
	Debtor   payments.Party `json:"debtorAccount"`
	Creditor payments.Party `json:"creditorAccount"`
}

// MostPayments is how many payments a batch has at most.
const MostPayments = 100

const (
	currency      = "USD"
	longestNotes  = 200
	routingLength = 9
)

var (
	references = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	notes      = regexp.MustCompile(`^[a-zA-Z0-9 ]+$`)
)

// check validates the form of a batch. Faults name its payments by their places in the request.
func (d *Draft) check() error {
	c := check.Of("waterfall")
	c.Required("externalReferenceId", d.ExternalReferenceID)
	c.AtMost("externalReferenceId", d.ExternalReferenceID, 200)
	c.Pattern("externalReferenceId", d.ExternalReferenceID, references,
		"must be made of letters, digits, _ and -")
	switch {
	case len(d.Payments) == 0:
		c.Fail("payments", fault.Required, "is required")
	case len(d.Payments) > MostPayments:
		c.Fail("payments", fault.Max, fmt.Sprintf("must have at most %d payments", MostPayments))
		return c.Err()
	}
	seen := map[int32]bool{}
	for i := range d.Payments {
		t, at := &d.Payments[i], c.Item("payments", i)
		t.check(at)
		if t.Index > 0 && seen[t.Index] {
			at.Fail("paymentIndex", fault.Malformed, "must be unique among the payments of the waterfall")
		}
		seen[t.Index] = true
	}
	return c.Err()
}

func (t *Transfer) check(c *check.Fields) {
	switch {
	case t.Index == 0:
		c.Fail("paymentIndex", fault.Required, "is required, from 1 on")
	case t.Index < 0:
		c.Fail("paymentIndex", fault.Min, "must be 1 or more")
	}
	c.AtMost("paymentNotes", t.Notes, longestNotes)
	c.Pattern("paymentNotes", t.Notes, notes, "must be made of letters, digits and spaces")
	checkParty(c.In("debtorAccount"), &t.Debtor)
	checkParty(c.In("creditorAccount"), &t.Creditor)
	payments.CheckAmount(c, t.Amount)
}

// checkParty requires all the fields that identify an account.
func checkParty(c *check.Fields, p *payments.Party) {
	c.Required("accountNumber", p.Number)
	c.Required("accountType", p.Type)
	c.Required("accountSubType", p.SubType)
	c.Required("routingNumber", p.RoutingNumber)
	if p.RoutingNumber != "" && len(p.RoutingNumber) != routingLength {
		c.Fail("routingNumber", fault.Exact, "must have 9 characters")
	}
	c.Alphanumeric("routingNumber", p.RoutingNumber)
	p.Check(c)
}

// draft is the book transfer of a payment of the batch with a reference.
func (t *Transfer) draft(reference string) *payments.Draft {
	d := &payments.Draft{
		Sender: t.Debtor, Receiver: t.Creditor, Amount: t.Amount, Notes: t.Notes, ExternalReferenceID: reference,
	}
	d.Sender.Currency, d.Receiver.Currency = currency, currency
	return d
}

// inOrder returns the places of the payments in the order in which they run.
func (d *Draft) inOrder() []int {
	order := make([]int, len(d.Payments))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order,
		func(a, b int) int { return cmp.Compare(d.Payments[a].Index, d.Payments[b].Index) })
	return order
}

// words are the names that batches have for the fields of book transfers.
var words = map[string]string{"senderAccount": "debtorAccount", "receiverAccount": "creditorAccount"}
