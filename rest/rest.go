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

// api answers the documented operations.
type api struct {
	core *core.Core
	log  *slog.Logger
}

// New builds the handler. It expects the caller in the context of each request, put there by whoever verified
// the token; without one every operation answers 401 in its own shape. Defects go to the log.
func New(c *core.Core, log *slog.Logger) http.Handler { return newRouter(c, log) }

// Routes is the same as New, for those who want to walk the routes.
func Routes(c *core.Core) chi.Routes { return newRouter(c, slog.Default()) }

func newRouter(c *core.Core, log *slog.Logger) *chi.Mux {
	a := &api{core: c, log: log}
	router := chi.NewRouter()
	router.Use(middleware.GetHead, private)
	router.NotFound(a.noPath)
	router.MethodNotAllowed(a.noMethod(router))
	a.routes(router)
	return router
}

// private keeps answers out of caches, and browsers from guessing what they are.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}
