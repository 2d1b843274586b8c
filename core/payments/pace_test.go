package payments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/nacha"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// hurried returns a bank in which nobody waits long for a lock.
func hurried(t *testing.T) *coretest.Bank {
	t.Helper()
	url := dbtest.Shared(t)
	return coretest.On(t, dbtest.Owner(url), url+"&lock_timeout=300ms", db.Options{})
}

// hurriedPairs returns two accounts, and two of others, of a hurried bank.
func hurriedPairs(t *testing.T) (p *pair, other *pair) {
	t.Helper()
	b := hurried(t)
	of := func() *pair {
		return &pair{
			b, b.Account(b.Customer(), coretest.Holding(100_00, 0)),
			b.Account(b.Customer(), coretest.Holding(100_00, 0)),
		}
	}
	return of(), of()
}

// while runs what a test does while what a statement locks is locked.
func while(t *testing.T, b *coretest.Bank, do func(), lock string, values ...any) {
	t.Helper()
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(lock, values...).Exec(ctx)
		if err == nil {
			do()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A due payment whose account is locked for long keeps those of others waiting in no job.
func TestADuePaymentThatTakesTooLongStopsNoOther(t *testing.T) {
	t.Parallel()
	p, other := hurriedPairs(t)
	tomorrow := func(made *payments.Payment) {
		made.State, made.Date, made.Minor = payments.Scheduled, ledger.Day(p.Clock.Now().AddDate(0, 0, 1)), 1
	}
	slow := p.Payment(p.from, p.to, tomorrow)
	var quick []*payments.Payment
	for range 3 {
		quick = append(quick, other.Payment(other.from, other.to, tomorrow))
	}
	p.Clock.Advance(24 * time.Hour)
	operator := access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())
	while(t, p.Bank, func() {
		n, err := p.Payments.CarryOutDue(operator)
		if n != 3 || err == nil || !strings.Contains(err.Error(), slow.UID.String()+" takes too long") {
			t.Errorf("%d %v", n, err)
		}
	}, `SELECT FROM balances WHERE tenant = ? AND account = ? FOR UPDATE`, p.Tenant, p.from.UID)
	for _, q := range quick {
		if life := p.life(t, q.UID); life != "SCHEDULED SETTLED " {
			t.Errorf("another's payment: %s", life)
		}
	}
	if n, err := p.Payments.CarryOutDue(operator); n != 1 || err != nil {
		t.Errorf("once the lock is gone: %d %v", n, err)
	}
}

// So does a series.
func TestASeriesThatTakesTooLongStopsNoOther(t *testing.T) {
	t.Parallel()
	p, other := hurriedPairs(t)
	for _, of := range []*pair{p, other, other} {
		d := of.draft("0.01")
		d.Repeat = weekly()
		if _, err := of.transfer(of.Staff(), d); err != nil {
			t.Fatal(err)
		}
	}
	p.Clock.Advance(7 * 24 * time.Hour)
	operator := access.Operator(t.Context(), p.Tenant, p.Code, coretest.Zone())
	while(t, p.Bank, func() {
		n, err := p.Payments.RunRecurrences(operator)
		if n != 2 || err == nil || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("%d %v", n, err)
		}
	}, `SELECT FROM balances WHERE tenant = ? AND account = ? FOR UPDATE`, p.Tenant, p.from.UID)
	if n, err := p.Payments.RunRecurrences(operator); n != 1 || err != nil {
		t.Errorf("once the lock is gone: %d %v", n, err)
	}
}

