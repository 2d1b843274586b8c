package main

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"bankgraph/rest"
)

// doors are the connections of the public address. An idle connection costs memory too, and so does a request
// over HTTP/2, of which one connection can have many; so each of both takes a slot.
type doors struct {
	net.Listener
	*slots
	trusted []netip.Prefix
	hearing *hearing
	comers  *httprate.RateLimiter // connections, by network; nil where any number may come
	asks    *httprate.RateLimiter // requests of strangers, by network; nil likewise
	accepts chan accepted
	done    chan struct{}
	close   func() error
}

// kernelBuffer is how much of an answer the kernel takes, beyond what the caller's side does. By itself it
// would take megabytes for a caller who reads nothing, and nobody would count them.
const kernelBuffer = 256 << 10

type accepted struct {
	conn net.Conn
	err  error
}

// openDoors takes connections from the listener; with config, through TLS.
func openDoors(l net.Listener, c *serveCommand, config *tls.Config, m *meters) *doors {
	d := &doors{
		Listener: l, slots: newSlots(c.Connections, m), trusted: c.TrustedProxies, hearing: newHearing(),
		comers: perSecond(c.Rate, httprate.ResponseHeaders{}), asks: perSecond(c.Rate, retryAfter),
		accepts: make(chan accepted), done: make(chan struct{}),
	}
	d.close = sync.OnceValue(func() error { close(d.done); return l.Close() })
	m.gauge("bankgraph_connections", "Connections that are open, and requests over HTTP/2.", nil,
		func() float64 { return float64(d.taken()) })
	go d.accept(config)
	return d
}

func (d *doors) accept(config *tls.Config) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			if !d.pass(accepted{err: err}) {
				return
			}
			continue
		}
		counted := d.enter(conn)
		switch {
		case counted == nil:
			_ = conn.Close()
		case config == nil:
			d.pass(accepted{conn: &spoken{Conn: counted}})
		default:
			go d.greet(tls.Server(counted, config))
		}
	}
}

// greet shakes hands, apart from others who come. net/http speaks HTTP/2 only on a tls.Conn as it is.
func (d *doors) greet(conn *tls.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), headerTimeout)
	defer cancel()
	if conn.HandshakeContext(ctx) != nil {
		_ = conn.Close()
		return
	}
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		if c := doorOf(conn); c != nil && !d.trusts(hostOf(conn)) {
			c.hearing = d.hearing
		}
		d.pass(accepted{conn: conn})
		return
	}
	d.pass(accepted{conn: &spoken{Conn: conn}})
}

// pass hands a connection to the server, while it takes any.
func (d *doors) pass(a accepted) bool {
	select {
	case d.accepts <- a:
		return true
	case <-d.done:
		if a.conn != nil {
			_ = a.conn.Close()
		}
		return false
	}
}

func (d *doors) Accept() (net.Conn, error) {
	select {
	case a := <-d.accepts:
		return a.conn, a.err
	case <-d.done:
		return nil, net.ErrClosed
	}
}

func (d *doors) Close() error { return d.close() }

// door is a connection.
type door struct {
	net.Conn
	*slot

	hearing *hearing // of HTTP/2, but for a proxy that is trusted, whose clients are many; else nil
}

func (c *door) Read(into []byte) (int, error) {
	read, err := c.Conn.Read(into)
	if c.hearing != nil {
		time.Sleep(c.hearing.heard(c.speaker(), read, time.Now()))
	}
	return read, err
}

func (c *door) Close() error {
	c.leave()
	return c.Conn.Close()
}

// CloseWrite lets an answer arrive although the caller is still sending.
func (c *door) CloseWrite() error { return closeWrite(c.Conn) }

