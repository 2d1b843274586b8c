package roles_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/roles"
)

func draft(name string, applications ...roles.GrantDraft) roles.Draft {
	if applications == nil {
		applications = []roles.GrantDraft{{Name: "Accounts", Entitlements: []string{"View_Account"}}}
	}
	return roles.Draft{
		Name: given.Of(name), Description: given.Of("For tests"), Applications: given.Of(applications),
	}
}

func grant(name string, entitlements ...string) roles.GrantDraft {
	return roles.GrantDraft{Name: name, Entitlements: entitlements}
}

func find(t *testing.T, bank *coretest.Bank, of *customers.Customer, uid roles.UID) *roles.Role {
	t.Helper()
	r, err := bank.Roles.Find(bank.Staff(), of.UID, uid)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARoleIsKeptInTheWordsOfTheCatalogue(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	out, err := bank.Roles.Create(bank.Staff(), customer.UID, draft("Payments Clerk 2", roles.GrantDraft{
		Name: "payments", Entitlements: []string{"VIEW_payments", "Initiate_Payments", "view_payments"},
		Limits: []roles.LimitDraft{{"daily_payment_limits", "1000.5"}, {"Monthly_Payment_Limits", ""}},
	}), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := find(t, bank, customer, out.Result.UID)
	want := []roles.Grant{{
		Name: "Payments", Entitlements: []string{"View_Payments", "Initiate_Payments"},
		Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 1000_50, Currency: "USD"}},
	}}
	if diff := cmp.Diff(want, r.Applications); diff != "" {
		t.Error(diff)
	}
	if r.Type != roles.Customer || r.Owner != roles.OwnerBank || r.Status != roles.Active || r.Version != 1 ||
		out.Version != 1 {
		t.Errorf("%+v", r)
	}
}

