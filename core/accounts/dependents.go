package accounts

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
)

// The checks of what depends on an account. The customer is locked already, so none of its accounts changes
// meanwhile.

// applyTx writes a draft into an account that is opened (was is nil) or changed, and checks the rules that
// involve other rows.
func (s *Service) applyTx(ctx context.Context, tx *changes.Tx, was, a *Account, draft Draft) error {
	c := check.Of("account")
	if draft.keep(c, a); c.Err() != nil {
		return first(c.Err())
	}
	if err := draft.to(a); err != nil {
		return err
	}
	s.seal(a, draft)
	if err := s.freeTx(ctx, tx, was, a); err != nil {
		return err
	}
	if draft.AdditionalAttributes != nil {
		stored, err := s.customers.AttributesTx(ctx, tx, a.Tenant, customers.ForAccounts, "additionalAttributes",
			a.AdditionalAttributes, draft.AdditionalAttributes)
		if err != nil {
			return first(err)
		}
		a.AdditionalAttributes = stored
	}
	if was == nil && a.SystemOfRecord == InternalCore {
		a.BalanceType = "DDA"
	}
	if err := s.offsetTx(ctx, tx, was, a, draft); err != nil {
		return err
	}
	if err := follows(was, a, draft.Older); err != nil {
		return err
	}
	if err := s.behindTx(ctx, tx, was, a, draft); err != nil {
		return err
	}
	if was == nil {
		return nil
	}
	if !bytes.Equal(was.Number.Hash, a.Number.Hash) {
		if err := s.inFrontTx(ctx, tx, was); err != nil {
			return err
		}
	}
	return s.movableTx(ctx, tx, was, a)
}

// behindTx finds the account that a Pseudo account stands in front of, which must be an open one of the same
// customer.
func (s *Service) behindTx(ctx context.Context, tx *changes.Tx, was, a *Account, draft Draft) error {
	if a.FBONumber.Hash == nil || was != nil && bytes.Equal(was.FBONumber.Hash, a.FBONumber.Hash) {
		return nil
	}
	behind := new(Account)
	at := seal.Place{Tenant: int64(a.Tenant), Column: NumberColumn}
	hashes := s.keys.Hashes(at.Tenant, at.Column, draft.FBONumber.Value)
	err := tx.NewSelect().Model(behind).Column("uid", "sub_type", "status").Where("a.tenant = ?", a.Tenant).
		Where("a.customer = ?", a.Customer).
		Where("a.number_hash IN ?", bun.Tuple(hashes)).Where("a.deleted_at IS NULL").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) && !s.keys.Same(a.Number, draft.FBONumber.Value, at) {
		return fault.Field("account", "fboAccountNumber", fault.Unknown,
			"must be the number of an account of the same customer")
	}
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("find the account behind account %s: %w", a.UID, err)
	}
	if behind.UID == 0 || behind.UID == a.UID || behind.SubType == Pseudo || behind.Status.final() {
		return fault.Field("account", "fboAccountNumber", fault.NoMatch,
			"must be the number of another account, open and not a Pseudo account itself")
	}
	if tx.Approved() && behind.UID != draft.Behind { // another account has the number by now
		return changes.ErrStale
	}
	draft.Behind = behind.UID
	return tx.Keep(draft)
}

// inFrontTx returns ErrInFront if an open Pseudo account stands in front of this one.
func (s *Service) inFrontTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	clear, err := s.keys.Open(a.Number, numberPlace(a))
	if err != nil {
		return fmt.Errorf("open the number of account %s: %w", a.UID, err)
	}
	return s.refusedTx(ctx, tx, ErrInFront,
		`SELECT EXISTS (SELECT FROM accounts WHERE tenant = ? AND customer = ? AND uid <> ?
		AND fbo_number_hash IN ? AND deleted_at IS NULL AND status <> 'Closed')`,
		a.Tenant, a.Customer, a.UID, bun.Tuple(s.keys.Hashes(int64(a.Tenant), FBONumberColumn, clear)))
}

// endTx returns an error if the account may not be closed or deleted.
func (s *Service) endTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	if err := s.emptyTx(ctx, tx, a); err != nil {
		return err
	}
	if err := s.unusedTx(ctx, tx, a); err != nil {
		return err
	}
	return s.refusedTx(ctx, tx, ErrDefaultOffset, `SELECT EXISTS (SELECT FROM accounts AS a JOIN accounts AS o
		ON o.tenant = a.tenant AND o.customer = a.customer AND o.ach_company_id = a.ach_company_id
		  AND o.uid <> a.uid
		WHERE a.tenant = ? AND a.uid = ? AND a.default_offset AND a.ach_company_id <> ''
		AND o.deleted_at IS NULL AND o.status <> 'Closed')`, a.Tenant, a.UID)
}

