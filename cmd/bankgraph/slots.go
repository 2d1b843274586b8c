package main

import (
	"container/list"
	"context"
	"sync"
)

// slots are what connections and requests take. Their number is bounded, in all and for each network. When
// all are taken, one ends for another to come:
//
//   - first the stranger's who came first: known callers show their tokens long before thousands of others come;
//   - then the connection of a known caller that has been idle longest;
//   - never what is worked on for a known caller, within its share and that of its bank. What it holds beyond
//     is like a stranger's: answers that nobody reads count as work, and one caller may have many networks.
type slots struct {
	most   int
	meters *meters

	mu        sync.Mutex
	networks  map[string]int // how many each has
	held      shares         // those that make room for nobody; one caller has half as many as one network
	all       int
	strangers list.List // of *slot, who came first in front
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

// slot is what a connection, or a request, has until it leaves.
type slot struct {
	of      *slots
	network string
	end     func() // closes the connection, or cuts the request
	below   *slot  // of the connection that the request came through

	// Under the lock of slots.
	known bool  // the latest request is of a caller whom the bank knows
	by    party // who holds it, while it is in no queue
	left  bool
	queue *list.List    // strangers or idle; nil while a known caller's request is worked on
	at    *list.Element // there
}

// take gives out a slot, for which another may have to end; nil when there is none.
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
		ended.end() // which may wait for who waits for the lock
	}
	if !fits {
		s.meters.refuse(errNoDoor)
		return nil
	}
	return mine
}

// oldest is the slot that makes room for another: one of the network, where one is given. It is nil where
// none can.
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

// moveTo puts a slot at the end of a queue, or into none.
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

// endStranger ends what nobody known has asked for by now.
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

// ended reports whether it has been left, or had to go.
func (s *slot) ended() bool {
	if s == nil {
		return false
	}
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	return s.left
}

// asked notes that a request begins, of nobody knows whom.
func (s *slot) asked() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.known && !s.left {
		s.known = false
		s.moveTo(&s.of.strangers)
	}
}

// answered notes that a known caller's connection is idle. A stranger's stays where it is.
func (s *slot) answered() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	if s.known && !s.left {
		s.moveTo(&s.of.idle)
	}
}

// welcome notes that the bank knows whose request it is. A slot that somebody holds stays theirs until it is
// idle.
func (s *slot) welcome(by party) {
	all := s.of
	all.mu.Lock()
	defer all.mu.Unlock()
	for ; s != nil; s = s.below {
		room := all.held.callers[by] < all.held.caller() && all.held.banks[by.bank] < all.held.bank()
		if s.left || s.queue == nil || !room {
			continue
		}
		s.moveTo(nil)
		s.known, s.by = true, by
		all.held.add(by, 1)
	}
}

type slotKey struct{}

// welcome notes that the bank knows whose request it is that ctx belongs to.
func welcome(ctx context.Context, by party) {
	if s, ok := ctx.Value(slotKey{}).(*slot); ok {
		s.welcome(by)
	}
}
