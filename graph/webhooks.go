package graph

import (
	"context"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/webhooks"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var (
	webhookKind = numbered("Webhook", kind[webhooks.UID, webhooks.Webhook]{
		prefix:  scalar.WebhookPrefix,
		find:    func(c *core.Core) finder[webhooks.UID, webhooks.Webhook] { return c.Webhooks.FindMany },
		key:     func(w *webhooks.Webhook) webhooks.UID { return w.UID },
		columns: columns{"replays": {"ReplayFrom", "ReplayTo"}},
	})
	deliveryKind = numbered("WebhookDelivery", kind[webhooks.DeliveryUID, webhooks.Delivery]{
		prefix: scalar.WebhookDeliveryPrefix,
		find: func(c *core.Core) finder[webhooks.DeliveryUID, webhooks.Delivery] {
			return c.Webhooks.FindDeliveries
		},
		key: func(d *webhooks.Delivery) webhooks.DeliveryUID { return d.UID },
		columns: columns{
			"messageId": {"UID"}, "status": {"StepState"}, "nextAt": {"State", "DueAt"},
		},
	})
)

func init() {
	service := func(c *core.Core) *webhooks.Service { return c.Webhooks }
	query("paymentEvents", (*operation).paymentEvents)
	queryList("webhooks", webhookKind, service, (*webhooks.Service).List, (*webhooks.Service).CountUpTo, nil)
	hasCustomer(webhookKind, "customer", func(w *webhooks.Webhook) *customers.UID { return &w.Customer })
	hasMany(webhookKind, "deliveries", deliveryKind, pages(service, (*webhooks.Service).OfWebhooks,
		capped((*webhooks.Service).CountOfWebhooks)))
	hasMany(paymentKind, "webhookDeliveries", deliveryKind, pages(service, (*webhooks.Service).OfPayments,
		capped((*webhooks.Service).CountOfPayments)))
	hasOne(deliveryKind, "webhook", webhookKind, func(d *webhooks.Delivery) *webhooks.UID { return &d.Webhook })
	hasOne(deliveryKind, "payment", paymentKind,
		func(d *webhooks.Delivery) *payments.UID { return named(&d.Payment) })
	hasOne(deliveryKind, "transaction", virtualTransactionKind,
		func(d *webhooks.Delivery) *virtualaccounts.PostingID { return named(&d.Posting) })
	hasAll(deliveryKind, "log", service, (*webhooks.Service).AttemptsOf)
	for _, list := range []string{"WebhookConnection", "WebhookDeliveryConnection"} {
		prices[list+".totalCount"], prices[list+".totalCountIsExact"] = countMany, countMany
	}
	prices["WebhookFilter.customer"], prices["WebhookFilter.status"] = sorted, scan
	prices["WebhookDeliveryFilter.state"] = scan
	prices["Query.paymentEvents"] = search
	listSizes["PaymentEventFeed.events"] = webhooks.MostEvents
	listSizes["WebhookDelivery.log"] = webhooks.MostAttempts
	subjects["webhook"] = subject{codes: codes{fault.NotFound: "API900", fault.State: "WEBHOOK_STATE"}}
}

// paymentEvents answers Query.paymentEvents.
func (o *operation) paymentEvents(ctx context.Context, f graphql.CollectedField) (*webhooks.Feed, error) {
	a := argumentsOf(ctx, f)
	first, err := scalar.UnmarshalInt(a["first"])
	if err != nil {
		return nil, on("first", err)
	}
	after, err := scalar.UnmarshalString(a["after"])
	if err != nil {
		return nil, on("after", err)
	}
	feed, err := o.core.Webhooks.Feed(ctx, after, int(first))
	if wrong, is := fault.Of(err); is && wrong.Subject == "feed" {
		return nil, on("after", err)
	}
	return feed, err
}

func (m mutations) CreateWebhook(
	ctx context.Context, in model.WebhookDraft,
) (*model.WebhookSecretPayload, error) {
	done, secret, err := m.core.Webhooks.Create(ctx, in.Customer, in.Draft, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.WebhookSecretPayload{
		Object: webhookKind.changed(ctx, done.Result.UID), Secret: secret, Approval: waiting(ctx, done.Receipt),
		Replayed: done.Replayed,
	}, nil
}

func (m mutations) ChangeWebhook(ctx context.Context, in model.WebhookDraft) (*model.WebhookPayload, error) {
	done, err := m.core.Webhooks.Change(ctx, in.UID, in.Draft, in.RequestOptions)
	return webhookKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) RotateWebhookSecret(
	ctx context.Context, in model.WebhookDraft,
) (*model.WebhookSecretPayload, error) {
	overlap := time.Duration(in.OverlapHours) * time.Hour
	done, secret, err := m.core.Webhooks.RotateSecret(ctx, in.UID, overlap, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.WebhookSecretPayload{
		Object: webhookKind.changed(ctx, done.Result.UID), Secret: secret, Approval: waiting(ctx, done.Receipt),
		Replayed: done.Replayed,
	}, nil
}

func (m mutations) EnableWebhook(ctx context.Context, in model.WebhookDraft) (*model.WebhookPayload, error) {
	done, err := m.core.Webhooks.Enable(ctx, in.UID, in.RequestOptions)
	return webhookKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) DisableWebhook(ctx context.Context, in model.WebhookDraft) (*model.WebhookPayload, error) {
	done, err := m.core.Webhooks.Disable(ctx, in.UID, in.RequestOptions)
	return webhookKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) DeleteWebhook(
	ctx context.Context, in model.WebhookDraft,
) (*model.DeleteWebhookPayload, error) {
	done, err := m.core.Webhooks.Delete(ctx, in.UID, in.RequestOptions)
	if err != nil {
		return nil, err
	}
	return &model.DeleteWebhookPayload{
		UID: done.Result.UID, Approval: waiting(ctx, done.Receipt), Replayed: done.Replayed,
	}, nil
}

func (m mutations) ReplayWebhook(ctx context.Context, in model.WebhookDraft) (*model.WebhookPayload, error) {
	from := webhooks.Replay{After: in.After, Since: in.Since}
	done, err := m.core.Webhooks.Replay(ctx, in.UID, from, in.RequestOptions)
	return webhookKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) TestWebhook(
	ctx context.Context, in model.WebhookDraft,
) (*model.WebhookDeliveryPayload, error) {
	done, err := m.core.Webhooks.Test(ctx, in.UID, in.RequestOptions)
	return deliveryKind.payload(ctx, done.Result.Delivery, done.Receipt, err)
}

func (m mutations) ResendWebhookDelivery(
	ctx context.Context, in model.WebhookDeliveryDraft,
) (*model.WebhookDeliveryPayload, error) {
	done, err := m.core.Webhooks.Resend(ctx, in.UID, in.RequestOptions)
	return deliveryKind.payload(ctx, done.Result.Delivery, done.Receipt, err)
}
