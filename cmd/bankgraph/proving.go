package main

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bankgraph/core/access"
	"bankgraph/core/ledger"
)

// proving has the books of each bank proven again and again, and shows what the last proof has found,
// whichever process carried it out.
type proving struct {
	mu    sync.Mutex
	banks map[string]knownProof // by code

	violations, age, took *prometheus.Desc
}

// knownProof is the last proof of a bank, with when it was finished by this machine's clock.
type knownProof struct {
	*ledger.Proof
	finished time.Time
}

func newProving(m *meters) *proving {
	p := &proving{
		banks: map[string]knownProof{},
		violations: prometheus.NewDesc("bankgraph_proof_violations",
			"Rows of the books that broke the invariant when they were last proven.",
			[]string{"tenant", "invariant"}, nil),
		age: prometheus.NewDesc("bankgraph_proof_age_seconds",
			"For how long the last proof of the books has been finished.", []string{"tenant"}, nil),
		took: prometheus.NewDesc("bankgraph_proof_seconds", "How long the last proof of the books took.",
			[]string{"tenant"}, nil),
	}
	m.registry.MustRegister(p)
	return p
}

// job begins a proof of a bank when it is time, which any worker's proof puts off. The tick does not wait for
// it: a proof may take longer than a tick can.
func (p *proving) job(b *bank, every time.Duration) job {
	return job{"prove the books", 20 * time.Second, time.Second, func(ctx context.Context) (bool, error) {
		caller, err := access.Require(ctx)
		if err != nil {
			return false, err
		}
		last, begun, err := b.Ledger.ProveAgain(ctx, every)
		if last != nil {
			p.set(ctx, caller.TenantCode, last)
		}
		return begun, err
	}}
}

func (p *proving) set(ctx context.Context, code string, last *ledger.Proof) {
	p.mu.Lock()
	before, known := p.banks[code]
	p.banks[code] = knownProof{last, time.Now().Add(-last.Age())}
	p.mu.Unlock()
	if known && before.StartedAt.Equal(last.StartedAt) {
		return
	}
	for _, one := range last.Invariants {
		if !one.Holds() {
			slog.ErrorContext(ctx, "the books do not hold", "tenant", code, "invariant", one.Name,
				"says", one.Says, "violations", one.Count)
		}
	}
}

// Describe implements prometheus.Collector.
func (p *proving) Describe(to chan<- *prometheus.Desc) {
	to <- p.violations
	to <- p.age
	to <- p.took
}

// Collect implements prometheus.Collector. The age grows by itself, also while the database does not answer.
func (p *proving) Collect(to chan<- prometheus.Metric) {
	p.mu.Lock()
	defer p.mu.Unlock()
	gauge := func(of *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, value, labels...)
	}
	for code, last := range p.banks {
		gauge(p.age, time.Since(last.finished).Seconds(), code)
		gauge(p.took, last.FinishedAt.Sub(last.StartedAt).Seconds(), code)
		for _, one := range last.Invariants {
			gauge(p.violations, float64(one.Count), code, one.Name)
		}
	}
}
