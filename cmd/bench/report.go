package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// report prints at once, and keeps what it printed.
type report struct {
	options options
	bank    *bank
	text    bytes.Buffer
}

func (r *report) printf(format string, values ...any) {
	line := fmt.Sprintf(format, values...)
	fmt.Print(line)
	r.text.WriteString(line)
}

func (r *report) head() {
	r.printf("bankgraph %s, %s\n", commit(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))
	r.printf("%s, %d processors, %s, PostgreSQL %s with fsync\n", processor(), runtime.NumCPU(),
		runtime.Version(), r.bank.version)
	r.printf("%d customers (%s), %d rounds of %.0f s each, medians; server, database and load share the "+
		"machine\n\n",
		r.options.customers, r.bank.size, r.options.rounds, r.options.seconds)
}

func (r *report) workload(w *workload, f *figures, connections int) {
	r.printf("%s  %s; answer %.1f KB; %d connections\n", w.letter, w.name, f.bytes/1000, connections)
	r.printf("   %-6s %10s %8s %8s %14s %14s %12s\n", "", "requests/s", "p50 ms", "p99 ms", "server CPU ms",
		"database ms", "sum CPU ms")
	r.server("ours", f.ours)
	r.server("hand", f.hand)
	speed := func(x *round) float64 { return x.perSecond() }
	work := func(x *round) float64 { return x.cpu(x.server + x.database) }
	ratio := median(f.ours, speed) / median(f.hand, speed)
	verdict := "below the floor"
	switch {
	case ratio >= w.goal:
		verdict = "reaches the goal"
	case ratio >= w.floor:
		verdict = "above the floor"
	}
	r.printf("   ratio  %10.2f (floor %.2f, goal %.2f: %s); by CPU %.2f; ours %.1f SQL statements in %.1f "+
		"round trips\n\n",
		ratio, w.floor, w.goal, verdict, median(f.hand, work)/median(f.ours, work), f.statements, f.roundTrips)
}

// books proves the bank's books after all that was written, and tells of deadlocks.
func (r *report) books(ctx context.Context, program string) error {
	command := exec.CommandContext(ctx, program, "proof")
	command.Env = append(os.Environ(), r.bank.settings()...)
	said, err := command.CombinedOutput()
	if err != nil {
		return fmt.Errorf("prove the books: %w\n%.2000s", err, said)
	}
	conn, err := pgx.Connect(ctx, r.bank.owner)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	var deadlocks int64
	err = conn.QueryRow(ctx,
		"SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()").Scan(&deadlocks)
	r.printf("   after all: %s; deadlocks: %d\n\n", strings.TrimSpace(string(said)), deadlocks)
	return err
}

func (r *report) starts(all []start) {
	middle := func(value func(start) time.Duration) float64 {
		values := make([]time.Duration, len(all))
		for i, s := range all {
			values[i] = value(s)
		}
		slices.Sort(values)
		return values[len(values)/2].Seconds()
	}
	r.printf("%s  Start to the first answer over GraphQL: the first, with a new database and 250 customers, "+
		"%.2f s; a later one %.2f s\n\n", startLetter,
		middle(func(s start) time.Duration { return s.first }),
		middle(func(s start) time.Duration { return s.later }))
}

func (r *report) server(name string, rounds []*round) {
	r.printf("   %-6s %10.0f %8.2f %8.2f %14.3f %14.3f %12.3f\n", name,
		median(rounds, (*round).perSecond),
		median(rounds, func(x *round) float64 { return x.percentile(0.5) }),
		median(rounds, func(x *round) float64 { return x.percentile(0.99) }),
		median(rounds, func(x *round) float64 { return x.cpu(x.server) }),
		median(rounds, func(x *round) float64 { return x.cpu(x.database) }),
		median(rounds, func(x *round) float64 { return x.cpu(x.server + x.database) }))
}

// save appends the text to the file of the day.
func (r *report) save() error {
	folder := filepath.Join("cmd", "bench", "results")
	if _, err := os.Stat(filepath.Dir(folder)); err != nil {
		return fmt.Errorf("-save works in the repository's top folder: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	name := filepath.Join(folder, time.Now().UTC().Format(time.DateOnly)+".txt")
	file, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err = file.Write(r.text.Bytes()); err == nil {
		fmt.Println("kept in", name)
	}
	return err
}

// commit is the measured version, or "" outside of git.
func commit() string {
	text, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "(unknown commit)"
	}
	return strings.TrimSpace(string(text))
}

func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
