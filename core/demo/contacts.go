package demo

import (
	"fmt"
	"strings"

	"bankgraph/core/contacts"
	"bankgraph/core/money"
	"bankgraph/core/postal"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
)

// Contact returns the UID of the n-th customer's k-th contact, k from 0.
func Contact(n int64, k int) contacts.UID {
	return contacts.UID(firstUID + n*block + contactsAt + int64(k))
}

// contactsOf returns how many contacts a customer has: the first 12, the others 0 to 11, about 10 on average.
func contactsOf(n int64) int {
	switch n {
	case 0:
		return 0
	case 1:
		return 12
	}
	return share(roll(topicContact, n<<8|0xff),
		[][2]int{{11, 62}, {10, 18}, {9, 9}, {6, 5}, {3, 3}, {1, 1}, {0, 2}})
}

// contact makes the n-th customer's k-th contact, k from 0: a company or a person, every fourth one abroad.
func (b *bank) contact(n int64, k int) *contacts.Contact {
	d := roll(topicContact, n<<8|int64(k))
	at := pick(d, cities)
	company := d.chance(65)
	name := personName(d)
	if company {
		name = pick(d, places) + " " + pick(d, trades) + " " + pick(d, forms)
	}
	created := b.ago(d, 1, 900)
	c := &contacts.Contact{
		Tenant: b.tenant, UID: Contact(n, k), Customer: Customer(n),
		ExternalReferenceID: fmt.Sprintf("CON-%d", Contact(n, k)), Name: name, TemplateName: templateName(name, k),
		RegulatoryReporting: contacts.Report{}, Status: contacts.Active, CreatedAt: created, UpdatedAt: created,
		Version: 1,
	}
	if company {
		c.EmailAddress = "accounts@" + slug(name) + ".example"
	} else {
		c.EmailAddress = strings.ReplaceAll(strings.ToLower(name), " ", ".") + "@mail.example"
	}
	if k%4 == 3 {
		b.placeAbroad(c, d, bankAbroad(n, k))
		return c
	}
	other := d.below(len(usBanks))
	c.PhoneNumber, c.Address = phone(d, at.area), address(d, at)
	c.Bank = contacts.Bank{
		Country: "United States", AccountNumber: b.contactNumber(c, "1"+d.digits(9)), AccountCurrency: "USD",
		AccountType: "Deposit", AccountSubType: "Checking", Name: usBanks[other],
		Address: address(d, cities[other]), NationalCode: usRouting(other),
	}
	switch kind := d.below(100); {
	case kind < 15:
		c.Bank.AccountSubType = "Savings"
	case kind < 20:
		c.Bank.AccountType, c.Bank.AccountSubType = "Loan", "Line of Credit"
	case kind < 23:
		c.Bank.AccountType, c.Bank.AccountSubType = "GL", "GL"
	}
	if d.chance(25) {
		c.BeneficiaryNotes = pick(d, payFor)
	}
	return c
}

var payFor = lines(`
Monthly rent
Net 30 options
Retainer, invoice number needed
Quarterly supply contract
Call before changes of the account`)

// bankAbroad returns the bank of the n-th customer's k-th contact, which is abroad.
func bankAbroad(n int64, k int) foreignBank { return foreignBanks[(int(n)+k/4)%len(foreignBanks)] }

func (b *bank) placeAbroad(c *contacts.Contact, d *dice, bank foreignBank) {
	c.Address = postal.Address{
		Line1: bank.street, City: bank.city, PostalCode: bank.postal, CountryCode: bank.code, Country: bank.country,
	}
	c.PhoneNumber = strings.TrimRight(bank.phone, "#") + d.digits(5)[:strings.Count(bank.phone, "#")]
	c.Bank = contacts.Bank{
		Country: bank.country, AccountNumber: b.contactNumber(c, foreignAccount(d, bank)),
		AccountCurrency: money.Currency(bank.currency), AccountType: "Deposit", AccountSubType: "Checking",
		Name: bank.name, Address: c.Address, SWIFTCode: bank.bic,
	}
	if bank.code == "JP" || bank.code == "CA" { // countries without IBANs, paid through a correspondent
		other := d.below(len(usBanks))
		c.Intermediary = contacts.IntermediaryBank{
			Country: "United States", Name: usBanks[other], NationalCode: usRouting(other),
			CoverMessageRequired: d.chance(50), Address: address(d, cities[other]),
		}
	}
	c.RegulatoryReporting = contacts.Report{c.Reported(b.keys, "TaxId", d.digits(9))}
	c.OtherBankInfo = "Goods and services"
}

func (b *bank) contactNumber(c *contacts.Contact, clear string) seal.Value {
	return b.keys.Seal(clear,
		seal.Place{Tenant: int64(b.tenant), Column: contacts.NumberColumn, Row: int64(c.UID)})
}

// templateName makes a nickname of letters and digits, unique for a customer: CedarSupply1.
func templateName(name string, k int) string {
	words := strings.Fields(name)
	return strings.Join(words[:2], "") + fmt.Sprint(k+1)
}

// Signatory returns the UID of the n-th customer's k-th signatory, k from 0.
func Signatory(n int64, k int) signatories.UID { return signatories.UID(n*8 + int64(k)) }

// signatoriesOf returns how many signatories a customer has: the first 3, the others 0 to 4, about 3 on
// average.
func signatoriesOf(n int64) int {
	switch n {
	case 0:
		return 0
	case 1:
		return 3
	}
	return share(roll(topicSignatory, n<<8|0xff), [][2]int{{4, 40}, {3, 35}, {2, 15}, {1, 6}, {0, 4}})
}

func (b *bank) signatory(n int64, k int) *signatories.Signatory {
	d := roll(topicSignatory, n<<8|int64(k))
	name := personName(d)
	created := b.ago(d, 1, 900)
	g := &signatories.Signatory{
		Tenant: b.tenant, UID: Signatory(n, k), Customer: Customer(n), FullName: name,
		Title: titles[(int(n)+k)%len(titles)],
		EmailAddress: fmt.Sprintf("%s%d@mail.example", strings.ReplaceAll(strings.ToLower(name), " ", "."),
			Signatory(n, k)),
		PhoneNumber: phone(d, pick(d, cities).area), Currency: "USD", Status: signatories.Active,
		CreatedAt: created, UpdatedAt: created, Version: 1,
	}
	if k < 2 || d.chance(50) {
		g.LimitMinor = cents(d.in(1, 50) * 5000)
	}
	if n > 1 && d.chance(5) {
		g.Status = signatories.Pending
	}
	return g
}
