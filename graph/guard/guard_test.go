package guard_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"bankgraph/graph/guard"
	"bankgraph/graph/transport"

	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2/ast"
)

// customer360 is what a portal's main page asks for.
const customer360 = `
	query Customer360($uid: ID!, $contacts: Int = 10) {
		customer(uid: $uid) {
			...Head
			parent { ...Head }
			accounts(first: 50) {
				totalCount
				pageInfo { ...Page }
				edges { cursor node { id uid name balances { ledger held available } } }
			}
			contacts(first: $contacts) { totalCount pageInfo { ...Page } nodes { id name } }
			limits(rail: "ACH") { code current used remaining }
		}
	}
	fragment Head on Customer { id uid legalName shortName status profile { key value } }
	fragment Page on PageInfo { hasNextPage endCursor }
`

func TestAPortalsPagePassesAndIsPricedByItsVariables(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{ListSizes: map[string]int{"Customer.profile": 5, "Customer.limits": 30}})
	head := 5                        // the profile
	fixed := 1 + head + (1 + head) + // the customer and its parent
		(1 + 1 + 50*(1+(1+1))) + // accounts: itself, pageInfo, edges of nodes with balances
		(1 + 1) + 30 // contacts without their nodes, limits
	for _, row := range []struct {
		variables map[string]any
		want      int
	}{
		{map[string]any{"uid": "7"}, fixed + 10},
		{map[string]any{"uid": "7", "contacts": 1}, fixed + 1},
		{map[string]any{"uid": "7", "contacts": 200}, fixed + 200},
		{map[string]any{"uid": "7", "contacts": nil}, fixed + 20}, // the schema's default
		// A size that the resolver refuses counts as the nearest allowed one.
		{map[string]any{"uid": "7", "contacts": 0}, fixed + 1},
		{map[string]any{"uid": "7", "contacts": -1}, fixed + 1},
		{map[string]any{"uid": "7", "contacts": 201}, fixed + 200},
		{map[string]any{"uid": "7", "contacts": 2147483647}, fixed + 200},
		{map[string]any{"uid": "7", "contacts": 9223372036854775807}, fixed + 200},
	} {
		if got := b.ask(t, customer360, row.variables); got.errors != nil {
			t.Fatalf("%v: %s", row.variables, got.text)
		}
		if b.cost.Requested != int64(row.want) || b.cost.Limit != 5000 {
			t.Errorf("%v: %+v, want %d", row.variables, b.cost, row.want)
		}
	}
	if b.guard.Cached() != 1 {
		t.Errorf("%d documents for one", b.guard.Cached())
	}
}

