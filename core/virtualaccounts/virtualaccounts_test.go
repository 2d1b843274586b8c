package virtualaccounts_test

import (
	"context"
	"errors"
	"regexp"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/virtualaccounts"
)

func draft(on *accounts.Account) virtualaccounts.Draft {
	return virtualaccounts.Draft{
		Name: given.Of("Suite 100"), ProductCode: given.Of("RENT"),
		MasterNumber: given.Of(coretest.AccountNumber(on.UID)), Purpose: given.Of("Rent"), Whole: true,
	}
}

func open(
	t *testing.T, b *coretest.Bank, as context.Context, of customers.UID, d virtualaccounts.Draft,
) (*virtualaccounts.Shown, error) {
	t.Helper()
	out, err := b.VirtualAccounts.Open(as, of, d, changes.RequestOptions{})
	if err != nil {
		return nil, err
	}
	found, err := b.VirtualAccounts.Show(as, of, out.Result.UID)
	if err != nil {
		t.Fatal(err)
	}
	return found, nil
}

var form = regexp.MustCompile(`^8\d{13}$`)

func TestTheBankGivesNumbersThatFollowNoOrder(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	master := b.Account(b.Customer())
	seen := map[virtualaccounts.Number]bool{}
	var all []virtualaccounts.Number
	for range 20 {
		v, err := open(t, b, b.Staff(), master.Customer, draft(master))
		if err != nil {
			t.Fatal(err)
		}
		if !form.MatchString(string(v.Clear)) || seen[v.Clear] || v.Clear.Whole() >= 1<<53 {
			t.Error(v.Clear)
		}
		seen[v.Clear], all = true, append(all, v.Clear)
		found, err := b.VirtualAccounts.Find(b.Staff(), master.Customer, v.Clear)
		if err != nil || found.UID != v.UID || found.Currency != "USD" ||
			found.Status != virtualaccounts.Active ||
			found.Master.Last4 != coretest.AccountNumber(master.UID)[len(coretest.AccountNumber(master.UID))-4:] {
			t.Error(found, err)
		}
	}
	ordered := true
	for i := range all[1:] {
		ordered = ordered && all[i] < all[i+1]
	}
	if ordered {
		t.Error("the numbers go up")
	}
}

