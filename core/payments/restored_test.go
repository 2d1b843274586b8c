package payments_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
)

// A bank whose database was restored may have sent since the backup what waits in it: nothing leaves for a
// network, by message or by file, until an operator has looked. New payments are taken in meanwhile, and wait
// with the others.
func TestARestoredBankSendsNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	old := coretest.Alone(t)
	old.Directory()
	c := old.Customer()
	s := &sender{old, old.Account(c, coretest.Holding(100_000_00, 0), coretest.Sends), old.Contact(c)}
	waits, entry := s.send(t, s.order("250.00", instantly)), s.send(t, s.order("20.00", economy))
	keep := func(audit.Line) error { return nil }
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if _, err := s.Audit.Seal(operator); err != nil {
		t.Fatal(err)
	}
	if err := s.Audit.Sign(operator, s.Clients.Sign, keep); err != nil {
		t.Fatal(err)
	}
	s.Bank = old.Restored()
	holds := func(when string, more ...payments.UID) {
		t.Helper()
		s.run(t)
		for _, uid := range append(more, waits.UID, entry.UID) {
			if got := s.life(t, uid); got != "QUEUED" {
				t.Errorf("%s: %s", when, got)
			}
		}
		if held, err := s.Payments.SendingHeld(operator); !held || err != nil {
			t.Errorf("%s: held = %t, %v", when, held, err)
		}
	}
	holds("before anybody has noticed")
	if err := s.Payments.ResumeSending(operator, "looked"); !errors.Is(err, audit.ErrMoved) {
		t.Errorf("resumed before the restore was noted: %v", err)
	}
	if _, err := s.Audit.Resume(operator, s.Clients.Sign, keep, audit.KeptPlace{}, ""); err != nil {
		t.Fatal(err)
	}
	later := s.send(t, s.order("30.00", byWire))
	holds("after it was noted", later.UID)
	all, err := s.Payments.ToLeave(operator, "payments", 0)
	if err != nil || len(all) != 3 || all[0].Payment != waits.UID || all[0].To != s.to.Name {
		t.Errorf("to leave: %+v, %v", all, err)
	}
	if rest, err := s.Payments.ToLeave(operator, "payments", int64(entry.UID)); err != nil ||
		len(rest) != 1 ||
		rest[0].Payment != later.UID {
		t.Errorf("behind the second: %+v, %v", rest, err)
	}
	for _, reason := range []string{"", " ", "line\nbreak", strings.Repeat("x", 256)} {
		var f *fault.Fault
		if err := s.Payments.ResumeSending(operator, reason); !errors.As(err, &f) {
			t.Errorf("reason %q: %v", reason, err)
		}
	}
	if err := s.Payments.ResumeSending(s.Staff(), "looked"); err == nil {
		t.Error("the staff has resumed it")
	}
	if err := s.Payments.ResumeSending(operator, "compared with the reports of 3 May"); err != nil {
		t.Fatal(err)
	}
	if err := s.Payments.ResumeSending(operator, "again"); !errors.Is(err, payments.ErrNotHeld) {
		t.Errorf("resumed twice: %v", err)
	}
	s.run(t)
	for uid, want := range map[payments.UID]string{
		waits.UID: "QUEUED SENT SETTLED", later.UID: "QUEUED SENT SETTLED",
	} {
		if got := s.life(t, uid); got != want {
			t.Errorf("resumed: %s, want %s", got, want)
		}
	}
	// The backup has no file of ACH: the numbers of those that were made since are out there.
	s.until(t, "2026-11-18 14:00")
	if all, _, _ := s.files(t); len(all) != 1 || !strings.HasSuffix(all[0][0].Trace, "0300001") {
		t.Errorf("entries of ACH: %+v", all)
	}
	var noted int
	if err := s.DB.NewRaw(`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'resumeSending'
		AND reason = 'compared with the reports of 3 May'`, s.Tenant).Scan(t.Context(), &noted); err != nil ||
		noted != 1 {
		t.Errorf("the record tells of it %d times, %v", noted, err)
	}
	s.Prove()
}

