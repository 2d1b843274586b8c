package graph_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/db"
	"bankgraph/graph"
)

// one returns the only error of an answer.
func (a answer) one(t testing.TB) shown {
	t.Helper()
	if len(a.errors) != 1 {
		t.Fatalf("%d errors: %.2000s", len(a.errors), a.body)
	}
	return a.errors[0]
}

func TestAFaultTellsItsKindCodeFieldAndRequest(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, one := range []struct{ document, kind, code, field, path string }{
		{`{ customers(first: 0) { totalCount } }`, "INVALID", "VALIDATION_ERROR", "first", "[customers]"},
		{
			`{ x: customers(filter: {parent: "x"}) { totalCount } }`,
			"INVALID", "VALIDATION_ERROR", "filter.parent", "[x]",
		},
		{`{ customer(by: {uid: "x"}) { uid } }`, "INVALID", "VALIDATION_ERROR", "by.uid", "[customer]"},
		{`{ account(by: {number: "****0718"}) { uid } }`, "INVALID", "VALIDATION_ERROR", "by.number", "[account]"},
		{
			`{ customer(by: {uid: "STAR"}) { contacts(filter: {accountNumber: "****0718"}) { totalCount } } }`,
			"INVALID", "VALIDATION_ERROR", "filter.accountNumber", "[customer contacts]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, amount: "x") { code } } }`, "INVALID",
			"CUSTOMERLIMIT_AMOUNT_INVALID", "amount", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, amount: "-1") { code } } }`, "INVALID",
			"CUSTOMERLIMIT_AMOUNT_INVALID", "amount", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, amount: "10000000.01") { code } } }`, "INVALID",
			"CUSTOMERLIMIT_AMOUNT_INVALID", "amount", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, amount: "") { code } } }`, "INVALID",
			"VALIDATION_ERROR", "amount", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, amount: "1e3") { code } } }`, "INVALID",
			"CUSTOMERLIMIT_AMOUNT_INVALID", "amount", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, amount: "0.001") { code } } }`, "INVALID",
			"CUSTOMERLIMIT_AMOUNT_INVALID", "amount", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, date: "2026-13-01") { code } } }`, "INVALID",
			"VALIDATION_ERROR", "date", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, date: "11-20-2026") { code } } }`, "INVALID",
			"VALIDATION_ERROR", "date", "[customer limits]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { limits(rail: ACH, secCode: PPD) { code } } }`, "INVALID",
			"CUSTOMERLIMIT_ENTRYTYPE_REQUIRED", "entryType", "[customer limits]",
		},
		{
			`mutation { changeLimits(input: {customer: "STAR", limits: []}) { replayed } }`, "INVALID",
			"CUSTOMERLIMIT_LIST_EMPTY", "limits", "[changeLimits]",
		},
		{
			`mutation { changeLimits(input: {customer: "STAR", limits: [{code: "SHOE", value: "1"}]}) { replayed } }`,
			"INVALID", "CUSTOMERLIMIT_UNKNOWN_KEY", "limits[0].code", "[changeLimits]",
		},
		{
			`mutation { changeLimits(input: {customer: "STAR",
				limits: [{code: "ACH_PAYMENT_LIMIT_PER_DAY", value: "-1"}]}) { replayed } }`, "INVALID",
			"CUSTOMERLIMIT_VALUE_NEGATIVE", "limits[0].value", "[changeLimits]",
		},
		{
			`mutation { changeCustomer(input: {uid: "STAR",
				limits: [{code: "ACH_PAYMENT_LIMIT_PER_DAY", value: "-1"}]}) { replayed } }`, "INVALID",
			"CUSTOMERLIMIT_VALUE_NEGATIVE", "limits[0].value", "[changeCustomer]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { accounts(filter: {currency: "XXQ"}) { totalCount } } }`, "INVALID",
			"VALIDATION_ERROR", "filter.currency", "[customer accounts]",
		},
		{
			`{ customer(by: {uid: "STAR"}) { accounts(first: 5, last: 5) { totalCount } } }`, "INVALID",
			"VALIDATION_ERROR", "last", "[customer accounts]",
		},
		{
			`{ audit(filter: {objectUid: "7"}) { nodes { uid } } }`, "INVALID", "VALIDATION_ERROR",
			"filter.object", "[audit]",
		},
		{
			`{ audit(filter: {objectUid: "7"}) { totalCount } }`,
			"INVALID", "VALIDATION_ERROR", "filter.object", "[audit]",
		},
		{
			`{ nodes(ids: [` + strings.Repeat(`"cus_1",`, 101) + `]) { id } }`, "INVALID",
			"VALIDATION_ERROR", "ids", "[nodes]",
		},
	} {
		t.Run(one.document[:min(90, len(one.document))], func(t *testing.T) {
			t.Parallel()
			got := b.ask(t, b.staff(), strings.ReplaceAll(one.document, "STAR", star.String()))
			e := got.one(t)
			if x := e.Extensions; x.Kind != one.kind || x.Code != one.code || x.Field != one.field ||
				x.RequestID != requestID || fmt.Sprint(e.Path) != one.path {
				t.Errorf("%s", got.body)
			}
			if got.status != 200 || got.data == nil {
				t.Errorf("%s", got.body)
			}
		})
	}
}

