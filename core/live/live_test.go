package live_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/live"
)

// happened is a bank in which things happen.
type happened struct {
	*coretest.Bank
	t *testing.T
}

// happens records changes of payments and seals them, in the order in which they are given.
func (h *happened) happens(of customers.UID, uids ...int64) {
	h.t.Helper()
	customer := int64(of)
	err := h.DB.InTx(h.t.Context(), int64(h.Tenant), func(ctx context.Context, tx bun.Tx) error {
		for n, uid := range uids {
			entry := audit.Entry{
				Tenant: h.Tenant, Client: "test", Entity: 1, Action: "sendPayment", Decision: audit.Done,
				Object: "payment",
				UID:    fmt.Sprint(uid),
			}
			if err := events.RecordTx(ctx, tx, entry, events.Event{
				Tenant: h.Tenant, Kind: "sendPayment", Object: "payment", UID: fmt.Sprint(uid), Customer: &customer,
				Version: int32(n),
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.seals()
}

func (h *happened) seals() {
	h.t.Helper()
	operator := access.Operator(h.t.Context(), h.Tenant, h.Code, nil)
	for {
		sealed, err := h.Audit.Seal(operator)
		if err != nil {
			h.t.Fatal(err)
		}
		if sealed == 0 {
			return
		}
	}
}

func (h *happened) listens(ctx context.Context, customer customers.UID, since string) *live.Listener {
	h.t.Helper()
	l, err := h.Live.Payments(ctx, customer, 0, since)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(l.Close)
	return l
}

// hears expects these payments as the next changes, and returns the cursor of the last one.
func (h *happened) hears(l *live.Listener, uids ...int64) (cursor string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 20*time.Second)
	defer cancel()
	for _, uid := range uids {
		change, err := l.Next(ctx)
		if err != nil {
			h.t.Fatalf("waiting for %d: %v", uid, err)
		}
		if change.UID != uid {
			h.t.Fatalf("heard of %d, not of %d", change.UID, uid)
		}
		cursor = change.Cursor.String()
	}
	return cursor
}

// silent expects that nothing more comes.
func (h *happened) silent(l *live.Listener) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), 400*time.Millisecond)
	defer cancel()
	if change, err := l.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		h.t.Errorf("heard %+v, %v", change, err)
	}
}

func TestOnlyWhatTheCallerSeesIsHeard(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.New(t), t}
	partner, other := h.DownstreamPartner(), h.DownstreamPartner()
	own, theirs := h.Customer(coretest.OwnedBy(partner)), h.Customer(coretest.OwnedBy(other))
	strange := &happened{h.Other(), t}
	bank, theirBank := h.listens(h.Staff(), 0, ""), strange.listens(strange.Staff(), 0, "")
	of := h.listens(h.Partner(partner), 0, "")
	one := h.listens(h.Staff(), theirs.UID, "")
	h.happens(own.UID, 1, 2)
	h.happens(theirs.UID, 3)
	h.happens(own.UID, 4)
	h.hears(bank, 1, 2, 3, 4)
	h.hears(of, 1, 2, 4)
	h.hears(one, 3)
	for _, l := range []*live.Listener{bank, of, one, theirBank} {
		h.silent(l)
	}
	if _, err := h.Live.Payments(h.As(access.ViewFiles), 0, 0, ""); !errors.Is(err, access.ErrDenied) {
		t.Errorf("without the permission: %v", err)
	}
	if _, err := h.Live.Files(h.As(access.ViewPayments), 0, 0, ""); !errors.Is(err, access.ErrDenied) {
		t.Errorf("without the permission: %v", err)
	}
}

// A caller with many listeners that go on far back reads no more at a time than it has places. What all
// hear at once takes none.
func TestReadsOfThePastTakeTheirPlace(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.New(t), t}
	first := h.listens(h.Staff(), 0, "")
	h.happens(0, 1)
	since := h.hears(first, 1)
	h.happens(0, 2, 3)
	full := errors.New("no place")
	refused := h.listens(h.Staff(), 0, since)
	refused.ReadThrough(func(ctx context.Context) (context.Context, func(), error) { return ctx, nil, full })
	if change, err := refused.Next(t.Context()); !errors.Is(err, full) {
		t.Errorf("without a place: %+v, %v", change, err)
	}
	entered, left := 0, 0
	l := h.listens(h.Staff(), 0, since)
	l.ReadThrough(func(ctx context.Context) (context.Context, func(), error) {
		entered++
		return ctx, func() { left++ }, nil
	})
	h.hears(l, 2, 3)
	h.silent(l)
	past := entered
	h.happens(0, 4)
	h.hears(l, 4)
	if past == 0 || entered != past || left != entered {
		t.Errorf("it took %d places for the past, %d in all, and left %d", past, entered, left)
	}
}

