package core

import (
	"context"
	"errors"
	"time"
)

// work lists what the bank does by itself, in the order in which one thing leads to another (core/README.md,
// what the bank does by itself). Each does some, and says how much. A demo bank lives by some of it (core/demo,
// life.go).
func (c *Core) work() []func(context.Context) (int, error) {
	p := c.Payments
	return []func(context.Context) (int, error){
		c.Holds.Expire, c.FX.Expire, c.FX.CoverDue, c.Files.Check, c.Files.Pay, c.Waterfalls.Work, c.Sweeps.Work,
		p.RunRecurrences, p.CarryOutDue, p.SendQueued, p.SealFiles, p.HandOver, p.Receive, p.SettleEntries,
		p.ExpireExceptions, p.PostEntries, p.ExpireRequests, c.Verifications.Work, c.Alerts.Fire,
	}
}

// Work does all that is due by the clock of the caller's bank, and returns how much that was.
func (c *Core) Work(ctx context.Context) (done int, err error) {
	done, _, err = c.workUntil(ctx, time.Now().Add(time.Hour))
	return done, err
}

// workUntil does what is due by the clock of the caller's bank, until nothing is or it has worked long
// enough: then it has not finished.
func (c *Core) workUntil(ctx context.Context, end time.Time) (done int, finished bool, err error) {
	for again := true; again; {
		again = false
		for _, do := range c.work() {
			if time.Now().After(end) || ctx.Err() != nil {
				return done, false, err
			}
			n, failed := do(ctx)
			done, again = done+n, again || n > 0
			err = errors.Join(err, failed)
		}
		if err != nil {
			return done, true, err
		}
	}
	return done, true, nil
}

// mostMoving bounds how long one call of AdvanceClock works.
const mostMoving = 6 * time.Second

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
	release := func(arrived *time.Time) error { return c.Clock.Release(context.WithoutCancel(ctx), arrived) }
	_, finished, failed := c.workUntil(ctx, end)
	for finished && arrived == nil && time.Now().Before(end) {
		var next time.Time
		if next, err = c.nextEvent(ctx, *to); err == nil {
			err = c.Clock.Set(ctx, next)
		}
		if err != nil {
			return true, errors.Join(err, release(nil))
		}
		_, finished, err = c.workUntil(ctx, end)
		failed = errors.Join(failed, err) // what cannot be done now stops no clock
		if finished && !next.Before(*to) {
			arrived = to
		}
	}
	return true, errors.Join(failed, release(arrived))
}

// nextEvent returns when the next thing is due for the caller's bank, at most until a time.
func (c *Core) nextEvent(ctx context.Context, until time.Time) (time.Time, error) {
	reading, err := c.Clock.Read(ctx)
	if err != nil {
		return until, err
	}
	for _, ask := range []func(context.Context, time.Time) (*time.Time, error){
		c.Payments.Next, c.PositivePay.Next, c.Holds.Next, c.FX.Next, c.Sweeps.Next, c.Verifications.Next, c.Sandbox.Next,
	} {
		next, err := ask(ctx, reading.Now)
		if err != nil {
			return until, err
		}
		if next != nil && next.Before(until) {
			until = *next
		}
	}
	return until, nil
}
