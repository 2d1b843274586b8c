package db

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"
)

// Shortage is the last error that a transaction of this process met because the server's disk was full, or it
// lacked memory or connections: one of class 53, or a connection that the server refused without being away.
// A full disk may show as one of another class then. It holds until a transaction has written again.
type Shortage struct {
	At    time.Time
	State string // SQLSTATE
	Text  string // the server's own words
}

// shortage keeps the present shortage.
type shortage struct {
	mu   sync.Mutex
	last *Shortage
}

// Shortage returns the present shortage of the server; ok is false if there is none.
func (d *DB) Shortage() (last Shortage, ok bool) {
	d.short.mu.Lock()
	defer d.short.mu.Unlock()
	if d.short.last == nil {
		return last, false
	}
	return *d.short.last, true
}

// note keeps the error of a transaction if it is a shortage, and forgets the one before if it has written.
func (s *shortage) note(err error, wrote bool) {
	var said *pgconn.PgError
	var refused *pgconn.ConnectError
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.As(err, &said) &&
		(strings.HasPrefix(said.Code, "53") || errors.As(err, &refused) && !away(said)):
		s.last = &Shortage{At: time.Now(), State: said.Code, Text: said.Message}
	case err == nil && wrote:
		s.last = nil
	}
}

// writesHook notes which transactions have written.
type writesHook struct{}

func (writesHook) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (writesHook) AfterQuery(ctx context.Context, of *bun.QueryEvent) {
	l, inside := ctx.Value(lastKey{}).(*last)
	if !inside || of.Err != nil || of.Result == nil {
		return
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(of.Query), " ") // to Bun, all raw queries are selects
	switch verb {
	case "INSERT", "UPDATE", "DELETE":
		rows, err := of.Result.RowsAffected()
		l.wrote = l.wrote || err == nil && rows > 0
	}
}
