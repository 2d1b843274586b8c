// Package rest is the documented interface for partners: paths, names, envelopes and codes as published,
// over the services of core. Start reading in routes.go.
package rest

import (
	_ "embed"
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"bankgraph/core"
)

// Spec is the OpenAPI document of everything that is served here.
//
//go:embed openapi.yaml
var Spec []byte

// Permissions tells for every operation which permissions suffice: lines of method and path, a tab, and the
// permissions between bars. A test finds it out and writes it.
//
//go:embed permissions.txt
var Permissions string

// Options are what the interface needs beside the bank.
type Options struct {
	Log *slog.Logger // where defects go; nil is the program's own
	// tells a database that cannot answer now from a defect: 503 instead of 500; may be nil
	Unavailable func(error) bool
	LookUps     int // lookups that one API key may ask for in a minute; 600 when 0
}

// api answers the documented operations.
type api struct {
	core   *core.Core
	router *chi.Mux
	Options
}

// Interface is the handler of all operations.
type Interface struct{ router *chi.Mux }

// New builds the handler. It expects the caller in the context of each request, put there by whoever verified
// the token; without one every operation answers 401 in its own shape.
func New(c *core.Core, o Options) *Interface {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Unavailable == nil {
		o.Unavailable = func(error) bool { return false }
	}
	if o.LookUps == 0 {
		o.LookUps = 600
	}
	a := &api{core: c, router: chi.NewRouter(), Options: o}
	a.router.Use(middleware.GetHead, private)
	a.router.NotFound(a.noPath)
	a.router.MethodNotAllowed(a.noMethod)
	a.routes(a.router)
	return &Interface{router: a.router}
}

func (i *Interface) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if at := chi.RouteContext(r.Context()); at != nil && at.Routes == nil {
		at.Routes = i.router // chi fills it only in contexts of its own, not in one of Routed, and GetHead needs it
	}
	i.router.ServeHTTP(w, r)
}

// Routes are all operations, for those who want to walk them.
func (i *Interface) Routes() chi.Routes { return i.router }

// private keeps answers out of caches, and browsers from guessing what they are.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
