package nacha

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/moov-io/ach"

	"bankgraph/core/money"
)

func (r *reader) detail(record string) {
	d := ach.NewEntryDetail()
	r.entry, r.said, r.faulty, r.flaw = made{EntryDetail: d}, record, r.header.BatchHeader == nil, r.odd
	r.odd = nil
	if r.faulty {
		r.fault("entry", "", "is in no batch")
	} else {
		d.SetSECCode(r.header.StandardEntryClassCode)
	}
	d.Parse(record)
	d.LineNumber = r.line
	if r.header.abroad != nil {
		r.entry.abroad = ach.NewIATEntryDetail()
		r.entry.abroad.Parse(record)
	}
}

// flush checks the entry that has all its addenda, and hands it out.
func (r *reader) flush() error {
	d := r.entry
	if r.entry = (made{}); d.EntryDetail == nil {
		return nil
	}
	if r.lenient && r.unread {
		return nil
	}
	r.inBatch.add(d)
	if !new(Entry).decode(d.TransactionCode) { // on which side it counts
		r.inBatch.sideless(d)
	}
	line := r.line
	r.line = d.LineNumber
	defer func() { r.line = line }()
	if r.lenient && r.header.BatchHeader != nil {
		return r.hand(r.received(d))
	}
	if r.faulty || r.foreign {
		return r.leave()
	}
	if field, reason := r.misplaced(d); reason != "" {
		r.fault("entry", field, reason)
		return r.leave()
	}
	if r.last = d.TraceNumber; d.LineNumber <= r.after {
		return nil
	}
	entry, field, reason := r.checked(d)
	if reason != "" {
		r.fault("entry", field, reason)
		return r.leave()
	}
	return r.hand(entry)
}

// hand hands out an entry.
func (r *reader) hand(e Entry) error {
	r.handing = true
	err := r.each(r.batch, e)
	r.handing = false
	return err
}

// leave hands out what can be read of an entry with a fault, where that is asked for.
func (r *reader) leave() error {
	if !r.faulted || r.header.BatchHeader == nil {
		return nil
	}
	e := partly(r.said)
	e.Line, e.Wrong = r.line, &Wrong{Fault: Fault{Line: r.line, Record: "entry", Reason: "has a fault"}}
	return r.hand(e)
}

// partly reads what can be read of the record of an entry: from which bank, on which side, and how much.
func partly(record string) (e Entry) {
	if code := record[1:3]; digits(code, 2) {
		n, _ := strconv.Atoi(code)
		if of := (Entry{}); of.decode(n) {
			e.Direction = of.Direction
		}
	}
	if bank := record[3:12]; digits(bank, 9) {
		e.Routing = bank
	}
	if amount := record[29:39]; digits(amount, 10) {
		cents, _ := strconv.ParseInt(amount, 10, 64)
		e.Amount = money.Of(cents, "USD")
	}
	return e
}

// misplaced says what is wrong with an entry beside the others of its batch, or with how many addenda it has.
func (r *reader) misplaced(d made) (field, reason string) {
	switch trace := d.TraceNumber; {
	case trace[:8] != r.header.ODFIIdentificationField() || trace <= r.last:
		return "TraceNumber", "must be of the batch's bank, and come after the one before"
	case d.AddendaRecordIndicator != min(1, d.addenda()):
		return "AddendaRecordIndicator", "does not say what follows"
	case d.abroad != nil && d.abroad.AddendaRecords != d.addenda():
		return "AddendaRecords", "does not say how many follow"
	}
	return "", ""
}

// checked returns an entry, or what is wrong with it.
func (r *reader) checked(d made) (entry Entry, field, reason string) {
	if err := checkEntry(r.header, d); err != nil {
		field, reason = fieldAndReason(err)
		return Entry{}, field, reason
	}
	entry, known := read(d, &r.batch)
	if !known {
		return Entry{}, "TransactionCode", "is not known"
	}
	field, reason = entry.checkRead(&r.batch)
	return entry, field, reason
}

