package core_test

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
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
		Receiver: payments.Receiver{Contact: b.Contact(from).UID}, Amount: amount, Currency: "USD",
		Speed: "Instant", Date: time.Date(2026, 11, 18+days, 0, 0, 0, 0, time.UTC), ExternalReferenceID: "INV-7",
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Send(ctx, order, with(key)))
	}
}

// requestDebit collects from a contact of this customer over ACH, some days from now.
func requestDebit(b *coretest.Bank, from *customers.Customer, amount string, days int) write {
	b.Directory()
	b.Limit(from, "ACH_CCD_DEBIT_TRANSACTION_LIMIT", 900_00)
	order := payments.Order{
		Sender:   payments.Party{UID: b.Account(from, coretest.Holding(1000_00, 0), coretest.Sends).UID},
		Receiver: payments.Receiver{Contact: b.Contact(from).UID}, Amount: amount, Currency: "USD",
		Speed: "Economy", SECCode: "CCD", Date: time.Date(2026, 11, 18+days, 0, 0, 0, 0, time.UTC),
		ExternalReferenceID: "INV-7",
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.RequestDebit(ctx, order, with(key)))
	}
}

// requestPayment asks a contact of this customer to pay.
func requestPayment(b *coretest.Bank, to *customers.Customer) write {
	b.Directory()
	order := payments.Order{
		Sender:   payments.Party{UID: b.Account(to, coretest.Holding(1000_00, 0), coretest.Sends).UID},
		Receiver: payments.Receiver{Contact: b.Contact(to).UID}, Amount: "10", Currency: "USD", Speed: "Instant",
		Ask: payments.Ask{On: time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)}, ExternalReferenceID: "INV-7",
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.RequestDebit(ctx, order, with(key)))
	}
}

// sendUnfit pays somebody at a bank that nobody knows: the payment waits for repair.
func sendUnfit(b *coretest.Bank, from *customers.Customer) write {
	b.Directory()
	b.Limit(from, "INSTANT_PAYMENT_LIMIT_PER_DAY", 900_00)
	order := payments.Order{
		Sender: payments.Party{UID: b.Account(from, coretest.Holding(1000_00, 0), coretest.Sends).UID},
		Receiver: payments.Receiver{
			Number: "4417123456", Name: "Ada King", Bank: payments.ReceiverBank{IDType: "NID", ID: "011000138"},
		},
		Amount: "10", Currency: "USD", Speed: "Instant", ExternalReferenceID: "INV-7", Repairable: true,
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Send(ctx, order, with(key)))
	}
}

// repairPayment repairs a payment with a fee.
func repairPayment(b *coretest.Bank, from *customers.Customer) write {
	b.Configured("Payments", "Outgoing Payment", "Instant", "Gold")
	b.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'Instant'`, b.Tenant)
	b.Fee(from, func(f *fees.Tier) { f.FeeName = "Instant" })
	made, err := sendUnfit(b, from)(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	uid, to := made.Result.(payments.Saved).UID, payments.Receiver{Contact: b.Contact(from).UID}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Repair(ctx, uid, payments.Repairs{Receiver: &to}, with(key)))
	}
}

// listed puts the names of all contacts on a list of the bank.
func listed(b *coretest.Bank) {
	b.Exec(`INSERT INTO screening_lists (tenant, code, version, names, file, operator, imported_at)
		VALUES (?, 'sanctions', 1, 1, '', '', now()) ON CONFLICT DO NOTHING`, b.Tenant)
	b.Exec(`INSERT INTO screening_names (tenant, list, line, name, program, reference)
		VALUES (?, 'sanctions', 2, 'Harbor Supply Inc', '', '') ON CONFLICT DO NOTHING`, b.Tenant)
}

// screened sends a payment to somebody on a list, in a bank where programs decide, too.
func screened(b *coretest.Bank, from *customers.Customer) payments.UID {
	b.Exec(`INSERT INTO tenant_settings (tenant, people_decide) VALUES (?, false)
		ON CONFLICT (tenant) DO UPDATE SET people_decide = false`, b.Tenant)
	listed(b)
	made, err := sendPayment(b, from, "10", 0)(b.Someone("maker"), "")
	if err != nil {
		panic(err)
	}
	return made.Result.(payments.Saved).UID
}

func releaseScreenedPayment(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.ReleaseScreened(ctx, of,
			changes.RequestOptions{IdempotencyKey: key, Reason: "another"}))
	}
}

func rejectScreenedPayment(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.RejectScreened(ctx, of, changes.RequestOptions{
			IdempotencyKey: key,
			Reason:         "the same",
		}))
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

// came plays a credit of another bank to an account of this customer, and takes it in.
func came(b *coretest.Bank, to *customers.Customer) payments.UID {
	account := b.Account(to, coretest.Holding(1000_00, 0), coretest.Sends)
	if _, err := playIncomingCredit(b, account.UID)(b.Staff(), ""); err != nil {
		panic(err)
	}
	work(b)
	var uid payments.UID
	err := b.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ?`, b.Tenant).
		Scan(context.Background(), &uid)
	if err != nil {
		panic(err)
	}
	return uid
}

