package main

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"bankgraph/core/changes"
	"bankgraph/db/cluster"
)

// program is all commands with their arguments. Only here are flags and environment variables (BANKGRAPH_…)
// read; --help lists them.
type program struct {
	settings `group:"Settings that several commands share:"`

	Version kong.VersionFlag `help:"Print the version of the program and of the schema that it needs."`

	Serve       serveCommand       `cmd:"" help:"Serve GraphQL and REST. Without a database URL: on a private PostgreSQL, with a demo bank."`
	Work        workCommand        `cmd:"" help:"Do only the background work, beside any number of serve."`
	Migrate     migrateCommand     `cmd:"" help:"Bring the database schema up to date, undo its last step, or show where it stands."`
	Demo        demoCommand        `cmd:"" help:"Fill the demo bank with customers."`
	Tenant      tenantCommand      `cmd:"" help:"Banks."`
	Banks       banksCommand       `cmd:"" help:"The directory of banks that payments go to: read in and looked up."`
	Client      clientCommand      `cmd:"" help:"API keys of a bank."`
	Fee         feeCommand         `cmd:"" help:"Fees that a bank is configured for, with their prices."`
	Reporting   reportingCommand   `cmd:"" help:"Keys of what contacts report to regulators."`
	User        userCommand        `cmd:"" help:"Who the people of a bank are at its identity providers."`
	Issuer      issuerCommand      `cmd:"" help:"Identity providers whose access tokens a bank accepts."`
	Audit       auditCommand       `cmd:"" help:"The record of who did what: take it out, and prove it."`
	Clock       clockCommand       `cmd:"" help:"Show the clock of a sandbox bank, and move it on: what is due meanwhile happens at its time."`
	Screening   screeningCommand   `cmd:"" help:"The lists of names that payments over the networks are compared with."`
	Sending     sendingCommand     `cmd:"" help:"What leaves for the payment networks, which waits for an operator after a restore."`
	Proof       proofCommand       `cmd:"" help:"Prove the books: every journal balances, every balance is what its postings say. Exit status 1 where one is not."`
	Attribute   attributeCommand   `cmd:"" help:"Custom attributes of a bank's customers and accounts."`
	Permissions permissionsCommand `cmd:"" help:"Report who may do what, for each operation and field, as CSV."`
	Token       tokenCommand       `cmd:"" help:"Print an access token of an API key, for use in curl."`
	Keyset      keysetCommand      `cmd:"" help:"The keys that values are sealed under: make them, rotate them, wrap them."`
}

// settings are shared by several commands.
type settings struct {
	keysetOpening

	Data        string        `env:"BANKGRAPH_DATA" default:"${data}" placeholder:"FOLDER" help:"Folder of the private database and its keyset (${default})."`
	DatabaseURL string        `name:"database-url" env:"BANKGRAPH_DATABASE_URL" placeholder:"URL" help:"PostgreSQL 15 or newer to use instead of a private one."`
	MigrateURL  string        `name:"migrate-url" env:"BANKGRAPH_MIGRATE_URL" placeholder:"URL" help:"The same database as the role that owns its tables, past any pooler. The role of the database URL then owns nothing, and gets its rights from \"migrate\"."`
	ReadURL     string        `name:"read-url" env:"BANKGRAPH_READ_URL" placeholder:"URL" help:"A streaming replica of the database that reads go to while it is well; set it for every process of the bank. The database itself if not set."`
	ReadLag     time.Duration `env:"BANKGRAPH_READ_LAG" default:"5s" help:"How far the replica may be behind; further behind, it is not read from (${default})."`
	Unprepared  *bool         `env:"BANKGRAPH_UNPREPARED" negatable:"" help:"Send reads unprepared; on through a pooler, off elsewhere. A PgBouncer since 1.21 with max_prepared_statements can do without."`
	Postgres    string        `env:"BANKGRAPH_POSTGRES" placeholder:"FOLDER" help:"Folder of the PostgreSQL programs for the private database; searched for if not set."`
	Keys        string        `name:"keyset" env:"BANKGRAPH_KEYSET" placeholder:"FILE" help:"Keyset that account numbers and secrets are sealed with. Needed with a database URL; the private database has its own under --data."`
	Checkpoints string        `name:"audit-checkpoints" env:"BANKGRAPH_AUDIT_CHECKPOINTS" placeholder:"FILE" help:"File that every signed checkpoint of the audit chain is appended to, best on another machine's disk; under --data for the private database, and the log with a database URL, if not set."`
	KeepEvents  time.Duration `name:"keep-events" env:"BANKGRAPH_KEEP_EVENTS" default:"2160h" placeholder:"TIME" help:"How long events stay in the feed (${default}, which is 90 days); what they tell of stays in the record."`
	KeepKeys    time.Duration `name:"keep-keys" env:"BANKGRAPH_KEEP_KEYS" default:"168h" placeholder:"TIME" help:"How long idempotency keys stay in the database (${default}); they count for seven days."`
	Loopback    *bool         `name:"webhooks-loopback" env:"BANKGRAPH_WEBHOOKS_LOOPBACK" negatable:"" help:"Let webhooks of sandbox banks lead to this machine, over plain http too; on with the demo bank on a loopback address, off elsewhere."`
	ProveEvery  time.Duration `name:"prove-every" env:"BANKGRAPH_PROVE_EVERY" default:"6h" placeholder:"TIME" help:"How often the workers prove the books of each bank (${default}), which /metrics tells of; 0 for never."`
	Addr        string        `env:"BANKGRAPH_ADDR" default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to serve on (${default})."`
	As          string        `name:"as" env:"BANKGRAPH_AS" placeholder:"NAME" help:"Who works at the command line, for the record; the login of this machine if not set."`
	PublicURL   string        `name:"public-url" env:"BANKGRAPH_PUBLIC_URL" placeholder:"URL" help:"Address that callers know this service by; the issuer's name in tokens. http://ADDR if not set."`
}

