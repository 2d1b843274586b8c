package rest

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Routed lets code before the router learn afterwards which route answered. pattern returns it, such as
// "/customers/{customerUID}/accounts", for metrics and logs, which must not contain ids. It returns "" if no
// route answered.
func Routed(r *http.Request) (routed *http.Request, pattern func() string) {
	at := chi.NewRouteContext()
	return r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, at)), at.RoutePattern
}
