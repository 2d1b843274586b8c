package core_test

import (
	"context"
	"strings"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/files"
)

// uploadFile uploads a file of one payment of this customer.
func uploadFile(b *coretest.Bank, of *customers.Customer) write {
	text := "externalReferenceId,paymentAmount,speed,senderAccountNumber,receiverName," +
		"receiverAccountNumber,receiverBankId\n" +
		"INV-7,12.50,Instant," + coretest.AccountNumber(b.Account(of).UID) + ",Ada Byron,440055551,611590103\n"
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Files.Upload(ctx, files.Upload{
			Customer: of.UID, Type: files.CSV, Open: files.OpenText("payments.csv", strings.NewReader(text)),
		}, with(key)))
	}
}

func cancelFile(b *coretest.Bank, of *customers.Customer) write {
	made, err := uploadFile(b, of)(b.Staff(), "")
	if err != nil {
		panic(err)
	}
	uid := made.Result.(files.Saved).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Files.Cancel(ctx, uid, with(key)))
	}
}
