package accounts

import (
	"context"
	"errors"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
)

const (
	mostProbes  = 600    // numbers that a caller may try out within a minute (rest/CONTRACT.md, lookup)
	mostProbing = 10_000 // callers that are remembered
)

// ErrProbes is returned to a caller that has tried out too many account numbers within a minute.
var ErrProbes = fault.New(fault.TooMany, "caller.too_many",
	"too many account numbers were tried out with this API key, try again in a minute")

// probes counts the account numbers that callers try out: those that they look up, and those that they ask to
// have and do not get. Whoever goes through numbers must get nowhere.
type probes struct {
	mu sync.Mutex
	by *lru.Cache[prober, probed]
}

type prober struct {
	tenant access.Tenant
	party  string
}

// probed is what a caller has tried out within the minute that began then.
type probed struct {
	since time.Time
	times int
}

func newProbes() *probes {
	by, err := lru.New[prober, probed](mostProbing)
	if err != nil {
		panic(err) // the size is above zero
	}
	return &probes{by: by}
}

// add counts some more numbers of the caller, or none, and reports whether it has tried out too many before.
func (p *probes) add(caller access.Caller, times int, now time.Time) (spent bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	who := prober{caller.Tenant, caller.Party()}
	of, known := p.by.Get(who)
	if !known || now.Before(of.since) || now.Sub(of.since) >= time.Minute {
		of = probed{since: now}
	}
	if of.times >= mostProbes {
		return true
	}
	of.times += times
	p.by.Add(who, of)
	return false
}

// Tried counts a number of this bank, or one that could be, which a caller pays to or collects from over a
// network, and reports whether the caller has named too many within the minute. They count apart from the
// other numbers, as payments that name too many go on, and end no lookups.
func (s *Service) Tried(caller access.Caller) (spent bool) { return s.others.add(caller, 1, s.now()) }

// numbering carries out a change that may give an account its number.
func (s *Service) numbering(
	ctx context.Context, o *changes.Operation[Draft, Saved], caller access.Caller,
	at changes.Target, draft Draft, options changes.RequestOptions,
) (changes.Outcome[Saved], error) {
	named := draft.Number.Given && !seal.LooksMasked(draft.Number.Value)
	if named && s.probes.add(caller, 0, s.now()) {
		return changes.Outcome[Saved]{}, ErrProbes
	}
	out, err := o.Do(ctx, caller, at, draft, options)
	if errors.Is(err, ErrNumberTaken) || named && tellsFree(err) {
		s.probes.add(caller, 1, s.now())
	}
	return out, err
}

// tellsFree reports whether a refusal tells that nobody has the number that was asked for: something else is
// wrong.
func tellsFree(err error) bool {
	why, is := fault.Of(err)
	return is && (why.Kind == fault.Invalid || why.Kind == fault.Conflict || why.Kind == fault.State ||
		why.Kind == fault.NotFound)
}
