package rest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/contacts"
	"bankgraph/core/coretest"
)

// credit is a request of v4 from the purse to a contact of the partner.
func credit(b *bank, more string) string {
	return fmt.Sprintf(`{"externalReferenceId": "R", "paymentAmount": 1, "paymentCurrency": "USD",
		"speed": "Instant",
		"sender": {"accountUID": %q}, "receiver": {"beneficiaryId": %q}%s}`, b.purse.UID, b.payee(), more)
}

// payee returns a new contact of the partner, who can be paid.
func (b *bank) payee() string {
	b.t.Helper()
	b.Directory()
	return b.Contact(b.partner).UID.String()
}

// work does the bank's own work once.
func (b *bank) work() {
	b.t.Helper()
	operator := access.Operator(b.t.Context(), b.Tenant, b.Code, coretest.Zone())
	for _, step := range []func() (int, error){
		func() (int, error) { return b.Payments.SendQueued(operator) },
		func() (int, error) { return b.Payments.HandOver(operator) },
		func() (int, error) { return b.Payments.Receive(operator) },
	} {
		if _, err := step(); err != nil {
			b.t.Fatal(err)
		}
	}
}

// The cost center of a payment is that which it names, in the retrieval as in the search, and without one
// that of its customer.
func TestACostCenterIsThatOfThePayment(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Exec(`UPDATE customers SET cost_center = 'CC106' WHERE tenant = ? AND uid = ?`, b.Tenant, b.partner.UID)
	for info, want := range map[string]string{
		`, "additionalInfo": {"costCenter": "CC9"}`: "CC9", "": "CC106",
	} {
		made := b.call(b.program(), http.MethodPost, "/v4/payments/credit", credit(b, info))
		_, rest, found := strings.Cut(made.body, `"paymentUID":"`)
		uid, _, _ := strings.Cut(rest, `"`)
		if made.status != http.StatusOK || !found {
			t.Fatalf("%d %s", made.status, made.body)
		}
		for _, got := range []said{
			b.get(b.program(), "/payments/"+uid),
			b.call(b.program(), http.MethodPost, "/v3/payments/search",
				`{"paymentUID": `+uid+`, "page": 1, "limit": 1}`),
		} {
			if !strings.Contains(got.body, `"costCenter":"`+want+`"`) {
				t.Errorf("%q: %s", info, got.body)
			}
		}
	}
}

func TestACreditIsFollowedToItsEnd(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for amount, ends := range map[string][]string{
		"1": {`"status":"PROCESSED"`, `"memoPostStatus":"POSTED"`, `"memoPostFailureReason":""`},
		"1.02": {
			`"status":"REJECTED"`, `"memoPostStatus":"FAILURE"`,
			`"memoPostFailureReason":"AC04: the account is closed"`,
		},
	} {
		body := strings.Replace(credit(b, ""), `"paymentAmount": 1,`, `"paymentAmount": `+amount+`,`, 1)
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", body)
		_, rest, found := strings.Cut(said.body, `"paymentUID":"`)
		uid, _, _ := strings.Cut(rest, `"`)
		if said.status != http.StatusOK || !found || !strings.Contains(said.body, `"paymentStatus":"INITIATED"`) {
			t.Fatalf("%d %s", said.status, said.body)
		}
		follow := func(want ...string) {
			t.Helper()
			got := b.get(b.program(), "/payments/"+uid)
			want = append(want, `"deliveryMethod":"FEDNOW"`, `"wireType":"OUTGOING_PAYMENT"`, `"receiverCity":"Tampa"`,
				`"receiverBankId":"611590103"`,
				`"receiverBankName":"Old Mill Bank"`, `"receiverCountry":"United States"`,
				`"receiverBankCountry":"United States"`)
			for _, text := range want {
				if !strings.Contains(got.body, text) {
					t.Errorf("%s: %s is missing in %s", amount, text, got.body)
				}
			}
		}
		follow(`"status":"READY_TO_TRANSMIT"`, `"memoPostStatus":"NOT_POSTED"`)
		b.work()
		follow(ends...)
	}
}

// entry is a credit over ACH of a class.
func entry(b *bank, class string) string {
	return strings.Replace(credit(b, `, "additionalInfo": {"secCode": "`+class+`"}`),
		`"Instant"`, `"economy"`, 1)
}

// Whoever reads a payment sees where its remittance is.
func TestACreditSaysWhereItsRemittanceIs(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Exec(`UPDATE accounts SET enable_rtp = true, rtp_send = true WHERE tenant = ? AND uid = ?`, b.Tenant,
		b.purse.UID)
	for method, at := range map[string]string{"emal": "accounts@harborsupply.example", "URID": "R-4711"} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", credit(b,
			`, "additionalInfo": {"remittanceMethod": "`+method+`", "paymentRemittanceNotes": "R-4711"}`))
		if said.status != http.StatusOK {
			t.Fatal(said.status, said.body)
		}
		got := b.call(b.program(), http.MethodPost, "/v3/payments/search", `{"page": 1, "limit": 1}`)
		for _, text := range []string{
			`"deliveryMethod":"RTP"`, `"remittanceMethod":"` + strings.ToUpper(method) + `"`,
			`"remittanceAddress":"` + at + `"`,
		} {
			if !strings.Contains(got.body, text) {
				t.Errorf("%s is missing in %s", text, got.body)
			}
		}
	}
}

// An entry of ACH waits for its window, which the answers tell.
func TestAnEntryOfACHIsTaken(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", entry(b, "ccd"))
	if said.status != http.StatusOK || !strings.Contains(said.body, `"paymentStatus":"INITIATED"`) {
		t.Fatal(said.status, said.body)
	}
	got := b.call(b.program(), http.MethodPost, "/v3/payments/search",
		`{"deliveryMethod": "ACH", "page": 1, "limit": 5}`)
	for _, text := range []string{
		`"deliveryMethod":"ACH"`, `"status":"READY_TO_TRANSMIT"`,
		`"paymentDate":"2026-11-19"`, `"totalRecords":1`,
	} {
		if !strings.Contains(got.body, text) {
			t.Errorf("%s is missing in %s", text, got.body)
		}
	}
}

