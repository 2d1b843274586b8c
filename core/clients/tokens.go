package clients

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/issuers"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/core/users"
	"bankgraph/db"
)

// Tokens are the answer to a token request (rest/CONTRACT.md, tokens).
type Tokens struct {
	AccessToken      string `json:"access_token"`
	ExpiresIn        int    `json:"expires_in"`         // seconds
	RefreshExpiresIn int    `json:"refresh_expires_in"` // seconds
	RefreshToken     string `json:"refresh_token"`
	TokenType        string `json:"token_type"`
}

// Scope is the only scope of the interface. A token without it may do nothing.
const Scope = issuers.Scope

// Audience is the audience of our access tokens.
const Audience = "bankgraph"

// tokenType is the JWS type of access tokens (RFC 9068), so that nothing else that is signed can be used as
// one.
const tokenType = "at+jwt"

// claims holds the claims of an access token besides the registered ones.
type claims struct {
	AuthorizedParty string              `json:"azp"`
	Type            string              `json:"typ"`
	Scope           string              `json:"scope"`
	Tenant          string              `json:"tenant"`       // the realm
	LegalEntity     int64               `json:"legal_entity"` // the customer that the key belongs to
	PartnerID       int64               `json:"partner_id"`
	Permissions     []access.Permission `json:"permissions"`
	// the key's generation of tokens, which is raised to end them
	Generation int32 `json:"gen,omitempty"`
}

// Issue exchanges an API key and its secret for tokens (grant client_credentials). It returns ErrClient if
// the realm, the key or the secret is wrong, without telling which.
func (s *Service) Issue(ctx context.Context, realm, key, secret string) (*Tokens, error) {
	client, err := s.authenticate(ctx, realm, key, secret)
	if err != nil {
		return nil, err
	}
	return s.grant(ctx, client, func(context.Context, bun.Tx) (uuid.UUID, error) { return uuid.New(), nil })
}

// Refresh exchanges a refresh token for new tokens. Each can be used once. A second use means that somebody
// else has it, so it ends all refresh tokens of the same family and returns ErrGrant.
func (s *Service) Refresh(ctx context.Context, realm, key, secret, refresh string) (*Tokens, error) {
	client, err := s.authenticate(ctx, realm, key, secret)
	if err != nil {
		return nil, err
	}
	stolen := false
	tokens, err := s.grant(ctx, client, func(ctx context.Context, tx bun.Tx) (uuid.UUID, error) {
		family, used, err := s.useTx(ctx, tx, client, refresh)
		stolen = used // set again by each run
		return family, err
	})
	if err == nil && stolen {
		return nil, ErrGrant
	}
	return tokens, err
}

// IssueUnasked issues tokens for an API key without its secret, for operators at the command line.
func (s *Service) IssueUnasked(ctx context.Context, key string) (*Tokens, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	client, err := s.find(ctx, caller.Tenant, key)
	if err != nil {
		return nil, err
	}
	return s.grant(ctx, client, func(ctx context.Context, tx bun.Tx) (uuid.UUID, error) {
		return uuid.New(), recordTx(ctx, tx, caller, "issueToken", "client", key, nil)
	})
}

// credential is an API key with what is needed to authenticate it.
type credential struct {
	Client `bun:",extend"`
	Secret []byte `bun:"secret,type:bytea"`
	Former []byte `bun:"former,type:bytea"`
	Realm  string `bun:"realm,scanonly"`
	Served bool   `bun:"served,scanonly"`

	user *users.Actor // for whom the key acts; nil for a program
}

// speaking makes the query for a credential. It names the columns, because an older program may run on newer
// tables for a while.
func (s *Service) speaking(tenant access.Tenant, key string, found *credential) *bun.SelectQuery {
	return s.db.NewSelect().Model(found).ColumnExpr("?TableColumns, t.code AS realm, "+served, tenant).
		Join("JOIN tenants AS t ON t.id = c.tenant").Where("c.tenant = ?", tenant).Where("c.key = ?", key)
}

// served is the SQL condition that the bank serves the legal entity of a key: itself or an active customer.
const served = `EXISTS (SELECT FROM customers AS e WHERE e.tenant = ? AND e.uid = c.entity
	AND (e.status = 'Active' OR e.relationship_type = 'Self')) AS served`

