package nacha_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/moov-io/ach"

	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
)

// three is a file of three entries: its lines are the file header, the batch header, the entries with an
// addenda after the second, the controls and three lines that fill it up.
func three(t *testing.T) []string {
	t.Helper()
	second := wage()
	second.Remittance = "wages"
	return strings.Split(strings.TrimSuffix(file(t, payroll(), wage(), second, wage()), "\n"), "\n")
}

// put writes a text into a line, from a place on.
func put(line string, at int, text string) string { return line[:at] + text + line[at+len(text):] }

func TestEveryFaultIsNamedWithItsLineAndTheOthersAreRead(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change  func([]string)
		faults  string // line and record of each
		entries int
	}{
		"none":          {func([]string) {}, "", 3},
		"93 characters": {func(l []string) { l[2] = l[2][:93] }, "3 record", 2},
		"95 characters": {func(l []string) { l[2] += "x" }, "3 record", 3},
		"an empty line": {func(l []string) { l[2] += "\n" }, "", 3},
		"line ends of Windows": {
			func(l []string) { l[0] = strings.Join(l[:7], "\r\n") + "\r"; clear(l[1:7]) },
			"", 3,
		},
		"no known type":         {func(l []string) { l[2] = "x" + l[2][1:] }, "3 record", 2},
		"not ASCII":             {func(l []string) { l[3] = put(l[3], 60, "\xe9") }, "4 record", 2},
		"NUL":                   {func(l []string) { l[3] = put(l[3], 60, "\x00") }, "4 record", 2},
		"letters in the amount": {func(l []string) { l[5] = put(l[5], 30, "x") }, "6 entry", 2},
		"a negative amount":     {func(l []string) { l[5] = put(l[5], 29, "-") }, "6 entry", 2},
		"another amount": {
			func(l []string) { l[5] = put(l[5], 38, "7") },
			"7 batch control,8 file control", 3,
		},
		"an amount of 0": {
			func(l []string) { l[5] = put(l[5], 29, "0000000000") },
			"6 entry,7 batch control,8 file control", 2,
		},
		"a wrong check digit":   {func(l []string) { l[2] = put(l[2], 11, "5") }, "3 entry", 2},
		"an unknown code":       {func(l []string) { l[2] = put(l[2], 1, "99") }, "3 entry", 2},
		"traces that descend":   {func(l []string) { l[5] = put(l[5], 79, "021040070000001") }, "6 entry", 2},
		"another bank's trace":  {func(l []string) { l[5] = put(l[5], 79, "121182900000003") }, "6 entry", 2},
		"no addenda":            {func(l []string) { l[2] = put(l[2], 78, "1") }, "3 entry", 2},
		"no entry for it":       {func(l []string) { l[2], l[4] = l[4], l[2] }, "3 addenda,4 entry", 2},
		"an addenda of another": {func(l []string) { l[4] = put(l[4], 87, "0000003") }, "5 addenda", 2},
		"addenda out of order":  {func(l []string) { l[4] = put(l[4], 83, "0002") }, "5 addenda", 2},
		"an unknown addenda":    {func(l []string) { l[4] = put(l[4], 1, "17") }, "5 addenda", 2},
		"letters in its type":   {func(l []string) { l[4] = put(l[4], 1, "x5") }, "5 addenda", 2},
		"a wrong count":         {func(l []string) { l[6] = put(l[6], 4, "000009") }, "7 batch control", 3},
		"a wrong hash":          {func(l []string) { l[6] = put(l[6], 10, "0000000001") }, "7 batch control", 3},
		"another company":       {func(l []string) { l[6] = put(l[6], 44, "9") }, "7 batch control", 3},
		"another batch":         {func(l []string) { l[6] = put(l[6], 87, "0000002") }, "7 batch control", 3},
		"a wrong file count":    {func(l []string) { l[7] = put(l[7], 13, "00000009") }, "8 file control", 3},
		"a wrong batch count":   {func(l []string) { l[7] = put(l[7], 1, "999999") }, "8 file control", 3},
		"a wrong file total":    {func(l []string) { l[7] = put(l[7], 43, "000000000001") }, "8 file control", 3},
		"no file header": {
			func(l []string) { l[0] = "" },
			"2 batch header,3 entry,4 entry,6 entry,7 batch control", 0,
		},
		"two file headers":   {func(l []string) { l[1] = l[0] + "\n" + l[1] }, "2 file header", 3},
		"no batch header":    {func(l []string) { l[1] = "" }, "3 entry,4 entry,6 entry,7 batch control", 0},
		"two batch headers":  {func(l []string) { l[1] += "\n" + l[1] }, "3 batch header", 3},
		"no batch control":   {func(l []string) { l[6] = "" }, "8 file control", 3},
		"no file control":    {func(l []string) { clear(l[7:]) }, "7 file", 3},
		"more after the end": {func(l []string) { l[8] = l[2] }, "9 entry", 3},
		"an unknown class":   {func(l []string) { l[1] = put(l[1], 50, "ZZZ") }, "2 batch header", 0},
		"ADV":                {func(l []string) { l[1] = put(l[1], 50, "ADV") }, "2 batch header", 0},
		"IAT of a class":     {func(l []string) { l[1] = put(l[1], 50, "IAT") }, "2 batch header", 0},
		"debits only": {
			func(l []string) { l[1], l[6] = put(l[1], 1, "225"), put(l[6], 1, "225") },
			"3 entry,4 entry,6 entry", 0,
		},
		"no day":              {func(l []string) { l[1] = put(l[1], 69, "261332") }, "2 batch header", 3},
		"no day of the file":  {func(l []string) { l[0] = put(l[0], 23, "269999") }, "1 file header", 3},
		"a wrong destination": {func(l []string) { l[0] = put(l[0], 12, "7") }, "1 file header", 3},
		"an entry with the type of an addenda": {
			func(l []string) { l[3] = put(l[3], 0, "7") },
			"4 addenda,7 batch control,7 batch control,8 file control,8 file control", 1,
		},
		"the first entry with it": {
			func(l []string) { l[2] = put(l[2], 0, "7") },
			"3 addenda,7 batch control,7 batch control,8 file control,8 file control", 2,
		},
		"an entry before the batch, and one less in it": {
			func(l []string) { l[1], l[5] = l[2]+"\n"+l[1], "" },
			"2 entry,8 batch control,8 batch control,8 batch control,9 file control,9 file control,9 file control", 2,
		},
		"letters in the amount, and an entry less": {
			func(l []string) { l[5], l[2] = put(l[5], 30, "x"), "" },
			"6 entry,7 batch control,7 batch control,8 file control,8 file control", 1,
		},
	} {
		lines := three(t)
		c.change(lines)
		got, err := reading(strings.Join(lines, "\n") + "\n")
		var faults nacha.Faults
		if !errors.As(err, &faults) && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var told []string
		for _, f := range faults {
			told = append(told, fmt.Sprint(f.Line, " ", f.Record))
			if strings.Contains(f.Error(), "9876543210") {
				t.Errorf("%s: the fault has the account number: %v", name, f)
			}
		}
		if text := strings.Join(told, ","); text != c.faults || len(got.entries) != c.entries {
			t.Errorf("%s: %d entries, %q: %v", name, len(got.entries), text, err)
		}
	}
}

