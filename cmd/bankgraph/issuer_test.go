package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/issuers"
	"bankgraph/core/outside"
	"bankgraph/core/users"
	"bankgraph/graph"
)

// idp is an identity provider on this machine that a bank accepts. The forger has its key, so that each of
// its tokens is wrong in only one thing.
type idp struct {
	forger
	server *httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc] // replaces the provider's own answer
}

const audience = "https://api.bank.example"

func newIDP(t *testing.T) *idp {
	t.Helper()
	p := new(idp)
	p.service = newServiceWith(t, serveCommand{}, core.Options{
		Fetch: newFetch(),
		Granted: func(context.Context, access.Tenant, uuid.UUID) (users.Grant, error) {
			return users.Grant{Permissions: []access.Permission{access.ViewCustomers}}, nil
		},
	})
	var err error
	if p.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	p.kid = rand.Text()
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(p.server.Close)
	if _, err := p.bank.Issuers.Add(p.operator,
		issuers.Draft{URL: p.server.URL, Audience: audience}); err != nil {
		t.Fatal(err)
	}
	now := time.Now().Unix()
	p.good = map[string]any{
		"iss": p.server.URL, "aud": audience, "sub": "7f1c", "preferred_username": "jo", "client_id": "portal",
		"jti": "1",
		"iat": now, "exp": now + 300, "scope": "openid roles",
	}
	return p
}

func (p *idp) serve(w http.ResponseWriter, r *http.Request) {
	p.asked.Add(1)
	if answer := p.answer.Load(); answer != nil {
		(*answer)(w, r)
		return
	}
	if r.URL.Path == "/.well-known/openid-configuration" {
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.server.URL, p.server.URL+"/keys")
		return
	}
	_, _ = w.Write(p.published())
}

// published is the provider's set of keys.
func (p *idp) published() []byte {
	set, err := json.Marshal(jose.JSONWebKeySet{
		Keys: []jose.JSONWebKey{{Key: &p.private.PublicKey, KeyID: p.kid, Algorithm: "ES256", Use: "sig"}},
	})
	if err != nil {
		panic(err)
	}
	return set
}

func (p *idp) does(answer http.HandlerFunc) { p.answer.Store(&answer) }

func TestTokenOfAnIdentityProviderOpensBothFaces(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	token := p.sign(p.header(), p.claims())
	graph := p.do(http.MethodPost, "/graphql", `{"query":"{ viewer { tenant client login permissions } }"}`,
		"Authorization", "Bearer "+token, "Content-Type", "application/json")
	want := fmt.Sprintf(`{"data":{"viewer":{"tenant":%q,"client":%q,"login":"jo","permissions":["vCust"]}}}`,
		p.realm, p.server.URL)
	if graph.Code != http.StatusOK || strings.TrimSpace(graph.Body.String()) != want {
		t.Errorf("GraphQL: %d %s", graph.Code, graph.Body)
	}
	if rest := p.ask("/v2/customers?page=1&limit=1", token); rest.Code != http.StatusOK {
		t.Errorf("REST: %d %s", rest.Code, rest.Body)
	}
	if denied := p.ask("/v2/customers/1/accounts?page=1&limit=1", token); denied.Code != http.StatusForbidden {
		t.Errorf("REST without the permission: %d %s", denied.Code, denied.Body)
	}
}

