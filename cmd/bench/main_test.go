package main_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// A ratio to handlers that answer something else would mean nothing, so the bench compares the answers first. This
// runs that comparison, over all workloads.
func TestHandlersWrittenByHandAnswerTheSameBytes(t *testing.T) {
	t.Parallel()
	bench := filepath.Join(t.TempDir(), "bench")
	for _, command := range []*exec.Cmd{
		exec.Command("go", "build", "-o", bench, "."),
		exec.Command(bench, "-check", "-customers", "1000"),
	} {
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}
