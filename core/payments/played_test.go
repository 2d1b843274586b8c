package payments_test

import (
	"errors"
	"testing"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

// answered plays an answer to a payment, and lets it come.
func (s *sender) answered(t *testing.T, uid payments.UID, answers ...sandbox.Answer) {
	t.Helper()
	for _, a := range answers {
		if _, err := s.Sandbox.PlayAnswer(s.Staff(), uid, a, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		s.run(t)
	}
}

// A developer lets a network, or the other bank, say whatever there is to say of a payment, as often and as
// late as it likes. Amounts with the cents .22 are never answered by themselves.
func TestAnswersArePlayed(t *testing.T) {
	t.Parallel()
	settled, rejected := sandbox.Answer{Verdict: sandbox.Settled}, sandbox.Answer{Verdict: sandbox.Rejected}
	returned := sandbox.Answer{Verdict: sandbox.Returned}
	for name, c := range map[string]struct {
		edit         func(*payments.Order)
		answers      []sandbox.Answer
		life, reason string
		has          int64
	}{
		"settled, and twice": {
			instantly, []sandbox.Answer{settled, settled}, "QUEUED SENT SETTLED", "", 99_989_78,
		},
		"rejected over RTP": {overRTP, []sandbox.Answer{rejected}, "QUEUED SENT REJECTED", "AC03", 100_000_00},
		"rejected for why": {
			instantly,
			[]sandbox.Answer{{Verdict: sandbox.Rejected, Code: "AC06"}},
			"QUEUED SENT REJECTED",
			"AC06", 100_000_00,
		},
		"rejected too late": {byWire, []sandbox.Answer{settled, rejected}, "QUEUED SENT SETTLED", "", 99_989_78},
		"settled too late": {
			byWire, []sandbox.Answer{rejected, settled}, "QUEUED SENT REJECTED", "AC03", 100_000_00,
		},
		"returned": {
			instantly, []sandbox.Answer{settled, returned}, "QUEUED SENT SETTLED RETURNED", "AC04", 100_000_00,
		},
		"returned unanswered": {
			instantly, []sandbox.Answer{returned}, "QUEUED SENT SETTLED RETURNED", "AC04", 100_000_00,
		},
		"returned twice": {
			instantly, []sandbox.Answer{returned, returned}, "QUEUED SENT SETTLED RETURNED", "AC04", 100_000_00,
		},
		"returned in part": {
			instantly,
			[]sandbox.Answer{{Verdict: sandbox.Returned, Code: "CUST", Amount: "4.22"}},
			"QUEUED SENT SETTLED RETURNED", "CUST", 99_994_00,
		},
		"returned in two parts": {
			instantly,
			[]sandbox.Answer{
				{Verdict: sandbox.Returned, Amount: "4.22"}, {Verdict: sandbox.Returned, Code: "CUST", Amount: "6"},
			},
			"QUEUED SENT SETTLED RETURNED RETURNED", "CUST", 100_000_00,
		},
		"returned in part, then more than the rest": {
			instantly,
			[]sandbox.Answer{{Verdict: sandbox.Returned, Amount: "4.22"}, {Verdict: sandbox.Returned, Amount: "6.01"}},
			"QUEUED SENT SETTLED RETURNED", "AC04", 99_994_00,
		},
		"more than there was": {
			instantly,
			[]sandbox.Answer{settled, {Verdict: sandbox.Returned, Amount: "10.23"}},
			"QUEUED SENT SETTLED", "", 99_989_78,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10.22", c.edit))
			s.run(t)
			s.answered(t, p.UID, c.answers...)
			if got := s.life(t, p.UID); got != c.life {
				t.Errorf("%s, want %s", got, c.life)
			}
			if got := s.shows(t, p.UID); len(got.Reason) < len(c.reason) ||
				got.Reason[:len(c.reason)] != c.reason {
				t.Errorf("%q, want %q", got.Reason, c.reason)
			}
			s.has(t, c.has, 0)
			s.Prove()
		})
	}
}

// Parts that come back at the same time are taken in together.
func TestManyPartsComeBackAtOnce(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(*payments.Order){"RTP": overRTP, "ACH": economy} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10.22", edit))
			s.run(t)
			s.until(t, "2026-11-18 14:00")
			s.until(t, "2026-11-19 10:00")
			for _, part := range []string{"1", "2", "3", "4", "0.22"} {
				if _, err := s.Sandbox.PlayAnswer(s.Staff(), p.UID,
					sandbox.Answer{Verdict: sandbox.Returned, Amount: part},
					changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s.until(t, "2026-11-20 10:00")
			for range 4 { // files of one customer come one after the other
				s.run(t)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// What a bank was asked for comes back, or does not. Amounts with the cents .33 are never answered.
func TestAnswersToRecallsArePlayed(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		answers []sandbox.Answer
		has     int64
	}{
		"QUEUED SENT SETTLED RECALLING REVERSAL_ACCEPTED": {
			[]sandbox.Answer{{Verdict: sandbox.Returned, Code: "FOCR"}}, 100_000_00,
		},
		"QUEUED SENT SETTLED RECALLING REVERSAL_PARTIALLY_ACCEPTED": {
			[]sandbox.Answer{{Verdict: sandbox.Returned, Amount: "1"}}, 99_990_67,
		},
		"QUEUED SENT SETTLED RECALLING REVERSAL_PARTIALLY_ACCEPTED REVERSAL_PARTIALLY_ACCEPTED " +
			"REVERSAL_ACCEPTED": {
			[]sandbox.Answer{
				{Verdict: sandbox.Returned, Amount: "1"},
				{Verdict: sandbox.Returned, Amount: "2"},
				{Verdict: sandbox.Returned, Amount: "7.33"},
			}, 100_000_00,
		},
		"QUEUED SENT SETTLED RECALLING REVERSAL_REJECTED": {
			[]sandbox.Answer{{Verdict: sandbox.RecallRefused}}, 99_989_67,
		},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10.33"))
			s.run(t)
			s.run(t)
			_, err := s.Sandbox.PlayAnswer(s.Staff(), p.UID, sandbox.Answer{Verdict: sandbox.RecallRefused},
				changes.RequestOptions{})
			if !errors.Is(err, sandbox.ErrUnsent) {
				t.Error("nothing was asked back:", err)
			}
			if _, err := s.Payments.Reverse(s.Staff(), p.UID, payments.Reversal{Code: "DUPL"},
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.answered(t, p.UID, c.answers...)
			if got := s.life(t, p.UID); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.has(t, c.has, 0)
			s.Prove()
		})
	}
}

func TestAnswersToRequestsForPaymentArePlayed(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]struct {
		answer sandbox.Answer
		has    int64
	}{
		"QUEUED SENT SETTLED":  {sandbox.Answer{Verdict: sandbox.Paid}, 100_010_22},
		"QUEUED SENT REJECTED": {sandbox.Answer{Verdict: sandbox.Rejected}, 100_000_00},
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order("10.22", asking))
			s.run(t)
			s.answered(t, p.UID, c.answer)
			if got := s.life(t, p.UID); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.has(t, c.has, 0)
			s.Prove()
		})
	}
}

