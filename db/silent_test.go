package db_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// A server, or a proxy before it, that takes connections and says nothing is gone for its silence, no longer.
func TestReadsComeBackWithAServerThatWasSilent(t *testing.T) {
	t.Parallel()
	var silent atomic.Bool
	way := wayThrough(t, dbtest.Shared(t), func() bool { return !silent.Load() })
	d, err := db.Open(way, db.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { go d.Close() })
	one := db.NewQuery[db.Count](`SELECT count(*) AS n FROM tenants WHERE id = $1`)
	read := func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second) // as a request has
		defer cancel()
		_, err := db.ReadPrimary(ctx, d, one, int64(1))
		return err
	}
	if err := d.QueryRowContext(t.Context(), "SELECT 1").Scan(new(int)); err != nil { // the way is known
		t.Fatal(err)
	}
	silent.Store(true)
	failed := make(chan error, 4)
	for range 4 {
		go func() { failed <- read() }()
	}
	for range 4 {
		if err := <-failed; err == nil {
			t.Fatal("a silent server was read from")
		}
	}
	silent.Store(false)
	began := time.Now()
	for time.Since(began) < 150*time.Second {
		if err = read(); err == nil {
			break
		}
	}
	if took := time.Since(began).Round(time.Second); err != nil || took > 15*time.Second {
		t.Errorf("the server answers, but reads did not for %v: %v", took, err)
	}
}
