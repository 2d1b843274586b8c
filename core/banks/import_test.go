package banks_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// directory is a bank in a database of its own, since all banks of a database share the directory.
type directory struct {
	*coretest.Bank
	t testing.TB
}

func newDirectory(t testing.TB) directory {
	t.Helper()
	return directory{coretest.Alone(t), t}
}

func operator(t testing.TB) context.Context {
	t.Helper()
	return access.OperatorAs(t.Context(), "ops", 0, "", nil)
}

// tell is what came of an import, in one line: added, changed, same, gone, refused, skipped.
type told struct {
	counts  [6]int64
	refused []string
	err     error
}

func (d directory) read(in banks.Import, text string) told {
	d.t.Helper()
	var got told
	in.From = strings.NewReader(text)
	in.Refused = func(line int64, because string) {
		got.refused = append(got.refused, fmt.Sprintf("%d: %s", line, because))
	}
	r, err := d.Banks.Import(operator(d.t), in)
	if got.err = err; err == nil {
		got.counts = [6]int64{r.Added, r.Changed, r.Same, r.Gone, r.Refused, r.Skipped}
	}
	return got
}

func (d directory) fine(in banks.Import, text string, counts [6]int64) {
	d.t.Helper()
	if got := d.read(in, text); got.err != nil || got.counts != counts {
		d.t.Fatalf("%v, want %v: %v %v", got.counts, counts, got.err, got.refused)
	}
}

// names are all banks of the directory: ref, name and rails.
func (d directory) names() (all []string) {
	d.t.Helper()
	b := d.DB.Batch()
	var rows []*banks.Bank
	found := d.Banks.List(d.Staff(), b, banks.Search{}, db.Columns{}, window(1000))
	if err := b.Send(d.t.Context()); err != nil {
		d.t.Fatal(err)
	}
	rows = found.Items
	for _, b := range rows {
		all = append(all, strings.TrimSpace(fmt.Sprintf("%s %s %v", b.Ref, b.Name, b.DeliveryMethods())))
	}
	return all
}

func (d directory) holds(want ...string) {
	d.t.Helper()
	if got := d.names(); !slices.Equal(got, want) {
		d.t.Errorf("%q\nwant %q", got, want)
	}
}

// routing adds the check digit to the eight digits of a number that no bank that pays cheques has.
func routing(n int) string {
	first8, sum := fmt.Sprintf("61%06d", n), 0
	for i, digit := range first8 {
		sum += int(digit-'0') * []int{3, 7, 1}[i%3]
	}
	return first8 + string(rune('0'+(10-sum%10)%10))
}

func achLine(n int, kind, successor, name string) string {
	return fmt.Sprintf("%sO061000146%s010126%s%-36s%-36s%-20s%-2s%-5s%-4s%-10s11%5s", routing(n),
		kind, successor, name, "1 Main St", "Columbus", "OH", "43215", "0000", "6145550100", "")
}

func wireLine(n int, funds, settlement, name string) string {
	return fmt.Sprintf("%s%-18s%-36s%-2s%-25s%s%s%s%s", routing(n), "SHORT", name, "OH", "COLUMBUS",
		funds, settlement, "Y", "20260101")
}

func blzLine(blz, mark, name, bic, change string) string {
	return fmt.Sprintf("%s%s%-58s%-5s%-35s%-27s%-5s%-11s%-2s%06d%s0%s", blz, mark, name, "60311",
		"Frankfurt", "Kurz", "12345", bic, "09", 1, change, "00000000")
}

const none = "000000000"