// Each mistake has its own code in v4, and all are told at once; v3 tells them in one message.
func TestACreditNamesEveryMistake(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for body, codes := range map[string][]string{
		`{}`: {
			"CREDIT_EXTERNALREF_REQUIRED", "CREDIT_AMOUNT_REQUIRED", "CREDIT_CURRENCY_REQUIRED",
			"CREDIT_SPEED_REQUIRED", "SENDER_ACCOUNT_REQUIRED", "BENEFICIARY_REQUIRED",
		},
		strings.Replace(credit(b, ""), `"R"`, `"a/b"`, 1): {"CREDIT_EXTERNALREF_PATTERN"},
		strings.Replace(credit(b, ""), `"R"`, `"`+strings.Repeat("x", 51)+`"`,
			1): {"CREDIT_EXTERNALREF_MAX"},
		strings.Replace(credit(b, ""), `t": 1,`, `t": 0,`, 1): {"CREDIT_AMOUNT_MIN"},
		strings.Replace(credit(b, ""), `t": 1,`, `t": 1.001,`,
			1): {"CREDIT_AMOUNT_INVALID"},
		strings.Replace(credit(b, ""), `t": 1,`, `t": 501,`,
			1): {"SENDER_ACCOUNT_INSUFFICIENTFUNDS"},
		strings.Replace(credit(b, ""), `t": 1,`, `t": 1000001,`, 1): {"CREDIT_AMOUNT_LIMIT"},
		strings.Replace(credit(b, ""), `"USD"`, `"XXQ"`,
			1): {"CREDIT_CURRENCY_INVALID"},
		strings.Replace(credit(b, ""), `"USD"`, `"EUR"`,
			1): {"CREDIT_CURRENCY_NOMATCH"},
		strings.Replace(credit(b, ""), `"Instant"`, `"Soon"`, 1): {"CREDIT_SPEED_INVALID"},
		strings.Replace(credit(b, ""), `"Instant"`, `"SPOT"`,
			1): {"ADDITIONALINFO_FXCONTRACT_REQUIRED", "CREDIT_NOTES_REQUIRED"},
		strings.Replace(credit(b, ""), b.purse.UID.String(), b.hidden.UID.String(),
			1): {"SENDER_ACCOUNT_NOTFOUND"}, strings.Replace(credit(b, ""), b.purse.UID.String(), "4711",
			1): {"SENDER_ACCOUNT_NOTFOUND"},
		strings.Replace(credit(b, ""), b.purse.UID.String(), b.pseudo.UID.String(),
			1): {"BENEFICIARY_ID_NOTFOUND"},
		strings.Replace(credit(b, ""), `"beneficiaryId": "`, `"beneficiaryId": "4711`,
			1): {"BENEFICIARY_ID_NOTFOUND"},
		strings.Replace(credit(b, ""), `"Instant"`, `"Economy"`,
			1): {"ADDITIONALINFO_SECCODE_REQUIRED"},
		entry(b, "POP"): {"ADDITIONALINFO_SECCODE_INVALID"}, entry(b, "CTX"): {"ADDITIONALINFO_SECCODE_NOTALLOWED"},
		credit(b, `, "paymentDate": "11-17-2026"`): {"CREDIT_DATE_MIN"},
		strings.Replace(credit(b, `, "paymentDate": "11-26-2026"`), `"Instant"`, `"Express"`,
			1): {"CREDIT_DATE_INVALID"},
		credit(b,
			`, "recurrence": {"frequency": "Daily"}`): {"RECURRENCE_PAYUNTIL_REQUIRED"},
		credit(b,
			`, "recurrence": {"frequency": "Daily", "payUntil": "EndDate"}`): {"RECURRENCE_ENDDATE_REQUIRED"},
		credit(b,
			`, "recurrence": {"frequency": "Daily", "payUntil": "EndDate", "endDate": "11-01-2026"}`): {
			"RECURRENCE_ENDDATE_INVALID",
		},
		credit(b,
			`, "recurrence": {"frequency": "Daily", "payUntil": "EndDate", "endDate": "soon"}`): {
			"RECURRENCE_ENDDATE_INVALID",
		},
		credit(b,
			`, "recurrence": {"frequency": "Daily", "payUntil": "NumberOfPayments"}`): {"RECURRENCE_COUNT_REQUIRED"},
		credit(b,
			`, "recurrence": {"frequency": "Often", "payUntil": "NumberOfPayments", "numberOfPayments": 0}`): {
			"RECURRENCE_FREQUENCY_INVALID", "RECURRENCE_COUNT_INVALID",
		},
		credit(b,
			`, "additionalInfo": {"detailsOfCharges": "ALL"}`): {"ADDITIONALINFO_DETAILSOFCHARGES_INVALID"},
		credit(b,
			`, "additionalInfo": {"localInstruments": "COVS"}`): {"ADDITIONALINFO_LOCALINSTRUMENTS_INVALID"},
		credit(b,
			`, "additionalInfo": {"remittanceMethod": "FAXI"}`): {"ADDITIONALINFO_REMITTANCEMETHOD_INVALID"},
		credit(b,
			`, "additionalInfo": {"remittanceMethod": "URID"}`): {"CREDIT_REMITTANCE_REQUIRED"},
		entry(b,
			`CCD", "remittanceMethod": "EMAL`): {"ADDITIONALINFO_REMITTANCEMETHOD_NOTALLOWED"},
		entry(b,
			`CCD", "localInstruments": "FDNA`): {"ADDITIONALINFO_LOCALINSTRUMENTS_NOTALLOWED"},
		credit(b, `, "additionalInfo": {"paymentRemittanceNotes": "`+strings.Repeat("x",
			141)+`"}`): {"CREDIT_REMITTANCE_MAX"},
		strings.Replace(credit(b, ""), `"sender"`, `"paymentNotes": "`+strings.Repeat("x", 216)+`", "sender"`,
			1): {"CREDIT_NOTES_MAX"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", body)
		if said.status != http.StatusBadRequest || strings.Count(said.body, `"code"`) != len(codes) {
			t.Errorf("%s: %d %s", body, said.status, said.body)
		}
		for _, code := range codes {
			if !strings.Contains(said.body, `"code":"`+code+`"`) {
				t.Errorf("%s: %s is missing in %s", body, code, said.body)
			}
		}
	}
	b.call(b.program(), http.MethodPost, "/v3/payments/creditrequest", `{}`).refused(t, "v3",
		http.StatusBadRequest, "PAYMENT001",
		"Credit request failed: externalReferenceId: is required; paymentAmount: is required")
	old := b.call(b.program(), http.MethodPost, "/v3/payments/creditrequest",
		strings.Replace(credit(b, ""), "beneficiaryId", "accountUID", 1))
	if old.status != http.StatusOK || old.header.Get("Deprecation") == "" ||
		!strings.Contains(old.header.Get("Link"), "/v4/payments/credit") {
		t.Errorf("%d %v %s", old.status, old.header, old.body)
	}
}

// ourRouting is the routing number of the tests' bank.
const ourRouting = "611090001"

// inFull is a credit of v4 between parties that are described in full, with some texts replaced.
func inFull(b *bank, replaced ...string) string {
	b.Directory()
	return strings.NewReplacer(replaced...).Replace(fmt.Sprintf(`{"externalReferenceId": "R", "paymentAmount": 1,
		"paymentCurrency": "USD", "speed": "Instant", "sender": {"accountNumber": %q,
			"accountType": "Deposit", "name": "Acme",
		"entityType": "Corporate", "bankIdType": "NID", "bankId": %q,
		"address": {"addressLine1": "1 Main St", "city": "Columbus", "countryCode": "US"}},
		"receiver": {"accountNumber": "440055551", "name": "Rosa", "accountCurrency": "USD",
		"bank": {"bankIdType": "NID", "bankId": "611590103"}}}`,
		coretest.AccountNumber(b.purse.UID), ourRouting))
}

func TestACreditBetweenDescribedPartiesNamesEveryMistake(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	silent := b.Account(b.partner, coretest.Holding(500_00, 0)) // sends over no network
	if said := b.call(b.program(), http.MethodPost, "/v4/payments/credit",
		inFull(b)); said.status != http.StatusOK {
		t.Fatal(said.status, said.body)
	}
	for kind, bic := range map[string]string{"BIC": "TSTBUS33", "swift": "tstbus33XXX"} {
		if said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", inFull(b,
			`"bankIdType": "NID", "bankId": "`+ourRouting+`"`,
			`"bankIdType": "`+kind+`", "bankId": "`+bic+`"`),
		); said.status != http.StatusOK {
			t.Errorf("%s %s: %d %s", kind, bic, said.status, said.body)
		}
	}
	for _, c := range []struct{ was, is, code string }{
		{`"440055551"`, `"4400*5551"`, "BENEFICIARY_ACCTNUM_PATTERN"},
		{`"accountNumber": "440055551", `, ``, "BENEFICIARY_ACCTNUM_REQUIRED"},
		{`"bankId": "611590103"`, `"name": "Old Mill Bank"`, "RECEIVERBANK_BANKID_REQUIRED"},
		{`"611590103"`, `"611590104"`, "RECEIVERBANK_BANKID_INVALID"},
		{`"611590103"`, `"026009593"`, "RECEIVERBANK_BANKID_NOTFOUND"},
		{coretest.AccountNumber(b.purse.UID), "12#4", "SENDER_ACCOUNT_PATTERN"},
		{
			`"entityType": "Corporate", "bankIdType": "NID"`, `"entityType": "Corporate", "bankIdType": "Foo"`,
			"SENDER_BANKIDTYPE_INVALID",
		},
		{
			`"entityType": "Corporate", "bankIdType": "NID"`, `"entityType": "Corporate", "bankIdType": "BIC"`,
			"SENDER_BANKID_NOMATCH",
		},
		{`"bankId": "` + ourRouting + `",`, ``, "SENDER_BANKID_REQUIRED"},
		{ourRouting, "026009593", "SENDER_BANKID_NOMATCH"},
		{`"addressLine1": "1 Main St", `, ``, "SENDER_ADDRESS_REQUIRED"},
		{`"611590103"`, `"011000015"`, "CREDIT_ROUTE_NOTFOUND"},
		{coretest.AccountNumber(b.purse.UID), coretest.AccountNumber(silent.UID), "CREDIT_SPEED_NOTENABLED"},
		{`"speed"`, `"fee": {"amount": 0}, "speed"`, "FEE_AMOUNT_MIN"},
		{`"speed"`, `"fee": {"amount": 10000000.01}, "speed"`, "FEE_AMOUNT_MAX"},
		{`"speed"`, `"fee": {"amount": 1, "currency": "EUR"}, "speed"`, "FEE_CURRENCY_NOMATCH"},
		{`"speed"`, `"fee": {"feeName": "Courier"}, "speed"`, "FEE_AMOUNT_REQUIRED"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", inFull(b, c.was, c.is))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"`+c.code+`"`) {
			t.Errorf("%s for %s: %d %s", c.is, c.was, said.status, said.body)
		}
	}
	said := b.call(b.program(), http.MethodPost, "/v4/payments/credit",
		inFull(b, `"440055551"`, `"44-00 #5551/(2)"`))
	if said.status != http.StatusOK {
		t.Errorf("an account number of another bank has the published signs: %d %s", said.status, said.body)
	}
	found := b.call(b.program(), http.MethodPost, "/v3/payments/search",
		`{"page": 1, "limit": 10, "receiverAccountNo": "44-00 #5551/(2)"}`)
	if !strings.Contains(found.body, `"totalRecords":1,`) ||
		!strings.Contains(found.body, `"paymentUID":`+member(said.body, "paymentUID")) {
		t.Error(found.body)
	}
	for number, code := range map[string]string{
		"00-00": "ALLZERO", "--": "ALLZERO", " 12": "PATTERN", "12 ": "PATTERN", "****5551": "PATTERN",
		strings.Repeat("1", 36): "MAX",
		strings.Repeat("1", 35): "MAX", // a message of FedNow has room for 34
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit",
			inFull(b, `"440055551"`, `"`+number+`"`))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body,
			`"code":"BENEFICIARY_ACCTNUM_`+code+`"`) {
			t.Errorf("%s: %d %s", number, said.status, said.body)
		}
	}
	// Entries of ACH have room for 17 characters of an account number.
	said = b.call(b.program(), http.MethodPost, "/v4/payments/credit",
		inFull(b, `"440055551"`, `"440055551123456789"`,
			`"Instant"`, `"Economy", "additionalInfo": {"secCode": "CCD"}`, `"accountCurrency"`,
			`"accountType": "Loan", "accountCurrency"`))
	if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"BENEFICIARY_ACCTNUM_MAX"`) {
		t.Errorf("%d %s", said.status, said.body)
	}
}

func TestADebitOfV4NamesEveryMistake(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	collect := fmt.Sprintf(`{"externalReferenceId": "R", "paymentAmount": 1, "paymentCurrency": "USD",
		"speed": "Economy",
		"creditor": {"accountUID": %q}, "debtor": {"accountUID": %q}, "additionalInfo": {"secCode": "CCD"}}`,
		b.purse.UID, b.payee())
	for body, codes := range map[string][]string{
		`{}`: {
			"DEBIT_EXTERNALREF_REQUIRED", "DEBIT_AMOUNT_REQUIRED",
			"DEBIT_CURRENCY_REQUIRED", "DEBIT_SPEED_REQUIRED",
			"CREDITOR_ACCOUNT_REQUIRED", "DEBTOR_ID_REQUIRED",
		},
		strings.Replace(collect, `t": 1,`, `t": 0,`, 1):                          {"DEBIT_AMOUNT_MIN"},
		strings.Replace(collect, `"Economy"`, `"SPOT"`, 1):                       {"DEBIT_SPEED_NOTALLOWED"},
		strings.Replace(collect, b.purse.UID.String(), "4711", 1):                {"CREDITOR_ACCOUNT_NOTFOUND"},
		strings.Replace(collect, `"debtor": {"accountUID"`, `"debtor": {"x"`, 1): {"DEBTOR_ID_REQUIRED"},
		strings.Replace(collect, `"CCD"`, `"TEL"`,
			1): {"ADDITIONALINFO_SECCODE_NOTALLOWED"},
		strings.Replace(collect, `"speed"`, `"paymentDate": "1", "speed"`, 1): {"DEBIT_DATE_INVALID"},
		strings.Replace(collect, `"speed"`, `"recurrence": {"frequency": "Often"}, "speed"`, 1): {
			"RECURRENCE_FREQUENCY_INVALID", "RECURRENCE_PAYUNTIL_REQUIRED",
		},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/debit", body)
		if said.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", body, said.status, said.body)
		}
		for _, code := range codes {
			if !strings.Contains(said.body, `"code":"`+code+`"`) {
				t.Errorf("%s: %s is missing in %s", body, code, said.body)
			}
		}
	}
	r := request(http.MethodPost, "/v4/payments/debit", collect)
	r.Header.Set("Idempotent-Key", "seven")
	if said := b.send(b.program(), r); !strings.Contains(said.body, "DEBIT_IDEMPOTENTKEY_INVALID") {
		t.Errorf("%d %s", said.status, said.body)
	}
	if said := b.call(b.program(), http.MethodPost, "/v4/payments/debit",
		collect); said.status != http.StatusOK {
		t.Errorf("%d %s", said.status, said.body)
	}
	monthly := `"recurrence": {"frequency": "Monthly", "payUntil": "NumberOfPayments",
		"numberOfPayments": 3}, "speed"`
	repeated := strings.Replace(collect, `"speed"`, monthly, 1)
	for _, path := range []string{"/v4/payments/debit", "/v3/payments/debitrequest", "/payments/debitrequest"} {
		said := b.call(b.program(), http.MethodPost, path, repeated)
		if said.status != http.StatusOK || !regexp.MustCompile(`"recurrenceId":[1-9]`).MatchString(said.body) {
			t.Errorf("%s, repeated: %d %s", path, said.status, said.body)
		}
		drawdown := strings.NewReplacer(`"Economy"`, `"Express"`, `, "additionalInfo": {"secCode": "CCD"}`,
			"").Replace(collect)
		said = b.call(b.program(), http.MethodPost, path, drawdown)
		if said.status != http.StatusOK || !strings.Contains(said.body, `"paymentStatus":"INITIATED"`) {
			t.Errorf("%s, drawdown: %d %s", path, said.status, said.body)
		}
		uid := regexp.MustCompile(`"paymentUID":"([0-9]+)"`).FindStringSubmatch(said.body)[1]
		details := `"fedWireDetails":{"businessFunctionCode":"DRC","comments":"",` +
			`"originatorToBeneficiaryInformation":"","imad":"","omad":""}`
		if said = b.call(b.program(), http.MethodGet, "/payments/"+uid, ""); !strings.Contains(said.body, details) {
			t.Errorf("%s, drawdown: %d %s", path, said.status, said.body)
		}
	}
}

// A speed that is wrong is told alone: what hangs on the speed is not known then. What belongs to other
// speeds is named as it was given.
func TestAWrongSpeedIsToldAlone(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	collect := func(more, info string) string {
		return fmt.Sprintf(`{"externalReferenceId": "R", "paymentAmount": 1, "paymentCurrency": "USD", %s,
			"creditor": {"accountUID": %q}, "debtor": {"accountUID": %q}, "additionalInfo": {%s}}`, more,
			b.purse.UID, b.payee(), info)
	}
	ach, swift := `"secCode": "CCD"`, `"bankIdType": "SWIFT", "swiftCode": "MUSTDEFF"`
	for _, c := range []struct{ path, body, code, field string }{
		{"/v4/payments/debit", collect(`"speed": "SPOT"`, ach), "DEBIT_SPEED_NOTALLOWED", "speed"},
		{"/v4/payments/debit", collect(`"speed": "TN"`, ach), "DEBIT_SPEED_NOTALLOWED", "speed"},
		{"/v4/payments/debit", collect(`"speed": "Fast"`, ach), "DEBIT_SPEED_INVALID", "speed"},
		{
			"/v4/payments/credit",
			credit(b,
				`, "additionalInfo": {"unstructuredAddendaInfo": {"addendaInformation": "Invoice 7",
					"addendaLength": 9}}`),
			"ADDITIONALINFO_UNSTRUCTUREDADDENDAINFO_ADDENDAINFORMATION_NOTALLOWED",
			"additionalInfo.unstructuredAddendaInfo.addendaInformation",
		},
		{
			"/v4/payments/credit", credit(b, `, "additionalInfo": {"secCode": "CCD"}`),
			"ADDITIONALINFO_SECCODE_NOTALLOWED", "additionalInfo.secCode",
		},
		{
			"/v4/payments/credit", strings.Replace(credit(b, `, "additionalInfo": {"secCode": "CCD"}`),
				"Instant", "Fast", 1), "CREDIT_SPEED_INVALID", "speed",
		},
		{"/v4/payments/credit", inFull(b, `"speed": "Instant", `, "", `"bankIdType": "NID", "bankId": "611590103"`,
			swift), "CREDIT_SPEED_REQUIRED", "speed"},
		{
			"/v4/payments/debit", collect(`"speed": "Economy"`, ach+`, "expiryDate": "11-30-2026"`),
			"ADDITIONALINFO_EXPIRYDATE_NOTALLOWED", "additionalInfo.expiryDate",
		},
		{
			"/v4/payments/debit", collect(`"speed": "Economy"`, ach+`, "earlyPayment": true`),
			"ADDITIONALINFO_EARLYPAYMENT_NOTALLOWED", "additionalInfo.earlyPayment",
		},
	} {
		said := b.call(b.program(), http.MethodPost, c.path, c.body)
		if !strings.HasPrefix(said.body, `{"errors":[{"code":"`+c.code+`","message":"`+c.field+`: `) ||
			strings.Count(said.body, `"code"`) != 1 {
			t.Errorf("%s %s: %d %s", c.path, c.body, said.status, said.body)
		}
	}
}

// An enrolment for a federal benefit is sent in every form, and shown without its numbers.
func TestAnEnrolmentIsSentAndShown(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Directory()
	b.Exec(`UPDATE accounts SET sec_codes = '{ENR}' WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.UID)
	const benefit = `"federalBenefitType": "Social Security", "accountNumber": "4400123401",
		"socialSecurityNumber": "219099999", "representativePayee": true, "firstName": "Ada",
		"lastName": "King", "subAccountType": "Savings"`
	enrolment := func(replaced ...string) string {
		return strings.NewReplacer(replaced...).Replace(fmt.Sprintf(`{
			"externalReferenceId": "R", "paymentAmount": 0,
			"paymentCurrency": "USD", "speed": "Economy", "sender": {"accountUID": %q},
			"additionalInfo": {"secCode": "ENR", "benefitReceiver": {`+benefit+`}}}`, b.purse.UID))
	}
	for _, path := range []string{
		"/payments/creditrequest", "/v3/payments/creditrequest", "/v4/payments/credit", "/v5/payments/credit",
	} {
		said := b.call(b.program(), http.MethodPost, path, enrolment())
		if said.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, said.status, said.body)
			continue
		}
		shown := b.call(b.program(), http.MethodGet, "/v3/payments/"+member(said.body, "paymentUID"), "")
		want := `"benefitReceiver":{"federalBenefitType":"Social Security","accountNumber":"****3401",` +
			`"socialSecurityNumber":"****9999","representativePayee":true,"firstName":"Ada",` +
			`"lastName":"King","subAccountType":"Savings"}`
		if !strings.Contains(shown.body, want) ||
			!strings.Contains(shown.body, `"memoPostStatus":"NOT_APPLICABLE"`) {
			t.Error(shown.body)
		}
	}
	for _, c := range []struct{ was, is, code string }{
		{`"paymentAmount": 0`, `"paymentAmount": 1`, "CREDIT_AMOUNT_MAX"},
		{`"ENR"`, `"PPD"`, "CREDIT_AMOUNT_MIN"},
		{`"benefitReceiver"`, `"benefit"`, "ADDITIONALINFO_BENEFITRECEIVER_REQUIRED"},
		{`"219099999"`, `"219-09-9999"`, "ADDITIONALINFO_BENEFITRECEIVER_SOCIALSECURITYNUMBER_NUMBER"},
		{`"Social Security"`, `"Post 911 GI Bill"`, "RECEIVERBANK_BANKID_REQUIRED"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", enrolment(c.was, c.is))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"`+c.code+`"`) {
			t.Errorf("%s for %s: %d %s", c.is, c.was, said.status, said.body)
		}
	}
}

// An entry to an account abroad is sent in every form, and shown with the bank there.
func TestAnEntryAbroadIsSentAndShown(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Directory()
	b.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.UID)
	entry := func(replaced ...string) string {
		return strings.NewReplacer(replaced...).Replace(fmt.Sprintf(`{
			"externalReferenceId": "R", "paymentAmount": 1.00,
			"paymentCurrency": "USD", "speed": "Economy", "sender": {"accountUID": %q},
			"receiver": {"accountNumber": "DE89370400440532013000", "accountType": "Deposit",
			"subAccountType": "Checking", "accountCurrency": "EUR", "name": "Gerda Muster",
				"address": {"addressLine1": "Unter den Linden 1", "city": "Berlin", "countryCode": "DE"},
				"bank": {"bankIdType": "NID", "bankId": "611590103", "name": "Commerzbank", "countryCode": "DE"}},
			"additionalInfo": {"secCode": "IAT", "transactionTypeCode": "BUS",
				"receiverIdentificationNumber": "COBADEFFXXX"}}`, b.purse.UID))
	}
	for _, path := range []string{
		"/payments/creditrequest", "/v3/payments/creditrequest", "/v4/payments/credit", "/v5/payments/credit",
	} {
		said := b.call(b.program(), http.MethodPost, path, entry())
		if said.status != http.StatusOK || strings.Contains(said.body, `"REPAIR"`) {
			t.Errorf("%s: %d %s", path, said.status, said.body)
			continue
		}
		shown := b.call(b.program(), http.MethodGet, "/v3/payments/"+member(said.body, "paymentUID"), "")
		for _, want := range []string{
			`"receiverBankName":"Commerzbank"`,
			`"receiverBankId":"611590103"`, `"receiverBankCountry":"Germany"`,
		} {
			if !strings.Contains(shown.body, want) {
				t.Errorf("%s is not in %s", want, shown.body)
			}
		}
	}
	for _, c := range []struct{ was, is, code string }{
		{`"Economy"`, `"Economy Plus"`, "ADDITIONALINFO_SECCODE_NOTALLOWED"},
		{`"transactionTypeCode": "BUS"`, `"x": 1`, "ADDITIONALINFO_TRANSACTIONTYPECODE_REQUIRED"},
		{`"BUS"`, `"XYZ"`, "ADDITIONALINFO_TRANSACTIONTYPECODE_INVALID"},
		{`"IAT"`, `"PPD"`, "ADDITIONALINFO_TRANSACTIONTYPECODE_NOTALLOWED"},
		{`"COBADEFFXXX"`, `""`, "ADDITIONALINFO_RECEIVERIDENTIFICATIONNUMBER_REQUIRED"},
		{`"COBADEFFXXX"`, `"BNPAFRPP"`, "ADDITIONALINFO_RECEIVERIDENTIFICATIONNUMBER_NOMATCH"},
		{`"city": "Berlin"`, `"city": ""`, "BENEFICIARY_ADDRESS_REQUIRED"},
		{`"Commerzbank"`, `""`, "RECEIVERBANK_NAME_REQUIRED"},
		{`"bankId": "611590103"`, `"bankId": ""`, "RECEIVERBANK_BANKID_REQUIRED"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", entry(c.was, c.is))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"`+c.code+`"`) {
			t.Errorf("%s for %s: %d %s", c.is, c.was, said.status, said.body)
		}
	}
	b.Exec(`UPDATE accounts SET sec_codes = '{PPD}' WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.UID)
	said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", entry())
	if !strings.Contains(said.body, `"ADDITIONALINFO_SECCODE_NOTALLOWED"`) {
		t.Error(said.body)
	}
	b.Exec(`UPDATE customers SET legal_city = '' WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.Customer)
	b.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.UID)
	said = b.call(b.program(), http.MethodPost, "/v4/payments/credit", entry())
	if !strings.Contains(said.body, `"SENDER_ADDRESS_REQUIRED"`) {
		t.Error(said.body)
	}
}

