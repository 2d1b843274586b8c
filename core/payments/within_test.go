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
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/postal"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
)

// A payment that waits is decided when it goes: if the number that it pays, or collects from, has become that
// of an account here meanwhile, no network gets it, as none gets one that is made then.
func TestNoNetworkMovesMoneyToAnAccountThatIsHereByNow(t *testing.T) {
	t.Parallel()
	const number = "4400771122"
	debits := func(o *payments.Order) { o.Speed, o.SECCode, o.EntryType = "Economy", "CCD", rails.Debit }
	asks := func(o *payments.Order) {
		asking(o)
		o.EntryType = rails.Debit
	}
	later := func(s *sender) func(*payments.Order) {
		return func(o *payments.Order) { o.Date = ledger.Day(s.Now()).AddDate(0, 0, 14) }
	}
	nothing := func(*sender) func(*payments.Order) { return func(*payments.Order) {} }
	twoWeeks := func(t *testing.T, s *sender, _ int64) {
		t.Helper()
		s.Clock.Advance(15 * 24 * time.Hour)
		s.run(t)
		s.Clock.Advance(24 * time.Hour)
		s.run(t)
	}
	approve := func(t *testing.T, s *sender, approval int64) {
		t.Helper()
		_, err := s.Changes.Approve(s.Checker(), changes.UID(approval), changes.RequestOptions{})
		if !errors.Is(err, payments.ErrOwnAccount) {
			t.Error(err)
		}
	}
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		wait  func(*sender) func(*payments.Order)
		dual  bool
		goes  func(*testing.T, *sender, int64)
		after string
	}{
		"a credit on its day":        {economy, later, false, twoWeeks, "SCHEDULED QUEUED INVALID"},
		"an instant one on its day":  {instantly, later, false, twoWeeks, "SCHEDULED QUEUED INVALID"},
		"a credit in its window":     {economy, nothing, false, twoWeeks, "QUEUED INVALID"},
		"an instant one":             {instantly, nothing, false, twoWeeks, "QUEUED INVALID"},
		"a wire":                     {byWire, nothing, false, twoWeeks, "QUEUED INVALID"},
		"a debit":                    {debits, nothing, false, twoWeeks, "QUEUED INVALID"},
		"a request":                  {asks, nothing, false, twoWeeks, "QUEUED INVALID"},
		"one that awaits a person":   {economy, nothing, true, approve, "PENDING_APPROVAL"},
		"one that awaits both":       {economy, later, true, approve, "PENDING_APPROVAL"},
		"a debit awaiting a person":  {debits, nothing, true, approve, "PENDING_APPROVAL"},
		"an instant one so":          {instantly, nothing, true, approve, "PENDING_APPROVAL"},
		"a request awaiting someone": {asks, nothing, true, approve, "PENDING_APPROVAL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t, func(k *customers.Customer) { k.Access.PaymentDualApproval = c.dual })
			s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
				"INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
			o := s.order("60.00", c.edit, c.wait(s), func(o *payments.Order) {
				o.Receiver = payments.Receiver{
					Name: "Ada", Number: number, Type: "Deposit", SubType: "Checking",
					Bank: payments.ReceiverBank{IDType: "NID", ID: "611090001"},
					Address: postal.Address{
						Line1: "1 Main St", City: "Tampa", State: "FL", PostalCode: "33602", CountryCode: "US",
					},
				}
			})
			send := s.Payments.Send
			if o.EntryType == rails.Debit {
				send = s.Payments.RequestDebit
			}
			out, err := send(s.Staff(), o, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s.Account(s.Customer(), func(a *accounts.Account) {
				a.Number = s.Keys.Seal(number,
					seal.Place{Tenant: int64(s.Tenant), Column: accounts.NumberColumn, Row: int64(a.UID)})
			})
			c.goes(t, s, out.Approval)
			if got := s.life(t, out.Result.UID); got != c.after {
				t.Error(got)
			}
			if got := s.shows(t, out.Result.UID); !c.dual && got.Reason != payments.ErrOwnAccount.Error() {
				t.Errorf("%q", got.Reason)
			}
			s.has(t, 100_000_00, 0)
			s.Prove()
		})
	}
}

// What was held for a payment that is not sent after all, and its use of the limits, are free again.
func TestAPaymentThatIsNotSentCountsForNoLimit(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"INSTANT_PAYMENT_LIMIT_PER_DAY", 100_00)
	number := coretest.ContactNumber(s.to.UID)
	s.send(t, s.order("60.00"))
	s.Account(s.Customer(), func(a *accounts.Account) {
		a.BankID = "611590103"
		a.Number = s.Keys.Seal(number,
			seal.Place{Tenant: int64(s.Tenant), Column: accounts.NumberColumn, Row: int64(a.UID)})
	})
	s.run(t)
	s.has(t, 100_000_00, 0)
	other := s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer})
	s.to = other
	s.send(t, s.order("100.00"))
	s.Prove()
}

