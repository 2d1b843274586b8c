package contacts

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/tenants"
)

// ErrNoKey is returned for a key that the bank is not configured for.
var ErrNoKey = fault.New(fault.NotFound, "reportingKey.not_found", "regulatory entries have no such key")

// ReportingKeys returns the keys that regulatory entries may have (rest/CONTRACT.md, contact rules).
func (s *Service) ReportingKeys(ctx context.Context) ([]string, error) {
	caller, err := access.Require(ctx, access.ViewContacts)
	if err != nil {
		return nil, err
	}
	return reportingKeys(ctx, s.db, caller.Tenant)
}

func reportingKeys(ctx context.Context, q bun.IDB, tenant access.Tenant) ([]string, error) {
	keys, err := tenants.ReportingKeys(ctx, q, tenant)
	if err != nil {
		return nil, fmt.Errorf("read the keys of regulatory entries: %w", err)
	}
	return keys, nil
}

// AddReportingKey adds a key for regulatory entries, or changes the letter case of one. It is for operators.
func (s *Service) AddReportingKey(ctx context.Context, key string) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	c := check.Of("reportingKey")
	c.Required("key", key)
	c.Alphanumeric("key", key)
	c.AtMost("key", key, 255)
	if err := c.Err(); err != nil {
		return err
	}
	return s.configureKey(ctx, caller, "addReportingKey", key, tenants.AddReportingKeyTx)
}

// RemoveReportingKey removes a key: existing entries stay, new ones are refused. It is for operators.
func (s *Service) RemoveReportingKey(ctx context.Context, key string) error {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	return s.configureKey(ctx, caller, "removeReportingKey", key, tenants.RemoveReportingKeyTx)
}

type configure func(ctx context.Context, tx bun.Tx, tenant access.Tenant, key string) (found bool, err error)

func (s *Service) configureKey(
	ctx context.Context, caller access.Caller, action, key string, configure configure,
) error {
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		found, err := configure(ctx, tx, caller.Tenant, key)
		if err != nil {
			return fmt.Errorf("%s: %w", action, err)
		}
		if !found {
			return ErrNoKey
		}
		return audit.WriteTx(ctx, tx,
			audit.Entry{Action: action, Decision: audit.Done, Object: "reportingKey", UID: key}.By(caller))
	})
}
