// Package coretest gives tests a bank: a tenant of its own, a clock that only moves when told to, callers of
// every kind, and makers of customers and what they have.
package coretest

import (
	"cmp"
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/roles"
	"bankgraph/core/seal"
	"bankgraph/core/users"
	"bankgraph/core/webhooks"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/db/dbtest/faults"
)

// Start is the time that every test bank's clock shows first: a Wednesday in the middle of a month, ten in
// the morning at the bank.
var Start = time.Date(2026, 11, 18, 15, 0, 0, 0, time.UTC)

// Zone is every test bank's time zone.
var Zone = sync.OnceValue(func() *time.Location {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		panic(err)
	}
	return zone
})

// Bank is a tenant with the whole core on it.
type Bank struct {
	*core.Core
	Tenant access.Tenant
	Code   string              // the realm
	Self   *customers.Customer // the customer that represents the bank itself
	Clock  *Clock

	t       testing.TB
	opened  *opened
	made    []func(*Bank) // what the makers made, for Other to make again
	numbers numbers
	other   *Bank

	someones struct {
		sync.Mutex
		there map[string]bool // by login id
	}
}

// New returns a new bank in the database that the tests of the binary share. It takes less than a
// millisecond; a database of its own takes twenty.
func New(t testing.TB) *Bank {
	t.Helper()
	return found(t, ready(t), sharedKeys)
}

// ready returns the database that the tests of the binary share.
func ready(t testing.TB) *opened {
	t.Helper()
	sharedOnce.Do(func() { shared = open(t, dbtest.Shared(t)) })
	if shared == nil {
		t.Fatal("the shared database could not be opened: see the first test that failed")
	}
	return shared
}

// Under is New with other keys.
func Under(t testing.TB, keys *seal.Keys) *Bank {
	t.Helper()
	return found(t, ready(t), keys)
}

// Alone returns a bank in a database of its own, for tests that break rows by hand or count all rows.
func Alone(t testing.TB) *Bank {
	t.Helper()
	d := open(t, dbtest.URL(t))
	t.Cleanup(func() { _ = d.Close() })
	return found(t, d, seal.New())
}

// Owner returns the database with the rights of its tables' owner, who is not bound by row security and
// grants, for tests that break rows by hand or change the schema. Everything else is written as the service
// does, by DB.InTx.
func (b *Bank) Owner() *db.DB {
	b.t.Helper()
	owner, err := db.Open(dbtest.Unhurried(dbtest.Owner(b.opened.url)), db.Options{Connections: 2})
	b.must(err)
	b.t.Cleanup(func() { _ = owner.Close() })
	return owner
}

// Restored returns the bank as it is now in another database, as if restored from a backup of this one.
func (b *Bank) Restored() *Bank {
	b.t.Helper()
	url := dbtest.Copy(b.t, b.opened.url)
	d, err := db.Open(dbtest.Unhurried(url), db.Options{})
	b.must(err)
	b.t.Cleanup(func() { _ = d.Close() })
	restored := &Bank{
		t: b.t, opened: &opened{DB: d, url: url}, Clock: b.Clock, Code: b.Code, Tenant: b.Tenant, Self: b.Self,
	}
	restored.Core = core.New(core.Options{DB: d, Keys: b.Keys, Now: b.Clock.Now})
	return restored
}

type opened struct {
	*db.DB
	url string
}

var (
	sharedOnce sync.Once
	shared     *opened
	sharedKeys = seal.New()
)

