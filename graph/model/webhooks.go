package model

import (
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/webhooks"
)

type (
	WebhookConnection         = Connection[webhooks.Webhook]
	WebhookEdge               = Edge[webhooks.Webhook]
	WebhookPayload            = Payload[webhooks.Webhook]
	WebhookDeliveryConnection = Connection[webhooks.Delivery]
	WebhookDeliveryEdge       = Edge[webhooks.Delivery]
	WebhookDeliveryPayload    = Payload[webhooks.Delivery]
)

// WebhookSecretPayload is the answer of a mutation that makes a secret.
type WebhookSecretPayload struct {
	Object   *webhooks.Webhook
	Secret   string // "" if another one was made since
	Approval *changes.Approval
	Replayed bool
}

// DeleteWebhookPayload is the answer of deleteWebhook.
type DeleteWebhookPayload struct {
	UID      webhooks.UID
	Approval *changes.Approval
	Replayed bool
}

// WebhookDraft is what mutations say about a webhook.
type WebhookDraft struct {
	Customer     customers.UID
	UID          webhooks.UID
	OverlapHours int32
	After        string
	Since        *time.Time
	webhooks.Draft
	changes.RequestOptions
}

// WebhookDeliveryDraft is what mutations say about a delivery.
type WebhookDeliveryDraft struct {
	UID webhooks.DeliveryUID
	changes.RequestOptions
}
