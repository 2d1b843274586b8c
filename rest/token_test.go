package rest_test

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/rest"
)

// realm is the token service of a bank for one test, with the API key "portal".
type realm struct {
	*testing.T
	core    *core.Core
	handler http.Handler
	path    string
	secret  string
}

func newRealm(t *testing.T, limits rest.TokenLimits) *realm {
	t.Helper()
	pools, err := db.Open(dbtest.Shared(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	r := &realm{
		T: t, core: core.New(core.Options{DB: pools, Keys: seal.New(), PublicURL: "https://api.bank.example/"}),
	}
	r.handler = checked(t, rest.Tokens(r.core, limits))
	operator := access.Operator(context.Background(), 0, "", nil)
	bank, err := r.core.Tenants.Add(operator,
		tenants.Draft{Code: "BANK." + rand.Text(), Name: "Bank", Zone: "UTC", Currency: "USD", Admin: "jo"})
	if err != nil {
		t.Fatal(err)
	}
	r.path = "/auth/realms/" + bank.Code
	operator = access.Operator(operator, bank.ID, bank.Code, nil)
	_, r.secret, err = r.core.Clients.Add(operator, clients.Draft{Key: "portal", Permissions: []string{"vCust"}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// post sends a token request; headers are name, value, name, value …
func (r *realm) post(form string, headers ...string) *httptest.ResponseRecorder {
	return r.postTo(r.path+"/protocol/openid-connect/token", form, headers...)
}

func (r *realm) postTo(path, form string, headers ...string) *httptest.ResponseRecorder {
	r.Helper()
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, path,
		strings.NewReader(form))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	r.handler.ServeHTTP(answer, request)
	return answer
}

func (r *realm) get(path string) (answer *httptest.ResponseRecorder, body map[string]any) {
	r.Helper()
	answer = httptest.NewRecorder()
	r.handler.ServeHTTP(answer,
		httptest.NewRequestWithContext(context.Background(), http.MethodGet, path, http.NoBody))
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil {
		r.Fatal(err)
	}
	return answer, body
}

func (r *realm) basic() (name, value string) {
	return "Authorization", "Basic " + base64.StdEncoding.EncodeToString([]byte("portal:"+r.secret))
}

func TestTokenIsGrantedToBasicAndFormCredentials(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{})
	name, value := r.basic()
	for what, answer := range map[string]*httptest.ResponseRecorder{
		"basic": r.post("grant_type=client_credentials", name, value),
		"form": r.post("grant_type=client_credentials&client_id=portal&client_secret=" +
			url.QueryEscape(r.secret)),
		"charset": r.post("grant_type=client_credentials&scope=openid+roles&extra=1", name, value, "Content-Type",
			"application/x-www-form-urlencoded; charset=UTF-8", "Accept", "application/vnd.api+json"),
		"both": r.post("grant_type=client_credentials&client_id=portal", name, value),
	} {
		var body map[string]any
		if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || answer.Code != http.StatusOK {
			t.Errorf("%s: %d %s", what, answer.Code, answer.Body)
			continue
		}
		if body["expires_in"] != 14400.0 || body["refresh_expires_in"] != 1800.0 ||
			body["token_type"] != "bearer" || body["refresh_token"] == "" || len(body) != 5 {
			t.Errorf("%s: %v", what, body)
		}
		if _, err := r.core.Clients.Verify(context.Background(), body["access_token"].(string)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if answer.Header().Get("Cache-Control") != "no-store" ||
			answer.Header().Get("Pragma") != "no-cache" ||
			!strings.HasPrefix(answer.Header().Get("Content-Type"), "application/json") {
			t.Errorf("%s: %v", what, answer.Header())
		}
	}
}

func TestRefreshTokenBuysTheNextTokens(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{})
	name, value := r.basic()
	var first, second clients.Tokens
	if err := json.Unmarshal(r.post("grant_type=client_credentials", name, value).Body.Bytes(),
		&first); err != nil {
		t.Fatal(err)
	}
	form := "grant_type=refresh_token&refresh_token=" + first.RefreshToken
	if err := json.Unmarshal(r.post(form, name, value).Body.Bytes(),
		&second); err != nil || second.RefreshToken == "" || second.AccessToken == first.AccessToken {
		t.Errorf("refreshed: %+v, %v", second, err)
	}
	again := r.post(form, name, value)
	if again.Code != http.StatusBadRequest || !strings.Contains(again.Body.String(), `"error":"invalid_grant"`) {
		t.Errorf("a second time: %d %s", again.Code, again.Body)
	}
	if stranger := r.post("grant_type=refresh_token&refresh_token=" +
		second.RefreshToken); stranger.Code != http.StatusUnauthorized {
		t.Errorf("without the API key: %d %s", stranger.Code, stranger.Body)
	}
}

func TestBadTokenRequestsAreRefusedInTheWordsOfOAuth(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{})
	name, value := r.basic()
	credentials := "&client_id=portal&client_secret=" + r.secret
	for _, c := range []struct {
		form    string
		headers []string
		status  int
		code    string
	}{
		{"", []string{name, value}, 400, "invalid_request"},
		{"grant_type=", []string{name, value}, 400, "invalid_request"},
		{"grant_type=password&username=a&password=b", []string{name, value}, 400, "unsupported_grant_type"},
		{"grant_type=refresh_token", []string{name, value}, 400, "invalid_request"},
		{"grant_type=refresh_token&refresh_token=x", []string{name, value}, 400, "invalid_grant"},
		{"grant_type=client_credentials&scope=openid", []string{name, value}, 400, "invalid_scope"},
		{
			"grant_type=client_credentials&grant_type=client_credentials",
			[]string{name, value},
			400,
			"invalid_request",
		},
		{"grant_type=client_credentials&a=1&a=2", []string{name, value}, 400, "invalid_request"},
		{"grant_type=client_credentials" + credentials, []string{name, value}, 400, "invalid_request"},
		{"grant_type=client_credentials&x=%zz", []string{name, value}, 400, "invalid_request"},
		{"grant_type=client_credentials&x=%00", []string{name, value}, 400, "invalid_request"},
		{"grant_type=client_credentials&x=%ff", []string{name, value}, 400, "invalid_request"},
		{
			"grant_type=client_credentials",
			[]string{name, value, "Content-Type", "application/json"},
			400,
			"invalid_request",
		},
		{"grant_type=client_credentials", []string{name, value, "Content-Type", ""}, 400, "invalid_request"},
		{
			"grant_type=client_credentials",
			[]string{name, value, "Content-Encoding", "gzip"},
			400,
			"invalid_request",
		},
		{
			"grant_type=client_credentials&x=" + strings.Repeat("x", 20_000),
			[]string{name, value},
			413,
			"invalid_request",
		},
		{"grant_type=client_credentials", nil, 401, "invalid_client"},
		{"grant_type=client_credentials&client_id=portal", nil, 401, "invalid_client"},
		{"grant_type=client_credentials&client_id=portal&client_secret=wrong", nil, 401, "invalid_client"},
		{"grant_type=client_credentials", []string{name, "Basic nonsense"}, 401, "invalid_client"},
		{"grant_type=client_credentials", []string{name, "Bearer " + r.secret}, 401, "invalid_client"},
		{"grant_type=client_credentials&client_id=other", []string{name, value}, 401, "invalid_client"},
	} {
		answer := r.post(c.form, c.headers...)
		var body map[string]string
		if err := json.Unmarshal(answer.Body.Bytes(),
			&body); err != nil || answer.Code != c.status || body["error"] != c.code ||
			body["error_description"] == "" || len(body) != 2 {
			t.Errorf("%.60s %v: %d %s", c.form, c.headers, answer.Code, answer.Body)
		}
		if challenge := answer.Header().
			Get("WWW-Authenticate"); (c.status == http.StatusUnauthorized) != strings.HasPrefix(challenge, "Basic ") {
			t.Errorf("%.60s: WWW-Authenticate = %q", c.form, challenge)
		}
		if answer.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%.60s: Cache-Control = %q", c.form, answer.Header().Get("Cache-Control"))
		}
		if strings.Contains(answer.Body.String(), r.secret) {
			t.Errorf("%.60s: the answer repeats the secret", c.form)
		}
	}
	if keyless := r.post("grant_type=client_credentials"); !strings.Contains(keyless.Body.String(),
		"no API key: send") {
		t.Errorf("without a key: %s", keyless.Body)
	}
	inAddress := r.postTo(r.path+"/protocol/openid-connect/token?client_secret=x",
		"grant_type=client_credentials", name, value)
	if inAddress.Code != http.StatusBadRequest {
		t.Errorf("parameters in the address: %d %s", inAddress.Code, inAddress.Body)
	}
}

func TestUnknownRealmReadsLikeAWrongSecret(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{})
	name, value := r.basic()
	unknown := r.postTo("/auth/realms/NOWHERE/protocol/openid-connect/token", "grant_type=client_credentials",
		name, value)
	wrong := r.post("grant_type=client_credentials&client_id=portal&client_secret=wrong")
	if unknown.Code != wrong.Code || unknown.Body.String() != wrong.Body.String() {
		t.Errorf("%d %s, and %d %s", unknown.Code, unknown.Body, wrong.Code, wrong.Body)
	}
}

