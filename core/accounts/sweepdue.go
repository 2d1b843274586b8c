package accounts

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// What package sweeps does with sweeps when it runs them.

// DueSweepTx locks a sweep of a bank whose day has come, and tells whose account it is of; nil if there is
// none, but for those that other workers have. Customers take turns: it is a sweep of the next one after the
// customer who had the last turn, the one that has waited longest. So whoever has tens of thousands of sweeps
// keeps nobody else's waiting. only, where it is not nil, is the one sweep that counts.
func DueSweepTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, today time.Time, last customers.UID, only *SweepName,
) (w *Sweep, of customers.UID, err error) {
	day := today.Format(time.DateOnly)
	if only != nil {
		w, err = lockDueTx(ctx, tx, tenant, day, "w.account = ? AND w.direction = ?", only.Account, only.Direction)
	} else {
		err = changes.InTurn(last, -1, cmp.Compare[customers.UID],
			func(place customers.UID) (*customers.UID, error) { return sweptAfterTx(ctx, tx, tenant, day, place) },
			func(next customers.UID) (bool, error) {
				w, err = lockDueTx(ctx, tx, tenant, day, "w.customer = ?", next)
				return w != nil, err
			})
	}
	if err == nil && w != nil {
		err = db.Raw(tx, `SELECT customer FROM accounts WHERE tenant = ? AND uid = ?`, tenant,
			w.Account).Scan(ctx, &of)
	}
	return w, of, err
}

// sweptAfterTx finds the first customer after a place that has a sweep whose day has come; nil if there is
// none. It looks for one of each such day, of which there are few.
func sweptAfterTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, day string, place customers.UID,
) (of *customers.UID, err error) {
	err = db.Raw(tx, `WITH RECURSIVE days AS (
		  SELECT (SELECT next_date FROM sweeps WHERE tenant = ?0 AND next_date <= ?1::date
		    ORDER BY next_date LIMIT 1) AS day
		  UNION ALL
		  SELECT (SELECT next_date FROM sweeps WHERE tenant = ?0 AND next_date > days.day
		    AND next_date <= ?1::date ORDER BY next_date LIMIT 1)
		  FROM days WHERE day IS NOT NULL
		)
		SELECT min(next.customer) FROM days CROSS JOIN LATERAL (SELECT customer FROM sweeps
		  WHERE tenant = ?0 AND next_date = days.day AND customer > ?2 ORDER BY customer LIMIT 1) AS next`,
		tenant, day, place).Scan(ctx, &of)
	return of, err
}

// lockDueTx locks the sweep of which a condition holds that has waited longest; nil if there is none.
func lockDueTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, day, which string, values ...any,
) (*Sweep, error) {
	w := new(Sweep)
	err := tx.NewSelect().Model(w).Where("w.tenant = ?", tenant).Where(which, values...).
		Where("w.next_date <= ?::date", day).OrderExpr("w.next_date, w.account, w.direction").Limit(1).
		For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	return w, err
}

// plannedAtATime bounds the sweeps whose next days are found together.
const plannedAtATime = 250

// PlanSweepsTx finds the next days of some sweeps of a bank that have none, at the end of the transaction,
// and returns how many. Those that other workers have are left to them.
func PlanSweepsTx(ctx context.Context, tx bun.Tx, tenant access.Tenant, today time.Time) (int, error) {
	var found []*Sweep
	err := tx.NewSelect().Model(&found).Where("w.tenant = ?", tenant).Where("w.next_date IS NULL").
		Limit(plannedAtATime).For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil || len(found) == 0 {
		return 0, err
	}
	var of []int64
	var directions, days []string
	for _, w := range found {
		of, directions = append(of, int64(w.Account)), append(directions, string(w.Direction))
		days = append(days, w.NextAfter(today).Format(time.DateOnly))
	}
	return len(found), db.ExecAtCommit(ctx, `UPDATE sweeps AS w
		SET next_date = n.day::date, customer = a.customer
		FROM unnest($2::bigint[], $3::text[], $4::text[]) AS n(account, direction, day)
		JOIN accounts AS a ON a.tenant = $1 AND a.uid = n.account
		WHERE w.tenant = $1 AND w.account = n.account AND w.direction = n.direction`, tenant, of, directions, days)
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
