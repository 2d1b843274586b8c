package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/sandbox"
)

// hold holds the sending of the bank as after a restore, and returns what lets it go on.
func (s *sender) hold() (resume func()) {
	behind := audit.ErrBehind
	s.Payments.HoldSendingWhile(func(context.Context) error { return behind })
	return func() { behind = nil }
}

// left notes that something of a payment has left.
func (s *sender) left(t *testing.T, uid payments.UID, reference string, settled bool) error {
	t.Helper()
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	_, err := s.Payments.NoteLeft(operator, payments.Left{
		Payment: uid, Reference: reference, Reason: "the network's report of 3 May", Settled: settled,
	})
	return err
}

// out returns the ids of all that has gone to a network, or waits for it.
func (s *sender) out(t *testing.T) string {
	t.Helper()
	var ids string
	if err := s.DB.NewRaw(`SELECT coalesce(string_agg(message_id || CASE WHEN handed_at IS NULL
		THEN ' waits' ELSE '' END,
		', ' ORDER BY id), '') FROM network_messages WHERE tenant = ? AND direction = 'OUT'`, s.Tenant).
		Scan(t.Context(), &ids); err != nil {
		t.Fatal(err)
	}
	return ids
}

const leftTrace = "061000140000017"

// What a restored bank has as waiting, and its network as sent, becomes sent: its money is taken and not
// given back, it does not leave again, and answers to what the network has are heard.
func TestAPaymentThatLeftBeforeARestoreIsSentAndDoesNotLeaveAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit     func(*payments.Order)
		rail     rails.Rail
		settled  bool
		has, end int64
	}{
		"a wire, which settles when it is answered": {byWire, rails.Fedwire, false, 99_900_00, 99_900_00},
		"a wire that has settled":                   {byWire, rails.Fedwire, true, 99_900_00, 99_900_00},
		"an instant payment":                        {instantly, rails.FedNow, false, 99_900_00, 99_900_00},
		"an entry of ACH":                           {economy, rails.ACH, false, 99_900_00, 99_900_00},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("100.00", c.edit))
			resume, reference, sent := s.hold(), leftTrace, "left-"+leftTrace
			if c.rail != rails.ACH {
				reference = s.group(c.rail, 7).ID
				sent = reference
			}
			s.until(t, "2026-11-18 14:00")
			s.has(t, 100_000_00, 100_00)
			if err := s.left(t, p.UID, reference, c.settled); err != nil {
				t.Fatal(err)
			}
			s.has(t, c.has, 0)
			s.Prove()
			if err := s.left(t, p.UID, reference, false); err == nil {
				t.Error("noted twice")
			}
			life := "QUEUED SENT"
			if c.settled {
				life += " SETTLED"
			}
			if got := s.life(t, p.UID); got != life {
				t.Errorf("noted: %s", got)
			}
			resume()
			s.run(t)
			if got := s.life(t, p.UID); got != life {
				t.Errorf("resumed: %s", got)
			}
			switch {
			case c.rail == rails.ACH:
				s.arrive(t, rails.ACH, s.notice(t, 1, leftTrace, "C01", "1918171614"))
				s.through(t, "2026-11-19 09:00")
				if len(s.notices(t, p.UID)) != 1 {
					t.Error("what the other bank says of its trace number is not heard")
				}
				life += " SENT SETTLED"
			case !c.settled:
				s.deliver(t, c.rail, &iso20022.Status{
					Group: s.group(c.rail, 1), Code: iso20022.AcceptedTechnical, AcceptedAt: s.Now(), Sender: theirs,
					Receiver: ours, Original: iso20022.Original{
						MessageID: reference, Type: s.carried(t, p.UID).Type(), CreatedAt: s.Now(), UETR: s.uetr(t, p.UID),
					},
				})
				life += " SETTLED"
			}
			if got := s.life(t, p.UID); got != life {
				t.Errorf("%s, want %s", got, life)
			}
			if got := s.out(t); got != sent {
				t.Errorf("it has left as %q", got)
			}
			s.has(t, c.end, 0)
			s.Prove()
		})
	}
}

