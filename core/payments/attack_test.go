package payments_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fx"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
)

// The return of an entry counts only if it comes from the bank that the entry went to: another bank does not
// have the money that it would give back.
func TestAStrangerReturnsNoEntry(t *testing.T) {
	t.Parallel()
	for bank, want := range map[string]string{
		"061000052": "QUEUED SENT SETTLED", theirs: "QUEUED SENT SETTLED RETURNED",
	} {
		t.Run(bank, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("250.00", economy))
			s.until(t, "2026-11-18 14:00")
			s.until(t, "2026-11-19 09:00")
			s.sendsBack(t, bank, 250_00)
			if got := s.life(t, p.UID); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.Prove()
		})
	}
}

// sendsBack has a bank return the last entry that went out, or a part of it, as wrong.
func (s *sender) sendsBack(t *testing.T, bank string, minor int64) {
	t.Helper()
	var body bytes.Buffer
	w, err := nacha.NewWriter(&body, nacha.Header{
		Origin: payments.FedACH, OriginName: "FRB", Destination: ours, DestinationName: "US", CreatedAt: s.Now(),
	})
	if err == nil {
		err = w.Batch(nacha.Batch{
			Class: rails.CCD, CompanyID: "1234567890", CompanyName: "Cedar", Description: "Rent",
			Effective: s.Now(), Only: rails.Credit, Bank: bank,
		})
	}
	if err == nil {
		_, err = w.Entry(nacha.Entry{
			Account: rails.Checking, Direction: rails.Credit, Amount: money.Of(minor, "USD"), Routing: ours,
			Number: "440000002", Name: "Harbor",
			Return: &nacha.Return{Code: "R03", OriginalTrace: s.trace(t), OriginalBank: bank[:8]},
		})
	}
	if err == nil {
		_, err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	s.arrive(t, rails.ACH, body.String())
	s.run(t)
}

// What comes back before it settles is never told as settled. If only a part does, the rest settles.
func TestACreditOfACHThatComesBackBeforeItSettlesNeverSettled(t *testing.T) {
	t.Parallel()
	for minor, want := range map[int64]struct {
		life string
		has  int64
	}{
		250_00: {"QUEUED SENT RETURNED", 100_000_00},
		100_00: {"QUEUED SENT SETTLED RETURNED", 99_850_00},
	} {
		t.Run(fmt.Sprint(minor), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("250.00", economy))
			s.until(t, "2026-11-18 14:00")
			s.until(t, "2026-11-18 16:00")
			s.sendsBack(t, theirs, minor)
			s.until(t, "2026-11-20 09:00")
			s.lived(t, p.UID, want.life)
			s.has(t, want.has, 0)
			s.Prove()
		})
	}
}

func TestWhoTakesCreditsBackKeepsNobodysEntriesFromTheirFile(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	var all []payments.UID
	for range 40 {
		all = append(all, s.send(t, s.order("0.10", economy)).UID)
	}
	s.until(t, "2026-11-18 14:00")
	s.through(t, "2026-11-19 09:00")
	for _, uid := range all {
		if err := s.takeBack(uid); err != nil {
			t.Fatal(err)
		}
		s.Clock.Advance(10 * time.Second)
		s.run(t)
	}
	payroll := s.send(t, s.order("500.00", economy)).UID
	s.until(t, "2026-11-19 10:00")
	s.until(t, "2026-11-19 10:02")
	files, _, _ := s.files(t)
	if last := files[len(files)-1]; last[0].Amount.Minor != 500_00 {
		t.Errorf("after %d files the payment of %s is in none", len(files), payroll)
	}
	sent := 0
	for _, entries := range files[1:] {
		sent += len(entries)
	}
	if sent != 41 {
		t.Errorf("%d entries", sent)
	}
	s.Prove()
}

// The payments of a series that is changed are confirmed by the bank as one of that amount is.
func TestACallbackAsksTheBankForAChangedSeries(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	bound := int64(50_00)
	s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		coretest.Holding(100_000_00,
			0), coretest.Sends, func(a *accounts.Account) {
			a.EnableCallbacks, a.CallbackLimit = true, &bound
		})
	p := s.send(t, s.order("1", byWire, func(o *payments.Order) { o.Repeat = weekly() }))
	out, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, payments.RecurrenceDraft{Amount: "90000"},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Errorf("%+v %v", out, err)
	}
	s.through(t, "2026-11-25 12:00")
	if got := s.of(t, p.Recurrence); got != "18/11 1.00 PROCESSED, 25/11 1.00 PROCESSED" {
		t.Error(got)
	}
}

