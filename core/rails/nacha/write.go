package nacha

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/moov-io/ach"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// sums are the totals of a batch or of a file.
type sums struct {
	entries, addenda int
	credits, debits  int64  // cents
	hash             uint64 // of the receiving banks' first eight digits

	// of what came: the cents of entries of which the side cannot be read, and what is not known at all
	either           int64
	noAmount, noHash bool
}

func (s *sums) add(d made) {
	s.entries++
	s.addenda += d.addenda()
	if d.CreditOrDebit() == "C" {
		s.credits += int64(d.Amount)
	} else {
		s.debits += int64(d.Amount)
	}
	bank, _ := strconv.ParseUint(d.RDFIIdentification, 10, 64) // of eight digits
	s.hash = (s.hash + bank) % 10_000_000_000
}

func (s *sums) merge(other sums) {
	s.entries, s.addenda = s.entries+other.entries, s.addenda+other.addenda
	s.credits, s.debits = s.credits+other.credits, s.debits+other.debits
	s.hash = (s.hash + other.hash) % 10_000_000_000
	s.either += other.either
	s.noAmount, s.noHash = s.noAmount || other.noAmount, s.noHash || other.noHash
}

// sideless takes back on which side an entry counts that was added: its code cannot be read.
func (s *sums) sideless(d made) {
	if d.CreditOrDebit() == "C" {
		s.credits -= int64(d.Amount)
	} else {
		s.debits -= int64(d.Amount)
	}
	s.either += int64(d.Amount)
}

// addUnread adds what can be read of the record of an entry that has other characters than digits in a
// number.
func (s *sums) addUnread(record string) {
	s.entries++
	bank, err := strconv.ParseUint(record[3:11], 10, 64)
	s.hash, s.noHash = (s.hash+bank)%10_000_000_000, s.noHash || err != nil
	e := partly(record)
	s.noAmount = s.noAmount || e.Amount.Currency == ""
	switch e.Direction {
	case rails.Credit:
		s.credits += e.Amount.Minor
	case rails.Debit:
		s.debits += e.Amount.Minor
	default:
		s.either += e.Amount.Minor
	}
}

func addenda(d *ach.EntryDetail) int {
	n := len(d.Addenda05)
	for _, there := range []bool{
		d.Addenda02 != nil, d.Addenda98 != nil, d.Addenda98Refused != nil, d.Addenda99 != nil,
		d.Addenda99Dishonored != nil, d.Addenda99Contested != nil,
	} {
		if there {
			n++
		}
	}
	return n
}

// Writer writes a file. Of what is refused nothing is written, and the writer goes on; after an error of the
// file below it, it does not.
type Writer struct {
	out     *bufio.Writer
	created time.Time
	lines   int
	next    int    // number of the next entry in its trace
	bank    string // of the last batch
	last    string // trace of it

	batch   *Batch // the open one
	header  heading
	inBatch sums
	ending  bool // the offset is written
	batches int
	total   sums
	err     error
}

// NewWriter begins a file.
func NewWriter(to io.Writer, h Header) (*Writer, error) {
	return newWriter(bufio.NewWriterSize(to, 64<<10), h)
}

// Check returns the fault for which a file with one entry could not be written.
func Check(h Header, b Batch, e Entry) error {
	w, err := newWriter(bufio.NewWriterSize(io.Discard, 16), h)
	if err == nil {
		err = w.Batch(b)
	}
	if err == nil {
		_, err = w.Entry(e)
	}
	return err
}

func newWriter(out *bufio.Writer, h Header) (*Writer, error) {
	header := ach.NewFileHeader()
	header.ImmediateOrigin, header.ImmediateDestination = h.Origin, h.Destination
	header.ImmediateOriginName = cut(h.OriginName, 23)
	header.ImmediateDestinationName = cut(h.DestinationName, 23)
	created := h.CreatedAt.In(calendar.Zone())
	header.FileCreationDate, header.FileCreationTime = created.Format(yymmdd), created.Format("1504")
	header.FileIDModifier, header.ReferenceCode = "A", h.Reference
	if h.Modifier != 0 {
		header.FileIDModifier = string(rune(h.Modifier))
	}
	w := &Writer{out: out, created: created, next: max(1, h.FirstTrace)}
	for field, text := range map[string]struct {
		value string
		most  int
	}{
		"Origin": {h.Origin, 10}, "Destination": {h.Destination, 9}, "Reference": {h.Reference, 8},
		"OriginName": {header.ImmediateOriginName, 23}, "DestinationName": {header.ImmediateDestinationName, 23},
	} {
		if reason := wrong(text.value, text.most); reason != "" {
			return nil, w.fault("file header", field, reason)
		}
	}
	if err := header.Validate(); err != nil {
		field, reason := fieldAndReason(err)
		return nil, w.fault("file header", field, reason)
	}
	w.line(header.String())
	return w, w.err
}

