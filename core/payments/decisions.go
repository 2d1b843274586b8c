package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/positivepay"
	"bankgraph/db"
)

// DecisionDraft is what a request says in addition to its decision.
type DecisionDraft struct {
	// the amount to pay in place of the one that was asked for: only requests for payment can have one
	AcceptedAmount string `json:"acceptedAmount,omitempty"`
}

// ManyDecisions is a request that makes the same decision on many exceptions.
type ManyDecisions struct {
	Payments []UID `json:"ids"`
	Approve  bool  `json:"approve"`
}

// MostDecisions is how many exceptions one request may decide on.
const MostDecisions = 100

// DecidedException is the answer to a decision on an exception, which its payment names.
type DecidedException struct {
	Payment UID                        `json:"payment"`
	UID     positivepay.ExceptionUID   `json:"uid"`
	Status  positivepay.DecisionStatus `json:"status"`
	Message string                     `json:"message"`
	Refused bool                       `json:"refused,omitempty"` // the message says why
}

// ExceptionsOf reads the exceptions of payments, at most one of each.
func (s *Service) ExceptionsOf(
	ctx context.Context, b *db.Batch, of []UID, want db.Columns,
) *db.Many[UID, positivepay.Exception] {
	return positivepay.ExceptionsOfPayments(ctx, b, of, want)
}

type decisionOperations struct {
	approveException, rejectException *changes.Operation[DecisionDraft, DecidedException]
	decideExceptions                  *changes.Operation[ManyDecisions, []DecidedException]
}

func (s *Service) declareDecisions(all *changes.Service) {
	const object, needs = positivepay.ExceptionObject, access.ManageExceptions
	s.approveException = changes.Declare(all, "approveException", object, needs,
		func(ctx context.Context, tx *changes.Tx, at changes.Target, d DecisionDraft) (DecidedException, error) {
			return s.decideTx(ctx, tx, at, true, d.AcceptedAmount)
		})
	s.rejectException = changes.Declare(all, "rejectException", object, needs,
		func(ctx context.Context, tx *changes.Tx, at changes.Target, d DecisionDraft) (DecidedException, error) {
			return s.decideTx(ctx, tx, at, false, "")
		})
	s.decideExceptions = changes.Declare(all, "decideExceptions", object, needs, s.decideManyTx)
}

// ApproveException pays a debit that no rule allows, at once or when it settles, or makes the payment that
// another bank asks for (rest/CONTRACT.md, exceptions). It returns positivepay.ErrExceptionDecided if
// somebody has decided, positivepay.ErrExceptionLate after the deadline, ErrApproveLimit above the person's
// own bound, and ledger.ErrUncovered if the money is not there, in which case the exception goes on waiting.
func (s *Service) ApproveException(
	ctx context.Context, of UID, draft DecisionDraft, options changes.RequestOptions,
) (changes.Outcome[DecidedException], error) {
	caller, err := s.approveException.Require(ctx, of.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[DecidedException]{}, err
	}
	return s.approveException.Do(ctx, caller, changes.Target{UID: of.String()}, draft, options)
}

// RejectException sends back a debit that no rule allows, or refuses a request for payment. It returns the
// faults of ApproveException.
func (s *Service) RejectException(
	ctx context.Context, of UID, options changes.RequestOptions,
) (changes.Outcome[DecidedException], error) {
	caller, err := s.rejectException.Require(ctx, of.String())
	if err != nil {
		return changes.Outcome[DecidedException]{}, err
	}
	return s.rejectException.Do(ctx, caller, changes.Target{UID: of.String()}, DecisionDraft{}, options)
}

// DecideExceptions makes the same decision on many exceptions, each on its own. The answer says what became
// of each, in the order of the request. If none succeeds, it returns the fault of the first.
func (s *Service) DecideExceptions(
	ctx context.Context, draft ManyDecisions, options changes.RequestOptions,
) (changes.Outcome[[]DecidedException], error) {
	caller, err := s.decideExceptions.Require(ctx, "")
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[[]DecidedException]{}, err
	}
	return s.decideExceptions.Do(ctx, caller, changes.Target{}, draft, options)
}

