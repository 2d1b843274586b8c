package changes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/db"
)

// Thing names what a job works on: a payment or a hold by its number, a line by that of its file, and
// messages by what they are about, as those of one thing are taken in their order.
type Thing struct {
	ID   int64
	Line int    // 0 of what is no line
	Of   string // "" of what is no message
}

// Numbered returns what has a number as a thing.
func Numbered[N ~int64](id N) Thing { return Thing{ID: int64(id)} }

func (t Thing) String() string {
	switch {
	case t.Of != "":
		return t.Of
	case t.Line != 0:
		return fmt.Sprintf("%d, line %d", t.ID, t.Line)
	}
	return strconv.FormatInt(t.ID, 10)
}

// Pace is how much of a job of a bank is done in one transaction, and what of it could not be done alone.
// What takes too long in one transaction is tried in halves, here and by the next calls, until something
// succeeds; then twice as much is tried each time. What cannot be done even alone is tried last, alone, by
// each call. So a party whose work is slow stops nobody else's, and a process that begins anew finds the pace
// again.
type Pace struct {
	mu   sync.Mutex
	full int // how much is done at a time where nothing is slow
	most int // how much is at present
	last map[Thing]bool
}

// mostLast bounds how many things a pace remembers that are tried last.
const mostLast = 10_000

// NewPace returns a pace at which so much is done at a time.
func NewPace(full int) *Pace { return &Pace{full: full, most: full, last: map[Thing]bool{}} }

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

// putLast lets a thing be tried after all others from now on, or no longer.
func (p *Pace) putLast(t Thing, is bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !is:
		delete(p.last, t)
	case len(p.last) >= mostLast: // some may be gone: those that are there are found again
		p.last = map[Thing]bool{t: true}
	default:
		p.last[t] = true
	}
}

// inOrder returns things in the order in which they are tried: how many at the end are tried last, alone.
func inOrder[T any](p *Pace, all []T, is func(T) Thing) (order []T, last int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.last) == 0 {
		return all, 0
	}
	var behind []T
	for _, t := range all {
		if p.last[is(t)] {
			behind = append(behind, t)
		} else {
			order = append(order, t)
		}
	}
	return append(order, behind...), len(behind)
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
// panics, as much of it was written by other banks. If some takes too long, half of it is tried. What is the
// same thing as one that failed alone waits with it. AllOrEach ends with the context, of which what it was at
// says nothing, and if the database is what failed. It returns an error if anything is left.
func AllOrEach[T any](
	ctx context.Context, at *Pace, all []T, is func(T) Thing, work func([]T) (int, error),
) (done int, err error) {
	rest, last := inOrder(at, all, is)
	var late error // of what took too long, unless less of it has succeeded since
	alone := 0     // of the rest
	for first := true; len(rest) > 0; first = false {
		if over(ctx) {
			return done, errors.Join(err, cmp.Or(late, context.DeadlineExceeded))
		}
		size := 1
		if alone == 0 && len(rest) > last {
			size = min(len(rest)-last, at.Size())
		}
		some := rest[:size]
		n, failed := Guarded(work, some)
		done += n
		timeout := db.IsTimeout(failed)
		switch {
		case db.IsUnavailable(failed):
			return done, errors.Join(err, failed)
		case timeout && over(ctx) && !first: // the time was spent on others
			return done, errors.Join(err, failed)
		case timeout && size > 1:
			late = failed
			at.Slower(size)
			continue
		case failed != nil && n == 0 && size > 1:
			alone = size
			continue
		case failed != nil && size == 1:
			thing := is(some[0])
			at.putLast(thing, true)
			if timeout {
				failed = fmt.Errorf("%s takes too long: %w", thing, failed)
			}
			err = errors.Join(err, failed)
			rest = slices.DeleteFunc(slices.Clone(rest[1:]), func(t T) bool { return is(t) == thing })
			alone = max(0, alone-1)
			continue
		case failed == nil && size == 1:
			at.putLast(is(some[0]), false)
		}
		if failed == nil {
			late = nil
			if alone == 0 {
				at.Faster(size)
			}
		}
		err = errors.Join(err, failed)
		rest, alone = rest[size:], max(0, alone-size)
	}
	return done, err
}

// over reports whether a context has ended, or does at this moment: what works within it hears so first.
func over(ctx context.Context) bool {
	until, limited := ctx.Deadline()
	return ctx.Err() != nil || limited && !time.Now().Before(until)
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
