package rest

import (
	"encoding/json"
	"net/http"

	"bankgraph/core/fault"
)

// Refuse answers a request that is turned away before it reaches its route: no caller, too many
// requests, no room. The body is the interface's first envelope (contract, section 7).
// Retry-After is the business of who refuses.
func Refuse(w http.ResponseWriter, err error) {
	why, ok := fault.Of(err)
	if !ok {
		why = fault.New(fault.Internal, "bank", "the request failed, try again later")
	}
	status, code := refusal(why.Kind)
	switch status {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="bankgraph", error="invalid_token"`)
	case http.StatusForbidden:
		w.Header().Set("WWW-Authenticate", `Bearer realm="bankgraph", error="insufficient_scope", scope="roles"`)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Status  string `json:"status"`
		Code    string `json:"code"`
		Message string `json:"message"`
	}{"Failure", code, why.Message})
}

// refusal gives status and code: API901 is not authorized, API900 a failure of the server, try later.
func refusal(kind fault.Kind) (status int, code string) {
	switch kind {
	case fault.Unauthenticated:
		return http.StatusUnauthorized, "API901"
	case fault.Denied:
		return http.StatusForbidden, "API901"
	case fault.TooMany:
		return http.StatusTooManyRequests, "API900"
	case fault.Unavailable:
		return http.StatusServiceUnavailable, "API900"
	}
	return http.StatusInternalServerError, "API900"
}
