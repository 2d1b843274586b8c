package payments

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/positivepay"
	"bankgraph/db"
)

// Mark names a step of a payment that an event tells of.
type Mark struct {
	Payment UID
	Number  int32
}

// Told is a payment as an event of one of its steps tells of it: its state, reason and time are those of the
// step. All else is as it is when it is told.
type Told struct {
	*Shown

	Details *Details // nil for a book transfer, and for readers who do not see the payer
	Entry   *Entry   // of a payment over ACH; nil for others
	// what positive pay says of a debit of another bank; nil for others
	Decision *positivepay.ToldException
	File     *OfFile // the bulk file that it came with; nil for others, and for readers who do not see who uploaded it
	// the batch that it is a step of; nil for others, and for readers who do not see the payer
	Batch   *OfBatch
	Message string  // the id of the message that carried it; '' as long as there is none
	Notice  *Notice // the notice of change of which the step tells; nil for others, and for readers who do not see whose it is
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

// Tell reads steps of payments as the caller sees them. Those of payments that it does not see are absent.
func (s *Service) Tell(ctx context.Context, of []Mark) (map[Mark]*Told, error) {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return nil, err
	}
	return s.tell(ctx, s.db.Batch(), caller, caller.May(access.ManageContacts), of)
}

// TellTo is Tell for whoever has the reach of a customer: workers deliver only what it may see.
func (s *Service) TellTo(
	ctx context.Context, reach access.Reach, customer int64, of []Mark,
) (map[Mark]*Told, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	reader := access.Caller{Tenant: caller.Tenant, Entity: customer, Reach: reach}
	return s.tell(ctx, s.db.PrimaryBatch(), reader, true, of)
}

var (
	telling      db.QueryCache[Shown]
	tellingFiles db.QueryCache[OfFile]
	tellingSteps db.QueryCache[OfBatch]
)

// batchesOf reads the steps of waterfalls that payments are of.
func batchesOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, OfBatch] {
	text := tellingSteps.Get(reader.Reach, func() string {
		return "SELECT ws.payment, wf.waterfall_id::text AS id, ws.payment_index AS index FROM waterfall_steps AS ws " +
			"JOIN waterfalls AS wf ON wf.tenant = ws.tenant AND wf.uid = ws.waterfall " +
			"JOIN payments AS pay ON pay.tenant = ws.tenant AND pay.uid = ws.payment " +
			"WHERE ws.tenant = $1 AND wf.tenant = $1 AND pay.tenant = $1 AND ws.payment = ANY($3) AND " +
			reader.Reach.Scope("pay.customer")
	})
	return db.QueueMany(b, text, func(one *OfBatch) UID { return one.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}

// filesOf reads the bulk files that payments are of.
func filesOf(b *db.Batch, reader access.Caller, of []UID) *db.Many[UID, OfFile] {
	text := tellingFiles.Get(reader.Reach, func() string {
		return "SELECT bl.payment, bf.uid AS number, bf.name FROM bulk_file_lines AS bl " +
			"JOIN bulk_files AS bf ON bf.tenant = bl.tenant AND bf.uid = bl.file " +
			"WHERE bl.tenant = $1 AND bf.tenant = $1 AND bl.payment = ANY($3) AND " + reader.Reach.Scope("bf.customer")
	})
	return db.QueueMany(b, text, func(f *OfFile) UID { return f.Payment }, reader.Tenant,
		reader.ScopeCustomer(), of)
}

// tell reads steps of payments. whole says whether the reader may read whole what notices of change say.
func (s *Service) tell(
	ctx context.Context, b *db.Batch, reader access.Caller, whole bool, of []Mark,
) (map[Mark]*Told, error) {
	if len(of) == 0 {
		return nil, nil
	}
	uids := make([]UID, 0, len(of))
	for _, mark := range of {
		uids = append(uids, mark.Payment)
	}
	text := telling.Get(reader.Reach, func() string {
		return showing(reader.Reach).Where(seen(reader.Reach)).Where("pay.uid = ANY($3)").String()
	})
	found := db.QueueMany(b, text, func(p *Shown) UID { return p.UID }, reader.Tenant,
		reader.ScopeCustomer(), uids)
	steps, details, messages := s.stepsOf(b, reader, uids), s.detailsOf(b, reader, uids),
		s.messagesOf(b, reader, uids)
	entries := s.entriesOf(b, reader, uids)
	decisions, files := positivepay.Tell(b, reader, uids64(uids)), filesOf(b, reader, uids)
	batches, notices := batchesOf(b, reader, uids), s.noticesOf(b, reader, uids)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	all := map[Mark]*Told{}
	for _, mark := range of {
		for _, step := range steps.Of[mark.Payment] {
			if step.Number == mark.Number && len(found.Of[mark.Payment]) > 0 {
				told := step.told(*found.Of[mark.Payment][0], messages.Of[mark.Payment])
				told.Details, told.Entry = only(details.Of[mark.Payment]), only(entries.Of[mark.Payment])
				told.Decision = only(decisions.Of[int64(mark.Payment)])
				told.File, told.Batch = only(files.Of[mark.Payment]), only(batches.Of[mark.Payment])
				for _, n := range notices.Of[mark.Payment] {
					if n.Number != mark.Number {
						continue
					}
					if err := n.open(s.keys, whole); err != nil {
						return nil, err
					}
					told.Notice = n
				}
				all[mark] = told
			}
		}
	}
	return all, nil
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

// told returns the payment as it was at a step. The first message in the payment's own direction carried it.
func (s *Step) told(p Shown, messages []*Message) *Told {
	p.State, p.Reason, p.UpdatedAt, p.Version = s.State, s.Reason, s.At, s.Number
	if post := p.MemoPost(); post == NotPosted || post == MemoFailure {
		p.free()
	}
	told := &Told{Shown: &p}
	for _, m := range messages {
		if m.Direction == p.Direction && !m.At.After(s.At) {
			told.Message = m.MessageID
			break
		}
	}
	return told
}

// EndToEnd returns the reference that is carried to the payee; empty for a book transfer.
func (t *Told) EndToEnd() string {
	if t.Details == nil {
		return ""
	}
	return endToEnd(t.Details, &t.Payment)
}
