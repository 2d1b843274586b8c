package clients_test

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/fault"
	"bankgraph/core/users"
)

// keyOf adds an API key that acts for the bank's first user.
func (b *bank) keyOf(login string, permissions ...string) (secret string) {
	b.Helper()
	_, secret, err := b.Clients.Add(b.operator,
		clients.Draft{Key: "portal", User: login, Permissions: permissions})
	if err != nil {
		b.Fatal(err)
	}
	return secret
}

func TestKeyOfAUserMayDoWhatBothMay(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.grant(access.ManageCustomers, access.ViewAccounts)
	token := b.issue("portal", b.keyOf("ADMIN", "vCust", "Manage_Account", "Manage_Contacts")).AccessToken
	caller, err := b.Clients.Verify(b.stranger, token)
	if err != nil {
		t.Fatal(err)
	}
	if want := []access.Permission{
		access.ViewCustomers,
		access.ViewAccounts,
	}; !reflect.DeepEqual(caller.Permissions, want) {
		t.Errorf("permissions = %v, want %v", caller.Permissions, want)
	}
	if caller.LoginID != "admin" ||
		caller.User.String() != b.one(`SELECT uid FROM users WHERE tenant = ?`, b.tenant.ID) ||
		caller.Client != "portal" ||
		caller.Reach != access.OfBank || caller.Partner != caller.Entity ||
		!reflect.DeepEqual(caller.Limits, bounds) {
		t.Errorf("caller = %+v", caller)
	}
	if _, claims := parts(t, token); !reflect.DeepEqual(claims["permissions"], []any{"vCust", "View_Account"}) {
		t.Errorf("the token says %v", claims["permissions"])
	}
	b.grant(access.ViewAccounts)
	b.later(10 * time.Second)
	if caller, err = b.Clients.Verify(b.stranger, token); err != nil || caller.May(access.ViewCustomers) ||
		!caller.May(access.ViewAccounts) {
		t.Errorf("a permission that the user has lost: %v, %v", caller.Permissions, err)
	}
	b.exec(`UPDATE clients SET permissions = '{vCust}' WHERE tenant = ?`, b.tenant.ID)
	b.later(10 * time.Second)
	if caller, err = b.Clients.Verify(b.stranger, token); err != nil || len(caller.Permissions) != 0 {
		t.Errorf("a permission that the key has lost: %v, %v", caller.Permissions, err)
	}
}

func TestKeyWithoutAUserSpeaksForNobody(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.grant(access.ManageAccounts)
	caller, err := b.Clients.Verify(b.stranger, b.issue("portal", b.client("portal")).AccessToken)
	if err != nil || caller.User != uuid.Nil || caller.LoginID != "" || caller.Limits != nil ||
		caller.May(access.ViewAccounts) || !caller.May(access.ManageCustomers) {
		t.Errorf("caller = %+v, %v", caller, err)
	}
}

func TestKeyDiesWithTheSuspensionOfItsUser(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.keyOf("admin", "vCust")
	tokens := b.issue("portal", secret)
	if _, err := b.Clients.Verify(b.stranger, tokens.AccessToken); err != nil {
		t.Fatal(err)
	}
	b.exec(`UPDATE users SET status = 'Suspended' WHERE tenant = ?`, b.tenant.ID)
	b.later(10 * time.Second)
	if _, err := b.Clients.Verify(b.stranger, tokens.AccessToken); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("old token: %v", err)
	}
	if _, err := b.Clients.Issue(b.stranger, b.tenant.Code, "portal",
		secret); !errors.Is(err, clients.ErrClient) {
		t.Errorf("new token: %v", err)
	}
	if _, err := b.refresh("portal", secret, tokens.RefreshToken); !errors.Is(err, clients.ErrClient) {
		t.Errorf("refresh: %v", err)
	}
	if _, err := b.Clients.IssueUnasked(b.operator, "portal"); !errors.Is(err, users.ErrNoActor) {
		t.Errorf("at the command line: %v", err)
	}
	b.exec(`UPDATE users SET status = 'Active' WHERE tenant = ?`, b.tenant.ID)
	b.issue("portal", secret)
}

func TestKeyOfAUserBelongsToTheUsersCustomer(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	const partner, corporate = int64(7_000_001), int64(7_000_002)
	insert := `INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status)
		VALUES (?, ?, ?, ?3, ?3, ?3, 'Active')`
	b.exec(insert, b.tenant.ID, partner, partner, "Downstream Partner")
	b.exec(insert, b.tenant.ID, corporate, partner, "Corporate")
	b.exec(`INSERT INTO users (tenant, uid, customer, login_id, status) VALUES (?, ?, ?, 'jane', 'Active')`,
		b.tenant.ID, uuid.NewString(), corporate)
	b.grant(access.ViewCustomers)

	for _, customer := range []int64{partner, 99} {
		_, _, err := b.Clients.Add(b.operator,
			clients.Draft{Key: "wrong", User: "jane", Customer: customer, Permissions: []string{"vCust"}})
		if why, ok := fault.Of(err); !ok || why.Field != "customer" {
			t.Errorf("key of customer %d: %v", customer, err)
		}
	}
	token := b.issue("portal", b.keyOf("jane", "vCust")).AccessToken
	caller, err := b.Clients.Verify(b.stranger, token)
	if err != nil || caller.Entity != corporate || caller.Partner != partner ||
		caller.Reach != access.OfCustomer {
		t.Errorf("caller = %+v, %v", caller, err)
	}
	all, err := b.Clients.List(b.operator)
	if err != nil || len(all) != 1 || all[0].UserLogin != "jane" || all[0].Entity != corporate {
		t.Errorf("list = %+v, %v", all, err)
	}
	b.exec(`UPDATE users SET customer = ? WHERE tenant = ? AND login_id = 'jane'`, partner, b.tenant.ID)
	b.later(10 * time.Second)
	if _, err := b.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after the user moved to another customer: %v", err)
	}
}

func TestKeySpeaksOnlyForAnActiveUserOfItsBank(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	other := b.add(b.tenant.Code+"-other", true).ID
	b.execAt(other, `UPDATE users SET login_id = 'elsewhere' WHERE tenant = ?`, other)
	b.exec(`INSERT INTO users (tenant, uid, customer, login_id, status)
		SELECT tenant, ?, customer, 'locked', 'Locked' FROM users WHERE tenant = ?`,
		uuid.NewString(), b.tenant.ID)
	for _, login := range []string{"nobody", "elsewhere", "locked", "%"} {
		_, _, err := b.Clients.Add(b.operator,
			clients.Draft{Key: "portal", User: login, Permissions: []string{"vCust"}})
		if why, ok := fault.Of(err); !ok || why.Field != "user" || !errors.Is(err, users.ErrNoActor) {
			t.Errorf("%s: %v", login, err)
		}
	}
}
