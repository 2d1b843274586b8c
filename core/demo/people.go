package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/roles"
	"bankgraph/core/users"
	"bankgraph/db"
)

// named returns the UUID of a role or a user, which is the same in every demo bank.
func named(name string) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceDNS, []byte(name+".bankgraph.example"))
}

// since returns when the demo bank's people and roles were created.
func (b *bank) since() time.Time { return b.start.AddDate(-2, 0, 0).UTC().Truncate(time.Second) }

func (b *bank) limit(name string, dollars int64) access.Limit {
	return access.Limit{Name: name, Minor: dollars * 100, Currency: "USD"}
}

// roles returns the demo bank's roles; their numbers follow the order of the list.
func (b *bank) roles() []*roles.Role {
	var all []*roles.Role
	for i, r := range []struct {
		customer     customers.UID
		name, about  string
		applications []roles.Grant
	}{
		{Institution, "Head of Operations", "Everything in the bank", roles.Everything(roles.Bank)},
		{Institution, "Relationship Manager", "Customers and all that is theirs", []roles.Grant{
			{Name: "Accounts", Entitlements: []string{"Manage_Account", "View_Account"}},
			{Name: "Contacts", Entitlements: []string{"Manage_Contacts", "View_Contacts"}},
			{
				Name:         "User_Admin",
				Entitlements: []string{"View_Roles_And_Users", "Manage_Users", "Activate_Users", "Suspend_Users"},
			},
			{Name: "Customers", Entitlements: []string{"vCust", "mCust", "View_Signatories", "Lookup_Customers"}},
		}},
		{Institution, "Auditor", "Looks at everything, changes nothing", []roles.Grant{
			{Name: "Accounts", Entitlements: []string{"View_Account"}},
			{Name: "Contacts", Entitlements: []string{"View_Contacts"}},
			{Name: "Payments", Entitlements: []string{"View_Payments"}},
			{Name: "User_Admin", Entitlements: []string{"View_Roles_And_Users"}},
			{Name: "Customers", Entitlements: []string{"vCust", "View_Signatories", "Lookup_Customers"}},
			{Name: "Bank_Administration", Entitlements: []string{"Explore_GraphQL"}},
		}},
		{First, "Treasurer", "Approves payments", []roles.Grant{
			{Name: "Accounts", Entitlements: []string{"View_Account"}},
			{Name: "Payments", Entitlements: []string{"View_Payments", "Approve_Payments"}, Limits: []access.Limit{
				b.limit("Daily_Payment_Approve_Limits", 500_000),
				b.limit("Per_Transaction_Payment_Approve_Limits", 100_000),
			}},
			{Name: "User_Admin", Entitlements: []string{"View_Roles_And_Users", "Manage_Users"}},
			{Name: "Customers", Entitlements: []string{"vCust", "View_Signatories"}},
		}},
		{First, "Payments Clerk", "Enters payments", []roles.Grant{
			{Name: "Contacts", Entitlements: []string{"Manage_Contacts", "View_Contacts"}},
			{Name: "Payments", Entitlements: []string{"View_Payments", "Initiate_Payments"}, Limits: []access.Limit{
				b.limit("Daily_Payment_Limits", 50_000), b.limit("Per_Transaction_Payment_Limits", 10_000),
			}},
		}},
		{Partner, "Operations", "Runs the partner's customers", []roles.Grant{
			{Name: "Accounts", Entitlements: []string{"View_Account"}},
			{Name: "Contacts", Entitlements: []string{"View_Contacts"}},
			{
				Name:         "User_Admin",
				Entitlements: []string{"View_Roles_And_Users", "Manage_Users", "Activate_Users", "Suspend_Users"},
			},
			{Name: "Customers", Entitlements: []string{"vCust", "View_Signatories"}},
		}},
		{PartnersFirst, "Treasurer", "Looks after the company's accounts", []roles.Grant{
			{Name: "Accounts", Entitlements: []string{"View_Account"}},
			{Name: "Contacts", Entitlements: []string{"Manage_Contacts", "View_Contacts"}},
			{Name: "Customers", Entitlements: []string{"vCust", "View_Signatories"}},
		}},
	} {
		role := &roles.Role{
			Tenant: b.tenant, UID: roles.UID{UUID: named(r.name + "." + r.customer.String())},
			Number: roles.Number(firstPerson + i), Customer: r.customer, Name: r.name, Description: r.about,
			Type: roles.Customer, Owner: roles.OwnerBank, Status: roles.Active, Applications: r.applications,
			CreatedAt: b.since(), UpdatedAt: b.since(), Version: 1,
		}
		if r.customer == Institution {
			role.Type = roles.Bank
		}
		if r.customer == Partner {
			role.Owner = roles.OwnerCustomer
		}
		all = append(all, role)
	}
	return all
}

