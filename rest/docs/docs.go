// Package docs serves the REST reference: Swagger UI, wholly self-hosted, on our own document.
//
// build.sh takes Swagger UI from npm into dist, which is committed; the page around it is src.
package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
)

// policy lets nothing in from outside; Swagger UI styles some elements inline and draws with
// pictures in its style sheet.
const policy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; " +
	"img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

//go:embed dist/*.gz
var dist embed.FS

//go:embed src
var src embed.FS

//go:embed samples
var samples embed.FS

// file is what one path answers. A file that lies gzipped stays so unless a client cannot take it.
type file struct {
	contentType string
	content     []byte
	gzipped     bool
	// of one that lies gzipped; once, as it is work that everybody may ask for
	unpacked func() ([]byte, error)
	tag      string
}

// Options are what the page shows beside the document.
type Options struct {
	Codes any   `json:"codes"` // the table of failures: a list of area, status, code and when
	Keys  []Key `json:"keys"`  // of the demo bank, to sign in with; none anywhere else
	Plays bool  `json:"-"`     // the playground is served beside it
}

// Key is an API key that everybody may know, because its bank is a demonstration.
type Key struct {
	Key    string `json:"key"`
	Secret string `json:"secret"`
	Who    string `json:"who"`
	// what stands in the examples, and what this key sees in its place; none where it sees the examples' own
	Own [][2]string `json:"own,omitempty"`
}

// Handler serves the page at /docs, its files below it, and spec, the OpenAPI document in YAML, at
// /openapi.yaml. All of it is public: the page holds no data, and a try-out asks for a key.
func Handler(spec []byte, o Options) http.Handler {
	files := load()
	for name, sample := range Samples() {
		files["/docs/samples/"+name] = plain(contentType(name), sample)
	}
	files["/docs/index.html"] = plain("text/html; charset=utf-8", page(o))
	files["/openapi.yaml"] = plain("application/yaml; charset=utf-8", spec)
	files["/docs"] = files["/docs/index.html"]
	files["/docs/"] = files["/docs/index.html"]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Referrer-Policy", "no-referrer")
		found, ok := files[r.URL.Path]
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "method not allowed", http.StatusMethodNotAllowed)
		default:
			found.serve(w, r)
		}
	})
}

// page is index.html with the options written into its data element. json.Marshal escapes <, > and &, so no
// text can close that element.
func page(o Options) []byte {
	settings, err := json.Marshal(o)
	if err != nil {
		panic(err) // texts and numbers
	}
	index, err := src.ReadFile("src/index.html")
	const element = `<script type="application/json" id="settings">`
	if err != nil || bytes.Count(index, []byte(element)) != 1 {
		panic("docs: index.html has no settings element") // embedded: absent only in a broken build
	}
	if !o.Plays {
		index = playground.ReplaceAll(index, nil)
	}
	return bytes.Replace(index, []byte(element), append([]byte(element), settings...), 1)
}

// playground is the line of index.html that leads there.
var playground = regexp.MustCompile(`\n *<a href="/playground">.*</a>`)

// Samples are files of payments of each format, and the header of a csv file with all its columns, by their
// names. They are of the demo bank's first customer.
func Samples() map[string][]byte {
	entries, err := samples.ReadDir("samples")
	all := map[string][]byte{}
	for _, entry := range entries {
		if err == nil {
			all[entry.Name()], err = samples.ReadFile("samples/" + entry.Name())
		}
	}
	if err != nil {
		panic(err) // embedded
	}
	return all
}

func load() map[string]file {
	files := map[string]file{}
	for _, tree := range []struct {
		fs     embed.FS
		folder string
	}{{dist, "dist"}, {src, "src"}} {
		entries, err := tree.fs.ReadDir(tree.folder)
		if err != nil {
			panic(err) // embedded: absent only in a broken build
		}
		for _, entry := range entries {
			content, err := tree.fs.ReadFile(path.Join(tree.folder, entry.Name()))
			if err != nil {
				panic(err)
			}
			name, gzipped := strings.CutSuffix(entry.Name(), ".gz")
			one := plain(contentType(name), content)
			if one.gzipped = gzipped; gzipped {
				one.unpacked = sync.OnceValues(func() ([]byte, error) { return unpack(content) })
			}
			files["/docs/"+name] = one
		}
	}
	return files
}

func plain(contentType string, content []byte) file {
	return file{contentType: contentType, content: content, tag: fmt.Sprintf(`"%x"`, sha256.Sum256(content))}
}

func unpack(content []byte) ([]byte, error) {
	from, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(from)
}

// serve lets the browser keep the file and ask whether it is still the same one.
func (f file) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.contentType)
	header.Set("Cache-Control", "no-cache")
	header.Set("Vary", "Accept-Encoding")
	if f.gzipped && !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		unpacked, err := f.unpacked()
		if err != nil {
			http.Error(w, "broken file", http.StatusInternalServerError)
			return
		}
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(unpacked))
		return
	}
	if f.gzipped {
		header.Set("Content-Encoding", "gzip")
	}
	header.Set("ETag", f.tag)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(f.content))
}

// contentType does not ask the machine's own table, which differs from one to the next.
func contentType(name string) string {
	switch path.Ext(name) {
	case ".html":
		return "text/html; charset=utf-8"
	case ".csv":
		return "text/csv; charset=utf-8"
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	case ".woff2":
		return "font/woff2"
	}
	return "text/plain; charset=utf-8"
}