func closeWrite(conn net.Conn) error {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// enter counts a connection; nil when there is no room for it.
func (d *doors) enter(conn net.Conn) net.Conn {
	host := hostOf(conn)
	network, most := rest.NetworkOf(host), d.share()
	if d.trusts(host) {
		most = d.most
	} else if d.comers != nil && d.comers.OnLimit(nil, new(http.Request), network) {
		d.meters.refuse(errNoDoor)
		return nil
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(kernelBuffer)
	}
	mine := d.take(network, most, nil, func() { _ = conn.Close() })
	if mine == nil {
		return nil
	}
	return &door{Conn: conn, slot: mine}
}

func hostOf(conn net.Conn) string {
	host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	return host
}

// trusts reports whether a host is a proxy that is trusted.
func (d *doors) trusts(host string) bool {
	ip, err := netip.ParseAddr(host)
	return err == nil &&
		slices.ContainsFunc(d.trusted, func(network netip.Prefix) bool { return network.Contains(ip.Unmap()) })
}

// state follows which connections are idle; net/http calls it. Whose the next request is, nobody knows before
// it has come.
func (d *doors) state(conn net.Conn, state http.ConnState) {
	if s, is := conn.(*spoken); is && state == http.StateIdle {
		s.answered()
	}
	c := doorOf(conn)
	switch {
	case c == nil:
	case state == http.StateActive:
		c.asked()
	case state == http.StateIdle:
		c.answered()
	}
}

// doorOf is the door below what speaks TLS, or hears what is said.
func doorOf(conn net.Conn) *door {
	for {
		switch c := conn.(type) {
		case *door:
			return c
		case *spoken:
			conn = c.Conn
		case *tls.Conn:
			conn = c.NetConn()
		default:
			return nil
		}
	}
}

// context lets requests know the connection that they came through; net/http calls it.
func (d *doors) context(ctx context.Context, conn net.Conn) context.Context {
	if c := doorOf(conn); c != nil {
		return context.WithValue(ctx, slotKey{}, c.slot)
	}
	return ctx
}

// count lets each request know where it comes from, and bounds what strangers of one network send in a
// second.
func (d *doors) count(next *front) http.Handler {
	return rest.Addressed(slog.Default(), d.trusted,
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			below, _ := r.Context().Value(slotKey{}).(*slot)
			if below.ended() {
				panic(http.ErrAbortHandler) // one of many that came before the connection ended
			}
			over := d.asks != nil && !next.knows(r) && d.asks.OnLimit(w, r, rest.Network(r))
			if over {
				d.meters.refuse(errNetTooFast)
			}
			switch {
			case over && r.ProtoMajor > 1:
				below.endStranger() // else it would send on, as fast as its streams are cut
				panic(http.ErrAbortHandler)
			case over:
				next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), surplusKey{}, true)))
			case r.ProtoMajor > 1:
				d.countStream(w, r, next, below)
			default:
				next.ServeHTTP(w, r)
			}
		}))
}

// countStream gives a request over HTTP/2 a slot of its own, until its answer is sent: one that is not read
// costs as much as the request. The surplus is cut, for the same reason.
func (d *doors) countStream(w http.ResponseWriter, r *http.Request, next http.Handler, below *slot) {
	stream := &stream{control: http.NewResponseController(w)}
	most := d.share()
	if d.trusts(rest.Address(r)) { // the proxy's own request: it named no other
		most = d.most
	}
	mine := d.take(rest.Network(r), most, below, stream.cut)
	if mine == nil {
		panic(http.ErrAbortHandler)
	}
	defer mine.leave()
	defer stream.close()
	if below != nil && r.ContentLength != 0 {
		r.Body = &heardBody{r.Body, d, below}
	}
	next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), slotKey{}, mine)))
	stream.flush()
}

type surplusKey struct{}

// surplus reports whether a request is one too many of the strangers of its network.
func surplus(ctx context.Context) bool {
	over, _ := ctx.Value(surplusKey{}).(bool)
	return over
}

// stream is a request over HTTP/2, until its handler returns.
type stream struct {
	mu      sync.Mutex
	control *http.ResponseController // nil when the handler has returned, and there is nothing more to control
}

// flush waits until the caller has taken the rest of its answer, for as long as it may for one piece. By
// itself net/http sends the rest after the handler, when nobody counts the stream any more.
func (s *stream) flush() {
	_ = s.control.SetWriteDeadline(time.Now().Add(slowestPiece))
	_ = s.control.Flush()
}

func (s *stream) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.control != nil {
		_ = s.control.SetReadDeadline(time.Unix(1, 0)) // HTTP/2 knows both
		_ = s.control.SetWriteDeadline(time.Unix(1, 0))
	}
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.control = nil
}