// wrong sends a number of wrong secrets for a key, and returns how many were slowed down.
func (r *realm) wrong(key string, times int) (slowed int) {
	r.Helper()
	for range times {
		answer := r.post("grant_type=client_credentials&client_id=" + key + "&client_secret=wrong")
		switch {
		case answer.Code == http.StatusTooManyRequests && answer.Header().Get("Retry-After") != "":
			slowed++
		case answer.Code != http.StatusUnauthorized:
			r.Errorf("%s: %d %s", key, answer.Code, answer.Body)
		}
	}
	return slowed
}

func TestWrongSecretsAreCountedByKeyAndByNetworkAndRightOnesPass(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{Key: 2, Network: 5})
	name, value := r.basic()
	right := func(when string) {
		t.Helper()
		if answer := r.post("grant_type=client_credentials", name, value); answer.Code != http.StatusOK {
			t.Errorf("the right secret %s: %d %s", when, answer.Code, answer.Body)
		}
	}
	if slowed := r.wrong("portal", 5); slowed != 3 {
		t.Errorf("of five wrong secrets for one key %d were slowed down", slowed)
	}
	right("after too many wrong ones for its key")
	if slowed := r.wrong("other", 1); slowed != 1 {
		t.Error("the network was not counted")
	}
	right("after too many wrong ones from its network")
	right("once more")
}

