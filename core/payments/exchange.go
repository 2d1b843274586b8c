package payments

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/seal"
	"bankgraph/db"
)

// A payment over a network goes through these steps. Any worker may do any of them at any time, and goes on
// where another one stopped:
//
//	SendQueued     takes the money and writes the message, in one transaction: from here it is on its way
//	SealFiles      puts entries of ACH, which have no message of their own, into one file
//	HandOver       hands messages to the network; after a stop the same message is handed over again
//	Receive        takes in what the network says, each message once
//	SettleEntries  settles entries of ACH, of which the network says nothing
//	ExpireRequests ends requests for payment that nobody has paid

// atATime bounds the payments and messages of one transaction.
const atATime = 250

type messageID struct {
	ID MessageID `bun:"id"`
}

var (
	// the sealed number is not among the columns that reads fetch by themselves
	readingDetails = db.NewQuery[Details](db.Select[Details](db.Columns{}, inDetails).
			ColumnExpr("pd.number_sealed").Where("pd.tenant = $1").
			Where("pd.payment = ANY($2::bigint[])").String())
	takingMessageIDs = db.NewQuery[messageID](`SELECT nextval('network_messages_ids') AS id
		FROM generate_series(1, $1::bigint)`)
)

// SendQueued takes the money of queued payments of the caller's bank, writes their messages, and returns how
// many it sent. The money of a customer that is suspended, or whose partner is, stands still: its payments
// wait. In a bank that was restored all payments, files and messages wait until ResumeSending.
func (s *Service) SendQueued(ctx context.Context) (sent int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	queued, err := s.nextToSend(ctx, caller, now)
	if err == nil && len(queued) > 0 {
		var held bool
		if held, err = s.sendingHeld(ctx, s.db, caller.Tenant); held {
			return 0, nil
		}
	}
	if err == nil {
		at := s.paces.At(caller.Tenant, "send payments", atATime)
		sent, err = changes.AllOrEach(ctx, at, queued, changes.Numbered[UID], func(uids []UID) (n int, err error) {
			var failed error
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				n, failed, err = s.sendAllTx(ctx, tx, caller, now, uids, "")
				return err
			})
			if err != nil {
				return 0, err
			}
			return n, failed
		})
	}
	if err != nil {
		return sent, fmt.Errorf("send payments: %w", err)
	}
	return sent, nil
}

// nextToSend finds payments that are sent next, of customers in turns: of the next ones who have any in line.
func (s *Service) nextToSend(
	ctx context.Context, caller access.Caller, now time.Time,
) (uids []UID, err error) {
	last := s.senders.Last(caller.Tenant)
	for from, again := last, last == 0; ; {
		rows, err := db.ReadPrimary(ctx, s.db, findingToSend, caller.Tenant, db.Texts(customers.Working), now, from)
		if err != nil {
			return nil, err
		}
		next := customers.UID(0) // from the first one on
		for _, row := range rows {
			if row.UID != 0 {
				uids = append(uids, row.UID)
			} else {
				next = row.Walked
			}
		}
		s.senders.Give(caller.Tenant, next)
		if len(uids) > 0 || again && (next == 0 || last != 0 && next >= last) {
			return uids, nil
		}
		from, again = next, again || next == 0
	}
}

type toSend struct {
	UID    UID           `bun:"uid"` // 0 in the row that says where the walk has ended
	Walked customers.UID `bun:"walked"`
}

var findingToSend = db.NewQuery[toSend](nextToSend)