func TestAChangedSeriesAsksAsManyAsItsPayments(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) {
		c.Access.PaymentDualApproval, c.Access.NumberOfApprovers = true, 2
	})
	order := s.order("1", byWire, func(o *payments.Order) { o.Repeat = weekly() })
	out, err := s.Payments.Send(s.Someone("maker"), order, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []string{"one", "two"} {
		if _, err := s.Changes.Approve(s.Someone(who), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := s.Payments.ChangeRecurrence(s.Someone("maker"), out.Result.Recurrence,
		payments.RecurrenceDraft{Amount: "90000"}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	small := access.ApplicationLimits{Name: "Payments", Limits: []access.Limit{
		{Name: "Per_Transaction_Payment_Approve_Limits", Minor: 5_00, Currency: "USD"},
	}}
	caller, _ := access.Require(s.Someone("one"))
	caller.Limits = append(caller.Limits, small)
	bounded := access.With(t.Context(), caller)
	pays := func(want string) {
		t.Helper()
		if r := s.series(t, out.Result.Recurrence); r.Amount().String() != want {
			t.Errorf("the series pays %s, want %s", r.Amount(), want)
		}
	}
	approve := func(who context.Context) error {
		_, err := s.Changes.Approve(who, changes.UID(changed.Approval), changes.RequestOptions{})
		return err
	}
	if err := approve(bounded); !errors.Is(err, payments.ErrApproveLimit) {
		t.Errorf("as the first, above the own bound: %v", err)
	}
	if err := approve(s.Someone("two")); err != nil {
		t.Error(err)
	}
	pays("1.00")
	if err := approve(bounded); !errors.Is(err, payments.ErrApproveLimit) {
		t.Errorf("above the own bound: %v", err)
	}
	pays("1.00")
	if err := approve(s.Someone("three")); err != nil {
		t.Error(err)
	}
	pays("90000.00")
}

// Who asked for a payment does not approve it when somebody else has repaired it, whatever key they use.
func TestWhoAskedDoesNotApproveARepairThroughAnotherKey(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	linda, _ := access.Require(s.Someone("linda"))
	linda.Client = "portal-1"
	o := s.order("250.00", repairably)
	described(&o)
	o.Receiver.Bank.ID = "011000138"
	made, err := s.Payments.Send(access.With(t.Context(), linda), o, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	to := o.Receiver
	to.Bank.ID = "611590103"
	done, err := s.Payments.Repair(s.Someone("maria"), made.Result.UID, payments.Repairs{Receiver: &to},
		changes.RequestOptions{})
	if err != nil || done.Approval == 0 {
		t.Fatal(done, err)
	}
	linda.Client = "portal-2"
	if _, err := s.Changes.Approve(access.With(t.Context(), linda), changes.UID(done.Approval),
		changes.RequestOptions{}); err == nil {
		t.Error("who asked has approved")
	}
}

// Only the network and the bank that a payment went to say what became of it.
func TestAStrangerRefusesNoPayment(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.22")) // which the network never answers
	s.run(t)
	b := s.Batch()
	messages := s.Payments.MessagesOf(s.Staff(), b, []payments.UID{p.UID}, 50)
	if err := b.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	refuses := func(number int, by string) {
		t.Helper()
		s.deliver(t, rails.FedNow, &iso20022.Status{
			Group: s.group(rails.FedNow, number), Code: iso20022.Rejected, Reasons: []iso20022.Reason{{Code: "AC03"}},
			Original: iso20022.Original{
				MessageID: messages.Of[p.UID][0].MessageID, Type: iso20022.TypeCreditTransfer, CreatedAt: s.Now(),
				EndToEndID: "E", TransactionID: p.UID.String(), UETR: s.uetr(t, p.UID),
			},
			AcceptedAt: s.Now(), Sender: by, Receiver: ours,
		})
	}
	refuses(31, "021000021")
	if got := s.life(t, p.UID); got != "QUEUED SENT" {
		t.Errorf("a stranger has refused it: %s", got)
	}
	refuses(31, theirs) // by a message of the same id, which the stranger has used up for nobody else
	if got := s.life(t, p.UID); got != "QUEUED SENT REJECTED" {
		t.Error(got)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}

// What one bank calls its message keeps none of another bank from being credited, or asked back by that bank.
func TestABankUsesUpNoMessageOfAnother(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	named := func(n int, by string) *iso20022.CreditTransfer {
		return s.credit(rails.FedNow, n, func(m *iso20022.CreditTransfer) {
			m.Group, m.Sender, m.DebtorAgent.Routing = s.group(rails.FedNow, 41), by, by
		})
	}
	first, second := named(41, "021000021"), named(42, theirs)
	s.deliver(t, rails.FedNow, first)
	s.deliver(t, rails.FedNow, second, second)
	s.deliver(t, rails.FedNow, second)
	s.has(t, 100_000_00+2*25_00, 0)
	uid := s.newest(t)
	for _, about := range []*iso20022.CreditTransfer{first, second} { // both ask, too
		s.deliver(t, rails.FedNow, &iso20022.InformationRequest{
			Group: s.group(rails.FedNow, 44), CaseID: s.group(rails.FedNow, 44).ID, Original: iso20022.Original{
				MessageID: about.ID, Type: about.Type(), CreatedAt: about.CreatedAt, UETR: about.UETR,
			}, OriginalAmount: about.Amount, OriginalDate: about.SettlementDate,
			Missing: []iso20022.Lack{{Code: "MS01"}},
			Sender:  about.Sender, Receiver: ours,
		})
	}
	var asked int
	if err := s.DB.NewRaw(`SELECT count(DISTINCT payment)
		FROM information_requests WHERE tenant = ?`, s.Tenant).
		Scan(t.Context(), &asked); err != nil || asked != 2 {
		t.Errorf("%d payments are asked about: %v", asked, err)
	}
	recall := &iso20022.Recall{
		Group: s.group(rails.FedNow, 43), CaseID: "C-1", Reason: iso20022.Reason{Code: "DUPL"},
		Original: iso20022.Original{
			MessageID: second.ID, Type: second.Type(), CreatedAt: second.CreatedAt, EndToEndID: second.EndToEndID,
			TransactionID: second.TransactionID, UETR: second.UETR,
		},
		OriginalAmount: second.Amount, OriginalDate: second.SettlementDate, Sender: theirs, Receiver: ours,
	}
	s.deliver(t, rails.FedNow, recall)
	if got := s.life(t, uid); got != "SETTLED RECALLED" {
		t.Error(got)
	}
	s.Prove()
}

// Payments that waited for approval for different days do not all settle on one, above its limit.
func TestWhatIsApprovedLateCountsOnItsNewDay(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	s.Limit(&customers.Customer{UID: s.from.Customer}, "INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
	var waiting []changes.UID
	for n := range 3 {
		out, err := s.Payments.Send(s.Someone("maker"), s.order("100", func(o *payments.Order) { o.Date = day(n) }),
			changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		waiting = append(waiting, changes.UID(out.Approval))
	}
	s.Clock.Advance(48 * time.Hour)
	for i, uid := range waiting {
		_, err := s.Changes.Approve(s.Checker(), uid, changes.RequestOptions{})
		if late := i < 2; late != errors.Is(err, payments.ErrLimit) {
			t.Errorf("%d: %v", i, err)
		}
	}
	s.Clock.Advance(24 * time.Hour)
	if _, err := s.Changes.Approve(s.Checker(), waiting[0], changes.RequestOptions{}); err != nil {
		t.Errorf("on a day that has room: %v", err)
	}
	s.Prove()
}

// A bank numbers its entries within a batch: another file may have the number of the day again, for another
// entry.
func TestAnEntryWithTheNumberOfAnotherIsBooked(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	e := entryOf{trace: 1, effective: "2026-11-17", minor: 10_00}
	another := entryOf{name: " other", trace: 1, effective: "2026-11-17", minor: 2_500_00}
	for _, body := range []string{s.file(t, e), s.file(t, another), s.file(t, another)} {
		s.arrive(t, rails.ACH, body)
		s.run(t)
	}
	s.has(t, 102_510_00, 0)
	s.Prove()
}

// Whoever asks for what cannot be paid fills nobody's list without end.
func TestSoManyPaymentsWaitForRepair(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	o := s.order("250.00", repairably)
	described(&o)
	o.Receiver.Bank.ID = "011000138"
	var all sync.WaitGroup
	var kept atomic.Int32
	for range 4 {
		all.Go(func() {
			for range 130 {
				if _, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{}); err == nil {
					kept.Add(1)
				} else if !errors.Is(err, payments.ErrBank) {
					t.Error(err)
				}
			}
		})
	}
	// those of another lane at the same time do not count
	if all.Wait(); kept.Load() < 500 || kept.Load() > 510 {
		t.Errorf("%d wait", kept.Load())
	}
}

// A proof looks nothing up payment by payment in what it has summed up, which took the square of their
// number.
func TestAProofTakesNoLongerForEachPayment(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for _, i := range payments.Invariants {
		var plan []string
		if err := s.DB.NewRaw("EXPLAIN "+i.Query, s.Tenant).Scan(t.Context(), &plan); err != nil {
			t.Fatal(i.Name, err)
		}
		if text := strings.Join(plan, "\n"); strings.Contains(text, "(SubPlan") {
			t.Errorf("%s:\n%s", i.Name, text)
		}
	}
}

// What comes back to an account that is closed can never be taken from it, and what comes to one that is
// deleted is in no answer.
func TestAnAccountDoesNotEndWhileMoneyMayComeToIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		holds int64
		begin func(*testing.T, *sender)
		want  int64
	}{
		"a debit waits for its file": {0, func(t *testing.T, s *sender) {
			t.Helper()
			s.collect(t, s.order("250.00", economy))
		}, 250_00},
		"a debit is on its way": {0, func(t *testing.T, s *sender) {
			t.Helper()
			s.collect(t, s.order("250.00", economy))
			s.until(t, "2026-11-18 16:00")
		}, 250_00},
		"a credit may be rejected": {50_21, func(t *testing.T, s *sender) {
			t.Helper()
			s.send(t, s.order("50.21"))
			s.run(t)
		}, 0},
		"a return may be refused": {0, func(t *testing.T, s *sender) {
			t.Helper()
			uid := s.play(t, rails.RTP, "50.34")
			if _, err := s.back(uid, wholly(rails.RTP)); err != nil {
				t.Fatal(err)
			}
		}, 50_34},
		"a credit is taken back": {50_00, func(t *testing.T, s *sender) {
			t.Helper()
			uid := s.send(t, s.order("50.00", economy)).UID
			s.until(t, "2026-11-18 16:00")
			s.until(t, "2026-11-19 09:00")
			if err := s.takeBack(uid); err != nil {
				t.Fatal(err)
			}
		}, 50_00},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				coretest.Holding(c.holds, 0), coretest.Sends)
			c.begin(t, s)
			ends := func() (err error) {
				_, err = s.Accounts.Close(s.Staff(), 0, s.from.UID, changes.RequestOptions{})
				return err
			}
			if err := ends(); !errors.Is(err, accounts.ErrUnderWay) {
				t.Errorf("closed: %v", err)
			}
			if _, err := s.Accounts.Delete(s.Staff(), 0, s.from.UID, changes.RequestOptions{}); !errors.Is(err,
				accounts.ErrUnderWay) {
				t.Errorf("deleted: %v", err)
			}
			for _, on := range []string{"2026-11-18 18:00", "2026-11-19 12:00", "2026-11-20 12:00"} {
				s.until(t, on)
			}
			s.has(t, c.want, 0)
			if err := ends(); c.want == 0 && err != nil || c.want != 0 && !errors.Is(err, accounts.ErrMoney) {
				t.Error(err)
			}
			s.Prove()
		})
	}
}

// Nobody takes back a request for payment that was sent, and it may be paid for a year.
func TestARequestForPaymentKeepsNoAccountOpen(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.from = s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, coretest.Holding(0, 0),
		coretest.Sends)
	s.collect(t, s.order("50.22", asking))
	s.run(t)
	if _, err := s.Accounts.Close(s.Staff(), 0, s.from.UID, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
}

// What comes back after an account is closed leaves it as soon as the bank has activated it again.
func TestTheBankGetsOutWhatCameBackToAClosedAccount(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Type, c.Owner = customers.DownstreamPartner, c.UID })
	customer := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	other := s.from
	s.from = s.Account(customer, coretest.Holding(50_11, 0), coretest.Sends)
	s.send(t, s.order("50.11"))
	s.run(t)
	s.Clock.Advance(5 * time.Second)
	s.run(t)
	act := func(by context.Context, action accounts.Action) error {
		_, err := s.Accounts.Act(by, 0, s.from.UID, action, changes.RequestOptions{Reason: "asked for"})
		return err
	}
	told := func(want int) {
		t.Helper()
		list, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Stranded}}, 10)
		if err != nil || len(list.Items) != want || want > 0 && (list.Items[0].UID != int64(s.from.UID) ||
			list.Items[0].Customer != int64(customer.UID) ||
			s.Now().Sub(list.Items[0].Since).Abs() > time.Hour) { // by the bank's clock
			t.Errorf("people are told of %+v, %v", list, err)
		}
	}
	if err := act(s.Staff(), accounts.Close); err != nil {
		t.Fatal(err)
	}
	told(0)
	if err := act(s.Staff(), accounts.Activate); !errors.Is(err, accounts.ErrClosed) {
		t.Errorf("empty: %v", err)
	}
	s.Clock.Advance(2 * time.Minute)
	s.run(t)
	s.has(t, 50_11, 0)
	told(1)
	if err := act(s.Partner(customer), accounts.Activate); !errors.Is(err, accounts.ErrClosed) {
		t.Errorf("by whose it is: %v", err)
	}
	if err := act(s.Staff(), accounts.Activate); err != nil {
		t.Fatal(err)
	}
	told(0)
	if _, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: other.UID}, Amount: "50.11",
		ExternalReferenceID: "INV-7",
	}, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if err := act(s.Staff(), accounts.Close); err != nil {
		t.Error(err)
	}
	told(0)
	s.Prove()
}

