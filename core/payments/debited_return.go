package payments

import (
	"context"
	"slices"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/rails/calendar"
)

// A debit of another bank that was paid may go back: for reasons of the account until the second banking day after its
// settlement opens, and where a consumer has not agreed to it for sixty days (rest/CONTRACT.md, incoming debits).
var (
	soonReasons = []string{noFunds, closed, "R08", blocked, notDebitable, notAuthorized}
	lateReasons = []string{"R05", "R07", unauthorized, "R11"}
)

// DebitReturnCodes lists why a debit of another bank that was paid may be given back.
var DebitReturnCodes = slices.Sorted(slices.Values(slices.Concat(soonReasons, lateReasons)))

const lateDays = 60

// ErrReturnLate is returned for the return of a debit that the other bank would not take any more.
var ErrReturnLate = fault.New(fault.State, "payment.return_late", "the time for this return has passed")

// returnableUntil returns until when a debit that settled on a day may be given back: in time for the last file by which
// the return comes before the other bank opens on the day after.
func returnableUntil(settled time.Time, code string) time.Time {
	if !slices.Contains(lateReasons, code) {
		return returnCutOff.On(calendar.Next(settled, 1))
	}
	last := settled.AddDate(0, 0, lateDays)
	for !calendar.IsBankingDay(last) {
		last = last.AddDate(0, 0, -1)
	}
	return returnCutOff.On(last)
}

// debitCode checks what a request says about giving back a debit of ACH: a reason that fits its class, and nothing else.
func (d *Return) debitCode(of *Debited) error {
	c := check.Of("payment")
	for _, none := range []struct{ field, is string }{
		{"returnType", d.Type}, {"settlementAmount", d.Amount}, {"rejectReasonCode", d.Reject},
	} {
		if none.is != "" {
			c.Fail(none.field, fault.Forbidden, "must be absent: a debit of ACH goes back whole")
		}
	}
	c.Required("returnCode", d.Code)
	companies := corporate[of.Class]
	switch {
	case d.Code == "":
	case !slices.Contains(DebitReturnCodes, d.Code):
		c.Fail("returnCode", fault.NoMatch, "is no reason for which a debit of ACH goes back")
	case companies && slices.Contains([]string{"R07", unauthorized, "R11"}, d.Code):
		c.Fail("returnCode", fault.NoMatch, "is for debits of consumers: one between companies takes R29, or R05 where a consumer was debited")
	case !companies && slices.Contains([]string{notAuthorized, "R05"}, d.Code):
		c.Fail("returnCode", fault.NoMatch, "is for debits between companies: one of a consumer takes R07, R10 or R11")
	}
	return c.Err()
}

// returnDebitTx gives back a debit of another bank that was paid: the money is on the account again, and the entry goes
// back in the next file. Nobody else has to agree, since no money leaves the account.
func (s *Service) returnDebitTx(ctx context.Context, tx *changes.Tx, p *Payment, d Return) (Saved, error) {
	var of Debited
	err := tx.NewSelect().Model(&of).Where("ad.tenant = ?", p.Tenant).Where("ad.payment = ?", p.UID).Scan(ctx)
	if err == nil {
		err = d.debitCode(&of)
	}
	if err != nil {
		return Saved{}, err
	}
	w, err := s.debitsTx(ctx, tx.Tx, tx.Caller, tx.Now, []*Payment{p})
	if err == nil {
		err = w.giveBack(p, of.SettlesOn, d)
	}
	if err != nil {
		return Saved{}, err
	}
	for _, change := range w.told {
		if err := tx.Record(ctx, change); err != nil {
			return Saved{}, err
		}
	}
	return saved(p), w.writeRowsTx(ctx, tx.Tx)
}

// giveBack returns a debit that was booked and settled on a day.
func (w *debitWork) giveBack(p *Payment, settled time.Time, d Return) error {
	was := *p
	to, err := takingBack.Take(p.State)
	if err != nil {
		return overOf(p, err)
	}
	if until := returnableUntil(settled, d.Code); !w.now.Before(until) {
		return ErrReturnLate.Saying("the time for " + d.Code + " has passed: it was until " +
			until.In(calendar.Zone()).Format("2006-01-02 15:04") + " in New York").With(string(p.State))
	}
	if err := w.f.moves(p.SenderAccount, "senderAccount"); err != nil {
		return err
	}
	err = w.f.book(p, ledger.Return, calendar.Today(w.now), "Debit returned over "+string(p.Rail), w.f.settled(p),
		p.SenderAccount, p.Minor)
	if err != nil {
		return err
	}
	p.ReturnedMinor, w.why[p.UID] = p.Minor, d.Code
	w.enter(&was, p, to, "returnPayment", because(d.Code, d.Notes))
	return nil
}
