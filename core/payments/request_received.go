package payments

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/db"
)

// A customer of another bank may ask one of ours to pay: by a request for payment over FedNow or RTP, or a
// drawdown over Fedwire (rest/CONTRACT.md, incoming requests for payment). It is a payment of who is asked,
// and moves no money: positive pay decides on it, or people, and it is met with a credit of its own.
// PostEntries meets on its day what a rule allows; ExpireExceptions ends what nobody has decided on.

// demand is a request of another bank for payment.
type demand struct {
	*iso20022.PaymentRequest

	payment *Payment
	terms   *Request
	until   time.Time             // people may decide before
	rules   *positivepay.Screened // what positive pay is asked
}

// The reasons for which requests are refused, in the codes of ISO 20022.
const (
	declinedByCustomer = "CUST"
	declinedByBank     = "MS03"
	uncovered          = "AM04"
	tooLate            = "TM01"
)

// demand takes in a request: it waits for its day or for people, or is refused with the reason. Its network
// is told which, except that a drawdown waits.
func (in *intake) demand(a *incoming) error {
	return in.takeIn(a, arrival{
		refusal: func() string { return in.f.unpayable(in.s, a, in.now) },
		take:    func() (*Payment, error) { return in.ask(a), nil },
		code:    func(*Payment) iso20022.Code { return iso20022.AcceptedTechnical },
		silent:  a.over == rails.Fedwire,
		from:    a.request.DebtorAgent,
		verdict: func(code, why string) func(iso20022.Group) iso20022.Message {
			return answerOf(a.request,
				code, why)
		},
	})
}

// originalOf is a request as other messages refer to it.
func originalOf(r *iso20022.PaymentRequest) iso20022.Original {
	return iso20022.Original{
		MessageID: r.ID, Type: r.Type(), CreatedAt: r.CreatedAt, InstructionID: r.InstructionID,
		EndToEndID: r.EndToEndID, UETR: r.UETR,
	}
}

// answerOf returns the answer to a request: accepted, with this code, or refused, with the reason.
func answerOf(r *iso20022.PaymentRequest, code, why string) func(iso20022.Group) iso20022.Message {
	return func(g iso20022.Group) iso20022.Message {
		a := &iso20022.PaymentAnswer{
			Group: g, Initiator: iso20022.Party{Name: cmp.Or(r.Debtor.Name, r.DebtorAgent)},
			DebtorAgent: r.DebtorAgent, CreditorAgent: r.CreditorAgent, RequestID: r.RequestID,
			Code: iso20022.Code(code), Original: originalOf(r),
		}
		if why != "" {
			a.Code, a.Reasons = iso20022.Rejected, []iso20022.Reason{{Code: why}}
		}
		return a
	}
}

// unpayable returns why nobody here can be asked for a payment, as a reason of ISO 20022; "" if somebody can.
func (f *facts) unpayable(s *Service, a *incoming, now time.Time) string {
	r := a.request
	of := f.parties[f.numbered(s, r.Debtor.Account)]
	why := f.refusal(approach{a.over, r.Amount, r.DebtorAgent, of, nil, (*party).mayBeAsked})
	if _, until := lasts(a.over, r); why == "" && !now.Before(until) {
		why = tooLate
	}
	return why
}

// lasts returns the last day on which a request of another bank may be paid, and the moment at which that is
// over. One that names no time for it ends as late as its network lets it, a drawdown with its day; that it
// comes late gives it no more time.
func lasts(over rails.Rail, r *iso20022.PaymentRequest) (last, until time.Time) {
	if !r.ExpiresAt.IsZero() {
		return ledger.Day(r.ExpiresAt.Add(-time.Second).In(calendar.Zone())), r.ExpiresAt
	}
	last = lastDay(over, r.ExecutionDate)
	return last, (&Request{Expires: last}).over()
}

// mayBeAsked reports whether an account may be asked for payments over a network.
func (a *party) mayBeAsked(over rails.Rail) bool {
	return a.sends(over) && (a.RFPIn || over == rails.Fedwire)
}

