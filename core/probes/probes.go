// Package probes counts what callers try out: whole account numbers and tax ids that they search for, or name
// in payments, and that are not found, and numbers that they ask to have. Such values are shown masked, and
// whoever goes through them must get nowhere (rest/CONTRACT.md, lookup).
package probes

import (
	"context"
	"log/slog"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
)

const (
	most       = 600     // values that a party may try out within a minute
	mostInDay  = 10_000  // likewise within a day: where four of nine digits are shown, 100,000 are left
	mostTrying = 10_000  // parties that are remembered
	mostTried  = 100_000 // values that are remembered, so that they count once
)

var (
	// ErrMany is returned to a caller that has tried out too many values within a minute.
	ErrMany = fault.New(fault.TooMany, "caller.too_many",
		"too many account numbers or tax ids were tried out with this API key, try again in a minute")

	// ErrManyInDay is returned to a caller that has tried out too many values within a day.
	ErrManyInDay = fault.New(fault.TooMany, "caller.too_many_in_a_day",
		"too many account numbers or tax ids were tried out with this API key within 24 hours, try again later")
)

// Counter counts the values that each party tries out, in this process. Operators are not counted.
type Counter struct {
	now   func() time.Time
	inDay int // how many may be tried out within a day; 0 if only minutes count

	mu    sync.Mutex
	by    *lru.Cache[prober, *tried]
	known *lru.Cache[probe, time.Time] // when a value was tried out
}

type prober struct {
	tenant access.Tenant
	party  string
}

// probe is a value that a party tried out, by its keyed hash.
type probe struct {
	by   prober
	hash string
}

// tried is what a party has tried out.
type tried struct {
	minute, day window
	told        bool // the log says that the day's bound was reached
}

// window is how many values were tried out since a time.
type window struct {
	since time.Time
	times int
}

// New makes a counter.
func New(now func() time.Time) *Counter {
	c := NewPaced(now)
	c.inDay = mostInDay
	return c
}

// NewPaced makes a counter without a bound for the day.
func NewPaced(now func() time.Time) *Counter {
	c := &Counter{now: now}
	c.by, _ = lru.New[prober, *tried](mostTrying)
	c.known, _ = lru.New[probe, time.Time](mostTried) // neither fails: the sizes are above zero
	return c
}

// Add counts some more values that the caller tried out, or none. It counts nothing and returns ErrMany or
// ErrManyInDay if the caller has tried out too many before.
func (c *Counter) Add(caller access.Caller, times int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.add(caller, times, times)
	return err
}

// Pace counts a value within the minute alone: one that a caller may name more often in a day.
func (c *Counter) Pace(caller access.Caller) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.add(caller, 1, 0) // who has tried out too many already does not get further
}

func (c *Counter) add(caller access.Caller, inMinute, inDay int) (at time.Time, err error) {
	at = c.now()
	if caller.May(access.ManageTenants) {
		return at, nil
	}
	who := proberOf(caller)
	of, known := c.by.Get(who)
	if !known {
		of = &tried{}
		c.by.Add(who, of)
	}
	if of.day.begin(at, day) {
		of.told = false
	}
	of.minute.begin(at, time.Minute)
	switch {
	case c.inDay > 0 && of.day.times >= c.inDay:
		if !of.told {
			of.told = true
			slog.Warn("a caller has tried out as many account numbers and tax ids as it may within a day",
				"tenant", caller.TenantCode, "party", who.party)
		}
		return at, ErrManyInDay
	case of.minute.times >= most:
		return at, ErrMany
	}
	of.minute.times += inMinute
	of.day.times += inDay
	return at, nil
}

const day = 24 * time.Hour

func proberOf(caller access.Caller) prober { return prober{caller.Tenant, caller.Party()} }

// begin begins a window anew if the time is not within it, and reports whether it did.
func (w *window) begin(now time.Time, length time.Duration) bool {
	if !w.since.IsZero() && !now.Before(w.since) && now.Sub(w.since) < length {
		return false
	}
	*w = window{since: now}
	return true
}

// giveBack takes a value out again that was counted at a time.
func (w *window) giveBack(at time.Time) {
	if w.times > 0 && !at.Before(w.since) {
		w.times--
	}
}

// Naming carries out a change that names a whole number; an empty or masked one names none. The number counts
// as tried out if the change is refused for anything that may tell whose it is.
func Naming[R any](c *Counter, caller access.Caller, number string, change func() (R, error)) (out R, err error) {
	if number == "" || seal.LooksMasked(number) {
		return change()
	}
	if err = c.Add(caller, 0); err != nil {
		return out, err
	}
	if out, err = change(); Tells(err) {
		_ = c.Add(caller, 1) // what it was refused for is the answer
	}
	return out, err
}

// Tells reports whether a refusal may tell who has a number that was asked for.
func Tells(err error) bool {
	why, is := fault.Of(err)
	return is && (why.Kind == fault.Invalid || why.Kind == fault.Conflict || why.Kind == fault.State ||
		why.Kind == fault.NotFound)
}

// Search returns the keyed hashes of a whole value as a value of a query. If nothing is found by it, the
// caller has tried it out: once, if it searches for the same value again within a day. It counts while the
// query runs, so that a caller does not get further by asking much at once.
func (c *Counter) Search(hashes [][]byte) *Search {
	return &Search{counter: c, hashes: hashes, key: string(hashes[0])}
}

// Search is a db.Sought.
type Search struct {
	counter *Counter
	hashes  [][]byte
	key     string

	caller  access.Caller
	at      time.Time
	counted bool
}

// As returns the same value with the hashes of another column that it is looked for in.
func (s *Search) As(hashes [][]byte) *Search {
	return &Search{counter: s.counter, hashes: hashes, key: s.key}
}

// Plain implements db.Sought.
func (s *Search) Plain() any { return s.hashes }

// Key implements db.Sought.
func (s *Search) Key() any { return s.key }

// Now counts a search that has been carried out already, in the name of a caller. Its result is not told
// where Now returns an error.
func (s *Search) Now(caller access.Caller, missed bool) error {
	err := s.begin(caller)
	s.End(missed)
	return err
}

// Begin implements db.Sought.
func (s *Search) Begin(ctx context.Context) error {
	caller, err := access.Require(ctx)
	if err != nil {
		return err
	}
	return s.begin(caller)
}

func (s *Search) begin(caller access.Caller) (err error) {
	s.caller = caller
	c := s.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	before, again := c.known.Get(s.probe())
	if again && c.now().Sub(before) < day {
		s.at, err = c.add(s.caller, 0, 0)
		return err
	}
	s.at, err = c.add(s.caller, 1, 1)
	s.counted = err == nil
	return err
}

// End implements db.Sought.
func (s *Search) End(missed bool) {
	if !s.counted {
		return
	}
	c := s.counter
	c.mu.Lock()
	defer c.mu.Unlock()
	if missed {
		c.known.Add(s.probe(), s.at)
	} else if of, known := c.by.Get(proberOf(s.caller)); known {
		of.minute.giveBack(s.at)
		of.day.giveBack(s.at)
	}
}

func (s *Search) probe() probe { return probe{proberOf(s.caller), s.key} }
