package webhooks

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

var (
	deliveryIdentity = db.ColumnsOf[Delivery]("UID", "Webhook", "Customer", "Payment", "Posting")
	stepState        = db.ColumnsOf[Delivery]("StepState")

	inDeliveries = map[string]string{
		"payment": "coalesce(wd.payment, 0)", "posting": "coalesce(wd.posting, 0)",
		"step_state": "coalesce(st.state, '')",
	}
)

// selectingDeliveries starts a query of the deliveries that the caller sees, which are those of webhooks that
// it sees.
func selectingDeliveries(reach access.Reach, want db.Columns) *bun.SelectQuery {
	want = db.Or[Delivery](want).And(deliveryIdentity)
	q := db.Select[Delivery](want, inDeliveries)
	if want.Overlaps(stepState) {
		q = q.Join("LEFT JOIN payment_steps AS st ON st.tenant = wd.tenant AND st.payment = wd.payment" +
			" AND st.number = wd.number")
	}
	return q.Where("wd.tenant = $1").Where(reach.Scope("wd.customer"))
}

var (
	findingDeliveries  db.QueryCache[Delivery]
	listingDeliveries  db.QueryCache[Delivery]
	countingDeliveries db.QueryCache[db.Count]
)

// FindDeliveries reads deliveries by UID. Those of webhooks that the caller may not see are absent.
func (s *Service) FindDeliveries(
	ctx context.Context, b *db.Batch, uids []DeliveryUID, want db.Columns,
) *db.Many[DeliveryUID, Delivery] {
	caller, err := access.Require(ctx, access.ViewWebhooks)
	if err != nil {
		return db.Refuse[DeliveryUID, Delivery](err)
	}
	text := findingDeliveries.Get(queryKey{want: want, reach: caller.Reach}, func() string {
		return selectingDeliveries(caller.Reach, want).Where("wd.uid = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(d *Delivery) DeliveryUID { return d.UID }, caller.Tenant,
		caller.ScopeCustomer(), uids)
}

// DeliverySearch narrows a list of deliveries.
type DeliverySearch struct {
	State []DeliveryState // nil for any
}

func (by DeliverySearch) where(p *db.Params) (all db.Conditions) {
	if by.State == nil {
		return nil
	}
	words := []string{}
	for _, word := range by.State {
		words = append(words, string(word))
	}
	return db.Conditions{"wd.state = ANY(" + p.Add(words) + "::text[])"}
}

// OfWebhooks reads a window of the deliveries of each webhook, newest first.
func (s *Service) OfWebhooks(
	ctx context.Context, b *db.Batch, of []UID, by DeliverySearch, want db.Columns, w page.Window,
) *db.Many[UID, Delivery] {
	return deliveriesOf(ctx, b, "wd.webhook", of, func(d *Delivery) UID { return d.Webhook }, by, want, w)
}

// CountOfWebhooks counts the deliveries of each webhook, up to most; 0 means no bound.
func (s *Service) CountOfWebhooks(
	ctx context.Context, b *db.Batch, of []UID, by DeliverySearch, most int64,
) *db.Many[UID, db.Count] {
	return countDeliveriesOf(ctx, b, "wd.webhook", of, by, most)
}

// OfPayments reads a window of the deliveries that tell of each payment, newest first.
func (s *Service) OfPayments(
	ctx context.Context, b *db.Batch, of []payments.UID, by DeliverySearch, want db.Columns, w page.Window,
) *db.Many[payments.UID, Delivery] {
	return deliveriesOf(ctx, b, "wd.payment", of,
		func(d *Delivery) payments.UID { return d.Payment }, by, want, w)
}

// CountOfPayments counts the deliveries that tell of each payment, up to most; 0 means no bound.
func (s *Service) CountOfPayments(
	ctx context.Context, b *db.Batch, of []payments.UID, by DeliverySearch, most int64,
) *db.Many[payments.UID, db.Count] {
	return countDeliveriesOf(ctx, b, "wd.payment", of, by, most)
}

// deliveriesKey is what the text of a list of deliveries depends on.
type deliveriesKey struct {
	queryKey
	parent string
	window db.PerParentWindow
	limit  string
}

func deliveriesOf[K ~int64](
	ctx context.Context, b *db.Batch, parent string, of []K, key func(*Delivery) K,
	by DeliverySearch, want db.Columns, w page.Window,
) *db.Many[K, Delivery] {
	caller, err := access.Require(ctx, access.ViewWebhooks)
	if err != nil {
		return db.Refuse[K, Delivery](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer()}
	window := db.WindowOf(&p, of, w.Limit(), w.Cursor.UID, w.Offset, !w.Backward)
	where := by.where(&p)
	asked := deliveriesKey{queryKey{want, caller.Reach, where.Key()}, parent, window, ""}
	text := listingDeliveries.Get(asked, func() string {
		return window.Text(where.On(selectingDeliveries(caller.Reach, want)),
			func(string) string { return "true" }, parent, "wd.uid")
	})
	return db.QueueMany(b, text, key, p...)
}

func countDeliveriesOf[K ~int64](
	ctx context.Context, b *db.Batch, parent string, of []K, by DeliverySearch, most int64,
) *db.Many[K, db.Count] {
	caller, err := access.Require(ctx, access.ViewWebhooks)
	if err != nil {
		return db.Refuse[K, db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), of}
	where := by.where(&p)
	limit := p.Up(most)
	asked := deliveriesKey{
		queryKey: queryKey{reach: caller.Reach, where: where.Key()},
		parent:   parent, limit: limit,
	}
	text := countingDeliveries.Get(asked, func() string {
		q := where.On(db.Select0[Delivery]("1").Where("wd.tenant = $1").Where(caller.Reach.Scope("wd.customer"))).
			Where(parent + " = p.parent")
		return db.CountEachText("unnest($3::bigint[]) AS p(parent)", "p.parent", q, limit)
	})
	return db.QueueMany(b, text, func(n *db.Count) K { return K(n.Of) }, p...)
}

var attempting db.QueryCache[Attempt]

// AttemptsOf reads the last MostAttempts attempts of each delivery, in their order.
func (s *Service) AttemptsOf(
	ctx context.Context, b *db.Batch, of []DeliveryUID,
) *db.Many[DeliveryUID, Attempt] {
	caller, err := access.Require(ctx, access.ViewWebhooks)
	if err != nil {
		return db.Refuse[DeliveryUID, Attempt](err)
	}
	text := attempting.Get(caller.Reach, func() string {
		last := db.Select[Attempt](db.Columns{}, nil).Where("wa.tenant = $1").Where("wa.delivery = wd.uid").
			OrderExpr("wa.number DESC").Limit(MostAttempts).String()
		return "SELECT r.* FROM webhook_deliveries AS wd CROSS JOIN LATERAL (" + last + ") AS r" +
			" WHERE wd.tenant = $1 AND wd.uid = ANY($3::bigint[]) AND " + caller.Reach.Scope("wd.customer") +
			" ORDER BY r.delivery, r.number"
	})
	return db.QueueMany(b, text, func(a *Attempt) DeliveryUID { return a.Delivery }, caller.Tenant,
		caller.ScopeCustomer(), of)
}
