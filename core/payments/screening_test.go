package payments_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/screening"
)

// lists puts names on a list of the bank, in place of those before.
func (s *sender) lists(t *testing.T, names ...string) {
	t.Helper()
	_, err := s.Screening.Import(access.Operator(t.Context(), s.Tenant, s.Code, nil), screening.Import{
		List: "sanctions", Format: screening.CSV,
		From: strings.NewReader("name\n" + strings.Join(names, "\n") + "\n"), AllowGone: true,
	})
	if err != nil {
		t.Fatal(err)
	}
}

// paidTo names who is paid.
func paidTo(name string) func(*payments.Order) {
	return func(o *payments.Order) {
		described(o)
		o.Receiver.Name = name
		o.Receiver.Address = postal.Address{
			Line1: "1 Main St", City: "Riverton", State: "OH", PostalCode: "43215",
			CountryCode: "US",
		}
	}
}

// inScreening fails the test unless people look at a payment, and returns what they see.
func (s *sender) inScreening(t *testing.T, uid payments.UID) *screening.Screening {
	t.Helper()
	if p := s.shows(t, uid); p.State != payments.Screening || p.Status() != payments.StatusScreening {
		t.Errorf("%+v", p.Payment)
	}
	b := s.Core.Batch()
	found := s.Payments.ScreeningsOf(s.Staff(), b, []payments.UID{uid})
	if err := b.Send(t.Context()); err != nil || found.Err != nil || len(found.Of[uid]) != 1 {
		t.Fatal(err, found.Err, found.Of)
	}
	return found.Of[uid][0]
}

var because = changes.RequestOptions{Reason: "another person: born in 1815"}

func TestAPaymentToAListedNameWaitsWithItsMoneyUntilPeopleReleaseIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.priced()
	s.lists(t, "Ada King", "Grace Hopper")
	begin := int64(100_000_00)
	for _, edit := range []func(*payments.Order){instantly, byWire} {
		made := s.send(t, s.order("250.00", paidTo("KING, Ada"), edit))
		if made.Status != payments.StatusScreening {
			t.Errorf("%+v", made)
		}
		fee := s.shows(t, made.UID).FeeMinor
		s.has(t, begin, 250_00+fee)
		s.run(t)
		s.run(t)
		r := s.inScreening(t, made.UID)
		if r.Name != "KING, Ada" || len(r.Matches) != 1 || r.Matches[0].Name != "Ada King" ||
			r.Status != screening.Pending {
			t.Errorf("%+v", r)
		}
		s.Prove()
		if _, err := s.Payments.Cancel(s.Staff(), made.UID,
			changes.RequestOptions{}); !errors.Is(err, payments.ErrOver) {
			t.Errorf("its maker cancels it: %v", err)
		}
		if _, err := s.Payments.ReleaseScreened(s.Checker(), made.UID, because); err != nil {
			t.Fatal(err)
		}
		s.has(t, begin, 250_00+fee)
		s.run(t)
		s.run(t)
		if got := s.life(t, made.UID); got != "SCREENING QUEUED SENT SETTLED" {
			t.Error(got)
		}
		begin -= 250_00 + fee
		s.has(t, begin, 0)
		for _, decide := range []func() error{
			func() error { _, err := s.Payments.ReleaseScreened(s.Checker(), made.UID, because); return err },
			func() error { _, err := s.Payments.RejectScreened(s.Checker(), made.UID, because); return err },
		} {
			if err := decide(); !errors.Is(err, payments.ErrNotScreened) {
				t.Errorf("decided twice: %v", err)
			}
		}
		s.Prove()
	}
}

func TestAPaymentThatComplianceRejectsIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.priced()
	s.Limit(&customers.Customer{UID: s.from.Customer}, "INSTANT_PAYMENT_LIMIT_PER_DAY", 300_00)
	s.lists(t, "Ada King")
	made := s.send(t, s.order("250.00", paidTo("Ada King"), instantly))
	if _, err := s.Payments.RejectScreened(s.Checker(), made.UID, because); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 0)
	p := s.shows(t, made.UID)
	if p.State != payments.Cancelled || p.FeeMinor != 0 || strings.Contains(p.Reason, "1815") {
		t.Errorf("%+v", p.Payment)
	}
	s.run(t)
	s.Prove()
	s.send(t, s.order("250.00", paidTo("Charles Babbage"), instantly)) // the limit has its room again
	var reason, login string
	if err := s.DB.NewRaw(`SELECT reason, decided_login FROM payment_screenings
		WHERE tenant = ? AND payment = ? AND status = 'REJECTED'`,
		s.Tenant, made.UID).Scan(t.Context(), &reason, &login); err != nil || reason != because.Reason ||
		login != "checker" {
		t.Error(reason, login, err)
	}
	// a partner that may read the record of its customers does not find it there
	var inside, outside int
	if err := s.DB.NewRaw(`SELECT count(*) FILTER (WHERE customer IS NULL),
		count(*) FILTER (WHERE customer IS NOT NULL)
		FROM audit_entries WHERE tenant = ? AND reason = ?`, s.Tenant, because.Reason).Scan(t.Context(), &inside,
		&outside); err != nil ||
		inside != 1 || outside != 0 {
		t.Errorf("the reason is in %d entries of the bank, and %d of the customer (%v)", inside, outside, err)
	}
}

// Every way by which a payment comes to a network passes the lists: they are those of the moment at which it
// is carried out.
func TestEveryPaymentOverANetworkIsScreenedWhenItIsCarriedOut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edits []func(*customers.Customer)
		make  func(*testing.T, *sender) payments.UID
		life  string
	}{
		"over ACH": {nil, func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			s.lists(t, "Ada King")
			return s.send(t, s.order("5.00", paidTo("Ada King"),
				func(o *payments.Order) { o.Speed, o.SECCode = "Economy", "PPD" })).UID
		}, "SCREENING"},
		"to a contact": {nil, func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			s.lists(t, s.to.Name)
			return s.send(t, s.order("5.00")).UID
		}, "SCREENING"},
		"on a later day": {nil, func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			made := s.send(t, s.order("5.00", paidTo("Ada King"), byWire, func(o *payments.Order) { o.Date = day(1) }))
			s.lists(t, "Ada King")
			s.until(t, "2026-11-19 10:00")
			return made.UID
		}, "SCHEDULED SCREENING"},
		"after an approval": {
			[]func(*customers.Customer){func(c *customers.Customer) { c.Access.PaymentDualApproval = true }},
			func(t *testing.T, s *sender) payments.UID {
				t.Helper()
				out, err := s.Payments.Send(s.Staff(), s.order("5.00", paidTo("Ada King")), changes.RequestOptions{})
				if err != nil {
					t.Fatal(err)
				}
				s.lists(t, "Ada King")
				if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
					changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
				return out.Result.UID
			}, "PENDING_APPROVAL SCREENING",
		},
		"after a repair": {nil, func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			s.lists(t, "Ada King")
			p := s.inRepair(t, s.order("5.00", repairably, paidTo("Ada King"),
				func(o *payments.Order) { o.Date = day(-1) }), "paymentDate")
			if _, err := s.Payments.Repair(s.Checker(), p.UID, payments.Repairs{Date: day(0)},
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			return p.UID
		}, "REPAIR SCREENING"},
		"where people look at all": {nil, func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			s.Exec(`INSERT INTO tenant_settings (tenant, people_decide, screen_all)
				VALUES (?, true, true)`, s.Tenant)
			return s.send(t, s.order("5.00", paidTo("Nobody Special"))).UID
		}, "SCREENING"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, c.edits...)
			uid := c.make(t, s)
			s.run(t)
			s.inScreening(t, uid)
			if got := s.life(t, uid); got != c.life {
				t.Error(got)
			}
			s.Prove()
			if _, err := s.Payments.ReleaseScreened(s.Someone("officer"), uid, because); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.Prove()
			if got := s.life(t, uid); !strings.HasPrefix(got, c.life+" QUEUED") {
				t.Error(got)
			}
		})
	}
}

