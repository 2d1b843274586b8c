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
	"bankgraph/core/money"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Keep takes an account into the bank's books, empty, or gives one without bookings another currency. The ledger,
// which comes after accounts, is told so.
type Keep func(ctx context.Context, tx bun.Tx, tenant access.Tenant, account UID, in money.Currency) error

// Saved is what a change of an account answers.
type Saved struct {
	UID                 UID    `json:"uid"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

// operations are what can be done to accounts.
type operations struct {
	open, change            *changes.Operation[Draft, Saved]
	close, activate, remove *changes.Operation[struct{}, Saved]
	sweeping
}

func (s *Service) declare(all *changes.Service) {
	s.open = changes.Declare(all, "openAccount", "account", access.ManageAccounts, s.openTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeAccount", "account", access.ManageAccounts, s.changeTx)
	s.close = changes.Declare(all, "closeAccount", "account", access.ManageAccounts, s.actTx(Close))
	s.activate = changes.Declare(all, "activateAccount", "account", access.ManageAccounts, s.actTx(Activate))
	s.remove = changes.Declare(all, "deleteAccount", "account", access.ManageAccounts, s.removeTx)
	s.declareSweeps(all)
}

// Open gives a customer an account, without any money in it. Where the customer's settings ask for dual approval
// (customerDualApproval), the account is Pending until a second person approves.
func (s *Service) Open(ctx context.Context, of customers.UID, draft Draft, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.open.Require(ctx, "")
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := draft.check(true); err != nil {
		return changes.Outcome[Saved]{}, s.customers.WithinFirst(ctx, of, err)
	}
	return s.open.Do(ctx, caller, changes.Target{Customer: int64(of)}, draft, terms)
}

// Change changes what the draft gives. Without a customer (0) it is the account's own, here and in all that follow.
func (s *Service) Change(ctx context.Context, of customers.UID, uid UID, draft Draft, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := draft.check(false); err != nil {
		return changes.Outcome[Saved]{}, s.customers.WithinFirst(ctx, of, err)
	}
	return s.change.Do(ctx, caller, target(of, uid), draft, terms)
}

// Close closes an account for good.
func (s *Service) Close(ctx context.Context, of customers.UID, uid UID, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.close.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.close.Do(ctx, caller, target(of, uid), struct{}{}, terms)
}

// Activate puts an account into use, for the first time or again.
func (s *Service) Activate(ctx context.Context, of customers.UID, uid UID, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.activate.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.activate.Do(ctx, caller, target(of, uid), struct{}{}, terms)
}

// Act is Close or Activate, as the older interface asks for them.
func (s *Service) Act(ctx context.Context, of customers.UID, uid UID, action Action, terms changes.Terms) (changes.Outcome[Saved], error) {
	if action == Close {
		return s.Close(ctx, of, uid, terms)
	}
	return s.Activate(ctx, of, uid, terms)
}

// Delete takes an account away on which nothing was ever booked. Its row, and its place in the books, stay for the
// record; no answer shows it any more. Its number may be used again, its UID never.
func (s *Service) Delete(ctx context.Context, of customers.UID, uid UID, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.remove.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.remove.Do(ctx, caller, target(of, uid), struct{}{}, terms)
}

func target(of customers.UID, uid UID) changes.Target {
	return changes.Target{Customer: int64(of), UID: uid.String()}
}

func (s *Service) openTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	if err := arranges(tx.Caller); err != nil {
		return Saved{}, err
	}
	// Two accounts of one customer are opened one after the other: which is the first of an ACH company id is told.
	customer, err := s.customers.LockTx(ctx, tx, tx.Caller, customers.UID(at.Customer))
	if err != nil {
		return Saved{}, err
	}
	a := &Account{
		Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active, SECCodes: []string{}, AdditionalAttributes: []customers.Attribute{},
		CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
	}
	if err := tx.NewRaw(`SELECT nextval('account_uids')`).Scan(ctx, &a.UID); err != nil {
		return Saved{}, err
	}
	if err := s.applyTx(ctx, tx, nil, a, draft); err != nil {
		return Saved{}, err
	}
	dual := tx.Dual(customer.Asks(customers.AccessSettings.DualForCustomers))
	if dual {
		a.Status = Pending
	}
	if _, err := tx.NewInsert().Model(a).Exec(ctx); err != nil {
		return Saved{}, taken(err)
	}
	if a.SystemOfRecord == InternalCore {
		if err := s.keep(ctx, tx.Tx, a.Tenant, a.UID, a.Currency); err != nil {
			return Saved{}, err
		}
	}
	if err := tx.Record(ctx, changes.Done{UID: a.UID, Customer: at.Customer, Version: a.Version, After: a}); err != nil {
		return Saved{}, err
	}
	if dual {
		err = tx.Propose(ctx, changes.Proposal{Customer: at.Customer, UID: a.UID, Version: a.Version, After: a})
	}
	return a.saved(), err
}

func (a *Account) saved() Saved { return Saved{a.UID, a.ExternalReferenceID} }

// arranges tells whether the caller may open accounts, end them and move them between states: the people of a customer
// that is no partner may not. They name its accounts, and say how they are swept.
func arranges(caller access.Caller) error {
	if caller.Reach == access.OfCustomer {
		return access.ErrDenied
	}
	return nil
}

// settleTx makes an account that waited active, or takes it away again.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	if _, err := s.customers.LockTx(ctx, tx, tx.Caller, customers.UID(at.Customer)); err != nil {
		return err
	}
	a, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return err
	}
	if err := tx.Fresh(a.Version); err != nil {
		return err
	}
	was := *a
	if approved {
		a.Status = Active
	} else {
		a.Status, a.DefaultOffset, a.DeletedAt = Closed, false, &tx.Now
	}
	return s.writeTx(ctx, tx, &was, a)
}

func (s *Service) changeTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	return s.modifyTx(ctx, tx, at, func(was, a *Account) error {
		if a.Status.final() {
			return ErrClosed
		}
		if err := draft.arranged(tx.Caller); err != nil {
			return err
		}
		return s.applyTx(ctx, tx, was, a, draft)
	})
}

// actTx is one line of the table of states.
func (s *Service) actTx(action Action) func(context.Context, *changes.Tx, changes.Target, struct{}) (Saved, error) {
	return func(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
		return s.modifyTx(ctx, tx, at, func(_, a *Account) error {
			if err := arranges(tx.Caller); err != nil {
				return err
			}
			if err := a.act(action); err != nil {
				return err
			}
			if tx.Terms.Reason != "" {
				a.Reason = tx.Terms.Reason
			}
			if action != Close {
				return nil
			}
			a.DefaultOffset = false
			return s.endTx(ctx, tx, a)
		})
	}
}

func (s *Service) removeTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
	return s.modifyTx(ctx, tx, at, func(_, a *Account) error {
		if err := arranges(tx.Caller); err != nil {
			return err
		}
		if err := s.endTx(ctx, tx, a); err != nil {
			return err
		}
		booked, err := s.bookedTx(ctx, tx, a)
		if err == nil && booked {
			err = ErrBooked
		}
		a.DefaultOffset, a.DeletedAt = false, &tx.Now
		return err
	})
}

// modifyTx changes an account, or proposes to.
func (s *Service) modifyTx(ctx context.Context, tx *changes.Tx, at changes.Target, modify func(was, a *Account) error) (Saved, error) {
	customer, err := s.holdTx(ctx, tx, &at)
	if err != nil {
		return Saved{}, err
	}
	a, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return Saved{}, err
	}
	if err := tx.Fresh(a.Version); err != nil {
		return Saved{}, err
	}
	was := *a
	if err := modify(&was, a); err != nil {
		return Saved{}, err
	}
	if tx.Dual(customer.Asks(customers.AccessSettings.DualForCustomers)) {
		err := tx.Propose(ctx, changes.Proposal{Customer: at.Customer, UID: a.UID, Version: was.Version, Before: &was, After: a})
		return was.saved(), err
	}
	if err := tx.Quiet(ctx, a.UID); err != nil {
		return Saved{}, err
	}
	return a.saved(), s.writeTx(ctx, tx, &was, a)
}

// holdTx locks the account's customer, and says which it is.
func (s *Service) holdTx(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
	uid, _ := ParseUID("uid", at.UID)
	owner := tx.NewRaw(`SELECT customer FROM accounts WHERE tenant = ? AND uid = ?`, tx.Caller.Tenant, uid)
	held, err := customers.Hold(s.customers.LockTx).Whose(ctx, tx, tx.Caller, customers.UID(at.Customer), owner, ErrNotFound)
	if err == nil {
		at.Customer = int64(held.UID)
	}
	return held, err
}

// lockTx reads an account for a change.
func (s *Service) lockTx(ctx context.Context, tx *changes.Tx, at changes.Target) (*Account, error) {
	a := new(Account)
	uid, _ := ParseUID("uid", at.UID)
	err := tx.NewSelect().Model(a).Where("a.tenant = ?", tx.Caller.Tenant).Where("a.uid = ?", uid).
		Where("a.customer = ?", at.Customer).Where("a.deleted_at IS NULL").For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound.On("accountUID")
	}
	return a, err
}

// writeTx stores an account as it is now, with its next version, and tells the books where they are concerned.
func (s *Service) writeTx(ctx context.Context, tx *changes.Tx, was, a *Account) error {
	a.UpdatedAt, a.Version = tx.Now, was.Version+1
	if _, err := tx.NewUpdate().Model(a).WherePK().Exec(ctx); err != nil {
		return taken(err)
	}
	if a.SystemOfRecord == InternalCore && (was.SystemOfRecord != InternalCore || was.Currency != a.Currency) {
		if err := s.keep(ctx, tx.Tx, a.Tenant, a.UID, a.Currency); err != nil {
			return err
		}
	}
	done := changes.Done{UID: a.UID, Customer: int64(a.Customer), Version: a.Version, Before: was, After: a}
	if a.DeletedAt != nil {
		done.After = nil
	}
	return tx.Record(ctx, done)
}

// seal seals the numbers that the draft gives, for this row.
func (s *Service) seal(a *Account, draft Draft) {
	at := seal.Place{Tenant: int64(a.Tenant), Row: int64(a.UID)}
	for _, number := range []struct {
		column string
		clear  string
		given  bool
		stored *seal.Text
	}{
		{NumberColumn, draft.Number.Value, draft.Number.Given, &a.Number},
		{FBONumberColumn, draft.FBONumber.Value, draft.FBONumber.Given, &a.FBONumber},
		{ExternalTokenColumn, draft.ExternalAccount.Token.Value, draft.ExternalAccount.Token.Given, &a.ExternalToken},
	} {
		if !number.given {
			continue
		}
		at.Column = number.column
		*number.stored = s.keys.Replace(*number.stored, number.clear, at)
	}
}

// taken is the fault behind a refused row.
func taken(err error) error {
	switch constraint, _ := db.UniqueViolation(err); constraint {
	case "accounts_number":
		return ErrNumberTaken
	case "accounts_default_offset":
		return ErrOffsetTaken
	}
	return fmt.Errorf("write an account: %w", err)
}

// act moves an account along the table of states.
func (a *Account) act(action Action) error {
	for _, from := range actions[action].from {
		if a.Status == from {
			a.Status = actions[action].to
			return nil
		}
	}
	if a.Status.final() {
		return ErrClosed
	}
	return ErrActive
}
