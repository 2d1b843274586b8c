package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"balances", "journals", "postings"},
	Reads: map[string]string{
		"accounts": "the proof compares the books with the accounts",
	},
}

// Service books journals.
type Service struct{ db *db.DB }

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }

// Account is an account that is to be opened in the books.
type Account struct {
	UID       accounts.UID
	Opening   money.Amount // the opening balance: negative for a loan; zero books nothing
	Overdraft int64        // how far it may go below zero, in minor units: for a loan, its credit line
	On        time.Time    // any time of the value date, in the bank's time zone
}

// OpenTx opens an account in the books and books its opening balance against a house account. It returns
// ErrUncovered if the opening balance is below the overdraft.
func (s *Service) OpenTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, account Account) error {
	balance := &Balance{
		Tenant: tenant, Account: account.UID, Currency: account.Opening.Currency, Overdraft: account.Overdraft,
	}
	if _, err := tx.NewInsert().Model(balance).Exec(ctx); err != nil {
		return fmt.Errorf("open account %s in the books: %w", account.UID, err)
	}
	if account.Opening.Minor == 0 {
		return nil
	}
	house, err := s.houseTx(ctx, tx, tenant, HouseOpening, account.Opening.Currency, ShardOf(account.UID))
	if err != nil {
		return err
	}
	journal, err := NewOpening(account.On, account.UID, house, account.Opening)
	if err != nil {
		return err
	}
	return s.PostTx(ctx, tx, tenant, journal)
}

// KeepTx opens an account in the books with a zero balance, or changes the currency of one without bookings.
// It implements accounts.Keep.
func (s *Service) KeepTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, account accounts.UID, in money.Currency,
) error {
	done, err := tx.NewRaw(`INSERT INTO balances (tenant, account, currency) VALUES (?, ?, ?)
		ON CONFLICT (tenant, account) DO UPDATE SET currency = excluded.currency WHERE balances.version = 0 OR balances.currency = excluded.currency`,
		tenant, account, in).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep account %s in the books: %w", account, err)
	}
	if rows, err := done.RowsAffected(); err != nil || rows != 1 {
		return fmt.Errorf("%w: account %s has bookings and cannot be kept in %s", ErrCurrency, account, in)
	}
	return nil
}

// houseTx returns the number of a house account, and creates the account if it does not exist.
func (s *Service) houseTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, house House, in money.Currency, shard int16,
) (accounts.UID, error) {
	const find = `SELECT account FROM balances WHERE tenant = ? AND house = ? AND currency = ? AND shard = ?`
	var found []accounts.UID
	err := tx.NewRaw(find, tenant, house, in, shard).Scan(ctx, &found)
	if err == nil && len(found) == 0 {
		if _, err = tx.NewRaw(
			`INSERT INTO balances (tenant, account, house, shard, currency) VALUES (?, nextval('account_uids'), ?, ?, ?)
			ON CONFLICT (tenant, house, currency, shard) WHERE house <> '' DO NOTHING`, tenant, house, shard, in).
			Exec(ctx); err == nil {
			err = tx.NewRaw(find, tenant, house, in, shard).Scan(ctx, &found) // ours, or that of a quicker transaction
		}
	}
	if err != nil || len(found) != 1 {
		return 0, fmt.Errorf("find house account %s %s %d: %w", house, in, shard, err)
	}
	return found[0], nil
}

// PostTx books a journal: it fills in the journal's ID and booking time, writes its postings, and moves the
// balances. It returns ErrUncovered if an account does not cover its entry.
func (s *Service) PostTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, journal *Journal) error {
	balances, err := s.lockTx(ctx, tx, tenant, journal.Entries)
	if err != nil {
		return err
	}
	journal.Tenant = tenant
	// The clock is read under the locks, so that an account's booking times never decrease, not even if the
	// clock is set back or a server with a slower clock takes over.
	err = tx.NewInsert().Model(journal).
		Value("id", "nextval('journal_ids')").Value("booked_at", "greatest(clock_timestamp(), (?))",
		lastBooked(tx, tenant, balances)).
		Returning("id, booked_at").Scan(ctx)
	if err != nil {
		return fmt.Errorf("book a journal: %w", err)
	}
	var postings []*Posting
	for _, entry := range journal.Entries {
		at, ok := slices.BinarySearchFunc(balances, entry.Account, byAccount)
		if !ok {
			return fmt.Errorf("ledger: account %s is not in the books", entry.Account)
		}
		posting, err := balances[at].Post(journal.ID, entry.Amount)
		if err != nil {
			return err
		}
		postings = append(postings, posting)
	}
	if _, err = tx.NewInsert().Model(&postings).Exec(ctx); err != nil {
		return fmt.Errorf("post journal %d: %w", journal.ID, err)
	}
	_, err = tx.NewUpdate().Model(&balances).Column("ledger", "version").Bulk().Where("b.tenant = ?", tenant).
		Exec(ctx)
	if constraint, refused := db.CheckViolation(err); refused && constraint == "balances_covered" {
		return ErrUncovered
	}
	if err != nil {
		return fmt.Errorf("move the balances of journal %d: %w", journal.ID, err)
	}
	return nil
}

// lastBooked selects the latest booking time of these locked accounts; NULL if none was ever booked on.
func lastBooked(tx bun.Tx, tenant access.Tenant, balances []*Balance) *bun.SelectQuery {
	if len(balances) == 0 {
		return tx.NewSelect().ColumnExpr("NULL::timestamptz")
	}
	return tx.NewSelect().TableExpr("postings AS p").ColumnExpr("max(j.booked_at)").
		Join("JOIN journals AS j ON j.tenant = p.tenant AND j.id = p.journal").
		Where("p.tenant = ?", tenant).Where("j.tenant = ?", tenant).
		WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			for _, b := range balances {
				q = q.WhereOr("p.account = ? AND p.version = ?", b.Account, b.Version)
			}
			return q
		})
}

// lockTx locks and reads the accounts of the entries. Every lock of several accounts is in ascending order.
func (s *Service) lockTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, entries []Entry,
) ([]*Balance, error) {
	var uids []accounts.UID
	for _, entry := range entries {
		uids = append(uids, entry.Account)
	}
	var balances []*Balance
	err := tx.NewSelect().Model(&balances).Where("b.tenant = ?", tenant).Where("b.account IN (?)",
		bun.List(uids)).
		OrderExpr("b.account").For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("lock accounts: %w", err)
	}
	return balances, nil
}

func byAccount(b *Balance, uid accounts.UID) int { return cmp.Compare(b.Account, uid) }
