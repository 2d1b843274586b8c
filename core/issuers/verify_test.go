package issuers_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/issuers"
)

func TestTokenOfAnIssuerSpeaksForTheUserWithItsPermissions(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	uid := b.user("Jane.Doe", b.self(), access.ViewCustomers, access.ManageContacts)
	caller, err := b.verify(b.token(p, "preferred_username", "jane.doe"))
	if err != nil {
		t.Fatal(err)
	}
	want := access.Caller{
		Tenant: b.tenant.ID, TenantCode: b.tenant.Code, Zone: caller.Zone, Client: p.url, ClientName: "Jane Doe",
		User: uid, LoginID: "Jane.Doe", Entity: b.self(), Partner: b.self(), Reach: access.OfBank,
		Permissions: []access.Permission{access.ViewCustomers, access.ManageContacts}, Limits: bounds,
	}
	if !reflect.DeepEqual(caller, want) || caller.Location().String() != "America/New_York" {
		t.Errorf("caller = %+v, want %+v", caller, want)
	}
	if most := caller.Limit("Payments",
		"Daily_Payment_Limits"); most == nil || most.Value().String() != "100.00" ||
		caller.Limit("Payments", "Monthly_Payment_Limits") != nil ||
		caller.Limit("Foreign_Exchange", "Daily_Payment_Limits") != nil {
		t.Errorf("bounded by %v", most)
	}
}

func TestUserOfACustomerActsForThatCustomerAndItsPartner(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	partner := b.customer(0)
	b.exec(`UPDATE customers SET owner = uid WHERE tenant = ? AND uid = ?`, b.tenant.ID, partner)
	corporate, direct := b.customer(partner), b.customer(0)
	for _, c := range []struct {
		customer, partner int64
		reach             access.Reach
	}{
		{partner, partner, access.OfPartner},
		{corporate, partner, access.OfCustomer},
		{direct, b.self(), access.OfCustomer},
	} {
		login := rand.Text()
		b.user(login, c.customer)
		caller, err := b.verify(b.token(p, "preferred_username", login))
		if err != nil || caller.Entity != c.customer || caller.Partner != c.partner ||
			caller.Reach != c.reach {
			t.Errorf("user of %d: %+v, %v", c.customer, caller, err)
		}
	}
}

func TestPermissionsAreThoseOfNowAndNotTheTokens(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	token := b.token(p, "permissions", []string{"mCust"}, "realm_access",
		map[string]any{"roles": []string{"mCust"}})
	caller, err := b.verify(token)
	if err != nil || len(caller.Permissions) != 0 {
		t.Errorf("without roles: %v, %v", caller.Permissions, err)
	}
	// no user can have the last two
	b.granted[caller.User] = []access.Permission{access.ViewAccounts, access.ManageTenants, "Print_Money"}
	b.later(10 * time.Second)
	if caller, err = b.verify(token); err != nil ||
		!reflect.DeepEqual(caller.Permissions, []access.Permission{access.ViewAccounts}) {
		t.Errorf("with a role: %v, %v", caller.Permissions, err)
	}
}

func TestFirstClaimThatIsThereNamesTheUser(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	b.user("by-sub", b.self())
	if caller, err := b.verify(b.token(p, "preferred_username", nil, "sub", "by-sub")); err != nil ||
		caller.LoginID != "by-sub" {
		t.Errorf("sub: %+v, %v", caller, err)
	}
	b.refused("sub of a user behind another's name",
		b.token(p, "preferred_username", "stranger", "sub", "by-sub"))
	for _, wrong := range []any{
		"", " ", 7,
		[]string{"admin"},
		true, "admin\x00", strings.Repeat("a", 201),
		"ad%",
	} {
		b.refused("login id", b.token(p, "preferred_username", wrong, "sub", "by-sub"))
	}
	b.refused("no claim at all", b.token(p, "preferred_username", nil, "sub", nil))

	other := b.provider()
	b.accept(other, func(d *issuers.Draft) { d.UserClaims = []string{"email"} })
	b.user("jo@bank.example", b.self())
	if caller, err := b.verify(b.token(other, "email", "jo@bank.example")); err != nil ||
		caller.LoginID != "jo@bank.example" {
		t.Errorf("email: %+v, %v", caller, err)
	}
	b.refused("a claim that is not asked for", b.token(other))
}

