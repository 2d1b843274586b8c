package contacts

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
)

// Saved is the answer to a change of a contact.
type Saved struct {
	UID                 UID    `json:"uid"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

type operations struct {
	add, change, apply *changes.Operation[Draft, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.add = changes.Declare(all, "addContact", "contact", access.ManageContacts, s.addTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeContact", "contact", access.ManageContacts, s.changeTx).
		Partly(s.agreeTx)
	s.apply = changes.Declare(all, "applyNoticeOfChange", "contact", access.ManageContacts, s.changeTx).
		Partly(s.agreeTx)
}

// Add adds a contact to a customer. If the settings of the customer or of the bank ask for dual approval
// (beneDualApproval), the contact is Pending until a second person approves.
func (s *Service) Add(
	ctx context.Context, to customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.add.Require(ctx, "")
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := s.customers.PreferCustomerFault(ctx, to, draft.checkNew()); err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.add.Do(ctx, caller, changes.Target{Customer: int64(to)}, draft, options)
}

// Change changes the fields in the draft. While a series or a sweep pays the contact, to give it another
// account or intermediary is to say where they pay: it asks for Initiate_Payments, too, and for approval
// where payments do.
// If the customer is 0, the contact's own counts.
func (s *Service) Change(
	ctx context.Context, of customers.UID, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := s.customers.PreferCustomerFault(ctx, of, draft.checkChange()); err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, draft, options)
}

func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, Contact] {
	return &changes.Lifecycle[*customers.Held, Contact]{
		Name: "contact",
		Hold: customers.Hold(s.customers.HoldTx).Of("contacts", "uid", ErrNotFound),
		Lock: s.lockTx,
		Row: func(k *Contact) changes.Row {
			return changes.Row{
				Model: k, UID: k.UID, Customer: int64(k.Customer), Version: &k.Version, UpdatedAt: &k.UpdatedAt,
			}
		},
		Asks:  customers.Asking[Contact](customers.AccessSettings.DualForContacts),
		Wait:  func(k *Contact) { k.Status = Pending },
		Write: s.moveTx,
		Taken: map[string]error{"contacts_template_name": ErrTaken},
	}
}

// moveTx tells who asked for it that a contact's account has become another one.
func (s *Service) moveTx(ctx context.Context, tx *changes.Tx, was, k *Contact) error {
	if was == nil || s.moved == nil || was.Bank.sameAccount(&k.Bank) {
		return nil
	}
	return s.moved(ctx, tx, k.UID)
}

func (s *Service) lockTx(
	ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target,
) (*Contact, error) {
	k := new(Contact)
	q := tx.NewSelect().Model(k).Where("k.tenant = ?", tx.Caller.Tenant).Where("k.uid = ?", at.UID).
		Where("k.customer = ?", at.Customer).Where("k.status <> ?", Refused)
	if _, err := changes.Lock(ctx, q, k, ErrNotFound); err != nil {
		return nil, err
	}
	return k, s.sealTx(ctx, tx, k)
}

func (s *Service) addTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	return saved(s.lifecycle().Add(ctx, tx, at, func(customer *customers.Held) (*Contact, error) {
		k := &Contact{
			Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active, RegulatoryReporting: Report{},
			CreatedAt: tx.Now,
		}
		if err := tx.NewRaw(`SELECT nextval('account_uids')`).Scan(ctx, &k.UID); err != nil {
			return nil, err
		}
		return k, s.fillTx(ctx, tx, k, draft)
	}))
}

// settleTx activates a contact that was Pending, or marks it as refused.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle().Settle(ctx, tx, at, func(k *Contact) (changes.Settlement, error) {
		k.Status = Refused
		if approved {
			k.Status = Active
		}
		return changes.Changes, nil
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	if s.moves != nil {
		if err := s.moves(ctx, tx, at.UID); err != nil {
			return Saved{}, err
		}
	}
	l, pays := s.lifecycle(), false
	asks := l.Asks
	l.Asks = func(held *customers.Held, was, k *Contact) bool {
		return asks(held, was, k) || pays && held.Asks(customers.AccessSettings.DualForPayments)
	}
	k, err := l.Modify(ctx, tx, at, func(was, k *Contact) error {
		var err error
		if draft.Notice != nil {
			err = s.followTx(ctx, tx, k, *draft.Notice)
		} else {
			err = s.fillTx(ctx, tx, k, draft)
		}
		if err != nil || was.paidAlike(k) {
			return err
		}
		k.RedirectedAt = &tx.Now
		to, err := s.redirectTx(ctx, tx, k)
		pays, l.Approvers, l.Decides, l.Reserved = to.Pays, to.People, to.By, to.Confirmed
		switch {
		case err != nil:
			return err
		case tx.Approved():
			return to.mayAgree(tx, draft.Redirects)
		}
		draft.Redirects = &to
		return tx.Keep(draft)
	})
	if err == nil && draft.Notice != nil {
		err = s.notices.FollowedTx(ctx, tx, k, *draft.Notice)
	}
	return saved(k, err)
}

// mayAgree returns why the caller may not agree to where a contact is paid; nil if the caller may. What was
// asked for before it took as much as it does now is stale.
func (r *Redirection) mayAgree(tx *changes.Tx, asked *Redirection) error {
	switch {
	case r.more(asked):
		return changes.ErrStale
	case r.Pays && !tx.Caller.May(access.ApprovePayments):
		return access.ErrDenied.With(string(access.ApprovePayments))
	}
	return r.within(tx, access.ApprovedPerPayment)
}

// within returns ErrApproveLimit if a payment is above a limit of the caller's own.
func (r *Redirection) within(tx *changes.Tx, limit string) error {
	own := tx.Caller.Limit(access.OfPayments, limit)
	for _, amount := range r.Largest {
		if own != nil && own.Currency == amount.Currency && amount.Minor > own.Minor {
			return ErrApproveLimit.With(own.Value().String())
		}
	}
	return nil
}

// redirectTx finds out what it takes to have a contact paid elsewhere (paidAlike), and refuses that to who
// may not pay.
func (s *Service) redirectTx(ctx context.Context, tx *changes.Tx, k *Contact) (all Redirection, err error) {
	for _, find := range s.payers {
		one, err := find(ctx, tx, k)
		if err != nil {
			return all, err
		}
		all.Pays, all.People = all.Pays || one.Pays, max(all.People, one.People)
		all.Confirmed = all.Confirmed || one.Confirmed
		all.Largest = append(all.Largest, one.Largest...)
		if all.By == "" || one.By != "" && one.By.AtLeast(all.By) {
			all.By = one.By
		}
	}
	if all.Pays && !tx.Approved() {
		if _, err := access.Require(ctx, access.InitiatePayments); err != nil {
			return all, err
		}
		return all, all.within(tx, access.PerPayment)
	}
	return all, nil
}

// agreeTx is called when the first of two people agrees to a change. Each must be allowed to.
func (s *Service) agreeTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	return s.lifecycle().Agree(ctx, tx, at, func(k *Contact) error {
		var draft Draft
		if err := tx.ReadDraft(&draft); err != nil || draft.Redirects == nil {
			return err
		}
		to, err := s.redirectTx(ctx, tx, k)
		if err == nil {
			err = to.mayAgree(tx, draft.Redirects)
		}
		return err
	})
}

func saved(k *Contact, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{k.UID, k.ExternalReferenceID}, nil
}

// fillTx writes the draft into a contact, if it fits the contact and the bank's configuration.
func (s *Service) fillTx(ctx context.Context, tx *changes.Tx, k *Contact, draft Draft) error {
	c := check.Of("contact")
	draft.RegulatoryReporting = slices.Clone(draft.RegulatoryReporting)
	if len(draft.RegulatoryReporting) > 0 {
		keys, err := reportingKeys(ctx, tx, k.Tenant)
		if err != nil {
			return err
		}
		configured(c, draft.RegulatoryReporting, keys)
	}
	draft.to(k)
	draft.fits(c, k)
	kept := k.RegulatoryReporting.kept(c, draft.RegulatoryReporting)
	if err := c.Err(); err != nil {
		return err
	}
	if draft.RegulatoryReporting != nil {
		k.RegulatoryReporting = s.report(k, draft.RegulatoryReporting, kept)
	}
	if draft.Bank.AccountNumber.Given {
		at := seal.Place{Tenant: int64(k.Tenant), Column: NumberColumn, Row: int64(k.UID)}
		if !s.keys.Same(k.Bank.AccountNumber, draft.Bank.AccountNumber.Value, at) {
			k.Bank.AccountNumber = s.keys.Seal(draft.Bank.AccountNumber.Value, at)
		}
	}
	return nil
}

// AskersTx returns who asked for a contact, or for changes of it.
func AskersTx(ctx context.Context, tx bun.IDB, tenant access.Tenant, of UID) ([]audit.Asker, error) {
	return audit.AskersTx(ctx, tx, tenant, "contact", of.String(), "addContact", "changeContact",
		"applyNoticeOfChange")
}