func file(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestFedACHAndFedwireDescribeABankTogether(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.fine(banks.Import{Format: "fedwire"}, file(wireLine(1, "Y", " ", "FIRST NB"),
		wireLine(3, "Y", "S", "THIRD"), wireLine(4, "N", " ", "FOURTH")), [6]int64{3})
	d.fine(banks.Import{Format: "fedach"}, file(achLine(1, "1", none, "First National"),
		achLine(2, "2", routing(1), "Former"), achLine(5, "0", none, "Federal Reserve")), [6]int64{3})
	d.holds(
		"US:"+routing(1)+" First National [ACH Fedwire]", "US:"+routing(2)+" Former []",
		"US:"+routing(3)+" THIRD []",
		"US:"+routing(4)+" FOURTH []", "US:"+routing(5)+" Federal Reserve [ACH]")
	bank, err := d.Banks.Routed(d.Staff(), routing(2))
	if err != nil || bank.Successor != routing(1) || bank.RecordType != "NEW" ||
		bank.Address.PostalCode != "43215" ||
		bank.Address.Country != "United States" || bank.NationalIDType != "ABA" {
		t.Errorf("%+v %v", bank, err)
	}
	// A directory that no longer names the bank takes back only what it said itself.
	d.fine(banks.Import{Format: "fedach", AllowGone: true}, file(achLine(5, "0", none, "Federal Reserve")),
		[6]int64{0, 0, 1, 2})
	d.holds("US:"+routing(1)+" FIRST NB [Fedwire]", "US:"+routing(3)+" THIRD []", "US:"+routing(4)+" FOURTH []",
		"US:"+routing(5)+" Federal Reserve [ACH]")
}

func TestTheOrderOfImportsDoesNotMatter(t *testing.T) {
	t.Parallel()
	one, other := newDirectory(t), newDirectory(t)
	ach, wire := file(achLine(1, "1", none, "First National")), file(wireLine(1, "Y", " ", "FIRST NB"))
	own := "nationalId,name,rtpStatus,rtpServices,fedNowStatus,fedNowServices\n" + routing(1) +
		",Ours,active,CRDT ACK,Active,RFI\n"
	for _, imports := range []struct {
		in   directory
		each []string
	}{{one, []string{"fedach", "fedwire", "csv"}}, {other, []string{"csv", "fedwire", "fedach"}}} {
		for _, format := range imports.each {
			imports.in.fine(banks.Import{Format: banks.Format(format)},
				map[string]string{"fedach": ach, "fedwire": wire, "csv": own}[format], [6]int64{1})
		}
		imports.in.holds("US:" + routing(1) + " Ours [ACH Fedwire RTP]")
		if got, _ := imports.in.Banks.Routed(imports.in.Staff(), routing(1)); got.Address.Line1 != "1 Main St" {
			t.Errorf("%+v", got)
		}
	}
}

func TestTheSameFileAgainChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	text := file(achLine(1, "1", none, "First"), achLine(2, "1", none, "Second"))
	d.fine(banks.Import{Format: "fedach"}, text, [6]int64{2})
	first, err := d.Banks.Routed(d.Staff(), routing(1))
	if err != nil {
		t.Fatal(err)
	}
	d.fine(banks.Import{Format: "fedach"}, text, [6]int64{0, 0, 2})
	d.fine(banks.Import{Format: "fedach"}, file(achLine(1, "1", none, "First Bank"),
		achLine(2, "1", none, "Second"), achLine(3, "1", none, "Third")), [6]int64{1, 1, 1})
	d.holds("US:"+routing(1)+" First Bank [ACH]", "US:"+routing(2)+" Second [ACH]",
		"US:"+routing(3)+" Third [ACH]")
	if again, err := d.Banks.Routed(d.Staff(), routing(1)); err != nil || again.UID != first.UID {
		t.Errorf("a changed bank has another number: %d, %d (%v)", first.UID, again.UID, err)
	}
}

