package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/fair"
	"bankgraph/graph"
)

// answered sends a request of a known caller to a handler behind deliver.
func answered(
	t *testing.T, room *room, request *http.Request, handler http.HandlerFunc,
) *httptest.ResponseRecorder {
	t.Helper()
	got := httptest.NewRecorder()
	room.unsent.deliver(graph.Refuse, never, handler).ServeHTTP(got, request)
	return got
}

func get(t *testing.T, headers ...string) *http.Request {
	t.Helper()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/graphql", http.NoBody)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	return request
}

func writing(bytes int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for bytes > 0 {
			n := min(bytes, 10_000)
			_, _ = w.Write([]byte(strings.Repeat("x", n)))
			bytes -= n
		}
	}
}

func TestAnAnswerArrivesAsItWasWritten(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	for _, size := range []int{0, 1, pieceSize - 1, pieceSize, pieceSize + 1, 10*pieceSize + 7} {
		want := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		got := answered(t, room, get(t), func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			_, _ = w.Write(want[:size/3])
			_, _ = w.Write(want[size/3:])
		})
		if got.Code != http.StatusAccepted || !bytes.Equal(got.Body.Bytes(), want) ||
			got.Header().Get("Content-Length") != fmt.Sprint(size) {
			t.Errorf("%d bytes: %d, %d bytes, %v", size, got.Code, got.Body.Len(), got.Header())
		}
	}
	if held := room.unsent.held(); held != 0 {
		t.Errorf("%d bytes are still counted", held)
	}
}

func TestATooLargeAnswerIsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	if got := answered(t, room, get(t), writing(largestAnswer)); got.Code != http.StatusOK ||
		got.Body.Len() != largestAnswer {
		t.Errorf("the largest: %d", got.Code)
	}
	got := answered(t, room, get(t), writing(largestAnswer+1))
	if got.Code != http.StatusBadRequest || !strings.Contains(got.Body.String(), `"code":"ANSWER_TOO_LARGE"`) {
		t.Errorf("one more byte: %d %.200s", got.Code, got.Body)
	}
	if got := answered(t, room, get(t), func(w http.ResponseWriter, r *http.Request) {
		w.(*answer).Keep()
		writing(largestAnswer+1)(w, r)
	}); !strings.Contains(got.Body.String(), "was carried out") {
		t.Errorf("a change: %d %.200s", got.Code, got.Body)
	}
}

func TestUnreadAnswersAreBoundedByCallerByBankAndInAll(t *testing.T) {
	t.Parallel()
	u := newUnsent(64<<20, newMeters(nil))
	a, b, c := party{"A", "1"}, party{"A", "2"}, party{"A", "3"}
	steps := []struct {
		of   party
		n    int64
		must bool
		want error
	}{
		{a, 16, false, nil},
		{a, 1, false, errUnread},
		{b, 16, false, nil},
		{c, 1, false, errBankUnread},
		{party{"B", "1"}, 16, false, nil},
		{party{"B", "2"}, 1, false, nil},
		{party{"C", "1"}, 15, false, nil},
		{party{"D", "1"}, 1, false, errBusy},
		{a, 4, true, nil}, // the answer to a change is always sent
	}
	held := map[party][]*fair.Holding{}
	for i, step := range steps {
		one, err := u.take(step.of, step.n<<20, step.must, nil)
		if !errors.Is(err, step.want) {
			t.Errorf("step %d: %v, want %v", i, err, step.want)
		}
		if err == nil {
			held[step.of] = append(held[step.of], one)
		}
	}
	if err := u.full(a); !errors.Is(err, errUnread) {
		t.Errorf("who has not read may ask: %v", err)
	}
	for _, one := range append(held[a], held[party{"C", "1"}]...) {
		one.Leave()
	}
	if err := u.full(a); err != nil {
		t.Errorf("who has read may not ask: %v", err)
	}
}

// Callers that fill their bank's half with answers that they hardly read shut nobody out: those who read
// slowly are cut, and after them those who hold more than who asks would.
func TestAnswersThatAreHardlyReadGiveWay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	u := newUnsent(64<<20, newMeters(nil))
	u.bytes = fair.New(64<<20, func() time.Time { return now }).Patient(briskRate)
	cut := map[string]int{}
	var sent []*fair.Holding
	for _, caller := range []string{"slow", "brisk"} {
		for range 2 {
			one, err := u.take(party{"A", caller}, 8<<20, false, func(bool) { cut[caller]++ })
			if err != nil {
				t.Fatal(err)
			}
			one.Await()
			sent = append(sent, one)
		}
	}
	for i, one := range sent {
		now = now.Add(time.Second)
		one.Moved(int64(i/2*4) << 20)
		one.Await()
	}
	asks := party{"A", "asks"}
	if err := u.full(asks); err != nil || len(cut) != 0 {
		t.Errorf("before there is an answer were cut %v: %v", cut, err)
	}
	for i := range 2 {
		if _, err := u.take(asks, 8<<20, false, nil); err != nil || cut["slow"] != i+1 || cut["brisk"] != 0 {
			t.Errorf("for an answer of the largest size were cut %v: %v", cut, err)
		}
	}
	if err := u.full(party{"A", "brisk"}); !errors.Is(err, errUnread) || cut["brisk"] != 0 {
		t.Errorf("for who holds its share were cut %v: %v", cut, err)
	}
}

