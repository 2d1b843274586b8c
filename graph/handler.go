// Package graph serves the bank to its staff over GraphQL. It reads requests, calls core and writes answers.
package graph

import (
	"context"
	_ "embed"
	"net/http"
	"strings"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/vektah/gqlparser/v2/ast"

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

// Options are what the handler needs from the program. The zero value is usable.
type Options struct {
	RequestID   func(context.Context) string // the id under which the request is logged
	Unavailable func(error) bool             // reports whether an error means: the database is away
	Deadline    time.Duration                // of one operation; 10 s if 0
	// Door lets subscriptions in; without it there are none.
	Door transport.Door
	// Draft answers with the status codes of the 2026 draft of GraphQL over HTTP.
	Draft bool
}

// Permissions lists the permissions that suffice for each field that needs one. A line is the field, a tab,
// and the permissions separated by bars. A test writes it from what it sees the fields demand.
//
//go:embed permissions.txt
var Permissions string

type handlerOptions struct{ Options }

// mostStatements is how many SQL statements one operation may use. A page of a portal uses five to ten.
// Callers who ask the same field under many aliases are told to split the operation.
const mostStatements = 60

// mostErrors is how many errors one answer contains at most.
const mostErrors = 100

// New makes the handler of /graphql. It needs the caller in the request's context.
func New(c *core.Core, options Options) http.Handler { return serving(c, options, queries, memory) }

// serving is New with another way to answer queries, and another memory of documents.
func serving(
	c *core.Core, options Options, written *direct.Schema, memory *documents.Memory,
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
		generated.NewExecutableSchema(generated.Config{Resolvers: &Resolver{core: c}}), written,
		answering{c, queries, options.Deadline},
	})
	server.SetErrorPresenter(h.present)
	server.SetRecoverFunc(h.recovered)
	profile := transport.Audit
	if options.Draft {
		profile = transport.Draft
	}
	plain := transport.HTTP{Profile: profile}
	if options.Door != nil {
		server.AddTransport(transport.Streams{HTTP: plain, Door: options.Door, Refuse: Refuse})
	}
	server.AddTransport(plain)
	guard.Use(server, guard.Options{
		MayIntrospect: func(ctx context.Context) bool {
			_, err := access.Require(ctx, access.ExploreGraphQL)
			return err == nil
		},
		ListSizes: listSizes, DefaultListSize: 10, ListArguments: map[string]string{"Query.nodes": "ids"},
		Prices:  prices,
		Ordered: pricesInOrder,
		MaxPage: page.Most, Documents: 500,
	})
	server.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
		begin(ctx, c, memory)
		return next(ctx)
	})
	server.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		if streams(ctx) {
			return cut(next(ctx)) // which bounds what it does after it has waited
		}
		ctx, cancel := context.WithTimeout(ctx, options.Deadline)
		defer cancel()
		return cut(next(db.WithMeter(ctx, db.MeterUnder(ctx, mostStatements))))
	})
	return server
}

// streams reports whether a context is that of a subscription.
func streams(ctx context.Context) bool {
	op := graphql.GetOperationContext(ctx).Operation
	return op != nil && op.Operation == ast.Subscription
}

// cut leaves at most mostErrors errors in a response: one denied field gives an error in every row.
func cut(response *graphql.Response) *graphql.Response {
	if response != nil && len(response.Errors) > 0 {
		errs := unfold(response.Errors)
		response.Errors = errs[:min(len(errs), mostErrors)]
	}
	return response
}
