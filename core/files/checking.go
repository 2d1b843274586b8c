package files

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

const (
	checkedTogether = 250              // lines that are checked, and written, at a time
	longestStep     = 4 * time.Second  // of one call of Check or Pay
	leaseFor        = 15 * time.Second // how long no other worker takes the file
	mostJunk        = 1000             // lines with faults after which a file of little else is read no further
	mostToldFaulty  = 10_000           // faulty lines of a file of which all that they say is kept
	mostStalled     = 20               // calls that ended with the process, or by an error, and got no further
	putOffFor       = time.Minute      // until it is seen whether there is room for more lines
)

// Check reads files of the caller's bank that have come in, and says of each line what would become of it.
// One call works on one file for some seconds, and returns how many lines it has checked; the next call, in
// any process, goes on from there. It is for workers.
func (s *Service) Check(ctx context.Context) (checked int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	f, err := s.lease(ctx, caller, now)
	if err != nil || f == nil {
		return 0, err
	}
	if f.Stalled > mostStalled {
		return 1, (&checking{s: s, f: f, worker: caller, now: now}).finish(ctx,
			Faults{{0, "", string(fault.Internal), "the bank could not read the file"}})
	}
	c := &checking{
		s: s, f: f, worker: caller, now: now, until: time.Now().Add(s.step),
	}
	if err = c.room(ctx); err == nil {
		err = c.read(ctx)
	}
	if failed := c.written(); failed != nil {
		err = failed
	}
	var wrong errBroken
	switch {
	case errors.As(err, &wrong):
		err = c.finish(ctx, Faults{wrong.FileFault})
	case errors.Is(err, errEnough):
		err = s.leave(ctx, f)
	case errors.Is(err, errNoRoom):
		err = s.putOff(ctx, f)
	case errors.Is(err, errLost):
		err = nil
	case errors.Is(ctx.Err(), context.Canceled), db.IsPassing(err):
		s.giveBack(ctx, f)
	}
	if err != nil {
		return c.lines, fmt.Errorf("check file %s: %w", f.UID, err)
	}
	return c.lines + 1, nil
}

var (
	// errEnough ends the reading when a call has worked long enough.
	errEnough = errors.New("the rest of the file is checked later")
	// errNoRoom ends the reading before it begins, while too many lines of its party are no payments.
	errNoRoom = errors.New("too many lines are no payments")
	// errLost ends the reading when somebody else works on the file, or it is cancelled.
	errLost = errors.New("somebody else has the file")
)

// turns is the order in which files of a bank are checked or paid, of which a column says when. The party
// comes first whose files have waited longest for it, and of its callers, the API key, or the person, of whom
// that holds. So however many files a party has, and however many people, others wait for one of them at
// most; and so do the callers of a party.
func turns(at string) string {
	return `(SELECT max(o.` + at + `) FROM bulk_files AS o
	  WHERE o.tenant = ?0 AND o.party = bf.party) NULLS FIRST,
	(SELECT max(o.` + at + `) FROM bulk_files AS o WHERE o.tenant = ?0 AND o.party = bf.party
	  AND o.maker_client = bf.maker_client AND o.maker_login = bf.maker_login) NULLS FIRST`
}

