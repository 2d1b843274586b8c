package demo_test

import (
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/contacts"
	"bankgraph/core/demo"
	"bankgraph/core/seal"
)

// Every bank of a contact is in the directory, and so is the bank that a contact's IBAN leads to.
func TestTheDirectoryHasTheBanksOfAllContacts(t *testing.T) {
	t.Parallel()
	c, tenant := filled(t, demo.Options{Customers: demo.Fewest})
	operator := access.Operator(t.Context(), 0, "", nil)
	for range 2 { // the second time there is nothing to do
		if err := demo.Directory(operator, c); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, c, "SELECT count(*) FROM bank_imports"); n != 1 {
		t.Errorf("%d imports", n)
	}
	var all []*contacts.Contact
	if err := c.DB.NewSelect().Model(&all).Where("k.tenant = ?", tenant).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	ibans := 0
	for _, k := range all {
		asked := banks.Lookup{ID: k.Bank.NationalCode, Type: "NID"}
		if k.Bank.SWIFTCode != "" {
			asked = banks.Lookup{ID: k.Bank.SWIFTCode, Type: "BIC"}
		}
		bank, err := c.Banks.Look(operator, asked)
		if err != nil || bank.Name != k.Bank.Name || len(bank.DeliveryMethods()) == 0 {
			t.Fatalf("%+v: %+v %v", asked, bank, err)
		}
		number, err := c.Keys.Open(k.Bank.AccountNumber,
			seal.Place{Tenant: int64(tenant), Column: contacts.NumberColumn, Row: int64(k.UID)})
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(number, "1") { // countries without IBANs
			continue
		}
		ibans++
		led, err := c.Banks.Look(operator, banks.Lookup{ID: number, Type: "IBAN", Country: number[:2]})
		if err != nil || led.UID != bank.UID {
			t.Errorf("an IBAN of %s leads to %+v (%v)", bank.Name, led, err)
		}
	}
	if len(all) < 100 || ibans < 20 {
		t.Errorf("%d contacts, %d IBANs", len(all), ibans)
	}
}
