package dbtest_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"bankgraph/db/dbtest"
)

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func databaseOf(t *testing.T, url string) (name string) {
	t.Helper()
	if err := connect(t, url).QueryRow(context.Background(), "SELECT current_database()").
		Scan(&name); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestEveryCallGivesAnotherMigratedDatabase(t *testing.T) {
	t.Parallel()
	one, two := dbtest.URL(t), dbtest.URL(t)
	if databaseOf(t, one) == databaseOf(t, two) {
		t.Fatal("two calls gave the same database")
	}
	for _, url := range []string{one, two} {
		var migrated bool
		err := connect(t, url).QueryRow(context.Background(), "SELECT to_regclass('bun_migrations') IS NOT NULL").
			Scan(&migrated)
		if err != nil || !migrated {
			t.Fatalf("not migrated (%v)", err)
		}
	}
}

func TestTheDatabaseIsDroppedWithItsTest(t *testing.T) {
	t.Parallel()
	var name string
	t.Run("inner", func(t *testing.T) { name = databaseOf(t, dbtest.URL(t)) })
	var there bool
	err := connect(t, dbtest.Shared(t)).QueryRow(context.Background(),
		"SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name).Scan(&there)
	if err != nil || there {
		t.Fatalf("still there: %v %v", there, err)
	}
}

func TestTheSharedDatabaseIsOne(t *testing.T) {
	t.Parallel()
	if one, two := dbtest.Shared(t), dbtest.Shared(t); one != two {
		t.Fatalf("%s and %s", one, two)
	}
}

func BenchmarkFreshDatabase(b *testing.B) {
	for b.Loop() {
		dbtest.URL(b)
	}
}
