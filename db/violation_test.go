package db_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"bankgraph/db"
	"bankgraph/db/dbtest"
)

func TestAnErrorMeansOneThing(t *testing.T) {
	t.Parallel()
	state := func(code string) error {
		return fmt.Errorf("pay: %w", &pgconn.PgError{Code: code, ConstraintName: "c"})
	}
	ended := func(severity, code string) error { return &pgconn.PgError{Severity: severity, Code: code} }
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, ""},
		{state("23505"), "unique"},
		{state("23514"), "check"},
		{state("40001"), "retryable"},
		{state("40P01"), "retryable"},
		{state("55P03"), "timeout"},
		{state("57014"), "timeout"},
		{context.DeadlineExceeded, "timeout"},
		{state("08006"), "unavailable"},
		{state("53100"), "unavailable"},
		{state("53300"), "unavailable"},
		{state("57P01"), "unavailable"},
		{state("57P03"), "unavailable"},
		{fmt.Errorf("read: %w", io.ErrUnexpectedEOF), "unavailable"},
		{pgconn.ErrConnClosed, "unavailable"},
		{ended("FATAL", "25P03"), "unavailable"},
		{ended("PANIC", "XX000"), "unavailable"},
		{ended("FATAL", "40001"), "retryable"}, // a standby that could replay no further
		{state("23503"), ""},
		{state("42P01"), ""},
		{context.Canceled, ""},
		{errors.New("something else"), ""},
	} {
		_, unique := db.UniqueViolation(c.err)
		_, check := db.CheckViolation(c.err)
		got := ""
		for name, is := range map[string]bool{
			"unique": unique, "check": check, "retryable": db.IsRetryable(c.err),
			"timeout": db.IsTimeout(c.err), "unavailable": db.IsUnavailable(c.err),
		} {
			if is {
				got += name
			}
		}
		if got != c.want {
			t.Errorf("%v means %q, want %q", c.err, got, c.want)
		}
		passes := got == "retryable" || got == "timeout" || got == "unavailable" ||
			errors.Is(c.err, context.Canceled)
		if db.IsPassing(c.err) != passes {
			t.Errorf("%v: passes is %t", c.err, !passes)
		}
	}
}

func TestAViolationNamesItsConstraint(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	conn := connect(t, url)
	_, err := conn.Exec(ctx,
		"CREATE TABLE things (n int CONSTRAINT one_only UNIQUE CONSTRAINT small CHECK (n < 10)); INSERT "+
			"INTO things VALUES (1)")
	if err != nil {
		t.Fatal(err)
	}
	_, err = conn.Exec(ctx, "INSERT INTO things VALUES (1)")
	if name, ok := db.UniqueViolation(err); !ok || name != "one_only" {
		t.Errorf("got %q from %v", name, err)
	}
	_, err = conn.Exec(ctx, "INSERT INTO things VALUES (11)")
	if name, ok := db.CheckViolation(err); !ok || name != "small" {
		t.Errorf("got %q from %v", name, err)
	}
}

func TestAMissingServerAndAKilledConnectionAreUnavailable(t *testing.T) {
	t.Parallel()
	ctx, url := context.Background(), dbtest.Owner(dbtest.URL(t))
	if _, err := pgx.Connect(ctx, "postgres://nobody@/none?host=/nonexistent"); !db.IsUnavailable(err) {
		t.Errorf("no server: %v", err)
	}
	victim := connect(t, url)
	if _, err := connect(t, url).Exec(ctx, "SELECT pg_terminate_backend($1)",
		victim.PgConn().PID()); err != nil {
		t.Fatal(err)
	}
	if err := victim.Ping(ctx); !db.IsUnavailable(err) {
		t.Errorf("first use of a killed connection: %v", err)
	}
	if err := victim.Ping(ctx); !db.IsUnavailable(err) {
		t.Errorf("second use of a killed connection: %v", err)
	}
}

// A server that lets nobody in is a database that cannot work at present, whatever it gives as the reason:
// with a full disk PostgreSQL may refuse each new connection with "could not write init file" (XX000).
func TestARefusedConnectionIsUnavailable(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"XX000", "58030", "58P01", "28P01", "3D000", "53300", "57P03", "08006"} {
		_, err := pgx.Connect(t.Context(), refusing(t, state))
		if !db.IsUnavailable(err) || !db.IsPassing(err) || db.IsTimeout(err) || db.IsRetryable(err) {
			t.Errorf("no connection, but not unavailable: %v", err)
		}
	}
}

// refusing returns the URL of a server that refuses every connection with this SQLSTATE.
func refusing(t *testing.T, state string) (url string) {
	t.Helper()
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
			server := pgproto3.NewBackend(near, near)
			if _, err := server.ReceiveStartupMessage(); err == nil {
				server.Send(&pgproto3.ErrorResponse{Severity: "FATAL", Code: state, Message: "refused"})
				_ = server.Flush()
			}
			_ = near.Close()
		}
	}()
	return "postgres://nobody@" + listener.Addr().String() + "/none?sslmode=disable"
}
