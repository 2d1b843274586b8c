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
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// How many payments of a file are made in one transaction: few while others wait for the accounts that it
// locks, as whoever shares a lane with them waits, too; and ever more while nobody does.
const (
	paidBriefly  = 64
	paidAtFirst  = 256
	paidTogether = 1024
)

// Pay makes payments of files of the caller's bank that are approved, or need no approval, and returns how
// many lines it has dealt with. Each line becomes one payment, or is given the reason why it cannot; no line
// stops the others. It is for workers, each of which takes another file.
func (s *Service) Pay(ctx context.Context) (dealt int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	p := &paying{s: s, caller: caller, now: now, most: paidAtFirst}
	for until := time.Now().Add(s.step); time.Now().Before(until); {
		n, _, err := p.pay(ctx, p.most)
		if err != nil && !db.IsPassing(err) { // one line that cannot be done does not stop the others
			n, err = p.payAlone(ctx)
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

// paying is one call of Pay.
type paying struct {
	s      *Service
	caller access.Caller
	now    time.Time
	most   int    // lines of the next transaction
	ahead  *ahead // nil: nothing is read ahead
}

// payAlone makes the payments of the next lines one by one. If one fails for a reason of the bank's own, its
// line says so.
func (p *paying) payAlone(ctx context.Context) (dealt int, err error) {
	for range paidTogether {
		n, first, err := p.pay(ctx, 1)
		if err != nil && first != 0 && !db.IsPassing(err) {
			n, err = p.giveUp(ctx, first, err)
		}
		dealt += n
		if err != nil || n == 0 {
			return dealt, err
		}
	}
	return dealt, nil
}

// pay makes the payments of the next lines of a file, and returns how many lines that were, and the first one.
func (p *paying) pay(ctx context.Context, most int) (dealt int, first LineID, err error) {
	err = p.dealing(ctx, 0, most, func(ctx context.Context, tx bun.Tx, f *BulkFile, lines []*FileLine) error {
		dealt, first = len(lines), lines[0].ID
		if f.ApprovedAt == nil { // nobody else answers for the payments
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
		by, err := customers.AskerTx(ctx, tx, p.caller, f.Maker, f.Customer)
		if err != nil {
			return err
		}
		orders := make([]*payments.Order, len(lines))
		for i, l := range lines {
			orders[i] = l.Order
		}
		made, err := p.s.payments.MakeAllTx(ctx, tx, by, f.Customer, orders, f.ApprovedAt != nil, p.now)
		if err != nil {
			return err
		}
		for i, l := range lines {
			if l.Status, l.Payment = LineMade, made[i].Payment; made[i].Why != nil {
				l.fails(faultsOf(l.Number, made[i].Why, columnsOf(f.Type, orders[i])))
			}
		}
		return p.paceTx(ctx, tx)
	})
	return dealt, first, err
}

// paceTx decides how many lines the next transaction has.
func (p *paying) paceTx(ctx context.Context, tx bun.Tx) error {
	awaited, err := db.AwaitedTx(ctx, tx)
	if p.most = min(2*p.most, paidTogether); awaited {
		p.most = paidBriefly
	}
	return err
}

// errDealtWith is returned for a line that another worker has dealt with.
var errDealtWith = errors.New("the line is dealt with")

// giveUp enters, for a line of a file, that the bank could not make its payment. Another worker may have dealt
// with the line meanwhile: those after it are not given up.
func (p *paying) giveUp(ctx context.Context, line LineID, why error) (dealt int, err error) {
	err = p.dealing(ctx, line.file(), 1, func(_ context.Context, _ bun.Tx, _ *BulkFile, lines []*FileLine) error {
		if lines[0].ID != line {
			return errDealtWith
		}
		dealt++
		lines[0].fails(Faults{{lines[0].Number, "", string(fault.Internal), "the bank could not make the payment"}})
		return nil
	})
	if errors.Is(err, errDealtWith) {
		err = nil
	}
	return dealt, errors.Join(err, why)
}

// dealing locks a file that is being processed, calls do with its next lines, and writes what became of
// them, while the lines after them are read. The file ends with its last line. do is not called if no line is
// left. only names the file; 0 stands for the file whose turn it is.
func (p *paying) dealing(
	ctx context.Context, only FileUID, most int, do func(context.Context, bun.Tx, *BulkFile, []*FileLine) error,
) error {
	outside := ctx
	err := p.s.db.InTx(ctx, int64(p.caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		f := new(BulkFile)
		waiting := tx.NewSelect().Model(f).Where("bf.tenant = ?", db.Number(p.caller.Tenant))
		if only != 0 {
			waiting.Where("bf.uid = ?", only)
		}
		err := waiting.
			Where("bf.status IN (?)", bun.List([]FileStatus{Approved, Processing})).
			OrderExpr(turns("paid_at")+", bf.paid_at NULLS FIRST, bf.uid", db.Number(p.caller.Tenant)).Limit(1).
			For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil {
			return err
		}
		was := *f
		f.WorkedAt = new(time.Now())
		f.PaidAt = f.WorkedAt // parties take turns, and so do callers and files
		lines, err := p.next(ctx, tx, f, most)
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			if err := do(ctx, tx, f, lines); err != nil {
				return err
			}
		}
		for _, l := range lines {
			f.Paid = l.Number
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
		case len(lines) == most:
			if most > 1 {
				p.ahead = p.s.readAhead(outside, f, p.most)
			}
		case f.Failed > 0:
			to = PartiallyProcessed
		default:
			to = Processed
		}
		if to == was.Status {
			return db.ExecAtCommit(ctx, `UPDATE bulk_files
				SET made = $3::int, failed = $4::int, valid = $5::int,
				worked_at = $6::timestamptz, paid_at = $6::timestamptz, paid = $7::int
				WHERE tenant = $1 AND uid = $2`, f.Tenant, f.UID,
				f.Made, f.Failed, f.Valid, f.WorkedAt, f.Paid)
		}
		return p.s.enterTx(ctx, tx, p.caller, &was, f, to, p.now)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	return err
}

// next returns the next lines of a file, in a transaction that has locked it.
func (p *paying) next(ctx context.Context, tx bun.Tx, f *BulkFile, most int) ([]*FileLine, error) {
	ahead := p.ahead
	p.ahead = nil
	if ahead == nil || ahead.file != f.UID || ahead.paid != f.Paid || ahead.most != most {
		return p.s.readLines(ctx, db.TxBatch(tx), f.Tenant, f.UID, f.Paid, most)
	}
	<-ahead.done
	return ahead.lines, ahead.err
}

// ahead are lines that are read before their turn. They can be used if the file, when it is locked, is still
// paid up to the line before them: nobody writes lines that come later.
type ahead struct {
	file  FileUID
	paid  int32 // they follow this line
	most  int
	done  chan struct{} // closed when they are read
	lines []*FileLine
	err   error
}

func (s *Service) readAhead(ctx context.Context, f *BulkFile, most int) *ahead {
	a := &ahead{file: f.UID, paid: f.Paid, most: most, done: make(chan struct{})}
	tenant := f.Tenant
	go func() {
		defer close(a.done)
		a.lines, a.err = s.readLines(ctx, s.db.PrimaryBatch(), tenant, a.file, a.paid, most)
	}()
	return a
}

var readingLines = db.NewQuery[FileLine](selectingLines(db.ColumnsOf[FileLine]("Status", "Found", "Draft")).
	Where("bl.tenant = $1").Where("bl.id > $2 AND bl.id < $3").Where("bl.status = '"+string(LineValid)+"'").
	OrderExpr("bl.id").String() + " LIMIT $4")

// readLines reads the lines, after one line, that payments can be made of, with what they say.
func (s *Service) readLines(
	ctx context.Context, b *db.Batch, tenant access.Tenant, of FileUID, after int32, most int,
) ([]*FileLine, error) {
	found := db.Queue(b, readingLines, tenant, lineID(of, after), lineID(of+1, 0), most)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	for _, l := range found.Items {
		if err := l.open(s.keys); err != nil {
			return nil, fmt.Errorf("line %d of file %s: %w", l.Number, of, err)
		}
	}
	return found.Items, nil
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
	return db.ExecAtCommit(ctx, `UPDATE bulk_file_lines AS l
		SET status = n.status, payment = nullif(n.payment, 0),
		faults = n.faults::jsonb FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[]) AS n(id, status,
		  payment, faults)
		WHERE l.tenant = $1 AND l.id = n.id`, lines[0].Tenant, ids, statuses, made, faults)
}
