package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/money"
	"bankgraph/core/payments"
)

// Cancel ends a file before any payment was made of it.
func (s *Service) Cancel(
	ctx context.Context, uid FileUID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.cancel.Require(ctx, uid.String())
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.cancel.Do(ctx, caller, changes.Target{UID: uid.String()}, struct{}{}, options)
}

func (s *Service) cancelTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{},
) (Saved, error) {
	if err := tx.LockWaiting(ctx, fileObject, at.UID); err != nil {
		return Saved{}, err
	}
	f, err := s.lockTx(ctx, tx, &at)
	if err == nil {
		err = tx.CheckVersion(f.Version)
	}
	if err != nil {
		return Saved{}, err
	}
	switch f.Status {
	case Received, Validating, Approved:
	case PendingApproval, PartlyApproved:
		if err := tx.Withdraw(ctx, fileObject, f.UID); err != nil {
			return Saved{}, err
		}
	default:
		return Saved{}, ErrOver.With(string(f.Status))
	}
	was := *f
	f.RejectReason = tx.Options.Reason
	return saved(f), s.decideTx(ctx, tx, &was, f, Cancelled)
}

// Approve approves a file that waits for a second person, so that its payments are made; if it takes two
// people, the first only agrees. It returns the faults of changes.Service.Approve, and ErrNotWaiting for a
// file that never waited. A version in the options is the file's.
func (s *Service) Approve(
	ctx context.Context, uid FileUID, options changes.RequestOptions,
) (changes.Outcome[changes.UID], error) {
	return s.decideOn(ctx, "approveFile", uid, options, s.changes.Approve)
}

// Reject refuses all payments of a file that waits for a second person, with a reason that the file shows. It
// returns the faults of Approve.
func (s *Service) Reject(
	ctx context.Context, uid FileUID, options changes.RequestOptions,
) (changes.Outcome[changes.UID], error) {
	return s.decideOn(ctx, "rejectFile", uid, options, s.changes.Refuse)
}

func (s *Service) decideOn(
	ctx context.Context, action string, uid FileUID, options changes.RequestOptions,
	decide func(context.Context, changes.UID, changes.RequestOptions) (changes.Outcome[changes.UID], error),
) (none changes.Outcome[changes.UID], err error) {
	attempt := access.Attempt{Action: action, Object: fileObject, UID: uid.String()}
	if _, err := access.RequireTo(ctx, attempt, access.ApproveFiles); err != nil {
		return none, err
	}
	waits, err := s.changes.LastOf(ctx, fileObject, uid.String())
	if !errors.Is(err, changes.ErrNoApproval) {
		if err != nil {
			return none, err
		}
		return decide(ctx, waits, options)
	}
	b := s.db.Batch()
	found := s.FindMany(ctx, b, []FileUID{uid}, identity)
	if err := b.Send(ctx); err != nil {
		return none, err
	}
	if len(found.Of[uid]) == 0 {
		return none, ErrNotFound
	}
	return none, ErrNotWaiting
}

// lockTx holds the customer of a file, and locks the file.
func (s *Service) lockTx(ctx context.Context, tx *changes.Tx, at *changes.Target) (*BulkFile, error) {
	if _, err := customers.Hold(s.customers.HoldTx).Of("bulk_files", "uid", ErrNotFound)(ctx,
		tx, at); err != nil {
		return nil, err
	}
	f := new(BulkFile)
	q := tx.NewSelect().Model(f).Where("bf.tenant = ?", tx.Caller.Tenant).Where("bf.uid = ?", at.UID).
		Where("bf.customer = ?", at.Customer)
	return changes.Lock(ctx, q, f, ErrNotFound)
}

// settleTx carries out the decision of the second person: the payments of the file are made, or all are
// refused.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	f, was, err := s.decidingTx(ctx, tx, at)
	if err != nil {
		return err
	}
	if !approved {
		f.RejectReason = tx.Options.Reason
		return s.decideTx(ctx, tx, was, f, Rejected)
	}
	if err := f.approveTx(ctx, tx); err != nil {
		return err
	}
	f.ApprovedBy, f.ApprovedAt = nameOf(tx.Caller), &tx.Now
	return s.decideTx(ctx, tx, was, f, Approved)
}

// agreeTx enters the approval of the first of two people; settleTx carries out what the second decides.
func (s *Service) agreeTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	f, was, err := s.decidingTx(ctx, tx, at)
	if err == nil {
		err = f.approveTx(ctx, tx)
	}
	if err != nil {
		return 0, err
	}
	err = s.decideTx(ctx, tx, was, f, PartlyApproved)
	return f.Version, err
}

// takesNow returns how many people have to approve a file that waits, by what settings of the customer and of
// the bank say now of its largest payment (changes.Takes), and whether the bank's own. Which accounts pay is
// of the check: where one of the customer's was changed since, so that wires as large as that payment are
// confirmed, the bank decides.
func (s *Service) takesNow(
	ctx context.Context, tx *changes.Tx, at changes.Target,
) (people int32, by access.Reach, err error) {
	f, err := s.lockTx(ctx, tx, &at)
	if err != nil {
		return 0, "", err
	}
	people, by, err = payments.ApproversForCustomerTx(ctx, tx, f.Customer, money.Of(f.Largest, inCents))
	if err != nil || by == access.OfBank {
		return people, by, err
	}
	confirms, err := accounts.ConfirmsSinceTx(ctx, tx, f.Customer, f.Largest, f.CreatedAt)
	if confirms {
		by = access.OfBank
	}
	return people, by, err
}

// approveTx returns payments.ErrApproveLimit for a file that is above what the person may approve: its
// largest payment is above the limit of one, or their sum above what is left of the day or the month.
func (f *BulkFile) approveTx(ctx context.Context, tx *changes.Tx) error {
	return payments.ApproveTx(ctx, tx.Tx, tx.Caller, money.Of(f.Largest, inCents),
		money.Of(f.Credits+f.Debits, inCents), tx.Now)
}

// decidingTx locks a file that people decide on.
func (s *Service) decidingTx(
	ctx context.Context, tx *changes.Tx, at changes.Target,
) (f, was *BulkFile, err error) {
	if f, err = s.lockTx(ctx, tx, &at); err != nil {
		return nil, nil, err
	}
	if f.Status != PendingApproval && f.Status != PartlyApproved {
		return nil, nil, ErrOver.With(string(f.Status))
	}
	before := *f
	return f, &before, tx.CheckVersion(f.Version)
}

// decideTx writes what people have decided on a file.
func (s *Service) decideTx(ctx context.Context, tx *changes.Tx, was, f *BulkFile, to FileStatus) error {
	f.Status, f.UpdatedAt, f.UpdatedBy, f.Version = to, tx.Now, nameOf(tx.Caller), f.Version+1
	if to == Rejected || to == Cancelled { // from now on its lines count among those that pay nothing
		f.WorkedAt = new(time.Now())
	}
	if _, err := tx.NewUpdate().Model(f).WherePK().Exec(ctx); err != nil {
		return fmt.Errorf("write file %s: %w", f.UID, err)
	}
	return tx.Record(ctx, changes.Change{
		UID: f.UID, Customer: int64(f.Customer), Version: f.Version, Before: was, After: f,
	})
}

func nameOf(c access.Caller) string {
	if c.LoginID != "" {
		return c.LoginID
	}
	return c.Client
}
