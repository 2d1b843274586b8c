package issuers_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/issuers"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/core/users"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

const audience = "https://api.bank.example"

// bank is a bank of the test's own, with a clock that the test sets, and a network of identity providers.
type bank struct {
	*core.Core
	*testing.T
	tenant   *tenants.Tenant
	operator context.Context // at the command line of this bank
	stranger context.Context // no caller
	now      atomic.Pointer[time.Time]

	mu      sync.Mutex
	network map[string]*provider // by address
	granted map[uuid.UUID][]access.Permission

	customers int64 // how many were made
}

func newBank(t *testing.T) *bank {
	t.Helper()
	pools, err := db.Open(dbtest.Shared(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	b := &bank{
		T: t, stranger: context.Background(), network: map[string]*provider{},
		granted: map[uuid.UUID][]access.Permission{},
	}
	b.turn(time.Now().Truncate(time.Second))
	b.Core = core.New(core.Options{
		DB: pools, Keys: seal.New(), PublicURL: "https://ours.example",
		Now: func() time.Time { return *b.now.Load() }, Fetch: b.fetch, Granted: b.grants,
	})
	b.tenant = b.add()
	b.operator = b.at(b.tenant)
	return b
}

func (b *bank) turn(to time.Time)      { b.now.Store(&to) }
func (b *bank) later(by time.Duration) { b.turn(b.now.Load().Add(by)) }

// add makes a bank whose first user is "admin".
func (b *bank) add() *tenants.Tenant {
	b.Helper()
	code := rand.Text()
	tenant, err := b.Tenants.Add(access.Operator(b.stranger, 0, "", nil), tenants.Draft{
		Code: code, Name: "Bank " + code, Zone: "America/New_York", Currency: "USD", Admin: "admin",
	})
	if err != nil {
		b.Fatal(err)
	}
	return tenant
}

func (b *bank) at(tenant *tenants.Tenant) context.Context {
	return access.Operator(b.stranger, tenant.ID, tenant.Code, tenant.Location())
}

// customer makes a customer of this owner.
func (b *bank) customer(owner int64) (uid int64) {
	b.Helper()
	b.customers++
	uid, name := 7_000_000+b.customers, rand.Text()
	b.exec(`INSERT INTO customers (tenant, uid, legal_name, short_name, type, status, owner)
		VALUES (?, ?, ?, ?, 'Corporate', 'Active', ?)`, b.tenant.ID, uid, name, name, owner)
	return uid
}

func (b *bank) user(login string, customer int64, permissions ...access.Permission) uuid.UUID {
	b.Helper()
	uid := uuid.New()
	b.exec(`INSERT INTO users (tenant, uid, customer, login_id, first_name, last_name, status)
		VALUES (?, ?, ?, ?, 'Jane', 'Doe', 'Active')`, b.tenant.ID, uid.String(), customer, login)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.granted[uid] = permissions
	return uid
}

var bounds = []access.ApplicationLimits{
	{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 100_00, Currency: "USD"}}},
}

// grants returns what the test granted its users, in place of package roles.
func (b *bank) grants(_ context.Context, tenant access.Tenant, user uuid.UUID) (users.Grant, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if tenant == 0 {
		return users.Grant{}, errors.New("asked without a tenant")
	}
	return users.Grant{Permissions: slices.Clone(b.granted[user]), Limits: bounds}, nil
}

func (b *bank) exec(statement string, values ...any) {
	b.Helper()
	b.execAt(b.tenant.ID, statement, values...)
}

