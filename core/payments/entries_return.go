package payments

import (
	"context"
	"slices"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// An entry of another bank that was booked may go back. For reasons of the account that is possible until the
// second banking day after settlement opens; for a debit to which a consumer has not agreed, for sixty days
// (rest/CONTRACT.md, incoming debits); for a credit that is refused, or that its bank asks for, at any time
// (rest/CONTRACT.md, incoming credits over ACH).
var (
	soonReasons      = []string{noFunds, closed, "R08", blocked, notTaken, notAuthorized}
	lateReasons      = []string{"R05", "R07", unauthorized, "R11"}
	soonOfCredits    = []string{closed, unknown, "R04", blocked, "R17", notTaken, "R24"}
	anyTimeOfCredits = []string{"R06", notWantedHere}
)

// DebitReturnCodes lists the reasons for which a debit of another bank that was paid may be given back,
// CreditReturnCodes those for a credit over ACH.
var (
	DebitReturnCodes  = slices.Sorted(slices.Values(slices.Concat(soonReasons, lateReasons)))
	CreditReturnCodes = slices.Sorted(slices.Values(slices.Concat(soonOfCredits, anyTimeOfCredits)))
)

// isOfACH reports whether a reason is one of ACH.
func isOfACH(code string) bool {
	return slices.Contains(DebitReturnCodes, code) || slices.Contains(CreditReturnCodes, code)
}

const lateDays = 60

// ErrReturnLate is returned for the return of an entry that the other bank would no longer take.
var ErrReturnLate = fault.New(fault.State, "payment.return_late", "the time for this return has passed")

// returnableUntil returns until when an entry that settled on a day may be given back: in time for the last
// file that reaches the other bank before it opens on the next day. It is the zero time for a reason without
// a deadline.
func returnableUntil(settled time.Time, code string) time.Time {
	switch {
	case slices.Contains(anyTimeOfCredits, code):
		return time.Time{}
	case !slices.Contains(lateReasons, code):
		return returnCutOff.On(calendar.Next(settled, 1))
	}
	last := settled.AddDate(0, 0, lateDays)
	for !calendar.IsBankingDay(last) {
		last = last.AddDate(0, 0, -1)
	}
	return returnCutOff.On(last)
}

// inTime returns ErrReturnLate if the other bank would no longer take the return of a payment.
func inTime(p *Payment, code string, now time.Time) error {
	until := returnableUntil(p.Date, code)
	if until.IsZero() || now.Before(until) {
		return nil
	}
	return ErrReturnLate.Saying("the time for " + code + " has passed: it was until " +
		until.In(calendar.Zone()).Format("2006-01-02 15:04") + " in New York").With(string(p.State))
}

// entryCode checks what a request says about giving back an entry of ACH: a reason that fits it, and nothing
// else.
func (d *Return) entryCode(p *Payment, class rails.SECCode) error {
	c := check.Of("payment")
	for _, none := range []struct{ field, is string }{
		{"returnType", d.Type}, {"settlementAmount", d.Amount}, {"rejectReasonCode", d.Reject},
	} {
		if none.is != "" {
			c.Fail(none.field, fault.Forbidden, "must be absent: an entry of ACH goes back whole")
		}
	}
	c.Required("returnCode", d.Code)
	companies, anybody := corporate[class], class == rails.IAT
	switch {
	case d.Code == "":
	case p.EntryType == rails.Credit:
		if !slices.Contains(CreditReturnCodes, d.Code) {
			c.Fail("returnCode", fault.NoMatch, "is no reason for which a credit of ACH goes back")
		}
	case !slices.Contains(DebitReturnCodes, d.Code):
		c.Fail("returnCode", fault.NoMatch, "is no reason for which a debit of ACH goes back")
	case anybody: // it may be of a company or a consumer
	case companies && slices.Contains([]string{"R07", unauthorized, "R11"}, d.Code):
		c.Fail("returnCode", fault.NoMatch,
			"is for debits of consumers: one between companies takes R29, or R05 where a consumer "+
				"was debited")
	case !companies && slices.Contains([]string{notAuthorized, "R05"}, d.Code):
		c.Fail("returnCode", fault.NoMatch,
			"is for debits between companies: one of a consumer takes R07, R10 or R11")
	}
	return c.Err()
}

// returnEntryTx gives back an entry of another bank that was booked: a debit at once, since no money leaves
// the account, and a credit once it has the approvals that a payment needs.
func (s *Service) returnEntryTx(ctx context.Context, tx *changes.Tx, p *Payment, d Return) (Saved, error) {
	var of Received
	err := tx.NewSelect().Model(&of).Where("ar.tenant = ?", p.Tenant).Where("ar.payment = ?", p.UID).Scan(ctx)
	if err == nil {
		err = d.entryCode(p, of.Class)
	}
	if err != nil {
		return Saved{}, err
	}
	if p.EntryType == rails.Credit {
		return s.returnCreditTx(ctx, tx, p, d)
	}
	w, err := s.entriesTx(ctx, tx.Tx, tx.Caller, tx.Now, []*Payment{p})
	if err == nil {
		err = w.giveBack(p, d)
	}
	if err != nil {
		return Saved{}, err
	}
	for _, change := range w.changes {
		if err := tx.Record(ctx, change); err != nil {
			return Saved{}, err
		}
	}
	return saved(p), w.writeRowsTx(ctx, tx.Tx)
}

// returnCreditTx gives back a credit over ACH, or proposes to: the money leaves the account, and the entry
// goes back in the next file.
func (s *Service) returnCreditTx(ctx context.Context, tx *changes.Tx, p *Payment, d Return) (Saved, error) {
	was := *p
	to, err := takingBack.Take(p.State)
	if err != nil {
		return Saved{}, overOf(p, err)
	}
	if err := inTime(p, d.Code, tx.Now); err != nil {
		return Saved{}, err
	}
	f, err := s.lockOwnTx(ctx, tx.Tx, p)
	if err == nil {
		err = f.moves(p.ReceiverAccount, "receiverAccount")
	}
	if err != nil {
		return Saved{}, err
	}
	p.ReturnedMinor, f.by = p.Minor, tx.Caller
	err = f.book(p, ledger.Return, calendar.Today(tx.Now), "Credit returned over "+string(p.Rail),
		p.ReceiverAccount, f.settled(p), p.Minor)
	if err != nil {
		return Saved{}, err
	}
	return s.agreedTx(ctx, tx, &was, p, to, because(d.Code, d.Notes), f, p.Amount(), func() error {
		err := returnReceivedTx(ctx, p.Tenant, tx.Now, []int64{int64(p.UID)}, []string{d.Code})
		if err == nil {
			err = writeReturnCodesTx(ctx, p.Tenant, map[UID]string{p.UID: d.Code})
		}
		return err
	})
}

// giveBack returns a debit that was booked.
func (w *entryWork) giveBack(p *Payment, d Return) error {
	was := *p
	to, err := takingBack.Take(p.State)
	if err != nil {
		return overOf(p, err)
	}
	if err := inTime(p, d.Code, w.now); err != nil {
		return err
	}
	if err := w.f.moves(p.SenderAccount, "senderAccount"); err != nil {
		return err
	}
	err = w.f.book(p, ledger.Return, calendar.Today(w.now),
		"Debit returned over "+string(p.Rail), w.f.settled(p), p.SenderAccount, p.Minor)
	if err != nil {
		return err
	}
	p.ReturnedMinor, w.why[p.UID] = p.Minor, d.Code
	w.enter(&was, p, to, "returnPayment", because(d.Code, d.Notes))
	return nil
}
