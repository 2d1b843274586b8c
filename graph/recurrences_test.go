package graph_test

import (
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
)

func init() {
	declare("Recurrence", node{
		needs: access.ViewPayments, list: "recurrences", rows: recurrenceRows,
		id: func(c customers.UID, n int) string { return "rec_" + recurrenceOf(c, n).String() },
	})
	view := []access.Permission{access.ViewPayments}
	needs["Query.recurrences"], needs["Payment.recurrence"], needs["Recurrence.lastPayment"] = view, view, view
	needs["Recurrence.account"] = []access.Permission{access.ViewAccounts}
	for list, way := range map[string]string{
		"Query.recurrences":    "{ %s }",
		"Customer.recurrences": "{ customers(first: 7) { nodes { %s } } }",
	} {
		for field, value := range map[string]func(customers.UID) string{
			"customer": customers.UID.String,
			"account":  func(c customers.UID) string { return accountOf(c, 0).String() },
		} {
			lookups[list+".filter."+field] = lookup{fmt.Sprintf(way,
				`recurrences(first: 2, filter: {`+field+`: "%s"}) { totalCount
					nodes { ALL(Recurrence) } }`), value}
		}
	}
	for list, way := range map[string]string{
		"Query.payments":    "{ %s }",
		"Customer.payments": "{ customers(first: 7) { nodes { %s } } }",
		"Account.payments":  "{ customers(first: 7) { nodes { accounts(first: 1) { nodes { %s } } } } }",
	} {
		lookups[list+".filter.recurrence"] = lookup{
			fmt.Sprintf(way, `payments(first: 2, filter: {recurrence: "%s"}) { totalCount nodes { ALL(Payment) } }`),
			func(c customers.UID) string { return recurrenceOf(c, 1).String() },
		}
	}
	of := func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, recurrenceOf(activeOf(c), 0)) }
	const shown = `recurrence { id status amount nextPaymentDate upcomingDates paymentsMade endDate reason
		cancellationSource version customer { uid } } approval { uid }`
	mutations["skipRecurrence"] = tried{access.CancelPayments, of, shown}
	mutations["changeRecurrence"] = tried{access.InitiatePayments, func(c customers.UID) string {
		return of(c) + `, amount: "12.50", frequency: WEEKLY, nextPaymentDate: "2026-12-01"`
	}, shown}
	mutations["cancelRecurrence"] = tried{access.CancelPayments, func(c customers.UID) string {
		return of(c) + `, cancellationSource: "Portal", reason: "Contract ended"`
	}, shown}
}

func recurrenceOf(c customers.UID, n int) payments.RecurrenceUID {
	return payments.RecurrenceUID(int(c-theBank)*100 + n + 800_000_000)
}

// recurrenceRows are series of instant payments of each customer, from its first account.
func recurrenceRows(b *bank, of []customers.UID) any {
	var all []payments.Recurrence
	for _, c := range of {
		for n := range 2 * each {
			r := payments.Recurrence{UID: recurrenceOf(c, n), Customer: c}
			b.fill(&r, int64(r.UID))
			next, end, number := now.AddDate(0, 0, 20+n), now.AddDate(5, 0, n), int32(90)
			r.Tenant, r.EntryType = b.tenant, rails.Credit
			r.Status, r.Rail, r.Speed, r.Version = payments.RecurrenceActive, rails.FedNow, payments.Instant, 2
			r.Account, r.Last, r.Currency = accountOf(c, 0), paymentOf(c, 0), "USD"
			r.Frequency, r.Until, r.Start, r.CountsFrom = payments.Monthly, payments.UntilNumber, now, now
			r.End, r.Number, r.Made, r.Next = &end, &number, 40, &next
			r.Draft = keyset.Seal(`{}`, seal.Place{
				Tenant: int64(b.tenant), Column: payments.DraftColumn, Row: int64(r.UID),
			}).Sealed
			all = append(all, r)
		}
	}
	return &all
}
