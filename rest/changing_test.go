package rest_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/uptrace/bun"
)

// sent reads a body of testdata/requests.
func sent(name string) string {
	text, err := os.ReadFile("testdata/requests/" + name + ".json")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// changing are the operations that change something, with all fields. Their answers are golden files of the
// same name.
var changing = []operation{
	{"signatories_add", http.MethodPost, "/v1/customers/{C}/signatories", sent("signatories_add")},
	{
		"signatories_change", http.MethodPatch, "/v1/customers/{C}/signatories/{S}",
		`{"title": "President", "approvalLimit": 0}`,
	},
	{"signatories_remove", http.MethodDelete, "/v1/customers/{C}/signatories/{S}", ""},
	{"contacts_add_g1", http.MethodPost, "/customers/{C}/contacts", sent("contacts_add_g1")},
	{"contacts_change_g1", http.MethodPut, "/customers/{C}/contacts/{K}", sent("contacts_add_g1")},
	{"contacts_add_v2", http.MethodPost, "/v2/customers/{C}/contacts", sent("contacts_add_v2")},
	{"contacts_change_v2", http.MethodPut, "/v2/customers/{C}/contacts/{K}", sent("contacts_add_v2")},
	{"beneficiary_add", http.MethodPost, "/v1/customers/{C}/beneficiary", sent("beneficiary_add")},
	{"beneficiary_change", http.MethodPatch, "/v1/customers/{C}/beneficiary/{K}", sent("beneficiary_add")},
	{"customers_create_g1", http.MethodPost, "/customers", sent("customers_create_g1")},
	{"customers_create_v2", http.MethodPost, "/v2/customers", sent("customers_create_v2")},
	{"customers_change_g1", http.MethodPut, "/customers/{C}", sent("customers_change_g1")},
	{"customers_change_v2", http.MethodPut, "/v2/customers/{C}", sent("customers_change_v2")},
	{"users_create", http.MethodPost, people + "/users", sent("users_create")},
	{
		"users_change", http.MethodPut, people + "/users/{U}",
		`{"firstName": "Rut", "roleNames": ["Clerk"], "applicationLimits": [{"name": "Payments"}]}`,
	},
	{"users_suspend_patch", http.MethodPatch, people + "/users/{U}/suspend", ""},
	{"users_suspend", http.MethodPut, people + "/users/{U}/suspend", ""},
	{"users_activate_patch", http.MethodPatch, people + "/users/{L}/activate", ""},
	{"users_activate", http.MethodPut, people + "/users/{L}/activate", ""},
	{"roles_create", http.MethodPost, people + "/roles", sent("roles_create")},
	{"limits_change", http.MethodPatch, "/v1/customers/{C}/limits", sent("limits_change")},
	{"fees_add", http.MethodPost, "/v1/customers/{C}/fees", sent("fees_add")},
	{"fees_change", http.MethodPut, "/v1/customers/{C}/fees/1", sent("fees_change")},
	{"accounts_g1_open", http.MethodPost, "/customers/{C}/accounts", sent("accounts_g1_open")},
	{"accounts_g1_change", http.MethodPut, "/customers/{C}/accounts/{A}", sent("accounts_g1_change")},
	{"accounts_g1_delete", http.MethodDelete, "/customers/{C}/accounts/{X}", ""},
	{"accounts_v2_open", http.MethodPost, "/v2/customers/{C}/accounts", sent("accounts_v2_open")},
	{"accounts_v2_change", http.MethodPut, "/v2/customers/{C}/accounts/{A}", sent("accounts_v2_change")},
	{"accounts_v2_delete", http.MethodDelete, "/v2/customers/{C}/accounts/{X}", ""},
	{
		"accounts_v2_activate", http.MethodPatch, "/v2/customers/{C}/accounts/{X}",
		`{"reason": "the loan is in use again", "action": "Activate"}`,
	},
	{
		"accounts_v2_close", http.MethodPatch, "/v2/customers/{C}/accounts/{X}",
		`{"reason": "paid back", "action": "Close"}`,
	},
	{"accounts_v3_open", http.MethodPost, "/v3/customers/{C}/accounts", sent("accounts_v3_open")},
	{"accounts_v3_change", http.MethodPatch, "/v3/customers/{C}/accounts/{A}", sent("accounts_v3_change")},
	{"sweeps_set_in", http.MethodPost, "/v1/customers/{C}/accounts/{A}/sweeps/{in}", sent("sweeps_set_in")},
	{"sweeps_change", http.MethodPatch, "/v1/customers/{C}/accounts/{A}/sweeps/{out}", sent("sweeps_change")},
	{"sweeps_remove", http.MethodDelete, "/v1/customers/{C}/accounts/{A}/sweeps/{out}", ""},
	{"payments_credit_g1", http.MethodPost, "/payments/creditrequest", sent("payments_credit_g1")},
	{"payments_credit_v3", http.MethodPost, "/v3/payments/creditrequest", sent("payments_credit_v3")},
	{"payments_credit_v4", http.MethodPost, "/v4/payments/credit", sent("payments_credit_v4")},
	{"payments_credit_v5", http.MethodPost, "/v5/payments/credit", sent("payments_credit_v5")},
	{"payments_debit", http.MethodPost, "/v3/payments/debitrequest", sent("payments_debit")},
	{"payments_debit_v4", http.MethodPost, "/v4/payments/debit", sent("payments_debit")},
	{"payments_debit_g1", http.MethodPost, "/payments/debitrequest", sent("payments_debit_g1")},
	{"payments_book", http.MethodPost, "/v3/payments/booktransfer", sent("payments_book")},
	{"payments_book_g1", http.MethodPost, "/payments/booktransfer", sent("payments_book_g1")},
	{"payments_waterfall", http.MethodPost, "/api/gateway/v1/payments/waterfall", sent("payments_waterfall")},
	{"payments_cancel", http.MethodPut, "/v3/payments/{F}/cancel", `{"notes": "Paid in cash"}`},
	{"payments_cancel_g1", http.MethodPut, "/payments/{F}/cancel", `{"notes": "Paid in cash"}`},
	{
		"payments_return", http.MethodPut, "/v3/payments/{I}/return",
		`{"returnNotes": "Not ours", "returnCode": "CUST", "returnType": "IPAY"}`,
	},
	{
		"payments_return_g1", http.MethodPut, "/payments/{I}/return",
		`{"returnNotes": "Not ours", "returnCode": "CUST"}`,
	},
	{
		"payments_reverse", http.MethodPut, "/v3/payments/{T}/reverse",
		`{"reversalNotes": "Paid twice", "reversalCode": "DUPL", "initiatingParty": "API"}`,
	},
	{
		"payments_reverse_g1", http.MethodPut, "/payments/{T}/reverse",
		`{"reversalNotes": "Paid twice", "reversalCode": "DUPL"}`,
	},
	{"rfi_send", http.MethodPost, "/v1/rfi/{I}", sent("rfi_send")},
	{"recurrences_skip", http.MethodPut, "/v1/recurrences/{Q}", ""},
	{"recurrences_change", http.MethodPatch, "/v1/recurrences/{Q}", `{"amount": 12.50}`},
	{"recurrences_change_v4", http.MethodPut, "/v4/payments/{M}/recurring/{Q}", `{"amount": 12.75}`},
	{
		"recurrences_cancel", http.MethodDelete,
		"/v1/recurrences/{Q}?cancelReason=Contract+ended&cancellationSource=PORTAL", "",
	},
	{"files_upload", http.MethodPost, "/v1/payments/customers/{C}/files/csv", sent("files_upload")},
	{
		"files_upload_old", http.MethodPost, "/bulkpayment/files?customerUID={C}&fileType=csv",
		sent("files_upload"),
	},
	{
		"files_approve", http.MethodPut, "/bulkpayment/files/{J}/approve",
		`{"comments": "Agreed with the treasurer"}`,
	},
	{"files_reject", http.MethodPut, "/bulkpayment/files/{J}/reject", `{"comments": "Not ours"}`},
	{"virtual_accounts_open", http.MethodPost, "/v2/{C}/virtual-accounts", sent("virtual_accounts_open")},
	{"virtual_accounts_change", http.MethodPut, "/v2/{C}/virtual-accounts/{D}", sent("virtual_accounts_change")},
	{"virtual_accounts_close", http.MethodDelete, "/v2/{C}/virtual-accounts/{D}?comments=Moved+out", ""},
	{"positive_rules_create", http.MethodPost, "/v3/positivepay/rules", sent("positive_rules_create")},
	{
		"positive_rules_change", http.MethodPatch, "/v3/positivepay/rules/{Y}",
		`{"beneName": "Lakefront Power Inc", "amount": 12.50}`,
	},
	{"positive_rules_create_v2", http.MethodPost, "/v2/positivepay/rules", sent("positive_rules_create_v2")},
	{
		"positive_rules_change_v2", http.MethodPut, "/v2/positivepay/rules",
		`{"beneName": "Lakefront Power Inc", "ruleUID": {Y}, "currency": "USD"}`,
	},
	{"positive_rules_activate", http.MethodPut, "/v2/positivepay/rules/{W}/activate", ""},
	{"positive_rules_suspend", http.MethodPut, "/v2/positivepay/rules/{Y}/suspend", ""},
	{"positive_rules_delete", http.MethodDelete, "/v2/positivepay/rules/{Y}", ""},
	{
		"fx_quote_v3", http.MethodPost, "/v3/fx/quote",
		`{"channel": "API", "customerIdType": "CustomerUID", "customerUID": "{C}", "sellCurrency": "USD",
			"buyCurrency": "EUR", "fundingAmount": 1000.50, "productType": "SPOT", "tenor": "SPOT"}`,
	},
	{
		"fx_quote_v2", http.MethodPost, "/v2/fx/quote",
		`{"channel": "API", "customerIdType": "CustomerUID", "customerId": "{C}", "sellCurrency": "USD",
			"buyCurrency": "JPY",
			"transferAmount": 150000, "productType": "FORWARD", "valueDate": "12-21-2026"}`,
	},
	{"exceptions_approve", http.MethodPut, "/v2/positivepay/exception/{E}/approve", ""},
	{"exceptions_reject", http.MethodPut, "/v2/positivepay/exception/{E}/reject", ""},
	{
		"exceptions_decide_many", http.MethodPatch, "/v1/positivepay/payments/decisions/approve",
		`{"ids": ["{E}", "4711"]}`,
	},
	{
		"exceptions_approve_all", http.MethodPut, "/v2/positivepay/exception/approveall",
		`{"paymentUID": ["{E}", "4711"]}`,
	},
	{"exceptions_decide", http.MethodPut, "/v1/positivepay/payments/{E}/decisions/Reject", ""},
	{
		"fx_accept", http.MethodPut, "/v2/fx/accept",
		`{"autoCoverDelay": 20, "autoCover": true, "quoteUUID": "{V}"}`,
	},
	{"fx_reject", http.MethodPut, "/fx/{V}/reject", ""},
	{"fx_reject_v2", http.MethodPut, "/v2/fx/{V}/reject", ""},
	{"fx_cover", http.MethodGet, "/fx/{Z}/cover", ""},
	{"fx_cover_v2_get", http.MethodGet, "/v2/fx/{Z}/cover", ""},
	{"fx_cover_v2", http.MethodPost, "/v2/fx/{Z}/cover", ""},
	{"fx_cancel", http.MethodDelete, "/v2/fx/{Z}/cancel", ""},
	{"plays_credit", http.MethodPost, "/sandbox/incomingcredits", sent("plays_credit")},
	{
		"plays_debit", http.MethodPost, "/sandbox/incomingdebits",
		`{"companyName": "Lakefront Util", "accountUID": "{B}", "paymentAmount": 25.00,
		"achCompanyID": "9100011223", "secCode": "CCD"}`,
	},
	{
		"plays_request", http.MethodPost, "/sandbox/incomingrequests",
		`{"creditorName": "Harbor Chandlery", "accountUID": "{B}",
		"paymentAmount": 25.00, "deliveryMethod": "FEDNOW", "externalReferenceId": "INV-77"}`,
	},
	{
		"plays_rfi", http.MethodPost, "/sandbox/payments/{I}/rfi",
		`{"initiatingPartyName": "Bea", "code": "IN06"}`,
	},
	{
		"plays_answer", http.MethodPost, "/sandbox/payments/{sent}/answer",
		`{"paymentAmount": 1, "answer": "RETURNED"}`,
	},
	{
		"plays_recall", http.MethodPost, "/sandbox/payments/{I}/recall",
		`{"reversalNotes": "Paid twice", "reversalCode": "DUPL"}`,
	},
}

// everything returns all operations.
func everything() []operation { return slices.Concat(operations, changing) }

// assigned matches numbers that the bank gives to new things, which differ from run to run.
var assigned = regexp.MustCompile(
	`\b(8\d{13}|20\d{21}|60\d{5}|20\d{5}|20\d{7}|10\d{5}|` +
		`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12})\b`)

// changed finds the first text of a body. Bodies without one begin with a number.
var changed = regexp.MustCompile(`^(\[?\s*\{\s*"\w+": ")(.)`)

// another is a body with another text, of a form in its file.
func another(body string) string {
	if strings.HasPrefix(body, `{"ids": `) || strings.HasPrefix(body, `{"paymentUID": `) {
		return strings.Replace(body, "4711", "4712", 1)
	}
	if strings.HasPrefix(body, "--"+boundary) {
		return strings.Replace(body, "INV-7", "INV-8", 1)
	}
	return changed.ReplaceAllString(body, "${1}X${2}")
}

func TestEveryChangeAnswersItsGoldenBody(t *testing.T) {
	t.Parallel()
	for _, o := range changing {
		b := newBank(t)
		answer := b.ask(b.who(o), o)
		answer.body = assigned.ReplaceAllString(answer.body, "999")
		answer.golden(t, o.name)
		if b.recorded() != entries(o) {
			t.Errorf("%s leaves %d audit entries", o.name, b.recorded())
		}
	}
}

// A change that waits for a second person answers as usual, but no message says that it was made.
func TestNoMessageSaysDoneOfWhatWaits(t *testing.T) {
	t.Parallel()
	done := regexp.MustCompile(`(created|updated|deleted|closed|activated)"`)
	var waiting atomic.Int64
	t.Run("all", func(t *testing.T) {
		for _, o := range changing {
			t.Run(o.name, func(t *testing.T) {
				t.Parallel()
				b := newBank(t)
				b.Exec(`UPDATE customers SET access_customer_dual_approval = true, access_bene_dual_approval = true,
					access_user_dual_approval = true, access_fee_tier_for_approval = true WHERE tenant = ?`, b.Tenant)
				answer := b.ask(b.who(o), o)
				approval := answer.header.Get("Approval-Request")
				if approval == "" {
					return
				}
				waiting.Add(1)
				told := strings.Contains(answer.body, `"Waits for approval `+approval+`"`)
				if done.MatchString(answer.body) || !told && strings.Contains(answer.body, `"message":`) {
					t.Errorf("approval %s: %d %s", approval, answer.status, answer.body)
				}
			})
		}
	})
	if waiting.Load() < 25 {
		t.Errorf("only %d of %d operations waited", waiting.Load(), len(changing))
	}
}

// entries is how many audit entries an operation makes. Limits that are set with a new customer have an entry
// of their own, and so has the approval that acme's payments wait for.
func entries(o operation) int {
	switch o.name {
	// and that it waits for a second person
	case "customers_change_v2", "payments_book_g1", "positive_rules_create":
		return 2
	}
	switch {
	case strings.Contains(o.path+o.body,
		"{E}"): // the play, the payment and the exception that came of it, and what is decided
		return 5
	// the file, that it is checked and that it waits, what is decided, twice told, and what became of it
	case strings.Contains(o.path, "{J}"):
		return 6
	case strings.Contains(o.path, "{sent}"): // the payment, and that it was sent
		return 3
	case strings.Contains(o.path, "{I}"): // the play and the payment that came of it
		return 3
	case strings.Contains(o.path, "{Q}"): // the series and its first payment
		return 3
	case o.name == "fx_accept": // two quotes, the acceptance and the trade
		return 4
	case strings.Contains(o.path, "{V}"): // two quotes
		return 3
	case strings.Contains(o.path, "{Z}"): // two quotes, accepted, and two trades
		return 7
	case strings.Contains(o.path, "{T}"): // the transfer
		return 2
	}
	return 1
}

// recorded counts the audit entries, each of which has its event; that of a refused attempt has none, that of
// a file which a second person has refused has one.
func (b *bank) recorded() int {
	b.t.Helper()
	var entries, events int
	err := b.DB.NewRaw(
		`SELECT (SELECT count(*) FROM audit_entries
			WHERE tenant = ? AND (decision <> 'refused' OR object = 'file' AND uid <> '')),
			(SELECT count(*) FROM events WHERE tenant = ?)`, b.Tenant, b.Tenant).
		Scan(b.t.Context(), &entries, &events)
	if err != nil || entries != events {
		b.t.Fatalf("%d audit entries, %d events: %v", entries, events, err)
	}
	return entries
}

// keyed makes a request of an operation about acme, with an idempotency key.
func (b *bank) keyed(o operation, key string) *http.Request {
	b.receives(o)
	fill := b.names(b.acme.UID, b.operating.UID, b.supplier.UID, number(b.operating))
	r := request(o.method, fill.Replace(o.path), fill.Replace(o.body))
	r.Header.Set("Idempotency-Key", asUUID(key))
	return r
}

// asUUID is the key of a name: some operations demand UUIDs.
func asUUID(name string) string { return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name)).String() }

