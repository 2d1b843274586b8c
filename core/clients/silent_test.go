package clients_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core/clients"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// silent is a server that may stop answering, and keeps its connections.
type silent struct {
	driver.Connector
	now   atomic.Bool
	asked atomic.Int64 // reads while it does
}

func (s *silent) Connect(ctx context.Context) (driver.Conn, error) {
	made, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &silentConn{made.(*db.Conn), s}, nil
}

type silentConn struct {
	*db.Conn
	of *silent
}

func (c *silentConn) QueryContext(
	ctx context.Context, text string, values []driver.NamedValue,
) (driver.Rows, error) {
	if c.of.now.Load() {
		c.of.asked.Add(1)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return c.Conn.QueryContext(ctx, text, values)
}

// However many streams have a token checked again while the database is silent, they hold one connection, and
// not for long: none of them has a deadline.
func TestChecksOfATokenEndWhereTheDatabaseIsSilent(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	server := new(silent)
	pools, err := db.Open(dbtest.Shared(t),
		db.Options{Connections: 4, Connector: func(c driver.Connector) driver.Connector {
			server.Connector = c
			return server
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	token := b.issue("stream", b.client("stream")).AccessToken
	other := b.another(pools)
	if _, _, err := other.Clients.VerifyFor(context.Background(), token); err != nil {
		t.Fatal(err)
	}
	b.later(11 * time.Second) // it is checked again
	server.now.Store(true)
	var streams sync.WaitGroup
	for range 20 {
		streams.Go(func() {
			_, _, err := other.Clients.VerifyFor(context.Background(), token)
			if !errors.Is(err, clients.ErrUnavailable) {
				t.Error(err)
			}
		})
	}
	ended := make(chan struct{})
	go func() { streams.Wait(); close(ended) }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the checks wait for ever")
	}
	if n := server.asked.Load(); n != 1 {
		t.Errorf("%d reads for one token", n)
	}
	server.now.Store(false)
	if _, _, err := other.Clients.VerifyFor(context.Background(), token); err != nil {
		t.Errorf("once it answers again: %v", err)
	}
}
