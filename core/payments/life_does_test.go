package payments_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/sandbox"
)

// deeds are what is done in a world, for an account of a customer and by somebody of the bank, and how often.
var deeds = []struct {
	often int
	makes func(w *world, a *accounts.Account, who context.Context) deed
}{
	{16, (*world).sends},
	{4, (*world).collects},
	{4, (*world).transfers},
	{2, (*world).sendsAll},
	{2, (*world).abroad},
	{8, (*world).isCredited},
	{6, (*world).isDebited},
	{3, (*world).isAsked},
	{4, (*world).isRecalled},
	{9, (*world).isAnswered},
	{6, (*world).hearsAgain},
	{7, (*world).returns},
	{5, (*world).reverses},
	{4, (*world).cancels},
	{8, (*world).decides},
	{5, (*world).screens},
	{4, (*world).allows},
	{2, (*world).repairs},
	{2, (*world).inquires},
	{5, (*world).changesSeries},
	{4, (*world).holdsMoney},
	{4, (*world).changesAccount},
	{2, (*world).changesCustomer},
	{2, (*world).changesContact},
	{2, (*world).changesVirtual},
	{2, (*world).makesRule},
	{4, (*world).exchanges},
	{6, (*world).isForeign},
	{2, (*world).runsWaterfall},
	{2, (*world).uploads},
	{3, (*world).verifies},
	{1, (*world).sweeps},
}

// something is one of the deeds.
func (w *world) something() deed {
	if w.asleep && w.one(3) {
		return w.wakes()
	}
	all := 0
	for _, d := range deeds {
		all += d.often
	}
	at, who := w.dice.IntN(all), w.Staff()
	if w.one(3) {
		who = w.Someone("maker")
	}
	for _, d := range deeds {
		if at -= d.often; at < 0 {
			return d.makes(w, pick(w, w.accounts...), who)
		}
	}
	panic("no deed")
}

// payment is one of the last payments of which this is so, mostly one of the very last; one that is not
// there, if there is none.
func (w *world) payment(where string) payments.UID {
	uids := asked[payments.UID](w, `SELECT uid FROM payments WHERE tenant = ?0 AND `+where+`
		ORDER BY uid DESC LIMIT 40`)
	if len(uids) == 0 {
		return 4711
	}
	if w.one(2) {
		uids = uids[:1+w.dice.IntN(len(uids))]
	}
	return pick(w, uids...)
}

// bill is an order to pay a contact.
func (w *world) bill(a *accounts.Account) payments.Order {
	o := payments.Order{
		Sender: payments.Party{UID: a.UID}, Receiver: payments.Receiver{Contact: w.contact(a)}, Amount: w.sum(),
		Currency: "USD", Speed: pick(w, "Instant", "Express", "Economy", "Economy Plus"),
		ExternalReferenceID: "INV-7", Notes: "Rent", Repairable: w.one(8),
	}
	if strings.HasPrefix(o.Speed, "Economy") {
		o.SECCode = pick(w, rails.CCD, rails.PPD)
	}
	return o
}

func (w *world) sends(a *accounts.Account, who context.Context) deed {
	o := w.bill(a)
	if w.one(4) {
		o.Date = w.soon(6)
	}
	if o.Speed == "Instant" && w.one(2) {
		overRTP(&o)
	}
	if w.one(5) {
		o.Fee = &payments.CustomFee{Amount: pick(w, "0.37", "1.00", "5.01")}
	}
	if w.one(8) {
		o.Repeat = &payments.Repetition{
			Frequency: pick(w, "Daily", "Weekly", "Monthly"), Until: "NumberOfPayments",
			Number: new(int32(2 + w.dice.IntN(3))),
		}
	}
	return deed{
		fmt.Sprint("send ", a.UID, " ", o.Speed, " ", o.Amount, " on ", o.Date.Format(time.DateOnly)),
		func(x changes.RequestOptions) error { return only(w.Payments.Send(who, o, x)) },
	}
}

