package main

import (
	"container/list"
	"context"
	"sync"
)

// slots limit the number of connections and requests, in total and for each network. When all are taken, one
// is ended to make room for a new one:
//
//   - first the oldest of strangers: known callers show their tokens long before thousands of others come;
//   - then the connection of a known caller that has been idle longest;
//   - never what is worked on for a known caller within its share and its bank's. What it holds beyond that
//     counts as a stranger's: unread answers count as work, and one caller may have many networks.
type slots struct {
	most   int
	meters *meters

	mu        sync.Mutex
	networks  map[string]int // slots by network
	held      shares         // slots that are never ended; a caller may have half as many as a network
	all       int
	strangers list.List // of *slot, the oldest in front
	idle      list.List // of *slot, the longest idle in front
}

func newSlots(most int, m *meters) *slots {
	return &slots{most: most, meters: m, networks: map[string]int{}, held: newShares(int64(most) / 2)}
}

// share is how many slots one network has.
func (s *slots) share() int { return max(1, s.most/4) }

func (s *slots) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all
}

// slot belongs to a connection or a request until it leaves.
type slot struct {
	of      *slots
	network string
	end     func() // closes the connection, or cuts the request
	below   *slot  // of the connection that the request came through

	// Protected by the lock of slots.
	known  bool  // the caller of the latest request is known
	by     party // the holder, while it is in no queue
	speaks party // the caller that was known last
	left   bool
	queue  *list.List    // strangers or idle; nil while a known caller's request is worked on
	at     *list.Element // in queue
}

// take gives out a slot, for which it may end another one. It returns nil if there is none.
func (s *slots) take(network string, most int, below *slot, end func()) *slot {
	mine, ended := &slot{of: s, network: network, below: below, end: end}, (*slot)(nil)
	s.mu.Lock()
	switch {
	case s.networks[network] == most:
		ended = s.oldest(network)
	case s.all == s.most && s.networks[network] < most:
		ended = s.oldest("")
	}
	if ended != nil {
		s.forget(ended)
	}
	fits := s.all < s.most && s.networks[network] < most
	if fits {
		s.all++
		s.networks[network]++
		mine.moveTo(&s.strangers)
	}
	s.mu.Unlock()
	if ended != nil {
		ended.end() // without the lock, for which end may wait
	}
	if !fits {
		s.meters.refuse(errNoDoor)
		return nil
	}
	return mine
}

// oldest is the slot to end for a new one, of the network if one is given. It is nil if no slot may be ended.
func (s *slots) oldest(network string) *slot {
	for _, queue := range []*list.List{&s.strangers, &s.idle} {
		for at := queue.Front(); at != nil; at = at.Next() {
			if one := at.Value.(*slot); network == "" || one.network == network {
				return one
			}
		}
	}
	return nil
}

func (s *slots) forget(one *slot) {
	if one.left {
		return
	}
	one.left = true
	one.moveTo(nil)
	s.all--
	if s.networks[one.network]--; s.networks[one.network] == 0 {
		delete(s.networks, one.network)
	}
}

// moveTo puts a slot at the end of a queue, or into none if queue is nil.
func (s *slot) moveTo(queue *list.List) {
	if s.queue != nil {
		s.queue.Remove(s.at)
	} else if s.by != (party{}) {
		s.of.held.add(s.by, -1)
		s.by = party{}
	}
	if s.queue = queue; queue != nil {
		s.at = queue.PushBack(s)
	}
}

func (s *slot) leave() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.forget(s)
}

// endStranger ends the slot if no known caller has used it.
func (s *slot) endStranger() {
	if s == nil {
		return
	}
	s.of.mu.Lock()
	stranger := !s.known && !s.left
	if stranger {
		s.of.forget(s)
	}
	s.of.mu.Unlock()
	if stranger {
		s.end()
	}
}

// ended reports whether the slot was left or ended.
func (s *slot) ended() bool {
	if s == nil {
		return false
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.left
}

// asked notes that a request begins whose caller is not known yet.
func (s *slot) asked() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.known && !s.left {
		s.known = false
		s.moveTo(&s.of.strangers)
	}
}

// answered notes that a known caller's connection is idle. A stranger's slot stays in its queue.
func (s *slot) answered() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.known && !s.left {
		s.moveTo(&s.of.idle)
	}
}

// welcome notes that the caller of the request is known. If somebody holds the slot already, they keep it
// until it is idle.
func (s *slot) welcome(by party) {
	all := s.of
	all.mu.Lock()
	defer all.mu.Unlock()
	for ; s != nil; s = s.below {
		s.speaks = by
		room := all.held.callers[by] < all.held.caller() && all.held.banks[by.bank] < all.held.bank()
		if s.left || s.queue == nil || !room {
			continue
		}
		s.moveTo(nil)
		s.known, s.by = true, by
		all.held.add(by, 1)
	}
}

// speaker is in whose name what comes through the connection counts: the last known caller's, before there
// was one the network's.
func (s *slot) speaker() party {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.speaks == (party{}) {
		return party{caller: s.network}
	}
	return s.speaks
}

type slotKey struct{}

// welcome notes that the caller of the request of ctx is known.
func welcome(ctx context.Context, by party) {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok {
		s.welcome(by)
	}
}