// The same arguments in variables, which validation does not check.
func TestMalformedVariablesAreTheCallersMistake(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	lookup := `query($by: CustomerBy!) { viewer { tenant } customer(by: $by) { uid } }`
	account := `query($by: AccountBy!) { viewer { tenant } account(by: $by) { uid } }`
	list := `query($f: CustomerFilter) { viewer { tenant } customers(filter: $f) { totalCount } }`
	limit := fmt.Sprintf(
		`query($rail: Rail!, $amount: Amount, $date: Date) {
			customer(by: {uid: "%d"}) { limits(rail: $rail, amount: $amount, date: $date) { code } } }`, star)
	accounts := fmt.Sprintf(
		`query($f: AccountFilter) { customer(by: {uid: "%d"}) { accounts(filter: $f) { totalCount } } }`, star)
	for _, one := range []struct{ document, variables string }{
		{lookup, `{"by": {}}`},
		{lookup, `{"by": {"uid": null}}`},
		{lookup, `{"by": null}`},
		{lookup, `{}`},
		{lookup, `{"by": {"uid": "1000011", "shortName": "x"}}`},
		{lookup, `{"by": {"uid": "1000011", "shortName": null}}`},
		{lookup, `{"by": {"uid": 1000011}}`},
		{lookup, `{"by": {"uid": "01000011"}}`},
		{lookup, `{"by": {"uid": "0"}}`},
		{lookup, `{"by": {"uid": ""}}`},
		{lookup, `{"by": {"uid": "-1"}}`},
		{lookup, `{"by": {"uid": "+1"}}`},
		{lookup, `{"by": {"uid": " 1"}}`},
		{lookup, `{"by": {"uid": "1e3"}}`},
		{lookup, `{"by": {"uid": "٣"}}`},
		{lookup, `{"by": {"uid": "9223372036854775808"}}`},
		{lookup, `{"by": {"uid": ["1000011"]}}`},
		{lookup, `{"by": {"uid": {"a": 1}}}`},
		{lookup, `{"by": {"shortName": 5}}`},
		{lookup, `{"by": {"nothing": "x"}}`},
		{lookup, `{"by": "1000011"}`},
		{lookup, `{"by": [{"uid": "1000011"}]}`},
		{account, `{"by": {}}`},
		{account, `{"by": {"uid": "1", "number": "2"}}`},
		{account, `{"by": {"number": null}}`},
		{account, `{"by": {"number": true}}`},
		{list, `{"f": {"type": "NOTHING"}}`},
		{list, `{"f": {"type": "Corporate"}}`},
		{list, `{"f": {"status": "active"}}`},
		{list, `{"f": {"status": 5}}`},
		{list, `{"f": {"parent": "x"}}`},
		{list, `{"f": {"parent": 1.5}}`},
		{list, `{"f": 5}`},
		{list, `{"f": {"text": {"a": 1}}}`},
		{list, `{"f": {"text": ["a"]}}`},
		{list, `{"f": {"unknown": 1}}`},
		{limit, `{"rail": "SWIFT"}`},
		{limit, `{"rail": "ach"}`},
		{limit, `{"rail": null}`},
		{limit, `{"rail": "ACH", "amount": 5}`},
		{limit, `{"rail": "ACH", "amount": 1e400}`},
		{limit, `{"rail": "ACH", "amount": "NaN"}`},
		{limit, `{"rail": "ACH", "amount": "9999999999999999999"}`},
		{limit, `{"rail": "ACH", "amount": {"a": 1}}`},
		{limit, `{"rail": "ACH", "date": 20261120}`},
		{limit, `{"rail": "ACH", "date": "2026-02-30"}`},
		{limit, `{"rail": "ACH", "date": "0000-00-00"}`},
		{accounts, `{"f": {"currency": 5}}`},
		{accounts, `{"f": {"currency": "dollars"}}`},
		{accounts, `{"f": {"currency": ["USD"]}}`},
		{accounts, `{"f": {"wires": "yes"}}`},
		{accounts, `{"f": {"wires": 1}}`},
		{`query($id: ID!) { viewer { tenant } node(id: $id) { id } }`, `{"id": true}`},
		{`query($ids: [ID!]!) { viewer { tenant } nodes(ids: $ids) { id } }`, `{"ids": [null]}`},
		{`query($ids: [ID!]!) { viewer { tenant } nodes(ids: $ids) { id } }`, `{"ids": [["a"]]}`},
		{`query($ids: [ID!]!) { viewer { tenant } nodes(ids: $ids) { id } }`, `{"ids": [{"a": 1}]}`},
		{`query($o: CustomerOrder) { customers(orderBy: $o) { totalCount } }`, `{"o": "SHOE_SIZE"}`},
		{`query($o: CustomerOrder) { customers(orderBy: $o) { totalCount } }`, `{"o": "name"}`},
	} {
		t.Run(one.variables, func(t *testing.T) {
			t.Parallel()
			document, _ := json.Marshal(one.document)
			got := b.send(t, b.staff(), `{"query":`+string(document)+`,"variables":`+one.variables+`}`)
			e := got.one(t)
			if e.Extensions.Kind != "INVALID" || strings.Contains(got.body, "internal") ||
				got.statements > 1 {
				t.Errorf("%s", got)
			}
			if got.data != nil && strings.Contains(one.document, "viewer") &&
				got.at("viewer", "tenant") != "bank" {
				t.Errorf("what stood beside it is gone: %s", got.body)
			}
		})
	}
}