func (w *Writer) fault(record, field, reason string) error {
	return Fault{Line: w.lines + 1, Record: record, Field: field, Reason: reason}
}

// line writes a record of 94 characters.
func (w *Writer) line(record string) {
	if w.err == nil && len(record) != 94 {
		w.err = fmt.Errorf("nacha: line %d has %d characters", w.lines+1, len(record))
	}
	if w.err == nil {
		_, w.err = w.out.WriteString(record)
	}
	if w.err == nil {
		w.err = w.out.WriteByte('\n')
	}
	w.lines++
}

// Batch ends the batch before, and begins one. A batch without entries is not written.
func (w *Writer) Batch(b Batch) error {
	if err := w.end(); err != nil {
		return err
	}
	h := ach.NewBatchHeader()
	h.StandardEntryClassCode, h.ServiceClassCode = string(b.Class), service(b)
	h.CompanyIdentification, h.CompanyName = b.CompanyID, cut(b.CompanyName, 16)
	h.CompanyDiscretionaryData, h.CompanyEntryDescription = cut(b.CompanyData, 20), b.Description
	if !b.Effective.IsZero() {
		h.EffectiveEntryDate = b.Effective.Format(yymmdd)
	}
	b.Number = w.batches + 1
	h.BatchNumber = b.Number
	if b.SameDay {
		h.CompanyDescriptiveDate = "SD" + settles(w.created)
	}
	for field, text := range map[string]struct {
		value string
		most  int
	}{
		"CompanyID": {b.CompanyID, 10}, "Description": {b.Description, 10}, "CompanyName": {h.CompanyName, 16},
		"CompanyData": {h.CompanyDiscretionaryData, 20},
	} {
		if reason := wrong(text.value, text.most); reason != "" {
			return w.fault("batch header", field, reason)
		}
	}
	if err := w.checkBatch(b); err != nil {
		return err
	}
	h.ODFIIdentification = b.Bank[:8]
	head := heading{h, b.abroad(h)}
	if err := head.Validate(); err != nil {
		field, reason := fieldAndReason(err)
		return w.fault("batch header", field, reason)
	}
	if err := w.checkOffset(b, head); err != nil {
		return err
	}
	if w.bank != b.Bank { // traces of another bank may be lower
		w.bank, w.last = b.Bank, ""
	}
	w.batch, w.header, w.inBatch = &b, head, sums{}
	return w.err
}

func (w *Writer) checkBatch(b Batch) error {
	if field, reason := b.checkAbroad(); reason != "" {
		return w.fault("batch header", field, reason)
	}
	switch {
	case b.Class == ach.ADV:
		return w.fault("batch header", "Class", "is not written")
	case !digits(b.Bank, 9):
		return w.fault("batch header", "Bank", "must have nine digits")
	case b.Effective.IsZero() && (b.Class == rails.ENR || b.Class == COR):
	case b.Effective.Year() < 2000 || b.Effective.Year() > 2068: // two digits have no other years in Go
		return w.fault("batch header", "Effective", "must be a day of this century")
	case w.batches == 999_999:
		return w.fault("batch header", "", "is one too many in this file")
	}
	return nil
}

// service is the service class: which directions a batch has.
func service(b Batch) int {
	switch {
	case b.Offset != nil || b.Only == "":
		return ach.MixedDebitsAndCredits
	case b.Only == rails.Credit:
		return ach.CreditsOnly
	}
	return ach.DebitsOnly
}

// settles is when the same-day window of a file settles, as SDHHMM wants it.
func settles(created time.Time) string {
	switch clock := created.Format("1504"); {
	case clock < "1030":
		return "1300"
	case clock < "1445":
		return "1700"
	}
	return "1800"
}

// Entry writes an entry into the batch, and returns its trace number.
func (w *Writer) Entry(e Entry) (trace string, err error) {
	if w.batch == nil {
		return "", w.fault("entry", "", "is in no batch")
	}
	if e.Contest != nil {
		return "", w.fault("entry", "Contest", "is not written")
	}
	if c := e.Change; c != nil && len(c.Data) > mostCorrected {
		return "", w.fault("entry", "Change", wrong(c.Data, mostCorrected))
	}
	if e.Kind == "" {
		e.Kind = Live
	}
	if field, reason := e.check(w.batch); reason != "" {
		return "", w.fault("entry", field, reason)
	}
	if w.next > 9_999_999 && e.Trace == "" {
		return "", w.fault("entry", "Trace", "has no number left")
	}
	if e.Trace == "" {
		e.Trace = fmt.Sprintf("%s%07d", w.batch.Bank[:8], w.next)
	}
	return e.Trace, w.put(e)
}

