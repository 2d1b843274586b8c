package files

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/payments"
	"bankgraph/core/rails/nacha"
)

// reads reads a file from the place at which its checking stands, as checking.read does, but for NACHA's
// accounts.
type reads func(text string, position int64, checked int32, each func(*readPayment) error) error

func readRows(kind FileType) reads {
	return func(text string, position int64, checked int32, each func(*readPayment) error) error {
		r := &reader{kind: kind}
		begins, err := r.readHeader(strings.NewReader(text))
		if err != nil {
			return err
		}
		at, before := begins, int32(1)
		if position > 0 {
			at, before = position, checked
		}
		return r.readLines(strings.NewReader(text[at:]), at, before, each)
	}
}

func readMessages(text string, position int64, checked int32, each func(*readPayment) error) error {
	open := func(from int64) (io.Reader, error) { return strings.NewReader(text[from:]), nil }
	return readWires(open, position, checked, each)
}

func readNACHA(text string, _ int64, checked int32, each func(*readPayment) error) error {
	all, whole, faulty, err := readBatches(strings.NewReader(text), &BulkFile{})
	if err != nil || len(whole) > 0 {
		return err
	}
	for _, b := range all {
		paysItself(b)
	}
	return readEntries(strings.NewReader(text), all, faulty, checked, each)
}

// paysItself finds the account of a batch of which an entry that balances all others is of one of the
// customer's, which has no other.
func paysItself(b *batch) {
	var known []*payer
	for _, e := range b.balancing() {
		known = append(known, &payer{UID: 1, BankID: e.Routing, Hash: []byte("own")})
	}
	b.payFrom(known, func(nacha.Entry) [][]byte { return [][]byte{[]byte("own")} })
}

// A file may hold anything. It is read to its end or refused; each payment has a line of its own, which is
// there; none of its texts has what the file has not; and wherever the reading is interrupted, it goes on
// with the next payment.
func hold(t *testing.T, read reads, text string) (all []*readPayment) {
	t.Helper()
	lines := int32(strings.Count(text, "\n") + 1)
	if reflect.ValueOf(read).Pointer() == reflect.ValueOf(readNACHA).Pointer() {
		lines += int32(len(text)/94 + strings.Count(text, "\r")) // where a line has several records, each counts
	}
	last := int32(0)
	err := read(text, 0, 0, func(s *readPayment) error {
		if s.line <= last || s.last < s.line || s.last > lines {
			t.Fatalf("lines %d to %d after line %d of %d", s.line, s.last, last, lines)
		}
		last = s.last
		for _, f := range s.faults {
			if f.Line < s.line || f.Line > lines {
				t.Fatalf("a fault of line %d is said of line %d", s.line, f.Line)
			}
		}
		if s.order != nil {
			if n := len(fmt.Sprintf("%+v", *s.order)) - len(fmt.Sprintf("%+v", payments.Order{})); n > len(text)+200 {
				t.Fatalf("%d characters are made of %d", n, len(text))
			}
		}
		all = append(all, s)
		return nil
	})
	var wrong errBroken
	if errors.As(err, &wrong) && (wrong.Line < 0 || wrong.Line > lines) {
		t.Fatalf("line %d of %d is broken", wrong.Line, lines)
	}
	if len(all) == 0 {
		return nil
	}
	at := len(all) / 2
	var rest []*readPayment
	_ = read(text, all[at].end, all[at].last, func(s *readPayment) error { rest = append(rest, s); return nil })
	if want := all[at+1:]; len(rest) != len(want) {
		t.Fatalf("%d payments after line %d, want %d", len(rest), all[at].last, len(want))
	}
	for i, s := range rest {
		if want := all[at+1+i]; !reflect.DeepEqual(s, want) {
			t.Fatalf("after line %d: %+v, want %+v", all[at].last, s, want)
		}
	}
	return all
}

// hostile are texts that every parser of files is tried with.
var hostile = []string{
	"", "\n", "\r\n\r\n", "\ufeff", "\xff\xfee\x00x\x00", "\x00", "\x1a", `"`, `""""`, "{", "{1500}", ",,,,",
	strings.Repeat("x", 5<<10),
}

func seeds(f *testing.F, sample string, changes ...string) {
	f.Helper()
	text, err := os.ReadFile("../../rest/docs/samples/" + sample)
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range append([]string{
		string(text), "\ufeff" + string(text), strings.ReplaceAll(string(text), "\n", "\r\n"),
		strings.Repeat(string(text), 3), strings.ReplaceAll(string(text), "\n", ""),
	}, hostile...) {
		f.Add(one)
	}
	for i := 0; i < len(changes); i += 2 {
		f.Add(strings.Replace(string(text), changes[i], changes[i+1], 1))
	}
}

// cells is a payment in the order of columns.
func cells(o *payments.Order) []string {
	day := ""
	if !o.Date.IsZero() {
		day = o.Date.Format("01-02-2006")
	}
	to := &o.Receiver
	return []string{
		o.ExternalReferenceID, string(o.EntryType), o.Amount, o.Currency, day, o.Speed, string(o.SECCode),
		o.Sender.Number,
		o.Sender.RoutingNumber, to.Name, to.Number, to.Type, to.SubType, to.Bank.ID, to.Address.Line1,
		to.Address.Line2,
		to.Address.City, to.Address.State, to.Address.PostalCode, to.Address.CountryCode,
		o.Notes, o.Remittance, o.OriginatorInfo, o.Reference,
	}
}

// again reads a payment that was written anew, and compares it.
func again(t *testing.T, read reads, text string, want *payments.Order) {
	t.Helper()
	var got []*readPayment
	err := read(text, 0, 0, func(s *readPayment) error { got = append(got, s); return nil })
	if err != nil || len(got) != 1 || len(got[0].faults) > 0 || !reflect.DeepEqual(got[0].order, want) {
		t.Fatalf("%v of %q: %+v, want %+v", err, text, got, want)
	}
}

