package payments

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/ledger"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// debitWork is what a transaction does with debits of other banks.
type debitWork struct {
	*intake

	told    []changes.Change
	decided []*positivepay.Exception
}

// begin lets a payment that has come begin its life in a state.
func (w *debitWork) begin(p *Payment, in State, reason string) {
	w.created, w.details = append(w.created, p), append(w.details, p.details)
	w.steps = append(w.steps, p.enter(in, w.caller, w.now, reason))
	w.told = append(w.told, changes.Change{
		Action: "receivePayment", Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version, After: p,
	})
}

// refuse sends a payment back that has just come.
func (w *debitWork) refuse(p *Payment, code string) {
	p.ReturnedMinor, p.details.ReturnCode = p.Minor, code
	w.begin(p, Returned, because(code, ""))
}

// enter takes a payment, which was this before, to its next state.
func (w *debitWork) enter(was, p *Payment, to State, action, reason string) {
	w.steps, w.moved = append(w.steps, p.enter(to, w.caller, w.now, reason)), append(w.moved, p)
	w.told = append(w.told, changes.Change{
		Action: action, Object: "payment", UID: p.UID, Customer: int64(p.Customer), Version: p.Version, Before: was, After: p,
	})
}

// sendBack returns a debit of which nothing was booked, by a reason of ACH.
func (w *debitWork) sendBack(p *Payment, code string) error {
	was := *p
	to, err := sendingBack.Take(p.State)
	if err != nil {
		return err
	}
	p.ReturnedMinor, w.why[p.UID] = p.Minor, code
	w.enter(&was, p, to, "returnPayment", because(code, ""))
	return nil
}

// pay books a debit: the money leaves the account for its network's clearing account, and settles. Otherwise it returns
// why not, as a reason of ACH.
func (w *debitWork) pay(p *Payment, action string) (code string, err error) {
	f, was, on := w.f, *p, calendar.Today(w.now)
	from := f.parties[p.SenderAccount]
	if from == nil || f.books.Of(p.SenderAccount) == nil {
		return unknown, nil
	}
	if code = from.undebitable(); code != "" {
		return code, nil
	}
	to, err := paying.Take(p.State)
	if err != nil {
		return "", err
	}
	debited, err := p.journal(ledger.Payment, on, "Debit over "+string(p.Rail), p.SenderAccount, f.clearing(p), p.Minor)
	if err != nil {
		return "", err
	}
	settled, err := p.journal(ledger.Settlement, on, "Settled over "+string(p.Rail), f.clearing(p), f.settled(p), p.Minor)
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

// decide decides on the exception of a debit.
func (w *debitWork) decide(e *positivepay.Exception, to positivepay.DecisionStatus, action string) error {
	was := *e
	if err := e.Decide(to, w.caller, w.now); err != nil {
		return err
	}
	w.decided = append(w.decided, e)
	w.told = append(w.told, changes.Change{
		Action: action, Object: positivepay.ExceptionObject, UID: e.UID, Customer: int64(e.Customer), Version: e.Version,
		Before: &was, After: e,
	})
	return nil
}

// writeTx writes what has come of it, and records it as the bank's own work, at the end of the transaction.
func (w *debitWork) writeTx(ctx context.Context, tx bun.Tx) error {
	for _, done := range w.told {
		w.record = append(w.record, done.Recorded(w.caller, ""))
	}
	return w.writeRowsTx(ctx, tx)
}

func (w *debitWork) writeRowsTx(ctx context.Context, tx bun.Tx) error {
	var uids []int64
	var codes []string
	for uid, code := range w.why {
		uids, codes = append(uids, int64(uid)), append(codes, code)
	}
	err := errors.Join(w.intake.writeTx(ctx, tx), positivepay.WriteTx(ctx, w.caller.Tenant, w.decided))
	if err != nil || len(uids) == 0 {
		return err
	}
	return db.ExecAtCommit(ctx, `UPDATE ach_debits AS d SET return_code = n.code, returned_at = $4::timestamptz
		FROM unnest($2::bigint[], $3::text[]) AS n(payment, code)
		WHERE d.tenant = $1 AND d.payment = n.payment AND d.return_code = ''`, w.caller.Tenant, uids, codes, w.now)
}

// lockDebitsTx locks debits that are in one of these states, and reads and locks what they are decided by. Those that
// another worker has in hand are left to it.
func (s *Service) lockDebitsTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []UID, in State,
) (*debitWork, []*Payment, error) {
	var locked []*Payment
	err := tx.NewSelect().Model(&locked).Where("pay.tenant = ?", caller.Tenant).Where("pay.uid IN (?)", bun.List(of)).
		Where("pay.state = ?", in).OrderExpr("pay.uid").For("NO KEY UPDATE SKIP LOCKED").Scan(ctx)
	if err != nil {
		return nil, nil, err
	}
	w, err := s.debitsTx(ctx, tx, caller, now, locked)
	return w, locked, err
}

