package db_test

import (
	"context"
	"slices"
	"testing"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// undoTo undoes all migrations after this version.
func undoTo(t *testing.T, url, version string) {
	t.Helper()
	for {
		all, err := db.MigrationStatus(context.Background(), url)
		if err != nil {
			t.Fatal(err)
		}
		applied := slices.DeleteFunc(all, func(m db.Migration) bool { return m.Applied.IsZero() })
		if applied[len(applied)-1].Version == version {
			return
		}
		if _, err := db.MigrateDown(context.Background(), url); err != nil {
			t.Fatal(err)
		}
	}
}

// A database of the release that ordered entries by transaction numbers is taken over: unsealed entries wait,
// even if a restore had stopped sealing, and every event gets the entry of its change.
func TestRecordOfTransactionNumbersIsTakenOver(t *testing.T) {
	t.Parallel()
	url := dbtest.Owner(dbtest.URL(t))
	undoTo(t, url, "20261121000015")
	conn := connect(t, url)
	for _, statement := range []string{
		`INSERT INTO tenants (id, code, name, zone, currency)
			VALUES (1, 'ONE', 'One', 'UTC', 'USD'), (2, 'TWO', 'Two', 'UTC', 'USD')`,
		`SET session_replication_role = replica`,
		`INSERT INTO audit_entries (tenant, id, tx, client, entity, action, decision, object, uid) VALUES
			(1, 1, '900', 'op', 1, 'addTenant', 'done', 'tenant', 'ONE'),
			(1, 2, '901', 'k', 1, 'addSignatory', 'done', 'signatory', '7'),
			(1, 3, '902', 'k', 1, 'changeSignatory', 'done', 'signatory', '7'),
			(1, 4, '903', 'k', 1, 'changeSignatory', 'refused', 'signatory', '7'),
			(1, 5, '904', 'k', 1, 'changeSignatory', 'proposed', 'signatory', '7'),
			(1, 6, '20', 'k', 1, 'changeSignatory', 'done', 'signatory', '7'),
			(1, 7, '20', 'k', 1, 'changeSignatory', 'approved', 'signatory', '7'),
			(2, 8, '21', 'k', 1, 'addSignatory', 'done', 'signatory', '7')`,
		`INSERT INTO audit_seals (tenant, seq, entry, tx, hash)
			VALUES (1, 1, 1, '900', sha256('1')), (1, 2, 2, '901', sha256('2')), (1, 3, 3, '902', sha256('3'))`,
		`INSERT INTO events (tenant, id, tx, kind, object, uid) VALUES
			(1, 11, '901', 'addSignatory', 'signatory', '7'), (1, 12, '902', 'changeSignatory', 'signatory', '7'),
			(1, 13, '904', 'proposeChange', 'approval', '3'), (1, 14, '902', 'changeSignatory', 'signatory', '7'),
			(1, 15, '20', 'approveChange', 'approval', '3'), (2, 16, '21', 'addSignatory', 'signatory', '7')`,
		`RESET session_replication_role`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	if err := db.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		`SELECT string_agg(tenant || '/' || entry, ' ' ORDER BY tenant, entry) FROM audit_unsealed`: "1/4 " +
			"1/5 1/6 1/7 2/8",
		`SELECT string_agg(tenant || '/' || id || '=' || entry, ' ' ORDER BY id) FROM events`: "1/11=2 1/12=3 " +
			"1/13=5 1/14=6 1/15=7 2/16=8",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", query, got, want, err)
		}
	}
	// After the migration is undone, entries sealed since have the numbers of their transactions.
	if _, err := conn.Exec(t.Context(), `BEGIN; SELECT set_config('bankgraph.tenant', '1', true);
		INSERT INTO audit_seals (tenant, seq, entry, hash)
		VALUES (1, 4, 6, sha256('4')); COMMIT`); err != nil {
		t.Fatal(err)
	}
	undoTo(t, url, "20261121000015")
	var tx string
	err := conn.QueryRow(t.Context(), `SELECT tx::text FROM audit_seals WHERE tenant = 1 AND seq = 4`).
		Scan(&tx)
	if err != nil || tx != "20" {
		t.Errorf("undone, the seal's transaction is %s (%v)", tx, err)
	}
}

// Moves of customers that were made before the program knew to hide what came before them are found in the
// record.
func TestFormerMovesAreTakenOver(t *testing.T) {
	t.Parallel()
	url := dbtest.Owner(dbtest.URL(t))
	undoTo(t, url, "20261121000023")
	conn := connect(t, url)
	for _, statement := range []string{
		`INSERT INTO tenants (id, code, name, zone, currency) VALUES (1, 'ONE', 'One', 'UTC', 'USD')`,
		`SET session_replication_role = replica`,
		`INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status) VALUES
			(1, 20, 10, 'Moved', 'moved', 'Corporate', 'Active'), (1, 21, 10, 'Stayed', 'stayed', 'Corporate',
				  'Active')`,
		`INSERT INTO audit_entries (tenant, id, at, tx, client, entity, action, decision, object, uid, customer,
			before, after) VALUES
			(1, 1, '2026-01-01', '901', 'k', 1, 'createCustomer', 'done', 'customer', '20', 20, '{}', '{"owner":9}'),
			(1, 2, '2026-01-02', '902', 'k', 1, 'changeCustomer', 'done', 'customer', '20', 20,
			  '{"owner":9,"version":1}', '{"owner":10,"version":2}'),
			(1, 3, '2026-01-02', '902', 'k', 1, 'changeCustomer', 'approved', 'customer', '20', 20, '{}', '{}'),
			(1, 4, '2026-01-03', '904', 'k', 1, 'changeCustomer', 'done', 'customer', '20', 20, '{}',
			  '{"note":"new"}'),
			(1, 5, '2026-01-03', '905', 'k', 1, 'createCustomer', 'done', 'customer', '21', 21, '{}', '{"owner":10}')`,
		`INSERT INTO approvals (tenant, uid, customer, operation, object, object_uid, creation, version,
			maker_client, made_at, draft) VALUES
			(1, 1, 20, 'changeCustomer', 'customer', '20', false, 1, 'k', '2026-01-01', ''),
			(1, 2, 20, 'changeCustomer', 'customer', '20', false, 1, 'k', '2026-01-04', ''),
			(1, 3, 21, 'changeCustomer', 'customer', '21', false, 1, 'k', '2026-01-01', '')`,
		`RESET session_replication_role`,
	} {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(statement, err)
		}
	}
	if err := db.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{
		`SELECT string_agg(tenant || '/' || customer || '=' || entry, ' ') FROM audit_former`: "1/20=3",
		`SELECT string_agg(uid::text, ' ' ORDER BY uid) FROM approvals WHERE former`:          "1",
	} {
		var got string
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %s, want %s (%v)", query, got, want, err)
		}
	}
}
