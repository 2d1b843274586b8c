package rest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bankgraph/core/customers"
	"bankgraph/core/roles"
	"bankgraph/core/users"
)

// Requests of existing clients, from the published samples of the older generations.

func TestOlderFormsSendLimitsOfWhatIsOff(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	at := fmt.Sprintf("/customers/%s/accounts", b.bare.UID)
	account := `{"accountName": "Sample", "accountNumber": "%s", "accountType": "Deposit",
		"accountSubType": "Checking", "currency": "USD", "countryCode": "US",
		"externalReferenceId": "x", "systemOfRecords": "Other Core", "routingNumber": "021000021",
		"masterGl": "201000", "enableWire": "Yes", %s}`
	off := `"enableCallbacks": false, "callbackLimit": 100.50, "isUnderWritten": false, "isAchPrefund": false,
		"debitExposureLimit": 1000, "creditExposureLimit": 1000`
	for i, generation := range []string{"", "/v2"} {
		opened := b.call(b.Staff(), http.MethodPost, generation+at,
			fmt.Sprintf(account, fmt.Sprint("99000", i), off))
		var body struct{ Data struct{ AccountUID string } }
		if err := json.Unmarshal([]byte(opened.body), &body); err != nil || opened.status != http.StatusOK {
			t.Fatalf("%d %s", opened.status, opened.body)
		}
		changed := b.call(b.Staff(), http.MethodPut, generation+at+"/"+body.Data.AccountUID,
			`{"accountName": "Same", `+off+`}`)
		shown := b.get(b.Staff(), "/v2"+at+"/"+body.Data.AccountUID)
		if changed.status != http.StatusOK || strings.Contains(shown.body, "imit") {
			t.Errorf("%d %s\n%s", changed.status, changed.body, shown.body)
		}
		some := b.call(b.Staff(), http.MethodPut, generation+at+"/"+body.Data.AccountUID,
			`{"isAchPrefund": true, "debitExposureLimit": 70, "creditExposureLimit": 80, "achCompanyId": "12"}`)
		shown = b.get(b.Staff(), "/v2"+at+"/"+body.Data.AccountUID)
		if some.status != http.StatusOK || !strings.Contains(shown.body, `"debitExposureLimit":70.00`) ||
			strings.Contains(shown.body, "creditExposureLimit") {
			t.Errorf("%d %s\n%s", some.status, some.body, shown.body)
		}
		wrong := b.call(b.Staff(), http.MethodPut, generation+at+"/"+body.Data.AccountUID, `{"callbackLimit": -1}`)
		wrong.refused(t, "no amount", http.StatusBadRequest, "ACC001", "callbackLimit")
	}
	v3 := fmt.Sprintf("/v3/customers/%s/accounts/%s", b.acme.UID, b.pseudo.UID)
	b.call(b.Staff(), http.MethodPatch, v3, `{"accountFeatures": {"achFeature": {"creditExposureLimit": 5}}}`).
		refused(t, "v3", http.StatusBadRequest, "ACC001",
			"creditExposureLimit: needs the account to be underwritten")
}

func TestWordsOfAnswersAreTakenBack(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	at := fmt.Sprintf("/v3/customers/%s/accounts/%s", b.acme.UID, b.operating.UID)
	for _, word := range []string{"NationalBankCode", "By ABA", "NID"} {
		if said := b.call(b.Staff(), http.MethodPatch, at,
			fmt.Sprintf(`{"bankIdType": %q}`, word)); said.status != http.StatusOK {
			t.Errorf("%s: %d %s", word, said.status, said.body)
		}
	}
	b.call(b.Staff(), http.MethodPatch, at, `{"bankIdType": "By Address"}`).refused(t,
		"a routing number is no BIC", http.StatusBadRequest, "ACC001", "routingNumber")
	for word, kept := range map[string]string{
		"Acme Core": "Internal Core", "grand river core": "Internal Core", "Internal Core": "Internal Core",
		"External": "External", "other core": "Other Core",
	} {
		loan := fmt.Sprintf("/v3/customers/%s/accounts/%s", b.acme.UID, b.loan.UID)
		said := b.call(b.Staff(), http.MethodPatch, loan, fmt.Sprintf(`{"systemOfRecords": %q}`, word))
		if shown := b.get(b.Staff(), loan); said.status != http.StatusOK ||
			!strings.Contains(shown.body, `"systemOfRecords":"`+kept+`"`) {
			t.Errorf("%s: %d %s %s", word, said.status, said.body, shown.body)
		}
	}
	for _, word := range []string{
		"Core", " Core", "Other  Core", "Acme", "Corecore", "External Core", "Othr Core", "Outer Core",
		"Third Party Core", "Another Core", "Not Our Core",
	} {
		b.call(b.Staff(), http.MethodPatch, at, fmt.Sprintf(`{"systemOfRecords": %q}`, word)).refused(t, word,
			http.StatusBadRequest, "ACC001", "systemOfRecords")
	}
}

