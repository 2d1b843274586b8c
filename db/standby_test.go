package db_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/cluster"
	"bankgraph/db/dbtest"
)

// After a failover the former primary may answer at the old address, as a standby: what is read there is
// stale, and nothing can be written.
func TestAStandbyIsNotTheDatabase(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, dbtest.Streaming)
	standby := cluster.ServiceURL(server.Replica().URL())
	work := func(url string) (write, read, ready error) {
		t.Helper()
		d, err := db.Open(url, db.Options{Connections: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		write = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, `SELECT 1`)
			return err
		})
		b := d.Batch()
		db.Queue(b, db.NewQuery[db.Count](`SELECT 1::bigint AS n`))
		return write, b.Send(t.Context()), d.Ready(t.Context())
	}
	write, read, ready := work(standby)
	if !db.IsUnavailable(write) || !db.IsUnavailable(read) || ready == nil {
		t.Errorf("a standby is written to: %v, read: %v, is ready: %v", write, read, ready)
	}
	both := server.Service
	for i, url := range []string{standby, server.Service} {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			both = fmt.Sprintf("user=%s dbname=%s target_session_attrs=read-write host=%s", config.User,
				config.Database, config.Host)
			continue
		}
		both += fmt.Sprintf(",%s port=%d", config.Host, config.Port)
	}
	if write, read, ready := work(both); write != nil || read != nil || ready != nil {
		t.Errorf("of a standby and a primary: %v, %v, %v", write, read, ready)
	}
}

// A proxy may lead a connection that is there to another server. What it led to a standby is given up, and
// what was read on it is not read again.
func TestAConnectionThatCameToLeadToAStandbyIsGivenUp(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, dbtest.Streaming)
	standby := cluster.ServiceURL(server.Replica().URL())
	p := newProxy(t, server.Service)
	d, err := db.Open(p.url, db.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	write := func() error {
		return d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, `SELECT 1`)
			return err
		})
	}
	if err := errors.Join(write(), d.Ready(t.Context())); err != nil {
		t.Fatal(err)
	}
	p.lead(standby)
	if err := d.Ready(t.Context()); err == nil {
		t.Error("it is ready on the standby")
	}
	if err := write(); !db.IsUnavailable(err) {
		t.Errorf("a write on the standby: %v", err)
	}
	p.lead(server.Service)
	if err := errors.Join(write(), d.Ready(t.Context())); err != nil {
		t.Errorf("behind the primary again: %v", err)
	}
}

// proxy leads connections to a server, and can lead those that are there, and idle, to another one.
type proxy struct {
	t   *testing.T
	url string

	mu    sync.Mutex
	to    string // the address of the server
	lines []*line
}

// line is a connection through a proxy.
type line struct {
	client net.Conn
	first  []byte // what the client began with
	mu     sync.Mutex
	server net.Conn
}

func newProxy(t *testing.T, url string) *proxy {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, to: addressOf(t, url), url: fmt.Sprintf("postgres://%s@%s/%s?sslmode=disable", config.User,
		listener.Addr(), config.Database)}
	t.Cleanup(func() { _ = listener.Close(); p.cut() })
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			p.serve(client)
		}
	}()
	return p
}

func addressOf(t *testing.T, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	_, address := pgconn.NetworkAddress(config.Host, config.Port)
	return address
}

// serve begins with the client's first message, which it keeps.
func (p *proxy) serve(client net.Conn) {
	length := make([]byte, 4)
	if _, err := io.ReadFull(client, length); err != nil {
		return
	}
	first := make([]byte, binary.BigEndian.Uint32(length))
	copy(first, length)
	if _, err := io.ReadFull(client, first[4:]); err != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	server, err := net.Dial("unix", p.to)
	if err == nil {
		_, err = server.Write(first)
	}
	if err != nil {
		_ = client.Close()
		return
	}
	l := &line{client: client, first: first, server: server}
	p.lines = append(p.lines, l)
	go l.answers(server)
	go func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := client.Read(buffer)
			if err != nil {
				_ = l.now().Close()
				return
			}
			_, _ = l.now().Write(buffer[:n])
		}
	}()
}

func (l *line) now() net.Conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.server
}

// answers goes on until the line leads elsewhere; where the server ends, so does the client.
func (l *line) answers(server net.Conn) {
	_, _ = io.Copy(l.client, server)
	if l.now() == server {
		_ = l.client.Close()
	}
}

// lead leads all lines to a server, each after signing in there as its client did.
func (p *proxy) lead(url string) {
	p.t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to = addressOf(p.t, url)
	for _, l := range p.lines {
		server, err := net.Dial("unix", p.to)
		if err == nil {
			_, err = server.Write(l.first)
		}
		for kind := byte(0); err == nil && kind != 'Z'; { // until the server is ready
			head := make([]byte, 5)
			if _, err = io.ReadFull(server, head); err == nil {
				kind = head[0]
				_, err = io.CopyN(io.Discard, server, int64(binary.BigEndian.Uint32(head[1:]))-4)
			}
		}
		if err != nil {
			p.t.Fatal(err)
		}
		l.mu.Lock()
		was := l.server
		l.server = server
		l.mu.Unlock()
		_ = was.Close()
		go l.answers(server)
	}
}

func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		_, _ = l.client.Close(), l.now().Close()
	}
}