// nextToSend finds what is to be sent of 250 customers that follow $4: the oldest payment of each first, then
// the second of each, and so on. So a customer with a hundred thousand payments in a file keeps nobody else
// waiting. Where many customers have some, fewer of each are read. The last row says behind whom others may
// follow.
var nextToSend = `WITH RECURSIVE whose AS (
	  SELECT 1 AS number, (SELECT customer FROM payments WHERE tenant = $1 AND state = 'QUEUED'
	    AND customer > $4::bigint ORDER BY customer LIMIT 1) AS customer
	  UNION ALL
	  SELECT number + 1, (SELECT customer FROM payments WHERE tenant = $1 AND state = 'QUEUED'
	    AND customer > whose.customer ORDER BY customer LIMIT 1)
	  FROM whose WHERE customer IS NOT NULL AND number < 250
	)
	(SELECT next.uid, 0::bigint AS walked FROM whose CROSS JOIN LATERAL (
	  SELECT pay.uid, pay.send_at, row_number() OVER (ORDER BY pay.send_at, pay.uid) AS turn FROM (
	    SELECT * FROM (SELECT pay.uid, pay.send_at FROM payments AS pay
	      WHERE pay.customer = whose.customer AND ` + sendable + `
	      ORDER BY pay.send_at, pay.uid ` + limitAtATime + `) AS first
	    LIMIT (SELECT greatest(25, 2500 / greatest(1, count(customer))) FROM whose)) AS pay) AS next
	ORDER BY next.turn, next.send_at, next.uid ` + limitAtATime + `)
	UNION ALL SELECT 0, max(customer) FROM whose HAVING count(customer) = 250`

// limitAtATime is the limit of what jobs look for. It is no value of the prepared reads, so that they are
// planned for it.
var limitAtATime = "LIMIT " + strconv.Itoa(atATime)

// found is a payment that a job has found.
type found struct {
	UID UID `bun:"uid"`
}

// find returns the payments that a job works on next.
func (s *Service) find(ctx context.Context, text *db.Query[found], values ...any) ([]UID, error) {
	rows, err := db.ReadPrimary(ctx, s.db, text, values...)
	uids := make([]UID, len(rows))
	for i, row := range rows {
		uids[i] = row.UID
	}
	return uids, err
}

// worker returns the caller of work that the bank does by itself, and the time by the bank's clock.
func (s *Service) worker(ctx context.Context) (caller access.Caller, now time.Time, err error) {
	if caller, err = access.Require(ctx, access.ManageTenants); err == nil {
		now, err = s.now(ctx, caller.Tenant)
	}
	return caller, now, err
}

// unlessFailed returns how much a transaction did: nothing if it failed.
func unlessFailed(n int, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	return n, nil
}

// sendable is the condition that a payment of the bank $1 is one that SendQueued sends at $3: its time has
// come, and its money can move. $2 is customers.Working. Other payments are not read, so they keep none from
// being sent, and no file waits for them (findingOrigin).
var sendable = `pay.tenant = $1 AND pay.state = 'QUEUED' AND pay.send_at <= $3 AND ` + movableNow +
	` AND NOT ` + heldElsewhere("$1")

// movableNow is facts.movable in SQL, for payments over a network.
const movableNow = `EXISTS (SELECT FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant
	AND c.uid = a.customer
	LEFT JOIN customers AS o ON o.tenant = $1 AND o.uid = c.owner AND o.uid <> c.uid
	WHERE a.tenant = $1 AND c.tenant = $1 AND a.uid = coalesce(pay.sender_account, pay.receiver_account)
	  AND a.status = 'Active' AND a.system_of_record = '` + string(accounts.InternalCore) + `'
	  AND a.currency = coalesce(nullif(pay.sold_currency, ''), pay.currency)
	  AND c.status = ANY ($2::text[]) AND (o.status IS NULL OR o.status = ANY ($2::text[])))`

// heldElsewhere is the condition that an older release held the money of a payment on another account than
// the payer's: people cancel it.
func heldElsewhere(tenant string) string {
	return `EXISTS (SELECT FROM holds AS h WHERE h.tenant = ` + tenant + ` AND h.payment = pay.uid
	  AND h.state = 'OPEN' AND h.account <> pay.sender_account OFFSET 0)` // looked up for each
}

