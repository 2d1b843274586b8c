package files

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/db"
)

// writeChecked writes lines, and how far the file has come, if nobody else has taken it.
func (s *Service) writeChecked(ctx context.Context, f *BulkFile, batches batches, lines []*FileLine) error {
	return s.db.InTx(ctx, int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		done, err := db.Raw(tx, `UPDATE bulk_files SET checked = ?, position = ?, valid = ?, failed = ?,
			credits = ?, debits = ?, largest = ?, payment_date = ?, offset_account = ?, approvers = ?, by_bank = ?,
			stalled = 0, leased_until = clock_timestamp() + ?::interval
			WHERE tenant = ? AND uid = ? AND attempt = ? AND status = 'VALIDATING'`, f.Checked, f.Position,
			f.Valid, f.Failed,
			f.Credits, f.Debits, f.Largest, f.PaymentDate, named(f.OffsetAccount), f.Approvers, f.ByBank,
			leaseFor.String(), f.Tenant, f.UID, f.Attempt).Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return errors.Join(errLost, err)
		}
		if err := writeBatchesTx(ctx, tx, f, batches); err != nil {
			return err
		}
		return db.InsertAtCommit(ctx, lines)
	})
}

func writeBatchesTx(ctx context.Context, tx bun.Tx, f *BulkFile, batches batches) error {
	if len(batches) == 0 {
		return nil
	}
	var there bool
	err := db.Raw(tx, `SELECT EXISTS (SELECT FROM bulk_file_batches WHERE tenant = ? AND file = ?)`, f.Tenant,
		f.UID).
		Scan(ctx, &there)
	if err != nil || there {
		return err
	}
	rows := make([]*FileBatch, len(batches))
	for i, b := range batches {
		rows[i] = &b.FileBatch
	}
	return db.InsertAtCommit(ctx, rows)
}

// finish settles what becomes of a file that has been read: it is paid, waits for people, or fails as nothing
// can be paid by it.
func (c *checking) finish(ctx context.Context, whole Faults) error {
	f := c.f
	c.s.readings.forget(f)
	was := *f
	f.Faults = append(Faults{}, whole...)
	to := Approved
	switch {
	case len(whole) > 0:
		to, f.RejectReason = Failed, strings.TrimPrefix(whole[0].Field+": "+whole[0].Message, ": ")
	case f.Valid == 0 && f.Failed == 0:
		to, f.RejectReason = Failed, "the file has no payment"
	case f.Valid == 0:
		to, f.RejectReason = Failed, "every line has faults"
	case f.Approvers > 0:
		to = PendingApproval
	}
	return c.s.db.InTx(ctx, int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		// it may have left its partner since the file was taken
		if _, err := c.s.customers.HoldAnyTx(ctx, tx, c.worker, f.Customer); err != nil {
			return err
		}
		by, err := customers.AskerTx(ctx, tx, c.worker, f.Maker, f.Customer)
		if err != nil {
			return err
		}
		locked := new(BulkFile)
		err = tx.NewSelect().Model(locked).Where("bf.tenant = ?", f.Tenant).Where("bf.uid = ?", f.UID).
			Where("bf.attempt = ?", f.Attempt).Where("bf.status = ?", Validating).
			For("NO KEY UPDATE").Scan(ctx)
		if errors.Is(err, sql.ErrNoRows) {
			return errLost
		}
		if err != nil {
			return err
		}
		if len(whole) > 0 { // the batches that were read tell why
			if err := writeBatchesTx(ctx, tx, f, c.batches); err != nil {
				return err
			}
		}
		if to == PendingApproval {
			_, err := changes.RoomTx(ctx, tx, by)
			switch {
			case errors.Is(err, changes.ErrOpen):
				to, f.RejectReason = Failed, changes.ErrOpen.Message
			case err != nil:
				return err
			}
		}
		now := *f
		now.LeasedUntil = nil
		was.Version, was.Party = locked.Version, locked.Party
		now.Version, now.Party = locked.Version, locked.Party
		if err := c.s.enterTx(ctx, tx, c.worker, &was, &now, to, c.now); err != nil || to != PendingApproval {
			return err
		}
		p := changes.Proposal{
			Customer: int64(f.Customer), UID: f.UID, Version: now.Version, After: &now,
			Approvers: f.Approvers,
		}
		if f.ByBank {
			p.By = access.OfBank
		}
		_, err = c.s.upload.ProposeTx(ctx, tx, by, c.now, uploaded{Type: f.Type, Name: f.Name}, p)
		return err
	})
}

// enterTx writes that a file, which is locked, has another status; was is the file before.
func (s *Service) enterTx(
	ctx context.Context, tx bun.Tx, by access.Caller, was, f *BulkFile, to FileStatus, now time.Time,
) error {
	f.Status, f.UpdatedAt, f.Version = to, now, f.Version+1
	if by.LoginID != "" || by.Client != access.OperatorClient {
		f.UpdatedBy = by.LoginID
		if f.UpdatedBy == "" {
			f.UpdatedBy = by.Client
		}
	}
	// It was read before it was locked, and what is sealed may have been moved to other keys since.
	_, err := tx.NewUpdate().Model(f).ExcludeColumn("content_sealed", "content_hash").WherePK().Exec(ctx)
	if err != nil {
		return fmt.Errorf("write file %s: %w", f.UID, err)
	}
	done := changes.Change{
		Action: "checkFile", Object: fileObject, UID: f.UID, Customer: int64(f.Customer),
		Version: f.Version, Before: was,
		After: f,
	}
	if to == Processing || to == Processed || to == PartiallyProcessed {
		done.Action = "processFile"
	}
	recorded := done.Recorded(by, "")
	return events.RecordTx(ctx, tx, recorded.Entry, *recorded.Event)
}
