package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"bankgraph/rest"
)

// The reference offers each read with the examples of its parameters, to the partner with those of its own
// customers. On the demo bank there is something to see for whoever tries one out.
func TestReadsOfTheReferenceShowSomethingOfTheDemoBank(t *testing.T) {
	t.Parallel()
	spec, err := openapi3.NewLoader().LoadFromData(rest.Spec)
	if err != nil {
		t.Fatal(err)
	}
	s := onDemo(t).serve()
	for _, key := range offered(true) {
		if key.Key != "demo-partner" && key.Key != "demo-staff" {
			continue
		}
		token := s.token(sandbox, key.Key, key.Secret)
		for path, item := range spec.Paths.Map() {
			if item.Get == nil || len(item.Get.OperationID) == 0 || strings.HasPrefix(path, "/auth/") ||
				path == "/v1/rfi/{paymentId}" { // the demo bank's payments are within the bank: nobody asks about them
				continue
			}
			call := path
			query := url.Values{}
			for _, one := range append(item.Parameters, item.Get.Parameters...) {
				p := one.Value
				example, err := json.Marshal(p.Example)
				if err != nil {
					t.Fatal(err)
				}
				text := `"example":` + string(example) + "}"
				for _, pair := range key.Own { // as the page does
					text = strings.ReplaceAll(text, pair[0], pair[1])
				}
				value := strings.Trim(strings.TrimSuffix(strings.TrimPrefix(text, `"example":`), "}"), `"`)
				switch {
				case p.In == "path":
					call = strings.ReplaceAll(call, "{"+p.Name+"}", value)
				case p.In == "query" && p.Required:
					query.Set(p.Name, value)
				}
			}
			status, body := s.get(s.url+call+"?"+query.Encode(), token)
			if status != http.StatusOK || strings.Contains(body, `"data":[]`) ||
				strings.Contains(body, `"content":[]`) || strings.Contains(body, `"profiles":[]`) {
				t.Errorf("%s: GET %s?%s: %d %.200s", key.Key, call, query.Encode(), status, body)
			}
		}
	}
}

// What the reference offers first to who tries a payment or a search out does something on a new demo bank.
func TestSamplesOfTheReferenceWorkOnTheDemoBank(t *testing.T) {
	t.Parallel()
	spec, err := openapi3.NewLoader().LoadFromData(rest.Spec)
	if err != nil {
		t.Fatal(err)
	}
	s := onDemo(t).serve()
	for _, key := range offered(true) {
		if key.Key != "demo-partner" && key.Key != "demo-staff" {
			continue
		}
		token := s.token(sandbox, key.Key, key.Secret)
		for _, path := range []string{
			"/v4/payments/credit", "/v5/payments/credit", "/v3/payments/creditrequest",
			"/v3/customers/{customerUID}/accounts/search", "/v1/customers/{customerUID}/limits",
		} {
			sample, err := json.Marshal(spec.Paths.Find(path).
				Post.RequestBody.Value.Content["application/json"].Example)
			if err != nil {
				t.Fatal(err)
			}
			call, text := strings.ReplaceAll(path, "{customerUID}", "1000001"), string(sample)
			for _, pair := range key.Own { // as the page does
				call, text = strings.ReplaceAll(call, pair[0], pair[1]), strings.ReplaceAll(text, pair[0], pair[1])
			}
			status, body := s.post(call, token, text)
			if status != http.StatusOK || strings.Contains(body, `"data":[]`) {
				t.Errorf("%s: POST %s %s: %d %.300s", key.Key, call, text, status, body)
			}
		}
	}
}
