package live

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/events"
	"bankgraph/db"
)

// feed hands the changes of one bank to all who listen to it.
type feed struct {
	tenant  access.Tenant
	service *Service
	begun   chan struct{} // closed when at is known

	mu        sync.Mutex
	at        events.Cursor // what was handed out last
	listeners map[*Listener]bool
}

// watch reads the feed until nobody listens any more.
func (f *feed) watch() {
	for wait := time.Duration(0); ; {
		time.Sleep(wait)
		if f.service.forget(f) {
			return
		}
		full, err := f.tick()
		switch {
		case err != nil:
			slog.Warn("the feed of a bank cannot be read; its listeners wait", "tenant", int64(f.tenant), "error", err)
			wait = min(max(2*wait, every), longest)
		case full:
			wait = 0
		default:
			wait = every
		}
	}
}

// tick reads what has come since the last one and hands it out. It reports whether there may be more.
func (f *feed) tick() (full bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), longest)
	defer cancel()
	begun := f.at != events.Cursor{} // only tick changes it
	after := f.at.Seq
	if !begun {
		after = nowhere
	}
	end, next, err := read(ctx, f.service.db, f.tenant, after)
	if err != nil {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case !begun:
		f.at = events.Cursor{Epoch: end.Epoch, Seq: end.Last}
		close(f.begun)
		return true, nil
	case end.Epoch != f.at.Epoch || end.Last < f.at.Seq:
		for l := range f.listeners {
			l.end(ErrMoved)
		}
		f.at = events.Cursor{Epoch: end.Epoch, Seq: end.Last}
		return false, nil
	}
	for l := range f.listeners {
		l.hear(next, f.at.Epoch)
	}
	if len(next) > 0 {
		f.at.Seq = next[len(next)-1].Seq
	}
	return len(next) == atATime, nil
}

// Listener hears of changes, in the order of the bank's record. One goroutine uses it.
type Listener struct {
	wish
	db    *db.DB
	feed  *feed
	ready chan struct{} // has something when Next has something to do

	// Of the goroutine that calls Next.
	enter  Enter // for what is read
	behind bool  // it reads what came before it could listen
	at     events.Cursor
	page   []*Change

	// Protected by the lock of the feed.
	hears bool  // it takes what the feed hands out
	after int64 // it has had everything up to this number
	queue []*Change
	ended error
}

// Enter takes a place among all that is worked on, for one read of the record. It returns the context to read
// in, and what gives the place back.
type Enter func(context.Context) (in context.Context, leave func(), err error)

// ReadThrough sets, before the first Next, what takes the places for reads of what came before the listener
// could listen. What it hears from then on is read once for all listeners.
func (l *Listener) ReadThrough(enter Enter) { l.enter = enter }

// Next waits for the next change. It returns ErrSlow if too many wait already, ErrMoved if the feed does not
// go on, and the cause of the context's end.
func (l *Listener) Next(ctx context.Context) (*Change, error) {
	for {
		if len(l.page) > 0 {
			next := l.page[0]
			l.page = l.page[1:]
			return next, nil
		}
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if l.behind {
			if err := l.catchUp(ctx); err != nil {
				return nil, err
			}
			continue
		}
		if err := l.take(); err != nil {
			return nil, err
		}
		if len(l.page) > 0 {
			continue
		}
		select {
		case <-l.ready:
		case <-ctx.Done():
		}
	}
}

// take moves what was handed out to the page.
func (l *Listener) take() error {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	if l.ended != nil {
		return l.ended
	}
	l.page, l.queue = l.queue, nil
	return nil
}

// catchUp reads the next page of what came since the listener's cursor. At its end the listener is handed the
// rest.
func (l *Listener) catchUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	if l.enter != nil {
		in, leave, err := l.enter(ctx)
		if err != nil {
			return err
		}
		defer leave()
		ctx = in
	}
	end, next, err := read(ctx, l.db, l.caller.Tenant, l.at.Seq)
	if err != nil {
		return err
	}
	if end.Epoch != l.at.Epoch {
		return ErrMoved
	}
	l.page = l.changesIn(next, l.at.Epoch)
	if len(next) > 0 {
		l.at.Seq = next[len(next)-1].Seq
	}
	if len(next) == atATime {
		return nil
	}
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	if l.ended != nil {
		return l.ended
	}
	if l.feed.at.Seq <= l.at.Seq {
		l.behind, l.hears, l.after = false, true, l.at.Seq
	}
	return nil
}

// hear puts changes into the queue. The feed, which calls it, is locked.
func (l *Listener) hear(rows []*row, epoch int64) {
	if !l.hears || l.ended != nil {
		return
	}
	for _, r := range rows {
		if r.Seq <= l.after || !l.fits(r) {
			continue
		}
		if len(l.queue) == mostLate {
			l.end(ErrSlow)
			return
		}
		l.queue = append(l.queue, r.change(epoch))
	}
	if len(l.queue) > 0 {
		l.wake()
	}
}

// end ends a listener; what waits for it goes. The feed is locked.
func (l *Listener) end(why error) {
	if l.ended == nil {
		l.ended, l.queue = why, nil
	}
	l.wake()
}

func (l *Listener) wake() {
	select {
	case l.ready <- struct{}{}:
	default:
	}
}

// Close stops listening. It may be called more than once.
func (l *Listener) Close() {
	l.feed.mu.Lock()
	defer l.feed.mu.Unlock()
	delete(l.feed.listeners, l)
	l.queue = nil
}
