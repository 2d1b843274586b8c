package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// The kinds of messages that people see, as nothing came of them (Refused): one that cannot be read, and what
// tells of another one, or of a line of a file of ACH, that was not taken, or of what a reversal over ACH
// brings a second time. That is a message of its own beside the other, and has no text.
const (
	unreadable = "unreadable"
	untaken    = "entry"
)

// untakenCode is the code of a line that was not taken, among those of its file.
const untakenCode = "untaken"

// mostOfCode bounds why a message could not be read, or a line not be taken.
const mostOfCode = 200

// faulty returns the return reason for which an entry with a fault goes back; "" if its return cannot be
// written (rest/CONTRACT.md, entries with faults).
func (a *incoming) faulty(now time.Time) string {
	code := unprocessable
	if field := a.entry.Wrong.Field; field == "DFIAccountNumber" || field == "Number" {
		code = wrongNumber
	}
	r := receivedOf(a)
	batch, entry := r.goesBack(abroad{r.way, r.abroad}, r.number, now)
	entry.Return.Code = code
	if nacha.Check(header(r.Origin, "", now, new(numbers)), batch, entry) != nil {
		return ""
	}
	return code
}

// lost says why nothing comes of a return or a dishonour, whose money has come or gone all the same; t is the
// entry, or the return of ours, that it names. What comes back has the direction that it had: a credit that
// is named as a debit's return brings money and would take some. It is "" where something does, and of what
// says nothing of money.
func (a *incoming) lost(t *traced) string {
	switch {
	case a.says != returned && a.says != dishonoured:
		return ""
	case t != nil && strings.HasPrefix(t.Bank, a.from):
		if t.Way != "" && a.way != t.Way {
			return "it is of a " + strings.ToLower(string(a.way)) + ", and what it names was a " +
				strings.ToLower(string(t.Way))
		}
		return a.tooLate(t)
	case a.says == dishonoured:
		return "it is of no return of ours with a payment"
	case t != nil:
		return "the entry went to another bank"
	}
	return "it is of no entry of ours"
}

// untaken tells people of a message of which nothing comes.
func (in *intake) untaken(a *incoming, why string) {
	id := in.ids[0]
	in.ids = in.ids[1:]
	m := &Message{
		Tenant: in.caller.Tenant, ID: id, Rail: a.over, Direction: In, Kind: untaken, At: in.now,
		MessageID: fmt.Sprintf("%s #%d", a.id, id), Bank: a.from, Minor: a.amount.Minor,
		Currency: a.amount.Currency,
	}
	what := "an answer"
	if a.says == returned {
		what = "a return of " + a.amount.String() + " " + string(a.amount.Currency)
	}
	m.Code = cut(strings.TrimSpace(what+" "+a.code)+": "+why, mostOfCode)
	in.messages = append(in.messages, m)
}

// The reasons for which debits come back in sixty days, and those for which they do at any time, as the bank
// that sent them has agreed to it.
var (
	sixtyDays = []string{"R05", "R07", "R10", "R11", "R33", "R37", "R38", "R51", "R52", "R53"}
	agreed    = []string{"R06", "R31"}
)

// tooLate says that the return of a debit comes after the time that ACH has for it, so that this bank may
// refuse it; "" if it does not (rest/CONTRACT.md, returns that come too late). What brings money is never too
// late.
func (a *incoming) tooLate(t *traced) string {
	if a.says != returned || t.Way != rails.Debit || t.Settled == nil || t.Class == rails.IAT ||
		slices.Contains(agreed, a.reasonCode()) {
		return ""
	}
	last := calendar.Next(*t.Settled, 2)
	if slices.Contains(sixtyDays, a.reasonCode()) {
		last = calendar.Next(t.Settled.AddDate(0, 0, lateDays), 1)
	}
	if !calendar.Today(a.made).After(last) {
		return ""
	}
	return "it came too late: its time was until " + last.Format(time.DateOnly)
}

// left returns the message that tells people of a line of a file that was not taken, or of a reversal that
// brings what has come back before, and why. It has no text: that stands in its file.
func (a *incoming) left(tenant access.Tenant, in *incoming, id MessageID, now time.Time) *Message {
	m := &Message{
		Tenant: tenant, ID: id, Rail: rails.ACH, Direction: In, Kind: untaken, At: now,
		MessageID: fmt.Sprintf("%s line %d", in.id, a.line), Currency: usDollar, Minor: a.amount.Minor,
	}
	what := "an entry"
	switch {
	case a.says == returned:
		what = "a return, " + a.code
	case a.says == dishonoured:
		what = "a dishonour, " + a.code
	case a.settlesReversal():
		what = "a reversal of " + a.amount.String() + " " + string(a.amount.Currency)
		m.MessageID = "reversal of payment " + a.payment.String()
	case a.entry.Direction != "":
		what = "a " + strings.ToLower(string(a.entry.Direction))
	}
	if a.entry != nil {
		m.Last4 = seal.Mask(a.entry.Number).Last4
	}
	if a.of != "" {
		what += ", trace " + a.of
	}
	if len(a.from) == 8 {
		m.Bank = nacha.Routing(a.from)
	}
	m.Code = cut(what+": "+a.wrong, mostOfCode)
	return m
}

// leaveLinesTx leaves lines of a file that cannot be taken to people.
func (s *Service) leaveLinesTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, in *incoming, lines []*incoming,
) error {
	var numbers []int32
	for _, a := range lines {
		numbers = append(numbers, int32(a.line))
	}
	b := db.TxBatch(tx)
	locked := db.Queue(b, lockingFile, caller.Tenant, in.number)
	done := db.Queue(b, readingAnswered, caller.Tenant, in.number, numbers)
	if err := errors.Join(b.Send(ctx), locked.Err); err != nil {
		return err
	}
	before := map[int]bool{}
	for _, d := range done.Items {
		before[d.Line] = true
	}
	var rows []*Answered
	var fresh []*incoming
	for _, a := range lines {
		if before[a.line] {
			continue
		}
		fresh, rows = append(fresh, a), append(rows, &Answered{
			Tenant: caller.Tenant, Message: in.number, Line: a.line, Trace: a.of, Code: untakenCode,
		})
	}
	told, err := leftTx(ctx, tx, caller.Tenant, now, in, fresh)
	return errors.Join(err, db.InsertAtCommit(ctx, rows), db.InsertAtCommit(ctx, told))
}

// leftTx returns the messages that tell people of lines of a file that were not taken.
func leftTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, now time.Time, in *incoming, lines []*incoming,
) (told []*Message, err error) {
	if len(lines) == 0 {
		return nil, nil
	}
	b := db.TxBatch(tx)
	ids := db.Queue(b, takingMessageIDs, len(lines))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	for i, a := range lines {
		told = append(told, a.left(tenant, in, ids.Items[i].ID, now))
	}
	return told, nil
}
