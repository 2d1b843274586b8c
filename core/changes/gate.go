package changes

import (
	"context"
	"sync"
	"time"

	"bankgraph/core/access"
)

// gate lets one copy of a request at a time into the database. Without it every copy would hold a connection
// while it waits for the first, and a few impatient callers could hold them all.
type gate struct {
	mu     sync.Mutex
	inside map[ticket]*visit
}

// ticket is what copies of a request have in common.
type ticket struct {
	tenant                 access.Tenant
	client, operation, key string
}

type visit struct {
	over     chan struct{}
	answered bool // an answer is kept, which the other copies only have to read
}

// longestWait is how long a copy waits for the first, as in the database (lock_timeout).
const longestWait = 2 * time.Second

// enter waits until no other copy is inside, or until one has left with an answer. It returns ErrInFlight
// after longestWait.
func (g *gate) enter(ctx context.Context, o once) (leave func(answered bool), err error) {
	if o.key == "" {
		return func(bool) {}, nil
	}
	this := ticket{o.tenant, o.client, o.operation, o.key}
	late := time.NewTimer(longestWait)
	defer late.Stop()
	for {
		ahead, mine := g.visit(this)
		if ahead == nil {
			return func(answered bool) { g.leave(this, mine, answered) }, nil
		}
		select {
		case <-ahead.over:
			if ahead.answered {
				return func(bool) {}, nil
			}
		case <-late.C:
			return nil, ErrInFlight
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// visit returns the copy that is inside (ahead), or else lets this one in (mine).
func (g *gate) visit(this ticket) (ahead, mine *visit) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if ahead = g.inside[this]; ahead != nil {
		return ahead, nil
	}
	if g.inside == nil {
		g.inside = map[ticket]*visit{}
	}
	mine = &visit{over: make(chan struct{})}
	g.inside[this] = mine
	return nil, mine
}

func (g *gate) leave(this ticket, mine *visit, answered bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.inside, this)
	mine.answered = answered
	close(mine.over)
}
