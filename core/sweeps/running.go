package sweeps

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/payments"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
	"bankgraph/db"
)

// Work runs the sweeps of the caller's bank that are due, while the bank is open, and finds when new ones run
// first; it returns how many of both. Customers take turns. A run, its payment and when the sweep runs next
// are one transaction: whenever a worker ends, the next goes on with what that one left, and a sweep makes
// one payment a day at most. It is for workers: of many, each has another sweep.
func (s *Service) Work(ctx context.Context) (ran int, err error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return 0, err
	}
	now, err := s.now(ctx, caller.Tenant)
	if err != nil {
		return 0, err
	}
	ran, err = s.plan(ctx, caller, now)
	if err != nil {
		return 0, fmt.Errorf("plan sweeps: %w", err)
	}
	n, err := changes.WorkOff(
		func() (*accounts.SweepName, error) { return s.runNext(ctx, caller, now, nil, s.pay) },
		func(which *accounts.SweepName) (*accounts.SweepName, error) {
			return s.runNext(ctx, caller, now, which, giveUp)
		},
	)
	if err != nil {
		err = fmt.Errorf("run sweeps: %w", err)
	}
	return ran + n, err
}

// plan finds the next days of some sweeps that have none.
func (s *Service) plan(ctx context.Context, worker access.Caller, now time.Time) (n int, err error) {
	err = s.db.InTx(ctx, int64(worker.Tenant), func(ctx context.Context, tx bun.Tx) error {
		n, err = accounts.PlanSweepsTx(ctx, tx, worker.Tenant, ledger.Day(now.In(worker.Location())))
		return err
	})
	return n, err
}

// running is a sweep that is locked, with what becomes of its run.
type running struct {
	*accounts.Sweep
	*Run
	worker access.Caller
	now    time.Time
}

// runNext locks a sweep that is due, calls pay for its run, and writes the run. only names the sweep;
// nil: the one whose turn it is. It returns which sweep that was, also with an error of pay; nil if there is
// none.
func (s *Service) runNext(
	ctx context.Context, worker access.Caller, now time.Time, only *accounts.SweepName,
	pay func(context.Context, bun.Tx, *running) error,
) (which *accounts.SweepName, err error) {
	today := ledger.Day(now.In(worker.Location()))
	if !calendar.IsBankingDay(today) {
		return nil, nil
	}
	err = s.db.InTx(ctx, int64(worker.Tenant), func(ctx context.Context, tx bun.Tx) error {
		which = nil
		w, of, err := accounts.DueSweepTx(ctx, tx, worker.Tenant, today, s.turns.Last(worker.Tenant), only)
		if err != nil || w == nil {
			return err
		}
		which = &accounts.SweepName{Account: w.Account, Direction: w.Direction}
		s.turns.Give(worker.Tenant, w.Customer)
		r := &running{Sweep: w, worker: worker, now: now, Run: newRun(w, of, today, now)}
		if err := pay(ctx, tx, r); err != nil {
			return fmt.Errorf("account %s, %s: %w", w.Account, w.Direction, err)
		}
		return r.writeTx(ctx, tx)
	})
	return which, err
}

func newRun(w *accounts.Sweep, of customers.UID, today, now time.Time) *Run {
	return &Run{
		Tenant: w.Tenant, Account: w.Account, Customer: of, Direction: w.Direction, Day: today,
		Currency: w.Currency, Outcome: NothingToDo, At: now,
	}
}

// giveUp says of a run that the bank could not make its payment.
func giveUp(_ context.Context, _ bun.Tx, r *running) error {
	r.Outcome, r.Reason = Failed, "the bank could not make the payment"
	return nil
}

