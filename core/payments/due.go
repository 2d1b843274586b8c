package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// dueAtATime bounds the payments that one call of CarryOutDue carries out.
const dueAtATime = 250

// CarryOutDue carries out payments of the caller's bank whose day has come, and returns how many it took. One
// that cannot be carried out becomes Invalid, with the reason. One that fails for a reason of ours is left as
// it is, and its error is returned after the others were carried out, those that come after it, too. It is
// for workers: any number may call it at a time.
func (s *Service) CarryOutDue(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	var after *Payment
	for range mostPasses {
		var n int
		var failed error
		n, after, failed = s.carryOutAfter(ctx, caller, now, after)
		taken, err = taken+n, errors.Join(err, failed)
		if after == nil || taken >= dueAtATime {
			break
		}
	}
	if err != nil {
		return taken, fmt.Errorf("carry out due payments: %w", err)
	}
	return taken, nil
}

// carryOutAfter carries out some of the payments whose day has come, from the one after a payment on; nil:
// from the first. It returns how many, and the last one if others may come after it, of which some could not
// be.
func (s *Service) carryOutAfter(
	ctx context.Context, caller access.Caller, now time.Time, after *Payment,
) (taken int, last *Payment, err error) {
	var failed error
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		taken, last, failed = 0, nil, nil // of a try that was rolled back
		var due []*Payment
		q := tx.NewSelect().Model(&due).Where("pay.tenant = ?", caller.Tenant).Where("pay.state = ?", Scheduled).
			Where("CASE WHEN pay.rail = ? THEN pay.send_at <= ? ELSE pay.payment_date <= CASE WHEN pay.rail = ? THEN ?::date "+
				"WHEN pay.speed = ? THEN ?::date ELSE ?::date END END", rails.SWIFT, now, rails.Book,
				ledger.Day(now.In(caller.Location())), Economy, calendar.Default().
					SettledIf(calendar.ACH, calendar.Today(now)), calendar.Today(now))
		if after != nil {
			q.Where("(pay.payment_date, pay.uid) > (?::date, ?)", after.Date, after.UID)
		}
		err := q.OrderExpr("pay.payment_date, pay.uid").Limit(dueAtATime).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil || len(due) == 0 {
			return err
		}
		f, err := s.gatherTx(ctx, tx, caller.Tenant, wanted(due...))
		if err != nil {
			return err
		}
		f.limits = limits.Counting(caller.Tenant)
		end := *due[len(due)-1]
		var moved []*Payment
		var steps []*Step
		var record []events.Recorded
		for _, p := range due {
			was := *p
			to, reason, err := f.carryOutDue(p, caller, now)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("payment %s: %w", p.UID, err))
				continue
			}
			moved, steps = append(moved, p), append(steps, p.enter(to, caller, now, reason))
			record = append(record, changes.Change{
				Action: "carryOutPayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
				Before: &was, After: p,
			}.Recorded(caller, ""))
		}
		if taken = len(moved); failed != nil && len(due) == dueAtATime {
			last = &end
		}
		return errors.Join(writeTx(ctx, moved, steps), f.writeTx(ctx), recordTx(ctx, tx, record))
	})
	if err != nil {
		return 0, nil, err
	}
	return taken, last, failed
}

// carryOutDue carries out a payment whose day has come, if its network still settles today. Otherwise the
// payment waits for the network's next day.
func (f *facts) carryOutDue(
	p *Payment, by access.Caller, now time.Time,
) (to State, reason string, err error) {
	was := *p
	p.plan(now)
	if p.recount(f.limits, &was); p.starts().After(p.today(by, now)) {
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
