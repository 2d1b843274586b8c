package accounts

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

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
		`SELECT uid FROM accounts WHERE tenant = ? AND number_hash IN ? AND customer = ? AND deleted_at IS NULL
		AND status <> 'Pending'`, tenant, bun.Tuple(s.keys.Hashes(int64(tenant), NumberColumn, number)), of).
		Scan(ctx, &uid)
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
	return len(number) == VirtualDigits && number[0] == VirtualFirst &&
		strings.Trim(number, "0123456789") == ""
}

// NumberTakenTx reports whether an account or a virtual account has this number, or had it. Nobody gives it
// to one until the transaction ends.
func NumberTakenTx(
	ctx context.Context, tx bun.IDB, keys *seal.Keys, tenant access.Tenant, number string,
) (taken bool, err error) {
	hashes := keys.Hashes(int64(tenant), NumberColumn, number)
	if err := db.WaitTx(ctx, tx, db.AccountNumbers, hashes); err != nil {
		return false, err
	}
	err = db.Raw(tx, `SELECT EXISTS (SELECT FROM accounts WHERE tenant = ?0 AND number_hash IN ?1)
		OR EXISTS (SELECT FROM virtual_accounts WHERE tenant = ?0 AND number_hash IN ?2)
		OR EXISTS (SELECT FROM account_former_numbers WHERE tenant = ?0 AND number_hash IN ?3)`,
		tenant, bun.Tuple(hashes), bun.Tuple(keys.Hashes(int64(tenant), VirtualNumberColumn, number)),
		bun.Tuple(keys.Hashes(int64(tenant), FormerNumberColumn, number))).Scan(ctx, &taken)
	if err != nil {
		return false, fmt.Errorf("look for a number: %w", err)
	}
	return taken, nil
}

// freeTx returns ErrNumberTaken if another account, or a virtual account, has the number of the draft. The
// unique index accounts_number compares hashes, so it misses equal numbers that are hashed under different
// keys, and those of virtual accounts; and a change that waits for the bank is written later. While there are
// several keys, for numbers of the form that virtual accounts have, and for callers outside the bank, writers
// of one number therefore wait for each other.
//
// Others go on paying to a number after its account was deleted, got another number or went to other books.
// So only the bank gives such a number to another customer.
func (s *Service) freeTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	if was != nil && bytes.Equal(was.Number.Hash, a.Number.Hash) && was.SystemOfRecord == a.SystemOfRecord ||
		len(a.Number.Hash) == 0 {
		return nil
	}
	number, err := s.keys.Open(a.Number, numberPlace(a))
	if err != nil {
		return fmt.Errorf("open the number of account %s: %w", a.UID, err)
	}
	hashes := s.keys.Hashes(int64(a.Tenant), NumberColumn, number)
	outside := tx.Caller.Reach != access.OfBank
	if outside && a.SystemOfRecord == InternalCore {
		if err := s.refusedTx(ctx, tx, ErrNumberTaken, `SELECT EXISTS (SELECT FROM accounts
			WHERE tenant = ?0 AND number_hash IN ?1 AND customer <> ?2 AND system_of_record = ?3
			  AND deleted_at IS NOT NULL)
			OR EXISTS (SELECT FROM account_former_numbers WHERE tenant = ?0 AND number_hash IN ?4
			  AND customer <> ?2)`, a.Tenant, bun.Tuple(hashes), a.Customer, InternalCore,
			bun.Tuple(s.keys.Hashes(int64(a.Tenant), FormerNumberColumn, number))); err != nil {
			return err
		}
	}
	if len(hashes) < 2 && !mayBeVirtual(number) && !outside {
		return nil
	}
	if err := db.WaitTx(ctx, tx, db.AccountNumbers, hashes); err != nil {
		return err
	}
	return s.refusedTx(ctx, tx, ErrNumberTaken,
		`SELECT EXISTS (SELECT FROM accounts WHERE tenant = ?0 AND number_hash IN ?1 AND uid <> ?2
			AND deleted_at IS NULL)
		OR EXISTS (SELECT FROM virtual_accounts WHERE tenant = ?0 AND number_hash IN ?3)`, a.Tenant,
		bun.Tuple(hashes), a.UID,
		bun.Tuple(s.keys.Hashes(int64(a.Tenant), VirtualNumberColumn, number)))
}

// FormerNumberColumn is the column for which numbers are sealed that accounts kept here have given up
// (seal.Place).
const FormerNumberColumn = "account_former_numbers.number"

// formerNumber is a number that an account of the bank's own books has given up, for another one or for other
// books. It is kept for good: there is no telling how long others go on paying to it.
type formerNumber struct {
	bun.BaseModel `bun:"table:account_former_numbers"`

	Tenant   access.Tenant `bun:"tenant,pk"`
	ID       int64         `bun:"id,pk"`
	Customer customers.UID `bun:"customer"`
	Account  UID           `bun:"account"`
	Number   seal.Value    `bun:"embed:number_"`
	At       time.Time     `bun:"at"`
}

// givenUpTx keeps the number that an account gives up. That of a deleted account stays in its row.
func (s *Service) givenUpTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	if was == nil || was.SystemOfRecord != InternalCore || len(was.Number.Hash) == 0 ||
		a.SystemOfRecord == InternalCore && bytes.Equal(was.Number.Hash, a.Number.Hash) {
		return nil
	}
	number, err := s.keys.Open(was.Number, numberPlace(was))
	if err != nil {
		return fmt.Errorf("open the former number of account %s: %w", a.UID, err)
	}
	f := &formerNumber{Tenant: a.Tenant, Customer: a.Customer, Account: a.UID, At: tx.Now}
	hashes := bun.Tuple(s.keys.Hashes(int64(a.Tenant), FormerNumberColumn, number))
	var known bool
	err = tx.NewRaw(`SELECT nextval('account_former_number_ids'), EXISTS (SELECT FROM account_former_numbers
		WHERE tenant = ? AND account = ? AND number_hash IN ?)`, a.Tenant, a.UID, hashes).
		Scan(ctx, &f.ID, &known)
	if err != nil || known {
		return err
	}
	f.Number = s.keys.Seal(number, seal.Place{Tenant: int64(a.Tenant), Column: FormerNumberColumn, Row: f.ID})
	if _, err := tx.NewInsert().Model(f).Exec(ctx); err != nil {
		return fmt.Errorf("keep the former number of account %s: %w", a.UID, err)
	}
	return nil
}

func numberPlace(a *Account) seal.Place {
	return seal.Place{Tenant: int64(a.Tenant), Column: NumberColumn, Row: int64(a.UID)}
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
