package clients_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/core/users"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

const public = "https://api.bank.example"

// bank is a bank of the test's own, with a clock that the test sets.
type bank struct {
	*core.Core
	*testing.T
	tenant   *tenants.Tenant
	operator context.Context // at the command line of this bank
	stranger context.Context // no caller
	now      atomic.Pointer[time.Time]
	keys     *seal.Keys
	granted  atomic.Pointer[[]access.Permission] // what every user's roles grant, in place of package roles
}

func newBank(t *testing.T) *bank {
	t.Helper()
	pools, err := db.Open(dbtest.Shared(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	b := &bank{T: t, stranger: context.Background(), keys: seal.New()}
	b.turn(time.Now())
	b.Core = b.another(pools)
	b.tenant = b.add(rand.Text(), true)
	b.operator = b.at(b.tenant)
	return b
}

// another returns a second program on the same database.
func (b *bank) another(pools *db.DB) *core.Core {
	return core.New(core.Options{
		DB: pools, Keys: b.keys, PublicURL: public, Now: func() time.Time { return *b.now.Load() },
		Granted: b.grants,
	})
}

func (b *bank) grant(permissions ...access.Permission) { b.granted.Store(&permissions) }

var bounds = []access.ApplicationLimits{
	{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 100_00, Currency: "USD"}}},
}

func (b *bank) grants(context.Context, access.Tenant, uuid.UUID) (users.Grant, error) {
	if granted := b.granted.Load(); granted != nil {
		return users.Grant{Permissions: slices.Clone(*granted), Limits: bounds}, nil
	}
	return users.Grant{}, nil
}

func (b *bank) turn(to time.Time)      { b.now.Store(&to) }
func (b *bank) later(by time.Duration) { b.turn(b.now.Load().Add(by)) }

func (b *bank) add(code string, isSandbox bool) *tenants.Tenant {
	b.Helper()
	tenant, err := b.Tenants.Add(access.Operator(b.stranger, 0, "", nil), tenants.Draft{
		Code: code, Name: "Bank " + code, Zone: "America/New_York", Currency: "USD", Admin: "admin",
		Sandbox: isSandbox,
	})
	if err != nil {
		b.Fatal(err)
	}
	return tenant
}

func (b *bank) at(tenant *tenants.Tenant) context.Context {
	return access.Operator(b.stranger, tenant.ID, tenant.Code, tenant.Location())
}

// client adds an API key of the bank itself.
func (b *bank) client(key string) (secret string) {
	b.Helper()
	_, secret, err := b.Clients.Add(b.operator, clients.Draft{Key: key, Permissions: []string{"vCust", "mCust"}})
	if err != nil {
		b.Fatal(err)
	}
	return secret
}

func (b *bank) issue(key, secret string) *clients.Tokens {
	b.Helper()
	tokens, err := b.Clients.Issue(b.stranger, b.tenant.Code, key, secret)
	if err != nil {
		b.Fatal(err)
	}
	return tokens
}

func (b *bank) refresh(key, secret, token string) (*clients.Tokens, error) {
	return b.Clients.Refresh(b.stranger, b.tenant.Code, key, secret, token)
}

func (b *bank) exec(statement string, values ...any) {
	b.Helper()
	b.execAt(b.tenant.ID, statement, values...)
}

// execAt writes in a transaction of another bank, as each may change only one bank's rows.
func (b *bank) execAt(tenant access.Tenant, statement string, values ...any) {
	b.Helper()
	err := b.DB.InTx(b.stranger, int64(tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement, values...)
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
}

// one reads a single value.
func (b *bank) one(statement string, values ...any) (text string) {
	b.Helper()
	if err := b.DB.NewRaw(statement, values...).Scan(b.stranger, &text); err != nil {
		b.Fatal(fmt.Errorf("%s: %w", statement, err))
	}
	return text
}
