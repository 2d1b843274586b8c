// Package keysets brings what banks have sealed under the keyset's primary keys, and proves that nothing is
// left under others. It changes no thing of a bank: versions, the times of changes and the record of who did
// what stay as they are, but for an entry at the beginning and one at the end.
package keysets

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/clients"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Tables are those of this domain, and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"keyset_rotations"},
	Reads: map[string]string{
		"accounts":     "its sealed columns are written anew",
		"approvals":    "its sealed columns are written anew",
		"contacts":     "its sealed columns are written anew",
		"customers":    "its sealed columns are written anew",
		"signing_keys": "its sealed columns are written anew",
	},
}

// Progress is how far a table of a bank has come.
type Progress struct {
	bun.BaseModel `bun:"table:keyset_rotations,alias:r"`

	Tenant     access.Tenant `bun:"tenant,pk"`
	Of         string        `bun:"of,pk"` // the table
	Sealing    int64         `bun:"sealing"`
	Searching  int64         `bun:"searching"`
	Pass       int32         `bun:"pass"`
	After      string        `bun:"after"`
	Looked     int64         `bun:"looked"`
	Rows       int64         `bun:"rows,scanonly"` // that there are
	Found      int64         `bun:"found"`
	LeftOver   int64         `bun:"left_over"`
	Moved      int64         `bun:"moved"`
	StartedAt  time.Time     `bun:"started_at"`
	UpdatedAt  time.Time     `bun:"updated_at"`
	FinishedAt *time.Time    `bun:"finished_at"`
}

// rests is how long a table is left alone of which a whole pass could move nothing.
const rests = time.Minute

// resting reports whether there was nothing to gain just now.
func (p *Progress) resting(now time.Time) bool {
	return p.Pass > 1 && p.After == "" && p.LeftOver > 0 && now.Before(p.UpdatedAt.Add(rests))
}

// pass ends a pass over the table: the last one found nothing, and any other is followed by one.
func (p *Progress) pass(now time.Time) {
	if p.Found == 0 {
		p.FinishedAt = &now
		return
	}
	stuck := p.LeftOver
	if p.LeftOver < p.Found {
		stuck = 0
	}
	p.Pass, p.After, p.Looked, p.Found, p.LeftOver = p.Pass+1, "", 0, 0, stuck
}

// table is where sealed values stand.
type table struct {
	name    string
	key     string // the column that, with the bank, is the primary key
	text    bool   // the key is text and no number
	columns []column
}

// column is one that holds a sealed value, or several of them.
type column struct {
	sealed string
	hash   string // the column of its search hash; "" where nobody searches for it
	report bool   // the entries of a contact that regulators ask for, with their hashes
	place  func(bank access.Tenant, key string) seal.Place
}

// tables are all there are; a test compares them with the schema.
var tables = []table{
	{name: "customers", key: "uid", columns: []column{in(customers.TaxIDColumn, "tax_id")}},
	{name: "accounts", key: "uid", columns: []column{
		in(accounts.NumberColumn, "number"), in(accounts.FBONumberColumn, "fbo_number"),
		in(accounts.ExternalTokenColumn, "external_token"),
	}},
	{name: "contacts", key: "uid", columns: []column{
		in(contacts.NumberColumn, "bank_account_number"), {sealed: "regulatory_reporting", report: true},
	}},
	{name: "approvals", key: "uid", columns: []column{{sealed: "draft", place: row(changes.DraftColumn)}}},
	{
		name: "signing_keys", key: "kid", text: true,
		columns: []column{{sealed: "private", place: clients.PrivatePlace}},
	},
}

// in is a value in the three columns of a seal.Value.
func in(place, prefix string) column {
	return column{sealed: prefix + "_sealed", hash: prefix + "_hash", place: row(place)}
}

func row(place string) func(access.Tenant, string) seal.Place {
	return func(bank access.Tenant, key string) seal.Place {
		uid, _ := strconv.ParseInt(key, 10, 64)
		return seal.Place{Tenant: int64(bank), Column: place, Row: uid}
	}
}

// cast makes a parameter of the key's type.
func (t *table) cast(value string) string {
	if t.text {
		return value
	}
	return value + "::bigint"
}

// first is below every key.
func (t *table) first() string {
	if t.text {
		return ""
	}
	return "0"
}

// selected are the columns of a row: its key, and of each sealed value the bytes and the hash.
func (t *table) selected() string {
	all := []string{t.key + "::text AS key"} // named otherwise than the column, by which rows are ordered
	for _, c := range t.columns {
		switch {
		case c.report:
			all = append(all, c.sealed+"::text", "NULL::bytea")
		case c.hash == "":
			all = append(all, c.sealed, "NULL::bytea")
		default:
			all = append(all, c.sealed, c.hash)
		}
	}
	return strings.Join(all, ", ")
}

// values are a row of a table.
type values struct {
	key   string
	pairs [][2][]byte // sealed and hash, by column
}

// current reports whether a row stands under the primary keys.
func (t *table) current(keys *seal.Keys, v values) bool {
	for i, c := range t.columns {
		sealed, hash := v.pairs[i][0], v.pairs[i][1]
		now := keys.Current(sealed, hash)
		if c.report {
			var err error
			now, err = contacts.CurrentReport(keys, sealed)
			now = now && err == nil
		}
		if !now {
			return false
		}
	}
	return true
}

// renew brings the values of a row under the primary keys.
func (t *table) renew(keys *seal.Keys, bank access.Tenant, v values) (values, error) {
	renewed := values{key: v.key, pairs: slices.Clone(v.pairs)}
	for i, c := range t.columns {
		if c.report {
			uid, _ := strconv.ParseInt(v.key, 10, 64)
			text, err := (&contacts.Contact{Tenant: bank, UID: contacts.UID(uid)}).RenewReport(keys, v.pairs[i][0])
			if err != nil {
				return v, err
			}
			renewed.pairs[i] = [2][]byte{text, nil}
			continue
		}
		value, err := keys.Renew(seal.Value{Sealed: v.pairs[i][0], Hash: v.pairs[i][1]}, c.place(bank, v.key))
		if err != nil {
			return v, err
		}
		renewed.pairs[i] = [2][]byte{value.Sealed, value.Hash}
	}
	return renewed, nil
}
