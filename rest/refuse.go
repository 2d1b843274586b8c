package rest

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/go-chi/chi/v5"

	"bankgraph/core/fault"
)

type refusedKey struct{}

// Refuse answers a request that is turned away before it reaches its operation: no caller, too many requests,
// no room; or after it, when its answer cannot be sent. The answer has the envelope of that operation. Whoever
// refuses sets Retry-After.
func (i *Interface) Refuse(w http.ResponseWriter, r *http.Request, err error) {
	if at := chi.RouteContext(r.Context()); at != nil { // of an operation that has answered already
		at.Reset()
	}
	i.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), refusedKey{}, err)))
}

// refused is the reason why a request was turned away before it came here, or nil.
func refused(ctx context.Context) error {
	err, _ := ctx.Value(refusedKey{}).(error)
	return err
}

// RefuseToken is Refuse for the token service, in the words of OAuth 2.0.
func RefuseToken(w http.ResponseWriter, _ *http.Request, err error) {
	why, _ := fault.Of(err)
	switch {
	case why != nil && why.Kind == fault.TooMany:
		refuseToken(w, http.StatusTooManyRequests, "temporarily_unavailable", why.Message)
	case why != nil && why.Kind == fault.Invalid:
		refuseToken(w, http.StatusBadRequest, "invalid_request", why.Message)
	case why != nil && why.Kind == fault.Unavailable:
		refuseToken(w, http.StatusServiceUnavailable, "temporarily_unavailable", why.Message)
	default:
		refuseToken(w, http.StatusInternalServerError, "server_error", "the request failed, try again later")
	}
}

// RefuseUnread answers a request that could not be read and so has no operation with an envelope.
func RefuseUnread(w http.ResponseWriter, _ *http.Request, why error) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	_ = json.NewEncoder(w).Encode(failureC1("", []reported{{code: "invalidRequest", message: why.Error()}}))
}

// challenge tells a caller without a valid token or without the permission what is needed (RFC 6750).
func challenge(h http.Header, status int) {
	switch status {
	case http.StatusUnauthorized:
		h.Set("WWW-Authenticate", `Bearer realm="bankgraph", error="invalid_token"`)
	case http.StatusForbidden:
		h.Set("WWW-Authenticate", `Bearer realm="bankgraph", error="insufficient_scope", scope="roles"`)
	}
}