func TestPrices(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		query string
		want  int64
	}{
		{"{ __typename numbers }", 0},
		{"{ customer { uid } }", 1},
		{"{ customer { uid parent { uid } } }", 2},
		{"{ a: customer { uid } b: customer { uid } }", 2},
		{"{ customer { profile { key } } }", 1 + 10},
		{"{ customer { limits { code } profile { key } } }", 1 + 7 + 10},
		{"{ customers { totalCount } }", 1 + 7},
		{"{ customers { nodes { uid } } }", 1 + 20},
		{"{ customers { nodes { uid } edges { node { uid } } pageInfo { hasNextPage } } }", 1 + 20*(1+2) + 1},
		{"{ customers(first: 3) { nodes { uid } } }", 1 + 3},
		{"{ customers(last: 3) { nodes { uid } } }", 1 + 3},
		{"{ customers(first: 3, last: 4) { nodes { uid } } }", 1 + 4},
		{"{ customers(first: null) { nodes { uid } } }", 1 + 20},
		{"{ customers(first: 0) { nodes { uid } } }", 1 + 1},
		{"{ customers(first: -5) { nodes { uid } } }", 1 + 1},
		{"{ customers(first: 201) { nodes { uid } } }", 1 + 200},
		{"{ customers(first: 3000000000) { nodes { uid } } }", 1 + 200},
		{"{ customers(first: 2147483647) { nodes { uid } } }", 1 + 200},
		{"{ recent { id } }", 5},
		{"{ recent(first: 7) { id payer { uid } } }", 7 * 2},
		{
			"query($n: Int = 7) { recent(first: $n) { payer { accounts(first: $n) { nodes { uid } } } } }",
			7 * (1 + 1 + 1 + 7),
		},
		{"{ recent(first: 2) { payer { profile { key } } } }", 2 * (1 + 1 + 10)},
		{
			"{ customers(first: 10) { nodes { accounts(first: 5) { nodes { balances { held } } } } } }",
			1 + 10*(1+1+5*2),
		},
		{"{ customer { ...a ...a } } fragment a on Customer { parent { uid } }", 1 + 2},
		{"{ node(id: 1) { ... on Customer { parent { uid } } ... on Account { customer { uid } } } }", 3},
		{"{ nodes(ids: [1, 2]) { id } }", 2},
		{"{ nodes(ids: []) { id } }", 0},
		{"{ nodes(ids: 7) { id } }", 1},
		{
			`{ nodes(ids: ["a", "b", "c"]) { ... on Customer { a: accounts { nodes { uid } }
				b: accounts(first: 5) { nodes { uid } } } } }`, 3 * (1 + 21 + 6),
		},
		{
			`query($ids: [ID!]! = ["a", "b", "c"]) {
				nodes(ids: $ids) { ... on Customer { accounts { nodes { uid } } } } }`, 3 * (1 + 21),
		},
		{`query($a: ID = "a") { nodes(ids: [$a, $a]) { id } }`, 2},
		{"{ accounts: customer { accounts(first: 3) { totalCount nodes { id } } } }", 1 + 1 + 3},
		{`{ customers(filter: {status: ACTIVE}) { totalCount } }`, 1 + 7},
		{`{ customers(filter: {name: "x", status: null}) { totalCount } }`, 1 + 300 + 7},
		{`{ customers(filter: {name: "x"}, first: 2) { nodes { uid } } }`, 1 + 300 + 2},
		{`query($f: Filter = {name: "x"}) { customers(filter: $f) { totalCount } }`, 1 + 300 + 7},
		{`query($n: String) { customers(filter: {name: $n}) { totalCount } }`, 1 + 7},
		{`query($n: String = "x") { customers(filter: {name: $n}) { totalCount } }`, 1 + 300 + 7},
		{
			`query($n: String = "x") { customers { nodes { parent { a: parent { uid } } } }
				x: customers(filter: {name: $n}) { totalCount } }`, 1 + 20*3 + 1 + 300 + 7,
		},
		{"mutation { pay { payment { id } } }", 10 + 2},
		{"mutation { a: pay { payment { id } } b: pay { payment { id } } }", 2 * (10 + 2)},
		{"{ __schema { types { fields { name } } } }", 50},
		{"{ __type(name: \"Query\") { name } __schema { queryType { name } } }", 100},
	} {
		b := open(t, guard.Options{
			MayIntrospect: everybody, ListSizes: map[string]int{"Customer.limits": 7},
			ListArguments: map[string]string{"Query.nodes": "ids"},
			Prices:        map[string]int64{"CustomerConnection.totalCount": 7, "Filter.name": 300},
		})
		if got := b.ask(t, row.query); got.errors != nil || b.cost.Requested != row.want {
			t.Errorf("%s: %d, want %d; %s", row.query, b.cost.Requested, row.want, got.text)
		}
	}
}

func TestThePriceHoldsForTheChosenOperationAndItsVariables(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	const query = `query($a: Int, $b: Int) { customers(first: $a) {
		nodes { accounts(first: $b) { nodes { uid } } } } }`
	for _, row := range []struct{ a, b, price int64 }{
		{23, 200, 1 + 23*(2+200)},
		{24, 200, 1 + 24*(2+200)},
		{24, 206 - 2, 1 + 24*(2+200)},
		{16, 200, 1 + 16*(2+200)},
		{200, 200, 1 + 200*202},
	} {
		before := b.ran
		got := b.ask(t, query, map[string]any{"a": row.a, "b": row.b})
		if row.price <= 5000 {
			if got.errors != nil || b.cost.Requested != row.price {
				t.Errorf("%v: %d, %s", row, b.cost.Requested, got.text)
			}
			continue
		}
		e := got.errors[0].Extensions
		if got.code() != guard.PriceLimit || e.Requested != float64(row.price) || e.Limit != 5000 ||
			b.ran != before {
			t.Errorf("%v: %s", row, got.text)
		}
	}
	exact := open(t, guard.Options{Limits: guard.Limits{Price: 3}})
	if got := exact.ask(t, "{ customer { parent { parent { uid } } } }"); got.errors != nil {
		t.Errorf("at the limit: %s", got.text)
	}
	if got := exact.ask(t,
		"{ customer { parent { parent { parent { uid } } } } }"); got.code() != guard.PriceLimit {
		t.Errorf("one more: %s", got.text)
	}
}

