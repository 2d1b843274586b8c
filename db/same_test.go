package db_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// Also where the server keeps the number of its cluster to itself, and where nobody can connect yet.
func TestSameDatabaseTellsTwoDatabasesApart(t *testing.T) {
	t.Parallel()
	one, two := dbtest.URL(t), dbtest.URL(t)
	look := func(what string) {
		if err := db.SameDatabase(t.Context(), dbtest.Owner(one), one); err != nil {
			t.Errorf("%s: of one: %v", what, err)
		}
		if err := db.SameDatabase(t.Context(), dbtest.Owner(one), two); !errors.Is(err, db.ErrOther) {
			t.Errorf("%s: of two: %v", what, err)
		}
	}
	look("as it is")
	config, err := pgx.ParseConfig(one)
	if err != nil {
		t.Fatal(err)
	}
	nobody := strings.Replace(one, config.Database, "nobodys", 1)
	if err := db.SameDatabase(t.Context(), dbtest.Owner(one), nobody); err != nil {
		t.Errorf("where the service cannot connect: %v", err)
	}
	conn, err := pgx.Connect(t.Context(), dbtest.Owner(one))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(),
		"REVOKE EXECUTE ON FUNCTION pg_control_system() FROM PUBLIC"); err != nil {
		t.Fatal(err)
	}
	look("without the number of the cluster")
}
