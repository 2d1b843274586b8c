package users

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/roles"
	"bankgraph/db"
)

var (
	// ErrNotFound is returned for a user that does not exist, or that belongs to another customer.
	ErrNotFound = fault.New(fault.NotFound, "user.not_found", "no such user of this customer")
	// ErrTaken is returned when another user, of the bank or of any customer, has the login id.
	ErrTaken = fault.New(fault.Conflict, "user.taken", "somebody else has this login id").On("loginId")
	// ErrBeyond is returned for roles that grant more than the caller may.
	ErrBeyond = fault.New(fault.Denied, "user.beyond", "nobody can grant what they do not have").
			On("roleNames")
	// ErrOwnRights is returned when people are to change their own roles and limits.
	ErrOwnRights = fault.New(fault.Denied, "user.own_rights", "nobody can change their own roles and limits")
	// ErrOwnAccess is returned when people are to activate themselves; somebody may just have suspended them.
	ErrOwnAccess = fault.New(fault.Denied, "user.activates_self", "nobody can activate themself")
	// ErrMany is returned for a customer that has as many users as it may have.
	ErrMany = fault.New(fault.State, "user.many",
		"the customer has 5,000 users, as many as it may have: change one that you no longer need")
	// ErrSelf is returned when people are to suspend themselves.
	ErrSelf = fault.New(fault.Denied, "user.suspends_self", "nobody can suspend themself")
)

// Saved is the answer to a change of a user.
type Saved struct {
	UID    UID    `json:"uid"`
	Status Status `json:"status"`
}

type operations struct {
	create, change    *changes.Operation[Draft, Saved]
	suspend, activate *changes.Operation[struct{}, Saved]
	link              *changes.Operation[linkDraft, Saved]
	unlink            *changes.Operation[SubjectDraft, Saved]
}

func (s *Service) declare(all *changes.Service) {
	s.create = changes.Declare(all, "createUser", "user", access.ManageUsers, s.createTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeUser", "user", access.ManageUsers, s.changeTx)
	s.suspend = changes.Declare(all, "suspendUser", "user", access.SuspendUsers, s.suspendTx)
	s.activate = changes.Declare(all, "activateUser", "user", access.ActivateUsers, s.activateTx)
	s.link = changes.Declare(all, "linkSubject", "user", access.ManageUsers, s.linkTx)
	s.unlink = changes.Declare(all, "unlinkSubject", "user", access.ManageUsers, s.unlinkTx)
}

// Create creates a user of a customer, who is Pending until activated. If the customer's settings ask for
// dual approval (userDualApproval), a second person's approval activates the user.
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

// Change changes the fields in the draft. If the customer is 0, the user's own counts; so it does in
// the methods below.
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

// Suspend takes a user's access away at once; it never waits for a second person.
func (s *Service) Suspend(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.suspend.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.suspend.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, struct{}{}, options)
}

// Activate gives a user access, for the first time or again. It waits for a second person if changes of users
// do.
func (s *Service) Activate(
	ctx context.Context, of customers.UID, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.activate.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.activate.Do(ctx, caller, changes.Target{Customer: int64(of), UID: uid.String()}, struct{}{},
		options)
}

// person is a user with its roles, as the record shows them together.
type person struct {
	User  `bun:",extend"`
	Roles []string `bun:"roles"`

	Linked   string `bun:"linked"` // the subject that a change links
	Unlinked string `bun:"unlinked"`

	roles []*roles.Role
	link  *Subject
}

func (s *Service) lifecycle() *changes.Lifecycle[*customers.Held, person] {
	return &changes.Lifecycle[*customers.Held, person]{
		Name: "user",
		Hold: customers.Hold(s.customers.HoldTx).Of("users", "uid", ErrNotFound),
		Lock: s.lockTx,
		Row: func(p *person) changes.Row {
			return changes.Row{
				Model: &p.User, UID: p.UID, Customer: int64(p.Customer), Version: &p.Version, UpdatedAt: &p.UpdatedAt,
			}
		},
		Asks:  customers.Asking[person](customers.AccessSettings.DualForUsers),
		Write: writeTx,
		Taken: map[string]error{"users_login_id": ErrTaken},
	}
}

