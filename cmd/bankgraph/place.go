package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"bankgraph/core/fair"
)

// place is a request's place in the room. It is given up while the request's body is being received:
// otherwise callers who send slowly could fill the room and shut out all others. Handlers read a body to its
// end before they do anything else, so the place is taken again only at the end, not after each piece.
type place struct {
	io.ReadCloser // the body
	room          *room
	of            party
	ctx           context.Context
	held          bool

	// Of a known caller's body, set by carry.
	body    *fair.Holding
	control *http.ResponseController
	upload  bool            // whose body takes its time, but has a least pace
	stream  bool            // which is not worked on in this place
	way     context.Context // ends when the body gives way
	giveUp  context.CancelFunc
	arrived bool
	answer  error // what its reader was given instead of the rest of it

	aside *fair.Holding // while it waits for a network

	mu   sync.Mutex
	cut  bool  // the body is read no further
	gave error // why the body gave way to others of the room
}

func (p *place) Read(into []byte) (int, error) {
	if p.body == nil || p.arrived {
		return p.read(into)
	}
	p.Leave()
	if !p.body.Await() {
		return 0, p.tell()
	}
	p.hurry()
	read, err := p.ReadCloser.Read(into)
	if !p.body.Moved(int64(read)) {
		return 0, p.tell()
	}
	switch {
	case errors.Is(err, io.EOF):
	case p.upload && errors.Is(err, os.ErrDeadlineExceeded) && p.body.Left(slowestPiece) <= 0:
		return read, errSlowUpload
	default: // The body goes on, or failed: it was too large or cut. A failure is only reported.
		return read, err
	}
	p.arrived = true
	p.calm()
	switch {
	case p.stream:
		p.carried()
		return read, err
	case !p.body.Queue():
		return 0, p.tell()
	}
	back := p.Return(p.way)
	if !p.body.Keep() {
		return 0, p.tell()
	}
	if back != nil {
		return read, back
	}
	return read, err
}

// read is Read where the body does not count.
func (p *place) read(into []byte) (int, error) {
	if p.arrived {
		return p.ReadCloser.Read(into)
	}
	p.Leave()
	read, err := p.ReadCloser.Read(into)
	if !errors.Is(err, io.EOF) {
		return read, err
	}
	if err := p.Return(p.ctx); err != nil {
		return read, err
	}
	return read, err
}

// hurry gives the next piece of an upload as long as it may take, so that who sends more slowly than at
// fair.LeastRate is cut.
func (p *place) hurry() {
	if !p.upload {
		return
	}
	until := time.Now().Add(p.body.Left(slowestPiece)) // before the lock, for which Cut waits inside the supply
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cut {
		return
	}
	if last, is := p.ctx.Deadline(); is && last.Before(until) {
		until = last
	}
	_ = p.control.SetReadDeadline(until) // only connections of a network have deadlines
}

// calm gives the connection of an upload that has arrived the rest of its time: a deadline that passes would
// end what is done with it.
func (p *place) calm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, is := p.ctx.Deadline(); is && p.upload && !p.cut {
		_ = p.control.SetReadDeadline(last)
	}
}

// Cut ends the receiving of the body.
func (p *place) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut = true
	if p.control != nil {
		_ = p.control.SetReadDeadline(time.Unix(1, 0))
	}
}

// give makes the body give way to others.
func (p *place) give(slow bool) {
	p.Cut()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gave = errGaveWay
	if slow {
		p.gave = errSlowBody
	}
	p.giveUp()
}

// tell tells the reader of the body why that gave way.
func (p *place) tell() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answer = p.gave
	return p.gave
}

// carried ends the counting of the body.
func (p *place) carried() {
	p.body.Leave()
	p.giveUp()
}

// StepAside implements rest.Place. The body has arrived by now, so what waits is counted by itself: otherwise
// those who wait would shut out all whose requests have bodies.
func (p *place) StepAside(end func()) bool {
	aside, why := p.room.asides.Take(p.of.fair(), 1, func(bool) { end() })
	if why != fair.None {
		return false
	}
	aside.Queue() // it is never slow, but gives way to who has fewer
	p.aside = aside
	if p.body != nil {
		p.carried()
	}
	p.Leave()
	return true
}

// Return takes the place again that was left. Who waited for a network counts as waiting until then.
func (p *place) Return(ctx context.Context) error {
	err := p.room.enterAgain(ctx, p.of)
	p.held = err == nil
	if p.aside != nil {
		p.aside.Leave()
		p.aside = nil
	}
	return err
}

func (p *place) rename(to party) error {
	from := p.of
	if from == to && p.held {
		return nil
	}
	p.of, p.held = to, false
	err := p.room.rename(p.ctx, from, to)
	p.held = err == nil
	return err
}

// Leave gives the place up; more than once is as good as once.
func (p *place) Leave() {
	if p.held {
		p.held = false
		p.room.leave(p.of)
	}
}
