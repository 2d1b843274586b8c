package ledger

import (
	"context"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Span is the postings of an account from the one after a version to that with the last.
type Span struct {
	Account      accounts.UID
	Before, Last int64
}

// Len returns how many postings it has.
func (s Span) Len() int64 { return s.Last - s.Before }

// BookEntry is a posting with what its journal says.
type BookEntry struct {
	bun.BaseModel `bun:"table:postings,alias:p" json:"-"`

	Account     accounts.UID   `bun:"account" json:"-"`
	Number      int64          `bun:"version" json:"-"` // 1, 2, 3 … for each account
	Journal     JournalID      `bun:"journal" json:"-"`
	Minor       int64          `bun:"amount" json:"-"`
	Currency    money.Currency `bun:"currency" json:"-"`
	AfterMinor  int64          `bun:"balance_after" json:"-"`
	Kind        Kind           `bun:"kind" json:"-"`
	BookedAt    time.Time      `bun:"booked_at" json:"-"`
	ValueDate   time.Time      `bun:"value_date,type:date" json:"-"` // midnight UTC
	Description string         `bun:"description" json:"-"`
	Payment     *int64         `bun:"payment" json:"-"` // nil if it belongs to none
}

// Amount returns what was booked: above zero it has raised the balance.
func (e *BookEntry) Amount() money.Amount { return money.Of(e.Minor, e.Currency) }

// BalanceAfter returns the account's balance after this posting.
func (e *BookEntry) BalanceAfter() money.Amount { return money.Of(e.AfterMinor, e.Currency) }

var (
	ofEntry   = db.ColumnsOf[BookEntry]("Account", "Number", "Currency")
	inJournal = map[string]string{
		"kind": "j.kind", "booked_at": "j.booked_at", "value_date": "j.value_date", "description": "j.description",
		"payment": "j.payment",
	}
	told = db.ColumnsOf[BookEntry]("Kind", "BookedAt", "ValueDate", "Description", "Payment")

	listing db.QueryCache[BookEntry]
)

// entriesKey is what the SQL of EntriesOf depends on.
type entriesKey struct {
	want       db.Columns
	reach      access.Reach
	down, from bool
}

// EntriesOf reads a window of the postings of each span, oldest or newest first. The list of an account that
// the caller may not see is empty.
func (s *Service) EntriesOf(
	ctx context.Context, b *db.Batch, of []Span, newest bool, want db.Columns, w page.Window,
) *db.Many[accounts.UID, BookEntry] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, BookEntry](err)
	}
	want = db.Or[BookEntry](want).And(ofEntry)
	key := entriesKey{want: want, reach: caller.Reach, down: newest != w.Backward, from: w.Cursor.UID != 0}
	uids, before, last := make([]accounts.UID, len(of)), make([]int64, len(of)), make([]int64, len(of))
	for i, span := range of {
		uids[i], before[i], last[i] = span.Account, span.Before, span.Last
	}
	p := db.Params{caller.Tenant, caller.ScopeCustomer(), uids, before, last, w.Limit(), w.Offset}
	if key.from {
		p.Add(w.Cursor.UID)
	}
	return db.QueueMany(b, listing.Get(key, key.text),
		func(e *BookEntry) accounts.UID { return e.Account }, p...)
}

func (k entriesKey) text() string {
	q := db.Select[BookEntry](k.want, inJournal).Where("p.tenant = $1").Where("p.account = s.account").
		Where("p.version > s.before").Where("p.version <= s.last")
	if k.want.Overlaps(told) {
		q = q.Join("JOIN journals AS j ON j.tenant = $1 AND j.id = p.journal")
	}
	order, compare := "p.version", " > "
	if k.down {
		order, compare = "p.version DESC", " < "
	}
	if k.from {
		q = q.Where("p.version" + compare + "$8::bigint")
	}
	return `SELECT r.* FROM unnest($3::bigint[], $4::bigint[], $5::bigint[]) AS s(account, before, last)
		JOIN accounts AS a ON a.tenant = $1 AND a.uid = s.account AND a.deleted_at IS NULL AND ` +
		k.reach.Scope("a.customer") + ` CROSS JOIN LATERAL (` + q.OrderExpr(order).String() +
		" LIMIT $6::bigint OFFSET $7::bigint) AS r"
}

// JournalID is the number of a journal.
type JournalID int64

func (id JournalID) String() string { return strconv.FormatInt(int64(id), 10) }

// JournalPosting is one of the postings of a journal, with whose account it is on.
type JournalPosting struct {
	bun.BaseModel `bun:"table:postings,alias:p" json:"-"`

	Journal    JournalID      `bun:"journal" json:"-"`
	Account    accounts.UID   `bun:"account" json:"-"`
	House      string         `bun:"house" json:"-"` // of House; empty on customers' accounts
	Number     int64          `bun:"version" json:"-"`
	Minor      int64          `bun:"amount" json:"-"`
	Currency   money.Currency `bun:"currency" json:"-"`
	AfterMinor int64          `bun:"balance_after" json:"-"`
}

// Amount returns what was booked: above zero it has raised the balance.
func (p *JournalPosting) Amount() money.Amount { return money.Of(p.Minor, p.Currency) }

// BalanceAfter returns the account's balance after this posting.
func (p *JournalPosting) BalanceAfter() money.Amount { return money.Of(p.AfterMinor, p.Currency) }

var (
	journals        db.QueryCache[Journal]
	journalPostings = db.NewQuery[JournalPosting](`SELECT p.journal, p.account, b.house, p.version, p.amount,
		p.currency, p.balance_after FROM postings AS p JOIN balances AS b ON b.tenant = $1 AND b.account = p.account
		WHERE p.tenant = $1 AND p.journal = ANY($2::bigint[]) ORDER BY p.journal, p.account, p.version`)
	ofJournal = db.ColumnsOf[Journal]("ID")
)

// FindJournals reads journals by number. For callers outside the bank there are none: a journal has both
// sides.
func (s *Service) FindJournals(
	ctx context.Context, b *db.Batch, ids []JournalID, want db.Columns,
) *db.Many[JournalID, Journal] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil || caller.Reach != access.OfBank {
		return db.Refuse[JournalID, Journal](err)
	}
	want = db.Or[Journal](want).And(ofJournal)
	text := journals.Get(want, func() string {
		return db.Select[Journal](want, nil).Where("j.tenant = $1").Where("j.id = ANY($2::bigint[])").String()
	})
	return db.QueueMany(b, text, func(j *Journal) JournalID { return JournalID(j.ID) }, caller.Tenant, ids)
}

// PostingsOf reads the postings of journals, for the bank's own callers.
func (s *Service) PostingsOf(
	ctx context.Context, b *db.Batch, of []JournalID,
) *db.Many[JournalID, JournalPosting] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil || caller.Reach != access.OfBank {
		return db.Refuse[JournalID, JournalPosting](err)
	}
	return db.QueueMany(b, journalPostings, func(p *JournalPosting) JournalID { return p.Journal },
		caller.Tenant, of)
}
