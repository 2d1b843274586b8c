package graph_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"pgregory.net/rapid"

	"bankgraph/core/coretest"
	"bankgraph/core/roles"
	"bankgraph/graph"
	"bankgraph/graph/generated"
	"bankgraph/graph/guard"
)

// objects counts the objects in an answer's data, without the outermost one.
func objects(value any) (n int64) {
	switch value := value.(type) {
	case map[string]any:
		n = 1
		for _, field := range value {
			n += objects(field)
		}
	case []any:
		for _, item := range value {
			n += objects(item)
		}
	}
	return n
}

// No document may read more objects than its price, however it is written. Sizes and ids are given as
// literals and in variables.
func TestNoDocumentReadsMoreThanItsPrice(t *testing.T) {
	t.Parallel()
	bank := coretest.Alone(t)
	parent := bank.Customer()
	ids := []string{"cus_" + parent.UID.String()}
	for range 25 { // more than the default size of lists
		customer := bank.Customer()
		ids = append(ids, "cus_"+customer.UID.String(), "acc_"+bank.Account(customer).UID.String(),
			"con_"+bank.Contact(customer).UID.String())
		bank.Account(parent)
		bank.Contact(parent)
		bank.Signatory(parent)
		bank.User(parent, []*roles.Role{bank.Role(parent)})
	}
	bank.Limit(parent, "FEDWIRE_PAYMENT_LIMIT_PER_DAY", 100)
	bank.Fee(parent)
	from, to := bank.Account(parent, coretest.Holding(100_00, 0)), bank.Account(parent)
	for range 25 {
		pay(t, bank, from.UID, to.UID)
	}
	approval(t, bank, parent)
	var cost guard.Cost
	server := graph.New(bank.Core, graph.Options{}).(*handler.Server)
	server.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		cost, _ = guard.CostOf(ctx)
		return next(ctx)
	})
	w := &documents{
		schema: generated.NewExecutableSchema(generated.Config{}).Schema(), values: map[string][]string{
			"CustomerBy": {fmt.Sprintf("{uid: %q}", parent.UID)}, "AccountBy": {`{number: "nobody"}`},
			"ID": {"$id"}, "[ID]": {"$ids", "[$id, $id, $id]"}, "Int": {"$n", "1", "3", "20", "50"},
			"UID":  {fmt.Sprintf("%q", parent.UID)},
			"Rail": {"ACH", "FEDWIRE"}, "EntryType": {"null"}, "SecCode": {"null"}, "Amount": {"null"},
			"Date":        {"null"},
			"AuditFilter": {"null", `{object: "signatory"}`}, "ApprovalFilter": {"null"},
			"CustomerOrder":  {"UID", "NAME"},
			"CustomerFilter": {"null", `{text: "co"}`, "{type: CORPORATE}"}, "AccountFilter": {"null"},
			"BankBy":     {`{routingNumber: "611090001"}`, `{nationalId: {countryCode: "US", id: "1"}}`},
			"BankFilter": {"null", `{text: "b"}`}, "UserFilter": {"null"}, "RoleFilter": {"null"},
			"ContactFilter": {"null"},
			"PaymentFilter": {"null"},
			"SendPaymentInput": {fmt.Sprintf(`{senderAccount: {uid: %q}, receiver: {accountNumber: "1", name: "A",
				bankId: "611090001"}, amount: "1", currency: "USD", speed: INSTANT, externalReferenceId: "1",
				idempotencyKey: "1"}`,
				from.UID)},
			"TransferFundsInput": {fmt.Sprintf(`{senderAccount: {uid: %q}, receiverAccount: {uid: %q}, amount: "1",
				idempotencyKey: "1"}`, from.UID, to.UID)},
		},
	}
	answered, most := 0, int64(0)
	rapid.Check(t, func(t *rapid.T) {
		w.random = rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 7))
		document := declaring(w.document())
		given := slices.Clone(ids[:rapid.IntRange(1, len(ids)).Draw(t, "ids")])
		body, _ := json.Marshal(map[string]any{"query": document, "variables": map[string]any{
			"id": rapid.SampledFrom(ids).Draw(t, "id"), "ids": given, "n": rapid.IntRange(1, 200).Draw(t, "n"),
		}})
		cost = guard.Cost{}
		r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body)).WithContext(bank.Staff())
		r.Header.Set("Content-Type", "application/json")
		recorder := httptest.NewRecorder()
		server.ServeHTTP(recorder, r)
		var answer struct{ Data map[string]any }
		if err := json.Unmarshal(recorder.Body.Bytes(), &answer); err != nil {
			t.Fatal(err)
		}
		if answer.Data == nil {
			return
		}
		read := objects(answer.Data) - 1
		if read > cost.Requested {
			t.Fatalf("%d objects for a price of %d, %d ids\n%s\n%.3000s", read, cost.Requested,
				len(given), document, recorder.Body)
		}
		answered, most = answered+1, max(most, read)
	})
	if answered < 15 || most < 30 { // random runs had at least 32 and 168
		t.Errorf("%d answers, the largest of %d objects: the documents have become too small", answered, most)
	}
}

