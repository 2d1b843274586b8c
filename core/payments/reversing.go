package payments

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/nacha"
	"bankgraph/core/states"
	"bankgraph/db"
)

// Reversing is the entry of ACH that takes back a credit which went out (rest/CONTRACT.md, returns and
// reversals). It repeats what the credit said, and debits the account that the credit has credited.
type Reversing struct {
	bun.BaseModel `bun:"table:ach_reversals,alias:re" json:"-"`

	Tenant    access.Tenant `bun:"tenant,pk" json:"-"`
	Payment   UID           `bun:"payment,pk" json:"-"`
	Origin    string        `bun:"origin" json:"-"`   // routing number of the bank that sends it
	AskedAt   time.Time     `bun:"asked_at" json:"-"` // from then on it waits for a file
	File      MessageID     `bun:"file,nullzero" json:"-"`
	Trace     string        `bun:"trace" json:"-"`      // its number in the file; '' before
	SettlesAt *time.Time    `bun:"settles_at" json:"-"` // set with File
	// when it settled or came back, or before it had a file the credit did; nil until then
	AnsweredAt *time.Time `bun:"answered_at" json:"-"`
	// its money is on the account, or was; not once the credit itself has come back, which then brought it
	Booked     bool   `bun:"booked" json:"-"`
	ReturnCode string `bun:"return_code" json:"-"` // why it came back, such as R01; '' if it did not

	back bool // the credit itself has come back
}

// reversalDays is how many banking days after its settlement a credit may be taken back.
const reversalDays = 5

// ErrReversalLate is returned for the reversal of a credit over ACH that settled too long ago.
var ErrReversalLate = fault.New(fault.State, "payment.reversal_late", "the time for a reversal has passed")

// reverseEntryTx queues the entry that takes back a credit over ACH for the next file. The money is on the
// account again when that entry settles.
func (s *Service) reverseEntryTx(ctx context.Context, tx *changes.Tx, p *Payment) (Saved, error) {
	was := *p
	to, err := recalling.Take(p.State)
	if err == nil {
		err = tx.RequireNoOpenApproval(ctx, p.UID)
	}
	if err != nil {
		return Saved{}, overOf(p, err)
	}
	var of Entry
	if err := tx.NewSelect().Model(&of).Where("ae.tenant = ?", p.Tenant).Where("ae.payment = ?", p.UID).
		Scan(ctx); err != nil {
		return Saved{}, err
	}
	until := returnCutOff.On(calendar.Next(of.SettlesOn, reversalDays))
	if !tx.Now.Before(until) {
		return Saved{}, ErrReversalLate.Saying("the time for a reversal has passed: it was until " +
			until.In(calendar.Zone()).Format("2006-01-02 15:04") + " in New York").With(string(p.State))
	}
	row := &Reversing{Tenant: p.Tenant, Payment: p.UID, Origin: of.Origin, AskedAt: tx.Now}
	if err := db.InsertAtCommit(ctx, []*Reversing{row}); err != nil {
		return Saved{}, err
	}
	err = s.enterTx(ctx, tx, &was, p, to, "")
	return saved(p), err
}

// reverseTx writes the entries that take credits back into the file, some at a time. failed says which cannot
// be written: they go on waiting.
func (f *file) reverseTx(ctx context.Context, s *Service, tx bun.Tx) (failed, err error) {
	return f.eachTx(ctx, tx, f.most, func(q *bun.SelectQuery) *bun.SelectQuery {
		return q.Join("JOIN ach_reversals AS re ON re.tenant = ae.tenant AND re.payment = ae.payment").
			Where("re.tenant = ?", f.tenant).
			Where("re.file IS NULL AND re.answered_at IS NULL")
	}, func(row *waitingEntry) error {
		batch := row.batch(&row.Details)
		batch.Description, batch.Only, batch.SameDay, batch.Effective = nacha.Reversal, rails.Debit,
			false, f.settles()
		trace, err := f.add(s, row, batch, nacha.Entry.Reversed)
		if err == nil {
			f.reversals[row.Payment] = trace
		}
		return err
	})
}

// settles returns the day on which an entry settles that goes out in the file and names none.
func (f *file) settles() time.Time {
	return calendar.Default().Plan(calendar.ACH, f.now, time.Time{}).Settles
}