// What an entry with a fault moves counts beside the others, as far as it can be read.
func TestEntriesWithFaultsAreHandedOutWhereThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func([]string)
		wrong  string // line, direction, amount and bank of those with faults
	}{
		"none":          {func([]string) {}, ""},
		"check digit":   {func(l []string) { l[2] = put(l[2], 11, "5") }, "3 CREDIT 1234.56 121182905"},
		"trace":         {func(l []string) { l[5] = put(l[5], 79, "9") }, "6 CREDIT 1234.56 121182904"},
		"letter in it":  {func(l []string) { l[5] = put(l[5], 79, "x") }, "6 CREDIT 1234.56 121182904"},
		"addenda":       {func(l []string) { l[4] = put(l[4], 83, "0002") }, "4 CREDIT 1234.56 121182904"},
		"letter there":  {func(l []string) { l[4] = put(l[4], 1, "x") }, "4 CREDIT 1234.56 121182904"},
		"amount":        {func(l []string) { l[5] = put(l[5], 30, "x") }, "6 CREDIT  121182904"},
		"code":          {func(l []string) { l[2] = put(l[2], 1, "99") }, "3  1234.56 121182904"},
		"letter in one": {func(l []string) { l[2] = put(l[2], 1, "2x") }, "3  1234.56 121182904"},
		"bank":          {func(l []string) { l[2] = put(l[2], 3, "x") }, "3 CREDIT 1234.56 "},
		"in no batch":   {func(l []string) { l[0] += "\n" + l[2] }, ""},
	} {
		lines := three(t)
		c.change(lines)
		var wrong []string
		right := 0
		_, _, err := nacha.ReadAll(strings.NewReader(strings.Join(lines, "\n")),
			func(b nacha.Batch, e nacha.Entry) error {
				if e.Wrong == nil {
					right++
					return nil
				}
				amount := ""
				if e.Amount.Currency != "" {
					amount = e.Amount.String()
				}
				wrong = append(wrong, fmt.Sprint(e.Line, " ", e.Direction, " ", amount, " ", e.Routing))
				if b.Line == 0 || e.Wrong.Line != e.Line {
					t.Errorf("%s: %+v in %+v", name, e.Wrong, b)
				}
				return nil
			})
		text := strings.Join(wrong, ",")
		if text != c.wrong || right+len(wrong) != 3 || (err == nil) != (name == "none") {
			t.Errorf("%s: %d, %q: %v", name, right, text, err)
		}
	}
}

