package files

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// A NACHA file is read twice: first its totals and the accounts that its batches are paid from, which may be
// in their last entries (first.go); then its entries.

// mostBatches is how many batches a file has at most.
const mostBatches = 10_000

// batch is a batch of a file, as the first reading finds it.
type batch struct {
	FileBatch
	head   nacha.Batch
	last   nacha.Entry // which may be the offset of all others: of the account that they are paid from
	lone   [2]lone     // credits and debits, of which one alone may be the offset, too
	offset int         // the line of the offset; 0 if there is none
	either int64       // cents of entries of which it cannot be read whether they are credits or debits
	doubt  int         // the line of the first entry of which it cannot be read what it moves; 0 if none
	unread bool        // amounts could not be read
}

// lone is the first of so many entries in one direction.
type lone struct {
	first nacha.Entry
	of    int
}

func (l *lone) add(e nacha.Entry) {
	if l.of == 0 {
		l.first = e
	}
	l.of++
}

// batches are the batches of a file, in its order.
type batches []*batch

// readBatches reads a NACHA file for the first time: its batches, the faults of the file as a whole, and
// those of entries.
func readBatches(from io.Reader, f *BulkFile) (all batches, whole, entries Faults, err error) {
	text, _ := unmarked(from)
	_, _, err = nacha.ReadAll(text, func(head nacha.Batch, e nacha.Entry) error {
		if len(all) == 0 || all[len(all)-1].head != head {
			if len(all) == mostBatches {
				return broken(int32(e.Line), "", fault.Max,
					fmt.Sprintf("the file has more than %d batches", mostBatches)) //nolint:gosec // bounded by the size
			}
			all = append(all, newBatch(f, head, int32(len(all)+1))) //nolint:gosec // bounded
		}
		all[len(all)-1].add(e)
		return nil
	})
	var faults nacha.Faults
	switch {
	case errors.As(err, &faults):
		for _, one := range faults {
			to := &whole
			if one.Record == "entry" || one.Record == "addenda" {
				to = &entries
			}
			*to = append(*to, FileFault{
				int32(one.Line), strings.TrimSpace(one.Record + " " + one.Field), string(fault.Malformed),
				one.Reason, //nolint:gosec // bounded
			})
		}
		if len(faults) >= nacha.MostFaults { // what else is wrong is not known
			whole = append(whole, FileFault{
				0, "", string(fault.Max),
				fmt.Sprintf("the file has %d faults or more", nacha.MostFaults),
			})
		}
		slices.SortStableFunc(entries, func(a, b FileFault) int { return cmp.Compare(a.Line, b.Line) })
		return all, whole[:min(len(whole), MostFaults)], entries, nil
	case err != nil:
		return nil, nil, nil, err
	}
	return all, nil, nil, nil
}

func newBatch(f *BulkFile, head nacha.Batch, number int32) *batch {
	b := &batch{head: head, FileBatch: FileBatch{
		Tenant: f.Tenant, File: f.UID, Number: number, ID: uuid.NewString(),
		BatchNumber:  int32(head.Number), //nolint:gosec // seven digits
		ServiceClass: serviceClasses[head.Only], Originator: head.Bank, CompanyName: head.CompanyName,
		CompanyID: head.CompanyID, Class: head.Class, Description: head.Description,
	}}
	if !head.Effective.IsZero() {
		b.Effective = &head.Effective
	}
	return b
}

// serviceClasses are the service class codes of batches, by the direction that all their entries have; "" for
// both.
var serviceClasses = map[rails.EntryType]string{"": "200", rails.Credit: "220", rails.Debit: "225"}

// add counts an entry, also one with faults, as far as it can be read.
func (b *batch) add(e nacha.Entry) {
	b.last, b.unread = e, b.unread || !sized(e)
	if b.doubt == 0 && (!sized(e) || e.Direction == "") {
		b.doubt = e.Line
	}
	var hash int64
	_, _ = fmt.Sscan(strings.TrimLeft(e.Routing[:min(8, len(e.Routing))], "0"), &hash)
	b.EntryHash = (b.EntryHash + hash) % 10_000_000_000
	b.Entries += records(e)
	switch e.Direction {
	case rails.Credit:
		b.Credits += e.Amount.Minor
		b.lone[0].add(e)
	case rails.Debit:
		b.Debits += e.Amount.Minor
		b.lone[1].add(e)
	default:
		b.either += e.Amount.Minor
	}
}

// sized reports whether the amount of an entry could be read.
func sized(e nacha.Entry) bool { return e.Amount.Currency != "" }

