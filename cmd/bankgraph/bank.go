package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/audit"
	"bankgraph/core/payments"
	"bankgraph/core/tenants"
	"bankgraph/core/webhooks"
	"bankgraph/db"
	"bankgraph/db/cluster"
)

// bank is what every command works on: the services, on an open and migrated database.
type bank struct {
	*core.Core
	at   addresses
	as   string // who works at the command line
	stop func() // closes the pools, then the private database where this program started it

	posting sync.WaitGroup // what is being posted to webhooks, which stop waits for

	keyset     string // its file
	madeKeyset bool   // by this start
}

// addresses are those of the database: as the role that owns the schema and migrates, and as the role that
// the program works as, which the database holds to the rows of one bank at a time. An operator may have only
// one.
type addresses struct{ owner, service string }

// same refuses addresses that lead to two databases: the schema of the one would be changed, and the other
// served.
func (a addresses) same(ctx context.Context) error {
	err := db.SameDatabase(ctx, a.owner, a.service)
	if errors.Is(err, db.ErrOther) {
		return fmt.Errorf("nothing was changed: BANKGRAPH_MIGRATE_URL must name the same database as "+
			"BANKGRAPH_DATABASE_URL: %w", err)
	}
	return err
}

// migrate brings the schema up to date, and gives the service its rights on it.
func (a addresses) migrate(ctx context.Context) error {
	if err := a.same(ctx); err != nil {
		return err
	}
	if err := db.Migrate(ctx, a.owner); err != nil {
		return err
	}
	if err := db.Grant(ctx, a.owner, a.service); err != nil {
		return err
	}
	err := db.Bind(ctx, a.owner, a.service)
	if to, unreachable := db.WhyUnreachable(err); unreachable {
		slog.Warn("the service's role cannot connect, so its settings for poolers were not made: the next "+
			"\"bankgraph migrate\" makes them",
			"role", to.User, "database", to.Database, "at", to.At, "why", to.Why)
	} else if err != nil {
		slog.Warn("a pooler would lose the bounds of statements", "error", err, "see", "README, poolers")
	}
	return nil
}

// skip leaves out numbers that others know things by, if the database was restored or moved since a bank's
// record was signed last, or was put back: those that were given after the backup are out there, and not
// here.
func (a addresses) skip(ctx context.Context, checkpoints string) error {
	kept := audit.KeptPlaces{}
	if lines, err := os.Open(checkpoints); err == nil {
		_, err = kept.Read(lines)
		if err = errors.Join(err, lines.Close()); err != nil {
			return fmt.Errorf("read the checkpoints that were kept: %w", err)
		}
	} else if checkpoints != "" && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the checkpoints that were kept: %w", err)
	}
	d, err := db.Open(a.owner, db.Options{Connections: 2})
	if err != nil {
		return err
	}
	defer d.Close()
	moved, err := audit.Moved(ctx, d, kept)
	if err != nil || len(moved) == 0 {
		return err
	}
	times := slices.Max(slices.Collect(maps.Values(moved)))
	if err := db.SkipNumbers(ctx, a.owner, times); err != nil {
		return err
	}
	for tenant, times := range moved {
		if err := payments.SkipTraces(ctx, d, tenant, times, time.Now()); err != nil {
			return fmt.Errorf("skip numbers of ACH of bank %d: %w", tenant, err)
		}
	}
	slog.Warn("the database was restored or moved: numbers that were given since the backup are "+
		"not given again", "banks", len(moved), "skipped", times*db.Skipped)
	return nil
}

// open opens the bank for a command: on the private database through its socket while serve runs, and
// otherwise started for as long as the command takes. A folder that has no database gets none: what the
// command is to look at or to change is elsewhere.
func open(ctx context.Context, s *settings) (*bank, error) {
	if err := s.there(); err != nil {
		return nil, err
	}
	return openFirst(ctx, s)
}

// there returns an error for a data folder without a private database.
func (s *settings) there() error {
	if !s.private() || cluster.There(s.Data) {
		return nil
	}
	return fmt.Errorf("there is no data in %s: name the folder of the bank, that of serve, with --data or "+
		"BANKGRAPH_DATA. Only serve, work, demo, migrate and tenant add begin a new one", s.Data)
}

