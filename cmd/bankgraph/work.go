package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/changes"
	"bankgraph/core/tenants"
)

// workCommand runs only the workers. Any number of work and serve processes may run together.
type workCommand struct {
	MetricsAddr string `env:"BANKGRAPH_METRICS_ADDR" default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Private address of /metrics; a free port by default, which is logged."`
}

// Validate checks the flags before anything starts; kong calls it.
func (c *workCommand) Validate() error {
	return checkAddress("--metrics-addr (BANKGRAPH_METRICS_ADDR)", c.MetricsAddr)
}

// Run works until a signal comes.
func (c *workCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	lines := inBackground(t.errs)
	defer lines.close()
	log := logThrough(lines, t.errs)
	slog.SetDefault(log)
	outlive()
	listener, err := listen(c.MetricsAddr)
	if err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	defer listener.Close()
	b, err := beginSealing(ctx, s)
	if err != nil {
		return err
	}
	defer b.stop()
	kept := s.kept(log, newLog(t.errs))
	if err := kept.open(); err != nil {
		return err
	}
	meters := newMeters(b.DB)
	lines.counted(meters)
	health := newHealth(meters)
	metrics := newServer(meters.handler(readiness(b.Core, health, func() bool { return ctx.Err() != nil },
		true)), log)
	failed := make(chan error, 1)
	go func() { failed <- metrics.Serve(listener) }()
	finish := work(ctx, log, b.Tenants.List, b.Live.Listeners,
		append(b.jobs(s, kept, meters, log), health.job(b, kept)))
	log.Info("working", "metrics", listener.Addr().String())
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	finish()
	log.Info("stopped")
	return errors.Join(err, metrics.Close())
}

// job is work that is repeated for each bank. What a tick cannot do is left to the next one, in any worker.
type job struct {
	name  string
	every time.Duration // between ticks that found nothing to do
	busy  time.Duration // between ticks that found something
	tick  func(context.Context) (busy bool, err error)
}

// longJobs are those whose ticks are long: they take no turn of the others, and do not pause while there is
// something to do, as no more than longTicksAtOnce of them run.
var longJobs = []string{"check files", "pay files"}

// wakes names the job that goes on with what a tick of another found: it does not wait for its own next tick.
var wakes = map[string]string{sealJob: deliverJob, deliverJob: postJob}

// Names of jobs that others name.
const (
	sealJob    = "seal audit entries"
	deliverJob = "make deliveries of events"
	postJob    = "post to webhooks"
)

// longestTick limits the time of a tick, and so the time that a stop waits for one.
const longestTick = 10 * time.Second

const (
	banksEvery  = time.Second // how often new banks are looked for
	ticksAtOnce = 4           // of all banks together, so that requests find connections

	longTicksAtOnce = 2 // beside them
)

// worker does the jobs of every bank. One tick of a bank runs at a time, and one long tick beside, so that a
// bank whose ticks hang takes only one of the slots of either kind.
type worker struct {
	log     *slog.Logger
	banks   func(context.Context) ([]*tenants.Tenant, error)
	listen  func(access.Tenant) int // how many wait for what a bank does next
	jobs    []job
	running sync.WaitGroup
	slots   chan struct{}
	aside   chan struct{} // slots of long ticks
	known   map[access.Tenant]bool
}

// work starts the jobs of every bank, and of banks that are added later. finish stops them and waits for the
// running ticks.
func work(
	ctx context.Context, log *slog.Logger, banks func(context.Context) ([]*tenants.Tenant, error),
	listen func(access.Tenant) int, jobs []job,
) (finish func()) {
	ctx, cancel := context.WithCancel(ctx)
	w := &worker{
		log: log, banks: banks, listen: listen, jobs: jobs, slots: make(chan struct{}, ticksAtOnce),
		aside: make(chan struct{}, longTicksAtOnce),
		known: map[access.Tenant]bool{},
	}
	w.running.Go(func() { w.each(ctx) })
	return func() { cancel(); w.running.Wait() }
}

