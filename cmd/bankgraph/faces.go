package main

import (
	"net/http"
	"slices"

	"bankgraph/db"
	"bankgraph/graph"
	"bankgraph/graph/playground"
	"bankgraph/rest"
	"bankgraph/rest/docs"
)

// The seams to the faces, each one line.

func restFace(b *bank) *rest.Interface {
	return rest.New(b.Core, rest.Options{Unavailable: cannotAnswer})
}

// cannotAnswer tells a database that cannot answer now from a defect.
func cannotAnswer(err error) bool {
	return db.IsUnavailable(err) || db.IsTimeout(err) || db.IsRetryable(err)
}

func graphFace(b *bank) http.Handler {
	return graph.New(b.Core, graph.Options{
		RequestID:   idOf,
		Unavailable: cannotAnswer,
		Deadline:    deadline,
	})
}

// offered are the keys that the reference offers to sign in with: everybody knows those of the demo bank.
func offered(demo bool) (keys []docs.Key) {
	if !demo {
		return nil
	}
	for _, k := range slices.Backward(demoKeys) {
		keys = append(keys, docs.Key{Key: k.key, Secret: k.key + "-secret", Who: k.name})
	}
	return keys
}

// mountPages serves the playground, where it is wanted, and the reference. Both hold no data: what they
// show, they ask for with the caller's own token.
func mountPages(mux *http.ServeMux, plays, demo bool) {
	pages := http.NotFoundHandler()
	if plays {
		pages = playground.Handler(playground.Options{Demo: demo})
	}
	mux.Handle("GET "+playground.Path, pages)
	mux.Handle("GET "+playground.Path+"/", pages)

	reference := docs.Handler(rest.Spec, docs.Options{Codes: rest.Codes(), Keys: offered(demo)})
	for _, at := range []string{"/docs", "/docs/", "/openapi.yaml"} {
		mux.Handle("GET "+at, reference)
	}
}
