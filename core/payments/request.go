package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/db"
)

// Ask is what the order of a request for payment says in addition to that of a debit (rest/CONTRACT.md,
// requests for payment). A drawdown request says nothing of it: it is for the day on which it is sent.
type Ask struct {
	// on which the debtor is asked to pay; midnight UTC
	On time.Time `json:"requestedExecutionDate,omitzero"`
	// the last day on which it may; zero for the network's default
	Expires time.Time `json:"expiryDate,omitzero"`
	// what the debtor may do, and is asked for
	Modifiable bool `json:"amountModificationAllowed,omitempty"`
	Early      bool `json:"earlyPayment,omitempty"`
	Guaranteed bool `json:"guaranteedPayment,omitempty"`
}

// Request is what only a request for payment says, whether it is ours or another bank's. No money moves by
// it: the debtor pays by a credit of its own.
type Request struct {
	bun.BaseModel `bun:"table:payment_requests,alias:pr" json:"-"`

	Tenant     access.Tenant `bun:"tenant,pk" json:"-"`
	Payment    UID           `bun:"payment,pk" json:"-"`
	On         time.Time     `bun:"execution_date,type:date" json:"requestedExecutionDate"`
	Expires    time.Time     `bun:"expiry_date,type:date" json:"expiryDate"`
	Modifiable bool          `bun:"amount_modifiable" json:"amountModificationAllowed"`
	Early      bool          `bun:"early" json:"earlyPayment"`
	Guaranteed bool          `bun:"guaranteed" json:"guaranteedPayment"`
	Credit     UID           `bun:"credit,nullzero" json:"-"` // the payment by which the debtor paid; 0 before
}

// PaidBy returns the payment by which the debtor paid; nil before.
func (r *Request) PaidBy() *UID {
	if r.Credit == 0 {
		return nil
	}
	return &r.Credit
}

// Asks reports whether the payment is a request for payment or a drawdown request, which move no money
// themselves.
func (p *Payment) Asks() bool { return p.Collects() && p.Rail != rails.ACH }

// drawsDown reports whether the payment is a drawdown request: it asks for the money of one day.
func (p *Payment) drawsDown() bool { return p.Asks() && p.Rail == rails.Fedwire }

// Asked reports whether the payment is another bank's request for one, which moves no money itself.
func (p *Payment) Asked() bool {
	return p.Incoming() && p.EntryType == rails.Debit && p.Rail != rails.ACH
}

// counts reports whether the payment counts against the limits of its customer.
func (p *Payment) counts() bool {
	return p.Rail != rails.Book && !p.Asks() && !p.Enrols() && p.State != Repair
}

// check checks what a request for payment says. Debits of ACH and drawdown requests say none of it.
func (d *Ask) check(c *check.Fields, speed Speed) {
	if speed != Instant {
		for _, given := range []struct {
			field string
			is    bool
		}{
			{"requestedExecutionDate", !d.On.IsZero()},
			{"expiryDate", !d.Expires.IsZero()},
			{"amountModificationAllowed", d.Modifiable},
			{"earlyPayment", d.Early},
			{"guaranteedPayment", d.Guaranteed},
		} {
			if speed != "" && given.is {
				c.Fail(given.field, fault.Forbidden, "belongs to requests for payment, which have the speed Instant")
			}
		}
		return
	}
	if d.On.IsZero() {
		c.Required("requestedExecutionDate", "")
	}
	if !d.Expires.IsZero() && d.Expires.Before(d.On) {
		c.Fail("expiryDate", fault.Min, "must not be before requestedExecutionDate")
	}
}

// collects reports whether an account may ask for payments over a network, or debit over it.
func (a *party) collects(over rails.Rail) bool {
	switch over {
	case rails.FedNow:
		return a.FedNowAsks
	case rails.RTP:
		return a.RTPAsks
	}
	return a.sends(over)
}

