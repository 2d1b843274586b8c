package db_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// opened returns a database of its own.
func opened(t *testing.T) *db.DB {
	t.Helper()
	d, err := db.Open(dbtest.URL(t), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

// What a report reads over several connections is one moment of the database, whatever is written meanwhile.
func TestAReportSeesOneMomentOverAllItsConnections(t *testing.T) {
	t.Parallel()
	d := opened(t)
	const n, wide = 12, 3
	seen, over := make([]int, n), make([]int, n)
	var first sync.WaitGroup
	first.Add(wide) // so many work at a time, or this waits for ever
	err := d.Report(t.Context(), time.Minute, wide, func(ctx context.Context, r *db.Report) error {
		if err := r.Tx.NewRaw(`SELECT 1`).Scan(ctx, new(int)); err != nil {
			return err
		}
		return r.Each(ctx, n, func(ctx context.Context, tx bun.Tx, i int) error {
			if i < wide {
				first.Done()
				first.Wait()
				if err := d.InTx(ctx, 0, adding(fmt.Sprint("later-", i))); err != nil {
					return err
				}
			}
			return tx.NewRaw(`SELECT count(*) FILTER (WHERE code LIKE 'later-%'), pg_backend_pid()
				FROM tenants`).
				Scan(ctx, &seen[i], &over[i])
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	connections := map[int]bool{}
	for i := range n {
		connections[over[i]] = true
		if seen[i] != 0 {
			t.Errorf("%d sees %d banks that came later", i, seen[i])
		}
	}
	if len(connections) != wide {
		t.Errorf("%d connections, want %d", len(connections), wide)
	}
}

func TestAPartOfAReportThatFailsEndsTheOthers(t *testing.T) {
	t.Parallel()
	d, broken := opened(t), errors.New("broken")
	for _, failing := range []int{0, 1} {
		err := d.Report(t.Context(), time.Minute, 2, func(ctx context.Context, r *db.Report) error {
			return r.Each(ctx, 2, func(ctx context.Context, tx bun.Tx, i int) error {
				if i == failing {
					return broken
				}
				_, err := tx.ExecContext(ctx, `SELECT pg_sleep(50)`)
				return err
			})
		})
		if !errors.Is(err, broken) {
			t.Errorf("%v, want that of the part that failed", err)
		}
	}
}

func TestReportsWaitForEachOther(t *testing.T) {
	t.Parallel()
	d := opened(t)
	err := d.Report(t.Context(), time.Minute, 1, func(ctx context.Context, _ *db.Report) error {
		ctx, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		defer cancel()
		err := d.Report(ctx, time.Minute, 1, func(context.Context, *db.Report) error { return nil })
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a second report runs beside the first: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
