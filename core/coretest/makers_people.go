package coretest

import (
	"fmt"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/customers"
	"bankgraph/core/fees"
	"bankgraph/core/limits"
	"bankgraph/core/rails"
	"bankgraph/core/roles"
	"bankgraph/core/users"
)

// Role makes an active role that views accounts and users.
func (b *Bank) Role(of *customers.Customer, edits ...func(*roles.Role)) *roles.Role {
	b.t.Helper()
	b.remember(func(o *Bank) { o.role(of, edits...) })
	return b.role(of, edits...)
}

func (b *Bank) role(of *customers.Customer, edits ...func(*roles.Role)) *roles.Role {
	b.t.Helper()
	b.numbers.roles++
	n := b.numbers.roles
	r := &roles.Role{
		Tenant: b.Tenant, UID: roles.UID{UUID: numbered("role", n)}, Number: roles.Number(n), Customer: of.UID,
		Name:        fmt.Sprintf("Role %d", n),
		Description: "Looks at accounts and users", Type: roles.Customer, Owner: roles.OwnerBank,
		Status: roles.Active,
		Applications: []roles.Grant{
			{Name: "Accounts", Entitlements: []string{"View_Account"}},
			{Name: "User_Admin", Entitlements: []string{"View_Roles_And_Users"}},
		},
		CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	if of.RelationshipType == customers.RelationSelf {
		r.Type = roles.Bank
	}
	change(r, edits)
	b.insert(r)
	return r
}

// User makes an active user with these roles.
func (b *Bank) User(of *customers.Customer, held []*roles.Role, edits ...func(*users.User)) *users.User {
	b.t.Helper()
	b.remember(func(o *Bank) { o.user(of, held, edits...) })
	return b.user(of, held, edits...)
}

func (b *Bank) user(of *customers.Customer, held []*roles.Role, edits ...func(*users.User)) *users.User {
	b.t.Helper()
	b.numbers.users++
	n := b.numbers.users
	u := &users.User{
		Tenant: b.Tenant, UID: users.UID{UUID: numbered("user", n)}, Number: users.Number(n), Customer: of.UID,
		LoginID: fmt.Sprintf("ruth.keller%d", n), FirstName: "Ruth", LastName: "Keller",
		EmailAddress: fmt.Sprintf("ruth.keller%d@mail.example", n), PhoneNumber: "+16145550166",
		Mobile: "+16145550177", Department: "Treasury", Status: users.Active, Limits: []access.ApplicationLimits{},
		CreatedAt: b.Now(), UpdatedAt: b.Now(), Version: 1,
	}
	change(u, edits)
	b.insert(u)
	for _, r := range held {
		b.insert(&users.RoleOf{Tenant: b.Tenant, Customer: of.UID, User: u.UID, Role: r.UID})
	}
	return u
}

// numbered returns the n-th UUID of a kind, which is the same in every bank.
func numbered(kind string, n int64) uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceDNS, fmt.Appendf(nil, "%s-%d", kind, n))
}

// Limit makes a limit of a customer, with a ceiling in minor units.
func (b *Bank) Limit(of *customers.Customer, code string, ceiling int64) *limits.Limit {
	b.t.Helper()
	if _, known := limits.Known(code); !known {
		b.t.Fatalf("%s is no limit code", code)
	}
	b.remember(func(o *Bank) { o.limit(of, code, ceiling) })
	return b.limit(of, code, ceiling)
}

func (b *Bank) limit(of *customers.Customer, code string, ceiling int64) *limits.Limit {
	b.t.Helper()
	l := &limits.Limit{
		Tenant: b.Tenant, Customer: of.UID, Code: code, Application: "Payments", Ceiling: ceiling, Currency: "USD",
		Version: 1,
	}
	b.insert(l)
	return l
}

// Usage makes a customer's usage of a day, in minor units. For ACH it is a credit of class CCD.
func (b *Bank) Usage(
	of *customers.Customer, rail limits.Family, day string, amount int64, edits ...func(*limits.Usage),
) {
	b.t.Helper()
	b.remember(func(o *Bank) { o.usage(of, rail, day, amount, edits...) })
	b.usage(of, rail, day, amount, edits...)
}

func (b *Bank) usage(
	of *customers.Customer, rail limits.Family, day string, amount int64, edits ...func(*limits.Usage),
) {
	b.t.Helper()
	at, err := time.Parse(time.DateOnly, day)
	b.must(err)
	u := &limits.Usage{Tenant: b.Tenant, Customer: of.UID, Rail: rail, Day: at, Amount: amount, Payments: 1}
	if rail == limits.ACH {
		u.EntryType, u.SECCode = rails.Credit, rails.CCD
	}
	change(u, edits)
	b.insert(u)
}

// Fee makes a fee tier of a customer, for all of its accounts.
func (b *Bank) Fee(of *customers.Customer, edits ...func(*fees.Tier)) *fees.Tier {
	b.t.Helper()
	b.remember(func(o *Bank) { o.fee(of, edits...) })
	return b.fee(of, edits...)
}

func (b *Bank) fee(of *customers.Customer, edits ...func(*fees.Tier)) *fees.Tier {
	b.t.Helper()
	b.numbers.tiers++
	f := &fees.Tier{
		Tenant: b.Tenant, ID: fees.ID(b.numbers.tiers), Customer: of.UID, Application: "Payments", FeeTier: "Gold",
		Product: "Outgoing Payment", FeeName: "SPOT", Status: fees.Active, Version: 1, UpdatedAt: b.Now(),
	}
	change(f, edits)
	b.insert(f)
	return f
}

// Configured adds a fee of 12.50 to the bank's catalogue.
func (b *Bank) Configured(application, product, name, tier string) {
	b.t.Helper()
	b.remember(func(o *Bank) { o.configured(application, product, name, tier) })
	b.configured(application, product, name, tier)
}

func (b *Bank) configured(application, product, name, tier string) {
	b.t.Helper()
	b.insert(&fees.Fee{
		Tenant: b.Tenant, Application: application, Product: product, FeeName: name, FeeTier: tier,
		PriceMinor: 12_50, Currency: "USD",
	})
}