// reversedTx writes which credits the file takes back, at the end of the transaction.
func (f *file) reversedTx(ctx context.Context) error {
	if len(f.reversals) == 0 {
		return nil
	}
	var uids []int64
	var traces []string
	for uid, trace := range f.reversals {
		uids, traces = append(uids, int64(uid)), append(traces, trace)
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_reversals AS re
		SET file = $2, trace = n.trace, settles_at = $5::timestamptz
		FROM unnest($3::bigint[], $4::text[]) AS n(payment, trace)
		WHERE re.tenant = $1 AND re.payment = n.payment`,
		f.tenant, f.id, uids, traces, calendar.SettlesAt(calendar.ACH, f.settles(), f.now))
}

// reversalKind is the kind of message that takes a credit over ACH back.
const reversalKind = "reversal"

// dueReversals finds the entries that take credits back whose time has come, if the network has their file.
var dueReversals = db.NewQuery[found](`SELECT re.payment AS uid FROM ach_reversals AS re
	JOIN network_messages AS nm ON nm.tenant = re.tenant AND nm.id = re.file
	WHERE re.tenant = $1 AND nm.tenant = $1 AND re.answered_at IS NULL AND re.settles_at <= $2
	  AND nm.handed_at IS NOT NULL
	ORDER BY re.settles_at, re.payment ` + limitAtATime)

// settlesReversal reports whether an answer says that the entry which takes a payment back settles.
func (a *incoming) settlesReversal() bool { return a.reversal && a.says == accepted }

// readingUnsettled reads which of these payments entries take back that have neither settled nor come back.
var readingUnsettled = db.NewQuery[found](`SELECT payment AS uid FROM ach_reversals
	WHERE tenant = $1 AND payment = ANY($2::bigint[]) AND answered_at IS NULL`)

// unsettledTx returns the payments, of those whose reversals settle, for which no other worker has said so,
// and whose reversals have not come back meanwhile. The payments are locked.
func unsettledTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, answers []*incoming,
) (map[UID]bool, error) {
	var uids []UID
	for _, a := range answers {
		if a.settlesReversal() {
			uids = append(uids, a.payment)
		}
	}
	if len(uids) == 0 {
		return nil, nil
	}
	b := db.TxBatch(tx)
	rows := db.Queue(b, readingUnsettled, tenant, uids)
	err := b.Send(ctx)
	unsettled := map[UID]bool{}
	for _, row := range rows.Items {
		unsettled[row.UID] = true
	}
	return unsettled, err
}

// answerReversal applies what ACH says of the entry that takes a payment back, and returns the state that the
// payment reaches.
func (f *facts) answerReversal(p *Payment, a *incoming, on time.Time) (State, error) {
	if a.says == accepted {
		return f.reverse(p, on)
	}
	return f.notReverse(p, a, on)
}

// reverse gives the customer the money of a credit that was taken back, without what the other bank has given
// back by itself since.
func (f *facts) reverse(p *Payment, on time.Time) (State, error) {
	to, err := reversing.Take(p.State)
	if err != nil {
		return p.State, err
	}
	sold := p.soldFor(p.Minor)
	err = f.bookBack(p, on, "Reversed over "+string(p.Rail), f.settled(p), p.Minor-p.ReturnedMinor,
		sold-p.SoldReturned)
	if err != nil {
		return p.State, err
	}
	p.ReturnedMinor, p.SoldReturned = p.Minor, sold
	return to, nil
}

// unreversing is the step of a payment whose reversal the other bank sends back, before it settled or after.
var unreversing = states.Step[State]{
	From: []State{Recalling, ReversalAccepted},
	To:   ReversalRejected, Else: ErrLate,
}

// notReverse leaves the other bank the money of a credit whose reversal it sends back. What the customer has
// received of it is taken again, and the account cannot refuse: it may go below its overdraft.
func (f *facts) notReverse(p *Payment, a *incoming, on time.Time) (State, error) {
	if a.amount != p.Amount() || p.State == ReversalAccepted && !a.booked {
		return p.State, nil // it is no return of this entry, or the money came back otherwise: people look at it
	}
	to, err := unreversing.Take(p.State)
	if err != nil {
		return p.State, err
	}
	if p.State == Recalling {
		return to, nil
	}
	p.ReturnedMinor = 0
	again, err := p.journal(ledger.Return, on, "Reversal returned over "+string(p.Rail), p.SenderAccount,
		f.settled(p), p.Minor)
	if err != nil {
		return p.State, err
	}
	return to, f.force(p, again)
}

// reversals are what ACH has said of entries that take credits back, by the credits.
type reversals map[UID]*Reversing

// answered notes what an answer about the entry that takes a payment back did to the payment, which was in
// state was. If the answer is no return of that entry, the entry stays on its way.
func (r reversals) answered(a *incoming, was State, p *Payment) {
	if a.says != accepted && p.State == Recalling {
		return
	}
	row := r.of(a.payment)
	if a.says == accepted {
		row.Booked = row.Booked || was == Recalling && p.State == ReversalAccepted
	} else {
		row.ReturnCode = a.reasonCode()
	}
}

// returned notes that a credit which is taken back, and was in state was, has come back by itself. An entry
// that waits for a file then stays here. One that has settled has brought the money a second time: if the
// other bank sends it back, too, nothing is taken again.
func (r reversals) returned(a *incoming, was State, p *Payment) {
	if a.says == returned && p.State == ReversalAccepted && (was != p.State || a.amount == p.Amount()) {
		r.of(p.UID).back = true
	}
}

func (r reversals) of(uid UID) *Reversing {
	if r[uid] == nil {
		r[uid] = &Reversing{}
	}
	return r[uid]
}

// writeTx writes what was said, at the end of the transaction.
func (r reversals) writeTx(ctx context.Context, tenant access.Tenant, now time.Time) error {
	if len(r) == 0 {
		return nil
	}
	var uids []int64
	var booked, back []bool
	var codes []string
	for uid, row := range r {
		uids, codes = append(uids, int64(uid)), append(codes, row.ReturnCode)
		booked, back = append(booked, row.Booked), append(back, row.back)
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_reversals AS re
		SET answered_at = CASE WHEN n.back AND re.file IS NOT NULL THEN re.answered_at
		  ELSE coalesce(re.answered_at, $5::timestamptz) END,
		booked = (re.booked OR n.booked) AND NOT n.back,
		return_code = CASE WHEN re.return_code = '' THEN n.code ELSE re.return_code END
		FROM unnest($2::bigint[], $3::boolean[], $4::text[], $6::boolean[]) AS n(payment, booked, code, back)
		WHERE re.tenant = $1 AND re.payment = n.payment`, tenant, uids, booked, codes, now, back)
}
