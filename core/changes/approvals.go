package changes

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/events"
	"bankgraph/core/seal"
)

// DraftColumn names the column for which drafts are sealed (seal.Place).
const DraftColumn = "approvals.draft"

// NeedsApproval reports whether a change must wait for a second person: the settings ask for one (asked), and
// this transaction does not carry out an approved change.
func (tx *Tx) NeedsApproval(asked bool) bool { return asked && !tx.Approved() }

// Approved reports whether the caller approves the change of another person: as its checker, or the first of
// two.
func (tx *Tx) Approved() bool { return tx.approvers > 0 }

// Approvers returns how many people beside who asked have to approve the change, where the caller is one of
// them; 0 where nobody has to.
func (tx *Tx) Approvers() int32 { return tx.approvers }

// Waits reports whether the change of this transaction was kept for a second person.
func (tx *Tx) Waits() bool { return tx.receipt.Approval != 0 }

// Approval returns the approval that the change of this transaction waits for; 0 if it does not wait.
func (tx *Tx) Approval() UID { return UID(tx.receipt.Approval) }

// Proposal is a change that is to wait for a second person.
type Proposal struct {
	Customer int64 // the customer that the change concerns
	UID      fmt.Stringer
	Version  int32 // the object's present version
	Before   any   // the present row; nil if it was just created as Pending
	After    any   // the row once the change is approved

	BeforeToo, AfterToo any // another object that changes together with the row; nil if none does

	By        access.Reach // the least reach of the checker, if wider than the maker's own
	Approvers int32        // how many must agree: 0 and 1 are one, the most is two (Operation.Partly)
}

// ApprovedBy returns why the approval that the transaction carries out is not one by so many people, the last
// of whom has this reach: settings may ask for more since the change was asked for (ErrStale, ErrNotYours).
func (tx *Tx) ApprovedBy(people int32, by access.Reach) error {
	switch {
	case people > max(1, tx.approvers):
		return ErrStale
	case by != "" && !tx.Caller.Reach.AtLeast(by):
		return ErrNotYours
	}
	return nil
}

// ProposeOr proposes the change if it needs approval. Otherwise it calls write, unless another change of the
// same object waits (ErrWaiting), or the change takes more people by now than have approved it (ApprovedBy).
func (tx *Tx) ProposeOr(ctx context.Context, asked bool, p Proposal, write func() error) error {
	if tx.NeedsApproval(asked) {
		return tx.Propose(ctx, p)
	}
	if asked { // and people have approved
		if err := tx.ApprovedBy(p.Approvers, p.By); err != nil {
			return err
		}
	}
	if err := tx.RequireNoOpenApproval(ctx, p.UID); err != nil {
		return err
	}
	return write()
}

// Propose keeps the change of this transaction for a second person instead of making it. A new object has
// already been created, as Pending; an existing one stays as it is. Propose returns ErrWaiting if another
// change of the object waits, and ErrOpen if too many changes wait.
func (tx *Tx) Propose(ctx context.Context, p Proposal) error {
	if err := tx.RequireNoOpenApproval(ctx, p.UID); err != nil {
		return err
	}
	if err := tx.HasRoom(ctx); err != nil {
		return err
	}
	before, after := audit.Diff(p.Before, p.After)
	if p.AfterToo != nil {
		b, a := audit.Diff(p.BeforeToo, p.AfterToo)
		before, after = audit.Together(before, b), audit.Together(after, a)
	}
	w := &waiting{Version: p.Version, Approval: Approval{
		Tenant: tx.Caller.Tenant, Customer: p.Customer, Operation: tx.operation.name, Object: tx.operation.object,
		ObjectUID: p.UID.String(), Creation: p.Before == nil, Before: before, After: after,
		Reason: tx.Options.Reason, Status: Open, MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID,
		MakerReach: tx.Caller.Reach, Decides: tx.Caller.Reach, Approvers: max(1, p.Approvers),
		MakerParty: tx.party,
	}}
	maker := tx.Caller.Accountable()
	if w.MakerEntity = maker.Entity; maker.Person != uuid.Nil {
		w.MakerPerson = &maker.Person
	}
	if p.By.AtLeast(w.Decides) {
		w.Decides = p.By
	}
	if err := tx.NewRaw(`SELECT nextval('approval_uids')`).Scan(ctx, &w.UID); err != nil {
		return err
	}
	w.Draft = tx.operation.service.keys.Encrypt(string(tx.draft), w.place())
	if _, err := tx.NewInsert().Model(w).Returning("NULL").Exec(ctx); err != nil {
		return fmt.Errorf("keep %s for approval: %w", tx.operation.name, err)
	}
	tx.receipt.Approval, tx.receipt.Version = int64(w.UID), p.Version
	entry := audit.Entry{
		Action: tx.operation.name, Decision: audit.Proposed, Object: tx.operation.object, UID: w.ObjectUID,
		Customer: &p.Customer, Before: before, After: after, Reason: tx.Options.Reason,
	}.By(tx.Caller)
	return tx.tell(ctx, entry, "proposeChange", w)
}

