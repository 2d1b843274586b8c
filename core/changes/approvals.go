package changes

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/events"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// draftColumn is the place that drafts are sealed for.
const draftColumn = "approvals.draft"

// Dual tells whether a change must wait for a second person: where the settings of the customer, or those of the
// bank itself, ask for one and nobody has approved it yet.
func (tx *Tx) Dual(asked bool) bool { return asked && !tx.approved }

// Proposal is a change that is to wait.
type Proposal struct {
	Customer int64 // whose settings ask for it
	UID      fmt.Stringer
	Version  int32 // of the object as it is
	Before   any   // the row as it is; nil for one that was just made as Pending
	After    any   // the row as it would be

	BeforeToo, AfterToo any // of something that changes along with it; nil where nothing does

	By access.Reach // whose the second person must be at least, where that is more than the maker's own reach
}

// Propose keeps the change of this transaction for a second person instead of making it. Something new has been made
// by then, as Pending; something that exists stays as it is. An object waits for one decision at a time: ErrWaiting.
func (tx *Tx) Propose(ctx context.Context, p Proposal) error {
	if err := tx.Quiet(ctx, p.UID); err != nil {
		return err
	}
	before, after := audit.Diff(p.Before, p.After)
	if p.AfterToo != nil {
		b, a := audit.Diff(p.BeforeToo, p.AfterToo)
		before, after = audit.Together(before, b), audit.Together(after, a)
	}
	w := &waiting{Version: p.Version, Approval: Approval{
		Tenant: tx.Caller.Tenant, Customer: p.Customer, Operation: tx.name.name, Object: tx.name.object, ObjectUID: p.UID.String(),
		Creation: p.Before == nil, Before: before, After: after, Reason: tx.Terms.Reason, Status: Open,
		MakerClient: tx.Caller.Client, MakerLogin: tx.Caller.LoginID, MakerReach: tx.Caller.Reach, Decides: tx.Caller.Reach,
	}}
	if p.By.AtLeast(w.Decides) {
		w.Decides = p.By
	}
	if err := tx.NewRaw(`SELECT nextval('approval_uids')`).Scan(ctx, &w.UID); err != nil {
		return err
	}
	w.Draft = tx.service.keys.Seal(string(tx.draft), w.place()).Sealed
	if _, err := tx.NewInsert().Model(w).Returning("NULL").Exec(ctx); err != nil {
		return fmt.Errorf("keep %s for approval: %w", tx.name.name, err)
	}
	tx.mark.Approval, tx.mark.Version = int64(w.UID), p.Version
	entry := audit.Entry{
		Action: tx.name.name, Decision: audit.Proposed, Object: tx.name.object, UID: w.ObjectUID, Customer: &p.Customer,
		Before: before, After: after, Reason: tx.Terms.Reason,
	}.By(tx.Caller)
	if err := audit.WriteTx(ctx, tx.Tx, entry); err != nil {
		return err
	}
	return tx.tell(ctx, "proposeChange", w)
}

// Quiet is ErrWaiting while a change of the object waits for a second person.
func (tx *Tx) Quiet(ctx context.Context, object fmt.Stringer) error {
	var open bool
	err := tx.NewRaw(`SELECT EXISTS (SELECT FROM approvals WHERE tenant = ? AND object = ? AND object_uid = ? AND status = 'Open')`,
		tx.Caller.Tenant, tx.name.object, object.String()).Scan(ctx, &open)
	if err == nil && open {
		return ErrWaiting
	}
	return err
}

func (tx *Tx) tell(ctx context.Context, kind string, w *waiting) error {
	return events.EmitTx(ctx, tx.Tx, events.Event{Tenant: w.Tenant, Kind: kind, Object: "approval", UID: w.UID.String(), Customer: &w.Customer})
}

func (w *waiting) place() seal.Place {
	return seal.Place{Tenant: int64(w.Tenant), Column: draftColumn, Row: int64(w.UID)}
}

// decision is what a second person says.
type decision struct {
	Approve bool
}

func (s *Service) declare() {
	s.approving = Declare(s, "approveChange", "approval", "", s.decideTx)
	s.refusing = Declare(s, "refuseChange", "approval", "", s.decideTx)
}

// Approve carries out a change that waits. The caller needs the permission that the change itself needs and must be
// somebody else than who asked for it: ErrOwn. A change of something that has changed since is ErrStale.
func (s *Service) Approve(ctx context.Context, uid UID, terms Terms) (Outcome[UID], error) {
	return s.decide(ctx, uid, terms, s.approving, decision{Approve: true})
}