func TestTheJSONOfTheFederalReserveReadsAsItsText(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	ach := fmt.Sprintf(`{"fedACHParticipants": {"response": {"code": 100}, "fedACHParticipants": [
{"routingNumber": %q, "officeCode": "O", "recordTypeCode": "1", "newRoutingNumber": "000000000",`+
		` "customerName": "First",
 "customerAddress": "1 Main St", "customerCity": "Columbus", "customerState": "OH", `+
		`"customerZip": "43215", "customerZipExt": "4470"},
{"routingNumber": 7},
{"routingNumber": %q, "recordTypeCode": "9", "customerName": "Ninth"},
{"routingNumber": %q, "recordTypeCode": "1", "customerName": "Second"}]}}`, routing(1),
		routing(9), routing(2))
	got := d.read(banks.Import{Format: "fedach"}, "\r\n "+ach)
	if got.err != nil || got.counts != [6]int64{2, 0, 0, 0, 2} || !slices.Equal(got.refused, []string{
		"5: the object has fields of other kinds", "6: the record type is none of 0, 1 and 2",
	}) {
		t.Errorf("%+v", got)
	}
	d.fine(banks.Import{Format: "fedwire"},
		fmt.Sprintf(`[{"routingNumber": %q, "customerName": "FIRST", "customerCity": "X",
		"fundsEligibility": "Y", "fundsSettlementOnlyStatus": " ", "securitiesEligibility": "N"}]`,
			routing(1)), [6]int64{1})
	d.holds("US:"+routing(1)+" First [ACH Fedwire]", "US:"+routing(2)+" Second [ACH]")
	if bank, _ := d.Banks.Routed(d.Staff(), routing(1)); bank.Address.PostalCode != "43215-4470" {
		t.Errorf("%+v", bank)
	}
	for cut := 10; cut < len(ach)-1; cut += 7 {
		if got := d.read(banks.Import{Format: "fedach", AllowGone: true}, ach[:cut]); got.err == nil {
			t.Fatalf("a file cut off after %d bytes was imported: %+v", cut, got)
		}
	}
	d.holds("US:"+routing(1)+" First [ACH Fedwire]", "US:"+routing(2)+" Second [ACH]")
}

func TestTheBundesbanksFileNamesBanksAndBranches(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	text := file(
		blzLine("99000001", "1", "Rheinufer Handelsbank", "RHNUDEF0XXX", "U"),
		blzLine("99000001", "2", "Rheinufer Handelsbank", "", "U"),
		blzLine("99000002", "1", "M\xfcnzbank K\xf6ln", "RHNUDEF0", "A"), // ISO 8859-1
		blzLine("99000003", "1", "Weg", "", "D"),
	)
	if got := d.read(banks.Import{Format: "bundesbank"}, text); got.err != nil ||
		got.counts != [6]int64{2, 0, 0, 0, 0, 2} {
		t.Fatalf("%+v", got)
	}
	d.holds("DE:99000001 Rheinufer Handelsbank [SWIFT]", "DE:99000002 Münzbank Köln [SWIFT]")
}

func TestAFileIsReadInEveryEncoding(t *testing.T) {
	t.Parallel()
	text := "name,bic,countryCode\r\nMünzbank,MNZBDEF0,DE\r\n"
	wide := func(order binary.AppendByteOrder) string {
		var b []byte
		for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
			b = order.AppendUint16(b, unit)
		}
		return string(b)
	}
	for name, form := range map[string]string{
		"UTF-8": text, "a byte order mark": "\ufeff" + text, "UTF-16": wide(binary.LittleEndian),
		"UTF-16, big": wide(binary.BigEndian), "ISO 8859-1": strings.ReplaceAll(text, "ü", "\xfc"),
		"line feeds":              strings.ReplaceAll(text, "\r", ""),
		"no end of the last line": strings.TrimRight(text, "\r\n"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDirectory(t)
			d.fine(banks.Import{Format: "csv"}, form, [6]int64{1})
			d.holds("MNZBDEF0 Münzbank [SWIFT]")
		})
	}
}

