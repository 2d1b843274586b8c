package guard_test

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"bankgraph/graph/guard"
	"bankgraph/graph/transport"
)

const (
	parseFailed      = "GRAPHQL_PARSE_FAILED"
	validationFailed = "GRAPHQL_VALIDATION_FAILED"
)

// attack is a hostile document, the code of its refusal, and the most memory in bytes that the refusal may
// take.
type attack struct {
	name   string
	query  string
	code   string
	memory uint64
}

const mib = 1 << 20

func attacks() []attack {
	number := func(n int, format string) string {
		var b strings.Builder
		for i := range n {
			one := strings.ReplaceAll(format, "%next", fmt.Sprint(i+1))
			b.WriteString(strings.ReplaceAll(one, "%d", fmt.Sprint(i)))
		}
		return b.String()
	}
	// Each fragment spreads the next twice: 2^n fields in a few bytes.
	doubling := func(n int, spread, last string) string {
		var b strings.Builder
		b.WriteString("{ customer { ...f0 } }")
		for i := range n {
			fmt.Fprintf(&b, " fragment f%d on Customer { "+spread+" }", i, i+1, i+1)
		}
		fmt.Fprintf(&b, " fragment f%d on Customer { %s }", n, last)
		return b.String()
	}
	nested := func(n int, open, inner, shut string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(shut, n)
	}
	// Every fragment selects the same fields, each with another argument.
	overlapping := func(n int) string {
		return "{ customer {" + number(n, " ...o%d") + " } }" +
			number(n, " fragment o%d on Customer { uid legalName parent { uid accounts(first: "+
				"1%d) { totalCount } } }")
	}
	return []attack{
		{"__typename 1,000 times", "{" + strings.Repeat(" __typename", 1000) + " }", guard.DocumentTooComplex, mib},
		{
			"__typename 30,000 times",
			"{" + strings.Repeat("__typename,", 2900) + " }", guard.DocumentTooComplex,
			2 * mib,
		},
		{
			"one field 201 times under other names", "{" + number(201, " a%d: __typename") + " }",
			guard.DocumentTooComplex, mib,
		},
		{"61 aliases", "{ customer {" + number(61, " a%d: uid") + " } }", guard.DocumentTooComplex, mib},
		{"a long alias", "{ customer { a" + strings.Repeat("b", 128) + ": uid } }", guard.DocumentTooComplex, mib},
		{
			"a long name of a variable", "query($a" + strings.Repeat("b", 128) + ": ID) { customer { uid } }",
			guard.DocumentTooComplex, mib,
		},
		{"5,000 aliases", "{" + number(2900, "a%d:uid ") + "}", guard.DocumentTooComplex, 2 * mib},
		{
			"11 directives in one place",
			"{ customer { uid" + strings.Repeat(" @include(if: true)", 11) + " } }",
			guard.DocumentTooComplex, mib,
		},
		{
			"5,000 directives",
			"{ customer { uid" + strings.Repeat("@a ", 5000) + " } }", guard.DocumentTooComplex,
			2 * mib,
		},
		{
			"11 directives on an operation", "query" + strings.Repeat(" @a", 11) + " { __typename }",
			guard.DocumentTooComplex, mib,
		},
		{
			"11 directives on a variable", "query($a: Int" + strings.Repeat(" @a", 11) + ") { __typename }",
			guard.DocumentTooComplex, mib,
		},
		{
			"11 directives on a spread",
			"{ ...f" + strings.Repeat(" @a", 11) + " } fragment f on Query { __typename }",
			guard.DocumentTooComplex, mib,
		},
		{
			"11 directives on a fragment",
			"{ ...f } fragment f on Query" + strings.Repeat(" @a", 11) + " { __typename }",
			guard.DocumentTooComplex, mib,
		},
		{
			"11 directives on an inline fragment", "{ ..." + strings.Repeat(" @a", 11) + " { __typename } }",
			guard.DocumentTooComplex, mib,
		},
		{"5,000 unknown fields", "{" + number(5000, "u%d ") + "}", guard.DocumentTooComplex, 2 * mib},
		{
			"201 selections in one place",
			"{ customer {" + number(201, " u%d") + " } }", guard.DocumentTooComplex,
			mib,
		},
		{
			"6 times one response name",
			"{ customer {" + strings.Repeat(" uid", 6) + " } }", guard.DocumentTooComplex,
			mib,
		},
		{
			"6 times one response name by alias", "{ customer { uid uid uid uid uid uid: id } }",
			guard.DocumentTooComplex, mib,
		},
		{
			"6 times one spread",
			"{ customer {" + strings.Repeat(" ...f", 6) + " } } fragment f on Customer { uid }",
			guard.DocumentTooComplex, mib,
		},
		{
			"6 times one condition", "{ customer {" + strings.Repeat(" ... on Customer { uid }", 6) + " } }",
			guard.DocumentTooComplex, mib,
		},
		{
			"6 times no condition", "{ customer {" + strings.Repeat(" ... { uid }", 6) + " } }",
			guard.DocumentTooComplex, mib,
		},
		{
			"51 fragments", "{ customer { ...f0 } }" + number(51, " fragment f%d on Customer { uid }"),
			guard.DocumentTooComplex, mib,
		},
		{"11 operations", number(11, " query q%d { __typename }"), guard.DocumentTooComplex, mib},
		{"160 overlapping fragments", overlapping(160), guard.DocumentTooComplex, 8 * mib},
		{
			"2,001 tokens of comments",
			"{ __typename }" + strings.Repeat("#\n", 2001), guard.DocumentTooComplex,
			2 * mib,
		},
		{
			"a list value of 10,000", "{ nodes(ids: [" + strings.Repeat("1,", 10_000) + "]) { id } }",
			guard.DocumentTooComplex, 2 * mib,
		},

		{"26 fragments, each spread twice", doubling(26, "...f%d ...f%d", "uid"), guard.FieldLimit, mib},
		{
			"49 fragments, each spread 5 times: more than an int64 can count",
			"{ customer { ...f0 } } fragment f48 on Customer { uid }" +
				number(48, " fragment f%d on Customer { uid ...f%next ...f%next ...f%next ...f%next ...f%next }"),
			guard.FieldLimit, 2 * mib,
		},
		{
			"aliased fan-out through 18 fragments",
			doubling(18, "a: parent { ...f%d } b: parent { ...f%d }", "uid"),
			guard.FieldLimit, mib,
		},
		{"1,001 fields", doubling(9, "...f%d ...f%d", "uid shortName"), guard.FieldLimit, mib},
		{"depth 13", "{ customer {" + nested(11, " parent {", " uid", " }") + " } }", guard.DepthLimit, mib},
		{
			"depth 13 through fragments",
			"{ customer { ...f } } fragment f on Customer {" + nested(11, " parent {", " uid", " }") + " }",
			guard.DepthLimit, mib,
		},
		{"21 root fields", "{" + number(21, " a%d: __typename") + " }", guard.RootFieldLimit, mib},
		{
			"21 root fields through fragments",
			"{ ...f ...f ...f } fragment f on Query {" + number(7, " a%d: __typename") + " }",
			guard.RootFieldLimit, mib,
		},
		{
			"11 mutations",
			"mutation {" + number(11, " a%d: pay { payment { id } }") + " }", guard.RootFieldLimit,
			mib,
		},
		{
			"price above 5,000",
			"{ customers(first: 200) { nodes { accounts(first: 200) { nodes { uid } } } } }",
			guard.PriceLimit, mib,
		},
		{
			"price at the top of int64",
			"{ customers(first: 200) { nodes { accounts(first: 200) { nodes { customer { accounts(first: " +
				"200) { nodes { uid } } } } } } } }", guard.PriceLimit, mib,
		},

		{"49 overlapping fragments", overlapping(49), validationFailed, 8 * mib},
		{
			"a ring of fragments",
			"{ customer { ...a } } fragment a on Customer { ...b } fragment b on Customer { parent { ...a } }",
			validationFailed, mib,
		},
		{"a fragment in itself", "{ customer { ...a } } fragment a on Customer { ...a }", validationFailed, mib},
		{"a ring of 50", "{ customer { ...r0 } } fragment r49 on Customer { ...r0 }" + func() (s string) {
			for i := range 49 {
				s += fmt.Sprintf(" fragment r%d on Customer { ...r%d }", i, i+1)
			}
			return s
		}(), validationFailed, 8 * mib},
		{
			"circular introspection",
			"{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
			validationFailed, mib,
		},
		{
			"deep introspection",
			"{ __type(name: \"Query\") {" + nested(25, " ofType {", " name", " }") + " } }",
			guard.DepthLimit, mib,
		},
		{"introspection", "{ __schema { queryType { name } } }", guard.IntrospectionDenied, mib},
		{"introspection of one type", "{ __type(name: \"Query\") { name } }", guard.IntrospectionDenied, mib},
		{
			"introspection under another name",
			"{ a: __schema { queryType { name } } }", guard.IntrospectionDenied,
			mib,
		},
		{
			"introspection in a fragment",
			"{ ...f } fragment f on Query { ... on Query { __schema { queryType { name } } } }",
			guard.IntrospectionDenied, mib,
		},
		{
			"introspection that is skipped", "{ __typename __schema @skip(if: true) { queryType { name } } }",
			guard.IntrospectionDenied, mib,
		},

		{"10,000 levels of selections", nested(10_000, "{a", "", "}"), parseFailed, 2 * mib},
		{"660 levels of selections", nested(660, "{a", "", "}"), validationFailed, 2 * mib},
		{
			"900 levels of list values", "{ nodes(ids: " + nested(900, "[", "", "]") + ") { id } }",
			validationFailed, 8 * mib,
		},
		{
			"10,000 levels of list values",
			"{ nodes(ids: " + nested(10_000, "[", "", "]") + ") { id } }", parseFailed,
			2 * mib,
		},
		{
			"10,000 levels of types",
			"query($a: " + nested(10_000, "[", "Int", "]") + ") { __typename }", parseFailed,
			2 * mib,
		},
		{"U+0000 in a literal", `{ customer(name: "a\u0000b") { uid } }`, guard.InvalidText, mib},
		{
			"U+0000 in a literal list",
			`{ customers(filter: { deeper: { names: ["a", "\u0000"] } }) { totalCount } }`,
			guard.InvalidText, mib,
		},
		{
			"U+0000 in a default",
			`query($n: String = "\u0000") { customer(name: $n) { uid } }`, guard.InvalidText,
			mib,
		},
		{"U+0000 in a directive", `{ customer { uid @include(if: "\u0000") } }`, guard.InvalidText, mib},
		{"nothing", " ", validationFailed, mib},
		{"only a fragment", "fragment f on Customer { uid }", validationFailed, mib},
		{"a schema", "type Query { a: Int }", parseFailed, mib},
	}
}

