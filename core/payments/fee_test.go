package payments_test

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/page"
	"bankgraph/core/payments"
)

// costing makes a payment cost this much.
func costing(amount string) func(*payments.Order) {
	return func(o *payments.Order) { o.Fee = &payments.CustomFee{Amount: amount} }
}

// priced gives the customer of a sender a fee tier for instant payments, of 25 cents.
func (s *sender) priced() {
	s.Configured("Payments", "Outgoing Payment", "Instant", "Gold")
	s.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'Instant'`, s.Tenant)
	s.Fee(&customers.Customer{UID: s.from.Customer}, func(f *fees.Tier) { f.FeeName = "Instant" })
}

// A fee of its own counts in place of the tier's, whether there is one or not, and whenever the payment is
// carried out.
func TestAPaymentCostsWhatItWasAskedToCost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tier bool
		edit func(*payments.Order)
	}{
		"without a tier": {false, instantly},
		"with a tier":    {true, instantly},
		"on its day":     {false, func(o *payments.Order) { o.Date = day(1) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			if c.tier {
				s.priced()
			}
			o := s.order("250.00", costing("7.35"), c.edit)
			o.Fee.Name = "Courier"
			p := s.send(t, o)
			s.Prove()
			if !o.Date.IsZero() {
				s.has(t, 100_000_00, 0)
				s.Clock.Advance(24 * time.Hour)
				s.run(t)
			}
			s.run(t)
			s.run(t)
			s.has(t, 100_000_00-250_00-7_35, 0)
			found, err := s.Payments.Show(s.Staff(), p.UID)
			if err != nil || found.State != payments.Settled || found.FeeMinor != 7_35 ||
				found.FeeName != "Courier" {
				t.Errorf("%+v %v", found, err)
			}
			s.Prove()
		})
	}
}

// Who begins a series early does not keep what it costs below what the bank takes later.
func TestASeriesCostsNoLessThanItsTierSays(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bank bool
		fee  string
		want int64
	}{"less": {false, "0.01", 25}, "more": {false, "0.30", 30}, "less, by the bank": {true, "0.01", 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			by := s.Staff()
			if !c.bank {
				of := &customers.Customer{UID: s.from.Customer}
				by = s.PersonOf(of, s.User(of, nil))
			}
			out, err := s.Payments.Send(by, s.order("250.00", instantly, costing(c.fee), func(o *payments.Order) {
				o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "Cancelled"}
			}), changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.run(t)
			s.priced()
			s.Clock.Advance(24 * time.Hour)
			s.run(t)
			s.run(t)
			first, err := s.Payments.Show(s.Staff(), out.Result.UID)
			if err != nil {
				t.Fatal(err)
			}
			found, err := s.Payments.Page(s.Staff(), payments.Search{Recurrence: first.Recurrence}, page.First(50))
			if err != nil || len(found.Items) < 2 || found.Items[0].FeeMinor != c.want {
				t.Errorf("%d payments, of which the newest costs %+v %v", len(found.Items), found.Items[0], err)
			}
			s.Prove()
		})
	}
}

// What the bank repairs was asked for by somebody else: it costs no less than the tier says by then, nor do
// the later payments of its series, which are that person's, too.
func TestARepairedPaymentStaysThatOfWhoAskedForIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bank, tierFirst bool
		want            []int64 // what the payments cost, the newest first
	}{
		"a tier before the repair":              {false, true, []int64{25, 25}},
		"a tier before the repair, by the bank": {true, true, []int64{1, 1}},
		"a tier after the repair":               {false, false, []int64{25, 1}},
		"a tier after the repair, by the bank":  {true, false, []int64{1, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			by := s.Someone("linda")
			if !c.bank {
				of := &customers.Customer{UID: s.from.Customer}
				by = s.PersonOf(of, s.User(of, nil))
			}
			maker, err := access.Require(by)
			if err != nil {
				t.Fatal(err)
			}
			o := s.order("250.00", instantly, repairably, costing("0.01"), func(o *payments.Order) {
				o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "Cancelled"}
			})
			o.Receiver.Contact = 9_999_999
			out, err := s.Payments.Send(by, o, changes.RequestOptions{})
			if err != nil || out.Result.Status != payments.StatusRepair {
				t.Fatalf("%+v %v", out, err)
			}
			if c.tierFirst {
				s.priced()
			}
			repaired, err := s.Payments.Repair(s.Staff(), out.Result.UID,
				payments.Repairs{Receiver: &payments.Receiver{Contact: s.to.UID}}, changes.RequestOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Changes.Approve(s.Checker(), changes.UID(repaired.Approval),
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.run(t)
			if !c.tierFirst {
				s.priced()
			}
			s.Clock.Advance(24 * time.Hour)
			s.run(t)
			s.run(t)
			found, err := s.Payments.Page(s.Staff(), payments.Search{Recurrence: repaired.Result.Recurrence},
				page.First(50))
			if err != nil || len(found.Items) != len(c.want) {
				t.Fatalf("%d payments: %v", len(found.Items), err)
			}
			for i, p := range found.Items {
				if p.FeeMinor != c.want[i] || p.MakerClient != maker.Client || p.MakerLogin != maker.LoginID {
					t.Errorf("payment %s costs %d and is by %s %s, want %d by %s %s", p.UID, p.FeeMinor, p.MakerClient,
						p.MakerLogin, c.want[i], maker.Client, maker.LoginID)
				}
			}
			s.Prove()
		})
	}
}

// A payment that waits for a second person keeps its fee, which that person reads in the record.
func TestACustomFeeWaitsForApprovalWithItsPayment(t *testing.T) {
	t.Parallel()
	s := newSender(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	out, err := s.Payments.Send(s.Staff(), s.order("250.00", costing("7.35")), changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatalf("%+v %v", out, err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	s.has(t, 100_000_00, 257_35)
	s.Prove()
}

// A debit pays its fee when it settles, to the same account of the bank.
func TestADebitCostsWhatItWasAskedToCost(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.collect(t, s.order("250.00", costing("7.35"), economy))
	s.until(t, "2026-11-18 14:00")
	s.until(t, "2026-11-19 08:30")
	s.has(t, 100_000_00+250_00-7_35, 0)
	if got := s.shows(t, p.UID); got.FeeName != "Custom" || got.FeeMinor != 7_35 {
		t.Errorf("%+v", got)
	}
	s.Prove()
}

// A series of debits goes on collecting at least the fee that its order names: none could be made otherwise.
func TestASeriesOfDebitsIsNotChangedToLessThanItsFee(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.collect(t, s.order("250.00", costing("7.35"), economy, func(o *payments.Order) { o.Repeat = weekly() }))
	change := func(amount string) error {
		_, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, payments.RecurrenceDraft{Amount: amount},
			changes.RequestOptions{})
		return err
	}
	f, is := fault.Of(change("7.34"))
	if !is || f.Field != "amount" || !strings.Contains(f.Message, "7.35") {
		t.Errorf("below its fee: %+v", f)
	}
	if err := change("7.35"); err != nil {
		t.Errorf("as much as its fee: %v", err)
	}
}

// Nothing is held for the fee of a debit, so that nobody names one by which the account would be overdrawn.
// What the tier says is the bank's own affair.
func TestADebitCostsNoMoreThanItCollects(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	try := func(fee string) *fault.Fault {
		t.Helper()
		_, err := s.Payments.RequestDebit(s.Staff(), s.order("2.50", costing(fee), economy),
			changes.RequestOptions{})
		wrong, _ := fault.Of(err)
		return wrong
	}
	for _, fee := range []string{"2.51", "9999999.00"} {
		if wrong := try(fee); wrong == nil || wrong.Field != "fee.amount" || wrong.Problem != fault.Max {
			t.Errorf("%s: %v", fee, wrong)
		}
	}
	s.Configured("Payments", "Outgoing Payment", "Economy", "Gold")
	s.Exec(`UPDATE fee_catalogue SET price = 300 WHERE tenant = ? AND fee_name = 'Economy'`, s.Tenant)
	s.Fee(&customers.Customer{UID: s.from.Customer}, func(f *fees.Tier) { f.FeeName = "Economy" })
	if wrong := try("3.01"); wrong == nil || wrong.Problem != fault.Max {
		t.Errorf("above the tier: %v", wrong)
	}
	if wrong := try("3.00"); wrong != nil {
		t.Errorf("as the tier says: %v", wrong)
	}
	if wrong := try("2.50"); wrong != nil {
		t.Errorf("all that it collects: %v", wrong)
	}
}

func TestWhatAPaymentMayNotCost(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.priced()
	try := func(fee payments.CustomFee, edits ...func(*payments.Order)) *fault.Fault {
		t.Helper()
		o := s.order("1", edits...)
		o.Fee = &fee
		_, err := s.Payments.Send(s.Staff(), o, changes.RequestOptions{})
		wrong, _ := fault.Of(err)
		return wrong
	}
	for name, c := range map[string]struct {
		fee     payments.CustomFee
		field   string
		problem fault.Problem
	}{
		"nothing":         {payments.CustomFee{Amount: "0"}, "fee.amount", fault.Min},
		"less":            {payments.CustomFee{Amount: "-1"}, "fee.amount", fault.Min},
		"much":            {payments.CustomFee{Amount: "10000000.01"}, "fee.amount", fault.Max},
		"not said":        {payments.CustomFee{}, "fee.amount", fault.Required},
		"a part of cents": {payments.CustomFee{Amount: "0.005"}, "fee.amount", fault.Malformed},
		"no number":       {payments.CustomFee{Amount: "1e3"}, "fee.amount", fault.Malformed},
		"of a long name": {
			payments.CustomFee{Amount: "1", Name: "A name that is too long"},
			"fee.feeName", fault.Max,
		},
		"other money": {payments.CustomFee{Amount: "1", Currency: "EUR"}, "fee.currency", fault.NoMatch},
	} {
		if wrong := try(c.fee); wrong == nil || wrong.Field != c.field || wrong.Problem != c.problem {
			t.Errorf("%s: %v", name, wrong)
		}
	}
	if wrong := try(payments.CustomFee{Amount: "1"},
		func(o *payments.Order) { o.Amount = "100000.00" }); wrong == nil {
		t.Error("what the account does not have is paid")
	}
	// only the bank goes below the tier
	of := &customers.Customer{UID: s.from.Customer}
	somebody := s.PersonOf(of, s.User(of, nil))
	for amount, refused := range map[string]bool{"0.24": true, "0.25": false, "0.26": false} {
		_, err := s.Payments.Send(somebody, s.order("1", costing(amount)), changes.RequestOptions{})
		if wrong, is := fault.Of(err); is != refused || is &&
			(wrong.Field != "fee.amount" || wrong.Problem != fault.Min) {
			t.Errorf("%s: %v", amount, err)
		}
	}
	s.Configured("Payments", "Outgoing Payment", "SPOT", "Gold")
	s.Exec(`UPDATE fee_catalogue SET price = 25 WHERE tenant = ? AND fee_name = 'SPOT'`, s.Tenant)
	s.Fee(of, func(f *fees.Tier) { f.FeeName = "SPOT" })
	_, err := s.Payments.Send(somebody, s.order("1", costing("0.24"), repairably, func(o *payments.Order) {
		o.Speed, o.Currency, o.Contract = "SPOT", "EUR", 4711 // a trade that does not exist hides no tier
	}), changes.RequestOptions{})
	if wrong, is := fault.Of(err); !is || wrong.Field != "fee.amount" {
		t.Errorf("abroad: %v", err)
	}
	if wrong := try(payments.CustomFee{Amount: "0.24"}); wrong != nil {
		t.Errorf("the bank: %v", wrong)
	}
	s.Prove()
}

// Each payment of a series costs what the first one did.
func TestASeriesCostsWhatItWasAskedToCost(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	two := int32(2)
	s.send(t, s.order("10.00", costing("1.50"), func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "NumberOfPayments", Number: &two}
	}))
	for range 3 {
		s.run(t)
		s.Clock.Advance(24 * time.Hour)
	}
	s.has(t, 100_000_00-2*11_50, 0)
	s.Prove()
}