// records is how many records an entry has: itself and its addenda. Of a remittance in CTX one counts.
func records(e nacha.Entry) int32 {
	n := int32(1)
	if e.Remittance != "" {
		n++
	}
	if i := e.International; i != nil {
		n += mandatory + int32(len(i.Correspondents)) //nolint:gosec // at most five
		if len(e.Remittance) > lineOfRemittance {
			n++
		}
	}
	return n
}

// mandatory is how many addenda every entry of IAT has; a remittance of it goes on after so many characters.
const (
	mandatory        = 7
	lineOfRemittance = 80
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

// readEntries reads a NACHA file again, and hands out its entries after a line. Entries with faults are
// handed out as such, in their order.
func readEntries(
	from io.Reader, all batches, faulty Faults, after int32, each func(*readPayment) error,
) error {
	at, read := -1, &measured{from: from}
	text, _ := unmarked(read)
	// hand hands out an entry, and before it those with faults that stand before a line.
	hand := func(before int32, s *readPayment) error {
		for len(faulty) > 0 && faulty[0].Line < before {
			wrong := &readPayment{line: faulty[0].Line, last: faulty[0].Line, end: read.bytes}
			for len(faulty) > 0 && faulty[0].Line == wrong.line {
				wrong.faults, faulty = append(wrong.faults, faulty[0]), faulty[1:]
			}
			if wrong.line > after {
				if err := each(wrong); err != nil {
					return err
				}
			}
		}
		if s == nil || s.line <= after {
			return nil
		}
		s.end = read.bytes
		return each(s)
	}
	_, _, err := nacha.ReadAfter(text, int(after), func(head nacha.Batch, e nacha.Entry) error {
		for at < 0 || all[at].head != head { // a batch of which every entry has faults is not handed out
			at++
		}
		b := all[at]
		if e.Line == b.offset {
			return nil // the offset, which each payment has of its own
		}
		return hand(int32(e.Line), b.entry(e)) //nolint:gosec // bounded by the size
	})
	var faults nacha.Faults
	if err != nil && !errors.As(err, &faults) {
		return err
	}
	return hand(1<<30, nil)
}

// measured counts the bytes that are read of a file, for its progress.
type measured struct {
	from  io.Reader
	bytes int64
}

func (m *measured) Read(into []byte) (n int, err error) {
	n, err = m.from.Read(into)
	m.bytes += int64(n)
	return n, err
}

// entry makes an order of an entry.
func (b *batch) entry(e nacha.Entry) *readPayment {
	s := &readPayment{
		line: int32(e.Line), last: int32(e.Line), batch: b.Number,
	} //nolint:gosec // bounded by the size
	refuse := func(field, why string) {
		s.fail(FileFault{s.line, field, string(fault.Forbidden), why})
	}
	switch {
	case e.Return != nil || e.Dishonour != nil || e.Contest != nil || e.Change != nil:
		refuse("entry TransactionCode", "returns and notices of change are no payments")
	case e.Kind == nacha.Prenote || e.Kind == nacha.ZeroDollar:
		refuse("entry TransactionCode", "entries that move no money are not sent")
	case b.Description == nacha.Reversal:
		refuse("batch header CompanyEntryDescription", "payments are reversed one by one, by their payment UID")
	case e.Data != "" && e.Data != "S" && (b.Class == rails.WEB || b.Class == rails.TEL):
		refuse("entry PaymentTypeCode", "entries of a series are not sent")
	case b.Fault != "":
		s.faults = Faults{{s.line, "batch header CompanyIdentification", string(fault.Unknown), b.Fault}}
	case e.International != nil:
		if field, why := b.unsent(e.International); why != "" {
			refuse(field, why)
		}
	}
	o := &payments.Order{
		Sender: payments.Party{UID: b.OffsetAccount}, EntryType: e.Direction, Amount: e.Amount.String(),
		Currency: string(inCents), Date: b.head.Effective, Speed: string(payments.Economy),
		ExternalReferenceID: strings.TrimSpace(e.ID), Notes: b.Description, Channel: payments.OfFiles,
		SECCode: b.Class, CompanyID: b.CompanyID, Remittance: e.Remittance,
		Receiver: payments.Receiver{
			Number: strings.TrimSpace(e.Number), Name: strings.TrimSpace(e.Name),
			Bank: payments.ReceiverBank{ID: e.Routing},
		},
	}
	if o.ExternalReferenceID == "" {
		o.ExternalReferenceID = e.Trace
	}
	if b.head.SameDay {
		o.Speed = string(payments.EconomyPlus)
	}
	o.Receiver.Type, o.Receiver.SubType = "Deposit", string(accounts.Checking)
	switch e.Account {
	case rails.Savings:
		o.Receiver.SubType = string(accounts.Savings)
	case rails.Loan:
		o.Receiver.Type, o.Receiver.SubType = "Loan", string(accounts.LineOfCredit)
	case rails.GL:
		o.Receiver.Type, o.Receiver.SubType = "GL", "GL"
	}
	if e.International != nil {
		b.abroad(o, e.International)
	}
	s.order = o
	return s
}

// unsent says what an entry of IAT has that would be lost, as entries go out in another way.
func (b *batch) unsent(i *nacha.International) (field, why string) {
	way := b.head.Abroad
	same := way.From == way.To
	switch {
	case way.From != inCents || way.Exchange != nacha.FixedToFixed && way.Exchange != nacha.FixedToVariable ||
		same != (way.Exchange == nacha.FixedToFixed):
		return "batch header ForeignExchangeIndicator",
			"must be FF for USD, or FV for another currency: a fixed amount of USD is sent"
	case way.Reference != "":
		return "batch header ForeignExchangeReference", "must be absent: the gateway gives it"
	case way.Country != i.To.Country:
		return "batch header ISODestinationCountryCode", "must be the country of the bank that receives the entry"
	case len(i.Correspondents) > 0:
		return "addenda ForeignCorrespondentBankName", "must be absent: the gateway picks the banks between"
	}
	return "", ""
}

// abroad adds to an order what an entry of IAT says. Who begins it is the customer, whatever it says.
func (b *batch) abroad(o *payments.Order, i *nacha.International) {
	to := i.Receiver
	o.Purpose, o.ReceiverBank = i.Purpose, i.To.ID
	o.Receiver.Currency = string(b.head.Abroad.To)
	o.Receiver.Bank.Name, o.Receiver.Bank.Country = i.To.Name, i.To.Country
	o.Receiver.Address = postal.Address{
		Line1: to.Street, City: to.City, State: to.State, PostalCode: to.PostalCode, CountryCode: to.Country,
	}
}

// inEntry returns the field of an entry that a field of an order is read from.
func inEntry(field string) string {
	if known := entryFields[field]; known != "" {
		return known
	}
	return "entry " + columnIn(field)
}

var entryFields = map[string]string{
	"receiver.accountNumber": "entry DFIAccountNumber", "receiver.bank.bankId": "entry RDFIIdentification",
	"receiver.name": "entry IndividualName", "paymentAmount": "entry Amount",
	"externalReferenceId":                   "entry IdentificationNumber",
	"additionalInfo.secCode":                "batch header StandardEntryClassCode",
	"additionalInfo.paymentRemittanceNotes": "addenda PaymentRelatedInformation",
	"paymentDate":                           "batch header EffectiveEntryDate",
	"paymentNotes":                          "batch header CompanyEntryDescription",
	"sender.achCompanyID":                   "batch header CompanyIdentification",
	"sender.accountUID":                     "batch header CompanyIdentification",
	"debtor.accountNumber":                  "entry DFIAccountNumber",
	"debtor.bank.bankId":                    "entry RDFIIdentification", "debtor.name": "entry IndividualName",
	"creditor.accountUID":   "batch header CompanyIdentification",
	"creditor.achCompanyID": "batch header CompanyIdentification",
	// of IAT
	"additionalInfo.transactionTypeCode":          "addenda TransactionTypeCode",
	"additionalInfo.receiverIdentificationNumber": "addenda RDFIIdentification",
	"receiver.accountCurrency":                    "batch header ISODestinationCurrencyCode",
	"receiver.bank.name":                          "addenda RDFIName",
	"receiver.bank.countryCode":                   "addenda RDFIBranchCountryCode",
	"receiver.address.addressLine1":               "addenda ReceiverStreetAddress",
	"receiver.address.city":                       "addenda ReceiverCityStateProvince",
	"receiver.address.postalCode":                 "addenda ReceiverCountryPostalCode",
	"receiver.address.countryCode":                "addenda ReceiverCountryPostalCode",
	"debtor.accountCurrency":                      "batch header ISODestinationCurrencyCode",
	"debtor.bank.name":                            "addenda RDFIName",
	"debtor.bank.countryCode":                     "addenda RDFIBranchCountryCode",
	"debtor.address.addressLine1":                 "addenda ReceiverStreetAddress",
	"debtor.address.city":                         "addenda ReceiverCityStateProvince",
	"debtor.address.postalCode":                   "addenda ReceiverCountryPostalCode",
	"debtor.address.countryCode":                  "addenda ReceiverCountryPostalCode",
}
