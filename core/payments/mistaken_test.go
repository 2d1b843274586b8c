package payments_test

import (
	"fmt"
	"strings"
	"testing"

	"bankgraph/core/coretest"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// told returns what people are told of messages of which nothing came, a line each.
func (s *sender) told(t *testing.T) string {
	t.Helper()
	all := s.untaken(t)
	for i := range all {
		_, all[i], _ = strings.Cut(all[i], ": ")
	}
	return strings.Join(all, "\n")
}

// A bank that uses the id of a message again has not sent that message again: what it sends is another
// credit, which is refused and seen, and never vanishes.
func TestACreditUnderAnIDThatWasUsedIsRefusedAndSeen(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			first := s.credit(over, 1)
			other := s.credit(over, 2, func(m *iso20022.CreditTransfer) { m.ID, m.Amount.Minor = first.ID, 777_00 })
			third := s.credit(over, 3, func(m *iso20022.CreditTransfer) { m.ID = first.ID })
			s.deliver(t, over, first, first)
			s.deliver(t, over, first)
			answers := strings.Count(s.sent(t), "pacs.")
			s.deliver(t, over, other, third, other)
			s.deliver(t, over, other, first, third)
			if got := s.refusedCredits(t); fmt.Sprint(got) != "[RJCT AM05 RJCT AM05]" {
				t.Errorf("refused: %q", got)
			}
			if got := strings.Count(s.sent(t), "pacs.") - answers; got != 2 {
				t.Errorf("%d answers to two credits, each of which came again", got)
			}
			// in another message, under an id that was used too: the first one once more
			again := s.credit(over, 1, func(m *iso20022.CreditTransfer) { m.ID = s.group(over, 4).ID })
			s.deliver(t, over, s.credit(over, 4), again)
			s.has(t, 100_050_00, 0)
			s.Prove()
		})
	}
}

// What identifies a payment is its UETR, or else the instruction that we gave. An answer that names the
// message of one payment and the ids of another is about neither: no money moves, and people are told.
func TestAnAnswerThatNamesTwoPaymentsChangesNeither(t *testing.T) {
	t.Parallel()
	for over, edit := range map[rails.Rail]func(*payments.Order){
		rails.FedNow: func(*payments.Order) {},
		rails.RTP:    overRTP,
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			namesTwo(t, over, edit)
		})
	}
}

func namesTwo(t *testing.T, over rails.Rail, edit func(*payments.Order)) {
	t.Helper()
	s := newSender(t)
	send := func(amount string) payments.Saved { return s.send(t, s.order(amount, instantly, edit)) }
	p, q := send("300.22"), send("200.22") // .22: no answer comes
	s.run(t)
	a, b := s.carried(t, p.UID), s.carried(t, q.UID)
	mixed := iso20022.Original{
		MessageID: a.ID, Type: a.Type(), CreatedAt: b.CreatedAt, InstructionID: b.InstructionID,
		EndToEndID: b.EndToEndID, TransactionID: b.TransactionID, UETR: b.UETR,
	}
	if over == rails.RTP {
		mixed.UETR = "" // it may leave that out
	}
	status := func(n int, code iso20022.Code, of iso20022.Original) *iso20022.Status {
		m := &iso20022.Status{
			Group: s.group(over, n), Original: of, Code: code, AcceptedAt: s.Now(), Sender: theirs, Receiver: ours,
		}
		if code == iso20022.Rejected {
			m.Reasons = []iso20022.Reason{{Code: "AC04"}}
		}
		return m
	}
	returned := &iso20022.Return{
		Group: s.group(over, 23), Original: mixed, OriginalAmount: b.Amount, OriginalDate: coretest.Start,
		Amount: b.Amount, SettlementDate: coretest.Start, Reason: iso20022.Reason{Code: "AC04"}, Sender: theirs,
		Receiver: ours, Debtor: iso20022.Party{Name: "A"}, Creditor: iso20022.Party{Name: "B"},
	}
	s.deliver(t, over, status(20, iso20022.Rejected, mixed), status(21, iso20022.AcceptedTechnical, mixed),
		returned)
	for _, one := range []payments.Saved{p, q} {
		if got := s.life(t, one.UID); got != "QUEUED SENT" {
			t.Errorf("payment %s: %s", one.UID, got)
		}
	}
	told, why := s.told(t), "it answers message "+a.ID+", and names another payment"
	if strings.Count(told, why) != 3 || !strings.Contains(told, "a return of 200.22 USD AC04: "+why) {
		t.Error(told)
	}
	// The right ones count; one id for two answers is no reason to lose one.
	mixed.MessageID = b.ID
	s.deliver(t, over, status(24, iso20022.AcceptedTechnical, mixed))
	right := iso20022.Original{
		MessageID: a.ID, Type: a.Type(), CreatedAt: a.CreatedAt, EndToEndID: "E",
		UETR: a.UETR,
	}
	s.deliver(t, over, status(24, iso20022.Rejected, right))
	if got := s.life(t, p.UID) + ", " + s.life(t, q.UID); got != "QUEUED SENT REJECTED, QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

// Money that comes back for nothing of ours, or for more than was paid, or once more, is with the bank:
// people are told of it, once for each message.
func TestMoneyThatComesBackForNothingIsTold(t *testing.T) {
	t.Parallel()
	for over, order := range map[rails.Rail]func(*payments.Order){
		rails.Fedwire: byWire,
		rails.FedNow:  instantly,
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("300.00", order))
			s.run(t)
			s.run(t)
			a := s.carried(t, p.UID)
			back := func(n int, of, uetr string, amount int64, by string) {
				t.Helper()
				m := &iso20022.Return{
					Group: s.group(over, n), Original: iso20022.Original{
						MessageID: of, Type: a.Type(), CreatedAt: a.CreatedAt, InstructionID: a.InstructionID,
						EndToEndID: a.EndToEndID, TransactionID: a.TransactionID, UETR: uetr,
					}, OriginalAmount: a.Amount, OriginalDate: coretest.Start, Amount: money.Of(amount, "USD"),
					SettlementDate: coretest.Start, Reason: iso20022.Reason{Code: "AC04"}, Sender: by, Receiver: ours,
					Debtor: iso20022.Party{Name: "A"}, Creditor: iso20022.Party{Name: "B"},
				}
				s.deliver(t, over, m, m)
				s.deliver(t, over, m)
			}
			none := payments.Profiles[over].MessageID(coretest.Start,
				payments.Profiles[over].Sender(ours), 777_777)
			back(40, none, "00000000-0000-4000-8000-000000009999", 1_00, theirs)
			back(41, a.ID, a.UETR, 400_00, theirs)
			back(42, a.ID, a.UETR, 2_00, "021000021")
			back(43, a.ID, a.UETR, 300_00, theirs)
			back(44, a.ID, a.UETR, 300_00, theirs)
			if got := s.life(t, p.UID); !strings.HasSuffix(got, "SENT SETTLED RETURNED") {
				t.Error(got)
			}
			want := []string{
				"a return of 1.00 USD AC04: it answers no message of ours",
				fmt.Sprintf("a return of 400.00 USD AC04: payment %s is SETTLED", p.UID),
				"a return of 2.00 USD AC04: it answers message " + a.ID + ", which went to another bank",
				fmt.Sprintf("a return of 300.00 USD AC04: payment %s is RETURNED", p.UID),
			}
			if told := s.told(t); told != strings.Join(want, "\n") {
				t.Errorf("people are told\n%s", told)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}
