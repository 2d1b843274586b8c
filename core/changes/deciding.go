package changes

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/ident"
	"bankgraph/core/seal"
	"bankgraph/db"
)

type decision struct {
	Approve bool
}

func (s *Service) declare() {
	s.approving = Declare(s, "approveChange", "approval", "", s.decideTx)
	s.refusing = Declare(s, "refuseChange", "approval", "", s.decideTx)
}

// Approve carries out a change that waits. The caller needs the permission that its operation is decided with
// (Operation.DecidedWith), or else that of the change itself. Approve returns ErrOwn if maker and caller
// count as one (access.Accountable), with who was responsible for the maker at the request, and who is now,
// ErrPerson if the caller is a program and the bank lets only people decide, ErrMakerEnded if the maker lost
// access since, ErrApproverEnded if the first of two who approve did or counts as one with the maker by now,
// and ErrStale if the object has changed since the request, or is not at the version that the options name.
func (s *Service) Approve(ctx context.Context, uid UID, options RequestOptions) (Outcome[UID], error) {
	return s.decide(ctx, uid, options, s.approving, decision{Approve: true})
}

// Refuse ends a change that waits, without making it. The maker may withdraw the change this way.
func (s *Service) Refuse(ctx context.Context, uid UID, options RequestOptions) (Outcome[UID], error) {
	return s.decide(ctx, uid, options, s.refusing, decision{})
}

// LastOf returns the number of the last change of an object that waited for a second person, decided on or
// not. It returns ErrNoApproval where none did, or the caller may not see it. What a kind of object is
// called, and its number, are as in Approval.
func (s *Service) LastOf(ctx context.Context, object, uid string) (last UID, err error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return 0, err
	}
	err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		query := tx.NewSelect().Model((*Approval)(nil)).ColumnExpr("coalesce(max(p.uid), 0)").
			Where("p.tenant = ?", caller.Tenant).Where("p.object = ?", object).Where("p.object_uid = ?", uid).
			Where(caller.Reach.ScopeTx("p.customer"), caller.Tenant, caller.ScopeCustomer())
		if caller.Reach != access.OfBank {
			query.Where(notFormer("?"), caller.Tenant)
		}
		return query.Scan(ctx, &last)
	})
	if err == nil && last == 0 {
		err = ErrNoApproval
	}
	return last, err
}

func (s *Service) decide(
	ctx context.Context, uid UID, options RequestOptions, as *Operation[decision, UID], d decision,
) (Outcome[UID], error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return Outcome[UID]{}, err
	}
	return as.Do(ctx, caller, Target{UID: uid.String()}, d, options)
}

func (s *Service) decideTx(ctx context.Context, tx *Tx, at Target, d decision) (UID, error) {
	w, err := s.lockTx(ctx, tx, at.UID)
	if err != nil {
		return 0, err
	}
	op, known := s.known[w.Operation]
	caller := tx.Caller.Accountable()
	takesBack := !d.Approve && caller.Is(w.maker())
	program, err := tx.program(ctx)
	switch {
	case err != nil:
		return 0, err
	case !known:
		return 0, fmt.Errorf("approval %s is of operation %q, which this program does not have", w.UID, w.Operation)
	case !tx.Caller.May(op.decides) && !takesBack:
		return 0, access.ErrDenied.With(string(op.decides))
	case w.Status != Open:
		return 0, ErrDecided.With(string(w.Status))
	case tx.Options.Version != 0 && tx.Options.Version != w.Version: // not what the caller has read
		return 0, ErrStale
	case d.Approve && slices.ContainsFunc(w.makers(), caller.Same):
		return 0, ErrOwn
	case d.Approve && w.FirstApprovedAt != nil && slices.ContainsFunc(w.firsts(), caller.Same):
		return 0, ErrTwice
	case !tx.Caller.Reach.AtLeast(w.Decides) && !takesBack:
		return 0, ErrNotYours
	case program && !takesBack:
		return 0, ErrPerson
	}
	status, said := Refused, audit.Refused
	if d.Approve {
		if err := w.endedTx(ctx, tx); err != nil {
			return 0, err
		}
		if err := w.byNowTx(ctx, tx, op); err != nil {
			return 0, err
		}
		if w.Approvers > 1 && w.FirstApprovedAt == nil {
			return w.UID, s.agreeTx(ctx, tx, w, op, caller)
		}
		status, said = Approved, audit.Approved
	}
	_, err = tx.NewRaw(
		`UPDATE approvals SET status = ?, checker_client = ?, checker_login = ?, checker_reach = ?,
			decided_at = ?, decision_reason = ? WHERE tenant = ? AND uid = ?`,
		status, tx.Caller.Client, tx.Caller.LoginID, tx.Caller.Reach, tx.Now, tx.Options.Reason, w.Tenant, w.UID).
		Exec(ctx)
	if err != nil {
		return 0, err
	}
	if err := tx.tell(ctx, s.decided(tx, w, said), tx.operation.name, w); err != nil {
		return 0, err
	}
	return w.UID, s.carryOutTx(ctx, tx, w, op, d.Approve)
}

