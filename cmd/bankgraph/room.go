package main

import (
	"cmp"
	"container/list"
	"context"
	"net/http"
	"runtime"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/fair"
	"bankgraph/core/fault"
	"bankgraph/rest"
)

var (
	errBusy  = fault.New(fault.Unavailable, "bank.busy", "the bank is busy, try again in a moment")
	errCrowd = fault.New(fault.TooMany, "caller.crowd",
		"too many requests of this caller at a time, try again in a moment")
	errBankCrowd = fault.New(fault.TooMany, "bank.crowd",
		"too many requests of this bank at a time, try again in a moment")
	errNoDoor = fault.New(fault.TooMany, "connection.too_many", "too many connections")
	errUnread = fault.New(fault.TooMany, "caller.unread",
		"too many answers to this caller wait to be read, read them first")
	errGaveWay = fault.New(fault.TooMany, "body.gave_way",
		"the request gave way to others of this bank before it was worked on, send it again")
	errSlowBody = fault.New(fault.TooMany, "body.slow",
		"the request came in too slowly while others waited for its room, send it again")
	errSlowUpload = fault.Field("file", "file", fault.Malformed,
		"came in too slowly: 16 KiB a second are the least")
	errBankUnread = fault.New(fault.TooMany, "bank.unread",
		"too many answers to callers of this bank wait to be read, try again in a moment")
)

// room limits how many requests are worked on at a time, in fair shares: no caller and no bank can fill it
// while others wait. A limited number of further requests waits for a limited time. All others are told at
// once to try again, instead of hanging until their deadline.
type room struct {
	unsent *unsent
	meters *meters

	// remembered returns the caller of a request if it is known at once; may be nil.
	remembered func(*http.Request) (access.Caller, bool)

	mu     sync.Mutex
	came   int64 // how many have waited
	places shares
	wait   list.List            // of *waiter, the longest waiting in front
	lines  map[party]*list.List // the same of each party
	waits  shares               // of newcomers in the queue
	bodies *fair.Supply         // requests whose bodies are being received
	asides *fair.Supply         // requests that wait for a network
}

// waiter waits for a place. It is told when a place was given up and taken for it, or when it has to go.
type waiter struct {
	of    party
	nth   int64         // of all that have waited
	at    *list.Element // in the queue
	line  *list.Element // in the line of its party
	again bool          // it had a place before
	turn  chan struct{} // closed when the place is taken for it, or when it has to go
	goes  error         // why it has to go; set before turn is closed
}

const longestWait = time.Second

func newRoom(places int, u *unsent, m *meters) *room {
	if places == 0 {
		places = 8 * runtime.GOMAXPROCS(0)
	}
	return &room{
		unsent: u, meters: m, places: newShares(int64(places)), waits: newShares(4 * int64(places)),
		bodies: fair.New(64*int64(places), time.Now), asides: fair.New(64*int64(places), time.Now),
		lines: map[party]*list.List{},
	}
}

// fits reports whether a party may take a place now. Up to its share, any free place will do. Beyond its own
// share, more than half of the room must be free, for other callers. Beyond its bank's share, more than a
// quarter must be free, for other banks and those who sign in.
//
// Strangers can have any number of networks, so all strangers of a crowd have one share. An eighth of the
// room is theirs in any case. Beyond it more than a quarter must be free, for known callers; beyond a quarter
// of the room, more than half.
func (m *room) fits(of party) bool {
	free, crowd := m.places.all-m.places.taken, m.places.banks[of.bank]
	switch {
	case m.places.callers[of] >= m.places.caller(), of.stranger() && crowd >= m.places.crowd():
		return free > m.places.all/2
	case crowd >= m.places.bank(), m.beyond(of):
		return free > m.places.all/4
	}
	return free > 0
}

// queues reports whether a newcomer may wait. The queue has shares like the room: otherwise a crowd could
// fill it, and others whose turn would come sooner would be turned away.
func (m *room) queues(of party) bool {
	most, own := m.waits.bank(), m.waits.caller()
	if of.stranger() {
		most, own = m.waits.crowd(), max(1, m.waits.crowd()/2)
	}
	return m.waits.taken < m.waits.all && m.waits.banks[of.bank] < most && m.waits.callers[of] < own
}

