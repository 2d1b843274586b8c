package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/payments"
)

func TestABookTransferNamesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	body := func(more string) string {
		return fmt.Sprintf(`{"externalReferenceId": "R", "paymentAmount": 1, "paymentDate": "11-18-2026",
			"senderAccount": {"accountUID": %q}, "receiverAccount": {"accountUID": %q}%s}`, b.purse.UID,
			b.operating.UID, more)
	}
	for body, message := range map[string]string{
		body(`, "recurrence": {"frequency": "Daily", "payUntil": "EndDate"}`): "recurrence.endDate: " +
			"is required where payUntil is EndDate",
		body(`, "recurrence": {}`): "recurrence.frequency: is required; " +
			"recurrence.payUntil: is required",
		body(`, "recurrence": "Daily"`): "recurrence: must be an object",
		body(`, "additionalInfo": {"senderAccountTokenId": "a:1"}`): "additionalInfo.senderAccountTokenId: " +
			"accounts have no tokens",
		body(`, "additionalInfo": {"receiverAccountTokenId": "a:1"}`): "additionalInfo.receiverAccountTokenId: " +
			"accounts have no tokens",
		strings.ReplaceAll(body(""), "11-18-2026",
			"2026-11-18"): "paymentDate: must be a date in the form MM-DD-YYYY",
		strings.ReplaceAll(body(""), "11-18-2026", "11-17-2026"): "paymentDate: must be today or later",
		strings.ReplaceAll(body(""), `"paymentAmount": 1,`,
			`"paymentAmount": 0,`): "paymentAmount: must be greater than 0",
		strings.ReplaceAll(body(""), b.operating.UID.String(),
			"4711"): "receiverAccount.accountUID: must be an account",
		strings.ReplaceAll(body(""), b.operating.UID.String(),
			b.hidden.UID.String()): "receiverAccount.accountUID: must be an account",
		`{}`: "senderAccount.accountUID: is required, or an accountNumber instead; " +
			"receiverAccount.accountUID: is required, or an accountNumber instead; paymentAmount: " +
			"is required; externalReferenceId: is required; paymentDate: is required",
	} {
		b.call(b.program(), http.MethodPost, "/v3/payments/booktransfer", body).refused(t, body,
			http.StatusBadRequest, "BOOKTRF001", "Book transfer failed: "+message)
	}
	ok := b.call(b.program(), http.MethodPost, "/v3/payments/booktransfer",
		body(`, "recurrence": null, "additionalInfo": {"senderAccountTokenId": ""}`))
	if ok.status != http.StatusOK || !strings.Contains(ok.body, `"paymentStatus":"PROCESSED"`) {
		t.Errorf("%d %s", ok.status, ok.body)
	}
}

// No condition is ignored: each finds some of the two payments, and those that none can meet find nothing.
func TestEachConditionOfThePaymentSearchCounts(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for condition, want := range map[string]int{
		`"externalReferenceId": "INV-7"`: 1, `"externalReferenceId": "INV"`: 0, `"paymentUID": "1"`: 1,
		`"paymentUID": 2`: 1,
		`"paymentUID": 0`: 0, `"fromDate": "11-19-2026"`: 1, `"toDate": "11-18-2026"`: 1, `"currency": "eur"`: 0,
		`"currency": "usd"`: 2, `"minAmount": 30.26`: 0, `"maxAmount": "30.25"`: 2, `"paymentAmount": 30.250`: 2,
		`"senderName": "PAY"`: 2, `"receiverName": "ee"`: 2, `"senderName": "Payee"`: 0,
		`"description": "october"`: 1,
		`"status": "processed"`:    1, `"status": "TRANSMITTED"`: 0, `"mostRecent": true`: 1,
		`"mostRecent": false`:                                       2,
		fmt.Sprintf(`"customerUID": %s`, b.acme.UID):                1,
		fmt.Sprintf(`"customerUID": %q`, b.direct.UID):              0,
		fmt.Sprintf(`"senderAccountId": %q`, b.operating.UID):       1,
		fmt.Sprintf(`"senderAccountNo": %q`, number(b.operating)):   1,
		fmt.Sprintf(`"receiverAccountNo": %q`, number(b.hidden)):    0,
		fmt.Sprintf(`"receiverAccountNo": %q`, number(b.operating)): 1,
		`"forexContractNo": "1"`:                                    0, `"sourceRefNo": "1"`: 0,
		`"wireType": "OUTGOING_PAYMENT"`: 0, `"recurrenceId": 1`: 0,
		`"receiverId": 1`: 0, `"deliveryMethod": "ACH"`: 0, `"senderAccountTokenId": "a"`: 0,
		`"receiverAccountTokenId": "a"`: 0,
		`"ultimateSenderName": "a"`:     0, `"ultimateSenderAccountNo": "1"`: 0, `"ultimateReceiverName": "a"`: 0,
		`"ultimateReceiverAccountNo": "1"`: 0, `"forexContractNo": null`: 2, `"wireType": ""`: 2,
	} {
		said := b.call(b.program(), http.MethodPost, "/v3/payments/search",
			`{"page": 1, "limit": 10, `+condition+`}`)
		if said.status != http.StatusOK || !strings.Contains(said.body, fmt.Sprintf(`"totalRecords":%d,`, want)) ||
			strings.Count(said.body, `"paymentUID"`) != want || b.leaks(said.body) {
			t.Errorf("%s: %d %.200s", condition, said.status, said.body)
		}
	}
	for body, message := range map[string]string{
		`{"limit": 1}`: "page: is required", `{"page": 1}`: "limit: is required",
		`{"page": 0, "limit": 1}`:                                "page: must be at least 1",
		`{"page": 1, "limit": 101}`:                              "limit: must be at most 100",
		`{"page": 1.5, "limit": 1}`:                              "page: must be a whole number",
		`{"page": 1, "limit": 1, "fromDate": "2026-11-18"}`:      "fromDate: must be a date in the form MM-DD-YYYY",
		`{"page": 1, "limit": 1, "senderAccountNo": "****0001"}`: "senderAccountNo: ",
		`{"page": 1, "limit": 1, "minAmount": "x"}`:              "minAmount: must be a number",
		`{"page": 1, "limit": 1, "mostRecent": "yes"}`:           "mostRecent: must be true or false",
	} {
		b.call(b.program(), http.MethodPost, "/v3/payments/search", body).refused(t, body, http.StatusBadRequest,
			"PAYMENT001", "Payment search failed: "+message)
	}
}

