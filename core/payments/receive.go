package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/events"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/db"
)

// Receive takes in what has arrived from the networks for the caller's bank, and returns how much. A message
// that came before changes nothing. Of files it takes some at a time, as they may be long, and what else the
// bank does waits meanwhile.
func (s *Service) Receive(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	behind := s.unread.of(caller.Tenant)
	arrived, err := s.network.Receive(ctx, caller.Tenant, atATime, behind)
	if err != nil || len(arrived)+len(behind) == 0 {
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
	at := s.paces.At(caller.Tenant, "receive from networks", atATime)
	taken, err = changes.AllOrEach(ctx, at, others, Arrived.thing, func(some []Arrived) (int, error) {
		answers, ids := make([]*incoming, len(some)), make([]int64, len(some))
		for i, a := range some {
			answers[i], ids[i] = read(a), a.ID
		}
		err := s.inTurn(ctx, caller.Tenant, func(ctx context.Context, tx bun.Tx) error {
			return s.takeInTx(ctx, tx, caller, now, answers)
		})
		if err == nil {
			err = s.network.MarkTaken(ctx, caller.Tenant, ids)
		}
		return unlessFailed(len(some), err)
	})
	for _, a := range files {
		n, failed := changes.Guarded(func(a Arrived) (int, error) {
			whole, err := s.takeFile(ctx, caller, now, a, time.Now().Add(s.filesFor/time.Duration(len(files))))
			switch {
			case errors.Is(err, errGoesOn):
				return 1, nil
			case !whole || err != nil:
				return 0, err
			}
			return 1, s.network.MarkTaken(ctx, caller.Tenant, []int64{a.ID})
		}, a)
		if n == 0 {
			behind = append(behind, a.ID)
		}
		taken, err = taken+n, errors.Join(err, failed)
	}
	s.unread.leave(caller.Tenant, behind, len(files) > 0)
	if err != nil {
		return taken, fmt.Errorf("receive from networks: %w", err)
	}
	return taken, nil
}

// inTurn runs what takes in something that has arrived, in a transaction. If another worker has taken in some
// of it meanwhile, so that what was to be written is there, it runs once more: by then that is known.
func (s *Service) inTurn(
	ctx context.Context, tenant access.Tenant, take func(ctx context.Context, tx bun.Tx) error,
) error {
	err := s.db.InTx(ctx, int64(tenant), take)
	if _, late := db.UniqueViolation(err); late {
		err = s.db.InTx(ctx, int64(tenant), take)
	}
	return err
}

// intake takes in what has arrived, within one transaction.
type intake struct {
	s        *Service
	caller   access.Caller
	now      time.Time
	f        *facts
	onRecord map[place]*known
	firsts   map[place]*known // credits, by the id that the bank that pays has for them
	by       map[UID]*Payment // that messages are about
	ids      []MessageID      // for messages of ours
	created  []*Payment       // that have come in
	details  []*Details       // of these
	moved    []*Payment
	steps    []*Step
	messages []*Message
	record   []events.Recorded
	why      map[UID]string     // the codes for which payments were given back
	requests map[UID]*requested // for payment, which credits may pay
	paid     [][2]UID           // requests with the credits that paid them

	reversals  reversals
	clarified  map[UID]*clarified            // payments about which other banks ask
	unanswered map[place]*InformationRequest // of ours, by their messages
	inquiries  []*InformationRequest         // of other banks
	informed   []*InformationRequest         // of ours, which are answered
	demands    []*demand                     // of other banks, which have come
	terms      []*Request                    // of these
	exceptions []*positivepay.Exception      // what positive pay says of them
	noticed    map[UID]*noticed              // payments that notices of change are about
	notices    []*Notice                     // of change, which have come
}

func (s *Service) intake(caller access.Caller, now time.Time) *intake {
	return &intake{
		s: s, caller: caller, now: now, onRecord: map[place]*known{}, firsts: map[place]*known{},
		by: map[UID]*Payment{}, why: map[UID]string{}, requests: map[UID]*requested{},
		reversals: reversals{},
		clarified: map[UID]*clarified{}, unanswered: map[place]*InformationRequest{},
		noticed: map[UID]*noticed{},
	}
}

// takeInTx records what has arrived, and does what it says.
func (s *Service) takeInTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, arrived []*incoming,
) error {
	in := s.intake(caller, now)
	names, transactions := make([]string, 0, 6*len(arrived)), []string{}
	for _, a := range arrived {
		names = append(append(names, a.id, a.of, a.asked, in.anew(a)), in.anewBefore(a)...)
		if key := a.transaction(); key != "" {
			transactions = append(transactions, key)
		}
	}
	b := db.TxBatch(tx)
	onRecord := db.Queue(b, readingKnown, caller.Tenant, names, transactions)
	ids := db.Queue(b, takingMessageIDs, 2*len(arrived)) // each may be answered, or told to people
	if err := b.Send(ctx); err != nil {
		return err
	}
	for _, k := range onRecord.Items {
		in.onRecord[place{k.Rail, k.Direction, k.MessageID, k.from()}] = k
		if k.Transaction != "" {
			in.firsts[place{k.Rail, In, k.Transaction, ""}] = k
		}
	}
	for _, id := range ids.Items[len(arrived):] {
		in.ids = append(in.ids, id.ID)
	}
	if err := in.saidTx(ctx, tx, arrived); err != nil {
		return err
	}
	var fresh []*incoming
	seen := map[place]*known{}
	before := func(a *incoming) *known {
		if k := in.received(a.over, a.id, a.from); k != nil {
			return k
		}
		return seen[place{a.over, In, a.id, a.from}]
	}
	for i, a := range arrived {
		k := before(a)
		if k != nil && !in.same(a, k) {
			twice, formerly := k.Kind == a.kind, in.anewBefore(a)
			a.twice, a.id = twice, in.anew(a)
			k = before(a)
			for _, id := range formerly {
				if of := in.received(a.over, id, a.from); k == nil && of != nil && in.same(a, of) {
					k = of
				}
			}
		}
		if k == nil {
			seen[place{a.over, In, a.id, a.from}] = in.known(a)
			a.number, fresh = ids.Items[i].ID, append(fresh, a)
		}
	}
	if err := in.gatherTx(ctx, tx, fresh); err != nil {
		return err
	}
	for _, a := range fresh {
		if err := in.take(a); err != nil {
			return err
		}
	}
	if err := in.demandsTx(ctx, tx); err != nil {
		return err
	}
	return in.writeTx(ctx, tx)
}

