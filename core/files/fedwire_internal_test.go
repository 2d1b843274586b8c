package files

import (
	"io"
	"strings"
	"testing"
)

// A file goes on where its checking stopped, and nothing before that is read again.
func TestWiresGoOnWhereTheirCheckingStopped(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("{1500}X{2000}000000000100\n\n", 5)
	for _, one := range read(t, text, 0, 0) {
		lines := one.last
		for _, next := range read(t, text, one.end, one.last) {
			if next.line != lines+1 {
				t.Errorf("line %d comes after line %d", next.line, lines)
			}
			lines = next.last
		}
		if lines != 10 {
			t.Errorf("after line %d it ends at line %d", one.last, lines)
		}
	}
}

// read reads the wires after a place, and fails the test if anything long before it is read.
func read(t *testing.T, text string, position int64, after int32) (all []*readPayment) {
	t.Helper()
	err := readWires(func(from int64) (io.Reader, error) {
		if from < position-1 {
			t.Errorf("what is before byte %d is read from byte %d", position, from)
		}
		return strings.NewReader(text[from:]), nil
	}, position, after, func(one *readPayment) error {
		all = append(all, one)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return all
}

// Where a message ends on the line on which the next one begins, a file is read again from its beginning: what
// was checked before is passed over.
func TestWiresThatWereCheckedAreOnlyPassedOver(t *testing.T) { //nolint:paralleltest // it counts allocations
	const wires = 1000
	text := strings.Repeat("{1500}X{2000}000000000100\n", wires)
	made := testing.AllocsPerRun(3, func() {
		err := readWiresFrom(strings.NewReader(text), 0, 0, wires, func(*readPayment) error {
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
