package ledger

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/db"
)

// PastBalance is what was booked on an account by some moment.
type PastBalance struct {
	bun.BaseModel `bun:"table:balances,alias:s" json:"-"`

	Account  accounts.UID   `bun:"account" json:"-"`
	Currency money.Currency `bun:"currency" json:"-"`
	Minor    int64          `bun:"minor,scanonly" json:"-"`
}

// Ledger returns the amount.
func (p *PastBalance) Ledger() money.Amount { return money.Of(p.Minor, p.Currency) }

// located begins the text of a query of the books as they were. Of it, s has a row for each of the accounts
// $3 that the caller sees and that are kept here: first and last are the versions of the last postings that
// were booked before two bounds, 0 if there is none. bounds selects these, as place (1, 2) and at; there may
// be only the first.
//
// As booking times never decrease along an account's postings (core/README.md, I10), they are found by
// bisection: by two looks into an index for each doubling of the postings.
func located(reach access.Reach, bounds string) string {
	return `WITH RECURSIVE bounds (place, at) AS (` + bounds +
		`), found (account, currency, place, at, low, high) AS (
		SELECT b.account, b.currency, n.place, n.at, CASE WHEN b.booked_at < n.at THEN b.version ELSE 0 END,
		  b.version
		FROM unnest($3::bigint[]) AS p(account)
		JOIN accounts AS a ON a.tenant = $1 AND a.uid = p.account AND a.deleted_at IS NULL
		  AND a.system_of_record = 'Internal Core'
		JOIN balances AS b ON b.tenant = $1 AND b.account = a.uid, bounds AS n WHERE ` + reach.Scope("a.customer") +
		`
		UNION ALL
		SELECT f.account, f.currency, f.place, f.at, CASE WHEN m.before THEN f.middle ELSE f.low END,
		  CASE WHEN m.before THEN f.high ELSE f.middle - 1 END
		FROM (SELECT *, (low + high + 1) / 2 AS middle FROM found WHERE low < high) AS f CROSS JOIN LATERAL (
		  SELECT j.booked_at < f.at AS before FROM postings AS p
		  JOIN journals AS j ON j.tenant = $1 AND j.id = p.journal
		  WHERE p.tenant = $1 AND p.account = f.account AND p.version = f.middle LIMIT 1) AS m
	), s AS (
		SELECT account, currency, max(low) FILTER (WHERE place = 1) AS first,
		  max(low) FILTER (WHERE place = 2) AS last
		FROM found WHERE low = high GROUP BY account, currency
	) `
}

// afterwards is the balance that the posting with a version has left; 0 before the first.
func afterwards(version string) string {
	return "coalesce((SELECT p.balance_after FROM postings AS p WHERE p.tenant = $1 " +
		"AND p.account = s.account AND p.version = " +
		version + "), 0)"
}

var bookedBefore, valuedBy db.QueryCache[PastBalance]

// BookedBefore reads what had been booked on each account before a time. An account that another system
// keeps, or that the caller may not see, is absent.
func (s *Service) BookedBefore(
	ctx context.Context, b *db.Batch, of []accounts.UID, at time.Time,
) *db.Many[accounts.UID, PastBalance] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, PastBalance](err)
	}
	text := bookedBefore.Get(caller.Reach, func() string {
		return located(caller.Reach, "SELECT 1, $4::timestamptz") + "SELECT s.account, s.currency, " +
			afterwards("s.first") + " AS minor FROM s"
	})
	return db.QueueMany(b, text, accountOf, caller.Tenant, caller.ScopeCustomer(), of, at)
}

func accountOf(p *PastBalance) accounts.UID { return p.Account }

// shift is how many days after its booking a journal counts. The days are those of UTC, so that it has an
// index.
const shift = "j.value_date - (j.booked_at AT TIME ZONE 'UTC')::date"

// valued selects bounds for a day: what was booked before the first counts by then in any case, and what was
// booked from the second on does not. Between them lies the spread of the bank's value dates, of a few days.
const valued = `SELECT n.place, ($4::date - n.shift + 1)::timestamp AT TIME ZONE 'UTC' FROM (
	SELECT 1, (SELECT max(` + shift + `) FROM journals AS j WHERE j.tenant = $1)
	UNION ALL SELECT 2, (SELECT min(` + shift + `) FROM journals AS j
		WHERE j.tenant = $1)) AS n(place, shift)`

// ValuedBy reads the sum of the postings of each account whose value date is on or before a day, whenever
// they were booked. Beyond the bisection, it reads the postings of the account that were booked within the
// spread of the bank's value dates around that day. An account that another system keeps, or that the caller
// may not see, is absent.
func (s *Service) ValuedBy(
	ctx context.Context, b *db.Batch, of []accounts.UID, day time.Time,
) *db.Many[accounts.UID, PastBalance] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, PastBalance](err)
	}
	text := valuedBy.Get(caller.Reach, func() string {
		return located(caller.Reach,
			valued) + "SELECT s.account, s.currency, " + afterwards("s.first") + ` + coalesce((
			SELECT sum(p.amount) FROM postings AS p JOIN journals AS j ON j.tenant = $1 AND j.id = p.journal
			WHERE p.tenant = $1 AND p.account = s.account AND p.version > s.first AND p.version <= s.last
			AND j.value_date <= $4::date
			), 0)::bigint AS minor FROM s`
	})
	return db.QueueMany(b, text, accountOf, caller.Tenant, caller.ScopeCustomer(), of, Day(day))
}
