package payments_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
)

// wholly gives back all of a payment, in the words of its network.
func wholly(over rails.Rail) payments.Return {
	if over == rails.RTP {
		return payments.Return{Type: "IPAY"}
	}
	return payments.Return{Code: "CUST", Notes: "Not ours"}
}

func (s *sender) back(uid payments.UID, d payments.Return) (changes.Outcome[payments.Saved], error) {
	return s.Payments.Return(s.Staff(), uid, d, changes.RequestOptions{})
}

func (s *sender) reverse(uid payments.UID, d payments.Reversal) (changes.Outcome[payments.Saved], error) {
	return s.Payments.Reverse(s.Staff(), uid, d, changes.RequestOptions{})
}

func (s *sender) asksBack(t *testing.T, uid payments.UID) {
	t.Helper()
	if _, err := s.Sandbox.PlayRecall(s.Staff(), uid, sandbox.Recall{Notes: "Paid twice"},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
}

func TestAPaymentThatCameInIsGivenBack(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, over, "250.00")
			before := s.sent(t)
			out, err := s.back(uid, wholly(over))
			if err != nil || out.Result.Status != payments.StatusReturnInitiated {
				t.Fatal(out, err)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
			s.run(t)
			s.run(t)
			if life := s.life(t, uid); life != "SETTLED RETURNING RETURNED" {
				t.Error(life)
			}
			if got := strings.TrimPrefix(strings.TrimPrefix(s.sent(t), before), ", "); got != "pacs.004 250.00 CUST" {
				t.Error(got)
			}
			p, err := s.Payments.Show(s.Staff(), uid)
			if err != nil || p.Status() != payments.StatusReturned || p.Returned() == nil ||
				p.Returned().String() != "250.00" ||
				!strings.HasPrefix(p.Reason, "CUST: ") || p.MemoPost() != payments.ReturnInitiated {
				t.Errorf("%+v %v", p, err)
			}
			var overErr *fault.Fault
			if _, err := s.back(uid, wholly(over)); !errors.As(err, &overErr) ||
				!payments.ErrNotProcessed.Is(overErr) {
				t.Error("given back twice:", err)
			}
			s.Prove()
		})
	}
}

// The other bank closes each of its cases by the answer to it, so each request for a credit gets one, and
// only one.
func TestEachRequestForTheMoneyGetsItsAnswer(t *testing.T) {
	t.Parallel()
	for over, code := range map[rails.Rail]string{
		rails.FedNow: "CUST", rails.RTP: "FOCR",
		rails.Fedwire: "CUST",
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, over, "250.00")
			told := func(d payments.Return, want string) {
				t.Helper()
				before := s.sent(t)
				if _, err := s.back(uid, d); err != nil {
					t.Fatal(err)
				}
				if got := strings.TrimPrefix(s.sent(t), before); strings.TrimPrefix(got, ", ") != want {
					t.Errorf("%q, want %q", got, want)
				}
			}
			s.asksBack(t, uid)
			s.asksBack(t, uid)
			told(payments.Return{Type: "RJCR", Reject: "CUST"}, "camt.029 RJCR CUST, camt.029 RJCR CUST")
			s.asksBack(t, uid)
			s.asksBack(t, uid)
			s.asksBack(t, uid)
			told(wholly(over), "camt.029 IPAY, camt.029 IPAY, camt.029 IPAY, pacs.004 250.00 "+code)
			s.run(t)
			before := s.sent(t)
			s.asksBack(t, uid)
			if got := strings.TrimPrefix(s.sent(t), before); got != ", camt.029 RJCR ARDT" {
				t.Error(got)
			}
			s.Prove()
		})
	}
}

func TestAPartIsGivenBackOverInstantNetworks(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.RTP, "250.00")
	for amount, field := range map[string]string{
		"": "settlementAmount", "250.00": "settlementAmount", "0": "settlementAmount", "300": "settlementAmount",
		"1.001": "settlementAmount", "x": "settlementAmount",
	} {
		_, err := s.back(uid, payments.Return{Type: "PECR", Amount: amount})
		if f, is := fault.Of(err); !is || f.Field != field || f.Kind != fault.Invalid {
			t.Errorf("%q: %v", amount, err)
		}
	}
	if _, err := s.back(uid, payments.Return{Type: "PECR", Amount: "100.10"}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_149_90, 0)
	s.Prove()
	s.run(t)
	s.run(t)
	if p, err := s.Payments.Show(s.Staff(), uid); err != nil || p.State != payments.Returned ||
		p.ReturnedMinor != 100_10 {
		t.Error(p, err)
	}
	s.Prove()
}

