package core_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/fees"
	"bankgraph/core/given"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
)

// partnered is a bank with a write that is ready for a partner's customer, and the customers from which
// callers try it.
type partnered struct {
	*coretest.Bank
	do      write
	own     *customers.Customer // the customer of the write
	partner *customers.Customer
	sibling *customers.Customer // of the same partner
	rival   *customers.Customer // another partner
}

func ready(t *testing.T, on func(*coretest.Bank) write) *partnered {
	t.Helper()
	b := coretest.New(t)
	p := &partnered{
		Bank: b, do: on(b), own: new(customers.Customer), partner: b.DownstreamPartner(),
		rival: b.DownstreamPartner(),
	}
	p.sibling = b.Customer(coretest.OwnedBy(p.partner))
	b.Exec(`UPDATE customers SET owner = ? WHERE tenant = ? AND owner = 0 AND relationship_type <> 'Self'`,
		p.partner.UID, b.Tenant)
	b.Exec(`UPDATE roles SET owner = 'Customer' WHERE tenant = ?`, b.Tenant)
	// the partner is a program here
	b.Exec(`INSERT INTO tenant_settings (tenant, people_decide) VALUES (?, false) ON CONFLICT DO NOTHING`,
		b.Tenant)
	// as if one of the customer's own people had requested it
	b.Exec(`UPDATE approvals SET decides = 'Customer', maker_reach = 'Customer' WHERE tenant = ?`, b.Tenant)
	err := b.DB.NewSelect().Model(p.own).Where("c.tenant = ?", b.Tenant).Where("c.owner = ?", p.partner.UID).
		Where("c.uid NOT IN (?, ?)", p.partner.UID, p.sibling.UID).OrderExpr("c.uid").Limit(1).
		Scan(t.Context())
	if err != nil {
		*p.own = *p.sibling // the write creates a customer
	}
	return p
}

// somebody returns a user of a customer with all permissions that a customer's people can have.
func (p *partnered) somebody(of *customers.Customer) context.Context {
	return p.PersonOf(of, p.User(of, nil, func(u *users.User) { u.LoginID = "somebody." + of.UID.String() }))
}

// plain runs a test for each write that succeeds, and for decisions on those that wait.
func plain(t *testing.T, test func(t *testing.T, operation string, on func(*coretest.Bank) write)) {
	t.Helper()
	for _, w := range writes {
		if operation, why, _ := strings.Cut(w.name, ","); w.as != nil || why == "" {
			t.Run(w.name, func(t *testing.T) {
				t.Parallel()
				test(t, operation, w.on)
			})
		}
	}
}

// theBanks lists what only the bank itself, or a partner for its customers, can do.
var theBanks = map[string]error{
	"createCustomer": customers.ErrNoPartner, "suspendCustomer": access.ErrDenied,
	"activateCustomer": access.ErrDenied,
	"changeLimits":     access.ErrDenied, "addFeeTier": access.ErrDenied, "changeFeeTier": access.ErrDenied,
	"openAccount": access.ErrDenied, "closeAccount": access.ErrDenied, "activateAccount": access.ErrDenied,
	"suspendAccount": accounts.ErrBankSuspends,
	"deleteAccount":  access.ErrDenied,
	"placeHold":      access.ErrDenied, "releaseHold": access.ErrDenied,
	"changeAccount": accounts.ErrArranged, // for its number
	"moveClock":     access.ErrDenied,
	"runWaterfall":  access.ErrDenied, "repairPayment": access.ErrDenied,
	"releaseScreenedPayment": access.ErrDenied, "rejectScreenedPayment": access.ErrDenied,
	"linkSubject": users.ErrBankLinks, "unlinkSubject": users.ErrBankLinks,
}

func TestSomebodyOfACustomerChangesWhatThatCustomerHas(t *testing.T) {
	t.Parallel()
	plain(t, func(t *testing.T, operation string, on func(*coretest.Bank) write) {
		t.Helper()
		p := ready(t, on)
		_, err := p.do(p.somebody(p.own), "")
		if want := theBanks[operation]; !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	})
}

