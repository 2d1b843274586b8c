package db_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/cluster"
	"bankgraph/db/dbtest"
)

// After a failover the former primary may answer at the old address, as a standby: what is read there is
// stale, and nothing can be written.
func TestAStandbyIsNotTheDatabase(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, dbtest.Streaming)
	standby := cluster.ServiceURL(server.Replica().URL())
	work := func(url string) (write, read, ready error) {
		t.Helper()
		d, err := db.Open(url, db.Options{Connections: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		write = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, `SELECT 1`)
			return err
		})
		b := d.Batch()
		db.Queue(b, db.NewQuery[db.Count](`SELECT 1::bigint AS n`))
		return write, b.Send(t.Context()), d.Ready(t.Context())
	}
	write, read, ready := work(standby)
	if !db.IsUnavailable(write) || !db.IsUnavailable(read) || ready == nil {
		t.Errorf("a standby is written to: %v, read: %v, is ready: %v", write, read, ready)
	}
	both := server.Service
	for i, url := range []string{standby, server.Service} {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			both = fmt.Sprintf("user=%s dbname=%s target_session_attrs=read-write host=%s", config.User,
				config.Database, config.Host)
			continue
		}
		both += fmt.Sprintf(",%s port=%d", config.Host, config.Port)
	}
	if write, read, ready := work(both); write != nil || read != nil || ready != nil {
		t.Errorf("of a standby and a primary: %v, %v, %v", write, read, ready)
	}
}
