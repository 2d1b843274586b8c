package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"bankgraph/db"
	"bankgraph/db/cluster"
)

// The time limits (core/README.md, time limits): lock 2 s < statement 5 s < request 10 s < write. A request
// that has not arrived completely in time is cut.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 10 * time.Second
	deadline      = 10 * time.Second
	writeTimeout  = 75 * time.Second // longer than the longest deadline, that of an upload
	idleTimeout   = 120 * time.Second
	largestHeader = 16 << 10
	mostStreams   = 32 // of an HTTP/2 connection; a stranger can begin as many at once
	largestBody   = 1 << 20
	finishTimeout = 15 * time.Second // what running requests may still take after a signal
	startPatience = 20 * time.Second // a predecessor may still be stopping
	portPatience  = time.Second      // a predecessor that was just killed may still hold the port
)

type serveCommand struct {
	MetricsAddr  string        `env:"BANKGRAPH_METRICS_ADDR" default:"127.0.0.1:0" placeholder:"HOST:PORT" help:"Private address of /metrics; a free port by default, which is logged."`
	Origins      []string      `env:"BANKGRAPH_ORIGINS" placeholder:"ORIGIN" help:"Origins of browser portals that may call, such as https://portal.bank.example."`
	Playground   *bool         `env:"BANKGRAPH_PLAYGROUND" negatable:"" help:"Serve the GraphQL playground; on with the demo bank, off elsewhere."`
	DemoAnywhere bool          `env:"BANKGRAPH_DEMO_ANYWHERE" help:"Serve the demo bank, whose keys everyone knows, on an address that is not loopback."`
	Customers    int           `env:"BANKGRAPH_DEMO_CUSTOMERS" default:"250" help:"Customers of a new demo bank (${default})."`
	Rate         int           `env:"BANKGRAPH_RATE" default:"250" help:"Requests that one API key, or one person, may send in a second, and one network whose callers are not known; the surplus is answered 429; 0: as many as they like (${default})."`
	NoWork       bool          `env:"BANKGRAPH_NO_WORK" help:"Leave the background work to bankgraph work."`
	InFlight     int           `env:"BANKGRAPH_IN_FLIGHT" default:"0" help:"Requests that are worked on at a time; 0: 8 for each processor. One caller has a quarter of them, and one bank half, while others want some."`
	Streams      int           `env:"BANKGRAPH_STREAMS" default:"1024" help:"Subscriptions that are open at a time; one caller has a quarter of them, and one bank half (${default})."`
	Drain        time.Duration `env:"BANKGRAPH_DRAIN" default:"0s" help:"How long to stay open but not ready after a signal, for the balancer to notice."`

	exposure
}

// Validate checks the flags before anything starts; kong calls it.
func (c *serveCommand) Validate() error {
	if err := checkAddress("--metrics-addr (BANKGRAPH_METRICS_ADDR)", c.MetricsAddr); err != nil {
		return err
	}
	for _, origin := range c.Origins {
		at, err := url.Parse(origin)
		if err != nil || at.Host == "" || at.User != nil || at.Scheme != "http" && at.Scheme != "https" ||
			at.Path+at.RawQuery+at.Fragment != "" {
			return fmt.Errorf("--origins (BANKGRAPH_ORIGINS): %q is not an origin such as https://portal.bank.example",
				origin)
		}
		usual := map[string]string{"http": ":80", "https": ":443"}[at.Scheme]
		if as := at.Scheme + "://" + strings.TrimSuffix(strings.ToLower(at.Host), usual); as != origin {
			return fmt.Errorf("--origins (BANKGRAPH_ORIGINS): browsers send %q as %s", origin, as)
		}
	}
	if c.Rate < 0 || c.InFlight < 0 || c.Drain < 0 || c.Customers < 0 || c.Streams < 0 {
		return errors.New("--rate, --in-flight, --streams, --drain and --customers cannot be below zero")
	}
	if err := checkCustomers(c.Customers); err != nil {
		return err
	}
	return c.exposure.check()
}

