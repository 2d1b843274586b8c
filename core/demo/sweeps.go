package demo

import (
	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
)

// sweepsOf returns a customer's sweeps: every fifth company sweeps surplus money from its first account to
// its first contact, the first customer every Monday. The partner's first customer does too. What is above
// the target at first is within the limits of every customer, and no amount of which the simulated networks
// make something else.
func (b *bank) sweepsOf(n int64) []*accounts.Sweep {
	d := roll(topicSweep, n)
	shown := Customer(n) == First || Customer(n) == PartnersFirst
	if person(n) || status(n) != customers.Active || contactsOf(n) == 0 || !shown && !d.chance(20) {
		return nil
	}
	contact, created := Contact(n, 0), b.ago(d, 1, 30)
	w := &accounts.Sweep{
		Tenant: b.tenant, Account: Account(n, 0), Direction: accounts.Out, BalanceType: accounts.Target,
		Currency: "USD", TargetMinor: cents(d.in(5, 100) * 5000), ToContact: &contact,
		ToMethod: accounts.ACHCredit, Frequency: accounts.Weekly, DayOfWeek: accounts.Monday, CreatedAt: created,
		UpdatedAt: created, Version: 1,
		Maker: access.Maker{Client: "demo-staff", Entity: int64(Institution), Reach: access.OfBank},
	}
	if has, above := b.account(n, 0).opening, d.in(5, 90)*100_00; has > above {
		target := has - above
		if target%100 > 35 {
			target -= target % 100_00
		}
		w.TargetMinor = &target
	}
	switch at := d.below(100); {
	case n == 1 || at < 50:
	case at < 75:
		w.Frequency, w.DayOfWeek = accounts.Daily, ""
	default:
		w.Frequency, w.DayOfWeek, w.DayOfMonth = accounts.Monthly, "", int32(d.in(1, 28))
	}
	return []*accounts.Sweep{w}
}