// unusedTx looks whether a Pseudo account, a sweep or a fee tier names the account.
func (s *Service) unusedTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	if err := s.inFrontTx(ctx, tx, a); err != nil {
		return err
	}
	if err := s.sweptTx(ctx, tx, a); err != nil {
		return err
	}
	return s.refusedTx(ctx, tx, ErrCharged,
		`SELECT EXISTS (SELECT FROM fee_tiers WHERE tenant = ? AND account = ? AND status <> 'Refused')`, a.Tenant,
		a.UID)
}

// movableTx returns an error if the account's currency or system of record may not change, because of its
// bookings, its money or its payments: one that waits for its day is of the currency in which it was made.
func (s *Service) movableTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	if was.Currency == a.Currency && was.SystemOfRecord == a.SystemOfRecord {
		return nil
	}
	if was.Currency == a.Currency && a.SystemOfRecord == InternalCore {
		return nil // with what has come to it meanwhile
	}
	if err := s.emptyTx(ctx, tx, was); err != nil {
		return err
	}
	if err := s.refusedTx(ctx, tx, ErrUnderWay, `SELECT EXISTS (SELECT FROM payments WHERE tenant = ?0
		AND (sender_account = ?1 OR receiver_account = ?1) AND direction = 'IN'
		AND state IN ('VALIDATED', 'HOLD', 'SCREENING'))`, a.Tenant, a.UID); err != nil {
		return err
	}
	if was.Currency == a.Currency {
		return nil
	}
	booked, err := s.bookedTx(ctx, tx, was)
	if err != nil {
		return err
	}
	if booked {
		return ErrFormerCurrency
	}
	if err := s.refusedTx(ctx, tx, ErrNamedCurrency, `SELECT
		EXISTS (SELECT FROM payments WHERE tenant = ?0 AND (sender_account = ?1 OR receiver_account = ?1))
		OR EXISTS (SELECT FROM virtual_accounts WHERE tenant = ?0 AND account = ?1 AND status <> 'Closed')
		OR EXISTS (SELECT FROM balance_alerts WHERE tenant = ?0 AND account = ?1 AND status <> 'DELETED')
		OR EXISTS (SELECT FROM account_holds WHERE tenant = ?0 AND account = ?1 AND status IN ('Pending', 'Active'))
		OR EXISTS (SELECT FROM positive_pay_rules WHERE tenant = ?0 AND account = ?1 AND state <> 'Deleted')`,
		was.Tenant, was.UID); err != nil {
		return err
	}
	return s.sweptTx(ctx, tx, was)
}

// emptyTx returns ErrMoney if the account's ledger or held balance is not zero, and ErrUnderWay if money may
// still come to it of what is under way.
func (s *Service) emptyTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	switch money, err := s.moneyTx(ctx, tx, a); {
	case err != nil:
		return err
	case money:
		return ErrMoney
	}
	return s.refusedTx(ctx, tx, ErrUnderWay, `SELECT EXISTS (SELECT FROM payments WHERE tenant = ?0
		AND (sender_account = ?1 OR receiver_account = ?1)
		AND (state = 'RETURNING' OR state = 'RECALLING' AND rail = 'ACH'
		  OR state IN ('SCREENING', 'QUEUED', 'SENT') AND direction = 'OUT'
		    AND (entry_type = 'CREDIT' OR rail = 'ACH')))`, a.Tenant, a.UID)
}

// moneyTx reports whether the account's ledger or held balance is not zero. It locks the balance, as whoever
// moves payments on does.
func (s *Service) moneyTx(ctx context.Context, tx *changes.Tx, a *Account) (bool, error) {
	var money []bool
	err := tx.NewRaw(
		`SELECT ledger <> 0 OR held <> 0 FROM balances WHERE tenant = ? AND account = ? FOR NO KEY UPDATE`,
		a.Tenant, a.UID).Scan(ctx, &money)
	return len(money) > 0 && money[0], err
}

// bookedTx reports whether anything was ever booked on the account.
func (s *Service) bookedTx(ctx context.Context, tx *changes.Tx, a *Account) (booked bool, err error) {
	err = tx.NewRaw(`SELECT EXISTS (SELECT FROM balances WHERE tenant = ? AND account = ? AND version > 0)`,
		a.Tenant, a.UID).Scan(ctx, &booked)
	return booked, err
}

// sweptTx returns ErrSwept if a sweep is set up for the account.
func (s *Service) sweptTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	return s.refusedTx(ctx, tx, ErrSwept, `SELECT EXISTS (SELECT FROM sweeps WHERE tenant = ? AND account = ?)`,
		a.Tenant, a.UID)
}

func (s *Service) refusedTx(
	ctx context.Context, tx *changes.Tx, refusal error, exists string, values ...any,
) error {
	var found bool
	if err := tx.NewRaw(exists, values...).Scan(ctx, &found); err != nil {
		return err
	}
	if found {
		return refusal
	}
	return nil
}