func TestAtEachLimitADocumentStillPasses(t *testing.T) {
	t.Parallel()
	number := func(n int, format string) (s string) {
		for i := range n {
			s += fmt.Sprintf(format, i)
		}
		return s
	}
	for name, query := range map[string]string{
		"5 repeats":  "{ customer { uid uid uid uid uid } }",
		"60 aliases": "{ customer {" + number(60, " a%d: uid") + " } }",
		"50 fragments": "{ customer {" + number(50, " ...f%d") + " } }" +
			number(50, " fragment f%d on Customer { uid }"),
		"10 operations":  number(10, " query q%d { __typename }"),
		"20 root fields": "{" + number(20, " a%d: __typename") + " }",
		"10 mutations":   "mutation {" + number(10, " a%d: pay { payment { id } }") + " }",
		"depth 12": "{ customer {" + strings.Repeat(" parent {", 10) + " uid" + strings.Repeat(" }", 10) +
			" } }",
		"1,000 fields":    "{ customer { ...a0 } } fragment a9 on Customer { parent { uid } } " + doubled(9),
		"long list value": "{ nodes(ids: [" + strings.Repeat("1 ", 1900) + "]) { id } }",
	} {
		b := open(t, guard.Options{})
		body := `{"query":` + fmt.Sprintf("%q", query) + `,"operationName":` +
			map[bool]string{true: `"q0"`, false: "null"}[name == "10 operations"] + `}`
		if got := b.post(t, []byte(body)); got.errors != nil || b.ran != 1 {
			t.Errorf("%s: %s", name, got.text)
		}
	}
}

// doubled is the fragments a0 to a8, most of which spread the next one twice: 1 + 2 + 4 … fields, slightly
// below 1,000.
func doubled(n int) (s string) {
	for i := range n {
		if i < 8 {
			s += fmt.Sprintf(" fragment a%d on Customer { ...a%d ...a%d }", i, i+1, i+1)
			continue
		}
		s += fmt.Sprintf(" fragment a%d on Customer { ...a%d uid }", i, i+1)
	}
	return s
}

func TestOnlyThoseWithTheRightReadTheSchema(t *testing.T) {
	t.Parallel()
	asked := 0
	b := open(t, guard.Options{MayIntrospect: func(context.Context) bool { asked++; return asked > 1 }})
	if got := b.ask(t, introspection.Query); got.code() != guard.IntrospectionDenied ||
		len(got.errors) != 1 ||
		b.ran > 0 {
		t.Errorf("without the right: %s", got.text)
	}
	if got := b.ask(t, introspection.Query); got.errors != nil || !b.open {
		t.Errorf("with it: %s", got.text)
	}
	if b.ask(t, "{ __typename customer { __typename } }"); asked != 2 || b.open {
		t.Error("__typename is not introspection")
	}
}

func TestTheChosenOperationDecidesAboutIntrospection(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	const query = `"query":"query Look { customer { uid } } query Schema { __schema { queryType { name } } }"`
	if got := b.post(t, []byte(`{`+query+`,"operationName":"Look"}`)); got.errors != nil {
		t.Error(got.text)
	}
	if got := b.post(t,
		[]byte(`{`+query+`,"operationName":"Schema"}`)); got.code() != guard.IntrospectionDenied {
		t.Error(got.text)
	}
}

func TestDeferIsTakenOut(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	got := b.ask(t, `
		query($slow: Boolean = true) { ...root @defer(if: $slow, label: "a")
		customer { ... @defer { uid parent { ...c @defer @include(if: true) } } } }
		fragment root on Query { ... on Query @defer(label: "b") { numbers } }
		fragment c on Customer { uid }
	`)
	if got.errors != nil || string(got.data) != "{}" {
		t.Fatal(got.text)
	}
	var directives []string
	var look func(ast.SelectionSet)
	look = func(set ast.SelectionSet) {
		for _, selection := range set {
			var list ast.DirectiveList
			switch selection := selection.(type) {
			case *ast.Field:
				look(selection.SelectionSet)
			case *ast.InlineFragment:
				list = selection.Directives
				look(selection.SelectionSet)
			case *ast.FragmentSpread:
				list = selection.Directives
				look(selection.Definition.SelectionSet)
			}
			for _, directive := range list {
				directives = append(directives, directive.Name)
			}
		}
	}
	look(b.ast.Operations[0].SelectionSet)
	if strings.Join(directives, " ") != "include" {
		t.Errorf("directives left: %v", directives)
	}
}

