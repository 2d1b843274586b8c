package payments_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/sandbox"
	"bankgraph/core/seal"
)

// asks lets a customer of another bank ask the account for a payment, and takes it in. It returns the
// request; 0 if none was taken.
func (s *sender) asks(t *testing.T, over rails.Rail, edits ...func(*sandbox.Request)) payments.UID {
	t.Helper()
	d := sandbox.Request{
		Account: s.from.UID, Amount: "25.00", Rail: string(over), CreditorName: "Harbor Chandlery",
		CreditorNumber: "5550007777", CreditorBank: theirs, Reference: "INV-77", Notes: "Ropes",
	}
	for _, edit := range edits {
		edit(&d)
	}
	before := s.newest(t)
	if _, err := s.Sandbox.PlayRequest(s.Staff(), d, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if uid := s.newest(t); uid != before {
		return uid
	}
	return 0
}

// request is the request of a customer of another bank for a payment of the account, in the message n. It has
// the same ids in each.
func (s *sender) request(
	over rails.Rail, n int, edits ...func(*iso20022.PaymentRequest),
) *iso20022.PaymentRequest {
	r := &iso20022.PaymentRequest{
		Group: s.group(over, n), RequestID: "R-77", InstructionID: "I-77", EndToEndID: "INV-77",
		UETR: "00000000-0000-4000-8000-000000000077", ExecutionDate: day(0), Amount: money.Of(25_00, "USD"),
		DebtorAgent: ours, CreditorAgent: theirs,
		Debtor:   iso20022.Party{Name: "Somebody", Account: coretest.AccountNumber(s.from.UID)},
		Creditor: iso20022.Party{Name: "Harbor Chandlery", Account: "5550007777"},
	}
	for _, edit := range edits {
		edit(r)
	}
	return r
}

// met returns the payment by which a request was met, and fails the test if there is none.
func (s *sender) met(t *testing.T, request payments.UID) *payments.Shown {
	t.Helper()
	r := s.requestOf(t, request)
	if r == nil || r.Credit == 0 {
		t.Fatalf("request %s has no payment: %+v", request, r)
	}
	return s.shows(t, r.Credit)
}

var requesting = []rails.Rail{rails.FedNow, rails.RTP, rails.Fedwire}

// A request moves nothing. Whoever approves it makes a payment to who asks, over the same network and with
// the reference by which that knows it.
func TestARequestOfAnotherBankIsPaidWhenPeopleApproveIt(t *testing.T) {
	t.Parallel()
	for _, over := range requesting {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := s.asks(t, over)
			p := s.shows(t, uid)
			if p.State != payments.OnHold || p.Direction != payments.In ||
				p.EntryType != rails.Debit || p.Rail != over ||
				p.SenderAccount != s.from.UID || p.ReceiverName != "Harbor Chandlery" ||
				p.MemoPost() != payments.NotApplicable ||
				p.ExternalReferenceID != "INV-77" || p.Receiver.BankID != theirs ||
				p.Receiver.Last4 != "7777" {
				t.Errorf("%+v", p)
			}
			s.is(t, uid, positivepay.DecisionPending, positivepay.NoRule)
			s.has(t, 100_000_00, 0)
			s.Prove()
			if err := s.approve(s.Checker(), uid); err != nil {
				t.Fatal(err)
			}
			made := s.met(t, uid)
			if made.Direction != payments.Out || made.Rail != over || made.Minor != 25_00 ||
				made.ReceiverName != "Harbor Chandlery" ||
				made.Receiver.Last4 != "7777" || made.Receiver.BankID != theirs ||
				made.MakerLogin != "checker" {
				t.Errorf("%+v", made)
			}
			s.Prove()
			s.run(t)
			s.run(t)
			s.lived(t, uid, "HOLD SETTLED")
			s.lived(t, made.UID, "QUEUED SENT SETTLED")
			s.has(t, 99_975_00, 0)
			s.is(t, uid, positivepay.Approved, positivepay.NoRule)
			sent := s.sent(t)
			if want := map[rails.Rail]string{rails.Fedwire: "pacs.008"}[over]; want == "" &&
				sent != "pain.014 ACTC, pacs.008" ||
				want != "" && sent != want {
				t.Error(sent)
			}
			if err := s.approve(s.Checker(), uid); !errors.Is(err, positivepay.ErrExceptionDecided) {
				t.Errorf("paid twice: %v", err)
			}
			if _, err := s.back(uid, wholly(over)); !errors.Is(err, payments.ErrNotIncoming) {
				t.Errorf("given back: %v", err)
			}
		})
	}
}

