package changes_test

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
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/db"
	"bankgraph/db/dbtest/faults"
)

func TestAKeyHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	out, err := d.ask("k")
	d.fresh("first", out, err)
	for range 3 {
		out, err = d.ask("k")
		d.replayed("again", out, err)
	}
	d.wrote(1, 0)
}

// One key is one key however a client spells it: spaces around it do not come over HTTP, and a UUID has two
// letter cases. Others are their letters.
func TestAKeyIsOneHoweverItIsSpelled(t *testing.T) {
	t.Parallel()
	const id = "8f1c0a52-6f0e-4b7d-9c3e-0d2f5a6b7c8d"
	for name, c := range map[string]struct {
		first, again string
		same         bool
	}{
		"a space after it":     {"k", "k ", true},
		"spaces before it":     {"  k", "k", true},
		"a UUID in upper case": {id, strings.ToUpper(id), true},
		"and the other way":    {strings.ToUpper(id), id, true},
		"another key":          {"k", "K", false},
		"one within":           {"k 1", "k1", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			out, err := d.ask(c.first)
			d.fresh("first", out, err)
			if out, err = d.ask(c.again); c.same {
				d.replayed("again", out, err)
			} else {
				d.fresh("another", out, err)
			}
			if _, err := d.ask("  "); !errors.Is(err, changes.ErrKey) {
				t.Errorf("spaces alone: %v", err)
			}
		})
	}
}

func TestWithoutAKeyEveryRequestCounts(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for range 2 {
		out, err := d.ask("")
		d.fresh("without a key", out, err)
	}
	d.wrote(2, 0)
}

func TestAKeyStandsForOneRequest(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	at := changes.Target{Customer: int64(d.Self.UID), UID: "7"}
	out, err := d.say(d.Staff(), d.take, at, "hello",
		changes.RequestOptions{IdempotencyKey: "k", Version: 3, Reason: "why"})
	d.fresh("first", out, err)
	for name, c := range map[string]struct {
		at      changes.Target
		text    string
		options changes.RequestOptions
	}{
		"other text":    {at, "bye", changes.RequestOptions{IdempotencyKey: "k", Version: 3, Reason: "why"}},
		"other version": {at, "hello", changes.RequestOptions{IdempotencyKey: "k", Version: 2, Reason: "why"}},
		"no version":    {at, "hello", changes.RequestOptions{IdempotencyKey: "k", Reason: "why"}},
		"other reason":  {at, "hello", changes.RequestOptions{IdempotencyKey: "k", Version: 3, Reason: "because"}},
		"other object": {
			changes.Target{Customer: at.Customer, UID: "8"},
			"hello",
			changes.RequestOptions{IdempotencyKey: "k", Version: 3, Reason: "why"},
		},
		"other customer": {
			changes.Target{UID: "7"},
			"hello",
			changes.RequestOptions{IdempotencyKey: "k", Version: 3, Reason: "why"},
		},
	} {
		_, err := d.say(d.Staff(), d.take, c.at, c.text, c.options)
		is(t, name, err, changes.ErrKeyReused)
	}
	d.wrote(1, 0)
}

func TestAKeyIsItsOwnersAndItsOperations(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := deskAt(t, d.Other())
	second := d.declare(d.Core, "takeSecondNote")
	out, err := d.ask("k")
	d.fresh("first", out, err)
	out, err = d.askAs(as(d.Staff(), "other", ""), "k")
	d.fresh("another API key", out, err)
	out, err = d.askAs(as(d.Staff(), "staff", "ada"), "k")
	d.fresh("a person with the same API key", out, err)
	out, err = d.askAs(as(d.Staff(), "staff", "grace"), "k")
	d.fresh("another person", out, err)
	out, err = d.say(d.Staff(), second, changes.Target{}, "hello", changes.RequestOptions{IdempotencyKey: "k"})
	d.fresh("another operation", out, err)
	d.wrote(5, 0)
	out, err = other.ask("k")
	other.fresh("another bank", out, err)
	other.wrote(1, 0)
}

