package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"

	"bankgraph/core/access"
	"bankgraph/graph"
	"bankgraph/graph/guard"
	"bankgraph/graph/playground"
)

// The guard is tested on a schema of its own; this test runs the same table against the real handler.
func TestHostileDocumentsReachNoDatabase(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	number := func(n int, format string) string {
		var text strings.Builder
		for i := range n {
			text.WriteString(strings.ReplaceAll(strings.ReplaceAll(format, "%n", fmt.Sprint(i+1)), "%i",
				fmt.Sprint(i)))
		}
		return text.String()
	}
	of := func(selection string) string {
		return fmt.Sprintf(`{ customer(by: {uid: "%d"}) { %s } }`, star, selection)
	}
	nested := func(n int, open, inner, shut string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	const invalid, syntax = "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED"
	for _, one := range []struct{ name, document, code string }{
		{"__typename 1,000 times", of(strings.Repeat(" __typename", 1000)), guard.DocumentTooComplex},
		{"61 aliases", of(number(61, " a%i: uid")), guard.DocumentTooComplex},
		{"3,000 aliases", of(number(2400, " a%i:uid")), guard.DocumentTooComplex},
		{"2,900 directives", of("uid" + strings.Repeat("@a ", 2900)), guard.DocumentTooComplex},
		{"3,000 unknown fields", of(number(3000, " u%i")), guard.DocumentTooComplex},
		{"11 operations", number(11, " query q%i { __typename }"), guard.DocumentTooComplex},
		{
			"26 fragments, each spread twice",
			of("...f0") + number(26, " fragment f%i on Customer { ...f%n ...f%n }") +
				" fragment f26 on Customer { uid }", guard.FieldLimit,
		},
		{
			"aliased fan-out through 18 fragments",
			of("...f0") + number(18, " fragment f%i on Customer { a: parent { ...f%n } b: parent { ...f%n } }") +
				" fragment f18 on Customer { uid }", guard.FieldLimit,
		},
		{
			"a ring of fragments",
			of("...a") + " fragment a on Customer { ...b } fragment b on Customer { parent { ...a } }", invalid,
		},
		{"depth 13", of(nested(11, "parent { ", "uid", " }")), guard.DepthLimit},
		{"21 root fields", "{" + number(21, " a%i: viewer { tenant }") + " }", guard.RootFieldLimit},
		{"10,000 levels of selections", nested(10_000, "{a", "", "}"), syntax},
		{"10,000 levels of values", `{ nodes(ids: ` + nested(10_000, "[", "", "]") + `) { id } }`, syntax},
		{
			"a page of pages",
			`{ customers(first: 200) { nodes { accounts(first: 200) { nodes { uid } } } } }`,
			guard.PriceLimit,
		},
		{
			"a page of pages of pages",
			`{ customers(first: 20) { nodes { accounts { nodes { customer { contacts { nodes { uid } } } } } } } }`,
			guard.PriceLimit,
		},
		{"no document", "", invalid},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			got := b.ask(t, b.staff(), one.document)
			if got.status != 400 || got.data != nil || got.statements != 0 || len(got.errors) == 0 ||
				got.errors[0].Extensions.Code != one.code {
				t.Errorf("%.1000s", got)
			}
			if strings.Contains(strings.ToLower(got.body), "did you mean") {
				t.Errorf("%s", got.body)
			}
		})
	}
	t.Run("price by variable", func(t *testing.T) {
		t.Parallel()
		got := b.ask(t, b.staff(),
			`query($n: Int!) { customers(first: $n) { nodes { accounts(first: $n) { nodes { uid } } } } }`, "n", 200)
		if got.status != 400 || got.statements != 0 || got.one(t).Extensions.Code != guard.PriceLimit ||
			got.errors[0].Extensions.Limit != 5000 || got.errors[0].Extensions.Requested <= 5000 {
			t.Errorf("%s", got)
		}
	})
	t.Run("a body of 1 MiB", func(t *testing.T) {
		t.Parallel()
		if got := b.send(t, b.staff(),
			`{"query":"{ viewer { tenant } }`+strings.Repeat(" ", 1<<20)+`"}`); got.status != 413 ||
			got.statements != 0 {
			t.Errorf("%s", got)
		}
	})
	t.Run("a batch", func(t *testing.T) {
		t.Parallel()
		if got := b.send(t, b.staff(),
			`[{"query":"{ viewer { tenant } }"},{"query":"{ viewer { tenant } }"}]`); got.status != 400 ||
			got.data != nil {
			t.Errorf("%s", got)
		}
	})
}

func TestOnlyExplorersReadTheSchema(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, document := range []string{
		`{ __schema { queryType { name } } }`, `{ __type(name: "Customer") { name } }`,
		`{ viewer { tenant } x: __schema { types { name } } }`,
		`{ ...F } fragment F on Query { __schema { directives { name } } }`,
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { uid } __type(name: "Account") { fields { name } } }`, star),
	} {
		for _, caller := range []*access.Caller{nil, without(b.staff(), access.ExploreGraphQL)} {
			got := b.ask(t, caller, document)
			if got.status != 400 || got.data != nil || got.statements != 0 ||
				got.one(t).Extensions.Code != guard.IntrospectionDenied {
				t.Errorf("%s: %s", document, got)
			}
		}
		b.ask(t, b.staff(), document).fine(t)
	}
	// __typename is not introspection: every client asks for it.
	b.ask(t, without(b.staff(), access.ExploreGraphQL), `{ __typename viewer { __typename } }`).fine(t)
}

func TestDeferredFieldsComeAtOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	got := b.ask(t, b.staff(),
		fmt.Sprintf(`{ customer(by: {uid: "%d"}) { uid ... @defer { legalName accounts { totalCount } } } }`,
			star)).fine(t)
	if got.at("customer", "legalName") == nil || got.at("customer", "accounts", "totalCount") != float64(each) {
		t.Errorf("%s", got.body)
	}
}

// Real documents must cost well below the limit.
func TestRealDocumentsArePricedWithinTheLimit(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	var price int64
	server := graph.New(b.core, options).(*handler.Server)
	server.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		cost, _ := guard.CostOf(ctx)
		price = cost.Requested
		return next(ctx)
	})
	b.server, b.resolving = server, nil
	priced := func(name string, most int64, body string) {
		price = 0
		got := b.send(t, b.staff(), body)
		if got.status != 200 || price == 0 || price > most {
			t.Errorf("%s: price %d, want at most %d: %.500s", name, price, most, got.body)
		}
		t.Logf("%-40s price %4d, %2d statements in %d round trips", name, price, got.statements, got.trips)
	}
	request := func(document string, variables string) string {
		quoted, _ := json.Marshal(document)
		return `{"query":` + string(quoted) + `,"variables":` + variables + `}`
	}
	priced("customer 360", 500, request(customer360, fmt.Sprintf(`{"uid":"%d"}`, star)))
	priced("200 customers with accounts and signatories", 5000, request(listed, `{"n":200}`))
	for _, example := range playground.Examples() {
		most := int64(2500)
		if example.Name == "19-proof" { // so dear that one request asks for one
			most = 5000
		}
		priced(example.Name, most, request(example.Query, example.Variables))
	}
}
