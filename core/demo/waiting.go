package demo

import (
	"context"
	"fmt"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/given"
	"bankgraph/core/roles"
)

// Ask requests two changes that wait for a second person, so that approvals can be tried: a new role of the
// First customer, and a changed one. The maker is the API key, which has no responsible person.
func Ask(ctx context.Context, c *core.Core, key string) error {
	caller, err := access.Require(ctx)
	if err != nil {
		return err
	}
	caller.Client, caller.ClientName, caller.LoginID = key, key, ""
	caller.Entity, caller.Permissions = int64(Institution), access.All
	ctx = access.With(ctx, caller)

	accounts := roles.GrantDraft{Name: "Accounts", Entitlements: []string{"View_Account"}}
	contacts := roles.GrantDraft{Name: "Contacts", Entitlements: []string{"Manage_Contacts", "View_Contacts"}}
	_, err = c.Roles.Create(ctx, First, roles.Draft{
		Name: given.Of("Accounts Payable"), Description: given.Of("Keeps the beneficiaries"),
		Applications: given.Of([]roles.GrantDraft{accounts, contacts}),
	}, changes.RequestOptions{Reason: "The treasury splits its work"})
	if err == nil {
		clerk := roles.UID{UUID: named("Payments Clerk." + First.String())}
		_, err = c.Roles.Change(ctx, First, clerk,
			roles.Draft{Description: given.Of("Enters payments and sees what became of them")},
			changes.RequestOptions{Reason: "Says what the clerks do"})
	}
	if err != nil {
		return fmt.Errorf("ask for changes of the demo bank: %w", err)
	}
	return nil
}
