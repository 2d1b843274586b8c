package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"bankgraph/core/changes"
	networks "bankgraph/core/sandbox"
)

// clockCommand shows the clock of a sandbox bank, and moves it on.
type clockCommand struct {
	Tenant string    `env:"BANKGRAPH_TENANT" placeholder:"CODE" help:"Code of the bank; not needed while there is only one."`
	To     time.Time `format:"2006-01-02T15:04:05Z07:00" placeholder:"TIME" help:"Move it on to a time, such as 2026-12-01T09:00:00-05:00."`
	By     span      `placeholder:"DURATION" help:"Move it on by a duration, such as 72h or 3d."`
}

// span is a duration of whole minutes, which may be a number of days.
type span time.Duration

// UnmarshalText reads a duration such as 1h30m or 5d.
func (s *span) UnmarshalText(text []byte) error {
	if days, is := strings.CutSuffix(string(text), "d"); is {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			*s = span(n) * span(24*time.Hour)
			return nil
		}
	}
	by, err := time.ParseDuration(string(text))
	if err == nil && by%time.Minute != 0 {
		err = errors.New("must be whole minutes")
	}
	*s = span(by)
	return err
}

func (c *clockCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	of, bank, err := b.operator(ctx, c.Tenant)
	if err != nil {
		return err
	}
	if !c.To.IsZero() || c.By != 0 {
		move := networks.Move{To: c.To, Minutes: int32(min(time.Duration(c.By)/time.Minute, 1<<30))}
		if _, err := b.Sandbox.MoveClock(of, move, changes.RequestOptions{}); err != nil {
			return err
		}
		for moving := true; moving && err == nil; { // beside workers that run, of which one moves it at a time
			if _, err = b.AdvanceClock(of); err != nil {
				break
			}
			reading, failed := b.Clock.Read(of)
			if moving, err = reading.Target != nil, failed; moving {
				if !pause(ctx, 100*time.Millisecond) {
					break
				}
			}
		}
		if err != nil {
			return err
		}
	}
	reading, err := b.Clock.Read(of)
	if err != nil {
		return err
	}
	fmt.Fprintln(t.out, reading.Now.In(bank.Location()).Format(time.RFC3339))
	return nil
}
