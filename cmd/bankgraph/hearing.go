package main

import (
	"io"
	"sync"
	"time"
)

const (
	// heardInSecond is how many bytes a party is heard in a second over HTTP/2, beyond the bodies of its
	// requests: frames of nine bytes that ask for nothing cost a processor more than the network.
	heardInSecond = 1 << 20
	// heardPast is for how long what was left of that may be used at once.
	heardPast = 4 * time.Second
	// forgetAt is how many parties are remembered before those are looked for who have paused.
	forgetAt = 1024
)

// hearing bounds what parties say over HTTP/2, on all their connections together. Who says more waits to be
// heard.
type hearing struct {
	mu   sync.Mutex
	due  map[party]time.Time // until when what a party said lasts
	most int                 // parties, beyond which those are forgotten who have paused
}

func newHearing() *hearing { return &hearing{due: map[party]time.Time{}, most: forgetAt} }

// heard counts bytes that a party has said, or takes back those that were bodies if they are below zero. It
// returns how long to wait before more is heard.
func (h *hearing) heard(of party, bytes int, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	long := now.Add(-heardPast)
	if len(h.due) >= h.most {
		for one, due := range h.due {
			if !due.After(long) {
				delete(h.due, one)
			}
		}
		h.most = max(forgetAt, 2*len(h.due))
	}
	due := h.due[of]
	if due.Before(long) {
		due = long
	}
	due = due.Add(time.Duration(bytes) * time.Second / heardInSecond)
	h.due[of] = due
	return due.Sub(now)
}

// heardBody is the body of a request over HTTP/2, whose bytes do not count.
type heardBody struct {
	io.ReadCloser
	doors *doors
	below *slot
}

func (b *heardBody) Read(into []byte) (int, error) {
	read, err := b.ReadCloser.Read(into)
	b.doors.hearing.heard(b.below.speaker(), -read, time.Now())
	return read, err
}