func TestSomebodyOfACustomerChangesNothingOfAnother(t *testing.T) {
	t.Parallel()
	plain(t, func(t *testing.T, operation string, on func(*coretest.Bank) write) {
		t.Helper()
		if operation == "createCustomer" {
			return
		}
		p := ready(t, on)
		for name, caller := range map[string]context.Context{
			"of the same partner": p.somebody(p.sibling), "of another": p.somebody(p.rival),
			"of the partner's name": p.somebody(p.partner), "another partner": p.Partner(p.rival),
		} {
			_, err := p.do(caller, "")
			if f, refused := fault.Of(err); !refused || f.Kind != fault.NotFound && f.Kind != fault.Denied {
				t.Errorf("somebody %s: %v", name, err)
			}
		}
		// the write itself was possible
		if _, err := p.do(p.Partner(p.partner), ""); err != nil && theBanks[operation] == nil {
			t.Errorf("the partner itself: %v", err)
		}
	})
}

// movesMoney reports whether the write of a test moves money when it is carried out.
func movesMoney(test string) bool {
	return strings.HasSuffix(test, "/transferFunds") ||
		strings.HasSuffix(test, "/approveChange,_of_a_transfer") ||
		strings.HasSuffix(test, "/approveChange,_of_a_transfer_that_begins_a_series") ||
		strings.HasSuffix(test, "/sendPayment") || strings.HasSuffix(test, "/requestDebit") ||
		strings.HasSuffix(test, "/approveChange,_of_a_debit") ||
		strings.HasSuffix(test, "/approveChange,_of_a_payment_over_a_network") ||
		strings.HasSuffix(test, "/approveChange,_of_a_payment_that_is_repaired") ||
		strings.HasSuffix(test, "/startContactVerification") ||
		strings.HasSuffix(test, "/returnPayment") || strings.HasSuffix(test, "/reversePayment") ||
		strings.HasSuffix(test, "/approveChange,_of_a_return") ||
		strings.HasSuffix(test, "/approveChange,_of_a_return_over_ACH") ||
		strings.HasSuffix(test, "/approveException") || strings.HasSuffix(test, "/decideExceptions") ||
		strings.HasSuffix(test, "/quoteExchange") || strings.HasSuffix(test, "/acceptQuote")
}

// takesAway lists the operations that take something away, which is never refused.
var takesAway = map[string]bool{
	"suspendUser": true, "disableWebhook": true, "deleteWebhook": true,
	"suspendPositivePayRule": true, "deletePositivePayRule": true,
}

// If a customer or its partner is not active, only the bank changes anything of it. But everybody who may
// grant its users access may also take it away.
func TestNothingOfACustomerChangesWhileItIsNotActive(t *testing.T) {
	t.Parallel()
	plain(t, func(t *testing.T, operation string, on func(*coretest.Bank) write) {
		t.Helper()
		for _, status := range []customers.Status{customers.Suspended, customers.Pending} {
			for _, of := range []string{"the customer", "its partner"} {
				p := ready(t, on)
				who := p.own
				if of == "its partner" {
					who = p.partner
				}
				p.Exec(`UPDATE customers SET status = ? WHERE tenant = ? AND uid = ?`, status, p.Tenant, who.UID)
				want := error(customers.ErrInactive)
				switch {
				case takesAway[operation], operation == "createCustomer" && who == p.own:
					want = nil
				case operation == "suspendCustomer", operation == "activateCustomer", operation == "moveClock",
					operation == "runWaterfall", operation == "repairPayment",
					operation == "releaseScreenedPayment", operation == "rejectScreenedPayment":
					want = access.ErrDenied
				case operation == "linkSubject", operation == "unlinkSubject":
					want = users.ErrBankLinks
				}
				if _, err := p.do(p.Partner(p.partner), ""); !errors.Is(err, want) {
					t.Errorf("%s is %s: its partner: %v, want %v", of, status, err, want)
				}
				if theBanks[operation] != nil || takesAway[operation] {
					continue
				}
				if _, err := p.do(p.somebody(p.own), ""); !errors.Is(err, customers.ErrInactive) {
					t.Errorf("%s is %s: somebody of it: %v", of, status, err)
				}
				want = nil
				if movesMoney(t.Name()) { // its money stands still, whoever asks
					want = customers.ErrInactive
				}
				if _, err := p.do(p.Checker(), ""); !errors.Is(err, want) {
					t.Errorf("%s is %s: the bank: %v, want %v", of, status, err, want)
				}
			}
		}
	})
}

