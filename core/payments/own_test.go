package payments_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
)

// bounded is somebody of the bank whose roles bound payments.
func bounded(t *testing.T, b *coretest.Bank, login string, limits ...access.Limit) context.Context {
	t.Helper()
	caller, err := access.Require(b.Someone(login))
	if err != nil {
		t.Fatal(err)
	}
	for i := range limits {
		limits[i].Currency = "USD"
	}
	caller.Limits = []access.ApplicationLimits{{Name: "Payments", Limits: limits}}
	return access.With(t.Context(), caller)
}

func TestAPersonPaysNoMoreInADayAndAMonthThanTheirRolesSay(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	another := s.order("1")
	another.Sender.UID = s.Account(s.Customer(), coretest.Holding(1_000_00, 0), coretest.Sends).UID
	another.Receiver = payments.Receiver{
		Number: "440055551", Name: "Ada Byron", Bank: payments.ReceiverBank{ID: "611590103"},
	}
	who := bounded(t, s.Bank, "clerk", access.Limit{Name: "Daily_Payment_Limits", Minor: 10_00},
		access.Limit{Name: "Monthly_Payment_Limits", Minor: 25_00})
	caller, _ := access.Require(who)
	caller.Client = "another-portal"
	elsewhere := access.With(t.Context(), caller)
	pays := func(who context.Context, o payments.Order, amount, refused string) {
		t.Helper()
		o.Amount = amount
		preview, err := s.Payments.PreviewSend(who, o)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Payments.Send(who, o, changes.RequestOptions{})
		switch {
		case refused == "" && (err != nil || len(preview.Faults) > 0):
			t.Errorf("%s: %v, the preview %v", amount, err, preview.Faults)
		case refused == "":
		case !errors.Is(err, payments.ErrOwnLimit) || !strings.Contains(err.Error(), refused):
			t.Errorf("%s: %v", amount, err)
		case len(preview.Faults) != 1 || !strings.Contains(preview.Faults[0].Error(), refused):
			t.Errorf("%s: the preview tells %v", amount, preview.Faults)
		}
	}
	order := s.order("1")
	pays(who, order, "6", "")
	pays(elsewhere, order, "4.01", "in a day: 4.00 of 10.00 is left")
	pays(who, another, "4.01", "in a day: 4.00 of 10.00 is left")
	pays(s.Someone("another"), order, "100", "") // whose roles do not bound it
	pays(elsewhere, another, "4", "")
	pays(who, order, "0.01", "in a day: 0.00 of 10.00 is left")
	s.Clock.Set(s.Clock.Now().AddDate(0, 0, 1))
	pays(who, order, "10", "")
	s.Clock.Set(s.Clock.Now().AddDate(0, 0, 1))
	pays(who, order, "5.01", "in a month: 5.00 of 25.00 is left")
	s.Clock.Set(s.Clock.Now().AddDate(0, 1, 0))
	pays(who, order, "10", "")
}

// A fee that the request names counts with the amount, of what is paid and of what is collected.
func TestWhatAPersonPaysWithAFeeStaysWithinTheirLimits(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]string{
		"a payment": "Per_Transaction_Payment_Limits", "a day": "Daily_Payment_Limits",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			who := bounded(t, s.Bank, "clerk", access.Limit{Name: limit, Minor: 20_00})
			for kind, ask := range map[string]func(o payments.Order) error{
				"credit": func(o payments.Order) error {
					_, err := s.Payments.Send(who, o, changes.RequestOptions{})
					return err
				},
				"debit": func(o payments.Order) error {
					_, err := s.Payments.RequestDebit(who, o, changes.RequestOptions{})
					return err
				},
			} {
				if err := ask(s.order("10.01", economy, costing("10.00"))); !errors.Is(err, payments.ErrOwnLimit) {
					t.Errorf("a %s of 10.01 with a fee of 10.00: %v", kind, err)
				}
				if err := ask(s.order("5.00", economy, costing("5.00"))); err != nil {
					t.Errorf("a %s of 5.00 with a fee of 5.00: %v", kind, err)
				}
			}
		})
	}
}

// What is refused does not count, and neither what a program pays in the same name.
func TestOnlyWhatAPersonHasMadeCounts(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	who := bounded(t, p.Bank, "clerk", access.Limit{Name: "Daily_Payment_Limits", Minor: 1_000_000_00})
	if _, err := p.transfer(who, p.draft("900000")); err == nil {
		t.Fatal("the account has so much")
	}
	if _, err := p.transfer(p.Staff(), p.draft("1")); err != nil {
		t.Fatal(err)
	}
	who = bounded(t, p.Bank, "clerk", access.Limit{Name: "Daily_Payment_Limits", Minor: 5_00})
	if _, err := p.transfer(who, p.draft("5")); err != nil {
		t.Error(err)
	}
	if _, err := p.transfer(who, p.draft("0.01")); !errors.Is(err, payments.ErrOwnLimit) {
		t.Error(err)
	}
}

