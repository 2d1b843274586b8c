package alerts

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/db"
)

const (
	longestLook = 500 * time.Millisecond // of one call of Fire: other work of the bank waits for it
	atATime     = 500                    // alerts that are compared in one statement, and locked at most
)

// EventKind is the kind of the event that tells of an alert that has fired. Its object is the account.
const EventKind = "balanceAlert"

// Fire compares the alerts of the caller's bank with the balances of their accounts. Those that are armed
// fire where the balance has crossed the threshold; the others are armed again where it has come back. It
// returns how many of either there were. Accounts without alerts are not read, and no balance is locked: what
// a payment books is seen by the next look. It is for workers: any number may call it at a time.
func (s *Service) Fire(ctx context.Context) (done int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	now = now.Truncate(time.Microsecond) // as it is kept
	at := s.place(caller.Tenant)
	for until := time.Now().Add(longestLook); time.Now().Before(until); {
		end, due, err := s.due(ctx, caller.Tenant, at)
		if err == nil && len(due) > 0 {
			var crossed int
			crossed, err = s.fire(ctx, caller, due, now)
			done += crossed
		}
		if err != nil {
			return done, fmt.Errorf("fire balance alerts: %w", err)
		}
		if at = end; end == 0 {
			break
		}
	}
	s.leave(caller.Tenant, at)
	return done, nil
}

// place is after which alert of a bank the next look begins.
func (s *Service) place(tenant access.Tenant) UID {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.places[tenant]
}

func (s *Service) leave(tenant access.Tenant, at UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at == 0 {
		delete(s.places, tenant)
		return
	}
	s.places[tenant] = at
}

// looked is what a look at some alerts has found.
type looked struct {
	Read int   `bun:"read"`
	Last UID   `bun:"last"`
	Due  []UID `bun:"due,array"` // whose balances have crossed their thresholds
}

// looking compares the next active alerts after a number with the balances, as look does. The limit is a part
// of the text, so that the planner knows that few balances are read.
var looking = db.NewQuery[looked](fmt.Sprintf(`WITH page AS (SELECT uid, account, balance, direction,
	threshold, currency, armed
		FROM balance_alerts WHERE tenant = $1 AND status = 'ACTIVE' AND uid > $2::bigint ORDER BY uid LIMIT %d)
	SELECT count(*) AS read, coalesce(max(p.uid), 0) AS last,
	  coalesce(array_agg(p.uid ORDER BY p.uid) FILTER (WHERE p.armed =
		CASE p.direction WHEN 'BELOW' THEN has.balance < p.threshold ELSE has.balance > p.threshold END),
		  '{}') AS due
	FROM page AS p LEFT JOIN LATERAL (SELECT b.ledger - CASE p.balance WHEN 'AVAILABLE' THEN b.held
	  ELSE 0 END AS balance
		FROM balances AS b JOIN accounts AS a ON a.tenant = $1 AND a.uid = b.account
		WHERE b.tenant = $1 AND b.account = p.account AND b.currency = p.currency
		AND a.status <> 'Closed') AS has ON true`, atATime))

// due returns the next alerts after one that there is something to do for, and the last that it has looked
// at; 0 if there are no more.
func (s *Service) due(ctx context.Context, tenant access.Tenant, after UID) (end UID, due []UID, err error) {
	b := s.db.PrimaryBatch()
	found := db.Queue(b, looking, tenant, after)
	if err := b.Send(ctx); err != nil {
		return 0, nil, err
	}
	one, err := found.One()
	if err != nil {
		return 0, nil, err
	}
	if one.Read < atATime {
		one.Last = 0
	}
	return one.Last, one.Due, nil
}

// standing is what is on an account.
type standing struct {
	Account accounts.UID `bun:"account"`
	Ledger  int64        `bun:"ledger"`
	Held    int64        `bun:"held"`
	Version int32        `bun:"version"` // of the account
}

