package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/contacts"
	"bankgraph/core/fault"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/seal"
	"bankgraph/core/virtualaccounts"
	"bankgraph/db"
)

// Send pays somebody at another bank, over the network that the speed picks. The money is held at once, and
// taken when the payment is sent; the network says later whether it has settled. If the settings of the
// customer that pays ask for dual approval (paymentDualApproval), or those of the account for a callback, the
// payment waits for a person first.
func (s *Service) Send(
	ctx context.Context, order Order, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.send.Require(ctx, "")
	if err == nil {
		err = order.admit()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	out, err := s.send.Do(ctx, caller, changes.Target{}, order, options)
	return out, fault.Called(err, calledInOrders)
}

// calledInOrders are the fields that have another name in orders than in book transfers.
var calledInOrders = map[string]string{
	"sender.accountSubType": "sender.subAccountType", "sender.routingNumber": "sender.bankId",
	"sender.accountName": "sender.name", "senderAccount.achCompanyID": "sender.achCompanyID",
}

// sendTx begins the orders of a lane.
func (s *Service) sendTx(
	ctx context.Context, tx *changes.LaneTx, members []*changes.Member[Order, Saved],
) error {
	orders := make([]*Order, len(members))
	for i, m := range members {
		orders[i] = &m.Draft
	}
	w := wantedBy(orders, tx.Now).madeBy(tx.Now, callersOf(members)...)
	f, err := s.gatherTx(ctx, tx.Tx, tx.Tenant, w)
	if err != nil {
		return err
	}
	return beginAllTx(ctx, s, f, members, func(m *changes.Member[Order, Saved]) (*Payment, error) {
		return f.drawOrder(s, m.Tx.Caller, &m.Draft, m.Tx.Now)
	})
}

// callersOf returns who makes the payments of a lane.
func callersOf[D any](members []*changes.Member[D, Saved]) (all []access.Caller) {
	for _, m := range members {
		all = append(all, m.Tx.Caller)
	}
	return all
}

// wantedBy returns the facts that orders need.
func wantedBy(orders []*Order, now time.Time) want {
	w := want{created: len(orders)}
	for _, o := range orders {
		w.orders(o, now)
	}
	return w
}

// drawOrder makes a payment from an order. It refuses an order that can never be carried out; movable and
// carryOut tell whether it can be now. With a fault it returns what is known of the payment so far; nil if
// nothing.
func (f *facts) drawOrder(s *Service, by access.Caller, o *Order, now time.Time) (*Payment, error) {
	switch {
	case !f.bank.Sandbox:
		return nil, ErrNoNetwork
	case o.EntryType == rails.Debit:
		return f.drawDebit(s, by, o, now)
	}
	p, sender, err := f.ordered(s, by, o, now)
	if err == nil {
		err = f.directed(s, by, p, o, sender, now)
	}
	if err != nil {
		return p, err
	}
	f.uids = f.uids[1:]
	return p, f.repeat(s, p, o.Repeat, o.repeated(p))
}

// ordered begins the payment of an order, for who pays it and how much. It returns the payment with a fault
// that can be repaired, and for a preview with that of an amount above the person's own limits.
func (f *facts) ordered(
	s *Service, by access.Caller, o *Order, now time.Time,
) (p *Payment, sender *party, err error) {
	if sender, err = f.party(s, by, "sender", o.Sender); err != nil {
		return nil, nil, err
	}
	amount, err := orderAmount(o, sender)
	if err != nil {
		return nil, nil, err
	}
	p = &Payment{
		Tenant: f.tenant, UID: f.uids[0], Customer: sender.Customer, Direction: Out, Speed: Speed(o.Speed),
		EntryType: rails.Credit, Minor: amount.Minor, Currency: amount.Currency, Date: o.Date,
		ExternalReferenceID: o.ExternalReferenceID, Notes: o.Notes,
		Channel: cmp.Or(o.Channel, "API"), SenderAccount: sender.Account, SenderName: sender.Name,
		MakerClient: by.Client, MakerLogin: by.LoginID, CreatedAt: now, UpdatedAt: now,
	}
	p.Exchange, err = f.exchanged(o, sender, amount)
	if fee := f.price(by, p, o.Fee); fee != nil {
		return nil, nil, fee
	}
	if own := f.mayPay(by, p.Committed()); own != nil {
		return p, nil, own
	}
	if o.Repairable {
		if ended := o.Repeat.endsAfter(later(o.Date, calendar.Today(now))); ended != nil {
			return nil, nil, ended
		}
		p.order = o
	}
	return p, sender, together(o.unfit, err)
}

// directed says to whom the payment of an order goes, over which network and on which day.
func (f *facts) directed(
	s *Service, by access.Caller, p *Payment, o *Order, sender *party, now time.Time,
) error {
	to, err := f.receiver(s, by, sender, o)
	if err == nil {
		err = f.toldAtAnotherBank(s, by, &to)
	}
	if err != nil {
		return err
	}
	way, err := f.wayOf(o, &to)
	if err != nil {
		return err
	}
	if p.ReceiverName = to.Name; o.enrols() {
		p.ReceiverName = cmp.Or(to.Name, way.last.Name)
	}
	var why string
	if p.Rail, why, err = route(o.networks(), p.Speed, to.payable(sender), way.first, p.Minor); err != nil {
		return err
	}
	way.why = joined(why, way.why)
	if p.Rail == rails.SWIFT && f.bank.BIC == "" {
		return ErrNoBIC
	}
	wanted := o.Date
	if t := f.trades[p.Trade]; t != nil {
		if t.ValueDate.Before(calendar.Today(now)) {
			return fault.Field("payment", "additionalInfo.fxContractNumber", fault.NoMatch,
				"must be a trade whose value date has not passed: it was "+t.ValueDate.Format(time.DateOnly))
		}
		p.Date, wanted = t.ValueDate, t.ValueDate
	}
	if err := p.settleOn(wanted, now, o.moves); err != nil {
		return err
	}
	p.details = f.detail(s, p, o, &to, way)
	if p.Rail == rails.ACH {
		err = f.enter(s, p, o, sender, &to)
	}
	if err == nil {
		err = f.carriable(s, p, sender, &to)
	}
	if err != nil {
		return err
	}
	return f.fitting(by, p)
}

// together returns the faults of an order's form and what is wrong with it besides: all of them are told. An
// error that is no fault stands alone.
func together(form, err error) error {
	var faults fault.Faults
	one, is := fault.Of(err)
	switch {
	case err == nil:
		return form
	case form == nil, !is, !errors.As(form, &faults):
		return err
	case slices.ContainsFunc(faults, func(f *fault.Fault) bool { return f.Field == one.Field }):
		return form // which says why already
	}
	return append(slices.Clone(faults), one)
}

// enter adds to a payment what only ACH says.
func (f *facts) enter(s *Service, p *Payment, o *Order, from *party, to *Receiver) (err error) {
	if p.entry, err = entryOf(p, o, from, to); err != nil || p.entry.Class != rails.IAT {
		return err
	}
	bic := ""
	if k := f.known[to.Contact]; k != nil {
		bic = k.BIC
	}
	return p.details.goAbroad(s.keys, p, o, from, to, bic)
}

// fitting returns a fault for a payment that a limit of the customer, or the account, does not allow.
func (f *facts) fitting(by access.Caller, p *Payment) error {
	if !p.counts() {
		return f.movable(p)
	}
	if over := f.limits.Exceeds(p.tested(p.entry)); over != nil {
		return exceeds(by, over)
	}
	return f.movable(p)
}

// exceeds returns the fault of a payment that would exceed a limit. After a limit is lowered below what is
// used, nothing is left. Numbers are for callers that see customers, and so their limits.
func exceeds(by access.Caller, over *limits.Limit) error {
	if !by.May(access.ViewCustomers) {
		return ErrLimit.Saying(over.Kind().Name + " would be exceeded").With(over.Code)
	}
	left := over.Remaining()
	left.Minor = max(0, left.Minor)
	return ErrLimit.Saying(over.Message() + ": " + left.String() + " is left").With(over.Code)
}

func orderAmount(o *Order, sender *party) (money.Amount, error) {
	if Speed(o.Speed).International() {
		return internationalAmount(o, sender)
	}
	in := money.Currency(o.Currency)
	switch {
	case in != "USD":
		return money.Amount{}, fault.Field("payment", "paymentCurrency", fault.NoMatch,
			"must be USD, in which these speeds pay")
	case in != sender.Currency:
		return money.Amount{}, fault.Field("payment", "paymentCurrency", fault.NoMatch,
			"must be the currency of the account, "+string(sender.Currency))
	}
	amount, err := money.Parse(o.Amount, in)
	if err != nil {
		return money.Amount{}, fault.Field("payment", "paymentAmount", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", in, in.Digits()))
	}
	return amount, nil
}

// settleOn sets the day of settlement: the wanted day, or the first possible one if none is wanted. If moves
// is set, a wanted day that is not possible becomes the next one that is.
func (p *Payment) settleOn(wanted, now time.Time, moves bool) error {
	today := calendar.Today(now)
	switch {
	case !wanted.IsZero() && wanted.Before(today):
		return fault.Field("payment", "paymentDate", fault.Min, "must be today or later, in New York")
	case wanted.After(today.AddDate(1, 0, 0)):
		return fault.Field("payment", "paymentDate", fault.Max, "must be at most a year from today")
	}
	if p.plan(now); !wanted.IsZero() && !moves && !p.Date.Equal(wanted) {
		return ErrDay.Saying("the network does not settle on this day, or its last cut-off today " +
			"has passed: the next day is " +
			p.Date.Format(time.DateOnly)).With(p.Date.Format(time.DateOnly))
	}
	return nil
}

// receiver returns the payee: the contact that is named, or else what the order describes. The bank of a
// contact abroad must have a BIC.
func (f *facts) receiver(s *Service, by access.Caller, from *party, o *Order) (Receiver, error) {
	if o.Receiver.Contact == 0 {
		return o.Receiver, nil
	}
	k := f.known[o.Receiver.Contact]
	if k == nil || k.Customer != from.Customer || k.Status != contacts.Active {
		return Receiver{}, ErrContact
	}
	number, err := s.numberOf(f.tenant, k)
	if err != nil {
		return Receiver{}, err
	}
	var why error
	if o.Receiver.Number != "" && o.Receiver.Number != number {
		why = fault.Field("payment", "receiver.accountNumber", fault.NoMatch, "must be that of the contact")
	}
	if why = f.guessed(s, by, o.Receiver.Number, why); why != nil {
		return Receiver{}, why
	}
	to := Receiver{
		Contact: k.UID, Number: number, Type: k.Type, SubType: k.SubType, Currency: k.Currency, Name: k.Name,
		Phone: k.Phone, Email: k.Email, Address: k.Address, Bank: ReceiverBank{ID: k.Routing, Name: k.BankName},
	}
	if o.overACHAbroad() {
		return f.receiverAbroad(k, to, o)
	}
	if Speed(o.Speed).International() || o.Correspondent != "" && k.Routing == "" {
		to.Bank.ID, to.Bank.BIC = "", k.BIC
		to.Between = ReceiverBank{BIC: k.BetweenBIC, Name: k.BetweenName}
		if number == "" || k.BIC == "" {
			return Receiver{}, ErrNoAccountAbroad
		}
		return to, nil
	}
	if number == "" || k.Routing == "" || k.Country != "" && k.Country != "United States" {
		return Receiver{}, ErrNoAccount
	}
	switch {
	case o.RemittanceMethod == byEmail && k.Email == "":
		return Receiver{}, fault.Field("payment", "receiver.accountUID", fault.Required,
			"must have an e-mail address, to which the remittance goes")
	case o.wire() && k.BetweenRouting != "":
		to.Between = ReceiverBank{ID: k.BetweenRouting, Name: k.BetweenName}
	case o.Correspondent != "" && k.BetweenBIC != "":
		to.Between = ReceiverBank{BIC: k.BetweenBIC, Name: k.BetweenName}
	}
	return to, nil
}

// numberOf returns the account number of a contact.
func (s *Service) numberOf(tenant access.Tenant, k *contact) (string, error) {
	number, err := s.keys.Open(seal.Value{Sealed: k.Sealed},
		seal.Place{Tenant: int64(tenant), Column: contacts.NumberColumn, Row: int64(k.UID)})
	if err != nil {
		return "", fmt.Errorf("open the account number of contact %s: %w", k.UID, err)
	}
	return number, nil
}

// atAnotherBank returns a fault if the account on the other side of a payment over a network is one of this
// bank, or a virtual one: no message of a network moves money there.
func (f *facts) atAnotherBank(s *Service, to *Receiver) error {
	if to.Number == "" {
		return nil
	}
	hashes := slices.Concat(s.keys.Hashes(int64(f.tenant), accounts.NumberColumn, to.Number),
		s.keys.Hashes(int64(f.tenant), virtualaccounts.NumberColumn, to.Number))
	for _, hash := range hashes {
		bank, is := f.ours[string(hash)]
		if is && (bank == to.Bank.ID || f.ownBIC(to)) {
			return ErrOwnAccount
		}
	}
	return nil
}

// ownBIC reports whether the bank on the other side is named by this bank's BIC, or that of any of its
// branches.
func (f *facts) ownBIC(to *Receiver) bool {
	bic := to.Bank.BIC[:min(len(to.Bank.BIC), 8)]
	return bic != "" && strings.HasPrefix(f.bank.BIC, bic)
}

// tried is a number that somebody names in payments.
type tried struct{ party, number string }

// toldAtAnotherBank is atAnotherBank for what a caller is told before the payment goes. Outside the bank, who
// has named too many numbers at this bank hears of none whether it is one of its accounts: the payment is
// decided when it goes (rest/CONTRACT.md, speeds).
func (f *facts) toldAtAnotherBank(s *Service, by access.Caller, to *Receiver) error {
	why := f.atAnotherBank(s, to)
	here := why != nil || to.Number != "" && (f.banksOfOurs[to.Bank.ID] || f.ownBIC(to))
	switch {
	case f.whenItGoes:
		return nil
	case by.Reach == access.OfBank || !here:
		return why
	}
	it := tried{by.Party(), to.Number}
	spent, known := f.tried[it]
	if !known {
		spent = s.accounts.Tried(by)
		f.tried[it] = spent
	}
	if spent {
		return nil
	}
	return why
}

// otherTx reads who is on the other side of a payment over a network, and has the facts say whether that
// account is one of this bank by now.
func (s *Service) otherTx(ctx context.Context, tx bun.Tx, w *want, p *Payment) error {
	if p.Rail == rails.Book {
		return nil
	}
	b := db.TxBatch(tx)
	details := db.Queue(b, readingDetails, p.Tenant, []UID{p.UID})
	if err := b.Send(ctx); err != nil {
		return err
	}
	for _, d := range details.Items {
		s.otherSide(w, p, d)
	}
	return nil
}

// otherSide keeps who is on the other side of a payment, by its details. A number that does not open is left
// to what sends the payment, which needs it.
func (s *Service) otherSide(w *want, p *Payment, d *Details) {
	number, err := s.keys.Open(d.Number, d.place())
	if err != nil || number == "" {
		return
	}
	p.other = &Receiver{Number: number, Bank: ReceiverBank{ID: d.BankID, BIC: d.BankID}}
	w.others, w.othersAt = append(w.others, number), append(w.othersAt, d.BankID)
}

// stillElsewhere returns ErrOwnAccount for a payment that goes now and whose other side is an account of this
// bank: it has become one since the payment was made, or who made it was not told.
func (f *facts) stillElsewhere(s *Service, p *Payment) error {
	if p.other == nil {
		return nil
	}
	return f.atAnotherBank(s, p.other)
}

// carriable returns a fault if the payment's message cannot be sent over its network.
func (f *facts) carriable(s *Service, p *Payment, from *party, to *Receiver) error {
	number, err := s.keys.Open(seal.Value{Sealed: from.Sealed}, ownPlace(p))
	if err != nil {
		return fmt.Errorf("open the number of account %s: %w", from.Account, err)
	}
	if p.Rail == rails.ACH {
		return p.entered(to.Number)
	}
	return p.carried(from, accountNumbers{number, to.Number, to.Between.Account, to.Bank.Account})
}

// ownPlace returns where the number of the account that is here is sealed.
func ownPlace(p *Payment) seal.Place {
	return seal.Place{Tenant: int64(p.Tenant), Column: accounts.NumberColumn, Row: int64(p.Own())}
}

// bankOf returns the payee's bank, from the directory.
func (f *facts) bankOf(to *Receiver) (*banks.Bank, error) {
	bank, err := banks.First(f.banks, to.Bank.refs()...)
	if err == nil && bank == nil {
		err = ErrBank
		if to.Bank.BIC != "" {
			err = ErrBank.On("receiver.bank.swiftCode")
		}
		if to.Contact != 0 && to.Bank.Country == "" { // else it is a gateway, which the order names
			err = ErrBank.On("receiver.accountUID")
		}
	}
	return bank, err
}

// detail returns the details of a new payment. Account numbers are sealed.
func (f *facts) detail(s *Service, p *Payment, o *Order, to *Receiver, by way) *Details {
	d := &Details{
		Tenant: p.Tenant, Payment: p.UID, Contact: to.Contact, Type: to.Type, SubType: to.SubType,
		Address: to.Address, Email: to.Email, Phone: to.Phone, BankID: cmp.Or(to.Bank.BIC, to.Bank.ID),
		BankName: cmp.Or(to.Bank.Name, by.last.Name), Remittance: cmp.Or(o.Remittance, o.Addenda),
		Reference: o.Reference, OriginatorInfo: o.OriginatorInfo, BankInfo: o.BankInfo, Charges: o.Charges,
		CostCenter: o.CostCenter, RequestMethod: o.RequestMethod, OperationNote: o.OperationNote, Route: by.why,
		UETR: uuid.NewString(), LocalInstrument: o.LocalInstrument, RemittanceMethod: o.RemittanceMethod,
		RemittanceAddress: o.address(to),
	}
	d.Number = s.keys.Seal(to.Number, d.place())
	switch {
	case o.wire():
		d.over(s.keys, to, by)
	case o.enrols():
		d.enrol(s.keys, o.Benefit)
	}
	return d
}
