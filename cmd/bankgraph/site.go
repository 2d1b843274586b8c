package main

import (
	"io"
	"net/http"
	"strings"

	"bankgraph/graph"
	"bankgraph/rest"
)

// site finds who answers a path. http.ServeMux would answer itself what it takes for unclean, with a page
// that is in no face's envelope: here a path is what it says, and what nobody knows is answered by rest.
type site struct {
	graph, tokens, partners http.Handler
	refuse                  refusal                 // as partners are refused
	pages                   map[string]http.Handler // by path; by its beginning where it ends in /
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if surplus(r.Context()) {
		refusalAt(r.URL.Path, s.refuse)(w, r, errNetTooFast)
		return
	}
	_, handler := s.find(r)
	handler.ServeHTTP(w, r)
}

// asksWho reports whether a request goes where its token is looked at.
func (s *site) asksWho(r *http.Request) bool {
	switch route, _ := s.find(r); route {
	case graphPath, schemaPath:
		return true
	case "/": // partners have all that is not a page's
		return r.URL.Path != "/"
	}
	return false
}

// probes reports whether a request asks how the process is: a balancer is never too fast.
func probes(path string) bool { return path == "/healthz" || path == "/readyz" }

// find returns the route as logs and metrics name it, and who answers.
func (s *site) find(r *http.Request) (route string, handler http.Handler) {
	path := r.URL.Path
	switch {
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

// refusalAt is how the face refuses that a path belongs to; what belongs to none is refused as partners are.
func refusalAt(path string, partners refusal) refusal {
	switch {
	case path == graphPath:
		return graph.Refuse
	case isTokens(path):
		return rest.RefuseToken
	}
	return partners
}

// alive answers that the program runs.
func alive(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }
