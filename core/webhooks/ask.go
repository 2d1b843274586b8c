package webhooks

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/db"
)

// Replay says which events a webhook is to get again: those after a place in the feed, or those since a time.
type Replay struct {
	After string     `json:"after,omitempty"` // as events.Cursor writes it
	Since *time.Time `json:"since,omitempty"`
}

// check returns where the replay begins.
func (r Replay) check() (events.Cursor, error) {
	if (r.After == "") == (r.Since == nil) {
		return events.Cursor{}, fault.Field("webhook", "after", fault.Malformed,
			"give exactly one of after and since")
	}
	if r.Since != nil {
		return events.Cursor{}, nil
	}
	place, err := events.ParseCursor(r.After)
	return place, afterward(err)
}

// afterward says of a fault of a place in the feed that it is in after, by which a replay names one.
func afterward(err error) error {
	if wrong, is := fault.Of(err); is && wrong.Subject == "feed" {
		return fault.Field("webhook", "after", wrong.Problem, wrong.Message)
	}
	return err
}

// Asked is the answer to a request to post something.
type Asked struct {
	Delivery DeliveryUID `json:"delivery"`
}

// Replay posts events of the feed again, up to now: those that were posted before keep their ids, and those
// from before the webhook was made are posted for the first time.
func (s *Service) Replay(
	ctx context.Context, uid UID, from Replay, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.replay.Require(ctx, uid.String())
	if err == nil {
		_, err = from.check()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.replay.Do(ctx, caller, changes.Target{UID: uid.String()}, from, options)
}

// Test posts a message that is about no payment.
func (s *Service) Test(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Asked], error) {
	return simple(ctx, s.test, uid, options)
}

// Resend posts a delivery again, under the same id, whatever became of it before.
func (s *Service) Resend(
	ctx context.Context, uid DeliveryUID, options changes.RequestOptions,
) (changes.Outcome[Asked], error) {
	return simple(ctx, s.resend, uid, options)
}

func (s *Service) replayTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, from Replay,
) (Saved, error) {
	place, err := from.check()
	if err != nil {
		return Saved{}, err
	}
	return saved(s.lifecycle(s.customers.HoldTx, nil).Modify(ctx, tx, at, func(_, now *Webhook) error {
		if err := now.directsTx(ctx, tx); err != nil {
			return err
		}
		if now.Status != Active {
			return ErrStatus.With(string(now.Status))
		}
		place, err := events.PlaceTx(ctx, tx.Tx, now.Tenant, place)
		if err != nil {
			return afterward(err)
		}
		if now.ReplayFrom < now.ReplayTo {
			now.replayToo(place.Seq, from.Since)
		} else {
			now.ReplayFrom, now.ReplaySince, now.ReplayAfter = place.Seq, from.Since, nil
		}
		now.ReplayTo, err = events.LastTx(ctx, tx.Tx, now.Tenant)
		return err
	}))
}

// replayToo adds to a replay that is under way the events after a place, or those since a time.
func (w *Webhook) replayToo(place int64, since *time.Time) {
	switch {
	case since == nil && w.ReplaySince != nil:
		w.ReplayAfter = new(min(place, *cmp.Or(w.ReplayAfter, &place)))
	case since != nil && w.ReplaySince == nil:
		w.ReplaySince, w.ReplayAfter = since, new(w.ReplayFrom)
	case since != nil && since.Before(*w.ReplaySince):
		w.ReplaySince = since
	}
	w.ReplayFrom = min(w.ReplayFrom, place)
}

func (s *Service) testTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Asked, error) {
	held, err := customers.Hold(s.customers.HoldTx).Of("webhooks", "uid", ErrNotFound)(ctx, tx, &at)
	if err != nil {
		return Asked{}, err
	}
	w, err := lock(ctx, tx, held, at)
	if err != nil {
		return Asked{}, err
	}
	if w.Status != Active {
		return Asked{}, ErrStatus.With(string(w.Status))
	}
	d := &Delivery{
		Tenant: w.Tenant, Webhook: w.UID, Customer: w.Customer, State: Waiting, DueAt: s.now(), CreatedAt: s.now(),
	}
	if _, err := tx.NewInsert().Model(d).Returning("uid").Exec(ctx); err != nil {
		return Asked{}, err
	}
	return Asked{d.UID}, tx.Record(ctx, changes.Change{
		UID: w.UID, Customer: int64(w.Customer),
		Version: w.Version,
	})
}

