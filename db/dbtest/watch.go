package dbtest

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// watch looks at every statement that tests cause: those of the program must name their bank (Unbound).
var watch = new(watcher)

// Watch is the tracer of a test's database (db.Options.Tracer). The test fails for what was found by its end.
func Watch(t testing.TB) pgx.QueryTracer {
	t.Helper()
	t.Cleanup(func() { watch.report(t) })
	return watch
}

// acrossBanks are the texts that may go without, by what is in them and nowhere else.
var acrossBanks = []struct{ text, why string }{
	{
		`FROM "issuers" AS "i" JOIN tenants AS t ON t.id = i.tenant WHERE (i.disabled_at IS NULL)`,
		"which bank a token is for is what is asked; read every ten seconds at most",
	},
	{"SELECT tenant FROM issuers WHERE url =", "an issuer with an audience belongs to one bank of all"},
	{"WITH NO DATA", "columns for COPY: no row is read"},
}

// watcher is the tracer of the tests' databases.
type watcher struct {
	seen   sync.Map // texts of batches that were looked at
	mu     sync.Mutex
	broken []string // what is to be reported
}

// TraceQueryStart looks at a statement with its values, unless a test itself wrote it.
func (w *watcher) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	if loose := Unbound(data.SQL); loose != nil && !ofTest() {
		w.tell(data.SQL, loose)
	}
	return ctx
}

// TraceQueryEnd does nothing.
func (w *watcher) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart looks at the texts of a batch, each once.
func (w *watcher) TraceBatchStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData,
) context.Context {
	for _, query := range data.Batch.QueuedQueries {
		if _, seen := w.seen.LoadOrStore(query.SQL, true); seen {
			continue
		}
		if loose := Unbound(query.SQL); loose != nil {
			w.tell(query.SQL, loose)
		}
	}
	return ctx
}

// TraceBatchQuery does nothing.
func (w *watcher) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd does nothing.
func (w *watcher) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

func (w *watcher) tell(text string, loose []string) {
	for _, known := range acrossBanks {
		if strings.Contains(text, known.text) {
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, strings.Join(loose, "; ")+": "+text)
}

// report fails a test for what was found since the last one, whichever of the tests beside each other caused
// it.
func (w *watcher) report(t testing.TB) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.broken {
		t.Errorf("a statement does not name its bank (tenant = value) at every level, for %s", what)
	}
	w.broken = nil
}

// ofTest reports whether a test or a maker wrote the statement that is about to be sent.
func ofTest() bool {
	callers := make([]uintptr, 64)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	for frame, more := frames.Next(); more; frame, more = frames.Next() {
		ours := strings.HasPrefix(frame.Function, "bankgraph/") &&
			!strings.HasPrefix(frame.Function, "bankgraph/db.") &&
			!strings.HasPrefix(frame.Function, "bankgraph/db/dbtest")
		if ours && !strings.Contains(frame.Function, "dbtest.(*watcher)") {
			return strings.HasSuffix(frame.File, "_test.go") || strings.Contains(frame.Function, "/coretest.")
		}
	}
	return true
}
