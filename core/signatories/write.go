package signatories

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

var (
	// ErrNotFound is returned for a signatory that does not exist, or that belongs to another customer.
	ErrNotFound = fault.New(fault.NotFound, "signatory.not_found", "no such signatory of this customer")
	// ErrTaken is returned when another signatory of the customer has the e-mail address.
	ErrTaken = fault.New(fault.Conflict, "signatory.taken",
		"another signatory of the customer has this e-mail address").On("emailAddress")
)

// Saved is the answer to a change of a signatory.
type Saved struct {
	UID    UID    `json:"uid"`
	Status Status `json:"status"`
}

type operations struct {
	add, change *changes.Operation[Draft, Saved]
	remove      *changes.Operation[struct{}, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.add = changes.Declare(all, "addSignatory", "signatory", access.ManageCustomers, s.addTx).
		Settle(s.settleTx)
	s.change = changes.Declare(all, "changeSignatory", "signatory", access.ManageCustomers, s.changeTx)
	s.remove = changes.Declare(all, "removeSignatory", "signatory", access.ManageCustomers, s.removeTx)
}

// Add adds a signatory to a customer. If the customer's settings ask for dual approval
// (customerDualApproval), the signatory is Pending until a second person approves.
func (s *Service) Add(
	ctx context.Context, to customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := partnered(s.add.Require(ctx, ""))
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, to, draft.check(true))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.add.Do(ctx, caller, changes.Target{Customer: int64(to)}, draft, options)
}

// Change changes the fields in the draft. If the customer is 0, the signatory's own counts.
func (s *Service) Change(
	ctx context.Context, of customers.UID, uid UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := partnered(s.change.Require(ctx, uid.String()))
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, of, draft.check(false))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, draft, options)
}

// Remove removes a signatory. If the customer is 0, the signatory's own counts. The row stays for the record,
// but no answer shows it.
func (s *Service) Remove(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := partnered(s.remove.Require(ctx, uid.String()))
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.remove.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, struct{}{}, options)
}

// partnered returns ErrPartner if the caller's token names no partner (rest/CONTRACT.md, signatory checks).
func partnered(caller access.Caller, err error) (access.Caller, error) {
	if err == nil && caller.Partner == 0 {
		err = ErrPartner
	}
	return caller, err
}

func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, Signatory] {
	return &changes.Lifecycle[*customers.Held, Signatory]{
		Name: "signatory",
		Hold: customers.Hold(s.customers.HoldTx).Of("signatories", "uid", ErrNotFound),
		Lock: lock,
		Row: func(g *Signatory) changes.Row {
			return changes.Row{
				Model: g, UID: g.UID, Customer: int64(g.Customer), Version: &g.Version, UpdatedAt: &g.UpdatedAt,
			}
		},
		Asks:  customers.Asking[Signatory](customers.AccessSettings.DualForCustomers),
		Wait:  func(g *Signatory) { g.Status = Pending },
		Taken: map[string]error{"signatories_email_address": ErrTaken},
	}
}

func lock(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Signatory, error) {
	g := new(Signatory)
	q := tx.NewSelect().Model(g).Where("g.tenant = ?", tx.Caller.Tenant).Where("g.uid = ?", at.UID).
		Where("g.customer = ?", at.Customer).Where("g.status <> ?", Deleted)
	return changes.Lock(ctx, q, g, ErrNotFound)
}

func (s *Service) addTx(ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft) (Saved, error) {
	return saved(s.lifecycle().Add(ctx, tx, at, func(customer *customers.Held) (*Signatory, error) {
		g := &Signatory{Tenant: tx.Caller.Tenant, Customer: customer.UID, Status: Active, CreatedAt: tx.Now}
		err := tx.NewRaw(`SELECT nextval('signatory_uids'), currency FROM tenants WHERE id = ?`, g.Tenant).Scan(ctx,
			&g.UID, &g.Currency)
		if err != nil {
			return nil, err
		}
		return g, draft.to(g)
	}))
}

// settleTx activates a signatory who was Pending, or removes a refused one.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle().Settle(ctx, tx, at, func(g *Signatory) (changes.Settlement, error) {
		g.Status = Deleted
		if approved {
			g.Status = Active
		}
		return changes.Changes, nil
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	return saved(s.lifecycle().Modify(ctx, tx, at, func(_, g *Signatory) error { return draft.to(g) }))
}

func (s *Service) removeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle().Modify(ctx, tx, at, func(_, g *Signatory) error {
		g.Status = Deleted
		return nil
	}))
}

func saved(g *Signatory, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{g.UID, g.Status}, nil
}
