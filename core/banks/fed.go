package banks

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"bankgraph/core/postal"
)

// The directories of the Federal Reserve: participants of FedACH and of Fedwire, as text of fixed columns or
// as JSON with the same fields.

// fedACH is a participant of FedACH.
type fedACH struct {
	RoutingNumber    string
	RecordTypeCode   string // 0: a Federal Reserve Bank; 1: entries go to this number; 2: to the new one
	NewRoutingNumber string
	CustomerName     string
	CustomerAddress  string
	CustomerCity     string
	CustomerState    string
	CustomerZip      string
	CustomerZipExt   string
}

var parseFedACH = parser{155, func(w wide) (*Entry, error) {
	return fedACH{
		RoutingNumber: w.at(1, 9), RecordTypeCode: w.at(20, 20), NewRoutingNumber: w.at(27, 35),
		CustomerName: w.at(36, 71), CustomerAddress: w.at(72, 107), CustomerCity: w.at(108, 127),
		CustomerState: w.at(128, 129), CustomerZip: w.at(130, 134), CustomerZipExt: w.at(135, 138),
	}.entry()
}}

func parseFedACHObject(text []byte) (*Entry, error) {
	var row fedACH
	if err := json.Unmarshal(text, &row); err != nil {
		return nil, errors.New("the object has fields of other kinds")
	}
	return row.entry()
}

// recordTypes are the words for FedACH's record types (rest/CONTRACT.md, recordTypeCode).
var recordTypes = map[string]string{"0": "FRB", "1": "SEND", "2": "NEW"}

var errRecordType = errors.New("the record type is none of 0, 1 and 2")

// entry returns the bank. A number with a successor is not reached itself: entries go to the new one.
func (row fedACH) entry() (*Entry, error) {
	kind := recordTypes[row.RecordTypeCode]
	if kind == "" {
		return nil, errRecordType
	}
	e := &Entry{
		Country: "US", NationalID: row.RoutingNumber, Name: strings.TrimSpace(row.CustomerName), RecordType: kind,
		ACH: kind != "NEW",
		Address: postal.Address{
			Line1: strings.TrimSpace(row.CustomerAddress), City: strings.TrimSpace(row.CustomerCity),
			State: row.CustomerState, PostalCode: row.CustomerZip,
		},
	}
	if row.CustomerZipExt != "" && row.CustomerZipExt != "0000" {
		e.Address.PostalCode += "-" + row.CustomerZipExt
	}
	if strings.Trim(row.NewRoutingNumber, "0") != "" {
		e.Successor = row.NewRoutingNumber
	}
	return e, nil
}

// fedwire is a participant of Fedwire.
type fedwire struct {
	RoutingNumber             string
	CustomerName              string
	CustomerState             string
	CustomerCity              string
	FundsEligibility          string // Y or N
	FundsSettlementOnlyStatus string // S or blank
	SecuritiesEligibility     string // Y or N
}

var parseFedwire = parser{101, func(w wide) (*Entry, error) {
	return fedwire{
		RoutingNumber: w.at(1, 9), CustomerName: w.at(28, 63), CustomerState: w.at(64, 65),
		CustomerCity:     w.at(66, 90),
		FundsEligibility: w.at(91, 91), FundsSettlementOnlyStatus: w.at(92, 92),
		SecuritiesEligibility: w.at(93, 93),
	}.entry()
}}

func parseFedwireObject(text []byte) (*Entry, error) {
	var row fedwire
	if err := json.Unmarshal(text, &row); err != nil {
		return nil, errors.New("the object has fields of other kinds")
	}
	return row.entry()
}

var errEligibility = errors.New("whether it takes transfers is neither Y nor N")

func (row fedwire) entry() (*Entry, error) {
	if row.FundsEligibility != "Y" && row.FundsEligibility != "N" {
		return nil, errEligibility
	}
	return &Entry{
		Country: "US", NationalID: row.RoutingNumber, Name: strings.TrimSpace(row.CustomerName),
		Address: postal.Address{City: strings.TrimSpace(row.CustomerCity), State: row.CustomerState},
		Fedwire: Fedwire{
			Transfer: row.FundsEligibility == "Y", SettlementOnly: row.FundsSettlementOnlyStatus == "S",
			Securities: row.SecuritiesEligibility == "Y",
		},
	}, nil
}

var errNoList = errors.New("the JSON has no list of participants")

// readJSON reads the first list of objects in a JSON document, object by object. Its lines are those of the
// file at which an object ends.
func readJSON(parse func([]byte) (*Entry, error)) func(*input, emit) error {
	return func(in *input, each emit) error {
		lines := &lineCounter{from: in}
		d, open := json.NewDecoder(lines), 1 // lists and objects that are open, with the list of participants
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return errNoList
			}
			if err != nil {
				return err
			}
			if token == json.Delim('[') {
				break
			}
			if token == json.Delim('{') {
				open++
			}
			if token == json.Delim('}') {
				open--
			}
		}
		for d.More() {
			in.next()
			var object json.RawMessage
			if err := d.Decode(&object); err != nil {
				return err
			}
			e, err := parse(object)
			if !each(lines.at(d.InputOffset()), e, err) {
				return nil
			}
		}
		return finish(d, open)
	}
}

// finish reads the rest of a document with so many open lists and objects. It fails if the document ends
// before they do: the file was cut off.
func finish(d *json.Decoder, open int) error {
	for {
		token, err := d.Token()
		switch {
		case errors.Is(err, io.EOF) && open > 0:
			return io.ErrUnexpectedEOF
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			open++
		case json.Delim(']'), json.Delim('}'):
			open--
		}
	}
}

// lineCounter tells at which line an offset is. It keeps what was read ahead only.
type lineCounter struct {
	from   io.Reader
	ahead  []byte // read, and not yet passed by at
	passed int64  // offset at which ahead begins
	line   int64  // line feeds before that
}

func (l *lineCounter) Read(p []byte) (int, error) {
	n, err := l.from.Read(p)
	l.ahead = append(l.ahead, p[:n]...)
	return n, err
}

// at returns the line of an offset, counted from 1. Offsets must not go back.
func (l *lineCounter) at(offset int64) int64 {
	step := min(int(offset-l.passed), len(l.ahead))
	l.line += int64(bytes.Count(l.ahead[:step], []byte{'\n'}))
	l.ahead = append(l.ahead[:0], l.ahead[step:]...)
	l.passed += int64(step)
	return l.line + 1
}