// A payment that waits for its day would be booked in a currency that its account has no more.
func TestAnAccountWithPaymentsKeepsItsCurrency(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	customer := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	from, to := s.Account(customer, coretest.Holding(0, 0)), s.Account(customer, coretest.Holding(0, 0))
	out, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "1.00", Date: day(1),
		ExternalReferenceID: "INV-7",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	euro := money.Currency("EUR")
	for _, a := range []*accounts.Account{from, to} {
		if _, err := s.Accounts.Change(s.Staff(), 0, a.UID, accounts.Draft{Currency: &euro},
			changes.RequestOptions{}); !errors.Is(err, accounts.ErrNamedCurrency) {
			t.Error(err)
		}
	}
	// as it could be once
	s.Exec(`UPDATE accounts SET currency = 'EUR' WHERE tenant = ? AND uid = ?`, s.Tenant, from.UID)
	s.Clock.Advance(24 * time.Hour)
	s.run(t)
	if p := s.shows(t, out.Result.UID); p.State != payments.Invalid ||
		!strings.Contains(p.Reason, "another currency") {
		t.Errorf("%s: %s", p.State, p.Reason)
	}
}

// Only the network, and the bank to which a return of ours went, say what became of it.
func TestAStrangerSaysNothingOfAReturn(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, over, "25.00")
			if _, err := s.back(uid, wholly(over)); err != nil {
				t.Fatal(err)
			}
			var ours payments.Message
			if err := s.DB.NewSelect().Model(&ours).Where("nm.tenant = ?", s.Tenant).
				Where("nm.kind = 'pacs.004'").
				Scan(t.Context()); err != nil {
				t.Fatal(err)
			}
			says := func(n int, by string, code iso20022.Code) {
				t.Helper()
				m := &iso20022.Status{
					Group: s.group(over, n), Original: iso20022.Original{
						MessageID: ours.MessageID, Type: iso20022.TypeReturn, CreatedAt: s.Now(),
						EndToEndID: "E", TransactionID: "T", UETR: s.uetr(t, uid),
					}, Code: code, Sender: by, Receiver: "611090001",
				}
				if code == iso20022.Rejected {
					m.Reasons = []iso20022.Reason{{Code: "AC04"}}
				}
				if over == rails.Fedwire && code == iso20022.Rejected {
					m.Reasons = []iso20022.Reason{{Code: "E990", Proprietary: true, Text: []string{"not taken"}}}
				}
				var body bytes.Buffer
				if err := iso20022.Write(&body, payments.Profiles[over], m); err != nil {
					t.Fatal(err)
				}
				s.arrive(t, over, body.String())
				operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
				if _, err := s.Payments.Receive(operator); err != nil {
					t.Fatal(err)
				}
			}
			says(60, "011000015", iso20022.Rejected)
			says(61, "011000015", iso20022.Settled)
			if got := s.life(t, uid); got != "SETTLED RETURNING" {
				t.Errorf("a stranger has decided: %s", got)
			}
			s.has(t, 100_000_00, 0)
			says(62, theirs, iso20022.Rejected)
			if got := s.life(t, uid); got != "SETTLED RETURNING SETTLED" {
				t.Errorf("the bank that it went to is not heard: %s", got)
			}
			s.has(t, 100_025_00, 0)
			s.Prove()
		})
	}
}

