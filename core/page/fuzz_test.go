package page_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"bankgraph/core/page"
)

// A cursor has one text, is of one list, and names a row.
func FuzzParseCursor(f *testing.F) {
	for _, c := range []page.Cursor{
		{Order: "name", Value: "Acme", UID: 7},
		{Order: "name", UID: 1 << 62},
		{Order: "name", Value: "\x00", UID: 1},
		{Order: "uid", UID: 1},
		{Order: "name", Value: strings.Repeat("<", 255), UID: 1},
		{Order: "name", UID: -1},
	} {
		f.Add(c.String())
	}
	for _, text := range []string{
		"", "1", "2eyJv", "1 ", `{"o":"name","u":1}`, `{"o":"name","u":1,"u":2}`, `{"O":"name","U":1}`,
		`{"o":"name","u":1} `,
		`{"o":"name","u":1e0}`, `{"o":"name","v":"\ud800","u":1}`,
	} {
		f.Add(text)
		f.Add("1" + base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := page.ParseCursor("after", text, "name")
		if err != nil {
			return
		}
		if c.Order != "name" || c.UID <= 0 || c.String() != text || len(c.Value) > len(text) {
			t.Fatalf("%q is read as %+v, which is %q", text, c, c)
		}
		if _, err := page.ParseCursor("after", text, "uid"); err == nil {
			t.Fatalf("%q is a cursor of two lists", text)
		}
	})
}
