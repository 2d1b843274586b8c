package demo

import (
	"context"
	"fmt"
	"strings"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/changes"
	"bankgraph/core/customers"
	"bankgraph/core/files"
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

	if err := upload(ctx, c); err != nil {
		return err
	}
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

// Payroll is the file of payments that a customer has uploaded: of its three lines the last one has a fault.
// Once it is checked, it waits for a second person where the customer's settings ask for one.
func Payroll(of customers.UID) string {
	from := AccountNumber(int64(of-Institution), 0)
	return "externalReferenceId,paymentAmount,speed,senderAccountNumber,receiverName,receiverAccountNumber," +
		"receiverSubAccountType,receiverBankId,paymentNotes\n" +
		"PAY-2026-11-01,2450.00,Instant," + from +
		",Ada Byron,4400123401,Checking,611090001,Salary of November\n" +
		"PAY-2026-11-02,1980.50,Instant," + from +
		",Grace Brewster,4400123402,Savings,611090001,Salary of November\n" +
		"PAY-2026-11-03,2100,Instant," + from + ",Alan Mathison,4400123403,Checking,611090002,Salary of November\n"
}

func upload(ctx context.Context, c *core.Core) error {
	for _, of := range []customers.UID{First, PartnersFirst} {
		_, err := c.Files.Upload(ctx, files.Upload{
			Customer: of, Type: files.CSV, Open: files.OpenText("payroll.csv", strings.NewReader(Payroll(of))),
		}, changes.RequestOptions{Reason: "Salaries of November"})
		if err != nil {
			return fmt.Errorf("upload a file to the demo bank: %w", err)
		}
	}
	return nil
}
