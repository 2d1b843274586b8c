package playground_test

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bankgraph/graph/playground"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

func TestBundleIsBuiltFromItsSources(t *testing.T) {
	t.Parallel()
	sources := []string{
		"package.json", "package-lock.json", "tsconfig.json", "vite.config.ts", "index.html", "build.sh",
	}
	err := filepath.WalkDir("src", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			sources = append(sources, filepath.ToSlash(path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(sources)
	var sums strings.Builder
	for _, source := range sources {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, source)), source)
	}
	is := fmt.Sprintf("%x", sha256.Sum256([]byte(sums.String())))
	if was := strings.TrimSpace(string(readFile(t, "dist/sources.sha256"))); is != was {
		t.Errorf("the committed bundle is not built from these sources: run graph/playground/build.sh " +
			"and commit dist")
	}
}

func TestPageIsStrictAndNeverCached(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/playground", "/playground/"} {
		answer := get(t, playground.Options{}, path, "gzip")
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Errorf("%s: %s, %s", path, answer.Status, answer.Header.Get("Content-Type"))
		}
		if got := answer.Header.Get("Cache-Control"); got != "no-cache" {
			t.Errorf("%s: Cache-Control is %q", path, got)
		}
		policy := answer.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") ||
			strings.Contains(policy, "unsafe-eval") {
			t.Errorf("%s: policy is %q", path, policy)
		}
		if strings.Contains(body(t, answer), "src=\"http") {
			t.Errorf("%s: the page loads something from outside", path)
		}
	}
}

func TestPageCarriesOptionsAndExamples(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		options   playground.Options
		sandboxes []string
	}{
		{playground.Options{Demo: true}, []string{"sandbox"}},
		{playground.Options{Sandboxes: []string{"test </script> bank"}}, []string{"test </script> bank"}},
	} {
		page := body(t, get(t, test.options, playground.Path, ""))
		found := regexp.MustCompile(`(?s)<script type="application/json" id="settings">(.*?)</script>`).
			FindStringSubmatch(page)
		if found == nil {
			t.Fatal("the page has no settings")
		}
		var settings struct {
			Demo      bool
			Sandboxes []string
			Examples  []playground.Example
		}
		if err := json.Unmarshal([]byte(found[1]), &settings); err != nil {
			t.Fatal(err)
		}
		if settings.Demo != test.options.Demo || !slices.Equal(settings.Sandboxes, test.sandboxes) {
			t.Errorf("options arrive as %v, %v", settings.Demo, settings.Sandboxes)
		}
		if len(settings.Examples) != len(playground.Examples()) ||
			settings.Examples[0].Title != "Customer 360" {
			t.Errorf("%d examples arrive", len(settings.Examples))
		}
	}
}

