package graph

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
)

// Forgetful makes a handler forget what its plan has read as soon as a root field has it, so that every
// relation below goes through a loader.
func Forgetful(h http.Handler) http.Handler {
	h.(*handler.Server).AroundFields(func(ctx context.Context, next graphql.Resolver) (any, error) {
		value, err := next(ctx)
		if fc := graphql.GetFieldContext(ctx); fc.Object == "Query" && fc.Field.Name != "viewer" {
			o := operationOf(ctx)
			o.mu.Lock()
			defer o.mu.Unlock()
			for _, s := range o.families {
				s.mu.Lock()
				clear(s.answers)
				s.mu.Unlock()
			}
		}
		return value, err
	})
	return h
}
