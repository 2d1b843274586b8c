package ledger_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
	"bankgraph/db"
)

// proven proves the books of a bank now, as its staff.
func proven(t *testing.T, b *coretest.Bank) *ledger.Proof {
	t.Helper()
	proof, err := b.Ledger.Proof(b.Staff(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return proof
}

func TestAProofTellsEachInvariantAndWhatBreaksIt(t *testing.T) {
	t.Parallel()
	b := coretest.Alone(t)
	b.Account(b.Customer())
	proof := proven(t, b)
	if !proof.Holds() || len(proof.Invariants) < 10 || proof.FinishedAt.Before(proof.StartedAt) {
		t.Errorf("%+v", proof)
	}
	// 101 journals without postings: all are counted, 100 are shown.
	if _, err := b.Owner().ExecContext(t.Context(), `INSERT INTO journals (tenant, id, kind, value_date,
		booked_at)
		SELECT ?, 1000 + n, 'opening', '2026-11-18', now() FROM generate_series(1, 101) AS n`,
		b.Tenant); err != nil {
		t.Fatal(err)
	}
	for _, one := range proven(t, b).Invariants {
		switch {
		case one.Says == "":
			t.Errorf("%s says nothing", one.Name)
		case one.Name == "I1":
			if one.Holds() || one.Count != 101 || len(one.Violations) != 100 ||
				one.Violations[0].What != "has no postings" {
				t.Errorf("%d, of which %d are shown", one.Count, len(one.Violations))
			}
		case !one.Holds():
			t.Errorf("%+v", one)
		}
	}
}

// All who ask at once share one proof, and later ones that may be older have the last.
func TestOneProofOfABankRunsAtATime(t *testing.T) {
	t.Parallel()
	b := coretest.Alone(t)
	b.Account(b.Customer())
	var askers sync.WaitGroup
	var mu sync.Mutex
	started := map[time.Time]int{}
	for range 20 {
		askers.Go(func() {
			proof, err := b.Ledger.Proof(b.Staff(), time.Hour)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
				return
			}
			started[proof.StartedAt.UTC().Truncate(time.Microsecond)]++
		})
	}
	askers.Wait()
	if len(started) != 1 {
		t.Errorf("%d proofs were carried out: %v", len(started), started)
	}
	last, begun, err := b.Ledger.ProveAgain(access.Operator(t.Context(), b.Tenant, b.Code, nil), time.Hour)
	if err != nil || begun || last == nil || started[last.StartedAt.UTC()] != 20 {
		t.Errorf("%+v, %t, %v", last, begun, err)
	}
}

// While another process proves, callers hear that they should ask again.
func TestAProofThatAnotherProcessCarriesOutIsWaitedFor(t *testing.T) {
	t.Parallel()
	b := coretest.Alone(t)
	b.Account(b.Customer())
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if held, err := db.BooksProof.TryTx(ctx, tx, int64(b.Tenant)); err != nil || !held {
			t.Error(held, err)
		}
		if _, err := b.Ledger.Proof(b.Staff(), 0); !errors.Is(err, ledger.ErrProving) {
			t.Error(err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	proven(t, b)
}

func TestOnlyTheBankAsksForAProof(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	for name, ctx := range map[string]context.Context{
		"a partner": b.Partner(b.DownstreamPartner()), "somebody without the right": b.As(access.ViewAccounts),
		"somebody of a customer": b.PersonOf(b.Self, b.User(b.Self, nil)), "nobody": b.Nobody(),
	} {
		if _, err := b.Ledger.Proof(ctx, time.Hour); !errors.Is(err, access.ErrDenied) &&
			!errors.Is(err, access.ErrUnauthenticated) && !errors.Is(err, ledger.ErrBankProves) {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := b.Ledger.ProveAgain(ctx, time.Hour); !errors.Is(err, access.ErrDenied) &&
			!errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A worker that finds the last proof too old begins one, and finds it done later.
func TestWorkersProveAgainWhenItIsTime(t *testing.T) {
	t.Parallel()
	b := coretest.Alone(t)
	b.Account(b.Customer())
	operator := access.Operator(t.Context(), b.Tenant, b.Code, nil)
	last, begun, err := b.Ledger.ProveAgain(operator, time.Hour)
	if err != nil || !begun || last != nil {
		t.Fatal(last, begun, err)
	}
	proof, err := b.Ledger.Proof(b.Staff(), time.Hour) // the one that was begun
	if err != nil {
		t.Fatal(err)
	}
	last, begun, err = b.Ledger.ProveAgain(operator, time.Hour)
	if err != nil || begun || last == nil || !last.StartedAt.Equal(proof.StartedAt.Truncate(time.Microsecond)) {
		t.Error(last, begun, err)
	}
	if _, err := b.Owner().ExecContext(t.Context(),
		`UPDATE proofs SET finished_at = finished_at - interval '2 hours'`); err != nil {
		t.Fatal(err)
	}
	if last, begun, err = b.Ledger.ProveAgain(operator, time.Hour); err != nil || !begun ||
		last.Age() < time.Hour {
		t.Error(last, begun, err)
	}
	proven(t, b)
}
