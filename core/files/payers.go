package files

import (
	"context"
	"fmt"
	"slices"

	"bankgraph/core/accounts"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// mayBalance reports whether the last entry may be the offset of all others, by what can be read of them: it
// moves what they move together, and none of them is on its side where that can be read.
func (b *batch) mayBalance() bool {
	minor := b.last.Amount.Minor
	others, beside := b.Credits+b.Debits+b.either-minor, int64(0)
	switch b.last.Direction {
	case rails.Credit:
		beside = b.Credits - minor
	case rails.Debit:
		beside = b.Debits - minor
	}
	switch {
	case !sized(b.last):
		return beside == 0
	case b.unread:
		return minor > 0 && beside == 0 && others <= minor
	}
	return minor > 0 && beside == 0 && others == minor
}

// balancing returns the entries that may be the offset of all others, if they are of an account of the
// customer: the last one, or else one that is alone in its direction, wherever it stands.
func (b *batch) balancing() (all []nacha.Entry) {
	if b.last.Wrong == nil && b.mayBalance() {
		all = append(all, b.last)
	}
	if b.doubt > 0 || b.Credits == 0 || b.Credits != b.Debits {
		return all
	}
	for _, l := range b.lone {
		if l.of == 1 && l.first.Wrong == nil && l.first.Line != b.last.Line {
			all = append(all, l.first)
		}
	}
	return all
}

// payer is an account of the customer that a batch may be paid from.
type payer struct {
	UID       accounts.UID `bun:"uid"`
	Hash      []byte       `bun:"number_hash"`
	BankID    string       `bun:"bank_id"`
	CompanyID string       `bun:"company_id"` // '' of one that was found by its number
	Default   bool         `bun:"default_offset"`
}

// findingPayers finds the accounts of a customer that have one of some numbers, and of each company id the
// default offset account and another one, or else two that have the id.
var findingPayers = db.NewQuery[payer](`SELECT a.uid, a.number_hash, a.bank_id, '' AS company_id,
	a.default_offset
	FROM accounts AS a WHERE a.tenant = $1 AND a.customer = $2 AND a.deleted_at IS NULL
	AND a.status <> 'Closed' AND a.number_hash = ANY($3::bytea[])
	UNION ALL (SELECT r.uid, r.number_hash, r.bank_id, r.company_id, r.default_offset FROM (
	  SELECT o.*, row_number() OVER (PARTITION BY o.company_id ORDER BY o.default_offset DESC, o.uid) AS place
	  FROM (
	    SELECT a.uid, a.number_hash, a.bank_id,
	    coalesce(nullif(a.ach_company_id, ''), c.ach_company_id) AS company_id,
	      a.default_offset
	    FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
	    WHERE a.tenant = $1 AND c.tenant = $1 AND a.customer = $2 AND a.deleted_at IS NULL
	    AND a.status <> 'Closed' AND a.enable_ach) AS o
	  WHERE o.company_id = ANY($4::text[])) AS r WHERE r.place <= 2 ORDER BY r.company_id, r.place)`)

// writtenBatches reads who pays the batches of a file of which some lines are checked.
var writtenBatches = db.NewQuery[FileBatch](`SELECT number, coalesce(offset_account, 0) AS offset_account,
	balanced, fault FROM bulk_file_batches WHERE tenant = $1 AND file = $2`)

// payFrom finds the accounts that batches are paid from: the account of the entry that balances all others,
// else the default offset account of the company id, else the only account that has the id. It fails those of
// which it is not known.
func (s *Service) payFrom(ctx context.Context, f *BulkFile, all batches) error {
	var hashes [][]byte
	var ids []string
	for _, b := range all {
		for _, e := range b.balancing() {
			hashes = append(hashes, s.hashesOf(f, e)...)
		}
		ids = append(ids, b.CompanyID)
	}
	slices.Sort(ids)
	reads := s.db.PrimaryBatch()
	found := db.Queue(reads, findingPayers, f.Tenant, f.Customer, hashes, slices.Compact(ids))
	written := db.Queue(reads, writtenBatches, f.Tenant, f.UID)
	if err := reads.Send(ctx); err != nil {
		return err
	}
	for _, b := range all {
		b.payFrom(found.Items, func(e nacha.Entry) [][]byte { return s.hashesOf(f, e) })
	}
	for _, is := range written.Items {
		all[is.Number-1].stays(is)
	}
	return nil
}

// stays keeps the batch with the account that lines of it were checked with, and that people have seen.
func (b *batch) stays(is *FileBatch) {
	switch {
	case is.Balanced == b.Balanced && is.OffsetAccount == b.OffsetAccount:
	case is.Balanced || b.Balanced: // an entry is the offset for a part of the lines alone
		b.Fault = "the numbers of the customer's accounts have changed while the file was checked"
	default:
		b.OffsetAccount, b.Fault = is.OffsetAccount, is.Fault
	}
}

// hashesOf returns the hashes of the account number of an entry.
func (s *Service) hashesOf(f *BulkFile, e nacha.Entry) [][]byte {
	return s.keys.Hashes(int64(f.Tenant), accounts.NumberColumn, e.Number)
}

// payFrom finds the account that the batch is paid from among known ones.
func (b *batch) payFrom(known []*payer, hashesOf func(nacha.Entry) [][]byte) {
	if b.last.Wrong != nil && b.mayBalance() {
		b.doubts(b.last.Line, "has faults")
		return
	}
	for _, e := range b.balancing() {
		hashes := hashesOf(e)
		own := slices.IndexFunc(known, func(p *payer) bool {
			return p.BankID == e.Routing &&
				slices.ContainsFunc(hashes, func(hash []byte) bool { return string(hash) == string(p.Hash) })
		})
		switch {
		case own < 0:
			continue
		case b.doubt > 0:
			b.doubts(b.doubt, "has faults")
			return
		}
		b.OffsetAccount, b.Balanced, b.offset = known[own].UID, true, e.Line
		return
	}
	var withID []*payer
	for _, p := range known {
		if p.CompanyID == b.CompanyID {
			withID = append(withID, p)
		}
	}
	if b.mayBalance() && slices.ContainsFunc(withID, func(p *payer) bool { return p.BankID == b.last.Routing }) {
		b.doubts(b.last.Line, "balances all others, and is of no account of the customer here")
		return
	}
	if len(withID) > 0 && (withID[0].Default || len(withID) == 1) {
		b.OffsetAccount = withID[0].UID
		return
	}
	b.Fault = "no account of the customer is the default offset account of company id " + b.CompanyID +
		", and the batch does not balance itself"
}

// doubts fails a batch of which it is not known from which account it is meant to be paid.
func (b *batch) doubts(line int, why string) {
	b.Fault = fmt.Sprintf("line %d %s, so that it is not known from which account the batch is meant "+
		"to be paid: none of its entries is", line, why)
}