// execAt writes in a transaction of another bank, as each may change only one bank's rows.
func (b *bank) execAt(tenant access.Tenant, statement string, values ...any) {
	b.Helper()
	err := b.DB.InTx(b.stranger, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bank) self() (uid int64) {
	b.Helper()
	if err := b.DB.NewRaw(`SELECT uid FROM customers WHERE tenant = ? AND relationship_type = 'Self'`,
		b.tenant.ID).Scan(b.stranger, &uid); err != nil {
		b.Fatal(err)
	}
	return uid
}

// accept makes this bank accept the provider's tokens, with changes to the draft.
func (b *bank) accept(p *provider, changes ...func(*issuers.Draft)) {
	b.Helper()
	draft := issuers.Draft{URL: p.url, Audience: audience}
	for _, change := range changes {
		change(&draft)
	}
	if _, err := b.Issuers.Add(b.operator, draft); err != nil {
		b.Fatal(err)
	}
}

func (b *bank) verify(token string) (access.Caller, error) {
	return b.Clients.Verify(b.stranger, token)
}

// refused fails the test unless the token is refused as unauthenticated.
func (b *bank) refused(what, token string) {
	b.Helper()
	_, err := b.verify(token)
	if refused, is := errors.AsType[access.TokenRefusal](err); !is ||
		refused.Of != access.ErrUnauthenticated {
		b.Errorf("%s: %v", what, err)
	}
}

// provider is an identity provider outside the bank. It signs with the last of its keys.
type provider struct {
	url  string
	keys []jose.JSONWebKey // private

	mu      sync.Mutex
	asked   []string                                         // the addresses that were fetched
	answers map[string]func(context.Context) ([]byte, error) // instead of its own, by address
}

// provider puts a new identity provider on the network.
func (b *bank) provider() *provider {
	b.Helper()
	p := &provider{
		url:     "https://" + strings.ToLower(rand.Text()) + ".example/realms/staff",
		answers: map[string]func(context.Context) ([]byte, error){},
	}
	p.newKey(b.T)
	b.network[p.url+"/.well-known/openid-configuration"], b.network[p.url+"/keys"] = p, p
	return p
}

// newKey adds a key, which signs from now on.
func (p *provider) newKey(t *testing.T) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p.keep(private, "ES256")
}

func (p *provider) keep(private crypto.Signer, algorithm string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.keys = append(p.keys, jose.JSONWebKey{Key: private, KeyID: rand.Text(), Algorithm: algorithm, Use: "sig"})
}

// down makes every answer this error; nil brings the provider back.
func (p *provider) down(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.answers)
	if err != nil {
		p.answers[p.url+"/.well-known/openid-configuration"] = func(context.Context) ([]byte, error) {
			return nil, err
		}
	}
}

func (p *provider) answer(address string, with func(context.Context) ([]byte, error)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[address] = with
}

func (p *provider) says(address, text string) {
	p.answer(address, func(context.Context) ([]byte, error) { return []byte(text), nil })
}

// fetches returns how often discovery or keys were fetched.
func (p *provider) fetches() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// fetch simulates the network.
func (b *bank) fetch(ctx context.Context, address string, inside bool) ([]byte, error) {
	p := b.network[address]
	if p == nil {
		return nil, fmt.Errorf("nothing stands at %s", address)
	}
	p.mu.Lock()
	p.asked = append(p.asked, fmt.Sprintf("%s inside=%t", address, inside))
	answer := p.answers[address]
	keys := slices.Clone(p.keys)
	p.mu.Unlock()
	if answer != nil {
		return answer(ctx)
	}
	if strings.HasSuffix(address, "/openid-configuration") {
		return json.Marshal(map[string]string{"issuer": p.url, "jwks_uri": p.url + "/keys"})
	}
	var set jose.JSONWebKeySet
	for _, key := range keys {
		set.Keys = append(set.Keys, key.Public())
	}
	return json.Marshal(set)
}

// claims returns those of a valid access token of admin, changed by name, value, name, value …; nil removes a
// claim.
func (b *bank) claims(p *provider, changes ...any) map[string]any {
	now := b.now.Load().Unix()
	made := maps.Clone(map[string]any{
		"iss": p.url, "aud": audience, "sub": "7f1c", "preferred_username": "admin", "azp": "portal",
		"jti": rand.Text(),
		"iat": now, "nbf": now, "exp": now + 300, "scope": "openid roles",
	})
	for i := 0; i < len(changes); i += 2 {
		made[changes[i].(string)] = changes[i+1]
		if changes[i+1] == nil {
			delete(made, changes[i].(string))
		}
	}
	return made
}

// token signs claims with the provider's newest key.
func (b *bank) token(p *provider, changes ...any) string {
	b.Helper()
	return b.signed(p.keys[len(p.keys)-1], "at+jwt", b.claims(p, changes...))
}

func (b *bank) signed(key jose.JSONWebKey, kind string, claims map[string]any) string {
	b.Helper()
	options := (&jose.SignerOptions{}).WithHeader("kid", key.KeyID)
	if kind != "" {
		options = options.WithType(jose.ContentType(kind))
	}
	signer, err := jose.NewSigner(jose.SigningKey{
		Algorithm: jose.SignatureAlgorithm(key.Algorithm),
		Key:       key.Key,
	}, options)
	if err != nil {
		b.Fatal(err)
	}
	text, err := json.Marshal(claims)
	if err != nil {
		b.Fatal(err)
	}
	made, err := signer.Sign(text)
	if err != nil {
		b.Fatal(err)
	}
	token, err := made.CompactSerialize()
	if err != nil {
		b.Fatal(err)
	}
	return token
}
