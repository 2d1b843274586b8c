package payments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/ledger"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// entryWork is what a transaction does with entries of ACH that came in, and with requests of other banks for
// payment.
type entryWork struct {
	*intake

	changes []changes.Change
	decided []*positivepay.Exception
	own     *ownUse // of who decides
	rows    rows    // the payments that requests are met with
	asked   map[UID]*demand
}

// begin puts a payment that has come in into its first state.
func (w *entryWork) begin(p *Payment, in State, reason string) {
	w.created, w.details = append(w.created, p), append(w.details, p.details)
	w.steps = append(w.steps, p.enter(in, w.caller, w.now, reason))
	w.changes = append(w.changes, changes.Change{
		Action: "receivePayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version,
		After: p,
	})
}

// refuse sends back a payment that has just come in.
func (w *entryWork) refuse(p *Payment, code string) {
	p.ReturnedMinor, p.details.ReturnCode = p.Minor, code
	w.begin(p, Returned, because(code, ""))
}

// enter takes a payment to its next state; was is the payment before.
func (w *entryWork) enter(was, p *Payment, to State, action, reason string) {
	w.steps, w.moved = append(w.steps, p.enter(to, w.caller, w.now, reason)), append(w.moved, p)
	w.changes = append(w.changes, changes.Change{
		Action: action, Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version, Before: was,
		After: p,
	})
}

// sendBack sends back an entry of which nothing was booked, for a return reason of ACH.
func (w *entryWork) sendBack(p *Payment, code string) error {
	was := *p
	to, err := sendingBack.Take(p.State)
	if err != nil {
		return err
	}
	p.ReturnedMinor, w.why[p.UID] = p.Minor, code
	w.enter(&was, p, to, "returnPayment", because(code, ""))
	return nil
}

// settleEntry books a credit or a debit. If it cannot, it returns the return reason of ACH.
func (w *entryWork) settleEntry(p *Payment, action string) (code string, err error) {
	if p.EntryType == rails.Credit {
		return w.credit(p, action)
	}
	return w.pay(p, action)
}

// credit books a credit: the money comes into its network's clearing account, and from there to the account.
// If it cannot, it returns the return reason of ACH.
func (w *entryWork) credit(p *Payment, action string) (code string, err error) {
	f, was, on := w.f, *p, calendar.Today(w.now)
	to := f.parties[p.ReceiverAccount]
	if to == nil || f.books.Of(p.ReceiverAccount) == nil {
		return unknown, nil
	}
	if code = cmp.Or(to.untaken(), notCreditable(f.virtual[p.Virtual])); code != "" {
		return code, nil
	}
	next, err := crediting.Take(p.State)
	if err != nil {
		return "", err
	}
	err = f.book(p, ledger.Settlement, on, "Settled over "+string(p.Rail), f.settled(p), f.clearing(p), p.Minor)
	if err == nil {
		err = f.book(p, ledger.Payment, on, "Credit over "+string(p.Rail), f.clearing(p),
			p.ReceiverAccount, p.Minor)
	}
	if err == nil {
		w.enter(&was, p, next, action, "")
	}
	return "", err
}

// pay books a debit: the money leaves the account for its network's clearing account, and settles. If it
// cannot, it returns the return reason of ACH.
func (w *entryWork) pay(p *Payment, action string) (code string, err error) {
	f, was, on := w.f, *p, calendar.Today(w.now)
	from := f.parties[p.SenderAccount]
	if from == nil || f.books.Of(p.SenderAccount) == nil {
		return unknown, nil
	}
	if code = from.untaken(); code != "" {
		return code, nil
	}
	to, err := paying.Take(p.State)
	if err != nil {
		return "", err
	}
	debited, err := p.journal(ledger.Payment, on, "Debit over "+string(p.Rail), p.SenderAccount,
		f.clearing(p), p.Minor)
	if err != nil {
		return "", err
	}
	settled, err := p.journal(ledger.Settlement, on, "Settled over "+string(p.Rail), f.clearing(p),
		f.settled(p), p.Minor)
	if err != nil {
		return "", err
	}
	switch err = f.books.Book(debited, settled); {
	case errors.Is(err, ledger.ErrUncovered):
		return noFunds, nil
	case err != nil:
		return "", err
	}
	w.enter(&was, p, to, action, "")
	return "", nil
}

