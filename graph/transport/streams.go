package transport

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/fault"
)

// Door is what the program knows of the callers of streams. Whatever it refuses, it refuses with a fault.
type Door interface {
	// Verify returns the context in which the bearer of a token asks, and for how long that may be taken for
	// granted.
	Verify(ctx context.Context, token string) (context.Context, time.Duration, error)
	// Work takes a place among all that is worked on for the caller of the context, while a stream has
	// something to do; leave gives it back.
	Work(ctx context.Context) (leave func(), err error)
	// Open counts a stream, or a WebSocket, of the caller of the context until it is closed. It refuses the
	// surplus. End ends it with a reason, where it has to give way to others, and does not wait.
	Open(ctx context.Context, what Kind, end func(why error)) (closed func(), err error)
	// Allows reports whether a page of an origin may open a WebSocket.
	Allows(r *http.Request, origin string) bool
	// Serving returns a context that ends when all streams have to.
	Serving() context.Context
	// Sent counts an answer, and Ended a stream that the server ended, by the reason.
	Sent()
	Ended(why string)
}

// Kind is a kind of what is counted at the door.
type Kind string

// The kinds. An operation is a subscription over a WebSocket, events are one over Server-Sent Events.
const (
	Events    Kind = "events"
	Socket    Kind = "socket"
	Operation Kind = "operation"
)

// Streams is the transport of subscriptions. Mount it before HTTP, with which it shares how requests are
// read.
type Streams struct {
	HTTP
	Door   Door
	Refuse func(w http.ResponseWriter, r *http.Request, err error) // answers a request that the door refuses

	// How often something is sent while nothing happens: 15 s for events and 20 s for WebSockets if 0.
	KeepAlive, Ping time.Duration
	InitTimeout     time.Duration // for the first message of a WebSocket; 5 s if 0
}

var _ graphql.Transport = Streams{}

// longestSend is how long a caller may take for one answer, beyond what its side and the kernel take at once.
const longestSend = 5 * time.Second

// WantsStream reports whether a request is to be answered as a stream: by text/event-stream, or over a
// WebSocket.
func WantsStream(r *http.Request) bool {
	return Upgrades(r) || prefersStream(r.Header.Values("Accept"))
}

// Upgrades reports whether a request asks for a WebSocket.
func Upgrades(r *http.Request) bool { return strings.EqualFold(r.Header.Get("Upgrade"), "websocket") }

// Supports reports whether a request wants a stream.
func (s Streams) Supports(r *http.Request) bool { return WantsStream(r) }

// Do serves a stream until it ends.
func (s Streams) Do(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	if Upgrades(r) {
		s.serveSocket(w, r, exec)
		return
	}
	s.serveEvents(w, r, exec)
}

// Why a stream ended that the server ended.
var (
	errStopping = fault.New(fault.Unavailable, "stream.stopping",
		"the server stops: subscribe again, since the last cursor")
	errSlow = fault.New(fault.TooMany, "stream.unread",
		"the answers were not read: subscribe again, since the last cursor")
	errGone = errors.New("the client has gone")
)

// session is a caller while its token counts. A token that ends ends the session.
type session struct {
	door  Door
	token string
	ctx   context.Context // of the stream or WebSocket; its cause says why it ended
	end   context.CancelCauseFunc
	again *time.Timer
	stop  func() bool

	mu sync.Mutex
}

// begin lets a caller in. The session's context ends with the given one, when the token does, or the server
// stops.
func begin(ctx context.Context, door Door, token string) (*session, error) {
	s := &session{door: door, token: token}
	ctx, holds, err := door.Verify(ctx, token)
	if err != nil {
		return nil, err
	}
	s.ctx, s.end = context.WithCancelCause(ctx)
	s.stop = context.AfterFunc(door.Serving(), func() { s.end(errStopping) })
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again = time.AfterFunc(soon(holds), s.check)
	return s, nil
}

// soon is when to ask again: not at once, if a clock stands still.
func soon(holds time.Duration) time.Duration { return max(holds, 20*time.Millisecond) }

