package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// dueAtATime bounds the payments of one kind that one call of CarryOutDue carries out.
const dueAtATime = 250

// dueKind is the SQL expression for a payment's kind, as in the index payments_scheduled (dueKinds).
const dueKind = `(CASE WHEN rail = 'SWIFT' THEN 'ABROAD' WHEN rail = 'BOOK' THEN 'BOOK'
  WHEN speed = 'Economy' THEN 'ECONOMY' ELSE 'OTHER' END)`

// dueKinds are the kinds of payments that are due by a date. Payments abroad are due by a time.
var dueKinds = []string{"BOOK", "ECONOMY", "OTHER"}

// leaving is the kind of payments abroad.
const leaving = "ABROAD"

// scheduledOfKind is the condition that a payment of the bank $1 is of kinds.kind and waits for its day.
const scheduledOfKind = `tenant = $1 AND state = 'SCHEDULED' AND ` + dueKind + ` = kinds.kind`

// inTurns is the text of what of a table is due of each of the kinds $2 until the days $3, of the first such
// day: one of each customer that follows a place in $4, then a second one of each, and so on, $6 at most, but
// none of $5, which failed. So a customer with a hundred thousand things of one day keeps nobody else
// waiting. Things of later days are not read. Each next day and customer is found by LIMIT: where PostgreSQL
// expects one row, it plans min as a sum of all.
func inTurns(table, ofKind, date string) string {
	return turnsOf("unnest($2::text[], $3::text[]::date[], $4::bigint[])", table, ofKind, date)
}

// turnsOf is the text of inTurns for kinds, days or times, and places that another text says.
func turnsOf(kinds, table, ofKind, date string) string {
	return strings.NewReplacer("KINDS", kinds, "TABLE", table, "OF_KIND", ofKind, "DATE", date).Replace(
		`SELECT kinds.kind, found.uid, found.customer
	FROM KINDS AS kinds (kind, until, place) CROSS JOIN LATERAL (
	  WITH RECURSIVE first AS (
	    SELECT DATE AS day FROM TABLE WHERE OF_KIND AND DATE <= kinds.until AND uid <> ALL ($5::bigint[])
	    ORDER BY DATE LIMIT 1
	  ), whose AS (
	    SELECT 1 AS number, (SELECT customer FROM TABLE WHERE OF_KIND
	      AND DATE = (SELECT day FROM first) AND customer > kinds.place ORDER BY customer LIMIT 1) AS customer
	    UNION ALL
	    SELECT number + 1, (SELECT customer FROM TABLE WHERE OF_KIND
	      AND DATE = (SELECT day FROM first) AND customer > whose.customer ORDER BY customer LIMIT 1)
	    FROM whose WHERE customer IS NOT NULL AND number < $6::bigint
	  )
	  SELECT next.uid, whose.customer FROM whose CROSS JOIN LATERAL (
	    SELECT uid, row_number() OVER (ORDER BY uid) AS turn FROM (
	      SELECT uid FROM TABLE WHERE OF_KIND AND DATE = (SELECT day FROM first)
	        AND customer = whose.customer AND uid <> ALL ($5::bigint[])
	      ORDER BY uid LIMIT $6::bigint) AS pay) AS next
	  ORDER BY next.turn, whose.number LIMIT $6::bigint) AS found`)
}

// nextDue finds payments of each kind whose day has come, and those abroad that leave by $7, of customers
// that follow $8: all of one day leave at its beginning.
var nextDue = inTurns("payments", scheduledOfKind, "payment_date") + " UNION ALL " +
	turnsOf("(SELECT '"+leaving+"', $7::timestamptz, $8::bigint)", "payments",
		"tenant = $1 AND state = 'SCHEDULED' AND rail = 'SWIFT'", "send_at")

var findingDue = db.NewQuery[dueNow](nextDue)

// dueNow is a payment, or a series, whose day has come.
type dueNow struct {
	Kind     string        `bun:"kind"`
	UID      UID           `bun:"uid"`
	Customer customers.UID `bun:"customer"`
}

// CarryOutDue carries out payments of the caller's bank whose day has come, and returns how many it took. One
// that cannot be carried out becomes Invalid, with the reason. One that fails for a reason of ours is left as
// it is, and its error is returned once all the others, later ones too, are carried out. Of each kind, a call
// takes payments of the first day on which any still wait. It is for workers: any number may call it at the
// same time.
func (s *Service) CarryOutDue(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	at := s.paces.At(caller.Tenant, "carry out due payments", dueAtATime)
	places, skipped := s.due.of(caller.Tenant), []int64{} // not NULL
	for range mostPasses {
		due, stopped := s.nextDue(ctx, caller, now, places, skipped)
		if stopped == nil && len(due) == 0 && places != (duePlaces{}) {
			places = duePlaces{} // from the first customer on
			continue
		}
		n, stuck, failed := 0, []int64(nil), error(nil)
		if stopped == nil {
			is := func(d *dueNow) changes.Thing { return changes.Numbered(d.UID) }
			n, stopped = changes.AllOrEach(ctx, at, due, is, func(some []*dueNow) (int, error) {
				n, left, why, err := s.carryOutAll(ctx, caller, now, some)
				stuck, failed = append(stuck, left...), errors.Join(failed, why)
				return n, err
			})
		}
		taken, skipped, err = taken+n, append(skipped, stuck...), errors.Join(err, failed, stopped)
		places = places.after(due)
		if len(stuck) == 0 || stopped != nil || taken >= dueAtATime {
			break
		}
	}
	s.due.leave(caller.Tenant, places)
	if err != nil {
		return taken, fmt.Errorf("carry out due payments: %w", err)
	}
	return taken, nil
}