// A payment that is made while somebody ends its series ends with it.
func TestASeriesThatEndsTakesThePaymentAlongThatIsMadeMeanwhile(t *testing.T) {
	t.Parallel()
	for name, act := range map[string]func(*sender, payments.RecurrenceUID) error{
		"CANCELLED": func(s *sender, uid payments.RecurrenceUID) error {
			_, err := s.Payments.CancelRecurrence(s.Staff(), uid, payments.Cancellation{}, changes.RequestOptions{})
			return err
		},
		"left out": func(s *sender, uid payments.RecurrenceUID) error {
			_, err := s.Payments.SkipRecurrence(s.Staff(), uid, changes.RequestOptions{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10.00", byWire, func(o *payments.Order) {
				o.Date, o.Repeat = on(2026, 11, 20), monthly(3)
			}))
			s.until(t, "2026-11-20 12:00")
			s.Clock.Set(at(t, "2026-12-20 12:00")) // a Sunday: it is to settle on the day after
			errs := s.Turns(func(ctx context.Context, tx bun.Tx) error {
				_, err := tx.NewRaw(`SELECT FROM balances WHERE tenant = ? AND account = ? FOR UPDATE`,
					s.Tenant, s.from.UID).
					Exec(ctx)
				return err
			}, func() error {
				operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
				_, err := s.Payments.RunRecurrences(operator)
				return err
			}, func() error { return act(s, p.Recurrence) })
			if err := errors.Join(errs...); err != nil {
				t.Fatal(err)
			}
			s.until(t, "2026-12-21 12:00")
			if got := s.of(t, p.Recurrence); got != "20/11 10.00 PROCESSED, 21/12 10.00 CANCELLED" {
				t.Error(got)
			}
			if r := s.series(t, p.Recurrence); r.Made != 1 {
				t.Errorf("it counts as one of %d", r.Made)
			}
			s.Prove()
		})
	}
}

