package payments

import (
	"context"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/db"
)

// Saved is the answer to a change of a payment.
type Saved struct {
	UID                 UID    `json:"uid"`
	Status              Status `json:"status"`
	ExternalReferenceID string `json:"externalReferenceId"`
}

func saved(p *Payment) Saved { return Saved{p.UID, p.Status(), p.ExternalReferenceID} }

// transferTx carries out the transfers of a lane, each on its own: a refused one leaves no trace in what the
// others see.
func (s *Service) transferTx(
	ctx context.Context, tx *changes.LaneTx, members []*changes.Member[Draft, Saved],
) error {
	w := want{created: len(members)}
	for _, m := range members {
		w.payers, w.payees = append(w.payers, m.Draft.Sender), append(w.payees, m.Draft.Receiver)
	}
	f, err := s.gatherTx(ctx, tx.Tx, tx.Tenant, w)
	if err != nil {
		return err
	}
	var payments []*Payment
	var steps []*Step
	for _, m := range members {
		p, step, err := s.beginTx(ctx, m, f)
		switch {
		case err == nil:
			payments, steps = append(payments, p), append(steps, step)
		case isFault(err):
			m.Refuse(err)
		default:
			return err
		}
	}
	if err := db.InsertAtCommit(ctx, payments); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, steps); err != nil {
		return err
	}
	return f.books.WriteTx(ctx)
}

func isFault(err error) bool {
	f, is := fault.Of(err)
	return is && f.Kind != fault.Internal
}

// beginTx begins one transfer: it is carried out at once, or waits for its day or for a second person.
func (s *Service) beginTx(
	ctx context.Context, m *changes.Member[Draft, Saved], f *facts,
) (*Payment, *Step, error) {
	p, err := f.draw(s, m.Caller, &m.Draft, m.Now)
	if err != nil {
		return nil, nil, err
	}
	waits, to := m.NeedsApproval(f.asks(p)), Settled
	switch {
	case waits:
		to = PendingApproval
	case p.Date.After(ledger.Day(m.Now.In(m.Caller.Location()))):
		to = Scheduled
	default:
		if err := f.move(p); err != nil {
			return nil, nil, err
		}
	}
	step := p.enter(to, m.Caller, m.Now, "")
	m.Result = saved(p)
	if err := m.Record(ctx, changes.Change{
		UID: p.UID, Customer: int64(p.Customer), Version: p.Version, After: p,
	}); err != nil || !waits {
		return p, step, err
	}
	proposal := changes.Proposal{Customer: int64(p.Customer), UID: p.UID, Version: p.Version, After: p}
	proposal.Approvers, proposal.By = f.approvers(p)
	return p, step, m.Propose(ctx, proposal)
}

// agreeTx is settleTx for the first of two people, who agrees.
func (s *Service) agreeTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return 0, err
	}
	was := *p
	to, err := agreeing.Take(p.State)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err == nil {
		err = mayApprove(tx.Caller, p)
	}
	if err == nil {
		err = s.enterTx(ctx, tx, &was, p, to, "")
	}
	return p.Version, err
}

// mayApprove returns ErrApproveLimit for a payment above the person's own bound.
func mayApprove(by access.Caller, p *Payment) error {
	if most := by.Limit("Payments", "Per_Transaction_Payment_Approve_Limits"); most != nil &&
		most.Currency == p.Currency && p.Minor > most.Minor {
		return ErrApproveLimit.With(most.Value().String())
	}
	return nil
}

// settleTx carries out a payment that waited for a second person, or cancels it if that person said no. One
// whose day has passed meanwhile is of today; one that cannot be carried out now goes on waiting.
func (s *Service) settleTx(ctx context.Context, tx *changes.Tx, at changes.Target, approved bool) error {
	p, err := s.lockTx(ctx, tx, at)
	if err != nil {
		return err
	}
	was := *p
	if _, err := approving.Take(p.State); err != nil {
		return err
	}
	if err := tx.CheckVersion(p.Version); err != nil {
		return err
	}
	if !approved {
		return s.enterTx(ctx, tx, &was, p, Cancelled, tx.Options.Reason)
	}
	if err := mayApprove(tx.Caller, p); err != nil {
		return err
	}
	today := ledger.Day(tx.Now.In(tx.Caller.Location()))
	if p.Date.After(today) {
		return s.enterTx(ctx, tx, &was, p, Scheduled, "")
	}
	p.Date = today
	f, err := s.gatherTx(ctx, tx.Tx, p.Tenant, wanted(p))
	if err == nil {
		err = f.move(p)
	}
	if err != nil {
		return err
	}
	if err := f.books.WriteTx(ctx); err != nil {
		return err
	}
	return s.enterTx(ctx, tx, &was, p, Settled, "")
}