// actor returns the user for whom a key acts; nil for a program. It returns users.ErrNoActor if the user is
// not active or has moved to another customer.
func (s *Service) actor(ctx context.Context, client *Client) (*users.Actor, error) {
	if client.User == nil {
		return nil, nil
	}
	user, err := s.users.Actor(ctx, client.Tenant, *client.User)
	if err == nil && user.Entity != client.Entity {
		return nil, users.ErrNoActor
	}
	return user, err
}

// Able returns the permissions that a token of this API key would have now: none if the key is disabled, its
// customer is not active, or its user cannot act.
func (s *Service) Able(ctx context.Context, key string) ([]access.Permission, error) {
	caller, err := access.Require(ctx, access.ManageClients)
	if err != nil {
		return nil, err
	}
	found := new(bearer)
	err = s.db.NewSelect().Model(found).ColumnExpr("?TableColumns, "+served, caller.Tenant).
		Where("c.tenant = ?", caller.Tenant).Where("c.key = ?", key).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("read API key %s: %w", key, err)
	case found.DisabledAt != nil || !found.Served:
		return nil, nil
	}
	user, err := s.actor(ctx, &found.Client)
	switch {
	case users.IsNoActor(err):
		return nil, nil
	case err != nil || user == nil:
		return found.Permissions, err
	}
	return both(found.Permissions, user.Permissions), nil
}

// authenticate finds the API key and checks its secret, or returns ErrClient. It takes the same steps whether
// the key exists or not.
func (s *Service) authenticate(ctx context.Context, realm, key, secret string) (*credential, error) {
	ctx, cancel := db.Reading(ctx)
	defer cancel()
	if !tenants.ValidCode(realm) || !keys.MatchString(key) {
		return nil, ErrClient
	}
	tenant, err := s.realm(ctx, realm)
	if err != nil && !errors.Is(err, ErrWrongRealm) { // for an unknown realm the query finds no key
		return nil, err
	}
	found := new(credential)
	err = s.speaking(tenant, key, found).Scan(ctx)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, unanswered(fmt.Errorf("find API key: %w", err))
	}
	hash := s.secretHash(found.Tenant, found.Key, secret)
	known := seal.SameSecret(hash, found.Secret)
	former := seal.SameSecret(hash, found.Former) && found.FormerUntil != nil &&
		s.now().Before(*found.FormerUntil)
	if !known && !former {
		return nil, ErrClient
	}
	if !known {
		found.Generation-- // tokens of the former secret end with it
	}
	err = s.usable(ctx, found)
	if why, is := fault.Of(err); is {
		slog.InfoContext(ctx, "API key refused", "client", key, "realm", realm, "why", why.Message)
		return nil, ErrClient
	}
	return found, unanswered(err)
}

func (s *Service) find(ctx context.Context, tenant access.Tenant, key string) (*credential, error) {
	found := new(credential)
	err := s.speaking(tenant, key, found).Scan(ctx)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, ErrNotFound
	case err != nil:
		return nil, fmt.Errorf("find API key: %w", err)
	}
	return found, s.usable(ctx, found)
}

// usable reads the user for whom a key acts. Its faults say why the key gets no tokens.
func (s *Service) usable(ctx context.Context, found *credential) (err error) {
	if found.DisabledAt != nil {
		return ErrDisabled
	}
	if !found.Served {
		return ErrUnserved
	}
	found.user, err = s.actor(ctx, &found.Client)
	return err
}

// grant signs an access token and stores a refresh token of the family that begin returns. If begin returns
// uuid.Nil, its writes are committed and nothing is granted.
func (s *Service) grant(
	ctx context.Context, client *credential, begin func(context.Context, bun.Tx) (uuid.UUID, error),
) (*Tokens, error) {
	now := s.now()
	signed, err := s.sign(ctx, client, now)
	if err != nil {
		return nil, err
	}
	refresh := newSecret()
	err = s.db.InTx(ctx, int64(client.Tenant), func(ctx context.Context, tx bun.Tx) error {
		family, err := begin(ctx, tx)
		if err != nil || family == uuid.Nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			`INSERT INTO refresh_tokens (tenant, token, client, family, issued_at, expires_at)
				VALUES (?, ?, ?, ?, ?, ?)`,
			client.Tenant, s.refreshHash(client.Tenant, refresh), client.Key, family.String(), now,
			now.Add(RefreshLifetime))
		if err != nil {
			return err
		}
		return s.sweepTx(ctx, tx, client.Tenant)
	})
	if err != nil {
		return nil, unanswered(fmt.Errorf("issue tokens for API key %s: %w", client.Key, err))
	}
	return &Tokens{
		AccessToken: signed, ExpiresIn: int(AccessLifetime.Seconds()),
		RefreshToken: refresh, RefreshExpiresIn: int(RefreshLifetime.Seconds()),
		TokenType: "bearer",
	}, nil
}

