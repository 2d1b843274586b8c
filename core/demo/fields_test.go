package demo_test

import (
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/check"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/demo"
	"bankgraph/core/postal"
	"bankgraph/core/signatories"
	"bankgraph/core/users"
)

// Anything that is read from the demo bank and sent back unchanged must be accepted.
func TestTheDemoBankPassesTheChecksOfAWrite(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: 300})
	var (
		companies []*customers.Customer
		books     []*accounts.Account
		payees    []*contacts.Contact
		signers   []*signatories.Signatory
		people    []*users.User
	)
	for alias, rows := range map[string]any{
		"c": &companies, "a": &books, "k": &payees, "g": &signers, "u": &people,
	} {
		if err := c.DB.NewSelect().Model(rows).Where(alias+".tenant = ?", tenant).Limit(2000).
			Scan(t.Context()); err != nil {
			t.Fatal(alias, err)
		}
	}
	for i, all := range []int{len(companies), len(books), len(payees), len(signers), len(people)} {
		if all == 0 {
			t.Fatalf("none of kind %d", i)
		}
	}
	f := check.Of("demo")
	whole := func(f *check.Fields, a postal.Address) postal.Address {
		return f.Address("address", a, "addressLine1", "city", "postalCode", "countryCode")
	}
	for i, x := range companies {
		f := f.Item("customers", i)
		f.LEI("lei", x.LEI)
		f.BIC("swiftCode", x.SWIFTCode)
		f.Email("emailAddress", x.EmailAddress)
		f.Phone("phoneNumber", x.PhoneNumber, "US")
		f.Phone("faxNumber", x.FaxNumber, "US")
		f.URL("webSite", x.Website)
		f.URL("logoUrl", x.LogoURL)
		f.ACHCompanyID("achCompanyID", x.ACHCompanyID)
		f.LoginID("relationshipManager", x.RelationshipManager)
		for _, code := range x.SECCodes {
			f.SECCode("secCodes", code)
		}
		f.Between("creditValueAdjustment", x.Profile.CreditValueAdjustment, "0.0001", "1")
		if got := whole(f, x.LegalAddress); got != x.LegalAddress {
			t.Errorf("%+v is stored as %+v", x.LegalAddress, got)
		}
	}
	for i, x := range books {
		f := f.Item("accounts", i)
		f.Words("accountName", x.Name)
		f.Country("countryCode", x.CountryCode)
		f.Routing("routingNumber", x.BankID)
		f.Currency("currency", string(x.Currency))
	}
	for i, x := range payees {
		f := f.Item("contacts", i)
		f.Alphanumeric("templateName", x.TemplateName)
		f.Email("email", x.EmailAddress)
		f.Phone("phoneNumber", x.PhoneNumber, x.Address.CountryCode)
		f.CountryName("contactBank.country", x.Bank.Country)
		f.BIC("contactBank.swiftCode", x.Bank.SWIFTCode)
		f.Routing("contactBank.nationalCode", x.Bank.NationalCode)
		if got := whole(f, x.Address); got != x.Address {
			t.Errorf("%+v is stored as %+v", x.Address, got)
		}
	}
	for i, x := range signers {
		f := f.Item("signatories", i)
		f.Email("emailAddress", x.EmailAddress)
		f.UserPhone("phoneNumber", x.PhoneNumber)
	}
	for i, x := range people {
		f := f.Item("users", i)
		f.LoginID("loginId", x.LoginID)
		f.Name("firstName", x.FirstName)
		f.Name("lastName", x.LastName)
		f.Email("email", x.EmailAddress)
	}
	if err := f.Err(); err != nil {
		t.Error(err)
	}
}