// request makes the Request of a payment that asks for another payment.
func (p *Payment) request(o *Order, now time.Time) (*Request, error) {
	if p.drawsDown() {
		return &Request{Tenant: p.Tenant, Payment: p.UID, On: p.Date, Expires: p.Date}, nil
	}
	today := calendar.Today(now)
	expires := o.Ask.Expires
	if expires.IsZero() {
		expires = lastDay(p.Rail, today)
	}
	for _, day := range []struct {
		field string
		is    time.Time
	}{{"requestedExecutionDate", o.Ask.On}, {"expiryDate", expires}} {
		switch {
		case day.is.Before(p.Date):
			return nil, fault.Field("payment", "additionalInfo."+day.field, fault.Min,
				"must not be before the day on which the request is sent, "+p.Date.Format(time.DateOnly))
		case day.is.After(today.AddDate(1, 0, 0)):
			return nil, fault.Field("payment", "additionalInfo."+day.field, fault.Max,
				"must be at most a year from today")
		}
	}
	if expires.Before(o.Ask.On) {
		return nil, fault.Field("payment", "additionalInfo.expiryDate", fault.Required,
			"is required if the debtor is asked to pay after "+expires.Format(time.DateOnly))
	}
	return &Request{
		Tenant: p.Tenant, Payment: p.UID, On: o.Ask.On, Expires: expires, Modifiable: o.Ask.Modifiable,
		Early: o.Ask.Early, Guaranteed: o.Ask.Guaranteed,
	}, nil
}

// lastDay returns the last day on which a request for a day may be paid over a network, if it does
// not name one.
func lastDay(over rails.Rail, of time.Time) time.Time {
	switch over {
	case rails.FedNow:
		return of.AddDate(1, 0, 0)
	case rails.RTP:
		return of.AddDate(0, 0, 30)
	}
	return of // a drawdown
}

// dateRequestsTx writes the day of drawdown requests that leave on another day than planned, at the end of
// the transaction.
func dateRequestsTx(ctx context.Context, tenant access.Tenant, later []*Payment) error {
	if len(later) == 0 {
		return nil
	}
	var uids []int64
	var days []string
	for _, p := range later {
		uids, days = append(uids, int64(p.UID)), append(days, p.Date.Format(time.DateOnly))
	}
	return db.ExecAtCommit(ctx, `UPDATE payment_requests AS r
		SET execution_date = n.day::date, expiry_date = n.day::date
		FROM unnest($2::bigint[], $3::text[]) AS n(payment, day)
		WHERE r.tenant = $1 AND r.payment = n.payment`, tenant, uids, days)
}

// over returns when the debtor can no longer pay: when the last day ends in New York.
func (r *Request) over() time.Time {
	after := r.Expires.AddDate(0, 0, 1)
	return *beginOf(&after, calendar.Zone())
}

// askedAs begins the end-to-end id of a request, which the credit that pays the request repeats.
const askedAs = "RFP-"

// asked returns the request that a credit says it pays; 0 for none.
func asked(t *iso20022.CreditTransfer) UID {
	digits, is := strings.CutPrefix(t.EndToEndID, askedAs)
	n, err := strconv.ParseInt(digits, 10, 64)
	if !is || err != nil {
		return 0
	}
	return UID(n)
}

// asking returns the message of a request for payment.
func (p *Payment) asking(
	from *party, number, debtor string, id MessageID, now time.Time,
) *iso20022.PaymentRequest {
	d := p.details
	var expires time.Time
	if !p.drawsDown() { // it has no place for that
		expires = p.asks.over().Add(-time.Second)
	}
	return &iso20022.PaymentRequest{
		Group: group(p.Rail, from.BankID, id, now), RequestID: p.UID.String(), ExecutionDate: p.asks.On,
		ExpiresAt: expires, InstructionID: p.UID.String(), EndToEndID: endToEnd(d, p), UETR: d.UETR,
		Modifiable: p.asks.Modifiable, Early: p.asks.Early, Guaranteed: p.asks.Guaranteed,
		Amount: p.Amount(), ChargeBearer: "SLEV",
		Debtor:      iso20022.Party{Name: p.SenderName, Account: debtor, Address: d.Address},
		Creditor:    iso20022.Party{Name: p.ReceiverName, Account: number, Address: from.Address},
		DebtorAgent: d.BankID, CreditorAgent: from.BankID,
		Remittance: p.remitted(), LocalInstrument: d.LocalInstrument,
	}
}

// requestKind is the kind of the message of a request.
var requestKind = kindOf(iso20022.TypePaymentRequest)

