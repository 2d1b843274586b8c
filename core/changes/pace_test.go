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

// What takes too long is tried in halves: one that takes too long alone stops no other, and is tried last
// from then on.
func TestWhatTakesTooLongAloneStopsNoOther(t *testing.T) {
	t.Parallel()
	at := changes.NewPace(100)
	for range 2 {
		var taken []int
		n, err := changes.AllOrEach(t.Context(), at, upTo(100), number, slowWith(37, &taken))
		if n != 99 || slices.Contains(taken, 37) || len(taken) != 99 || at.Size() < 50 {
			t.Errorf("%d taken, %v, %d at a time", n, taken, at.Size())
		}
		if err == nil || err.Error() != "37 takes too long: work: context deadline exceeded" {
			t.Errorf("what people see: %v", err)
		}
	}
	tries := 0
	if n, err := changes.AllOrEach(t.Context(), at, upTo(100), number, func(some []int) (int, error) {
		tries++
		return len(some), nil
	}); n != 100 || err != nil || tries > 3 {
		t.Errorf("one that is quick again: %d in %d tries, %v", n, tries, err)
	}
	tries = 0
	if n, err := changes.AllOrEach(t.Context(), at, upTo(100), number, func(some []int) (int, error) {
		tries++
		return len(some), nil
	}); n != 100 || err != nil || tries != 1 {
		t.Errorf("none is tried alone any more: %d in %d tries, %v", n, tries, err)
	}
}

// One slow thing among others, wherever it stands, lets all others be done, though each call has time for few
// tries and is offered what it did not do before.
func TestCallsOfFewTriesGetPastASlowThing(t *testing.T) {
	t.Parallel()
	for _, slow := range []int{1, 2, 60, 125, 249, 250} {
		for _, most := range []int{1, 2, 5} { // slow tries within a call
			at, rest := changes.NewPace(250), upTo(250)
			for range 60 {
				ctx, cancel := context.WithCancel(t.Context())
				tries := 0
				_, _ = changes.AllOrEach(ctx, at, rest, number, func(some []int) (int, error) {
					if slices.Contains(some, slow) {
						if tries++; tries == most {
							cancel() // the time is over
						}
						return 0, context.DeadlineExceeded
					}
					rest = slices.DeleteFunc(slices.Clone(rest),
						func(n int) bool { return slices.Contains(some, n) })
					return len(some), nil
				})
				cancel()
			}
			if !slices.Equal(rest, []int{slow}) {
				t.Errorf("%d of 250 is slow, %d tries a call: %d are left", slow, most, len(rest))
			}
		}
	}
}

// As the time of a call ends, what it was at is not slow for that: a transaction hears of the end first.
func TestNothingIsSlowBecauseTheTimeIsOver(t *testing.T) {
	t.Parallel()
	at := changes.NewPace(250)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	late := lateContext{ctx} // its Err is not set yet
	tries := 0
	_, err := changes.AllOrEach(late, at, upTo(250), number, func([]int) (int, error) {
		tries++
		return 0, context.DeadlineExceeded
	})
	if err == nil || tries > 1 || at.Size() < 125 {
		t.Errorf("%d tries, %d at a time, %v", tries, at.Size(), err)
	}
}

type lateContext struct{ context.Context }

func (lateContext) Err() error { return nil }

// What is the same thing as one that failed is not done before it.
func TestWhatFollowsAThingWaitsWithIt(t *testing.T) {
	t.Parallel()
	at, of := changes.NewPace(250), func(n int) changes.Thing { return changes.Thing{Of: fmt.Sprint(n % 10)} }
	for range 2 {
		var taken []int
		n, err := changes.AllOrEach(t.Context(), at, upTo(30), of, func(some []int) (int, error) {
			if slices.Contains(some, 7) {
				return 0, errors.New("seven cannot be done")
			}
			taken = append(taken, some...)
			return len(some), nil
		})
		if n != 27 || err == nil || slices.ContainsFunc(taken, func(n int) bool { return n%10 == 7 }) {
			t.Errorf("%d %v: %v", n, err, taken)
		}
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
	n, err := changes.AllOrEach(t.Context(), changes.NewPace(9), []int{1, 2, 3}, number,
		func(some []int) (int, error) {
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
