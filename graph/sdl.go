package graph

import (
	_ "embed"
	"net/http"
	"strconv"

	"bankgraph/core/access"
)

// sdl is the whole schema as one file, for clients' tools. A test writes it.
//
//go:embed schema.public.graphqls
var sdl []byte

// SDL serves the schema as text to callers who may introspect. It needs the caller in the request's context.
func SDL() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := access.Require(r.Context(), access.ExploreGraphQL); err != nil {
			Refuse(w, r, err)
			return
		}
		header := w.Header()
		header.Set("Content-Type", "text/plain; charset=utf-8")
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		header.Set("Content-Length", strconv.Itoa(len(sdl)))
		_, _ = w.Write(sdl)
	})
}