func TestNoErrorTellsWhatTheSchemaHasInstead(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"{ customr { uid } }",
		"{ customer { uidd } }",
		"{ customer }",
		"{ customer { parent } }",
		"{ customer { uid { a } } }",
		"{ node(id: 1) { legalName } }",
		"{ node(id: 1) { ... on Custome { uid } } }",
		"{ customer(uidd: 1) { uid } }",
		"{ customer { uid @includ(if: true) } }",
		"{ customer { uid @include(iff: true) } }",
		"{ customers(filter: { statu: ACTIVE }) { totalCount } }",
		"{ customers(filter: { status: ACTIV }) { totalCount } }",
		`{ customers(filter: { status: "ACTIVE" }) { totalCount } }`,
		"{ customers(filter: { status: active }) { totalCount } }",
		"{ customers(frst: 1) { totalCount } }",
		"query($f: Filtr) { customers(filter: $f) { totalCount } }",
		"query($f: PageInfo) { customers(filter: $f) { totalCount } }",
		"fragment f on Customr { uid } { customer { ...f } }",
		"fragment f on Customer { uid } { customer { ...g } }",
		"subscription { payd { id } }",
		"mutation { pai { payment { id } } }",
		"{ __typ(name: \"Query\") { name } }",
		"{ customers(first: \"5\") { totalCount } }",
	} {
		b := open(t, guard.Options{})
		got := b.ask(t, query)
		if got.errors == nil || b.ran > 0 {
			t.Errorf("%s: passed", query)
		}
		for _, one := range got.errors {
			if strings.Contains(strings.ToLower(one.Message), "did you mean") ||
				strings.Contains(one.Message, "{ ... }") {
				t.Errorf("%s: %s", query, one.Message)
			}
			if one.Extensions.Code != validationFailed {
				t.Errorf("%s: code %s", query, one.Extensions.Code)
			}
		}
	}
	b := open(t, guard.Options{})
	for _, variables := range []map[string]any{
		{"f": map[string]any{"statu": "ACTIVE"}}, {"f": map[string]any{"status": "ACTIV"}},
	} {
		got := b.ask(t, "query($f: Filter) { customers(filter: $f) { totalCount } }", variables)
		if got.errors == nil || strings.Contains(strings.ToLower(got.text), "did you mean") {
			t.Errorf("%v: %s", variables, got.text)
		}
	}
}

func TestAllMistakesAreToldButNotMoreThanTwenty(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	if got := b.ask(t, "{ a b c }"); len(got.errors) != 3 {
		t.Errorf("%d errors: %s", len(got.errors), got.text)
	}
	many := "{"
	for i := range 150 {
		many += fmt.Sprint(" u", i)
	}
	if got := b.ask(t, many+" }"); len(got.errors) != 20 {
		t.Errorf("%d errors for 150 mistakes", len(got.errors))
	}
}

func TestChangingACommentDoesNotFillTheMemory(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	for i := range 10_000 {
		if errs := b.guard.Check(fmt.Sprintf("{ customer { uid } } # %d", i)); errs != nil {
			t.Fatal(errs)
		}
		if n := b.guard.Cached(); n > 500 {
			t.Fatalf("%d documents kept", n)
		}
	}
}

func TestADocumentIsPreparedOnce(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	b.ask(t, customer360, map[string]any{"uid": "1"})
	first := b.ast
	b.ask(t, customer360, map[string]any{"uid": "2", "contacts": 5})
	if first == nil || b.ast != first {
		t.Error("parsed again")
	}
}

func TestOneDocumentServesManyAtOnce(t *testing.T) {
	t.Parallel()
	run := open(t, guard.Options{}).operate(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			for n := range int64(50) {
				run(customer360+fmt.Sprint("#", n%5), map[string]any{"uid": "7", "contacts": int64(i)})
			}
		})
	}
	all.Wait()
}