func TestAnswersOverACHArePlayed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer       sandbox.Answer
		life, reason string
		has          int64
	}{
		"returned": {
			sandbox.Answer{Verdict: sandbox.Returned},
			"QUEUED SENT RETURNED",
			"R03: there is no such account", 100_000_00,
		},
		"returned for why": {
			sandbox.Answer{Verdict: sandbox.Returned, Code: "R23"},
			"QUEUED SENT RETURNED",
			"R23: the receiver does not want it", 100_000_00,
		},
		"notice": {
			sandbox.Answer{
				Verdict: sandbox.Noticed, Code: "C07", Number: "1918171614", Routing: "061000052",
				Account: rails.Savings,
			},
			"QUEUED SENT SENT SETTLED", "", 99_990_00,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10.00", economy))
			_, err := s.Sandbox.PlayAnswer(s.Staff(), p.UID, c.answer, changes.RequestOptions{})
			if !errors.Is(err, sandbox.ErrUnsent) {
				t.Error("before its file:", err)
			}
			unready := s.send(t, s.order("10.00", economy, repairably, func(o *payments.Order) { o.SECCode = "" }))
			_, err = s.Sandbox.PlayAnswer(s.Staff(), unready.UID, c.answer, changes.RequestOptions{})
			if !errors.Is(err, sandbox.ErrUnsent) {
				t.Error("before its repair:", err)
			}
			s.until(t, "2026-11-18 14:00")
			s.answered(t, p.UID, c.answer)
			s.until(t, "2026-11-19 09:00")
			if got := s.life(t, p.UID); got != c.life {
				t.Errorf("%s, want %s", got, c.life)
			}
			if got := s.shows(t, p.UID).Reason; got != c.reason {
				t.Errorf("%q, want %q", got, c.reason)
			}
			if n := s.notices(t, p.UID); name == "notice" && (len(n) != 1 || n[0].RightNumber() != "1918171614" ||
				n[0].RightRouting() != "061000052" || n[0].Corrected() != 32) {
				t.Errorf("%+v", n)
			}
			s.has(t, c.has, 0)
			s.Prove()
		})
	}
}