// gatherTx locks the payments that messages are about, and reads and locks what they and new credits are
// decided by.
func (in *intake) gatherTx(ctx context.Context, tx bun.Tx, arrived []*incoming) error {
	var uids, requests []UID
	w := want{}
	for _, a := range arrived {
		if k := in.original(a); k != nil {
			uids = append(uids, k.Payment)
		}
		if a.says == returned { // one payment may come back in many parts
			w.journals++
		}
		if r := a.request; r != nil {
			w.payees, w.banks = append(w.payees, Party{Number: r.Debtor.Account}),
				append(w.banks, banks.Routing(r.CreditorAgent))
			w.created++
		}
		if t := a.transfer; t != nil {
			if of := asked(t); of != 0 {
				requests = append(requests, of)
			}
			w.payees = append(w.payees, Party{Number: t.Creditor.Account})
			if a.account != 0 {
				w.payees = append(w.payees, Party{UID: a.account})
			}
			w.virtual = append(w.virtual, t.Creditor.Account)
			w.houses = append(w.houses, house{ledger.Settled(a.over), t.Amount.Currency},
				house{ledger.Clearing(a.over), t.Amount.Currency})
			w.created, w.journals, w.screened = w.created+1, w.journals+1, true
		}
	}
	if len(requests) > 0 {
		b := db.TxBatch(tx)
		found := db.Queue(b, readingRequested, in.caller.Tenant, requests)
		if err := b.Send(ctx); err != nil {
			return err
		}
		for _, r := range found.Items {
			in.requests[r.Payment] = r
			uids = append(uids, r.Payment)
		}
	}
	if err := in.lockTx(ctx, tx, uids, w); err != nil {
		return err
	}
	return in.clarifyTx(ctx, tx, arrived)
}