// Whoever goes through account numbers at this bank gets nowhere by naming them in payments either. Who has
// named too many is told of none, however it is named, what becomes of it: the payments are decided when they
// go, and until then look like those to numbers that nobody has.
func TestWhoGoesThroughNumbersInPaymentsGetsNowhere(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	of := &customers.Customer{Tenant: s.Tenant, UID: s.from.Customer}
	theirs := coretest.AccountNumber(s.Account(s.Customer()).UID)
	const nobodys, here, elsewhere = "4400123401", "611090001", "611590103"
	to := func(number, bank string) func(*payments.Order) {
		return func(o *payments.Order) {
			o.Receiver = payments.Receiver{
				Name: "Ada", Number: number, Type: "Deposit", SubType: "Checking",
				Bank: payments.ReceiverBank{IDType: "NID", ID: bank},
			}
		}
	}
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	person := func() context.Context { return s.PersonOf(of, s.User(of, nil)) }
	goesThrough := func(who context.Context, n int, bank string) {
		t.Helper()
		by, err := access.Require(who, access.InitiatePayments)
		orders := make([]*payments.Order, n)
		for i := range orders {
			o := s.order("1.00", economy, to(fmt.Sprint(44001300000+i), bank))
			orders[i] = &o
		}
		planned, failed := s.Payments.Plan(operator, by, s.from.Customer, orders, s.Now())
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		for _, one := range planned {
			if one.Why != nil {
				t.Fatal(one.Why)
			}
		}
	}
	preview := func(who context.Context, number string) error {
		v, err := s.Payments.PreviewSend(who, s.order("1.00", economy, to(number, here)))
		if err != nil || len(v.Faults) == 0 {
			return err
		}
		return v.Faults[0]
	}
	who := person()
	goesThrough(who, 700, elsewhere)
	goesThrough(who, 598, here)
	if err := preview(who, theirs); !errors.Is(err, payments.ErrOwnAccount) {
		t.Errorf("the 599th: %v", err)
	}
	_, err := s.Payments.Send(who, s.order("1.00", economy, to(theirs, here)), changes.RequestOptions{})
	if !errors.Is(err, payments.ErrOwnAccount) {
		t.Errorf("the 600th: %v", err)
	}
	if err := preview(who, theirs); err != nil {
		t.Errorf("after 600: %v", err)
	}
	for name, other := range map[string]context.Context{"another person": person(), "the bank": s.Staff()} {
		if err := preview(other, theirs); !errors.Is(err, payments.ErrOwnAccount) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := s.Accounts.Lookup(s.Partner(of), theirs, ""); err != nil {
		t.Errorf("a lookup: %v", err)
	}
	pays := func(number string, edits ...func(*payments.Order)) changes.Outcome[payments.Saved] {
		t.Helper()
		o := s.order("1.00", append([]func(*payments.Order){economy, to(number, here)}, edits...)...)
		send := s.Payments.Send
		if o.EntryType == rails.Debit {
			send = s.Payments.RequestDebit
		}
		out, err := send(who, o, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	day := ledger.Day(s.Now()).AddDate(0, 0, 5)
	for _, edit := range []func(*payments.Order){
		func(*payments.Order) {},
		func(o *payments.Order) { o.EntryType = rails.Debit },
		func(o *payments.Order) { o.Date = day },
		func(o *payments.Order) { o.Date, o.Repeat = day, weekly() },
	} {
		pays(theirs, edit)
		pays(nobodys, edit)
	}
	all := func() (uids []payments.UID) {
		if err := s.DB.NewRaw(`SELECT uid FROM payments WHERE tenant = ? ORDER BY uid`, s.Tenant).
			Scan(t.Context(), &uids); err != nil {
			t.Fatal(err)
		}
		return uids
	}
	for range 16 {
		s.Clock.Advance(24 * time.Hour)
		_, ran := s.Payments.RunRecurrences(operator)
		_, due := s.Payments.CarryOutDue(operator)
		if err := errors.Join(ran, due); err != nil {
			t.Fatal(err)
		}
	}
	made := all()
	if len(made) != 12 {
		t.Errorf("%d payments, want 4 and those of 2 more weeks, to each number", len(made))
	}
	for i := 0; i < len(made); i += 2 {
		if there, nowhere := s.life(t, made[i]), s.life(t, made[i+1]); there != nowhere ||
			!strings.HasSuffix(there, "QUEUED") {
			t.Errorf("%d: %s, and to a number that nobody has %s", i, there, nowhere)
		}
	}
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
		of.UID)
	goesThrough(who, 600, here)
	first, second := pays(theirs), pays(theirs)
	approve := func(who context.Context, waits changes.Outcome[payments.Saved]) error {
		_, err := s.Changes.Approve(who, changes.UID(waits.Approval), changes.RequestOptions{})
		return err
	}
	approver := person()
	if err := approve(approver, first); !errors.Is(err, payments.ErrOwnAccount) {
		t.Errorf("approved: %v", err)
	}
	goesThrough(approver, 599, here)
	if err := approve(approver, second); err != nil {
		t.Errorf("approved after 600: %v", err)
	}
	s.run(t)
	s.Clock.Advance(7 * 24 * time.Hour)
	s.run(t)
	for i := 0; i < len(made); i += 2 {
		if there, nowhere := s.shows(t, made[i]), s.shows(t, made[i+1]); there.State != payments.Invalid ||
			there.Reason != payments.ErrOwnAccount.Error() || nowhere.State == payments.Invalid {
			t.Errorf("%d went: %s (%q), and to a number that nobody has %s", i, there.State, there.Reason,
				nowhere.State)
		}
	}
	s.Prove()
}