func TestARequestThatPeopleRejectIsAnswered(t *testing.T) {
	t.Parallel()
	for over, told := range map[rails.Rail]string{
		rails.FedNow: "pain.014 ACTC, pain.014 RJCT CUST", rails.RTP: "pain.014 ACTC, pain.014 RJCT CUST",
		rails.Fedwire: "pain.014 RJCT CUST",
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			uid := s.asks(t, over)
			if err := s.reject(s.Checker(), uid); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.lived(t, uid, "HOLD REJECTED")
			s.is(t, uid, positivepay.Declined, positivepay.NoRule)
			if got := s.sent(t); got != told {
				t.Errorf("told %q, want %q", got, told)
			}
			if p := s.shows(t, uid); p.Reason != "CUST: the customer decided so" {
				t.Error(p.Reason)
			}
			s.has(t, 100_000_00, 0)
		})
	}
}

// requestRule makes a rule that allows the request of asks.
func (s *sender) requestRule(kind positivepay.Type, edits ...func(*positivepay.Rule)) {
	all := append([]func(*positivepay.Rule){func(r *positivepay.Rule) {
		r.Type, r.ACHCompanyID, r.BeneficiaryBankID, r.Minor = kind, "", theirs, 25_00
		r.BeneficiaryNumber = s.Keys.Seal("5550007777", seal.Place{
			Tenant: int64(s.Tenant), Column: positivepay.NumberColumn, Row: int64(r.UID),
		})
	}}, edits...)
	s.rule(all...)
}

func TestARequestThatARuleAllowsIsPaidOnItsDay(t *testing.T) {
	t.Parallel()
	for _, over := range requesting {
		kind := positivepay.Instant
		if over == rails.Fedwire {
			kind = positivepay.Fedwire
		}
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			s.requestRule(kind)
			uid := s.asks(t, over, func(d *sandbox.Request) { d.On = day(1) })
			s.lived(t, uid, "VALIDATED")
			s.is(t, uid, positivepay.AutoMatched, "")
			s.until(t, "2026-11-18 23:59")
			s.has(t, 100_000_00, 0)
			s.until(t, "2026-11-19 10:00")
			s.run(t)
			s.run(t)
			s.lived(t, uid, "VALIDATED SETTLED")
			s.has(t, 99_975_00, 0)
			if made := s.met(t, uid); made.Rail != over || made.State != payments.Settled {
				t.Errorf("%+v", made.Payment)
			}
		})
	}
}

// A rule allows what is asked for as long as it stands: a request may be for a day that is months away.
func TestARequestIsNotPaidByARuleThatEndedBeforeItsDay(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]string{
		"suspended": `UPDATE positive_pay_rules SET state = 'Suspended' WHERE tenant = ?`,
		"deleted":   `UPDATE positive_pay_rules SET state = 'Deleted' WHERE tenant = ?`,
		"expired":   `UPDATE positive_pay_rules SET expiry_date = '2026-11-19' WHERE tenant = ?`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			s.requestRule(positivepay.Instant)
			uid := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.On = day(2) })
			s.lived(t, uid, "VALIDATED")
			s.Exec(end, s.Tenant)
			s.until(t, "2026-11-20 10:00")
			s.run(t)
			s.lived(t, uid, "VALIDATED REJECTED")
			s.has(t, 100_000_00, 0)
			if got := s.sent(t); got != "pain.014 ACTC, pain.014 RJCT CUST" {
				t.Error(got)
			}
		})
	}
	s := newDebtor(t, positive)
	s.requestRule(positivepay.Instant, func(r *positivepay.Rule) { last := day(1); r.ExpiryDate = &last })
	uid := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.On = day(2) })
	s.is(t, uid, positivepay.DecisionPending, positivepay.NotActive)
}

