package rest_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-chi/chi/v5"

	"bankgraph/rest"
)

// COMPLETENESS.md tells of every operation and every code that the published texts name whether it is served,
// and which test shows it. It is written by the tests, with -update, and they fail where it is not true.

// produced is which tests have seen a code in an answer.
var produced struct {
	sync.Mutex
	by map[string]map[string]bool
}

var codeInAnswer = regexp.MustCompile(`"(?:code|errorCode)": ?"([A-Za-z0-9_]+)"`)

// saw keeps the codes of an answer for the table of codes.
func saw(t testing.TB, body string) {
	t.Helper()
	for _, found := range codeInAnswer.FindAllStringSubmatch(body, -1) {
		name, _, _ := strings.Cut(t.Name(), "/")
		produced.Lock()
		if produced.by == nil {
			produced.by = map[string]map[string]bool{}
		}
		if produced.by[found[1]] == nil {
			produced.by[found[1]] = map[string]bool{}
		}
		produced.by[found[1]][name] = true
		produced.Unlock()
	}
}

func TestMain(m *testing.M) {
	flag.Parse()
	failed := m.Run()
	if failed == 0 && flag.Lookup("test.run").Value.String() == "" &&
		flag.Lookup("test.skip").Value.String() == "" &&
		flag.Lookup("test.list").Value.String() == "" {
		if err := complete(); err != nil {
			fmt.Println(err)
			failed = 1
		}
	}
	os.Exit(failed)
}

// complete compares COMPLETENESS.md with what is served and was seen, when all tests have run.
func complete() error {
	table, err := operationsTable()
	if err != nil {
		return err
	}
	codes, err := codesTable()
	if err != nil {
		return err
	}
	text := "# What of the specification is here\n\nWritten by the tests (`go test ./rest -update`), " +
		"which fail where it is not true.\n" +
		table + codes
	if *update {
		return os.WriteFile("COMPLETENESS.md", []byte(text), 0o600)
	}
	if is, err := os.ReadFile("COMPLETENESS.md"); err != nil || string(is) != text {
		return fmt.Errorf("COMPLETENESS.md is stale: go test ./rest -update (%w)", err)
	}
	return nil
}

var inBraces = regexp.MustCompile(`\{[^}]*\}`)

// shape is an operation without the names of what is in its path.
func shape(method, path string) string { return method + " " + inBraces.ReplaceAllString(path, "{}") }

// operationsTable tells of every published operation.
func operationsTable() (string, error) {
	published, err := os.ReadFile("testdata/specification.txt")
	if err != nil {
		return "", err
	}
	served, router := map[string]string{}, rest.New(nil, rest.Options{}).Routes()
	err = chi.Walk(router,
		func(method, path string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			served[shape(method, path)] = path
			return nil
		})
	if err != nil {
		return "", err
	}
	shown := map[string][]string{} // names of golden files
	for _, o := range append(slices.Clone(operations), changing...) {
		at := chi.NewRouteContext()
		path, _, _ := strings.Cut(o.path, "?")
		if o.name != "" && router.Match(at, o.method, inBraces.ReplaceAllString(path, "1")) {
			key := shape(o.method, at.RoutePattern())
			shown[key] = append(shown[key], o.name)
		}
	}
	twins, needs, err := described()
	if err != nil {
		return "", err
	}
	var rows strings.Builder
	total, here := 0, 0
	for line := range strings.Lines(string(published)) {
		line = strings.TrimSpace(line)
		if area, is := strings.CutPrefix(line, "# "); is && total+len(area) > 0 &&
			!strings.Contains(area, ".") {
			fmt.Fprintf(&rows, "| **%s** | | | | |\n", area)
		}
		method, path, is := strings.Cut(line, " ")
		if !is || method == "#" {
			continue
		}
		total++
		key := shape(method, path)
		if served[key] == "" {
			fmt.Fprintf(&rows, "| `%s` | no | | | |\n", line)
			continue
		}
		here++
		slices.Sort(shown[key])
		example := ""
		if len(shown[key]) > 0 {
			example = "`" + shown[key][0] + "`"
		}
		fmt.Fprintf(&rows, "| `%s` | yes | %s | %s | %s |\n", line, twins[key], needs[key], example)
	}
	return fmt.Sprintf("\n## Operations\n\n%d of %d are served. An example is a file of `testdata`, "+
		"which a test asks for.\n\n"+
		"| operation | served | in GraphQL | permission | example |\n|---|---|---|---|---|\n%s", here, total,
		rows.String()), nil
}

var row = regexp.MustCompile("(?m)^\\| `([A-Z]+) (/[^`]*)` \\|[^|]*\\| ((?:[^|`]|`[^`]*`)*) \\|")

// described reads for each operation its twin in GraphQL from README.md, and who may ask for it from
// permissions.txt.
func described() (twins, needs map[string]string, err error) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return nil, nil, err
	}
	permissions, err := os.ReadFile("permissions.txt")
	if err != nil {
		return nil, nil, err
	}
	twins, needs = map[string]string{}, map[string]string{}
	for _, found := range row.FindAllStringSubmatch(string(readme), -1) {
		twins[shape(found[1], found[2])] = strings.TrimSpace(found[3])
	}
	for line := range strings.Lines(string(permissions)) {
		operation, one, _ := strings.Cut(strings.TrimSpace(line), "\t")
		method, path, _ := strings.Cut(operation, " ")
		needs[shape(method, path)] = strings.ReplaceAll(one, "|", ", ")
	}
	return twins, needs, nil
}

// unserved says why a published code is in no answer.
var unserved = map[string]string{
	"BOOK001":                   "none: the older name of BOOKTRF001",
	"PAYMENT_ACCESS_DENIED":     "none: hidden payments look absent, with API900, which took its place",
	"RFI_DIRECTION_REQUIRED":    "none: every payment here has a direction",
	"RFI_ENTRYTYPE_INVALID":     "none: every payment here is a credit or a debit",
	"RFI_PAYMENTIOTYPE_INVALID": "none: every payment here came in or went out",
	"SENDER_BANKID_INVALID": "none: SENDER_BANKID_NOMATCH, as a sender's account is at one of the " +
		"bank's own numbers",
	"SENDER_BANKID_NOTFOUND": "none: SENDER_BANKID_NOMATCH, for the same reason",
}

// codesTable tells of every published code which test has seen it in an answer.
func codesTable() (string, error) {
	published, err := os.ReadFile("testdata/published_codes.txt")
	if err != nil {
		return "", err
	}
	var rows strings.Builder
	total, here := 0, 0
	for _, code := range strings.Fields(string(published)) {
		total++
		tests := slices.Sorted(maps.Keys(produced.by[code]))
		if len(tests) > 0 {
			here++
			tests = tests[:1]
		}
		seen := cmp.Or(strings.Join(tests, ""), unserved[code])
		if seen == "" {
			return "", fmt.Errorf("no test has seen the code %s in an answer, and unserved does not say why", code)
		}
		fmt.Fprintf(&rows, "| %s | %s |\n", code, seen)
	}
	return fmt.Sprintf("\n## Codes\n\n%d of %d are seen in answers. The test is one of those that see it.\n\n"+
		"| code | test |\n|---|---|\n%s", here, total, rows.String()), nil
}
