package graph_test

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"bankgraph/core/customers"
	"bankgraph/graph"
)

// customer360 asks for what a portal shows of one customer.
const customer360 = `query Customer360($uid: UID!) {
  customer(by: {uid: $uid}) {
    id uid externalReferenceId legalName shortName type status taxId { masked } achCompanyId customerId lei
    swiftCode language
    emailAddress phoneNumber website legalAddress { line1 line2 city state postalCode countryCode }
    relationshipType
    partnerOrgShortName parentEntityShortName costCenter relationshipManager secCodes note createdAt
    accounts(first: 50) { nodes { id uid number { masked } name type subType status currency
    balances { ledger held available } } pageInfo { hasNextPage endCursor } }
    contacts(first: 10) { nodes { id uid name templateName bank { name accountNumber { masked }
    nationalCode } } pageInfo { hasNextPage endCursor } }
    signatories { nodes { id fullName title emailAddress approvalLimit status } }
    limits(rail: ACH, entryType: CREDIT) { code name period current used remaining }
  }
}`

func TestADocumentCostsItsNumberOfStatements(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	in := func(document string) string {
		return strings.NewReplacer("STAR", star.String(), "PARTNER", partner.String(),
			"ACCOUNT", accountOf(star, 0).String(), "NUMBER", numberOf(star, 0), "CONTACT",
			contactOf(star, 0).String(), "SIGNATORY",
			signatoryOf(star, 0).String(), "USER", userOf(star, 0).String()).
			Replace(document)
	}
	for _, one := range []struct {
		statements, trips int64
		document          string
	}{
		{0, 0, `{ __typename }`},
		{0, 0, `{ viewer { tenant permissions } }`},
		{1, 1, `{ customer(by: {uid: "STAR"}) { legalName } }`},
		{1, 1, `{ customer(by: {shortName: "short-STAR"}) { legalName } }`},
		{1, 1, `{ customer(by: {customerId: "cif-STAR"}) { legalName } }`},
		{2, 2, `{ customer(by: {accountNumber: "NUMBER"}) { legalName } }`},
		{2, 1, `{ customer(by: {uid: "STAR"}) { accounts { nodes { uid } } } }`},
		{2, 2, `{ customer(by: {shortName: "short-STAR"}) { accounts { nodes { uid } } } }`},
		{2, 2, `{ customer(by: {uid: "STAR"}) { parent { legalName } } }`},
		{3, 3, `{ customer(by: {uid: "STAR"}) { parent { parent { legalName } } } }`},
		{
			6, 1,
			`{ customer(by: {uid: "STAR"}) { accounts { nodes { uid } } contacts { nodes { uid } }
				signatories { nodes { uid } } limits(rail: RTP) { code } fees { name } } }`,
		},
		{
			7, 2,
			`{ customer(by: {uid: "STAR"}) { accounts { nodes { uid } } contacts { nodes { uid } }
				signatories { nodes { uid } } limits(rail: RTP) { code } fees { name } parent { uid } } }`,
		},
		// The values of a relation are read one round trip later, for all rows at once.
		{3, 2, `{ customer(by: {uid: "STAR"}) { accounts { nodes { customer { legalName } } } } }`},
		{4, 3, `{ customer(by: {uid: "STAR"}) { accounts { nodes { customer { parent { legalName } } } } } }`},
		{
			4, 2, `{ customer(by: {uid: "STAR"}) { accounts { nodes { customer { accounts { nodes { uid } } } } } } }`,
		},
		{2, 2, `{ customers { nodes { accounts { nodes { uid } } } } }`},
		{3, 3, `{ customers { nodes { parent { parent { legalName } } } } }`},
		// Each count is one statement, sent only if asked for.
		{1, 1, `{ customers { nodes { uid } } }`},
		{2, 1, `{ customers { nodes { uid } totalCount } }`},
		{2, 1, `{ customers(filter: {status: ACTIVE}) { edges { node { uid } } totalCount } }`},
		{3, 1, `{ customer(by: {uid: "STAR"}) { accounts { nodes { uid } totalCount } } }`},
		{4, 2, `{ customers { totalCount nodes { accounts { totalCount } } } }`},
		{
			3, 1, `{ customer(by: {uid: "STAR"}) { accounts { nodes { uid } count: totalCount again: totalCount } } }`,
		},
		// The same arguments share a statement only under the same alias.
		{
			3, 1,
			`{ customer(by: {uid: "STAR"}) { a: accounts(first: 1) { nodes { uid } }
				b: accounts(first: 2) { nodes { uid } } } }`,
		},
		{
			4, 1,
			`{ customer(by: {uid: "STAR"}) { a: limits(rail: ACH) { code } b: limits(rail: RTP) { code }
				c: limits(rail: FEDWIRE) { code } } }`,
		},
		{
			2, 1,
			`{ customer(by: {uid: "STAR"}) { accounts(first: 1) { nodes { uid } }
				accounts(first: 1) { nodes { name } } } }`,
		},
		{2, 2, `{ a: customer(by: {uid: "STAR"}) { uid } b: customer(by: {uid: "PARTNER"}) { uid } }`},
		// An account with its customer is one row.
		{1, 1, `{ account(by: {number: "NUMBER"}) { name customer { legalName } } }`},
		{
			1, 1,
			`{ account(by: {uid: "ACCOUNT"}) { balances { available } a: customer { legalName }
				b: customer { shortName } } }`,
		},
		{3, 2, `{ account(by: {uid: "ACCOUNT"}) { customer { parent { uid } contacts { nodes { uid } } } } }`},
		// A history is one statement for all siblings, in the same round trip if their keys are known.
		{2, 1, `{ customer(by: {uid: "STAR"}) { history { nodes { action changes { field } } } } }`},
		{
			4, 2,
			`{ customer(by: {uid: "STAR"}) { signatories { nodes { history { totalCount nodes { action } } } } } }`,
		},
		{3, 3, `{ customers { nodes { history { nodes { customer { uid } } } } } }`},
		{2, 2, `{ audit { nodes { action customer { legalName } } } }`},
		{2, 1, `{ audit(filter: {object: "contact"}) { totalCount nodes { action } } }`},
		// Objects by global id: one statement for each kind, all in one round trip.
		{1, 1, `{ node(id: "cus_STAR") { ... on Customer { legalName } } }`},
		{4, 1, `{ nodes(ids: ["cus_STAR", "acc_ACCOUNT", "con_CONTACT", "sig_SIGNATORY", "cus_PARTNER"]) { id } }`},
		{2, 1, `{ node(id: "usr_USER") { ... on User { loginId roles { name } } } }`},
		{4, 2, `{ customer(by: {uid: "STAR"}) { users { nodes { roles { name } limits { name } } } } }`},
		{
			5, 3,
			`{ customer(by: {uid: "STAR"}) { roles { nodes { name } }
				users { nodes { roles { customer { uid } } } } } }`,
		},
		{3, 2, `{ nodes(ids: ["acc_ACCOUNT", "con_CONTACT"]) { ... on Account { customer { uid } } } }`},
		{0, 0, `{ node(id: "nothing") { id } }`},
		{
			1, 1,
			`{ customer(by: {uid: "1999999"}) { parent { parent { uid } } accounts @skip(if: true) { totalCount } } }`,
		},
	} {
		t.Run(one.document, func(t *testing.T) {
			t.Parallel()
			got := b.ask(t, b.staff(), in(one.document)).fine(t)
			if got.statements != one.statements || got.trips != one.trips {
				t.Errorf("%d statements in %d round trips, want %d in %d: %.300s", got.statements, got.trips,
					one.statements, one.trips, got.body)
			}
		})
	}
}

