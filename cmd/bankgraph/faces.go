package main

import (
	"errors"
	"net/http"

	"bankgraph/db"
	"bankgraph/graph"
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

func mountPages(mux *http.ServeMux, playground bool) {}