// displaces makes room in the queue for a newcomer. It removes the last newcomer of the party with the most
// waiters in the same bank or crowd, if that party has at least two more than the newcomer's. So a person who
// signs in can wait beside networks that send thousands of requests.
func (m *room) displaces(of party) bool {
	var last *list.Element
	most := m.waits.callers[of] + 1
	for at := m.wait.Back(); at != nil; at = at.Prev() {
		if w := at.Value.(*waiter); !w.again && w.of.bank == of.bank && m.waits.callers[w.of] > most {
			last, most = at, m.waits.callers[w.of]
		}
	}
	if last == nil {
		return false
	}
	w := last.Value.(*waiter)
	m.leaveQueue(last)
	w.goes = m.surplus(w.of)
	close(w.turn)
	return true
}

// surplus is the reason why a party waits or is turned away: its own requests, those of its bank, or those of
// all.
func (m *room) surplus(of party) *fault.Fault {
	switch {
	case m.places.callers[of] >= m.places.caller() || m.waits.callers[of] >= m.waits.caller():
		return errCrowd
	case m.places.banks[of.bank] >= m.places.bank() && !of.stranger():
		return errBankCrowd
	}
	return errBusy
}

// enter takes a place for a newcomer. It fails if too many wait or the wait is too long.
func (m *room) enter(ctx context.Context, of party) error {
	m.mu.Lock()
	if m.fits(of) {
		m.places.add(of, 1)
		m.mu.Unlock()
		return nil
	}
	if !m.queues(of) && !m.displaces(of) {
		defer m.mu.Unlock()
		return m.surplus(of)
	}
	mine := m.queueUp(of, false)
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, longestWait)
	defer cancel()
	return m.await(ctx, mine)
}

// enterAgain takes a place for a request that had one before, ahead of newcomers of the same party and of
// those that hold no less. Only the context ends the wait.
func (m *room) enterAgain(ctx context.Context, of party) error {
	m.mu.Lock()
	if m.fits(of) {
		m.places.add(of, 1)
		m.mu.Unlock()
		return nil
	}
	mine := m.queueUp(of, true)
	m.mu.Unlock()
	if m.await(ctx, mine) != nil {
		return ctx.Err()
	}
	return nil
}

func (m *room) queueUp(of party, again bool) *list.Element {
	m.came++
	mine := &waiter{of: of, nth: m.came, again: again, turn: make(chan struct{})}
	line := m.lines[of]
	if line == nil {
		line = list.New()
		m.lines[of] = line
	}
	mine.line = push(line, mine)
	if !again {
		m.waits.add(of, 1)
	}
	mine.at = push(&m.wait, mine)
	return mine.at
}

// push puts a waiter at the end of a queue; one that had a place before ahead of all newcomers, behind others
// that had one.
func push(queue *list.List, mine *waiter) *list.Element {
	at := queue.Back()
	for mine.again && at != nil && !at.Value.(*waiter).again {
		at = at.Prev()
	}
	if at == nil {
		return queue.PushFront(mine)
	}
	return queue.InsertAfter(mine, at)
}

func (m *room) await(ctx context.Context, at *list.Element) error {
	mine := at.Value.(*waiter)
	select {
	case <-mine.turn:
		return mine.goes
	case <-ctx.Done():
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	select {
	case <-mine.turn: // the turn came just now
		return mine.goes
	default:
	}
	m.leaveQueue(at)
	return m.surplus(mine.of)
}

func (m *room) leaveQueue(at *list.Element) {
	left := m.wait.Remove(at).(*waiter)
	line := m.lines[left.of]
	if line.Remove(left.line); line.Len() == 0 {
		delete(m.lines, left.of)
	}
	if !left.again {
		m.waits.add(left.of, -1)
	}
}

// full is how many requests are worked on and how many wait.
func (m *room) full() (running, waiting int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int(m.places.taken), m.wait.Len()
}

// leave gives a place up and lets in those who wait and fit.
func (m *room) leave(of party) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.places.add(of, -1)
	m.letIn()
}

func (m *room) letIn() {
	for m.places.taken < m.places.all {
		next := m.next()
		if next == nil {
			return
		}
		m.places.add(next.of, 1)
		m.leaveQueue(next.at)
		close(next.turn)
	}
}

