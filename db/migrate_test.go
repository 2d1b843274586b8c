package db_test

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// files returns migrations with versions after all real ones, so that these tests work on the bank's own
// schema.
func files(text ...string) fs.FS {
	set := fstest.MapFS{}
	for i := 0; i < len(text); i += 2 {
		set[text[i]] = &fstest.MapFile{Data: []byte(text[i+1])}
	}
	return set
}

var two = files(
	"90000000000001_first.tx.up.sql",
	"CREATE TABLE first (n int);\n--bun:split\nCREATE TABLE beside (n int);",
	"90000000000001_first.tx.down.sql", "DROP TABLE beside;\n--bun:split\nDROP TABLE first;",
	"90000000000002_second.tx.up.sql", "CREATE TABLE second (n int);",
	"90000000000002_second.tx.down.sql", "DROP TABLE second;",
)

func TestMigrationsGoUpDownAndUpAgain(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	migrate(t, url, two)
	migrate(t, url, two) // nothing to do
	demand(t, url, "first", "beside", "second")

	for _, want := range []string{"second", "first"} {
		undone, err := db.MigrateDownFrom(ctx, url, two)
		if err != nil || undone.Name != want {
			t.Fatalf("undid %q (%v), want %q", undone.Name, err, want)
		}
		refuse(t, url, want)
	}
	migrate(t, url, two)
	demand(t, url, "first", "beside", "second")
}

func TestAFailedMigrationLeavesNothing(t *testing.T) {
	t.Parallel()
	url := dbtest.Owner(dbtest.URL(t))
	broken := files(
		"90000000000001_first.tx.up.sql", "CREATE TABLE first (n int);",
		"90000000000002_half.tx.up.sql", "CREATE TABLE half (n int);\n--bun:split\nSELECT 1/0;",
		"90000000000003_never.tx.up.sql", "CREATE TABLE never (n int);",
	)
	err := db.MigrateFrom(context.Background(), url, broken)
	if err == nil || !strings.Contains(err.Error(), "90000000000002") {
		t.Fatalf("got %v", err)
	}
	demand(t, url, "first")
	refuse(t, url, "half", "never")

	mended := files(
		"90000000000001_first.tx.up.sql", "CREATE TABLE first (n int);",
		"90000000000002_half.tx.up.sql", "CREATE TABLE half (n int);",
	)
	migrate(t, url, mended) // the failed one was not marked, the first one was
	demand(t, url, "half")
}

func TestTheMarkBelongsToTheMigrationsTransaction(t *testing.T) {
	t.Parallel()
	url := dbtest.Owner(dbtest.URL(t))
	// If the mark cannot be written, the migration must not stay either.
	migrate(t, url, files("90000000000001_first.tx.up.sql",
		"ALTER TABLE bun_migrations ADD CONSTRAINT no_second CHECK (name <> '90000000000002');"))
	if err := db.MigrateFrom(context.Background(), url, two); err == nil {
		t.Fatal("migrated without a mark")
	}
	refuse(t, url, "second")
}

