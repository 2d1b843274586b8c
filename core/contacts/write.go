package contacts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// Saved is what a change of a contact answers.
type Saved struct {
	UID                 UID    `json:"uid"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

// operations are what can be done to contacts.
type operations struct {
	add, change *changes.Operation[Draft, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.add = changes.Declare(all, "addContact", "contact", access.ManageContacts, s.addTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeContact", "contact", access.ManageContacts, s.changeTx)
}

// Add gives a customer a contact. Where the customer's settings or the bank's ask for dual approval of beneficiaries
// (beneDualApproval), the contact is Pending until a second person approves.
func (s *Service) Add(ctx context.Context, to customers.UID, draft Draft, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.add.Require(ctx, "")
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := draft.checkNew(); err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.add.Do(ctx, caller, changes.Target{Customer: int64(to)}, draft, terms)
}

// Change changes what the draft gives. Without a customer (0) it is the contact's own.
func (s *Service) Change(ctx context.Context, of customers.UID, uid UID, draft Draft, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := s.change.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	if err := draft.checkChange(); err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, draft, terms)
}

func (s *Service) addTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	customer, err := s.customers.HoldTx(ctx, tx, tx.Caller, customers.UID(at.Customer))
	if err != nil {
		return Saved{}, err
	}
	k := &Contact{
		Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active, RegulatoryReporting: Report{},
		CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
	}
	if err := tx.NewRaw(`SELECT nextval('account_uids')`).Scan(ctx, &k.UID); err != nil {
		return Saved{}, err
	}
	if err := s.fillTx(ctx, tx, k, draft); err != nil {
		return Saved{}, err
	}
	dual := tx.Dual(customer.Asks(customers.AccessSettings.DualForContacts))
	if dual {
		k.Status = Pending
	}
	if _, err := tx.NewInsert().Model(k).Exec(ctx); err != nil {
		return Saved{}, taken(err)
	}
	saved := Saved{k.UID, k.ExternalReferenceID}
	if err := tx.Record(ctx, changes.Done{UID: k.UID, Customer: at.Customer, Version: k.Version, After: k}); err != nil || !dual {
		return saved, err
	}
	return saved, tx.Propose(ctx, changes.Proposal{Customer: at.Customer, UID: k.UID, Version: k.Version, After: k})
}

// settleTx makes a contact that waited active, or takes it out of every list.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	if _, err := s.customers.HoldTx(ctx, tx, tx.Caller, customers.UID(at.Customer)); err != nil {
		return err
	}
	k, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return err
	}
	if err := tx.Fresh(k.Version); err != nil {
		return err
	}
	was := *k
	k.Status = Refused
	if approved {
		k.Status = Active
	}
	return s.writeTx(ctx, tx, &was, k)
}

func (s *Service) changeTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	customer, err := s.holdTx(ctx, tx, &at)
	if err != nil {
		return Saved{}, err
	}
	k, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return Saved{}, err
	}
	if err := tx.Fresh(k.Version); err != nil {
		return Saved{}, err
	}
	was := *k
	if err := s.fillTx(ctx, tx, k, draft); err != nil {
		return Saved{}, err
	}
	if tx.Dual(customer.Asks(customers.AccessSettings.DualForContacts)) {
		return Saved{was.UID, was.ExternalReferenceID}, tx.Propose(ctx, changes.Proposal{
			Customer: at.Customer, UID: k.UID, Version: was.Version, Before: &was, After: k,
		})
	}
	if err := tx.Quiet(ctx, k.UID); err != nil {
		return Saved{}, err
	}
	return Saved{k.UID, k.ExternalReferenceID}, s.writeTx(ctx, tx, &was, k)
}

// fillTx writes the draft into a contact, where it fits it and the bank's configuration.
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

// holdTx holds the contact's customer, and says which it is.
func (s *Service) holdTx(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
	uid, _ := ParseUID("uid", at.UID)
	owner := tx.NewRaw(`SELECT customer FROM contacts WHERE tenant = ? AND uid = ?`, tx.Caller.Tenant, uid)
	held, err := customers.Hold(s.customers.HoldTx).Whose(ctx, tx, tx.Caller, customers.UID(at.Customer), owner, ErrNotFound)
	if err == nil {
		at.Customer = int64(held.UID)
	}
	return held, err
}

// lockTx reads a contact for a change.
func (s *Service) lockTx(ctx context.Context, tx *changes.Tx, at changes.Target) (*Contact, error) {
	k := new(Contact)
	uid, _ := ParseUID("uid", at.UID)
	err := tx.NewSelect().Model(k).Where("k.tenant = ?", tx.Caller.Tenant).Where("k.uid = ?", uid).
		Where("k.customer = ?", at.Customer).Where("k.status <> ?", Refused).For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, err
	}
	return k, s.sealTx(ctx, tx, k)
}

// writeTx stores a contact as it is now, with its next version.
func (s *Service) writeTx(ctx context.Context, tx *changes.Tx, was, k *Contact) error {
	k.UpdatedAt, k.Version = tx.Now, was.Version+1
	if _, err := tx.NewUpdate().Model(k).WherePK().Exec(ctx); err != nil {
		return taken(err)
	}
	return tx.Record(ctx, changes.Done{UID: k.UID, Customer: int64(k.Customer), Version: k.Version, Before: was, After: k})
}

// taken is the fault behind a refused row.
func taken(err error) error {
	if constraint, refused := db.UniqueViolation(err); refused && constraint == "contacts_template_name" {
		return ErrTaken
	}
	return fmt.Errorf("write a contact: %w", err)
}
