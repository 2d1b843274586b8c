package changes_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/coretest"
)

// number is a number as a thing.
func number(n int) changes.Thing { return changes.Thing{ID: int64(n)} }

// upTo returns the numbers from 1 to n.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// slowWith is work on numbers that takes too long with one of them. It takes the rest.
func slowWith(slow int, taken *[]int) func([]int) (int, error) {
	return func(some []int) (int, error) {
		if slices.Contains(some, slow) {
			return 0, fmt.Errorf("work: %w", context.DeadlineExceeded)
		}
		*taken = append(*taken, some...)
		return len(some), nil
	}
}

// What takes too long is tried in halves: one that takes too long alone stops no other, and is left out for
// longer and longer.
func TestWhatTakesTooLongAloneStopsNoOther(t *testing.T) {
	t.Parallel()
	clock := coretest.Start
	at := changes.PaceBy(func() time.Time { return clock }, 100)
	var taken []int
	n, err := changes.AllOrEach(t.Context(), at, upTo(100), number, slowWith(37, &taken))
	if n != 99 || slices.Contains(taken, 37) || len(taken) != 99 || at.Size() < 50 {
		t.Errorf("%d taken, %v, %d at a time", n, taken, at.Size())
	}
	if err == nil || err.Error() != "37 takes too long and is left out for 10s: work: context deadline exceeded" {
		t.Errorf("what people see: %v", err)
	}
	for _, c := range []struct {
		after time.Duration
		want  string // in the error; "" if none
	}{
		{9 * time.Second, ""},
		{time.Second, "for 20s"},
		{19 * time.Second, ""},
		{time.Second, "for 40s"},
		{time.Hour, "for 1m20s"},
	} {
		clock = clock.Add(c.after)
		n, err := changes.AllOrEach(t.Context(), at, []int{37}, number, slowWith(37, &taken))
		if n != 0 || (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("after %s: %d %v, want %q", c.after, n, err, c.want)
		}
	}
	clock = clock.Add(time.Hour)
	if n, err := changes.AllOrEach(t.Context(), at, []int{37}, number, slowWith(0, &taken)); n != 1 || err != nil {
		t.Errorf("one that is quick again: %d %v", n, err)
	}
}

// A call that has time for one try alone leaves it to the next one to try less.
func TestWhatTakesTooLongIsTriedInHalvesByTheNextCall(t *testing.T) {
	t.Parallel()
	at := changes.NewPace(250)
	rest, sizes := upTo(250), []int{}
	for range 12 {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := changes.AllOrEach(ctx, at, rest, number, func(some []int) (int, error) {
			sizes = append(sizes, len(some))
			cancel() // the time is over
			if slices.Contains(some, 1) {
				return 0, context.DeadlineExceeded
			}
			rest = slices.DeleteFunc(rest, func(n int) bool { return slices.Contains(some, n) })
			return len(some), nil
		})
		if err == nil {
			t.Error("nothing is said of what is left")
		}
	}
	if want := []int{250, 125, 62, 31, 15, 7, 3, 1, 1, 2, 4, 8}; !slices.Equal(sizes, want) {
		t.Errorf("%v at a time", sizes)
	}
}

// What fails otherwise is not tried in halves, and does not slow the rest down.
func TestWhatFailsIsDoneAlone(t *testing.T) {
	t.Parallel()
	at := changes.NewPace(4)
	var taken, sizes []int
	n, err := changes.AllOrEach(t.Context(), at, upTo(10), number, func(some []int) (int, error) {
		if sizes = append(sizes, len(some)); slices.Contains(some, 2) {
			return 0, errors.New("two cannot be done")
		}
		taken = append(taken, some...)
		return len(some), nil
	})
	if n != 9 || err == nil || err.Error() != "two cannot be done" || slices.Contains(taken, 2) ||
		!slices.Equal(sizes, []int{4, 1, 1, 1, 1, 4, 2}) {
		t.Errorf("%d %v, %v, %v at a time", n, err, taken, sizes)
	}
}

// One of many things that panics stops none of the others.
func TestOneOfManyThatPanicsStopsNoOther(t *testing.T) {
	t.Parallel()
	var taken []int
	n, err := changes.AllOrEach(t.Context(), changes.NewPace(9), []int{1, 2, 3}, number, func(some []int) (int, error) {
		if slices.Contains(some, 1) {
			panic("a text of another bank")
		}
		taken = append(taken, some...)
		return len(some), nil
	})
	if n != 2 || err == nil || !strings.Contains(err.Error(), "a text of another bank") ||
		!slices.Equal(taken, []int{2, 3}) {
		t.Errorf("%d %v %v", n, taken, err)
	}
}
