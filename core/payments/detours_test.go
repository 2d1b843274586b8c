package payments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

// Where a series or a sweep pays is a matter of payments: who may only keep contacts does not give a contact
// that is paid by itself another account, and where two people agree to payments they agree to that.
func TestWhatPaysByItselfIsRedirectedOnlyByWhoMayPay(t *testing.T) {
	t.Parallel()
	keeper := func(s *sender) context.Context { return s.As(access.ManageContacts) }
	payer := func(s *sender) context.Context { return s.As(access.ManageContacts, access.InitiatePayments) }
	account := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("66660000")}}
	bank := overBank(contacts.IntermediaryDraft{NationalCode: given.Of(gateway)})
	branch := overBank(contacts.IntermediaryDraft{SWIFTCode: given.Of("GATEUS33")})
	series := func(t *testing.T, s *sender) {
		t.Helper()
		s.send(t, s.order("10", instantly, func(o *payments.Order) {
			o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
		}))
	}
	for name, c := range map[string]struct {
		paid   func(*testing.T, *sender)
		as     func(*sender) context.Context
		dual   bool
		draft  contacts.Draft
		denied bool
		waits  bool
	}{
		"nothing pays it":                  {func(*testing.T, *sender) {}, keeper, true, account, false, false},
		"a series, who may not pay":        {series, keeper, false, account, true, false},
		"a series, who may":                {series, payer, false, account, false, false},
		"a series, where two people agree": {series, payer, true, account, false, true},
		"a bank, nothing pays it":          {func(*testing.T, *sender) {}, keeper, false, bank, false, false},
		"a bank, who may not pay":          {series, keeper, false, bank, true, false},
		"a bank, who may":                  {series, payer, false, bank, false, false},
		"a bank, where two people agree":   {series, payer, true, bank, false, true},
		"a bank by its BIC, who may not":   {series, keeper, false, branch, true, false},
		"a series, another name": {
			series, keeper, true,
			contacts.Draft{Name: given.Of("Harbor")},
			false,
			false,
		},
		"a sweep, who may not pay": {func(_ *testing.T, s *sender) {
			s.Sweep(s.from, func(w *accounts.Sweep) { w.ToContact = &s.to.UID })
		}, keeper, false, account, true, false},
		"a sweep that collects": {func(_ *testing.T, s *sender) {
			s.Sweep(s.from, func(w *accounts.Sweep) {
				w.Direction, w.BalanceType, w.FromContact, w.FromMethod =
					accounts.In, accounts.Target, &s.to.UID, accounts.ACHDebit
				w.ToContact, w.ToMethod = nil, ""
			})
		}, keeper, false, account, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			c.paid(t, s)
			s.Exec(`UPDATE customers SET access_payment_dual_approval = ? WHERE tenant = ? AND uid = ?`,
				c.dual, s.Tenant, s.from.Customer)
			out, err := s.Contacts.Change(c.as(s), s.from.Customer, s.to.UID, c.draft, changes.RequestOptions{})
			if c.denied != errors.Is(err, access.ErrDenied) || !c.denied && err != nil ||
				c.waits != (out.Approval != 0) {
				t.Errorf("%+v %v", out, err)
			}
		})
	}
}

// Where payments of a series take two people, so does another account of the contact that it pays.
func TestAContactIsRedirectedByAsManyAsItsPaymentsTake(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.send(t, s.order("10", instantly, func(o *payments.Order) {
		o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
	}))
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true, access_number_of_approvers = 2
		WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	out, err := s.Contacts.Change(s.Someone("maker"), s.from.Customer, s.to.UID,
		contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("66660000")}}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	for _, c := range []struct {
		who  string
		want changes.Status
	}{{"first", changes.Open}, {"second", changes.Approved}} {
		if _, err := s.Changes.Approve(s.Someone(c.who), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Fatal(c.who, err)
		}
		if a, err := s.Changes.Find(s.Staff(), changes.UID(out.Approval)); err != nil || a.Status != c.want {
			t.Errorf("after the %s: %+v %v", c.who, a, err)
		}
	}
}

