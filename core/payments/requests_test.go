package payments_test

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
)

func asking(o *payments.Order) { o.Ask.On = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC) }

// requestOf reads what a request for payment says.
func (s *sender) requestOf(t *testing.T, uid payments.UID) *payments.Request {
	t.Helper()
	b := s.Batch()
	found := s.Payments.RequestsOf(s.Staff(), b, []payments.UID{uid})
	if err := b.Send(t.Context()); err != nil || found.Err != nil || len(found.Of[uid]) != 1 {
		t.Fatal(err, found.Err, found.Of)
	}
	return found.Of[uid][0]
}

// came returns the payments that came in.
func (s *sender) came(t *testing.T) []*payments.Shown {
	t.Helper()
	found, err := s.Payments.Page(s.Staff(), payments.Search{Direction: payments.In}, page.First(10))
	if err != nil {
		t.Fatal(err)
	}
	return found.Items
}

func (s *sender) expire(t *testing.T) {
	t.Helper()
	if _, err := s.Payments.ExpireRequests(access.Operator(t.Context(), s.Tenant, s.Code,
		coretest.Zone())); err != nil {
		t.Fatal(err)
	}
}

// Nobody is asked to pay after the last day on which they may.
func TestARequestThatIsReleasedTooLateIsNotSent(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	p := s.collect(t, s.order("250.00", paidTo("Ada King"), asking,
		func(o *payments.Order) { o.Ask.Expires = o.Ask.On }))
	if p.Status != payments.StatusScreening {
		t.Fatal(p)
	}
	s.until(t, "2026-11-21 00:01")
	if _, err := s.Payments.ReleaseScreened(s.Checker(), p.UID, because); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.Clock.Advance(2 * time.Second)
	s.run(t)
	if got := s.life(t, p.UID); got != "SCREENING QUEUED EXPIRED" || len(s.came(t)) != 0 {
		t.Error(got, s.came(t))
	}
	s.Prove()
}

