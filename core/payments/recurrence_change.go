package payments

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/check"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/money"
	"bankgraph/core/rails"
	"bankgraph/core/rails/calendar"
)

// RecurrenceDraft is what a request says about changing a series (rest/CONTRACT.md, recurrences). What is
// absent stays.
type RecurrenceDraft struct {
	Payment   UID       `json:"paymentUID,omitempty"` // one of the series, where the request names one
	End       time.Time `json:"endDate,omitzero"`     // midnight UTC
	Number    *int32    `json:"numberOfPayments,omitempty"`
	Frequency string    `json:"frequency,omitempty"`
	Amount    string    `json:"amount,omitempty"`         // decimal, in the currency of the series
	Next      time.Time `json:"nextPaymentDate,omitzero"` // goes with Frequency, and is ignored without it
}

// changingSeries is the name of ChangeRecurrence in the record.
const changingSeries = "changeRecurrence"

func (d *RecurrenceDraft) check() error {
	c := check.Of(recurrenceObject)
	if *d == (RecurrenceDraft{Payment: d.Payment, Next: d.Next}) {
		c.Fail("body", fault.Required, "give at least one of amount, frequency, endDate and numberOfPayments")
	}
	if d.Number != nil && *d.Number < 1 {
		c.Fail("numberOfPayments", fault.Min, "must be at least 1")
	}
	if d.Number != nil && *d.Number > mostPaymentsStrict {
		c.Fail("numberOfPayments", fault.Max, fmt.Sprintf("must be at most %d", mostPaymentsStrict))
	}
	if d.Frequency != "" {
		d.Frequency = string(check.OneOf(c, "frequency", d.Frequency, Frequencies...))
		if d.Next.IsZero() {
			c.Fail("nextPaymentDate", fault.Required, "is required with frequency")
		}
	}
	if d.Amount != "" {
		c.BankAmount("amount", d.Amount, 15)
		if d.Amount[0] == '-' || strings.Trim(d.Amount, "0.") == "" {
			c.Fail("amount", fault.Min, "must be greater than 0")
		}
	}
	return c.Err()
}

func (s *Service) changeTx(
	ctx context.Context, tx *changes.Tx, at changes.Target, d RecurrenceDraft,
) (RecurrenceSaved, error) {
	needed := false
	l := s.changing(func(*customers.Held, *Recurrence, *Recurrence) bool { return needed })
	r, err := l.Modify(ctx, tx, at, func(was, r *Recurrence) error {
		if err := r.isOneTx(ctx, tx, d.Payment); err != nil {
			return err
		}
		if err := l.goesOn(r); err != nil {
			return err
		}
		err := s.modifyTx(ctx, tx, l, r, d)
		if err == nil {
			needed, err = s.needsApprovalTx(ctx, tx, l, was, r, d)
		}
		return err
	})
	return savedRecurrence(r), err
}

// needsApprovalTx reports whether people have to agree to a change of a series, and sets how many and which:
// as for one of its payments. Who agrees must be allowed to approve such a payment.
func (s *Service) needsApprovalTx(
	ctx context.Context, tx *changes.Tx, l *series, was, r *Recurrence, d RecurrenceDraft,
) (bool, error) {
	f, err := settingsTx(ctx, tx.Tx, r.Tenant, r.Account)
	if err == nil && f.parties[r.Account] == nil {
		err = ErrAccount.On("account")
	}
	if err != nil {
		return false, err
	}
	committed, err := r.committedTx(ctx, tx)
	if err != nil {
		return false, err
	}
	next := one(r.Account, r.EntryType, r.Rail, r.Amount())
	next.CustomFeeMinor = committed.Minor - r.Minor
	pays := d.Amount != "" || d.Frequency != "" || r.longer(was)
	needed := f.needsSecond(r.Account) || pays && f.callback(next)
	if needed {
		l.Approvers, l.Decides = f.approvers(next)
	}
	if needed && !tx.NeedsApproval(needed) {
		err = ApproveTx(ctx, tx.Tx, tx.Caller, committed, committed, tx.Now)
	}
	return needed, err
}

// mayChangeTx is called when the first of two people agrees to a change of a series: the series stays as it
// is. The first must be allowed to approve such a payment, as the second is (needsApprovalTx).
func (s *Service) mayChangeTx(ctx context.Context, tx *changes.Tx, at changes.Target) (int32, error) {
	return s.changing(nil).Agree(ctx, tx, at, func(r *Recurrence) error {
		var d RecurrenceDraft
		if err := tx.ReadDraft(&d); err != nil {
			return err
		}
		if d.Amount != "" { // which was read when it was asked for
			amount, err := money.Parse(d.Amount, r.Currency)
			if err != nil {
				return err
			}
			r.Minor = amount.Minor
		}
		committed, err := r.committedTx(ctx, tx)
		if err != nil {
			return err
		}
		return ApproveTx(ctx, tx.Tx, tx.Caller, committed, committed, tx.Now)
	})
}

