package payments_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/coretest"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// moving are the networks over which money moves at once, with an order for each.
var moving = map[rails.Rail]func(*payments.Order){
	rails.FedNow: instantly, rails.Fedwire: byWire,
	rails.RTP: func(o *payments.Order) { instantly(o); overRTP(o) },
}

// A bank that gives one id to two parts of a return has given both back: each counts once.
func TestTwoPartsOfAReturnUnderOneIDBothCount(t *testing.T) {
	t.Parallel()
	for over, order := range moving {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("300.00", order))
			s.run(t)
			s.Clock.Advance(5 * time.Second)
			s.run(t)
			c := s.carried(t, p.UID)
			part := func(minor int64) *iso20022.Return {
				return &iso20022.Return{
					Group: s.group(over, 1), ReturnID: "R1", OriginalAmount: c.Amount, OriginalDate: coretest.Start,
					Original: iso20022.Original{
						MessageID: c.ID, Type: c.Type(), CreatedAt: c.CreatedAt, InstructionID: c.InstructionID,
						EndToEndID: c.EndToEndID, TransactionID: c.TransactionID, UETR: c.UETR,
					},
					Amount: money.Of(minor, "USD"), SettlementDate: coretest.Start, Reason: iso20022.Reason{Code: "CUST"},
					Sender: theirs, Receiver: ours, Debtor: iso20022.Party{Name: "Ada"},
					Creditor: iso20022.Party{Name: "Us"},
				}
			}
			s.deliver(t, over, part(100_00))
			s.deliver(t, over, part(150_00), part(150_00))
			s.deliver(t, over, part(50_00), part(100_00))
			for range 2 {
				s.deliver(t, over, part(150_00), part(50_00))
			}
			s.has(t, 100_000_00, 0)
			if got := s.told(t); got != "" {
				t.Errorf("people are told: %s", got)
			}
			s.Prove()
		})
	}
}

// recalls is another bank's request for the money of its credit, in the message n.
func (s *sender) recalls(
	over rails.Rail, n int, name string, c *iso20022.CreditTransfer,
) *iso20022.Recall {
	return &iso20022.Recall{
		Group: s.group(over, n), CaseID: name, OriginalAmount: c.Amount, OriginalDate: c.SettlementDate,
		Original: ofCredit(c), Reason: iso20022.Reason{Code: "FRAD"}, Sender: theirs, Receiver: ours,
	}
}

// ofCredit names a credit as a message about it does.
func ofCredit(c *iso20022.CreditTransfer) iso20022.Original {
	return iso20022.Original{
		MessageID: c.ID, Type: c.Type(), CreatedAt: c.CreatedAt, InstructionID: c.InstructionID,
		EndToEndID: c.EndToEndID, TransactionID: c.TransactionID, UETR: c.UETR,
	}
}

// Two requests for the money of two credits are two, whatever their bank calls them.
func TestTwoRecallsUnderOneIDAreBothHeard(t *testing.T) {
	t.Parallel()
	for over := range moving {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			var of []payments.UID
			recalls := []iso20022.Message{}
			for i, name := range []string{"CASE-1", "CASE-2"} {
				c := s.credit(over, i+1)
				s.deliver(t, over, c)
				of = append(of, s.newest(t))
				recalls = append(recalls, s.recalls(over, 30, name, c))
			}
			s.deliver(t, over, recalls...)
			s.deliver(t, over, recalls...)
			for _, uid := range of {
				s.lived(t, uid, "SETTLED RECALLED")
			}
		})
	}
}

