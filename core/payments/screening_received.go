package payments

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/positivepay"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/core/rails/iso20022"
	"bankgraph/core/screening"
	"bankgraph/db"
)

// What other banks send is compared with the lists when it comes (credit in credit.go, receiveEntriesTx in
// entries.go), and screening.go leads the decision here. A credit that may be from somebody on a
// list has settled with its network by then, or does when it is accepted: its money waits in the network's
// clearing account, and an instant network hears that it is not posted yet. An entry of ACH waits before
// anything moves. People release it, and it goes on as if it came then; or they reject it, and it goes back.
// A debit goes back too if nobody has decided when its return has to leave: the money would be lost
// otherwise.

// The return reasons of payments that compliance rejects. Over ACH it is the one for following OFAC's
// instructions; other networks are told none, as nobody outside the bank is.
const (
	rejectedCredit = "MS03"
	rejectedEntry  = blocked
)

// stopped is all that anybody outside the bank learns of a payment that compliance rejects.
const stopped = "stopped by the bank"

// ErrNotCreditable is returned for the release of a credit that its account no longer takes.
var ErrNotCreditable = fault.New(fault.State, "payment.not_creditable",
	"the account no longer takes the credit: reject it, and it goes back")

// screenReceived compares a payment that has come in with the lists, and reports whether it waits for people
// to look at it.
func (f *facts) screenReceived(p *Payment, now time.Time) bool {
	found := f.compare(p, now)
	if found != nil {
		if p.Rail == rails.ACH && p.EntryType == rails.Debit {
			found.Expires = new(returnUntil(p.Date))
		}
		f.screenings = append(f.screenings, *found)
	}
	return found != nil
}

// releaseReceivedTx lets a payment that came in go on. A credit reaches its account or, if its bank asks for
// it by now, waits for somebody to answer that. An entry of ACH waits for its settlement, a debit perhaps for
// positive pay first.
func (s *Service) releaseReceivedTx(ctx context.Context, tx *changes.Tx, p *Payment) error {
	if p.Rail == rails.ACH {
		return s.releaseEntryTx(ctx, tx, p)
	}
	t, err := s.creditTx(ctx, tx.Tx, p)
	if err != nil {
		return err
	}
	in, was := s.intake(tx.Caller, tx.Now), *p
	credit := &incoming{over: p.Rail, transfer: t, account: p.ReceiverAccount}
	if err := in.gatherTx(ctx, tx.Tx, []*incoming{credit}); err != nil {
		return err
	}
	if code := in.f.uncreditable(s, credit); code != "" {
		return ErrNotCreditable.Saying("the account no longer takes the credit (" + because(code, "") +
			"): reject it, and it goes back")
	}
	err = in.f.book(p, ledger.Payment, calendar.Today(tx.Now), "Credit over "+string(p.Rail),
		in.f.clearing(p), p.ReceiverAccount, p.Minor)
	if err != nil {
		return err
	}
	in.complete(p, credit, true)
	asked, err := s.recallsTx(ctx, tx.Tx, p)
	if err == nil && len(asked) == 0 {
		asked, err = s.owedTx(ctx, tx.Tx, p)
	}
	if err != nil {
		return err
	}
	to, reason := Settled, ""
	if len(asked) > 0 {
		to, reason = Recalled, because(asked[len(asked)-1].Reason.Code, "")
	}
	if p.Rail != rails.Fedwire {
		posted := func(g iso20022.Group) iso20022.Message {
			return &iso20022.Status{
				Group: g, Original: original(t), Code: iso20022.Credited, Sender: t.Receiver, Receiver: t.Sender,
			}
		}
		if err := s.tellTx(ctx, tx.Tx, p, t.Receiver, tx.Now, posted); err != nil {
			return err
		}
	}
	return errors.Join(s.enterTx(ctx, tx, &was, p, to, reason), in.writeTx(ctx, tx.Tx))
}

// owedTx returns the last request for the money of a payment whose bank was told that the money comes, or has
// come (ARDT), before the network refused that return; none otherwise.
func (s *Service) owedTx(ctx context.Context, tx bun.Tx, p *Payment) ([]*iso20022.Recall, error) {
	last, err := s.readTx(ctx, tx, p, recallAnswerKind, Out)
	told, is := last.(*iso20022.RecallAnswer)
	if err != nil || !is || told.Code == iso20022.RecallRefused &&
		!slices.ContainsFunc(told.Reasons, func(r iso20022.Reason) bool { return r.Code == gaveBack }) {
		return nil, err
	}
	last, err = s.readTx(ctx, tx, p, recallKind, In)
	if r, is := last.(*iso20022.Recall); is {
		return []*iso20022.Recall{r}, nil
	}
	return nil, err
}

