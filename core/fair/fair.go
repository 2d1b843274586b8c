// Package fair shares out what there is a limited supply of: room for what callers send, and for what they
// have yet to read. One caller has at most a quarter, and one bank half. That alone does not leave room for
// others, as some callers can fill their bank's half; so who has less gets room where others have more or are
// slow, and what those hold is cut.
package fair

import (
	"container/list"
	"sync"
	"time"
)

// LeastRate is how many bytes a second callers have to send, or to read.
const LeastRate = 16 << 10

// Party is in whose name something is held: a caller of a bank. A caller who is not known yet has no bank.
type Party struct{ Bank, Caller string }

// Surplus says what there would be too much of.
type Surplus int

// None means that there is room. Else a caller has its share, or its bank has, or nothing is left.
const (
	None Surplus = iota
	OfCaller
	OfBank
	OfAll
)

// Supply is what is shared out.
type Supply struct {
	now  func() time.Time
	rate int64 // bytes a second, below which a caller is slow

	mu      sync.Mutex
	all     int64
	taken   int64
	callers map[Party]int64
	banks   map[string]int64
	held    list.List // of *Holding, the oldest in front
}

// New returns a supply. Now tells the time, by which slow callers are known.
func New(all int64, now func() time.Time) *Supply {
	return &Supply{all: all, now: now, rate: LeastRate, callers: map[Party]int64{}, banks: map[string]int64{}}
}

// Patient sets, before anything is taken, another rate, in bytes a second, below which callers are slow.
func (s *Supply) Patient(rate int64) *Supply {
	s.rate = rate
	return s
}

// Caller is the share of one caller.
func (s *Supply) Caller() int64 { return max(1, s.all/4) }

// Bank is the share of all callers of one bank.
func (s *Supply) Bank() int64 { return max(1, s.all/2) }

// Taken is how much is held, in all and by one caller.
func (s *Supply) Taken(by Party) (all, own int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken, s.callers[by]
}

// state says whether a holding may be cut.
type state int

const (
	kept   state = iota // never
	moving              // its caller sends or reads
	queued              // it waits for its turn, which is not its caller's fault
)

// Holding is what one request of a party holds.
type Holding struct {
	of  *Supply
	by  Party
	cut func(slow bool)

	// Protected by the lock of the supply.
	n     int64
	at    *list.Element // nil once it is given back
	gone  bool          // it was cut
	state state
	since time.Time     // when the caller's turn to move began; zero while it is not the caller's turn
	spent time.Duration // on earlier turns
	moved int64         // bytes
}

// Take takes n of the supply for a party. Cut is called where the holding has to give way, from Await on
// until Keep, while the supply is locked: it ends what the caller's request waits for, and neither asks the
// supply for anything nor waits for a lock under which somebody else may ask it. Slow says that the caller
// moved too slowly; else it gave way to who holds less.
func (s *Supply) Take(by Party, n int64, cut func(slow bool)) (*Holding, Surplus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.fit(by, n, nil); why != None {
		return nil, why
	}
	return s.hold(by, n, cut), None
}

// Room says why there is no room for n more of a party; None where there is some, or something would give
// way.
func (s *Supply) Room(by Party, n int64) Surplus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why, gives := s.short(by, n, nil); gives == nil {
		return why
	}
	return None
}

// Force takes n where Take would not, too.
func (s *Supply) Force(by Party, n int64, cut func(slow bool)) *Holding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hold(by, n, cut)
}

func (s *Supply) hold(by Party, n int64, cut func(slow bool)) *Holding {
	h := &Holding{of: s, by: by, cut: cut}
	h.at = s.held.PushBack(h)
	h.add(n)
	return h
}

// Shrink gives n of a holding back.
func (h *Holding) Shrink(n int64) {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if h.at != nil {
		h.add(-n)
	}
}

// Grow takes n more for a holding.
func (h *Holding) Grow(n int64) Surplus {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if h.at == nil {
		return OfBank
	}
	why := h.of.fit(h.by, n, h)
	if why == None {
		h.add(n)
	}
	return why
}

// Await notes that it is the caller's turn to send or to read. It reports false if the holding was cut.
func (h *Holding) Await() bool {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	if h.state, h.since = moving, h.of.now(); h.gone {
		return false
	}
	return true
}

// Moved notes how many bytes the caller has sent or read, in its turn. It reports false if the holding was
// cut.
func (h *Holding) Moved(bytes int64) bool {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.spent += h.turn()
	h.since = time.Time{}
	h.moved += bytes
	return !h.gone
}

// Queue notes that all has been sent, and waits for its turn to be worked on.
func (h *Holding) Queue() bool { return h.become(queued) }

// Keep notes that the work begins, and the holding can be cut no more. It reports false if it was.
func (h *Holding) Keep() bool { return h.become(kept) }

func (h *Holding) become(state state) bool {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.state = state
	return !h.gone
}

// Leave gives back what is held; more than once is as good as once.
func (h *Holding) Leave() {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	h.drop()
}

func (h *Holding) drop() {
	if h.at == nil {
		return
	}
	h.of.held.Remove(h.at)
	h.at = nil
	h.add(-h.n)
}

func (h *Holding) add(n int64) {
	s := h.of
	h.n += n
	s.taken += n
	if s.callers[h.by] += n; s.callers[h.by] == 0 {
		delete(s.callers, h.by)
	}
	if s.banks[h.by.Bank] += n; s.banks[h.by.Bank] == 0 {
		delete(s.banks, h.by.Bank)
	}
}

func (h *Holding) turn() time.Duration {
	if h.since.IsZero() {
		return 0
	}
	return h.of.now().Sub(h.since)
}

// Left is for how long the caller may yet move nothing, before it is so much time behind.
func (h *Holding) Left(behind time.Duration) time.Duration {
	h.of.mu.Lock()
	defer h.of.mu.Unlock()
	return behind - time.Duration(h.lack())*time.Second/time.Duration(h.of.rate)
}

// lack is how many bytes more a caller would have moved who is not slow.
func (h *Holding) lack() int64 {
	return int64((h.spent+h.turn()).Seconds()*float64(h.of.rate)) - h.moved
}

// fit makes room for n more of a party, and returns why there is none.
func (s *Supply) fit(by Party, n int64, not *Holding) Surplus {
	for {
		why, gives := s.short(by, n, not)
		if gives == nil {
			return why
		}
		slow := gives.slow()
		gives.gone = true
		gives.drop()
		gives.cut(slow)
	}
}

// short says what there is too much of for n more of a party, and what gives way first; nil if nothing has
// to.
func (s *Supply) short(by Party, n int64, not *Holding) (why Surplus, gives *Holding) {
	switch {
	case s.callers[by]+n > s.Caller():
		return OfCaller, nil
	case s.banks[by.Bank]+n > s.Bank():
		why = OfBank
	case s.taken+n > s.all:
		why = OfAll
	default:
		return None, nil
	}
	return why, s.slowest(why, by, n, not)
}

// slowest is the holding that gives way to n more of a party: one of its bank, where that has its share, else
// of any. It is nil if none has to. Those come first whose callers are slow, then those of who holds most,
// and of these the slowest.
func (s *Supply) slowest(why Surplus, by Party, n int64, not *Holding) (found *Holding) {
	before := func(a, b *Holding) bool {
		slowA, slowB := a.slow(), b.slow()
		switch {
		case slowA != slowB:
			return slowA
		case why == OfAll && s.banks[a.by.Bank] != s.banks[b.by.Bank]:
			return s.banks[a.by.Bank] > s.banks[b.by.Bank]
		case s.callers[a.by] != s.callers[b.by]:
			return s.callers[a.by] > s.callers[b.by]
		}
		return a.lack() > b.lack()
	}
	for at := s.held.Front(); at != nil; at = at.Next() {
		h := at.Value.(*Holding)
		gives := why == OfAll && h.gives(s.banks[h.by.Bank], s.banks[by.Bank], n)
		if h.by.Bank == by.Bank {
			gives = h.gives(s.callers[h.by], s.callers[by], n)
		}
		if gives && h != not && (found == nil || before(h, found)) {
			found = h
		}
	}
	return found
}

// gives reports whether a holding gives way to n more of somebody who holds so much, as its party, or bank,
// holds theirs. Who is slow gives way to who holds no more, and who moves in time to who holds nothing, or
// less than they with n more.
func (h *Holding) gives(theirs, own, n int64) bool {
	switch h.state {
	case moving:
		return h.slow() && theirs >= own || own == 0 || theirs > own+n
	case queued:
		return theirs > own+n
	}
	return false
}

func (h *Holding) slow() bool { return h.state == moving && h.lack() > h.of.rate }
