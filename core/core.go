// Package core is the bank: one value of type Core holds every service. Start reading here.
package core

import (
	"time"

	"bankgraph/core/accounts"
	"bankgraph/core/alerts"
	"bankgraph/core/attention"
	"bankgraph/core/audit"
	"bankgraph/core/banks"
	"bankgraph/core/changes"
	"bankgraph/core/clients"
	"bankgraph/core/clock"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/core/events"
	"bankgraph/core/fees"
	"bankgraph/core/files"
	"bankgraph/core/fx"
	"bankgraph/core/holds"
	"bankgraph/core/issuers"
	"bankgraph/core/keysets"
	"bankgraph/core/ledger"
	"bankgraph/core/limits"
	"bankgraph/core/live"
	"bankgraph/core/payments"
	"bankgraph/core/positivepay"
	"bankgraph/core/probes"
	"bankgraph/core/roles"
	"bankgraph/core/sandbox"
	"bankgraph/core/screening"
	"bankgraph/core/seal"
	"bankgraph/core/signatories"
	"bankgraph/core/sweeps"
	"bankgraph/core/tenants"
	"bankgraph/core/users"
	"bankgraph/core/verifications"
	"bankgraph/core/virtualaccounts"
	"bankgraph/core/waterfalls"
	"bankgraph/core/webhooks"
	"bankgraph/db"
)

// Options are what the services need from outside.
type Options struct {
	DB   *db.DB
	Keys *seal.Keys
	Now  func() time.Time // the machine's clock; nil means the real one

	PublicURL string // the program's public address, with which the names of its issuers begin

	Fetch   issuers.Fetch // reads the keys of other issuers; without it their tokens cannot be verified
	Granted users.Granted // what a user may do; nil means the database

	// where prices of foreign exchange come from; nil means the sandbox's, for sandbox banks alone
	Market fx.Market

	Webhooks webhooks.Options
}

// Core holds every service. Each comes after those that it calls.
type Core struct {
	DB   *db.DB
	Keys *seal.Keys
	Now  func() time.Time

	Probes          *probes.Counter
	Audit           *audit.Service
	Events          *events.Service
	Clock           *clock.Service
	Changes         *changes.Service
	Customers       *customers.Service
	Roles           *roles.Service
	Users           *users.Service
	Tenants         *tenants.Service
	Issuers         *issuers.Service
	Clients         *clients.Service
	Banks           *banks.Service
	Contacts        *contacts.Service
	Accounts        *accounts.Service
	Signatories     *signatories.Service
	PositivePay     *positivepay.Service
	Fees            *fees.Service
	Limits          *limits.Service
	Ledger          *ledger.Service
	Holds           *holds.Service
	Alerts          *alerts.Service
	VirtualAccounts *virtualaccounts.Service
	FX              *fx.Service
	Screening       *screening.Service
	Payments        *payments.Service
	Sandbox         *sandbox.Service
	Files           *files.Service
	Waterfalls      *waterfalls.Service
	Sweeps          *sweeps.Service
	Verifications   *verifications.Service
	Webhooks        *webhooks.Service
	Attention       *attention.Service
	Live            *live.Service
	Keysets         *keysets.Service
}

