package db_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// at returns, after a while, the pid of the server's process, which identifies the connection.
var at = db.NewQuery[db.Count](`SELECT pg_backend_pid()::bigint AS n FROM (SELECT pg_sleep($1)) AS a_while`)

// A caller who keeps giving up, hundreds of times a second, must not cost everybody's connections.
func TestWhoGoesAwayWhileReadingLeavesTheConnectionAsItWas(t *testing.T) {
	t.Parallel()
	d, err := db.Open(dbtest.Shared(t), db.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	ask := func(ctx context.Context, seconds float64) int64 {
		b := d.Batch()
		rows := db.Queue(b, at, seconds)
		if err := b.Send(ctx); err != nil {
			t.Fatal(err)
		}
		answer, err := rows.One()
		if err != nil {
			t.Fatal(err)
		}
		return answer.N
	}
	before := ask(t.Context(), 0)
	going, gone := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, gone)
	ask(going, 0.3)
	if after := ask(t.Context(), 0); going.Err() == nil || after != before {
		t.Errorf("connection %d became %d", before, after)
	}
}

func TestWhoGoesAwayWhileWritingLeavesTheConnectionAsItWas(t *testing.T) {
	t.Parallel()
	d, _ := single(t)
	bank := rand.Text()
	write := func(ctx context.Context, seconds float64,
		more func(context.Context, bun.Tx) error,
	) (pid int64, err error) {
		err = d.InTx(ctx, 0, func(ctx context.Context, tx bun.Tx) error {
			if err := more(ctx, tx); err != nil {
				return err
			}
			return tx.NewRaw(`SELECT pg_backend_pid() FROM (SELECT pg_sleep(?)) AS a_while`, seconds).
				Scan(ctx, &pid)
		})
		return pid, err
	}
	nothing := func(context.Context, bun.Tx) error { return nil }
	before, err := write(t.Context(), 0, nothing)
	if err != nil {
		t.Fatal(err)
	}
	going, gone := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, gone)
	if _, err := write(going, 0.3, adding(bank)); !errors.Is(err, context.Canceled) || there(t, d, bank) {
		t.Errorf("who went away: %v", err)
	}
	if after, err := write(t.Context(), 0, nothing); err != nil || after != before {
		t.Errorf("connection %d became %d, %v", before, after, err)
	}
}
