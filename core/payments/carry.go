package payments

import (
	"context"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/screening"
	"bankgraph/core/virtualaccounts"
)

// movable returns why the accounts of a payment do not let its money move; nil if they do. The money of a
// customer that is suspended, or whose partner is, stands still, whoever asks.
func (f *facts) movable(p *Payment) error {
	if p.Rail != rails.Book {
		return f.movesIn(p.DebitedCurrency(), p.Own(), "sender.accountUID")
	}
	if err := f.movesIn(p.Currency, p.SenderAccount, "senderAccount"); err != nil {
		return err
	}
	return f.movesIn(p.Currency, p.ReceiverAccount, "receiverAccount")
}

// switchedOn returns ErrRailOff if the network of a payment that is to be sent has been switched off for its
// account since.
func (f *facts) switchedOn(p *Payment) error {
	a := f.parties[p.Own()]
	if p.Rail == rails.Book || p.Incoming() || a == nil {
		return nil
	}
	uses := a.sends
	if p.Collects() {
		uses = a.collects
	}
	if !uses(p.Rail) {
		return ErrRailOff.Saying(ErrRailOff.Message + ": " + string(p.Rail) + " is off for the account")
	}
	return nil
}

// mayStillGoTx plans a payment anew that has waited for people, and returns when it is sent and the facts
// that it is carried out by. was is the payment before: what has changed since may refuse it, be it the end
// of its trade or of the request that it pays, a limit of its new day, its account or where the other one is
// kept.
func (s *Service) mayStillGoTx(
	ctx context.Context, tx *changes.Tx, was, p *Payment,
) (send time.Time, f *facts, err error) {
	send = p.plan(tx.Now)
	if p.Trade != 0 && !p.Date.Equal(was.Date) {
		return send, nil, ErrTradeOver.With(was.Date.Format(time.DateOnly))
	}
	if err := s.beforeExpiryTx(ctx, tx, p); err != nil {
		return send, nil, err
	}
	if err := p.movedTx(ctx, tx, was); err != nil {
		return send, nil, err
	}
	w := wanted(p)
	if err := s.otherTx(ctx, tx.Tx, &w, p); err != nil {
		return send, nil, err
	}
	if f, err = s.gatherTx(ctx, tx.Tx, p.Tenant, w); err != nil {
		return send, nil, err
	}
	if err := f.switchedOn(p); err != nil {
		return send, nil, err
	}
	if p.other != nil {
		err = f.toldAtAnotherBank(s, tx.Caller, p.other)
	}
	return send, f, err
}

// movesIn reports why an account, which a field names, does not let its money move in a currency: the account
// may have had another one when the payment was made.
func (f *facts) movesIn(currency money.Currency, uid accounts.UID, field string) error {
	err := f.moves(uid, field)
	if err == nil && f.parties[uid].Currency != currency {
		err = ErrCurrencies.On(field).Saying("the account is in another currency than the payment")
	}
	return err
}

// moves returns why an account does not let its money move; nil if it does. The fault names the field.
func (f *facts) moves(uid accounts.UID, field string) error {
	a := f.parties[uid]
	switch {
	case a == nil:
		return ErrAccount.On(field)
	case a.SystemOfRecord != accounts.InternalCore || f.books.Of(uid) == nil:
		return ErrElsewhere.On(field)
	case a.Status != accounts.Active:
		return ErrAccountState.On(field).With(string(a.Status))
	case !customers.InBusiness(a.CustomerStatus):
		return customers.ErrInactive.On(field).With(string(a.CustomerStatus))
	case a.PartnerStatus != "" && !customers.InBusiness(a.PartnerStatus):
		return customers.ErrInactive.On(field).With(string(a.PartnerStatus))
	}
	return nil
}

// carryOut carries out a payment as a whole, or returns why it cannot. It books a book transfer. For a
// payment over a network it holds the money; the payment is then sent, or looked at first. For a debit there
// is nothing to hold, nor for an enrolment.
func (f *facts) carryOut(p *Payment, now time.Time) (State, error) {
	if err := f.movable(p); err != nil {
		return p.State, err
	}
	if err := f.switchedOn(p); err != nil {
		return p.State, err
	}
	var found *screening.Found
	if p.Rail != rails.Book {
		send := p.plan(now)
		p.SendAt = &send
		var err error
		if found, err = f.look(p, now); err != nil {
			return p.State, err
		}
	}
	if !p.holds() {
		return f.toNetwork(p, found), nil
	}
	if c := f.charge(p); c != nil {
		p.FeeMinor, p.FeeName, p.FeeTier = c.Price, c.FeeName, c.FeeTier
	}
	if p.Rail != rails.Book {
		if err := f.books.Hold(p.SenderAccount, p.held(), int64(p.UID)); err != nil {
			return p.State, err
		}
		return f.toNetwork(p, found), nil
	}
	return Settled, f.take(p, p.ReceiverAccount, "Book transfer")
}