func TestTheEmptyNameIsNobodys(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, by := range []string{`shortName: ""`, `customerId: ""`, `accountNumber: ""`} {
		if got := b.ask(t, b.staff(), `{ customer(by: {`+by+`}) { uid } }`).fine(t); got.at("customer") != nil {
			t.Errorf("%s finds %s", by, got.body)
		}
	}
	if got := b.ask(t, b.staff(), `{ account(by: {number: ""}) { uid } }`).fine(t); got.at("account") != nil {
		t.Errorf("%s", got.body)
	}
}

// strangeTexts are texts that nobody should type.
var strangeTexts = []string{
	`'`, `''; DROP TABLE customers; --`, `%`, `_`, `\`, `\'`, `$9z`, `$$`, `:*`, `& | !`, `"`,
	`'); SELECT pg_sleep(9)--`, "\u202e", "é", "💳", "?", "?0", "{}", "\n", " ",
}

// textArguments are documents that put a text into every argument that takes one.
func textArguments() map[string]string {
	documents := map[string]string{
		"Query.customers.after":  `query($x: String!) { customers(after: $x) { totalCount } }`,
		"Query.customers.before": `query($x: String!) { customers(last: 1, before: $x) { totalCount } }`,
		"Customer.accounts.after": fmt.Sprintf(
			`query($x: String!) { customer(by: {uid: "%d"}) { accounts(after: $x) { totalCount } } }`, star),
		"Customer.limits.amount": fmt.Sprintf(
			`query($x: Amount) { customer(by: {uid: "%d"}) { limits(rail: ACH, amount: $x) { code } } }`, star),
		"Customer.limits.date": fmt.Sprintf(
			`query($x: Date) { customer(by: {uid: "%d"}) { limits(rail: ACH, date: $x) { code } } }`, star),
		"Account.filter.currency": fmt.Sprintf(
			`query($x: Currency) { customer(by: {uid: "%d"}) { accounts(filter: {currency: $x}) { totalCount } } }`,
			star),
		"Query.node.id, unchecked": `query($x: ID!) { node(id: $x) { id } }`,
	}
	for place, lookup := range lookups {
		name, _, _ := strings.Cut(place, ":")
		field := schema.Types[strings.SplitN(name, ".", 2)[0]].Fields.ForName(strings.Split(name, ".")[1])
		typ := field.Arguments.ForName(strings.Split(name, ".")[2]).Type
		for _, step := range strings.Split(name, ".")[3:] {
			typ = schema.Types[typ.Name()].Fields.ForName(step).Type
		}
		of := typ.Name() + "!"
		if strings.Contains(lookup.document, `["%s"]`) {
			of = "ID!"
		}
		documents[place] = "query($x: " + of + ") " +
			strings.ReplaceAll(matrixDocument(lookup.document, "%s"), `"%s"`, "$x")
	}
	return documents
}

