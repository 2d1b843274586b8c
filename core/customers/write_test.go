package customers_test

import (
	"context"
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/signatories"
	"bankgraph/db"
)

// change changes a customer and returns its new state.
func change(
	t *testing.T, bank *coretest.Bank, ctx context.Context, uid customers.UID, edit func(*customers.Draft),
) *customers.Customer {
	t.Helper()
	if err := try(bank, ctx, uid, edit); err != nil {
		t.Fatal(err)
	}
	return find(t, bank, uid)
}

func try(bank *coretest.Bank, ctx context.Context, uid customers.UID, edit func(*customers.Draft)) error {
	var d customers.Draft
	edit(&d)
	_, err := bank.Customers.Change(ctx, uid, d, changes.RequestOptions{})
	return err
}

// counted compares the counters with the rows, for the bank and each owner.
func counted(t *testing.T, bank *coretest.Bank) {
	t.Helper()
	var wrong int
	err := bank.DB.NewRaw(
		`SELECT count(*) FROM (SELECT owner, sum(customers) AS n FROM customer_counts WHERE tenant = ?0
			GROUP BY owner) AS k
		FULL JOIN (SELECT owner, count(*) AS n FROM customers WHERE tenant = ?0 GROUP BY owner) AS c USING (owner)
		WHERE coalesce(k.n, 0) <> coalesce(c.n, 0)`, bank.Tenant).Scan(t.Context(), &wrong)
	if err != nil || wrong != 0 {
		t.Errorf("%d owners are counted wrong: %v", wrong, err)
	}
}

func TestEveryFieldOfANewCustomerIsChecked(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	long := given.Of(strings.Repeat("x", 256))
	for name, wrong := range map[string]struct {
		edit    func(*customers.Draft)
		field   string
		problem fault.Problem
	}{
		"no legal name": {
			func(d *customers.Draft) { d.LegalName = given.Of(" ") }, "legalName",
			fault.Required,
		},
		"long legal name": {func(d *customers.Draft) { d.LegalName = long }, "legalName", fault.Max},
		"no short name": {
			func(d *customers.Draft) { d.ShortName = given.Text{} }, "shortName",
			fault.Required,
		},
		"no type":     {func(d *customers.Draft) { d.Type = nil }, "customerType", fault.Required},
		"no tax id":   {func(d *customers.Draft) { d.TaxID = given.Text{} }, "taxId", fault.Required},
		"long tax id": {func(d *customers.Draft) { d.TaxID = given.Of("12345678901") }, "taxId", fault.Max},
		"other language": {
			func(d *customers.Draft) { d.Language = given.Of("Klingon") }, "language", fault.Malformed,
		},
		"no language": {func(d *customers.Draft) { d.Language = given.Text{} }, "language", fault.Required},
		"no legal address": {
			func(d *customers.Draft) { d.LegalAddress = given.Address{} }, "legalAddress.addressLine1", fault.Required,
		},
		"no postal code": {
			func(d *customers.Draft) { d.LegalAddress.PostalCode = given.Text{} }, "legalAddress.postalCode",
			fault.Required,
		},
		"no country": {
			func(d *customers.Draft) { d.LegalAddress.CountryCode = given.Of("XX") },
			"legalAddress.countryCode", fault.Malformed,
		},
		"no flag": {
			func(d *customers.Draft) { d.MailAddressSameAsLegal = given.Flag{} }, "mailAddressSameAsLegal",
			fault.Required,
		},
		"no mailing address": {
			func(d *customers.Draft) { d.MailAddressSameAsLegal = given.Of(false) }, "mailingAddress.city",
			fault.Required,
		},
		"empty entry class": {
			func(d *customers.Draft) { d.SECCodes = []string{""} },
			"secCodes[0]", fault.Required,
		},
		"no code of mail": {func(d *customers.Draft) {
			d.MailAddressSameAsLegal, d.MailingAddress = given.Of(false), d.LegalAddress
			d.MailingAddress.PostalCode = given.Text{}
		}, "mailingAddress.postalCode", fault.Required},
		"no cost center": {
			func(d *customers.Draft) { d.CostCenter = given.Text{} }, "costCenter",
			fault.Required,
		},
		"long cost center": {
			func(d *customers.Draft) { d.CostCenter = given.Of(strings.Repeat("1", 21)) }, "costCenter", fault.Max,
		},
		"no manager": {
			func(d *customers.Draft) { d.RelationshipManager = given.Text{} }, "relationshipManager", fault.Required,
		},
		"unknown manager": {
			func(d *customers.Draft) { d.RelationshipManager = given.Of("nobody") }, "relationshipManager",
			fault.Unknown,
		},
		"unknown officer": {
			func(d *customers.Draft) { d.OriginatingOfficer = given.Of("nobody") }, "originatingOfficer",
			fault.Unknown,
		},
		"LEI": {
			func(d *customers.Draft) { d.LEI = given.Of("5493001KJTIIGC8Y1R1") }, "lei", fault.Malformed,
		},
		"BIC": {
			func(d *customers.Draft) { d.SWIFTCode = given.Of("ACME") }, "swiftCode", fault.Malformed,
		},
		"e-mail": {
			func(d *customers.Draft) { d.EmailAddress = given.Of("nobody") }, "emailAddress", fault.Malformed,
		},
		"web site": {
			func(d *customers.Draft) { d.Website = given.Of("javascript:alert(1)") }, "webSite", fault.Malformed,
		},
		"ACH company": {
			func(d *customers.Draft) { d.ACHCompanyID = given.Of("123456789") }, "achCompanyID", fault.Exact,
		},
		"entry class": {
			func(d *customers.Draft) { d.SECCodes = []string{"ZZZ"} }, "secCodes[0]",
			fault.Malformed,
		},
		"Self": {
			func(d *customers.Draft) { d.RelationshipType = new(customers.RelationSelf) }, "relationshipType",
			fault.Forbidden,
		},
		"nobody's party": {
			func(d *customers.Draft) { d.RelationshipType = new(customers.RelationThirdParty) },
			"partnerOrgShortName", fault.Required,
		},
		"unknown partner": {
			func(d *customers.Draft) { d.PartnerOrgShortName = given.Of("nobody") }, "partnerOrgShortName",
			fault.Unknown,
		},
		"no partner": {
			func(d *customers.Draft) { d.PartnerOrgShortName = given.Of(bank.Self.ShortName) },
			"partnerOrgShortName", fault.Unknown,
		},
		"unknown parent": {
			func(d *customers.Draft) { d.ParentEntityShortName = given.Of("nobody") },
			"parentEntityShortName", fault.Unknown,
		},
		"charges": {
			func(d *customers.Draft) { d.Profile.DetailsOfCharge = given.Of("ALL") },
			"additionalProfileDetails.detailsOfCharge", fault.Malformed,
		},
		"low adjustment": {
			func(d *customers.Draft) { d.Profile.CreditValueAdjustment = given.Of("0.00009") },
			"additionalProfileDetails.creditValueAdjustment", fault.Min,
		},
		"high adjustment": {
			func(d *customers.Draft) { d.Profile.CreditValueAdjustment = given.Of("1.01") },
			"additionalProfileDetails.creditValueAdjustment", fault.Max,
		},
		"high approval": {
			func(d *customers.Draft) { d.Access.FirstApproverLimit = given.Of("1000000000") },
			"legalEntityAccessSettings.paymentLimitforFirstApprover", fault.Max,
		},
		"tenths of cents": {
			func(d *customers.Draft) { d.Access.SecondApproverLimit = given.Of("0.001") },
			"legalEntityAccessSettings.paymentLimitforSecondApprover", fault.Malformed,
		},
		"three approvers": {
			func(d *customers.Draft) { d.Access.NumberOfApprovers = new(int32(3)) },
			"legalEntityAccessSettings.paymentNumberOfApprovers", fault.Max,
		},
		"unknown attribute": {
			func(d *customers.Draft) { d.AdditionalAttributes = []customers.Attribute{attribute("Colour", "red")} },
			"additionalAttributes[0].attributeName", fault.Unknown,
		},
	} {
		_, err := bank.Customers.Create(bank.Staff(), draft("NEW", wrong.edit), changes.RequestOptions{})
		blames(t, name, err, wrong.field, wrong.problem)
	}
	if n := count(t, bank, bank.Staff(), customers.Search{}); n != 1 {
		t.Errorf("%d customers are there", n)
	}
	counted(t, bank)
}

