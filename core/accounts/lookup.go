package accounts

import (
	"context"

	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// Profile is what an account number leads to: the account, its customer, and the bank's own customer.
type Profile struct {
	Account     *Account
	Customer    *customers.Customer
	Institution customers.UID // 0 if the bank has no customer of its own
	Sweeps      []*Sweep
	Contacts    map[contacts.UID]*contacts.Contact // of the sweeps, with their account numbers
}

var (
	lookingUp db.QueryCache[Account]
	holder    db.QueryCache[customers.Customer]
	swept     db.QueryCache[Sweep]
	sweptWith db.QueryCache[contacts.Contact]
)

// ofNumber joins the account whose number has one of the hashes $3; on says how.
func ofNumber(q *bun.SelectQuery, on string) *bun.SelectQuery {
	return q.Join("JOIN accounts AS a ON " + on + " AND a.deleted_at IS NULL AND a.number_hash = ANY($3)")
}

// Lookup finds the customer behind an account number, in one round trip (rest/CONTRACT.md, lookup). If a type
// is given, only accounts of that type count. A number that is unknown, or outside the caller's reach, gives
// nil and no error, so that the two look alike, and counts as tried out.
func (s *Service) Lookup(ctx context.Context, number string, of Type) (*Profile, error) {
	caller, err := mayLookUp(ctx)
	if err != nil {
		return nil, err
	}
	today, err := s.today(ctx, caller)
	if err != nil {
		return nil, err
	}
	want, b := WithoutBalances(), s.db.Batch()
	hashes := s.probes.Search(s.keys.Hashes(int64(caller.Tenant), NumberColumn, number))
	account := db.Queue(b, lookingUp.Get(queryKey{want, caller.Reach}, func() string {
		return seeing(want, caller.Reach).Where("a.number_hash = ANY($3)").Where("($4 = '' OR a.type = $4)").
			String()
	}), caller.Tenant, caller.ScopeCustomer(), hashes, string(of))
	customer := db.Queue(b, holder.Get(caller.Reach, func() string {
		q := db.Select[customers.Customer](db.Columns{}, nil).Where("c.tenant = $1").
			Where(caller.Reach.ScopeOfCustomers("c"))
		return ofNumber(q, "a.tenant = c.tenant AND a.customer = c.uid").String()
	}), caller.Tenant, caller.ScopeCustomer(), hashes)
	sweeps := db.Queue(b, swept.Get(caller.Reach, func() string {
		q := db.Select[Sweep](db.Columns{}, map[string]string{"today": "$4::date"}).Where("w.tenant = $1").
			Where(caller.Reach.Scope("a.customer"))
		return ofNumber(q, "a.tenant = w.tenant AND a.uid = w.account").String()
	}), caller.Tenant, caller.ScopeCustomer(), hashes, today)
	payees := db.Queue(b, sweptWith.Get(caller.Reach, func() string {
		named := ofNumber(db.Select0[Sweep]("unnest(ARRAY[w.from_contact, w.to_contact])").Where("w.tenant = $1"),
			"a.tenant = w.tenant AND a.uid = w.account")
		return db.Select[contacts.Contact](db.ColumnsOf[contacts.Contact]("UID", "Bank.AccountNumber"), nil).
			Where("k.tenant = $1").
			Where(caller.Reach.Scope("k.customer")).Where("k.uid IN (" + named.String() + ")").String()
	}), caller.Tenant, caller.ScopeCustomer(), hashes)
	institution := s.customers.Institution(ctx, b)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	if len(account.Items) == 0 || len(customer.Items) == 0 {
		return nil, nil
	}
	found := &Profile{
		Account: account.Items[0], Customer: customer.Items[0], Sweeps: sweeps.Items,
		Contacts: map[contacts.UID]*contacts.Contact{},
	}
	for _, payee := range payees.Items {
		found.Contacts[payee.UID] = payee
	}
	if len(institution.Items) > 0 {
		found.Institution = institution.Items[0].UID
	}
	return found, nil
}

// mayLookUp requires Lookup_Customers, or the two permissions with which the caller could find the same by
// listing.
func mayLookUp(ctx context.Context) (access.Caller, error) {
	caller, err := access.Require(ctx, access.LookUpCustomers, access.ViewCustomers)
	if err != nil || caller.May(access.LookUpCustomers) {
		return caller, err
	}
	return access.Require(ctx, access.ViewAccounts)
}
