package customers_test

import (
	"context"
	"errors"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
)

// Above a bound the bank's own people decide on payments, and so they do on ending that.
func TestAPartnersTwoPeopleDoNotLeaveTheBankOut(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	person := func() context.Context {
		one, _ := access.Require(b.PersonOf(partner, b.User(partner, nil)))
		one.Reach = access.OfPartner
		return access.With(t.Context(), one)
	}
	for name, settings := range map[string]customers.AccessDraft{
		"no bound":       {SecondApproverLimit: given.Of("0")},
		"a larger bound": {SecondApproverLimit: given.Of("1000.01")},
		"one person":     {PaymentDualApproval: given.Of(false)},
	} {
		of := b.Customer(coretest.OwnedBy(partner), func(c *customers.Customer) {
			c.Access.PaymentDualApproval, c.Access.SecondApproverLimit = true, 1_000_00
		})
		out, err := b.Customers.Change(person(), of.UID, customers.Draft{Access: settings},
			changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(name, out, err)
		}
		_, err = b.Changes.Approve(person(), changes.UID(out.Approval), changes.RequestOptions{})
		if !errors.Is(err, changes.ErrNotYours) {
			t.Errorf("%s: two people of the partner decide: %v", name, err)
		}
		if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
