package payments_test

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

// last identifies the last message of ours of a kind that a payment has.
func (s *sender) last(t *testing.T, uid payments.UID, kind string) (is iso20022.Original) {
	t.Helper()
	if err := s.DB.NewRaw(`SELECT message_id FROM network_messages WHERE tenant = ? AND direction = 'OUT'
		AND kind = ? AND payment = ? ORDER BY id DESC LIMIT 1`, s.Tenant, kind, uid).
		Scan(t.Context(), &is.MessageID); err != nil {
		t.Fatal(err)
	}
	is.CreatedAt, is.UETR = s.Now(), s.uetr(t, uid)
	is.Type = map[string]string{
		"pacs.008": iso20022.TypeCreditTransfer, "pacs.004": iso20022.TypeReturn, "camt.056": iso20022.TypeRecall,
		"pacs.002": iso20022.TypeStatus,
	}[kind]
	return is
}

// says lets the operator of a network say something of a message of ours, in its nth message.
func (s *sender) says(t *testing.T, over rails.Rail, n int, code iso20022.Code, of iso20022.Original) {
	t.Helper()
	status := &iso20022.Status{
		Group: s.group(over, n), Code: code, Original: of, Sender: payments.Profiles[over].Operator, Receiver: ours,
	}
	if code == iso20022.Rejected {
		status.Reasons = []iso20022.Reason{{Code: "AC04"}}
		if over == rails.Fedwire {
			status.Reasons = []iso20022.Reason{{Code: "E433", Proprietary: true, Text: []string{"refused"}}}
		}
	}
	s.deliver(t, over, status)
}

// hears lets answers come.
func (s *sender) hears(t *testing.T) {
	t.Helper()
	for range 3 {
		s.run(t)
		s.Clock.Advance(3 * time.Second)
	}
}

// What a network says of a return that it has refused, again or otherwise, says nothing of the next one: the
// money goes where that one goes, and people are told.
func TestAnAnswerToAnEarlierReturnMovesNothing(t *testing.T) {
	t.Parallel()
	// a wire goes back in full, and so as the first time
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP} {
		for code, c := range map[iso20022.Code]struct {
			next, life string // the next return, which the network takes or refuses by its cents
			has        int64
		}{
			iso20022.Rejected: {"250.00", "SETTLED RETURNING SETTLED RETURNING RETURNED", 100_000_00},
			iso20022.Settled:  {"100.34", "SETTLED RETURNING SETTLED RETURNING SETTLED", 100_250_00},
		} {
			t.Run(string(over)+" "+string(code), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				uid := s.play(t, over, "250.00")
				giveBack := func(amount string) {
					back := wholly(over)
					if amount != "250.00" {
						back.Type, back.Amount = "PECR", amount
					}
					if _, err := s.back(uid, back); err != nil {
						t.Fatal(err)
					}
				}
				giveBack("40.34") // which is refused
				s.hears(t)
				first := s.last(t, uid, "pacs.004")
				giveBack(c.next)
				s.says(t, over, 52, code, first)
				s.hears(t)
				s.lived(t, uid, c.life)
				s.has(t, c.has, 0)
				if got := s.told(t); !strings.Contains(got, "an earlier return of payment "+uid.String()) {
					t.Errorf("told %q", got)
				}
			})
		}
	}
}

func TestARefusalOfAnEarlierRecallLeavesTheLaterOne(t *testing.T) {
	t.Parallel()
	for over, order := range moving {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			sent := s.send(t, s.order("10.33", order)).UID // a recall of it is never answered
			s.run(t)
			s.Clock.Advance(5 * time.Second)
			s.run(t)
			recall := func() {
				if _, err := s.reverse(sent, payments.Reversal{Code: "FRAD"}); err != nil {
					t.Fatal(err)
				}
				s.run(t)
			}
			recall()
			first := s.last(t, sent, "camt.056")
			s.says(t, over, 51, iso20022.Rejected, first)
			recall()
			s.says(t, over, 52, iso20022.Rejected, first)
			s.lived(t, sent, "QUEUED SENT SETTLED RECALLING SETTLED RECALLING")
		})
	}
}

// The bank that was asked may answer a recall that its network had refused all the same.
func TestTheAnswerToAnEarlierRecallLeavesTheLaterOne(t *testing.T) {
	t.Parallel()
	for over, order := range moving {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			sent := s.send(t, s.order("10.33", order)).UID // a recall of it is never answered
			s.hears(t)
			recall := func() iso20022.Original {
				if _, err := s.reverse(sent, payments.Reversal{Code: "FRAD"}); err != nil {
					t.Fatal(err)
				}
				s.run(t)
				return s.last(t, sent, "camt.056")
			}
			first := recall()
			s.says(t, over, 51, iso20022.Rejected, first)
			second := recall()
			answer := func(of iso20022.Original) {
				s.deliver(t, over, &iso20022.RecallAnswer{
					Group: s.group(over, 60), CaseID: of.MessageID, Code: iso20022.RecallRefused,
					CaseCreator: iso20022.Agent{Routing: ours}, Original: ofCredit(s.carried(t, sent)),
					Reasons: []iso20022.Reason{{Code: "CUST"}}, Sender: theirs, Receiver: ours,
				})
			}
			answer(first)
			s.lived(t, sent, "QUEUED SENT SETTLED RECALLING SETTLED RECALLING")
			if got := s.told(t); !strings.Contains(got, "an earlier recall of payment "+sent.String()) {
				t.Errorf("told %q", got)
			}
			answer(second) // under the id of the first answer
			s.lived(t, sent, "QUEUED SENT SETTLED RECALLING SETTLED RECALLING REVERSAL_REJECTED")
			s.Prove()
		})
	}
}

// Where a network says that it has paid what it has refused before, the money may be gone.
func TestPeopleHearThatWhatWasRefusedHasBeenPaid(t *testing.T) {
	t.Parallel()
	for over, order := range moving {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			sent := s.send(t, s.order("10.01", order)).UID // which is refused
			s.hears(t)
			s.says(t, over, 53, iso20022.Settled, s.last(t, sent, "pacs.008"))
			if p, got := s.shows(t, sent), s.told(t); p.State != payments.Rejected ||
				!strings.Contains(got, "payment "+sent.String()+" is REJECTED") {
				t.Errorf("%s, and people are told %q", p.State, got)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}
