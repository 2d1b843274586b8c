package payments_test

import (
	"context"
	"errors"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/payments"
)

// Who keeps contacts but may not pay leads no payment to another account while it waits for repair: somebody
// else agrees to where it goes.
func TestARepairThatPaysAContactAsItIsByNowNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change contacts.Draft
		waits  bool
	}{
		"as it was":       {contacts.Draft{}, false},
		"another account": {contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("6660006661")}}, true},
		"another bank":    {contacts.Draft{Bank: contacts.BankDraft{NationalCode: given.Of(gateway)}}, true},
		"a bank in between": {contacts.Draft{Intermediary: contacts.IntermediaryDraft{
			Country: given.Of("US"), Name: given.Of("Gateway Bank"), NationalCode: given.Of(gateway),
		}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			wire := func(o *payments.Order) { byWire(o); o.Date = day(4) }
			p := s.inRepair(t, s.order("250.00", repairably, wire), "paymentDate: ")
			if c.waits {
				s.changes(t, s.As(access.ManageContacts, access.ViewContacts), c.change)
			}
			out, err := s.Payments.Repair(s.Someone("mender"), p.UID, payments.Repairs{Date: day(0)},
				changes.RequestOptions{})
			if err != nil || (out.Approval != 0) != c.waits {
				t.Fatalf("%+v %v", out, err)
			}
			if c.waits {
				s.has(t, 100_000_00, 0)
				if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
					changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s.run(t)
			s.run(t)
			s.has(t, 99_750_00, 0)
			s.Prove()
		})
	}
}

// changes has somebody change the contact.
func (s *sender) changes(t *testing.T, by context.Context, to contacts.Draft) {
	t.Helper()
	out, err := s.Contacts.Change(by, s.from.Customer, s.to.UID, to, changes.RequestOptions{})
	if err != nil || out.Approval != 0 {
		t.Fatalf("%+v %v", out, err)
	}
}

// Who led a contact elsewhere while a payment to it waited for repair does not agree to where the payment
// goes.
func TestWhoChangedTheContactDoesNotApproveTheRepair(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	wire := func(o *payments.Order) { byWire(o); o.Date = day(4) }
	p := s.inRepair(t, s.order("250.00", repairably, wire), "paymentDate: ")
	clerk := s.Someone("clerk")
	caller, err := access.Require(clerk)
	if err != nil {
		t.Fatal(err)
	}
	caller.Permissions = []access.Permission{
		access.ManageContacts, access.ViewContacts, access.ApprovePayments, access.ViewPayments,
	}
	clerk = access.With(t.Context(), caller)
	s.changes(t, clerk, contacts.Draft{Bank: contacts.BankDraft{AccountNumber: given.Of("6660006661")}})
	out, err := s.Payments.Repair(s.Someone("mender"), p.UID, payments.Repairs{Date: day(0)},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatalf("%+v %v", out, err)
	}
	approve := func(by context.Context) error {
		_, err := s.Changes.Approve(by, changes.UID(out.Approval), changes.RequestOptions{})
		return err
	}
	if err := approve(clerk); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("who gave the contact another account: %v", err)
	}
	s.has(t, 100_000_00, 0)
	if err := approve(s.Checker()); err != nil {
		t.Error(err)
	}
	s.has(t, 100_000_00, 250_00)
	s.Prove()
}

// What waited when a release without the contact's version ended may be for any account.
func TestARepairOfAnOlderReleasesOrderToAContactNeedsASecondPerson(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	o := s.order("250.00", repairably, func(o *payments.Order) { o.Date = day(-1) })
	p := s.inRepair(t, o, "paymentDate: ")
	s.Exec(`UPDATE payment_repairs SET contact_version = DEFAULT WHERE tenant = ? AND payment = ?`,
		s.Tenant, p.UID)
	out, err := s.Payments.Repair(s.Staff(), p.UID, payments.Repairs{Date: day(0)}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Errorf("%+v %v", out, err)
	}
}

// numberTo gives the number of an account to another one, which is then found by it.
func (s *sender) numberTo(t *testing.T, from, to accounts.UID) {
	t.Helper()
	number := coretest.AccountNumber(from)
	for _, c := range []struct {
		uid    accounts.UID
		number string
	}{{from, "7770001112"}, {to, number}} {
		_, err := s.Accounts.Change(s.Staff(), 0, c.uid, accounts.Draft{Number: given.Of(c.number)},
			changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// The account that pays stays the one that the request led to, whoever has its number by the time of the
// repair.
func TestARepairedPaymentIsPaidFromTheAccountThatWasAskedFor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stranger, second bool // the number goes to another customer's account; a second person has to agree
	}{
		"to an account of the customer":                    {false, false},
		"to an account of the customer, by two people":     {false, true},
		"to an account of another customer":                {true, false},
		"to an account of another customer, by two people": {true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
			if c.stranger {
				of = s.Customer()
			}
			other := *s
			other.from = s.Account(of, coretest.Holding(5_000_00, 0), coretest.Sends)
			o := s.order("250.00", repairably, instantly, func(o *payments.Order) {
				o.Sender, o.Date = payments.Party{Number: coretest.AccountNumber(s.from.UID)}, day(-1)
			})
			p := s.inRepair(t, o, "paymentDate: ")
			s.numberTo(t, s.from.UID, other.from.UID)
			repairs := payments.Repairs{Date: day(0)}
			if c.second {
				repairs.Receiver = &payments.Receiver{Contact: s.to.UID}
			}
			out, err := s.Payments.Repair(s.Someone("mender"), p.UID, repairs, changes.RequestOptions{})
			if err != nil || (out.Approval != 0) != c.second {
				t.Fatalf("%+v %v", out, err)
			}
			if c.second {
				if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
					changes.RequestOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			s.has(t, 100_000_00, 250_00)
			other.has(t, 5_000_00, 0)
			s.Prove()
			s.run(t)
			s.run(t)
			s.has(t, 99_750_00, 0)
			other.has(t, 5_000_00, 0)
			s.Prove()
		})
	}
}

// A partner has an account removed for which a payment waits, and another one opened with its number: the
// payment is not paid from there, and can be cancelled.
func TestAPaymentOfARemovedAccountIsNotRepaired(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	partner := b.DownstreamPartner()
	c := b.Customer(coretest.OwnedBy(partner))
	s := &sender{b, b.Account(c, coretest.Holding(0, 0), coretest.Sends), b.Contact(c)}
	other := &sender{b, b.Account(c, coretest.Holding(5_000_00, 0), coretest.Sends), s.to}
	number := coretest.AccountNumber(s.from.UID)
	asked, err := s.Payments.Send(s.Partner(partner), s.order("250.00", repairably, func(o *payments.Order) {
		o.Sender = payments.Party{Number: number}
	}), changes.RequestOptions{})
	if err != nil || asked.Result.Status != payments.StatusRepair {
		t.Fatalf("%+v %v", asked, err)
	}
	s.Exec(`UPDATE accounts SET deleted_at = now() WHERE tenant = ? AND uid = ?`, s.Tenant, s.from.UID)
	if _, err := s.Accounts.Change(s.Staff(), 0, other.from.UID, accounts.Draft{Number: given.Of(number)},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Payments.Repair(s.Staff(), asked.Result.UID, payments.Repairs{}, changes.RequestOptions{})
	if !errors.Is(err, payments.ErrAccount) {
		t.Error(err)
	}
	if _, err := s.Payments.Cancel(s.Staff(), asked.Result.UID, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	other.has(t, 5_000_00, 0)
	s.Prove()
}
