package screening_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/screening"
)

// Of each pair of a listed name and a name of a payment a test knows whether they match.
func TestAListedNameIsFoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		listed, name string
		match        bool
	}{
		{"Viktor Drazenko", "Viktor Drazenko", true},
		{"DRAZENKO, Viktor", "viktor  drazenko", true},
		{"Viktor Drazenko", "Mr Viktor Ivan Drazenko Jr.", true},
		{"Viktor Drazenko", "Víktor Dražeńko", true},
		{"Viktor Drazenko", "Ｖｉｋｔｏｒ Drazenko", true},
		{"Viktor Drazenko", "Viktor\u200b Draz\u00adenko", true},
		{"Viktor Drazenko", "Viktor-Drazenko", true},
		{"Viktor Drazenko", "Viktor Drazenka", true},  // one letter wrong
		{"Viktor Drazenko", "Viktor Drazeno", true},   // one missing
		{"Viktor Drazenko", "Viktor Drazzenko", true}, // one too many
		{"Viktor Drazenko", "Viktor Drazekno", true},  // two swapped
		{"Viktor Drazenko", "Vikto Drazenko", true},
		{"Viktor Drazenko", "Vikto Drazeno", false}, // two words wrong
		{"Viktor Drazenko", "Viktor Drazekon", false},
		{"Viktor Drazenko", "Viktor Drazen", false},
		{"Viktor Drazenko", "Drazenko", false},
		{"Viktor Drazenko", "Viktor", false},
		{"Viktor Drazenko", "", false},
		{"Ann Lee", "Ann Leo", false}, // short words are written as they are
		{"Ann Lee", "Lee, Ann", true},
		{"Kim Kim", "Kim", false},
		{"Kim Kim", "Kim Kim", true},
		{"Shellcorp", "SHELLCORP LLC", true},
		{"Shellcorp", "Shellcorq", false}, // a name of one word is written as it is
		{"O'Neil Trading L.L.C.", "ONEIL TRADING LLC", true},
		{"O'Neil, Ed", "Ed O´Neil", true},
		// a sign joins or parts, whichever makes the listed name
		{"Kim Jo", "Kim.Jo", true},
		{"Kim Jo", "Kim´Jo", true},
		{"Kim Jo", "Kim‘Jo", true},
		{"Kim Jo", "K-im J/o", true},
		{"Kim.Jo", "Kim Jo", true},
		{"Kim-Jo", "KimJo", true},
		{"Kim Jo", "K im Jo", false},
		{"Viktor Drazenko", "Viktr.Drazenko", true}, // one letter missing, too
		{"Viktor Drazenko", "Viktor Dra‘zenk", true},
		{"ONeil Smith", "O'Neil-Smith", true},
		// where words end does not count in long names
		{"Viktor Drazenko", "Mr.DrazenkoViktor", true},
		{"Viktor Drazenko", "ViktorDrazenko", true},
		{"Viktor Drazenko", "MrDrazenkoViktor", false},
		{"Viktor Drazenko", "Mr DrazenkoViktor Sr", true},
		{"Viktor Drazenko", "Vik tor Draz-enko", true},
		{"Viktor Drazenko", "V i k t o r D_r_a_z_e_n_k_o", true},
		{"Viktor Drazenko", "Drazenko-Smith, Vik/tor", true},
		{"Viktor Drazenko", "Viktor Drazenkova", false},
		{"Viktor Drazenko", "Aviktor Drazenko", true}, // one letter too many, as ever
		{"Viktor Drazenko", "Dviktordrazenko", false},
		{"Viktor Drazenko", "Viktor Viktor", false},
		{"Al-Rashid Trading", "ALRASHID TRADING CO", true},
		{"Alrashid Trading", "Al Rashid Trading Co", true},
		{"Kim Jong Un", "Kim Jongun", true},
		{"Kim Kim Kim", "Kimkim Kim", true},
		{"Kim Kim Kim", "Kimkim", false},
		{"Shellcorp", "Shell Corp LLC", true},
		{"Shellcorp", "Bombshell Corp LLC", false},
		{"Na Li", "Lina Smith", false}, // short ones are written as they are
		{"Na Li", "N a Li", false},
		{"田中太郎工業会社", "田中太郎 工業会社", true},
		{"Großmann Öl", "Grossmann Ol", true},
		{"Łódź Æther", "LODZ AETHER", true},
		{"Виктор Дразенко", "виктор дразенко", true},
		{"Виктор Дразенко", "Viktor Drazenko", false}, // each alphabet by itself
		{"田中 太郎", "田中 太郎", true},
	} {
		found := screening.NewIndex([]*screening.Name{
			{List: "l", Name: "Somebody Else"},
			{List: "l", Name: c.listed, Program: "P", Reference: "7"},
			{List: "l", Name: "Viktor Other"},
		}).Find(c.name)
		want := "[]"
		if c.match {
			want = fmt.Sprint([]screening.Match{{List: "l", Name: c.listed, Program: "P", Reference: "7"}})
		}
		if got := fmt.Sprint(found); got != want {
			t.Errorf("%q on the list, paid is %q: %s", c.listed, c.name, got)
		}
	}
}

