// Package db connects the bank to PostgreSQL: one handle with two pools, pipelined reads, the only way to
// write (InTx), and the migrations.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"maps"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// DB is the bank's database. The embedded Bun handle makes all writes, and reads that are not hot. It sends
// text and values separately (see binding), and prepares the statements that transactions repeat (see
// Conn.prepare). Batch makes the reads of a request in one round trip, prepared, on a pool of its own.
type DB struct {
	*bun.DB
	fresh   *pgxpool.Pool // reads from the primary
	replica *replica      // nil: none
	short   shortage

	readers, writers *places       // for batches and for transactions: see share.go
	patience         time.Duration // see Options

	reports   *bun.DB         // see Report
	reporting chan struct{}   // one at a time
	open      context.Context // ends when this is closed
	closing   func()
}

// PoolSize returns how many connections a pool has unless Options say otherwise.
func PoolSize() int { return max(8, 4*runtime.GOMAXPROCS(0)) }

// Options configure the pools. The zero value is right for a single server.
type Options struct {
	Connections int // of each pool; 0 means four for each processor, at least eight
	// how long a transaction waits for a connection; 0 means a second
	Patience time.Duration
	// batches are sent unprepared, as a pooler in transaction mode may need; nil: only behind a pooler
	Unprepared *bool
	ReadURL    string // a streaming replica for batches of known callers; empty: the primary

	// For ReadURL, and equal in every process that serves the bank (see replica): how far the replica may
	// lag, where 0 means five seconds, and who reads and writes.
	ReadLag time.Duration
	Caller  func(context.Context) (tenant int64, caller string, ok bool) // who reads and writes

	// Connector wraps the driver of the write pool, for tests that inject faults (db/dbtest/faults).
	Connector func(driver.Connector) driver.Connector
	Tracer    pgx.QueryTracer // sees every statement, for tests (db/dbtest)
}

// mostPrepared is how many statements a connection keeps prepared, the most recently used. Callers can cause
// any number of them by the fields they ask for, and each costs PostgreSQL up to 90 kB on each connection.
const mostPrepared = 300

var dialect = pgdialect.New()

// Open opens the pools for a postgres:// URL or a key=value text. It does not wait for the server.
// Connections to a server in recovery are refused: of several hosts the primary counts, and after a failover
// the address may lead to the demoted server for a while.
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
		DB: bun.NewDB(pool, newBinding()).WithQueryHook(meterHook{}).WithQueryHook(writesHook{}), fresh: fresh,
		readers: newPlaces(size), writers: newPlaces(max(1, size-1)), // one is left for other reads
		patience: cmp.Or(options.Patience, patience),
	}
	reports := sql.OpenDB(connector)
	// Reports often follow each other, one for each bank: they share connections, which then end soon.
	reports.SetMaxIdleConns(4)
	reports.SetConnMaxIdleTime(10 * time.Second)
	d.reports, d.reporting = bun.NewDB(reports, newBinding()), make(chan struct{}, 1)
	d.open, d.closing = context.WithCancel(context.Background())
	if options.ReadURL != "" {
		reads, err := openReads(options.ReadURL, size,
			&way{unprepared: options.Unprepared}, options.Tracer, nil)
		if err != nil {
			fresh.Close()
			return nil, err
		}
		d.replica = follow(reads, fresh, options, size)
	}
	return d, nil
}

// openReads opens a pool for batches. suits refuses servers, and may be nil.
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
	// Send bounds the time of batches. A timer of the server for each statement would cost a sixth of
	// PostgreSQL's time for a customer with its lists.
	read.ConnConfig.RuntimeParams["statement_timeout"] = "0"
	maps.Copy(read.ConnConfig.RuntimeParams, planning)
	read.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on" // whatever the URL says
	pool, err := pgxpool.NewWithConfig(context.Background(), read)
	if err != nil {
		return nil, fmt.Errorf("open the read pool: %w", err)
	}
	return pool, nil
}

// Ready checks that both pools get an answer from a server that can be written to. It does not check the
// replica, for which the primary can answer.
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

// Close waits for running statements, but ends a report, and closes the pools.
func (d *DB) Close() error {
	d.closing()
	_ = d.reports.Close()
	if d.replica != nil {
		d.replica.close()
	}
	d.fresh.Close()
	return d.DB.Close()
}

// Pools returns the statistics of the pools, for the metrics.
func (d *DB) Pools() (writes sql.DBStats, reads *pgxpool.Stat) {
	return d.Stats(), d.fresh.Stat()
}
