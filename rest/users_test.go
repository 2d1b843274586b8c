package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bankgraph/core/coretest"
	"bankgraph/core/customers"
	"bankgraph/core/users"
)

// of is the path of a customer's users and roles.
func of(c *customers.Customer) string {
	return strings.ReplaceAll(people, "{C}", c.UID.String())
}

// lena is a body that creates a user, with the given fields added or replaced.
func lena(change map[string]any) string {
	body := map[string]any{
		"loginId": "lena.fischer", "firstName": "Lena", "lastName": "Fischer", "email": "lena@acme.example",
		"mobile":     "+1 614 555 0125",
		"department": "Treasury", "roleNames": []string{"Clerk"},
	}
	for name, value := range change {
		body[name] = value
	}
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestAUserIsCreatedActivatedAndSuspended(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	created := b.call(b.program(), http.MethodPost, of(b.acme)+"/users", lena(nil))
	var made struct{ UserID string }
	if err := json.Unmarshal([]byte(created.body), &made); err != nil ||
		created.status != http.StatusCreated ||
		created.header.Get("ETag") != `"1"` {
		t.Fatal(created, err)
	}
	at := of(b.acme) + "/users/" + made.UserID
	for _, step := range []struct {
		method, path, body string
		status             int
		says               string
	}{
		{http.MethodGet, at, "", 200, `"status":"Pending"`},
		{http.MethodPut, at + "/activate", "", 204, ""},
		{http.MethodPut, at + "/activate", "", 400, "the user is active already"},
		{http.MethodPut, at + "/suspend", "", 204, ""},
		{http.MethodPut, at + "/suspend", "", 400, "the user is suspended already"},
		{http.MethodGet, at, "", 200, `"status":"Suspended"`},
		{http.MethodPut, at, `{"firstName": " "}`, 400, "firstName: is required"},
		{http.MethodPut, at, `{}`, 400, "must name something that can be changed"},
		{http.MethodPut, of(b.acme) + "/users/" + b.locked.UID.String() + "/suspend", "", 400, "locked"},
	} {
		answer := b.call(b.program(), step.method, step.path, step.body)
		if answer.status != step.status || !strings.Contains(answer.body, step.says) ||
			step.status == 204 && answer.body != "" {
			t.Errorf("%s %s: %d %s", step.method, step.path, answer.status, answer.body)
		}
	}
}

func TestABodySetsNothingThatIsNotItsToSet(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	extra := map[string]any{
		"status": "Active", "customerId": b.direct.UID, "customer": b.direct.UID, "leId": b.direct.UID, "tenant": 1,
		"userId": b.ruth.UID, "uid": b.ruth.UID,
		"permissions": []string{"Manage_Clients"}, "type": "BANK", "owner": "Bank", "version": 7, "createdBy": "x",
		"department": "Audit", "loginId": "other",
	}
	created := b.call(b.program(), http.MethodPost, of(b.acme)+"/users", lena(extra))
	text, _ := json.Marshal(extra)
	changed := b.call(b.program(), http.MethodPut, of(b.acme)+"/users/"+b.ruth.UID.String(),
		strings.Replace(string(text), "{", `{"firstName": "Rut",`, 1))
	role := b.call(b.program(), http.MethodPost, of(b.acme)+"/roles",
		strings.Replace(string(text), "{",
			`{"name": "Mine", "description": "x", `+
				`"applications": [{"name": "Accounts", "entitlements": ["View_Account"]}],`, 1))
	if created.status != 201 || changed.status != 200 || role.status != 201 {
		t.Fatal(created, changed, role)
	}
	found, err := b.Users.Find(b.Staff(), b.acme.UID, b.ruth.UID)
	if err != nil || found.FirstName != "Rut" || found.LoginID != b.ruth.LoginID ||
		found.Department != b.ruth.Department || found.Version != 2 || found.Status != users.Active {
		t.Errorf("%+v, %v", found.User, err)
	}
	var rows string
	err = b.DB.NewRaw(
		`SELECT (SELECT concat_ws(' ', customer, status, login_id, version) FROM users
			WHERE tenant = ?0 AND login_id = 'other') || ', ' ||
		(SELECT concat_ws(' ', customer, status, type, owner, version) FROM roles
			WHERE tenant = ?0 AND name = 'Mine')`, b.Tenant).Scan(t.Context(), &rows)
	if want := fmt.Sprintf("%[1]d Pending other 1, %[1]d Active CUSTOMER Customer 1", b.acme.UID); err != nil ||
		rows != want {
		t.Errorf("%s, want %s: %v", rows, want, err)
	}
}

func TestPeopleOfAnotherLegalEntityAreDeniedAndAbsentOnesAreNotFound(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	other := b.Other().Customer(coretest.Named(canary))
	nobody := strings.Repeat("0", 8) + "-0000-4000-8000-" + strings.Repeat("0", 12)
	for _, c := range []struct {
		path    string
		status  int
		message string
	}{
		{of(b.direct) + "/users/" + b.ruth.UID.String(), 403, "the customer is not the caller's"},
		{of(other) + "/users/" + b.ruth.UID.String(), 403, "the customer is not the caller's"},
		{of(b.bare) + "/users/" + b.ruth.UID.String(), 404, "no such user of this customer"},
		{of(b.acme) + "/users/" + nobody, 404, "no such user of this customer"},
		{of(b.acme) + "/users/7", 400, "userId: must be the UUID of a user"},
		{of(b.direct) + "/roles/" + b.clerk.UID.String(), 403, "the customer is not the caller's"},
		{of(b.bare) + "/roles/" + b.clerk.UID.String(), 404, "no such role of this customer"},
		{of(b.acme) + "/roles/" + nobody, 404, "no such role of this customer"},
		{of(b.acme) + "/roles/urn:uuid:" + nobody, 400, "roleId: must be the UUID of a role"},
		{of(b.acme) + "/roles/search?roleName=a-b", 400, "roleName: must be made of letters"},
		{of(b.acme) + "/roles/search?page=0", 400, "page: must be at least 1"},
		{of(b.acme) + "/roles/search?size=0", 400, "size: must be at least 1"},
		{strings.ReplaceAll(people, "{C}", "abc") + "/roles/search", 400, "customerId: must be the digits"},
	} {
		b.get(b.program(), c.path).refused(t, c.path, c.status, "", c.message)
	}
}

func TestWhatIsWrongWithPeopleIsNamedInOneMessage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct{ path, body, message string }{
		{
			"/users", `{}`,
			"loginId: is required; firstName: is required; lastName: is required; email: is required; " +
				"mobile: is required; department: is required; roleNames: is required",
		},
		{"/users", lena(map[string]any{"loginId": "RUTH.keller1"}), "loginId: somebody else has this login id"},
		{"/users", lena(map[string]any{"roleNames": "Clerk"}), "roleNames: must be a list of strings"},
		{
			"/users", lena(map[string]any{"roleNames": []string{"Clerk", "Boss"}}),
			"roleNames[1]: is not a role of the customer",
		},
		{
			"/users", lena(map[string]any{
				"applicationLimits": []any{
					map[string]any{
						"name": "Payments", "limits": []any{map[string]any{"name": "Daily_Payment_Limits", "value": "abc"}},
					},
				},
			}), "applicationLimits[0].limits[0].value: must be",
		},
		{"/users/search", `{"status": "Gone"}`, "status: must be one of"},
		{"/users/search", `{"loginId": 7}`, "loginId: must be a string"},
		{
			"/roles",
			`{"name": "Clerk", "description": "x",
				"applications": [{"name": "Accounts", "entitlements": ["View_Account"]}]}`,
			"name: another role of the customer has this name",
		},
		{"/roles", `{"description": "x", "applications": {}}`, "applications: must be a list"},
		{"/roles", `{"description": "x"}`, "name: is required; applications: is required"},
	} {
		b.call(b.program(), http.MethodPost, of(b.acme)+c.path, c.body).refused(t, c.path+" "+c.body,
			http.StatusBadRequest, "", c.message)
	}
}