// answerRequest applies what the network, or the debtor, says of a request. That it is accepted changes
// nothing, as the debtor pays by a credit.
func (f *facts) answerRequest(p *Payment, a *incoming, kind string) (State, error) {
	if a.says == refused && kind == requestKind {
		return rejecting.Take(p.State)
	}
	return p.State, nil
}

// requested is a request that a credit may pay, with the debtor's bank.
type requested struct {
	Payment    UID    `bun:"payment"`
	Modifiable bool   `bun:"amount_modifiable"`
	Bank       string `bun:"bank_id"`
}

var (
	readingRequested = db.NewQuery[requested](`SELECT r.payment, r.amount_modifiable, d.bank_id
		FROM payment_requests AS r JOIN payment_details AS d ON d.tenant = r.tenant AND d.payment = r.payment
		WHERE r.tenant = $1 AND d.tenant = $1 AND r.payment = ANY($2::bigint[])`)
	readingRequests = db.NewQuery[Request](db.Select[Request](db.Columns{}, withCredit).Where("pr.tenant = $1").
			Where("pr.payment = ANY($2::bigint[])").String())
	withCredit = map[string]string{"credit": "coalesce(pr.credit, 0)"}
)

// complete settles the request that an incoming credit pays, which is booked as the payment by: a request of
// the same account over the same network, to the bank that pays, and of this amount unless another one is
// allowed. A credit that names another request is booked all the same, and completes none.
//
// looked is false for a credit that people look at first (screening_received.go): the request keeps which one
// it is, and does not expire meanwhile (lateRequest).
func (in *intake) complete(by *Payment, a *incoming, looked bool) {
	p := in.by[asked(a.transfer)]
	r := in.requests[asked(a.transfer)]
	if p == nil || r == nil || !p.Asks() || p.Rail != by.Rail || p.ReceiverAccount != by.ReceiverAccount ||
		r.Bank != a.transfer.Sender || p.Minor != by.Minor && !r.Modifiable {
		return
	}
	was := *p
	to, err := settling.Take(p.State)
	if err != nil {
		return
	}
	if looked {
		in.enter(&was, p, to, "completeRequest", "")
	}
	in.paid = append(in.paid, [2]UID{p.UID, by.UID})
}

// completeTx writes by which credits requests were paid, at the end of the transaction.
func (in *intake) completeTx(ctx context.Context) error {
	if len(in.paid) == 0 {
		return nil
	}
	var requests, credits []int64
	for _, pair := range in.paid {
		requests, credits = append(requests, int64(pair[0])), append(credits, int64(pair[1]))
	}
	return db.ExecAtCommit(ctx, `UPDATE payment_requests AS r SET credit = n.credit
		FROM unnest($2::bigint[], $3::bigint[]) AS n(payment, credit)
			  WHERE r.tenant = $1 AND r.payment = n.payment`,
		in.caller.Tenant, requests, credits)
}

// expire ends a request for payment whose last day is over, be it that it could not be sent until then.
func (p *Payment) expire(by access.Caller, now time.Time) (*Step, events.Recorded, error) {
	was := *p
	to, err := expiring.Take(p.State)
	if err != nil {
		return nil, events.Recorded{}, err
	}
	why := "the debtor has not paid in time"
	if unsent(p) {
		why = "it could not be sent in time"
	}
	step := p.enter(to, by, now, why)
	return step, recorded("expireRequest", &was, p, by), nil
}

// lateRequest is the condition that a payment of a bank is a request that nobody has paid in time. While
// people look at a credit that names it, be it the second one or once more, it is not late.
func lateRequest(tenant string) string {
	return `pay.state = 'SENT' AND pay.entry_type = 'DEBIT' AND pay.rail <> 'ACH' AND NOT EXISTS (
	  SELECT FROM payments AS c
	  WHERE c.tenant = ` + tenant + ` AND c.state = 'SCREENING' AND c.customer = pay.customer
	    AND c.direction = 'IN' AND c.rail = pay.rail AND c.receiver_account = pay.receiver_account
	    AND c.external_reference_id = '` + askedAs + `' || pay.uid)`
}