// Where the database lacks what was kept of the record outside of it, an older one may have been put in its
// place.
func TestABankWhoseRecordFellBackSendsNothing(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	behind := audit.ErrBehind
	s.Payments.HoldSendingWhile(func(context.Context) error { return behind })
	p := s.send(t, s.order("250.00", instantly))
	s.run(t)
	if got := s.life(t, p.UID); got != "QUEUED" {
		t.Error(got)
	}
	behind = errors.New("not known")
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	if n, err := s.Payments.SendQueued(operator); n != 0 || !errors.Is(err, behind) {
		t.Error(n, err)
	}
	behind = nil
	s.run(t)
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED" {
		t.Error(got)
	}
}

// What has left the one place waits in the next: nothing that leaves is in none of them, or in two.
func TestAllThatIsToLeaveABankIsListed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	credited := s.play(t, rails.RTP, "40.00")
	s.asksBack(t, credited)
	back, kept := s.play(t, rails.FedNow, "250.00"), s.play(t, rails.RTP, "31.00")
	paid := s.send(t, s.order("12.00", byWire)).UID
	debited := s.debit(t)
	given := s.send(t, s.order("20.00", economy)).UID
	s.until(t, "2026-11-18 14:00")
	s.through(t, "2026-11-19 09:00")
	if n, err := s.Payments.CountToLeave(operator); err != nil || len(n) != 0 {
		t.Fatalf("something waits: %v %v", n, err)
	}
	want := []string{} // kind, payment
	waits := func(kind string, of payments.UID, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		want = append(want, fmt.Sprint(kind, " ", of))
	}
	_, err := s.back(back, wholly(rails.FedNow))
	waits("return", back, err)
	_, err = s.back(credited, payments.Return{Type: "RJCR", Reject: "CUST"})
	waits("answer to a recall", credited, err)
	_, err = s.reverse(paid, payments.Reversal{Code: "DUPL"})
	waits("recall", paid, err)
	_, err = s.ask(kept, unclear())
	waits("request for information", kept, err)
	waits("return of ACH", debited, s.sendBack(debited, "R29"))
	waits("reversal of ACH", given, s.takeBack(given))
	written := s.send(t, s.order("13.00", byWire)).UID
	_, err = s.Payments.SendQueued(operator)
	waits("payment that is written", written, err)
	entry := s.send(t, s.order("21.00", economy)).UID
	s.Clock.Advance(12 * time.Hour)
	_, err = s.Payments.SendQueued(operator)
	waits("entry of ACH", entry, err)
	waits("payment", s.send(t, s.order("14.00", byWire)).UID, nil)
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ?`, s.Tenant)
	_, err = s.back(kept, wholly(rails.RTP))
	waits("return to approve", kept, err)
	counted, err := s.Payments.CountToLeave(operator)
	if err != nil || len(counted) != len(want) {
		t.Errorf("counted: %v %v", counted, err)
	}
	var got []string
	for _, from := range payments.LeavingPlaces {
		some, err := s.Payments.ToLeave(operator, from, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range some {
			got = append(got, fmt.Sprint(l.Kind, " ", l.Payment))
			if l.Since.IsZero() || l.Minor == 0 || l.Currency != "USD" || l.Rail == "" || l.Status() == "" {
				t.Errorf("%+v", l)
			}
		}
		if len(some) > 0 {
			if rest, err := s.Payments.ToLeave(operator, from, some[0].Number); err != nil ||
				len(rest) != len(some)-1 {
				t.Errorf("%s behind the first: %v %v", from, rest, err)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, c := range counted {
		if c.N != 1 {
			t.Errorf("%s: %d", c.Kind, c.N)
		}
	}
	if _, err := s.Payments.CountToLeave(s.Staff()); err == nil {
		t.Error("the staff has counted it")
	}
}
