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
