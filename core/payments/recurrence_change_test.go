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

// change changes a series, which nobody has to agree to.
func (s *sender) change(t *testing.T, uid payments.RecurrenceUID, d payments.RecurrenceDraft) {
	t.Helper()
	out, err := s.Payments.ChangeRecurrence(s.Staff(), uid, d, changes.RequestOptions{})
	if err != nil || out.Approval != 0 {
		t.Fatal(out, err)
	}
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
	amount := func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
		s.change(t, uid, payments.RecurrenceDraft{Amount: "11"})
	}
	skip := func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
		if _, err := s.Payments.SkipRecurrence(s.Staff(), uid, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		repeat payments.Repetition
		does   func(*sender, *testing.T, payments.RecurrenceUID)
		stands string // then
		paid   string // what is not cancelled, at the end
	}{
		"nothing is changed": {
			daily(on(2026, 11, 24)), func(*sender, *testing.T, payments.RecurrenceUID) {},
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
			daily(on(2026, 11, 24)), func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
				s.change(t, uid, payments.RecurrenceDraft{Amount: "11", End: on(2026, 11, 20)})
			},
			"Completed 1: ", "",
		},
		"an end before they settle": {
			daily(on(2026, 11, 24)), func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
				s.change(t, uid, payments.RecurrenceDraft{End: on(2026, 11, 20)})
			},
			"Completed 1: ", "",
		},
		"one more": {
			byNumber, func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
				s.change(t, uid, payments.RecurrenceDraft{Number: &five})
			},
			"Active 3: 23/11 24/11", "23/11 10.00, 23/11 10.00, 23/11 10.00, 24/11 10.00",
		},
		"the next one is left out": {
			daily(on(2026, 11, 24)), skip, "Active 2: 23/11 24/11", "23/11 10.00, 23/11 10.00, 24/11 10.00",
		},
		"the next two are left out": {
			daily(on(2026, 11, 24)), func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
				skip(s, t, uid)
				skip(s, t, uid)
			},
			"Active 1: 23/11 24/11", "23/11 10.00, 24/11 10.00",
		},
		"the next three are left out": {
			daily(on(2026, 11, 24)), func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
				skip(s, t, uid)
				skip(s, t, uid)
				skip(s, t, uid)
			},
			"Active 1: 24/11", "24/11 10.00",
		},
		"the next one of the last ones by number is left out": {
			three, skip, "Active 2: 24/11", "23/11 10.00, 24/11 10.00",
		},
		"the next one is left out, the others are changed": {
			daily(on(2026, 11, 24)), func(s *sender, t *testing.T, uid payments.RecurrenceUID) {
				skip(s, t, uid)
				amount(s, t, uid)
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
			c.does(s, t, p.Recurrence)
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
