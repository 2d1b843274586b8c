package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Thing is what a job works on: a payment, a hold or a message by its number, or a line of a file.
type Thing struct {
	ID   int64
	Line int // 0 of what is no line
}

// Numbered returns what has a number as a thing.
func Numbered[N ~int64](id N) Thing { return Thing{ID: int64(id)} }

func (t Thing) String() string {
	if t.Line == 0 {
		return strconv.FormatInt(t.ID, 10)
	}
	return fmt.Sprintf("%d, line %d", t.ID, t.Line)
}

// A thing that takes too long even alone is left out, so that others get on: first for leastOut, then for twice
// as long each time, up to mostOut. Trying one takes seconds, so that fewer than 250 can be left out at a time, and
// jobs that look for so many find others.
const (
	leastOut = 10 * time.Second
	mostOut  = 5 * time.Minute
)

// out is a thing that is left out.
type out struct {
	until time.Time
	times int
}

// Pace is how much of a job of a bank is done in one transaction, and what of it is left out for a while. What
// takes too long in one transaction is tried in halves, here and by the next calls, until something succeeds;
// then twice as much is tried each time. So a party whose work is slow stops nobody else's, and a process
// that begins anew finds the pace again.
type Pace struct {
	mu   sync.Mutex
	full int // how much is done at a time where nothing is slow
	most int // how much is at present
	out  map[Thing]out
	now  func() time.Time
}

// NewPace returns a pace at which so much is done at a time.
func NewPace(full int) *Pace {
	return &Pace{full: full, most: full, now: time.Now, out: map[Thing]out{}}
}

// Size returns how much is done at a time at present.
func (p *Pace) Size() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.most
}

// Slower says that so much at a time took too long.
func (p *Pace) Slower(than int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = max(1, than/2)
}

// Faster says that so much at a time went well.
func (p *Pace) Faster(than int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = min(p.full, max(p.most, 2*than))
}

// leave leaves a thing out, and returns for how long.
func (p *Pace) leave(t Thing) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	o := p.out[t]
	wait := min(mostOut, leastOut<<min(o.times, 10))
	p.out[t] = out{p.now().Add(wait), o.times + 1}
	return wait
}

// done says that things have been dealt with.
func (p *Pace) done(some ...Thing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range some {
		delete(p.out, t)
	}
}

// leaves reports whether a thing is left out at present.
func (p *Pace) leaves(t Thing) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	o, there := p.out[t]
	return there && p.now().Before(o.until)
}

// Left returns the numbers of what is left out at present. It forgets what nobody has tried again for long.
func (p *Pace) Left() []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids, now := []int64{}, p.now() // not NULL
	for t, o := range p.out {
		if now.Before(o.until) {
			ids = append(ids, t.ID)
		} else if now.Sub(o.until) > 12*mostOut {
			delete(p.out, t)
		}
	}
	return ids
}

// Paces are those of the jobs of each bank.
type Paces struct {
	mu sync.Mutex
	of map[paced]*Pace
}

type paced struct {
	tenant access.Tenant
	job    string
}

// At returns the pace of a job of a bank, at which so much is done at a time where nothing is slow.
func (p *Paces) At(tenant access.Tenant, job string, full int) *Pace {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil {
		p.of = map[paced]*Pace{}
	}
	key := paced{tenant, job}
	if p.of[key] == nil {
		p.of[key] = NewPace(full)
	}
	return p.of[key]
}

// AllOrEach does work on what a job has found, as much at a time as its pace is, and returns how much it did.
// If some fails, each of it is done alone, so that what cannot be done does not stop the rest; nor does what
// panics, as much of it was written by other banks. If some takes too long, half of it is tried, and what
// takes too long alone is left out for a while, with an error. It ends with the context, and if the database
// is what failed. It returns an error if anything is left that is not left out already.
func AllOrEach[T any](
	ctx context.Context, at *Pace, all []T, is func(T) Thing, work func([]T) (int, error),
) (done int, err error) {
	at.Left()
	var rest []T
	for _, t := range all {
		if !at.leaves(is(t)) {
			rest = append(rest, t)
		}
	}
	var late error // of what took too long, unless less of it has succeeded since
	alone := 0     // of the rest
	for tries := 1; len(rest) > 0; tries++ {
		if ctx.Err() != nil {
			return done, errors.Join(err, cmp.Or(late, ctx.Err()))
		}
		size := min(len(rest), at.Size())
		if alone > 0 {
			size = 1
		}
		some := rest[:size]
		n, failed := Guarded(work, some)
		done += n
		switch {
		case db.IsUnavailable(failed):
			return done, errors.Join(err, failed)
		case db.IsTimeout(failed) && size > 1:
			late = failed
			at.Slower(size)
			continue
		case db.IsTimeout(failed) && ctx.Err() != nil && tries > 1: // the time was spent on others
			return done, errors.Join(err, failed)
		case db.IsTimeout(failed):
			wait := at.leave(is(some[0]))
			failed = fmt.Errorf("%s takes too long and is left out for %s: %w", is(some[0]), wait, failed)
		case failed != nil && n == 0 && size > 1:
			alone = size
			continue
		case failed == nil:
			late = nil
			for _, t := range some {
				at.done(is(t))
			}
			if alone == 0 {
				at.Faster(size)
			}
		}
		err = errors.Join(err, failed)
		rest, alone = rest[size:], max(0, alone-size)
	}
	return done, err
}

// Guarded does work, and returns an error if it panics.
func Guarded[T any](work func(T) (int, error), some T) (n int, err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			n, err = 0, fmt.Errorf("panic: %v\n%s", panicked, debug.Stack())
		}
	}()
	return work(some)
}
