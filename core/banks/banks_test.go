package banks_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/core/rails"
	"bankgraph/db"
)

func window(n int) page.Window { return page.First(n) }

// europe has banks with and without national ids, and branches.
const europe = `countryCode,nationalIdType,nationalId,bic,name,city
DE,BLZ,99000001,RHNUDEF0XXX,Rheinufer Handelsbank AG,Frankfurt am Main
DE,BLZ,99000002,RHNUDEF0,Rheinufer Direkt,Köln
GB,SC,990001,THGTGB20,Thamesgate Bank plc,London
FR,CIB,99123,BVPTFRP0,Banque du Vieux Port,Marseille
NL,,,MAASNL20,Maasbank NV,Rotterdam
NL,,,MAASNL20AMS,Maasbank Amsterdam,Amsterdam
BE,,,SCHDBEB1,Scheldebank NV,Antwerpen
CA,CC,000199001,MPLHCAT0,Maple Harbour Bank,Toronto
`

func european(t testing.TB) directory {
	t.Helper()
	d := newDirectory(t)
	d.fine(banks.Import{Format: "csv", Source: "europe"}, europe, [6]int64{8})
	return d
}

func TestALookupFindsABankByEachKindOfNumber(t *testing.T) {
	t.Parallel()
	d := european(t)
	d.fine(banks.Import{Format: "fedach"}, file(achLine(1, "1", none, "First")), [6]int64{1})
	for _, c := range []struct {
		by   banks.Lookup
		want banks.Ref
	}{
		{banks.Lookup{ID: routing(1), Type: "NID"}, banks.Routing(routing(1))},
		{banks.Lookup{ID: routing(1), Type: "nid", Country: "us"}, banks.Routing(routing(1))},
		{banks.Lookup{ID: "000199001", Type: "NID", Country: "CA"}, "CA:000199001"},
		{banks.Lookup{ID: "THGTGB20", Type: "BIC"}, "GB:990001"},
		{banks.Lookup{ID: "thgtgb20xxx", Type: "BIC", Country: "GB"}, "GB:990001"},
		{banks.Lookup{ID: "RHNUDEF0", Type: "BIC"}, "DE:99000001"},
		{banks.Lookup{ID: "MAASNL20AMS", Type: "BIC"}, "MAASNL20AMS"},
		{banks.Lookup{ID: "MAASNL20UTR", Type: "BIC"}, "MAASNL20"}, // a branch that is not listed
		{banks.Lookup{ID: "DE91990000010000000001", Type: "IBAN", Country: "DE"}, "DE:99000001"},
		{banks.Lookup{ID: "gb59thgt99000112345678", Type: "IBAN", Country: "gb"}, "GB:990001"},
		{banks.Lookup{ID: "FR6199123456780000000000123", Type: "IBAN", Country: "FR"}, "FR:99123"},
		{banks.Lookup{ID: "NL10MAAS0123456789", Type: "IBAN", Country: "NL"}, "MAASNL20"},
	} {
		got, err := d.Banks.Look(d.Reader(), c.by)
		if err != nil || got.Ref != c.want {
			t.Errorf("%+v: %v %v", c.by, got, err)
		}
	}
}

func TestALookupSaysWhatIsWrongInTheOrderOfItsRules(t *testing.T) {
	t.Parallel()
	d := european(t)
	for _, c := range []struct {
		by      banks.Lookup
		field   string
		problem fault.Problem
	}{
		{banks.Lookup{}, "bankId", fault.Required},
		{banks.Lookup{ID: " ", Type: "NOTHING", Country: "1"}, "bankId", fault.Required},
		{banks.Lookup{ID: "1"}, "bankIdType", fault.Required},
		{banks.Lookup{ID: "1", Type: "SWIFT"}, "bankIdType", fault.Malformed},
		{banks.Lookup{ID: "1", Type: "IBAN"}, "countryCode", fault.Required},
		{banks.Lookup{ID: "1", Type: "IBAN", Country: "DEU"}, "countryCode", fault.Exact},
		{banks.Lookup{ID: "1", Type: "NID", Country: "D1"}, "countryCode", fault.Exact},
		{banks.Lookup{ID: "1", Type: "NID", Country: "Ü"}, "countryCode", fault.Exact},
		{banks.Lookup{ID: "12345678", Type: "NID"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "1234567890", Type: "NID"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "12345678x", Type: "NID"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "٠٢١٠٠٠٠٢١", Type: "NID"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "000000000", Type: "NID"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "THGTGB2", Type: "BIC"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "THGTGB20", Type: "BIC", Country: "DE"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "00000000", Type: "BIC"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "DE91990000010000000001", Type: "IBAN", Country: "FR"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "DE68990000010000000001", Type: "IBAN", Country: "DE"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: strings.Repeat("9", 40), Type: "IBAN", Country: "DE"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "a\x00b", Type: "IBAN", Country: "DE"}, "bankId", fault.NoMatch},
		{banks.Lookup{ID: "\xff\xfe", Type: "BIC"}, "bankId", fault.NoMatch},
	} {
		_, err := d.Banks.Look(d.Reader(), c.by)
		f, ok := fault.Of(err)
		if !ok || f.Field != c.field || f.Problem != c.problem || f.Kind != fault.Invalid {
			t.Errorf("%+q: %v", c.by, err)
		}
	}
	for _, by := range []banks.Lookup{
		{ID: "123456789", Type: "NID"},
		{ID: "AAAADEFF", Type: "BIC"},
		{ID: "990001001", Type: "NID", Country: "DE"},
		{ID: "DE89370400440532013000", Type: "IBAN", Country: "DE"},
	} {
		if _, err := d.Banks.Look(d.Reader(), by); !errors.Is(err, banks.ErrNotFound) {
			t.Errorf("%+v: %v", by, err)
		}
	}
	if _, err := d.Banks.Look(context.Background(), banks.Lookup{}); !errors.Is(err, access.ErrUnauthenticated) {
		t.Error(err)
	}
}