// A caller without the permission of an operation is refused, and the attempt is recorded.
func TestEveryOperationTellsWhomItRefused(t *testing.T) {
	t.Parallel()
	plain(t, func(t *testing.T, operation string, on func(*coretest.Bank) write) {
		t.Helper()
		// these need the permission of the change, which they read first
		if strings.HasSuffix(operation, "Change") {
			return
		}
		p := ready(t, on)
		caller := p.As(access.ExploreGraphQL)
		for range 2 {
			if _, err := p.do(caller, ""); !errors.Is(err, access.ErrDenied) {
				t.Errorf("%v", err)
			}
		}
		told := access.Refusals(caller)
		if len(told) != 1 || told[0].Action != operation || told[0].Object == "" || len(told[0].Needs) == 0 {
			t.Fatalf("%+v", told)
		}
		caller = p.Staff()
		if _, err := p.do(caller, ""); err != nil || access.Refusals(caller) != nil {
			t.Errorf("allowed: %v, %+v", err, access.Refusals(caller))
		}
	})
}

// A customer's own people cannot change what the bank or the partner has arranged with it.
func TestSomebodyOfACustomerDoesNotChangeWhatIsArranged(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	c := b.Customer()
	me := b.PersonOf(c, b.User(c, nil))
	corporate, third := customers.Corporate, customers.RelationThirdParty
	for field, draft := range map[string]customers.Draft{
		"customerType": {Type: &corporate}, "relationshipType": {RelationshipType: &third},
		"partnerOrgShortName":   {PartnerOrgShortName: given.Of("")},
		"parentEntityShortName": {ParentEntityShortName: given.Of("")},
		"relationshipManager":   {RelationshipManager: given.Of("x")},
		"originatingOfficer":    {OriginatingOfficer: given.Of("x")}, "costCenter": {CostCenter: given.Of("1")},
		"legalName": {LegalName: given.Of("New Ltd")}, "taxId": {TaxID: given.Of("98-7654321")},
		"lei": {LEI: given.Of("")}, "note": {Note: given.Of("x")}, "customerId": {CustomerID: given.Of("1")},
		"achCompanyID": {ACHCompanyID: given.Of("1")}, "secCodes": {SECCodes: []string{"PPD"}},
		"additionalProfileDetails": {Profile: customers.ProfileDraft{ACHNonPrefundLimit: given.Of("1")}},
		"limits":                   {Limits: []customers.Ceiling{{Code: "LIMIT_DAILY_WIRE", Value: "1"}}},
	} {
		_, err := b.Customers.Change(me, c.UID, draft, with(""))
		if f, refused := fault.Of(err); !refused || f.Field != field || f.Problem != fault.Forbidden {
			t.Errorf("%s: %v", field, err)
		}
	}
	if _, err := b.Customers.Change(me, c.UID, customers.Draft{Website: given.Of("https://bakery.example")},
		with("")); err != nil {
		t.Error(err)
	}
	a := b.Account(c)
	name := accounts.Draft{Name: given.Of("Rent"), ExternalReferenceID: given.Of("R-1"), Note: given.Of("ours")}
	if _, err := b.Accounts.Change(me, 0, a.UID, name, with("")); err != nil {
		t.Error(err)
	}
	partner := b.DownstreamPartner()
	for field, draft := range map[string]customers.Draft{
		"secCodes": {SECCodes: []string{"PPD"}},
		"limits":   {Limits: []customers.Ceiling{{Code: "LIMIT_DAILY_WIRE", Value: "1"}}},
	} {
		_, err := b.Customers.Change(b.Partner(partner), partner.UID, draft, with(""))
		if f, refused := fault.Of(err); !refused || f.Field != field || f.Problem != fault.Forbidden {
			t.Errorf("a partner's own %s: %v", field, err)
		}
	}
	b.Limit(partner, "ACH_PAYMENT_LIMIT_PER_DAY", 1)
	if _, err := changeLimits(b, partner)(b.Partner(partner), ""); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a partner's own limits: %v", err)
	}
	if _, err := addFeeTier(b, partner)(b.Partner(partner), ""); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a partner's own fees: %v", err)
	}
}

