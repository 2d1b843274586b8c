package rest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Every published code of banks, in the order of its rules (rest/CONTRACT.md, bank rules).
func TestABankLookupAnswersTheFirstRuleThatIsBroken(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for query, code := range map[string]string{
		"": "BANK_BANKID_REQUIRED", "bankId=&bankIdType=NID": "BANK_BANKID_REQUIRED",
		"bankId=%20":                                          "BANK_BANKID_REQUIRED",
		"bankId=611090001":                                    "BANK_BANKIDTYPE_INVALID",
		"bankId=611090001&bankIdType=ABA":                     "BANK_BANKIDTYPE_INVALID",
		"bankId=x&bankIdType=IBAN":                            "BANK_COUNTRYCODE_REQUIRED",
		"bankId=x&bankIdType=IBAN&countryCode=GBR":            "BANK_COUNTRYCODE_EXACT",
		"bankId=611090001&bankIdType=NID&countryCode=u%C5%BF": "BANK_COUNTRYCODE_EXACT", // U+017F is no S
		"bankId=611090001&bankIdType=NID&countryCode=1":       "BANK_COUNTRYCODE_EXACT",
		"bankId=61109000&bankIdType=NID":                      "BANK_BANKID_NOMATCH",
		"bankId=000000000&bankIdType=NID":                     "BANK_BANKID_NOMATCH",
		"bankId=THGTGB2&bankIdType=BIC":                       "BANK_BANKID_NOMATCH",
		"bankId=THGTGB20&bankIdType=BIC&countryCode=FR":       "BANK_BANKID_NOMATCH",
		"bankId=GB00THGT&bankIdType=IBAN&countryCode=GB":      "BANK_BANKID_NOMATCH",
		"bankId=a%00b&bankIdType=BIC":                         "BANK_BANKID_NOMATCH",
		"bankId=%ff%fe&bankIdType=BIC":                        "BANK_BANKID_NOMATCH",
		"bankId=1&bankId=2&bankIdType=NID":                    "BANK_BANKID_NOMATCH",
		"bankId=123456789&bankIdType=NID":                     "BANK_BANKID_NOTFOUND",
		"bankId=NONEGB20&bankIdType=BIC":                      "BANK_BANKID_NOTFOUND",
		"bankId=611090001&bankIdType=NID&countryCode=CA":      "BANK_BANKID_NOTFOUND",
		"bankId=%zz": "BANK_INVALID_REQUEST",
		"bankId=" + strings.Repeat("9", 35) + "&bankIdType=NID":  "BANK_BANKID_NOMATCH",
		"bankId=" + strings.Repeat("9", 300) + "&bankIdType=NID": "BANK_BANKID_NOMATCH",
	} {
		b.get(b.program(), "/v1/banks?"+query).refused(t, query, http.StatusBadRequest, code, "")
	}
}

// Who gives a number of another form is told the form of its type.
func TestABankIDIsToldTheFormOfItsType(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for query, form := range map[string]string{
		"bankId=61109000&bankIdType=NID": "bankId: of the type NID must be nine digits",
		"bankId=THGTGB2&bankIdType=BIC": "bankId: of the type BIC must have 8 or 11 " +
			"letters and digits",
		"bankId=GB00THGT&bankIdType=IBAN&countryCode=GB": "bankId: of the type IBAN must be one of " +
			"countryCode with right check digits",
	} {
		b.get(b.program(), "/v1/banks?"+query).
			refused(t, query, http.StatusBadRequest, "BANK_BANKID_NOMATCH", form)
	}
}

func TestARoutingNumberInAPathHasItsForm(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for number, code := range map[string]string{
		"61109000": "ROUTING_NUMBER_INVALID", "6110900011": "ROUTING_NUMBER_INVALID",
		"61109000x": "ROUTING_NUMBER_INVALID", "000000000": "ROUTING_NUMBER_INVALID",
		"a%00b": "ROUTING_NUMBER_INVALID", "%D9%A0": "ROUTING_NUMBER_INVALID", "search": "ROUTING_NUMBER_INVALID",
		"123456789": "ROUTING_NUMBER_NOTFOUND",
	} {
		b.get(b.program(), "/v1/banks/"+number).refused(t, number, http.StatusBadRequest, code, "")
	}
	for prefix, code := range map[string]string{
		"61": "ROUTING_NUMBER_INVALID", "6110900011": "ROUTING_NUMBER_INVALID", "61%25": "ROUTING_NUMBER_INVALID",
		"61_": "ROUTING_NUMBER_INVALID", "999": "ROUTING_NUMBER_NOTFOUND",
	} {
		b.get(b.program(), "/v1/banks/search/"+prefix).refused(t, prefix, http.StatusBadRequest, code, "")
	}
}

func TestTheFormerWayToABankNamesItsSuccessor(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, number := range []string{"611090001", "6110"} {
		header := b.get(b.program(), "/v1/banks/"+number).header
		if header.Get("Deprecation") != "@1767225600" ||
			header.Get("Link") != `</v1/banks?bankId=`+number+`&bankIdType=NID>; rel="successor-version"` {
			t.Errorf("%s: %v", number, header)
		}
	}
	if header := b.get(b.program(), "/v1/banks/search/611").header; header.Get("Deprecation") != "" {
		t.Errorf("%v", header)
	}
	successor := b.get(b.program(), "/v1/banks?bankId=611090001&bankIdType=NID")
	if successor.status != http.StatusOK || !strings.Contains(successor.body, "Sandbox Bank") {
		t.Errorf("%d %s", successor.status, successor.body)
	}
}

// The numbers that partners write in other letter case, or of a head office, find the same bank.
func TestABankHasSeveralNames(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, query := range []url.Values{
		{"bankId": {"RHNUDEF0"}, "bankIdType": {"BIC"}},
		{"bankId": {"rhnudef0xxx"}, "bankIdType": {"bic"}, "countryCode": {"de"}},
		{"bankId": {"RHNUDEF0500"}, "bankIdType": {"BIC"}},
		{"bankId": {"DE53990909000000000001"}, "bankIdType": {"IBAN"}, "countryCode": {"de"}},
		{"bankId": {"de53 9909 0900 0000 0000 01"}, "bankIdType": {"iban"}, "countryCode": {"DE"}},
	} {
		got := b.get(b.program(), "/v1/banks?"+query.Encode())
		if got.status != http.StatusOK || !strings.Contains(got.body, `"nationalId":"99090900"`) {
			t.Errorf("%v: %d %s", query, got.status, got.body)
		}
	}
}
