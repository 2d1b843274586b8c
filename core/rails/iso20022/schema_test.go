package iso20022_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

// schema is an XML schema as the networks' are written: sequences and choices of elements, and simple types
// with facets. It is read from the module that is the tests' oracle.
type schema struct {
	types map[string]*schemaType
	roots map[string]string
}

type schemaType struct {
	elements []schemaElement // of a complex type
	choice   bool
	base     string // of simple content or a restriction
	currency string // type of the attribute Ccy
	facets   map[string][]string
}

type schemaElement struct {
	name, of    string
	least, most int
}

// element is any XML.
type element struct {
	XMLName xml.Name
	Attrs   []xml.Attr `xml:",any,attr"`
	Text    string     `xml:",chardata"`
	Kids    []element  `xml:",any"`
}

func (e element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

var schemas = sync.OnceValues(func() (map[string]*schema, error) {
	const oracle = "github.com/moov-io/fedwire20022"
	folder, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", oracle).Output()
	if err != nil {
		return nil, fmt.Errorf("go list -m %s: %w", oracle, err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(folder)), "xsd", "*Release_2025*.xsd"))
	if err != nil || len(files) == 0 {
		return nil, errors.New("the oracle has no schemas")
	}
	all := map[string]*schema{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var root element
		if err := xml.Unmarshal(text, &root); err != nil {
			return nil, err
		}
		space := root.attr("targetNamespace")
		all[space[strings.LastIndex(space, ":")+1:]] = readSchema(root)
	}
	return all, nil
})

func readSchema(root element) *schema {
	s := &schema{types: map[string]*schemaType{}, roots: map[string]string{}}
	for _, kid := range root.Kids {
		switch kid.XMLName.Local {
		case "element":
			s.roots[kid.attr("name")] = kid.attr("type")
		case "complexType", "simpleType":
			s.types[kid.attr("name")] = readType(kid)
		}
	}
	return s
}

func readType(of element) *schemaType {
	t := &schemaType{facets: map[string][]string{}}
	for _, kid := range of.Kids {
		switch kid.XMLName.Local {
		case "sequence", "choice":
			t.choice = kid.XMLName.Local == "choice"
			for _, e := range kid.Kids {
				t.elements = append(t.elements, schemaElement{
					name: e.attr("name"), of: e.attr("type"),
					least: occurs(e.attr("minOccurs")), most: occurs(e.attr("maxOccurs")),
				})
			}
		case "restriction":
			t.base = kid.attr("base")
			for _, facet := range kid.Kids {
				name := facet.XMLName.Local
				t.facets[name] = append(t.facets[name], facet.attr("value"))
			}
		case "simpleContent":
			extension := kid.Kids[0]
			t.base, t.currency = extension.attr("base"), extension.Kids[0].attr("type")
		}
	}
	return t
}

func occurs(text string) int {
	if text == "unbounded" {
		return 1 << 30
	}
	if n, err := strconv.Atoi(text); err == nil {
		return n
	}
	return 1
}

// check says what the schema finds wrong with an element.
func (s *schema) check(e element, of, path string) error {
	path += "/" + e.XMLName.Local
	t := s.types[of]
	if t == nil {
		return s.simple(e.Text, of, path)
	}
	if t.currency != "" {
		if err := s.simple(e.attr("Ccy"), t.currency, path+"@Ccy"); err != nil {
			return err
		}
	}
	if len(t.elements) == 0 {
		if len(e.Kids) > 0 {
			return fmt.Errorf("%s has elements", path)
		}
		return s.simple(e.Text, of, path)
	}
	if t.choice {
		return s.one(e, t, path)
	}
	at := 0
	for _, want := range t.elements {
		n := 0
		for ; at < len(e.Kids) && e.Kids[at].XMLName.Local == want.name; at++ {
			if err := s.check(e.Kids[at], want.of, path); err != nil {
				return err
			}
			n++
		}
		if n < want.least || n > want.most {
			return fmt.Errorf("%s has %d of %s", path, n, want.name)
		}
	}
	if at < len(e.Kids) {
		return fmt.Errorf("%s has %s in the wrong place", path, e.Kids[at].XMLName.Local)
	}
	return nil
}