// A debit of IAT collects from an account abroad, and its faults have the codes of debits.
func TestADebitCollectsFromAbroad(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Directory()
	b.Exec(`UPDATE accounts SET sec_codes = '{IAT}' WHERE tenant = ? AND uid = ?`, b.Tenant, b.purse.UID)
	entry := func(replaced ...string) string {
		return strings.NewReplacer(replaced...).Replace(fmt.Sprintf(`{
			"externalReferenceId": "R", "paymentAmount": 1.00,
			"paymentCurrency": "USD", "speed": "Economy", "creditor": {"accountUID": %q},
			"debtor": {"accountNumber": "DE89370400440532013000", "accountType": "Deposit",
			"subAccountType": "Checking", "accountCurrency": "EUR", "name": "Gerda Muster",
				"address": {"addressLine1": "Unter den Linden 1", "city": "Berlin", "countryCode": "DE"},
				"bank": {"bankIdType": "NID", "bankId": "611590103", "name": "Commerzbank", "countryCode": "DE"}},
			"additionalInfo": {"secCode": "IAT", "transactionTypeCode": "BUS",
				"receiverIdentificationNumber": "COBADEFFXXX"}}`, b.purse.UID))
	}
	for _, path := range []string{"/payments/debitrequest", "/v3/payments/debitrequest", "/v4/payments/debit"} {
		said := b.call(b.program(), http.MethodPost, path, entry())
		if said.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, said.status, said.body)
			continue
		}
		shown := b.call(b.program(), http.MethodGet, "/v3/payments/"+member(said.body, "paymentUID"), "")
		if !strings.Contains(shown.body, `"senderBankName":"Commerzbank"`) ||
			!strings.Contains(shown.body, `"senderBankCountry":"Germany"`) {
			t.Error(shown.body)
		}
	}
	for _, c := range []struct{ was, is, code string }{
		{`"transactionTypeCode": "BUS"`, `"x": 1`, "ADDITIONALINFO_TRANSACTIONTYPECODE_REQUIRED"},
		{`"COBADEFFXXX"`, `""`, "ADDITIONALINFO_RECEIVERIDENTIFICATIONNUMBER_REQUIRED"},
		{`"Economy"`, `"Economy Plus"`, "ADDITIONALINFO_SECCODE_NOTALLOWED"},
		{`"Commerzbank"`, `""`, "DEBTORBANK_NAME_REQUIRED"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/debit", entry(c.was, c.is))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"`+c.code+`"`) {
			t.Errorf("%s for %s: %d %s", c.is, c.was, said.status, said.body)
		}
	}
}

