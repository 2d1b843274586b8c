package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/positivepay"
	"bankgraph/core/screening"
	"bankgraph/db"
)

// A payment over a network whose other side may be on a list waits in the state Screening, with its money
// held, until people of the bank have looked at it: they release it to its network, or it is cancelled.
// Nobody outside the bank learns why, and nobody cancels it meanwhile. A preview says nothing of it, or it
// would tell who is on the lists. No other alphabet hides a name: what is sent is of Latin letters alone, and
// people look at what comes in other ones. What becomes of payments that come in is in screening_received.go.

// mostInScreening bounds the payments of a customer that wait at a time because of the lists, so that people
// can still find their way among them. Where people look at all payments there is no such bound.
const mostInScreening = 500

// ErrManyInScreening is returned for a payment beyond mostInScreening.
var ErrManyInScreening = fault.New(fault.TooMany, "payment.many_in_screening",
	"the bank's compliance people look at as many payments of the customer as they do at a time: try "+
		"again later")

// compare returns what people have to look at in a payment; nil if nothing.
func (f *facts) compare(p *Payment, now time.Time) *screening.Found {
	matches, look := f.screen.Find(p.otherName())
	if !look {
		return nil
	}
	return &screening.Found{Payment: int64(p.UID), Name: p.otherName(), Matches: matches, At: now}
}

// look is compare for a payment that is to be sent. It refuses one beyond mostInScreening.
func (f *facts) look(p *Payment, now time.Time) (*screening.Found, error) {
	found := f.compare(p, now)
	if found == nil || f.screen.All() {
		return found, nil
	}
	n, known := f.inScreening[p.Customer]
	if !known {
		var err error
		if n, err = f.countScreening(p.Customer); err != nil {
			return nil, err
		}
		f.inScreening[p.Customer] = n
	}
	if n >= mostInScreening {
		return nil, ErrManyInScreening
	}
	return found, nil
}

// toNetwork returns the state of a payment that is to be sent: people look at it first if something was
// found.
func (f *facts) toNetwork(p *Payment, found *screening.Found) State {
	if found == nil {
		return Queued
	}
	f.screenings = append(f.screenings, *found)
	f.inScreening[p.Customer]++
	return Screening
}

// inScreeningTx counts the payments of a customer that people look at, as far as the bound.
func inScreeningTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of customers.UID,
) (n int, err error) {
	err = tx.NewRaw(`SELECT count(*) FROM (SELECT FROM payments
		WHERE tenant = ?0 AND customer = ?1 AND state = ?2
		AND direction = ?3 LIMIT ?4) AS w`, tenant, of, Screening, Out, mostInScreening).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("count what people look at of customer %s: %w", of, err)
	}
	return n, nil
}

// ErrNotScreened is returned for a payment that nobody has to look at, or that somebody has decided on.
var ErrNotScreened = fault.New(fault.State, "payment.not_in_screening",
	"the payment does not wait for a decision of compliance")

// judgement is a decision on a payment that people look at. Its reason is kept apart from the request's: that
// one stands in the record of the customer, which a partner may read.
type judgement struct {
	Reason string `json:"reason"`
}

type screeningOperations struct {
	release, stop *changes.Operation[judgement, Saved]
}

func (s *Service) declareScreening(all *changes.Service) {
	s.release = changes.Declare(all, "releaseScreenedPayment", "payment", access.ScreenPayments,
		s.releaseScreenedTx)
	s.stop = changes.Declare(all, "rejectScreenedPayment", "payment", access.ScreenPayments, s.rejectScreenedTx)
}

// ReleaseScreened lets a payment whose other side may be on a list go on: to its network, or to its account
// if another bank has sent it. It is for the bank's own people with Screen_Payments, except who made the
// payment, and requires a reason. It returns ErrNotScreened for other payments, and for one that cannot go on
// any more ErrTradeOver, ErrRequestOver, ErrRailOff, ErrOwnAccount or, if its new day has no room, ErrLimit.
func (s *Service) ReleaseScreened(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return decideScreened(ctx, s.release, uid, options)
}

// RejectScreened cancels such a payment, and releases the money that is held for it. What another bank has
// sent goes back there. It returns the faults of ReleaseScreened.
func (s *Service) RejectScreened(
	ctx context.Context, uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	return decideScreened(ctx, s.stop, uid, options)
}

func decideScreened(
	ctx context.Context, operation *changes.Operation[judgement, Saved], uid UID, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := operation.Require(ctx, uid.String())
	switch {
	case err != nil:
	case caller.Reach != access.OfBank:
		err = access.ErrDenied
	case options.Reason == "":
		err = fault.Field("payment", "reason", fault.Required, "must say why")
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	said := judgement{options.Reason}
	options.Reason = ""
	return operation.Do(ctx, caller, changes.Target{UID: uid.String()}, said, options)
}

func (s *Service) releaseScreenedTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, said judgement,
) (Saved, error) {
	p, err := s.screenedTx(ctx, tx, at, screening.Released, said.Reason)
	if err != nil {
		return Saved{}, err
	}
	if p.Incoming() {
		err := s.releaseReceivedTx(ctx, tx, p)
		return saved(p), err
	}
	was := *p
	send, _, err := s.mayStillGoTx(ctx, tx, &was, p)
	if err != nil {
		return Saved{}, err
	}
	p.SendAt = &send
	err = s.enterTx(ctx, tx, &was, p, Queued, "")
	return saved(p), err
}