// Run serves until a signal comes, then stops gracefully. Nothing depends on a graceful stop: after a kill,
// the next start finds everything as it was.
func (c *serveCommand) Run(ctx context.Context, s *settings, t *terminal) error {
	lines := inBackground(t.errs)
	defer lines.close()
	log := logThrough(lines, t.errs)
	slog.SetDefault(log)
	outlive()
	useMemory(log)
	again := make(chan os.Signal, 1)
	signal.Notify(again, syscall.SIGUSR1)
	defer signal.Stop(again)

	secure, err := c.secured(s, log)
	if err != nil {
		return err
	}
	// The ports come first, so that a port in use is reported before a database is started.
	listener, metricsListener, err := c.listen(s)
	if err != nil {
		return err
	}
	defer listener.Close()
	defer metricsListener.Close()

	public := s.public(listener.Addr().String())
	if secure != nil && s.PublicURL == "" {
		public = strings.Replace(public, "http:", "https:", 1)
	}
	b, err := c.open(ctx, s, public, log)
	if err != nil {
		return err
	}
	defer b.stop()
	demo, err := c.demo(ctx, s, b, t)
	if err != nil {
		return err
	}
	next, err := b.next(ctx, demo)
	if err != nil {
		return err
	}
	kept, err := c.kept(s, log, t)
	if err != nil {
		return err
	}
	var stopping atomic.Bool
	meters := newMeters(b.DB)
	lines.counted(meters)
	health := newHealth(meters)
	doors := openDoors(listener, c, secure, meters)
	front := c.handler(b, meters, health, demo, stopping.Load)
	server := newServer(doors.count(front), log)
	server.TLSConfig, server.ConnState, server.ConnContext = secure, doors.state, doors.context
	metrics := newServer(meters.handler(readiness(b.Core, health, stopping.Load, true)), log)
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(doors) }()
	go func() { failed <- metrics.Serve(metricsListener) }()
	jobs := []job{health.job(b, kept)}
	defer foldRefusals(ctx, log, b)()
	if !c.NoWork {
		jobs = append(jobs, b.jobs(s, kept, meters, log)...)
	}
	// The jobs run until the last request has ended; the last tick ends before the pools close.
	defer work(context.WithoutCancel(ctx), log, b.Tenants.List, b.Live.Listeners, jobs)()
	log.Info("serving", "address", listener.Addr().String(), "metrics", metricsListener.Addr().String(), "demo",
		demo)
	c.warn(s, public, log)
	err = welcoming(ctx, failed, again,
		func() { c.welcome(t, public, metricsListener.Addr().String(), demo, next) })
	if ctx.Err() != nil {
		log.Info("stopping: no longer ready", "drain", c.Drain)
	}
	stopping.Store(true)
	if err == nil {
		time.Sleep(c.Drain)
	}
	return errors.Join(err, finish(server, metrics, front.streams, log))
}

// secured returns how connections are secured, nil where they are not, if they may be as the settings say.
func (c *serveCommand) secured(s *settings, log *slog.Logger) (*tls.Config, error) {
	if err := c.permits(s.Addr); err != nil {
		return nil, err
	}
	if err := c.boundByFiles(log, openFiles()); err != nil {
		return nil, err
	}
	return c.config(log)
}

// listen opens the port of the bank and that of the metrics.
func (c *serveCommand) listen(s *settings) (bank, metrics net.Listener, err error) {
	if bank, err = listen(s.Addr); err != nil {
		return nil, nil, err
	}
	if metrics, err = listen(c.MetricsAddr); err != nil {
		bank.Close()
		return nil, nil, fmt.Errorf("metrics: %w", err)
	}
	return bank, metrics, nil
}

// kept opens the file of checkpoints. A process without workers does not need it: those of others use it.
func (c *serveCommand) kept(s *settings, log *slog.Logger, t *terminal) (*keptFile, error) {
	kept := s.kept(log, newLog(t.errs))
	if err := kept.open(); err != nil {
		if !c.NoWork {
			return nil, err
		}
		kept.path = ""
	}
	return kept, nil
}

// warn tells of settings that fit the others badly.
func (c *serveCommand) warn(s *settings, public string, log *slog.Logger) {
	if c.BehindProxy && len(c.TrustedProxies) == 0 && c.Rate > 0 {
		log.Warn("BANKGRAPH_TRUSTED_PROXIES is not set: all strangers who come through the proxy "+
			"share one rate", "see", "README, fair shares")
	}
	if slices.ContainsFunc(c.TrustedProxies, func(from netip.Prefix) bool { return from.Bits() == 0 }) {
		log.Warn("BANKGRAPH_TRUSTED_PROXIES trusts everybody: who connects may name any address as its own",
			"see", "README, fair shares")
	}
	if !loopback(s.Addr) && s.PublicURL == "" {
		log.Warn("BANKGRAPH_PUBLIC_URL is not set: tokens name " + public + " as their issuer")
	}
}

