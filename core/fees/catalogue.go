package fees

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/money"
)

// Fee is one entry of a bank's catalogue: a fee tier that customers may hold, and its price.
type Fee struct {
	bun.BaseModel `bun:"table:fee_catalogue,alias:fc" json:"-"`

	Tenant      access.Tenant  `bun:"tenant,pk" json:"-"`
	Application string         `bun:"application,pk" json:"application"`
	Product     string         `bun:"product,pk" json:"product"`
	FeeName     string         `bun:"fee_name,pk" json:"feeName"`
	FeeTier     string         `bun:"fee_tier,pk" json:"feeTier"`
	PriceMinor  int64          `bun:"price" json:"-"` // minor units
	Currency    money.Currency `bun:"currency" json:"currency"`
}

// Price returns the fee's price.
func (f *Fee) Price() money.Amount { return money.Of(f.PriceMinor, f.Currency) }

func (f *Fee) String() string {
	return strings.Join([]string{f.Application, f.Product, f.FeeName, f.FeeTier}, " / ")
}

// ErrNotConfigured is returned for a fee that the catalogue does not have.
var ErrNotConfigured = fault.New(fault.NotFound, "fee.not_configured", "the catalogue has no such fee")

// Catalogue reads the fees of the caller's bank, sorted by name.
func (s *Service) Catalogue(ctx context.Context) ([]*Fee, error) {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return nil, err
	}
	return catalogue(ctx, s.db, caller.Tenant)
}

func catalogue(ctx context.Context, q bun.IDB, tenant access.Tenant) (all []*Fee, err error) {
	err = q.NewSelect().Model(&all).Where("fc.tenant = ?", tenant).Order("application", "product", "fee_name",
		"fee_tier").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the fee catalogue: %w", err)
	}
	return all, nil
}

// Configure adds a fee to the catalogue, or changes its price. It is for operators.
func (s *Service) Configure(ctx context.Context, fee Fee, price, currency string) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	c := check.Of("fee")
	for _, text := range []struct{ field, value string }{
		{"application", fee.Application},
		{"product", fee.Product},
		{"feeName", fee.FeeName},
		{"feeTier", fee.FeeTier},
		{"price", price},
		{"currency", currency},
	} {
		c.Required(text.field, text.value)
		c.AtMost(text.field, text.value, 255)
	}
	fee.Tenant, fee.Currency = caller.Tenant, c.Currency("currency", currency)
	c.NotNegative("price", price)
	if amount := c.Amount("price", price, fee.Currency); amount != nil {
		fee.PriceMinor = amount.Minor
	}
	if err := c.Err(); err != nil {
		return err
	}
	return s.recorded(ctx, caller, "configureFee", &fee, func(tx bun.Tx) error {
		_, err := tx.NewInsert().Model(&fee).
			On(`CONFLICT (tenant, lower(application COLLATE "C"), lower(product COLLATE "C"),
				lower(fee_name COLLATE "C"), lower(fee_tier COLLATE "C")) DO UPDATE`).
			Set("price = EXCLUDED.price").Set("currency = EXCLUDED.currency").Exec(ctx)
		return err
	})
}

// Unconfigure removes a fee from the catalogue. Tiers that customers hold stay. It is for operators.
func (s *Service) Unconfigure(ctx context.Context, fee Fee) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	fee.Tenant = caller.Tenant
	return s.recorded(ctx, caller, "unconfigureFee", &fee, func(tx bun.Tx) error {
		done, err := tx.NewRaw(
			`DELETE FROM fee_catalogue WHERE tenant = ? AND lower(application COLLATE "C") = ?
			AND lower(product COLLATE "C") = ? AND lower(fee_name COLLATE "C") = ?
			AND lower(fee_tier COLLATE "C") = ?`,
			fee.Tenant, ident.Fold(fee.Application), ident.Fold(fee.Product), ident.Fold(fee.FeeName),
			ident.Fold(fee.FeeTier)).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return ErrNotConfigured
		}
		return nil
	})
}

func (s *Service) recorded(
	ctx context.Context, caller access.Caller, action string, fee *Fee, do func(bun.Tx) error,
) error {
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if err := do(tx); err != nil {
			return fmt.Errorf("%s: %w", action, err)
		}
		_, after := audit.Diff(nil, fee)
		return audit.WriteTx(ctx, tx,
			audit.Entry{
				Action: action, Decision: audit.Done, Object: "fee", UID: fee.String(),
				After: after,
			}.By(caller))
	})
}