func TestForgedTokensOfAnIdentityProviderAreAllRefusedAlike(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	var fetched atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer thief.Close()
	good := p.sign(p.header(), p.claims())
	if answer := p.ask("/graphql?query={__typename}", good); answer.Code != http.StatusOK {
		t.Fatalf("the good token: %d %s", answer.Code, answer.Body)
	}
	own, err := jose.JSONWebKey{Key: &p.private.PublicKey, KeyID: p.kid}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	pieces := strings.Split(good, ".")
	text, err := json.Marshal(p.good)
	if err != nil {
		t.Fatal(err)
	}
	twice := strings.Replace(string(text), `"scope"`, `"preferred_username":"jo","scope"`, 1)
	now := time.Now().Unix()
	hmacked := part(p.header("alg", "HS256")) + "." + pieces[1]
	mac := hmac.New(sha256.New, own)
	mac.Write([]byte(hmacked))
	ours := newForger(t) // a bank that signs its own tokens

	stranger := map[string]string{"/v2/customers": "", "/graphql?query={__typename}": ""}
	for path := range stranger {
		stranger[path] = p.do(http.MethodGet, path, "", requestID, "the-same").Body.String()
	}
	for what, token := range map[string]string{
		"no algorithm":                part(p.header("alg", "none")) + "." + pieces[1] + ".",
		"no algorithm, signed":        part(p.header("alg", "none")) + "." + pieces[1] + "." + pieces[2],
		"HS256 with the public key":   hmacked + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"RS256":                       p.sign(p.header("alg", "RS256"), p.claims()),
		"ES384":                       p.sign(p.header("alg", "ES384"), p.claims()),
		"no key id":                   p.sign(p.header("kid", nil), p.claims()),
		"unknown key id":              p.sign(p.header("kid", p.kid+"x"), p.claims()),
		"key id that injects":         p.sign(p.header("kid", "1 OR 1=1"), p.claims()),
		"our own key and its id":      ours.sign(ours.header(), p.claims()),
		"our own key under its id":    ours.sign(p.header(), p.claims()),
		"our issuer, its key":         p.sign(p.header(), ours.claims()),
		"our issuer, our key id":      p.sign(ours.header(), ours.claims()),
		"key at an address":           p.sign(p.header("jku", thief.URL), p.claims()),
		"certificate at an address":   p.sign(p.header("x5u", thief.URL), p.claims()),
		"key brought along":           p.sign(p.header("jwk", json.RawMessage(own)), p.claims()),
		"certificate brought along":   p.sign(p.header("x5c", []string{"MA=="}), p.claims()),
		"critical extension":          p.sign(p.header("crit", []string{"x"}, "x", 1), p.claims()),
		"a payload that is not coded": p.sign(p.header("b64", false, "crit", []string{"b64"}), p.claims()),
		"no type":                     p.sign(p.header("typ", nil), p.claims()),
		"type that is a number":       p.sign(p.header("typ", 7), p.claims()),
		"logout token":                p.sign(p.header("typ", "logout+jwt"), p.claims()),
		"id token":                    p.sign(p.header("typ", "JWT"), p.claims("nonce", "n", "at_hash", "h")),
		"id token for its client":     p.sign(p.header("typ", "JWT"), p.claims("aud", "portal", "scope", nil)),
		"id token by its claim":       p.sign(p.header("typ", "JWT"), p.claims("typ", "ID")),
		"refresh token by its claim":  p.sign(p.header("typ", "JWT"), p.claims("typ", "Refresh")),
		"unsigned":                    pieces[0] + "." + pieces[1] + ".",
		"without its signature":       pieces[0] + "." + pieces[1],
		"truncated":                   good[:len(good)-2],
		"longer":                      good + "AA",
		"other claims": pieces[0] + "." + part(p.claims("preferred_username", "admin")) + "." +
			pieces[2],
		"a mebibyte":    p.sign(p.header(), p.claims("jti", strings.Repeat("x", 1<<20))),
		"a claim twice": p.sign(p.header(), twice),
		"two issuers": p.sign(p.header(),
			strings.Replace(string(text), `"scope"`, `"iss":"https://evil.example","scope"`, 1)),
		"claims that are a list":  p.sign(p.header(), "[]"),
		"claims that are no JSON": p.sign(p.header(), "{"),
		"header that is no JSON":  p.sign("{", p.claims()),
		"expired":                 p.sign(p.header(), p.claims("exp", now-61)),
		"without an end":          p.sign(p.header(), p.claims("exp", nil)),
		"not yet valid":           p.sign(p.header(), p.claims("nbf", now+600)),
		"issued in the future":    p.sign(p.header(), p.claims("iat", now+600)),
		"without a beginning":     p.sign(p.header(), p.claims("iat", nil)),
		"another issuer":          p.sign(p.header(), p.claims("iss", thief.URL)),
		"issuer that is no text":  p.sign(p.header(), p.claims("iss", []string{p.server.URL})),
		"no issuer":               p.sign(p.header(), p.claims("iss", nil)),
		"another audience":        p.sign(p.header(), p.claims("aud", "account")),
		"no audience":             p.sign(p.header(), p.claims("aud", nil)),
		"an unknown user":         p.sign(p.header(), p.claims("preferred_username", "nobody")),
		"no user":                 p.sign(p.header(), p.claims("preferred_username", nil, "sub", nil)),
		"JSON serialization": `{"payload":"` + pieces[1] + `","protected":"` + pieces[0] + `","signature":"` +
			pieces[2] + `"}`,
		"encrypted": pieces[0] + "." + pieces[1] + "." + pieces[1] + "." + pieces[1] + "." + pieces[2],
	} {
		for path, want := range stranger {
			answer := p.ask(path, token)
			if answer.Code != http.StatusUnauthorized || answer.Body.String() != want {
				t.Errorf("%s at %s: %d %s", what, path, answer.Code, answer.Body)
			}
		}
	}
	if fetched.Load() != 0 || p.asked.Load() > 4 {
		t.Errorf("%d times something was fetched from the forger, %d times from the issuer", fetched.Load(),
			p.asked.Load())
	}
	if answer := p.ask("/v2/customers",
		p.sign(p.header(), p.claims("scope", "openid"))); answer.Code != http.StatusForbidden {
		t.Errorf("without the scope: %d %s", answer.Code, answer.Body)
	}
}