func TestProgramsThatMigrateTogetherTakeTurns(t *testing.T) {
	t.Parallel()
	url := dbtest.Owner(dbtest.URL(t))
	var group sync.WaitGroup
	for range 5 {
		group.Go(func() {
			if err := db.MigrateFrom(context.Background(), url, two); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	demand(t, url, "first", "beside", "second")
}

func TestAMigrationGivesWayToTrafficAndTriesAgain(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	busy := connect(t, url)
	for _, statement := range []string{"CREATE TABLE traffic (n int)", "BEGIN", "SELECT * FROM traffic"} {
		if _, err := busy.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	ended := make(chan error, 1)
	go func() {
		ended <- db.MigrateFrom(ctx, url,
			files("90000000000001_widen.tx.up.sql", "ALTER TABLE traffic ADD COLUMN more int;"))
	}()
	// The migration has let the traffic pass once it has queued for the table and left the queue again.
	other := connect(t, url)
	waits := func() (waiting bool) {
		err := other.QueryRow(ctx,
			"SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND relation = 'traffic'::regclass)").
			Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
		return waiting
	}
	for !waits() {
		time.Sleep(5 * time.Millisecond)
	}
	for waits() {
		time.Sleep(5 * time.Millisecond)
	}
	if _, err := busy.Exec(ctx, "COMMIT"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
}

func TestTheNewestVersionIsKnown(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	bank := bun.NewDB(stdlib.OpenDB(*config(t, url)), pgdialect.New())
	defer bank.Close()

	if version, err := db.SchemaVersion(ctx, bank); err != nil || version != db.LatestVersion() {
		t.Fatalf("version %q (%v), want %q", version, err, db.LatestVersion())
	}
	migrate(t, url, two)
	if version, err := db.SchemaVersion(ctx, bank); err != nil || version != "90000000000002" {
		t.Fatalf("version %q (%v)", version, err)
	}
	// A version of a newer program is known by number only, and left alone.
	status, err := db.MigrationStatus(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	newest := status[len(status)-1]
	if newest.Version != "90000000000002" || newest.Known || newest.Applied.IsZero() {
		t.Errorf("got %+v", newest)
	}
	if err := db.Migrate(ctx, url); err != nil {
		t.Errorf("an older program does not start: %v", err)
	}
	if len(status) > 2 { // the bank's own come before the two of the newer program
		if _, err := db.MigrateDown(ctx, url); err == nil || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("an older program undid what lies below a newer one's: %v", err)
		}
	}
}

func TestAnEmptyDatabaseHasNoVersionAndNothingToUndo(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	if _, err := connect(t, url).Exec(ctx, "DROP TABLE bun_migrations"); err != nil {
		t.Fatal(err)
	}
	bank := bun.NewDB(stdlib.OpenDB(*config(t, url)), pgdialect.New())
	defer bank.Close()
	if version, err := db.SchemaVersion(ctx, bank); err != nil || version != "" {
		t.Errorf("version %q (%v)", version, err)
	}
	if _, err := db.MigrateDownFrom(ctx, url, two); !errors.Is(err, db.ErrNothingToUndo) {
		t.Errorf("got %v", err)
	}
}

func TestTheBanksMigrationsGoDownAndUpAgain(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	before := catalogue(t, url)
	undone := 0
	for ; ; undone++ {
		_, err := db.MigrateDown(ctx, url)
		if errors.Is(err, db.ErrNothingToUndo) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if left := catalogue(t, url); left != "" {
		t.Errorf("after undoing all %d migrations there is still:\n%s", undone, left)
	}
	if err := db.Migrate(ctx, url); err != nil {
		t.Fatal(err)
	}
	if again := catalogue(t, url); again != before {
		t.Errorf("the second way up gives another schema:\n%s\nwant\n%s", again, before)
	}
}

// Every migration is transactional, has a number of the same form and can be undone.
func TestEveryMigrationIsAPair(t *testing.T) {
	t.Parallel()
	entries, err := fs.ReadDir(db.Migrations, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if name == "README.md" {
			continue
		}
		base, up := strings.CutSuffix(name, ".tx.up.sql")
		if !up {
			var down bool
			if base, down = strings.CutSuffix(name, ".tx.down.sql"); !down {
				t.Errorf("%s: want NUMBER_name.tx.up.sql or NUMBER_name.tx.down.sql", name)
				continue
			}
		}
		if number, _, _ := strings.Cut(base, "_"); len(number) != 14 {
			t.Errorf("%s: the number needs 14 digits", name)
		}
		for _, half := range []string{".tx.up.sql", ".tx.down.sql"} {
			if _, err := fs.Stat(db.Migrations, base+half); err != nil {
				t.Errorf("%s has no %s", base, half)
			}
		}
	}
}

// catalogue lists the content of the schema, without the table of marks.
func catalogue(t *testing.T, url string) string {
	t.Helper()
	rows, err := connect(t, url).Query(context.Background(), `
		SELECT kind || ' ' || what FROM (
			SELECT 'column', table_schema || '.' || table_name || '.' || column_name || ' ' || data_type || ' ' ||
				is_nullable || ' ' || coalesce(column_default, '') FROM information_schema.columns
				WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_name NOT LIKE 'bun\_%'
			UNION ALL SELECT 'index', indexdef FROM pg_indexes
				WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename NOT LIKE 'bun\_%'
			UNION ALL SELECT 'constraint', conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
				WHERE connamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
				AND conrelid::regclass::text NOT LIKE 'bun\_%'
			UNION ALL SELECT 'row security', oid::regclass || ' ' || relforcerowsecurity FROM pg_class
			  WHERE relrowsecurity
			UNION ALL SELECT 'policy', schemaname || '.' || tablename || ' ' || policyname || ' ' ||
				coalesce(qual, '') || ' ' || coalesce(with_check, '') FROM pg_policies
			UNION ALL SELECT 'sequence', schemaname || '.' || sequencename FROM pg_sequences
			  WHERE sequencename NOT LIKE 'bun\_%'
			UNION ALL SELECT 'function', oid::regprocedure::text FROM pg_proc
				WHERE pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
		) AS parts (kind, what) ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	parts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(parts, "\n")
}

func migrate(t *testing.T, url string, files fs.FS) {
	t.Helper()
	if err := db.MigrateFrom(context.Background(), url, files); err != nil {
		t.Fatal(err)
	}
}

func demand(t *testing.T, url string, tables ...string) { t.Helper(); tablesAre(t, url, true, tables) }

func refuse(t *testing.T, url string, tables ...string) { t.Helper(); tablesAre(t, url, false, tables) }

func tablesAre(t *testing.T, url string, want bool, tables []string) {
	t.Helper()
	conn := connect(t, url)
	for _, table := range tables {
		var there bool
		err := conn.QueryRow(context.Background(), "SELECT to_regclass($1) IS NOT NULL", table).Scan(&there)
		if err != nil || there != want {
			t.Errorf("table %s: there %v, want %v (%v)", table, there, want, err)
		}
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func config(t *testing.T, url string) *pgx.ConnConfig {
	t.Helper()
	c, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
