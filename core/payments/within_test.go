package payments_test

import (
	"errors"
	"testing"
	"time"

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
		"a credit on its day":        {economy, later, false, twoWeeks, "SCHEDULED INVALID"},
		"an instant one on its day":  {instantly, later, false, twoWeeks, "SCHEDULED INVALID"},
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