// each starts the jobs of new banks.
func (w *worker) each(ctx context.Context) {
	for {
		banks, err := w.list(ctx)
		if err != nil && ctx.Err() == nil {
			w.log.Error("banks could not be listed", "error", err)
		}
		for _, bank := range banks {
			if w.known[bank.ID] {
				continue
			}
			w.known[bank.ID] = true
			turn, aside, woken := make(chan struct{}, 1), make(chan struct{}, 1), map[string]chan struct{}{}
			for _, j := range w.jobs {
				woken[j.name] = make(chan struct{}, 1)
			}
			for _, j := range w.jobs {
				places := []chan struct{}{turn, w.slots}
				if slices.Contains(longJobs, j.name) {
					places = []chan struct{}{aside, w.aside}
				}
				w.running.Go(func() { w.repeat(ctx, bank, j, places, woken[j.name], woken[wakes[j.name]]) })
			}
		}
		if !pause(ctx, banksEvery) {
			return
		}
	}
}

func (w *worker) list(ctx context.Context) ([]*tenants.Tenant, error) {
	ctx, cancel := context.WithTimeout(ctx, longestTick)
	defer cancel()
	return w.banks(access.Operator(ctx, 0, "", nil))
}

// repeat does a job of one bank until the context ends. While there is something to do it pauses for as long
// as the last tick took, unless it is one of longJobs; otherwise its pauses grow up to j.every, and woken
// ends them. A tick that found something wakes next, which may be nil. While somebody listens to the bank,
// entries are sealed as soon as though the last tick had found some, which wakes nobody.
func (w *worker) repeat(
	ctx context.Context, bank *tenants.Tenant, j job, places []chan struct{}, woken <-chan struct{},
	next chan<- struct{},
) {
	long := slices.Contains(longJobs, j.name)
	for wait := j.busy; ; {
		for _, place := range places {
			select {
			case place <- struct{}{}:
			case <-ctx.Done():
				return
			}
		}
		began := time.Now()
		busy, err := w.once(ctx, bank, j)
		for _, place := range places {
			<-place
		}
		if busy {
			select {
			case next <- struct{}{}:
			default:
			}
		}
		var early <-chan struct{}
		switch {
		case err != nil:
			wait = j.every
		case busy && long:
			wait = j.busy
		case busy, j.name == sealJob && w.listen(bank.ID) > 0:
			wait = max(j.busy, time.Since(began))
		default:
			wait, early = min(2*wait, j.every), woken
		}
		if !pauseUntil(ctx, wait, early) {
			return
		}
	}
}

// once runs one tick. A signal does not interrupt it. A failure is logged, and the next tick tries again.
func (w *worker) once(ctx context.Context, bank *tenants.Tenant, j job) (busy bool, err error) {
	log := w.log.With("job", j.name, "tenant", bank.Code)
	defer func() {
		if panicked := recover(); panicked != nil {
			log.Error("job failed", "panic", panicked)
			err = errors.New("panic")
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), longestTick)
	defer cancel()
	busy, err = j.tick(access.Operator(ctx, bank.ID, bank.Code, bank.Location()))
	if err != nil {
		log.Error("job failed", "error", err)
	}
	return busy, err
}

// pause waits. It returns false if the context ended.
func pause(ctx context.Context, wait time.Duration) bool { return pauseUntil(ctx, wait, nil) }

// pauseUntil is pause that early ends.
func pauseUntil(ctx context.Context, wait time.Duration, early <-chan struct{}) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-early:
		return true
	case <-timer.C:
		return true
	}
}

// jobs lists all jobs.
func (b *bank) jobs(s *settings, kept *keptFile, meters *meters, log *slog.Logger) []job {
	b.Payments.HoldSendingWhile(func(ctx context.Context) error {
		_, err := b.behind(ctx, kept)
		return err
	})
	all := []job{
		{
			sealJob, time.Second, 50 * time.Millisecond,
			func(ctx context.Context) (bool, error) { return b.sealAudit(ctx, kept) },
		},
		{"find audit entries that nobody seals", 10 * time.Minute, time.Second, b.sweepAudit(kept)},
		{"seal regulatory entries", 10 * time.Second, 50 * time.Millisecond, b.sealReporting},
		{"move to new keys", time.Second, 10 * time.Millisecond, b.moveKeys(meters, log)},
		{"move sandbox clocks", time.Second, 10 * time.Millisecond, b.AdvanceClock},
		{deliverJob, time.Second, 20 * time.Millisecond, each(b.Webhooks.Spread)},
		newPosting(meters).job(b, log),
		{"remove old deliveries", time.Hour, time.Second, func(ctx context.Context) (bool, error) {
			purged, err := b.Webhooks.Purge(ctx, s.KeepEvents)
			return purged > 0, err
		}},
		{
			"remove text of files that nobody reads any more", 10 * time.Second, 50 * time.Millisecond,
			each(b.Files.RemoveStray),
		},
		{
			"remove lines of which no payment was made", time.Hour, 100 * time.Millisecond,
			each(b.Files.RemoveUnpaid),
		},
		{"remove old events", time.Hour, time.Second, func(ctx context.Context) (bool, error) {
			purged, err := b.Events.Purge(ctx, s.KeepEvents)
			return purged > 0, err
		}},
		{"remove old idempotency keys", 10 * time.Minute, time.Second, func(ctx context.Context) (bool, error) {
			purged, err := b.Changes.PurgeKeys(ctx, s.KeepKeys)
			return purged > 0, err
		}},
	}
	all = append(all, clockJobs(b.Clockwork())...)
	if s.ProveEvery > 0 {
		all = append(all, newProving(meters).job(b, s.ProveEvery))
	}
	return all
}

