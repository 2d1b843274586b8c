package tenants_test

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/db"
	"bankgraph/db/dbtest"
)

func newCore(t *testing.T) (*core.Core, context.Context) {
	t.Helper()
	pools, err := db.Open(dbtest.Shared(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	return core.New(core.Options{DB: pools, Keys: seal.New()}), access.Operator(context.Background(), 0, "", nil)
}

func draft() tenants.Draft {
	return tenants.Draft{
		Code: "Bank-" + rand.Text(), Name: "First Bank", Zone: "America/Chicago", Currency: "usd", Admin: "jo",
	}
}

func TestNewBankHasItsOwnCustomerAndItsFirstUser(t *testing.T) {
	t.Parallel()
	c, operator := newCore(t)
	bank := draft()
	tenant, err := c.Tenants.Add(operator, bank)
	if err != nil {
		t.Fatal(err)
	}
	if tenant.Currency != "USD" || tenant.Sandbox || tenant.Location().String() != "America/Chicago" {
		t.Errorf("tenant = %+v", tenant)
	}
	var self string
	err = c.DB.NewRaw(
		`SELECT c.legal_name || ', ' || c.type || ', ' || c.relationship_type || ', ' || c.status || ', owner ' ||
			c.owner || ', ' || u.login_id || ' ' || u.status || ', counted ' || n.customers
		FROM customers AS c JOIN users AS u ON u.tenant = c.tenant AND u.customer = c.uid
		  JOIN customer_counts AS n ON n.tenant = c.tenant AND n.owner = 0
		WHERE c.tenant = ?`, tenant.ID).Scan(context.Background(), &self)
	if err != nil || self != "First Bank, Processing Org, Self, Active, owner 0, jo Active, counted 1" {
		t.Errorf("%s, %v", self, err)
	}
	var admin uuid.UUID
	if err := c.DB.NewRaw(`SELECT uid FROM users WHERE tenant = ?`, tenant.ID).Scan(context.Background(),
		&admin); err != nil {
		t.Fatal(err)
	}
	granted, err := c.Users.Granted(context.Background(), tenant.ID, admin)
	for _, p := range access.All {
		if !slices.Contains(granted.Permissions, p) {
			t.Errorf("the first user lacks %s: %v", p, err)
		}
	}
	if found, err := c.Tenants.Find(operator, bank.Code); err != nil || found.ID != tenant.ID {
		t.Errorf("found %+v, %v", found, err)
	}
}

func TestBankCodeIsTakenOnce(t *testing.T) {
	t.Parallel()
	c, operator := newCore(t)
	bank := draft()
	if _, err := c.Tenants.Add(operator, bank); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Tenants.Add(operator, bank); !errors.Is(err, tenants.ErrExists) {
		t.Errorf("error = %v", err)
	}
	bank.Code = strings.ToUpper(bank.Code)
	if _, err := c.Tenants.Add(operator, bank); !errors.Is(err, tenants.ErrExists) {
		t.Errorf("other letter case: %v", err)
	}
}

func TestOfCodesThatDifferInCaseOneIsTaken(t *testing.T) {
	t.Parallel()
	c, operator := newCore(t)
	lower, upper := draft(), draft()
	lower.Code, upper.Code = strings.ToLower(lower.Code), strings.ToUpper(lower.Code)
	var errs [2]error
	var both sync.WaitGroup
	for i, bank := range []tenants.Draft{lower, upper} {
		both.Go(func() { _, errs[i] = c.Tenants.Add(operator, bank) })
	}
	both.Wait()
	if (errs[0] == nil) == (errs[1] == nil) || !errors.Is(errors.Join(errs[:]...), tenants.ErrExists) {
		t.Errorf("%v", errs)
	}
}

func TestEveryWrongFieldOfABankIsNamed(t *testing.T) {
	t.Parallel()
	c, operator := newCore(t)
	_, err := c.Tenants.Add(operator,
		tenants.Draft{Code: "a b", Zone: "Local", Currency: "ZZZ", Admin: "a\x00b"})
	var wrong fault.Faults
	if !errors.As(err, &wrong) {
		t.Fatal(err)
	}
	var fields []string
	for _, one := range wrong {
		fields = append(fields, one.Field)
	}
	if len(fields) != 5 {
		t.Errorf("fields = %v", fields)
	}
}

// A code is not taken for another one because of a dot or hyphen that nobody sees.
func TestCodesHaveDotsAndHyphensBetweenLettersAndDigitsOnly(t *testing.T) {
	t.Parallel()
	c, operator := newCore(t)
	bank := draft()
	if _, err := c.Tenants.Add(operator, bank); err != nil {
		t.Fatal(err)
	}
	for _, code := range []string{
		bank.Code + ".", bank.Code + "-",
		"." + bank.Code, "-" + bank.Code, bank.Code + "..a", bank.Code + ".-a",
		strings.Replace(bank.Code, "-", "--", 1), bank.Code + "_a", bank.Code + "é", bank.Code + "\n", "",
		bank.Code + "." + strings.Repeat("a", 63-len(bank.Code)),
	} {
		other := draft()
		other.Code = code
		_, err := c.Tenants.Add(operator, other)
		var wrong fault.Faults
		if !errors.As(err, &wrong) || len(wrong) != 1 || wrong[0].Field != "code" {
			t.Errorf("%q: %v", code, err)
		}
	}
	for _, code := range []string{bank.Code + ".a-1", bank.Code + strings.Repeat("a", 63-len(bank.Code))} {
		other := draft()
		other.Code = code
		if _, err := c.Tenants.Add(operator, other); err != nil {
			t.Errorf("%q: %v", code, err)
		}
	}
}

func TestBanksAreForOperators(t *testing.T) {
	t.Parallel()
	c, _ := newCore(t)
	staff := access.With(context.Background(),
		access.Caller{Tenant: 1, Reach: access.OfBank, Permissions: access.All})
	if _, err := c.Tenants.Add(staff, draft()); !errors.Is(err, access.ErrDenied) {
		t.Errorf("add: %v", err)
	}
	if _, err := c.Tenants.Find(staff, "sandbox"); !errors.Is(err, access.ErrDenied) {
		t.Errorf("find: %v", err)
	}
	if _, err := c.Tenants.List(context.Background()); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("list: %v", err)
	}
}
