package core_test

import (
	"bytes"
	"context"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"

	"bankgraph/core/coretest"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/db/dbtest/faults"
)

// canaries are the data of customers and people that the writes are given.
var canaries = []string{
	"Lakeside Bakery", "1 Lake Rd", "12-3456789", "123456789", "Petty Cash", "4000700001", "Lumen Optics",
	"12 Main St", "7740012345678",
	"Ada", "Byron", "ada.byron", "ada@mail.example", "16145550123", "bakery.example",
}

// defaults are PostgreSQL's own settings of what it logs of a failed statement.
var defaults = map[string]string{
	"log_min_error_statement": "error", "log_error_verbosity": "default", "log_min_messages": "warning",
	"log_parameter_max_length_on_error": "0",
}

var written = regexp.MustCompile(`(?:INSERT INTO|UPDATE|DELETE FROM) "?([a-z_]+)`)

// Every write of every domain fails at each of its tables in turn, but where some others have failed at such a
// statement, and the server's log contains none of its values.
func TestAFailedWriteLeavesNothingOfAnybodyInTheServersLog(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, defaults)
	failing := failures(t, server.Owner)
	line := &faults.Line{}
	b := coretest.On(t, server.Owner, server.Service, db.Options{Connector: line.Connector})
	failed, times := 0, map[string]int{} // how many writes have sent a statement, by how it begins
	for _, w := range writes {
		if w.as == nil {
			w.as = (*coretest.Bank).Staff
		}
		tables, sent := map[string]bool{}, map[string]bool{}
		trial := b.Another()
		do := w.on(trial)
		line.Break(0, faults.Fault{})
		_, _ = do(w.as(trial), "key")
		for _, statement := range line.Statements() {
			for _, at := range written.FindAllStringSubmatchIndex(statement, -1) {
				begins := statement[at[0]:min(at[0]+100, len(statement))]
				if n := times[begins]; thorough || n < firstFew || n%oneOf == 0 {
					tables[statement[at[2]:at[3]]] = true
				}
				sent[begins] = true
			}
		}
		for begins := range sent {
			times[begins]++
		}
		trial = b.Another()
		do = w.on(trial)
		for _, table := range slices.Sorted(maps.Keys(tables)) {
			failing(table)
			if _, err := do(w.as(trial), "key"); err != nil {
				failed++
			}
		}
		failing("")
	}
	if failed < len(writes) {
		t.Fatalf("only %d writes failed", failed)
	}
	log := logOf(t, server)
	if got := bytes.Count(log, []byte("STATEMENT:")); got < failed/2 {
		t.Errorf("%d writes failed, and the log tells of %d: it is not as servers are set up", failed, got)
	}
	clean(t, log)
}

// PostgreSQL reports a broken constraint with the row or key that breaks it, but not to a role that row
// security binds, such as the service's.
func TestABrokenRuleLeavesNothingOfTheRowInTheServersLog(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, defaults)
	b := coretest.On(t, server.Owner, server.Service, db.Options{})
	c := b.Customer()
	b.Signatory(c)
	b.Signatory(c)
	b.User(c, nil)
	b.User(c, nil)
	b.Account(c)
	for _, broken := range []string{
		// a missing value
		`UPDATE customers SET legal_name = ?0, uid = NULL WHERE tenant = ?1`,
		`UPDATE accounts SET name = ?0, version = NULL WHERE tenant = ?1`, //
		// a row of no customer
		`UPDATE accounts SET name = ?0, customer = 4711 WHERE tenant = ?1`,
		// a duplicate
		`UPDATE signatories SET email_address = ?0 WHERE tenant = ?1`,
		`UPDATE users SET login_id = ?0 WHERE tenant = ?1`, //
		// a row of another bank
		`UPDATE customers SET legal_name = ?0, tenant = 4711 WHERE tenant = ?1`,
		// an impossible calculation
		`UPDATE customers SET legal_name = ?0 WHERE tenant = ?1 AND 1 / (uid - uid) = 1`,
		// a statement that takes too long
		`UPDATE customers SET legal_name = ?0 WHERE tenant = ?1 AND legal_name = pg_sleep(9)::text`,
	} {
		err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
			if _, err := tx.ExecContext(ctx, `SET LOCAL statement_timeout = '100ms'`); err != nil {
				return err
			}
			_, err := tx.ExecContext(ctx, broken, "ada@mail.example", int64(b.Tenant))
			return err
		})
		if err == nil {
			t.Errorf("nothing is broken by %s", broken)
		} else {
			t.Log(err)
		}
	}
	clean(t, logOf(t, server))
}

// failures returns a function that makes writes to one table of the database fail.
func failures(t *testing.T, owner string) (fail func(table string)) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), owner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	_, err = conn.Exec(t.Context(), `
		CREATE TABLE failing (name text);
		GRANT SELECT ON failing TO PUBLIC;
		CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF EXISTS (SELECT FROM failing WHERE name = TG_TABLE_NAME)
			THEN RAISE EXCEPTION 'a test wants this'; END IF;
			RETURN NULL;
		END $$;
		DO $$ DECLARE name regclass; BEGIN
			FOR name IN SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
			AND relrowsecurity LOOP
				EXECUTE format('CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON %s
					FOR EACH STATEMENT EXECUTE FUNCTION fail()', name);
			END LOOP;
		END $$`)
	if err != nil {
		t.Fatal(err)
	}
	return func(table string) {
		t.Helper()
		var batch pgx.Batch
		batch.Queue(`DELETE FROM failing`)
		batch.Queue(`INSERT INTO failing VALUES ($1)`, table)
		if err := conn.SendBatch(t.Context(), &batch).Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func logOf(t *testing.T, server *dbtest.Server) []byte {
	t.Helper()
	log, err := os.ReadFile(server.Log())
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// clean fails the test if the log contains a canary.
func clean(t *testing.T, log []byte) {
	t.Helper()
	for _, line := range strings.Split(string(log), "\n") {
		for _, canary := range canaries {
			if strings.Contains(line, canary) {
				t.Errorf("the log has %q: %.300s", canary, line)
			}
		}
	}
}
