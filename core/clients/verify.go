package clients

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"bankgraph/core/access"
	"bankgraph/core/users"
	"bankgraph/db"
)

// ErrScope is returned for a valid token without Scope.
var ErrScope = access.ErrDenied

const (
	longestToken = 8 << 10 // bytes; ours are under two thousand
	skew         = time.Minute
)

// Verify returns the caller of an access token. It returns access.ErrUnauthenticated for every invalid token
// (forged, expired, of another realm or of a disabled key), and ErrScope for a valid one without the scope.
// Any other error means that the token could not be verified. Tokens of other issuers are verified by package
// issuers.
//
// The error of a refused token is an access.TokenRefusal, which says why for the log, and shows neither the
// token nor its signature.
//
// A verified token is remembered by its hash for ten seconds, or until its API key is changed by this
// process.
func (s *Service) Verify(ctx context.Context, token string) (access.Caller, error) {
	caller, _, err := s.verify(token, func(hash tokenHash, now time.Time) (verdict, error) {
		return s.check(ctx, hash, token, now)
	})
	return caller, err
}

// VerifyFor is Verify for streams, which have no deadline, and have to ask again after the time that it
// returns, when the token may have ended. Streams that ask for one token at a time share one answer, and so
// one connection to the database. Requests do not: each has its own deadline, and steps aside while it waits
// for an issuer, in which none may wait for another.
func (s *Service) VerifyFor(ctx context.Context, token string) (access.Caller, time.Duration, error) {
	return s.verify(token, func(hash tokenHash, now time.Time) (verdict, error) {
		said, err, _ := s.verified.checks.Do(string(hash[:]), func() (any, error) {
			reading, cancel := db.Reading(context.WithoutCancel(ctx)) // a stream that ends ends no other's check
			defer cancel()
			return s.check(reading, hash, token, now)
		})
		is, _ := said.(verdict)
		return is, err
	})
}

// verify returns the caller of a token, and for how long it counts, as it is remembered or as check says.
func (s *Service) verify(token string, check func(tokenHash, time.Time) (verdict, error)) (
	access.Caller, time.Duration, error,
) {
	if token == "" {
		return access.Caller{}, 0, access.ErrUnauthenticated
	}
	hash, now := sha256.Sum256([]byte(token)), s.now()
	is, known := s.verified.get(hash, now)
	if !known {
		var err error
		is, err = check(hash, now)
		if refused, is := errors.AsType[access.TokenRefusal](err); is {
			s.verified.tokens.Remove(hash)
			refused.Issuer = shortened(issuerOf(token))
			return access.Caller{}, 0, refused
		}
		if err != nil {
			return access.Caller{}, 0, unanswered(err)
		}
	}
	return is.caller, is.till.Sub(now), nil
}

// Remembered returns the caller of a token that was valid when it was last verified, however long ago. It
// grants nothing, and only tells whose share a request takes before Verify.
func (s *Service) Remembered(token string) (access.Caller, bool) {
	known, ok := s.verified.tokens.Get(sha256.Sum256([]byte(token)))
	return known.caller, ok
}

// check verifies a token, and remembers it.
func (s *Service) check(ctx context.Context, hash tokenHash, token string, now time.Time) (verdict, error) {
	caller, expires, err := s.checkAtIssuer(ctx, token, now)
	if err != nil {
		return verdict{}, err
	}
	return s.verified.put(hash, caller, now, expires), nil
}

// checkAtIssuer verifies a token as its issuer requires. Before the signature is verified, it reads only the
// issuer and the key id.
func (s *Service) checkAtIssuer(
	ctx context.Context, token string, now time.Time,
) (access.Caller, time.Time, error) {
	if len(token) > longestToken {
		return access.Caller{}, now, access.RefuseToken("it is longer than any access token")
	}
	issuer := issuerOf(token)
	if issuer == "" {
		return access.Caller{}, now, access.RefuseToken("it is no JWT, or names no issuer")
	}
	if !strict(token) {
		return access.Caller{}, now, access.RefuseToken("its parts are not spelt as base64url has them")
	}
	if !strings.HasPrefix(issuer, s.issuer("")) {
		return s.issuers.Verify(ctx, token, issuer)
	}
	return s.checkOurs(ctx, token, now)
}

