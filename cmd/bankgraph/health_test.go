package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/keysets"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/db/dbtest/faults"
)

// One bank's broken record affects no other bank: the others are served, and operators are told which bank it
// is.
func TestReadinessIsolatesBanks(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	well, waits := bankState{}, bankState{tail: audit.Tail{Unsealed: 512, Waiting: 73}}
	broken := bankState{broken: errors.New("bank 7: tampered with")}
	for _, one := range []struct {
		banks  map[string]bankState
		status int
		says   string
	}{
		{nil, 200, "ready\n"},
		{map[string]bankState{"ONE": well, "TWO": well}, 200, "ready\n"},
		{
			map[string]bankState{"ONE": well, "TWO": waits},
			200,
			"ready\nbank TWO: 512 audit entries are not sealed, the oldest for 73 s: does any worker run?\n",
		},
		{map[string]bankState{"ONE": well, "TWO": broken}, 200, "ready\nbank TWO: bank 7: tampered with\n"},
		{
			map[string]bankState{"TWO": broken},
			503,
			"the audit record does not hold\nbank TWO: bank 7: tampered with\n",
		},
	} {
		h := newHealth(newMeters(s.bank.DB))
		for code, state := range one.banks {
			h.set(context.Background(), code, state)
		}
		for detailed, want := range map[bool]string{true: one.says, false: strings.SplitAfter(one.says, "\n")[0]} {
			answer := httptest.NewRecorder()
			readiness(s.bank.Core, h, s.stopping.Load, detailed).ServeHTTP(answer,
				httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
			if answer.Code != one.status || answer.Body.String() != want {
				t.Errorf("%+v: %d %q", one.banks, answer.Code, answer.Body)
			}
		}
	}
}

// A disk that is full, and a replica that is of no use, are for operators: the database still answers.
func TestReadinessTellsOperatorsWhatTheDatabaseLacks(t *testing.T) {
	t.Parallel()
	line := new(faults.Line)
	d, err := db.Open(dbtest.Shared(t), db.Options{
		Connections: 2, Connector: line.Connector, ReadURL: "postgres://nobody@/none?host=" + t.TempDir(),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	line.Break(2, faults.Fault{State: "53100"})
	if err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, `SELECT 1`)
		return err
	}); err == nil {
		t.Fatal("it was written")
	}
	line.Break(0, faults.Fault{})
	for state, _ := d.Replica(); state.Why == nil; state, _ = d.Replica() {
		time.Sleep(10 * time.Millisecond)
	}
	for detailed, want := range map[bool][]string{
		true: {
			"ready", "degraded: a write failed at 20", "(SQLSTATE 53100)",
			"the replica is not read from: ask the replica",
		},
		false: {"ready"},
	} {
		answer := httptest.NewRecorder()
		readiness(core.New(core.Options{DB: d}), newHealth(newMeters(d)),
			func() bool { return false }, detailed).
			ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		for _, text := range want {
			if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), text) {
				t.Errorf("detailed %v: %d %q lacks %q", detailed, answer.Code, answer.Body, text)
			}
		}
		if !detailed && answer.Body.String() != "ready\n" {
			t.Errorf("everybody reads %q", answer.Body)
		}
	}
}

// A tick checks its own bank, and finds what waits and what is broken.
func TestHealthLooksAtEachBank(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	other := s.addBank()
	look := s.health.job(s.bank, (&settings{DatabaseURL: "given"}).kept(slog.Default(), slog.Default())).tick
	if _, err := look(s.operator); err != nil {
		t.Fatal(err)
	}
	if state := s.health.banks[s.realm]; state.tail.Unsealed == 0 || state.broken != nil {
		t.Errorf("a bank whose first entry waits: %+v", state)
	}
	if _, looked := s.health.banks[other]; looked {
		t.Error("another bank was looked at too")
	}
	if _, err := s.bank.Audit.Seal(s.operator); err != nil {
		t.Fatal(err)
	}
	if err := s.bank.Audit.Sign(s.operator, s.bank.Clients.Sign,
		func(audit.Line) error { return nil }); err != nil {
		t.Fatal(err)
	}
	if _, err := look(s.operator); err != nil || s.health.banks[s.realm] != (bankState{}) {
		t.Errorf("sealed and signed: %+v, %v", s.health.banks[s.realm], err)
	}
	if _, err := look(access.With(context.Background(), access.Caller{})); !errors.Is(err, access.ErrDenied) {
		t.Errorf("asked by nobody: %v", err)
	}
}

