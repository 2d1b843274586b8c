// Package keysets moves the sealed values of banks to the keyset's primary keys, and proves that none is left
// under other keys. A move changes nothing else: no version, no time of a change, and in the record only an
// entry at its beginning and one at its end.
package keysets

import (
	"context"
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
	"bankgraph/core/files"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/waterfalls"
	"bankgraph/core/webhooks"
	"bankgraph/db"
)

// Tables lists this domain's tables, and those of others that it uses (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"keyset_rotations"},
	Reads: map[string]string{
		"account_former_numbers": "its sealed columns are written anew",
		"accounts":               "its sealed columns are written anew",
		"ach_notices":            "its sealed columns are written anew",
		"ach_received":           "its sealed columns are written anew",
		"approvals":              "its sealed columns are written anew",
		"bulk_file_lines":        "its sealed columns are written anew",
		"bulk_file_parts":        "its sealed columns are written anew",
		"bulk_files":             "its sealed columns are written anew",
		"contacts":               "its sealed columns are written anew",
		"customers":              "its sealed columns are written anew",
		"information_requests":   "its sealed columns are written anew",
		"network_messages":       "its sealed columns are written anew",
		"payment_details":        "its sealed columns are written anew",
		"positive_pay_rules":     "its sealed columns are written anew",
		"recurrences":            "its sealed columns are written anew",
		"sandbox_messages":       "its sealed columns are written anew",
		"signing_keys":           "its sealed columns are written anew",
		"virtual_accounts":       "its sealed columns are written anew",
		"waterfall_steps":        "its sealed columns are written anew",
		"payment_repairs":        "its sealed columns are written anew",
		"webhook_secrets":        "its sealed columns are written anew",
	},
}

// Progress is how far the move of one table of a bank has come.
type Progress struct {
	bun.BaseModel `bun:"table:keyset_rotations,alias:r"`

	Tenant     access.Tenant `bun:"tenant,pk"`
	Of         string        `bun:"of,pk"` // the table
	Sealing    int64         `bun:"sealing"`
	Searching  int64         `bun:"searching"`
	Pass       int32         `bun:"pass"`
	After      string        `bun:"after"`
	Looked     int64         `bun:"looked"`
	Rows       int64         `bun:"rows,scanonly"` // how many the table has
	Found      int64         `bun:"found"`
	LeftOver   int64         `bun:"left_over"`
	Moved      int64         `bun:"moved"`
	StartedAt  time.Time     `bun:"started_at"`
	UpdatedAt  time.Time     `bun:"updated_at"`
	FinishedAt *time.Time    `bun:"finished_at"`
}

// rests is the pause after a pass over a table that could not move any of the rows left.
const rests = time.Minute

// resting reports whether the table is in its pause after such a pass.
func (p *Progress) resting(now time.Time) bool {
	return p.Pass > 1 && p.After == "" && p.LeftOver > 0 && now.Before(p.UpdatedAt.Add(rests))
}

// pass ends a pass over the table. If it found rows to move, another pass follows; otherwise the table is
// done.
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

type table struct {
	name    string
	key     string // the column that, with the tenant, is the primary key
	text    bool   // the key is text, not a number
	columns []column

	// earlier returns the rows from which an older release copied sealed values to a row as they were, so that
	// they open only there; nil where it did not. Values with a hash were not copied so.
	earlier func(ctx context.Context, tx bun.IDB, bank access.Tenant, row int64) ([]int64, error)
}

// column describes a column that holds one or more sealed values.
type column struct {
	sealed string
	hash   string // the column of its search hash; "" if it has none
	report bool   // the regulatory entries of a contact, which include their hashes
	place  func(bank access.Tenant, key string) seal.Place
}

