package payments

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/money"
	"bankgraph/core/rails"
)

// Payments of standing instructions, such as sweeps: the amount of each follows from what its account has
// when it is made.

// Standing is what a standing instruction decides by. Its account is locked.
type Standing struct {
	Available money.Amount // on the account: ledger less held
	Fees      []int64      // what each of the orders costs the account, in minor units
}

// MadeOrder is what became of a standing instruction.
type MadeOrder struct {
	Payment   UID           // 0 if none was made
	State     State         // that it began with
	Collects  bool          // it takes money from an account at another bank
	Available *money.Amount // before it; nil where that was not looked at
	Amount    money.Amount  // of the payment, even if it was refused; zero if none was asked for
	Fee       int64         // that the payment costs, as things are, in minor units
	Why       error         // the faults with which it was refused
}

// Choice is the payment that a standing instruction makes.
type Choice struct {
	Order int   // its index
	Minor int64 // its amount; 0 for no payment
}

// MakeTx makes at most one payment for a standing instruction of an account, in the name of by, as Send and
// RequestDebit do: it is carried out, waits for a second person, or is refused and leaves no trace. Once the
// account is locked, choose says which of the orders to make, and of what amount, or refuses with a fault.
func (s *Service) MakeTx(
	ctx context.Context, tx bun.Tx, by access.Caller, orders []*Order, now time.Time,
	choose func(context.Context, Standing) (Choice, error),
) (made MadeOrder, err error) {
	f, err := s.gatherTx(ctx, tx, by.Tenant, wantedBy(orders, now).madeBy(now, by))
	if err != nil {
		return made, err
	}
	account, err := f.party(s, by, "sender", orders[0].Sender)
	if err == nil {
		err = f.moves(account.Account, "sender.accountUID")
	}
	if isFault(err) {
		return MadeOrder{Why: err}, nil
	}
	if err != nil {
		return made, err
	}
	has := Standing{Available: f.books.Of(account.Account).Available()}
	for _, o := range orders {
		has.Fees = append(has.Fees, f.costs(account, o))
		if o.SECCode == "" && Speed(o.Speed).overACH() {
			o.SECCode = account.class(o.entryType())
		}
	}
	made.Available = &has.Available
	choice, err := choose(ctx, has)
	if choice.Minor > 0 {
		made.Amount, made.Fee = money.Of(choice.Minor, account.Currency), has.Fees[choice.Order]
	}
	if isFault(err) {
		made.Why = err
		return made, nil
	}
	if err != nil || choice.Minor == 0 {
		return made, err
	}
	o := orders[choice.Order]
	o.Amount, o.Currency, o.moves = made.Amount.String(), string(account.Currency), true
	p, proposal, why, err := s.makeTx(ctx, tx, f, by, o, now)
	if err != nil || why != nil {
		made.Why = why
		return made, err
	}
	made.Payment, made.State, made.Collects = p.UID, p.State, p.Collects()
	if proposal == nil {
		return made, nil
	}
	operation := s.send
	if p.Collects() {
		operation = s.collect
	}
	if _, err = operation.ProposeTx(ctx, tx, by, now, *o, *proposal); err != nil {
		err = fmt.Errorf("propose payment %s: %w", p.UID, err)
	}
	return made, err
}

// makeTx makes the payment of an order. proposal is what a second person has to decide; nil if nobody has to.
// why is the fault with which it is refused.
func (s *Service) makeTx(
	ctx context.Context, tx bun.Tx, f *facts, by access.Caller, o *Order, now time.Time,
) (p *Payment, proposal *changes.Proposal, why, err error) {
	made, proposals, why, err := s.makeEachTx(ctx, tx, f, by, []*Order{o}, now)
	if why != nil || err != nil {
		return nil, nil, why, err
	}
	return made[0], proposals[0], nil, nil
}

// makeEachTx makes the payments of orders, all of them or none. proposals are what a second person has to
// decide of each; nil if nobody has to. why is the fault of the first that is refused.
func (s *Service) makeEachTx(
	ctx context.Context, tx bun.Tx, f *facts, by access.Caller, orders []*Order, now time.Time,
) (made []*Payment, proposals []*changes.Proposal, why, err error) {
	var rows rows
	var record []events.Recorded
	for _, o := range orders {
		p, to, proposal, err := s.drawTx(ctx, tx, f, by, o, now)
		if isFault(err) {
			return nil, nil, o.called(err), nil
		}
		if err != nil {
			return nil, nil, nil, err
		}
		if f.limits != nil && p.counts() {
			f.limits.Take(p.planned())
		}
		rows.add(p, p.enter(to, by, now, ""))
		if proposal != nil {
			proposal.Version = p.Version
		}
		made, proposals = append(made, p), append(proposals, proposal)
		record = append(record, changes.Change{
			Action: makes[p.EntryType], Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
			After: p,
		}.Recorded(by, ""))
	}
	if err := rows.writeTx(ctx); err != nil {
		return nil, nil, nil, err
	}
	if err := f.writeTx(ctx); err != nil {
		return nil, nil, nil, err
	}
	return made, proposals, nil, recordTx(ctx, tx, record)
}

// drawTx makes a payment of an order, which is not written yet. It returns the state that the payment begins
// with, and what a second person has to decide; nil if nobody has to.
func (s *Service) drawTx(
	ctx context.Context, tx bun.Tx, f *facts, by access.Caller, o *Order, now time.Time,
) (p *Payment, to State, proposal *changes.Proposal, err error) {
	if err := o.check(); err != nil {
		return nil, "", nil, err
	}
	if p, err = f.drawOrder(s, by, o, now); err != nil {
		return nil, "", nil, err
	}
	if f.needsApproval(p) {
		proposal = &changes.Proposal{Customer: int64(p.Customer), UID: p.UID, After: p}
		proposal.Approvers, proposal.By = f.approvers(p)
		if _, err := changes.RoomTx(ctx, tx, by); err != nil {
			return nil, "", nil, err
		}
	}
	to, err = f.start(p, by, now, proposal != nil)
	return p, to, proposal, err
}

// costs returns the fee of an order from an account, in minor units.
func (f *facts) costs(a *party, o *Order) int64 {
	p := &Payment{
		Direction: Out, EntryType: o.entryType(), Speed: Speed(o.Speed), Currency: a.Currency,
		SenderAccount: a.Account, ReceiverAccount: a.Account,
	}
	if p.EntryType == rails.Debit && p.Speed.asks() {
		return 0 // a request for payment, or a drawdown request
	}
	if c := f.charge(p); c != nil {
		return c.Price
	}
	return 0
}

// class returns the entry class of entries for which nobody has chosen one: the corporate class, if the
// account may send it.
func (a *party) class(of rails.EntryType) rails.SECCode {
	for _, class := range []rails.SECCode{rails.CCD, rails.PPD} {
		if slices.Contains(a.Classes, string(class)) && slices.Contains(classes[of], class) {
			return class
		}
	}
	return rails.CCD
}