// isOneTx returns ErrNoRecurrence unless the payment belongs to the series. UID 0 belongs to every series.
func (r *Recurrence) isOneTx(ctx context.Context, tx *changes.Tx, uid UID) error {
	if uid == 0 {
		return nil
	}
	there, err := tx.NewSelect().Model((*Payment)(nil)).Where("pay.tenant = ?", tx.Caller.Tenant).
		Where("pay.uid = ?", uid).
		Where("pay.recurrence = ?", r.UID).Exists(ctx)
	if err == nil && !there {
		err = ErrNoRecurrence
	}
	return err
}

// modifyTx changes a series. Payments that wait for their day and that the change affects are cancelled, and
// as many made anew on theirs.
func (s *Service) modifyTx(
	ctx context.Context, tx *changes.Tx, l *series, r *Recurrence, d RecurrenceDraft,
) error {
	today := r.today(tx.Caller, tx.Now)
	next, dropped := l.next(r), l.later(d.End)
	if d.Amount != "" || d.Frequency != "" {
		if len(dropped) < len(l.waiting) { // some of which are made anew: the series goes back by as many dates
			next = r.before(next, len(l.waiting))
		}
		dropped = l.waiting
	}
	l.drops(s, r, dropped, "the series is changed")
	before, c := *r, check.Of(recurrenceObject)
	switch {
	case d.End.IsZero():
	case r.Until != UntilEndDate:
		c.Fail("endDate", fault.Forbidden, "is for a series that ends by date")
	case d.End.Before(today):
		c.Fail("endDate", fault.Min, "must be today or later")
	default:
		r.End = &d.End
	}
	switch {
	case d.Number == nil:
	case r.Until != UntilNumber:
		c.Fail("numberOfPayments", fault.Forbidden, "is for a series that ends by number")
	case *d.Number < r.Made:
		c.Fail("numberOfPayments", fault.Min, fmt.Sprintf("must be at least %d, as many as have been made", r.Made))
	default:
		r.Number = d.Number
	}
	switch {
	case d.Frequency == "":
	case d.Next.Before(today):
		c.Fail("nextPaymentDate", fault.Min, "must be today or later")
	case d.Next.After(today.AddDate(1, 0, 0)):
		c.Fail("nextPaymentDate", fault.Max, "must be at most a year from today")
	default:
		r.Frequency, r.CountsFrom = Frequency(d.Frequency), d.Next
		passed, err := r.passedTx(ctx, tx)
		if err != nil {
			return err
		}
		next = r.after(passed)
	}
	if err := c.Err(); err != nil {
		return err
	}
	r.Status = RecurrenceActive
	r.goOn(next)
	if d.Amount != "" {
		return s.setAmountTx(ctx, tx, l, r, d.Amount)
	}
	if d.Frequency != "" || r.longer(&before) {
		return r.mayPayTx(ctx, tx)
	}
	return nil
}

// unpaid are the states of payments that leave the date of a series to be paid.
var unpaid = append(slices.Clone(StatesThatWait), Repair, Invalid, Rejected, Expired, Cancelled)

// passedTx returns a day up to which a series that goes on from CountsFrom has nothing to pay any more: that of
// its newest payment, which it may have made while the change waited, or, if each banking day is a date, the
// one before the first on which a payment can still settle.
func (r *Recurrence) passedTx(ctx context.Context, tx *changes.Tx) (passed time.Time, err error) {
	var paid []time.Time
	err = tx.NewSelect().Model((*Payment)(nil)).Column("payment_date").Where("pay.tenant = ?", r.Tenant).
		Where("pay.recurrence = ?", r.UID).Where("pay.state NOT IN (?)", bun.List(unpaid)).
		OrderExpr("pay.uid DESC").Limit(1).Scan(ctx, &paid)
	if err != nil {
		return passed, fmt.Errorf("read what series %s has paid: %w", r.UID, err)
	}
	if len(paid) > 0 {
		passed = paid[0]
	}
	if r.everyBankingDay() {
		passed = later(passed, r.settles(r.CountsFrom, tx.Now).AddDate(0, 0, -1))
	}
	return passed, nil
}

// settles returns the day on which a payment over the network of the series settles that is made on a day, or
// now if that has come.
func (r *Recurrence) settles(day, now time.Time) time.Time {
	return calendar.Default().Plan(service(r.Speed, r.Rail), now, day).Settles
}