// Nobody makes others wait for an account by naming it in requests: what the caller does not see is refused
// without a look at its balance, and so are the bank's own accounts.
func TestAccountsThatTheCallerDoesNotSeeAreNotLocked(t *testing.T) {
	t.Parallel()
	b := hurried(t)
	b.Directory()
	partner := b.DownstreamPartner()
	of := b.Customer(coretest.OwnedBy(partner))
	own := b.Account(of, coretest.Holding(100_00, 0), coretest.Sends)
	other := b.Account(b.Customer(), coretest.Holding(100_00, 0), coretest.Sends)
	var house accounts.UID
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) (err error) {
		house, err = b.Ledger.HouseTx(ctx, tx, b.Tenant, ledger.HouseFees, "USD", 0)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mine := payments.Party{UID: own.UID}
	while(t, b, func() {
		for name, named := range map[string]payments.Party{
			"another's": {UID: other.UID}, "another's, by number": {Number: coretest.AccountNumber(other.UID)},
			"the bank's own": {UID: house},
		} {
			for _, d := range []payments.Draft{
				{Sender: mine, Receiver: named, Amount: "1"}, {Sender: named, Receiver: mine, Amount: "1"},
			} {
				_, err := b.Payments.Transfer(b.Partner(partner), d, changes.RequestOptions{})
				if !errors.Is(err, payments.ErrAccount) {
					t.Errorf("a transfer with %s: %v", name, err)
				}
			}
			_, err := b.Payments.Send(b.Partner(partner), payments.Order{
				Sender: named, Receiver: payments.Receiver{Contact: b.Contact(of).UID}, Amount: "1", Currency: "USD",
				Speed: "Instant", ExternalReferenceID: "INV-7", Notes: "Rent",
			}, changes.RequestOptions{})
			if !errors.Is(err, payments.ErrAccount) {
				t.Errorf("a credit from %s: %v", name, err)
			}
		}
	}, `SELECT FROM balances WHERE tenant = ? AND account IN (?, ?) FOR UPDATE`, b.Tenant, other.UID, house)
}

// debits is a file of another bank with debits of several accounts.
func debits(t *testing.T, now time.Time, of ...accounts.UID) string {
	t.Helper()
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: "FRB", Destination: ours, DestinationName: "US", CreatedAt: now,
		FirstTrace: 7,
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.CCD, CompanyID: "9100011223", CompanyName: "Lakefront", Description: "PAYMENT",
			Effective: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), Only: rails.Debit, Bank: theirs,
		})
	}
	for i, account := range of {
		if err == nil {
			_, err = w.Entry(nacha.Entry{
				Account: rails.Checking, Direction: rails.Debit, Amount: money.Of(int64(10_00+i), "USD"), Routing: ours,
				Number: coretest.AccountNumber(account), Name: "Somebody",
			})
		}
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return body.String()
}

// owes returns how many debits of an account have come, and for how many people decide.
func (s *sender) owes(t *testing.T, of accounts.UID) (all, held int) {
	t.Helper()
	err := s.DB.NewRaw(`SELECT count(*), count(*) FILTER (WHERE state = 'HOLD') FROM payments
		WHERE tenant = ? AND sender_account = ?`, s.Tenant, of).Scan(t.Context(), &all, &held)
	if err != nil {
		t.Fatal(err)
	}
	return all, held
}

// A line of a file of ACH that takes too long waits alone: the others, in front and behind, are taken in. A
// rule that is locked keeps waiting only what it allows.
func TestALineThatTakesTooLongStopsNoOther(t *testing.T) {
	t.Parallel()
	b := hurried(t)
	b.Directory()
	open := func() *accounts.Account {
		return b.Account(b.Customer(), coretest.Holding(100_000_00, 0), coretest.Sends, positive)
	}
	s, other := &sender{Bank: b, from: open()}, &sender{Bank: b, from: open()}
	slow := s.rule()
	unasked := other.rule(func(r *positivepay.Rule) { r.ACHCompanyID = "9999999999" })
	other.rule()
	s.arrive(t, rails.ACH, debits(t, s.Now(), other.from.UID, s.from.UID, other.from.UID, other.from.UID))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	while(t, b, func() {
		n, err := s.Payments.Receive(operator)
		if n != 0 || err == nil || !strings.Contains(err.Error(), "takes too long") {
			t.Errorf("%d %v", n, err)
		}
		if n, err := s.Payments.Receive(operator); n != 0 || err != nil { // looks for other files first
			t.Errorf("again: %d %v", n, err)
		}
		if told := s.untaken(t); len(told) != 0 {
			t.Errorf("people hear of it at once: %q", told)
		}
		s.Clock.Advance(31 * time.Minute)
		if told := s.unfinished(t); len(told) != 1 || !strings.Contains(told[0], "cannot be taken in at present") {
			t.Errorf("people hear after half an hour: %q", told)
		}
		if all, held := other.owes(t, other.from.UID); all != 3 || held != 0 {
			t.Errorf("%d debits of another are there, of which %d wait for people", all, held)
		}
	}, `SELECT FROM positive_pay_rules WHERE tenant = ? AND uid IN (?, ?) FOR UPDATE`, s.Tenant, slow, unasked)
	if n, err := s.Payments.Receive(operator); n != 1 || err != nil {
		t.Errorf("once the lock is gone: %d %v", n, err)
	}
	if all, held := s.owes(t, s.from.UID); all != 1 || held != 0 {
		t.Errorf("%d debits, of which %d wait for people", all, held)
	}
	if told := s.unfinished(t); len(told) != 0 {
		t.Errorf("people still hear of it: %q", told)
	}
}

