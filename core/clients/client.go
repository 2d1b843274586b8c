// Package clients keeps the API keys of a bank, issues access tokens for them, and verifies those tokens
// (rest/CONTRACT.md, tokens).
package clients

import (
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
)

// Client is an API key.
type Client struct {
	bun.BaseModel `bun:"table:clients,alias:c" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	Key    string        `bun:"key,pk" json:"key"`
	Name   string        `bun:"name" json:"name"`
	// the customer that the key belongs to; also the partner id, unless the key is a user's
	Entity int64 `bun:"entity" json:"legalEntityId"`
	// the entity is the bank itself
	Institution bool `bun:"institution" json:"institution"`
	// the user for whom the key acts: the key can do no more than the user, and nothing while the user is not
	// active
	User      *uuid.UUID `bun:"user_uid,type:uuid" json:"userId"`
	UserLogin string     `bun:"user_login,scanonly" json:"userLoginId"` // filled by List only
	// for a program's key, the person responsible for it
	Responsible *uuid.UUID `bun:"responsible,type:uuid" json:"responsible"`
	// that person's login id; filled by List only
	Answers     string              `bun:"answers,scanonly" json:"responsibleLoginId"`
	Generation  int32               `bun:"generation,nullzero" json:"generation"` // of the tokens that are valid
	Permissions []access.Permission `bun:"permissions,array" json:"permissions"`
	CreatedAt   time.Time           `bun:"created_at" json:"createdAt"`
	DisabledAt  *time.Time          `bun:"disabled_at" json:"disabledAt"`
	// until then the secret before the last rotation is valid too
	FormerUntil *time.Time `bun:"former_until" json:"formerUntil"`
}

// reach returns the reach of a program's key: the bank's, or else that of a partner.
func (c *Client) reach() access.Reach {
	if c.Institution {
		return access.OfBank
	}
	return access.OfPartner
}

// Draft is an API key that is to be added.
type Draft struct {
	Key  string // letters, digits, dots, hyphens and underscores, at most 100
	Name string // for people; if empty, the key itself
	// the partner that the key belongs to; 0 for the bank itself, or for the customer of User
	Customer    int64
	User        string   // login id of the user for whom the key acts; '' for a program
	Responsible string   // login id of the person responsible for a program's key; '' for nobody
	Permissions []string // names of access.All
	// further ones, of which a key outside the bank gets those of access.Partners
	Preset []access.Permission
	Secret string // only in a sandbox; if empty, one is drawn
}

// take gives a new key, whose entity is known, the permissions of a preset.
func (c *Client) take(preset []access.Permission) {
	for _, permission := range preset {
		if (c.Institution || slices.Contains(access.Partners, permission)) &&
			!slices.Contains(c.Permissions, permission) {
			c.Permissions = append(c.Permissions, permission)
		}
	}
}

// Lifetimes of tokens (rest/CONTRACT.md, tokens). It is published that the refresh token expires first.
const (
	AccessLifetime  = 14400 * time.Second
	RefreshLifetime = 1800 * time.Second
)

// Overlap is the default time for which a rotated secret stays valid, and MaxOverlap the longest.
const (
	Overlap    = 24 * time.Hour
	MaxOverlap = 30 * 24 * time.Hour
)

var (
	ErrNotFound = fault.New(fault.NotFound, "client.not_found", "the bank has no such API key")
	ErrExists   = fault.New(fault.Conflict, "client.exists", "an API key with this name exists")
	ErrDisabled = fault.New(fault.State, "client.disabled", "the API key is disabled")
	ErrSpeaks   = fault.New(fault.Invalid, "client.speaks",
		"a user's own key needs no responsible person: the user is responsible for it").On("responsible")
	ErrUnserved = fault.New(fault.State, "client.unserved",
		"the customer that the API key belongs to is not active")
	ErrNoPartner  = fault.New(fault.NotFound, "client.no_partner", "the bank has no partner with this number")
	ErrOverlap    = fault.New(fault.Invalid, "client.overlap", "a former secret counts for at most 30 days")
	ErrOwnSecret  = fault.New(fault.Denied, "client.own_secret", "only a sandbox may choose its secrets")
	ErrWrongRealm = fault.New(fault.NotFound, "realm.not_found", "no such realm")

	ErrUnavailable = fault.New(fault.Unavailable, "bank.unavailable",
		"the bank cannot answer now, try again later")

	// The refusals of the token endpoint, which do not tell the reason.
	ErrClient = fault.New(fault.Unauthenticated, "client.wrong_secret",
		"the bank's code in the address, the API key or its secret is wrong")
	ErrGrant = fault.New(fault.Invalid, "grant.refused", "the refresh token is unknown, expired or used")
)

var keys = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// check validates a new API key, and returns a fault for every wrong field.
func (d Draft) check() (Client, error) {
	var wrong fault.Faults
	client := Client{Key: d.Key, Name: strings.TrimSpace(d.Name), Entity: d.Customer}
	if !keys.MatchString(d.Key) || ident.Same(d.Key, access.OperatorClient) {
		wrong = append(wrong,
			fault.Field("client", "key", fault.Malformed,
				"letters, digits, dots, hyphens and underscores, at most 100, starting with a "+
					"letter or digit; not operator"))
	}
	if d.User != "" && d.Responsible != "" {
		wrong = append(wrong, ErrSpeaks)
	}
	if client.Name == "" {
		client.Name = d.Key
	}
	if !check.IsPlain(client.Name) || utf8.RuneCountInString(client.Name) > 200 {
		wrong = append(wrong,
			fault.Field("client", "name", fault.Malformed, "at most 200 characters of plain text"))
	}
	if len(d.Permissions) == 0 && len(d.Preset) == 0 {
		wrong = append(wrong,
			fault.Field("client", "permissions", fault.Required,
				"an API key without permissions can do nothing"))
	}
	for _, name := range d.Permissions {
		permission := access.Permission(name)
		if !slices.Contains(access.All, permission) {
			there := strings.Join(access.Caller{Permissions: access.All}.Rights(), ", ")
			wrong = append(wrong,
				fault.Field("client", "permissions", fault.Unknown,
					"no permission of an API key is called "+name+"; they are "+there))
		}
		if !slices.Contains(client.Permissions, permission) {
			client.Permissions = append(client.Permissions, permission)
		}
	}
	if wrong != nil {
		return Client{}, wrong
	}
	return client, nil
}