func (d *DecisionDraft) check() error {
	c := check.Of(positivepay.ExceptionObject)
	if d.AcceptedAmount != "" {
		c.BankAmount("acceptedAmount", d.AcceptedAmount, 13)
	}
	return c.Err()
}

func (d *ManyDecisions) check() error {
	switch {
	case len(d.Payments) == 0:
		return fault.Field(positivepay.ExceptionObject, "ids", fault.Required,
			"must name at least one payment")
	case len(d.Payments) > MostDecisions:
		return fault.Field(positivepay.ExceptionObject, "ids", fault.Max,
			fmt.Sprintf("must name at most %d payments", MostDecisions))
	}
	return nil
}

// ErrUnpayable is returned for the approval of a debit that cannot be paid from its account.
var ErrUnpayable = fault.New(fault.State, "payment.unpayable", "the account cannot be debited")

// decideTx decides on one exception.
func (s *Service) decideTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, approve bool, accepted string,
) (DecidedException, error) {
	uid, err := ParseUID("paymentId", at.UID)
	if err != nil {
		return DecidedException{}, positivepay.ErrNoException
	}
	done, faults, err := s.decideAllTx(ctx, tx, []UID{uid}, approve, accepted)
	if err == nil {
		err = faults[uid]
	}
	if err != nil {
		return DecidedException{}, err
	}
	return *done[uid], nil
}

// decideManyTx decides on many exceptions, each on its own.
func (s *Service) decideManyTx(
	ctx context.Context, tx *changes.Tx, _ changes.Target, d ManyDecisions,
) (all []DecidedException, err error) {
	uids := slices.Compact(slices.Sorted(slices.Values(d.Payments)))
	done, faults, err := s.decideAllTx(ctx, tx, uids, d.Approve, "")
	if err != nil {
		return nil, err
	}
	if len(done) == 0 {
		return nil, faults[d.Payments[0]]
	}
	for _, uid := range d.Payments {
		if failed := faults[uid]; failed != nil {
			all = append(all, DecidedException{Payment: uid, Message: failed.Error(), Refused: true})
		} else {
			all = append(all, *done[uid])
		}
	}
	return all, nil
}

// decideAllTx decides on the exceptions of payments, which are in ascending order. A fault of one does not
// affect the others.
func (s *Service) decideAllTx(
	ctx context.Context, tx *changes.Tx, of []UID, approve bool, accepted string,
) (done map[UID]*DecidedException, faults map[UID]error, err error) {
	done = map[UID]*DecidedException{}
	locked, faults, err := s.lockManyTx(ctx, tx, of)
	if err != nil || len(locked) == 0 {
		return done, faults, err
	}
	var uids []int64
	for _, p := range locked {
		uids = append(uids, int64(p.UID))
	}
	exceptions, err := positivepay.LockTx(ctx, tx.Tx, tx.Caller.Tenant, uids)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.entriesTx(ctx, tx.Tx, tx.Caller, tx.Now, locked)
	if err != nil {
		return nil, nil, err
	}
	b := db.TxBatch(tx.Tx)
	w.own = lockOwn(b, tx.Caller.Tenant, approved, boundedOf(approved, tx.Now, tx.Caller))
	if err := b.Send(ctx); err != nil {
		return nil, nil, err
	}
	for _, p := range locked {
		e := exceptions[int64(p.UID)]
		if e == nil {
			faults[p.UID] = positivepay.ErrNoException
			continue
		}
		err := tx.CheckVersion(e.Version)
		if err == nil {
			err = w.settle(ctx, tx, p, e, approve, accepted)
		}
		switch {
		case isFault(err):
			faults[p.UID] = err
		case err != nil:
			return nil, nil, fmt.Errorf("payment %s: %w", p.UID, err)
		default:
			done[p.UID] = &DecidedException{
				Payment: p.UID, UID: e.UID, Status: e.Status,
				Message: decisionMessages[e.Status],
			}
		}
	}
	// payments first
	slices.SortStableFunc(w.changes,
		func(a, b changes.Change) int { return strings.Compare(a.Object, b.Object) })
	for _, change := range w.changes {
		if err := tx.Record(ctx, change); err != nil {
			return nil, nil, err
		}
	}
	return done, faults, errors.Join(w.own.writeTx(ctx), w.writeRowsTx(ctx, tx.Tx))
}

