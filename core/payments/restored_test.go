package payments_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
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
	if _, err := s.Audit.Resume(operator, s.Clients.Sign, keep, audit.Mark{}, ""); err != nil {
		t.Fatal(err)
	}
	later := s.send(t, s.order("30.00", byWire))
	holds("after it was noted", later.UID)
	all, err := s.Payments.ToLeave(operator, 0)
	if err != nil || len(all) != 3 || all[0].UID != waits.UID || all[0].ReceiverName != s.to.Name {
		t.Errorf("to leave: %+v, %v", all, err)
	}
	if rest, err := s.Payments.ToLeave(operator, entry.UID); err != nil || len(rest) != 1 || rest[0].UID != later.UID {
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
	for uid, want := range map[payments.UID]string{waits.UID: "QUEUED SENT SETTLED", later.UID: "QUEUED SENT SETTLED"} {
		if got := s.life(t, uid); got != want {
			t.Errorf("resumed: %s, want %s", got, want)
		}
	}
	var noted int
	if err := s.DB.NewRaw(`SELECT count(*) FROM audit_entries WHERE tenant = ? AND action = 'resumeSending'
		AND reason = 'compared with the reports of 3 May'`, s.Tenant).Scan(t.Context(), &noted); err != nil || noted != 1 {
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