// The first test that a request fails is the reason why people decide on it.
func TestARequestIsHeldUnlessARuleAllowsIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edits []func(*accounts.Account)
		rule  func(*positivepay.Rule)
		asks  func(*sandbox.Request)
		want  positivepay.Mismatch
	}{
		"an account without positive pay": {rule: func(*positivepay.Rule) {}, want: positivepay.NoRule},
		"a rule of ACH": {
			edits: []func(*accounts.Account){positive}, rule: func(r *positivepay.Rule) { r.Type = positivepay.ACH },
			want: positivepay.NoRule,
		},
		"another bank": {
			edits: []func(*accounts.Account){positive},
			rule:  func(r *positivepay.Rule) { r.BeneficiaryBankID = "021000021" },
			want:  positivepay.BankMismatch,
		},
		"another account": {
			edits: []func(*accounts.Account){positive}, rule: func(*positivepay.Rule) {},
			asks: func(d *sandbox.Request) { d.CreditorNumber = "5550007778" }, want: positivepay.AccountMismatch,
		},
		"more than the rule's": {
			edits: []func(*accounts.Account){positive}, rule: func(*positivepay.Rule) {},
			asks: func(d *sandbox.Request) { d.Amount = "25.01" }, want: positivepay.AmountMismatch,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, c.edits...)
			s.requestRule(positivepay.Instant, c.rule)
			if c.asks == nil {
				c.asks = func(*sandbox.Request) {}
			}
			uid := s.asks(t, rails.RTP, c.asks)
			s.is(t, uid, positivepay.DecisionPending, c.want)
		})
	}
}

// What cannot be paid is refused where a rule decides, and goes on waiting where people do.
func TestARequestThatCannotBePaid(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	s.requestRule(positivepay.Instant, func(r *positivepay.Rule) { r.Minor = 9_000_000_00 })
	uid := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.Amount = "200000.00" })
	s.run(t)
	s.lived(t, uid, "VALIDATED REJECTED")
	if got := s.sent(t); got != "pain.014 ACTC, pain.014 RJCT AM04" {
		t.Error(got)
	}
	s = newDebtor(t)
	uid = s.asks(t, rails.RTP, func(d *sandbox.Request) { d.Amount = "200000.00" })
	if err := s.approve(s.Checker(), uid); !errors.Is(err, ledger.ErrUncovered) {
		t.Error(err)
	}
	s.is(t, uid, positivepay.DecisionPending, positivepay.NoRule)
	s.lived(t, uid, "HOLD")
}

// Money that is pushed is not pushed by one person alone where the customer asks for two.
func TestWhatMeetsARequestWaitsForASecondPersonWhereTheCustomerAsks(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	uid := s.asks(t, rails.RTP)
	if err := s.approve(s.Someone("maker"), uid); err != nil {
		t.Fatal(err)
	}
	made := s.met(t, uid)
	if made.State != payments.PendingApproval {
		t.Errorf("%+v", made.Payment)
	}
	s.run(t)
	s.has(t, 100_000_00, 0)
	var approval changes.UID
	var operation, object string
	if err := s.DB.NewRaw(`SELECT uid, operation, object FROM approvals WHERE tenant = ? AND object_uid = ?`,
		s.Tenant, made.UID.String()).
		Scan(t.Context(), &approval, &operation, &object); err != nil || operation != "sendPayment" ||
		object != "payment" {
		t.Fatal(operation, object, err)
	}
	if _, err := s.Changes.Approve(s.Someone("maker"), approval,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("who approved the request approves its payment: %v", err)
	}
	if _, err := s.Changes.Approve(s.Checker(), approval, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.run(t)
	s.lived(t, made.UID, "PENDING_APPROVAL QUEUED SENT SETTLED")
	s.has(t, 99_975_00, 0)
}

// Who approves hears why a request cannot be paid, in words that fit.
func TestARequestOfABankThatIsNotKnownCannotBePaid(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.CreditorBank = "011000138" })
	err := s.approve(s.Checker(), uid)
	if !errors.Is(err, payments.ErrUnpayable) || !strings.Contains(err.Error(),
		"must be a bank of the directory") {
		t.Error(err)
	}
	s.is(t, uid, positivepay.DecisionPending, positivepay.NoRule)
	// a play that names no bank is of one that can be paid
	paid := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.CreditorBank = "" })
	if err := s.approve(s.Checker(), paid); err != nil {
		t.Error(err)
	}
}

