package rest_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"bankgraph/core/coretest"
	"bankgraph/rest"
)

// searches are the operations that read lists by what a query or a body says.
var searches = []struct{ method, path string }{
	{http.MethodGet, "/v2/customers"},
	{http.MethodGet, "/v3/customers/%s/accounts"},
	{http.MethodGet, "/v2/customers/%s/contacts"},
	{http.MethodPost, "/v3/payments/search"},
	{http.MethodPost, "/v2/files/search"},
	{http.MethodPost, "/v2/positivepay/rules/search"},
	{http.MethodPost, "/v2/positivepay/exception/search"},
	{http.MethodPost, "/v2/virtual-accounts/search"},
}

// Whatever a search says, it is answered, and an answer is JSON: nothing in it is the server's failure.
func FuzzSearches(f *testing.F) {
	b := coretest.New(f)
	customer := b.Customer()
	b.Account(customer)
	b.Contact(customer)
	staff, log := b.Staff(), new(strings.Builder)
	handler := rest.New(b.Core, rest.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	for i := range searches {
		for _, said := range [][2]string{
			{"page=1&limit=10", `{"page": 1, "limit": 10, "fileName": "a"}`},
			{"page=0&size=10&records=10", `{"customerUID": 7, "page": 0, "size": 1e1, "status": ["Active"]}`},
			{
				"page=1&limit=10&legalName=%00&status=%zz",
				`{"customerAccountNumber": "\u0000", "status": "active,ACTIVE"}`,
			},
			{
				"page=2147483647&limit=1000&accountNumber=%25_%5C'",
				`{"amountFrom": 1.0E7, "amountTo": -0, "secCode": "'"}`,
			},
			{
				"page=-1&limit=0x1&Page=1&page=2",
				`{"page": 99999999999999999999, "fromDate": "02-30-2026", "toDate": "11-23-2026"}`,
			},
			{"a;b&%", "{\"a\": 1, \"a\": 2}"},
			{strings.Repeat("a=b&", 2000), strings.Repeat("[", 40)},
			{"\x00", "\xff"},
			{"", ""},
			{
				"page=1&limit=10&type=Corporate&customerType=x",
				`{"paymentUID": "1e3", "fileNumber": "007", "createdFrom": "0000-00-00"}`,
			},
		} {
			f.Add(uint8(i), said[0], said[1])
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, query, body string) {
		of := searches[int(which)%len(searches)]
		path := of.path
		if strings.Contains(path, "%s") {
			path = fmt.Sprintf(path, customer.UID)
		}
		r := httptest.NewRequest(of.method, path, strings.NewReader(body)).WithContext(staff)
		r.URL = &url.URL{Path: path, RawQuery: query}
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		log.Reset()
		handler.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError || !json.Valid(w.Body.Bytes()) || log.Len() > 0 &&
			strings.Contains(log.String(), "ERROR") {
			t.Fatalf("%s %s?%s %s: %d %s\n%s", of.method, path, query, body, w.Code, w.Body, log)
		}
	})
}
