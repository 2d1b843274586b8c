package docs_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"bankgraph/rest/docs"
)

func TestSwaggerUIIsTheVersionThatIsLocked(t *testing.T) {
	t.Parallel()
	var sums strings.Builder
	for _, source := range []string{"build.sh", "package-lock.json"} {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, source)), source)
	}
	is := fmt.Sprintf("%x", sha256.Sum256([]byte(sums.String())))
	if was := strings.TrimSpace(string(readFile(t, "dist/sources.sha256"))); is != was {
		t.Errorf("dist is not what build.sh makes of package-lock.json: run rest/docs/build.sh " +
			"and commit dist")
	}
}

func TestDocumentIsServedAsItIs(t *testing.T) {
	t.Parallel()
	spec := readFile(t, "testdata/openapi.yaml")
	answer := ask(docs.Handler(spec, docs.Options{}), http.MethodGet, "/openapi.yaml", nil)
	if got := read(t, answer); got != string(spec) ||
		answer.Header.Get("Content-Type") != "application/yaml; charset=utf-8" {
		t.Errorf("%s: %d of %d bytes as %s", answer.Status, len(got), len(spec),
			answer.Header.Get("Content-Type"))
	}
}

func TestSamplesOfFilesAreServed(t *testing.T) {
	t.Parallel()
	all := docs.Samples()
	if len(all) < 5 {
		t.Errorf("only %d samples", len(all))
	}
	for name, sample := range all {
		answer := ask(docs.Handler(nil, docs.Options{}), http.MethodGet, "/docs/samples/"+name, nil)
		if got := read(t, answer); got != string(sample) ||
			!strings.HasPrefix(answer.Header.Get("Content-Type"), "text/") {
			t.Errorf("%s: %s, %q as %s", name, answer.Status, got, answer.Header.Get("Content-Type"))
		}
	}
}

func TestPageLoadsOnlyItsOwnFiles(t *testing.T) {
	t.Parallel()
	handler := docs.Handler(nil, docs.Options{})
	for _, path := range []string{"/docs", "/docs/"} {
		answer := ask(handler, http.MethodGet, path, nil)
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/html; charset=utf-8" {
			t.Fatalf("%s: %s, %s", path, answer.Status, answer.Header.Get("Content-Type"))
		}
		policy := answer.Header.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'none'; script-src 'self';") ||
			strings.Contains(policy, "unsafe-eval") {
			t.Errorf("%s: policy is %q", path, policy)
		}
		files := regexp.MustCompile(`(?:src|rel="[^"]+"(?: type="[^"]+")? href)="([^"]+)"`).
			FindAllStringSubmatch(read(t, answer), -1)
		if len(files) < 5 {
			t.Fatalf("%s names only %d files", path, len(files))
		}
		for _, file := range files {
			if !strings.HasPrefix(file[1], "/docs/") ||
				ask(handler, http.MethodGet, file[1], nil).StatusCode != http.StatusOK {
				t.Errorf("%s names %s", path, file[1])
			}
		}
	}
}

func TestThePageKnowsItsKeysAndCodesAndNothingBreaksOutOfThem(t *testing.T) {
	t.Parallel()
	settings := regexp.MustCompile(`(?s)<script type="application/json" id="settings">(.*?)</script>`)
	for want, options := range map[string]docs.Options{
		`{"codes":null,"keys":null}`: {},
		`{"codes":["\u003c/script\u003e"],` +
			`"keys":[{"key":"demo-x","secret":"demo-x-secret","who":"Anybody"}]}`: {
			Codes: []string{"</script>"}, Keys: []docs.Key{{Key: "demo-x", Secret: "demo-x-secret", Who: "Anybody"}},
		},
	} {
		found := settings.FindStringSubmatch(read(t, ask(docs.Handler(nil, options), http.MethodGet, "/docs", nil)))
		if len(found) != 2 || found[1] != want {
			t.Errorf("settings are %q, want %s", found, want)
		}
	}
}

func TestFilesAreAskedForOnlyWhenChanged(t *testing.T) {
	t.Parallel()
	handler := docs.Handler([]byte("openapi: 3.0.3\n"), docs.Options{})
	for _, path := range []string{"/docs", "/docs/page.js", "/docs/swagger-ui-bundle.js", "/openapi.yaml"} {
		first := ask(handler, http.MethodGet, path, map[string]string{"Accept-Encoding": "gzip"})
		again := ask(handler, http.MethodGet, path,
			map[string]string{"Accept-Encoding": "gzip", "If-None-Match": first.Header.Get("ETag")})
		if first.StatusCode != http.StatusOK || again.StatusCode != http.StatusNotModified {
			t.Errorf("%s: %s, then %s", path, first.Status, again.Status)
		}
	}
}

func TestClientsWithoutGzipReadPlainFiles(t *testing.T) {
	t.Parallel()
	handler := docs.Handler(nil, docs.Options{})
	packed := ask(handler, http.MethodGet, "/docs/swagger-ui.css",
		map[string]string{"Accept-Encoding": "gzip"})
	plain := ask(handler, http.MethodGet, "/docs/swagger-ui.css", nil)
	if packed.Header.Get("Content-Encoding") != "gzip" || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("encodings are %q and %q", packed.Header.Get("Content-Encoding"),
			plain.Header.Get("Content-Encoding"))
	}
	text := read(t, plain)
	if !strings.Contains(text, ".swagger-ui") {
		t.Errorf("no style sheet: %.40q", text)
	}
	// Nothing is unpacked on the way, for the header alone: a few bytes of nobody's would buy milliseconds of
	// work.
	header := ask(handler, http.MethodHead, "/docs/swagger-ui.css", nil)
	if got := header.Header.Get("Content-Length"); got != fmt.Sprint(len(text)) || read(t, header) != "" {
		t.Errorf("HEAD says %q bytes, there are %d", got, len(text))
	}
}

func TestNothingElseIsServed(t *testing.T) {
	t.Parallel()
	handler := docs.Handler(nil, docs.Options{})
	for _, path := range []string{
		"/docs/none.js", "/docs/sources.sha256", "/docs/swagger-ui.css.gz", "/openapi.json",
	} {
		if answer := ask(handler, http.MethodGet, path, nil); answer.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %s", path, answer.Status)
		}
	}
	if answer := ask(handler, http.MethodPost, "/docs", nil); answer.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", answer.Status)
	}
}

func ask(handler http.Handler, method, path string, headers map[string]string) *http.Response {
	request := httptest.NewRequest(method, path, nil)
	for name, value := range headers {
		request.Header.Set(name, value)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

func read(t *testing.T, answer *http.Response) string {
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