// Where a recall names no UETR, its other ids must be those that its bank gave the credit. It may leave some
// out.
func TestARecallUnderIDsThatAreNotTheCreditsIsOfNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit func(*iso20022.Original)
		own  bool
	}{
		"transaction id": {edit: func(o *iso20022.Original) { o.TransactionID = "T-OTHER" }},
		"instruction id": {edit: func(o *iso20022.Original) { o.InstructionID = "I-OTHER" }},
		"end-to-end id":  {edit: func(o *iso20022.Original) { o.EndToEndID = "E-OTHER" }},
		"all its own":    {func(*iso20022.Original) {}, true},
		"some":           {func(o *iso20022.Original) { o.InstructionID, o.TransactionID = "", "" }, true},
	} {
		for _, together := range []bool{true, false} {
			t.Run(fmt.Sprint(name, " ", together), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				credit := s.credit(rails.RTP, 1)
				recall := s.recalls(rails.RTP, 30, "CASE-1", credit)
				recall.Original.UETR = ""
				c.edit(&recall.Original)
				if together {
					s.deliver(t, rails.RTP, credit, recall)
				} else {
					s.deliver(t, rails.RTP, credit)
					s.deliver(t, rails.RTP, recall)
				}
				life, told := "SETTLED", ", camt.029 RJCR NOOR"
				if c.own {
					life, told = "SETTLED RECALLED", ""
				}
				s.lived(t, s.newest(t), life)
				if got := s.sent(t); got != "pacs.002 ACTC"+told {
					t.Errorf("sent %q", got)
				}
			})
		}
	}
}

// Of money that comes back for nothing of ours people hear as often as it comes.
func TestTwoReturnsOfNothingUnderOneIDAreBothTold(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	over := rails.Fedwire
	back := func(minor int64, uetr string) *iso20022.Return {
		return &iso20022.Return{
			Group: s.group(over, 1), ReturnID: "R1", Amount: money.Of(minor, "USD"), SettlementDate: s.Now(),
			Original: iso20022.Original{
				MessageID: s.group(over, 99).ID, Type: iso20022.TypeCreditTransfer, CreatedAt: s.Now(), UETR: uetr,
			},
			Reason: iso20022.Reason{Code: "CUST"}, Sender: theirs, Receiver: ours,
			Debtor: iso20022.Party{Name: "Ada"}, Creditor: iso20022.Party{Name: "Us"},
		}
	}
	one, other := "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002"
	s.deliver(t, over, back(100_00, one), back(777_00, other))
	s.deliver(t, over, back(777_00, one), back(777_00, other), back(100_00, one))
	if got := s.told(t); strings.Count(got, "777.00") != 2 || strings.Count(got, "100.00") != 1 {
		t.Error(got)
	}
}

// What the network refuses of ours beside payments and returns moves nothing, and people are told: a credit
// that was accepted has not come, a recall was never asked, and may be asked again.
func TestARefusedAnswerOrRecallIsTold(t *testing.T) {
	t.Parallel()
	for over, order := range moving {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			if over != rails.Fedwire { // over which credits are not answered
				came := s.play(t, over, "250.00")
				s.says(t, over, 50, iso20022.Rejected, s.last(t, came, "pacs.002"))
				if got := s.told(t); !strings.HasSuffix(got, ", of payment "+came.String()) {
					t.Errorf("of the acceptance: %q", got)
				}
			}
			sent := s.send(t, s.order("10.33", order)).UID // a recall of it is never answered
			s.run(t)
			s.Clock.Advance(5 * time.Second)
			s.run(t)
			if _, err := s.reverse(sent, payments.Reversal{Code: "FRAD"}); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.says(t, over, 51, iso20022.Rejected, s.last(t, sent, "camt.056"))
			if got := s.told(t); !strings.Contains(got, "it refuses our recall, of payment "+sent.String()) {
				t.Errorf("of the recall: %q", got)
			}
			s.lived(t, sent, "QUEUED SENT SETTLED RECALLING SETTLED")
			if p := s.shows(t, sent); p.Failure() == "" || p.Failure() != p.Reason {
				t.Errorf("the payment says %q of it, want %q", p.Failure(), p.Reason)
			}
			if _, err := s.reverse(sent, payments.Reversal{Code: "FRAD"}); err != nil {
				t.Errorf("asked again: %v", err)
			}
			s.says(t, over, 52, iso20022.Rejected, s.last(t, sent, "camt.056"))
			s.lived(t, sent, "QUEUED SENT SETTLED RECALLING SETTLED RECALLING SETTLED")
		})
	}
}
