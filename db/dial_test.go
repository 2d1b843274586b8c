package db_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/uptrace/bun"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

// slowWay proxies to the server with a delay: connecting takes longer than a transaction waits.
func slowWay(t *testing.T, to string, delay time.Duration) string {
	t.Helper()
	return wayThrough(t, to, func() bool { time.Sleep(delay); return true })
}

// wayThrough proxies the connections to the server that are let through; the others are kept, and hear
// nothing.
func wayThrough(t *testing.T, to string, lets func() bool) string {
	t.Helper()
	config, err := pgx.ParseConfig(to)
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				if !lets() {
					t.Cleanup(func() { _ = near.Close() })
					return
				}
				defer near.Close()
				far, err := net.Dial(network, address)
				if err != nil {
					return
				}
				defer far.Close()
				go func() { _, _ = io.Copy(far, near); _ = far.Close() }()
				_, _ = io.Copy(near, far)
			}()
		}
	}()
	way := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Host: listener.Addr().String(),
		Path: "/" + config.Database, RawQuery: "sslmode=disable",
	}
	return way.String()
}

func TestAConnectionThatTakesLongIsThereForTheNext(t *testing.T) {
	t.Parallel()
	d, err := db.Open(slowWay(t, dbtest.Shared(t), 1200*time.Millisecond), db.Options{Connections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for try := range 20 {
		err = d.InTx(t.Context(), 0, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewRaw(`SELECT 1`).Exec(ctx)
			return err
		})
		if err == nil {
			t.Logf("after %d that were told to come back", try)
			return
		}
		if !errors.Is(err, db.ErrBusy) {
			t.Fatal(err)
		}
	}
	t.Errorf("nobody gets one: %v", err)
}