func TestIssuerThatCannotBeReadIsAnsweredWith503AndRetryAfter(t *testing.T) {
	t.Parallel()
	var outside atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request,
	) {
		outside.Add(1)
	}))
	t.Cleanup(func() {
		elsewhere.Close()
		if outside.Load() != 0 {
			t.Errorf("a redirect was followed %d times", outside.Load())
		}
	})
	for what, answer := range map[string]http.HandlerFunc{
		"an error": func(w http.ResponseWriter,
			_ *http.Request,
		) {
			w.WriteHeader(http.StatusInternalServerError)
		},
		"a redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		},
		"too long an answer": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(strings.Repeat(" ", 64<<10) + `{"issuer":"x"}`))
		},
		"an answer without end": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		},
		"a silent issuer": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := newIDP(t)
			p.does(answer)
			for _, path := range []string{"/v2/customers", "/graphql?query={__typename}"} {
				began := time.Now()
				refused := p.ask(path, p.sign(p.header(), p.claims("jti", path)))
				if refused.Code != http.StatusServiceUnavailable ||
					refused.Header().Get("Retry-After") == "" ||
					strings.Contains(refused.Body.String(), p.server.URL) {
					t.Errorf("%s: %d %v %s", path, refused.Code, refused.Header(), refused.Body)
				}
				if took := time.Since(began); took > 5*time.Second {
					t.Errorf("%s: it took %s", path, took)
				}
			}
			if ours := p.ask("/graphql?query={__typename}",
				p.token("own", p.client("own"))); ours.Code != http.StatusOK {
				t.Errorf("our own token: %d %s", ours.Code, ours.Body)
			}
		})
	}
}

func TestHugeSetOfKeysIsNotRead(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	p.does(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/keys" {
			// everything needed comes first
			_, _ = w.Write([]byte(string(p.published()) + strings.Repeat(" ", 64<<10)))
			return
		}
		fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":%q}`, p.server.URL, p.server.URL+"/keys")
	})
	if answer := p.ask("/v2/customers",
		p.sign(p.header(), p.claims())); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}