func TestSomebodyOfACustomerFindsItsAccountsByNumberAndNoOthers(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	own, sibling := b.Customer(coretest.OwnedBy(partner)), b.Customer(coretest.OwnedBy(partner))
	me := b.PersonOf(own, b.User(own, nil))
	for _, c := range []*customers.Customer{own, sibling, partner, b.Self} {
		a := b.Account(c)
		found, err := b.Accounts.Lookup(me, coretest.AccountNumber(a.UID), "")
		if err != nil || (found != nil) != (c == own) {
			t.Errorf("account of customer %s: %v %v", c.UID, found, err)
		}
		payee := b.Contact(c)
		b.Sweep(a, func(w *accounts.Sweep) { w.ToContact = &payee.UID })
		_, err = b.Accounts.FindSweep(me, 0, accounts.SweepName{Account: a.UID, Direction: accounts.Out})
		if c == own && err != nil || c != own && !errors.Is(err, accounts.ErrNotFound) {
			t.Errorf("sweep of customer %s: %v", c.UID, err)
		}
	}
}

// If the customer is absent or outside the caller's reach, that fault comes before those of fields.
func TestTheCustomerIsToldBeforeTheFields(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	foreign, none := b.Customer().UID, changes.RequestOptions{}
	err := func(_ any, err error) error { return err }
	for name, write := range map[string]func(context.Context, customers.UID) error{
		"change customer": func(ctx context.Context, of customers.UID) error {
			return err(b.Customers.Change(ctx, of, customers.Draft{}, none))
		},
		"add contact": func(ctx context.Context, of customers.UID) error {
			return err(b.Contacts.Add(ctx, of, contacts.Draft{}, none))
		},
		"change contact": func(ctx context.Context, of customers.UID) error {
			return err(b.Contacts.Change(ctx, of, 1, contacts.Draft{}, none))
		},
		"add fee tier": func(ctx context.Context, of customers.UID) error {
			return err(b.Fees.Add(ctx, of, fees.Draft{}, none))
		},
		"change fee tier": func(ctx context.Context, of customers.UID) error {
			return err(b.Fees.Change(ctx, of, 1, fees.Draft{}, none))
		},
		"open account": func(ctx context.Context, of customers.UID) error {
			return err(b.Accounts.Open(ctx, of, accounts.Draft{}, none))
		},
		"change account": func(ctx context.Context, of customers.UID) error {
			return err(b.Accounts.Change(ctx, of, 1, accounts.Draft{}, none))
		},
		"add signatory": func(ctx context.Context, of customers.UID) error {
			return err(b.Signatories.Add(ctx, of, signatories.Draft{}, none))
		},
		"change signatory": func(ctx context.Context, of customers.UID) error {
			return err(b.Signatories.Change(ctx, of, 1, signatories.Draft{}, none))
		},
	} {
		if err := write(b.Partner(partner), 1_999_999); !errors.Is(err, customers.ErrNotFound) {
			t.Errorf("%s of nobody: %v", name, err)
		}
		if err := write(b.Partner(partner), foreign); !errors.Is(err, customers.ErrOutOfScope) {
			t.Errorf("%s of another's: %v", name, err)
		}
		if _, told := fault.Of(write(b.Partner(partner), partner.UID)); !told {
			t.Errorf("%s of its own without a field passes", name)
		}
	}
}
