package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"bankgraph/core/access"
	"bankgraph/graph/direct"
	"bankgraph/graph/documents"
	"bankgraph/graph/generated"
)

// executable writes queries and the answers of subscriptions directly (package direct). gqlgen executes
// everything else through the resolvers, such as introspection and mutations.
type executable struct {
	graphql.ExecutableSchema
	queries *direct.Schema
	streams answering
}

func (e executable) Exec(ctx context.Context) graphql.ResponseHandler {
	if graphql.GetOperationContext(ctx).Operation.Operation == ast.Subscription {
		return e.streams.subscribe(ctx)
	}
	if !e.queries.Covers(graphql.GetOperationContext(ctx)) {
		return e.ExecutableSchema.Exec(ctx)
	}
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		return &graphql.Response{Data: e.queries.Execute(ctx)}
	}
}

var queries = &direct.Schema{
	AST: schema, Plain: generated.Plain, Types: generated.Types, Root: roots,
	Relation: func(ctx context.Context, object string, row any, f graphql.CollectedField) (any, error) {
		return objectTypes[object].relations[f.Name].value(ctx, row, f)
	},
	Memory: func(ctx context.Context) direct.Memory { return operationOf(ctx).document },
}

// memory holds what is remembered of documents.
var memory = documents.New()

func init() {
	query("viewer", func(_ *operation, ctx context.Context, _ graphql.CollectedField) (*access.Caller, error) {
		caller, err := access.Require(ctx)
		return &caller, err
	})
	query("node", (*operation).node)
	query("nodes", (*operation).nodes)
}
