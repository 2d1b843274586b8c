package clients_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/clients"
)

func TestTokensSayWhatTheContractSays(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	tokens := b.issue("portal", b.client("portal"))
	if tokens.ExpiresIn != 14400 || tokens.RefreshExpiresIn != 1800 || tokens.TokenType != "bearer" ||
		len(tokens.RefreshToken) != 43 {
		t.Errorf("tokens = %+v", tokens)
	}
	header, claims := parts(t, tokens.AccessToken)
	if header["alg"] != "ES256" || header["typ"] != "at+jwt" || header["kid"] == "" || len(header) != 3 {
		t.Errorf("header = %v", header)
	}
	self := b.one(`SELECT uid FROM customers WHERE tenant = ? AND relationship_type = 'Self'`, b.tenant.ID)
	now := b.now.Load().Unix()
	for name, want := range map[string]any{
		"iss": public + "/auth/realms/" + b.tenant.Code, "aud": "bankgraph", "sub": "portal", "azp": "portal",
		"iat": now, "nbf": now, "exp": now + 14400, "typ": "Bearer", "scope": "roles", "tenant": b.tenant.Code,
		"legal_entity": json.Number(self), "partner_id": json.Number(self), "permissions": []any{"vCust", "mCust"},
	} {
		if number, ok := want.(int64); ok {
			text, _ := json.Marshal(number)
			want = json.Number(text)
		}
		if !reflect.DeepEqual(claims[name], want) {
			t.Errorf("%s = %#v, want %#v", name, claims[name], want)
		}
	}
	if claims["jti"] == "" || claims["gen"] != json.Number("1") || len(claims) != 15 {
		t.Errorf("claims = %v", claims)
	}
}

func parts(t *testing.T, token string) (header, claims map[string]any) {
	t.Helper()
	pieces := strings.Split(token, ".")
	for i, into := range []*map[string]any{&header, &claims} {
		text, err := base64.RawURLEncoding.DecodeString(pieces[i])
		if err != nil {
			t.Fatal(err)
		}
		decoder := json.NewDecoder(strings.NewReader(string(text)))
		decoder.UseNumber()
		if err := decoder.Decode(into); err != nil {
			t.Fatal(err)
		}
	}
	return header, claims
}

func TestTokenLeadsToItsCaller(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	caller, err := b.Clients.Verify(b.stranger, b.issue("portal", b.client("portal")).AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	if caller.Tenant != b.tenant.ID || caller.TenantCode != b.tenant.Code || caller.Client != "portal" ||
		caller.Reach != access.OfBank ||
		caller.Entity == 0 || caller.Partner != caller.Entity ||
		caller.Location().String() != "America/New_York" {
		t.Errorf("caller = %+v", caller)
	}
	if !caller.May(access.ManageCustomers) || caller.May(access.ManageAccounts) {
		t.Errorf("permissions = %v", caller.Permissions)
	}
}

// The bits of base64 that say nothing would give each token sixteen spellings, and each a place among those
// that are remembered.
func TestTokenHasOneSpelling(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token := b.issue("portal", b.client("portal")).AccessToken
	if _, err := b.Clients.Verify(b.stranger, token); err != nil {
		t.Fatal(err)
	}
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	last := strings.IndexByte(digits, token[len(token)-1])
	for bits := 1; bits < 16; bits++ {
		_, err := b.Clients.Verify(b.stranger, token[:len(token)-1]+digits[last+bits:last+bits+1])
		refused, is := errors.AsType[access.TokenRefusal](err)
		if !is || !strings.Contains(refused.Why, "base64url") {
			t.Fatalf("with %d in the bits that say nothing: %v", bits, err)
		}
	}
	for _, other := range []string{token + "\n", token + "=", strings.Replace(token, ".", "\r.", 1)} {
		if _, err := b.Clients.Verify(b.stranger, other); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%q: %v", other[len(other)-10:], err)
		}
	}
}

func TestTokenLivesFourHours(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token := b.issue("portal", b.client("portal")).AccessToken
	b.later(14399 * time.Second)
	if _, err := b.Clients.Verify(b.stranger, token); err != nil {
		t.Errorf("in its last second: %v", err)
	}
	b.later(time.Second)
	if _, err := b.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after four hours: %v", err)
	}
}

func TestTokenFromAClockThatIsAheadCountsWithinAMinute(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token := b.issue("portal", b.client("portal")).AccessToken
	b.later(-time.Minute)
	if _, err := b.Clients.Verify(b.stranger, token); err != nil {
		t.Errorf("a minute early: %v", err)
	}
	b.later(-2 * time.Second)
	if _, err := b.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("earlier than that: %v", err)
	}
}

