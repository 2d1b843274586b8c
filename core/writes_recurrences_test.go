package core_test

import (
	"context"
	"time"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
)

// repeatTransfer begins a series of transfers of this customer, some days from now.
func repeatTransfer(b *coretest.Bank, from *customers.Customer, days int) write {
	draft := payments.Draft{
		Sender:   payments.Party{UID: b.Account(from, coretest.Holding(1000_00, 0)).UID},
		Receiver: payments.Party{UID: b.Account(from).UID}, Amount: "10",
		Date:   time.Date(2026, 11, 18+days, 0, 0, 0, 0, time.UTC),
		Repeat: &payments.Repetition{Frequency: "Weekly", Until: "Cancelled"},
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Transfer(ctx, draft, with(key)))
	}
}

// begun is the series that a payment has begun.
func begun(b *coretest.Bank, what write) payments.RecurrenceUID {
	made, err := what(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	return made.Result.(payments.Saved).Recurrence
}

func skipRecurrence(b *coretest.Bank, what write) write {
	uid := begun(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.SkipRecurrence(ctx, uid, with(key)))
	}
}

func changeRecurrence(b *coretest.Bank, what write) write {
	uid := begun(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.ChangeRecurrence(ctx, uid, payments.RecurrenceDraft{Amount: "12"}, with(key)))
	}
}

func cancelRecurrence(b *coretest.Bank, what write) write {
	uid := begun(b, what)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.CancelRecurrence(ctx, uid, payments.Cancellation{}, with(key)))
	}
}