func (s *schema) one(e element, t *schemaType, path string) error {
	for _, want := range t.elements {
		if len(e.Kids) == 1 && e.Kids[0].XMLName.Local == want.name {
			return s.check(e.Kids[0], want.of, path)
		}
	}
	return fmt.Errorf("%s must have one of its elements, has %d", path, len(e.Kids))
}

func (s *schema) simple(text, of, path string) error {
	t := s.types[of]
	if t == nil {
		return builtin(text, of, path)
	}
	for name, values := range t.facets {
		if !facet(name, values, text) {
			return fmt.Errorf("%s is %q, against %s %v", path, text, name, values)
		}
	}
	return s.simple(text, t.base, path)
}

func builtin(text, of, path string) error {
	var err error
	switch of {
	case "xs:string":
	case "xs:date":
		_, err = time.Parse(time.DateOnly, text)
	case "xs:dateTime":
		_, err = time.Parse(time.RFC3339, text)
	case "xs:decimal":
		if _, ok := new(big.Rat).SetString(text); !ok {
			err = errors.New("no number")
		}
	case "xs:boolean":
		_, err = strconv.ParseBool(text)
	default:
		err = errors.New("unknown type " + of)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func facet(name string, values []string, text string) bool {
	number, _ := strconv.Atoi(values[0])
	whole, fraction, _ := strings.Cut(strings.TrimLeft(text, "-"), ".")
	switch name {
	case "enumeration":
		return slices.Contains(values, text)
	case "pattern":
		return regexp.MustCompile("^(?:" + values[0] + ")$").MatchString(text)
	case "minLength":
		return utf8.RuneCountInString(text) >= number
	case "maxLength":
		return utf8.RuneCountInString(text) <= number
	case "length":
		return utf8.RuneCountInString(text) == number
	case "fractionDigits":
		return len(fraction) <= number
	case "totalDigits":
		return len(whole)+len(fraction) <= number
	case "minInclusive":
		return !strings.HasPrefix(text, "-")
	}
	return false
}

// valid fails unless each part of a message obeys the schema of its namespace.
func valid(t interface{ Fatalf(string, ...any) }, message []byte) {
	known, err := schemas()
	if err != nil {
		t.Fatalf("%v", err)
	}
	var root element
	if err := xml.Unmarshal(message, &root); err != nil {
		t.Fatalf("%v", err)
	}
	for _, part := range root.Kids {
		space := part.XMLName.Space
		s := known[space[strings.LastIndex(space, ":")+1:]]
		if s == nil {
			t.Fatalf("no schema for %s", space)
		}
		if err := s.check(part, s.roots[part.XMLName.Local], ""); err != nil {
			t.Fatalf("%s: %v", space, err)
		}
	}
}

func TestTheSchemaOfTheTestsFindsFaults(t *testing.T) {
	t.Parallel()
	text := written(t, transfer)
	for _, change := range [][2]string{
		{"<NbOfTxs>1</NbOfTxs>", ""},
		{"<NbOfTxs>1</NbOfTxs>", "<NbOfTxs>2</NbOfTxs>"},
		{"<NbOfTxs>1</NbOfTxs>", "<NbOfTxs>1</NbOfTxs><NbOfTxs>1</NbOfTxs>"},
		{
			"<SttlmMtd>CLRG</SttlmMtd><ClrSys><Cd>FDW</Cd></ClrSys>",
			"<ClrSys><Cd>FDW</Cd></ClrSys><SttlmMtd>CLRG</SttlmMtd>",
		},
		{`Ccy="USD"`, `Ccy="EUR"`},
		{"<Cd>FDW</Cd>", "<Cd>FDW</Cd><Prtry>FDW</Prtry>"},
		{">12500.00<", ">12500.000<"},
		{"<InstdAgt>", "<InstdAgt><Nm>x</Nm>"},
	} {
		failed := &failure{}
		func() {
			defer func() { _ = recover() }()
			valid(failed, []byte(strings.Replace(text, change[0], change[1], 1)))
		}()
		if !strings.Contains(text, change[0]) || failed.text == "" {
			t.Errorf("%s for %s: nothing found", change[1], change[0])
		}
	}
}

type failure struct{ text string }

func (f *failure) Fatalf(format string, values ...any) {
	f.text = fmt.Sprintf(format, values...)
	panic(io.EOF)
}