// An update accepts everything that a retrieval has answered, and changes nothing by it.
func TestWhatIsReadIsTakenBackWhole(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, thing := range []struct{ method, path, in string }{
		{http.MethodPut, "/customers/{C}", "[]"},
		{http.MethodPut, "/v2/customers/{C}", "[]"},
		{http.MethodPut, "/customers/{C}/accounts/{A}", ""},
		{http.MethodPut, "/v2/customers/{C}/accounts/{A}", ""},
		{http.MethodPatch, "/v3/customers/{C}/accounts/{A}", ""},
		{http.MethodPatch, "/v3/customers/{C}/accounts/{X}", ""},
		{http.MethodPut, "/customers/{C}/contacts/{K}", ""},
		{http.MethodPatch, "/v1/customers/{C}/beneficiary/{K}", ""},
	} {
		path := b.names(b.acme.UID, b.operating.UID, b.supplier.UID, "").Replace(thing.path)
		var seen []string
		// the test's own rows may differ from rows stored by requests; the first update makes them equal
		for range 2 {
			var read struct{ Data json.RawMessage }
			shown := b.get(b.Staff(), path)
			if err := json.Unmarshal([]byte(shown.body), &read); err != nil {
				t.Fatal(err)
			}
			body := string(read.Data)
			if thing.in == "[]" {
				body = body[1 : len(body)-1]
			}
			if said := b.call(b.Staff(), thing.method, path, body); said.status != http.StatusOK {
				t.Errorf("%s %s: %d %s\nsent %s", thing.method, thing.path, said.status, said.body, body)
			}
			seen = append(seen, b.get(b.Staff(), path).body)
		}
		if seen[0] != seen[1] {
			t.Errorf("%s changed\n%s\nto\n%s", thing.path, seen[0], seen[1])
		}
	}
}

// The oldest form does not require people and words of the bank. Its empty texts count as absent, in new
// customers and in updates. An update does not clear what is there.
func TestTheOldestFormLeavesOpenWhatTheSecondDemands(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	made := b.call(b.Staff(), http.MethodPost, "/customers",
		`{"externalReferenceId": "e", "legalName": "Old Form", "shortName": "OLDFORM",
		"customerType": "Consumer", "taxId": "12-3456789",
		"mailAddressSameAsLegal": true, "legalAddress": {"addressLine1": "1 Lake Rd", "city": "Erie",
		"state": "PA", "countryCode": "US"},
		"language": "", "costCenter": "", "relationshipManager": "", "originatingOfficer": "", "note": ""}`)
	var body struct{ Data struct{ CustomerUID string } }
	if err := json.Unmarshal([]byte(made.body), &body); err != nil || made.status != http.StatusOK {
		t.Fatalf("%d %s", made.status, made.body)
	}
	blank := `{"note": "x", "language": "", "costCenter": "", "relationshipManager": " ",
		"originatingOfficer": ""}`
	for _, generation := range []string{"", "/v2"} {
		if said := b.call(b.Staff(), http.MethodPut, generation+"/customers/"+body.Data.CustomerUID,
			blank); said.status != http.StatusOK {
			t.Errorf("%s: %d %s", generation, said.status, said.body)
		}
		b.call(b.Staff(), http.MethodPut, generation+"/customers/"+b.acme.UID.String(), `{"costCenter": ""}`).
			refused(t, "what is there", http.StatusBadRequest, "CUST001", "costCenter: is required")
	}
}

