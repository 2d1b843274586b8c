package payments

import (
	"context"
	"crypto/sha256"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/db"
)

// A person's roles bound the payments that the person makes, and those that the person approves: each
// payment, and the sums of a day and of a month in the bank's zone (rest/CONTRACT.md, a person's own limits).
// A payment counts for the person whichever key and customer it was made with, and whatever becomes of it. It
// is counted only while the roles bound the person.

// act is something that people do with payments.
type act string

const (
	paid     act = "PAID"
	approved act = "APPROVED"
)

// ownLimits are the limits that roles name for an act.
type ownLimits struct {
	each, daily, monthly string
	exceeded             *fault.Fault
	verb                 string
}

var ownLimitsOf = map[act]ownLimits{
	paid: {
		access.PerPayment, access.PaidPerDay, access.PaidPerMonth, ErrOwnLimit, "pay",
	},
	approved: {
		access.ApprovedPerPayment, "Daily_Payment_Approve_Limits", "Monthly_Payment_Approve_Limits",
		ErrApproveLimit, "approve",
	},
}

// each returns a fault for an amount above what the caller may pay, or approve, in one payment. A limit binds
// amounts in its own currency, which is the bank's.
func (a act) each(by access.Caller, amount money.Amount) error {
	l := ownLimitsOf[a]
	if own := by.Limit(access.OfPayments, l.each); own != nil && own.Currency == amount.Currency &&
		amount.Minor > own.Minor {
		return l.exceeded.With(own.Value().String())
	}
	return nil
}

// period is a limit of a day or a month.
type period struct {
	limit *access.Limit
	in    string
	used  func(*personUse) int64
}

func (a act) periods(by access.Caller) (all []period) {
	if by.User == uuid.Nil {
		return nil
	}
	l := ownLimitsOf[a]
	for _, p := range []period{
		{by.Limit(access.OfPayments, l.daily), "a day", func(u *personUse) int64 { return u.Today }},
		{by.Limit(access.OfPayments, l.monthly), "a month", func(u *personUse) int64 { return u.Month }},
	} {
		if p.limit != nil {
			all = append(all, p)
		}
	}
	return all
}

// personUse is the sum of what a person has made, or approved, so far.
type personUse struct {
	Person string `bun:"person"` // a UUID
	Today  int64  `bun:"today"`  // minor units
	Month  int64  `bun:"month"`  // with today

	added int64 // by this transaction
}

// ownUse counts what people do within one transaction. It has only those whose roles bound a day or a month.
type ownUse struct {
	tenant access.Tenant
	act    act
	day    time.Time
	in     money.Currency
	rows   *db.Rows[personUse]
	of     map[string]*personUse
}

// bounded are the people whose roles bound a day or a month.
type bounded struct {
	day    time.Time // in the bank's zone
	people map[string]money.Currency
	months [][]byte // hashes of those whose month is bounded
}

// boundedOf returns the callers whose roles bound how much of an act they may do in a day or a month.
func boundedOf(of act, now time.Time, callers ...access.Caller) (b bounded) {
	for _, by := range callers {
		if periods := of.periods(by); len(periods) > 0 {
			if b.people == nil {
				b.people = map[string]money.Currency{}
			}
			b.people[by.User.String()], b.day = periods[0].limit.Currency, ledger.Day(now.In(by.Location()))
			if by.Limit(access.OfPayments, ownLimitsOf[of].monthly) != nil {
				hash := sha256.Sum256([]byte(string(of) + by.User.String()))
				b.months = append(b.months, hash[:])
			}
		}
	}
	return b
}

// monthOf sums up the other days of the month. One may be later, where two transactions meet at midnight.
const monthOf = `coalesce((SELECT sum(m.amount) FROM person_usage AS m
	WHERE m.tenant = $1 AND m.person = l.person
	AND m.act = $3 AND m.currency = $4 AND m.day >= date_trunc('month', $5::date)::date
	AND m.day < (date_trunc('month', $5::date) + interval '1 month')::date AND m.day <> $5::date), 0)::bigint`

var (
	// lockingOwn locks the row of the day, and adds it for a person who does something for the first time
	// that day.
	lockingOwn = db.NewQuery[personUse](`WITH l AS (
		  INSERT INTO person_usage AS u (tenant, person, act, currency, day)
		SELECT $1, p::uuid, $3, $4, $5::date FROM unnest($2::text[]) AS p ORDER BY p
		ON CONFLICT (tenant, person, act, currency, day) DO UPDATE SET amount = u.amount
		  RETURNING u.person, u.amount)
		SELECT l.person, l.amount AS today, l.amount + ` + monthOf + ` AS month FROM l`)
	readingOwn = db.NewQuery[personUse](`SELECT l.person, coalesce(u.amount, 0) AS today,
		coalesce(u.amount, 0) + ` + monthOf + ` AS month
		FROM (SELECT p::uuid AS person FROM unnest($2::text[]) AS p) AS l LEFT
		  JOIN person_usage AS u ON u.tenant = $1
		AND u.person = l.person AND u.act = $3 AND u.currency = $4 AND u.day = $5::date`)
)

