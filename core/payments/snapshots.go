package payments

import (
	"context"
	"slices"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/positivepay"
	"bankgraph/db"
)

// StepKey names a step of a payment.
type StepKey struct {
	Payment UID
	Number  int32
}

// Snapshot is a payment as of one of its steps, as events show it: its state, reason and time are those of
// the step. All else is as it is when it is read.
type Snapshot struct {
	*Shown

	Details *Details // nil for a book transfer, and for readers who do not see the payer
	Entry   *Entry   // of a payment over ACH; nil for others
	// what positive pay says of a debit of another bank; nil for others
	Decision *positivepay.ExceptionWithRule
	// the bulk file that it came with; nil for others, and for readers who do not see who uploaded it
	File *OfFile
	// the batch that it is a step of; nil for others, and for readers who do not see the payer
	Batch   *OfBatch
	Message string // the id of the message that carried it; '' as long as there is none
	// when its money was posted, by the step or before; nil where it was not
	PostedAt *time.Time
	// the notice of change of which the step tells; nil for others, and for readers who do not see whose it is
	Notice *Notice
}

// OfFile is the bulk file that a payment came with.
type OfFile struct {
	Payment UID    `bun:"payment"`
	Number  int64  `bun:"number"`
	Name    string `bun:"name"`
}

// OfBatch is the step of a waterfall that made a payment.
type OfBatch struct {
	Payment UID    `bun:"payment"`
	ID      string `bun:"id"` // a UUID
	Index   int32  `bun:"index"`
}

// Snapshots reads payments as of these steps, as the caller sees them. Those that it does not see are absent.
// A replica may not have the steps yet, and whoever goes on behind them would never see them.
func (s *Service) Snapshots(ctx context.Context, of []StepKey) (map[StepKey]*Snapshot, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return nil, err
	}
	return s.snapshots(ctx, s.db.PrimaryBatch(), caller, caller.May(access.ManageContacts), of)
}

// SnapshotsFor is Snapshots for whoever has the reach of a customer: workers deliver only what it may see.
func (s *Service) SnapshotsFor(
	ctx context.Context, reach access.Reach, customer int64, of []StepKey,
) (map[StepKey]*Snapshot, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	reader := access.Caller{Tenant: caller.Tenant, Entity: customer, Reach: reach}
	return s.snapshots(ctx, s.db.PrimaryBatch(), reader, true, of)
}

var (
	readingSnapshots db.QueryCache[Shown]
	readingFilesOf   db.QueryCache[OfFile]
	readingBatchesOf db.QueryCache[OfBatch]
)

