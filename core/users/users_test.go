package users_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/fault"
	"bankgraph/core/given"
	"bankgraph/core/page"
	"bankgraph/core/roles"
	"bankgraph/core/users"
)

func draft(login string, held ...*roles.Role) users.Draft {
	d := users.Draft{
		LoginID: given.Of(login), FirstName: given.Of("Ada"), LastName: given.Of("Byron"),
		EmailAddress: given.Of("ada@mail.example"), Mobile: given.Of("+1 614 555 0123"),
		Department: given.Of("Treasury"),
	}
	if held != nil {
		d.RoleNames = names(held...)
	}
	return d
}

func names(held ...*roles.Role) given.Value[[]string] {
	var all []string
	for _, r := range held {
		all = append(all, r.Name)
	}
	return given.Of(all)
}

func limits(application string, pairs ...string) given.Value[[]users.LimitsDraft] {
	l := users.LimitsDraft{Name: application}
	for i := 0; i < len(pairs); i += 2 {
		l.Limits = append(l.Limits, roles.LimitDraft{Name: pairs[i], Value: pairs[i+1]})
	}
	return given.Of([]users.LimitsDraft{l})
}

// paying is an edit for a role that may send payments of a hundred dollars, a thousand a day.
func paying(r *roles.Role) {
	r.Applications = []roles.Grant{
		{Name: "Payments", Entitlements: []string{"Initiate_Payments"}, Limits: []access.Limit{
			{Name: "Per_Transaction_Payment_Limits", Minor: 100_00, Currency: "USD"},
			{Name: "Daily_Payment_Limits", Minor: 1000_00, Currency: "USD"},
		}},
	}
}

func powerful(r *roles.Role) {
	r.Applications = []roles.Grant{{Name: "Accounts", Entitlements: []string{"Manage_Account"}}}
}

func dual(c *customers.Customer) { c.Access.UserDualApproval = true }

func in(status users.Status) func(*users.User) { return func(u *users.User) { u.Status = status } }

func find(t *testing.T, bank *coretest.Bank, of *customers.Customer, uid users.UID) *users.Shown {
	t.Helper()
	u, err := bank.Users.Find(bank.Staff(), of.UID, uid)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestANewUserIsPendingUntilActivated(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r := bank.Role(customer, paying)
	d := draft("ada.byron", r)
	d.PhoneNumber, d.Limits = given.Of("+1 (614) 555-0124"),
		limits("payments", "per_transaction_payment_limits", "50.5")
	out, err := bank.Users.Create(bank.Staff(), customer.UID, d, changes.RequestOptions{})
	if err != nil || out.Result.Status != users.Pending || out.Approval != 0 {
		t.Fatal(out, err)
	}
	u := find(t, bank, customer, out.Result.UID)
	if u.ShortName != customer.ShortName || !slices.Equal(u.RoleNames, []string{r.Name}) ||
		u.PhoneNumber != "+16145550124" || u.Mobile != "+16145550123" || u.Status != users.Pending {
		t.Errorf("%+v %+v", u, u.User)
	}
	want := []access.ApplicationLimits{
		{
			Name:   "Payments",
			Limits: []access.Limit{{Name: "Per_Transaction_Payment_Limits", Minor: 50_50, Currency: "USD"}},
		},
	}
	if diff := cmp.Diff(want, u.Limits); diff != "" {
		t.Error(diff)
	}
	if _, err := bank.Users.Activate(bank.Staff(), customer.UID, u.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if u := find(t, bank, customer, u.UID); u.Status != users.Active || u.Version != 2 {
		t.Errorf("%+v", u.User)
	}
}

func TestWhatIsWrongWithAUserIsNamed(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r, waiting, foreign := bank.Role(customer, paying),
		bank.Role(customer, func(r *roles.Role) { r.Status = roles.Pending }), bank.Role(bank.Customer())
	with := func(edit func(*users.Draft)) users.Draft {
		d := draft("x", r)
		edit(&d)
		return d
	}
	for want, d := range map[string]users.Draft{
		"loginId: is required": {},
		"loginId: must be made": with(func(d *users.Draft) {
			d.LoginID = given.Of("ada byron")
		}),
		"firstName: must be made": with(func(d *users.Draft) {
			d.FirstName = given.Of("4da")
		}),
		"lastName: is required": with(func(d *users.Draft) { d.LastName = given.Text{} }),
		"email: is required": with(func(d *users.Draft) {
			d.EmailAddress = given.Of(" ")
		}),
		"email: must be an e-mail": with(func(d *users.Draft) {
			d.EmailAddress = given.Of("ada")
		}),
		"mobile: is required": with(func(d *users.Draft) { d.Mobile = given.Text{} }),
		"phoneNumber: must be a phone": with(func(d *users.Draft) {
			d.PhoneNumber = given.Of("6145550123")
		}),
		"department: is required": with(func(d *users.Draft) {
			d.Department = given.Text{}
		}),
		"roleNames: is required": with(func(d *users.Draft) {
			d.RoleNames = given.Of([]string{})
		}),
		"roleNames[1]: is not a role": with(func(d *users.Draft) {
			d.RoleNames = given.Of([]string{r.Name, "Nobody"})
		}),
		"roleNames[0]: the role waits for approval": with(func(d *users.Draft) {
			d.RoleNames = names(waiting)
		}),
		"roleNames[0]: is not a role ": with(func(d *users.Draft) {
			d.RoleNames = names(foreign)
		}),
		"applicationLimits[0].name: is not an application": with(func(d *users.Draft) {
			d.Limits = limits("Lottery")
		}),
		"applicationLimits[0].limits[0].name: is not a": with(func(d *users.Draft) {
			d.Limits = limits("Payments", "Weekly", "1")
		}),
		"applicationLimits[0].limits[0].value: must be": with(func(d *users.Draft) {
			d.Limits = limits("Payments", "Daily_Payment_Limits", "1e3")
		}),
		"applicationLimits: must be of applications that": with(func(d *users.Draft) {
			d.Limits = limits("Foreign_Exchange", "Daily_Payment_Limits", "1")
		}),
		"applicationLimits: must not be above what the rol": with(func(d *users.Draft) {
			d.Limits = limits("Payments", "Daily_Payment_Limits", "1000.01")
		}),
	} {
		_, err := bank.Users.Create(bank.Staff(), customer.UID, d, changes.RequestOptions{})
		if f, ok := fault.Of(err); !ok || f.Kind != fault.Invalid && !errors.Is(err, roles.ErrWaits) ||
			!strings.HasPrefix(f.Error(), strings.TrimSpace(want)) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestALoginIDIsTakenInTheWholeBankAndNoOther(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	one, two := bank.Customer(), bank.Customer()
	first, second := bank.Role(one), bank.Role(two)
	other := bank.Other()
	create := func(b *coretest.Bank, of *customers.Customer, login string, r *roles.Role) error {
		_, err := b.Users.Create(b.Staff(), of.UID, draft(login, r), changes.RequestOptions{})
		return err
	}
	if err := create(bank, one, "ada.byron", first); err != nil {
		t.Fatal(err)
	}
	err := create(bank, two, "Ada.BYRON", second)
	if f, ok := fault.Of(err); !errors.Is(err, users.ErrTaken) || !ok || f.Field != "loginId" {
		t.Error(err)
	}
	if err := create(other, one, "ada.byron", first); err != nil {
		t.Errorf("in another bank: %v", err)
	}
}

// All users of a partner's making are suspended at once when their customer leaves it: one who makes users
// without end would keep the customer.
func TestACustomerHasSoManyUsers(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	of := bank.Customer()
	fill := func(of *customers.Customer) {
		first := bank.User(of, nil)
		bank.Exec(`INSERT INTO users SELECT (jsonb_populate_record(u, jsonb_build_object(
			'uid', md5(?2 || n::text)::uuid, 'number', nextval('user_numbers'), 'login_id', u.login_id || n))).*
			FROM users AS u, generate_series(1, 4998) AS n WHERE u.tenant = ?0 AND u.uid = ?1`,
			bank.Tenant, first.UID, first.LoginID)
	}
	create := func(of *customers.Customer) error {
		_, err := bank.Users.Create(bank.Staff(), of.UID, draft("u"+strings.ToLower(rand.Text()), bank.Role(of)),
			changes.RequestOptions{})
		return err
	}
	fill(of)
	if err := create(of); err != nil {
		t.Errorf("the 5,000th: %v", err)
	}
	if err := create(of); !errors.Is(err, users.ErrMany) {
		t.Errorf("one more: %v", err)
	}
	if err := create(bank.Customer()); err != nil {
		t.Errorf("of another customer: %v", err)
	}
	fill(bank.Self)
	for range 2 {
		if err := create(bank.Self); err != nil {
			t.Errorf("the bank's own: %v", err)
		}
	}
}

func TestOfFiftyWhoWantOneLoginIDOneHasIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r := bank.Role(customer)
	errs := make([]error, 50)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() {
			_, errs[i] = bank.Users.Create(bank.Staff(), customer.UID, draft("ada.byron", r),
				changes.RequestOptions{IdempotencyKey: fmt.Sprint(i)})
		})
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, users.ErrTaken) {
			t.Error(err)
		}
	}
	if made != 1 {
		t.Errorf("%d were made", made)
	}
}

