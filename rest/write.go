package rest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
)

// answer is what a handler hands over to its dialect. Without data there is nothing to say: 204.
type answer struct {
	data   any
	pages  *pagination
	status int             // 200 when 0
	mark   changes.Receipt // of a change, or the version of what is shown
	waited time.Duration   // for what the caller prefers to wait for, at most; 0: it did not
}

// pagination is the page object of styles PG1 and PG4 (rest/CONTRACT.md, pages).
type pagination struct {
	TotalRecords    int64 `json:"totalRecords"`
	ReturnedRecords int   `json:"returnedRecords"`
	PageReturned    int   `json:"pageReturned"`
	PageSize        int   `json:"pageSize"`
}

// one answers a single thing.
func one(view any) answer { return answer{data: view} }

// list answers a page of things, each as view shows it.
func list[T, V any](items []T, total int64, s pageRequest, view func(T) V) answer {
	pages := pagination{
		TotalRecords: total, ReturnedRecords: len(items), PageReturned: s.number, PageSize: s.size,
	}
	return answer{data: each(items, view), pages: &pages}
}

// each is never nil, so that an empty list is [] and not null.
func each[T, V any](items []T, view func(T) V) []V {
	views := make([]V, len(items))
	for i, item := range items {
		views[i] = view(item)
	}
	return views
}

// handler reads a request, calls core and returns what core says.
type handler func(*http.Request) (answer, error)

// answer makes a handler speak a dialect. Nobody known to be calling is refused before anything is read.
func (a *api) answer(d dialect, h handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		said, err := a.ask(r, h)
		mark(w.Header(), said.mark)
		if said.waited > 0 {
			w.Header().Set("Preference-Applied", fmt.Sprintf("wait=%d", int(said.waited.Seconds())))
		}
		switch {
		case err != nil:
			a.refuse(w, r, d, err)
		case said.status == http.StatusOK && said.data == nil:
			w.WriteHeader(http.StatusOK) // envelope C10
		case said.data == nil:
			w.WriteHeader(http.StatusNoContent)
		default:
			a.write(w, r, cmp.Or(said.status, http.StatusOK), d.success(said))
		}
	}
}

// ask runs the handler; a panic is a defect like any other.
func (a *api) ask(r *http.Request, h handler) (said answer, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	if err := refused(r.Context()); err != nil {
		return answer{}, err
	}
	if _, err := access.Require(r.Context()); err != nil {
		return answer{}, err
	}
	return h(r)
}

var (
	errDefect = fault.New(fault.Internal, "server.defect", "server failure, try again later")
	errSlow   = fault.New(fault.Unavailable, "server.slow", "the bank cannot answer now, try again later")
	// errUnshown is returned when what a change left cannot be read: nobody must take it for refused.
	errUnshown = fault.New(fault.Unavailable, "server.unshown",
		"the request was carried out, but its result cannot be shown now: read it again")
)

// shown are the faults that a caller may see of an error, one at least. The rest is for the log.
func (a *api) shown(r *http.Request, err error) fault.Faults {
	var several fault.Faults
	if errors.As(err, &several) && len(several) > 0 {
		return several
	}
	if f, ok := fault.Of(err); ok && f.Kind != fault.Internal {
		return fault.Faults{f}
	}
	if a.Unavailable(err) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return fault.Faults{errSlow}
	}
	a.Log.ErrorContext(r.Context(), "operation failed", "operation",
		r.Method+" "+chi.RouteContext(r.Context()).RoutePattern(), "error", err)
	return fault.Faults{errDefect}
}

// refuse answers a failure in the words of the dialect.
func (a *api) refuse(w http.ResponseWriter, r *http.Request, d dialect, err error) {
	faults := a.shown(r, err)
	told := each(faults, d.tell)
	status := told[0].status
	challenge(w.Header(), status)
	if status == http.StatusServiceUnavailable && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "5")
	}
	if status == http.StatusTooManyRequests && w.Header().Get("Retry-After") == "" {
		w.Header().Set("Retry-After", "60") // core counts within a minute
	}
	if errors.Is(err, changes.ErrInFlight) {
		w.Header().Set("Retry-After", "1")
	}
	a.write(w, r, status, d.failure(d.phrase, told))
}

