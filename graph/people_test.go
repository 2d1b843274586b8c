package graph_test

import (
	"fmt"
	"testing"
)

func TestUsersAndRolesArePagedByTheirCursors(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, list := range []string{"users", "roles"} {
		var seen []any
		after := "null"
		for range each {
			got := b.ask(t, b.staff(),
				fmt.Sprintf(
					`{ customer(by: {uid: "%s"}) { %s(first: 1, after: %s) { nodes { uid }
						pageInfo { hasNextPage endCursor } } } }`, star, list, after)).fine(t)
			seen = append(seen, got.at("customer", list, "nodes", 0, "uid"))
			after = fmt.Sprintf("%q", got.at("customer", list, "pageInfo", "endCursor"))
			if further := got.at("customer", list, "pageInfo", "hasNextPage"); further != (len(seen) < each) {
				t.Errorf("%s", got.body)
			}
		}
		for n, uid := range seen {
			want := map[string]string{"users": userOf(star, n).String(), "roles": roleOf(star, n).String()}[list]
			if uid != want {
				t.Errorf("%s %d: %v, want %s", list, n, uid, want)
			}
		}
	}
}

func TestAWrongStatusAndAWrongFieldSayWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := settled(t)
	for _, c := range []struct{ document, kind, code, field string }{
		{
			fmt.Sprintf(`mutation { suspendUser(input: {uid: "%s"}) { replayed } }`, userOf(star, 2)), "STATE",
			"USER001", "",
		},
		{
			fmt.Sprintf(`mutation { activateUser(input: {uid: "%s"}) { replayed } }`, userOf(star, 0)), "STATE",
			"USER001", "",
		},
		{
			`mutation { suspendUser(input: {uid: "00000000-0000-4000-8000-000000000000"}) { replayed } }`,
			"NOT_FOUND", "USER001", "",
		},
		{
			fmt.Sprintf(`mutation { changeUser(input: {uid: "%s", email: "x"}) { replayed } }`, userOf(star, 0)),
			"INVALID", "VALIDATION_ERROR", "email",
		},
		{
			fmt.Sprintf(`mutation { changeUser(input: {uid: "%s", roleNames: []}) { replayed } }`, userOf(star, 0)),
			"INVALID", "VALIDATION_ERROR", "roleNames",
		},
		{
			fmt.Sprintf(
				`mutation { changeUser(input: {uid: "%s",
					applicationLimits: [{name: "Payments",
					limits: [{name: "Daily_Payment_Limits", value: "-1"}]}]}) {
					replayed } }`, userOf(star, 0)), "INVALID", "VALIDATION_ERROR",
			"applicationLimits[0].limits[0].value",
		},
		{
			fmt.Sprintf(`mutation { changeRole(input: {uid: "%s", name: "%s"}) { replayed } }`,
				roleOf(star, 0), nameOf(star)+"1"), "", "", "",
		},
		{
			fmt.Sprintf(
				`mutation { createRole(input: {customer: "%s", name: "x", description: "y",
					applications: [{name: "Lottery", entitlements: ["Play"]}]}) { replayed } }`, star),
			"INVALID", "VALIDATION_ERROR", "applications[0].name",
		},
		{`mutation { suspendUser(input: {uid: "7"}) { replayed } }`, "INVALID", "VALIDATION_ERROR", "uid"},
	} {
		got := b.ask(t, b.staff(), c.document)
		if c.kind == "" {
			got.fine(t)
			continue
		}
		if e := got.one(t).Extensions; e.Kind != c.kind || e.Code != c.code || e.Field != c.field {
			t.Errorf("%s: %s", c.document, got.body)
		}
	}
}

func TestTheLimitsThatCountAreTheSmallest(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.exec(t,
		`UPDATE roles
		SET applications = '[{"name": "Foreign_Exchange", "entitlements": [], "limits": [
		{"name": "Daily_Payment_Limits", "minor": 5, "currency": "USD"},
		{"name": "Per_Transaction_Payment_Limits", "minor": 7, "currency": "USD"}]}]' WHERE tenant = ? AND uid = ?`,
		b.tenant, roleOf(star, 0))
	got := b.ask(t, b.staff(),
		fmt.Sprintf(
			`{ node(id: "usr_%s") { ... on User { applicationLimits { limits { value } }
				limits { name limits { name value } } } } }`, userOf(star, 0))).fine(t)
	if got.at("node", "limits", 0, "limits", 0, "value") != "0.05" ||
		got.at("node", "limits", 0, "limits", 1, "value") != "0.07" ||
		got.at("node", "applicationLimits", 0, "limits", 1) != nil {
		t.Errorf("%s", got.body)
	}
}