// rejectReceivedTx sends back a payment that came in, of which nothing has reached its account.
func (s *Service) rejectReceivedTx(ctx context.Context, tx *changes.Tx, p *Payment) error {
	was := *p
	p.ReturnedMinor = p.Minor
	if p.Rail == rails.ACH {
		return errors.Join(
			returnReceivedTx(ctx, p.Tenant, tx.Now, []int64{int64(p.UID)}, []string{rejectedEntry}),
			writeReturnCodesTx(ctx, p.Tenant, map[UID]string{p.UID: rejectedEntry}),
			s.enterTx(ctx, tx, &was, p, Returned, because(rejectedEntry, stopped)))
	}
	t, err := s.creditTx(ctx, tx.Tx, p)
	if err != nil {
		return err
	}
	replies, err := s.returnMessagesTx(ctx, tx.Tx, &was, t,
		Return{Code: rejectedCredit, Type: inFull}, p.Amount())
	if err != nil {
		return err
	}
	_, err = tx.NewUpdate().Model((*Request)(nil)).Set("credit = NULL").Where("pr.tenant = ?", p.Tenant).
		Where("pr.credit = ?", p.UID).Exec(ctx) // it has not been paid
	if err != nil {
		return err
	}
	return errors.Join(writeReturnCodesTx(ctx, p.Tenant, map[UID]string{p.UID: rejectedCredit}),
		s.tellTx(ctx, tx.Tx, p, t.Receiver, tx.Now, replies...),
		s.enterTx(ctx, tx, &was, p, Returning, because(rejectedCredit, stopped)))
}

// ExpireScreenings sends back the debits of other banks that compliance has not decided on in time, and
// returns how many. It is for workers, as PostEntries is.
func (s *Service) ExpireScreenings(ctx context.Context) (taken int, err error) {
	caller, now, err := s.worker(ctx)
	if err != nil {
		return 0, err
	}
	late, err := s.screening.Expired(ctx, now)
	if err == nil {
		at := s.paces.At(caller.Tenant, "end screenings of debits", atATime)
		taken, err = changes.AllOrEach(ctx, at, uidsOf(late), changes.Numbered[UID],
			func(of []UID) (n int, err error) {
				err = s.db.InTx(ctx, int64(caller.Tenant), func(ctx context.Context, tx bun.Tx) error {
					w, locked, err := s.lockEntriesTx(ctx, tx, caller, now, of, Screening)
					if n = len(locked); err != nil || n == 0 {
						return err
					}
					for _, p := range locked {
						err := errors.Join(w.sendBack(p, rejectedEntry),
							screening.DecideTx(ctx, tx, caller, now, int64(p.UID),
								screening.Rejected, "nobody decided before its return had to leave"))
						if err != nil {
							return err
						}
					}
					return w.writeTx(ctx, tx)
				})
				return unlessFailed(n, err)
			})
	}
	if err != nil {
		return taken, fmt.Errorf("send back what compliance has not decided on: %w", err)
	}
	return taken, nil
}

// releaseEntryTx lets an entry of ACH wait for its settlement. A debit goes through positive pay as if it
// came now.
func (s *Service) releaseEntryTx(ctx context.Context, tx *changes.Tx, p *Payment) error {
	was, to, reason := *p, Validated, ""
	if p.EntryType == rails.Debit {
		w, err := s.entriesTx(ctx, tx.Tx, tx.Caller, tx.Now, []*Payment{p})
		if err != nil {
			return err
		}
		if of := w.f.parties[p.SenderAccount]; of != nil && of.PositivePay {
			if to, reason, err = s.screenEntryTx(ctx, tx, p); err != nil {
				return err
			}
		}
	}
	return s.enterTx(ctx, tx, &was, p, to, reason)
}

// screenEntryTx compares a debit with the rules of positive pay. It returns the state that the debit comes
// to, and why.
func (s *Service) screenEntryTx(
	ctx context.Context, tx *changes.Tx, p *Payment,
) (to State, reason string, err error) {
	var of Received
	if err := tx.NewSelect().Model(&of).Where("ar.tenant = ?", p.Tenant).Where("ar.payment = ?", p.UID).
		Scan(ctx); err != nil {
		return "", "", err
	}
	b := db.TxBatch(tx.Tx)
	details := db.Queue(b, readingDetails, p.Tenant, []UID{p.UID})
	if err := b.Send(ctx); err != nil {
		return "", "", err
	}
	if p.details, err = details.One(); err != nil {
		return "", "", err
	}
	exceptions, err := positivepay.ScreenTx(ctx, tx.Tx, tx.Caller, tx.Now,
		[]*positivepay.Screened{of.screened(p)},
		func(d *positivepay.Screened) time.Time {
			return decideUntil(tx.Now, d.DebitDate, tx.Caller.Location())
		})
	if err != nil {
		return "", "", err
	}
	e := exceptions[0]
	err = errors.Join(db.InsertAtCommit(ctx, exceptions), tx.Record(ctx, screenedDebit(e)))
	to, reason = enteredWith(e)
	return to, reason, err
}

// screenedDebit returns the record of what positive pay says of a debit.
func screenedDebit(e *positivepay.Exception) changes.Change {
	return changes.Change{
		Action: "screenDebit", Object: positivepay.ExceptionObject, UID: e.UID, Customer: int64(e.Customer),
		Version: e.Version, After: e,
	}
}

// enteredWith returns the state that a debit enters by what positive pay says of it, and the reason.
func enteredWith(e *positivepay.Exception) (State, string) {
	if e.Status == positivepay.AutoMatched {
		return Validated, ""
	}
	return OnHold, "positive pay: " + string(e.Reason)
}

// stoppedTx returns which payments are on their way back because compliance rejected them, before anything
// reached an account.
func stoppedTx(ctx context.Context, tx bun.Tx, all []*Payment) (map[UID]bool, error) {
	back := goingBack(all)
	if len(back) == 0 {
		return nil, nil
	}
	return screening.RejectedTx(ctx, tx, all[0].Tenant, back)
}
