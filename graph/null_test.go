package graph_test

import (
	"strings"
	"testing"

	gql "github.com/vektah/gqlparser/v2/ast"
)

// A client with one document for a whole search form sends null for what stands empty in it.
func TestNullInAFilterNarrowsNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for filter, document := range map[string]string{
		"CustomerFilter": `query($f: CustomerFilter) { customers(first: 3, filter: $f) { totalCount nodes { uid } } }`,
		"AccountFilter":  `query($f: AccountFilter) { customers(first: 3) { nodes { accounts(first: 2, filter: $f) { totalCount nodes { uid } } } } }`,
		"AuditFilter":    `query($f: AuditFilter) { audit(first: 3, filter: $f) { totalCount nodes { uid } } }`,
		"ApprovalFilter": `query($f: ApprovalFilter) { approvals(first: 3, filter: $f) { totalCount nodes { uid } } }`,
		"ContactFilter":  `query($f: ContactFilter) { customers(first: 3) { nodes { contacts(first: 2, filter: $f) { totalCount nodes { uid } } } } }`,
		"UserFilter":     `query($f: UserFilter) { customers(first: 3) { nodes { users(first: 2, filter: $f) { totalCount nodes { uid } } } } }`,
		"RoleFilter":     `query($f: RoleFilter) { customers(first: 3) { nodes { roles(first: 2, filter: $f) { totalCount nodes { uid } } } } }`,
	} {
		all := b.ask(t, b.staff(), document, "f", map[string]any{}).fine(t)
		nulls := map[string]any{}
		for _, field := range schema.Types[filter].Fields {
			nulls[field.Name] = nil
		}
		if got := b.ask(t, b.staff(), document, "f", nulls).fine(t); got.body != all.body {
			t.Errorf("%s: with nulls %s, without %s", filter, got.body, all.body)
		}
	}
	for _, def := range schema.Types {
		if def.Kind == gql.InputObject && strings.HasSuffix(def.Name, "Filter") && !strings.Contains("CustomerFilter AccountFilter ContactFilter ApprovalFilter AuditFilter UserFilter RoleFilter", def.Name) {
			t.Errorf("%s is not tried here", def.Name)
		}
	}
}

func TestAWrongVariableIsNamedInTheMessage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, one := range []struct {
		variables []any
		says      string
	}{
		{nil, "$uid must be defined"},
		{[]any{"uid", nil}, "$uid cannot be null"},
	} {
		got := b.ask(t, b.staff(), `query($uid: UID!) { customer(by: {uid: $uid}) { uid } }`, one.variables...)
		if mistake := got.one(t); mistake.Message != one.says || mistake.Path != nil {
			t.Errorf("%s", got)
		}
	}
}
