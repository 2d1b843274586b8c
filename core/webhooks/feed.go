package webhooks

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// Feed is a page of the events of payments, in the order of the bank's record.
type Feed struct {
	Events []*PaymentEvent `json:"events"`
	Cursor string          `json:"cursor"` // where the next page begins, even if this one has no events
	More   bool            `json:"more"`   // the feed goes on there
}

// PaymentEvent is an event as webhooks post it.
type PaymentEvent struct {
	Cursor  string          `json:"cursor"`
	At      time.Time       `json:"at"`
	Payment payments.UID    `json:"payment"`
	Status  payments.Status `json:"status"`
	Body    string          `json:"body"` // the JSON text
}

// MostEvents is how many events a page of the feed may have.
const MostEvents = 200

// Feed reads events of the payments that the caller sees, after a place in the feed. No event is left out: a
// reader that stores its place together with its own work misses nothing, whatever becomes of deliveries.
func (s *Service) Feed(ctx context.Context, after string, first int) (*Feed, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return nil, err
	}
	if first < 1 || first > MostEvents {
		return nil, fault.Field("list", "first", fault.Malformed, fmt.Sprintf("must be 1 to %d", MostEvents))
	}
	at, err := events.ParseCursor(after)
	if err != nil {
		return nil, err
	}
	found, end, more, err := s.next(ctx, caller.Tenant, at)
	if err != nil {
		return nil, err
	}
	marks := make([]payments.StepKey, 0, len(found))
	uids := make([]payments.UID, 0, len(found))
	for _, event := range found {
		uid, _ := strconv.ParseInt(event.UID, 10, 64) // 0, which no payment has, if it is no number
		marks = append(marks, payments.StepKey{Payment: payments.UID(uid), Number: event.Version})
		uids = append(uids, payments.UID(uid))
	}
	b := s.db.PrimaryBatch()
	seen := s.payments.FindMany(ctx, b, uids, db.ColumnsOf[payments.Payment]("UID"))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	page := &Feed{Events: []*PaymentEvent{}, Cursor: end.String(), More: more}
	for i, mark := range marks {
		if len(seen.Of[mark.Payment]) == 0 {
			continue
		}
		page.Events = append(page.Events,
			&PaymentEvent{Cursor: found[i].Cursor.String(), At: found[i].At, Payment: mark.Payment})
		if marks[len(page.Events)-1] = mark; len(page.Events) == first {
			page.Cursor, page.More = found[i].Cursor.String(), more || i+1 < len(found)
			break
		}
	}
	return page, s.fill(ctx, caller, page, marks[:len(page.Events)])
}

// next reads the next events of payments of a bank.
func (s *Service) next(
	ctx context.Context, tenant access.Tenant, at events.Cursor,
) (found []events.Placed, end events.Cursor, more bool, err error) {
	err = s.db.RunInTx(ctx, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		func(ctx context.Context, tx bun.Tx) (err error) {
			found, end, more, err = events.KindTx(ctx, tx, tenant, postedObject, at, atATime)
			return err
		})
	if err != nil {
		err = fmt.Errorf("read the events of payments after %s: %w", at, err)
	}
	return found, end, more, err
}

// fill writes what the events of a page say, and drops those that are about no step of a payment.
func (s *Service) fill(
	ctx context.Context, caller access.Caller, page *Feed, marks []payments.StepKey,
) error {
	all, err := s.payments.Snapshots(ctx, marks)
	if err != nil {
		return err
	}
	kept := page.Events[:0]
	for i, event := range page.Events {
		of := all[marks[i]]
		if of == nil {
			continue
		}
		text, err := body(of, caller.Location())
		if err != nil {
			return err
		}
		event.Status, event.Body = of.Status(), string(text)
		kept = append(kept, event)
	}
	page.Events = kept
	return nil
}

// oldOnes finds some deliveries that are removed.
type oldOnes func(ctx context.Context, tx bun.Tx, tenant access.Tenant, before time.Time) ([]DeliveryUID,
	error)

// doneTx finds deliveries that arrived, or were given up, before a time.
func doneTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, before time.Time,
) (old []DeliveryUID, err error) {
	err = db.Raw(tx,
		`SELECT uid FROM webhook_deliveries WHERE tenant = ? AND done_at < ? ORDER BY done_at LIMIT ?`,
		tenant, before, purgedAtATime).Scan(ctx, &old)
	return old, err
}

// forsakenTx finds deliveries of one webhook to which nothing is posted, as it is disabled or its customer is
// not active, which wait and were due before a time. Its lock keeps others from posting them meanwhile.
func forsakenTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, before time.Time,
) (old []DeliveryUID, err error) {
	const waiting = `SELECT d.uid FROM webhook_deliveries AS d WHERE d.tenant = ?0 AND d.webhook = w.uid
		AND d.state = 'WAITING' AND d.due_at < ?1`
	err = db.Raw(tx, `WITH hook AS (SELECT w.uid FROM webhooks AS w WHERE w.tenant = ?0
		  AND (w.status IN ('Disabled', 'Deleted') OR NOT `+ofWorking("?0", "?3")+`)
		  AND EXISTS (`+waiting+`) LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
		SELECT d.uid FROM hook AS w CROSS JOIN LATERAL (`+waiting+` ORDER BY d.due_at, d.uid LIMIT ?2) AS d`,
		tenant, before, purgedAtATime, bun.List(customers.Working)).Scan(ctx, &old)
	return old, err
}

// purge removes deliveries with their attempts, and returns how many. Where these are many, it removes some
// of them, and the deliveries another time.
func (s *Service) purge(
	ctx context.Context, tenant access.Tenant, before time.Time, find oldOnes,
) (purged int, err error) {
	err = s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		old, err := find(ctx, tx, tenant, before)
		if purged = len(old); err != nil || len(old) == 0 {
			return err
		}
		most := purgedAtATime * MostAttempts
		gone, err := db.Raw(tx, `DELETE FROM webhook_attempts WHERE tenant = ?0 AND (delivery, number) IN (
			SELECT delivery, number FROM webhook_attempts WHERE tenant = ?0 AND delivery IN (?1) LIMIT ?2)`,
			tenant, bun.List(old), most).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := gone.RowsAffected(); err != nil || n == int64(most) {
			purged = int(n)
			return err
		}
		_, err = db.Raw(tx, `DELETE FROM webhook_deliveries WHERE tenant = ? AND uid IN (?)`, tenant,
			bun.List(old)).Exec(ctx)
		return err
	})
	return purged, err
}