func TestLinesThatAreNoBankAreRefusedByTheirNumbers(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	wrong := []byte(achLine(7, "1", none, "Wrong check digit"))
	wrong[8] = '0' + (wrong[8]-'0'+1)%10
	got := d.read(banks.Import{Format: "fedach"}, file(
		achLine(1, "1", none, "First"), achLine(2, "1", none, "Second")[:150], "", string(wrong),
		achLine(3, "1", none, ""), achLine(4, "7", none, "Fourth"), achLine(1, "1", none, "First again"),
		achLine(5, "1", none, "Bell \a"), achLine(6, "1", none, "Sixth")+" ",
		achLine(10, "1", none, "A"), achLine(11, "1", none, "B"), achLine(12, "1", none, "C"),
		achLine(13, "1", none, "D"), achLine(14, "1", none, "E"), achLine(15, "1", none, "F")))
	if want := []string{
		"2: the line has another length: 150 characters instead of 155",
		"4: nationalId: must be a routing number with a right check digit", "5: name: is required",
		"6: the record type is none of 0, 1 and 2", "8: name: must be plain text",
		"9: the line has another length: 156 characters instead of 155", "7: names the same bank as line 1",
	}; got.err != nil || got.counts != [6]int64{7, 0, 0, 0, 7} || !slices.Equal(got.refused, want) {
		t.Errorf("%v %v\n%q\nwant %q", got.err, got.counts, got.refused, want)
	}
	own := d.read(banks.Import{Format: "csv"},
		"bic,name,countryCode,ach\nMAASNL20,Maasbank,NL,true\nMAASNL20,\n"+
			"MAASNL2,Short,NL,\nBVPTFRP0,\"Vieux\nPort\",FR,\nSCHDBEB0,Schelde,BE,perhaps\n,Nothing,BE,\n"+
			"SEFDCHZ0,\"Bank \"x,CH,\n"+
			"THGTGB20XXX,Thames,GB,\nMNTBJPJ0,Minato,Nippon,\nMPLHCAT0,Maple,CA,1\nAAAABEB0,A,BE,\n"+
			"BBBBBEB0,B,BE,\nCCCCBEB0,C,BE,\n")
	if want := []string{
		"3: wrong number of fields",
		"4: bic: must be a BIC of 8 or 11 characters", "7: ach: must be true or false",
		"8: bic: is required", `9: extraneous or missing " in quoted-field`,
		"11: countryCode: must be an ISO 3166-1 country code of two or three letters",
	}; own.err != nil || own.counts != [6]int64{7, 0, 0, 0, 6} || !slices.Equal(own.refused, want) {
		t.Errorf("%v %v\n%q\nwant %q", own.err, own.counts, own.refused, want)
	}
}

