package payments_test

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// paidByACH is a credit over ACH of an amount that has settled, on 2026-11-19.
func (s *sender) paidByACH(t *testing.T, amount string, edits ...func(*payments.Order)) payments.UID {
	t.Helper()
	uid := s.send(t, s.order(amount, append([]func(*payments.Order){economy}, edits...)...)).UID
	s.until(t, "2026-11-18 14:00")
	s.through(t, "2026-11-19 09:00")
	if got := s.life(t, uid); got != "QUEUED SENT SETTLED" {
		t.Fatal(got)
	}
	return uid
}

func (s *sender) takeBack(uid payments.UID) error {
	_, err := s.Payments.Reverse(s.Staff(), uid, payments.Reversal{}, changes.RequestOptions{})
	return err
}

// reversal fails the test unless staff sees the payment in this status, with that return status.
func (s *sender) reversal(
	t *testing.T, uid payments.UID, status payments.Status, asked payments.ReturnStatus,
) {
	t.Helper()
	p, err := s.Payments.Show(s.Staff(), uid)
	if err != nil || p.Status() != status || p.ReturnStatus() != asked {
		t.Errorf("%s %q, want %s %q (%v)", p.Status(), p.ReturnStatus(), status, asked, err)
	}
}

func TestACreditOverACHIsTakenBackByAnEntryThatSettles(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "250.00")
	s.has(t, 99_750_00, 0)
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.reversal(t, uid, payments.StatusProcessed, payments.RequestSent)
	s.has(t, 99_750_00, 0)
	s.Prove()
	s.run(t)
	files, batches, _ := s.files(t)
	if len(files) != 2 || len(files[1]) != 1 || len(batches) != 2 {
		t.Fatalf("%d files %+v", len(files), batches)
	}
	sent, e, was, b := files[0][0], files[1][0], batches[0], batches[1]
	if e.Direction != rails.Debit || e.Kind != nacha.Live || e.Amount != sent.Amount ||
		e.Routing != sent.Routing ||
		e.Number != sent.Number || e.Account != sent.Account || e.ID != sent.ID || e.Name != sent.Name ||
		e.Trace == sent.Trace {
		t.Errorf("%+v takes back %+v", e, sent)
	}
	if b.Description != "REVERSAL" || b.CompanyID != was.CompanyID || b.CompanyName != was.CompanyName ||
		b.Class != was.Class ||
		b.Bank != was.Bank || b.Only != rails.Debit || b.SameDay ||
		b.Effective.Format("2006-01-02") != "2026-11-20" {
		t.Errorf("%+v is the batch that takes back %+v", b, was)
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if next, err := s.Payments.Next(operator, s.Now()); err != nil || next == nil ||
		!next.Equal(at(t, "2026-11-20 08:30")) {
		t.Errorf("the clock stops next at %v, %v", next, err)
	}
	s.until(t, "2026-11-20 08:29")
	s.has(t, 99_750_00, 0)
	s.until(t, "2026-11-20 08:30")
	s.has(t, 100_000_00, 0)
	s.reversal(t, uid, payments.StatusReversalAccepted, payments.RequestAccepted)
	if got := s.life(t, uid); got != "QUEUED SENT SETTLED RECALLING REVERSAL_ACCEPTED" {
		t.Error(got)
	}
	s.Prove()
	s.through(t, "2026-11-25 12:00")
	s.has(t, 100_000_00, 0)
	if err := s.takeBack(uid); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error(err)
	}
}

func TestAReversalThatComesBackLeavesTheMoneyWhereItIs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		amount       string
		before, then int64 // on the account when the reversal should have settled, and when it has come back
		life         string
	}{
		{"10.31", 100_000_00, 99_989_69, "QUEUED SENT SETTLED RECALLING REVERSAL_ACCEPTED REVERSAL_REJECTED"},
		{"10.32", 99_989_68, 99_989_68, "QUEUED SENT SETTLED RECALLING REVERSAL_REJECTED"},
	} {
		t.Run(c.amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.paidByACH(t, c.amount)
			if err := s.takeBack(uid); err != nil {
				t.Fatal(err)
			}
			s.through(t, "2026-11-20 09:00")
			s.has(t, c.before, 0)
			s.Prove()
			s.through(t, "2026-11-25 12:00")
			s.has(t, c.then, 0)
			s.reversal(t, uid, payments.StatusReversalRejected, payments.RequestRejected)
			if got := s.life(t, uid); got != c.life {
				t.Error(got)
			}
			s.Prove()
			if err := s.takeBack(uid); !errors.Is(err, payments.ErrNotProcessed) {
				t.Error(err)
			}
		})
	}
}

// What has been spent since is taken all the same: the account owes it.
func TestAReversalThatComesBackIsTakenFromAnAccountThatHasNoMore(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "10.31")
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.through(t, "2026-11-20 09:00")
	s.send(t, s.order("100000.00"))
	s.run(t)
	s.through(t, "2026-11-25 12:00")
	s.has(t, -10_31, 0)
	s.reversal(t, uid, payments.StatusReversalRejected, payments.RequestRejected)
	s.Prove()
}

func TestACreditOverACHIsTakenBackWithinFiveBankingDays(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	early := s.send(t, s.order("5.00", economy)).UID
	if err := s.takeBack(early); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error(err)
	}
	uid := s.paidByACH(t, "250.00")
	s.until(t, "2026-11-27 21:59") // the fifth: the 26th is Thanksgiving
	if err := s.takeBack(early); err != nil {
		t.Error(err)
	}
	s.until(t, "2026-11-27 22:00")
	if err := s.takeBack(uid); !errors.Is(err, payments.ErrReversalLate) {
		t.Error(err)
	}
}

