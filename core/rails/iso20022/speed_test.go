package iso20022_test

import (
	"io"
	"testing"

	"bankgraph/core/rails/iso20022"
)

// BenchmarkWrite writes the message of a payment, as each payment does that is made: what the network does
// not take is known before.
func BenchmarkWrite(b *testing.B) {
	m := transfer()
	for b.Loop() {
		if err := iso20022.Write(io.Discard, iso20022.Fedwire, m); err != nil {
			b.Fatal(err)
		}
	}
}