// Refuse ends a change that waits without making it. Who asked for it may take it back this way.
func (s *Service) Refuse(ctx context.Context, uid UID, terms Terms) (Outcome[UID], error) {
	return s.decide(ctx, uid, terms, s.refusing, decision{})
}

func (s *Service) decide(ctx context.Context, uid UID, terms Terms, as *Operation[decision, UID], d decision) (Outcome[UID], error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return Outcome[UID]{}, err
	}
	return as.Do(ctx, caller, Target{UID: uid.String()}, d, terms)
}

func (s *Service) decideTx(ctx context.Context, tx *Tx, at Target, d decision) (UID, error) {
	w, err := s.lockTx(ctx, tx, at.UID)
	if err != nil {
		return 0, err
	}
	op, known := s.known[w.Operation]
	switch {
	case !known:
		return 0, fmt.Errorf("approval %s is of operation %q, which this program does not have", w.UID, w.Operation)
	case !tx.Caller.May(op.named().needs):
		return 0, access.ErrDenied
	case w.Status != Open:
		return 0, ErrDecided
	case d.Approve && tx.Caller.Same(w.MakerClient, w.MakerLogin):
		return 0, ErrOwn
	case !tx.Caller.Reach.AtLeast(w.Decides) && !tx.Caller.Same(w.MakerClient, w.MakerLogin):
		return 0, ErrNotYours
	}
	status, said := Refused, audit.Refused
	if d.Approve {
		status, said = Approved, audit.Approved
	}
	_, err = tx.NewRaw(`UPDATE approvals SET status = ?, checker_client = ?, checker_login = ?, checker_reach = ?, decided_at = ?, decision_reason = ? WHERE tenant = ? AND uid = ?`,
		status, tx.Caller.Client, tx.Caller.LoginID, tx.Caller.Reach, tx.Now, tx.Terms.Reason, w.Tenant, w.UID).Exec(ctx)
	if err != nil {
		return 0, err
	}
	if err := s.carryOutTx(ctx, tx, w, op, d.Approve); err != nil {
		return 0, err
	}
	entry := audit.Entry{
		Action: w.Operation, Decision: said, Object: w.Object, UID: w.ObjectUID, Customer: &w.Customer, Reason: tx.Terms.Reason,
	}.By(tx.Caller)
	if err := audit.WriteTx(ctx, tx.Tx, entry); err != nil {
		return 0, err
	}
	return w.UID, tx.tell(ctx, tx.name.name, w)
}

// carryOutTx makes the change that was approved, or lets what was made become what a decision makes of it.
func (s *Service) carryOutTx(ctx context.Context, tx *Tx, w *waiting, op operation, approve bool) error {
	name := op.named()
	inner := &Tx{
		Tx: tx.Tx, Caller: tx.Caller, Now: tx.Now, Terms: Terms{Reason: tx.Terms.Reason}, service: s, name: name,
		at: Target{Customer: w.Customer, UID: w.ObjectUID}, approved: true,
	}
	if w.Creation {
		return op.settled(ctx, inner, inner.at, approve)
	}
	if !approve {
		return nil
	}
	clear, err := s.keys.Open(seal.Text{Sealed: w.Draft}, w.place())
	if err != nil {
		return fmt.Errorf("open the draft of approval %s: %w", w.UID, err)
	}
	inner.draft, inner.Terms.Version = []byte(clear), w.Version
	return op.again(ctx, inner, inner.at, inner.draft)
}

// lockTx finds an approval that the caller may see.
func (s *Service) lockTx(ctx context.Context, tx *Tx, uid string) (*waiting, error) {
	number, err := ParseUID("approval", uid)
	if err != nil {
		return nil, err
	}
	w := new(waiting)
	q := tx.NewSelect().Model(w).Where("p.tenant = ?", tx.Caller.Tenant).Where("p.uid = ?", number).For("NO KEY UPDATE OF p")
	switch tx.Caller.Reach {
	case access.OfBank:
	case access.OfPartner:
		q = q.Where("EXISTS (SELECT FROM customers AS c WHERE c.tenant = p.tenant AND c.uid = p.customer AND c.owner = ?)", tx.Caller.Entity)
	default:
		q = q.Where("p.customer = ?", tx.Caller.Entity)
	}
	if err := q.Scan(ctx); err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil, ErrNoApproval
		}
		return nil, err
	}
	return w, nil
}

// Search is what a list of approvals is narrowed to.
type Search struct {
	Status   Status // '' for all
	Customer int64  // 0 for all that the caller may see
}

var (
	listing  db.Texts[Approval]
	counting db.Texts[db.Count]
	finding  db.Texts[Approval]
)

