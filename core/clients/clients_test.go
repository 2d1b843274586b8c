package clients_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/fault"
)

func TestSecretIsNotKept(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	if len(secret) != 43 { // 256 bits in base64
		t.Errorf("secret has %d characters", len(secret))
	}
	row := b.one(`SELECT c::text FROM clients AS c WHERE tenant = ?`, b.tenant.ID)
	if strings.Contains(row, secret) {
		t.Error("the secret stands in the table")
	}
}

func TestAPIKeyNeedsPermissionsThatExist(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, names := range [][]string{nil, {"vCust", "Print_Money"}, {string(access.ManageTenants)}} {
		_, _, err := b.Clients.Add(b.operator, clients.Draft{Key: "portal", Permissions: names})
		if why, ok := fault.Of(err); !ok || why.Field != "permissions" {
			t.Errorf("%v: %v", names, err)
		}
	}
}

func TestAPIKeyIsAddedOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.client("portal")
	for _, key := range []string{"portal", "Portal", "PORTAL"} {
		_, _, err := b.Clients.Add(b.operator, clients.Draft{Key: key, Permissions: []string{"vCust"}})
		if !errors.Is(err, clients.ErrExists) {
			t.Errorf("%s: %v", key, err)
		}
	}
}

func TestAPIKeyBelongsToTheBankOrToOneOfItsPartners(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	const partner, corporate = 7_000_001, 7_000_002
	insert := `INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status)
		VALUES (?, ?, ?, ?3, ?3, ?3, 'Active')`
	b.exec(insert, b.tenant.ID, partner, partner, "Downstream Partner")
	b.exec(insert, b.tenant.ID, corporate, 0, "Corporate")
	add := func(key string, customer int64) (*clients.Client, error) {
		client, _, err := b.Clients.Add(b.operator,
			clients.Draft{Key: key, Customer: customer, Permissions: []string{"vCust"}})
		return client, err
	}
	own, err := add("own", 0)
	if err != nil || !own.Institution {
		t.Errorf("the bank's own key: %+v, %v", own, err)
	}
	theirs, err := add("theirs", partner)
	if err != nil || theirs.Institution || theirs.Entity != partner {
		t.Errorf("the partner's key: %+v, %v", theirs, err)
	}
	for _, customer := range []int64{corporate, 99} {
		if _, err := add("nobodys", customer); !errors.Is(err, clients.ErrNoPartner) {
			t.Errorf("key of customer %d: %v", customer, err)
		}
	}
}

// A preset gives a key outside the bank no more than partners' programs may have; what is named it gets.
func TestAPresetKeepsThePartnersBounds(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	const partner = int64(7_000_001)
	b.exec(`INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status)
		VALUES (?, ?, ?, 'P', 'p', 'Downstream Partner', 'Active')`, b.tenant.ID, partner, partner)
	for key, want := range map[string][]access.Permission{
		"own":    {access.ManageClients, access.ViewAudit, access.ViewCustomers},
		"theirs": {access.ManageClients, access.ViewCustomers},
	} {
		draft := clients.Draft{
			Key: key, Permissions: []string{"Manage_Clients"},
			Preset: []access.Permission{access.ViewAudit, access.ViewCustomers, access.ManageClients},
		}
		if key == "theirs" {
			draft.Customer = partner
		}
		if added, _, err := b.Clients.Add(b.operator, draft); err != nil ||
			!slices.Equal(added.Permissions, want) {
			t.Errorf("%s: %+v, %v", key, added, err)
		}
	}
}

// What a key is able to do now is what a token that it gets can do.
func TestAKeyIsAbleToDoWhatItsTokensCan(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.grant(access.ManageCustomers, access.ViewAudit)
	able := func(key string, want ...access.Permission) {
		t.Helper()
		if is, err := b.Clients.Able(b.operator, key); err != nil || !slices.Equal(is, want) {
			t.Errorf("%s is able to %v, want %v (%v)", key, is, want, err)
		}
	}
	b.client("program")
	able("program", access.ViewCustomers, access.ManageCustomers)
	token := b.issue("portal", b.keyOf("admin", "vCust", "View_Account")).AccessToken
	caller, err := b.Clients.Verify(b.stranger, token)
	if err != nil || !slices.Equal(caller.Permissions, []access.Permission{access.ViewCustomers}) {
		t.Errorf("%+v, %v", caller, err)
	}
	able("portal", caller.Permissions...)
	b.exec(`UPDATE users SET status = 'Locked' WHERE tenant = ?`, b.tenant.ID)
	able("portal")
	if err := b.Clients.Disable(b.operator, "program"); err != nil {
		t.Fatal(err)
	}
	able("program")
	if _, err := b.Clients.Able(b.operator, "nobody"); !errors.Is(err, clients.ErrNotFound) {
		t.Error(err)
	}
}

func TestOnlyASandboxChoosesItsSecrets(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	draft := clients.Draft{Key: "known", Permissions: []string{"vCust"}, Secret: "known-secret"}
	if _, secret, err := b.Clients.Add(b.operator, draft); err != nil || secret != "known-secret" {
		t.Errorf("sandbox: %q, %v", secret, err)
	}
	earnest := b.at(b.add(b.tenant.Code+"-earnest", false))
	if _, _, err := b.Clients.Add(earnest, draft); !errors.Is(err, clients.ErrOwnSecret) {
		t.Errorf("earnest bank: %v", err)
	}
}

