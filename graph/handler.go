// Package graph shows the bank to its staff over GraphQL. It reads, calls core, and answers.
package graph

import (
	"context"
	_ "embed"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/db"
	"bankgraph/graph/direct"
	"bankgraph/graph/documents"
	"bankgraph/graph/generated"
	"bankgraph/graph/guard"
	"bankgraph/graph/transport"
)

// Options are what the handler needs from the program around it. The zero value is usable.
type Options struct {
	RequestID   func(context.Context) string // the id under which the request is logged
	Unavailable func(error) bool             // the error means that the database cannot answer now
	Deadline    time.Duration                // of one operation; 0 means 10 s
	// answer with the status codes of the 2026 draft of GraphQL over HTTP
	Draft bool
}

// Permissions tells for every field that needs one which permissions suffice: lines of the field, a tab, and
// the permissions between bars. A test writes it, of what it holds the fields to.
//
//go:embed permissions.txt
var Permissions string

type handlerOptions struct{ Options }

// mostStatements is how many SQL statements one operation may spend. A page of a portal takes five to ten;
// who asks for much under many names is told to send it in parts.
const mostStatements = 60

// mostErrors is how many errors one answer tells.
const mostErrors = 100

// New makes the handler of /graphql. Callers are known before it runs: the context carries them.
func New(c *core.Core, options Options) http.Handler { return serving(c, options, queries, memory) }

// serving is New with the queries that are written directly, and what is remembered of documents.
func serving(
	c *core.Core, options Options, queries *direct.Schema, memory *documents.Memory,
) *handler.Server {
	if missing := undeclared(); missing != nil {
		panic("graph: nothing answers " + strings.Join(missing, ", "))
	}
	if options.RequestID == nil {
		options.RequestID = func(context.Context) string { return "" }
	}
	if options.Deadline == 0 {
		options.Deadline = 10 * time.Second
	}
	h := handlerOptions{options}
	server := handler.New(executable{
		generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{core: c}}), queries,
	})
	server.SetErrorPresenter(h.present)
	server.SetRecoverFunc(h.recovered)
	profile := transport.Audit
	if options.Draft {
		profile = transport.Draft
	}
	server.AddTransport(transport.HTTP{Profile: profile})
	guard.Use(server, guard.Options{
		MayIntrospect: func(ctx context.Context) bool {
			_, err := access.Require(ctx, access.ExploreGraphQL)
			return err == nil
		},
		ListSizes: listSizes, DefaultListSize: 10, ListArguments: map[string]string{"Query.nodes": "ids"},
		Prices:  prices,
		MaxPage: page.Most, Documents: 500,
	})
	server.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		begin(ctx, c, memory)
		return next(ctx)
	})
	server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		ctx, cancel := context.WithTimeout(ctx, options.Deadline)
		defer cancel()
		response := next(db.WithMeter(ctx, db.MeterUnder(ctx, mostStatements)))
		if response != nil && len(response.Errors) > 0 {
			errs := unfold(response.Errors)
			response.Errors = errs[:min(len(errs), mostErrors)] // what is denied in one row is denied in all
		}
		return response
	})
	return server
}
