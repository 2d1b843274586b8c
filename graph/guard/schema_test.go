package guard_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"bankgraph/graph/guard"
	"bankgraph/graph/transport"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

var schema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	interface Node { id: ID! }
	enum Status { ACTIVE CLOSED }
	input Filter { status: Status  name: String  names: [String!]  deeper: Filter }
	type PageInfo { hasNextPage: Boolean!  endCursor: String }
	type Query {
		node(id: ID!): Node
		nodes(ids: [ID!]!): [Node]!
		customer(uid: ID, name: String): Customer!
		customers(first: Int = 20, after: String, last: Int, filter: Filter): CustomerConnection!
		recent(first: Int = 5): [Payment!]!
		numbers: [Int!]!
	}
	type Customer implements Node {
		id: ID!  uid: ID!  legalName: String!  shortName: String  status: Status!
		parent: Customer
		profile: [Detail!]!
		limits(rail: String): [Limit!]
		accounts(first: Int = 20, after: String, last: Int): AccountConnection
		contacts(first: Int = 20, after: String): ContactConnection
	}
	type Detail { key: String!  value: String! }
	type Limit { code: String!  current: String!  used: String!  remaining: String! }
	type CustomerConnection { edges: [CustomerEdge!]!  nodes: [Customer!]!  pageInfo: PageInfo!
	totalCount: Int! }
	type CustomerEdge { cursor: String!  node: Customer! }
	type AccountConnection { edges: [AccountEdge!]!  nodes: [Account!]!  pageInfo: PageInfo!  totalCount: Int! }
	type AccountEdge { cursor: String!  node: Account! }
	type Account implements Node { id: ID!  uid: ID!  name: String!  balances: Balances  customer: Customer }
	type Balances { ledger: String!  held: String!  available: String! }
	type ContactConnection { nodes: [Contact!]!  pageInfo: PageInfo!  totalCount: Int! }
	type Contact implements Node { id: ID!  name: String! }
	type Payment { id: ID!  payer: Customer }
	type Mutation { pay(amount: String): Paid }
	type Paid { payment: Payment }
	type Subscription { paid: Payment! }
`})

// bank is a server behind the guard. It counts what reaches execution.
type bank struct {
	*handler.Server
	guard *guard.Guard
	ran   int
	ast   *ast.QueryDocument // the last document that ran
	cost  guard.Cost         // and its cost
	open  bool               // whether gqlgen would answer introspection
}

func open(t testing.TB, options guard.Options) *bank {
	t.Helper()
	b := &bank{}
	b.Server = handler.New(&executable{b})
	b.AddTransport(transport.HTTP{})
	b.guard = guard.Use(b.Server, options)
	return b
}

// operate runs gqlgen without HTTP up to the point where resolvers would begin.
func (b *bank) operate(t testing.TB) func(query string, variables map[string]any) {
	t.Helper()
	exec := executor.New(&executable{b})
	exec.Use(b.guard)
	exec.SetQueryCache(guard.HandOver)
	ctx := graphql.StartOperationTrace(t.Context())
	return func(query string, variables map[string]any) {
		if _, errs := exec.CreateOperationContext(ctx,
			&graphql.RawParams{Query: query, Variables: variables}); errs != nil {
			t.Error(errs)
		}
	}
}

type executable struct{ *bank }

func (e *executable) Schema() *ast.Schema { return schema }

func (e *executable) Complexity(context.Context, string, string, int, map[string]any) (int, bool) {
	return 0, false
}

func (e *executable) Exec(ctx context.Context) graphql.ResponseHandler {
	operation := graphql.GetOperationContext(ctx)
	e.ran++
	e.ast = operation.Doc
	e.open = !operation.DisableIntrospection
	e.cost, _ = guard.CostOf(ctx)
	return graphql.OneShot(&graphql.Response{Data: []byte(`{}`)})
}

// reply is the answer to a request.
type reply struct {
	status int
	data   json.RawMessage
	errors []struct {
		Message    string
		Extensions struct {
			Code             string
			Limit, Requested float64
		}
	}
	text string
}

func (r reply) code() string {
	if len(r.errors) == 0 {
		return ""
	}
	return r.errors[0].Extensions.Code
}

func (b *bank) ask(t testing.TB, query string, variables ...map[string]any) reply {
	t.Helper()
	request := map[string]any{"query": query}
	if len(variables) > 0 {
		request["variables"] = variables[0]
	}
	body, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return b.post(t, body)
}

func (b *bank) post(t testing.TB, body []byte) reply {
	t.Helper()
	r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/graphql-response+json")
	w := httptest.NewRecorder()
	b.ServeHTTP(w, r)
	var got struct {
		Data   json.RawMessage
		Errors json.RawMessage
	}
	answer := reply{status: w.Code, text: w.Body.String()}
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v: %s", err, w.Body)
	}
	answer.data = got.Data
	if got.Errors != nil {
		if err := json.Unmarshal(got.Errors, &answer.errors); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Contains(answer.text, `"data"`) && answer.errors != nil {
		t.Errorf("a refused request has data: %s", answer.text)
	}
	return answer
}

func everybody(context.Context) bool { return true }
