package page_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"bankgraph/core/fault"
	"bankgraph/core/page"
)

func TestACursorComesBackAsItWas(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := page.Cursor{
			Order: rapid.SampledFrom([]string{"uid", "name"}).Draw(t, "order"),
			// no name of the bank has it
			Value: strings.ReplaceAll(rapid.StringN(0, 60, 250).Draw(t, "value"), "\x00", ""),
			UID:   rapid.Int64Range(1, 1<<62).Draw(t, "uid"),
		}
		got, err := page.ParseCursor("after", want.String(), want.Order)
		if err != nil || got != want {
			t.Fatalf("%+v became %+v (%v)", want, got, err)
		}
	})
}

func TestACursorOfAnotherListIsRefused(t *testing.T) {
	t.Parallel()
	text := page.Cursor{Order: "name", Value: "x", UID: 7}.String()
	if _, err := page.ParseCursor("after", text, "uid"); err == nil {
		t.Error("it was taken")
	}
}

func TestAForgedCursorIsInvalidAndNeverPanics(t *testing.T) {
	t.Parallel()
	encode := func(text string) string { return "1" + base64.RawURLEncoding.EncodeToString([]byte(text)) }
	for _, text := range []string{
		"", "1", "x",
		"2" + page.Cursor{Order: "uid", UID: 7}.String()[1:], encode(`{}`), encode(`{"o":"uid"}`),
		encode(`{"o":"uid","u":-1}`),
		encode(`{"o":"uid","u":"7"}`), encode(`{"o":"uid","u":7}x`), encode(`[]`), encode(`{"o":"uid","u":1e40}`),
		"1" + strings.Repeat("A", 2000), "1!!!",
		page.Cursor{Order: "uid", UID: 7}.String() + "=",
	} {
		_, err := page.ParseCursor("after", text, "uid")
		if f, ok := fault.Of(err); !ok || f.Kind != fault.Invalid || f.Field != "after" {
			t.Errorf("%q: %v", text, err)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		cursor, err := page.ParseCursor("after", "1"+rapid.String().Draw(t, "text"), "uid")
		if err == nil && cursor.UID <= 0 {
			t.Fatalf("%+v", cursor)
		}
	})
}

func TestACutPageIsTheWindowInListOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := make([]int, rapid.IntRange(0, 20).Draw(t, "rows"))
		for i := range all {
			all[i] = i
		}
		w := page.Window{Size: rapid.IntRange(1, 10).Draw(t, "size"), Backward: rapid.Bool().
			Draw(t, "backward")}
		read := slices.Clone(all)
		want := all[:min(w.Size, len(all))]
		if w.Backward { // the database reads from the end
			slices.Reverse(read)
			want = all[max(0, len(all)-w.Size):]
		}
		cut := page.Cut(read[:min(int(w.Limit()), len(read))], w)
		if !slices.Equal(cut.Items, want) || cut.Further != (len(all) > w.Size) {
			t.Fatalf("%+v of %d: %+v", w, len(all), cut)
		}
	})
}

func TestNumberedPagesCountFromOne(t *testing.T) {
	t.Parallel()
	if w := page.Numbered(1, 25); w.Offset != 0 || w.Size != 25 {
		t.Errorf("%+v", w)
	}
	if w := page.Numbered(3, 25); w.Offset != 50 {
		t.Errorf("%+v", w)
	}
}