// The guides of the oldest credit requests write days as answers do.
func TestTheOldestCreditRequestsTakeDaysAsTheirGuidesWriteThem(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	body := func(day string) string {
		return fmt.Sprintf(`{"externalReferenceId": "R", "paymentAmount": 1, "paymentCurrency": "USD",
			"speed": "Instant", "paymentDate": %q,
			"recurrence": {"frequency": "Monthly", "payUntil": "EndDate", "endDate": %q},
			"sender": {"accountUID": %q}, "receiver": {"accountUID": %q, "beneficiaryId": %[4]q}}`,
			day, strings.Replace(day, "11", "12", 1), b.purse.UID, b.payee())
	}
	for _, c := range []struct {
		path, day string
		status    int
	}{
		{"/payments/creditrequest", "2026-11-18", http.StatusOK},
		{"/v3/payments/creditrequest", "2026-11-18", http.StatusOK},
		{"/payments/creditrequest", "11-18-2026", http.StatusOK},
		{"/payments/creditrequest", "18-11-2026", http.StatusBadRequest},
		{"/payments/creditrequest", "11/18/2026", http.StatusBadRequest},
		{"/v4/payments/credit", "11-18-2026", http.StatusOK},
		{"/v4/payments/credit", "2026-11-18", http.StatusBadRequest},
	} {
		if said := b.call(b.program(), http.MethodPost, c.path, body(c.day)); said.status != c.status {
			t.Errorf("%s %s: %d %s", c.path, c.day, said.status, said.body)
		}
	}
}