func (s *Service) rejectScreenedTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, said judgement,
) (Saved, error) {
	p, err := s.screenedTx(ctx, tx, at, screening.Rejected, said.Reason)
	if err != nil {
		return Saved{}, err
	}
	if p.Incoming() {
		err := s.rejectReceivedTx(ctx, tx, p)
		return saved(p), err
	}
	was := *p
	if err := errors.Join(s.releaseTx(ctx, tx.Tx, p), p.uncountTx(ctx)); err != nil {
		return Saved{}, err
	}
	err = s.enterTx(ctx, tx, &was, p, Cancelled, stopped)
	return saved(p), err
}

// screenedTx locks a payment that people look at, and writes what they decided.
func (s *Service) screenedTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, decided screening.Status, why string,
) (*Payment, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return nil, err
	}
	if p.State != Screening {
		return nil, ErrNotScreened
	}
	if err := tx.CheckVersion(p.Version); err != nil {
		return nil, err
	}
	makers, err := p.makersTx(ctx, tx)
	if err != nil {
		return nil, err
	}
	if err := requireOtherTx(ctx, tx, makers); err != nil {
		return nil, err
	}
	if err := tx.RequirePerson(ctx); err != nil {
		return nil, err
	}
	return p, screening.DecideTx(ctx, tx.Tx, tx.Caller, tx.Now, int64(p.UID), decided, why)
}

// requireOtherTx returns changes.ErrOwn if the caller is one of the makers (changes.Tx.RequireOther).
func requireOtherTx(ctx context.Context, tx *changes.Tx, makers []audit.Asker) error {
	for _, maker := range makers {
		if err := tx.RequireOther(ctx, maker.Client, maker.LoginID); err != nil {
			return err
		}
	}
	return nil
}

// makersTx returns those who made a payment what it is: its maker, those who repaired it, or the first one of
// its series, as a repair may change the payee, those who asked for changes of its series, who say how much
// it pays, those who made or changed the contact that it pays, and those to whom positive pay owes it.
func (p *Payment) makersTx(ctx context.Context, tx *changes.Tx) ([]audit.Asker, error) {
	var steps []*Step
	err := tx.NewSelect().Model(&steps).Where("ps.tenant = ?", p.Tenant).
		Where("ps.payment = ? OR ps.payment = (SELECT min(first.uid) FROM payments AS first "+
			"WHERE first.tenant = ? AND first.recurrence = ?)", p.UID, p.Tenant, p.Recurrence).
		Order("ps.payment", "ps.number").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read who made payment %s: %w", p.UID, err)
	}
	makers := []audit.Asker{{Client: p.MakerClient, LoginID: p.MakerLogin}}
	for i, step := range steps {
		if i > 0 && steps[i-1].State == Repair {
			makers = append(makers, audit.Asker{Client: step.Client, LoginID: step.LoginID})
		}
	}
	if p.Recurrence != 0 {
		changed, err := audit.AskersTx(ctx, tx, p.Tenant, recurrenceObject, p.Recurrence.String(), changingSeries)
		if err != nil {
			return nil, err
		}
		makers = append(makers, changed...)
	}
	var by struct{ Contact, Request int64 } // 0 for none
	err = tx.NewRaw(`SELECT
		coalesce((SELECT contact FROM payment_details WHERE tenant = ?0 AND payment = ?1), 0) AS contact,
		coalesce((SELECT payment FROM payment_requests WHERE tenant = ?0 AND credit = ?1 LIMIT 1), 0) AS request`,
		p.Tenant, p.UID).Scan(ctx, &by)
	if err != nil {
		return nil, fmt.Errorf("read what made payment %s: %w", p.UID, err)
	}
	if by.Contact != 0 {
		wrote, err := contacts.AskersTx(ctx, tx.Tx, p.Tenant, contacts.UID(by.Contact))
		if err != nil {
			return nil, err
		}
		makers = append(makers, wrote...)
	}
	allowed, err := positivepay.AskersTx(ctx, tx.Tx, p.Tenant, int64(p.UID), by.Request)
	return append(makers, allowed...), err
}

// ScreeningsOf reads the screenings of payments: at most one of each, and none for callers outside the bank.
func (s *Service) ScreeningsOf(
	ctx context.Context, b *db.Batch, of []UID,
) *db.Many[UID, screening.Screening] {
	return screening.OfPayments(ctx, b, of)
}