// openFirst is open for a command that makes the private database where there is none.
func openFirst(ctx context.Context, s *settings) (*bank, error) {
	at, stop, err := database(ctx, s)
	if err != nil {
		return nil, err
	}
	if s.private() {
		err = at.migrate(ctx)
	}
	if err != nil {
		stop()
		return nil, err
	}
	b, err := openAt(at, s, s.public(s.Addr), stop)
	if err != nil {
		return nil, err
	}
	if err := current(ctx, b.DB); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

// openSealing opens the bank for a command that seals values, or checks secrets: under its own keyset only.
func openSealing(ctx context.Context, s *settings) (*bank, error) { return sealing(ctx, s, open) }

// beginSealing is openSealing for a command that makes the private database where there is none.
func beginSealing(ctx context.Context, s *settings) (*bank, error) { return sealing(ctx, s, openFirst) }

func sealing(
	ctx context.Context, s *settings, open func(context.Context, *settings) (*bank, error),
) (*bank, error) {
	b, err := open(ctx, s)
	if err != nil {
		return nil, err
	}
	if err := b.fits(ctx); err != nil {
		b.stop()
		return nil, err
	}
	return b, nil
}

// database finds or starts the database.
func database(ctx context.Context, s *settings) (at addresses, stop func(), err error) {
	if !s.private() {
		return s.addresses(), func() {}, nil
	}
	url, end, err := cluster.Use(ctx,
		cluster.Options{Data: s.Data, Binaries: s.Postgres, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return addresses{}, nil, fmt.Errorf("private database: %w", err)
	}
	return privateAt(url), stopping(end, slog.Default()), nil
}

// privateAt are the addresses of a private database.
func privateAt(owner string) addresses { return addresses{owner, cluster.ServiceURL(owner)} }

// stopping ends the private database; that must also work when the command's own context has ended.
func stopping(end func(context.Context) error, log *slog.Logger) func() {
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := end(ctx); err != nil {
			log.Error("private database did not stop", "error", err)
		}
	}
}

// openAt opens keyset and pools on the database. It stops the database when it cannot.
func openAt(at addresses, s *settings, public string, stop func()) (*bank, error) {
	file := s.keyset()
	_, absent := os.Stat(file.Path)
	keys, err := file.Load()
	if err != nil {
		stop()
		return nil, s.withoutKeyset(err)
	}
	pools, err := db.Open(at.service,
		db.Options{
			Unprepared: s.Unprepared, ReadURL: s.ReadURL, ReadLag: s.ReadLag,
			Caller: access.Writer,
		})
	if err != nil {
		stop()
		return nil, err
	}
	unfollow := keys.Follow(time.Second,
		func(err error) { slog.Error("the keyset has changed and cannot be read", "error", err) })
	b := &bank{
		Core: core.New(core.Options{
			DB: pools, Keys: keys, PublicURL: public, Fetch: newFetch(),
			Webhooks: webhooks.Options{Loopback: s.webhooksOnLoopback()},
		}),
		at:         at,
		as:         s.operatorName(),
		keyset:     file.Path,
		madeKeyset: errors.Is(absent, fs.ErrNotExist),
	}
	b.stop = func() { b.posting.Wait(); unfollow(); _ = pools.Close(); stop() }
	return b, nil
}

// current refuses a schema older than this program. A newer one is fine: during an upgrade the old
// program runs on the new schema for a while.
func current(ctx context.Context, pools *db.DB) error {
	version, err := db.SchemaVersion(ctx, pools)
	if err != nil {
		return err
	}
	if version < db.LatestVersion() {
		return fmt.Errorf("the schema is at version %q and this program needs %s: run \"bankgraph migrate\"",
			version, db.LatestVersion())
	}
	return nil
}

// operator is the context for work on one bank: the named one, or the only one there is.
func (b *bank) operator(ctx context.Context, code string) (context.Context, *tenants.Tenant, error) {
	ctx = b.anywhere(ctx)
	if code == "" {
		all, err := b.Tenants.List(ctx)
		if err != nil {
			return nil, nil, err
		}
		if len(all) == 0 {
			return nil, nil, errors.New("there is no bank yet: run \"bankgraph tenant add\"")
		}
		if len(all) != 1 {
			return nil, nil, fmt.Errorf("there are %d banks: name one with --tenant (BANKGRAPH_TENANT)", len(all))
		}
		code = all[0].Code
	}
	tenant, err := b.Tenants.Find(ctx, code)
	if errors.Is(err, tenants.ErrNotFound) {
		return nil, nil, fmt.Errorf("%w: %s; \"bankgraph tenant list\" shows the banks", err, code)
	}
	if err != nil {
		return nil, nil, err
	}
	return access.OperatorAs(ctx, b.as, tenant.ID, tenant.Code, tenant.Location()), tenant, nil
}