// What is wrong with a file as a whole changes nothing.
func TestAFileThatIsNoneChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	var lines []string
	for n := range 100 {
		lines = append(lines, achLine(n, "1", none, fmt.Sprint("Bank ", n)))
	}
	whole := file(lines...)
	d.fine(banks.Import{Format: "fedach"}, whole, [6]int64{100})
	before := d.names()
	for name, c := range map[string]struct {
		in   banks.Import
		text string
		want error
	}{
		"empty": {banks.Import{Format: "fedach", AllowGone: true}, "", banks.ErrEmpty},
		"a header alone": {
			banks.Import{Format: "csv", Source: "fedach", AllowGone: true},
			"name,bic\n", banks.ErrEmpty,
		},
		"cut off in a line": {
			banks.Import{Format: "fedach", AllowGone: true},
			whole[:len(whole)-30], banks.ErrCutOff,
		},
		"cut off between lines": {banks.Import{Format: "fedach"}, file(lines[:90]...), banks.ErrGone},
		"cut off in a row": {
			banks.Import{Format: "csv", Source: "fedach", AllowGone: true},
			"name,bic\nA,DEUTDEFF\nB", banks.ErrCutOff,
		},
		"cut off in the last field": {
			banks.Import{Format: "csv", Source: "fedach", AllowGone: true},
			"name,bic,ach\nA,DEUTDEFF,true\nB,COBADEFF,tr", banks.ErrCutOff,
		},
		"cut off in a quote": {
			banks.Import{Format: "csv", Source: "fedach", AllowGone: true},
			"name,bic\nA,DEUTDEFF\nB,\"COBAD", banks.ErrCutOff,
		},
		"another format": {
			banks.Import{Format: "fedwire", Source: "fedach", AllowGone: true},
			whole,
			banks.ErrOtherFormat,
		},
		"an endless line": {
			banks.Import{Format: "fedach", AllowGone: true},
			strings.Repeat("x", 3<<20),
			banks.ErrTooLong,
		},
		"an endless quote": {banks.Import{Format: "csv", AllowGone: true}, "name,bic\n\"" +
			strings.Repeat("x\n", 2<<20), banks.ErrTooLong},
		"an endless object": {
			banks.Import{Format: "fedach", AllowGone: true}, `[{"a": "` + strings.Repeat("x", 3<<20), banks.ErrTooLong,
		},
		"deep JSON": {
			banks.Import{Format: "fedach", AllowGone: true}, `[` + strings.Repeat(`[`, 100_000), banks.ErrUnreadable,
		},
		"JSON without a list": {
			banks.Import{Format: "fedach", AllowGone: true}, `{"a": 1}`, banks.ErrUnreadable,
		},
		"JSON with a tail": {
			banks.Import{Format: "fedwire", AllowGone: true}, `[{}] x`, banks.ErrUnreadable,
		},
		"an unknown column": {
			banks.Import{Format: "csv", AllowGone: true}, "name,bic,iban\n", banks.ErrUnreadable,
		},
		"a column twice": {
			banks.Import{Format: "csv", AllowGone: true}, "name,bic,NAME\n", banks.ErrUnreadable,
		},
		"no column of a number": {
			banks.Import{Format: "csv", AllowGone: true}, "name,city\n", banks.ErrUnreadable,
		},
		"an unknown format":        {banks.Import{Format: "xml"}, whole, nil},
		"a source with a bad name": {banks.Import{Format: "fedach", Source: "Fed ACH"}, whole, nil},
	} {
		got := d.read(c.in, c.text)
		if got.err == nil || c.want != nil && !errors.Is(got.err, c.want) {
			t.Errorf("%s: %v, want %v", name, got.err, c.want)
		}
		if _, ok := fault.Of(got.err); !ok {
			t.Errorf("%s: the operator does not read why: %v", name, got.err)
		}
	}
	if after := d.names(); !slices.Equal(before, after) {
		t.Errorf("the directory changed: %q", after)
	}
	d.fine(banks.Import{Format: "fedach"}, file(lines[:95]...), [6]int64{0, 0, 95, 5})
	d.fine(banks.Import{Format: "fedach", AllowGone: true}, file(lines[:1]...), [6]int64{0, 0, 1, 94})
}

func TestAReaderThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	from := io.MultiReader(strings.NewReader(file(achLine(1, "1", none, "First"))), failing{})
	_, err := d.Banks.Import(operator(t), banks.Import{Format: "fedach", From: from})
	if !errors.Is(err, banks.ErrUnreadable) || !strings.Contains(err.Error(), "the disk is gone") {
		t.Error(err)
	}
	d.holds()
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("the disk is gone") }

func TestOnlyOperatorsImport(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	for _, ctx := range []context.Context{d.Staff(), d.Reader()} {
		if _, err := d.Banks.Import(ctx,
			banks.Import{Format: "csv", From: failing{}}); !errors.Is(err, access.ErrDenied) {
			t.Error(err)
		}
		if _, err := d.Banks.Sources(ctx); !errors.Is(err, access.ErrDenied) {
			t.Error(err)
		}
	}
}

// The record of imports says who read what in, and when.
func TestTheSourcesSayWhatWasReadLast(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.fine(banks.Import{Format: "fedach", File: "old.txt"}, file(achLine(1, "1", none, "A")), [6]int64{1})
	d.fine(banks.Import{Format: "fedach", File: "new.txt"},
		file(achLine(1, "1", none, "A"), achLine(2, "1", none, "B")),
		[6]int64{1, 0, 1})
	d.fine(banks.Import{
		Format: "csv", Source: "europe", File: "eu.csv",
	}, "name,bic,countryCode\nX,MAASNL20,NL\n", [6]int64{1})
	all, err := d.Banks.Sources(operator(t))
	if err != nil || len(all) != 2 {
		t.Fatalf("%v %v", all, err)
	}
	for i, want := range []banks.Source{
		{Name: "europe", Banks: 1, By: "ops", File: "eu.csv", Format: "csv"},
		{Name: "fedach", Banks: 2, By: "ops", File: "new.txt", Format: "fedach"},
	} {
		if want.At = coretest.Start; !all[i].At.Equal(want.At) {
			t.Errorf("%v", all[i].At)
		}
		all[i].At = want.At
		if !reflect.DeepEqual(*all[i], want) {
			t.Errorf("%+v, want %+v", *all[i], want)
		}
	}
}