// Whatever stands around a listed name, in whatever order, it is found among many.
func TestEveryNameOfALongListIsFound(t *testing.T) {
	t.Parallel()
	var all []*screening.Name
	for n := range 5_000 {
		all = append(all, &screening.Name{
			Name:      fmt.Sprintf("Mohammed Abda%d Sala%d", n%70, n),
			Reference: fmt.Sprint(n),
		})
	}
	index := screening.NewIndex(all)
	for n, one := range all {
		words := strings.Fields(one.Name)
		for _, name := range []string{
			one.Name, words[2] + ", " + words[0] + " " + words[1], "Messrs " + words[1] + " " + words[2] +
				" bin " + words[0],
		} {
			exact := false
			for _, match := range index.Find(name) {
				exact = exact || match.Reference == fmt.Sprint(n)
			}
			if !exact {
				t.Fatalf("%q is not found as %q", one.Name, name)
			}
		}
	}
	if found := index.Find("Mohammed"); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

// Nobody writes a name that takes long to compare.
func TestNoNameTakesLongToCompare(t *testing.T) {
	t.Parallel()
	var all []*screening.Name
	for _, word := range []string{"a", "aa", "ab", "ba"} {
		for n := 2; n <= 32; n++ {
			all = append(all, &screening.Name{Name: strings.Repeat(word+" ", n) + "abcdefgh"})
			all = append(all, &screening.Name{Name: strings.Repeat(word+" a ", n/2) + "abcdefgh"})
		}
	}
	index := screening.NewIndex(all)
	began := time.Now()
	index.Find(strings.Repeat("a a", 40) + " abcdefgh")
	index.Find(strings.Repeat("ab", 60) + " abcdefgh")
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %s", took)
	}
}

func read(b *coretest.Bank, in screening.Import, text string) (screening.Report, error) {
	in.From = strings.NewReader(text)
	if in.List == "" {
		in.List = "sanctions"
	}
	if in.Format == "" {
		in.Format = screening.CSV
	}
	return b.Screening.Import(operator(b), in)
}

func operator(b *coretest.Bank) context.Context {
	return access.OperatorAs(context.Background(), "ops", b.Tenant, b.Code, nil)
}

func found(t *testing.T, b *coretest.Bank, name string) (all []string) {
	t.Helper()
	matches, err := b.Screening.Find(operator(b), name)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range matches {
		all = append(all, m.List+" "+m.Name+" "+m.Program+" "+m.Reference)
	}
	return all
}

func TestAListReplacesWhatItSaidBeforeAndNothingElse(t *testing.T) {
	t.Parallel()
	b, other := coretest.New(t), coretest.New(t)
	for _, one := range []struct {
		in    screening.Import
		text  string
		want  screening.Report
		finds string
	}{
		{
			screening.Import{},
			"\ufeffName,program,Reference\r\nAda Lovelace,TEST,1\r\n\"Babbage, Charles\",TEST,2\r\n",
			screening.Report{Added: 2},
			"[sanctions Ada Lovelace TEST 1]",
		},
		{
			screening.Import{List: "own"},
			"name\nAda Lovelace\n",
			screening.Report{Added: 1},
			"[own Ada Lovelace   sanctions Ada Lovelace TEST 1]",
		},
		{
			screening.Import{AllowGone: true},
			"name,program,reference\nAda Lovelace,TEST,1\nGrace Hopper,TEST,3\n",
			screening.Report{Added: 1, Same: 1, Gone: 1},
			"[own Ada Lovelace   sanctions Ada Lovelace TEST 1]",
		},
		{
			screening.Import{List: "sdn", Format: screening.SDN},
			"36,\"LOVELACE, Ada\",\"individual\",\"CUBA\",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n" +
				"37,\"AEROCARIBBEAN AIRLINES\",-0- ,\"CUBA\",-0- \r\n\x1a\r\n",
			screening.Report{Added: 2},
			"[own Ada Lovelace   sanctions Ada Lovelace TEST 1 sdn LOVELACE, Ada CUBA 36]",
		},
	} {
		got, err := read(b, one.in, one.text)
		if err != nil || got != one.want {
			t.Errorf("%s: %+v %v, want %+v", one.text, got, err, one.want)
		}
		if finds := fmt.Sprint(found(t, b, "ada lovelace")); finds != one.finds {
			t.Errorf("%s: found %s, want %s", one.text, finds, one.finds)
		}
	}
	if gone := found(t, b, "Charles Babbage"); gone != nil {
		t.Error(gone)
	}
	if theirs := found(t, other, "ada lovelace"); theirs != nil {
		t.Errorf("another bank has %v", theirs)
	}
	lists, err := b.Screening.Lists(operator(b))
	if err != nil || len(lists) != 3 || lists[1].Code != "sanctions" || lists[1].Names != 2 ||
		lists[1].Operator != "ops" {
		t.Errorf("%+v %v", lists, err)
	}
}

