package model

import (
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/payments"
)

type (
	RecurrenceConnection = Connection[payments.Recurrence]
	RecurrenceEdge       = Edge[payments.Recurrence]
	RecurrencePayload    = Payload[payments.Recurrence]
)

// Repetition is how a payment is repeated.
type Repetition struct {
	Frequency        payments.Frequency
	PayUntil         payments.PayUntil
	EndDate          time.Time
	NumberOfPayments *int32
}

// whole is the repetition as core takes it; nil for a single payment.
func (r *Repetition) whole() *payments.Repetition {
	if r == nil {
		return nil
	}
	return &payments.Repetition{
		Frequency: string(r.Frequency), Until: string(r.PayUntil), End: r.EndDate, Number: r.NumberOfPayments,
	}
}

// RecurrenceDraft is what mutations say about a series.
type RecurrenceDraft struct {
	UID                      payments.RecurrenceUID
	Amount                   string
	Frequency                payments.Frequency
	NextPaymentDate, EndDate time.Time
	NumberOfPayments         *int32
	CancellationSource       string
	changes.RequestOptions
}

// Changes is what changes of the series. As with payments, a key is required.
func (d RecurrenceDraft) Changes() (payments.RecurrenceDraft, error) {
	c := check.Of("recurrence")
	c.Required("idempotencyKey", d.IdempotencyKey)
	return payments.RecurrenceDraft{
		End: d.EndDate, Number: d.NumberOfPayments, Frequency: string(d.Frequency), Amount: d.Amount,
		Next: d.NextPaymentDate,
	}, c.Err()
}