func TestTextOfAnyKindIsOnlyText(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for place, document := range textArguments() {
		t.Run(place, func(t *testing.T) {
			t.Parallel()
			for _, text := range strangeTexts {
				got := b.ask(t, b.staff(), document, "x", text)
				for _, e := range got.errors {
					if e.Extensions.Kind != "INVALID" {
						t.Errorf("%q: %s", text, got)
					}
				}
				if strings.Contains(got.body, `"legalName"`) && text != " " {
					t.Errorf("%q finds %.500s", text, got.body)
				}
			}
		})
	}
}

func TestNULAndBrokenUTF8AreRefusedBeforeAnyStatement(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for place, document := range textArguments() {
		quoted, _ := json.Marshal(document)
		for _, text := range []string{`a\u0000b`, `\ud800`, `\udc00x`, "\xff", "\xc0\xaf", "a\xed\xa0\x80"} {
			got := b.send(t, b.staff(), `{"query":`+string(quoted)+`,"variables":{"x":"`+text+`"}}`)
			if got.status != 400 || got.data != nil || got.statements != 0 ||
				got.one(t).Extensions.Code != "INVALID_TEXT" &&
					got.errors[0].Extensions.Code != "INVALID_JSON" {
				t.Errorf("%s %q: %s", place, text, got)
			}
		}
		if strings.Contains(document, "$x:") && lookups[place].document != "" {
			literal := matrixDocument(lookups[place].document, `a\u0000b`)
			if got := b.ask(t, b.staff(), literal); got.status != 400 || got.statements != 0 ||
				got.one(t).Extensions.Code != "INVALID_TEXT" {
				t.Errorf("%s: %s", place, got)
			}
		}
	}
}

func TestUnknownEnumsAndWrongLiteralsAreRefusedBeforeExecution(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, document := range []string{
		`{ customers(orderBy: SHOE_SIZE) { totalCount } }`, `{ customers(orderBy: "NAME") { totalCount } }`,
		`{ customers(filter: {status: Active}) { totalCount } }`,
		`{ customer(by: {}) { uid } }`, `{ customer(by: {uid: "1", shortName: "x"}) { uid } }`,
		`{ customer(by: {uid: null}) { uid } }`, `{ customer(by: null) { uid } }`, `{ customer { uid } }`,
		`{ customers(first: "5") { totalCount } }`, `{ customers(first: 5.5) { totalCount } }`,
		`{ customers(filter: {nothing: 1}) { totalCount } }`,
		`{ customer(by: {uid: "1"}) { legalNam } }`, `{ custome(by: {uid: "1"}) { uid } }`,
		`{ customer(bi: {uid: "1"}) { uid } }`,
		`{ customer(by: {uid: "1"}) { limits(rail: SWIFT) { code } } }`,
		`{ customer(by: {uid: "1"}) { limits { code } } }`,
		`query($u: UUID) { customer(by: {uid: $u}) { uid } }`,
		`query($n: Int) { customer(by: {shortName: $n}) { uid } }`,
		`{ customer(by: {uid: "1"}) }`, `{ viewer { tenant { x } } }`, `{ node(id: "cus_1") { legalName } }`,
		`{ node(id: "cus_1") { ... on Custome { uid } } }`,
		`{ viewer { tenant @includ(if: true) } }`, `{ ...F }`,
		`{ viewer { ...F } } fragment F on Custommer { uid }`, `mutation { openAccount { uid } }`,
		`subscription { x }`,
	} {
		got := b.ask(t, b.staff(), document)
		if got.status != 400 || got.data != nil || got.statements != 0 || len(got.errors) == 0 ||
			got.errors[0].Extensions.Kind != "INVALID" {
			t.Errorf("%s: %s", document, got)
		}
		if strings.Contains(strings.ToLower(got.body), "did you mean") {
			t.Errorf("%s: %s", document, got.body)
		}
	}
}

// secrets are words from causes that no caller may read.
var secrets = []string{
	"SQLSTATE", "relation", "signatories_away", "pgx", "panic", "nil pointer", "goroutine", ".go:", "connect",
	"tcp", "socket", "read from the database",
}

func (a answer) tellsNoCause(t testing.TB) {
	t.Helper()
	for _, e := range a.errors {
		for _, secret := range secrets {
			if strings.Contains(e.Message, secret) {
				t.Errorf("tells %q: %s", secret, a.body)
			}
		}
	}
}

