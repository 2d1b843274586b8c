package changes

import (
	"context"
	"encoding/json"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
)

// ProposeTx keeps an object that the operation has created for the decision of a second person (Settle), for work that
// finds out later than the request whether one has to agree. The maker is who made the request. It returns the approval.
func (o *Operation[D, R]) ProposeTx(
	ctx context.Context, inner bun.Tx, maker access.Caller, now time.Time, draft D, p Proposal,
) (UID, error) {
	text, err := json.Marshal(draft)
	if err != nil {
		return 0, err
	}
	tx := &Tx{
		Tx: inner, Caller: maker, Now: now, service: o.service, name: o.operationName,
		at: Target{Customer: p.Customer, UID: p.UID.String()}, draft: text,
	}
	err = tx.Propose(ctx, p)
	return UID(tx.receipt.Approval), err
}
