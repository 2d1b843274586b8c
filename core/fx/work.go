package fx

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/db"
)

// atATime bounds what one call of a worker does.
const atATime = 250

// Expire ends quotes of the caller's bank whose time has passed, and returns how many. It is for workers: any
// number may call it at a time.
func (s *Service) Expire(ctx context.Context) (taken int, err error) {
	taken, err = inTurn(ctx, s,
		func(ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time) (int, error) {
			var due []*Quote
			err := tx.NewSelect().Model(&due).Where("q.tenant = ?", caller.Tenant).
				Where("q.status = ?", Open).
				Where("q.expires_at <= ?", now).OrderExpr("q.expires_at, q.uid").Limit(atATime).
				For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
			if err != nil {
				return 0, err
			}
			var record []events.Recorded
			for _, q := range due {
				was := *q
				q.Status, q.UpdatedAt, q.Version = Expired, now, q.Version+1
				record = append(record, changes.Change{
					Action: "expireQuote", Object: "quote", UID: q.UID, Customer: int64(q.Customer), Version: q.Version,
					Before: &was, After: q,
				}.Recorded(caller, ""))
				if _, err := tx.NewUpdate().Model(q).Column("status", "updated_at", "version").WherePK().
					Exec(ctx); err != nil {
					return 0, err
				}
			}
			return len(due), recordTx(ctx, tx, record)
		})
	if err != nil {
		return 0, fmt.Errorf("expire quotes: %w", err)
	}
	return taken, nil
}

// mostWithoutPrice bounds how often one call of CoverDue reads on, past trades that have no price.
const mostWithoutPrice = 40

// CoverDue covers trades of the caller's bank whose time for it has come, and returns how many. It is for
// workers: any number may call it at a time. However many have no price hold up none of the others; the
// market is asked once in a call for what it has none of, or cannot answer.
func (s *Service) CoverDue(ctx context.Context) (taken int, err error) {
	missing := map[string]error{} // by currencies and value date
	for range mostWithoutPrice {
		before := len(missing)
		n, failed := inTurn(ctx, s,
			func(ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time) (int, error) {
				return s.coverSomeTx(ctx, tx, caller, now, missing)
			})
		if taken, err = taken+n, failed; err != nil || n > 0 || len(missing) == before {
			break
		}
	}
	for _, failed := range missing {
		err = errors.Join(err, failed)
	}
	if err != nil {
		return taken, fmt.Errorf("cover trades: %w", err)
	}
	return taken, nil
}

// coverSomeTx covers trades whose time has come, but none of what the market has no price for, which it adds
// to.
func (s *Service) coverSomeTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, missing map[string]error,
) (int, error) {
	var due []*Trade
	q := tx.NewSelect().Model(&due).Where("ft.tenant = ?", caller.Tenant).Where("ft.status = ?", Booked).
		Where("ft.cover_at <= ?", now)
	if len(missing) > 0 {
		q.Where("ft.sell_currency || ft.buy_currency || ft.value_date::text NOT IN (?)",
			bun.List(slices.Collect(maps.Keys(missing))))
	}
	err := q.OrderExpr("ft.cover_at, ft.uid").Limit(atATime).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil || len(due) == 0 {
		return 0, err
	}
	b, err := bankTx(ctx, tx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	var record []events.Recorded
	for _, t := range due {
		was, of := *t, string(t.Sell)+string(t.Buy)+t.ValueDate.Format(time.DateOnly)
		if missing[of] != nil {
			continue
		}
		err := s.coveredTx(ctx, tx, b, t, now)
		if unanswered := (marketError{}); errors.As(err, &unanswered) || errors.Is(err, ErrNoPrice) {
			missing[of] = fmt.Errorf("trade %s: %w", t.UID, err)
			continue
		}
		if err != nil {
			return 0, err
		}
		t.UpdatedAt, t.Version = now, t.Version+1
		record = append(record, changes.Change{
			Action: "coverTrade", Object: "trade", UID: t.UID, Customer: int64(t.Customer), Version: t.Version,
			Before: &was, After: t,
		}.Recorded(caller, ""))
		if _, err := tx.NewUpdate().Model(t).WherePK().Exec(ctx); err != nil {
			return 0, err
		}
	}
	return len(record), recordTx(ctx, tx, record)
}

// inTurn does work of the caller's bank in a transaction.
func inTurn(
	ctx context.Context, s *Service, work func(context.Context, bun.Tx, access.Caller, time.Time) (int, error),
) (taken int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		taken, err = work(ctx, tx, caller, now)
		return err
	})
	return taken, err
}

// recordTx writes the audit entries and events of work.
func recordTx(ctx context.Context, tx bun.Tx, record []events.Recorded) error {
	if len(record) == 0 {
		return nil
	}
	b := db.TxBatch(tx)
	ids := audit.TakeIDs(b, len(record))
	if err := b.Send(ctx); err != nil {
		return err
	}
	for i := range record {
		record[i].Entry.ID = ids.Items[i].ID
	}
	return events.RecordAllTx(ctx, record)
}

type upcoming struct {
	Expires *time.Time `bun:"expires"`
	Covers  *time.Time `bun:"covers"`
}

var findingNext = db.NewQuery[upcoming](`SELECT
	(SELECT min(expires_at) FROM fx_quotes WHERE tenant = $1 AND status = 'Open' AND expires_at > $2) AS expires,
	(SELECT min(cover_at) FROM fx_trades WHERE tenant = $1 AND status = 'Booked' AND cover_at > $2) AS covers`)

// Next returns when the next quote of the caller's bank expires, or the next trade is covered by itself,
// after a time; nil if neither will.
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
	if found.Err != nil {
		return nil, found.Err
	}
	next, other := found.Items[0].Expires, found.Items[0].Covers
	if next == nil || other != nil && other.Before(*next) {
		next = other
	}
	return next, nil
}
