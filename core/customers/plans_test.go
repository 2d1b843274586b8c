package customers_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/db/dbtest/faults"
)

// The cost of a new customer must not grow with the bank. Under row security, locking statements cannot use
// some indexes (db.InTx), so this checks the plans of the statements that a creation and the purge really
// send, for the service's role.
func TestNewCustomerLooksAtNoOtherByItsNameOrKeyByItsAge(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	bank := line.Bank()
	user(t, bank, bank.Self.UID, "mjones", "Active")
	partner := bank.DownstreamPartner()
	line.Break(0, faults.Fault{})
	if _, err := bank.Changes.PurgeKeys(access.Operator(t.Context(), bank.Tenant, bank.Code, nil),
		0); err != nil {
		t.Fatal(err)
	}
	_, err := bank.Customers.Create(bank.Staff(), draft("lakeside", func(d *customers.Draft) {
		d.PartnerOrgShortName = given.Of(partner.ShortName)
	}), changes.RequestOptions{IdempotencyKey: "once"})
	if err != nil {
		t.Fatal(err)
	}
	sent := line.Statements()
	fill(t, bank, partner.UID)
	var seen []string
	for _, sent := range sent { // some go together
		seen = append(seen, strings.Split(sent, "\x00;")...)
	}
	for _, one := range []struct{ statement, found, indexed, filtered string }{
		{"the names", `WITH partner`, `Index Cond: .*lower\(\(short_name\)`, `Filter: .*lower\(\(short_name\)`},
		{
			"the end of old keys", `DELETE FROM idempotency_keys`, `Index Cond: .*created_at < `,
			`Filter: .*created_at < `,
		},
	} {
		at := slices.IndexFunc(seen, func(text string) bool { return strings.Contains(text, one.found) })
		if at < 0 {
			t.Fatalf("nobody sends %s", one.statement)
		}
		plan := planOf(t, bank, seen[at])
		if !regexp.MustCompile(one.indexed).MatchString(plan) ||
			regexp.MustCompile(one.filtered).MatchString(plan) {
			t.Errorf("%s are not found by their index:\n%s", one.statement, plan)
		}
	}
}

// fill gives a bank so many customers that the server, which counts them, has a reason to prefer one index to
// another.
func fill(t *testing.T, bank *coretest.Bank, like customers.UID) {
	t.Helper()
	owner := bank.Owner()
	_, err := owner.ExecContext(t.Context(), `INSERT INTO customers SELECT (jsonb_populate_record(c,
		jsonb_build_object(
		'uid', 90000000000 + g, 'short_name', 'copy' || g, 'customer_id', '', 'lei', ''))).*
		FROM customers AS c, generate_series(1, 500) AS g WHERE c.tenant = ? AND c.uid = ?`, bank.Tenant, like)
	if err == nil {
		_, err = owner.ExecContext(t.Context(), `ANALYZE customers`)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// planOf returns the plan of a statement if tables are too large for sequential scans.
func planOf(t *testing.T, bank *coretest.Bank, text string) string {
	t.Helper()
	var lines []string
	err := bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.ExecContext(ctx,
			`SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off`); err != nil {
			return err
		}
		return tx.NewRaw("EXPLAIN "+text).Scan(ctx, &lines)
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
