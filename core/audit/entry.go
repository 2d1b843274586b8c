// Package audit keeps the record of who did what in a bank, and proves that it was not changed afterwards.
package audit

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Decision is the outcome of what somebody tried to do.
type Decision string

const (
	Done     Decision = "done"
	Proposed Decision = "proposed" // it waits for a second person
	Approved Decision = "approved" // the second person agreed
	Refused  Decision = "refused"  // the bank or the second person said no
	Revealed Decision = "revealed" // a sealed value was shown in the clear
)

// ID is an entry's number.
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
	// by its GraphQL name: addSignatory; read for a refusal to read
	Action   string          `bun:"action" json:"action"`
	Decision Decision        `bun:"decision" json:"decision"`
	Object   string          `bun:"object" json:"object"` // the kind of thing: signatory
	UID      string          `bun:"uid" json:"uid"`
	Customer *int64          `bun:"customer" json:"customer"` // the customer that the thing belongs to
	Before   json.RawMessage `bun:"before,type:json" json:"before"`
	After    json.RawMessage `bun:"after,type:json" json:"after"`
	Reason   string          `bun:"reason" json:"reason"`
	Request  string          `bun:"request" json:"request"` // the id of the request
}

// By returns the entry with the caller filled in.
func (e Entry) By(caller access.Caller) Entry {
	e.Tenant, e.Client, e.LoginID, e.Entity, e.Request = caller.Tenant, caller.Client, caller.LoginID,
		caller.Entity, caller.Request
	return e
}

// LegalEntity returns the customer that the caller acted for; nil for the command line.
func (e *Entry) LegalEntity() *int64 {
	if e.Entity == 0 {
		return nil
	}
	return &e.Entity
}

// Change is one field before and after. Nil means that there is no value.
type Change struct {
	Field  string
	Before *string
	After  *string
}

// Changes returns the changed fields of the entry, sorted by name.
func (e *Entry) Changes() []Change { return Changes(e.Before, e.After) }

// Changes returns the fields in the two results of Diff, sorted by name.
func Changes(before, after json.RawMessage) []Change {
	var was, is map[string]json.RawMessage
	if json.Unmarshal(before, &was) != nil || json.Unmarshal(after, &is) != nil {
		return nil // cannot happen: Diff wrote it
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

// plain returns a JSON value for people: text without its quotes.
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

// unrecorded lists columns that the record leaves out.
var unrecorded = map[string]bool{"Tenant": true, "CreatedAt": true, "UpdatedAt": true}

// unsaid reports whether the record leaves out a column, unless the row says how it is shown: bytes, which
// are sealed or a hash, and who did something with the row, such as MakerLogin, DecidedClient, ApprovedBy.
// That stands in the entry of what was done. Later ones, which workers write too, are read by others: by the
// next partner, once the customer has moved.
func unsaid(path string, kind reflect.Type) bool {
	switch {
	case unrecorded[path], kind == reflect.TypeFor[[]byte](), strings.HasPrefix(path, "Maker"):
		return true
	case kind != reflect.TypeFor[string]():
		return false
	}
	return strings.HasSuffix(path, "Client") || strings.HasSuffix(path, "Login") || strings.HasSuffix(path, "By")
}

// Diff returns the fields in which two states of a row differ, by their GraphQL names, with sealed values
// masked. If one row is nil, every field of the other that is not empty differs.
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

// Together merges the fields of two results of Diff.
func Together(a, b json.RawMessage) json.RawMessage {
	all := map[string]json.RawMessage{}
	_ = json.Unmarshal(a, &all) // cannot fail: Diff wrote them
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
			name, value = field.Name, reflect.ValueOf(field.Value)
		} else if unsaid(path, value.Type()) {
			continue
		}
		if value.IsValid() && !value.IsZero() {
			fields[name] = shown(value.Interface())
		}
	}
	return fields
}

// Field is how the record shows a column whose stored form is not for people. A row's method Recorded returns
// them by the column's Go field: LimitMinor is shown as approvalLimit, 100.00. A nil value means none.
type Field struct {
	Name  string
	Value any
}

// shown returns a value as the record may hold it. Sealed values, and lists of them, mask themselves in JSON.
// Two that look alike when masked still differ, by their hash.
func shown(value any) any {
	if secret, ok := value.(interface{ Fingerprint() string }); ok {
		return masked{object(value), secret.Fingerprint()}
	}
	return value
}

// masked is a sealed value as it may be shown, with a fingerprint that tells it from others.
type masked struct {
	text        json.RawMessage
	fingerprint string
}

func (m masked) MarshalJSON() ([]byte, error) { return m.text, nil }

func object(fields any) json.RawMessage {
	text, err := json.Marshal(fields) // keys in order
	if err != nil {
		panic(err) // every value of a row has a JSON form
	}
	return text
}

var names sync.Map // path of a Go field -> GraphQL name

// named returns the GraphQL name of a Go field: legalAddress.city for LegalAddress.City, achCompanyId for
// ACHCompanyID.
func named(path string) string {
	if known, ok := names.Load(path); ok {
		return known.(string)
	}
	name := nameOf(path)
	names.Store(path, name)
	return name
}

func nameOf(path string) string {
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
