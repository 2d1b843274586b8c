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
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// forger has a key that the bank publishes as its own, so that each of its tokens is wrong in only one thing.
type forger struct {
	*service
	private *ecdsa.PrivateKey
	kid     string
	good    map[string]any // claims that pass
}

func newForger(t *testing.T) *forger {
	t.Helper()
	f := &forger{service: newService(t, serveCommand{})}
	f.client("portal")
	caller, err := access.Require(f.operator)
	if err != nil {
		t.Fatal(err)
	}
	f.kid = f.plant(caller.Tenant)
	now := time.Now().Unix()
	f.good = map[string]any{
		"iss": public + "/auth/realms/" + f.realm, "aud": "bankgraph", "sub": "portal", "azp": "portal",
		"typ": "Bearer", "jti": "1",
		"iat": now, "nbf": now, "exp": now + 3600, "scope": "roles", "tenant": f.realm,
		"permissions": []string{"vCust"},
	}
	row := f.bank.DB.NewRaw(`SELECT entity FROM clients WHERE tenant = ? AND key = 'portal'`, caller.Tenant)
	var entity int64
	if err := row.Scan(context.Background(), &entity); err != nil {
		t.Fatal(err)
	}
	f.good["legal_entity"], f.good["partner_id"] = entity, entity
	return f
}

// plant adds a key to a bank's published ones whose private half the test knows.
func (f *forger) plant(tenant access.Tenant) (kid string) {
	f.Helper()
	if f.private == nil {
		var err error
		if f.private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			f.Fatal(err)
		}
	}
	kid = fmt.Sprintf("%d.%s", tenant, rand.Text())
	public, err := jose.JSONWebKey{
		Key: &f.private.PublicKey, KeyID: kid, Algorithm: "ES256",
		Use: "sig",
	}.MarshalJSON()
	if err != nil {
		f.Fatal(err)
	}
	err = f.bank.DB.InTx(context.Background(), int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO signing_keys (tenant, kid, public, private, signs_from)
			VALUES (?, ?, ?, '', now() + interval '1 hour')`, tenant, kid, string(public))
		return err
	})
	if err != nil {
		f.Fatal(err)
	}
	return kid
}

func (f *forger) header(changes ...any) map[string]any {
	return with(map[string]any{"alg": "ES256", "typ": "at+jwt", "kid": f.kid}, changes)
}

func (f *forger) claims(changes ...any) map[string]any { return with(f.good, changes) }

// with changes name, value, name, value …; a nil value removes the name.
func with(base map[string]any, changes []any) map[string]any {
	made := maps.Clone(base)
	for i := 0; i < len(changes); i += 2 {
		made[changes[i].(string)] = changes[i+1]
		if changes[i+1] == nil {
			delete(made, changes[i].(string))
		}
	}
	return made
}

// sign makes a token of any header and claims. Raw text is used as it is.
func (f *forger) sign(header, claims any) string {
	f.Helper()
	input := part(header) + "." + part(claims)
	hash := sha256.Sum256([]byte(input))
	r, s, err := ecdsa.Sign(rand.Reader, f.private, hash[:])
	if err != nil {
		f.Fatal(err)
	}
	return input + "." +
		base64.RawURLEncoding.EncodeToString(append(r.FillBytes(make([]byte, 32)),
			s.FillBytes(make([]byte, 32))...))
}

func part(content any) string {
	text, raw := content.(string)
	if !raw {
		bytes, _ := json.Marshal(content)
		text = string(bytes)
	}
	return base64.RawURLEncoding.EncodeToString([]byte(text))
}

func (f *forger) ask(path, token string) *httptest.ResponseRecorder {
	return f.do(http.MethodGet, path, "", "Authorization", "Bearer "+token, requestID, "the-same")
}

func TestForgedTokensAreAllRefusedAlike(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	var fetched atomic.Int64
	thief := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { fetched.Add(1) }))
	defer thief.Close()

	good := f.sign(f.header(), f.claims())
	if answer := f.ask("/graphql?query={__typename}", good); answer.Code != http.StatusOK {
		t.Fatalf("the good token: %d %s", answer.Code, answer.Body)
	}
	own, err := jose.JSONWebKey{Key: &f.private.PublicKey, KeyID: f.kid}.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	unknown, _, err := f.bank.operator(context.Background(), f.addBank())
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := access.Require(unknown)
	if err != nil {
		t.Fatal(err)
	}
	elsewhereKey := f.plant(elsewhere.Tenant)
	pieces := strings.Split(good, ".")
	text, err := json.Marshal(f.good)
	if err != nil {
		t.Fatal(err)
	}
	twice := strings.Replace(string(text), `"scope"`, `"tenant":"other","scope"`, 1)
	now := time.Now().Unix()
	hmacked := part(f.header("alg", "HS256")) + "." + pieces[1]
	mac := hmac.New(sha256.New, own)
	mac.Write([]byte(hmacked))

	// Every forged token gets the same answer as no token.
	stranger := map[string]string{"/v2/customers": "", "/graphql?query={__typename}": ""}
	for path := range stranger {
		stranger[path] = f.do(http.MethodGet, path, "", requestID, "the-same").Body.String()
	}
	for what, token := range map[string]string{
		"no algorithm":                part(f.header("alg", "none")) + "." + pieces[1] + ".",
		"no algorithm, signed":        part(f.header("alg", "none")) + "." + pieces[1] + "." + pieces[2],
		"HS256 with the public key":   hmacked + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil)),
		"RS256":                       f.sign(f.header("alg", "RS256"), f.claims()),
		"ES384":                       f.sign(f.header("alg", "ES384"), f.claims()),
		"no key id":                   f.sign(f.header("kid", nil), f.claims()),
		"unknown key id":              f.sign(f.header("kid", f.kid+"x"), f.claims()),
		"key id of no bank":           f.sign(f.header("kid", "999999999.x"), f.claims()),
		"key id that injects":         f.sign(f.header("kid", "1 OR 1=1.x"), f.claims()),
		"key id of another bank":      f.sign(f.header("kid", elsewhereKey), f.claims()),
		"swapped for another of ours": part(f.header("kid", "1.x")) + "." + pieces[1] + "." + pieces[2],
		"key at an address":           f.sign(f.header("jku", thief.URL), f.claims()),
		"certificate at an address":   f.sign(f.header("x5u", thief.URL), f.claims()),
		"key brought along":           f.sign(f.header("jwk", json.RawMessage(own)), f.claims()),
		"certificate brought along":   f.sign(f.header("x5c", []string{"MA=="}), f.claims()),
		"critical extension":          f.sign(f.header("crit", []string{"x"}, "x", 1), f.claims()),
		"plain JWT":                   f.sign(f.header("typ", "JWT"), f.claims()),
		"no type":                     f.sign(f.header("typ", nil), f.claims()),
		"id token":                    f.sign(f.header(), f.claims("typ", "ID")),
		"refresh token by its claim":  f.sign(f.header(), f.claims("typ", "Refresh")),
		"unsigned":                    pieces[0] + "." + pieces[1] + ".",
		"without its signature":       pieces[0] + "." + pieces[1],
		"truncated":                   good[:len(good)-2],
		"longer":                      good + "AA",
		"other claims": pieces[0] + "." + part(f.claims("permissions", access.All)) + "." +
			pieces[2],
		"a mebibyte":              f.sign(f.header(), f.claims("jti", strings.Repeat("x", 1<<20))),
		"a claim twice":           f.sign(f.header(), twice),
		"claims that are a list":  f.sign(f.header(), "[]"),
		"claims that are no JSON": f.sign(f.header(), "{"),
		"header that is no JSON":  f.sign("{", f.claims()),
		"expired":                 f.sign(f.header(), f.claims("exp", now)),
		"without an end":          f.sign(f.header(), f.claims("exp", nil)),
		"end that is text":        f.sign(f.header(), f.claims("exp", "never")),
		"not yet valid":           f.sign(f.header(), f.claims("nbf", now+600)),
		"issued in the future":    f.sign(f.header(), f.claims("iat", now+600)),
		"without a beginning":     f.sign(f.header(), f.claims("nbf", nil)),
		"another issuer":          f.sign(f.header(), f.claims("iss", "https://evil.example/auth/realms/"+f.realm)),
		"issuer of another realm": f.sign(f.header(), f.claims("iss", public+"/auth/realms/"+elsewhere.TenantCode)),
		"another audience":        f.sign(f.header(), f.claims("aud", "account")),
		"no audience":             f.sign(f.header(), f.claims("aud", nil)),
		"another tenant":          f.sign(f.header(), f.claims("tenant", elsewhere.TenantCode)),
		"all of another tenant's": f.sign(f.header(),
			f.claims("tenant", elsewhere.TenantCode, "iss", public+"/auth/realms/"+elsewhere.TenantCode)),
		"an unknown API key":   f.sign(f.header(), f.claims("azp", "other", "sub", "other")),
		"two API keys":         f.sign(f.header(), f.claims("sub", "other")),
		"no API key":           f.sign(f.header(), f.claims("azp", "", "sub", "")),
		"another legal entity": f.sign(f.header(), f.claims("legal_entity", 7)),
		"nothing":              "",
		"dots":                 "..",
		"text":                 "let me in",
		"JSON serialization": `{"payload":"` + pieces[1] + `","protected":"` + pieces[0] + `","signature":"` +
			pieces[2] + `"}`,
		"encrypted": pieces[0] + "." + pieces[1] + "." + pieces[1] + "." + pieces[1] + "." + pieces[2],
	} {
		for path, want := range stranger {
			answer := f.ask(path, token)
			if answer.Code != http.StatusUnauthorized || answer.Body.String() != want {
				t.Errorf("%s at %s: %d %s", what, path, answer.Code, answer.Body)
			}
		}
	}
	if fetched.Load() != 0 {
		t.Errorf("%d times something was fetched from the forger", fetched.Load())
	}
}

