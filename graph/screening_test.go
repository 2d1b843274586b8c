package graph_test

import (
	"context"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/customers"
)

// insertScreenings makes a decided screening of each payment of some customers.
func (b *bank) insertScreenings(t testing.TB, first, last customers.UID) {
	t.Helper()
	b.write(t, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`INSERT INTO payment_screenings (tenant, payment, name, matches, status, created_at,
				decided_at, decided_client, decided_login, reason, expires_at)
			SELECT tenant, uid, ?1 || ' payee ' || uid, jsonb_build_array(jsonb_build_object('list', 'sanctions',
				'name', ?1 || ' listed ' || uid, 'program', ?1 || ' program ' || uid, 'reference', ?1 || uid)),
				'RELEASED', timestamptz '2026-11-02Z' + uid % 60 * interval '1 minute', timestamptz '2026-11-03Z',
				'portal', 'officer', ?1 || ' why ' || uid, timestamptz '2026-11-04Z' + uid % 60 * interval '1 minute'
			FROM payments WHERE tenant = ?0 AND customer BETWEEN ?2 AND ?3`, b.tenant, b.mark, first, last).
			Exec(ctx)
		return err
	})
}