// endless makes a file line by line, and tells how much of it was made and not yet given away.
type endless struct {
	line func(n int) string
	n    int
	most int
	rest string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.rest == "" {
		if e.n == e.most {
			return 0, io.EOF
		}
		e.rest = e.line(e.n)
		e.n++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// A hundred thousand lines are in memory a few at a time: when a line is refused or told of, the reader has
// made at most what fits into the buffers since.
func TestAnImportHoldsOnlyWhatIsInItsBuffers(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	made := &endless{most: 100_000, line: func(n int) string {
		if n%100 == 99 {
			return achLine(n, "9", none, "refused") + "\n"
		}
		return achLine(n, "1", none, fmt.Sprint("Bank ", n)) + "\n"
	}}
	furthest, refused := 0, 0
	_, err := d.Banks.Import(operator(t), banks.Import{
		Format: "fedach", From: made,
		Refused: func(line int64, _ string) { refused, furthest = refused+1, max(furthest, made.n-int(line)) },
	})
	if err != nil || refused != 1000 || furthest > 1000 {
		t.Errorf("%d refused, %d lines ahead: %v", refused, furthest, err)
	}
	b := d.DB.Batch()
	n := d.Banks.CountUpTo(d.Staff(), b, banks.Search{RoutingNumberPrefix: "61"}, 0)
	if err := b.Send(t.Context()); err != nil || n.Items[0].N != 99_000 {
		t.Errorf("%v %v", n.Items, err)
	}
}

// The database refuses what a transaction of a bank writes into the directory of all.
func TestNoBankWritesTheDirectoryOfAll(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	d.fine(banks.Import{Format: "fedach"}, file(achLine(1, "1", none, "First")), [6]int64{1})
	for _, statement := range []string{
		`UPDATE banks SET name = 'Mine'`, `DELETE FROM banks`, `UPDATE bank_listings SET name = 'Mine'`,
		`DELETE FROM bank_listings`,
	} {
		d.Exec(statement)
	}
	d.holds("US:" + routing(1) + " First [ACH]")
}

// One source's list of a network says nothing of the others, or that the bank takes no part.
func TestARailReachesTheBankIfOneSourceSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ header, one, other, want string }{
		"settlement only in one": {
			"fedwireTransfer,fedwireSettlementOnly", "true,true", "true,false", "[Fedwire]",
		},
		"settlement only in both":   {"fedwireTransfer,fedwireSettlementOnly", "true,true", "true,true", "[]"},
		"inactive in one":           {"rtpStatus,rtpServices", "Inactive,", "Active,CRDT RFI", "[RTP]"},
		"active for both, one asks": {"fedNowStatus,fedNowServices", "Active,RFI", "ACTIVE,CRDT", "[FedNow]"},
		"services of an inactive":   {"fedNowStatus,fedNowServices", "Inactive,RFI", "Active,", "[FedNow]"},
		"inactive in both":          {"rtpStatus,rtpServices", "Inactive,CRDT", ",CRDT", "[]"},
	} {
		for way, said := range map[string][2]string{"": {c.one, c.other}, ", turned": {c.other, c.one}} {
			t.Run(name+way, func(t *testing.T) {
				t.Parallel()
				d := newDirectory(t)
				for i, source := range []string{"a", "b"} {
					d.fine(banks.Import{Format: "csv", Source: source},
						"nationalId,name,"+c.header+"\n"+routing(1)+",A,"+said[i]+"\n", [6]int64{1, 0, 0, 0, 0, 0})
				}
				d.holds("US:" + routing(1) + " A " + c.want)
			})
		}
	}
}
