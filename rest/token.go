package rest

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"bankgraph/core"
	"bankgraph/core/clients"
	"bankgraph/core/fault"
)

// Where each realm's token service lives (rest/CONTRACT.md, tokens).
const (
	realmPath     = "/auth/realms/{tenant}"
	tokenPath     = "/protocol/openid-connect/token"
	keysPath      = "/protocol/openid-connect/certs"
	discoveryPath = "/.well-known/openid-configuration"
)

// largestForm is how many bytes a token request may have.
const largestForm = 16 << 10

// tokens is the token service of every realm: OAuth 2.0 with the grants client_credentials and refresh_token.
type tokens struct {
	core   *core.Core
	limits *tokenLimits
}

// Tokens serves what needs no token: the token requests themselves, the keys that tokens can be checked
// with, and where both are found. It is mounted at /auth/.
func Tokens(c *core.Core, limits TokenLimits) http.Handler {
	t := &tokens{core: c, limits: limits.build()}
	r := chi.NewRouter()
	r.Use(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			if at := chi.RouteContext(req.Context()); at.Routes == nil {
				at.Routes = r // as for Interface
			}
			next.ServeHTTP(w, req)
		})
	}, middleware.GetHead)
	r.Route(realmPath, func(r chi.Router) {
		r.Post(tokenPath, t.issue)
		r.Get(keysPath, t.keys)
		r.Get(discoveryPath, t.discover)
	})
	r.NotFound(func(w http.ResponseWriter, _ *http.Request) {
		refuseToken(w, http.StatusNotFound, "invalid_request", "there is nothing here")
	})
	r.MethodNotAllowed(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", allowed(r, path(req)))
		refuseToken(w, http.StatusMethodNotAllowed, "invalid_request",
			"the method is not allowed here, but "+w.Header().Get("Allow"))
	})
	return r
}

// tokenRequest is what a token request says.
type tokenRequest struct {
	realm, key, secret string
	form               url.Values
}

// issue answers a token request: 200, 400 for a bad request or grant, 401 for a bad client.
func (t *tokens) issue(w http.ResponseWriter, r *http.Request) {
	request, ok := readTokenRequest(w, r)
	if !ok {
		return
	}
	attempt, err := t.limits.begin(r, request)
	if err != nil {
		w.Header().Set("Retry-After", "1")
		RefuseToken(w, r, err)
		return
	}
	defer attempt.leave()
	granted, err := t.grant(r, request)
	if attempt.end(err) {
		w.Header().Set("Retry-After", "60")
		RefuseToken(w, r, errWrongSecrets)
		return
	}
	switch {
	case err == nil:
		writeToken(w, http.StatusOK, granted)
	case request.key == "" && errors.Is(err, clients.ErrClient):
		refuseClient(w, "no API key: send Authorization: Basic, or client_id and client_secret in the form")
	default:
		failToken(w, r, err)
	}
}

func (t *tokens) grant(r *http.Request, request tokenRequest) (*clients.Tokens, error) {
	if request.form.Get("grant_type") == "refresh_token" {
		return t.core.Clients.Refresh(r.Context(), request.realm, request.key, request.secret,
			request.form.Get("refresh_token"))
	}
	return t.core.Clients.Issue(r.Context(), request.realm, request.key, request.secret)
}

// readTokenRequest reads the form and who asks, and answers itself when something is wrong with them.
func readTokenRequest(w http.ResponseWriter, r *http.Request) (request tokenRequest, ok bool) {
	refuse := func(code, description string) (tokenRequest, bool) {
		refuseToken(w, http.StatusBadRequest, code, description)
		return tokenRequest{}, false
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil ||
		media != "application/x-www-form-urlencoded" {
		return refuse("invalid_request", "the body must be application/x-www-form-urlencoded")
	}
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return refuse("invalid_request", "the body must not be compressed")
	}
	if r.URL.RawQuery != "" { // addresses end up in logs
		return refuse("invalid_request", "parameters belong into the body")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, largestForm))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		refuseToken(w, http.StatusRequestEntityTooLarge, "invalid_request", "the body is too large")
		return tokenRequest{}, false
	}
	form, wrong := url.ParseQuery(string(body))
	if err != nil || wrong != nil {
		return refuse("invalid_request", "the body is not a form")
	}
	for name, values := range form {
		if len(values) > 1 {
			return refuse("invalid_request", "a parameter is there twice")
		}
		if !utf8.ValidString(name+values[0]) || strings.ContainsRune(values[0], 0) {
			return refuse("invalid_request", "a parameter is not readable text")
		}
	}
	request = tokenRequest{realm: chi.URLParam(r, "tenant"), form: form}
	switch grant := form.Get("grant_type"); {
	case grant == "":
		return refuse("invalid_request", "grant_type is missing")
	case grant != "client_credentials" && grant != "refresh_token":
		return refuse("unsupported_grant_type", "grant_type must be client_credentials or refresh_token")
	case grant == "refresh_token" && form.Get("refresh_token") == "":
		return refuse("invalid_request", "refresh_token is missing")
	}
	if scope := form.Get("scope"); scope != "" && !slices.Contains(strings.Fields(scope), clients.Scope) {
		return refuse("invalid_scope", "the one scope is roles")
	}
	if r.Header.Get("Authorization") != "" && form.Has("client_secret") {
		return refuse("invalid_request", "the API key must prove itself in one way only")
	}
	return credentials(w, r, request)
}

