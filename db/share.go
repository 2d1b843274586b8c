package db

import (
	"context"
	"slices"
	"sync"
)

// The connections of a pool are shared among those who ask for them: whoever asks for many at once waits for
// its own, not everybody for it. A place in a queue stands for a connection, and is taken before the pool is
// asked.

// share says for whom a context's work is done.
type share struct {
	tenant int64
	caller string
	reads  chan struct{} // connections that one request reads on at the same time
}

type shareKey struct{}

// mostAtOnce is how many connections of the read pool one request holds at most, however much it asks for
// beside each other.
const mostAtOnce = 3

// WithShare says for whom the work of a request is done, once the caller is known: a bank, and whoever of it
// is to wait for themself alone, such as an API key. Work without it, of the program itself, has a share of
// its own.
func WithShare(ctx context.Context, tenant int64, caller string) context.Context {
	return context.WithValue(ctx, shareKey{}, &share{tenant, caller, make(chan struct{}, mostAtOnce)})
}

// shareOf is the share of a context; tenant is for work without one.
func shareOf(ctx context.Context, tenant int64) *share {
	if s, known := ctx.Value(shareKey{}).(*share); known {
		return s
	}
	return &share{tenant: tenant}
}

// read runs work that takes a connection for reading.
func (p *places) read(ctx context.Context, work func() error) error {
	s := shareOf(ctx, 0)
	leave, err := s.hold(ctx)
	if err != nil {
		return err
	}
	defer leave()
	if leave, err = p.enter(ctx, s); err != nil {
		return err
	}
	defer leave()
	return work()
}

// hold takes one of the request's own reading places, until leave.
func (s *share) hold(ctx context.Context) (leave func(), err error) {
	if s.reads == nil {
		return func() {}, nil
	}
	select {
	case s.reads <- struct{}{}:
		return func() { <-s.reads }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// places are those of a pool. A free one goes to the bank that holds fewest, among equals to the one that has
// waited longest since its last turn; within the bank likewise to a caller, and to a caller's work as it
// came.
//
// A caller alone may fill three quarters of the pool, a bank seven eighths: whoever comes next finds a place,
// and does not wait for the longest statement of somebody else. The program's own work is not bounded so.
type places struct {
	mu         sync.Mutex
	free, size int
	turn       uint64
	banks      map[int64]*bankLine
}

// line is what decides whose turn it is.
type line struct {
	held    int
	most    int // that it may hold
	waiting int
	turn    uint64 // of the last place it was given, or when it came
}

type bankLine struct {
	line
	callers map[string]*callerLine
}

type callerLine struct {
	line
	work []chan struct{} // closed when it is given its place
}

func newPlaces(size int) *places {
	return &places{free: size, size: size, banks: map[int64]*bankLine{}}
}

// enter waits for a place, which leave gives back.
func (p *places) enter(ctx context.Context, s *share) (leave func(), err error) {
	p.mu.Lock()
	bank, caller := p.linesOf(s)
	leave = func() { p.leave(s, bank, caller) }
	if p.free > 0 && bank.held < bank.most && caller.held < caller.most { // who waits waits for its own
		p.give(bank, caller)
		p.mu.Unlock()
		return leave, nil
	}
	mine := make(chan struct{})
	caller.work = append(caller.work, mine)
	caller.waiting++
	bank.waiting++
	p.mu.Unlock()
	select {
	case <-mine:
		return leave, nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	at := slices.Index(caller.work, mine)
	if at >= 0 {
		caller.work = slices.Delete(caller.work, at, at+1)
		caller.waiting--
		bank.waiting--
		p.forget(s, bank, caller)
	}
	p.mu.Unlock()
	if at < 0 { // it was given at the same moment
		leave()
	}
	return nil, context.Cause(ctx)
}

func (p *places) linesOf(s *share) (*bankLine, *callerLine) {
	bank, known := p.banks[s.tenant]
	if !known {
		bank = &bankLine{line: p.newLine(s.tenant == 0, 8), callers: map[string]*callerLine{}}
		p.banks[s.tenant] = bank
	}
	caller, known := bank.callers[s.caller]
	if !known {
		caller = &callerLine{line: p.newLine(s.caller == "", 4)}
		bank.callers[s.caller] = caller
	}
	return bank, caller
}

// newLine is a line whose turn comes after those of all who are waiting already, and that leaves a part of
// the places to others, but for the program's own.
func (p *places) newLine(own bool, part int) line {
	p.turn++
	l := line{turn: p.turn, most: p.size}
	if !own {
		l.most -= p.size / part
	}
	return l
}

func (p *places) give(bank *bankLine, caller *callerLine) {
	p.free--
	p.turn++
	for _, l := range [...]*line{&bank.line, &caller.line} {
		l.held++
		l.turn = p.turn
	}
}

func (p *places) leave(s *share, bank *bankLine, caller *callerLine) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free++
	bank.held--
	caller.held--
	for p.free > 0 {
		bank, caller := p.next()
		if bank == nil {
			break
		}
		close(caller.work[0])
		caller.work = caller.work[1:]
		caller.waiting--
		bank.waiting--
		p.give(bank, caller)
	}
	p.forget(s, bank, caller)
}

// next is whose turn it is among those who wait and may have a further place; nil when there is nobody.
func (p *places) next() (bank *bankLine, caller *callerLine) {
	for _, b := range p.banks {
		if !b.mayHave() || bank != nil && !b.before(bank.line) {
			continue
		}
		if c := b.next(); c != nil {
			bank, caller = b, c
		}
	}
	return bank, caller
}

func (b *bankLine) next() (caller *callerLine) {
	for _, c := range b.callers {
		if c.mayHave() && (caller == nil || c.before(caller.line)) {
			caller = c
		}
	}
	return caller
}

func (l line) mayHave() bool { return l.waiting > 0 && l.held < l.most }

func (l line) before(other line) bool {
	if l.held != other.held {
		return l.held < other.held
	}
	return l.turn < other.turn
}

// forget drops the lines of those who neither hold nor wait.
func (p *places) forget(s *share, bank *bankLine, caller *callerLine) {
	if caller.held == 0 && caller.waiting == 0 {
		delete(bank.callers, s.caller)
	}
	if bank.held == 0 && bank.waiting == 0 {
		delete(p.banks, s.tenant)
	}
}
