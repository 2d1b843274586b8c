package issuers

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"bankgraph/core/access"
	"bankgraph/core/users"
)

const skew = time.Minute // that an issuer's clock may differ

// said is what a token says that we look at, besides the registered claims and those that the issuer's row names.
type said struct {
	Type            *string `json:"typ"`
	AuthorizedParty string  `json:"azp"`
	Client          string  `json:"client_id"`
	Scope           scopes  `json:"scope"`
	ScopeList       scopes  `json:"scp"`
	all             map[string]json.RawMessage
}

// Verify returns the caller that an access token of this issuer speaks for, and until when. A token that is
// not good is access.ErrUnauthenticated, whatever is wrong with it; one without the scope is
// access.ErrDenied; ErrUnavailable when the issuer does not show its keys.
func (s *Service) Verify(ctx context.Context, token, issuer string) (access.Caller, time.Time, error) {
	trusting, err := s.trusting(ctx, issuer)
	if err != nil {
		return access.Caller{}, time.Time{}, err
	}
	if trusting == nil {
		return access.Caller{}, time.Time{}, access.ErrUnauthenticated
	}
	parsed, err := jwt.ParseSigned(token, asymmetric)
	if err != nil || len(parsed.Headers) != 1 || !isAccess(parsed.Headers[0]) {
		return access.Caller{}, time.Time{}, access.ErrUnauthenticated
	}
	keys, err := trusting.ring.find(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return access.Caller{}, time.Time{}, err
	}
	standard, ours, ok := open(parsed, keys)
	if !ok {
		return access.Caller{}, time.Time{}, access.ErrUnauthenticated
	}
	caller, err := s.caller(ctx, trusting, parsed.Headers[0].Algorithm, standard, ours)
	if why, is := errors.AsType[refusal](err); is {
		// The issuer did sign it, so whoever set it up here wants to know; the caller is told nothing.
		slog.InfoContext(ctx, "token of an issuer refused", "issuer", issuer, "why", string(why))
		err = access.ErrUnauthenticated
	}
	if err != nil {
		return access.Caller{}, time.Time{}, err
	}
	return caller, standard.Expiry.Time().Add(skew), nil
}

// isAccess tells whether the header can be of an access token, names its key, and brings neither a key nor an
// address of one along.
func isAccess(header jose.Header) bool {
	kind, _ := header.ExtraHeaders[jose.HeaderType].(string)
	kind = strings.TrimPrefix(strings.ToLower(kind), "application/")
	if kind != "at+jwt" && kind != "jwt" || header.KeyID == "" || header.JSONWebKey != nil {
		return false
	}
	if _, err := header.Certificates(x509.VerifyOptions{}); !errors.Is(err, jose.ErrMissingX5cHeader) {
		return false
	}
	for _, name := range []jose.HeaderKey{"jku", "x5u", "x5c", "crit", "b64", "cty", "zip"} {
		if _, there := header.ExtraHeaders[name]; there {
			return false
		}
	}
	return true
}

// open reads a token that one of the keys has signed. Claims that are there twice are refused.
func open(parsed *jwt.JSONWebToken, keys []jose.JSONWebKey) (standard jwt.Claims, ours said, ok bool) {
	for _, key := range keys {
		if key.Algorithm != "" && key.Algorithm != parsed.Headers[0].Algorithm {
			continue
		}
		if parsed.Claims(key.Key, &standard, &ours, &ours.all) == nil {
			return standard, ours, true
		}
	}
	return jwt.Claims{}, said{}, false
}

// refusal is why a token that its issuer did sign is not good. Only the log shows it.
type refusal string

func (r refusal) Error() string { return string(r) }

