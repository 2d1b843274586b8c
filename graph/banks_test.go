package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/db"
)

// listedBank is the one bank of the directory of these tests. All its fields are set.
var listedBank = struct {
	number, bic string
	uid         banks.UID
}{"611090001", "SNDBUS30NYC", 1} // the first of its database

func listBank(t testing.TB, c *core.Core) {
	t.Helper()
	const text = "nationalId,bic,name,addressLine1,addressLine2,city,state,postalCode,recordType,successor," +
		"ach,fedNowServices,fedNowStatus,fedwireTransfer,rtpServices,rtpStatus\n" +
		"611090001,SNDBUS30NYC,Listed Bank,1 Main St,Floor 2,Columbus,OH,43215,SEND,611090108,true,CRDT," +
		"Active,true,CRDT,Active\n"
	_, err := c.Banks.Import(access.Operator(t.Context(), 0, "", nil),
		banks.Import{Format: banks.CSVFile, Source: "graph", From: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
}

// The directory shows nothing of any bank that is kept here, and is the same for whoever is known.
func TestEverybodyReadsTheSameDirectory(t *testing.T) {
	t.Parallel()
	ours, other := twins(t)
	for _, document := range []string{
		`{ bank(by: {routingNumber: "611090001"}) { ALL(Bank) } }`,
		`{ bank(by: {bic: "sndbus30nyc"}) { ALL(Bank) } }`,
		`{ bank(by: {nationalId: {countryCode: "us", id: "611090001"}}) { ALL(Bank) } }`,
		`{ banks { totalCount nodes { ALL(Bank) } } }`,
		`{ banks(filter: {text: "bank list"}) { nodes { ALL(Bank) } } }`,
		`{ banks(filter: {city: "colum"}) { nodes { ALL(Bank) } } }`,
		`{ banks(filter: {routingNumberPrefix: "6110"}) { nodes { ALL(Bank) } } }`,
		`{ banks(filter: {countryCode: "US"}) { nodes { ALL(Bank) } } }`,
		`{ node(id: "bnk_1") { id ... on Bank { ALL(Bank) } } }`,
	} {
		document = matrixDocument(document, "")
		want := ours.ask(t, ours.staff(), document).fine(t)
		if !strings.Contains(want.body, "Listed Bank") {
			t.Errorf("%s: %s", document, want.body)
		}
		for _, p := range principals(ours, other) {
			got := ours.ask(t, p.caller, document)
			if p.caller == nil && strings.Contains(got.body, "Listed Bank") || p.caller != nil &&
				got.body != want.body {
				t.Errorf("%s reads %s\nwant %s", p.name, got.body, want.body)
			}
		}
	}
}

func TestABankIsFoundByEachOfItsNumbersOnly(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for by, want := range map[string]string{
		`routingNumber: "611090001"`: `"name":"Listed Bank"`, `bic: "SNDBUS30NYC"`: `"name":"Listed Bank"`,
		`bic: "SNDBUS30"`: `{"bank":null}`, `routingNumber: "123456789"`: `{"bank":null}`,
		`nationalId: {countryCode: "DE", id: "611090001"}`: `{"bank":null}`,
		`iban: "DE89370400440532013000"`:                   `{"bank":null}`,
		`routingNumber: "61109000"`:                        `"field":"by.routingNumber"`,
		`routingNumber: ""`:                                `"field":"by.routingNumber"`,
		`bic: "SNDB"`:                                      `"field":"by.bic"`,
		`iban: "DE00370400440532013000"`:                   `"field":"by.iban"`,
		`iban: ""`:                                         `"field":"by.iban"`,
		`iban: "Ü"`:                                        `"field":"by.iban"`,
		`nationalId: {countryCode: "ZZ", id: "1"}`:         `"field":"by.nationalId"`,
		`nationalId: {countryCode: "DE", id: "1;2"}`:       `"field":"by.nationalId"`,
	} {
		if got := b.ask(t, b.staff(), `{ bank(by: {`+by+`}) { name } }`); !strings.Contains(got.body, want) {
			t.Errorf("%s: %s", by, got.body)
		}
	}
	for _, by := range []map[string]any{{}, {"bic": "SNDBUS30NYC", "iban": "x"}, {"bic": nil}} {
		if got := b.ask(t, b.staff(), `query($by: BankBy!) { bank(by: $by) { name } }`, "by",
			by); len(got.errors) == 0 {
			t.Errorf("%v: %s", by, got.body)
		}
	}
}

// However many accounts and contacts there are, their banks are one more statement for each field that asks.
func TestTheBanksOfAPageAreOneStatement(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	many(t, b)
	for document, statements := range map[string]int64{
		`{ customers(first: %d) { nodes { accounts(first: 5) { nodes { bank { name } } } } } }`: 3,
		`{ customers(first: %d) { nodes { contacts(first: 5) {
			nodes { bank { name entry { name } } } } } } }`: 3,
		`{ customers(first: %d) { nodes { contacts(first: 5) { nodes { bank { entry { name } }
			intermediaryBank { entry { uid } } } } } } }`: 4,
		`{ customers(first: %d) { nodes { contacts(first: 5) { nodes { a: bank { entry { name } }
			b: bank { entry { uid } } } } } } }`: 4,
	} {
		for _, n := range []int{1, 100} {
			got := b.ask(t, b.staff(), fmt.Sprintf(document, n)).fine(t)
			if got.statements != statements || got.trips != 3 ||
				strings.Count(got.body, "Listed Bank") < min(n, 3) {
				t.Errorf("%d of %s: %d statements in %d round trips", n, document, got.statements, got.trips)
			}
		}
	}
	// Who does not ask for it pays nothing.
	if got := b.ask(t, b.staff(),
		`{ customers { nodes { contacts { nodes { bank { name } } } } } }`).fine(t); got.statements != 2 {
		t.Errorf("%d statements", got.statements)
	}
}

func TestTheDirectoryIsPagedByNumber(t *testing.T) {
	t.Parallel()
	b := ownBank(t, db.Options{})
	var text strings.Builder
	text.WriteString("countryCode,nationalId,name\n")
	for n := range 9 {
		fmt.Fprintf(&text, "DE,9900000%d,Bank %d\n", n, n)
	}
	_, err := b.core.Banks.Import(access.Operator(t.Context(), 0, "", nil),
		banks.Import{Format: banks.CSVFile, Source: "more", From: strings.NewReader(text.String())})
	if err != nil {
		t.Fatal(err)
	}
	names, after := "", any(nil)
	for range 4 {
		got := b.ask(t, b.staff(),
			`query($after: String) { banks(first: 4, after: $after, filter: {countryCode: "DE"}) {
			totalCount nodes { name } pageInfo { hasNextPage endCursor } } }`, "after", after).fine(t)
		for _, row := range got.at("banks", "nodes").([]any) {
			names += fmt.Sprint(row.(map[string]any)["name"])
		}
		if got.at("banks", "totalCount") != 9.0 {
			t.Errorf("%s", got.body)
		}
		if after = got.at("banks", "pageInfo", "endCursor"); got.at("banks", "pageInfo", "hasNextPage") == false {
			break
		}
	}
	if names != "Bank 0Bank 1Bank 2Bank 3Bank 4Bank 5Bank 6Bank 7Bank 8" {
		t.Error(names)
	}
	foreign := b.ask(t, b.staff(), `{ customers(first: 1) { pageInfo { endCursor } } }`).fine(t).
		at("customers", "pageInfo", "endCursor")
	if got := b.ask(t, b.staff(), `query($after: String) { banks(after: $after) { nodes { uid } } }`, "after",
		foreign); len(got.errors) == 0 {
		t.Errorf("a cursor of another list: %s", got.body)
	}
}
