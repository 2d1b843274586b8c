package holds

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"account_holds"},
	Reads: map[string]string{
		"accounts": "the state of an account, after it was locked in the books; and whose it is " +
			"decides who sees its holds",
		"holds": "an account is shown with all that the books hold, for payments too",
	},
}

// Service keeps the holds of every bank.
type Service struct {
	db             *db.DB
	customers      *customers.Service
	now            clock.Now
	paces          changes.Paces
	place, release *changes.Operation[Draft, Saved]
}

// New makes the service.
func New(d *db.DB, c *customers.Service, all *changes.Service, now clock.Now) *Service {
	s := &Service{db: d, customers: c, now: now}
	s.place = changes.Declare(all, "placeHold", "hold", access.ManageAccounts, s.placeTx).Settle(s.settleTx)
	s.release = changes.Declare(all, "releaseHold", "hold", access.ManageAccounts, s.releaseTx)
	return s
}

// Held is an amount that the books hold on an account, for a payment or because people have placed it.
type Held struct {
	ID         int64          `bun:"id"`
	Account    accounts.UID   `bun:"account"`
	UID        UID            `bun:"uid"`     // 0 for a payment's
	Payment    int64          `bun:"payment"` // 0 for what people placed
	Minor      int64          `bun:"amount"`
	Currency   money.Currency `bun:"currency"`
	Reason     string         `bun:"reason"` // "" for a payment's, as what follows but for the time
	PlacedAt   time.Time      `bun:"placed_at"`
	ExpiresAt  *time.Time     `bun:"expires_at"`
	MakerLogin string         `bun:"maker_login"`
	Version    int32          `bun:"version"`
}

// Amount returns what is held.
func (h *Held) Amount() money.Amount { return money.Of(h.Minor, h.Currency) }

// Number returns the number of what people have placed; nil for a payment's.
func (h *Held) Number() *int64 {
	if h.UID == 0 {
		return nil
	}
	number := int64(h.UID)
	return &number
}

// MostShown is how many holds of an account are read.
const MostShown = 200

var reading db.QueryCache[Held]

// OfAccounts reads what the books hold on each account, newest first, so many and MostShown at most: all
// together are the account's ledger balance less what is available. The list of an account that the caller
// may not see is empty.
func (s *Service) OfAccounts(
	ctx context.Context, b *db.Batch, of []accounts.UID, first int,
) *db.Many[accounts.UID, Held] {
	caller, err := access.Require(ctx, access.ViewAccounts)
	if err != nil {
		return db.Refuse[accounts.UID, Held](err)
	}
	text := reading.Get(caller.Reach, func() string {
		return fmt.Sprintf(`SELECT r.* FROM unnest($3::bigint[]) AS p(account) CROSS JOIN LATERAL (
			SELECT h.id, h.account, coalesce(h.placed, 0) AS uid, coalesce(h.payment, 0) AS payment, h.amount,
			  h.currency, coalesce(ah.reason, '') AS reason, h.placed_at, ah.expires_at, %s AS maker_login,
			  coalesce(ah.version, 0) AS version
			FROM holds AS h JOIN accounts AS a ON a.tenant = h.tenant AND a.uid = h.account
			LEFT JOIN account_holds AS ah ON ah.tenant = $1 AND ah.uid = h.placed
			WHERE h.tenant = $1 AND a.tenant = $1 AND h.account = p.account AND h.state = 'OPEN' AND %s
			ORDER BY h.id DESC LIMIT $4::bigint) AS r`,
			caller.Reach.OfPeople("coalesce(ah.maker_login, '')", "ah.reach", "a.customer", "ah.created_at"),
			caller.Reach.Scope("a.customer"))
	})
	return db.QueueMany(b, text, func(h *Held) accounts.UID { return h.Account }, caller.Tenant,
		caller.ScopeCustomer(), of, min(first, MostShown))
}

// expiringAtATime bounds the holds that are ended together.
const expiringAtATime = 250

type dueHold struct {
	UID UID `bun:"uid"`
}

