package db

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

func as(ctx context.Context, tenant int64, caller string) *share {
	return shareOf(WithShare(ctx, tenant, caller), 0)
}

// taken takes n places for a caller.
func taken(t *testing.T, q *places, who *share, n int) (leave []func()) {
	t.Helper()
	for range n {
		give, err := q.enter(t.Context(), who)
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, give)
	}
	return leave
}

func TestOneCallerNeverHoldsTheWholePool(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newPlaces(8)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		taken(t, q, as(t.Context(), 1, "loud"), 6)
		if _, err := q.enter(ctx, as(t.Context(), 1, "loud")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the seventh:", err)
		}
		taken(t, q, as(t.Context(), 1, "quiet"), 1) // of the same bank: at once
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := q.enter(ctx, as(t.Context(), 1, "third")); !errors.Is(err, context.DeadlineExceeded) {
			t.Error("the bank's eighth:", err)
		}
		taken(t, q, as(t.Context(), 2, "any"), 1) // of another bank: at once
	})
}

func TestWhoWaitsIsServedInTurnBanksFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newPlaces(2)
		held := taken(t, q, as(t.Context(), 1, "loud"), 2)
		var mu sync.Mutex
		var served []string
		var done []func()
		arrive := func(tenant int64, caller string) {
			go func() {
				leave, err := q.enter(t.Context(), as(t.Context(), tenant, caller))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				served, done = append(served, fmt.Sprint(tenant, caller)), append(done, leave)
			}()
			synctest.Wait()
		}
		for range 3 {
			arrive(1, "loud")
		}
		arrive(1, "quiet")
		arrive(2, "a")
		arrive(2, "b")
		arrive(2, "a")
		for _, leave := range held {
			leave()
			synctest.Wait()
		}
		for n := 0; n < 7; n++ {
			mu.Lock()
			leave := done[n]
			mu.Unlock()
			leave()
			synctest.Wait()
		}
		// The banks take turns, and in each bank the callers: loud, which came first and asks for most, is
		// served like the others.
		want := "[2a 1loud 2b 1quiet 2a 1loud 1loud]"
		if got := fmt.Sprint(served); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if len(q.banks) != 0 || q.free != 2 {
			t.Errorf("%d banks are remembered, %d places are free", len(q.banks), q.free)
		}
	})
}

func TestOneRequestReadsOnAFewConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q, ctx := newPlaces(16), WithShare(t.Context(), 1, "portal")
		var mu sync.Mutex
		now, most := 0, 0
		var running sync.WaitGroup
		for range 20 {
			running.Go(func() {
				err := q.read(ctx, func() error {
					mu.Lock()
					now++
					most = max(most, now)
					mu.Unlock()
					time.Sleep(time.Millisecond)
					mu.Lock()
					now--
					mu.Unlock()
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		if most != mostAtOnce {
			t.Errorf("%d connections at once", most)
		}
	})
}

// However callers come, wait, give up and go: no place is lost or given twice, nobody exceeds their part, and
// no place stays free while somebody who may have it waits.
func TestNoPlaceIsLost(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			size := rapid.IntRange(1, 16).Draw(rt, "places")
			q := newPlaces(size)
			var running sync.WaitGroup
			for range rapid.IntRange(1, 60).Draw(rt, "requests") {
				who := as(t.Context(), rapid.Int64Range(1, 3).Draw(rt, "bank"),
					rapid.StringMatching("[abc]").Draw(rt, "caller"))
				comes, works := rapid.IntRange(0, 20).Draw(rt, "comes"), rapid.IntRange(0, 20).
					Draw(rt, "works")
				patience := rapid.IntRange(1, 40).Draw(rt, "patience")
				running.Go(func() {
					time.Sleep(time.Duration(comes) * time.Millisecond)
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(patience)*time.Millisecond)
					defer cancel()
					leave, err := q.enter(ctx, who)
					if err != nil {
						return
					}
					time.Sleep(time.Duration(works) * time.Millisecond)
					q.mu.Lock()
					for _, bank := range q.banks {
						for _, caller := range bank.callers {
							if bank.held > bank.most || caller.held > caller.most || q.free < 0 {
								t.Errorf("%d free, a bank has %d, a caller %d of %d", q.free, bank.held, caller.held, size)
							}
						}
					}
					if waits, _ := q.next(); q.free > 0 && waits != nil {
						t.Error("a place is free and somebody waits")
					}
					q.mu.Unlock()
					leave()
				})
			}
			running.Wait()
			if q.free != size || len(q.banks) != 0 {
				t.Errorf("%d of %d places are free, %d banks remembered", q.free, size, len(q.banks))
			}
		})
	})
}
