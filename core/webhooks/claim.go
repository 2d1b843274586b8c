package webhooks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/db"
)

const (
	// lease, beyond the time limit of an answer, is how long no other worker posts a delivery. It ends by
	// itself if a worker stops in the middle; another one then posts the delivery once more, under the same
	// id.
	lease = 30 * time.Second
	// mostAtOnce is how many deliveries of one webhook are posted at a time; while the webhook fails, it is
	// one.
	mostAtOnce = 4
	// mostWebhooks bounds the webhooks of one claim that do not fail, and those that do.
	mostWebhooks = 64
	// lookedAtATime is how many webhooks for which something waits one claim looks at. Where there are more, the
	// next claim goes on behind them.
	lookedAtATime = 5000
	// clocksDiffer is how much those of workers may.
	clocksDiffer = time.Minute
)

// Due is a delivery that this worker is to post.
type Due struct {
	Delivery `bun:",extend"`

	webhook *turn
	secrets *secretsOf
	local   bool
}

// Failing reports whether the webhook's last deliveries have failed.
func (d *Due) Failing() bool { return d.webhook.FailingSince != nil }

// Party returns the party whose share of the room the delivery takes.
func (d *Due) Party() customers.UID { return d.webhook.Party }

// Room is how many more deliveries a worker has room for.
type Room struct {
	All, Failing int // Failing is how many of All may go to webhooks that fail
	// Each bounds the deliveries that a party has in work: a partner with its customers, or a customer of the
	// bank's own. What others have in work lowers it by half of that, so that a party has half of what the
	// others leave, and there is always a place left for one more. Webhooks that fail may use half of it. So
	// parties with many slow webhooks do not hold up the others.
	Each  int
	Taken map[customers.UID]int // how many deliveries each party has in work
}

// of returns how many deliveries a party may have in work; fails says that they go to webhooks that fail.
func (r Room) of(party customers.UID, fails bool) int {
	others := -r.Taken[party]
	for _, n := range r.Taken {
		others += n
	}
	each := r.Each - others/2
	if fails {
		each /= 2
	}
	return max(1, each)
}

// full returns the parties that have no room left.
func (r Room) full(fails bool) (all []customers.UID) {
	for party, taken := range r.Taken {
		if taken >= r.of(party, fails) {
			all = append(all, party)
		}
	}
	return all
}

// turn is a webhook whose turn it is.
type turn struct {
	Webhook `bun:",extend"`

	Party customers.UID `bun:"party,scanonly"` // the party whose share it takes
}

// Claim takes deliveries that are due, for this worker. It takes no more than the worker has room for; to
// webhooks that fail, no more than there is room for those; and of each party, no more than its share. Each
// webhook has few deliveries in work among all workers, so that a slow one does not hold up the others. The
// events of a payment are posted in their order. Deliveries are taken even if it returns an error: one of a
// webhook whose secret is damaged is parked when it is posted. Those of webhooks whose secrets are sealed
// under keys that this program lacks are left to others, which the log tells.
func (s *Service) Claim(ctx context.Context, room Room) (due []*Due, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil || room.All <= 0 {
		return nil, err
	}
	waiting, next, err := s.waiting(ctx, caller.Tenant)
	waiting = s.foreign.without(caller.Tenant, waiting, s.now())
	if err != nil || len(waiting) == 0 {
		s.looked.Give(caller.Tenant, next)
		return nil, err
	}
	var secrets []*secret
	var local bool
	var foreign map[UID]uint32
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		due, secrets, foreign = nil, nil, nil
		hooks, err := s.claimHooksTx(ctx, tx, caller.Tenant, waiting, room.full(false), false)
		if err == nil && room.Failing > 0 {
			var fail []*turn
			fail, err = s.claimHooksTx(ctx, tx, caller.Tenant, waiting, room.full(true), true)
			hooks = append(hooks, fail...)
		}
		if err != nil || len(hooks) == 0 {
			return err
		}
		b := db.TxBatch(tx)
		uids := make([]UID, 0, len(hooks))
		for _, w := range hooks {
			uids = append(uids, w.UID)
		}
		found, sandbox := db.Queue(b, readingSecrets, caller.Tenant, uids),
			db.Queue(b, readingSandbox, caller.Tenant)
		if err := b.Send(ctx); err != nil {
			return err
		}
		secrets, local = found.Items, s.options.Loopback && sandbox.Items[0].N > 0
		foreign = s.lacking(secrets, s.now())
		hooks = slices.DeleteFunc(hooks, func(w *turn) bool { return foreign[w.UID] != 0 })
		secrets = slices.DeleteFunc(secrets, func(row *secret) bool { return foreign[row.Webhook] != 0 })
		due, err = s.claimTx(ctx, tx, caller.Tenant, hooks, room)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("claim deliveries: %w", err)
	}
	s.looked.Give(caller.Tenant, next)
	s.foreign.found(ctx, caller, foreign, s.now())
	opened, err := s.openSecrets(secrets, s.now())
	for _, d := range due {
		d.secrets, d.local = opened[d.webhook.UID], local
	}
	return due, err
}

