package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// settles is how long the program is left alone before it is measured: it has looked at everything a few
// times.
const settles = 15 * time.Second

// standIdle adds so many banks in which nothing happens, and tells what each of them costs: all the time, the
// program looks whether anything is due.
func standIdle(ctx context.Context, o options, b *bank) error {
	program, err := build(ctx, b.work)
	if err != nil {
		return err
	}
	for i := range o.banks {
		command := exec.CommandContext(ctx, program, "tenant", "add", "--name", "Bench", "--zone",
			"America/New_York",
			"--currency", "USD", "--admin", "admin", "idle"+strconv.Itoa(i))
		command.Env = append(os.Environ(), b.settings()...)
		if out, err := command.CombinedOutput(); err != nil {
			return fmt.Errorf("add a bank: %w\n%s", err, out)
		}
	}
	server, err := serve(program, b.work, b.settings()...)
	if err != nil {
		return err
	}
	defer server.stop()
	measured := func(pause time.Duration) (ours, database time.Duration, err error) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, 0, ctx.Err()
		}
		if ours, err = server.cpu(); err == nil {
			database, err = cpuOfFamily(b.postmaster)
		}
		return ours, database, err
	}
	ours, database, err := measured(settles)
	if err != nil {
		return err
	}
	lasts := seconds(o.seconds)
	oursAfter, databaseAfter, err := measured(lasts)
	if err != nil {
		return err
	}
	share := func(cpu time.Duration) float64 {
		return 100 * cpu.Seconds() / lasts.Seconds() / float64(o.banks+1)
	}
	fmt.Printf("%d banks in which nothing happens: of each the program takes %.2f %% of a processor, "+
		"PostgreSQL %.2f %%\n", o.banks+1, share(oursAfter-ours), share(databaseAfter-database))
	return nil
}
