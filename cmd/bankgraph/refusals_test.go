package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/uptrace/bun"

	"bankgraph/core/clients"
)

// refused are the refusals in a bank's record, in order.
func (s *service) refused() (all []string) {
	s.Helper()
	var entries []struct {
		Client, Action, Object, UID, Reason, Request string
		Customer                                     *int64
	}
	err := s.bank.DB.NewRaw(`SELECT client, action, object, uid, reason, request, customer FROM audit_entries
		WHERE tenant = (SELECT id FROM tenants WHERE code = ?) AND decision = 'refused' ORDER BY id`, s.realm).
		Scan(context.Background(), &entries)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range entries {
		if e.Client != "clerk" || e.Customer != nil {
			s.Errorf("%+v", e)
		}
		all = append(all,
			strings.TrimSpace(fmt.Sprint(e.Request, ": ", e.Action, " ", e.Object, " ", e.UID, ", ", e.Reason)))
	}
	return all
}

func TestACallThatLacksAPermissionStandsInTheRecord(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	_, secret, err := s.bank.Clients.Add(s.operator,
		clients.Draft{Key: "clerk", Permissions: []string{"vCust", "View_Contacts"}})
	if err != nil {
		t.Fatal(err)
	}
	token := "Bearer " + s.token("clerk", secret)
	self, err := s.bank.Customers.Self(s.operator)
	if err != nil {
		t.Fatal(err)
	}
	number := 0
	ask := func(method, path, body string, status int) {
		t.Helper()
		number++
		got := s.do(method, path, body, "Authorization", token, "Content-Type", "application/json",
			"X-Request-Id", fmt.Sprint("r", number))
		if got.Code != status {
			t.Errorf("%s %s: %d %s", method, path, got.Code, got.Body)
		}
	}
	users := "/api/user-management/v1/customers/" + self.String() + "/users"
	ask(http.MethodPost, users, `{"loginId":"mallory"}`, 403)
	ask(http.MethodPost, users, `{"loginId":"mallory"}`, 403)
	ask(http.MethodGet, "/customers/"+self.String()+"/accounts", "", 403)
	ask(http.MethodGet, "/customers/"+self.String()+"/accounts", "", 403)
	ask(http.MethodGet, "/customers/"+self.String()+"/contacts?page=1&limit=1", "", 200)
	ask(http.MethodPost, "/graphql",
		`{"query":"{ customer(by: {uid: \"`+self.String()+
			`\"}) { shortName accounts { nodes { uid } } users { nodes { loginId } } `+
			`again: users { nodes { loginId } } } }"}`, 200)
	ask(http.MethodPost, "/graphql",
		`{"query":"mutation { suspendUser(input: {uid: \"00000000-0000-4000-8000-000000000001\"}) `+
			`{ user { id } } }"}`, 200)
	s.now.Add(60)
	ask(http.MethodGet, "/customers/"+self.String()+"/accounts", "", 403)
	want := []string{
		"r1: createUser user , the caller lacks Manage_Users",
		"r2: createUser user , the caller lacks Manage_Users",
		"r3: read permission View_Account, the caller lacks View_Account",
		"r6: read permission View_Roles_And_Users, the caller lacks View_Roles_And_Users",
		"r7: suspendUser user 00000000-0000-4000-8000-000000000001, the caller lacks Suspend_Users",
		"r8: read permission View_Account, the caller lacks View_Account",
	}
	if got := s.refused(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// A refused read of something of a foreign customer is recorded once a minute if the customer exists, and not
// if it is absent.
func TestALookAtWhatAnothersCustomerHasStandsInTheRecord(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	var tenant int64
	err := s.bank.DB.NewRaw(`SELECT id FROM tenants WHERE code = ?`, s.realm).Scan(t.Context(), &tenant)
	if err == nil {
		err = s.bank.DB.InTx(t.Context(), tenant, func(ctx context.Context, tx bun.Tx) error {
			_, err := tx.NewRaw(
				`INSERT INTO customers (tenant, uid, owner, legal_name, short_name, type, status, relationship_type)
				VALUES (?0, 7000001, 7000001, 'P', 'p', 'Downstream Partner', 'Active', 'Customer'),
				(?0, 7000002, 0, 'D', 'd', 'Corporate', 'Active', 'Customer')`, tenant).Exec(ctx)
			return err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	_, secret, err := s.bank.Clients.Add(s.operator,
		clients.Draft{Key: "clerk", Customer: 7_000_001, Permissions: []string{"vCust", "View_Contacts"}})
	if err != nil {
		t.Fatal(err)
	}
	token := "Bearer " + s.token("clerk", secret)
	for i, path := range []string{
		"/customers/7000003/contacts?page=1&limit=1", "/customers/7000001/contacts?page=1&limit=1",
		"/customers/7000002/contacts?page=1&limit=1", "/v2/customers/7000002/contacts?page=1&limit=1",
	} {
		s.do(http.MethodGet, path, "", "Authorization", token, "X-Request-Id", fmt.Sprint("r", i))
	}
	if got := s.refused(); len(got) != 1 ||
		got[0] != "r2: read customer 7000002, it is not the caller's to see" {
		t.Errorf("%q", got)
	}
}

// A flood of refusals does not flood the record, which counts the rest.
func TestTheRecordIsNotFloodedByRefusals(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	_, secret, err := s.bank.Clients.Add(s.operator, clients.Draft{Key: "clerk", Permissions: []string{"vCust"}})
	if err != nil {
		t.Fatal(err)
	}
	token := "Bearer " + s.token("clerk", secret)
	again := func() {
		s.do(http.MethodPost, "/api/user-management/v1/customers/1/users", `{}`, "Authorization", token,
			"Content-Type", "application/json")
	}
	folded := func(stopping bool) {
		t.Helper()
		if err := s.bank.Audit.RecordFolded(s.operator, stopping); err != nil {
			t.Fatal(err)
		}
	}
	for range 80 {
		again()
	}
	folded(false)
	if n := len(s.refused()); n != 59 {
		t.Errorf("within the minute: %d", n)
	}
	s.now.Add(60)
	folded(false)
	folded(false)
	all := s.refused()
	if len(all) != 60 || !strings.HasSuffix(all[59], "and 21 further refusals within the minute") {
		t.Errorf("%d: %v", len(all), all[len(all)-1])
	}
	for range 61 {
		again()
	}
	folded(true)
	all = s.refused()
	if len(all) != 120 || !strings.HasSuffix(all[119], "and 2 further refusals within the minute") {
		t.Errorf("the process stops: %d: %v", len(all), all[len(all)-1])
	}
}
