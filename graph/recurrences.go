package graph

import (
	"context"

	"bankgraph/core"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/graph/model"
	"bankgraph/graph/scalar"
)

var recurrenceKind = numbered("Recurrence", kind[payments.RecurrenceUID, payments.Recurrence]{
	prefix: scalar.RecurrencePrefix,
	find: func(c *core.Core) finder[payments.RecurrenceUID, payments.Recurrence] {
		return c.Payments.FindRecurrences
	},
	key: func(r *payments.Recurrence) payments.RecurrenceUID { return r.UID },
	columns: columns{
		"amount": {"Minor", "Currency"}, "lastPayment": {"Last"},
		"upcomingDates": {
			"Frequency", "CountsFrom", "Next", "Speed", "Made", "Number", "End", "Status",
		},
	},
})

func init() {
	service := func(c *core.Core) *payments.Service { return c.Payments }
	queryList("recurrences", recurrenceKind, service, (*payments.Service).ListRecurrences,
		(*payments.Service).CountRecurrences, nil)
	hasMany(customerKind, "recurrences", recurrenceKind,
		pages(service, (*payments.Service).RecurrencesOfCustomers,
			capped((*payments.Service).CountRecurrencesOfCustomers)))
	hasOne(paymentKind, "recurrence", recurrenceKind,
		func(p *payments.Payment) *payments.RecurrenceUID { return named(&p.Recurrence) })
	hasCustomer(recurrenceKind, "customer", func(r *payments.Recurrence) *customers.UID { return &r.Customer })
	hasOne(recurrenceKind, "account", accountKind,
		func(r *payments.Recurrence) *accounts.UID { return &r.Account })
	hasOne(recurrenceKind, "lastPayment", paymentKind,
		func(r *payments.Recurrence) *payments.UID { return &r.Last })
	prices["RecurrenceConnection.totalCount"] = countMany
	prices["RecurrenceConnection.totalCountIsExact"] = countMany
	prices["RecurrenceFilter.account"], prices["RecurrenceFilter.status"] = scan, scan
	listSizes["Recurrence.upcomingDates"] = payments.MostUpcoming
	subjects["recurrence"] = subject{
		codes:  codes{fault.NotFound: "RECURRING_PAYMENT_NOT_FOUND", fault.State: "RECURRENCE_STATUS_INVALID"},
		fields: map[string]string{"cancelReason": "reason"},
	}
}

func (m mutations) SkipRecurrence(
	ctx context.Context, in model.RecurrenceDraft,
) (*model.RecurrencePayload, error) {
	if err := model.Keyed(in.RequestOptions); err != nil {
		return nil, err
	}
	done, err := m.core.Payments.SkipRecurrence(ctx, in.UID, in.RequestOptions)
	return recurrenceKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) ChangeRecurrence(
	ctx context.Context, in model.RecurrenceDraft,
) (*model.RecurrencePayload, error) {
	draft, err := in.Changes()
	if err != nil {
		return nil, err
	}
	done, err := m.core.Payments.ChangeRecurrence(ctx, in.UID, draft, in.RequestOptions)
	return recurrenceKind.payload(ctx, done.Result.UID, done.Receipt, err)
}

func (m mutations) CancelRecurrence(
	ctx context.Context, in model.RecurrenceDraft,
) (*model.RecurrencePayload, error) {
	draft := payments.Cancellation{Source: in.CancellationSource}
	done, err := m.core.Payments.CancelRecurrence(ctx, in.UID, draft, in.RequestOptions)
	return recurrenceKind.payload(ctx, done.Result.UID, done.Receipt, err)
}
