package payments_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/ledger"
	"bankgraph/core/page"
	"bankgraph/core/payments"
	"bankgraph/db"
)

func on(year int, month time.Month, day int) time.Time {
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// dates writes days as in 30/11.
func dates(days []time.Time) string {
	var all []string
	for _, day := range days {
		all = append(all, day.Format("2/1"))
	}
	return strings.Join(all, " ")
}

func TestTheDatesOfASeriesAreCountedFromItsFirst(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		frequency payments.Frequency
		from      time.Time
		speed     payments.Speed
		want      string
	}{
		{payments.Daily, on(2026, 12, 30), "", "30/12 31/12 1/1 2/1"},
		// a holiday and a weekend between
		{payments.Daily, on(2026, 12, 31), payments.Economy, "31/12 4/1 5/1 6/1"},
		// a Saturday, which changes of earlier releases have set: it is paid on Monday
		{payments.Daily, on(2027, 1, 2), payments.Economy, "2/1 5/1 6/1 7/1"},
		{payments.Daily, on(2026, 12, 31), payments.Instant, "31/12 1/1 2/1 3/1"},
		{payments.Weekly, on(2026, 12, 24), "", "24/12 31/12 7/1 14/1"},
		{payments.BiWeekly, on(2028, 2, 15), "", "15/2 29/2 14/3 28/3"},
		{payments.Monthly, on(2027, 12, 31), "", "31/12 31/1 29/2 31/3"}, // a leap year
		{payments.Monthly, on(2027, 1, 30), "", "30/1 28/2 30/3 30/4"},
		{payments.Quarterly, on(2026, 11, 30), "", "30/11 28/2 30/5 30/8"},
		{payments.SemiAnnually, on(2026, 8, 31), "", "31/8 28/2 31/8 29/2"},
		{payments.Yearly, on(2028, 2, 29), "", "29/2 28/2 28/2 28/2"},
	} {
		r := payments.Recurrence{
			Frequency: c.frequency, CountsFrom: c.from, Next: &c.from, Speed: c.speed, Until: payments.UntilCancelled,
			Status: payments.RecurrenceActive,
		}
		if got := dates(r.Upcoming(4)); got != c.want {
			t.Errorf("%s from %s %s: %s, want %s", c.frequency, c.from.Format(time.DateOnly), c.speed, got, c.want)
		}
	}
	four, last := int32(4), on(2026, 12, 3)
	for _, c := range []struct {
		r    payments.Recurrence
		want string
	}{
		{payments.Recurrence{Made: 2, Number: &four}, "26/11 3/12"},
		{payments.Recurrence{End: &last}, "26/11 3/12"},
		{payments.Recurrence{Status: payments.RecurrenceCancelled}, ""},
	} {
		first := on(2026, 11, 26)
		c.r.Frequency, c.r.CountsFrom, c.r.Next = payments.Weekly, first, &first
		if c.r.Status == "" {
			c.r.Status = payments.RecurrenceActive
		}
		if got := dates(c.r.Upcoming(9)); got != c.want {
			t.Errorf("%+v: %s, want %s", c.r, got, c.want)
		}
	}
}

// through is until in steps of an hour, with which no window is missed.
func (s *sender) through(t *testing.T, text string) {
	t.Helper()
	for end := at(t, text); s.Clock.Now().Before(end); {
		s.Clock.Set(s.Clock.Now().Truncate(time.Hour).Add(time.Hour))
		s.run(t)
	}
}

func monthly(n int32) *payments.Repetition {
	return &payments.Repetition{Frequency: "Monthly", Until: "NumberOfPayments", Number: &n}
}

func weekly() *payments.Repetition {
	return &payments.Repetition{Frequency: "Weekly", Until: "Cancelled"}
}

// of returns the payments of a series, oldest first, as in "18/11 10.00 PROCESSED".
func (s *sender) of(t *testing.T, uid payments.RecurrenceUID) string {
	t.Helper()
	found, err := s.Payments.Page(s.Staff(), payments.Search{Recurrence: uid}, page.First(50))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, p := range found.Items {
		all = append([]string{fmt.Sprintf("%s %s %s", p.Date.Format("2/1"), p.Amount(), p.Status())}, all...)
	}
	return strings.Join(all, ", ")
}

