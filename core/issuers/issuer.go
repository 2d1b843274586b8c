// Package issuers holds the identity providers that a bank trusts, and checks the access tokens that they
// give to the bank's users.
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
	// the iss of its tokens; its discovery document stands below it
	URL string `bun:"url,pk" json:"url"`
	// what the aud of its tokens must hold
	Audience string `bun:"audience,pk" json:"audience"`
	// the first of these that a token has names the user's login id
	UserClaims []string `bun:"user_claims,array" json:"userClaims"`
	// holds the partner id; "": the owner of the user's customer is it
	PartnerClaim string `bun:"partner_claim" json:"partnerClaim"`
	// must name the user's customer; "": not looked at
	EntityClaim string `bun:"entity_claim" json:"legalEntityClaim"`
	// names somebody for good: the user linked to its value counts, no login id; "": the login id
	SubjectClaim string `bun:"subject_claim" json:"subjectClaim"`
	// what the scope of its tokens must hold; "": nothing
	Scope string `bun:"scope" json:"scope"`
	// its access tokens are made like id tokens
	IDTokens    bool  `bun:"id_tokens" json:"idTokens"`
	LongestLife int64 `bun:"longest_life" json:"longestLife"` // seconds from iat to exp
	// that its tokens may be signed with
	Algorithms []jose.SignatureAlgorithm `bun:"algorithms,array" json:"algorithms"`
	CreatedAt  time.Time                 `bun:"created_at" json:"createdAt"`
	DisabledAt *time.Time                `bun:"disabled_at" json:"disabledAt"`
}

// Draft is an issuer before it is added.
type Draft struct {
	URL          string   // https, or http on this machine; exactly as the iss of its tokens has it
	Audience     string   // required: a token for somebody else's service must not open ours
	UserClaims   []string // UserClaims when empty
	PartnerClaim string
	EntityClaim  string
	SubjectClaim string        // such as sub or oid; when empty, users are known by their login ids
	Scope        *string       // Scope when nil; none is asked for when empty
	IDTokens     bool          // its access tokens have no type and the claims of id tokens, as Dex makes them
	LongestLife  time.Duration // LongestLife when 0
	Algorithms   []string      // Algorithms when empty
}

// LongestLife is how long a token may live when nothing else is said.
const LongestLife = 24 * time.Hour

// What a longest life can be.
const (
	shortestLife = time.Minute
	mostLife     = 30 * 24 * time.Hour
)

// UserClaims are where the user's login id is looked for when nothing else is said.
var UserClaims = []string{"preferred_username", "sub"}

// Algorithms are what tokens may be signed with when nothing else is said.
var Algorithms = []jose.SignatureAlgorithm{jose.ES256, jose.RS256, jose.PS256, jose.EdDSA}

// asymmetric are all that an issuer can have: who can check a token must not be able to make one.
var asymmetric = []jose.SignatureAlgorithm{
	jose.ES256, jose.ES384, jose.ES512, jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512,
	jose.EdDSA,
}

// Scope is the one scope that the interface has. A token without it may do nothing, unless its issuer's row
// asks for another or for none.
const Scope = "roles"

var (
	ErrNotFound = fault.New(fault.NotFound, "issuer.not_found", "the bank has no such issuer")
	ErrExists   = fault.New(fault.Conflict, "issuer.exists",
		"the bank accepts this issuer with this audience already")
	ErrTaken = fault.New(fault.Conflict, "issuer.taken",
		"another bank accepts this issuer with this audience: its tokens would not say which bank they are for")
	ErrDisabled = fault.New(fault.State, "issuer.disabled", "the issuer is disabled")

	// ErrUnavailable is for this issuer's tokens only.
	ErrUnavailable = fault.New(fault.Unavailable, "issuer.unavailable",
		"the issuer of this token does not show its keys now, try again later")
)

const (
	longestURL  = 500
	longestName = 200 // of an audience or a claim
	mostClaims  = 10
)

// check reads the fields of a new issuer, and names every one that will not do.
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

// life is how long a token may live.
func (i *Issuer) life() time.Duration { return time.Duration(i.LongestLife) * time.Second }

// plain tells whether a text can be an audience or the name of a claim.
func plain(text string) bool {
	return text != "" && utf8.ValidString(text) && utf8.RuneCountInString(text) <= longestName &&
		!strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f })
}

// parseURL reads the address that an issuer is named by.
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
	"an https address without user, query and fragment, exactly as the issuer's tokens write it; http only on this machine")

func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}
