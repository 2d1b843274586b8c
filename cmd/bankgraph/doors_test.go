package main

import (
	"bufio"
	"fmt"
	"io"
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
		rest.Addressed(c.trusted, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = rest.Network(r) })).ServeHTTP(httptest.NewRecorder(), request)
		if got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// From behind one trusted proxy, the junk of one client slows down no other.
func TestJunkFromBehindTheSameProxySlowsDownOnlyItsSender(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{exposure: exposure{TrustedProxies: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}})
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

// connect opens a connection; an idle one has been answered.
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
	server := newServer(handler, newLog(io.Discard))
	doors := openDoors(listener, c, nil, newMeters(nil))
	server.ConnState = doors.state
	go func() { _ = server.Serve(doors) }()
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}

func TestOneNetworkHasAQuarterOfTheConnections(t *testing.T) {
	t.Parallel()
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 16}}, http.HandlerFunc(alive))
	var conns []net.Conn
	for range 4 {
		conns = append(conns, connect(t, address, true))
	}
	if askOn(t, connect(t, address, false)) {
		t.Error("a fifth connection of 16 is served to one address")
	}
	_ = conns[0].Close()
	for began := time.Now(); !askOn(t, connect(t, address, false)); time.Sleep(10 * time.Millisecond) {
		if time.Since(began) > 5*time.Second {
			t.Fatal("a place that was given up is not used again")
		}
	}
}

func TestTheLongestIdleConnectionMakesRoom(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 3, TrustedProxies: loopback}}, http.HandlerFunc(alive))
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
	for text, want := range map[string]string{
		"GET /v2/customers/%zz HTTP/1.1\r\nHost: x\r\n\r\n":                   `400 {"status":"Failure","code":"invalidRequest","message":"the request is not well-formed HTTP","data":null}`,
		"POST /graphql?%zz HTTP/9.9\r\nHost: x\r\n\r\n":                       `505 {"errors":[{"message":"the version of HTTP is not supported","extensions":{"kind":"INVALID","code":"INVALID_REQUEST"}}]}`,
		"POST /auth/realms HTTP/1.1\r\nHost: x\r\n" + large + "\r\n\r\n":      `431 {"error":"invalid_request","error_description":"the header is too large"}`,
		"GET /v2/customers HTTP/1.1\r\nHost: x\r\nExpect: more\r\n\r\n":       `417 {"status":"Failure","code":"invalidRequest","message":"of Expect only 100-continue is known","data":null}`,
		"POST /v2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: x\r\n\r\n":        `501 {"status":"Failure","code":"invalidRequest","message":"the transfer encoding is not known","data":null}`,
		"GET /v2/customers HTTP/1.1\r\nno colon\r\n\r\n":                      `400 {"status":"Failure","code":"invalidRequest","message":"the request is not well-formed HTTP","data":null}`,
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

// Connections that never said a word go before those of callers who did.
func TestASilentConnectionMakesRoomBeforeAnIdleOne(t *testing.T) {
	t.Parallel()
	loopback := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	address := doorsOf(t, &serveCommand{exposure: exposure{Connections: 3, TrustedProxies: loopback}}, http.HandlerFunc(alive))
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
