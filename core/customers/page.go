package customers

import (
	"context"
	"strings"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/ident"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Everything returns all columns of a customer that may be shown.
func Everything() db.Columns { return db.Or[Customer](db.Columns{}) }

// Page reads a page of the customers that a search finds and the caller may see, in one round trip.
func (s *Service) Page(ctx context.Context, by Search, w page.Window) (page.Counted[*Customer], error) {
	var none page.Counted[*Customer]
	if _, err := access.Require(ctx, access.ViewCustomers); err != nil {
		return none, err
	}
	b := s.db.Batch()
	list := s.List(ctx, b, by, Everything(), w)
	count := s.Count(ctx, b, by)
	if err := b.Send(ctx); err != nil {
		return none, err
	}
	return page.Counted[*Customer]{Items: page.Cut(list.Items, w).Items, Total: count.Items[0].N}, nil
}

// Officer is one of the bank's people who look after a customer: its relationship manager or originating
// officer.
type Officer struct {
	bun.BaseModel `bun:"table:users,alias:u" json:"-"`

	Customer  UID    `bun:"customer" json:"-"`
	LoginID   string `bun:"login_id" json:"-"`
	FirstName string `bun:"first_name" json:"-"`
	LastName  string `bun:"last_name" json:"-"`
}

var officers db.QueryCache[Officer]

const officersOf = `
SELECT c.uid AS customer, u.login_id, u.first_name, u.last_name
FROM customers AS c
JOIN users AS u ON u.tenant = c.tenant AND lower(u.login_id COLLATE "C") IN (lower(c.relationship_manager
  COLLATE "C"), lower(c.originating_officer COLLATE "C"))
WHERE c.tenant = $1 AND c.uid = ANY($3) AND `

// OfficersOf queues a read of the officers of each customer. It needs only the customers' UIDs, so it can
// share a batch with the customers themselves.
func (s *Service) OfficersOf(ctx context.Context, b *db.Batch, of []UID) *db.Many[UID, Officer] {
	caller, err := access.Require(ctx, access.ViewCustomers)
	if err != nil {
		return db.Refuse[UID, Officer](err)
	}
	text := officers.Get(caller.Reach, func() string { return officersOf + caller.Reach.ScopeOfCustomers("c") })
	return db.QueueMany(b, text, func(o *Officer) UID { return o.Customer }, caller.Tenant,
		caller.ScopeCustomer(), of)
}

// NameOf returns the name of the officer with a login id; empty if there is none.
func NameOf(officers []*Officer, login string) string {
	for _, o := range officers {
		if ident.Same(o.LoginID, login) {
			return strings.TrimSpace(o.FirstName + " " + o.LastName)
		}
	}
	return ""
}