func TestAPaymentThatIsHiddenLooksAbsent(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, path := range []string{"/v3/payments/", "/payments/"} {
		for _, uid := range []string{b.private.UID.String(), "4711", "0"} {
			b.get(b.program(), path+uid).refused(t, uid, http.StatusNotFound, "API900", "no such payment")
			b.call(b.program(), http.MethodPut, path+uid+"/cancel", "").refused(t, uid, http.StatusNotFound, "API900",
				"no such payment")
		}
		b.get(b.program(), path+"x").refused(t, "x", http.StatusBadRequest, "PAYMENT001", "must be the digits")
		for _, verb := range []string{"search", "booktransfer"} {
			if said := b.get(b.program(), path+verb); said.status != http.StatusMethodNotAllowed ||
				said.header.Get("Allow") != http.MethodPost {
				t.Errorf("GET %s: %d %v", path+verb, said.status, said.header)
			}
		}
	}
}

func TestACancellationKeepsItsReasonOrSaysWhyNot(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := "/v3/payments/" + b.scheduled.UID.String() + "/cancel"
	b.call(b.program(), http.MethodPut, path, fmt.Sprintf(`{"notes": %q}`,
		strings.Repeat("x", 101))).refused(t, "long", http.StatusBadRequest, "PAYMENT001",
		"notes: must have at most 100 characters")
	if said := b.call(b.program(), http.MethodPut, path,
		`{"notes": "Paid in cash"}`); said.status != http.StatusOK ||
		!strings.Contains(said.body, `"data":{"paymentUID":"2"}`) {
		t.Errorf("%d %s", said.status, said.body)
	}
	p, steps, err := b.Payments.Find(b.Staff(), b.scheduled.UID)
	if err != nil || p.State != payments.Cancelled || steps[1].Reason != "Paid in cash" {
		t.Errorf("%+v %v", steps, err)
	}
	for uid, status := range map[payments.UID]string{b.scheduled.UID: "CANCELLED", b.paid.UID: "PROCESSED"} {
		b.call(b.program(), http.MethodPut, "/payments/"+uid.String()+"/cancel", "").refused(t, status,
			http.StatusBadRequest, "PAYMENT001", "the payment is "+status)
	}
	b.call(b.As(access.ViewPayments), http.MethodPut, path, "").refused(t, "a reader",
		http.StatusForbidden, "API901", "")
}

func TestADateIsMonthDayYear(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, text := range []string{
		"2026-11-18", "18-11-2026", "02-29-2027", "1-2-2027",
		"11/18/2026", "11-18-26", "01-01-0001", "11-18-2026 ",
	} {
		for path, body := range map[string]string{
			"/v3/payments/search":                              `{"page": 1, "limit": 1, "toDate": %q}`,
			"/v1/customers/" + b.acme.UID.String() + "/limits": `{"paymentRail": "ACH", "deliveryDate": %q}`,
		} {
			if said := b.call(b.program(), http.MethodPost, path,
				fmt.Sprintf(body, text)); said.status != http.StatusBadRequest {
				t.Errorf("%q is a date: %s", text, said.body)
			}
		}
	}
}