var (
	readingSecrets = db.NewQuery[secret](db.Select[secret](db.Columns{}, nil).Where("ws.tenant = $1").
			Where("ws.webhook = ANY($2::bigint[])").OrderExpr("ws.id DESC").String())
	readingSandbox = db.NewQuery[db.Count](`SELECT count(*) AS n FROM tenants WHERE id = $1 AND sandbox`)
)

// waiter is a webhook for which something waits.
type waiter struct {
	Webhook UID  `bun:"webhook"`
	Due     bool `bun:"due"`    // something of it
	Beyond  bool `bun:"beyond"` // something waits for longer than it can, or was made later than now
}

// nextWaiting returns the next webhook behind one for which something waits. LIMIT has only that one read,
// whatever the planner guesses of how many there are; min would not.
func nextWaiting(behind string) string {
	return `(SELECT webhook FROM webhook_deliveries WHERE tenant = $1 AND state = 'WAITING' AND webhook > ` +
		behind + `
	  ORDER BY webhook LIMIT 1)`
}

// waitingText finds the next webhooks for which something waits, one by one by an index: the many for which
// nothing does are not read.
var waitingText = fmt.Sprintf(`WITH RECURSIVE waiting AS (
	  SELECT 1 AS number, `+nextWaiting("$2::bigint")+` AS webhook
	  UNION ALL
	  SELECT number + 1, `+nextWaiting("waiting.webhook")+` FROM waiting
	  WHERE webhook IS NOT NULL AND number < %d
	)
	SELECT n.webhook, coalesce((SELECT due_at FROM webhook_deliveries WHERE tenant = $1 AND webhook = n.webhook
	  AND state = 'WAITING' ORDER BY due_at LIMIT 1) <= $3::timestamptz, false) AS due,
	  coalesce((SELECT due_at FROM webhook_deliveries WHERE tenant = $1 AND webhook = n.webhook
	  AND state = 'WAITING' ORDER BY due_at DESC LIMIT 1) > $4::timestamptz, false)
	  OR coalesce((SELECT due_at > $3::timestamptz AND tries = 0 AND created_at > $5::timestamptz
	    FROM webhook_deliveries WHERE tenant = $1 AND webhook = n.webhook AND state = 'WAITING'
	    ORDER BY due_at LIMIT 1), false)
	  OR (SELECT leased_until FROM webhook_deliveries WHERE tenant = $1 AND webhook = n.webhook
	    AND leased_until > $4::timestamptz LIMIT 1) IS NOT NULL AS beyond
	FROM waiting AS n WHERE n.webhook IS NOT NULL`, lookedAtATime)

var findingWaiting = db.NewQuery[waiter](waitingText)

// waiting returns webhooks of which something is due, and behind which one the next claim looks; 0: from the
// first one on.
func (s *Service) waiting(ctx context.Context, tenant access.Tenant) (due []UID, next UID, err error) {
	now := s.now()
	beyond, ahead := now.Add(longestTrying+time.Hour), now.Add(clocksDiffer)
	all, err := db.ReadPrimary(ctx, s.db, findingWaiting, tenant, s.looked.Last(tenant), now, beyond, ahead)
	if err != nil {
		return nil, 0, fmt.Errorf("look for deliveries that are due: %w", err)
	}
	var back []UID
	for _, w := range all {
		if w.Due || w.Beyond {
			due = append(due, w.Webhook)
		}
		if w.Beyond {
			back = append(back, w.Webhook)
		}
	}
	if len(back) > 0 {
		if err := s.bringBack(ctx, tenant, back, now, beyond, ahead); err != nil {
			return nil, 0, err
		}
	}
	if len(all) == lookedAtATime {
		next = all[len(all)-1].Webhook
	}
	return due, next, nil
}

