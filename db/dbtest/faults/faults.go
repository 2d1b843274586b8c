// Package faults makes things go wrong between the bank and its database, at the statement that a test
// chooses.
//
// What goes wrong is real wherever it can be: an SQLSTATE is raised by the server, whose transaction is
// broken by it, and a cut connection is a closed socket.
package faults

import (
	"context"
	"database/sql/driver"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"
)

// Fault is what goes wrong at one statement. BEGIN and COMMIT are statements too.
type Fault struct {
	State string // the server answers this SQLSTATE
	Cut   bool   // the connection breaks; while the statement runs, unless it breaks before or after it
	Ran   bool   // it goes wrong after the statement ran, whose answer is lost
	// it goes wrong before the statement is sent: what else breaks a connection may have reached the server
	Never bool
	Stays bool          // nothing goes through from then on
	Delay time.Duration // first this passes
}

func (f Fault) String() string {
	what, when := f.State, "instead of it"
	if f.Cut {
		what, when = "cut", "while it runs"
	}
	if f.Never {
		when = "before it"
	}
	if f.Ran {
		when = "after it"
	}
	return what + " " + when
}

// Commits tells whether a statement commits, by itself or behind others that it went together with.
func Commits(statement string) bool { return strings.HasSuffix(statement, "COMMIT") }

// Line is the way between a bank and its database. While nothing is broken it only counts.
type Line struct {
	mu         sync.Mutex
	statements []string
	at         int
	fault      Fault
	struck     bool
	meanwhile  map[int]func()
}

// Connector puts the line between the driver and the pool: db.Options.Connector.
func (l *Line) Connector(inner driver.Connector) driver.Connector { return connector{inner, l} }

// Break lets the k-th statement from now on fail, counted from 1, once unless it stays. It starts counting
// anew. With 0 nothing fails.
func (l *Line) Break(k int, f Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statements, l.at, l.fault, l.struck, l.meanwhile = nil, k, f, false, nil
}

// Meanwhile lets something happen right before the k-th statement from now on. It starts counting anew.
func (l *Line) Meanwhile(k int, happens func()) {
	l.Break(0, Fault{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meanwhile = map[int]func(){k: happens}
}

// Statements are the texts that went over the line since Break, or since the beginning.
func (l *Line) Statements() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.statements...)
}

// Struck tells whether the fault of Break has happened. It has not where the statement failed by itself
// before.
func (l *Line) Struck() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.struck
}

// next counts a statement, and tells what goes wrong with it.
func (l *Line) next(text string) (Fault, bool) {
	l.mu.Lock()
	l.statements = append(l.statements, text)
	happens := l.meanwhile[len(l.statements)]
	l.mu.Unlock()
	if happens != nil {
		happens()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.struck && l.fault.Stays {
		return Fault{Cut: true, Never: true}, true
	}
	if l.struck || l.at != len(l.statements) {
		return Fault{}, false
	}
	l.struck = true
	return l.fault, true
}

func (l *Line) spare() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.struck, l.at = false, 0
}

// through lets one statement through, or what goes wrong with it.
func (l *Line) through(ctx context.Context, c *conn, text string, run func() error) error {
	f, wrong := l.next(text)
	if !wrong {
		return run()
	}
	select {
	case <-time.After(f.Delay):
	case <-ctx.Done():
		return ctx.Err()
	}
	if f.Ran {
		if err := run(); err != nil {
			l.spare()
			return err
		}
		c.settle()
	}
	switch {
	case f.State != "":
		return c.raise(ctx, f.State)
	case f.Cut && f.Ran:
		return c.silence(ctx)
	case f.Cut && f.Never:
		_ = c.socket().Close()
	case f.Cut:
		_ = c.socket().(halfCloser).CloseRead()
	}
	return run() // what the driver makes of it
}

// halfCloser is a socket, of whichever family.
type halfCloser interface{ CloseRead() error }

// socket is what lies under the driver.
func (c *conn) socket() net.Conn { return c.Conn.Conn().PgConn().Conn() }

// raise lets the server refuse, which breaks an open transaction. One that is told to go closes its
// connection too.
func (c *conn) raise(ctx context.Context, state string) error {
	_, err := c.Conn.Conn().Exec(ctx,
		fmt.Sprintf(`DO $$ BEGIN RAISE EXCEPTION 'a test wants this' USING ERRCODE = '%s'; END $$`, state))
	if strings.HasPrefix(state, "57P") {
		_ = c.Conn.Conn().Close(ctx)
	}
	return err
}

// silence is what the driver says of an answer that does not come.
func (c *conn) silence(ctx context.Context) error {
	_ = c.socket().(halfCloser).CloseRead()
	_, err := c.Conn.Conn().Exec(ctx, `SELECT`)
	return err
}