func TestEveryHostileDocumentIsRefusedBeforeExecution(t *testing.T) {
	t.Parallel()
	for _, one := range attacks() {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			b := open(t, guard.Options{})
			got := b.ask(t, one.query)
			if len(one.query) > transport.DefaultBodyLimit { // the body is cut before the guard sees it
				t.Fatalf("%d bytes never reach the guard", len(one.query))
			}
			if got.status != 400 || got.code() != one.code {
				t.Errorf("%d %.500s", got.status, got.text)
			}
			// Mistakes are reported one by one, up to 20; all other refusals are one error.
			if n := len(got.errors); n != 1 && (one.code != validationFailed || n > 20) {
				t.Errorf("%d errors: %.1000s", len(got.errors), got.text)
			}
			if b.ran > 0 {
				t.Error("was executed")
			}
			if b.guard.Cached() > 0 && one.code != guard.PriceLimit && one.code != guard.IntrospectionDenied {
				t.Error("was kept")
			}
			switch one.code {
			case guard.FieldLimit, guard.DepthLimit, guard.RootFieldLimit, guard.PriceLimit:
				if e := got.errors[0].Extensions; e.Limit == 0 || e.Requested <= e.Limit {
					t.Errorf("does not tell limit and requested: %s", got.text)
				}
			}
		})
	}
}

//nolint:paralleltest // it counts what the whole process allocates
func TestRefusingTakesLittleMemory(t *testing.T) {
	g := open(t, guard.Options{}).guard
	_ = g.Check("{ __typename }") // built only once
	for _, one := range attacks() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_ = g.Check(one.query)
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > one.memory {
			t.Errorf("%s: %d KiB, at most %d", one.name, used>>10, one.memory>>10)
		}
	}
}

func TestSumsStopAtTheTop(t *testing.T) {
	t.Parallel()
	g := open(t, guard.Options{}).guard
	for _, one := range attacks() {
		if !strings.HasPrefix(one.name, "49 fragments") {
			continue
		}
		if got := g.Check(one.query)[0].Extensions["requested"]; got != int64(math.MaxInt64) {
			t.Errorf("%v fields", got)
		}
	}
}
