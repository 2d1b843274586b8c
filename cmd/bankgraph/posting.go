package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bankgraph/core/access"
	"bankgraph/core/webhooks"
)

const (
	// mostPosts is how many deliveries a process posts at a time, and mostOfABank those of one bank.
	// Receivers that fail have half of either, so that those which hang never keep the others from theirs.
	mostPosts   = 64
	mostOfABank = 32
	backlogAge  = 15 * time.Second // of what is shown of a bank's backlog
)

// posting posts to webhooks, beside the ticks of the jobs: a tick only claims what is due, as an answer may
// take as long as a tick can.
type posting struct {
	mu    sync.Mutex
	all   posts
	of    map[string]*posts // by bank
	banks map[string]backlog

	waiting, parked, age *prometheus.Desc
}

// posts are how many deliveries are being posted.
type posts struct{ healthy, failing int }

func (p *posts) add(failing bool, n int) {
	if failing {
		p.failing += n
	} else {
		p.healthy += n
	}
}

// room returns how many more may be posted, and how many of those to receivers that fail.
func (p *posts) room(most int) (all, failing int) {
	return max(0, most-p.healthy-p.failing), max(0, most/2-p.failing)
}

// backlog is how far a bank is behind, with when that was read.
type backlog struct {
	*webhooks.Backlog
	at time.Time
}

func newPosting(m *meters) *posting {
	labels := []string{"tenant"}
	p := &posting{
		of: map[string]*posts{}, banks: map[string]backlog{},
		waiting: prometheus.NewDesc("bankgraph_webhook_deliveries_waiting",
			"Deliveries to active webhooks that wait to be posted, for the first time or again.", labels, nil),
		parked: prometheus.NewDesc("bankgraph_webhook_deliveries_parked",
			"Deliveries to active webhooks that were given up.", labels, nil),
		age: prometheus.NewDesc("bankgraph_webhook_oldest_seconds",
			"How long ago the oldest delivery was made that waits.", labels, nil),
	}
	m.registry.MustRegister(p)
	return p
}

// job claims what is due of a bank, and lets it be posted.
func (p *posting) job(b *bank, log *slog.Logger) job {
	return job{"post to webhooks", time.Second, 20 * time.Millisecond, func(ctx context.Context) (bool, error) {
		caller, err := access.Require(ctx)
		if err != nil {
			return false, err
		}
		room, failing := p.roomFor(caller.TenantCode)
		due, err := b.Webhooks.Claim(ctx, room, failing)
		if err != nil {
			return false, err
		}
		for _, d := range due {
			p.begin(caller.TenantCode, d.Failing(), 1)
			b.posting.Go(func() {
				defer p.begin(caller.TenantCode, d.Failing(), -1)
				p.post(ctx, b, d, log)
			})
		}
		return len(due) > 0, p.look(ctx, b, caller.TenantCode)
	}}
}

// post posts one delivery. It outlives the tick, and is bounded by the time that an answer and a transaction
// may take.
func (p *posting) post(ctx context.Context, b *bank, d *webhooks.Due, log *slog.Logger) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*longestTick)
	defer cancel()
	defer func() {
		if panicked := recover(); panicked != nil {
			log.Error("a delivery could not be posted", "delivery", d.UID.String(), "panic", panicked)
		}
	}()
	if err := b.Webhooks.Post(ctx, d); err != nil { // its lease ends, and it is posted again
		log.Error("a delivery could not be posted", "delivery", d.UID.String(), "error", err)
	}
}

func (p *posting) roomFor(code string) (room, failing int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	room, failing = p.all.room(mostPosts)
	if of := p.of[code]; of != nil {
		ofBank, failingOfBank := of.room(mostOfABank)
		return min(room, ofBank), min(failing, failingOfBank)
	}
	return min(room, mostOfABank), min(failing, mostOfABank/2)
}

func (p *posting) begin(code string, failing bool, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of[code] == nil {
		p.of[code] = new(posts)
	}
	p.all.add(failing, n)
	p.of[code].add(failing, n)
}

// look reads now and then how far a bank is behind, for the metrics.
func (p *posting) look(ctx context.Context, b *bank, code string) error {
	p.mu.Lock()
	last := p.banks[code]
	p.mu.Unlock()
	if time.Since(last.at) < backlogAge {
		return nil
	}
	found, err := b.Webhooks.Backlog(ctx)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.banks[code] = backlog{found, time.Now()}
	return nil
}

// Describe implements prometheus.Collector.
func (p *posting) Describe(to chan<- *prometheus.Desc) {
	to <- p.waiting
	to <- p.parked
	to <- p.age
}

// Collect implements prometheus.Collector.
func (p *posting) Collect(to chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for code, of := range p.banks {
		age := 0.0
		if of.Waiting > 0 {
			age = (of.Age + time.Since(of.at)).Seconds()
		}
		to <- prometheus.MustNewConstMetric(p.waiting, prometheus.GaugeValue, float64(of.Waiting), code)
		to <- prometheus.MustNewConstMetric(p.parked, prometheus.GaugeValue, float64(of.Parked), code)
		to <- prometheus.MustNewConstMetric(p.age, prometheus.GaugeValue, age, code)
	}
}