// What cannot be written for one routing number keeps no other one's entries from their files.
func TestAnEntryThatCannotBeWrittenStopsNoOtherRoutingNumber(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.Account(&customers.Customer{UID: s.from.Customer}, coretest.Holding(1_000_00, 0), coretest.Sends,
		func(a *accounts.Account) { a.BankID = "611690100" })
	stuck := s.send(t, s.order("10.00", economy))
	fine := s.send(t, s.order("20.00", economy, func(o *payments.Order) { o.Sender.UID = other.UID }))
	s.Exec(`UPDATE payment_details SET number_sealed = '\x00' WHERE tenant = ? AND payment = ?`,
		s.Tenant, stuck.UID)
	s.Clock.Advance(at(t, "2026-11-18 14:00").Sub(s.Clock.Now()))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if n, err := s.Payments.SendQueued(operator); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := s.Payments.SealFiles(operator); n != 1 || err == nil ||
		!strings.Contains(err.Error(), stuck.UID.String()) {
		t.Errorf("%d entries, %v", n, err)
	}
	if files, _, heads := s.files(t); len(files) != 1 || heads[0].Origin != other.BankID ||
		files[0][0].Amount.Minor != 20_00 {
		t.Errorf("%+v has not left: %+v", fine, heads)
	}
}

// ACH has no return of some entries without money, such as the notice of a death. They go back to nobody, and
// are said to be wrong once.
func TestAnEntryWithoutMoneyThatCannotGoBackStays(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	notice, err := os.ReadFile("testdata/death.ach") // of somebody whose account nobody has
	if err != nil {
		t.Fatal(err)
	}
	s.arrive(t, rails.ACH, string(notice))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if n, err := s.Payments.Receive(operator); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := s.Payments.SealFiles(operator); n != 0 || err == nil {
		t.Errorf("%d entries, and nobody hears of it: %v", n, err)
	}
	s.Clock.Advance(time.Hour)
	if n, err := s.Payments.SealFiles(operator); n != 0 || err != nil {
		t.Errorf("%d entries, still: %v", n, err)
	}
}

// An international payment that waited while its customer was suspended asks nobody for a value date that has
// passed. A trade keeps its day as long as that can be reached.
func TestWhatHasWaitedLeavesWithAValueDateToCome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ until, valued string }{
		"its day can be reached": {"2026-11-20 16:00", "2026-11-20"},
		"no more that day":       {"2026-11-20 18:00", "2026-11-23"},
		"ten days later":         {"2026-11-30 10:00", "2026-11-30"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newExporter(t)
			p, err := s.pay(s.toGermany("2500.50", s.trade(t, "2500.50").UID))
			if err != nil {
				t.Fatal(err)
			}
			becomes := func(status customers.Status) {
				s.Exec(`UPDATE customers SET status = ? WHERE tenant = ? AND uid = ?`, status, s.Tenant, s.from.Customer)
			}
			becomes(customers.Suspended)
			s.until(t, c.until)
			becomes(customers.Active)
			for range 3 {
				s.run(t)
			}
			if c.valued == "2026-11-23" {
				s.until(t, "2026-11-23 09:00")
			}
			if m := s.carried(t, p.UID); m.SettlementDate.Format(time.DateOnly) != c.valued {
				t.Errorf("it leaves for %s, want %s", m.SettlementDate.Format(time.DateOnly), c.valued)
			}
			if of := s.shows(t, p.UID); of.Date.Format(time.DateOnly) != c.valued {
				t.Errorf("it shows %s", of.Date)
			}
			s.Prove()
		})
	}
}

