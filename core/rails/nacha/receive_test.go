package nacha_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

// receiving hands out what Receive reads of a file.
func receiving(text string) (found read, err error) {
	found.header, found.totals, err = nacha.Receive(strings.NewReader(text),
		func(b nacha.Batch, e nacha.Entry) error {
			found.batches, found.entries = append(found.batches, b), append(found.entries, e)
			return nil
		})
	return found, err
}

// set writes a text into a line of a file.
func set(text string, line, from, to int, is string) string {
	lines := strings.Split(text, "\n")
	l := lines[line-1]
	lines[line-1] = l[:from] + (is + strings.Repeat(" ", 94))[:to-from] + l[to:]
	return strings.Join(lines, "\n")
}

// What is wrong with one entry is said of it, and of none of the others in the file. What is wrong with a
// batch is said of its entries.
func TestWhatIsWrongWithAnEntryStopsNobodyElses(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := nacha.NewWriter(&out, header())
	batch := payroll()
	for _, name := range []string{"ONE", "TWO"} {
		if batch.Description = name; err == nil {
			err = w.Batch(batch)
		}
		for range 2 {
			if err == nil {
				_, err = w.Entry(wage())
			}
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	good := out.String() // lines 2 to 5 are a batch, the entries are 3 and 4; 6 to 9 are another
	both := []string{"3", "4"}
	for name, c := range map[string]struct {
		line, from, to int
		is             string
		wrong          []string // lines of entries
		field          string
		stays          bool // cannot go back
	}{
		"name":                {3, 54, 76, "", []string{"3"}, "IndividualName", false},
		"number":              {3, 12, 29, "", []string{"3"}, "DFIAccountNumber", false},
		"letters of a number": {3, 12, 29, "98\xe976", []string{"3"}, "DFIAccountNumber", false},
		"letters of a name":   {3, 54, 76, "Jos\xe9", []string{"3"}, "", false},
		"check digit":         {4, 11, 12, "1", []string{"4"}, "RDFIIdentification", false},
		"code":                {4, 1, 3, "24", []string{"4"}, "", false},
		"trace":               {4, 79, 94, "021040070000001", []string{"4"}, "TraceNumber", true},
		"amount":              {4, 29, 39, "0000x23456", []string{"4"}, "", true},
		"company":             {2, 4, 20, "", both, "CompanyName", false},
		"company id":          {2, 40, 50, "", both, "CompanyIdentification", false},
		"description":         {2, 53, 63, "", both, "CompanyEntryDescription", false},
		"letters of it":       {2, 53, 63, "caf\xe9", both, "", false},
		"day":                 {2, 69, 75, "", both, "EffectiveEntryDate", false},
		"class":               {2, 50, 53, "XYZ", both, "StandardEntryClassCode", false},
		"ADV":                 {2, 50, 53, "ADV", []string{"2"}, "StandardEntryClassCode", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := set(good, c.line, c.from, c.to, c.is)
			if name == "company id" {
				text = set(text, 5, 44, 54, "")
			}
			found, err := receiving(text)
			if err != nil {
				t.Fatal(err)
			}
			var wrong, right []string
			for i, e := range found.entries {
				line := fmt.Sprint(e.Line)
				if e.Wrong == nil {
					right = append(right, line)
					continue
				}
				wrong = append(wrong, line)
				if e.Wrong.Forward == c.stays || c.field != "" && e.Wrong.Field != c.field ||
					!c.stays && (e.Amount != wage().Amount || len(e.Trace) != 15) {
					t.Errorf("%+v %+v", e, e.Wrong)
				}
				if given := found.batches[i]; c.is == "" &&
					strings.Contains(fmt.Sprint(given, e), nacha.Blank) {
					t.Errorf("%+v says what was not given", given)
				}
			}
			want := slices.DeleteFunc([]string{"3", "4", "7", "8"}, func(l string) bool {
				return slices.Contains(c.wrong, l) || c.is == "ADV" && l < "5"
			})
			if !slices.Equal(wrong, c.wrong) || !slices.Equal(right, want) {
				t.Errorf("wrong are %v, right %v", wrong, right)
			}
			if _, err := reading(text); err == nil {
				t.Error("Read takes it")
			}
		})
	}
}

// What other banks say of entries is taken without a name, a number or what the batch is for: it concerns
// the entry that it names.
func TestAReturnNeedsNoName(t *testing.T) {
	t.Parallel()
	about := func(edit func(*nacha.Entry)) nacha.Entry {
		e := wage()
		edit(&e)
		return e
	}
	changes := payroll()
	changes.Class = nacha.COR
	for name, c := range map[string]struct {
		batch nacha.Batch
		entry nacha.Entry
	}{
		"return": {payroll(), about(func(e *nacha.Entry) {
			e.Return = &nacha.Return{Code: "R03", OriginalTrace: "021040070000001", OriginalBank: "12118290"}
		})},
		"dishonour": {payroll(), about(func(e *nacha.Entry) {
			e.Dishonour = &nacha.Dishonour{
				Code: "R68", OriginalTrace: "021040070000001", OriginalBank: "12118290", ReturnTrace: "121182900000001",
				ReturnSettled: 300, ReturnCode: "R03",
			}
		})},
		"change": {changes, about(func(e *nacha.Entry) {
			e.Amount, e.Change = money.Of(0, "USD"), &nacha.Change{
				Code: "C01", OriginalTrace: "021040070000001", OriginalBank: "12118290", Data: "1918171614",
			}
		})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := file(t, c.batch, c.entry)
			text = set(set(text, 3, 54, 76, ""), 3, 12, 29, "")
			text = set(set(text, 2, 53, 63, ""), 2, 4, 20, "Caf\xe9")
			found, err := receiving(text)
			if err != nil || len(found.entries) != 1 || found.entries[0].Wrong != nil {
				t.Fatalf("%+v %+v %v", found.entries, found.entries[0].Wrong, err)
			}
			got := found.entries[0]
			if !cmp.Equal(got.Return, c.entry.Return) || !cmp.Equal(got.Dishonour, c.entry.Dishonour) ||
				(got.Change == nil) != (c.entry.Change == nil) {
				t.Errorf("%+v", got)
			}
			found, err = receiving(set(text, 4, 3, 6, "X99")) // what it says
			if err != nil || found.entries[0].Wrong == nil || found.entries[0].Wrong.Forward {
				t.Errorf("%+v %v", found.entries[0], err)
			}
		})
	}
}

