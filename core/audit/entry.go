// Package audit keeps who did what to the bank, and proves that nobody changed the record afterwards.
package audit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Decision is what became of what somebody set out to do.
type Decision string

const (
	Done     Decision = "done"
	Proposed Decision = "proposed" // it waits for a second person
	Approved Decision = "approved" // the second person agreed
	Refused  Decision = "refused"  // the bank or the second person said no
	Revealed Decision = "revealed" // a sealed value was shown in the clear
)

// ID is the number of an entry.
type ID int64

func (i ID) String() string { return strconv.FormatInt(int64(i), 10) }

// Entry is one line of the record. It is never changed.
type Entry struct {
	bun.BaseModel `bun:"table:audit_entries,alias:e" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	ID     ID            `bun:"id,pk,nullzero" json:"id"`
	At     time.Time     `bun:"at,nullzero" json:"at"`
	// the API key or external issuer; operator for the command line
	Client  string `bun:"client" json:"client"`
	LoginID string `bun:"login_id" json:"loginId"` // the user, where one is known
	Entity  int64  `bun:"entity" json:"entity"`    // the legal entity that the caller acted for
	// by its GraphQL name: addSignatory; read where only that was refused
	Action   string          `bun:"action" json:"action"`
	Decision Decision        `bun:"decision" json:"decision"`
	Object   string          `bun:"object" json:"object"` // the kind of thing: signatory
	UID      string          `bun:"uid" json:"uid"`
	Customer *int64          `bun:"customer" json:"customer"` // whose it is
	Before   json.RawMessage `bun:"before,type:json" json:"before"`
	After    json.RawMessage `bun:"after,type:json" json:"after"`
	Reason   string          `bun:"reason" json:"reason"`
	Request  string          `bun:"request" json:"request"` // the id of the request
}

// By fills in who is calling.
func (e Entry) By(caller access.Caller) Entry {
	e.Tenant, e.Client, e.LoginID, e.Entity, e.Request = caller.Tenant, caller.Client, caller.LoginID,
		caller.Entity, caller.Request
	return e
}

// LegalEntity is the customer that the caller acted for; nil for the command line.
func (e *Entry) LegalEntity() *int64 {
	if e.Entity == 0 {
		return nil
	}
	return &e.Entity
}

// Change is one field before and after. Nil is a value that was or is not there.
type Change struct {
	Field  string
	Before *string
	After  *string
}

// Changes are the fields of the entry, by name.
func (e *Entry) Changes() []Change { return Changes(e.Before, e.After) }

// Changes are the fields of what Diff told apart, by name.
func Changes(before, after json.RawMessage) []Change {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return nil // nobody wrote it but Diff
	}
	names := map[string]bool{}
	for name := range was {
		names[name] = true
	}
	for name := range is {
		names[name] = true
	}
	changes := make([]Change, 0, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		changes = append(changes, Change{Field: name, Before: plain(was[name]), After: plain(is[name])})
	}
	return changes
}

// plain is a JSON value as people read it: text without its quotes.
func plain(value json.RawMessage) *string {
	if value == nil {
		return nil
	}
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	return &text
}

// unrecorded are the columns that say nothing about a change.
var unrecorded = map[string]bool{"Tenant": true, "CreatedAt": true, "UpdatedAt": true}

// Diff tells two states of a row apart: the fields that differ, by the names that GraphQL gives them, sealed
// values masked. A nil row is one that is not there: of the other, every field that is not empty counts.
func Diff(before, after any) (was, is json.RawMessage) {
	old, now := fieldsOf(before), fieldsOf(after)
	for path, value := range now {
		if other, there := old[path]; there && reflect.DeepEqual(other, value) {
			delete(old, path)
			delete(now, path)
		}
	}
	return object(old), object(now)
}

// Together are the fields of both.
func Together(a, b json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(a, &all) // nobody wrote them but Diff
	_ = json.Unmarshal(b, &all)
	text, _ := json.Marshal(all)
	return text
}

func fieldsOf(row any) map[string]any {
	fields := map[string]any{}
	if row == nil || reflect.ValueOf(row).Kind() == reflect.Pointer && reflect.ValueOf(row).IsNil() {
		return fields
	}
	var otherwise map[string]Field
	if r, says := row.(interface{ Recorded() map[string]Field }); says {
		otherwise = r.Recorded()
	}
	for path, value := range db.Fields(row) {
		name := named(path)
		if field, says := otherwise[path]; says {
			name, value = field.Name, field.Value
		}
		if !unrecorded[path] && value != nil && !reflect.ValueOf(value).IsZero() {
			fields[name] = shown(value)
		}
	}
	return fields
}

// Field is what people read where it is not what a column holds: a row's method Recorded says so, by the
// column's Go field (LimitMinor is approvalLimit, 100.00). A nil value is none.
type Field struct {
	Name  string
	Value any
}

// shown is a value as the record may hold it: what is sealed, or a list of that, masks itself in JSON.
// A sealed value that changed behind equal last digits still counts as another one: its hash says so.
func shown(value any) any {
	if secret, ok := value.(interface{ Fingerprint() string }); ok {
		return masked{object(value), secret.Fingerprint()}
	}
	return value
}

// masked writes what may be read of a sealed value, and tells it from others.
type masked struct {
	text        json.RawMessage
	fingerprint string
}

func (m masked) MarshalJSON() ([]byte, error) { return m.text, nil }

func object(fields any) json.RawMessage {
	text, err := json.Marshal(fields) // keys in order
	if err != nil {
		panic(err) // rows hold nothing that JSON cannot
	}
	return text
}

// named is the field as GraphQL calls it: LegalAddress.City is legalAddress.city, ACHCompanyID achCompanyId.
func named(path string) string {
	parts := strings.Split(path, ".")
	for i, part := range parts {
		runes := []rune(part)
		for at := range runes {
			if !unicode.IsUpper(runes[at]) || at > 0 && at+1 < len(runes) && !unicode.IsUpper(runes[at+1]) {
				break
			}
			runes[at] = unicode.ToLower(runes[at])
		}
		parts[i] = string(runes)
		if stem, ok := strings.CutSuffix(parts[i], "ID"); ok {
			parts[i] = stem + "Id"
		}
	}
	return strings.Join(parts, ".")
}