func (w *Writer) put(e Entry) error {
	if !digits(e.Trace, 15) || e.Trace[:8] != w.batch.Bank[:8] || e.Trace <= w.last {
		return w.fault("entry", "Trace", "must be this bank's, and come after the one before")
	}
	d := e.record(w.batch)
	if err := checkEntry(w.header, d); err != nil {
		field, reason := fieldAndReason(err)
		return w.fault("entry", field, reason)
	}
	records, fine := lines(d)
	if !fine {
		return w.fault("entry", "", "has characters that ACH does not take")
	}
	after := w.inBatch
	after.add(d)
	if !w.ending && !w.room(after) {
		return w.fault("entry", "", "is one too many: the totals have no room for it")
	}
	if w.inBatch.entries == 0 {
		w.line(w.header.String())
	}
	w.inBatch, w.last = after, e.Trace
	number, _ := strconv.Atoi(e.Trace[8:])
	w.next = max(w.next, number+1)
	for _, line := range records {
		w.line(line)
	}
	return w.err
}

// lines are the records of an entry, and whether they have the right characters.
func lines(d made) (all []string, fine bool) {
	if d.abroad != nil {
		all = append(append(all, d.abroad.String()), linesAbroad(d.abroad)...)
	} else {
		all = append(all, d.String())
	}
	for _, a := range d.Addenda05 {
		all = append(all, a.String())
	}
	switch {
	case d.Addenda98 != nil:
		all = append(all, d.Addenda98.String())
	case d.Addenda99 != nil:
		all = append(all, d.Addenda99.String())
	case d.Addenda99Dishonored != nil:
		all = append(all, d.Addenda99Dishonored.String())
	}
	return all, !slices.ContainsFunc(all, func(line string) bool {
		return len(line) != 94 || wrong(line, 94) != ""
	})
}

// end writes the offset and the control of the open batch.
func (w *Writer) end() error {
	if w.err != nil || w.batch == nil || w.inBatch.entries == 0 {
		w.batch = nil
		return w.err
	}
	w.ending = true
	err := w.offset()
	if w.ending = false; err != nil {
		return err
	}
	c := ach.NewBatchControl()
	c.ServiceClassCode, c.CompanyIdentification = w.header.ServiceClassCode, w.header.CompanyIdentification
	c.ODFIIdentification, c.BatchNumber = w.header.ODFIIdentification, w.header.BatchNumber
	c.EntryAddendaCount, c.EntryHash = w.inBatch.entries+w.inBatch.addenda, int(w.inBatch.hash)
	c.TotalCreditEntryDollarAmount = int(w.inBatch.credits)
	c.TotalDebitEntryDollarAmount = int(w.inBatch.debits)
	w.line(c.String())
	w.total.merge(w.inBatch)
	w.batches++
	w.batch, w.inBatch = nil, sums{}
	return w.err
}

// Close ends the file, filled up to a multiple of ten lines. It does not close what the file is written to.
func (w *Writer) Close() (Totals, error) {
	if err := w.end(); err != nil {
		return Totals{}, err
	}
	if w.batches == 0 {
		return Totals{}, w.fault("file control", "", "a file must have an entry")
	}
	c := ach.NewFileControl()
	c.BatchCount, c.EntryHash = w.batches, int(w.total.hash)
	c.EntryAddendaCount = w.total.entries + w.total.addenda
	c.TotalCreditEntryDollarAmountInFile = int(w.total.credits)
	c.TotalDebitEntryDollarAmountInFile = int(w.total.debits)
	c.BlockCount = (w.lines + 1 + 9) / 10
	w.line(c.String())
	for w.lines%10 != 0 {
		w.line(strings.Repeat("9", 94))
	}
	if w.err == nil {
		w.err = w.out.Flush()
	}
	return w.total.totals(w.batches), w.err
}

func (s sums) totals(batches int) Totals {
	return Totals{
		Batches: batches, Entries: s.entries, Addenda: s.addenda,
		Credits: money.Of(s.credits, "USD"), Debits: money.Of(s.debits, "USD"),
	}
}
