package clients

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
)

const (
	// remembered is how long this process caches keys and clients.
	remembered = 10 * time.Second

	// announced is how long a new signing key is published before it signs: longer than JWKSAge plus
	// remembered, so that everybody who verifies tokens has it by then.
	announced = 10 * time.Minute

	// JWKSAge is how long others may cache the published keys.
	JWKSAge = 5 * time.Minute
)

// signingKey is a row of signing_keys.
type signingKey struct {
	bun.BaseModel `bun:"table:signing_keys,alias:k"`

	Tenant    access.Tenant   `bun:"tenant,pk"`
	KID       string          `bun:"kid,pk"`
	Public    json.RawMessage `bun:"public,type:jsonb"`
	Private   []byte          `bun:"private,type:bytea"`
	CreatedAt time.Time       `bun:"created_at"`
	SignsFrom time.Time       `bun:"signs_from"`
	RetiresAt *time.Time      `bun:"retires_at"`

	jwk jose.JSONWebKey
}

// published reports whether the key verifies tokens, which it does until the last token that it may have
// signed has expired. A process that has cached it may sign for ten seconds after its retirement.
func (k *signingKey) published(now time.Time) bool {
	return k.RetiresAt == nil || now.Before(k.RetiresAt.Add(AccessLifetime+remembered))
}

func (k *signingKey) signs(now time.Time) bool {
	return !now.Before(k.SignsFrom) && (k.RetiresAt == nil || now.Before(*k.RetiresAt))
}

// ring is this process's cache of one bank's signing keys.
type ring struct {
	tenant access.Tenant
	realm  string // "" for a bank that does not exist
	zone   *time.Location
	read   time.Time
	keys   []*signingKey
	signer func() (jose.Signer, error) // opens the key that signs, once; nil if there is none
}

// rings is the cache of all banks. It is bounded, because forged tokens may name any number.
type rings struct {
	mu sync.Mutex
	of map[access.Tenant]*ring
}

const mostRings = 1000

func newRings() *rings { return &rings{of: map[access.Tenant]*ring{}} }

func (r *rings) get(tenant access.Tenant, now time.Time) *ring {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := r.of[tenant]
	if known == nil || now.Sub(known.read) >= remembered || now.Before(known.read) {
		return nil
	}
	return known
}

func (r *rings) put(known *ring) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.of) >= mostRings {
		clear(r.of)
	}
	r.of[known.tenant] = known
}

func (r *rings) forget(tenant access.Tenant) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, tenant)
}

// ring returns the bank's keys, at most ten seconds old.
func (s *Service) ring(ctx context.Context, tenant access.Tenant) (*ring, error) {
	if known := s.rings.get(tenant, s.now()); known != nil {
		return known, nil
	}
	fresh := &ring{tenant: tenant, read: s.now()}
	var zone string
	err := s.db.NewRaw(`SELECT code, zone FROM tenants WHERE id = ?`, tenant).Scan(ctx, &fresh.realm, &zone)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, fmt.Errorf("read the realm of tenant %d: %w", tenant, err)
	}
	if fresh.zone, err = time.LoadLocation(zone); err != nil {
		return nil, fmt.Errorf("read the zone of tenant %d: %w", tenant, err)
	}
	var all []*signingKey
	err = s.db.NewSelect().Model(&all).Where("k.tenant = ?", tenant).Order("k.signs_from").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the signing keys of tenant %d: %w", tenant, err)
	}
	for _, key := range all {
		if !key.published(fresh.read) {
			continue
		}
		if err := key.jwk.UnmarshalJSON(key.Public); err != nil {
			return nil, fmt.Errorf("read signing key %s: %w", key.KID, err)
		}
		fresh.keys = append(fresh.keys, key)
		if key.signs(fresh.read) {
			fresh.signer = sync.OnceValues(func() (jose.Signer, error) { return s.signer(key, tokenType) })
		}
	}
	s.rings.put(fresh)
	return fresh, nil
}

// key finds a published key by its id among the bank's own keys, never in the token.
func (r *ring) key(kid string, now time.Time) *signingKey {
	for _, key := range r.keys {
		if key.KID == kid && key.published(now) {
			return key
		}
	}
	return nil
}

// signing returns the bank's keys, one of which signs; it creates the first one if necessary.
func (s *Service) signing(ctx context.Context, tenant access.Tenant) (*ring, error) {
	known, err := s.ring(ctx, tenant)
	if err != nil || known.signer != nil {
		return known, err
	}
	err = s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := lockTenantTx(ctx, tx, tenant); err != nil {
			return err
		}
		now := s.now()
		signs, err := tx.NewSelect().Model((*signingKey)(nil)).Where("k.tenant = ?", tenant).
			Where("k.signs_from <= ?", now).Where("k.retires_at IS NULL OR k.retires_at > ?", now).Exists(ctx)
		if err != nil || signs {
			return err
		}
		return s.addKeyTx(ctx, tx, tenant, now)
	})
	if err != nil {
		return nil, fmt.Errorf("make the first signing key of tenant %d: %w", tenant, err)
	}
	s.rings.forget(tenant)
	if known, err = s.ring(ctx, tenant); err == nil && known.signer == nil {
		err = fmt.Errorf("tenant %d has no key that signs", tenant)
	}
	return known, err
}

