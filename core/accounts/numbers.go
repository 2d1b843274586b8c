package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
)

// NumberedTx is the account of a customer that has this number, for a change of what belongs to it. ErrNotFound is a
// number of nobody or of somebody else.
func (s *Service) NumberedTx(ctx context.Context, tx bun.IDB, tenant access.Tenant, of customers.UID, number string) (uid UID, err error) {
	err = tx.NewRaw(`SELECT uid FROM accounts WHERE tenant = ? AND number_hash = ? AND customer = ? AND deleted_at IS NULL`,
		tenant, s.keys.Hash(int64(tenant), NumberColumn, number), of).Scan(ctx, &uid)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, ErrNotFound
	}
	if err != nil {
		return 0, fmt.Errorf("find an account of customer %s: %w", of, err)
	}
	return uid, nil
}

// ShownTx is the number of an account as callers read it; none without an account.
func (s *Service) ShownTx(ctx context.Context, tx bun.IDB, tenant access.Tenant, uid *UID) (shown seal.Text, err error) {
	if uid == nil {
		return seal.Text{}, nil
	}
	if err := tx.NewRaw(`SELECT number_last4 FROM accounts WHERE tenant = ? AND uid = ?`, tenant, *uid).Scan(ctx, &shown.Last4); err != nil {
		return seal.Text{}, fmt.Errorf("read the number of account %s: %w", uid, err)
	}
	return shown, nil
}
