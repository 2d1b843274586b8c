package main

import (
	"net/http"

	"bankgraph/graph"
	"bankgraph/rest"
)

// The seams to the faces, each one line.

func restFace(*bank) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { rest.Refuse(w, nil) })
}

func graphFace(*bank) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { graph.Refuse(w, nil) })
}

func mountPages(mux *http.ServeMux, playground bool) {}