// wanted returns what payments that exist need facts about.
func wanted(all ...*Payment) (w want) {
	for _, p := range all {
		w.payers, w.payees = append(w.payers, Party{UID: p.SenderAccount}), append(w.payees, Party{UID: p.ReceiverAccount})
	}
	return w
}

// enterTx writes that a payment, which is locked and was this before, reached a state.
func (s *Service) enterTx(ctx context.Context, tx *changes.Tx, was, p *Payment, to State, reason string) error {
	step := p.enter(to, tx.Caller, tx.Now, reason)
	if err := writeTx(ctx, []*Payment{p}, []*Step{step}); err != nil {
		return err
	}
	return tx.Record(ctx, changes.Change{
		UID: p.UID, Customer: int64(p.Customer), Version: p.Version, Before: was, After: p,
	})
}

// writeTx writes the present states of payments, which are locked, at the end of the transaction.
func writeTx(ctx context.Context, payments []*Payment, steps []*Step) error {
	if len(payments) == 0 {
		return nil
	}
	var uids, fees, versions []int64
	var states, names, tiers, reasons, days []string
	for _, p := range payments {
		uids, fees, versions = append(uids, int64(p.UID)), append(fees, p.FeeMinor), append(versions, int64(p.Version))
		states, names, tiers = append(states, string(p.State)), append(names, p.FeeName), append(tiers, p.FeeTier)
		reasons, days = append(reasons, p.Reason), append(days, p.Date.Format(time.DateOnly))
	}
	err := db.ExecAtCommit(ctx, `UPDATE payments AS p SET state = n.state, fee = n.fee, version = n.version,
		fee_name = n.fee_name, fee_tier = n.fee_tier, reason = n.reason, payment_date = n.day::date, updated_at = $10::timestamptz
		FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[])
		  AS n(uid, state, fee, version, fee_name, fee_tier, reason, day)
		WHERE p.tenant = $1 AND p.uid = n.uid`, payments[0].Tenant, uids, states, fees, versions, names, tiers, reasons,
		days, payments[0].UpdatedAt)
	if err != nil {
		return err
	}
	return db.InsertAtCommit(ctx, steps)
}

// cancelTx cancels a payment before any money has moved. One that waits for a second person waits no more.
func (s *Service) cancelTx(ctx context.Context, tx *changes.Tx, at changes.Target, _ struct{}) (Saved, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err != nil {
		return Saved{}, err
	}
	was := *p
	if _, err := cancelling.Take(p.State); err != nil {
		return Saved{}, ErrOver.Saying("the payment is " + string(p.Status()) + ": it can no longer be cancelled").
			With(string(p.State))
	}
	if p.State != Scheduled {
		if err := tx.Withdraw(ctx, p.UID); err != nil {
			return Saved{}, err
		}
	}
	err = s.enterTx(ctx, tx, &was, p, Cancelled, tx.Options.Reason)
	return saved(p), err
}

// lockTx reads and locks a payment of a customer that the caller may change: who is paid sees it, and does not
// change it.
func (s *Service) lockTx(ctx context.Context, tx *changes.Tx, at changes.Target) (*Payment, error) {
	if _, err := customers.Hold(s.customers.HoldTx).Of("payments", "uid", ErrNotFound)(ctx, tx, &at); err != nil {
		return nil, err
	}
	p := new(Payment)
	q := tx.NewSelect().Model(p).Where("pay.tenant = ?", tx.Caller.Tenant).Where("pay.uid = ?", at.UID).
		Where("pay.customer = ?", at.Customer)
	return changes.Lock(ctx, q, p, ErrNotFound)
}