// The oldest form limits neither the length of tax ids nor languages. The second form accepts back what it
// answers for such customers.
func TestTheOldestFormTakesLongerTaxIDsAndAnyLanguage(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	customer := `{"externalReferenceId": "e", "legalName": "Jo Free", "shortName": "JOFREE",
		"customerType": "Consumer", "taxId": "123-45-6789",
		"mailAddressSameAsLegal": true, "legalAddress": {"addressLine1": "1 Lake Rd", "addressLine2": "",
		"city": "Erie", "state": "PA", "postalCode": "16501", "countryCode": "US"},
		"language": "French", "costCenter": "CC1", "relationshipManager": "mjones",
		"originatingOfficer": "mjones"}`
	b.call(b.Staff(), http.MethodPost, "/v2/customers", customer).refused(t, "v2", http.StatusBadRequest,
		"CUST001", "taxId: must have at most 10 characters")
	made := b.call(b.Staff(), http.MethodPost, "/customers", customer)
	var body struct{ Data struct{ CustomerUID string } }
	if err := json.Unmarshal([]byte(made.body), &body); err != nil || made.status != http.StatusOK {
		t.Fatalf("%d %s", made.status, made.body)
	}
	at := "/customers/" + body.Data.CustomerUID
	if said := b.call(b.Staff(), http.MethodPut, at, `{"taxId": "987-65-4321"}`); said.status != http.StatusOK {
		t.Errorf("%d %s", said.status, said.body)
	}
	var shown struct{ Data []json.RawMessage }
	if err := json.Unmarshal([]byte(b.get(b.Staff(), "/v2"+at).body), &shown); err != nil ||
		len(shown.Data) != 1 {
		t.Fatal(err, shown)
	}
	if said := b.call(b.Staff(), http.MethodPut, "/v2"+at,
		string(shown.Data[0])); said.status != http.StatusOK ||
		!strings.Contains(said.body, `"taxId":"****4321"`) ||
		!strings.Contains(said.body, `"language":"French"`) {
		t.Errorf("%d %s", said.status, said.body)
	}
}

// The third generation names a feature by its place in its own bodies. Each mistake has one code, whoever
// finds it.
func TestFeaturesAreBlamedWhereTheyAre(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	at := fmt.Sprintf("/v3/customers/%s/accounts/%s", b.acme.UID, b.operating.UID)
	for _, c := range []struct{ features, code, message string }{
		{
			`{"fedWireFeature": {"callbackLimit": 1000000000}}`, "ACCOUNT_CALLBACKLIMIT_MAX",
			"accountFeatures.fedWireFeature.callbackLimit: must be at most",
		},
		{
			`{"fedWireFeature": {"callbackLimit": true}}`, "ACCOUNT_CALLBACKLIMIT_INVALID",
			"accountFeatures.fedWireFeature.callbackLimit: must be a number",
		},
		{
			`{"achFeature": {"achCompanyId": "12345678901"}}`, "ACCOUNT_ACHCOMPANYID_MAX",
			"accountFeatures.achFeature.achCompanyId: must have at most",
		},
		{
			`{"achFeature": {"secCodes": ["nil"]}}`, "ACCOUNT_SECCODES_INVALID",
			"accountFeatures.achFeature.secCodes[0]: must be",
		},
		{
			`{"achFeature": {"enableUnderWritten": true, "enableAchPrefund": true}}`,
			"ACCOUNT_ENABLEACHPREFUND_NOMATCH", "accountFeatures.achFeature.enableAchPrefund: an account",
		},
		{`{"feeAccount": "maybe"}`, "ACCOUNT_FEEACCOUNT_INVALID", "accountFeatures.feeAccount: must be Yes or No"},
		{`{"rtpFeature": []}`, "ACCOUNT_RTPFEATURE_INVALID", "accountFeatures.rtpFeature: must be an object"},
	} {
		answer := b.call(b.Staff(), http.MethodPatch, at, `{"accountFeatures": `+c.features+`}`)
		if answer.status != http.StatusBadRequest || !strings.Contains(answer.body, `"code":"`+c.code+`"`) ||
			!strings.Contains(answer.body, c.message) {
			t.Errorf("%s: %d %s", c.features, answer.status, answer.body)
		}
	}
}

