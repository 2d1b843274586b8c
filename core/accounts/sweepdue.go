package accounts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// What package sweeps does with sweeps when it runs them.

// DueSweepTx locks the sweep of a bank that has waited longest for its run, and tells whose account it is of;
// nil if none waits, but for those that other workers have. Runs are due if the bank is open today. Behind
// them come sweeps whose next day is still to be found. only, where it is not nil, is the one sweep that
// counts.
func DueSweepTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, today time.Time, open bool, only *SweepName,
) (w *Sweep, of customers.UID, err error) {
	first := func(of string, values ...any) error { // each in the order of an index
		w = new(Sweep)
		due := tx.NewSelect().Model(w).Where("w.tenant = ?", tenant).Where(of, values...)
		if only != nil {
			due.Where("w.account = ?", only.Account).Where("w.direction = ?", only.Direction)
		}
		return due.
			OrderExpr("w.next_date, w.account, w.direction").Limit(1).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	}
	if err = sql.ErrNoRows; open {
		err = first("w.next_date <= ?::date", today.Format(time.DateOnly))
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = first("w.next_date IS NULL")
	}
	if errors.Is(err, sql.ErrNoRows) {
		return nil, 0, nil
	}
	if err == nil {
		err = db.Raw(tx, `SELECT customer FROM accounts WHERE tenant = ? AND uid = ?`, tenant,
			w.Account).Scan(ctx, &of)
	}
	return w, of, err
}

// PlanTx finds the next day of a sweep that has none, at the end of the transaction that has locked it.
func (w *Sweep) PlanTx(ctx context.Context, today time.Time) error {
	return db.ExecAtCommit(ctx,
		`UPDATE sweeps SET next_date = $4::date WHERE tenant = $1 AND account = $2 AND direction = $3`,
		w.Tenant, int64(w.Account), string(w.Direction), w.NextAfter(today).Format(time.DateOnly))
}

// RanTx writes that a sweep ran today, at the end of the transaction that has locked it. failure says why
// nothing came of it; it is empty if the run did what it should.
func (w *Sweep) RanTx(ctx context.Context, today, at time.Time, failure string) error {
	return db.ExecAtCommit(ctx, `UPDATE sweeps SET next_date = $4::date, failure = $5,
		failed_at = CASE WHEN $5 <> '' THEN coalesce(failed_at, $6::timestamptz) END
		WHERE tenant = $1 AND account = $2 AND direction = $3`,
		w.Tenant, int64(w.Account), string(w.Direction), w.NextAfter(today).Format(time.DateOnly), failure, at)
}

type upcoming struct {
	Due   *time.Time `bun:"due"`   // the last day of those that have come and not run
	Ahead *time.Time `bun:"ahead"` // the first day of the others
}

var findingNextSweep = db.NewQuery[upcoming](`SELECT
	(SELECT max(next_date) FROM sweeps WHERE tenant = $1 AND next_date <= $2::date) AS due,
	(SELECT min(next_date) FROM sweeps WHERE tenant = $1 AND next_date > $2::date) AS ahead`)

// NextSweeps returns the days of frequencies after which the next sweeps of the caller's bank run: the last
// one until today, whose runs wait for the bank to open, and the first one after it; nil where there is none.
func (s *Service) NextSweeps(ctx context.Context, today time.Time) (due, ahead *time.Time, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, nil, err
	}
	b := s.db.PrimaryBatch()
	found := db.Queue(b, findingNextSweep, caller.Tenant, today.Format(time.DateOnly))
	if err := b.Send(ctx); err != nil {
		return nil, nil, fmt.Errorf("find the next sweeps: %w", err)
	}
	one, err := found.One()
	if err != nil || one == nil {
		return nil, nil, err
	}
	return one.Due, one.Ahead, nil
}
