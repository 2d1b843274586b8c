package demo_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"bankgraph/core/accounts"
	"bankgraph/core/customers"
	"bankgraph/core/demo"
	"bankgraph/core/limits"
	"bankgraph/core/users"
)

func TestTheReadmeSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	c, tenant := filled(t, demo.Options{})
	says := func(words ...string) {
		t.Helper()
		for line := range strings.Lines(string(text)) {
			all := true
			for _, word := range words {
				all = all && strings.Contains(line, word)
			}
			if all {
				return
			}
		}
		t.Errorf("README.md has no line with %q", words)
	}
	var known []*customers.Customer
	if err := c.DB.NewSelect().Model(&known).
		Where("c.uid IN (1000001, 1000002, 1000004, 1000005, 1000006, 1000007, 1000009, 1000010, 1000013, " +
			"1000017, 1000020)").OrderExpr("c.uid").Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, customer := range known {
		says("| "+customer.UID.String()+" |", customer.LegalName)
		if customer.Status != customers.Active {
			says("| "+customer.UID.String()+" |", string(customer.Status))
		}
		if customer.Parent != nil {
			says("| "+customer.UID.String()+" |", "its parent is "+customer.Parent.String())
		}
		if customer.UID == demo.First || customer.UID == demo.Partner {
			says("| "+customer.UID.String()+" |", "`"+customer.ShortName+"`")
		}
	}
	says("LEI "+known[0].LEI, "1000001")
	var list []*accounts.Account
	if err := c.DB.NewSelect().Model(&list).Where("a.customer = ?", demo.First).OrderExpr("a.uid").
		Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	for k, account := range list {
		says("| "+account.UID.String()+" |", "| "+demo.AccountNumber(1, k)+" |", account.Name,
			string(account.SubType))
	}
	says("routing number " + list[0].BankID)
	var people []*users.User
	if err := c.DB.NewSelect().Model(&people).Scan(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, person := range people {
		says("`"+person.LoginID+"`", "| "+string(person.Status)+" |")
		shown, err := c.Users.Find(staff(t.Context(), tenant), person.Customer, person.UID)
		if err != nil || len(shown.RoleNames) != 1 {
			t.Fatal(shown, err)
		}
		says("`"+person.LoginID+"`", shown.RoleNames[0])
	}
	says(fmt.Sprintf("all %d limits", len(limits.Kinds())))
}
