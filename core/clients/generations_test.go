package clients_test

import (
	"errors"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/users"
)

// counts fails the test unless the token is valid or not, as wanted, in this program and in a new one.
func (b *bank) counts(what, token string, want bool) {
	b.Helper()
	other := b.another(b.DB)
	for name, clients := range map[string]*clients.Service{"here": b.Clients, "elsewhere": other.Clients} {
		_, err := clients.Verify(b.stranger, token)
		if (err == nil) != want || err != nil && !errors.Is(err, access.ErrUnauthenticated) {
			b.Errorf("%s, %s: %v", what, name, err)
		}
	}
}

func TestTokensOfAKeyEndWhenItsSecretIsRotatedWithoutOverlap(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	issued := b.issue("portal", secret)
	b.counts("before", issued.AccessToken, true)
	fresh, err := b.Clients.Rotate(b.operator, "portal", 0)
	if err != nil {
		t.Fatal(err)
	}
	b.counts("after", issued.AccessToken, false)
	if _, err := b.refresh("portal", fresh, issued.RefreshToken); !errors.Is(err, clients.ErrGrant) {
		t.Errorf("its refresh token: %v", err)
	}
	b.counts("of the new secret", b.issue("portal", fresh).AccessToken, true)
}

// With an overlap, tokens of the old secret end with it; those of the new one do not.
func TestTokensOfTheOldSecretLiveNoLongerThanTheOverlap(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	before := b.issue("portal", secret).AccessToken
	fresh, err := b.Clients.Rotate(b.operator, "portal", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b.later(59 * time.Minute)
	old, good := b.issue("portal", secret).AccessToken, b.issue("portal", fresh).AccessToken
	for _, token := range []string{before, old, good} {
		b.counts("while the old secret counts", token, true)
	}
	b.later(time.Minute) // remembered tokens end on time too
	b.counts("issued before", before, false)
	b.counts("issued for the old secret", old, false)
	b.counts("issued for the new one", good, true)
}

func TestASecondRotationEndsTheTokensOfTheFirst(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	first := b.issue("portal", b.client("portal")).AccessToken
	var second string
	for range 2 {
		secret, err := b.Clients.Rotate(b.operator, "portal", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if second == "" {
			second = b.issue("portal", secret).AccessToken
		}
	}
	b.counts("two rotations ago", first, false)
	b.counts("one rotation ago", second, true)
}

func TestTokensAreRevokedAndSecretsStay(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	old := b.client("portal")
	fresh, err := b.Clients.Rotate(b.operator, "portal", time.Hour) // while two secrets are valid
	if err != nil {
		t.Fatal(err)
	}
	issued, former := b.issue("portal", fresh), b.issue("portal", old).AccessToken
	if err := b.Clients.RevokeTokens(b.operator, "portal"); err != nil {
		t.Fatal(err)
	}
	b.counts("of the secret", issued.AccessToken, false)
	b.counts("of the former secret", former, false)
	if _, err := b.refresh("portal", fresh, issued.RefreshToken); !errors.Is(err, clients.ErrGrant) {
		t.Errorf("its refresh token: %v", err)
	}
	b.counts("a new one", b.issue("portal", fresh).AccessToken, true)
	b.counts("a new one of the former secret", b.issue("portal", old).AccessToken, true)
	if err := b.Clients.RevokeTokens(b.operator, "nobody"); !errors.Is(err, clients.ErrNotFound) {
		t.Errorf("of no key: %v", err)
	}
	if n := b.one(
		`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'revokeTokens' AND uid = 'portal'`,
		b.tenant.ID); n != "1" {
		t.Errorf("%s entries", n)
	}
}

// Another program notices when its cache expires, after ten seconds.
func TestRevokedTokensDieElsewhereWithinTenSeconds(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token := b.issue("portal", b.client("portal")).AccessToken
	other := b.another(b.DB)
	if _, err := other.Clients.Verify(b.stranger, token); err != nil {
		t.Fatal(err)
	}
	if err := b.Clients.RevokeTokens(b.operator, "portal"); err != nil {
		t.Fatal(err)
	}
	b.later(10 * time.Second)
	if _, err := other.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after ten seconds: %v", err)
	}
}

// A request takes its place in its caller's share long after the token was last verified, but not once the
// token was refused.
func TestWhoseATokenWasIsRememberedUntilItIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token, other := b.issue("portal", b.client("portal")).AccessToken, b.another(b.DB)
	if _, known := other.Clients.Remembered(token); known {
		t.Error("a token that nobody has looked at is remembered")
	}
	if _, err := other.Clients.Verify(b.stranger, token); err != nil {
		t.Fatal(err)
	}
	b.later(time.Hour)
	if caller, known := other.Clients.Remembered(token); !known || caller.Client != "portal" {
		t.Errorf("an hour later: %v %+v", known, caller)
	}
	if err := b.Clients.RevokeTokens(b.operator, "portal"); err != nil {
		t.Fatal(err)
	}
	if _, err := other.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after it was revoked: %v", err)
	}
	if _, known := other.Clients.Remembered(token); known {
		t.Error("a token that was refused is remembered")
	}
}