// The published table (rest/CONTRACT.md, user statuses).
func TestStatusesMoveAsTheContractHasIt(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r := bank.Role(customer)
	for _, check := range []struct {
		from, suspended, activated users.Status
		noSuspend, noActivate      error
	}{
		{from: users.Active, suspended: users.Suspended, activated: users.Active, noActivate: users.ErrActive},
		{from: users.Pending, suspended: users.Suspended, activated: users.Active},
		{from: users.Suspended, suspended: users.Suspended, activated: users.Active, noSuspend: users.ErrSuspended},
		{from: users.Locked, suspended: users.Locked, activated: users.Active, noSuspend: users.ErrLocked},
	} {
		as := func(u *users.User) { u.Status, u.SuspendedBy = check.from, access.OfBank }
		one, two := bank.User(customer, []*roles.Role{r}, as), bank.User(customer, []*roles.Role{r}, as)
		if _, err := bank.Users.Suspend(bank.Staff(), customer.UID, one.UID,
			changes.RequestOptions{}); !errors.Is(err, check.noSuspend) {
			t.Errorf("suspend %s: %v", check.from, err)
		}
		if _, err := bank.Users.Activate(bank.Staff(), 0, two.UID,
			changes.RequestOptions{}); !errors.Is(err, check.noActivate) {
			t.Errorf("activate %s: %v", check.from, err)
		}
		if s, a := find(t, bank, customer, one.UID).Status,
			find(t, bank, customer, two.UID).Status; s != check.suspended || a != check.activated {
			t.Errorf("%s became %s when suspended and %s when activated", check.from, s, a)
		}
	}
}

func TestEveryChangeOfAUserNeedsItsOwnPermission(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r := bank.Role(customer)
	uid := bank.User(customer, []*roles.Role{r}).UID
	for need, change := range map[access.Permission]func(context.Context) error{
		access.ManageUsers: func(ctx context.Context) error {
			_, err := bank.Users.Change(ctx, customer.UID, uid, users.Draft{Department: given.Of("Audit")},
				changes.RequestOptions{})
			return err
		},
		access.SuspendUsers: func(ctx context.Context) error {
			_, err := bank.Users.Suspend(ctx, customer.UID, uid, changes.RequestOptions{})
			return err
		},
		access.ActivateUsers: func(ctx context.Context) error {
			_, err := bank.Users.Activate(ctx, customer.UID, uid, changes.RequestOptions{})
			return err
		},
	} {
		others := slices.DeleteFunc(slices.Clone(access.All), func(p access.Permission) bool { return p == need })
		if err := change(bank.As(others...)); !errors.Is(err, access.ErrDenied) {
			t.Errorf("without %s: %v", need, err)
		}
		if err := change(bank.As(need)); errors.Is(err, access.ErrDenied) {
			t.Errorf("with %s: %v", need, err)
		}
	}
}

