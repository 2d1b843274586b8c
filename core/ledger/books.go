package ledger

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Books is the part of a bank's books that a transaction has locked: some accounts, on which it books any
// number of journals in memory, and writes them together in the end.
type Books struct {
	tenant   access.Tenant
	rows     *db.Rows[Balance]
	clock    *db.Rows[instant]
	ids      *db.Rows[journalID]
	balances map[accounts.UID]*Balance // nil until the first journal
	moved    map[accounts.UID]bool     // or held
	at       time.Time                 // when these journals are booked
	taken    int                       // of the ids
	journals []*Journal
	postings []*Posting
	holds    []*Hold
	closed   map[closing][]int64 // payments, or holds of people, whose holds are
	supposed bool                // nothing was locked, and nothing can be written
}

type instant struct {
	At time.Time `bun:"at"`
}

type journalID struct {
	ID int64 `bun:"id"`
}

var (
	// Every lock of several accounts is in ascending order.
	locking = db.NewQuery[Balance](balancesOf + ` ORDER BY account FOR NO KEY UPDATE`)
	looking = db.NewQuery[Balance](balancesOf)
	// The clock is read under the locks, so that an account's booking times never decrease. That of a sandbox
	// bank may be ahead.
	reading = db.NewQuery[instant](`SELECT clock_timestamp() + coalesce((SELECT ahead FROM sandbox_clocks
		WHERE tenant = $1), 0)
		* interval '1 microsecond' AS at`)
	taking = db.NewQuery[journalID](`SELECT nextval('journal_ids') AS id FROM generate_series(1, $1::bigint)`)
)

const balancesOf = `SELECT tenant, account, house, shard, currency, ledger, held, overdraft, forced, version,
	booked_at
	FROM balances WHERE tenant = $1 AND account = ANY($2::bigint[])`

// Lock locks accounts for at most so many journals and holds, when the batch is sent.
func Lock(b *db.Batch, tenant access.Tenant, of []accounts.UID, journals int) *Books {
	return &Books{
		tenant: tenant, rows: db.Queue(b, locking, tenant, of), clock: db.Queue(b, reading, tenant),
		ids: db.Queue(b, taking, journals), moved: map[accounts.UID]bool{},
	}
}

// Look is Lock for books that are never written: they tell what would become of the accounts.
func Look(b *db.Batch, tenant access.Tenant, of []accounts.UID, journals int) *Books {
	ids := &db.Rows[journalID]{}
	for range journals {
		ids.Items = append(ids.Items, new(journalID))
	}
	return &Books{
		tenant: tenant, rows: db.Queue(b, looking, tenant, of), clock: db.Queue(b, reading, tenant), ids: ids,
		moved: map[accounts.UID]bool{}, supposed: true,
	}
}

// Suppose adds a house account without a balance to books that are never written. Nothing is decided by what
// it has.
func (k *Books) Suppose(account accounts.UID, house House, in money.Currency) {
	if k.open(); k.supposed && k.balances != nil {
		k.balances[account] = &Balance{Tenant: k.tenant, Account: account, House: house, Currency: in}
	}
}

// Supposed returns books with the same accounts as these are now, which are never written.
func (k *Books) Supposed() *Books {
	k.open()
	copied := *k
	copied.supposed, copied.moved, copied.closed = true, maps.Clone(k.moved), nil
	copied.journals, copied.postings, copied.holds = nil, nil, nil
	copied.balances = make(map[accounts.UID]*Balance, len(k.balances))
	for account, balance := range k.balances {
		now := *balance
		copied.balances[account] = &now
	}
	return &copied
}

// Of returns an account as it is after the journals so far; nil if it is not in the books, or was not locked.
func (k *Books) Of(account accounts.UID) *Balance {
	k.open()
	return k.balances[account]
}

// open reads what the batch has brought. No booking is earlier than the last one of any of these accounts,
// not even if the clock was set back, or a server with a slower one took over.
func (k *Books) open() {
	if k.balances != nil || len(k.clock.Items) == 0 {
		return
	}
	k.balances, k.at = map[accounts.UID]*Balance{}, k.clock.Items[0].At
	for _, b := range k.rows.Items {
		k.balances[b.Account] = b
		if b.BookedAt != nil && b.BookedAt.After(k.at) {
			k.at = *b.BookedAt
		}
	}
}

