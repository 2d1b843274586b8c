package db

import (
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/migrate"
)

//go:embed migrations
var embedded embed.FS

// Migrations holds the files of db/migrations.
var Migrations = must(fs.Sub(embedded, "migrations"))

const (
	// A migration that cannot get its table locks lets the traffic pass, and tries again.
	migrationLockTimeout = 2 * time.Second
	migrationTries       = 15
)

// Migration is one step of the schema.
type Migration struct {
	Version string    // its number, as text: 20261121000001
	Name    string    // the rest of the file name; empty if not Known
	Applied time.Time // zero: not applied
	Known   bool      // false: applied by a newer program than this one
}

// Migrate brings the database at url to the newest version. Programs that migrate at the same time wait for
// each other. Each migration is one transaction, including its row in bun_migrations, so it is applied as a
// whole or not at all, even after a kill. Versions applied by a newer program are left alone. url must not
// lead through a pooler in transaction mode (ErrPooled). Call Grant afterwards.
func Migrate(ctx context.Context, url string) error { return MigrateFrom(ctx, url, Migrations) }

// MigrateFrom is Migrate with other files than Migrations.
func MigrateFrom(ctx context.Context, url string, files fs.FS) error {
	err := migrating(ctx, url, files, func(s *migrations) error {
		if len(s.known.Sorted()) == 0 {
			return nil
		}
		_, err := s.up.Migrate(ctx)
		for try := 1; (IsTimeout(err) || IsRetryable(err)) && ctx.Err() == nil && try < migrationTries; try++ {
			time.Sleep(100*time.Millisecond + rand.N(time.Second))
			_, err = s.up.Migrate(ctx)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// MigrateDown undoes the newest applied migration and returns it. It returns [ErrNothingToUndo] if there is
// none.
func MigrateDown(ctx context.Context, url string) (Migration, error) {
	return MigrateDownFrom(ctx, url, Migrations)
}

// MigrateDownFrom is MigrateDown with other files than Migrations.
func MigrateDownFrom(ctx context.Context, url string, files fs.FS) (undone Migration, err error) {
	err = migrating(ctx, url, files, func(s *migrations) error {
		all, err := s.down.MigrationsWithStatus(ctx)
		if err != nil {
			return err
		}
		applied := all.Applied()
		if len(applied) == 0 {
			return ErrNothingToUndo
		}
		newest := slices.MaxFunc(applied, func(a, b migrate.Migration) int { return cmp.Compare(a.Name, b.Name) })
		undone = describe(newest)
		unknown, err := s.down.MissingMigrations(ctx)
		if err != nil {
			return err
		}
		for _, later := range unknown {
			if later.Name > newest.Name {
				return fmt.Errorf("%s was applied by a newer program; undo it with that one first", later.Name)
			}
		}
		if newest.Down == nil {
			return fmt.Errorf("%s has no .tx.down.sql", newest)
		}
		return newest.Down(ctx, s.down, &newest)
	})
	if err != nil {
		return undone, fmt.Errorf("migrate down: %w", err)
	}
	return undone, nil
}

// ErrNothingToUndo is returned when no migration is applied.
var ErrNothingToUndo = errors.New("no migration is applied")

// MigrationStatus lists the migrations that this program knows or the database has, oldest first.
func MigrationStatus(ctx context.Context, url string) ([]Migration, error) {
	var list []Migration
	err := migrating(ctx, url, Migrations, func(s *migrations) error {
		known, err := s.up.MigrationsWithStatus(ctx)
		if err != nil {
			return err
		}
		for _, m := range known {
			list = append(list, describe(m))
		}
		unknown, err := s.up.MissingMigrations(ctx)
		for _, m := range unknown {
			list = append(list, Migration{Version: m.Name, Applied: m.MigratedAt})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("migration status: %w", err)
	}
	slices.SortFunc(list, func(a, b Migration) int { return cmp.Compare(a.Version, b.Version) })
	return list, nil
}

// Banks counts the banks in the database at url, the owner's URL; 0 before the first migration.
func Banks(ctx context.Context, url string) (banks int, err error) {
	conn, err := asOwner(ctx, url)
	if err != nil {
		return 0, fmt.Errorf("count banks: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var there bool
	err = conn.QueryRow(ctx, "SELECT to_regclass('tenants') IS NOT NULL").Scan(&there)
	if err == nil && there {
		err = conn.QueryRow(ctx, "SELECT count(*) FROM tenants").Scan(&banks)
	}
	if err != nil {
		return 0, fmt.Errorf("count banks: %w", err)
	}
	return banks, nil
}

// SchemaVersion returns the newest applied version; empty if there is none. It takes no lock, as health
// checks use it.
func SchemaVersion(ctx context.Context, db bun.IDB) (string, error) {
	var there bool
	if err := db.NewSelect().ColumnExpr("to_regclass('bun_migrations') IS NOT NULL").Scan(ctx,
		&there); err != nil {
		return "", fmt.Errorf("schema version: %w", err)
	}
	if !there {
		return "", nil
	}
	var version string
	err := db.NewSelect().TableExpr("bun_migrations").
		ColumnExpr("coalesce(max(name), '')").Scan(ctx, &version) // all versions have the same length
	if err != nil {
		return "", fmt.Errorf("schema version: %w", err)
	}
	return version, nil
}

// LatestVersion returns the newest version that this program has.
func LatestVersion() string {
	known, err := discover(Migrations)
	if err != nil || len(known.Sorted()) == 0 {
		return ""
	}
	sorted := known.Sorted()
	return sorted[len(sorted)-1].Name
}

// ErrPooled is returned when the URL for migrations leads through a pooler, which would share the lock and
// the settings of the connection with others.
var ErrPooled = errors.New(
	"this address of the database leads through a pooler: name the server itself for migrations, in " +
		"BANKGRAPH_MIGRATE_URL")

// migrations migrates one database while this program holds the lock.
type migrations struct {
	known    *migrate.Migrations
	up, down *migrate.Migrator
}

// migrating runs do while it holds the advisory lock on a connection of its own. If the program is killed,
// the server releases the lock; bun's own lock, a table row, would stay.
func migrating(ctx context.Context, url string, files fs.FS, do func(*migrations) error) error {
	holder, config, err := lockMigrations(ctx, url)
	if err != nil {
		return err
	}
	defer holder.Close(context.WithoutCancel(ctx))

	config.DefaultQueryExecMode = pgx.QueryExecModeExec
	config.RuntimeParams["lock_timeout"] = fmt.Sprint(migrationLockTimeout.Milliseconds())
	config.RuntimeParams["statement_timeout"] = "0"
	maps.Copy(config.RuntimeParams, settled)
	db := bun.NewDB(stdlib.OpenDB(*config), pgdialect.New())
	defer db.Close()

	known, err := discover(files)
	if err != nil {
		return err
	}
	migrator := func(mark migrate.MigrationHook) *migrate.Migrator {
		return migrate.NewMigrator(db, known,
			migrate.WithMarkAppliedOnSuccess(true), // the default marks failed ones too
			migrate.WithUpsert(true),               // bun marks again after the commit; see mark
			migrate.AfterMigration(mark))
	}
	s := &migrations{known: known, up: migrator(mark), down: migrator(unmark)}
	if err := s.up.Init(ctx); err != nil {
		return err
	}
	return do(s)
}

// lockMigrations opens a connection that holds the migration lock until it is closed.
func lockMigrations(ctx context.Context, url string) (holder *pgx.Conn, config *pgx.ConnConfig, err error) {
	config, err = owning(url)
	if err != nil {
		return nil, nil, err
	}
	holder, err = pgx.ConnectConfig(ctx, config)
	if err != nil {
		return nil, nil, err
	}
	if through, found := pooled(ctx, holder); found != nil || through {
		_ = holder.Close(context.WithoutCancel(ctx))
		return nil, nil, cmp.Or(found, ErrPooled)
	}
	// The wait may last as long as another program's migration.
	if err = settle(ctx, holder); err == nil {
		_, err = holder.Exec(ctx, fmt.Sprintf("SELECT pg_advisory_lock(%d)", migrationLock))
	}
	if err != nil {
		_ = holder.Close(context.WithoutCancel(ctx))
		return nil, nil, err
	}
	return holder, config, nil
}

// settle sets up a connection that will take the lock, and refuses a database whose encoding is not UTF8.
func settle(ctx context.Context, holder *pgx.Conn) error {
	text := "SET lock_timeout = 0; SET statement_timeout = 0"
	for name, value := range settled {
		text += fmt.Sprintf("; SET %s = %s", name, quoted(value))
	}
	if _, err := holder.Exec(ctx, text); err != nil {
		return err
	}
	var encoding string
	if err := holder.QueryRow(ctx, "SHOW server_encoding").Scan(&encoding); err != nil || encoding == "UTF8" {
		return err
	}
	return fmt.Errorf(
		"the database has the encoding %s, which does not hold every name: create it with ENCODING 'UTF8' "+
			"TEMPLATE template0", encoding)
}

// Analyze updates the planner's statistics of all tables, after many rows were added. Only the owner of the
// tables may.
func Analyze(ctx context.Context, url string) error {
	conn, err := asOwner(ctx, url)
	if err == nil {
		defer conn.Close(context.WithoutCancel(ctx))
		_, err = conn.Exec(ctx, "ANALYZE")
	}
	if err != nil {
		return fmt.Errorf("analyze: %w", err)
	}
	return nil
}

// mark marks a migration as applied, in its transaction. bun does so after the commit; a kill in between
// would leave an applied migration that is tried again, and fails, at every start.
func mark(ctx context.Context, tx bun.IConn, m *migrate.Migration) error {
	_, err := tx.ExecContext(ctx, "INSERT INTO bun_migrations (name, group_id) VALUES (?, ?)", m.Name, m.GroupID)
	return err
}

func unmark(ctx context.Context, tx bun.IConn, m *migrate.Migration) error {
	_, err := tx.ExecContext(ctx, "DELETE FROM bun_migrations WHERE name = ?", m.Name)
	return err
}

func discover(files fs.FS) (*migrate.Migrations, error) {
	known := migrate.NewMigrations()
	return known, known.Discover(files)
}

func describe(m migrate.Migration) Migration {
	return Migration{Version: m.Name, Name: m.Comment, Applied: m.MigratedAt, Known: true}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
