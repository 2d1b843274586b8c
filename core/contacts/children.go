package contacts

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Of reads a page of the contacts of one customer that a search finds, in one round trip. It returns
// customers.ErrNotFound for an absent customer, and customers.ErrOutOfScope for one that the caller may not
// see.
func (s *Service) Of(
	ctx context.Context, customer customers.UID, by Search, w page.Window,
) (page.Counted[*Contact], error) {
	_, found, err := ofCustomers.Page(ctx, s.customers, customer, s.filter(by), db.Columns{}, w)
	return found, err
}

// Find reads one contact of one customer, in one round trip. It returns ErrNotFound if there is none, or if
// it belongs to another customer.
func (s *Service) Find(ctx context.Context, customer customers.UID, uid UID) (*Contact, error) {
	if _, err := access.Require(ctx, access.ViewContacts); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, customer)
	found := s.FindMany(ctx, b, []UID{uid}, db.Columns{})
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if _, err := scope.Check(); err != nil {
		return nil, err
	}
	for _, contact := range found.Of[uid] {
		if contact.Customer == customer {
			return contact, nil
		}
	}
	return nil, ErrNotFound
}

// ActiveTx reports whether a customer has this contact and it is Active.
func ActiveTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of customers.UID, uid UID,
) (is bool, err error) {
	err = tx.NewRaw(
		`SELECT EXISTS (SELECT FROM contacts WHERE tenant = ? AND uid = ? AND customer = ? AND status = ?)`,
		tenant, uid, of, Active).Scan(ctx, &is)
	return is, err
}