func TestACreditToALoanIsTakenBack(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.to = s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, func(k *contacts.Contact) {
		k.Bank.AccountType, k.Bank.AccountSubType = "Loan", "Line of Credit"
	})
	uid := s.paidByACH(t, "250.00")
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.through(t, "2026-11-20 09:00")
	s.reversal(t, uid, payments.StatusReversalAccepted, payments.RequestAccepted)
	s.Prove()
}

func TestACreditOverACHIsTakenBackOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "250.00")
	var done atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			switch err := s.takeBack(uid); {
			case err == nil:
				done.Add(1)
			case !errors.Is(err, payments.ErrNotProcessed):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if done.Load() != 1 {
		t.Errorf("%d took it back", done.Load())
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	s.run(t)
	s.Clock.Advance(at(t, "2026-11-20 09:00").Sub(s.Clock.Now()))
	for range 4 {
		all.Go(func() {
			if _, err := s.Payments.SettleEntries(operator); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	s.has(t, 100_000_00, 0)
	s.Prove()
}

// A return of the credit itself, while it is taken back, brings its money once: the reversal brings no more,
// and its own return takes nothing.
func TestACreditThatComesBackWhileItIsTakenBackBringsItsMoneyOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "10.02") // comes back a banking day after it settled
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.through(t, "2026-11-25 12:00")
	s.has(t, 100_000_00, 0)
	s.reversal(t, uid, payments.StatusReversalAccepted, payments.RequestAccepted)
	s.Prove()
}

// The same holds when the credit comes back after the reversal has settled: in whichever order the two
// entries of an account that is not there come back, the customer has the money once.
func TestACreditThatComesBackAfterItsReversalBringsItsMoneyOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "10.31") // its reversal comes back a banking day after it settled
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.through(t, "2026-11-20 09:00")
	s.reversal(t, uid, payments.StatusReversalAccepted, payments.RequestAccepted)
	s.has(t, 100_000_00, 0)
	s.answered(t, uid, sandbox.Answer{Verdict: sandbox.Returned, Code: "R03"})
	s.has(t, 100_000_00, 0)
	s.through(t, "2026-11-25 12:00")
	s.has(t, 100_000_00, 0)
	s.Prove()
}

// A credit that comes back before the entry that takes it back has left needs that entry no more: it would
// take money from the payee that is back already.
func TestACreditThatHasComeBackIsNotTakenBack(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "10.22")
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sandbox.PlayAnswer(s.Staff(), uid, sandbox.Answer{Verdict: sandbox.Returned, Code: "R03"},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if n, err := s.Payments.Receive(operator); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	s.has(t, 100_000_00, 0)
	if left, err := s.Payments.ToLeave(operator, "reversed entries", 0); len(left) != 0 || err != nil {
		t.Errorf("%+v waits to leave, %v", left, err)
	}
	s.through(t, "2026-11-25 12:00")
	if files, _, _ := s.files(t); len(files) != 1 {
		t.Errorf("%d files left, of which one took the money back", len(files))
	}
	s.reversal(t, uid, payments.StatusReversalAccepted, payments.RequestAccepted)
	s.has(t, 100_000_00, 0)
	s.Prove()
}

func TestWhatDebitsHaveCollectedIsNotReversed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidOver(t)
	if err := s.takeBack(uid); !errors.Is(err, payments.ErrNotOutgoing) {
		t.Error(err)
	}
}

// What comes back of a credit by itself, while the entry that takes it back is with the other bank, brings
// more than was paid: people are told, and once. If that entry comes back as well, nothing is taken again.
func TestMoneyThatComesBackTwiceIsShownToPeople(t *testing.T) {
	t.Parallel()
	for amount, twice := range map[string]string{"": "10.31", "4.00": "4.00"} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.paidByACH(t, "10.31") // its reversal comes back a banking day after it settled
			if err := s.takeBack(uid); err != nil {
				t.Fatal(err)
			}
			s.until(t, "2026-11-19 10:31") // it has left
			s.answered(t, uid, sandbox.Answer{Verdict: sandbox.Returned, Code: "R03", Amount: amount})
			operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
			s.Clock.Advance(at(t, "2026-11-20 09:00").Sub(s.Clock.Now()))
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					if _, err := s.Payments.SettleEntries(operator); err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			s.has(t, 100_000_00, 0)
			want := "a reversal of " + twice + " USD: payment " + uid.String() + " had come back before"
			if got := s.told(t); got != want {
				t.Errorf("people are told %q, want %q", got, want)
			}
			s.through(t, "2026-11-25 12:00")
			s.has(t, 100_000_00, 0)
			got := strings.TrimPrefix(s.told(t), want+"\na return, R")
			if len(got) < 10 || strings.Contains(got, "\n") ||
				!strings.HasSuffix(got, "is REVERSAL_ACCEPTED") {
				t.Errorf("people are told %q of a reversal that comes back", got)
			}
			s.Prove()
		})
	}
}

// A reversal that has come back before it would have settled brings nothing.
func TestAReversalThatHasComeBackBringsNothingTwice(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "10.32")
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.through(t, "2026-11-25 12:00")
	if got := s.told(t); got != "" {
		t.Errorf("people are told %q", got)
	}
}

// Of a credit that is taken back, the entry brings what the other bank has not given back by itself.
func TestAReversalBringsWhatHasNotComeBackByItself(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.paidByACH(t, "10.22")
	if err := s.takeBack(uid); err != nil {
		t.Fatal(err)
	}
	s.answered(t, uid, sandbox.Answer{Verdict: sandbox.Returned, Amount: "4"})
	s.has(t, 99_993_78, 0)
	s.through(t, "2026-11-20 09:00")
	want := "QUEUED SENT SETTLED RECALLING REVERSAL_PARTIALLY_ACCEPTED REVERSAL_ACCEPTED"
	if got := s.life(t, uid); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}