func TestPartnerIdComesFromItsClaimAndIsZeroWithoutIt(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p, func(d *issuers.Draft) { d.PartnerClaim = "partner" })
	for _, c := range []struct {
		claim any
		want  int64
	}{{nil, 0}, {1000010, 1000010}, {"1000010", 1000010}} {
		if caller, err := b.verify(b.token(p, "partner", c.claim)); err != nil || caller.Partner != c.want {
			t.Errorf("%v: %d, %v", c.claim, caller.Partner, err)
		}
	}
	for _, wrong := range []any{0, -1, 1.5, "x", "", true, []int{1}, "99999999999999999999"} {
		b.refused("partner", b.token(p, "partner", wrong))
	}
}

func TestLegalEntityClaimMustNameTheUsersCustomer(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p, func(d *issuers.Draft) { d.EntityClaim = "le" })
	if caller, err := b.verify(b.token(p, "le", b.self())); err != nil || caller.Entity != b.self() {
		t.Errorf("%+v, %v", caller, err)
	}
	for _, wrong := range []any{nil, b.self() + 1, "x"} {
		b.refused("legal entity", b.token(p, "le", wrong))
	}
}

func TestOnlyActiveUsersOfThisBankGetIn(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	token := b.token(p)
	if _, err := b.verify(token); err != nil {
		t.Fatal(err)
	}
	for _, status := range []string{"Suspended", "Pending", "Locked"} {
		b.exec(`UPDATE users SET status = ? WHERE tenant = ?`, status, b.tenant.ID)
		b.later(10 * time.Second) // how long a verified token is remembered
		b.refused(status, token)
	}
	b.exec(`UPDATE users SET status = 'Active' WHERE tenant = ?`, b.tenant.ID)
	other := b.add().ID
	b.execAt(other,
		`INSERT INTO users (tenant, uid, customer, login_id, status)
		SELECT tenant, ?, uid, 'elsewhere', 'Active'
		FROM customers WHERE tenant = ?`, uuid.NewString(), other)
	b.refused("a user of another bank", b.token(p, "preferred_username", "elsewhere"))
	b.refused("nobody", b.token(p, "preferred_username", "nobody"))
	if _, err := b.verify(token); err != nil {
		t.Errorf("active again: %v", err)
	}
}

func TestTokenWithoutTheScopeOfTheInterfaceMayDoNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	for _, scope := range []any{
		nil, "", "openid", "xroles",
		[]string{"openid"},
		7,
		map[string]any{"roles": true},
	} {
		if _, err := b.verify(b.token(p, "scope", scope)); !errors.Is(err, access.ErrDenied) {
			t.Errorf("scope %v: %v", scope, err)
		}
	}
	for _, good := range []string{
		b.token(p, "scope", []string{"openid", "roles"}), b.token(p, "scope", nil, "scp", "roles"),
		b.token(p, "scope", nil, "scp", []string{"roles"}),
	} {
		if _, err := b.verify(good); err != nil {
			t.Errorf("good scope: %v", err)
		}
	}
}

