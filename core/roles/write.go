package roles

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

var (
	// ErrNotFound is returned for a role that does not exist, or that belongs to another customer.
	ErrNotFound = fault.New(fault.NotFound, "role.not_found", "no such role of this customer")
	// ErrTaken is returned when another role of the customer has the name.
	ErrTaken = fault.New(fault.Conflict, "role.taken", "another role of the customer has this name").
			On("name")
	// ErrBeyond is returned for a role that grants more than the caller may.
	ErrBeyond = fault.New(fault.Denied, "role.beyond", "nobody can grant what they do not have").
			On("applications")
	// ErrWaits is returned when a user is to have a role that still waits for approval.
	ErrWaits = fault.New(fault.State, "role.waits",
		"the role waits for approval: nobody can have it before a second person has agreed")
	// ErrBanks is returned when a caller outside the bank is to change a role that the bank made for a
	// customer.
	ErrBanks = fault.New(fault.Denied, "role.banks", "the bank made this role: only the bank can change it")
	// ErrOwn is returned when people are to change a role that they have themselves.
	ErrOwn = fault.New(fault.Denied, "role.own", "nobody can change a role that they have themselves")
)

// Saved is the answer to a change of a role.
type Saved struct {
	UID    UID    `json:"uid"`
	Status Status `json:"status"`
}

type operations struct {
	create, change *changes.Operation[Draft, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.create = changes.Declare(all, "createRole", "role", access.ManageRoles, s.createTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeRole", "role", access.ManageRoles, s.changeTx)
}

// Create creates a role of a customer. If the customer's settings ask for dual approval (userDualApproval),
// the role is Pending until a second person approves.
func (s *Service) Create(
	ctx context.Context, of customers.UID, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.create.Require(ctx, "")
	if err == nil {
		err = s.customers.PreferCustomerFault(ctx, of, draft.check(true))
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.create.Do(ctx, caller, changes.Target{Customer: int64(of)}, draft, options)
}

// Change changes the fields in the draft. If the customer is 0, the role's own counts.
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
	return s.change.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, draft, options)
}

// lifecycle creates and changes roles. It locks the customer, which keeps out changes of its users: those
// lock their roles FOR SHARE, and a steady stream of them would delay a change of a role without end.
func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, Role] {
	return &changes.Lifecycle[*customers.Held, Role]{
		Name: "role",
		Hold: customers.Hold(s.customers.LockTx).Of("roles", "uid", ErrNotFound),
		Lock: lock,
		Row: func(r *Role) changes.Row {
			return changes.Row{
				Model: r, UID: r.UID, Customer: int64(r.Customer), Version: &r.Version, UpdatedAt: &r.UpdatedAt,
			}
		},
		Asks:  customers.Asking[Role](customers.AccessSettings.DualForUsers),
		Wait:  func(r *Role) { r.Status = Pending },
		Taken: map[string]error{"roles_name": ErrTaken},
	}
}

func lock(ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target) (*Role, error) {
	r := new(Role)
	q := tx.NewSelect().Model(r).Where("r.tenant = ?", tx.Caller.Tenant).Where("r.uid = ?", at.UID).
		Where("r.customer = ?", at.Customer)
	return changes.Lock(ctx, q, r, ErrNotFound)
}

func (s *Service) createTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	return saved(s.lifecycle().Add(ctx, tx, at, func(customer *customers.Held) (*Role, error) {
		r := &Role{
			Tenant: tx.Caller.Tenant, UID: UID{uuid.New()}, Customer: customer.UID, Type: Customer,
			Owner: OwnerCustomer, Status: Active, CreatedAt: tx.Now,
		}
		if customer.RelationshipType == customers.RelationSelf {
			r.Type = Bank
		}
		if tx.Caller.Reach == access.OfBank {
			r.Owner = OwnerBank
		}
		var in money.Currency
		err := tx.NewRaw(`SELECT nextval('role_numbers'), currency FROM tenants WHERE id = ?`, r.Tenant).Scan(ctx,
			&r.Number, &in)
		if err != nil {
			return nil, err
		}
		if err := draft.to(r, in); err != nil {
			return nil, err
		}
		return r, r.grantable(tx.Caller)
	}))
}