func TestAnAmountThatNoNetworkCarriesIsToldWhatTheyCarry(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	body := strings.Replace(credit(b, ""), `"paymentAmount": 1,`, `"paymentAmount": 1000000.01,`, 1)
	said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", body)
	if !strings.Contains(said.body, "FEDNOW carries at most 500000.00 USD") ||
		!strings.Contains(said.body, "CREDIT_AMOUNT_LIMIT") {
		t.Errorf("%d %s", said.status, said.body)
	}
}

// A number below the first one is too small, be it 0 or less; it is not absent.
func TestANumberBelowTheFirstIsTooSmall(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, n := range []string{"0", "-1"} {
		r := request(http.MethodPost, "/api/gateway/v1/payments/waterfall",
			`{"externalReferenceId": "B", "payments": [{"paymentIndex": `+n+`, "paymentAmount": 1}]}`)
		r.Header.Set("Idempotent-Key", "0b9d9a0e-4b0e-4a53-9d3b-3d1c1c6f2a10")
		if said := b.send(b.Staff(), r); !strings.Contains(said.body, `"code":"WF_PAYMENT_INDEX_MIN"`) {
			t.Errorf("index %s: %d %s", n, said.status, said.body)
		}
	}
	said := b.call(b.program(), http.MethodPost, "/v3/positivepay/rules", `{"numberOfPayments": -1}`)
	if !strings.Contains(said.body, `"code":"POSITIVERULE_NUMBEROFPAYMENTS_MIN"`) {
		t.Errorf("%d %s", said.status, said.body)
	}
}

