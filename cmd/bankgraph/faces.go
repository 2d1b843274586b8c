package main

import (
	"errors"
	"net/http"

	"bankgraph/db"
	"bankgraph/graph"
	"bankgraph/graph/playground"
	"bankgraph/rest"
)

// The seams to the faces, each one line.

func restFace(*bank) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { rest.Refuse(w, errors.New("absent")) })
}

func graphFace(b *bank) http.Handler {
	return graph.New(b.Core, graph.Options{
		RequestID:   idOf,
		Unavailable: func(err error) bool { return db.IsUnavailable(err) || db.IsTimeout(err) },
		Deadline:    deadline,
	})
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
}