// A debit is screened for who pays it, a transfer between the bank's own customers for nobody; other names
// than those of the list pass.
func TestOnlyTheOtherSideOfANetworkIsScreened(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King", "Harbor Payroll", "Viktor Drazenko")
	if made := s.send(t,
		s.order("5.00", paidTo("Ada Kingsley"))); made.Status != payments.StatusReadyToTransmit {
		t.Errorf("%+v", made)
	}
	payee := s.Account(s.Customer(func(c *customers.Customer) { c.LegalName = "Viktor Drazenko" }),
		coretest.Holding(0, 0))
	out, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: payee.UID}, Amount: "1.00",
	}, changes.RequestOptions{})
	if err != nil || out.Result.Status != payments.StatusProcessed {
		t.Errorf("%+v %v", out, err)
	}
}

func TestWhoMayDecideOnWhatComplianceLooksAt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	maker := s.Someone("maker")
	out, err := s.Payments.Send(maker, s.order("5.00", paidTo("Ada King")), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid := out.Result.UID
	of := s.DownstreamPartner()
	for name, c := range map[string]struct {
		who     func() error
		refused error
	}{
		"its maker": {
			func() error { _, err := s.Payments.ReleaseScreened(maker, uid, because); return err },
			changes.ErrOwn,
		},
		"its maker, no": {
			func() error { _, err := s.Payments.RejectScreened(maker, uid, because); return err },
			changes.ErrOwn,
		},
		"a program": {
			func() error { _, err := s.Payments.ReleaseScreened(s.Staff(), uid, because); return err },
			changes.ErrPerson,
		},
		"a partner": {
			func() error { _, err := s.Payments.ReleaseScreened(s.Partner(of), uid, because); return err },
			access.ErrDenied,
		},
		"no permission": {func() error {
			_, err := s.Payments.ReleaseScreened(s.As(access.ApprovePayments), uid, because)
			return err
		}, access.ErrDenied},
		"without a reason": {func() error {
			_, err := s.Payments.ReleaseScreened(s.Checker(), uid, changes.RequestOptions{})
			if f, is := fault.Of(err); !is || f.Field != "reason" {
				return errors.New("no fault of the reason")
			}
			return changes.ErrOwn
		}, changes.ErrOwn},
	} {
		if err := c.who(); !errors.Is(err, c.refused) {
			t.Errorf("%s: %v, want %v", name, err, c.refused)
		}
	}
	b := s.Core.Batch()
	without := s.Payments.ScreeningsOf(s.As(access.ViewPayments), b, []payments.UID{uid})
	outside := s.Payments.ScreeningsOf(s.Partner(of), b, []payments.UID{uid})
	if err := b.Send(t.Context()); err != nil || !errors.Is(without.Err, access.ErrDenied) ||
		outside.Err != nil || len(outside.Of) > 0 {
		t.Errorf("who sees the names: %v, %v; %v, %v", err, without.Err, outside.Err, outside.Of)
	}
	s.inScreening(t, uid)
}