// agreeTx records the first of two approvals; Operation.Partly says what becomes of the object meanwhile.
func (s *Service) agreeTx(
	ctx context.Context, tx *Tx, w *waiting, op *operation, caller access.Accountable,
) error {
	inner := tx.inner(w, op)
	inner.Options.Version = w.Version
	if err := s.openDraft(inner, w); err != nil {
		return err
	}
	version, err := op.partly(ctx, inner, inner.at)
	if err != nil {
		return err
	}
	var person *uuid.UUID
	if caller.Person != uuid.Nil {
		person = &caller.Person
	}
	_, err = tx.NewRaw(`UPDATE approvals SET first_client = ?, first_login = ?, first_person = ?,
		first_entity = ?, first_reach = ?, first_at = ?, version = ?, approvers = ?, decides = ?
		WHERE tenant = ? AND uid = ?`,
		caller.Client, caller.Login, person, caller.Entity, tx.Caller.Reach, tx.Now,
		version, w.Approvers, w.Decides, w.Tenant, w.UID).Exec(ctx)
	if err != nil {
		return err
	}
	return tx.tell(ctx, s.decided(tx, w, audit.Approved), tx.operation.name, w)
}

// byNowTx makes a change take more people, or others, if settings ask for that by now (Operation.ByNow). It
// returns ErrNotYours if the caller is none of them.
func (w *waiting) byNowTx(ctx context.Context, tx *Tx, op *operation) error {
	if op.takes == nil {
		return nil
	}
	inner := tx.inner(w, op)
	people, by, err := op.takes(ctx, inner, inner.at)
	if err != nil {
		return err
	}
	w.Approvers = max(w.Approvers, people)
	if by.AtLeast(w.Decides) {
		w.Decides = by
	}
	if !tx.Caller.Reach.AtLeast(w.Decides) {
		return ErrNotYours
	}
	return nil
}

// decided is the audit entry of a decision.
func (s *Service) decided(tx *Tx, w *waiting, said audit.Decision) audit.Entry {
	return audit.Entry{
		Action: w.Operation, Decision: said, Object: w.Object, UID: w.ObjectUID, Customer: &w.Customer,
		Reason: tx.Options.Reason,
	}.By(tx.Caller)
}

// inner is the transaction as the operation that waited sees it.
func (tx *Tx) inner(w *waiting, op *operation) *Tx {
	return &Tx{
		Tx: tx.Tx, Caller: tx.Caller, Now: tx.Now, Options: RequestOptions{Reason: tx.Options.Reason},
		operation: op, at: Target{Customer: w.Customer, UID: w.ObjectUID}, approvers: max(1, w.Approvers),
	}
}

// RequirePerson returns ErrPerson if the caller is a program, and the bank lets only people decide.
func (tx *Tx) RequirePerson(ctx context.Context) error {
	program, err := tx.program(ctx)
	if err == nil && program {
		err = ErrPerson
	}
	return err
}

// RequireOther returns ErrOwn if the caller made a thing of which only the API key and the login of its maker
// are kept, or if one person answers for both: who answers for a key is then asked as it is now. Two programs
// of one legal entity do not count as one here.
func (tx *Tx) RequireOther(ctx context.Context, client, login string) error {
	caller := tx.Caller.Accountable()
	if caller.Is(access.Accountable{Client: client, Login: login}) {
		return ErrOwn
	}
	if caller.Person == uuid.Nil || caller.Login != "" && login != "" {
		return nil
	}
	var answers uuid.NullUUID // the person who answers for the maker's key
	var named string          // the login of the person who answers for the caller
	err := tx.NewRaw(`SELECT (SELECT responsible FROM clients WHERE tenant = ?0 AND key = ?1),
		coalesce((SELECT login_id FROM users WHERE tenant = ?0 AND uid = ?2), '')`,
		tx.Caller.Tenant, client, caller.Person).Scan(ctx, &answers, &named)
	switch {
	case err != nil:
		return fmt.Errorf("read who answers for API key %s: %w", client, err)
	case login == "" && answers.Valid && answers.UUID == caller.Person,
		login != "" && ident.Same(login, named):
		return ErrOwn
	}
	return nil
}

// program reports whether the caller is a program, and the bank lets only people decide.
func (tx *Tx) program(ctx context.Context) (is bool, err error) {
	if tx.Caller.User != uuid.Nil {
		return false, nil
	}
	err = tx.NewRaw(`SELECT coalesce((SELECT people_decide FROM tenant_settings WHERE tenant = ?), true)`,
		tx.Caller.Tenant).Scan(ctx, &is)
	return is, err
}