// unfinished returns what people are told of files with lines that cannot be taken in.
func (s *sender) unfinished(t *testing.T) (all []string) {
	t.Helper()
	found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Untaken}}, 50)
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range found.Items {
		all = append(all, item.Reason)
	}
	return all
}

// What else a bank does waits while a file is taken in, so a long one is taken in by parts.
func TestALongFileIsTakenInByParts(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	s.Payments.TakeFilesFor(0)
	s.arrive(t, rails.ACH, debits(t, s.Now(), slices.Repeat([]accounts.UID{s.from.UID}, 600)...))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for _, want := range []int{250, 500, 600} {
		n, err := s.Payments.Receive(operator)
		if all, _ := s.owes(t, s.from.UID); n != 1 || err != nil || all != want {
			t.Errorf("%d debits are there, want %d; said %d, %v", all, want, n, err)
		}
	}
	if n, err := s.Payments.Receive(operator); n != 0 || err != nil {
		t.Errorf("after the last line: %d, %v", n, err)
	}
	if told := s.unfinished(t); len(told) != 0 {
		t.Errorf("people hear of a file that only takes long: %q", told)
	}
}

// Returns of nothing are looked at again whenever their file is, and do not keep it from its end.
func TestALongFileOfReturnsOfNothingEnds(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Payments.TakeFilesFor(0)
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: "FRB", Destination: ours, DestinationName: "US", CreatedAt: s.Now(),
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.CCD, CompanyID: "1234567890", CompanyName: "Cedar", Description: "Rent", Effective: s.Now(),
			Only: rails.Credit, Bank: theirs,
		})
	}
	for i := 0; i < 600 && err == nil; i++ {
		_, err = w.Entry(nacha.Entry{
			Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(1_00, "USD"), Routing: ours,
			Number: "440000002", Name: "Harbor",
			Return: &nacha.Return{
				Code: "R03", OriginalTrace: fmt.Sprintf("%s%07d", ours[:8], 5_000_000+i), OriginalBank: theirs[:8],
			},
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.arrive(t, rails.ACH, body.String())
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for _, want := range []int{1, 1, 1, 0} {
		if n, err := s.Payments.Receive(operator); n != want || err != nil {
			t.Errorf("said %d, want %d: %v", n, want, err)
		}
	}
}

// A rule that somebody else uses up while debits are compared with it allows no more than it may.
func TestARuleThatIsUsedMeanwhileIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	once := s.rule(func(r *positivepay.Rule) { r.Frequency = positivepay.OneTime })
	s.arrive(t, rails.ACH, debits(t, s.Now(), s.from.UID))
	errs := s.Turns(func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewRaw(`UPDATE positive_pay_rules SET used = 1, last_used = '2026-11-18' WHERE tenant = ?
			AND uid = ?`, s.Tenant, once).Exec(ctx)
		return err
	}, func() error {
		_, err := s.Payments.Receive(access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone()))
		return err
	})
	if all, held := s.owes(t, s.from.UID); errs[0] != nil || all != 1 || held != 1 {
		t.Errorf("%d debits, of which %d wait for people: %v", all, held, errs)
	}
}

// A day has few files of ACH: what made the bank wait for a while must not be paid with many small ones.
func TestAShortStallCostsNoFilesOfTheDay(t *testing.T) {
	t.Parallel()
	s := newSenderOf(hurried(t))
	s.Exec(`INSERT INTO ach_origins (tenant, origin, day, files, trace) VALUES (?, ?, '2026-11-18', 0, 1)`,
		s.Tenant, ours)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for range 20 {
		s.send(t, s.order("0.01", economy))
	}
	s.Clock.Advance(at(t, "2026-11-18 14:02").Sub(s.Clock.Now()))
	if _, err := s.Payments.SendQueued(operator); err != nil {
		t.Fatal(err)
	}
	while(t, s.Bank, func() {
		for range 16 {
			if _, err := s.Payments.SealFiles(operator); err == nil {
				t.Fatal("it is not locked")
			}
		}
	}, `SELECT FROM ach_origins WHERE tenant = ? FOR UPDATE`, s.Tenant)
	if n, err := s.Payments.SealFiles(operator); n != 20 || err != nil {
		t.Errorf("%d entries are in the first file, of 20: %v", n, err)
	}
}

