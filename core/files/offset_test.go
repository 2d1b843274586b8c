package files_test

import (
	"testing"

	"bankgraph/core/coretest"
	"bankgraph/core/files"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
)

// A customer's many accounts do not hide the one that balances a batch.
func TestTheAccountThatBalancesABatchIsFoundAmongAThousand(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec("UPDATE accounts SET enable_offset = true, default_offset = true WHERE tenant = ? AND uid = ?",
		int64(f.Tenant), int64(f.account.UID))
	another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
	columns := `customer, name, number_sealed, number_last4, type, sub_type, system_of_record, currency, bank_id,
		bank_id_type, status, enable_ach, ach_company_id, sec_codes, tenant`
	f.Exec(`INSERT INTO accounts (uid, number_hash, `+columns+`) SELECT ? - n * 7919, `+
		`sha256(n::text::bytea), `+columns+`
		FROM accounts, generate_series(1, 1000) AS n WHERE tenant = ? AND uid = ?`,
		int64(another.UID), int64(f.Tenant), int64(another.UID))
	own := nacha.Entry{
		Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(30_00, "USD"), Routing: "611090001",
		Number: coretest.AccountNumber(another.UID), Name: "Offset", ID: "OFFSET",
	}
	balanced := f.upload(files.NACHA, nachaFile(t, credit(10_00, "Cy"), credit(20_00, "Di"), own))
	f.work()
	for _, p := range f.payments() {
		if p.SenderAccount != another.UID {
			t.Errorf("paid from %d, not from the account that balances the batch", p.SenderAccount)
		}
	}
	f.is(balanced, files.Processed, 2, 0)
}

// A debit at another bank is no offset, whatever its number.
func TestADebitAtAnotherBankIsNoOffset(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec("UPDATE accounts SET enable_offset = true, default_offset = true WHERE tenant = ? AND uid = ?",
		int64(f.Tenant), int64(f.account.UID))
	another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
	debit := nacha.Entry{
		Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(30_00, "USD"), Routing: "021000021",
		Number: coretest.AccountNumber(another.UID), Name: "Debtor elsewhere", ID: "DEBTOR",
	}
	uid := f.upload(files.NACHA, nachaFile(t, credit(10_00, "Cy"), credit(20_00, "Di"), debit))
	f.work()
	for _, p := range f.payments() {
		if p.SenderAccount == another.UID {
			t.Errorf("%s is paid from the account that has the number of the debtor at 021000021",
				p.ExternalReferenceID)
		}
	}
	is, err := coretest.Many(f.Bank, f.Staff(), func(b *db.Batch) *db.Many[files.FileUID, files.FileBatch] {
		return f.Files.BatchesOf(f.Staff(), b, []files.FileUID{uid})
	})
	if err != nil || len(is[uid]) != 1 || is[uid][0].Balanced {
		t.Errorf("%+v %v: the debit is dropped without a fault", is[uid], err)
	}
}