// settleTx activates a role that was Pending, or deletes a refused one, which nobody can have.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle().Settle(ctx, tx, at, func(r *Role) (changes.Settlement, error) {
		if !approved {
			return changes.Goes, nil
		}
		r.Status = Active
		return changes.Changes, r.grantable(tx.Caller)
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	l := s.lifecycle()
	l.Lock = func(ctx context.Context, tx *changes.Tx, held *customers.Held, at changes.Target) (*Role, error) {
		r, err := lock(ctx, tx, held, at)
		if err == nil {
			err = s.changeableTx(ctx, tx, r) // before its version is checked
		}
		return r, err
	}
	return saved(l.Modify(ctx, tx, at, func(was, r *Role) error {
		if was.Beyond(tx.Caller) || was.Above(tx.Caller) {
			return ErrBeyond
		}
		var in money.Currency
		if err := tx.NewRaw(`SELECT currency FROM tenants WHERE id = ?`, r.Tenant).Scan(ctx, &in); err != nil {
			return err
		}
		if err := draft.to(r, in); err != nil {
			return err
		}
		if err := r.grantable(tx.Caller); err != nil {
			return err
		}
		if r.Frees(tx.Caller, was) {
			return ErrBeyond
		}
		return nil
	}))
}

func saved(r *Role, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{r.UID, r.Status}, nil
}

// grantable returns an error if the role holds something that its type may not hold, or that the caller may
// not grant.
func (r *Role) grantable(caller access.Caller) error {
	for i, g := range r.Applications {
		if a := application(g.Name); r.Type != Bank && a != nil && a.Bank {
			return fault.Field("role", "applications["+strconv.Itoa(i)+"].name", fault.Forbidden,
				"is for the bank's own people only")
		}
	}
	if r.Beyond(caller) || r.Above(caller) {
		return ErrBeyond
	}
	return nil
}

// changeableTx returns ErrBanks or ErrOwn if the caller may not change the role. People may not change their
// own rights, nor may programs that they are responsible for.
func (s *Service) changeableTx(ctx context.Context, tx *changes.Tx, r *Role) error {
	if r.Owner == OwnerBank && tx.Caller.Reach != access.OfBank {
		return ErrBanks
	}
	person := tx.Caller.Accountable().Person
	if person == uuid.Nil {
		return nil
	}
	var own bool
	err := tx.NewRaw(
		`SELECT EXISTS (SELECT FROM user_roles WHERE tenant = ? AND customer = ? AND role_uid = ?
			AND user_uid = ?)`, r.Tenant, r.Customer, r.UID, person).Scan(ctx, &own)
	if err == nil && own {
		return ErrOwn
	}
	return err
}

// NamedTx reads and locks the active roles of a customer with these names, for a user who is to have them. A
// name that no role has, or one whose role waits for approval, is a fault of the field.
func (s *Service) NamedTx(
	ctx context.Context, tx *changes.Tx, of customers.UID, names []string,
) ([]*Role, error) {
	folded := make([]string, len(names))
	for i, name := range names {
		folded[i] = ident.Fold(name)
	}
	var all []*Role
	err := tx.NewSelect().Model(&all).Where("r.tenant = ?", tx.Caller.Tenant).Where("r.customer = ?", of).
		Where(`lower(r.name COLLATE "C") IN ?`, bun.Tuple(folded)).OrderExpr("r.number").
		For("SHARE").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read roles by their names: %w", err)
	}
	for i, name := range names {
		field := "roleNames[" + strconv.Itoa(i) + "]"
		at := slices.IndexFunc(all, func(r *Role) bool { return ident.Same(r.Name, name) })
		if at < 0 {
			return nil, fault.Field("user", field, fault.Unknown, "is not a role of the customer")
		}
		if all[at].Status != Active {
			return nil, ErrWaits.On(field)
		}
	}
	return all, nil
}

// OfUserTx reads and locks the roles of a user, for a change of that user.
func (s *Service) OfUserTx(
	ctx context.Context, tx *changes.Tx, of customers.UID, user uuid.UUID,
) ([]*Role, error) {
	var all []*Role
	err := tx.NewSelect().Model(&all).
		Join("JOIN user_roles AS h ON h.tenant = r.tenant AND h.customer = r.customer "+
			"AND h.role_uid = r.uid").
		Where("r.tenant = ?", tx.Caller.Tenant).Where("r.customer = ?", of).
		Where("h.user_uid = ?", user.String()).
		OrderExpr("r.number").For("SHARE OF r").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the roles of a user: %w", err)
	}
	return all, nil
}

// AddFirstTx adds the role of a new bank's first user.
func AddFirstTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, self customers.UID, at time.Time,
) (*Role, error) {
	role := Administrator(tenant, self, at)
	_, err := tx.NewInsert().Model(role).Value("number", "DEFAULT").Exec(ctx)
	return role, err
}
