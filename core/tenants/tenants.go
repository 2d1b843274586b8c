package tenants

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/ident"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/db"
)

// Tables lists this domain's tables (core/README.md, Tables).
var Tables = db.Tables{Own: []string{"tenant_settings", "tenants"}}

// Service finds and adds banks. It is for operators.
type Service struct {
	db  *db.DB
	now func() time.Time
}

// New makes the service; now is the bank's clock.
func New(db *db.DB, now func() time.Time) *Service { return &Service{db: db, now: now} }

// Find returns the bank with this code, or ErrNotFound.
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

// List returns all banks, sorted by code.
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

// Add creates a bank: the tenant, the customer that represents the bank itself, and its first user. It
// returns a fault for each wrong field, and ErrExists if the code is taken.
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
		if err := freeTx(ctx, tx, tenant.Code); err != nil {
			return err
		}
		if err := tx.NewInsert().Model(&tenant).Returning("id").Scan(ctx); err != nil {
			return err
		}
		if err := db.Act(ctx, tx, int64(tenant.ID)); err != nil {
			return err
		}
		caller.Tenant = tenant.ID
		entry := audit.Entry{
			Action: "addTenant", Decision: audit.Done, Object: "tenant",
			UID: tenant.Code,
		}.By(caller)
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

// freeTx returns ErrExists if a bank has this code, or one that people may take for it. Banks of one program
// that came to such codes before keep them, so no index forbids it.
func freeTx(ctx context.Context, tx bun.Tx, code string) error {
	if err := db.TenantCodes.WaitTx(ctx, tx, 0); err != nil {
		return err
	}
	var taken bool
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM tenants WHERE lower(code COLLATE "C") = ?)`, ident.Fold(code)).
		Scan(ctx, &taken)
	if err == nil && taken {
		err = ErrExists
	}
	return err
}

// furnishTx adds what every new bank has: the customer that represents it, to which its staff belong, and the
// first user, who may do everything.
func furnishTx(ctx context.Context, tx bun.Tx, tenant Tenant, self int64, login string) error {
	home, err := customers.AddFirstTx(ctx, tx, customers.Customer{
		Tenant: tenant.ID, UID: customers.UID(self), LegalName: tenant.Name, ShortName: tenant.Code,
		CreatedAt: tenant.CreatedAt,
	})
	if err != nil {
		return fmt.Errorf("add the bank's own customer: %w", err)
	}
	role, err := roles.AddFirstTx(ctx, tx, tenant.ID, home, tenant.CreatedAt)
	if err == nil {
		err = users.AddFirstTx(ctx, tx, role, login)
	}
	if err != nil {
		return fmt.Errorf("add the first user: %w", err)
	}
	return nil
}
