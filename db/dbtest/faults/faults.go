// Package faults injects faults between the bank and its database, at the statement that a test chooses.
//
// The faults are as real as possible: an SQLSTATE is raised by the server and breaks its transaction, and a
// cut connection is a closed socket.
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

// Fault is a fault at one statement. BEGIN and COMMIT are statements too.
type Fault struct {
	State string // the server answers this SQLSTATE
	Cut   bool   // the connection breaks, while the statement runs, or as Ran or Never say
	Ran   bool   // the fault comes after the statement ran; its answer is lost
	// the fault comes before the statement is sent, so it never reaches the server
	Never bool
	Stays bool          // nothing gets through from then on
	Delay time.Duration // the time that passes first
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

// Commits reports whether a statement is COMMIT, or ends with it.
func Commits(statement string) bool { return strings.HasSuffix(statement, "COMMIT") }

// Line is the connection between a bank and its database. Without a fault it only counts statements.
type Line struct {
	mu         sync.Mutex
	statements []string
	at         int
	fault      Fault
	struck     bool
	meanwhile  map[int]func()
}

// Connector puts the line between the driver and the pool, for db.Options.Connector.
func (l *Line) Connector(inner driver.Connector) driver.Connector { return connector{inner, l} }

// Break makes the k-th statement from now on fail, counted from 1, once unless f.Stays. 0 means none.
func (l *Line) Break(k int, f Fault) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statements, l.at, l.fault, l.struck, l.meanwhile = nil, k, f, false, nil
}

// Meanwhile calls happens right before the k-th statement from now on. It restarts the count.
func (l *Line) Meanwhile(k int, happens func()) {
	l.Break(0, Fault{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.meanwhile = map[int]func(){k: happens}
}

// Statements returns the texts that went over the line since the last Break or Meanwhile, or else since the
// beginning.
func (l *Line) Statements() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]string(nil), l.statements...)
}

// Struck reports whether the fault of Break has happened. It has not if the statement failed before on its
// own.
func (l *Line) Struck() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.struck
}

// next counts a statement, and returns its fault if it has one.
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

// through runs one statement, or its fault.
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
	return run() // on a broken connection the driver's own error
}

// halfCloser is a socket of any family.
type halfCloser interface{ CloseRead() error }

func (c *conn) socket() net.Conn { return c.Conn.Conn().PgConn().Conn() }

// raise makes the server raise an error, which breaks an open transaction. If the error ends the session, the
// connection is closed too.
func (c *conn) raise(ctx context.Context, state string) error {
	_, err := c.Conn.Conn().Exec(ctx,
		fmt.Sprintf(`DO $$ BEGIN RAISE EXCEPTION 'a test wants this' USING ERRCODE = '%s'; END $$`, state))
	if strings.HasPrefix(state, "57P") {
		_ = c.Conn.Conn().Close(ctx)
	}
	return err
}

// silence returns the driver's error for an answer that does not come.
func (c *conn) silence(ctx context.Context) error {
	_ = c.socket().(halfCloser).CloseRead()
	_, err := c.Conn.Conn().Exec(ctx, `SELECT`)
	return err
}