func TestTimesOfATokenCountWithinAMinute(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	now := b.now.Load().Unix()
	for name, token := range map[string]string{
		"expired a minute ago": b.token(p, "exp", now-60), "no end": b.token(p, "exp", nil),
		"no beginning":         b.token(p, "iat", nil),
		"issued in the future": b.token(p, "iat", now+61), "not yet valid": b.token(p, "nbf", now+61),
		"end that is text": b.token(p, "exp", "never"),
	} {
		b.refused(name, token)
	}
	for name, token := range map[string]string{
		"expired just now":      b.token(p, "exp", now-59),
		"a clock that is ahead": b.token(p, "iat", now+60, "nbf", now+60), "no nbf": b.token(p, "nbf", nil),
	} {
		if _, err := b.verify(token); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	remembered := b.token(p, "exp", now-55)
	if _, err := b.verify(remembered); err != nil {
		t.Fatal(err)
	}
	b.later(5 * time.Second)
	b.refused("remembered beyond its end", remembered)
}

func TestOtherKindsOfTokensAreNoAccessTokens(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	key := p.keys[0]
	for _, kind := range []string{"at+jwt", "application/at+jwt", "AT+JWT", "JWT"} {
		if _, err := b.verify(b.signed(key, kind, b.claims(p))); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, kind := range []string{"", "logout+jwt", "secevent+jwt", "dpop+jwt", "x"} {
		b.refused("type "+kind, b.signed(key, kind, b.claims(p)))
	}
	for name, changes := range map[string][]any{
		"id token by its nonce": {"nonce", "n"}, "id token by its hash of the token": {"at_hash", "h"},
		"id token by its hash of the code": {"c_hash", "h"},
		"id token by its type":             {"typ", "ID"}, "refresh token by its type": {"typ", "Refresh"},
		"logout token":                       {"events", map[string]any{}},
		"id token for its client":            {"azp", audience},
		"id token for its client, in a list": {"aud", []string{audience}, "client_id", audience},
		"bound to a key":                     {"cnf", map[string]any{"jkt": "x"}},
	} {
		b.refused(name, b.signed(key, "JWT", b.claims(p, changes...)))
	}
	if _, err := b.verify(b.signed(key, "JWT",
		b.claims(p, "typ", "Bearer", "aud", []string{"account", audience}))); err != nil {
		t.Errorf("an access token as Keycloak makes them: %v", err)
	}
}

func TestAlgorithmsAreThoseOfTheIssuersRow(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p, strict := b.provider(), b.provider()
	b.accept(p)
	b.accept(strict, func(d *issuers.Draft) { d.Algorithms = []string{"ES256"} })
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []*provider{p, strict} {
		one.keep(long, "RS256")
		one.keep(long, "PS256")
		one.keep(long, "RS512")
		one.keep(edwards, "EdDSA")
	}
	good := map[string]bool{"ES256": true, "RS256": true, "PS256": true, "EdDSA": true}
	for i, key := range p.keys {
		_, err := b.verify(b.signed(key, "at+jwt", b.claims(p)))
		if (err == nil) != good[key.Algorithm] {
			t.Errorf("%s: %v", key.Algorithm, err)
		}
		_, err = b.verify(b.signed(strict.keys[i], "at+jwt", b.claims(strict)))
		if (err == nil) != (key.Algorithm == "ES256") {
			t.Errorf("%s where only ES256 counts: %v", key.Algorithm, err)
		}
	}
	other := p.keys[1] // the key is published for RS256
	other.Algorithm = "PS256"
	b.refused("a key used with another algorithm", b.signed(other, "at+jwt", b.claims(p)))
}

func TestSymmetricPrivateAndShortKeysCheckNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	p := b.provider()
	b.accept(p)
	short, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	p.keep(short, "RS256")
	b.refused("a short key", b.token(p))
	p.keys = p.keys[:1]

	forEncryption := p.provideKey(t, func(k *jose.JSONWebKey) { k.Use = "enc" })
	b.later(10 * time.Second)
	b.refused("a key for encryption", b.signed(forEncryption, "at+jwt", b.claims(p)))

	secret := jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32)), KeyID: "secret", Algorithm: "HS256"}
	private := p.keys[0]
	private.KeyID = "private"
	set, err := secret.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	leaked, err := private.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	public := p.keys[0].Public()
	good, err := public.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	p.says(p.url+"/keys", `{"keys":[`+string(set)+`,`+string(leaked)+`,{"kty":"new"},7,`+string(good)+`]}`)
	b.later(10 * time.Second)
	b.refused("a symmetric key", b.signed(secret, "at+jwt", b.claims(p)))
	b.refused("a private key that is published", b.signed(private, "at+jwt", b.claims(p)))
	if _, err := b.verify(b.signed(p.keys[0], "at+jwt", b.claims(p))); err != nil {
		t.Errorf("the good key among them: %v", err)
	}
}

// provideKey adds a key that is published with a change.
func (p *provider) provideKey(t *testing.T, change func(*jose.JSONWebKey)) jose.JSONWebKey {
	t.Helper()
	p.newKey(t)
	last := &p.keys[len(p.keys)-1]
	change(last)
	return *last
}