// Validate checks the settings before anything starts; kong calls it.
func (s *settings) Validate() error {
	if err := checkAddress("--addr (BANKGRAPH_ADDR)", s.Addr); err != nil {
		return err
	}
	if s.Data == "" && s.DatabaseURL == "" {
		return errors.New("--data (BANKGRAPH_DATA) is empty: name a folder, or leave it out")
	}
	if strings.HasPrefix(s.Data, "~") {
		return fmt.Errorf(
			"--data (BANKGRAPH_DATA): %q begins with a tilde, which no shell has replaced by the home "+
				"folder: write it out, or without quotes", s.Data)
	}
	if s.KeepEvents < 24*time.Hour {
		return errors.New(
			"--keep-events (BANKGRAPH_KEEP_EVENTS) cannot be below a day: readers of the feed may be " +
				"away for a while")
	}
	if s.KeepKeys < changes.KeyLife {
		return errors.New(
			"--keep-keys (BANKGRAPH_KEEP_KEYS) cannot be below 168h: for seven days a key has one answer")
	}
	if s.ProveEvery != 0 && s.ProveEvery < time.Minute {
		return errors.New("--prove-every (BANKGRAPH_PROVE_EVERY) cannot be below a minute; 0 is never")
	}
	if s.DatabaseURL != "" && s.Keys == "" {
		return errors.New(
			"--keyset (BANKGRAPH_KEYSET) is needed with a database URL: the file that \"bankgraph keyset create " +
				"FILE\" makes, once; values sealed under a lost keyset cannot be read again")
	}
	if (s.MigrateURL != "" || s.ReadURL != "") && s.DatabaseURL == "" {
		return errors.New(
			"--migrate-url (BANKGRAPH_MIGRATE_URL) and --read-url (BANKGRAPH_READ_URL) go with " +
				"--database-url (BANKGRAPH_DATABASE_URL)")
	}
	if s.ReadLag < 100*time.Millisecond || s.ReadLag > 10*time.Minute {
		return errors.New("--read-lag (BANKGRAPH_READ_LAG) must be between 100ms and 10m")
	}
	if err := s.checkAs(); err != nil {
		return err
	}
	if s.PublicURL != "" {
		public, err := url.Parse(s.PublicURL)
		if err != nil || public.Host == "" || public.User != nil ||
			public.Scheme != "http" && public.Scheme != "https" ||
			public.RawQuery != "" || public.Fragment != "" {
			return errors.New(
				"--public-url (BANKGRAPH_PUBLIC_URL) must be an address such as https://api.bank.example")
		}
	}
	return nil
}

// checkAddress refuses a value that is not an address to listen on.
func checkAddress(setting, addr string) error {
	_, port, err := net.SplitHostPort(addr)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%s: %q is not a host and a port from 0 to 65535, such as 127.0.0.1:8080", setting, addr)
	}
	return nil
}

// webhooksOnLoopback reports whether webhooks of sandbox banks may lead to this machine.
func (s *settings) webhooksOnLoopback() bool {
	if s.Loopback != nil {
		return *s.Loopback
	}
	return s.private() && loopback(s.Addr)
}

// private reports whether the program runs its own PostgreSQL.
func (s *settings) private() bool { return s.DatabaseURL == "" }

// addresses are the addresses of a database that the program does not run itself.
func (s *settings) addresses() addresses {
	if s.MigrateURL == "" {
		return addresses{owner: s.DatabaseURL, service: s.DatabaseURL}
	}
	return addresses{owner: s.MigrateURL, service: s.DatabaseURL}
}

// keysetFile is the path of the keyset, and whether the file may be created there.
func (s *settings) keysetFile() (path string, create bool) {
	if s.Keys != "" {
		return s.Keys, false
	}
	return filepath.Join(s.Data, "keyset.json"), true
}

// checkpointsFile is the file that keeps audit checkpoints outside the database. If it is "", the log keeps
// them.
func (s *settings) checkpointsFile() string {
	if s.Checkpoints == "" && s.private() {
		return filepath.Join(s.Data, "audit-checkpoints.jsonl")
	}
	return s.Checkpoints
}

// public is the service's address for callers, if it listens on addr.
func (s *settings) public(addr string) string {
	if s.PublicURL != "" {
		return strings.TrimRight(s.PublicURL, "/")
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "http://" + addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1" // it listens on all addresses; callers need one of them
	}
	return "http://" + net.JoinHostPort(host, port)
}

// loopback reports whether only this machine can reach the address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func defaultData() string {
	data, err := cluster.DefaultData()
	if err != nil {
		return "bankgraph-data"
	}
	return data
}