func TestARequestForPaymentIsCompletedByTheCreditThatPaysIt(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			if over == rails.RTP {
				s.Exec(`UPDATE accounts SET fednow_rfp_send = false WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
			}
			p := s.collect(t, s.order("250.00", asking))
			if p.Status != payments.StatusReadyToTransmit {
				t.Error(p.Status)
			}
			s.run(t)
			s.has(t, 100_000_00, 0)
			got := s.shows(t, p.UID)
			if got.State != payments.Sent || got.Rail != over || got.EntryType != rails.Debit ||
				got.MemoPost() != payments.NotApplicable {
				t.Errorf("%+v", got.Payment)
			}
			s.Prove()
			s.Clock.Advance(2 * time.Second)
			s.run(t)
			s.has(t, 100_250_00, 0)
			came := s.came(t)
			if s.life(t, p.UID) != "QUEUED SENT SETTLED" || len(came) != 1 || came[0].Minor != 250_00 {
				t.Fatal(s.life(t, p.UID), came)
			}
			r := s.requestOf(t, p.UID)
			until := map[rails.Rail]string{rails.FedNow: "2027-11-18", rails.RTP: "2026-12-18"}[over]
			if r.Credit != came[0].UID || r.Expires.Format(time.DateOnly) != until ||
				r.On.Format(time.DateOnly) != "2026-11-20" {
				t.Errorf("%+v", r)
			}
			s.Prove()
			_, err := s.Payments.Reverse(s.Staff(), p.UID, payments.Reversal{Code: "DUPL"}, changes.RequestOptions{})
			if f, _ := fault.Of(err); f == nil || !payments.ErrNoReversal.Is(f) {
				t.Error(err)
			}
		})
	}
}

func TestWhatBecomesOfRequestsForPayment(t *testing.T) {
	t.Parallel()
	for amount, c := range map[string]struct {
		edit         func(*payments.Order)
		life, reason string
		has          int64
	}{
		"10.01": {asking, "QUEUED SENT REJECTED", "AC03: the account is not known", 100_000_00},
		"10.11": {asking, "QUEUED SENT REJECTED", "CUST: the customer decided so", 100_000_00},
		"10.21": {asking, "QUEUED SENT SETTLED", "", 100_010_21},
		"10.22": {asking, "QUEUED SENT EXPIRED", "the debtor has not paid in time", 100_000_00},
		"10.24": {asking, "QUEUED SENT EXPIRED", "the debtor has not paid in time", 100_000_00},
		"10.32": {asking, "QUEUED SENT EXPIRED", "the debtor has not paid in time", 100_005_16},
		"20.32": {
			func(o *payments.Order) { asking(o); o.Ask.Modifiable = true },
			"QUEUED SENT SETTLED", "", 100_010_16,
		},
	} {
		t.Run(amount, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order(amount, c.edit, func(o *payments.Order) {
				o.Ask.Expires = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
			}))
			s.run(t)
			s.Clock.Advance(time.Minute)
			s.run(t)
			s.Clock.Advance(10 * time.Minute)
			s.run(t)
			s.until(t, "2026-11-21 23:59")
			s.expire(t)
			before := s.life(t, p.UID)
			s.until(t, "2026-11-22 00:00")
			s.expire(t)
			if got := s.life(t, p.UID); got != c.life || c.reason == "the debtor has not paid in time" &&
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

func TestARequestForPaymentThatCannotBeIsRefused(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	day := func(n int) time.Time { return time.Date(2026, 11, n, 0, 0, 0, 0, time.UTC) }
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		field string
	}{
		"no day": {
			func(o *payments.Order) { o.Ask.On = time.Time{} },
			"additionalInfo.requestedExecutionDate",
		},
		"yesterday": {
			func(o *payments.Order) { o.Ask.On = day(17) },
			"additionalInfo.requestedExecutionDate",
		},
		"expires before": {func(o *payments.Order) { o.Ask.Expires = day(19) }, "additionalInfo.expiryDate"},
		"long after": {
			func(o *payments.Order) { o.Ask.Expires = day(18).AddDate(1, 0, 1) },
			"additionalInfo.expiryDate",
		},
		"before it leaves": {func(o *payments.Order) { o.Date = day(23) }, "additionalInfo.requestedExecutionDate"},
		"a class":          {func(o *payments.Order) { o.SECCode = "CCD" }, "additionalInfo.secCode"},
		"over ACH":         {economy, "additionalInfo.requestedExecutionDate"},
		"too much":         {func(o *payments.Order) { o.Amount = "1000000.01" }, "paymentAmount"},
	} {
		_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", asking, c.edit), changes.RequestOptions{})
		f, is := fault.Of(err)
		if !is || f.Field != c.field {
			t.Errorf("%s: %v on %v, want %s", name, err, f, c.field)
		}
	}
	s.Exec(`UPDATE accounts SET fednow_rfp_send = false, rtp_rfp_send = false WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.UID)
	_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", asking), changes.RequestOptions{})
	if f, _ := fault.Of(err); f == nil || !payments.ErrRailOff.Is(f) {
		t.Errorf("switched off: %v", err)
	}
}

// In a request for payment the debtor is the other side.
func TestWhatANetworkRefusesOfADebtorIsTheDebtors(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	for name, over := range map[string]func(*payments.Order){"a request": asking, "a drawdown": byWire} {
		for field, spoil := range map[string]func(*payments.Receiver){
			"debtor.name":    func(r *payments.Receiver) { r.Name = "Иван" },
			"debtor.address": func(r *payments.Receiver) { r.Address.City = strings.Repeat("a", 36) },
		} {
			_, err := s.Payments.RequestDebit(s.Staff(), s.order("10.00", over, func(o *payments.Order) {
				o.Receiver = payments.Receiver{
					Name: "Ada Byron", Number: "4400123401", Type: "Deposit", SubType: "Checking",
					Bank: payments.ReceiverBank{IDType: "NID", ID: "611590103"},
					Address: postal.Address{
						Line1: "1 Main St", City: "Tampa", State: "FL", PostalCode: "33602", CountryCode: "US",
					},
				}
				spoil(&o.Receiver)
			}), changes.RequestOptions{})
			if f, is := fault.Of(err); !is || f.Field != field {
				t.Errorf("%s: %v on %v, want %s", name, err, f, field)
			}
		}
	}
}

func TestARequestForPaymentCountsAgainstNoLimit(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`INSERT INTO limits (tenant, customer, code, application, ceiling, currency) VALUES (?, ?,
		'INSTANT_PAYMENT_LIMIT_PER_DAY', 'Payments', 1000, 'USD')`, s.Tenant, s.from.Customer)
	p := s.collect(t, s.order("250.00", asking))
	s.send(t, s.order("10.00"))
	if _, err := s.Payments.Cancel(s.Staff(), p.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Payments.Send(s.Staff(), s.order("0.01"), changes.RequestOptions{}); err == nil {
		t.Error("a request that was cancelled has eased a limit")
	}
}
