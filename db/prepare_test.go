package db_test

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// notes returns a database of its own with a table that tests may change, and one connection.
func notes(t *testing.T) (d *db.DB, owner *pgx.Conn) {
	t.Helper()
	url := dbtest.URL(t)
	owner, err := pgx.Connect(t.Context(), dbtest.Owner(url))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Close(context.Background()) })
	change(t, owner,
		`CREATE TABLE notes (id int PRIMARY KEY, small smallint, text text, words text[], at timestamptz);
		GRANT ALL ON notes TO PUBLIC`)
	if d, err = db.Open(url, db.Options{Connections: 1}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, owner
}

func change(t *testing.T, owner *pgx.Conn, text string) {
	t.Helper()
	if _, err := owner.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
		t.Fatal(err)
	}
}

type note struct {
	bun.BaseModel `bun:"table:notes"`

	ID    int32    `bun:"id,pk"`
	Small *int16   `bun:"small"`
	Text  *string  `bun:"text"`
	Words []string `bun:"words,array"`
}

// prepared returns the statements that the connection of a transaction has prepared.
func prepared(t *testing.T, d *db.DB) (texts []string) {
	t.Helper()
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		texts = nil
		return tx.NewRaw(`SELECT statement FROM pg_prepared_statements`).Scan(ctx, &texts)
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// Whatever its values, a model's statement has one text, so it is prepared, and its result stays the same.
func TestAStatementThatComesAgainIsPrepared(t *testing.T) {
	t.Parallel()
	d, _ := notes(t)
	small, text := int16(-7), "'; DROP TABLE notes; --\\"
	all := []note{{ID: 1}, {ID: 2, Small: &small}, {ID: -3, Text: &text}}
	for id := range int32(6) {
		all = append(all, note{ID: 10 + id, Small: &small, Text: &text, Words: []string{"a,b", `"`, "NULL"}[:id%4]})
	}
	for i := range all {
		err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.NewInsert().Model(&all[i]).Exec(ctx); err != nil {
				return err
			}
			var same bool
			err := db.Raw(tx, `SELECT count(*) = 1 FROM notes WHERE id = ? AND id BETWEEN ? AND ?`, all[i].ID,
				all[i].ID-1, int64(all[i].ID)+1).Scan(ctx, &same)
			if err == nil && !same {
				t.Errorf("%d is not found", all[i].ID)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	texts := prepared(t, d)
	for _, begins := range []string{"INSERT INTO", "SELECT count(*)"} {
		if n := len(slices.DeleteFunc(slices.Clone(texts),
			func(text string) bool { return !strings.HasPrefix(text, begins) })); n != 1 {
			t.Errorf("%d texts of %s are prepared: %q", n, begins, texts)
		}
	}
	var back []note
	if err := d.NewSelect().Model(&back).Order("id").Scan(t.Context()); err != nil || len(back) != len(all) {
		t.Fatal(back, err)
	}
	if got := back[0]; got.ID != -3 || got.Small != nil || *got.Text != text || got.Words != nil {
		t.Errorf("%+v", got)
	}
	for i, got := range back[3:] {
		if want := all[3+i]; got.ID != want.ID || *got.Small != small || *got.Text != text ||
			!slices.Equal(got.Words, want.Words) {
			t.Errorf("%+v", got)
		}
	}
}

func TestAMigrationUnderAPreparedStatementIsNoticedByNobody(t *testing.T) {
	t.Parallel()
	d, owner := notes(t)
	look := func() error {
		return d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			var id int
			err := db.Raw(tx, `SELECT id FROM (SELECT n.* FROM notes AS n WHERE n.id = ?) AS n`, 1).
				Scan(ctx, &id)
			var row string
			return cmp.Or(err, db.Raw(tx, `SELECT small FROM notes WHERE id = ?`, 1).Scan(ctx, &row))
		})
	}
	change(t, owner, `INSERT INTO notes VALUES (1, 2, 'x', '{}', now())`)
	for range 6 {
		if err := look(); err != nil {
			t.Fatal(err)
		}
	}
	if texts := prepared(t, d); len(texts) != 2 {
		t.Fatalf("%q", texts)
	}
	change(t, owner, `ALTER TABLE notes ALTER small TYPE text, ADD more int`) // another type in the result
	if err := look(); err != nil {
		t.Errorf("after the migration: %v", err)
	}
}

// Statements that are not repeated are not kept, however many there are.
func TestTextsThatDifferAreNotPrepared(t *testing.T) {
	t.Parallel()
	d, _ := notes(t)
	err := d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
		for range 300 {
			var is bool
			if err := tx.NewRaw(`SELECT ? = ? AS "`+rand.Text()+`"`, "a", "a").Scan(ctx, &is); err != nil || !is {
				return err
			}
		}
		return nil
	})
	if texts := prepared(t, d); err != nil || len(texts) != 0 {
		t.Errorf("%d %v", len(texts), err)
	}
}

// A text that looks like an escape stays unchanged, in JSON too.
func TestJSONIsBoundAsItIs(t *testing.T) {
	t.Parallel()
	d, _ := notes(t)
	for _, text := range []string{`a\u0000b`, `a\\u0000b`, `\`, `'`, `\'`, `"`, "\u2028", `\u0041`, ""} {
		var back string
		err := d.NewRaw(`SELECT ?::json ->> 'text'`, map[string]string{"text": text}).Scan(t.Context(), &back)
		if err != nil || back != text {
			t.Errorf("%q comes back as %q: %v", text, back, err)
		}
	}
}
