package transport

import (
	"bufio"
	"net"
	"net/http"
	"sync"
	"time"
)

// pace lets through so much in a second, and more at once after a pause. Its zero value is ready to use.
type pace struct {
	mu  sync.Mutex
	due time.Time
}

// take takes what messages and bytes cost, and returns how long to wait until that is due.
func (p *pace) take(messages, bytes int, now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if long := now.Add(-heardPast); p.due.Before(long) {
		p.due = long
	}
	p.due = p.due.Add(time.Duration(messages)*time.Second/heard + time.Duration(bytes)*time.Second/(heard<<10))
	return max(0, p.due.Sub(now))
}

// begin leaves only so much to be used at once.
func (p *pace) begin(past time.Duration, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.due = now.Add(-past)
}

// hearing takes over the connection of a WebSocket, to read from it at a pace.
type hearing struct {
	http.ResponseWriter
	pace *pace
}

// Hijack implements http.Hijacker.
func (h hearing) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	return &heardConn{conn, h.pace}, buffers, err
}

type heardConn struct {
	net.Conn
	pace *pace
}

func (c *heardConn) Read(into []byte) (int, error) {
	n, err := c.Conn.Read(into[:min(len(into), heardAtOnce)])
	time.Sleep(c.pace.take(0, n, time.Now()))
	return n, err
}
