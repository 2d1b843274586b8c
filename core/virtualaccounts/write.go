package virtualaccounts

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"math/big"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/probes"
	"bankgraph/core/seal"
)

// Saved is the answer to a change of a virtual account.
type Saved struct {
	UID UID `json:"uid"`
}

type operations struct {
	open, change *changes.Operation[Draft, Saved]
	close        *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	const manage = access.ManageAccounts
	s.open = changes.Declare(all, "openVirtualAccount", object, manage, s.openTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeVirtualAccount", object, manage, s.changeTx)
	s.close = changes.Declare(all, "closeVirtualAccount", object, manage, s.closeTx)
}

// Open opens a virtual account on an account of a customer, with a number that the bank gives. If the
// settings ask for dual approval (customerDualApproval), it is Suspended until a second person approves.
func (s *Service) Open(
	ctx context.Context, of customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.open.Require(ctx, "")
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, of, draft.check(true))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.naming(ctx, s.open, caller, changes.Target{Customer: int64(of)}, draft, options)
}

// naming carries out a change that may name the master account by its number.
func (s *Service) naming(
	ctx context.Context, o *changes.Operation[Draft, Saved], caller access.Caller, at changes.Target,
	draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return probes.Naming(s.probes, caller, draft.MasterNumber.Value, func() (changes.Outcome[Saved], error) {
		return o.Do(ctx, caller, at, draft, options)
	})
}

// Change changes the fields in the draft. If the customer is 0, the owner of the virtual account is used; so
// it is in Close.
func (s *Service) Change(
	ctx context.Context, of customers.UID, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, of, draft.check(false))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.naming(ctx, s.change, caller, target(of, uid), draft, options)
}

// Close closes a virtual account for good: it takes no more credits. What came in for it stays on its master
// account, and its balance still tells how much that is.
func (s *Service) Close(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.close.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.close.Do(ctx, caller, target(of, uid), struct{}{}, options)
}

// ChangeNumbered is Change for the virtual account of a customer that has this number.
func (s *Service) ChangeNumbered(
	ctx context.Context, of customers.UID, number Number, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, "")
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	uid, err := s.uidOf(ctx, caller, of, number)
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.Change(ctx, of, uid, draft, options)
}

// CloseNumbered is Close for the virtual account of a customer that has this number.
func (s *Service) CloseNumbered(
	ctx context.Context, of customers.UID, number Number, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.close.Require(ctx, "")
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	uid, err := s.uidOf(ctx, caller, of, number)
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.Close(ctx, of, uid, options)
}

func target(of customers.UID, uid UID) changes.Target {
	return changes.Target{Customer: int64(of), UID: uid.String()}
}

func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, VirtualAccount] {
	return &changes.Lifecycle[*customers.Held, VirtualAccount]{
		Name: "virtual account",
		Hold: customers.Hold(s.customers.HoldTx).Of("virtual_accounts", "uid", ErrNotFound),
		Lock: lock,
		Row: func(v *VirtualAccount) changes.Row {
			return changes.Row{
				Model: v, UID: v.UID, Customer: int64(v.Customer), Version: &v.Version, UpdatedAt: &v.UpdatedAt,
			}
		},
		Asks: customers.Asking[VirtualAccount](customers.AccessSettings.DualForCustomers),
		Wait: func(v *VirtualAccount) { v.Status = Suspended },
	}
}

// lock locks the master account in the books before the virtual account, as payments do: a credit that comes
// in meanwhile finds the virtual account as the change leaves it.
func lock(
	ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target,
) (*VirtualAccount, error) {
	if _, err := tx.NewRaw(`SELECT 1 FROM balances WHERE tenant = ?0 AND account =
		(SELECT account FROM virtual_accounts WHERE tenant = ?0 AND uid = ?1 AND customer = ?2) FOR NO KEY UPDATE`,
		tx.Caller.Tenant, at.UID, at.Customer).Exec(ctx); err != nil {
		return nil, fmt.Errorf("lock the master account: %w", err)
	}
	v := new(VirtualAccount)
	q := tx.NewSelect().Model(v).Where("va.tenant = ?", tx.Caller.Tenant).Where("va.uid = ?", at.UID).
		Where("va.customer = ?", at.Customer)
	return changes.Lock(ctx, q, v, ErrNotFound)
}

func (s *Service) openTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	return saved(s.lifecycle().Add(ctx, tx, at, func(customer *customers.Held) (*VirtualAccount, error) {
		m, err := s.masterTx(ctx, tx, customer.UID, draft)
		if err != nil {
			return nil, err
		}
		if err := m.open(); err != nil {
			return nil, err
		}
		v := &VirtualAccount{
			Tenant: tx.Caller.Tenant, Customer: customer.UID, Account: m.UID, Currency: m.Currency, Status: Active,
			CreatedAt: tx.Now,
		}
		if err := tx.NewRaw(`SELECT nextval('virtual_account_uids')`).Scan(ctx, &v.UID); err != nil {
			return nil, err
		}
		if err := s.numberTx(ctx, tx, v); err != nil {
			return nil, err
		}
		return v, first(draft.to(v))
	}))
}

