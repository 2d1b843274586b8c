package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// Reads that a dead replica does not answer take at most half of the primary's connections for reads; the
// other half stays for reads that need the primary.
func TestADeadReplicasReadsHaveAShareOfTheDatabase(t *testing.T) {
	t.Parallel()
	d, err := db.Open(dbtest.URL(t), db.Options{
		Connections: 2, ReadURL: "postgres://nobody@/none?host=" + t.TempDir(),
		Caller: func(context.Context) (int64, string, bool) { return 1, "somebody", true },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	slow, quick := db.NewQuery[db.Count](`SELECT 1::bigint AS n FROM pg_sleep(4)`),
		db.NewQuery[db.Count](`SELECT 1::bigint AS n`)
	read := func(b *db.Batch, text *db.Query[db.Count]) error {
		db.Queue(b, text)
		return b.Send(t.Context())
	}
	if err := read(d.Batch(), quick); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- read(d.Batch(), slow) }()
	time.Sleep(500 * time.Millisecond)
	if err := read(d.Batch(), quick); !errors.Is(err, db.ErrBusy) {
		t.Errorf("a second one finds room: %v", err)
	}
	if err := read(d.PrimaryBatch(), quick); err != nil {
		t.Errorf("nothing is left for others: %v", err)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if state, _ := d.Replica(); state.Used || state.Fallbacks != 3 {
		t.Errorf("%+v", state)
	}
}