func TestAFileWithoutLineEndsIsRead(t *testing.T) {
	t.Parallel()
	lines := three(t)
	got, err := reading(strings.Join(lines, ""))
	if err != nil || len(got.entries) != 3 || got.entries[2].Line != 6 {
		t.Errorf("%d entries (%v)", len(got.entries), err)
	}
	if got, err := reading(strings.Join(lines[:8], "\r")); err != nil || len(got.entries) != 3 {
		t.Errorf("%d entries (%v)", len(got.entries), err)
	}
	_, err = reading(strings.Join(lines[:7], "") + lines[7][:50])
	var faults nacha.Faults
	if !errors.As(err, &faults) || faults[0].Line != 8 || faults[0].Record != "record" {
		t.Error(err)
	}
}

func TestFilesOfTheLibraryAreRead(t *testing.T) {
	t.Parallel()
	f := ach.NewFile()
	fh := ach.NewFileHeader()
	fh.ImmediateDestination, fh.ImmediateOrigin = "231380104", "121042882"
	fh.ImmediateDestinationName, fh.ImmediateOriginName = "Citadel", "Wells Fargo"
	fh.FileCreationDate, fh.FileCreationTime = "190816", "1055"
	f.SetHeader(fh)
	bh := ach.NewBatchHeader()
	bh.ServiceClassCode, bh.StandardEntryClassCode, bh.CompanyName = ach.DebitsOnly, ach.PPD, "Name on Account"
	bh.CompanyIdentification, bh.CompanyEntryDescription = "121042882", "REG.SALARY"
	bh.EffectiveEntryDate, bh.ODFIIdentification = "190816", "12104288"
	batch, err := ach.NewBatch(bh)
	if err != nil {
		t.Fatal(err)
	}
	entry := ach.NewEntryDetail()
	entry.TransactionCode, entry.DFIAccountNumber, entry.Amount = ach.CheckingDebit, "12345678", 100_000_000
	entry.IndividualName = "Receiver Account Name"
	entry.SetRDFI("231380104")
	entry.SetTraceNumber(bh.ODFIIdentification, 1)
	batch.AddEntry(entry)
	if err := batch.Create(); err != nil {
		t.Fatal(err)
	}
	f.AddBatch(batch)
	if err := f.Create(); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := ach.NewWriter(&out).Write(f); err != nil {
		t.Fatal(err)
	}
	got, err := reading(out.String())
	if err != nil {
		t.Fatal(err)
	}
	e := got.entries[0]
	if e.Direction != rails.Debit || e.Amount.String() != "1000000.00" || e.Routing != "231380104" ||
		got.header.Origin != "121042882" || got.batches[0].Only != rails.Debit ||
		got.totals.Debits != e.Amount {
		t.Errorf("%+v", got)
	}
	if want := time.Date(2019, 8, 16, 14, 55, 0, 0, time.UTC); !got.header.CreatedAt.Equal(want) {
		t.Errorf("created at %s", got.header.CreatedAt)
	}
}