type shape struct {
	want   db.Columns
	reach  access.Reach
	hidden string
	where  string
	order  string
}

// sees is the permission to see what an approval is about; of others who may see the customer may see it.
var sees = map[string]access.Permission{
	"account": access.ViewAccounts, "sweep": access.ViewAccounts, "contact": access.ViewContacts,
	"signatory": access.ViewSignatories, "user": access.ViewUsers, "role": access.ViewUsers,
}

// reading is what the text of a read begins with: what would change is shown to who may see the thing, and who of the
// bank said what about it to the bank alone.
func reading(caller access.Caller, s shape) (shape, func() *bun.SelectQuery) {
	var hidden []string
	for _, object := range slices.Sorted(maps.Keys(sees)) {
		if !caller.May(sees[object]) {
			hidden = append(hidden, "'"+object+"'")
		}
	}
	s.want, s.reach, s.hidden = db.Or[Approval](s.want).And(identity), caller.Reach, strings.Join(hidden, ", ")
	return s, func() *bun.SelectQuery {
		from := map[string]string{}
		if s.hidden != "" {
			for _, column := range []string{"before", "after"} {
				from[column] = "CASE WHEN p.object IN (" + s.hidden + ") THEN '{}'::json ELSE p." + column + " END"
			}
		}
		if s.reach != access.OfBank {
			for column, whose := range map[string]string{
				"reason": "maker", "maker_client": "maker", "maker_login": "maker",
				"decision_reason": "checker", "checker_client": "checker", "checker_login": "checker",
			} {
				from[column] = "CASE WHEN p." + whose + "_reach = 'Bank' THEN '' ELSE p." + column + " END"
			}
		}
		return db.Select[Approval](s.want, from).Where("p.tenant = $1")
	}
}

// where are the conditions of a list, with who may see it. $1 is the tenant and $2 Caller.Within.
func (by Search) where(caller access.Caller, p *db.Params) (all db.Conditions) {
	all = audit.Within("p", caller.Reach)
	if by.Status != "" {
		all = append(all, "p.status = "+p.Add(string(by.Status)))
	}
	if by.Customer != 0 {
		all = append(all, "p.customer = "+p.Add(by.Customer))
	}
	return all
}

var identity = db.Want[Approval]("UID", "Customer")

// List reads a window of the approvals of customers that the caller may see, by number.
func (s *Service) List(ctx context.Context, b *db.Batch, by Search, want db.Columns, w page.Window) *db.Rows[Approval] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[Approval](err)
	}
	p := db.Params{caller.Tenant, caller.Within(), w.Limit(), w.Offset}
	where := by.where(caller, &p)
	order, compare := "p.uid", " > "
	if w.Backward {
		order, compare = "p.uid DESC", " < "
	}
	if w.Cursor.UID != 0 {
		where = append(where, "p.uid"+compare+p.Add(w.Cursor.UID))
	}
	shape, selecting := reading(caller, shape{want: want, where: where.Key(), order: order})
	text := listing.Get(shape, func() string {
		return where.On(selecting()).OrderExpr(order).String() + " LIMIT $3::bigint OFFSET $4::bigint"
	})
	return db.Queue(b, text, p...)
}

// Count reads how many approvals a search finds.
func (s *Service) Count(ctx context.Context, b *db.Batch, by Search) *db.Rows[db.Count] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.RefuseRows[db.Count](err)
	}
	p := db.Params{caller.Tenant, caller.Within()}
	where := by.where(caller, &p)
	text := counting.Get(shape{where: where.Key()}, func() string {
		return where.On(db.Select0[Approval]("count(*) AS n").Where("p.tenant = $1")).String()
	})
	return db.Queue(b, text, p...)
}

// FindMany reads approvals by UID. Those of customers that the caller may not see are absent.
func (s *Service) FindMany(ctx context.Context, b *db.Batch, uids []UID, want db.Columns) *db.Many[UID, Approval] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[UID, Approval](err)
	}
	p := db.Params{caller.Tenant, caller.Within(), uids}
	where := append(Search{}.where(caller, &p), "p.uid = ANY($3)")
	shape, selecting := reading(caller, shape{want: want, where: where.Key()})
	text := finding.Get(shape, func() string {
		return where.On(selecting()).String()
	})
	return db.QueueMany(b, text, func(a *Approval) UID { return a.UID }, p...)
}

// Find reads one approval.
func (s *Service) Find(ctx context.Context, uid UID) (*Approval, error) {
	b := s.db.Batch()
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if found.Err != nil {
		return nil, found.Err
	}
	if len(found.Of[uid]) == 0 {
		return nil, ErrNoApproval
	}
	return found.Of[uid][0], nil
}
