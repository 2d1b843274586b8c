package ledger

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Days is a range of booking days in the bank's time zone, both included, as midnight UTC. Where To is zero
// it ends today, and where From is, it begins usualDays before.
type Days struct{ From, To time.Time }

const (
	// how many days a statement covers at most: its totals are summed up from its entries
	mostDays  = 366
	usualDays = 30
)

func (d *Days) fill(today time.Time) error {
	if d.To.IsZero() {
		d.To = today
	}
	if d.From.IsZero() {
		d.From = d.To.AddDate(0, 0, -usualDays)
	}
	switch days := int(d.To.Sub(d.From).Hours()/24) + 1; {
	case d.To.Before(d.From):
		return fault.Field("statement", "to", fault.Min, "must not be before from")
	case days > mostDays:
		return fault.Field("statement", "to", fault.Max, "must be at most 366 days from from, which counts")
	}
	return nil
}

// Statement is what happened on an account in a range of days.
type Statement struct {
	bun.BaseModel `bun:"table:balances,alias:s" json:"-"`

	Account  accounts.UID   `bun:"account" json:"-"`
	Currency money.Currency `bun:"currency" json:"-"`
	From     time.Time      `bun:"from_day,scanonly" json:"-"`
	To       time.Time      `bun:"to_day,scanonly" json:"-"`
	// the versions of the last postings before the days, and in them
	Before       int64 `bun:"before,scanonly" json:"-"`
	Last         int64 `bun:"last,scanonly" json:"-"`
	OpeningMinor int64 `bun:"opening,scanonly" json:"-"`
	ClosingMinor int64 `bun:"closing,scanonly" json:"-"`
	DebitsMinor  int64 `bun:"debits,scanonly" json:"-"`
	CreditsMinor int64 `bun:"credits,scanonly" json:"-"`
}

// Opening returns the balance before the first day.
func (s *Statement) Opening() money.Amount { return money.Of(s.OpeningMinor, s.Currency) }

// Closing returns the balance after the last day: if it is not over yet, the present one.
func (s *Statement) Closing() money.Amount { return money.Of(s.ClosingMinor, s.Currency) }

// Debits returns the sum of the entries that have lowered the balance, as a positive amount.
func (s *Statement) Debits() money.Amount { return money.Of(s.DebitsMinor, s.Currency) }

// Credits returns the sum of the entries that have raised the balance.
func (s *Statement) Credits() money.Amount { return money.Of(s.CreditsMinor, s.Currency) }

// Span returns the postings of the statement.
func (s *Statement) Span() Span { return Span{s.Account, s.Before, s.Last} }

var (
	stating        db.QueryCache[Statement]
	ofStatement    = db.ColumnsOf[Statement]("Account", "Currency", "From", "To", "Before", "Last")
	openingBalance = db.ColumnsOf[Statement]("OpeningMinor")
	closingBalance = db.ColumnsOf[Statement]("ClosingMinor")
	totals         = db.ColumnsOf[Statement]("DebitsMinor", "CreditsMinor")
)

// statementKey is what the SQL of Statements depends on.
type statementKey struct {
	want  db.Columns
	reach access.Reach
}

// Statements reads a statement of each account. An account that another system keeps, or that the caller may
// not see, is absent. Totals cost a look at each entry; all else does not depend on how many there are.
func (s *Service) Statements(
	ctx context.Context, b *db.Batch, of []accounts.UID, days Days, want db.Columns,
) *db.Many[accounts.UID, Statement] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	var now time.Time
	if err == nil && days.To.IsZero() {
		now, err = s.now(ctx, caller.Tenant)
	}
	if err == nil {
		err = days.fill(Day(now.In(caller.Location())))
	}
	if err != nil {
		return db.Refuse[accounts.UID, Statement](err)
	}
	want = db.Or[Statement](want).And(ofStatement)
	text := stating.Get(statementKey{want, caller.Reach},
		func() string { return statementText(want, caller.Reach) })
	begin, end := access.StartOf(days.From, caller.Location()), access.StartOf(days.To.AddDate(0, 0, 1),
		caller.Location())
	return db.QueueMany(b, text, func(s *Statement) accounts.UID { return s.Account }, caller.Tenant,
		caller.ScopeCustomer(), of, begin, end, Day(days.From), Day(days.To))
}

func statementText(want db.Columns, reach access.Reach) string {
	columns := "s.account, s.currency, $6::date AS from_day, $7::date AS to_day, s.first AS before, s.last"
	for _, balance := range []struct {
		column  db.Columns
		version string
		name    string
	}{{openingBalance, "s.first", "opening"}, {closingBalance, "s.last", "closing"}} {
		if want.Overlaps(balance.column) {
			columns += ", " + afterwards(balance.version) + " AS " + balance.name
		}
	}
	sums := ""
	if want.Overlaps(totals) {
		columns += ", e.debits, e.credits"
		sums = ` CROSS JOIN LATERAL (
			SELECT coalesce(sum(0 - p.amount) FILTER (WHERE p.amount < 0), 0)::bigint AS debits,
			  coalesce(sum(p.amount) FILTER (WHERE p.amount > 0), 0)::bigint AS credits
			FROM postings AS p WHERE p.tenant = $1 AND p.account = s.account AND p.version > s.first
			AND p.version <= s.last) AS e`
	}
	return located(reach, "VALUES (1, $4::timestamptz), (2, $5::timestamptz)") + "SELECT " +
		columns + " FROM s" + sums
}