// What waits of a payment that is on its way, or came in, is noted likewise: an entry whose file is not made,
// a return or reversal over ACH, a message that is written.
func TestWhatWaitsOfAPaymentIsNotedAsLeft(t *testing.T) {
	t.Parallel()
	operator := func(t *testing.T, s *sender) context.Context {
		t.Helper()
		return access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	}
	for name, c := range map[string]struct {
		begin func(t *testing.T, s *sender) payments.UID
		ask   func(t *testing.T, s *sender, uid payments.UID) error
		over  rails.Rail
	}{
		"a return": {
			begin: func(t *testing.T, s *sender) payments.UID {
				t.Helper()
				uid := s.play(t, rails.FedNow, "250.00")
				s.run(t)
				return uid
			},
			ask: func(_ *testing.T, s *sender, uid payments.UID) error {
				_, err := s.back(uid, wholly(rails.FedNow))
				return err
			},
			over: rails.FedNow,
		},
		"a return of ACH": {
			begin: func(t *testing.T, s *sender) payments.UID {
				t.Helper()
				uid := s.debit(t)
				s.until(t, "2026-11-18 14:00")
				s.through(t, "2026-11-19 09:00")
				return uid
			},
			ask:  func(_ *testing.T, s *sender, uid payments.UID) error { return s.sendBack(uid, "R29") },
			over: rails.ACH,
		},
		"a reversal of ACH": {
			begin: func(t *testing.T, s *sender) payments.UID {
				t.Helper()
				return s.paidByACH(t, "20.00")
			},
			ask:  func(_ *testing.T, s *sender, uid payments.UID) error { return s.takeBack(uid) },
			over: rails.ACH,
		},
		"an entry that is in no file": {
			begin: func(t *testing.T, s *sender) payments.UID {
				t.Helper()
				uid := s.send(t, s.order("21.00", economy)).UID
				s.Clock.Advance(at(t, "2026-11-18 14:00").Sub(s.Clock.Now()))
				_, err := s.Payments.SendQueued(operator(t, s))
				if err != nil {
					t.Fatal(err)
				}
				return uid
			},
			ask:  func(*testing.T, *sender, payments.UID) error { return nil },
			over: rails.ACH,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid, as := c.begin(t, s), leftTrace
			if c.over != rails.ACH {
				as = s.group(c.over, 7).ID
			}
			resume := s.hold()
			if err := c.ask(t, s, uid); err != nil {
				t.Fatal(err)
			}
			before := strings.Count(strings.ReplaceAll(s.out(t), " waits", ""), ",")
			counted := func(want int) {
				t.Helper()
				if n, err := s.Payments.CountToLeave(operator(t, s)); err != nil || len(n) != want {
					t.Fatalf("it is to leave: %v %v", n, err)
				}
			}
			counted(1)
			if err := s.left(t, uid, as, false); err != nil {
				t.Fatal(err)
			}
			counted(0)
			if err := s.left(t, uid, as, false); err == nil {
				t.Error("noted twice")
			}
			resume()
			s.run(t)
			out := s.out(t)
			if !strings.Contains(out, as) || strings.Contains(out, "waits") ||
				strings.Count(out, ",") > before+1 {
				t.Errorf("out: %s", out)
			}
			s.Prove()
		})
	}
}

// A return that the other bank has asked for goes out with the answer that it comes. Noted as left it is the
// return that does not go out again: the answer may come twice.
func TestAPromisedReturnThatLeftBeforeARestoreIsPaidOnce(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, over, "250.00")
			s.run(t)
			s.asksBack(t, uid)
			resume := s.hold()
			if _, err := s.back(uid, payments.Return{Code: "FOCR", Notes: "as asked", Type: "IPAY"}); err != nil {
				t.Fatal(err)
			}
			reference := s.group(over, 7).ID
			what, err := s.Payments.NoteLeft(access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone()),
				payments.Left{Payment: uid, Reference: reference, Reason: "the report of 3 May", Settled: true})
			if err != nil || what != "return" {
				t.Fatalf("%q %v", what, err)
			}
			s.lived(t, uid, "SETTLED RECALLED RETURNING RETURNED")
			resume()
			s.run(t)
			var handed string
			if err := s.DB.NewRaw(`SELECT string_agg(kind || CASE WHEN message_id = ?2 THEN ' left' ELSE '' END, ', '
				ORDER BY id) FROM network_messages WHERE tenant = ?0 AND direction = 'OUT' AND payment = ?1
				AND kind IN ('pacs.004', 'camt.029')`, s.Tenant, uid, reference).
				Scan(t.Context(), &handed); err != nil {
				t.Fatal(err)
			}
			if handed != "camt.029, pacs.004 left" {
				t.Errorf("out: %s", handed)
			}
			s.Prove()
		})
	}
}

