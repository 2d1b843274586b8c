package demo

import (
	"context"
	"fmt"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/rails/calendar"
)

// lived is how many days the payments over the networks go back.
const lived = 26

// Live lets a bank that Fill has made live through the last weeks: its customers pay and are paid over every
// network, on the days and at the hours at which it would have happened, through the services that every
// payment goes through. The clock of the bank is behind meanwhile. With fresh, it begins; otherwise it goes
// on where a process that was killed has left it, and does nothing for a bank that has lived, or whose
// process was killed before it began. The caller is the operator; key makes the payments.
func Live(ctx context.Context, c *core.Core, key string, fresh bool, progress func(done, total int)) error {
	l := &life{Core: c, operator: ctx, clockwork: clockwork(c)}
	caller, err := access.Require(ctx, access.ManageTenants)
	if err != nil {
		return err
	}
	l.zone = caller.Location()
	caller.Client, caller.ClientName, caller.LoginID = key, key, ""
	caller.Entity, caller.Permissions = int64(Institution), access.All
	l.maker = access.With(ctx, caller)
	caller.Client, caller.ClientName, caller.User, caller.LoginID = "demo-linda", "demo-linda",
		named("linda.chen"), "linda.chen"
	l.checker = access.With(ctx, caller)

	today := c.Now().In(l.zone)
	if fresh {
		if err := c.Clock.Rewind(ctx, at(today.AddDate(0, 0, -lived), 6, 0)); err != nil {
			return fmt.Errorf("set the demo bank's clock back: %w", err)
		}
	}
	clock, err := c.Clock.Read(ctx)
	if err != nil || !clock.Behind {
		return err
	}
	for day := clock.Now.In(l.zone); !sameDay(day, today); day = day.AddDate(0, 0, 1) {
		if sameDay(day, today.AddDate(0, 0, -lived)) {
			if err := l.begin(); err != nil {
				return err
			}
		}
		if err := l.through(day); err != nil {
			return fmt.Errorf("live through %s: %w", day.Format(time.DateOnly), err)
		}
		progress(lived+1-int(today.Sub(day)/(24*time.Hour)), lived)
	}
	if err := l.until(c.Now().Add(-2 * time.Hour)); err != nil {
		return err
	}
	if err := l.leave(); err != nil {
		return err
	}
	if err := l.until(c.Now()); err != nil {
		return err
	}
	return c.Clock.CatchUp(ctx)
}

// life is one call of Live.
type life struct {
	*core.Core
	operator, maker, checker context.Context
	zone                     *time.Location
	clockwork                core.Clockwork
}

// clockwork does what is due of payments alone: sweeps of a large demo bank would take hours.
func clockwork(c *core.Core) core.Clockwork {
	p := c.Payments
	return core.Clockwork{
		Jobs: []core.Job{{Do: []core.Work{
			p.RunRecurrences, p.CarryOutDue, p.SendQueued, p.SealFiles, p.HandOver, p.Receive, p.SettleEntries,
			p.ExpireExceptions, p.ExpireScreenings, p.PostEntries, p.ExpireRequests, c.FX.CoverDue,
		}}},
		Due: []func(context.Context, time.Time) (*time.Time, error){p.Next, c.Sandbox.Next, c.FX.Next},
	}
}

func at(day time.Time, hour, minute int) time.Time {
	return time.Date(day.Year(), day.Month(), day.Day(), hour, minute, 0, 0, day.Location())
}

func sameDay(a, b time.Time) bool { return a.Format(time.DateOnly) == b.Format(time.DateOnly) }

// through lives through a day: payments are made in the morning.
func (l *life) through(day time.Time) error {
	if calendar.IsBankingDay(calendar.Today(at(day, 12, 0))) {
		if err := l.until(at(day, 9, 40)); err != nil {
			return err
		}
		for i, one := range customs {
			if !one.falls(day) {
				continue
			}
			for _, of := range []customers.UID{First, PartnersFirst} {
				if of != First && one.alone {
					continue
				}
				n := int64(of - Institution)
				if err := l.do(one, n, fmt.Sprintf("%s-%d-%d", day.Format("060102"), n, i), day); err != nil {
					return err
				}
			}
		}
	}
	return l.until(at(day, 23, 50))
}

// until lets the bank work until its clock shows a time, at each moment at which something is due.
func (l *life) until(to time.Time) error {
	for {
		if _, err := l.clockwork.Work(l.operator); err != nil {
			return err
		}
		clock, err := l.Clock.Read(l.operator)
		if err != nil || !clock.Now.Before(to) {
			return err
		}
		next, err := l.clockwork.Next(l.operator, clock.Now, to)
		if err != nil {
			return err
		}
		if err := l.Clock.Set(l.operator, next); err != nil {
			return err
		}
	}
}
