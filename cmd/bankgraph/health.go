package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/keysets"
	"bankgraph/db"
)

// health is what is known of each bank's record. Every process looks for itself, bank by bank.
type health struct {
	unsealed, waiting, holds, sends *prometheus.GaugeVec

	mu    sync.Mutex
	banks map[string]bankState // by code
	fits  map[string]fit       // by code
}

// fit is whether the keyset has the keys of what a bank has sealed last. Where the keyset is copied from
// machine to machine, one may be forgotten.
type fit struct {
	at    time.Time // when that was looked at
	lacks error     // nil while it has them
}

// fitsEvery is how often that is looked at.
const fitsEvery = time.Minute

// bankState is how a bank's record stands.
type bankState struct {
	tail   audit.Tail
	broken error // nil while the chain ends as it was signed
	behind error // nil while it has what was kept of it outside the database
	unkept error // nil while checkpoints can be kept outside
	held   bool  // nothing leaves for a network
}

// longestUnsealed is how long an entry may wait for its number before operators hear of it.
const longestUnsealed = time.Minute

func newHealth(m *meters) *health {
	gauge := func(name, help string) *prometheus.GaugeVec {
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"tenant"})
		m.registry.MustRegister(vec)
		return vec
	}
	return &health{
		unsealed: gauge("bankgraph_audit_unsealed",
			fmt.Sprintf("Audit entries that wait to be sealed, counted up to %d.", audit.MostCounted)),
		waiting: gauge("bankgraph_audit_waiting_seconds",
			"For how long the oldest audit entry has waited to be sealed."),
		holds: gauge("bankgraph_audit_holds",
			"1 while the audit chain ends as it was signed and has what was kept of it outside "+
				"the database, 0 where not."),
		sends: gauge("bankgraph_sends",
			"1 while payments leave for the networks, 0 after a restore until an operator has resumed that."),
		banks: map[string]bankState{}, fits: map[string]fit{},
	}
}

// job looks at one bank's record. A bank that cannot be looked at keeps what was known of it.
func (h *health) job(b *bank, kept *keptFile) job {
	return job{
		"look at the audit record", 2 * time.Second, time.Second, func(ctx context.Context) (bool, error) {
			caller, err := access.Require(ctx)
			if err != nil {
				return false, err
			}
			tail, err := b.Audit.Tail(ctx)
			if err != nil {
				return false, err
			}
			broken := b.Audit.Holds(ctx)
			if broken != nil && !errors.Is(broken, audit.ErrBroken) {
				return false, broken
			}
			_, behind := b.behind(ctx, kept)
			if behind != nil && !errors.Is(behind, audit.ErrBehind) {
				return false, behind
			}
			held, err := b.Payments.SendingHeld(ctx)
			if err != nil {
				return false, err
			}
			h.set(ctx, caller.TenantCode, bankState{tail, broken, behind, kept.failed(), held})
			return false, h.fit(ctx, b, caller.TenantCode)
		},
	}
}

// fit looks now and then whether the keyset has the keys of a bank's values.
func (h *health) fit(ctx context.Context, b *bank, code string) error {
	h.mu.Lock()
	last := h.fits[code]
	h.mu.Unlock()
	if time.Since(last.at) < fitsEvery {
		return nil
	}
	_, err := b.Keysets.Fits(ctx)
	if err != nil && !errors.Is(err, keysets.ErrForeign) {
		return err
	}
	h.mu.Lock()
	h.fits[code] = fit{time.Now(), err}
	h.mu.Unlock()
	if (last.lacks == nil) != (err == nil) {
		slog.ErrorContext(ctx, "the keyset", "tenant", code, "fits", err == nil, "error", err)
	}
	return nil
}

func (h *health) set(ctx context.Context, code string, now bankState) {
	h.mu.Lock()
	before := h.banks[code]
	h.banks[code] = now
	h.mu.Unlock()
	h.unsealed.WithLabelValues(code).Set(float64(now.tail.Unsealed))
	h.waiting.WithLabelValues(code).Set(now.tail.Waiting)
	holds := 1.0
	if now.broken != nil || now.behind != nil {
		holds = 0
	}
	h.holds.WithLabelValues(code).Set(holds)
	h.sends.WithLabelValues(code).Set(1)
	if now.held {
		h.sends.WithLabelValues(code).Set(0)
	}
	switch {
	case now.held && !before.held:
		slog.WarnContext(ctx, heldText, "tenant", code)
	case before.held && !now.held:
		slog.InfoContext(ctx, "payments leave for the networks again", "tenant", code)
	}
	switch {
	case before.broken == nil && now.broken != nil:
		slog.ErrorContext(ctx, "the audit record", "tenant", code, "holds", false, "error", now.broken)
	case before.broken != nil && now.broken == nil:
		slog.InfoContext(ctx, "the audit record", "tenant", code, "holds", true)
	}
	if (before.behind == nil) != (now.behind == nil) {
		slog.ErrorContext(ctx, "the audit record and what was kept of it outside the database",
			"tenant", code, "holds", now.behind == nil, "error", now.behind)
	}
	switch was, is := before.tail.Waiting > longestUnsealed.Seconds(),
		now.tail.Waiting > longestUnsealed.Seconds(); {
	case is && !was:
		slog.WarnContext(ctx, "audit entries wait to be sealed", "tenant", code, "entries", now.tail.Unsealed,
			"seconds", now.tail.Waiting)
	case was && !is:
		slog.InfoContext(ctx, "audit entries wait no longer to be sealed", "tenant", code)
	}
}

