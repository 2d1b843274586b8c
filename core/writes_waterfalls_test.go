package core_test

import (
	"context"

	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/waterfalls"
)

// runWaterfall runs a batch that moves an amount from an account of this customer to another, and on to a
// third.
func runWaterfall(b *coretest.Bank, of *customers.Customer, amount string) write {
	one, other, third := b.Account(of, coretest.Holding(1000_00, 0)), b.Account(of), b.Account(of)
	draft := waterfalls.Draft{ExternalReferenceID: "BATCH-7", Payments: []waterfalls.Transfer{
		{Index: 2, Amount: amount, Debtor: party(other), Creditor: party(third)},
		{Index: 1, Amount: amount, Debtor: party(one), Creditor: party(other)},
	}}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Waterfalls.Run(ctx, draft, with(key)))
	}
}

// party names an account by all that tells it.
func party(a *accounts.Account) payments.Party {
	return payments.Party{
		Number: coretest.AccountNumber(a.UID), Type: string(a.Type), SubType: string(a.SubType),
		RoutingNumber: a.BankID,
	}
}