func TestAKeyLivesForSevenDaysOfTheDatabase(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.ask("k")
	d.must(err)
	d.Clock.Advance(90 * 24 * time.Hour)
	out, err := d.ask("k")
	d.replayed("the bank's clock was moved", out, err)
	d.byHand(`UPDATE idempotency_keys SET created_at = clock_timestamp() - interval '6 days 23 hours'
		WHERE tenant = ?`, d.Tenant)
	out, err = d.ask("k")
	d.replayed("on the seventh day", out, err)
	d.byHand(`UPDATE idempotency_keys SET created_at = clock_timestamp() - interval '7 days 1 second'
		WHERE tenant = ?`, d.Tenant)
	out, err = d.ask("k")
	d.fresh("afterwards", out, err)
	out, err = d.ask("k")
	d.replayed("and again", out, err)
	d.wrote(2, 0)
}

func TestTwoServersRenewAnOldKeyOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	_, err := d.ask("k")
	d.must(err)
	d.byHand(`UPDATE idempotency_keys SET created_at = clock_timestamp() - interval '8 days' WHERE tenant = ?`,
		d.Tenant)
	begun, release := stuck(d)
	first := make(chan error)
	go func() { _, err := d.ask("k"); first <- err }()
	wait(t, "the first", begun)
	elsewhere := d.declare(core.New(core.Options{DB: d.DB, Keys: d.Keys, Now: d.Clock.Now}), "takeNote")
	second := make(chan error)
	again := func() error {
		_, err := d.say(d.Staff(), elsewhere, changes.Target{}, "hello",
			changes.RequestOptions{IdempotencyKey: "k"})
		return err
	}
	go func() { second <- again() }()
	// by now the second waits for the row; if not, it finds the renewed one
	time.Sleep(50 * time.Millisecond)
	close(release)
	d.must(wait(t, "the first", first))
	if err := wait(t, "the second", second); err != nil {
		is(t, "the second", err, changes.ErrInFlight)
	}
	d.must(again())
	d.wrote(2, 0)
}

func TestOldKeysArePurgedBankByBank(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	other := deskAt(t, d.Other())
	for _, at := range []*desk{d, other} {
		at.byHand(`INSERT INTO idempotency_keys (tenant, client, operation, key, request, created_at)
			SELECT ?, 'staff', 'takeNote', n::text, '', clock_timestamp() - interval '7 days 1 hour'
			FROM generate_series(1, 1005) AS n`, at.Tenant)
		_, err := at.ask("k")
		at.must(err)
		if n := at.keys(); n != 1006 { // a write removes none
			t.Errorf("%d keys", n)
		}
	}
	if n, err := d.Changes.PurgeKeys(d.operator(), 8*24*time.Hour); err != nil || n != 0 {
		t.Errorf("none is that old: %d %v", n, err)
	}
	// keys are never removed before KeyLife
	if n, err := d.Changes.PurgeKeys(d.operator(), time.Hour); err != nil || n != 1005 {
		t.Errorf("purged %d %v", n, err)
	}
	if n := d.keys(); n != 1 {
		t.Errorf("%d keys are left", n)
	}
	if n := other.keys(); n != 1006 {
		t.Errorf("another bank has %d keys left", n)
	}
	_, err := d.Changes.PurgeKeys(d.Staff(), time.Hour)
	is(t, "staff", err, access.ErrDenied)
	out, err := d.ask("k")
	d.replayed("the key that lives", out, err)
}

func TestMalformedTermsAreRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for name, options := range map[string]changes.RequestOptions{
		"long key": {IdempotencyKey: strings.Repeat("k", 256)}, "odd key": {IdempotencyKey: "k\x7f"},
		"a key of two lines": {IdempotencyKey: "a\nb"},
		"version":            {Version: -1}, "long reason": {Reason: strings.Repeat("é", 256)},
		"reason with NUL": {Reason: "a\x00b"}, "reason with an escape code": {Reason: "ok \x1b[2K"},
		"reason that reads otherwise": {Reason: "refund \u202e000,1"},
		"reason of two lines":         {Reason: "ok\napproved by nobody"}, "broken reason": {Reason: "\xff"},
	} {
		_, err := d.say(d.Staff(), d.take, changes.Target{}, "hello", options)
		if f, ok := fault.Of(err); !ok || f.Kind != fault.Invalid || f.Field == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := d.say(d.Staff(), d.take, changes.Target{}, "hello",
		changes.RequestOptions{IdempotencyKey: strings.Repeat("~", 255), Reason: strings.Repeat("é", 255)})
	d.must(err)
	d.wrote(1, 0)
}