// prompt is the lifecycle of changes that take access away. They never wait, and are possible for an inactive
// customer too.
func (s *Service) prompt() *changes.Lifecycle[*customers.Held, person] {
	prompt := s.lifecycle()
	prompt.Hold = customers.Hold(s.customers.HoldAnyTx).Of("users", "uid", ErrNotFound)
	prompt.Asks = nil
	return prompt
}

// lockTx reads and locks a user with its roles.
func (s *Service) lockTx(
	ctx context.Context, tx *changes.Tx, _ *customers.Held, at changes.Target,
) (*person, error) {
	p := new(person)
	q := tx.NewSelect().Model(&p.User).Where("u.tenant = ?", tx.Caller.Tenant).Where("u.uid = ?", at.UID).
		Where("u.customer = ?", at.Customer)
	if _, err := changes.Lock(ctx, q, p, ErrNotFound); err != nil {
		return nil, err
	}
	all, err := s.roles.OfUserTx(ctx, tx, p.Customer, p.UID.UUID)
	p.take(all)
	return p, err
}

// writeTx stores the roles of a user, if they have changed, and the link that a change makes.
func writeTx(ctx context.Context, tx *changes.Tx, was, p *person) error {
	if was == nil || !slices.Equal(was.Roles, p.Roles) {
		if err := p.writeRolesTx(ctx, tx); err != nil {
			return err
		}
	}
	return p.writeLinkTx(ctx, tx)
}

func (p *person) writeRolesTx(ctx context.Context, tx *changes.Tx) error {
	_, err := tx.NewRaw(`DELETE FROM user_roles WHERE tenant = ? AND customer = ? AND user_uid = ?`, p.Tenant,
		p.Customer, p.UID).Exec(ctx)
	for _, r := range p.roles {
		if err == nil {
			_, err = tx.NewInsert().Model(&RoleOf{Tenant: p.Tenant, Customer: p.Customer, User: p.UID, Role: r.UID}).
				Exec(ctx)
		}
	}
	if err != nil {
		return fmt.Errorf("write the roles of a user: %w", err)
	}
	return nil
}

func (s *Service) createTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	return saved(s.lifecycle().Add(ctx, tx, at, func(customer *customers.Held) (*person, error) {
		p := &person{User: User{
			Tenant: tx.Caller.Tenant, UID: UID{uuid.New()}, Customer: customer.UID, Status: Pending,
			Limits: []access.ApplicationLimits{}, CreatedAt: tx.Now,
		}}
		if customer.RelationshipType != customers.RelationSelf { // the bank never leaves a partner
			if err := roomTx(ctx, tx, customer.UID); err != nil {
				return nil, err
			}
		}
		if err := tx.NewRaw(`SELECT nextval('user_numbers')`).Scan(ctx, &p.Number); err != nil {
			return nil, err
		}
		return p, s.furnishTx(ctx, tx, p, draft)
	}))
}

// mostOfCustomer is how many users a customer may have: all those of a partner's making are suspended at once
// when the customer leaves it (leaveTx).
const mostOfCustomer = 5_000