func TestARequestThatNobodyDecidesOnLapses(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	uid := s.asks(t, rails.FedNow, func(d *sandbox.Request) { d.Expires = day(2) })
	s.until(t, "2026-11-20 23:58")
	s.lived(t, uid, "HOLD")
	s.until(t, "2026-11-21 00:01")
	s.run(t)
	s.lived(t, uid, "HOLD EXPIRED")
	s.is(t, uid, positivepay.DefaultDecision, positivepay.NoRule)
	if err := s.approve(s.Checker(), uid); !errors.Is(err, positivepay.ErrExceptionDecided) {
		t.Error(err)
	}
}

func TestAnotherAmountIsPaidWhereTheRequestAllowsIt(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	accept := func(uid payments.UID, amount string) error {
		_, err := s.Payments.ApproveException(s.Checker(), uid, payments.DecisionDraft{AcceptedAmount: amount},
			changes.RequestOptions{})
		return err
	}
	fixed := s.asks(t, rails.RTP)
	open := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.Modifiable = true })
	if !s.requestOf(t, open).Modifiable || s.requestOf(t, fixed).Modifiable {
		t.Error("the terms of the requests")
	}
	for amount, of := range map[string]payments.UID{
		"20.00": fixed, "25.01": open, "0": open, "x": open, "1.001": open,
	} {
		if f, is := fault.Of(accept(of, amount)); !is || f.Field != "acceptedAmount" {
			t.Errorf("%s: %v", amount, f)
		}
	}
	if err := accept(open, "20.00"); err != nil {
		t.Fatal(err)
	}
	if made := s.met(t, open); made.Minor != 20_00 {
		t.Errorf("%+v", made.Payment)
	}
	if err := accept(fixed, "25.00"); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.run(t)
	s.has(t, 99_955_00, 0)
	s.Prove()
}

// A request counts once, in however many messages it comes. Another one under its name is refused.
func TestARequestThatComesAgainCountsOnce(t *testing.T) {
	t.Parallel()
	for _, together := range []bool{true, false} {
		t.Run(fmt.Sprint(together), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			mine := coretest.AccountNumber(s.from.UID)
			request := func(message int, minor int64, edits ...func(*iso20022.PaymentRequest)) *iso20022.PaymentRequest {
				r := &iso20022.PaymentRequest{
					Group: s.group(rails.RTP, message), RequestID: "R1", ExecutionDate: day(0),
					InstructionID: "I1", EndToEndID: "E1",
					Amount: money.Of(minor, "USD"), Debtor: iso20022.Party{Name: "Somebody", Account: mine},
					Creditor: iso20022.Party{Name: "Ada Byron", Account: "5550001234"}, DebtorAgent: ours,
					CreditorAgent: theirs,
				}
				for _, edit := range edits {
					edit(r)
				}
				return r
			}
			all := []iso20022.Message{
				request(1, 25_00), request(1, 25_00), request(2, 25_00), request(3, 1_000_00),
				request(4, 25_00, func(r *iso20022.PaymentRequest) { r.Debtor.Account = "5512345" + mine[len(mine)-4:] }),
			}
			if together {
				s.deliver(t, rails.RTP, all...)
			} else {
				for _, m := range all {
					s.deliver(t, rails.RTP, m)
				}
			}
			want := "pain.014 ACTC, pain.014 ACTC, pain.014 RJCT AM05, pain.014 RJCT AM05"
			if got := s.sent(t); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
			found, err := s.Payments.Page(s.Staff(), payments.Search{Direction: payments.In}, page.First(5))
			if err != nil || found.Total != 1 || found.Items[0].Minor != 25_00 {
				t.Errorf("%+v %v", found, err)
			}
			s.Prove()
		})
	}
}

func TestARequestThatCannotBeTakenIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for code, statement := range map[string]string{
		"AC04": `UPDATE accounts SET status = 'Closed' WHERE tenant = ?`,
		"AC06": `UPDATE accounts SET status = 'Suspended' WHERE tenant = ?`,
		"AG01": `UPDATE accounts SET rtp_send = false WHERE tenant = ?`,
		// it sends, and does not want to be asked
		"AG01 ": `UPDATE accounts SET rfp_receive = false WHERE tenant = ?`,
	} {
		t.Run(code, func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			s.Exec(statement, s.Tenant)
			if uid := s.asks(t, rails.RTP); uid != 0 {
				t.Error("taken", uid)
			}
			if got := s.sent(t); got != "pain.014 RJCT "+strings.TrimSpace(code) {
				t.Error(got)
			}
		})
	}
}

// A payment that meets a request keeps to limits, and to the lists of names.
func TestWhatMeetsARequestIsAPaymentLikeOthers(t *testing.T) {
	t.Parallel()
	s := newDebtor(t)
	s.lists(t, "Harbor Chandlery")
	uid := s.asks(t, rails.FedNow)
	if err := s.approve(s.Checker(), uid); err != nil {
		t.Fatal(err)
	}
	made := s.met(t, uid)
	s.inScreening(t, made.UID)
	if _, err := s.Payments.ReleaseScreened(s.Checker(), made.UID, because); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("who approved the request releases its payment: %v", err)
	}
	s.lived(t, made.UID, "SCREENING")
	early := s.asks(t, rails.FedNow,
		func(d *sandbox.Request) { d.CreditorName, d.On, d.Early = "Old Mill", day(5), true })
	late := s.asks(t, rails.FedNow, func(d *sandbox.Request) { d.CreditorName, d.On = "Old Mill", day(5) })
	for _, of := range []payments.UID{early, late} {
		if err := s.approve(s.Checker(), of); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.met(t, early).State; got != payments.Queued {
		t.Error(got)
	}
	if got := s.met(t, late); got.State != payments.Scheduled || !got.Date.Equal(day(5)) {
		t.Errorf("%+v", got.Payment)
	}
	s.Prove()
}

// What a bank asks for in a year that nobody lives to see cannot be read, and keeps nothing else from being
// taken.
func TestARequestOfAFarYearStopsNothing(t *testing.T) {
	t.Parallel()
	for _, over := range requesting {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t)
			var body bytes.Buffer
			if err := iso20022.Write(&body, payments.Profiles[over], s.request(over, 1)); err != nil {
				t.Fatal(err)
			}
			day := regexp.MustCompile(`<ReqdExctnDt>(<Dt>)?[0-9-]+`)
			text := day.ReplaceAllString(body.String(), "<ReqdExctnDt>${1}9998-12-31")
			if !strings.Contains(text, "9998") {
				t.Fatal(text)
			}
			s.arrive(t, over, text)
			s.play(t, over, "250.00")
			s.has(t, 100_250_00, 0)
			if got := s.refusedCredits(t); len(got) != 1 ||
				!strings.Contains(got[0], "must be a date or time") {
				t.Errorf("people are told: %q", got)
			}
		})
	}
}

