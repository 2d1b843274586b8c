package banks_test

import (
	"bytes"
	"database/sql"
	"encoding/csv"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"bankgraph/core/banks"
	"bankgraph/core/ident"
)

// A file may hold anything: it is read to its end or refused, what is taken is complete and has no more text
// than the file, and lines are told in their order and are there. What is taken says the same when it is
// written as a file of our own.
func fuzz(f *testing.F, format banks.Format, seeds ...string) {
	f.Helper()
	for _, seed := range append(seeds, "", "\n", "\ufeff", "\xff\xfe\x00", "[", "{", "\x1a", "\"", "\x00",
		strings.Repeat("x", 5<<10)) {
		f.Add(seed)
		f.Add("\xff\xfe" + strings.Join(strings.Split(seed, ""), "\x00") + "\x00") // UTF-16, of ASCII
	}
	f.Fuzz(func(t *testing.T, text string) {
		last, lines := int64(0), int64(strings.Count(text, "\n")+1)
		_ = banks.ReadForTest(format, strings.NewReader(text), func(line int64, e *banks.Entry, bad error) {
			if line < last || line < 1 || line > lines {
				t.Errorf("line %d of %d after %d", line, lines, last)
			}
			last = line
			if bad != nil || e == nil {
				return
			}
			all := texts(e)
			if e.Ref == "" || e.Name == "" || len(e.Country) != 2 || len(strings.Join(all, "")) > 2*len(text)+100 {
				t.Errorf("line %d is taken: %+v", line, e)
			}
			var out bytes.Buffer
			w := csv.NewWriter(&out)
			if err := errors.Join(w.Write(ourColumns), w.Write(all)); err != nil {
				t.Fatal(err)
			}
			w.Flush()
			_ = banks.ReadForTest(banks.CSVFile, &out, func(_ int64, got *banks.Entry, bad error) {
				if bad != nil || !slices.Equal(texts(got), spaced(all)) || got.Ref != e.Ref {
					t.Errorf("%v: %+v is read of %+v", bad, got, e)
				}
			})
		})
	})
}

// spaced are texts as files of our own have them.
func spaced(all []string) []string {
	for i, text := range all {
		all[i] = ident.Spaced(text)
	}
	return all
}

var ourColumns = strings.Fields(`countryCode nationalIdType nationalId bic name recordType successor
	addressLine1 addressLine2 city state postalCode ach fedwireTransfer fedwireSettlementOnly fedwireSecurities
	rtpParticipant rtpServices rtpReceivingConnection rtpSignOnStatus rtpActivatedOn rtpStatus
	rtpConnectionStatus fedNowServices fedNowStatus fedNowConnectionStatus`)

// texts are what a bank's line has, in the order of the columns.
func texts(e *banks.Entry) []string {
	a, w, r := e.Address, e.Fedwire, e.RTP
	return []string{
		e.Country, e.NationalIDType, e.NationalID, e.Code, e.Name, e.RecordType, e.Successor, a.Line1,
		a.Line2, a.City, a.State, a.PostalCode, strconv.FormatBool(e.ACH), strconv.FormatBool(w.Transfer),
		strconv.FormatBool(w.SettlementOnly), strconv.FormatBool(w.Securities), r.Participant, r.Services,
		r.ReceivingConnection, r.SignOnStatus, r.ActivatedOn, r.Status, r.ConnectionStatus, e.FedNow.Services,
		e.FedNow.Status, e.FedNow.ConnectionStatus,
	}
}

func FuzzFedACH(f *testing.F) {
	fuzz(f, banks.FedACHFile, achLine(1, "1", none, "First")+"\n"+achLine(2, "2", routing(1), "Second"),
		`{"a": [{"routingNumber": "611090001", "recordTypeCode": "1", "customerName": "X"}, 1]}`)
}

func FuzzFedwire(f *testing.F) {
	fuzz(f, banks.FedwireFile, wireLine(1, "Y", " ", "FIRST"),
		`[{"routingNumber": "611090001", "fundsEligibility": "Y"}]`)
}

func FuzzBundesbank(f *testing.F) {
	fuzz(f, banks.BundesbankFile, blzLine("99000001", "1", "M\xfcnz", "RHNUDEF0", "U"),
		blzLine("99000001", "2", "X", "", "D"))
}

func FuzzCSV(f *testing.F) {
	fuzz(f, banks.CSVFile, europe, "name,nationalId,ach\nA,611090001,yes\n\"", "bic;name\nx;y",
		"name,nationalId,ach,fedNowServices\n\"A \"\"B\"\"\nC\",611090001,1,CRDT  RFP\n=1+1,611090001,t,\n",
		"name,bic\nM\xfcnz,rhnudef0xxx\n")
}

// The searches of a directory of twenty thousand banks beside the same SQL written by hand.
func BenchmarkTheBeginningOfARoutingNumber(b *testing.B) {
	d := newDirectory(b)
	const many = 20_000
	made := &endless{most: many, line: func(n int) string { return achLine(n*37, "1", none, "Bank") + "\n" }}
	began := time.Now()
	if _, err := d.Banks.Import(operator(b), banks.Import{Format: "fedach", From: made}); err != nil {
		b.Fatal(err)
	}
	b.Logf("imported %d banks in %s", many, time.Since(began))
	ctx := d.Reader()
	prefixes := []string{"6100", "6112", "6137", "6150", "61739"}
	b.Run("the directory", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if found, err := d.Banks.Beginning(ctx, prefixes[i%len(prefixes)]); err != nil || len(found) == 0 {
				b.Fatal(err)
			}
		}
	})
	b.Run("bare SQL", func(b *testing.B) {
		ask, err := d.DB.DB.DB.PrepareContext(ctx, `SELECT b.uid, b.ref, `+banks.ColumnsForTest()+` FROM banks AS b
			WHERE b.ref >= $1 AND b.ref < $1 || chr(1114111) ORDER BY b.ref LIMIT 100`)
		if err != nil {
			b.Fatal(err)
		}
		for i := 0; b.Loop(); i++ {
			if n := scanned(b, ask, "US:"+prefixes[i%len(prefixes)]); n == 0 {
				b.Fatal("nothing found")
			}
		}
	})
}

// scanned runs a prepared query and scans its rows.
func scanned(b *testing.B, ask *sql.Stmt, prefix string) (n int) {
	b.Helper()
	rows, err := ask.QueryContext(b.Context(), prefix)
	if err != nil {
		b.Fatal(err)
	}
	defer rows.Close()
	names, _ := rows.Columns()
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for ; rows.Next(); n++ {
		if err := rows.Scan(into...); err != nil {
			b.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		b.Fatal(err)
	}
	return n
}
