package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"
)

// round is the measurement of one round of one server.
type round struct {
	requests  int
	bytes     int64
	took      time.Duration
	latencies []time.Duration // sorted
	server    time.Duration   // CPU
	database  time.Duration   // CPU
}

func (r *round) perSecond() float64 { return float64(r.requests) / r.took.Seconds() }

func (r *round) cpu(of time.Duration) float64 {
	return of.Seconds() * 1000 / float64(r.requests)
}

// percentile returns milliseconds.
func (r *round) percentile(p float64) float64 {
	at := min(int(p*float64(len(r.latencies))), len(r.latencies)-1)
	return r.latencies[at].Seconds() * 1000
}

// load sends requests over a number of connections, each without pause, until the time is over. The choice of
// rows depends only on the seed, so both servers get the same requests. The client is as small as possible,
// since it shares the machine with what is measured.
func load(
	ctx context.Context, address string, connections int, lasts time.Duration, seed uint64,
	request func(*rand.Rand) []byte,
) (*round, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var (
		wait  sync.WaitGroup
		mu    sync.Mutex
		sum   round
		first error
	)
	started := time.Now()
	end := started.Add(lasts)
	for i := range connections {
		wait.Go(func() {
			var mine round
			err := mine.ask(ctx, address, end, rand.New(rand.NewPCG(seed, uint64(i))), request)
			mu.Lock()
			defer mu.Unlock()
			sum.requests += mine.requests
			sum.bytes += mine.bytes
			sum.latencies = append(sum.latencies, mine.latencies...)
			if err != nil && first == nil {
				first = err
				cancel()
			}
		})
	}
	wait.Wait()
	sum.took = time.Since(started)
	if first != nil {
		return nil, first
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	slices.Sort(sum.latencies)
	return &sum, nil
}

// ask sends the requests of one connection.
func (r *round) ask(
	ctx context.Context, address string, end time.Time, choice *rand.Rand, request func(*rand.Rand) []byte,
) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	in := bufio.NewReaderSize(conn, 64<<10)
	for begun := time.Now(); begun.Before(end); {
		if _, err := conn.Write(request(choice)); err != nil {
			return err
		}
		n, err := skipAnswer(in)
		if err != nil {
			return err
		}
		done := time.Now()
		r.latencies = append(r.latencies, done.Sub(begun))
		r.requests++
		r.bytes += int64(n)
		begun = done
	}
	return nil
}

// skipAnswer reads a whole answer and looks only at its status, its length and whether it begins like an
// error.
func skipAnswer(in *bufio.Reader) (length int, err error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	good := bytes.Contains(line, []byte(" 200 "))
	status := string(bytes.TrimSpace(line))
	length = -1
	for {
		if line, err = in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			break
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		if bytes.EqualFold(name, []byte("Content-Length")) {
			length = 0
			for _, digit := range bytes.TrimSpace(value) {
				length = length*10 + int(digit-'0')
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("an answer without Content-Length: %s", status)
	}
	if head, _ := in.Peek(min(length, 9)); !good || bytes.Equal(head, []byte(`{"errors"`)) {
		rest, _ := io.ReadAll(io.LimitReader(in, int64(length)))
		return 0, fmt.Errorf("%s: %.300s", status, rest)
	}
	_, err = in.Discard(length)
	return length, err
}

// fetch sends one request and returns the whole answer. Its headers have the counts of what it cost, if the
// server reports them.
func fetch(address string, request []byte) (body []byte, header http.Header, err error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, nil, err
	}
	defer conn.Close()
	if _, err := conn.Write(request); err != nil {
		return nil, nil, err
	}
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, nil, err
	}
	defer answer.Body.Close()
	if body, err = io.ReadAll(answer.Body); err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %.500s", answer.Status, body)
	}
	return body, answer.Header, err
}