// What is wrong with a payment of a batch that says no index is told with its place.
func TestAPaymentWithoutIndexIsToldByItsPlace(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, index := range []string{"", `"paymentIndex": 0, `, `"paymentIndex": 1.5, `, `"paymentIndex": "x", `} {
		r := request(http.MethodPost, "/api/gateway/v1/payments/waterfall",
			`{"externalReferenceId": "B", "payments": [
			{"paymentIndex": 1, "paymentAmount": 1}, {`+index+`"paymentAmount": 1}]}`)
		r.Header.Set("Idempotent-Key", "0b9d9a0e-4b0e-4a53-9d3b-3d1c1c6f2a10")
		if said := b.send(b.Staff(), r); said.status != http.StatusBadRequest ||
			!strings.Contains(said.body, "payment 2 of the request: ") ||
			strings.Contains(said.body, "payment 1 of") {
			t.Errorf("%s: %d %s", index, said.status, said.body)
		}
	}
}

// The number 0 is no account's, and not absent.
func TestNoughtIsNoAccount(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, zero := range []string{`0`, `"0"`, `"000"`} {
		for field, body := range map[string]string{
			"SENDER_ACCOUNT": strings.Replace(credit(b, ""), fmt.Sprintf(`{"accountUID": %q}`, b.purse.UID),
				`{"accountUID": `+zero+`, "accountNumber": "`+number(b.purse)+`"}`, 1),
			"BENEFICIARY_ID": strings.Replace(credit(b, ""), `"beneficiaryId": `,
				`"beneficiaryId": `+zero+`, "swiftTag": `, 1),
		} {
			said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", body)
			if said.status != http.StatusBadRequest || !strings.Contains(said.body, field+"_ALLZERO") {
				t.Errorf("%s %s: %d %s", field, zero, said.status, said.body)
			}
		}
	}
	said := b.call(b.Staff(), http.MethodPut, "/sandbox/clock", `{"minutes": 0}`)
	if said.status != http.StatusBadRequest || !strings.Contains(said.body, "minutes: must not be all zeros") {
		t.Errorf("%d %s", said.status, said.body)
	}
}

func TestTheOlderChangeOfASeriesNamesOneOfItsPayments(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	first := b.call(b.program(), http.MethodPost, "/v4/payments/credit", credit(b,
		`, "recurrence": {"frequency": "Monthly", "payUntil": "NumberOfPayments", "numberOfPayments": 3}`))
	other := b.call(b.program(), http.MethodPost, "/v4/payments/credit", credit(b, ""))
	var made, apart struct {
		Data struct {
			Payment string `json:"paymentUID"`
			Series  int    `json:"recurrenceId"`
		} `json:"data"`
	}
	if err := errors.Join(json.Unmarshal([]byte(first.body), &made),
		json.Unmarshal([]byte(other.body), &apart)); err != nil {
		t.Fatal(err, first.body, other.body)
	}
	change := func(payment, body string) said {
		return b.call(b.program(), http.MethodPut, fmt.Sprintf("/v4/payments/%s/recurring/%d", payment,
			made.Data.Series), body)
	}
	if said := change(apart.Data.Payment, `{"noOfPayments": 5}`); said.status != http.StatusBadRequest {
		t.Errorf("of another payment: %d %s", said.status, said.body)
	}
	if said := change(made.Data.Payment, `{"endDate": "12-31-2026"}`); said.status != http.StatusBadRequest ||
		!strings.Contains(said.body, "MM/DD/YYYY") {
		t.Errorf("with dashes: %d %s", said.status, said.body)
	}
	if said := change(made.Data.Payment, `{"noOfPayments": 0}`); !strings.Contains(said.body, "noOfPayments") {
		t.Errorf("none: %d %s", said.status, said.body)
	}
	if said := change(made.Data.Payment, `{"noOfPayments": 5}`); said.status != http.StatusOK ||
		said.body != `{"message":"Recurrence updated"}` {
		t.Errorf("%d %s", said.status, said.body)
	}
	shown := b.call(b.program(), http.MethodGet, "/v3/payments/"+made.Data.Payment, "")
	if !strings.Contains(shown.body, `"endNumberPayments":5`) {
		t.Error(shown.body)
	}
}

