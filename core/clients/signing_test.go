package clients_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/clients"
)

// published returns the ids of the keys that the realm publishes.
func (b *bank) published() (kids []string) {
	b.Helper()
	set, err := b.Clients.PublicKeys(b.stranger, b.tenant.Code)
	if err != nil {
		b.Fatal(err)
	}
	for _, key := range set.Keys {
		if !key.IsPublic() || !key.Valid() {
			b.Errorf("published key %s is not a public key", key.KeyID)
		}
		kids = append(kids, key.KeyID)
	}
	return kids
}

func (b *bank) kid(token string) string {
	header, _ := parts(b.T, token)
	return header["kid"].(string)
}

func TestNewSigningKeyIsPublishedBeforeItSigns(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	old := b.kid(b.issue("portal", secret).AccessToken)
	fresh, from, err := b.Clients.RotateSigningKey(b.operator)
	if err != nil {
		t.Fatal(err)
	}
	if kids := b.published(); !slices.Contains(kids, old) || !slices.Contains(kids, fresh) {
		t.Errorf("published = %v", kids)
	}
	if from.Sub(*b.now.Load()) <= clients.JWKSAge {
		t.Errorf("signs from %s: a cache may not know it yet", from)
	}
	if kid := b.kid(b.issue("portal", secret).AccessToken); kid != old {
		t.Errorf("signed with %s before its time", kid)
	}
	b.turn(from)
	if kid := b.kid(b.issue("portal", secret).AccessToken); kid != fresh {
		t.Errorf("signed with %s after its time", kid)
	}
}

func TestOldSigningKeyIsPublishedUntilItsTokensHaveExpired(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	b.issue("portal", secret)
	_, from, err := b.Clients.RotateSigningKey(b.operator)
	if err != nil {
		t.Fatal(err)
	}
	b.turn(from.Add(-time.Second))
	last := b.issue("portal", secret).AccessToken
	b.later(clients.AccessLifetime - time.Second)
	if _, err := b.Clients.Verify(b.stranger, last); err != nil {
		t.Errorf("the last token of the old key: %v", err)
	}
	b.later(12 * time.Second) // another program may have signed with it ten seconds longer
	if kids := b.published(); slices.Contains(kids, b.kid(last)) {
		t.Errorf("published = %v", kids)
	}
}

func TestTokenOfAKeyThatIsGoneIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	token := b.issue("portal", secret).AccessToken
	if _, _, err := b.Clients.RotateSigningKey(b.operator); err != nil {
		t.Fatal(err)
	}
	b.exec(`DELETE FROM signing_keys WHERE tenant = ? AND kid = ?`, b.tenant.ID, b.kid(token))
	b.later(10 * time.Second)
	if _, err := b.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("error = %v", err)
	}
}

func TestProgramsThatStartTogetherMakeOneSigningKey(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	var all sync.WaitGroup
	for range 5 {
		all.Go(func() {
			if _, err := b.another(b.DB).Clients.Issue(b.stranger, b.tenant.Code, "portal", secret); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if kids := b.published(); len(kids) != 1 {
		t.Errorf("published = %v", kids)
	}
}

func TestPrivateHalfOfASigningKeyIsSealed(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.issue("portal", b.client("portal"))
	row := b.one(`SELECT k.public::text || encode(k.private, 'escape')
		FROM signing_keys AS k WHERE tenant = ?`, b.tenant.ID)
	// the start of every private key in PKCS 8 and base64
	if strings.Contains(row, `"d"`) || strings.Contains(row, "MIG") {
		t.Errorf("row = %s", row)
	}
}

func TestUnknownRealmHasNoKeysAndNoIssuer(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, realm := range []string{"nowhere", "", "a\x00b", strings.ToLower(b.tenant.Code) + "x"} {
		if _, err := b.Clients.PublicKeys(b.stranger, realm); !errors.Is(err, clients.ErrWrongRealm) {
			t.Errorf("keys of %q: %v", realm, err)
		}
		if _, err := b.Clients.Issuer(b.stranger, realm); !errors.Is(err, clients.ErrWrongRealm) {
			t.Errorf("issuer of %q: %v", realm, err)
		}
	}
}