// What was noted as left, and has not settled as whoever noted it did not say so, or was stopped before it
// had, settles once it is noted again with the same reference.
func TestWhatIsNotedAsLeftMaySettleLater(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	came := s.play(t, rails.Fedwire, "250.00")
	early := s.send(t, s.order("1.00", byWire))
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	for _, work := range []func(context.Context) (int, error){s.Payments.SendQueued, s.Payments.HandOver} {
		if _, err := work(operator); err != nil {
			t.Fatal(err)
		}
	}
	sent := s.carried(t, early.UID).ID
	late := s.send(t, s.order("2.00", byWire))
	s.hold()
	if _, err := s.back(came, wholly(rails.Fedwire)); err != nil {
		t.Fatal(err)
	}
	one, two := s.group(rails.Fedwire, 7).ID, s.group(rails.Fedwire, 8).ID
	if err := errors.Join(s.left(t, late.UID, one, false), s.left(t, came, two, false)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of        payments.UID
		reference string
	}{
		"another reference":               {late.UID, s.group(rails.Fedwire, 9).ID},
		"what was sent before the backup": {early.UID, sent},
	} {
		if err := s.left(t, c.of, c.reference, true); !errors.Is(err, payments.ErrNothingLeft) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.lived(t, early.UID, "QUEUED SENT")
	for _, c := range []struct {
		of                 payments.UID
		reference, is, end string
	}{
		{late.UID, one, "QUEUED SENT", "QUEUED SENT SETTLED"},
		{came, two, "SETTLED RETURNING", "SETTLED RETURNING RETURNED"},
	} {
		s.lived(t, c.of, c.is)
		if err := s.left(t, c.of, c.reference, false); !errors.Is(err, payments.ErrNothingLeft) {
			t.Errorf("noted twice: %v", err)
		}
		if err := s.left(t, c.of, c.reference, true); err != nil {
			t.Error(err)
		}
		s.lived(t, c.of, c.end)
		if err := s.left(t, c.of, c.reference, true); !errors.Is(err, payments.ErrNothingLeft) {
			t.Errorf("settled twice: %v", err)
		}
	}
	s.Prove()
}

// What no account took goes back by itself, and has no payment. Came and gone before a restore, it comes
// again and waits again: noted by its number it does not go back twice.
func TestWhatGoesBackWithoutAPaymentIsNotedAsLeft(t *testing.T) {
	t.Parallel()
	for over, place := range map[rails.Rail]payments.LeavingPlace{
		rails.Fedwire: "messages", rails.ACH: "returned entries",
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			resume := s.hold()
			reference, amount := leftTrace, int64(25_00)
			if over == rails.Fedwire {
				reference, amount = s.group(over, 7).ID, 5_000_00
				s.deliver(t, over, s.credit(over, 1, func(m *iso20022.CreditTransfer) {
					m.Creditor.Account, m.Amount.Minor = "99999999", amount
				}))
			} else {
				s.debit(t, func(d *sandbox.Debit) { d.Number, d.Amount = "404521680718", "25.00" })
				s.until(t, "2026-11-18 14:00")
			}
			operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
			listed, err := s.Payments.ToLeave(operator, place, 0)
			if err != nil || len(listed) != 1 || listed[0].Amount().Minor != amount ||
				!strings.HasSuffix(listed[0].Reference, fmt.Sprint(", number ", listed[0].Number)) {
				t.Fatalf("%+v %v", listed, err)
			}
			note := func(number int64) error {
				l := payments.Left{Reference: reference, Reason: "the report of 3 May", Settled: true}
				if l.Return = number; over == rails.ACH {
					l.Return, l.Entry = 0, number
				}
				_, err := s.Payments.NoteLeft(operator, l)
				return err
			}
			if err := note(listed[0].Number + 1000); !errors.Is(err, payments.ErrNothingLeft) {
				t.Errorf("another number: %v", err)
			}
			if err := note(listed[0].Number); err != nil {
				t.Fatal(err)
			}
			if err := note(listed[0].Number); err == nil {
				t.Error("noted twice")
			}
			out := s.out(t)
			resume()
			for range 3 {
				s.Clock.Advance(2 * time.Minute)
				s.run(t)
			}
			if got := s.out(t); got != out || !strings.Contains(got, reference) ||
				strings.Contains(got, "waits") {
				t.Errorf("out: %s, before %s", got, out)
			}
			s.Prove()
		})
	}
}