// Whoever names no reason reads those of each network, each once.
func TestAWrongReasonOfAReturnIsAnsweredByNetwork(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	_, err := s.back(s.play(t, rails.Fedwire, "5"), payments.Return{Code: "ZZZZ", Notes: "x"})
	f, is := fault.Of(err)
	if !is || f.Field != "returnCode" {
		t.Fatal(err)
	}
	ofNetworks, ofACH, _ := strings.Cut(f.Message, "over ACH")
	for _, code := range slices.Concat(payments.DebitReturnCodes, payments.CreditReturnCodes) {
		if strings.Contains(ofNetworks, " "+code) || !strings.Contains(ofACH, " "+code) {
			t.Errorf("%s is not told as a reason of ACH: %s", code, f.Message)
		}
	}
	for part := range strings.SplitSeq(f.Message, ";") {
		words := strings.FieldsFunc(part, func(r rune) bool { return r == ' ' || r == ',' })
		for i, word := range words {
			if len(word) <= 4 && word == strings.ToUpper(word) && slices.Contains(words[:i], word) {
				t.Errorf("%s is told twice: %s", word, part)
			}
		}
	}
}

// What a request must say depends on the network.
func TestAReturnSaysWhatItsNetworkNeeds(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	wire, rtp, now := s.play(t, rails.Fedwire, "5"), s.play(t, rails.RTP, "6"), s.play(t, rails.FedNow, "7")
	for _, c := range []struct {
		uid   payments.UID
		d     payments.Return
		field string
	}{
		{wire, payments.Return{Notes: "no code"}, "returnCode"},
		{wire, payments.Return{Code: "CUST"}, "returnNotes"},
		{wire, payments.Return{Code: "CUST", Notes: "x", Type: "PECR", Amount: "1"}, "returnType"},
		{wire, payments.Return{Code: "ZZZZ", Notes: "x"}, "returnCode"},
		{rtp, payments.Return{Code: "CUST"}, "returnType"},
		{rtp, payments.Return{Type: "NONE"}, "returnType"},
		// nobody has asked for it
		{wire, payments.Return{Code: "FOCR", Notes: "x"}, "returnCode"},
		{rtp, payments.Return{Type: "IPAY", Code: "FOCR"}, "returnCode"},
		{now, payments.Return{Code: "FOCR"}, "returnCode"},
		{rtp, payments.Return{Type: "RJCR"}, "rejectReasonCode"},
		{now, payments.Return{}, "returnCode"},
		// part of an amount is never taken for all of it
		{now, payments.Return{Code: "CUST", Amount: "3"}, "settlementAmount"},
		{now, payments.Return{Code: "CUST", Type: "IPAY", Amount: "6.99"}, "settlementAmount"},
		{wire, payments.Return{Code: "CUST", Notes: "x", Amount: "1"}, "settlementAmount"},
		{rtp, payments.Return{Type: "RJCR", Reject: "CUST", Amount: "3"}, "settlementAmount"},
		{now, payments.Return{Code: "CUST", Reject: "LEGL"}, "rejectReasonCode"},
		{now, payments.Return{Type: "RJCR", Reject: "CUST", Code: "AC03"}, "returnCode"},
		{rtp, payments.Return{Type: "RJCR", Reject: "CUST", Code: "AC03"}, "returnCode"},
		{wire, payments.Return{Type: "RJCR", Reject: "CUST", Code: "AC03", Notes: "x"}, "returnCode"},
		{now, payments.Return{Code: "CUST", Notes: "caf\u00e9"}, "returnNotes"},
		{now, payments.Return{Code: "CUST", Notes: strings.Repeat("x", 211)}, "returnNotes"},
	} {
		_, err := s.back(c.uid, c.d)
		if f, is := fault.Of(err); !is || f.Field != c.field || f.Kind != fault.Invalid {
			t.Errorf("%+v: %v, want one of %s", c.d, err, c.field)
		}
	}
	for _, c := range []struct {
		uid  payments.UID
		d    payments.Return
		want *fault.Fault
	}{
		{rtp, payments.Return{Type: "RJCR", Reject: "CUST"}, payments.ErrNotRecalled},
		{4711, wholly(rails.FedNow), payments.ErrNotFound},
	} {
		if _, err := s.back(c.uid, c.d); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v, want %v", c.d, err, c.want)
		}
	}
	s.Prove()
}