// sendsAll pays all that is available, with or without the fee.
func (w *world) sendsAll(a *accounts.Account, who context.Context) deed {
	o := w.bill(a)
	rows := asked[int64](w, `SELECT ledger - held FROM balances WHERE tenant = ?0 AND account = ?1`, a.UID)
	o.Amount = in(pick(w, rows...)-pick[int64](w, 0, 37), "USD")
	return deed{
		fmt.Sprint("send all of ", a.UID, ": ", o.Speed, " ", o.Amount),
		func(x changes.RequestOptions) error { return only(w.Payments.Send(who, o, x)) },
	}
}

// abroad pays dollars over SWIFT.
func (w *world) abroad(a *accounts.Account, who context.Context) deed {
	o := w.toGermany(w.sum(), 0)
	o.Sender.UID, o.Currency, o.Speed = a.UID, "USD", pick(w, "ON", "TN", "SPOT")
	o.Receiver.Number = "440055551"
	return deed{
		fmt.Sprint("send abroad ", a.UID, " ", o.Speed, " ", o.Amount),
		func(x changes.RequestOptions) error { return only(w.Payments.Send(who, o, x)) },
	}
}

// collects debits the contact over ACH, or asks it to pay.
func (w *world) collects(a *accounts.Account, who context.Context) deed {
	o := w.bill(a)
	o.EntryType = rails.Debit
	if o.Speed == "Instant" {
		o.Ask.On = w.today().AddDate(0, 0, 1)
	}
	return deed{
		fmt.Sprint("collect ", a.UID, " ", o.Speed, " ", o.Amount),
		func(x changes.RequestOptions) error { return only(w.Payments.RequestDebit(who, o, x)) },
	}
}

func (w *world) transfers(a *accounts.Account, who context.Context) deed {
	d := payments.Draft{
		Sender: payments.Party{UID: a.UID}, Receiver: payments.Party{UID: pick(w, w.accounts...).UID},
		Amount: w.sum(), ExternalReferenceID: "BOOK",
	}
	if w.one(4) {
		d.Date = w.soon(6)
	}
	return deed{
		fmt.Sprint("transfer ", a.UID, " to ", d.Receiver.UID, " ", d.Amount),
		func(x changes.RequestOptions) error { return only(w.Payments.Transfer(who, d, x)) },
	}
}

func (w *world) isCredited(a *accounts.Account, _ context.Context) deed {
	c := sandbox.Credit{
		Account: a.UID, Amount: w.sum(), Rail: pick(w, "FEDNOW", "RTP", "FEDWIRE", "ACH", "ACH"),
		SenderBank: theirs, Reference: "THEIRS",
	}
	if v := pick(w, w.virtual...); v.Account == a.UID {
		c.Virtual = coretest.VirtualNumber(v.UID)
	}
	if w.one(5) {
		c.SenderName = "Ada King" // who is on a list
	}
	if c.Rail == "ACH" {
		if c.SECCode = pick(w, "PPD", "CCD", "CTX"); w.one(2) {
			c.CreditEntry.Date = w.soon(5)
		}
	}
	return deed{
		fmt.Sprint("credit of another bank to ", a.UID, " ", c.Rail, " ", c.Amount),
		func(x changes.RequestOptions) error { return only(w.Sandbox.PlayCredit(w.Staff(), c, x)) },
	}
}

func (w *world) isDebited(a *accounts.Account, _ context.Context) deed {
	d := sandbox.Debit{
		Account: a.UID, Amount: w.sum(), CompanyBank: theirs, SECCode: pick(w, "CCD", "PPD", "CTX", "WEB"),
		IndividualID: "M7",
	}
	if w.one(2) {
		d.Date = w.soon(5)
	}
	if w.one(5) {
		d.CompanyName = "Ada King"
	}
	return deed{
		fmt.Sprint("debit of another bank of ", a.UID, " ", d.Amount),
		func(x changes.RequestOptions) error { return only(w.Sandbox.PlayDebit(w.Staff(), d, x)) },
	}
}