// A file that did not come whole has faults of its own, as it has for Read.
func TestAFileThatIsNotWholeIsNotReceived(t *testing.T) {
	t.Parallel()
	good := file(t, payroll(), wage(), wage())
	lines := strings.SplitAfter(good, "\n")
	for name, text := range map[string]string{
		"cut":           strings.Join(lines[:4], ""),
		"a line less":   strings.Join(slices.Delete(slices.Clone(lines), 2, 3), ""),
		"amount":        set(good, 3, 29, 39, "0000123457"),
		"short":         strings.Replace(good, "Jane Doe", "Jane", 1),
		"no batch":      strings.Join(slices.Delete(slices.Clone(lines), 1, 2), ""),
		"unknown":       strings.Replace(good, "\n6", "\n4", 1),
		"nothing":       "",
		"no file":       "hello",
		"count":         set(good, 6, 13, 21, "00000007"),
		"another batch": set(good, 5, 87, 94, "0000002"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var faults nacha.Faults
			if _, err := receiving(text); !errors.As(err, &faults) {
				t.Errorf("%v", err)
			}
		})
	}
}

// An entry that cannot be read takes nothing from what the totals say of the others: a file without one of
// them, or with another amount, did not come whole.
func TestTotalsAreComparedBesideAnUnreadableEntry(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	w, err := nacha.NewWriter(&out, header())
	batch := payroll()
	for _, name := range []string{"ONE", "TWO"} {
		if batch.Description = name; err == nil {
			err = w.Batch(batch)
		}
		for range 2 {
			if err == nil {
				_, err = w.Entry(wage())
			}
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	without := func(text string, line int) string {
		lines := strings.SplitAfter(text, "\n")
		return strings.Join(slices.Delete(lines, line-1, line), "")
	}
	for name, text := range map[string]string{ // lines 3, 4, 7 and 8 are entries
		"amount": set(out.String(), 4, 29, 39, "0000x23456"),
		"code":   set(out.String(), 4, 1, 3, "20"),
		"letter": set(out.String(), 4, 1, 3, "2x"),
		"bank":   set(out.String(), 4, 3, 11, "02x04000"),
		"class":  set(out.String(), 2, 50, 53, "XYZ"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := receiving(text); err != nil {
				t.Fatal(err)
			}
			changed := map[string]string{
				"without its neighbour": without(text, 3), "without another": without(text, 8),
				"another amount": set(text, 7, 29, 39, "0000123457"),
				"another bank":   set(text, 7, 3, 12, "021000021"),
				"another total":  set(text, 10, 43, 55, "000000000001"),
			}
			if name != "amount" {
				changed["its neighbour's amount"] = set(text, 3, 29, 39, "0000123457")
			}
			for what, changed := range changed {
				var faults nacha.Faults
				if _, err := receiving(changed); !errors.As(err, &faults) {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// FuzzReceive reads what others write: what Read takes without faults is received alike.
func FuzzReceive(f *testing.F) {
	returned := wage()
	returned.Return = &nacha.Return{Code: "R03", OriginalTrace: "021040070000001", OriginalBank: "12118290"}
	corporate := payroll()
	corporate.Class = rails.CTX
	good := file(f, payroll(), wage(), returned)
	for _, seed := range []string{
		good, set(good, 3, 54, 76, ""), set(good, 2, 4, 63, ""), set(good, 3, 12, 29, "\xe9"),
		set(good, 2, 50, 53, "ADV"), set(good, 4, 29, 39, "x"), file(f, corporate, wage()),
		file(f, abroad(), remitted(), remitted()),
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found, err := receiving(string(text))
		for i, e := range found.entries {
			if e.Line < 1 || e.Wrong != nil && e.Wrong.Line < found.batches[i].Line {
				t.Fatalf("%+v %+v", e, e.Wrong)
			}
		}
		strict, faults := reading(string(text))
		if faults != nil {
			return
		}
		if err != nil || !cmp.Equal(found.entries, strict.entries) || found.totals != strict.totals {
			t.Fatalf("%v: %s", err, cmp.Diff(strict.entries, found.entries))
		}
	})
}
