package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/webhooks"
)

const (
	// mostPosts is how many deliveries a process posts at a time, and mostOfABank those of one bank.
	// Receivers that fail have half of either, so that those which hang never keep the others from theirs.
	// One partner with its customers, or one customer of the bank's own, has half of its bank's.
	mostPosts   = 64
	mostOfABank = 32
	mostOfParty = mostOfABank / 2
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
type posts struct {
	healthy, failing int
	by               map[customers.UID]int // of one bank: whose they are
}

func (p *posts) add(failing bool, n int) {
	if failing {
		p.failing += n
	} else {
		p.healthy += n
	}
}

func (p *posts) addOf(party customers.UID, n int) {
	if p.by[party] += n; p.by[party] == 0 {
		delete(p.by, party)
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
			"Deliveries to active webhooks of active customers that wait to be posted, for the first time or "+
				"again; 10,000 at most.", labels, nil),
		parked: prometheus.NewDesc("bankgraph_webhook_deliveries_parked",
			"Deliveries to active webhooks of active customers that were given up; 10,000 at most.", labels, nil),
		age: prometheus.NewDesc("bankgraph_webhook_oldest_seconds",
			"How long ago the oldest delivery was made that waits.", labels, nil),
	}
	m.registry.MustRegister(p)
	return p
}

// job claims what is due of a bank, and lets it be posted.
func (p *posting) job(b *bank, log *slog.Logger) job {
	return job{postJob, time.Second, 20 * time.Millisecond, func(ctx context.Context) (bool, error) {
		caller, err := access.Require(ctx)
		if err != nil {
			return false, err
		}
		due, failed := b.Webhooks.Claim(ctx, p.roomFor(caller.TenantCode))
		for _, d := range due {
			p.begin(caller.TenantCode, d, 1)
			b.posting.Go(func() {
				defer p.begin(caller.TenantCode, d, -1)
				p.post(ctx, b, d, log)
			})
		}
		return len(due) > 0, errors.Join(failed, p.look(ctx, b, caller.TenantCode))
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

func (p *posting) roomFor(code string) webhooks.Room {
	p.mu.Lock()
	defer p.mu.Unlock()
	room, failing := p.all.room(mostPosts)
	of := p.ofBank(code)
	ofBank, failingOfBank := of.room(mostOfABank)
	return webhooks.Room{
		All: min(room, ofBank), Failing: min(failing, failingOfBank), Each: mostOfParty, Taken: maps.Clone(of.by),
	}
}

// ofBank is what is being posted of a bank. It is called with the lock.
func (p *posting) ofBank(code string) *posts {
	if p.of[code] == nil {
		p.of[code] = &posts{by: map[customers.UID]int{}}
	}
	return p.of[code]
}

func (p *posting) begin(code string, d *webhooks.Due, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all.add(d.Failing(), n)
	of := p.ofBank(code)
	of.add(d.Failing(), n)
	of.addOf(d.Party(), n)
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
