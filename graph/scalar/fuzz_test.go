package scalar_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"bankgraph/graph/scalar"
)

// Each scalar that is read of a text is written as that text, but for points in time and currencies, which
// have several texts: these are written in one form. A text is written as JSON that says the same.
func FuzzScalars(f *testing.F) {
	for _, text := range []string{
		"1", "7000000000000000000", "999999999999999999", "007", "-1", "+1", "1e3", "12.50", "-0.05", "00.5",
		"2026-11-23", "2026-02-30", "2026-11-23T10:04:05Z",
		"2026-11-23T10:04:05.9+14:00", "2026-11-23T24:00:00Z",
		"9999-12-31T23:59:59-23:59", "usd", "USD", "0198a3f2-7c1e-7000-8000-00000000002a",
		"{0198a3f2-7c1e-7000-8000-00000000002a}", "urn:uuid:0198a3f2-7c1e-7000-8000-00000000002a",
		"", "\x00", "\u2028", "\xff", `"`, "</script>", "😀", strings.Repeat("9", 100), "٣",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // no request has it
		}
		same := func(what string, err error, written []byte) {
			t.Helper()
			var said string
			if err == nil && (json.Unmarshal(written, &said) != nil || said != text) {
				t.Fatalf("%s: %q is written as %s", what, text, written)
			}
		}
		uid, err := scalar.ParseUID(text)
		same("UID", err, scalar.AppendUID(nil, uid))
		user, err := scalar.UnmarshalUserUID(text)
		same("UUID", err, scalar.AppendUserUID(nil, user))
		day, err := scalar.UnmarshalDate(text)
		same("date", err, scalar.AppendDate(nil, day))
		amount, err := scalar.UnmarshalAmountText(text)
		same("amount", err, scalar.AppendString(nil, string(amount)))

		if at, err := scalar.UnmarshalDateTime(text); err == nil {
			var again string
			_ = json.Unmarshal(scalar.AppendDateTime(nil, at), &again)
			if same, err := scalar.UnmarshalDateTime(again); err != nil ||
				!same.Equal(at.Truncate(time.Second)) {
				t.Fatalf("%q is written as %q, which is read as %s: %v", text, again, same, err)
			}
		}
		if in, err := scalar.UnmarshalCurrency(text); err == nil && (len(in) != 3 ||
			!strings.EqualFold(string(in), text)) {
			t.Fatalf("%q is the currency %q", text, in)
		}
		same("text", nil, scalar.AppendString(nil, text))
	})
}
