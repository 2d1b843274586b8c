package graph_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"bankgraph/core/coretest"
	"bankgraph/graph"
)

// Whatever a document asks for, it is answered directly as gqlgen answers it, and nothing in it is the
// server's failure.
func FuzzAnswers(f *testing.F) {
	bank := coretest.New(f)
	customer := bank.Customer()
	account, staff := bank.Account(customer, coretest.Holding(100_00, 0)), bank.Staff()
	direct, fieldwise := graph.New(bank.Core, graph.Options{}), graph.Resolving(bank.Core, graph.Options{})
	for _, asked := range []string{
		`legalName taxId { masked } accounts(first: 2) { totalCount
			nodes { name number { masked } balances { currency available } } }`,
		`...F @include(if: true) accounts { pageInfo { endCursor }
			edges { cursor node { __typename customer { uid } } } }`,
		`limits(rail: FEDWIRE) { name current } contacts(first: 201) { nodes { name } }`,
		`accounts(after: "1eyJvIjoiIn0") { nodes { uid } } history(first: 1) { nodes { action } }`,
		`a: uid a: legalName`, `uid @skip(if: $x)`, `accounts(first: -1) { nodes { uid } }`,
	} {
		f.Add(fmt.Sprintf("query Q($x: Boolean = false) { customer(by: {uid: %q}) { %s } } fragment F on "+
			"Customer { uid status }",
			customer.UID, asked))
	}
	for _, text := range []string{
		fmt.Sprintf(`{ account(by: {uid: %q}) { uid customer { accounts { nodes { uid } } } }
			node(id: "acc_%s") { id } }`, account.UID, account.UID),
		`{ customers(filter: {namePrefix: "\u0000"}, orderBy: NAME) { nodes { uid } } }`,
		`{ node(id: "cus_007") { id } nodes(ids: ["", "x"]) { id } }`,
		`{ banks(search: "%_\\") { nodes { name } } }`,
		`{ audit(filter: {object: "'"}) { nodes { id } } }`, "{",
		"", "\ufeff{__typename}",
		`{ __schema { types { name } } }`, `query { __typename } query { __typename }`, "{" +
			strings.Repeat("a{", 200),
		`{ payments(filter: {amountAtLeast: "1e3"}) { nodes { uid } } }`,
		`{ clock { now } me { permissions } }`,
		`"""x""" { __typename }`,
		`fragment A on Query { ...B } fragment B on Query { ...A } { ...A }`,
		`{ customer(by: {uid: "1", shortName: "x"}) { uid } }`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, document string) {
		if parsed, err := parser.ParseQuery(&ast.Source{Input: document}); err == nil {
			for _, operation := range parsed.Operations {
				if operation.Operation != ast.Query {
					return // answers to changes need not be the same twice
				}
			}
		}
		one, other := ask(staff, direct, document), ask(staff, fieldwise, document)
		if !bytes.Equal(one.Data, other.Data) || one.errors() != other.errors() {
			t.Fatalf("directly %s\n%s\nfield by field %s\n%s", one.Data, one.errors(), other.Data, other.errors())
		}
		if strings.Contains(one.errors(), "internal error") {
			t.Fatal(one.errors())
		}
	})
}
