package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/audit"
)

// workCommand runs the workers alone. Any number of them may run, beside any number of serve.
type workCommand struct {
	MetricsAddr string `env:"BANKGRAPH_METRICS_ADDR" default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Private address of /metrics; a free port by default, which is logged."`
}

// Validate checks what can be checked before anything starts; kong calls it.
func (c *workCommand) Validate() error {
	if _, _, err := net.SplitHostPort(c.MetricsAddr); err != nil {
		return fmt.Errorf("--metrics-addr (BANKGRAPH_METRICS_ADDR): %w", err)
	}
	return nil
}

// Run works until a signal comes.
func (c *workCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	log := newLog(t.errs)
	slog.SetDefault(log)
	listener, err := listen(c.MetricsAddr)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	defer listener.Close()
	b, err := open(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	meters := newMeters(b.DB)
	metrics := newServer(meters.handler(), log)
	failed := make(chan error, 1)
	go func() { failed <- metrics.Serve(listener) }()
	finish := work(ctx, log, b.jobs(s, meters, log))
	log.Info("working", "metrics", listener.Addr().String())
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	finish()
	log.Info("stopped")
	return errors.Join(err, metrics.Close())
}

// job is what workers do again and again. Each tick leaves what it could not do to the next one, of whatever worker.
type job struct {
	name  string
	every time.Duration
	tick  func(context.Context) error
}

// longestTick bounds a tick: also how long a stop waits for one.
const longestTick = 10 * time.Second

// work starts the jobs beside each other; they end with the context. finish waits for the ticks that run.
func work(ctx context.Context, log *slog.Logger, jobs []job) (finish func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	for _, j := range jobs {
		running.Go(func() {
			ticker := time.NewTicker(j.every)
			defer ticker.Stop()
			for {
				j.once(ctx, log)
				select {
				case <-ctx.Done():
					return
				case <-ticker.C:
				}
			}
		})
	}
	return func() { cancel(); running.Wait() }
}

// once is one tick, which may end what it began after a signal. A failure is logged; the next tick tries again.
func (j job) once(ctx context.Context, log *slog.Logger) {
	defer func() {
		if panicked := recover(); panicked != nil {
			log.Error("job failed", "job", j.name, "panic", panicked)
		}
	}()
	if ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestTick)
	defer cancel()
	if err := j.tick(ctx); err != nil {
		log.Error("job failed", "job", j.name, "error", err)
	}
}

// jobs are all there are.
func (b *bank) jobs(s *settings, meters *meters, log *slog.Logger) []job {
	var waiting atomic.Uint64 // seconds, as bits of a float
	meters.gauge("bankgraph_audit_waiting_seconds", "For how long the oldest audit entry has waited to be sealed.", nil,
		func() float64 { return math.Float64frombits(waiting.Load()) })
	keep := s.keeper(log)
	return []job{
		{"seal audit entries", time.Second, func(ctx context.Context) error { return b.sealAudit(ctx, keep, &waiting) }},
		{"seal regulatory entries", 10 * time.Second, b.sealReporting},
		{"move to new keys", time.Second, b.moveKeys(meters, log)},
	}
}

// sealAudit seals what every bank has written since the last tick, and signs what is due. What goes wrong at one bank
// does not keep the others waiting.
func (b *bank) sealAudit(ctx context.Context, keep func(audit.Checkpoint) error, waiting *atomic.Uint64) error {
	tails, err := b.Audit.Tails(access.Operator(ctx, 0, "", nil))
	if err != nil {
		return err
	}
	oldest, problems := 0.0, []error(nil)
	for _, tail := range tails {
		oldest = max(oldest, tail.Waiting)
		operator := access.Operator(ctx, tail.Tenant, tail.Code, nil)
		if _, err := b.Audit.Seal(operator); err != nil {
			problems = append(problems, err)
			continue
		}
		if tail.Unsaid {
			problems = append(problems, b.Audit.Sign(operator, b.Clients.Sign, keep))
		}
	}
	waiting.Store(math.Float64bits(oldest))
	return errors.Join(problems...)
}

// sealReporting seals what contacts have in the clear since the time before it was sealed. The next tick goes on where
// half of one is not enough.
func (b *bank) sealReporting(ctx context.Context) error {
	until := time.Now().Add(longestTick / 2)
	banks, err := b.Contacts.Unsealed(access.Operator(ctx, 0, "", nil))
	problems := []error{err}
	for _, tenant := range banks {
		operator := access.Operator(ctx, tenant, "", nil)
		for sealed := 1; sealed > 0 && time.Now().Before(until); {
			sealed, err = b.Contacts.Seal(operator)
			problems = append(problems, err)
		}
	}
	return errors.Join(problems...)
}

// keeper keeps checkpoints outside the database: in a file, or else in the log.
func (s *settings) keeper(log *slog.Logger) func(audit.Checkpoint) error {
	path := s.checkpointsFile()
	return func(c audit.Checkpoint) error {
		if path == "" {
			log.Info("audit checkpoint", "checkpoint", c)
			return nil
		}
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = file.Write(append(line, '\n'))
		return errors.Join(err, file.Sync(), file.Close())
	}
}