// Keep replaces the draft that is kept if the change waits, by one that also says what the work found out and
// the checker is shown, for the work to compare once the change is approved. Call it before Propose.
func (tx *Tx) Keep(draft any) (err error) {
	tx.draft, err = json.Marshal(draft)
	return err
}

// RequireNoOpenApproval returns ErrWaiting while a change of the object waits for a second person. A change
// of a customer may change its limits too, so customer and limits block each other.
func (tx *Tx) RequireNoOpenApproval(ctx context.Context, object fmt.Stringer) error {
	kinds := []string{tx.operation.object}
	if tx.operation.object == "customer" || tx.operation.object == "limits" {
		kinds = []string{"customer", "limits"}
	}
	var open UID // 0 where nothing waits
	err := tx.NewRaw(
		`SELECT coalesce((SELECT uid FROM approvals WHERE tenant = ? AND object IN ? AND object_uid = ?
		AND status = 'Open' ORDER BY uid LIMIT 1), 0)`,
		tx.Caller.Tenant, bun.Tuple(kinds), object.String()).Scan(ctx, &open)
	if err == nil && open != 0 {
		return ErrWaiting.Saying("a change of it waits for approval " + open.String() +
			": decide on that first")
	}
	return err
}

// LockWaiting locks the open approvals of objects of a kind, as far as the caller sees them. Call
// it before Withdraw, and before anything else is locked: who decides locks the approval first and then the
// object, and neither must wait for the other.
func (tx *Tx) LockWaiting(ctx context.Context, kind string, objects ...string) error {
	if len(objects) == 0 {
		return nil
	}
	return tx.lockOpen(ctx, tx.NewSelect().Where("p.object = ?", kind).
		Where("p.object_uid IN (?)", bun.List(objects)))
}

// LockWaitingOf is LockWaiting for all that waits of a customer. Call it before LeaveToBank.
func (tx *Tx) LockWaitingOf(ctx context.Context, customer int64) error {
	return tx.lockOpen(ctx, tx.NewSelect().Where("p.customer = ?", customer))
}

func (tx *Tx) lockOpen(ctx context.Context, some *bun.SelectQuery) error {
	var locked []UID
	return some.Model((*Approval)(nil)).Column("uid").Where("p.tenant = ?", tx.Caller.Tenant).
		Where("p.status = ?", Open).Where(tx.Caller.Reach.ScopeTx("p.customer"), tx.Caller.Tenant,
		tx.Caller.ScopeCustomer()).
		Order("p.uid").For("NO KEY UPDATE OF p").Scan(ctx, &locked)
}

// Withdraw ends the open approval of an object of a kind, since the change that it is for is taken back.
func (tx *Tx) Withdraw(ctx context.Context, kind string, object fmt.Stringer) error {
	_, err := tx.NewRaw(
		`UPDATE approvals SET status = ?, checker_client = ?, checker_login = ?, checker_reach = ?, decided_at = ?,
			decision_reason = ?
		WHERE tenant = ? AND object = ? AND object_uid = ? AND status = 'Open'`,
		Refused, tx.Caller.Client, tx.Caller.LoginID, tx.Caller.Reach, tx.Now, tx.Options.Reason,
		tx.Caller.Tenant, kind, object.String()).Exec(ctx)
	return err
}

// LeaveToBank hands the approvals of a customer to the bank, when the customer moves to another partner: the
// new partner neither sees them, with what the former one wrote, nor decides on them, and they take no more
// room of whoever asked for them (RoomTx). It marks those that are open, and the last one: with it all before
// are left to the bank (notFormer), of which there may be very many.
func (tx *Tx) LeaveToBank(ctx context.Context, customer int64) error {
	_, err := tx.NewRaw(
		`UPDATE approvals SET former = true, decides = ?0, maker_reach = ?0, maker_party = 0 WHERE tenant = ?1 AND uid IN (
			SELECT o.uid FROM approvals AS o WHERE o.tenant = ?1 AND o.customer = ?2 AND o.status = ?3
			UNION SELECT max(l.uid) FROM approvals AS l WHERE l.tenant = ?1 AND l.customer = ?2)`,
		access.OfBank, tx.Caller.Tenant, customer, Open).Exec(ctx)
	return err
}

// notFormer is the condition that an approval is not one of those that LeaveToBank has left to the bank.
func notFormer(tenant string) string {
	return "NOT EXISTS (SELECT FROM approvals AS f WHERE f.tenant = " + tenant +
		" AND f.customer = p.customer AND f.uid >= p.uid AND f.former)"
}

func (tx *Tx) tell(ctx context.Context, entry audit.Entry, kind string, w *waiting) error {
	return tx.enter(ctx, entry,
		events.Event{Tenant: w.Tenant, Kind: kind, Object: "approval", UID: w.UID.String(), Customer: &w.Customer})
}

func (w *waiting) place() seal.Place {
	return seal.Place{Tenant: int64(w.Tenant), Column: DraftColumn, Row: int64(w.UID)}
}
