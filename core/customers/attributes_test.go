package customers_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
)

func operator(t *testing.T, bank *coretest.Bank) context.Context {
	t.Helper()
	return access.Operator(t.Context(), bank.Tenant, bank.Code, coretest.Zone())
}

func attribute(name, value string) customers.Attribute {
	return customers.Attribute{Name: name, Value: value}
}

func TestAttributesAreThoseThatTheBankHasConfigured(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	for name, of := range map[string]customers.AttributeType{
		"Region": customers.TextAttribute, "Cash": "boolean", "Review": customers.DateAttribute,
	} {
		if err := bank.Customers.Configure(operator(t, bank), customers.ForCustomers, name, of); err != nil {
			t.Fatal(err)
		}
	}
	if err := bank.Customers.Configure(operator(t, bank), customers.ForAccounts, "Desk",
		customers.TextAttribute); err != nil {
		t.Fatal(err)
	}
	with := func(all ...customers.Attribute) func(*customers.Draft) {
		return func(d *customers.Draft) { d.AdditionalAttributes = all }
	}
	c := create(t, bank, bank.Staff(),
		draft("A", with(attribute("region", "East"), attribute("Cash", "true"), attribute("Review", "2027-02-28"))))
	want := []customers.Attribute{
		attribute("Region", "East"), attribute("Cash", "True"), attribute("Review", "2027-02-28"),
	}
	if len(c.AdditionalAttributes) != 3 || c.AdditionalAttributes[0] != want[0] ||
		c.AdditionalAttributes[1] != want[1] || c.AdditionalAttributes[2] != want[2] {
		t.Errorf("%v", c.AdditionalAttributes)
	}
	for name, wrong := range map[string]struct {
		a       customers.Attribute
		field   string
		problem fault.Problem
	}{
		"an account's": {attribute("Desk", "1"), "additionalAttributes[0].attributeName", fault.Unknown},
		"no boolean":   {attribute("Cash", "yes"), "additionalAttributes[0].value", fault.Malformed},
		"no date":      {attribute("Review", "2027-02-29"), "additionalAttributes[0].value", fault.Malformed},
		"no value":     {attribute("Region", ""), "additionalAttributes[0].value", fault.Required},
		"no name":      {attribute("", "x"), "additionalAttributes[0].attributeName", fault.Required},
	} {
		_, err := bank.Customers.Create(bank.Staff(), draft("B", with(wrong.a)), changes.RequestOptions{})
		blames(t, name, err, wrong.field, wrong.problem)
	}
	_, err := bank.Customers.Create(bank.Staff(), draft("B", with(want[0], attribute("REGION", "West"))),
		changes.RequestOptions{})
	blames(t, "twice", err, "additionalAttributes[1].attributeName", fault.NoMatch)
}

func TestStoredAttributesOutliveTheirConfiguration(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	for _, name := range []string{"Region", "Desk"} {
		if err := bank.Customers.Configure(operator(t, bank), customers.ForCustomers, name,
			customers.TextAttribute); err != nil {
			t.Fatal(err)
		}
	}
	with := func(all ...customers.Attribute) func(*customers.Draft) {
		return func(d *customers.Draft) { d.AdditionalAttributes = all }
	}
	c := create(t, bank, bank.Staff(), draft("A", with(attribute("Region", "East"), attribute("Desk", "1"))))
	if err := bank.Customers.Unconfigure(operator(t, bank), customers.ForCustomers, "Region"); err != nil {
		t.Fatal(err)
	}
	c = change(t, bank, bank.Staff(), c.UID, with(attribute("REGION", "East"), attribute("Desk", "2")))
	if !slices.Equal(c.AdditionalAttributes,
		[]customers.Attribute{attribute("Region", "East"), attribute("Desk", "2")}) {
		t.Errorf("given back: %v", c.AdditionalAttributes)
	}
	blames(t, "another value", try(bank, bank.Staff(), c.UID, with(attribute("Region", "West"))),
		"additionalAttributes[0].attributeName", fault.Unknown)
	change(t, bank, bank.Staff(), c.UID, with(attribute("Desk", "2")))
	blames(t, "given up", try(bank, bank.Staff(), c.UID, with(attribute("Region", "East"))),
		"additionalAttributes[0].attributeName", fault.Unknown)
}

func TestAttributesAreConfiguredByOperatorsAndOnRecord(t *testing.T) {
	t.Parallel()
	bank := staffed(t)
	ctx := operator(t, bank)
	if err := bank.Customers.Configure(bank.Staff(), customers.ForCustomers, "Region",
		customers.TextAttribute); !errors.Is(err, access.ErrDenied) {
		t.Errorf("staff: %v", err)
	}
	if err := bank.Customers.Configure(ctx, "contact", "Region", "Number"); err == nil {
		t.Error("any level, any type")
	}
	if err := bank.Customers.Configure(ctx, customers.ForCustomers, "Region",
		customers.TextAttribute); err != nil {
		t.Fatal(err)
	}
	if err := bank.Customers.Configure(ctx, customers.ForCustomers, "REGION",
		customers.DateAttribute); !errors.Is(err, customers.ErrConfigured) {
		t.Errorf("twice: %v", err)
	}
	all, err := bank.Customers.ConfiguredAttributes(ctx)
	if err != nil || len(all) != 1 || all[0].Name != "Region" || all[0].Type != customers.TextAttribute {
		t.Errorf("%v %v", all, err)
	}
	if err := bank.Customers.Unconfigure(ctx, customers.ForCustomers, "region"); err != nil {
		t.Error(err)
	}
	if err := bank.Customers.Unconfigure(ctx, customers.ForCustomers,
		"region"); !errors.Is(err, customers.ErrNotConfigured) {
		t.Errorf("removed twice: %v", err)
	}
	var entries int
	err = bank.DB.NewRaw(
		`SELECT count(*) FROM audit_entries WHERE tenant = ? AND client = 'operator' AND object = 'attribute'
			AND uid = 'customer/Region'`, bank.Tenant).Scan(t.Context(), &entries)
	if err != nil || entries != 2 {
		t.Errorf("%d entries, %v", entries, err)
	}
}
