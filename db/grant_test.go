package db_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

func TestARightGivenByHandIsTakenAwayAgain(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	role := roleAlone(t, url, "grantee")
	execute(t, dbtest.Owner(url), "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+role,
		"GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO "+role,
		"CREATE TABLE later (n int)",
		"REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC",
		"GRANT CREATE ON SCHEMA public TO PUBLIC, "+role,
		"GRANT CREATE ON DATABASE "+config(t, url).Database+" TO PUBLIC, "+role)
	service := as(url, role)
	if ways, err := open(t, service).Weak(t.Context()); err != nil || len(ways) != 2 ||
		!strings.Contains(ways[0], "in the schema") || !strings.Contains(ways[1], "in the database") {
		t.Errorf("before: %v %v", ways, err)
	}
	for range 2 { // as at every start
		if err := db.Grant(t.Context(), dbtest.Owner(url), service); err != nil {
			t.Fatal(err)
		}
	}
	d := open(t, service)
	for statement, want := range map[string]outcome{
		`UPDATE postings SET amount = 5`:                   refused,
		`TRUNCATE accounts CASCADE`:                        refused,
		`DELETE FROM bun_migrations`:                       refused,
		`SELECT count(*) FROM bun_migrations`:              oneRow,
		`SELECT count(*) FROM postings`:                    oneRow,
		`SELECT nextval('journal_ids')`:                    oneRow,
		`SELECT setval('journal_ids', 1)`:                  refused,
		`DELETE FROM audit_former`:                         refused,
		`UPDATE audit_former SET customer = 1`:             refused,
		`UPDATE audit_former SET entry = 1`:                nothing,
		`SELECT name_words(1, 'a') @@ name_search(1, 'a')`: oneRow,
		// a table that was created after the first grant
		`INSERT INTO later VALUES (1)`:   oneRow,
		`UPDATE accounts SET name = 'x'`: nothing,
		`CREATE FUNCTION public.format(text, int) RETURNS text LANGUAGE sql AS 'SELECT 1'`: refused,
		`CREATE SCHEMA of_its_own`:                                 refused,
		`CREATE TEMP TABLE arrivals ON COMMIT DROP AS SELECT 1`:    oneRow,
		`ALTER ROLE ` + role + ` BYPASSRLS`:                        refused,
		`ALTER TABLE accounts DISABLE ROW LEVEL SECURITY`:          refused,
		`SELECT set_config('session_replication_role', '1', true)`: refused,
	} {
		if got := in(t, d, 1, statement); got != want {
			t.Errorf("%s: %s, want %s", statement, got, want)
		}
	}
	if ways, err := d.Weak(t.Context()); err != nil || len(ways) > 0 {
		t.Errorf("afterwards: %v %v", ways, err)
	}
}

// With a single role, which owns the tables, row security still binds it.
func TestTheOnlyRoleIsBoundToo(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	only := asOnlyRole(t, url)
	if err := db.Grant(t.Context(), only, only); err != nil {
		t.Fatal(err)
	}
	tables := tablesOfBanks(t, url)
	rowInEach(t, dbtest.Owner(url), tables)
	d := open(t, only)
	for _, table := range tables {
		is := fill(table)
		for statement, want := range map[string]outcome{
			`INSERT INTO $table ($bank) VALUES (2)`:           refused,
			`UPDATE $table SET $bank = $bank WHERE $bank = 2`: nothing, `DELETE FROM $table WHERE $bank = 2`: nothing,
			`UPDATE $table SET $bank = $bank`: oneRow, `DELETE FROM $table`: oneRow,
		} {
			if table.onlyGrows() && want == oneRow {
				want = nothing
			}
			if got := in(t, d, 1, is(statement)); got != want {
				t.Errorf("%s: %s, want %s", is(statement), got, want)
			}
		}
	}
	ways, err := d.Weak(t.Context())
	if err != nil || len(ways) != 1 || !strings.Contains(ways[0], "_only owns the tables: it is bound") {
		t.Errorf("%v %v", ways, err)
	}
	for range 1000 { // and everything can be undone by it
		if _, err := db.MigrateDown(t.Context(), only); err != nil {
			if !errors.Is(err, db.ErrNothingToUndo) {
				t.Error(err)
			}
			break
		}
	}
	if left := catalogue(t, dbtest.Owner(url)); left != "" {
		t.Errorf("left after undoing all:\n%s", left)
	}
}

func TestAWeakWallIsNamed(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	if ways, err := open(t, url).Weak(t.Context()); err != nil || len(ways) > 0 {
		t.Errorf("the service: %v %v", ways, err)
	}
	ways, err := open(t, dbtest.Owner(url)).Weak(t.Context())
	if err != nil || len(ways) != 2 ||
		!slices.ContainsFunc(ways,
			func(way string) bool { return strings.Contains(way, "bypasses row security") }) {
		t.Errorf("a superuser that owns the tables: %v %v", ways, err)
	}
}

func TestARoleThatIsNotThereIsNamed(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	if err := db.Grant(t.Context(), dbtest.Owner(url), as(url, "nobody_at_all")); err == nil ||
		!strings.Contains(err.Error(), "nobody_at_all") {
		t.Error(err)
	}
}

// As db/migrations/README.md says of migrations that change rows.
func TestAMigrationChangesRowsFromBankToBank(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	only := asOnlyRole(t, url)
	rowInEach(t, dbtest.Owner(url), tablesOfBanks(t, url))
	const change = `UPDATE customers SET note = 'filled' WHERE note <> 'filled'`
	filled := func() (n int) {
		if err := connect(t, dbtest.Owner(url)).QueryRow(t.Context(),
			`SELECT count(*) FROM customers WHERE note = 'filled'`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		return n
	}
	migrate(t, only, files("90000000000001_at_once.tx.up.sql", change))
	if n := filled(); n != 0 {
		t.Errorf("at once: %d rows", n)
	}
	manner, err := fs.ReadFile(db.Migrations, "README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sql\n(DO .*?)```").FindSubmatch(manner)
	if block == nil {
		t.Fatal("the README does not show how")
	}
	migrate(t, only,
		files("90000000000001_at_once.tx.up.sql", change, "90000000000002_by_bank.tx.up.sql", string(block[1])))
	if n := filled(); n != 2 {
		t.Errorf("from bank to bank: %d rows", n)
	}
}

// asOnlyRole recreates the schema with an ordinary role as its owner, and returns that role's URL.
func asOnlyRole(t *testing.T, url string) string {
	t.Helper()
	role := roleAlone(t, url, "only")
	execute(t, dbtest.Owner(url), "DROP SCHEMA public CASCADE", "CREATE SCHEMA public AUTHORIZATION "+role)
	only := as(url, role)
	if err := db.Migrate(t.Context(), only); err != nil {
		t.Fatal(err)
	}
	return only
}

// roleAlone makes a role, and drops it when the test ends, as roles belong to the whole server.
func roleAlone(t *testing.T, url, name string) string {
	t.Helper()
	role := fmt.Sprintf("%s_%s", config(t, url).Database, name)
	execute(t, dbtest.Owner(url), "CREATE ROLE "+role)
	t.Cleanup(func() {
		conn := connect(t, dbtest.Owner(url))
		_, err := conn.Exec(context.Background(), "DROP OWNED BY "+role+" CASCADE; DROP ROLE "+role)
		if err != nil {
			t.Error(err)
		}
	})
	return role
}

// as returns the URL for another role.
func as(url, role string) string {
	others, _, _ := strings.Cut(url, "role=")
	return others + "role=" + role
}

func execute(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn := connect(t, url)
	for _, statement := range statements {
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