// lease takes the file that is to be checked next, for some seconds; nil if there is none. Callers take turns.
// Of one caller's files the one that was worked on least often is next, so that large and small files take
// turns.
func (s *Service) lease(ctx context.Context, caller access.Caller, now time.Time) (*BulkFile, error) {
	f := new(BulkFile)
	err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		err := tx.NewSelect().Model(f).Where("bf.tenant = ?", db.Number(caller.Tenant)).
			Where("bf.status IN (?)", bun.List([]FileStatus{Received, Validating})).
			Where("coalesce(bf.leased_until, '-infinity') < clock_timestamp()").
			OrderExpr(turns("checked_at")+", bf.attempt, bf.uid", db.Number(caller.Tenant)).Limit(1).
			For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
		if err != nil {
			return err
		}
		was := *f
		f.Attempt, f.Stalled, f.WorkedAt = f.Attempt+1, f.Stalled+1, new(time.Now())
		f.CheckedAt = f.WorkedAt
		if f.Status == Received {
			if err := s.enterTx(ctx, tx, caller, &was, f, Validating, now); err != nil {
				return err
			}
		}
		_, err = db.Raw(tx, `UPDATE bulk_files SET attempt = ?, stalled = ?, worked_at = ?, checked_at = ?,
			leased_until = clock_timestamp() + ?::interval WHERE tenant = ? AND uid = ?`,
			f.Attempt, f.Stalled, f.WorkedAt, f.CheckedAt, leaseFor.String(), f.Tenant, f.UID).Exec(ctx)
		return err
	})
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil // there is no file to check
	}
	if err != nil {
		return nil, fmt.Errorf("take a file to check: %w", err)
	}
	return f, nil
}

// leave gives up the lease of a file, so that others can go on with it.
func (s *Service) leave(ctx context.Context, f *BulkFile) error {
	return s.db.InTx(ctx, int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := db.Raw(tx,
			`UPDATE bulk_files SET leased_until = NULL, stalled = 0
				WHERE tenant = ? AND uid = ? AND attempt = ?`, f.Tenant, f.UID, f.Attempt).Exec(ctx)
		return err
	})
}

// putOff keeps a file, and those that its caller uploaded later for the party, from being checked for a
// while.
func (s *Service) putOff(ctx context.Context, f *BulkFile) error {
	return s.db.InTx(ctx, int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := db.Raw(tx, `UPDATE bulk_files SET leased_until = clock_timestamp() + ?0::interval,
			stalled = CASE WHEN uid = ?1 THEN 0 ELSE stalled END
			WHERE tenant = ?2 AND uid IN (SELECT uid FROM bulk_files WHERE tenant = ?2 AND party = ?3
			  AND maker_client = ?4 AND maker_login = ?5 AND status IN ('RECEIVED', 'VALIDATING')
			  AND (uid = ?1 AND attempt = ?6
			    OR uid > ?1 AND coalesce(leased_until, '-infinity') < clock_timestamp())
			  FOR NO KEY UPDATE SKIP LOCKED)`,
			putOffFor.String(), f.UID, f.Tenant, f.Party, f.MakerClient, f.MakerLogin, f.Attempt).Exec(ctx)
		return err
	})
}

// giveBack gives up the lease of a file at once when the worker was told to stop, or found the database away
// or busy. Nothing of that is the file's fault, so it does not count against the file. If this fails too, the
// lease runs out.
func (s *Service) giveBack(ctx context.Context, f *BulkFile) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	_ = s.db.InTx(ctx, int64(f.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := db.Raw(tx,
			`UPDATE bulk_files SET leased_until = NULL, stalled = ?
				WHERE tenant = ? AND uid = ? AND attempt = ?`,
			f.Stalled-1, f.Tenant, f.UID, f.Attempt).Exec(ctx)
		return err
	})
}

// checking is the checking of one file.
type checking struct {
	s      *Service
	f      *BulkFile
	worker access.Caller
	now    time.Time
	until  time.Time
	lines  int    // that this call has checked
	others unpaid // lines of the party's other files, when this call began

	waiting []*readPayment
	batches batches    // that are not written yet
	writing chan error // receives when the lines before are written; nil if none are being written
}