// take books the money of a payment from the payer to an account, and the fee. A payment over a network is
// booked even if returns of other payments have overdrawn the account since: its money was held.
func (f *facts) take(p *Payment, to accounts.UID, why string) error {
	journal, err := f.paying(p, ledger.Payment, p.Date, why, to, p.Minor, p.SoldMinor)
	if err != nil {
		return err
	}
	journals := []*ledger.Journal{journal}
	if p.FeeMinor > 0 {
		fee, err := f.feeOf(p)
		if err != nil {
			return err
		}
		journals = append(journals, fee)
	}
	if p.Rail == rails.Book {
		return f.books.Book(journals...)
	}
	return f.books.Force(journals...)
}

// feeOf makes the journal of a payment's fee.
func (f *facts) feeOf(p *Payment) (*ledger.Journal, error) {
	return p.feeJournal(p.Date, "Fee: "+p.FeeName, p.Own(),
		f.houses[house{ledger.HouseFees, p.DebitedCurrency()}])
}

// book books an amount of a payment from one account to another.
func (f *facts) book(
	p *Payment, kind ledger.Kind, on time.Time, why string, from, to accounts.UID, minor int64,
) error {
	journal, err := p.journal(kind, on, why, from, to, minor)
	if err != nil {
		return err
	}
	if err := f.books.Book(journal); err != nil || p.Virtual == 0 {
		return err
	}
	f.postVirtual(p, journal)
	return nil
}

// postVirtual notes, for the payment's virtual account, what a journal has moved on the master account.
func (f *facts) postVirtual(p *Payment, journal *ledger.Journal) {
	for _, entry := range journal.Entries {
		if entry.Account != p.ReceiverAccount {
			continue
		}
		f.virtualPostings = append(f.virtualPostings, virtualPosting{p, &virtualaccounts.VirtualPosting{
			Tenant: p.Tenant, VirtualAccount: p.Virtual, Customer: p.ReceiverCustomer, Account: p.ReceiverAccount,
			Payment: int64(p.UID), Journal: journal.ID, Minor: entry.Amount.Minor, Currency: p.Currency,
			At: journal.BookedAt, Client: f.by.Client, LoginID: f.by.LoginID, Reach: f.by.Reach,
		}})
	}
}

// virtualPosting is a posting of a virtual account, with its payment.
type virtualPosting struct {
	of *Payment
	*virtualaccounts.VirtualPosting
}

// postVirtualTx writes the postings of virtual accounts, each with the step that its payment has reached.
func (f *facts) postVirtualTx(ctx context.Context) error {
	all := make([]*virtualaccounts.VirtualPosting, len(f.virtualPostings))
	for i, posting := range f.virtualPostings {
		posting.Step = posting.of.Version
		all[i] = posting.VirtualPosting
	}
	return virtualaccounts.PostTx(ctx, f.tenant, all)
}

// journal makes a journal of the payment, which moves an amount from one account to another.
func (p *Payment) journal(
	kind ledger.Kind, on time.Time, why string, from, to accounts.UID, minor int64,
) (*ledger.Journal, error) {
	return p.journalOf(kind, on, why, from, to, money.Of(minor, p.Currency))
}

// feeJournal makes the journal that moves the payment's fee from one account to another.
func (p *Payment) feeJournal(on time.Time, why string, from, to accounts.UID) (*ledger.Journal, error) {
	return p.journalOf(ledger.Fee, on, why, from, to, money.Of(p.FeeMinor, p.DebitedCurrency()))
}

func (p *Payment) journalOf(
	kind ledger.Kind, on time.Time, why string, from, to accounts.UID, amount money.Amount,
) (*ledger.Journal, error) {
	journal, err := ledger.NewJournal(kind, on, why,
		ledger.Entry{Account: from, Amount: money.Of(-amount.Minor, amount.Currency)},
		ledger.Entry{Account: to, Amount: amount})
	if err != nil {
		return nil, err
	}
	uid := int64(p.UID)
	journal.Payment = &uid
	return journal, nil
}

// held returns the amount that is held for a payment until it is sent: the payment's amount and its fee.
func (p *Payment) held() money.Amount {
	debited := p.Debited()
	return money.Of(debited.Minor+p.FeeMinor, debited.Currency)
}

// feeNames are the names of payment fees, in the catalogue and in customers' tiers. The fee of a payment over
// a network is named after its speed.
var feeNames = []string{
	bookFee, string(Economy), string(EconomyPlus), string(Instant), string(Express),
	string(Spot), string(SameDay), string(NextDay),
}

const bookFee = "Book Transfer"

// journalsEach is the most journals that one payment books: its own and its fee's.
const journalsEach = 2
