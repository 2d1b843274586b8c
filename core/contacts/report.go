package contacts

import (
	"database/sql/driver"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/seal"
)

// Reporting is one entry that a regulator asks for. Its value is sealed whatever its key: banks choose the
// keys, and under any of them may stand what nobody must read.
type Reporting struct {
	Key   string     `json:"key"`
	Value seal.Value `json:"value"`
}

// ShownValue is the masked value.
func (r *Reporting) ShownValue() string { return r.Value.Masked() }

// Report is all that regulators ask for about a contact. Wherever it is written it is masked, but for its
// column, which keeps it sealed.
type Report []Reporting

// ShownReporting are the entries as GraphQL lists them, which knows no lists of a type of their own.
func (k *Contact) ShownReporting() []Reporting { return k.RegulatoryReporting }

// ReportingPlace is where the value of a contact's entry is sealed for. The letter case of a key may come to
// be configured otherwise.
func (k *Contact) ReportingPlace(key string) seal.Place {
	return seal.Place{
		Tenant: int64(k.Tenant), Column: "contacts.regulatory_reporting." + strings.ToLower(key), Row: int64(k.UID),
	}
}

// Reported is an entry of the contact, sealed.
func (k *Contact) Reported(keys *seal.Keys, key, value string) Reporting {
	return Reporting{Key: key, Value: keys.Seal(value, k.ReportingPlace(key))}
}

// Fingerprint tells two reports apart without showing a value. It is not for people.
func (r Report) Fingerprint() string {
	var text strings.Builder
	for _, entry := range r {
		text.WriteString(entry.Key + "=" + entry.Value.Fingerprint() + ";")
	}
	return text.String()
}

// stored is an entry as the column keeps it.
type stored struct {
	Key    string `json:"key"`
	Sealed []byte `json:"sealed,omitempty"`
	Hash   []byte `json:"hash,omitempty"`
	Last4  string `json:"last4,omitempty"`
	// in the clear, as programs wrote it before they sealed it; see Service.Seal
	Plain *string `json:"value,omitempty"`
}

var (
	// what the decoder says may quote them
	errUnreadable = errors.New("a contact's regulatory entries are not readable")
	errUnsealed   = errors.New("a contact's regulatory entry is not sealed")
)

func read(column any) (entries []stored, err error) {
	switch text := column.(type) {
	case string:
		err = json.Unmarshal([]byte(text), &entries)
	case []byte:
		err = json.Unmarshal(text, &entries)
	default:
		err = errUnreadable
	}
	if err != nil {
		return nil, errUnreadable
	}
	return entries, nil
}

// Scan reads the column. What is in the clear there does not get further than its last digits.
func (r *Report) Scan(column any) error {
	entries, err := read(column)
	if err != nil {
		return err
	}
	*r = make(Report, len(entries))
	for i, e := range entries {
		(*r)[i] = e.reporting()
	}
	return nil
}

func (e *stored) reporting() Reporting {
	if e.Plain != nil {
		return Reporting{e.Key, seal.Mask(*e.Plain)}
	}
	return Reporting{e.Key, seal.Value{Sealed: e.Sealed, Hash: e.Hash, Last4: e.Last4}}
}

// Value writes the column. An entry that was read of one in the clear has no value left to be written.
func (r Report) Value() (driver.Value, error) {
	entries := make([]stored, len(r))
	for i, e := range r {
		if !e.sealed() {
			return nil, errUnsealed
		}
		entries[i] = stored{Key: e.Key, Sealed: e.Value.Sealed, Hash: e.Value.Hash, Last4: e.Value.Last4}
	}
	text, err := json.Marshal(entries)
	return string(text), err
}

func (r *Reporting) sealed() bool { return r.Value.Last4 == "" || len(r.Value.Sealed) > 0 }

// sealed tells whether no entry stands in the clear in the column.
func (r Report) sealed() bool {
	return !slices.ContainsFunc(r, func(e Reporting) bool { return !e.sealed() })
}

// kept finds, for each entry of a draft, the one that it leaves as it is; nil is a value of its own. A list
// is given as a whole, by partners who have read it masked: what reads as an entry is shown leaves that
// entry. Any other mask is refused, as nobody means to report asterisks.
func (r Report) kept(c *check.Fields, drafts []ReportingDraft) []*Reporting {
	left, kept := slices.Clone(r), make([]*Reporting, len(drafts))
	for i, d := range drafts {
		if !seal.LooksMasked(d.Value) {
			continue
		}
		at := slices.IndexFunc(left, d.shows)
		if at < 0 {
			c.Item("regulartoryReporting", i).Fail("value", fault.Malformed,
				"must be the whole value, or the masked one of an entry with this key")
			continue
		}
		entry := left[at]
		kept[i], left = &entry, slices.Delete(left, at, at+1)
	}
	for i, entry := range kept {
		if entry != nil && slices.ContainsFunc(left, func(other Reporting) bool {
			return drafts[i].shows(other) && other.Value.Fingerprint() != entry.Value.Fingerprint()
		}) {
			c.Item("regulartoryReporting", i).Fail("value", fault.Malformed,
				"must be the whole value: several entries are shown like this")
		}
	}
	return kept
}

// shows tells whether an entry reads like this to who sees it masked.
func (d *ReportingDraft) shows(entry Reporting) bool {
	return ident.Same(entry.Key, d.Key) && entry.Value.Masked() == d.Value
}
