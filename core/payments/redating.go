package payments

import (
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// findingLate finds entries that wait for a file though their day has come. All but those of the same day are
// late by then.
var findingLate = db.NewQuery[Entry](`SELECT ae.payment FROM ach_entries AS ae WHERE ae.tenant = $1
	AND ae.taken_at IS NOT NULL AND ae.file IS NULL AND ae.settles_on <= $2::date
	ORDER BY ae.same_day, ae.settles_on, ae.payment LIMIT $3`)

// redateEntries plans entries anew whose money was taken and which no file took in time, as the day had none
// left or the bank's workers stood still: their file must not name a day that has passed.
func (s *Service) redateEntries(ctx context.Context, caller access.Caller, now time.Time) error {
	for {
		redated := 0
		err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) (err error) {
			redated, err = s.redateSomeTx(ctx, tx, caller, now)
			return err
		})
		if err != nil || redated < atATime {
			return err
		}
	}
}

func (s *Service) redateSomeTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time,
) (redated int, err error) {
	uids, err := lateTx(ctx, tx, caller.Tenant, now)
	if err != nil || len(uids) == 0 {
		return 0, err
	}
	if held, err := s.sendingHeld(ctx, tx, caller.Tenant); held || err != nil {
		return 0, err // it may have left on its day, before a restore
	}
	// nobody makes a file meanwhile, with the days of before in it
	if _, err := tx.NewRaw(`SELECT FROM ach_origins WHERE tenant = ? ORDER BY origin FOR UPDATE`, caller.Tenant).
		Exec(ctx); err != nil {
		return 0, err
	}
	if uids, err = lateTx(ctx, tx, caller.Tenant, now); err != nil || len(uids) == 0 {
		return 0, err
	}
	in := s.intake(caller, now)
	if err := in.lockTx(ctx, tx, uids, want{}); err != nil {
		return 0, err
	}
	var late []*Payment
	for _, uid := range uids {
		p := in.by[uid]
		if p == nil || p.State != Sent || !p.late(now) {
			continue
		}
		was := *p
		p.postpone(in.f.limits, now)
		p.SendAt, p.SettlesAt = was.SendAt, new(calendar.SettlesAt(service(p.Speed, p.Rail), p.Date, now))
		in.enter(&was, p, Sent, "postponePayment", missed(p.Rail)+" for "+was.Date.Format(time.DateOnly))
		late = append(late, p)
	}
	if len(late) == 0 {
		return 0, nil
	}
	return len(late), errors.Join(queueEntriesTx(ctx, caller.Tenant, late, now), in.writeTx(ctx, tx))
}

// lateTx returns payments whose entries wait for a file though their day has come.
func lateTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, now time.Time) (uids []UID, err error) {
	b := db.TxBatch(tx)
	found := db.Queue(b, findingLate, tenant, calendar.Today(now).Format(time.DateOnly), atATime)
	err = b.Send(ctx)
	for _, e := range found.Items {
		uids = append(uids, e.Payment)
	}
	return uids, err
}
