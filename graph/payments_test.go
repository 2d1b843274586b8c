package graph_test

import (
	"fmt"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

func init() {
	declare("Payment", node{
		needs: access.ViewPayments, list: "payments", rows: paymentRows,
		id: func(c customers.UID, n int) string { return "pay_" + paymentOf(c, n).String() },
	})
	view, accounts := []access.Permission{access.ViewPayments}, []access.Permission{access.ViewAccounts}
	needs["Query.payment"], needs["Query.payments"], needs["Account.payments"] = view, view, view
	needs["Payment.senderAccount"], needs["Payment.receiverAccount"] = accounts, accounts
	required["Account.payments"] = "(first: 2)"
	lookups["Query.payment.uid"] = lookup{
		`{ payment(uid: "%s") { ALL(Payment) } }`, func(c customers.UID) string { return paymentOf(c, 0).String() },
	}
	for list, way := range map[string]string{
		"Query.payments":    "{ %s }",
		"Customer.payments": "{ customers(first: 8) { nodes { %s } } }",
		"Account.payments":  "{ customers(first: 8) { nodes { accounts(first: 1) { nodes { %s } } } } }",
	} {
		for field, value := range map[string]func(customers.UID) string{
			"uid":      func(c customers.UID) string { return paymentOf(c, 0).String() },
			"customer": customers.UID.String,
			"account":  func(c customers.UID) string { return accountOf(c, 0).String() },
			"senderName": func(c customers.UID) string {
				return fmt.Sprint("alpha sendername ", paymentOf(c, 0))
			},
			"receiverName": func(c customers.UID) string { return fmt.Sprint("ReceiverName ", paymentOf(c, 0)) },
			"externalReferenceId": func(c customers.UID) string {
				return fmt.Sprint("Alpha ExternalReferenceID ", paymentOf(c, 0))
			},
			"notes": func(c customers.UID) string { return fmt.Sprint("NOTES ", paymentOf(c, 0)) },
		} {
			lookups[list+".filter."+field] = lookup{strings.ReplaceAll(way, "%s",
				`payments(first: 3, filter: {`+field+`: "%s"}) { totalCount nodes { ALL(Payment) } }`), value}
		}
	}
	mutations["transferFunds"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return fmt.Sprintf(`senderAccount: {uid: "%s"}, receiverAccount: {number: "%s"}, amount: "12.50", currency: "USD",
			paymentDate: "2026-11-20", externalReferenceId: "INV-7", notes: "Rent", channel: "Portal"`,
			accountOf(activeOf(c), 0), numberOf(activeOf(c), 1))
	}, `payment { id status rail amount fee currency paymentDate externalReferenceId notes channel senderName receiverName
		senderNumber { masked } senderAccount { uid balances { ledger } } receiverAccount { uid } customer { uid }
		timeline { number status client } version } approval { uid }`}
	mutations["cancelPayment"] = tried{access.CancelPayments, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s", reason: "Paid twice"`, paymentOf(activeOf(c), 0))
	}, `payment { uid status reason timeline { number status reason } version } approval { uid }`}
	staffOnly["transferFunds"], staffOnly["cancelPayment"] = true, true // as changeLimits
}

func paymentOf(c customers.UID, n int) payments.UID {
	return payments.UID(int(c-theBank)*100 + n + 500_000_000)
}

// paymentRows are payments that wait for their day, from the first account of each customer to its others.
func paymentRows(b *bank, of []customers.UID) any {
	var all []payments.Payment
	for _, c := range of {
		for n := range 2 * each {
			p := payments.Payment{UID: paymentOf(c, n), Customer: c}
			b.fill(&p, int64(p.UID))
			p.Tenant, p.State, p.Rail, p.Version = b.tenant, payments.Scheduled, rails.Book, 2
			p.SenderAccount, p.ReceiverAccount, p.ReceiverCustomer = accountOf(c, 0), accountOf(c, 1+n%2), c
			p.Date = now.AddDate(0, 0, 7+n)
			all = append(all, p)
		}
	}
	return &all
}