func TestTokenWithoutTheScopeIsForbidden(t *testing.T) {
	t.Parallel()
	f := newForger(t)
	for _, scope := range []any{nil, "", "openid", "xroles", "roles2"} {
		token := f.sign(f.header(), f.claims("scope", scope))
		rest, graph := f.ask("/v2/customers", token), f.ask("/graphql?query={__typename}", token)
		if rest.Code != http.StatusForbidden {
			t.Errorf("scope %v over REST: %d %s", scope, rest.Code, rest.Body)
		}
		if graph.Code != http.StatusForbidden || !strings.Contains(graph.Body.String(), "DENIED") {
			t.Errorf("scope %v over GraphQL: %d %s", scope, graph.Code, graph.Body)
		}
	}
	token := f.sign(f.header(), f.claims("scope", "openid roles"))
	if answer := f.ask("/graphql?query={__typename}", token); answer.Code != http.StatusOK {
		t.Errorf("among others: %d %s", answer.Code, answer.Body)
	}
}

func TestRefreshTokenIsNoAccessToken(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	tokens, err := s.bank.Clients.Issue(context.Background(), s.realm, "portal", s.client("portal"))
	if err != nil {
		t.Fatal(err)
	}
	answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization",
		"Bearer "+tokens.RefreshToken)
	if answer.Code != http.StatusUnauthorized {
		t.Errorf("answer: %d %s", answer.Code, answer.Body)
	}
}
