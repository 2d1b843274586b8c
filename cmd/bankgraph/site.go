package main

import (
	"io"
	"net/http"
	"strings"

	"bankgraph/graph"
	"bankgraph/graph/transport"
	"bankgraph/rest"
)

// site finds the handler of a path. It replaces http.ServeMux, which would answer unclean paths itself, in no
// face's envelope. Here paths are taken as they are, and rest answers unknown ones.
type site struct {
	graph, tokens, partners http.Handler
	events, sockets         http.Handler            // subscriptions
	refuse                  refusal                 // in the envelope for partners
	pages                   map[string]http.Handler // by path, or by prefix if it ends in /
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if surplus(r.Context()) {
		refusalAt(r.URL.Path, s.refuse)(w, r, errNetTooFast)
		return
	}
	_, handler := s.find(r)
	handler.ServeHTTP(w, r)
}

// asksWho reports whether tokens are checked on a request's path.
func (s *site) asksWho(r *http.Request) bool {
	switch route, _ := s.find(r); route {
	case graphPath, schemaPath:
		return true
	case "/": // all other paths belong to partners
		return r.URL.Path != "/"
	}
	return false
}

// probes reports whether a path is a health check, to which no rate applies.
func probes(path string) bool { return path == "/healthz" || path == "/readyz" }

// find returns the route, as logs and metrics name it, and its handler.
func (s *site) find(r *http.Request) (route string, handler http.Handler) {
	path := r.URL.Path
	switch {
	case path == graphPath && transport.Upgrades(r):
		return path, s.sockets
	case path == graphPath && transport.WantsStream(r):
		return path, s.events
	case path == graphPath:
		return path, s.graph
	case isTokens(path):
		return "/auth/", s.tokens
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return "/", s.partners
	}
	if page, ok := s.pages[path]; ok {
		return path, page
	}
	if first, _, ok := strings.Cut(strings.TrimPrefix(path, "/"), "/"); ok {
		if page, ok := s.pages["/"+first+"/"]; ok {
			return "/" + first + "/", page
		}
	}
	return "/", s.partners
}

const (
	graphPath  = "/graphql"
	schemaPath = "/graphql/schema"
)

func isTokens(path string) bool { return path == "/auth" || strings.HasPrefix(path, "/auth/") }

// refusalAt is the refusal of the face that a path belongs to, or else that for partners.
func refusalAt(path string, partners refusal) refusal {
	switch {
	case path == graphPath:
		return graph.Refuse
	case isTokens(path):
		return rest.RefuseToken
	}
	return partners
}

// alive answers as long as the program runs.
func alive(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }
