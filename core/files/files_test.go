package files_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/files"
	"bankgraph/core/given"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
	"bankgraph/db/dbtest/faults"
)

// filed is a bank with a customer that has an account with 10,000.00, and may send.
type filed struct {
	*coretest.Bank
	t       *testing.T
	of      *customers.Customer
	account *accounts.Account
}

func newFiled(t *testing.T, edits ...func(*customers.Customer)) *filed {
	t.Helper()
	return filedAt(t, coretest.New(t), edits...)
}

func filedAt(t *testing.T, b *coretest.Bank, edits ...func(*customers.Customer)) *filed {
	t.Helper()
	b.Directory()
	b.Files.WorkFor(time.Minute) // one call does all, however slow the machine is
	c := b.Customer(edits...)
	return &filed{b, t, c, b.Account(c, coretest.Holding(10_000_00, 0), coretest.Sends)}
}

// uploadBy uploads a file of one payment in somebody's name.
func (f *filed) uploadBy(by context.Context, reference string) files.FileUID {
	f.t.Helper()
	done, err := f.Files.Upload(by, files.Upload{
		Customer: f.of.UID, Type: files.CSV,
		Open: files.OpenText("a.csv", strings.NewReader(header+f.row(reference, "1"))),
	}, changes.RequestOptions{})
	if err != nil {
		f.t.Fatal(err)
	}
	return done.Result.UID
}

func dual(c *customers.Customer) { c.Access.PaymentDualApproval = true }

func (f *filed) try(kind files.FileType, name, text string) (changes.Outcome[files.Saved], error) {
	return f.Files.Upload(f.Staff(), files.Upload{
		Customer: f.of.UID, Type: kind, Open: files.OpenText(name, strings.NewReader(text)),
	}, changes.RequestOptions{})
}

func (f *filed) upload(kind files.FileType, text string) files.FileUID {
	f.t.Helper()
	done, err := f.try(kind, "payments.txt", text)
	if err != nil {
		f.t.Fatal(err)
	}
	return done.Result.UID
}

// paysByDefault makes the account the default offset account, from which batches of ACH are paid.
func (f *filed) paysByDefault() {
	f.Exec("UPDATE accounts SET enable_offset = true, default_offset = true WHERE tenant = ? AND uid = ?",
		int64(f.Tenant), int64(f.account.UID))
}

// work does all that waits.
func (f *filed) work() {
	f.t.Helper()
	if _, err := f.Work(f.worker()); err != nil {
		f.t.Fatal(err)
	}
}

func (f *filed) worker() context.Context {
	return access.Operator(f.t.Context(), f.Tenant, "test", coretest.Zone())
}

// as returns the context of the bank's staff with another client and login: people who sign in with one
// identity provider all have its address as their client.
func (f *filed) as(client, login string) context.Context {
	caller, _ := access.Require(f.Staff())
	caller.Client, caller.LoginID = client, login
	return access.With(f.t.Context(), caller)
}

func (f *filed) find(uid files.FileUID) *files.BulkFile {
	f.t.Helper()
	found, err := coretest.Many(f.Bank, f.Staff(), func(b *db.Batch) *db.Many[files.FileUID, files.BulkFile] {
		return f.Files.FindMany(f.Staff(), b, []files.FileUID{uid}, db.Columns{})
	})
	if err != nil || len(found[uid]) != 1 {
		f.t.Fatal(found, err)
	}
	return found[uid][0]
}

func (f *filed) lines(uid files.FileUID) []*files.FileLine {
	f.t.Helper()
	found, err := coretest.Many(f.Bank, f.Staff(), func(b *db.Batch) *db.Many[files.FileUID, files.FileLine] {
		return f.Files.LinesOf(f.Staff(), b, []files.FileUID{uid}, files.FileLineSearch{}, db.Columns{},
			page.Window{Size: 1000})
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return found[uid]
}

// is fails the test unless a file has come so far.
func (f *filed) is(uid files.FileUID, want files.FileStatus, made, failed int32) *files.BulkFile {
	f.t.Helper()
	is := f.find(uid)
	if is.Status != want || is.Made != made || is.Failed != failed {
		f.t.Errorf("%s %q, %d made, %d failed; want %s, %d and %d: %v", is.Status, is.RejectReason,
			is.Made, is.Failed, want, made, failed, f.faults(uid))
	}
	return is
}

// faults are those of all lines of a file, each as line, field and code.
func (f *filed) faults(uid files.FileUID) (all []string) {
	for _, l := range f.lines(uid) {
		for _, one := range l.Faults() {
			all = append(all, fmt.Sprint(one.Line, " ", one.Field, " ", one.Code))
		}
	}
	for _, one := range f.find(uid).Faults {
		all = append(all, fmt.Sprint(one.Line, " ", one.Field, " ", one.Code))
	}
	return all
}

// free ends the lease of a worker that has stopped, unless its last statement still runs.
func (f *filed) free() {
	_ = f.DB.InTx(f.t.Context(), int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := db.Raw(tx, "UPDATE bulk_files SET leased_until = NULL WHERE tenant = ?",
			int64(f.Tenant)).Exec(ctx)
		return err
	})
}

// payments are those of a customer, oldest first.
func (f *filed) payments() []*payments.Payment {
	f.t.Helper()
	found, err := coretest.Rows(f.Bank, f.Staff(), func(b *db.Batch) *db.Rows[payments.Payment] {
		return f.Payments.List(f.Staff(), b, payments.Search{Customer: f.of.UID}, db.Columns{},
			page.Window{Size: 1000})
	})
	if err != nil {
		f.t.Fatal(err)
	}
	slices.Reverse(found)
	return found
}

const header = "externalReferenceId,paymentAmount,speed,secCode,senderAccountNumber,receiverName," +
	"receiverAccountNumber," +
	"receiverSubAccountType,receiverBankId,paymentNotes,paymentDate,receiverAddressLine1,receiverCity," +
	"receiverCountryCode\n"

// row is a line of a csv file, which pays over an instant network.
func (f *filed) row(reference, amount string) string {
	return fmt.Sprintf("%s,%s,Instant,,%s,Ada Byron,440055551,Checking,611590103,Rent,,,,\n",
		reference, amount, coretest.AccountNumber(f.account.UID))
}

func TestEachLineOfAFileBecomesOnePayment(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	var text strings.Builder
	text.WriteString("\ufeff" + header)
	for i := range 600 {
		text.WriteString(f.row(fmt.Sprint("INV-", i), "1.25"))
	}
	uid := f.upload(files.CSV, text.String())
	f.is(uid, files.Received, 0, 0)
	f.work()
	is := f.is(uid, files.Processed, 600, 0)
	if is.TotalCredits().String() != "750" && is.TotalCredits().String() != "750.00" || is.Debits != 0 {
		t.Errorf("credits %s, debits %s", is.TotalCredits(), is.TotalDebits())
	}
	seen := map[string]bool{}
	for _, p := range f.payments() {
		seen[p.ExternalReferenceID] = true
		if p.Minor != 1_25 || p.Channel != "FILE" || p.MakerClient == access.OperatorClient {
			t.Errorf("%+v", p)
		}
	}
	if len(seen) != 600 {
		t.Errorf("%d payments", len(seen))
	}
	f.Prove()
	f.work()
	if again := len(f.payments()); again != 600 {
		t.Errorf("%d payments", again)
	}
}

// A debit of the speed Express is a drawdown request: it is paid by a wire that comes in.
func TestALineOfCSVDrawsMoneyDown(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.CSV, strings.TrimSuffix(header, "\n")+",entryType\n"+fmt.Sprintf(
		"DRAW-1,25,Express,,%s,Ada Byron,440055551,Checking,611590103,Rent,,1 Main St,Columbus,US,Debit\n",
		coretest.AccountNumber(f.account.UID)))
	f.work()
	if is := f.is(uid, files.Processed, 1, 0); is.Debits != 25_00 || is.Credits != 0 {
		t.Errorf("credits %s, debits %s", is.TotalCredits(), is.TotalDebits())
	}
	f.Clock.Advance(2 * time.Second)
	f.work()
	all := f.payments()
	if len(all) != 2 || all[0].Rail != rails.Fedwire || all[0].State != payments.Settled ||
		!all[1].Incoming() ||
		all[1].Minor != 25_00 {
		t.Fatalf("%+v", all)
	}
	f.Prove()
}

func TestALineWithFaultsStopsNoOther(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	other := f.Account(f.Customer(), coretest.Holding(1_000_00, 0), coretest.Sends)
	own := coretest.AccountNumber(f.account.UID)
	text := header +
		f.row("A", "10") + // 2
		f.row("B", "ten") +
		f.row("", "10") + // 4
		fmt.Sprintf("D,10,Slow,,%s,Ada,440055551,Checking,611590103,,,,,\n", own) +
		fmt.Sprintf("E,10,Instant,,%s,Ada,440055551,Checking,611590103,,,,,\n", coretest.AccountNumber(other.UID)) +
		fmt.Sprintf("F,10,Instant,,%s,Ada,440055551,Checking,111111111,,,,,\n", own) + // 7
		"G,10\n" +
		`H,1"0` + strings.Repeat(",", 12) + "\n" +
		fmt.Sprintf("I,10,Economy,,%s,Ada,440055551,Checking,611590103,,02-30-2026,,,\n", own) + // 10
		fmt.Sprintf("J,10,Express,,%s,Ada,440055551,Checking,611590103,,,,,\n", own) +
		f.row("K", "99999") + // 12: more than the account has
		"\n" + f.row("L", "20.50") + // 14
		fmt.Sprintf("M,10,spot,,%s,Ada,440055551,Checking,611590103,,,,,\n", own)
	uid := f.upload(files.CSV, text)
	f.work()
	f.is(uid, files.PartiallyProcessed, 2, 11)
	want := []string{
		"3 paymentAmount INVALID", "4 externalReferenceId REQUIRED", "5 speed INVALID",
		"6 senderAccountNumber NOTFOUND",
		"7 receiverBankId INVALID", "8  INVALID", "9  INVALID", "10 paymentDate INVALID",
		"11 receiverAddressLine1 REQUIRED", "11 receiverCity REQUIRED", "11 receiverCountryCode REQUIRED",
		"12  STATUS", "15 speed INVALID",
	}
	got := f.faults(uid)
	if !slices.Equal(got, want) {
		t.Errorf("faults %q\nwant %q", got, want)
	}
	var paid []string
	for _, p := range f.payments() {
		paid = append(paid, p.ExternalReferenceID)
	}
	if !slices.Equal(paid, []string{"A", "L"}) {
		t.Errorf("paid %q", paid)
	}
	f.Prove()
}

// A file of little but faults must not take far more room than what was sent.
func TestOfFaultyLinesBehindManyOnlyTheCodesAreKept(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.CSV, header+f.row("A", "ten")+f.row("B", "eleven"))
	f.Exec(`UPDATE bulk_files SET failed = 9999, valid = 5000 WHERE tenant = ? AND uid = ?`, f.Tenant, uid)
	f.work()
	var short []bool
	err := f.Owner().NewRaw(`SELECT draft_sealed IS NULL AND faults::jsonb->0->>'message' = ''
		AND faults::jsonb->0->>'code' = 'INVALID'
		FROM bulk_file_lines WHERE tenant = ? AND file = ? ORDER BY id`, f.Tenant, uid).
		Scan(t.Context(), &short)
	if err != nil || !slices.Equal(short, []bool{false, true}) {
		t.Errorf("%v, %v", short, err)
	}
}

func TestFilesOfWhichNothingCanBePaidFailWithTheReason(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	for name, c := range map[string]struct {
		kind files.FileType
		text string
		want string
	}{
		"no known column": {files.CSV, "amount,who\n1,2\n", "1  INVALID"},
		"a column missing": {
			files.CSV, "externalReferenceId,paymentAmount\nA,1\n", "1 senderAccountNumber REQUIRED",
		},
		"a column twice":    {files.CSV, "paymentAmount,paymentAmount\n1,2\n", "1 paymentAmount INVALID"},
		"no line":           {files.CSV, header, ""},
		"speed in rtp":      {files.RTP, header + f.row("A", "1"), "1  INVALID"},
		"an endless quote":  {files.CSV, header + `"` + strings.Repeat("x,\n", 100_000), "2  MAX"},
		"no file of ACH":    {files.NACHA, "hello\n", "1 record INVALID"},
		"no wire":           {files.Fedwire, "hello\n", "1  INVALID"},
		"an endless wire":   {files.Fedwire, "{1500}" + strings.Repeat("x", 100_000), "1  MAX"},
		"no line of names":  {files.CSV, "A,1,Instant,4400123401\n", "1  INVALID"},
		"an endless header": {files.CSV, strings.Repeat("x", 300_000), "1  MAX"},
	} {
		uid := f.upload(c.kind, c.text)
		f.work()
		is := f.is(uid, files.Failed, 0, f.find(uid).Failed)
		if strings.Contains(is.RejectReason, "4400123401") {
			t.Errorf("%s: the reason has an account number: %s", name, is.RejectReason)
		}
		if got := append(f.faults(uid), ""); got[0] != c.want || is.RejectReason == "" {
			t.Errorf("%s: %q %q, want %q", name, got, is.RejectReason, c.want)
		}
	}
	if paid := f.payments(); len(paid) > 0 {
		t.Errorf("%d payments", len(paid))
	}
}

// Lines are numbered beside those of all other files: one number too many would be a line of the next file.
func TestAFileEndsWhereItsNumbersOfLinesDo(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.CSV, header+strings.Repeat(strings.Repeat("\n", 60_000)+"A\n", 280))
	f.work()
	f.is(uid, files.Failed, 0, f.find(uid).Failed)
	all := f.faults(uid)
	if last := all[len(all)-1]; last != "0  MAX" {
		t.Errorf("the last fault is %q", last)
	}
	for _, one := range all {
		if line, _, _ := strings.Cut(one, " "); len(line) > 8 || len(line) == 8 && line > "16777215" {
			t.Errorf("there is a line %s", line)
		}
	}
}

func TestWhatIsNoTextIsRefusedAndNothingOfItIsKept(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	for name, c := range map[string]struct{ name, text string }{
		"a spreadsheet":    {"a.csv", "PK\x03\x04 and so on"},
		"UTF-16":           {"a.txt", "\xff\xfea\x00b\x00"},
		"Latin 1":          {"a.txt", "Caf\xe9\n"},
		"a cut character":  {"a.txt", "Caf\xc3"},
		"nothing":          {"a.txt", ""},
		"another ending":   {"a.exe", "text"},
		"no ending":        {"csv", "text"},
		"no name":          {"", "text"},
		"a very long name": {strings.Repeat("a", 200) + ".csv", "text"},
		"a strange name":   {"a\x1b[31m.csv", "text"},
	} {
		if _, err := f.try(files.CSV, c.name, c.text); err == nil {
			t.Errorf("%s is taken", name)
		} else if wrong, is := fault.Of(err); !is || wrong.Field != "file" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// the character that a piece ends in the middle of
	whole := strings.Repeat("x", 256<<10-1) + "é" + strings.Repeat("x", 100)
	uid := f.upload(files.CSV, whole)
	var parts int
	if err := f.DB.NewRaw("SELECT count(*) FROM bulk_file_parts WHERE tenant = ? AND file <> ?",
		int64(f.Tenant), int64(uid)).
		Scan(t.Context(), &parts); err != nil || parts != 0 {
		t.Errorf("%d parts are left: %v", parts, err)
	}
	if got := f.find(uid).Name; got != "payments.txt" {
		t.Errorf("%q", got)
	}
	done, err := f.try(files.CSV, `C:\bank\..\..\etc\pay.CSV`, header+f.row("A", "1"))
	if err != nil || done.Result.Name != "pay.CSV" {
		t.Errorf("%+v %v", done.Result, err)
	}
}

func TestTheSameFileIsNotPaidTwiceInADay(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	text := header + f.row("A", "1")
	f.upload(files.CSV, text)
	if _, err := f.try(files.CSV, "another-name.csv", text); !errors.Is(err, files.ErrSame) {
		t.Errorf("%v", err)
	}
	f.Clock.Advance(25 * time.Hour)
	f.upload(files.CSV, text)
	wrong := f.upload(files.CSV, header+f.row("B", "x"))
	f.work()
	f.is(wrong, files.Failed, 0, 1)
	f.upload(files.CSV, header+f.row("B", "x")) // it failed: it may come again
}

func TestAFileWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	f := newFiled(t, dual)
	uid := f.upload(files.CSV, header+f.row("A", "1")+f.row("B", "x")+f.row("C", "2"))
	f.work()
	f.is(uid, files.PendingApproval, 0, 1)
	if paid := f.payments(); len(paid) > 0 {
		t.Errorf("%d payments", len(paid))
	}
	approve := func(ctx context.Context) error {
		var open int64
		if err := f.DB.NewRaw("SELECT uid FROM approvals WHERE tenant = ? AND object = 'file' AND status = 'Open'",
			int64(f.Tenant)).Scan(t.Context(), &open); err != nil {
			t.Fatal(err)
		}
		if found, err := f.Changes.Find(f.As(access.ApproveFiles), changes.UID(open)); err != nil ||
			len(found.Changes()) == 0 {
			t.Errorf("who decides on files does not see it: %v", err)
		}
		_, err := f.Changes.Approve(ctx, changes.UID(open), changes.RequestOptions{})
		return err
	}
	if err := approve(f.Staff()); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("the maker approves: %v", err)
	}
	linda, err := access.Require(f.Someone("linda"))
	if err != nil {
		t.Fatal(err)
	}
	f.Exec(`INSERT INTO clients (tenant, key, name, secret, entity, permissions, responsible)
		VALUES (?, 'staff', 'Staff', '', 0, '{}', ?)`, f.Tenant, linda.User)
	if err := approve(f.Someone("linda")); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("who answers for the maker by now approves: %v", err)
	}
	if err := approve(f.Checker()); err != nil {
		t.Fatal(err)
	}
	if is := f.is(uid, files.Approved, 0, 1); is.ApprovedBy == "" || is.ApprovedAt == nil {
		t.Errorf("%+v", is)
	}
	f.work()
	f.is(uid, files.PartiallyProcessed, 2, 1)
	for _, p := range f.payments() {
		if p.State == payments.PendingApproval {
			t.Errorf("%+v", p)
		}
	}
}

// What people approved of a file is paid from the account that they saw, whoever has its number by then.
func TestAFileIsPaidFromTheAccountThatWasApproved(t *testing.T) {
	t.Parallel()
	f := newFiled(t, dual)
	other := f.Account(f.of, coretest.Holding(10_000_00, 0), coretest.Sends)
	uid := f.upload(files.CSV, header+f.row("A-1", "10"))
	f.work()
	f.is(uid, files.PendingApproval, 0, 0)
	f.Renumber(f.account.UID, other.UID)
	if _, err := f.Files.Approve(f.Checker(), uid, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	f.work()
	f.is(uid, files.Processed, 1, 0)
	for _, p := range f.payments() {
		if p.SenderAccount != f.account.UID {
			t.Errorf("payment %s is paid from account %s, not from %s", p.UID, p.SenderAccount, f.account.UID)
		}
	}
	f.Prove()
}

// A file takes the people that settings ask for when somebody approves it.
func TestAFileIsApprovedByAsManyAsSettingsAskForByNow(t *testing.T) {
	t.Parallel()
	f := newFiled(t, dual)
	uid := f.upload(files.CSV, header+f.row("A", "1"))
	f.work()
	f.Exec(`UPDATE customers SET access_number_of_approvers = 2 WHERE tenant = ? AND uid = ?`,
		f.Tenant, f.of.UID)
	for _, by := range []struct {
		who  string
		then files.FileStatus
	}{{"first", files.PartlyApproved}, {"second", files.Approved}} {
		if _, err := f.Files.Approve(f.Someone(by.who), uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		f.is(uid, by.then, 0, 0)
	}
}

// A partner's second person does not let through, in a file, what the bank confirms by now.
func TestAFileOfWhichTheBankConfirmsAPaymentByNowIsTheBanks(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	f := filedAt(t, b, coretest.OwnedBy(partner), dual)
	out, err := f.Files.Upload(f.Partner(partner), files.Upload{
		Customer: f.of.UID, Type: files.CSV,
		Open: files.OpenText("a.csv", strings.NewReader(header+f.row("A", "150"))),
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid := out.Result.UID
	f.work()
	f.Clock.Advance(time.Minute)
	limit := func(amount string) {
		t.Helper()
		_, err := f.Accounts.Change(f.Staff(), f.of.UID, f.account.UID,
			accounts.Draft{Features: accounts.FeaturesDraft{
				Wires: given.Of(true), DomesticWires: given.Of(true), Callbacks: given.Of(true),
				CallbackLimit: given.Of(amount),
			}}, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	approve := func(by context.Context) error {
		_, err := f.Files.Approve(by, uid, changes.RequestOptions{})
		return err
	}
	limit("100")
	if err := approve(f.PartnersPerson(partner)); !errors.Is(err, changes.ErrNotYours) {
		t.Errorf("150.00 where the bank confirms from 100.00: %v", err)
	}
	limit("150")
	if err := approve(f.PartnersPerson(partner)); err != nil {
		t.Errorf("150.00 where the bank confirms above that: %v", err)
	}
	f.is(uid, files.Approved, 0, 0)
}

// A file that needed nobody when it was checked makes no payment that needs somebody by the time it is made.
func TestAFileMakesNoPaymentThatSomebodyHasToApproveByNow(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	wire := strings.Replace(f.row("WIRE", "500"), "Instant", "Express", 1)
	wire = strings.Replace(wire, "Rent,,,,", "Rent,,1 Main St,Boston,US", 1)
	checked := func() files.FileUID {
		t.Helper()
		uid := f.upload(files.CSV, header+f.row("INSTANT", "1")+wire)
		f.check()
		f.is(uid, files.Approved, 0, 0)
		return uid
	}
	confirmed := checked()
	if _, err := f.Accounts.Change(f.Staff(), f.of.UID, f.account.UID, accounts.Draft{
		Features: accounts.FeaturesDraft{
			Wires: given.Of(true), DomesticWires: given.Of(true), Callbacks: given.Of(true),
			CallbackLimit: given.Of("100"),
		},
	}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	f.work()
	f.is(confirmed, files.PartiallyProcessed, 1, 1)
	wire = ""
	f.Clock.Advance(25 * time.Hour) // the same file may come again
	agreed := checked()
	if _, err := f.Customers.Change(f.Staff(), f.of.UID, customers.Draft{
		Access: customers.AccessDraft{PaymentDualApproval: given.Of(true)},
	}, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	f.work()
	f.is(agreed, files.PartiallyProcessed, 0, 1)
	f.Prove()
}

func TestACancelledFilePaysNothing(t *testing.T) {
	t.Parallel()
	for _, when := range []files.FileStatus{files.Received, files.PendingApproval} {
		f := newFiled(t, dual)
		uid := f.upload(files.CSV, header+f.row("A", "1"))
		if when == files.PendingApproval {
			f.work()
		}
		f.is(uid, when, 0, 0)
		cancel := func() error {
			_, err := f.Files.Cancel(f.Staff(), uid, changes.RequestOptions{Reason: "Wrong month"})
			return err
		}
		if err := cancel; when == files.PendingApproval {
			waits, none := f.Changes.LastOf(f.Staff(), "file", uid.String())
			if none != nil {
				t.Fatal(none)
			}
			cancel = func() error { return f.LocksWaiting(int64(waits), f.of.UID, err) }
		}
		if err := cancel(); err != nil {
			t.Fatal(err)
		}
		f.work()
		if is := f.is(uid, files.Cancelled, 0, 0); is.RejectReason != "Wrong month" {
			t.Errorf("%+v", is)
		}
		if _, err := f.Files.Cancel(f.Staff(), uid, changes.RequestOptions{}); !errors.Is(err, files.ErrOver) {
			t.Errorf("%v", err)
		}
		if paid := f.payments(); len(paid) > 0 {
			t.Errorf("%d payments", len(paid))
		}
	}
}

// A worker that ends in the middle of a file leaves it to the next one: no payment is lost, and none is made
// twice.
func TestAFileGoesOnWhereAnotherWorkerStopped(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	var text strings.Builder
	text.WriteString(header)
	for i := range 900 {
		text.WriteString(f.row(fmt.Sprint("INV-", i), "1"))
	}
	uid := f.upload(files.CSV, text.String())
	for i := range 40 {
		ctx, stop := context.WithCancel(f.worker())
		told := time.AfterFunc(time.Duration(5+7*i)*time.Millisecond, stop)
		_, _ = f.Files.Check(ctx)
		_, _ = f.Files.Pay(ctx)
		told.Stop()
		stop()
		f.free()
	}
	end := time.Now().Add(time.Minute)
	for f.find(uid).Status != files.Processed && time.Now().Before(end) { // a lease may have been left
		f.free()
		f.work()
	}
	f.is(uid, files.Processed, 900, 0)
	seen := map[string]int{}
	for _, l := range f.lines(uid) {
		said, err := f.Files.OrderOf(l)
		if err != nil {
			t.Fatal(err)
		}
		seen[said.ExternalReferenceID]++
	}
	if paid := f.payments(); len(paid) != 900 || len(seen) != 900 {
		t.Errorf("%d payments, %d references", len(paid), len(seen))
	}
	f.Prove()
}

// nachaFile writes a file of ACH, of the day after the bank's first.
func nachaFile(t *testing.T, entries ...nacha.Entry) string {
	t.Helper()
	return nachaFileOf(t, coretest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1), entries...)
}

func nachaFileOf(t *testing.T, effective time.Time, entries ...nacha.Entry) string {
	t.Helper()
	return nachaFileIn(t, effective, entries)
}

// nachaFileIn writes a file of batches that have the same header but for their numbers.
func nachaFileIn(t *testing.T, effective time.Time, batches ...[]nacha.Entry) string {
	t.Helper()
	var text bytes.Buffer
	w, err := nacha.NewWriter(&text, nacha.Header{
		Origin: "611590103", Destination: "611590103", OriginName: "Acme", DestinationName: "Bank",
		CreatedAt: coretest.Start,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, entries := range batches {
		if err == nil {
			err = w.Batch(nacha.Batch{
				Class: rails.PPD, CompanyID: "1234567890", CompanyName: "Acme", Description: "PAYROLL",
				Effective: effective, Bank: "611590103",
			})
		}
		for _, e := range entries {
			if err == nil {
				_, err = w.Entry(e)
			}
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func credit(minor int64, name string) nacha.Entry {
	return nacha.Entry{
		Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(minor, "USD"), Routing: "611590103",
		Number: "440055551", Name: name, ID: "EMP-" + name,
	}
}

func TestAFileOfACHIsPaidFromTheDefaultOffsetAccountOrFromTheAccountThatBalancesIt(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec("UPDATE accounts SET enable_offset = true, default_offset = true WHERE tenant = ? AND uid = ?",
		int64(f.Tenant),
		int64(f.account.UID))
	another := f.Account(f.of, coretest.Holding(5_000_00, 0), coretest.Sends)
	unbalanced := f.upload(files.NACHA, nachaFile(t, credit(100_00, "Ada"), credit(50_25, "Bob")))
	own := nacha.Entry{
		Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(30_00, "USD"), Routing: "611090001",
		Number: coretest.AccountNumber(another.UID), Name: "Offset", ID: "OFFSET",
	}
	balanced := f.upload(files.NACHA, nachaFile(t, credit(10_00, "Cy"), credit(20_00, "Di"), own))
	f.work()
	is := f.is(unbalanced, files.Processed, 2, 0)
	if is.Credits != 150_25 || is.OffsetAccount != f.account.UID {
		t.Errorf("%+v", is)
	}
	f.is(balanced, files.Processed, 2, 0)
	want := map[string]accounts.UID{
		"EMP-Ada": f.account.UID, "EMP-Bob": f.account.UID, "EMP-Cy": another.UID, "EMP-Di": another.UID,
	}
	for _, p := range f.payments() {
		if p.SenderAccount != want[p.ExternalReferenceID] || p.Rail != rails.ACH ||
			p.EntryType != rails.Credit {
			t.Errorf("%+v", p)
		}
	}
	batches, err := coretest.Many(f.Bank, f.Staff(), func(b *db.Batch) *db.Many[files.FileUID, files.FileBatch] {
		return f.Files.BatchesOf(f.Staff(), b, []files.FileUID{balanced})
	})
	if err != nil || len(batches[balanced]) != 1 {
		t.Fatal(batches, err)
	}
	b := batches[balanced][0]
	if !b.Balanced || b.Credits != 30_00 || b.Debits != 30_00 || b.ServiceClass != "200" || b.Entries != 3 ||
		b.EntryHash != 61159010+61159010+61109000 || b.OffsetAccount != another.UID {
		t.Errorf("%+v", b)
	}
	f.Prove()
}

// Some programs number all their batches alike.
func TestBatchesOfACHWithTheSameHeaderAreBalancedEachByItself(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	own := func(minor int64) nacha.Entry {
		return nacha.Entry{
			Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(minor, "USD"), Routing: "611090001",
			Number: coretest.AccountNumber(f.account.UID), Name: "Offset", ID: "OFFSET",
		}
	}
	text := nachaFileIn(t, coretest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1),
		[]nacha.Entry{credit(10_00, "Ada"), own(10_00)}, []nacha.Entry{credit(20_00, "Bob"), own(20_00)})
	lines := strings.SplitAfter(text, "\n")
	alike := 0
	for i, line := range lines {
		if strings.HasPrefix(line, "5") || strings.HasPrefix(line, "8") {
			lines[i] = line[:87] + "0000001" + line[94:]
			alike++
		}
	}
	if alike != 4 {
		t.Fatal(text)
	}
	uid := f.upload(files.NACHA, strings.Join(lines, ""))
	f.work()
	f.is(uid, files.Processed, 2, 0)
	for _, p := range f.payments() {
		if p.SenderAccount != f.account.UID || p.EntryType != rails.Credit {
			t.Errorf("%+v", p)
		}
	}
	f.Prove()
}

func TestAFileOfACHWhoseDayHasPassedSettlesOnTheNextOne(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec("UPDATE accounts SET enable_offset = true, default_offset = true WHERE tenant = ? AND uid = ?",
		int64(f.Tenant),
		int64(f.account.UID))
	passed := f.upload(files.NACHA,
		nachaFileOf(t, coretest.Start.AddDate(0, -1, 0).Truncate(24*time.Hour), credit(10_00, "Ada")))
	next := f.upload(files.NACHA, nachaFile(t, credit(20_00, "Bob")))
	f.work()
	f.is(passed, files.Processed, 1, 0)
	f.is(next, files.Processed, 1, 0)
	if paid := f.payments(); len(paid) != 2 || !paid[0].Date.Equal(paid[1].Date) {
		t.Errorf("%+v", paid)
	}
}

func TestAFileOfACHWhoseTotalsAreWrongPaysNothing(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec("UPDATE accounts SET enable_offset = true, default_offset = true WHERE tenant = ? AND uid = ?",
		int64(f.Tenant),
		int64(f.account.UID))
	text := nachaFile(t, credit(100_00, "Ada"), credit(50_25, "Bob"))
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "8") {
			lines[i] = line[:20] + "000000009999" + line[32:] // the total of debits
		}
	}
	uid := f.upload(files.NACHA, strings.Join(lines, "\n"))
	f.work()
	is := f.is(uid, files.Failed, 0, 0)
	if got := f.faults(uid); len(got) == 0 || !strings.Contains(got[0],
		"batch control TotalDebitEntryDollarAmount") {
		t.Errorf("%q", got)
	}
	if len(f.payments()) > 0 || !strings.HasPrefix(is.RejectReason,
		"batch control TotalDebitEntryDollarAmount: says 9999, and the entries make ") {
		t.Errorf("%+v", is)
	}
	// one entry with a wrong check digit stops only itself; totals are those of all entries
	wrong := strings.Replace(text, "Ada", "Ad\x01", 1)
	if _, err := f.try(files.NACHA, "a.txt", wrong); err != nil {
		t.Fatal(err)
	}
}

func TestWiresAreReadFromTaggedMessages(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	wire := func(reference, amount, function string) string {
		return "{1500}30        P \n{1510}1000\n{2000}" + amount + "\n{3100}611090001TEST BANK*\n{3320}" +
			reference +
			"*\n{3400}611590103OLD MILL BANK*\n{3600}" + function +
			"\n{4200}D440055551*Ada Byron*1 Lake Rd*Erie, PA 16501*\n" +
			"{5000}D" + coretest.AccountNumber(f.account.UID) + "*Acme*\n{6000}Invoice 7*second line*\n"
	}
	uid := f.upload(files.Fedwire,
		wire("W1", "000000012345", "CTR")+wire("W2", "000000000100", "DRC")+wire("W3", "12", "CTR")+
			wire("W4", "000000000200", "CTR")+strings.Replace(wire("W5", "000000000300", "CTR"), "{1510}1000",
			"{1510}1600", 1)+
			strings.Replace(wire("W6", "000000000300", "CTR"), "{6000}", "{7050}", 1))
	f.work()
	f.is(uid, files.PartiallyProcessed, 2, 4)
	want := []string{"11 {3600} INVALID", "21 {2000} INVALID", "41 {1510} INVALID", "51 {7050} NOTALLOWED"}
	if got := f.faults(uid); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	paid := f.payments()
	if len(paid) != 2 || paid[0].Minor != 123_45 || paid[0].Rail != rails.Fedwire ||
		paid[0].ReceiverName != "Ada Byron" ||
		paid[1].ExternalReferenceID != "W4" {
		t.Errorf("%+v", paid)
	}
	f.Prove()
}

// References have one part, and addresses three lines; what is more would be lost.
func TestAWireThatWouldBeCutIsRefused(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	wire := func(tags, address string) string {
		return "{1500}30\n{1510}1000\n{2000}000000012345\n" + tags + "\n{3400}611590103OLD MILL BANK*\n{3600}CTR\n" +
			"{4200}D440055551*Ada Byron*" + address + "*Erie, PA 16501*\n" +
			"{5000}D" + coretest.AccountNumber(f.account.UID) + "*Acme*\n"
	}
	uid := f.upload(files.Fedwire, wire("{3320}W1*{4320}INV 7*", "1 Lake Rd*Floor 2")+
		wire("{3320}W2*{4320}INV 7*INV 8*", "1 Lake Rd")+wire("{3320}W3*OF 4*", "1 Lake Rd")+
		wire("{3320}W4*", "1 Lake Rd*Floor 2*Room 3"))
	f.work()
	f.is(uid, files.PartiallyProcessed, 1, 3)
	want := []string{"9 {4320} NOTALLOWED", "17 {3320} NOTALLOWED", "25 {4200} NOTALLOWED"}
	if got := f.faults(uid); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	shown, err := f.Payments.Show(f.Staff(), f.payments()[0].UID)
	if err != nil || shown.To.Line1 != "1 Lake Rd" || shown.To.Line2 != "Floor 2" {
		t.Errorf("%+v %v", shown, err)
	}
}

// A message may name the banks that its wire goes over; what is wrong with one stands at its tag.
func TestTaggedMessagesNameTheBanksOfAWire(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec(`UPDATE accounts SET enable_international_wires = true WHERE tenant = ? AND uid = ?`,
		f.Tenant, f.account.UID)
	wire := func(reference, banks string) string {
		return "{1500}30\n{1510}1000\n{2000}000000012345\n{3320}" + reference + "*\n" + banks + "\n{3600}CTR\n" +
			"{4200}D440055551*Ada Byron*1 Lake Rd*Erie, PA 16501*\n{5000}D" +
			coretest.AccountNumber(f.account.UID) + "*Acme*\n{6500}Hold for*collection*\n"
	}
	const gateway, notOverWire = "{3400}026099503GATEWAY BANK*", "{4100}F021000021*REAL TIME BANK*"
	uid := f.upload(files.Fedwire, strings.Join([]string{
		wire("over a correspondent", gateway+notOverWire),
		wire("over an intermediary", gateway+"{4000}F026099503*GATEWAY*"+notOverWire),
		wire("over both", gateway+"{4000}BGOBEUS33*GO BETWEEN*{4100}BMUSTDEFF*"),
		wire("back over both", "{3400}611590103OLD MILL BANK*{4000}F026099503*GATEWAY*{4100}F611590103*OLD "+
			"MILL BANK*"),
		wire("with an account", gateway+"{4100}D7700112233*"),
		wire("no bank", gateway+"{4000}F026099503*"),
		wire("by its name", gateway+"{4100}TTHE BANK*"),
		wire("no BIC", gateway+"{4100}BMUST*"),
		wire("no number", gateway+"{4000}F1*"+notOverWire),
		wire("nowhere", "{3400}021000021*{4100}F011000138*"),
	}, ""))
	f.work()
	f.is(uid, files.PartiallyProcessed, 5, 5)
	want := []string{
		"46 {4100} REQUIRED", "55 {4100} INVALID",
		"64 {4100} INVALID", "73 {4000} EXACT", "82 {3400} NOTFOUND",
	}
	if got := f.faults(uid); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	var banks []string
	for _, paid := range f.payments() {
		shown, err := f.Payments.Show(f.Staff(), paid.UID)
		if err != nil {
			t.Fatal(err)
		}
		banks = append(banks, strings.Join([]string{
			shown.To.CorrespondentID, shown.To.IntermediaryID, shown.Receiver.BankID, shown.Receiver.BankName,
		}, " "))
	}
	if want := []string{
		"026099503  021000021 REAL TIME BANK", " 026099503 021000021 REAL TIME BANK",
		"026099503 GOBEUS33 MUSTDEFF Musterbank", "611590103 026099503 611590103 OLD MILL BANK",
		"  026099503 GATEWAY BANK",
	}; !slices.Equal(banks, want) {
		t.Errorf("%q, want %q", banks, want)
	}
	f.Prove()
}

func TestFilesAreSeenAndUploadedWithinTheCallersReach(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.CSV, header+f.row("A", "1"))
	stranger := f.Partner(f.DownstreamPartner())
	_, err := f.Files.Upload(stranger, files.Upload{
		Customer: f.of.UID, Type: files.CSV, Open: files.OpenText("a.csv", strings.NewReader(header)),
	}, changes.RequestOptions{})
	if !errors.Is(err, customers.ErrOutOfScope) {
		t.Errorf("%v", err)
	}
	if _, err := f.Files.Cancel(stranger, uid, changes.RequestOptions{}); !errors.Is(err, files.ErrNotFound) {
		t.Errorf("%v", err)
	}
	found, err := coretest.Many(f.Bank, stranger, func(b *db.Batch) *db.Many[files.FileUID, files.FileLine] {
		return f.Files.LinesOf(stranger, b, []files.FileUID{uid}, files.FileLineSearch{}, db.Columns{},
			page.Window{Size: 10})
	})
	if err != nil || len(found[uid]) != 0 {
		t.Errorf("%v %v", found, err)
	}
	if _, err := f.Files.Upload(f.Reader(), files.Upload{},
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("%v", err)
	}
}

// One caller cannot hold the memory and the connections of all.
func TestACallerUploadsAFewFilesAtATime(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	stop := make(chan struct{})
	results := make(chan error, 17)
	for range 17 {
		go func() {
			_, err := f.Files.Upload(f.Staff(), files.Upload{
				Customer: f.of.UID, Type: files.CSV, Open: files.OpenText("a.csv", slow(stop)),
			}, changes.RequestOptions{})
			results <- err
		}()
	}
	if err := <-results; !errors.Is(err, files.ErrUploads) {
		t.Errorf("%v", err)
	}
	close(stop)
	for range 16 {
		if err := <-results; errors.Is(err, files.ErrUploads) {
			t.Errorf("%v", err)
		}
	}
}

// Two callers that begin files and do not end them shut out neither their own bank nor others: one of theirs
// gives way to who has none coming in.
func TestUploadsThatDoNotEndGiveWay(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	stop, begun := make(chan struct{}), make(chan struct{}, 64)
	upload := func(by context.Context, of customers.UID, text io.Reader, cut func()) error {
		_, err := f.Files.Upload(by, files.Upload{
			Customer: of, Type: files.CSV, Open: files.OpenText("a.csv", text), Cut: cut,
		}, changes.RequestOptions{})
		return err
	}
	var all sync.WaitGroup
	gave := make(chan error, 32)
	for _, login := range []string{"ann", "bob"} {
		by := f.Someone(login)
		for range 16 {
			cut := make(chan struct{})
			all.Go(func() {
				gave <- upload(by, f.of.UID, io.MultiReader(&tells{begun}, slow(first(cut, stop))), func() { close(cut) })
			})
		}
	}
	for range 32 {
		<-begun
	}
	if err := upload(f.Someone("ann"), f.of.UID, strings.NewReader("x"), nil); !errors.Is(err,
		files.ErrUploads) {
		t.Errorf("the 17th of a caller: %v", err)
	}
	if err := upload(f.Someone("cid"), f.of.UID, strings.NewReader(header+f.row("A", "1")), nil); err != nil {
		t.Errorf("the first of a third caller: %v", err)
	}
	if err := <-gave; !errors.Is(err, files.ErrGaveWay) {
		t.Errorf("whose file gave way is told %v", err)
	}
	other := f.Other()
	all.Go(func() {
		_ = upload(other.Staff(), other.Customer().UID, io.MultiReader(&tells{begun}, slow(stop)), nil)
	})
	<-begun
	close(stop)
	all.Wait()
	close(gave)
	for err := range gave {
		if errors.Is(err, files.ErrGaveWay) {
			t.Error("more than one gave way")
		}
	}
}

// tells is an empty text that tells once that it is read.
type tells struct{ begun chan<- struct{} }

func (t *tells) Read([]byte) (int, error) {
	t.begun <- struct{}{}
	return 0, io.EOF
}

// first is closed with the first of two.
func first(one, other <-chan struct{}) chan struct{} {
	both := make(chan struct{})
	go func() {
		select {
		case <-one:
		case <-other:
		}
		close(both)
	}()
	return both
}

// Who begins files and does not end them takes no more of the disk than there is for a caller. One of who
// takes most gives way where their bank has its part.
func TestUnfinishedUploadsAreBoundedByTheirBytes(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Files.LimitUploads(1 << 20)
	stop, read := make(chan struct{}), make(chan struct{}, 64)
	var all sync.WaitGroup
	upload := func(by context.Context, content io.Reader) error {
		_, err := f.Files.Upload(by, files.Upload{
			Customer: f.of.UID, Type: files.CSV, Open: files.OpenText("a.csv", content),
		},
			changes.RequestOptions{})
		return err
	}
	begin := func(login string, size int) { // an upload that stops before its end
		body := io.MultiReader(strings.NewReader(strings.Repeat("x", size)), arrived(read), slow(stop))
		by := f.Someone(login)
		all.Go(func() { _ = upload(by, body) })
		<-read
	}
	begin("ann", 512<<10)
	begin("ann", 400<<10)
	more := func(of string) io.Reader { return strings.NewReader(strings.Repeat(of, 300<<10)) }
	if err := upload(f.Someone("ann"), more("a")); !errors.Is(err, files.ErrUploads) {
		t.Errorf("beyond the caller's: %v", err)
	}
	begin("bob", 900<<10)
	if err := upload(f.Someone("cid"), more("c")); err != nil {
		t.Errorf("who takes less than others of the bank: %v", err)
	}
	if err := upload(f.Someone("ann"), more("b")); err != nil {
		t.Errorf("once one of the caller's gave way: %v", err)
	}
	close(stop)
	all.Wait()
	if err := upload(f.Someone("ann"), more("a")); err != nil {
		t.Errorf("once they are gone: %v", err)
	}
	var kept int
	if err := f.DB.NewRaw(`SELECT count(DISTINCT file) FROM bulk_file_parts WHERE tenant = ?`, f.Tenant).
		Scan(t.Context(), &kept); err != nil || kept != 3 {
		t.Errorf("%d files are stored, %v", kept, err)
	}
}

// arrived tells that all before it has been read.
type arrived chan struct{}

func (a arrived) Read([]byte) (int, error) {
	a <- struct{}{}
	return 0, io.EOF
}

// Nothing of a file is read before it is known that the caller may upload one of the customer.
func TestWhoMayNotUploadHasNothingRead(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	for name, by := range map[string]context.Context{
		"without the permission": f.Reader(), "of another partner": f.Partner(f.DownstreamPartner()),
	} {
		_, err := f.Files.Upload(by, files.Upload{
			Customer: f.of.UID, Type: files.CSV,
			Open: func(files.Counting) (string, io.Reader, error) {
				t.Errorf("%s: the file is read", name)
				return "a.csv", strings.NewReader(header), nil
			},
		}, changes.RequestOptions{})
		if err == nil {
			t.Errorf("%s may upload", name)
		}
	}
}

// A COMMIT that is lost may still arrive, as over a pooler, and the file is there then. Its text is kept.
func TestAnUploadWhoseOutcomeIsUnknownKeepsItsText(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	f := filedAt(t, line.Bank())
	upload := func(name, text string) error {
		_, err := f.Files.Upload(f.Staff(), files.Upload{
			Customer: f.of.UID, Type: files.CSV, Open: files.OpenText(name, strings.NewReader(text)),
		}, changes.RequestOptions{})
		return err
	}
	line.Break(0, faults.Fault{})
	if err := upload("first.csv", header+f.row("A", "1")); err != nil {
		t.Fatal(err)
	}
	sent := line.Statements()
	if len(sent) == 0 || !faults.Commits(sent[len(sent)-1]) {
		t.Fatalf("the file is not made last: %q", sent)
	}
	line.Break(len(sent), faults.Fault{Cut: true, Never: true})
	if err := upload("second.csv", header+f.row("B", "1")); !errors.Is(err, changes.ErrUnknown) {
		t.Fatalf("of %q the last is lost: %v", line.Statements(), err)
	}
	var kept int
	if err := f.DB.NewRaw(`SELECT count(DISTINCT file) FROM bulk_file_parts WHERE tenant = ?`, f.Tenant).
		Scan(t.Context(), &kept); err != nil || kept != 2 {
		t.Errorf("of %d files the text is kept, want 2: %v", kept, err)
	}
}

// A file may have a million lines. A late page of them reads only its own, and the pages together are all.
func TestALatePageOfAFileReadsItsOwnLinesAlone(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	text := header
	for i := range 25 {
		text += f.row(fmt.Sprint("P", i), "1")
	}
	uid := f.upload(files.CSV, text)
	f.work()
	var numbers []int32
	for n := 1; n <= 4; n++ {
		found, err := f.Files.PaymentsOf(f.Staff(), uid, page.Numbered(n, 10))
		if err != nil || found.Total != 25 {
			t.Fatal(found.Total, err)
		}
		for _, l := range found.Items {
			numbers = append(numbers, l.Number)
		}
	}
	if len(numbers) != 25 || numbers[0] != 2 || !slices.IsSorted(numbers) ||
		len(slices.Compact(numbers)) != 25 {
		t.Errorf("the pages have the lines %v", numbers)
	}
	var lines []string
	err := f.DB.InTx(t.Context(), int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw("PREPARE late (bigint, bigint, bigint, bigint, bigint, bigint) AS " +
			files.PaymentsText(access.OfBank)).Exec(ctx)
		if err == nil {
			err = tx.NewRaw(fmt.Sprintf("EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) EXECUTE late (%d, 0, "+
				"%d, %d, 11, 20)",
				f.Tenant, files.LineOf(uid, 0), files.LineOf(uid+1, 0))).Scan(ctx, &lines)
		}
		_, ended := tx.NewRaw("DEALLOCATE late").Exec(ctx)
		return errors.Join(err, ended)
	})
	plan := strings.Join(lines, "\n")
	read := regexp.MustCompile(`on bulk_file_lines bl \(actual rows=(\d+)`).FindStringSubmatch(plan)
	if err != nil || read == nil || read[1] != "5" {
		t.Errorf("the last five lines, %v, read %v:\n%s", err, read, plan)
	}
}

// slow ends when it is told to.
type slow chan struct{}

func (s slow) Read(into []byte) (int, error) {
	<-s
	return 0, errors.New("cut")
}

// Who is told of a payment learns which file it is of, if it sees whose file that is.
func TestPaymentsAreToldWithTheirFile(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.CSV, header+f.row("A", "1")+f.row("B", "2"))
	f.work()
	paid := f.payments()
	if len(paid) != 2 {
		t.Fatal(paid)
	}
	told, err := f.Payments.Snapshots(f.Staff(), []payments.StepKey{
		{Payment: paid[0].UID, Number: 1}, {Payment: paid[1].UID, Number: 1},
	})
	if err != nil || len(told) != 2 {
		t.Fatal(told, err)
	}
	for mark, p := range told {
		if p.File == nil || p.File.Number != int64(uid) || p.File.Name != "payments.txt" {
			t.Errorf("payment %s is told to be of %+v", mark.Payment, p.File)
		}
	}
}

func TestAMessageWithManyFaultsKeepsTheFirst(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.Fedwire,
		"{1500}"+strings.Repeat("{9999}", 10_000)+"\n{1500}"+strings.Repeat("{9998}", 10_000)+"\n")
	f.work()
	f.is(uid, files.Failed, 0, 2)
	for _, l := range f.lines(uid) {
		if n := len(l.Faults()); n != files.MostLineFaults {
			t.Errorf("line %d keeps %d faults", l.Number, n)
		}
	}
}

func TestMessagesBeginOnLinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.Fedwire, "{1500}01{1510}1000{1500}01{1510}1000\n")
	f.work()
	if is := f.is(uid, files.Failed, 0, 0); is.RejectReason != "a message must begin on a line of its own" {
		t.Error(is.RejectReason)
	}
}

func TestTheTextOfAFileIsRemovedWhenItIsChecked(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	done, failed := f.upload(files.CSV, header+f.row("A", "1")), f.upload(files.CSV, "no,header\n")
	f.work()
	waits := f.upload(files.CSV, header+f.row("B", "2"))
	for range 3 {
		if _, err := f.Files.RemoveStray(f.worker()); err != nil {
			t.Fatal(err)
		}
	}
	for uid, parts := range map[files.FileUID]int{done: 0, failed: 0, waits: 1} {
		var n int
		if err := f.DB.NewRaw("SELECT count(*) FROM bulk_file_parts WHERE tenant = ? AND file = ?", f.Tenant, uid).
			Scan(t.Context(), &n); err != nil || n != parts {
			t.Errorf("file %d has %d parts, want %d (%v)", uid, n, parts, err)
		}
	}
	f.work()
	f.is(waits, files.Processed, 1, 0)
}

func TestLinesOfWhichNoPaymentWasMadeGoInTheEnd(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	mixed := f.upload(files.CSV, header+f.row("A", "1")+f.row("B", "none")+f.row("C", "1"))
	failed := f.upload(files.CSV, header+f.row("D", "none"))
	f.work()
	f.is(mixed, files.PartiallyProcessed, 2, 1)
	f.is(failed, files.Failed, 0, 1)
	left := func() (numbers []int32) {
		for _, uid := range []files.FileUID{mixed, failed} {
			for _, l := range f.lines(uid) {
				numbers = append(numbers, l.Number)
			}
		}
		return numbers
	}
	clear := func() {
		for n := 1; n > 0; {
			var err error
			if n, err = f.Files.RemoveUnpaid(f.worker()); err != nil {
				t.Fatal(err)
			}
		}
	}
	before := left()
	f.Clock.Advance(89 * 24 * time.Hour)
	clear()
	if now := left(); len(before) != 4 || !slices.Equal(now, before) {
		t.Errorf("after 89 days: %v, before: %v", now, before)
	}
	f.Clock.Advance(2 * 24 * time.Hour)
	clear()
	if now := left(); len(now) != 2 || now[0] != before[0] || now[1] != before[2] {
		t.Errorf("after 91 days: %v", now)
	}
	f.is(mixed, files.PartiallyProcessed, 2, 1)
	f.is(failed, files.Failed, 0, 1)
}

func TestFilesTakeTurns(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	var rows strings.Builder
	for n := range 600 {
		rows.WriteString(f.row(fmt.Sprint("A-", n), "1"))
	}
	large, small := f.upload(files.CSV, header+rows.String()), f.upload(files.CSV, header+f.row("B", "2"))
	for range 2 { // both are checked
		if _, err := f.Files.Check(f.worker()); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // and each has its turn
		if _, err := f.Files.Pay(f.worker()); err != nil {
			t.Fatal(err)
		}
	}
	f.is(small, files.Processed, 1, 0)
	if is := f.find(large); is.Status != files.Processing && is.Status != files.Processed {
		t.Error(is.Status)
	}
}

// Whoever has many files waits longer for each, and nobody else does.
func TestCallersTakeTurnsWithTheirFiles(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	var many []files.FileUID
	for n := range 6 {
		many = append(many, f.uploadBy(f.Staff(), fmt.Sprint("M-", n)))
	}
	next := func(want files.FileUID) {
		t.Helper()
		if _, err := f.Files.Check(f.worker()); err != nil {
			t.Fatal(err)
		}
		if is := f.find(want); is.Status != files.Approved {
			t.Errorf("file %s is %s, and it is its turn", want, is.Status)
		}
	}
	// with another API key, and another person of the same identity provider
	for i, other := range []context.Context{f.as("another", ""), f.as("staff", "clerk")} {
		next(many[2*i])
		next(f.uploadBy(other, fmt.Sprint("O-1-", i)))
		next(many[2*i+1])
		next(f.uploadBy(other, fmt.Sprint("O-2-", i)))
	}
}

// A party with many people has no more turns than one with a single file, whose people take turns.
func TestPartiesTakeTurnsWithTheirFiles(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	many, one := filedAt(t, b, coretest.OwnedBy(partner)), filedAt(t, b)
	sibling := filedAt(t, b, coretest.OwnedBy(partner))
	var theirs, own []files.FileUID
	for n := range 4 {
		f := many
		if n > 1 {
			f = sibling
		}
		theirs = append(theirs, f.uploadBy(f.as("idp", fmt.Sprint("p", n)), fmt.Sprint("M-", n)))
	}
	for n := range 3 {
		own = append(own, one.uploadBy(one.as("idp", "p0"), fmt.Sprint("O-", n)))
	}
	worked := func() (uids []files.FileUID) {
		err := b.Owner().NewRaw(`SELECT uid FROM bulk_files WHERE tenant = ? ORDER BY worked_at, uid`, b.Tenant).
			Scan(t.Context(), &uids)
		if err != nil {
			t.Fatal(err)
		}
		return uids
	}
	for range 7 {
		if _, err := one.Files.Check(one.worker()); err != nil {
			t.Fatal(err)
		}
	}
	want := []files.FileUID{theirs[0], own[0], theirs[1], own[1], theirs[2], own[2], theirs[3]}
	if got := worked(); !slices.Equal(got, want) {
		t.Errorf("checked %v, want %v", got, want)
	}
	if _, err := one.Files.Pay(one.worker()); err != nil {
		t.Fatal(err)
	}
	if got := worked(); !slices.Equal(got, want) {
		t.Errorf("paid %v, want %v", got, want)
	}
	one.is(own[2], files.Processed, 1, 0)
	sibling.is(theirs[3], files.Processed, 1, 0)
}

// What has come in and is not read yet takes room on the disk, so that one caller has a bound of it.
func TestATextThatWaitsToBeReadHasABound(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid := f.upload(files.CSV, header+f.row("A", "1"))
	f.Exec(`UPDATE bulk_files SET size = ? WHERE tenant = ? AND uid = ?`, int64(20*files.MostBytes),
		f.Tenant, uid)
	unread := func(by context.Context) error {
		_, err := f.Files.Upload(by, files.Upload{
			Customer: f.of.UID, Type: files.CSV,
			Open: files.OpenText("b.csv", strings.NewReader(header+f.row("B", "1"))),
		}, changes.RequestOptions{})
		return err
	}
	if err := unread(f.Staff()); !errors.Is(err, files.ErrUnread) {
		t.Error(err)
	}
	if err := unread(f.as("staff", "clerk")); err != nil {
		t.Error(err)
	}
	other := f.as("another", "")
	f.Exec(`UPDATE bulk_files SET status = 'FAILED' WHERE tenant = ? AND uid > ?`, f.Tenant, uid)
	if err := unread(other); err != nil {
		t.Error(err)
	}
	f.Exec(`UPDATE bulk_files SET size = ? WHERE tenant = ? AND uid = ?`, int64(80*files.MostBytes),
		f.Tenant, uid)
	if err := unread(other); !errors.Is(err, files.ErrUnread) {
		t.Error(err)
	}
	f.Exec(`UPDATE bulk_files SET status = 'FAILED' WHERE tenant = ? AND uid = ?`, f.Tenant, uid)
	if err := unread(f.Staff()); err != nil && !errors.Is(err, files.ErrSame) {
		t.Error(err)
	}
}

// However many people a party has, and its partner's customers, others have room for theirs.
func TestTextThatWaitsToBeReadLeavesRoomForOtherParties(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	f := filedAt(t, b, coretest.OwnedBy(partner))
	sibling, stranger := b.Customer(coretest.OwnedBy(partner)), b.Customer()
	large := f.upload(files.CSV, header+f.row("A", "1"))
	f.Exec(`UPDATE bulk_files SET size = ? WHERE tenant = ? AND uid = ?`, int64(40*files.MostBytes),
		f.Tenant, large)
	upload := func(by context.Context, of *customers.Customer, reference string) error {
		_, err := f.Files.Upload(by, files.Upload{
			Customer: of.UID, Type: files.CSV,
			Open: files.OpenText("b.csv", strings.NewReader(header+f.row(reference, "1"))),
		}, changes.RequestOptions{})
		return err
	}
	for _, of := range []*customers.Customer{f.of, sibling, partner} {
		if err := upload(f.as("staff", "clerk"), of, "B"); !errors.Is(err, files.ErrUnread) {
			t.Error("the same party:", err)
		}
	}
	f.Exec(`UPDATE bulk_files SET size = ? WHERE tenant = ? AND uid = ?`, int64(100*files.MostBytes),
		f.Tenant, large)
	if err := upload(f.as("staff", "clerk"), stranger, "C"); err != nil {
		t.Error("another party:", err)
	}
	if err := upload(f.as("staff", "clerk"), stranger, "D"); !errors.Is(err, files.ErrUnread) {
		t.Error("another party, of which something waits:", err)
	}
}

// Lines of which no payment is made cost nothing, and stay: one caller has a bound of them.
func TestLinesThatPayNothingHaveABound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set    string
		wasted bool
	}{
		"faulty ones":    {`failed = 1000000`, true},
		"given up twice": {`failed = 1, valid = 999999, made = 0, status = 'CANCELLED'`, true},
		"waiting, too": {`valid = 1000000, made = 0, status = 'PENDING_APPROVAL',
			worked_at = now() - interval '30 days'`, true},
		"waiting for one of two": {`valid = 1000000, made = 0, status = 'PARTIALLY_APPROVED'`, true},
		"to be paid next":        {`valid = 1000000, made = 0, status = 'APPROVED'`, false},
		"fewer":                  {`failed = 999999`, false},
		"those that pay":         {`failed = 1, valid = 999999, status = 'PROCESSED'`, false},
		"of the day before":      {`failed = 1000000, worked_at = now() - interval '24 hours'`, false},
		"of somebody else":       {`failed = 1000000, maker_client = 'another'`, false},
		"of another person":      {`failed = 1000000, maker_login = 'another'`, false},
		"of the same partner's": {`failed = 1000000, customer = (SELECT max(uid) FROM customers
			WHERE tenant = bulk_files.tenant AND owner = (SELECT owner FROM customers AS o
				WHERE o.tenant = bulk_files.tenant AND o.uid = bulk_files.customer))`, true},
		"of another party":            {`failed = 1000000, party = party + 1`, false},
		"of all people of the party":  {`failed = 4000000, maker_login = 'another'`, true},
		"of all people of other ones": {`failed = 4000000, maker_login = 'another', party = party + 1`, false},
		"fewer of all people of it":   {`failed = 2999999, maker_login = 'another'`, false},
		"waiting of all people of it": {`valid = 4000000, made = 0, maker_login = 'another',
			status = 'PENDING_APPROVAL'`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := coretest.New(t)
			partner := b.DownstreamPartner()
			f := filedAt(t, b, coretest.OwnedBy(partner))
			f.Customer(coretest.OwnedBy(partner))
			f.Customer()
			uid := f.upload(files.CSV, header+f.row("A", "1"))
			given := f.upload(files.CSV, header+f.row("C", "1"))
			f.work()
			f.Exec(`UPDATE bulk_files SET `+c.set+` WHERE tenant = ? AND uid = ?`, f.Tenant, uid)
			// of one that is given up the lines without faults do not count: an honest caller may change its mind
			f.Exec(`UPDATE bulk_files SET valid = 1000000, made = 0, status = 'CANCELLED'
				WHERE tenant = ? AND uid = ?`, f.Tenant, given)
			_, err := f.Files.Upload(f.Staff(), files.Upload{
				Customer: f.of.UID, Type: files.CSV,
				Open: files.OpenText("b.csv", strings.NewReader(header+f.row("B", "1"))),
			}, changes.RequestOptions{})
			if errors.Is(err, files.ErrWasted) != c.wasted || !c.wasted && err != nil {
				t.Error(err)
			}
		})
	}
}

// The bound holds, too, for files that had come in before any of their lines was found faulty.
func TestFilesAtWorkKeepNoMoreLinesThatPayNothingThanTheBound(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	wasted := f.upload(files.CSV, header+f.row("A", "1"))
	f.work()
	var junk, mixed strings.Builder
	for n := range 10_500 {
		amount := "1"
		if n%2 == 0 {
			amount = "none"
		}
		junk.WriteString(f.row(fmt.Sprint("J-", n), amount))
	}
	for n := range 30 {
		amount := "1"
		if n%15 == 0 {
			amount = "none"
		}
		mixed.WriteString(f.row(fmt.Sprint("M-", n), amount))
	}
	short := f.upload(files.CSV, header+f.row("B", "none"))
	long := f.upload(files.CSV, header+junk.String())
	paid := f.upload(files.CSV, header+mixed.String())
	f.Exec(`UPDATE bulk_files SET failed = 999980 WHERE tenant = ? AND uid = ?`, f.Tenant, wasted)
	f.work()
	f.is(short, files.Failed, 0, 1)
	is := f.find(long)
	if is.Status != files.Failed || is.Failed > 5_000 || is.RejectReason != files.ErrWasted.Message {
		t.Errorf("%s, %d lines are kept, %q", is.Status, is.Failed, is.RejectReason)
	}
	f.is(paid, files.PartiallyProcessed, 28, 2)
}

// However much text came in before any of it was read, no more lines without payments than twice the bound
// come of it. What is beyond waits, however small its files and right its lines, and fails nobody.
func TestFilesWaitToBeCheckedWhileTooManyLinesAreNoPayments(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ full, room string }{
		"faulty": {`failed = 1999999`, `worked_at = now() - interval '24 hours'`},
		"that wait for people": {
			`failed = 1, made = 0, valid = 1999998, status = 'PENDING_APPROVAL'`,
			`made = valid, status = 'PROCESSED'`,
		},
		"being checked": {
			`failed = 1, made = 0, valid = 1999998, leased_until = 'infinity',
			status = 'VALIDATING'`,
			`made = valid, status = 'PROCESSED'`,
		},
		"of all people of the party": {
			`failed = 5999999, maker_login = 'another'`,
			`worked_at = now() - interval '24 hours'`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			wasted := f.upload(files.CSV, header+f.row("A", "1"))
			given := f.upload(files.CSV, header+f.row("B", "1"))
			f.work()
			// that of which most lines wait does not count
			f.Exec(`UPDATE bulk_files SET valid = 2000000, made = 0, status = 'REJECTED'
				WHERE tenant = ? AND uid = ?`, f.Tenant, given)
			before := f.upload(files.CSV, header+f.row("C", "1")+f.row("D", "none"))
			after := []files.FileUID{
				f.upload(files.CSV, header+f.row("E", "1")+f.row("F", "none")),
				f.upload(files.CSV, header+f.row("G", "1")),
			}
			f.Exec(`UPDATE bulk_files SET `+c.full+` WHERE tenant = ? AND uid = ?`, f.Tenant, wasted)
			f.work()
			f.is(before, files.PartiallyProcessed, 1, 1)
			f.work()
			for _, uid := range after {
				is := f.find(uid)
				if is.Status != files.Validating && is.Status != files.Received || is.Checked > 0 {
					t.Errorf("file %s is %s, %d are checked", uid, is.Status, is.Checked)
				}
			}
			f.Exec(`UPDATE bulk_files SET `+c.room+` WHERE tenant = ? AND uid = ?`, f.Tenant, wasted)
			f.free()
			f.work()
			f.is(after[0], files.PartiallyProcessed, 1, 1)
			f.is(after[1], files.Processed, 1, 0)
			f.Prove()
		})
	}
}

// Files that are checked at the same time never wait for each other.
func TestTheFirstOfManyFilesIsAlwaysChecked(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	one, other := f.upload(files.CSV, header+f.row("A", "1")), f.upload(files.CSV, header+f.row("B", "1"))
	f.Exec(`UPDATE bulk_files SET status = 'VALIDATING', worked_at = now(), valid = 1000000, failed = 2000000
		WHERE tenant = ?`, f.Tenant)
	for range 3 {
		if _, err := f.Files.Check(f.worker()); err != nil {
			t.Fatal(err)
		}
	}
	if is := f.find(one); is.Status == files.Validating {
		t.Error("the first file waits")
	}
	if is := f.find(other); is.Status != files.Validating || is.Checked > 0 {
		t.Errorf("the second one is %s", is.Status)
	}
}

// A large payroll that waits for people keeps nobody from anything.
func TestAPayrollOfAMillionLinesMayWait(t *testing.T) {
	t.Parallel()
	f := newFiled(t, dual)
	payroll := f.upload(files.CSV, header+f.row("A", "1"))
	f.work()
	f.Exec(`UPDATE bulk_files SET valid = 1000000 WHERE tenant = ? AND uid = ?`, f.Tenant, payroll)
	next := f.upload(files.CSV, header+f.row("B", "1"))
	f.work()
	f.is(next, files.PendingApproval, 0, 0)
	for _, uid := range []files.FileUID{payroll, next} {
		if _, err := f.Files.Approve(f.Checker(), uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	f.work()
	f.is(next, files.Processed, 1, 0)
}

// A file that waits for a second person for long does not pass the bound by, once it is given up.
func TestLinesOfAFileThatIsGivenUpCountFromThenOn(t *testing.T) {
	t.Parallel()
	for name, giveUp := range map[string]func(*filed, files.FileUID) error{
		"cancelled": func(f *filed, uid files.FileUID) error {
			_, err := f.Files.Cancel(f.Staff(), uid, changes.RequestOptions{})
			return err
		},
		"rejected": func(f *filed, uid files.FileUID) error {
			_, err := f.Files.Reject(f.Checker(), uid, changes.RequestOptions{Reason: "not ours"})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t, dual)
			all := []files.FileUID{
				f.upload(files.CSV, header+f.row("A", "1")),
				f.upload(files.CSV, header+f.row("B", "1")),
			}
			f.work()
			for n, uid := range all {
				f.Exec(`UPDATE bulk_files SET valid = 1000000, worked_at = now() - interval '25 hours'
					WHERE tenant = ? AND uid = ?`, f.Tenant, uid)
				if err := giveUp(f, uid); err != nil {
					t.Fatal(err)
				}
				_, err := f.try(files.CSV, "c.csv", header+f.row(fmt.Sprint("C-", n), "1"))
				if wasted := n > 0; errors.Is(err, files.ErrWasted) != wasted || !wasted && err != nil {
					t.Errorf("after %d: %v", n+1, err)
				}
			}
		})
	}
}

func TestAFileThatCannotBeCheckedIsGivenUp(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	uid, other := f.upload(files.CSV, header+f.row("A", "1")), f.upload(files.CSV, header+f.row("B", "2"))
	f.Exec("UPDATE bulk_file_parts SET content = 'garbage'::bytea WHERE tenant = ? AND file = ?", f.Tenant, uid)
	for range 30 {
		_, _ = f.Files.Check(f.worker())
		f.free()
	}
	if is := f.is(uid, files.Failed, 0, 0); is.RejectReason != "the bank could not read the file" {
		t.Error(is.RejectReason)
	}
	f.work()
	f.is(other, files.Processed, 1, 0)
}

// What the bank itself cannot do is said of the line that it is of, and not of the file whose turn it is by
// then.
func TestALineThatCannotBePaidFailsNoOtherFile(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	f := filedAt(t, line.Bank())
	bad := *f
	bad.account = f.Account(f.of, coretest.Holding(10_000_00, 0), coretest.Sends)
	for _, c := range []*filed{f, &bad} {
		c.t = t
	}
	upload := func(c *filed, reference string) files.FileUID {
		uid := c.upload(files.CSV, header+c.row(reference, "1"))
		if _, err := f.Files.Check(f.worker()); err != nil {
			t.Fatal(err)
		}
		return uid
	}
	first := upload(&bad, "A-1")
	f.Exec(`UPDATE accounts SET number_sealed = 'garbage'::bytea WHERE tenant = ? AND uid = ?`, f.Tenant,
		bad.account.UID)
	work := func() { _, _ = f.Files.Pay(f.worker()) }
	begins := line.Begins(3, work) // 500 lines, one line, what is said of it
	work()
	f.is(first, files.PartiallyProcessed, 0, 1)
	f.Exec(`UPDATE accounts SET number_sealed = ? WHERE tenant = ? AND uid = ?`, bad.account.Number.Sealed,
		f.Tenant, bad.account.UID)
	second, good := upload(&bad, "A-2"), upload(f, "B")
	f.Exec(`UPDATE accounts SET number_sealed = 'garbage'::bytea WHERE tenant = ? AND uid = ?`, f.Tenant,
		bad.account.UID)
	line.Elsewhere(begins, f.Bank,
		`UPDATE bulk_files SET worked_at = clock_timestamp() WHERE tenant = ? AND uid = ?`, f.Tenant, second)
	for range 4 {
		work()
	}
	f.is(second, files.PartiallyProcessed, 0, 1)
	f.is(good, files.Processed, 1, 0)
}

