package graph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fault"
	"bankgraph/core/payments"
	"bankgraph/db"
	"bankgraph/graph"
	"bankgraph/graph/transport"
)

// door lets callers in by the names of their tokens.
type door struct {
	mu      sync.Mutex
	callers map[string]*access.Caller
	holds   time.Duration
	serving context.Context
	stop    context.CancelFunc
	open    int
	sent    int
	ended   []string
	ends    map[transport.Kind][]func(error)
}

func (d *door) Verify(ctx context.Context, token string) (context.Context, time.Duration, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	caller := d.callers[token]
	if caller == nil {
		return ctx, 0, access.ErrUnauthenticated
	}
	return db.WithShare(access.With(ctx, *caller), int64(caller.Tenant), caller.Party()), d.holds, nil
}

func (d *door) Work(context.Context) (func(), error) { return func() {}, nil }

func (d *door) Open(_ context.Context, what transport.Kind, end func(error)) (func(), error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open++
	if d.ends == nil {
		d.ends = map[transport.Kind][]func(error){}
	}
	d.ends[what] = append(d.ends[what], end)
	return sync.OnceFunc(func() { d.mu.Lock(); defer d.mu.Unlock(); d.open-- }), nil
}

func (d *door) Allows(_ *http.Request, origin string) bool { return origin == "https://portal.example" }
func (d *door) Serving() context.Context                   { return d.serving }
func (d *door) Sent()                                      { d.mu.Lock(); defer d.mu.Unlock(); d.sent++ }

func (d *door) Ended(why string) { d.mu.Lock(); defer d.mu.Unlock(); d.ended = append(d.ended, why) }

// is makes a token that of a caller; nil ends it.
func (d *door) is(token string, caller *access.Caller) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.callers[token] = caller
}

func (d *door) streams() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// lively is a bank with a server for streams.
type lively struct {
	*bank
	*door
	url string
}

func newLively(t testing.TB) *lively {
	t.Helper()
	l := &lively{bank: newBank(t), door: &door{
		callers: map[string]*access.Caller{},
		holds:   50 * time.Millisecond,
	}}
	l.serving, l.stop = context.WithCancel(context.Background())
	l.is("staff", l.staff())
	l.is("partner", l.bank.partner())
	withDoor := options
	withDoor.Door = l.door
	server := httptest.NewServer(graph.New(l.core, withDoor))
	l.url = server.URL
	t.Cleanup(func() { l.stop(); server.Close() })
	return l
}

// paymentOf is the number of a customer's first payment.
func (l *lively) paymentOf(t testing.TB, c customers.UID) payments.UID {
	t.Helper()
	return payments.UID(int(c-theBank)*100 + 500_000_000)
}

// happens records a change of a customer's first payment, and seals it.
func (l *lively) happens(t testing.TB, of ...customers.UID) {
	t.Helper()
	l.write(t, func(ctx context.Context, tx bun.Tx) error {
		for _, c := range of {
			customer, uid := int64(c), l.paymentOf(t, c).String()
			entry := audit.Entry{
				Tenant: l.tenant, Client: "test", Entity: 1, Action: "approveChange", Decision: audit.Done,
				Object: "payment", UID: uid, Customer: &customer,
			}
			if err := events.RecordTx(ctx, tx, entry, events.Event{
				Tenant: l.tenant, Kind: "sendPayment", Object: "payment", UID: uid, Customer: &customer, Version: 7,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	l.seals(t)
}

func (l *lively) seals(t testing.TB) {
	t.Helper()
	for {
		n, err := l.core.Audit.Seal(access.Operator(context.Background(), l.tenant, "bank", nil))
		if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
	}
}

// heard is a stream of events.
type heard struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Reader
}

// listens opens a stream of events.
func (l *lively) listens(t testing.TB, token, document string) *heard {
	t.Helper()
	body, _ := json.Marshal(map[string]string{"query": document})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, l.url, strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return &heard{t, response, bufio.NewReader(response.Body)}
}

// next returns the next event and its data; "" at the end of the stream.
func (h *heard) next() (event, data string) {
	h.t.Helper()
	for {
		line, err := h.lines.ReadString('\n')
		if err != nil {
			return "", ""
		}
		switch name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": "); name {
		case "event":
			event = value
		case "data", "data:":
			data = value
		case "":
			if event != "" {
				return event, data
			}
		}
	}
}

// hears expects an answer with all of these texts, and returns its cursor.
func (h *heard) hears(want ...string) (cursor string) {
	h.t.Helper()
	event, data := h.next()
	for _, text := range want {
		if event != "next" || !strings.Contains(data, text) {
			h.t.Fatalf("%s %s, want %s", event, data, want)
		}
	}
	_, rest, _ := strings.Cut(data, `"cursor":"`)
	cursor, _, _ = strings.Cut(rest, `"`)
	return cursor
}

func (h *heard) completes() {
	h.t.Helper()
	if event, data := h.next(); event != "complete" || data != "" {
		h.t.Fatalf("%s %s, want complete", event, data)
	}
	if event, data := h.next(); event != "" {
		h.t.Fatalf("%s %s after complete", event, data)
	}
}

const changed = `subscription { paymentChanged { cursor at action version ` +
	`payment { uid customer { uid } amount } } }`

func uidOf(c customers.UID) string { return fmt.Sprintf(`"customer":{"uid":"%d"}`, c) }

func TestChangesComeToThoseWhoSeeThem(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	foreign := newLively(t)
	all, partners := l.listens(t, "staff", changed), l.listens(t, "partner", changed)
	abroad := foreign.listens(t, "staff", changed)
	if got := all.response.Header.Get("Content-Type"); all.response.StatusCode != http.StatusOK ||
		!strings.HasPrefix(got, "text/event-stream") {
		t.Fatalf("%d %s", all.response.StatusCode, got)
	}
	l.happens(t, otherStar, star)
	all.hears(uidOf(otherStar), `"action":"sendPayment"`, `"version":7`)
	cursor := all.hears(uidOf(star))
	partners.hears(uidOf(star)) // not the other partner's
	foreign.happens(t, lone)
	abroad.hears(uidOf(lone))
	_ = all.response.Body.Close()
	l.happens(t, star, lone, star)
	again := l.listens(t, "staff", strings.Replace(changed, "paymentChanged",
		`paymentChanged(since: "`+cursor+`")`, 1))
	for _, c := range []customers.UID{star, lone, star} {
		again.hears(uidOf(c))
	}
	one := l.listens(t, "staff", strings.Replace(changed, "paymentChanged",
		fmt.Sprintf(`paymentChanged(customer: "%d")`, lone), 1))
	bare := l.listens(t, "staff", `subscription { changed: paymentChanged { action kind: __typename } }`)
	l.happens(t, star, lone)
	one.hears(uidOf(lone))
	bare.hears(`{"data":{"changed":{"action":"sendPayment","kind":"PaymentChange"}}}`)
}

func TestWhoseRightsEndHearsNoMore(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	h := l.listens(t, "staff", changed)
	l.happens(t, star)
	h.hears(uidOf(star))
	less := without(l.staff(), access.ViewPayments)
	l.is("staff", less)
	l.happens(t, star)
	h.hears(`"kind":"DENIED"`, "View_Payments")
	h.completes()
	refused := l.listens(t, "staff", changed)
	body, _ := io.ReadAll(refused.response.Body)
	if refused.response.StatusCode != http.StatusBadRequest ||
		!strings.Contains(string(body), `"kind":"DENIED"`) ||
		!strings.HasPrefix(refused.response.Header.Get("Content-Type"), "application/json") {
		t.Errorf("%d %s", refused.response.StatusCode, body)
	}
	l.is("staff", l.staff())
	ends := l.listens(t, "staff", changed)
	l.is("staff", nil) // while nothing happens
	ends.hears(`"kind":"UNAUTHENTICATED"`)
	ends.completes()
	if refused := l.listens(t, "staff", changed); refused.response.StatusCode != http.StatusUnauthorized {
		t.Errorf("a token that has ended: %d", refused.response.StatusCode)
	}
}

// subscribing are the permissions that subscriptions need.
var subscribing = map[string]access.Permission{
	"paymentChanged": access.ViewPayments, "fileChanged": access.ViewFiles,
	"balanceAlertFired": access.ViewAccounts,
}

func TestSubscriptionsNeedTheirPermission(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	for _, field := range fieldsOf(schema.Subscription) {
		needed := subscribing[field.Name]
		if needed == "" {
			t.Errorf("Subscription.%s declares no permission", field.Name)
		}
		l.is("less", without(l.staff(), needed))
		only := *l.staff()
		only.Permissions = []access.Permission{needed}
		l.is("only", &only)
		for token, status := range map[string]int{"less": 400, "only": 200} {
			h := l.listens(t, token, "subscription { "+field.Name+" { cursor } }")
			if h.response.StatusCode != status {
				t.Errorf("%s, %s the permission: %d", field.Name, token, h.response.StatusCode)
			}
		}
	}
}

func TestOnlySubscriptionsAreStreams(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	for document, want := range map[string]string{
		`{ viewer { tenant } }`: transport.StreamForSubscriptions,
		`mutation { moveClock(input: {to: "2027-01-01T00:00:00Z"}) { moved } }`: "",
		`subscription { paymentChanged { cursor } fileChanged { cursor } }`:     "GRAPHQL_VALIDATION_FAILED",
		`subscription { __typename }`:                                           "GRAPHQL_VALIDATION_FAILED",
		`subscription { paymentChanged @skip(if: true) { cursor } }`:            "INVALID_REQUEST",
		`subscription { paymentChanged(since: "x") { cursor } }`:                `"field":"since"`,
		`subscription { paymentChanged(customer: "x") { cursor } }`:             `"field":"customer"`,
		`subscription { paymentChanged { payment {
			customer { customers: payments(first: 200) {
			nodes { customer { payments(first: 200) { nodes { uid } } } } } } } } }`: "PRICE_LIMIT",
	} {
		h := l.listens(t, "staff", document)
		body, _ := io.ReadAll(h.response.Body)
		if h.response.StatusCode < 400 || h.response.StatusCode > 499 ||
			!strings.Contains(string(body), want) {
			t.Errorf("%s: %d %s", document, h.response.StatusCode, body)
		}
	}
	if n := l.streams(); n != 0 {
		t.Errorf("%d streams are open", n)
	}
}

// A subscription that gives way to those of others is told why, and its WebSocket goes on.
func TestASubscriptionThatGivesWayIsToldWhy(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	h := l.listens(t, "staff", changed)
	s := l.dials(t, "staff")
	l.subscribes(t, s, changed)
	l.happens(t, star)
	h.hears(uidOf(star))
	s.hears(`"type":"next"`, `"id":"1"`, uidOf(star))
	why := fault.New(fault.Unavailable, "stream.test", "it gave way: subscribe again")
	l.mu.Lock()
	ends := slices.Concat(l.ends[transport.Events], l.ends[transport.Operation])
	l.mu.Unlock()
	for _, end := range ends {
		end(why)
	}
	h.hears(`"kind":"UNAVAILABLE"`, "STREAM_ENDED", "it gave way")
	h.completes()
	s.hears(`"type":"error"`, `"id":"1"`, "STREAM_ENDED", "it gave way")
	s.says(`{"type":"ping"}`)
	s.hears(`{"type":"pong"}`)
	if !eventually(func() bool { return l.streams() == 1 }) { // the WebSocket itself
		t.Errorf("%d streams are open", l.streams())
	}
}

func TestStreamsEndWhenTheServerStops(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	h := l.listens(t, "staff", changed)
	s := l.dials(t, "staff")
	l.subscribes(t, s, changed)
	l.happens(t, star)
	h.hears(uidOf(star))
	s.hears(`"type":"next"`, `"id":"1"`, uidOf(star))
	l.stop()
	h.hears(`"kind":"UNAVAILABLE"`, "STREAM_ENDED")
	h.completes()
	s.closed(websocket.StatusGoingAway)
	if !eventually(func() bool { return l.streams() == 0 }) {
		t.Error("streams are open after the stop")
	}
}

// A client that goes away leaves nothing running.
func TestClientsThatGoAwayLeaveNothing(t *testing.T) { //nolint:paralleltest // it counts goroutines
	l := newLively(t)
	begun := runtime.NumGoroutine()
	var all []*heard
	for range 20 {
		all = append(all, l.listens(t, "staff", changed))
	}
	sockets := []*dialled{l.dials(t, "staff"), l.dials(t, "staff")}
	for _, s := range sockets {
		l.subscribes(t, s, changed)
	}
	l.happens(t, star)
	for _, h := range all {
		h.hears(uidOf(star))
	}
	for _, h := range all {
		_ = h.response.Body.Close()
	}
	for _, s := range sockets {
		s.hears(uidOf(star))
		_ = s.conn.CloseNow()
	}
	http.DefaultClient.CloseIdleConnections()
	if !eventually(func() bool { return l.streams() == 0 && runtime.NumGoroutine() <= begun+5 }) {
		stacks := make([]byte, 1<<20)
		t.Errorf("%d streams, %d goroutines, %d before\n%s", l.streams(), runtime.NumGoroutine(), begun,
			stacks[:runtime.Stack(stacks, true)])
	}
}

func eventually(is func() bool) bool {
	for began := time.Now(); time.Since(began) < 10*time.Second; time.Sleep(20 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

// dialled is a WebSocket.
type dialled struct {
	t    testing.TB
	conn *websocket.Conn
}

// dial opens a WebSocket, before its first message.
func (l *lively) dial(t testing.TB) *dialled {
	t.Helper()
	conn, _, err := websocket.Dial(t.Context(), l.url, &websocket.DialOptions{ //nolint:bodyclose // the package does
		Subprotocols: []string{"graphql-transport-ws"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	return &dialled{t, conn}
}

func (l *lively) dials(t testing.TB, token string) *dialled {
	t.Helper()
	s := l.dial(t)
	s.says(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`)
	s.hears(`{"type":"connection_ack"}`)
	return s
}

// subscribes begins a subscription with the id 1, and waits until it listens.
func (l *lively) subscribes(t testing.TB, s *dialled, query string) {
	t.Helper()
	before := l.core.Live.Listeners(l.tenant)
	s.says(`{"type":"subscribe","id":"1","payload":{"query":"` + query + `"}}`)
	if !eventually(func() bool { return l.core.Live.Listeners(l.tenant) > before }) {
		t.Fatal("the subscription does not listen")
	}
}

func (s *dialled) says(text string) {
	s.t.Helper()
	if err := s.conn.Write(s.t.Context(), websocket.MessageText, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
}

func (s *dialled) hears(want ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
	defer cancel()
	_, text, err := s.conn.Read(ctx)
	for _, one := range want {
		if err != nil || !strings.Contains(string(text), one) {
			s.t.Fatalf("%s %v, want %s", text, err, want)
		}
	}
	return string(text)
}

func (s *dialled) closed(want websocket.StatusCode) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), time.Minute)
	defer cancel()
	for {
		_, text, err := s.conn.Read(ctx)
		if err == nil {
			continue // what was said before
		}
		if got := websocket.CloseStatus(err); got != want {
			s.t.Errorf("%s %v, want close %d", text, err, want)
		}
		return
	}
}

func TestTheProtocolOfWebSocketsIsKept(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	sub := func(id string) string {
		return `{"type":"subscribe","id":"` + id + `","payload":{"query":"` + changed + `"}}`
	}
	l.is("steady", l.staff())
	init := `{"type":"connection_init","payload":{"authorization":"Bearer steady"}}`
	for name, one := range map[string]struct {
		says []string
		code websocket.StatusCode
	}{
		"no JSON":                   {[]string{init, `{`}, 4400},
		"no object":                 {[]string{init, `[]`}, 4400},
		"unknown type":              {[]string{init, `{"type":"start"}`}, 4400},
		"another first message":     {[]string{`{"type":"ping"}`}, 4400},
		"subscribe without id":      {[]string{init, `{"type":"subscribe","payload":{"query":"{ a }"}}`}, 4400},
		"subscribe without payload": {[]string{init, `{"type":"subscribe","id":"1"}`}, 4400},
		"subscribe without query":   {[]string{init, `{"type":"subscribe","id":"1","payload":{}}`}, 4400},
		"subscribe before init":     {[]string{sub("1")}, 4401},
		"no token":                  {[]string{`{"type":"connection_init"}`}, 4401},
		"a bad token":               {[]string{`{"type":"connection_init","payload":{"token":"nobody"}}`}, 4401},
		"init twice":                {[]string{init, init}, 4429},
		"an id twice":               {[]string{init, sub("1"), sub("1")}, 4409},
		"a large first message": {[]string{`{"type":"connection_init","payload":{"x":"` +
			strings.Repeat("x", 9<<10) + `"}}`}, 1009},
		"too large": {[]string{init, `{"type":"ping","payload":"` +
			strings.Repeat("x", 33<<10) + `"}`}, 1009},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := l.dial(t)
			for _, text := range one.says {
				s.says(text)
			}
			s.closed(one.code)
		})
	}
	s := l.dials(t, "staff")
	s.says(`{"type":"ping"}`)
	s.hears(`{"type":"pong"}`)
	s.says(`{"type":"subscribe","id":"q","payload":{"query":"{ viewer { tenant } }"}}`)
	s.hears(`"type":"error"`, `"id":"q"`, transport.StreamForSubscriptions)
	s.says(`{"type":"subscribe","id":"bad","payload":{"query":"subscription { nothing }"}}`)
	s.hears(`"type":"error"`, `"id":"bad"`, "GRAPHQL_VALIDATION_FAILED")
	for n := range 20 {
		s.says(sub(fmt.Sprint(n)))
	}
	s.says(sub("20"))
	s.hears(`"type":"error"`, `"id":"20"`, transport.TooManyOperations)
	s.says(`{"type":"complete","id":"3"}`)
	if !eventually(func() bool { return l.streams() == 20 }) { // 19 of them, and the WebSocket itself
		t.Errorf("%d streams", l.streams())
	}
	if !eventually(func() bool { return l.core.Live.Listeners(l.tenant) == 19 }) {
		t.Errorf("%d listen", l.core.Live.Listeners(l.tenant))
	}
	l.happens(t, star)
	heard := map[string]bool{}
	for len(heard) < 19 {
		_, id, _ := strings.Cut(s.hears(`"type":"next"`), `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		heard[id] = true
	}
	if heard["3"] {
		t.Errorf("an operation goes on that the client has ended: %v", heard)
	}
	l.is("staff", nil)
	s.closed(4401)
}

func TestWebSocketsAreOpenedOnlyAsTheyShould(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	for name, one := range map[string]struct {
		subprotocol, origin string
		status              int
	}{
		"legacy":         {"graphql-ws", "", 400},
		"none":           {"", "", 400},
		"foreign origin": {"graphql-transport-ws", "https://evil.example", 403},
		"own origin":     {"graphql-transport-ws", "https://portal.example", 101},
	} {
		o := &websocket.DialOptions{HTTPHeader: http.Header{}}
		if one.subprotocol != "" {
			o.Subprotocols = []string{one.subprotocol}
		}
		if one.origin != "" {
			o.HTTPHeader.Set("Origin", one.origin)
		}
		conn, response, err := websocket.Dial(t.Context(), l.url, o) //nolint:bodyclose // the package does
		if response == nil || response.StatusCode != one.status {
			t.Errorf("%s: %v, %v", name, response, err)
		}
		if conn != nil {
			_ = conn.CloseNow()
		}
	}
}

func TestAWebSocketThatSaysNothingIsClosed(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	s := l.dial(t)
	began := time.Now()
	s.closed(4408)
	if took := time.Since(began); took < 4*time.Second || took > time.Minute {
		t.Errorf("after %s", took)
	}
}

// Who does not read is cut, and holds nobody up.
func TestAReaderThatIsTooSlowIsEndedAloneAndOthersAreServed(t *testing.T) {
	t.Parallel()
	l := newLively(t)
	large := `subscription { paymentChanged { cursor action payment { ` +
		strings.Join(slices.Collect(func(yield func(string) bool) {
			for n := range 50 {
				if !yield(fmt.Sprintf("a%d: customer { uid legalName shortName }", n)) {
					return
				}
			}
		}), " ") + ` } } }`
	l.listens(t, "staff", large) // and reads nothing
	s := l.dials(t, "staff")
	l.subscribes(t, s, large)
	quick := l.listens(t, "staff", `subscription { paymentChanged { action } }`)
	many := slices.Repeat([]customers.UID{star}, 100)
	ended := func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return slices.Contains(l.ended, "slow")
	}
	for began := time.Now(); !ended(); {
		if time.Since(began) > 5*time.Minute {
			t.Fatal("the slow reader is still served")
		}
		l.happens(t, many...)
		for range many {
			quick.hears(`"action":"sendPayment"`)
		}
	}
}

// How much an idle subscriber takes, with its connection on both sides.
func TestIdleSubscribersAreCheap(t *testing.T) { //nolint:paralleltest // it measures memory
	l := newLively(t)
	const many = 200
	size := func() int64 {
		runtime.GC()
		runtime.GC()
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		return int64(now.HeapInuse + now.StackInuse)
	}
	l.holds = 10 * time.Second
	l.listens(t, "staff", changed)
	before := size()
	var all []*heard
	for range many {
		all = append(all, l.listens(t, "staff", changed))
	}
	each := (size() - before) / many
	t.Logf("%d bytes for each of %d idle subscribers, with the connection of both sides", each, many)
	if each > 200<<10 {
		t.Errorf("an idle subscriber takes %d bytes", each)
	}
	begun := time.Now()
	l.happens(t, star)
	for _, h := range all {
		h.hears(uidOf(star))
	}
	t.Logf("all %d have heard of a change after %s", many, time.Since(begun))
}
