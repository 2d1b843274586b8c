package iso20022_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/plain"
)

func read(text string) (iso20022.Message, error) {
	return iso20022.Read(strings.NewReader(text), iso20022.Fedwire)
}

func TestHostileXMLIsRefused(t *testing.T) {
	t.Parallel()
	text := written(t, transfer)
	body := text[strings.Index(text, "<Message>"):]
	document := string(part([]byte(text), "Document"))
	in := func(what string) string { return strings.Replace(text, "<NbOfTxs>", what+"<NbOfTxs>", 1) }
	for name, hostile := range map[string]string{
		"nothing":         "",
		"no XML":          "ISO 20022",
		"cut":             text[:len(text)/2],
		"a document type": `<!DOCTYPE Message [<!ENTITY a "b">]>` + body,
		"an entity bomb": `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>` +
			strings.Replace(body, "Invoice 118", "&b;", 1),
		"an unknown entity":        strings.Replace(text, "Invoice 118", "&b;", 1),
		"an outer entity":          `<!DOCTYPE x SYSTEM "file:///etc/passwd">` + body,
		"a comment":                in("<!-- x -->"),
		"an instruction":           in("<?php x ?>"),
		"a second declaration":     `<?xml version="1.0"?>` + text,
		"another encoding":         strings.Replace(text, "UTF-8", "ISO-8859-1", 1),
		"depth":                    in(strings.Repeat("<a>", 30) + strings.Repeat("</a>", 30)),
		"many elements":            in(strings.Repeat("<a/>", 10_000)),
		"a long text":              in("<x>" + strings.Repeat("x", 5000) + "</x>"),
		"a long name":              in("<" + strings.Repeat("x", 100) + "/>"),
		"pieces of text":           strings.Replace(text, "Invoice 118", strings.Repeat("<![CDATA[x]]>", 5000), 1),
		"ten megabytes":            in(strings.Repeat(" ", 10<<20)),
		"text between":             in("x"),
		"an attribute":             strings.Replace(text, "<NbOfTxs>", `<NbOfTxs a="b">`, 1),
		"a currency elsewhere":     strings.Replace(text, "<NbOfTxs>", `<NbOfTxs Ccy="USD">`, 1),
		"a currency of a group":    strings.Replace(text, "<GrpHdr>", `<GrpHdr Ccy="USD">`, 1),
		"two currencies":           strings.Replace(text, `Ccy="USD"`, `Ccy="USD" Ccy="EUR"`, 1),
		"another namespace inside": in(`<x xmlns="urn:x"/>`),
		"another namespace":        strings.Replace(text, `<NbOfTxs>`, `<NbOfTxs xmlns="urn:x">`, 1),
		"twice":                    in("<NbOfTxs>1</NbOfTxs>"),
		"two transactions": strings.Replace(text, "</CdtTrfTxInf>",
			"</CdtTrfTxInf><CdtTrfTxInf></CdtTrfTxInf>", 1),
		"the wrong order": strings.Replace(strings.Replace(text, "<ChrgBr>SLEV</ChrgBr>", "", 1),
			"<IntrBkSttlmAmt", "<ChrgBr>SLEV</ChrgBr><IntrBkSttlmAmt", 1),
		"text after":           text + "x",
		"a message after":      text + body,
		"another root":         strings.ReplaceAll(text, "Message>", "Messages>"),
		"no header":            body[:9] + document + "</Message>",
		"two documents":        strings.Replace(text, "</Message>", document+"</Message>", 1),
		"NUL":                  strings.Replace(text, "Invoice 118", "Invoice\x00118", 1),
		"a written NUL":        strings.Replace(text, "Invoice 118", "Invoice&#0;118", 1),
		"a line":               strings.Replace(text, "Invoice 118", "Invoice&#10;118", 1),
		"a turned text":        strings.Replace(text, "Invoice 118", "Invoice \u202e118", 1),
		"no UTF-8":             strings.Replace(text, "Invoice 118", "Invoice \xff118", 1),
		"blanks":               strings.Replace(text, "Invoice 118", "   ", 1),
		"another ID":           strings.Replace(text, "GRPH000017", "GRPH000018", 1),
		"another header":       strings.Replace(text, "head.001.001.03", "head.001.001.02", 1),
		"another type inside":  strings.Replace(text, "<MsgDefIdr>pacs.008", "<MsgDefIdr>pacs.009", 1),
		"a day that is none":   strings.Replace(text, ">2026-11-23<", ">2026-02-30<", 1),
		"a time that is none":  strings.Replace(text, "T10:04:05", "T25:04:05", 1),
		"no UUID of version 4": strings.Replace(text, "-48ba-", "-18ba-", 1),
	} {
		m, err := read(hostile)
		if err == nil || m != nil {
			t.Errorf("%s: read as %v", name, m)
			continue
		}
		if wrong := (*iso20022.FieldError)(nil); !errors.As(err, &wrong) &&
			!errors.Is(err, iso20022.ErrMalformed) && !errors.Is(err, iso20022.ErrUnknown) {
			t.Errorf("%s: %v", name, err)
		}
		if len(err.Error()) > 200 || strings.Contains(err.Error(), "1234567890") {
			t.Errorf("%s: the error says too much: %v", name, err)
		}
	}
}

