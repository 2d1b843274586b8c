package coretest_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/db"
)

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		coretest.New(b)
	}
}

func BenchmarkAlone(b *testing.B) {
	for b.Loop() {
		coretest.Alone(b)
	}
}

func TestTheOtherBankHasATwinOfEverything(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	customer := bank.Customer(coretest.OwnedBy(partner), coretest.Named("Granite Dental Group"))
	account := bank.Account(customer)
	bank.Contact(customer)
	bank.Signatory(customer)
	bank.Limit(customer, "FEDWIRE_PAYMENT_LIMIT_PER_DAY", 5)
	bank.Usage(customer, "FEDWIRE", "2026-11-18", 3)
	bank.Fee(customer)
	other := bank.Other()
	if other.Tenant == bank.Tenant {
		t.Fatal("the other bank is the same")
	}
	for _, table := range []string{
		"customers", "accounts", "contacts", "signatories", "limits", "limit_usage", "fee_tiers", "balances",
		"postings", "journals",
	} {
		var ours, theirs int
		err := bank.DB.NewRaw("SELECT count(*) FILTER (WHERE tenant = ?), count(*) FILTER (WHERE tenant = ?) FROM "+
			table, bank.Tenant, other.Tenant).
			Scan(t.Context(), &ours, &theirs)
		if err != nil || ours == 0 || ours != theirs {
			t.Errorf("%s: %d and %d (%v)", table, ours, theirs, err)
		}
	}
	twin, err := other.Customers.Find(other.Staff(), customer.UID)
	if err != nil || twin.LegalName != "Granite Dental Group" || twin.Owner != partner.UID {
		t.Errorf("the customer's twin: %+v (%v)", twin, err)
	}
	found, err := coretest.Many(other, other.Staff(),
		func(b *db.Batch) *db.Many[accounts.UID, accounts.Account] {
			return other.Accounts.FindMany(other.Staff(), b, []accounts.UID{account.UID}, db.Columns{})
		})
	if err != nil || len(found[account.UID]) != 1 || found[account.UID][0].Customer != customer.UID {
		t.Errorf("the account's twin: %+v (%v)", found, err)
	}
	bank.Prove()
	other.Prove()
}

// Tests rely on the proof with plans of its own.
func TestWrongBooksAreFoundAsTheBankFindsThem(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer())
	if wrong := coretest.Broken(t, bank.Ledger, bank.Tenant); wrong != nil {
		t.Error("nothing is wrong yet:", wrong)
	}
	for _, change := range []string{"ledger = ledger + 1", "held = held + 1"} {
		_, err := bank.Owner().NewRaw("UPDATE balances SET "+change+" WHERE tenant = ? AND account = ?",
			bank.Tenant, account.UID).Exec(t.Context())
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := bank.Ledger.Prove(access.Operator(t.Context(), bank.Tenant, bank.Code, nil))
	if err != nil || len(want) < 3 {
		t.Fatalf("the bank finds %v (%v)", want, err)
	}
	if diff := cmp.Diff(want, coretest.Broken(t, bank.Ledger, bank.Tenant)); diff != "" {
		t.Error(diff)
	}
}

func TestTheClockStandsUntilItIsMoved(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	if !bank.Now().Equal(coretest.Start) {
		t.Error("it does not begin at Start")
	}
	bank.Clock.Advance(90)
	if got := bank.Now().Sub(coretest.Start); got != 90 {
		t.Errorf("moved by %d", got)
	}
	if bank.Customer().CreatedAt != bank.Now() {
		t.Error("the makers have another clock")
	}
}