func (s *Service) sign(ctx context.Context, client *credential, now time.Time) (string, error) {
	ring, err := s.signing(ctx, client.Tenant)
	if err != nil {
		return "", err
	}
	signer, err := ring.signer()
	if err != nil {
		return "", err
	}
	standard := jwt.Claims{
		Issuer: s.issuer(client.Realm), Subject: client.Key, Audience: jwt.Audience{Audience},
		ID: uuid.NewString(), IssuedAt: jwt.NewNumericDate(now), NotBefore: jwt.NewNumericDate(now),
		Expiry: jwt.NewNumericDate(now.Add(AccessLifetime)),
	}
	ours := claims{
		AuthorizedParty: client.Key, Type: "Bearer", Scope: Scope, Tenant: client.Realm,
		LegalEntity: client.Entity, PartnerID: client.Entity, Permissions: client.Permissions,
		Generation: client.Generation,
	}
	if user := client.user; user != nil {
		ours.PartnerID, ours.Permissions = user.Partner, both(client.Permissions, user.Permissions)
	}
	return jwt.Signed(signer).Claims(standard).Claims(ours).Serialize()
}

// useTx marks a refresh token as used and returns its family. If the token was used before, it deletes the
// family and returns reused, and the caller must commit.
func (s *Service) useTx(
	ctx context.Context, tx bun.Tx, client *credential, refresh string,
) (family uuid.UUID, reused bool, err error) {
	var text string
	var expires time.Time
	hash := s.refreshHash(client.Tenant, refresh)
	err = tx.NewRaw(`SELECT family::text, expires_at, used_at IS NOT NULL FROM refresh_tokens
		WHERE tenant = ? AND token = ? AND client = ? FOR UPDATE`, client.Tenant, hash, client.Key).Scan(ctx, &text,
		&expires, &reused)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return uuid.Nil, false, ErrGrant
	case err != nil:
		return uuid.Nil, false, err
	case reused:
		_, err = tx.ExecContext(ctx, `DELETE FROM refresh_tokens WHERE tenant = ? AND family = ?`, client.Tenant,
			text)
		return uuid.Nil, true, err
	case !s.now().Before(expires):
		return uuid.Nil, false, ErrGrant
	}
	if family, err = uuid.Parse(text); err != nil {
		return uuid.Nil, false, err
	}
	_, err = tx.ExecContext(ctx, `UPDATE refresh_tokens SET used_at = ? WHERE tenant = ? AND token = ?`, s.now(),
		client.Tenant, hash)
	return family, false, err
}

// sweepTx removes some expired refresh tokens, more than one for each that is added, so that the table stays
// small. An expired token is refused whether or not its row exists.
func (s *Service) sweepTx(ctx context.Context, tx bun.Tx, tenant access.Tenant) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM refresh_tokens WHERE tenant = ? AND token IN (
		SELECT token FROM refresh_tokens WHERE tenant = ? AND expires_at < ? ORDER BY expires_at
		LIMIT 20 FOR UPDATE SKIP LOCKED)`, tenant, tenant, s.now())
	return err
}

func (s *Service) refreshHash(tenant access.Tenant, token string) []byte {
	return s.keys.Secret(fmt.Sprintf("refresh/%d", tenant), token)
}

// unanswered adds ErrUnavailable to errors of a database that cannot answer now.
func unanswered(err error) error {
	if db.IsUnavailable(err) || db.IsTimeout(err) {
		return errors.Join(ErrUnavailable, err)
	}
	return err
}

// hasScope reports whether a scope, words separated by spaces, contains Scope.
func hasScope(text string) bool {
	for word := range strings.FieldsSeq(text) {
		if word == Scope {
			return true
		}
	}
	return false
}