// An instant payment that waited over midnight leaves with the day on which it leaves, and counts on it.
func TestAnInstantPaymentThatWaitedOverMidnightLeavesWithItsNewDay(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
	p := s.send(t, s.order("60.00", instantly))
	becomes := func(status customers.Status) {
		s.Exec(`UPDATE customers SET status = ? WHERE tenant = ? AND uid = ?`, status, s.Tenant, s.from.Customer)
	}
	becomes(customers.Suspended)
	s.until(t, "2026-11-19 00:01")
	becomes(customers.Active)
	for range 3 {
		s.run(t)
	}
	if day := s.carried(t, p.UID).SettlementDate.Format(time.DateOnly); day != "2026-11-19" {
		t.Errorf("it leaves for %s", day)
	}
	if of := s.shows(t, p.UID); of.Date.Format(time.DateOnly) != "2026-11-19" ||
		of.State != payments.Settled {
		t.Errorf("it shows %s, %s", of.Date, of.State)
	}
	_, err := s.Payments.Send(s.Staff(), s.order("40.01", instantly), changes.RequestOptions{})
	if err == nil || !strings.Contains(err.Error(), "40.00 of 100.00 is left") &&
		!strings.Contains(err.Error(), "40.00 is left") {
		t.Errorf("beside it on its new day: %v", err)
	}
	s.Prove()
}

// Where a limit is lowered below what is used, nothing is left, and no less.
func TestNothingIsLeftOfALimitThatIsLoweredBelowItsUse(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	s.Limit(of, "INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
	s.send(t, s.order("60.00", instantly))
	s.Exec(`UPDATE limits SET ceiling = 2967 WHERE tenant = ? AND customer = ?
		AND code = 'INSTANT_PAYMENT_LIMIT_PER_DAY'`, s.Tenant, of.UID)
	_, err := s.Payments.Send(s.Staff(), s.order("1.00", instantly), changes.RequestOptions{})
	if !errors.Is(err, payments.ErrLimit) || !strings.Contains(err.Error(), ": 0.00 is left") {
		t.Errorf("%v", err)
	}
}

// A decision on a debit can be made until 17:00 by the clocks of the bank, also on a day on which they
// change.
func TestADecisionCanBeMadeUntilFiveByTheBanksClocks(t *testing.T) {
	t.Parallel()
	cairo, err := time.LoadLocation("Africa/Cairo")
	if err != nil {
		t.Fatal(err)
	}
	// on Friday, 26 April 2024, clocks in Cairo went from 0:00 to 1:00
	came := time.Date(2024, 4, 25, 12, 0, 0, 0, cairo)
	until := payments.DecideUntil(came, time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), cairo)
	if want := time.Date(2024, 4, 26, 17, 0, 0, 0, cairo); !until.Equal(want) {
		t.Errorf("until %s, want %s", until, want)
	}
}

