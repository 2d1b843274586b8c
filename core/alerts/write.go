package alerts

import (
	"context"
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
)

// Saved is the answer to a change of an alert.
type Saved struct {
	UID     UID          `json:"uid"`
	Account accounts.UID `json:"account"`
}

type operations struct {
	create, change *changes.Operation[Draft, Saved]
	remove         *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	const manage = access.ManageAccounts
	s.create = changes.Declare(all, "createBalanceAlert", object, manage, s.createTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeBalanceAlert", object, manage, s.changeTx)
	s.remove = changes.Declare(all, "deleteBalanceAlert", object, manage, s.removeTx)
}

// Create makes an alert for an account. It is armed unless the balance is beyond the threshold already: then
// it is once the balance has come back. If the customer's settings ask for dual approval
// (customerDualApproval), it does not count until a second person approves.
func (s *Service) Create(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.create.Require(ctx, "")
	if err == nil {
		err = draft.check(true)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.create.Do(ctx, caller, changes.Target{}, draft, options)
}

// Change changes what the draft gives, and arms the alert as Create does. It waits for a second person as
// Create does.
func (s *Service) Change(
	ctx context.Context, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err == nil {
		draft.Account = 0 // it stays
		err = draft.check(false)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// Delete ends an alert for good. It waits for a second person as Create does: an alert may be there to tell
// of what somebody is about to do. The row stays for the record, but no answer shows it.
func (s *Service) Delete(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.remove.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.remove.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

type lifecycle = changes.Lifecycle[*customers.Held, Alert]

// lifecycle is that of alerts; of is the account of a new one. All of a customer's new alerts come one after
// the other, so that none of its accounts gets too many.
func (s *Service) lifecycle(of accounts.UID) *lifecycle {
	return &lifecycle{
		Name: "balance alert",
		Hold: func(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
			if of == 0 {
				return customers.Hold(s.customers.HoldTx).
					Of("balance_alerts", "uid", ErrNotFound)(ctx, tx, at)
			}
			account := changes.Target{UID: of.String()}
			held, err := customers.Hold(s.customers.LockTx).Of("accounts", "uid", ErrAccount)(ctx, tx, &account)
			at.Customer = account.Customer
			return held, err
		},
		Lock: func(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Alert, error) {
			a := new(Alert)
			q := tx.NewSelect().Model(a).Where("ba.tenant = ?", tx.Caller.Tenant).Where("ba.uid = ?", at.UID).
				Where("ba.customer = ?", at.Customer).Where("ba.status <> ?", Deleted)
			return changes.Lock(ctx, q, a, ErrNotFound)
		},
		Row: func(a *Alert) changes.Row {
			return changes.Row{
				Model: a, UID: a.UID, Customer: int64(a.Customer), Version: &a.Version, UpdatedAt: &a.UpdatedAt,
				Gone: a.Status == Deleted,
			}
		},
		Asks:  customers.Asking[Alert](customers.AccessSettings.DualForCustomers),
		Wait:  func(a *Alert) { a.Status = Pending },
		Taken: map[string]error{"balance_alerts_once": ErrSame},
	}
}

func (s *Service) createTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Draft) (Saved, error) {
	return saved(s.lifecycle(d.Account).Add(ctx, tx, at, func(customer *customers.Held) (*Alert, error) {
		a := &Alert{
			Tenant: tx.Caller.Tenant, Account: d.Account, Customer: customer.UID, Status: Active, CreatedAt: tx.Now,
		}
		var kept bool
		var there int
		err := tx.NewRaw(`SELECT nextval('balance_alert_uids'), currency, system_of_record = ?2
			AND status <> ?3 AND deleted_at IS NULL,
			(SELECT count(*) FROM balance_alerts WHERE tenant = ?0 AND account = ?1 AND status <> ?4)
			FROM accounts WHERE tenant = ?0 AND uid = ?1`, a.Tenant, a.Account, accounts.InternalCore,
			accounts.Closed, Deleted).
			Scan(ctx, &a.UID, &a.Currency, &kept, &there)
		switch {
		case err != nil:
			return nil, err
		case !kept:
			return nil, ErrElsewhere
		case there >= mostOfAccount:
			return nil, ErrMany
		}
		if err := d.to(a); err != nil {
			return nil, err
		}
		return a, arm(ctx, tx, a)
	}))
}

// arm lets an alert fire with the next crossing, unless the balance is beyond the threshold already. What is
// booked meanwhile comes after: the next look at the alert finds it.
func arm(ctx context.Context, tx *changes.Tx, a *Alert) error {
	var ledger, held int64
	err := tx.NewRaw(`SELECT ledger, held FROM balances WHERE tenant = ? AND account = ?`, a.Tenant, a.Account).
		Scan(ctx, &ledger, &held)
	if err != nil {
		return fmt.Errorf("read the balance of account %s: %w", a.Account, err)
	}
	a.Armed = !a.beyond(a.of(ledger, held))
	return nil
}

// settleTx lets an alert count that waited for a second person, or removes a refused one.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle(0).Settle(ctx, tx, at, func(a *Alert) (changes.Settlement, error) {
		if !approved {
			a.Status = Deleted
			return changes.Changes, nil
		}
		a.Status = Active
		return changes.Changes, arm(ctx, tx, a)
	})
}

func (s *Service) changeTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Draft) (Saved, error) {
	return saved(s.lifecycle(0).Modify(ctx, tx, at, func(_, a *Alert) error {
		if err := d.to(a); err != nil {
			return err
		}
		return arm(ctx, tx, a)
	}))
}

func (s *Service) removeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle(0).Modify(ctx, tx, at, func(_, a *Alert) error {
		a.Status = Deleted
		return nil
	}))
}

func saved(a *Alert, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{a.UID, a.Account}, nil
}