// issuerOf returns the issuer that a token claims, unverified; empty if it cannot be read.
func issuerOf(token string) string {
	pieces := strings.Split(token, ".")
	if len(pieces) != 3 {
		return ""
	}
	text, err := base64.RawURLEncoding.DecodeString(pieces[1])
	if err != nil {
		return ""
	}
	var named struct {
		Issuer string `json:"iss"`
	}
	if json.Unmarshal(text, &named) != nil {
		return ""
	}
	return named.Issuer
}

// strict reports whether each part of a token is the one encoding of its bytes. Decoded loosely, the last
// character of a signature has sixteen spellings, and so would each token.
func strict(token string) bool {
	for part := range strings.SplitSeq(token, ".") {
		bytes, err := base64.RawURLEncoding.DecodeString(part)
		if err != nil || base64.RawURLEncoding.EncodeToString(bytes) != part {
			return false
		}
	}
	return true
}

// shortened returns an untrusted text in a form fit for the log.
func shortened(text string) string {
	const most = 200
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

func (s *Service) checkOurs(
	ctx context.Context, token string, now time.Time,
) (access.Caller, time.Time, error) {
	no := func(why string) (access.Caller, time.Time, error) {
		return access.Caller{}, now, access.RefuseToken(why)
	}
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil || len(parsed.Headers) != 1 || !plain(parsed.Headers[0]) {
		return no("it is not signed with ES256, or its header is not that of an access token of ours")
	}
	tenant, ok := tenantOf(parsed.Headers[0].KeyID)
	if !ok {
		return no("its key id is none of ours")
	}
	ring, err := s.ring(ctx, tenant)
	if err != nil {
		return access.Caller{}, now, err
	}
	key := ring.key(parsed.Headers[0].KeyID, now)
	if key == nil {
		return no("it is signed with a key that the bank does not have, or has no more")
	}
	var standard jwt.Claims
	var ours claims
	if err := parsed.Claims(key.jwk.Key, &standard, &ours); err != nil { // refuses duplicate claims
		return no("its signature is wrong, or its claims cannot be read")
	}
	if why := s.holds(standard, ours, ring.realm, now); why != "" {
		return no(why)
	}
	caller, until, err := s.caller(ctx, ring, ours, standard.Expiry.Time())
	if err == nil && !hasScope(ours.Scope) {
		err = access.TokenRefusal{Why: "its scope lacks " + Scope, Of: ErrScope}
	}
	return caller, until, err
}

// plain reports whether the header is that of an access token and contains no key and no address of one.
func plain(header jose.Header) bool {
	if header.ExtraHeaders[jose.HeaderType] != tokenType || header.JSONWebKey != nil {
		return false
	}
	for name := range header.ExtraHeaders {
		if name != jose.HeaderType {
			return false
		}
	}
	return true
}

// holds checks the token's times, and its claims against the realm of its key. It returns what is wrong;
// empty if nothing is.
func (s *Service) holds(standard jwt.Claims, ours claims, realm string, now time.Time) string {
	if standard.Expiry == nil || standard.NotBefore == nil || standard.IssuedAt == nil {
		return "it does not say from when to when it counts"
	}
	if !now.Before(standard.Expiry.Time()) {
		return "it has expired"
	}
	latest := now.Add(skew) // the clocks of servers differ a little
	if standard.NotBefore.Time().After(latest) || standard.IssuedAt.Time().After(latest) {
		return "it is of the future"
	}
	if standard.Issuer != s.issuer(realm) || ours.Tenant != realm {
		return "it names another realm than its key is of"
	}
	if !standard.Audience.Contains(Audience) || ours.Type != "Bearer" || ours.AuthorizedParty == "" ||
		standard.Subject != ours.AuthorizedParty {
		return "it is no access token of an API key"
	}
	return ""
}

// bearer is the API key that a token was issued to.
type bearer struct {
	Client `bun:",extend"`
	Served bool `bun:"served,scanonly"`
}

// until returns when a token ends: when it expires, or earlier if its generation ends before. Its error says
// why a token is not valid now.
func (b *bearer) until(ours claims, expires, now time.Time) (time.Time, error) {
	generation := max(ours.Generation, 1) // tokens without a generation are of the first
	switch {
	case b.DisabledAt != nil:
		return now, access.RefuseToken("its API key " + b.Key + " is disabled")
	case b.Entity != ours.LegalEntity:
		return now, access.RefuseToken("its API key " + b.Key + " is of another legal entity")
	case !b.Served:
		return now, access.RefuseToken("the customer that its API key " + b.Key + " belongs to is not active")
	case generation == b.Generation:
		return expires, nil
	case generation == b.Generation-1 && b.FormerUntil != nil && now.Before(*b.FormerUntil):
		if b.FormerUntil.Before(expires) {
			expires = *b.FormerUntil
		}
		return expires, nil
	}
	return now, access.RefuseToken("the tokens of its API key " + b.Key + " were ended after it was issued")
}

// caller checks that the API key is still enabled and served, and its user active. The caller has the
// permissions that the token, the key and the user all have.
func (s *Service) caller(
	ctx context.Context, of *ring, ours claims, expires time.Time,
) (access.Caller, time.Time, error) {
	none, client := access.Caller{}, new(bearer)
	err := s.db.NewSelect().Model(client).ColumnExpr("?TableColumns, "+served, of.tenant).
		Where("c.tenant = ?", of.tenant).Where("c.key = ?", ours.AuthorizedParty).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return none, expires, access.RefuseToken("the bank has no API key of its name")
	}
	if err != nil {
		return none, expires, fmt.Errorf("find the API key of a token: %w", err)
	}
	if expires, err = client.until(ours, expires, s.now()); err != nil {
		return none, expires, err
	}
	user, err := s.actor(ctx, &client.Client)
	if users.IsNoActor(err) {
		return none, expires,
			access.RefuseToken("its API key " + client.Key + " speaks for nobody now: " + err.Error())
	}
	if err != nil {
		return none, expires, err
	}
	return client.caller(of, ours, user), expires, nil
}

