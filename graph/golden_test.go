package graph_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bankgraph/core/access"
)

// Typical requests with their whole answers, which also show what a change changes: testdata/*.graphql, where
// the first line names the caller, and testdata/*.json. -update writes the answers.
func TestTypicalRequestsAnswerAsTheyDid(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	callers := map[string]*access.Caller{
		"staff": b.staff(), "partner": b.partner(),
		"staff without View_Account": without(b.staff(), access.ViewAccounts),
	}
	files, err := filepath.Glob("testdata/*.graphql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			document, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(document), "\n")
			caller := callers[strings.TrimPrefix(line, "# caller: ")]
			if caller == nil {
				t.Fatalf("nobody is called %q", line)
			}
			var got bytes.Buffer
			if err := json.Indent(&got, []byte(b.ask(t, caller, string(document)).body), "", "  "); err != nil {
				t.Fatal(err)
			}
			got.WriteByte('\n')
			answer := strings.TrimSuffix(file, ".graphql") + ".json"
			if *update {
				if err := os.WriteFile(answer, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			kept, err := os.ReadFile(answer)
			if err != nil || !bytes.Equal(kept, got.Bytes()) {
				t.Errorf("%s was another answer (%v); now it is\n%s", answer, err, got.Bytes())
			}
		})
	}
}
