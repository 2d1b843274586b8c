package graph_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	gql "github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/access"
	"bankgraph/graph"
)

func TestTheSchemaIsServedToThoseWhoMayIntrospect(t *testing.T) {
	t.Parallel()
	get := func(ctx context.Context) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		graph.SDL().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/graphql/schema", nil).WithContext(ctx))
		return w
	}
	explorer := access.With(t.Context(),
		access.Caller{Tenant: 1, Permissions: []access.Permission{access.ExploreGraphQL}})
	w := get(explorer)
	if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "\ndirective @oneOf on INPUT_OBJECT\n") {
		t.Fatalf("%d %.300s", w.Code, w.Body)
	}
	served, err := gqlparser.LoadSchema(&gql.Source{Input: w.Body.String()})
	if err != nil || served.Types["CustomerBy"].Directives.ForName("oneOf") == nil ||
		len(served.Types) != len(schema.Types) {
		t.Errorf("%v: %d types of %d", err, len(served.Types), len(schema.Types))
	}
	other := access.With(t.Context(),
		access.Caller{Tenant: 1, Permissions: []access.Permission{access.ViewCustomers}})
	if w := get(other); w.Code != http.StatusForbidden || strings.Contains(w.Body.String(), "type ") ||
		!strings.Contains(w.Body.String(), "Explore_GraphQL") {
		t.Errorf("without the permission: %d %.300s", w.Code, w.Body)
	}
	if w := get(t.Context()); w.Code != http.StatusUnauthorized {
		t.Errorf("nobody: %d", w.Code)
	}
}
