package transport

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"bankgraph/core/fault"
)

// serveEvents answers a subscription as Server-Sent Events, by the distinct connections mode of graphql-sse:
// an event next for each answer, and an event complete at the end. What is refused before the stream begins
// is answered as JSON, with a status.
func (s Streams) serveEvents(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	header := w.Header()
	header.Set("Content-Type", plainJSON.contentType())
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept")
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		_, _, refused := s.read(w, r)
		refuse(w, r.Context(), exec, refused)
		return
	}
	params, refused := s.readParams(w, r)
	if refused != nil {
		refuse(w, r.Context(), exec, refused)
		return
	}
	params.Headers = r.Header
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Time{}) // only connections of a network have deadlines

	caller, err := begin(r.Context(), s.Door, tokenOf(r))
	if err != nil {
		s.Refuse(w, r, err)
		return
	}
	defer caller.close(errGone)
	closed, err := s.Door.Open(caller.ctx, Events, caller.end)
	if err != nil {
		header.Set("Retry-After", "1")
		s.Refuse(w, r, err)
		return
	}
	defer closed()
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	next, ctx, refusal := caller.subscribe(caller.ctx, exec, params)
	if refusal != nil {
		s.writeRefused(w, refusal)
		return
	}
	header.Set("Content-Type", string(eventStream)+"; charset=utf-8")
	header.Set("X-Accel-Buffering", "no") // proxies pass on what comes at once
	w.WriteHeader(http.StatusOK)
	out := &events{w: w, control: control, slow: func() { caller.end(errSlow) }}
	s.stream(ctx, out, r, caller, exec, next)
}

// stream sends the answers of a subscription until there are no more, or something else ends it.
func (s Streams) stream(
	ctx context.Context, out *events, r *http.Request, caller *session, exec graphql.GraphExecutor,
	next graphql.ResponseHandler,
) {
	out.send(":\n\n")
	every := s.KeepAlive
	if every == 0 {
		every = 15 * time.Second
	}
	idle := &repeated{every: every}
	idle.start(func() { out.send(":\n\n") })
	defer out.close()
	defer idle.stop()
	for {
		response := next(ctx)
		if response == nil {
			break
		}
		out.next(response)
		if last(response) {
			s.Door.Ended(whyIn(response))
			out.send("event: complete\ndata:\n\n")
			return
		}
		s.Door.Sent()
	}
	why := context.Cause(caller.ctx)
	switch {
	case why == nil: // the subscription has no more
	case out.unread(): // its request has ended, too, by the write that failed
		s.Door.Ended(endedSlow)
		return
	case r.Context().Err() != nil:
		return
	default:
		s.Door.Ended(whyEnded(why))
		if errors.Is(why, errSlow) {
			return
		}
		out.next(failed(context.WithoutCancel(ctx), exec, why))
	}
	out.send("event: complete\ndata:\n\n")
}

// writeRefused answers a request whose subscription was refused.
func (s Streams) writeRefused(w http.ResponseWriter, response *graphql.Response) {
	if code := firstCode(response.Errors); code == StreamForSubscriptions {
		encode(w, http.StatusNotAcceptable, response)
		return
	}
	kind, _ := response.Errors[0].Extensions["kind"].(fault.Kind)
	switch kind {
	case fault.Unavailable:
		w.Header().Set("Retry-After", "1")
		encode(w, http.StatusServiceUnavailable, response)
	case fault.TooMany:
		w.Header().Set("Retry-After", "1")
		encode(w, http.StatusTooManyRequests, response)
	default:
		s.write(w, graphqlResponse, response)
	}
}

// tokenOf is the access token of a request's Authorization header.
func tokenOf(r *http.Request) string { return bearer(r.Header.Get("Authorization")) }

// events writes an event stream. What is not read within longestSend ends it.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	slow    func()

	mu     sync.Mutex
	closed bool
	late   bool // closed, as the client did not read
}

// next sends an answer. Its JSON has no line breaks.
func (e *events) next(response *graphql.Response) {
	before, after := around(response)
	e.send("event: next\ndata: ", string(before), string(response.Data), string(after), "\n\n")
}

func (e *events) send(texts ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	_ = e.control.SetWriteDeadline(time.Now().Add(longestSend))
	for _, text := range texts {
		if _, err := e.w.Write([]byte(text)); err != nil {
			e.fail(err)
			return
		}
	}
	if err := e.control.Flush(); err != nil {
		e.fail(err)
		return
	}
	_ = e.control.SetWriteDeadline(time.Time{}) // HTTP/2 would end an idle stream by it
}

// fail ends the stream, as a write has failed.
func (e *events) fail(err error) {
	e.closed, e.late = true, errors.Is(err, os.ErrDeadlineExceeded)
	e.slow()
}

// unread reports whether the stream has ended as the client did not read it.
func (e *events) unread() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.late
}

// close lets nothing more be sent: the response must not be used when its request has been served.
func (e *events) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.closed = true
}