func TestPaymentsOverANetworkAreFoundByItAndByWhoIsPaid(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	body := credit(b, "")
	if said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", body); said.status != http.StatusOK {
		t.Fatal(said.body)
	}
	_, rest, _ := strings.Cut(body, `"beneficiaryId": "`)
	payee, _, _ := strings.Cut(rest, `"`)
	for condition, want := range map[string]int{
		`"deliveryMethod": "fednow"`: 1, `"deliveryMethod": "RTP"`: 0, `"deliveryMethod": "Pigeon"`: 0,
		`"wireType": "OUTGOING_PAYMENT"`: 1, `"wireType": "INCOMING_PAYMENT"`: 0, `"receiverId": ` + payee: 1,
		`"receiverId": 1`: 0,
		`"receiverId": 0`: 0, `"status": "ready_to_transmit"`: 1,
		`"wireType": "OUTGOING_PAYMENT", "deliveryMethod": "RTP"`:                                       0,
		fmt.Sprintf(`"receiverAccountNo": %q`, coretest.ContactNumber(contacts.UID(mustInt(t, payee)))): 1,
	} {
		said := b.call(b.program(), http.MethodPost, "/v3/payments/search",
			`{"page": 1, "limit": 10, `+condition+`}`)
		if !strings.Contains(said.body, fmt.Sprintf(`"totalRecords":%d,`, want)) {
			t.Errorf("%s: %d %.200s", condition, said.status, said.body)
		}
	}
}