// RotateSigningKey creates a new signing key, which is published now and signs ten minutes later, when
// everybody who verifies tokens has it. The old key signs until then, and stays published until its tokens
// have expired. It returns the new key's id and the time from which it signs.
func (s *Service) RotateSigningKey(ctx context.Context) (kid string, signsFrom time.Time, err error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return "", time.Time{}, err
	}
	if _, err := s.signing(ctx, caller.Tenant); err != nil { // so that a key signs meanwhile
		return "", time.Time{}, err
	}
	signsFrom = s.now().Add(announced)
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := lockTenantTx(ctx, tx, caller.Tenant); err != nil {
			return err
		}
		// The public half of an old key stays, as it verifies checkpoints of the audit chain.
		_, err := tx.ExecContext(ctx,
			`UPDATE signing_keys SET private = '' WHERE tenant = ? AND retires_at < ? AND private <> ''`,
			caller.Tenant, s.now().Add(-AccessLifetime-remembered))
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			`UPDATE signing_keys SET retires_at = ? WHERE tenant = ? AND retires_at IS NULL`, signsFrom, caller.Tenant)
		if err != nil {
			return err
		}
		if err := s.addKeyTx(ctx, tx, caller.Tenant, signsFrom); err != nil {
			return err
		}
		err = tx.NewSelect().Model((*signingKey)(nil)).Column("kid").Where("k.tenant = ?", caller.Tenant).
			Where("k.retires_at IS NULL").Scan(ctx, &kid)
		if err != nil {
			return err
		}
		return recordTx(ctx, tx, caller, "rotateSigningKey", "signingKey", kid, nil)
	})
	if err != nil {
		return "", time.Time{}, fmt.Errorf("rotate the signing key: %w", err)
	}
	s.rings.forget(caller.Tenant)
	return kid, signsFrom, nil
}

// lockTenantTx lets one process at a time change a bank's signing keys.
func lockTenantTx(ctx context.Context, tx bun.Tx, tenant access.Tenant) error {
	_, err := tx.ExecContext(ctx, `SELECT FROM tenants WHERE id = ? FOR NO KEY UPDATE`, tenant)
	return err
}

func (s *Service) addKeyTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, signsFrom time.Time) error {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return err
	}
	key := signingKey{Tenant: tenant, KID: newKID(tenant), CreatedAt: s.now(), SignsFrom: signsFrom}
	public := jose.JSONWebKey{Key: &private.PublicKey, KeyID: key.KID, Algorithm: string(jose.ES256), Use: "sig"}
	if key.Public, err = public.MarshalJSON(); err != nil {
		return err
	}
	key.Private = s.keys.Encrypt(base64.StdEncoding.EncodeToString(der), privatePlace(&key))
	_, err = tx.NewInsert().Model(&key).Exec(ctx)
	return err
}

// signer opens the private half of a key, to sign texts of one JWS type.
func (s *Service) signer(key *signingKey, as jose.ContentType) (jose.Signer, error) {
	clear, err := s.keys.Open(seal.Value{Sealed: key.Private}, privatePlace(key))
	if err != nil {
		return nil, fmt.Errorf("open signing key %s: %w", key.KID, err)
	}
	der, err := base64.StdEncoding.DecodeString(clear)
	if err != nil {
		return nil, fmt.Errorf("open signing key %s: %w", key.KID, err)
	}
	private, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("open signing key %s: %w", key.KID, err)
	}
	return jose.NewSigner(jose.SigningKey{
		Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: key.KID},
	},
		(&jose.SignerOptions{}).WithType(as))
}

func privatePlace(key *signingKey) seal.Place { return PrivatePlace(key.Tenant, key.KID) }

// PrivatePlace returns the place for which the private half of a signing key is sealed.
func PrivatePlace(tenant access.Tenant, kid string) seal.Place {
	return seal.Place{Tenant: int64(tenant), Column: "signing_keys.private/" + kid}
}

// A key's id begins with its bank's number, as in "7.q83vEjRWeJA", so that the bank is known before anything
// in the token is trusted.
func newKID(tenant access.Tenant) string {
	bits := make([]byte, 8)
	_, _ = rand.Read(bits)
	return strconv.FormatInt(int64(tenant), 10) + "." + base64.RawURLEncoding.EncodeToString(bits)
}

func tenantOf(kid string) (access.Tenant, bool) {
	number, _, ok := strings.Cut(kid, ".")
	tenant, err := strconv.ParseInt(number, 10, 64)
	return access.Tenant(tenant), ok && err == nil && tenant > 0
}

// PublicKeys returns the keys that verify a realm's tokens. It returns ErrWrongRealm if there is no such
// realm.
func (s *Service) PublicKeys(ctx context.Context, realm string) (jose.JSONWebKeySet, error) {
	tenant, err := s.realm(ctx, realm)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	known, err := s.signing(ctx, tenant)
	if err != nil {
		return jose.JSONWebKeySet{}, err
	}
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range known.keys {
		if key.published(s.now()) {
			set.Keys = append(set.Keys, key.jwk)
		}
	}
	return set, nil
}

// Issuer returns the name of a realm's issuer, which is also its address. It returns ErrWrongRealm if there
// is no such realm.
func (s *Service) Issuer(ctx context.Context, realm string) (string, error) {
	if _, err := s.realm(ctx, realm); err != nil {
		return "", err
	}
	return s.issuer(realm), nil
}

func (s *Service) issuer(realm string) string { return s.public + "/auth/realms/" + realm }

func (s *Service) realm(ctx context.Context, code string) (tenant access.Tenant, err error) {
	if !tenants.ValidCode(code) {
		return 0, ErrWrongRealm
	}
	err = s.db.NewRaw(`SELECT id FROM tenants WHERE code = ?`, code).Scan(ctx, &tenant)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrWrongRealm
	}
	if err != nil {
		return 0, unanswered(fmt.Errorf("find realm: %w", err))
	}
	return tenant, nil
}