// overBank gives a contact an intermediary bank.
func overBank(d contacts.IntermediaryDraft) contacts.Draft {
	d.Country, d.Name = given.Of("US"), given.Of("Gateway Bank")
	return contacts.Draft{Intermediary: d}
}

// The wires of a series that the bank confirms go first to the bank that it has agreed to.
func TestASeriesThatTheBankConfirmsGoesOverNoOtherBankUnasked(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10", byWire, func(o *payments.Order) {
		o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
	}))
	s.Exec(`UPDATE accounts SET enable_callbacks = true, callback_limit = 999 WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.UID)
	of := &customers.Customer{UID: s.from.Customer}
	out, err := s.Contacts.Change(s.PersonOf(of, s.User(of, nil)), s.from.Customer, s.to.UID,
		overBank(contacts.IntermediaryDraft{NationalCode: given.Of(gateway)}), changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatalf("%+v %v", out, err)
	}
	goesTo := func(want string) {
		t.Helper()
		var last payments.UID
		if err := s.DB.NewRaw(`SELECT last_payment FROM recurrences WHERE tenant = ? AND uid = ?`, s.Tenant,
			p.Recurrence).Scan(t.Context(), &last); err != nil {
			t.Fatal(err)
		}
		if m := s.carried(t, last); m.Receiver != want {
			t.Errorf("payment %s goes to %s, want %s", last, m.Receiver, want)
		}
	}
	s.through(t, "2026-11-27 12:00")
	goesTo(overFedwire)
	if _, err := s.Changes.Approve(s.PersonOf(of, s.User(of, nil)), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrNotYours) {
		t.Errorf("another person of the customer: %v", err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.through(t, "2026-12-04 12:00")
	goesTo(gateway)
}

// Who confirms the wires of a series confirms to whom they go, and for how long.
func TestASeriesThatTheBankConfirmsGoesOnlyWhereItSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		limit int64 // above which the bank confirms
		waits bool
	}{"above": {9_99, true}, "within": {10_00, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", byWire, func(o *payments.Order) {
				o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), monthly(3)
			}))
			s.Exec(`UPDATE accounts SET enable_callbacks = true, callback_limit = ?
				WHERE tenant = ? AND uid = ?`, c.limit, s.Tenant, s.from.UID)
			of := &customers.Customer{UID: s.from.Customer}
			person := s.PersonOf(of, s.User(of, nil))
			out, err := s.Contacts.Change(person, s.from.Customer, s.to.UID,
				contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("66660000")}}, changes.RequestOptions{})
			if err != nil || (out.Approval != 0) != c.waits {
				t.Fatalf("to another account: %+v %v", out, err)
			}
			nine, two := int32(9), int32(2)
			for number, waits := range map[*int32]bool{&two: false, &nine: c.waits} {
				longer, err := s.Payments.ChangeRecurrence(person, p.Recurrence, payments.RecurrenceDraft{Number: number},
					changes.RequestOptions{})
				if err != nil || (longer.Approval != 0) != waits {
					t.Errorf("%d payments: %+v %v", *number, longer, err)
				}
				if longer.Approval != 0 {
					_, err := s.Changes.Refuse(s.Checker(), changes.UID(longer.Approval), changes.RequestOptions{})
					if err != nil {
						t.Fatal(err)
					}
				}
			}
			if !c.waits {
				return
			}
			if _, err := s.Changes.Approve(s.PersonOf(of, s.User(of, nil)), changes.UID(out.Approval),
				changes.RequestOptions{}); !errors.Is(err, changes.ErrNotYours) {
				t.Errorf("another person of the customer: %v", err)
			}
			if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestWhoLeadsASeriesElsewhereMayPayAsMuch(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.send(t, s.order("5000", instantly, func(o *payments.Order) {
		o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
	}))
	for most, fits := range map[int64]bool{4_999_99: false, 5_000_00: true} {
		clerk := bounded(t, s.Bank, fmt.Sprint("clerk", most), access.Limit{Name: access.PerPayment, Minor: most})
		_, err := s.Contacts.Change(clerk, s.from.Customer, s.to.UID, contacts.Draft{
			Bank: contacts.BankDraft{AccountNumber: given.Of(fmt.Sprint("6666", most))},
		}, changes.RequestOptions{})
		if fits != (err == nil) || err != nil && !errors.Is(err, contacts.ErrApproveLimit) {
			t.Errorf("who may pay %d: %v", most, err)
		}
	}
}

// Who agreed to another account of a contact before something paid the contact has not agreed to where that
// pays. Who agrees afterwards answers for the payments.
func TestARedirectionIsApprovedForWhatItPays(t *testing.T) {
	t.Parallel()
	account := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("66660000")}}
	ask := func(t *testing.T, s *sender) changes.UID {
		t.Helper()
		out, err := s.Contacts.Change(s.As(access.ManageContacts, access.InitiatePayments), s.from.Customer,
			s.to.UID,
			account, changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return changes.UID(out.Approval)
	}
	series := func(t *testing.T, s *sender) {
		t.Helper()
		s.send(t, s.order("10", instantly, func(o *payments.Order) {
			o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
			o.Fee = &payments.CustomFee{Amount: "5.00"}
		}))
	}
	may := func(s *sender, login string, edit func(*access.Caller)) context.Context {
		caller, err := access.Require(s.Someone(login))
		if err != nil {
			t.Fatal(err)
		}
		edit(&caller)
		return access.With(t.Context(), caller)
	}
	limited := func(most int64) func(*access.Caller) {
		return func(c *access.Caller) {
			c.Limits = []access.ApplicationLimits{{Name: access.OfPayments, Limits: []access.Limit{
				{Name: access.ApprovedPerPayment, Minor: most, Currency: "USD"},
			}}}
		}
	}
	none := func(*access.Caller) {}
	for name, c := range map[string]struct {
		people int
		before func(*testing.T, *sender) // the change was asked for
		after  func(*testing.T, *sender)
		as     func(*access.Caller)
		want   error
	}{
		"nothing pays it":        {1, nil, nil, none, nil},
		"a series pays it":       {1, series, nil, none, nil},
		"a series pays it since": {1, nil, series, none, changes.ErrStale},
		"a sweep pays it since": {1, nil, func(_ *testing.T, s *sender) {
			s.Sweep(s.from, func(w *accounts.Sweep) { w.ToContact = &s.to.UID })
		}, none, changes.ErrStale},
		"more people are asked since": {1, series, func(_ *testing.T, s *sender) {
			s.Exec(`UPDATE customers SET access_number_of_approvers = 2 WHERE tenant = ? AND uid = ?`,
				s.Tenant, s.from.Customer)
		}, none, changes.ErrStale},
		"the first of two, since": {2, nil, series, none, changes.ErrStale},
		"who may not approve payments": {1, series, nil, func(c *access.Caller) {
			c.Permissions = []access.Permission{access.ManageContacts}
		}, access.ErrDenied},
		"the first of two, who may not": {2, series, nil, func(c *access.Caller) {
			c.Permissions = []access.Permission{access.ManageContacts}
		}, access.ErrDenied},
		"above the approver's limit": {1, series, nil, limited(14_99), contacts.ErrApproveLimit},
		"within it, with the fee":    {1, series, nil, limited(15_00), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			if c.before != nil {
				c.before(t, s)
			}
			s.Exec(`UPDATE customers SET access_payment_dual_approval = true, access_bene_dual_approval = true,
				access_number_of_approvers = ? WHERE tenant = ? AND uid = ?`, c.people, s.Tenant, s.from.Customer)
			approval := ask(t, s)
			if c.after != nil {
				s.Exec(`UPDATE customers SET access_payment_dual_approval = false
					WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
				c.after(t, s)
				s.Exec(`UPDATE customers SET access_payment_dual_approval = true
					WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
			}
			_, err := s.Changes.Approve(may(s, "linda", c.as), approval, changes.RequestOptions{})
			if !errors.Is(err, c.want) {
				t.Errorf("%v, want %v", err, c.want)
			}
		})
	}
}

// A sweep that waits for a second person is agreed to as it was read: not with the account that its contact
// has been given since.
func TestASweepThatWaitsIsStaleOnceItsContactChanges(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE customers SET access_customer_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
		s.from.Customer)
	target, method, daily := accounts.Target, accounts.InstantPayment, accounts.Daily
	out, err := s.Accounts.SetSweep(s.Staff(), 0,
		accounts.SweepName{Account: s.from.UID, Direction: accounts.Out},
		accounts.SweepDraft{
			BalanceType: &target, TargetBalance: given.Of("300"), ToContact: &s.to.UID, ToMethod: &method,
			Frequency: &daily,
		}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	if _, err := s.Contacts.Change(s.As(access.ManageContacts), s.from.Customer, s.to.UID,
		contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("66660000")}},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
}

// ruleFor is a rule that lets Harbor Chandlery be paid up to an amount.
func ruleFor(s *sender, kind positivepay.Type, amount string) positivepay.Draft {
	d := positivepay.Draft{
		AccountNumber: given.Of(coretest.AccountNumber(s.from.UID)), Type: kind,
		BeneficiaryName: given.Of("Harbor Chandlery"), BeneficiaryAccountNumber: given.Of("5550007777"),
		Amount: given.Of(amount), AmountType: positivepay.Maximum, Frequency: positivepay.OnGoing,
		EffectiveDate: time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC), Form: positivepay.Second,
	}
	if kind == positivepay.ACH {
		d.ACHCompanyID = given.Of("9100011223")
	} else {
		d.BeneficiaryBankID = given.Of(theirs)
	}
	return d
}

// A rule of positive pay for requests makes payments: it takes the permission to pay, and as many people as a
// payment of its amount, with the bank's own where that needs them. Debits that it allows are collected by
// others.
func TestARuleForRequestsIsApprovedAsItsPaymentsAre(t *testing.T) {
	t.Parallel()
	t.Run("who may not pay", func(t *testing.T) {
		t.Parallel()
		s := newSender(t)
		only := s.As(access.ManagePositiveRules)
		for kind, may := range map[positivepay.Type]bool{
			positivepay.ACH: true, positivepay.Instant: false, positivepay.Fedwire: false,
		} {
			_, err := s.PositivePay.Create(only, ruleFor(s, kind, "50.00"), changes.RequestOptions{})
			if may != (err == nil) || err != nil && !errors.Is(err, access.ErrDenied) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
	s := newSender(t)
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true, access_number_of_approvers = 2,
		access_first_approver_limit = 10000, access_second_approver_limit = 100000
		WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.Customer)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	maker := s.PersonOf(of, s.User(of, nil))
	for amount, want := range map[string]struct {
		people int
		bank   bool
	}{"100.00": {1, false}, "100.01": {2, false}, "1000.01": {2, true}} {
		out, err := s.PositivePay.Create(maker, ruleFor(s, positivepay.Instant, amount), changes.RequestOptions{})
		if err != nil {
			t.Fatal(amount, err)
		}
		for n := 1; n <= want.people; n++ {
			who := s.Someone([]string{"first", "second"}[n-1])
			a, err := s.Changes.Find(s.Staff(), changes.UID(out.Approval))
			if err != nil || a.Status != changes.Open || (a.Decides == access.OfBank) != want.bank {
				t.Errorf("%s, approval %d: %+v %v", amount, n, a, err)
			}
			if _, err := s.Changes.Approve(who, changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
				t.Errorf("%s, approval %d: %v", amount, n, err)
			}
		}
		if a, err := s.Changes.Find(s.Staff(), changes.UID(out.Approval)); err != nil ||
			a.Status != changes.Approved {
			t.Errorf("%s: %+v %v", amount, a, err)
		}
	}
}

// A rule that fewer people approved than payments take by now pays nothing until it is approved anew, be it
// that the request came before.
func TestARuleAllowsNoMoreThanItsApprovalDoes(t *testing.T) {
	t.Parallel()
	stricter := func(s *sender, people int, boundOfBank int64) {
		s.Exec(`UPDATE customers SET access_payment_dual_approval = true, access_number_of_approvers = ?,
			access_second_approver_limit = ? WHERE tenant = ? AND uid = ?`, people, boundOfBank, s.Tenant,
			s.from.Customer)
	}
	approve := func(t *testing.T, s *sender, approval int64, by ...context.Context) {
		t.Helper()
		for _, who := range by {
			if _, err := s.Changes.Approve(who, changes.UID(approval), changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	create := func(t *testing.T, s *sender) (positivepay.UID, int64) {
		t.Helper()
		of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
		out, err := s.PositivePay.Create(s.PersonOf(of, s.User(of, nil)), ruleFor(s, positivepay.Instant, "50.00"),
			changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out.Result.UID, out.Approval
	}
	held := func(t *testing.T, s *sender) {
		t.Helper()
		s.is(t, s.asks(t, rails.RTP), positivepay.DecisionPending, positivepay.NotApproved)
	}
	t.Run("one instead of nobody", func(t *testing.T) {
		t.Parallel()
		s := newDebtor(t, positive)
		uid, _ := create(t, s)
		s.is(t, s.asks(t, rails.RTP), positivepay.AutoMatched, "")
		stricter(s, 1, 0)
		held(t, s)
		if _, err := s.PositivePay.Suspend(s.Staff(), uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		out, err := s.PositivePay.Activate(s.Staff(), uid, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		approve(t, s, out.Approval, s.Checker())
		s.is(t, s.asks(t, rails.RTP), positivepay.AutoMatched, "")
		out, err = s.PositivePay.Change(s.Staff(), uid, positivepay.Draft{Amount: given.Of("60.00")},
			changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		approve(t, s, out.Approval, s.Checker())
		s.is(t, s.asks(t, rails.RTP), positivepay.AutoMatched, "")
		stricter(s, 2, 0)
		held(t, s)
	})
	t.Run("the bank's own", func(t *testing.T) {
		t.Parallel()
		s := newDebtor(t, positive)
		stricter(s, 1, 0)
		of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
		_, approval := create(t, s)
		approve(t, s, approval, s.PersonOf(of, s.User(of, nil)))
		s.is(t, s.asks(t, rails.RTP), positivepay.AutoMatched, "")
		stricter(s, 1, 24_99)
		held(t, s)
		_, approval = create(t, s)
		approve(t, s, approval, s.Checker())
		s.is(t, s.asks(t, rails.RTP), positivepay.AutoMatched, "")
	})
	t.Run("after the request came", func(t *testing.T) {
		t.Parallel()
		s := newDebtor(t, positive)
		create(t, s)
		uid := s.asks(t, rails.RTP, func(d *sandbox.Request) { d.On = day(2) })
		s.lived(t, uid, "VALIDATED")
		stricter(s, 1, 0)
		s.until(t, "2026-11-20 10:00")
		s.run(t)
		s.lived(t, uid, "VALIDATED REJECTED")
		s.has(t, 100_000_00, 0)
	})
}

// What somebody of wider reach stopped, nobody of narrower reach starts again.
func TestARuleIsActivatedByWhoReachesAsFarAsWhoSuspendedIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	partner := s.DownstreamPartner()
	of := s.Customer(coretest.OwnedBy(partner))
	a := s.Account(of)
	d := ruleFor(s, positivepay.ACH, "50.00")
	d.AccountNumber = given.Of(coretest.AccountNumber(a.UID))
	made, err := s.PositivePay.Create(s.Staff(), d, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid := made.Result.UID
	person := s.PersonOf(of, s.User(of, nil))
	for _, c := range []struct {
		suspends, activates context.Context
		refused             error
	}{
		{s.Staff(), s.Partner(partner), positivepay.ErrWider},
		{s.Partner(partner), person, positivepay.ErrWider},
		{person, s.Partner(partner), nil},
	} {
		if _, err := s.PositivePay.Suspend(c.suspends, uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.PositivePay.Activate(c.activates, uid, changes.RequestOptions{}); !errors.Is(err,
			c.refused) {
			t.Errorf("%v, want %v", err, c.refused)
		}
		if c.refused != nil {
			if _, err := s.PositivePay.Delete(c.activates, uid, changes.RequestOptions{}); !errors.Is(err,
				c.refused) {
				t.Errorf("deleted: %v, want %v", err, c.refused)
			}
			if _, err := s.PositivePay.Activate(s.Staff(), uid, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A fee that the request names is the maker's to answer for, as the amount is; that of the tier is not.
func TestANamedFeeCountsForWhoPays(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	who := bounded(t, s.Bank, "clerk", access.Limit{Name: access.PerPayment, Minor: 100_00})
	for fee, fits := range map[string]bool{"50.00": true, "50.01": false} {
		_, err := s.Payments.Send(who, s.order("50.00", instantly, func(o *payments.Order) {
			o.Fee = &payments.CustomFee{Amount: fee}
		}), changes.RequestOptions{})
		if fits != (err == nil) || err != nil && !errors.Is(err, payments.ErrOwnLimit) {
			t.Errorf("a fee of %s: %v", fee, err)
		}
	}
}

// A series' fee that the request names counts where its amount is changed, as it does where it is begun; also
// once a payment of it could not be made.
func TestANamedFeeCountsInChangesOfASeries(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	who := bounded(t, s.Bank, "clerk", access.Limit{Name: access.PerPayment, Minor: 100_00})
	out, err := s.Payments.Send(who, s.order("1.00", instantly, func(o *payments.Order) {
		o.Date, o.Repeat = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), weekly()
		o.Fee = &payments.CustomFee{Amount: "60.00"}
	}), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	series := s.shows(t, out.Result.UID).Recurrence
	change := func(amount string, fits bool) {
		t.Helper()
		_, err := s.Payments.ChangeRecurrence(who, series, payments.RecurrenceDraft{Amount: amount},
			changes.RequestOptions{})
		if fits != (err == nil) || err != nil && !errors.Is(err, payments.ErrOwnLimit) {
			t.Errorf("%s: %v", amount, err)
		}
	}
	change("40.01", false)
	change("40.00", true)
	s.Exec(`UPDATE contacts SET status = 'Pending' WHERE tenant = ?`, s.Tenant)
	s.through(t, "2026-11-20 23:00")
	if got := s.of(t, series); !strings.HasSuffix(got, string(payments.StatusValidationFailure)) {
		t.Fatal(got)
	}
	change("40.01", false)
	change("39.00", true)
}

// Who may not keep rules of positive pay does not switch them off.
func TestPositivePayIsSwitchedOffOnlyByWhoKeepsItsRules(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		may  []access.Permission
		fits bool
	}{
		"accounts alone":      {[]access.Permission{access.ManageAccounts}, false},
		"accounts with rules": {[]access.Permission{access.ManageAccounts, access.ManagePositiveRules}, true},
	} {
		s := newDebtor(t, positive)
		_, err := s.Accounts.Change(s.As(c.may...), 0, s.from.UID,
			accounts.Draft{Features: accounts.FeaturesDraft{PositivePay: given.Of(false)}},
			changes.RequestOptions{})
		if c.fits != (err == nil) || err != nil && !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = customers.Active
}
