package banks

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"bankgraph/core/ident"
)

// csvColumns are the columns that a file of our own may have, in any order and letter case, by what they
// fill. Only name is needed in each, and nationalId or bic (README.md, the directory of banks).
var csvColumns = map[string]func(e *Entry, text string) error{
	"countryCode":            word(func(e *Entry) *string { return &e.Country }),
	"nationalIdType":         word(func(e *Entry) *string { return &e.NationalIDType }),
	"nationalId":             word(func(e *Entry) *string { return &e.NationalID }),
	"bic":                    word(func(e *Entry) *string { return &e.Code }),
	"name":                   word(func(e *Entry) *string { return &e.Name }),
	"recordType":             word(func(e *Entry) *string { return &e.RecordType }),
	"successor":              word(func(e *Entry) *string { return &e.Successor }),
	"addressLine1":           word(func(e *Entry) *string { return &e.Address.Line1 }),
	"addressLine2":           word(func(e *Entry) *string { return &e.Address.Line2 }),
	"city":                   word(func(e *Entry) *string { return &e.Address.City }),
	"state":                  word(func(e *Entry) *string { return &e.Address.State }),
	"postalCode":             word(func(e *Entry) *string { return &e.Address.PostalCode }),
	"ach":                    flag(func(e *Entry) *bool { return &e.ACH }),
	"fedwireTransfer":        flag(func(e *Entry) *bool { return &e.Fedwire.Transfer }),
	"fedwireSettlementOnly":  flag(func(e *Entry) *bool { return &e.Fedwire.SettlementOnly }),
	"fedwireSecurities":      flag(func(e *Entry) *bool { return &e.Fedwire.Securities }),
	"rtpParticipant":         word(func(e *Entry) *string { return &e.RTP.Participant }),
	"rtpServices":            word(func(e *Entry) *string { return &e.RTP.Services }),
	"rtpReceivingConnection": word(func(e *Entry) *string { return &e.RTP.ReceivingConnection }),
	"rtpSignOnStatus":        word(func(e *Entry) *string { return &e.RTP.SignOnStatus }),
	"rtpActivatedOn":         word(func(e *Entry) *string { return &e.RTP.ActivatedOn }),
	"rtpStatus":              word(func(e *Entry) *string { return &e.RTP.Status }),
	"rtpConnectionStatus":    word(func(e *Entry) *string { return &e.RTP.ConnectionStatus }),
	"fedNowServices":         word(func(e *Entry) *string { return &e.FedNow.Services }),
	"fedNowStatus":           word(func(e *Entry) *string { return &e.FedNow.Status }),
	"fedNowConnectionStatus": word(func(e *Entry) *string { return &e.FedNow.ConnectionStatus }),
}

type column = func(e *Entry, text string) error

func word(at func(*Entry) *string) column {
	return func(e *Entry, text string) error {
		*at(e) = ident.Spaced(text)
		return nil
	}
}

func flag(at func(*Entry) *bool) column {
	return func(e *Entry, text string) error {
		on, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(text)))
		if err != nil && strings.TrimSpace(text) != "" {
			return errors.New("must be true or false")
		}
		*at(e) = on
		return nil
	}
}

// readCSV reads a file of our own: a header, then a line for each bank.
func readCSV(in *input, each emit) error {
	end := &ending{from: in}
	r := csv.NewReader(end)
	r.ReuseRecord = true
	names, err := r.Read()
	if err != nil {
		return fmt.Errorf("the header: %w", err)
	}
	header, err := csvHeader(names)
	if err != nil {
		return err
	}
	for {
		in.next()
		row, err := r.Read()
		var (
			bad  *csv.ParseError
			line int
		)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case cuts(err) && end.open(r.InputOffset()):
			return io.ErrUnexpectedEOF
		case errors.As(err, &bad):
			line, err = bad.StartLine, bad.Err
		case err != nil:
			return err
		default:
			line, _ = r.FieldPos(0)
		}
		e := new(Entry)
		for i := 0; err == nil && i < len(row); i++ {
			if problem := header[i].fill(e, decodedField(row[i])); problem != nil {
				err = fmt.Errorf("%s: %w", header[i].name, problem)
				if i == len(row)-1 && end.open(r.InputOffset()) {
					return io.ErrUnexpectedEOF
				}
			}
		}
		if !each(int64(line), e, err) {
			return nil
		}
	}
}

// ending knows how a file ends.
type ending struct {
	from io.Reader
	read int64
	last byte
	all  bool // there is no more
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.from.Read(p)
	if n > 0 {
		e.last = p[n-1]
	}
	e.read += int64(n)
	e.all = e.all || errors.Is(err, io.EOF)
	return n, err
}

// open reports whether the record that ends at an offset is the last one and has no line feed. If it is wrong
// at its end, the file was cut off in it.
func (e *ending) open(offset int64) bool { return e.all && offset == e.read && e.last != '\n' }

// cuts reports whether a record with this error is wrong at its end: it lacks fields or the end of a quote.
func cuts(err error) bool { return errors.Is(err, csv.ErrFieldCount) || errors.Is(err, csv.ErrQuote) }

type named struct {
	name string
	fill column
}

// csvHeader finds the columns that a header names.
func csvHeader(names []string) (header []named, err error) {
	seen := map[string]bool{}
	for _, name := range names {
		found := ""
		for known := range csvColumns {
			if ident.Same(known, strings.TrimSpace(name)) {
				found = known
			}
		}
		switch {
		case found == "":
			return nil, fmt.Errorf("the header: there is no column %q", bytes.ToValidUTF8([]byte(name), []byte("?")))
		case seen[found]:
			return nil, fmt.Errorf("the header: the column %s is there twice", found)
		}
		seen[found] = true
		header = append(header, named{found, csvColumns[found]})
	}
	if !seen["name"] || !seen["nationalId"] && !seen["bic"] {
		return nil, errors.New("the header: the columns name, and nationalId or bic, are needed")
	}
	return header, nil
}

func decodedField(text string) string { return string(decoded(text)) }
