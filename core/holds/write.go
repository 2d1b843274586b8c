package holds

import (
	"context"
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Saved is the answer to a change of a hold.
type Saved struct {
	UID     UID          `json:"uid"`
	Account accounts.UID `json:"account"`
	Status  Status       `json:"status"`
}

// Place holds an amount of an account, as much as is available at most. If the customer's settings ask for
// dual approval (customerDualApproval), nothing is held until a second person approves.
func (s *Service) Place(
	ctx context.Context, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := arranging(s.place.Require(ctx, ""))
	if err == nil {
		err = draft.check(options.Reason)
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.place.Do(ctx, caller, changes.Target{}, draft, options)
}

// Release ends a hold that people have placed; one that the bank placed, for the bank alone. It waits for a
// second person as Place does.
func (s *Service) Release(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := arranging(s.release.Require(ctx, uid.String()))
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.release.Do(ctx, caller, changes.Target{UID: uid.String()}, Draft{}, options)
}

// arranging refuses the people of a customer: holds are arranged with it, not by it.
func arranging(caller access.Caller, err error) (access.Caller, error) {
	if err == nil && caller.Reach == access.OfCustomer {
		err = access.ErrDenied
	}
	return caller, err
}

// lifecycle is that of holds; of is the account of a new one.
func (s *Service) lifecycle(of accounts.UID) *changes.Lifecycle[*customers.Held, Hold] {
	return &changes.Lifecycle[*customers.Held, Hold]{
		Name: "hold",
		Hold: func(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
			hold := customers.Hold(s.customers.HoldTx)
			if of == 0 {
				return hold.Of("account_holds", "uid", ErrNotFound)(ctx, tx, at)
			}
			account := changes.Target{UID: of.String()}
			held, err := hold.Of("accounts", "uid", ErrAccount)(ctx, tx, &account)
			at.Customer = account.Customer
			return held, err
		},
		Lock: func(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Hold, error) {
			h := new(Hold)
			q := tx.NewSelect().Model(h).Where("ah.tenant = ?", tx.Caller.Tenant).Where("ah.uid = ?", at.UID).
				Where("ah.customer = ?", at.Customer)
			return changes.Lock(ctx, q, h, ErrNotFound)
		},
		Row: func(h *Hold) changes.Row {
			return changes.Row{
				Model: h, UID: h.UID, Customer: int64(h.Customer), Version: &h.Version, UpdatedAt: &h.UpdatedAt,
			}
		},
		Asks:  customers.Asking[Hold](customers.AccessSettings.DualForCustomers),
		Wait:  func(h *Hold) { h.Status = Pending },
		Write: s.writeTx,
	}
}

// writeTx holds in the books what became Active, and lets go of what is not Active any more.
func (s *Service) writeTx(ctx context.Context, tx *changes.Tx, was, h *Hold) error {
	before := was != nil && was.Status == Active
	if after := h.Status == Active; before == after {
		return nil
	}
	b := db.TxBatch(tx.Tx)
	books := ledger.Lock(b, h.Tenant, []accounts.UID{h.Account}, 1)
	if err := b.Send(ctx); err != nil {
		return err
	}
	if before {
		if err := books.Unplace(h.Account, h.Amount(), int64(h.UID), ledger.Released); err != nil {
			return err
		}
		return books.WriteTx(ctx)
	}
	var open bool // an account is closed under the lock of the books
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM accounts WHERE tenant = ? AND uid = ? AND status <> ?
		AND deleted_at IS NULL
		AND system_of_record = ?)`, h.Tenant, h.Account, accounts.Closed, accounts.InternalCore).
		Scan(ctx, &open)
	if err == nil && (!open || books.Of(h.Account) == nil) {
		err = ErrElsewhere
	}
	if err == nil {
		err = books.Place(h.Account, h.Amount(), int64(h.UID))
	}
	if err != nil {
		return err
	}
	return books.WriteTx(ctx)
}

func (s *Service) placeTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Draft) (Saved, error) {
	return saved(s.lifecycle(d.Account).Add(ctx, tx, at, func(customer *customers.Held) (*Hold, error) {
		h := &Hold{
			Tenant: tx.Caller.Tenant, Account: d.Account, Customer: customer.UID, Reason: tx.Options.Reason,
			ExpiresAt: d.ExpiresAt, Status: Active, MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID,
			Reach: tx.Caller.Reach, CreatedAt: tx.Now,
		}
		var kept bool
		err := tx.NewRaw(`SELECT nextval('hold_uids'), currency, system_of_record = ? AND status <> ? FROM accounts
			WHERE tenant = ? AND uid = ?`, accounts.InternalCore, accounts.Closed, h.Tenant, h.Account).
			Scan(ctx, &h.UID, &h.Currency, &kept)
		if err != nil {
			return nil, err
		}
		if !kept {
			return nil, ErrElsewhere
		}
		if d.ExpiresAt != nil && !d.ExpiresAt.After(tx.Now) {
			return nil, fault.Field("hold", "expiresAt", fault.Min, "must be later than now, by the bank's clock")
		}
		amount, err := money.Parse(d.Amount, h.Currency)
		if err != nil {
			return nil, fault.Field("hold", "amount", fault.Malformed,
				fmt.Sprintf("must be an amount of %s with at most %d decimals", h.Currency, h.Currency.Digits()))
		}
		h.Minor = amount.Minor
		return h, nil
	}))
}

// settleTx makes a hold Active that waited, or refuses it. One whose time has passed meanwhile holds nothing.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle(0).Settle(ctx, tx, at, func(h *Hold) (changes.Settlement, error) {
		switch {
		case !approved:
			h.Status = Refused
		case h.ExpiresAt != nil && !h.ExpiresAt.After(tx.Now):
			h.Status = Expired
		default:
			h.Status = Active
		}
		return changes.Changes, nil
	})
}

func (s *Service) releaseTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ Draft) (Saved, error) {
	return saved(s.lifecycle(0).Modify(ctx, tx, at, func(_, h *Hold) error {
		if !tx.Caller.Reach.AtLeast(h.Reach) {
			return ErrBanks
		}
		if h.Status != Active && h.Status != Pending { // of one that is Pending, a change waits already
			return ErrOver.With(string(h.Status))
		}
		h.Status = Released
		return nil
	}))
}

func saved(h *Hold, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{h.UID, h.Account, h.Status}, nil
}
