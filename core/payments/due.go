package payments

import (
	"context"
	"errors"
	"fmt"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/db"
)

// dueAtATime bounds the payments that one call of CarryOutDue carries out.
const dueAtATime = 250

// CarryOutDue carries out payments of the caller's bank whose day has come, and returns how many it took. One
// that cannot be carried out becomes Invalid, with the reason. It is for workers: any number may call it at a
// time.
func (s *Service) CarryOutDue(ctx context.Context) (taken int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		now := s.now()
		var due []*Payment
		err := tx.NewSelect().Model(&due).Where("pay.tenant = ?", caller.Tenant).Where("pay.state = ?", Scheduled).
			Where("pay.payment_date <= ?", ledger.Day(now.In(caller.Location()))).
			OrderExpr("pay.payment_date, pay.uid").Limit(dueAtATime).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if taken = len(due); err != nil || taken == 0 {
			return err
		}
		f, err := s.gatherTx(ctx, tx, caller.Tenant, wanted(due...))
		if err != nil {
			return err
		}
		var steps []*Step
		record := make([]events.Recorded, len(due))
		for i, p := range due {
			was, to, reason := *p, Settled, ""
			if err := f.move(p); isFault(err) {
				*p, to, reason = was, Invalid, err.Error()
			} else if err != nil {
				return fmt.Errorf("payment %s: %w", p.UID, err)
			}
			steps = append(steps, p.enter(to, caller, now, reason))
			record[i] = changes.Change{
				Action: "carryOutPayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
				Before: &was, After: p,
			}.Recorded(caller, "")
		}
		return errors.Join(writeTx(ctx, due, steps), f.books.WriteTx(ctx), recordTx(ctx, tx, record))
	})
	if err != nil {
		return 0, fmt.Errorf("carry out due payments: %w", err)
	}
	return taken, nil
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
