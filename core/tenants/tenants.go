package tenants

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/db"
)

// Service finds and adds banks. Only operators may.
type Service struct {
	db  *db.DB
	now func() time.Time
}

// New makes the service; now is the bank's clock.
func New(db *db.DB, now func() time.Time) *Service { return &Service{db: db, now: now} }

// Find returns the bank with this code, and ErrNotFound without one.
func (s *Service) Find(ctx context.Context, code string) (*Tenant, error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return nil, err
	}
	tenant := new(Tenant)
	err := s.db.NewSelect().Model(tenant).Where("t.code = ?", code).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("find tenant %s: %w", code, err)
	}
	return tenant, nil
}

// List returns all banks by code.
func (s *Service) List(ctx context.Context) ([]*Tenant, error) {
	if _, err := access.Require(ctx, access.ManageTenants); err != nil {
		return nil, err
	}
	var all []*Tenant
	if err := s.db.NewSelect().Model(&all).Order("t.code").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	return all, nil
}

// Add makes a bank: the tenant, the customer that stands for the bank itself, and its first user.
// A field that will not do is a fault on that field; a code that is taken is ErrExists.
func (s *Service) Add(ctx context.Context, bank Draft) (*Tenant, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	tenant, err := bank.check()
	if err != nil {
		return nil, err
	}
	tenant.CreatedAt = s.now()
	err = s.db.InTx(ctx, 0, func(ctx context.Context, tx bun.Tx) error {
		err := tx.NewInsert().Model(&tenant).On("CONFLICT (code) DO NOTHING").Returning("id").Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return ErrExists
		}
		if err != nil {
			return err
		}
		if err := db.Act(ctx, tx, int64(tenant.ID)); err != nil {
			return err
		}
		caller.Tenant = tenant.ID
		entry := audit.Entry{Action: "addTenant", Decision: audit.Done, Object: "tenant", UID: tenant.Code}.By(caller)
		entry.Before, entry.After = audit.Diff(nil, &tenant)
		if err := audit.WriteTx(ctx, tx, entry); err != nil {
			return err
		}
		return furnishTx(ctx, tx, tenant, bank.Customer, bank.Admin)
	})
	if err != nil {
		return nil, fmt.Errorf("add tenant %s: %w", bank.Code, err)
	}
	return &tenant, nil
}

// furnishTx adds what every bank starts with. The bank is a customer of itself (type Processing Org,
// relationship Self): the legal entity of its own API keys and the home of its staff.
func furnishTx(ctx context.Context, tx bun.Tx, tenant Tenant, self int64, login string) error {
	var number any = self
	if self == 0 {
		number = bun.Safe("DEFAULT")
	}
	err := tx.NewRaw(`INSERT INTO customers (tenant, uid, legal_name, short_name, type, relationship_type, status, created_at, updated_at)
		VALUES (?, ?, ?, ?, 'Processing Org', 'Self', 'Active', ?, ?) RETURNING uid`,
		tenant.ID, number, tenant.Name, tenant.Code, tenant.CreatedAt, tenant.CreatedAt).Scan(ctx, &self)
	if err != nil {
		return fmt.Errorf("add the bank's own customer: %w", err)
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO customer_counts (tenant, owner, shard, customers) VALUES (?, 0, 0, 1)`, tenant.ID)
	if err != nil {
		return fmt.Errorf("count the bank's own customer: %w", err)
	}
	return adminTx(ctx, tx, tenant, customers.UID(self), login)
}

// adminTx adds the first user, who may do everything.
func adminTx(ctx context.Context, tx bun.Tx, tenant Tenant, self customers.UID, login string) error {
	role := roles.Administrator(tenant.ID, self, tenant.CreatedAt)
	admin := &users.User{
		Tenant: tenant.ID, UID: users.UID{UUID: uuid.New()}, Customer: self, LoginID: login, Status: users.Active,
		Limits: []access.ApplicationLimits{}, CreatedAt: tenant.CreatedAt, UpdatedAt: tenant.CreatedAt, Version: 1,
	}
	err := tx.NewRaw(`SELECT nextval('role_numbers'), nextval('user_numbers')`).Scan(ctx, &role.Number, &admin.Number)
	if err == nil {
		_, err = tx.NewInsert().Model(role).Exec(ctx)
	}
	if err == nil {
		_, err = tx.NewInsert().Model(admin).Exec(ctx)
	}
	if err == nil {
		_, err = tx.NewInsert().Model(&users.RoleOf{Tenant: tenant.ID, Customer: self, User: admin.UID, Role: role.UID}).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("add the first user: %w", err)
	}
	return nil
}