func TestWhatIsWrongWithARoleIsNamed(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	limited := func(name, value string) roles.GrantDraft {
		return roles.GrantDraft{
			Name: "Payments", Entitlements: []string{"View_Payments"}, Limits: []roles.LimitDraft{{name, value}},
		}
	}
	for want, d := range map[string]roles.Draft{
		"name: is required":             {},
		"name: must be made of letters": draft("Clerk!"),
		"description: is required": {
			Name: given.Of("Clerk"), Applications: draft("x").Applications,
		},
		"applications: is required":                   {Name: given.Of("Clerk"), Description: given.Of("x")},
		"applications[0].name: is not an application": draft("Clerk", grant("Lottery", "Play")),
		"applications[0].entitlements: is required":   draft("Clerk", grant("Payments")),
		"applications[0].entitlements[1]: is not an entitle": draft("Clerk",
			grant("Payments", "View_Payments", "View_Account")),
		"applications[1].name: is there twice": draft("Clerk", grant("Contacts", "View_Contacts"),
			grant("contacts", "Manage_Contacts")),
		"applications[0].limits[0].name: is not a limit": draft("Clerk", limited("Daily_Limit", "1")),
		"applications[0].limits[0].value: must be":       draft("Clerk", limited("Daily_Payment_Limits", "-1")),
		"applications[0].limits[0].value: must be an amount": draft("Clerk",
			limited("Daily_Payment_Limits", "1.005")),
		"applications[0].name: is for the bank's own people": draft("Clerk",
			grant("Bank_Administration", "Explore_GraphQL")),
	} {
		_, err := bank.Roles.Create(bank.Staff(), customer.UID, d, changes.RequestOptions{})
		if f, ok := fault.Of(err); !ok || f.Kind != fault.Invalid || !strings.HasPrefix(f.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTheBanksOwnPeopleHaveRolesOfTheBank(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	out, err := bank.Roles.Create(bank.Staff(), bank.Self.UID,
		draft("Explorer", grant("Bank_Administration", "Explore_GraphQL")), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, bank, bank.Self, out.Result.UID); r.Type != roles.Bank ||
		!slices.Equal(r.Permissions(), []access.Permission{access.ExploreGraphQL}) {
		t.Errorf("%+v", r)
	}
	partner := bank.DownstreamPartner()
	_, err = bank.Roles.Create(bank.Partner(partner), bank.Self.UID, draft("Explorer"), changes.RequestOptions{})
	if !errors.Is(err, customers.ErrOutOfScope) {
		t.Errorf("a partner makes a role of the bank: %v", err)
	}
}

func TestNobodyGrantsWhatTheyDoNotHave(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	held := bank.Role(customer)
	powerful := bank.Role(customer, func(r *roles.Role) {
		r.Applications = []roles.Grant{{Name: "Accounts", Entitlements: []string{"Manage_Account"}}}
	})
	clerk := bank.As(access.ManageRoles, access.ManageContacts, access.ViewAccounts)
	for _, check := range []struct {
		name string
		give roles.GrantDraft
		want error
	}{
		{"what it has", grant("Accounts", "View_Account"), nil},
		{"what its permissions imply", grant("Contacts", "View_Contacts", "Manage_Contacts"), nil},
		{"what opens doors of other programs", grant("Digital_Banking_Portal", "View_Portal"), nil},
		{"more than it has", grant("Accounts", "View_Account", "Manage_Account"), roles.ErrBeyond},
		{"what another application has", grant("Customers", "mCust"), roles.ErrBeyond},
	} {
		if _, err := bank.Roles.Create(clerk, customer.UID, draft(check.name, check.give),
			changes.RequestOptions{}); !errors.Is(err, check.want) {
			t.Errorf("create with %s: %v", check.name, err)
		}
		d := roles.Draft{Applications: given.Of([]roles.GrantDraft{check.give})}
		if _, err := bank.Roles.Change(clerk, customer.UID, held.UID, d,
			changes.RequestOptions{}); !errors.Is(err, check.want) {
			t.Errorf("change to %s: %v", check.name, err)
		}
	}
	for name, d := range map[string]roles.Draft{"strip": draft("Clerk"), "rename": {Name: given.Of("Clerk")}} {
		if _, err := bank.Roles.Change(clerk, customer.UID, powerful.UID, d,
			changes.RequestOptions{}); !errors.Is(err, roles.ErrBeyond) {
			t.Errorf("%s a role that grants more: %v", name, err)
		}
	}
}

func TestACustomersRoleNeverReachesWhatOnlyTheBankMay(t *testing.T) {
	t.Parallel()
	r := roles.Role{Type: roles.Customer, Applications: roles.Everything(roles.Bank)}
	for _, p := range r.Permissions() {
		if !slices.Contains(access.Partners, p) {
			t.Errorf("it grants %s", p)
		}
	}
	r.Type = roles.Bank
	if len(r.Permissions()) <= len(access.Partners) {
		t.Error("the bank's own role does not reach further")
	}
}

func TestEveryPermissionCanBeGrantedByARole(t *testing.T) {
	t.Parallel()
	admin := roles.Administrator(1, 1, coretest.Start)
	for _, p := range access.All {
		if !slices.Contains(admin.Permissions(), p) {
			t.Errorf("no entitlement grants %s", p)
		}
	}
}

func TestANameIsTakenWithinItsCustomerOnly(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	one, other := bank.Customer(), bank.Customer()
	for _, check := range []struct {
		of   *customers.Customer
		name string
		want error
	}{
		{one, "Clerk", nil},
		{one, "cLERK", roles.ErrTaken},
		{one, " Clerk  ", roles.ErrTaken},
		{other, "Clerk", nil},
	} {
		if _, err := bank.Roles.Create(bank.Staff(), check.of.UID, draft(check.name),
			changes.RequestOptions{}); !errors.Is(err, check.want) {
			t.Errorf("%s: %v, want %v", check.name, err, check.want)
		}
	}
}

func TestOfTwoChangesOfOneVersionOneIsStale(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r := bank.Role(customer)
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i, name := range []string{"One", "Two"} {
		all.Go(func() {
			_, errs[i] = bank.Roles.Change(bank.Staff(), customer.UID, r.UID, roles.Draft{Name: given.Of(name)},
				changes.RequestOptions{Version: 1})
		})
	}
	all.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), changes.ErrStale) {
		t.Error(errs)
	}
	if got := find(t, bank, customer, r.UID); got.Version != 2 {
		t.Errorf("version %d", got.Version)
	}
}

func TestWhatTheBankMadeIsTheBanksToChange(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	made := bank.Role(partner)
	own, err := bank.Roles.Create(bank.Partner(partner), partner.UID, draft("Own"), changes.RequestOptions{})
	if err != nil || find(t, bank, partner, own.Result.UID).Owner != roles.OwnerCustomer {
		t.Fatal(err)
	}
	for uid, want := range map[roles.UID]error{made.UID: roles.ErrBanks, own.Result.UID: nil} {
		if _, err := bank.Roles.Change(bank.Partner(partner), 0, uid, roles.Draft{Description: given.Of("x")},
			changes.RequestOptions{}); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestNobodyChangesARoleOfTheirOwn(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	r, other := bank.Role(bank.Self), bank.Role(bank.Self)
	person := bank.User(bank.Self, []*roles.Role{r})
	for uid, want := range map[roles.UID]error{r.UID: roles.ErrOwn, other.UID: nil} {
		_, err := bank.Roles.Change(bank.Person(person, access.All...), bank.Self.UID, uid,
			roles.Draft{Description: given.Of("x")}, changes.RequestOptions{})
		if !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		program, _ := access.Require(bank.Staff())
		program.Responsible = person.UID.UUID
		_, err = bank.Roles.Change(access.With(t.Context(), program), bank.Self.UID, uid,
			roles.Draft{Description: given.Of("y")}, changes.RequestOptions{})
		if !errors.Is(err, want) {
			t.Errorf("by a program that the person answers for: %v, want %v", err, want)
		}
	}
}

func TestNobodyMakesARoleThatMovesMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	caller, _ := access.Require(bank.Staff())
	caller.Limits = []access.ApplicationLimits{
		{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 100_00, Currency: "USD"}}},
	}
	bounded := access.With(bank.Staff(), caller)
	payments := func(entitlement, daily string) roles.Draft {
		d := draft("R" + rand.Text())
		g := roles.GrantDraft{Name: "Payments", Entitlements: []string{entitlement}}
		if daily != "" {
			g.Limits = []roles.LimitDraft{{Name: "Daily_Payment_Limits", Value: daily}}
		}
		d.Applications = given.Of([]roles.GrantDraft{g})
		return d
	}
	for _, c := range []struct {
		draft roles.Draft
		want  error
	}{
		{payments("View_Payments", ""), nil},
		{payments("Initiate_Payments", "100"), nil},
		{payments("Initiate_Payments", "100.01"), roles.ErrBeyond},
		{payments("Approve_Payments", ""), roles.ErrBeyond},
	} {
		if _, err := bank.Roles.Create(bounded, customer.UID, c.draft,
			changes.RequestOptions{}); !errors.Is(err, c.want) {
			t.Errorf("create %+v: %v, want %v", c.draft.Applications, err, c.want)
		}
	}
	large := bank.Role(customer, func(r *roles.Role) {
		r.Applications = []roles.Grant{{Name: "Payments", Entitlements: []string{"Initiate_Payments"}}}
	})
	if _, err := bank.Roles.Change(bounded, customer.UID, large.UID, roles.Draft{Description: given.Of("x")},
		changes.RequestOptions{}); !errors.Is(err, roles.ErrBeyond) {
		t.Errorf("change of a role above it: %v", err)
	}
}

