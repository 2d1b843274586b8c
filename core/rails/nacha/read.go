package nacha

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/moov-io/ach"

	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// What Read takes at most of a file, and how many faults it finds.
const (
	MostBytes  = 50 << 20
	MostFaults = 1000
)

// Read reads a file and hands out its entries, each with its batch, in their order. It goes on after a
// fault: the entry that has it is left out, and all faults together are the error, of the type Faults. Those
// of totals are found after their entries were handed out, so whoever acts on entries has to undo it then,
// or read twice. An error of each ends the reading, and is returned.
//
// Records have 94 characters of ASCII, with or without line ends.
func Read(from io.Reader, each func(Batch, Entry) error) (Header, Totals, error) {
	r := &reader{in: bufio.NewReaderSize(from, 64<<10), each: each}
	return r.all()
}

// ReadAll reads a file as Read does, and also hands out the entries of batches that have a fault, as what
// they move counts beside the others. Of those it sets Wrong and Line, and Routing, Direction and Amount as
// far as they can be read.
func ReadAll(from io.Reader, each func(Batch, Entry) error) (Header, Totals, error) {
	r := &reader{in: bufio.NewReaderSize(from, 64<<10), each: each, faulted: true}
	return r.all()
}

// ReadAfter reads a file as Read does, and hands out the entries after a line. Those before it are not looked
// at closely: whoever reads on knows what is wrong with them.
func ReadAfter(from io.Reader, line int, each func(Batch, Entry) error) (Header, Totals, error) {
	r := &reader{in: bufio.NewReaderSize(from, 64<<10), each: each, after: line}
	return r.all()
}

// all reads the whole file. A panic of what reads it is a fault of the file, which comes from elsewhere:
// nobody else's must wait for it.
func (r *reader) all() (file Header, totals Totals, err error) {
	defer func() {
		if r.handing { // the panic is not the file's
			return
		}
		if panicked := recover(); panicked != nil {
			file, totals = r.file, r.total.totals(r.batches)
			err = Faults{{Line: r.line, Record: "file", Reason: "has something that cannot be read"}}
		}
	}()
	for {
		record, err := r.next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = r.take(record)
		}
		if err != nil {
			return r.file, r.total.totals(r.batches), err
		}
	}
	if err := r.finish(); err != nil {
		return r.file, r.total.totals(r.batches), err
	}
	if len(r.faults) > 0 {
		return r.file, r.total.totals(r.batches), r.faults
	}
	return r.file, r.total.totals(r.batches), nil
}

type reader struct {
	in   *bufio.Reader
	each func(Batch, Entry) error

	handing bool // while each is called

	read   int // bytes
	ends   int // line ends
	column int // characters after the last one
	line   int // of the record
	file   Header
	stage  stage

	header  heading // of the open batch, or empty
	batch   Batch
	foreign bool   // the batch is of a class that is not read
	entry   made   // waits for its addenda; or empty
	said    string // its record
	faulty  bool   // and has a fault
	skip    bool   // addenda belong to an entry that could not be read
	last    string // trace number
	inBatch sums
	unsure  bool // records could not be read, so that totals say nothing
	batches int
	total   sums
	faults  Faults
	faulted bool // entries with faults are handed out, too
	after   int  // the line after which entries are looked at closely, and handed out

	// of Receive alone
	lenient bool   // what is wrong with an entry is said of that entry, and is no fault of the file
	flaw    *Fault // of the entry that waits for its addenda: what was wrong first
	odd     *Fault // of a record with other characters, until it is read
	ofBatch *Fault // what is wrong with the header of the open batch
	unread  bool   // its entries have another form
}

// stage is what has been read.
type stage int

const (
	nothing stage = iota
	begun         // the file header
	ended         // and the file control
)

func (r *reader) fault(record, field, reason string) {
	if len(r.faults) < MostFaults {
		r.faults = append(r.faults, Fault{Line: r.line, Record: record, Field: field, Reason: reason})
	}
}

func (r *reader) wrong(record string, err error) {
	field, reason := fieldAndReason(err)
	r.fault(record, field, reason)
}

func (r *reader) parse(record string) error {
	switch record[0] {
	case '1':
		r.fileHeader(record)
	case '5':
		return r.batchHeader(record)
	case '6':
		r.detail(record)
	case '7':
		r.addenda(record)
	case '8':
		r.batchControl(record)
	case '9':
		r.fileControl(record)
	}
	return nil
}

func (r *reader) fileHeader(record string) {
	if r.stage != nothing {
		r.fault("file header", "", "is there a second time")
		return
	}
	r.stage = begun
	h := ach.NewFileHeader()
	h.Parse(record)
	if err := h.Validate(); err != nil {
		r.wrong("file header", err)
		return
	}
	created, err := time.ParseInLocation(yymmdd+"1504", h.FileCreationDate+h.FileCreationTime, calendar.Zone())
	if err != nil { // its time may be left out
		created, err = time.ParseInLocation(yymmdd, h.FileCreationDate, calendar.Zone())
	}
	if err != nil {
		r.fault("file header", "FileCreationDate", "is no day")
	}
	r.file = Header{
		Origin: h.ImmediateOrigin, Destination: h.ImmediateDestination, OriginName: trim(h.ImmediateOriginName),
		DestinationName: trim(h.ImmediateDestinationName), CreatedAt: created.UTC(),
		Reference: trim(h.ReferenceCode),
	}
	if h.FileIDModifier != "" {
		r.file.Modifier = h.FileIDModifier[0]
	}
}

