package graph_test

import (
	"bytes"
	"fmt"
	"testing"

	"bankgraph/core"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/graph"
)

// Behind a PgBouncer older than 1.21 nothing can be prepared: each text is sent with its values.
func TestReadsAnswerAlikeUnprepared(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	parent := bank.Customer()
	customer := bank.Customer(coretest.Named("Unprepared Co"),
		func(c *customers.Customer) { c.Parent = &parent.UID })
	account := bank.Account(customer)
	bank.Account(customer)
	bank.Contact(customer)
	bank.Signatory(customer)
	bank.Limit(customer, "ACH_PAYMENT_LIMIT_PER_DAY", 500_00)
	bank.Usage(customer, "ACH", "2026-11-18", 100_00)
	bank.Fee(customer)

	unprepared, err := db.Open(dbtest.Shared(t), db.Options{Connections: 2, Unprepared: new(true)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unprepared.Close() })
	prepared := graph.New(bank.Core, graph.Options{})
	plain := graph.New(core.New(core.Options{DB: unprepared, Keys: bank.Keys, Now: bank.Clock.Now}),
		graph.Options{})

	whole := `uid legalName taxId { masked } secCodes additionalAttributes { name value }
		parent { uid } createdAt
		accounts(first: 1) { totalCount pageInfo { endCursor } nodes { uid balances { available }
		features { callbackLimit } } }
		contacts(filter: {name: "a"}) { totalCount nodes { name bank { accountNumber { masked } } } }
		signatories(last: 1) { nodes { fullName approvalLimit } }
		limits(rail: ACH, entryType: CREDIT, secCode: PPD, amount: "450.00") { code used remaining
		exceededBy } fees { name }`
	for _, document := range []string{
		fmt.Sprintf(`{ customer(by: {uid: %q}) { %s } }`, customer.UID, whole),
		fmt.Sprintf(`{ customer(by: {shortName: %q}) { %s } }`, customer.ShortName, whole),
		fmt.Sprintf(
			`{ customers(orderBy: NAME, filter: {namePrefix: "unprep", type: CORPORATE, status: ACTIVE}) {
				totalCount nodes { %s } } }`, whole),
		`{ customers(filter: {text: "unprepared"}) { totalCount nodes { uid } } }`,
		fmt.Sprintf(`{ customers(filter: {taxId: %q}) { nodes { uid } } }`, coretest.TaxID(customer.UID)),
		fmt.Sprintf(`{ account(by: {number: %q}) { uid customer { legalName } } }`,
			coretest.AccountNumber(account.UID)),
		fmt.Sprintf(`{ nodes(ids: ["cus_%s", "acc_%s"]) { id } }`, customer.UID, account.UID),
	} {
		for _, caller := range []struct {
			name string
			of   func() reply
			same func() reply
		}{
			{
				"staff", func() reply { return ask(bank.Staff(), prepared, document) },
				func() reply { return ask(bank.Staff(), plain, document) },
			},
			{
				"partner", func() reply { return ask(bank.Partner(parent), prepared, document) },
				func() reply { return ask(bank.Partner(parent), plain, document) },
			},
		} {
			want, got := caller.of(), caller.same()
			if len(want.Errors) > 0 || !bytes.Equal(want.Data, got.Data) || got.errors() != "" {
				t.Errorf("%s: %s\nprepared   %s %s\nunprepared %s %s", caller.name, document, want.Data,
					want.errors(), got.Data, got.errors())
			}
		}
	}
}
