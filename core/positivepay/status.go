package positivepay

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/db"
)

func (s *Service) activateTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	l := s.asking()
	return saved(l.Modify(ctx, tx, at, func(_, r *Rule) error {
		switch status := r.StatusOn(today(tx)); {
		case status == Expired:
			return ErrExpired.With(string(status))
		case status == Pending:
			return ErrStatus.Saying("the rule is active already, from " + r.EffectiveDate.Format(time.DateOnly) +
				" on").With(string(status))
		case r.State == Active:
			return ErrStatus.Saying("the rule is active already").With(string(status))
		case status != Suspended:
			return ErrStatus.Saying("the rule waits for approval").With(string(status))
		case !tx.Caller.Reach.AtLeast(r.SuspendedBy):
			return ErrWider
		}
		r.State, r.SuspendedBy = Active, ""
		if err := s.freshTx(ctx, tx, r); err != nil {
			return err
		}
		if tx.Approved() {
			r.approvedIn(tx)
		}
		return s.payTx(ctx, tx, l, r)
	}))
}

func (s *Service) suspendTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	return saved(s.lifecycle(s.customers.HoldAnyTx).Modify(ctx, tx, at, func(_, r *Rule) error {
		switch status := r.StatusOn(today(tx)); status {
		case Expired:
			return ErrExpired.With(string(status))
		case Suspended:
			return ErrStatus.Saying("the rule is suspended already").With(string(status))
		case PendingApproval:
			return ErrStatus.Saying("the rule waits for approval").With(string(status))
		}
		r.State, r.SuspendedBy = Suspended, tx.Caller.Reach
		return nil
	}))
}

// leaveTx suspends the rules of a customer that leaves its partner which that partner's people or programs
// made, changed or activated, or that users did whom it had made: they may allow that partner's own debits.
// The new partner, or the bank, activates those that may stay.
func (s *Service) leaveTx(
	ctx context.Context, tx *changes.Tx, c *customers.Customer, partner customers.UID,
) error {
	var all []*Rule
	err := tx.NewSelect().Model(&all).Where("pp.tenant = ?", c.Tenant).Where("pp.customer = ?", c.UID).
		Where("pp.state IN (?)", bun.List([]Status{Active, Suspended})).OrderExpr("pp.uid").
		For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return fmt.Errorf("read the rules of customer %s: %w", c.UID, err)
	}
	uids := make([]string, len(all))
	for i, r := range all {
		uids[i] = r.UID.String()
	}
	touched, err := audit.TouchedTx(ctx, tx.Tx, c.Tenant, object, uids, int64(c.UID), int64(partner))
	if err != nil {
		return err
	}
	var left []UID
	var record []changes.Change
	for _, r := range all {
		if !touched[r.UID.String()] || r.State == Suspended && r.SuspendedBy.AtLeast(access.OfPartner) {
			continue
		}
		was := *r
		r.State, r.SuspendedBy, r.UpdatedAt, r.Version = Suspended, access.OfPartner, tx.Now, r.Version+1
		left = append(left, r.UID)
		record = append(record, changes.Change{
			Action: "suspendPositivePayRule", Object: object, UID: r.UID, Customer: int64(r.Customer),
			Version: r.Version, Before: &was, After: r,
		})
	}
	if len(left) == 0 {
		return nil
	}
	err = db.ExecAtCommit(ctx, `UPDATE positive_pay_rules SET state = $3, suspended_by = $4,
		updated_at = $5::timestamptz, version = version + 1 WHERE tenant = $1 AND uid = ANY($2::bigint[])`,
		c.Tenant, left, Suspended, access.OfPartner, tx.Now)
	if err != nil {
		return fmt.Errorf("suspend the rules of customer %s: %w", c.UID, err)
	}
	return tx.RecordAll(ctx, record)
}

func (s *Service) removeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	if err := tx.LockWaiting(ctx, object, at.UID); err != nil {
		return Saved{}, err
	}
	return saved(s.lifecycle(s.customers.HoldAnyTx).Modify(ctx, tx, at, func(_, r *Rule) error {
		if r.State == Suspended && !tx.Caller.Reach.AtLeast(r.SuspendedBy) { // else it is made anew
			return ErrWider
		}
		r.State = Deleted
		return tx.Withdraw(ctx, object, r.UID) // what waits for a second person
	}))
}