func TestContestedDishonoursAndRefusedNoticesAreRead(t *testing.T) {
	t.Parallel()
	dishonoured, changed := wage(), wage()
	dishonoured.Dishonour = &nacha.Dishonour{
		Code: "R68", OriginalTrace: "021040070000001", OriginalBank: "12118290", ReturnTrace: "121182900000009",
		ReturnSettled: 329, ReturnCode: "R03", Information: "late",
	}
	changed.Amount.Minor = 0
	changed.Change = &nacha.Change{
		Code: "C01", OriginalTrace: "021040070000001", OriginalBank: "12118290", Data: "123456789",
	}
	contested := strings.Replace(file(t, payroll(), dishonoured), "799R68", "799R73", 1)
	if got, err := reading(contested); err != nil || got.entries[0].Contest == nil ||
		got.entries[0].Contest.Code != "R73" || got.entries[0].Contest.OriginalTrace != "021040070000001" {
		t.Errorf("%+v (%v)", got.entries, err)
	}
	b := payroll()
	b.Class = nacha.COR
	answer := ach.NewAddenda98Refused()
	answer.RefusedChangeCode, answer.OriginalTrace, answer.OriginalDFI = "C62", "021040070000001", "12118290"
	answer.CorrectedData, answer.ChangeCode, answer.TraceSequenceNumber = "123456789", "C01", "0000009"
	answer.TraceNumber = "021040070000001"
	refused := strings.Split(file(t, b, changed), "\n")
	refused[3] = answer.String()
	if got, err := reading(strings.Join(refused, "\n")); err != nil || got.entries[0].Change == nil ||
		got.entries[0].Change.Code != "C62" {
		t.Errorf("%+v (%v)", got.entries, err)
	}
}

func TestHostileFilesEndInAFault(t *testing.T) {
	t.Parallel()
	lines := three(t)
	for name, hostile := range map[string]io.Reader{
		"nothing":           strings.NewReader(""),
		"blanks":            strings.NewReader(strings.Repeat("\n", 10_000)),
		"an archive":        strings.NewReader("PK\x03\x04" + strings.Repeat("\x00", 10_000)),
		"one character":     strings.NewReader("1"),
		"headers":           strings.NewReader(strings.Repeat(lines[0]+"\n", 100_000)),
		"batches":           strings.NewReader(lines[0] + strings.Repeat(lines[1], 100_000)),
		"controls":          strings.NewReader(lines[0] + strings.Repeat(lines[6], 100_000)),
		"addenda":           strings.NewReader(lines[0] + lines[1] + lines[3] + strings.Repeat(lines[4], 100_000)),
		"an endless line":   &endless{with: 'x'},
		"an endless file":   &endless{with: '9'},
		"endless line ends": &endless{with: '\n'},
	} {
		if _, is := hostile.(*endless); is && testing.Short() {
			continue // the race detector takes a minute for them
		}
		_, totals, err := nacha.Read(hostile, func(nacha.Batch, nacha.Entry) error { return nil })
		var faults nacha.Faults
		if !errors.As(err, &faults) || len(faults) > 1000 || totals.Entries > 1 {
			t.Errorf("%s: %v", name, err)
		}
		if e, is := hostile.(*endless); is && e.read > nacha.MostBytes+1<<20 {
			t.Errorf("%s: %d bytes were read", name, e.read)
		}
	}
}

type endless struct {
	with byte
	read int
}

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.with
	}
	e.read += len(p)
	return len(p), nil
}

