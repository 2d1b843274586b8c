package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// NumberedTx returns the account of a customer that has this number. It returns ErrNotFound if nobody has it,
// or another customer.
func (s *Service) NumberedTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, of customers.UID, number string,
) (uid UID, err error) {
	err = tx.NewRaw(
		`SELECT uid FROM accounts WHERE tenant = ? AND number_hash IN ? AND customer = ? AND deleted_at IS NULL`,
		tenant, bun.Tuple(s.keys.Hashes(int64(tenant), NumberColumn, number)), of).Scan(ctx, &uid)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find an account of customer %s: %w", of, err)
	}
	return uid, nil
}

// VirtualNumberColumn is the column for which the numbers of virtual accounts are sealed (seal.Place). Their
// domain comes after this one.
const VirtualNumberColumn = "virtual_accounts.number"

// The numbers of virtual accounts are a range: so many digits, of which the first is this.
const (
	VirtualDigits = 14
	VirtualFirst  = '8'
)

// mayBeVirtual reports whether a number has the form of those of virtual accounts.
func mayBeVirtual(number string) bool {
	return len(number) == VirtualDigits && number[0] == VirtualFirst && strings.Trim(number, "0123456789") == ""
}

// NumberTakenTx reports whether an account or a virtual account has this number. Nobody gives it to one until
// the transaction ends.
func NumberTakenTx(
	ctx context.Context, tx bun.IDB, keys *seal.Keys, tenant access.Tenant, number string,
) (taken bool, err error) {
	hashes := keys.Hashes(int64(tenant), NumberColumn, number)
	if err := db.WaitTx(ctx, tx, db.AccountNumbers, hashes); err != nil {
		return false, err
	}
	err = db.Raw(tx, `SELECT EXISTS (SELECT FROM accounts WHERE tenant = ?0 AND number_hash IN ?1)
		OR EXISTS (SELECT FROM virtual_accounts WHERE tenant = ?0 AND number_hash IN ?2)`, tenant, bun.Tuple(hashes),
		bun.Tuple(keys.Hashes(int64(tenant), VirtualNumberColumn, number))).Scan(ctx, &taken)
	if err != nil {
		return false, fmt.Errorf("look for a number: %w", err)
	}
	return taken, nil
}

// freeTx returns ErrNumberTaken if another account, or a virtual account, has the number of the draft. The
// unique index accounts_number compares hashes, so it misses equal numbers that are hashed under different
// keys, and those of virtual accounts. While there are several keys, and for numbers of the form that virtual
// accounts have, writers of one number therefore wait for each other.
//
// What is paid to a number of the bank still comes when its account is deleted: only the bank itself gives
// the number to another customer then.
func (s *Service) freeTx(ctx context.Context, tx *changes.Tx, a *Account, number string) error {
	hashes := s.keys.Hashes(int64(a.Tenant), NumberColumn, number)
	others := tx.Caller.Reach != access.OfBank // their changes wait for the bank, before the index is asked
	if others && a.SystemOfRecord == InternalCore {
		if err := s.refusedTx(ctx, tx, ErrNumberTaken, `SELECT EXISTS (SELECT FROM accounts
			WHERE tenant = ?0 AND number_hash IN ?1 AND customer <> ?2 AND system_of_record = ?3
			  AND deleted_at IS NOT NULL)`, a.Tenant, bun.Tuple(hashes), a.Customer, InternalCore); err != nil {
			return err
		}
	}
	if len(hashes) < 2 && !mayBeVirtual(number) && !others {
		return nil
	}
	if err := db.WaitTx(ctx, tx, db.AccountNumbers, hashes); err != nil {
		return err
	}
	return s.refusedTx(ctx, tx, ErrNumberTaken,
		`SELECT EXISTS (SELECT FROM accounts WHERE tenant = ?0 AND number_hash IN ?1 AND uid <> ?2
			AND deleted_at IS NULL)
		OR EXISTS (SELECT FROM virtual_accounts WHERE tenant = ?0 AND number_hash IN ?3)`, a.Tenant, bun.Tuple(hashes), a.UID,
		bun.Tuple(s.keys.Hashes(int64(a.Tenant), VirtualNumberColumn, number)))
}

// ShownTx returns the number of an account as callers read it; the zero Value if there is no account.
func (s *Service) ShownTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, uid *UID,
) (shown seal.Value, err error) {
	if uid == nil {
		return seal.Value{}, nil
	}
	if err := tx.NewRaw(`SELECT number_last4 FROM accounts WHERE tenant = ? AND uid = ?`, tenant, *uid).Scan(ctx,
		&shown.Last4); err != nil {
		return seal.Value{}, fmt.Errorf("read the number of account %s: %w", uid, err)
	}
	return shown, nil
}