// Of two workers who cannot pay a line one says so, and the other one says nothing of the line behind it.
func TestALineThatCannotBePaidFailsNoOtherLine(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	f := filedAt(t, line.Bank())
	f.t = t
	bad := *f
	bad.account = f.Account(f.of, coretest.Holding(10_000_00, 0), coretest.Sends)
	upload := func(rows string) files.FileUID {
		uid := f.upload(files.CSV, header+rows)
		if _, err := f.Files.Check(f.worker()); err != nil {
			t.Fatal(err)
		}
		return uid
	}
	first, second := upload(bad.row("A-1", "1")), upload(bad.row("A-2", "1")+f.row("B", "1"))
	f.Exec(`UPDATE bulk_files SET status = 'CANCELLED' WHERE tenant = ? AND uid = ?`, f.Tenant, second)
	f.Exec(`UPDATE accounts SET number_sealed = 'garbage'::bytea WHERE tenant = ? AND uid = ?`, f.Tenant,
		bad.account.UID)
	work := func() { _, _ = f.Files.Pay(f.worker()) }
	begins := line.Begins(3, work) // all lines, one line, what is said of it
	work()
	f.is(first, files.PartiallyProcessed, 0, 1)
	f.Exec(`UPDATE bulk_files SET status = 'PROCESSING' WHERE tenant = ? AND uid = ?`, f.Tenant, second)
	line.Elsewhere(begins, f.Bank, `UPDATE bulk_files SET paid = 2, failed = 1, valid = 1
		WHERE tenant = ? AND uid = ?`, f.Tenant, second)
	for range 4 {
		work()
	}
	f.is(second, files.PartiallyProcessed, 1, 1)
}

// abroadFile writes a file with a batch of IAT.
func abroadFile(t *testing.T, way nacha.Abroad, entries ...nacha.Entry) string {
	t.Helper()
	var text bytes.Buffer
	w, err := nacha.NewWriter(&text, nacha.Header{
		Origin: "611590103", Destination: "611590103", OriginName: "Acme", DestinationName: "Bank",
		CreatedAt: coretest.Start,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.IAT, CompanyID: "1234567890", Description: "PAYROLL", Bank: "611590103", Abroad: way,
			Effective: coretest.Start.Truncate(24*time.Hour).AddDate(0, 0, 1),
		})
	}
	for _, e := range entries {
		if err == nil {
			_, err = w.Entry(e)
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// toBerlin is an entry of IAT.
func toBerlin(edits ...func(*nacha.Entry)) nacha.Entry {
	e := credit(10_00, "Gerda Muster")
	e.Number, e.ID, e.Remittance = "DE89370400440532013000", "EMP-1", "Invoice 4711"
	e.International = &nacha.International{
		Purpose: "SAL", ForeignAmount: 9_00, ForeignTrace: "F-1",
		Originator: nacha.Side{Name: "Somebody", Street: "1 Elsewhere", City: "Paris", Country: "FR"},
		Receiver: nacha.Side{
			Street: "Unter den Linden 1", City: "Berlin", State: "BE", Country: "DE", PostalCode: "10117",
		},
		From: nacha.Agent{Name: "Some bank", Kind: nacha.National, ID: "1", Country: "FR"},
		To:   nacha.Agent{Name: "Commerzbank", Kind: nacha.BIC, ID: "COBADEFFXXX", Country: "DE"},
	}
	for _, edit := range edits {
		edit(&e)
	}
	return e
}

var inEuros = nacha.Abroad{Exchange: nacha.FixedToVariable, Country: "DE", From: "USD", To: "EUR"}

func TestAFileOfACHPaysAbroad(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, int64(f.Tenant),
		int64(f.account.UID))
	text := abroadFile(t, inEuros, toBerlin(), toBerlin(func(e *nacha.Entry) { e.ID = "EMP-2" }))
	if sample, err := os.ReadFile("testdata/iat.txt"); err != nil || string(sample) != text {
		t.Errorf("the seed of the fuzz test is not this file: %v", err)
	}
	uid := f.upload(files.NACHA, text)
	f.work()
	f.is(uid, files.Processed, 2, 0)
	for _, p := range f.payments() {
		details, err := coretest.Many(f.Bank, f.Staff(),
			func(b *db.Batch) *db.Many[payments.UID, payments.Details] {
				return f.Payments.DetailsOf(f.Staff(), b, []payments.UID{p.UID})
			})
		if err != nil || len(details[p.UID]) != 1 {
			t.Fatal(details, err)
		}
		if d := details[p.UID][0]; d.BankName != "Commerzbank" || d.BankCountry != "DE" ||
			d.BankID != "611590103" ||
			d.Address.City != "Berlin" || d.Address.State != "BE" || d.Remittance != "Invoice 4711" ||
			p.Rail != rails.ACH || p.ReceiverName != "Gerda Muster" || p.Speed != payments.Economy {
			t.Errorf("%+v %+v", p, d)
		}
	}
	f.Prove()
}

func TestAnEntryAbroadInAFileIsRefusedByItself(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		way  nacha.Abroad
		edit func(*nacha.Entry)
	}{
		"batch header ForeignExchangeIndicator NOTALLOWED": {
			nacha.Abroad{Exchange: nacha.VariableToFixed, Country: "DE", From: "USD", To: "EUR"},
			func(*nacha.Entry) {},
		},
		"batch header ForeignExchangeReference NOTALLOWED": {nacha.Abroad{
			Exchange: nacha.FixedToVariable, Country: "DE", From: "USD", To: "EUR",
			ReferenceKind: nacha.ExchangeNumber, Reference: "7",
		}, func(*nacha.Entry) {}},
		"batch header ISODestinationCountryCode NOTALLOWED": {
			nacha.Abroad{Exchange: nacha.FixedToVariable, Country: "FR", From: "USD", To: "EUR"},
			func(*nacha.Entry) {},
		},
		"addenda ForeignCorrespondentBankName NOTALLOWED": {inEuros, func(e *nacha.Entry) {
			e.International.Correspondents = []nacha.Agent{e.International.From}
		}},
		"addenda RDFIIdentification NOMATCH": {
			inEuros,
			func(e *nacha.Entry) { e.International.To.ID = "BNPAFRPP" },
		},
		"addenda RDFIBranchCountryCode NOMATCH": {
			nacha.Abroad{Exchange: nacha.FixedToFixed, Country: "US", From: "USD", To: "USD"},
			func(e *nacha.Entry) {
				e.International.To.Country, e.International.To.ID, e.Number = "US", "021000021", "12345"
			},
		},
		"entry DFIAccountNumber INVALID": {inEuros, func(e *nacha.Entry) { e.Number = "DE89370400440532013001" }},
		"addenda PaymentRelatedInformation MAX": {inEuros, func(e *nacha.Entry) {
			e.Remittance = strings.Repeat("x", 100)
		}},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			f := newFiled(t)
			f.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, int64(f.Tenant),
				int64(f.account.UID))
			uid := f.upload(files.NACHA, abroadFile(t, c.way, toBerlin(), toBerlin(c.edit)))
			f.work()
			if told := f.faults(uid); len(told) == 0 || !strings.HasSuffix(told[len(told)-1], " "+want) {
				t.Errorf("%q", told)
			}
		})
	}
}

func TestAFileOfACHCollectsFromAbroad(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	f.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, int64(f.Tenant),
		int64(f.account.UID))
	uid := f.upload(files.NACHA,
		abroadFile(t, inEuros, toBerlin(func(e *nacha.Entry) { e.Direction = rails.Debit })))
	f.work()
	f.is(uid, files.Processed, 1, 0)
	if all := f.payments(); len(all) != 1 || all[0].EntryType != rails.Debit ||
		all[0].SenderName != "Gerda Muster" {
		t.Errorf("%+v", all)
	}
	f.Prove()
}

// What is shown of a file that is being checked is how much of it was read, of every format.
func TestEveryFormatSaysHowFarItIsRead(t *testing.T) {
	t.Parallel()
	f := newFiled(t)
	for kind, text := range map[files.FileType]string{
		files.CSV:     header + f.row("A", "1"),
		files.NACHA:   nachaFile(t, credit(100_00, "Ada"), credit(50_25, "Bob")),
		files.Fedwire: "{1500}\n{2000}000000001000\n{1500}\n{2000}000000002000\n",
	} {
		uid := f.upload(kind, text)
		f.work()
		var read int
		if err := f.DB.NewRaw("SELECT position FROM bulk_files WHERE tenant = ? AND uid = ?", f.Tenant, uid).
			Scan(t.Context(), &read); err != nil || read != len(text) {
			t.Errorf("%s: %d of %d bytes, %v", kind, read, len(text), err)
		}
	}
}
