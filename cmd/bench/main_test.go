package main_test

import (
	"fmt"
	"os"
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
	if out, err := exec.Command(program, flags...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", flags, err, out)
	}
}

// program is the bench, built once for all tests.
var program string

func TestMain(m *testing.M) {
	folder, err := os.MkdirTemp("", "bench-")
	if err != nil {
		panic(err)
	}
	program = filepath.Join(folder, "bench")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		panic(fmt.Sprintf("go build: %s\n%s", err, out))
	}
	status := m.Run()
	_ = os.RemoveAll(folder)
	os.Exit(status)
}
