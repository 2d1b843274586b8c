package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// A customer is onboarded over each face alone, by the documented script. Running it again doubles nothing,
// because of its idempotency keys.
func TestACustomerIsTakenOnOverEachFaceAlone(t *testing.T) {
	t.Parallel()
	s := onDemo(t).serve()
	for _, script := range []string{"../../rest/examples/onboarding.sh", "../../graph/examples/onboarding.sh"} {
		var said [2]string
		for i := range said {
			command := exec.Command("sh", script, s.url)
			command.Env = append(os.Environ(), "RUN=20261121")
			out, err := command.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", script, err, out)
			}
			said[i] = lastLine(string(out))
		}
		if said[0] != said[1] {
			t.Errorf("%s: %s, and repeated: %s", script, said[0], said[1])
		}
	}
}

func lastLine(text string) (last string) {
	for line := range strings.Lines(text) {
		last = line
	}
	return last
}

// Without a token the scripts end at once: the one fault that is told is why there is none.
func TestOnboardingEndsWithoutAToken(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	bank := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer bank.Close()
	for _, script := range []string{"../../rest/examples/onboarding.sh", "../../graph/examples/onboarding.sh"} {
		asked.Store(0)
		if out, err := exec.Command("sh", script, bank.URL).CombinedOutput(); err == nil ||
			asked.Load() != 1 || strings.Count(string(out), "curl:") != 1 {
			t.Errorf("%s asked %d times: %v\n%s", script, asked.Load(), err, out)
		}
	}
}