// ask makes a payment of a request. It has no state yet.
func (in *intake) ask(a *incoming) *Payment {
	f, r := in.f, a.request
	of := f.parties[f.numbered(in.s, r.Debtor.Account)]
	today := calendar.Today(in.now)
	on := later(r.ExecutionDate, today)
	p := &Payment{
		Tenant: f.tenant, UID: f.uids[0], Customer: of.Customer, Direction: In, EntryType: rails.Debit,
		Rail: a.over, Minor: r.Amount.Minor, Currency: r.Amount.Currency, Date: on,
		ExternalReferenceID: r.EndToEndID, Notes: r.Remittance, Channel: string(a.over), SenderAccount: of.Account,
		SenderName: of.Name, ReceiverName: cmp.Or(r.Creditor.Name, r.CreditorAgent),
		SettlesAt: beginOf(&on, calendar.Zone()), MakerClient: in.caller.Client, MakerLogin: in.caller.LoginID,
		CreatedAt: in.now, UpdatedAt: in.now,
	}
	if r.Early {
		p.SettlesAt = &in.now
	}
	f.uids = f.uids[1:]
	p.details = &Details{
		Tenant: p.Tenant, Payment: p.UID, Address: r.Creditor.Address, BankID: r.CreditorAgent,
		BankName: f.bankName(r.CreditorAgent), Remittance: r.Remittance, Reference: cut(r.EndToEndID, 35),
		UETR: r.UETR,
	}
	p.details.Number = in.s.keys.Seal(r.Creditor.Account, p.details.place())
	d := &demand{PaymentRequest: r, payment: p}
	d.terms = &Request{
		Tenant: p.Tenant, Payment: p.UID, On: r.ExecutionDate, Modifiable: r.Modifiable, Early: r.Early,
		Guaranteed: r.Guaranteed,
	}
	d.terms.Expires, d.until = lasts(a.over, r)
	kind := positivepay.Instant
	if a.over == rails.Fedwire {
		kind = positivepay.Fedwire
	}
	d.rules = &positivepay.Screened{
		Payment: int64(p.UID), Customer: p.Customer, Account: p.SenderAccount, Type: kind, Name: p.ReceiverName,
		BankID: r.CreditorAgent, BankName: p.details.BankName, Amount: p.Amount(), DebitDate: p.Date,
		Numbers: in.s.keys.Hashes(int64(p.Tenant), positivepay.NumberColumn, r.Creditor.Account),
		// people look at what the bank confirms by a callback
		Unruled: !of.PositivePay || a.over == rails.Fedwire && of.above(r.Amount),
	}
	if f.needsSecond(p.Own()) {
		people, by := f.approversOf(p.Own(), p.Amount())
		d.rules.Approvers, d.rules.ByBank = people, by == access.OfBank
	}
	in.by[p.UID] = p
	in.created, in.details, in.demands = append(in.created, p), append(in.details, p.details),
		append(in.demands, d)
	return p
}

// demandsTx asks positive pay about the requests that have come, and writes what it says.
func (in *intake) demandsTx(ctx context.Context, tx bun.Tx) error {
	if len(in.demands) == 0 {
		return nil
	}
	var asked []*positivepay.Screened
	var terms []*Request
	until := map[*positivepay.Screened]time.Time{}
	for _, d := range in.demands {
		asked, terms, until[d.rules] = append(asked, d.rules), append(terms, d.terms), d.until
	}
	exceptions, err := positivepay.ScreenTx(ctx, tx, in.caller, in.now, asked,
		func(one *positivepay.Screened) time.Time { return until[one] })
	if err != nil {
		return err
	}
	for i, e := range exceptions {
		p := in.demands[i].payment
		to, reason := enteredWith(e)
		in.steps = append(in.steps, p.enter(to, in.caller, in.now, reason))
		in.record = append(in.record, changes.Change{
			Action: "receivePayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
			After: p,
		}.Recorded(in.caller, ""), screenedDebit(e).Recorded(in.caller, ""))
	}
	in.terms, in.exceptions = terms, exceptions
	return nil
}

// demandsOfTx reads the requests of other banks among payments that are locked.
func (s *Service) demandsOfTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, locked []*Payment,
) (map[UID]*demand, error) {
	var of []UID
	all := map[UID]*demand{}
	for _, p := range locked {
		if !p.Asked() {
			continue
		}
		m, err := s.readTx(ctx, tx, p, requestKind, In)
		if err != nil {
			return nil, err
		}
		r, is := m.(*iso20022.PaymentRequest)
		if !is {
			return nil, errors.New("payment " + p.UID.String() + " has no request")
		}
		of, all[p.UID] = append(of, p.UID), &demand{PaymentRequest: r, payment: p}
	}
	if len(of) == 0 {
		return nil, nil
	}
	b := db.TxBatch(tx)
	found := db.Queue(b, readingRequests, tenant, of)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	for _, terms := range found.Items {
		all[terms.Payment].terms = terms
	}
	return all, nil
}

