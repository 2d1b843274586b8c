package payments_test

import (
	"strings"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/payments"
)

func daily(end time.Time) payments.Repetition {
	return payments.Repetition{Frequency: "Daily", Until: "EndDate", End: end}
}

// Where each banking day is a date, a series that is changed to go on from another day, or from one whose
// cut-off has passed, goes on from the next day on which a payment settles: it pays that one once.
func TestAChangedSeriesPaysEachBankingDayOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		speed       func(*payments.Order)
		when        string
		from        time.Time
		dates, paid string
	}{
		"a Saturday, by wire": {
			byWire, "2026-11-18 11:00", on(2026, 11, 21), "23/11 24/11 25/11", "18/11, 23/11, 24/11, 25/11, 27/11",
		},
		"a Saturday, over ACH": {
			economy, "2026-11-18 11:00", on(2026, 11, 21), "23/11 24/11 25/11", "19/11, 23/11, 24/11, 25/11, 27/11",
		},
		"a Saturday, over ACH of the same day": {
			sameDay, "2026-11-18 11:00", on(2026, 11, 21), "23/11 24/11 25/11", "18/11, 23/11, 24/11, 25/11, 27/11",
		},
		"a Saturday, at once": {
			instantly, "2026-11-18 11:00", on(2026, 11, 25), "25/11 26/11 27/11", "18/11, 25/11, 26/11, 27/11",
		},
		"a holiday": {byWire, "2026-11-18 11:00", on(2026, 11, 26), "27/11", "18/11, 27/11"},
		"today, after the cut-off": {
			byWire, "2026-11-23 19:30", on(2026, 11, 23), "24/11 25/11 27/11", "18/11, 24/11, 25/11, 27/11",
		},
		"today, before the cut-off": {
			byWire, "2026-11-23 11:00", on(2026, 11, 23), "23/11 24/11 25/11", "18/11, 23/11, 24/11, 25/11, 27/11",
		},
		"tomorrow, whose entries have left": {
			economy, "2026-11-23 22:30", on(2026, 11, 24), "25/11 27/11", "19/11, 25/11, 27/11",
		},
		"today, on which it has paid": {
			instantly, "2026-11-18 11:00", on(2026, 11, 18), "19/11 20/11 21/11",
			"18/11, 19/11, 20/11, 21/11, 22/11, 23/11, 24/11, 25/11, 26/11, 27/11",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", c.speed, func(o *payments.Order) {
				o.Repeat = &payments.Repetition{Frequency: "Monthly", Until: "EndDate", End: on(2026, 12, 31)}
			}))
			s.run(t)
			s.through(t, c.when)
			s.change(t, p.Recurrence, payments.RecurrenceDraft{Frequency: "Daily", Next: c.from, End: on(2026, 11, 27)})
			if got := dates(s.series(t, p.Recurrence).Upcoming(3)); got != c.dates {
				t.Errorf("its dates are %s, want %s", got, c.dates)
			}
			s.through(t, "2026-11-30 19:00")
			want := strings.ReplaceAll(c.paid, ",", " 10.00 PROCESSED,") + " 10.00 PROCESSED"
			if got := s.of(t, p.Recurrence); got != want {
				t.Errorf("%s, want %s", got, want)
			}
			s.Prove()
		})
	}
}

// change changes a series, which nobody has to agree to.
func (s *sender) change(t *testing.T, uid payments.RecurrenceUID, d payments.RecurrenceDraft) {
	t.Helper()
	out, err := s.Payments.ChangeRecurrence(s.Staff(), uid, d, changes.RequestOptions{})
	if err != nil || out.Approval != 0 {
		t.Fatal(out, err)
	}
}