// declaring adds to a document the declarations of its variables.
func declaring(document string) string {
	var used []string
	for _, variable := range [][2]string{{"$ids", "$ids: [ID!]!"}, {"$id", "$id: ID!"}, {"$n", "$n: Int"}} {
		if strings.Contains(document, variable[0]+",") || strings.Contains(document, variable[0]+")") ||
			strings.Contains(document, variable[0]+"]") {
			used = append(used, variable[1])
		}
	}
	if len(used) == 0 {
		return document
	}
	return strings.Replace(document, "query Random", "query Random("+strings.Join(used, ", ")+")", 1)
}

// One key must not be able to use up the bank's connections with twenty searches under twenty aliases, or to
// read forty thousand objects with a hundred ids and lists below them.
func TestWhatCostsTheDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	repeat := func(n int, text string) string {
		var all strings.Builder
		for i := range n {
			fmt.Fprintf(&all, " a%d: %s", i, text)
		}
		return all.String()
	}
	hundred := `["` + strings.Join(slices.Repeat([]string{fmt.Sprintf("cus_%d", star)}, 100), `", "`) + `"]`
	for name, body := range map[string]string{
		"twenty counts of a text search": body(`{`+repeat(20, `customers(filter: {text: "al"}) { totalCount }`)+
			` }`, ""),
		"the text in a variable": body(`query($t: String) {`+
			repeat(20, `customers(filter: {text: $t}) { totalCount }`)+` }`, `{"t": "al"}`),
		"the filter in a variable": body(`query($f: CustomerFilter) {`+
			repeat(20, `customers(filter: $f, first: 1) { nodes { uid } }`)+` }`, `{"f": {"text": "al"}}`),
		"twenty lists of a type, by name": body(`{`+
			repeat(20, `customers(filter: {type: CORPORATE}, orderBy: NAME, first: 1) { nodes { uid } }`)+` }`, ""),
		"the order in a variable": body(`query($o: CustomerOrder) {`+
			repeat(20, `customers(filter: {status: PENDING}, orderBy: $o, first: 1) { nodes { uid } }`)+` }`,
			`{"o": "NAME"}`),
		"the order by default": body(`query($o: CustomerOrder = NAME) {`+
			repeat(20, `customers(filter: {status: PENDING}, orderBy: $o, first: 1) { nodes { uid } }`)+` }`, ""),
		"the filter and the order in variables": body(`query($f: CustomerFilter, $o: CustomerOrder) {`+
			repeat(20, `customers(filter: $f, orderBy: $o, first: 1) { nodes { uid } }`)+` }`,
			`{"f": {"status": "PENDING"}, "o": "NAME"}`),
		"twenty scans of the record": body(`{`+
			repeat(20, `audit(filter: {action: "x"}, first: 1) { nodes { uid } }`)+` }`, ""),
		"lists below a hundred ids": body(`{ nodes(ids: `+hundred+`) { ... on Customer {`+
			repeat(50, `accounts { nodes { uid } }`)+` } } }`, ""),
		"lists below ids of a variable": body(`query($ids: [ID!]!) { nodes(ids: $ids) { ... on Customer {`+
			repeat(50, `accounts { nodes { uid } }`)+` } } }`, `{"ids": `+hundred+`}`),
		"history below a hundred objects": body(
			`query($ids: [ID!]!) { nodes(ids: $ids) {
				... on Customer { history(first: 100) { nodes { action } } } } }`, `{"ids": `+hundred+`}`),
	} {
		got := b.send(t, b.staff(), body)
		if got.status != 400 || got.statements != 0 || got.one(t).Extensions.Code != guard.PriceLimit {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func body(query, variables string) string {
	if variables == "" {
		variables = "null"
	}
	text, _ := json.Marshal(query)
	return `{"query":` + string(text) + `,"variables":` + variables + `}`
}