func TestManyJunkKeysSlowDownNoNamedKey(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{Key: 1, Network: 1000})
	for i := range 30 {
		if slowed := r.wrong(fmt.Sprint("junk", i), 1); slowed != 0 {
			t.Errorf("key %d was slowed down by others", i)
		}
	}
	if slowed := r.wrong("portal", 1); slowed != 0 {
		t.Error("the named key was slowed down")
	}
}

func TestTokensOfOneKeyAreBounded(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{Issued: 3})
	name, value := r.basic()
	for i, want := range []int{200, 200, 200, 429} {
		if answer := r.post("grant_type=client_credentials", name, value); answer.Code != want {
			t.Errorf("request %d: %d %s", i+1, answer.Code, answer.Body)
		}
	}
	if slowed := r.wrong("portal", 3); slowed != 0 {
		t.Error("wrong secrets count as tokens")
	}
}

func TestAFloodOfWrongSecretsDoesNotKeepRightOnesOut(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{Key: 1, Network: 1})
	name, value := r.basic()
	// this secret has been right before
	if answer := r.post("grant_type=client_credentials", name, value); answer.Code != http.StatusOK {
		t.Fatal(answer.Code)
	}
	ctx, stop := context.WithCancel(t.Context())
	var flood sync.WaitGroup
	for i := range 100 {
		flood.Go(func() {
			for ctx.Err() == nil {
				r.post(fmt.Sprint("grant_type=client_credentials&client_secret=wrong&client_id=",
					[]string{"portal", fmt.Sprint("junk", i)}[i%2]))
				time.Sleep(20 * time.Millisecond) // other tests run at the same time
			}
		})
	}
	for range 20 {
		if answer := r.post("grant_type=client_credentials", name, value); answer.Code != http.StatusOK {
			t.Errorf("%d %s", answer.Code, answer.Body)
		}
	}
	stop()
	flood.Wait()
}

func TestDiscoveryLeadsToTheKeysThatCheckTokens(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{})
	answer, found := r.get(r.path + "/.well-known/openid-configuration")
	if answer.Code != http.StatusOK || found["issuer"] != "https://api.bank.example"+r.path ||
		found["token_endpoint"] != "https://api.bank.example"+r.path+"/protocol/openid-connect/token" {
		t.Errorf("discovery: %d %v", answer.Code, found)
	}
	keys := strings.TrimPrefix(found["jwks_uri"].(string), "https://api.bank.example")
	answer, set := r.get(keys)
	all, _ := set["keys"].([]any)
	if len(all) != 1 || !strings.Contains(answer.Header().Get("Cache-Control"), "max-age=300") {
		t.Fatalf("keys: %v, %v", set, answer.Header())
	}
	key := all[0].(map[string]any)
	if key["kty"] != "EC" || key["crv"] != "P-256" || key["alg"] != "ES256" || key["use"] != "sig" ||
		key["d"] != nil {
		t.Errorf("key: %v", key)
	}
	for _, path := range []string{
		"/auth/realms/NOWHERE/protocol/openid-connect/certs",
		"/auth/realms/NOWHERE/.well-known/openid-configuration", "/auth/realms/",
		"/auth/realms/a%2Fb/protocol/openid-connect/certs",
	} {
		if answer, _ := r.get(path); answer.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
	for _, path := range []string{keys, r.path + "/.well-known/openid-configuration"} {
		answer := httptest.NewRecorder()
		r.handler.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), http.MethodHead, path, http.NoBody))
		if answer.Code != http.StatusOK {
			t.Errorf("HEAD %s: %d %v", path, answer.Code, answer.Header())
		}
	}
	if answer, _ := r.get(r.path +
		"/protocol/openid-connect/token"); answer.Code != http.StatusMethodNotAllowed ||
		answer.Header().Get("Allow") != "POST" {
		t.Errorf("a token by GET: %d %v", answer.Code, answer.Header())
	}
}
