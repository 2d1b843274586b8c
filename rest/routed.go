package rest

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// Routed lets whoever stands before the routes learn, afterwards, which of them answered: pattern gives
// "/customers/{customerUID}/accounts" for metrics and logs, which must not hold ids, and "" where no route
// did.
func Routed(r *http.Request) (routed *http.Request, pattern func() string) {
	at := chi.NewRouteContext()
	return r.WithContext(context.WithValue(r.Context(), chi.RouteCtxKey, at)), at.RoutePattern
}
