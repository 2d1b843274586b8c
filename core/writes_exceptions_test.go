package core_test

import (
	"context"

	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

func playIncomingDebit(b *coretest.Bank, of accounts.UID) write {
	draft := sandbox.Debit{Account: of, Amount: "25"}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayDebit(ctx, draft, with(key)))
	}
}

// debited plays a debit of another bank to an account of this customer, which no rule allows.
func debited(b *coretest.Bank, of *customers.Customer) payments.UID {
	account := b.Account(of, coretest.Holding(1000_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.EnablePositivePay = true })
	if _, err := playIncomingDebit(b, account.UID)(b.Staff(), ""); err != nil {
		panic(err)
	}
	return broughtIn(b, account)
}

// broughtIn takes in what other banks have sent, and returns the payment of which an account is to pay.
func broughtIn(b *coretest.Bank, of *accounts.Account) (uid payments.UID) {
	work(b)
	err := b.DB.NewRaw(`SELECT uid FROM payments WHERE tenant = ? AND sender_account = ?`, b.Tenant, of.UID).
		Scan(context.Background(), &uid)
	if err != nil {
		panic(err)
	}
	return uid
}

func playIncomingRequest(b *coretest.Bank, of accounts.UID) write {
	draft := sandbox.Request{Account: of, Amount: "25", Rail: string(rails.RTP), CreditorBank: "611590103"}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayRequest(ctx, draft, with(key)))
	}
}

// demanded plays a request of another bank to an account of this customer.
func demanded(b *coretest.Bank, of *customers.Customer) payments.UID {
	b.Directory()
	account := b.Account(of, coretest.Holding(1000_00, 0), coretest.Sends)
	if _, err := playIncomingRequest(b, account.UID)(b.Staff(), ""); err != nil {
		panic(err)
	}
	return broughtIn(b, account)
}

func approveException(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.ApproveException(ctx, of, payments.DecisionDraft{}, with(key)))
	}
}

func rejectException(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.RejectException(ctx, of, with(key)))
	}
}

func decideExceptions(b *coretest.Bank, of ...payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.DecideExceptions(ctx, payments.ManyDecisions{
			Payments: of,
			Approve:  true,
		}, with(key)))
	}
}
