package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/customers"
)

func init() {
	needs["Query.previewPayment"] = []access.Permission{access.InitiatePayments}
	needs["Query.previewTransfer"] = []access.Permission{access.InitiatePayments}
	account := func(c customers.UID) string { return accountOf(c, 0).String() }
	number := func(c customers.UID) string { return numberOf(c, 0) }
	with := func(find func(customers.UID) string, field string, also func(customers.UID) string) func(
		customers.UID) string {
		return func(c customers.UID) string { return find(c) + `"}, ` + field + `: {uid: "` + also(c) }
	}
	second := func(c customers.UID) string { return accountOf(c, 1).String() }
	order := `{ previewPayment(input: {%s, amount: "1", currency: "USD", speed: INSTANT,
		externalReferenceId: "1", idempotencyKey: "1"}) { ALL(PaymentPreview) } }`
	somebody := `, receiver: {accountNumber: "440055551", name: "Ada Byron", bankId: "611090001"}`
	transfer := `{ previewTransfer(input: {%s, amount: "1", idempotencyKey: "1"}) { ALL(PaymentPreview) } }`
	contact := func(c customers.UID) string { return contactOf(c, 0).String() }
	for place, asked := range map[string]lookup{
		"Payment.input.senderAccount.uid": {fmt.Sprintf(order, `senderAccount: {uid: "%s"}`+somebody), account},
		"Payment.input.senderAccount.number": {fmt.Sprintf(order,
			`senderAccount: {number: "%s"}`+somebody), number},
		"Payment.input.receiver.contact": {
			fmt.Sprintf(order, `receiver: {contact: "%s"}`), with(contact, "senderAccount", account),
		},
		"Transfer.input.senderAccount.uid": {
			fmt.Sprintf(transfer, `senderAccount: {uid: "%s"}`), with(account, "receiverAccount", second),
		},
		"Transfer.input.senderAccount.number": {
			fmt.Sprintf(transfer, `senderAccount: {number: "%s"}`), with(number, "receiverAccount", second),
		},
		"Transfer.input.receiverAccount.uid": {
			fmt.Sprintf(transfer, `receiverAccount: {uid: "%s"}`), with(account, "senderAccount", second),
		},
		"Transfer.input.receiverAccount.number": {
			fmt.Sprintf(transfer, `receiverAccount: {number: "%s"}`), with(number, "senderAccount", second),
		},
	} {
		lookups[planned+place] = asked
	}
}

func TestAPreviewShowsTheErrorsOfItsMutation(t *testing.T) {
	t.Parallel()
	b := settled(t)
	from := accountOf(activeOf(star), 0)
	order := func(edits ...string) string {
		text := fmt.Sprintf(`senderAccount: {uid: "%s"}, receiver: {accountNumber: "440055551", name: "Ada Byron",
			bankId: "611090001"}, amount: "12.50", currency: "USD", speed: INSTANT,
			externalReferenceId: "INV-7", idempotencyKey: "KEY"`, from)
		return strings.NewReplacer(edits...).Replace(text)
	}
	for name, input := range map[string]string{
		"fine":              order(),
		"too much":          order("12.50", "99999999"),
		"no such account":   order(from.String(), "1"),
		"no such bank":      order("611090001", "999999992"),
		"a contact as well": order(`name: "Ada`, `contact: "5", name: "Ada`),
		"two faults":        order(`name: "Ada Byron",`, "", "INV-7", ""),
		"no amount":         order("12.50", "0"),
		"not offered":       order("USD", "EUR"),
		"a wrong number":    order(from.String(), "x"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := strings.NewReplacer("KEY", "preview "+name)
			said := b.ask(t, b.staff(),
				key.Replace(`{ previewPayment(input: {`+input+`}) { status rail fee paymentDate approvers
				faults { kind code field message } largestAmount available availableAfter
				limits { limit { code } } rails {
				rail chosen reasonsFor reasonsAgainst carries } } }`))
			done := b.ask(t, b.staff(),
				key.Replace(`mutation { sendPayment(input: {`+input+`}) { payment { status rail } } }`))
			var got []string
			if faults, is := said.at("previewPayment", "faults").([]any); is {
				for _, one := range faults {
					f := one.(map[string]any)
					got = append(got, fmt.Sprint(f["kind"], f["code"], f["field"], f["message"]))
				}
			}
			for _, e := range said.errors {
				got = append(got, fmt.Sprint(e.Extensions.Kind, e.Extensions.Code, field(e.Extensions.Field), e.Message))
			}
			var want []string
			for _, e := range done.errors {
				want = append(want, fmt.Sprint(e.Extensions.Kind, e.Extensions.Code,
					field(e.Extensions.Field), e.Message))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) || (name == "fine") != (len(want) == 0) {
				t.Errorf("preview: %v\nmutation: %v", got, want)
			}
			if said.at("previewPayment") != nil && (said.at("previewPayment", "status") != done.at("sendPayment",
				"payment", "status") ||
				len(want) == 0 && said.at("previewPayment", "rail") != done.at("sendPayment", "payment", "rail")) {
				t.Errorf("preview: %s\nmutation: %s", said.body, done.body)
			}
			if name == "fine" && said.at("previewPayment", "rails", 0, "chosen") != true {
				t.Errorf("%s", said.body)
			}
		})
	}
}

func field(name string) any {
	if name == "" {
		return nil
	}
	return name
}
