package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"bankgraph/rest"
)

func TestTheClientsAddressIsWhatTrustedProxiesSay(t *testing.T) {
	t.Parallel()
	trusted := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		peer, forwarded, want string
		trusted               []netip.Prefix
	}{
		{"10.1.2.3:5", "198.51.100.7", "198.51.100.7", trusted},
		{"10.1.2.3:5", "203.0.113.1, 198.51.100.7, 10.9.9.9", "198.51.100.7", trusted},
		{"[fd00::1]:5", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64", trusted},
		{"10.1.2.3:5", "203.0.113.1:443, 198.51.100.7:61234, 10.9.9.9:80", "198.51.100.7", trusted},
		{"10.1.2.3:5", "[2001:db8:1:2:3:4:5:6]:61234", "2001:db8:1:2::/64", trusted},
		{"10.1.2.3:5", "[2001:db8:1:2:3:4:5:6]", "2001:db8:1:2::/64", trusted},
		{"10.1.2.3:5", "", "10.1.2.3", trusted},
		{"10.1.2.3:5", "198.51.100.7, rubbish", "10.1.2.3", trusted},
		{"192.0.2.9:5", "198.51.100.7", "192.0.2.9", trusted},
		{"10.1.2.3:5", "198.51.100.7", "10.1.2.3", nil},
		{"[2001:db8:1:2::9]:5", "", "2001:db8:1:2::/64", nil},
		{"[::ffff:192.0.2.9]:5", "", "192.0.2.9", nil},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.RemoteAddr = c.peer
		if c.forwarded != "" {
			request.Header.Set("X-Forwarded-For", c.forwarded)
		}
		got := ""
		rest.Addressed(slog.New(slog.DiscardHandler), c.trusted,
			http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = rest.Network(r) })).
			ServeHTTP(httptest.NewRecorder(), request)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// An operator learns once that a proxy's clients cannot be told apart.
func TestAHeaderOfATrustedProxyThatCannotBeReadIsLoggedOnce(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	addressed := rest.Addressed(slog.New(slog.NewTextHandler(&log, nil)),
		[]netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}, http.NotFoundHandler())
	for _, c := range []struct {
		peer, forwarded string
		warnings        int
	}{
		{"192.0.2.9:5", "rubbish", 0},
		{"10.1.2.3:5", "", 0},
		{"10.1.2.3:5", "10.9.9.9", 0},
		{"10.1.2.3:5", "rubbish, 198.51.100.7:61234", 0},
		{"10.1.2.3:5", "198.51.100.7, rubbish", 1},
		{"10.1.2.3:5", "198.51.100.7, rubbish", 1},
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody)
		request.RemoteAddr = c.peer
		request.Header.Set("X-Forwarded-For", c.forwarded)
		addressed.ServeHTTP(httptest.NewRecorder(), request)
		if got := strings.Count(log.String(), "level=WARN"); got != c.warnings {
			t.Errorf("%+v: %d warnings: %s", c, got, log.String())
		}
	}
}

// Behind a trusted proxy, one client's junk slows down no other client.
func TestJunkFromBehindTheSameProxySlowsDownOnlyItsSender(t *testing.T) {
	t.Parallel()
	s := newService(t,
		serveCommand{exposure: exposure{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}})
	ask := func(from, key, secret string) int {
		return s.do(http.MethodPost, "/auth/realms/"+s.realm+"/protocol/openid-connect/token",
			"grant_type=client_credentials&client_id="+key+"&client_secret="+secret,
			"Content-Type", "application/x-www-form-urlencoded", "X-Forwarded-For", from).Code
	}
	secret := s.client("portal")
	slowed := 0
	for i := range 350 {
		if ask("198.51.100.1", fmt.Sprint("junk", i), "wrong") == http.StatusTooManyRequests {
			slowed++
		}
	}
	if slowed != 50 {
		t.Errorf("%d of 350 were slowed down", slowed)
	}
	if got := ask("198.51.100.2", "other", "wrong"); got != http.StatusUnauthorized {
		t.Errorf("another client with a wrong secret: %d", got)
	}
	if got := ask("198.51.100.1", "portal", secret); got != http.StatusOK {
		t.Errorf("a right secret from the same address: %d", got)
	}
}

// connect opens a connection. If idle, a request on it has been answered.
func connect(t *testing.T, address string, idle bool) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if idle {
		askOn(t, conn)
	}
	return conn
}