// bringBack makes due what waits for longer than anything can, or was made later than ahead and never tried,
// and ends leases that are longer: they were written while this machine's clock was ahead. What was tried
// keeps its time, and leases of less: it may be this clock that is behind.
func (s *Service) bringBack(
	ctx context.Context, tenant access.Tenant, of []UID, now, beyond, ahead time.Time,
) error {
	err := s.db.InTx(ctx, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		// webhooks are locked before their deliveries, as in Claim
		if _, err := db.Raw(tx, `SELECT FROM webhooks WHERE tenant = ? AND uid IN (?)
			ORDER BY uid FOR NO KEY UPDATE`,
			tenant, bun.List(of)).Exec(ctx); err != nil {
			return err
		}
		_, err := db.Raw(tx, `UPDATE webhook_deliveries SET due_at = least(due_at, ?0),
			leased_until = CASE WHEN leased_until > ?1 THEN NULL ELSE leased_until END
			WHERE tenant = ?2 AND webhook IN (?3) AND state = 'WAITING' AND (due_at > ?1 OR leased_until > ?1
			  OR due_at > ?0 AND tries = 0 AND created_at > ?4)`, now, beyond, tenant, bun.List(of), ahead).
			Exec(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("bring back deliveries that wait for too long: %w", err)
	}
	return nil
}

// claimHooksTx locks those of some webhooks of which something can be posted now, either those that fail or
// the others. Parties take turns, so that nobody's many webhooks keep those of others waiting; of each
// party's, and of those whose turn it is, the ones that have waited longest come first. No two workers take
// deliveries of one webhook at the same time. A webhook takes no place if nothing of it can be posted,
// because enough is in work or waits for an earlier event, or if its party has no room left. Webhooks of
// customers that are not active, or whose partner is not, wait.
func (s *Service) claimHooksTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of []UID, full []customers.UID, fails bool,
) (hooks []*turn, err error) {
	most := mostAtOnce
	if fails {
		most = 1
	}
	now, bank := s.now(), db.Number(tenant)
	ready := tx.NewSelect().TableExpr("webhooks AS w").Column("w.uid", "w.claimed_at").
		ColumnExpr(partyOf+" AS party", bank).
		Where("w.tenant = ?", bank).Where("w.uid IN (?)", bun.List(of)).Where("w.status = ?", Active).
		Where("(w.failing_since IS NOT NULL) = ?", fails).
		Where(`EXISTS (SELECT FROM webhook_deliveries AS d WHERE d.tenant = ?0 AND d.webhook = w.uid
			AND d.state = 'WAITING'
			AND d.due_at <= ?1 AND (d.leased_until IS NULL OR d.leased_until <= ?1)
			AND NOT `+waitsBehind("?0")+` OFFSET 0)`, bank, now).
		Where(`(SELECT count(*) FROM webhook_deliveries AS l WHERE l.tenant = ? AND l.webhook = w.uid
			AND l.leased_until > ?) < ?`, bank, now, most).
		Where(ofWorking("?0", "?1"), bank, bun.List(customers.Working))
	if len(full) > 0 {
		ready = ready.Where(partyOf+" NOT IN (?)", bank, bun.List(full))
	}
	turns := tx.NewSelect().TableExpr("(?) AS r", ready).Column("r.uid", "r.party").ColumnExpr(
		"row_number() OVER (PARTITION BY r.party ORDER BY r.claimed_at NULLS FIRST, r.uid) AS turn")
	return hooks, tx.NewSelect().Model(&hooks).ColumnExpr("?TableColumns").ColumnExpr("t.party").
		Join("JOIN (?) AS t ON t.uid = w.uid", turns).Where("w.tenant = ?", bank).
		Where("w.status = ?", Active).
		OrderExpr("t.turn, w.claimed_at NULLS FIRST, w.uid").Limit(mostWebhooks).
		For("NO KEY UPDATE OF w SKIP LOCKED").Scan(ctx)
}

// ofWorking returns the condition that the customer of a webhook is active, and so is its partner.
func ofWorking(tenant, states string) string {
	return `EXISTS (SELECT FROM customers AS c
		LEFT JOIN customers AS o ON o.tenant = ` + tenant + ` AND o.uid = c.owner AND o.uid <> c.uid
		WHERE c.tenant = ` + tenant + ` AND c.uid = w.customer AND c.status IN (` + states + `)
		AND (o.status IS NULL OR o.status IN (` + states + `)))`
}

// partyOf is the party whose share a webhook takes.
const partyOf = `(SELECT coalesce(nullif(o.owner, 0), o.uid) FROM customers AS o
	WHERE o.tenant = ? AND o.uid = w.customer)`