// debitsTx reads and locks what debits are decided by that are locked.
func (s *Service) debitsTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, locked []*Payment,
) (w *debitWork, err error) {
	w = &debitWork{intake: s.intake(caller, now)}
	w.f, err = s.gatherTx(ctx, tx, caller.Tenant, wantedOfDebits(locked))
	return w, err
}

// wantedOfDebits is what debits need that may be booked.
func wantedOfDebits(all []*Payment) want {
	w := wanted(all...)
	for _, p := range all {
		w.houses = append(w.houses, house{ledger.Clearing(p.Rail), p.Currency}, house{ledger.Settled(p.Rail), p.Currency})
	}
	return w
}

// PostDebits books the debits of other banks that settle now, and returns how many it took. One that cannot be paid goes
// back with the reason. It is for workers: any number may call it at a time.
func (s *Service) PostDebits(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	var due []UID
	err = s.db.NewSelect().Model((*Payment)(nil)).Column("uid").Where("pay.tenant = ?", caller.Tenant).
		Where("pay.state = ?", Validated).Where("pay.settles_at <= ?", now).OrderExpr("pay.settles_at, pay.uid").
		Limit(atATime).Scan(ctx, &due)
	if err == nil {
		taken, err = together(due, func(uids []UID) (n int, err error) {
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				w, locked, err := s.lockDebitsTx(ctx, tx, caller, now, uids, Validated)
				if n = len(locked); err != nil || n == 0 {
					return err
				}
				for _, p := range locked {
					code, err := w.pay(p, "settlePayment")
					if err == nil && code != "" {
						err = w.sendBack(p, code)
					}
					if err != nil {
						return fmt.Errorf("payment %s: %w", p.UID, err)
					}
				}
				return w.writeTx(ctx, tx)
			})
			return n, err
		})
	}
	if err != nil {
		return taken, fmt.Errorf("book debits of other banks: %w", err)
	}
	return taken, nil
}

// ExpireExceptions sends back the debits on which nobody has decided in time, and returns how many. It is for workers,
// as PostDebits is.
func (s *Service) ExpireExceptions(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	late, err := s.positivePay.LateExceptions(ctx, now, atATime)
	if err == nil {
		taken, err = together(late, func(of []int64) (n int, err error) {
			err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
				n, err = s.expireTx(ctx, tx, caller, now, of)
				return err
			})
			return n, err
		})
	}
	if err != nil {
		return taken, fmt.Errorf("expire exceptions of positive pay: %w", err)
	}
	return taken, nil
}

func (s *Service) expireTx(
	ctx context.Context, tx bun.Tx, caller access.Caller, now time.Time, of []int64,
) (int, error) {
	var uids []UID
	for _, uid := range of {
		uids = append(uids, UID(uid))
	}
	w, locked, err := s.lockDebitsTx(ctx, tx, caller, now, uids, OnHold)
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
		if err := w.sendBack(p, notWanted(e.SECCode)); err != nil {
			return 0, err
		}
	}
	return len(locked), w.writeTx(ctx, tx)
}