func TestUnknownTypesAreNamed(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(written(t, transfer), "pacs.008.001.08", "pacs.003.001.08")
	_, err := read(text)
	if !errors.Is(err, iso20022.ErrUnknown) || !strings.Contains(err.Error(), "pacs.003.001.08") {
		t.Error(err)
	}
	text = strings.ReplaceAll(text, "pacs.003.001.08", "pacs.008.001.09")
	if _, err := read(text); !errors.Is(err, iso20022.ErrUnknown) {
		t.Errorf("another version: %v", err)
	}
}

func TestElementsThatAreNotKnownAreNamedAndPassedOver(t *testing.T) {
	t.Parallel()
	text := written(t, transfer)
	text = strings.Replace(text, "</ChrgBr>", `</ChrgBr><ChrgsInf><Amt Ccy="USD">1.00</Amt><Agt/></ChrgsInf>`, 1)
	text = strings.Replace(text, "<DbtrAgt>", "<InitgPty><Nm>x</Nm></InitgPty><DbtrAgt>", 1)
	m, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	if got := m.Head().Unread; len(got) != 2 || got[0] != "FIToFICstmrCdtTrf/CdtTrfTxInf/ChrgsInf" ||
		got[1] != "FIToFICstmrCdtTrf/CdtTrfTxInf/InitgPty" {
		t.Errorf("%q", got)
	}
}

// Of the places of a remittance the first that can be reached over a wire counts; others are no reason to
// refuse money.
func TestOfThePlacesOfARemittanceTheFirstElectronicOneIsRead(t *testing.T) {
	t.Parallel()
	text := strings.Replace(written(t, transfer), "<RmtInf>", `<RltdRmtInf><RmtId>R1</RmtId>
		<RmtLctnDtls><Mtd>POST</Mtd><PstlAdr><Nm>x</Nm></PstlAdr></RmtLctnDtls>
		<RmtLctnDtls><Mtd>EMAL</Mtd><ElctrncAdr>ada@mail.example</ElctrncAdr></RmtLctnDtls></RltdRmtInf>
		<RltdRmtInf><RmtLctnDtls><Mtd>URID</Mtd><ElctrncAdr>R2</ElctrncAdr></RmtLctnDtls></RltdRmtInf><RmtInf>`, 1)
	m, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	want := iso20022.Location{Method: "EMAL", Address: "ada@mail.example"}
	if got := m.(*iso20022.CreditTransfer).Elsewhere; got != want {
		t.Errorf("%+v", got)
	}
	for _, wrong := range []string{"<Mtd>by post</Mtd>", "<ElctrncAdr>x</ElctrncAdr>"} {
		text := strings.Replace(text, "<Mtd>POST</Mtd>", wrong, 1)
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), "RltdRmtInf/RmtLctnDtls/Mtd") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}