// stuck makes the desk's work signal begun, and then wait until release is closed.
func stuck(d *desk) (begun, release chan struct{}) {
	begun, release = make(chan struct{}, 100), make(chan struct{})
	d.does = func(context.Context, *changes.Tx) error {
		begun <- struct{}{}
		<-release
		return nil
	}
	return begun, release
}

func TestACopyOfARequestInFlightIsToldToComeBack(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	begun, release := stuck(d)
	first := make(chan error)
	go func() { _, err := d.ask("k"); first <- err }()
	wait(t, "the first", begun)

	// a second server on the same database
	server := core.New(core.Options{DB: d.InService(), Keys: d.Keys, Now: d.Clock.Now})
	elsewhere := d.declare(server, "takeNote")
	var copies sync.WaitGroup
	for name, ask := range map[string]func() (changes.Outcome[string], error){
		"here": func() (changes.Outcome[string], error) { return d.ask("k") },
		"elsewhere": func() (changes.Outcome[string], error) {
			return d.say(d.Staff(), elsewhere, changes.Target{}, "hello",
				changes.RequestOptions{IdempotencyKey: "k"})
		},
	} {
		copies.Go(func() {
			began := time.Now()
			_, err := ask()
			is(t, name, err, changes.ErrInFlight)
			if took := time.Since(began); took < time.Second || took > 9*time.Second {
				t.Errorf("%s it is told after %s", name, took)
			}
		})
	}
	copies.Wait()
	close(release)
	d.must(wait(t, "the first", first))
	out, err := d.ask("k")
	d.replayed("afterwards", out, err)
	out, err = d.say(d.Staff(), elsewhere, changes.Target{}, "hello",
		changes.RequestOptions{IdempotencyKey: "k"})
	d.replayed("elsewhere", out, err)
	d.wrote(1, 0)
}

func TestWaitingCopiesLeaveTheDatabaseToOthers(t *testing.T) {
	t.Parallel()
	d := deskAt(t, coretest.Alone(t))
	begun, release := stuck(d)
	answers := make(chan error, 50)
	for range 50 {
		go func() {
			_, err := d.ask("k")
			answers <- err
		}()
	}
	wait(t, "the first", begun)
	free := make(chan error)
	go func() {
		other := deskOf(d)
		_, err := other.ask("another key")
		free <- err
	}()
	d.must(wait(t, "another request", free)) // it would wait for a connection in vain
	close(release)
	for range 50 {
		d.must(wait(t, "a copy", answers))
	}
	d.wrote(2, 0)
}

// deskOf returns a desk at the same bank whose work does not wait.
func deskOf(d *desk) *desk {
	calm := &desk{Bank: d.Bank, t: d.t, does: func(context.Context, *changes.Tx) error { return nil }}
	calm.take = calm.declare(core.New(core.Options{DB: d.DB, Keys: d.Keys, Now: d.Clock.Now}), "takeAnotherNote")
	return calm
}

func TestWhoWaitsMayGiveUp(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	begun, release := stuck(d)
	first := make(chan error)
	go func() { _, err := d.ask("k"); first <- err }()
	wait(t, "the first", begun)
	ctx, cancel := context.WithTimeout(d.Staff(), 50*time.Millisecond)
	defer cancel()
	_, err := d.askAs(ctx, "k")
	is(t, "who waits", err, context.DeadlineExceeded)
	close(release)
	d.must(wait(t, "the first", first))
	d.wrote(1, 0)
}

