package issuers

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"bankgraph/core/access"
	"bankgraph/core/ident"
	"bankgraph/core/users"
)

const skew = time.Minute // by which an issuer's clock may differ

// claims holds the claims that are checked, besides the registered ones and those that the issuer's row
// names.
type claims struct {
	Type            *string `json:"typ"`
	AuthorizedParty string  `json:"azp"`
	Client          string  `json:"client_id"`
	Scope           scopes  `json:"scope"`
	ScopeList       scopes  `json:"scp"`
	all             map[string]json.RawMessage
}

// Verify returns the caller of an access token of this issuer, and when the token ends. It returns an
// access.TokenRefusal for an invalid token, and ErrUnavailable if the issuer's keys cannot be read.
func (s *Service) Verify(ctx context.Context, token, issuer string) (access.Caller, time.Time, error) {
	none, never := access.Caller{}, time.Time{}
	trusting, err := s.trusting(ctx, issuer)
	if err != nil {
		return none, never, err
	}
	if trusting == nil {
		return none, never, access.RefuseToken("no bank accepts its issuer")
	}
	parsed, err := jwt.ParseSigned(token, asymmetric)
	if err != nil || len(parsed.Headers) != 1 {
		return none, never, access.RefuseToken("it is no JWT that is signed with a private key")
	}
	if why := oddHeader(parsed.Headers[0]); why != "" {
		return none, never, access.RefuseToken(why)
	}
	if !slices.ContainsFunc(trusting.rows, func(r *row) bool { return r.accepts(parsed.Headers[0]) }) {
		return none, never, unaccepted(parsed.Headers[0])
	}
	keys, err := trusting.ring.find(ctx, parsed.Headers[0].KeyID)
	if err != nil {
		return none, never, err
	}
	standard, ours, err := open(ctx, parsed, keys)
	if err != nil {
		return none, never, err
	}
	caller, err := s.caller(ctx, trusting, parsed.Headers[0], standard, ours)
	if err != nil {
		return none, never, err
	}
	return caller, standard.Expiry.Time().Add(skew), nil
}

// oddHeader says what is wrong with a header; empty if nothing is. It must name its key, and contain neither
// a key nor an address of one. Its type is checked by typed.
func oddHeader(header jose.Header) string {
	if header.KeyID == "" {
		return "its header names no key (kid)"
	}
	if _, err := header.Certificates(x509.VerifyOptions{}); header.JSONWebKey != nil ||
		!errors.Is(err, jose.ErrMissingX5cHeader) {
		return "its header brings a key along"
	}
	for _, name := range []jose.HeaderKey{"jku", "x5u", "x5c", "crit", "b64", "cty", "zip"} {
		if _, there := header.ExtraHeaders[name]; there {
			return "its header has " + string(name)
		}
	}
	return ""
}

// typed says what is wrong with the type in a header; empty if nothing is. Access tokens that look like id
// tokens may have none.
func (i *Issuer) typed(header jose.Header) string {
	kind, there := header.ExtraHeaders[jose.HeaderType]
	text, _ := kind.(string)
	text = strings.TrimPrefix(ident.Fold(text), "application/")
	switch {
	case text == "at+jwt" || text == "jwt" || !there && i.IDTokens:
		return ""
	case !there:
		return "its header has no typ; add the issuer with --id-tokens if that is how it makes access " +
			"tokens (Dex does)"
	}
	return "its header's typ is neither at+jwt nor JWT"
}

// accepts reports whether the bank accepts the algorithm of a header of this issuer.
func (i *Issuer) accepts(header jose.Header) bool {
	return slices.Contains(i.Algorithms, jose.SignatureAlgorithm(header.Algorithm))
}

func unaccepted(header jose.Header) error {
	return access.RefuseToken("it is signed with " + header.Algorithm +
		", which the bank does not accept of this issuer")
}

