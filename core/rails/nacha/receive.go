package nacha

import (
	"bufio"
	"io"
	"strings"

	"github.com/moov-io/ach"

	"bankgraph/core/rails"
)

// Blank stands for a text that an entry must have and does not, where the entry is written again.
const Blank = "NOT GIVEN"

// Receive reads a file of other banks, and hands out its entries, as Read does. What is wrong with an entry,
// or with the header of its batch, says the entry itself (Entry.Wrong), and the file has no fault by it: its
// bank may send it back, and nobody else's entries wait for it. An entry that says something of another one,
// such as a return, has no fault by what is left out of it beside that. A batch whose entries have another
// form is handed out as one entry, with the line of its header.
//
// Faults of the records, of their order and of totals are the file's, as those of Read are: then it did not
// come whole, and nothing of it should be taken.
func Receive(from io.Reader, each func(Batch, Entry) error) (Header, Totals, error) {
	r := &reader{in: bufio.NewReaderSize(from, 64<<10), each: each, lenient: true}
	return r.all()
}

// entryFault says what is wrong with the entry that waits for its addenda.
func (r *reader) entryFault(record, field, reason string) {
	switch {
	case !r.lenient:
		r.fault(record, field, reason)
	case r.flaw == nil:
		r.flaw = &Fault{Line: r.line, Record: record, Field: field, Reason: reason}
	}
}

// batchFault says what is wrong with the header of a batch.
func (r *reader) batchFault(field, reason string) {
	switch {
	case !r.lenient:
		r.fault("batch header", field, reason)
	case r.ofBatch == nil:
		r.ofBatch = &Fault{Line: r.line, Record: "batch header", Field: field, Reason: reason}
	}
}

// The places of what a header of a batch and an entry must say.
var (
	inHeaders = []struct {
		field    string
		from, to int
	}{{"CompanyName", 4, 20}, {"CompanyIdentification", 40, 50}, {"CompanyEntryDescription", 53, 63}}
	number = [2]int{12, 29} // of the account, in an entry; of IAT it stands elsewhere
)

const (
	numberField = "DFIAccountNumber"
	otherSigns  = "has characters that ACH does not take"
)

// plain returns a record with other characters than those of ASCII replaced, and notes that it has some.
func (r *reader) plain(record string) string {
	if record[0] < '5' || record[0] > '7' || wrong(record, 94) == "" {
		return record
	}
	clear := []byte(record)
	field := ""
	for i, c := range clear {
		if c >= ' ' && c <= '~' {
			continue
		}
		if clear[i] = '?'; record[0] == '6' && r.header.abroad == nil && i >= number[0] && i < number[1] {
			field = numberField
		}
	}
	r.odd = &Fault{Line: r.line, Record: names[record[0]], Field: field, Reason: otherSigns}
	return string(clear)
}

// filled returns the header of a batch with what it must have and has not, and notes what that is. The
// library would refuse all its entries.
func (r *reader) filled(record string) string {
	for _, at := range inHeaders {
		if !none(record[at.from:at.to]) || at.field == "CompanyName" && isAbroad(record) {
			continue
		}
		r.batchFault(at.field, "is not given")
		record = record[:at.from] + (Blank + "          ")[:at.to-at.from] + record[at.to:]
	}
	return record
}

// none reports whether the library takes a text for one that is not given.
func none(text string) bool { return strings.Trim(text, " 0") == "" }

// Given returns a text that an entry must have as it is written again: Blank if it was not given.
func Given(text string) string {
	if none(text) {
		return Blank
	}
	return text
}

// numbered are the classes of cheques and machines, whose entries must have the number of that in place of an
// ID.
var numbered = map[rails.SECCode]bool{
	ach.ARC: true, ach.BOC: true, ach.MTE: true, ach.RCK: true, ach.XCK: true, rails.POP: true,
}

// GivenID is Given for the ID of an entry, which most classes do not demand.
func GivenID(id string, class rails.SECCode) string {
	if numbered[class] {
		return Given(id)
	}
	return id
}

// asGiven takes out of a batch what its header does not say.
func (b *Batch) asGiven(header string) {
	for i, text := range []*string{&b.CompanyName, &b.CompanyID, &b.Description} {
		if at := inHeaders[i]; trim(header[at.from:at.to]) == "" {
			*text = ""
		}
	}
}

// unreadNumber takes a record of an entry that has other characters than digits in a number.
func (r *reader) unreadNumber(record string) error {
	const reason = "has other characters than digits in a number"
	r.faulty = true
	switch r.entryFault(names[record[0]], "", reason); {
	case r.unread:
		return nil
	case record[0] == '7':
		r.inBatch.addenda++
		return nil
	}
	r.inBatch.addUnread(record)
	r.skip = true // its addenda
	if !r.lenient {
		r.said = record
		return r.leave()
	}
	e := Entry{Line: r.line, Wrong: &Wrong{Fault: *r.flaw}}
	if trace := record[79:]; digits(trace, 15) {
		e.Trace = trace
	}
	return r.hand(e)
}

// received returns an entry that has all its addenda, whatever is wrong with it.
func (r *reader) received(d made) Entry {
	about := d.TransactionCode%5 == 1 || d.Addenda98 != nil || d.Addenda98Refused != nil ||
		d.Addenda99 != nil ||
		d.Addenda99Dishonored != nil || d.Addenda99Contested != nil
	field, reason := "", ""
	switch {
	case !about:
		if field, reason = r.misplaced(d); field != "TraceNumber" {
			r.last = d.TraceNumber
		}
	default:
		d.fill()
	}
	forward := !about && field != "TraceNumber" // another one has its number, and its return could be of that
	var entry Entry
	if reason == "" && !r.foreign && !r.faulty {
		if entry, field, reason = r.checked(d); reason == "" && about && !entry.isAbout() {
			field, reason = "TransactionCode", "is of an entry that says something of another one"
		}
	}
	wrong := r.flaw
	if about && !r.faulty && d.Addenda98 == nil {
		wrong = nil // a text
	}
	if wrong == nil && reason != "" {
		wrong = &Fault{Line: d.LineNumber, Record: "entry", Field: field, Reason: reason}
	}
	if wrong == nil && (!about || r.foreign) {
		wrong = r.ofBatch
	}
	if wrong == nil && r.faulty { // by a record behind it, which is a fault of the file
		wrong = &Fault{Line: d.LineNumber, Record: "entry", Reason: "is not whole"}
	}
	if wrong == nil {
		return entry
	}
	if a := d.abroad; a != nil && (a.Addenda10 == nil || a.Addenda11 == nil || a.Addenda12 == nil ||
		a.Addenda13 == nil || a.Addenda14 == nil || a.Addenda15 == nil) {
		a.Addenda16 = nil // so that nothing is read of what only IAT says
	}
	entry, known := read(d, &r.batch)
	entry.Wrong = &Wrong{*wrong, forward && known}
	return entry
}

// fill gives an entry that says something of another one what the library asks of it, and nobody else.
func (m made) fill() {
	if trim(m.DFIAccountNumber) == "" {
		m.DFIAccountNumber = Blank
	}
	if none(m.IndividualName) {
		m.IndividualName = Blank
	}
	if m.abroad != nil && trim(m.abroad.DFIAccountNumber) == "" {
		m.abroad.DFIAccountNumber = Blank
	}
}

// isAbout reports whether an entry says something of another one.
func (e *Entry) isAbout() bool {
	return e.Return != nil || e.Dishonour != nil || e.Contest != nil || e.Change != nil
}
