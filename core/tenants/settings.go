package tenants

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
)

// Settings holds the settings of a bank.
type Settings struct {
	bun.BaseModel `bun:"table:tenant_settings,alias:s" json:"-"`

	Tenant access.Tenant `bun:"tenant,pk" json:"-"`
	// only people, not programs, may approve or refuse changes
	PeopleDecide bool `bun:"people_decide" json:"peopleDecide"`
	// for how many seconds a quote of foreign exchange holds, 1 to 3600
	QuoteSeconds int32 `bun:"quote_seconds" json:"quoteSeconds"`
	// for how many minutes callers outside the bank can cancel a trade, 0 to 1440
	CancelMinutes int32 `bun:"cancel_minutes" json:"cancelMinutes"`
	// people look at every payment over a network, not only at those to listed names
	ScreenAll bool `bun:"screen_all" json:"screenAll"`
}

// What holds at a bank that has set nothing, as the defaults of the columns have it too. Who reads
// people_decide (changes) or screen_all (screening) has that one's default in its own statement.
const (
	DefaultQuoteSeconds  = 30
	DefaultCancelMinutes = 15
)

// Settings returns the settings of the caller's bank. It is for operators.
func (s *Service) Settings(ctx context.Context) (*Settings, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	return settingsOf(ctx, s.db, caller.Tenant)
}

// Set changes the settings of the caller's bank, and returns the new ones. It is for operators.
func (s *Service) Set(ctx context.Context, change func(*Settings)) (*Settings, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	var is Settings
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		was, err := settingsOf(ctx, tx, caller.Tenant)
		if err != nil {
			return err
		}
		is = *was
		change(&is)
		if is == *was {
			return nil
		}
		_, err = tx.NewInsert().Model(&is).On("CONFLICT (tenant) DO UPDATE").
			Set("people_decide = excluded.people_decide, quote_seconds = excluded.quote_seconds").
			Set("cancel_minutes = excluded.cancel_minutes, screen_all = excluded.screen_all").Exec(ctx)
		if err != nil {
			return err
		}
		entry := audit.Entry{
			Action: "changeSettings", Decision: audit.Done, Object: "tenant", UID: caller.TenantCode,
		}.By(caller)
		entry.Before, entry.After = audit.Diff(was, &is)
		return audit.WriteTx(ctx, tx, entry)
	})
	if err != nil {
		return nil, fmt.Errorf("change the settings of tenant %s: %w", caller.TenantCode, err)
	}
	return &is, nil
}

// settingsOf reads the settings of a bank; the defaults if it has none.
func settingsOf(ctx context.Context, q bun.IDB, tenant access.Tenant) (*Settings, error) {
	found := new(Settings)
	err := q.NewSelect().Model(found).Where("s.tenant = ?", tenant).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return &Settings{
			Tenant: tenant, PeopleDecide: true, QuoteSeconds: DefaultQuoteSeconds, CancelMinutes: DefaultCancelMinutes,
		}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the settings of tenant %d: %w", tenant, err)
	}
	return found, nil
}
