package db

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Every statement is bounded: it waits at most 2 s for a lock and runs at most 5 s (Send bounds a batch of
// reads to 5 s), and an open transaction may idle for 10 s. Each of these is no longer than the request's own
// deadline.
//
// Connections ask for the bounds when they start, which a pooler refuses or ignores. Behind a pooler, writing
// transactions set them for themselves, and Bind makes them the defaults of the service's role for reads.
// Loose reports bounds that are missing.
var bounds = map[string]string{
	"lock_timeout":                        "2s",
	"statement_timeout":                   "5s",
	"idle_in_transaction_session_timeout": "10s",
	"standard_conforming_strings":         "on",
	"application_name":                    "bankgraph",
	"default_transaction_read_only":       "on",  // only InTx and Load write
	"timezone":                            "GMT", // the only zone that needs no tzdata package on the server
	"client_encoding":                     "UTF8",
	"datestyle":                           "ISO, MDY",
	"bytea_output":                        "hex",
	"row_security":                        "on",
	"default_transaction_isolation":       "read committed",
}

// owning reads the URL of the tables' owner. It overrides defaults of the role and the database that the
// program does not expect; settled adds settings that a pooler would refuse. Of several hosts the primary
// counts.
func owning(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	hurry(config)
	config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsPrimary
	for name := range kept {
		if name != "application_name" {
			config.RuntimeParams[name] = bounds[name]
		}
	}
	return config, nil
}

// asOwner connects as the tables' owner.
func asOwner(ctx context.Context, url string) (*pgx.Conn, error) {
	config, err := owning(url)
	if err != nil {
		return nil, err
	}
	return pgx.ConnectConfig(ctx, config)
}

// longestHost is how long one host of a URL may take to let a program in.
const longestHost = 5 * time.Second

// hurry has a host that says nothing be passed over, unless the URL says when. The driver's two minutes would
// end no wait: the next host would not be tried in time, and connections that are made in vain would take all
// places of their pool, also when their callers have gone.
func hurry(config *pgx.ConnConfig) {
	if config.ConnectTimeout == 0 || config.ConnectTimeout > time.Minute {
		config.ConnectTimeout = longestHost
	}
}

// planning lists the settings of how reads are planned, which a pooler is not asked for.
var planning = map[string]string{
	// One plan serves all values: the queries are written so that the generic plan is a good one.
	"plan_cache_mode": "force_generic_plan",
	// Reads are small. A generic plan, which does not know the LIMIT, would start workers for them.
	"max_parallel_workers_per_gather": "0",
}

// settled lists further settings of connections that migrate.
var settled = map[string]string{
	"row_security": "on", "default_transaction_read_only": "off",
	"default_transaction_isolation": "read committed",
}

// kept lists the settings that every PgBouncer tracks for each client.
var kept = map[string]bool{
	"standard_conforming_strings": true, "application_name": true, "timezone": true, "client_encoding": true,
	"datestyle": true,
}

// timeouts lists the bounds that a transaction sets for itself.
var timeouts = []string{"lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"}

// boundsOf returns the SQL that sets a transaction's bounds to those of its connection.
func boundsOf(config *pgx.ConnConfig) string {
	var text strings.Builder
	for _, name := range timeouts {
		fmt.Fprintf(&text, "SET LOCAL %s = %s; ", name, quoted(config.RuntimeParams[name]))
	}
	return text.String()
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// bind makes connections ask for the bounds, unless their URL sets others.
func bind(config *pgx.ConnConfig) {
	hurry(config)
	for name, value := range bounds {
		if _, given := config.RuntimeParams[name]; !given {
			config.RuntimeParams[name] = value
		}
	}
}

// way says how a URL leads to its server: directly, or through a pooler that may give each transaction
// another connection. The first connection finds out.
type way struct {
	unprepared *bool // nil: only behind a pooler

	mu     sync.Mutex
	known  bool
	pooled bool
}

// prepare adapts the settings of a new connection, and how it sends batches, to the way.
func (w *way) prepare(ctx context.Context, config *pgx.ConnConfig) error {
	pooled, err := w.found(ctx, config)
	if err != nil {
		return err
	}
	if pooled {
		config.RuntimeParams = maps.Clone(config.RuntimeParams) // as other connections share the map
		for name := range config.RuntimeParams {
			_, ours := bounds[name]
			if _, plans := planning[name]; plans || ours && !kept[name] {
				delete(config.RuntimeParams, name)
			}
		}
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement &&
		(w.unprepared == nil && pooled || w.unprepared != nil && *w.unprepared) {
		// The driver asks for the types of each statement once. Then text and values go together, and nothing
		// stays prepared.
		config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return nil
}

func (w *way) found(ctx context.Context, config *pgx.ConnConfig) (pooled bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		if w.pooled, err = pooledAt(ctx, config); err != nil {
			return false, err
		}
		w.known = true
	}
	return w.pooled, nil
}

func (w *way) isPooled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pooled
}

// pooledAt reports whether a pooler answers: it refuses settings, or names another process than the one that
// works.
func pooledAt(ctx context.Context, config *pgx.ConnConfig) (bool, error) {
	conn, err := pgx.ConnectConfig(ctx, config)
	var refused *pgconn.PgError
	if errors.As(err, &refused) && refused.Code == "08P01" &&
		strings.Contains(refused.Message, "startup parameter") {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pooled(ctx, conn)
}

func pooled(ctx context.Context, conn *pgx.Conn) (bool, error) {
	var at uint32
	err := conn.QueryRow(ctx, "SELECT pg_backend_pid()", pgx.QueryExecModeSimpleProtocol).Scan(&at)
	return at != conn.PgConn().PID(), err
}

// Bind makes the bounds the defaults of the service's role in this database, which also apply behind a
// pooler, to connections opened from then on. Either the owner or the role itself may do so. A role that owns
// the tables is left alone, because it also migrates and restores.
func Bind(ctx context.Context, ownerURL, serviceURL string) error {
	owner, err := roleOf(ownerURL)
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	service, err := roleOf(serviceURL)
	if err != nil {
		return fmt.Errorf("bind: %w", err)
	}
	if owner == service {
		return nil
	}
	for _, url := range []string{ownerURL, serviceURL} { // not every owner may change another role
		if err = bindRole(ctx, url, service); err == nil {
			return nil
		}
	}
	return fmt.Errorf("make the bounds of statements the defaults of the role %q: %w", service, err)
}

func bindRole(ctx context.Context, url, role string) error {
	config, err := owning(url)
	if err != nil {
		return err
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeSimpleProtocol
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	return pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadWrite}, func(tx pgx.Tx) error {
		var database string
		err := tx.QueryRow(ctx, fmt.Sprintf("SELECT current_database() FROM pg_advisory_xact_lock(%d)", roleLock)).
			Scan(&database)
		if err != nil {
			return err
		}
		for name, value := range bounds {
			if name == "application_name" {
				continue
			}
			_, err := tx.Exec(ctx, fmt.Sprintf("ALTER ROLE %s IN DATABASE %s SET %s = %s",
				pgx.Identifier{role}.Sanitize(), pgx.Identifier{database}.Sanitize(), name, quoted(value)))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Loose returns, in words for the log, which bounds the connections lack and what to do; empty if none.
func (d *DB) Loose(ctx context.Context) (ways []string, err error) {
	const reads = `SELECT current_setting('default_transaction_read_only') = 'on',
		current_setting('statement_timeout') <> '0'`
	var readOnly, timed, readsOnly bool
	if err = d.QueryRowContext(ctx, reads).Scan(&readOnly, &timed); err == nil {
		err = d.fresh.QueryRow(ctx, reads).Scan(&readsOnly, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("look at the bounds of the connections: %w", err)
	}
	if !readOnly || !readsOnly {
		ways = append(ways,
			"a statement outside of the program's transactions could write "+
				"(default_transaction_read_only is off)")
	}
	if !timed {
		ways = append(ways, "a read may run without end (statement_timeout is 0)")
	}
	return ways, nil
}
