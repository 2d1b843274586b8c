package demo

import (
	"bankgraph/core/customers"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
)

// VirtualAccount returns the UID of the n-th customer's k-th virtual account, k from 0.
func VirtualAccount(n int64, k int) virtualaccounts.UID {
	return virtualaccounts.UID(n*int64(len(tenancies)) + int64(k))
}

// tenancy is what a virtual account is for.
type tenancy struct{ name, reference, number string }

// tenancies are those of the first customer.
var tenancies = []tenancy{
	{"Suite 100", "LEASE-100", "86420975310011"},
	{"Suite 200", "LEASE-200", "86420975310028"},
}

// VirtualNumber returns the number of the first customer's k-th virtual account, k from 0.
func VirtualNumber(k int) string { return tenancies[k].number }

// virtualAccountsOf returns the virtual accounts of the first customer, and of the partner's first one, on
// their first accounts: one for each tenant that pays rent.
func (b *bank) virtualAccountsOf(n int64) (all []*virtualaccounts.VirtualAccount) {
	let := map[customers.UID][]tenancy{
		First:         tenancies,
		PartnersFirst: {{"Suite 300", "LEASE-300", "86420975310035"}},
	}
	for k, t := range let[Customer(n)] {
		at := b.start.AddDate(0, 0, -60+10*k).UTC()
		v := &virtualaccounts.VirtualAccount{
			Tenant: b.tenant, UID: VirtualAccount(n, k), Customer: Customer(n), Account: Account(n, 0), Name: t.name,
			ProductCode: "RENT",
			Purpose:     "Rent", ExternalAccountReference: t.reference, SubmittedBy: "demo-staff",
			Status:   virtualaccounts.Active,
			Currency: "USD", LimitPeriod: virtualaccounts.Monthly, LimitMinor: new(int64(10_000_00)),
			CreatedAt: at, UpdatedAt: at,
			Version: 1,
		}
		v.Number = b.keys.Seal(t.number,
			seal.Place{Tenant: int64(b.tenant), Column: virtualaccounts.NumberColumn, Row: int64(v.UID)})
		all = append(all, v)
	}
	return all
}