func TestAChangeChangesWhatIsGiven(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	one, two := bank.Role(customer, paying), bank.Role(customer, paying)
	u := bank.User(customer, []*roles.Role{one}, func(u *users.User) {
		u.Limits = []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{
			{Name: "Daily_Payment_Limits", Minor: 1, Currency: "USD"},
			{Name: "Per_Transaction_Payment_Limits", Minor: 2, Currency: "USD"},
		}}}
	})
	out, err := bank.Users.Change(bank.Staff(), customer.UID, u.UID, users.Draft{
		FirstName: given.Of("Anna"), PhoneNumber: given.Of(""), RoleNames: names(two),
		Limits: limits("Payments", "Daily_Payment_Limits", "0.05"),
	}, changes.RequestOptions{Version: 1})
	if err != nil || out.Version != 2 {
		t.Fatal(out, err)
	}
	got := find(t, bank, customer, u.UID)
	if got.FirstName != "Anna" || got.LastName != u.LastName || got.PhoneNumber != "" ||
		got.EmailAddress != u.EmailAddress || !slices.Equal(got.RoleNames, []string{two.Name}) {
		t.Errorf("%+v %v", got.User, got.RoleNames)
	}
	want := []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{
		{Name: "Daily_Payment_Limits", Minor: 5, Currency: "USD"},
		{Name: "Per_Transaction_Payment_Limits", Minor: 2, Currency: "USD"},
	}}}
	if diff := cmp.Diff(want, got.Limits); diff != "" {
		t.Error(diff)
	}
	if _, err := bank.Users.Change(bank.Staff(), customer.UID, u.UID, users.Draft{Limits: limits("Payments")},
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := find(t, bank, customer, u.UID); len(got.Limits) != 0 {
		t.Errorf("an application without limits has %+v", got.Limits)
	}
	for want, d := range map[string]users.Draft{
		"body: must name something that can be changed": {},
		"loginId: cannot be changed":                    {LoginID: given.Of("other")},
		"firstName: is required":                        {FirstName: given.Of("")},
		"roleNames: is required":                        {RoleNames: given.Of([]string{})},
	} {
		if _, err := bank.Users.Change(bank.Staff(), customer.UID, u.UID, d,
			changes.RequestOptions{}); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// bounded returns a manager of users whose own payments are limited to 100.00 a day.
func bounded(bank *coretest.Bank) context.Context {
	caller, _ := access.Require(bank.As(access.All...))
	caller.Limits = []access.ApplicationLimits{
		{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 100_00, Currency: "USD"}}},
	}
	return access.With(bank.Staff(), caller)
}

// unpaying returns all permissions but those of payments, and the one that includes to see them.
func unpaying() []access.Permission {
	return slices.DeleteFunc(slices.Clone(access.All), func(p access.Permission) bool {
		return strings.HasSuffix(string(p), "_Payments") || p == access.ManageWebhooks
	})
}

// clerk returns a person who manages users and roles, and also has these entitlements of Payments.
func clerk(bank *coretest.Bank, of *customers.Customer, daily int64, payments ...string) context.Context {
	caller, _ := access.Require(bank.PersonOf(of, bank.User(of, nil)))
	caller.Permissions = unpaying()
	for _, e := range payments {
		caller.Holds = append(caller.Holds, access.Entitlement{Application: "Payments", Name: e})
		caller.Permissions = append(caller.Permissions, access.Permission(e))
	}
	if daily > 0 {
		caller.Limits = []access.ApplicationLimits{
			{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: daily, Currency: "USD"}}},
		}
	}
	return access.With(bank.Staff(), caller)
}

func TestAPersonGrantsNoEntitlementThatItDoesNotHold(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	role := func(entitlements ...string) *roles.Role {
		return bank.Role(customer,
			func(r *roles.Role) {
				r.Applications = []roles.Grant{{Name: "Payments", Entitlements: entitlements}}
			})
	}
	looks, pays, both := role("View_Payments"), role("Initiate_Payments"),
		role("Initiate_Payments", "Approve_Payments")
	for name, c := range map[string]struct {
		by   context.Context
		role *roles.Role
		want error
	}{
		"nothing held":             {clerk(bank, customer, 0), looks, users.ErrBeyond},
		"looking held, paying not": {clerk(bank, customer, 0, "View_Payments"), pays, users.ErrBeyond},
		"paying held":              {clerk(bank, customer, 0, "Initiate_Payments"), pays, nil},
		"half of it held":          {clerk(bank, customer, 0, "Initiate_Payments"), both, users.ErrBeyond},
		"a program":                {bank.Staff(), both, nil},
	} {
		if _, err := bank.Users.Create(c.by, customer.UID, draft("u"+rand.Text(), c.role),
			changes.RequestOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	payer := bank.User(customer, []*roles.Role{pays}, func(u *users.User) {
		u.Limits = []access.ApplicationLimits{
			{Name: "Payments", Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 1_00, Currency: "USD"}}},
		}
	})
	if _, err := bank.Users.Change(clerk(bank, customer, 0), customer.UID, payer.UID,
		users.Draft{Limits: limits("Payments", "Daily_Payment_Limits", "2")},
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("a limit raised by who may not pay: %v", err)
	}
	if _, err := bank.Users.Change(clerk(bank, customer, 0), customer.UID, payer.UID,
		users.Draft{Limits: limits("Payments", "Daily_Payment_Limits", "0.5")},
		changes.RequestOptions{}); err != nil {
		t.Errorf("a limit lowered: %v", err)
	}
}

