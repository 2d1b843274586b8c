package contacts

import (
	"cmp"
	"slices"
	"strings"

	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/postal"
)

// fits checks the rules between fields, on the contact with the draft written into it, and puts the given
// fields into stored form.
func (d *Draft) fits(c *check.Fields, k *Contact) {
	if d.PhoneNumber.Given {
		k.PhoneNumber = check.AnyPhone(d.PhoneNumber.Value, cmp.Or(k.Address.CountryCode, "US"))
	}
	bank, between := c.In("contactBank"), c.In("intermediaryBank")
	d.Bank.AccountNumber = k.Bank.AccountNumber.Kept(bank, "accountNo", d.Bank.AccountNumber)
	if d.Bank.AccountNumber.Given && !bank.Failed("country") {
		d.Bank.AccountNumber.Value = bank.AccountNumberAt(codeOf(k.Bank.Country), "accountNo",
			d.Bank.AccountNumber.Value)
	}
	if d.Bank != (BankDraft{}) {
		reachable(bank, k.Bank.Country, k.Bank.NationalCode, k.Bank.SWIFTCode, k.Bank.Name, k.Bank.Address)
	}
	if i := k.Intermediary; d.Intermediary != (IntermediaryDraft{}) && i != (IntermediaryBank{}) {
		reachable(between, i.Country, i.NationalCode, i.SWIFTCode, i.Name, i.Address)
	}
}

func codeOf(country string) string {
	found, _ := check.CountryOf(country)
	return found.Code
}

// reachable demands what identifies a bank for a payment: one of its codes, or its name and address
// (rest/CONTRACT.md, contact rules). Only national codes of the United States are checked as routing numbers.
func reachable(c *check.Fields, country, nationalCode, swiftCode, name string, a postal.Address) {
	c.AtMost("nationalCode", nationalCode, 35)
	if codeOf(country) == "US" {
		c.Routing("nationalCode", nationalCode)
	}
	if nationalCode != "" || swiftCode != "" || c.Failed("swiftCode") {
		return
	}
	const missing = "is required without nationalCode and swiftCode"
	if strings.TrimSpace(name) == "" {
		c.Fail("name", fault.Required, missing)
	}
	if a == (postal.Address{}) {
		c.Fail("address", fault.Required, missing)
	}
}

// configured demands that regulatory entries have keys that the bank is configured for (rest/CONTRACT.md,
// contact rules), and spells the keys as configured.
func configured(c *check.Fields, entries []ReportingDraft, keys []string) {
	for i := range entries {
		known := slices.IndexFunc(keys, func(key string) bool { return ident.Same(key, entries[i].Key) })
		if known < 0 {
			c.Item("regulartoryReporting", i).
				Fail("key", fault.Unknown, "must be one of "+strings.Join(keys, ", "))
			continue
		}
		entries[i].Key = keys[known]
	}
}