// writeTx writes what became of a run, and that the sweep has run.
func (r *running) writeTx(ctx context.Context, tx bun.Tx) error {
	failure := ""
	if r.Outcome == Failed {
		failure = r.Reason
	}
	if err := tx.NewRaw(`SELECT nextval('sweep_run_uids')`).Scan(ctx, &r.UID); err != nil {
		return err
	}
	if err := db.InsertAtCommit(ctx, []*Run{r.Run}); err != nil {
		return err
	}
	if err := r.RanTx(ctx, r.Day, r.now, failure); err != nil {
		return err
	}
	name := accounts.SweepName{Account: r.Run.Account, Direction: r.Run.Direction}
	recorded := changes.Change{
		Action: "runSweep", Object: "sweep", UID: name, Customer: int64(r.Run.Customer), Version: r.Version,
		After: r.Run,
	}.Recorded(r.worker, "")
	return events.RecordTx(ctx, tx, recorded.Entry, *recorded.Event)
}

// pay makes the payment of a run, in the name of who last set the sweep up. Where that is not known, which is
// so for sweeps from before they ran, the bank itself asks.
func (s *Service) pay(ctx context.Context, tx bun.Tx, r *running) error {
	by := r.worker
	if r.Maker.Client != "" {
		var err error
		if by, err = customers.AskerTx(ctx, tx, r.worker, r.Maker, r.Run.Customer); err != nil {
			return err
		}
	}
	made, err := s.payments.MakeTx(ctx, tx, by, r.orders(), r.now,
		func(ctx context.Context, has payments.Standing) (payments.Choice, error) {
			way, err := onItsWay(ctx, tx, r)
			if err != nil {
				return payments.Choice{}, err
			}
			return r.choose(has, way)
		})
	if err != nil {
		return err
	}
	if made.Available != nil {
		r.AvailableMinor = &made.Available.Minor
	}
	r.Minor, r.FeeMinor, r.Payment = made.Amount.Minor, made.Fee, made.Payment
	switch {
	case made.Why != nil:
		r.Outcome, r.Reason = Failed, reason(made.Why)
	case made.Payment != 0 && made.Collects:
		r.Outcome = Collected
	case made.Payment != 0:
		r.Outcome = Paid
	}
	return nil
}

// words are how fields of payments are called in sweeps.
var words = map[string]string{
	"sender": "account", "creditor": "account", "receiver": "toContact", "receiver.accountUID": "toContact",
	"debtor": "fromContact", "debtor.accountUID": "fromContact", "sender.accountUID": "account",
	"creditor.accountUID": "account", "paymentAmount": "amount", "paymentCurrency": "currency",
	"speed": "method",
}

// reason tells people why a payment was refused.
func reason(why error) string {
	why = fault.Called(why, words)
	var several fault.Faults
	if !errors.As(why, &several) {
		return why.Error()
	}
	all := make([]string, len(several))
	for i, f := range several {
		all[i] = f.Error()
	}
	return strings.Join(all, "; ")
}

// way is what earlier runs have on its way, in minor units. Coming is still to reach the account, less fees;
// Going is still to leave it and is not held, with fees. Refused is why the contact's bank gave back a debit
// that may not be tried again, since the sweep was set up or changed; empty if it gave none back. Unpayable
// is why the last credit of which that is known found no account to pay; empty if it arrived, or if the sweep
// was changed since, or the contact's account.
type way struct {
	Coming int64 `bun:"coming"`
	Going  int64 `bun:"going"`

	Refused   string `bun:"refused"`
	Unpayable string `bun:"unpayable"`
}

// ofAccount are the reasons, of ACH and of ISO 20022, for which the next payment to the same account would
// come back as well: it is closed, blocked or not known, or does not take such payments.
var ofAccount = []string{
	"R02", "R03", "R04", "R12", "R13", "R14", "R15", "R16", "R20",
	"AC01", "AC03", "AC04", "AC06", "AC07", "AC13", "AC14", "AG01",
}

// returnDays is after how many banking days a credit that has settled counts as one that arrived. Over ACH
// the other bank may return it within two.
const returnDays = 2