func TestARepeatedKeyHasOneEffectAndOneAnswer(t *testing.T) {
	t.Parallel()
	for _, o := range changing {
		t.Run(o.name, func(t *testing.T) {
			t.Parallel()
			b := newBank(t)
			answers := make([]said, 10)
			var all sync.WaitGroup
			for i := range answers {
				all.Go(func() { answers[i] = b.send(b.who(o), b.keyed(o, "key-1")) })
			}
			all.Wait()
			replayed := 0
			for _, answer := range answers {
				if answer.status != answers[0].status || answer.body != answers[0].body ||
					answer.status >= 300 {
					t.Errorf("%d %s, and %d %s", answers[0].status, answers[0].body, answer.status, answer.body)
				}
				if answer.header.Get("Idempotency-Replayed") == "true" {
					replayed++
				}
			}
			if replayed != 9 || b.recorded() != entries(o) {
				t.Errorf("%d of 10 were replayed, %d audit entries", replayed, b.recorded())
			}
			second := b.send(b.Someone("second"), b.keyed(o, "key-1")) // another caller's key is another key
			if second.header.Get("Idempotency-Replayed") != "" {
				t.Errorf("another caller is answered with the first one's answer: %s", second.body)
			}
			if o.body == "" {
				return
			}
			other := o
			other.body = another(o.body)
			if other.body == o.body {
				other.body = strings.Replace(o.body, `": `, `": 1`, 1)
			}
			again := b.send(b.who(o), b.keyed(other, "key-1"))
			code := "IDEMPOTENCY_KEY_REUSED"
			switch o.name {
			case "payments_credit_v4", "payments_credit_v5":
				code = "CREDIT_IDEMPOTENTKEY_CONFLICT"
			case "payments_debit_v4":
				code = "DEBIT_IDEMPOTENTKEY_CONFLICT"
			case "payments_waterfall":
				code = "WF_IDEMPOTENT_KEY_CONFLICT"
			}
			again.refused(t, "another body", http.StatusConflict, code, "used for another request")
		})
	}
}