// checkRead says what is wrong with an entry that somebody else wrote.
func (e Entry) checkRead(b *Batch) (field, reason string) {
	if e.Contest != nil || e.Change != nil && strings.HasPrefix(e.Change.Code, "C6") {
		return "", ""
	}
	if e.Dishonour != nil {
		e.Dishonour = nil // other banks leave out half of it
		e.Return = &Return{OriginalTrace: "000000000000000", OriginalBank: "00000000"}
	}
	return e.check(b)
}

type lineRecord interface {
	Parse(record string)
	Validate() error
}

func (r *reader) addenda(record string) {
	if r.skip || r.foreign {
		r.inBatch.addenda++
		return
	}
	if r.entry.EntryDetail == nil {
		r.fault("addenda", "", "belongs to no entry")
		r.inBatch.addenda++
		return
	}
	a := r.attach(record)
	if a == nil {
		r.entryFault("addenda", "TypeCode", r.entry.unattached(record))
		r.inBatch.addenda++
		r.faulty = true
		r.skip = r.entry.abroad != nil // one fault is enough: each has its place after those before
		return
	}
	if r.odd != nil {
		r.entryFault("addenda", "", r.odd.Reason)
		r.odd = nil
	}
	a.Parse(record)
	if err := a.Validate(); err != nil {
		field, reason := fieldAndReason(err)
		r.entryFault("addenda", field, reason)
		r.faulty = true
	}
	if text, is := a.(*ach.Addenda17); is { // the library takes the spaces off that it begins with
		text.PaymentRelatedInformation = trim(record[3:83])
	}
	if field, reason := r.entry.checkAddenda(record); reason != "" && r.entry.abroad != nil && !r.faulty {
		r.entryFault("addenda", field, reason)
		r.faulty = true
	}
	if line, is := a.(*ach.Addenda05); is && !r.faulty && (line.SequenceNumber != len(r.entry.Addenda05) ||
		fmt.Sprintf("%07d", line.EntryDetailSequenceNumber) != r.entry.TraceNumber[8:]) {
		r.entryFault("addenda", "SequenceNumber", "does not follow the entry")
		r.faulty = true
	}
}

// attach makes an addenda of its entry.
func (r *reader) attach(record string) lineRecord {
	if r.entry.abroad != nil && record[1:2] != "9" {
		return r.entry.attachAbroad(record)
	}
	d, code := r.entry, record[3:6]
	twice := d.Addenda98 != nil || d.Addenda99 != nil || d.Addenda02 != nil || d.Addenda98Refused != nil ||
		d.Addenda99Dishonored != nil || d.Addenda99Contested != nil
	switch kind := record[1:3]; {
	case kind == "05" && len(d.Addenda05) < 9999:
		a := ach.NewAddenda05()
		d.AddAddenda05(a)
		return a
	case twice:
		return nil
	case kind == "02":
		d.Addenda02 = ach.NewAddenda02()
		return d.Addenda02
	case kind == "98" && ach.IsRefusedChangeCode(code):
		d.Addenda98Refused, d.Category = ach.NewAddenda98Refused(), ach.CategoryNOC
		return d.Addenda98Refused
	case kind == "98":
		d.Addenda98, d.Category = ach.NewAddenda98(), ach.CategoryNOC
		return d.Addenda98
	case kind == "99" && ach.IsDishonoredReturnCode(code):
		d.Addenda99Dishonored, d.Category = ach.NewAddenda99Dishonored(), ach.CategoryDishonoredReturn
		return d.Addenda99Dishonored
	case kind == "99" && ach.IsContestedReturnCode(code):
		d.Addenda99Contested, d.Category = ach.NewAddenda99Contested(), ach.CategoryDishonoredReturnContested
		return d.Addenda99Contested
	case kind == "99":
		d.Addenda99, d.Category = ach.NewAddenda99(), ach.CategoryReturn
		return d.Addenda99
	}
	return nil
}