func TestOldSecretCountsUntilTheOverlapEnds(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	old := b.client("portal")
	fresh, err := b.Clients.Rotate(b.operator, "portal", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	b.issue("portal", old)
	b.issue("portal", fresh)
	b.later(time.Hour)
	b.issue("portal", fresh)
	if _, err := b.Clients.Issue(b.stranger, b.tenant.Code, "portal", old); !errors.Is(err, clients.ErrClient) {
		t.Errorf("old secret after the overlap: %v", err)
	}
	if _, err := b.Clients.Rotate(b.operator, "portal",
		clients.MaxOverlap+1); !errors.Is(err, clients.ErrOverlap) {
		t.Errorf("overlap without end: %v", err)
	}
}

func TestDisabledAPIKeyIsDeadForGood(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	tokens := b.issue("portal", secret)
	if err := b.Clients.Disable(b.operator, "portal"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Clients.Issue(b.stranger, b.tenant.Code, "portal",
		secret); !errors.Is(err, clients.ErrClient) {
		t.Errorf("new token: %v", err)
	}
	if _, err := b.refresh("portal", secret, tokens.RefreshToken); !errors.Is(err, clients.ErrClient) {
		t.Errorf("refresh: %v", err)
	}
	if _, err := b.Clients.Verify(b.stranger, tokens.AccessToken); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("old token: %v", err)
	}
	if _, err := b.Clients.Rotate(b.operator, "portal", 0); !errors.Is(err, clients.ErrDisabled) {
		t.Errorf("rotate: %v", err)
	}
	if err := b.Clients.Disable(b.operator, "unknown"); !errors.Is(err, clients.ErrNotFound) {
		t.Errorf("unknown key: %v", err)
	}
}

func TestTokenDiesTenSecondsAfterItsKeyWasDisabledElsewhere(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	token := b.issue("portal", b.client("portal")).AccessToken
	if _, err := b.Clients.Verify(b.stranger, token); err != nil {
		t.Fatal(err)
	}
	if err := b.another(b.DB).Clients.Disable(b.operator, "portal"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Clients.Verify(b.stranger, token); err != nil {
		t.Errorf("a verified token is remembered, but: %v", err)
	}
	b.later(10 * time.Second)
	if _, err := b.Clients.Verify(b.stranger, token); !errors.Is(err, access.ErrUnauthenticated) {
		t.Errorf("after ten seconds: %v", err)
	}
}

func TestAPIKeysOfOtherBanksAreOutOfReach(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("portal")
	other := b.add(b.tenant.Code+"-other", true)
	if all, err := b.Clients.List(b.at(other)); err != nil || len(all) != 0 {
		t.Errorf("list: %v, %v", all, err)
	}
	if err := b.Clients.Disable(b.at(other), "portal"); !errors.Is(err, clients.ErrNotFound) {
		t.Errorf("disable: %v", err)
	}
	if _, err := b.Clients.Issue(b.stranger, other.Code, "portal", secret); !errors.Is(err, clients.ErrClient) {
		t.Errorf("token of the other realm: %v", err)
	}
}

func TestEveryMethodAsksWhoCalls(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	secret := b.client("reader")
	caller, err := b.Clients.Verify(b.stranger, b.issue("reader", secret).AccessToken)
	if err != nil {
		t.Fatal(err)
	}
	for what, call := range map[string]func() error{
		"add":         func() error { _, _, err := b.Clients.Add(b.stranger, clients.Draft{}); return err },
		"list":        func() error { _, err := b.Clients.List(b.stranger); return err },
		"rotate":      func() error { _, err := b.Clients.Rotate(b.stranger, "reader", 0); return err },
		"disable":     func() error { return b.Clients.Disable(b.stranger, "reader") },
		"signing key": func() error { _, _, err := b.Clients.RotateSigningKey(b.stranger); return err },
		"unasked":     func() error { _, err := b.Clients.IssueUnasked(b.stranger, "reader"); return err },
		"tenants":     func() error { _, err := b.Tenants.List(b.stranger); return err },
	} {
		if err := call(); !errors.Is(err, access.ErrUnauthenticated) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := b.Clients.List(access.With(b.stranger, caller)); !errors.Is(err, access.ErrDenied) {
		t.Errorf("a caller without the permission: %v", err)
	}
	staff := caller
	staff.Permissions = access.All
	if _, err := b.Clients.IssueUnasked(access.With(b.stranger, staff),
		"reader"); !errors.Is(err, access.ErrDenied) {
		t.Errorf("tokens without a secret are for operators: %v", err)
	}
}

// Changes of keys are recorded, without their secrets.
func TestWhatIsDoneToKeysIsRecorded(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	first := b.client("portal")
	second, err := b.Clients.Rotate(b.operator, "portal", 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Clients.Disable(b.operator, "portal"); err != nil {
		t.Fatal(err)
	}
	kid, _, err := b.Clients.RotateSigningKey(b.operator)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Clients.Disable(b.operator, "portal"); err == nil { // refused: nothing was done
		t.Error("disabled twice")
	}
	var entries []string
	err = b.DB.NewRaw(
		`SELECT client || ' ' || action || ' ' || uid FROM audit_entries WHERE tenant = ? ORDER BY id`,
		b.tenant.ID).Scan(b.stranger, &entries)
	want := []string{
		"operator addTenant " + b.tenant.Code, "operator addClient portal", "operator rotateClient portal",
		"operator disableClient portal", "operator rotateSigningKey " + kid,
	}
	if err != nil || !slices.Equal(entries, want) {
		t.Errorf("%q %v", entries, err)
	}
	if n := b.one(
		`SELECT count(*) FROM audit_entries WHERE tenant = ?
			AND (strpos(audit_entries::text, ?) > 0 OR strpos(audit_entries::text, ?) > 0)`, b.tenant.ID,
		first, second); n != "0" {
		t.Errorf("%s entries have a secret", n)
	}
}
