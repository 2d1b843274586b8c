package db

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
)

// The registry of advisory locks: every number that this program locks stands here, so that no two mean the
// same.

// migrationLock is what migrating programs queue on.
const migrationLock = 0x62616e6b_67726170 // "bankgrap"

// roleLock is what programs queue on that change the settings of the service's role.
const roleLock = migrationLock + 1

// Lock is one that each bank has its own of. It ends with the transaction that holds it.
type Lock int64

const (
	AuditChain Lock = 1 + iota // who seals a bank's audit entries, and signs its chain
	KeysetMove                 // who brings a bank's values under other keys
	ParentTree                 // who gives a customer another parent
)

// Class is a kind of locks on values that are told apart by a hash. They are PostgreSQL's locks of two
// numbers, which never meet those of one.
type Class int32

const (
	// who writes an account's number, while its search hash is under several keys
	AccountNumbers Class = 1 + iota
	CustomersTurns       // who holds a customer, or changes it
)

// InTurn is a condition for a statement that locks one row of a bank's table, of the number that stands in a column: it
// makes those locks first come, first served. SELECT … FOR SHARE alone lets new sharers pass a waiting writer, and many
// that come one after another starve it.
func (c Class) InTurn(column string, shares bool) string {
	lock := "pg_advisory_xact_lock"
	if shares {
		lock = "pg_advisory_xact_lock_shared"
	}
	return fmt.Sprintf("%s(%d, ((%s + tenant * 1000003) %% 2147483647)::int) IS NOT NULL", lock, c, column)
}

// WaitTx takes the locks of several hashes that stand for one value, in an order of their own, and waits for
// who holds one of them. They end with the transaction.
func WaitTx(ctx context.Context, tx bun.IDB, c Class, hashes [][]byte) error {
	locks := make([]int32, len(hashes))
	for i, hash := range hashes {
		tail := hash[len(hash)-4:] // what a hash begins with may be the same for all
		locks[i] = int32(binary.BigEndian.Uint32(tail))
	}
	slices.Sort(locks)
	for _, lock := range locks {
		if _, err := tx.NewRaw(`SELECT pg_advisory_xact_lock(?::int, ?::int)`, c, lock).Exec(ctx); err != nil {
			return fmt.Errorf("wait for a value: %w", err)
		}
	}
	return nil
}

// of is the lock of one bank.
func (l Lock) of(tenant int64) int64 {
	const tenants = 48 // bits; the lock's own number stands above them, far below migrationLock
	return int64(l)<<tenants | tenant
}

// TryTx takes the bank's lock, unless another transaction holds it. Take it before any row.
func (l Lock) TryTx(ctx context.Context, tx bun.IDB, tenant int64) (held bool, err error) {
	err = tx.NewRaw(`SELECT pg_try_advisory_xact_lock(?)`, l.of(tenant)).Scan(ctx, &held)
	if err != nil {
		return false, fmt.Errorf("take lock %d of bank %d: %w", l, tenant, err)
	}
	return held, nil
}

// WaitTx takes the bank's lock, and waits for who holds it. Take it after all rows.
func (l Lock) WaitTx(ctx context.Context, tx bun.IDB, tenant int64) error {
	if _, err := tx.NewRaw(`SELECT pg_advisory_xact_lock(?)`, l.of(tenant)).Exec(ctx); err != nil {
		return fmt.Errorf("wait for lock %d of bank %d: %w", l, tenant, err)
	}
	return nil
}
