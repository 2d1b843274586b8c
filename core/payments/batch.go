package payments

import (
	"context"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/db"
)

// Batches of book transfers: workers make the transfers one after the other, in the name of whoever asked for
// the batch.

// transfers returns the facts that transfers need.
func transfers(drafts []*Draft) want {
	w := want{created: len(drafts)}
	for _, d := range drafts {
		w.payers, w.payees = append(w.payers, d.Sender), append(w.payees, d.Receiver)
	}
	return w
}

// RefusalsTx returns, for each transfer, the fault for which it could not be made in the name of by, as
// things stand; nil for one that could. A draft of that kind names its accounts by their UIDs afterwards, as
// others may have their numbers by the time when it is made. Balances are not looked at, as the transfers
// before may bring the money. It returns changes.ErrOpen if one of them would wait for people while too many
// changes do. Nothing is locked or written.
func (s *Service) RefusalsTx(
	ctx context.Context, tx bun.Tx, by access.Caller, drafts []*Draft, now time.Time,
) ([]error, error) {
	f, err := s.look(ctx, func() *db.Batch { return db.TxBatch(tx) }, by, transfers(drafts), now)
	if err != nil {
		return nil, err
	}
	all := make([]error, len(drafts))
	for i, d := range drafts {
		p, why := f.transfer(s, by, d, now)
		switch {
		case why == nil:
			if f.needsApproval(p) {
				if err := f.room(); err != nil {
					return nil, err
				}
			}
			d.Sender.UID, d.Sender.Number = p.SenderAccount, ""
			d.Receiver.UID, d.Receiver.Number = p.ReceiverAccount, ""
		case !isFault(why):
			return nil, why
		}
		all[i] = why
	}
	return all, nil
}

// MadeTransfer is what became of a transfer of a batch.
type MadeTransfer struct {
	Payment UID   // 0 if it was refused
	State   State // in which it began: settled, or waiting for a second person
	Why     error // the fault with which it was refused
}

// TransferTx makes a transfer in the name of by, as Transfer does: it is carried out, waits for a second
// person, or is refused and leaves no trace.
func (s *Service) TransferTx(
	ctx context.Context, tx bun.Tx, by access.Caller, draft Draft, now time.Time,
) (made MadeTransfer, err error) {
	f, err := s.gatherTx(ctx, tx, by.Tenant, transfers([]*Draft{&draft}).madeBy(now, by))
	if err != nil {
		return made, err
	}
	p, err := f.transfer(s, by, &draft, now)
	var waits bool
	var to State
	if err == nil {
		if waits = f.needsApproval(p); waits {
			_, err = changes.RoomTx(ctx, tx, by)
		}
	}
	if err == nil {
		to, err = f.start(p, by, now, waits)
	}
	switch {
	case isFault(err):
		return MadeTransfer{Why: err}, nil
	case err != nil:
		return made, err
	}
	var rows rows
	rows.add(p, p.enter(to, by, now, ""))
	if err := rows.writeTx(ctx); err != nil {
		return made, err
	}
	if err := f.writeTx(ctx); err != nil {
		return made, err
	}
	err = recordTx(ctx, tx, []events.Recorded{changes.Change{
		Action: "transferFunds", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
		After: p,
	}.Recorded(by, "")})
	if err == nil && waits {
		proposal := changes.Proposal{Customer: int64(p.Customer), UID: p.UID, Version: p.Version, After: p}
		proposal.Approvers, proposal.By = f.approvers(p)
		_, err = s.transfer.ProposeTx(ctx, tx, by, now, draft, proposal)
	}
	return MadeTransfer{Payment: p.UID, State: p.State}, err
}

// StatesThatWait are the states of a payment that waits for people, or for its day.
var StatesThatWait = []State{PendingApproval, PartlyApproved, Scheduled}

// Waits reports whether a payment in this state waits for people, or for its day.
func (s State) Waits() bool { return slices.Contains(StatesThatWait, s) }