// credentials reads API key and secret from the Basic header or the form.
func credentials(w http.ResponseWriter, r *http.Request, request tokenRequest) (tokenRequest, bool) {
	request.key, request.secret = request.form.Get("client_id"), request.form.Get("client_secret")
	if r.Header.Get("Authorization") != "" {
		var basic bool
		named := request.key
		request.key, request.secret, basic = r.BasicAuth()
		if !basic || named != "" && named != request.key {
			failToken(w, r, clients.ErrClient)
			return tokenRequest{}, false
		}
	}
	return request, true
}

// failToken answers what core refused, in the words of OAuth 2.0.
func failToken(w http.ResponseWriter, r *http.Request, err error) {
	why, _ := fault.Of(err)
	switch {
	case errors.Is(err, clients.ErrClient):
		refuseClient(w, why.Message)
	case errors.Is(err, clients.ErrGrant):
		refuseToken(w, http.StatusBadRequest, "invalid_grant", why.Message)
	case errors.Is(err, clients.ErrWrongRealm):
		refuseToken(w, http.StatusNotFound, "invalid_request", why.Message)
	case errors.Is(err, clients.ErrUnavailable):
		slog.WarnContext(r.Context(), "token service cannot answer", "error", err)
		w.Header().Set("Retry-After", "1")
		refuseToken(w, http.StatusServiceUnavailable, "temporarily_unavailable", why.Message)
	default:
		slog.ErrorContext(r.Context(), "token service failed", "error", err)
		refuseToken(w, http.StatusInternalServerError, "server_error", "the request failed, try again later")
	}
}

// refuseClient answers who has not proved to be an API key.
func refuseClient(w http.ResponseWriter, description string) {
	w.Header().Set("WWW-Authenticate", `Basic realm="bankgraph", charset="UTF-8"`)
	refuseToken(w, http.StatusUnauthorized, "invalid_client", description)
}

// keys answers the JSON web key set of a realm.
func (t *tokens) keys(w http.ResponseWriter, r *http.Request) {
	set, err := t.core.Clients.PublicKeys(r.Context(), chi.URLParam(r, "tenant"))
	if err != nil {
		failToken(w, r, err)
		return
	}
	writePublic(w, set)
}

// discover answers where a realm's token service is and what it can do.
func (t *tokens) discover(w http.ResponseWriter, r *http.Request) {
	issuer, err := t.core.Clients.Issuer(r.Context(), chi.URLParam(r, "tenant"))
	if err != nil {
		failToken(w, r, err)
		return
	}
	writePublic(w, map[string]any{
		"issuer":                                issuer,
		"token_endpoint":                        issuer + tokenPath,
		"jwks_uri":                              issuer + keysPath,
		"grant_types_supported":                 []string{"client_credentials", "refresh_token"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
		"scopes_supported":                      []string{clients.Scope},
		"response_types_supported":              []string{},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"ES256"},
	})
}

func refuseToken(w http.ResponseWriter, status int, code, description string) {
	writeToken(w, status, map[string]string{"error": code, "error_description": description})
}

// writeToken answers what no cache may keep (RFC 6749, section 5.1).
func writeToken(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Pragma", "no-cache")
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// writePublic answers what everyone may know and keep for a while.
func writePublic(w http.ResponseWriter, body any) {
	w.Header().Set("Cache-Control", "public, max-age="+strconv.Itoa(int(clients.JWKSAge.Seconds())))
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	_ = json.NewEncoder(w).Encode(body)
}
