package contacts_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/db"
)

func list(
	t *testing.T, bank *coretest.Bank, of *customers.Customer, by contacts.Search, w page.Window,
) (uids []contacts.UID) {
	t.Helper()
	found, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[customers.UID, contacts.Contact] {
		return bank.Contacts.OfCustomers(bank.Staff(), b, []customers.UID{of.UID}, by, db.Columns{}, w)
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, contact := range page.Cut(found[of.UID], w).Items {
		uids = append(uids, contact.UID)
	}
	return uids
}

func count(t *testing.T, bank *coretest.Bank, of *customers.Customer, by contacts.Search) int {
	t.Helper()
	found, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[customers.UID, db.Count] {
		return bank.Contacts.CountOfCustomers(bank.Staff(), b, []customers.UID{of.UID}, by, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found[of.UID]) == 0 {
		return 0
	}
	return int(found[of.UID][0].N)
}

func find(t *testing.T, bank *coretest.Bank, ctx context.Context, uid contacts.UID) *contacts.Contact {
	t.Helper()
	found, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[contacts.UID, contacts.Contact] {
		return bank.Contacts.FindMany(ctx, b, []contacts.UID{uid}, db.Columns{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found[uid]) == 0 {
		return nil
	}
	return found[uid][0]
}

func TestContactsAreSearchedByNameAndNumber(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Contact(bank.Customer())
	one := bank.Contact(customer)
	odd := bank.Contact(customer, func(k *contacts.Contact) { k.Name = "50% O'Neill_& Sons" })
	none := []contacts.UID(nil)
	for name, search := range map[string]struct {
		by   contacts.Search
		want []contacts.UID
	}{
		"nothing":              {contacts.Search{}, []contacts.UID{one.UID, odd.UID}},
		"beginning of a name":  {contacts.Search{Name: "hARBOR"}, []contacts.UID{one.UID}},
		"middle of a name":     {contacts.Search{Name: "Supply"}, none},
		"special characters":   {contacts.Search{Name: "50% o'neill_&"}, []contacts.UID{odd.UID}},
		"wildcards stay plain": {contacts.Search{Name: "5_%"}, none},
		"account number": {
			contacts.Search{AccountNumber: coretest.ContactNumber(odd.UID)}, []contacts.UID{odd.UID},
		},
		"end of the number": {contacts.Search{AccountNumber: coretest.ContactNumber(odd.UID)[3:]}, none},
		"both": {
			contacts.Search{Name: "50", AccountNumber: coretest.ContactNumber(odd.UID)}, []contacts.UID{odd.UID},
		},
		"both, one not": {contacts.Search{Name: "harbor", AccountNumber: coretest.ContactNumber(odd.UID)}, none},
	} {
		if diff := cmp.Diff(search.want, list(t, bank, customer, search.by, page.First(10))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n := count(t, bank, customer, search.by); n != len(search.want) {
			t.Errorf("%s counts %d", name, n)
		}
	}
}

func TestContactsArePaged(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	var all []contacts.UID
	for range 5 {
		all = append(all, bank.Contact(customer).UID)
	}
	if got := list(t, bank, customer, contacts.Search{}, page.Numbered(2, 2)); !slices.Equal(got, all[2:4]) {
		t.Errorf("second page: %v", got)
	}
	if got := list(t, bank, customer, contacts.Search{},
		page.Window{Size: 2, Backward: true}); !slices.Equal(got, all[3:]) {
		t.Errorf("the last: %v", got)
	}
	if got := list(t, bank, customer, contacts.Search{Name: "harbor"},
		page.Window{Size: 2, Cursor: page.Cursor{UID: int64(all[1])}}); !slices.Equal(got, all[2:4]) {
		t.Errorf("after a cursor: %v", got)
	}
}

func TestAContactIsSeenWithItsCustomerOnly(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Contact(bank.Customer(coretest.OwnedBy(partner))), bank.Contact(bank.Customer())
	other := bank.Other()
	alone := other.Contact(other.Customer())
	if find(t, bank, bank.Staff(), banks.UID) == nil || find(t, bank, bank.Partner(partner), ours.UID) == nil {
		t.Error("who may see a contact does not")
	}
	if find(t, bank, bank.Partner(partner), banks.UID) != nil {
		t.Error("the partner sees the bank's own")
	}
	if find(t, bank, bank.Staff(), alone.UID) != nil {
		t.Error("another bank's is seen")
	}
}

func TestAContactIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	want := bank.Contact(bank.Customer(), func(k *contacts.Contact) {
		k.RegulatoryReporting = contacts.Report{k.Reported(bank.Keys, "TaxId", `12 "3"`), {Key: "social"}}
		k.Intermediary = contacts.IntermediaryBank{
			Country: "United States", Name: "Old Mill Bank", CoverMessageRequired: true,
		}
		k.Bank.SWIFTCode, k.BeneficiaryNotes = "RHNUDEF0", "net 30"
	})
	got := find(t, bank, bank.Staff(), want.UID)
	want.Bank.AccountNumber.Sealed, want.Bank.AccountNumber.Hash, want.Tenant = nil, nil, got.Tenant
	got.CreatedAt, got.UpdatedAt = got.CreatedAt.UTC(), got.UpdatedAt.UTC()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestContactsAreForThoseWhoMayViewThem(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	contact := bank.Contact(bank.Customer())
	for _, caller := range []struct {
		ctx  context.Context
		want error
	}{
		{bank.Nobody(), access.ErrUnauthenticated},
		{bank.As(access.ManageCustomers, access.ViewAccounts), access.ErrDenied},
		{bank.As(access.ViewContacts), nil},
		{bank.As(access.ManageContacts), nil},
	} {
		b := bank.Batch()
		errs := []error{
			bank.Contacts.OfCustomers(caller.ctx, b, []customers.UID{contact.Customer}, contacts.Search{},
				db.Columns{}, page.First(1)).Err,
			bank.Contacts.CountOfCustomers(caller.ctx, b, []customers.UID{contact.Customer}, contacts.Search{}, 0).Err,
			bank.Contacts.FindMany(caller.ctx, b, []contacts.UID{contact.UID}, db.Columns{}).Err,
		}
		if allowed := caller.want == nil; allowed != (b.Len() == 3) || !allowed && b.Len() != 0 {
			t.Errorf("%d reads were queued, want error %v", b.Len(), caller.want)
		}
		for _, err := range errs {
			if caller.want != nil && !errors.Is(err, caller.want) {
				t.Errorf("%v, want %v", err, caller.want)
			}
		}
	}
}
