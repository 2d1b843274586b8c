package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"

	"bankgraph/core/fair"
	"bankgraph/graph/playground"
	"bankgraph/graph/transport"
)

const subscription = `subscription { paymentChanged { cursor action payment { uid } } }`

// opened is the beginning of an answer, and what follows until the test ends.
type opened struct {
	status int
	header http.Header
	text   io.Reader
}

// subscribe opens a stream of events of a program that serves.
func (s *testServer) subscribe(t *testing.T, token string) opened {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/graphql",
		strings.NewReader(fmt.Sprintf(`{"query":%q}`, subscription)))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"Accept": "text/event-stream", "Content-Type": "application/json", "Authorization": "Bearer " + token,
	} {
		r.Header.Set(name, value)
	}
	response, err := (&http.Client{Transport: &http.Transport{}}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return opened{response.StatusCode, response.Header, response.Body}
}

// lineWith reads a stream up to a line with the text.
func lineWith(t *testing.T, lines *bufio.Scanner, text string) string {
	t.Helper()
	for lines.Scan() {
		if strings.Contains(lines.Text(), text) {
			return lines.Text()
		}
	}
	t.Fatalf("the stream ends before %s: %v", text, lines.Err())
	return ""
}

// A stream outlives the deadline and the timeouts of requests, and its caller has six.
func TestStreamsStayOpenAndEndWithTheirKeyOrTheServer(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	s := p.serve()
	staff := s.token(sandbox, "demo-staff", "demo-staff-secret")
	first := s.subscribe(t, staff)
	if first.status != http.StatusOK {
		t.Fatalf("status %d", first.status)
	}
	for range mostStreamsOfCaller - 1 {
		if more := s.subscribe(t, staff); more.status != http.StatusOK {
			t.Fatalf("status %d", more.status)
		}
	}
	if over := s.subscribe(t, staff); over.status != http.StatusTooManyRequests ||
		over.header.Get("Retry-After") == "" {
		t.Errorf("one stream too many: %d", over.status)
	}
	if stranger := s.subscribe(t, "nobody"); stranger.status != http.StatusUnauthorized {
		t.Errorf("a stranger: %d", stranger.status)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, s.url+"/graphql", //nolint:bodyclose // the package does
		&websocket.DialOptions{
			Subprotocols: []string{"graphql-transport-ws"},
		})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	say := func(text string) {
		if err := conn.Write(ctx, websocket.MessageText, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	hear := func() (string, error) { _, text, err := conn.Read(ctx); return string(text), err }
	say(`{"type":"connection_init","payload":{"authorization":"Bearer ` + staff + `"}}`)
	if text, err := hear(); err != nil || text != `{"type":"connection_ack"}` {
		t.Fatalf("%s, %v", text, err)
	}
	say(fmt.Sprintf(`{"type":"subscribe","id":"1","payload":{"query":%q}}`, subscription))
	time.Sleep(readTimeout + 2*time.Second) // longer than a request may take to arrive, or to be answered

	if _, metrics := s.get(s.metrics, ""); !strings.Contains(metrics, "bankgraph_streams 7") ||
		!strings.Contains(metrics, "bankgraph_requests_running 0") {
		t.Error("seven streams are not counted, or have places in the room")
	}
	lines := bufio.NewScanner(first.text)
	for _, example := range playground.Examples() {
		if strings.HasPrefix(example.Query, "mutation Transfer(") {
			s.runs(t, example, staff)
		}
	}
	if text, err := hear(); err != nil || !strings.Contains(text, `"type":"next"`) {
		t.Errorf("%s, %v", text, err)
	}
	lineWith(t, lines, "event: next")
	lineWith(t, lines, `"paymentChanged":{"cursor":"1.`)

	partner := s.token(sandbox, "demo-partner", "demo-partner-secret")
	theirs := bufio.NewScanner(s.subscribe(t, partner).text)
	lineWith(t, theirs, ":")
	began := time.Now()
	p.ok("client", "disable", "demo-partner") // by another process
	lineWith(t, theirs, "UNAUTHENTICATED")
	lineWith(t, theirs, "event: complete")
	t.Logf("a key that has ended was cut after %s", time.Since(began)) // promised within ten seconds

	began = time.Now()
	s.signal(syscall.SIGTERM)
	lineWith(t, lines, "STREAM_ENDED")
	lineWith(t, lines, "event: complete")
	for err == nil {
		_, err = hear()
	}
	if websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("the WebSocket is closed by %v", err)
	}
	if err := s.end(); err != nil || time.Since(began) > finishTimeout {
		t.Errorf("stopped after %s: %v", time.Since(began), err)
	}
	if log := s.log.String(); strings.Contains(log, staff) || strings.Contains(log, partner) {
		t.Error("the log has a token")
	}
}

// Callers that fill their bank's half of all subscriptions leave none to others: one of who has most ends.
func TestASubscriptionOfWhoHasMostGivesWay(t *testing.T) {
	t.Parallel()
	m := newMeters(nil)
	s := newStreams(nil, 24, nil, newRoomOf(1), pace{}, m)
	ended := map[string]int{}
	var closed []func()
	open := func(caller string) error {
		end, err := s.count(party{"A", caller}, transport.Operation, func(why error) {
			if !errors.Is(why, errStreamGaveWay) {
				t.Errorf("%v", why)
			}
			ended[caller]++
		})
		if err == nil {
			closed = append(closed, end)
		}
		return err
	}
	for range 6 {
		if err := errors.Join(open("one"), open("two")); err != nil {
			t.Fatal(err)
		}
	}
	if err := open("one"); !errors.Is(err, errStreams) {
		t.Errorf("who has its share: %v", err)
	}
	for range 4 {
		if err := open("three"); err != nil {
			t.Errorf("who has fewer than others: %v", err)
		}
	}
	if err := open("three"); !errors.Is(err, errBankStreams) || ended["one"] != 2 || ended["two"] != 2 {
		t.Errorf("who has as many: %v, %v ended", err, ended)
	}
	for _, end := range closed {
		end()
	}
	if all, _ := s.subs.Taken(fair.Party{}); all != 0 {
		t.Errorf("%d are still counted", all)
	}
}
