package contacts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

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

// ActiveTx returns the version of a contact of a customer that is Active; 0 if there is none.
func ActiveTx(
	ctx context.Context, tx bun.Tx, tenant access.Tenant, of customers.UID, uid UID,
) (version int32, err error) {
	err = tx.NewRaw(`SELECT coalesce((SELECT version FROM contacts
		WHERE tenant = ? AND uid = ? AND customer = ? AND status = ?), 0)`, tenant, uid, of, Active).
		Scan(ctx, &version)
	return version, err
}

// HoldTx returns a contact of a customer, with what its payments say, and keeps it from being changed until
// the transaction ends. It returns ErrNotFound if there is none.
func HoldTx(
	ctx context.Context, tx bun.IDB, tenant access.Tenant, of customers.UID, uid UID,
) (*Contact, error) {
	k := new(Contact)
	err := tx.NewSelect().Model(k).ExcludeColumn("regulatory_reporting").Where("k.tenant = ?", tenant).
		Where("k.uid = ?", uid).Where("k.customer = ?", of).Where("k.status <> ?", Refused).
		For("SHARE").Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("hold contact %s: %w", uid, err)
	}
	return k, nil
}
