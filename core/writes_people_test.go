package core_test

import (
	"context"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/given"
	"bankgraph/core/roles"
	"bankgraph/core/users"
)

func createUser(b *coretest.Bank, of *customers.Customer) write {
	ada := users.Draft{
		LoginID: given.Of("ada.byron"), FirstName: given.Of("Ada"), LastName: given.Of("Byron"),
		EmailAddress: given.Of("ada@mail.example"), Mobile: given.Of("+16145550123"),
		Department: given.Of("Treasury"), RoleNames: given.Of([]string{b.Role(of).Name}),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Users.Create(ctx, of.UID, ada, with(key)))
	}
}

func changeUser(b *coretest.Bank, of *customers.Customer) write {
	uid := b.User(of, []*roles.Role{b.Role(of)}).UID
	change := users.Draft{Department: given.Of("Audit"), RoleNames: given.Of([]string{b.Role(of).Name})}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Users.Change(ctx, 0, uid, change, with(key)))
	}
}

// suspendUser makes a write that suspends a user with this status.
func suspendUser(b *coretest.Bank, of *customers.Customer, status users.Status) write {
	uid := b.User(of, nil, func(u *users.User) {
		if u.Status = status; status == users.Suspended {
			u.SuspendedBy = access.OfBank
		}
	}).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Users.Suspend(ctx, 0, uid, with(key)))
	}
}

func activateUser(b *coretest.Bank, of *customers.Customer, status users.Status) write {
	uid := b.User(of, nil, func(u *users.User) { u.Status = status }).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Users.Activate(ctx, 0, uid, with(key)))
	}
}

func createRole(b *coretest.Bank, of *customers.Customer) write {
	clerk := roles.Draft{
		Name: given.Of("Clerk"), Description: given.Of("Looks"),
		Applications: given.Of([]roles.GrantDraft{{Name: "Accounts", Entitlements: []string{"View_Account"}}}),
	}
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Roles.Create(ctx, of.UID, clerk, with(key)))
	}
}

func changeRole(b *coretest.Bank, of *customers.Customer) write {
	uid := b.Role(of).UID
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Roles.Change(ctx, 0, uid, roles.Draft{Name: given.Of("Clerk")}, with(key)))
	}
}

const provider = "https://login.example"

// linkSubject makes a write that links a user to a subject.
func linkSubject(b *coretest.Bank, of *customers.Customer) write {
	uid := b.User(of, nil).UID
	b.Exec(`INSERT INTO issuers (tenant, url, audience, user_claims, subject_claim, algorithms)
		VALUES (?, ?, 'api', '{sub}', 'sub', '{ES256}')`, b.Tenant, provider)
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Users.Link(ctx, uid, users.SubjectDraft{Issuer: provider, Subject: "7f1c"}, with(key)))
	}
}

func unlinkSubject(b *coretest.Bank, of *customers.Customer) write {
	linkSubject(b, of)
	uid := b.User(of, nil).UID
	b.Exec(`INSERT INTO subjects (tenant, url, audience, claim, subject, customer, user_uid)
		VALUES (?, ?, 'api', 'sub', '7f1c', ?, ?)`, b.Tenant, provider, of.UID, uid.String())
	return func(ctx context.Context, key string) (said, error) {
		return heard(b.Users.Unlink(ctx, uid, users.SubjectDraft{Issuer: provider}, with(key)))
	}
}