func TestTheOldestGenerationDemandsOtherFields(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	oldest := func(d *customers.Draft) {
		d.Oldest, d.Language, d.CostCenter, d.RelationshipManager, d.OriginatingOfficer = true, given.Text{},
			given.Text{}, given.Text{}, given.Text{}
		d.LegalAddress.PostalCode = given.Text{}
	}
	_, err := bank.Customers.Create(bank.Staff(), draft("OLD", oldest), changes.RequestOptions{})
	blames(t, "no reference", err, "externalReferenceId", fault.Required)
	blames(t, "no state", err, "legalAddress.state", fault.Required)
	c := create(t, bank, bank.Staff(), draft("OLD", oldest, func(d *customers.Draft) {
		d.ExternalReferenceID, d.LegalAddress.State = given.Of("ref"), given.Of("PA")
	}))
	if c.Language != "" || c.RelationshipManager != "" {
		t.Errorf("%+v", c)
	}
}

// The oldest form names neither languages nor a length of tax ids: a person's has 11 characters with its
// hyphens.
func TestTheOldestGenerationLeavesLanguageAndTaxIDFree(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	oldest := func(d *customers.Draft) {
		d.Oldest, d.ExternalReferenceID, d.LegalAddress.State = true, given.Of("ref"), given.Of("PA")
	}
	c := create(t, bank, bank.Staff(), draft("FREE", oldest, func(d *customers.Draft) {
		d.Language, d.TaxID = given.Of("French"), given.Of("123-45-6789")
	}))
	if c.Language != "French" || c.TaxID.Masked() != "****6789" {
		t.Errorf("%q %s", c.Language, c.TaxID.Masked())
	}
	longer := func(d *customers.Draft) { d.TaxID = given.Of("987-65-4321") }
	blames(t, "v2", try(bank, bank.Staff(), c.UID, longer), "taxId", fault.Max)
	c = change(t, bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.Oldest = true; longer(d) })
	if c.TaxID.Masked() != "****4321" {
		t.Errorf("changed to %s", c.TaxID.Masked())
	}
	blames(t, "nothing", try(bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.Oldest = true }), "body",
		fault.Required)
}

