package fees

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// Service keeps the fee tiers of every bank's customers.
type Service struct{ db *db.DB }

// New makes the service.
func New(d *db.DB) *Service { return &Service{db: d} }

var ofCustomers = db.NewText[Tier](db.Select[Tier](db.Columns{}, map[string]string{"account_last4": "coalesce(a.number_last4, '')"}).
	Join("LEFT JOIN accounts AS a ON a.tenant = f.tenant AND a.uid = f.account").
	Where("f.tenant = $1").Where("f.customer = ANY($2)").OrderExpr("f.customer, f.id").String())

// OfCustomers reads the tiers that each customer holds, in the order in which they were given. They are few.
func (s *Service) OfCustomers(ctx context.Context, b *db.Batch, of []customers.UID) *db.Many[customers.UID, Tier] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[customers.UID, Tier](err)
	}
	return db.QueueMany(b, ofCustomers, func(t *Tier) customers.UID { return t.Customer }, caller.Tenant, of)
}