// lockTx locks payments, and reads and locks what they, and what else is wanted, are decided by.
func (in *intake) lockTx(ctx context.Context, tx bun.Tx, uids []UID, w want) error {
	var locked []*Payment
	if err := tx.NewSelect().Model(&locked).Where("pay.tenant = ?", in.caller.Tenant).
		Where("pay.uid IN (?)", bun.List(uids)).
		OrderExpr("pay.uid").For("NO KEY UPDATE").Scan(ctx); err != nil {
		return err
	}
	of := wanted(locked...)
	w.payers, w.payees, w.journals = of.payers, append(w.payees, of.payees...), w.journals+of.journals
	for _, p := range locked {
		in.by[p.UID] = p
		w.houses = append(w.houses, house{ledger.Clearing(p.Rail), p.Currency},
			house{ledger.Settled(p.Rail), p.Currency}, house{ledger.HouseFees, p.DebitedCurrency()})
		w.houses = append(w.houses, p.positions()...)
	}
	f, err := in.s.gatherTx(ctx, tx, in.caller.Tenant, w)
	if err != nil {
		return err
	}
	f.limits, f.by = limits.Counting(in.caller.Tenant), in.caller
	in.f = f
	if f.stopped, err = stoppedTx(ctx, tx, locked); err != nil {
		return err
	}
	f.promised, err = promisedTx(ctx, tx, locked)
	return err
}

// take does what one message says.
func (in *intake) take(a *incoming) error {
	switch a.says {
	case credited:
		return in.credit(a)
	case demanded:
		return in.demand(a)
	case recalled:
		return in.recall(a)
	case inquired:
		return in.inquire(a)
	case informed:
		return in.inform(a)
	}
	kind := ""
	k, why := in.answered(a)
	if k != nil {
		a.payment, kind = k.Payment, k.Kind
		if of := in.asked(a, k); of.Followed { // it says nothing of the one that counts
			why = "it answers an earlier " + messageWords[of.Kind] + " of payment " + k.Payment.String()
		}
	}
	in.messages = append(in.messages, a.message(in.s.keys, in.caller.Tenant, in.now))
	entered, p := len(in.steps), in.by[a.payment]
	if why == "" {
		if err := in.answer(a, kind); err != nil {
			return err
		}
	}
	if why == "" && len(in.steps) == entered && p != nil && (a.says == returned || a.contradicts(p, kind)) {
		why = fmt.Sprintf("payment %s is %s", p.UID, p.State)
	}
	if why == "" && kind == returnKind && a.says == refused && a.payment == 0 {
		why = "it refuses the return of a credit that was not taken, whose money is here"
	}
	if why == "" && a.says == refused &&
		slices.Contains([]string{statusKind, recallKind, recallAnswerKind}, kind) {
		why = "it refuses our " + messageWords[kind] + ", of payment " + a.payment.String()
	}
	if why != "" && a.says != noted {
		in.untaken(a, why)
	}
	return nil
}

// contradicts reports whether a network accepts what it has refused before: the money may have left, and is
// on the account again.
func (a *incoming) contradicts(p *Payment, kind string) bool {
	switch {
	case a.says != accepted:
		return false
	case kind == returnKind:
		return p.State != Returning && p.State != Returned
	}
	return kind == creditKind && p.State == Rejected
}

// answer applies an answer to the payment that it is about; kind is the kind of the message that it answers.
// An answer that no longer fits the payment changes nothing.
func (in *intake) answer(a *incoming, kind string) error {
	p := in.by[a.payment]
	if p == nil {
		return nil
	}
	// what comes back has settled, though nobody has said so yet: over ACH, and of a debit, only if its time has
	// come. Where a part of a credit comes back before, the rest settles.
	early := (p.Collects() || p.Rail == rails.ACH && a.amount.Minor == p.Minor) &&
		(p.SettlesAt == nil || p.SettlesAt.After(in.now))
	if a.says == returned && p.State == Sent && !early && a.givesBack(p) {
		if err := in.answer(&incoming{over: a.over, says: accepted, payment: a.payment}, kind); err != nil {
			return err
		}
	}
	was := *p
	to, err := in.f.answer(p, a, kind, in.now)
	switch {
	case isFault(err) || err == nil && to == p.State && p.ReturnedMinor == was.ReturnedMinor:
		return nil // it is on record, and changes nothing
	case err != nil:
		return fmt.Errorf("payment %s: %w", p.UID, err)
	}
	action, reason := actions[to], a.reason()
	switch {
	case kind == returnKind && a.says == accepted:
		reason = p.Reason // of the return
	case kind == returnKind:
		action = "rejectReturn"
	case kind == recallKind:
		action = "rejectRecall"
	case a.says != accepted:
		in.why[p.UID] = a.reasonCode()
	}
	in.enter(&was, p, to, action, reason)
	return nil
}

