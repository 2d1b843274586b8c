package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// figures are the results of the rounds of one workload.
type figures struct {
	ours, hand             []*round
	statements, roundTrips float64 // of the bank, for each request
	bytes                  float64 // for each answer
}

// checked is how many answers of a workload are compared before it is measured.
const checked = 40

// servers are the two that are measured, and inside, which answers like the bank and reports its costs.
type servers struct{ ours, hand, inside *child }

func startServers(b *bank, program string, most int) (s servers, err error) {
	// One key sends all requests. It may fill half of the room, which must have a place for each connection
	// where those are more than usual.
	settings := append(b.settings(), "BANKGRAPH_RATE=0", "BANKGRAPH_TENANT_RATE=0")
	if most > usualConnections {
		settings = append(settings, fmt.Sprintf("BANKGRAPH_IN_FLIGHT=%d", 2*most+2))
	}
	s.ours, err = serve(program, b.work, settings...)
	if err == nil {
		s.hand, err = startChild(b, "hand")
	}
	if err == nil {
		s.inside, err = startChild(b, "inside")
	}
	if err != nil {
		s.stop()
	}
	return s, err
}

func (s servers) stop() {
	for _, c := range []*child{s.ours, s.hand, s.inside} {
		if c != nil {
			c.stop()
		}
	}
}

// measure compares answers, warms both servers up and runs their rounds in turn.
func (s servers) measure(ctx context.Context, o options, b *bank, w *workload) (*figures, error) {
	f := &figures{}
	if err := f.compare(ctx, o, b, w, s); err != nil || o.check {
		return f, err
	}
	both := []struct {
		child   *child
		request func(string) []byte
		rounds  *[]*round
	}{{s.ours, w.ours, &f.ours}, {s.hand, w.hand, &f.hand}}
	for n := range o.rounds + 1 {
		for _, server := range both {
			lasts := seconds(o.seconds)
			if n == 0 { // to warm up plans, caches and pages
				lasts = min(lasts, 3*time.Second)
			}
			one, err := play(ctx, o, b, server.child, lasts, uint64(n),
				func(r *rand.Rand) []byte { return server.request(w.pick(r)) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", server.child.name, err)
			}
			if n > 0 {
				*server.rounds = append(*server.rounds, one)
			}
		}
		if n == 0 && w.writes != nil {
			if err := b.analyze(ctx); err != nil {
				return nil, err
			}
		}
	}
	return f, nil
}

// play runs one round and measures the CPU that it takes.
func play(
	ctx context.Context, o options, b *bank, c *child, lasts time.Duration, n uint64,
	request func(*rand.Rand) []byte,
) (*round, error) {
	server, err := c.cpu()
	if err != nil {
		return nil, err
	}
	database, err := cpuOfFamily(b.postmaster)
	if err != nil {
		return nil, err
	}
	one, err := load(ctx, c.address, o.connections, lasts, o.seed<<16+n, request)
	if err != nil {
		return nil, err
	}
	serverAfter, err := c.cpu()
	if err != nil {
		return nil, err
	}
	databaseAfter, err := cpuOfFamily(b.postmaster)
	if err != nil {
		return nil, err
	}
	one.server, one.database = serverAfter-server, databaseAfter-database
	return one, nil
}

// compare asks all servers for the same rows: a ratio means nothing if the answers differ by a byte.
func (f *figures) compare(ctx context.Context, o options, b *bank, w *workload, s servers) error {
	choice := rand.New(rand.NewPCG(o.seed, 0))
	// The first request checks the token, which is then remembered; it is not counted.
	first := w.pick(choice)
	if _, _, err := fetch(s.inside.address, w.ours(first)); err != nil {
		return fmt.Errorf("inside, %s: %w", first, err)
	}
	for range checked {
		row := w.pick(choice)
		ours, _, err := fetch(s.ours.address, w.ours(row))
		if err != nil {
			return fmt.Errorf("ours, %s: %w", row, err)
		}
		hand, _, err := fetch(s.hand.address, w.hand(row))
		if err != nil {
			return fmt.Errorf("hand, %s: %w", row, err)
		}
		metered := bytes.Replace(w.ours(row), []byte("\r\n"), []byte("\r\n"+meterHeader+": yes\r\n"), 1)
		inside, header, err := fetch(s.inside.address, metered)
		if err != nil {
			return fmt.Errorf("inside, %s: %w", row, err)
		}
		if w.writes != nil {
			if err := w.writes.sameRows(ctx, b, ours, hand); err != nil {
				return fmt.Errorf("%s: %w", row, err)
			}
			ours, hand, inside = blurred(ours), blurred(hand), blurred(inside)
		}
		if !bytes.Equal(ours, hand) || !bytes.Equal(ours, inside) {
			return fmt.Errorf("the answers for %s differ:\n%s\n%s", row, difference(ours, hand),
				difference(ours, inside))
		}
		if bytes.HasSuffix(ours, []byte(":null}}")) {
			return fmt.Errorf("%s is not there: does the data folder hold the demo bank of an "+
				"older program?", row)
		}
		statements, err := strconv.Atoi(header.Get(statementsHeader))
		roundTrips, err2 := strconv.Atoi(header.Get(roundTripsHeader))
		if err = errors.Join(err, err2); err != nil {
			return err
		}
		f.statements += float64(statements) / checked
		f.roundTrips += float64(roundTrips) / checked
		f.bytes += float64(len(ours)) / checked
	}
	return nil
}

// difference shows both texts from shortly before the first difference.
func difference(a, b []byte) string {
	at := 0
	for at < min(len(a), len(b)) && a[at] == b[at] {
		at++
	}
	from := max(0, at-60)
	cut := func(text []byte) []byte { return text[min(from, len(text)):min(at+60, len(text))] }
	return fmt.Sprintf("… %s …\n… %s …", cut(a), cut(b))
}

func median(rounds []*round, value func(*round) float64) float64 {
	values := make([]float64, len(rounds))
	for i, r := range rounds {
		values[i] = value(r)
	}
	slices.Sort(values)
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}

// profile saves a CPU profile and an allocation profile of the bank's faces under a workload.
func (s servers) profile(ctx context.Context, o options, b *bank, w *workload) error {
	if err := os.MkdirAll(o.profile, 0o755); err != nil {
		return err
	}
	const lasts = 12
	got := make(chan error, 1)
	go func() {
		got <- errors.Join(
			download(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%d", s.inside.address, lasts-2),
				filepath.Join(o.profile, w.letter+".cpu.pprof")),
			download(fmt.Sprintf("http://%s/debug/pprof/allocs", s.inside.address),
				filepath.Join(o.profile, w.letter+".allocs.pprof")),
		)
	}()
	_, err := play(ctx, o, b, s.inside, lasts*time.Second, 99,
		func(r *rand.Rand) []byte { return w.ours(w.pick(r)) })
	return errors.Join(err, <-got)
}

func download(from, to string) error {
	answer, err := http.Get(from)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	file, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, answer.Body)
	return errors.Join(err, file.Close())
}
