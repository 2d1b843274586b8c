package files_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/accounts"
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
	f.paysByDefault()
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

// Programs write the offset where they like: it need not be the last entry, if it is alone in its direction.
func TestTheEntryThatBalancesABatchIsFoundWhereverItStands(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.paysByDefault()
	another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
	own := nacha.Entry{
		Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(30_00, "USD"), Routing: "611090001",
		Number: coretest.AccountNumber(another.UID), Name: "Offset", ID: "OFFSET",
	}
	one := own
	one.Amount = money.Of(50_00, "USD")
	for _, entries := range [][]nacha.Entry{
		{own, credit(11_00, "Cy"), credit(19_00, "Di")},
		{credit(12_00, "Cy"), own, credit(18_00, "Di")},
		{one, credit(50_00, "Ed")},
	} {
		uid := f.upload(files.NACHA, nachaFile(t, entries...))
		f.work()
		f.is(uid, files.Processed, int32(len(entries)-1), 0) //nolint:gosec // two
	}
	paid := f.payments()
	for _, p := range paid {
		if p.SenderAccount != another.UID {
			t.Errorf("%s is paid from %d, not from the account that balances the batch", p.ExternalReferenceID,
				p.SenderAccount)
		}
	}
	if len(paid) != 5 {
		t.Errorf("%d payments", len(paid))
	}
	f.Prove()
}

// A debit at another bank is no offset, whatever its number.
func TestADebitAtAnotherBankIsNoOffset(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.paysByDefault()
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

// Which account pays a batch is what the file says of all its entries: those with faults count, too, and
// where they keep from knowing it, nothing is paid. Another batch is.
func TestAnEntryWithFaultsChangesNotWhichAccountPaysTheOthers(t *testing.T) {
	t.Parallel()
	const balancing, byDefault, none = "balancing", "default", ""
	for name, c := range map[string]struct {
		minor  int64 // of the last entry, a debit of one of the customer's accounts; 0 for none
		line   int   // of the record that is changed: 3 and 4 are credits of 10.00 and 20.00, 5 the last entry
		at     int
		is     string
		payer  string
		failed int32
		first  string // another code of the first entry; '' for its own
	}{
		"nothing":               {30_00, 3, 0, "6", balancing, 0, ""},
		"check digit":           {30_00, 3, 11, "9", balancing, 1, ""},
		"trace":                 {30_00, 3, 79, "9", balancing, 1, ""},
		"letter in the trace":   {30_00, 4, 79, "x", balancing, 1, ""},
		"letter in the bank":    {30_00, 4, 3, "x", balancing, 1, ""},
		"addenda":               {30_00, 4, 78, "1", balancing, 1, ""},
		"letter in the amount":  {30_00, 3, 30, "x", none, 3, ""},
		"code":                  {30_00, 4, 1, "20", none, 3, ""},
		"letter in the code":    {30_00, 3, 2, "x", none, 3, ""},
		"last check digit":      {30_00, 5, 11, "9", none, 3, ""},
		"last trace":            {30_00, 5, 79, "9", none, 3, ""},
		"last amount":           {30_00, 5, 30, "x", none, 3, ""},
		"last code":             {30_00, 5, 1, "20", none, 3, ""},
		"last addenda":          {30_00, 5, 78, "1", none, 3, ""},
		"last number":           {30_00, 5, 12, "9", none, 3, ""},
		"two codes":             {30_00, 5, 1, "20", none, 3, "29"},
		"unbalanced":            {20_00, 3, 11, "9", byDefault, 2, ""},
		"unbalanced, last":      {20_00, 5, 11, "9", byDefault, 1, ""},
		"unbalanced code":       {20_00, 4, 1, "20", byDefault, 2, ""},
		"unbalanced amount":     {5_00, 4, 30, "x", byDefault, 2, ""},
		"credits, check digit":  {0, 3, 11, "9", byDefault, 1, ""},
		"credits, last amount":  {0, 4, 30, "x", byDefault, 1, ""},
		"credits, first amount": {0, 3, 30, "x", byDefault, 1, ""},
		"credits, last code":    {0, 4, 1, "20", byDefault, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			f.paysByDefault()
			another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
			batch, entries := []nacha.Entry{credit(10_00, "Cy"), credit(20_00, "Di")}, int32(2)
			if c.minor > 0 {
				batch = append(batch, nacha.Entry{
					Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(c.minor, "USD"),
					Routing: "611090001", Number: coretest.AccountNumber(another.UID), Name: "Acme", ID: "OFFSET",
				})
				entries++
			}
			text := nachaFileIn(t, coretest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1), batch,
				[]nacha.Entry{credit(5_00, "Other")})
			lines := strings.Split(text, "\n")
			if c.first != "" {
				lines[2] = lines[2][:1] + c.first + lines[2][3:]
			}
			l := lines[c.line-1]
			lines[c.line-1] = l[:c.at] + c.is + l[c.at+len(c.is):]
			uid := f.upload(files.NACHA, strings.Join(lines, "\n"))
			f.work()
			if c.payer == balancing {
				entries-- // the offset is no line
			}
			want := files.Processed
			if c.failed > 0 {
				want = files.PartiallyProcessed
			}
			f.is(uid, want, entries-c.failed+1, c.failed)
			payers := map[string]accounts.UID{balancing: another.UID, byDefault: f.account.UID}
			for _, p := range f.payments() {
				payer := payers[c.payer]
				if p.ExternalReferenceID == "EMP-Other" {
					payer = f.account.UID
				}
				if p.SenderAccount != payer {
					t.Errorf("%s is paid from %d, not %d", p.ExternalReferenceID, p.SenderAccount, payer)
				}
			}
			said := slices.ContainsFunc(f.lines(uid), func(l *files.FileLine) bool {
				return strings.Contains(string(l.Found), "not known from which account the batch is meant to be paid")
			})
			if said != (c.payer == none) {
				t.Errorf("%v", f.faults(uid))
			}
		})
	}
}

// A batch of IAT has its offset in the same place, and entries with more records that may have faults.
func TestAnAddendaWithFaultsChangesNotWhichAccountPaysABatchAbroad(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		line         int // of the record with another type: lines 3 to 11 are an entry, and 21 to 29 the offset
		is           files.FileStatus
		made, failed int32
	}{"of an entry": {5, files.PartiallyProcessed, 1, 1}, "of the offset": {23, files.Failed, 0, 3}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			f.paysByDefault()
			another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
			f.Exec("UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ?", int64(f.Tenant))
			text := abroadFile(t, inEuros, toBerlin(), toBerlin(), toBerlin(func(e *nacha.Entry) {
				e.Direction, e.Amount.Minor, e.Routing = rails.Debit, 20_00, "611090001"
				e.Number = coretest.AccountNumber(another.UID)
			}))
			lines := strings.Split(text, "\n")
			l := lines[c.line-1]
			lines[c.line-1] = l[:1] + "9" + l[2:]
			uid := f.upload(files.NACHA, strings.Join(lines, "\n"))
			f.work()
			f.is(uid, c.is, c.made, c.failed)
			for _, p := range f.payments() {
				if p.SenderAccount != another.UID {
					t.Errorf("%s is paid from %d", p.ExternalReferenceID, p.SenderAccount)
				}
			}
		})
	}
}
