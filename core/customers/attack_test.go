package customers_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"bankgraph/core/accounts"
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
	for name, settings := range map[string]customers.AccessDraft{
		"no bound":       {SecondApproverLimit: given.Of("0")},
		"a larger bound": {SecondApproverLimit: given.Of("1000.01")},
		"one person":     {PaymentDualApproval: given.Of(false)},
	} {
		of := b.Customer(coretest.OwnedBy(partner), func(c *customers.Customer) {
			c.Access.PaymentDualApproval, c.Access.SecondApproverLimit = true, 1_000_00
		})
		out, err := b.Customers.Change(b.PartnersPerson(partner), of.UID, customers.Draft{Access: settings},
			changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(name, out, err)
		}
		_, err = b.Changes.Approve(b.PartnersPerson(partner), changes.UID(out.Approval), changes.RequestOptions{})
		if !errors.Is(err, changes.ErrNotYours) {
			t.Errorf("%s: two people of the partner decide: %v", name, err)
		}
		if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Other banks take entries under a company's number for that company's.
func TestAPartnerTakesNoCompanyNumberOfAnother(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner, rival := b.DownstreamPartner(), b.DownstreamPartner()
	numbered := func(by *customers.Customer, number string) *customers.Customer {
		return b.Customer(coretest.OwnedBy(by), func(c *customers.Customer) { c.ACHCompanyID = number })
	}
	of := numbered(partner, "1000000009")
	numbered(partner, "1000000001")
	b.Customer(func(c *customers.Customer) { c.ACHCompanyID = "1000000002" })
	numbered(rival, "1000000003")
	b.Account(b.Customer(coretest.OwnedBy(rival)), coretest.Sends,
		func(a *accounts.Account) { a.ACHCompanyID = "1000000004" })
	both := numbered(partner, "1000000005")
	b.Account(both, coretest.Sends, func(a *accounts.Account) { a.ACHCompanyID = "1000000006" })
	numbered(rival, "1000000005")
	numbered(rival, "1000000006")
	user(t, b, b.Self.UID, "mjones", "Active")
	for number, waits := range map[string]bool{
		"1000000000": false, "1000000001": false, "1000000002": true, "1000000003": true, "1000000004": true,
		"1000000005": false, "1000000006": false, "1000000009": false,
	} {
		for twice := range 2 {
			d := draft(fmt.Sprint("NEW", number, twice))
			d.RelationshipType, d.PartnerOrgShortName = new(customers.RelationThirdParty), given.Of(partner.ShortName)
			d.ACHCompanyID = given.Of(number)
			out, err := b.Customers.Create(b.Partner(partner), d, changes.RequestOptions{})
			if err != nil || (out.Approval != 0) != waits {
				t.Errorf("a new one, %s: %+v %v", number, out, err)
			}
			if !waits {
				continue
			}
			if _, err := b.Changes.Refuse(b.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Errorf("a new one, %s: %v", number, err)
			}
		}
		out, err := b.Customers.Change(b.Partner(partner), of.UID, customers.Draft{ACHCompanyID: given.Of(number)},
			changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != waits {
			t.Errorf("%s: %+v %v", number, out, err)
		}
		if !waits {
			continue
		}
		if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s: %v", number, err)
		}
	}
	out, err := b.Customers.Change(b.Staff(), of.UID, customers.Draft{ACHCompanyID: given.Of("1000000003")},
		changes.RequestOptions{})
	if err != nil || out.Approval != 0 {
		t.Errorf("by the bank: %+v %v", out, err)
	}
}

func TestOneOfTwoTakesACompanyNumber(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	user(t, b, b.Self.UID, "mjones", "Active")
	partners := []*customers.Customer{b.DownstreamPartner(), b.DownstreamPartner()}
	for n := range 10 {
		waits := make([]bool, len(partners))
		var all sync.WaitGroup
		for i, partner := range partners {
			of := b.Customer(coretest.OwnedBy(partner))
			all.Go(func() {
				out, err := b.Customers.Change(b.Partner(partner), of.UID,
					customers.Draft{ACHCompanyID: given.Of(fmt.Sprint(1000000000 + n))}, changes.RequestOptions{})
				if waits[i] = out.Approval != 0; err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if waits[0] == waits[1] {
			t.Errorf("number %d: %v wait for the bank, want one of them", n, waits)
		}
	}
}

// One person of the bank does not decide for all of its customers, nor under which name and BIC it pays.
func TestOnePersonChangesNothingThatBindsTheWholeBank(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	ours := b.Customer()
	for name, c := range map[string]struct {
		draft customers.Draft
		waits bool
	}{
		"settings":   {customers.Draft{Access: customers.AccessDraft{PaymentDualApproval: given.Of(true)}}, true},
		"BIC":        {customers.Draft{SWIFTCode: given.Of("RHNUDEF0")}, true},
		"legal name": {customers.Draft{LegalName: given.Of("Another Bank")}, true},
		"company":    {customers.Draft{ACHCompanyID: given.Of("1234512345")}, true},
		"note":       {customers.Draft{Note: given.Of("seen")}, false},
	} {
		out, err := b.Customers.Change(b.Staff(), b.Self.UID, c.draft, changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != c.waits {
			t.Errorf("%s: %+v %v", name, out, err)
		}
		if c.waits {
			if _, err := b.Changes.Refuse(b.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		out, err = b.Customers.Change(b.Staff(), ours.UID, c.draft, changes.RequestOptions{})
		if c.draft.Access != (customers.AccessDraft{}) { // to end it again would wait
			continue
		}
		if err != nil || out.Approval != 0 {
			t.Errorf("%s of a customer: %+v %v", name, out, err)
		}
	}
}

// What the bank keeps of a rate is its own to lower.
func TestAPartnerLowersNoMarginByItself(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	of := b.Customer(coretest.OwnedBy(partner),
		func(c *customers.Customer) { c.Profile.FXPricingTier = "Preferred" })
	tier := func(name string) customers.ProfileDraft {
		return customers.ProfileDraft{FXPricingTier: given.Of(name)}
	}
	for name, waits := range map[string]bool{
		"preferred": false, "Standard": false, " premier ": true, "Gold": false,
	} {
		b.Exec(`UPDATE customers SET profile_fx_pricing_tier = 'Preferred' WHERE tenant = ? AND uid = ?`,
			b.Tenant, of.UID)
		out, err := b.Customers.Change(b.Partner(partner), of.UID, customers.Draft{Profile: tier(name)},
			changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != waits {
			t.Errorf("%s: %+v %v", name, out, err)
		}
		if waits {
			if _, err := b.Changes.Approve(b.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	user(t, b, b.Self.UID, "mjones", "Active")
	for name, waits := range map[string]bool{"": false, "Gold": false, "Preferred": true} {
		d := draft(fmt.Sprint("NEW", len(name)))
		d.RelationshipType, d.PartnerOrgShortName = new(customers.RelationThirdParty), given.Of(partner.ShortName)
		d.Profile = tier(name)
		out, err := b.Customers.Create(b.Partner(partner), d, changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != waits {
			t.Errorf("a new one, %q: %+v %v", name, out, err)
		}
	}
}