// sendAllTx sends payments, except those that another worker has locked, and those whose money is held
// elsewhere. failed says which could not be sent for a reason of ours: they stay as they are. One payment that
// has left already is written as sent under a reference (NoteLeft).
func (s *Service) sendAllTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []UID, left string,
) (sent int, failed, err error) {
	var queued []*Payment
	err = tx.NewSelect().Model(&queued).Where("pay.tenant = ?", caller.Tenant).Where("pay.state = ?", Queued).
		Where("pay.uid IN (?)", bun.List(of)).
		Where("NOT "+heldElsewhere("?"), caller.Tenant).
		OrderExpr("pay.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil || len(queued) == 0 {
		return 0, nil, err
	}
	w := wanted(queued...)
	uids := make([]UID, len(queued))
	for i, p := range queued {
		uids[i] = p.UID
		w.houses = append(w.houses, house{ledger.Clearing(p.Rail), p.Currency},
			house{ledger.HouseFees, p.DebitedCurrency()})
		w.houses = append(w.houses, p.positions()...)
	}
	b := db.TxBatch(tx)
	details := db.QueueMany(b, readingDetails, func(d *Details) UID { return d.Payment }, caller.Tenant, uids)
	asks := db.Queue(b, readingRequests, caller.Tenant, uids)
	paying := db.Queue(b, payingRequests, caller.Tenant, uids)
	ids := db.Queue(b, takingMessageIDs, len(queued))
	if err := b.Send(ctx); err != nil {
		return 0, nil, err
	}
	for _, p := range queued {
		for _, d := range details.Of[p.UID] {
			s.otherSide(&w, p, d)
		}
	}
	f, err := s.gatherTx(ctx, tx, caller.Tenant, w)
	if err != nil {
		return 0, nil, err
	}
	f.limits = limits.Counting(caller.Tenant)
	requests := map[UID]*Request{}
	for _, r := range asks.Items {
		requests[r.Payment] = r
	}
	out := &sending{s: s, f: f, caller: caller, now: now, left: left}
	pays, credits := map[UID]bool{}, []*Payment{}
	for _, credit := range paying.Items {
		pays[credit.UID] = true
	}
	for _, p := range queued {
		if left == "" && pays[p.UID] {
			credits = append(credits, p)
		}
	}
	if f.paid, err = s.paidByTx(ctx, tx, caller.Tenant, credits); err != nil {
		return 0, nil, err
	}
	for i, p := range queued {
		if left == "" && f.movable(p) != nil {
			continue // since it was read
		}
		if p.Rail != rails.ACH {
			p.details, p.asks = details.Of[p.UID][0], requests[p.UID]
		}
		if err := out.send(p, ids.Items[i].ID); err != nil {
			return 0, nil, fmt.Errorf("payment %s: %w", p.UID, err)
		}
	}
	return len(out.moved), out.failed, errors.Join(writeTx(ctx, out.moved, out.steps),
		db.InsertAtCommit(ctx, out.messages), queueEntriesTx(ctx, caller.Tenant, out.entries, now),
		leftEntryTx(ctx, out.entries, out.messages, left),
		dateRequestsTx(ctx, caller.Tenant, out.redated), f.writeTx(ctx), recordTx(ctx, tx, out.record))
}

// sending is the work of sending payments, with what it has to write.
type sending struct {
	s      *Service
	f      *facts
	caller access.Caller
	now    time.Time
	left   string // by what the network knows it, of a payment that has left already; else ""

	moved            []*Payment
	steps            []*Step
	record           []events.Recorded
	messages         []*Message
	entries, redated []*Payment // entries of ACH, and requests whose day has changed
	failed           error      // of payments that cannot be sent for a reason of ours
}

