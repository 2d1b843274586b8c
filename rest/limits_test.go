package rest_test

import (
	"net/http"
	"testing"
)

// Each code of the limit update (rest/CONTRACT.md, limit update) with a request that causes it.
func TestALimitUpdateNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	const day = "ACH_PAYMENT_LIMIT_PER_DAY"
	for name, c := range map[string]struct{ customer, body, code string }{
		"no digits": {
			"x1", `[{"entityLimitId": "` + day + `", "entityLimitValue": "1"}]`, "CUSTOMER_CUSTOMERID_NUMBER",
		},
		"zeros": {
			"000",
			`[{"entityLimitId": "` + day + `", "entityLimitValue": "1"}]`, "CUSTOMER_CUSTOMERID_ALLZERO",
		},
		"nobody": {
			"4711",
			`[{"entityLimitId": "` + day + `", "entityLimitValue": "1"}]`, "CUSTOMER_CUSTOMERID_NOTFOUND",
		},
		"nobody, empty": {"4711", `[]`, "CUSTOMER_CUSTOMERID_NOTFOUND"},
		"another's": {
			b.direct.UID.String(), `[{"entityLimitId": "` + day + `", "entityLimitValue": "1"}]`,
			"CUSTOMER_CUSTOMERID_NOTFOUND",
		},
		"no limits": {
			b.bare.UID.String(), `[{"entityLimitId": "` + day + `", "entityLimitValue": "1"}]`,
			"CUSTOMERLIMIT_BASELINE_NOTFOUND",
		},
		"empty":   {"", `[]`, "CUSTOMERLIMIT_LIST_EMPTY"},
		"no code": {"", `[{"entityLimitValue": "1"}]`, "CUSTOMERLIMIT_ENTITYLIMITID_REQUIRED"},
		"blank code": {
			"", `[{"entityLimitId": " ", "entityLimitValue": "1"}]`, "CUSTOMERLIMIT_ENTITYLIMITID_REQUIRED",
		},
		"no value": {
			"", `[{"entityLimitId": "` + day + `", "entityLimitValue": null}]`, "CUSTOMERLIMIT_VALUE_REQUIRED",
		},
		"no number": {
			"", `[{"entityLimitId": "` + day + `", "entityLimitValue": "much"}]`, "CUSTOMERLIMIT_VALUE_INVALID",
		},
		"a truth": {
			"", `[{"entityLimitId": "` + day + `", "entityLimitValue": true}]`, "CUSTOMERLIMIT_VALUE_INVALID",
		},
		"parts of cents": {
			"", `[{"entityLimitId": "` + day + `", "entityLimitValue": "0.001"}]`, "CUSTOMERLIMIT_VALUE_INVALID",
		},
		"negative": {
			"", `[{"entityLimitId": "` + day + `", "entityLimitValue": -1}]`, "CUSTOMERLIMIT_VALUE_NEGATIVE",
		},
		"unknown": {
			"", `[{"entityLimitId": "FEDWIRE_PAYMENT_LIMIT_PER_DAY", "entityLimitValue": "1"}]`,
			"CUSTOMERLIMIT_UNKNOWN_KEY",
		},
		"twice": {
			"", `[{"entityLimitId": "` + day + `", "entityLimitValue": "1"}, {"entityLimitId": "` + day +
				`", "entityLimitValue": "1"}]`, "CUSTOMERLIMIT_INVALID_REQUEST",
		},
		"malformed":    {"", `[{`, "CUSTOMERLIMIT_INVALID_REQUEST"},
		"an object":    {"", `{}`, "CUSTOMERLIMIT_INVALID_REQUEST"},
		"a text in it": {"", `["x"]`, "CUSTOMERLIMIT_INVALID_REQUEST"},
		"nothing":      {"", ``, "CUSTOMERLIMIT_INVALID_REQUEST"},
	} {
		path := "/v1/customers/" + c.customer + "/limits"
		if c.customer == "" {
			path = b.path("/v1/customers/{C}/limits")
		}
		b.call(b.program(), http.MethodPatch, path, c.body).
			refused(t, name, http.StatusBadRequest, c.code, "")
	}
	plain := request(http.MethodPatch, b.path("/v1/customers/{C}/limits"), `[]`)
	plain.Header.Set("Content-Type", "text/plain")
	b.send(b.program(), plain).refused(t, "text", http.StatusUnsupportedMediaType,
		"CUSTOMERLIMIT_UNSUPPORTED_MEDIATYPE", "")
	b.call(b.Staff(), http.MethodPatch, "/v1/customers/"+b.Self.UID.String()+"/limits", `[]`).
		refused(t, "the bank itself", http.StatusBadRequest, "CUSTOMER_CUSTOMERID_NOTALLOWED",
			"processing organization")
	var done int
	err := b.DB.NewRaw(`SELECT count(*) FROM audit_entries WHERE tenant = ? AND decision = 'done'`, b.Tenant).
		Scan(t.Context(), &done)
	if err != nil || done != 0 {
		t.Errorf("%d changes were made (%v)", done, err)
	}
}

func TestAnAbsentCustomerIsToldBeforeTheFieldsOfALimitCheck(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, uid := range []string{"999", b.direct.UID.String()} {
		b.call(b.program(), http.MethodPost, "/v1/customers/"+uid+"/limits", `{}`).refused(t, uid,
			http.StatusBadRequest, "CUSTOMER_CUSTOMERID_NOTFOUND", "")
	}
}
