package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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

// freeTx returns ErrNumberTaken if another account has the number of the draft. The unique index
// accounts_number compares hashes, so it misses equal numbers that are hashed under different keys. While
// there are several keys, writers of one number therefore wait for each other.
func (s *Service) freeTx(ctx context.Context, tx *changes.Tx, a *Account, number string) error {
	hashes := s.keys.Hashes(int64(a.Tenant), NumberColumn, number)
	if len(hashes) < 2 {
		return nil
	}
	if err := db.WaitTx(ctx, tx, db.AccountNumbers, hashes); err != nil {
		return err
	}
	return s.refusedTx(ctx, tx, ErrNumberTaken,
		`SELECT EXISTS (SELECT FROM accounts WHERE tenant = ? AND number_hash IN ? AND uid <> ?
		AND deleted_at IS NULL)`, a.Tenant, bun.Tuple(hashes), a.UID)
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