func TestAPartnerThatIsNotActiveHasNoTokens(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.exec(`INSERT INTO customers (tenant, uid, legal_name, short_name, type, status, owner)
		VALUES (?, 4711, 'Partner', 'partner', 'Downstream Partner', 'Active', 4711)`, b.tenant.ID)
	b.exec(`INSERT INTO users (tenant, uid, customer, login_id, status)
		VALUES (?, gen_random_uuid(), 4711, 'nina', 'Active')`, b.tenant.ID)
	secrets := map[string]string{}
	for key, user := range map[string]string{"theirs": "", "ninas": "nina"} {
		_, secret, err := b.Clients.Add(b.operator,
			clients.Draft{Key: key, Customer: 4711, User: user, Permissions: []string{"vCust"}})
		if err != nil {
			t.Fatal(err)
		}
		secrets[key] = secret
	}
	for _, status := range []string{"Suspended", "Pending", "New"} {
		for key, secret := range secrets {
			issued := b.issue(key, secret)
			b.counts(key+" while active", issued.AccessToken, true)
			b.exec(`UPDATE customers SET status = ? WHERE tenant = ? AND uid = 4711`, status, b.tenant.ID)
			b.later(10 * time.Second)
			b.counts(key+" while "+status, issued.AccessToken, false)
			if _, err := b.Clients.Issue(b.stranger, b.tenant.Code, key, secret); !errors.Is(err, clients.ErrClient) {
				t.Errorf("%s while %s gets %v", key, status, err)
			}
			if _, err := b.refresh(key, secret, issued.RefreshToken); !errors.Is(err, clients.ErrClient) {
				t.Errorf("%s while %s refreshes %v", key, status, err)
			}
			if _, err := b.Clients.IssueUnasked(b.operator, key); !errors.Is(err, clients.ErrUnserved) &&
				!errors.Is(err, users.ErrUnserved) {
				t.Errorf("the operator gets for %s while %s: %v", key, status, err)
			}
			b.exec(`UPDATE customers SET status = 'Active' WHERE tenant = ? AND uid = 4711`, b.tenant.ID)
			b.later(10 * time.Second)
			b.counts(key+" active again", issued.AccessToken, true)
		}
	}
}

// The bank cannot lock itself out.
func TestTheBanksOwnKeysWorkWhateverItsOwnCustomerIs(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	b.exec(`UPDATE customers SET status = 'Suspended' WHERE tenant = ?`, b.tenant.ID)
	b.counts("the bank's", b.issue("portal", secret).AccessToken, true)
}

// Tokens that were issued before generations existed belong to the first.
func TestATokenWithoutAGenerationIsOfTheFirst(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	b.exec(`UPDATE clients SET generation = 0 WHERE tenant = ?`, b.tenant.ID) // so that the claim is left out
	token := b.issue("portal", secret).AccessToken
	if _, claims := parts(t, token); claims["gen"] != nil {
		t.Fatalf("claims = %v", claims)
	}
	b.exec(`UPDATE clients SET generation = 1 WHERE tenant = ?`, b.tenant.ID)
	b.counts("of the first", token, true)
	b.exec(`UPDATE clients SET generation = 2 WHERE tenant = ?`, b.tenant.ID)
	b.later(10 * time.Second)
	b.counts("of the first, after it", token, false)
}

func TestAPersonAnswersForAProgramsKey(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	_, secret, err := b.Clients.Add(b.operator,
		clients.Draft{Key: "feed", Responsible: "ADMIN", Permissions: []string{"vCust"}})
	if err != nil {
		t.Fatal(err)
	}
	admin := b.one(`SELECT uid FROM users WHERE tenant = ?`, b.tenant.ID)
	token := b.issue("feed", secret).AccessToken
	caller, err := b.Clients.Verify(b.stranger, token)
	if err != nil || caller.Responsible.String() != admin || caller.LoginID != "" {
		t.Errorf("caller = %+v, %v", caller, err)
	}
	all, err := b.Clients.List(b.operator)
	if err != nil || all[0].Answers != "admin" {
		t.Errorf("listed: %+v, %v", all[0], err)
	}
	if err := b.Clients.SetResponsible(b.operator, "feed", ""); err != nil {
		t.Fatal(err)
	}
	if caller, err = b.Clients.Verify(b.stranger, token); err != nil ||
		caller.Accountable().Person != [16]byte{} {
		t.Errorf("nobody answers: %+v, %v", caller, err)
	}
	for _, draft := range []clients.Draft{
		{Key: "a", Responsible: "nobody"},
		{Key: "b", Responsible: "adm\u0130n"},
		{Key: "c", User: "admin", Responsible: "admin"},
		{Key: "Operator"},
	} {
		draft.Permissions = []string{"vCust"}
		if _, _, err := b.Clients.Add(b.operator, draft); err == nil {
			t.Errorf("%+v was added", draft)
		}
	}
	if n := b.one(`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'setResponsible'`,
		b.tenant.ID); n != "1" {
		t.Errorf("%s entries", n)
	}
}

func TestWhoWorksAtTheCommandLineIsOnTheRecord(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	jo := access.OperatorAs(b.stranger, "jo", b.tenant.ID, b.tenant.Code, b.tenant.Location())
	if _, _, err := b.Clients.Add(jo, clients.Draft{Key: "portal", Permissions: []string{"vCust"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Clients.IssueUnasked(jo, "portal"); err != nil {
		t.Fatal(err)
	}
	for _, action := range []string{"addClient", "issueToken"} {
		if who := b.one(
			`SELECT client || ' ' || login_id FROM audit_entries WHERE tenant = ? AND action = ? AND uid = 'portal'`,
			b.tenant.ID, action); who != "operator jo" {
			t.Errorf("%s by %s", action, who)
		}
	}
}