// Ahead sets the sequences of a test's database far above the numbers that tests choose themselves, which
// takes their owner. It never sets them back: others may have taken numbers since.
func Ahead(ownerURL string) error {
	owner, err := db.Open(dbtest.Unhurried(ownerURL), db.Options{Connections: 1})
	if err != nil {
		return err
	}
	defer owner.Close()
	return owner.InTx(context.Background(), 0, func(ctx context.Context, tx bun.Tx) error {
		for sequence, ahead := range map[string]int64{
			"customer_uids": 2_000_000, "account_uids": 200_000_000, "signatory_uids": 1_000_000,
			"fee_tier_ids": 1_000_000, "approval_uids": 1_000_000, "payment_uids": 2_000_000,
			"recurrence_uids": 1_000_000, "positive_pay_rule_uids": 1_000_000, "virtual_account_uids": 1_000_000,
			"balance_alert_uids": 1_000_000, "contact_verification_uids": 1_000_000,
			"positive_pay_exception_uids": 1_000_000, "trade_uids": 2_000_000, "cover_uids": 2_000_000,
			"role_numbers": 1_000_000, "user_numbers": 1_000_000,
		} {
			_, err := tx.NewRaw(`SELECT setval(?0, ?1) FROM ?2 WHERE last_value < ?1`, sequence, ahead,
				bun.Ident(sequence)).Exec(ctx)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// open opens a database whose sequences begin far above the makers' numbers.
func open(t testing.TB, url string) *opened {
	t.Helper()
	d, err := db.Open(dbtest.Unhurried(url), db.Options{Tracer: dbtest.Watch(t), Patience: time.Minute})
	if err == nil {
		err = Ahead(dbtest.Owner(url))
	}
	if err != nil {
		t.Fatalf("open the test database: %v", err)
	}
	return &opened{DB: d, url: url}
}

func found(t testing.TB, d *opened, keys *seal.Keys) *Bank {
	t.Helper()
	dbtest.Watch(t)
	b := &Bank{t: t, opened: d, Clock: &Clock{at: Start}, Code: "bank-" + rand.Text()}
	b.someones.there = map[string]bool{}
	b.Core = core.New(core.Options{
		DB: d.DB, Keys: keys, Now: b.Clock.Now, Webhooks: webhooks.Options{Loopback: true},
	})
	b.must(b.DB.InTx(context.Background(), 0, func(ctx context.Context, tx bun.Tx) error {
		return tx.NewRaw(
			`INSERT INTO tenants (code, name, zone, currency, sandbox)
				VALUES (?, 'Test Bank', ?, 'USD', true) RETURNING id`,
			b.Code, Zone().String()).Scan(ctx, &b.Tenant)
	}))
	b.Self = b.customer(func(c *customers.Customer) {
		c.LegalName, c.ShortName, c.Type, c.RelationshipType = "Test Bank", b.Code, customers.ProcessingOrg,
			customers.RelationSelf
		c.SWIFTCode = "TSTBUS33"
	})
	return b
}

// Other returns a second bank in the same database. It has a twin of everything made in this one so far,
// under the same numbers, so that leaks between banks show.
func (b *Bank) Other() *Bank {
	b.t.Helper()
	if b.other == nil {
		b.other = found(b.t, b.opened, b.Keys)
		for _, again := range b.made {
			again(b.other)
		}
	}
	return b.other
}

// Clock is the bank's clock. It moves only by Set and Advance.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now returns the time that the clock shows.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

// Set moves the clock.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// Advance moves the clock forward.
func (c *Clock) Advance(by time.Duration) { c.Set(c.Now().Add(by)) }

// Staff returns the context of a program of the bank that may do everything.
func (b *Bank) Staff() context.Context { return b.As(access.All...) }

// Reader returns the context of a program of the bank that may read everything.
func (b *Bank) Reader() context.Context { return b.As(access.Readers...) }

// As returns the context of a program of the bank with exactly these permissions.
func (b *Bank) As(permissions ...access.Permission) context.Context {
	return access.With(b.t.Context(), access.Caller{
		Tenant: b.Tenant, TenantCode: b.Code, Zone: Zone(), Client: "staff", ClientName: "Staff",
		Entity: int64(b.Self.UID), Partner: int64(b.Self.UID), Reach: access.OfBank, Permissions: permissions,
	})
}

// Checker returns the context of a person of the bank who may do everything: the second person of approvals.
func (b *Bank) Checker() context.Context {
	b.t.Helper()
	return b.Someone("checker")
}

// Someone returns the context of the person of the bank with this login id, who may do everything.
func (b *Bank) Someone(login string) context.Context {
	b.t.Helper()
	person := &users.User{
		Tenant: b.Tenant, UID: users.UID{UUID: uuid.NewSHA1(uuid.NameSpaceDNS, []byte(b.Code+login))},
		Customer: b.Self.UID, LoginID: login, FirstName: "Ida", LastName: "Frost", Status: users.Active,
		Limits: []access.ApplicationLimits{}, CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	b.someones.Lock()
	defer b.someones.Unlock()
	if !b.someones.there[login] {
		b.must(b.DB.InTx(context.Background(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewInsert().Model(person).Value("number", "DEFAULT").Exec(ctx)
			return err
		}))
		b.someones.there[login] = true
	}
	caller, _ := access.Require(b.Person(person, access.All...))
	caller.Client, caller.ClientName = "portal", "Portal"
	for _, grant := range roles.Everything(roles.Bank) {
		for _, name := range grant.Entitlements {
			caller.Holds = append(caller.Holds, access.Entitlement{Application: grant.Name, Name: name})
		}
	}
	return access.With(b.t.Context(), caller)
}

// Person returns the context of one of the bank's own users, with exactly these permissions.
func (b *Bank) Person(u *users.User, permissions ...access.Permission) context.Context {
	caller, _ := access.Require(b.As(permissions...))
	caller.User, caller.LoginID = u.UID.UUID, u.LoginID
	return access.With(b.t.Context(), caller)
}

// Partner returns the context of a program of this partner, which may do everything with its own customers.
func (b *Bank) Partner(of *customers.Customer) context.Context {
	return access.With(b.t.Context(), access.Caller{
		Tenant: b.Tenant, TenantCode: b.Code, Zone: Zone(), Client: "partner", ClientName: "Partner",
		Entity: int64(of.UID), Partner: int64(of.UID), Reach: access.OfPartner, Permissions: access.All,
	})
}

// PersonOf returns the context of a user of this customer, who may do everything that a customer's people
// can.
func (b *Bank) PersonOf(of *customers.Customer, u *users.User) context.Context {
	return access.With(b.t.Context(), access.Caller{
		Tenant: b.Tenant, TenantCode: b.Code, Zone: Zone(), Client: "portal", ClientName: "Portal",
		User: u.UID.UUID, LoginID: u.LoginID, Entity: int64(of.UID),
		Partner: cmp.Or(int64(of.Owner), int64(b.Self.UID)), Reach: access.OfCustomer, Permissions: access.All,
	})
}

// PartnersPerson returns the context of a new user of this partner, who may do everything with its customers.
func (b *Bank) PartnersPerson(of *customers.Customer) context.Context {
	caller, _ := access.Require(b.PersonOf(of, b.User(of, nil)))
	caller.Reach = access.OfPartner
	return access.With(b.t.Context(), caller)
}

// Nobody returns a context without a caller.
func (b *Bank) Nobody() context.Context { return b.t.Context() }

// Line is the test's own way to the shared database, over a single connection on which faults can be
// injected.
type Line struct {
	faults.Line
	opened *opened
	t      testing.TB
}

// NewLine returns a line without faults.
func NewLine(t testing.TB) *Line {
	t.Helper()
	l := &Line{t: t}
	url := dbtest.Shared(t)
	d, err := db.Open(dbtest.Unhurried(url), db.Options{
		Connections: 1, Patience: time.Minute, Connector: l.Connector, Tracer: dbtest.Watch(t),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	l.opened = &opened{DB: d, url: url}
	return l
}

// For lets a line be used by another test, one after the other.
func (l *Line) For(t testing.TB) *Line {
	t.Helper()
	l.t = t
	return l
}

// Bank returns a new bank that is reached over the line.
func (l *Line) Bank() *Bank {
	l.t.Helper()
	ready(l.t)
	return found(l.t, l.opened, sharedKeys)
}

// Begins returns the place, among the statements of work, where its n-th transaction begins.
func (l *Line) Begins(n int, work func()) int {
	l.t.Helper()
	l.Break(0, faults.Fault{})
	work()
	begins := 0
	for i, text := range l.Statements() {
		if text == "BEGIN" {
			begins++
		}
		if begins == n {
			return i + 1
		}
	}
	l.t.Fatalf("there are no %d transactions: %q", n, l.Statements())
	return 0
}

// Elsewhere runs a statement over another connection, as another worker of a bank would, right before the
// k-th statement from now on.
func (l *Line) Elsewhere(k int, of *Bank, statement string, values ...any) {
	l.t.Helper()
	other := New(l.t).DB
	l.Meanwhile(k, func() {
		err := other.InTx(l.t.Context(), int64(of.Tenant), func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.ExecContext(ctx, statement, values...)
			return err
		})
		if err != nil {
			l.t.Error(err)
		}
	})
}
