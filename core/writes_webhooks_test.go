package core_test

import (
	"context"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/webhooks"
)

func createWebhook(b *coretest.Bank, of *customers.Customer, target string) write {
	draft := webhooks.Draft{
		Name: given.Of("Ledger"), Target: given.Of(target), BasicUser: given.Of("bank"),
		BasicPassword: given.Of("correct horse"),
	}
	return func(ctx context.Context, key string) (said, error) {
		done, _, err := b.Webhooks.Create(ctx, of.UID, draft, with(key))
		return heard(done, err)
	}
}

// webhook creates one of this customer, as if nobody had to be asked.
func webhook(b *coretest.Bank, of *customers.Customer) webhooks.UID {
	made, err := createWebhook(b, of, "https://hooks.partner.example")(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	uid := made.Result.(webhooks.Saved).UID
	b.Exec(`UPDATE webhooks SET status = 'Active' WHERE tenant = ? AND uid = ?`, b.Tenant, uid)
	b.Exec(`UPDATE approvals SET status = 'Approved', decided_at = now()
		WHERE tenant = ? AND object = 'webhook'`, b.Tenant)
	return uid
}

func changeWebhook(b *coretest.Bank, uid webhooks.UID) write {
	draft := webhooks.Draft{
		Target: given.Of("https://hooks.partner.example/v2"), BasicUser: given.Of("other"),
		BasicPassword: given.Of("battery staple"),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Webhooks.Change(ctx, uid, draft, with(key)))
	}
}

func rotateWebhookSecret(b *coretest.Bank, uid webhooks.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		done, _, err := b.Webhooks.RotateSecret(ctx, uid, 0, with(key))
		return heard(done, err)
	}
}

// onWebhook is one of the operations that take nothing but a webhook.
func onWebhook(
	uid webhooks.UID,
	do func(context.Context, webhooks.UID, changes.RequestOptions) (changes.Outcome[webhooks.Saved], error),
) write {
	return func(ctx context.Context, key string) (said, error) { return heard(do(ctx, uid, with(key))) }
}

func testWebhook(b *coretest.Bank, uid webhooks.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Webhooks.Test(ctx, uid, with(key)))
	}
}

func replayWebhook(b *coretest.Bank, uid webhooks.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Webhooks.Replay(ctx, uid, webhooks.Replay{After: "0.0"}, with(key)))
	}
}

func resendWebhookDelivery(b *coretest.Bank, uid webhooks.UID) write {
	made, err := testWebhook(b, uid)(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	delivery := made.Result.(webhooks.Asked).Delivery
	b.Exec(`UPDATE webhook_deliveries SET state = 'PARKED' WHERE tenant = ?`, b.Tenant)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Webhooks.Resend(ctx, delivery, with(key)))
	}
}