// A list that lacks a name lets a payment pass, so a file that is wrong anywhere changes nothing.
func TestAFileThatIsWrongChangesNothing(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	if _, err := read(b, screening.Import{}, "name\nAda Lovelace\nGrace Hopper\n"); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in   screening.Import
		text string
		want error
		says string
	}{
		"empty":            {screening.Import{}, "", screening.ErrEmpty, ""},
		"a header alone":   {screening.Import{}, "name\n", screening.ErrEmpty, ""},
		"no header":        {screening.Import{}, "Ada Lovelace\n", screening.ErrUnreadable, "the header"},
		"a column twice":   {screening.Import{}, "name,name\nA,B\n", screening.ErrUnreadable, "twice"},
		"no name column":   {screening.Import{}, "program\nA\n", screening.ErrUnreadable, "the column name"},
		"no name":          {screening.Import{}, "name,program\nAda,X\n,X\n", screening.ErrUnreadable, "line 3"},
		"signs for a name": {screening.Import{}, "name\n--- !\n", screening.ErrUnreadable, "line 2"},
		"too few columns": {
			screening.Import{},
			"program,name\nX\n", screening.ErrUnreadable,
			"line 2: it has too few columns",
		},
		"a long name": {
			screening.Import{},
			"name\n" + strings.Repeat("a", 401) + "\n",
			screening.ErrUnreadable, "line 2",
		},
		"no text":         {screening.Import{}, "name\nA\x00B\n", screening.ErrUnreadable, "line 2"},
		"not UTF-8":       {screening.Import{}, "name\nA\xffB\n", screening.ErrUnreadable, "line 2"},
		"a quote in it":   {screening.Import{}, "name\nA\"B\n", screening.ErrUnreadable, "line 2"},
		"half of it gone": {screening.Import{}, "name\nAda Lovelace\n", screening.ErrGone, ""},
		"no such format":  {screening.Import{Format: "xml"}, "name\nAda\n", nil, "csv or sdn"},
		"no list":         {screening.Import{List: "No List"}, "name\nAda\n", nil, "small letters"},
	} {
		_, err := read(b, c.in, c.text)
		if _, told := fault.Of(err); !told || c.want != nil && !errors.Is(err, c.want) ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %v %q", name, err, c.want, c.says)
		}
	}
	if all := found(t, b, "Hopper Grace"); len(all) != 1 {
		t.Error(all)
	}
	if _, err := b.Screening.Import(b.Staff(), screening.Import{
		List: "x", Format: screening.CSV,
		From: strings.NewReader("name\nA\n"),
	}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a program of the bank imports: %v", err)
	}
	if _, err := b.Screening.Lists(b.Staff()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a program of the bank lists: %v", err)
	}
	if _, err := b.Screening.Find(b.Staff(), "Ada"); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a program of the bank looks for a name: %v", err)
	}
}

func BenchmarkFind(b *testing.B) {
	var all []*screening.Name
	for n := range 20_000 {
		all = append(all, &screening.Name{Name: fmt.Sprintf("Mohammed Abda%d Sala%d", n%700, n)})
	}
	index := screening.NewIndex(all)
	for b.Loop() {
		index.Find("Mohammed Abda Trading and Sons of Riverton")
	}
}