// statementsOfDecision is the most statements that a decision takes for each exception: its customer, its
// request, two records, and a proposal for the payment that meets it.
const statementsOfDecision = 24

// lockManyTx is lockTx for many payments. It holds each customer once, before the payments. It returns the
// locked payments in ascending order, and a fault for each of the others.
func (s *Service) lockManyTx(
	ctx context.Context, tx *changes.Tx, of []UID,
) (locked []*Payment, faults map[UID]error, err error) {
	db.Allow(ctx, int64(statementsOfDecision*len(of)))
	faults = map[UID]error{}
	for _, uid := range of {
		faults[uid] = positivepay.ErrNoException
	}
	var found []*Payment
	err = tx.NewSelect().Model(&found).Column("uid", "customer").Where("pay.tenant = ?", tx.Caller.Tenant).
		Where("pay.uid IN (?)", bun.List(of)).OrderExpr("pay.customer, pay.uid").Scan(ctx)
	if err != nil {
		return nil, nil, err
	}
	held := map[customers.UID]error{}
	var uids []UID
	for _, p := range found {
		fault, known := held[p.Customer]
		if !known {
			_, fault = s.customers.HoldTx(ctx, tx.Tx, tx.Caller, p.Customer)
			held[p.Customer] = fault
		}
		switch {
		case fault == nil:
			uids = append(uids, p.UID)
		case errors.Is(fault, customers.ErrOutOfScope):
		case isFault(fault):
			faults[p.UID] = fault
		default:
			return nil, nil, fault
		}
	}
	if len(uids) == 0 {
		return nil, faults, nil
	}
	err = tx.NewSelect().Model(&locked).Where("pay.tenant = ?", tx.Caller.Tenant).
		Where("pay.uid IN (?)", bun.List(uids)).
		OrderExpr("pay.uid").For("NO KEY UPDATE").Scan(ctx)
	for _, p := range locked {
		delete(faults, p.UID)
	}
	return locked, faults, err
}

// settle carries out a decision on a debit or a request for payment as a whole, or returns why it cannot.
func (w *entryWork) settle(
	ctx context.Context, tx *changes.Tx, p *Payment, e *positivepay.Exception, approve bool, accepted string,
) error {
	asked := w.asked[p.UID]
	if !approve {
		if err := w.decide(e, positivepay.Declined, "rejectException"); err != nil {
			return err
		}
		if asked != nil {
			return w.decline(p, asked, declinedByCustomer, "")
		}
		return w.sendBack(p, notWanted(e.SECCode))
	}
	amount, err := asked.amount(p, accepted)
	if err == nil {
		err = w.own.exceeded(approved, w.caller, amount)
	}
	if err != nil {
		return err
	}
	was, told := *e, len(w.changes)
	if err := w.decide(e, positivepay.Approved, "approveException"); err != nil {
		return err
	}
	if asked != nil {
		err = w.meet(p, asked, amount, func(made *Payment) (*Step, error) {
			return begin(ctx, w.f, changes.As(tx, w.s.send), nil, made)
		})
	} else {
		err = w.goOn(p)
	}
	if err != nil { // the exception goes on waiting
		*e, w.changes, w.decided = was, w.changes[:told], w.decided[:len(w.decided)-1]
	} else {
		w.own.take(w.caller, amount)
	}
	return err
}

// goOn pays an approved debit, at once or when it settles.
func (w *entryWork) goOn(p *Payment) error {
	if err := w.f.moves(p.SenderAccount, "customerAccountNumber"); err != nil {
		return err
	}
	if p.SettlesAt.After(w.now) {
		was := *p
		to, err := admitting.Take(p.State)
		if err == nil {
			w.enter(&was, p, to, "approveException", "")
		}
		return err
	}
	switch code, err := w.pay(p, "settlePayment"); {
	case code == noFunds:
		return ledger.ErrUncovered
	case code != "":
		return ErrUnpayable.Saying("the account cannot be debited: " + because(code, "")).With(code)
	default:
		return err
	}
}

var decisionMessages = map[positivepay.DecisionStatus]string{
	positivepay.Approved: "Payment approved", positivepay.Declined: "Payment rejected",
}