// What a person has agreed to who has lost access since, no second person carries out.
func TestAFirstApprovalEndsWithItsPerson(t *testing.T) {
	t.Parallel()
	for what, end := range map[string]string{
		"the key":    `UPDATE clients SET disabled_at = now() WHERE tenant = ? AND key = 'portal'`,
		"the person": `UPDATE users SET status = 'Suspended' WHERE tenant = ? AND login_id = 'one'`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, func(c *customers.Customer) {
				c.Access.PaymentDualApproval, c.Access.NumberOfApprovers = true, 2
			})
			s.Exec(`INSERT INTO clients (tenant, key, name, secret, entity, permissions)
				VALUES (?, 'portal', 'Portal', '', 0, '{}')`, s.Tenant)
			out, err := s.Payments.Send(s.Staff(), s.order("5000"), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			approve := func(who string) error {
				_, err := s.Changes.Approve(s.Someone(who), changes.UID(out.Approval), changes.RequestOptions{})
				return err
			}
			if err := approve("one"); err != nil {
				t.Fatal(err)
			}
			s.Exec(end, s.Tenant)
			if err := approve("two"); !errors.Is(err, changes.ErrApproverEnded) {
				t.Errorf("approved: %v", err)
			}
			if _, err := s.Changes.Refuse(s.Someone("two"), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			if got := s.life(t, out.Result.UID); got != "PENDING_APPROVAL PARTIALLY_APPROVED CANCELLED" {
				t.Error(got)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// Who answers for a program by now is one with it: of two who approve, neither the other one beside it, nor
// the first of what it asked for.
func TestTwoWhoApproveCountByWhoAnswersByNow(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		maker, first, second string // persons; '' is the program
		want                 error
	}{
		"second, for the first": {"ada", "", "linda", changes.ErrTwice},
		"first, for the maker":  {"", "linda", "ada", changes.ErrApproverEnded},
		"nobody of them":        {"", "grace", "ada", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, func(c *customers.Customer) {
				c.Access.PaymentDualApproval, c.Access.NumberOfApprovers = true, 2
			})
			_, err := s.Tenants.Set(access.OperatorAs(t.Context(), "jo", s.Tenant, s.Code, nil),
				func(is *tenants.Settings) { is.PeopleDecide = false })
			if err != nil {
				t.Fatal(err)
			}
			who := func(login string) context.Context {
				if login == "" {
					return s.Staff()
				}
				return s.Someone(login)
			}
			out, err := s.Payments.Send(who(c.maker), s.order("5000"), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			approve := func(login string) error {
				_, err := s.Changes.Approve(who(login), changes.UID(out.Approval), changes.RequestOptions{})
				return err
			}
			if err := approve(c.first); err != nil {
				t.Fatal(err)
			}
			s.answersForStaff(t, "linda")
			if err := approve(c.second); !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// What a program asked for, beside single payments, is not decided on by who answers for it by now.
func TestWhoAnswersForTheProgramByNowDecidesOnNothingOfIt(t *testing.T) {
	t.Parallel()
	dually := func(s *sender) {
		s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
			s.from.Customer)
	}
	for name, ask := range map[string]func(*testing.T, *sender) (int64, error){
		"a series is changed": func(t *testing.T, s *sender) (int64, error) {
			t.Helper()
			p := s.send(t, s.order("1", func(o *payments.Order) { o.Repeat = monthly(3) }))
			dually(s)
			out, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence,
				payments.RecurrenceDraft{Amount: "50"}, changes.RequestOptions{})
			return out.Approval, err
		},
		"a payment goes back": func(t *testing.T, s *sender) (int64, error) {
			t.Helper()
			uid := s.play(t, rails.FedNow, "20.00")
			dually(s)
			out, err := s.back(uid, wholly(rails.FedNow))
			return out.Approval, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			asked, err := ask(t, s)
			if err != nil || asked == 0 {
				t.Fatal(asked, err)
			}
			s.answersForStaff(t, "linda")
			for _, by := range []struct {
				who  string
				want error
			}{{"linda", changes.ErrOwn}, {"checker", nil}} {
				if _, err := s.Changes.Approve(s.Someone(by.who), changes.UID(asked),
					changes.RequestOptions{}); !errors.Is(err, by.want) {
					t.Errorf("%s: %v, want %v", by.who, err, by.want)
				}
			}
			s.Prove()
		})
	}
}

// answersForStaff makes a person answer for the program of Staff, for which nobody did.
func (s *sender) answersForStaff(t *testing.T, login string) {
	t.Helper()
	person, err := access.Require(s.Someone(login))
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(`INSERT INTO clients (tenant, key, name, secret, entity, permissions, responsible)
		VALUES (?, 'staff', 'Staff', ?, ?, '{}', ?)`, s.Tenant, make([]byte, 32), s.Self.UID, person.User)
}

// Who may pay 8.00 in one payment makes nobody's series pay more often, or for longer. Who approves a change
// need not be able to pay at all.
func TestAPersonLetsNoSeriesPayMoreThanTheirRolesSay(t *testing.T) {
	t.Parallel()
	two, three, nine := int32(2), int32(3), int32(9)
	next := time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		change payments.RecurrenceDraft
		fits   bool
	}{
		"more often":       {payments.RecurrenceDraft{Frequency: "Daily", Next: next}, false},
		"longer":           {payments.RecurrenceDraft{Number: &nine}, false},
		"another amount":   {payments.RecurrenceDraft{Amount: "8.01"}, false},
		"a smaller amount": {payments.RecurrenceDraft{Amount: "8", Frequency: "Daily", Next: next}, true},
		"no longer":        {payments.RecurrenceDraft{Number: &three}, true},
		"shorter":          {payments.RecurrenceDraft{Number: &two}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("5000", func(o *payments.Order) { o.Repeat = monthly(3) }))
			clerk := bounded(t, s.Bank, "clerk", access.Limit{Name: access.PerPayment, Minor: 8_00})
			_, err := s.Payments.ChangeRecurrence(clerk, p.Recurrence, c.change, changes.RequestOptions{})
			if c.fits != (err == nil) || err != nil && !errors.Is(err, payments.ErrOwnLimit) {
				t.Error(err)
			}
		})
	}
	s := newSender(t)
	p := s.send(t, s.order("1", func(o *payments.Order) { o.Repeat = monthly(3) }))
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
		s.from.Customer)
	out, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, payments.RecurrenceDraft{Amount: "50"},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	checker := bounded(t, s.Bank, "checker", access.Limit{Name: access.PerPayment, Minor: 8_00})
	if _, err := s.Changes.Approve(checker, changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
}

// Who says how much the payments of a series pay does not release them. Who approved that may.
func TestWhoChangedASeriesDoesNotReleaseItsPayments(t *testing.T) {
	t.Parallel()
	for _, dual := range []bool{false, true} {
		t.Run(fmt.Sprint(dual), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Grace Hopper")
			out, err := s.Payments.Send(s.Someone("maker"), s.order("1", instantly, paidTo("Grace Hopper"),
				func(o *payments.Order) {
					o.Repeat, o.Date = weekly(), time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
				}), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s.Exec(`UPDATE customers SET access_payment_dual_approval = ? WHERE tenant = ? AND uid = ?`,
				dual, s.Tenant,
				s.from.Customer)
			changed, err := s.Payments.ChangeRecurrence(s.Someone("changer"), out.Result.Recurrence,
				payments.RecurrenceDraft{Amount: "50000"}, changes.RequestOptions{})
			if err == nil && dual {
				_, err = s.Changes.Approve(s.Someone("checker"), changes.UID(changed.Approval), changes.RequestOptions{})
			}
			if err != nil {
				t.Fatal(err)
			}
			s.through(t, "2026-11-19 12:00")
			var uid payments.UID
			if err := s.DB.NewRaw(`SELECT uid FROM payments WHERE tenant = ? AND state = ?`, s.Tenant,
				payments.Screening).Scan(t.Context(), &uid); err != nil {
				t.Fatal(err)
			}
			for _, who := range []string{"maker", "changer"} {
				_, released := s.Payments.ReleaseScreened(s.Someone(who), uid, because)
				_, rejected := s.Payments.RejectScreened(s.Someone(who), uid, because)
				if !errors.Is(released, changes.ErrOwn) || !errors.Is(rejected, changes.ErrOwn) {
					t.Errorf("%s: %v, %v", who, released, rejected)
				}
			}
			if _, err := s.Payments.ReleaseScreened(s.Someone("checker"), uid, because); err != nil {
				t.Error(err)
			}
			s.Prove()
		})
	}
}