// A change waits for a second person until the series has paid the date from which it is to go on: that one
// is not paid again.
func TestAChangeThatWaitsPaysNoDateThatIsPaidMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit            func(*payments.Order)
		draft           payments.RecurrenceDraft
		asked, approved string
		paid, dates     string
	}{
		"at once": {
			instantly,
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 25)},
			"2026-11-18 11:00", "2026-11-25 10:00", "18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED", "25/12 25/1",
		},
		"of another amount": {
			instantly,
			payments.RecurrenceDraft{Frequency: "Weekly", Next: on(2026, 11, 25), Amount: "12"},
			"2026-11-18 11:00", "2026-11-25 10:00", "18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED", "2/12 9/12",
		},
		"before it is paid": {
			instantly,
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 25)},
			"2026-11-18 11:00", "2026-11-24 10:00", "18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED", "25/12 25/1",
		},
		"over ACH, on its way": {
			func(o *payments.Order) { economy(o); o.Date = on(2026, 11, 20) },
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 27)},
			"2026-11-24 10:00", "2026-11-25 23:00", "20/11 10.00 PROCESSED, 27/11 10.00 PROCESSED", "27/12 27/1",
		},
		"by wire, of the holiday before": {
			func(o *payments.Order) { byWire(o); o.Date = on(2026, 11, 19) },
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 27)},
			"2026-11-24 10:00", "2026-11-27 10:00", "19/11 10.00 PROCESSED, 27/11 10.00 PROCESSED", "27/12 27/1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", c.edit, func(o *payments.Order) { o.Repeat = weekly() }))
			s.run(t)
			s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
				s.from.Customer)
			s.through(t, c.asked)
			out, err := s.Payments.ChangeRecurrence(s.Someone("maker"), p.Recurrence, c.draft, changes.RequestOptions{})
			if err != nil || out.Approval == 0 {
				t.Fatal(out, err)
			}
			s.through(t, c.approved)
			if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
				changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.through(t, "2026-11-30 10:00")
			if got := s.of(t, p.Recurrence); got != c.paid {
				t.Errorf("%s, want %s", got, c.paid)
			}
			if got := dates(s.series(t, p.Recurrence).Upcoming(2)); got != c.dates {
				t.Errorf("its dates are %s, want %s", got, c.dates)
			}
			s.Prove()
		})
	}
}

// A date on which no payment was made for good is none that is paid: the series may go on from it.
func TestASeriesGoesOnFromADateThatIsNotPaid(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10", instantly, func(o *payments.Order) { o.Repeat = weekly() }))
	s.through(t, "2026-11-24 20:00")
	s.Exec(`UPDATE balances SET held = ledger WHERE tenant = ? AND ledger > 0`, s.Tenant)
	s.through(t, "2026-11-25 09:00")
	s.Exec(`UPDATE balances SET held = 0 WHERE tenant = ?`, s.Tenant)
	s.change(t, p.Recurrence, payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 25)})
	s.through(t, "2026-11-25 12:00")
	want := "18/11 10.00 PROCESSED, 25/11 10.00 VALIDATION_FAILURE, 25/11 10.00 PROCESSED"
	if got := s.of(t, p.Recurrence); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	s.Prove()
}

