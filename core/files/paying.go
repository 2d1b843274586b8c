package files

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// paidTogether is how many payments of a file are made in one transaction.
const paidTogether = 250

// Pay makes payments of files of the caller's bank that are approved, or need no approval, and returns how
// many lines it has dealt with. Each line becomes one payment, or has the reason why it cannot be; no line
// stops the others. It is for workers: of many, each has another file.
func (s *Service) Pay(ctx context.Context) (dealt int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	for until := time.Now().Add(longestStep); time.Now().Before(until); {
		n, err := s.pay(ctx, caller, now, paidTogether)
		if err != nil && !db.IsPassing(err) { // one line that cannot be done keeps none of the others from it
			n, err = s.payAlone(ctx, caller, now)
		}
		dealt += n
		if err != nil {
			return dealt, fmt.Errorf("make payments of files: %w", err)
		}
		if n == 0 {
			return dealt, nil
		}
	}
	return dealt, nil
}

// payAlone makes the payments of the lines that come next one by one. One that fails for a reason of the
// bank's own has that said of it.
func (s *Service) payAlone(ctx context.Context, caller access.Caller, now time.Time) (dealt int, err error) {
	for range paidTogether {
		n, err := s.pay(ctx, caller, now, 1)
		if err != nil && !db.IsPassing(err) {
			n, err = s.giveUp(ctx, caller, now, err)
		}
		dealt += n
		if err != nil || n == 0 {
			return dealt, err
		}
	}
	return dealt, nil
}

// pay makes the payments of the next lines of a file, and returns how many lines that were.
func (s *Service) pay(ctx context.Context, caller access.Caller, now time.Time, most int64) (dealt int, err error) {
	err = s.dealing(ctx, caller, now, most, func(ctx context.Context, tx bun.Tx, f *BulkFile, lines []*FileLine) error {
		dealt = len(lines)
		if f.ApprovedAt == nil { // nobody else answers for it
			err := changes.EndedTx(ctx, tx, f.Tenant, f.Maker.Client, f.Maker.Person())
			if errors.Is(err, changes.ErrMakerEnded) {
				for _, l := range lines {
					l.fails(Faults{{l.Number, "", string(fault.Denied), "who uploaded the file has no access any more"}})
				}
				return nil
			}
			if err != nil {
				return err
			}
		}
		orders := make([]*payments.Order, len(lines))
		for i, l := range lines {
			orders[i] = l.Said
		}
		made, err := s.payments.MakeAllTx(ctx, tx, f.Maker.Caller(caller), f.Customer, orders, now)
		if err != nil {
			return err
		}
		names := map[FileType]func(string) string{NACHA: inEntry, Fedwire: inWire, RTP: columnIn, CSV: columnIn}
		for i, l := range lines {
			if l.Status, l.Payment = LineMade, made[i].Payment; made[i].Why != nil {
				l.fails(faultsOf(l.Number, made[i].Why, names[f.Type]))
			}
		}
		return nil
	})
	return dealt, err
}

// giveUp says of the next line that the bank could not make its payment.
func (s *Service) giveUp(ctx context.Context, caller access.Caller, now time.Time, why error) (dealt int, err error) {
	err = s.dealing(ctx, caller, now, 1, func(_ context.Context, _ bun.Tx, _ *BulkFile, lines []*FileLine) error {
		for _, l := range lines {
			dealt++
			l.fails(Faults{{l.Number, "", string(fault.Internal), "the bank could not make the payment"}})
		}
		return nil
	})
	return dealt, errors.Join(err, why)
}

// dealing locks a file that is being processed with its next lines, has do deal with these, and writes what
// became of them. The file ends with its last line. do is not called where no line is left.
func (s *Service) dealing(
	ctx context.Context, caller access.Caller, now time.Time, most int64,
	do func(context.Context, bun.Tx, *BulkFile, []*FileLine) error,
) error {
	err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		f := new(BulkFile)
		err := tx.NewSelect().Model(f).Where("bf.tenant = ?", caller.Tenant).
			Where("bf.status IN (?)", bun.List([]FileStatus{Approved, Processing})).OrderExpr("bf.worked_at NULLS FIRST, bf.uid").Limit(1).
			For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil {
			return err
		}
		was := *f
		f.WorkedAt = new(time.Now()) // files take turns
		var lines []*FileLine
		err = tx.NewSelect().Model(&lines).Where("bl.tenant = ?", f.Tenant).Where("bl.file = ?", f.UID).Where("bl.id >= ?", lineID(f.UID, 0)).
			Where("bl.id < ?", lineID(f.UID+1, 0)).Where("bl.status = ?", LineValid).OrderExpr("bl.id").Limit(most).Scan(ctx)
		if err != nil {
			return err
		}
		for _, l := range lines {
			if err := l.open(s.keys); err != nil {
				return fmt.Errorf("line %d of file %s: %w", l.Number, f.UID, err)
			}
		}
		if len(lines) > 0 {
			if err := do(ctx, tx, f, lines); err != nil {
				return err
			}
		}
		for _, l := range lines {
			if l.Status == LineMade {
				f.Made++
				continue
			}
			f.Failed, f.Valid = f.Failed+1, f.Valid-1
		}
		if err := writeLinesTx(ctx, lines); err != nil {
			return err
		}
		to := Processing
		switch {
		case int64(len(lines)) == most:
		case f.Failed > 0:
			to = PartiallyProcessed
		default:
			to = Processed
		}
		if to == was.Status {
			return db.ExecAtCommit(ctx, `UPDATE bulk_files SET made = $3::int, failed = $4::int, valid = $5::int,
				worked_at = $6::timestamptz WHERE tenant = $1 AND uid = $2`, f.Tenant, f.UID, f.Made, f.Failed, f.Valid, f.WorkedAt)
		}
		return s.enterTx(ctx, tx, caller, &was, f, to, now)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// writeLinesTx writes what became of lines, at the end of the transaction.
func writeLinesTx(ctx context.Context, lines []*FileLine) error {
	if len(lines) == 0 {
		return nil
	}
	var ids, made []int64
	var statuses, faults []string
	for _, l := range lines {
		ids, made = append(ids, int64(l.ID)), append(made, int64(l.Payment))
		statuses, faults = append(statuses, string(l.Status)), append(faults, string(l.Found))
	}
	return db.ExecAtCommit(ctx, `UPDATE bulk_file_lines AS l SET status = n.status, payment = nullif(n.payment, 0),
		faults = n.faults::jsonb FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS n(id, status, payment, faults)
		WHERE l.tenant = $1 AND l.id = n.id`, lines[0].Tenant, ids, statuses, made, faults)
}