// master is what a virtual account needs to know of its master account.
type master struct {
	bun.BaseModel `bun:"table:accounts,alias:a"`

	UID            accounts.UID            `bun:"uid"`
	Currency       money.Currency          `bun:"currency"`
	Status         accounts.Status         `bun:"status"`
	SystemOfRecord accounts.SystemOfRecord `bun:"system_of_record"`
}

// open returns ErrMasterState for an account that nothing can be credited to.
func (m *master) open() error {
	if m.Status != accounts.Active || m.SystemOfRecord != accounts.InternalCore {
		return ErrMasterState.With(string(m.Status))
	}
	return nil
}

// masterTx reads the account of a customer that a draft names.
func (s *Service) masterTx(ctx context.Context, tx *changes.Tx, of customers.UID, d Draft) (*master, error) {
	m := new(master)
	q := tx.NewSelect().Model(m).Where("a.tenant = ?", tx.Caller.Tenant).Where("a.customer = ?", of).
		Where("a.deleted_at IS NULL")
	if d.Master != 0 {
		q = q.Where("a.uid = ?", d.Master)
	} else {
		hashes := s.keys.Hashes(int64(tx.Caller.Tenant), accounts.NumberColumn, d.MasterNumber.Value)
		q = q.Where("a.number_hash IN ?", bun.Tuple(hashes))
	}
	if err := q.Scan(ctx); errors.Is(err, sql.ErrNoRows) {
		return nil, ErrMaster
	} else if err != nil {
		return nil, fmt.Errorf("find the master account: %w", err)
	}
	return m, nil
}

// draws bounds how often a number is drawn. That one is taken is as rare as a win in a lottery.
const draws = 10

// numberTx gives a virtual account a number that no other virtual account and no account has, so that a
// credit names only one of them.
func (s *Service) numberTx(ctx context.Context, tx *changes.Tx, v *VirtualAccount) error {
	for range draws {
		number, err := draw()
		if err != nil {
			return err
		}
		taken, err := accounts.NumberTakenTx(ctx, tx, s.keys, v.Tenant, number)
		if err != nil {
			return err
		}
		if !taken {
			v.Number = s.keys.Seal(number, place(v.Tenant, v.UID))
			return nil
		}
	}
	return errors.New("virtual accounts: no free number was drawn")
}

// draw draws a number. Nobody can guess it, or tell from it when or for whom it was given.
func draw() (string, error) {
	const digits = accounts.VirtualDigits - 1
	n, err := rand.Int(rand.Reader, new(big.Int).Exp(big.NewInt(10), big.NewInt(digits), nil))
	if err != nil {
		return "", fmt.Errorf("draw a number: %w", err)
	}
	return fmt.Sprintf("%c%0*d", accounts.VirtualFirst, digits, n), nil
}

// settleTx carries out the decision of a second person: the virtual account can be used, or is closed.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle().Settle(ctx, tx, at, func(v *VirtualAccount) (changes.Settlement, error) {
		if v.Status = Closed; !approved {
			return changes.Changes, nil
		}
		m, err := s.masterTx(ctx, tx, v.Customer, Draft{Master: v.Account})
		if err != nil {
			return changes.Stays, err
		}
		v.Status = Active
		return changes.Changes, m.open()
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	return saved(s.lifecycle().Modify(ctx, tx, at, func(_, v *VirtualAccount) error {
		if v.Status == Closed {
			return ErrClosed
		}
		if err := s.staysTx(ctx, tx, v, draft); err != nil {
			return err
		}
		return first(draft.to(v))
	}))
}

// staysTx returns a fault if a draft names another master account. A masked number counts as the one that
// callers read.
func (s *Service) staysTx(ctx context.Context, tx *changes.Tx, v *VirtualAccount, d Draft) error {
	if d.Master == 0 && d.MasterNumber.Value == "" {
		return nil
	}
	if seal.LooksMasked(d.MasterNumber.Value) {
		var last4 string
		if err := tx.NewRaw(`SELECT number_last4 FROM accounts WHERE tenant = ? AND uid = ?`, v.Tenant, v.Account).
			Scan(ctx, &last4); err != nil {
			return fmt.Errorf("read the number of the master account: %w", err)
		}
		if d.MasterNumber.Value == (seal.Value{Last4: last4}).Masked() {
			return nil
		}
		return ErrMasterStays
	}
	m, err := s.masterTx(ctx, tx, v.Customer, d)
	if err == nil && m.UID != v.Account {
		err = ErrMasterStays
	}
	return err
}

func (s *Service) closeTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
	return saved(s.lifecycle().Modify(ctx, tx, at, func(_, v *VirtualAccount) (err error) {
		v.Status, err = closing.Take(v.Status)
		return err
	}))
}

func saved(v *VirtualAccount, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{v.UID}, nil
}

// first returns the first of several faults.
func first(err error) error {
	if f, ok := fault.Of(err); ok {
		return f
	}
	return err
}
