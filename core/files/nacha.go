package files

import (
	"cmp"
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
)

// A NACHA file is read twice: first its totals and the accounts that its batches are paid from (payers.go),
// which may stand in their last entries; then its entries.

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
