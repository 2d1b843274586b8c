package money_test

import (
	"math/big"
	"strings"
	"testing"

	"bankgraph/core/money"
)

// An amount is exactly what its text says, and its own text is read as the same amount.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"12.5", "-3", "0.05", "-0", "007.10", "999999999999999.9999", "1e3", ".5", "5.", "--1", "+1",
		"1_000", "1,5", "٣", "", "\x00", " 1", strings.Repeat("0", 1000) + "1",
		"9223372036854775808", "0x10", "NaN",
	} {
		for _, in := range []string{"USD", "JPY", "KWD", "CLF", "XXX", ""} {
			f.Add(text, in)
		}
	}
	f.Fuzz(func(t *testing.T, text, currency string) {
		in, err := money.ParseCurrency(currency)
		if err != nil {
			in = money.Hundredths
		}
		a, err := money.Parse(text, in)
		if err != nil {
			return
		}
		said, ok := new(big.Rat).SetString(text)
		is, _ := new(big.Rat).SetString(a.String())
		if !ok || said.Cmp(is) != 0 {
			t.Fatalf("%q is read as %s", text, a)
		}
		if again, err := money.Parse(a.String(), in); err != nil || again != a {
			t.Fatalf("%s is read again as %s: %v", a, again, err)
		}
		if !money.AtMost(a, a) || money.AtMost(a, money.Of(a.Minor-1, in)) {
			t.Fatalf("%s is not at most itself", a)
		}
	})
}
