package demo

import "bankgraph/core/alerts"

// BalanceAlert returns the UID of the n-th customer's k-th balance alert, k from 0.
func BalanceAlert(n int64, k int) alerts.UID { return alerts.UID(n*alertsAt + int64(k)) }

// alertsAt is how many numbers of alerts each customer has.
const alertsAt = 2

// alertsOf returns the balance alerts of the first customer, and of the partner's first one, for their first
// accounts: one waits for the balance to fall to a tenth, and one has fired when money came in.
func (b *bank) alertsOf(n int64) []*alerts.Alert {
	if Customer(n) != First && Customer(n) != PartnersFirst {
		return nil
	}
	has := b.account(n, 0).opening
	falls := b.alert(n, 0, alerts.Available, alerts.Below, has/10)
	falls.Armed = true
	rises := b.alert(n, 1, alerts.Ledger, alerts.Above, has/2)
	rises.FiredAt, rises.FiredBalance = new(b.start.AddDate(0, 0, -20).UTC()), &has
	return []*alerts.Alert{falls, rises}
}

// alert makes an active alert with a round threshold.
func (b *bank) alert(
	n int64, k int, of alerts.Balance, direction alerts.Direction, threshold int64,
) *alerts.Alert {
	at := b.start.AddDate(0, 0, -30+k).UTC()
	return &alerts.Alert{
		Tenant: b.tenant, UID: BalanceAlert(n, k), Account: Account(n, 0), Customer: Customer(n), Balance: of,
		Direction: direction,
		Minor:     threshold - threshold%100_00, Currency: "USD", Status: alerts.Active, CreatedAt: at,
		UpdatedAt: at, Version: 1,
	}
}