// check asks whether the token still counts.
func (s *session) check() {
	_, holds, err := s.door.Verify(s.ctx, s.token)
	if err != nil {
		s.end(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.again.Reset(soon(holds))
	}
}

// close ends the session; what still runs for it ends too.
func (s *session) close(why error) {
	s.end(why)
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.again.Stop()
}

// enter takes a place for some work of the session, in the context of its caller as it is now.
func (s *session) enter(ctx context.Context) (context.Context, func(), error) {
	ctx, _, err := s.door.Verify(ctx, s.token)
	if err != nil {
		s.end(err)
		return ctx, nil, err
	}
	leave, err := s.door.Work(ctx)
	return ctx, leave, err
}

// sessionKey is the key of the session among the extensions of gqlgen's operation context.
const sessionKey = "bankgraph.session"

// Enter takes a place for what an operation of a stream has to do: see session.enter. An operation that is no
// stream's has its place already.
func Enter(ctx context.Context, op *graphql.OperationContext) (context.Context, func(), error) {
	s, ok := op.Stats.GetExtension(sessionKey).(*session)
	if !ok {
		return ctx, func() {}, nil
	}
	return s.enter(ctx)
}

// subscribe opens a subscription in the context of a stream, which ends it. It returns what waits for the
// next answer; nil and the refusal if there is none.
func (s *session) subscribe(
	ctx context.Context, exec graphql.GraphExecutor, params *graphql.RawParams,
) (next graphql.ResponseHandler, at context.Context, refused *graphql.Response) {
	asked, leave, err := s.enter(ctx)
	if err != nil {
		return nil, ctx, failed(ctx, exec, err)
	}
	defer leave()
	operation, errs := exec.CreateOperationContext(asked, params)
	at = graphql.WithOperationContext(asked, operation)
	if len(errs) > 0 {
		return nil, at, exec.DispatchError(at, whole(errs))
	}
	if operation.Operation.Operation != ast.Subscription {
		return nil, at, exec.DispatchError(at, gqlerror.List{{
			Message: onlySubscriptions, Extensions: map[string]any{"code": StreamForSubscriptions},
		}})
	}
	operation.Stats.SetExtension(sessionKey, s)
	next, at = exec.DispatchOperation(at, operation)
	if operation.Stats.GetExtension(listeningKey) == nil {
		return nil, at, next(at)
	}
	return next, at, nil
}

// listeningKey is the key of the mark that a subscription is open, among the extensions of the operation
// context.
const listeningKey = "bankgraph.listening"

// Listening marks a subscription as open. One that its field has refused is not: it has no stream.
func Listening(op *graphql.OperationContext) { op.Stats.SetExtension(listeningKey, true) }

// failed is the response that consists of one error.
func failed(ctx context.Context, exec graphql.GraphExecutor, err error) *graphql.Response {
	if !graphql.HasOperationContext(ctx) {
		ctx = graphql.WithOperationContext(ctx, &graphql.OperationContext{})
	}
	return exec.DispatchError(ctx, gqlerror.List{{Err: err, Message: err.Error()}})
}

// last reports whether a response is the last one of a stream: it has no data.
func last(response *graphql.Response) bool { return response.Data == nil }

// The reasons for which streams end, as they are counted.
const (
	endedSlow   = "slow"
	endedStop   = "stop"
	endedCaller = "caller"
	endedOther  = "failure"
)

// whyEnded is the reason of an error that ended a stream.
func whyEnded(err error) string {
	why, ok := fault.Of(err)
	switch {
	case errors.Is(err, errStopping):
		return endedStop
	case ok:
		return whyOf(why.Kind)
	}
	return endedOther
}

// whyIn is the reason in the last response of a stream.
func whyIn(response *graphql.Response) string {
	if len(response.Errors) == 0 {
		return endedOther
	}
	kind, _ := response.Errors[0].Extensions["kind"].(fault.Kind)
	return whyOf(kind)
}

func whyOf(kind fault.Kind) string {
	switch kind {
	case fault.TooMany:
		return endedSlow
	case fault.Unauthenticated, fault.Denied:
		return endedCaller
	}
	return endedOther
}

// bearer is the token in a text such as "Bearer TOKEN"; "" if it is none.
func bearer(text string) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(text), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// repeated does something again and again, without a goroutine that waits.
type repeated struct {
	every time.Duration

	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

func (r *repeated) start(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.timer = time.AfterFunc(r.every, func() {
		do()
		r.mu.Lock()
		defer r.mu.Unlock()
		if !r.stopped {
			r.timer.Reset(r.every)
		}
	})
}

func (r *repeated) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	r.timer.Stop()
}
