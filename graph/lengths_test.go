package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/access"
)

// Lists below a payment or an account are as long as is asked for, and are priced as that.
func TestListsOfAPaymentAreAsLongAsAskedFor(t *testing.T) {
	t.Parallel()
	p, contact := newSender(t)
	staff := p.Staff()
	for _, key := range []string{"1", "2"} {
		if data, errors := p.asks(t, staff, p.sends(`contact: "`+contact+`"`, "10.01", key,
			`currency: "USD", speed: INSTANT`)); errors != nil {
			t.Fatal(data, errors)
		}
	}
	held := `{"account":{"newest":[{"amount":"10.01"}],"all":[{"amount":"10.01"},{"amount":"10.01"}]}}`
	data, errors := p.asks(t, staff, fmt.Sprintf(
		`{ account(by: {uid: "%s"}) { newest: holds(first: 1) { amount } all: holds { amount } } }`, p.from.UID))
	if data != held || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, held)
	}
	operator := access.Operator(t.Context(), p.Tenant, p.Code, nil)
	for _, work := range []func() (int, error){
		func() (int, error) { return p.Payments.SendQueued(operator) },
		func() (int, error) { return p.Payments.HandOver(operator) },
		func() (int, error) { return p.Payments.Receive(operator) },
	} {
		if _, err := work(); err != nil {
			t.Fatal(err)
		}
	}
	want := `{"messages":[{"kind":"pacs.002"}],"all":[{"kind":"pacs.008"},{"kind":"pacs.002"}],` +
		`"timeline":[{"number":2},{"number":3}],"noticesOfChange":[]}`
	data, errors = p.asks(t, staff, `{ payments(filter: {contact: "`+contact+
		`"}) { nodes { messages(last: 1) { kind }
		all: messages { kind } timeline(last: 2) { number } noticesOfChange { code } } } }`)
	if want = `{"payments":{"nodes":[` + want + `,` + want + `]}}`; data != want || errors != nil {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
	for list, refused := range map[string]string{
		"messages(last: 0) { kind }":                                     "INVALID VALIDATION_ERROR last",
		"timeline(last: 201) { number }":                                 "INVALID VALIDATION_ERROR last",
		"noticesOfChange(last: 201) { code }":                            "INVALID VALIDATION_ERROR last",
		"messages(last: 30) { kind }":                                    "PRICE_LIMIT",
		"timeline(last: 30) { number }":                                  "PRICE_LIMIT",
		"noticesOfChange(last: 30) { code }":                             "PRICE_LIMIT",
		"senderAccount { holds(first: 201) { amount } }":                 "PRICE_LIMIT",
		"senderAccount { holds { amount } }":                             "PRICE_LIMIT",
		"senderAccount { holds(first: 20) { amount } }":                  "",
		"messages { kind } timeline { number } noticesOfChange { code }": "",
	} {
		first := 200
		if strings.HasPrefix(refused, "INVALID") { // which is priced first
			first = 20
		}
		_, errors := p.asks(t, staff, fmt.Sprintf("{ payments(first: %d) { nodes { %s } } }", first, list))
		if said := strings.Join(errors, ""); !strings.Contains(said, refused) ||
			(said == "") != (refused == "") {
			t.Errorf("%s: %q, want %q", list, said, refused)
		}
	}
}