// unsentRequest is the condition that a payment of a bank is a request that waits to be sent though its last
// day was before today, in New York: its account may have left the books, or its customer be suspended.
func unsentRequest(tenant, today string) string {
	return `pay.state = 'QUEUED' AND pay.entry_type = 'DEBIT' AND pay.rail <> 'ACH'
	  AND pay.payment_date < ` + today + `::date AND EXISTS (SELECT FROM payment_requests AS pr
	    WHERE pr.tenant = ` + tenant + ` AND pr.payment = pay.uid AND pr.expiry_date < ` + today + `::date)`
}

var lateRequests = db.NewQuery[found](`(SELECT pay.uid FROM payments AS pay
	WHERE pay.tenant = $1 AND pay.settles_at <= $2 AND ` + lateRequest("$1") + `
	ORDER BY pay.settles_at, pay.uid ` + limitAtATime + `)
	UNION ALL (SELECT pay.uid FROM payments AS pay
	WHERE pay.tenant = $1 AND ` + unsentRequest("$1", "$3") + ` ORDER BY pay.uid ` + limitAtATime + `)`)

// ExpireRequests ends the requests for payment of the caller's bank that nobody has paid in time, or that
// could not be sent in time, and returns how many. It is for workers, as PostEntries is.
func (s *Service) ExpireRequests(ctx context.Context) (expired int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	late, err := s.find(ctx, lateRequests, caller.Tenant, now, calendar.Today(now).Format(time.DateOnly))
	if err == nil {
		at := s.paces.At(caller.Tenant, "expire requests for payment", atATime)
		expired, err = changes.AllOrEach(ctx, at, late, changes.Numbered[UID], func(of []UID) (n int, err error) {
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				n, err = s.expireRequestsTx(ctx, tx, caller, now, of)
				return err
			})
			return unlessFailed(n, err)
		})
	}
	if err != nil {
		return expired, fmt.Errorf("expire requests for payment: %w", err)
	}
	return expired, nil
}

// expireRequestsTx ends requests, except those that another worker has locked, and those of which people say
// first whether they had left (NoteLeft).
func (s *Service) expireRequestsTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []UID,
) (expired int, err error) {
	var due []*Payment
	err = tx.NewSelect().Model(&due).Where("pay.tenant = ?", caller.Tenant).
		Where("pay.uid IN (?)", bun.List(of)).
		Where("(pay.settles_at <= ?1 AND "+lateRequest("?0")+" OR "+unsentRequest("?0", "?2")+")",
			caller.Tenant, now, calendar.Today(now).Format(time.DateOnly)).OrderExpr("pay.uid").
		For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err == nil && slices.ContainsFunc(due, unsent) {
		var held bool
		if held, err = s.sendingHeld(ctx, tx, caller.Tenant); held {
			due = slices.DeleteFunc(due, unsent)
		}
	}
	if err != nil || len(due) == 0 {
		return 0, err
	}
	var steps []*Step
	var record []events.Recorded
	for _, p := range due {
		step, entry, err := p.expire(caller, now)
		if err != nil {
			return 0, err
		}
		steps, record = append(steps, step), append(record, entry)
	}
	return len(due), errors.Join(writeTx(ctx, due, steps), recordTx(ctx, tx, record))
}

// unsent reports whether a payment waits to be sent.
func unsent(p *Payment) bool { return p.State == Queued }

var requesting db.QueryCache[Request]

// RequestsOf reads what only requests for payment say, for callers who see whose they are.
func (s *Service) RequestsOf(ctx context.Context, b *db.Batch, of []UID) *db.Many[UID, Request] {
	caller, err := access.Require(ctx, access.ViewPayments)
	if err != nil {
		return db.Refuse[UID, Request](err)
	}
	text := requesting.Get(caller.Reach, func() string {
		return db.Select[Request](db.Columns{}, withCredit).
			Join("JOIN payments AS pay ON pay.tenant = pr.tenant AND pay.uid = pr.payment").
			Where("pr.tenant = $1").
			Where("pay.tenant = $1").Where(caller.Reach.Scope("pay.customer")).
			Where("pr.payment = ANY($3)").String()
	})
	return db.QueueMany(b, text, func(r *Request) UID { return r.Payment }, caller.Tenant,
		caller.ScopeCustomer(), of)
}