func TestWhatOneCustomerHasNoOtherCanTake(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	const lei = "5493001KJTIIGC8Y1R12"
	first := create(t, bank, bank.Staff(),
		draft("TAKEN", func(d *customers.Draft) { d.CustomerID, d.LEI = given.Of("ID-1"), given.Of(lei) }))
	second := create(t, bank, bank.Staff(), draft("FREE"))
	for field, edit := range map[string]func(*customers.Draft){
		"shortName":  func(d *customers.Draft) { d.ShortName = given.Of(" taken ") },
		"customerId": func(d *customers.Draft) { d.CustomerID = given.Of("ID-1\u00a0") },
		"lei":        func(d *customers.Draft) { d.LEI = given.Of(lei) },
	} {
		_, err := bank.Customers.Create(bank.Staff(), draft("OTHER", edit), changes.RequestOptions{})
		if f, ok := fault.Of(err); !ok || f.Kind != fault.Conflict || f.Field != field {
			t.Errorf("create: %s: %v", field, err)
		}
		if field == "shortName" {
			continue
		}
		if f, ok := fault.Of(try(bank, bank.Staff(), second.UID, edit)); !ok || f.Kind != fault.Conflict ||
			f.Field != field {
			t.Errorf("change: %s: %v", field, f)
		}
	}
	// its own
	change(t, bank, bank.Staff(), first.UID,
		func(d *customers.Draft) { d.LEI, d.CustomerID = given.Of(lei), given.Of("ID-1") })
	twin := staffed(t)
	// another bank
	create(t, twin, twin.Staff(),
		draft("TAKEN", func(d *customers.Draft) { d.CustomerID, d.LEI = given.Of("ID-1"), given.Of(lei) }))
	counted(t, bank)
}

func TestOfTwoWhoWantAShortNameAtOnceOneGetsIt(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	errs := make([]error, 8)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = bank.Customers.Create(bank.Staff(), draft([]string{"RACE", "race"}[i%2]),
				changes.RequestOptions{})
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if f, ok := fault.Of(err); err == nil {
			made++
		} else if !ok || f.Field != "shortName" {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d got it", made)
	}
	counted(t, bank)
}

func TestAPartnersCallerMakesCustomersOfItsOwn(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	theirs, banks := bank.Customer(coretest.OwnedBy(rival)), bank.Customer()
	user(t, bank, rival.UID, "rivals", "Active")
	user(t, bank, partner.UID, "ours", "Active")
	user(t, bank, partner.UID, "gone", "Suspended")
	ctx := bank.Partner(partner)
	c := create(t, bank, ctx,
		draft("OURS", func(d *customers.Draft) { d.OriginatingOfficer = given.Of("ours") }))
	if c.Owner != partner.UID || c.RelationshipType != customers.RelationThirdParty ||
		c.PartnerOrgShortName != partner.ShortName {
		t.Errorf("%+v", c)
	}
	below := create(t, bank, ctx, draft("BELOW", func(d *customers.Draft) {
		d.ParentEntityShortName, d.PartnerOrgShortName = given.Of("ours"),
			given.Of(strings.ToLower(partner.ShortName))
		d.RelationshipType = new(customers.RelationCustomer)
	}))
	if below.Owner != partner.UID || below.Parent == nil || *below.Parent != c.UID ||
		below.ParentEntityShortName != "OURS" {
		t.Errorf("%+v", below)
	}
	for name, wrong := range map[string]struct {
		edit    func(*customers.Draft)
		field   string
		problem fault.Problem
	}{
		"a partner": {
			func(d *customers.Draft) { d.Type = new(customers.DownstreamPartner) }, "customerType", fault.Forbidden,
		},
		"a bank": {
			func(d *customers.Draft) { d.Type = new(customers.ProcessingOrg) }, "customerType", fault.Forbidden,
		},
		"a rival's": {
			func(d *customers.Draft) { d.PartnerOrgShortName = given.Of(rival.ShortName) },
			"partnerOrgShortName", fault.Unknown,
		},
		"below a rival's": {
			func(d *customers.Draft) { d.ParentEntityShortName = given.Of(theirs.ShortName) },
			"parentEntityShortName", fault.Unknown,
		},
		"below the bank's": {
			func(d *customers.Draft) { d.ParentEntityShortName = given.Of(banks.ShortName) },
			"parentEntityShortName", fault.Unknown,
		},
		"a rival's manager": {
			func(d *customers.Draft) { d.RelationshipManager = given.Of("rivals") }, "relationshipManager",
			fault.Unknown,
		},
		"an old manager": {
			func(d *customers.Draft) { d.RelationshipManager = given.Of("gone") }, "relationshipManager",
			fault.Unknown,
		},
	} {
		_, err := bank.Customers.Create(ctx, draft("NEW", wrong.edit), changes.RequestOptions{})
		blames(t, name, err, wrong.field, wrong.problem)
		if name != "below a rival's" {
			continue
		}
		err = try(bank, ctx, c.UID,
			func(d *customers.Draft) { d.ParentEntityShortName = given.Of(theirs.ShortName) })
		blames(t, "change: "+name, err, wrong.field, wrong.problem)
	}
	for field, edit := range map[string]func(*customers.Draft){
		"partnerOrgShortName": func(d *customers.Draft) {
			d.PartnerOrgShortName, d.RelationshipType = given.Of(""), new(customers.RelationCustomer)
		},
		"customerType": func(d *customers.Draft) { d.Type = new(customers.DownstreamPartner) },
	} {
		blames(t, "change "+field, try(bank, ctx, c.UID, edit), field, fault.Forbidden)
	}
	for _, foreign := range []*customers.Customer{theirs, banks, rival, bank.Self} {
		if err := try(bank, ctx, foreign.UID,
			func(d *customers.Draft) { d.Note = given.Of("x") }); !errors.Is(err, customers.ErrOutOfScope) {
			t.Errorf("%s: %v", foreign.ShortName, err)
		}
	}
	stray := bank.Partner(bank.Customer())
	if _, err := bank.Customers.Create(stray, draft("STRAY"),
		changes.RequestOptions{}); !errors.Is(err, customers.ErrNoPartner) {
		t.Errorf("no partner: %v", err)
	}
	counted(t, bank)
}

