package rest_test

import (
	"fmt"
	"net/http"
	"testing"
)

// operation is one documented operation as a partner would call it.
type operation struct {
	name, method, path, body string
}

// operations are all of them, in the fullest form. Their answers are golden files of the same name.
var operations = []operation{
	{"customers_g1_search", http.MethodGet, "/customers?Page=1&limit=10&legalName=acme%20tr", ""},
	{"customers_g1_get", http.MethodGet, fmt.Sprintf("/customers/%d", acme), ""},
	{"customers_v2_search", http.MethodGet, "/v2/customers?page=1&limit=10", ""},
	{"customers_v2_get", http.MethodGet, fmt.Sprintf("/v2/customers/%d", acme), ""},
	{"contacts_g1_search", http.MethodGet, fmt.Sprintf("/customers/%d/contacts?page=1&records=1&accountNumber=%s", acme, supplierNumber), ""},
	{"contacts_g1_get", http.MethodGet, fmt.Sprintf("/customers/%d/contacts/%d", acme, supplier), ""},
	{"contacts_v2_search", http.MethodGet, fmt.Sprintf("/v2/customers/%d/contacts?page=1&limit=100&contactName=supp", acme), ""},
	{"contacts_v2_get", http.MethodGet, fmt.Sprintf("/v2/customers/%d/contacts/%d", acme, supplier), ""},
	{"contacts_v1_get", http.MethodGet, fmt.Sprintf("/v1/customers/%d/beneficiary/%d", acme, supplier), ""},
	{"accounts_g1_search", http.MethodGet, fmt.Sprintf("/customers/%d/accounts", acme), ""},
	{"accounts_g1_by_number", http.MethodGet, fmt.Sprintf("/customers/%d/accounts?accountNumber=%s", acme, operatingNumber), ""},
	{"accounts_g1_get", http.MethodGet, fmt.Sprintf("/customers/%d/accounts/%d?includeAccountBalance=true", acme, operating), ""},
	{"accounts_v2_search", http.MethodGet, fmt.Sprintf("/v2/customers/%d/accounts?page=1&limit=1000", acme), ""},
	{"accounts_v2_get", http.MethodGet, fmt.Sprintf("/v2/customers/%d/accounts/%d?includeAccountBalance=true", acme, operating), ""},
	{"accounts_v3_search", http.MethodPost, fmt.Sprintf("/v3/customers/%d/accounts/search?page=1&limit=10", acme), `{"status": "active", "wireEnabled": true}`},
	{"accounts_v3_get", http.MethodGet, fmt.Sprintf("/v3/customers/%d/accounts/%d?includeAccountBalance=true", acme, operating), ""},
	{"signatories_list", http.MethodGet, fmt.Sprintf("/v1/customers/%d/signatories?page=0&size=10", acme), ""},
	{"limits_check", http.MethodPost, fmt.Sprintf("/v1/customers/%d/limits", acme), `{"paymentRail": "ACH", "paymentAmount": 600.10, "secCode": "WEB", "entryType": "Debit"}`},
	{"lookup", http.MethodGet, "/v1/customers/lookup/" + operatingNumber, ""},
}

func TestEveryOperationAnswersItsGoldenBody(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, o := range operations {
		b.call(b.partner(), o.method, o.path, o.body).golden(t, o.name)
	}
}

func TestEveryOperationIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, o := range operations {
		if cost := b.call(b.partner(), o.method, o.path, o.body).cost; cost.RoundTrips.Load() != 1 {
			t.Errorf("%s takes %d round trips", o.name, cost.RoundTrips.Load())
		}
	}
}