// open starts the private database, or connects to the configured one, brings its schema up to date and opens
// the bank on it.
func (c *serveCommand) open(
	ctx context.Context, s *settings, public string, log *slog.Logger,
) (*bank, error) {
	at, stop := s.addresses(), func() {}
	if s.private() {
		if info, err := os.Stat(s.Data); err == nil && info.Mode()&0o002 != 0 {
			log.Warn("everybody on this machine may replace the keys and the database: run \"chmod "+
				"o-w\" on the data folder, and look whose files it has", "data", s.Data)
		}
		log.Info("starting the private PostgreSQL", "data", s.Data)
		private, err := startCluster(ctx, cluster.Options{Data: s.Data, Binaries: s.Postgres, Log: log})
		if err != nil {
			return nil, fmt.Errorf("private database: %w", err)
		}
		at, stop = privateAt(private.URL()), stopping(private.Stop, log)
	}
	b, err := openAt(at, s, public, stop)
	if err != nil {
		return nil, err
	}
	if err := b.ready(ctx, log); err != nil {
		b.stop()
		return nil, err
	}
	if err := b.fits(ctx); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

// ready brings the schema up to date, and warns if the second wall between banks, row security and grants, is
// weak. If the service's role may not migrate, "bankgraph migrate" can do it before.
func (b *bank) ready(ctx context.Context, log *slog.Logger) error {
	behind := current(ctx, b.DB)
	if behind != nil {
		log.Info("bringing the schema up to date", "version", db.LatestVersion())
	}
	if b.at.owner != b.at.service || behind != nil {
		err := b.at.migrate(ctx)
		if err != nil && !db.IsUnavailable(err) {
			err = errors.Join(err, behind) // which says what to run
		}
		if err != nil {
			return err
		}
	}
	ways, err := b.DB.Weak(ctx)
	for _, way := range ways {
		log.Warn("the second wall between banks is weak: "+way, "see", "README, two roles")
	}
	if err != nil {
		return err
	}
	ways, err = b.DB.Loose(ctx)
	for _, way := range ways {
		log.Warn("behind a pooler, the bounds of statements are settings of the service's role, which "+
			"\"bankgraph migrate\" makes: "+
			way, "see", "README, poolers")
	}
	return err
}

// listen listens on the address. If it is in use, it waits for a moment.
func listen(address string) (net.Listener, error) {
	for end := time.Now().Add(portPatience); ; time.Sleep(50 * time.Millisecond) {
		listener, err := net.Listen("tcp", address)
		if !errors.Is(err, syscall.EADDRINUSE) {
			return listener, err
		}
		if time.Now().After(end) {
			return nil, fmt.Errorf(
				"another program serves on %s, maybe a bankgraph that was started before: stop it, or choose another "+
					"address (--addr, BANKGRAPH_ADDR); a second bank beside the first also needs a data "+
					"folder of its own (--data, BANKGRAPH_DATA): %w",
				address, err)
		}
	}
}

// startCluster starts the private database. It waits for another command that may be stopping it.
func startCluster(ctx context.Context, options cluster.Options) (*cluster.Cluster, error) {
	for end, said := time.Now().Add(startPatience), false; ; {
		private, err := cluster.Start(ctx, options)
		if !errors.Is(err, cluster.ErrInUse) || time.Now().After(end) || ctx.Err() != nil {
			return private, err
		}
		if !said {
			options.Log.Warn("waiting a while for another program on this data to stop", "seconds",
				int(startPatience.Seconds()), "error", err)
			said = true
		}
	}
}

func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    largestHeader,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams: mostStreams, SendPingTimeout: idleTimeout / 4, PingTimeout: headerTimeout,
		},

		DisableGeneralOptionsHandler: true, // the handler answers OPTIONS * too
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}

// finish stops accepting connections, ends streams, waits for running requests, and cuts those that take too
// long.
func finish(server, metrics *http.Server, streams *streams, log *slog.Logger) error {
	ctx, cancel := context.WithTimeout(context.Background(), finishTimeout)
	defer cancel()
	streams.stop()
	err := errors.Join(server.Shutdown(ctx), streams.wait(ctx)) // Shutdown knows nothing of WebSockets
	if err != nil {
		log.Warn("requests were still running and are cut", "error", err)
		err = server.Close()
	}
	log.Info("stopped")
	return errors.Join(err, metrics.Close())
}
