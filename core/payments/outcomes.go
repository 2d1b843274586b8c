package payments

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/ledger"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// answer applies what a network says of a message of ours to its payment, and returns the state that the
// payment reaches. kind is the kind of our message.
func (f *facts) answer(p *Payment, a *incoming, kind string, now time.Time) (State, error) {
	on := calendar.Today(now)
	switch {
	case p.Incoming() && p.Rail == rails.ACH:
		return p.State, nil // entries of other banks are theirs to answer for
	case kind == reversalKind:
		return f.answerReversal(p, a, on)
	case p.Collects():
		return f.answerDebit(p, a, kind, on)
	case a.says == accepted && kind == creditKind:
		return f.settle(p, on)
	case a.says == refused && kind == creditKind:
		return f.reject(p, on)
	case a.says == accepted && kind == returnKind:
		return f.settleReturn(p, on)
	case a.says == refused && kind == returnKind:
		return f.rejectReturn(p, on)
	case a.says == returned && kind == creditKind:
		return f.takeBack(p, a, on)
	case a.says == kept && kind == creditKind:
		return notGiving.Take(p.State)
	case a.says == refused && kind == recallKind: // it never reached the other bank, and may be sent again
		return notAsked.Take(p.State)
	}
	return p.State, nil
}

// settle settles a payment that is on its way.
func (f *facts) settle(p *Payment, on time.Time) (State, error) {
	to, err := settling.Take(p.State)
	if err != nil || p.Enrols() {
		return to, err
	}
	return to, f.book(p, ledger.Settlement, on, "Settled over "+string(p.Rail), f.clearing(p),
		f.settled(p), p.Minor)
}

// reject gives back the money of a payment that its network, or the other bank, has refused.
func (f *facts) reject(p *Payment, on time.Time) (State, error) {
	to, err := rejecting.Take(p.State)
	if err != nil {
		return p.State, err
	}
	err = f.bookBack(p, on, "Rejected by "+string(p.Rail), f.clearing(p), p.Minor, p.soldFor(p.Minor))
	if err != nil {
		return p.State, err
	}
	p.uncount(f.limits)
	return to, f.refund(p, on)
}

// takeBack gives the customer what the other bank has given back, whether it was asked to or not, in one part
// or in several. Anything but a return of this payment is left to people.
func (f *facts) takeBack(p *Payment, a *incoming, on time.Time) (State, error) {
	switch {
	case !a.givesBack(p):
		return p.State, nil
	case p.Enrols():
		return returning.Take(p.State)
	}
	all := p.ReturnedMinor + a.amount.Minor
	step := returning
	switch {
	case p.State != Recalling && p.State != ReversalPartly:
	case all == p.Minor:
		step = reversing
	default:
		step = partly
	}
	to, err := step.Take(p.State)
	if err != nil {
		return p.State, err
	}
	from, sold := f.settled(p), p.soldFor(all)
	if p.State == Sent { // it comes back before it settles
		from = f.clearing(p)
	}
	err = f.bookBack(p, on, "Returned over "+string(p.Rail), from, a.amount.Minor, sold-p.SoldReturned)
	if err == nil {
		p.ReturnedMinor, p.SoldReturned = all, sold
	}
	return to, err
}

// bookBack books an amount of a payment, or what it was bought for, from an account of the bank's own back to
// the payer.
func (f *facts) bookBack(p *Payment, on time.Time, why string, from accounts.UID, minor, sold int64) error {
	journal, err := f.paying(p, ledger.Return, on, why, from, -minor, -sold)
	if err != nil {
		return err
	}
	return f.books.Book(journal)
}

// givesBack reports whether an answer can be the return of a payment, whole or in part, beside what has come
// back of it.
func (a *incoming) givesBack(p *Payment) bool {
	if p.Enrols() {
		return a.amount.Minor == 0
	}
	return a.amount.Currency == p.Currency && a.amount.Minor > 0 && a.amount.Minor <= p.Minor-p.ReturnedMinor
}

// settleReturn settles our return of a payment that came in.
func (f *facts) settleReturn(p *Payment, on time.Time) (State, error) {
	to, err := givenBack.Take(p.State)
	if err != nil {
		return p.State, err
	}
	return to, f.book(p, ledger.Settlement, on, "Return settled over "+string(p.Rail),
		f.clearing(p), f.settled(p), p.ReturnedMinor)
}

// rejectReturn leaves a payment that came in with the customer, as the network has refused its return. If
// compliance had rejected the payment, or the other bank asked for it, people look at it again.
func (f *facts) rejectReturn(p *Payment, on time.Time) (State, error) {
	if f.stopped[p.UID] {
		to, err := lookingAgain.Take(p.State)
		if err == nil {
			p.ReturnedMinor, f.reopened = 0, append(f.reopened, p.UID)
		}
		return to, err
	}
	step := notGoneBack
	if f.promised[p.UID] {
		step = owedStill
	}
	to, err := step.Take(p.State)
	if err != nil {
		return p.State, err
	}
	err = f.book(p, ledger.Return, on, "Return rejected by "+string(p.Rail), f.clearing(p), p.ReceiverAccount,
		p.ReturnedMinor)
	if err == nil {
		p.ReturnedMinor = 0
	}
	return to, err
}

// clearing and settled return the bank's own accounts for the network of a payment.
func (f *facts) clearing(p *Payment) accounts.UID {
	return f.houses[house{ledger.Clearing(p.Rail), p.Currency}]
}

func (f *facts) settled(p *Payment) accounts.UID {
	return f.houses[house{ledger.Settled(p.Rail), p.Currency}]
}

// refund gives back the fee of a payment that was rejected.
func (f *facts) refund(p *Payment, on time.Time) error {
	if p.FeeMinor == 0 {
		return nil
	}
	fee, err := p.feeJournal(on, "Fee given back: "+p.FeeName,
		f.houses[house{ledger.HouseFees, p.DebitedCurrency()}], p.SenderAccount)
	if err != nil {
		return err
	}
	p.free()
	return f.books.Book(fee)
}
