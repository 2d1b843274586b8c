package core_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/clock"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/core/holds"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
)

// moveClock moves the bank's clock on by an hour.
func moveClock(b *coretest.Bank) write {
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Sandbox.MoveClock(ctx, sandbox.Move{Minutes: 60}, with(key)))
	}
}

// through moves the bank's clock on by some minutes, as several workers do.
func through(t *testing.T, b *coretest.Bank, minutes int32) {
	t.Helper()
	begins, err := b.Core.Clock.Read(b.Staff())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sandbox.MoveClock(b.Staff(), sandbox.Move{Minutes: minutes},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	operator := access.Operator(t.Context(), b.Tenant, b.Code, coretest.Zone())
	var workers sync.WaitGroup
	for range 3 { // one of them moves it at a time
		workers.Go(func() {
			for {
				reading, err := b.Core.Clock.Read(b.Staff())
				if err != nil || reading.Target == nil {
					return
				}
				if _, err := b.AdvanceClock(operator); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	workers.Wait()
	ends, err := b.Core.Clock.Read(b.Staff())
	want := begins.Now.Add(time.Duration(minutes) * time.Minute)
	if err != nil || !ends.Now.Equal(want) || !ends.Moved {
		t.Errorf("%+v %v, want %s", ends, err, want)
	}
}

// A file leaves, settles and comes back, and a dated payment follows, each at its time, while the clock
// passes over a week in one move; and the books of each day are as they would have been.
func TestAWeekPassesInOneMoveOfTheClock(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	c := b.Customer()
	from, to := b.Account(c, coretest.Holding(1000_00, 0), coretest.Sends), b.Contact(c)
	sends := func(amount, speed string, on time.Time) payments.UID {
		t.Helper()
		o := payments.Order{
			Sender: payments.Party{UID: from.UID}, Receiver: payments.Receiver{Contact: to.UID}, Amount: amount,
			Currency: "USD", Speed: speed, ExternalReferenceID: "W", Date: on,
		}
		if strings.HasPrefix(speed, "Economy") {
			o.SECCode = "CCD"
		}
		out, err := b.Payments.Send(b.Staff(), o, changes.RequestOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return out.Result.UID
	}
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	all := map[payments.UID]string{
		sends("10.01", "Economy",
			time.Time{}): "QUEUED 18 10:00, SENT 18 14:00, SETTLED 19 08:30, RETURNED 20 08:30",
		sends("20.00", "Economy Plus",
			monday): "SCHEDULED 18 10:00, QUEUED 23 00:00, SENT 23 10:00, SETTLED 23 13:00",
		sends("30.00", "Express",
			monday): "SCHEDULED 18 10:00, QUEUED 23 00:00, SENT 23 00:00, SETTLED 23 00:00",
		sends("40.11", "Instant",
			time.Time{}): "QUEUED 18 10:00, SENT 18 10:00, SETTLED 18 10:00, RETURNED 18 10:01",
	}
	through(t, b, 7*24*60)
	for uid, want := range all {
		_, steps, err := b.Payments.Find(b.Staff(), uid)
		if err != nil {
			t.Fatal(err)
		}
		var life []string
		for _, step := range steps {
			life = append(life, string(step.State)+step.At.In(coretest.Zone()).Format(" 02 15:04"))
		}
		if got := strings.Join(life, ", "); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	b.Prove()
}

// A clock stops once for what is due within a second, and once in an hour for holds, so that many of them do
// not make it slow. They expire before anything that is due after them.
func TestAClockStopsForManyThingsAtOnce(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	b.Directory()
	of := b.Customer()
	account := b.Account(of, coretest.Holding(100_00, 0), coretest.Sends)
	evening := time.Date(2026, 11, 22, 23, 10, 0, 0, coretest.Zone())
	for n := range 40 {
		until := evening.Add(time.Duration(n)*time.Minute + time.Duration(n)*time.Microsecond)
		if _, err := b.Holds.Place(b.Staff(), holds.Draft{Account: account.UID, Amount: "2.50", ExpiresAt: &until},
			changes.RequestOptions{Reason: "Cheque 12"}); err != nil {
			t.Fatal(err)
		}
	}
	sent, err := b.Payments.Send(b.Staff(), payments.Order{
		Sender: payments.Party{UID: account.UID}, Receiver: payments.Receiver{Contact: b.Contact(of).UID},
		Amount: "100", Currency: "USD", Speed: "Express", ExternalReferenceID: "H",
		Date: time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC),
	}, changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	through(t, b, 5*24*60)
	var stops, expired int
	if err := b.DB.NewRaw(`SELECT count(DISTINCT updated_at), count(*) FROM account_holds
		WHERE tenant = ? AND status = 'Expired'`, b.Tenant).Scan(t.Context(), &stops, &expired); err != nil ||
		stops != 1 || expired != 40 {
		t.Errorf("%d holds expired at %d stops (%v)", expired, stops, err)
	}
	if p, _, err := b.Payments.Find(b.Staff(), sent.Result.UID); err != nil || p.State != payments.Settled {
		t.Errorf("%+v %v", p, err)
	}

	second := coretest.Start.Add(time.Hour)
	work := core.Clockwork{}
	for n := range 3 {
		at := second.Add(-time.Duration(n) * 300 * time.Millisecond)
		work.Due = append(work.Due, func(context.Context, time.Time) (*time.Time, error) { return &at, nil })
	}
	for until, want := range map[time.Time]time.Time{
		second.Add(time.Hour): second, second: second, second.Add(-time.Minute): second.Add(-time.Minute),
	} {
		if next, err := work.Next(t.Context(), coretest.Start, until); err != nil || !next.Equal(want) {
			t.Errorf("until %s: the next stop is at %s (%v), want %s", until, next, err, want)
		}
	}
}

func TestAClockMovesOnOnlyAndNotTooFarAndNotOfARealBank(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	for _, c := range []struct {
		move  sandbox.Move
		want  error
		field string
	}{
		{sandbox.Move{}, nil, "to"},
		{sandbox.Move{To: coretest.Start.Add(time.Hour), Minutes: 1}, nil, "to"},
		{sandbox.Move{Minutes: -1}, nil, "minutes"},
		{sandbox.Move{Minutes: 1 << 30}, nil, "minutes"},
		{sandbox.Move{To: coretest.Start}, clock.ErrBack, "to"},
		{sandbox.Move{Minutes: 366*24*60 + 1}, nil, "minutes"},
		{sandbox.Move{To: coretest.Start.Add(366*24*time.Hour + time.Second)}, clock.ErrFar, "to"},
	} {
		_, err := b.Sandbox.MoveClock(b.Staff(), c.move, changes.RequestOptions{})
		if f, is := fault.Of(err); !is || f.Field != c.field || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.move, err)
		}
	}
	if _, err := b.Sandbox.MoveClock(b.Staff(), sandbox.Move{Minutes: 366 * 24 * 60},
		changes.RequestOptions{}); err != nil {
		t.Error("a year:", err)
	}
	if _, err := b.Sandbox.MoveClock(b.Partner(b.DownstreamPartner()), sandbox.Move{Minutes: 1},
		changes.RequestOptions{}); !errors.Is(
		err, access.ErrDenied) {
		t.Error("a partner:", err)
	}
	if _, err := b.Owner().ExecContext(t.Context(), `UPDATE tenants SET sandbox = false WHERE id = ?`,
		b.Tenant); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Sandbox.MoveClock(b.Staff(), sandbox.Move{Minutes: 1}, changes.RequestOptions{}); !errors.Is(
		err, clock.ErrNoSandbox) {
		t.Error("a real bank:", err)
	}
}

// What another process has moved, this one follows within a second.
func TestAClockMovedElsewhereIsFollowed(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	here := clock.New(b.DB, b.Clock.Now)
	operator := access.Operator(t.Context(), b.Tenant, b.Code, coretest.Zone())
	if now, err := here.Now(t.Context(), b.Tenant); err != nil || !now.Equal(coretest.Start) {
		t.Fatal(now, err)
	}
	if _, err := b.Sandbox.MoveClock(b.Staff(), sandbox.Move{Minutes: 60},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.AdvanceClock(operator); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		now, err := here.Now(t.Context(), b.Tenant)
		if err == nil && now.Equal(coretest.Start.Add(time.Hour)) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it is not followed:", now, err)
		}
	}
}

// What fails keeps nothing else from being done, however often that takes.
func TestWhatFailsKeepsTheClockworkFromNothingElse(t *testing.T) {
	t.Parallel()
	broken, left := errors.New("broken"), 3
	done, err := core.Clockwork{Jobs: []core.Job{{Do: []core.Work{
		func(context.Context) (int, error) { return 0, broken },
		func(context.Context) (int, error) {
			if left == 0 {
				return 0, nil
			}
			left--
			return 1, nil
		},
	}}}}.Work(t.Context())
	if done != 3 || !errors.Is(err, broken) {
		t.Errorf("%d of 3 are done, %v", done, err)
	}
}

// A panic ends the work in which it happens, and no other.
func TestAPanicStopsNoOtherWork(t *testing.T) {
	t.Parallel()
	did := 0
	work := core.Clockwork{Jobs: []core.Job{{Name: "both", Do: []core.Work{
		func(context.Context) (int, error) { panic("of one") },
		func(context.Context) (int, error) { did++; return 2 - did, nil },
	}}}}
	done, err := work.Work(t.Context())
	if done != 1 || did != 2 || err == nil || !strings.Contains(err.Error(), "of one") {
		t.Error(done, did, err)
	}
}
