package db_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// No number that any sequence gave before a restore is given after it, whatever the sequence is called.
func TestARestoreLeavesOutNumbersOfEverySequence(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, `CREATE SEQUENCE of_tomorrow`); err != nil {
		t.Fatal(err)
	}
	next := func() map[string]int64 {
		given := map[string]int64{}
		rows, err := conn.Query(ctx, `SELECT sequencename,
			nextval(format('%I.%I', schemaname, sequencename)::regclass)
			FROM pg_sequences WHERE schemaname = current_schema()`)
		if err != nil {
			t.Fatal(err)
		}
		var name string
		var number int64
		if _, err := pgx.ForEachRow(rows, []any{&name, &number}, func() error {
			given[name] = number
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return given
	}
	before := next()
	if err := db.SkipNumbers(ctx, url, 2); err != nil {
		t.Fatal(err)
	}
	after := next()
	if len(after) < 30 || after["of_tomorrow"] == 0 {
		t.Fatalf("the sequences are %v", after)
	}
	for name, number := range after {
		if number <= before[name]+2*db.Skipped {
			t.Errorf("%s gives %d after a restore; it gave %d in the backup", name, number, before[name])
		}
	}
}