func TestAnswersThatNobodyGives(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	entry, instant := s.send(t, s.order("10.00", economy)), s.send(t, s.order("10.22"))
	s.until(t, "2026-11-18 14:00")
	book := s.Payment(s.from, s.Account(s.Customer())).UID
	for name, c := range map[string]struct {
		of     payments.UID
		answer sandbox.Answer
		field  string
		is     error
	}{
		"nothing":            {instant.UID, sandbox.Answer{}, "answer", nil},
		"another word":       {instant.UID, sandbox.Answer{Verdict: "LOST"}, "answer", nil},
		"no code":            {instant.UID, sandbox.Answer{Verdict: sandbox.Rejected, Code: "ZZ99"}, "code", nil},
		"a code of ACH":      {instant.UID, sandbox.Answer{Verdict: sandbox.Returned, Code: "R03"}, "code", nil},
		"a code of others":   {entry.UID, sandbox.Answer{Verdict: sandbox.Returned, Code: "AC03"}, "code", nil},
		"a notice as return": {entry.UID, sandbox.Answer{Verdict: sandbox.Returned, Code: "C01"}, "code", nil},
		"an amount": {
			instant.UID, sandbox.Answer{Verdict: sandbox.Settled, Amount: "1"}, "paymentAmount", nil,
		},
		"no money": {
			instant.UID, sandbox.Answer{Verdict: sandbox.Returned, Amount: "0"}, "paymentAmount", nil,
		},
		"half a cent": {
			instant.UID, sandbox.Answer{Verdict: sandbox.Returned, Amount: "0.005"}, "paymentAmount", nil,
		},
		"a return as notice": {entry.UID, sandbox.Answer{Verdict: sandbox.Noticed, Code: "R03"}, "code", nil},
		"no number": {
			entry.UID, sandbox.Answer{Verdict: sandbox.Noticed}, "correctedAccountNumber", nil,
		},
		"a number for no field": {
			entry.UID,
			sandbox.Answer{Verdict: sandbox.Noticed, Code: "C03", Number: "DE89370400440532013000"},
			"correctedAccountNumber", nil,
		},
		"a wrong routing": {
			entry.UID,
			sandbox.Answer{Verdict: sandbox.Noticed, Code: "C02", Routing: "061000051"},
			"correctedRoutingNumber", nil,
		},
		"a type too many": {
			entry.UID,
			sandbox.Answer{Verdict: sandbox.Noticed, Code: "C02", Routing: "061000052", Account: rails.GL},
			"correctedAccountType", nil,
		},
		"settled over ACH": {entry.UID, sandbox.Answer{Verdict: sandbox.Settled}, "", sandbox.ErrNoAnswer},
		"a notice over FedNow": {
			instant.UID, sandbox.Answer{Verdict: sandbox.Noticed, Number: "1"}, "", sandbox.ErrNoAnswer,
		},
		"paid, but no request": {instant.UID, sandbox.Answer{Verdict: sandbox.Paid}, "", sandbox.ErrNoAnswer},
		"a transfer":           {book, sandbox.Answer{Verdict: sandbox.Settled}, "", sandbox.ErrNoAnswer},
		"nobody's": {
			instant.UID + 1000, sandbox.Answer{Verdict: sandbox.Settled}, "", payments.ErrNotFound,
		},
	} {
		_, err := s.Sandbox.PlayAnswer(s.Staff(), c.of, c.answer, changes.RequestOptions{})
		wrong, is := fault.Of(err)
		if !is || wrong.Field != c.field || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := s.Partner(s.DownstreamPartner())
	if _, err := s.Sandbox.PlayAnswer(other, instant.UID, sandbox.Answer{Verdict: sandbox.Settled},
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNotFound) {
		t.Error("another partner:", err)
	}
}

func overRTP(o *payments.Order) { o.LocalInstrument = "STANDARD" }
