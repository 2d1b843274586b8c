package core

import (
	"context"
	"errors"
	"time"

	"bankgraph/core/changes"
	"bankgraph/core/clock"
)

// Clockwork is work that a bank does by itself.
type Clockwork struct {
	// Jobs stand in the order in which one thing leads to another
	Jobs []Job
	// Due say when the next thing is due after a time; nil if none is
	Due []func(context.Context, time.Time) (*time.Time, error)
}

// Job is a part of the clockwork, and how often workers look whether it has anything to do.
type Job struct {
	Name  string
	Every time.Duration
	Do    []Work
}

// Work does some of what is due by the clock of the caller's bank, and says how much.
type Work = func(context.Context) (int, error)

// Clockwork lists all of it (core/README.md, what the bank does by itself): for workers, and for a clock that
// is moved. A demo bank lives by some of it (core/demo, life.go).
func (c *Core) Clockwork() Clockwork {
	p := c.Payments
	return Clockwork{
		Jobs: []Job{
			{"expire holds", 10 * time.Second, []Work{c.Holds.Expire}},
			{"expire quotes", 5 * time.Second, []Work{c.FX.Expire}},
			{"cover trades", 5 * time.Second, []Work{c.FX.CoverDue}},
			{"check files", time.Second, []Work{c.Files.Check}},
			{"pay files", time.Second, []Work{c.Files.Pay}},
			{"run waterfalls", time.Second, []Work{c.Waterfalls.Work}},
			{"run sweeps", 10 * time.Second, []Work{c.Sweeps.Work}},
			{"make payments of series", 10 * time.Second, []Work{p.RunRecurrences}},
			{"carry out due payments", 10 * time.Second, []Work{p.CarryOutDue}},
			{"send payments", time.Second, []Work{p.SendQueued, p.HandOver}},
			{"seal files of ACH", time.Second, []Work{p.SealFiles, p.HandOver}},
			{"receive from networks", time.Second, []Work{p.Receive}},
			{"settle entries of ACH", 10 * time.Second, []Work{p.SettleEntries}},
			{"end exceptions of positive pay", 10 * time.Second, []Work{p.ExpireExceptions}},
			{"end screenings of debits", 10 * time.Second, []Work{p.ExpireScreenings}},
			{"post entries of other banks", 10 * time.Second, []Work{p.PostEntries}},
			{"expire requests for payment", time.Minute, []Work{p.ExpireRequests}},
			{"end verifications of contacts", 10 * time.Second, []Work{c.Verifications.Work}},
			{"fire balance alerts", 2 * time.Second, []Work{c.Alerts.Fire}},
		},
		Due: []func(context.Context, time.Time) (*time.Time, error){
			p.Next, c.PositivePay.Next, c.Holds.Next, c.FX.Next, c.Sweeps.Next, c.Verifications.Next,
			c.Screening.Next, c.Sandbox.Next,
		},
	}
}

// Work does all that is due by the clock of the caller's bank, and returns how much that was.
func (c *Core) Work(ctx context.Context) (done int, err error) { return c.Clockwork().Work(ctx) }

// Work does all that is due by the clock of the caller's bank, and returns how much that was.
func (w Clockwork) Work(ctx context.Context) (done int, err error) {
	done, _, err = w.until(ctx, time.Now().Add(time.Hour))
	return done, err
}

// until does what is due by the clock of the caller's bank, until nothing is or it has worked long enough:
// then it has not finished. What fails keeps it from nothing else.
func (w Clockwork) until(ctx context.Context, end time.Time) (done int, finished bool, err error) {
	for again := true; again; {
		again = false
		before := err
		err = nil // what fails for good fails in each pass
		for _, job := range w.Jobs {
			for _, do := range job.Do {
				if time.Now().After(end) || ctx.Err() != nil {
					return done, false, errors.Join(before, err)
				}
				n, failed := changes.Guarded(do, ctx)
				done, again = done+n, again || n > 0
				err = errors.Join(err, failed)
			}
		}
	}
	return done, true, err
}

// Next returns when the next thing is due for the caller's bank after now, at most until a time. It is at the
// end of a second: what is due within one is done together, however many things that are.
func (w Clockwork) Next(ctx context.Context, now, until time.Time) (time.Time, error) {
	for _, ask := range w.Due {
		next, err := ask(ctx, now)
		if err != nil {
			return until, err
		}
		if next == nil {
			continue
		}
		if at := clock.UpTo(*next, time.Second); at.Before(until) {
			until = at
		}
	}
	return until, nil
}

// mostMoving bounds how long one call of AdvanceClock works.
const mostMoving = 6 * time.Second

// longestRelease is how long it may take to let others go on with a clock; its lease ends by itself.
const longestRelease = 2 * time.Second

// AdvanceClock moves the clock of the caller's bank on if it was asked to: from one time at which something
// is due to the next, and does at each what is due. It reports whether it moved. It is for workers: of many
// at a time one moves it, and another goes on where that one stopped.
func (c *Core) AdvanceClock(ctx context.Context) (moved bool, err error) {
	to, err := c.Clock.Lease(ctx)
	if err != nil || to == nil {
		return false, err
	}
	var arrived *time.Time
	end := time.Now().Add(mostMoving)
	release := func(arrived *time.Time) error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestRelease)
		defer cancel()
		return c.Clock.Release(ctx, arrived)
	}
	work := c.Clockwork()
	_, finished, failed := work.until(ctx, end)
	for finished && arrived == nil && time.Now().Before(end) {
		next, err := c.toNext(ctx, work, *to)
		if err != nil {
			return true, errors.Join(err, release(nil))
		}
		_, finished, err = work.until(ctx, end)
		failed = errors.Join(failed, err) // what cannot be done now stops no clock
		if finished && !next.Before(*to) {
			arrived = to
		}
	}
	return true, errors.Join(failed, release(arrived))
}

// toNext moves the clock of the caller's bank on to when the next thing is due, at most to a time, and
// returns when that is.
func (c *Core) toNext(ctx context.Context, work Clockwork, until time.Time) (time.Time, error) {
	reading, err := c.Clock.Read(ctx)
	if err != nil {
		return until, err
	}
	next, err := work.Next(ctx, reading.Now, until)
	if err != nil {
		return until, err
	}
	return next, c.Clock.Set(ctx, next)
}
