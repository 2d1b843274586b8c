package fees_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/db"
)

func of(
	bank *coretest.Bank, ctx context.Context, uids ...customers.UID,
) (map[customers.UID][]*fees.Tier, error) {
	return coretest.Many(bank, ctx,
		func(b *db.Batch) *db.Many[customers.UID, fees.Tier] { return bank.Fees.OfCustomers(ctx, b, uids) })
}

func TestTiersShowTheAccountThatTheyCountFor(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer, without := bank.Customer(), bank.Customer()
	account := bank.Account(customer)
	bank.Fee(customer)
	bank.Fee(customer, func(f *fees.Tier) { f.Account, f.FeeTier = &account.UID, "Silver" })
	found, err := of(bank, bank.Staff(), customer.UID, without.UID)
	if err != nil || len(found[customer.UID]) != 2 || len(found[without.UID]) != 0 {
		t.Fatal(found, err)
	}
	all, one := found[customer.UID][0], found[customer.UID][1]
	if all.ShownAccountNumber() != nil || all.Account != nil {
		t.Errorf("a tier for all accounts: %+v", all)
	}
	number := coretest.AccountNumber(account.UID)
	if *one.Account != account.UID || one.ShownAccountNumber().Masked() != "****"+number[len(number)-4:] {
		t.Errorf("a tier for one: %+v", one)
	}
	text, err := json.Marshal(one)
	if want := `{"id":"2","application":"Payments","feeTier":"Silver","accountNumber":"****` +
		number[len(number)-4:] + `","product":"Outgoing Payment","feeName":"SPOT"}`; err != nil ||
		string(text) != want {
		t.Errorf("%s %v", text, err)
	}
}

func TestTiersAreForThoseWhoMayViewCustomers(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	if _, err := of(bank, bank.Nobody(), 1); !errors.Is(err, access.ErrUnauthenticated) {
		t.Error(err)
	}
	if _, err := of(bank, bank.As(access.ViewAccounts), 1); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
}
