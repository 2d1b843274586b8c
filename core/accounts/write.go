package accounts

import (
	"bytes"
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/seal"
	"bankgraph/core/states"
)

// Keep enters an account into the bank's books with a zero balance, changes the currency of one without
// bookings, or notes whether it is closed, as one that left the books is there: nobody can use money in it.
// Package ledger, which comes after accounts, provides it.
type Keep func(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, account UID, in money.Currency, closed bool,
) error

// Saved is the answer to a change of an account.
type Saved struct {
	UID                 UID    `json:"uid"`
	ExternalReferenceID string `json:"externalReferenceId"`

	renumbered bool // the account gets another number
}

type operations struct {
	open, change                     *changes.Operation[Draft, Saved]
	close, suspend, activate, remove *changes.Operation[struct{}, Saved]
	sweeping
}

func (s *Service) declare(all *changes.Service) {
	s.open = changes.Declare(all, "openAccount", "account", access.ManageAccounts, s.openTx).
		Settle(s.settleTx)
	s.change = changes.Declare(all, "changeAccount", "account", access.ManageAccounts, s.changeTx)
	s.close = changes.Declare(all, "closeAccount", "account", access.ManageAccounts, s.becomeTx(closing))
	s.suspend = changes.Declare(all, "suspendAccount", "account", access.ManageAccounts, s.suspendTx)
	s.activate = changes.Declare(all, "activateAccount", "account", access.ManageAccounts,
		s.becomeTx(activating))
	s.remove = changes.Declare(all, "deleteAccount", "account", access.ManageAccounts, s.removeTx)
	s.declareSweeps(all)
}

// Open opens an account with a zero balance for a customer. If the customer's settings ask for dual approval
// (customerDualApproval), the account is Pending until a second person approves.
func (s *Service) Open(
	ctx context.Context, of customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.open.Require(ctx, "")
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := draft.check(true); err != nil {
		return changes.Outcome[Saved]{}, s.customers.PreferCustomerFault(ctx, of, err)
	}
	return s.numbering(ctx, s.open, caller, changes.Target{Customer: int64(of)}, draft, options)
}

// Change changes the fields in the draft. If the customer is 0, the account's own customer counts; so
// it does in the methods below.
func (s *Service) Change(
	ctx context.Context, of customers.UID, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := draft.check(false); err != nil {
		return changes.Outcome[Saved]{}, s.customers.PreferCustomerFault(ctx, of, err)
	}
	return s.numbering(ctx, s.change, caller, target(of, uid), draft, options)
}

// Close closes an account for good.
func (s *Service) Close(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.close.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.close.Do(ctx, caller, target(of, uid), struct{}{}, options)
}

// Suspend lets the money of an account stand still, until somebody of the bank activates it. It is for the
// bank alone, and takes effect at once: it waits for no second person. Payments that wait for their day fail
// on it, those that wait for their network go on waiting, and what comes in goes back.
func (s *Service) Suspend(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.suspend.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.suspend.Do(ctx, caller, target(of, uid), struct{}{}, options)
}

// Activate makes an account active, for the first time or again; one that is Suspended for the bank alone.
func (s *Service) Activate(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.activate.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.activate.Do(ctx, caller, target(of, uid), struct{}{}, options)
}

// Act is Close or Activate, for the older interface.
func (s *Service) Act(
	ctx context.Context, of customers.UID, uid UID, action Action, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	if action == Close {
		return s.Close(ctx, of, uid, options)
	}
	return s.Activate(ctx, of, uid, options)
}

// Delete deletes an account on which nothing was ever booked. Its row and its balance row stay for the
// record, but no answer shows it. Its number may be used again by the same
// customer, or where the bank gives it to another; its UID never.
func (s *Service) Delete(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.remove.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.remove.Do(ctx, caller, target(of, uid), struct{}{}, options)
}

func target(of customers.UID, uid UID) changes.Target {
	return changes.Target{Customer: int64(of), UID: uid.String()}
}