func rows(f *testing.F, kind FileType) {
	f.Helper()
	seeds(f, strings.ToLower(string(kind))+".csv",
		"404521680718", `=HYPERLINK("http://x")`, "404521680718", `"4045""2168"""`,
		"Ada Byron", "\"Ada\r\nByron\"", "Ada Byron", "\"Ada",
		"Ada Byron", "Ada \"Byron\" ", "Ada Byron", "Ada\x00", "Ada Byron", strings.Repeat("y",
			5<<10), "paymentAmount", "paymentamount ",
		"paymentAmount", "amount", "\n", "\n\n\n", "12.50", "1e3")
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range hold(t, readRows(kind), text) {
			if s.order == nil || len(s.faults) > 0 {
				continue
			}
			var out bytes.Buffer
			w := csv.NewWriter(&out)
			var names, row []string
			for i, cell := range cells(s.order) {
				if kind == CSV || !slices.Contains(notOfRTP, columns[i].name) {
					names, row = append(names, columns[i].name), append(row, cell)
				}
			}
			if err := errors.Join(w.Write(names), w.Write(row)); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			again(t, readRows(kind), out.String(), s.order)
		}
	})
}

func FuzzCSV(f *testing.F) { rows(f, CSV) }

func FuzzRTP(f *testing.F) { rows(f, RTP) }

func FuzzFedwire(f *testing.F) {
	seeds(f, "fedwire.txt", "}1000\n", "}1000", "{3600}CTR", "{3600}DRC", "{6000}", "{8200}", "{4200}D",
		"{4200}", "Erie, PA 16501", ",",
		"Ada Byron", "Ada\nByron", "Ada Byron", "\x00", "{3400}611090001", "{3400}61109000é", "*\n\n", "*",
		"000000012345", "000000000000", "Ada Byron", strings.Repeat("z", 5<<10))
	f.Fuzz(func(t *testing.T, text string) {
		for _, s := range hold(t, readMessages, text) {
			if s.order == nil || len(s.faults) > 0 {
				continue
			}
			o, address := s.order, s.order.Receiver.Address
			lines := ""
			switch {
			case address.CountryCode != "":
				lines = address.Line1 + "*" + address.Line2 + "*" + address.City + "," + address.State + " " +
					address.PostalCode
			case address.Line1 != "":
				lines = address.Line1
			}
			cents := strings.ReplaceAll(o.Amount, ".", "")
			again(t, readMessages,
				fmt.Sprintf(
					"{1500}{1510}1000{2000}%012s{3320}%s*%s{3600}CTR{4200}D%s*%s*%s*{5000}D%s*%s*{4320}%s*{6000}%s{6500}%s",
					cents, o.ExternalReferenceID, banksIn(o), o.Receiver.Number, o.Receiver.Name, lines,
					o.Sender.Number, o.Sender.Name, o.Reference, o.OriginatorInfo, o.BankInfo), o)
		}
	})
}

// banksIn writes the banks of a wire as its message has them.
func banksIn(o *payments.Order) string {
	tag := func(tag string, bank payments.ReceiverBank) string {
		if bank.BIC != "" {
			return tag + "B" + bank.BIC + "*" + bank.Name + "*"
		}
		return tag + "F" + bank.ID + "*" + bank.Name + "*"
	}
	to, over := o.Receiver.Bank, o.Receiver.Between
	switch {
	case over != payments.ReceiverBank{}:
		return "{3400}" + cmp.Or(o.Correspondent, over.ID) + tag("{4000}", over) + tag("{4100}", to)
	case o.Correspondent != "":
		return "{3400}" + o.Correspondent + tag("{4100}", to)
	case to.Account != "":
		return "{3400}" + to.ID + to.Name + "*{4100}D" + to.Account + "*"
	}
	return "{3400}" + to.ID + to.Name + "*"
}

func FuzzNACHA(f *testing.F) {
	seeds(f, "ach.txt", "\n6", "x\n6", "\n6", "\n7", "\n6", "6", "\n5", "\n6", "\n8", "\n9", "\n",
		"\n\n", "PPD", "IAT", " ", "\x00", " ", "é")
	abroad, err := os.ReadFile("testdata/iat.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, text := range []string{"", "FV", "IAT", "710BUS", "716", `*NY\`} {
		f.Add(strings.Replace(string(abroad), text, strings.Repeat(" ", len(text)), 1))
	}
	own, err := os.ReadFile("testdata/offset.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, of := range []string{"622", "611090001", "0000245000", "627", "0000443050", "0000001", "0000003"} {
		for _, is := range []string{of, "x" + of[1:], of[:len(of)-1] + "0"} {
			f.Add(strings.Replace(string(own), of, is, 1))
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		orders := 0
		for _, s := range hold(t, readNACHA, text) {
			if s.order != nil {
				orders++
			}
		}
		all, whole, _, err := readBatches(strings.NewReader(text), &BulkFile{})
		if err != nil || len(whole) > 0 {
			return
		}
		for _, b := range all {
			if paysItself(b); !b.Balanced {
				continue
			}
			if orders++; b.Credits != b.Debits || b.offset == 0 || b.doubt > 0 {
				t.Fatalf("%+v balances itself", b)
			}
		}
		_, _, _ = nacha.ReadAll(strings.NewReader(strings.TrimPrefix(text, "\ufeff")), func(_ nacha.Batch, e nacha.Entry) error {
			if e.Wrong == nil {
				orders--
			}
			return nil
		})
		if orders != 0 {
			t.Fatalf("%d more lines and offsets than entries without faults", orders)
		}
	})
}