func (s *Service) resendTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Asked, error) {
	_, err := customers.Hold(s.customers.HoldTx).Of("webhook_deliveries", "uid", ErrDelivery)(ctx, tx, &at)
	if err != nil {
		return Asked{}, err
	}
	d := new(Delivery)
	q := tx.NewSelect().Model(d).Where("wd.tenant = ?", tx.Caller.Tenant).
		Where("wd.uid = ?", at.UID).Where("wd.customer = ?", at.Customer)
	if d, err = changes.Lock(ctx, q, d, ErrDelivery); err != nil {
		return Asked{}, err
	}
	w := new(Webhook)
	if err := tx.NewSelect().Model(w).Where("w.tenant = ?", d.Tenant).Where("w.uid = ?", d.Webhook).
		Scan(ctx); err != nil {
		return Asked{}, err
	}
	if w.Status == Deleted {
		return Asked{}, ErrDelivery
	}
	if err := w.directsTx(ctx, tx); err != nil {
		return Asked{}, err
	}
	switch {
	case w.Status != Active:
		return Asked{}, ErrStatus.With(string(w.Status))
	case d.LeasedUntil != nil && d.LeasedUntil.After(s.now()):
		return Asked{}, ErrLeased
	}
	_, err = tx.NewRaw(`UPDATE webhook_deliveries SET state = ?, due_at = ?, tries = 0, tried_at = NULL,
		done_at = NULL
		WHERE tenant = ? AND uid = ?`, Waiting, s.now(), d.Tenant, d.UID).Exec(ctx)
	if err != nil {
		return Asked{}, err
	}
	return Asked{d.UID}, tx.Record(ctx, changes.Change{UID: d.UID, Customer: int64(d.Customer)})
}

// Backlog is how far a bank is behind with posting to its active webhooks, but those of customers that are not
// active: nothing is posted to them meanwhile.
type Backlog struct {
	Waiting int64         `bun:"waiting"` // up to MostCounted
	Parked  int64         `bun:"parked"`  // likewise
	Age     time.Duration `bun:"-"`       // of the oldest of the next deliveries of each webhook
}

// MostCounted bounds the deliveries that are counted, as that is done again and again.
const MostCounted = 10_000

// backlog reads how far the bank $1 is behind, each webhook by indexes of what waits and what is parked. Of a
// webhook the first hundred that are due tell how old what waits is. $2 is customers.Working.
var backlog = db.NewQuery[behind](fmt.Sprintf(`WITH hooks AS (
	  SELECT w.uid FROM webhooks AS w WHERE w.tenant = $1 AND w.status = 'Active' AND %[2]s)
	SELECT (SELECT count(*) FROM (SELECT FROM hooks CROSS JOIN LATERAL (SELECT FROM webhook_deliveries AS d
	    WHERE d.tenant = $1 AND d.webhook = hooks.uid AND d.state = 'WAITING' LIMIT %[1]d) AS d
	    LIMIT %[1]d) AS w)
	  AS waiting,
	(SELECT count(*) FROM (SELECT FROM hooks CROSS JOIN LATERAL (SELECT FROM webhook_deliveries AS d
	    WHERE d.tenant = $1 AND d.webhook = hooks.uid AND d.state = 'PARKED' LIMIT %[1]d) AS d LIMIT %[1]d) AS p)
	  AS parked,
	(SELECT min(d.created_at) FROM hooks CROSS JOIN LATERAL (SELECT created_at FROM webhook_deliveries AS d
	    WHERE d.tenant = $1 AND d.webhook = hooks.uid AND d.state = 'WAITING' ORDER BY d.due_at, d.uid
	    LIMIT 100) AS d)
	  AS oldest`, MostCounted, ofWorking("$1", "SELECT unnest($2::text[])")))

type behind struct {
	Backlog `bun:",extend"`

	Oldest *time.Time `bun:"oldest"`
}

// Backlog reads how far the caller's bank is behind.
func (s *Service) Backlog(ctx context.Context) (*Backlog, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	rows, err := db.ReadPrimary(ctx, s.db, backlog, caller.Tenant, db.Texts(customers.Working))
	if err != nil {
		return nil, err
	}
	found := rows[0]
	if found.Oldest != nil {
		found.Age = max(0, s.now().Sub(*found.Oldest))
	}
	return &found.Backlog, nil
}

// purgedAtATime bounds the deliveries that one call of Purge removes.
const purgedAtATime = 200

// Purge removes some deliveries, with their attempts, that arrived or were given up longer ago than
// olderThan, or were due so long ago and wait for a webhook that is disabled, or whose customer is
// not active. It returns how many; how many attempts, where these were so many that the deliveries stay.
func (s *Service) Purge(ctx context.Context, olderThan time.Duration) (purged int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	before := s.now().Add(-olderThan)
	for _, old := range []oldOnes{doneTx, forsakenTx} {
		if purged, err = s.purge(ctx, caller.Tenant, before, old); purged > 0 || err != nil {
			return purged, err
		}
	}
	return 0, nil
}
