package main

import (
	"container/list"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"sync"

	"bankgraph/rest"
)

// doors are the connections of the public address. Their number is bounded, in all and for each network: an idle
// connection costs memory too. When all are taken, the one that has been idle longest makes room.
type doors struct {
	net.Listener
	most    int
	trusted []netip.Prefix
	meters  *meters
	accepts chan accepted
	done    chan struct{}
	close   func() error

	mu     sync.Mutex
	open   map[string]int
	all    int
	silent list.List // of net.Conn that said nothing yet, who came first in front
	idle   list.List // of net.Conn, the longest idle in front
	at     map[net.Conn]*list.Element
}

// kernelBuffer is how much of an answer the kernel takes, beyond what the caller's side does. By itself it would take
// megabytes for a caller who reads nothing, and nobody would count them.
const kernelBuffer = 256 << 10

type accepted struct {
	conn net.Conn
	err  error
}

// openDoors takes connections from the listener; with config, through TLS.
func openDoors(l net.Listener, c *serveCommand, config *tls.Config, m *meters) *doors {
	d := &doors{
		Listener: l, most: c.Connections, trusted: c.TrustedProxies, meters: m, accepts: make(chan accepted), done: make(chan struct{}),
		open: map[string]int{}, at: map[net.Conn]*list.Element{},
	}
	d.close = sync.OnceValue(func() error { close(d.done); return l.Close() })
	m.gauge("bankgraph_connections", "Connections that are open.", nil, func() float64 {
		d.mu.Lock()
		defer d.mu.Unlock()
		return float64(d.all)
	})
	go d.take(config)
	return d
}

func (d *doors) take(config *tls.Config) {
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
			d.meters.refuse(errNoDoor)
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

// door is a connection that is counted until it is closed.
type door struct {
	net.Conn
	leave func()
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
	host, _, _ := net.SplitHostPort(conn.RemoteAddr().String())
	network, bound := rest.NetworkOf(host), max(1, d.most/4)
	if ip, err := netip.ParseAddr(host); err == nil {
		for _, trusted := range d.trusted {
			if trusted.Contains(ip.Unmap()) {
				bound = d.most
			}
		}
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(kernelBuffer)
	}
	if d.full(network, bound) {
		d.makeRoom()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.all >= d.most || d.open[network] >= bound {
		return nil
	}
	d.all++
	d.open[network]++
	return &door{conn, sync.OnceFunc(func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.all--
		if d.open[network]--; d.open[network] == 0 {
			delete(d.open, network)
		}
	})}
}

// full reports whether a connection must go for one more of a network that may have it.
func (d *doors) full(network string, bound int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all >= d.most && (d.open[network] < bound || bound == d.most)
}

// makeRoom closes the connection that has said nothing for longest since it came, or else the one that has been idle longest.
func (d *doors) makeRoom() {
	d.mu.Lock()
	var longest net.Conn
	for _, all := range []*list.List{&d.silent, &d.idle} {
		if front := all.Front(); front != nil && longest == nil {
			longest = all.Remove(front).(net.Conn)
			delete(d.at, longest)
		}
	}
	d.mu.Unlock()
	if longest != nil {
		_ = longest.Close()
	}
}

// state follows which connections are silent or idle; net/http calls it.
func (d *doors) state(conn net.Conn, state http.ConnState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if at, ok := d.at[conn]; ok {
		d.idle.Remove(at) // of two lists, the one that has it
		d.silent.Remove(at)
		delete(d.at, conn)
	}
	switch state {
	case http.StateNew:
		d.at[conn] = d.silent.PushBack(conn)
	case http.StateIdle:
		d.at[conn] = d.idle.PushBack(conn)
	}
}
