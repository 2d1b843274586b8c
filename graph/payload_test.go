package graph_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"

	"bankgraph/core/access"
)

const carriedOut = "the request was carried out, but this cannot be shown: "

// saysItWasMade holds that an answer tells what came of a mutation, to a caller with the one permission that
// the mutation needs. Errors of what the caller may not see beyond that cannot be taken for a refusal.
func saysItWasMade(t *testing.T, got answer) {
	t.Helper()
	payload, _ := got.at("it").(map[string]any)
	for field, value := range payload {
		if field != "approval" && value == nil {
			t.Errorf("%s is null: %s", field, got.body)
		}
	}
	if payload == nil {
		t.Errorf("%s", got.body)
	}
	for _, e := range got.errors {
		if len(e.Path) < 3 || !strings.HasPrefix(e.Message, carriedOut) {
			t.Errorf("%+v", e)
		}
	}
}

// Who may not see customers sees what waits of the things that it may see, and decides on it.
func TestWhoSeesNoCustomersDecidesOnWhatItSees(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.resolving = nil
	waiting := map[string]string{}
	for _, name := range []string{"changeSignatory", "changeRole", "changeUser", "changeContact"} {
		asked := b.ask(t, b.staff(), mutation(name, star, "")).fine(t)
		waiting[name], _ = asked.at("it", "approval", "uid").(string)
	}
	admin := *b.staff()
	admin.Client, admin.User, admin.LoginID = "second", uuid.New(), "ida.frost"
	admin.Permissions = []access.Permission{access.ManageUsers, access.ManageRoles}
	b.exec(t, `INSERT INTO users (tenant, uid, customer, login_id, status) VALUES (?, ?, ?, ?, 'Active')`,
		b.tenant, admin.User.String(), theBank, admin.LoginID)
	listed := b.ask(t, &admin, `{ approvals { totalCount nodes { operation changes { field } } } }`).fine(t)
	if listed.at("approvals", "totalCount") != 2.0 ||
		listed.at("approvals", "nodes", 0, "operation") != "changeRole" ||
		listed.at("approvals", "nodes", 1, "operation") != "changeUser" ||
		len(listed.at("approvals", "nodes", 0, "changes").([]any)) == 0 {
		t.Errorf("%s", listed.body)
	}
	for name, uid := range waiting {
		node := b.ask(t, &admin, fmt.Sprintf(`{ node(id: "apr_%s") { id } }`, uid)).fine(t)
		if sees := name == "changeRole" || name == "changeUser"; sees != (node.at("node") != nil) {
			t.Errorf("%s: %s", name, node.body)
		}
	}
	got := b.ask(t, &admin, fmt.Sprintf(
		`mutation { approveChange(input: {uid: %q}) { approval { status changes { field } customer { uid } } } }`,
		waiting["changeUser"]))
	if got.at("approveChange", "approval", "status") != "APPROVED" ||
		!strings.HasPrefix(got.one(t).Message, carriedOut) || len(got.errors[0].Path) != 3 {
		t.Errorf("%s", got.body)
	}
	if denied := b.ask(t, &admin, fmt.Sprintf(`mutation { approveChange(input: {uid: %q}) { replayed } }`,
		waiting["changeContact"])).one(t); denied.Extensions.Kind != "DENIED" || len(denied.Path) != 1 ||
		strings.HasPrefix(denied.Message, carriedOut) {
		t.Errorf("%+v", denied)
	}
}
