package db

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/uptrace/bun"
)

// The registry of advisory locks: all numbers that this program locks, so that no two uses share one.

// migrationLock lets one program migrate at a time.
const migrationLock = 0x62616e6b_67726170 // "bankgrap"

// roleLock lets one program change the settings of the service's role at a time.
const roleLock = migrationLock + 1

// Lock is a kind of lock of which each bank has one. It is released at the end of the transaction.
type Lock int64

const (
	AuditChain  Lock = 1 + iota // to seal a bank's audit entries and sign its chain
	KeysetMove                  // to move a bank's values to other keys
	ParentTree                  // to change the parent of a customer
	TenantCodes                 // to add a bank; there is one of it, that of bank 0
	BooksProof                  // to prove a bank's books
)

// Class is a kind of lock on values, identified by a hash. It uses PostgreSQL's locks of two numbers, which
// never conflict with those of one.
type Class int32

const (
	// to write an account number, while there are several keys of search hashes
	AccountNumbers  Class = 1 + iota
	CustomersTurns        // to lock a customer's row
	PersonsTrades         // to book a trade that counts for what a person may trade in a day
	CompanyNumbers        // to give a customer or an account an ACH company number
	PersonsPayments       // to pay, or approve, what counts for what a person may do in a month
)

// InTurn returns a condition for a statement that locks one row of a bank's table, whose number is in the
// column. It makes these locks first come, first served. SELECT … FOR SHARE alone lets new sharers overtake a
// waiting writer, and a steady stream of them starves it.
func (c Class) InTurn(column string, shares bool) string {
	lock := "pg_advisory_xact_lock"
	if shares {
		lock = "pg_advisory_xact_lock_shared"
	}
	return fmt.Sprintf("%s(%d, ((%s + tenant * 1000003) %% 2147483647)::int) IS NOT NULL", lock, c, column)
}

// WaitTx takes the locks of several hashes of one value, in a fixed order, and waits until they are free.
// They are released at the end of the transaction.
func WaitTx(ctx context.Context, tx bun.IDB, c Class, hashes [][]byte) error {
	for _, lock := range locksOf(hashes) {
		if _, err := tx.NewRaw(`SELECT pg_advisory_xact_lock(?::int, ?::int)`, c, lock).Exec(ctx); err != nil {
			return fmt.Errorf("wait for a value: %w", err)
		}
	}
	return nil
}

// Wait is WaitTx as part of a transaction's batch: what is queued after it reads what others, who had the
// locks, have committed.
func Wait(b *Batch, c Class, hashes [][]byte) {
	Queue(b, waiting, int32(c), locksOf(hashes))
}

var waiting = NewQuery[struct {
	Taken bool `bun:"taken"`
}](`SELECT pg_advisory_xact_lock($1::int, l) IS NOT NULL AS taken FROM unnest($2::int[]) AS l`)

// locksOf returns the numbers of the locks of hashes, in the order in which everybody takes them.
func locksOf(hashes [][]byte) []int32 {
	locks := make([]int32, len(hashes))
	for i, hash := range hashes {
		tail := hash[len(hash)-4:] // hashes may all begin alike, with the key's mark
		locks[i] = int32(binary.BigEndian.Uint32(tail))
	}
	slices.Sort(locks)
	return slices.Compact(locks)
}

// AwaitedTx reports whether others wait for what this transaction has locked. What was sent ahead has run then.
func AwaitedTx(ctx context.Context, tx bun.IDB) (awaited bool, err error) {
	if l, inside := ctx.Value(lastKey{}).(*last); inside {
		if err := l.awaitAhead(); err != nil {
			return false, err
		}
	}
	err = tx.NewRaw(`SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'
		AND transactionid = pg_current_xact_id()::xid)`).Scan(ctx, &awaited)
	if err != nil {
		return false, fmt.Errorf("see who waits for a transaction: %w", err)
	}
	return awaited, nil
}

// of returns the number of one bank's lock.
func (l Lock) of(tenant int64) int64 {
	const tenants = 48 // bits; the lock's own number is above them, far below migrationLock
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

// WaitTx takes the bank's lock, and waits until it is free. Take it after all rows.
func (l Lock) WaitTx(ctx context.Context, tx bun.IDB, tenant int64) error {
	if _, err := tx.NewRaw(`SELECT pg_advisory_xact_lock(?)`, l.of(tenant)).Exec(ctx); err != nil {
		return fmt.Errorf("wait for lock %d of bank %d: %w", l, tenant, err)
	}
	return nil
}
