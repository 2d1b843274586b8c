package graph

import (
	"context"
	"maps"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/graph/direct"
	"bankgraph/graph/documents"
)

// Resolving makes a handler that executes everything through gqlgen and the resolvers.
func Resolving(c *core.Core, options Options) http.Handler {
	return serving(c, options, &direct.Schema{AST: schema}, memory)
}

// Forgetful makes a handler that forgets what its plan has read as soon as a root field has it, so that every
// relation below is read by a loader.
func Forgetful(c *core.Core, options Options) http.Handler {
	forgetful := *queries
	forgetful.Root = maps.Clone(queries.Root)
	for name, read := range queries.Root {
		forgetful.Root[name] = func(ctx context.Context, f graphql.CollectedField) (any, error) {
			value, err := read(ctx, f)
			operationOf(ctx).forget()
			return value, err
		}
	}
	return serving(c, options, &forgetful, memory)
}

func (o *operation) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.families {
		s.mu.Lock()
		clear(s.answers)
		s.mu.Unlock()
	}
}

// Remembering makes a handler, and a function that returns how many results it remembers of documents.
func Remembering(c *core.Core, options Options) (handler http.Handler, remembered func() int) {
	own := documents.New()
	return serving(c, options, queries, own), own.Remembered
}
