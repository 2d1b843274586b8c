package banks

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"bankgraph/core/check"
	"bankgraph/core/ident"
)

// Format is the form of a directory's file.
type Format string

const (
	FedACHFile     Format = "fedach"     // of the Federal Reserve: lines of 155 characters, or JSON
	FedwireFile    Format = "fedwire"    // of the Federal Reserve: lines of 101 characters, or JSON
	BundesbankFile Format = "bundesbank" // the Bankleitzahlendatei: lines of 168 characters
	CSVFile        Format = "csv"        // our own: a header, then a line for each bank
)

// emit is called for each record of a file, with its line: with the entry, with what is wrong with the
// record, or with neither if it is right and names no bank. It returns false to end the reading.
type emit = func(line int64, e *Entry, err error) bool

// form is how a format is read. Where directories differ about a bank, that of the lowest rank counts: the
// bank's own lists, then FedACH, which has addresses, then Fedwire.
type form struct {
	rank int
	read func(in *input, each emit) error
}

var formats = map[Format]form{
	CSVFile:        {0, readCSV},
	FedACHFile:     {1, either(readJSON(parseFedACHObject), readLines(parseFedACH))},
	BundesbankFile: {1, readLines(parseBundesbank)},
	FedwireFile:    {2, either(readJSON(parseFedwireObject), readLines(parseFedwire))},
}

// mostRecord bounds a record, so that a file without ends of lines does not fill the memory.
const mostRecord = 1 << 20

// input is a file that is being read. It has UTF-8 for files that begin with a mark of UTF-8 or UTF-16,
// without the mark; bytes of all others are as they are.
type input struct {
	*bufio.Reader
	file *counted
}

// counted is the file as it is. It fails when a record takes too many bytes.
type counted struct {
	from     io.Reader
	read     int64
	left     int
	progress func(int64)
}

func (f *counted) Read(p []byte) (int, error) {
	if f.left <= 0 {
		return 0, ErrTooLong
	}
	n, err := f.from.Read(p[:min(len(p), f.left)])
	f.left -= n
	f.read += int64(n)
	return n, err
}

func newInput(from io.Reader, progress func(int64)) *input {
	file := &counted{from: from, left: mostRecord, progress: progress}
	return &input{bufio.NewReader(transform.NewReader(file, unicode.BOMOverride(transform.Nop))), file}
}

// next begins a record.
func (in *input) next() {
	in.file.left = mostRecord
	if in.file.progress != nil {
		in.file.progress(in.file.read)
	}
}

// either reads a file whose first character is a brace or a bracket as JSON, and any other as lines.
func either(object, lines func(*input, emit) error) func(*input, emit) error {
	return func(in *input, each emit) error {
		head, _ := in.Peek(256)
		if text := strings.TrimLeft(string(head), " \t\r\n"); strings.HasPrefix(text, "{") ||
			strings.HasPrefix(text, "[") {
			return object(in, each)
		}
		return lines(in, each)
	}
}

// wide is a line of fixed columns, counted in characters from 1.
type wide []rune

// at returns the text of columns, both included.
func (w wide) at(from, to int) string { return strings.TrimSpace(string(w[from-1 : to])) }

// parser reads a line of fixed columns; the entry is nil if it names no bank.
type parser struct {
	width int
	parse func(wide) (*Entry, error)
}

var errWidth = errors.New("the line has another length")

// readLines reads lines of fixed columns, which end with a line feed, with or without a carriage return.
func readLines(of parser) func(*input, emit) error {
	return func(in *input, each emit) error {
		for line := int64(1); ; line++ {
			in.next()
			text, err := in.ReadString('\n')
			last := errors.Is(err, io.EOF)
			if err != nil && !last {
				return err
			}
			row := wide(decoded(strings.TrimRight(text, "\r\n\x1a"))) // the last ends files of DOS
			if last && line > 1 && len(row) > 0 && len(row) != of.width {
				return io.ErrUnexpectedEOF
			}
			if len(row) > 0 && !each(of.line(line, row)) || last {
				return nil
			}
		}
	}
}

// line parses one line.
func (p parser) line(line int64, row wide) (int64, *Entry, error) {
	if len(row) != p.width {
		return line, nil, fmt.Errorf("%w: %d characters instead of %d", errWidth, len(row), p.width)
	}
	e, err := p.parse(row)
	return line, e, err
}

// decoded returns a line as UTF-8. What is none is taken for ISO 8859-1, as central banks write.
func decoded(line string) []rune {
	if !utf8.ValidString(line) {
		line, _ = charmap.ISO8859_1.NewDecoder().String(line)
	}
	return []rune(line)
}

// complete checks an entry, and fills in what follows from it.
func (e *Entry) complete() error {
	c := check.Of("bank")
	e.Country = c.Country("countryCode", cmp.Or(e.Country, "US"))
	e.NationalID = ident.Upper(e.NationalID)
	if e.Country == "US" {
		c.Routing("nationalId", e.NationalID)
		e.NationalIDType = cmp.Or(e.NationalIDType, "ABA")
	}
	c.Alphanumeric("nationalId", e.NationalID)
	c.AtMost("nationalId", e.NationalID, 34)
	e.Code = trimmed(c.BIC("bic", e.Code))
	if e.NationalID == "" && !c.Failed("bic") {
		c.Required("bic", e.Code)
	}
	c.Required("name", e.Name)
	for _, text := range []struct{ field, value string }{
		{"name", e.Name},
		{"nationalIdType", e.NationalIDType},
		{"recordType", e.RecordType},
		{"successor", e.Successor},
		{"addressLine1", e.Address.Line1},
		{"addressLine2", e.Address.Line2},
		{"city", e.Address.City},
		{"state", e.Address.State},
		{"postalCode", e.Address.PostalCode},
		{"rtpParticipant", e.RTP.Participant},
		{"rtpServices", e.RTP.Services},
		{"rtpReceivingConnection", e.RTP.ReceivingConnection},
		{"rtpSignOnStatus", e.RTP.SignOnStatus},
		{"rtpActivatedOn", e.RTP.ActivatedOn},
		{"rtpStatus", e.RTP.Status},
		{"rtpConnectionStatus", e.RTP.ConnectionStatus},
		{"fedNowServices", e.FedNow.Services},
		{"fedNowStatus", e.FedNow.Status},
		{"fedNowConnectionStatus", e.FedNow.ConnectionStatus},
	} {
		c.AtMost(text.field, text.value, 255)
	}
	if err := c.Err(); err != nil {
		return err
	}
	e.Ref = National(e.Country, e.NationalID)
	if e.Ref == "" {
		e.Ref = Coded(e.Code)
	}
	if e.Address.City != "" {
		country, _ := check.CountryOf(e.Country)
		e.Address.CountryCode, e.Address.Country = country.Code, country.Name
	}
	return nil
}