// decide enters a decision on the exception of a debit.
func (w *entryWork) decide(e *positivepay.Exception, to positivepay.DecisionStatus, action string) error {
	was := *e
	if err := e.Decide(to, w.caller, w.now); err != nil {
		return err
	}
	w.decided = append(w.decided, e)
	w.changes = append(w.changes, changes.Change{
		Action: action, Object: positivepay.ExceptionObject, UID: e.UID, Customer: int64(e.Customer),
		Version: e.Version, Before: &was, After: e,
	})
	return nil
}

// writeTx writes the outcome, and records it as the bank's own work, at the end of the transaction.
func (w *entryWork) writeTx(ctx context.Context, tx bun.Tx) error {
	for _, done := range w.changes {
		w.record = append(w.record, done.Recorded(w.caller, ""))
	}
	return w.writeRowsTx(ctx, tx)
}

func (w *entryWork) writeRowsTx(ctx context.Context, tx bun.Tx) error {
	var uids []int64
	var codes []string
	for uid, code := range w.why {
		uids, codes = append(uids, int64(uid)), append(codes, code)
	}
	err := errors.Join(w.rows.writeTx(ctx), w.intake.writeTx(ctx, tx),
		positivepay.WriteTx(ctx, w.caller.Tenant, w.decided))
	if err != nil || len(uids) == 0 {
		return err
	}
	return returnReceivedTx(ctx, w.caller.Tenant, w.now, uids, codes)
}

// returnReceivedTx marks the entries of payments to go back in the next file, each with its reason, at the
// end of the transaction.
func returnReceivedTx(
	ctx context.Context, tenant access.Tenant, now time.Time, of []int64, codes []string,
) error {
	return db.ExecAtCommit(ctx, `UPDATE ach_received AS r
		SET return_code = n.code, returned_at = $4::timestamptz
		FROM unnest($2::bigint[], $3::text[]) AS n(payment, code)
		WHERE r.tenant = $1 AND r.payment = n.payment AND r.return_code = ''`, tenant, of, codes, now)
}

// lockEntriesTx locks entries that are in one of these states, and reads and locks what they are decided by.
// It skips entries that another worker has locked.
func (s *Service) lockEntriesTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []UID, in State,
) (*entryWork, []*Payment, error) {
	var locked []*Payment
	err := tx.NewSelect().Model(&locked).Where("pay.tenant = ?", caller.Tenant).
		Where("pay.uid IN (?)", bun.List(of)).
		Where("pay.state = ?", in).OrderExpr("pay.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.entriesTx(ctx, tx, caller, now, locked)
	return w, locked, err
}

// entriesTx reads and locks what entries, which are locked, are decided by.
func (s *Service) entriesTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, locked []*Payment,
) (w *entryWork, err error) {
	w = &entryWork{intake: s.intake(caller, now)}
	if w.asked, err = s.demandsOfTx(ctx, tx, caller.Tenant, locked); err != nil {
		return nil, err
	}
	want := wantedOfEntries(locked)
	for _, d := range w.asked {
		want.orders(d.order(now), now)
		want.created++
	}
	if len(w.asked) > 0 {
		want = want.madeBy(now, caller)
		b := db.TxBatch(tx)
		ids := db.Queue(b, takingMessageIDs, len(w.asked)) // each may be refused
		if err := b.Send(ctx); err != nil {
			return nil, err
		}
		for _, id := range ids.Items {
			w.ids = append(w.ids, id.ID)
		}
	}
	if w.f, err = s.gatherTx(ctx, tx, caller.Tenant, want); err == nil {
		w.f.by = caller
	}
	return w, err
}

// wantedOfEntries returns the facts that entries need that may be booked.
func wantedOfEntries(all []*Payment) want {
	w := wanted(all...)
	for _, p := range all {
		w.houses = append(w.houses, house{ledger.Clearing(p.Rail), p.Currency},
			house{ledger.Settled(p.Rail), p.Currency})
		if p.Virtual != 0 {
			w.virtualUIDs = append(w.virtualUIDs, p.Virtual)
		}
	}
	return w
}

