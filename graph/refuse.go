package graph

import (
	"encoding/json"
	"net/http"

	"bankgraph/core/fault"
)

// Refuse answers a request that is turned away before its document is read: no caller, too many requests, no
// room. Whoever refuses sets Retry-After. The request's id is that of the answer's X-Request-Id header.
func Refuse(w http.ResponseWriter, _ *http.Request, err error) {
	why, ok := fault.Of(err)
	if !ok {
		why = fault.New(fault.Internal, "bank", "the request failed, try again later")
	}
	status := http.StatusInternalServerError
	switch why.Kind {
	case fault.Unauthenticated:
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Bearer realm="bankgraph", error="invalid_token"`)
	case fault.Denied:
		status = http.StatusForbidden
		w.Header().Set("WWW-Authenticate", `Bearer realm="bankgraph", error="insufficient_scope", scope="roles"`)
	case fault.Invalid:
		status = http.StatusBadRequest
	case fault.TooMany:
		status = http.StatusTooManyRequests
	case fault.Unavailable:
		status = http.StatusServiceUnavailable
	}
	type extensions struct {
		Kind        fault.Kind `json:"kind"`
		Code        string     `json:"code"`
		Permissions []string   `json:"permissions,omitempty"`
		RequestID   string     `json:"requestId,omitempty"`
	}
	type problem struct {
		Message    string     `json:"message"`
		Extensions extensions `json:"extensions"`
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string][]problem{"errors": {{
		why.PublicMessage(), extensions{why.Kind, codeOf(why), why.Needs(), w.Header().Get("X-Request-Id")},
	}}})
}