func TestPublicNameThatLeadsInsideIsRefusedAtDial(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer inside.Close()
	if _, err := newFetch()(context.Background(), inside.URL, false); err == nil || asked.Load() != 0 {
		t.Errorf("error %v, asked %d times", err, asked.Load())
	}
	if _, err := newFetch()(context.Background(), inside.URL, true); err != nil || asked.Load() != 1 {
		t.Errorf("where the operator said so: %v, asked %d times", err, asked.Load())
	}
	for _, address := range []string{
		"127.0.0.1:443", "[::1]:443", "10.1.2.3:443",
		"172.16.0.1:443", "192.168.1.1:443", "169.254.169.254:80",
		"[fe80::1%eth0]:443", "[fd00::1]:443",
		"0.0.0.0:443", "[::]:443", "100.64.0.1:443", "224.0.0.1:443", "255.255.255.255:443",
		"[::ffff:10.0.0.1]:443", "[64:ff9b::a00:1]:443", "[2002:a00:1::]:443", "x",
	} {
		if outside.Only("tcp", address, nil) == nil {
			t.Errorf("%s counts as outside", address)
		}
	}
	for _, address := range []string{"93.184.215.14:443", "[2606:4700::1111]:443"} {
		if err := outside.Only("tcp", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestPeopleOfOneIssuerAreHeldBackOneByOne(t *testing.T) {
	t.Parallel()
	pace := newPace(1, 0, newMeters(nil))
	seen := map[string]int{}
	handler := pace.keep(func(w http.ResponseWriter, _ *http.Request, _ error) {
		w.WriteHeader(http.StatusTooManyRequests)
	},
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			caller, _ := access.Require(r.Context())
			seen[caller.LoginID]++
		}))
	for _, login := range []string{"jane", "jane", "jane", "jo"} {
		ctx := access.With(context.Background(),
			access.Caller{Tenant: 1, Client: "https://idp.example", LoginID: login})
		handler.ServeHTTP(httptest.NewRecorder(),
			httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
	}
	if seen["jane"] == 3 || seen["jo"] != 1 {
		t.Errorf("let through: %v", seen)
	}
}

func TestPartnersLeaveRequestsToOthersOfTheirBank(t *testing.T) {
	t.Parallel()
	pace := newPace(0, 80, newMeters(nil))
	passed := func(keys int, c access.Caller) (passed int) {
		for n := range 200 {
			c.Tenant, c.Client = 1, strconv.Itoa(n%keys)
			if pace.over(c) == nil {
				passed++
			}
		}
		return passed
	}
	one := passed(8, access.Caller{Reach: access.OfPartner, Entity: 2000001})
	another := passed(8, access.Caller{Reach: access.OfPartner, Entity: 2000002})
	bank := passed(1, access.Caller{Reach: access.OfBank, Entity: 1000000})
	if one < 40 || one > 45 || another < 20 || another > 25 || bank < 20 || bank > 25 {
		t.Errorf("a partner sent %d of 80, another %d, the bank's people %d", one, another, bank)
	}
}

func TestIssuersAreKeptOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin",
		"jane.doe")
	out, errs, status := p.run("issuer", "add", "http://127.0.0.1:1", "--audience", "bank", "--partner-claim",
		"partner", "--user-claim", "email,sub")
	if status != 0 || !strings.Contains(out, "is accepted within ten seconds") ||
		!strings.Contains(errs, "warning") {
		t.Errorf("add: %d %s %s", status, out, errs)
	}
	if list := p.ok("issuer",
		"list"); !strings.Contains(list,
		"http://127.0.0.1:1  bank      active  -        email,sub  partner  -             roles  "+
			"24h0m0s       access  ES256,RS256,PS256,EdDSA") {
		t.Errorf("list:\n%s", list)
	}
	p.ok("issuer", "disable", "http://127.0.0.1:1")
	if list := p.ok("issuer", "list"); !strings.Contains(list, "disabled") {
		t.Errorf("list:\n%s", list)
	}
	for _, wrong := range [][]string{
		{"issuer", "add", "http://idp.example", "--audience", "bank"},
		{"issuer", "add", "https://idp.example"},
		{"issuer", "add", "https://idp.example", "--audience", "bank", "--algorithms", "HS256"},
		{"issuer", "disable", "https://idp.example"},
		{"client", "add", "own", "--user", "nobody", "--permissions", "readers"},
	} {
		if _, errs, status := p.run(wrong...); status == 0 || errs == "" {
			t.Errorf("%v: %d %s", wrong, status, errs)
		}
	}
	p.ok("client", "add", "own", "--user", "Jane.Doe", "--permissions", "readers")
	if list := p.ok("client", "list"); !strings.Contains(list, "jane.doe") {
		t.Errorf("clients:\n%s", list)
	}
}

// A request has no place in the room while it waits for its token's issuer: one that hangs shuts out nobody
// else (README, tokens of your own identity provider).
func TestWaitingForAnIssuerTakesNoPlace(t *testing.T) {
	t.Parallel()
	p := newIDP(t)
	room := newRoomOf(1)
	running := func() int { n, _ := room.full(); return n }
	p.does(func(w http.ResponseWriter, r *http.Request) {
		for end := time.Now().Add(time.Second / 2); running() > 0 && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		if n := running(); n != 0 {
			t.Errorf("%d places are held", n)
		}
		p.answer.Store(nil)
		p.serve(w, r)
	})
	var worked int
	face := room.admit(graph.Refuse, "", authenticate(p.bank.Core, graph.Refuse,
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { worked = running() })))
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	request.Header.Set("Authorization", "Bearer "+p.sign(p.header(), p.claims()))
	answer := httptest.NewRecorder()
	face.ServeHTTP(answer, request)
	if answer.Code != http.StatusOK || worked != 1 || running() != 0 {
		t.Errorf("%d %s, with %d places, and %d after it", answer.Code, answer.Body, worked, running())
	}
}
