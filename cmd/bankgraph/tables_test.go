package main_test

import (
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"bankgraph/db"
)

// Domains read each other's tables only where they declare it, and write only their own (core/README.md,
// Tables). The test finds SQL as the compiler knows it: constants, models, and arguments of db.Select.

// ofDB are the tables that db itself uses.
var ofDB = db.Tables{
	Own: []string{"last_writes"},
	Reads: map[string]string{
		"tenants": "how many banks a database has is asked before its migrations are known",
	},
}

// exempt are the packages that fill a bank, for the demo and for tests, and the bench.
var exempt = []string{"core/demo", "core/coretest", "db/dbtest", "cmd/bench"}

func TestEachTableHasOneOwner(t *testing.T) {
	t.Parallel()
	owners := map[string][]string{}
	for _, p := range typed(t) {
		for _, table := range p.declared().Own {
			owners[table] = append(owners[table], p.name)
		}
	}
	for _, table := range tablesThereAre(t) {
		if len(owners[table]) != 1 {
			t.Errorf("table %s is owned by %v: exactly one package has it in its Tables", table, owners[table])
		}
		delete(owners, table)
	}
	for table, by := range owners {
		t.Errorf("%v declares %s, which no migration creates", by, table)
	}
}

func TestSQLNamesOnlyDeclaredTables(t *testing.T) {
	t.Parallel()
	all := tablesThereAre(t)
	for _, p := range typed(t) {
		tables, found := p.declared(), p.uses(all)
		for _, use := range found {
			_, read := tables.Reads[use.table]
			switch {
			case slices.Contains(tables.Own, use.table):
			case use.writes:
				t.Errorf("%s: %s writes %s, which is not its own", use.at, p.name, use.table)
			case !read:
				t.Errorf("%s: %s names %s, which is not its own: call its owner, or say in Tables why "+
					"that will not do", use.at, p.name, use.table)
			}
		}
		for table, why := range tables.Reads {
			if why == "" || slices.Contains(tables.Own, table) {
				t.Errorf("%s declares that it reads %s without a need or a reason", p.name, table)
			}
			if !slices.ContainsFunc(found, func(u use) bool { return u.table == table }) {
				t.Errorf("%s declares that it reads %s, and does not", p.name, table)
			}
		}
	}
}

func TestUsesOfTablesAreFound(t *testing.T) {
	t.Parallel()
	all := []string{"accounts", "customers"}
	for text, want := range map[string]string{
		"SELECT FROM accounts AS a":                            "accounts",
		"SELECT 1 FROM (SELECT FROM\n\taccounts) AS x":         "accounts",
		"SELECT FROM other AS o, accounts AS a":                "accounts",
		"LEFT JOIN accounts AS a ON true":                      "accounts",
		"INSERT INTO accounts VALUES (1)":                      "accounts!",
		"UPDATE ONLY accounts SET x = 1":                       "accounts!",
		"DELETE FROM accounts USING customers AS c":            "accounts! customers",
		`SELECT FROM "accounts"`:                               "accounts",
		"SELECT FROM x FOR UPDATE OF accounts":                 "",
		"SELECT accounts FROM x":                               "",
		"the accounts of customers are read from old accounts": "",
	} {
		var got []string
		for table, writes := range namedIn(text, all) {
			got = append(got, table+map[bool]string{true: "!"}[writes])
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// tablesThereAre returns the tables that the migrations create, as the last one calls them.
func tablesThereAre(t *testing.T) (all []string) {
	t.Helper()
	files, err := filepath.Glob(root + "/db/migrations/*.up.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`(?m)^CREATE TABLE (\w+)`).FindAllStringSubmatch(string(text),
			-1) {
			all = append(all, found[1])
		}
		for _, found := range regexp.MustCompile(`(?m)^ALTER TABLE (\w+) RENAME TO (\w+)`).
			FindAllStringSubmatch(string(text),
				-1) {
			if at := slices.Index(all, found[1]); at >= 0 {
				all[at] = found[2]
			}
		}
	}
	if len(all) < 30 {
		t.Fatalf("found only %d tables", len(all))
	}
	return all
}

// namedIn returns the tables in an SQL text, and whether it writes them.
func namedIn(text string, all []string) map[string]bool {
	found := map[string]bool{}
	for _, m := range sqlTable.FindAllStringSubmatch(text, -1) {
		if slices.Contains(all, m[2]) {
			found[m[2]] = found[m[2]] || strings.HasPrefix(m[1], "INTO") ||
				strings.HasPrefix(m[1], "UPDATE") ||
				strings.HasPrefix(m[1], "DELETE")
		}
	}
	return found
}

var sqlTable = regexp.MustCompile(`(\b(?:DELETE FROM|FROM|JOIN|INTO|UPDATE|USING)(?: ONLY)?|,)\s+"?(\w+)"?`)

// use is one place where a package names a table.
type use struct {
	table  string
	writes bool
	at     token.Position
}