func askOn(t *testing.T, conn net.Conn) bool {
	t.Helper()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

func doorsOf(t *testing.T, c *serveCommand, handler http.Handler) (address string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	doors := openDoors(listener, c, nil, newMeters(nil))
	if front, ok := handler.(*front); ok {
		handler = doors.count(front)
	}
	server := newServer(handler, newLog(io.Discard))
	server.ConnState, server.ConnContext = doors.state, doors.context
	go func() { _ = server.Serve(doors) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

func TestOneNetworkHasAQuarterOfTheConnections(t *testing.T) {
	t.Parallel()
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 16}}, knowing(alive))
	var conns []net.Conn
	for range 4 {
		conns = append(conns, connect(t, address, true))
	}
	if !askOn(t, connect(t, address, false)) {
		t.Error("a fifth connection is not served, though others of its network are idle")
	}
	open := 0
	for _, conn := range conns {
		if askOn(t, conn) {
			open++
		}
	}
	if open != 3 {
		t.Errorf("of the first four connections %d are open beside the fifth, want 3", open)
	}
}

// knowing makes a handler for known callers, named by their tokens.
func knowing(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		welcome(r.Context(), party{"bank", bearer(r)})
		handler(w, r)
	})
}

// Strangers who hold all connections with half a request each keep nobody out: a newcomer takes the place of
// the oldest stranger, and keeps it once its caller is known.
func TestStrangersWithHalfARequestMakeRoom(t *testing.T) {
	t.Parallel()
	inside, leave := make(chan struct{}), make(chan struct{})
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 16}},
		knowing(func(w http.ResponseWriter, _ *http.Request) {
			inside <- struct{}{}
			<-leave
			_, _ = io.WriteString(w, "done")
		}))
	crowd := func() {
		for network := range 4 {
			for range 4 {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(10+network))}}
				conn, err := dialer.DialContext(t.Context(), "tcp", address)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = conn.Close() })
				fmt.Fprint(conn, "POST /v2/customers HTTP/1.1\r\nHost:")
			}
		}
	}
	crowd()
	served := make(chan bool)
	go func() { served <- askOn(t, connect(t, address, false)) }()
	<-inside
	crowd() // again: all of this crowd is newer than the known caller
	crowd()
	close(leave)
	if !<-served {
		t.Error("a known caller's request was ended by strangers who came later")
	}
}

func TestTheLongestIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 3, TrustedProxies: loopback}},
		knowing(alive))
	var conns []net.Conn
	for range 3 {
		conns = append(conns, connect(t, address, true))
		time.Sleep(20 * time.Millisecond)
	}
	if !askOn(t, connect(t, address, false)) {
		t.Error("a newcomer is not served")
	}
	if askOn(t, conns[0]) {
		t.Error("the one that was idle longest is still there")
	}
	if !askOn(t, conns[2]) {
		t.Error("one that was idle for less has gone")
	}
}

func TestRequestsThatCannotBeReadAreAnsweredByTheirFace(t *testing.T) {
	t.Parallel()
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 100}}, http.HandlerFunc(alive))
	large := "X: " + strings.Repeat("x", 40<<10)
	failure := func(message string) string {
		return `{"status":"Failure","code":"invalidRequest","message":"` + message + `","data":null}`
	}
	for text, want := range map[string]string{
		"GET /v2/customers/%zz HTTP/1.1\r\nHost: x\r\n\r\n": `400 ` +
			failure("the request is not well-formed HTTP"),
		"POST /graphql?%zz HTTP/9.9\r\nHost: x\r\n\r\n": `505 {"errors":[{"message":"the version of HTTP is not ` +
			`supported","extensions":{"kind":"INVALID","code":"INVALID_REQUEST"}}]}`,
		"POST /auth/realms HTTP/1.1\r\nHost: x\r\n" + large +
			"\r\n\r\n": `431 {"error":"invalid_request","error_description":"the header is too large"}`,
		"GET /v2/customers HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n": `417 ` +
			failure("of Expect only 100-continue is known"),
		"POST /v2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n": `501 ` +
			failure("the transfer encoding is not known"),
		"GET /v2/customers HTTP/1.1\r\nno colon\r\n\r\n": `400 ` +
			failure("the request is not well-formed HTTP"),
		"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /graphql%0 HTTP/1.1\r\n": `200 ok`,
	} {
		conn := connect(t, address, false)
		_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
		fmt.Fprint(conn, text)
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Errorf("%.60q: %v", text, err)
			continue
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if got := fmt.Sprint(answer.StatusCode, " ", strings.TrimSpace(string(body))); got != want {
			t.Errorf("%.60q:\n%s\n%s", text, got, want)
		}
	}
}

// Strangers' connections end before those of known callers, however long these have been idle.
func TestAStrangersConnectionMakesRoomBeforeAKnownCallers(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 3, TrustedProxies: loopback}},
		knowing(alive))
	idle := connect(t, address, true)
	time.Sleep(20 * time.Millisecond)
	connect(t, address, false)
	connect(t, address, false)
	time.Sleep(20 * time.Millisecond)
	if !askOn(t, connect(t, address, false)) {
		t.Error("a newcomer is not served")
	}
	if !askOn(t, idle) {
		t.Error("the caller who waited for its next question is gone")
	}
}