// nextDue returns payments whose day has come.
func (s *Service) nextDue(
	ctx context.Context, caller access.Caller, now time.Time, places duePlaces, skipped []int64,
) (due []*dueNow, err error) {
	return db.ReadPrimary(ctx, s.db, findingDue, caller.Tenant, dueKinds, dueUntil(caller, now),
		places.dated(), skipped, dueAtATime, now, places[len(dueKinds)])
}

// dueUntil are the last days of which things of each of dueKinds are due.
func dueUntil(caller access.Caller, now time.Time) []string {
	today := calendar.Today(now)
	return []string{
		ledger.Day(now.In(caller.Location())).Format(time.DateOnly),
		calendar.Default().SettledIf(calendar.ACH, today).Format(time.DateOnly), today.Format(time.DateOnly),
	}
}

// duePlaces are the customers after whom the next payments of each of dueKinds, and of those abroad, are
// looked for; 0: from the first on.
type duePlaces [4]int64

// dated are the places of dueKinds.
func (p duePlaces) dated() []int64 { return p[:len(dueKinds)] }

// after returns the places after payments that were found.
func (p duePlaces) after(due []*dueNow) (next duePlaces) {
	for i, kind := range append(slices.Clone(dueKinds), leaving) {
		of := map[customers.UID]bool{}
		for _, d := range due {
			if d.Kind == kind {
				of[d.Customer], next[i] = true, max(next[i], int64(d.Customer))
			}
		}
		if len(of) < dueAtATime { // there was nobody after them
			next[i] = 0
		}
	}
	return next
}

// dueTurns keeps how far the customers of each bank have had their turn.
type dueTurns struct {
	mu     sync.Mutex
	places map[access.Tenant]duePlaces
}

func (t *dueTurns) of(tenant access.Tenant) duePlaces {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.places[tenant]
}

func (t *dueTurns) leave(tenant access.Tenant, at duePlaces) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.places == nil {
		t.places = map[access.Tenant]duePlaces{}
	}
	t.places[tenant] = at
}

// carryOutAll carries out payments whose day has come, except those that another worker has locked, in the
// order of their days. It returns how many, and those that failed for a reason of ours, with the reasons.
func (s *Service) carryOutAll(
	ctx context.Context, caller access.Caller, now time.Time, of []*dueNow,
) (taken int, stuck []int64, failed, err error) {
	if len(of) == 0 {
		return 0, nil, nil, nil
	}
	uids := make([]UID, len(of))
	for i, d := range of {
		uids[i] = d.UID
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		taken, stuck, failed = 0, nil, nil // of a try that was rolled back
		var due []*Payment
		err := tx.NewSelect().Model(&due).Where("pay.tenant = ?", caller.Tenant).
			Where("pay.state = ?", Scheduled).Where("pay.uid IN (?)", bun.List(uids)).
			OrderExpr("pay.payment_date, pay.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		f, err := s.gatherTx(ctx, tx, caller.Tenant, wanted(due...))
		if err != nil {
			return err
		}
		f.limits = limits.Counting(caller.Tenant)
		if f.paid, err = s.paidByTx(ctx, tx, caller.Tenant, due); err != nil {
			return err
		}
		var moved []*Payment
		var steps []*Step
		var record []events.Recorded
		for _, p := range due {
			was := *p
			to, reason, err := f.carryOutDue(p, caller, now)
			if err != nil {
				stuck = append(stuck, int64(was.UID))
				failed = errors.Join(failed, fmt.Errorf("payment %s: %w", p.UID, err))
				continue
			}
			moved, steps = append(moved, p), append(steps, p.enter(to, caller, now, reason))
			record = append(record, changes.Change{
				Action: "carryOutPayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
				Before: &was, After: p,
			}.Recorded(caller, ""))
		}
		taken = len(moved)
		return errors.Join(writeTx(ctx, moved, steps), f.writeTx(ctx), recordTx(ctx, tx, record))
	})
	if err != nil {
		return 0, nil, nil, err
	}
	return taken, stuck, failed, nil
}

// carryOutDue carries out a payment whose day has come, if its network still settles today. Otherwise the
// payment waits for the network's next day, unless a request that it pays ends before.
func (f *facts) carryOutDue(
	p *Payment, by access.Caller, now time.Time,
) (to State, reason string, err error) {
	was := *p
	p.plan(now)
	p.recount(f.limits, &was)
	if f.paid[p.UID].tooLateBy(p, now) {
		p.uncount(f.limits)
		*p = was
		return Invalid, ErrRequestOver.Error(), nil
	}
	if p.starts().After(p.today(by, now)) {
		p.leaves()
		return Scheduled, "the network settles no more on " + was.Date.Format(time.DateOnly), nil
	}
	to, err = f.carryOut(p, now)
	if isFault(err) {
		p.uncount(f.limits)
		*p = was
		return Invalid, err.Error(), nil
	}
	return to, "", err
}

// recordTx records changes at the end of the transaction.
func recordTx(ctx context.Context, tx bun.Tx, all []events.Recorded) error {
	b := db.TxBatch(tx)
	ids := audit.TakeIDs(b, len(all))
	if err := b.Send(ctx); err != nil {
		return err
	}
	for i := range all {
		all[i].Entry.ID = ids.Items[i].ID
	}
	return events.RecordAllTx(ctx, all)
}
