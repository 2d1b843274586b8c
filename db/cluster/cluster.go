// Package cluster runs bankgraph's private PostgreSQL. It finds the binaries, creates the data on the first
// start, recovers from the sudden death of the program or the server, and never deletes or upgrades data.
//
// Below the data folder (Options.Data) everything is in "postgresql", owned by the server's user:
//
//	pgdata/      the database cluster (pgdata.new while initdb works)
//	socket/      the only way in: a unix socket, mode 0700; no port, no password
//	server.log   what the server prints
//	lock         held (flock) by the one program that supervises this data
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	owner    = "bankgraph"         // the superuser that initdb creates
	service  = "bankgraph_service" // the role of the running service; db.Grant gives it its rights
	database = "bankgraph"

	lockPatience = 3 * time.Second // a program that was just killed may still hold the lock
)

// ErrInUse is returned when another program supervises this data. Its server can be used: see [Running].
var ErrInUse = errors.New("another program already runs the database on this data")

// Options say where the data is and how the server runs.
type Options struct {
	// Data is the program's data folder, created if missing. Required; see [DefaultData].
	Data string
	// Binaries is the folder that holds postgres and initdb. Empty: search the usual places.
	Binaries string
	// Log receives starts, stops, repairs and restarts. Nil: nothing is logged.
	Log *slog.Logger
	// Settings are added to the server's configuration and override ours.
	Settings map[string]string
	// Fast gives up safety against crashes of the machine for speed. For tests and throw-away data only.
	Fast bool
}

// Cluster is a running PostgreSQL that this program supervises: if the server dies, it is started again.
type Cluster struct {
	place    place
	binaries binaries
	settings map[string]string
	fast     bool
	log      *slog.Logger

	url        string
	lock       *os.File
	server     *server       // written only by supervise once started
	cancel     func()        // ends supervise
	supervised chan struct{} // closed when supervise has ended
}

// Start creates the data if there is none, starts the server or adopts the running one of a program that was
// killed, and creates the database. ctx bounds the start only. The server is stopped by [Cluster.Stop] and,
// on Linux, when this program dies. The PG… variables of libpq are removed from the program's environment, as
// they are about other databases. Start returns [ErrInUse] if another program supervises this data.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	c := &Cluster{
		settings: options.Settings,
		fast:     options.Fast,
		log:      options.Log,
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if err := c.start(ctx, options); err != nil {
		if c.server != nil {
			_ = c.server.halt(ctx, c.place, c.log) // the start's error says more
		}
		if c.lock != nil {
			_ = c.lock.Close()
		}
		return nil, fmt.Errorf("start PostgreSQL in %s: %w", options.Data, err)
	}
	supervision, cancel := context.WithCancel(context.WithoutCancel(ctx))
	c.cancel = cancel
	c.supervised = make(chan struct{})
	go c.supervise(supervision)
	return c, nil
}

// forgetEnvironment removes what libpq, and pgx like it, read of the environment: all of that is about
// another database than the private one. Some of it, such as PGOPTIONS and PGSERVICE, a URL cannot override.
func forgetEnvironment() {
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "PG") {
			_ = os.Unsetenv(name) // which fails for names that no environment has
		}
	}
}

func (c *Cluster) start(ctx context.Context, options Options) (err error) {
	forgetEnvironment()
	if c.place, err = newPlace(options.Data); err != nil {
		return err
	}
	if err = c.place.make(); err != nil {
		return err
	}
	if c.lock, err = lockFile(ctx, c.place.lock()); err != nil {
		return err
	}
	major, err := c.place.major()
	if err != nil {
		return err
	}
	if c.binaries, err = findBinaries(ctx, options.Binaries, major, c.place.user); err != nil {
		return err
	}
	if major == 0 {
		if err = c.initdb(ctx); err != nil {
			return err
		}
	}
	if c.server, err = c.launch(ctx); err != nil {
		return err
	}
	c.url = dsn(owner, c.server.socket, database)
	return prepare(ctx, c.url)
}

// URL returns the address of the database, for pgx and psql: over the socket, as the owner of everything.
func (c *Cluster) URL() string { return c.url }

// Binaries returns the folder of the server's programs (pg_dump and psql may be there too).
func (c *Cluster) Binaries() string { return c.binaries.folder }

// Stop stops the server: cleanly at first and, after 20 seconds or when ctx ends, by force. Open connections
// are cut; committed data is safe in every case.
func (c *Cluster) Stop(ctx context.Context) error {
	c.cancel()
	<-c.supervised
	defer c.lock.Close() // closing releases the lock
	if c.server == nil { // it died and could not be started again
		return nil
	}
	if err := c.server.halt(ctx, c.place, c.log); err != nil {
		return fmt.Errorf("stop PostgreSQL in %s: %w", c.place.folder, err)
	}
	c.place.forgetSocket()
	return nil
}

