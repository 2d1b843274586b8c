package demo

import (
	"encoding/json"
	"fmt"
	"slices"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/seal"
)

// Payment returns the UID of the n-th customer's k-th payment, k from 0.
func Payment(n int64, k int) payments.UID { return payments.UID(n*paymentsAt + int64(k)) }

// paymentsAt is how many payment numbers each customer has.
const paymentsAt = 10

// planned is a payment of a customer, so many days from the start: one in the past is settled, the others
// wait.
type planned struct {
	to    accounts.UID
	minor int64
	notes string
	days  int
	again bool // every month
}

// plans lists the payments of a customer from its first account. The first customer and the partner's first
// one pay a reserve of their own and another customer, and will again; every fifth customer has paid into its
// second account.
func plans(n int64) []planned {
	reserve, other := Account(1, 1), Account(9, 0)
	switch d := roll(topicPayment, n); {
	case Customer(n) == PartnersFirst:
		reserve, other = Account(n, 4), Account(23, 0)
	case Customer(n) == First:
	case n%5 == 0 && status(n) == customers.Active:
		return []planned{
			{to: Account(n, 1), minor: d.in(10_00, 500_00), notes: "Savings", days: -40},
			{to: Account(n, 1), minor: d.in(10_00, 500_00), notes: "Savings", days: -33},
		}
	default:
		return nil
	}
	return []planned{
		{to: other, minor: 2_500_00, notes: "Management fee of the third quarter", days: -40},
		{to: reserve, minor: 1_000_00, notes: "To the reserve", days: -33, again: true},
		{to: reserve, minor: 750_00, notes: "To the reserve", days: 7},
		{to: other, minor: 1_200_50, notes: "Management fee of the fourth quarter", days: 14},
	}
}

// transfers returns the payments of the customers whose accounts these are. Their accounts have afterwards
// what they have without them: those that are settled are taken out of the opening balances.
func (b *bank) transfers(all []*opened) (made []*payments.Payment) {
	by := map[accounts.UID]*opened{}
	for _, a := range all {
		by[a.UID] = a
	}
	for _, from := range all {
		n := int64(from.Customer - Institution)
		if from.UID != Account(n, 0) {
			continue
		}
		for k, plan := range plans(n) {
			to := by[plan.to]
			if to == nil || !pays(from, plan.minor) || !pays(to, plan.minor) {
				continue
			}
			p := b.transfer(n, k, to, plan)
			if made = append(made, p); p.State == payments.Settled {
				from.opening += p.Minor + p.FeeMinor
				to.opening -= p.Minor
			}
		}
	}
	return made
}

// pays reports whether an account can take part in a transfer of this amount.
func pays(a *opened, minor int64) bool {
	return a.SystemOfRecord == accounts.InternalCore && a.Status == accounts.Active &&
		a.Type == accounts.Deposit &&
		a.Currency == "USD" && a.opening > 10*minor
}

// transfer is the n-th customer's k-th payment. Only the first customer pays a fee.
func (b *bank) transfer(n int64, k int, to *opened, plan planned) *payments.Payment {
	at := b.start.AddDate(0, 0, min(plan.days, -1)).UTC()
	p := &payments.Payment{
		Tenant: b.tenant, UID: Payment(n, k), Customer: Customer(n), Direction: payments.Out, Rail: rails.Book,
		EntryType: rails.Credit, State: payments.Scheduled,
		Minor: plan.minor, Currency: to.Currency, Date: ledger.Day(b.start.AddDate(0, 0, plan.days)),
		ExternalReferenceID: fmt.Sprintf("PAY-%d", Payment(n, k)), Notes: plan.notes, Channel: "API",
		SenderAccount: Account(n, 0), SenderName: legalName(n), ReceiverAccount: to.UID,
		ReceiverCustomer: to.Customer, ReceiverName: legalName(int64(to.Customer - Institution)),
		MakerClient: "demo-staff", CreatedAt: at, UpdatedAt: at, Version: 1,
	}
	if plan.again {
		p.Recurrence = payments.RecurrenceUID(n)
	}
	if plan.days > 0 {
		return p
	}
	p.State = payments.Settled
	if Customer(n) == First {
		fee := b.transferFee(firstTier)
		p.FeeMinor, p.FeeName, p.FeeTier = fee.PriceMinor, fee.FeeName, fee.FeeTier
	}
	return p
}

// series returns the series that payments began.
func (b *bank) series(paid []*payments.Payment) (all []*payments.Recurrence, err error) {
	for _, p := range paid {
		if p.Recurrence == 0 {
			continue
		}
		draft, err := json.Marshal(payments.Draft{
			Sender: payments.Party{UID: p.SenderAccount}, Receiver: payments.Party{UID: p.ReceiverAccount},
			Amount: p.Amount().String(), ExternalReferenceID: p.ExternalReferenceID, Notes: p.Notes,
		})
		if err != nil {
			return nil, err
		}
		r := &payments.Recurrence{
			Tenant: b.tenant, UID: p.Recurrence, Customer: p.Customer, Account: p.SenderAccount,
			EntryType: rails.Credit, Rail: p.Rail, Minor: p.Minor, Currency: p.Currency, Frequency: payments.Monthly,
			Until: payments.UntilCancelled, Start: p.Date, CountsFrom: p.Date, Made: 1, Last: p.UID,
			Status: payments.RecurrenceActive, MakerClient: p.MakerClient, CreatedAt: p.CreatedAt,
			UpdatedAt: p.UpdatedAt, Version: 1,
		}
		r.Draft = b.keys.Encrypt(string(draft),
			seal.Place{Tenant: int64(b.tenant), Column: payments.DraftColumn, Row: int64(r.UID)})
		r.Advance()
		all = append(all, r)
	}
	return all, nil
}

func stepOf(p *payments.Payment) *payments.Step {
	return &payments.Step{
		Tenant: p.Tenant, Payment: p.UID, Number: p.Version, State: p.State, At: p.CreatedAt, Client: p.MakerClient,
		Reach: access.OfBank,
	}
}

// firstTier is the tier of book transfers that the first customer holds.
const firstTier = "Silver"

// transferFee returns what a book transfer costs by a tier.
func (b *bank) transferFee(tier string) *fees.Fee {
	return &fees.Fee{
		Tenant: b.tenant, Application: "Payments", Product: "Outgoing Payment", FeeName: "Book Transfer",
		FeeTier: tier, PriceMinor: int64(25 * (len(feeTiers) - slices.Index(feeTiers, tier))), Currency: "USD",
	}
}