// tables lists all tables with sealed values; a test compares it with the schema.
var tables = []table{
	{name: "customers", key: "uid", columns: []column{in(customers.TaxIDColumn, "tax_id")}},
	{name: "accounts", key: "uid", columns: []column{
		in(accounts.NumberColumn, "number"), in(accounts.FBONumberColumn, "fbo_number"),
		in(accounts.ExternalTokenColumn, "external_token"),
	}},
	{name: "account_former_numbers", key: "id", columns: []column{in(accounts.FormerNumberColumn, "number")}},
	{name: "contacts", key: "uid", columns: []column{
		in(contacts.NumberColumn, "bank_account_number"), {sealed: "regulatory_reporting", report: true},
	}},
	{name: "payment_details", key: "payment", earlier: earlierPayments, columns: []column{
		in(payments.NumberColumn, "number"),
		{sealed: "intermediary_account_sealed", place: row(payments.IntermediaryAccountColumn)},
		{sealed: "bank_account_sealed", place: row(payments.BankAccountColumn)},
		{sealed: "benefit_sealed", place: row(payments.BenefitColumn)},
		{sealed: "abroad_sealed", place: row(payments.AbroadColumn)},
	}},
	{name: "payment_repairs", key: "payment", columns: []column{{
		sealed: "draft_sealed",
		place:  row(payments.RepairColumn),
	}}},
	{
		name: "ach_notices", key: "id",
		columns: []column{{sealed: "data_sealed", place: row(payments.NoticeColumn)}},
	},
	{name: "ach_received", key: "id", columns: []column{
		in(payments.ReceivedColumn, "number"), {sealed: "abroad_sealed", place: row(payments.ReceivedAbroadColumn)},
	}},
	{name: "recurrences", key: "uid", columns: []column{{
		sealed: "draft_sealed",
		place:  row(payments.DraftColumn),
	}}},
	{name: "bulk_files", key: "uid", columns: []column{in(files.HashColumn, "content")}},
	{name: "bulk_file_lines", key: "id", columns: []column{{
		sealed: "draft_sealed",
		place:  row(files.DraftColumn),
	}}},
	{name: "waterfall_steps", key: "id", columns: []column{{
		sealed: "draft_sealed",
		place:  row(waterfalls.DraftColumn),
	}}},
	{name: "bulk_file_parts", key: "id", columns: []column{{sealed: "content", place: row(files.PartColumn)}}},
	{name: "positive_pay_rules", key: "uid", columns: []column{in(positivepay.NumberColumn,
		"beneficiary_number")}},
	{name: "virtual_accounts", key: "uid", columns: []column{in(virtualaccounts.NumberColumn, "number")}},
	{name: "network_messages", key: "id", columns: []column{{sealed: "body", place: row(payments.BodyColumn)}}},
	{name: "information_requests", key: "id", columns: []column{
		{sealed: "asked_sealed", place: row(payments.AskedColumn)},
		{sealed: "answer_sealed", place: row(payments.AnsweredColumn)},
	}},
	{name: "sandbox_messages", key: "id", columns: []column{{sealed: "body", place: row(sandbox.BodyColumn)}}},
	{name: "webhook_secrets", key: "id", columns: []column{{
		sealed: "secret",
		place:  row(webhooks.SecretColumn),
	}}},
	{name: "approvals", key: "uid", columns: []column{{sealed: "draft", place: row(changes.DraftColumn)}}},
	{
		name: "signing_keys", key: "kid", text: true,
		columns: []column{{sealed: "private", place: clients.PrivatePlace}},
	},
}

func earlierPayments(
	ctx context.Context, tx bun.IDB, bank access.Tenant, row int64,
) (rows []int64, err error) {
	uids, err := payments.EarlierTx(ctx, tx, bank, payments.UID(row))
	for _, uid := range uids {
		rows = append(rows, int64(uid))
	}
	return rows, err
}

// in describes the columns of a seal.Value with this prefix.
func in(place, prefix string) column {
	return column{sealed: prefix + "_sealed", hash: prefix + "_hash", place: row(place)}
}

func row(place string) func(access.Tenant, string) seal.Place {
	return func(bank access.Tenant, key string) seal.Place {
		uid, _ := strconv.ParseInt(key, 10, 64)
		return seal.Place{Tenant: int64(bank), Column: place, Row: uid}
	}
}

// cast converts an SQL expression to the key's type.
func (t *table) cast(value string) string {
	if t.text {
		return value
	}
	return value + "::bigint"
}

// first returns a value below every key.
func (t *table) first() string {
	if t.text {
		return ""
	}
	return "0"
}

// selected returns the columns to read: the key, and the bytes and hash of each sealed value.
func (t *table) selected() string {
	all := []string{t.key + "::text AS key"} // an alias, as ORDER BY needs the column itself
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

// bytes returns how many bytes the sealed values of a row take, which is known without reading them.
func (t *table) bytes() string {
	all := make([]string, len(t.columns))
	for i, c := range t.columns {
		sealed := c.sealed
		if c.report {
			sealed += "::text"
		}
		all[i] = "coalesce(octet_length(" + sealed + "), 0)"
	}
	return strings.Join(all, " + ")
}

// values is a row of a table.
type values struct {
	key   string
	pairs [][2][]byte // sealed and hash, by column
}

// current reports whether all values of a row are under the primary keys.
func (t *table) current(keys *seal.Keys, v values) bool {
	for i, c := range t.columns {
		sealed, hash := v.pairs[i][0], v.pairs[i][1]
		// A hash of which nothing is kept cannot be made anew: that of a file from before it was.
		now := len(sealed) == 0 || keys.Current(sealed, hash)
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

// renew returns the values of a row, moved to the primary keys. What does not open may have been copied from
// other rows.
func (t *table) renew(keys *seal.Keys, bank access.Tenant, v values, from ...int64) (values, error) {
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
		at := c.place(bank, v.key)
		value, err := keys.Renew(seal.Value{Sealed: v.pairs[i][0], Hash: v.pairs[i][1]}, at)
		if err != nil && c.hash == "" {
			var clear string
			if clear, err = keys.OpenCopied(v.pairs[i][0], at, from); err == nil {
				value.Sealed = keys.Encrypt(clear, at)
			}
		}
		if err != nil {
			return v, err
		}
		renewed.pairs[i] = [2][]byte{value.Sealed, value.Hash}
	}
	return renewed, nil
}
