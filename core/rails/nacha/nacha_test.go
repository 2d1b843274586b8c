package nacha_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zone is known on machines without a zone database

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/moov-io/ach"
	"pgregory.net/rapid"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

func header() nacha.Header {
	return nacha.Header{
		Origin: "021040078", Destination: "061000146", OriginName: "First Bank", DestinationName: "Federal Reserve",
		CreatedAt: time.Date(2026, 11, 23, 14, 30, 0, 0, time.UTC), Modifier: 'B', Reference: "REF1",
	}
}

func payroll() nacha.Batch {
	return nacha.Batch{
		Class: rails.PPD, CompanyID: "1234567890", CompanyName: "Northwind", Description: "PAYROLL",
		Effective: time.Date(2026, 11, 24, 0, 0, 0, 0, time.UTC), Bank: "021040078",
	}
}

func wage() nacha.Entry {
	return nacha.Entry{
		Account: rails.Checking, Direction: rails.Credit, Kind: nacha.Live, Amount: money.Of(1_234_56, "USD"),
		Routing: "121182904", Number: "9876543210", Name: "Jane Doe", ID: "E-17",
	}
}

type read struct {
	header  nacha.Header
	totals  nacha.Totals
	batches []nacha.Batch
	entries []nacha.Entry
}

// reading hands out what is in a file.
func reading(text string) (found read, err error) {
	found.header, found.totals, err = nacha.Read(strings.NewReader(text),
		func(b nacha.Batch, e nacha.Entry) error {
			if n := len(found.batches); n == 0 || found.batches[n-1].Number != b.Number {
				found.batches = append(found.batches, b)
			}
			found.entries = append(found.entries, e)
			return nil
		})
	return found, err
}

