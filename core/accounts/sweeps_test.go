package accounts_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/money"
)

func TestTheDayOfTheNextSweep(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		sweep       accounts.Sweep
		today, next string
	}{
		{accounts.Sweep{Frequency: accounts.Daily}, "2026-12-31", "2027-01-01"},
		// a Wednesday
		{accounts.Sweep{Frequency: accounts.Weekly, DayOfWeek: accounts.Wednesday}, "2026-11-18", "2026-11-25"},
		{accounts.Sweep{Frequency: accounts.Weekly, DayOfWeek: accounts.Thursday}, "2026-11-18", "2026-11-19"},
		{accounts.Sweep{Frequency: accounts.Weekly, DayOfWeek: accounts.Tuesday}, "2026-11-18", "2026-11-24"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 18}, "2026-11-18", "2026-12-18"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 19}, "2026-11-18", "2026-11-19"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 17}, "2026-12-18", "2027-01-17"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 31}, "2026-11-18", "2026-11-30"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 31}, "2026-11-30", "2026-12-31"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 30}, "2027-01-31", "2027-02-28"},
		{accounts.Sweep{Frequency: accounts.Monthly, DayOfMonth: 29}, "2028-02-01", "2028-02-29"},
	} {
		today, _ := time.Parse(time.DateOnly, one.today)
		if got := one.sweep.NextAfter(today).Format(time.DateOnly); got != one.next {
			t.Errorf("%s %s %d after %s: %s, want %s", one.sweep.Frequency, one.sweep.DayOfWeek,
				one.sweep.DayOfMonth, one.today, got, one.next)
		}
	}
}

// A sweep runs on banking days alone, and is due until it has run.
func TestASweepIsDueOnTheNextBankingDay(t *testing.T) {
	t.Parallel()
	day := func(text string) time.Time { at, _ := time.Parse(time.DateOnly, text); return at }
	next := func(text string) *time.Time { at := day(text); return &at }
	for _, one := range []struct {
		next        *time.Time
		today, want string
	}{
		{nil, "2026-11-20", "2026-11-23"}, // a Friday
		{nil, "2026-11-25", "2026-11-27"}, // the day before Thanksgiving
		{next("2026-11-21"), "2026-11-20", "2026-11-23"},
		{next("2026-11-21"), "2026-11-22", "2026-11-23"},
		{next("2026-11-18"), "2026-11-20", "2026-11-20"}, // workers were away
		{next("2026-11-18"), "2026-11-21", "2026-11-23"},
	} {
		w := accounts.Sweep{Frequency: accounts.Daily, Next: one.next, Today: day(one.today)}
		if got := w.NextSweepDate().Format(time.DateOnly); got != one.want {
			t.Errorf("due %v, on %s: %s, want %s", one.next, one.today, got, one.want)
		}
	}
}