var (
	errUnsent   = errors.New("ledger: the books were not locked")
	errSupposed = errors.New("ledger: supposed books cannot be written")
)

// Book books journals, all or none. It returns ErrUncovered if an account does not cover what they take from
// it together.
func (k *Books) Book(journals ...*Journal) error { return k.book(false, journals) }

// Force is Book for what an account cannot refuse, such as what comes back of a debit: it may take one below
// its overdraft.
func (k *Books) Force(journals ...*Journal) error { return k.book(true, journals) }

func (k *Books) book(force bool, journals []*Journal) error {
	if err := errors.Join(k.rows.Err, k.clock.Err, k.ids.Err); err != nil {
		return err
	}
	if k.open(); k.balances == nil || k.taken+len(journals) > len(k.ids.Items) {
		return errUnsent
	}
	now := map[accounts.UID]Balance{} // of the accounts that these journals move
	var postings []*Posting
	for i, j := range journals {
		id := k.ids.Items[k.taken+i].ID
		for _, entry := range j.Entries {
			balance, moved := now[entry.Account]
			if was := k.balances[entry.Account]; was == nil {
				return fmt.Errorf("ledger: account %s is not in the books", entry.Account)
			} else if !moved {
				balance = *was
			}
			posting, err := balance.Post(id, entry.Amount)
			if err != nil {
				return err
			}
			now[entry.Account], postings = balance, append(postings, posting)
		}
	}
	for account, balance := range now {
		if !force && balance.Ledger < k.balances[account].Ledger && !balance.covered() {
			return ErrUncovered
		}
		balance.Forced = !balance.covered()
		now[account] = balance
	}
	for i, j := range journals {
		j.Tenant, j.ID, j.BookedAt = k.tenant, k.ids.Items[k.taken+i].ID, k.at
	}
	k.taken += len(journals)
	for account, balance := range now {
		*k.balances[account], k.moved[account] = balance, true
	}
	k.journals, k.postings = append(k.journals, journals...), append(k.postings, postings...)
	return nil
}

// BookedAt returns when the journals of these books are booked.
func (k *Books) BookedAt() time.Time {
	k.open()
	return k.at
}

// WriteTx writes the journals and holds, and moves the balances, at the end of the transaction.
func (k *Books) WriteTx(ctx context.Context) error {
	if k.supposed {
		return errSupposed
	}
	if len(k.moved) == 0 {
		return nil
	}
	moved := slices.Sorted(maps.Keys(k.moved))
	ledgers, helds, versions := make([]int64, len(moved)), make([]int64, len(moved)), make([]int64, len(moved))
	forced := make([]bool, len(moved))
	for i, account := range moved {
		b := k.balances[account]
		ledgers[i], helds[i], versions[i], forced[i] = b.Ledger, b.Held, b.Version, b.Forced
	}
	if err := k.writeHoldsTx(ctx); err != nil {
		return fmt.Errorf("write holds: %w", err)
	}
	if err := db.InsertAtCommit(ctx, k.journals); err != nil {
		return fmt.Errorf("write %d journals: %w", len(k.journals), err)
	}
	if err := db.InsertAtCommit(ctx, k.postings); err != nil {
		return fmt.Errorf("write %d postings: %w", len(k.postings), err)
	}
	return db.ExecAtCommit(ctx, `UPDATE balances AS b SET ledger = n.ledger, held = n.held, version = n.version,
		forced = n.forced, stranded = b.closed AND n.ledger <> 0,
		booked_at = CASE WHEN b.version < n.version THEN $6::timestamptz ELSE b.booked_at END
		FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $7::bool[])
		  AS n(account, ledger, held, version, forced)
		WHERE b.tenant = $1 AND b.account = n.account`,
		k.tenant, moved, ledgers, helds, versions, k.at, forced)
}
