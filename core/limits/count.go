package limits

import (
	"context"
	"iter"
	"slices"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// Counter tests payments against the limits of the customers that pay, and counts them, within one
// transaction. It has locked the limits, so no other transaction counts payments of the same customers
// meanwhile. It decides as the limit check does (Check).
type Counter struct {
	tenant access.Tenant
	limits *db.Many[customers.UID, Limit]
	rows   *db.Many[customers.UID, Usage]
	taken  map[usageKey]*Usage // what this transaction adds
}

type usageKey struct {
	customer customers.UID
	rail     Family
	entry    rails.EntryType
	day      time.Time
	currency money.Currency
}

// Planned is a payment as limits see it: EntryType and SECCode are of ACH alone.
type Planned struct {
	Customer  customers.UID // who pays
	Rail      rails.Rail
	EntryType rails.EntryType
	SECCode   rails.SECCode
	Day       time.Time // of delivery
	Amount    money.Amount
}

var (
	lockingLimits = db.NewQuery[Limit](limitsOf + ` FOR NO KEY UPDATE OF l`)
	lookingLimits = db.NewQuery[Limit](limitsOf)
	readingUsage  = db.NewQuery[Usage](`SELECT u.customer, u.rail, u.day, u.entry_type,
		sum(u.amount)::bigint AS amount FROM limit_usage AS u
		WHERE u.tenant = $1 AND u.customer IN (SELECT customer FROM accounts
		  WHERE tenant = $1 AND uid = ANY($2::bigint[]))
		  AND u.day BETWEEN $3::date AND $4::date GROUP BY u.customer, u.rail, u.day, u.entry_type`)
)

const limitsOf = `SELECT l.customer, l.code, l.ceiling, l.currency FROM limits AS l
	WHERE l.tenant = $1 AND l.customer IN (SELECT customer FROM accounts
	  WHERE tenant = $1 AND uid = ANY($2::bigint[]))
	  AND l.code = ANY($3::text[]) ORDER BY l.customer, l.code`

// counted lists the limits that payments one by one are counted against.
func counted() (codes []string) {
	for _, code := range order {
		if kinds[code].Checked {
			codes = append(codes, code)
		}
	}
	return codes
}

// Count locks the limits of the customers that have these accounts, and reads what is used of them for
// payments on days of a range, when the batch is sent.
func Count(b *db.Batch, tenant access.Tenant, payers []accounts.UID, from, to time.Time) *Counter {
	return count(b, lockingLimits, tenant, payers, from, to)
}

// Look is Count without locks, for payments that are never made.
func Look(b *db.Batch, tenant access.Tenant, payers []accounts.UID, from, to time.Time) *Counter {
	return count(b, lookingLimits, tenant, payers, from, to)
}

func count(
	b *db.Batch, reading *db.Query[Limit], tenant access.Tenant, payers []accounts.UID, from, to time.Time,
) *Counter {
	c := &Counter{tenant: tenant, taken: map[usageKey]*Usage{}}
	c.limits = db.QueueMany(b, reading, func(l *Limit) customers.UID { return l.Customer }, tenant,
		payers, counted())
	least, most := from.AddDate(0, 0, -31), to.AddDate(0, 0, 31)
	c.rows = db.QueueMany(b, readingUsage, func(u *Usage) customers.UID { return u.Customer }, tenant,
		payers, least, most)
	return c
}

// Counting starts a counter that tests nothing: for payments that are not made after all, or that were tested
// when they were made and only get another day.
func Counting(tenant access.Tenant) *Counter {
	return &Counter{tenant: tenant, taken: map[usageKey]*Usage{}}
}

// Exceeds returns the first limit that a payment would exceed; nil if it fits all.
func (c *Counter) Exceeds(p Planned) *Limit {
	for l := range c.Testing(p) {
		if l.ExceededBy() != nil {
			return l
		}
	}
	return nil
}

// Testing returns the limits that a payment is tested against, each with what is used of it in the payment's
// period. A limit binds the payments in its own currency.
func (c *Counter) Testing(p Planned) iter.Seq[*Limit] {
	return func(yield func(*Limit) bool) {
		asked := Asked{Rail: p.Rail, EntryType: p.EntryType, SECCode: p.SECCode}.codes()
		for _, limit := range c.limits.Of[p.Customer] {
			l := *limit
			if l.Currency != p.Amount.Currency || !slices.Contains(asked, l.Code) {
				continue
			}
			l.tested, l.UsedMinor = p.Amount.Minor, c.used(p, l.Kind())
			if !yield(&l) {
				return
			}
		}
	}
}

// used returns what payments have used of a limit in the period of a day.
func (c *Counter) used(p Planned, k Kind) (sum int64) {
	from, to := k.Period.Around(p.Day)
	counts := func(u *Usage) bool {
		return u.Customer == p.Customer && u.Rail == k.Family && !u.Day.Before(from) && !u.Day.After(to) &&
			(p.EntryType == "" || u.EntryType == p.EntryType)
	}
	for _, u := range c.rows.Of[p.Customer] {
		if counts(u) {
			sum += u.Amount
		}
	}
	for key, u := range c.taken {
		if counts(u) && key.currency == p.Amount.Currency {
			sum += u.Amount
		}
	}
	return sum
}

// Around returns the first and the last day of the period that a day is in: the day, its week from Monday, or
// its month. Other periods have no days, and end before they begin.
func (p Period) Around(day time.Time) (first, last time.Time) {
	switch p {
	case PerDay:
		return day, day
	case PerWeek:
		first = day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		return first, first.AddDate(0, 0, 6)
	case PerMonth:
		first = day.AddDate(0, 0, 1-day.Day())
		return first, first.AddDate(0, 1, -1)
	}
	return day, day.AddDate(0, 0, -1)
}

// Take counts a payment, or with a negative amount one that is not made after all.
func (c *Counter) Take(p Planned) {
	key := usageKey{p.Customer, FamilyOf(p.Rail), p.EntryType, p.Day, p.Amount.Currency}
	u := c.taken[key]
	if u == nil {
		u = &Usage{Tenant: c.tenant, Customer: p.Customer, Rail: key.rail, EntryType: p.EntryType, Day: p.Day}
		c.taken[key] = u
	}
	u.Amount += p.Amount.Minor
	if u.Payments++; p.Amount.Minor < 0 {
		u.Payments -= 2
	}
}

// WriteTx writes what was counted, at the end of the transaction: payments in the bank's currency, as limits
// bind no others.
func (c *Counter) WriteTx(ctx context.Context) error {
	for _, write := range []struct {
		more bool
		text string
	}{
		{true, `INSERT INTO limit_usage AS u (payments, tenant, customer, rail, day, entry_type, sec_code, amount)
			SELECT n.number, $1, n.customer, n.rail, n.day::date, n.entry, '', n.amount FROM ` + taken + `
			WHERE n.currency = (SELECT currency FROM tenants WHERE id = $1)
			ORDER BY n.customer, n.rail, n.day, n.entry
			  ON CONFLICT (tenant, customer, rail, day, entry_type, sec_code) DO UPDATE
			SET payments = u.payments + excluded.payments, amount = u.amount + excluded.amount`},
		{
			false,
			`UPDATE limit_usage AS u SET payments = u.payments + n.number, amount = u.amount + n.amount FROM ` +
				taken + `
			WHERE u.tenant = $1 AND u.customer = n.customer AND u.rail = n.rail AND u.day = n.day::date
			  AND u.entry_type = n.entry AND u.sec_code = ''
			  AND n.currency = (SELECT currency FROM tenants WHERE id = $1)`,
		},
	} {
		var of, amounts, payments []int64
		var families, days, entries, currencies []string
		for key, u := range c.taken {
			if u.Amount >= 0 != write.more {
				continue
			}
			of, families, days = append(of, int64(key.customer)), append(families, string(key.rail)),
				append(days, key.day.Format(time.DateOnly))
			entries, currencies = append(entries, string(key.entry)), append(currencies, string(key.currency))
			amounts, payments = append(amounts, u.Amount), append(payments, int64(u.Payments))
		}
		if len(of) == 0 {
			continue
		}
		if err := db.ExecAtCommit(ctx, write.text, c.tenant, of, families, days, amounts, payments, entries,
			currencies); err != nil {
			return err
		}
	}
	return nil
}

const taken = `unnest($2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::bigint[], $7::text[],
	$8::text[]) AS n(customer, rail, day, amount, number, entry, currency)`
