package payments_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/attention"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
)

// What waits for approval is approved by what holds when somebody approves it, not when it was asked for.

// waits sends a payment that waits, and returns it with its approval.
func (s *sender) waits(t *testing.T, o payments.Order) (payments.UID, changes.UID) {
	t.Helper()
	out, err := s.Payments.Send(s.Someone("maker"), o, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	return out.Result.UID, changes.UID(out.Approval)
}

func TestAnApprovalTakesThePeopleThatSettingsAskForByNow(t *testing.T) {
	t.Parallel()
	s := newSender(t, dual)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	maker, own := s.PersonOf(of, s.User(of, nil)), s.PersonOf(of, s.User(of, nil))
	send := func() (payments.UID, changes.UID) {
		t.Helper()
		out, err := s.Payments.Send(maker, s.order("100"), changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return out.Result.UID, changes.UID(out.Approval)
	}
	approve := func(of changes.UID, who string) error {
		_, err := s.Changes.Approve(s.Someone(who), of, changes.RequestOptions{})
		return err
	}
	sent, first := send()
	withheld, second := send()
	s.Exec(`UPDATE customers SET access_number_of_approvers = 2 WHERE tenant = ? AND uid = ?`, s.Tenant,
		s.from.Customer)
	for _, who := range []string{"first", "second"} {
		s.lived(t, sent, map[string]string{
			"first": "PENDING_APPROVAL", "second": "PENDING_APPROVAL PARTIALLY_APPROVED",
		}[who])
		if err := approve(first, who); err != nil {
			t.Fatal(who, err)
		}
	}
	s.lived(t, sent, "PENDING_APPROVAL PARTIALLY_APPROVED QUEUED")
	if a, err := s.Changes.Find(s.Staff(), first); err != nil || a.Status != changes.Approved ||
		a.Approvers != 2 {
		t.Errorf("%+v %v", a, err)
	}
	s.Exec(`UPDATE customers SET access_number_of_approvers = 1, access_second_approver_limit = 9999
		WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	if _, err := s.Changes.Approve(own, second, changes.RequestOptions{}); !errors.Is(err, changes.ErrNotYours) {
		t.Errorf("the customer's own approve what the bank decides by now: %v", err)
	}
	s.lived(t, withheld, "PENDING_APPROVAL")
	if err := approve(second, "first"); err != nil {
		t.Error(err)
	}
	s.lived(t, withheld, "PENDING_APPROVAL QUEUED")
	s.Prove()
}

func TestANetworkThatIsSwitchedOffCarriesNothingThatWaited(t *testing.T) {
	t.Parallel()
	for speed, off := range map[string]string{
		"Instant": `UPDATE accounts SET enable_fednow = false, enable_rtp = false WHERE tenant = ? AND uid = ?`,
		"Express": `UPDATE accounts SET enable_wires = false WHERE tenant = ? AND uid = ?`,
		"Economy": `UPDATE accounts SET enable_ach = false WHERE tenant = ? AND uid = ?`,
	} {
		t.Run(speed, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, dual)
			with := func(o *payments.Order) {
				if o.Speed = speed; speed == "Economy" {
					o.SECCode = rails.CCD
				}
			}
			later := func(o *payments.Order) { o.Date = on(2026, time.November, 24) }
			now, approval := s.waits(t, s.order("10", with))
			ahead, early := s.waits(t, s.order("10", with, later))
			if _, err := s.Changes.Approve(s.Checker(), early, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.Exec(off, s.Tenant, s.from.UID)
			_, err := s.Changes.Approve(s.Checker(), approval, changes.RequestOptions{})
			if !errors.Is(err, payments.ErrRailOff) {
				t.Error(err)
			}
			s.lived(t, now, "PENDING_APPROVAL")
			s.until(t, "2026-11-24 09:00")
			s.lived(t, ahead, "PENDING_APPROVAL SCHEDULED INVALID")
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// Who may approve has no option on the rate of a day that has passed.
func TestAPaymentByATradeIsApprovedBeforeItsValueDate(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
		s.from.Customer)
	traded := s.trade(t, "2500.50")
	uid, approval := s.waits(t, s.toGermany("2500.50", traded.UID))
	s.until(t, "2026-11-23 09:00") // its value date was the 20th
	if _, err := s.Changes.Approve(s.Checker(), approval,
		changes.RequestOptions{}); !errors.Is(err, payments.ErrTradeOver) {
		t.Error(err)
	}
	s.lived(t, uid, "PENDING_APPROVAL")
	if _, err := s.Changes.Refuse(s.Checker(), approval, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	s.has(t, 100_000_00, 0)
}

// A limit of a class of entries is tested like every other one where what has waited gets another day, be it
// a credit or a debit.
func TestWhatHasWaitedIsTestedAgainstTheLimitOfItsClass(t *testing.T) {
	t.Parallel()
	approves := func(s *sender, of changes.UID) func() error {
		return func() error {
			_, err := s.Changes.Approve(s.Checker(), of, changes.RequestOptions{})
			return err
		}
	}
	for code, asks := range map[string]func(*testing.T, *sender) (payments.UID, func() error){
		"ACH_CCD_CREDIT_TRANSACTION_LIMIT": func(t *testing.T, s *sender) (payments.UID, func() error) {
			t.Helper()
			uid, approval := s.waits(t, s.order("60.00", economy))
			return uid, approves(s, approval)
		},
		"ACH_CCD_DEBIT_TRANSACTION_LIMIT": func(t *testing.T, s *sender) (payments.UID, func() error) {
			t.Helper()
			out, err := s.Payments.RequestDebit(s.Staff(), s.order("60.00", economy), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return out.Result.UID, approves(s, changes.UID(out.Approval))
		},
		"ACH_PPD_CREDIT_TRANSACTION_LIMIT": func(t *testing.T, s *sender) (payments.UID, func() error) {
			t.Helper()
			s.Exec(`UPDATE customers SET access_payment_dual_approval = false WHERE tenant = ? AND uid = ?`, s.Tenant,
				s.from.Customer)
			s.lists(t, "Ada King")
			uid := s.send(t, s.order("60.00", economy, paidTo("Ada King"),
				func(o *payments.Order) { o.SECCode = rails.PPD })).UID
			return uid, func() error {
				_, err := s.Payments.ReleaseScreened(s.Checker(), uid, because)
				return err
			}
		},
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, dual)
			uid, goesOn := asks(t, s)
			before := s.life(t, uid)
			s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}, code, 10_00)
			s.until(t, "2026-11-23 09:00")
			if err := goesOn(); !errors.Is(err, payments.ErrLimit) {
				t.Error(err)
			}
			s.lived(t, uid, before)
			s.Exec(`UPDATE limits SET ceiling = 6000 WHERE tenant = ? AND code = ?`, s.Tenant, code)
			if err := goesOn(); err != nil {
				t.Error(err)
			}
			s.lived(t, uid, before+" QUEUED")
			s.Prove()
		})
	}
}

// A trade binds the bank, which covers it: people hear of one that nobody has used.
func TestATradeThatNoPaymentUsedIsListedForPeople(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	used, unused, given := s.trade(t, "10"), s.trade(t, "20"), s.trade(t, "30")
	s.send(t, s.toGermany("10", used.UID))
	sent, err := s.pay(s.toGermany("30", given.UID))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Payments.Cancel(s.Staff(), sent.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		at   string
		want []int64
	}{
		{"2026-11-20 23:00", nil}, // the value date
		{"2026-11-21 01:00", []int64{int64(unused.UID), int64(given.UID)}},
		{"2026-11-28 01:00", nil}, // a week later
	} {
		s.Clock.Advance(at(t, c.at).Sub(s.Clock.Now()))
		found, err := s.Attention.List(s.Staff(), attention.Search{Kind: []attention.Kind{attention.Trade}}, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, one := range found.Items {
			got = append(got, one.UID)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("at %s: %v, want %v", c.at, got, c.want)
		}
	}
}

// Who asked may have asked anew.
func TestWhatMeetsARequestIsApprovedBeforeThatExpires(t *testing.T) {
	t.Parallel()
	for over, expired := range map[rails.Rail]string{
		rails.FedNow:  "2026-11-21 00:01",
		rails.Fedwire: "2026-11-19 00:01",
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newSender(t, dual)
			uid := s.asks(t, over, func(d *sandbox.Request) {
				if over == rails.FedNow { // a drawdown ends with its day
					d.Expires = day(2)
				}
			})
			if err := s.approve(s.Someone("maker"), uid); err != nil {
				t.Fatal(err)
			}
			made := s.met(t, uid)
			var approval changes.UID
			if err := s.DB.NewRaw(`SELECT uid FROM approvals WHERE tenant = ? AND object_uid = ?`, s.Tenant,
				made.UID.String()).Scan(t.Context(), &approval); err != nil {
				t.Fatal(err)
			}
			s.until(t, expired)
			if _, err := s.Changes.Approve(s.Checker(), approval,
				changes.RequestOptions{}); !errors.Is(err, payments.ErrRequestOver) {
				t.Error(err)
			}
			s.lived(t, made.UID, "PENDING_APPROVAL")
			s.has(t, 100_000_00, 0)
		})
	}
}

// What another bank asks for is paid in its time, or not at all: after it, who asked has asked anew. A
// drawdown ends with its day, on which the wire must settle.
func TestWhatAnotherBankAsksForIsPaidInItsTimeOrNotAtAll(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		on, approved, looked string
		request, payment     string // what became of them; "" for no payment
	}{
		"in time": {
			approved: "2026-11-18 12:00", looked: "2026-11-18 13:00",
			request: "HOLD SETTLED", payment: "QUEUED SENT SETTLED",
		},
		"approved after the cut-off": {
			approved: "2026-11-18 19:00", looked: "2026-11-19 09:00",
			request: "HOLD EXPIRED",
		},
		"the window was missed": {
			approved: "2026-11-18 12:00", looked: "2026-11-18 18:40",
			request: "HOLD SETTLED", payment: "QUEUED INVALID",
		},
		"missed by days": {
			approved: "2026-11-18 12:00", looked: "2026-11-20 18:40",
			request: "HOLD SETTLED", payment: "QUEUED INVALID",
		},
		"it waited for its day": {
			on: "2026-11-19", approved: "2026-11-18 12:00", looked: "2026-11-19 18:40",
			request: "HOLD SETTLED", payment: "SCHEDULED INVALID",
		},
		"for a day that settles none": {
			on: "2026-11-21", approved: "2026-11-20 12:00", looked: "2026-11-23 09:00",
			request: "HOLD EXPIRED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := s.asks(t, rails.Fedwire, func(d *sandbox.Request) {
				if c.on != "" {
					d.On = at(t, c.on+" 12:00").UTC().Truncate(24 * time.Hour)
				}
			})
			s.Clock.Advance(at(t, c.approved).Sub(s.Clock.Now()))
			err := s.approve(s.Checker(), uid)
			if (err == nil) != (c.payment != "") || err != nil && !errors.Is(err, payments.ErrRequestOver) {
				t.Fatal(err)
			}
			s.until(t, c.looked) // nobody has worked meanwhile
			s.run(t)
			s.Clock.Advance(time.Minute)
			s.run(t)
			s.lived(t, uid, c.request)
			has := int64(100_000_00)
			if c.payment != "" {
				s.lived(t, s.met(t, uid).UID, c.payment)
			}
			if strings.HasSuffix(c.payment, "SETTLED") {
				has -= 25_00
			}
			s.has(t, has, 0)
		})
	}
}

// The time of a request may be over before its day is. A payment of it that could not leave until then does
// not leave, and gives its money back.
func TestNothingPaysARequestAfterItsLastMoment(t *testing.T) {
	t.Parallel()
	for _, over := range []rails.Rail{rails.FedNow, rails.RTP} {
		for name, suspended := range map[string]bool{
			"the workers stood still": false, "the account was suspended": true,
		} {
			t.Run(string(over)+" "+name, func(t *testing.T) {
				t.Parallel()
				s := newDebtor(t)
				s.deliver(t, over, s.request(over, 1, func(r *iso20022.PaymentRequest) {
					r.ExpiresAt = s.Clock.Now().Add(time.Hour)
				}))
				uid := s.newest(t)
				err := s.approve(s.Checker(), uid)
				if suspended && err == nil {
					_, err = s.Accounts.Suspend(s.Staff(), s.from.Customer, s.from.UID, changes.RequestOptions{})
					s.run(t)
				}
				s.Clock.Advance(time.Hour)
				if suspended && err == nil {
					_, err = s.Accounts.Activate(s.Staff(), s.from.Customer, s.from.UID, changes.RequestOptions{})
				}
				if err != nil {
					t.Fatal(err)
				}
				s.run(t)
				s.lived(t, s.met(t, uid).UID, "QUEUED INVALID")
				s.has(t, 100_000_00, 0)
				s.Prove()
			})
		}
	}
}

// A rule pays nothing that the network does not settle in its time.
func TestARuleRefusesWhatCannotBePaidInItsTime(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	s.requestRule(positivepay.Fedwire)
	s.until(t, "2026-11-20 12:00")
	uid := s.asks(t, rails.Fedwire,
		func(d *sandbox.Request) { d.On = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
	s.until(t, "2026-11-21 09:00")
	s.lived(t, uid, "VALIDATED REJECTED")
	if got := s.sent(t); !strings.Contains(got, "TM01") {
		t.Error(got)
	}
	s.has(t, 100_000_00, 0)
}

// Compliance does not let go what nobody waits for any more: it rejects that.
func TestCompliancePaysNoRequestThatHasExpired(t *testing.T) {
	t.Parallel()
	for _, over := range requesting {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			s.lists(t, "Harbor Chandlery")
			uid := s.asks(t, over, func(d *sandbox.Request) {
				if over != rails.Fedwire {
					d.Expires = time.Date(2026, 11, 19, 0, 0, 0, 0, time.UTC)
				}
			})
			if err := s.approve(s.Someone("clerk"), uid); err != nil {
				t.Fatal(err)
			}
			made := s.met(t, uid)
			s.until(t, "2026-11-23 10:00")
			_, err := s.Payments.ReleaseScreened(s.Checker(), made.UID, because)
			if !errors.Is(err, payments.ErrRequestOver) {
				t.Errorf("released: %v", err)
			}
			if _, err := s.Payments.RejectScreened(s.Checker(), made.UID, because); err != nil {
				t.Error(err)
			}
			s.lived(t, made.UID, "SCREENING CANCELLED")
			s.has(t, 100_000_00, 0)
		})
	}
}

// A request whose money has come is neither over nor asked for again, while people look at the money.
func TestARequestStaysOpenWhilePeopleLookAtItsCredit(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]bool{"released": true, "rejected": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.collect(t, s.order("250.00", asking))
			s.run(t)
			s.lists(t, s.to.Name)
			s.Clock.Advance(2 * time.Second)
			s.run(t)
			came := s.came(t)
			if len(came) != 1 || came[0].State != payments.Screening {
				t.Fatal(came)
			}
			operator := access.Operator(t.Context(), s.Tenant, s.Code, time.UTC)
			expire := func() {
				t.Helper()
				s.Clock.Advance(400 * 24 * time.Hour)
				if _, err := s.Payments.ExpireRequests(operator); err != nil {
					t.Fatal(err)
				}
			}
			expire()
			s.lived(t, p.UID, "QUEUED SENT")
			if release {
				s.release(t, came[0].UID)
				s.lived(t, p.UID, "QUEUED SENT SETTLED")
				return
			}
			s.rejects(t, came[0].UID)
			expire()
			s.lived(t, p.UID, "QUEUED SENT EXPIRED")
			if r := s.requestOf(t, p.UID); r.Credit != 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}

// Several credits may name a request, and people may look at one again, as its network did not take what they
// sent back. The last of it counts.
func TestARequestStaysOpenWhilePeopleLookAtAnyCreditThatNamesIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		amounts []string // of which people reject the last
		life    string   // of the first
	}{
		"another one is rejected":  {[]string{"250.22", "250.22"}, "SCREENING"},
		"its return is not taken":  {[]string{"250.34"}, "SCREENING RETURNING SCREENING"},
		"another one is not taken": {[]string{"250.22", "250.34"}, "SCREENING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			s.lists(t, "Ada Byron")
			// the debtor does not answer that in the sandbox, and the return of 250.34 is refused
			p := s.collect(t, s.order("250.22", asking, func(o *payments.Order) {
				o.Ask.Expires, o.Ask.Modifiable = o.Ask.On, true
			}))
			s.run(t)
			over := s.shows(t, p.UID).Rail
			var of []payments.UID
			for i, amount := range c.amounts {
				s.deliver(t, over, s.credit(over, i+1, func(c *iso20022.CreditTransfer) {
					paid, err := money.Parse(amount, "USD")
					if err != nil {
						t.Fatal(err)
					}
					c.EndToEndID, c.Amount = "RFP-"+p.UID.String(), paid
				}))
				of = append(of, s.newest(t))
			}
			s.rejects(t, of[len(of)-1])
			s.hears(t)
			s.until(t, "2026-11-21 00:05")
			s.expire(t)
			s.lived(t, p.UID, "QUEUED SENT")
			s.lived(t, of[0], c.life)
			s.release(t, of[0])
			s.lived(t, p.UID, "QUEUED SENT SETTLED")
			if r := s.requestOf(t, p.UID); r.Credit != of[0] {
				t.Errorf("paid by %s, want %s", r.Credit, of[0])
			}
			s.Prove()
		})
	}
}

// A change of a series takes the people that one of its payments takes, by what settings say when they
// approve.
func TestAChangeOfASeriesIsApprovedByAsManyAsItTakesByNow(t *testing.T) {
	t.Parallel()
	s := newSender(t, dual)
	out, err := s.Payments.Send(s.Someone("maker"),
		s.order("10", func(o *payments.Order) { o.Repeat = weekly() }),
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	approve := func(of int64, who string) error {
		_, err := s.Changes.Approve(s.Someone(who), changes.UID(of), changes.RequestOptions{})
		return err
	}
	if err := approve(out.Approval, "first"); err != nil {
		t.Fatal(err)
	}
	change := func() int64 {
		t.Helper()
		out, err := s.Payments.ChangeRecurrence(s.Someone("maker"), out.Result.Recurrence,
			payments.RecurrenceDraft{Amount: "11"}, changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return out.Approval
	}
	before := change()
	s.Exec(`UPDATE customers SET access_number_of_approvers = 2 WHERE tenant = ? AND uid = ?`, s.Tenant,
		s.from.Customer)
	if err := approve(before, "first"); !errors.Is(err, changes.ErrStale) {
		t.Errorf("one approves what takes two by now: %v", err)
	}
	if _, err := s.Changes.Refuse(s.Someone("first"), changes.UID(before),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	after := change()
	for _, who := range []string{"first", "second"} {
		if err := approve(after, who); err != nil {
			t.Error(who, err)
		}
	}
}