// waitsBehind returns the condition that an earlier event of the payment waits, too. If PostgreSQL expects
// few rows to wait, or of a webhook, it would read all of them. A row that is selected is no join. The text
// that is added to the state keeps it from the index of what waits, and the order from those of a webhook's
// others: they do not lead to the payment.
func waitsBehind(tenant string) string {
	return `((SELECT e.number FROM webhook_deliveries AS e WHERE e.tenant = ` + tenant +
		` AND e.webhook = d.webhook
		AND e.payment = d.payment AND e.number < d.number AND e.state || '' = 'WAITING'
		ORDER BY e.number LIMIT 1) IS NOT NULL)`
}

var claiming = db.NewQuery[Due](`WITH possible AS (
		SELECT d.uid, h.place, h.room, row_number() OVER (PARTITION BY h.party ORDER BY h.place) AS number
		FROM unnest($2::bigint[], $3::int[], $7::bigint[], $8::int[]) WITH ORDINALITY AS h(webhook, most, party,
		  room, place)
		CROSS JOIN LATERAL (
			SELECT d.uid FROM webhook_deliveries AS d WHERE d.tenant = $1 AND d.webhook = h.webhook
			  AND d.state = 'WAITING'
			AND d.due_at <= $4 AND (d.leased_until IS NULL OR d.leased_until <= $4)
			AND NOT ` + waitsBehind("$1") + `
			ORDER BY d.due_at, d.uid LIMIT greatest(0, h.most - (SELECT count(*) FROM webhook_deliveries AS l
				WHERE l.tenant = $1 AND l.webhook = h.webhook AND l.leased_until > $4))) AS d),
	next AS (SELECT uid FROM possible WHERE number <= room ORDER BY place LIMIT $5::bigint),
	taken AS (UPDATE webhook_deliveries AS wd SET attempts = wd.attempts + 1, tries = wd.tries + 1,
			leased_until = $6, tried_at = coalesce(wd.tried_at, $4)
		FROM next WHERE wd.tenant = $1 AND wd.uid = next.uid
		RETURNING wd.tenant, wd.uid, wd.webhook, wd.customer, coalesce(wd.payment, 0) AS payment,
		  coalesce(wd.posting, 0) AS posting, wd.number, wd.attempts,
			wd.tries, wd.tried_at),
	noted AS (INSERT INTO webhook_attempts (tenant, delivery, number, at)
		SELECT tenant, uid, attempts, $4 FROM taken),
	dropped AS (DELETE FROM webhook_attempts AS old USING taken
		WHERE old.tenant = $1 AND old.delivery = taken.uid AND old.number = taken.attempts - $9::int),
	turned AS (UPDATE webhooks AS w SET claimed_at = $4 FROM (SELECT DISTINCT webhook FROM taken) AS t
		WHERE w.tenant = $1 AND w.uid = t.webhook)
	SELECT * FROM taken ORDER BY uid`)

// claimTx takes deliveries of webhooks, which are locked: first of those that do not fail.
func (s *Service) claimTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, hooks []*turn, room Room,
) (due []*Due, err error) {
	by := map[UID]*turn{}
	room.Taken = maps.Clone(room.Taken)
	if room.Taken == nil {
		room.Taken = map[customers.UID]int{}
	}
	for _, fails := range []bool{false, true} {
		var uids []UID
		var parties []customers.UID
		var most, rooms []int32
		planned, share := room, map[customers.UID]int{}
		planned.Taken = maps.Clone(room.Taken)
		for _, w := range hooks {
			if by[w.UID] = w; (w.FailingSince != nil) != fails {
				continue
			}
			uids, most, parties = append(uids, w.UID), append(most, mostAtOnce), append(parties, w.Party)
			if _, known := share[w.Party]; !known { // beside what the parties before it may take just now
				share[w.Party] = max(0, planned.of(w.Party, fails)-planned.Taken[w.Party])
				planned.Taken[w.Party] += share[w.Party]
			}
			rooms = append(rooms, int32(share[w.Party])) //nolint:gosec // a few
			if fails {
				most[len(most)-1] = 1
			}
		}
		left := room.All - len(due)
		if fails {
			left = min(left, room.Failing)
		}
		if len(uids) == 0 || left <= 0 {
			continue
		}
		b := db.TxBatch(tx)
		now := s.now()
		found := db.Queue(b, claiming, tenant, uids, most, now, left,
			now.Add(s.options.Limit+lease), parties, rooms, MostAttempts)
		if err := b.Send(ctx); err != nil {
			return nil, err
		}
		for _, d := range found.Items {
			d.webhook = by[d.Webhook]
			room.Taken[d.Party()]++
		}
		due = append(due, found.Items...)
	}
	return due, nil
}