// Requests without a valid token have one rate for their whole network. Requests with a valid token do not
// count, nor do those from other networks.
func TestStrangersOfANetworkAreHeldToARate(t *testing.T) {
	t.Parallel()
	address := doorsOf(t, &serveCommand{Rate: 30, exposure: exposure{Connections: 4000}}, &front{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if surplus(r.Context()) {
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}),
		knows: func(r *http.Request) bool { return bearer(r) == "good" },
	})
	flood := func(from byte, token string) (served, refused int) {
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, from)}}
		caller := &http.Client{Transport: &http.Transport{DialContext: dialer.DialContext}}
		defer caller.CloseIdleConnections()
		for range 100 {
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+token)
			answer, err := caller.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, answer.Body) // so that the connection is kept
			_ = answer.Body.Close()
			switch {
			case answer.StatusCode == http.StatusOK:
				served++
			case answer.StatusCode == http.StatusTooManyRequests && answer.Header.Get("Retry-After") != "":
				refused++
			}
		}
		return served, refused
	}
	if served, refused := flood(2, "junk"); refused == 0 || served == 0 || served+refused != 100 {
		t.Errorf("of a stranger's hundred requests %d are served, %d refused", served, refused)
	}
	if served, _ := flood(2, "good"); served != 100 {
		t.Errorf("of a hundred with a good token from the same network %d are served", served)
	}
	if served, _ := flood(3, "junk"); served == 0 {
		t.Error("a stranger of another network is not served")
	}
	cut := 0
	for range 100 {
		conn := connect(t, address, false)
		if !askOn(t, conn) {
			cut++
		}
		_ = conn.Close()
	}
	if cut == 0 || cut == 100 {
		t.Errorf("of a network's hundred new connections %d are closed at once", cut)
	}
}

// One known caller, from any number of networks, keeps at most an eighth of the connections, half of what one
// network may have. Its further connections can be ended like strangers', whatever is worked on there. When
// its connections end, they are free.
func TestAKnownCallerHoldsAnEighthOfTheConnections(t *testing.T) {
	t.Parallel()
	all := newSlots(16, newMeters(nil))
	crowd := party{"bank", "crowd"}
	ended := 0
	var theirs []*slot
	for i := range 16 {
		conn := all.take(fmt.Sprint(i/4), 4, nil, func() { ended++ })
		conn.asked()
		conn.welcome(crowd)
		conn.welcome(crowd) // once by the room, once after the check of its token
		theirs = append(theirs, conn)
	}
	other := all.take("0", 4, nil,
		func() { t.Error("a known caller's connection is closed while it is worked on") })
	if other == nil {
		t.Fatal("a newcomer is kept out by one caller of the same network")
	}
	other.welcome(party{"bank", "other"})
	for range 20 {
		all.take("strangers", 16, nil, func() {})
	}
	if ended != 14 {
		t.Errorf("of a caller's 16 connections %d made room, want all but its share of 2", ended)
	}
	other.leave()
	for i, conn := range theirs {
		if i%2 == 0 {
			conn.answered()
			conn.asked()
			conn.welcome(crowd)
		}
		conn.leave()
	}
	if held := all.held; held.taken != 0 || len(held.callers) != 0 || len(held.banks) != 0 {
		t.Errorf("nobody is there, and %+v is held", held)
	}
}

// No connection ends for a newcomer that gets no slot anyway.
func TestNobodyMakesRoomInVain(t *testing.T) {
	t.Parallel()
	all := newSlots(40, newMeters(nil))
	ended := 0
	for range 6 {
		if all.take("proxy", 40, nil, func() { ended++ }) == nil {
			t.Fatal("there is room")
		}
	}
	if all.take("proxy", 4, nil, func() {}) != nil || ended > 0 {
		t.Errorf("%d had to go for one who has no place", ended)
	}
}

// A stranger's connection that sends too much is ended with all its requests. A known caller's is not.
func TestTooMuchOfAStrangerEndsItsConnection(t *testing.T) {
	t.Parallel()
	all := newSlots(40, newMeters(nil))
	ended := 0
	stranger, known := all.take("a", 10, nil, func() { ended++ }), all.take("a", 10, nil, func() { ended++ })
	known.welcome(party{"A", "portal"})
	stranger.endStranger()
	known.endStranger()
	stranger.endStranger()
	if ended != 1 || !stranger.ended() || known.ended() || all.taken() != 1 {
		t.Errorf("%d ended; the stranger's: %t, the known caller's: %t; %d are taken",
			ended, stranger.ended(), known.ended(), all.taken())
	}
	known.leave()
	if all.taken() != 0 || all.held.taken != 0 {
		t.Errorf("in the end %d are taken, %d held", all.taken(), all.held.taken)
	}
}