// lifecycle opens and changes accounts, those of one customer one after the other, so that the first account
// of an ACH company id is certain.
func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, Account] {
	return &changes.Lifecycle[*customers.Held, Account]{
		Name: "account",
		Hold: s.holding(),
		Lock: lock,
		Row: func(a *Account) changes.Row {
			return changes.Row{
				Model: a, UID: a.UID, Customer: int64(a.Customer), Version: &a.Version, UpdatedAt: &a.UpdatedAt,
				Gone: a.DeletedAt != nil,
			}
		},
		Asks:  customers.Asking[Account](customers.AccessSettings.DualForCustomers),
		Wait:  func(a *Account) { a.Status = Pending },
		Write: s.writeTx,
		Taken: map[string]error{"accounts_number": ErrNumberTaken, "accounts_default_offset": ErrOffsetTaken},
	}
}

func (s *Service) holding() func(context.Context, *changes.Tx, *changes.Target) (*customers.Held, error) {
	return customers.Hold(s.customers.LockTx).Of("accounts", "uid", ErrNotFound)
}

func lock(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Account, error) {
	a := new(Account)
	q := tx.NewSelect().Model(a).Where("a.tenant = ?", tx.Caller.Tenant).Where("a.uid = ?", at.UID).
		Where("a.customer = ?", at.Customer).Where("a.deleted_at IS NULL")
	return changes.Lock(ctx, q, a, ErrNotFound.On("accountUID"))
}

func (s *Service) writeTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	if err := s.refusedOffsetTx(ctx, tx, was, a); err != nil {
		return err
	}
	if err := s.givenUpTx(ctx, tx, was, a); err != nil {
		return err
	}
	return s.keepTx(ctx, tx, was, a)
}

// keepTx calls Keep for an account that is new to the books, changes its currency, leaves the books, is
// closed or reopened. One that left them is closed there.
func (s *Service) keepTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	here := func(a *Account) bool { return a != nil && a.SystemOfRecord == InternalCore }
	if !here(was) && !here(a) || here(was) && here(a) && was.Currency == a.Currency &&
		(was.Status == Closed) == (a.Status == Closed) {
		return nil
	}
	return s.keep(ctx, tx.Tx, a.Tenant, a.UID, a.Currency, a.Status == Closed || !here(a))
}

func (s *Service) openTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	if err := arranges(tx.Caller); err != nil {
		return Saved{}, err
	}
	l := s.lifecycle()
	return saved(l.Add(ctx, tx, at, func(customer *customers.Held) (*Account, error) {
		a := &Account{
			Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active, SECCodes: []string{},
			AdditionalAttributes: []customers.Attribute{}, CreatedAt: tx.Now,
		}
		if err := tx.NewRaw(`SELECT nextval('account_uids')`).Scan(ctx, &a.UID); err != nil {
			return nil, err
		}
		err := s.applyTx(ctx, tx, nil, a, draft)
		if err == nil {
			l.Reserved, err = reservedTx(ctx, tx, nil, a)
		}
		return a, err
	}))
}

func saved(a *Account, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{UID: a.UID, ExternalReferenceID: a.ExternalReferenceID}, nil
}

// arranges returns an error if the caller may not open, close, delete or activate accounts. The people of a
// customer that is no partner may not; they may name its accounts and set up sweeps.
func arranges(caller access.Caller) error {
	if caller.Reach == access.OfCustomer {
		return access.ErrDenied
	}
	return nil
}