// outward is a sweep that leaves an amount in the account every Friday.
func outward(to *contacts.Contact, edits ...func(*accounts.SweepDraft)) accounts.SweepDraft {
	d := accounts.SweepDraft{
		BalanceType: gives(accounts.Target), TargetBalance: given.Of("250.75"), ToContact: &to.UID,
		ToMethod: gives(accounts.WirePayment), Frequency: gives(accounts.Weekly),
		DayOfWeek: gives(accounts.Friday),
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

func TestASweepIsSetUpChangedAndEnded(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	a := bank.Account(bank.Customer())
	customer, _ := bank.Customers.Find(bank.Staff(), a.Customer)
	contact, name := bank.Contact(customer), accounts.SweepName{Account: a.UID, Direction: accounts.Out}
	if _, err := bank.Accounts.FindSweep(bank.Staff(), a.Customer, name); !errors.Is(err, accounts.ErrNoSweep) {
		t.Errorf("before: %v", err)
	}
	if _, err := bank.Accounts.SetSweep(bank.Staff(), a.Customer, name, outward(contact),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Accounts.SetSweep(bank.Staff(), a.Customer, name, outward(contact),
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrSweepExists) {
		t.Errorf("twice: %v", err)
	}
	both := accounts.SweepDraft{
		BalanceType: gives(accounts.Range), FromAmount: given.Of("1"), ToAmount: given.Of("2"),
		FromContact: &contact.UID, FromMethod: gives(accounts.ACHDebit), ToContact: &contact.UID,
		ToMethod: gives(accounts.ACHCredit), Frequency: gives(accounts.Daily),
	}
	if _, err := bank.Accounts.SetSweep(bank.Staff(), 0,
		accounts.SweepName{Account: a.UID, Direction: accounts.Both}, both,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrSweepBeside) {
		t.Errorf("both beside out: %v", err)
	}
	w, err := bank.Accounts.FindSweep(bank.Staff(), a.Customer, name)
	if err != nil || w.TargetBalance().String() != "250.75" || *w.ToContact != contact.UID ||
		w.NextSweepDate().Format(time.DateOnly) != "2026-11-20" || w.Version != 1 {
		t.Errorf("%+v %v", w, err)
	}
	bank.Clock.Set(time.Date(2026, 11, 21, 4, 30, 0, 0, time.UTC)) // still Friday in New York
	if w, err = bank.Accounts.FindSweep(bank.Staff(), 0, name); err != nil ||
		w.NextSweepDate().Format(time.DateOnly) != "2026-11-20" {
		t.Errorf("in the bank's zone, where it has still to run: %v %v", w.NextSweepDate(), err)
	}
	change := func(draft accounts.SweepDraft, version int32) error {
		_, err := bank.Accounts.ChangeSweep(bank.Staff(), a.Customer, name, draft,
			changes.RequestOptions{Version: version})
		return err
	}
	if err := change(accounts.SweepDraft{Frequency: gives(accounts.Monthly)},
		0); !blames(err, "frequency.dayOfMonth", fault.Required) {
		t.Errorf("%v", err)
	}
	if err := change(accounts.SweepDraft{BalanceType: gives(accounts.Zero)},
		0); !blames(err, "balanceType", fault.Forbidden) {
		t.Errorf("%v", err)
	}
	if err := change(accounts.SweepDraft{
		BalanceType: gives(accounts.Target), Frequency: gives(accounts.Monthly), DayOfMonth: gives(int32(31)),
	}, 1); err != nil {
		t.Error(err)
	}
	if err := change(accounts.SweepDraft{TargetBalance: given.Of("1")}, 1); !errors.Is(err, changes.ErrStale) {
		t.Errorf("%v", err)
	}
	if w, err = bank.Accounts.FindSweep(bank.Staff(), 0,
		name); err != nil || w.DayOfWeek != "" || w.DayOfMonth != 31 ||
		w.TargetBalance().String() != "250.75" ||
		w.Version != 2 {
		t.Errorf("%+v %v", w, err)
	}
	if _, err := bank.Accounts.RemoveSweep(bank.Staff(), a.Customer, name,
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := bank.Accounts.RemoveSweep(bank.Staff(), a.Customer, name,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrNoSweep) {
		t.Errorf("%v", err)
	}
}

func TestTheFormsOfASweep(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer, stranger := bank.Customer(), bank.Customer()
	yen := bank.Account(customer, coretest.Holding(0, 0),
		func(a *accounts.Account) { a.Currency = money.Currency("JPY") })
	ours, theirs := bank.Contact(customer), bank.Contact(stranger)
	type d = accounts.SweepDraft
	in := d{
		BalanceType: gives(accounts.Target), FromContact: &ours.UID, FromMethod: gives(accounts.InstantRFP),
		Frequency: gives(accounts.Daily),
	}
	both := d{
		BalanceType: gives(accounts.Range), FromAmount: given.Of("100"), ToAmount: given.Of("200"),
		FromContact: &ours.UID, FromMethod: gives(accounts.ACHDebit), ToContact: &ours.UID,
		ToMethod: gives(accounts.ACHCredit), Frequency: gives(accounts.Daily),
	}
	with := func(draft d, edit func(*d)) d { edit(&draft); return draft }
	out := outward(ours, func(x *d) { x.TargetBalance = given.Of("7") })
	for i, one := range []struct {
		direction accounts.Direction
		draft     d
		field     string
		problem   fault.Problem
	}{
		{accounts.In, in, "", ""},
		{accounts.Out, out, "", ""},
		{accounts.Both, both, "", ""},
		{
			accounts.Out,
			with(out, func(x *d) { x.BalanceType, x.TargetBalance = gives(accounts.Zero), given.Text{} }), "", "",
		},
		{
			accounts.Out, with(out, func(x *d) { x.BalanceType = gives(accounts.Zero) }), "targetBalance",
			fault.NoMatch,
		},
		{
			accounts.In, with(in, func(x *d) { x.BalanceType = gives(accounts.Zero) }), "balanceType",
			fault.Malformed,
		},
		{
			accounts.Out, with(out, func(x *d) { x.BalanceType = gives(accounts.Range) }), "balanceType",
			fault.Malformed,
		},
		{
			accounts.Both, with(both, func(x *d) { x.BalanceType = gives(accounts.Target) }), "balanceType",
			fault.Malformed,
		},
		{accounts.Out, with(out, func(x *d) { x.BalanceType = nil }), "balanceType", fault.Required},
		{accounts.In, with(in, func(x *d) { x.FromContact = nil }), "sweepFrom.contactId", fault.Required},
		{accounts.In, with(in, func(x *d) { x.ToContact = &ours.UID }), "sweepTo.contactId", fault.Forbidden},
		{accounts.Both, with(both, func(x *d) { x.ToMethod = nil }), "sweepTo.paymentMethod", fault.Required},
		{accounts.Both, with(both, func(x *d) { x.ToAmount = given.Text{} }), "range.toAmount", fault.Required},
		{accounts.Both, with(both, func(x *d) { x.ToAmount = given.Of("100") }), "range.toAmount", fault.NoMatch},
		{
			accounts.Both, with(both, func(x *d) { x.TargetBalance = given.Of("1") }), "targetBalance",
			fault.Forbidden,
		},
		{accounts.Out, with(out, func(x *d) { x.FromAmount = given.Of("1") }), "range.fromAmount", fault.Forbidden},
		{accounts.Out, with(out, func(x *d) { x.TargetBalance = given.Of("-1") }), "targetBalance", fault.Min},
		// yen have no decimals
		{
			accounts.Out, with(out, func(x *d) { x.TargetBalance = given.Of("1.5") }), "targetBalance",
			fault.Malformed,
		},
		{accounts.Out, with(out, func(x *d) { x.DayOfWeek = nil }), "frequency.dayOfWeek", fault.Required},
		{accounts.Out, with(out, func(x *d) { x.Frequency = nil }), "frequency.type", fault.Required},
		{accounts.In, with(in, func(x *d) { x.DayOfMonth = gives(int32(32)) }), "frequency.dayOfMonth", fault.Max},
		{accounts.Out, with(out, func(x *d) { x.ToContact = &theirs.UID }), "sweepTo.contactId", fault.Unknown},
		{
			accounts.In, with(in, func(x *d) { x.FromContact = gives(contacts.UID(yen.UID)) }), "sweepFrom.contactId",
			fault.Unknown,
		},
	} {
		name := accounts.SweepName{Account: yen.UID, Direction: one.direction}
		_, err := bank.Accounts.SetSweep(bank.Staff(), customer.UID, name, one.draft, changes.RequestOptions{})
		if one.field == "" && err != nil || one.field != "" && !blames(err, one.field, one.problem) {
			t.Errorf("%d: %v, want %s %s", i, err, one.field, one.problem)
		}
		if err == nil {
			if _, err := bank.Accounts.RemoveSweep(bank.Staff(), customer.UID, name,
				changes.RequestOptions{}); err != nil {
				t.Error(err)
			}
		}
	}
}

// What comes in up to one balance would go out again above a lower one, over and over.
func TestTwoSweepsOfAnAccountDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	contact := bank.Contact(customer)
	in := func(target string) accounts.SweepDraft {
		return accounts.SweepDraft{
			BalanceType: gives(accounts.Target), TargetBalance: given.Of(target), FromContact: &contact.UID,
			FromMethod: gives(accounts.ACHDebit), Frequency: gives(accounts.Daily),
		}
	}
	out := func(target string) accounts.SweepDraft {
		return outward(contact, func(x *accounts.SweepDraft) { x.TargetBalance = given.Of(target) })
	}
	for _, one := range []struct {
		first, second       accounts.Direction
		sets, crosses, just accounts.SweepDraft
		beyond, within      string // other targets of the second
	}{
		{
			first: accounts.Out, second: accounts.In, sets: out("100"), crosses: in("100.01"), just: in("100"),
			beyond: "101", within: "99",
		},
		{
			first: accounts.In, second: accounts.Out, sets: in("100"), crosses: out("99.99"), just: out("100"),
			beyond: "99", within: "101",
		},
	} {
		a := bank.Account(customer)
		set := func(direction accounts.Direction, d accounts.SweepDraft) error {
			_, err := bank.Accounts.SetSweep(bank.Staff(), 0, accounts.SweepName{Account: a.UID, Direction: direction},
				d, changes.RequestOptions{})
			return err
		}
		change := func(target string) error {
			_, err := bank.Accounts.ChangeSweep(bank.Staff(), 0,
				accounts.SweepName{Account: a.UID, Direction: one.second},
				accounts.SweepDraft{TargetBalance: given.Of(target)}, changes.RequestOptions{})
			return err
		}
		if err := set(one.first, one.sets); err != nil {
			t.Fatal(err)
		}
		if err := set(one.second, one.crosses); !blames(err, "targetBalance", fault.NoMatch) {
			t.Errorf("%s after %s: %v", one.second, one.first, err)
		}
		if err := set(one.second, one.just); err != nil {
			t.Error(err)
		}
		if err := change(one.beyond); !blames(err, "targetBalance", fault.NoMatch) {
			t.Errorf("%s is changed: %v", one.second, err)
		}
		if err := change(one.within); err != nil {
			t.Error(err)
		}
	}
}

func TestOnlyAnActiveAccountOfOnesOwnIsSwept(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	contact, stopped := bank.Contact(ours),
		bank.Account(ours, func(a *accounts.Account) { a.Status = accounts.Suspended })
	theirs := bank.Account(banks)
	// otherwise a sweep would pay without the second person
	for _, status := range []contacts.Status{contacts.Pending, contacts.Refused} {
		not := bank.Contact(ours, func(k *contacts.Contact) { k.Status = status })
		_, err := bank.Accounts.SetSweep(bank.Partner(partner), ours.UID,
			accounts.SweepName{Account: bank.Account(ours).UID, Direction: accounts.Out}, outward(not),
			changes.RequestOptions{})
		if !blames(err, "sweepTo.contactId", fault.Unknown) {
			t.Errorf("to a %s contact: %v", status, err)
		}
	}
	set := func(a *accounts.Account, of bool) error {
		name, customer := accounts.SweepName{Account: a.UID, Direction: accounts.Out}, ours.UID
		if !of {
			customer = 0
		}
		_, err := bank.Accounts.SetSweep(bank.Partner(partner), customer, name, outward(contact),
			changes.RequestOptions{})
		return err
	}
	if err := set(stopped, true); !errors.Is(err, accounts.ErrNotActive) {
		t.Error(err)
	}
	for _, of := range []bool{true, false} {
		if err := set(theirs, of); !errors.Is(err, accounts.ErrNotFound) {
			t.Error(err)
		}
	}
	name := accounts.SweepName{Account: theirs.UID, Direction: accounts.Out}
	bank.Sweep(theirs, func(w *accounts.Sweep) { w.ToContact = &contact.UID })
	if _, err := bank.Accounts.FindSweep(bank.Partner(partner), 0, name); !errors.Is(err, accounts.ErrNotFound) {
		t.Error(err)
	}
	if _, err := bank.Accounts.SetSweep(bank.As(access.ViewAccounts), ours.UID, name, outward(contact),
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
}

func TestTwoPeopleSetUpASweep(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	a, contact := bank.Account(customer), bank.Contact(customer)
	name := accounts.SweepName{Account: a.UID, Direction: accounts.Out}
	asked, err := bank.Accounts.SetSweep(bank.Staff(), customer.UID, name, outward(contact),
		changes.RequestOptions{})
	if err != nil || asked.Approval == 0 {
		t.Fatal(asked, err)
	}
	if _, err := bank.Accounts.FindSweep(bank.Staff(), customer.UID,
		name); !errors.Is(err, accounts.ErrNoSweep) {
		t.Errorf("before it is approved: %v", err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(asked.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if w, err := bank.Accounts.FindSweep(bank.Staff(), customer.UID, name); err != nil ||
		w.TargetBalance().String() != "250.75" {
		t.Errorf("%+v %v", w, err)
	}
	removing, err := bank.Accounts.RemoveSweep(bank.Staff(), customer.UID, name, changes.RequestOptions{})
	if err != nil || removing.Approval == 0 {
		t.Fatal(removing, err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(removing.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Accounts.FindSweep(bank.Staff(), customer.UID,
		name); !errors.Is(err, accounts.ErrNoSweep) {
		t.Errorf("after it is ended: %v", err)
	}
	var kinds []string
	if err := bank.DB.NewRaw(`SELECT kind FROM events WHERE tenant = ? AND object = 'sweep' ORDER BY id`,
		bank.Tenant).Scan(t.Context(), &kinds); err != nil ||
		strings.Join(kinds, " ") != "setSweep removeSweep" {
		t.Errorf("%v %v", kinds, err)
	}
}

func TestTheLookupShowsSweeps(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	a, contact := bank.Account(customer), bank.Contact(customer)
	bank.Sweep(a, func(w *accounts.Sweep) { w.ToContact = &contact.UID })
	found, err := bank.Accounts.Lookup(bank.Staff(), coretest.AccountNumber(a.UID), "")
	if err != nil || len(found.Sweeps) != 1 || found.Contacts[contact.UID] == nil ||
		found.Contacts[contact.UID].Bank.AccountNumber.Last4 == "" ||
		found.Sweeps[0].NextSweepDate().Format(time.DateOnly) != "2026-11-23" {
		t.Errorf("%+v %v", found, err)
	}
}
