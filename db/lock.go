package db

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"
)

// The registry of advisory locks: every number that this program locks stands here, so that no two mean the same.

// migrationLock is what migrating programs queue on.
const migrationLock = 0x62616e6b_67726170 // "bankgrap"

// roleLock is what programs queue on that change the settings of the service's role.
const roleLock = migrationLock + 1

// Lock is one that each bank has its own of. It ends with the transaction that holds it.
type Lock int64

const (
	AuditChain Lock = 1 + iota // who seals a bank's audit entries, and signs its chain
)

// TryTx takes the bank's lock, unless another transaction holds it. Take it before any row.
func (l Lock) TryTx(ctx context.Context, tx bun.IDB, tenant int64) (held bool, err error) {
	const tenants = 48 // bits; the lock's own number stands above them, far below migrationLock
	err = tx.NewRaw(`SELECT pg_try_advisory_xact_lock(?)`, int64(l)<<tenants|tenant).Scan(ctx, &held)
	if err != nil {
		return false, fmt.Errorf("take lock %d of bank %d: %w", l, tenant, err)
	}
	return held, nil
}