func (w *world) isAsked(a *accounts.Account, _ context.Context) deed {
	r := sandbox.Request{
		Account: a.UID, Amount: w.sum(), Rail: pick(w, "FEDNOW", "RTP", "FEDWIRE"), CreditorBank: theirs,
		CreditorName: "Harbor", CreditorNumber: "5550007777",
	}
	return deed{
		fmt.Sprint("request of another bank to ", a.UID, " ", r.Rail, " ", r.Amount),
		func(x changes.RequestOptions) error { return only(w.Sandbox.PlayRequest(w.Staff(), r, x)) },
	}
}

func (w *world) isRecalled(_ *accounts.Account, _ context.Context) deed {
	uid := w.payment(pick(w, "direction = 'IN'", "direction = 'IN'", "true"))
	return deed{fmt.Sprint("recall of ", uid), func(x changes.RequestOptions) error {
		return only(w.Sandbox.PlayRecall(w.Staff(), uid, sandbox.Recall{}, x))
	}}
}

// hasLeft is the condition that a payment went out, whatever came of it.
const hasLeft = `direction = 'OUT' AND state IN ` + leftAs

// isAnswered is an answer beside the one that the cents of an amount bring: late, again, or the contrary.
func (w *world) isAnswered(_ *accounts.Account, _ context.Context) deed {
	uid, a := w.payment(hasLeft), sandbox.Answer{Verdict: pick(w, sandbox.Settled, sandbox.Rejected,
		sandbox.Returned, sandbox.Returned, sandbox.RecallRefused, sandbox.Paid, sandbox.Noticed)}
	if a.Verdict == sandbox.Noticed {
		a.Code, a.Number = "C01", "1918171614"
	}
	if a.Verdict == sandbox.Returned && w.one(2) {
		a.Amount = pick(w, "0.50", "1.00", "10.00", "39.99")
	}
	return deed{
		fmt.Sprint("answer to ", uid, " ", a.Verdict, " ", a.Amount),
		func(x changes.RequestOptions) error { return only(w.Sandbox.PlayAnswer(w.Staff(), uid, a, x)) },
	}
}

// hearsAgain lets networks deliver once more what they have delivered before.
func (w *world) hearsAgain(_ *accounts.Account, _ context.Context) deed {
	ids := asked[int64](w, `SELECT id FROM sandbox_messages WHERE tenant = ?0 AND taken_at IS NOT NULL
		AND length(body) > 0 ORDER BY id`)
	id := pick(w, ids...)
	return deed{fmt.Sprint("deliver ", id, " again"), func(changes.RequestOptions) error {
		w.Exec(`UPDATE sandbox_messages SET taken_at = NULL WHERE tenant = ? AND id = ?`, w.Tenant, id)
		return nil
	}}
}

func (w *world) returns(_ *accounts.Account, who context.Context) deed {
	uid := w.payment(`direction = 'IN' AND state IN ('SETTLED', 'RECALLED', 'RETURNING', 'HOLD', 'VALIDATED',
		'SCREENING')`)
	d := payments.Return{Code: "CUST", Notes: "x", Type: pick(w, "IPAY", "PECR", "RJCR")}
	ways := asked[string](w, `SELECT rail || ' ' || entry_type FROM payments
		WHERE tenant = ?0 AND uid = ?1`, uid)
	switch way := pick(w, ways...); {
	case way == "ACH DEBIT":
		d = payments.Return{Code: "R10", Notes: "x"}
	case way == "ACH CREDIT":
		d = payments.Return{Code: "R23"}
	case d.Type == "PECR":
		d.Amount = pick(w, "0.50", "1.34", "5.34")
	case d.Type == "RJCR":
		d = payments.Return{Type: "RJCR", Reject: "CUST"}
	}
	return deed{
		fmt.Sprintf("return %s %+v", uid, d),
		func(x changes.RequestOptions) error { return only(w.Payments.Return(who, uid, d, x)) },
	}
}

func (w *world) reverses(_ *accounts.Account, who context.Context) deed {
	uid := w.payment(hasLeft)
	return deed{fmt.Sprint("reverse ", uid), func(x changes.RequestOptions) error {
		return only(w.Payments.Reverse(who, uid, payments.Reversal{Code: "CUST"}, x))
	}}
}