// onItsWay sums up what earlier runs of the account have on its way, of sweeps that are removed too. The
// account is locked, so that nothing is in its balance and on its way at the same time. A request for payment
// that has expired brings nothing, unless people still look at the credit that pays it.
func onItsWay(ctx context.Context, tx bun.Tx, r *running) (w way, err error) {
	err = db.Raw(tx, `SELECT
		coalesce(sum(p.amount - r.fee) FILTER (WHERE p.entry_type = 'DEBIT'), 0)::bigint AS coming,
		coalesce(sum(p.amount + r.fee) FILTER (WHERE p.entry_type = 'CREDIT'
		  AND p.state NOT IN ('SCREENING', 'QUEUED', 'SENT')),
		0)::bigint AS going, coalesce((SELECT b.reason FROM sweep_runs AS t
		  JOIN payments AS b ON b.tenant = t.tenant AND b.uid = t.payment
			WHERE t.tenant = ?0 AND b.tenant = ?0 AND t.account = ?1 AND t.direction = ?3 AND b.entry_type = 'DEBIT'
			AND b.state = 'RETURNED' AND b.updated_at > ?4 AND left(b.reason, 3) NOT IN ('R01', 'R09')
			  ORDER BY t.uid DESC LIMIT 1), '')
			AS refused,
		coalesce((SELECT CASE b.state WHEN 'SETTLED' THEN '' ELSE b.reason END FROM sweep_runs AS t
		  JOIN payments AS b ON b.tenant = t.tenant AND b.uid = t.payment
		  WHERE t.tenant = ?0 AND b.tenant = ?0 AND t.account = ?1 AND t.direction = ?3 AND t.at > ?4
		  AND b.entry_type = 'CREDIT' AND (b.state IN ('RETURNED', 'REJECTED')
		    AND split_part(b.reason, ':', 1) IN ?5 OR b.state = 'SETTLED' AND b.updated_at < ?7)
		  AND NOT EXISTS (SELECT FROM contacts AS k
		    WHERE k.tenant = ?0 AND k.uid = ?6 AND k.redirected_at >= t.at)
		  ORDER BY t.uid DESC LIMIT 1), '') AS unpayable
		FROM sweep_runs AS r JOIN payments AS p ON p.tenant = r.tenant AND p.uid = r.payment
		WHERE r.tenant = ?0 AND p.tenant = ?0 AND r.account = ?1 AND r.payment IS NOT NULL
		AND p.state IN ('PENDING_APPROVAL', 'PARTIALLY_APPROVED', 'SCHEDULED', 'SCREENING', 'QUEUED', 'SENT')
		AND NOT (p.rail <> 'ACH' AND p.entry_type = 'DEBIT' AND coalesce(p.settles_at <= ?2, false)
		  AND NOT EXISTS (SELECT FROM payment_requests AS q WHERE q.tenant = ?0 AND q.payment = p.uid
		    AND q.credit IS NOT NULL))`,
		r.Run.Tenant, r.Run.Account, r.now, string(r.Run.Direction), r.UpdatedAt, bun.Tuple(ofAccount),
		r.ToContact, access.StartOf(calendar.Next(r.Day, -returnDays), r.worker.Location())).Scan(ctx, &w)
	return w, err
}

// The places of a sweep's orders. A sweep in both directions has both; another one has its only order at 0.
const paying, collecting = 0, 1