// A code names the problem: a conflict with another thing differs from an absent thing.
func TestConflictsHaveCodesOfTheirOwn(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	at := fmt.Sprintf("/v3/customers/%s/accounts", b.acme.UID)
	account := `{"accountName": "Second", "accountNumber": %q, "accountType": "Deposit",
		"accountSubType": "Checking", "currency": "USD", "countryCode": "US",
		"systemOfRecords": "Other Core", "routingNumber": "021000021", "masterGl": "201000",
		"accountFeatures": {"achFeature": {"enableACH": true, "achCompanyId": "1234567890",
		"enableOffset": true, "defaultOffset": %t}}}`
	pseudo := `{"accountName": "x", "accountNumber": "77", "accountType": "Deposit",
		"accountSubType": "Pseudo", "currency": "USD", "countryCode": "US",
		"systemOfRecords": "Other Core", "routingNumber": "021000021", "masterGl": "1", "fboAccountNumber": "4711"}`
	for _, c := range []struct{ body, code string }{
		{fmt.Sprintf(account, number(b.operating), false), "ACCOUNT_ACCOUNTNUMBER_CONFLICT"},
		{fmt.Sprintf(account, "7788", true), "ACCOUNT_DEFAULTOFFSET_CONFLICT"},
		{pseudo, "ACCOUNT_FBOACCOUNTNUMBER_NOTFOUND"},
	} {
		said := b.call(b.Staff(), http.MethodPost, at, c.body)
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"ACC001"`) ||
			!strings.Contains(said.body, `"errors":[{"code":"`+c.code+`"`) {
			t.Errorf("%s: %d %s", c.code, said.status, said.body)
		}
	}
	signatory := fmt.Sprintf(`{"fullName": "Twin", "emailAddress": %q, "phoneNumber": "(614) 555-0123"}`,
		strings.ToUpper(b.treasurer.EmailAddress))
	b.call(b.Staff(), http.MethodPost, fmt.Sprintf("/v1/customers/%s/signatories", b.acme.UID), signatory).
		refused(t, "a second signatory", http.StatusBadRequest, "SIG_EMAIL_CONFLICT", "another signatory")
}

func TestWhatNobodyKnowsIsCalledUnknown(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for body, message := range map[string]string{
		`{"limits": [{"appName": "Acme Wires",
			"appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "1"}]}]}`: "limits[0].appName: " +
			"no application with limits is called so",
		`{"limits": [{"appName": "Payments",
			"appLimits": [{"key": "NOBODYS", "value": "1"}]}]}`: "limits[0].appLimits[0].key: " +
			"no limit is called so",
		`{"limits": [{"appName": "Foreign_Exchange",
			"appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "1"}]}]}`: "limits[0].appName: " +
			"the limit ACH_PAYMENT_LIMIT_PER_DAY is one of Payments",
	} {
		b.call(b.Staff(), http.MethodPut, "/v2/customers/"+b.acme.UID.String(), body).refused(t, body,
			http.StatusBadRequest, "CUST001", message)
	}
	waiting := b.Role(b.acme, func(r *roles.Role) { r.Name, r.Status = "Releaser", roles.Pending })
	at := fmt.Sprintf("/api/user-management/v1/customers/%s/users/%s", b.acme.UID, b.ruth.UID)
	for name, message := range map[string]string{
		waiting.Name: "roleNames[0]: the role waits for approval",
		"Nobodys":    "roleNames[0]: is not a role of the customer",
	} {
		b.call(b.Staff(), http.MethodPut, at, fmt.Sprintf(`{"roleNames": [%q]}`, name)).refused(t, name,
			http.StatusBadRequest, "", message)
	}
}

func TestPeopleHaveTheNamesThatTheyHave(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	at := fmt.Sprintf("/api/user-management/v1/customers/%s/users/%s", b.acme.UID, b.ruth.UID)
	for _, name := range []string{"St. John", "J.R.R.", "van 't Hoff", "Nguyễn", "علی\u200cرضا"} {
		if said := b.call(b.Staff(), http.MethodPut, at,
			fmt.Sprintf(`{"lastName": %q}`, name)); said.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, said.status, said.body)
		}
		signatory := fmt.Sprintf(`{"fullName": %q}`, "Ann "+name)
		if said := b.call(b.Staff(), http.MethodPatch,
			fmt.Sprintf("/v1/customers/%s/signatories/%s", b.acme.UID, b.treasurer.UID),
			signatory); said.status != http.StatusOK {
			t.Errorf("%s: %d %s", name, said.status, said.body)
		}
	}
	for _, name := range []string{"Jo\u200bhn", "\u202enhoJ", "Jo\u200dhn", "Jo\u3164hn", "John3"} {
		text, _ := json.Marshal(map[string]string{"lastName": name})
		b.call(b.Staff(), http.MethodPut, at, string(text)).
			refused(t, name, http.StatusBadRequest, "", "lastName")
	}
}

func TestOtherEditionsOfTheContractFindTheirPaths(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	user := func(c *customers.Customer, u *users.User, of string) string {
		return fmt.Sprintf("/api/user-management/v1/%s/%s/users/%s", of, c.UID, u.UID)
	}
	plural, singular := b.get(b.program(), user(b.acme, b.ruth, "customers")),
		b.get(b.program(), user(b.acme, b.ruth, "customer"))
	if singular.status != http.StatusOK || singular.body != plural.body ||
		singular.header.Get("ETag") != plural.header.Get("ETag") {
		t.Errorf("%d %s", singular.status, singular.body)
	}
	b.get(b.program(), user(b.direct, b.ruth, "customer")).refused(t, "another's", http.StatusForbidden, "",
		"not the caller's")
	at := user(b.acme, b.ruth, "customers")
	for _, step := range []struct {
		action string
		status int
	}{{"suspend", http.StatusOK}, {"suspend", http.StatusBadRequest}, {"activate", http.StatusOK}} {
		said := b.call(b.program(), http.MethodPatch, at+"/"+step.action, "")
		if said.status != step.status || step.status == http.StatusOK && said.body != "" {
			t.Errorf("%s: %d %s", step.action, said.status, said.body)
		}
	}
	if said := b.call(b.program(), http.MethodPut, at+"/suspend", ""); said.status != http.StatusNoContent {
		t.Errorf("PUT: %d", said.status)
	}
}

// Where a misspelling is law, the right spelling is accepted too.
func TestTheRightSpellingOfAMisspeltNameIsTaken(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	contact := fmt.Sprintf("/v2/customers/%s/contacts/%s", b.acme.UID, b.supplier.UID)
	if said := b.call(b.program(), http.MethodPut, contact,
		`{"regulatoryReporting": [{"key": "TaxId", "value": "DE7654321"}]}`); said.status != http.StatusOK {
		t.Fatalf("%d %s", said.status, said.body)
	}
	if shown := b.get(b.program(), contact).body; !strings.Contains(shown, "****4321") {
		t.Errorf("the report is lost: %s", shown)
	}
	customer := fmt.Sprintf("/customers/%s", b.acme.UID)
	if said := b.call(b.program(), http.MethodPut, customer,
		`{"additionalProfileDetails": [{"restrictedAccess": true,
			"detailsOfCharge": "BEN"}]}`); said.status != http.StatusOK {
		t.Fatalf("%d %s", said.status, said.body)
	}
	shown := b.get(b.program(), customer).body
	if !strings.Contains(shown, `"restrictedaccess":true`) ||
		!strings.Contains(shown, `"detailsofCharge":"BEN"`) {
		t.Errorf("the details are lost: %s", shown)
	}
}

// An ignored filter would show a partner all its customers.
func TestEachGenerationTakesTheFiltersOfBoth(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, filter := range []string{
		"page=1&CustomerType=Consumer", "page=1&customerType=Consumer", "page=1&CustomerID=nobody",
		"page=1&customerId=nobody", "page=1&achCompanyID=1234567890", "page=1&status=Suspended",
		"page=1&customerUID=7", "page=1&taxId=nobody",
	} {
		for _, path := range []string{"/customers?", "/v2/customers?"} {
			said := b.get(b.program(), path+"limit=10&"+filter)
			if said.status != http.StatusOK || strings.Contains(said.body, "Acme") != strings.Contains(filter, "ach") {
				t.Errorf("%s%s: %d %s", path, filter, said.status, said.body)
			}
		}
	}
}