// clockJobs lists what the bank does by itself.
func clockJobs(all core.Clockwork) (jobs []job) {
	for _, one := range all.Jobs {
		jobs = append(jobs, job{one.Name, one.Every, 10 * time.Millisecond, each(one.Do...)})
	}
	return jobs
}

// each makes a tick of work that says how much it did, one after the other.
func each(work ...core.Work) func(context.Context) (bool, error) {
	return func(ctx context.Context) (busy bool, err error) {
		for _, do := range work {
			done, failed := changes.Guarded(do, ctx)
			busy, err = busy || done > 0, errors.Join(err, failed)
		}
		return busy, err
	}
}

// sealAudit seals what the bank has written since the last tick, and signs what is due. If the database is
// another one than at the last signature, that is noted first. If it lacks what was kept, nothing is done:
// see health.
func (b *bank) sealAudit(ctx context.Context, kept *keptFile) (busy bool, err error) {
	tail, err := b.Audit.Tail(ctx)
	if err != nil || tail.Unsealed == 0 && !tail.Unsigned {
		return false, err
	}
	mark, err := b.behind(ctx, kept)
	if errors.Is(err, audit.ErrBehind) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if tail.Unsealed > 0 {
		_, err = b.Audit.Seal(ctx)
	}
	if err == nil && tail.Unsigned {
		err = b.Audit.Sign(ctx, b.Clients.Sign, kept.keep)
	}
	if errors.Is(err, audit.ErrMoved) {
		_, err = b.Audit.Resume(ctx, b.Clients.Sign, kept.keep, mark, "")
		return true, err
	}
	return tail.Unsealed > 0, err
}

// behind returns audit.ErrBehind if the database lacks what was kept of the bank's record.
func (b *bank) behind(ctx context.Context, kept *keptFile) (mark audit.KeptPlace, err error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return mark, err
	}
	mark = kept.last(caller.Tenant)
	return mark, b.Audit.Behind(ctx, mark)
}

// sweepAudit looks for unsealed entries: at first those of the last day, then those of the last 30 minutes.
// Before that it checks whether the database is another one than at the last signature, so that a restore is
// also noticed in a bank that writes nothing.
func (b *bank) sweepAudit(kept *keptFile) func(context.Context) (bool, error) {
	var begun sync.Map
	return func(ctx context.Context) (bool, error) {
		caller, err := access.Require(ctx)
		if err != nil {
			return false, err
		}
		mark, err := b.behind(ctx, kept)
		if errors.Is(err, audit.ErrBehind) {
			return false, nil
		}
		if err == nil {
			_, err = b.Audit.Resume(ctx, b.Clients.Sign, kept.keep, mark, "")
		}
		if err != nil {
			return false, err
		}
		within := 30 * time.Minute
		if _, again := begun.Load(caller.Tenant); !again {
			within = 24 * time.Hour
		}
		found, err := b.Audit.Sweep(ctx, within)
		if err == nil && found == 0 {
			begun.Store(caller.Tenant, true)
		}
		return found > 0, err
	}
}

// sealReporting seals regulatory entries of contacts that were stored before such entries were sealed.
func (b *bank) sealReporting(ctx context.Context) (bool, error) {
	sealed, err := b.Contacts.Seal(ctx)
	return sealed > 0, err
}
