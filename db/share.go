package db

import (
	"context"
	"slices"
	"sync"
)

// The connections of a pool are shared fairly: a caller that wants many at once waits for its own work, and
// others do not wait for it. A place stands for a connection, and must be taken before a connection.

// share says on whose behalf a context's work is done.
type share struct {
	tenant int64
	caller string
	reads  chan struct{} // places for the connections on which one request reads at the same time
}

type shareKey struct{}

// mostAtOnce is how many connections of the read pool one request may hold at a time.
const mostAtOnce = 3

// WithShare returns a context whose work counts towards the share of a bank and of a caller in it, such as an
// API key. Work without it, that of the program itself, has a share of its own.
func WithShare(ctx context.Context, tenant int64, caller string) context.Context {
	return context.WithValue(ctx, shareKey{}, &share{tenant, caller, make(chan struct{}, mostAtOnce)})
}

// shareOf returns the share of a context, or the program's own share for the tenant.
func shareOf(ctx context.Context, tenant int64) *share {
	if s, known := ctx.Value(shareKey{}).(*share); known {
		return s
	}
	return &share{tenant: tenant}
}

// read runs work that reads on one connection.
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

// hold takes one of the request's own reading places; leave gives it back.
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

// places holds the places of a pool. A free place goes to the bank that holds the fewest, among equals to the
// one whose last turn is longest ago; within the bank likewise to a caller; and to the caller's work in
// order.
//
// A single caller may take three quarters of the pool, and a bank seven eighths, so that the next one finds a
// place without waiting for somebody else's statement. The program's own work has no such bound.
type places struct {
	mu         sync.Mutex
	free, size int
	turn       uint64
	banks      map[int64]*bankLine
}

// line holds what decides whose turn it is, for a bank or a caller.
type line struct {
	held    int
	most    int // places that it may hold
	waiting int
	turn    uint64 // when it last got a place, or when it came
}

type bankLine struct {
	line
	callers map[string]*callerLine
}

type callerLine struct {
	line
	work []chan struct{} // closed when the work gets its place
}

func newPlaces(size int) *places {
	return &places{free: size, size: size, banks: map[int64]*bankLine{}}
}

// enter waits for a place; leave gives it back.
func (p *places) enter(ctx context.Context, s *share) (leave func(), err error) {
	p.mu.Lock()
	bank, caller := p.linesOf(s)
	leave = func() { p.leave(s, bank, caller) }
	if p.free > 0 && bank.held < bank.most && caller.held < caller.most { // all who wait are at a bound
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
	if at < 0 { // the place was given at the same moment
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

// newLine makes a line whose turn comes after all present ones. Unless it is the program's own, it leaves a
// part of the places to others.
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

// next returns whose turn it is, among those who wait and may have another place; nil if there is nobody.
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

// forget drops lines that neither hold a place nor wait.
func (p *places) forget(s *share, bank *bankLine, caller *callerLine) {
	if caller.held == 0 && caller.waiting == 0 {
		delete(bank.callers, s.caller)
	}
	if bank.held == 0 && bank.waiting == 0 {
		delete(p.banks, s.tenant)
	}
}