// unreadWriter is a caller who reads nothing until it is cut.
type unreadWriter struct {
	header http.Header
	begun  chan<- *unreadWriter
	cut    chan struct{}
	once   sync.Once
}

func (w *unreadWriter) Header() http.Header { return w.header }
func (w *unreadWriter) WriteHeader(int)     {}

func (w *unreadWriter) Write([]byte) (int, error) {
	w.begun <- w
	<-w.cut
	return 0, os.ErrDeadlineExceeded
}

func (w *unreadWriter) SetWriteDeadline(until time.Time) error {
	if until.Unix() == 1 {
		w.end()
	}
	return nil
}

func (w *unreadWriter) end() { w.once.Do(func() { close(w.cut) }) }

// However many callers of two banks read nothing, others of these banks and of a third are answered, and what
// waits stays within its bounds.
func TestSlowReadersShutNobodyOut(t *testing.T) {
	t.Parallel()
	room := newRoomOf(16)
	ask := func(w http.ResponseWriter, of party, size int) {
		handler := room.unsent.deliver(graph.Refuse, never,
			room.admit(graph.Refuse, "", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx := access.With(r.Context(), access.Caller{TenantCode: of.bank, Client: of.caller})
				room.known(graph.Refuse, writing(size)).ServeHTTP(w, r.WithContext(ctx))
			})))
		defer func() { _ = recover() }() // a request that is cut ends so
		handler.ServeHTTP(w, get(t))
	}
	var all []*unreadWriter
	var running sync.WaitGroup
	for _, bank := range []string{"A", "B"} {
		for i := range 4 {
			for range 12 {
				begun, over := make(chan *unreadWriter, 1), make(chan struct{})
				w := &unreadWriter{header: http.Header{}, begun: begun, cut: make(chan struct{})}
				all = append(all, w)
				running.Go(func() { ask(w, party{bank, fmt.Sprint("slow", i)}, 1<<20); close(over) })
				select {
				case <-begun: // its answer waits, or that which refuses it
				case <-over:
				}
			}
		}
		if held := room.unsent.held(); held < 24<<20 {
			t.Fatalf("only %d bytes wait", held)
		}
		for _, other := range []string{bank, "C"} {
			staff := party{other, "staff"}
			asks := func(sizes ...int) {
				for _, size := range sizes {
					got := httptest.NewRecorder()
					if ask(got, staff, size); got.Code != http.StatusOK || got.Body.Len() != size {
						t.Errorf("another caller of bank %s is answered %d %.200s", other, got.Code, got.Body)
					}
				}
			}
			asks(20, 1<<20, 7<<20)
			own, err := room.unsent.take(staff, 1<<20, false, nil)
			if err != nil {
				t.Fatal(err)
			}
			asks(20, 1<<20) // while it reads another one
			own.Leave()
		}
		if held := room.unsent.held(); held > 65<<20 { // with what refuses them
			t.Errorf("%d bytes wait", held)
		}
	}
	for _, w := range all {
		w.end()
	}
	running.Wait()
	if held := room.unsent.held(); held != 0 {
		t.Errorf("%d bytes wait in the end", held)
	}
}

func TestASurplusOfAnswersIsToldToComeBackUnlessItTellsOfAChange(t *testing.T) {
	t.Parallel()
	room := newRoomOf(1)
	network := party{caller: "192.0.2.1"}
	_, _ = room.unsent.take(network, room.unsent.bytes.Caller(), true, nil)
	if got := answered(t, room, get(t), writing(100)); got.Code != http.StatusTooManyRequests ||
		got.Header().Get("Retry-After") == "" {
		t.Errorf("a read: %d %v", got.Code, got.Header())
	}
	if got := answered(t, room, get(t), func(w http.ResponseWriter, r *http.Request) {
		w.(*answer).Keep()
		writing(100)(w, r)
	}); got.Code != http.StatusOK || got.Body.Len() != 100 {
		t.Errorf("a change: %d", got.Code)
	}
}