// New builds the services in order.
func New(o Options) *Core {
	if o.Now == nil {
		o.Now = time.Now
	}
	c := &Core{DB: o.DB, Keys: o.Keys, Now: o.Now}
	c.Probes = probes.New(o.Now)
	c.Audit = audit.New(o.DB, o.Now)
	c.Events = events.New(o.DB)
	c.Clock = clock.New(o.DB, o.Now)
	c.Changes = changes.New(o.DB, o.Keys, c.Audit, c.Clock.Now)
	c.Customers = customers.New(o.DB, o.Keys, c.Probes, c.Changes, o.Now)
	c.Roles = roles.New(o.DB, c.Customers, c.Changes)
	c.Users = users.New(o.DB, c.Customers, c.Roles, c.Changes, o.Granted)
	c.Tenants = tenants.New(o.DB, o.Now)
	c.Issuers = issuers.New(o.DB, c.Users, o.Now, o.Fetch)
	c.Clients = clients.New(o.DB, o.Keys, o.Now, o.PublicURL, c.Users, c.Issuers)
	c.Banks = banks.New(o.DB, o.Now)
	c.Contacts = contacts.New(o.DB, o.Keys, c.Probes, c.Customers, c.Changes, o.Now)
	c.Ledger = ledger.New(o.DB, c.Clock.Now)
	c.Accounts = accounts.New(o.DB, o.Keys, c.Probes, c.Customers, c.Changes, c.Ledger.KeepTx, o.Now,
		c.Clock.Now)
	c.Signatories = signatories.New(o.DB, c.Customers, c.Changes)
	c.PositivePay = positivepay.New(o.DB, o.Keys, c.Probes, c.Customers, c.Changes, c.Clock.Now)
	c.Fees = fees.New(o.DB, c.Probes, c.Customers, c.Accounts, c.Changes)
	c.Limits = limits.New(o.DB, c.Customers, c.Changes, o.Now)
	c.Holds = holds.New(o.DB, c.Customers, c.Changes, c.Clock.Now)
	c.Alerts = alerts.New(o.DB, c.Customers, c.Changes, c.Clock.Now)
	c.VirtualAccounts = virtualaccounts.New(o.DB, o.Keys, c.Probes, c.Customers, c.Changes)
	if o.Market == nil {
		o.Market = sandbox.Market{}
	}
	c.FX = fx.New(o.DB, o.Keys, c.Probes, c.Customers, c.Limits, c.Changes, c.Clock.Now, o.Market)
	c.Sandbox = sandbox.New(o.DB, o.Keys, c.Customers, c.Changes, c.Clock)
	c.Screening = screening.New(o.DB, o.Now)
	c.Payments = payments.New(o.DB, o.Keys, c.Probes, c.Customers, c.Accounts, c.Ledger, c.Changes,
		c.Clock.Now, c.Sandbox, c.PositivePay, c.Screening)
	c.Files = files.New(o.DB, o.Keys, c.Customers, c.Payments, c.Changes, c.Clock.Now)
	c.Waterfalls = waterfalls.New(o.DB, o.Keys, c.Payments, c.Changes, c.Clock.Now)
	c.Sweeps = sweeps.New(o.DB, c.Accounts, c.Payments, c.Clock.Now)
	c.Verifications = verifications.New(o.DB, c.Customers, c.Payments, c.Changes, c.Clock.Now)
	c.Webhooks = webhooks.New(o.DB, o.Keys, c.Customers, c.Payments, c.VirtualAccounts, c.Changes, o.Now,
		o.Webhooks)
	c.Attention = attention.New(o.DB, c.Clock.Now)
	c.Live = live.New(o.DB)
	c.Keysets = keysets.New(o.DB, o.Keys, o.Now)
	c.Ledger.ProveToo(payments.Invariants...)
	c.Ledger.ProveToo(virtualaccounts.Invariants...)
	c.Customers.PlanLimits(c.Limits.PlanOf)
	c.Contacts.OnMove(c.Verifications.LockDepositsTx, c.Verifications.SupersedeTx)
	c.Contacts.OnNotices(c.Payments)
	c.Contacts.WhoPays(c.Payments.PaidInSeries)
	c.Contacts.WhoPays(c.Accounts.SweptTo)
	return c
}

// Batch starts a batch of reads, in which several services share one round trip to the database.
func (c *Core) Batch() *db.Batch { return c.DB.Batch() }

// PrimaryBatch is Batch on the primary, never on a replica, to read what was just written.
func (c *Core) PrimaryBatch() *db.Batch { return c.DB.PrimaryBatch() }
