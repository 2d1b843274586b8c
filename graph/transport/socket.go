package transport

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"bankgraph/core/fault"
)

// subprotocol is the one that is spoken, that of the package graphql-ws. The legacy one, whose name is
// graphql-ws, is refused.
const subprotocol = "graphql-transport-ws"

// The codes with which WebSockets are closed, beyond those of RFC 6455.
const (
	badMessage    websocket.StatusCode = 4400
	unauthorized  websocket.StatusCode = 4401
	forbidden     websocket.StatusCode = 4403
	initTooLate   websocket.StatusCode = 4408
	idTaken       websocket.StatusCode = 4409
	tooManyInits  websocket.StatusCode = 4429
	mostMessage                        = DefaultBodyLimit
	mostOperation                      = 20
	// mostOfStranger is how long the first message is, which is read before it is known who sends it.
	mostOfStranger = 8 << 10
)

// serveSocket serves a WebSocket until it is closed.
func (s Streams) serveSocket(w http.ResponseWriter, r *http.Request, exec graphql.GraphExecutor) {
	origin := r.Header.Get("Origin")
	var why *refusal
	switch {
	case origin != "" && !s.Door.Allows(r, origin):
		why = &refusal{
			http.StatusForbidden, OriginDenied,
			"pages of this origin may not open a WebSocket here", nil,
		}
	case !offers(r, subprotocol):
		why = &refusal{
			http.StatusBadRequest, SubprotocolNotSupported, "open the WebSocket with the subprotocol " + subprotocol,
			nil,
		}
	case s.Door.Serving().Err() != nil:
		why = &refusal{
			http.StatusServiceUnavailable, TimedOut, errStopping.PublicMessage(),
			http.Header{"Retry-After": {"1"}},
		}
	}
	if why != nil {
		header := w.Header()
		header.Set("Content-Type", plainJSON.contentType())
		header.Set("X-Content-Type-Options", "nosniff")
		header.Set("Cache-Control", "no-store")
		refuse(w, r.Context(), exec, why)
		return
	}
	// Origins are checked above, by the list that CORS has.
	k := &socket{Streams: s, exec: exec, request: r, operations: map[string]context.CancelFunc{}}
	k.pace.begin(heardFirst, time.Now())
	conn, err := websocket.Accept(hearing{w, &k.pace}, r, &websocket.AcceptOptions{
		Subprotocols: []string{subprotocol}, InsecureSkipVerify: true,
		OnPingReceived: func(context.Context, []byte) bool {
			time.Sleep(k.pace.take(1, 0, time.Now()))
			return true
		},
	})
	if err != nil {
		return // Accept has answered
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(mostOfStranger)
	if k.conn = conn; k.InitTimeout == 0 {
		k.InitTimeout = 5 * time.Second
	}
	if k.Ping == 0 {
		k.Ping = 20 * time.Second
	}
	code, reason := k.serve()
	k.finish(code, reason)
}

// offers reports whether a request names a subprotocol.
func offers(r *http.Request, want string) bool {
	for one := range strings.SplitSeq(strings.Join(r.Header.Values("Sec-WebSocket-Protocol"), ","), ",") {
		if strings.TrimSpace(one) == want {
			return true
		}
	}
	return false
}

// socket is a WebSocket.
type socket struct {
	Streams
	conn    *websocket.Conn
	exec    graphql.GraphExecutor
	request *http.Request
	caller  *session    // nil before connection_init
	ends    func() bool // keeps the WebSocket open when the session ends
	once    sync.Once   // it is closed once

	pace       pace // of what the client says
	mu         sync.Mutex
	operations map[string]context.CancelFunc
	running    sync.WaitGroup
}

const (
	// heard is how many messages, and KiB, a WebSocket is heard in a second: to read them is work that has no
	// place among all that is worked on. Who says more waits. A ping is a message, as it is answered; pongs and
	// parts of messages, which may be empty, are heard as bytes.
	heard     = 50
	heardPast = 4 * time.Second // what was left of so long ago may be used at once
	// heardFirst is how much of it who is not known yet may use: enough for the first message.
	heardFirst = 300 * time.Millisecond
	// heardAtOnce is how many bytes are read before it is looked whether they are due.
	heardAtOnce = 4 << 10
)

// serve reads what the client says, until one side ends it. It returns how the WebSocket is to be closed;
// code 0 if it is closed already.
func (k *socket) serve() (code websocket.StatusCode, reason string) {
	// To end the context of a read would cut the connection, without a code.
	late := time.AfterFunc(k.InitTimeout, func() { k.close(initTooLate, "Connection initialisation timeout") })
	stops := context.AfterFunc(k.Door.Serving(),
		func() { k.close(websocket.StatusGoingAway, errStopping.PublicMessage()) })
	first, code, reason := k.read()
	if !late.Stop() || !stops() || first == nil {
		return code, reason
	}
	switch first["type"] {
	case "connection_init":
	case "subscribe":
		return unauthorized, "Unauthorized"
	default:
		return badMessage, "the first message must be connection_init"
	}
	if code, reason := k.begin(first["payload"]); code != 0 {
		return code, reason
	}
	closed, err := k.Door.Open(k.caller.ctx, Socket, k.caller.end)
	if err != nil {
		return tooManyInits, messageOf(err)
	}
	defer closed()
	k.conn.SetReadLimit(mostMessage)
	k.pace.begin(heardPast, time.Now())
	if !k.send("connection_ack", "") {
		return 0, ""
	}
	pings := &repeated{every: k.Ping}
	pings.start(k.ping)
	defer pings.stop()
	for code == 0 {
		said, wrong, why := k.read()
		if said == nil {
			return wrong, why
		}
		code, reason = k.hear(said)
	}
	return code, reason
}

// begin lets the caller in that connection_init names: by the token in its payload, or in the header of the
// request.
func (k *socket) begin(payload any) (websocket.StatusCode, string) {
	token := tokenOf(k.request)
	given, _ := payload.(map[string]any)
	for name, value := range given {
		text, _ := value.(string)
		switch strings.ToLower(name) {
		case "authorization":
			token = bearer(text)
		case "token":
			token = text
		}
	}
	caller, err := begin(k.request.Context(), k.Door, token)
	if err != nil {
		return k.refusing(err)
	}
	k.caller = caller
	k.ends = context.AfterFunc(caller.ctx, func() {
		if why := context.Cause(caller.ctx); !errors.Is(why, errGone) {
			k.close(k.closing(why))
		}
		_ = k.conn.CloseNow()
	})
	return 0, ""
}

// refusing is how a WebSocket is closed whose caller is refused.
func (k *socket) refusing(err error) (websocket.StatusCode, string) {
	why, _ := fault.Of(err)
	switch {
	case why != nil && why.Kind == fault.Denied:
		return forbidden, "Forbidden"
	case why != nil && why.Kind == fault.Unauthenticated:
		return unauthorized, "Unauthorized"
	}
	return websocket.StatusTryAgainLater, "the bank cannot answer now; try again later"
}

// closing is how a WebSocket is closed whose session has ended.
func (k *socket) closing(why error) (websocket.StatusCode, string) {
	switch {
	case errors.Is(why, errStopping):
		return websocket.StatusGoingAway, errStopping.PublicMessage()
	case errors.Is(why, errSlow):
		return websocket.StatusPolicyViolation, errSlow.PublicMessage()
	}
	return k.refusing(why)
}

// messageOf is what an error says to callers.
func messageOf(err error) string {
	if why, ok := fault.Of(err); ok {
		return why.PublicMessage()
	}
	return "the bank cannot answer now; try again later"
}

// read returns the next message; nil if there is none any more, with how to close the WebSocket.
func (k *socket) read() (map[string]any, websocket.StatusCode, string) {
	kind, text, err := k.conn.Read(context.Background())
	if err != nil {
		return nil, 0, "" // closed, or too large, which the package has told
	}
	if kind != websocket.MessageText {
		return nil, badMessage, "messages are JSON texts"
	}
	time.Sleep(k.pace.take(1, 0, time.Now()))
	value, wrong := parseJSON(string(text), "")
	said, ok := value.(map[string]any)
	if wrong != nil || !ok {
		return nil, badMessage, "a message must be one JSON object"
	}
	return said, 0, ""
}

// hear does what a message asks for.
func (k *socket) hear(said map[string]any) (websocket.StatusCode, string) {
	id, named := said["id"].(string)
	named = named && id != "" && len(id) <= 128
	switch said["type"] {
	case "connection_init":
		return tooManyInits, "Too many initialisation requests"
	case "ping":
		k.send("pong", "")
	case "pong":
	case "subscribe":
		payload, is := said["payload"].(map[string]any)
		if !named || !is {
			return badMessage, "subscribe needs an id of up to 128 characters, and a payload"
		}
		return k.subscribe(id, payload)
	case "complete":
		if !named {
			return badMessage, "complete needs an id"
		}
		k.mu.Lock()
		end := k.operations[id]
		k.mu.Unlock()
		if end != nil {
			end()
		}
	default:
		return badMessage, "the type of the message is not known"
	}
	return 0, ""
}

// subscribe begins an operation.
func (k *socket) subscribe(id string, payload map[string]any) (websocket.StatusCode, string) {
	params, wrong := k.params(payload)
	if wrong != nil {
		return badMessage, wrong.message
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.operations[id] != nil {
		return idTaken, "Subscriber already exists"
	}
	if len(k.operations) == mostOperation {
		k.running.Go(func() {
			k.refuse(id, &graphql.Response{Errors: gqlerror.List{{
				Message:    "one WebSocket has at most 20 operations at a time",
				Extensions: map[string]any{"code": TooManyOperations, "kind": fault.TooMany},
			}}})
		})
		return 0, ""
	}
	ctx, end := context.WithCancelCause(k.caller.ctx)
	cancel := func() { end(errGone) }
	k.operations[id] = cancel
	params.Headers = k.request.Header
	k.running.Go(func() {
		defer cancel()
		k.run(ctx, end, id, params)
	})
	return 0, ""
}

// run answers an operation until it ends.
func (k *socket) run(ctx context.Context, end context.CancelCauseFunc, id string, params *graphql.RawParams) {
	free := sync.OnceFunc(func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		delete(k.operations, id)
	})
	defer free()
	defer func() {
		if panicked := recover(); panicked != nil {
			free()
			k.refuse(id, failed(context.WithoutCancel(ctx), k.exec, fmt.Errorf("panic: %v", panicked)))
		}
	}()
	ctx = graphql.StartOperationTrace(ctx)
	closed, err := k.Door.Open(ctx, Operation, end)
	if err != nil {
		free()
		k.refuse(id, failed(ctx, k.exec, err))
		return
	}
	defer closed()
	params.ReadTime = graphql.TraceTiming{Start: graphql.Now(), End: graphql.Now()}
	next, at, refusal := k.caller.subscribe(ctx, k.exec, params)
	if refusal != nil {
		free()
		if ctx.Err() == nil { // else the client has ended it meanwhile, and knows
			k.refuse(id, refusal)
		}
		return
	}
	for {
		response := next(at)
		switch {
		case response == nil && k.caller.ctx.Err() != nil:
			k.ended()
			return // the WebSocket is closed, with a reason
		case response == nil && errors.Is(context.Cause(ctx), errGone):
			return // by the client
		case response == nil && ctx.Err() != nil: // it gave way to others
			why := context.Cause(ctx)
			k.Door.Ended(whyEnded(why))
			free()
			k.refuse(id, failed(context.WithoutCancel(at), k.exec, why))
			return
		case response == nil:
			free()
			k.send("complete", id)
			return
		case last(response):
			k.Door.Ended(whyIn(response))
			free()
			k.refuse(id, response)
			return
		}
		before, after := around(response)
		if !k.send("next", id, before, response.Data, after) {
			k.ended()
			return
		}
		k.Door.Sent()
	}
}

// ended counts an operation that ends with its WebSocket, unless the client has ended that.
func (k *socket) ended() {
	if why := context.Cause(k.caller.ctx); !errors.Is(why, errGone) {
		k.Door.Ended(whyEnded(why))
	}
}

// refuse ends an operation with its errors.
func (k *socket) refuse(id string, response *graphql.Response) {
	k.send("error", id, marshal(response.Errors))
}

// send writes a message, whose payload is JSON. A client that does not read ends the WebSocket. It reports
// whether there is still one.
func (k *socket) send(kind, id string, payload ...[]byte) bool {
	text := []byte(`{"type":"` + kind + `"`)
	if id != "" {
		text = append(append(text, `,"id":`...), marshal(id)...)
	}
	if len(payload) > 0 {
		text = append(text, `,"payload":`...)
	}
	text = append(slices.Concat(append([][]byte{text}, payload...)...), '}')
	ctx, cancel := context.WithTimeout(context.Background(), longestSend)
	defer cancel()
	err := k.conn.Write(ctx, websocket.MessageText, text)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		k.caller.end(errSlow)
	default:
		k.caller.end(errGone)
	}
	return err == nil
}

// ping asks whether the client is still there.
func (k *socket) ping() {
	ctx, cancel := context.WithTimeout(context.Background(), k.Ping)
	defer cancel()
	if k.conn.Ping(ctx) != nil {
		k.caller.end(errGone)
	}
}

// close closes the WebSocket with a code, if that was not done before. It waits until it is done.
func (k *socket) close(code websocket.StatusCode, reason string) {
	k.once.Do(func() { _ = k.conn.Close(code, reason[:min(len(reason), 120)]) })
}

// finish closes the WebSocket and ends its operations.
func (k *socket) finish(code websocket.StatusCode, reason string) {
	if k.caller != nil {
		if !k.ends() {
			code = 0 // the session has ended, and closes it
		}
		k.caller.close(errGone)
	}
	if code != 0 {
		k.close(code, reason)
	}
	_ = k.conn.CloseNow()
	k.running.Wait()
}