// No account gets the number of a virtual account: what comes in would have two receivers.
func TestNoAccountHasTheNumberOfAVirtualAccount(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	master := b.Account(b.Customer())
	v := b.VirtualAccount(master)
	d := accounts.Draft{
		Name: given.Of("Second"), Type: new(accounts.Deposit), SubType: new(accounts.Checking),
		Currency:       &master.Currency,
		SystemOfRecord: new(accounts.InternalCore), CountryCode: given.Of("US"), BankID: given.Of(master.BankID),
		MasterGL: given.Of("1000"),
		Number:   given.Of(coretest.VirtualNumber(v.UID)),
	}
	if _, err := b.Accounts.Open(b.Staff(), master.Customer, d,
		changes.RequestOptions{}); !errors.Is(err, accounts.ErrNumberTaken) {
		t.Error(err)
	}
	d.Number = given.Of(coretest.VirtualNumber(v.UID + 1))
	if _, err := b.Accounts.Open(b.Staff(), master.Customer, d, changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	d.Number = given.Of(coretest.VirtualNumber(v.UID))
	_, err := b.Accounts.Change(b.Staff(), 0, master.UID, accounts.Draft{Number: d.Number},
		changes.RequestOptions{})
	if !errors.Is(err, accounts.ErrNumberTaken) {
		t.Error(err)
	}
}

func TestAMasterAccountIsAnActiveOneOfTheCustomer(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	own := b.Customer()
	for name, check := range map[string]struct {
		master *accounts.Account
		want   error
	}{
		"another customer's": {b.Account(b.Customer()), virtualaccounts.ErrMaster},
		"closed": {
			b.Account(own, func(a *accounts.Account) { a.Status = accounts.Closed }),
			virtualaccounts.ErrMasterState,
		},
		"kept elsewhere": {
			b.Account(own, func(a *accounts.Account) { a.SystemOfRecord = accounts.External }),
			virtualaccounts.ErrMasterState,
		},
		"its own": {b.Account(own), nil},
	} {
		if _, err := open(t, b, b.Staff(), own.UID, draft(check.master)); !errors.Is(err, check.want) {
			t.Errorf("%s: %v, want %v", name, err, check.want)
		}
	}
}

func TestAChangeKeepsTheMasterAccount(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	own := b.Customer()
	master, other := b.Account(own), b.Account(own)
	v := b.VirtualAccount(master)
	change := func(d virtualaccounts.Draft) error {
		_, err := b.VirtualAccounts.ChangeNumbered(b.Staff(), own.UID,
			virtualaccounts.Number(coretest.VirtualNumber(v.UID)), d, changes.RequestOptions{})
		return err
	}
	masked := draft(master)
	number := coretest.AccountNumber(master.UID)
	masked.MasterNumber = given.Of("****" + number[len(number)-4:])
	wrong := masked
	wrong.MasterNumber = given.Of("****0000")
	for name, check := range map[string]struct {
		draft virtualaccounts.Draft
		want  error
	}{
		"whole": {draft(master), nil}, "masked": {masked, nil},
		"another":            {draft(other), virtualaccounts.ErrMasterStays},
		"masked, of another": {wrong, virtualaccounts.ErrMasterStays},
	} {
		if err := change(check.draft); !errors.Is(err, check.want) {
			t.Errorf("%s: %v, want %v", name, err, check.want)
		}
	}
	found, err := b.VirtualAccounts.Show(b.Staff(), own.UID, v.UID)
	if err != nil || found.Name != "Suite 100" || found.Version != 3 ||
		found.ExternalAccountReference != v.ExternalAccountReference {
		t.Error(found, err)
	}
}

func TestVirtualAccountsAreFoundByWhatTheyAre(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	master, yen := b.Account(b.Customer(coretest.OwnedBy(partner))),
		b.Account(b.Customer(), func(a *accounts.Account) { a.Currency = "JPY" })
	one := b.VirtualAccount(master,
		func(v *virtualaccounts.VirtualAccount) { v.Purpose = "Deposits of tenants" })
	two := b.VirtualAccount(yen, func(v *virtualaccounts.VirtualAccount) {
		v.Status, v.CreatedAt, v.UpdatedAt = virtualaccounts.Closed, b.Now().AddDate(0, 0, -2),
			b.Now().AddDate(0, 0, -2)
	})
	b.Exec(`UPDATE virtual_accounts SET balance = 500 WHERE tenant = ?`, b.Tenant)
	day := time.Date(2026, 11, 18, 0, 0, 0, 0, time.UTC)
	for name, check := range map[string]struct {
		by   virtualaccounts.Search
		want []virtualaccounts.UID
	}{
		"all":      {virtualaccounts.Search{}, []virtualaccounts.UID{one.UID, two.UID}},
		"customer": {virtualaccounts.Search{Customer: master.Customer}, []virtualaccounts.UID{one.UID}},
		"partner":  {virtualaccounts.Search{Partner: partner.UID}, []virtualaccounts.UID{one.UID}},
		"master":   {virtualaccounts.Search{Master: yen.UID}, []virtualaccounts.UID{two.UID}},
		"number of master": {
			virtualaccounts.Search{MasterNumber: coretest.AccountNumber(yen.UID)},
			[]virtualaccounts.UID{two.UID},
		},
		"number": {
			virtualaccounts.Search{Number: virtualaccounts.Number(coretest.VirtualNumber(one.UID))},
			[]virtualaccounts.UID{one.UID},
		},
		"name":    {virtualaccounts.Search{Name: "TENANT 1"}, []virtualaccounts.UID{one.UID}},
		"purpose": {virtualaccounts.Search{Purpose: "deposits"}, []virtualaccounts.UID{one.UID}},
		"reference": {
			virtualaccounts.Search{ExternalAccountReference: two.ExternalAccountReference},
			[]virtualaccounts.UID{two.UID},
		},
		"status": {
			virtualaccounts.Search{Status: []virtualaccounts.Status{virtualaccounts.Closed}},
			[]virtualaccounts.UID{two.UID},
		},
		"created from": {virtualaccounts.Search{CreatedFrom: day}, []virtualaccounts.UID{one.UID}},
		"created to": {
			virtualaccounts.Search{CreatedTo: day.AddDate(0, 0, -1)},
			[]virtualaccounts.UID{two.UID},
		},
		"updated to":   {virtualaccounts.Search{UpdatedTo: day}, []virtualaccounts.UID{one.UID, two.UID}},
		"balance from": {virtualaccounts.Search{BalanceFrom: "5.01"}, []virtualaccounts.UID{two.UID}}, // 500 yen
		"balance to":   {virtualaccounts.Search{BalanceTo: "5"}, []virtualaccounts.UID{one.UID}},
		"balance of both": {
			virtualaccounts.Search{BalanceFrom: "5", BalanceTo: "500"},
			[]virtualaccounts.UID{one.UID, two.UID},
		},
	} {
		found, err := b.VirtualAccounts.Page(b.Staff(), check.by, page.First(10))
		if err != nil || int(found.Total) != len(check.want) || len(found.Items) != len(check.want) {
			t.Errorf("%s: %v %v", name, found, err)
			continue
		}
		for i, v := range found.Items {
			if v.UID != check.want[i] {
				t.Errorf("%s: %v", name, v.UID)
			}
		}
	}
	// pages count from the first row
	found, err := b.VirtualAccounts.Page(b.Partner(partner), virtualaccounts.Search{}, page.Numbered(2, 1))
	if err != nil || found.Total != 1 || len(found.Items) != 0 {
		t.Error(found, err)
	}
}

func TestVirtualAccountsAreSeenWithTheirCustomerOnly(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	partner := b.DownstreamPartner()
	ours, banks := b.Account(b.Customer(coretest.OwnedBy(partner))), b.Account(b.Customer())
	own, foreign := b.VirtualAccount(ours), b.VirtualAccount(banks)
	as := b.Partner(partner)
	number := func(v *virtualaccounts.VirtualAccount) virtualaccounts.Number {
		return virtualaccounts.Number(coretest.VirtualNumber(v.UID))
	}
	if found, err := b.VirtualAccounts.Find(as, ours.Customer, number(own)); err != nil ||
		found.Clear != number(own) {
		t.Error(found, err)
	}
	if _, err := b.VirtualAccounts.Find(as, ours.Customer,
		number(foreign)); !errors.Is(err, virtualaccounts.ErrNotFound) {
		t.Error(err)
	}
	if _, err := b.VirtualAccounts.Find(as, banks.Customer,
		number(foreign)); !errors.Is(err, customers.ErrOutOfScope) {
		t.Error(err)
	}
	if _, err := b.VirtualAccounts.CloseNumbered(as, banks.Customer, number(foreign),
		changes.RequestOptions{}); !errors.Is(err, customers.ErrOutOfScope) {
		t.Error(err)
	}
	if _, err := b.VirtualAccounts.Close(as, 0, foreign.UID,
		changes.RequestOptions{}); !errors.Is(err, virtualaccounts.ErrNotFound) {
		t.Error(err)
	}
	if _, err := b.VirtualAccounts.CloseNumbered(b.As(access.ViewAccounts), ours.Customer, number(own),
		changes.RequestOptions{}); !errors.Is(err, access.ErrDenied) {
		t.Error(err)
	}
	if found, err := b.VirtualAccounts.Page(as, virtualaccounts.Search{Customer: banks.Customer},
		page.First(5)); err != nil || found.Total != 0 {
		t.Error(found, err)
	}
	if _, err := open(t, b, as, ours.Customer, draft(banks)); !errors.Is(err, virtualaccounts.ErrMaster) {
		t.Error(err)
	}
}

// Nothing is credited to an account that has been closed while its virtual account waited.
func TestAVirtualAccountIsApprovedWhileItsMasterIsActive(t *testing.T) {
	t.Parallel()
	b := coretest.New(t)
	master := b.Account(b.Customer(func(c *customers.Customer) { c.Access.CustomerDualApproval = true }))
	out, err := b.VirtualAccounts.Open(b.Staff(), master.Customer, draft(master), changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	b.Exec(`UPDATE accounts SET status = 'Closed' WHERE tenant = ? AND uid = ?`, b.Tenant, master.UID)
	_, err = b.Changes.Approve(b.Checker(), changes.UID(out.Approval), changes.RequestOptions{})
	if !errors.Is(err, virtualaccounts.ErrMasterState) {
		t.Error(err)
	}
	if _, err := b.Changes.Refuse(b.Checker(), changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
}

// One that waits for a second person is Suspended, and Closed if that person says no.
func TestAVirtualAccountWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	for approved, want := range map[bool]virtualaccounts.Status{
		true: virtualaccounts.Active, false: virtualaccounts.Closed,
	} {
		b := coretest.New(t)
		master := b.Account(b.Customer(func(c *customers.Customer) { c.Access.CustomerDualApproval = true }))
		out, err := b.VirtualAccounts.Open(b.Staff(), master.Customer, draft(master), changes.RequestOptions{})
		if err != nil || out.Approval == 0 {
			t.Fatal(out, err)
		}
		waits, err := b.VirtualAccounts.Show(b.Staff(), master.Customer, out.Result.UID)
		if err != nil || waits.Status != virtualaccounts.Suspended {
			t.Error(waits, err)
		}
		decide := b.Changes.Refuse
		if approved {
			decide = b.Changes.Approve
		}
		if _, err := decide(b.Checker(), changes.UID(out.Approval), changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
		now, err := b.VirtualAccounts.Show(b.Staff(), master.Customer, out.Result.UID)
		if err != nil || now.Status != want {
			t.Error(now, err)
		}
	}
}
