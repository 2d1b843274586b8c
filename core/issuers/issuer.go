// Package issuers keeps the identity providers that a bank trusts, and verifies the access tokens that they
// issue to the bank's users.
package issuers

import (
	"cmp"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/fault"
)

// Issuer is an identity provider whose access tokens a bank accepts, for one audience.
type Issuer struct {
	bun.BaseModel `bun:"table:issuers,alias:i" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	// the iss of its tokens; its discovery document is below this address
	URL string `bun:"url,pk" json:"url"`
	// what the aud of its tokens must contain
	Audience string `bun:"audience,pk" json:"audience"`
	// claims with the user's login id; the first that a token has counts
	UserClaims []string `bun:"user_claims,array" json:"userClaims"`
	// the claim with the partner id; "": the owner of the user's customer
	PartnerClaim string `bun:"partner_claim" json:"partnerClaim"`
	// the claim that must name the user's customer; "": not checked
	EntityClaim string `bun:"entity_claim" json:"legalEntityClaim"`
	// the claim whose value is linked to a user; "": users are found by login id
	SubjectClaim string `bun:"subject_claim" json:"subjectClaim"`
	// what the scope of its tokens must contain; "": nothing
	Scope string `bun:"scope" json:"scope"`
	// its access tokens look like id tokens
	IDTokens    bool  `bun:"id_tokens" json:"idTokens"`
	LongestLife int64 `bun:"longest_life" json:"longestLife"` // seconds from iat to exp
	// with which its tokens may be signed
	Algorithms []jose.SignatureAlgorithm `bun:"algorithms,array" json:"algorithms"`
	CreatedAt  time.Time                 `bun:"created_at" json:"createdAt"`
	DisabledAt *time.Time                `bun:"disabled_at" json:"disabledAt"`
}

// Draft is an issuer that is to be added.
type Draft struct {
	URL          string   // https, or http on loopback; exactly the iss of its tokens
	Audience     string   // required, as tokens for other services must not be accepted
	UserClaims   []string // if empty, the default UserClaims
	PartnerClaim string
	EntityClaim  string
	SubjectClaim string        // such as sub or oid; if empty, users are found by login id
	Scope        *string       // nil: the default Scope; empty: none is required
	IDTokens     bool          // its access tokens have no typ and the claims of id tokens, as those of Dex
	LongestLife  time.Duration // 0: the default LongestLife
	Algorithms   []string      // if empty, the default Algorithms
}

// LongestLife is the default longest lifetime of a token.
const LongestLife = 24 * time.Hour

// The bounds of a longest lifetime.
const (
	shortestLife = time.Minute
	mostLife     = 30 * 24 * time.Hour
)

// UserClaims lists the default claims with the user's login id.
var UserClaims = []string{"preferred_username", "sub"}

// Algorithms lists the default algorithms of signatures.
var Algorithms = []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.PS256, jose.EdDSA}

// asymmetric lists the algorithms that an issuer can have: with a symmetric one, whoever verifies tokens
// could forge them.
var asymmetric = []jose.SignatureAlgorithm{
	jose.ES256, jose.ES384, jose.ES512, jose.RS256, jose.RS384, jose.RS512, jose.PS256,
	jose.PS384, jose.PS512, jose.EdDSA,
}

// Scope is the only scope of the interface. A token without it may do nothing, unless its issuer is
// configured for another scope or for none.
const Scope = "roles"

var (
	ErrNotFound = fault.New(fault.NotFound, "issuer.not_found", "the bank has no such issuer")
	ErrExists   = fault.New(fault.Conflict, "issuer.exists",
		"the bank accepts this issuer with this audience already")
	ErrTaken = fault.New(fault.Conflict, "issuer.taken",
		"another bank accepts this issuer with this audience: its tokens would not say which bank "+
			"they are for")
	ErrDisabled = fault.New(fault.State, "issuer.disabled", "the issuer is disabled")

	// ErrUnavailable is returned for tokens of an issuer whose keys cannot be read now.
	ErrUnavailable = fault.New(fault.Unavailable, "issuer.unavailable",
		"the issuer of this token does not show its keys now, try again later")
)

const (
	longestURL  = 500
	longestName = 200 // of an audience or a claim
	mostClaims  = 10
)

// check validates a new issuer, and returns a fault for every wrong field.
func (d Draft) check() (Issuer, error) {
	var wrong fault.Faults
	refuse := func(field string, problem fault.Problem, message string) {
		wrong = append(wrong, fault.Field("issuer", field, problem, message))
	}
	made := Issuer{
		URL: d.URL, Audience: d.Audience, UserClaims: d.UserClaims, PartnerClaim: d.PartnerClaim,
		EntityClaim: d.EntityClaim, SubjectClaim: d.SubjectClaim, Scope: Scope, IDTokens: d.IDTokens,
		LongestLife: int64(cmp.Or(d.LongestLife, LongestLife) / time.Second),
	}
	if d.Scope != nil {
		made.Scope = *d.Scope
	}
	if _, err := parseURL(d.URL); err != nil || len(d.URL) > longestURL {
		wrong = append(wrong, errURL)
	}
	if !plain(d.Audience) {
		refuse("audience", fault.Required,
			"what the issuer's tokens for this service name as their audience, at most 200 characters")
	}
	if len(made.UserClaims) == 0 {
		made.UserClaims = UserClaims
	}
	if len(made.UserClaims) > mostClaims ||
		slices.ContainsFunc(made.UserClaims, func(name string) bool { return !plain(name) }) {
		refuse("userClaims", fault.Malformed, "up to 10 names of claims")
	}
	for _, word := range []struct{ field, name string }{
		{"partnerClaim", d.PartnerClaim},
		{"legalEntityClaim", d.EntityClaim},
		{"subjectClaim", d.SubjectClaim},
		{"scope", made.Scope},
	} {
		if word.name != "" && !plain(word.name) {
			refuse(word.field, fault.Malformed, "one word of at most 200 characters")
		}
	}
	if life := made.life(); life < shortestLife || life > mostLife {
		refuse("longestLife", fault.Malformed, "between a minute and 30 days")
	}
	for _, name := range d.Algorithms {
		algorithm := jose.SignatureAlgorithm(name)
		if !slices.Contains(asymmetric, algorithm) {
			refuse("algorithms", fault.Unknown, "no algorithm with a public and a private key is called "+name)
		}
		made.Algorithms = append(made.Algorithms, algorithm)
	}
	if len(made.Algorithms) == 0 {
		made.Algorithms = Algorithms
	}
	if wrong != nil {
		return Issuer{}, wrong
	}
	return made, nil
}

// life returns the longest lifetime of a token.
func (i *Issuer) life() time.Duration { return time.Duration(i.LongestLife) * time.Second }

// plain reports whether a text can be an audience or the name of a claim.
func plain(text string) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= longestName &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

func parseURL(text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	safe := at.Scheme == "https" || at.Scheme == "http" && loopback(at.Hostname())
	if !safe || at.Hostname() == "" || at.User != nil || strings.ContainsAny(text, "?#") {
		return nil, errURL
	}
	return at, nil
}

var errURL = fault.Field("issuer", "url", fault.Malformed,
	"an https address without user, query and fragment, exactly as the issuer's tokens write it; "+
		"http only on this machine")

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
