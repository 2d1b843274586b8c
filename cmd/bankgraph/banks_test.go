package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The sample of the README is imported as it stands there.
func TestTheDirectoryIsReadInOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	sample := regexp.MustCompile("(?s)```csv\n(.*?)```").FindSubmatch(readme)
	if sample == nil {
		t.Fatal("the README has no sample")
	}
	file := filepath.Join(t.TempDir(), "own.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(string(sample[1]))
	if out := p.ok("banks", "import", file, "--format", "csv", "--source", "own", "--as", "jo"); out !=
		"own: 3 added, 0 changed, 0 the same, 0 gone, 0 lines refused, 0 skipped\n" {
		t.Errorf("%s", out)
	}
	if out := p.ok("banks", "list", "611"); !strings.Contains(out,
		"611090001  Sandbox Bank  Columbus  ACH FedNow RTP") {
		t.Errorf("%s", out)
	}
	for _, by := range [][]string{
		{"MAASNL20XXX", "--type", "BIC"}, {"NL10MAAS0123456789", "--type", "IBAN"},
	} {
		if out := p.ok(append([]string{"banks", "show"}, by...)...); !strings.Contains(out, "Maasbank NV") ||
			!strings.Contains(out, "SWIFT") {
			t.Errorf("%v: %s", by, out)
		}
	}
	if out := p.ok("banks", "sources"); !regexp.MustCompile(`own +3 +csv +own\.csv +20\S+ +jo`).
		MatchString(out) {
		t.Errorf("%s", out)
	}
	write("name,bic,countryCode\nMaasbank NV,MAASNL20,NL\nNobody,MAAS,NL\n")
	_, errs, status := p.run("banks", "import", file, "--format", "csv", "--source", "own")
	if status != 1 || !strings.Contains(errs, "--allow-gone") ||
		!strings.Contains(errs, "own.csv:3: bic: must be a BIC") {
		t.Errorf("%d %s", status, errs)
	}
	if out := p.ok("banks", "import", file, "--format", "csv", "--source", "own", "--allow-gone"); out !=
		"own: 0 added, 1 changed, 0 the same, 2 gone, 1 lines refused, 0 skipped\n" {
		t.Errorf("%s", out)
	}
	broken := filepath.Join(t.TempDir(), "own\n\x1b[2Jown  9  csv")
	if err := os.Symlink(file, broken); err != nil {
		t.Fatal(err)
	}
	p.ok("banks", "import", broken, "--format", "csv", "--source", "own")
	if out := p.ok("banks", "sources"); strings.Count(out, "\n") != 2 || strings.Contains(out, "\x1b") ||
		!strings.Contains(out, `"own\n\x1b[2Jown  9  csv"`) {
		t.Errorf("%q", out)
	}
	for _, wrong := range [][]string{
		{"banks", "import", filepath.Join(t.TempDir(), "none"), "--format", "csv"},
		{"banks", "import", t.TempDir(), "--format", "csv"},
		{"banks", "import", file, "--format", "fedwire"},
		{"banks", "list", "6%"},
		{"banks", "show", "611090001"},
	} {
		if _, errs, status := p.run(wrong...); status != 1 || errs == "" ||
			strings.Contains(errs, "internal") {
			t.Errorf("%v: %d %s", wrong, status, errs)
		}
	}
}
