package main

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/go-chi/cors"

	"bankgraph/core/access"
	"bankgraph/graph"
	"bankgraph/rest"
)

// front is everything that is served on the service's address.
type front struct {
	http.Handler
	knows   func(r *http.Request) bool // reports whether a request is probably not a stranger's
	streams *streams
}

// handler makes the front. A request passes, from the outside in: request id, log and metrics, CORS, routing
// by path; then, for the two faces, room, deadline and caller.
func (c *serveCommand) handler(
	b *bank, meters *meters, health *health, demo bool, stopping func() bool,
) *front {
	unsent := newUnsent(int64(c.Unsent)<<20, meters)
	room := newRoom(c.InFlight, unsent, meters)
	room.remembered = func(r *http.Request) (access.Caller, bool) { return b.Clients.Remembered(bearer(r)) }
	meters.watch(room)
	pace := newPace(c.Rate, c.TenantRate, meters)
	face := func(refuse refusal, mayChange func(*http.Request) bool, handler http.Handler) http.Handler {
		handler = authenticate(b.Core, refuse, pace.keep(refuse, room.known(refuse, handler)))
		return unsent.deliver(refuse, mayChange, guard(refuse, room.admit(refuse, "", handler)))
	}

	streams := newStreams(b.Core, c.Streams, c.Origins, room, pace, meters)
	graphQL := graphFace(b, streams)

	partners, tokens := restFace(streams.serving, b), rest.Tokens(b.Core, rest.TokenLimits{})
	site := &site{
		refuse:   partners.Refuse,
		partners: face(partners.Refuse, writes, partners),
		graph:    face(graph.Refuse, never, graphQL), // it calls Keep itself
		events: streams.counted(room.admit(graph.Refuse, "", authenticate(b.Core, graph.Refuse,
			pace.keep(graph.Refuse, streams.released(graph.Refuse, graphQL))))),
		sockets: streams.counted(graphQL),
		tokens: unsent.deliver(rest.RefuseToken, writes,
			guard(rest.RefuseToken, room.admit(rest.RefuseToken, signingIn, tokens))),
		pages: pages(c.plays(demo), demo),
	}
	site.pages["/"] = index(c.plays(demo))
	site.pages["/healthz"] = http.HandlerFunc(alive)
	site.pages[schemaPath] = face(graph.Refuse, never, graph.SDL())
	site.pages["/readyz"] = readiness(b.Core, health, stopping, false)

	knows := func(r *http.Request) bool {
		_, known := room.remembered(r)
		// A token counts only on paths where it is checked.
		return known && site.asksWho(r) || probes(r.URL.Path)
	}
	return &front{identify(meters.observe(site, c.cors(site))), knows, streams}
}

// writes reports whether a request's method may change something.
func writes(r *http.Request) bool { return r.Method != http.MethodGet && r.Method != http.MethodHead }

func never(*http.Request) bool { return false }

// plays reports whether the playground is served.
func (c *serveCommand) plays(demo bool) bool {
	if c.Playground == nil {
		return demo
	}
	return *c.Playground
}

// cors lets the configured portals call from browsers. Callers identify themselves by a header, never by a
// cookie, so credentials are not allowed. The playground and the reference call the origin that they come
// from, so the demo bank needs none.
func (c *serveCommand) cors(next http.Handler) http.Handler {
	if len(c.Origins) == 0 {
		return next
	}
	return cors.Handler(cors.Options{
		AllowedOrigins: c.Origins,
		AllowedMethods: []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"},
		AllowedHeaders: []string{
			"Authorization", "Content-Type", "Accept", requestID, "Idempotency-Key", "Idempotent-Key", "If-Match",
			"Prefer", "GraphQL-Client-Name", "GraphQL-Client-Version",
		},
		ExposedHeaders: []string{
			requestID, "Retry-After", "ETag", "Idempotency-Replayed", "Approval-Request", "Deprecation", "Sunset",
			"Link", "Preference-Applied", "Allow",
		},
		MaxAge: int((10 * time.Minute).Seconds()),
	})(next)
}

// index is the page for people who open the address without a path in a browser.
func index(plays bool) http.HandlerFunc {
	graphQL := "GraphQL, for bank staff, is at <code>/graphql</code>"
	if plays {
		graphQL = `<a href="/playground">GraphQL playground</a>, for bank staff; ` +
			`the endpoint is <code>/graphql</code>`
	}
	text := fmt.Sprintf(`<!doctype html>
<html lang="en"><meta charset="utf-8"><title>bankgraph</title><meta name="color-scheme" content="light dark">
<link rel="icon" type="image/svg+xml" href="/docs/mark.svg">
<meta name="viewport" content="width=device-width">
<style>body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>
<h1>bankgraph</h1>
<p>A bank’s operations service.</p>
<ul>
<li>%s</li>
<li><a href="/docs">REST reference</a>, for partners; its description is
<a href="/openapi.yaml">/openapi.yaml</a></li>
</ul>
</html>
`, graphQL)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy",
			"default-src 'none'; img-src 'self'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "+
				"frame-ancestors 'none'")
		_, _ = io.WriteString(w, text)
	}
}