func TestWhoRepeatsARequestInFlightIsToldWhenToComeBack(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	err := b.DB.InTx(t.Context(), int64(b.Tenant), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx,
			`INSERT INTO idempotency_keys (tenant, client, operation, key, request)
				VALUES (?, 'partner', 'addSignatory', ?, '')`, b.Tenant, asUUID("k"))
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
		b.send(b.program(), r).refused(t, name, http.StatusBadRequest, "SIG_VALIDATION_ERROR",
			map[bool]string{true: "both must be equal", false: "Idempotency-Key"}[name == "two"])
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

// Whoever sends two versions, or an empty one, has not said which one they saw (rest/CONTRACT.md, versions).
func TestIfMatchIsGivenOnce(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	o := operation{"", http.MethodPatch, "/v1/customers/{C}/signatories/{S}", `{"title": "CFO"}`}
	for _, versions := range [][]string{{`"1"`, `"9"`}, {`"1"`, `"1"`}, {"*", `"9"`}, {"", `"1"`}, {""}} {
		r := b.keyed(o, "k")
		r.Header["If-Match"] = versions
		b.send(b.program(), r).refused(t, strings.Join(versions, ","), http.StatusBadRequest,
			"SIG_VALIDATION_ERROR",
			map[bool]string{
				true:  "If-Match: must be given once",
				false: "If-Match: must be the ETag",
			}[len(versions) > 1])
	}
	if n := b.recorded(); n != 0 {
		t.Errorf("%d changes were made", n)
	}
}

// Mistakes in bodies of customers, by the name of the field in the answer.
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
			`{"limits": [{"appName": "Payments",
				"appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "1"},
				{"key": "NOBODYS", "value": "1"}]}]}`, "limits[0].appLimits[1].key: ",
		},
		{
			"/v2/customers/{C}",
			`{"limits": [{"appName": "Foreign_Exchange",
				"appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "1"}]}]}`, "failed: limits[0].appName: ",
		},
		{
			"/v2/customers/{C}",
			`{"limits": [{"appLimits": [{"key": "ACH_PAYMENT_LIMIT_PER_DAY", "value": "-1"}]}]}`,
			"limits[0].appLimits[0].value: ",
		},
		{
			"/v2/customers/{C}", `{"shortName": "other", "owner": 0, "status": "Pending", "version": 9}`,
			"body: must name something that can be changed",
		},
		{"/v2/customers/{C}", `{"note": null}`, "body: must name something that can be changed"},
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

// Regulatory entries are read masked. A partner that changes one entry of the list sends the others back
// masked.
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