// batchesOf reads the steps of waterfalls that payments are of.
func batchesOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, OfBatch] {
	text := readingBatchesOf.Get(reader.Reach, func() string {
		return "SELECT ws.payment, wf.waterfall_id::text AS id, ws.payment_index AS index FROM waterfall_steps " +
			"AS ws JOIN waterfalls AS wf ON wf.tenant = ws.tenant AND wf.uid = ws.waterfall JOIN payments AS pay ON " +
			"pay.tenant = ws.tenant AND pay.uid = ws.payment WHERE ws.tenant = $1 AND wf.tenant = $1 " +
			"AND pay.tenant = $1 AND ws.payment = ANY($3) AND " +
			reader.Reach.Scope("pay.customer")
	})
	return db.QueueMany(b, text, func(one *OfBatch) UID { return one.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}

// filesOf reads the bulk files that payments are of.
func filesOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, OfFile] {
	text := readingFilesOf.Get(reader.Reach, func() string {
		return "SELECT bl.payment, bf.uid AS number, bf.name FROM bulk_file_lines AS bl " +
			"JOIN bulk_files AS bf ON bf.tenant = bl.tenant AND bf.uid = bl.file " +
			"WHERE bl.tenant = $1 AND bf.tenant = $1 AND bl.payment = ANY($3) AND " +
			reader.Reach.Scope("bf.customer")
	})
	return db.QueueMany(b, text, func(f *OfFile) UID { return f.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}

// snapshots reads payments as of these steps. whole says whether the reader may read whole what notices of
// change say.
func (s *Service) snapshots(
	ctx context.Context, b *db.Batch, reader access.Caller, whole bool, of []StepKey,
) (map[StepKey]*Snapshot, error) {
	if len(of) == 0 {
		return nil, nil
	}
	uids := make([]UID, 0, len(of))
	for _, key := range of {
		uids = append(uids, key.Payment)
	}
	text := readingSnapshots.Get(reader.Reach, func() string {
		return showing(reader.Reach).Where(seen(reader.Reach)).Where("pay.uid = ANY($3)").String()
	})
	found := db.QueueMany(b, text, func(p *Shown) UID { return p.UID }, reader.Tenant,
		reader.ScopeCustomer(), uids)
	steps, details, messages := s.stepsOf(b, reader, uids, unlimited), s.detailsOf(b, reader, uids),
		s.messagesOf(b, reader, uids, unlimited)
	entries := s.entriesOf(b, reader, uids)
	decisions, files := positivepay.ExceptionsWithRules(b, reader, uids64(uids)), filesOf(b, reader, uids)
	batches, notices := batchesOf(b, reader, uids), s.noticesOf(b, reader, uids, unlimited)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	all := map[StepKey]*Snapshot{}
	for _, key := range of {
		for _, step := range steps.Of[key.Payment] {
			if step.Number == key.Number && len(found.Of[key.Payment]) > 0 {
				at := step.snapshot(*found.Of[key.Payment][0], messages.Of[key.Payment])
				at.Undone = step.undoes(steps.Of[key.Payment])
				at.Details, at.Entry = only(details.Of[key.Payment]), only(entries.Of[key.Payment])
				at.PostedAt = postedAt(&at.Payment, steps.Of[key.Payment])
				at.Decision = only(decisions.Of[int64(key.Payment)])
				at.File, at.Batch = only(files.Of[key.Payment]), only(batches.Of[key.Payment])
				for _, n := range notices.Of[key.Payment] {
					if n.Number != key.Number {
						continue
					}
					if err := n.open(s.keys, whole); err != nil {
						return nil, err
					}
					at.Notice = n
				}
				all[key] = at
			}
		}
	}
	return all, nil
}

// postedAt returns when the money of a payment, as of one of its steps, was posted: when it reached the first
// state of those to which that is said.
func postedAt(p *Payment, steps []*Step) *time.Time {
	was := *p
	for _, step := range steps {
		if was.State = step.State; step.Number <= p.Version && was.MemoPost() == Posted {
			return &step.At
		}
	}
	return nil
}

func uids64(uids []UID) []int64 {
	all := make([]int64, len(uids))
	for i, uid := range uids {
		all[i] = int64(uid)
	}
	return all
}

// only returns the one row that there may be.
func only[T any](rows []*T) *T {
	if len(rows) == 0 {
		return nil
	}
	return rows[0]
}

// snapshot returns the payment as of the step. The first message in the payment's own direction carried it.
func (s *Step) snapshot(p Shown, messages []*Message) *Snapshot {
	p.State, p.Reason, p.UpdatedAt, p.Version = s.State, s.Reason, s.At, s.Number
	if post := p.MemoPost(); post == NotPosted || post == MemoFailure {
		p.free()
	}
	at := &Snapshot{Shown: &p}
	for _, m := range messages {
		if m.Direction == p.Direction && !m.At.After(s.At) {
			at.Message = m.MessageID
			break
		}
	}
	return at
}

// undoes reports whether the step takes a payment back to where it stood before a return or a recall of it,
// which its network has refused. all are the payment's steps.
func (s *Step) undoes(all []*Step) bool {
	return (s.State == Settled || s.State == Recalled) && slices.ContainsFunc(all, func(was *Step) bool {
		return was.Number == s.Number-1 && (was.State == Returning || was.State == Recalling)
	})
}

// EndToEnd returns the reference that is carried to the payee; empty for a book transfer.
func (s *Snapshot) EndToEnd() string {
	if s.Details == nil {
		return ""
	}
	return endToEnd(s.Details, &s.Payment)
}