const heldText = "after a restore nothing leaves for the networks: look at \"bankgraph sending list\", " +
	"and then run \"bankgraph sending resume\""

// trouble is a line for each bank that is not as it should be. none says why no bank can be served, if that
// is so: no bank's chain holds, or this program lacks keys of all of them.
func (h *health) trouble() (lines []string, none string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	broken, foreign := 0, 0
	for code, bank := range h.banks {
		if lacks := h.fits[code].lacks; lacks != nil {
			foreign++
			lines = append(lines, fmt.Sprintf("bank %s: %v: copy the keyset here, and start again", code, lacks))
		}
		if bank.broken != nil {
			broken++
			lines = append(lines, fmt.Sprintf("bank %s: %v", code, bank.broken))
		}
		if bank.unkept != nil {
			lines = append(lines,
				fmt.Sprintf("bank %s: nothing is signed, as checkpoints cannot be kept: %v", code, bank.unkept))
		}
		if bank.held {
			lines = append(lines, fmt.Sprintf("bank %s: %s", code, heldText))
		}
		if bank.behind != nil {
			lines = append(lines,
				fmt.Sprintf("bank %s: nothing more is sealed or signed, and the feed of events waits: %v", code,
					bank.behind))
			continue
		}
		if bank.tail.Waiting > longestUnsealed.Seconds() {
			lines = append(lines,
				fmt.Sprintf("bank %s: %d audit entries are not sealed, the oldest for %.0f s: "+
					"does any worker run?", code, bank.tail.Unsealed, bank.tail.Waiting))
		}
	}
	slices.Sort(lines)
	switch {
	case broken > 0 && broken == len(h.banks):
		none = "the audit record does not hold"
	case foreign > 0 && foreign == len(h.banks):
		none = "the keyset lacks keys of the database"
	}
	return lines, none
}

// readiness answers 200 while this process should get requests: the schema is known, the database answers,
// and no signal to stop has come. The trouble of one bank is that bank's: only where no bank's audit chain
// ends as it was signed, or its keyset has no bank's keys any more, the process is not ready. detailed, for
// operators, names the banks.
func readiness(c *core.Core, h *health, stopping func() bool, detailed bool) http.Handler {
	database := newPulse(c)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		lines, none := h.trouble()
		why := "stopping"
		if !stopping() {
			why = database.trouble(r.Context())
		}
		if why == "" {
			why = none
		}
		if detailed {
			lines = append(lines, strained(c.DB)...)
		} else {
			lines = nil
		}
		if why != "" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, why+"\n")
		} else {
			_, _ = io.WriteString(w, "ready\n")
		}
		for _, line := range lines {
			_, _ = io.WriteString(w, line+"\n")
		}
	})
}

// strained is a line for each thing that is wrong with the database although it answers.
func strained(d *db.DB) (lines []string) {
	if short, is := d.Shortage(); is {
		lines = append(lines,
			fmt.Sprintf("degraded: a write failed at %s and none has succeeded since: %s (SQLSTATE %s)",
				short.At.UTC().Format(time.RFC3339), short.Text, short.State))
	}
	if replica, there := d.Replica(); there && !replica.Used && replica.Why != nil {
		lines = append(lines, fmt.Sprintf("the replica is not read from: %v", replica.Why))
	}
	return lines
}

// pulse tells whether the database answers. Everybody may ask for that, as often as they like: who asks while
// somebody else does shares the look, and a good one counts for half a second. So nobody's asking keeps
// connections from requests, or has the balancer hear that there are none.
type pulse struct {
	look func(context.Context) (trouble string)

	mu      sync.Mutex
	until   time.Time // for which the last look counts
	present *look     // under way; nil while there is none
}

// look is one look at the database.
type look struct {
	over    chan struct{}
	trouble string // '' for none; known when it is over
}

const (
	longestLook = 3 * time.Second // a look takes some round trips, of which each may take half a second
	lookCounts  = 500 * time.Millisecond
)

func newPulse(c *core.Core) *pulse {
	return &pulse{look: func(ctx context.Context) string {
		if err := c.DB.Ready(ctx); err != nil {
			return "the database does not answer"
		}
		if err := current(ctx, c.DB); err != nil {
			return "the schema is not up to date"
		}
		return ""
	}}
}

// trouble is what is wrong with the database; empty where nothing is.
func (p *pulse) trouble(ctx context.Context) string {
	p.mu.Lock()
	if time.Now().Before(p.until) {
		p.mu.Unlock()
		return ""
	}
	if p.present == nil {
		p.present = &look{over: make(chan struct{})}
		go p.renew(context.WithoutCancel(ctx), p.present)
	}
	present := p.present
	p.mu.Unlock()
	<-present.over
	return present.trouble
}

// renew looks, for all who wait: nobody's going away ends it.
func (p *pulse) renew(ctx context.Context, mine *look) {
	ctx, cancel := context.WithTimeout(ctx, longestLook)
	defer cancel()
	mine.trouble = p.look(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if mine.trouble == "" {
		p.until = time.Now().Add(lookCounts)
	}
	p.present = nil
	close(mine.over)
}
