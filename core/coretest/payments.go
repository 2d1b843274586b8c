package coretest

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// Payment creates a settled payment between two accounts of the bank's own books, without booking it in them.
// Makers count payments from 1.
func (b *Bank) Payment(from, to *accounts.Account, edits ...func(*payments.Payment)) *payments.Payment {
	b.t.Helper()
	b.remember(func(o *Bank) { o.payment(from, to, edits...) })
	return b.payment(from, to, edits...)
}

func (b *Bank) payment(from, to *accounts.Account, edits ...func(*payments.Payment)) *payments.Payment {
	b.t.Helper()
	b.numbers.payments++
	p := &payments.Payment{
		Tenant: b.Tenant, UID: payments.UID(b.numbers.payments), Customer: from.Customer, Rail: rails.Book,
		State: payments.Settled, Minor: 30_25, Currency: from.Currency, Date: ledger.Day(b.Now().In(Zone())),
		ExternalReferenceID: "INV-7", Notes: "Rent", Channel: "API", SenderAccount: from.UID, SenderName: "Payer",
		ReceiverAccount: to.UID, ReceiverCustomer: to.Customer, ReceiverName: "Payee", MakerClient: "partner",
		CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(p, edits)
	step := &payments.Step{
		Tenant: p.Tenant, Payment: p.UID, Number: p.Version, State: p.State, At: p.CreatedAt, Client: p.MakerClient,
		Reach: access.OfPartner,
	}
	b.insert(p, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(step).Exec(ctx)
		return err
	})
	return p
}