// beforeExpiryTx returns ErrRequestOver for a payment by which a request of another bank is to be paid, if
// that has expired, or does before the day of the payment.
func (s *Service) beforeExpiryTx(ctx context.Context, tx *changes.Tx, credit *Payment) error {
	paid, err := s.paidByTx(ctx, tx.Tx, credit.Tenant, []*Payment{credit})
	if err == nil && paid[credit.UID].tooLateBy(credit, tx.Now) {
		err = ErrRequestOver
	}
	return err
}

// payingRequests reads which of the payments $2 pay a request.
var payingRequests = db.NewQuery[found](`SELECT r.credit AS uid FROM payment_requests AS r
	WHERE r.tenant = $1 AND r.credit = ANY($2::bigint[])`)

// paidByTx returns the requests of other banks that payments are to pay, by the payments.
func (s *Service) paidByTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, credits []*Payment,
) (paid map[UID]*demand, err error) {
	var uids []UID
	for _, p := range credits {
		if !p.Incoming() && !p.Collects() && Profiles[p.Rail] != nil && p.Rail != rails.SWIFT {
			uids = append(uids, p.UID)
		}
	}
	if len(uids) == 0 {
		return nil, nil
	}
	var of []*Payment
	err = tx.NewSelect().Model(&of).
		Join("JOIN payment_requests AS r ON r.tenant = pay.tenant AND r.payment = pay.uid").
		Where("pay.tenant = ?", tenant).Where("r.tenant = ?", tenant).
		Where("r.credit IN (?)", bun.List(uids)).
		Where("pay.direction = ?", In).Scan(ctx)
	if err != nil || len(of) == 0 {
		return nil, err
	}
	demands, err := s.demandsOfTx(ctx, tx, tenant, of)
	paid = map[UID]*demand{}
	for _, d := range demands {
		paid[d.terms.Credit] = d
	}
	return paid, err
}

// tooLateBy reports whether a payment that is to pay a request comes too late for it: who asked has asked
// anew by then. A drawdown ends with its day, on which the wire settles. Without a request it is never late.
func (d *demand) tooLateBy(credit *Payment, now time.Time) bool {
	return d != nil && (d.over(now) || credit.Date.After(d.terms.Expires))
}

// amount returns how much a debit, or a request, is paid: all of it, or another amount if a request allows
// one and somebody gives it.
func (d *demand) amount(p *Payment, accepted string) (money.Amount, error) {
	if accepted == "" {
		return p.Amount(), nil
	}
	wrong := func(problem fault.Problem, why string) (money.Amount, error) {
		return money.Amount{}, fault.Field(positivepay.ExceptionObject, "acceptedAmount", problem, why)
	}
	amount, err := money.Parse(accepted, p.Currency)
	switch {
	case err != nil:
		return wrong(fault.Malformed, "must be an amount of "+string(p.Currency))
	case d == nil || !d.terms.Modifiable && amount != p.Amount():
		return wrong(fault.Forbidden,
			"only a request for payment that allows it is paid by another amount: this is "+
				p.Amount().String())
	case amount.Minor <= 0:
		return wrong(fault.Min, "must be greater than 0")
	case amount.Minor > p.Minor:
		return wrong(fault.Max, "must not be above what is asked for, "+p.Amount().String())
	}
	return amount, nil
}

// over reports whether a request has expired.
func (d *demand) over(now time.Time) bool {
	until := d.ExpiresAt
	if until.IsZero() {
		until = d.terms.over()
	}
	return !now.Before(until)
}

// order returns the credit that meets a request: to its creditor, over the network of the request, and on its
// day unless it may be earlier.
func (d *demand) order(now time.Time) *Order {
	p, r := d.payment, d.PaymentRequest
	o := &Order{
		Sender: Party{UID: p.SenderAccount}, Amount: p.Amount().String(), Currency: string(p.Currency),
		Speed: string(Instant), ExternalReferenceID: p.ExternalReferenceID, Notes: p.Notes, Channel: string(p.Rail),
		Remittance: r.Remittance, Reference: cut(r.EndToEndID, 35), moves: true, over: p.Rail,
		Receiver: Receiver{
			Name: p.ReceiverName, Number: r.Creditor.Account, Type: "Deposit", SubType: "Checking",
			Address: r.Creditor.Address,
			Bank:    ReceiverBank{ID: r.CreditorAgent},
		},
	}
	if p.Rail == rails.Fedwire {
		o.Speed = string(Express)
	}
	if on, today := p.Date, calendar.Today(now); on.After(today) && !r.Early {
		o.Date = on
	}
	return o
}

