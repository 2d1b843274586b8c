package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
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

// A payment over a network goes through three steps of work, each of which any worker may do at any time, and
// which go on where another one stopped:
//
//	SendQueued  takes the money and writes the message, in one transaction: from here it is on its way
//	HandOver    hands messages to the network; after a stop the same message is handed over again
//	Receive     takes the network's answers in, each once

// atATime bounds the payments and messages of one transaction.
const atATime = 250

type messageID struct {
	ID MessageID `bun:"id"`
}

var (
	// the sealed number is not among the columns that reads fetch by themselves
	readingDetails = db.NewQuery[Details](db.Select[Details](db.Columns{}, withContact).
			ColumnExpr("pd.number_sealed").Where("pd.tenant = $1").
			Where("pd.payment = ANY($2::bigint[])").String())
	takingMessageIDs = db.NewQuery[messageID](`SELECT nextval('network_messages_ids') AS id FROM generate_series(1, $1::bigint)`)
)

// SendQueued takes the money of queued payments of the caller's bank and writes their messages, and returns of how
// many. The money of a customer that is suspended, or whose partner is, stands still: its payments wait.
func (s *Service) SendQueued(ctx context.Context) (sent int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	var queued []UID
	err = s.db.NewSelect().Model((*Payment)(nil)).Column("uid").Where("pay.tenant = ?", caller.Tenant).
		Where("pay.state = ?", Queued).Where("pay.send_at <= ?", s.now()).
		Where(movableNow, caller.Tenant, bun.List(customers.Working)).
		OrderExpr("pay.send_at, pay.uid").Limit(atATime).Scan(ctx, &queued)
	if err == nil {
		sent, err = together(queued, func(uids []UID) (n int, err error) {
			var failed error
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				n, failed, err = s.sendAllTx(ctx, tx, caller, uids)
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

// together does work on many things at a time. If that fails, it does each alone, so that one that cannot be done
// keeps none of the others from it; unless the database is what failed. It returns how many were done.
func together[T any](all []T, do func([]T) (int, error)) (done int, err error) {
	if len(all) == 0 {
		return 0, nil
	}
	done, err = do(all)
	passing := db.IsUnavailable(err) || db.IsTimeout(err) || db.IsLockTimeout(err)
	if done > 0 || err == nil || len(all) == 1 || passing {
		return done, err
	}
	err = nil
	for i := range all {
		n, failed := do(all[i : i+1])
		done, err = done+n, errors.Join(err, failed)
	}
	return done, err
}

// movableNow is facts.movable for payments over a network, so that those that wait keep none from being sent.
const movableNow = `EXISTS (SELECT FROM accounts AS a JOIN customers AS c ON c.tenant = a.tenant AND c.uid = a.customer
	LEFT JOIN customers AS o ON o.tenant = ?0 AND o.uid = c.owner AND o.uid <> c.uid
	WHERE a.tenant = ?0 AND c.tenant = ?0 AND a.uid = pay.sender_account AND a.status = 'Active' AND c.status IN (?1)
	  AND (o.status IS NULL OR o.status IN (?1)))`

// sendAllTx sends payments, but for those that another worker has in hand. failed says which could not be sent for a
// reason of ours: they stay as they are.
func (s *Service) sendAllTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, of []UID,
) (sent int, failed, err error) {
	var queued []*Payment
	err = tx.NewSelect().Model(&queued).Where("pay.tenant = ?", caller.Tenant).Where("pay.state = ?", Queued).
		Where("pay.uid IN (?)", bun.List(of)).OrderExpr("pay.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil || len(queued) == 0 {
		return 0, nil, err
	}
	w := wanted(queued...)
	uids := make([]UID, len(queued))
	for i, p := range queued {
		uids[i] = p.UID
		w.houses = append(w.houses, house{ledger.Clearing(p.Rail), p.Currency}, house{ledger.HouseFees, p.Currency})
	}
	now := s.now()
	b := db.TxBatch(tx)
	details := db.QueueMany(b, readingDetails, func(d *Details) UID { return d.Payment }, caller.Tenant, uids)
	ids := db.Queue(b, takingMessageIDs, len(queued))
	if err := b.Send(ctx); err != nil {
		return 0, nil, err
	}
	f, err := s.gatherTx(ctx, tx, caller.Tenant, w)
	if err != nil {
		return 0, nil, err
	}
	f.limits = limits.Counting(caller.Tenant)
	var moved []*Payment
	var steps []*Step
	var messages []*Message
	var entries []*Payment
	var record []events.Recorded
	for i, p := range queued {
		if f.movable(p) != nil {
			continue // since it was read
		}
		was := *p
		if p.Rail == rails.ACH && p.late(now) {
			f.postpone(p, now)
			moved = append(moved, p)
			steps = append(steps, p.enter(Queued, caller, now, "no file left in time for "+was.Date.Format(time.DateOnly)))
			record = append(record, recorded("postponePayment", &was, p, caller))
			continue
		}
		if p.Rail == rails.ACH {
			settles := calendar.SettlesAt(service(p.Speed, p.Rail), p.Date, now)
			p.SettlesAt, entries = &settles, append(entries, p)
		} else {
			p.details = details.Of[p.UID][0]
			message, err := s.compose(p, f.parties[p.SenderAccount], ids.Items[i].ID, now)
			if err != nil {
				failed = errors.Join(failed, fmt.Errorf("payment %s: %w", p.UID, err))
				continue
			}
			messages = append(messages, message)
		}
		if err := f.send(p); err != nil {
			return 0, nil, fmt.Errorf("payment %s: %w", p.UID, err)
		}
		moved = append(moved, p)
		steps = append(steps, p.enter(Sent, caller, now, ""))
		record = append(record, recorded("transmitPayment", &was, p, caller))
	}
	return len(moved), failed, errors.Join(writeTx(ctx, moved, steps), db.InsertAtCommit(ctx, messages),
		takeEntriesTx(ctx, caller.Tenant, entries, now), f.writeTx(ctx), recordTx(ctx, tx, record))
}

// postpone plans an entry anew that has missed its file; its money stays held.
func (f *facts) postpone(p *Payment, now time.Time) {
	was := *p
	send := p.plan(now)
	p.SendAt = &send
	p.recount(f.limits, &was)
}

// takeEntriesTx lets entries, whose money is taken, wait for the next file.
func takeEntriesTx(ctx context.Context, tenant access.Tenant, entries []*Payment, now time.Time) error {
	if len(entries) == 0 {
		return nil
	}
	var uids []int64
	var days []string
	for _, p := range entries {
		uids, days = append(uids, int64(p.UID)), append(days, p.Date.Format(time.DateOnly))
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_entries AS e SET taken_at = $4, settles_on = n.day::date
		FROM unnest($2::bigint[], $3::text[]) AS n(payment, day) WHERE e.tenant = $1 AND e.payment = n.payment`,
		tenant, uids, days, now)
}

// send takes the money that was held for a payment into the clearing account of its network.
func (f *facts) send(p *Payment) error {
	if err := f.books.Close(p.SenderAccount, p.held(), int64(p.UID), ledger.Captured); err != nil {
		return err
	}
	return f.take(p, f.houses[house{ledger.Clearing(p.Rail), p.Currency}], "Payment over "+string(p.Rail))
}

// recorded is how the work of the bank itself on a payment is recorded.
func recorded(action string, was, now *Payment, by access.Caller) events.Recorded {
	return changes.Change{
		Action: action, Object: "payment", UID: now.UID, Customer: int64(now.Customer), Version: now.Version,
		Before: was, After: now,
	}.Recorded(by, "")
}

// HandOver hands messages of the caller's bank to their networks, the oldest first, and returns how many were
// taken. Those that no network takes keep none of the later ones from it.
func (s *Service) HandOver(ctx context.Context) (handed int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	for _, few := range []struct {
		which string
		most  int64
	}{{"nm.rail <> ?", atATime}, {"nm.rail = ?", 1}} { // files of ACH are large
		after, taken := MessageID(0), []MessageID{}
		for range mostPasses {
			var waiting []*Message
			failed := s.db.NewSelect().Model(&waiting).Where("nm.tenant = ?", caller.Tenant).
				Where("nm.direction = ?", Out).Where("nm.handed_at IS NULL").Where(few.which, rails.ACH).
				Where("nm.id > ?", after).OrderExpr("nm.id").Limit(few.most).Scan(ctx)
			if failed == nil && len(waiting) > 0 {
				after = waiting[len(waiting)-1].ID
				taken, failed = s.handOver(ctx, caller, waiting)
			}
			err = errors.Join(err, failed, s.markHanded(ctx, caller, taken))
			if handed += len(taken); len(taken) > 0 || len(waiting) == 0 {
				break
			}
		}
	}
	return handed, err
}

// mostPasses bounds how many times as many messages that no network takes are passed over for one that it does.
const mostPasses = 40

// handOver hands messages over, and returns those that were taken.
func (s *Service) handOver(
	ctx context.Context, caller access.Caller, waiting []*Message,
) (taken []MessageID, failed error) {
	for _, m := range waiting {
		body, err := s.keys.Open(seal.Value{Sealed: m.Body}, m.place())
		if err == nil {
			err = s.network.Send(ctx, caller.Tenant, m.Rail, m.MessageID, []byte(body))
		}
		if err != nil { // a network that is down, or a message that it does not take: the others may pass
			failed = errors.Join(failed, fmt.Errorf("hand over message %s: %w", m.MessageID, err))
			continue
		}
		taken = append(taken, m.ID)
	}
	return taken, failed
}

func (s *Service) markHanded(ctx context.Context, caller access.Caller, taken []MessageID) error {
	if len(taken) == 0 {
		return nil
	}
	return s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewUpdate().Model((*Message)(nil)).Set("handed_at = ?", s.now()).
			Where("nm.tenant = ?", caller.Tenant).Where("nm.id IN (?)", bun.List(taken)).
			Where("nm.handed_at IS NULL").Exec(ctx)
		return err
	})
}

// Receive takes in what has arrived from the networks for the caller's bank, and returns how much. A message that
// came before changes nothing.
func (s *Service) Receive(ctx context.Context) (taken int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	arrived, err := s.network.Receive(ctx, caller.Tenant, atATime)
	if err != nil || len(arrived) == 0 {
		return 0, err
	}
	var files, others []Arrived
	for _, a := range arrived {
		if a.Over == rails.ACH {
			files = append(files, a)
		} else {
			others = append(others, a)
		}
	}
	taken, err = together(others, func(some []Arrived) (int, error) {
		answers, ids := make([]*answer, len(some)), make([]int64, len(some))
		for i, a := range some {
			answers[i], ids[i] = read(a), a.ID
		}
		err := s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
			return s.takeInTx(ctx, tx, caller, answers)
		})
		if err == nil {
			err = s.network.Done(ctx, caller.Tenant, ids)
		}
		if err != nil {
			return 0, err
		}
		return len(some), nil
	})
	for _, a := range files {
		failed := s.takeFile(ctx, caller, a)
		if failed == nil {
			failed = s.network.Done(ctx, caller.Tenant, []int64{a.ID})
		}
		if failed == nil {
			taken++
		}
		err = errors.Join(err, failed)
	}
	if err != nil {
		return taken, fmt.Errorf("receive from networks: %w", err)
	}
	return taken, nil
}

// known is a message that is on record.
type known struct {
	Rail      rails.Rail `bun:"rail"`
	Direction Direction  `bun:"direction"`
	MessageID string     `bun:"message_id"`
	Payment   UID        `bun:"payment"`
}

var readingKnown = db.NewQuery[known](`SELECT rail, direction, message_id, coalesce(payment, 0) AS payment
	FROM network_messages WHERE tenant = $1 AND message_id = ANY($2::text[])`)

// takeInTx records answers, and does what they say to the payments that they answer.
func (s *Service) takeInTx(ctx context.Context, tx bun.Tx, caller access.Caller, answers []*answer) error {
	names := make([]string, 0, 2*len(answers))
	for _, a := range answers {
		names = append(names, a.id, a.of)
	}
	b := db.TxBatch(tx)
	onRecord, ids := db.Queue(b, readingKnown, caller.Tenant, names), db.Queue(b, takingMessageIDs, len(answers))
	if err := b.Send(ctx); err != nil {
		return err
	}
	now := s.now()
	var messages []*Message
	seen, of := map[known]bool{}, map[known]UID{}
	for _, k := range onRecord.Items {
		of[known{k.Rail, k.Direction, k.MessageID, 0}] = k.Payment
	}
	var fresh []*answer
	for i, a := range answers {
		key := known{a.over, In, a.id, 0}
		if _, before := of[key]; before || seen[key] {
			continue
		}
		seen[key] = true
		a.payment, a.number = of[known{a.over, Out, a.of, 0}], ids.Items[i].ID
		fresh, messages = append(fresh, a), append(messages, a.message(s.keys, caller.Tenant, now))
	}
	if err := db.InsertAtCommit(ctx, messages); err != nil {
		return err
	}
	return s.answerAllTx(ctx, tx, caller, fresh)
}

// answerAllTx does what answers say, to payments that it locks.
func (s *Service) answerAllTx(ctx context.Context, tx bun.Tx, caller access.Caller, answers []*answer) error {
	uids := []UID{}
	for _, a := range answers {
		uids = append(uids, a.payment)
	}
	var locked []*Payment
	if err := tx.NewSelect().Model(&locked).Where("pay.tenant = ?", caller.Tenant).Where("pay.uid IN (?)", bun.List(uids)).
		OrderExpr("pay.uid").For("NO KEY UPDATE").Scan(ctx); err != nil || len(locked) == 0 {
		return err
	}
	w, by := wanted(locked...), map[UID]*Payment{}
	for _, p := range locked {
		by[p.UID] = p
		w.houses = append(w.houses, house{ledger.Clearing(p.Rail), p.Currency}, house{ledger.Settled(p.Rail), p.Currency},
			house{ledger.HouseFees, p.Currency})
	}
	f, err := s.gatherTx(ctx, tx, caller.Tenant, w)
	if err != nil {
		return err
	}
	f.limits = limits.Counting(caller.Tenant)
	m := &moves{facts: f, by: caller, now: s.now(), why: map[UID]string{}}
	for _, a := range answers {
		p := by[a.payment]
		if p == nil {
			continue
		}
		if a.says == returned && p.State == Sent { // what comes back has settled, though nobody has said so yet
			err = m.answer(p, &answer{over: a.over, says: accepted})
		}
		if err == nil {
			err = m.answer(p, a)
		}
		if err != nil {
			return fmt.Errorf("payment %s: %w", p.UID, err)
		}
	}
	return errors.Join(writeTx(ctx, last(m.moved), m.steps), giveBackTx(ctx, caller.Tenant, m.why), f.writeTx(ctx),
		recordTx(ctx, tx, m.record))
}

// moves collects what answers do to payments.
type moves struct {
	facts  *facts
	by     access.Caller
	now    time.Time
	moved  []*Payment
	steps  []*Step
	record []events.Recorded
	why    map[UID]string // reasons of those that were given back
}

// answer does to a payment what an answer says. One that no longer fits the payment changes nothing.
func (m *moves) answer(p *Payment, a *answer) error {
	was := *p
	to, err := m.facts.answer(p, a, m.now)
	switch {
	case isFault(err) || err == nil && to == p.State:
		return nil
	case err != nil:
		return err
	}
	m.moved, m.steps = append(m.moved, p), append(m.steps, p.enter(to, m.by, m.now, a.reason()))
	m.record = append(m.record, recorded(actions[to], &was, p, m.by))
	if to != Settled {
		m.why[p.UID] = a.reasonCode()
	}
	return nil
}

// actions are what happens to payments, as the record names it.
var actions = map[State]string{Settled: "settlePayment", Rejected: "rejectPayment", Returned: "returnPayment"}

// last returns each payment once.
func last(moved []*Payment) (each []*Payment) {
	seen := map[UID]bool{}
	for _, p := range moved {
		if !seen[p.UID] {
			seen[p.UID], each = true, append(each, p)
		}
	}
	return each
}

// answer does to a payment what its network says, and returns the state that it reaches.
func (f *facts) answer(p *Payment, a *answer, now time.Time) (State, error) {
	on := calendar.Today(now)
	clearing, settled := f.houses[house{ledger.Clearing(p.Rail), p.Currency}], f.houses[house{ledger.Settled(p.Rail), p.Currency}]
	switch a.says {
	case accepted:
		to, err := settling.Take(p.State)
		if err != nil {
			return p.State, err
		}
		return to, f.book(p, ledger.Settlement, on, "Settled over "+string(p.Rail), clearing, settled, p.Minor)
	case refused:
		to, err := rejecting.Take(p.State)
		if err != nil {
			return p.State, err
		}
		err = f.book(p, ledger.Return, on, "Rejected by "+string(p.Rail), clearing, p.SenderAccount, p.Minor)
		if err != nil {
			return p.State, err
		}
		p.uncount(f.limits)
		return to, f.refund(p, on)
	case returned:
		to, err := returning.Take(p.State)
		if err != nil {
			return p.State, err
		}
		if a.amount.Currency != p.Currency || a.amount.Minor <= 0 || a.amount.Minor > p.Minor {
			return p.State, nil // it is not the return of this payment; people see the message
		}
		return to, f.book(p, ledger.Return, on, "Returned over "+string(p.Rail), settled, p.SenderAccount, a.amount.Minor)
	}
	return p.State, nil
}

// refund gives back what a payment cost that was rejected.
func (f *facts) refund(p *Payment, on time.Time) error {
	if p.FeeMinor == 0 {
		return nil
	}
	fee := p.FeeMinor
	why := "Fee given back: " + p.FeeName
	p.free()
	return f.book(p, ledger.Fee, on, why, f.houses[house{ledger.HouseFees, p.Currency}], p.SenderAccount, fee)
}
