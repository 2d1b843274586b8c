package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"bankgraph/core/access"
	"bankgraph/core/accounts"
	did "bankgraph/core/changes"
	"bankgraph/core/coretest"
	"bankgraph/core/payments"
	"bankgraph/core/sandbox"
)

// receives makes what operations are about that take a payment which is in the books: {I} came in, {T} is a transfer.
func (b *bank) receives(o operation) {
	b.t.Helper()
	b.making.Lock()
	defer b.making.Unlock()
	var err error
	switch {
	case strings.Contains(o.path, "{I}") && b.came == 0:
		b.came = b.credited(b.Staff(), b.purse.UID)
	case strings.Contains(o.path, "{T}") && b.transfer == 0:
		var made did.Outcome[payments.Saved]
		made, err = b.Payments.Transfer(b.Staff(), payments.Draft{
			Sender: payments.Party{UID: b.purse.UID}, Receiver: payments.Party{UID: b.desk.UID}, Amount: "25",
		}, did.RequestOptions{})
		b.transfer = made.Result.UID
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// credited lets a customer of another bank pay an account, and returns the payment.
func (b *bank) credited(ctx context.Context, to accounts.UID) (uid payments.UID) {
	b.t.Helper()
	_, err := b.Sandbox.PlayCredit(ctx, sandbox.Credit{Account: to, Amount: "25", Rail: "FEDNOW"}, did.RequestOptions{})
	if err == nil {
		_, err = b.Payments.Receive(access.Operator(b.t.Context(), b.Tenant, b.Code, coretest.Zone()))
	}
	if err == nil {
		err = b.DB.NewRaw(`SELECT max(uid) FROM payments WHERE tenant = ?`, b.Tenant).Scan(b.t.Context(), &uid)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	return uid
}

// A payment that came in says who pays, from which bank, and whom the bank credits.
func TestAPaymentThatCameInSaysWhoPays(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{I}"})
	found := b.call(b.program(), http.MethodGet, "/v3/payments/"+b.came.String(), "")
	for _, member := range []string{
		`"wireType":"INCOMING_PAYMENT"`, `"senderName":"Customer of another bank"`, `"senderBankId":"021000021"`,
		`"senderAccountUID":""`, `"senderAccountNumber":"****2233"`, `"receiverBankId":"611090001"`,
		`"counterPartyId":"` + b.partner.UID.String() + `"`, `"status":"PROCESSED"`, `"memoPostStatus":"POSTED"`,
		`"entryType":"CREDIT"`, `"deliveryMethod":"FEDNOW"`,
	} {
		if !strings.Contains(found.body, member) {
			t.Errorf("has no %s: %s", member, found.body)
		}
	}
	for body, n := range map[string]int{
		`{"wireType":"incoming_payment", "page":1, "limit":5}`:                                 1,
		`{"wireType":"OUTGOING_PAYMENT", "deliveryMethod":"FEDNOW", "page":1, "limit":5}`:      0,
		`{"wireType":"BOTH", "page":1, "limit":5}`:                                             0,
		`{"senderAccountNo":"8800112233", "wireType":"INCOMING_PAYMENT", "page":1, "limit":5}`: 1,
	} {
		if got := strings.Count(b.call(b.program(), http.MethodPost, "/v3/payments/search", body).body, `"paymentUID"`); got != n {
			t.Errorf("%s finds %d, want %d", body, got, n)
		}
	}
}

// What cannot be given back or asked back has the code of its operation.
func TestReturnsAndReversalsAreRefusedWithTheirCodes(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.receives(operation{path: "{I}"})
	came, paid := "/v3/payments/"+b.came.String(), "/v3/payments/"+b.paid.UID.String()
	for path, code := range map[string]string{
		paid + "/return": "PAYMENT003", came + "/reverse": "PAYMENT004", "/payments/4711/return": "API900",
		"/payments/4711/reverse": "API900",
	} {
		status := http.StatusBadRequest
		if code == "API900" {
			status = http.StatusNotFound
		}
		if got := b.call(b.program(), http.MethodPut, path, `{"returnCode":"CUST", "reversalCode":"CUST"}`); got.status != status ||
			!strings.Contains(got.body, `"code":"`+code+`"`) {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
	}
}