// staff is one of the demo bank's users, with the name of the user's role.
type staff struct {
	*users.User
	role string
}

// people returns the demo bank's users; their numbers follow the order of the list.
func (b *bank) people() []staff {
	var all []staff
	for i, p := range []struct {
		customer                        customers.UID
		login, first, family, role, dpt string
		status                          users.Status
	}{
		{
			Institution, "maria.alvarez", "Maria", "Alvarez", "Relationship Manager", "Corporate Banking",
			users.Active,
		},
		{Institution, "james.okafor", "James", "Okafor", "Relationship Manager", "Corporate Banking", users.Active},
		{Institution, "linda.chen", "Linda", "Chen", "Head of Operations", "Operations", users.Active},
		{Institution, "peter.novak", "Peter", "Novak", "Auditor", "Audit", users.Active},
		{Institution, "ines.duarte", "Ines", "Duarte", "Auditor", "Audit", users.Locked},
		{First, "grace.whitfield", "Grace", "Whitfield", "Treasurer", "Treasury", users.Active},
		{First, "thomas.becker", "Thomas", "Becker", "Payments Clerk", "Treasury", users.Pending},
		{Partner, "nina.larsen", "Nina", "Larsen", "Operations", "Operations", users.Active},
		{PartnersFirst, "hannah.brooks", "Hannah", "Brooks", "Treasurer", "Treasury", users.Active},
	} {
		u := &users.User{
			Tenant: b.tenant, UID: users.UID{UUID: named(p.login)}, Number: users.Number(firstPerson + i),
			Customer: p.customer, LoginID: p.login, FirstName: p.first, LastName: p.family,
			EmailAddress: p.login + "@sandbox.example", PhoneNumber: fmt.Sprintf("+16145550%d", 140+i),
			Mobile: fmt.Sprintf("+16145550%d", 160+i), Department: p.dpt, Status: p.status,
			Limits: []access.ApplicationLimits{}, CreatedAt: b.since(), UpdatedAt: b.since(), Version: 1,
		}
		if p.login == "thomas.becker" {
			u.Limits = []access.ApplicationLimits{
				{Name: "Payments", Limits: []access.Limit{b.limit("Per_Transaction_Payment_Limits", 2_500)}},
			}
		}
		all = append(all, staff{u, p.role})
	}
	return all
}

// The numbers of the demo bank's roles and users come after those of an earlier first user.
const (
	firstPerson = 100_001
	mostPeople  = 100_100
)

func (b *bank) copyPeople(ctx context.Context, load *db.Load) error {
	var people []*users.User
	for _, p := range b.people() {
		people = append(people, p.User)
	}
	return errors.Join(
		copyEach(ctx, load, slices.Values(b.roles())),
		copyEach(ctx, load, slices.Values(people)),
		copyEach(ctx, load, slices.Values(b.rolesOfPeople())),
	)
}

func (b *bank) rolesOfPeople() []*users.RoleOf {
	var all []*users.RoleOf
	for _, p := range b.people() {
		all = append(all,
			&users.RoleOf{
				Tenant: b.tenant, Customer: p.Customer, User: p.UID,
				Role: roles.UID{UUID: named(p.role + "." + p.Customer.String())},
			})
	}
	return all
}