// findingDue finds holds whose time has come.
var findingDue = db.NewQuery[dueHold](fmt.Sprintf(`SELECT uid FROM account_holds
	WHERE tenant = $1 AND status = 'Active' AND expires_at <= $2::timestamptz
	ORDER BY expires_at, uid LIMIT %d`, expiringAtATime))

// Expire ends holds of the caller's bank whose time has come, and returns how many. It is for workers: any
// number may call it at a time. One that cannot be ended at present keeps no other one.
func (s *Service) Expire(ctx context.Context) (taken int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	late, err := db.ReadPrimary(ctx, s.db, findingDue, caller.Tenant, now)
	if err == nil {
		at, is := s.paces.At(caller.Tenant, "expire holds", expiringAtATime), func(d *dueHold) changes.Thing {
			return changes.Numbered(d.UID)
		}
		taken, err = changes.AllOrEach(ctx, at, late, is, func(some []*dueHold) (n int, err error) {
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				n, err = expireDueTx(ctx, tx, caller, some, now)
				return err
			})
			if err != nil {
				return 0, err
			}
			return n, nil
		})
	}
	if err != nil {
		return taken, fmt.Errorf("expire holds: %w", err)
	}
	return taken, nil
}

// expireDueTx ends holds, except those that another worker has locked.
func expireDueTx(
	ctx context.Context, tx bun.Tx, by access.Caller, late []*dueHold, now time.Time,
) (taken int, err error) {
	uids := make([]UID, len(late))
	for i, d := range late {
		uids[i] = d.UID
	}
	var locked []*Hold
	err = tx.NewSelect().Model(&locked).Where("ah.tenant = ?", by.Tenant).
		Where("ah.uid IN (?)", bun.List(uids)).
		Where("ah.status = ?", Active).Where("ah.expires_at <= ?", now).OrderExpr("ah.expires_at, ah.uid").
		For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil || len(locked) == 0 {
		return 0, err
	}
	return len(locked), expireTx(ctx, tx, by, locked, now)
}

// expireTx ends holds, which are locked.
func expireTx(ctx context.Context, tx bun.Tx, by access.Caller, due []*Hold, now time.Time) error {
	var of []accounts.UID
	for _, h := range due {
		of = append(of, h.Account)
	}
	b := db.TxBatch(tx)
	books, ids := ledger.Lock(b, by.Tenant, of, 0), audit.TakeIDs(b, len(due))
	if err := b.Send(ctx); err != nil {
		return err
	}
	var record []events.Recorded
	for i, h := range due {
		was := *h
		if err := books.Unplace(h.Account, h.Amount(), int64(h.UID), ledger.Expired); err != nil {
			return err
		}
		h.Status, h.UpdatedAt, h.Version = Expired, now, h.Version+1
		done := changes.Change{
			Action: "expireHold", Object: "hold", UID: h.UID, Customer: int64(h.Customer), Version: h.Version,
			Before: &was, After: h,
		}.Recorded(by, "")
		done.Entry.ID = ids.Items[i].ID
		record = append(record, done)
		if err := db.ExecAtCommit(ctx, `UPDATE account_holds
			SET status = $3::text, updated_at = $4::timestamptz,
			version = $5::int WHERE tenant = $1 AND uid = $2`, by.Tenant, h.UID, h.Status, h.UpdatedAt,
			h.Version); err != nil {
			return err
		}
	}
	if err := books.WriteTx(ctx); err != nil {
		return err
	}
	return events.RecordAllTx(ctx, record)
}

type upcoming struct {
	At *time.Time `bun:"at"`
}

var findingNext = db.NewQuery[upcoming](
	`SELECT min(expires_at) AS at FROM account_holds WHERE tenant = $1 AND status = 'Active'
		AND expires_at > $2`)

// Next returns the end of the hour in which the next hold of the caller's bank expires after a time; nil if
// none will. A clock that is moved needs no stop for each: whatever else it stops for, holds expire first.
func (s *Service) Next(ctx context.Context, after time.Time) (*time.Time, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	b := s.db.PrimaryBatch()
	found := db.Queue(b, findingNext, caller.Tenant, after)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	next := found.Items[0].At
	if next != nil {
		*next = clock.UpTo(*next, time.Hour)
	}
	return next, found.Err
}