func TestPeopleArePaged(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for range 4 {
		b.User(b.acme, nil)
	}
	read := func(query string) (page struct {
		TotalElements, TotalPages, Size, Page int
		Data                                  []struct{ LoginID string }
	},
	) {
		answer := b.call(b.program(), http.MethodPost, of(b.acme)+"/users/search"+query, `{}`)
		if err := json.Unmarshal([]byte(answer.body), &page); err != nil {
			t.Fatal(answer.body)
		}
		return page
	}
	if p := read(""); p.TotalElements != 6 || p.TotalPages != 1 || p.Size != 10 || p.Page != 1 ||
		len(p.Data) != 6 {
		t.Errorf("%+v", p)
	}
	if p := read("?page=2&size=4"); p.TotalElements != 6 || p.TotalPages != 2 || p.Size != 4 || p.Page != 2 ||
		len(p.Data) != 2 {
		t.Errorf("%+v", p)
	}
}

func TestWhoSawAnOlderUserChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	seen := b.get(b.program(), of(b.acme)+"/users/"+b.ruth.UID.String()).header.Get("ETag")
	for _, status := range []int{200, 409} {
		r := request(http.MethodPut, of(b.acme)+"/users/"+b.ruth.UID.String(), `{"lastName": "Kellermann"}`)
		r.Header.Set("If-Match", seen)
		if answer := b.send(b.program(), r); answer.status != status {
			t.Errorf("%s: %d %s", seen, answer.status, answer.body)
		}
	}
}