// dual makes changes of a customer's users and roles wait for a second person.
func dual(c *customers.Customer) { c.Access.UserDualApproval = true }

func TestANewRoleWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	make := func(name string) changes.Outcome[roles.Saved] {
		out, err := bank.Roles.Create(bank.Staff(), customer.UID, draft(name), changes.RequestOptions{})
		if err != nil || out.Approval == 0 || out.Result.Status != roles.Pending {
			t.Fatal(out, err)
		}
		return out
	}
	agreed, refused := make("One"), make("Two")
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(agreed.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(refused.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if r := find(t, bank, customer, agreed.Result.UID); r.Status != roles.Active {
		t.Errorf("%+v", r)
	}
	if _, err := bank.Roles.Find(bank.Staff(), customer.UID,
		refused.Result.UID); !errors.Is(err, roles.ErrNotFound) {
		t.Errorf("the refused one: %v", err)
	}
}

func TestAChangeOfARoleWaitsForASecondPersonWhoMayMakeItToo(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	r := bank.Role(customer)
	out, err := bank.Roles.Change(bank.Staff(), customer.UID, r.UID,
		draft("Manager", grant("Accounts", "Manage_Account")), changes.RequestOptions{})
	if err != nil || out.Approval == 0 || find(t, bank, customer, r.UID).Name != r.Name {
		t.Fatal(out, err)
	}
	lesser, _ := access.Require(bank.Checker())
	lesser.Permissions = []access.Permission{access.ManageRoles}
	if _, err := bank.Changes.Approve(access.With(t.Context(), lesser), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, roles.ErrBeyond) {
		t.Errorf("approved by who lacks it: %v", err)
	}
	if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := find(t, bank, customer, r.UID); got.Name != "Manager" || got.Version != 2 {
		t.Errorf("%+v", got)
	}
}

func TestARoleIsSeenByWhoMaySeeItsCustomer(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	customer, sibling := bank.Customer(coretest.OwnedBy(partner)), bank.Customer(coretest.OwnedBy(partner))
	r := bank.Role(customer)
	other := bank.Other()
	for name, check := range map[string]struct {
		ctx  context.Context
		of   *customers.Customer
		want error
	}{
		"its partner":           {bank.Partner(partner), customer, nil},
		"another customer's":    {bank.Partner(partner), sibling, roles.ErrNotFound},
		"another partner":       {bank.Partner(rival), customer, customers.ErrOutOfScope},
		"without the right":     {bank.As(access.ViewCustomers), customer, access.ErrDenied},
		"who may manage":        {bank.As(access.ManageRoles), customer, nil},
		"nobody":                {bank.Nobody(), customer, access.ErrUnauthenticated},
		"the other bank's twin": {other.Staff(), customer, nil},
	} {
		if _, err := bank.Roles.Find(check.ctx, check.of.UID, r.UID); !errors.Is(err, check.want) {
			t.Errorf("%s: %v, want %v", name, err, check.want)
		}
	}
	out, err := bank.Roles.Create(bank.Staff(), customer.UID, draft("Here only"), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Roles.Find(other.Staff(), customer.UID,
		out.Result.UID); !errors.Is(err, roles.ErrNotFound) {
		t.Errorf("the other bank finds it: %v", err)
	}
	for name, ctx := range map[string]context.Context{
		"another partner": bank.Partner(rival), "the other bank": other.Staff(),
	} {
		if _, err := bank.Roles.Change(ctx, 0, out.Result.UID, draft("Mine"),
			changes.RequestOptions{}); !errors.Is(err, roles.ErrNotFound) {
			t.Errorf("%s changes it: %v", name, err)
		}
	}
}

func TestRolesAreSearchedByNameAndPaged(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	bank.Role(bank.Customer())
	var all []string
	for range 5 {
		all = append(all, bank.Role(customer).Name)
	}
	read := func(by roles.Search, w page.Window) (names []string, total int64) {
		t.Helper()
		found, err := bank.Roles.Page(bank.Staff(), customer.UID, by, w)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range found.Items {
			names = append(names, r.Name)
		}
		return names, found.Total
	}
	if names, total := read(roles.Search{}, page.Numbered(2, 2)); !slices.Equal(names, all[2:4]) ||
		total != 5 {
		t.Error(names, total)
	}
	if names, total := read(roles.Search{Name: strings.ToUpper(all[3])},
		page.Numbered(1, 10)); !slices.Equal(names, all[3:4]) || total != 1 {
		t.Error(names, total)
	}
	if names, total := read(roles.Search{Name: "roL"}, page.Numbered(1, 3)); !slices.Equal(names, all[:3]) ||
		total != 5 {
		t.Error(names, total)
	}
	if names, total := read(roles.Search{Name: "ole"}, page.Numbered(1, 10)); names != nil || total != 0 {
		t.Error(names, total)
	}
}

func TestARepeatedKeyMakesOneRole(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	first, err := bank.Roles.Create(bank.Staff(), customer.UID, draft("Clerk"),
		changes.RequestOptions{IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := bank.Roles.Create(bank.Staff(), customer.UID, draft("Clerk"),
		changes.RequestOptions{IdempotencyKey: "k"})
	if err != nil || !second.Replayed || second.Result != first.Result {
		t.Error(second, err)
	}
}
