// Package dbtest gives tests a real PostgreSQL: a migrated database of their own in milliseconds.
//
// Each test binary starts its own throw-away server on the first call, from a copy of a data folder that was
// created and migrated once (about 0.2 s instead of 1 to 2 s). The server ends with the binary, even if that
// is killed. BANKGRAPH_TEST_DATABASE_URL names another server to use instead; its user must be a superuser.
//
// Tests run with the rights of the service, so that each of them tests the second wall (row security and
// grants): everything is written in a transaction of one bank (db.InTx), and append-only tables are never
// changed. Tests that break rows by hand use the address that Owner returns.
package dbtest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/db"
)

// template is the name of the migrated database that all others are copies of. It contains the migrations'
// hash.
var template = "bankgraph_test_" + schemaHash()

// service is the role that tests run as. Sessions log in as the server's user and then switch to it.
const service = "bankgraph_test_service"

// Owner returns the address of the same database for the owner of its tables, who is not bound by row
// security and writes without db.InTx.
func Owner(url string) string {
	return strings.Replace(url, "role="+service, "default_transaction_read_only=off", 1)
}

// URL returns the address of a new, migrated database, which is dropped when the test ends.
func URL(t testing.TB) string {
	t.Helper()
	admin := server(t)
	name := fmt.Sprintf("%s_%d_%d", template, os.Getpid(), count.Add(1))
	create(t, admin, name)
	t.Cleanup(func() {
		execute(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	})
	return in(t, admin, name)
}

// Copy returns the address of a copy of another database, like a restored backup, which is dropped when the
// test ends. Connections to the other one are cut.
func Copy(t testing.TB, url string) string {
	t.Helper()
	admin := server(t)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("%s_%d_%d", template, os.Getpid(), count.Add(1))
	conn := connect(t, admin)
	defer conn.Close(context.Background())
	for deadline := time.Now().Add(20 * time.Second); ; {
		_, err := conn.Exec(context.Background(),
			"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", config.Database)
		if err == nil {
			_, err = conn.Exec(context.Background(),
				"CREATE DATABASE "+name+" TEMPLATE "+config.Database+" STRATEGY file_copy")
		}
		if err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { execute(t, admin, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return in(t, admin, name)
}

var count atomic.Int64

// Shared returns the address of one migrated database for the whole test binary, for tests that each add a
// tenant of their own. It ends with the throw-away server; on a server that BANKGRAPH_TEST_DATABASE_URL names
// it stays, as bankgraph_test_..._shared_PID.
func Shared(t testing.TB) string {
	t.Helper()
	admin := server(t)
	name := fmt.Sprintf("%s_shared_%d", template, os.Getpid())
	shared.Do(func() { create(t, admin, name) })
	return in(t, admin, name)
}

var shared sync.Once

// server returns the URL of the server's maintenance database, once the template exists.
func server(t testing.TB) string {
	t.Helper()
	once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		defer cancel()
		if external := os.Getenv("BANKGRAPH_TEST_DATABASE_URL"); external != "" {
			serverURL, serverErr = external, makeTemplate(ctx, external)
			return
		}
		serverURL, serverErr = startThrowAway(ctx)
	})
	if serverErr != nil {
		t.Fatalf("test database: %v", serverErr)
	}
	return serverURL
}

var (
	once      sync.Once
	serverURL string
	serverErr error
)

// makeTemplate creates the migrated template database, unless it exists. A lock keeps test binaries that
// share an external server from creating it twice, and the rename at the end prevents a half-made one.
func makeTemplate(ctx context.Context, admin string) error {
	conn, err := pgx.Connect(ctx, admin)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock(hashtext($1))", template); err != nil {
		return err
	}
	var there bool
	err = conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", template).
		Scan(&there)
	if err != nil || there {
		return err
	}
	raw := template + "_raw"
	for _, statement := range []string{
		"DROP DATABASE IF EXISTS " + raw + " WITH (FORCE)",
		"CREATE DATABASE " + raw + " TEMPLATE template0",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	url, err := withDatabase(admin, raw)
	if err != nil {
		return err
	}
	if err := db.Migrate(ctx, Owner(url)); err != nil {
		return err
	}
	if err := makeService(ctx, conn); err != nil {
		return err
	}
	if err := db.Grant(ctx, Owner(url), url); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "ALTER DATABASE "+raw+" RENAME TO "+template)
	return err
}

// makeService creates the role, unless a template of other migrations on the same server already did.
func makeService(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `DO $$ BEGIN
		CREATE ROLE `+service+` NOLOGIN;
	EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
	END $$`)
	return err
}

func create(t testing.TB, admin, name string) {
	t.Helper()
	// file_copy with fsync off takes half as long as the default, which writes every page to the log.
	execute(t, admin, "CREATE DATABASE "+name+" TEMPLATE "+template+" STRATEGY file_copy")
}

func execute(t testing.TB, admin, statement string) {
	t.Helper()
	conn := connect(t, admin)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

func connect(t testing.TB, admin string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), admin)
	if err != nil {
		t.Fatalf("connect to the test server: %v", err)
	}
	return conn
}

func in(t testing.TB, admin, name string) string {
	t.Helper()
	url, err := withDatabase(admin, name)
	if err != nil {
		t.Fatal(err)
	}
	return url
}

// Unhurried returns the URL with longer bounds of locks and statements than in service, for tests that are
// not about them: the machine may be busy.
func Unhurried(url string) string {
	return url + "&lock_timeout=30s&statement_timeout=60s&idle_in_transaction_session_timeout=90s"
}

// withDatabase returns the URL with another database name, for the service's role.
func withDatabase(admin, name string) (string, error) {
	scheme, rest, found := strings.Cut(admin, "://")
	if !found {
		return "", fmt.Errorf("test database: want a URL postgres://..., got %q", admin)
	}
	rest, query, _ := strings.Cut(rest, "?")
	host, _, _ := strings.Cut(rest, "/")
	if query != "" {
		query += "&"
	}
	return scheme + "://" + host + "/" + name + "?" + query + "role=" + service, nil
}
