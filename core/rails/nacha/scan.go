package nacha

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// next returns up to 94 characters of a line. Lines that are empty do not count.
func (r *reader) next() (string, error) {
	var record [94]byte
	n := 0
	for n < len(record) {
		b, err := r.in.ReadByte()
		if errors.Is(err, io.EOF) && n > 0 {
			break
		}
		if err != nil {
			return "", err
		}
		if r.read++; r.read > MostBytes {
			return "", Faults{{Line: r.line, Record: "file", Reason: fmt.Sprintf("has more than %d bytes", MostBytes)}}
		}
		if b == '\n' || b == '\r' {
			if n > 0 {
				r.short(n, r.column)
			}
			if b == '\n' {
				r.ends, r.column = r.ends+1, 0
			}
			if n > 0 {
				return string(record[:n]), nil
			}
			continue
		}
		if n == 0 {
			r.line = max(1+r.ends, r.line+1) // where a line has several records, each counts
		}
		record[n] = b
		n, r.column = n+1, r.column+1
	}
	if n < len(record) {
		r.short(n, r.column)
	}
	return string(record[:n]), nil
}

// short finds a record that ends too early, after so many characters of its line.
func (r *reader) short(n, column int) {
	if n < column && column < 2*94 {
		r.line-- // the rest of a line that is too long
	}
	r.fault("record", "", fmt.Sprintf("has %d characters, no multiple of 94", column))
}

// numbers are the places of records that must have digits; the library reads other characters as 0.
var numbers = map[byte][][2]int{
	'5': {{1, 4}, {78, 79}, {79, 94}},
	'6': {{1, 12}, {29, 39}, {78, 94}},
	'7': {{1, 3}},
	'8': {{1, 4}, {4, 44}, {79, 94}},
	'9': {{1, 55}},
}

var names = map[byte]string{
	'1': "file header", '5': "batch header", '6': "entry", '7': "addenda", '8': "batch control",
	'9': "file control",
}

func (r *reader) take(record string) error {
	if len(record) == 94 && r.stage == ended && strings.Trim(record, "9") == "" {
		return nil // the last block is filled up
	}
	if record[0] != '7' {
		if err := r.flush(); err != nil {
			return err
		}
		r.skip, r.flaw = false, nil
	}
	if r.odd = nil; r.lenient && len(record) == 94 {
		record = r.plain(record)
	}
	name := names[record[0]]
	switch {
	case len(record) != 94: // next has said it
	case wrong(record, 94) != "":
		r.fault("record", "", wrong(record, 94))
	case name == "":
		r.fault("record", "", "is of no known type")
	case r.stage == nothing && record[0] != '1':
		r.fault(name, "", "comes before the file header")
		r.stage = begun // one fault is enough
	case r.stage == ended:
		r.fault(name, "", "comes after the file control")
	case slices.ContainsFunc(numbers[record[0]], func(at [2]int) bool {
		return !digits(record[at[0]:at[1]], at[1]-at[0])
	}):
		if r.header.BatchHeader != nil && (record[0] == '6' || record[0] == '7') {
			return r.unreadNumber(record)
		}
		r.fault(name, "", "has other characters than digits in a number")
	default:
		return r.parse(record)
	}
	if r.header.BatchHeader != nil || record[0] != '6' && record[0] != '7' { // these count in no batch
		r.unsure = true
	}
	r.faulty = true
	r.skip = r.skip || record[0] != '7'
	return nil
}
