package probes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/probes"
)

type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

// trial is a counter whose time stands, and one of its callers.
type trial struct {
	*probes.Counter
	clock *clock
	ctx   context.Context
}

func begin(t *testing.T) *trial {
	t.Helper()
	at := &clock{time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
	return &trial{probes.New(at.now), at, as(t, "reader")}
}

func as(t *testing.T, client string, may ...access.Permission) context.Context {
	t.Helper()
	return access.With(t.Context(), access.Caller{Tenant: 7, Client: client, Permissions: may})
}

func (tr *trial) search(ctx context.Context, value string, missed bool) error {
	s := tr.Search([][]byte{[]byte(value)})
	if err := s.Begin(ctx); err != nil {
		return err
	}
	s.End(missed)
	return nil
}

// miss searches for some values that are not found, and returns the first error.
func (tr *trial) miss(ctx context.Context, name string, times int) error {
	for i := range times {
		if err := tr.search(ctx, fmt.Sprint(name, i), true); err != nil {
			return fmt.Errorf("%d: %w", i, err)
		}
	}
	return nil
}

func TestSixHundredValuesAreTriedOutInAMinute(t *testing.T) {
	t.Parallel()
	tr := begin(t)
	if err := tr.miss(tr.ctx, "a", 600); err != nil {
		t.Fatal(err)
	}
	for what, missed := range map[string]bool{"one that is there": false, "one that is not": true} {
		if err := tr.search(tr.ctx, what, missed); !errors.Is(err, probes.ErrMany) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := tr.miss(as(t, "another"), "a", 600); err != nil {
		t.Errorf("another caller: %v", err)
	}
	if err := tr.miss(as(t, "operator", access.ManageTenants), "a", 601); err != nil {
		t.Errorf("an operator: %v", err)
	}
	tr.clock.at = tr.clock.at.Add(time.Minute)
	if err := tr.miss(tr.ctx, "b", 600); err != nil {
		t.Errorf("a minute later: %v", err)
	}
}

// Daily work asks for what is there, and again and again for what is not yet there.
func TestWhatIsFoundOrKnownIsNotTriedOut(t *testing.T) {
	t.Parallel()
	tr := begin(t)
	for i := range 2000 {
		if err := tr.search(tr.ctx, fmt.Sprint("there", i), false); err != nil {
			t.Fatal(err)
		}
		if err := tr.search(tr.ctx, "not yet there", true); err != nil {
			t.Fatal(err)
		}
	}
	if err := tr.miss(tr.ctx, "a", 599); err != nil {
		t.Error(err)
	}
	if err := tr.search(tr.ctx, "not yet there", true); !errors.Is(err, probes.ErrMany) {
		t.Errorf("after 600: %v", err)
	}
}

func TestTenThousandValuesAreTriedOutInADay(t *testing.T) {
	t.Parallel()
	tr := begin(t)
	first := tr.clock.at
	for i := range 20 {
		if err := tr.miss(tr.ctx, fmt.Sprint("minute", i, " "), 500); err != nil {
			t.Fatal(err)
		}
		tr.clock.at = tr.clock.at.Add(time.Minute)
	}
	tr.clock.at = first.Add(24*time.Hour - time.Second)
	if err := tr.search(tr.ctx, "a", false); !errors.Is(err, probes.ErrManyInDay) {
		t.Errorf("within the day: %v", err)
	}
	tr.clock.at = first.Add(24 * time.Hour)
	if err := tr.search(tr.ctx, "a", true); err != nil {
		t.Errorf("a day later: %v", err)
	}
}

// Whoever asks for much at once does not get further.
func TestASearchCountsWhileItRuns(t *testing.T) {
	t.Parallel()
	tr := begin(t)
	var running []*probes.Search
	for i := range 600 {
		s := tr.Search([][]byte{[]byte(fmt.Sprint(i))})
		if err := s.Begin(tr.ctx); err != nil {
			t.Fatal(err)
		}
		running = append(running, s)
	}
	if err := tr.search(tr.ctx, "one more", false); !errors.Is(err, probes.ErrMany) {
		t.Errorf("beside 600: %v", err)
	}
	for _, s := range running {
		s.End(false)
	}
	if err := tr.search(tr.ctx, "one more", true); err != nil {
		t.Errorf("after they found something: %v", err)
	}
}