// lockOwn queues the read of what people have done so far, for a transaction that adds to it. It returns nil
// if nobody is bounded. Of who is bounded for a month one transaction counts at a time, on whichever day.
func lockOwn(b *db.Batch, tenant access.Tenant, of act, who bounded) *ownUse {
	if len(who.months) > 0 {
		db.Wait(b, db.PersonsPayments, who.months)
	}
	return countOwn(b, lockingOwn, tenant, of, who)
}

// readOwn is lockOwn for what is only tried out.
func readOwn(b *db.Batch, tenant access.Tenant, of act, who bounded) *ownUse {
	return countOwn(b, readingOwn, tenant, of, who)
}

func countOwn(b *db.Batch, query *db.Query[personUse], tenant access.Tenant, of act, who bounded) *ownUse {
	people := slices.Sorted(maps.Keys(who.people))
	if len(people) == 0 {
		return nil
	}
	o := &ownUse{tenant: tenant, act: of, day: who.day, in: who.people[people[0]]}
	o.rows = db.Queue(b, query, tenant, people, string(of), string(o.in), o.day.Format(time.DateOnly))
	return o
}

// use returns what a person has done so far; nil if that is not counted.
func (o *ownUse) use(by access.Caller, in money.Currency) *personUse {
	if o == nil || by.User == uuid.Nil || in != o.in {
		return nil
	}
	if o.of == nil {
		o.of = map[string]*personUse{}
		for _, u := range o.rows.Items {
			o.of[u.Person] = u
		}
	}
	return o.of[by.User.String()]
}

// exceeded returns a fault for an amount above what the person may do: in one payment, or together with what
// was done in the day and in the month.
func (o *ownUse) exceeded(of act, by access.Caller, amount money.Amount) error {
	if err := of.each(by, amount); err != nil {
		return err
	}
	return o.periodExceeded(by, amount)
}

func (o *ownUse) periodExceeded(by access.Caller, amount money.Amount) error {
	u := o.use(by, amount.Currency)
	if u == nil {
		return nil
	}
	for _, p := range o.act.periods(by) {
		if left := p.limit.Minor - p.used(u) - u.added; p.limit.Currency == amount.Currency &&
			amount.Minor > left {
			l := ownLimitsOf[o.act]
			return l.exceeded.Saying("is above what the caller may " + l.verb + " in " + p.in + ": " +
				money.Of(max(0, left), p.limit.Currency).String() + " of " + p.limit.Value().String() + " is left").
				With(p.limit.Value().String())
		}
	}
	return nil
}

// take counts what a person does.
func (o *ownUse) take(by access.Caller, amount money.Amount) {
	if u := o.use(by, amount.Currency); u != nil {
		u.added += amount.Minor
	}
}

// writeTx writes what was counted, at the end of the transaction.
func (o *ownUse) writeTx(ctx context.Context) error {
	if o == nil {
		return nil
	}
	var people []string
	var added []int64
	for person, u := range o.of {
		if u.added != 0 {
			people, added = append(people, person), append(added, u.added)
			u.added = 0
		}
	}
	if len(people) == 0 {
		return nil
	}
	return db.ExecAtCommit(ctx, `UPDATE person_usage AS u SET amount = u.amount + n.added
		FROM unnest($5::text[], $6::bigint[]) AS n(person, added)
		WHERE u.tenant = $1 AND u.person = n.person::uuid AND u.act = $2 AND u.currency = $3
		AND u.day = $4::date`, o.tenant,
		string(o.act), string(o.in), o.day.Format(time.DateOnly), people, added)
}

// supposed returns a copy of the count, for payments that are only tried out.
func (o *ownUse) supposed() *ownUse {
	if o == nil {
		return nil
	}
	o.use(access.Caller{User: uuid.Max}, o.in) // reads them all before the copy
	copied := *o
	copied.of = map[string]*personUse{}
	for person, u := range o.of {
		copied.of[person] = new(*u)
	}
	return &copied
}

// ApproveTx returns ErrApproveLimit for an amount above what the person's roles allow the person to approve,
// and counts it for the day and the month. largest is the amount itself or, for a file, its largest payment.
func ApproveTx(
	ctx context.Context, tx db.Tx, by access.Caller, largest, all money.Amount, now time.Time,
) error {
	return approved.doneTx(ctx, tx, by, largest, all, now)
}

// doneTx returns a fault for an amount above what the caller may pay, or approve, and counts it.
func (a act) doneTx(
	ctx context.Context, tx db.Tx, by access.Caller, largest, all money.Amount, now time.Time,
) error {
	if err := a.each(by, largest); err != nil {
		return err
	}
	b := db.TxBatch(tx)
	o := lockOwn(b, by.Tenant, a, boundedOf(a, now, by))
	if err := b.Send(ctx); err != nil {
		return err
	}
	if err := o.periodExceeded(by, all); err != nil {
		return err
	}
	o.take(by, all)
	return o.writeTx(ctx)
}