func TestCustomer360IsFiveStatementsInOneRoundTrip(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	got := b.ask(t, b.staff(), customer360, "uid", star.String()).fine(t)
	if got.statements != 5 || got.trips != 1 {
		t.Errorf("%d statements in %d round trips", got.statements, got.trips)
	}
	for _, relation := range []string{"accounts", "contacts", "signatories"} {
		if n := len(got.at("customer", relation, "nodes").([]any)); n != each {
			t.Errorf("%d %s", n, relation)
		}
	}
	if n := len(got.at("customer", "limits").([]any)); n != 4 {
		t.Errorf("%d limits: %v", n, got.at("customer", "limits"))
	}
}

const listed = `query($n: Int!) { customers(first: $n) { nodes { uid legalName
  accounts(first: 5) { nodes { uid customer { uid } } } signatories(first: 5) { nodes { uid } } } } }`

// many adds customers until they fill a page.
func many(t *testing.T, b *bank) {
	t.Helper()
	rows := make([]customers.Customer, 200)
	for i := range rows {
		rows[i] = customers.Customer{
			UID: customers.UID(1001000 + i), Type: customers.Consumer, RelationshipType: customers.RelationCustomer,
		}
	}
	b.add(t, rows...)
}

func TestAListCostsTheSameForAnyNumberOfRowsAndCallers(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	many(t, b)
	document := strings.Replace(listed, " customer { uid }", "", 1)
	for _, n := range []int{1, 50, 200} {
		for _, callers := range []int{1, 16} {
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					got := b.ask(t, b.staff(), document, "n", n)
					if len(got.errors) > 0 || got.statements != 3 || got.trips != 2 {
						t.Errorf("%d customers for %d callers: %d statements in %d round trips %v", n,
							callers, got.statements, got.trips, got.errors)
					}
					rows, _ := got.at("customers", "nodes").([]any)
					if len(rows) != n {
						t.Errorf("%d of %d rows", len(rows), n)
					}
					for i := range rows {
						accounts, _ := got.at("customers", "nodes", i, "accounts", "nodes").([]any)
						signatories, _ := got.at("customers", "nodes", i, "signatories", "nodes").([]any)
						if len(accounts) != each || len(signatories) != each {
							t.Errorf("%d accounts, %d signatories", len(accounts), len(signatories))
						}
					}
				})
			}
			all.Wait()
		}
	}
}