// send sends a payment, by a message with this id or in the next file of ACH. One that is too late for its
// day is planned anew. One that pays a request of another bank is not sent after the end of that, nor planned
// for a day after it; a request that is too late for its last day expires. One whose other side has become an
// account of this bank since is not sent, nor one whose customer has an address now that the network does not
// take.
func (out *sending) send(p *Payment, id MessageID) error {
	was, before := *p, out.left != ""
	if why := out.f.stillElsewhere(out.s, p); why != nil && !before {
		return out.stop(&was, p, why)
	}
	late := !before && p.late(out.now)
	if late {
		p.postpone(out.f.limits, out.now)
	}
	switch {
	case !before && out.f.paid[p.UID].tooLateBy(p, out.now):
		return out.stop(&was, p, ErrRequestOver)
	case late:
		out.enter(&was, p, Queued, "postponePayment", missed(p.Rail)+" for "+was.Date.Format(time.DateOnly))
		return nil
	}
	if p.asks != nil {
		if p.drawsDown() && !p.asks.On.Equal(p.Date) { // it has waited, and is for the day on which it leaves
			p.asks.On, p.asks.Expires = p.Date, p.Date
			out.redated = append(out.redated, p)
		}
		until := p.asks.over()
		if p.SettlesAt = &until; !before && !until.After(out.now) { // it has waited for people for too long
			step, entry, err := p.expire(out.caller, out.now)
			out.moved, out.steps, out.record = append(out.moved, p), append(out.steps, step), append(out.record, entry)
			return err
		}
	}
	if p.Rail == rails.ACH {
		settles := calendar.SettlesAt(service(p.Speed, p.Rail), p.Date, out.now)
		p.SettlesAt, out.entries = &settles, append(out.entries, p)
		if before {
			out.messages = append(out.messages, out.s.leftFile(p.Tenant, id, out.now, out.left))
		}
	} else {
		message, err := out.s.compose(p, out.f.parties[p.Own()], id, out.now, out.left)
		if !before && p.ownPartyRefused(err) {
			return out.stop(&was, p, p.notCarried(err))
		}
		if err != nil {
			out.failed = errors.Join(out.failed, fmt.Errorf("payment %s: %w", p.UID, err))
			return nil
		}
		if before {
			message.HandedAt = &out.now
		}
		out.messages = append(out.messages, message)
	}
	if p.holds() {
		if err := out.f.send(p); err != nil {
			return err
		}
	}
	why := ""
	if before {
		why = "it left before the restore, as " + out.left
	}
	out.enter(&was, p, Sent, "transmitPayment", why)
	return nil
}

// stop ends a payment that can no longer be sent: what is held for it is released, and no limit counts it.
func (out *sending) stop(was, p *Payment, why error) error {
	if p.holds() {
		err := out.f.books.Close(p.SenderAccount, p.held(), int64(p.UID), ledger.Released)
		if err != nil {
			return err
		}
		p.free()
	}
	p.uncount(out.f.limits)
	out.enter(was, p, Invalid, "stopPayment", why.Error())
	return nil
}

// enter takes a payment to a state, by an action that the record names; was is the payment before.
func (out *sending) enter(was, p *Payment, to State, action, why string) {
	out.steps = append(out.steps, p.enter(to, out.caller, out.now, why))
	out.moved, out.record = append(out.moved, p), append(out.record, recorded(action, was, p, out.caller))
}

// missed says why a payment that has not left in time for its day is planned anew.
func missed(over rails.Rail) string {
	if over == rails.ACH {
		return "no file left in time"
	}
	return "it did not leave in time"
}

// postpone plans a payment anew: it has not left in time, or is only now released. Its money stays held.
func (p *Payment) postpone(c *limits.Counter, now time.Time) {
	was := *p
	send := p.plan(now)
	p.SendAt = &send
	p.recount(c, &was)
}

