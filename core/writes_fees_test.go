package core_test

import (
	"context"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/given"
	"bankgraph/core/limits"
)

func changeLimits(b *coretest.Bank, c *customers.Customer) write {
	b.Limit(c, "FEDWIRE_PAYMENT_LIMIT_PER_DAY", 100_00)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Limits.Change(ctx, c.UID,
			[]limits.Draft{{Code: "FEDWIRE_PAYMENT_LIMIT_PER_DAY", Value: "250.5"}}, with(key)))
	}
}

func addFeeTier(b *coretest.Bank, c *customers.Customer) write {
	b.Configured("Payments", "Outgoing Payment", "SPOT", "Gold")
	draft := fees.Draft{
		Application: given.Of("Payments"), Product: given.Of("Outgoing Payment"), FeeName: given.Of("SPOT"),
		FeeTier: given.Of("Gold"),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Fees.Add(ctx, c.UID, draft, with(key)))
	}
}

func changeFeeTier(b *coretest.Bank, id fees.ID) write {
	b.Configured("Payments", "Outgoing Payment", "SPOT", "Silver")
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Fees.Change(ctx, 0, id, fees.Draft{FeeTier: given.Of("Silver")}, with(key)))
	}
}
