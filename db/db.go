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
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
)

// DB is the bank's database. The embedded Bun handle writes and does every read that is not hot;
// it sends each text with its values inside (exec mode), so it needs no prepared statements.
// Batch reads what a request asked for in one round trip, on a pool of its own, prepared.
type DB struct {
	*bun.DB
	reads *pgxpool.Pool
	fresh *pgxpool.Pool // reads of the database itself; the same pool where reads go to no replica

	readers, writers *places // of batches and of transactions: share.go
}

// Options set the size and the manners of the pools. The zero value is right for one server.
type Options struct {
	Connections int    // of each pool; 0 means four for each processor, at least eight
	Unprepared  bool   // for a PgBouncer older than 1.21 in transaction mode: hot reads are sent unprepared
	ReadURL     string // where batches read, such as a replica that may lag a little; empty: the database itself

	// Connector stands between the write pool and the driver, for tests that make things go wrong (db/dbtest/faults).
	Connector func(driver.Connector) driver.Connector
}

// Every statement has a bound: a lock is waited for 2 s, a statement runs 5 s (a batch of reads is given
// 5 s by Send), and an open transaction may idle for 10 s. The request's own deadline is longer than all of them.
var bounds = map[string]string{
	"lock_timeout":                        "2s",
	"statement_timeout":                   "5s",
	"idle_in_transaction_session_timeout": "10s",
	"standard_conforming_strings":         "on",
	"application_name":                    "bankgraph",
	"default_transaction_read_only":       "on",  // InTx and Load write, and nothing else
	"timezone":                            "GMT", // the one zone that needs no tzdata package on the server
}

var dialect = pgdialect.New()

// Open connects to the database behind a postgres:// URL or key=value text. It does not wait for the server.
func Open(url string, options Options) (*DB, error) {
	size := options.Connections
	if size == 0 {
		size = max(8, 4*runtime.GOMAXPROCS(0))
	}
	write, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	write.DefaultQueryExecMode = pgx.QueryExecModeExec
	bind(write)
	connector := stdlib.GetConnector(*write)
	if options.Connector != nil {
		connector = options.Connector(connector)
	}
	pool := sql.OpenDB(connector)
	pool.SetMaxOpenConns(size)
	pool.SetMaxIdleConns(size)
	pool.SetConnMaxIdleTime(5 * time.Minute)

	fresh, err := openReads(url, size, options.Unprepared)
	if err != nil {
		return nil, err
	}
	reads := fresh
	if options.ReadURL != "" {
		if reads, err = openReads(options.ReadURL, size, options.Unprepared); err != nil {
			fresh.Close()
			return nil, err
		}
	}
	return &DB{
		DB: bun.NewDB(pool, dialect).WithQueryHook(meterHook{}), reads: reads, fresh: fresh,
		readers: newPlaces(size), writers: newPlaces(max(1, size-1)), // one is left for what is no transaction
	}, nil
}

// openReads opens a pool for batches.
func openReads(url string, size int, unprepared bool) (*pgxpool.Pool, error) {
	read, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("read the database URL: %w", err)
	}
	read.MaxConns = int32(size)
	read.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	read.ConnConfig.StatementCacheCapacity, read.ConnConfig.DescriptionCacheCapacity = 1024, 1024
	if unprepared {
		// The driver learns each text's types once; then text and values go together, nothing stays prepared.
		read.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	bind(read.ConnConfig)
	// Batches bound their own time (Send): a timer of the server's for each of their statements would cost
	// PostgreSQL a sixth of all that a customer with its lists costs it.
	delete(read.ConnConfig.RuntimeParams, "statement_timeout")
	// One plan serves all values: the texts are written so that the generic plan is the good one.
	read.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
	read.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on" // whatever the URL says
	pool, err := pgxpool.NewWithConfig(context.Background(), read)
	if err != nil {
		return nil, fmt.Errorf("open the read pool: %w", err)
	}
	return pool, nil
}

func bind(config *pgx.ConnConfig) {
	for name, value := range bounds {
		if _, given := config.RuntimeParams[name]; !given {
			config.RuntimeParams[name] = value
		}
	}
}

// Ready asks both pools for an answer.
func (d *DB) Ready(ctx context.Context) error {
	if err := d.PingContext(ctx); err != nil {
		return fmt.Errorf("database does not answer: %w", err)
	}
	if err := d.reads.Ping(ctx); err != nil {
		return fmt.Errorf("database does not answer reads: %w", err)
	}
	return nil
}

// Close waits for running statements and closes both pools.
func (d *DB) Close() error {
	d.reads.Close()
	d.fresh.Close()
	return d.DB.Close()
}

// Pools tells how busy the pools are, for the metrics.
func (d *DB) Pools() (writes sql.DBStats, reads *pgxpool.Stat) {
	return d.Stats(), d.reads.Stat()
}
