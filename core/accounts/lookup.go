package accounts

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/customers"
	"bankgraph/db"
)

// Profile is what stands behind an account number: the account, whose it is, and the bank's own customer.
type Profile struct {
	Account     *Account
	Customer    *customers.Customer
	Institution customers.UID // 0 where the bank has no customer of its own
	Sweeps      []*Sweep
	Contacts    map[contacts.UID]*contacts.Contact // of the sweeps, with their account numbers
}

var (
	lookingUp db.Texts[Account]
	swept     = db.NewText[Sweep](db.Select[Sweep](db.Columns{}, map[string]string{"today": "$3::date"}).
			Join("JOIN accounts AS a ON a.tenant = w.tenant AND a.uid = w.account AND a.deleted_at IS NULL").
			Where("w.tenant = $1").Where("a.number_hash = ANY($2)").String())
	sweptWith = db.NewText[contacts.Contact](db.Select[contacts.Contact](db.Want[contacts.Contact]("UID", "Bank.AccountNumber"), nil).
			Where("k.tenant = $1").Where(`k.uid IN (SELECT unnest(ARRAY[w.from_contact, w.to_contact]) FROM sweeps AS w
			JOIN accounts AS a ON a.tenant = w.tenant AND a.uid = w.account AND a.deleted_at IS NULL WHERE w.tenant = $1 AND a.number_hash = ANY($2))`).String())
	holder db.Texts[customers.Customer]
	bank   = db.NewText[customers.Customer](`SELECT uid FROM customers WHERE tenant = $1 AND relationship_type = 'Self'`)
)

// Lookup finds the customer behind an account number among those that the caller may see, in one round trip
// (rest/CONTRACT.md, lookup). With a type only accounts of that type count. A number that leads nowhere
// answers nothing and no error, so that a foreign account looks like none.
func (s *Service) Lookup(ctx context.Context, number string, of Type) (*Profile, error) {
	caller, err := mayLookUp(ctx)
	if err != nil {
		return nil, err
	}
	want, b := WithoutBalances(), s.db.Batch()
	hashes := s.keys.Hashes(int64(caller.Tenant), NumberColumn, number)
	account := db.Queue(b, lookingUp.Get(shape{want: want, reach: caller.Reach}, func() string {
		return customers.Within(selecting(want), "a", caller.Reach).Where("a.number_hash = ANY($3)").Where("($4 = '' OR a.type = $4)").String()
	}), caller.Tenant, caller.Within(), hashes, string(of))
	customer := db.Queue(b, holder.Get(shape{}, func() string {
		return db.Select[customers.Customer](db.Columns{}, nil).
			Join("JOIN accounts AS a ON a.tenant = c.tenant AND a.customer = c.uid AND a.deleted_at IS NULL").
			Where("c.tenant = $1").Where("a.number_hash = ANY($2)").String()
	}), caller.Tenant, hashes)
	institution := db.Queue(b, bank, caller.Tenant)
	sweeps, payees := db.Queue(b, swept, caller.Tenant, hashes, s.today(caller)), db.Queue(b, sweptWith, caller.Tenant, hashes)
	if err := b.Send(ctx); err != nil {
		return nil, err
	}
	// The account alone tells whether the caller may see any of it: its text carries the scope.
	if len(account.Items) == 0 || len(customer.Items) == 0 {
		return nil, nil
	}
	found := &Profile{Account: account.Items[0], Customer: customer.Items[0], Sweeps: sweeps.Items, Contacts: map[contacts.UID]*contacts.Contact{}}
	for _, payee := range payees.Items {
		found.Contacts[payee.UID] = payee
	}
	if len(institution.Items) > 0 {
		found.Institution = institution.Items[0].UID
	}
	return found, nil
}

// mayLookUp is the permission made for it, or the two that would find the same by going through everything.
func mayLookUp(ctx context.Context) (access.Caller, error) {
	caller, err := access.Require(ctx, access.LookUpCustomers, access.ViewCustomers)
	if err != nil || caller.May(access.LookUpCustomers) {
		return caller, err
	}
	return access.Require(ctx, access.ViewAccounts)
}