func TestWhoGoesOnAtACursorMissesNothingAndHasNothingTwice(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.New(t), t}
	first := h.listens(h.Staff(), 0, "")
	h.happens(h.Self.UID, 1, 2, 3)
	cursor := h.hears(first, 1, 2)
	first.Close()
	var many, late []int64
	for n := range int64(700) { // more than one read
		many = append(many, 10+n)
	}
	h.happens(h.Self.UID, many...)
	again := h.listens(h.Staff(), 0, cursor)
	h.hears(again, 3)
	h.hears(again, many[:600]...)
	for n := range int64(100) { // while it catches up
		late = append(late, 1000+n)
		h.happens(h.Self.UID, 1000+n)
	}
	h.hears(again, many[600:]...)
	h.hears(again, late...)
	h.happens(h.Self.UID, 5)
	h.hears(again, 5)
	h.silent(again)
	for _, bad := range []string{"nonsense", "1.999999999"} {
		if _, err := h.Live.Payments(h.Staff(), 0, 0, bad); err == nil {
			t.Errorf("a listener begins at %s", bad)
		}
	}
}

func TestWhoBeginsNowHearsNothingOfBefore(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.New(t), t}
	customer := h.Self.UID
	for uid := int64(1); uid < 20; uid += 2 {
		first := h.listens(h.Staff(), customer, "")
		h.happens(customer, uid)
		since := h.hears(first, uid)
		// Another listener reads further than what was handed out.
		h.happens(customer, uid+1)
		h.hears(h.listens(h.Staff(), customer, since), uid+1)
		last := h.listens(h.Staff(), customer, "")
		h.happens(customer, 100+uid)
		h.hears(last, 100+uid)
	}
}

func TestASlowListenerEndsAndOthersDoNot(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.New(t), t}
	slow, quick := h.listens(h.Staff(), 0, ""), h.listens(h.Staff(), 0, "")
	last := int64(1)
	h.happens(h.Self.UID, last)
	h.hears(slow, last)
	h.hears(quick, last)
	for range 4 {
		var some []int64
		for range 100 {
			last++
			some = append(some, last)
		}
		h.happens(h.Self.UID, some...)
		h.hears(quick, some...)
	}
	if _, err := slow.Next(t.Context()); !errors.Is(err, live.ErrSlow) {
		t.Errorf("a listener that is 400 changes late: %v", err)
	}
	h.happens(h.Self.UID, 9999)
	h.hears(quick, 9999)
}

func TestNobodyIsWatchedForWhenNobodyListens(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.New(t), t}
	if h.Live.Listeners(h.Tenant) > 0 || h.Live.Watched(h.Tenant) {
		t.Error("somebody listens")
	}
	l := h.listens(h.Staff(), 0, "")
	if h.Live.Listeners(h.Tenant) != 1 || !h.Live.Watched(h.Tenant) {
		t.Error("nobody listens")
	}
	l.Close()
	if h.Live.Listeners(h.Tenant) > 0 {
		t.Error("who has closed is counted")
	}
	for began := time.Now(); h.Live.Watched(h.Tenant); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 10*time.Second {
			t.Fatal("the feed is still watched")
		}
	}
}

// Two hundred listeners of a bank cost it what one does: a statement every 150 ms.
func TestManyListenersShareOneStatement(t *testing.T) {
	t.Parallel()
	h := &happened{coretest.Alone(t), t}
	counted := func() (calls int64) {
		h.t.Helper()
		err := h.Owner().QueryRowContext(t.Context(), `SELECT coalesce(sum(idx_scan + seq_scan), 0)
			FROM pg_stat_user_tables
			WHERE relname = 'audit_restores'`).Scan(&calls) // which only the statement of the feed reads meanwhile
		if err != nil {
			t.Fatal(err)
		}
		return calls
	}
	measure := func() int64 {
		time.Sleep(1500 * time.Millisecond) // statistics arrive late
		before := counted()
		time.Sleep(3 * time.Second)
		return counted() - before
	}
	h.listens(h.Staff(), 0, "")
	alone := measure()
	for range 199 {
		h.listens(h.Staff(), 0, "")
	}
	together := measure()
	t.Logf("reads of the feed in three seconds: %d for one listener, %d for 200", alone, together)
	if together > 2*alone+20 {
		t.Errorf("200 listeners cost %d reads, one costs %d", together, alone)
	}
}