// caller makes the caller of a token of this key.
func (b *bearer) caller(of *ring, ours claims, user *users.Actor) access.Caller {
	client := &b.Client
	named := access.Caller{
		Tenant: of.tenant, TenantCode: of.realm, Zone: of.zone, Client: client.Key, ClientName: client.Name,
		Entity: ours.LegalEntity, Partner: ours.PartnerID, Reach: client.reach(),
	}
	if user != nil {
		named.User, named.LoginID, named.Partner, named.Reach, named.Limits, named.Holds = user.UID, user.LoginID,
			user.Partner, user.Reach, user.Limits, user.Holds
		named.Permissions = both(both(ours.Permissions, client.Permissions), user.Permissions)
		return named
	}
	if client.Responsible != nil {
		named.Responsible = *client.Responsible
	}
	named.Permissions = slices.DeleteFunc(ours.Permissions, func(named access.Permission) bool {
		return !slices.Contains(client.Permissions, named)
	})
	return named
}

// both returns the permissions that are in both lists, with those that they imply.
func both(one, other []access.Permission) []access.Permission {
	a, b := access.Caller{Permissions: one}, access.Caller{Permissions: other}
	common := []access.Permission{}
	for _, permission := range access.All {
		if a.May(permission) && b.May(permission) {
			common = append(common, permission)
		}
	}
	return common
}

// tokenHash is the SHA-256 hash of a token.
type tokenHash = [sha256.Size]byte

// verified caches valid tokens by their hash. To verify one costs 81 µs for ES256 and a read of the key's
// row.
type verified struct {
	tokens *lru.Cache[tokenHash, verdict]
	checks singleflight.Group // by the same hash
}

type verdict struct {
	caller      access.Caller
	since, till time.Time
}

const mostVerified = 20_000

func newVerified() *verified {
	tokens, err := lru.New[tokenHash, verdict](mostVerified)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &verified{tokens: tokens}
}

func (v *verified) get(hash tokenHash, now time.Time) (verdict, bool) {
	known, ok := v.tokens.Get(hash)
	return known, ok && now.Before(known.till) && !now.Before(known.since)
}

// put remembers a verdict, and returns it.
func (v *verified) put(hash tokenHash, caller access.Caller, now, expires time.Time) verdict {
	till := now.Add(remembered)
	if expires.Before(till) {
		till = expires
	}
	is := verdict{caller: caller, since: now, till: till}
	v.tokens.Add(hash, is)
	return is
}

// forget drops the tokens of an API key that has changed.
func (v *verified) forget(tenant access.Tenant, key string) {
	for _, hash := range v.tokens.Keys() {
		if known, ok := v.tokens.Peek(hash); ok && known.caller.Tenant == tenant &&
			known.caller.Client == key {
			v.tokens.Remove(hash)
		}
	}
}
