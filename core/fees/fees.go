package fees

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/probes"
	"bankgraph/db"
)

// Tables lists this domain's tables and what it reads of others (core/README.md, Tables).
var Tables = db.Tables{
	Own: []string{"fee_catalogue", "fee_tiers"},
	Reads: map[string]string{
		"accounts": "a tier is read with the last digits of its account",
	},
}

// Service keeps the fee tiers of every bank's customers.
type Service struct {
	db          *db.DB
	probes      *probes.Counter
	customers   *customers.Service
	accounts    *accounts.Service
	add, change *changes.Operation[Draft, Saved]
}

// New makes the service.
func New(
	d *db.DB, tried *probes.Counter, c *customers.Service, a *accounts.Service, all *changes.Service,
) *Service {
	s := &Service{db: d, probes: tried, customers: c, accounts: a}
	s.add = changes.Declare(all, "addFeeTier", "feeTier", access.ManageCustomers, s.addTx).Settle(s.settleTx)
	s.change = changes.Declare(all, "changeFeeTier", "feeTier", access.ManageCustomers, s.changeTx)
	return s
}

var ofCustomers db.QueryCache[Tier]

// OfCustomers reads the tiers of each customer, in the order of their creation: the first mostOfCustomer.
func (s *Service) OfCustomers(
	ctx context.Context, b *db.Batch, of []customers.UID,
) *db.Many[customers.UID, Tier] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[customers.UID, Tier](err)
	}
	text := ofCustomers.Get(caller.Reach, func() string {
		tiers := db.Select[Tier](db.Columns{}, map[string]string{"account_last4": "coalesce(a.number_last4, '')"}).
			Join("LEFT JOIN accounts AS a ON a.tenant = f.tenant AND a.uid = f.account").
			Where("f.tenant = $1").Where(caller.Reach.Scope("f.customer")).Where("f.customer = p.customer").
			Where("f.status <> 'Refused'").OrderExpr("f.id").Limit(mostOfCustomer).String()
		return "SELECT r.* FROM unnest($3::bigint[]) AS p(customer) CROSS JOIN LATERAL (" + tiers +
			") AS r ORDER BY r.customer, r.id"
	})
	return db.QueueMany(b, text, func(t *Tier) customers.UID { return t.Customer }, caller.Tenant,
		caller.ScopeCustomer(), of)
}