func (a *api) write(w http.ResponseWriter, r *http.Request, status int, body any) {
	text, err := json.Marshal(body)
	if err != nil {
		a.Log.ErrorContext(r.Context(), "answer cannot be written", "error", err)
		http.Error(w, "", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// noPath answers paths that do not exist, but for who is to come back later: nothing was looked at.
func (a *api) noPath(w http.ResponseWriter, r *http.Request) {
	if why, ok := fault.Of(refused(r.Context())); ok &&
		(why.Kind == fault.TooMany || why.Kind == fault.Unavailable) {
		l := customersV2.lineFor(why)
		a.write(w, r, l.status, failureC1("", []reported{{code: l.code, message: why.Message}}))
		return
	}
	message := "no such path"
	if bare := strings.TrimRight(path(r), "/"); bare != path(r) && allowed(a.router, bare) != "" {
		message += ": leave out the slash at its end"
	}
	a.write(w, r, http.StatusNotFound, failureC1("", []reported{{code: "invalidPath", message: message}}))
}

// noMethod answers paths that exist for other methods than this one, and names those.
func (a *api) noMethod(w http.ResponseWriter, r *http.Request) {
	methods := allowed(a.router, path(r))
	if methods == "" { // a method that nobody knows, on a path that nobody has
		a.noPath(w, r)
		return
	}
	if strings.HasPrefix(methods, http.MethodGet) {
		methods += ", " + http.MethodHead
	}
	w.Header().Set("Allow", methods)
	a.write(w, r, http.StatusMethodNotAllowed, failureC1("",
		[]reported{{code: "invalidMethod", message: "the path does not have this method, but " + methods}}))
}

// fixedFirst stands before all operations: where a path fits the fixed name of one pattern and the parameter
// of another, the name counts, and the path has the methods of its operations alone.
func (a *api) fixedFirst(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		at := chi.RouteContext(r.Context())
		if first, _ := matching(a.router, path(r)); rank(at.RoutePattern()) != first {
			at.RoutePatterns = nil // none of the operations answers
			a.noMethod(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// parameters are those in the pattern of a path.
var parameters = regexp.MustCompile(`\{[^}]*\}`)

// rank orders the patterns that a path fits: a fixed name comes before a parameter.
func rank(pattern string) string { return parameters.ReplaceAllLiteralString(pattern, "~") }

// matching returns the rank of the first pattern that a path fits, whatever the method, and the methods of
// its operations.
func matching(routes chi.Routes, path string) (first string, methods []string) {
	at := chi.NewRouteContext()
	for _, method := range []string{
		http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
	} {
		at.Reset()
		if !routes.Match(at, method, path) {
			continue
		}
		if of := rank(at.RoutePattern()); methods == nil || of < first {
			first, methods = of, []string{method}
		} else if of == first {
			methods = append(methods, method)
		}
	}
	return first, methods
}

// allowed are the methods of a path, as the Allow header names them.
func allowed(routes chi.Routes, path string) string {
	_, methods := matching(routes, path)
	return strings.Join(methods, ", ")
}

// path is the request's path as the router reads it.
func path(r *http.Request) string {
	if r.URL.RawPath != "" {
		return r.URL.RawPath
	}
	return r.URL.Path
}

// deprecatedSince is the day from which operations are deprecated (rest/CONTRACT.md, deprecated operations).
// A day of removal is given for one alone.
var deprecatedSince = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// deprecated says in headers that an operation has a successor (RFC 9745, RFC 8594). successor is nil where
// the address of the request does not say which one.
func deprecated(successor func(*http.Request) string) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Deprecation", "@"+strconv.FormatInt(deprecatedSince.Unix(), 10))
			if successor != nil {
				w.Header().Set("Link", "<"+successor(r)+`>; rel="successor-version"`)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// removalOfFileSearch is the day on which the file search of v1 goes (rest/CONTRACT.md, deprecated
// operations).
var removalOfFileSearch = time.Date(2027, time.July, 7, 0, 0, 0, 0, time.UTC)

// removed is deprecated for an operation that will be gone on a day.
func removed(on time.Time, successor func(*http.Request) string) func(http.Handler) http.Handler {
	tell := deprecated(successor)
	return func(next http.Handler) http.Handler {
		next = tell(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Sunset", on.Format(http.TimeFormat))
			next.ServeHTTP(w, r)
		})
	}
}

// fileSearchInV2 is the successor of the file search of v1.
func fileSearchInV2(*http.Request) string { return "/v2/files/search" }

// inV3 is the successor of an operation of v2: the same path in v3, with an addition.
func inV3(addition string) func(*http.Request) string {
	return func(r *http.Request) string {
		return "/v3" + strings.TrimPrefix(r.URL.EscapedPath(), "/v2") + addition
	}
}

// creditInV4 is the successor of credit requests of v3.
func creditInV4(*http.Request) string { return "/v4/payments/credit" }

// bankLookup is the successor of finding a bank by the routing number in the path.
func bankLookup(r *http.Request) string {
	return "/v1/banks?" + url.Values{
		"bankId": {chi.URLParam(r, "routingNumber")}, "bankIdType": {string(banks.NID)},
	}.Encode()
}
