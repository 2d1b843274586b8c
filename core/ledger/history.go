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

// located begins the text of a query of the books as they were. seen are the accounts $3 that the caller sees and
// that are kept here. found has, for each of them and each bound, the version of the last posting that was booked
// before the bound: 0 if there is none. bounds selects the bounds, as place and at.
//
// As booking times never decrease along an account's postings (core/README.md, I10), it is found by bisection: by
// two looks into an index for each doubling of the postings.
func located(reach access.Reach, bounds string) string {
	return `WITH RECURSIVE seen AS (
		SELECT b.account, b.currency, b.version, b.booked_at FROM unnest($3::bigint[]) AS p(account)
		JOIN accounts AS a ON a.tenant = $1 AND a.uid = p.account AND a.deleted_at IS NULL AND a.system_of_record = 'Internal Core'
		JOIN balances AS b ON b.tenant = $1 AND b.account = a.uid WHERE ` + reach.Scope("a.customer") + `
	), bounds (place, at) AS (` + bounds + `), found (account, place, at, low, high) AS (
		SELECT s.account, n.place, n.at, CASE WHEN s.booked_at < n.at THEN s.version ELSE 0 END, s.version FROM seen AS s, bounds AS n
		UNION ALL
		SELECT f.account, f.place, f.at, CASE WHEN m.before THEN f.middle ELSE f.low END, CASE WHEN m.before THEN f.high ELSE f.middle - 1 END
		FROM (SELECT *, (low + high + 1) / 2 AS middle FROM found WHERE low < high) AS f CROSS JOIN LATERAL (
		  SELECT j.booked_at < f.at AS before FROM postings AS p JOIN journals AS j ON j.tenant = $1 AND j.id = p.journal
		  WHERE p.tenant = $1 AND p.account = f.account AND p.version = f.middle LIMIT 1) AS m
	) `
}

// afterwards is the balance that the posting with a version has left; 0 before the first.
func afterwards(version string) string {
	return "coalesce((SELECT p.balance_after FROM postings AS p WHERE p.tenant = $1 AND p.account = s.account AND p.version = " +
		version + "), 0)"
}

var bookedBefore, valuedBy db.QueryCache[PastBalance]

// BookedBefore reads what had been booked on each account before a time. An account that another system keeps,
// or that the caller may not see, is absent.
func (s *Service) BookedBefore(
	ctx context.Context, b *db.Batch, of []accounts.UID, at time.Time,
) *db.Many[accounts.UID, PastBalance] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, PastBalance](err)
	}
	text := bookedBefore.Get(caller.Reach, func() string {
		return located(caller.Reach, "SELECT 1, $4::timestamptz") + "SELECT s.account, s.currency, " +
			afterwards("f.low") + " AS minor FROM seen AS s JOIN found AS f ON f.account = s.account AND f.low = f.high"
	})
	return db.QueueMany(b, text, accountOf, caller.Tenant, caller.ScopeCustomer(), of, at)
}

func accountOf(p *PastBalance) accounts.UID { return p.Account }

// shift is how many days after its booking a journal counts. The days are those of UTC, so that it has an index.
const shift = "j.value_date - (j.booked_at AT TIME ZONE 'UTC')::date"

// valued selects bounds for a day: what was booked before the first counts by then in any case, and what was
// booked from the second on does not. Between them lies the spread of the bank's value dates, of a few days.
const valued = `SELECT n.place, ($4::date - n.shift + 1)::timestamp AT TIME ZONE 'UTC' FROM (
	SELECT 1, (SELECT max(` + shift + `) FROM journals AS j WHERE j.tenant = $1)
	UNION ALL SELECT 2, (SELECT min(` + shift + `) FROM journals AS j WHERE j.tenant = $1)) AS n(place, shift)`

// ValuedBy reads the sum of the postings of each account whose value date is on or before a day, whenever they
// were booked. Beyond the bisection, it reads the postings of the account that were booked within the spread of
// the bank's value dates around that day. An account that another system keeps, or that the caller may not see, is
// absent.
func (s *Service) ValuedBy(
	ctx context.Context, b *db.Batch, of []accounts.UID, day time.Time,
) *db.Many[accounts.UID, PastBalance] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, PastBalance](err)
	}
	text := valuedBy.Get(caller.Reach, func() string {
		return located(caller.Reach, valued) + "SELECT s.account, s.currency, " + afterwards("f.low") + ` + coalesce((
			SELECT sum(p.amount) FROM postings AS p JOIN journals AS j ON j.tenant = $1 AND j.id = p.journal
			WHERE p.tenant = $1 AND p.account = s.account AND p.version > f.low AND p.version <= t.low AND j.value_date <= $4::date
			), 0)::bigint AS minor
			FROM seen AS s JOIN found AS f ON f.account = s.account AND f.place = 1 AND f.low = f.high
			JOIN found AS t ON t.account = s.account AND t.place = 2 AND t.low = t.high`
	})
	return db.QueueMany(b, text, accountOf, caller.Tenant, caller.ScopeCustomer(), of, Day(day))
}