// One request that comes over two networks is paid once.
func TestARequestOverTwoNetworksIsPaidOnce(t *testing.T) {
	t.Parallel()
	s := newDebtor(t, positive)
	s.requestRule(positivepay.Instant)
	ask := func(over rails.Rail, n int, uetr string) {
		t.Helper()
		s.deliver(t, over, s.request(over, n, func(r *iso20022.PaymentRequest) { r.UETR = uetr }))
		for range 2 {
			s.Clock.Advance(time.Minute)
			s.run(t)
		}
	}
	one, other := "00000000-0000-4000-8000-000000000077", "00000000-0000-4000-8000-000000000078"
	ask(rails.FedNow, 1, one)
	ask(rails.RTP, 2, one)
	s.has(t, 99_975_00, 0)
	if got := s.sent(t); strings.Count(got, "pain.014 ACTC") != 2 {
		t.Errorf("both networks hear that it was taken: %s", got)
	}
	ask(rails.RTP, 3, other)
	s.has(t, 99_950_00, 0)
	s.Prove()
}

// Who uses the name of a request again, for another amount or of another account, hears so, over whatever
// network it comes.
func TestARequestThatDiffersOverAnotherNetworkIsNotPaidBesideTheFirst(t *testing.T) {
	t.Parallel()
	for _, again := range requesting {
		for what, edit := range map[string]func(s *sender, r *iso20022.PaymentRequest){
			"amount": func(_ *sender, r *iso20022.PaymentRequest) { r.Amount = money.Of(26_00, "USD") },
			"account": func(s *sender, r *iso20022.PaymentRequest) {
				of := s.Account(s.Customer(), coretest.Holding(100_00, 0), coretest.Sends)
				r.Debtor.Account = coretest.AccountNumber(of.UID)
			},
		} {
			t.Run(string(again)+" another "+what, func(t *testing.T) {
				t.Parallel()
				s := newDebtor(t, positive)
				s.requestRule(positivepay.Instant)
				s.deliver(t, rails.FedNow, s.request(rails.FedNow, 1))
				s.run(t)
				s.run(t)
				s.deliver(t, again, s.request(again, 2, func(r *iso20022.PaymentRequest) { edit(s, r) }))
				s.run(t)
				s.run(t)
				got := s.sent(t)
				if strings.Count(got, "pacs.008") != 1 || !strings.HasSuffix(got, "pain.014 RJCT AM05") {
					t.Errorf("sent %q", got)
				}
				s.has(t, 99_975_00, 0)
				s.Prove()
			})
		}
	}
}

// A request that comes late, as after an outage, has no more time by that: who asked has asked anew.
func TestARequestWhoseTimeIsOverWhenItComesIsRefused(t *testing.T) {
	t.Parallel()
	for over, days := range map[rails.Rail]struct {
		last int // how many days ago the day of a request is that can still be paid
		kind positivepay.Type
	}{
		rails.FedNow:  {365, positivepay.Instant},
		rails.RTP:     {30, positivepay.Instant},
		rails.Fedwire: {0, positivepay.Fedwire},
	} {
		t.Run(string(over), func(t *testing.T) {
			t.Parallel()
			s := newDebtor(t, positive)
			s.requestRule(days.kind)
			ago := func(n, days int) *iso20022.PaymentRequest {
				return s.request(over, n, func(r *iso20022.PaymentRequest) {
					r.ExecutionDate, r.UETR = day(-days), fmt.Sprintf("00000000-0000-4000-8000-%012d", n)
				})
			}
			s.deliver(t, over, ago(1, days.last+1))
			if uid := s.newest(t); uid != 0 {
				t.Errorf("taken: %s until %s", s.life(t, uid), s.requestOf(t, uid).Expires.Format(time.DateOnly))
			}
			if got := s.sent(t); got != "pain.014 RJCT TM01" {
				t.Errorf("sent %q", got)
			}
			s.deliver(t, over, ago(2, days.last))
			s.run(t)
			if got := s.requestOf(t, s.newest(t)); got == nil || !got.Expires.Equal(day(0)) {
				t.Errorf("its last day is today: %+v", got)
			}
			s.has(t, 99_975_00, 0)
			s.Prove()
		})
	}
}