// series reads a series.
func (s *sender) series(t *testing.T, uid payments.RecurrenceUID) *payments.Recurrence {
	t.Helper()
	b := s.Core.Batch()
	found := s.Payments.FindRecurrences(s.Staff(), b, []payments.RecurrenceUID{uid}, db.Columns{})
	if err := b.Send(s.Staff()); err != nil || len(found.Of[uid]) != 1 {
		t.Fatal(err, found.Err, found.Of)
	}
	return found.Of[uid][0]
}

// stands fails the test unless the series has this status, so many payments, and these dates to come.
func (s *sender) stands(t *testing.T, uid payments.RecurrenceUID, want string) {
	t.Helper()
	r := s.series(t, uid)
	if got := fmt.Sprintf("%s %d: %s", r.Status, r.Made, dates(r.Upcoming(2))); got != want {
		t.Errorf("the series is %q, want %q", got, want)
	}
}

func TestASeriesOfTransfersIsMadeOnItsDays(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	to := s.Account(s.Customer())
	out, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "10",
		ExternalReferenceID: "RENT", Repeat: monthly(3),
	}, changes.RequestOptions{})
	if err != nil || out.Result.Recurrence == 0 {
		t.Fatal(out, err)
	}
	uid := out.Result.Recurrence
	s.stands(t, uid, "Active 1: 18/12 18/1")
	s.until(t, "2026-12-17 23:59")
	if got := s.of(t, uid); got != "18/11 10.00 PROCESSED" {
		t.Error(got)
	}
	s.until(t, "2026-12-18 00:00")
	s.until(t, "2026-12-18 00:01")
	s.until(t, "2027-03-18 12:00")
	s.has(t, 100_000_00-30_00, 0)
	if got, want := s.of(t,
		uid), "18/11 10.00 PROCESSED, 18/12 10.00 PROCESSED, 18/3 10.00 PROCESSED"; got != want {
		t.Error(got, "want", want) // the third, which was due in January, is of the day on which the bank made it
	}
	s.stands(t, uid, "Completed 3: ")
	found, err := s.Payments.Page(s.Staff(), payments.Search{Recurrence: uid}, page.First(1))
	if err != nil || found.Total != 3 {
		t.Fatal(found, err)
	}
	newest := found.Items[0]
	if newest.ExternalReferenceID != "RENT" || newest.ReceiverAccount != to.UID || newest.MakerLogin != "" ||
		newest.Series.UID != uid || newest.Series.Last != newest.UID || newest.Series.Status != "Completed" {
		t.Errorf("%+v", newest)
	}
	s.Prove()
}

// A series over a network is planned as single payments are: a date on which it rests is that of the next
// day.
func TestASeriesOverANetworkSettlesWhenThatDoes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit  func(*payments.Order)
		until string
		want  string
	}{
		"Instant": {
			instantly, "2026-12-02 00:00",
			"18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED, 2/12 10.00 PROCESSED",
		},
		"Express": {
			byWire, "2026-12-02 18:30",
			"18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED, 3/12 10.00 FUTURE_DATED",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", c.edit, func(o *payments.Order) { o.Repeat = weekly() }))
			s.run(t)
			s.until(t, "2026-11-25 00:00")
			s.until(t, "2026-11-25 00:01")
			s.until(t, c.until)
			s.run(t)
			if got := s.of(t, p.Recurrence); got != c.want {
				t.Error(got, "want", c.want)
			}
			s.Prove()
		})
	}
}

// Entries of ACH leave a banking day before; Saturday the 5th of December is paid on Monday, and leaves on
// Friday.
func TestASeriesOfACHLeavesABankingDayBefore(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	p := s.send(t, s.order("10", economy, func(o *payments.Order) {
		o.Date, o.Repeat = on(2026, 12, 1), &payments.Repetition{
			Frequency: "Daily", Until: "EndDate",
			End: on(2026, 12, 9),
		}
	}))
	if got := s.of(t, p.Recurrence); got != "1/12 10.00 FUTURE_DATED" {
		t.Fatal(got)
	}
	s.until(t, "2026-11-29 23:59")
	s.stands(t, p.Recurrence, "Active 1: 2/12 3/12")
	s.through(t, "2026-12-03 00:30") // on Thursday that of Friday is made
	s.stands(t, p.Recurrence, "Active 4: 7/12 8/12")
	s.through(t, "2026-12-09 09:00")
	want := "1/12 10.00 PROCESSED, 2/12 10.00 PROCESSED, 3/12 10.00 PROCESSED, 4/12 10.00 PROCESSED, " +
		"7/12 10.00 PROCESSED, 8/12 10.00 PROCESSED, 9/12 10.00 PROCESSED"
	if got := s.of(t, p.Recurrence); got != want {
		t.Error(got, "want", want)
	}
	s.stands(t, p.Recurrence, "Completed 7: ")
	s.Prove()
}

func TestTheNextPaymentOfASeriesIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	skip := func(uid payments.RecurrenceUID) error {
		_, err := s.Payments.SkipRecurrence(s.Staff(), uid, changes.RequestOptions{})
		return err
	}
	p := s.send(t, s.order("10", func(o *payments.Order) { o.Repeat = weekly() }))
	if err := skip(p.Recurrence); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	s.stands(t, p.Recurrence, "Active 1: 2/12 9/12")
	s.until(t, "2026-12-01 00:00")
	if got := s.of(t, p.Recurrence); got != "18/11 10.00 PROCESSED" {
		t.Error(got)
	}
	// one that waits for its day is cancelled, and the series is longer for it
	two := int32(2)
	q := s.send(t, s.order("20", func(o *payments.Order) {
		o.Date = on(2026, 12, 10)
		o.Repeat = &payments.Repetition{Frequency: "Weekly", Until: "NumberOfPayments", Number: &two}
	}))
	if err := skip(q.Recurrence); err != nil {
		t.Fatal(err)
	}
	if got := s.of(t, q.Recurrence); got != "10/12 20.00 CANCELLED" {
		t.Error(got)
	}
	s.stands(t, q.Recurrence, "Active 0: 17/12 24/12")
	// the last one, too
	one := s.send(t, s.order("30", func(o *payments.Order) {
		o.Date = on(2026, 12, 10)
		number := int32(1)
		o.Repeat = &payments.Repetition{Frequency: "Weekly", Until: "NumberOfPayments", Number: &number}
	}))
	s.stands(t, one.Recurrence, "Completed 1: ")
	if err := skip(one.Recurrence); err != nil {
		t.Fatal(err)
	}
	s.stands(t, one.Recurrence, "Active 0: 17/12")
	s.Prove()
}

func TestASeriesEndsWhenItIsCancelled(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	cancel := func(uid payments.RecurrenceUID) error {
		_, err := s.Payments.CancelRecurrence(s.Staff(), uid, payments.Cancellation{Source: "PORTAL"},
			changes.RequestOptions{Reason: "moved house"})
		return err
	}
	p := s.send(t, s.order("10", func(o *payments.Order) { o.Date, o.Repeat = on(2026, 12, 10), weekly() }))
	if err := cancel(p.Recurrence); err != nil {
		t.Fatal(err)
	}
	if got := s.of(t, p.Recurrence); got != "10/12 10.00 CANCELLED" {
		t.Error(got)
	}
	r := s.series(t, p.Recurrence)
	if r.Status != payments.RecurrenceCancelled || r.Reason != "moved house" ||
		r.Source != "PORTAL" || r.Next != nil {
		t.Errorf("%+v", r)
	}
	skip := func() error {
		_, err := s.Payments.SkipRecurrence(s.Staff(), p.Recurrence, changes.RequestOptions{})
		return err
	}
	change := func() error {
		_, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, payments.RecurrenceDraft{Amount: "5"},
			changes.RequestOptions{})
		return err
	}
	for _, again := range []func() error{func() error { return cancel(p.Recurrence) }, skip, change} {
		if err := again(); !errors.Is(err, payments.ErrRecurrenceOver) {
			t.Error(err)
		}
	}
	s.until(t, "2026-12-31 00:00")
	s.has(t, 100_000_00, 0)
	// what is on its way stays
	q := s.send(t, s.order("10", func(o *payments.Order) { o.Repeat = weekly() }))
	if err := cancel(q.Recurrence); err != nil {
		t.Fatal(err)
	}
	s.run(t)
	if got := s.of(t, q.Recurrence); !strings.HasSuffix(got, "PROCESSED") {
		t.Error(got)
	}
	s.Prove()
}

func TestTheRestOfASeriesIsChanged(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"INSTANT_PAYMENT_LIMIT_PER_TRANSACTION", 900_00)
	p := s.send(t, s.order("10", func(o *payments.Order) { o.Date, o.Repeat = on(2026, 11, 20), weekly() }))
	five := int32(5)
	change := func(d payments.RecurrenceDraft) error {
		_, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, d, changes.RequestOptions{})
		return err
	}
	for name, c := range map[string]struct {
		draft payments.RecurrenceDraft
		field string
		is    error
	}{
		"nothing":          {payments.RecurrenceDraft{}, "body", nil},
		"a day alone":      {payments.RecurrenceDraft{Next: on(2026, 12, 1)}, "body", nil},
		"no amount":        {payments.RecurrenceDraft{Amount: "0.00"}, "amount", nil},
		"half a cent":      {payments.RecurrenceDraft{Amount: "1.005"}, "amount", nil},
		"beyond a limit":   {payments.RecurrenceDraft{Amount: "900.01"}, "amount", payments.ErrLimit},
		"beyond a network": {payments.RecurrenceDraft{Amount: "1000000.01"}, "amount", payments.ErrNetworkLimit},
		"an unknown word": {
			payments.RecurrenceDraft{Frequency: "Hourly", Next: on(2026, 12, 1)},
			"frequency", nil,
		},
		"no next day": {payments.RecurrenceDraft{Frequency: "Monthly"}, "nextPaymentDate", nil},
		"a day in the past": {
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 17)},
			"nextPaymentDate", nil,
		},
		"a day far ahead": {
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2027, 11, 19)},
			"nextPaymentDate", nil,
		},
		"an end":   {payments.RecurrenceDraft{End: on(2026, 12, 1)}, "endDate", nil},
		"a number": {payments.RecurrenceDraft{Number: &five}, "numberOfPayments", nil},
	} {
		err := change(c.draft)
		if f, is := fault.Of(err); !is || f.Field != c.field || c.is != nil && !errors.Is(err, c.is) {
			t.Errorf("%s: %v (%+v)", name, err, f)
		}
	}
	s.stands(t, p.Recurrence, "Active 1: 27/11 4/12")
	if err := change(payments.RecurrenceDraft{Amount: "12.50"}); err != nil {
		t.Fatal(err)
	}
	// the one that waited for its day is made anew then
	s.stands(t, p.Recurrence, "Active 0: 20/11 27/11")
	s.until(t, "2026-11-20 00:00")
	if got := s.of(t, p.Recurrence); got != "20/11 10.00 CANCELLED, 20/11 12.50 PROCESSED" {
		t.Error(got)
	}
	if err := change(payments.RecurrenceDraft{Frequency: "monthly", Next: on(2026, 11, 30)}); err != nil {
		t.Fatal(err)
	}
	s.stands(t, p.Recurrence, "Active 1: 30/11 30/12")

	q := s.send(t, s.order("1", func(o *payments.Order) { o.Repeat = monthly(3) }))
	extend := func(number int32) error {
		_, err := s.Payments.ChangeRecurrence(s.Staff(), q.Recurrence, payments.RecurrenceDraft{Number: &number},
			changes.RequestOptions{})
		return err
	}
	if err := extend(2); err != nil {
		t.Fatal(err)
	}
	if got := dates(s.series(t, q.Recurrence).Upcoming(9)); got != "20/12" {
		t.Error(got)
	}
	if err := extend(1); err != nil {
		t.Fatal(err)
	}
	s.stands(t, q.Recurrence, "Completed 1: ")
	s.Prove()
}

// A series waits with its first payment, and is changed by two people too.
func TestASeriesWaitsForASecondPersonWhereSettingsAsk(t *testing.T) {
	t.Parallel()
	s := newSender(t, dual)
	send := func() (payments.Saved, changes.UID) {
		t.Helper()
		out, err := s.Payments.Send(s.Someone("maker"), s.order("10",
			func(o *payments.Order) { o.Repeat = weekly() }), changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return out.Result, changes.UID(out.Approval)
	}
	approved, first := send()
	refused, second := send()
	withdrawn, third := send()
	ended, fourth := send()
	s.stands(t, approved.Recurrence, "Pending 1: 25/11 2/12")
	if _, err := s.Payments.SkipRecurrence(s.Staff(), approved.Recurrence,
		changes.RequestOptions{}); !errors.Is(err,
		payments.ErrRecurrenceOver) {
		t.Error(err)
	}
	if _, err := s.Changes.Approve(s.Checker(), first, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes.Refuse(s.Checker(), second, changes.RequestOptions{Reason: "no"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Payments.Cancel(s.Staff(), withdrawn.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.LocksWaiting(int64(fourth), s.from.Customer, func() error {
		_, err := s.Payments.CancelRecurrence(s.Staff(), ended.Recurrence, payments.Cancellation{},
			changes.RequestOptions{})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for _, over := range []changes.UID{third, fourth} {
		if a, err := s.Changes.Find(s.Staff(), over); err != nil || a.Status != changes.Refused {
			t.Errorf("the approval of a payment that is cancelled: %+v %v", a, err)
		}
	}
	// as releases before left it, when who cancelled a series left the approval of its payment open
	s.Exec(`UPDATE approvals SET status = 'Open', decided_at = NULL WHERE tenant = ? AND uid = ?`, s.Tenant,
		fourth)
	if _, err := s.Changes.Refuse(s.Checker(), fourth, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if got := s.of(t, ended.Recurrence); got != "18/11 10.00 CANCELLED" {
		t.Error(got)
	}
	for _, never := range []payments.Saved{refused, withdrawn} {
		s.stands(t, never.Recurrence, "Cancelled 1: ")
	}
	out, err := s.Payments.ChangeRecurrence(s.Someone("maker"), approved.Recurrence,
		payments.RecurrenceDraft{Amount: "11"}, changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	s.run(t)
	s.until(t, "2026-11-25 00:00")
	if got := s.of(t, approved.Recurrence); got != "18/11 10.00 PROCESSED, 25/11 10.00 PROCESSED" {
		t.Error(got)
	}
	// the series has come further, which nobody has asked for
	if _, err := s.Changes.Approve(s.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	s.until(t, "2026-12-02 00:00")
	if got := s.of(t, approved.Recurrence); !strings.HasSuffix(got,
		"25/11 10.00 PROCESSED, 2/12 11.00 PROCESSED") {
		t.Error(got)
	}
	for _, never := range []payments.Saved{refused, withdrawn, ended} {
		if got := s.of(t, never.Recurrence); got != "18/11 10.00 CANCELLED" {
			t.Error(got)
		}
	}
	s.Prove()
}

// Dates that passed while a series waited for its approval are not made up for.
func TestDatesThatPassWhileASeriesWaitsAreLeftOut(t *testing.T) {
	t.Parallel()
	s := newSender(t, dual)
	send := func(repeat payments.Repetition) (payments.RecurrenceUID, changes.UID) {
		t.Helper()
		out, err := s.Payments.Send(s.Someone("maker"),
			s.order("10", func(o *payments.Order) { o.Repeat = &repeat }),
			changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		return out.Result.Recurrence, changes.UID(out.Approval)
	}
	two := int32(2)
	daily, first := send(payments.Repetition{Frequency: "Daily", Until: "Cancelled"})
	weekly, second := send(payments.Repetition{Frequency: "Weekly", Until: "NumberOfPayments", Number: &two})
	ends, third := send(payments.Repetition{Frequency: "Weekly", Until: "EndDate", End: on(2026, 12, 10)})
	ended, fourth := send(payments.Repetition{Frequency: "Weekly", Until: "EndDate", End: on(2026, 12, 8)})
	s.until(t, "2026-12-09 09:00") // a Wednesday, as the first day of all was
	for _, of := range []changes.UID{first, second, third} {
		if _, err := s.Changes.Approve(s.Checker(), of, changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Changes.Approve(s.Checker(), fourth, changes.RequestOptions{})
	if !errors.Is(err, payments.ErrRecurrenceOver) {
		t.Errorf("a series whose end has passed: %v", err)
	}
	s.run(t)
	s.until(t, "2026-12-10 09:00")
	s.until(t, "2026-12-16 09:00")
	if got := s.of(t, daily); !strings.HasPrefix(got, "9/12 10.00 PROCESSED, 10/12 10.00 PROCESSED, ") {
		t.Error(got)
	}
	for series, want := range map[payments.RecurrenceUID]string{
		weekly: "9/12 10.00 PROCESSED, 16/12 10.00 PROCESSED", ends: "9/12 10.00 PROCESSED",
		ended: "18/11 10.00 PENDING_APPROVAL",
	} {
		if got := s.of(t, series); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	s.stands(t, weekly, "Completed 2: ")
	s.stands(t, ends, "Completed 1: ")
	s.stands(t, ended, "Pending 1: 25/11 2/12")
	s.Prove()
}

// A payment that can no longer be made says why, and the next one is tried again.
func TestAPaymentOfASeriesThatCannotBeMadeSaysWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edit          func(*payments.Order)
		breaks, mends string
		why           string
	}{
		"a contact that is gone": {
			instantly, `UPDATE contacts SET status = 'Pending' WHERE tenant = ?`,
			`UPDATE contacts SET status = 'Active' WHERE tenant = ?`, payments.ErrContact.Error(),
		},
		"an account that is suspended, over ACH": {
			sameDay, `UPDATE accounts SET status = 'Suspended' WHERE tenant = ?`,
			`UPDATE accounts SET status = 'Active' WHERE tenant = ?`, payments.ErrAccountState.Error(),
		},
		"no money": {
			instantly, `UPDATE balances SET held = ledger WHERE tenant = ? AND ledger > 0`,
			`UPDATE balances SET held = 0 WHERE tenant = ?`, ledger.ErrUncovered.Error(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", c.edit, func(o *payments.Order) {
				o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "Cancelled"}
			}))
			s.through(t, "2026-11-18 20:00")
			s.Exec(c.breaks, s.Tenant)
			s.through(t, "2026-11-19 09:00")
			s.Exec(c.mends, s.Tenant)
			found, err := s.Payments.Page(s.Staff(), payments.Search{Recurrence: p.Recurrence}, page.First(1))
			if err != nil || found.Total != 2 {
				t.Fatal(found, err)
			}
			stopped := found.Items[0]
			if stopped.Status() != payments.StatusValidationFailure ||
				!strings.Contains(stopped.Reason, c.why) ||
				stopped.Receiver.Masked() != found.Items[0].Receiver.Masked() ||
				stopped.Receiver.Last4 == "" {
				t.Errorf("%+v", stopped)
			}
			if r := s.series(t, p.Recurrence); r.Made != 2 || dates(r.Upcoming(1)) != "20/11" {
				t.Errorf("%+v", r)
			}
			s.through(t, "2026-11-20 23:00")
			if got := s.of(t, p.Recurrence); !strings.HasSuffix(got, "20/11 10.00 PROCESSED") {
				t.Error(got)
			}
			s.Prove()
		})
	}
}

// A series that the bank itself cannot go on with keeps no other waiting.
func TestASeriesThatCannotBeRunStopsNoOther(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	bad := s.to
	daily := func(o *payments.Order) {
		o.Repeat = &payments.Repetition{Frequency: "Daily", Until: "Cancelled"}
	}
	first := s.send(t, s.order("10", instantly, daily))
	s.to = s.Contact(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer})
	second := s.send(t, s.order("10", instantly, daily))
	s.through(t, "2026-11-18 20:00")
	s.Exec(`UPDATE contacts SET bank_account_number_sealed = 'garbage'::bytea WHERE tenant = ? AND uid = ?`,
		s.Tenant, bad.UID)
	s.Clock.Set(at(t, "2026-11-19 09:00"))
	made, err := s.Payments.RunRecurrences(access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone()))
	if made != 1 || err == nil || !strings.Contains(err.Error(), "recurrence "+first.Recurrence.String()) {
		t.Error(made, err)
	}
	s.stands(t, first.Recurrence, "Active 1: 19/11 20/11")
	s.stands(t, second.Recurrence, "Active 2: 20/11 21/11")
	s.Prove()
}

// Any number of workers make each payment of each series once.
func TestManyWorkersMakeEachPaymentOfASeriesOnce(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	var all []payments.RecurrenceUID
	for range 20 {
		all = append(all, s.send(t, s.order("1", func(o *payments.Order) { o.Repeat = weekly() })).Recurrence)
	}
	s.Clock.Advance(15 * 24 * time.Hour)
	operator := access.Operator(t.Context(), s.Tenant, s.Code, coretest.Zone())
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			if _, err := s.Work(operator); err != nil {
				t.Error(err)
			}
		})
	}
	workers.Wait()
	s.run(t)
	for _, uid := range all {
		if got := s.of(t, uid); strings.Count(got, ",") != 2 {
			t.Error(got)
		}
	}
	s.has(t, 100_000_00-60_00, 0)
	s.Prove()
}

// Each series is looked at on each of its days, for as long as it goes on, whether it can pay or not.
func TestACustomerHasSoManySeriesAtATime(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	begin := func() (payments.RecurrenceUID, error) {
		out, err := s.Payments.Send(s.Staff(), s.order("1", func(o *payments.Order) { o.Repeat = weekly() }),
			changes.RequestOptions{})
		return out.Result.Recurrence, err
	}
	first, err := begin()
	if err != nil {
		t.Fatal(err)
	}
	var columns string
	err = s.DB.NewRaw(`SELECT string_agg(column_name, ', ') FROM information_schema.columns
		WHERE table_name = 'recurrences' AND column_name <> 'uid'`).Scan(t.Context(), &columns)
	if err != nil {
		t.Fatal(err)
	}
	s.Exec(`INSERT INTO recurrences (uid, `+columns+`) SELECT uid + 900000 + n, `+columns+`
		FROM recurrences, generate_series(1, 9998) AS n WHERE tenant = ? AND uid = ?`, s.Tenant, first)
	if _, err := begin(); err != nil {
		t.Errorf("the 10,000th: %v", err)
	}
	if _, err := begin(); !errors.Is(err, payments.ErrManySeries) {
		t.Errorf("one more: %v", err)
	}
	_, err = s.Payments.CancelRecurrence(s.Staff(), first, payments.Cancellation{}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := begin(); err != nil {
		t.Errorf("in place of one that has ended: %v", err)
	}
}

func TestWhatARepetitionSaysIsChecked(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	number := func(n int32) *int32 { return &n }
	for name, c := range map[string]struct {
		repeat payments.Repetition
		field  string
	}{
		"nothing": {payments.Repetition{}, "recurrence.frequency"},
		"no end":  {payments.Repetition{Frequency: "Daily"}, "recurrence.payUntil"},
		"unknown": {payments.Repetition{Frequency: "Often", Until: "Cancelled"}, "recurrence.frequency"},
		"no date": {payments.Repetition{Frequency: "Daily", Until: "EndDate"}, "recurrence.endDate"},
		"too early": {
			payments.Repetition{Frequency: "Daily", Until: "EndDate", End: on(2026, 11, 18)},
			"recurrence.endDate",
		},
		"no number": {
			payments.Repetition{Frequency: "Daily", Until: "NumberOfPayments"},
			"recurrence.numberOfPayments",
		},
		"none": {
			payments.Repetition{Frequency: "Daily", Until: "NumberOfPayments", Number: number(0)},
			"recurrence.numberOfPayments",
		},
		"too many": {payments.Repetition{
			Frequency: "Daily", Until: "NumberOfPayments",
			Number: number(1001),
		}, "recurrence.numberOfPayments"},
		"a date too many": {
			payments.Repetition{Frequency: "Daily", Until: "Cancelled", End: on(2027, 1, 1)},
			"recurrence.endDate",
		},
		"a number too many": {
			payments.Repetition{Frequency: "Daily", Until: "Cancelled", Number: number(2)},
			"recurrence.numberOfPayments",
		},
	} {
		_, err := s.Payments.Send(s.Staff(), s.order("1", func(o *payments.Order) { o.Repeat = &c.repeat }),
			changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != c.field {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.has(t, 100_000_00, 0)
}

// Who is paid sees the payment, and not that it is of a series.
func TestASeriesIsOfWhoPays(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	payee := s.DownstreamPartner()
	to := s.Account(payee)
	out, err := s.Payments.Transfer(s.Staff(), payments.Draft{
		Sender: payments.Party{UID: s.from.UID}, Receiver: payments.Party{UID: to.UID}, Amount: "10",
		Repeat: weekly(),
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	reader := s.Partner(payee)
	p, err := s.Payments.Show(reader, out.Result.UID)
	if err != nil || p.Recurrence != 0 || p.Series != (payments.Series{}) {
		t.Errorf("%+v %v", p, err)
	}
	found, err := s.Payments.Page(reader, payments.Search{Recurrence: out.Result.Recurrence}, page.First(9))
	if err != nil || found.Total != 0 || len(found.Items) != 0 {
		t.Error(found, err)
	}
	b := s.Core.Batch()
	of := s.Payments.OfAccounts(reader, b, []accounts.UID{to.UID},
		payments.Search{Recurrence: out.Result.Recurrence}, db.Columns{}, page.First(9))
	series := s.Payments.FindRecurrences(reader, b, []payments.RecurrenceUID{out.Result.Recurrence},
		db.Columns{})
	if err := b.Send(reader); err != nil || len(of.Of) != 0 || len(series.Of) != 0 {
		t.Error(err, of.Of, series.Of)
	}
	if _, err := s.Payments.CancelRecurrence(reader, out.Result.Recurrence, payments.Cancellation{},
		changes.RequestOptions{}); !errors.Is(err, payments.ErrNoRecurrence) {
		t.Error(err)
	}
}

// The payment that a change cancels does not count beside the one that is made in its place.
func TestASeriesPaysLessThoughItsWaitingPaymentFillsTheLimit(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Limit(&customers.Customer{Tenant: s.Tenant, UID: s.from.Customer},
		"INSTANT_PAYMENT_LIMIT_PER_DAY", 500_00)
	p := s.send(t, s.order("400.00", instantly, func(o *payments.Order) {
		o.Repeat, o.Date = monthly(3), time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	}))
	for _, c := range []struct {
		amount string
		fits   bool
	}{{"300.00", true}, {"500.00", true}, {"500.01", false}} {
		_, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence, payments.RecurrenceDraft{Amount: c.amount},
			changes.RequestOptions{})
		if c.fits != (err == nil) || err != nil && !errors.Is(err, payments.ErrLimit) {
			t.Errorf("%s: %v", c.amount, err)
		}
		s.run(t)
	}
}

// A series that is to end earlier pays nothing after its end: what waits for a later day is cancelled.
func TestASeriesThatEndsEarlierPaysNothingAfterIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		end  time.Time
		want string
	}{
		{on(2026, 11, 25), "27/11 10.00 CANCELLED"}, {on(2026, 11, 27), "27/11 10.00 PROCESSED"},
	} {
		t.Run(c.end.Format("02"), func(t *testing.T) {
			t.Parallel()
			s := newSender(t)
			p := s.send(t, s.order("10", instantly, func(o *payments.Order) {
				o.Date, o.Repeat = on(2026, 11, 27),
					&payments.Repetition{Frequency: "Weekly", Until: "EndDate", End: on(2026, 12, 11)}
			}))
			if _, err := s.Payments.ChangeRecurrence(s.Staff(), p.Recurrence,
				payments.RecurrenceDraft{End: c.end}, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			s.run(t)
			s.through(t, "2026-12-14 12:00")
			if got := s.of(t, p.Recurrence); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			s.Prove()
		})
	}
}

// What people do with a series while a change of it waits ends that change: one that was asked for before a
// payment was left out would make it after all, and one of a series that is cancelled can no longer be made.
func TestAChangeThatWaitsEndsWithWhatPeopleDoMeanwhile(t *testing.T) {
	t.Parallel()
	s := newSender(t)
	s.Exec(`UPDATE customers SET access_payment_dual_approval = true WHERE tenant = ? AND uid = ?`, s.Tenant,
		s.from.Customer)
	series := func() (payments.RecurrenceUID, changes.UID) {
		out, err := s.Payments.Send(s.Someone("maker"), s.order("10", instantly, func(o *payments.Order) {
			o.Date, o.Repeat = on(2026, 11, 20), weekly()
		}), changes.RequestOptions{})
		if err == nil {
			_, err = s.Changes.Approve(s.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
		}
		if err != nil {
			t.Fatal(err)
		}
		of := out.Result.Recurrence
		changed, err := s.Payments.ChangeRecurrence(s.Someone("maker"), of,
			payments.RecurrenceDraft{Frequency: "Monthly", Next: on(2026, 11, 20)}, changes.RequestOptions{})
		if err != nil || changed.Approval == 0 {
			t.Fatal(changed, err)
		}
		return of, changes.UID(changed.Approval)
	}
	skipped, waits := series()
	if _, err := s.Payments.SkipRecurrence(s.Staff(), skipped, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Changes.Approve(s.Checker(), waits, changes.RequestOptions{}); !errors.Is(err,
		changes.ErrStale) {
		t.Errorf("approved after a payment was left out: %v", err)
	}
	cancelled, waits := series()
	if _, err := s.Payments.CancelRecurrence(s.Staff(), cancelled, payments.Cancellation{},
		changes.RequestOptions{Reason: "no longer"}); err != nil {
		t.Fatal(err)
	}
	if a, err := s.Changes.Find(s.Staff(), waits); err != nil || a.Status != changes.Refused {
		t.Errorf("the change of a series that is cancelled: %+v %v", a, err)
	}
}
