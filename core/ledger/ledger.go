package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/clock"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"balances", "holds", "journals", "postings", "proofs"},
	Reads: map[string]string{
		"accounts": "the proof compares the books with the accounts; and whose an account is decides who " +
			"sees its history",
		"sandbox_clocks": "the clock that bookings go by is read under their locks, in the statement " +
			"that reads the database's",
	},
}

// Service books journals.
type Service struct {
	db     *db.DB
	now    clock.Now
	others []Invariant // of domains that come later
	proofs proofs
}

// New makes the service.
func New(d *db.DB, now clock.Now) *Service { return &Service{db: d, now: now} }

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
	house, err := s.HouseTx(ctx, tx, tenant, HouseOpening, account.Opening.Currency, ShardOf(account.UID))
	if err != nil {
		return err
	}
	journal, err := NewOpening(account.On, account.UID, house, account.Opening)
	if err != nil {
		return err
	}
	return s.PostTx(ctx, tx, tenant, journal)
}

// KeepTx opens an account in the books with a zero balance, changes the currency of one without bookings, or
// notes whether it is closed or has left the books. It implements accounts.Keep.
func (s *Service) KeepTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, account accounts.UID, in money.Currency, closed bool,
) error {
	done, err := tx.NewRaw(`INSERT INTO balances (tenant, account, currency, closed) VALUES (?, ?, ?, ?)
		ON CONFLICT (tenant, account) DO UPDATE SET currency = excluded.currency, closed = excluded.closed,
			  stranded = excluded.closed AND balances.ledger <> 0
			  WHERE balances.version = 0 OR balances.currency = excluded.currency`,
		tenant, account, in, closed).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep account %s in the books: %w", account, err)
	}
	if rows, err := done.RowsAffected(); err != nil || rows != 1 {
		return fmt.Errorf("%w: account %s has bookings and cannot be kept in %s", ErrCurrency, account, in)
	}
	return nil
}

// HouseTx returns the number of a house account, and creates the account if it does not exist.
func (s *Service) HouseTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, house House, in money.Currency, shard int16,
) (accounts.UID, error) {
	const find = `SELECT account FROM balances WHERE tenant = ? AND house = ? AND currency = ? AND shard = ?`
	var found []accounts.UID
	err := tx.NewRaw(find, tenant, house, in, shard).Scan(ctx, &found)
	if err == nil && len(found) == 0 {
		if _, err = tx.NewRaw(
			`INSERT INTO balances (tenant, account, house, shard, currency)
				VALUES (?, nextval('account_uids'), ?, ?, ?)
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
// balances, at the end of the transaction. It returns ErrUncovered if an account does not cover its entry.
func (s *Service) PostTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, journal *Journal) error {
	var of []accounts.UID
	for _, entry := range journal.Entries {
		of = append(of, entry.Account)
	}
	b := db.TxBatch(tx)
	books := Lock(b, tenant, of, 1)
	if err := b.Send(ctx); err != nil {
		return fmt.Errorf("book a journal: %w", err)
	}
	if err := books.Book(journal); err != nil {
		return err
	}
	return books.WriteTx(ctx)
}