// A return that comes before anybody has said what had left is of nothing. When its network sends it again,
// it is of the payment.
func TestAReturnThatCameBeforeItsPaymentWasNotedIsHeardAgain(t *testing.T) {
	t.Parallel()
	for over, edit := range map[rails.Rail]func(*payments.Order){rails.ACH: economy, rails.Fedwire: byWire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.send(t, s.order("250.00", edit)).UID
			resume := s.hold()
			s.until(t, "2026-11-18 14:00")
			s.until(t, "2026-11-20 09:00")
			reference := leftTrace
			var again func()
			if over == rails.ACH {
				file := s.joined(t, "FRB", s.credits(func(b *batchOf) {
					b.Amount.Minor = 250_00
					b.Return = &nacha.Return{Code: "R03", OriginalTrace: leftTrace, OriginalBank: theirs[:8]}
				}))
				again = func() { s.comes(t, file) }
			} else {
				reference = s.group(over, 7).ID
				back := &iso20022.Return{
					Group: s.group(over, 30), ReturnID: "R1", Amount: money.Of(250_00, "USD"), SettlementDate: s.Now(),
					Original: iso20022.Original{
						MessageID: reference, Type: iso20022.TypeCreditTransfer, CreatedAt: s.Now(), UETR: s.uetr(t, uid),
					},
					Reason: iso20022.Reason{Code: "AC03"}, Sender: theirs, Receiver: ours,
					Debtor: iso20022.Party{Name: "A"}, Creditor: iso20022.Party{Name: "B"},
				}
				again = func() { s.deliver(t, over, back) }
			}
			again()
			if told := s.untaken(t); len(told) != 1 {
				t.Errorf("people are told: %q", told)
			}
			if err := s.left(t, uid, reference, over != rails.ACH); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			again()
			again()
			resume()
			s.run(t)
			s.lived(t, uid, "QUEUED SENT SETTLED RETURNED")
			s.has(t, 100_000_00, 0)
			if told := s.untaken(t); len(told) != 1 {
				t.Errorf("people are told: %q", told)
			}
		})
	}
}

// A request of another bank that people decided on in the lost hour waits for them again: the list of what
// may have left has it. Approved anew, and noted as left, it is paid once.
func TestARequestThatWasPaidBeforeARestoreIsPaidOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.asks(t, rails.Fedwire)
	resume := s.hold()
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	listed, err := s.Payments.ToLeave(operator, "requests", 0)
	if err != nil || len(listed) != 1 || listed[0].Payment != uid || listed[0].Kind != "request to decide" ||
		listed[0].Amount().Minor != 25_00 {
		t.Fatalf("%+v %v", listed, err)
	}
	if err := s.approve(s.Checker(), uid); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	made := s.met(t, uid)
	if err := s.left(t, made.UID, s.group(rails.Fedwire, 7).ID, true); err != nil {
		t.Fatal(err)
	}
	resume()
	s.run(t)
	s.lived(t, made.UID, "QUEUED SENT SETTLED")
	if got := s.out(t); got != s.group(rails.Fedwire, 7).ID {
		t.Errorf("out: %s", got)
	}
	s.is(t, uid, positivepay.Approved, positivepay.NoRule)
	s.has(t, 99_975_00, 0)
	s.Prove()
}

// Only operators note what has left, only after a restore, and by a reference that is of nothing else.
func TestWhatIsNotNotedAsLeft(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	other := s.send(t, s.order("1.00", byWire))
	s.run(t)
	known := s.carried(t, other.UID).ID
	wire, entry := s.send(t, s.order("2.00", byWire)), s.send(t, s.order("3.00", economy))
	fits := s.group(rails.Fedwire, 7).ID
	if err := s.left(t, wire.UID, fits, false); !errors.Is(err, payments.ErrNotHeld) {
		t.Errorf("without a restore: %v", err)
	}
	s.hold()
	for name, c := range map[string]struct {
		of        payments.UID
		reference string
		want      error // nil: a fault of the reference
	}{
		"no reference":    {of: wire.UID, reference: " "},
		"that of another": {of: wire.UID, reference: known},
		"no message id":   {of: wire.UID, reference: "X1"},
		"no trace number": {of: entry.UID, reference: "X1"},
		"another payment": {of: 4711, reference: fits, want: payments.ErrNotFound},
		"one that is out": {of: other.UID, reference: fits, want: payments.ErrNothingLeft},
	} {
		err := s.left(t, c.of, c.reference, false)
		f, _ := fault.Of(err)
		if c.want != nil && !errors.Is(err, c.want) || c.want == nil && (f == nil || f.Field != "reference") {
			t.Errorf("%s: %v", name, err)
		}
	}
	byStaff := payments.Left{Payment: wire.UID, Reference: "X1", Reason: "r"}
	if _, err := s.Payments.NoteLeft(s.Staff(), byStaff); !errors.Is(err, access.ErrDenied) {
		t.Errorf("the staff: %v", err)
	}
	for _, uid := range []payments.UID{wire.UID, entry.UID} {
		if got := fmt.Sprint(s.life(t, uid)); got != "QUEUED" {
			t.Error(got)
		}
	}
}
