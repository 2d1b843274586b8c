package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
)

func init() {
	needs["Query.attention"] = []access.Permission{access.ViewPayments}
}

// A portal's first page: what waits for somebody, of which each thing is opened by its global id.
func TestWhatWaitsForAPersonIsOpenedByItsID(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	c := p.Customer(func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	from, to := p.Account(c, coretest.Holding(500_00, 0)), p.Account(c, coretest.Holding(0, 0))
	if _, err := p.Payments.Transfer(p.Staff(), payments.Draft{
		Sender: payments.Party{UID: from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "5",
	}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	data, errors := p.asks(t, p.Staff(), `{ attention(first: 5) { items { kind subject customer dueAt reason }
		waiting { kind count } } }`)
	_, rest, _ := strings.Cut(data, `"subject":"`)
	subject, _, _ := strings.Cut(rest, `"`)
	want := fmt.Sprintf(`{"attention":{"items":[{"kind":"APPROVAL","subject":"%s","customer":"%s","dueAt":null,`+
		`"reason":"transferFunds"}],"waiting":[{"kind":"APPROVAL","count":1}]}}`, subject, c.UID)
	if errors != nil || data != want {
		t.Fatalf("%s %v\nwant %s", data, errors, want)
	}
	data, errors = p.asks(t, p.Staff(),
		fmt.Sprintf(`{ node(id: %q) { ... on Approval { operation status } } }`, subject))
	if errors != nil || data != `{"node":{"operation":"transferFunds","status":"OPEN"}}` {
		t.Errorf("%s %v", data, errors)
	}
	data, errors = p.asks(t, p.Staff(),
		`{ attention(filter: {kind: [RECALL, LATE]}) { items { kind } waiting { count } } }`)
	if errors != nil || data != `{"attention":{"items":[],"waiting":[]}}` {
		t.Errorf("%s %v", data, errors)
	}
	if _, errors = p.asks(t, p.Staff(), `{ attention(first: 0) { items { kind } } }`); errors == nil {
		t.Error("first: 0")
	}
	if data, errors = p.asks(t, p.Partner(p.DownstreamPartner()),
		`{ attention { items { kind } } }`); errors == nil ||
		data != `{"attention":null}` {
		t.Errorf("a partner: %s %v", data, errors)
	}
}
