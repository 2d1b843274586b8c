package files

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// cell is a column of a file: how its cells fill an order.
type cell struct {
	name string
	fill column
}

// reader reads the lines of a file in one of our own layouts. The first line names the columns.
type reader struct {
	kind   FileType
	header []cell
}

// readHeader reads the names of the columns, and returns where the lines begin.
func (r *reader) readHeader(from io.Reader) (begins int64, err error) {
	bound := &bounded{from: from}
	bound.begins()
	in, marked := unmarked(bound)
	lines := csv.NewReader(in)
	names, err := lines.Read()
	switch {
	case errors.Is(err, io.EOF):
		return 0, broken(1, "", fault.Required, "the file has no line")
	case err != nil && isParse(err):
		return 0, broken(1, "", fault.Malformed, "the line with the names of the columns cannot be read")
	case errors.Is(err, errRecord):
		return 0, broken(1, "", fault.Max, "the first line is longer than 64 KiB")
	case err != nil:
		return 0, err
	}
	var there []string
	for i, name := range names {
		known, fill := columnNamed(name)
		switch {
		case known == "" || r.kind == RTP && slices.Contains(notOfRTP, known):
			// The fault does not repeat the name: if the line with the names is missing, it is an account
			// number, or somebody's name.
			return 0, broken(1, "", fault.Malformed,
				fmt.Sprintf("the name of column %d is not known in files of this type: "+
					"the first line must name the columns", i+1))
		case slices.Contains(there, known):
			return 0, broken(1, known, fault.Malformed, "the column is there twice")
		}
		there = append(there, known)
		r.header = append(r.header, cell{known, fill})
	}
	for _, name := range needed {
		if !slices.Contains(there, name) {
			return 0, broken(1, name, fault.Required, "the column is missing")
		}
	}
	return lines.InputOffset() + marked, nil
}

func isParse(err error) bool {
	var bad *csv.ParseError
	return errors.As(err, &bad)
}

// readLines hands out the payments of the lines from byte at on; before is the number of lines before it.
func (r *reader) readLines(from io.Reader, at int64, before int32, each func(*readPayment) error) error {
	bound := &bounded{from: from}
	lines := csv.NewReader(bound)
	lines.ReuseRecord, lines.FieldsPerRecord = true, -1
	for last := before; ; {
		bound.begins()
		row, err := lines.Read()
		var bad *csv.ParseError
		s := &readPayment{}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, errRecord):
			return broken(last+1, "", fault.Max, "the line is longer than 64 KiB, or a quote is not closed")
		case errors.As(err, &bad):
			s.line, s.last = before+int32(bad.StartLine), before+
				int32(bad.Line) //nolint:gosec // bounded by the size of files
			s.faults = Faults{{s.line, "", string(fault.Malformed), parseFault(bad)}}
		case err != nil:
			return err
		default:
			line, _ := lines.FieldPos(0)
			s.line, s.last = before+int32(line), before+int32(line) //nolint:gosec // bounded by the size of files
			for _, text := range row {
				s.last += int32(strings.Count(text, "\n")) //nolint:gosec // as before
			}
			r.fill(s, row)
		}
		last, s.end = s.last, at+lines.InputOffset()
		if err := each(s); err != nil {
			return err
		}
	}
}

func parseFault(bad *csv.ParseError) string {
	if errors.Is(bad.Err, csv.ErrQuote) || errors.Is(bad.Err, csv.ErrBareQuote) {
		return "has a quote that is not doubled, or not closed"
	}
	return "cannot be read: " + bad.Err.Error()
}

// fill makes an order of the cells of a line.
func (r *reader) fill(s *readPayment, row []string) {
	if len(row) != len(r.header) {
		s.faults = Faults{{s.line, "", string(fault.Malformed), "must have as many cells as the first line"}}
		return
	}
	o := &payments.Order{Channel: payments.OfFiles, Currency: string(inCents)}
	if r.kind == RTP {
		o.Speed = string(payments.Instant)
	}
	for i, c := range r.header {
		text := strings.TrimSpace(row[i])
		if text == "" {
			continue
		}
		if !check.IsPlain(text) {
			s.fail(FileFault{s.line, c.name, string(fault.Malformed), "must be plain text"})
			continue
		}
		if err := c.fill(o, strings.Clone(text)); err != nil {
			s.fail(faultsOf(s.line, err, columnIn)...)
		}
	}
	if o.EntryType == rails.Debit && payments.Speed(o.Speed) == payments.Instant {
		s.fail(FileFault{
			s.line, "speed", string(fault.Forbidden), "requests for payment do not come in csv files",
		})
	}
	if o.Receiver.Number != "" && o.Receiver.Type == "" {
		o.Receiver.Type = "Deposit"
	}
	s.order = o
}

// unmarked skips the byte order mark of UTF-8, with which some programs begin a file, and returns how long it
// was.
func unmarked(from io.Reader) (in *bufio.Reader, marked int64) {
	in = bufio.NewReader(from)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3)
		return in, 3
	}
	return in, 0
}

func fillEntryType(o *payments.Order, cell string) error {
	is, known := rails.ParseEntryType(cell)
	if !known {
		return fault.Field("payment", "entryType", fault.Malformed, "must be Credit or Debit")
	}
	o.EntryType = is
	return nil
}

func fillClass(o *payments.Order, cell string) error {
	o.SECCode = rails.SECCode(strings.ToUpper(cell))
	return nil
}

// fillSpeed reads a speed within the country: the layouts have no columns for payments abroad.
func fillSpeed(o *payments.Order, cell string) error {
	speed, err := payments.ParseSpeed("speed", cell)
	if err != nil || speed.International() {
		return fault.Field("payment", "speed", fault.Malformed,
			"must be one of the speeds Economy, Economy Plus, Express, Instant: payments abroad do not "+
				"come in csv files")
	}
	o.Speed = string(speed)
	return nil
}

// fillDate reads a day as the interface writes it, MM-DD-YYYY, or as ISO 8601 does.
func fillDate(o *payments.Order, cell string) error {
	for _, form := range []string{"01-02-2006", time.DateOnly} {
		if day, err := time.Parse(form, cell); err == nil && day.Year() >= 1900 {
			o.Date = day
			return nil
		}
	}
	return fault.Field("payment", "paymentDate", fault.Malformed, "must be a date in the form MM-DD-YYYY")
}