// Whoever may not change a customer must not hold up those who may, nor learn that they do.
func TestNobodyWaitsForACustomerOfAnother(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	theirs, other := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	somebody := bank.PersonOf(other, bank.User(other, nil))
	staff, err := access.Require(bank.Staff())
	if err != nil {
		t.Fatal(err)
	}
	err = bank.DB.InTx(t.Context(), int64(bank.Tenant), func(ctx context.Context, tx bun.Tx) error {
		if _, err := bank.Customers.LockTx(ctx, tx, staff, theirs.UID); err != nil {
			return err
		}
		for name, stranger := range map[string]context.Context{
			"another partner": bank.Partner(rival), "another customer": somebody,
		} {
			if err := try(bank, stranger, theirs.UID, func(d *customers.Draft) {
				d.LegalName = given.Of("Mine")
			}); !errors.Is(err, customers.ErrOutOfScope) {
				t.Errorf("%s: %v", name, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Each of two moves is valid by itself; together they would form a circle that neither sees.
func TestTwoMovesAtOnceCloseNoCircle(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	staff := bank.Staff()
	under := func(p *customers.Customer) func(*customers.Draft) {
		return func(d *customers.Draft) { d.ParentEntityShortName = given.Of(p.ShortName) }
	}
	one, other := create(t, bank, staff, draft("ONE")), create(t, bank, staff, draft("OTHER"))
	belowOne := create(t, bank, staff, draft("BELOWONE", under(one)))
	belowOther := create(t, bank, staff, draft("BELOWOTHER", under(other)))
	errs := bank.Turns(func(ctx context.Context, tx bun.Tx) error {
		return db.ParentTree.WaitTx(ctx, tx, int64(bank.Tenant))
	},
		func() error { return try(bank, staff, one.UID, under(belowOther)) },
		func() error { return try(bank, staff, other.UID, under(belowOne)) })
	if errs[0] != nil {
		t.Errorf("the first: %v", errs[0])
	}
	blames(t, "the second", errs[1], "parentEntityShortName", fault.NoMatch)
}

func TestPartnerParentAndTypeSayWhoseACustomerIs(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	of := func(p *customers.Customer) func(*customers.Draft) {
		return func(d *customers.Draft) { d.PartnerOrgShortName = given.Of(p.ShortName) }
	}
	under := func(p *customers.Customer) func(*customers.Draft) {
		return func(d *customers.Draft) { d.ParentEntityShortName = given.Of(p.ShortName) }
	}
	staff := bank.Staff()
	ours := create(t, bank, staff, draft("A", of(partner)))
	heir := create(t, bank, staff, draft("B", under(ours)))
	fresh := create(t, bank, staff,
		draft("C", func(d *customers.Draft) { d.Type = new(customers.DownstreamPartner) }))
	if ours.Owner != partner.UID || ours.RelationshipType != customers.RelationThirdParty ||
		heir.Owner != partner.UID || fresh.Owner != fresh.UID {
		t.Errorf("owners %d %d %d", ours.Owner, heir.Owner, fresh.Owner)
	}
	_, err := bank.Customers.Create(staff, draft("D", of(rival), under(ours)), changes.RequestOptions{})
	blames(t, "two owners", err, "parentEntityShortName", fault.NoMatch)
	if err := try(bank, staff, ours.UID, of(rival)); !errors.Is(err, customers.ErrParent) {
		t.Errorf("a parent moves alone: %v", err)
	}
	if err := try(bank, staff, partner.UID,
		func(d *customers.Draft) { d.Type = new(customers.Corporate) }); !errors.Is(err, customers.ErrOwns) {
		t.Errorf("a partner with customers ends: %v", err)
	}
	blames(t, "a circle", try(bank, staff, ours.UID, under(heir)), "parentEntityShortName", fault.NoMatch)
	blames(t, "itself", try(bank, staff, ours.UID, under(ours)), "parentEntityShortName", fault.NoMatch)
	blames(t, "a partner's partner", try(bank, staff, fresh.UID, of(rival)), "partnerOrgShortName",
		fault.Forbidden)
	counted(t, bank)

	if c := change(t, bank, staff, heir.UID,
		func(d *customers.Draft) { d.ParentEntityShortName = given.Of("") }); c.Owner != 0 ||
		c.Parent != nil {
		t.Errorf("without its parent: %+v", c)
	}
	if c := change(t, bank, staff, ours.UID, of(rival)); c.Owner != rival.UID ||
		c.PartnerOrgShortName != rival.ShortName {
		t.Errorf("moved: %+v", c)
	}
	if _, err := bank.Customers.Find(bank.Partner(partner), ours.UID); !errors.Is(err, customers.ErrNotFound) {
		t.Errorf("its old partner still sees it: %v", err)
	}
	if c := change(t, bank, staff, fresh.UID,
		func(d *customers.Draft) { d.Type = new(customers.Corporate) }); c.Owner != 0 {
		t.Errorf("no partner any more: %+v", c)
	}
	counted(t, bank)
	if got, _ := list(t, bank, bank.Partner(rival), customers.Search{}, page.First(10)); len(got) != 2 {
		t.Errorf("the new partner sees %v", got)
	}
}

func TestTheBankItselfStaysWhatItIs(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	other := bank.Customer()
	for field, edit := range map[string]func(*customers.Draft){
		"relationshipType":      func(d *customers.Draft) { d.RelationshipType = new(customers.RelationCustomer) },
		"customerType":          func(d *customers.Draft) { d.Type = new(customers.Corporate) },
		"parentEntityShortName": func(d *customers.Draft) { d.ParentEntityShortName = given.Of(other.ShortName) },
	} {
		blames(t, field, try(bank, bank.Staff(), bank.Self.UID, edit), field, fault.Forbidden)
	}
	blames(t, "another",
		try(bank, bank.Staff(), other.UID,
			func(d *customers.Draft) { d.RelationshipType = new(customers.RelationSelf) }),
		"relationshipType", fault.Forbidden)
	if _, err := bank.Customers.Suspend(bank.Staff(), bank.Self.UID,
		changes.RequestOptions{}); !errors.Is(err, customers.ErrSelf) {
		t.Error(err)
	}
	if c := change(t, bank, bank.Staff(), bank.Self.UID,
		func(d *customers.Draft) { d.Note = given.Of("ours") }); c.Note != "ours" || c.Version != 2 {
		t.Errorf("%+v", c)
	}
}

func TestAnUpdateChangesWhatItGivesAndNothingElse(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	c := bank.Customer()
	got := change(t, bank, bank.Staff(), c.UID, func(d *customers.Draft) {
		d.ShortName, d.LegalName, d.LegalAddress.City = given.Of("IGNORED"), given.Of("New Name"),
			given.Of("Dayton")
		d.TaxID, d.Access.PaymentDualApproval = given.Of("98-7654321"), given.Of(true)
	})
	if got.ShortName != c.ShortName || got.LegalName != "New Name" || got.LegalAddress.City != "Dayton" ||
		got.LegalAddress.Line1 != c.LegalAddress.Line1 ||
		got.MailingAddress != got.LegalAddress || got.TaxID.Last4 != "4321" ||
		!got.Access.PaymentDualApproval ||
		got.CostCenter != c.CostCenter ||
		got.Status != c.Status || got.Owner != c.Owner || got.Version != 2 || got.Type != c.Type {
		t.Errorf("%+v", got)
	}
	if found, _ := list(t, bank, bank.Staff(), customers.Search{TaxID: "98-7654321"},
		page.First(2)); len(found) != 1 {
		t.Error("it is not found by its new tax id")
	}
	blames(t, "nothing",
		try(bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.ShortName = given.Of("X") }), "body",
		fault.Required)
	blames(t, "cleared", try(bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.LegalName = given.Of("") }),
		"legalName", fault.Required)
	blames(t, "no city",
		try(bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.LegalAddress.City = given.Of("") }),
		"legalAddress.city", fault.Required)
	blames(t, "no mailing address",
		try(bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.MailAddressSameAsLegal = given.Of(false) }),
		"mailingAddress.addressLine1", fault.Required)
	if _, err := bank.Customers.Change(bank.Staff(), 1_999_999, customers.Draft{Note: given.Of("x")},
		changes.RequestOptions{}); !errors.Is(err, customers.ErrNotFound) {
		t.Error(err)
	}
	if _, err := bank.Customers.Change(bank.Staff(), c.UID, customers.Draft{Note: given.Of("x")},
		changes.RequestOptions{Version: 1}); !errors.Is(err, changes.ErrStale) {
		t.Error(err)
	}
}

func TestASuspendedCustomerIsForTheBankToChange(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner := bank.DownstreamPartner()
	c := bank.Customer(coretest.OwnedBy(partner))
	note := func(d *customers.Draft) { d.Note = given.Of("x") }
	if _, err := bank.Customers.Suspend(bank.Partner(partner), c.UID,
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Errorf("its partner suspends it: %v", err)
	}
	if _, err := bank.Customers.Activate(bank.Staff(), c.UID,
		changes.RequestOptions{}); !errors.Is(err, customers.ErrStatus) {
		t.Errorf("active twice: %v", err)
	}
	if _, err := bank.Customers.Suspend(bank.Staff(), c.UID,
		changes.RequestOptions{Reason: "papers expired"}); err != nil ||
		find(t, bank, c.UID).Status != customers.Suspended {
		t.Fatal(err)
	}
	if err := try(bank, bank.Partner(partner), c.UID, note); !errors.Is(err, customers.ErrInactive) {
		t.Errorf("its partner changes it: %v", err)
	}
	change(t, bank, bank.Staff(), c.UID, note)
	if _, err := bank.Customers.Activate(bank.Staff(), c.UID, changes.RequestOptions{}); err != nil ||
		find(t, bank, c.UID).Status != customers.Active {
		t.Error(err)
	}
}

// dual makes the bank ask for a second person.
func dual(t *testing.T, bank *coretest.Bank) {
	t.Helper()
	out, err := bank.Customers.Change(bank.Staff(), bank.Self.UID,
		customers.Draft{Access: customers.AccessDraft{CustomerDualApproval: given.Of(true)}},
		changes.RequestOptions{})
	if err == nil {
		_, err = bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestTwoPeopleMakeACustomer(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	dual(t, bank)
	for _, approve := range []bool{true, false} {
		out, err := bank.Customers.Create(bank.Staff(), draft(map[bool]string{true: "YES", false: "NO"}[approve]),
			changes.RequestOptions{})
		uid := out.Result.UID
		if err != nil || out.Approval == 0 || out.Result.Status != customers.Pending ||
			find(t, bank, uid).Status != customers.Pending {
			t.Fatalf("%+v %v", out, err)
		}
		if _, err := bank.Customers.Activate(bank.Staff(), uid,
			changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
			t.Errorf("it is activated past the second person: %v", err)
		}
		if _, err := bank.Changes.Approve(bank.Staff(), changes.UID(out.Approval),
			changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
			t.Errorf("its maker approves: %v", err)
		}
		decide, want := bank.Changes.Refuse, customers.Suspended
		if approve {
			decide, want = bank.Changes.Approve, customers.Active
		}
		if _, err := decide(bank.Checker(), changes.UID(out.Approval), changes.RequestOptions{}); err != nil ||
			find(t, bank, uid).Status != want {
			t.Errorf("%v: %v, %s", approve, err, find(t, bank, uid).Status)
		}
	}
	counted(t, bank)
}

func TestTwoPeopleChangeACustomer(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	c := bank.Customer()
	dual(t, bank)
	out, err := bank.Customers.Change(bank.Staff(), c.UID,
		customers.Draft{TaxID: given.Of("98-7654321"), Note: given.Of("new")}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 || out.Result.Status != customers.Pending ||
		find(t, bank, c.UID).Note != "" {
		t.Fatalf("%+v %v", out, err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if now := find(t, bank, c.UID); now.Note != "new" || now.TaxID.Last4 != "4321" || now.Version != 2 {
		t.Errorf("%+v", now)
	}
}

func TestOnePersonSuspendsACustomerAtOnce(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	c := bank.Customer()
	dual(t, bank)
	waiting, err := bank.Customers.Change(bank.Staff(), c.UID, customers.Draft{Note: given.Of("new")},
		changes.RequestOptions{})
	if err != nil || waiting.Approval == 0 {
		t.Fatal(waiting, err)
	}
	if out, err := bank.Customers.Suspend(bank.Staff(), c.UID,
		changes.RequestOptions{}); err != nil || out.Approval != 0 ||
		find(t, bank, c.UID).Status != customers.Suspended {
		t.Fatal(out, err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(waiting.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrStale) {
		t.Errorf("what waited before: %v", err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(waiting.Approval),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	back, err := bank.Customers.Activate(bank.Staff(), c.UID, changes.RequestOptions{})
	if err != nil || back.Approval == 0 || find(t, bank, c.UID).Status != customers.Suspended {
		t.Fatalf("active again by one person: %+v %v", back, err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(back.Approval),
		changes.RequestOptions{}); err != nil || find(t, bank, c.UID).Status != customers.Active {
		t.Error(err)
	}
	made, err := bank.Customers.Create(bank.Staff(), draft("WAITS"), changes.RequestOptions{})
	if err != nil || made.Approval == 0 {
		t.Fatal(made, err)
	}
	if _, err := bank.Customers.Suspend(bank.Staff(), made.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Errorf("one that waits: %v", err)
	}
}

func TestNobodyLoosensTheApprovalOfPaymentsAlone(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	for name, c := range map[string]struct {
		was, draft customers.AccessDraft
		waits      bool
	}{
		"fewer approvers": {
			customers.AccessDraft{NumberOfApprovers: new(int32(2))},
			customers.AccessDraft{NumberOfApprovers: new(int32(1))},
			true,
		},
		"more approvers": {
			customers.AccessDraft{NumberOfApprovers: new(int32(1))},
			customers.AccessDraft{NumberOfApprovers: new(int32(2))},
			false,
		},
		"a larger amount": {
			customers.AccessDraft{FirstApproverLimit: given.Of("100")},
			customers.AccessDraft{FirstApproverLimit: given.Of("100.01")},
			true,
		},
		"no amount": {
			customers.AccessDraft{SecondApproverLimit: given.Of("100")},
			customers.AccessDraft{SecondApproverLimit: given.Of("0")},
			true,
		},
		"a smaller one": {
			customers.AccessDraft{SecondApproverLimit: given.Of("100")},
			customers.AccessDraft{SecondApproverLimit: given.Of("99.99")},
			false,
		},
		"the first one": {
			customers.AccessDraft{},
			customers.AccessDraft{FirstApproverLimit: given.Of("100")},
			false,
		},
	} {
		customer := bank.Customer()
		if c.was != (customers.AccessDraft{}) {
			change(t, bank, bank.Staff(), customer.UID, func(d *customers.Draft) { d.Access = c.was })
		}
		was := find(t, bank, customer.UID).Access
		out, err := bank.Customers.Change(bank.Staff(), customer.UID, customers.Draft{Access: c.draft},
			changes.RequestOptions{})
		if err != nil || (out.Approval != 0) != c.waits ||
			(find(t, bank, customer.UID).Access == was) != c.waits {
			t.Errorf("%s: %+v %v", name, out, err)
		}
	}
}

func TestNobodyEndsDualApprovalAlone(t *testing.T) {
	t.Parallel()
	for name, setting := range map[string]func(*customers.AccessDraft) *given.Flag{
		"customers": func(a *customers.AccessDraft) *given.Flag { return &a.CustomerDualApproval },
		"contacts":  func(a *customers.AccessDraft) *given.Flag { return &a.BeneDualApproval },
		"users":     func(a *customers.AccessDraft) *given.Flag { return &a.UserDualApproval },
		"fees":      func(a *customers.AccessDraft) *given.Flag { return &a.FeeTierForApproval },
		"payments":  func(a *customers.AccessDraft) *given.Flag { return &a.PaymentDualApproval },
		"notices":   func(a *customers.AccessDraft) *given.Flag { return &a.NotificationsDualApproval },
	} {
		bank := staffed(t)
		c := bank.Customer()
		set := func(on bool) (changes.Outcome[customers.Saved], error) {
			d := customers.Draft{}
			*setting(&d.Access) = given.Of(on)
			return bank.Customers.Change(bank.Staff(), c.UID, d, changes.RequestOptions{})
		}
		if out, err := set(true); err != nil || out.Approval != 0 {
			t.Fatalf("%s, on: %+v %v", name, out, err)
		}
		was := find(t, bank, c.UID).Access
		out, err := set(false)
		if err != nil || out.Approval == 0 || find(t, bank, c.UID).Access != was {
			t.Fatalf("%s, off: %+v %v", name, out, err)
		}
		if _, err := bank.Changes.Approve(bank.Staff(), changes.UID(out.Approval),
			changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
			t.Errorf("%s, off, its maker approves: %v", name, err)
		}
		if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Errorf("%s, off, approved: %v", name, err)
		}
		if out, err := set(false); err != nil || out.Approval != 0 || find(t, bank, c.UID).Access == was {
			t.Errorf("%s, off by now: %+v %v", name, out, err)
		}
	}
}

func TestNoTaxIDStandsAnywhereInTheClear(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	const canary = "77-7654321"
	d := draft("SECRET", func(d *customers.Draft) { d.TaxID = given.Of(canary) })
	c := create(t, bank, bank.Staff(), d)
	_, _ = bank.Customers.Create(bank.Staff(), d, changes.RequestOptions{IdempotencyKey: "k"}) // refused
	dual(t, bank)
	if _, err := bank.Customers.Change(bank.Staff(), c.UID,
		customers.Draft{TaxID: given.Of(canary), Note: given.Of("x")},
		changes.RequestOptions{IdempotencyKey: "k"}); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"customers", "audit_entries", "events", "idempotency_keys", "approvals"} {
		var seen, rows int
		err := bank.DB.NewRaw(
			"SELECT count(*) FILTER (WHERE x::text LIKE '%7654321%' OR x::text LIKE '%37373635343332%'), "+
				"count(*) FROM "+table+" AS x WHERE tenant = ?", bank.Tenant).
			Scan(t.Context(), &seen, &rows)
		if err != nil || seen != 0 || rows == 0 {
			t.Errorf("%s: %d of %d rows show it (%v)", table, seen, rows, err)
		}
	}
}

func TestTheMaskOfATaxIDLeavesIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	c := bank.Customer()
	stored := func() *customers.Customer {
		row := new(customers.Customer)
		if err := bank.DB.NewSelect().Model(row).Where("c.tenant = ?", bank.Tenant).Where("c.uid = ?", c.UID).
			Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		return row
	}
	was := stored().TaxID
	change(t, bank, bank.Staff(), c.UID,
		func(d *customers.Draft) { d.TaxID, d.Note = given.Of(was.Masked()), given.Of("new") })
	if now := stored(); was.Fingerprint() == "" || now.TaxID.Fingerprint() != was.Fingerprint() ||
		now.Note != "new" {
		t.Errorf("%+v", now)
	}
	for _, other := range []string{"****", "****0000", "1" + was.Masked()} {
		err := try(bank, bank.Staff(), c.UID, func(d *customers.Draft) { d.TaxID = given.Of(other) })
		if f, refused := fault.Of(err); !refused || f.Field != "taxId" || f.Problem != fault.Malformed {
			t.Errorf("%s: %v", other, err)
		}
	}
}

// Open approvals of a customer and of its limits block each other, and a customer that moves to another
// partner does not take along what its former partner wrote.
func TestWhatWaitsAboutACustomer(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner, next := bank.DownstreamPartner(), bank.DownstreamPartner()
	c := bank.Customer(coretest.OwnedBy(partner),
		func(c *customers.Customer) { c.Access.CustomerDualApproval = true })
	bank.Limit(c, "ACH_PAYMENT_LIMIT_PER_DAY", 100)
	bank.Limit(partner, "ACH_PAYMENT_LIMIT_PER_DAY", 200_00)
	bank.Limit(next, "ACH_PAYMENT_LIMIT_PER_DAY", 200_00)
	raise := []customers.Ceiling{{Code: "ACH_PAYMENT_LIMIT_PER_DAY", Value: "200"}}
	out, err := bank.Customers.Change(bank.Partner(partner), c.UID, customers.Draft{Limits: raise},
		changes.RequestOptions{Reason: "between us"})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	if _, err := bank.Limits.Change(bank.Staff(), c.UID, raise,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Errorf("limits beside it: %v", err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	limited, err := bank.Limits.Change(bank.Partner(partner), c.UID, raise,
		changes.RequestOptions{Reason: "between us"})
	if err != nil || limited.Approval == 0 {
		t.Fatal(limited, err)
	}
	if _, err := bank.Customers.Change(bank.Staff(), c.UID,
		customers.Draft{Website: given.Of("https://new.example")},
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Errorf("the customer beside it: %v", err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(limited.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	asked, err := bank.Signatories.Add(bank.Partner(partner), c.UID,
		signatories.Draft{
			FullName: given.Of("Ada Byron"), EmailAddress: given.Of("ada@mail.example"),
			PhoneNumber: given.Of("+16145550123"),
		}, changes.RequestOptions{Reason: "between us"})
	if err != nil || asked.Approval == 0 {
		t.Fatal(asked, err)
	}
	var moved changes.Outcome[customers.Saved]
	err = bank.LocksWaiting(asked.Approval, c.UID, func() (err error) {
		moved, err = bank.Customers.Change(bank.Staff(), c.UID,
			customers.Draft{PartnerOrgShortName: given.Of(next.ShortName)}, changes.RequestOptions{})
		return err
	})
	if err == nil && moved.Approval != 0 {
		_, err = bank.Changes.Approve(bank.Checker(), changes.UID(moved.Approval), changes.RequestOptions{})
	}
	if err != nil || find(t, bank, c.UID).Owner != next.UID {
		t.Fatal(err)
	}
	for _, approval := range []int64{asked.Approval, limited.Approval} {
		if seen, err := bank.Changes.Find(bank.Partner(next),
			changes.UID(approval)); !errors.Is(err, changes.ErrNoApproval) {
			t.Errorf("the next partner sees %+v, %v", seen, err)
		}
		if _, err := bank.Changes.Find(bank.Staff(), changes.UID(approval)); err != nil {
			t.Errorf("the bank: %v", err)
		}
	}
	decider := access.With(bank.Staff(), other(bank.Partner(next)))
	for _, hidden := range []int64{asked.Approval, limited.Approval} { // open, decided
		_, approved := bank.Changes.Approve(decider, changes.UID(hidden), changes.RequestOptions{})
		_, refused := bank.Changes.Refuse(decider, changes.UID(hidden), changes.RequestOptions{})
		if !errors.Is(approved, changes.ErrNoApproval) || !errors.Is(refused, changes.ErrNoApproval) {
			t.Errorf("the next partner decides: %v, %v", approved, refused)
		}
	}
	// of those decided on, which may be very many, the move writes the last one
	marked, err := bank.Owner().NewSelect().TableExpr("approvals").Where("tenant = ?", bank.Tenant).
		Where("customer = ?", c.UID).Where("former").Count(t.Context())
	if err != nil || marked != 2 { // the open one, and the move's own
		t.Errorf("the move marks %d approvals, %v", marked, err)
	}
	later, err := bank.Limits.Change(bank.Partner(next), c.UID, raise, changes.RequestOptions{})
	if err != nil || later.Approval == 0 {
		t.Fatal(later, err)
	}
	listed, err := coretest.Rows(bank, bank.Partner(next), func(b *db.Batch) *db.Rows[changes.Approval] {
		return bank.Changes.List(bank.Partner(next), b, changes.Search{}, db.Columns{}, page.First(9))
	})
	if err != nil || len(listed) != 1 || int64(listed[0].UID) != later.Approval {
		t.Errorf("the next partner lists %d approvals, %v", len(listed), err)
	}
	if _, err := bank.Changes.Refuse(bank.Partner(next), changes.UID(later.Approval),
		changes.RequestOptions{}); err != nil {
		t.Errorf("the next partner takes back what it asked for since: %v", err)
	}
}

// The next partner learns no name of the former one's people.
func TestAMovedCustomerKeepsNoOfficersOfItsFormerPartner(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner, next := bank.DownstreamPartner(), bank.DownstreamPartner()
	user(t, bank, partner.UID, "pat.quay", "Active")
	c := bank.Customer(coretest.OwnedBy(partner), func(c *customers.Customer) {
		c.RelationshipManager, c.OriginatingOfficer = "pat.quay", "mjones"
	})
	got := change(t, bank, bank.Staff(), c.UID,
		func(d *customers.Draft) { d.PartnerOrgShortName = given.Of(next.ShortName) })
	if got.Owner != next.UID || got.RelationshipManager != "" || got.OriginatingOfficer != "mjones" {
		t.Errorf("owner %d, manager %q, officer %q", got.Owner, got.RelationshipManager, got.OriginatingOfficer)
	}
}

// other returns another program of the same legal entity.
func other(ctx context.Context) access.Caller {
	caller, _ := access.Require(ctx)
	caller.Client = "other"
	return caller
}

// However many requests of a partner keep coming, a suspension waits only for those that came before it.
func TestASuspensionIsNotOvertaken(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner := bank.DownstreamPartner()
	hold := func(ctx context.Context, tx bun.Tx) error {
		caller, _ := access.Require(bank.Partner(partner))
		_, err := bank.Customers.HoldTx(ctx, tx, caller, partner.UID)
		return err
	}
	errs := bank.Turns(hold, func() error {
		_, err := bank.Customers.Suspend(bank.Staff(), partner.UID, changes.RequestOptions{})
		return err
	}, func() error {
		_, err := bank.Customers.Create(bank.Partner(partner), draft("LATER"), changes.RequestOptions{})
		return err
	})
	if errs[0] != nil {
		t.Error(errs[0])
	}
	if errs[1] == nil {
		t.Error("a suspended partner has made a customer")
	}
}

// A held customer does not block another bank's customer of the same number.
func TestACustomerOfAnotherBankIsNotHeld(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	c := bank.Customer()
	other := bank.Other()
	lock := func(b *coretest.Bank, then func() error) error {
		return b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
			caller, err := access.Require(b.Staff())
			if err == nil {
				_, err = b.Customers.LockTx(ctx, tx, caller, c.UID)
			}
			if err != nil {
				return err
			}
			return then()
		})
	}
	nothing := func() error { return nil }
	if err := lock(bank, func() error { return lock(other, nothing) }); err != nil {
		t.Error(err)
	}
}

// A customer without limits may pay any amount: one that a partner makes has the partner's own, whatever else
// it asks for.
func TestACustomerOfAPartnerHasThePartnersLimits(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	partner := bank.DownstreamPartner()
	const day, once = "FEDWIRE_PAYMENT_LIMIT_PER_DAY", "FEDWIRE_PAYMENT_LIMIT_PER_TRANSACTION"
	bank.Limit(partner, day, 100_00)
	bank.Limit(partner, once, 50_00)
	made := func(name string, ceilings ...customers.Ceiling) (map[string]int64, error) {
		t.Helper()
		d := draft(name)
		d.Limits = ceilings
		saved, err := bank.Customers.Create(bank.Partner(partner), d, changes.RequestOptions{})
		if err != nil {
			return nil, err
		}
		var all []struct {
			Code    string
			Ceiling int64
		}
		if err := bank.DB.NewRaw(`SELECT code, ceiling FROM limits
			WHERE tenant = ? AND customer = ?`, bank.Tenant,
			saved.Result.UID).Scan(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		found := map[string]int64{}
		for _, l := range all {
			found[l.Code] = l.Ceiling
		}
		return found, nil
	}
	if got, err := made("PLAIN"); err != nil || !maps.Equal(got, map[string]int64{day: 100_00, once: 50_00}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := made("TIGHT", customers.Ceiling{Code: day, Value: "9"}); err != nil ||
		!maps.Equal(got, map[string]int64{day: 9_00, once: 50_00}) {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := made("LOOSE", customers.Ceiling{Code: day, Value: "100.01"}); err == nil {
		t.Errorf("above the partner's own: %v", got)
	}
}
