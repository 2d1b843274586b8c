package main

import (
	"io"
	"net/http"
	"strings"
)

// site finds who answers a path. http.ServeMux would answer itself what it takes for unclean, with a page that is in
// no face's envelope: here a path is what it says, and what nobody knows is answered by rest.
type site struct {
	graph, tokens, partners http.Handler
	pages                   map[string]http.Handler // by path; by its beginning where it ends in /
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, handler := s.find(r)
	handler.ServeHTTP(w, r)
}

// find returns the route as logs and metrics name it, and who answers.
func (s *site) find(r *http.Request) (route string, handler http.Handler) {
	path := r.URL.Path
	switch {
	case path == "/graphql":
		return path, s.graph
	case path == "/auth" || strings.HasPrefix(path, "/auth/"):
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

// alive answers that the program runs.
func alive(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }
