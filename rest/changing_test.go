package rest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/uptrace/bun"
)

// changing are the operations that change something, in the fullest form. Their answers are golden files of
// the same name.
var changing = []operation{
	{
		"signatories_add", http.MethodPost, "/v1/customers/{C}/signatories",
		`{"fullName": "Ada Byron", "emailAddress": "ada@acme.example", "title": "CFO", "phoneNumber": "(614) 555-0123", "approvalLimit": 2500.5}`,
	},
	{
		"signatories_change", http.MethodPatch, "/v1/customers/{C}/signatories/{S}",
		`{"title": "President", "approvalLimit": 0}`,
	},
	{"signatories_remove", http.MethodDelete, "/v1/customers/{C}/signatories/{S}", ""},
	{
		"contacts_add_g1", http.MethodPost, "/customers/{C}/contacts",
		`{"externalReferenceId": "lumen-1", "templateName": "Lumen Optik", "emailAddress": "post@lumen.example", "otherInfo": {"beneficiaryNotes": "quarterly", "otherBeneBankInfo": "none"}, "name": "Lumen Optik GmbH", "phoneNumber": "030 901820", "address": {"addressLine1": "Hauptstr. 3", "addressLine2": "Hof 2", "city": "Berlin", "state": "BE", "postalCode": "10115", "countryCode": "DEU", "country": "Germany"}, "contactBank": {"country": "Germany", "accountNo": "DE89 3704 0044 0532 0130 00", "accountCcy": "eur", "name": "Rhein Bank", "address": {"addressLine1": "Ufer 1", "city": "Bonn", "postalCode": "53111", "countryCode": "DE"}, "nationalCode": "37040044", "swiftCode": "rhnudef0"}, "intermediaryBank": {"country": "United States", "name": "Middle Bank", "nationalCode": "611090001", "swiftCode": "MIDLUS33", "coverMessageRequired": true, "address": {"addressLine1": "1 Wall St", "addressLine2": "Floor 2", "addressLine3": "Desk 3", "city": "New York", "state": "NY", "postalCode": "10005", "countryCode": "US"}}, "regulartoryReporting": [{"key": "taxid", "value": "DE1234567"}, {"key": "routingNumber", "value": "611090001"}]}`,
	},
	{
		"contacts_change_g1", http.MethodPut, "/customers/{C}/contacts/{K}",
		`{"externalReferenceId": "lumen-1", "templateName": "Lumen Optik", "emailAddress": "post@lumen.example", "otherInfo": {"beneficiaryNotes": "quarterly", "otherBeneBankInfo": "none"}, "name": "Lumen Optik GmbH", "phoneNumber": "030 901820", "address": {"addressLine1": "Hauptstr. 3", "addressLine2": "Hof 2", "city": "Berlin", "state": "BE", "postalCode": "10115", "countryCode": "DEU", "country": "Germany"}, "contactBank": {"country": "Germany", "accountNo": "DE89 3704 0044 0532 0130 00", "accountCcy": "eur", "name": "Rhein Bank", "address": {"addressLine1": "Ufer 1", "city": "Bonn", "postalCode": "53111", "countryCode": "DE"}, "nationalCode": "37040044", "swiftCode": "rhnudef0"}, "intermediaryBank": {"country": "United States", "name": "Middle Bank", "nationalCode": "611090001", "swiftCode": "MIDLUS33", "coverMessageRequired": true, "address": {"addressLine1": "1 Wall St", "addressLine2": "Floor 2", "addressLine3": "Desk 3", "city": "New York", "state": "NY", "postalCode": "10005", "countryCode": "US"}}, "regulartoryReporting": [{"key": "taxid", "value": "DE1234567"}, {"key": "routingNumber", "value": "611090001"}]}`,
	},
	{
		"contacts_add_v2", http.MethodPost, "/v2/customers/{C}/contacts",
		`{"templateName": "Lumen Optik", "email": "post@lumen.example", "otherInfo": {"beneNotes": "quarterly", "otherBeneBankInfo": "none"}, "name": "Lumen Optik GmbH", "phoneNumber": "030 901820", "address": {"addressLine1": "Hauptstr. 3", "addressLine2": "Hof 2", "city": "Berlin", "state": "BE", "postalCode": "10115", "countryCode": "DEU", "country": "Germany"}, "contactBank": {"country": "Germany", "accountNo": "DE89 3704 0044 0532 0130 00", "accountCcy": "eur", "name": "Rhein Bank", "address": {"addressLine1": "Ufer 1", "city": "Bonn", "postalCode": "53111", "countryCode": "DE"}, "nationalCode": "37040044", "swiftCode": "rhnudef0", "accountType": "deposit", "accountSubType": "savings"}, "intermediaryBank": {"country": "United States", "name": "Middle Bank", "nationalCode": "611090001", "swiftCode": "MIDLUS33", "coverMessageRequired": true, "address": {"addressLine1": "1 Wall St", "addressLine2": "Floor 2", "addressLine3": "Desk 3", "city": "New York", "state": "NY", "postalCode": "10005", "countryCode": "US"}}, "regulartoryReporting": [{"key": "taxid", "value": "DE1234567"}, {"key": "routingNumber", "value": "611090001"}]}`,
	},
	{
		"contacts_change_v2", http.MethodPut, "/v2/customers/{C}/contacts/{K}",
		`{"templateName": "Lumen Optik", "email": "post@lumen.example", "otherInfo": {"beneNotes": "quarterly", "otherBeneBankInfo": "none"}, "name": "Lumen Optik GmbH", "phoneNumber": "030 901820", "address": {"addressLine1": "Hauptstr. 3", "addressLine2": "Hof 2", "city": "Berlin", "state": "BE", "postalCode": "10115", "countryCode": "DEU", "country": "Germany"}, "contactBank": {"country": "Germany", "accountNo": "DE89 3704 0044 0532 0130 00", "accountCcy": "eur", "name": "Rhein Bank", "address": {"addressLine1": "Ufer 1", "city": "Bonn", "postalCode": "53111", "countryCode": "DE"}, "nationalCode": "37040044", "swiftCode": "rhnudef0", "accountType": "deposit", "accountSubType": "savings"}, "intermediaryBank": {"country": "United States", "name": "Middle Bank", "nationalCode": "611090001", "swiftCode": "MIDLUS33", "coverMessageRequired": true, "address": {"addressLine1": "1 Wall St", "addressLine2": "Floor 2", "addressLine3": "Desk 3", "city": "New York", "state": "NY", "postalCode": "10005", "countryCode": "US"}}, "regulartoryReporting": [{"key": "taxid", "value": "DE1234567"}, {"key": "routingNumber", "value": "611090001"}]}`,
	},
	{
		"beneficiary_add", http.MethodPost, "/v1/customers/{C}/beneficiary",
		`{"templateName": "LumenOptik", "email": "post@lumen.example", "otherInfo": {"beneNotes": "quarterly", "otherBeneBankInfo": "none"}, "name": "Lumen Optik GmbH", "phoneNumber": "030 901820", "address": {"addressLine1": "Hauptstr. 3", "addressLine2": "Hof 2", "city": "Berlin", "state": "BE", "postalCode": "10115", "countryCode": "DEU", "country": "Germany"}, "contactBank": {"country": "Germany", "accountNo": "DE89 3704 0044 0532 0130 00", "accountCcy": "eur", "name": "Rhein Bank", "address": {"addressLine1": "Ufer 1", "city": "Bonn", "postalCode": "53111", "countryCode": "DE"}, "nationalCode": "37040044", "swiftCode": "rhnudef0", "accountType": "deposit", "accountSubType": "savings"}, "intermediaryBank": {"country": "United States", "name": "Middle Bank", "nationalCode": "611090001", "swiftCode": "MIDLUS33", "coverMessageRequired": true, "address": {"addressLine1": "1 Wall St", "addressLine2": "Floor 2", "addressLine3": "Desk 3", "city": "New York", "state": "NY", "postalCode": "10005", "countryCode": "US"}}, "regulartoryReporting": [{"key": "taxid", "value": "DE1234567"}, {"key": "routingNumber", "value": "611090001"}]}`,
	},
	{
		"beneficiary_change", http.MethodPatch, "/v1/customers/{C}/beneficiary/{K}",
		`{"templateName": "LumenOptik", "email": "post@lumen.example", "otherInfo": {"beneNotes": "quarterly", "otherBeneBankInfo": "none"}, "name": "Lumen Optik GmbH", "phoneNumber": "030 901820", "address": {"addressLine1": "Hauptstr. 3", "addressLine2": "Hof 2", "city": "Berlin", "state": "BE", "postalCode": "10115", "countryCode": "DEU", "country": "Germany"}, "contactBank": {"country": "Germany", "accountNo": "DE89 3704 0044 0532 0130 00", "accountCcy": "eur", "name": "Rhein Bank", "address": {"addressLine1": "Ufer 1", "city": "Bonn", "postalCode": "53111", "countryCode": "DE"}, "nationalCode": "37040044", "swiftCode": "rhnudef0", "accountType": "deposit", "accountSubType": "savings"}, "intermediaryBank": {"country": "United States", "name": "Middle Bank", "nationalCode": "611090001", "swiftCode": "MIDLUS33", "coverMessageRequired": true, "address": {"addressLine1": "1 Wall St", "addressLine2": "Floor 2", "addressLine3": "Desk 3", "city": "New York", "state": "NY", "postalCode": "10005", "countryCode": "US"}}, "regulartoryReporting": [{"key": "taxid", "value": "DE1234567"}, {"key": "routingNumber", "value": "611090001"}]}`,
	},
	{
		"customers_create_g1", http.MethodPost, "/customers",
		`{"externalReferenceId": "ref-9", "legalName": "Lakeside Dairy LLC", "shortName": "lakeside", "customerId": "L-1", "customerType": "Corporate", "taxId": "12-3456780", "achCompanyID": "1123456780", "lei": "DEMO00BNKG0000000127", "swiftcode": "MUSTDEFF", "language": "Spanish", "emailAddress": "office@lakeside.example", "phoneNumber": "614 555 0123", "faxNumber": "614 555 0124", "website": "https://lakeside.example", "logoUrl": "https://lakeside.example/logo.png", "linkedinUrl": "linkedin.example/lakeside", "twitterUrl": "twitter.example/lakeside", "legalAddress": {"addressLine1": "2 Lake Rd", "addressLine2": "Floor 1", "city": "Erie", "state": "PA", "postalCode": "16501", "countryCode": "US", "country": "United States"}, "mailAddressSameAsLegal": false, "mailingAddress": {"addressLine1": "PO Box 12", "city": "Erie", "countryCode": "US"}, "relationshipType": "ThirdParty", "partnerOrgShortName": "CEDAR1000001", "costCenter": "CC1", "relationshipManager": "mjones", "originatingOfficer": "mjones", "parentEntityShortName": "acme", "secCodes": ["CCD", "ppd"], "note": "a note", "legalEntityAccessSettings": {"allowOnlineAccess": true, "paymentLimitforFirstApprover": 12.5, "paymentLimitforSecondApprover": 999999999.99, "paymentNumberOfApprovers": 2}, "addtionalProfileDetails": [{"creditclient": true, "achNonPrefund": true, "achNonPrefundLimit": "2500.00", "fxPricingTier": "Gold", "crediValueAdjustment": "0.25", "detailsofCharge": "OUR"}]}`,
	},
	{
		"customers_create_v2", http.MethodPost, "/v2/customers",
		`{"legalName": "Lakeside Bakery LLC", "shortName": "lakeside", "customerId": "L-1", "customerType": "Corporate", "taxId": "12-3456789", "lei": "DEMO00BNKG0000000127", "swiftCode": "MUSTDEFF", "language": "English", "emailAddress": "office@lakeside.example", "phoneNumber": "614 555 0123", "faxNumber": "614 555 0124", "webSite": "https://lakeside.example", "logoUrl": "https://lakeside.example/logo.png", "linkedinUrl": "linkedin.example/lakeside", "twitterUrl": "twitter.example/lakeside", "legalAddress": {"addressLine1": "1 Lake Rd", "city": "Erie", "state": "PA", "postalCode": "16501", "countryCode": "USA"}, "mailAddressSameAsLegal": true, "relationshipType": "thirdparty", "partnerOrgShortName": "cedar1000001", "costCenter": "CC1", "relationshipManager": "mjones", "originatingOfficer": "mjones", "parentEntityShortName": "acme", "additionalProfileDetails": {"sso": true, "fxPricingTier": "Gold", "creditValueAdjustment": "0.25", "detailsOfCharge": "SHA"}, "note": "a note", "legalEntityAccessSettings": {"allowOnlineAccess": true, "paymentNumberOfApprovers": 1}, "additionalAttributes": [{"attributeName": "region", "value": "East"}]}`,
	},
	{
		"customers_change_g1", http.MethodPut, "/customers/{C}",
		`{"externalReferenceId": "ref-10", "legalName": "Acme Ltd", "customerType": "Consumer", "taxId": "98-7654321", "achCompanyID": "2234567890", "legalAddress": {"addressLine2": "Floor 3"}, "mailAddressSameAsLegal": true, "costCenter": "CC9", "relationshipManager": "mjones", "secCodes": ["ccd"], "legalEntityAccessSettings": {"paymentLimitforFirstApprover": 20}, "addtionalProfileDetails": [{"crediValueAdjustment": "1"}]}`,
	},
	{
		"customers_change_v2", http.MethodPut, "/v2/customers/{C}",
		`{"legalName": "Acme Ltd", "shortName": "ignored", "status": "Suspended", "customerType": "Consumer", "taxId": "98-7654321", "legalAddress": {"addressLine2": "Floor 3", "countryCode": "CA"}, "mailAddressSameAsLegal": true, "costCenter": "CC9", "relationshipManager": "mjones", "note": "", "legalEntityAccessSettings": {"paymentLimitforFirstApprover": 20.25, "paymentNumberOfApprovers": 2, "allowOnlineAccess": false}, "additionalProfileDetails": {"creditValueAdjustment": "0.75", "sso": false}, "limits": [{"appName": "Payments", "appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "70000.00"}, {"key": "FEDWIRE_PAYMENT_LIMIT_PER_DAY", "value": 250.5}]}]}`,
	},
	{
		"users_create", http.MethodPost, people + "/users",
		`{"loginId": "lena.fischer", "firstName": "Lena", "lastName": "Fischer", "email": "lena@acme.example", "phoneNumber": "+1 614-555-0124", "mobile": "+1 (614) 555 0125", "department": "Treasury", "roleNames": ["clerk"], "applicationLimits": [{"name": "Payments", "limits": [{"name": "Daily_Payment_Limits", "value": 100.5}]}]}`,
	},
	{
		"users_change", http.MethodPut, people + "/users/{U}",
		`{"firstName": "Rut", "roleNames": ["Clerk"], "applicationLimits": [{"name": "Payments"}]}`,
	},
	{"users_suspend_patch", http.MethodPatch, people + "/users/{U}/suspend", ""},
	{"users_suspend", http.MethodPut, people + "/users/{U}/suspend", ""},
	{"users_activate_patch", http.MethodPatch, people + "/users/{L}/activate", ""},
	{"users_activate", http.MethodPut, people + "/users/{L}/activate", ""},
	{
		"roles_create", http.MethodPost, people + "/roles",
		`{"name": "Viewer", "description": "Looks", "applications": [{"name": "Digital_Banking_Portal", "entitlements": ["View_Portal"]}, {"name": "Payments", "entitlements": ["View_Payments"], "limits": [{"name": "Daily_Payment_Limits", "value": 0}]}]}`,
	},
	{
		"limits_change", http.MethodPatch, "/v1/customers/{C}/limits",
		`[{"entityLimitId": "ach_payment_limit_per_day", "entityLimitValue": "60000.5", "applicationId": "4cd5c6b0-3f0e-4f5c-9a43-0c2bb5c1a001"}, {"entityLimitId": "NO_OF_ACH_FILES_PER_DAY", "entityLimitValue": "3"}]`,
	},
	{
		"fees_add", http.MethodPost, "/v1/customers/{C}/fees",
		`{"application": "payments", "accountNumber": "70100000001", "feeTier": "gold", "feeName": "ON", "product": "outgoing payment"}`,
	},
	{
		"fees_change", http.MethodPut, "/v1/customers/{C}/fees/1",
		`{"application": "Payments", "accountNumber": "70100000001", "feeTier": "Gold", "feeName": "ON", "product": "Outgoing Payment"}`,
	},
	{
		"accounts_g1_open", http.MethodPost, "/customers/{C}/accounts",
		`{"externalReferenceId": "ref-77", "accountName": "Petty Cash 2", "accountNumber": "4000500001", "accountType": "Deposit",
		"accountSubType": "Saving", "currency": "USD", "countryCode": "USA", "enableOffset": "Yes", "enableWire": "True", "defaultOffset": "No", "feeAccount": "No",
		"returnAccount": "False", "systemOfRecords": "Other Core", "routingNumber": "021000021", "masterGl": "201000"}`,
	},
	{
		"accounts_g1_change", http.MethodPut, "/customers/{C}/accounts/{A}",
		`{"accountName": "Main account", "accountId": "{A}", "externalReferenceId": 4711, "country": "Canada", "routingNumber": "000300002", "feeAccount": "No"}`,
	},
	{"accounts_g1_delete", http.MethodDelete, "/customers/{C}/accounts/{X}", ""},
	{
		"accounts_v2_open", http.MethodPost, "/v2/customers/{C}/accounts",
		`{"accountName": "Payroll", "accountNumber": "4000500002", "accountType": "Deposit", "accountSubType": "MoneyMarket",
		"currency": "USD", "costCenter": "CC-9", "enableOffset": "Yes", "enableWire": "Yes", "feeAccount": "No", "systemOfRecords": "External", "routingNumber": "021000021", "bankIdType": "NID",
		"masterGl": "202000", "reason": "payroll of the new plant", "isUnderWritten": true, "debitExposureLimit": 2500.5, "creditExposureLimit": 1000, "accountAnalysis": true,
		"enableCallbacks": true, "callbackLimit": 999999999.99, "secCodes": ["PPD", "CCD"], "achCompanyId": "9876543210", "accountFeatures": {"rfpReceive": true, "rfpSend": false},
		"additionalAttributes": [{"attributeName": "Desk", "value": "7"}]}`,
	},
	{
		"accounts_v2_change", http.MethodPut, "/v2/customers/{C}/accounts/{A}",
		`{"costCenter": "CC-2", "accountType": "Deposit", "accountSubType": "Savings", "enableWire": "No", "isUnderWritten": false, "isAchPrefund": true}`,
	},
	{"accounts_v2_delete", http.MethodDelete, "/v2/customers/{C}/accounts/{X}", ""},
	{
		"accounts_v2_activate", http.MethodPatch, "/v2/customers/{C}/accounts/{X}",
		`{"reason": "the loan is in use again", "action": "Activate"}`,
	},
	{
		"accounts_v2_close", http.MethodPatch, "/v2/customers/{C}/accounts/{X}",
		`{"reason": "paid back", "action": "Close"}`,
	},
	{
		"accounts_v3_open", http.MethodPost, "/v3/customers/{C}/accounts",
		`{"accountName": "Customer Funds", "accountNumber": "4000500003", "accountType": "Deposit", "accountSubType": "Pseudo", "currency": "USD",
		"countryCode": "US", "costCenter": "CC-9", "fboAccountNumber": "{N}", "systemOfRecords": "Internal Core", "routingNumber": "021000021", "masterGl": "206000", "reason": "new programme", "bankIdType": "NID",
		"accountFeatures": {"accountAnalysis": true, "feeAccount": "Yes", "returnAccount": "No", "enableAchPositivePay": true,
			"fedWireFeature": {"enableWire": true, "enableDomesticWire": true, "enableInternationalWire": true, "enableCallbacks": false},
			"fedNowFeature": {"enableFedNow": true, "fednowSendOrReceive": true, "fednowReceiveOnly": false, "fednowRfpReceive": true, "fednowRfpSend": true},
			"rtpFeature": {"enableRtp": true, "rtpSend": true, "rtpRfpSend": false},
			"achFeature": {"enableACH": true, "enableOffset": true, "defaultOffset": true, "enableUnderWritten": false, "enableAchPrefund": true, "debitExposureLimit": 0.01, "achCompanyId": "55", "secCodes": ["WEB", "XCK"]}},
		"externalAccount": {"externalProvider": "linkhub", "externalId": "lh-1", "externalAuthToken": "token-of-linkhub"},
		"additionalAttributes": [{"attributeName": "Programme", "value": "Gift cards"}]}`,
	},
	{
		"accounts_v3_change", http.MethodPatch, "/v3/customers/{C}/accounts/{A}",
		`{"accountName": "Main account", "accountFeatures": {"fedNowFeature": {"enableFedNow": false}, "fedWireFeature": {"enableWire": false}}}`,
	},
	{
		"sweeps_set_in", http.MethodPost, "/v1/customers/{C}/accounts/{A}/sweeps/{in}",
		`{"targetBalance": 1500.5, "balanceType": "Target", "sweepFrom": {"contactId": "{K}", "paymentMethod": "AchDebit"}, "frequency": {"type": "MONTHLY", "dayOfMonth": 31}}`,
	},
	{
		"sweeps_change", http.MethodPatch, "/v1/customers/{C}/accounts/{A}/sweeps/{out}",
		`{"targetBalance": 0, "sweepTo": {"paymentMethod": "InstantPayment"}, "frequency": {"type": "DAILY"}}`,
	},
	{"sweeps_remove", http.MethodDelete, "/v1/customers/{C}/accounts/{A}/sweeps/{out}", ""},
}

// everything are all operations.
func everything() []operation { return slices.Concat(operations, changing) }

// assigned are numbers that the bank gives to what is new: they differ from run to run.
var assigned = regexp.MustCompile(
	`\b(20\d{5}|20\d{7}|10\d{5}|[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})\b`)

// changed finds the text that a body begins with; those without begin with a number.
var changed = regexp.MustCompile(`^(\[?\{"\w+": ")(.)`)

func TestEveryChangeAnswersItsGoldenBody(t *testing.T) {
	t.Parallel()
	for _, o := range changing {
		b := newBank(t)
		answer := b.ask(b.program(), o)
		answer.body = assigned.ReplaceAllString(answer.body, "999")
		answer.golden(t, o.name)
		if b.recorded() != entries(o) {
			t.Errorf("%s leaves %d audit entries", o.name, b.recorded())
		}
	}
}

// entries are how many audit entries an operation leaves: limits that are set with their customer have one of
// their own.
func entries(o operation) int {
	if o.name == "customers_change_v2" {
		return 2
	}
	return 1
}

// recorded counts the audit entries, each of which has its event.
func (b *bank) recorded() int {
	b.t.Helper()
	var entries, events int
	err := b.DB.NewRaw(
		`SELECT (SELECT count(*) FROM audit_entries WHERE tenant = ? AND decision <> 'refused'), (SELECT count(*) FROM events WHERE tenant = ?)`, b.Tenant, b.Tenant).
		Scan(b.t.Context(), &entries, &events)
	if err != nil || entries != events {
		b.t.Fatalf("%d audit entries, %d events: %v", entries, events, err)
	}
	return entries
}

// keyed is an operation about acme with an idempotency key.
func (b *bank) keyed(o operation, key string) *http.Request {
	fill := b.names(b.acme.UID, b.operating.UID, b.supplier.UID, number(b.operating))
	r := request(o.method, fill.Replace(o.path), fill.Replace(o.body))
	r.Header.Set("Idempotency-Key", key)
	return r
}

func TestARepeatedKeyHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	for _, o := range changing {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t)
			answers := make([]said, 10)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i] = b.send(b.program(), b.keyed(o, "key-1")) })
			}
			all.Wait()
			replayed := 0
			for _, answer := range answers {
				if answer.status != answers[0].status || answer.body != answers[0].body || answer.status >= 300 {
					t.Errorf("%d %s, and %d %s", answers[0].status, answers[0].body, answer.status, answer.body)
				}
				if answer.header.Get("Idempotency-Replayed") == "true" {
					replayed++
				}
			}
			if replayed != 9 || b.recorded() != entries(o) {
				t.Errorf("%d of 10 were replayed, %d audit entries", replayed, b.recorded())
			}
			second := b.send(b.Staff(), b.keyed(o, "key-1")) // another caller's key is another key
			if second.header.Get("Idempotency-Replayed") != "" {
				t.Errorf("another caller is answered with the first one's answer: %s", second.body)
			}
			if o.body == "" {
				return
			}
			other := o
			other.body = changed.ReplaceAllString(o.body, "${1}X${2}")
			if other.body == o.body {
				other.body = strings.Replace(o.body, `": `, `": 1`, 1)
			}
			again := b.send(b.program(), b.keyed(other, "key-1"))
			again.refused(t, "another body", http.StatusConflict, "IDEMPOTENCY_KEY_REUSED", "used for another request")
		})
	}
}

func TestWhoRepeatsARequestInFlightIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO idempotency_keys (tenant, client, operation, key, request) VALUES (?, 'partner', 'addSignatory', 'k', '')`, b.Tenant)
		answer := b.send(b.program(),
			b.keyed(changing[slices.IndexFunc(changing,
				func(o operation) bool { return o.name == "signatories_add" })], "k"))
		answer.refused(t, "in flight", http.StatusConflict, "IDEMPOTENCY_IN_FLIGHT", "still being worked on")
		if got := answer.header.Get("Retry-After"); got != "1" {
			t.Errorf("Retry-After: %q", got)
		}
		return cmp.Or(err, errors.New("nothing of it stays"))
	})
	if err == nil || b.recorded() != 0 {
		t.Error(err)
	}
}

func TestARefusalStaysTheAnswerOfItsKey(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	o := operation{"", http.MethodPatch, "/v1/customers/{C}/signatories/4711", `{"title": "CFO"}`}
	first, second := b.send(b.program(), b.keyed(o, "k")), b.send(b.program(), b.keyed(o, "k"))
	first.refused(t, "first", http.StatusBadRequest, "SIG_SIGNATORYNOTFOUND", "no such signatory")
	if second.body != first.body || second.status != first.status ||
		second.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%d %s %v", second.status, second.body, second.header)
	}
}

func TestAnIdempotencyKeyIsPrintable(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for name, header := range map[string]http.Header{
		"empty": {"Idempotency-Key": {""}}, "long": {"Idempotency-Key": {strings.Repeat("k", 256)}},
		"odd": {"Idempotent-Key": {"k\u00e9y"}}, "two": {"Idempotency-Key": {"a"}, "Idempotent-Key": {"b"}},
	} {
		r := b.keyed(changing[0], "k")
		for _, name := range []string{"Idempotency-Key", "Idempotent-Key"} {
			r.Header[name] = header[name]
		}
		b.send(b.program(), r).refused(t, name, http.StatusBadRequest, "SIG_VALIDATION_ERROR", "Idempotency-Key")
	}
	if n := b.recorded(); n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

func TestWhoSawAnOlderVersionChangesNothing(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	o := operation{"", http.MethodPatch, "/v1/customers/{C}/signatories/{S}", `{"title": "CFO"}`}
	for i, want := range []string{`"2"`, ""} {
		r := b.keyed(o, fmt.Sprint(i))
		r.Header.Set("If-Match", `"1"`)
		answer := b.send(b.program(), r)
		if want == "" {
			answer.refused(t, "stale", http.StatusConflict, "VERSION_CONFLICT", "somebody else has changed it")
		} else if answer.header.Get("ETag") != want {
			t.Errorf("%d %s %v", answer.status, answer.body, answer.header)
		}
	}
}

// The ways in which bodies of customers are wrong, by the field that callers read.
func TestFieldsOfCustomersAreNamedAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct{ path, body, message string }{
		{"/customers/{C}", `{"swiftcode": "X"}`, "Customer update failed: swiftcode: must be a BIC"},
		{
			"/customers/{C}", `{"addtionalProfileDetails": [{"crediValueAdjustment": "2"}]}`,
			"addtionalProfileDetails[0].crediValueAdjustment: must be at most 1",
		},
		{"/customers/{C}", `{"addtionalProfileDetails": [{}, {}]}`, "addtionalProfileDetails: must hold one"},
		{"/v2/customers/{C}", `{"swiftCode": "X"}`, "swiftCode: must be a BIC"},
		{"/v2/customers/{C}", `{"swiftCode": "MUSTDEFF", "swiftcode": "MUSTDEFF"}`, "must be given once"},
		{
			"/v2/customers/{C}", `{"legalEntityAccessSettings": {"paymentNumberOfApprovers": 1.5}}`,
			"legalEntityAccessSettings.paymentNumberOfApprovers: must be a whole number",
		},
		{
			"/v2/customers/{C}",
			`{"limits": [{"appName": "Payments", "appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "1"}, {"key": "NOBODYS", "value": "1"}]}]}`, "limits[0].appLimits[1].key: ",
		},
		{
			"/v2/customers/{C}",
			`{"limits": [{"appName": "Foreign_Exchange", "appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "1"}]}]}`, "failed: limits[0].appName: ",
		},
		{
			"/v2/customers/{C}", `{"limits": [{"appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "-1"}]}]}`,
			"limits[0].appLimits[0].value: ",
		},
		{
			"/v2/customers/{C}", `{"shortName": "other", "owner": 0, "status": "Pending", "version": 9}`,
			"body: must change something",
		},
		{"/v2/customers/{C}", `{"note": null}`, "body: must change something"},
	} {
		answer := b.call(b.program(), http.MethodPut, strings.ReplaceAll(c.path, "{C}", b.acme.UID.String()),
			c.body)
		answer.refused(t, c.body, http.StatusBadRequest, "CUST001", c.message)
	}
	if n := b.recorded(); n != 0 {
		t.Errorf("%d changes were made", n)
	}
	ok := b.call(b.program(), http.MethodPut, "/v2/customers/"+b.acme.UID.String(),
		`{"additionalProfileDetails": {"creditValueAdjustment": 0.75}, "website": "acme.example"}`)
	if ok.status != http.StatusOK || !strings.Contains(ok.body, `"creditValueAdjustment":"0.75"`) ||
		!strings.Contains(ok.body, `"website":"acme.example"`) {
		t.Errorf("%d %s", ok.status, ok.body)
	}
}

// What regulators ask for is read masked. A partner that changes something else of the list sends the rest
// back as it reads.
func TestWhatIsReadOfAContactsReportIsTakenBack(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := fmt.Sprintf("/v1/customers/%s/beneficiary/%s", b.acme.UID, b.supplier.UID)
	var read struct {
		Data struct{ RegulartoryReporting json.RawMessage }
	}
	before := b.call(b.program(), http.MethodGet, path, "")
	if err := json.Unmarshal([]byte(before.body), &read); err != nil {
		t.Fatal(before, err)
	}
	same := b.call(b.program(), http.MethodPatch, path,
		fmt.Sprintf(`{"regulartoryReporting": %s}`, read.Data.RegulartoryReporting))
	if after := b.call(b.program(), http.MethodGet, path, ""); same.status != http.StatusOK ||
		after.body != before.body {
		t.Errorf("%d %s\n%s\nwas %s", same.status, same.body, after.body, before.body)
	}
	for _, refused := range []string{
		`{"regulartoryReporting": [{"key": "TaxId", "value": "****914820033"}]}`,
		`{"regulartoryReporting": [{"key": "TaxId", "value": 914820033}]}`,
	} {
		wrong := b.call(b.program(), http.MethodPatch, path, refused)
		if wrong.status != http.StatusBadRequest ||
			!strings.Contains(wrong.body, "regulartoryReporting[0].value") ||
			strings.Contains(wrong.body, "914820033") {
			t.Errorf("%d %s", wrong.status, wrong.body)
		}
	}
}