// file writes one batch with its entries.
func file(t interface {
	Helper()
	Fatal(...any)
}, b nacha.Batch, entries ...nacha.Entry,
) string {
	t.Helper()
	var out bytes.Buffer
	w, err := nacha.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Batch(b); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, err := w.Entry(e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// understood is read and checked by the library alone.
func understood(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string,
) ach.File {
	t.Helper()
	r := ach.NewReader(strings.NewReader(text))
	r.SetValidation(&ach.ValidateOpts{AllowZeroEntryAmount: true})
	f, err := r.Read()
	if err == nil {
		err = f.Validate()
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return f
}

var ignored = cmp.Options{cmpopts.IgnoreFields(nacha.Entry{}, "Line", "Trace"), cmpopts.EquateEmpty()}

func TestAFileOfEachClassIsReadAgainAndByOthers(t *testing.T) {
	t.Parallel()
	debit := func(e nacha.Entry) nacha.Entry { e.Direction = rails.Debit; return e }
	with := func(e nacha.Entry, change func(*nacha.Entry)) nacha.Entry { change(&e); return e }
	for name, c := range map[string]struct {
		class       rails.SECCode
		description string
		entries     []nacha.Entry
	}{
		"PPD": {class: rails.PPD, entries: []nacha.Entry{
			wage(), debit(wage()), with(wage(), func(e *nacha.Entry) { e.Remittance = "Wages of November" }),
			with(wage(), func(e *nacha.Entry) { e.Kind, e.Amount.Minor = nacha.Prenote, 0 }),
			with(debit(wage()), func(e *nacha.Entry) { e.Account = rails.Savings }),
			with(wage(), func(e *nacha.Entry) { e.Account = rails.Loan }),
		}},
		"CCD": {class: rails.CCD, entries: []nacha.Entry{
			with(wage(), func(e *nacha.Entry) { e.Account = rails.GL }),
			with(wage(), func(e *nacha.Entry) {
				e.Kind, e.Amount.Minor, e.Remittance = nacha.ZeroDollar, 0, "ISA*00*..."
			}),
		}},
		"WEB": {class: rails.WEB, entries: []nacha.Entry{
			with(debit(wage()), func(e *nacha.Entry) { e.Data = "S" }),
		}},
		"TEL": {class: rails.TEL, entries: []nacha.Entry{debit(wage())}},
		"BOC": {class: nacha.BOC, entries: []nacha.Entry{debit(wage())}},
		"CIE": {class: nacha.CIE, entries: []nacha.Entry{wage()}},
		"POP": {class: rails.POP, entries: []nacha.Entry{with(debit(wage()), func(e *nacha.Entry) {
			e.ID, e.City, e.State = "000123456", "NYC", "NY"
		})}},
		"CTX": {class: rails.CTX, entries: []nacha.Entry{wage(), with(wage(), func(e *nacha.Entry) {
			e.Remittance = strings.Repeat("0123456789", 25) + " " + strings.Repeat("x y", 40)
		})}},
		"ENR": {class: rails.ENR, description: nacha.AutoEnroll, entries: []nacha.Entry{
			with(wage(), func(e *nacha.Entry) {
				e.Kind, e.Amount.Minor = nacha.Prenote, 0
				e.Remittance = `22*12200004*3*123987654321*777777777*DOE*JOHN*1\`
			}),
		}},
		"reversal": {class: rails.PPD, description: nacha.Reversal, entries: []nacha.Entry{
			wage().Reversed(), with(wage(), func(e *nacha.Entry) { e.Account = rails.Loan }).Reversed(),
		}},
	} {
		b := payroll()
		b.Class = c.class
		if c.description != "" {
			b.Description = c.description
		}
		text := file(t, b, c.entries...)
		if f := understood(t, text); len(f.Batches[0].GetEntries()) != len(c.entries) {
			t.Errorf("%s: others read %d entries", name, len(f.Batches[0].GetEntries()))
		}
		got, err := reading(text)
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
			continue
		}
		if diff := cmp.Diff(c.entries, got.entries, ignored); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		b.Bank, b.Number, b.Line = b.Bank[:8], 1, 2
		if c.class == rails.ENR {
			b.Effective = time.Time{}
		}
		if diff := cmp.Diff([]nacha.Batch{b}, got.batches); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReturnsDishonoursAndNoticesOfChange(t *testing.T) {
	t.Parallel()
	about := wage()
	about.Amount.Minor = 0
	returned, dead, dishonoured, changed := wage(), wage(), wage(), about
	returned.Return = &nacha.Return{Code: "R03", OriginalTrace: "021040070000001", OriginalBank: "12118290"}
	dead.Return = &nacha.Return{
		Code: "R15", OriginalTrace: "021040070000002", OriginalBank: "12118290", Information: "as told",
		DateOfDeath: time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC),
	}
	dishonoured.Dishonour = &nacha.Dishonour{
		Code: "R68", OriginalTrace: "021040070000001", OriginalBank: "12118290", ReturnTrace: "121182900000009",
		ReturnSettled: 329, ReturnCode: "R03", Information: "late",
	}
	changed.Change = &nacha.Change{
		Code: "C06", OriginalTrace: "021040070000001", OriginalBank: "12118290",
		Data: "123456789         37", // 17 characters of the account, and the code
	}
	for name, c := range map[string]struct {
		class   rails.SECCode
		entries []nacha.Entry
	}{
		"returns":    {rails.PPD, []nacha.Entry{returned, dead}},
		"dishonours": {rails.PPD, []nacha.Entry{dishonoured}},
		"changes":    {nacha.COR, []nacha.Entry{changed}},
	} {
		b := payroll()
		if b.Class = c.class; b.Class == nacha.COR {
			b.Effective = time.Time{}
		}
		text := file(t, b, c.entries...)
		understood(t, text)
		got, err := reading(text)
		if err != nil {
			t.Errorf("%s: %v in\n%s", name, err, text)
			continue
		}
		if name == "changes" {
			right := got.entries[0].Change
			if right.Account != "123456789" || right.AccountType != rails.Savings ||
				right.Direction != rails.Debit {
				t.Errorf("the change is read as %+v", right)
			}
			right.Account, right.AccountType, right.Direction = "", "", ""
		}
		if diff := cmp.Diff(c.entries, got.entries, ignored); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// draw makes an entry that ACH takes.
func draw(t *rapid.T, class rails.SECCode) nacha.Entry {
	text := func(name string, most int) string {
		letters := rapid.RuneFrom([]rune("abcXYZ019 .,&-/'"))
		return strings.TrimSpace("x" + rapid.StringOfN(letters, 0, most-1, -1).Draw(t, name))
	}
	bank := rapid.StringMatching(`[0-9]{8}`).Draw(t, "bank")
	accounts := rapid.SampledFrom([]rails.AccountType{rails.Checking, rails.Savings, rails.GL})
	e := nacha.Entry{
		Account:   accounts.Draw(t, "account"),
		Direction: rapid.SampledFrom([]rails.EntryType{rails.Credit, rails.Debit}).Draw(t, "direction"),
		Kind:      nacha.Live, Amount: money.Of(rapid.Int64Range(1, 1_000_000_00).Draw(t, "cents"), "USD"),
		Routing: bank + strconv.Itoa(ach.CalculateCheckDigit(bank)), Number: text("number", 17),
		Name: text("name", 16), ID: text("id", 15),
	}
	if rapid.Bool().Draw(t, "remittance") {
		most := 80
		if class == rails.CTX {
			most = 400
		}
		e.Remittance = text("text", most)
	}
	if rapid.Bool().Draw(t, "prenote") {
		e.Kind, e.Amount.Minor = nacha.Prenote, 0
	}
	return e
}

func TestTheControlsOfAFileAreItsSums(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		h := header()
		h.FirstTrace = rapid.IntRange(0, 1000).Draw(t, "first")
		w, err := nacha.NewWriter(&out, h)
		if err != nil {
			t.Fatal(err)
		}
		var want []nacha.Entry
		var traces []string
		offset := &nacha.Offset{Account: rails.Checking, Routing: "021040078", Number: "100", Name: "Northwind"}
		var credits, debits, hash, offsets int64
		for range rapid.IntRange(1, 4).Draw(t, "batches") {
			b := payroll()
			b.Class = rapid.SampledFrom([]rails.SECCode{rails.PPD, rails.CCD, rails.WEB, rails.CTX}).
				Draw(t, "class")
			if b.SameDay = rapid.Bool().Draw(t, "same day"); rapid.Bool().Draw(t, "offset") {
				b.Offset = offset
			}
			if err := w.Batch(b); err != nil {
				t.Fatal(err)
			}
			var plus, minus int64
			for range rapid.IntRange(1, 5).Draw(t, "entries") {
				e := draw(t, b.Class)
				trace, err := w.Entry(e)
				if err != nil {
					t.Fatal(err)
				}
				want, traces = append(want, e), append(traces, trace)
				if e.Direction == rails.Credit {
					plus += e.Amount.Minor
				} else {
					minus += e.Amount.Minor
				}
				bank, _ := strconv.ParseInt(e.Routing[:8], 10, 64)
				hash += bank
			}
			credits, debits = credits+plus, debits+minus
			if b.Offset == nil {
				continue
			}
			credits, debits = credits+minus, debits+plus
			most := int64(nacha.MostCents)
			if b.SameDay {
				most = nacha.MostSameDayCents
			}
			n := (plus+most-1)/most + (minus+most-1)/most
			offsets, hash = offsets+n, hash+n*2104007
		}
		totals, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if totals.Credits.Minor != credits || totals.Debits.Minor != debits ||
			totals.Entries != len(want)+int(offsets) {
			t.Fatalf("%+v, not %d and %d", totals, credits, debits)
		}
		if !slices.IsSorted(traces) || traces[0][8:] != fmt.Sprintf("%07d", max(1, h.FirstTrace)) {
			t.Fatalf("%v", traces)
		}
		f := understood(t, out.String())
		if f.Control.EntryHash != int(hash%10_000_000_000) ||
			f.Control.TotalCreditEntryDollarAmountInFile != int(credits) {
			t.Fatalf("%+v", f.Control)
		}
		got, err := reading(out.String())
		if err != nil {
			t.Fatalf("%v in\n%s", err, &out)
		}
		got.entries = slices.DeleteFunc(got.entries, func(e nacha.Entry) bool { return e.ID == "OFFSET" })
		if diff := cmp.Diff(want, got.entries, ignored); diff != "" || got.totals != totals {
			t.Fatalf("%s %+v %+v", diff, got.totals, totals)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if len(lines)%10 != 0 || slices.ContainsFunc(lines, func(line string) bool { return len(line) != 94 }) {
			t.Fatalf("%d lines", len(lines))
		}
	})
}

func TestWhatACHWouldRefuseIsNotWrittenAndTheNextEntryIs(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*nacha.Batch, *nacha.Entry){
		"Amount currency": func(_ *nacha.Batch, e *nacha.Entry) { e.Amount = money.Of(1, "EUR") },
		"Amount zero":     func(_ *nacha.Batch, e *nacha.Entry) { e.Amount.Minor = 0 },
		"Amount negative": func(_ *nacha.Batch, e *nacha.Entry) { e.Amount.Minor = -1 },
		"Amount large":    func(_ *nacha.Batch, e *nacha.Entry) { e.Amount.Minor = nacha.MostCents + 1 },
		"Amount prenote":  func(_ *nacha.Batch, e *nacha.Entry) { e.Kind = nacha.Prenote },
		"Amount same day": func(b *nacha.Batch, e *nacha.Entry) { b.SameDay, e.Amount.Minor = true, 100_000_001 },
		"Remittance":      func(_ *nacha.Batch, e *nacha.Entry) { e.Kind, e.Amount.Minor = nacha.ZeroDollar, 0 },
		"Direction":       func(b *nacha.Batch, _ *nacha.Entry) { b.Only = rails.Debit },
		"TransactionCode": func(_ *nacha.Batch, e *nacha.Entry) {
			e.Account, e.Direction = rails.Loan, rails.Debit
		},
		"TransactionCode2": func(_ *nacha.Batch, e *nacha.Entry) { e.Account = "HELOC" },
		"Routing":          func(_ *nacha.Batch, e *nacha.Entry) { e.Routing = "12118290" },
		"RDFI check digit": func(_ *nacha.Batch, e *nacha.Entry) { e.Routing = "121182905" },
		"Number":           func(_ *nacha.Batch, e *nacha.Entry) { e.Number = "123456789012345678" },
		"DFIAccountNumber": func(_ *nacha.Batch, e *nacha.Entry) { e.Number = "" },
		"Number letters":   func(_ *nacha.Batch, e *nacha.Entry) { e.Number = "12é" },
		"IndividualName":   func(_ *nacha.Batch, e *nacha.Entry) { e.Name = "日本" },
		"IndividualName2":  func(_ *nacha.Batch, e *nacha.Entry) { e.Name = "" },
		" characters":      func(_ *nacha.Batch, e *nacha.Entry) { e.Name = "a ¬ b" },
		"PaymentRelated":   func(_ *nacha.Batch, e *nacha.Entry) { e.Remittance = "two\nlines" },
		"Trace short":      func(_ *nacha.Batch, e *nacha.Entry) { e.Trace = "12345" },
		"Trace bank":       func(_ *nacha.Batch, e *nacha.Entry) { e.Trace = "121182900000005" },
		"Trace twice":      func(_ *nacha.Batch, e *nacha.Entry) { e.Trace = "021040070000001" },
		"OriginalTrace":    func(_ *nacha.Batch, e *nacha.Entry) { e.Return = &nacha.Return{Code: "R03"} },
		"ReturnCode": func(_ *nacha.Batch, e *nacha.Entry) {
			e.Return = &nacha.Return{Code: "R99", OriginalTrace: "021040070000001", OriginalBank: "12118290"}
		},
		"Contest": func(_ *nacha.Batch, e *nacha.Entry) { e.Contest = &nacha.Contest{} },
		"Addenda9": func(_ *nacha.Batch, e *nacha.Entry) {
			e.Amount.Minor, e.Change = 0, &nacha.Change{
				Code: "C01", OriginalTrace: "021040070000001", OriginalBank: "12118290", Data: "1",
			}
		},
		"Addenda05": func(b *nacha.Batch, e *nacha.Entry) {
			b.Class, e.Direction, e.Remittance = rails.TEL, rails.Debit, "x"
		},
	} {
		b, e := payroll(), wage()
		change(&b, &e)
		var out bytes.Buffer
		w, err := nacha.NewWriter(&out, header())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Batch(b); err != nil {
			t.Errorf("%s: %v", field, err)
			continue
		}
		good := wage()
		if b.Only == rails.Debit || b.Class == rails.TEL {
			good.Direction = rails.Debit
		}
		if _, err := w.Entry(good); err != nil {
			t.Fatal(err)
		}
		var wrong nacha.Fault
		if _, err := w.Entry(e); !errors.As(err, &wrong) || wrong.Line != 4 ||
			!strings.HasPrefix(field, wrong.Field) &&
				!strings.HasPrefix(wrong.Field, strings.Fields(field + " x")[0]) {
			t.Errorf("%s: %v", field, err)
		} else if strings.Contains(err.Error(), "123456789") ||
			e.Name != "" && strings.Contains(err.Error(), e.Name) {
			t.Errorf("%s: the error quotes: %v", field, err)
		}
		if trace, err := w.Entry(good); err != nil || trace != "021040070000002" {
			t.Errorf("%s: the next is %s (%v)", field, trace, err)
		}
		if _, err := w.Close(); err != nil {
			t.Errorf("%s: %v", field, err)
		}
		if got, err := reading(out.String()); err != nil || len(got.entries) != 2 {
			t.Errorf("%s: %d entries (%v)", field, len(got.entries), err)
		}
	}
}

func TestBatchesAndFilesThatACHWouldRefuseAreNotBegun(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*nacha.Batch){
		"Class":                   func(b *nacha.Batch) { b.Class = "ADV" },
		"Abroad":                  func(b *nacha.Batch) { b.Abroad.Country = "DE" },
		"StandardEntryClassCode":  func(b *nacha.Batch) { b.Class = "ZZZ" },
		"CompanyID":               func(b *nacha.Batch) { b.CompanyID = "12345678901" },
		"CompanyIdentification":   func(b *nacha.Batch) { b.CompanyID = "" },
		"CompanyName":             func(b *nacha.Batch) { b.CompanyName = "日本" },
		"Description":             func(b *nacha.Batch) { b.Description = "WAGES OF MAY" },
		"CompanyEntryDescription": func(b *nacha.Batch) { b.Description = "" },
		"Bank":                    func(b *nacha.Batch) { b.Bank = "02104007" },
		"Effective":               func(b *nacha.Batch) { b.Effective = time.Time{} },
		"DFIAccountNumber": func(b *nacha.Batch) {
			b.Offset = &nacha.Offset{Account: rails.GL, Routing: "021040078"}
		},
		"TransactionCode": func(b *nacha.Batch) {
			b.Class = rails.TEL // has no credits
			b.Offset = &nacha.Offset{Account: rails.GL, Routing: "021040078", Number: "1", Name: "x"}
		},
	} {
		w, err := nacha.NewWriter(io.Discard, header())
		if err != nil {
			t.Fatal(err)
		}
		b := payroll()
		change(&b)
		var wrong nacha.Fault
		if err := w.Batch(b); !errors.As(err, &wrong) || wrong.Field != field || wrong.Line != 2 {
			t.Errorf("%s: %v", field, err)
		}
		if _, err := w.Entry(wage()); err == nil {
			t.Errorf("%s: an entry is taken", field)
		}
		if _, err := w.Close(); err == nil {
			t.Errorf("%s: a file without entries is closed", field)
		}
	}
	for field, change := range map[string]func(*nacha.Header){
		"Origin":               func(h *nacha.Header) { h.Origin = "12345678901" },
		"ImmediateOrigin":      func(h *nacha.Header) { h.Origin = "" },
		"ImmediateDestination": func(h *nacha.Header) { h.Destination = "061000147" },
		"FileIDModifier":       func(h *nacha.Header) { h.Modifier = 'b' },
		"Reference":            func(h *nacha.Header) { h.Reference = "too long." },
	} {
		h := header()
		change(&h)
		var wrong nacha.Fault
		if _, err := nacha.NewWriter(io.Discard, h); !errors.As(err, &wrong) || wrong.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
}

func TestBatchesOfSeveralBanksHaveTheirOwnTraces(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := nacha.NewWriter(&out, header())
	if err != nil {
		t.Fatal(err)
	}
	var traces []string
	for _, bank := range []string{"121182904", "021040078", "121182904"} {
		b := payroll()
		b.Bank = bank
		if err := w.Batch(b); err != nil {
			t.Fatal(err)
		}
		trace, err := w.Entry(wage())
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, trace)
	}
	if _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if want := []string{"121182900000001", "021040070000002", "121182900000003"}; !slices.Equal(traces, want) {
		t.Errorf("%q", traces)
	}
	understood(t, out.String())
	if got, err := reading(out.String()); err != nil || len(got.entries) != 3 {
		t.Errorf("%d entries (%v)", len(got.entries), err)
	}
}

func TestATotalHasRoomForItsOffset(t *testing.T) {
	t.Parallel()
	w, err := nacha.NewWriter(io.Discard, header())
	if err != nil {
		t.Fatal(err)
	}
	b := payroll()
	b.Offset = &nacha.Offset{Account: rails.Checking, Routing: "021040078", Number: "100", Name: "Northwind"}
	if err := w.Batch(b); err != nil {
		t.Fatal(err)
	}
	e := wage()
	e.Amount.Minor = nacha.MostCents
	taken := 0
	for ; taken < 300; taken++ {
		if e.Direction = rails.Credit; taken%2 == 0 {
			e.Direction = rails.Debit
		}
		if _, err = w.Entry(e); err != nil {
			break
		}
	}
	if err == nil || taken != 100 { // a hundred times 99,999,999.99 have twelve digits
		t.Errorf("%d entries were taken (%v)", taken, err)
	}
	if totals, err := w.Close(); err != nil || totals.Debits != totals.Credits || totals.Entries != 200 {
		t.Errorf("%+v (%v)", totals, err)
	}
}

func TestTheSameDayIndicatorSaysWhenItSettles(t *testing.T) {
	t.Parallel()
	for clock, want := range map[string]string{
		"10:29": "SD1300", "10:30": "SD1700", "14:44": "SD1700", "14:45": "SD1800",
	} {
		h := header()
		created, err := time.Parse("2006-01-02 15:04 -0700", "2026-11-23 "+clock+" -0500")
		if err != nil {
			t.Fatal(err)
		}
		h.CreatedAt = created
		var out bytes.Buffer
		w, err := nacha.NewWriter(&out, h)
		if err != nil {
			t.Fatal(err)
		}
		b := payroll()
		b.SameDay = true
		if err := w.Batch(b); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Entry(wage()); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if f := understood(t, out.String()); f.Batches[0].GetHeader().CompanyDescriptiveDate != want {
			t.Errorf("%s: %s", clock, f.Batches[0].GetHeader().CompanyDescriptiveDate)
		}
		got, err := reading(out.String())
		if err != nil || !got.batches[0].SameDay || !got.header.CreatedAt.Equal(created) {
			t.Errorf("%s: %+v (%v)", clock, got.header, err)
		}
	}
}

func TestNamesLoseAccentsAndAreCut(t *testing.T) {
	t.Parallel()
	e := wage()
	e.Name, e.ID = "Jürgen Østergård-Müller of Łódź", "0123456789-0123456789"
	e.Remittance = strings.Repeat("é", 100)
	got, err := reading(file(t, payroll(), e))
	if err != nil {
		t.Fatal(err)
	}
	if e := got.entries[0]; e.Name != "Jurgen Ostergard-Mulle" || e.ID != "0123456789-0123" ||
		e.Remittance != strings.Repeat("e", 80) {
		t.Errorf("%+v", e)
	}
}

func TestAnErrorBelowTheFileEndsIt(t *testing.T) {
	t.Parallel()
	w, err := nacha.NewWriter(failing{}, header())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Batch(payroll()); err != nil {
		t.Fatal(err)
	}
	for range 1000 {
		if _, err = w.Entry(wage()); err != nil {
			break
		}
	}
	if !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
	if _, err := w.Close(); !errors.Is(err, io.ErrShortWrite) {
		t.Error(err)
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrShortWrite }
