package changes

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// KeyLife is how long an idempotency key stays valid.
const KeyLife = 7 * 24 * time.Hour

// One call of PurgeKeys makes at most mostPurges transactions of purgedAtOnce keys each; the next call goes
// on.
const (
	purgedAtOnce = 1000
	mostPurges   = 20
)

// PurgeKeys removes idempotency keys of the caller's bank that are older than age, but at least KeyLife, and
// returns how many it removed. Keys that a request is renewing at this moment stay. The statement compares
// with now(), which is constant and so uses the index; clock_timestamp() would scan every key.
func (s *Service) PurgeKeys(ctx context.Context, age time.Duration) (purged int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	for range mostPurges {
		var n int64
		err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
			done, err := tx.NewRaw(`DELETE FROM idempotency_keys WHERE tenant = ?0 AND (client, operation, key) IN (
					SELECT client, operation, key FROM idempotency_keys
					  WHERE tenant = ?0 AND created_at < now() - ?1::interval
					ORDER BY created_at LIMIT ?2 FOR UPDATE SKIP LOCKED)`,
				caller.Tenant, fmt.Sprintf("%d seconds", int64(max(age, KeyLife).Seconds())), purgedAtOnce).
				Exec(ctx)
			if err == nil {
				n, err = done.RowsAffected()
			}
			return err
		})
		if purged += int(n); err != nil {
			return purged, fmt.Errorf("purge idempotency keys of bank %d: %w", caller.Tenant, err)
		}
		if n < purgedAtOnce {
			break
		}
	}
	return purged, nil
}