func (r *reader) batchHeader(record string) error {
	if r.header != (heading{}) {
		r.fault("batch header", "", "comes before the control of the batch before")
	}
	r.ofBatch, r.odd, r.unread = r.odd, nil, false
	given := record
	if r.lenient {
		record = r.filled(record)
	}
	h := heading{BatchHeader: ach.NewBatchHeader()}
	if isAbroad(record) {
		h = parseAbroad(record)
	} else {
		h.Parse(record)
	}
	r.header, r.inBatch, r.last = h, sums{}, ""
	r.batch = Batch{
		Class: rails.SECCode(h.StandardEntryClassCode), CompanyID: trim(h.CompanyIdentification),
		CompanyName: trim(h.CompanyName),
		CompanyData: trim(h.CompanyDiscretionaryData), Description: trim(h.CompanyEntryDescription),
		SameDay: strings.HasPrefix(h.CompanyDescriptiveDate, "SD"),
		Bank:    h.ODFIIdentification, Abroad: h.readAbroad(), Number: h.BatchNumber, Line: r.line,
	}
	if r.lenient {
		r.batch.asGiven(given)
	}
	switch h.ServiceClassCode {
	case ach.CreditsOnly:
		r.batch.Only = rails.Credit
	case ach.DebitsOnly:
		r.batch.Only = rails.Debit
	}
	r.foreign = false
	if err := h.Validate(); err != nil {
		field, reason := fieldAndReason(err)
		r.batchFault(field, reason)
		r.foreign = true
	}
	if r.batch.Class == ach.ADV {
		if !r.foreign {
			r.batchFault("StandardEntryClassCode", "is not read")
		}
		r.foreign, r.unread = true, true
	}
	r.unsure = r.unsure || r.foreign && (!r.lenient || r.unread)
	day, err := time.Parse(yymmdd, h.EffectiveEntryDate)
	if err != nil && r.batch.Class != COR && r.batch.Class != rails.ENR {
		r.batchFault("EffectiveEntryDate", "is no day")
	}
	r.batch.Effective = day
	if r.lenient && r.unread {
		return r.hand(Entry{Line: r.line, Wrong: &Wrong{Fault: *r.ofBatch}})
	}
	return nil
}

func (r *reader) batchControl(record string) {
	if r.header.BatchHeader == nil {
		r.fault("batch control", "", "belongs to no batch")
		r.unsure = true
		return
	}
	c, h, was := ach.NewBatchControl(), r.header, r.inBatch
	if r.lenient && r.unread { // it has another form, too
		r.header, r.batches = heading{}, r.batches+1
		return
	}
	c.Parse(record)
	if err := c.Validate(); err != nil {
		r.wrong("batch control", err)
	}
	sameCompany := c.CompanyIdentification == h.CompanyIdentification || r.lenient && r.batch.CompanyID == ""
	if c.ServiceClassCode != h.ServiceClassCode || !sameCompany ||
		c.ODFIIdentification != h.ODFIIdentification || c.BatchNumber != h.BatchNumber {
		r.fault("batch control", "", "is not that of the batch header")
	}
	r.compare("batch control", was, c.EntryAddendaCount, c.EntryHash,
		c.TotalCreditEntryDollarAmount, c.TotalDebitEntryDollarAmount)
	r.total.merge(was)
	r.header, r.batches = heading{}, r.batches+1
}

// compare names the totals that are not what they should be. Of what could not be read, totals are compared
// as far as the rest says what they are: a sum is no less than what is known of it.
func (r *reader) compare(record string, is sums, count, hash, credits, debits int) {
	if r.unsure {
		return
	}
	room := max(0, min(is.either, int64(credits)-is.credits)) // on the side that has room for it
	is.credits, is.debits = is.credits+room, is.debits+is.either-room
	for _, total := range []struct {
		field   string
		is, say int
		unread  bool // a part of it
		least   bool // it is a sum, of which a part can be known
	}{
		{"EntryAddendaCount", is.entries + is.addenda, count, false, false},
		{"EntryHash", int(is.hash), hash, is.noHash, false},
		{"TotalCreditEntryDollarAmount", int(is.credits), credits, is.noAmount, true},
		{"TotalDebitEntryDollarAmount", int(is.debits), debits, is.noAmount, true},
	} {
		if total.is != total.say && (!total.unread || total.least && total.say < total.is) {
			r.fault(record, total.field, fmt.Sprintf("says %d, and the entries make %d", total.say, total.is))
		}
	}
}

func (r *reader) fileControl(record string) {
	r.stage = ended
	if r.header.BatchHeader != nil {
		r.fault("file control", "", "comes before the control of the last batch")
		r.unsure = true
	}
	c := ach.NewFileControl()
	c.Parse(record)
	if err := c.Validate(); err != nil {
		r.wrong("file control", err)
	}
	if c.BatchCount != r.batches && !r.unsure {
		r.fault("file control", "BatchCount", fmt.Sprintf("says %d, and the file has %d", c.BatchCount, r.batches))
	}
	r.compare("file control", r.total, c.EntryAddendaCount, c.EntryHash,
		c.TotalCreditEntryDollarAmountInFile, c.TotalDebitEntryDollarAmountInFile)
}

// finish looks for what is missing at the end.
func (r *reader) finish() error {
	err := r.flush()
	if r.stage != ended {
		r.fault("file", "", "ends without a file control")
	}
	return err
}
