package roles

import (
	"slices"
	"strings"

	"bankgraph/core/access"
	"bankgraph/core/ident"
)

// Application is a part of the bank that roles give access to, with its entitlements and limits.
type Application struct {
	Name         string
	Entitlements []string
	Limits       []string
	Bank         bool // for roles of the bank's own people only
}

// Applications lists all applications: the published ones (rest/CONTRACT.md, applications), and three of our
// own for permissions that no published application has.
var Applications = []Application{
	{Name: "Accounts", Entitlements: words("Manage_Account View_Account")},
	{
		Name:         "Bulk_Payments",
		Entitlements: words("Approve_bulk_payments Upload_Bulk_Payment_File View_bulk_payments"),
	},
	{Name: "Contacts", Entitlements: words("Manage_Contacts View_Contacts")},
	{Name: "Digital_Banking_Portal", Entitlements: words("View_Portal")},
	{
		Name:         "Foreign_Exchange",
		Entitlements: words("Cancel_Trades View_Trades Spot_Trade Create_Instruct_Trades"),
		Limits:       words("Daily_Payment_Limits Per_Transaction_Payment_Limits"),
	},
	{
		Name:         "Group_Payments",
		Entitlements: words("Approve_Group View_Group Initiate_Cancel_Group_Payment Manage_Group"),
	},
	{
		Name: "Payments",
		Entitlements: words(
			"Reversal_Payments View_Payments Return_Payments Cancel_Payments Initiate_Payments Approve_Payments"),
		Limits: words(
			`Daily_Payment_Approve_Limits Daily_Payment_Limits Monthly_Payment_Limits Monthly_Payment_Approve_Limits
			Per_Transaction_Payment_Approve_Limits Per_Transaction_Payment_Limits`),
	},
	{Name: "Positive_Rules", Entitlements: words("Manage_Exception View_Positive_Rules Manage_Positive_Rules")},
	{
		Name: "User_Admin",
		Entitlements: words(
			"View_Roles_And_Users Manage_Roles Manage_Users Activate_Users View_Category Add_Update_Delete_Category " +
				"Suspend_Users"),
	},
	{Name: "Customers", Entitlements: words("vCust mCust View_Signatories Lookup_Customers")},
	{Name: "Webhooks", Entitlements: words("View_Webhooks Manage_Webhooks")},
	{
		Name:         "Bank_Administration",
		Entitlements: words("View_Audit Explore_GraphQL Manage_Clients Move_Clock Screen_Payments"), Bank: true,
	},
}

func words(text string) []string { return strings.Fields(text) }

// application finds an application by name without regard to letter case; nil if there is none.
func application(name string) *Application {
	at := slices.IndexFunc(Applications, func(a Application) bool { return ident.Same(a.Name, name) })
	if at < 0 {
		return nil
	}
	return &Applications[at]
}

// LimitOf returns the names of an application and its limit as the catalogue spells them; empty if there is
// no such limit.
func LimitOf(applicationName, limit string) (string, string) {
	a := application(applicationName)
	if a == nil {
		return "", ""
	}
	return a.Name, oneOf(a.Limits, limit)
}

// oneOf returns a word as the list spells it; empty if it is not in the list.
func oneOf(list []string, word string) string {
	for _, w := range list {
		if ident.Same(w, word) {
			return w
		}
	}
	return ""
}

// permission returns the permission of the same name as an entitlement. Other entitlements belong to other
// programs, such as the portal.
func permission(entitlement string) (access.Permission, bool) {
	p := access.Permission(entitlement)
	return p, slices.Contains(access.All, p)
}

// Everything returns the most that a role of this type can hold: every entitlement of every application,
// without limits.
func Everything(t Type) []Grant {
	var all []Grant
	for _, a := range Applications {
		if !a.Bank || t == Bank {
			all = append(all, Grant{Name: a.Name, Entitlements: slices.Clone(a.Entitlements)})
		}
	}
	return all
}
