package customers_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/uuid"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
)

// staffed is a bank with a user who may look after customers.
func staffed(t *testing.T) *coretest.Bank {
	t.Helper()
	bank := coretest.New(t)
	user(t, bank, bank.Self.UID, "mjones", "Active")
	return bank
}

// user makes a user of a customer.
func user(t *testing.T, bank *coretest.Bank, of customers.UID, login, status string) {
	t.Helper()
	bank.Exec(`INSERT INTO users (tenant, uid, customer, login_id, status)
		VALUES (?, ?, ?, ?, ?)`, bank.Tenant, uuid.NewString(), of, login, status)
}

// draft returns a draft with all that a new customer must have, changed by the edits.
func draft(short string, edits ...func(*customers.Draft)) customers.Draft {
	kind := customers.Corporate
	d := customers.Draft{
		LegalName: given.Of("Lakeside Bakery LLC"), ShortName: given.Of(short), Type: &kind,
		TaxID: given.Of("12-3456789"), Language: given.Of("english"),
		LegalAddress: given.Address{
			Line1: given.Of("1 Lake Rd"), City: given.Of("Erie"), PostalCode: given.Of("16501"),
			CountryCode: given.Of("usa"),
		},
		MailAddressSameAsLegal: given.Of(true), CostCenter: given.Of("CC1"),
		RelationshipManager: given.Of("MJones"), OriginatingOfficer: given.Of("mjones"),
	}
	for _, edit := range edits {
		edit(&d)
	}
	return d
}

// create creates a customer and reads it; the test fails if it cannot.
func create(t *testing.T, bank *coretest.Bank, ctx context.Context, d customers.Draft) *customers.Customer {
	t.Helper()
	out, err := bank.Customers.Create(ctx, d, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return find(t, bank, out.Result.UID)
}

func find(t *testing.T, bank *coretest.Bank, uid customers.UID) *customers.Customer {
	t.Helper()
	c, err := bank.Customers.Find(bank.Staff(), uid)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// blames fails the test unless err is a fault of the field; an empty problem is not compared.
func blames(t *testing.T, what string, err error, field string, problem fault.Problem) {
	t.Helper()
	var all fault.Faults
	if f, ok := fault.Of(err); ok && !errors.As(err, &all) {
		all = fault.Faults{f}
	}
	for _, f := range all {
		if f.Field == field && f.Problem == problem {
			return
		}
	}
	t.Errorf("%s: %+v, want %s %s", what, err, field, problem)
}

func TestANewCustomerAnswersNewAndIsActive(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	out, err := bank.Customers.Create(bank.Staff(),
		draft("LAKESIDE", func(d *customers.Draft) { d.ExternalReferenceID = given.Of("ref-1") }),
		changes.RequestOptions{})
	if err != nil || out.Result.Status != customers.StatusNew || out.Result.ShortName != "LAKESIDE" ||
		out.Result.ExternalReferenceID != "ref-1" || out.Version != 1 {
		t.Fatalf("%+v, %v", out, err)
	}
	c := find(t, bank, out.Result.UID)
	if c.Status != customers.Active || c.Owner != 0 || c.RelationshipType != customers.RelationCustomer ||
		c.ProcessingOrgShortName != bank.Self.ShortName ||
		c.Language != "English" || c.LegalAddress.CountryCode != "US" ||
		c.LegalAddress.Country != "United States" || c.MailingAddress != c.LegalAddress ||
		c.RelationshipManager != "mjones" || c.TaxID.Masked() != "****6789" ||
		!c.CreatedAt.Equal(bank.Now()) {
		t.Errorf("%+v", c)
	}
	if n := count(t, bank, bank.Staff(), customers.Search{}); n != 2 {
		t.Errorf("%d customers are counted", n)
	}
}