// supervise starts the server again whenever it dies. It alone writes c.server.
func (c *Cluster) supervise(ctx context.Context) {
	defer close(c.supervised)
	for pause := time.Duration(0); ; {
		if c.server != nil {
			select {
			case <-ctx.Done():
				return
			case <-c.server.exited:
			}
			c.log.Error("PostgreSQL died, starting it again", "pid", c.server.pid, "why", c.server.how)
			c.server = nil
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		var err error
		if c.server, err = c.launch(ctx); err != nil {
			if ctx.Err() != nil {
				return
			}
			c.log.Error("PostgreSQL does not start", "error", err)
			pause = min(max(2*pause, 200*time.Millisecond), 10*time.Second)
			continue
		}
		pause = 0
	}
}

// prepare creates the database and the role, if they do not exist.
func prepare(ctx context.Context, ownerURL string) error {
	config, err := pgx.ParseConfig(ownerURL)
	if err != nil {
		return err
	}
	config.Database = "postgres"
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for _, part := range []struct{ there, make string }{
		{"SELECT count(*) > 0 FROM pg_database WHERE datname = '" + database + "'", "CREATE DATABASE " + database},
		{
			"SELECT count(*) > 0 FROM pg_roles WHERE rolname = '" + service + "'",
			"CREATE ROLE " + service + " LOGIN",
		},
	} {
		var there bool
		if err := conn.QueryRow(ctx, part.there).Scan(&there); err != nil {
			return err
		}
		if there {
			continue
		}
		if _, failed := conn.Exec(ctx, part.make); failed != nil { // another program may have been faster
			if err := conn.QueryRow(ctx, part.there).Scan(&there); err != nil || !there {
				return errors.Join(failed, err)
			}
		}
	}
	return nil
}

// Running reports whether a server on this data folder answers, whoever supervises it, and returns the
// owner's URL. It changes nothing and takes no lock.
func Running(ctx context.Context, data string) (url string, ok bool) {
	p, err := newPlace(data)
	if err != nil {
		return "", false
	}
	status, err := readPidFile(p.pidFile())
	if err != nil || !status.ready() || !p.answers(ctx, status.socket) {
		return "", false
	}
	return dsn(owner, status.socket, database), true
}

// There reports whether a folder has the data of a database, whoever runs it.
func There(data string) bool {
	p, err := newPlace(data)
	if err != nil {
		return true // what is wrong with it, starting it tells
	}
	_, err = os.Stat(p.pgdata())
	return !errors.Is(err, fs.ErrNotExist)
}

// ServiceURL returns the address of the same database for the role of the running service, which owns
// nothing.
func ServiceURL(ownerURL string) string {
	return strings.Replace(ownerURL, "//"+owner+"@", "//"+service+"@", 1)
}

// Use returns the owner's URL of the database on options.Data: of the server that another program runs there,
// or else of one that it starts. Call stop when done; it leaves another program's server alone.
func Use(ctx context.Context, options Options) (url string, stop func(context.Context) error, err error) {
	for {
		if url, ok := Running(ctx, options.Data); ok {
			// It may lack the role: an older program started it, or a new one just now.
			return url, func(context.Context) error { return nil }, prepare(ctx, url)
		}
		c, err := Start(ctx, options)
		switch {
		case err == nil:
			return c.URL(), c.Stop, nil
		case !errors.Is(err, ErrInUse) || ctx.Err() != nil:
			return "", nil, err
		}
		// Another program holds the lock and is starting or stopping: try again.
	}
}

// lockFile holds the lock until the file is closed, which the kernel does if the program is killed.
func lockFile(ctx context.Context, path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); ; {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return file, sign(file)
		}
		if err = pause(ctx, 50*time.Millisecond); err == nil && time.Now().After(end) {
			err = inUse(path)
		}
		if err != nil {
			_ = file.Close()
			return nil, err
		}
	}
}

// pause sleeps, or returns early with the context's error.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// arguments returns the server's command line: our settings, then those of Fast, then the caller's; the last
// one wins.
func (c *Cluster) arguments() []string {
	settings := map[string]string{
		"cluster_name":            c.place.name, // in the title of every process; see process.go
		"listen_addresses":        "",
		"port":                    port,
		"unix_socket_directories": c.place.socket,
		"unix_socket_permissions": "0700",
		"max_connections":         "100",
		"shared_buffers":          "256MB",
		"effective_cache_size":    "1GB",
		"max_wal_size":            "2GB",
		"random_page_cost":        "1.1", // solid state disks
		"jit":                     "off", // our statements are short; compiling them costs more than it saves
		"timezone":                "GMT", // the only zone that needs no tzdata package on the machine
		"log_timezone":            "GMT",
		// Failed statements and key details would print customers' data into the log.
		"log_min_error_statement": "panic",
		"log_error_verbosity":     "terse",
		"log_checkpoints":         "off",
		"logging_collector":       "off",
		"log_destination":         "stderr",
	}
	if c.fast {
		maps.Copy(settings, map[string]string{
			"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off",
			"wal_level": "minimal", "max_wal_senders": "0", "shared_buffers": "64MB",
		})
	}
	maps.Copy(settings, c.settings)
	arguments := []string{"-D", c.place.pgdata()}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		arguments = append(arguments, "-c", name+"="+settings[name])
	}
	return arguments
}

func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// clean returns the absolute path without links, as the kernel reports it. The end of the path need not
// exist.
func clean(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for there, rest := path, ""; ; there, rest = filepath.Dir(there), filepath.Join(filepath.Base(there), rest) {
		if real, err := filepath.EvalSymlinks(there); err == nil {
			return filepath.Join(real, rest), nil
		}
		if there == filepath.Dir(there) {
			return path, nil
		}
	}
}