// Nobody can grant more in two steps than in one: a limit that is removed from a role would free people who
// hold other roles too, and a person without a limit for one entitlement may have limits for others.
func TestNobodyLetsOthersMoveMoreInTwoSteps(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	role := func(limit int64, entitlement string) *roles.Role {
		return bank.Role(customer, func(r *roles.Role) {
			r.Owner = roles.OwnerCustomer
			r.Applications = []roles.Grant{{Name: "Payments", Entitlements: []string{entitlement}}}
			if limit > 0 {
				r.Applications[0].Limits = []access.Limit{{Name: "Daily_Payment_Limits", Minor: limit, Currency: "USD"}}
			}
		})
	}
	by := clerk(bank, customer, 100_00, "View_Payments", "Initiate_Payments", "Cancel_Payments")
	free, brake, pays, cancels := role(0, "Initiate_Payments"), role(1_00, "View_Payments"),
		role(1_00, "Initiate_Payments"), role(0, "Cancel_Payments")
	if _, err := bank.Users.Create(by, customer.UID, draft("braked", free, brake),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	none := given.Of([]roles.GrantDraft{{Name: "Payments", Entitlements: []string{"View_Payments"}}})
	for name, c := range map[string]struct {
		role *roles.Role
		to   given.Value[[]roles.GrantDraft]
		want error
	}{
		"the brake without its limit": {brake, none, roles.ErrBeyond},
		"the brake above the caller": {
			brake, given.Of([]roles.GrantDraft{
				{
					Name: "Payments", Entitlements: []string{"View_Payments"},
					Limits: []roles.LimitDraft{{Name: "Daily_Payment_Limits", Value: "100.01"}},
				},
			}), roles.ErrBeyond,
		},
		"another application in its place": {
			pays, given.Of([]roles.GrantDraft{{Name: "Accounts", Entitlements: []string{"View_Account"}}}),
			roles.ErrBeyond,
		},
		"the brake up to the caller": {
			brake, given.Of([]roles.GrantDraft{
				{
					Name: "Payments", Entitlements: []string{"View_Payments"},
					Limits: []roles.LimitDraft{{Name: "Daily_Payment_Limits", Value: "100"}},
				},
			}), nil,
		},
	} {
		if _, err := bank.Roles.Change(by, customer.UID, c.role.UID, roles.Draft{Applications: c.to},
			changes.RequestOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	swapped := bank.User(customer, []*roles.Role{cancels})
	if _, err := bank.Users.Change(by, customer.UID, swapped.UID, users.Draft{RoleNames: names(free)},
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("who could cancel without a bound pays without one: %v", err)
	}
}

func TestNobodyLetsOthersMoveMoreThanTheyMay(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer, manager := bank.Customer(), bounded(bank)
	role := func(entitlement string, daily int64) *roles.Role {
		return bank.Role(customer, func(r *roles.Role) {
			r.Applications = []roles.Grant{{Name: "Payments", Entitlements: []string{entitlement}}}
			if daily > 0 {
				r.Applications[0].Limits = []access.Limit{{Name: "Daily_Payment_Limits", Minor: daily, Currency: "USD"}}
			}
		})
	}
	looks, pays, small, large := role("View_Payments", 0), role("Initiate_Payments", 0),
		role("Initiate_Payments", 100_00), role("Initiate_Payments", 100_01)
	daily := func(value string) given.Value[[]users.LimitsDraft] {
		return limits("Payments", "Daily_Payment_Limits", value)
	}
	has := func(held *roles.Role, minor int64) func(*users.User) {
		return func(u *users.User) {
			if minor > 0 {
				u.Limits = []access.ApplicationLimits{
					{
						Name:   "Payments",
						Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: minor, Currency: "USD"}},
					},
				}
			}
		}
	}
	for name, c := range map[string]struct {
		held   *roles.Role
		own    int64 // the user's own limit before
		change users.Draft
		want   error
	}{
		"a role that only looks": {looks, 0, users.Draft{RoleNames: names(looks)}, nil},
		"a role as bounded":      {looks, 0, users.Draft{RoleNames: names(small)}, nil},
		"a role of a cent more": {
			looks, 0,
			users.Draft{RoleNames: names(large)},
			users.ErrBeyond,
		},
		"a role without a bound": {looks, 0, users.Draft{RoleNames: names(pays)}, users.ErrBeyond},
		"a role with the person bounded": {
			looks, 0, users.Draft{RoleNames: names(pays), Limits: daily("100")}, nil,
		},
		"a role with the person not enough": {
			looks, 0, users.Draft{RoleNames: names(pays), Limits: daily("100.01")}, users.ErrBeyond,
		},
		"a person's limit, raised": {
			large, 50_00, users.Draft{Limits: daily("100.01")}, users.ErrBeyond,
		},
		"a person's limit, taken off":             {large, 50_00, users.Draft{Limits: daily("")}, users.ErrBeyond},
		"a person's limit, raised as bounded":     {large, 50_00, users.Draft{Limits: daily("100")}, nil},
		"a bound role taken away from a free one": {large, 0, users.Draft{RoleNames: names(pays)}, users.ErrBeyond},
		"more than that before, and no more now":  {pays, 0, users.Draft{RoleNames: names(large)}, nil},
		"nothing of it":                           {pays, 0, users.Draft{Department: given.Of("Audit")}, nil},
	} {
		u := bank.User(customer, []*roles.Role{c.held}, has(c.held, c.own))
		if _, err := bank.Users.Change(manager, customer.UID, u.UID, c.change,
			changes.RequestOptions{}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := bank.Users.Create(manager, customer.UID, draft("bob", large),
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("create: %v", err)
	}
}

func TestNobodyGivesARoleThatGrantsWhatTheyDoNotHave(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	small, large := bank.Role(customer), bank.Role(customer, powerful)
	manager := bank.As(access.ManageUsers, access.ViewAccounts)
	if _, err := bank.Users.Create(manager, customer.UID, draft("ada", small),
		changes.RequestOptions{}); err != nil {
		t.Error(err)
	}
	if _, err := bank.Users.Create(manager, customer.UID, draft("bob", small, large),
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("create: %v", err)
	}
	u, chief := bank.User(customer, []*roles.Role{small}), bank.User(customer, []*roles.Role{large})
	if _, err := bank.Users.Change(manager, customer.UID, u.UID, users.Draft{RoleNames: names(large)},
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("change: %v", err)
	}
	// A user who has the role already may keep it.
	if _, err := bank.Users.Change(manager, customer.UID, chief.UID, users.Draft{RoleNames: names(small, large)},
		changes.RequestOptions{}); err != nil {
		t.Errorf("keep: %v", err)
	}
}

func TestNobodyChangesTheirOwnRightsOrSuspendsThemself(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	r := bank.Role(bank.Self, paying)
	u, other := bank.User(bank.Self, []*roles.Role{r}), bank.User(bank.Self, []*roles.Role{r})
	me := bank.Person(u, access.All...)
	caller, _ := access.Require(bank.Staff())
	caller.Responsible = u.UID.UUID
	program := access.With(t.Context(), caller)
	for name, d := range map[string]users.Draft{
		"roles": {RoleNames: names(r)}, "limits": {Limits: limits("Payments")},
	} {
		if _, err := bank.Users.Change(me, bank.Self.UID, u.UID, d,
			changes.RequestOptions{}); !errors.Is(err, users.ErrOwnRights) {
			t.Errorf("own %s: %v", name, err)
		}
		if _, err := bank.Users.Change(me, bank.Self.UID, other.UID, d, changes.RequestOptions{}); err != nil {
			t.Errorf("another's %s: %v", name, err)
		}
		if _, err := bank.Users.Change(program, bank.Self.UID, u.UID, d,
			changes.RequestOptions{}); !errors.Is(err, users.ErrOwnRights) {
			t.Errorf("own %s by a program that they answer for: %v", name, err)
		}
	}
	if _, err := bank.Users.Change(me, bank.Self.UID, u.UID, users.Draft{Department: given.Of("Audit")},
		changes.RequestOptions{}); err != nil {
		t.Errorf("own department: %v", err)
	}
	if _, err := bank.Users.Suspend(me, bank.Self.UID, u.UID,
		changes.RequestOptions{}); !errors.Is(err, users.ErrSelf) {
		t.Errorf("suspend: %v", err)
	}
}

func TestANewUserWaitsForASecondPerson(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	r := bank.Role(customer)
	create := func(login string) changes.Outcome[users.Saved] {
		t.Helper()
		out, err := bank.Users.Create(bank.Staff(), customer.UID, draft(login, r), changes.RequestOptions{})
		if err != nil || out.Approval == 0 || out.Result.Status != users.Pending {
			t.Fatal(out, err)
		}
		return out
	}
	agreed, refused, suspended := create("ada"), create("bob"), create("eve")
	if _, err := bank.Users.Activate(bank.Staff(), customer.UID, agreed.Result.UID,
		changes.RequestOptions{}); !errors.Is(err, changes.ErrWaiting) {
		t.Errorf("activated while it waits: %v", err)
	}
	if _, err := bank.Changes.Approve(bank.Staff(), changes.UID(agreed.Approval),
		changes.RequestOptions{}); !errors.Is(err, changes.ErrOwn) {
		t.Errorf("approved by its maker: %v", err)
	}
	if _, err := bank.Users.Suspend(bank.Staff(), customer.UID, suspended.Result.UID,
		changes.RequestOptions{}); err != nil {
		t.Errorf("suspended while it waits: %v", err)
	}
	for _, out := range []changes.Outcome[users.Saved]{agreed, suspended} {
		if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(out.Approval),
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bank.Changes.Refuse(bank.Checker(), changes.UID(refused.Approval),
		changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if s := find(t, bank, customer, agreed.Result.UID).Status; s != users.Active {
		t.Errorf("approved: %s", s)
	}
	if s := find(t, bank, customer, suspended.Result.UID).Status; s != users.Suspended {
		t.Errorf("suspended before it was approved: %s", s)
	}
	if _, err := bank.Users.Find(bank.Staff(), customer.UID,
		refused.Result.UID); !errors.Is(err, users.ErrNotFound) {
		t.Errorf("refused: %v", err)
	}
	create("bob") // the login id is free again
}

func TestAChangeAndAnActivationWaitForASecondPersonAndASuspensionDoesNot(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	r, more := bank.Role(customer), bank.Role(customer)
	u, gone := bank.User(customer, []*roles.Role{r}), bank.User(customer, []*roles.Role{r}, in(users.Suspended))
	change, err := bank.Users.Change(bank.Staff(), customer.UID, u.UID, users.Draft{RoleNames: names(r, more)},
		changes.RequestOptions{})
	if err != nil || change.Approval == 0 || len(find(t, bank, customer, u.UID).RoleNames) != 1 {
		t.Fatal(change, err)
	}
	back, err := bank.Users.Activate(bank.Staff(), customer.UID, gone.UID, changes.RequestOptions{})
	if err != nil || back.Approval == 0 || find(t, bank, customer, gone.UID).Status != users.Suspended {
		t.Fatal(back, err)
	}
	for _, approval := range []int64{change.Approval, back.Approval} {
		if _, err := bank.Changes.Approve(bank.Checker(), changes.UID(approval),
			changes.RequestOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if held := find(t, bank, customer, u.UID).RoleNames; len(held) != 2 {
		t.Errorf("roles: %v", held)
	}
	if s := find(t, bank, customer, gone.UID).Status; s != users.Active {
		t.Errorf("activated: %s", s)
	}
	out, err := bank.Users.Suspend(bank.Staff(), customer.UID, u.UID, changes.RequestOptions{})
	if err != nil || out.Approval != 0 || find(t, bank, customer, u.UID).Status != users.Suspended {
		t.Error(out, err)
	}
}

func TestNobodyApprovesMoreRightsForThemself(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	bank.Exec(`UPDATE customers SET access_user_dual_approval = true
		WHERE tenant = ? AND uid = ?`, bank.Tenant, bank.Self.UID)
	r, more := bank.Role(bank.Self), bank.Role(bank.Self)
	u := bank.User(bank.Self, []*roles.Role{r})
	out, err := bank.Users.Change(bank.Staff(), bank.Self.UID, u.UID, users.Draft{RoleNames: names(r, more)},
		changes.RequestOptions{})
	if err != nil || out.Approval == 0 {
		t.Fatal(out, err)
	}
	caller, _ := access.Require(bank.Person(u, access.All...))
	caller.Client = "portal"
	if _, err := bank.Changes.Approve(access.With(t.Context(), caller), changes.UID(out.Approval),
		changes.RequestOptions{}); !errors.Is(err, users.ErrOwnRights) {
		t.Error(err)
	}
}

func TestAUserIsSeenAndChangedByWhoMaySeeItsCustomer(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner, rival := bank.DownstreamPartner(), bank.DownstreamPartner()
	customer, sibling := bank.Customer(coretest.OwnedBy(partner)), bank.Customer(coretest.OwnedBy(partner))
	r := bank.Role(customer)
	other := bank.Other()
	made, err := bank.Users.Create(bank.Staff(), customer.UID, draft("ada", r), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	uid := made.Result.UID
	for name, check := range map[string]struct {
		bank *coretest.Bank
		ctx  context.Context
		of   *customers.Customer
		want error
	}{
		"its partner":         {bank, bank.Partner(partner), customer, nil},
		"another customer's":  {bank, bank.Partner(partner), sibling, users.ErrNotFound},
		"another partner":     {bank, bank.Partner(rival), customer, customers.ErrOutOfScope},
		"the other bank":      {other, other.Staff(), customer, users.ErrNotFound},
		"an absent customer":  {bank, bank.Staff(), &customers.Customer{UID: 5}, customers.ErrNotFound},
		"nobody":              {bank, bank.Nobody(), customer, access.ErrUnauthenticated},
		"without permissions": {bank, bank.As(access.ViewCustomers), customer, access.ErrDenied},
	} {
		if _, err := check.bank.Users.Find(check.ctx, check.of.UID, uid); !errors.Is(err, check.want) {
			t.Errorf("%s finds: %v, want %v", name, err, check.want)
		}
		_, err := check.bank.Users.Change(check.ctx, check.of.UID, uid, users.Draft{Department: given.Of(name)},
			changes.RequestOptions{})
		if !errors.Is(err, check.want) {
			t.Errorf("%s changes: %v, want %v", name, err, check.want)
		}
	}
	for name, ctx := range map[string]context.Context{
		"another partner": bank.Partner(rival), "the other bank": other.Staff(),
	} {
		if _, err := bank.Users.Suspend(ctx, 0, uid, changes.RequestOptions{}); !errors.Is(err, users.ErrNotFound) {
			t.Errorf("%s suspends: %v", name, err)
		}
	}
	// For another partner's customer the answer is the same for a valid draft and a wrong one.
	for _, d := range []users.Draft{draft("eve", r), {}} {
		if _, err := bank.Users.Create(bank.Partner(rival), customer.UID, d,
			changes.RequestOptions{}); !errors.Is(err, customers.ErrOutOfScope) {
			t.Error(err)
		}
	}
}

func TestUsersAreSearched(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	add := func(login, first, last string, edits ...func(*users.User)) {
		bank.User(customer, nil,
			append(edits, func(u *users.User) { u.LoginID, u.FirstName, u.LastName = login, first, last })...)
	}
	add("ada", "Ada", "Byron")
	add("adam", "Adam", "Smith", in(users.Locked))
	add("per%cent", "Per_", "O'Brien",
		func(u *users.User) { u.EmailAddress, u.PhoneNumber = "Per@mail.example", "+16145550199" })
	bank.User(bank.Customer(), nil, func(u *users.User) { u.FirstName = "Ada" })
	for name, check := range map[string]struct {
		by   users.Search
		want []string
	}{
		"all":                   {users.Search{}, []string{"ada", "adam", "per%cent"}},
		"login id, exact":       {users.Search{LoginID: "ADA"}, []string{"ada"}},
		"first name, beginning": {users.Search{FirstName: "aDA"}, []string{"ada", "adam"}},
		"last name":             {users.Search{LastName: "o'b"}, []string{"per%cent"}},
		"no wildcard":           {users.Search{FirstName: "A_a"}, nil},
		"an underscore":         {users.Search{FirstName: "per_"}, []string{"per%cent"}},
		"e-mail address":        {users.Search{EmailAddress: "per@MAIL.example"}, []string{"per%cent"}},
		"telephone":             {users.Search{PhoneNumber: "+1 (614) 555-0199"}, []string{"per%cent"}},
		"status":                {users.Search{Status: users.Locked}, []string{"adam"}},
		"short name of the entity": {
			users.Search{ShortName: strings.ToLower(customer.ShortName), LoginID: "ada"}, []string{"ada"},
		},
		"short name of another entity": {users.Search{ShortName: "NOBODY"}, nil},
		"two that do not hold at once": {users.Search{FirstName: "Ada", Status: users.Pending}, nil},
	} {
		found, err := bank.Users.Page(bank.Reader(), customer.UID, check.by, page.Numbered(1, 10))
		var got []string
		for _, u := range found.Items {
			got = append(got, u.LoginID)
			if u.ShortName != customer.ShortName {
				t.Errorf("short name %q", u.ShortName)
			}
		}
		if err != nil || !slices.Equal(got, check.want) || found.Total != int64(len(check.want)) {
			t.Errorf("%s: %v of %d, %v", name, got, found.Total, err)
		}
	}
	found, err := bank.Users.Page(bank.Reader(), customer.UID, users.Search{}, page.Numbered(2, 2))
	if err != nil || len(found.Items) != 1 || found.Total != 3 {
		t.Error(found, err)
	}
}

func TestAnActiveUserHasWhatItsActiveRolesGrant(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	looks, pays := bank.Role(customer), bank.Role(customer, paying)
	paysLess := bank.Role(customer, func(r *roles.Role) {
		r.Applications = []roles.Grant{
			{
				Name: "Payments", Entitlements: []string{"Approve_Payments"},
				Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 7_00, Currency: "USD"}},
			},
		}
	})
	waiting := bank.Role(customer, powerful, func(r *roles.Role) { r.Status = roles.Pending })
	own := func(u *users.User) {
		u.Limits = []access.ApplicationLimits{
			{
				Name:   "Payments",
				Limits: []access.Limit{{Name: "Per_Transaction_Payment_Limits", Minor: 3_00, Currency: "USD"}},
			},
		}
	}
	u := bank.User(customer, []*roles.Role{looks, pays, paysLess, waiting}, own)
	grant, err := bank.Users.Granted(t.Context(), bank.Tenant, u.UID.UUID)
	if err != nil ||
		!slices.Equal(grant.Permissions, []access.Permission{
			access.ViewAccounts, access.ViewUsers, access.InitiatePayments, access.ApprovePayments,
		}) {
		t.Error(grant, err)
	}
	want := []access.ApplicationLimits{{Name: "Payments", Limits: []access.Limit{
		{Name: "Daily_Payment_Limits", Minor: 7_00, Currency: "USD"},
		{Name: "Per_Transaction_Payment_Limits", Minor: 3_00, Currency: "USD"},
	}}}
	if diff := cmp.Diff(want, grant.Limits); diff != "" {
		t.Error(diff)
	}
	absent := []uuid.UUID{uuid.New()}
	for _, status := range []users.Status{users.Pending, users.Suspended, users.Locked} {
		absent = append(absent, bank.User(customer, []*roles.Role{looks}, in(status)).UID.UUID)
	}
	for _, uid := range absent {
		if grant, err := bank.Users.Granted(t.Context(), bank.Tenant,
			uid); err != nil || grant.Permissions != nil || grant.Limits != nil {
			t.Error(grant, err)
		}
	}
	if grant, err := bank.Users.Granted(t.Context(), -1, u.UID.UUID); err != nil || grant.Permissions != nil {
		t.Errorf("of another bank: %v %v", grant, err)
	}
}

func TestARepeatedKeyMakesOneUser(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	d := draft("ada", bank.Role(customer))
	first, err := bank.Users.Create(bank.Staff(), customer.UID, d, changes.RequestOptions{IdempotencyKey: "k"})
	if err != nil {
		t.Fatal(err)
	}
	second, err := bank.Users.Create(bank.Staff(), customer.UID, d, changes.RequestOptions{IdempotencyKey: "k"})
	if err != nil || !second.Replayed || second.Result != first.Result {
		t.Error(second, err)
	}
	d.FirstName = given.Of("Eva")
	if _, err := bank.Users.Create(bank.Staff(), customer.UID, d,
		changes.RequestOptions{IdempotencyKey: "k"}); !errors.Is(err, changes.ErrKeyReused) {
		t.Error(err)
	}
}

// A user gets the roles that people approved, not others that have their names by then.
func TestAUserGetsTheRolesThatWereApproved(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	first, asked, wide := bank.Role(customer), bank.Role(customer), bank.Role(customer, paying)
	u := bank.User(customer, []*roles.Role{first})
	approve := func(approval int64, err error) error {
		t.Helper()
		if err != nil || approval == 0 {
			t.Fatal(approval, err)
		}
		_, err = bank.Changes.Approve(bank.Checker(), changes.UID(approval), changes.RequestOptions{})
		return err
	}
	ask := func() (int64, error) {
		out, err := bank.Users.Change(bank.Staff(), customer.UID, u.UID,
			users.Draft{RoleNames: names(asked, first)}, changes.RequestOptions{})
		return out.Approval, err
	}
	rename := func(r *roles.Role, to string) {
		t.Helper()
		out, err := bank.Roles.Change(bank.Staff(), customer.UID, r.UID, roles.Draft{Name: given.Of(to)},
			changes.RequestOptions{})
		if err := approve(out.Approval, err); err != nil {
			t.Fatal(err)
		}
	}
	approval, err := ask()
	rename(asked, "Looks")
	rename(wide, asked.Name)
	if err := approve(approval, err); !errors.Is(err, changes.ErrStale) {
		t.Errorf("approved after another role got the name: %v", err)
	}
	_, err = bank.Changes.Refuse(bank.Checker(), changes.UID(approval), changes.RequestOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asked.Name = "Looks"
	if err := approve(ask()); err != nil {
		t.Error(err)
	}
}

func TestOfTwoChangesOfOneVersionOneIsStale(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	u := bank.User(customer, []*roles.Role{bank.Role(customer)})
	errs := make([]error, 2)
	var all sync.WaitGroup
	for i, name := range []string{"Ada", "Eva"} {
		all.Go(func() {
			_, errs[i] = bank.Users.Change(bank.Staff(), customer.UID, u.UID, users.Draft{FirstName: given.Of(name)},
				changes.RequestOptions{Version: 1})
		})
	}
	all.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs...), changes.ErrStale) {
		t.Error(errs)
	}
}

func TestTheRecordTellsOfRolesToo(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	r, more := bank.Role(customer), bank.Role(customer)
	u := bank.User(customer, []*roles.Role{r})
	if _, err := bank.Users.Change(bank.Staff(), customer.UID, u.UID,
		users.Draft{RoleNames: names(r, more), Department: given.Of("Audit")},
		changes.RequestOptions{Reason: "promoted"}); err != nil {
		t.Fatal(err)
	}
	var entry string
	err := bank.DB.NewRaw(
		`SELECT action || ' ' || reason || ' ' || before::text || ' ' || after::text FROM audit_entries
			WHERE tenant = ? AND object = 'user' AND uid = ?`,
		bank.Tenant, u.UID.String()).Scan(t.Context(), &entry)
	want := fmt.Sprintf(
		`changeUser promoted {"department":"Treasury","roles":[%[1]q],"version":1} {"department":"Audit",`+
			`"roles":[%[1]q,%[2]q],"version":2}`, r.Name, more.Name)
	if err != nil || entry != want {
		t.Error(entry, err)
	}
}

// The token of a person who has just been suspended is remembered for some seconds, but cannot change
// anything.
func TestASuspendedPersonGivesNobodyAccess(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	me, other := bank.User(customer, nil),
		bank.User(customer, nil, func(u *users.User) { u.Status = users.Suspended })
	mine := bank.PersonOf(customer, me)
	if _, err := bank.Users.Activate(mine, customer.UID, me.UID,
		changes.RequestOptions{}); !errors.Is(err, users.ErrOwnAccess) {
		t.Errorf("activates themself: %v", err)
	}
	if _, err := bank.Users.Suspend(bank.Staff(), customer.UID, me.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	for name, try := range map[string]func() error{
		"themself": func() error {
			_, err := bank.Users.Activate(mine, customer.UID, me.UID, changes.RequestOptions{})
			return err
		},
		"another": func() error {
			_, err := bank.Users.Activate(mine, customer.UID, other.UID, changes.RequestOptions{})
			return err
		},
		"somebody new": func() error {
			_, err := bank.Users.Create(mine, customer.UID, draft("twin", bank.Role(customer)),
				changes.RequestOptions{})
			return err
		},
	} {
		if err := try(); !errors.Is(err, access.ErrDenied) {
			t.Errorf("gives access to %s: %v", name, err)
		}
	}
	if got := find(t, bank, customer, me.UID); got.Status != users.Suspended {
		t.Errorf("%+v", got.User)
	}
}

// The first activation grants what the roles hold, whether it is done directly or by approval.
func TestNobodyActivatesWhatTheyMayNotGrant(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer(dual)
	pays := bank.Role(customer, func(r *roles.Role) {
		r.Applications = []roles.Grant{{Name: "Payments", Entitlements: []string{"Initiate_Payments"}}}
	})
	waits := bank.User(bank.Self,
		[]*roles.Role{bank.Role(bank.Self, func(r *roles.Role) { r.Applications = pays.Applications })},
		func(u *users.User) { u.Status = users.Pending })
	lesser, _ := access.Require(bank.Person(bank.User(bank.Self, nil), unpaying()...))
	lesser.Client = "portal"
	by := access.With(bank.Staff(), lesser)
	if _, err := bank.Users.Activate(by, bank.Self.UID, waits.UID,
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("alone: %v", err)
	}
	if _, err := bank.Users.Suspend(by, bank.Self.UID, waits.UID, changes.RequestOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := bank.Users.Activate(by, bank.Self.UID, waits.UID,
		changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
		t.Errorf("once it is suspended: %v", err)
	}
	_, activated := bank.Users.Activate(bank.Staff(), bank.Self.UID, waits.UID, changes.RequestOptions{})
	_, suspended := bank.Users.Suspend(by, bank.Self.UID, waits.UID, changes.RequestOptions{})
	_, again := bank.Users.Activate(by, bank.Self.UID, waits.UID, changes.RequestOptions{})
	if err := errors.Join(activated, suspended, again); err != nil { // it has had these rights
		t.Errorf("once it was active: %v", err)
	}
	made, err := bank.Users.Create(bank.Staff(), customer.UID, draft("payer", pays), changes.RequestOptions{})
	if err != nil || made.Approval == 0 {
		t.Fatal(made, err)
	}
	for range 2 {
		if _, err := bank.Changes.Approve(by, changes.UID(made.Approval),
			changes.RequestOptions{}); !errors.Is(err, users.ErrBeyond) {
			t.Errorf("as the second person: %v", err)
		}
		if _, err := bank.Users.Suspend(bank.Checker(), customer.UID, made.Result.UID,
			changes.RequestOptions{}); err != nil && !errors.Is(err, users.ErrSuspended) {
			t.Fatal(err)
		}
	}
}

func TestNobodyFreesABoundOfWhatTheyDoNotHold(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	brake := bank.Role(customer, func(r *roles.Role) {
		r.Owner = roles.OwnerCustomer
		r.Applications = []roles.Grant{
			{
				Name: "Payments", Entitlements: []string{"View_Payments"},
				Limits: []access.Limit{{Name: "Daily_Payment_Limits", Minor: 10_00, Currency: "USD"}},
			},
		}
	})
	for _, c := range []struct {
		name string
		by   context.Context
		want error
	}{
		{"who only looks", clerk(bank, customer, 0, "View_Payments"), roles.ErrBeyond},
		{"who approves", clerk(bank, customer, 0, "View_Payments", "Approve_Payments"), roles.ErrBeyond},
		// the last one, as it succeeds
		{"who pays", clerk(bank, customer, 0, "View_Payments", "Initiate_Payments"), nil},
	} {
		_, err := bank.Roles.Change(c.by, customer.UID, brake.UID,
			roles.Draft{
				Applications: given.Of([]roles.GrantDraft{{Name: "Payments", Entitlements: []string{"View_Payments"}}}),
			}, changes.RequestOptions{})
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// However many users keep being given a role, a change of the role waits only for those that came before it.
func TestAChangeOfARoleIsNotOvertaken(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	customer := bank.Customer()
	role := bank.Role(customer)
	user := bank.User(customer, []*roles.Role{role})
	hold := func(ctx context.Context, tx bun.Tx) error { // as a change of another user does
		caller, _ := access.Require(bank.Staff())
		if _, err := bank.Customers.HoldTx(ctx, tx, caller, customer.UID); err != nil {
			return err
		}
		_, err := tx.NewRaw(`SELECT FROM roles WHERE tenant = ? AND uid = ? FOR SHARE`, bank.Tenant,
			role.UID.String()).Exec(ctx)
		return err
	}
	errs := bank.Turns(hold, func() error {
		_, err := bank.Roles.Change(bank.Staff(), customer.UID, role.UID,
			roles.Draft{Description: given.Of("Sees less")}, changes.RequestOptions{})
		return err
	}, func() error {
		_, err := bank.Users.Change(bank.Staff(), customer.UID, user.UID, users.Draft{RoleNames: names(role)},
			changes.RequestOptions{})
		return err
	})
	if err := errors.Join(errs...); err != nil {
		t.Error(err)
	}
}

// Whom others have suspended already the bank can suspend all the same, and they do not activate them then.
func TestASuspensionIsTakenOverByWiderReach(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	customer := bank.Customer(coretest.OwnedBy(partner))
	u := bank.User(customer, []*roles.Role{bank.Role(customer)})
	admin := bank.PersonOf(customer, bank.User(customer, nil))
	theirs, ours := bank.Partner(partner), bank.Staff()
	suspend := func(by context.Context, want error) {
		t.Helper()
		if _, err := bank.Users.Suspend(by, 0, u.UID, changes.RequestOptions{}); !errors.Is(err, want) {
			t.Errorf("suspend: %v, want %v", err, want)
		}
	}
	activate := func(by context.Context, want error) {
		t.Helper()
		if _, err := bank.Users.Activate(by, 0, u.UID, changes.RequestOptions{}); !errors.Is(err, want) {
			t.Errorf("activate: %v, want %v", err, want)
		}
	}
	suspend(admin, nil)
	suspend(theirs, nil)
	activate(admin, users.ErrWider)
	suspend(ours, nil)
	activate(theirs, users.ErrWider)
	for _, by := range []context.Context{admin, theirs, ours} { // nobody narrower takes it back
		suspend(by, users.ErrSuspended)
	}
	activate(theirs, users.ErrWider)
	activate(ours, nil)
	// who suspended a user of before is not known
	bank.Exec(`UPDATE users SET status = 'Suspended' WHERE tenant = ? AND uid = ?`, bank.Tenant, u.UID.String())
	suspend(ours, nil)
	activate(theirs, users.ErrWider)
}

// What the bank takes away its partner does not give back.
func TestWhomTheBankSuspendedItsPartnerDoesNotActivate(t *testing.T) {
	t.Parallel()
	bank := coretest.New(t)
	partner := bank.DownstreamPartner()
	customer := bank.Customer(coretest.OwnedBy(partner))
	u := bank.User(customer, []*roles.Role{bank.Role(customer)})
	admin := bank.PersonOf(customer, bank.User(customer, nil))
	for _, by := range []struct {
		name string
		ctx  context.Context
		may  bool // lift what the partner did
	}{
		{"its own", admin, false},
		{"its partner", bank.Partner(partner), true},
		{"the bank", bank.Staff(), true},
	} {
		for whose, suspending := range map[string]context.Context{
			"the partner's": bank.Partner(partner), "the bank's": bank.Staff(),
		} {
			if _, err := bank.Users.Suspend(suspending, 0, u.UID, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
			may := by.may && (whose == "the partner's" || by.name == "the bank")
			_, err := bank.Users.Activate(by.ctx, 0, u.UID, changes.RequestOptions{})
			if may && err != nil || !may && !errors.Is(err, users.ErrWider) {
				t.Errorf("%s suspension, lifted by %s: %v", whose, by.name, err)
			}
			if err == nil {
				continue
			}
			if _, err := bank.Users.Activate(bank.Staff(), 0, u.UID, changes.RequestOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}
