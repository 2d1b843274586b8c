package core_test

import (
	"context"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/positivepay"
)

// createPositivePayRule makes a rule for a new account of this customer.
func createPositivePayRule(b *coretest.Bank, of *customers.Customer, edits ...func(*accounts.Account)) write {
	draft := positivepay.Draft{
		Account: b.Account(of, edits...).UID, Type: positivepay.ACH, ACHCompanyID: given.Of("9100011223"),
		BeneficiaryName: given.Of("Lakefront Utilities Inc"), BeneficiaryAccountNumber: given.Of("440055551"),
		Amount: given.Of("1500"), AmountType: positivepay.Maximum, Frequency: positivepay.Monthly,
		EffectiveDate: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.PositivePay.Create(ctx, draft, with(key)))
	}
}

func changePositivePayRule(b *coretest.Bank, of *customers.Customer) write {
	uid := b.PositivePayRule(b.Account(of)).UID
	draft := positivepay.Draft{
		Amount: given.Of("1750.50"), BeneficiaryAccountNumber: given.Of("440055552"),
		ExpiryDate: given.Of(time.Date(2027, 11, 18, 0, 0, 0, 0, time.UTC)),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.PositivePay.Change(ctx, uid, draft, with(key)))
	}
}

// onRule is one of the operations that take nothing but a rule.
func onRule(
	b *coretest.Bank, of *customers.Customer, state positivepay.Status,
	do func(context.Context, positivepay.UID, changes.RequestOptions) (changes.Outcome[positivepay.Saved],
		error),
) write {
	uid := b.PositivePayRule(b.Account(of), func(r *positivepay.Rule) { r.State = state }).UID
	return func(ctx context.Context, key string) (said, error) { return heard(do(ctx, uid, with(key))) }
}
