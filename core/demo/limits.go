package demo

import (
	"strings"

	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
)

// limited reports whether a customer has every limit: active companies, partners and banks do. Every third
// person has personalLimits.
func limited(n int64) bool { return n > 0 && status(n) == customers.Active && !person(n) }

var personalLimits = []string{
	"ACH_PAYMENT_LIMIT_PER_TRANSACTION", "ACH_PAYMENT_LIMIT_PER_DAY",
	"INSTANT_PAYMENT_LIMIT_PER_TRANSACTION", "INSTANT_PAYMENT_LIMIT_PER_DAY",
}

// base returns the customer's limit per transaction in minor units, from which its other limits follow.
func base(n int64) int64 {
	if n == 1 {
		return 250_000_00
	}
	if person(n) {
		return roll(topicLimit, n).in(1, 10) * 1_000_00
	}
	return roll(topicLimit, n).in(1, 20) * 25_000_00
}

// ceiling returns a limit's ceiling: the base per transaction, four times that per day, ten times per week,
// thirty times per month.
func ceiling(kind limits.Kind, base int64) int64 {
	switch {
	case strings.HasPrefix(kind.Code, "NO_OF_"): // these count things, not money
		return map[limits.Period]int64{limits.PerFile: 50, limits.PerDay: 10, limits.PerMonth: 150}[kind.Period]
	case kind.SECCode != "" && kind.Period == limits.PerTransaction:
		return base / 2
	}
	return base * map[limits.Period]int64{
		limits.PerTransaction: 1, limits.PerBatch: 2, limits.PerFile: 5, limits.PerDay: 4, limits.PerWeek: 10,
		limits.PerMonth: 30,
	}[kind.Period]
}

func (b *bank) limitsOf(n int64) []*limits.Limit {
	var kinds []limits.Kind
	switch {
	case limited(n):
		kinds = limits.Kinds()
	case n > 0 && n%3 == 0 && status(n) == customers.Active:
		for _, code := range personalLimits {
			kind, _ := limits.Known(code)
			kinds = append(kinds, kind)
		}
	}
	var all []*limits.Limit
	for _, kind := range kinds {
		all = append(all, &limits.Limit{
			Tenant: b.tenant, Customer: Customer(n), Code: kind.Code, Application: kind.Application(),
			Ceiling: ceiling(kind, base(n)), Currency: "USD", Version: 1, UpdatedAt: b.start,
		})
	}
	return all
}

// used lists the kinds of payments with usage, and how much of the limit per transaction each uses on a day.
var used = []struct {
	rail    limits.Family
	entry   rails.EntryType
	class   rails.SECCode
	percent int64
}{
	{limits.ACH, rails.Credit, "PPD", 60},
	{limits.ACH, rails.Credit, "CCD", 80},
	{limits.ACH, rails.Debit, "CCD", 30},
	{limits.Fedwire, "", "", 150},
	{limits.Instant, "", "", 40},
	{limits.SWIFT, "", "", 70},
}

// usageDays lists the days with usage, counted back from the start. How many of them are in the same week or
// month depends on the start.
var usageDays = []int{0, 1, 3, 9}

// usageOf returns what the customer has used of its limits, always less than their ceilings.
func (b *bank) usageOf(n int64) []*limits.Usage {
	if !limited(n) {
		return nil
	}
	d := roll(topicUsage, n)
	today := ledger.Day(b.start)
	var all []*limits.Usage
	for _, back := range usageDays {
		for _, u := range used {
			if n > 1 && d.chance(45) {
				continue
			}
			most := base(n) * u.percent / 100
			all = append(all, &limits.Usage{
				Tenant: b.tenant, Customer: Customer(n), Rail: u.rail, Day: today.AddDate(0, 0, -back),
				EntryType: u.entry, SECCode: u.class, Amount: d.in(most/5, most), Payments: int32(d.in(1, 12)),
			})
		}
	}
	return all
}

var (
	feeTiers = words("Gold Silver Platinum")
	feeNames = words("TN SPOT ON")
)

// catalogue returns the bank's fee catalogue: all fees that its customers hold, at lower prices for better
// tiers.
func (b *bank) catalogue() []*fees.Fee {
	var all []*fees.Fee
	for a, application := range words("Foreign_Exchange Payments") {
		for n, name := range feeNames {
			for t, tier := range feeTiers {
				all = append(all, &fees.Fee{
					Tenant: b.tenant, Application: application, Product: "Outgoing Payment", FeeName: name, FeeTier: tier,
					PriceMinor: int64(1000 + 500*a + 250*n + 100*(len(feeTiers)-t)), Currency: "USD",
				})
			}
		}
	}
	for _, tier := range feeTiers {
		all = append(all, b.transferFee(tier))
	}
	return all
}

// tiersOf returns the fee tiers of a company. The second one is for its first account only; the first
// customer has a third one, of book transfers.
func (b *bank) tiersOf(n int64) []*fees.Tier {
	if !limited(n) {
		return nil
	}
	d := roll(topicFee, n)
	all := []*fees.Tier{
		{Application: "Payments", FeeTier: pick(d, feeTiers), FeeName: pick(d, feeNames)},
		{Application: "Foreign_Exchange", FeeTier: pick(d, feeTiers), FeeName: pick(d, feeNames)},
	}
	first := Account(n, 0)
	all[1].Account = &first
	if Customer(n) == First {
		all = append(all, &fees.Tier{Application: "Payments", FeeTier: firstTier, FeeName: "Book Transfer"})
	}
	for k, tier := range all {
		tier.Tenant, tier.ID, tier.Customer, tier.Product = b.tenant, fees.ID(n*8+int64(k)), Customer(n),
			"Outgoing Payment"
		tier.Status, tier.Version, tier.UpdatedAt = fees.Active, 1, b.start
	}
	return all
}
