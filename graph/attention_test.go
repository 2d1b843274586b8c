package graph_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// What could not be taken from a network is no node and of no customer: the list of what was refused has it.
func TestWhatCouldNotBeTakenIsListedWithoutASubject(t *testing.T) {
	t.Parallel()
	p, _ := newSender(t)
	p.Exec(`INSERT INTO network_messages (tenant, id, rail, direction, kind, message_id, code, at,
		  amount, currency, bank, number_last4)
		VALUES (?, nextval('network_messages_ids'), 'ACH', 'IN', 'entry', 'F line 6', 'a debit: why', ?, 1500,
		  'USD', '021000021', '6789')`, p.Tenant, p.Now())
	p.Exec(`INSERT INTO network_messages (tenant, id, rail, direction, kind, message_id, code, at)
		VALUES (?, nextval('network_messages_ids'), 'RTP', 'IN', 'entry', 'twice', 'nobody has it', ?)`, p.Tenant,
		p.Now().Add(-time.Minute))
	data, errors := p.asks(t, p.Staff(), `{ attention(filter: {kind: [UNTAKEN]}) {
		items { kind subject customer reason } waiting { kind count } } refusedCredits { messageId code amount
		bank number { masked } } }`)
	want := `{"attention":{"items":[{"kind":"UNTAKEN","subject":null,"customer":null,` +
		`"reason":"twice: nobody has it"},{"kind":"UNTAKEN","subject":null,"customer":null,` +
		`"reason":"F line 6: a debit: why"}],` +
		`"waiting":[{"kind":"UNTAKEN","count":2}]},"refusedCredits":[` +
		`{"messageId":"twice","code":"nobody has it","amount":null,"bank":null,"number":null},` +
		`{"messageId":"F line 6",` +
		`"code":"a debit: why","amount":"15.00","bank":"021000021","number":{"masked":"****6789"}}]}`
	if errors != nil || data != want {
		t.Errorf("%s %v\nwant %s", data, errors, want)
	}
}
