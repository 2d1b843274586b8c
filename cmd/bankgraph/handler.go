package main

import (
	"fmt"
	"net/http"
	"time"

	"github.com/go-chi/cors"

	"bankgraph/graph"
	"bankgraph/rest"
)

// handler is everything that is served on the one address, from the outside in: request id, log and
// metrics, CORS, then by path; the two faces behind room, deadline and caller.
func (c *serveCommand) handler(b *bank, meters *meters, demo bool, stopping func() bool) http.Handler {
	room := newRoom(c.InFlight)
	meters.watch(room)
	pace := newPace(c.Rate)
	face := func(refuse refusal, handler http.Handler) http.Handler {
		return guard(refuse, room.admit(refuse, authenticate(b.Core, refuse, pace.keep(refuse, handler))))
	}

	mux := http.NewServeMux()
	partners := restFace(b)
	mux.Handle("/", face(partners.Refuse, partners))
	mux.Handle("/auth/", guard(rest.RefuseToken, room.admit(rest.RefuseToken, rest.Tokens(b.Core, rest.TokenLimits{}))))
	mux.Handle("/graphql", face(graph.Refuse, graphFace(b)))
	mux.Handle("GET /graphql/schema", face(graph.Refuse, graph.SDL()))
	mountPages(mux, c.plays(demo), demo)
	mux.HandleFunc("GET /{$}", index)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.Handle("GET /readyz", readiness(b.Core, stopping))

	return identify(meters.observe(mux, c.cors(mux)))
}

// plays tells whether the playground is served.
func (c *serveCommand) plays(demo bool) bool {
	if c.Playground == nil {
		return demo
	}
	return *c.Playground
}

// cors lets the portals of the settings call from browsers. Callers prove themselves by a header, never
// by a cookie, so no credentials are allowed.
func (c *serveCommand) cors(next http.Handler) http.Handler {
	if len(c.Origins) == 0 {
		return next
	}
	return cors.Handler(cors.Options{
		AllowedOrigins: c.Origins,
		AllowedMethods: []string{"GET", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: []string{"Authorization", "Content-Type", "Accept", requestID, "Idempotency-Key", "Idempotent-Key", "If-Match", "GraphQL-Client-Name", "GraphQL-Client-Version"},
		ExposedHeaders: []string{requestID, "Retry-After", "ETag", "Idempotency-Replayed", "Approval-Request", "Deprecation", "Sunset", "Link"},
		MaxAge:         int((10 * time.Minute).Seconds()),
	})(next)
}

// index is for people who open the bare address in a browser.
func index(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	fmt.Fprint(w, `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>bankgraph</title>
<meta name="viewport" content="width=device-width"><style>body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>
<h1>bankgraph</h1>
<p>A bank’s operations service.</p>
<ul>
<li><a href="/playground">GraphQL playground</a>, for bank staff; the endpoint is <code>/graphql</code></li>
<li><a href="/docs">REST reference</a>, for partners; its description is <a href="/openapi.yaml">/openapi.yaml</a></li>
</ul>
</html>
`)
}
