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

// Every statement has a bound: a lock is waited for 2 s, a statement runs 5 s (a batch of reads is given 5 s
// by Send), and an open transaction may idle for 10 s. The request's own deadline is longer than all of them.
//
// Connections ask for them as they start, which a pooler refuses or ignores. Behind one, transactions set
// those of writing for themselves, and Bind makes them the defaults of the service's role, so that what is
// read has them too; Loose tells where it has not.
var bounds = map[string]string{
	"lock_timeout":                        "2s",
	"statement_timeout":                   "5s",
	"idle_in_transaction_session_timeout": "10s",
	"standard_conforming_strings":         "on",
	"application_name":                    "bankgraph",
	"default_transaction_read_only":       "on",  // InTx and Load write, and nothing else
	"timezone":                            "GMT", // the one zone that needs no tzdata package on the server
	"client_encoding":                     "UTF8",
	"datestyle":                           "ISO, MDY",
	"bytea_output":                        "hex",
	"row_security":                        "on",
	"default_transaction_isolation":       "read committed",
}

// owning reads an address of who owns the tables. Its connections speak as the program expects, whatever the
// defaults of the role and the database are; what a pooler would refuse, settled adds.
func owning(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	for name := range kept {
		if name != "application_name" {
			config.RuntimeParams[name] = bounds[name]
		}
	}
	return config, nil
}

// settled are further settings of connections that migrate.
var settled = map[string]string{
	"row_security": "on", "default_transaction_read_only": "off",
	"default_transaction_isolation": "read committed",
}

// kept are the settings that every PgBouncer keeps for each of its clients.
var kept = map[string]bool{
	"standard_conforming_strings": true, "application_name": true, "timezone": true, "client_encoding": true,
	"datestyle": true,
}

// timeouts are the bounds that a transaction sets for itself.
var timeouts = []string{"lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"}

// boundsOf is the SQL that gives a transaction the bounds of its connection.
func boundsOf(config *pgx.ConnConfig) string {
	var text strings.Builder
	for _, name := range timeouts {
		fmt.Fprintf(&text, "SET LOCAL %s = %s; ", name, quoted(config.RuntimeParams[name]))
	}
	return text.String()
}

func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// bind lets connections ask for the bounds, where their URL does not say otherwise.
func bind(config *pgx.ConnConfig) {
	for name, value := range bounds {
		if _, given := config.RuntimeParams[name]; !given {
			config.RuntimeParams[name] = value
		}
	}
}

// way is how an address leads to its server: straight, or through a pooler that lends each transaction
// another connection. The first connection finds out.
type way struct {
	unprepared *bool         // nil: what suits
	patience   time.Duration // for a connection, where the URL does not say; 0: the driver's

	mu     sync.Mutex
	known  bool
	pooled bool
}

// prepare fits what a new connection asks for, and how it sends batches, to the way.
func (w *way) prepare(ctx context.Context, config *pgx.ConnConfig) error {
	if w.patience > 0 && config.ConnectTimeout > time.Minute { // the driver's default is two minutes
		config.ConnectTimeout = w.patience
	}
	pooled, err := w.found(ctx, config)
	if err != nil {
		return err
	}
	if pooled {
		config.RuntimeParams = maps.Clone(config.RuntimeParams) // which other connections share
		for name := range config.RuntimeParams {
			if _, ours := bounds[name]; name == "plan_cache_mode" || ours && !kept[name] {
				delete(config.RuntimeParams, name)
			}
		}
	}
	if config.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement &&
		(w.unprepared == nil && pooled || w.unprepared != nil && *w.unprepared) {
		// The driver learns each text's types once; then text and values go together, nothing stays prepared.
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

// pooledAt tells whether a pooler answers: it refuses settings, or it names another process than the one at
// work.
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

// Bind makes the bounds the defaults of the service's role in this database, where they hold behind any
// pooler: on the connections that it opens from then on. The role may do so itself, whoever owns the tables.
// One that owns them is left as it is, as it also migrates and restores.
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

// Loose says in words for the log which bounds the connections do not have, and what to do; nothing, where
// all hold.
func (d *DB) Loose(ctx context.Context) (ways []string, err error) {
	const reads = `SELECT current_setting('default_transaction_read_only') = 'on', current_setting('statement_timeout') <> '0'`
	var readOnly, timed, readsOnly bool
	if err = d.QueryRowContext(ctx, reads).Scan(&readOnly, &timed); err == nil {
		err = d.fresh.QueryRow(ctx, reads).Scan(&readsOnly, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("look at the bounds of the connections: %w", err)
	}
	if !readOnly || !readsOnly {
		ways = append(ways,
			"a statement outside of the program's transactions could write (default_transaction_read_only is off)")
	}
	if !timed {
		ways = append(ways, "a read may run without end (statement_timeout is 0)")
	}
	return ways, nil
}