func mustInt(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTheKeyOfV4IsAUUID(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	o := operation{"", http.MethodPost, "/v4/payments/credit", credit(b, "")}
	r := request(o.method, o.path, o.body)
	r.Header.Set("Idempotent-Key", "seven")
	if said := b.send(b.program(), r); said.status != http.StatusBadRequest ||
		!strings.Contains(said.body, "CREDIT_IDEMPOTENTKEY_INVALID") {
		t.Errorf("%d %s", said.status, said.body)
	}
	for _, name := range []string{"Idempotent-Key", "Idempotency-Key"} {
		r := request(o.method, o.path, o.body)
		r.Header[name] = []string{""}
		if said := b.send(b.program(), r); said.status != http.StatusBadRequest ||
			!strings.Contains(said.body, `"code":"CREDIT_IDEMPOTENTKEY_INVALID","message":"`+name) {
			t.Errorf("an empty %s: %d %s", name, said.status, said.body)
		}
	}
	for i, body := range []string{o.body, o.body, strings.Replace(o.body, `"R"`, `"S"`, 1)} {
		r := request(o.method, o.path, body)
		r.Header.Set("Idempotent-Key", "8e4f59dc-0eac-4a59-8f5e-2b1a6a3a6d10")
		said := b.send(b.program(), r)
		switch {
		case i == 2 && (said.status != http.StatusConflict ||
			!strings.Contains(said.body, "CREDIT_IDEMPOTENTKEY_CONFLICT")), i < 2 &&
			said.status != http.StatusOK, i == 1 && said.header.Get("Idempotency-Replayed") != "true":
			t.Errorf("%d: %d %s", i, said.status, said.body)
		}
	}
}

// The fifth generation keeps what people can repair, and refuses the rest with the codes of the fourth.
func TestV5KeepsWhatPeopleCanRepair(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	address := `"address": {"addressLine1": "1 Main St", "city": "Columbus", "countryCode": "US"}}`
	for is, why := range map[string]string{
		`"011000138"`: "receiver.bank.bankId: must be a bank of the directory",
		`"611590104"`: "receiver.bank.bankId: ",
		`"4400*5551"`: "receiver.accountNumber: ",
	} {
		was := `"611590103"`
		if strings.Contains(is, "*") {
			was = `"440055551"`
		}
		body := inFull(b, was, is, `, `+address, `}`, `"R"`, `"<R>"`)
		if said := b.call(b.program(), http.MethodPost, "/v4/payments/credit",
			body); said.status != http.StatusBadRequest {
			t.Errorf("v4: %d %s", said.status, said.body)
		}
		kept := b.call(b.program(), http.MethodPost, "/v5/payments/credit", body)
		_, rest, found := strings.Cut(kept.body, `"paymentUID":"`)
		uid, _, _ := strings.Cut(rest, `"`)
		if kept.status != http.StatusOK || !found || !strings.Contains(kept.body, `"paymentStatus":"REPAIR"`) {
			t.Fatalf("%s: %d %s", is, kept.status, kept.body)
		}
		got := b.get(b.program(), "/payments/"+uid)
		if !strings.Contains(got.body, `"status":"REPAIR"`) || !strings.Contains(got.body, why) ||
			strings.Contains(got.body, "4400*5551") {
			t.Errorf("%s", got.body)
		}
		if said := b.call(b.program(), http.MethodPut, "/payments/"+uid+"/cancel",
			`{"notes": "x"}`); said.status != http.StatusOK {
			t.Errorf("%d %s", said.status, said.body)
		}
	}
	for _, c := range []struct{ was, is, code string }{
		{`"paymentAmount": 1`, `"paymentAmount": -1`, "CREDIT_AMOUNT_MIN"},
		{coretest.AccountNumber(b.purse.UID), "12#4", "SENDER_ACCOUNT_PATTERN"},
		{ourRouting, "026009593", "SENDER_BANKID_NOMATCH"},
		{`"Instant"`, `"Soon"`, "CREDIT_SPEED_INVALID"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v5/payments/credit",
			inFull(b, `"611590103"`, `"611590104"`, c.was, c.is))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"code":"`+c.code+`"`) {
			t.Errorf("%s for %s: %d %s", c.is, c.was, said.status, said.body)
		}
	}
}

// Blank texts count as absent, at any depth, in credits and debits of all generations (rest/CONTRACT.md,
// credit requests).
func TestBlankTextsOfCreditsAndDebitsAreAbsent(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	taken := credit(b, `, "paymentDate": " ", "paymentNotes": "  ", "additionalInfo": {"secCode": " ",
		"detailsOfCharges": " ", "localInstruments": " ", "remittanceMethod": "  ", "transactionTypeCode": " ",
		"fxContractNumber": " ", "originatorToBeneficiary": " ", "originatortoBeneficiary": "Rent"}`)
	taken = strings.Replace(taken, `"sender": {`,
		`"sender": {"subAccountType": " ", "email": " ", "bankIdType": " ",
		"bankId": " ", "correspondentBankId": " ", "achCompanyID": " ", "accountType": "  ", "entityType": " ",
		"address": {"addressLine2": " ", "postalCode": " "}, `, 1)
	taken = strings.Replace(taken, `"receiver": {`, `"receiver": {"accountType": " ", "subAccountType": " ",
		"email": " ", "accountCurrency": " ", "bank": {"bankIdType": " ", "accountType": " ", "accountNumber": " ",
		"swiftCode": " ", "name": " ", "countryCode": " "}, "address": {"addressLine2": " ", "state": " "}, `, 1)
	v3 := strings.Replace(taken, `"beneficiaryId"`, `"accountUID"`, 1)
	for path, body := range map[string]string{
		"/v4/payments/credit": taken, "/v5/payments/credit": taken, "/v3/payments/creditrequest": v3,
	} {
		if said := b.call(b.program(), http.MethodPost, path, body); said.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, said.status, said.body)
		}
	}
	const described = `{"externalReferenceId": " ", "paymentAmount": " ", "paymentCurrency": " ",
		"speed": "Instant",
		"sender": {"accountNumber": " "}, "receiver": {"accountNumber": " ", "name": "A", "bank": {"bankId": " "}}}`
	said := b.call(b.program(), http.MethodPost, "/v4/payments/credit", described)
	for _, code := range []string{
		"CREDIT_EXTERNALREF_REQUIRED", "CREDIT_AMOUNT_REQUIRED", "CREDIT_CURRENCY_REQUIRED",
		"SENDER_ACCOUNT_REQUIRED", "BENEFICIARY_ACCTNUM_REQUIRED",
	} {
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"`+code+`"`) {
			t.Errorf("%s is missing: %d %s", code, said.status, said.body)
		}
	}
	debit := strings.NewReplacer("sender", "creditor", "receiver", "debtor").Replace(described)
	said = b.call(b.program(), http.MethodPost, "/v4/payments/debit", debit)
	for _, code := range []string{
		"DEBIT_EXTERNALREF_REQUIRED", "CREDITOR_ACCOUNT_REQUIRED",
		"DEBTOR_ACCTNUM_REQUIRED",
	} {
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"`+code+`"`) {
			t.Errorf("%s is missing: %d %s", code, said.status, said.body)
		}
	}
}

// What is no text has no letters that are wrong (rest/CONTRACT.md, credit requests).
func TestAValueThatIsNoTextIsTheInvalidOne(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct{ from, to, code, says string }{
		{`"R"`, `{}`, "CREDIT_EXTERNALREF_INVALID", "must be a string"},
		{
			`"sender": {"accountUID"`, `"sender": {"accountNumber": [], "x"`, "SENDER_ACCOUNT_INVALID",
			"must be a string",
		},
		{
			`"receiver": {"beneficiaryId"`,
			`"receiver": {"accountNumber": 1, "x"`, "BENEFICIARY_ACCTNUM_INVALID",
			"must be a string",
		},
		{
			`"receiver": {`,
			`"receiver": {"address": {"postalCode": {}}, `, "BENEFICIARY_ADDRESS_POSTALCODE_INVALID",
			"must be a string or a number",
		},
		{
			`"sender": {"accountUID"`, `"sender": {"accountUID": {}, "x"`, "SENDER_ACCOUNT_INVALID",
			"must be a string or a number",
		},
		{`"paymentAmount": 1`, `"paymentAmount": {}`, "CREDIT_AMOUNT_INVALID", "must be a number"},
	} {
		said := b.call(b.program(), http.MethodPost, "/v4/payments/credit",
			strings.Replace(credit(b, ""), c.from, c.to, 1))
		if said.status != http.StatusBadRequest || !strings.Contains(said.body, `"`+c.code+`"`) ||
			!strings.Contains(said.body, ": "+c.says+`"`) {
			t.Errorf("%s: %d %s, not %s, %s", c.to, said.status, said.body, c.code, c.says)
		}
	}
}

// Whatever cannot be read of a request hides nothing that is wrong beside it (rest/CONTRACT.md, which fault
// comes first).
func TestAMemberThatCannotBeReadHidesNoOtherMistake(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	beside := `"externalReferenceId": "<bad>", "fee": {"amount": 0}, "paymentAmount": 1,
		"paymentCurrency": "USD", "speed": "Economy", "additionalInfo": {"secCode": "ZZZ"}, `
	const besides = "CREDIT_EXTERNALREF_PATTERN FEE_AMOUNT_MIN ADDITIONALINFO_SECCODE_INVALID"
	for _, try := range []struct{ path, body, codes string }{
		{
			"/v4/payments/credit",
			`{` + beside + `"paymentDate": "2027-05-01", "sender": {"accountUID": "abc"},
				"receiver": {"beneficiaryId": "x"}, "recurrence": {"frequency": "Daily", "payUntil": "EndDate",
				"endDate": 7}}`,
			"CREDIT_DATE_INVALID SENDER_ACCOUNT_NUMBER BENEFICIARY_ID_NUMBER RECURRENCE_ENDDATE_INVALID " + besides,
		}, {
			"/v4/payments/credit",
			`{` + beside + `"sender": [], "receiver": {"accountNumber": 7, "name": 7}}`,
			"CREDIT_SENDER_INVALID BENEFICIARY_ACCTNUM_INVALID BENEFICIARY_NAME_INVALID " + besides,
		}, {
			"/v4/payments/credit", `{"paymentDate": "soon", "speed": "SPOT", "paymentNotes": 1}`,
			"CREDIT_DATE_INVALID CREDIT_NOTES_INVALID CREDIT_EXTERNALREF_REQUIRED CREDIT_AMOUNT_REQUIRED " +
				"CREDIT_CURRENCY_REQUIRED SENDER_ACCOUNT_REQUIRED BENEFICIARY_REQUIRED",
		}, {
			"/v5/payments/credit", credit(b, `, "paymentDate": "2026-12-01", "fee": {"amount": 0},
				"additionalInfo": {"fxContractNumber": "abc"}`),
			"CREDIT_DATE_INVALID ADDITIONALINFO_FXCONTRACT_NUMBER FEE_AMOUNT_MIN",
		}, {
			"/v4/payments/debit",
			`{"paymentDate": "soon", "creditor": {"accountUID": "x"}, "speed": "Economy",
				"debtor": {"name": "Rosa"}}`,
			"DEBIT_DATE_INVALID CREDITOR_ACCOUNT_NUMBER DEBIT_EXTERNALREF_REQUIRED DEBIT_AMOUNT_REQUIRED " +
				"DEBIT_CURRENCY_REQUIRED DEBTOR_ACCTNUM_REQUIRED ADDITIONALINFO_SECCODE_REQUIRED",
		},
	} {
		said := b.call(b.program(), http.MethodPost, try.path, try.body)
		var told struct{ Errors []struct{ Code string } }
		if err := json.Unmarshal([]byte(said.body), &told); err != nil {
			t.Fatal(err)
		}
		var codes []string
		for _, e := range told.Errors {
			codes = append(codes, e.Code)
		}
		want := strings.Fields(try.codes)
		slices.Sort(codes)
		if slices.Sort(want); said.status != http.StatusBadRequest || !slices.Equal(codes, want) {
			t.Errorf("%s %s: %d %s\nwant %v", try.path, try.body, said.status, said.body, want)
		}
	}
	b.call(b.program(), http.MethodPost, "/v4/payments/credit", `{"speed": "Soon"`).refused(t, "no JSON",
		http.StatusBadRequest, "CREDIT_REQUEST_INVALID", "must be well-formed JSON")
}
