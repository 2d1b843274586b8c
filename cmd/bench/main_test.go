package main_test

import (
	"os/exec"
	"path/filepath"
	"testing"
)

// A ratio to handlers with other answers would mean nothing, so the bench compares the answers first. This
// test runs that comparison for all workloads.
func TestHandlersWrittenByHandAnswerTheSameBytes(t *testing.T) {
	t.Parallel()
	bench(t, "-check", "-customers", "1000")
}

// One key, one effect (core/README.md, P2), on a small scale; the promise is for -keys 1000 -copies 50.
func TestCopiesOfARequestHaveOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	bench(t, "-customers", "50", "-keys", "40", "-copies", "25")
}

func bench(t *testing.T, flags ...string) {
	t.Helper()
	bench := filepath.Join(t.TempDir(), "bench")
	for _, command := range []*exec.Cmd{
		exec.Command("go", "build", "-o", bench, "."), exec.Command(bench, flags...),
	} {
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, out)
		}
	}
}