// roomTx returns ErrMany for a customer that has as many users as it may have.
func roomTx(ctx context.Context, tx *changes.Tx, of customers.UID) error {
	var full bool
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM users WHERE tenant = ? AND customer = ? OFFSET ?)`,
		tx.Caller.Tenant, of, mostOfCustomer-1).Scan(ctx, &full)
	if err == nil && full {
		err = ErrMany
	}
	return err
}

// settleTx activates a user who waited, or deletes a refused one, which frees the login id. A user who was
// suspended meanwhile stays so.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	return s.lifecycle().Settle(ctx, tx, at, func(p *person) (changes.Settlement, error) {
		switch {
		case !approved:
			p.take(nil)
			return changes.Goes, nil
		case p.beyond(tx.Caller):
			return changes.Stays, ErrBeyond
		case p.Status != Pending:
			return changes.Stays, nil
		}
		p.Status = Active
		return changes.Changes, nil
	})
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, draft Draft,
) (Saved, error) {
	return saved(s.lifecycle().Modify(ctx, tx, at,
		func(_, p *person) error { return s.furnishTx(ctx, tx, p, draft) }))
}

func (s *Service) activateTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle().Modify(ctx, tx, at, func(_, p *person) (err error) {
		switch {
		case tx.Caller.Accountable().Person == p.UID.UUID:
			return ErrOwnAccess
		case p.Status == Suspended && !tx.Caller.Reach.AtLeast(p.SuspendedBy):
			return ErrWider
		case p.starts() && p.beyond(tx.Caller): // the first activation grants what the roles hold
			return ErrBeyond
		}
		p.Status, err = activating.Take(p.Status)
		p.SuspendedBy = ""
		return err
	}))
}

// suspendTx also takes over a suspension from somebody of narrower reach, who cannot lift it then.
func (s *Service) suspendTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.prompt().Modify(ctx, tx, at, func(_, p *person) (err error) {
		if tx.Caller.User == p.UID.UUID {
			return ErrSelf
		}
		if p.Status == Suspended && !p.SuspendedBy.AtLeast(tx.Caller.Reach) {
			p.SuspendedBy = tx.Caller.Reach
			return nil
		}
		p.WasActive = p.WasActive || p.Status == Active
		p.SuspendedBy = tx.Caller.Reach
		p.Status, err = suspending.Take(p.Status)
		return err
	}))
}

// leaveTx suspends the users of a customer that leaves its partner whom that partner's people or programs
// made, changed or activated, or that users did whom it had made: they may be that partner's own
// (rest/CONTRACT.md, customers that move). The new partner, or the bank, activates those who are the
// customer's, whoever had suspended them before.
func (s *Service) leaveTx(
	ctx context.Context, tx *changes.Tx, c *customers.Customer, partner customers.UID,
) error {
	var all []*User
	err := tx.NewSelect().Model(&all).Where("u.tenant = ?", c.Tenant).Where("u.customer = ?", c.UID).
		OrderExpr("u.uid").For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the users of customer %s: %w", c.UID, err)
	}
	uids := make([]string, len(all))
	for i, u := range all {
		uids[i] = u.UID.String()
	}
	touched, err := audit.TouchedTx(ctx, tx.Tx, c.Tenant, "user", uids, int64(c.UID), int64(partner))
	if err != nil {
		return err
	}
	var left []string
	var wasActive []bool
	var record []changes.Change
	for _, u := range all {
		if !touched[u.UID.String()] || u.Status == Suspended && u.SuspendedBy.AtLeast(access.OfPartner) {
			continue
		}
		was := *u
		u.WasActive, u.SuspendedBy = !u.starts(), access.OfPartner
		u.Status, u.UpdatedAt, u.Version = Suspended, tx.Now, u.Version+1
		left, wasActive = append(left, u.UID.String()), append(wasActive, u.WasActive)
		record = append(record, changes.Change{
			Action: "suspendUser", Object: "user", UID: u.UID, Customer: int64(u.Customer), Version: u.Version,
			Before: &was, After: u,
		})
	}
	if len(left) == 0 {
		return nil
	}
	err = db.ExecAtCommit(ctx, `UPDATE users AS u SET status = $4, was_active = n.was_active, suspended_by = $5,
		updated_at = $6::timestamptz, version = u.version + 1
		FROM unnest($2::text[]::uuid[], $3::bool[]) AS n (uid, was_active)
		WHERE u.tenant = $1 AND u.uid = n.uid`,
		c.Tenant, left, wasActive, Suspended, access.OfPartner, tx.Now)
	if err != nil {
		return fmt.Errorf("suspend the users of customer %s: %w", c.UID, err)
	}
	return tx.RecordAll(ctx, record)
}

func saved(p *person, err error) (Saved, error) {
	if err != nil {
		return Saved{}, err
	}
	return Saved{p.UID, p.Status}, nil
}

// AddFirstTx adds the first user of a new bank, with the role.
func AddFirstTx(ctx context.Context, tx bun.Tx, role *roles.Role, login string) error {
	first := &User{
		Tenant: role.Tenant, UID: UID{UUID: uuid.New()}, Customer: role.Customer, LoginID: login, Status: Active,
		Limits: []access.ApplicationLimits{}, CreatedAt: role.CreatedAt, UpdatedAt: role.CreatedAt, Version: 1,
	}
	_, err := tx.NewInsert().Model(first).Value("number", "DEFAULT").Exec(ctx)
	if err == nil {
		_, err = tx.NewInsert().
			Model(&RoleOf{Tenant: role.Tenant, Customer: role.Customer, User: first.UID, Role: role.UID}).
			Exec(ctx)
	}
	return err
}
