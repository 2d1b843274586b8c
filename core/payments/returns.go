package payments

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ident"
	"bankgraph/core/ledger"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
)

// Return is what a request says about giving back a payment that came in (rest/CONTRACT.md, returns and
// reversals).
type Return struct {
	Code   string `json:"returnCode,omitempty"`
	Notes  string `json:"returnNotes,omitempty"`
	Type   string `json:"returnType,omitempty"` // IPAY all of it, PECR a part, RJCR nothing
	Amount string `json:"settlementAmount,omitempty"`
	Reject string `json:"rejectReasonCode,omitempty"` // why nothing is given back
}

// The types of returns.
const (
	inFull    = string(iso20022.ReturnInitiated)
	inPart    = string(iso20022.ReturnedInPart)
	declining = string(iso20022.RecallRefused)
)

// ReturnCodes lists the reasons for which a credit may be given back, RejectCodes those for which it may be
// kept although it was asked for.
var (
	ReturnCodes = []string{
		"AC01", "AC03", "AC04", "AC06", "AC14", "AM06", "AM09", "BE05", "BE06", "CUST", "DUPL",
		"FR01", "MS02", "MS03", "NARR", "RR01", "RR02", "RR03", "RR04", "RUTA", "UPAY", afterRecall,
	}
	RejectCodes = []string{"AC04", "AM04", "ARDT", "CUST", "LEGL", "NOAS", "NOOR"}
)

// afterRecall is the reason of a return for which the other bank has asked.
const afterRecall = "FOCR"

// customerInitiated is the note of a return or a reversal for which nobody gives one.
const customerInitiated = "Customer Initiated"

// longestNote is the longest note that messages carry: two lines.
const longestNote = 2 * noteLine

const noteLine = 105

// Return gives back a payment that came in over a network, in whole or in part, or refuses to where the other
// bank asks for it. The money leaves the account at once; the network says later whether the return settles.
// If the settings of the customer ask for dual approval, the return waits for a second person first.
func (s *Service) Return(
	ctx context.Context, uid UID, draft Return, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	caller, err := s.giveBack.Require(ctx, uid.String())
	if err == nil {
		err = draft.check()
	}
	if err != nil {
		return changes.Outcome[Saved]{}, err
	}
	return s.giveBack.Do(ctx, caller, changes.Target{UID: uid.String()}, draft, options)
}

// check checks the form of a request. What else it must say depends on the network of the payment.
func (d *Return) check() error {
	c := check.Of("payment")
	if code, is := ident.Word(d.Code, slices.Concat(ReturnCodes, DebitReturnCodes, CreditReturnCodes)...); is {
		d.Code = code
	} else if d.Code != "" {
		c.Fail("returnCode", fault.Malformed, "must be a reason of its network: of FedNow, RTP and Fedwire "+
			strings.Join(ReturnCodes, ", ")+"; of a debit over ACH "+strings.Join(DebitReturnCodes, ", ")+
			"; of a credit over ACH "+strings.Join(CreditReturnCodes, ", "))
	}
	d.Reject = check.OneOf(c, "rejectReasonCode", d.Reject, RejectCodes...)
	d.Type = check.OneOf(c, "returnType", d.Type, inFull, inPart, declining)
	c.AtMost("returnNotes", d.Notes, longestNote)
	asASCII(c, "returnNotes", d.Notes)
	if d.Amount != "" {
		c.BankAmount("settlementAmount", d.Amount, 15)
	}
	return c.Err()
}

// plan returns how much a request gives back of a payment: 0 if it refuses to. It completes the request by
// what the network of the payment takes for granted.
func (d *Return) plan(p *Payment) (money.Amount, error) {
	c := check.Of("payment")
	if isOfACH(d.Code) {
		c.Fail("returnCode", fault.NoMatch, "is a reason of ACH")
	}
	recalled := p.State == Recalled
	switch {
	case p.Rail == rails.Fedwire:
		if d.Type != declining {
			c.Required("returnCode", d.Code)
			c.Required("returnNotes", d.Notes)
		}
		if d.Type == inPart {
			c.Fail("returnType", fault.NoMatch, "a wire is given back in full")
		}
	case p.Rail == rails.RTP:
		c.Required("returnType", d.Type)
	case d.Type != declining:
		c.Required("returnCode", d.Code)
	}
	if d.Type == "" {
		d.Type = inFull
	}
	if d.Type == declining {
		c.Required("rejectReasonCode", d.Reject)
		if d.Code != "" {
			c.Fail("returnCode", fault.NoMatch, "is for money that is given back: "+declining+" gives none")
		}
	}
	if d.Code == "" {
		d.Code = "CUST"
		if recalled {
			d.Code = afterRecall
		}
	}
	if d.Notes == "" && d.Type != declining {
		d.Notes = customerInitiated
	}
	if d.Type != declining && d.Reject != "" {
		c.Fail("rejectReasonCode", fault.NoMatch, "is for "+declining+": "+d.Type+" gives money back")
	}
	amount := p.Amount()
	switch d.Type {
	case declining:
		amount.Minor = 0
	case inPart:
		amount = d.part(c, p)
	}
	if d.Type != inPart && d.Amount != "" && !d.names(amount) { // a caller who names a part gives no more
		c.Fail("settlementAmount", fault.NoMatch, d.Type+" gives "+amount.String()+" back, "+inPart+" a part")
	}
	return amount, c.Err()
}

