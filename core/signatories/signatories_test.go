package signatories_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/page"
	"bankgraph/core/signatories"
	"bankgraph/db"
)

// stranger is a partner whose token names no partner: only an external issuer makes such tokens.
func stranger(t *testing.T, bank *coretest.Bank, permissions ...access.Permission) context.Context {
	t.Helper()
	return access.With(t.Context(),
		access.Caller{Tenant: bank.Tenant, Entity: 1_000_077, Permissions: permissions})
}

func TestTheChecksComeInTheContractsOrder(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Customer(coretest.OwnedBy(partner)), bank.Customer()
	const absent = customers.UID(1_999_999)
	for name, check := range map[string]struct {
		ctx  context.Context
		of   customers.UID
		want error
	}{
		"nobody":                                {bank.Nobody(), absent, access.ErrUnauthenticated},
		"without the permission":                {bank.As(access.ViewCustomers), absent, access.ErrDenied},
		"no partner identifier, absent":         {stranger(t, bank, access.All...), absent, signatories.ErrPartner},
		"no partner identifier, not permitted":  {stranger(t, bank), absent, access.ErrDenied},
		"absent":                                {bank.Partner(partner), absent, customers.ErrNotFound},
		"absent, and staff asks":                {bank.Staff(), absent, customers.ErrNotFound},
		"another's":                             {bank.Partner(partner), banks.UID, customers.ErrOutOfScope},
		"its own":                               {bank.Partner(partner), ours.UID, nil},
		"who may manage customers may see them": {bank.As(access.ManageCustomers), ours.UID, nil},
		"staff":                                 {bank.Staff(), banks.UID, nil},
	} {
		if _, err := bank.Signatories.Of(check.ctx, check.of, page.First(10)); !errors.Is(err, check.want) {
			t.Errorf("%s: %v, want %v", name, err, check.want)
		}
	}
}

func TestAnotherBanksCustomerIsAbsentAndNotForeign(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	other := bank.Other()
	alone := other.Customer()
	other.Signatory(alone)
	if _, err := bank.Signatories.Of(bank.Staff(), alone.UID,
		page.First(10)); !errors.Is(err, customers.ErrNotFound) {
		t.Error(err)
	}
}

func TestSignatoriesArePagedAndDeletedOnesAreGone(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Signatory(bank.Customer())
	var all []signatories.UID
	for i := range 5 {
		g := bank.Signatory(customer, func(g *signatories.Signatory) {
			g.Status = []signatories.Status{signatories.Active, signatories.Pending, signatories.Deleted}[i%3]
		})
		if g.Status != signatories.Deleted {
			all = append(all, g.UID)
		}
	}
	read := func(w page.Window) (uids []signatories.UID, further bool) {
		t.Helper()
		found, err := bank.Signatories.Of(bank.Staff(), customer.UID, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range found.Items {
			uids = append(uids, g.UID)
		}
		return uids, found.Further
	}
	if got, further := read(page.First(10)); !slices.Equal(got, all) || further {
		t.Errorf("all: %v %v", got, further)
	}
	if got, further := read(page.Numbered(1, 3)); !slices.Equal(got, all[:3]) || !further {
		t.Errorf("first page: %v %v", got, further)
	}
	if got, further := read(page.Numbered(2, 3)); !slices.Equal(got, all[3:]) || further {
		t.Errorf("second page: %v %v", got, further)
	}
	if got, further := read(page.Window{Size: 2, Backward: true}); !slices.Equal(got, all[2:]) || !further {
		t.Errorf("the last: %v %v", got, further)
	}
	counted, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[customers.UID, db.Count] {
		return bank.Signatories.CountOfCustomers(bank.Staff(), b, []customers.UID{customer.UID})
	})
	if err != nil || counted[customer.UID][0].N != 4 {
		t.Errorf("counted: %v %v", counted, err)
	}
}

func TestACustomerWithoutSignatoriesHasAnEmptyList(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	found, err := bank.Signatories.Of(bank.Staff(), bank.Customer().UID, page.First(10))
	if err != nil || len(found.Items) != 0 || found.Further {
		t.Error(found, err)
	}
}

func TestAnApprovalLimitCarriesTheCurrency(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	limited := bank.Signatory(customer,
		func(g *signatories.Signatory) { cents := int64(123_45); g.LimitMinor = &cents })
	unlimited := bank.Signatory(customer, func(g *signatories.Signatory) { g.LimitMinor = nil })
	found, err := coretest.Many(bank, bank.Staff(),
		func(b *db.Batch) *db.Many[signatories.UID, signatories.Signatory] {
			return bank.Signatories.FindMany(bank.Staff(), b, []signatories.UID{limited.UID, unlimited.UID},
				db.ColumnsOf[signatories.Signatory]("LimitMinor"))
		})
	if err != nil {
		t.Fatal(err)
	}
	if got := found[limited.UID][0].ApprovalLimit(); got == nil || got.String() != "123.45" ||
		got.Currency != "USD" {
		t.Errorf("%v", got)
	}
	if got := found[unlimited.UID][0].ApprovalLimit(); got != nil {
		t.Errorf("%v", got)
	}
}

func TestASignatoryIsSeenWithItsCustomerOnly(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	ours, banks := bank.Signatory(bank.Customer(coretest.OwnedBy(partner))), bank.Signatory(bank.Customer())
	gone := bank.Signatory(bank.Customer(coretest.OwnedBy(partner)),
		func(g *signatories.Signatory) { g.Status = signatories.Deleted })
	found, err := coretest.Many(bank, bank.Partner(partner),
		func(b *db.Batch) *db.Many[signatories.UID, signatories.Signatory] {
			return bank.Signatories.FindMany(bank.Partner(partner), b,
				[]signatories.UID{ours.UID, banks.UID, gone.UID}, db.Columns{})
		})
	if err != nil || len(found) != 1 || len(found[ours.UID]) != 1 {
		t.Error(found, err)
	}
}