// After days on which the bank did not work two payments of a series wait for the next banking day, Monday
// the 23rd, whose own one is still to be made. What a change cancels of them is made anew, each one.
func TestWhatWaitsOfASeriesIsMadeAnewOnceEach(t *testing.T) {
	t.Parallel()
	four, five := int32(4), int32(5)
	byNumber := payments.Repetition{Frequency: "Daily", Until: "NumberOfPayments", Number: &four}
	three := byNumber
	three.Number = new(int32)
	*three.Number = 3
	amount := func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
		t.Helper()
		s.change(t, uid, payments.RecurrenceDraft{Amount: "11"})
	}
	skip := func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
		t.Helper()
		if _, err := s.Payments.SkipRecurrence(s.Staff(), uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		repeat payments.Repetition
		does   func(*testing.T, *sender, payments.RecurrenceUID)
		stands string // then
		paid   string // what is not cancelled, at the end
	}{
		"nothing is changed": {
			daily(on(2026, 11, 24)), func(*testing.T, *sender, payments.RecurrenceUID) {},
			"Active 3: 23/11 24/11", "23/11 10.00, 23/11 10.00, 23/11 10.00, 24/11 10.00",
		},
		"another amount": {
			daily(on(2026, 11, 24)), amount,
			"Active 1: 19/11 20/11", "23/11 11.00, 23/11 11.00, 23/11 11.00, 24/11 11.00",
		},
		"another amount of a number": {
			byNumber, amount, "Active 1: 19/11 20/11", "23/11 11.00, 23/11 11.00, 23/11 11.00",
		},
		"another amount of the last ones by number": {
			three, amount, "Active 1: 20/11 23/11", "23/11 11.00, 23/11 11.00",
		},
		"another amount of the last ones by date": {
			daily(on(2026, 11, 20)), amount, "Active 1: 19/11 20/11", "23/11 11.00, 23/11 11.00",
		},
		"another amount, and an end before they settle": {
			daily(on(2026, 11, 24)), func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
				t.Helper()
				s.change(t, uid, payments.RecurrenceDraft{Amount: "11", End: on(2026, 11, 20)})
			},
			"Completed 1: ", "",
		},
		"an end before they settle": {
			daily(on(2026, 11, 24)), func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
				t.Helper()
				s.change(t, uid, payments.RecurrenceDraft{End: on(2026, 11, 20)})
			},
			"Completed 1: ", "",
		},
		"one more": {
			byNumber, func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
				t.Helper()
				s.change(t, uid, payments.RecurrenceDraft{Number: &five})
			},
			"Active 3: 23/11 24/11", "23/11 10.00, 23/11 10.00, 23/11 10.00, 24/11 10.00",
		},
		"the next one is left out": {
			daily(on(2026, 11, 24)), skip, "Active 2: 23/11 24/11", "23/11 10.00, 23/11 10.00, 24/11 10.00",
		},
		"the next two are left out": {
			daily(on(2026, 11, 24)), func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
				t.Helper()
				skip(t, s, uid)
				skip(t, s, uid)
			},
			"Active 1: 23/11 24/11", "23/11 10.00, 24/11 10.00",
		},
		"the next three are left out": {
			daily(on(2026, 11, 24)), func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
				t.Helper()
				skip(t, s, uid)
				skip(t, s, uid)
				skip(t, s, uid)
			},
			"Active 1: 24/11", "24/11 10.00",
		},
		"the next one of the last ones by number is left out": {
			three, skip, "Active 2: 24/11", "23/11 10.00, 24/11 10.00",
		},
		"the next one is left out, the others are changed": {
			daily(on(2026, 11, 24)), func(t *testing.T, s *sender, uid payments.RecurrenceUID) {
				t.Helper()
				skip(t, s, uid)
				amount(t, s, uid)
			},
			"Active 1: 20/11 23/11", "23/11 11.00, 23/11 11.00, 24/11 11.00",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", byWire, func(o *payments.Order) { o.Repeat = &c.repeat }))
			s.run(t)
			s.until(t, "2026-11-20 19:00") // a Friday, after the cut-off
			const before = "18/11 10.00 PROCESSED, 23/11 10.00 FUTURE_DATED, 23/11 10.00 FUTURE_DATED"
			if got := s.of(t, p.Recurrence); got != before {
				t.Fatal(got)
			}
			c.does(t, s, p.Recurrence)
			s.stands(t, p.Recurrence, c.stands)
			s.through(t, "2026-11-25 19:00")
			var paid []string
			for _, one := range strings.Split(s.of(t, p.Recurrence), ", ")[1:] {
				if what, is := strings.CutSuffix(one, " PROCESSED"); is {
					paid = append(paid, what)
				} else if !strings.HasSuffix(one, " CANCELLED") {
					t.Error(one)
				}
			}
			if got := strings.Join(paid, ", "); got != c.paid {
				t.Errorf("%s, want %s", got, c.paid)
			}
			s.Prove()
		})
	}
}
