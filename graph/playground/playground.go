// Package playground serves the GraphQL playground: GraphiQL, wholly self-hosted, with a sign-in
// box, example documents and the REST calls that give the same data.
//
// The page is built by build.sh from src into dist, which is committed and embedded; editing a
// document under examples needs no build, as the handler writes those into the page.
package playground

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// Path is where the page must be mounted: the bundle names its files by it.
const Path = "/playground"

// Options say what the page offers.
type Options struct {
	// Demo offers the keys of the demo bank as buttons.
	Demo bool
	// Sandboxes are codes of tenants whose money is not real; in any other tenant the page takes
	// its warning colour. Nil means the demo bank's own, "sandbox".
	Sandboxes []string
}

// policy lets nothing in from outside. Monaco needs inline styles; nothing needs eval.
const policy = "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' " +
	"'unsafe-inline'; font-src 'self' data:; img-src 'self' data:; connect-src 'self'; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

//go:embed dist/index.html dist/assets dist/licenses.md.gz
var dist embed.FS

// Handler serves Path and everything below it. The page holds no data of the bank: it may be
// served to anyone, and who runs a document there signs in.
func Handler(options Options) http.Handler {
	index := page(options)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Referrer-Policy", "no-referrer")
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			header.Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
			return
		}
		name, below := strings.CutPrefix(r.URL.Path, Path+"/")
		switch {
		case r.URL.Path == Path || below && name == "":
			header.Set("Cache-Control", "no-cache")
			header.Set("Content-Type", "text/html; charset=utf-8")
			_, _ = w.Write(index) // the reader has gone: nobody to tell
		case below:
			serveFile(w, r, name)
		default:
			http.NotFound(w, r)
		}
	})
}

// page is index.html with the options and the examples written into its data element.
// json.Marshal escapes <, > and &, so no text can close that element.
func page(options Options) []byte {
	if options.Sandboxes == nil {
		options.Sandboxes = []string{"sandbox"}
	}
	settings, err := json.Marshal(map[string]any{
		"demo": options.Demo, "sandboxes": options.Sandboxes, "examples": Examples(),
	})
	if err != nil {
		panic(err) // strings and booleans only
	}
	index, err := dist.ReadFile("dist/index.html")
	if err != nil {
		panic(err) // embedded: absent only in a broken build
	}
	const open, end = `<script type="application/json" id="settings">`, `</script>`
	before, rest, found := bytes.Cut(index, []byte(open))
	_, after, closed := bytes.Cut(rest, []byte(end))
	if !found || !closed {
		panic("playground: index.html has no settings element")
	}
	return bytes.Join([][]byte{before, []byte(open), settings, []byte(end), after}, nil)
}

// serveFile answers one file of the bundle, which stands there gzipped only.
func serveFile(w http.ResponseWriter, r *http.Request, name string) {
	packed, err := fs.ReadFile(dist, path.Join("dist", name)+".gz")
	if err != nil {
		http.NotFound(w, r)
		return
	}
	header := w.Header()
	header.Set("Content-Type", contentType(name))
	header.Set("Vary", "Accept-Encoding")
	if strings.HasPrefix(name, "assets/") {
		header.Set("Cache-Control", "public, max-age=31536000, immutable") // the name carries a hash
	}
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		header.Set("Content-Encoding", "gzip")
		header.Set("Content-Length", fmt.Sprint(len(packed)))
		_, _ = w.Write(packed)
		return
	}
	plain, err := unpack(name, packed)
	if err != nil {
		http.Error(w, "broken bundle", http.StatusInternalServerError)
		return
	}
	header.Set("Content-Length", fmt.Sprint(len(plain)))
	_, _ = w.Write(plain)
}

var unpacked sync.Map // by name, func() ([]byte, error)

// unpack is done once for each file: it is work, and everybody may ask, also for the header alone.
func unpack(name string, packed []byte) ([]byte, error) {
	known, _ := unpacked.LoadOrStore(name, sync.OnceValues(func() ([]byte, error) {
		from, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(from)
	}))
	return known.(func() ([]byte, error))()
}

// contentType does not ask the machine's own table, which differs from one to the next.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	case ".ttf":
		return "font/ttf"
	case ".md":
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}
