package tenants

import (
	"context"
	"database/sql"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// The keys that regulatory entries of contacts may have are a setting of the bank, which package contacts
// uses.

// ReportingKeys reads the bank's keys.
func ReportingKeys(ctx context.Context, q bun.IDB, tenant access.Tenant) (keys []string, err error) {
	err = q.NewRaw(`SELECT unnest(reporting_keys) FROM tenants WHERE id = ?`, tenant).Scan(ctx, &keys)
	return keys, err
}

// AddReportingKeyTx adds a key, or changes the letter case of an existing one.
func AddReportingKeyTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, key string,
) (found bool, err error) {
	return changed(tx.NewRaw(`UPDATE tenants SET reporting_keys =
		array(SELECT k FROM unnest(reporting_keys) AS k
		  WHERE lower(k COLLATE "C") <> lower(?1::text COLLATE "C")) || ?1::text WHERE id = ?0`,
		tenant, key).Exec(ctx))
}

// RemoveReportingKeyTx removes a key, and reports whether there was one.
func RemoveReportingKeyTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, key string,
) (found bool, err error) {
	return changed(tx.NewRaw(`UPDATE tenants SET reporting_keys =
		array(SELECT k FROM unnest(reporting_keys) AS k
		  WHERE lower(k COLLATE "C") <> lower(?1::text COLLATE "C")) WHERE id = ?0
		AND lower(?1::text COLLATE "C") IN (SELECT lower(k COLLATE "C") FROM unnest(reporting_keys) AS k)`,
		tenant, key).Exec(ctx))
}

func changed(done sql.Result, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := done.RowsAffected()
	return n > 0, err
}