func TestWhatAPersonPaysAtOnceStaysWithinTheDay(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	who := bounded(t, p.Bank, "clerk", access.Limit{Name: "Daily_Payment_Limits", Minor: 10_00})
	var made atomic.Int32
	var wait sync.WaitGroup
	for range 12 {
		wait.Go(func() {
			switch _, err := p.transfer(who, p.draft("2")); {
			case err == nil:
				made.Add(1)
			case !errors.Is(err, payments.ErrOwnLimit):
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if made.Load() != 5 {
		t.Errorf("%d payments of 2.00 are within 10.00", made.Load())
	}
}

func TestAPersonApprovesNoMoreInADayThanTheirRolesSay(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(c *customers.Customer) { c.Access.PaymentDualApproval = true })
	who := bounded(t, p.Bank, "checker", access.Limit{Name: "Daily_Payment_Approve_Limits", Minor: 10_00},
		access.Limit{Name: "Monthly_Payment_Approve_Limits", Minor: 12_00})
	approves := func(amount, refused string) {
		t.Helper()
		out, err := p.transfer(p.Someone("maker"), p.draft(amount))
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Changes.Approve(who, changes.UID(out.Approval), changes.RequestOptions{})
		if refused == "" && err != nil || refused != "" && (!errors.Is(err, payments.ErrApproveLimit) ||
			!strings.Contains(err.Error(), refused)) {
			t.Errorf("%s: %v", amount, err)
		}
	}
	approves("6", "")
	approves("4.01", "in a day: 4.00 of 10.00 is left")
	approves("4", "")
	approves("0.01", "in a day: 0.00 of 10.00 is left")
	p.Clock.Set(p.Clock.Now().AddDate(0, 0, 1))
	approves("2.01", "in a month: 2.00 of 12.00 is left")
	approves("2", "")
}

// A batch is made in the name of who asked for it, and a file in that of who uploaded it.
func TestPaymentsThatAreMadeLaterCountForWhoAskedForThem(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	who := bounded(t, s.Bank, "clerk", access.Limit{Name: "Per_Transaction_Payment_Limits", Minor: 8_00},
		access.Limit{Name: "Daily_Payment_Limits", Minor: 10_00},
		access.Limit{Name: "Monthly_Payment_Limits", Minor: 25_00})
	caller, _ := access.Require(who)
	later := access.MakerOf(caller).Caller(caller)
	if got := later.Limits[0].Limits; !slices.Equal(got, caller.Limits[0].Limits) ||
		later.User != caller.User {
		t.Errorf("they are bounded by %+v", got)
	}
	var orders []*payments.Order
	for _, amount := range []string{"6", "8.01", "5", "4"} {
		o := s.order(amount)
		orders = append(orders, &o)
	}
	var made []payments.Made
	err := s.DB.InTx(t.Context(), int64(s.Tenant), func(ctx context.Context, tx db.Tx) (err error) {
		made, err = s.Payments.MakeAllTx(ctx, tx, later, s.from.Customer, orders, true, s.Now())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false, true} {
		if f, is := fault.Of(made[i].Why); want != (made[i].Why == nil) || is && !payments.ErrOwnLimit.Is(f) {
			t.Errorf("%s: %v", orders[i].Amount, made[i].Why)
		}
	}
}

// Who lets a series pay another amount, on other days or for longer makes one payment of it, as far as their
// day and month go.
func TestAChangeOfASeriesStaysWithinTheDayOfWhoMakesIt(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	who := bounded(t, s.Bank, "clerk", access.Limit{Name: "Daily_Payment_Limits", Minor: 10_00},
		access.Limit{Name: "Monthly_Payment_Limits", Minor: 25_00})
	number := int32(9)
	began, err := s.Payments.Send(who, s.order("1", func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "NumberOfPayments", Number: &number}
	}), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changing := func(d payments.RecurrenceDraft, refused string) {
		t.Helper()
		_, err := s.Payments.ChangeRecurrence(who, began.Result.Recurrence, d, changes.RequestOptions{})
		f, is := fault.Of(err)
		switch {
		case refused == "" && err != nil:
			t.Errorf("%+v: %v", d, err)
		case refused != "" && (!is || !errors.Is(err, payments.ErrOwnLimit) || f.Field != "amount" ||
			!strings.Contains(err.Error(), refused)):
			t.Errorf("%+v: %v (%+v)", d, err, f)
		}
		s.run(t)
	}
	today := payments.RecurrenceDraft{Frequency: "Daily", Next: on(2026, 11, 18)}
	changing(payments.RecurrenceDraft{Amount: "5000"}, "in a day: 9.00 of 10.00 is left")
	changing(payments.RecurrenceDraft{Amount: "5000", Frequency: "Daily", Next: today.Next}, "in a day: 9.00")
	changing(payments.RecurrenceDraft{Amount: "4", Frequency: "Daily", Next: today.Next}, "")
	changing(today, "")
	changing(today, "in a day: 1.00 of 10.00 is left")
	longer := int32(20)
	changing(payments.RecurrenceDraft{Number: &longer}, "in a day: 1.00 of 10.00 is left")
	shorter := int32(8)
	changing(payments.RecurrenceDraft{Number: &shorter}, "")
	if got := s.of(t, began.Result.Recurrence); got != "18/11 1.00 PROCESSED" { // a day is paid once
		t.Error(got)
	}
	s.until(t, "2026-11-19 09:00")
	changing(payments.RecurrenceDraft{Amount: "10"}, "")
	s.until(t, "2026-11-20 09:00")
	changing(payments.RecurrenceDraft{Amount: "7"}, "in a month: 6.00 of 25.00 is left")
	s.Prove()
}

// What waits for a second person counts for who asked for it, once; the second person is bounded by what they
// may approve.
func TestAChangeOfASeriesThatWaitsCountsForWhoAskedForIt(t *testing.T) {
	t.Parallel()
	s := newSender(t, dual)
	out, err := s.Payments.Send(s.Staff(), s.order("1", func(o *payments.Order) { o.Repeat = weekly() }),
		changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	began := out.Result
	who := bounded(t, s.Bank, "clerk", access.Limit{Name: "Daily_Payment_Limits", Minor: 10_00})
	change := func(amount string) (changes.UID, error) {
		out, err := s.Payments.ChangeRecurrence(who, began.Recurrence, payments.RecurrenceDraft{Amount: amount},
			changes.RequestOptions{})
		return changes.UID(out.Approval), err
	}
	if _, err := change("10.01"); !errors.Is(err, payments.ErrOwnLimit) {
		t.Error(err)
	}
	waits, err := change("6")
	if err != nil {
		t.Fatal(err)
	}
	checker := bounded(t, s.Bank, "checker", access.Limit{Name: "Daily_Payment_Limits", Minor: 1_00})
	if _, err := s.Changes.Approve(checker, waits, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := change("4.01"); !errors.Is(err, payments.ErrOwnLimit) {
		t.Error(err)
	}
	if _, err := change("4"); err != nil {
		t.Error(err)
	}
}

// Two payments at midnight are of different days and of one month, whichever is written first.
func TestWhatAPersonPaysAtMidnightStaysWithinTheMonth(t *testing.T) {
	t.Parallel()
	for name, times := range map[string][]string{
		"the earlier one first": {"2026-11-18 23:59", "2026-11-19 00:00"},
		"the later one first":   {"2026-11-19 00:00", "2026-11-18 23:59"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t)
			who := bounded(t, p.Bank, "clerk", access.Limit{Name: access.PaidPerMonth, Minor: 25_00})
			caller, _ := access.Require(who)
			first, second := p.draft("20"), p.draft("20")
			second.Sender.UID = p.Account(p.Customer(), coretest.Holding(100_00, 0)).UID
			second.Receiver.UID = p.Account(p.Customer()).UID
			pay := func(ctx context.Context, tx db.Tx, d payments.Draft, when string) error {
				made, err := p.Payments.TransferTx(ctx, tx, caller, d, at(t, when))
				return errors.Join(made.Why, err)
			}
			paid := make(chan error, 1)
			err := p.DB.InTx(t.Context(), int64(p.Tenant), func(ctx context.Context, tx db.Tx) error {
				err := pay(ctx, tx, first, times[0])
				go func() {
					paid <- p.DB.InTx(t.Context(), int64(p.Tenant), func(ctx context.Context, tx db.Tx) error {
						return pay(ctx, tx, second, times[1])
					})
				}()
				select {
				case refused := <-paid: // which did not wait for the first one
					paid <- refused
				case <-time.After(time.Second):
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if err := <-paid; !errors.Is(err, payments.ErrOwnLimit) ||
				!strings.Contains(err.Error(), "in a month: 5.00 of 25.00 is left") {
				t.Error(err)
			}
		})
	}
}
