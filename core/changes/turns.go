package changes

import (
	"sync"

	"bankgraph/core/access"
)

// Turns remembers who had the last turn at some work of each bank, so that the next one is another's and
// those with much work keep nobody else waiting. A process that begins knows of none, which costs nobody more
// than a turn.
type Turns[K any] struct {
	mu   sync.Mutex
	last map[access.Tenant]K
}

// Last returns who had the last turn; the zero value if nobody had.
func (t *Turns[K]) Last(tenant access.Tenant) K {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.last[tenant]
}

// Give says whose turn it is now.
func (t *Turns[K]) Give(tenant access.Tenant, to K) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last == nil {
		t.last = map[access.Tenant]K{}
	}
	t.last[tenant] = to
}

// InTurn looks for work of one party after the other: of those after the one that had the last turn, and then
// of the others, which come after start. after finds the next party that has any, behind a place; nil if none
// has. take takes some of it, and reports whether it did: other workers may have all of it.
func InTurn[K any](
	last, start K, compare func(a, b K) int, after func(K) (*K, error), take func(K) (bool, error),
) error {
	for place, again := last, false; ; {
		next, err := after(place)
		switch {
		case err != nil:
			return err
		case next == nil && !again:
			place, again = start, true
			continue
		case next == nil, again && compare(*next, last) > 0:
			return nil
		}
		if taken, err := take(*next); err != nil || taken {
			return err
		}
		place = *next
	}
}
