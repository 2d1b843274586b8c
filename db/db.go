// Package db is the bank's way to PostgreSQL: one handle with two pools, pipelined reads,
// the one transaction helper, and the migrations.
package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// DB is the bank's database. The embedded Bun handle writes and does every read that is not hot; it sends
// each text with its values beside it (see binding), and prepares those of transactions that come again (see
// Conn.prepare). Batch reads what a request asked for in one round trip, on a pool of its own, prepared.
type DB struct {
	*bun.DB
	fresh   *pgxpool.Pool // reads of the database itself
	replica *replica      // nil: there is none

	readers, writers *places // of batches and of transactions: share.go
}

// PoolSize is how many connections a pool has unless Options say otherwise.
func PoolSize() int { return max(8, 4*runtime.GOMAXPROCS(0)) }

// Options set the size and the manners of the pools. The zero value is right for one server.
type Options struct {
	Connections int // of each pool; 0 means four for each processor, at least eight
	// hot reads are sent unprepared; nil: where they go through a pooler, as one in transaction mode may need
	Unprepared *bool
	ReadURL    string // a streaming replica that batches of known callers read from; empty: the database itself

	// What goes with ReadURL, the same for every process that serves the bank: see replica.
	// how far the replica may be behind; 0 means five seconds
	ReadLag time.Duration
	Caller  func(context.Context) (tenant int64, caller string, ok bool) // who reads and writes

	// Connector stands between the write pool and the driver, for tests that make things go wrong
	// (db/dbtest/faults).
	Connector func(driver.Connector) driver.Connector
	Tracer    pgx.QueryTracer // hears every statement, for tests (db/dbtest)
}

// mostPrepared is how many texts a connection keeps prepared, those that were asked for last. Callers can
// think up any number of them by the fields they ask for, and PostgreSQL keeps up to 90 kB for each, on each
// connection.
const mostPrepared = 300

var dialect = pgdialect.New()

// Open connects to the database behind a postgres:// URL or key=value text. It does not wait for the server.
// Of several hosts the primary counts: after a failover, connections to a server in recovery are refused, also
// where the address leads there for a while.
func Open(url string, options Options) (*DB, error) {
	size := options.Connections
	if size == 0 {
		size = PoolSize()
	}
	write, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	write.DefaultQueryExecMode = pgx.QueryExecModeExec
	write.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	bind(write)
	write.Tracer = options.Tracer
	primary := &way{unprepared: options.Unprepared}
	var connector driver.Connector = newBinder(write, primary)
	if options.Connector != nil {
		connector = options.Connector(connector)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxIdleTime(5 * time.Minute)

	fresh, err := openReads(url, size, primary, options.Tracer, pgconn.ValidateConnectTargetSessionAttrsPrimary)
	if err != nil {
		return nil, err
	}
	d := &DB{
		DB: bun.NewDB(pool, newBinding()).WithQueryHook(meterHook{}), fresh: fresh,
		readers: newPlaces(size), writers: newPlaces(max(1, size-1)), // one is left for what is no transaction
	}
	if options.ReadURL != "" {
		reads, err := openReads(options.ReadURL, size,
			&way{unprepared: options.Unprepared, patience: 2 * longestProbe}, options.Tracer, nil)
		if err != nil {
			fresh.Close()
			return nil, err
		}
		d.replica = follow(reads, fresh, options, size)
	}
	return d, nil
}

// openReads opens a pool for batches. suits refuses servers; nil for none.
func openReads(
	url string, size int, to *way, tracer pgx.QueryTracer, suits pgconn.ValidateConnectFunc,
) (*pgxpool.Pool, error) {
	read, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	read.MaxConns = int32(size)
	read.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	read.ConnConfig.StatementCacheCapacity, read.ConnConfig.DescriptionCacheCapacity = mostPrepared, mostPrepared
	read.BeforeConnect = to.prepare
	read.ConnConfig.ValidateConnect = suits
	bind(read.ConnConfig)
	read.ConnConfig.Tracer = tracer
	// Batches bound their own time (Send): a timer of the server's for each of their statements would cost
	// PostgreSQL a sixth of all that a customer with its lists costs it.
	read.ConnConfig.RuntimeParams["statement_timeout"] = "0"
	// One plan serves all values: the texts are written so that the generic plan is the good one.
	read.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	read.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on" // whatever the URL says
	pool, err := pgxpool.NewWithConfig(context.Background(), read)
	if err != nil {
		return nil, fmt.Errorf("open the read pool: %w", err)
	}
	return pool, nil
}

// Ready asks both pools whether a database answers that can be written to. A replica is not asked: the
// database answers in its place.
func (d *DB) Ready(ctx context.Context) error {
	const ask = `SELECT pg_is_in_recovery()`
	var standby, readsStandby bool
	if err := d.QueryRowContext(ctx, ask).Scan(&standby); err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}
	if err := d.fresh.QueryRow(ctx, ask).Scan(&readsStandby); err != nil {
		return fmt.Errorf("database does not answer reads: %w", err)
	}
	if standby || readsStandby { // behind a proxy a connection stays while its server changes
		d.fresh.Reset()
		return pgconn.ErrStandbyConnection
	}
	return nil
}

// Close waits for running statements and closes the pools.
func (d *DB) Close() error {
	if d.replica != nil {
		d.replica.close()
	}
	d.fresh.Close()
	return d.DB.Close()
}

// Pools tells how busy the pools are, for the metrics.
func (d *DB) Pools() (writes sql.DBStats, reads *pgxpool.Stat) {
	return d.Stats(), d.fresh.Stat()
}
