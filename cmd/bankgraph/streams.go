package main

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/fair"
	"bankgraph/core/fault"
	"bankgraph/db"
	"bankgraph/graph/transport"
	"bankgraph/rest"
)

var (
	errStreams = fault.New(fault.TooMany, "caller.streams",
		"too many subscriptions of this caller are open, end some first")
	errBankStreams = fault.New(fault.TooMany, "bank.streams",
		"too many subscriptions of this bank are open, try again later")
)

// errStreamGaveWay ends a subscription of who has many, for others who have fewer.
var errStreamGaveWay = fault.New(fault.Unavailable, "stream.gave_way",
	"the subscription gave way to others of this bank who have fewer: subscribe again, since the last cursor")

// mostStreamsOfCaller is how many streams of events one caller has open, and how many WebSockets beside them.
// Each of these has some subscriptions.
const mostStreamsOfCaller = 6

// streams are the subscriptions that are open. While nothing happens they have no place in the room, no
// connection to the database and no deadline; they are bounded by themselves.
type streams struct {
	core    *core.Core
	room    *room
	pace    pace
	meters  *meters
	origins []string

	serving context.Context
	stop    context.CancelFunc
	running sync.WaitGroup // requests that are streams

	mu   sync.Mutex
	own  map[transport.Kind]map[party]int // streams of events and WebSockets, by caller
	subs *fair.Supply                     // subscriptions
}

var _ transport.Door = (*streams)(nil)

func newStreams(c *core.Core, most int, origins []string, room *room, pace pace, m *meters) *streams {
	s := &streams{
		core: c, room: room, pace: pace, meters: m, origins: origins, subs: fair.New(int64(most), time.Now),
		own: map[transport.Kind]map[party]int{transport.Events: {}, transport.Socket: {}},
	}
	s.serving, s.stop = context.WithCancel(context.Background())
	m.gauge("bankgraph_streams", "Subscriptions that are open.", nil, func() float64 {
		all, _ := s.subs.Taken(fair.Party{})
		return float64(all)
	})
	return s
}

// Verify implements transport.Door.
func (s *streams) Verify(ctx context.Context, token string) (context.Context, time.Duration, error) {
	caller, holds, err := s.core.Clients.VerifyFor(ctx, token)
	if refused, is := errors.AsType[access.TokenRefusal](err); is {
		err = refused.Of
	}
	if err != nil {
		if why, known := fault.Of(err); !known || why.Kind == fault.Unavailable {
			slog.ErrorContext(ctx, "token of a stream could not be checked", "error", err)
			err = errBusy
		}
		return ctx, 0, err
	}
	caller.Request = idOf(ctx)
	return db.WithShare(access.With(ctx, caller), int64(caller.Tenant), caller.Party()), holds, nil
}

// Work implements transport.Door.
func (s *streams) Work(ctx context.Context) (leave func(), err error) {
	caller, err := access.Require(ctx)
	if err != nil {
		return nil, err
	}
	of := partyOf(caller)
	waiting, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	if err := s.room.enterAgain(waiting, of); err != nil {
		return nil, errBusy
	}
	return func() {
		s.room.leave(of)
		recordRefusals(ctx, s.core)
	}, nil
}

// Open implements transport.Door.
func (s *streams) Open(
	ctx context.Context, what transport.Kind, end func(why error),
) (closed func(), err error) {
	caller, err := access.Require(ctx)
	if err == nil && what != transport.Events { // a request for events was counted when it came
		err = s.pace.over(caller)
	}
	if err == nil {
		closed, err = s.count(partyOf(caller), what, end)
	}
	if err != nil {
		s.meters.refuse(err)
		return nil, err
	}
	if seen, ok := ctx.Value(seenKey{}).(*recorder); ok && what != transport.Operation {
		seen.tenant, seen.client, seen.answered = caller.TenantCode, caller.Client, time.Now()
		welcome(ctx, partyOf(caller))
	}
	return closed, nil
}

func (s *streams) count(of party, what transport.Kind, end func(error)) (closed func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	own, many := s.own[what]
	if many && own[of] == mostStreamsOfCaller {
		return nil, errStreams
	}
	leave := func() {}
	if what != transport.Socket { // whose operations are counted one by one
		one, why := s.subs.Take(of.fair(), 1, func(bool) { end(errStreamGaveWay) })
		switch why {
		case fair.OfCaller:
			return nil, errStreams
		case fair.OfBank:
			return nil, errBankStreams
		case fair.OfAll:
			return nil, errBusy
		}
		one.Queue() // it is never slow, but gives way to who has fewer
		leave = one.Leave
	}
	if many {
		own[of]++
	}
	return sync.OnceFunc(func() {
		leave()
		s.mu.Lock()
		defer s.mu.Unlock()
		if !many {
			return
		}
		if own[of]--; own[of] == 0 {
			delete(own, of)
		}
	}), nil
}

// Allows implements transport.Door: pages of this host, and of the origins that CORS has, may open
// WebSockets.
func (s *streams) Allows(r *http.Request, origin string) bool {
	at, err := url.Parse(origin)
	return err == nil && (strings.EqualFold(at.Host, r.Host) || slices.Contains(s.origins, origin))
}

// Serving implements transport.Door.
func (s *streams) Serving() context.Context { return s.serving }

// Sent implements transport.Door.
func (s *streams) Sent() { s.meters.answered.Inc() }

// Ended implements transport.Door.
func (s *streams) Ended(why string) { s.meters.streamsEnded.WithLabelValues(why).Inc() }

type seenKey struct{}

// counted lets the door write into the log line of a request that becomes a stream.
func (s *streams) counted(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Done()
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), seenKey{}, recorderOf(w))))
	})
}

// released gives up the place of a request whose caller is known by now: from here on it is a stream, which
// takes one whenever it has something to do. What it sends is read without a place, as all bodies are.
func (s *streams) released(refuse refusal, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mine, ok := rest.PlaceOf(r.Context()).(*place)
		caller, err := access.Require(r.Context())
		if err != nil || !ok {
			refuse(w, r, err)
			return
		}
		mine.Leave()
		if r.ContentLength != 0 {
			mine.of, mine.stream = partyOf(caller), true
			if err := s.room.carry(w, r, mine); err != nil {
				s.room.refuse(w, r, refuse, err)
				return
			}
			defer mine.carried()
		}
		next.ServeHTTP(w, r)
	})
}

// wait waits until all streams have ended.
func (s *streams) wait(ctx context.Context) error {
	ended := make(chan struct{})
	go func() { s.running.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
		return errors.New("streams were still open")
	}
}