func TestLargeAnswersArePackedForWhoAsksForIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		size   int
		accept string
		packed bool
	}{
		{leastPacked, "gzip", true},
		{leastPacked, "br;q=1, GZIP ;q=0.5", true},
		{leastPacked, "*", true},
		{3 << 20, "gzip", true},
		{leastPacked - 1, "gzip", false},
		{leastPacked, "", false},
		{leastPacked, "br", false},
		{leastPacked, "gzip;q=0", false},
		{leastPacked, "gzip; q=0.0, *", false},
	} {
		got := httptest.NewRecorder()
		a := &answer{to: got, header: http.Header{"Etag": {`"7"`}}, most: largestAnswer}
		request := get(t, "Accept-Encoding", c.accept)
		writing(c.size)(a, request)
		a.pack(request)
		u := newUnsent(64<<20, newMeters(nil))
		held, _ := u.take(a.of, a.held(), true, nil)
		u.send(a, request, held)
		body := io.Reader(got.Body)
		packed := got.Header().Get("Content-Encoding") == "gzip"
		if packed {
			var err error
			if body, err = gzip.NewReader(body); err != nil {
				t.Fatal(err)
			}
		}
		text, err := io.ReadAll(body)
		if packed != c.packed || err != nil || len(text) != c.size || got.Header().Get("Etag") != `"7"` {
			t.Errorf("%+v: packed %v, %d bytes, %v, %v", c, packed, len(text), got.Header(), err)
		}
		if c.size >= leastPacked && got.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%+v: %v", c, got.Header())
		}
	}
}

// overNetwork serves on a loopback port.
func (s *service) overNetwork(c *serveCommand) (address string) {
	s.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		s.Fatal(err)
	}
	server := newServer(s.handler, newLog(io.Discard))
	doors := openDoors(listener, c, nil, newMeters(s.bank.DB))
	server.ConnState = doors.state
	go func() { _ = server.Serve(doors) }()
	s.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

// A caller who asks for much and reads nothing uses up only its own share. Nobody else waits or is refused.
func TestASlowReaderCostsOnlyItself(t *testing.T) {
	t.Parallel()
	// of 64 MiB the bank has 32 and the attacker 16, and a little for refusals: the largest answer still fits
	c := serveCommand{InFlight: 16, exposure: exposure{Unsent: 64, Connections: 400}}
	s := newService(t, c)
	attacker := s.token("attacker", s.client("attacker"))
	bystander := s.token("bystander", s.client("bystander"))
	address := s.overNetwork(&c)
	client := &http.Client{Timeout: 5 * time.Second}
	ask := func() {
		request, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
			"http://"+address+"/graphql", strings.NewReader(`{"query":"{__typename}"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Authorization", "Bearer "+bystander)
		request.Header.Set("Content-Type", "application/json")
		got, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(got.Body)
		_ = got.Body.Close()
		if got.StatusCode != http.StatusOK {
			t.Fatalf("the bystander is answered %s: %s", got.Status, text)
		}
	}
	ask() // from now on its token is known: before, it is one of the strangers of its network
	large := `{"query":"{`
	for i := range 60 { // an answer of about a megabyte, from a small document
		large += fmt.Sprint(strings.Repeat("a", 400), i, ":__typename ")
	}
	large = strings.TrimSpace(large) + `}"}`
	for range 40 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for range 20 { // one after the other, without reading
			fmt.Fprintf(conn,
				"POST /graphql HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
					"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", attacker, len(large), large)
		}
	}
	for range 50 {
		ask()
	}
}

// A caller that reads nothing is cut, and its memory is released.
func TestWhoReadsNothingIsCut(t *testing.T) {
	t.Parallel()
	room := newRoomOf(4)
	server := httptest.NewServer(room.unsent.deliver(graph.Refuse, never, writing(largestAnswer)))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	began := time.Now()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	for room.unsent.held() == 0 && time.Since(began) < time.Second {
		time.Sleep(time.Millisecond)
	}
	for room.unsent.held() > 0 {
		if time.Since(began) > 3*slowestPiece {
			t.Fatalf("%d bytes still wait for who reads nothing", room.unsent.held())
		}
		time.Sleep(10 * time.Millisecond)
	}
	if took := time.Since(began); took < slowestPiece/2 {
		t.Errorf("cut after %s already", took)
	}
}

func TestMutationsTellTheirAnswerThatItMustBeKept(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	bearer := "Bearer " + s.token("portal", s.client("portal"))
	for query, want := range map[string]bool{
		"{__typename}": false,
		"mutation {suspendUser(input:{uid:\\\"00000000-0000-4000-8000-000000000001\\\"}){user{id}}}": true,
	} {
		a := &answer{header: http.Header{}, most: largestAnswer}
		ctx := context.Background()
		caller, err := s.bank.Clients.Verify(ctx, strings.TrimPrefix(bearer, "Bearer "))
		if err != nil {
			t.Fatal(err)
		}
		request := httptest.NewRequestWithContext(access.With(ctx, caller), http.MethodPost, "/graphql",
			strings.NewReader(`{"query":"`+query+`"}`))
		request.Header.Set("Content-Type", "application/json")
		graphFace(s.bank, nil).ServeHTTP(a, request)
		if a.kept != want {
			t.Errorf("%s: kept %v", query, a.kept)
		}
	}
}
