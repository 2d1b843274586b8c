package payments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/core/money"
	"bankgraph/core/rails/nacha"
)

// Deposits are small credits over ACH by which a customer finds out whether a contact has the account that
// its number leads to. Each is a payment like any other: it has its fee, counts against limits, and waits for
// a second person where the settings ask for one.
type Deposits struct {
	Account   accounts.UID // that pays
	Contact   contacts.UID
	Cents     []int64
	Reference string // of the payments, each followed by its own number
}

// depositWords are the names that deposits have for the fields of their orders.
var depositWords = map[string]string{
	"sender": "account", "sender.accountUID": "account", "sender.accountNumber": "account",
	"sender.achCompanyID": "account", "receiver": "contact", "receiver.accountUID": "contact",
}

// DepositTx makes deposits in the name of by, in one transaction with what they are for. All are made or
// none: after a fault the transaction must be rolled back.
func (s *Service) DepositTx(
	ctx context.Context, tx bun.Tx, by access.Caller, d Deposits, now time.Time,
) ([]UID, error) {
	orders := make([]*Order, len(d.Cents))
	for i, cents := range d.Cents {
		orders[i] = &Order{
			Sender: Party{UID: d.Account}, Receiver: Receiver{Contact: d.Contact}, Speed: string(Economy),
			Amount: money.Of(cents, usDollar).String(), Currency: string(usDollar), Notes: nacha.AccountVerification,
			Channel: "Verification", ExternalReferenceID: fmt.Sprintf("%s-%d", d.Reference, i+1),
		}
	}
	f, err := s.gatherTx(ctx, tx, by.Tenant, wantedBy(orders, now).madeBy(now, by))
	if err != nil {
		return nil, err
	}
	account, err := f.party(s, by, "sender", orders[0].Sender)
	if err != nil {
		return nil, fault.Called(err, depositWords)
	}
	for _, o := range orders {
		o.SECCode = account.class(o.entryType())
	}
	made, proposals, why, err := s.makeEachTx(ctx, tx, f, by, orders, now)
	if why != nil {
		return nil, fault.Called(why, depositWords)
	}
	if err != nil {
		return nil, err
	}
	uids := make([]UID, len(made))
	for i, p := range made {
		uids[i] = p.UID
		if proposals[i] == nil {
			continue
		}
		if _, err := s.send.ProposeTx(ctx, tx, by, now, *orders[i], *proposals[i]); err != nil {
			return nil, fmt.Errorf("propose payment %s: %w", p.UID, err)
		}
	}
	return uids, nil
}

// StopDepositsTx cancels those of some deposits that have not left, for a reason that their timelines tell.
// Those that compliance looks at stay with it. The approvals for which they wait are locked
// (changes.LockWaiting).
func (s *Service) StopDepositsTx(ctx context.Context, tx *changes.Tx, of []UID, why string) error {
	var waiting []*Payment
	err := tx.NewSelect().Model(&waiting).Where("pay.tenant = ?", tx.Caller.Tenant).
		Where("pay.uid IN (?)", bun.List(of)).Where("pay.state IN (?)", bun.List(cancelling.From)).
		OrderExpr("pay.uid").For("NO KEY UPDATE").Scan(ctx)
	if err != nil {
		return fmt.Errorf("lock deposits: %w", err)
	}
	var held []*Payment
	for _, p := range waiting {
		if p.State == Queued {
			held = append(held, p)
		}
	}
	if err := s.releaseTx(ctx, tx.Tx, held...); err != nil {
		return err
	}
	for _, p := range waiting {
		if err := s.dropTx(ctx, tx, p, why); err != nil {
			return err
		}
	}
	return nil
}

// GoneBack are the states of a payment to another bank whose money did not stay there.
var GoneBack = []State{Returned, Rejected, Invalid, Cancelled}

// Arrived reports whether a payment to another bank has arrived.
func (s State) Arrived() bool {
	return slices.Contains([]State{Settled, Recalling, ReversalRejected, ReversalPartly, ReversalAccepted}, s)
}
