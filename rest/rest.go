// Package rest is the documented interface for partners. It serves the published paths, names, envelopes and
// codes from the services of core. Start reading in routes.go.
package rest

import (
	"context"
	_ "embed"
	"log/slog"
	"net/http"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"bankgraph/core"
)

// Spec is the OpenAPI document of all operations.
//
//go:embed openapi.yaml
var Spec []byte

// Permissions lists the permissions that suffice for each operation that needs one. A line is the method and
// path, a tab, and the permissions separated by bars. A test finds them out and writes them.
//
//go:embed permissions.txt
var Permissions string

// Options are what the interface needs besides core.
type Options struct {
	Log *slog.Logger // logs defects; slog.Default() if nil
	// reports whether an error means that the database cannot answer now: 503 instead of 500; may be nil
	Unavailable func(error) bool
	// ends when the program is to stop: nobody waits for a network any more; may be nil
	Serving context.Context
}

// api answers the documented operations.
type api struct {
	core   *core.Core
	router *chi.Mux
	Options
}

// Interface is the handler of all operations.
type Interface struct{ router *chi.Mux }

// New makes the handler. It needs the caller in each request's context, where the check of the token puts it.
// Without a caller, every operation answers 401 in its own envelope.
func New(c *core.Core, o Options) *Interface {
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Serving == nil {
		o.Serving = context.Background()
	}
	if o.Unavailable == nil {
		o.Unavailable = func(error) bool { return false }
	}
	a := &api{core: c, router: chi.NewRouter(), Options: o}
	a.router.Use(middleware.GetHead, private)
	a.router.NotFound(a.noPath)
	a.router.MethodNotAllowed(a.noMethod)
	a.routes(a.router.With(a.fixedFirst))
	return &Interface{router: a.router}
}

func (i *Interface) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if at := chi.RouteContext(r.Context()); at != nil && at.Routes == nil {
		at.Routes = i.router // GetHead needs it, and chi sets it only in its own contexts, not in Routed's
	}
	i.router.ServeHTTP(w, r)
}

// Routes returns all operations, for code that walks them.
func (i *Interface) Routes() chi.Routes { return i.router }

// private keeps answers out of caches, and browsers from guessing their content type.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
