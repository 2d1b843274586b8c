package payments_test

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
)

func TestADrawdownIsCompletedByTheWireThatPaysIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.collect(t, s.order("250.00", byWire))
	s.run(t)
	s.has(t, 100_000_00, 0)
	got := s.shows(t, p.UID)
	if got.State != payments.Sent || got.Rail != rails.Fedwire || got.EntryType != rails.Debit ||
		got.MemoPost() != payments.NotApplicable || got.Fee() != nil || got.BusinessFunction() != "DRC" ||
		got.To.IMAD != s.firstMessage(t, p.UID).Head().ID {
		t.Errorf("%+v", got.Payment)
	}
	request, is := s.firstMessage(t, p.UID).(*iso20022.PaymentRequest)
	if !is || request.LocalInstrument != "DRRC" || request.Amount != got.Amount() ||
		request.ExecutionDate.Format(time.DateOnly) != "2026-11-18" ||
		request.EndToEndID != "RFP-"+p.UID.String() {
		t.Errorf("%+v", request)
	}
	s.Clock.Advance(2 * time.Second)
	s.run(t)
	s.has(t, 100_250_00, 0)
	came := s.came(t)
	if s.life(t, p.UID) != "QUEUED SENT SETTLED" || len(came) != 1 || came[0].Rail != rails.Fedwire ||
		came[0].BusinessFunction() != "CTR" || len(came[0].To.IMAD) != 22 {
		t.Fatal(s.life(t, p.UID), came)
	}
	if r := s.requestOf(t, p.UID); r.Credit != came[0].UID ||
		r.Expires.Format(time.DateOnly) != "2026-11-18" {
		t.Errorf("%+v", r)
	}
	s.Prove()
}

func TestWhatBecomesOfDrawdowns(t *testing.T) {
	t.Parallel()
	for amount, c := range map[string]struct {
		life, reason string
		has          int64
	}{
		"10.01": {"QUEUED SENT REJECTED", "AC03: the account is not known", 100_000_00},
		"10.11": {"QUEUED SENT REJECTED", "CUST: the customer decided so", 100_000_00},
		"10.21": {"QUEUED SENT SETTLED", "", 100_010_21},
		"10.24": {"QUEUED SENT EXPIRED", "the debtor has not paid in time", 100_000_00},
	} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order(amount, byWire))
			s.run(t)
			for range 2 {
				s.Clock.Advance(10 * time.Minute)
				s.run(t)
			}
			s.until(t, "2026-11-18 23:59")
			s.expire(t)
			before := s.life(t, p.UID)
			s.until(t, "2026-11-19 00:00")
			s.expire(t)
			if got := s.life(t, p.UID); got != c.life || strings.HasSuffix(c.life, "EXPIRED") &&
				before != "QUEUED SENT" {
				t.Errorf("%s, want %s; before it expired %s", got, c.life, before)
			}
			if got := s.shows(t, p.UID).Reason; got != c.reason {
				t.Error(got)
			}
			s.has(t, c.has, 0)
			s.Prove()
		})
	}
}

// A drawdown is for the money of one day. One that waited for people asks for that of the day on which it
// leaves.
func TestADrawdownThatLeavesLaterAsksForTheMoneyOfThatDay(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	p := s.collect(t, s.order("250.00", byWire, paidTo("Ada King")))
	s.until(t, "2026-11-20 19:00") // Friday, after the last wire
	if _, err := s.Payments.ReleaseScreened(s.Checker(), p.UID, because); err != nil {
		t.Fatal(err)
	}
	s.until(t, "2026-11-23 09:00")
	s.run(t)
	if r := s.requestOf(t, p.UID); r.On.Format(time.DateOnly) != "2026-11-23" || r.Expires != r.On {
		t.Errorf("%+v", r)
	}
	if got := s.life(t, p.UID); got != "SCREENING QUEUED SENT" {
		t.Error(got)
	}
}

// Workers that were away send nothing over Fedwire for a day that is over.
func TestAWireThatMissedItsDayIsPlannedAnew(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	pays := s.send(t, s.order("10.00", byWire)).UID
	asks := s.collect(t, s.order("20.00", byWire)).UID
	s.until(t, "2026-11-18 18:31")
	s.run(t)
	for _, uid := range []payments.UID{pays, asks} {
		got := s.shows(t, uid)
		if got.State != payments.Queued || got.Date.Format(time.DateOnly) != "2026-11-19" ||
			s.life(t, uid) != "QUEUED QUEUED" {
			t.Errorf("%s: %s on %s", s.life(t, uid), got.State, got.Date)
		}
	}
	s.has(t, 100_000_00, 10_00)
	s.until(t, "2026-11-19 09:00")
	s.run(t)
	s.Clock.Advance(2 * time.Second)
	s.run(t)
	if a, b := s.life(t, pays), s.life(t, asks); a != "QUEUED QUEUED SENT SETTLED" || b != a {
		t.Error(a, b)
	}
	s.has(t, 100_010_00, 0)
	s.Prove()
}

func TestADrawdownThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		field string
	}{
		"terms of a request for payment": {asking, "additionalInfo.requestedExecutionDate"},
		"a class":                        {func(o *payments.Order) { o.SECCode = "CCD" }, "additionalInfo.secCode"},
		"a fee": {
			func(o *payments.Order) { o.Fee = &payments.CustomFee{Amount: "1"} },
			"fee",
		},
		"a series": {func(o *payments.Order) { o.Repeat = weekly() }, "recurrence"},
		"no address": {func(o *payments.Order) {
			o.Receiver = payments.Receiver{
				Name: "Ada Byron", Number: "4400123401",
				Bank: payments.ReceiverBank{ID: "611090001"},
			}
		}, "debtor.address.addressLine1"},
	} {
		_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", byWire, c.edit), changes.RequestOptions{})
		f, is := fault.Of(err)
		if !is || f.Field != c.field {
			t.Errorf("%s: %v on %v, want %s", name, err, f, c.field)
		}
	}
	s.Exec(`UPDATE accounts SET enable_domestic_wires = false WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.UID)
	_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", byWire), changes.RequestOptions{})
	if f, _ := fault.Of(err); f == nil || !payments.ErrRailOff.Is(f) {
		t.Errorf("switched off: %v", err)
	}
}

// The bank's own people confirm wires above an amount that take money, not those that ask for it.
func TestADrawdownIsNoMatterForACallback(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE accounts SET enable_callbacks = true, callback_limit = 1000 WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.UID)
	if p := s.collect(t, s.order("250.00", byWire)); p.Status != payments.StatusReadyToTransmit {
		t.Error(p.Status)
	}
	s.send(t, s.order("10.00", byWire))
}