// What was not planned is read by loaders. The answers are the same, and the number of statements does not
// grow with the rows.
func TestLoadersAnswerAsThePlanDoes(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	many(t, b)
	loading := *b
	loading.server, loading.resolving = graph.Forgetful(b.core, options), nil
	for _, n := range []int{1, 50, 200} {
		for _, callers := range []int{1, 16} {
			planned := b.ask(t, b.staff(), listed, "n", n).fine(t)
			var all sync.WaitGroup
			for range callers {
				all.Go(func() {
					loaded := loading.ask(t, b.staff(), listed, "n", n)
					if !reflect.DeepEqual(loaded.data, planned.data) || len(loaded.errors) > 0 {
						t.Errorf("%d customers: another answer %v", n, loaded.errors)
					}
					// The plan has sent its statements before it is forgotten; then each relation is read
					// once more.
					if planned.statements != 4 || loaded.statements != planned.statements+3 {
						t.Errorf("%d customers for %d callers: %d statements, planned %d", n, callers,
							loaded.statements, planned.statements)
					}
				})
			}
			all.Wait()
		}
	}
}

func TestLoadersAnswerEveryWay(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	loading := *b
	loading.server, loading.resolving = graph.Forgetful(b.core, options), nil
	for name, ways := range ways() {
		every := everything(schema.Types[name])
		for i, way := range ways {
			if strings.Contains(way, "%[1]s") {
				continue // with everything read twice, this takes more than 60 statements
			}
			t.Run(fmt.Sprintf("%s %d", name, i), func(t *testing.T) {
				t.Parallel()
				for some := range slices.Chunk(every, (len(every)+3)/4) { // all at once take more than 60, too
					document := filled(way, joined(some))
					planned, loaded := b.ask(t, b.staff(), document).fine(t), loading.ask(t, b.staff(), document).fine(t)
					if planned.body != loaded.body {
						t.Errorf("loaded %.3000s\nplanned %.3000s", loaded.body, planned.body)
					}
				}
			})
		}
	}
}

// Two places of a document may give different pages the same name. The plan reads the first page, a loader
// the second.
func TestOneNameForTwoPagesOfOneFragment(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	got := b.ask(t, b.staff(), fmt.Sprintf(`{ customer(by: {uid: "%d"}) { accounts(first: 2) {
		nodes { ...F customer { of: accounts(first: 1) { nodes { name } } } }
		edges { node { ...F customer { of: accounts(first: 3) { nodes { uid } } } } } } } }
		fragment F on Account { customer { legalName } }`, star)).fine(t)
	for place, want := range map[string]int{"nodes": 1, "edges": 3} {
		path := []any{"customer", "accounts", place, 1}
		if place == "edges" {
			path = append(path, "node")
		}
		if rows, _ := got.at(append(path, "customer", "of", "nodes")...).([]any); len(rows) != want {
			t.Errorf("%s: %d rows: %s", place, len(rows), got.body)
		}
	}
}

func TestAnOperationStopsAtSixtyStatements(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	aliases := func(n int) string {
		var document strings.Builder
		document.WriteString("{")
		for i := range n {
			fmt.Fprintf(&document,
				` c%d: customer(by: {uid: "%d"}) { accounts { totalCount } contacts { totalCount } }`, i, star)
		}
		return document.String() + " }"
	}
	if got := b.ask(t, b.staff(), aliases(12)).fine(t); got.statements != 60 {
		t.Errorf("%d statements", got.statements)
	}
	b.resolving = nil // which of the customers comes too late is random
	got := b.ask(t, b.staff(), aliases(13))
	if len(got.errors) != 1 || got.errors[0].Extensions.Kind != "INVALID" ||
		got.errors[0].Extensions.Code != "STATEMENT_LIMIT" {
		t.Errorf("%.1000s", got.body)
	}
	read := 0
	for _, customer := range got.data {
		if customer != nil {
			read++
		}
	}
	if read != 12 {
		t.Errorf("%d customers were read", read)
	}
}

func TestTheReadmesRequestIsSixStatementsInOneRoundTrip(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(readme), "<<'JSON'\n")
	body, _, found := strings.Cut(rest, "\nJSON\n")
	if !found {
		t.Fatal("README.md has no request")
	}
	body = strings.NewReplacer("\n", "", "1000001", star.String()).Replace(body) // curl -d @- drops line ends
	if got := b.send(t, b.staff(), body).fine(t); got.statements != 6 || got.trips != 1 {
		t.Errorf("%s", got)
	}
}
