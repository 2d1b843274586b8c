package core_test

import (
	"context"
	"time"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/payments"
)

// transferFunds pays from an account of this customer, with a fee, some days from now.
func transferFunds(b *coretest.Bank, from *customers.Customer, amount string, days int) write {
	b.Configured("Payments", "Outgoing Payment", "Book Transfer", "Gold")
	b.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'Book Transfer'`, b.Tenant)
	b.Fee(from, func(f *fees.Tier) { f.FeeName = "Book Transfer" })
	draft := payments.Draft{
		Sender:   payments.Party{UID: b.Account(from, coretest.Holding(1000_00, 0)).UID},
		Receiver: payments.Party{UID: b.Account(from).UID}, Amount: amount,
		Date: time.Date(2026, 11, 18+days, 0, 0, 0, 0, time.UTC),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Transfer(ctx, draft, with(key)))
	}
}

// sendPayment pays a contact of this customer over an instant network, with a fee, some days from now.
func sendPayment(b *coretest.Bank, from *customers.Customer, amount string, days int) write {
	b.Directory()
	b.Configured("Payments", "Outgoing Payment", "Instant", "Gold")
	b.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'Instant'`, b.Tenant)
	b.Fee(from, func(f *fees.Tier) { f.FeeName = "Instant" })
	b.Limit(from, "INSTANT_PAYMENT_LIMIT_PER_DAY", 900_00)
	order := payments.Order{
		Sender:   payments.Party{UID: b.Account(from, coretest.Holding(1000_00, 0), coretest.Sends).UID},
		Receiver: payments.Receiver{Contact: b.Contact(from).UID}, Amount: amount, Currency: "USD", Speed: "Instant",
		Date: time.Date(2026, 11, 18+days, 0, 0, 0, 0, time.UTC), ExternalReferenceID: "INV-7",
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Send(ctx, order, with(key)))
	}
}

func cancelPayment(b *coretest.Bank, what write) write {
	made, err := what(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	uid := made.Result.(payments.Saved).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Cancel(ctx, uid, with(key)))
	}
}
