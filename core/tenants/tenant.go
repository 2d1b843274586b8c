// Package tenants keeps the banks that this program serves.
package tenants

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// Tenant is a bank.
type Tenant struct {
	bun.BaseModel `bun:"table:tenants,alias:t" json:"-"`

	ID   access.Tenant `bun:"id,pk,autoincrement" json:"-"`
	Code string        `bun:"code" json:"code"` // the realm in the token address
	Name string        `bun:"name" json:"name"` // the bank's legal name
	// IANA name; days, weeks and months are counted in it
	Zone string `bun:"zone" json:"zone"`
	// of limits, and of amounts without a currency of their own
	Currency money.Currency `bun:"currency" json:"currency"`
	// a bank for tests, with known keys and simulated networks
	Sandbox   bool      `bun:"sandbox" json:"sandbox"`
	CreatedAt time.Time `bun:"created_at" json:"createdAt"`
}

// Location returns the bank's time zone.
func (t *Tenant) Location() *time.Location {
	zone, err := time.LoadLocation(t.Zone)
	if err != nil { // it was valid when the bank was added, but this machine lacks it
		return time.UTC
	}
	return zone
}

// Draft is a bank that is to be added.
type Draft struct {
	Code     string // as newCode has it, at most 63 characters; unique whatever the letter case
	Name     string
	Zone     string // IANA name, such as America/New_York
	Currency string // ISO 4217
	Admin    string // the login id of the bank's first user
	Sandbox  bool
	Customer int64 // the number of the bank's own customer; 0 for the next free one
}

var (
	ErrNotFound = fault.New(fault.NotFound, "tenant.not_found", "no bank has this code")
	ErrExists   = fault.New(fault.Conflict, "tenant.exists",
		"a bank with this code exists, or with one that differs in letter case alone")
)

var codes = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9.-]{0,62}$`)

// newCode is what codes of new banks look like: nobody sees a dot or hyphen too many at an end, or that there
// are two. Banks that came to such codes before keep them.
var newCode = regexp.MustCompile(`^[A-Za-z0-9]+([.-][A-Za-z0-9]+)*$`)

// ValidCode reports whether a bank can have this code.
func ValidCode(code string) bool { return codes.MatchString(code) }

// longest is how many characters a name may have.
const longest = 200

// check validates a new bank, and returns a fault for every wrong field.
func (d Draft) check() (Tenant, error) {
	var wrong fault.Faults
	refuse := func(field, message string) {
		wrong = append(wrong, fault.Field("tenant", field, fault.Malformed, message))
	}
	tenant := Tenant{Code: d.Code, Name: strings.TrimSpace(d.Name), Zone: d.Zone, Sandbox: d.Sandbox}
	if !codes.MatchString(d.Code) || !newCode.MatchString(d.Code) {
		refuse("code", "letters and digits, with single dots or hyphens between them, at most 63 characters")
	}
	if !readable(tenant.Name) {
		refuse("name", "1 to 200 characters of plain text")
	}
	// time.LoadLocation reads "" as UTC and "Local" as this machine's zone; neither is a bank's zone.
	if _, err := time.LoadLocation(d.Zone); err != nil || d.Zone == "" || d.Zone == "Local" {
		refuse("zone", "not a time zone of the IANA list, such as America/New_York")
	}
	var err error
	if tenant.Currency, err = money.ParseCurrency(d.Currency); err != nil {
		refuse("currency", "not a currency of ISO 4217, such as USD")
	}
	if _, ok := ident.Login(d.Admin); !ok {
		refuse("admin", "1 to 200 letters, digits and special characters of ASCII, without spaces")
	}
	if wrong != nil {
		return Tenant{}, wrong
	}
	return tenant, nil
}

func readable(text string) bool {
	return text != "" && check.IsPlain(text) && utf8.RuneCountInString(text) <= longest
}