// settleTx activates an account that was Pending, or deletes it if it was refused. An account that something
// names meanwhile cannot be refused.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	l := s.lifecycle()
	return l.Settle(ctx, tx, at, func(a *Account) (_ changes.Settlement, err error) {
		if approved {
			a.Status = Active
			if l.Reserved, err = reservedTx(ctx, tx, nil, a); err != nil { // things may have changed since
				return changes.Stays, err
			}
			return changes.Changes, s.approvedOffsetTx(ctx, tx, a)
		}
		if err := s.unusedTx(ctx, tx, a); err != nil {
			return changes.Stays, err
		}
		a.Status, a.DefaultOffset, a.DeletedAt = Closed, false, &tx.Now
		return changes.Changes, nil
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	l, renumbered := s.lifecycle(), false
	done, err := saved(l.Modify(ctx, tx, at, func(was, a *Account) error {
		if a.Status.final() {
			return ErrClosed
		}
		if err := draft.arranged(tx.Caller); err != nil {
			return err
		}
		err := s.applyTx(ctx, tx, was, a, draft)
		if err == nil {
			l.Reserved, err = reservedTx(ctx, tx, was, a)
		}
		if err == nil && a.unguarded(was) && !tx.Approved() { // it allows all that rules would have to
			_, err = access.Require(ctx, access.ManagePositiveRules)
		}
		renumbered = !bytes.Equal(was.Number.Hash, a.Number.Hash)
		if err == nil && renumbered && was.stopped(tx.Caller) {
			err = ErrBankSuspends
		}
		return err
	}))
	done.renumbered = renumbered && err == nil
	return done, err
}

// stopped reports whether the bank has suspended an account, for a caller outside it: who could close, delete
// or renumber it would open another one under its number.
func (a *Account) stopped(by access.Caller) bool {
	return a.Status == Suspended && by.Reach != access.OfBank
}

// take moves an account to another status. It keeps the reason, if there is one.
func (a *Account) take(step states.Step[Status], reason string) (err error) {
	if a.Status, err = step.Take(a.Status); err == nil && reason != "" {
		a.Reason = reason
	}
	return err
}

// becomeTx closes or activates an account. See suspendTx for the third status.
func (s *Service) becomeTx(
	step states.Step[Status],
) func(context.Context, *changes.Tx, changes.Target, struct{}) (Saved, error) {
	return func(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
		return saved(s.lifecycle().Modify(ctx, tx, at, func(_, a *Account) error {
			if err := arranges(tx.Caller); err != nil {
				return err
			}
			if a.stopped(tx.Caller) {
				return ErrBankSuspends
			}
			if step.To == Active && a.Status == Closed {
				return s.reopenTx(ctx, tx, a)
			}
			if err := a.take(step, tx.Options.Reason); err != nil || step.To != Closed {
				return err
			}
			a.DefaultOffset = false
			return s.endTx(ctx, tx, a)
		}))
	}
}

// reopenTx activates an account that is closed, for the bank alone, and only to get out what has come back to
// it since.
func (s *Service) reopenTx(ctx context.Context, tx *changes.Tx, a *Account) error {
	money, err := s.moneyTx(ctx, tx, a)
	switch {
	case err != nil:
		return err
	case !money, tx.Caller.Reach != access.OfBank:
		return ErrClosed
	}
	return a.take(reopening, tx.Options.Reason)
}

// suspendTx suspends an account for the bank alone, and without a second person.
func (s *Service) suspendTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	l := s.lifecycle()
	l.Asks = nil
	return saved(l.Modify(ctx, tx, at, func(_, a *Account) error {
		if tx.Caller.Reach != access.OfBank {
			return ErrBankSuspends
		}
		return a.take(suspending, tx.Options.Reason)
	}))
}

func (s *Service) removeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	l := s.lifecycle()
	return saved(l.Modify(ctx, tx, at, func(_, a *Account) error {
		if err := arranges(tx.Caller); err != nil {
			return err
		}
		if a.stopped(tx.Caller) {
			return ErrBankSuspends
		}
		// its callbacks go with it, by which other accounts of the customer are measured
		l.Reserved = tx.Caller.Reach != access.OfBank && a.confirmedFrom() != nil
		if err := s.endTx(ctx, tx, a); err != nil {
			return err
		}
		booked, err := s.bookedTx(ctx, tx, a)
		if err == nil && booked {
			err = ErrBooked
		}
		a.DefaultOffset, a.DeletedAt = false, &tx.Now
		return err
	}))
}

// seal seals the numbers that the draft gives, for this row.
func (s *Service) seal(a *Account, draft Draft) {
	at := seal.Place{Tenant: int64(a.Tenant), Row: int64(a.UID)}
	for _, number := range []struct {
		column string
		clear  string
		given  bool
		stored *seal.Value
	}{
		{NumberColumn, draft.Number.Value, draft.Number.Given, &a.Number},
		{FBONumberColumn, draft.FBONumber.Value, draft.FBONumber.Given, &a.FBONumber},
		{
			ExternalTokenColumn, draft.ExternalAccount.Token.Value, draft.ExternalAccount.Token.Given,
			&a.ExternalToken,
		},
	} {
		if !number.given {
			continue
		}
		at.Column = number.column
		*number.stored = s.keys.Replace(*number.stored, number.clear, at)
	}
}
