// Command bench measures the bank beside handlers written by hand, on the same database and behind the same
// token check, and prints the comparison.
//
//	go run ./cmd/bench -customers 100000 -data /tmp/bench
//
// With -keys it instead tests the promise of idempotency keys: many copies of each request at once, over REST
// and over GraphQL, have one effect and one answer.
//
//	go run ./cmd/bench -customers 250 -keys 1000 -copies 50
//
// With -attack one key does its worst, and the report shows what callers of the same bank and of another one
// notice:
//
//	go run ./cmd/bench -customers 1000 -attack slow-readers
//
// With -lines it uploads a file of payments, and tells how long it takes until all are made, how much memory
// that costs, and how much faster it would be just to parse the file and copy its rows into a table; then
// what reads and the proof of the books cost with so many payments in the bank:
//
//	go run ./cmd/bench -customers 250 -lines 100000
//
// If it is a file of NACHA, the files that the bank sends for these payments are written too, and measured.
//
// With -changes it makes payments one by one, and tells how long after each answer a subscriber and a webhook
// have heard of it, and what a subscriber costs to whom nothing happens:
//
//	go run ./cmd/bench -customers 250 -changes 500
//
// It starts a PostgreSQL of its own (fsync on), fills a demo bank, and runs each server in a process of its
// own: "bankgraph serve" from the working tree, and plain net/http with pgx, structs and encoding/json that
// answers the same bytes (hand.go). Rounds of the two alternate, so that other load on the machine affects
// both. Results are kept in the folder results.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

type options struct {
	customers   int
	seconds     float64
	rounds      int
	connections int
	data        string
	only        string
	save        bool
	profile     string
	check       bool
	statements  bool
	seed        uint64
	keys        int
	copies      int
	attack      string
	lines       int
	format      string
	watch       bool
	changes     int
	banks       int
}

func main() {
	if child := os.Getenv(childVariable); child != "" {
		if err := runChild(child); err != nil {
			fmt.Fprintln(os.Stderr, "bench, child:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	flag.IntVar(&o.customers, "customers", 100_000, "customers of the demo bank")
	flag.Float64Var(&o.seconds, "seconds", 5, "length of a round")
	flag.IntVar(&o.rounds, "rounds", 5, "rounds of each server for each workload")
	flag.IntVar(&o.connections, "connections", 0,
		fmt.Sprintf("connections that ask at the same time; 0: %d, for payments 64", usualConnections))
	flag.StringVar(&o.data, "data", "",
		"folder that keeps the filled bank for the next run; a throw-away one without it")
	flag.StringVar(&o.only, "only", "", "letters of the workloads to run, such as a,b; all without it")
	flag.BoolVar(&o.save, "save", false, "keep the results in cmd/bench/results")
	flag.StringVar(&o.profile, "profile", "",
		"folder for CPU and allocation profiles of the bank under each workload")
	flag.BoolVar(&o.statements, "statements", false,
		"tell what each statement costs PostgreSQL; needs its pg_stat_statements")
	flag.BoolVar(&o.check, "check", false, "only compare the answers")
	flag.Uint64Var(&o.seed, "seed", 1, "of the choice of customers")
	flag.IntVar(&o.keys, "keys", 0,
		"instead of measuring: change something with so many idempotency keys, over each face")
	flag.IntVar(&o.copies, "copies", 50, "how many times each of the keys is sent at once")
	flag.StringVar(&o.attack, "attack", "",
		"instead of measuring: attack with one key, and tell what bystanders notice; all, or one of "+
			attackNames())
	flag.IntVar(&o.lines, "lines", 0,
		"instead of measuring: upload a file of so many payments, and tell how long they take, "+
			"and how much memory")
	flag.StringVar(&o.format, "format", "csv", "of that file: csv, of instant payments, or ach, which is NACHA")
	flag.BoolVar(&o.watch, "watch", false,
		"with -lines: tell too what bystanders notice, who send requests meanwhile")
	flag.IntVar(&o.changes, "changes", 0,
		"instead of measuring: make so many payments, and tell how soon subscribers and webhooks have "+
			"heard of them")
	flag.IntVar(&o.banks, "banks", 0,
		"instead of measuring: add so many banks in which nothing happens, and tell what each costs")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	if o.keys < 0 || o.lines < 0 || o.changes < 0 || o.banks < 0 || o.copies < 1 {
		return errors.New("-keys, -lines, -changes and -banks must not be below zero, and -copies " +
			"must be above")
	}
	if o.customers < 1 || o.rounds < 1 || o.connections < 0 || o.seconds <= 0 {
		return errors.New("-customers, -rounds, -connections and -seconds must be above zero")
	}
	b, err := openBank(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	if o.keys > 0 {
		return keepPromise(ctx, o, b)
	}
	if o.attack != "" {
		return withstand(ctx, o, b)
	}
	if o.lines > 0 {
		if err := takeFile(ctx, o, b); err != nil || o.format != "ach" {
			return err
		}
		return b.writeAfter(ctx)
	}
	if o.changes > 0 {
		return tellChanges(ctx, o, b)
	}
	if o.banks > 0 {
		return standIdle(ctx, o, b)
	}
	chosen, err := choose(ctx, b, o.only)
	if err != nil {
		return err
	}
	program, err := build(ctx, b.work)
	if err != nil {
		return err
	}
	r := &report{options: o, bank: b}
	r.head()
	s, err := startServers(b, program, o.most(chosen))
	if err != nil {
		return err
	}
	defer s.stop()
	for _, w := range chosen {
		o := o.of(w)
		f, err := s.measure(ctx, o, b, w)
		if err != nil {
			return fmt.Errorf("workload %s: %w", w.letter, err)
		}
		if o.check {
			continue
		}
		r.workload(w, f, o.connections)
		if o.statements {
			if err := s.statements(ctx, o, b, w, r); err != nil {
				return fmt.Errorf("statements of workload %s: %w", w.letter, err)
			}
		}
		if o.profile != "" {
			if err := s.profile(ctx, o, b, w); err != nil {
				return fmt.Errorf("profile workload %s: %w", w.letter, err)
			}
		}
	}
	if err := r.books(ctx, program); err != nil {
		return err
	}
	if !o.check && (o.only == "" || strings.Contains(o.only, startLetter)) {
		all, err := starts(ctx, program, b.work, o.rounds)
		if err != nil {
			return err
		}
		r.starts(all)
	}
	if o.save {
		return r.save()
	}
	return nil
}

// usualConnections ask at the same time where nothing else is said.
const usualConnections = 16

// of returns the options with the connections of a workload.
func (o options) of(w *workload) options {
	o.connections = cmp.Or(o.connections, w.connections, usualConnections)
	return o
}

// most returns the largest number of connections of these workloads.
func (o options) most(all []*workload) (most int) {
	for _, w := range all {
		most = max(most, o.of(w).connections)
	}
	return most
}

// choose picks workloads by their letters.
func choose(ctx context.Context, b *bank, only string) ([]*workload, error) {
	all, err := workloads(ctx, b)
	if err != nil || only == "" {
		return all, err
	}
	var chosen []*workload
	for letter := range strings.SplitSeq(only, ",") {
		found := strings.TrimSpace(letter) == startLetter
		for _, w := range all {
			if w.letter == strings.TrimSpace(letter) {
				chosen, found = append(chosen, w), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no workload is called %q", letter)
		}
	}
	return chosen, nil
}

// startLetter is the workload that starts the program.
const startLetter = "f"

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }
