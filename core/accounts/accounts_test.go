package accounts_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/page"
	"bankgraph/core/seal"
	"bankgraph/db"
)

func list(
	t *testing.T, bank *coretest.Bank, ctx context.Context, of *customers.Customer, by accounts.Search,
	w page.Window,
) []accounts.UID {
	t.Helper()
	found, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[customers.UID, accounts.Account] {
		return bank.Accounts.OfCustomers(ctx, b, []customers.UID{of.UID}, by, db.Columns{}, w)
	})
	if err != nil {
		t.Fatal(err)
	}
	return uids(page.Cut(found[of.UID], w).Items...)
}

func count(t *testing.T, bank *coretest.Bank, of *customers.Customer, by accounts.Search) int {
	t.Helper()
	found, err := coretest.Many(bank, bank.Staff(), func(b *db.Batch) *db.Many[customers.UID, db.Count] {
		return bank.Accounts.CountOfCustomers(bank.Staff(), b, []customers.UID{of.UID}, by, 0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(found[of.UID]) == 0 {
		return 0
	}
	return int(found[of.UID][0].N)
}

func uids(all ...*accounts.Account) (of []accounts.UID) {
	for _, a := range all {
		of = append(of, a.UID)
	}
	return of
}

func find(
	t *testing.T, bank *coretest.Bank, ctx context.Context, uid accounts.UID, want db.Columns,
) (*accounts.Account, error) {
	t.Helper()
	found, err := coretest.Many(bank, ctx, func(b *db.Batch) *db.Many[accounts.UID, accounts.Account] {
		return bank.Accounts.FindMany(ctx, b, []accounts.UID{uid}, want)
	})
	if err != nil || len(found[uid]) == 0 {
		return nil, err
	}
	return found[uid][0], nil
}

func byNumber(t *testing.T, bank *coretest.Bank, ctx context.Context, number string) *accounts.Account {
	t.Helper()
	rows, err := coretest.Rows(bank, ctx, func(b *db.Batch) *db.Rows[accounts.Found] {
		return bank.Accounts.FindWith(ctx, b, accounts.By{Number: number}, db.Columns{}, db.Columns{})
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) == 0 {
		return nil
	}
	return &rows[0].Account
}

func TestEachFilterOfASearchNarrowsIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Account(bank.Customer()) // another customer's is never found
	plain := bank.Account(customer,
		func(a *accounts.Account) { a.EnableWires, a.EnableDomesticWires = false, false })
	special := bank.Account(customer, func(a *accounts.Account) {
		a.Type, a.SubType, a.Status, a.Currency, a.CostCenter = accounts.Loan, accounts.Heloc, accounts.Suspended,
			"EUR", "CC9"
		a.EnableACH, a.EnableFedNow, a.EnableRTP, a.EnableSWIFT = true, true, true, true
	})
	yes, no := true, false
	none := []accounts.UID(nil)
	for name, search := range map[string]struct {
		by   accounts.Search
		want []accounts.UID
	}{
		"nothing":                   {accounts.Search{}, uids(plain, special)},
		"number":                    {accounts.Search{Number: coretest.AccountNumber(special.UID)}, uids(special)},
		"the end of a number":       {accounts.Search{Number: coretest.AccountNumber(special.UID)[4:]}, none},
		"type":                      {accounts.Search{Type: accounts.Loan}, uids(special)},
		"sub-type":                  {accounts.Search{SubType: accounts.Checking}, uids(plain)},
		"status":                    {accounts.Search{Status: accounts.Suspended}, uids(special)},
		"currency":                  {accounts.Search{Currency: "EUR"}, uids(special)},
		"cost center":               {accounts.Search{CostCenter: "CC9"}, uids(special)},
		"cost center in lower case": {accounts.Search{CostCenter: "cc9"}, none},
		"wires":                     {accounts.Search{Wires: &yes}, uids(special)},
		"no wires":                  {accounts.Search{Wires: &no}, uids(plain)},
		"ACH":                       {accounts.Search{ACH: &yes}, uids(special)},
		"FedNow":                    {accounts.Search{FedNow: &yes}, uids(special)},
		"no RTP":                    {accounts.Search{RTP: &no}, uids(plain)},
		"SWIFT":                     {accounts.Search{SWIFT: &yes}, uids(special)},
		"two that both hold":        {accounts.Search{Type: accounts.Loan, RTP: &yes}, uids(special)},
		"two of which one does not": {accounts.Search{Type: accounts.Loan, RTP: &no}, none},
	} {
		if diff := cmp.Diff(search.want,
			list(t, bank, bank.Staff(), customer, search.by, page.First(10))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if n := count(t, bank, customer, search.by); n != len(search.want) {
			t.Errorf("%s counts %d", name, n)
		}
	}
}

func TestAccountsOfManyCustomersComeInTheirOrder(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	var of []customers.UID
	want := map[customers.UID][]accounts.UID{}
	for i := range 4 {
		customer := bank.Customer()
		of = append(of, customer.UID)
		for range i { // the first has none
			want[customer.UID] = append(want[customer.UID], bank.Account(customer).UID)
		}
	}
	for _, w := range []page.Window{
		page.First(2), page.First(10),
		{Size: 2, Backward: true},
		page.Numbered(2, 1),
	} {
		found, err := coretest.Many(bank, bank.Staff(),
			func(b *db.Batch) *db.Many[customers.UID, accounts.Account] {
				return bank.Accounts.OfCustomers(bank.Staff(), b, of, accounts.Search{}, db.Columns{}, w)
			})
		if err != nil {
			t.Fatal(err)
		}
		for customer, all := range want {
			cut := page.Cut(found[customer], w)
			part := all[min(w.Offset, len(all)):]
			if w.Backward {
				part = part[max(0, len(part)-w.Size):]
			} else {
				part = part[:min(w.Size, len(part))]
			}
			if got := uids(cut.Items...); !slices.Equal(got, part) {
				t.Errorf("window %+v, customer %s: %v, want %v", w, customer, got, part)
			}
			if further := len(all)-w.Offset > w.Size; cut.Further != further {
				t.Errorf("window %+v, customer %s: further %v", w, customer, cut.Further)
			}
		}
	}
}

func TestACursorGoesOnBehindItsAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	var all []*accounts.Account
	for range 5 {
		all = append(all, bank.Account(customer))
	}
	at := page.Cursor{UID: int64(all[2].UID)}
	if got := list(t, bank, bank.Staff(), customer, accounts.Search{},
		page.Window{Size: 9, Cursor: at}); !slices.Equal(got, uids(all[3:]...)) {
		t.Errorf("after: %v", got)
	}
	if got := list(t, bank, bank.Staff(), customer, accounts.Search{},
		page.Window{Size: 1, Cursor: at, Backward: true}); !slices.Equal(got, uids(all[1])) {
		t.Errorf("before: %v", got)
	}
	if got := list(t, bank, bank.Staff(), customer, accounts.Search{Status: accounts.Active},
		page.Window{Size: 9, Cursor: at, Backward: true}); !slices.Equal(got, uids(all[:2]...)) {
		t.Errorf("before, with a filter: %v", got)
	}
}

func TestWhatIsAvailableIsTheLedgerLessTheHolds(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	for _, c := range []struct {
		ledger, held int64
		available    string
		status       string
	}{
		{250_00, 30_50, "219.50", "Available"},
		{0, 0, "0.00", "NSF"},
		{10_00, 10_00, "0.00", "NSF"},
		{-75_25, 0, "-75.25", "NSF"},
	} {
		account := bank.Account(customer, coretest.Holding(c.ledger, c.held))
		got, err := find(t, bank, bank.Staff(), account.UID, db.Columns{})
		if err != nil {
			t.Fatal(err)
		}
		balances := got.Balances()
		if balances == nil || balances.Ledger.Minor != c.ledger || balances.Held.Minor != c.held ||
			balances.Available.String() != c.available || balances.AvailableStatus() != c.status {
			t.Errorf("%+v: %+v", c, balances)
		}
	}
	bank.Prove()
}

func TestABalanceKeptElsewhereIsUnknownHere(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	for _, system := range []accounts.SystemOfRecord{accounts.OtherCore, accounts.External} {
		account := bank.Account(customer, func(a *accounts.Account) { a.SystemOfRecord = system })
		// What goes through here may be booked here; it is not the balance.
		bank.Exec("INSERT INTO balances (tenant, account, currency) VALUES (?, ?, 'USD')", bank.Tenant, account.UID)
		if got, err := find(t, bank, bank.Staff(), account.UID, db.Columns{}); err != nil || got == nil ||
			got.Balances() != nil {
			t.Errorf("%s: %+v %v", system, got, err)
		}
	}
}

func TestBalancesAreReadOnlyWhereWanted(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer(), func(a *accounts.Account) { a.Currency = "EUR" })
	if got, _ := find(t, bank, bank.Staff(), account.UID, accounts.WithoutBalances()); got.Balances() != nil ||
		got.Name != account.Name {
		t.Errorf("without: %+v", got.Balances())
	}
	if got, _ := find(t, bank, bank.Staff(), account.UID,
		db.ColumnsOf[accounts.Account]("Balance", "Currency")); got.Balances() == nil ||
		got.Balances().Ledger.Currency != "EUR" || got.Name != "" {
		t.Errorf("with: %+v", got)
	}
	if got, _ := find(t, bank, bank.Staff(), account.UID,
		db.ColumnsOf[accounts.Account]("Balance")); got.Balances() == nil || got.Currency != "EUR" {
		t.Errorf("an amount without its currency: %+v", got.Balances())
	}
}

func TestAnAccountIsFoundByItsNumberWithinTheScope(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	ours, theirs := bank.Account(bank.Customer(coretest.OwnedBy(partner))),
		bank.Account(bank.Customer(coretest.OwnedBy(rival)))
	banks := bank.Account(bank.Customer())
	for _, account := range []*accounts.Account{ours, theirs, banks} {
		if got := byNumber(t, bank, bank.Staff(), coretest.AccountNumber(account.UID)); got == nil ||
			got.UID != account.UID {
			t.Errorf("staff: %v", got)
		}
		got := byNumber(t, bank, bank.Partner(partner), coretest.AccountNumber(account.UID))
		if visible := account == ours; visible != (got != nil) {
			t.Errorf("the partner: %v", got)
		}
	}
	if got := byNumber(t, bank, bank.Staff(), "999"); got != nil {
		t.Errorf("a number that nobody has: %v", got)
	}
	if got, err := find(t, bank, bank.Partner(partner), theirs.UID, db.Columns{}); got != nil || err != nil {
		t.Errorf("by UID: %v %v", got, err)
	}
	if got, err := find(t, bank, bank.Partner(partner), ours.UID, db.Columns{}); got == nil || err != nil {
		t.Errorf("its own by UID: %v %v", got, err)
	}
}

func TestTheSameNumberAtAnotherBankIsAnotherAccount(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer(), func(a *accounts.Account) { a.Name = "Shared by the twins" })
	other := bank.Other()
	alone := other.Account(other.Customer())
	if got := byNumber(t, other, other.Staff(), coretest.AccountNumber(account.UID)); got == nil ||
		got.Tenant == bank.Tenant {
		t.Errorf("the twin: %v", got)
	}
	if got := byNumber(t, bank, bank.Staff(), coretest.AccountNumber(alone.UID)); got != nil {
		t.Errorf("the other bank's: %v", got)
	}
	if got, _ := find(t, bank, bank.Staff(), alone.UID, db.Columns{}); got != nil {
		t.Errorf("the other bank's by UID: %v", got)
	}
}

func TestTheCustomerComesAlongWhereItMayBeSeen(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	customer := bank.Customer(coretest.OwnedBy(partner), coretest.Named("Comes Along LLC"))
	account := bank.Account(customer)
	want := db.ColumnsOf[customers.Customer]("LegalName", "LegalAddress.City")
	for _, caller := range []struct {
		ctx  context.Context
		name string
	}{
		{bank.Staff(), "Comes Along LLC"},
		{bank.Partner(partner), "Comes Along LLC"},
		{bank.As(access.ViewAccounts), ""},
	} {
		for _, by := range []accounts.By{{UID: account.UID}, {Number: coretest.AccountNumber(account.UID)}} {
			rows, err := coretest.Rows(bank, caller.ctx, func(b *db.Batch) *db.Rows[accounts.Found] {
				return bank.Accounts.FindWith(caller.ctx, b, by, db.Columns{}, want)
			})
			if err != nil || len(rows) != 1 || rows[0].Account.UID != account.UID ||
				rows[0].Customer.LegalName != caller.name || rows[0].Account.Balances() == nil {
				t.Errorf("%+v: %+v %v", by, rows, err)
			}
		}
	}
}

func TestADeletedAccountIsGoneFromEveryAnswer(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	kept := bank.Account(customer)
	gone := bank.Account(customer, func(a *accounts.Account) { at := a.CreatedAt; a.DeletedAt = &at })
	if got := list(t, bank, bank.Staff(), customer, accounts.Search{},
		page.First(10)); !slices.Equal(got, uids(kept)) {
		t.Errorf("listed: %v", got)
	}
	if n := count(t, bank, customer, accounts.Search{}) +
		count(t, bank, customer, accounts.Search{Status: accounts.Active}); n != 2 {
		t.Errorf("counted: %d", n)
	}
	if got, _ := find(t, bank, bank.Staff(), gone.UID, db.Columns{}); got != nil {
		t.Errorf("found: %v", got)
	}
	if got := byNumber(t, bank, bank.Staff(), coretest.AccountNumber(gone.UID)); got != nil {
		t.Errorf("found by number: %v", got)
	}
	// Its number may be used again.
	again := bank.Account(customer, func(a *accounts.Account) {
		a.Number = bank.Keys.Seal(coretest.AccountNumber(gone.UID),
			seal.Place{Tenant: int64(bank.Tenant), Column: accounts.NumberColumn, Row: int64(a.UID)})
	})
	if got := byNumber(t, bank, bank.Staff(), coretest.AccountNumber(gone.UID)); got == nil ||
		got.UID != again.UID {
		t.Errorf("the new one: %v", got)
	}
}

func TestAccountsAreForThoseWhoMayViewThem(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer())
	for _, caller := range []struct {
		ctx  context.Context
		want error
	}{
		{bank.Nobody(), access.ErrUnauthenticated},
		{bank.As(access.ManageCustomers), access.ErrDenied},
		{bank.As(access.ViewAccounts), nil},
		{bank.As(access.ManageAccounts), nil},
	} {
		ctx := caller.ctx
		b := bank.Batch()
		errs := []error{
			bank.Accounts.OfCustomers(ctx, b, []customers.UID{account.Customer},
				accounts.Search{}, db.Columns{},
				page.First(1)).Err,
			bank.Accounts.CountOfCustomers(ctx, b, []customers.UID{account.Customer}, accounts.Search{}, 0).Err,
			bank.Accounts.FindMany(ctx, b, []accounts.UID{account.UID}, db.Columns{}).Err,
			bank.Accounts.FindWith(ctx, b, accounts.By{UID: account.UID}, db.Columns{}, db.Columns{}).Err,
		}
		if allowed := caller.want == nil; allowed != (b.Len() == 4) || !allowed && b.Len() != 0 {
			t.Errorf("%d reads were queued, want error %v", b.Len(), caller.want)
		}
		for _, err := range errs {
			if caller.want != nil && !errors.Is(err, caller.want) {
				t.Errorf("%v, want %v", err, caller.want)
			}
		}
	}
}