func TestRefusedDocumentsAreNotKept(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	for _, one := range attacks() {
		_ = b.guard.Check(one.query)
	}
	for _, one := range attacks() {
		if one.code == guard.PriceLimit || one.code == guard.IntrospectionDenied {
			continue // the document is good, the request was not
		}
		if errs := b.guard.Check(one.query); errs == nil {
			t.Errorf("%s passes the second time", one.name)
		}
	}
}

func TestAHashAloneIsAnswered(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	got := b.post(t, []byte(`{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"ab"}}}`))
	if got.code() != guard.PersistedQueryNotSupported || got.errors[0].Message != "PersistedQueryNotSupported" {
		t.Error(got.text)
	}
	if got = b.post(t, []byte(`{"documentId":"ab"}`)); got.code() != guard.PersistedDocumentNotFound {
		t.Error(got.text)
	}
	// If the text is given, the hash is ignored.
	if got = b.post(t,
		[]byte(`{"query":"{ numbers }","extensions":{"persistedQuery":{"version":1,`+
			`"sha256Hash":"ab"}}}`)); got.errors != nil {
		t.Error(got.text)
	}
}

func TestAMillionLevelsNeverReachTheParser(t *testing.T) {
	t.Parallel()
	b := open(t, guard.Options{})
	for _, level := range []string{"{a", "{a(b:["} {
		got := b.ask(t, strings.Repeat(level, 1_000_000))
		if got.status != 413 || got.code() != transport.BodyTooLarge || b.ran > 0 {
			t.Errorf("%d %s", got.status, got.text)
		}
	}
}

func TestAnAssumedSizeMustBelongToAField(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("a misspelt field was taken")
		}
	}()
	open(t, guard.Options{ListSizes: map[string]int{"Customer.limit": 5}})
}

func FuzzDocuments(f *testing.F) {
	g := open(f, guard.Options{}).guard
	f.Add(customer360)
	f.Add(introspection.Query)
	for _, one := range attacks() {
		f.Add(one.query)
	}
	f.Fuzz(func(t *testing.T, query string) {
		if len(query) > transport.DefaultBodyLimit {
			t.Skip()
		}
		first := g.Check(query)
		if second := g.Check(query); (first == nil) != (second == nil) {
			t.Errorf("%v, then %v", first, second)
		}
	})
}

// The guard's own part of a request with a known document.
func BenchmarkGuard(b *testing.B) {
	for _, one := range []struct {
		name  string
		query func(i int) string
	}{
		{"known", func(int) string { return customer360 }},
		{"new", func(i int) string { return customer360 + fmt.Sprint("#", i) }},
	} {
		b.Run(one.name, func(b *testing.B) {
			bank := open(b, guard.Options{})
			run := bank.operate(b)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				run(one.query(i), map[string]any{"uid": "7", "contacts": int64(10)})
			}
		})
	}
}

// A variable with a default may be a condition though it may be null. Null is refused before anything is
// done.
func TestNullIsNoCondition(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		`mutation($on: Boolean = true) { pay(amount: "1") { payment { id @include(if: $on) } } }`,
		`mutation($on: Boolean = true) { pay(amount: "1") @skip(if: $on) { payment { id } } }`,
		`mutation($on: Boolean = true) { pay(amount: "1") { ... @include(if: $on) { payment { id } } } }`,
		`mutation($on: Boolean = true) { pay(amount: "1") { ...F @skip(if: $on) } }
			fragment F on Paid { payment { id } }`,
		`mutation($on: Boolean = true) { pay(amount: "1") { ...F } }
			fragment F on Paid { payment { id @skip(if: $on) } }`,
	} {
		b := open(t, guard.Options{})
		got := b.ask(t, query, map[string]any{"on": nil})
		if got.status != 400 || got.code() != validationFailed ||
			!strings.Contains(got.text, "$on must not be null") {
			t.Errorf("%s: %d %s", query, got.status, got.text)
		}
		if b.ran > 0 {
			t.Errorf("%s: was executed", query)
		}
		for _, given := range []map[string]any{{}, {"on": true}, {"on": false}} {
			if got := b.ask(t, query, given); got.errors != nil {
				t.Errorf("%s with %v: %s", query, given, got.text)
			}
		}
	}
}
