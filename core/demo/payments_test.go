package demo_test

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/demo"
	"bankgraph/core/page"
	"bankgraph/core/payments"
)

// The payments that documentation and examples quote.
func TestTheFirstCustomersHavePaidAndWillPay(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{})
	ctx := staff(t.Context(), tenant)
	for n, want := range map[int64]string{
		1: "10 2500.00 1000001>1000009 PROCESSED 0.50, 11 1000.00 1000001>1000001 PROCESSED 0.50, " +
			"12 750.00 1000001>1000001 FUTURE_DATED, 13 1200.50 1000001>1000009 FUTURE_DATED",
		13: "130 2500.00 1000013>1000023 PROCESSED, 131 1000.00 1000013>1000013 PROCESSED, 132 750.00 " +
			"1000013>1000013 FUTURE_DATED, 133 1200.50 1000013>1000023 FUTURE_DATED",
	} {
		var all []string
		for k := range 4 {
			p, steps, err := c.Payments.Find(ctx, demo.Payment(n, k))
			if err != nil || len(steps) != 1 || steps[0].State != p.State || p.SenderName == "" ||
				p.ReceiverName == "" {
				t.Fatal(p, steps, err)
			}
			said := p.UID.String() + " " + p.Amount().String() + " " + p.Customer.String() + ">" +
				p.ReceiverCustomer.String() + " " + string(p.Status())
			if fee := p.Fee(); fee != nil {
				said += " " + fee.String()
			}
			all = append(all, said)
		}
		if got := strings.Join(all, ", "); got != want {
			t.Error(got)
		}
	}
	found, err := c.Payments.Page(ctx, payments.Search{States: payments.StatesOf("PROCESSED")}, page.First(1))
	if err != nil || found.Total < 30 {
		t.Errorf("%d payments: %v", found.Total, err)
	}
}

// What is scheduled can be carried out, and the books are right afterwards.
func TestTheScheduledPaymentsOfTheDemoBankAreCarriedOut(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Start: start.AddDate(0, 0, -20)})
	operator := access.Operator(t.Context(), tenant, "", nil)
	carried := 0
	for n := 1; n > 0; carried += n { // a day at a time, as the worker does
		var err error
		if n, err = c.Payments.CarryOutDue(operator); err != nil {
			t.Fatal(err)
		}
	}
	if carried != 4 {
		t.Errorf("%d payments", carried)
	}
	found, err := c.Payments.Page(staff(t.Context(), tenant),
		payments.Search{From: start.AddDate(0, 0, -14).Truncate(24 * time.Hour)}, page.First(10))
	if err != nil || found.Total != 4 {
		t.Fatal(found, err)
	}
	for _, p := range found.Items {
		if p.State != payments.Settled {
			t.Errorf("payment %s is %s: %s", p.UID, p.State, p.Reason)
		}
	}
	violations, err := c.Ledger.Prove(operator)
	if err != nil || len(violations) > 0 {
		t.Error(violations, err)
	}
}
