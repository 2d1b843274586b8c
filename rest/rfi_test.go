package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"bankgraph/core/payments"
)

// Every published code of requests for information is answered where its rule says, but for those of payments
// without a direction or an entry type, which there are not.
func TestRequestsForInformationAreRefusedWithTheirCodes(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{I}"})
	b.Exec(`UPDATE payments SET rail = 'FEDNOW', state = 'SENT', receiver_account = NULL,
		receiver_customer = NULL
		WHERE tenant = ? AND uid = ?`, b.Tenant, b.scheduled.UID)
	fill := strings.NewReplacer("{I}", b.came.String(), "{P}", b.paid.UID.String(), "{F}",
		b.scheduled.UID.String())
	const good = `{"initiatingPartyName": "Ada Byron", "missingInformation": [{"code": "MS01"}]}`
	said := func(lists string) string { return `{"initiatingPartyName": "Ada Byron", ` + lists + `}` }
	for _, c := range []struct{ of, body, code string }{
		{"{I}", said(`"missingInformation": []`), "RFI_MISSINGORINCORRECTINFO_REQUIRED"},
		{
			"{I}", said(`"missingInformation": null, "incorrectInformation": null`),
			"RFI_MISSINGORINCORRECTINFO_REQUIRED",
		},
		{"{I}", `{"missingInformation": [{"code": "MS01"}]}`, "RFI_INITPARTYNAME_REQUIRED"},
		{"{I}", said(`"incorrectInformation": [null]`), "RFI_STATUSREASONINFO_NULL"},
		{"{I}", said(`"incorrectInformation": [{"additionalInfo": "x"}]`), "RFI_STATUSREASONCODE_REQUIRED"},
		{"{I}", said(`"missingInformation": [{"code": "NARR"}]`), "RFI_ADDITIONALINFO_REQUIRED"},
		{"{I}", said(`"missingInformation": [{"code": "IN06"}]`), "RFI_MISSINGINFOCODE_INVALID"},
		{"{I}", said(`"incorrectInformation": [{"code": "MS01"}]`), "RFI_INCORRECTINFOCODE_INVALID"},
		{"{I}", said(`"incorrectInformation": [{"code": "IN04"}]`), "RFI_INCORRECTINFOCODE_MISMATCH"},
		{"{I}", said(`"missingInformation": [{"code": "NARR", "additionalInfo": "` + strings.Repeat("x", 501) +
			`"}]`), "RFI_VALIDATION_ERROR"},
		{"{I}", said(`"missingInformation": {"code": "MS01"}`), "RFI_VALIDATION_ERROR"},
		{"{I}", `[]`, "RFI_INVALID_INPUT"},
		{"{I}", `{"initiatingPartyName": `, "RFI_INVALID_INPUT"},
		{"%20", good, "RFI_PAYMENTID_REQUIRED"},
		{"seven", good, "RFI_PAYMENTID_INVALID"},
		{"4711", good, "RFI_PAYMENT_NOTFOUND"},
		{"{P}", good, "RFI_PAYMENTDELIVERYMETHOD_INVALID"},
		{"{F}", good, "RFI_OUTPAYMENTSTATUS_INVALID"},
	} {
		answer := b.call(b.program(), http.MethodPost, fill.Replace("/v1/rfi/"+c.of), c.body)
		if answer.status != http.StatusBadRequest || !strings.Contains(answer.body,
			`{"errors":[{"code":"`+c.code+`"`) {
			t.Errorf("%s %s: %d %s, want %s", c.of, c.body, answer.status, answer.body, c.code)
		}
	}
	b.Exec(`UPDATE payments SET entry_type = 'DEBIT', receiver_account = sender_account, sender_account = NULL
		WHERE tenant = ? AND uid = ?`, b.Tenant, b.scheduled.UID)
	answer := b.call(b.program(), http.MethodPost, fill.Replace("/v1/rfi/{F}"), good)
	if answer.status != http.StatusBadRequest || !strings.Contains(answer.body, "RFI_DIRECTION_INVALID") {
		t.Errorf("our own request: %d %s", answer.status, answer.body)
	}
	for of, code := range map[string]string{
		"%20": "RFI_PAYMENTID_REQUIRED", "seven": "RFI_PAYMENTID_INVALID", "4711": "RFI_PAYMENT_NOTFOUND",
		"{P}": "RFI_PAYMENTDELIVERYMETHOD_INVALID",
	} {
		answer := b.call(b.program(), http.MethodGet, fill.Replace("/v1/rfi/"+of), "")
		if answer.status != http.StatusBadRequest || !strings.Contains(answer.body, code) {
			t.Errorf("the history of %s: %d %s, want %s", of, answer.status, answer.body, code)
		}
	}
}

// One key asks once, and another body under it is refused.
func TestAKeyAsksForInformationOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	o := operation{"", http.MethodPost, "/v1/rfi/{I}", sent("rfi_send")}
	b.receives(o)
	for range 2 {
		if answer := b.send(b.program(), b.keyed(o, "once")); answer.status != http.StatusOK {
			t.Fatal(answer.status, answer.body)
		}
	}
	h, err := b.Payments.InformationHistory(b.program(), b.came)
	if err != nil || len(h.Requests) != 1 || h.Requests[0].Direction != payments.Out {
		t.Error(h, err)
	}
	answer := b.ask(b.program(), operation{"", http.MethodGet, "/v1/rfi/{I}", ""})
	if want := fmt.Sprintf(`{"paymentId":"%s","deliveryMethod":"FEDNOW","recordCount":1,`,
		b.came); !strings.HasPrefix(answer.body, want) {
		t.Errorf("%s, want %s", answer.body, want)
	}
}