// Nobody decides on what they answer for: a program that names them, and a payment that they have repaired.
func TestWhoAnswersForAPaymentDoesNotRelease(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	s.answersForStaff(t, "linda")
	programs := s.send(t, s.order("5.00", paidTo("Ada King"))).UID // of the key staff
	o := s.order("5.00", repairably, paidTo("Charles Babbage"))
	o.Receiver.Bank.ID = "011000138"
	p := s.inRepair(t, o, "receiver.bank.bankId")
	to := o.Receiver
	to.Bank.ID, to.Name = "611590103", "Ada King"
	done, err := s.Payments.Repair(s.Someone("maria"), p.UID, payments.Repairs{Receiver: &to},
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// nor do they approve it as the second person
	if _, err := s.Changes.Approve(s.Someone("linda"), changes.UID(done.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("who answers for the maker approves: %v", err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(done.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		of      payments.UID
		who     string
		refused error
	}{
		{programs, "linda", changes.ErrOwn},
		{p.UID, "linda", changes.ErrOwn},
		{p.UID, "maria", changes.ErrOwn},
		{programs, "maria", nil},
		{p.UID, "checker", nil},
	} {
		s.inScreening(t, c.of)
		if _, err := s.Payments.ReleaseScreened(s.Someone(c.who), c.of, because); !errors.Is(err, c.refused) {
			t.Errorf("%s releases payment %s: %v, want %v", c.who, c.of, err, c.refused)
		}
	}
}

// Who has repaired the first payment of a series does not decide on the later ones, which pay whom that
// repair says.
func TestWhoRepairsWhatBeginsASeriesDoesNotReleaseIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	o := s.order("5.00", instantly, repairably, paidTo("Charles Babbage"), func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "Cancelled"}
	})
	o.Receiver.Bank.ID = unknownBank
	p := s.inRepair(t, o, "receiver.bank.bankId")
	to := o.Receiver
	to.Bank.ID, to.Name = overFedwire, "Ada King"
	done, err := s.Payments.Repair(s.Someone("maria"), p.UID, payments.Repairs{Receiver: &to},
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(done.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Clock.Advance(24 * time.Hour)
	s.run(t)
	found, err := s.Payments.Page(s.Staff(), payments.Search{Recurrence: done.Result.Recurrence},
		page.First(50))
	if err != nil || len(found.Items) != 2 {
		t.Fatalf("%d payments: %v", len(found.Items), err)
	}
	for _, p := range found.Items {
		s.inScreening(t, p.UID)
		for _, c := range []struct {
			who     string
			refused error
		}{{"maria", changes.ErrOwn}, {"checker", nil}} {
			if _, err := s.Payments.ReleaseScreened(s.Someone(c.who), p.UID, because); !errors.Is(err, c.refused) {
				t.Errorf("%s releases payment %s: %v, want %v", c.who, p.UID, err, c.refused)
			}
		}
	}
}

// What one customer has wait for compliance hides nothing of the others, and does not end by itself.
func TestOfACustomerFewPaymentsWaitForCompliance(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	uid := s.send(t, s.order("1.00", paidTo("Ada King"))).UID
	s.Exec(`INSERT INTO payments SELECT (jsonb_populate_record(p, jsonb_build_object('uid', p.uid + n))).*
		FROM payments AS p, generate_series(1000000, 1000498) AS n WHERE p.tenant = ? AND p.uid = ?`, s.Tenant, uid)
	_, err := s.Payments.Send(s.Staff(), s.order("1.00", paidTo("Charles Babbage")), changes.RequestOptions{})
	if err != nil {
		t.Errorf("another name: %v", err)
	}
	for _, o := range []payments.Order{
		s.order("1.00", paidTo("Ada King")), s.order("1.00", paidTo("Ada King"), byWire),
	} {
		if _, err := s.Payments.Send(s.Staff(), o,
			changes.RequestOptions{}); !errors.Is(err, payments.ErrManyInScreening) {
			t.Errorf("one too many: %v", err)
		}
	}
	s.has(t, 100_000_00, 2_00) // of those that were taken
	if _, err := s.Payments.RejectScreened(s.Checker(), uid, because); err != nil {
		t.Fatal(err)
	}
	s.send(t, s.order("1.00", paidTo("Ada King")))
	s.Exec(`INSERT INTO tenant_settings (tenant, people_decide, screen_all) VALUES (?, true, true)`, s.Tenant)
	s.send(t, s.order("1.00", paidTo("Nobody Special"))) // where people look at all there is no bound
}

// A payment that is released after its network has closed leaves on the next day, and counts there.
func TestAPaymentThatIsReleasedLateLeavesOnTheNextDay(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	made := s.send(t, s.order("5.00", paidTo("Ada King"), byWire))
	s.until(t, "2026-11-18 19:30")
	if _, err := s.Payments.ReleaseScreened(s.Checker(), made.UID, because); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if p := s.shows(t, made.UID); p.State != payments.Queued || !p.Date.Equal(day(1)) {
		t.Errorf("%s on %s", p.State, p.Date)
	}
	s.Prove()
	s.until(t, "2026-11-19 10:00")
	s.run(t)
	if got := s.life(t, made.UID); got != "SCREENING QUEUED SENT SETTLED" {
		t.Error(got)
	}
	s.Prove()
}

// What has waited for compliance goes on only if its account still may send it, and its new day has room for
// it: payments that have waited for different days must not all leave on one.
func TestWhatComplianceReleasesIsAskedAgainWhetherItMayGo(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Limit(&customers.Customer{UID: s.from.Customer}, "FEDWIRE_PAYMENT_LIMIT_PER_DAY", 300_00)
	s.lists(t, "Ada King")
	first := s.send(t, s.order("250.00", paidTo("Ada King"), byWire))
	s.until(t, "2026-11-19 09:00")
	second := s.send(t, s.order("250.00", paidTo("Ada King"), byWire))
	s.release(t, second.UID)
	s.run(t)
	for _, c := range []struct {
		change string
		want   error
	}{
		{``, payments.ErrLimit}, // on this day 50.00 are left
		{`UPDATE accounts SET enable_wires = false WHERE tenant = ? AND uid = ?`, payments.ErrRailOff},
	} {
		if c.change != "" {
			s.until(t, "2026-11-20 09:00")
			s.Exec(c.change, s.Tenant, s.from.UID)
		}
		if _, err := s.Payments.ReleaseScreened(s.Checker(), first.UID, because); !errors.Is(err, c.want) {
			t.Errorf("%v, want %v", err, c.want)
		}
	}
	s.lived(t, first.UID, "SCREENING")
	s.Exec(`UPDATE accounts SET enable_wires = true WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	s.release(t, first.UID)
	s.run(t)
	s.lived(t, first.UID, "SCREENING QUEUED SENT SETTLED")
	s.lived(t, second.UID, "SCREENING QUEUED SENT SETTLED")
	s.send(t, s.order("50.00", byWire))
}

func TestAPaymentByATradeIsReleasedBeforeItsValueDate(t *testing.T) {
	t.Parallel()
	s := newExporter(t)
	s.lists(t, "Jürgen Müller")
	traded := s.trade(t, "2500.50")
	made := s.send(t, s.toGermany("2500.50", traded.UID))
	s.inScreening(t, made.UID)
	s.until(t, "2026-11-23 09:00") // its value date was the 20th
	if _, err := s.Payments.ReleaseScreened(s.Checker(), made.UID, because); !errors.Is(err,
		payments.ErrTradeOver) {
		t.Error(err)
	}
	s.rejects(t, made.UID)
	s.lived(t, made.UID, "SCREENING CANCELLED")
	s.has(t, 100_000_00, 0)
}

// A preview would tell who is on the lists.
func TestAPreviewDoesNotTellWhoIsListed(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.lists(t, "Ada King")
	p, err := s.Payments.PreviewSend(s.Staff(), s.order("5.00", paidTo("Ada King")))
	if err != nil || p.State != payments.Queued {
		t.Errorf("%+v %v", p, err)
	}
}

// Who let a payment be made releases it no more than its maker does: who asked for the rule of positive pay
// that allowed it, or let another bank's request through, and who made its contact what it is.
func TestWhoLetAPaymentBeMadeDoesNotRelease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		made func(t *testing.T, s *sender) payments.UID // by linda, as far as people do
	}{
		"a rule": {func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			_, err := s.PositivePay.Create(s.Someone("linda"), ruleFor(s, positivepay.Instant, "50.00"),
				changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			request := s.asks(t, rails.RTP)
			s.is(t, request, positivepay.AutoMatched, "")
			s.run(t)
			return s.met(t, request).UID
		}},
		"a contact's name": {func(t *testing.T, s *sender) payments.UID {
			t.Helper()
			_, err := s.Contacts.Change(s.Someone("linda"), s.from.Customer, s.to.UID,
				contacts.Draft{Name: given.Of("Harbor Chandlery")}, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			return s.send(t, s.order("5.00", instantly)).UID // of the key staff
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			s.lists(t, "Harbor Chandlery")
			uid := c.made(t, s)
			s.inScreening(t, uid)
			if _, err := s.Payments.ReleaseScreened(s.Someone("linda"), uid, because); !errors.Is(err,
				changes.ErrOwn) {
				t.Errorf("linda: %v", err)
			}
			s.inScreening(t, uid)
			if _, err := s.Payments.ReleaseScreened(s.Someone("maria"), uid, because); err != nil {
				t.Errorf("maria: %v", err)
			}
		})
	}
}