// meet makes the payment of an amount that a request asks for. It is like any other payment, with its fee and
// limits; begin begins it.
func (w *entryWork) meet(
	p *Payment, d *demand, amount money.Amount, begin func(made *Payment) (*Step, error),
) error {
	o := d.order(w.now)
	o.Amount = amount.String()
	made, err := w.f.drawOrder(w.s, w.caller, o, w.now)
	// a field of an order that nobody here wrote
	if f, is := fault.Of(err); is && f.Field != "" && f.Kind != fault.Denied {
		return ErrUnpayable.Saying("the request cannot be paid: " + f.Error())
	}
	if err != nil {
		return err
	}
	planned := *made
	if planned.plan(w.now); d.tooLateBy(&planned, w.now) {
		return ErrRequestOver.Saying("the request can no longer be paid in its time, until " +
			d.terms.Expires.Format(time.DateOnly) + ": refuse it")
	}
	was := *p
	to, err := meeting.Take(p.State)
	if err != nil {
		return err
	}
	step, err := begin(made)
	if err != nil {
		return err
	}
	w.rows.add(made, step)
	w.enter(&was, p, to, "payRequest", "")
	w.paid = append(w.paid, [2]UID{p.UID, made.UID})
	return nil
}

// standingTx returns the rules that still allow requests on their day. That may be months after they came,
// and people stop them by suspending the rule.
func (w *entryWork) standingTx(ctx context.Context, tx bun.Tx) (map[int64]*positivepay.Rule, error) {
	if len(w.asked) == 0 {
		return nil, nil
	}
	var of []int64
	for uid := range w.asked {
		of = append(of, int64(uid))
	}
	return positivepay.StandingTx(ctx, tx, w.caller.Tenant, of, positivepay.DayOf(w.now, w.caller.Location()))
}

// meetOrDecline pays a request that a rule allows, or refuses it if it cannot be paid. The payment waits for
// nobody: where settings ask for a second person, the rule had one. If by now the payment would need more
// people than the rule had, or the bank's own, or a callback, the request is refused.
func (w *entryWork) meetOrDecline(p *Payment, d *demand, by *positivepay.Rule) error {
	switch {
	case by == nil:
		return w.decline(p, d, declinedByCustomer, "the rule that allowed it is not active any more")
	case d.over(w.now):
		return w.decline(p, d, tooLate, "")
	}
	err := w.meet(p, d, p.Amount(), func(made *Payment) (*Step, error) {
		if w.f.callback(made) {
			return nil, ErrUnpayable.Saying("the request is above the amount from which the bank confirms wires")
		}
		if people, reach := w.f.approvers(made); w.f.needsSecond(made.Own()) &&
			!by.ApprovedAs(people, reach == access.OfBank) {
			return nil, ErrUnpayable.Saying("the rule that allowed it is not approved as payments are by now")
		}
		to, err := w.f.start(made, w.caller, w.now, false)
		if err != nil {
			return nil, err
		}
		if made.counts() {
			w.f.limits.Take(made.planned())
		}
		step := made.enter(to, w.caller, w.now, "")
		w.changes = append(w.changes, changes.Change{
			Action: "payRequest", Object: "payment", UID: made.UID, Customer: int64(made.Customer),
			Version: made.Version, After: made,
		})
		return step, nil
	})
	if !isFault(err) {
		return err
	}
	why := declinedByBank
	switch {
	case errors.Is(err, ledger.ErrUncovered):
		why = uncovered
	case errors.Is(err, ErrRequestOver):
		why = tooLate
	}
	return w.decline(p, d, why, err.Error())
}

// decline refuses a request, and tells its network why. detail is for people here.
func (w *entryWork) decline(p *Payment, d *demand, why, detail string) error {
	was := *p
	to, err := denying.Take(p.State)
	if err != nil {
		return err
	}
	w.why[p.UID] = why
	w.enter(&was, p, to, "declineRequest", because(why, detail))
	w.reply(&Message{
		Tenant: p.Tenant, Rail: p.Rail, Payment: p.UID, Code: string(iso20022.Rejected) + " " + why,
	}, d.DebtorAgent, answerOf(d.PaymentRequest, "", why))
	return nil
}

// lapse ends a request on which nobody has decided in time.
func (w *entryWork) lapse(p *Payment) error {
	was := *p
	to, err := lapsing.Take(p.State)
	if err == nil {
		w.enter(&was, p, to, "expireRequest", "nobody has decided in time")
	}
	return err
}