// longer reports whether a series pays for longer than it did before.
func (r *Recurrence) longer(before *Recurrence) bool {
	return before.End != nil && r.End.After(*before.End) || before.Number != nil && *r.Number > *before.Number
}

// committedTx returns what one payment of the series is of for who asks for it (Payment.Committed): with a
// fee that the series names.
func (r *Recurrence) committedTx(ctx context.Context, tx *changes.Tx) (money.Amount, error) {
	amount, fee := r.Amount(), int64(0)
	err := tx.NewRaw(`SELECT coalesce((SELECT custom_fee FROM payments WHERE tenant = ? AND uid = ?), 0)`,
		r.Tenant, r.Last).Scan(ctx, &fee)
	amount.Minor += fee
	return amount, err
}

// mayPayTx returns a fault for a series above what the person who asks for a change may pay. The change counts
// for that person's day and month as one payment of the series, like the payment that begins one.
func (r *Recurrence) mayPayTx(ctx context.Context, tx *changes.Tx) error {
	if !tx.NeedsApproval(true) { // it was asked for by another person, whom that bounded
		return nil
	}
	committed, err := r.committedTx(ctx, tx)
	if err != nil {
		return err
	}
	err = paid.doneTx(ctx, tx.Tx, tx.Caller, committed, committed, tx.Now)
	return fault.Called(err, calledInSeries)
}

// today returns the current day for the payments of a series.
func (r *Recurrence) today(by access.Caller, now time.Time) time.Time {
	if r.Speed == "" {
		return ledger.Day(now.In(by.Location()))
	}
	return calendar.Today(now)
}

// setAmountTx sets the amount of the payments to come, if limits allow the next one, without those that the
// change cancels.
func (s *Service) setAmountTx(
	ctx context.Context, tx *changes.Tx, l *series, r *Recurrence, text string,
) error {
	amount, err := money.Parse(text, r.Currency)
	if err != nil {
		return fault.Field(recurrenceObject, "amount", fault.Malformed,
			fmt.Sprintf("must be an amount of %s with at most %d decimals", r.Currency, r.Currency.Digits()))
	}
	r.Minor = amount.Minor
	if err := r.mayPayTx(ctx, tx); err != nil {
		return err
	}
	if r.Speed == "" || r.Next == nil {
		return nil
	}
	carried := int64(0)
	for _, rail := range networks[r.Speed] {
		carried = max(carried, most[service(r.Speed, rail)])
	}
	if amount.Minor > carried {
		return fault.Called(ErrNetworkLimit, calledInSeries)
	}
	next := &run{Recurrence: r}
	if err := s.readDraft(next); err != nil {
		return err
	}
	day := r.settles(*r.Next, tx.Now)
	f, err := s.gatherTx(ctx, tx.Tx, r.Tenant, want{
		payers: []Party{{UID: r.Account}}, from: calendar.Today(tx.Now), to: day,
	})
	if err != nil {
		return err
	}
	if err := r.bears(f, tx.Caller, next.order.Fee); err != nil {
		return err
	}
	for _, p := range l.waiting {
		p.uncount(f.limits)
	}
	over := f.limits.Exceeds(limits.Planned{
		Customer: r.Customer, Rail: r.Rail, Day: day, Amount: amount, EntryType: r.entryTypeOfLimits(),
		SECCode: next.order.SECCode,
	})
	if over != nil {
		return fault.Called(exceeds(tx.Caller, over), calledInSeries)
	}
	return nil
}

// bears returns a fault for a series of debits that collect less than the fee that its order names: none of
// them could be made.
func (r *Recurrence) bears(f *facts, by access.Caller, fee *CustomFee) error {
	p := &Payment{
		Customer: r.Customer, Direction: Out, EntryType: r.EntryType, Speed: r.Speed, Minor: r.Minor,
		Currency: r.Currency, ReceiverAccount: r.Account,
	}
	if !p.Collects() {
		return nil
	}
	by.Reach = access.OfBank // which makes the payments
	if err := f.price(by, p, fee); err != nil {
		return fault.Field(recurrenceObject, "amount", fault.Min,
			"must be at least the fee of each payment, "+fee.Amount)
	}
	return nil
}

// entryTypeOfLimits returns the kind of entry by which limits of the network count.
func (r *Recurrence) entryTypeOfLimits() rails.EntryType {
	if r.Rail == rails.ACH {
		return r.EntryType
	}
	return ""
}

// calledInSeries are the fields that have another name in changes of series than in payments.
var calledInSeries = map[string]string{"paymentAmount": "amount"}