// answerAllTx applies what ACH says of entries to their payments, which it locks. It returns the returns of
// which nothing comes, and reversals which bring what has come back before, and says in them why.
func (s *Service) answerAllTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, answers []*incoming,
) (lost []*incoming, err error) {
	in := s.intake(caller, now)
	var uids []UID
	var w want
	for _, a := range answers {
		if uids = append(uids, a.payment); a.says == returned { // one payment may come back in many parts
			w.journals++
		}
	}
	if err := in.lockTx(ctx, tx, uids, w); err != nil {
		return nil, err
	}
	if err := in.noticesTx(ctx, tx, answers); err != nil {
		return nil, err
	}
	unsettled, err := unsettledTx(ctx, tx, caller.Tenant, answers)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		p := in.by[a.payment]
		if a.change != nil {
			in.notice(a, p)
			continue
		}
		if p == nil || a.settlesReversal() && !unsettled[p.UID] {
			continue
		}
		if a.says == dishonoured {
			in.dishonour(a, p)
			continue
		}
		entered, before := len(in.steps), p.ReturnedMinor
		if err := in.answerEntry(a, p); err != nil {
			return nil, err
		}
		twice := p.Minor - (p.ReturnedMinor - before)
		switch {
		case a.says == returned && len(in.steps) == entered:
			a.wrong = fmt.Sprintf("payment %s is %s", p.UID, p.State)
			lost = append(lost, a)
		case a.settlesReversal() && twice > 0:
			a.amount, a.wrong = money.Of(twice, p.Currency), fmt.Sprintf("payment %s had come back before", p.UID)
			lost = append(lost, a)
		}
	}
	return lost, in.writeTx(ctx, tx)
}

// answerEntry applies what ACH says of the entry of a payment, or of the one that takes it back.
func (in *intake) answerEntry(a *incoming, p *Payment) error {
	was := p.State
	if !a.reversal {
		err := in.answer(a, creditKind)
		if err == nil {
			in.reversals.returned(a, was, p)
		}
		return err
	}
	if row := in.reversals[p.UID]; row != nil && row.back {
		a.booked = false
	}
	err := in.answer(a, reversalKind)
	if err == nil {
		in.reversals.answered(a, was, p)
	}
	return err
}

// enter takes a payment to its next state, by an action that the record names; was is the payment before.
func (in *intake) enter(was, p *Payment, to State, action, reason string) {
	in.steps = append(in.steps, p.enter(to, in.caller, in.now, reason))
	in.moved, in.record = append(in.moved, p), append(in.record, recorded(action, was, p, in.caller))
}

// actions are the names, in the record, of what brings payments to a state.
var actions = map[State]string{
	Settled: "settlePayment", Rejected: "rejectPayment", Returned: "returnPayment", Recalled: "recallPayment",
	ReversalAccepted: "returnPayment", ReversalPartly: "returnPayment", ReversalRejected: "refuseRecall",
}

// writeTx writes the outcome, at the end of the transaction.
func (in *intake) writeTx(ctx context.Context, tx bun.Tx) error {
	isNew := map[UID]bool{}
	for _, p := range in.created {
		isNew[p.UID] = true
	}
	var moved []*Payment
	for _, p := range last(in.moved) {
		if !isNew[p.UID] {
			moved = append(moved, p)
		}
	}
	return errors.Join(db.InsertAtCommit(ctx, in.created), db.InsertAtCommit(ctx, in.details),
		db.InsertAtCommit(ctx, in.terms), db.InsertAtCommit(ctx, in.exceptions),
		writeTx(ctx, moved, nil), in.completeTx(ctx), db.InsertAtCommit(ctx,
			in.steps), db.InsertAtCommit(ctx, in.notices),
		writeReturnCodesTx(ctx, in.caller.Tenant, in.why), db.InsertAtCommit(ctx, in.messages), in.clarifiedTx(ctx),
		in.f.writeTx(ctx), in.reversals.writeTx(ctx, in.caller.Tenant, in.now), recordTx(ctx, tx, in.record))
}

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