// read reads the file from where its checking has stopped.
func (c *checking) read(ctx context.Context) error {
	switch c.f.Type {
	case NACHA:
		return c.readNACHA(ctx)
	case Fedwire:
		open := func(from int64) (io.Reader, error) { return c.s.text(ctx, c.f, from) }
		err := readWires(open, c.f.Position, c.f.Checked,
			func(one *readPayment) error { return c.take(ctx, one) })
		return c.done(ctx, err, nil)
	}
	r := &reader{kind: c.f.Type}
	head, err := c.s.text(ctx, c.f, 0)
	if err != nil {
		return err
	}
	begins, err := r.readHeader(head)
	if err != nil {
		return err
	}
	at, before := begins, int32(1)
	if c.f.Position > 0 {
		at, before = c.f.Position, c.f.Checked
	}
	text, err := c.s.text(ctx, c.f, at)
	if err == nil {
		err = r.readLines(text, at, before, func(one *readPayment) error { return c.take(ctx, one) })
	}
	return c.done(ctx, err, nil)
}

func (c *checking) readNACHA(ctx context.Context) error {
	if c.f.Size > nachaMost {
		return broken(0, "", fault.Max, "files of ACH must not be larger than 50 MiB")
	}
	first, err := c.s.firstReading(ctx, c.f)
	if err != nil {
		return err
	}
	for _, b := range first.batches {
		c.f.OffsetAccount = cmp.Or(c.f.OffsetAccount, b.OffsetAccount)
	}
	if c.batches = first.batches; len(first.whole) > 0 {
		return c.done(ctx, nil, first.whole)
	}
	again, err := c.s.text(ctx, c.f, 0)
	if err == nil {
		today := calendar.Today(c.now)
		err = readEntries(again, first.batches, first.entries, c.f.Checked, func(one *readPayment) error {
			if one.order != nil && one.order.Date.Before(today) {
				one.order.Date = time.Time{} // ACH settles an entry whose day has passed on the next one
			}
			return c.take(ctx, one)
		})
	}
	return c.done(ctx, err, nil)
}

// done checks the last lines, and settles what becomes of the file.
func (c *checking) done(ctx context.Context, err error, whole Faults) error {
	if err == nil {
		err = c.flush(ctx)
	}
	if err == nil {
		err = c.written()
	}
	if err != nil {
		return err
	}
	return c.finish(ctx, whole)
}

// take checks a line together with those that follow.
func (c *checking) take(ctx context.Context, one *readPayment) error {
	if one.last >= 1<<lineBits { // higher numbers would belong to another file
		return broken(0, "", fault.Max,
			fmt.Sprintf("the file has more than %d lines, empty ones counted", 1<<lineBits-1))
	}
	if c.f.Valid+c.f.Failed+int32(len(c.waiting)) >= mostLines { //nolint:gosec // a few hundred
		return broken(one.line, "", fault.Max, fmt.Sprintf("the file has more than %d payments", mostLines))
	}
	c.waiting = append(c.waiting, one)
	if len(c.waiting) < checkedTogether {
		return nil
	}
	if err := c.flush(ctx); err != nil {
		return err
	}
	if c.f.Failed >= mostJunk && c.f.Failed > 9*c.f.Valid {
		return broken(one.line, "", fault.Max,
			"more than nine of ten lines up to this one have faults: it is read no further")
	}
	if time.Now().After(c.until) {
		return errEnough
	}
	return nil
}