// queueEntriesTx puts entries, whose money is taken, in line for the next file; those that wait for one
// already keep their place, and get the day of their payment.
func queueEntriesTx(ctx context.Context, tenant access.Tenant, entries []*Payment, now time.Time) error {
	if len(entries) == 0 {
		return nil
	}
	var uids []int64
	var days []string
	for _, p := range entries {
		uids, days = append(uids, int64(p.UID)), append(days, p.Date.Format(time.DateOnly))
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_entries AS e
		SET taken_at = coalesce(e.taken_at, $4), settles_on = n.day::date
		FROM unnest($2::bigint[], $3::text[]) AS n(payment, day)
		WHERE e.tenant = $1 AND e.payment = n.payment`, tenant, uids, days, now)
}

// send moves the money that is held for a payment into the clearing account of its network.
func (f *facts) send(p *Payment) error {
	if err := f.books.Close(p.SenderAccount, p.held(), int64(p.UID), ledger.Captured); err != nil {
		return err
	}
	return f.take(p, f.houses[house{ledger.Clearing(p.Rail), p.Currency}], "Payment over "+string(p.Rail))
}

// recorded returns how the bank's own work on a payment is recorded.
func recorded(action string, was, now *Payment, by access.Caller) events.Recorded {
	return changes.Change{
		Action: action, Object: "payment", UID: now.UID, Customer: int64(now.Customer), Version: now.Version,
		Before: was, After: now,
	}.Recorded(by, "")
}

// Conditions for the waiting messages that are handed over together. An index has the condition begun.
const (
	begun     = "nm.kind NOT IN ('pacs.002', 'pain.014', '" + kindOfFile + "')"
	answering = "nm.kind IN ('pacs.002', 'pain.014')"
	inFiles   = "nm.kind = '" + kindOfFile + "'"
)

// toHandOver are the reads of messages that are handed over together. Files of ACH are large.
var toHandOver = []*db.Query[Message]{
	waitingToLeave(begun, atATime), waitingToLeave(answering, atATime/5), waitingToLeave(inFiles, 1),
}

// waitingToLeave is the read of so many messages that wait, after one.
func waitingToLeave(which string, most int64) *db.Query[Message] {
	return db.NewQuery[Message](db.Select[Message](db.Columns{}, inMessages).
		Where("nm.tenant = $1").Where("nm.direction = 'OUT'").Where("nm.handed_at IS NULL").Where(which).
		Where("nm.id > $2").OrderExpr("nm.id").Limit(most).String())
}

// HandOver hands messages of the caller's bank to their networks, the oldest first, and returns how many were
// taken. A message that its network does not take does not hold up later ones, and what is answered to other
// banks does not hold up payments, as other banks decide how much of it there is.
func (s *Service) HandOver(ctx context.Context) (handed int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	for _, few := range toHandOver {
		after, taken := MessageID(0), []MessageID{}
		for range mostPasses {
			waiting, failed := db.ReadPrimary(ctx, s.db, few, caller.Tenant, after)
			if failed == nil && len(waiting) > 0 {
				var held bool
				if held, failed = s.sendingHeld(ctx, s.db, caller.Tenant); held || failed != nil {
					return handed, errors.Join(err, failed)
				}
				after = waiting[len(waiting)-1].ID
				taken, failed = s.handOver(ctx, caller, waiting)
			}
			err = errors.Join(err, failed, s.markHanded(ctx, caller, now, taken))
			if handed += len(taken); len(taken) > 0 || len(waiting) == 0 {
				break
			}
		}
	}
	return handed, err
}

// mostPasses bounds how often one call of HandOver, CarryOutDue or RunRecurrences reads on, past messages or
// payments that cannot be dealt with now.
const mostPasses = 40

// handOver hands messages over, and returns those that the networks took.
func (s *Service) handOver(
	ctx context.Context, caller access.Caller, waiting []*Message,
) (taken []MessageID, failed error) {
	for _, m := range waiting {
		body, err := s.keys.Open(seal.Value{Sealed: m.Body}, m.place())
		if err == nil {
			err = s.network.Send(ctx, caller.Tenant, m.Rail, m.MessageID, []byte(body))
		}
		if err != nil { // the network is down, or does not take this message: others may pass
			failed = errors.Join(failed, fmt.Errorf("hand over message %s: %w", m.MessageID, err))
			continue
		}
		taken = append(taken, m.ID)
	}
	return taken, failed
}

func (s *Service) markHanded(
	ctx context.Context, caller access.Caller, now time.Time, taken []MessageID,
) error {
	if len(taken) == 0 {
		return nil
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*Message)(nil)).Set("handed_at = ?", now).
			Where("nm.tenant = ?", caller.Tenant).Where("nm.id IN (?)", bun.List(taken)).
			Where("nm.handed_at IS NULL").Exec(ctx)
		return err
	})
}
