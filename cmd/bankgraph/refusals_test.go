package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bankgraph/core/clients"
)

// refused are the refusals in the record of a bank, in their order.
func (s *service) refused() (all []string) {
	s.Helper()
	var entries []struct {
		Client, Action, Object, UID, Reason, Request string
		Customer                                     *int64
	}
	err := s.bank.DB.NewRaw(`SELECT client, action, object, uid, reason, request, customer FROM audit_entries
		WHERE tenant = (SELECT id FROM tenants WHERE code = ?) AND decision = 'refused' ORDER BY id`, s.realm).Scan(context.Background(), &entries)
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range entries {
		if e.Client != "clerk" || e.Customer != nil {
			s.Errorf("%+v", e)
		}
		all = append(all, strings.TrimSpace(fmt.Sprint(e.Request, ": ", e.Action, " ", e.Object, " ", e.UID, ", ", e.Reason)))
	}
	return all
}

func TestACallThatLacksAPermissionStandsInTheRecord(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	_, secret, err := s.bank.Clients.Add(s.operator, clients.Draft{Key: "clerk", Permissions: []string{"vCust", "View_Contacts"}})
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
		got := s.do(method, path, body, "Authorization", token, "Content-Type", "application/json", "X-Request-Id", fmt.Sprint("r", number))
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
	ask(http.MethodPost, "/graphql", `{"query":"{ customer(by: {uid: \"`+self.String()+`\"}) { shortName accounts { nodes { uid } } users { nodes { loginId } } again: users { nodes { loginId } } } }"}`, 200)
	ask(http.MethodPost, "/graphql", `{"query":"mutation { suspendUser(input: {uid: \"00000000-0000-4000-8000-000000000001\"}) { user { id } } }"}`, 200)
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

// Nobody floods the record: it says that there was more.
func TestTheRecordIsNotFloodedByRefusals(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	_, secret, err := s.bank.Clients.Add(s.operator, clients.Draft{Key: "clerk", Permissions: []string{"vCust"}})
	if err != nil {
		t.Fatal(err)
	}
	token := "Bearer " + s.token("clerk", secret)
	for range 80 {
		s.do(http.MethodPost, "/api/user-management/v1/customers/1/users", `{}`, "Authorization", token, "Content-Type", "application/json")
	}
	all := s.refused()
	if len(all) != 60 || !strings.HasSuffix(all[59], "further attempts within the minute are not recorded") || strings.Contains(all[58], "further") {
		t.Errorf("%d: %v", len(all), all[len(all)-1])
	}
	s.now.Add(60)
	s.do(http.MethodPost, "/api/user-management/v1/customers/1/users", `{}`, "Authorization", token, "Content-Type", "application/json")
	if n := len(s.refused()); n != 61 {
		t.Errorf("a minute later: %d", n)
	}
}