// A line that cannot be taken in keeps its file from being done, and no later one.
func TestALineThatTakesTooLongStopsNoLaterFile(t *testing.T) {
	t.Parallel()
	b := hurried(t)
	b.Directory()
	open := func() *accounts.Account {
		return b.Account(b.Customer(), coretest.Holding(100_000_00, 0), coretest.Sends, positive)
	}
	s, other := &sender{Bank: b, from: open()}, &sender{Bank: b, from: open()}
	slow := s.rule()
	other.rule()
	s.arrive(t, rails.ACH, debits(t, s.Now(), s.from.UID))
	s.Clock.Advance(time.Minute)
	s.arrive(t, rails.ACH, debits(t, s.Now(), other.from.UID, other.from.UID))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	receive := func(want int) {
		t.Helper()
		if n, _ := s.Payments.Receive(operator); n != want {
			t.Errorf("%d files are taken in, want %d", n, want)
		}
	}
	while(t, b, func() {
		receive(0)
		receive(1)
		if all, _ := other.owes(t, other.from.UID); all != 2 {
			t.Errorf("%d of 2 debits of the later file are there", all)
		}
		receive(0) // there is no other one
		receive(0)
	}, `SELECT FROM positive_pay_rules WHERE tenant = ? AND uid = ? FOR UPDATE`, s.Tenant, slow)
	first, _ := s.Payments.Receive(operator) // which may look for other files alone
	if n, err := s.Payments.Receive(operator); first+n != 1 || err != nil {
		t.Errorf("once the lock is gone: %d %v", first+n, err)
	}
}

// What another bank says of its credit is heard after the credit, be it that this one has to wait.
func TestARecallDoesNotOvertakeItsCredit(t *testing.T) {
	t.Parallel()
	s := newSenderOf(hurried(t))
	over := rails.FedNow
	c := s.credit(over, 1)
	recall := s.recalls(over, 30, "CASE-1", c)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	comes := func(m iso20022.Message) {
		var body bytes.Buffer
		if err := iso20022.Write(&body, payments.Profiles[over], m); err != nil {
			t.Fatal(err)
		}
		s.arrive(t, over, body.String())
		if n, err := s.Payments.Receive(operator); n != 0 || err == nil {
			t.Errorf("%d %v", n, err)
		}
	}
	while(t, s.Bank, func() {
		comes(c)
		s.Clock.Advance(time.Second)
		comes(recall)
	}, `SELECT FROM balances WHERE tenant = ? AND account = ? FOR UPDATE`, s.Tenant, s.from.UID)
	s.run(t)
	s.run(t)
	s.lived(t, s.newest(t), "SETTLED RECALLED")
}

// A line that the bank cannot write stops no other kind of lines of its file.
func TestAReturnThatCannotBeTakenInStopsNoEntry(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.send(t, s.order("25.00", economy)).UID
	s.through(t, "2026-11-19 12:00")
	var trace string
	if err := s.DB.NewRaw(`SELECT trace FROM ach_entries WHERE tenant = ? AND payment = ?`, s.Tenant, uid).
		Scan(t.Context(), &trace); err != nil || trace == "" {
		t.Fatal(trace, err)
	}
	back := s.credits(func(b *batchOf) {
		b.Amount.Minor = 25_00
		b.Return = &nacha.Return{Code: "R03", OriginalTrace: trace, OriginalBank: theirs[:8]}
	})
	s.arrive(t, rails.ACH, s.joined(t, "FRB", s.credits(), back))
	s.Exec(`UPDATE balances SET currency = 'XXX' WHERE tenant = ? AND account = ?`, s.Tenant, s.from.UID)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if n, err := s.Payments.Receive(operator); n != 0 || err == nil {
		t.Errorf("%d %v", n, err)
	}
	var came int
	if err := s.DB.NewRaw(`SELECT count(*) FROM ach_received WHERE tenant = ?`, s.Tenant).
		Scan(t.Context(), &came); err != nil || came != 1 {
		t.Errorf("%d of 1 credits of the file have come, %v", came, err)
	}
}