var readingStandings = db.NewQuery[standing](`SELECT b.account, b.ledger, b.held, a.version
	FROM balances AS b JOIN accounts AS a ON a.tenant = $1 AND a.uid = b.account
	WHERE b.tenant = $1 AND b.account = ANY($2::bigint[]) AND a.status <> 'Closed'`)

// fire locks those of some alerts that nobody else is at, compares them again, and writes what has become of
// them.
func (s *Service) fire(
	ctx context.Context, worker access.Caller, due []UID, now time.Time,
) (crossed int, err error) {
	err = s.db.InTx(ctx, int64(worker.Tenant), func(ctx context.Context, tx bun.Tx) error {
		crossed = 0
		var all []*Alert
		err := tx.NewSelect().Model(&all).Where("ba.tenant = ?", worker.Tenant).
			Where("ba.uid IN (?)", bun.List(due)).
			Where("ba.status = ?", Active).OrderExpr("ba.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil || len(all) == 0 {
			return err
		}
		of := make([]accounts.UID, len(all))
		for i, a := range all {
			of[i] = a.Account
		}
		// read under the locks of the alerts: what one of them was compared with before is not newer
		b := db.TxBatch(tx)
		found := db.QueueMany(b, readingStandings, func(has *standing) accounts.UID { return has.Account },
			worker.Tenant, of)
		ids := audit.TakeIDs(b, len(all))
		if err := b.Send(ctx); err != nil {
			return err
		}
		var c crossings
		for i, a := range all {
			if has := found.Of[a.Account]; len(has) == 1 {
				c.look(a, has[0], worker, ids.Items[i].ID, now)
			}
		}
		crossed = len(c.fired) + len(c.armed)
		return c.writeTx(ctx, worker.Tenant, now)
	})
	return crossed, err
}

// crossings are alerts whose balances have crossed their thresholds.
type crossings struct {
	armed, fired []UID
	balances     []int64 // of those that have fired
	record       []events.Recorded
}

// look compares an alert with what is on its account.
func (c *crossings) look(a *Alert, has *standing, worker access.Caller, entry audit.ID, now time.Time) {
	switch {
	case !a.look(a.of(has.Ledger, has.Held), now):
	case a.Armed:
		c.armed = append(c.armed, a.UID)
	default:
		c.fired, c.balances = append(c.fired, a.UID), append(c.balances, *a.FiredBalance)
		c.record = append(c.record, firing(a, has, worker, entry))
	}
}

// firing is the entry and the event of an alert that has fired. The entry is the alert's; the event tells of
// its account.
func firing(a *Alert, has *standing, worker access.Caller, entry audit.ID) events.Recorded {
	r := changes.Change{
		Action: "fireBalanceAlert", Object: object, UID: a.UID, Customer: int64(a.Customer), Version: a.Version,
		After: a,
	}.Recorded(worker, "")
	r.Entry.ID = entry
	r.Event.Kind, r.Event.Object, r.Event.UID, r.Event.Version = EventKind, "account",
		a.Account.String(), has.Version
	return r
}

// writeTx writes what has become of the alerts, at the end of the transaction.
func (c *crossings) writeTx(ctx context.Context, tenant access.Tenant, now time.Time) error {
	if len(c.armed) > 0 {
		if err := db.ExecAtCommit(ctx,
			`UPDATE balance_alerts SET armed = true WHERE tenant = $1 AND uid = ANY($2::bigint[])`,
			tenant, c.armed); err != nil {
			return err
		}
	}
	if len(c.fired) == 0 {
		return nil
	}
	err := db.ExecAtCommit(ctx, `UPDATE balance_alerts AS ba SET armed = false, fired_at = $4::timestamptz,
		fired_balance = f.balance
		FROM unnest($2::bigint[], $3::bigint[]) AS f(uid, balance) WHERE ba.tenant = $1 AND ba.uid = f.uid`,
		tenant, c.fired, c.balances, now)
	if err != nil {
		return err
	}
	return events.RecordAllTx(ctx, c.record)
}