// cameOverACH plays a credit of another bank over ACH to an account of this customer, which settles at once.
func cameOverACH(b *coretest.Bank, to *customers.Customer) payments.UID {
	account := b.Account(to, coretest.Holding(1000_00, 0), coretest.Sends)
	if _, err := playCreditOverACH(b, account.UID)(b.Staff(), ""); err != nil {
		panic(err)
	}
	work(b)
	var uid payments.UID
	err := b.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ?`, b.Tenant).
		Scan(context.Background(), &uid)
	if err != nil {
		panic(err)
	}
	return uid
}

func playCreditOverACH(b *coretest.Bank, to accounts.UID) write {
	draft := sandbox.Credit{Account: to, Amount: "25", Rail: "ACH"}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayCredit(ctx, draft, with(key)))
	}
}

// paidOverACH pays a contact of this customer over ACH, and lets that settle.
func paidOverACH(b *coretest.Bank, from *customers.Customer) payments.UID {
	b.Directory()
	made, err := b.Payments.Send(b.Staff(), payments.Order{
		Sender:   payments.Party{UID: b.Account(from, coretest.Holding(1000_00, 0), coretest.Sends).UID},
		Receiver: payments.Receiver{Contact: b.Contact(from).UID}, Amount: "10", Currency: "USD", Speed: "Economy",
		SECCode: "CCD", ExternalReferenceID: "INV-7",
	}, with(""))
	if err != nil {
		panic(err)
	}
	b.Clock.Set(coretest.Start.Add(5 * time.Hour))
	work(b)
	b.Clock.Set(coretest.Start.Add(24 * time.Hour))
	work(b)
	return made.Result.UID
}

// work does the bank's own work once.
func work(b *coretest.Bank) {
	operator := access.Operator(context.Background(), b.Tenant, b.Code, coretest.Zone())
	for _, do := range []func(context.Context) (int, error){
		b.Payments.SendQueued, b.Payments.SealFiles, b.Payments.HandOver, b.Payments.Receive,
		b.Payments.SettleEntries, b.Payments.PostEntries,
	} {
		if _, err := do(operator); err != nil {
			panic(err)
		}
	}
}

func playIncomingCredit(b *coretest.Bank, to accounts.UID) write {
	draft := sandbox.Credit{Account: to, Amount: "25", Rail: "FEDNOW"}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayCredit(ctx, draft, with(key)))
	}
}

func playRecall(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayRecall(ctx, of, sandbox.Recall{}, with(key)))
	}
}

func playAnswer(b *coretest.Bank, of payments.UID, draft sandbox.Answer) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayAnswer(ctx, of, draft, with(key)))
	}
}

func playInformationRequest(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.PlayInformationRequest(ctx, of, sandbox.Inquiry{}, with(key)))
	}
}

func requestInformation(b *coretest.Bank, of payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		draft := payments.InformationDraft{Missing: []*payments.InformationItem{{Code: "MS01"}}, Party: "Ada Byron"}
		return heard(b.Payments.RequestInformation(ctx, of, draft, with(key)))
	}
}

func returnPayment(b *coretest.Bank, uid payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Return(ctx, uid, payments.Return{Code: "CUST"}, with(key)))
	}
}

func refuseEntry(b *coretest.Bank, uid payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Return(ctx, uid, payments.Return{Code: "R23"}, with(key)))
	}
}

func reverseEntry(b *coretest.Bank, uid payments.UID) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Reverse(ctx, uid, payments.Reversal{}, with(key)))
	}
}

func reversePayment(b *coretest.Bank, what write) write {
	made, err := what(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	work(b)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Payments.Reverse(ctx, made.Result.(payments.Saved).UID,
			payments.Reversal{Code: "DUPL"}, with(key)))
	}
}
