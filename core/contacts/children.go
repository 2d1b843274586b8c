package contacts

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Of lists the contacts of one customer that a search finds, page by page, in one round trip.
// Customers that are absent or not the caller's are customers.ErrNotFound and customers.ErrOutOfScope.
func (s *Service) Of(
	ctx context.Context, customer customers.UID, by Search, w page.Window,
) (page.Counted[*Contact], error) {
	_, found, err := ofCustomers.Page(ctx, s.customers, customer, s.filter(by), db.Columns{}, w)
	return found, err
}

// Find reads one contact of one customer, in one round trip. A contact of another customer is ErrNotFound,
// like one that does not exist.
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

// ActiveTx reports whether a customer has a contact that no second person has yet to agree to, or has
// refused.
func ActiveTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of customers.UID, uid UID,
) (is bool, err error) {
	err = tx.NewRaw(
		`SELECT EXISTS (SELECT FROM contacts WHERE tenant = ? AND uid = ? AND customer = ? AND status = ?)`,
		tenant, uid, of, Active).Scan(ctx, &is)
	return is, err
}
