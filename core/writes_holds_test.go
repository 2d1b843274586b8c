package core_test

import (
	"context"
	"time"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/holds"
)

// placeHold holds an amount of a new account of this customer, which has 1,000.00, for a day.
func placeHold(b *coretest.Bank, of *customers.Customer, amount string) write {
	until := coretest.Start.Add(24 * time.Hour)
	draft := holds.Draft{Account: b.Account(of).UID, Amount: amount, ExpiresAt: &until}
	return func(ctx context.Context, key string) (said, error) {
		options := with(key)
		options.Reason = "Garnishment 12"
		return heard(b.Holds.Place(ctx, draft, options))
	}
}

// releaseHold releases a hold that was placed as if nobody had to be asked.
func releaseHold(b *coretest.Bank, of *customers.Customer) write {
	settings := of.Access
	b.Exec(`UPDATE customers SET access_customer_dual_approval = false
		WHERE tenant = ? AND uid = ?`, b.Tenant, of.UID)
	made, err := placeHold(b, of, "100.50")(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	b.Exec(`UPDATE customers SET access_customer_dual_approval = ? WHERE tenant = ? AND uid = ?`,
		settings.CustomerDualApproval, b.Tenant, of.UID)
	uid := made.Result.(holds.Saved).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Holds.Release(ctx, uid, with(key)))
	}
}
