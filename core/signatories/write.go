package signatories

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/db"
)

var (
	// ErrNotFound is a signatory that does not exist, or that is not of this customer.
	ErrNotFound = fault.New(fault.NotFound, "signatory.not_found", "no such signatory of this customer")
	// ErrTaken is an e-mail address that another signatory of the customer has.
	ErrTaken = fault.New(fault.Conflict, "signatory.taken", "another signatory of the customer has this e-mail address").On("emailAddress")
)

// Saved is what a change of a signatory answers.
type Saved struct {
	UID    UID    `json:"uid"`
	Status Status `json:"status"`
}

// operations are what can be done to signatories.
type operations struct {
	add, change *changes.Operation[Draft, Saved]
	remove      *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.add = changes.Declare(all, "addSignatory", "signatory", access.ManageCustomers, s.addTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeSignatory", "signatory", access.ManageCustomers, s.changeTx)
	s.remove = changes.Declare(all, "removeSignatory", "signatory", access.ManageCustomers, s.removeTx)
}

// Add gives a customer a signatory. Where the customer's settings ask for dual approval (customerDualApproval), the
// signatory is Pending until a second person approves.
func (s *Service) Add(ctx context.Context, to customers.UID, draft Draft, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := partnered(s.add.Require(ctx, ""))
	if err == nil {
		err = s.customers.WithinFirst(ctx, to, draft.check(true))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.add.Do(ctx, caller, changes.Target{Customer: int64(to)}, draft, terms)
}

// Change changes what the draft gives. Without a customer (0) it is the signatory's own.
func (s *Service) Change(ctx context.Context, of customers.UID, uid UID, draft Draft, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := partnered(s.change.Require(ctx, uid.String()))
	if err == nil {
		err = s.customers.WithinFirst(ctx, of, draft.check(false))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, draft, terms)
}

// Remove takes a signatory off a customer: the one named, or its own (0). The row stays for the record; no answer shows it any more.
func (s *Service) Remove(ctx context.Context, of customers.UID, uid UID, terms changes.Terms) (changes.Outcome[Saved], error) {
	caller, err := partnered(s.remove.Require(ctx, uid.String()))
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.remove.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, struct{}{}, terms)
}

// partnered refuses a caller whose token names no partner (rest/CONTRACT.md, signatory checks).
func partnered(caller access.Caller, err error) (access.Caller, error) {
	if err == nil && caller.Partner == 0 {
		err = ErrPartner
	}
	return caller, err
}

func (s *Service) addTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	customer, err := s.customers.HoldTx(ctx, tx, tx.Caller, customers.UID(at.Customer))
	if err != nil {
		return Saved{}, err
	}
	g := &Signatory{
		Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active, CreatedAt: tx.Now, UpdatedAt: tx.Now, Version: 1,
	}
	err = tx.NewRaw(`SELECT nextval('signatory_uids'), currency FROM tenants WHERE id = ?`, g.Tenant).Scan(ctx, &g.UID, &g.Currency)
	if err != nil {
		return Saved{}, err
	}
	if err := draft.to(g); err != nil {
		return Saved{}, err
	}
	dual := tx.Dual(customer.Asks(customers.AccessSettings.DualForCustomers))
	if dual {
		g.Status = Pending
	}
	if _, err := tx.NewInsert().Model(g).Exec(ctx); err != nil {
		return Saved{}, taken(err)
	}
	if err := tx.Record(ctx, changes.Done{UID: g.UID, Customer: at.Customer, Version: g.Version, After: g}); err != nil {
		return Saved{}, err
	}
	if dual {
		err = tx.Propose(ctx, changes.Proposal{Customer: at.Customer, UID: g.UID, Version: g.Version, After: g})
	}
	return Saved{g.UID, g.Status}, err
}

// settleTx makes a signatory that waited active, or takes it off again.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	if _, err := s.customers.HoldTx(ctx, tx, tx.Caller, customers.UID(at.Customer)); err != nil {
		return err
	}
	g, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return err
	}
	if err := tx.Fresh(g.Version); err != nil {
		return err
	}
	was := *g
	g.Status = Deleted
	if approved {
		g.Status = Active
	}
	return s.writeTx(ctx, tx, &was, g)
}

func (s *Service) changeTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	return s.modifyTx(ctx, tx, at, draft.to)
}

func (s *Service) removeTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
	return s.modifyTx(ctx, tx, at, func(g *Signatory) error {
		g.Status = Deleted
		return nil
	})
}

// modifyTx changes a signatory, or proposes to.
func (s *Service) modifyTx(ctx context.Context, tx *changes.Tx, at changes.Target, modify func(*Signatory) error) (Saved, error) {
	customer, err := s.holdTx(ctx, tx, &at)
	if err != nil {
		return Saved{}, err
	}
	g, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return Saved{}, err
	}
	if err := tx.Fresh(g.Version); err != nil {
		return Saved{}, err
	}
	was := *g
	if err := modify(g); err != nil {
		return Saved{}, err
	}
	if tx.Dual(customer.Asks(customers.AccessSettings.DualForCustomers)) {
		err := tx.Propose(ctx, changes.Proposal{Customer: at.Customer, UID: g.UID, Version: was.Version, Before: &was, After: g})
		return Saved{was.UID, was.Status}, err
	}
	if err := tx.Quiet(ctx, g.UID); err != nil {
		return Saved{}, err
	}
	return Saved{g.UID, g.Status}, s.writeTx(ctx, tx, &was, g)
}

// holdTx holds the signatory's customer, and says which it is.
func (s *Service) holdTx(ctx context.Context, tx *changes.Tx, at *changes.Target) (*customers.Held, error) {
	uid, _ := ParseUID("uid", at.UID)
	owner := tx.NewRaw(`SELECT customer FROM signatories WHERE tenant = ? AND uid = ?`, tx.Caller.Tenant, uid)
	held, err := customers.Hold(s.customers.HoldTx).Whose(ctx, tx, tx.Caller, customers.UID(at.Customer), owner, ErrNotFound)
	if err == nil {
		at.Customer = int64(held.UID)
	}
	return held, err
}

// lockTx reads a signatory for a change.
func (s *Service) lockTx(ctx context.Context, tx *changes.Tx, at changes.Target) (*Signatory, error) {
	g := new(Signatory)
	uid, _ := ParseUID("uid", at.UID)
	err := tx.NewSelect().Model(g).Where("g.tenant = ?", tx.Caller.Tenant).Where("g.uid = ?", uid).
		Where("g.customer = ?", at.Customer).Where("g.status <> ?", Deleted).For("NO KEY UPDATE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	return g, err
}

// writeTx stores a signatory as it is now, with its next version.
func (s *Service) writeTx(ctx context.Context, tx *changes.Tx, was, g *Signatory) error {
	g.UpdatedAt, g.Version = tx.Now, was.Version+1
	if _, err := tx.NewUpdate().Model(g).WherePK().Exec(ctx); err != nil {
		return taken(err)
	}
	return tx.Record(ctx, changes.Done{UID: g.UID, Customer: int64(g.Customer), Version: g.Version, Before: was, After: g})
}

// taken is the fault behind a refused row.
func taken(err error) error {
	if constraint, refused := db.UniqueViolation(err); refused && constraint == "signatories_email_address" {
		return ErrTaken
	}
	return fmt.Errorf("write a signatory: %w", err)
}