// open verifies the signature of a token by one of the keys, of which it tries the first few of the token's
// algorithm, and reads its claims. It refuses duplicate claims.
func open(
	ctx context.Context, parsed *jwt.JSONWebToken, keys []jose.JSONWebKey,
) (standard jwt.Claims, ours claims, err error) {
	if len(keys) == 0 {
		return standard, ours, access.RefuseToken("its issuer shows no key of its kid")
	}
	tried := 0
	for _, key := range keys {
		if key.Algorithm != "" && key.Algorithm != parsed.Headers[0].Algorithm {
			continue
		}
		if err := ctx.Err(); err != nil {
			return standard, ours, err
		}
		if tried++; tried > mostTried {
			break
		}
		if parsed.Claims(key.Key, &standard, &ours, &ours.all) == nil {
			return standard, ours, nil
		}
	}
	return jwt.Claims{}, claims{},
		access.RefuseToken("its signature is not that of the key it names, or its claims cannot be read")
}

// caller returns the caller of a token whose signature is valid. What the user may do comes from the bank,
// not from the token.
func (s *Service) caller(
	ctx context.Context, trusting *trusted, header jose.Header, standard jwt.Claims, ours claims,
) (access.Caller, error) {
	none := access.Caller{}
	row, err := trusting.by(standard)
	if err != nil {
		return none, err
	}
	if why := row.typed(header); why != "" {
		return none, access.RefuseToken(why)
	}
	if why := row.lives(standard, s.now()); why != "" {
		return none, access.RefuseToken(why)
	}
	if why := row.kind(standard, ours); why != "" {
		return none, access.RefuseToken(why)
	}
	if standard.Issuer != row.URL || !row.accepts(header) {
		return none, unaccepted(header)
	}
	user, err := s.user(ctx, row, ours)
	if err != nil {
		return none, err
	}
	partner := user.Partner
	if row.PartnerClaim != "" {
		if partner, err = ours.number(row.PartnerClaim); err != nil {
			return none, err
		}
	}
	if row.EntityClaim != "" {
		if entity, err := ours.number(row.EntityClaim); err != nil || entity != user.Entity {
			return none, access.RefuseToken("it is for another legal entity than the user's")
		}
	}
	if row.Scope != "" && !slices.Contains(ours.Scope, row.Scope) &&
		!slices.Contains(ours.ScopeList, row.Scope) {
		return none, access.TokenRefusal{
			Why: "its scope lacks " + row.Scope +
				"; --scope of \"issuer add\" names another or, where the audience is for this service alone, none",
			Of: access.ErrDenied,
		}
	}
	return access.Caller{
		Tenant: row.Tenant, TenantCode: row.Realm, Zone: row.location, Client: row.URL, ClientName: user.Name,
		User: user.UID, LoginID: user.LoginID, Entity: user.Entity, Partner: partner, Reach: user.Reach,
		Permissions: user.Permissions, Limits: user.Limits, Holds: user.Holds,
	}, nil
}

// user finds the user of a token: by the link of its subject or, if the issuer has no subject claim, by login
// id.
func (s *Service) user(ctx context.Context, row *row, ours claims) (*users.Actor, error) {
	if row.SubjectClaim == "" {
		login, err := ours.login(row.UserClaims)
		if err != nil {
			return nil, err
		}
		user, err := s.users.ActorNamed(ctx, row.Tenant, login)
		if users.IsNoActor(err) {
			err = access.RefuseToken("the login id " + strconv.Quote(login) + ": " + err.Error())
		}
		return user, err
	}
	subject, err := ours.subject(row.SubjectClaim)
	if err != nil {
		return nil, err
	}
	user, err := s.users.ActorLinked(ctx, row.Tenant,
		users.Subject{URL: row.URL, Audience: row.Audience, Claim: row.SubjectClaim, Subject: subject})
	if users.IsNoActor(err) {
		err = access.RefuseToken("its " + row.SubjectClaim + " " + strconv.QuoteToASCII(subject) +
			" is linked to no active user of an active customer; " +
			"staff link it once, with the mutation linkSubject or \"bankgraph user link LOGIN --issuer " + row.URL +
			" --subject …\"")
	}
	return user, err
}

