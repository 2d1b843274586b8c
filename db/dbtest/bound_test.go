package dbtest_test

import (
	"strings"
	"testing"

	"bankgraph/db/dbtest"
)

func TestAStatementNamesItsBankAtEveryLevel(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`SELECT 1`: "",
		`SELECT uid FROM customers AS c WHERE c.tenant = 7 AND c.uid = 'x'`: "",
		`SELECT uid FROM "customers" AS "c"
			WHERE ("c"."tenant" = $1::bigint) AND (uid = $2) FOR NO KEY UPDATE OF c`: "",
		`SELECT uid FROM customers WHERE tenant = ? ORDER BY uid LIMIT 5`:                   "",
		`SELECT uid FROM customers WHERE uid = 5`:                                           "customers",
		`SELECT uid FROM customers WHERE note = 'tenant = 7'`:                               "customers",
		`SELECT uid FROM customers -- tenant = 7`:                                           "customers",
		`SELECT c.uid FROM customers AS c, accounts a WHERE c.tenant = 7 AND a.uid = c.uid`: "accounts",
		`SELECT c.uid FROM customers AS c JOIN accounts AS a ON a.tenant = c.tenant
			WHERE c.tenant = 7`: "",
		`SELECT c.uid FROM customers AS c JOIN accounts AS a ON a.uid = c.uid
			WHERE c.tenant = 7`: "accounts",
		`SELECT c.uid FROM customers c LEFT JOIN accounts a ON a.tenant = c.tenant
			WHERE c.uid = 7`: "accounts, customers",
		`SELECT k.key FROM clients AS k JOIN tenants AS t ON t.id = k.tenant WHERE t.code = 'B'`: "clients",
		`SELECT 1 FROM customers AS c WHERE c.tenant = $1
			AND EXISTS (SELECT FROM users AS u WHERE u.tenant = c.tenant)`: "users",
		`SELECT 1 FROM customers AS c WHERE c.tenant = $1
			AND EXISTS (SELECT FROM users AS u WHERE u.tenant = $1)`: "",
		`SELECT 1 FROM customers AS c WHERE EXISTS (SELECT FROM users AS u WHERE u.tenant = $1)`:   "customers",
		`WITH a AS (SELECT uid FROM users WHERE tenant = 1) SELECT * FROM a`:                       "",
		`WITH a AS (DELETE FROM users WHERE uid = 1) UPDATE roles SET name = 'x' WHERE tenant = 1`: "users",
		`SELECT uid FROM users WHERE tenant = 1 UNION ALL SELECT uid FROM roles WHERE uid = 1`:     "roles",
		`DELETE FROM idempotency_keys WHERE (tenant, key) IN
			(SELECT tenant, key FROM idempotency_keys WHERE tenant = 1)`: "idempotency_keys",
		`WITH "_data" ("tenant") AS (VALUES (1)) UPDATE "balances" AS "b" SET x = 1
			FROM _data WHERE ("b"."tenant" = _data."tenant")`: "balances",
		`WITH "_data" ("tenant") AS (VALUES (1)) UPDATE "balances" AS "b" SET x = 1
			FROM _data WHERE ("b"."tenant" = _data."tenant") AND ("b"."tenant" = 1)`: "",
		`INSERT INTO balances (tenant) VALUES (1) ON CONFLICT (tenant) DO UPDATE SET ledger = 1`: "",
		`INSERT INTO balances (tenant) SELECT tenant FROM accounts WHERE uid = 1`:                "accounts",
		`UPDATE users SET status = 'x' WHERE uid = 1`:                                            "users",
		`SELECT 1 FROM users WHERE tenant = 1; DELETE FROM roles WHERE uid = 2`:                  "roles",
		`SELECT extract(epoch FROM at), a IS DISTINCT FROM b FROM events WHERE tenant = 1`:       "",
		`SELECT 1 FROM unnest($2::bigint[]) AS p(uid)
			CROSS JOIN LATERAL (SELECT 1 FROM users AS u WHERE u.tenant = $1) r`: "",
		`SELECT 1 FROM customers WHERE tenant IN (1, 2)`: "customers",
	} {
		if got := strings.Join(dbtest.Unbound(text), "; "); got != want {
			t.Errorf("%s\n got %q, want %q", text, got, want)
		}
	}
}
