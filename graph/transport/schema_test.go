package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"bankgraph/graph/transport"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// schema is executed by hand, so that the transport cannot depend on what gqlgen would generate.
var schema = gqlparser.MustLoadSchema(&ast.Source{Input: `
	type Query { echo(text: String): String  broken: String  nothing: String!  big: String
	ids(of: [Int!], at: Float): String }
	type Mutation { pay: String }
	type Subscription { paid: String }
`})

// server answers through the transport and counts what reaches execution.
func server(t testing.TB, h transport.HTTP) (http.Handler, *atomic.Int64) {
	t.Helper()
	ran := new(atomic.Int64)
	s := handler.New(&graphql.ExecutableSchemaMock{
		SchemaFunc: func() *ast.Schema { return schema },
		ExecFunc: func(ctx context.Context) graphql.ResponseHandler {
			ran.Add(1)
			return graphql.OneShot(execute(ctx))
		},
	})
	s.AddTransport(h)
	return s, ran
}

func execute(ctx context.Context) *graphql.Response {
	operation := graphql.GetOperationContext(ctx)
	data, response := map[string]any{}, graphql.Response{}
	for _, field := range graphql.CollectFields(operation, operation.Operation.SelectionSet, nil) {
		arguments := field.ArgumentMap(operation.Variables)
		switch field.Name {
		case "__typename":
			data[field.Alias] = "Query"
		case "echo":
			data[field.Alias] = arguments["text"]
		case "ids":
			text, _ := json.Marshal(arguments)
			data[field.Alias] = string(text)
		case "big":
			data[field.Alias] = strings.Repeat("é<", 10_000)
		case "broken":
			data[field.Alias] = nil
			response.Errors = append(response.Errors,
				&gqlerror.Error{Message: "no such thing", Path: ast.Path{ast.PathName("broken")}})
		case "nothing":
			return &graphql.Response{Data: json.RawMessage("null"), Errors: gqlerror.List{{Message: "nothing there"}}}
		default:
			data[field.Alias] = nil
		}
	}
	response.Data, _ = json.Marshal(data)
	return &response
}

// sent is one request of a table; the zero value is a POST of JSON.
type sent struct {
	method      string
	url         string
	accept      string
	contentType string // "-" for none
	header      http.Header
	body        string
}

func send(t testing.TB, h http.Handler, s sent) *httptest.ResponseRecorder {
	t.Helper()
	if s.method == "" {
		s.method = http.MethodPost
	}
	r := httptest.NewRequest(s.method, "/graphql"+s.url, strings.NewReader(s.body))
	for name, values := range s.header {
		r.Header[name] = values
	}
	if s.accept != "" {
		r.Header.Set("Accept", s.accept)
	}
	switch s.contentType {
	case "-":
	case "":
		if s.method == http.MethodPost {
			r.Header.Set("Content-Type", "application/json")
		}
	default:
		r.Header.Set("Content-Type", s.contentType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// answer reads a body and checks what is true of all answers.
func answer(t testing.TB, w *httptest.ResponseRecorder) map[string]json.RawMessage {
	t.Helper()
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Vary": "Accept",
	} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if got := w.Header().Get("Content-Type"); !strings.HasSuffix(got, "; charset=utf-8") {
		t.Errorf("Content-Type %q does not say utf-8", got)
	}
	var fields map[string]json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(w.Body.Bytes())).Decode(&fields); err != nil {
		t.Fatalf("answer is not JSON: %v\n%s", err, w.Body)
	}
	return fields
}

func code(t testing.TB, w *httptest.ResponseRecorder) string {
	t.Helper()
	var errs []struct{ Extensions struct{ Code string } }
	if err := json.Unmarshal(answer(t, w)["errors"], &errs); err != nil || len(errs) == 0 {
		t.Fatalf("no errors in %s", w.Body)
	}
	return errs[0].Extensions.Code
}

func document(query string) string {
	text, _ := json.Marshal(map[string]any{"query": query})
	return string(text)
}