// choose says what a run pays or collects. Money goes out that is available above the mark, less the fee and
// what earlier runs are to take; money comes in that is missing below the mark, with the fee and without what
// is on its way.
func (r *running) choose(has payments.Standing, w way) (payments.Choice, error) {
	low, high := r.TargetMinor, r.TargetMinor
	if r.BalanceType == accounts.Range {
		low, high = r.LowMinor, r.HighMinor
	}
	place := func(order int) int { return min(order, len(has.Fees)-1) }
	if r.Run.Direction != accounts.In {
		at := place(paying)
		if over := has.Available.Minor - w.Going - *high - has.Fees[at]; over > 0 {
			choice := payments.Choice{Order: at, Minor: over}
			if w.Unpayable != "" {
				return choice, ErrCreditBack.Saying("a payment came back, " + w.Unpayable +
					": change the sweep, or the contact's account, to pay again")
			}
			return choice, nil
		}
	}
	if r.Run.Direction != accounts.Out {
		at := place(collecting)
		if missing := *low - has.Available.Minor - w.Coming; missing > 0 {
			choice := payments.Choice{Order: at, Minor: missing + has.Fees[at]}
			if w.Refused != "" {
				return choice, ErrCameBack.Saying("a debit came back, " + w.Refused +
					": change the sweep to collect again")
			}
			return choice, nil
		}
	}
	return payments.Choice{}, nil
}

// ErrCameBack is returned for a sweep if the contact's bank has given back a debit for any reason but missing
// money (R01, R09). Under the rules of ACH nobody may debit again then, unless the debtor has agreed anew.
var ErrCameBack = fault.New(fault.State, "sweep.came_back",
	"a debit came back: change the sweep to collect again").
	On("fromContact")

// ErrCreditBack is returned for a sweep if the contact's bank has given back or rejected a payment for a
// reason of the account. Another one would come back as well, and cost its fee.
var ErrCreditBack = fault.New(fault.State, "sweep.credit_came_back",
	"a payment came back: change the sweep, or the contact's account, to pay again").
	On("toContact")

// speeds are how fast the payments of sweeps are (rest/CONTRACT.md, lookup).
var (
	outSpeeds = map[accounts.OutMethod]payments.Speed{
		accounts.ACHCredit: payments.Economy, accounts.WirePayment: payments.Express,
		accounts.InstantPayment: payments.Instant,
	}
	inSpeeds = map[accounts.InMethod]payments.Speed{
		accounts.ACHDebit: payments.Economy, accounts.WireDrawdown: payments.Express,
		accounts.InstantRFP: payments.Instant,
	}
)

// orders are what the sweep may pay and collect.
func (r *running) orders() (all []*payments.Order) {
	order := func(speed payments.Speed, way string) *payments.Order {
		return &payments.Order{
			Sender: payments.Party{UID: r.Run.Account}, Speed: string(speed), Notes: "Sweep", Channel: "Sweep",
			ExternalReferenceID: fmt.Sprintf("SWEEP-%s-%s-%s", r.Run.Account, r.Day.Format("20060102"), way),
		}
	}
	if r.ToContact != nil {
		o := order(outSpeeds[r.ToMethod], "OUT")
		o.Receiver.Contact = *r.ToContact
		all = append(all, o)
	}
	if r.FromContact != nil {
		o := order(inSpeeds[r.FromMethod], "IN")
		o.EntryType, o.Receiver.Contact = rails.Debit, *r.FromContact
		// it may be paid until the day before the next run, which asks anew
		if r.FromMethod == accounts.InstantRFP {
			o.Ask.On = calendar.Today(r.now)
			o.Ask.Expires = r.RunsAfter(r.Day).AddDate(0, 0, -1)
			if o.Ask.Expires.Before(o.Ask.On) {
				o.Ask.Expires = o.Ask.On
			}
		}
		all = append(all, o)
	}
	return all
}

// Next returns when the next sweep of the caller's bank runs, after a time: when its day begins. It is nil if
// none is set up.
func (s *Service) Next(ctx context.Context, after time.Time) (*time.Time, error) {
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return nil, err
	}
	today := ledger.Day(after.In(caller.Location()))
	due, ahead, err := s.accounts.NextSweeps(ctx, today)
	switch {
	case err != nil:
		return nil, err
	case due != nil && !calendar.IsBankingDay(today):
		ahead = &today
	case ahead == nil:
		return nil, nil
	}
	day := calendar.Next(*ahead, 0)
	begins := access.StartOf(day, caller.Location())
	return &begins, nil
}