// lives says what is wrong with the token's times; empty if nothing is.
func (i *Issuer) lives(standard jwt.Claims, now time.Time) string {
	if standard.Expiry == nil || standard.IssuedAt == nil {
		return "it does not say from when to when it counts (iat, exp)"
	}
	from, to := standard.IssuedAt.Time(), standard.Expiry.Time()
	latest := now.Add(skew)
	switch {
	case !now.Before(to.Add(skew)):
		return "it has expired"
	case from.After(latest) || standard.NotBefore != nil && standard.NotBefore.Time().After(latest):
		return "it is of the future"
	case to.Sub(from) > i.life():
		return "it lives for " + to.Sub(from).String() + ", longer than the bank accepts of this issuer: " +
			i.life().String() + " (--longest-life)"
	}
	return ""
}

// kind says why a token is not a bearer access token; empty if it is one.
func (i *Issuer) kind(standard jwt.Claims, ours claims) string {
	if ours.Type != nil && !ident.Same(*ours.Type, "Bearer") {
		return "its typ is another than Bearer" // as some issuers mark id and refresh tokens
	}
	// Claims of logout tokens, and of tokens bound to a key of which the caller would have to prove
	// possession.
	for _, name := range []string{"events", "cnf"} {
		if _, there := ours.all[name]; there {
			return "it has a claim of another kind of token: " + name
		}
	}
	if i.IDTokens {
		return ""
	}
	for _, name := range []string{"nonce", "at_hash", "c_hash", "s_hash"} {
		if _, there := ours.all[name]; there {
			return "it has a claim of id tokens: " + name +
				"; add the issuer with --id-tokens if its access tokens have it too (Dex's do)"
		}
	}
	if len(standard.Audience) == 1 &&
		(standard.Audience[0] == ours.AuthorizedParty || standard.Audience[0] == ours.Client) {
		return "its one audience is the client that asked for it, as in an id token"
	}
	return ""
}

// login returns the user's login id, from the first of these claims that the token has.
func (c claims) login(names []string) (string, error) {
	for _, name := range names {
		raw, there := c.all[name]
		if !there || string(raw) == "null" {
			continue
		}
		var login string
		if json.Unmarshal(raw, &login) != nil {
			return "", access.RefuseToken("its " + name + " is no login id: it is no text")
		}
		if _, ok := ident.Login(login); !ok {
			return "", access.RefuseToken("its " + name +
				" is no login id, which has 1 to 200 letters, digits and special characters of ASCII " +
				"without spaces")
		}
		return login, nil
	}
	return "", access.RefuseToken("it has none of the claims that name the user: " + strings.Join(names, ", "))
}

// subject returns the value of the issuer's subject claim, unchanged.
func (c claims) subject(name string) (subject string, err error) {
	if raw, there := c.all[name]; there {
		if json.Unmarshal(raw, &subject) != nil {
			return "", access.RefuseToken("its " + name + " is no text")
		}
	}
	if !users.ValidSubject(subject) {
		return "", access.RefuseToken("it has no " + name +
			" of 1 to 255 letters, digits and special characters of ASCII")
	}
	return subject, nil
}

// number reads a customer's number, from a JSON number or text; 0 if the token lacks the claim.
func (c claims) number(name string) (int64, error) {
	raw, there := c.all[name]
	if !there || string(raw) == "null" {
		return 0, nil
	}
	var digits string
	if json.Unmarshal(raw, &digits) != nil { // not text
		digits = string(raw)
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || number <= 0 {
		return 0, access.RefuseToken("its " + name + " is no number of a customer")
	}
	return number, nil
}

// scopes holds the words of a scope, which is one text with spaces (RFC 8693) or a list.
type scopes []string

// UnmarshalJSON reads either form; anything else gives no scope.
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
