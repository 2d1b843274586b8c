package core_test

import (
	"context"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/virtualaccounts"
)

// openVirtualAccount opens a virtual account on a new account of this customer.
func openVirtualAccount(b *coretest.Bank, of *customers.Customer) write {
	master := b.Account(of)
	draft := virtualaccounts.Draft{
		Name: given.Of("Flat 7"), ProductCode: given.Of("RENT"),
		MasterNumber: given.Of(coretest.AccountNumber(master.UID)), Purpose: given.Of("Rent"),
		LimitPeriod: virtualaccounts.Monthly, LimitAmount: given.Of("1500.00"),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.VirtualAccounts.Open(ctx, of.UID, draft, with(key)))
	}
}

func changeVirtualAccount(
	b *coretest.Bank, of *customers.Customer, edits ...func(*virtualaccounts.VirtualAccount),
) write {
	uid := b.VirtualAccount(b.Account(of), edits...).UID
	draft := virtualaccounts.Draft{Name: given.Of("Flat 8"), Purpose: given.Of("Deposit")}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.VirtualAccounts.Change(ctx, 0, uid, draft, with(key)))
	}
}

func closeVirtualAccount(
	b *coretest.Bank, of *customers.Customer, edits ...func(*virtualaccounts.VirtualAccount),
) write {
	uid := b.VirtualAccount(b.Account(of), edits...).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.VirtualAccounts.Close(ctx, 0, uid, with(key)))
	}
}

func isClosed(v *virtualaccounts.VirtualAccount) { v.Status = virtualaccounts.Closed }
