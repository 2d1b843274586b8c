package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// newLog writes text for people on a terminal, and else JSON for machines.
func newLog(to io.Writer) *slog.Logger { return logThrough(to, to) }

// logThrough writes to by, in the form that suits reader.
func logThrough(by, reader io.Writer) *slog.Logger {
	if terminalOf(reader) {
		return slog.New(requestLog{slog.NewTextHandler(by, nil)})
	}
	return slog.New(requestLog{slog.NewJSONHandler(by, &slog.HandlerOptions{ReplaceAttr: legible})})
}

// background writes log lines in the background, so that a reader who stops reading, such as a full pipe or a
// disk that hangs, delays nothing. Lines that do not fit into the queue are lost and counted.
type background struct {
	to       io.Writer
	queue    chan []byte
	lost     atomic.Int64 // lines
	reported int64        // of these, how many the log has reported
	stop     chan struct{}
	ended    chan struct{}
}

const (
	mostLines    = 4096        // in the queue
	longestFlush = time.Second // for the lines left at the end
)

func inBackground(to io.Writer) *background {
	b := &background{
		to: to, queue: make(chan []byte, mostLines), stop: make(chan struct{}), ended: make(chan struct{}),
	}
	go b.run()
	return b
}

// Write queues one line.
func (b *background) Write(line []byte) (int, error) {
	select {
	case b.queue <- bytes.Clone(line):
	default:
		b.lost.Add(1)
	}
	return len(line), nil
}

// counted adds the number of lost lines to the metrics, since a log that nobody reads cannot report them.
func (b *background) counted(m *meters) {
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "bankgraph_log_lines_lost_total", Help: "Lines that the reader of the log did not take in time.",
	}, func() float64 { return float64(b.lost.Load()) }))
}

func (b *background) run() {
	defer close(b.ended)
	for {
		select {
		case line := <-b.queue:
			b.write(line)
		case <-b.stop:
			for len(b.queue) > 0 {
				b.write(<-b.queue)
			}
			return
		}
	}
}

func (b *background) write(line []byte) {
	_, _ = b.to.Write(line) // there is nowhere else to report it
	if lost := b.lost.Load(); lost > b.reported {
		newLog(b.to).Warn("nobody read the log: lines were lost", "lines", lost-b.reported)
		b.reported = lost
	}
}

// close writes the lines that still wait, if somebody reads them.
func (b *background) close() {
	close(b.stop)
	select {
	case <-b.ended:
	case <-time.After(longestFlush):
	}
}

// outlive keeps the program alive when the reader of its log or output ends: the runtime would otherwise end
// it at the next line. It does not use signal.Ignore, which PostgreSQL would inherit.
func outlive() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// legible writes durations as text, such as 1.309s, where JSON would have a number without a unit.
func legible(_ []string, a slog.Attr) slog.Attr {
	if a.Value.Kind() == slog.KindDuration {
		a.Value = slog.StringValue(a.Value.Duration().String())
	}
	return a
}

// requestLog adds the request's id to every line written during a request.
type requestLog struct{ slog.Handler }

func (l requestLog) Handle(ctx context.Context, line slog.Record) error {
	if id := idOf(ctx); id != "" {
		line.AddAttrs(slog.String("request", id))
	}
	return l.Handler.Handle(ctx, line)
}

func (l requestLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return requestLog{l.Handler.WithAttrs(attrs)}
}

func (l requestLog) WithGroup(name string) slog.Handler { return requestLog{l.Handler.WithGroup(name)} }

func terminalOf(to io.Writer) bool {
	file, ok := to.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, but no terminal
	return err != nil || !os.SameFile(info, null)
}