func TestTheNextCopyTakesOverFromOneThatFailed(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	begun, release := make(chan struct{}, 2), make(chan struct{})
	broken := errors.New("broken")
	failing := true
	d.does = func(context.Context, *changes.Tx) error {
		begun <- struct{}{}
		<-release
		if failing {
			failing = false
			return broken
		}
		return nil
	}
	answers := make(chan error, 2)
	go func() { _, err := d.ask("k"); answers <- err }()
	wait(t, "the first", begun)
	go func() { _, err := d.ask("k"); answers <- err }()
	close(release)
	is(t, "the first", wait(t, "the first", answers), broken)
	d.must(wait(t, "the second", answers))
	d.wrote(1, 0)
}

func TestALostCommitWithoutAKeyIsUnknown(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	d := deskAt(t, line.Bank())
	line.Break(2, faults.Fault{Cut: true, Ran: true})
	_, err := d.ask("")
	is(t, "without a key", err, changes.ErrUnknown)
	if s := line.Statements(); !faults.Commits(s[len(s)-1]) || !line.Struck() {
		t.Errorf("%v", s)
	}
	d.wrote(1, 0)
}

func TestALostCommitIsLookedForUntilTheDeadline(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	d := deskAt(t, line.Bank())
	line.Break(3, faults.Fault{Cut: true, Ran: true, Stays: true}) // COMMIT, and the database stays away
	ctx, cancel := context.WithTimeout(d.Staff(), 2*time.Second)
	defer cancel()
	began := time.Now()
	_, err := d.askAs(ctx, "k")
	is(t, "while the database is away", err, changes.ErrRepeat)
	if took := time.Since(began); took < 1500*time.Millisecond || took > 8*time.Second {
		t.Errorf("it answers after %s", took)
	}
	if s := line.Statements(); len(s) < 4 || !faults.Commits(s[2]) {
		t.Errorf("%v", s)
	}
	line.Break(0, faults.Fault{})
	out, err := d.ask("k")
	d.replayed("once it is back", out, err)
	d.wrote(1, 0)
}

func TestADatabaseThatIsAwayIsNotLookedFor(t *testing.T) {
	t.Parallel()
	line := coretest.NewLine(t)
	d := deskAt(t, line.Bank())
	line.Break(2, faults.Fault{Cut: true, Stays: true})
	began := time.Now()
	_, err := d.ask("k")
	if _, told := fault.Of(err); told || !db.IsUnavailable(err) || time.Since(began) > 4*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
	line.Break(0, faults.Fault{})
	out, err := d.ask("k")
	d.fresh("once it is back", out, err)
	d.wrote(1, 0)
}

func TestACallerWhoGivesUpMidwayChangesNothing(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	ctx, cancel := context.WithCancel(d.Staff())
	d.does = func(context.Context, *changes.Tx) error { cancel(); return nil }
	_, err := d.askAs(ctx, "k")
	is(t, "midway", err, context.Canceled)
	if errors.Is(err, changes.ErrUnknown) || errors.Is(err, changes.ErrRepeat) {
		t.Errorf("nothing was committed, and it answers %v", err)
	}
	d.wrote(0, 0)
	out, err := d.ask("k")
	d.fresh("repeated", out, err)
	d.wrote(1, 0)
}

func TestAPanicInTheWorkLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	calm := d.does
	d.does = func(context.Context, *changes.Tx) error { panic("a defect") }
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_, _ = d.ask("k")
	}()
	d.wrote(0, 0)
	d.does = calm
	began := time.Now()
	out, err := d.ask("k")
	d.fresh("repeated", out, err)
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("the key was still held for %s", took)
	}
}

func TestAChangeInsideAnotherIsRefused(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	inner := d.declare(d.Core, "takeInnerNote")
	var caller access.Caller
	d.does = func(ctx context.Context, tx *changes.Tx) error {
		caller = tx.Caller
		_, err := inner.Do(ctx, caller, changes.Target{}, note{"hello"}, changes.RequestOptions{})
		return err
	}
	_, err := d.ask("k")
	is(t, "inside", err, db.ErrNested)
	d.wrote(0, 0)
	if caller.Client != "staff" {
		t.Errorf("the work has another caller: %+v", caller)
	}
}
