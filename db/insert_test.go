package db_test

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// kinds has a column of each kind that a row can have.
type kinds struct {
	bun.BaseModel `bun:"table:kinds"`

	ID      int64
	Word    string
	Maybe   *string
	Default string `bun:",nullzero"` // by the table: "none"
	Small   int16
	Long    int64
	Wide    *int64
	Flag    bool
	At      time.Time
	Ends    *time.Time
	Bytes   []byte
	Said    json.RawMessage `bun:"type:json"`
}

// What many rows share goes to the server once. Whatever they share, and wherever they differ, each row is
// there as it was given.
func TestInsertedRowsAreThereAsGiven(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	execute(t, dbtest.Owner(url),
		`CREATE TABLE kinds (id bigint PRIMARY KEY, word text NOT NULL, maybe text,
			"default" text NOT NULL DEFAULT 'none',
			small smallint NOT NULL, long bigint NOT NULL, wide bigint, flag boolean NOT NULL, at timestamptz NOT NULL,
			ends timestamptz, bytes bytea NOT NULL, said json NOT NULL)`,
		`GRANT SELECT, INSERT, DELETE ON kinds TO PUBLIC`)
	d := open(t, url)
	day := time.Date(2026, 11, 1, 1, 30, 0, 123_000, time.UTC)
	change := map[string]func(*kinds){
		"nothing":       func(*kinds) {},
		"a word":        func(k *kinds) { k.Word = "other" },
		"no word":       func(k *kinds) { k.Word = "" },
		"a NULL":        func(k *kinds) { k.Maybe, k.Wide, k.Ends = nil, nil, nil },
		"an empty word": func(k *kinds) { k.Maybe = new("") },
		"numbers":       func(k *kinds) { k.Small, k.Long, k.Wide = -1, -1<<62, new(int64(0)) },
		"flag":          func(k *kinds) { k.Flag = false },
		"times":         func(k *kinds) { k.At, k.Ends = day.Add(time.Microsecond), new(day.Add(-time.Hour)) },
		"bytes":         func(k *kinds) { k.Bytes, k.Said = []byte{}, json.RawMessage(`{"a":1}`) },
	}
	for _, n := range []int{1, 2, 49, 50, 51, 300} {
		for what, changed := range change {
			for _, at := range []int{0, min(1, n-1), n - 1} {
				var rows, got []*kinds
				for i := range n {
					rows = append(rows, &kinds{
						ID: int64(i), Word: "w", Maybe: new("m"), Default: "d", Small: 7, Long: 1 << 40, Wide: new(int64(9)),
						Flag: true,
						At:   day, Ends: new(day), Bytes: []byte{0, 255}, Said: json.RawMessage(`[]`),
					})
				}
				changed(rows[at])
				err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
					if _, err := tx.NewRaw(`DELETE FROM kinds`).Exec(ctx); err != nil {
						return err
					}
					return db.InsertAtCommit(ctx, rows)
				})
				if err != nil {
					t.Fatalf("%d rows, %s in row %d: %v", n, what, at, err)
				}
				if err := d.NewSelect().Model(&got).Order("id").Scan(t.Context()); err != nil {
					t.Fatal(err)
				}
				if len(got) != n {
					t.Fatalf("%d rows, %s in row %d: %d are there", n, what, at, len(got))
				}
				for i := range rows {
					if said, read := fmt.Sprint(plain(rows[i])), fmt.Sprint(plain(got[i])); said != read {
						t.Errorf("%d rows, %s in row %d: row %d is %s, want %s", n, what, at, i, read, said)
					}
				}
			}
		}
	}
}

// Rows that leave a column to the table have the table's value, as long as none of them has one.
func TestWhatAllRowsLeaveOutIsTheTables(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	execute(t, dbtest.Owner(url), `CREATE TABLE kept (id bigint, word text NOT NULL DEFAULT 'none')`,
		`GRANT SELECT, INSERT ON kept TO PUBLIC`)
	d := open(t, url)
	type kept struct {
		bun.BaseModel `bun:"table:kept"`
		ID            int64
		Word          string `bun:",nullzero"`
	}
	rows := make([]*kept, 60) // alike in every column
	for i := range rows {
		rows[i] = &kept{ID: 1}
	}
	err := d.InTx(t.Context(), 0,
		func(ctx context.Context, _ bun.Tx) error { return db.InsertAtCommit(ctx, rows) })
	if err != nil {
		t.Fatal(err)
	}
	var n int
	if err := d.NewRaw(`SELECT count(*) FROM kept WHERE word = 'none' AND id = 1`).
		Scan(t.Context(), &n); err != nil ||
		n != len(rows) {
		t.Errorf("%d of %d rows (%v)", n, len(rows), err)
	}
}

// plain returns the values of a row, without pointers, and times in UTC.
func plain(row *kinds) (all []any) {
	v := reflect.ValueOf(row).Elem()
	for i := 1; i < v.NumField(); i++ {
		value := reflect.Indirect(v.Field(i))
		if !value.IsValid() {
			all = append(all, "NULL")
			continue
		}
		at, isTime := value.Interface().(time.Time)
		if isTime {
			all = append(all, at.UTC())
			continue
		}
		all = append(all, fmt.Sprintf("%q", fmt.Sprint(value.Interface())))
	}
	return all
}