// A message of a network to the bank itself would take money from one of its accounts and bring it to none,
// or the other way round.
func TestNoNetworkMovesMoneyWithinTheBank(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	ours := s.Account(of)
	listed := s.Contact(of, func(k *contacts.Contact) {
		k.Bank.NationalCode = ours.BankID
		k.Bank.AccountNumber = s.Keys.Seal(coretest.AccountNumber(ours.UID),
			seal.Place{Tenant: int64(s.Tenant), Column: contacts.NumberColumn, Row: int64(k.UID)})
	})
	to := func(number, bank string) func(*payments.Order) {
		return func(o *payments.Order) {
			o.Receiver = payments.Receiver{
				Name: "Ada", Number: number, Type: "Deposit", SubType: "Checking",
				Bank: payments.ReceiverBank{IDType: "NID", ID: bank},
				Address: postal.Address{
					Line1: "1 Main St", City: "Tampa", State: "FL", PostalCode: "33602", CountryCode: "US",
				},
			}
		}
	}
	for name, edit := range map[string]func(*payments.Order){
		"another account": to(coretest.AccountNumber(ours.UID), ours.BankID),
		"itself":          to(coretest.AccountNumber(s.from.UID), s.from.BankID),
		"a virtual one":   to(coretest.VirtualNumber(s.VirtualAccount(s.from).UID), s.from.BankID),
		"a contact":       func(o *payments.Order) { o.Receiver = payments.Receiver{Contact: listed.UID} },
	} {
		for speed, over := range map[string]func(*payments.Order){
			"Instant": instantly, "Economy": economy,
			"Express": func(o *payments.Order) { o.Speed = "Express" },
			"a debit": func(o *payments.Order) {
				economy(o)
				o.EntryType = rails.Debit
			},
			"a request": asking,
		} {
			_, err := s.Payments.Send(s.Staff(), s.order("10.00", over, edit), changes.RequestOptions{})
			if !errors.Is(err, payments.ErrOwnAccount) {
				t.Errorf("%s, %s: %v", name, speed, err)
			}
		}
	}
	// an account may be listed here that another bank keeps
	external := s.Account(of, func(a *accounts.Account) {
		a.SystemOfRecord, a.BankID, a.BankName = accounts.External, "611590103", "Old Mill Bank"
	})
	s.send(t, s.order("10.00", to(coretest.AccountNumber(external.UID), external.BankID)))
	// what waits for the bank to agree that it is here is not here yet
	claimed := s.Account(of, func(a *accounts.Account) {
		a.Status, a.BankID, a.BankName = accounts.Pending, "611590103", "Old Mill Bank"
	})
	s.send(t, s.order("10.00", to(coretest.AccountNumber(claimed.UID), claimed.BankID)))
	// the number may be one of another bank's
	s.send(t, s.order("10.00", to(coretest.AccountNumber(ours.UID), "611590103")))
	s.send(t, s.order("10.00", to("4400123401", ours.BankID)))
}

func TestATradeFarAheadCountsOnItsDay(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"SWIFT_PAYMENT_LIMIT_PER_DAY", 150_00)
	forward := func(d *fx.Draft) { d.Product, d.Tenor = "FORWARD", "3M" }
	first, second := s.trade(t, "100", forward), s.trade(t, "100", forward)
	s.send(t, s.toGermany("100.00", first.UID))
	if _, err := s.pay(s.toGermany("100.00", second.UID)); !errors.Is(err, payments.ErrLimit) {
		t.Errorf("%v", err)
	}
}

// Networks have limits, book transfers have none: what a series transfers uses none of them.
func TestATransferOfASeriesUsesNoLimit(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.Account(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer})
	_, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: other.UID}, Amount: "7.77",
		ExternalReferenceID: "RENT", Repeat: weekly(),
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.send(t, s.order("10", instantly, func(o *payments.Order) { o.Repeat = weekly() }))
	s.until(t, "2026-11-25 09:00")
	s.run(t)
	var made, counted int
	if err := s.DB.NewRaw(`SELECT (SELECT count(*) FROM payments
		WHERE tenant = ?0 AND recurrence IS NOT NULL),
		(SELECT count(*) FROM limit_usage WHERE tenant = ?0 AND rail <> 'INSTANT')`, s.Tenant).
		Scan(t.Context(), &made, &counted); err != nil {
		t.Fatal(err)
	}
	if made != 4 || counted != 0 {
		t.Errorf("%d payments of series, %d transfers counted", made, counted)
	}
}

// A rule for requests lets payments through, so it is approved where payments are.
func TestARuleLetsNoDrawdownPassTheCallback(t *testing.T) {
	t.Parallel()
	most := int64(20_00)
	limited := func(a *accounts.Account) { a.EnableCallbacks, a.CallbackLimit = true, &most }
	s := newDebtor(t, positive, limited)
	s.requestRule(positivepay.Fedwire, func(*positivepay.Rule) {})
	uid := s.asks(t, rails.Fedwire)
	s.is(t, uid, positivepay.DecisionPending, positivepay.NoRule)
	less := s.asks(t, rails.Fedwire, func(d *sandbox.Request) { d.Amount = "20.00" })
	s.is(t, less, positivepay.AutoMatched, "")

	s = newDebtor(t, positive)
	s.requestRule(positivepay.Fedwire, func(*positivepay.Rule) {})
	uid = s.asks(t, rails.Fedwire, func(d *sandbox.Request) { d.On = day(2) })
	s.is(t, uid, positivepay.AutoMatched, "")
	s.Exec(`UPDATE accounts SET enable_callbacks = true, callback_limit = 2000 WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.UID)
	s.until(t, "2026-11-20 12:00")
	s.run(t)
	s.lived(t, uid, "VALIDATED REJECTED")
}