func TestPermissionTakenFromAKeyIsTakenFromItsTokens(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token := b.issue("portal", b.client("portal")).AccessToken
	b.exec(`UPDATE clients SET permissions = '{vCust,View_Account}' WHERE tenant = ? AND key = 'portal'`,
		b.tenant.ID)
	caller, err := b.Clients.Verify(b.stranger, token)
	if err != nil || !reflect.DeepEqual(caller.Permissions, []access.Permission{"vCust"}) {
		t.Errorf("permissions = %v, %v", caller.Permissions, err)
	}
}

func TestWrongCredentialsAllReadTheSame(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	for _, wrong := range [][3]string{
		{"no-such-realm", "portal", secret},
		{b.tenant.Code, "other", secret},
		{b.tenant.Code, "portal", secret + "x"},
		{b.tenant.Code, "portal", ""},
		{b.tenant.Code, "", ""},
		{b.tenant.Code, "por\x00tal", secret},
		{"' OR 1=1 --", "portal", secret},
		{b.tenant.Code, strings.Repeat("k", 1000), secret},
		{b.tenant.Code, "portal", strings.Repeat("s", 1<<16)},
	} {
		_, err := b.Clients.Issue(b.stranger, wrong[0], wrong[1], wrong[2])
		if !errors.Is(err, clients.ErrClient) {
			t.Errorf("%.40q: %v", wrong, err)
		}
	}
}

func TestRefreshTokenIsUsedOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	first := b.issue("portal", secret)
	second, err := b.refresh("portal", secret, first.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Clients.Verify(b.stranger, second.AccessToken); err != nil {
		t.Errorf("the new access token: %v", err)
	}
	if second.RefreshToken == first.RefreshToken {
		t.Error("the refresh token was not rotated")
	}
	if _, err := b.refresh("portal", secret, first.RefreshToken); !errors.Is(err, clients.ErrGrant) {
		t.Errorf("second use: %v", err)
	}
}

func TestReusedRefreshTokenEndsItsFamilyAndNoOther(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	stolen, bystander := b.issue("portal", secret), b.issue("portal", secret)
	fresh, err := b.refresh("portal", secret, stolen.RefreshToken)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = b.refresh("portal", secret, stolen.RefreshToken)
	if _, err := b.refresh("portal", secret, fresh.RefreshToken); !errors.Is(err, clients.ErrGrant) {
		t.Errorf("the family's newest token: %v", err)
	}
	if _, err := b.refresh("portal", secret, bystander.RefreshToken); err != nil {
		t.Errorf("another family: %v", err)
	}
}

func TestRefreshTokenUsedAtOnceManyTimesGrantsOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	tokens := b.issue("portal", secret)
	var granted atomic.Int64
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if _, err := b.refresh("portal", secret, tokens.RefreshToken); err == nil {
				granted.Add(1)
			} else if !errors.Is(err, clients.ErrGrant) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if granted.Load() != 1 {
		t.Errorf("granted %d times", granted.Load())
	}
}

func TestRefreshTokenLivesHalfAnHour(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	tokens := b.issue("portal", secret)
	b.later(1800 * time.Second)
	if _, err := b.refresh("portal", secret, tokens.RefreshToken); !errors.Is(err, clients.ErrGrant) {
		t.Errorf("error = %v", err)
	}
}

func TestRefreshTokenBelongsToItsKey(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	tokens, other := b.issue("portal", b.client("portal")), b.client("other")
	for _, token := range []string{tokens.RefreshToken, tokens.AccessToken, "", "x\x00"} {
		if _, err := b.refresh("other", other, token); !errors.Is(err, clients.ErrGrant) {
			t.Errorf("%.10q: %v", token, err)
		}
	}
}

func TestRefreshTokensAreKeptAsHashesAndSweptWhenExpired(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	for range 5 {
		tokens := b.issue("portal", secret)
		if rows := b.one(`SELECT string_agg(r::text, '') FROM refresh_tokens AS r WHERE tenant = ?`,
			b.tenant.ID); strings.Contains(rows, tokens.RefreshToken) {
			t.Fatal("the refresh token stands in the table")
		}
	}
	b.later(time.Hour)
	b.issue("portal", secret)
	if left := b.one(`SELECT count(*) FROM refresh_tokens WHERE tenant = ?`, b.tenant.ID); left != "1" {
		t.Errorf("%s refresh tokens are left", left)
	}
}