// A process whose copy of the keyset has become too old for all of its banks gets no more requests.
func TestAProcessWhoseKeysetLagsIsNotReady(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	if _, err := s.bank.Audit.Seal(s.operator); err != nil {
		t.Fatal(err)
	}
	if err := s.bank.Audit.Sign(s.operator, s.bank.Clients.Sign, // with a key that is sealed
		func(audit.Line) error { return nil }); err != nil {
		t.Fatal(err)
	}
	ready := func(keys *seal.Keys, status int, text string) {
		t.Helper()
		its := *s.bank.Core
		its.Keysets = keysets.New(s.bank.DB, keys, time.Now)
		delete(s.health.fits, s.realm) // it was looked at a minute ago
		look := s.health.job(&bank{Core: &its},
			(&settings{DatabaseURL: "given"}).kept(slog.Default(), slog.Default())).tick
		if _, err := look(s.operator); err != nil {
			t.Fatal(err)
		}
		answer := httptest.NewRecorder()
		readiness(s.bank.Core, s.health, func() bool { return false }, true).
			ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/readyz", http.NoBody))
		if answer.Code != status || !strings.Contains(answer.Body.String(), text) {
			t.Errorf("%d %q lacks %q", answer.Code, answer.Body, text)
		}
	}
	ready(s.bank.Keys, http.StatusOK, "ready")
	ready(seal.New(), http.StatusServiceUnavailable, "bank "+s.realm)
	ready(s.bank.Keys, http.StatusOK, "ready")
}

// Operators see what the last proof of each bank has found, and for how long it stands.
func TestOperatorsSeeWhatTheLastProofHasFound(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	m := newMeters(nil)
	tick := newProving(m).job(s.bank, time.Hour).tick
	metrics := func() string {
		answer := httptest.NewRecorder()
		m.handler(http.NotFoundHandler()).ServeHTTP(answer,
			httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
		return answer.Body.String()
	}
	for begun := true; begun; time.Sleep(time.Millisecond) { // until it has been carried out
		var err error
		if begun, err = tick(s.operator); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{
		fmt.Sprintf(`bankgraph_proof_violations{invariant="I3",tenant=%q} 0`, s.realm),
		fmt.Sprintf(`bankgraph_proof_age_seconds{tenant=%q} 0.`, s.realm),
		fmt.Sprintf(`bankgraph_proof_seconds{tenant=%q} `, s.realm),
	} {
		if shown := metrics(); !strings.Contains(shown, want) {
			t.Errorf("%q is not among %s", want, shown)
		}
	}
	if _, err := tick(access.With(context.Background(), access.Caller{})); !errors.Is(err, access.ErrDenied) {
		t.Errorf("asked by nobody: %v", err)
	}
}

// Any number of callers may ask at once whether the service is ready. They share one check, which goes on
// even if a caller leaves.
func TestManyWhoAskForReadinessShareOneLook(t *testing.T) {
	t.Parallel()
	var looks atomic.Int32
	looking, end := make(chan struct{}), make(chan struct{})
	p := &pulse{look: func(ctx context.Context) string {
		if looks.Add(1) == 1 {
			close(looking)
			<-end
			if ctx.Err() != nil {
				return "who asked went away"
			}
		}
		return ""
	}}
	gone, leave := context.WithCancel(t.Context())
	var all sync.WaitGroup
	ask := func(ctx context.Context) {
		all.Go(func() {
			if trouble := p.trouble(ctx); trouble != "" {
				t.Error(trouble)
			}
		})
	}
	ask(gone)
	<-looking
	leave()
	for range 1000 {
		ask(t.Context())
	}
	close(end)
	all.Wait()
	if n := looks.Load(); n != 1 {
		t.Errorf("%d looks", n)
	}
}

// That the database answers is remembered for a moment; that it does not is not remembered.
func TestTroubleOfTheDatabaseIsNotRemembered(t *testing.T) {
	t.Parallel()
	looks := 0
	p := &pulse{look: func(context.Context) string {
		if looks++; looks == 1 {
			return "the database does not answer"
		}
		return ""
	}}
	for i, want := range []string{"the database does not answer", "", ""} {
		if got := p.trouble(t.Context()); got != want {
			t.Errorf("%d: %q", i, got)
		}
	}
	if looks != 2 {
		t.Errorf("%d looks", looks)
	}
}