func TestTheNumberIsNeverReadInTheClear(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	account := bank.Account(bank.Customer())
	got, err := find(t, bank, bank.Staff(), account.UID, db.Columns{})
	number := coretest.AccountNumber(account.UID)
	if err != nil || got.Number.Sealed != nil || got.Number.Hash != nil ||
		got.Number.Masked() != "****"+number[len(number)-4:] {
		t.Errorf("%#v %v", got.Number, err)
	}
	if got, _ := find(t, bank, bank.Staff(), account.UID,
		db.ColumnsOf[accounts.Account]("Number")); got.Number.Sealed != nil || got.Number.Last4 == "" {
		t.Errorf("wanted by name: %v", got.Number.Sealed)
	}
}

func TestAnAccountNumberIsLettersAndDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]fault.Problem{
		"": fault.Required, strings.Repeat("1", 36): fault.Max, "12 34": fault.Malformed, "12-34": fault.Malformed,
		"1²": fault.Malformed,
		"١٢": fault.Malformed, "1\x00": fault.Malformed, "0": fault.AllZero, strings.Repeat("0", 35): fault.AllZero,
	} {
		_, err := accounts.ParseNumber("accountNumber", text)
		if f, ok := fault.Of(err); !ok || f.Problem != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"1", "DE89370400440532013000", strings.Repeat("9", 35), "00a"} {
		if got, err := accounts.ParseNumber("accountNumber", text); err != nil || got != text {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestFormerSpellingsOfSubTypesAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]accounts.SubType{
		"Saving": accounts.Savings, "Psuedo": accounts.Pseudo, "HSA": accounts.HealthSavings,
		"HSA (Health Saving Account)": accounts.HealthSavings, "MoneyMarket": accounts.MoneyMarket,
		"lineofcredit": accounts.LineOfCredit, "money market": accounts.MoneyMarket, "CD": accounts.CD,
	} {
		if got, err := accounts.ParseSubType("accountSubType", text); err != nil || got != want {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
	for _, text := range []string{"", "Current", "Savingss"} {
		if _, err := accounts.ParseSubType("accountSubType", text); err == nil {
			t.Errorf("%q is a sub-type", text)
		}
	}
}

func TestAnAmountThatIsUnsetHasNone(t *testing.T) {
	t.Parallel()
	cents := int64(5)
	account := &accounts.Account{Currency: "JPY", CallbackLimit: &cents}
	if got := account.Limit(account.CallbackLimit); got == nil || got.String() != "5" {
		t.Errorf("%v", got)
	}
	if got := account.Limit(account.DebitExposureLimit); got != nil {
		t.Errorf("%v", got)
	}
}
