package graph

import (
	"context"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/access"
	"bankgraph/graph/direct"
	"bankgraph/graph/generated"
)

// executable is the schema with queries written directly (package direct). Whatever that does not cover,
// introspection and mutations among it, is gqlgen's to execute, through the resolvers.
type executable struct {
	graphql.ExecutableSchema
	queries *direct.Schema
}

func (e executable) Exec(ctx context.Context) graphql.ResponseHandler {
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

var queries = direct.New(direct.Schema{
	AST: schema, Plain: generated.Plain, Types: generated.Types,
	Root: map[string]func(context.Context, graphql.CollectedField) (any, error){
		"viewer":    func(ctx context.Context, _ graphql.CollectedField) (any, error) { return viewer(ctx) },
		"customer":  read((*operation).customer),
		"customers": read((*operation).customers),
		"account":   read((*operation).account),
		"approvals": read((*operation).approvals),
		"audit":     read((*operation).audit),
		"node":      read((*operation).node),
		"nodes":     read((*operation).nodes),
	},
	Relation: func(ctx context.Context, object string, row any, f graphql.CollectedField) (any, error) {
		return kinds[object].relations[f.Name].value(ctx, row, f)
	},
})

var kinds = map[string]*kind{
	customerKind.name: customerKind, accountKind.name: accountKind, contactKind.name: contactKind, signatoryKind.name: signatoryKind,
	approvalKind.name: approvalKind, auditKind.name: auditKind, userKind.name: userKind, roleKind.name: roleKind,
}

func read[V any](from func(*operation, context.Context, graphql.CollectedField) (V, error)) func(context.Context, graphql.CollectedField) (any, error) {
	return func(ctx context.Context, f graphql.CollectedField) (any, error) {
		return from(operationOf(ctx), ctx, f)
	}
}

func viewer(ctx context.Context) (*access.Caller, error) {
	caller, err := access.Require(ctx)
	return &caller, err
}