func TestErrorsOfOthersAreReturnedAsTheyAre(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	text := strings.Join(three(t), "\n")
	_, _, err := nacha.Read(strings.NewReader(text), func(nacha.Batch, nacha.Entry) error { return broken })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	_, _, err = nacha.Read(io.MultiReader(strings.NewReader(text[:300]), iotest.ErrReader(broken)),
		func(nacha.Batch, nacha.Entry) error { return nil })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// Whatever a file has, entries are counted or have a fault, and are within their bounds; a fault names a
// record that is there. What is read without a fault is written again, if the writer takes it, and then read
// as the same.
func FuzzRead(f *testing.F) {
	second := wage()
	second.Remittance = "wages"
	returned := wage()
	returned.Return = &nacha.Return{Code: "R03", OriginalTrace: "021040070000001", OriginalBank: "12118290"}
	back, changed := remitted(), remitted()
	back.Return, back.Remittance, back.International.Correspondents = returned.Return, "", nil
	changed.International, changed.Amount.Minor = nil, 0
	changed.Change = &nacha.Change{
		Code: "C01", OriginalTrace: "021040070000001", OriginalBank: "12118290", Data: "DE89370400440532013001",
	}
	notices := abroad()
	notices.Class = nacha.COR
	for _, c := range []struct {
		batch   nacha.Batch
		entries []nacha.Entry
	}{
		{payroll(), []nacha.Entry{wage()}},
		{payroll(), []nacha.Entry{second, wage()}},
		{payroll(), []nacha.Entry{returned}},
		{abroad(), []nacha.Entry{remitted(), back}},
		{notices, []nacha.Entry{changed}},
	} {
		text := file(f, c.batch, c.entries...)
		for _, seed := range []string{
			text, strings.ReplaceAll(text, "\n", ""), strings.ReplaceAll(text, "\n", "\r\n"), "\ufeff" + text,
			text[:len(text)/2], strings.Replace(text, "\n6", "x\n6", 1),
			strings.Replace(text, "\n6", "\n4", 1),
			strings.Replace(text, "\n6", "6", 1), strings.Replace(text, "\n5", "x\n5", 1),
			strings.Replace(text, " ", "\x00", 1), strings.Repeat(text[:94], 100), "\xff\xfe1\x000\x001\x00",
		} {
			f.Add([]byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var found read
		var err error
		found.header, found.totals, err = nacha.Read(bytes.NewReader(text),
			func(b nacha.Batch, e nacha.Entry) error {
				if e.Amount.Minor < 0 || e.Amount.Minor > nacha.MostCents || e.Account == "" ||
					len(e.Remittance) > len(text) {
					t.Fatalf("%+v", e)
				}
				found.batches, found.entries = append(found.batches, b), append(found.entries, e)
				return nil
			})
		var faults nacha.Faults
		if errors.As(err, &faults) {
			for _, one := range faults {
				if one.Line < 0 || one.Line > places(text) {
					t.Fatalf("%+v is in no line of %q", one, text)
				}
			}
		}
		if err != nil {
			return
		}
		if found.totals.Entries != len(found.entries) {
			t.Fatalf("%d of %d entries without a fault", len(found.entries), found.totals.Entries)
		}
		again(t, found)
	})
}

// places is how many lines a text has, where each record counts, and the rest of a line, that has others
// before it.
func places(text []byte) (n int) {
	for line := range bytes.SplitSeq(bytes.ReplaceAll(text, []byte("\r"), []byte("\n")), []byte("\n")) {
		n += max(1, (len(line)+93)/94)
	}
	return n + 1
}

// again writes what was read, entry by entry, and reads it again. What the writer refuses, as other banks
// write what it does not, is left out; spaces that a field begins with are not kept.
func again(t *testing.T, found read) {
	t.Helper()
	for i, e := range found.entries {
		var out bytes.Buffer
		w, err := nacha.NewWriter(&out, header())
		if err != nil {
			t.Fatal(err)
		}
		b := found.batches[i]
		b.Bank += "0" // the writer takes all nine digits, of which it writes eight
		if w.Batch(b) != nil {
			continue
		}
		if _, err := w.Entry(e); err != nil {
			continue
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
		got, err := reading(out.String())
		if diff := cmp.Diff([]nacha.Entry{e}, got.entries, ignored,
			cmp.Transformer("trimmed", strings.TrimSpace)); err != nil || diff != "" {
			t.Fatalf("%v of %s: %s", err, &out, diff)
		}
	}
}

// write writes a file of many entries.
func write(b *testing.B, to io.Writer, n int) {
	b.Helper()
	w, err := nacha.NewWriter(to, header())
	if err == nil {
		err = w.Batch(payroll())
	}
	if err != nil {
		b.Fatal(err)
	}
	for i := range n {
		e := wage()
		e.Amount.Minor, e.ID = int64(i+1), fmt.Sprintf("E-%d", i)
		if _, err := w.Entry(e); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := w.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkWriteAHundredThousandEntries(b *testing.B) {
	for b.Loop() {
		write(b, io.Discard, 100_000)
	}
}

func BenchmarkReadAHundredThousandEntries(b *testing.B) {
	var out bytes.Buffer
	write(b, &out, 100_000)
	for b.Loop() {
		_, _, err := nacha.Read(bytes.NewReader(out.Bytes()), func(nacha.Batch, nacha.Entry) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
}