// next is who is let in next of those who wait and fit; nil if nobody does. It is one whose bank has the
// fewest places, of these one of who has the fewest, and of these the longest waiting: in the order of the
// queue alone, who has hundreds that come back, as the events of subscriptions do, would leave no place to
// others. Strangers who have the eighth that is theirs come after all others.
func (m *room) next() (found *waiter) {
	later := func(a, b *waiter) int {
		return cmp.Or(
			compare(m.beyond(a.of), m.beyond(b.of)),
			cmp.Compare(m.places.banks[a.of.bank], m.places.banks[b.of.bank]),
			cmp.Compare(m.places.callers[a.of], m.places.callers[b.of]),
			compare(!a.again, !b.again),
			cmp.Compare(a.nth, b.nth))
	}
	for of, line := range m.lines {
		if w := line.Front().Value.(*waiter); m.fits(of) && (found == nil || later(w, found) < 0) {
			found = w
		}
	}
	return found
}

// beyond reports whether a party is a stranger's whose crowd has its eighth.
func (m *room) beyond(of party) bool {
	return of.stranger() && m.places.banks[of.bank] >= max(1, m.places.crowd()/2)
}

// compare orders false before true.
func compare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// rename makes a stranger's place the place of a known caller, which may have to wait for it.
func (m *room) rename(ctx context.Context, from, to party) error {
	m.mu.Lock()
	m.places.add(from, -1)
	if m.fits(to) {
		m.places.add(to, 1)
		m.letIn()
		m.mu.Unlock()
		return nil
	}
	m.letIn()
	m.mu.Unlock()
	return m.enter(ctx, to)
}

// carry counts a known caller's request with a body until it is answered. A body that is being received has
// no place in the room, but costs memory. One that comes slowly gives way to others, and so does one of who
// has more on their way, until it is worked on. Bodies of strangers are read only where they ask for a token;
// slots limit those.
func (m *room) carry(w http.ResponseWriter, r *http.Request, p *place) error {
	p.control, p.upload = http.NewResponseController(w), rest.IsUpload(r)
	p.way, p.giveUp = context.WithCancel(p.ctx)
	body, why := m.bodies.Take(p.of.fair(), 1, p.give)
	switch p.body = body; why {
	case fair.OfCaller:
		return errCrowd
	case fair.OfBank:
		return errBankCrowd
	case fair.OfAll:
		return errBusy
	}
	return nil
}

// signingIn stands in for the bank of those who ask for a token, so that a flood there does not crowd out
// callers who have one.
const signingIn = "/auth"

// admit gives a request a place while it is worked on. If the caller is remembered, the place is the
// caller's, so that strangers from the same network cannot crowd it out. Otherwise it is at first the
// network's, in the given crowd: "" or signingIn.
func (m *room) admit(refuse refusal, crowd string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		of := party{bank: crowd, caller: rest.Network(r)}
		if m.remembered != nil && crowd == "" {
			if caller, known := m.remembered(r); known {
				of = partyOf(caller)
			}
		}
		if err := m.enter(r.Context(), of); err != nil {
			m.refuse(w, r, refuse, err)
			return
		}
		if !of.stranger() {
			welcome(r.Context(), of)
		}
		mine := &place{ReadCloser: r.Body, room: m, of: of, ctx: r.Context(), held: true}
		defer mine.Leave()
		if r.ContentLength != 0 {
			r.Body = mine
		}
		next.ServeHTTP(w, r.WithContext(rest.WithPlace(r.Context(), mine)))
	})
}

// known makes the place that of the caller, who is known by now.
func (m *room) known(refuse refusal, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, err := access.Require(r.Context())
		mine, ok := rest.PlaceOf(r.Context()).(*place)
		if err != nil || !ok {
			refuse(w, r, err)
			return
		}
		of := partyOf(caller)
		err = mine.rename(of)
		if err == nil {
			err = m.unsent.full(of) // checked now: the wait may have been long
		}
		if err == nil && r.ContentLength != 0 {
			if err = m.carry(w, r, mine); err == nil {
				defer mine.carried()
			}
		}
		if err != nil {
			m.refuse(w, r, refuse, err)
			return
		}
		welcome(r.Context(), of)
		a := answerOf(w)
		if a != nil {
			a.of = of
		}
		next.ServeHTTP(w, r)
		if gave := mine.answer; gave != nil { // whatever the handler made of it: it had nothing to work on
			if a != nil {
				a.reset()
			}
			m.refuse(w, r, refuse, gave)
			return
		}
		if a != nil {
			a.pack(r) // compression is work, so it is done in the room
		}
	})
}

func (m *room) refuse(w http.ResponseWriter, r *http.Request, refuse refusal, why error) {
	m.meters.refuse(why)
	w.Header().Set("Retry-After", "1")
	refuse(w, r, why)
}