// caller is the user that a signed token is for: who that is, and what the user may do, the bank says and not the token.
func (s *Service) caller(ctx context.Context, trusting *trusted, algorithm string, standard jwt.Claims, ours said) (access.Caller, error) {
	if err := holds(standard, ours, s.now()); err != nil {
		return access.Caller{}, err
	}
	row, err := trusting.by(standard)
	if err != nil {
		return access.Caller{}, err
	}
	if standard.Issuer != row.URL || !slices.Contains(row.Algorithms, jose.SignatureAlgorithm(algorithm)) {
		return access.Caller{}, refusal("it is signed with " + algorithm)
	}
	login, err := ours.login(row.UserClaims)
	if err != nil {
		return access.Caller{}, err
	}
	user, err := s.users.ActorNamed(ctx, row.Tenant, login)
	if errors.Is(err, users.ErrNoActor) {
		return access.Caller{}, refusal("the bank has no active user with its login id")
	}
	if err != nil {
		return access.Caller{}, err
	}
	partner := user.Partner
	if row.PartnerClaim != "" {
		if partner, err = ours.number(row.PartnerClaim); err != nil {
			return access.Caller{}, err
		}
	}
	if row.EntityClaim != "" {
		if entity, err := ours.number(row.EntityClaim); err != nil || entity != user.Entity {
			return access.Caller{}, refusal("it is for another legal entity than the user's")
		}
	}
	if !slices.Contains(ours.Scope, Scope) && !slices.Contains(ours.ScopeList, Scope) {
		return access.Caller{}, access.ErrDenied
	}
	return access.Caller{
		Tenant: row.Tenant, TenantCode: row.Realm, Zone: row.location, Client: row.URL, ClientName: user.Name, User: user.UID, LoginID: user.LoginID,
		Entity: user.Entity, Partner: partner, Reach: user.Reach, Permissions: user.Permissions, Limits: user.Limits, Holds: user.Holds,
	}, nil
}

// holds compares what the token says with the time, and with what an access token for anybody who bears it can say.
func holds(standard jwt.Claims, ours said, now time.Time) error {
	if standard.Expiry == nil || standard.IssuedAt == nil {
		return refusal("it does not say from when to when it counts")
	}
	if !now.Before(standard.Expiry.Time().Add(skew)) {
		return refusal("it has expired")
	}
	if latest := now.Add(skew); standard.IssuedAt.Time().After(latest) || standard.NotBefore != nil && standard.NotBefore.Time().After(latest) {
		return refusal("it is of the future")
	}
	if ours.Type != nil && !strings.EqualFold(*ours.Type, "Bearer") {
		return refusal("its typ is another than Bearer") // some issuers mark id and refresh tokens so
	}
	// Of id tokens, logout tokens, and tokens that are bound to a key which the caller would have to prove.
	for _, name := range []string{"nonce", "at_hash", "c_hash", "s_hash", "events", "cnf"} {
		if _, there := ours.all[name]; there {
			return refusal("it has a claim of another kind of token: " + name)
		}
	}
	if len(standard.Audience) == 1 && (standard.Audience[0] == ours.AuthorizedParty || standard.Audience[0] == ours.Client) {
		return refusal("its one audience is the client that asked for it, as in an id token")
	}
	return nil
}

// login is the user's login id: the first of these claims that is there.
func (c said) login(names []string) (string, error) {
	for _, name := range names {
		raw, there := c.all[name]
		if !there || string(raw) == "null" {
			continue
		}
		var login string
		if json.Unmarshal(raw, &login) != nil || strings.TrimSpace(login) == "" || strings.ContainsRune(login, 0) || utf8.RuneCountInString(login) > longestName {
			return "", refusal("its " + name + " is no login id")
		}
		return login, nil
	}
	return "", refusal("it has none of the claims that name the user: " + strings.Join(names, ", "))
}

// number reads the number of a customer, as a number or text; 0 when the claim is not there.
func (c said) number(name string) (int64, error) {
	raw, there := c.all[name]
	if !there || string(raw) == "null" {
		return 0, nil
	}
	var digits string
	if json.Unmarshal(raw, &digits) != nil { // no text
		digits = string(raw)
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || number <= 0 {
		return 0, refusal("its " + name + " is no number of a customer")
	}
	return number, nil
}

// scopes are the words of a scope: one text with spaces between them (RFC 8693), or a list.
type scopes []string

// UnmarshalJSON reads either form; anything else is no scope at all.
func (w *scopes) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = strings.Fields(one)
		return nil
	}
	var list []string
	if json.Unmarshal(text, &list) == nil {
		*w = list
	}
	return nil
}
