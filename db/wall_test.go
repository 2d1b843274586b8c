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
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// walled describes a table with rows of banks, from the catalogue.
type walled struct {
	Name     string
	Bank     string // the column with the bank's number
	Forced   bool   // whether row security binds the owner too
	Policies string
}

// onlyGrow lists the append-only tables.
var onlyGrow = []string{
	"journals", "postings", "payment_steps", "audit_entries", "audit_seals",
	"audit_checkpoints", "audit_restores", "virtual_postings", "sweep_runs", "sending_resumptions",
}

func (w walled) onlyGrows() bool { return slices.Contains(onlyGrow, w.Name) }

// keepsKeys reports whether the service's role neither deletes the table's rows nor changes their keys.
func (w walled) keepsKeys() bool { return w.onlyGrows() || w.Name == "audit_former" }

func tablesOfBanks(t *testing.T, url string) []walled {
	t.Helper()
	rows, err := connect(t, url).Query(t.Context(), `
		SELECT c.relname AS name, CASE c.relname WHEN 'tenants' THEN 'id' ELSE 'tenant' END AS bank,
		  c.relrowsecurity AND c.relforcerowsecurity AS forced,
		  coalesce((SELECT string_agg(concat_ws(' ', p.polcmd, CASE WHEN NOT p.polpermissive THEN 'RESTRICTIVE' END,
		      NULLIF(p.polroles, '{0}')::text, 'USING ' || pg_get_expr(p.polqual, c.oid),
		      'CHECK ' || pg_get_expr(p.polwithcheck, c.oid)), E'\n' ORDER BY p.polcmd)
		    FROM pg_policy AS p WHERE p.polrelid = c.oid), '') AS policies
		FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
		AND (c.relname = 'tenants' OR EXISTS (SELECT FROM pg_attribute AS a
		  WHERE a.attrelid = c.oid AND a.attname = 'tenant' AND NOT a.attisdropped))
		ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[walled])
	if err != nil || len(all) < 20 {
		t.Fatalf("%d tables (%v)", len(all), err)
	}
	return all
}

func TestEveryTableOfABankHasItsWall(t *testing.T) {
	t.Parallel()
	const bank = `(NULLIF(current_setting('bankgraph.tenant'::text, true), ''::text))::bigint`
	for _, table := range tablesOfBanks(t, dbtest.Shared(t)) {
		own := "(" + table.Bank + " = " + bank + ")"
		added := own
		if table.Name == "tenants" {
			added = "(" + bank + " = 0)"
		}
		want := "a CHECK " + added + "\nd USING " + own + "\nr USING true\nw USING " + own + " CHECK " + own
		if table.onlyGrows() {
			want = "a CHECK " + added + "\nr USING true"
		}
		if !table.Forced || table.Policies != want {
			t.Errorf("%s: forced %v, policies\n%s\nwant\n%s\nCall row_security in the migration that makes "+
				"it (db/migrations/README.md)", table.Name, table.Forced, table.Policies, want)
		}
	}
}

// Tables that all banks share have no tenant; only transactions of no bank write them. Only the records of
// migrations have no wall.
func TestEveryTableThatAllShareHasItsWall(t *testing.T) {
	t.Parallel()
	const no = `((NULLIF(current_setting('bankgraph.tenant'::text, true), ''::text))::bigint = 0)`
	rows, err := connect(t, dbtest.Shared(t)).Query(t.Context(), `
		SELECT c.relname AS name, '' AS bank, c.relrowsecurity AND c.relforcerowsecurity AS forced,
		  coalesce((SELECT string_agg(concat_ws(' ', p.polcmd, 'USING ' || pg_get_expr(p.polqual, c.oid),
		      'CHECK ' || pg_get_expr(p.polwithcheck, c.oid)), E'\n' ORDER BY p.polcmd)
		    FROM pg_policy AS p WHERE p.polrelid = c.oid), '') AS policies
		FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
		AND c.relname NOT IN ('tenants', 'bun_migrations', 'bun_migration_locks')
		AND NOT EXISTS (SELECT FROM pg_attribute AS a WHERE a.attrelid = c.oid AND a.attname = 'tenant'
			  AND NOT a.attisdropped)`)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByName[walled])
	if err != nil || len(all) < 3 {
		t.Fatalf("%d tables (%v)", len(all), err)
	}
	for _, table := range all {
		want := "a CHECK " + no + "\nd USING " + no + "\nr USING true\nw USING " + no + " CHECK " + no
		if table.Name == "bank_imports" {
			want = "a CHECK " + no + "\nr USING true"
		}
		if !table.Forced || table.Policies != want {
			t.Errorf("%s: forced %v, policies\n%s\nwant\n%s\nCall shared_wall in the migration that makes "+
				"it (db/migrations/README.md)", table.Name, table.Forced, table.Policies, want)
		}
	}
}

// Two banks have a row in every table; a transaction of bank 1 writes only rows of bank 1.
func TestATransactionWritesTheRowsOfItsBankOnly(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	tables := tablesOfBanks(t, url)
	rowInEach(t, dbtest.Owner(url), tables)
	d := open(t, url)
	for _, table := range tables {
		is := fill(table)
		for _, c := range []struct {
			statement string
			want      outcome
		}{
			{is(`INSERT INTO $table ($bank) VALUES (2)`), refused},
			{is(`UPDATE $table SET $bank = $bank WHERE $bank = 2`), nothing},
			{is(`UPDATE $table SET $bank = 1 WHERE $bank = 2`), nothing},
			{is(`UPDATE $table SET $bank = 2 WHERE $bank = 1`), refused},
			{is(`DELETE FROM $table WHERE $bank = 2`), nothing},
			{is(`UPDATE $table SET $bank = $bank`), oneRow},
			{is(`DELETE FROM $table`), oneRow},
			{is(`SELECT FROM $table WHERE $bank = 2`), oneRow},
		} {
			if table.keepsKeys() && !strings.HasPrefix(c.statement, "SELECT") {
				c.want = refused
			}
			if got := in(t, d, 1, c.statement); got != c.want {
				t.Errorf("in bank 1: %s: %s, want %s", c.statement, got, c.want)
			}
		}
	}
}

func TestOutsideATransactionOfABankNothingIsWritten(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	tables := tablesOfBanks(t, url)
	rowInEach(t, dbtest.Owner(url), tables)
	d := open(t, url)
	writable := open(t, url+mayWrite)
	for _, table := range tables {
		is := fill(table)
		for _, statement := range []string{
			is(`INSERT INTO $table ($bank) VALUES (1)`), is(`UPDATE $table SET $bank = $bank`),
			is(`DELETE FROM $table`),
		} {
			want := nothing
			if table.keepsKeys() || strings.HasPrefix(statement, "INSERT") {
				want = refused
			}
			for d, want := range map[*db.DB]outcome{d: readOnly, writable: want} {
				result, err := d.ExecContext(t.Context(), statement)
				if got := outcomeOf(t, result, err); got != want {
					t.Errorf("without a transaction: %s: %s, want %s", statement, got, want)
				}
			}
			if table.Name == "tenants" && strings.HasPrefix(statement, "INSERT") {
				continue // that is how a bank is added
			}
			if got := in(t, d, 0, statement); got != want {
				t.Errorf("in no bank: %s: %s, want %s", statement, got, want)
			}
		}
	}
}

func TestABankIsAddedInATransactionOfNoBank(t *testing.T) {
	t.Parallel()
	d := open(t, dbtest.URL(t))
	const add = `INSERT INTO tenants (code, name, zone, currency) VALUES ('NEW', 'New Bank', 'UTC', 'USD')`
	if got := in(t, d, 0, add); got != oneRow {
		t.Errorf("in no bank: %s", got)
	}
	if got := in(t, d, 1, add); got != refused {
		t.Errorf("in another bank: %s", got)
	}
}

func TestWhatOnlyGrowsIsNeverChanged(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	tables := tablesOfBanks(t, url)
	rowInEach(t, dbtest.Owner(url), tables)
	d := open(t, url)
	seen := 0
	for _, table := range tables {
		is := fill(table)
		if got := in(t, d, 1, is(`TRUNCATE $table CASCADE`)); got != refused {
			t.Errorf("%s is truncated: %s", table.Name, got)
		}
		if !table.onlyGrows() {
			continue
		}
		seen++
		for _, statement := range []string{
			`UPDATE $table SET $bank = $bank WHERE $bank = 1`, `DELETE FROM $table WHERE $bank = 1`,
			`SELECT FROM $table WHERE $bank = 1 FOR UPDATE`,
		} {
			if got := in(t, d, 1, is(statement)); got != refused {
				t.Errorf("%s: %s", is(statement), got)
			}
		}
	}
	if seen < 3 {
		t.Errorf("only %d tables grow", seen)
	}
}

func TestTheServiceCannotTakeTheWallDown(t *testing.T) {
	t.Parallel()
	d := open(t, dbtest.Shared(t))
	for _, statement := range []string{
		`ALTER TABLE accounts DISABLE ROW LEVEL SECURITY`, `ALTER TABLE accounts NO FORCE ROW LEVEL SECURITY`,
		`DROP POLICY bank_updates ON accounts`,
		`CREATE POLICY all_updates ON accounts FOR UPDATE USING (true)`, `SELECT row_security('accounts')`,
		`CREATE TABLE mine (n int)`, `DROP TABLE accounts`, `UPDATE bun_migrations SET name = name`,
	} {
		if got := in(t, d, 1, statement); got != refused {
			t.Errorf("%s: %s", statement, got)
		}
	}
}

func TestTheBankOfATransactionEndsWithIt(t *testing.T) {
	t.Parallel()
	url := dbtest.URL(t)
	// so that the next statement has the same connection
	d, err := db.Open(url+mayWrite, db.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	stay := errors.New("rolled back")
	for _, end := range []error{nil, stay} {
		err := d.InTx(t.Context(), 1, func(context.Context, bun.Tx) error { return end })
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		var left string
		if err := d.NewRaw(`SELECT coalesce(current_setting('bankgraph.tenant', true), '')`).Scan(t.Context(),
			&left); err != nil || left != "" {
			t.Errorf("after %v the bank is still %q (%v)", end, left, err)
		}
		_, err = d.ExecContext(t.Context(),
			`INSERT INTO tenants (id, code, name, zone, currency) VALUES (1, 'ONE', 'One', 'UTC', 'USD')`)
		if outcomeOf(t, nil, err) != refused {
			t.Errorf("after %v the next statement writes (%v)", end, err)
		}
	}
}

// A migration that changes rows sees none unless it sets the bank, as row security binds the owner too.
func TestAMigrationThatChangesRowsNamesTheirBank(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(db.Migrations, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	changes := regexp.MustCompile(`(?im)^\s*(UPDATE|DELETE FROM|INSERT INTO|MERGE INTO)\s`)
	for _, name := range files {
		text, err := fs.ReadFile(db.Migrations, name)
		if err != nil {
			t.Fatal(err)
		}
		// 11 (contacts) was written before the wall.
		if name > "20261121000012" && changes.Match(text) &&
			!strings.Contains(string(text), "set_config('bankgraph.tenant'") {
			t.Errorf("%s: go from bank to bank, as db/migrations/README.md says", name)
		}
	}
}

// mayWrite makes the connections of a URL writable, so that only row security protects rows outside
// transactions.
const mayWrite = "&default_transaction_read_only=off"

// outcome is the result of a statement.
type outcome string

const (
	refused  outcome = "refused" // by row security, or for lack of a right
	readOnly outcome = "read-only"
	nothing  outcome = "no row"
	oneRow   outcome = "one row"
)

// in runs a statement in a transaction of a bank, and rolls it back.
func in(t *testing.T, d *db.DB, bank int64, statement string) (got outcome) {
	t.Helper()
	undo := errors.New("undo")
	err := d.InTx(t.Context(), bank, func(ctx context.Context, tx bun.Tx) error {
		result, err := tx.ExecContext(ctx, statement)
		got = outcomeOf(t, result, err)
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	return got
}

func outcomeOf(t *testing.T, result interface{ RowsAffected() (int64, error) }, err error) outcome {
	t.Helper()
	var state *pgconn.PgError
	switch {
	case errors.As(err, &state) && state.Code == "42501":
		return refused
	case errors.As(err, &state) && state.Code == "25006":
		return readOnly
	case errors.As(err,
		&state) && state.Code == "23503": // row security let it pass, and a foreign key refused it
		return oneRow
	case err != nil:
		return outcome(err.Error())
	}
	n, err := result.RowsAffected()
	switch {
	case err == nil && n == 0:
		return nothing
	case err == nil && n == 1:
		return oneRow
	}
	return outcome(fmt.Sprint(n, " rows ", err))
}

// fill puts the table's names into a statement.
func fill(table walled) func(statement string) string {
	return strings.NewReplacer("$table", table.Name, "$bank", table.Bank).Replace
}

// rowInEach writes a row of bank 1 and one of bank 2 into every table, without foreign keys and checks, and
// with a simple value of each type.
func rowInEach(t *testing.T, owner string, tables []walled) {
	t.Helper()
	conn := connect(t, owner)
	statements := []string{
		`SET session_replication_role = replica`,
		`DO $$ DECLARE c record; BEGIN
			FOR c IN SELECT conname, conrelid::regclass AS of FROM pg_constraint
			WHERE contype = 'c' AND connamespace = 'public'::regnamespace
			LOOP EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %I', c.of, c.conname); END LOOP; END $$`,
	}
	for _, table := range tables {
		var columns, values string
		err := conn.QueryRow(t.Context(), `
			SELECT string_agg(quote_ident(attname), ', '), string_agg(CASE
			    WHEN attname = $2 THEN '$1'
			    WHEN typcategory = 'N' THEN '1' WHEN typcategory = 'D' THEN 'now()'
			    WHEN typcategory = 'B' THEN 'true'
			    WHEN typcategory = 'A' THEN '''{}'''
			    WHEN typname = 'uuid' THEN 'gen_random_uuid()' WHEN typname IN ('json', 'jsonb') THEN '''{}'''
			    WHEN typname = 'xid8' THEN 'pg_current_xact_id()' WHEN typname = 'interval' THEN '''1 day'''
			    ELSE '''x$1''' END, ', ')
			FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
			WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
			AND (attnotnull OR attname IN ($2, 'entry'))`, table.Name, table.Bank).Scan(&columns, &values)
		if err != nil {
			t.Fatal(err)
		}
		for _, bank := range []string{"1", "2"} {
			statements = append(statements,
				fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table.Name, columns,
					strings.ReplaceAll(values, "$1", bank)))
		}
	}
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}

func open(t *testing.T, url string) *db.DB {
	t.Helper()
	// a busy machine fails nothing
	d, err := db.Open(url, db.Options{Connections: 2, Patience: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}