// dueToPost finds the entries of other banks, and the requests that a rule allows, whose time has come.
var dueToPost = db.NewQuery[found](`SELECT pay.uid FROM payments AS pay
	WHERE pay.tenant = $1 AND pay.state = 'VALIDATED' AND pay.settles_at <= $2
	ORDER BY pay.settles_at, pay.uid ` + limitAtATime)

// PostEntries books the credits and debits of other banks over ACH that settle now, pays their requests that
// a rule allows and whose day has come, and returns how many it took. An entry that cannot be booked goes
// back with the reason; a request that cannot be paid is refused with it. It is for workers: any number may
// call it at a time.
func (s *Service) PostEntries(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	due, err := s.find(ctx, dueToPost, caller.Tenant, now)
	if err == nil {
		at := s.paces.At(caller.Tenant, "post entries of other banks", atATime)
		taken, err = changes.AllOrEach(ctx, at, due, changes.Numbered[UID], func(uids []UID) (n int, err error) {
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				w, locked, err := s.lockEntriesTx(ctx, tx, caller, now, uids, Validated)
				if n = len(locked); err != nil || n == 0 {
					return err
				}
				standing, err := w.standingTx(ctx, tx)
				if err != nil {
					return err
				}
				for _, p := range locked {
					if d := w.asked[p.UID]; d != nil {
						if err := w.meetOrDecline(p, d, standing[int64(p.UID)]); err != nil {
							return fmt.Errorf("request %s: %w", p.UID, err)
						}
						continue
					}
					code, err := w.settleEntry(p, "settlePayment")
					if err == nil && code != "" {
						err = w.sendBack(p, code)
					}
					if err != nil {
						return fmt.Errorf("payment %s: %w", p.UID, err)
					}
				}
				return w.writeTx(ctx, tx)
			})
			return unlessFailed(n, err)
		})
	}
	if err != nil {
		return taken, fmt.Errorf("book entries of other banks: %w", err)
	}
	return taken, nil
}

// ExpireExceptions ends the exceptions on which nobody has decided in time, and returns how many: debits go
// back, requests for payment expire. It is for workers, as PostEntries is.
func (s *Service) ExpireExceptions(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	late, err := s.positivePay.LateExceptions(ctx, now, atATime)
	if err == nil {
		at := s.paces.At(caller.Tenant, "end exceptions of positive pay", atATime)
		taken, err = changes.AllOrEach(ctx, at, late, changes.Numbered[int64], func(of []int64) (n int, err error) {
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				n, err = s.expireTx(ctx, tx, caller, now, of)
				return err
			})
			return unlessFailed(n, err)
		})
	}
	if err != nil {
		return taken, fmt.Errorf("expire exceptions of positive pay: %w", err)
	}
	return taken, nil
}

// uidsOf returns the UIDs that numbers are.
func uidsOf(numbers []int64) []UID {
	uids := make([]UID, len(numbers))
	for i, number := range numbers {
		uids[i] = UID(number)
	}
	return uids
}

func (s *Service) expireTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []int64,
) (int, error) {
	w, locked, err := s.lockEntriesTx(ctx, tx, caller, now, uidsOf(of), OnHold)
	if err != nil || len(locked) == 0 {
		return 0, err
	}
	exceptions, err := positivepay.LockTx(ctx, tx, caller.Tenant, of)
	if err != nil {
		return 0, err
	}
	for _, p := range locked {
		e := exceptions[int64(p.UID)]
		if e == nil {
			return 0, fmt.Errorf("payment %s has no exception", p.UID)
		}
		if err := w.decide(e, positivepay.DefaultDecision, "expireException"); err != nil {
			return 0, err
		}
		if w.asked[p.UID] != nil {
			err = w.lapse(p)
		} else {
			err = w.sendBack(p, notWanted(e.SECCode))
		}
		if err != nil {
			return 0, err
		}
	}
	return len(locked), w.writeTx(ctx, tx)
}
