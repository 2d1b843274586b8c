package accounts

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

// Of reads a page of the accounts of one customer that a search finds, in one round trip. It returns
// customers.ErrNotFound for an absent customer, and customers.ErrOutOfScope for one that the caller may not
// see.
func (s *Service) Of(
	ctx context.Context, customer customers.UID, by Search, want db.Columns, w page.Window,
) (page.Counted[*Account], error) {
	_, found, err := ofCustomers.Page(ctx, s.customers, customer, s.filter(by), want, w)
	return found, err
}

// OfNumber reads the one account of a customer that a search by number finds. It returns ErrNotFound if there
// is none.
func (s *Service) OfNumber(
	ctx context.Context, customer customers.UID, by Search, want db.Columns,
) (*Account, error) {
	if _, err := access.Require(ctx, access.ViewAccounts); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, customer)
	found := s.OfCustomers(ctx, b, []customers.UID{customer}, by, want, page.First(1))
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if _, err := scope.Check(); err != nil {
		return nil, err
	}
	if len(found.Of[customer]) == 0 {
		return nil, ErrNotFound.On("accountNumber")
	}
	return found.Of[customer][0], nil
}

// Find reads one account of one customer, in one round trip. It returns ErrNotFound if there is none, or if
// it belongs to another customer.
func (s *Service) Find(
	ctx context.Context, customer customers.UID, uid UID, want db.Columns,
) (*Account, error) {
	if _, err := access.Require(ctx, access.ViewAccounts); err != nil {
		return nil, err
	}
	b := s.db.Batch()
	scope := s.customers.Scoped(ctx, b, customer)
	found := s.FindMany(ctx, b, []UID{uid}, want)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if _, err := scope.Check(); err != nil {
		return nil, err
	}
	for _, account := range found.Of[uid] {
		if account.Customer == customer {
			return account, nil
		}
	}
	return nil, ErrNotFound.On("accountUID")
}
