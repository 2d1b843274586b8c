package graph_test

import (
	"fmt"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/webhooks"
)

func init() {
	declare("Webhook", node{
		needs: access.ViewWebhooks, rows: webhookRows,
		id: func(c customers.UID, n int) string { return "whk_" + webhookOf(c, n%2).String() },
	})
	declare("WebhookDelivery", node{
		needs: access.ViewWebhooks,
		id:    func(c customers.UID, n int) string { return "whd_" + deliveryOf(c, n).String() },
	})
	view, paying := []access.Permission{access.ViewWebhooks}, []access.Permission{access.ViewPayments}
	needs["Query.webhooks"], needs["Payment.webhookDeliveries"], needs["WebhookDelivery.webhook"] =
		view, view, view
	needs["Query.paymentEvents"], needs["WebhookDelivery.payment"] = paying, paying
	needs["WebhookDelivery.transaction"] = []access.Permission{access.ViewAccounts}
	needs["Webhook.deliveries"], needs["WebhookDelivery.log"] = view, view
	required["Webhook.deliveries"], required["Payment.webhookDeliveries"] = "(first: 2)", "(first: 1)"
	lookups["Query.webhooks.filter.customer"] = lookup{
		`{ webhooks(filter: {customer: "%s"}) { totalCount nodes { ALL(Webhook) } } }`, customers.UID.String,
	}
	of := func(c customers.UID) string { return fmt.Sprintf(`uid: "%s"`, webhookOf(activeOf(c), 0)) }
	const shown = `webhook { id name target topics statuses rails status reach replays
		version customer { uid } } approval { uid }`
	mutations["createWebhook"] = tried{access.ManageWebhooks, func(c customers.UID) string {
		return fmt.Sprintf(`customer: "%s", reach: CUSTOMER, name: "Ledger",
			target: "https://hooks.partner.example/", topics: [PAYMENT],
			statuses: [PROCESSED], rails: [BOOK, FEDNOW], basicUser: "bank",
			basicPassword: "correct horse"`, c)
	}, shown + ` secret`}
	mutations["changeWebhook"] = tried{access.ManageWebhooks, func(c customers.UID) string {
		return of(c) + `, name: "Books", target: "https://8.8.8.8/v2", statuses: [], basicUser: null`
	}, shown}
	mutations["rotateWebhookSecret"] = tried{access.ManageWebhooks, func(c customers.UID) string {
		return of(c) + `, overlapHours: 1`
	}, shown + ` secret`}
	mutations["enableWebhook"] = tried{access.ManageWebhooks, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s"`, webhookOf(activeOf(c), 1))
	}, shown}
	mutations["disableWebhook"] = tried{access.ManageWebhooks, of, shown}
	mutations["deleteWebhook"] = tried{access.ManageWebhooks, of, `uid approval { uid }`}
	mutations["replayWebhook"] = tried{access.ManageWebhooks, func(c customers.UID) string {
		return of(c) + `, after: "0.0"`
	}, shown}
	mutations["testWebhook"] = tried{
		access.ManageWebhooks, of,
		`webhookDelivery { id state attempts payment { uid } webhook { uid } log { number } }`,
	}
	mutations["resendWebhookDelivery"] = tried{access.ManageWebhooks, func(c customers.UID) string {
		return fmt.Sprintf(`uid: "%s"`, deliveryOf(activeOf(c), 0))
	}, `webhookDelivery { id state attempts status messageId }`}
}

// webhookOf is one of two webhooks of a customer: the first is active, the second is not.
func webhookOf(c customers.UID, n int) webhooks.UID {
	return webhooks.UID(int(c-theBank)*100 + n + 600_000_000)
}

func deliveryOf(c customers.UID, n int) webhooks.DeliveryUID {
	return webhooks.DeliveryUID(int(c-theBank)*100 + n + 700_000_000)
}

// webhookRows are the webhooks of each customer.
func webhookRows(b *bank, of []customers.UID) any {
	var all []webhooks.Webhook
	for _, c := range of {
		for n, status := range []webhooks.Status{webhooks.Active, webhooks.Disabled} {
			w := webhooks.Webhook{UID: webhookOf(c, n), Customer: c}
			b.fill(&w, int64(w.UID))
			w.Tenant, w.Status, w.Reach, w.Version = b.tenant, status, access.OfCustomer, 1
			w.Statuses, w.Rails = []payments.Status{payments.StatusProcessed}, []rails.Rail{rails.Book}
			w.FailingSince, w.ByBank = &now, false
			w.Topics = []webhooks.Topic{webhooks.OfPayments}
			if n == 1 {
				w.Topics = webhooks.Topics
			}
			all = append(all, w)
		}
	}
	return &all
}
