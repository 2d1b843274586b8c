package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bankgraph/core/changes"
)

// The default offset account of an ACH company id (rest/CONTRACT.md, default offset account). The customer is
// locked already.

// offsetTx makes the first account of an ACH company id the default offset account (rest/CONTRACT.md, default
// offset account).
func (s *Service) offsetTx(ctx context.Context, tx *changes.Tx, was, a *Account, draft Draft) error {
	asked := draft.Features.DefaultOffset.Given || draft.Features.Offset.Given
	if a.ACHCompanyID == "" || !a.EnableACH || a.DefaultOffset || asked ||
		was != nil && was.ACHCompanyID == a.ACHCompanyID {
		return nil
	}
	var another bool
	err := tx.NewRaw(
		`SELECT EXISTS (SELECT FROM accounts WHERE tenant = ? AND customer = ?
		AND ach_company_id = ? AND uid <> ?
		AND deleted_at IS NULL AND status <> 'Closed')`, a.Tenant, a.Customer, a.ACHCompanyID, a.UID).Scan(ctx,
		&another)
	if err == nil && !another {
		a.EnableOffset, a.DefaultOffset = true, true
	}
	return err
}

// approvedOffsetTx makes an account that was Pending the default, if it was not the first of its id when it
// was opened, and became so because the opening of those before was refused.
func (s *Service) approvedOffsetTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	if a.ACHCompanyID == "" || !a.EnableACH || a.DefaultOffset {
		return nil
	}
	var first bool
	err := tx.NewRaw(
		`SELECT coalesce(bool_or(deleted_at >= ?) AND bool_and(deleted_at IS NOT NULL
			OR status IN ('Closed', 'Pending')), false)
		FROM accounts WHERE tenant = ? AND customer = ? AND ach_company_id = ? AND uid <> ?`,
		a.CreatedAt, a.Tenant, a.Customer, a.ACHCompanyID, a.UID).Scan(ctx, &first)
	if err == nil && first {
		a.EnableOffset, a.DefaultOffset = true, true
	}
	return err
}

// refusedOffsetTx hands the default on from an account whose opening was refused, to the oldest open one of
// its id. Those that are Pending do not count: their checkers have seen them without it.
func (s *Service) refusedOffsetTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	if was == nil || was.Status != Pending || !was.DefaultOffset || a.DeletedAt == nil {
		return nil
	}
	next := new(Account)
	err := tx.NewSelect().Model(next).Where("a.tenant = ?", a.Tenant).Where("a.customer = ?", a.Customer).
		Where("a.ach_company_id = ?", a.ACHCompanyID).Where("a.enable_ach").Where("a.deleted_at IS NULL").
		Where("a.status NOT IN ('Closed', 'Pending')").Order("a.uid").Limit(1).For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("find the next default offset account: %w", err)
	}
	before := *next
	next.EnableOffset, next.DefaultOffset, next.Version, next.UpdatedAt = true, true, next.Version+1, tx.Now
	if _, err := tx.NewUpdate().Model(next).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("hand the default offset account on: %w", err)
	}
	return tx.Record(ctx, changes.Change{
		Action: "changeAccount", UID: next.UID, Customer: int64(next.Customer), Version: next.Version,
		Before: &before, After: next,
	})
}
