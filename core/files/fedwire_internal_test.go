package files

import (
	"strings"
	"testing"
)

// A file is read again from its beginning each time that its checking goes on: what was checked before is
// passed over.
func TestWiresThatWereCheckedAreOnlyPassedOver(t *testing.T) { //nolint:paralleltest // it counts allocations
	const wires = 1000
	text := strings.Repeat("{1500}X{2000}000000000100\n", wires)
	made := testing.AllocsPerRun(3, func() {
		err := readWires(strings.NewReader(text), wires, func(*readPayment) error {
			t.Error("a wire is handed out again")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
	if made > 4*wires {
		t.Errorf("%.0f allocations for %d wires", made, wires)
	}
}
