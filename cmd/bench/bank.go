package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/demo"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/db"
	"bankgraph/db/cluster"
)

// publicURL is the address in the issuer of the tokens; nobody calls it.
const publicURL = "http://bench.example"

// bank is a filled demo bank on a PostgreSQL of the bench's own.
type bank struct {
	work       string // a folder that is removed at the end
	url        string // of the database, for the service
	owner      string // of the database, for the owner of its tables
	keyset     string // file
	customers  int64
	token      string // of a caller who sees the whole bank
	writer     string // the token of a caller who may change it
	postmaster int    // PostgreSQL's first process
	zone       *time.Location
	version    string // of PostgreSQL
	size       string // of the database
	close      func() error
}

// openBank starts PostgreSQL on the data folder and fills a bank there unless it has one of this size.
func openBank(ctx context.Context, o options) (*bank, error) {
	work, err := os.MkdirTemp("", "bankgraph-bench-")
	if err != nil {
		return nil, err
	}
	remove := func() error { return os.RemoveAll(work) }
	if err := os.Chmod(work, 0o711); err != nil { // PostgreSQL of root runs as another user, who must enter it
		return nil, errors.Join(err, remove())
	}
	data := o.data
	if data == "" {
		data = filepath.Join(work, "data")
	}
	var settings map[string]string
	if o.statements {
		settings = loadStatements
	}
	private, err := cluster.Start(ctx, cluster.Options{Data: data, Settings: settings})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	b := &bank{
		work: work, url: cluster.ServiceURL(private.URL()), owner: private.URL(),
		keyset: filepath.Join(data, "keyset.json"), customers: int64(o.customers),
	}
	b.close = func() error {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		return errors.Join(private.Stop(ctx), remove())
	}
	if err := b.prepare(ctx); err != nil {
		return nil, errors.Join(err, b.close())
	}
	return b, nil
}

// openCore opens the core on a database. The file of its keyset is made if it is missing.
func openCore(url, keyset string, o db.Options) (*core.Core, error) {
	keys, err := seal.Load(keyset, true)
	if err != nil {
		return nil, err
	}
	pools, err := db.Open(url, o)
	if err != nil {
		return nil, err
	}
	return core.New(core.Options{DB: pools, Keys: keys, PublicURL: publicURL}), nil
}

// settings tell the program about the bank.
func (b *bank) settings() []string {
	return []string{
		"BANKGRAPH_DATABASE_URL=" + b.url, "BANKGRAPH_KEYSET=" + b.keyset,
		"BANKGRAPH_PUBLIC_URL=" + publicURL,
	}
}

func (b *bank) prepare(ctx context.Context) error {
	if err := db.Migrate(ctx, b.owner); err != nil {
		return err
	}
	if err := db.Grant(ctx, b.owner, b.url); err != nil {
		return err
	}
	c, err := openCore(b.url, b.keyset, db.Options{})
	if err != nil {
		return err
	}
	defer c.DB.Close()
	if err := b.fill(ctx, c); err != nil {
		return err
	}
	return b.look(ctx)
}

// fill makes the bank, its customers and an API key, if they are missing.
func (b *bank) fill(ctx context.Context, c *core.Core) error {
	operator := access.Operator(ctx, 0, "", nil)
	tenant, err := c.Tenants.Find(operator, "sandbox")
	if errors.Is(err, tenants.ErrNotFound) {
		tenant, err = c.Tenants.Add(operator, tenants.Draft{
			Code: "sandbox", Name: "Sandbox Bank", Zone: "America/New_York", Currency: "USD", Admin: "demo.admin",
			Sandbox: true,
		})
	}
	if err != nil {
		return err
	}
	var there int64
	if err := c.DB.NewRaw(`SELECT count(*) - 1 FROM customers
		WHERE tenant = ? AND cost_center <> ?`, tenant.ID, newcomers).Scan(ctx, &there); err != nil {
		return err
	}
	if there == 0 {
		started := time.Now()
		fmt.Fprintf(os.Stderr, "filling a demo bank of %d customers …", b.customers)
		if err := demo.Fill(ctx, c, tenant.ID, demo.Options{Customers: int(b.customers)}); err != nil {
			return err
		}
		fmt.Fprintf(os.Stderr, " %.0f s\n", time.Since(started).Seconds())
	} else if there != b.customers {
		return fmt.Errorf("the bank in this data folder has %d customers, not %d", there, b.customers)
	}
	b.zone = tenant.Location()
	operator = access.Operator(ctx, tenant.ID, tenant.Code, tenant.Location())
	if err := b.fund(operator, c, tenant); err != nil {
		return fmt.Errorf("fund accounts: %w", err)
	}
	if b.token, err = tokenOf(operator, c, "bench", access.Readers); err == nil {
		b.writer, err = tokenOf(operator, c, "bench-writer", access.Partners)
	}
	return err
}

// tokenOf makes a token of an API key, and the key with these permissions if it is missing.
func tokenOf(
	operator context.Context, c *core.Core, key string, permissions []access.Permission,
) (string, error) {
	draft := clients.Draft{Key: key}
	for _, permission := range permissions {
		draft.Permissions = append(draft.Permissions, string(permission))
	}
	if _, _, err := c.Clients.Add(operator, draft); err != nil && !errors.Is(err, clients.ErrExists) {
		return "", err
	}
	tokens, err := c.Clients.IssueUnasked(operator, key)
	return tokens.AccessToken, err
}

// look reads what the report says of the database.
func (b *bank) look(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	// In a bank that has run for a day, the visibility map is complete and readers need not set hint bits.
	var settled bool
	if err := conn.QueryRow(ctx, "SELECT relallvisible > 0 FROM pg_class WHERE relname = 'customers'").
		Scan(&settled); err != nil {
		return err
	}
	if !settled {
		if _, err := conn.Exec(ctx, "VACUUM ANALYZE"); err != nil {
			return err
		}
	}
	// After this, no checkpoint writes while a round runs.
	if _, err := conn.Exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	if b.postmaster, err = parentOf(int(conn.PgConn().PID())); err != nil {
		return err
	}
	return conn.QueryRow(ctx,
		"SELECT current_setting('server_version'), pg_size_pretty(pg_database_size(current_database()))").
		Scan(&b.version, &b.size)
}

// analyze tells the planner how large the tables have become that were empty at first, as in a bank that has
// run for a day.
func (b *bank) analyze(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, b.owner)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	_, err = conn.Exec(ctx, "ANALYZE")
	return err
}