// names reports whether the request names this amount as the one to give back.
func (d *Return) names(amount money.Amount) bool {
	named, err := money.Parse(d.Amount, amount.Currency)
	return err == nil && named == amount
}

// part reads how much of a payment is given back.
func (d *Return) part(c *check.Fields, p *Payment) money.Amount {
	c.Required("settlementAmount", d.Amount)
	if d.Amount == "" {
		return money.Amount{}
	}
	amount, err := money.Parse(d.Amount, p.Currency)
	switch {
	case err != nil:
		c.Fail("settlementAmount", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", p.Currency, p.Currency.Digits()))
	case amount.Minor <= 0:
		c.Fail("settlementAmount", fault.Min, "must be greater than 0")
	case amount.Minor >= p.Minor:
		c.Fail("settlementAmount", fault.Max, "must be less than the payment: "+p.Amount().String())
	}
	return amount
}

// asASCII requires ASCII, which is all that networks carry.
func asASCII(c *check.Fields, field, text string) {
	if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.Fail(field, fault.Malformed, "must be letters, digits and signs of ASCII")
	}
}

// noteLines returns a note in the lines of a message.
func noteLines(text string) (lines []string) {
	for line := range slices.Chunk([]byte(text), noteLine) {
		lines = append(lines, string(line))
	}
	return lines
}

// returnTx gives back a payment, refuses to, or proposes to give it back.
func (s *Service) returnTx(ctx context.Context, tx *changes.Tx, at changes.Target, d Return) (Saved, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err != nil {
		return Saved{}, err
	}
	switch {
	case !p.Incoming(), p.Asked():
		return Saved{}, ErrNotIncoming
	case p.Rail == rails.ACH:
		return s.returnEntryTx(ctx, tx, p, d)
	}
	if d.Code == afterRecall {
		if err := wasRecalledTx(ctx, tx.Tx, p); err != nil {
			return Saved{}, err
		}
	}
	amount, err := d.plan(p)
	switch {
	case err != nil:
		return Saved{}, err
	case d.Type == declining:
		return s.declineTx(ctx, tx, p, d)
	}
	was := *p
	to, err := givingBack.Take(p.State)
	if err != nil {
		return Saved{}, overOf(p, err)
	}
	f, err := s.lockOwnTx(ctx, tx.Tx, p)
	if err == nil {
		err = f.moves(p.ReceiverAccount, "receiverAccount")
	}
	if err != nil {
		return Saved{}, err
	}
	p.ReturnedMinor, f.by = amount.Minor, tx.Caller
	err = f.book(p, ledger.Return, calendar.Today(tx.Now), "Return over "+string(p.Rail), p.ReceiverAccount,
		f.clearing(p), amount.Minor)
	if err != nil {
		return Saved{}, err
	}
	return s.agreedTx(ctx, tx, &was, p, to, because(d.Code, d.Notes), f, amount, func() error {
		t, err := s.creditTx(ctx, tx.Tx, p)
		if err != nil {
			return err
		}
		replies, err := s.returnMessagesTx(ctx, tx.Tx, &was, t, d, amount)
		if err != nil {
			return err
		}
		if err := writeReturnCodesTx(ctx, p.Tenant, map[UID]string{p.UID: d.Code}); err != nil {
			return err
		}
		return s.tellTx(ctx, tx.Tx, p, t.Receiver, tx.Now, replies...)
	})
}

// errUnasked is returned for a return that says it was asked for, of a payment that nobody has asked for.
var errUnasked = fault.Field("payment", "returnCode", fault.NoMatch,
	afterRecall+" is for a payment that the other bank has asked for")

// wasRecalledTx returns errUnasked unless the other bank has asked for the money of a payment, whatever it
// was told.
func wasRecalledTx(ctx context.Context, tx bun.Tx, p *Payment) error {
	was, err := tx.NewSelect().Model((*Step)(nil)).Where("ps.tenant = ?", p.Tenant).
		Where("ps.payment = ?", p.UID).Where("ps.state = ?", Recalled).Exists(ctx)
	if err == nil && !was {
		err = errUnasked
	}
	return err
}

// returnMessagesTx composes what the other bank is told: the return and, as often as it has asked for one,
// that it comes.
func (s *Service) returnMessagesTx(
	ctx context.Context, tx bun.Tx, was *Payment, t *iso20022.CreditTransfer, d Return, amount money.Amount,
) (all []func(iso20022.Group) iso20022.Message, err error) {
	asked, err := s.recallsTx(ctx, tx, was)
	if err != nil {
		return nil, err
	}
	for _, r := range asked {
		all = append(all, answered(r, iso20022.RecallCode(d.Type), iso20022.Reason{}))
	}
	why := iso20022.Reason{Code: d.Code, Text: noteLines(d.Notes)}
	return append(all,
		func(g iso20022.Group) iso20022.Message { return giveBack(g, was.Rail, t, amount, why) }), nil
}

