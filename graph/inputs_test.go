package graph_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"bankgraph/core/access"
)

// fields are the fields that the errors of an answer name. Each message must name its field too.
func (a answer) fields(t *testing.T) (all []string) {
	t.Helper()
	for _, e := range a.errors {
		if field := e.Extensions.Field; !strings.HasPrefix(e.Message, field+": ") &&
			!strings.HasPrefix(e.Message, "$") || e.Extensions.Kind != "INVALID" {
			t.Errorf("%s: %q (%s)", field, e.Message, e.Extensions.Kind)
		}
		all = append(all, e.Extensions.Field)
	}
	slices.Sort(all)
	return all
}

// Users who fill in a form see all mistakes at once, each with the path of its field.
func TestAllThatIsWrongWithAnInputIsTold(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	variable := func(mutation, input string) string {
		kind := strings.ToUpper(mutation[:1]) + mutation[1:] + "Input!"
		return body(`mutation($input: `+kind+`) { `+mutation+`(input: $input) { replayed } }`,
			`{"input": `+input+`}`)
	}
	for name, one := range map[string]struct {
		body string
		want []string
	}{
		"rules of the bank": {
			variable("addSignatory",
				fmt.Sprintf(`{"customer": "%d", "fullName": " ", "emailAddress": "nobody", "phoneNumber": "x"}`, star)),
			[]string{"emailAddress", "fullName", "phoneNumber"},
		},
		"what is missing, unknown, and of another kind": {
			variable("addSignatory", `{"fullName": 5, "shoeSize": "43", "phoneNumber": null}`),
			[]string{"customer", "emailAddress", "fullName", "phoneNumber", "shoeSize"},
		},
		"values that cannot be read": {
			variable("addSignatory",
				`{"customer": "x", "fullName": "A", "emailAddress": "a@mail.example", "phoneNumber": "1",
					"approvalLimit": 5}`),
			[]string{"approvalLimit", "customer"},
		},
		"the same in the document": {
			body(`mutation { addSignatory(input: {customer: "x", fullName: "A", emailAddress: "B",
				phoneNumber: "C", approvalLimit: 5}) { replayed } }`, ""),
			[]string{"approvalLimit", "customer"},
		},
		"items of a list": {
			variable("changeLimits",
				`{"customer": "1", "limits": [{"code": "A", "value": 5}, {"code": "B", "value": "1"},
					{"code": "C", "value": true}]}`),
			[]string{"limits[0].value", "limits[2].value"},
		},
		"deep in an input": {
			variable("changeAccount", `{"uid": "x", "features": {"callbackLimit": 5, "debitExposureLimit": true}}`),
			[]string{"features.callbackLimit", "features.debitExposureLimit", "uid"},
		},
		"filters": {
			body(`query($f: AuditFilter) { audit(filter: $f) { nodes { uid } } }`,
				`{"f": {"customer": "x", "since": "yesterday", "until": "now"}}`),
			[]string{"filter.customer", "filter.since", "filter.until"},
		},
		"filters in the document": {
			body(`{ audit(filter: {customer: "x", since: "yesterday"}) { nodes { uid } } }`, ""),
			[]string{"filter.customer", "filter.since"},
		},
		"long texts of a filter": {
			body(`query($f: CustomerFilter) { customers(filter: $f) { nodes { uid } } }`,
				`{"f": {"text": "`+strings.Repeat("a ", 128)+`"}}`),
			[]string{"filter.text"},
		},
		"kinds of a filter's values": {
			body(`query($f: CustomerFilter) { customers(filter: $f) { nodes { uid } } }`,
				`{"f": {"status": "active", "type": "NONE", "text": 5}}`),
			[]string{"filter.status", "filter.text", "filter.type"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := b.send(t, b.staff(), one.body)
			if fields := got.fields(t); !slices.Equal(fields, one.want) {
				t.Errorf("%q, want %q: %s", fields, one.want, got.body)
			}
		})
	}
}

func TestDeniedNamesThePermissionAndStateTheState(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.resolving = nil // a change must not be made twice
	denied := b.ask(t, without(b.staff(), access.ViewAudit), `{ audit { nodes { uid } } }`).one(t)
	if denied.Message != "the caller may not do this: it needs View_Audit" ||
		!slices.Equal(denied.Extensions.Permissions, []string{"View_Audit"}) {
		t.Errorf("%+v", denied)
	}
	either := b.ask(t, without(b.staff(), access.ViewAccounts),
		fmt.Sprintf(`{ account(by: {uid: "%d"}) { uid } }`, accountOf(star, 1))).one(t)
	if !slices.Contains(either.Extensions.Permissions, "View_Account") ||
		!strings.HasSuffix(either.Message, "View_Account") {
		t.Errorf("%+v", either)
	}
	activate := fmt.Sprintf(`mutation { suspendCustomer(input: {uid: "%d"}) { replayed } }`, star)
	b.ask(t, b.staff(), activate).fine(t)
	again := b.ask(t, b.staff(), activate).one(t)
	if again.Extensions.Kind != "STATE" || again.Extensions.State != "Suspended" ||
		!strings.HasSuffix(again.Message, ": it is Suspended") {
		t.Errorf("%+v", again)
	}
}