func TestAFailedStatementIsAnInternalErrorAndTellsNoCause(t *testing.T) {
	t.Parallel()
	b := ownBank(t, db.Options{})
	b.asOwner(t, "ALTER TABLE signatories RENAME TO signatories_away")
	got := b.ask(t, b.staff(),
		fmt.Sprintf(`{ viewer { tenant } whole: customer(by: {uid: "%d"}) { legalName accounts { totalCount } }
		broken: customer(by: {uid: "%d"}) { legalName signatories { nodes { uid } } } }`, star, star))
	e := got.one(t)
	if e.Message != "internal error" || e.Extensions.Kind != "INTERNAL" || e.Extensions.Code != "API900" ||
		e.Extensions.RequestID != requestID {
		t.Errorf("%s", got.body)
	}
	got.tellsNoCause(t)
	if got.at("viewer", "tenant") != "bank" || got.at("whole", "accounts", "totalCount") != float64(each) ||
		got.at("broken") != nil {
		t.Errorf("what stood beside it is not whole: %s", got.body)
	}
}

func TestAPanicIsAnInternalErrorAndTellsNoCause(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	hollow := core.New(core.Options{Keys: keyset, Now: b.core.Now}) // without a database it panics
	for _, server := range []http.Handler{graph.New(hollow, options), graph.Resolving(hollow, options)} {
		body, _ := json.Marshal(map[string]string{
			"query": fmt.Sprintf(`{ viewer { tenant } customer(by: {uid: "%d"}) { uid } }`, star),
		})
		got := through(t, server, b.staff(), string(body))
		if e := got.one(t); e.Message != "internal error" || e.Extensions.Kind != "INTERNAL" ||
			e.Extensions.RequestID != requestID || fmt.Sprint(e.Path) != "[customer]" {
			t.Errorf("%s", got.body)
		}
		if got.at("viewer", "tenant") != "bank" {
			t.Errorf("what stood beside it is gone: %s", got.body)
		}
		got.tellsNoCause(t)
	}
}

func TestWithoutADatabaseTheBankIsUnavailable(t *testing.T) {
	t.Parallel()
	b := ownBank(t, db.Options{})
	gone, err := db.Open("postgres://nobody@127.0.0.1:1/none", db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer gone.Close()
	c := core.New(core.Options{DB: gone, Keys: keyset, Now: b.core.Now})
	b.server, b.resolving = graph.New(c, options), graph.Resolving(c, options)
	got := b.ask(t, b.staff(),
		fmt.Sprintf(
			`{ viewer { tenant } customer(by: {uid: "%d"}) { uid accounts { totalCount } } customers { totalCount } }`,
			star))
	if len(got.errors) != 2 || got.at("viewer", "tenant") != "bank" {
		t.Errorf("%s", got.body)
	}
	for _, e := range got.errors {
		if e.Extensions.Kind != "UNAVAILABLE" || e.Extensions.Code != "API900" {
			t.Errorf("%+v", e)
		}
	}
	got.tellsNoCause(t)
}

func TestAnOperationPastItsDeadlineIsUnavailable(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	short := options
	short.Deadline = time.Nanosecond
	b.server, b.resolving = graph.New(b.core, short), graph.Resolving(b.core, short)
	got := b.ask(t, b.staff(), fmt.Sprintf(`{ customer(by: {uid: "%d"}) { uid } }`, star))
	if got.errors[0].Extensions.Kind != "UNAVAILABLE" {
		t.Errorf("%s", got.body)
	}
	got.tellsNoCause(t)
}

func TestNobodyIsToldSoAtEveryField(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	got := b.ask(t, nil,
		fmt.Sprintf(
			`{ customer(by: {uid: "%d"}) { uid } account(by: {uid: "1"}) { uid } node(id: "cus_1") { id }
				customers { totalCount } }`, star))
	if len(got.errors) != 4 || got.statements != 0 {
		t.Errorf("%s", got)
	}
	for _, e := range got.errors {
		if e.Extensions.Kind != "UNAUTHENTICATED" || e.Extensions.Code != "API901" {
			t.Errorf("%+v", e)
		}
	}
}

func TestAnAnswerHasAtMostAHundredErrors(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	many(t, b)
	b.resolving = nil // which hundred errors are shown is random
	got := b.ask(t, without(b.staff(), access.ViewAccounts),
		`{ customers(first: 200) { nodes { uid accounts { totalCount } } } }`)
	if rows := got.at("customers", "nodes").([]any); len(got.errors) != 100 || len(rows) != 200 {
		t.Errorf("%d errors for %d rows", len(got.errors), len(rows))
	}
}

func TestEveryFieldThatMayBeHiddenIsNullable(t *testing.T) {
	t.Parallel()
	nullable := func(typ, field string) bool { return !schema.Types[typ].Fields.ForName(field).Type.NonNull }
	for place := range needs {
		typ, field, _ := strings.Cut(place, ".")
		field, _, _ = strings.Cut(field, ":")
		if !nullable(typ, field) {
			t.Errorf("%s", place)
		}
	}
}