// declineTx tells the bank that asks for the money of a payment, as often as it has asked, that it gets none.
// No money moves.
func (s *Service) declineTx(ctx context.Context, tx *changes.Tx, p *Payment, d Return) (Saved, error) {
	was := *p
	to, err := keeping.Take(p.State)
	if err == nil {
		err = tx.RequireNoOpenApproval(ctx, p.UID)
	}
	if err != nil {
		return Saved{}, err
	}
	asked, err := s.recallsTx(ctx, tx.Tx, p)
	if err == nil && len(asked) == 0 { // it was told that the money comes, and the network refused that
		var last iso20022.Message
		last, err = s.readTx(ctx, tx.Tx, p, recallKind, In)
		if r, is := last.(*iso20022.Recall); is {
			asked = append(asked, r)
		} else if err == nil {
			err = fmt.Errorf("payment %s has no recall", p.UID)
		}
	}
	if err != nil {
		return Saved{}, err
	}
	why := iso20022.Reason{Code: d.Reject, Text: noteLines(d.Notes)}
	var answers []func(iso20022.Group) iso20022.Message
	for _, r := range asked {
		answers = append(answers, declined(r, why))
	}
	err = s.tellTx(ctx, tx.Tx, p, asked[0].Receiver, tx.Now, answers...)
	if err == nil {
		err = s.enterTx(ctx, tx, &was, p, to, because(d.Reject, d.Notes))
	}
	return saved(p), err
}

// lockOwnTx reads and locks what giving a payment back, or reversing it, is decided by.
func (s *Service) lockOwnTx(ctx context.Context, tx bun.Tx, p *Payment) (*facts, error) {
	w := wanted(p)
	for _, of := range []ledger.House{ledger.Clearing(p.Rail), ledger.Settled(p.Rail)} {
		if p.Rail != rails.Book {
			w.houses = append(w.houses, house{of, p.Currency})
		}
	}
	return s.gatherTx(ctx, tx, p.Tenant, w)
}

// agreedTx takes a payment to a state in which money leaves an account; was is the payment before, and the
// books in memory have the booking already. If nobody has to agree, or people have agreed, it writes this,
// with what write writes. Otherwise it proposes the change, and the books are not written.
func (s *Service) agreedTx(
	ctx context.Context, tx *changes.Tx, was, p *Payment, to State, reason string, f *facts,
	amount money.Amount, write func() error,
) (Saved, error) {
	from := p.ReceiverAccount
	needed := f.needsSecond(from)
	people, by := f.approversOf(from, amount)
	if tx.NeedsApproval(needed) {
		after := *p
		after.State, after.Reason = to, reason
		proposal := changes.Proposal{
			Customer: int64(p.Customer), UID: p.UID, Version: was.Version,
			Before: was, After: &after, Approvers: people, By: by,
		}
		return saved(was), tx.Propose(ctx, proposal)
	}
	if needed { // and people have agreed
		if err := tx.ApprovedBy(people, by); err != nil {
			return Saved{}, err
		}
		if err := ApproveTx(ctx, tx.Tx, tx.Caller, amount, amount, tx.Now); err != nil {
			return Saved{}, err
		}
	} else if err := tx.RequireNoOpenApproval(ctx, p.UID); err != nil {
		return Saved{}, err
	}
	if err := write(); err != nil {
		return Saved{}, err
	}
	if err := s.enterTx(ctx, tx, was, p, to, reason); err != nil {
		return Saved{}, err
	}
	return saved(p), f.writeTx(ctx)
}

// mayGoOnTx is called when the first of two people agrees to a return or a reversal: the payment stays as it
// is.
func (s *Service) mayGoOnTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	p, err := s.lockTx(ctx, tx, at)
	if err == nil {
		err = tx.CheckVersion(p.Version)
	}
	if err != nil {
		return 0, err
	}
	amount := p.Amount()
	if p.Incoming() && p.Rail != rails.ACH { // of which a part may go back
		var d Return
		if err = tx.ReadDraft(&d); err == nil {
			amount, err = d.plan(p)
		}
	}
	if err == nil {
		err = ApproveTx(ctx, tx.Tx, tx.Caller, amount, amount, tx.Now)
	}
	return p.Version, err
}

// overOf returns the fault that says in which state a payment is that can no longer be given back or
// reversed.
func overOf(p *Payment, err error) error {
	f, is := fault.Of(err)
	if !is || !ErrNotProcessed.Is(f) {
		return err
	}
	said := string(p.Status())
	if p.ReturnStatus() != "" {
		said += ", " + string(p.ReturnStatus())
	}
	return ErrNotProcessed.Saying("the payment is " + said +
		": only one that is PROCESSED can be given back or reversed, and once").
		With(string(p.State))
}
