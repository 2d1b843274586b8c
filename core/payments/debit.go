package payments

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// RequestDebit collects money for an account here from an account at another bank whose holder has agreed to
// it (rest/CONTRACT.md, debit requests). Nothing is held: the account is credited when the entry settles, and
// debited again if the entry is returned. At the speed Instant the debit is a request for payment, and at
// Express a drawdown request: the debtor is asked, and may pay by a credit. If the settings of the customer
// that is credited ask for dual approval (paymentDualApproval), the debit waits for a second person first.
func (s *Service) RequestDebit(
	ctx context.Context, order Order, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.collect.Require(ctx, "")
	order.EntryType = rails.Debit
	if err == nil {
		err = order.Form()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	out, err := s.collect.Do(ctx, caller, changes.Target{}, order, options)
	return out, fault.Called(err, calledInDebits)
}

// calledInDebits are the fields that have another name in debits than in orders and book transfers.
var calledInDebits = map[string]string{
	"sender.accountSubType": "creditor.subAccountType", "sender.routingNumber": "creditor.bankId",
	"sender.accountName": "creditor.name", "sender": "creditor", "receiver": "debtor",
}

// collecting are the speeds that debits may have.
var collecting = map[Speed]bool{Economy: true, EconomyPlus: true, Instant: true, Express: true}

// drawDebit makes a payment from the order of a debit. It is refused if it can never be carried out.
func (f *facts) drawDebit(s *Service, by access.Caller, o *Order, now time.Time) (*Payment, error) {
	creditor, err := f.party(s, by, "sender", o.Sender)
	if err != nil {
		return nil, err
	}
	amount, err := orderAmount(o, creditor)
	if err != nil {
		return nil, err
	}
	debtor, err := f.receiver(s, by, creditor, o)
	if err == nil {
		err = f.toldAtAnotherBank(s, by, &debtor)
	}
	if err != nil {
		return nil, err
	}
	bank, err := f.bankOf(&debtor)
	if err != nil {
		return nil, err
	}
	p := &Payment{
		Tenant: f.tenant, UID: f.uids[0], Customer: creditor.Customer, Direction: Out, EntryType: rails.Debit,
		Speed: Speed(o.Speed), Minor: amount.Minor, Currency: amount.Currency,
		ExternalReferenceID: o.ExternalReferenceID, Notes: o.Notes, Channel: cmp.Or(o.Channel, "API"),
		SenderName: debtor.Name, ReceiverAccount: creditor.Account, ReceiverCustomer: creditor.Customer,
		ReceiverName: creditor.Name, MakerClient: by.Client, MakerLogin: by.LoginID, CreatedAt: now, UpdatedAt: now,
	}
	if err := f.price(by, p, o.Fee); err != nil {
		return nil, err
	}
	if err := f.mayPay(by, p.Committed()); err != nil {
		return nil, err
	}
	var why string
	if p.Rail, why, err = route(o.networks(), p.Speed, creditor.collects, bank, p.Minor); err != nil {
		return nil, err
	}
	if err := p.pickUp(o.Date, now); err != nil {
		return nil, err
	}
	p.details = f.detail(s, p, o, &debtor, way{first: bank, last: bank, why: why})
	if p.Rail == rails.ACH {
		err = f.enter(s, p, o, creditor, &debtor)
	} else {
		p.asks, err = p.request(o, now)
	}
	if err == nil {
		err = f.carriable(s, p, creditor, &debtor)
	}
	if err != nil {
		return nil, err
	}
	if err := f.fitting(by, p); err != nil {
		return nil, err
	}
	f.uids = f.uids[1:]
	return p, f.repeat(s, p, o.Repeat, o.repeated(p))
}

// pickUp sets the settlement day of a debit that the bank is to send on a day, or today: that of the next
// file that leaves on that day or later.
func (p *Payment) pickUp(wanted, now time.Time) error {
	today := calendar.Today(now)
	ready := now
	switch {
	case wanted.IsZero() || wanted.Equal(today):
	case wanted.Before(today):
		return fault.Field("payment", "paymentDate", fault.Min, "must be today or later, in New York")
	case wanted.After(today.AddDate(1, 0, 0)):
		return fault.Field("payment", "paymentDate", fault.Max, "must be at most a year from today")
	default:
		ready = *beginOf(&wanted, calendar.Zone())
	}
	p.plan(ready)
	return nil
}

// answerDebit applies what the network says of a debit, and returns the state that the debit reaches.
func (f *facts) answerDebit(p *Payment, a *incoming, kind string, on time.Time) (State, error) {
	switch {
	case p.Asks():
		return f.answerRequest(p, a, kind)
	case a.says == accepted:
		return f.collect(p, on)
	case a.says == returned:
		return f.lose(p, a, on)
	}
	return p.State, nil
}

// collect credits the account, when a debit settles, with what it has collected, less the fee. The money
// passes through the network's clearing account, which held nothing of it before.
func (f *facts) collect(p *Payment, on time.Time) (State, error) {
	to, err := settling.Take(p.State)
	if err != nil {
		return p.State, err
	}
	settled, err := p.journal(ledger.Settlement, on, "Settled over "+string(p.Rail), f.settled(p),
		f.clearing(p), p.Minor)
	if err != nil {
		return p.State, err
	}
	credited, err := p.journal(ledger.Payment, p.Date, "Debit over "+string(p.Rail),
		f.clearing(p), p.Own(), p.Minor)
	if err != nil {
		return p.State, err
	}
	journals := []*ledger.Journal{settled, credited}
	if c := f.charge(p); c != nil {
		p.FeeMinor, p.FeeName, p.FeeTier = c.Price, c.FeeName, c.FeeTier
		fee, err := f.feeOf(p)
		if err != nil {
			return p.State, err
		}
		journals = append(journals, fee)
	}
	return to, f.force(p, journals...)
}

// lose takes back what a debit has collected, as the debtor's bank does not pay it. Before settlement there
// is nothing to take. The account cannot refuse: it may go below its overdraft, and pays nothing more until
// it is covered again.
func (f *facts) lose(p *Payment, a *incoming, on time.Time) (State, error) {
	if a.amount != p.Amount() {
		return p.State, nil // it is no return of this entry: people look at it
	}
	to, err := uncollected.Take(p.State)
	if err != nil {
		return p.State, err
	}
	collected := p.State == Settled
	p.ReturnedMinor = p.Minor
	if !collected {
		return to, nil
	}
	back, err := p.journal(ledger.Return, on, "Debit returned over "+string(p.Rail), p.Own(),
		f.settled(p), p.Minor)
	if err != nil {
		return p.State, err
	}
	return to, f.force(p, back)
}

func (f *facts) force(p *Payment, journals ...*ledger.Journal) error {
	if err := f.books.Force(journals...); err != nil {
		return fmt.Errorf("book payment %s: %w", p.UID, err)
	}
	return nil
}