func TestFilesOfThePageAreCachedForEver(t *testing.T) {
	t.Parallel()
	page := body(t, get(t, playground.Options{}, playground.Path, ""))
	files := regexp.MustCompile(`(?:src|href)="(/playground/[^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(files) < 3 {
		t.Fatalf("the page names only %d files", len(files))
	}
	for _, file := range files {
		packed, plain := get(t, playground.Options{}, file[1], "br, gzip"),
			get(t, playground.Options{}, file[1], "")
		for _, answer := range []*http.Response{packed, plain} {
			if answer.StatusCode != http.StatusOK ||
				!strings.Contains(answer.Header.Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %s, Cache-Control %q", file[1], answer.Status,
					answer.Header.Get("Cache-Control"))
			}
		}
		unpacked, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatalf("%s: %v", file[1], err)
		}
		want, err := io.ReadAll(unpacked)
		if err != nil {
			t.Fatalf("%s: %v", file[1], err)
		}
		if plain.Header.Get("Content-Encoding") != "" || body(t, plain) != string(want) {
			t.Errorf("%s: a client without gzip gets other bytes", file[1])
		}
		// known: it was unpacked before, not on the way
		if length := plain.Header.Get("Content-Length"); length != fmt.Sprint(len(want)) {
			t.Errorf("%s: %q bytes are announced, there are %d", file[1], length, len(want))
		}
	}
}

func TestNothingElseIsServed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"/playground/assets/", "/playground/assets/none.js",
		"/playground/sources.sha256", "/playground/index.html",
		"/playground/../playground.go", "/playground/assets/../../playground.go", "/playgrounds",
	} {
		if answer := get(t, playground.Options{}, path, "gzip"); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	recorder := httptest.NewRecorder()
	playground.Handler(playground.Options{}).ServeHTTP(recorder,
		httptest.NewRequest(http.MethodPost, playground.Path, nil))
	if recorder.Code != http.StatusMethodNotAllowed || recorder.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d, Allow %q", recorder.Code, recorder.Header().Get("Allow"))
	}
}

// graphOnly are the examples of what REST does not have: approvals of any change, the record of who did what,
// statements and the books, webhooks, previews, holds, alerts, verifications and notices of change.
var graphOnly = map[string]bool{
	"12-waiting": true, "13-approve": true, "14-history": true, "15-audit": true, "18-statement": true,
	"19-proof": true, "40-webhook": true, "41-deliveries": true, "50-preview": true, "51-hold": true,
	"58-balance-alerts": true, "59-verified-contacts": true, "62-notices": true, "63-follow-notice": true,
}

func TestEveryExampleExplainsItself(t *testing.T) {
	t.Parallel()
	operations := map[string]string{}
	for _, example := range playground.Examples() {
		if example.Title == "" || example.Description == "" {
			t.Errorf("%s lacks a title or a description", example.Name)
		}
		if len(example.REST) == 0 != graphOnly[example.Name] {
			t.Errorf("%s: the page says wrongly whether REST has a call for it", example.Name)
		}
		for _, call := range example.REST {
			if !regexp.MustCompile(`^(GET|POST|PUT|PATCH|DELETE) ` +
				`/\S+( \{.*\})?( for each \w+)?$`).MatchString(call) {
				t.Errorf("%s: %q is no REST call", example.Name, call)
			}
		}
		// The page finds the REST calls of an answer by the name of its operation.
		name := regexp.MustCompile(`^(?:query|mutation) (\w+)`).FindStringSubmatch(example.Query)
		if name == nil || operations[name[1]] != "" {
			t.Errorf("%s does not begin with an operation of its own name", example.Name)
			continue
		}
		operations[name[1]] = example.Name
	}
	if len(operations) != 43 {
		t.Errorf("%d examples, not forty-three", len(operations))
	}
}

// What REST has for a field of GraphQL stands in the operations of rest/README.md.
func TestExamplesNameTheCallsThatRESTHas(t *testing.T) {
	t.Parallel()
	row := regexp.MustCompile("(?m)^\\| `([A-Z]+) (/[^`]*)` \\|[^|]*\\| ([^|]*) \\|")
	calls, pairs := map[string]bool{}, map[string]bool{}
	for _, found := range row.FindAllStringSubmatch(string(readFile(t, "../../rest/README.md")), -1) {
		calls[found[1]+" "+places.ReplaceAllString(found[2], "{}")] = true
		if field := regexp.MustCompile("^`(\\w+)").FindStringSubmatch(found[3]); field != nil {
			pairs[field[1]] = true
		}
	}
	schema := loadSchema(t)
	for _, example := range playground.Examples() {
		document, problems := gqlparser.LoadQueryWithRules(schema, example.Query, rules.NewDefaultRules())
		if problems != nil {
			t.Errorf("%s: %v", example.Name, problems)
			continue
		}
		operation := document.Operations[0]
		for _, chosen := range operation.SelectionSet {
			field, is := chosen.(*ast.Field)
			if is && operation.Operation == ast.Mutation && pairs[field.Name] && graphOnly[example.Name] &&
				field.Name != "approveChange" { // of files alone, over REST
				t.Errorf("%s: REST has %s, and the page says that it has not", example.Name, field.Name)
			}
		}
		for _, call := range example.REST {
			words := strings.Fields(call)
			path, _, _ := strings.Cut(words[1], "?")
			// a word of the path, such as a direction, may be given
			known := slices.ContainsFunc(slices.Collect(maps.Keys(calls)), func(of string) bool {
				pattern := strings.ReplaceAll(regexp.QuoteMeta(of), `\{\}`, `[^/]+`)
				return regexp.MustCompile("^" + pattern + "$").MatchString(words[0] + " " + path)
			})
			if !known {
				t.Errorf("%s: REST has no %s %s", example.Name, words[0], path)
			}
		}
	}
}

// places are the parameters of a path.
var places = regexp.MustCompile(`\{[^}]*\}`)

func TestExamplesFitTheSchema(t *testing.T) {
	t.Parallel()
	schema := loadSchema(t)
	for _, example := range playground.Examples() {
		document, problems := gqlparser.LoadQueryWithRules(schema, example.Query, rules.NewDefaultRules())
		if problems != nil {
			t.Errorf("%s: %v", example.Name, problems)
			continue
		}
		var variables map[string]any
		if err := json.Unmarshal([]byte(example.Variables), &variables); err != nil {
			t.Errorf("%s: variables: %v", example.Name, err)
		}
		for _, variable := range document.Operations[0].VariableDefinitions {
			if _, given := variables[variable.Variable]; !given {
				t.Errorf("%s: $%s has no value", example.Name, variable.Variable)
			}
			delete(variables, variable.Variable)
		}
		if len(variables) > 0 {
			t.Errorf("%s: values without a variable: %v", example.Name, variables)
		}
	}
}

// The page falls silent about the caller when this document fails, so nobody would notice.
func TestQuestionWhoIsCallingFitsTheSchema(t *testing.T) {
	t.Parallel()
	found := regexp.MustCompile(`'(query Viewer .*)'`).FindSubmatch(readFile(t, "src/session.ts"))
	if found == nil {
		t.Fatal("src/session.ts has no query Viewer")
	}
	if _, problems := gqlparser.LoadQueryWithRules(loadSchema(t), string(found[1]),
		rules.NewDefaultRules()); problems != nil {
		t.Error(problems)
	}
}

// A block is one document: whoever pastes it into the playground chooses one of its operations by name.
func TestDocumentsOfTheReadmeFitTheSchema(t *testing.T) {
	t.Parallel()
	blocks := regexp.MustCompile("(?s)```graphql\n(.*?)```").
		FindAllSubmatch(readFile(t, "../../README.md"), -1)
	if len(blocks) == 0 {
		t.Fatal("README.md has no document")
	}
	for _, block := range blocks {
		if _, problems := gqlparser.LoadQueryWithRules(loadSchema(t), string(block[1]),
			rules.NewDefaultRules()); problems != nil {
			t.Errorf("%s\n%v", block[1], problems)
		}
	}
}

func loadSchema(t *testing.T) *ast.Schema {
	t.Helper()
	files, err := filepath.Glob("../schema/*.graphqls")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schema: %v", err)
	}
	var sources []*ast.Source
	for _, file := range files {
		sources = append(sources, &ast.Source{Name: file, Input: string(readFile(t, file))})
	}
	schema, err := gqlparser.LoadSchema(sources...)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func get(t *testing.T, options playground.Options, path, encodings string) *http.Response {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/", nil)
	request.URL.Path = path
	request.Header.Set("Accept-Encoding", encodings)
	recorder := httptest.NewRecorder()
	playground.Handler(options).ServeHTTP(recorder, request)
	return recorder.Result()
}

func body(t *testing.T, answer *http.Response) string {
	t.Helper()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
