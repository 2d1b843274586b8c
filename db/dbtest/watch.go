package dbtest

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
)

// watch checks every statement that tests cause: those of the program must name their bank (Unbound).
var watch = new(watcher)

// Watch returns the tracer for a test's database (db.Options.Tracer). It fails the test, at its end, if a
// statement does not name its bank.
func Watch(t testing.TB) pgx.QueryTracer {
	t.Helper()
	t.Cleanup(func() { watch.report(t) })
	return watch
}

// acrossBanks lists the statements that need not name a bank, each by a text that only it contains.
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
	fine   sync.Map // texts that name their bank: judging one takes longer than many a statement
	mu     sync.Mutex
	broken []string // what is to be reported
}

// TraceQueryStart checks a statement, unless a test itself wrote it.
func (w *watcher) TraceQueryStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData,
) context.Context {
	if _, fine := w.fine.Load(data.SQL); !fine && !ofTest() {
		w.judge(data.SQL)
	}
	return ctx
}

// TraceQueryEnd does nothing.
func (w *watcher) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

// TraceBatchStart checks the texts of a batch.
func (w *watcher) TraceBatchStart(
	ctx context.Context, _ *pgx.Conn, data pgx.TraceBatchStartData,
) context.Context {
	for _, query := range data.Batch.QueuedQueries {
		if _, fine := w.fine.Load(query.SQL); !fine {
			w.judge(query.SQL)
		}
	}
	return ctx
}

// TraceBatchQuery does nothing.
func (w *watcher) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

// TraceBatchEnd does nothing.
func (w *watcher) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// judge keeps a text that is to be reported, or that it has nothing against.
func (w *watcher) judge(text string) {
	loose := Unbound(text)
	if loose == nil {
		w.fine.Store(text, true)
		return
	}
	for _, known := range acrossBanks {
		if strings.Contains(text, known.text) {
			w.fine.Store(text, true)
			return
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = append(w.broken, strings.Join(loose, "; ")+": "+text)
}

// report fails a test for what was found since the last report, whichever of the parallel tests caused it.
func (w *watcher) report(t testing.TB) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, what := range w.broken {
		t.Errorf("a statement does not name its bank (tenant = value) at every level, for %s", what)
	}
	w.broken = nil
}

// ofTest reports whether a test or a maker wrote the statement that is being sent.
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