func (w *world) cancels(_ *accounts.Account, who context.Context) deed {
	uid := w.payment(`state IN ('REPAIR', 'PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED', 'QUEUED',
		'SENT')`)
	return deed{
		fmt.Sprint("cancel ", uid),
		func(x changes.RequestOptions) error { return only(w.Payments.Cancel(who, uid, x)) },
	}
}

func (w *world) decides(_ *accounts.Account, _ context.Context) deed {
	uid := pick(w, asked[changes.UID](w, `SELECT uid FROM approvals WHERE tenant = ?0 AND status = 'Open'
		ORDER BY uid DESC LIMIT 10`)...)
	person, refuses := pick(w, "checker", "second", "third"), w.one(4)
	name := fmt.Sprint(person, " decides ", uid, ", refuses: ", refuses)
	return deed{name, func(x changes.RequestOptions) error {
		if refuses {
			return only(w.Changes.Refuse(w.Someone(person), uid, x))
		}
		return only(w.Changes.Approve(w.Someone(person), uid, x))
	}}
}

func (w *world) screens(_ *accounts.Account, _ context.Context) deed {
	uid, rejects := w.payment(`state = 'SCREENING'`), w.one(3)
	return deed{fmt.Sprint("screen ", uid, ", rejects: ", rejects), func(x changes.RequestOptions) error {
		if rejects {
			return only(w.Payments.RejectScreened(w.Checker(), uid, x))
		}
		return only(w.Payments.ReleaseScreened(w.Checker(), uid, x))
	}}
}

// allows decides on a debit that no rule allows.
func (w *world) allows(_ *accounts.Account, _ context.Context) deed {
	uid, rejects := w.payment(`state = 'HOLD'`), w.one(3)
	return deed{fmt.Sprint("allow ", uid, ", rejects: ", rejects), func(x changes.RequestOptions) error {
		if rejects {
			return only(w.Payments.RejectException(w.Checker(), uid, x))
		}
		return only(w.Payments.ApproveException(w.Checker(), uid, payments.DecisionDraft{}, x))
	}}
}

func (w *world) repairs(_ *accounts.Account, _ context.Context) deed {
	uid, d := w.payment(`state = 'REPAIR'`), payments.Repairs{Date: w.soon(3)}
	if w.one(2) {
		d = payments.Repairs{Speed: pick(w, "Instant", "Express")}
	}
	return deed{fmt.Sprint("repair ", uid), func(x changes.RequestOptions) error {
		return only(w.Payments.Repair(w.Someone("repairer"), uid, d, x))
	}}
}

func (w *world) inquires(_ *accounts.Account, who context.Context) deed {
	uid := w.payment(`(rail = 'RTP' AND direction = 'OUT' OR rail = 'FEDNOW' AND direction = 'IN')`)
	d := payments.InformationDraft{Missing: []*payments.InformationItem{{Code: "MS01"}}, Party: "Ida"}
	return deed{
		fmt.Sprint("ask about ", uid),
		func(x changes.RequestOptions) error { return only(w.Payments.RequestInformation(who, uid, d, x)) },
	}
}

func (w *world) changesSeries(_ *accounts.Account, who context.Context) deed {
	uid := pick(w, asked[payments.RecurrenceUID](w, `SELECT uid FROM recurrences WHERE tenant = ?0
		ORDER BY uid DESC LIMIT 5`)...)
	what, d := w.dice.IntN(4), payments.RecurrenceDraft{Amount: w.sum()}
	if what == 2 {
		d = payments.RecurrenceDraft{Frequency: "Weekly", Next: w.today().AddDate(0, 0, 3)}
	}
	return deed{fmt.Sprint("change series ", uid, " ", what), func(x changes.RequestOptions) error {
		switch what {
		case 0:
			return only(w.Payments.SkipRecurrence(who, uid, x))
		case 3:
			return only(w.Payments.CancelRecurrence(who, uid, payments.Cancellation{}, x))
		}
		return only(w.Payments.ChangeRecurrence(who, uid, d, x))
	}}
}
