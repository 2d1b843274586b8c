package core_test

import (
	"context"

	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
)

// createBalanceAlert makes an alert for a new account of this customer.
func createBalanceAlert(b *coretest.Bank, of *customers.Customer, edits ...func(*accounts.Account)) write {
	return alerting(b, b.Account(of, edits...))
}

func alerting(b *coretest.Bank, on *accounts.Account) write {
	draft := alerts.Draft{Account: on.UID, Balance: alerts.Available, Direction: alerts.Below, Threshold: "500"}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Alerts.Create(ctx, draft, with(key)))
	}
}

func changeBalanceAlert(b *coretest.Bank, of *customers.Customer, edits ...func(*alerts.Alert)) write {
	uid := b.BalanceAlert(b.Account(of), edits...).UID
	draft := alerts.Draft{Direction: alerts.Above, Threshold: "250.50"}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Alerts.Change(ctx, uid, draft, with(key)))
	}
}

func deleteBalanceAlert(b *coretest.Bank, of *customers.Customer) write {
	uid := b.BalanceAlert(b.Account(of)).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Alerts.Delete(ctx, uid, with(key)))
	}
}