// Money that is gone, or stands still, is not given back.
func TestMoneyThatIsNotThereIsNotGivenBack(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.FedNow, "50000")
	s.send(t, s.order("120000", byWire))
	if _, err := s.back(uid, wholly(rails.FedNow)); !errors.Is(err, ledger.ErrUncovered) {
		t.Error("what is held was given back:", err)
	}
	s.Exec(`UPDATE customers SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	if _, err := s.back(uid, wholly(rails.FedNow)); !errors.Is(err, customers.ErrInactive) {
		t.Error("of who is suspended:", err)
	}
	s.has(t, 150_000_00, 120_000_00)
	s.Prove()
}

func TestAnotherBankAsksForItsMoneyBack(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer     payments.Return
		life, told string
		has        int64
	}{
		"and gets it": {
			payments.Return{Type: "IPAY"},
			"SETTLED RECALLED RETURNING RETURNED",
			"camt.029 IPAY, pacs.004 40.00 FOCR", 100_000_00,
		},
		"and gets a part": {
			payments.Return{Type: "PECR", Amount: "15"},
			"SETTLED RECALLED RETURNING RETURNED",
			"camt.029 PECR, pacs.004 15.00 FOCR", 100_025_00,
		},
		"and gets nothing": {
			payments.Return{Type: "RJCR", Reject: "CUST", Notes: "We keep it"},
			"SETTLED RECALLED SETTLED", "camt.029 RJCR CUST",
			100_040_00,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, rails.RTP, "40.00")
			s.asksBack(t, uid)
			p, err := s.Payments.Show(s.Staff(), uid)
			if err != nil || p.Status() != payments.StatusProcessed ||
				p.ReturnStatus() != payments.RequestReceived ||
				p.Reason != "DUPL: Paid twice" {
				t.Errorf("%+v %v", p, err)
			}
			s.has(t, 100_040_00, 0)
			s.Prove()
			if _, err := s.back(uid, c.answer); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.run(t)
			if got := s.life(t, uid); got != c.life {
				t.Error(got)
			}
			if got := strings.TrimPrefix(s.sent(t), "pacs.002 ACTC, "); got != c.told {
				t.Error(got)
			}
			s.has(t, c.has, 0)
			if c.life == "SETTLED RECALLED SETTLED" { // it may ask again, and what it asked for may go back
				s.asksBack(t, uid)
				if got := s.life(t, uid); got != c.life+" RECALLED" {
					t.Error(got)
				}
				for _, d := range []payments.Return{c.answer, {Type: "IPAY", Code: "FOCR"}} {
					if _, err := s.back(uid, d); err != nil {
						t.Errorf("%+v: %v", d, err)
					}
				}
			} else { // too late
				s.asksBack(t, uid)
				if got := s.sent(t); !strings.HasSuffix(got, "camt.029 RJCR ARDT") {
					t.Error(got)
				}
			}
			s.Prove()
		})
	}
}

// Only the bank that sent the money may ask for it.
func TestAStrangerAsksInVain(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.FedNow, "40.00")
	s.Exec(`UPDATE network_messages SET bank = '021000021' WHERE tenant = ?`, s.Tenant)
	s.asksBack(t, uid)
	if got, life := s.sent(t), s.life(t, uid); got != "pacs.002 ACTC, camt.029 RJCR NOOR" ||
		life != "SETTLED" {
		t.Error(got, life)
	}
}

// A return that overtakes the settlement settles the payment first; what cannot be its return does not.
func TestAReturnBeforeTheSettlementMustFitThePayment(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10.22")) // which the network never answers
	s.run(t)
	b := s.Batch()
	messages := s.Payments.MessagesOf(s.Staff(), b, []payments.UID{p.UID}, 50)
	if err := b.Send(t.Context()); err != nil {
		t.Fatal(err)
	}
	returns := func(number int, amount int64) {
		t.Helper()
		s.deliver(t, rails.FedNow, &iso20022.Return{
			Group: s.group(rails.FedNow, number), Amount: money.Of(amount, "USD"), SettlementDate: coretest.Start,
			Original: iso20022.Original{
				MessageID: messages.Of[p.UID][0].MessageID, Type: iso20022.TypeCreditTransfer, CreatedAt: s.Now(),
				EndToEndID: "E", TransactionID: p.UID.String(), UETR: s.uetr(t, p.UID),
			},
			Reason: iso20022.Reason{Code: "AC04"}, Sender: theirs, Receiver: ours, Debtor: iso20022.Party{Name: "A"},
			Creditor: iso20022.Party{Name: "B"},
		})
	}
	returns(31, 10_23)
	if got := s.life(t, p.UID); got != "QUEUED SENT" {
		t.Errorf("more than was paid came back: %s", got)
	}
	returns(32, 10_22)
	if got := s.life(t, p.UID); got != "QUEUED SENT SETTLED RETURNED" {
		t.Error(got)
	}
	s.has(t, 100_000_00, 0)
	s.Prove()
}

// Another bank that asked for its money, and was told that it comes, still waits for it where the network
// refuses the return: people see the payment again, and send it once more or say that none comes.
func TestAPromisedReturnThatTheNetworkRefusesWaitsForPeople(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]payments.Return{
		"once more": wholly(rails.FedNow), "none comes": {Type: "RJCR", Reject: "CUST"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			uid := s.play(t, rails.FedNow, "40.34") // whose return the network refuses
			s.asksBack(t, uid)
			promise := wholly(rails.FedNow)
			if _, err := s.back(uid, promise); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.run(t)
			if life := s.life(t, uid); life != "SETTLED RECALLED RETURNING RECALLED" {
				t.Fatal(life)
			}
			if why := s.shows(t, uid).Failure(); !strings.HasPrefix(why, "AC04: ") {
				t.Errorf("fails for %q", why)
			}
			s.has(t, 100_040_34, 0)
			if _, err := s.back(uid, end); err != nil {
				t.Fatal(err)
			}
			want := "SETTLED RECALLED RETURNING RECALLED RETURNING"
			if end.Reject != "" {
				want = "SETTLED RECALLED RETURNING RECALLED SETTLED"
			}
			if life := s.life(t, uid); life != want {
				t.Error(life)
			}
			if why := s.shows(t, uid).Failure(); why != "" {
				t.Errorf("fails for %q", why)
			}
			s.Prove()
		})
	}
}

func TestANetworkThatRefusesAReturnLeavesTheMoneyWhereItWas(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	uid := s.play(t, rails.FedNow, "40.34")
	if _, err := s.back(uid, wholly(rails.FedNow)); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.run(t)
	if life := s.life(t, uid); life != "SETTLED RETURNING SETTLED" {
		t.Error(life)
	}
	if why := s.shows(t, uid).Failure(); !strings.HasPrefix(why, "AC04: ") { // and says so
		t.Errorf("fails for %q", why)
	}
	s.has(t, 100_040_34, 0)
	s.Prove()
}

func TestTheBankThatWasPaidIsAskedForTheMoney(t *testing.T) {
	t.Parallel()
	for amount, c := range map[string]struct {
		life   string
		status payments.ReturnStatus
		has    int64
	}{
		"10.00": {"QUEUED SENT SETTLED RECALLING REVERSAL_ACCEPTED", "REVERSAL_ACCEPTED", 100_000_00},
		"10.31": {"QUEUED SENT SETTLED RECALLING REVERSAL_REJECTED", "REVERSAL_REJECTED", 99_989_69},
		"10.32": {
			"QUEUED SENT SETTLED RECALLING REVERSAL_PARTIALLY_ACCEPTED",
			"REVERSAL_PARTIALLY_ACCEPTED", 99_994_84,
		},
		"10.33": {"QUEUED SENT SETTLED RECALLING", "RETURN_REQUEST_SENT", 99_989_67},
	} {
		for _, speed := range []payments.Speed{payments.Instant, payments.Express} {
			t.Run(amount+" "+string(speed), func(t *testing.T) {
				t.Parallel()
				s := newSender(t)
				uid := s.send(t, s.order(amount, func(o *payments.Order) { o.Speed = string(speed) })).UID
				s.run(t)
				out, err := s.reverse(uid, payments.Reversal{Code: "DUPL"})
				if err != nil || out.Result.Status != payments.StatusProcessed {
					t.Fatal(out, err)
				}
				if _, err := s.reverse(uid, payments.Reversal{Code: "DUPL"}); !errors.Is(err, payments.ErrNotProcessed) ||
					!strings.Contains(err.Error(), "RETURN_REQUEST_SENT") {
					t.Error("asked twice:", err)
				}
				s.Prove()
				s.run(t)
				s.Clock.Advance(2 * time.Second)
				s.run(t)
				p, err := s.Payments.Show(s.Staff(), uid)
				if got := s.life(t, uid); got != c.life || err != nil || p.ReturnStatus() != c.status {
					t.Error(got, p.ReturnStatus(), err)
				}
				s.has(t, c.has, 0)
				s.Prove()
			})
		}
	}
}

func TestABookTransferIsUndoneByWhoMayActForBothSides(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, other := b.DownstreamPartner(), b.DownstreamPartner()
	from := b.Account(b.Customer(coretest.OwnedBy(partner)), coretest.Holding(100_00, 0))
	to := b.Account(b.Customer(coretest.OwnedBy(other)), coretest.Holding(0, 0))
	made, err := b.Payments.Transfer(b.Staff(), payments.Draft{
		Sender: payments.Party{UID: from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "60",
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid := made.Result.UID
	if _, err := b.Payments.Reverse(b.Partner(partner), uid, payments.Reversal{},
		changes.RequestOptions{}); !errors.Is(err, payments.ErrAccount) {
		t.Error("undone by who pays alone:", err)
	}
	if _, err := b.Payments.Reverse(b.Partner(other), uid, payments.Reversal{},
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNotFound) {
		t.Error("undone by who is paid:", err)
	}
	out, err := b.Payments.Reverse(b.Staff(), uid, payments.Reversal{Notes: "Wrong customer"},
		changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusReversalAccepted {
		t.Fatal(out, err)
	}
	(&pair{b, from, to}).has(t, 100_00, 0)
	b.Prove()
	if _, err := b.Payments.Reverse(b.Staff(), uid, payments.Reversal{},
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNotProcessed) {
		t.Error("undone twice:", err)
	}
}

// A return asks as many people as a payment of its amount would.
func TestAReturnWaitsForAsManyPeopleAsAPayment(t *testing.T) {
	t.Parallel()
	for amount, people := range map[string]int{"20.00": 1, "20.01": 2} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, func(c *customers.Customer) {
				c.Access.PaymentDualApproval = true
				c.Access.NumberOfApprovers, c.Access.FirstApproverLimit = 2, 20_00
			})
			uid := s.play(t, rails.FedNow, amount)
			out, err := s.Payments.Return(s.Someone("maker"), uid, wholly(rails.FedNow), changes.RequestOptions{})
			if err != nil || out.Approval == 0 || out.Result.Status != payments.StatusProcessed {
				t.Fatal(out, err)
			}
			if _, err := s.back(uid, wholly(rails.FedNow)); !errors.Is(err, changes.ErrWaiting) {
				t.Error("a second return:", err)
			}
			if _, err := s.Changes.Approve(s.Someone("maker"), changes.UID(out.Approval),
				changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
				t.Error("approved by the maker:", err)
			}
			for n := range people {
				if life := s.life(t, uid); life != "SETTLED" {
					t.Error(life)
				}
				s.Prove()
				if _, err := s.Changes.Approve(s.Someone(fmt.Sprint("checker ", n)), changes.UID(out.Approval),
					changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s.has(t, 100_000_00, 0)
			s.run(t)
			s.run(t)
			if life := s.life(t, uid); life != "SETTLED RETURNING RETURNED" {
				t.Error(life)
			}
			s.Prove()
		})
	}
}

// Of a part that goes back the part counts, for the first of two people as for the second.
func TestWhoAgreesToAPartApprovesThatPart(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) {
		c.Access.PaymentDualApproval, c.Access.NumberOfApprovers = true, 2
	})
	uid := s.play(t, rails.FedNow, "20.00")
	part := payments.Return{Type: "PECR", Code: "CUST", Amount: "3.00"}
	out, err := s.Payments.Return(s.Someone("maker"), uid, part, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []struct {
		login   string
		most    int64
		refused bool
	}{{"one", 2_99, true}, {"two", 3_00, false}, {"three", 2_99, true}, {"four", 3_00, false}} {
		_, err := s.Changes.Approve(bounded(t, s.Bank, who.login, access.Limit{
			Name: "Daily_Payment_Approve_Limits", Minor: who.most,
		}), changes.UID(out.Approval), changes.RequestOptions{})
		if refused := errors.Is(err, payments.ErrApproveLimit); refused != who.refused ||
			!refused && err != nil {
			t.Errorf("%s: %v", who.login, err)
		}
	}
	s.has(t, 100_017_00, 0)
}

func TestAReturnThatIsRefusedLeavesThePayment(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	uid := s.play(t, rails.FedNow, "20")
	out, err := s.Payments.Return(s.Someone("maker"), uid, wholly(rails.FedNow), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes.Refuse(s.Checker(), changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_020_00, 0)
	s.Prove()
}

// In every state of a payment, each way, what may be done with it is done and nothing else.
func TestEachStateLetsOnlyItsStepsHappen(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	in, out := s.play(t, rails.FedNow, "20"), s.send(t, s.order("10")).UID
	s.run(t)
	for _, state := range payments.States {
		for _, c := range []struct {
			name string
			uid  payments.UID
			do   func(context.Context, payments.UID) error
			from []payments.State
			want *fault.Fault
		}{
			{
				"return in", in, s.doReturn,
				[]payments.State{payments.Settled, payments.Recalled},
				payments.ErrNotProcessed,
			},
			{"refuse in", in, s.doRefuse, []payments.State{payments.Recalled}, payments.ErrNotRecalled},
			{"reverse in", in, s.doReverse, nil, payments.ErrNotOutgoing},
			{"return out", out, s.doReturn, nil, payments.ErrNotIncoming},
			{"reverse out", out, s.doReverse, []payments.State{payments.Settled}, payments.ErrNotProcessed},
			{"cancel out", out, s.doCancel, []payments.State{
				payments.Repair, payments.PendingApproval, payments.PartlyApproved, payments.Scheduled, payments.Queued,
			}, payments.ErrOver},
		} {
			if slices.Contains(c.from, state) {
				continue // it may, as other tests see
			}
			s.Exec(`UPDATE payments SET state = ? WHERE tenant = ? AND uid = ?`, state, s.Tenant, c.uid)
			if err := c.do(s.Staff(), c.uid); !errors.Is(err, c.want) {
				t.Errorf("%s, %s: %v, want %v", c.name, state, err, c.want)
			}
		}
	}
}

func (s *sender) doReturn(ctx context.Context, uid payments.UID) error {
	_, err := s.Payments.Return(ctx, uid, wholly(rails.FedNow), changes.RequestOptions{})
	return err
}

func (s *sender) doRefuse(ctx context.Context, uid payments.UID) error {
	_, err := s.Payments.Return(ctx, uid, payments.Return{Type: "RJCR", Reject: "CUST"},
		changes.RequestOptions{})
	return err
}

func (s *sender) doReverse(ctx context.Context, uid payments.UID) error {
	_, err := s.Payments.Reverse(ctx, uid, payments.Reversal{Code: "CUST"}, changes.RequestOptions{})
	return err
}

func (s *sender) doCancel(ctx context.Context, uid payments.UID) error {
	_, err := s.Payments.Cancel(ctx, uid, changes.RequestOptions{})
	return err
}

// Each way in which the states and the books can part is found.
func TestTheProofFindsMoneyThatIsNotWhereThePaymentSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, breaks string }{
		"came in and never came": {
			`UPDATE payments SET state = 'RETURNED', returned = amount
				WHERE tenant = $t AND direction = 'IN'`, "I12",
		},
		"is said to be on its way back": {
			`UPDATE payments SET state = 'RETURNING', returned = amount
				WHERE tenant = $t AND direction = 'IN'`, "I9 I12",
		},
		"came in as sent": {
			`UPDATE payments SET state = 'SENT' WHERE tenant = $t AND direction = 'IN'`, "I9 I12",
		},
		"a part that nobody gave": {
			`UPDATE payments SET returned = 1 WHERE tenant = $t AND direction = 'IN'`,
			"I12",
		},
		"a reversal without money": {
			`UPDATE payments SET state = 'REVERSAL_ACCEPTED', returned = amount
				WHERE tenant = $t AND direction = 'OUT'`, "I12",
		},
		"a reversal of nothing": {
			`UPDATE payments SET state = 'REVERSAL_ACCEPTED' WHERE tenant = $t AND direction = 'OUT'`, "I12",
		},
		"a part that is all": {
			`UPDATE payments SET state = 'REVERSAL_PARTIALLY_ACCEPTED', returned = amount
				WHERE tenant = $t AND direction = 'OUT'`, "I12",
		},
		"a return of nothing": {
			`UPDATE payments SET state = 'RETURNED' WHERE tenant = $t AND direction = 'OUT'`, "I12",
		},
		"a fee of who is credited": {
			`UPDATE payments SET fee = 1 WHERE tenant = $t AND direction = 'IN'`,
			"I18",
		},
		"another account": {
			`UPDATE payments SET receiver_account = (SELECT max(uid) FROM accounts WHERE tenant = $t)
				WHERE tenant = $t AND direction = 'IN'`, "I12",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.play(t, rails.FedNow, "20")
			s.send(t, s.order("10"))
			s.run(t)
			s.Account(s.Customer())
			s.Prove()
			s.Exec(strings.ReplaceAll(c.text, "$t", fmt.Sprint(s.Tenant)))
			found, err := s.Ledger.Prove(access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone()))
			if err != nil {
				t.Fatal(err)
			}
			var broken []string
			for _, v := range found {
				if v.Invariant != "I11" && !slices.Contains(broken, v.Invariant) {
					broken = append(broken, v.Invariant)
				}
			}
			slices.Sort(broken)
			for _, name := range strings.Fields(c.breaks) {
				if !slices.Contains(broken, name) {
					t.Errorf("breaks %v, want %s", broken, c.breaks)
				}
			}
		})
	}
}

// Whatever comes in, goes back, is asked for and is answered, in whatever order, no money is made or lost.
func TestAnyOrderOfCreditsReturnsAndRecallsKeepsTheBooks(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			s, dice := newSender(t), rand.New(rand.NewPCG(seed, 17))
			amounts := []string{"1.00", "2.34", "3.31", "4.32", "5.33", "6.11", "7.01", "8.50"}
			networks := []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire}
			for range 60 {
				uid := payments.UID(s.anyPayment(t, dice))
				amount, over := amounts[dice.IntN(len(amounts))], networks[dice.IntN(3)]
				var err error
				switch dice.IntN(9) {
				case 0, 1:
					_, err = s.Sandbox.PlayCredit(s.Staff(), sandbox.Credit{
						Account: s.from.UID, Amount: amount,
						Rail: string(over),
					},
						changes.RequestOptions{})
				case 2:
					_, err = s.Payments.Send(s.Staff(), s.order(amount, instantly), changes.RequestOptions{})
				case 3:
					_, err = s.back(uid, payments.Return{Code: "CUST", Notes: "x", Type: "IPAY"})
				case 4:
					_, err = s.back(uid, payments.Return{Type: "PECR", Amount: "0.50", Code: "CUST"})
				case 5:
					_, err = s.back(uid, payments.Return{Type: "RJCR", Reject: "CUST"})
				case 6:
					_, err = s.reverse(uid, payments.Reversal{Code: "CUST"})
				case 7:
					_, err = s.Sandbox.PlayRecall(s.Staff(), uid, sandbox.Recall{}, changes.RequestOptions{})
				case 8:
					s.Clock.Advance(time.Duration(dice.IntN(90)) * time.Second)
					s.run(t)
				}
				if _, refused := fault.Of(err); err != nil && !refused {
					t.Fatal(err)
				}
			}
			s.Prove()
			s.Clock.Advance(time.Hour)
			for range 3 {
				s.run(t)
			}
			s.Prove()
		})
	}
}

func (s *sender) anyPayment(t *testing.T, dice *rand.Rand) int64 {
	t.Helper()
	var all []int64
	if err := s.DB.NewRaw(`SELECT uid FROM payments WHERE tenant = ? ORDER BY uid`, s.Tenant).
		Scan(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return 4711
	}
	return all[dice.IntN(len(all))]
}
