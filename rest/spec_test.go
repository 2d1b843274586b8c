package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/go-chi/chi/v5"

	"bankgraph/rest"
)

// document is the OpenAPI document, read once.
var document = sync.OnceValues(func() (*openapi3.T, error) {
	doc, err := openapi3.NewLoader().LoadFromData(rest.Spec)
	if err != nil {
		return nil, err
	}
	return doc, doc.Validate(context.Background())
})

func readDocument(t testing.TB) *openapi3.T {
	t.Helper()
	doc, err := document()
	if err != nil {
		t.Fatalf("openapi.yaml: %v", err)
	}
	return doc
}

// checked compares every answer of the handler with the document: status, headers and types, and that the
// fields are exactly the documented ones.
func checked(t testing.TB, h http.Handler) http.Handler {
	t.Helper()
	doc := readDocument(t)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var sent []byte
		if r.Body != nil {
			sent, _ = io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(sent))
		}
		at := chi.NewRouteContext()
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, at)))
		if item := doc.Paths.Value(at.RoutePattern()); item != nil && item.GetOperation(r.Method) != nil {
			check(t, doc, item, at, r, sent, answer)
		}
		for name, values := range answer.Header() {
			w.Header()[name] = values
		}
		w.WriteHeader(answer.Code)
		_, _ = w.Write(answer.Body.Bytes())
	})
}

func check(
	t testing.TB, doc *openapi3.T, item *openapi3.PathItem, at *chi.Context, r *http.Request, sent []byte,
	answer *httptest.ResponseRecorder,
) {
	t.Helper()
	operation := item.GetOperation(r.Method)
	asked := &openapi3filter.RequestValidationInput{
		Request: r, QueryParams: r.URL.Query(), PathParams: map[string]string{},
		Route: &routers.Route{Spec: doc, PathItem: item, Method: r.Method, Operation: operation},
		Options: &openapi3filter.Options{
			IncludeResponseStatus: true, AuthenticationFunc: openapi3filter.NoopAuthenticationFunc,
		},
	}
	for i, name := range at.URLParams.Keys {
		asked.PathParams[name], _ = url.PathUnescape(at.URLParams.Values[i])
	}
	where := fmt.Sprintf("%s %s answers %d", r.Method, r.URL, answer.Code)
	if r.Header.Get(asDocumented) != "" {
		r.Body = io.NopCloser(bytes.NewReader(sent))
		if err := openapi3filter.ValidateRequest(r.Context(), asked); err != nil {
			t.Errorf("%s though the document refuses the request: %v", where, err)
		}
	}
	input := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: asked, Status: answer.Code, Header: answer.Header(), Options: asked.Options,
	}
	if err := openapi3filter.ValidateResponse(r.Context(), input.SetBodyBytes(answer.Body.Bytes())); err != nil {
		t.Errorf("%s against the document: %v", where, err)
		return
	}
	documented := operation.Responses.Status(answer.Code).Value
	if media := documented.Content.Get("application/json"); media != nil {
		var body any
		if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
			t.Errorf("%s with no JSON: %v", where, err)
		}
		if wrong := exactly(media.Schema.Value, body, ""); len(wrong) > 0 {
			t.Errorf("%s with other fields than documented: %s", where, strings.Join(wrong, ", "))
		}
	} else if answer.Body.Len() > 0 {
		t.Errorf("%s with a body that is not documented", where)
	}
}

// asDocumented marks requests that the document must allow as they are. Other requests may use spellings that
// are accepted but not documented.
const asDocumented = "X-Test-As-Documented"

// exactly returns the fields that a value has beyond its schema, and those that it lacks.
func exactly(schema *openapi3.Schema, value any, at string) (wrong []string) {
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			if schema.Items != nil {
				wrong = append(wrong, exactly(schema.Items.Value, item, at+"[]")...)
			}
		}
	case map[string]any:
		for _, one := range schema.OneOf {
			if len(exactly(one.Value, value, at)) == 0 {
				return nil
			}
		}
		fields := fieldsOf(schema)
		for name, member := range value {
			if fields[name] == nil {
				wrong = append(wrong, at+"."+name+" is not documented")
			} else {
				wrong = append(wrong, exactly(fields[name].Value, member, at+"."+name)...)
			}
		}
		for name, field := range fields {
			if _, there := value[name]; !there && !leftOut(field.Value) {
				wrong = append(wrong, at+"."+name+" is missing")
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

// leftOut reports whether an answer may lack a field: the description of the field then says when.
func leftOut(field *openapi3.Schema) bool { return strings.Contains(field.Description, "Left out ") }

func fieldsOf(schema *openapi3.Schema) openapi3.Schemas {
	fields := openapi3.Schemas{}
	for name, field := range schema.Properties {
		fields[name] = field
	}
	for _, part := range schema.AllOf {
		for name, field := range fieldsOf(part.Value) {
			fields[name] = field
		}
	}
	return fields
}

func TestEveryRouteIsDocumentedAndTheOtherWayRound(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	var documented, served []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	for _, routes := range []chi.Routes{
		rest.New(nil, rest.Options{}).Routes(), rest.Tokens(nil, rest.TokenLimits{}).(chi.Routes),
	} {
		err := chi.Walk(routes,
			func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
				served = append(served, method+" "+path)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(documented)
	slices.Sort(served)
	if !slices.Equal(documented, served) {
		t.Errorf("documented:\n%s\nserved:\n%s", strings.Join(documented, "\n"), strings.Join(served, "\n"))
	}
}

func TestEveryFieldAndParameterIsDescribed(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for _, p := range operation.Parameters {
				if p.Value.Description == "" {
					t.Errorf("%s %s: parameter %s has no description", method, path, p.Value.Name)
				}
			}
		}
	}
	for name, schema := range doc.Components.Schemas {
		for _, wrong := range undescribed(schema.Value, name) {
			t.Error(wrong)
		}
	}
}

func undescribed(schema *openapi3.Schema, at string) (wrong []string) {
	for name, field := range fieldsOf(schema) {
		if field.Value.Description == "" {
			wrong = append(wrong, at+"."+name+" has no description")
		}
		wrong = append(wrong, undescribed(field.Value, at+"."+name)...)
	}
	if schema.Items != nil {
		wrong = append(wrong, undescribed(schema.Items.Value, at+"[]")...)
	}
	return wrong
}

// Client generators make one type of each component, whatever its kind, and fail if two have the same name.
func TestNoTwoComponentsShareAName(t *testing.T) {
	t.Parallel()
	parts := readDocument(t).Components
	for name := range parts.Schemas {
		if parts.Parameters[name] != nil || parts.Responses[name] != nil {
			t.Errorf("%s is a schema and something else too", name)
		}
	}
	for name := range parts.Parameters {
		if parts.Responses[name] != nil {
			t.Errorf("%s is a parameter and a response", name)
		}
	}
}

func TestTheReadmeNamesEveryOperation(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	err = chi.Walk(rest.New(nil, rest.Options{}).Routes(),
		func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			if !strings.Contains(string(readme), "`"+method+" "+path+"`") {
				t.Errorf("%s %s is not in README.md", method, path)
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
}