// flush finds out what would become of the lines that wait, and writes that, and how far the file has come,
// while the next lines are read.
func (c *checking) flush(ctx context.Context) error {
	if len(c.waiting) == 0 && len(c.batches) == 0 {
		return nil
	}
	var orders []*payments.Order
	var of []int
	for i, one := range c.waiting {
		if one.order != nil && len(one.faults) == 0 {
			orders, of = append(orders, one.order), append(of, i)
		}
	}
	by, err := customers.AskerTx(ctx, c.s.db, c.worker, c.f.Maker, c.f.Customer)
	if err != nil {
		return err
	}
	planned, err := c.s.payments.Plan(ctx, by, c.f.Customer, orders, c.now)
	if err != nil {
		return err
	}
	before := *c.f
	lines, drafts := make([]*FileLine, len(c.waiting)), make([]*payments.Order, len(c.waiting))
	for i, one := range c.waiting {
		lines[i], drafts[i] = c.line(one), one.order
	}
	for k, i := range of {
		c.plan(lines[i], c.waiting[i], planned[k])
	}
	for i, l := range lines {
		if l.Status == LineFailed {
			c.f.Failed++
			if c.f.Failed > mostToldFaulty {
				l.shorten()
				drafts[i] = nil
			}
		}
		c.f.Checked, c.f.Position = max(c.f.Checked, c.waiting[i].last), max(c.f.Position, c.waiting[i].end)
	}
	if err := c.wastes(); err != nil {
		*c.f = before // these lines are not kept
		return err
	}
	if err := c.written(); err != nil {
		return err
	}
	c.writing = make(chan error, 1)
	go func(f BulkFile, batches batches, told chan<- error) {
		for i, l := range lines {
			if err := l.seals(c.s.keys, drafts[i]); err != nil {
				told <- err
				return
			}
		}
		told <- c.s.writeChecked(ctx, &f, batches, lines)
	}(*c.f, c.batches, c.writing)
	c.lines, c.waiting, c.batches = c.lines+len(lines), c.waiting[:0], nil
	return nil
}

// room returns errNoRoom while so many lines of other files are no payments that no more are checked. However
// much text comes in before any of it is read, it becomes no more lines than that.
func (c *checking) room(ctx context.Context) error {
	f := c.f
	found, err := db.ReadPrimary(ctx, c.s.db, countingOthers, f.Tenant, f.Party, f.MakerClient, f.MakerLogin,
		f.UID)
	if err != nil {
		return fmt.Errorf("count the lines that pay nothing: %w", err)
	}
	if c.others = *found[0]; c.others.full() {
		return errNoRoom
	}
	return nil
}

// wastes ends the reading of a file that has faults in more than a tenth of its lines once those of its
// maker's files that pay nothing are mostWasted, however many files came in before they were found.
func (c *checking) wastes() error {
	f := c.f
	if lines := f.Failed + f.Valid; lines < fewestWasted || f.Failed <= lines/10 ||
		c.others.Own+int64(f.Failed) < mostWasted {
		return nil
	}
	return broken(0, "", fault.Max, ErrWasted.Message)
}

// written waits until the lines before are written.
func (c *checking) written() error {
	if c.writing == nil {
		return nil
	}
	err := <-c.writing
	c.writing = nil
	return err
}

// line makes the row of a line, as one with faults until more is known.
func (c *checking) line(one *readPayment) *FileLine {
	l := &FileLine{
		Tenant: c.f.Tenant, ID: lineID(c.f.UID, one.line), File: c.f.UID, Number: one.line, Batch: one.batch,
		EntryType: rails.Credit, Currency: inCents,
	}
	l.fails(one.faults)
	if one.order == nil {
		return l
	}
	if one.order.EntryType != "" {
		l.EntryType = one.order.EntryType
	}
	if amount, err := parseAmount(one.order.Amount); err == nil {
		l.Minor = amount
	}
	return l
}

// plan enters what would become of a line that has no faults of its own.
func (c *checking) plan(l *FileLine, one *readPayment, is payments.Planned) {
	if is.Payment != nil {
		l.Rail, l.Minor, l.SenderName = is.Payment.Rail, is.Payment.Minor, is.Payment.OwnerName()
	}
	if is.Why != nil {
		l.fails(faultsOf(one.line, is.Why, columnsOf(c.f.Type, one.order)))
		return
	}
	f, p := c.f, is.Payment
	l.Status = LineValid
	f.Valid++
	f.Largest = max(f.Largest, p.Minor)
	if l.EntryType == rails.Debit {
		f.Debits += p.Minor
	} else {
		f.Credits += p.Minor
	}
	if f.PaymentDate == nil || p.Date.Before(*f.PaymentDate) {
		on := p.Date
		f.PaymentDate = &on
	}
	f.Approvers = max(f.Approvers, is.Approvers)
	f.ByBank = f.ByBank || is.By == access.OfBank
}
