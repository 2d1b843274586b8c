package banks_test

import (
	"database/sql"
	"strings"
	"testing"
	"time"

	"bankgraph/core/banks"
)

// A file may hold anything: it is read to its end or refused, what is taken is complete, and lines are told in
// their order.
func fuzz(f *testing.F, format banks.Format, seeds ...string) {
	f.Helper()
	for _, seed := range append(seeds, "", "\n", "\ufeff", "\xff\xfe\x00", "[", "{", "\x1a", "\"") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		last := int64(0)
		err := banks.ReadForTest(format, strings.NewReader(text), func(line int64, e *banks.Entry, bad error) {
			if line < last || line < 1 {
				t.Errorf("line %d after %d", line, last)
			}
			last = line
			if bad == nil && e != nil && (e.Ref == "" || e.Name == "" || len(e.Country) != 2) {
				t.Errorf("line %d is taken: %+v", line, e)
			}
		})
		_ = err
	})
}

func FuzzFedACH(f *testing.F) {
	fuzz(f, banks.FedACHFile, achLine(1, "1", none, "First")+"\n"+achLine(2, "2", routing(1), "Second"),
		`{"a": [{"routingNumber": "611090001", "recordTypeCode": "1", "customerName": "X"}, 1]}`)
}

func FuzzFedwire(f *testing.F) {
	fuzz(f, banks.FedwireFile, wireLine(1, "Y", " ", "FIRST"), `[{"routingNumber": "611090001", "fundsEligibility": "Y"}]`)
}

func FuzzBundesbank(f *testing.F) {
	fuzz(f, banks.BundesbankFile, blzLine("99000001", "1", "M\xfcnz", "RHNUDEF0", "U"), blzLine("99000001", "2", "X", "", "D"))
}

func FuzzCSV(f *testing.F) {
	fuzz(f, banks.CSVFile, europe, "name,nationalId,ach\nA,611090001,yes\n\"", "bic;name\nx;y")
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
