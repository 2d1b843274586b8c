package fx_test

import (
	"math/big"
	"strings"
	"testing"

	"bankgraph/core/fx"
)

// A rate is exactly what its text says, and its own text is read as the same rate.
func FuzzParseRate(f *testing.F) {
	for _, text := range []string{
		"0.9213", "-1.5", "0.0000000001", "922337203.6854775807", "922337203.6854775808", "1e9", "1/3", "0x1",
		".5", "1.", "-", "", "\x00", "+1", "1_0", "00.10", strings.Repeat("9", 5000),
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := fx.ParseRate(text)
		if !ok {
			return
		}
		if said, is := new(big.Rat).SetString(text); !is || said.Cmp(r.Rat()) != 0 {
			t.Fatalf("%q is read as %s", text, r)
		}
		if again, ok := fx.ParseRate(r.String()); !ok || again != r {
			t.Fatalf("%s is read again as %s", r, again)
		}
	})
}
