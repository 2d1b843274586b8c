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

// Reporting is one regulatory entry. Its value is always sealed: banks choose the keys, and any of them may
// hold a secret.
type Reporting struct {
	Key   string     `json:"key"`
	Value seal.Value `json:"value"`
}

// ShownValue returns the masked value.
func (r *Reporting) ShownValue() string { return r.Value.Masked() }

// Report is all regulatory entries of a contact. Its column stores them sealed; every other output is masked.
type Report []Reporting

// ShownReporting returns the entries as a plain slice, as gqlgen needs it.
func (k *Contact) ShownReporting() []Reporting { return k.RegulatoryReporting }

// ReportingPlace returns the place for which the value of an entry is sealed. It ignores the letter case of
// the key, which the bank may change.
func (k *Contact) ReportingPlace(key string) seal.Place {
	return seal.Place{
		Tenant: int64(k.Tenant), Column: "contacts.regulatory_reporting." + strings.ToLower(key), Row: int64(k.UID),
	}
}

// Reported returns a sealed entry of the contact.
func (k *Contact) Reported(keys *seal.Keys, key, value string) Reporting {
	return Reporting{Key: key, Value: keys.Seal(value, k.ReportingPlace(key))}
}

// Fingerprint differs for two different reports, and shows no value. It is not for people.
func (r Report) Fingerprint() string {
	var text strings.Builder
	for _, entry := range r {
		text.WriteString(entry.Key + "=" + entry.Value.Fingerprint() + ";")
	}
	return text.String()
}

// stored is an entry as the column stores it.
type stored struct {
	Key    string `json:"key"`
	Sealed []byte `json:"sealed,omitempty"`
	Hash   []byte `json:"hash,omitempty"`
	Last4  string `json:"last4,omitempty"`
	// in the clear, as written before entries were sealed; see Service.Seal
	Plain *string `json:"value,omitempty"`
}

var (
	// a fixed text, as the decoder's errors may quote the entries
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

// Scan reads the column. Of a value in the clear it keeps only the last digits.
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

// Value writes the column. It fails for an entry that Scan read in the clear, whose value was not kept.
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

// sealed reports whether no entry of the column is in the clear.
func (r Report) sealed() bool {
	return !slices.ContainsFunc(r, func(e Reporting) bool { return !e.sealed() })
}

// kept returns, for each entry of a draft, the stored entry that it leaves as it is; nil for a new value.
// Partners send the whole list, which they have read masked: an entry that equals the masked form of a stored
// one leaves that one as it is. Any other masked value is refused.
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

// shows reports whether the draft equals the masked form of an entry.
func (d *ReportingDraft) shows(entry Reporting) bool {
	return ident.Same(entry.Key, d.Key) && entry.Value.Masked() == d.Value
}
