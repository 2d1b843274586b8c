package transport_test

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"bankgraph/graph/transport"
)

const gqlJSON, appJSON = "application/graphql-response+json", "application/json"

// audit is one check of the npm package graphql-http 1.23.0, by its id.
type audit struct {
	id       string
	sent     sent
	min, max int    // status
	content  string // media type, if the check names one
	clean    bool   // no errors key
	noData   bool   // no data key
}

// audits are all 61 checks of serverAudits, in its order.
func audits() []audit {
	typename := document("{ __typename }")
	byName := `query Type($name: String!) { __type(name: $name) { name } }`
	ok := func(id, accept, body string, clean bool) audit {
		return audit{id: id, sent: sent{accept: accept, body: body}, min: 200, max: 200, clean: clean}
	}
	bad := func(id, accept, body string) audit {
		return audit{id: id, sent: sent{accept: accept, body: body}, min: 400, max: 400}
	}
	get := func(accept string, values url.Values) sent {
		return sent{method: http.MethodGet, url: "?" + values.Encode(), accept: accept}
	}
	list := []audit{
		{id: "22EB", sent: sent{accept: gqlJSON, body: typename}, min: 200, max: 200, content: gqlJSON},
		{id: "4655", sent: sent{accept: appJSON, body: typename}, min: 200, max: 200, content: appJSON},
		{id: "47DE", sent: sent{accept: "*/*", body: typename}, min: 200, max: 200, content: appJSON},
		{id: "80D8", sent: sent{body: typename}, min: 200, max: 200, content: appJSON},
		ok("82A3", "", typename, false),
		{id: "BF61", sent: sent{
			contentType: "application/json; charset=utf-8",
			body:        document(`{ __type(name: "Run🏃Swim🏊") { name } }`),
		}, min: 200, max: 200},
		ok("78D5", "", typename, false),
		ok("2C94", "", typename, false),
		{id: "5A70", sent: get("", url.Values{"query": {"{ __typename }"}}), min: 200, max: 200},
		{id: "9C48", sent: get(gqlJSON, url.Values{"query": {"mutation { __typename }"}}), min: 400, max: 499},
		{id: "9ABE", sent: sent{contentType: "text/plain;charset=UTF-8", body: typename}, min: 400, max: 499},
		ok("03D4", "", typename, false),
		bad("A5BF", "", ""),
		bad("423L", gqlJSON, `{"notquery":"{ __typename }"}`),
	}
	wrong := []string{`{"obj":"ect"}`, `0`, `false`, `["array"]`}
	for i, value := range wrong {
		list = append(list, bad(fmt.Sprint("LKJ", i), "", `{"query":`+value+`}`))
	}
	list = append(list, ok("34A2", gqlJSON, typename, false), ok("13EE", appJSON, typename, true))
	for i, value := range wrong {
		list = append(list, bad(fmt.Sprint("6C0", i), "", `{"operationName":`+value+`,"query":"{ __typename }"}`))
	}
	named := `{"operationName":"Query","query":"query Query { __typename }"}`
	list = append(list, ok("8161", gqlJSON, named, false), ok("B8B3", appJSON, named, true))
	for i, parameter := range []string{"variables", "operationName", "extensions"} {
		body := `{"query":"{ __typename }","` + parameter + `":null}`
		list = append(list, ok(fmt.Sprint("94B", i), gqlJSON, body, true),
			ok(fmt.Sprint("022", i), appJSON, body, true))
	}
	notMaps := []string{`"string"`, `0`, `false`, `["array"]`}
	for i, value := range notMaps {
		list = append(list, bad(fmt.Sprint("476", i), "", `{"query":"{ __typename }","variables":`+value+`}`))
	}
	typed := `{"query":"` + byName + `","variables":{"name":"sometype"}}`
	inURL := url.Values{"query": {byName}, "variables": {`{"name":"sometype"}`}}
	list = append(list, ok("2EA1", gqlJSON, typed, false), ok("28B9", appJSON, typed, true),
		audit{id: "D6D5", sent: get(gqlJSON, inURL), min: 200, max: 200, clean: true},
		audit{id: "6A70", sent: get(appJSON, inURL), min: 200, max: 200, clean: true})
	for i, value := range notMaps {
		list = append(list, bad(fmt.Sprint("58B", i), "", `{"query":"{ __typename }","extensions":`+value+`}`))
	}
	extended := `{"query":"{ __typename }","extensions":{"some":"value"}}`
	unknown := document("{ 8f31403dfe404bccbb0e835f2629c6a7 }")
	coerced := `{"query":"query CoerceFailure($id: ID!){ __typename }","variables":{"id":null}}`
	return append(list,
		ok("428F", gqlJSON, extended, false), ok("1B7A", appJSON, extended, true),
		audit{id: "B6DC", sent: sent{accept: appJSON, body: `{ "not a JSON`}, min: 200, max: 599},
		bad("BCF8", appJSON, `{ "not a JSON`), bad("B7N8", gqlJSON, `{ "not a JSON`),
		audit{id: "8764", sent: sent{body: `{"qeury":"{ __typename }"}`}, min: 400, max: 599},
		bad("3E3A", "", `{"qeury":"{ __typename }"}`),
		ok("572B", appJSON, document("{"), false), ok("FDE2", appJSON, unknown, false),
		ok("7B9B", appJSON, coerced, false),
		audit{id: "865D", sent: sent{accept: gqlJSON, body: document("{")}, min: 400, max: 599},
		bad("556A", gqlJSON, document("{")),
		audit{id: "D586", sent: sent{accept: gqlJSON, body: document("{")}, min: 400, max: 400, noData: true},
		audit{id: "51FE", sent: sent{accept: gqlJSON, body: unknown}, min: 400, max: 599},
		bad("74FF", gqlJSON, unknown),
		audit{id: "5E5B", sent: sent{accept: gqlJSON, body: unknown}, min: 400, max: 400, noData: true},
		bad("86EE", gqlJSON, coerced),
	)
}

func TestEveryCheckOfTheAuditPasses(t *testing.T) {
	t.Parallel()
	all := audits()
	if len(all) != 61 {
		t.Fatalf("%d checks, the package has 61", len(all))
	}
	h, _ := server(t, transport.HTTP{})
	for _, one := range all {
		t.Run(one.id, func(t *testing.T) {
			t.Parallel()
			w := send(t, h, one.sent)
			fields := answer(t, w)
			if w.Code < one.min || w.Code > one.max {
				t.Errorf("status %d, want %d to %d: %s", w.Code, one.min, one.max, w.Body)
			}
			if got := w.Header().Get("Content-Type"); one.content != "" &&
				got != one.content+"; charset=utf-8" {
				t.Errorf("Content-Type %q, want %q", got, one.content)
			}
			if fields["errors"] != nil && one.clean {
				t.Errorf("errors in %s", w.Body)
			}
			if fields["data"] != nil && one.noData {
				t.Errorf("data in %s", w.Body)
			}
		})
	}
}