// endedTx returns ErrMakerEnded if who asked for a change has lost access (EndedTx), and ErrApproverEnded if
// who approved it first has, or counts as one with who asked by now.
func (w *waiting) endedTx(ctx context.Context, tx *Tx) error {
	maker := w.maker()
	err := EndedTx(ctx, tx.Tx, w.Tenant, maker.Client, maker.Person)
	if err != nil || w.FirstApprovedAt == nil {
		return err
	}
	first := w.first()
	err = EndedTx(ctx, tx.Tx, w.Tenant, first.Client, first.Person)
	switch {
	case errors.Is(err, ErrMakerEnded):
		return ErrApproverEnded
	case err != nil:
		return err
	}
	for _, first := range w.firsts() {
		if slices.ContainsFunc(w.makers(), first.Same) {
			return ErrApproverEnded.Saying("whoever approved the change first counts as one with who asked for " +
				"it by now: refuse it, and ask for it again if it is still wanted")
		}
	}
	return nil
}

// EndedTx returns ErrMakerEnded if the API key that asked for something is disabled, or the identity provider
// by which a person did, for all audiences, or if that person, or who is responsible for the key, is not
// active any more.
func EndedTx(ctx context.Context, tx bun.IDB, tenant access.Tenant, client string, person uuid.UUID) error {
	var of string // '' if none is known
	if person != uuid.Nil {
		of = person.String()
	}
	var ended bool
	err := db.Raw(tx, `SELECT EXISTS (SELECT FROM clients
		WHERE tenant = ?0 AND key = ?1 AND disabled_at IS NOT NULL)
		OR (SELECT coalesce(bool_and(disabled_at IS NOT NULL), false) FROM issuers WHERE tenant = ?0 AND url = ?1)
		OR EXISTS (SELECT FROM users WHERE tenant = ?0 AND uid = nullif(?2, '')::uuid AND status <> 'Active')`,
		tenant, client, of).Scan(ctx, &ended)
	if err == nil && ended {
		return ErrMakerEnded
	}
	return err
}

// carryOutTx makes the approved change of an existing object. It settles an object that was created as
// Pending, approved or refused.
func (s *Service) carryOutTx(ctx context.Context, tx *Tx, w *waiting, op *operation, approve bool) error {
	inner := tx.inner(w, op)
	if approve { // the checker approved this version; a refusal fits any
		inner.Options.Version = w.Version
	}
	if w.Creation {
		return op.settled(ctx, inner, inner.at, approve)
	}
	if !approve {
		return nil
	}
	if err := s.openDraft(inner, w); err != nil {
		return err
	}
	return op.again(ctx, inner, inner.at, inner.draft)
}

// openDraft gives what was asked for to the transaction that decides on it.
func (s *Service) openDraft(inner *Tx, w *waiting) error {
	clear, err := s.keys.Open(seal.Value{Sealed: w.Draft}, w.place())
	if err != nil {
		return fmt.Errorf("open the draft of approval %s: %w", w.UID, err)
	}
	inner.draft = []byte(clear)
	return nil
}

// ReadDraft reads what was asked for, when the first of two people agrees to it (Operation.Partly).
func (tx *Tx) ReadDraft(draft any) error {
	if err := json.Unmarshal(tx.draft, draft); err != nil {
		return fmt.Errorf("read the draft of %s: %w", tx.operation.name, err)
	}
	return nil
}

// lockTx reads and locks an approval that the caller may see.
func (s *Service) lockTx(ctx context.Context, tx *Tx, uid string) (*waiting, error) {
	number, err := ParseUID("approval", uid)
	if err != nil {
		return nil, err
	}
	w := new(waiting)
	const answers = "(SELECT c.responsible FROM clients AS c WHERE c.tenant = ? AND c.key = "
	query := tx.NewSelect().Model(w).ColumnExpr("?TableColumns").
		ColumnExpr(answers+"p.maker_client) AS maker_answers", tx.Caller.Tenant).
		ColumnExpr(answers+"p.first_client) AS first_answers", tx.Caller.Tenant).
		Where("p.tenant = ?", tx.Caller.Tenant).Where("p.uid = ?", number).
		Where(tx.Caller.Reach.ScopeTx("p.customer"), tx.Caller.Tenant, tx.Caller.ScopeCustomer())
	if tx.Caller.Reach != access.OfBank {
		query.Where(notFormer("?"), tx.Caller.Tenant)
	}
	err = query.For("NO KEY UPDATE OF p").Scan(ctx)
	if err != nil {
		if errors.Is(err, sql.ErrNoRows) {
			return nil, ErrNoApproval
		}
		return nil, err
	}
	return w, nil
}