func TestPrefixesIndentationAndOtherClocksAreRead(t *testing.T) {
	t.Parallel()
	text := written(t, transfer)
	want, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	indented := strings.ReplaceAll(text, "><", ">\n\t<")
	indented = strings.ReplaceAll(indented, ">\n\t</", "></")
	document := string(part([]byte(text), "Document"))
	prefixed := strings.NewReplacer("</", "</p:", "<", "<p:", "xmlns=", "xmlns:p=").Replace(document)
	for name, other := range map[string]string{
		"indented":     indented,
		"prefixed":     strings.Replace(text, document, prefixed, 1),
		"in UTC":       strings.ReplaceAll(text, "10:04:05-05:00", "15:04:05Z"),
		"without zone": strings.ReplaceAll(text, "10:04:05-05:00", "10:04:05"),
		"fractions":    strings.ReplaceAll(text, "10:04:05-05:00", "10:04:05.000-05:00"),
		"as CDATA":     strings.Replace(text, "Invoice 118", "<![CDATA[Invoice 118]]>", 1),
	} {
		got, err := read(other)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAFailingConnectionIsNoMalformedMessage(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	text := written(t, transfer)
	cut := io.MultiReader(strings.NewReader(text[:200]), iotest.ErrReader(broken))
	_, err := iso20022.Read(cut, iso20022.Fedwire)
	if !errors.Is(err, broken) || errors.Is(err, iso20022.ErrMalformed) {
		t.Error(err)
	}
	if err := iso20022.Write(failing{broken}, iso20022.Fedwire, transfer()); !errors.Is(err, broken) {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// endless is a message whose blanks never end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func TestReadTakesNoMoreThanItSays(t *testing.T) {
	t.Parallel()
	source := &endless{}
	_, err := iso20022.Read(io.MultiReader(strings.NewReader("<Message>"), source), iso20022.Fedwire)
	if !errors.Is(err, iso20022.ErrMalformed) || source.read > iso20022.MostBytes+64<<10 {
		t.Errorf("%v after %d bytes", err, source.read)
	}
}

// Whatever a message has, it is refused, or no longer than what was read. What is read is written again, if
// it has what this bank demands, and then read as the same.
func FuzzRead(f *testing.F) {
	for name, maker := range makers {
		for _, p := range profiles {
			if p == iso20022.SWIFT && strings.HasPrefix(name, "pain.") || slices.Contains(instant, name) &&
				p != iso20022.FedNow && p != iso20022.RTP {
				continue
			}
			var out bytes.Buffer
			if err := checked(&out, p, drawn[iso20022.Message](p, maker)); err != nil {
				f.Fatal(err)
			}
			f.Add(out.Bytes())
		}
	}
	var out bytes.Buffer
	if err := checked(&out, iso20022.Fedwire, transfer()); err != nil {
		f.Fatal(err)
	}
	for _, change := range [][2]string{
		{"", ""},
		{"head.001.001.03", "head.001.001.02"},
		{"Invoice 118", "&#0;"},
		{"Invoice 118", "&a;"},
		{"Invoice 118", "<![CDATA[x]]>"},
		{"Invoice 118", strings.Repeat("x", 5000)},
		{"<NbOfTxs>", strings.Repeat("<a>", 40) + "<NbOfTxs>"},
		{"<Message>", "\ufeff<Message>"},
		{"UTF-8", "UTF-16"},
		{"T10:04:05", "T10:04:05.999999999"},
		{"<Message>", "<!DOCTYPE x [<!ENTITY a \"b\">]><Message>"},
	} {
		f.Add(bytes.Replace(out.Bytes(), []byte(change[0]), []byte(change[1]), 1))
	}
	f.Add([]byte(`<Message><AppHdr/>` +
		`<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pacs.002.001.10"/></Message>`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, p := range profiles {
			m, err := iso20022.Read(bytes.NewReader(text), p)
			if err != nil {
				continue
			}
			if n := len(fmt.Sprintf("%+v", m)); n > len(text)+10_000 {
				t.Fatalf("%d characters are read of %d", n, len(text))
			}
			var again bytes.Buffer
			if checked(&again, p, m) != nil {
				continue
			}
			got, err := iso20022.Read(bytes.NewReader(again.Bytes()), p)
			if diff := cmp.Diff(m, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(iso20022.Group{}, "Unread"),
				asWritten); err != nil ||
				diff != "" || len(got.Head().Unread) > 0 {
				t.Fatalf("%v of %s: %s", err, &again, diff)
			}
		}
	})
}

// asWritten compares as messages are written: in whole seconds, and texts in ASCII.
var asWritten = cmp.Options{
	cmp.Transformer("seconds", func(at time.Time) int64 { return at.Unix() }),
	cmp.Transformer("ASCII", plain.ASCII),
}

func TestOneOfManyUnknownElementsIsNamedLikeAnother(t *testing.T) {
	t.Parallel()
	text := strings.Replace(written(t, transfer), "<NbOfTxs>",
		strings.Repeat("<x>"+strings.Repeat("y", 200)+"</x>", 4800)+"<NbOfTxs>", 1)
	m, err := read(text)
	if err != nil || len(m.Head().Unread) != 4800 || m.Head().Unread[0] != "FIToFICstmrCdtTrf/GrpHdr/x" {
		t.Error(err)
	}
}
