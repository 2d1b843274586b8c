package contacts

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Of lists the contacts of one customer that a search finds, page by page, in one round trip.
// Customers that are absent or not the caller's are customers.ErrNotFound and customers.ErrOutOfScope.
func (s *Service) Of(ctx context.Context, customer customers.UID, by Search, w page.Window) (page.Counted[*Contact], error) {
	var none page.Counted[*Contact]
	if _, err := access.Require(ctx, access.ViewContacts); err != nil {
		return none, err
	}
	b, of := s.db.Batch(), []customers.UID{customer}
	scope := s.customers.Scoped(ctx, b, customer)
	list := s.OfCustomers(ctx, b, of, by, db.Columns{}, w)
	count := s.CountOfCustomers(ctx, b, of, by)
	if err := b.Send(ctx); err != nil {
		return none, err
	}
	if _, err := scope.Check(); err != nil {
		return none, err
	}
	return page.Counted[*Contact]{Items: page.Cut(list.Of[customer], w).Items, Total: db.CountOf(count, customer)}, nil
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
