package payments_test

import (
	"context"
	"errors"
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
)

// Where a series or a sweep pays is a matter of payments: who may only keep contacts does not give a contact
// that is paid by itself another account, and where two people agree to payments they agree to that.
func TestWhatPaysByItselfIsRedirectedOnlyByWhoMayPay(t *testing.T) {
	t.Parallel()
	keeper := func(s *sender) context.Context { return s.As(access.ManageContacts) }
	payer := func(s *sender) context.Context { return s.As(access.ManageContacts, access.InitiatePayments) }
	account := contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("66660000")}}
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
		"a series, another name":           {series, keeper, true, contacts.Draft{Name: given.Of("Harbor")}, false, false},
		"a sweep, who may not pay": {func(_ *testing.T, s *sender) {
			s.Sweep(s.from, func(w *accounts.Sweep) { w.ToContact = &s.to.UID })
		}, keeper, false, account, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			c.paid(t, s)
			s.Exec(`UPDATE customers SET access_payment_dual_approval = ? WHERE tenant = ? AND uid = ?`, c.dual, s.Tenant,
				s.from.Customer)
			out, err := s.Contacts.Change(c.as(s), s.from.Customer, s.to.UID, c.draft, changes.RequestOptions{})
			if c.denied != errors.Is(err, access.ErrDenied) || !c.denied && err != nil || c.waits != (out.Approval != 0) {
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
		if _, err := s.Changes.Approve(s.Someone(c.who), changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
			t.Fatal(c.who, err)
		}
		if a, err := s.Changes.Find(s.Staff(), changes.UID(out.Approval)); err != nil || a.Status != c.want {
			t.Errorf("after the %s: %+v %v", c.who, a, err)
		}
	}
}

// A rule of positive pay for requests makes payments: it takes the permission to pay, and as many people as a
// payment of its amount, with the bank's own where that needs them. Debits that it allows are collected by
// others.
func TestARuleForRequestsIsApprovedAsItsPaymentsAre(t *testing.T) {
	t.Parallel()
	rule := func(s *sender, kind positivepay.Type, amount string) positivepay.Draft {
		d := positivepay.Draft{
			AccountNumber: given.Of(coretest.AccountNumber(s.from.UID)), Type: kind,
			BeneficiaryName: given.Of("Lakefront"), BeneficiaryAccountNumber: given.Of("440055551"),
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
	t.Run("who may not pay", func(t *testing.T) {
		t.Parallel()
		s := newSender(t)
		only := s.As(access.ManagePositiveRules)
		for kind, may := range map[positivepay.Type]bool{
			positivepay.ACH: true, positivepay.Instant: false, positivepay.Fedwire: false,
		} {
			_, err := s.PositivePay.Create(only, rule(s, kind, "50.00"), changes.RequestOptions{})
			if may != (err == nil) || err != nil && !errors.Is(err, access.ErrDenied) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	})
	s := newSender(t)
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true, access_number_of_approvers = 2,
		access_first_approver_limit = 10000, access_second_approver_limit = 100000 WHERE tenant = ? AND uid = ?`,
		s.Tenant, s.from.Customer)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	maker := s.PersonOf(of, s.User(of, nil))
	for amount, want := range map[string]struct {
		people int
		bank   bool
	}{"100.00": {1, false}, "100.01": {2, false}, "1000.01": {2, true}} {
		out, err := s.PositivePay.Create(maker, rule(s, positivepay.Instant, amount), changes.RequestOptions{})
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
		if a, err := s.Changes.Find(s.Staff(), changes.UID(out.Approval)); err != nil || a.Status != changes.Approved {
			t.Errorf("%s: %+v %v", amount, a, err)
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
		_, err := s.Accounts.Change(s.As(c.may...), 0, s.from.UID, accounts.Draft{Features: accounts.FeaturesDraft{PositivePay: given.Of(false)}},
			changes.RequestOptions{})
		if c.fits != (err == nil) || err != nil && !errors.Is(err, access.ErrDenied) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_ = customers.Active
}