func TestRoutingNumbersAndTheirBeginningsHaveTheirForm(t *testing.T) {
	t.Parallel()
	for text, fine := range map[string]bool{
		"611090001": true, "123456789": true, "000000000": false, "61109000": false, "6110900011": false, "": false,
		"61109000x": false, " 61109001": false, "٠٢١٠٠٠٠٢١": false,
	} {
		if _, err := banks.ParseRouting("routingNumber", text); (err == nil) != fine {
			t.Errorf("%q: %v", text, err)
		}
	}
	for text, fine := range map[string]bool{
		"611": true, "000": true, "611090001": true, "61": false, "6110900011": false, "": false, "61_": false,
		"6%1": false,
	} {
		if _, err := banks.ParseRoutingPrefix("routingNumber", text); (err == nil) != fine {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// Payments ask which rails reach a bank: one statement for any number of banks.
func TestWhichRailsReachABankIsOneStatement(t *testing.T) {
	t.Parallel()
	d := european(t)
	d.fine(banks.Import{Format: "csv"},
		"nationalId,name,ach,fedwireTransfer,rtpStatus,rtpServices,fedNowStatus\n"+
			routing(1)+",First,yes,,,,\n"+routing(2)+",Second,true,true,Active,CRDT RFI,Active\n"+
			routing(3)+",Third,,,Active,RFI,Suspended\n"+routing(4)+",Fourth,,,,,\n", [6]int64{3, 0, 0, 0, 1})
	refs := []banks.Ref{
		banks.Routing(routing(2)), banks.Routing(routing(3)), banks.Coded("SCHDBEB1"),
		banks.Routing(routing(1)), "",
	}
	b := d.DB.Batch()
	found := d.Banks.Named(d.Reader(), b, refs, db.Columns{})
	if b.Len() != 1 {
		t.Errorf("%d statements", b.Len())
	}
	if err := b.Send(t.Context()); err != nil || len(found.Of) != 3 {
		t.Fatalf("%v %v", found.Of, err)
	}
	second := found.Of[refs[0]][0]
	if got := second.DeliveryMethods(); !slices.Equal(got,
		[]banks.DeliveryMethod{banks.ByACH, banks.ByFedwire, banks.ByFedNow, banks.ByRTP}) {
		t.Errorf("%v", got)
	}
	for _, rail := range rails.All {
		if !second.Reached(rail) || found.Of[refs[1]][0].Reached(rail) {
			t.Errorf("%s", rail)
		}
	}
	if got := found.Of[refs[2]][0].DeliveryMethods(); len(got) != 0 { // a BIC that is not connected
		t.Errorf("%v", got)
	}
}

func TestASearchNarrowsByEachOfItsFields(t *testing.T) {
	t.Parallel()
	d := european(t)
	d.fine(banks.Import{Format: "fedach"}, file(achLine(1, "1", none, "First National"),
		achLine(111000, "1", none, "Second National"), achLine(111001, "1", none, "Third Savings")), [6]int64{3})
	for _, c := range []struct {
		by   banks.Search
		want []string
	}{
		{banks.Search{Words: "nat"}, []string{"First National", "Second National"}},
		{banks.Search{Words: "national seco"}, []string{"Second National"}},
		{banks.Search{Words: "':* & | !"}, nil},
		{banks.Search{City: "rot"}, []string{"Maasbank NV"}},
		{banks.Search{City: "KÖLN"}, []string{"Rheinufer Direkt"}},
		{banks.Search{City: "%"}, nil},
		{banks.Search{RoutingNumberPrefix: "61111"}, []string{"Second National", "Third Savings"}},
		{banks.Search{RoutingNumberPrefix: "61111", Words: "third"}, []string{"Third Savings"}},
		{banks.Search{Country: "nl"}, []string{"Maasbank NV", "Maasbank Amsterdam"}},
		{banks.Search{Country: "NL", City: "amst"}, []string{"Maasbank Amsterdam"}},
	} {
		b := d.DB.Batch()
		found := d.Banks.List(d.Reader(), b, c.by, db.Columns{}, window(10))
		counted := d.Banks.CountUpTo(d.Reader(), b, c.by, 100)
		if err := b.Send(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, b := range found.Items {
			got = append(got, b.Name)
		}
		if !slices.Equal(got, c.want) || counted.Items[0].N != int64(len(c.want)) {
			t.Errorf("%+v: %q, counted %d", c.by, got, counted.Items[0].N)
		}
	}
}

func TestAListIsPagedBothWays(t *testing.T) {
	t.Parallel()
	d := european(t)
	var forward, back []string
	for _, backward := range []bool{false, true} {
		at := page.Window{Size: 3, Backward: backward}
		for {
			b := d.DB.Batch()
			found := d.Banks.List(d.Reader(), b, banks.Search{}, db.ColumnsOf[banks.Bank]("Name"), at)
			if err := b.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
			p := page.Cut(found.Items, at)
			edge := p.Items[len(p.Items)-1]
			if backward {
				edge = p.Items[0]
			}
			for _, b := range p.Items {
				if backward {
					back = append(back, string(b.Ref))
				} else {
					forward = append(forward, string(b.Ref))
				}
			}
			if !p.Further {
				break
			}
			at.Cursor = page.Cursor{UID: int64(edge.UID), Value: string(edge.Ref)}
		}
	}
	slices.Sort(back)
	if len(forward) != 8 || !slices.IsSorted(forward) || !slices.Equal(forward, back) {
		t.Errorf("%q\n%q", forward, back)
	}
}

func TestASearchByTheBeginningAnswersAtMostAHundredByNumber(t *testing.T) {
	t.Parallel()
	d := newDirectory(t)
	var lines []string
	for n := range 150 {
		lines = append(lines, achLine(150-n, "1", none, "Bank"))
	}
	d.fine(banks.Import{Format: "fedach"}, file(lines...), [6]int64{150})
	found, err := d.Banks.Beginning(d.Reader(), "610")
	if err != nil || len(found) != banks.MostFound || found[0].NationalID != routing(1) ||
		found[99].NationalID != routing(100) {
		t.Errorf("%d %v", len(found), err)
	}
	if _, err := d.Banks.Beginning(d.Reader(), "612"); !errors.Is(err, banks.ErrNotFound) {
		t.Error(err)
	}
}

// Of several banks with one BIC that with the lowest national id is meant, by the lookup and in what is shown of
// payments; one that has only the BIC comes last.
func TestABICMeansOneBankEverywhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ rows, want string }{
		"beside one without an id": {"DE,99090955,XQHNDEF0,By number\nDE,,XQHNDEF0,By BIC\n", "By number"},
		"of two":                   {"DE,99090956,XQHNDEF0,Second\nDE,99090955,XQHNDEF0,First\n", "First"},
		"alone":                    {"DE,,XQHNDEF0,By BIC\n", "By BIC"},
		"a country after its BIC":  {"ZM,010001,AAAAZMLX,By number\nZM,,AAAAZMLX,By BIC\n", "By number"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDirectory(t)
			d.fine(banks.Import{Format: "csv", Source: "own"}, "countryCode,nationalId,bic,name\n"+c.rows,
				[6]int64{int64(strings.Count(c.rows, "\n")), 0, 0, 0, 0, 0})
			bic, country := "XQHNDEF0", "DE"
			if strings.Contains(c.rows, "AAAAZMLX") {
				bic, country = "AAAAZMLX", "ZM"
			}
			found, err := d.Banks.Look(d.Staff(), banks.Lookup{ID: bic, Type: "BIC"})
			if err != nil {
				t.Fatal(err)
			}
			var named string
			if err := d.DB.NewRaw("SELECT "+banks.NameOr("''", "'"+country+"'", "'"+bic+"'")).
				Scan(t.Context(), &named); err != nil {
				t.Fatal(err)
			}
			if found.Name != c.want || named != c.want {
				t.Errorf("the lookup finds %q, payments name %q, want %q", found.Name, named, c.want)
			}
		})
	}
}
