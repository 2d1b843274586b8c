package db_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

func TestAReadThatIsGivenUpStopsOnTheServer(t *testing.T) {
	t.Parallel()
	d, err := db.Open(dbtest.URL(t), db.Options{Connections: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	b := d.Batch()
	rows := db.Queue(b, db.NewQuery[db.Count](`SELECT 1::bigint AS n FROM (SELECT pg_sleep(60)) AS given_up`))
	if err := b.Send(ctx); !errors.Is(err, context.DeadlineExceeded) || rows.Err == nil {
		t.Fatalf("the read answers %v, its rows %v", err, rows.Err)
	}
	running := 1
	for end := time.Now().Add(20 * time.Second); running > 0 &&
		time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		err := d.NewRaw(
			`SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%AS given\_up'
				AND pid <> pg_backend_pid()`).Scan(t.Context(), &running)
		if err != nil {
			t.Fatal(err)
		}
	}
	if running > 0 {
		t.Error("the statement still runs")
	}
}

func TestNothingStaysPreparedForAnOldPooler(t *testing.T) {
	t.Parallel()
	for _, unprepared := range []bool{true, false} {
		d, err := db.Open(dbtest.URL(t), db.Options{Connections: 1, Unprepared: &unprepared})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		count := db.NewQuery[db.Count](`SELECT count(*) AS n FROM pg_prepared_statements
			WHERE $1 > 0::bigint`)
		var rows *db.Rows[db.Count]
		for range 2 { // the second runs on what the first has left
			b := d.Batch()
			rows = db.Queue(b, count, 1)
			if err := b.Send(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if left, _ := rows.One(); (left.N == 0) != unprepared {
			t.Errorf("unprepared %v: %d statements are prepared", unprepared, left.N)
		}
	}
}
