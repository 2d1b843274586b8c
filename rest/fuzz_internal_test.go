package rest

import (
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	"bankgraph/core/customers"
	"bankgraph/core/users"
)

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// A number of a body keeps its value when it is written without an exponent. A day is read of one text alone,
// and what is numbered of its number.
func FuzzValues(f *testing.F) {
	for _, text := range []string{
		"1.0E7", "-0", "1e-20", "1e21", "12.50", "0.000", "-1.5e2", "1E+2", "00", "11-23-2026", "02-30-2026",
		"11/23/2026", "1-1-2026", "11-23-1899", "", "\x00",
		strings.Repeat("9", 100) + "e5", "1e", "e", "-", "007",
		"999999999999999999", "0198A3F2-7c1e-7000-8000-00000000002a", "{0198a3f27c1e7000800000000000002a}}}}",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for layout, parse := range map[string]parser[time.Time]{"01-02-2006": date, "01/02/2006": dateWithSlashes} {
			if day, err := parse("day", text); err == nil && day.Format(layout) != text {
				t.Fatalf("%q is read as %s", text, day)
			}
		}
		customer, err := customers.ParseUID("uid", text)
		if err == nil && customer.String() != strings.TrimLeft(text, "0") {
			t.Fatalf("%q is read as %s", text, customer)
		}
		if user, err := users.ParseUID("uid", text); err == nil && user.String() != strings.ToLower(text) {
			t.Fatalf("%q is read as %s", text, user)
		}
		number, is := new(big.Rat).SetString(text)
		if !is || len(text) > 64 || !jsonNumber.MatchString(text) {
			return
		}
		written := decimal(text)
		if same, is := new(big.Rat).SetString(written); !is || same.Cmp(number) != 0 ||
			len(written) > len(text)+22 {
			t.Fatalf("%q is written as %q", text, written)
		}
	})
}
