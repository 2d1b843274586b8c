package rest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/fault"
	"bankgraph/rest"
)

// The examples of answers in openapi.yaml are this package's golden files, so they cannot differ: "go test
// ./rest -update" writes both. Examples of failures are in one file for each area, by status.

// area is a family of operations with its own codes.
type area struct {
	name   string
	does   string    // the name of an operation of the area that succeeds
	wrong  operation // a request that answers 400
	absent string    // the path of an absent thing, if it answers 404; with its method, if that is not GET
}

const nobody = "/00000000-0000-4000-8000-000000000000"

var areas = []area{
	{
		"customers", "customers_change_v2",
		operation{"", http.MethodPut, "/v2/customers/{C}", `{"lei": "5493001KJTIIGC8Y1R13"}`},
		"",
	},
	{"contacts", "contacts_change_v2", operation{"", http.MethodGet, "/customers/{C}/contacts/999", ""}, ""},
	{"accounts", "accounts_v2_change", operation{"", http.MethodGet, "/v2/customers/{C}/accounts/999", ""}, ""},
	{
		"account_actions", "accounts_v2_close",
		operation{"", http.MethodPatch, "/v2/customers/{C}/accounts/{X}", `{"reason": "paid back"}`},
		"",
	},
	{
		"accounts_v3", "accounts_v3_change",
		operation{"", http.MethodPatch, "/v3/customers/{C}/accounts/{X}", `{"accountNumber": "{N}"}`},
		"",
	},
	{
		"sweeps", "sweeps_set_in",
		operation{
			"", http.MethodPost, "/v1/customers/{C}/accounts/{A}/sweeps/{in}",
			`{"balanceType": "Target", "targetBalance": 5}`,
		},
		"",
	},
	{"lookup", "lookup", operation{"", http.MethodGet, "/v1/customers/lookup/000", ""}, ""},
	{"banks", "banks_lookup", operation{
		"", http.MethodGet,
		"/v1/banks?bankId=THGTGB20&bankIdType=IBAN", "",
	}, ""},
	{"routing", "banks_find", operation{"", http.MethodGet, "/v1/banks/123456789", ""}, ""},
	{
		"payments", "payments_cancel",
		operation{"", http.MethodPut, "/v3/payments/{P}/cancel", ""},
		"/v3/payments/4711",
	},
	{
		"returns", "payments_return",
		operation{"", http.MethodPut, "/v3/payments/{P}/return", `{"returnCode": "CUST"}`},
		"PUT /v3/payments/4711/return",
	},
	{
		"reversals", "payments_reverse",
		operation{"", http.MethodPut, "/v3/payments/{F}/reverse", `{"reversalCode": "CUST"}`},
		"PUT /v3/payments/4711/reverse",
	},
	{
		"waterfalls", "payments_waterfall",
		operation{"", http.MethodPost, "/api/gateway/v1/payments/waterfall", strings.ReplaceAll(
			sent("payments_waterfall"), `"Sweep of November"`, `"`+strings.Repeat("Sweep", 41)+`"`)},
		"",
	},
	{
		"rfi", "rfi_send",
		operation{
			"", http.MethodPost, "/v1/rfi/{I}",
			`{"initiatingPartyName": "", "missingInformation": [null, {"code": "NARR"}]}`,
		},
		"",
	},
	{
		"recurrences", "recurrences_change",
		operation{
			"", http.MethodPatch, "/v1/recurrences/{Q}",
			`{"endDate": "11-01-2026", "numberOfPayments": 0, "frequency": "Often"}`,
		},
		"",
	},
	{
		"recurrences_v4", "recurrences_change_v4",
		operation{
			"", http.MethodPut, "/v4/payments/{M}/recurring/{Q}",
			`{"endDate": "11-01-2026", "noOfPayments": 0, "frequency": "Often"}`,
		},
		"",
	},
	{
		"uploads", "files_upload",
		operation{"", http.MethodPost, "/v1/payments/customers/{C}/files/csv", form("invoices.xlsx", "PK")},
		"",
	},
	{
		"file_search", "files_search",
		operation{"", http.MethodPost, "/v2/files/search", `{"fileNumber": "seven"}`},
		"",
	},
	{"file_payments", "files_payments", operation{"", http.MethodGet, "/v1/files/4711/payments", ""}, ""},
	{
		"file_decisions", "files_approve",
		operation{"", http.MethodPut, "/bulkpayment/files/4711/approve", ""},
		"",
	},
	{
		"virtual_accounts", "virtual_accounts_change",
		operation{
			"", http.MethodPost, "/v2/{C}/virtual-accounts",
			`{"accountName": "Suite #300", "masterAccountNumber": "{N}"}`,
		},
		"",
	},
	{
		"positive_search", "positive_rules_search",
		operation{"", http.MethodPost, "/v2/positivepay/rules/search?page=0&records=10", "{}"},
		"",
	},
	{
		"positive_rules", "positive_rules_create_v2",
		operation{
			"", http.MethodPost, "/v2/positivepay/rules",
			`{"paymentRuleType": "CHECK", "customerAccountNumber": "{N}"}`,
		},
		"",
	},
	{
		"positive_rules_v3", "positive_rules_create",
		operation{
			"", http.MethodPost, "/v3/positivepay/rules",
			`{"paymentRuleType": "CHECK", "customerAccountNumber": "{N}"}`,
		},
		"",
	},
	{
		"exception_search", "exceptions_search",
		operation{"", http.MethodPost, "/v2/positivepay/exception/search?page=1&records=101", "{}"},
		"",
	},
	{
		"exceptions", "exceptions_approve",
		operation{"", http.MethodPut, "/v2/positivepay/exception/4711/approve", ""},
		"",
	},
	{
		"decisions", "exceptions_decide_many",
		operation{"", http.MethodPatch, "/v1/positivepay/payments/decisions/approve", `{"ids": ["4711"]}`},
		"",
	},
	{
		"one_decision", "exceptions_decide",
		operation{"", http.MethodPut, "/v1/positivepay/payments/4711/decisions/Approve", ""},
		"",
	},
	{
		"plays", "plays_credit",
		operation{"", http.MethodPost, "/sandbox/incomingcredits", `{"paymentAmount": 1}`},
		"POST /sandbox/payments/4711/recall",
	},
	{
		"credit_requests", "payments_credit_v3",
		operation{
			"", http.MethodPost, "/v3/payments/creditrequest",
			`{"paymentAmount": 0, "speed": "Soon", "sender": {"accountUID": "{A}"}}`,
		},
		"",
	},
	{
		"credits_v4", "payments_credit_v4",
		operation{
			"", http.MethodPost, "/v4/payments/credit",
			`{"paymentAmount": 0, "speed": "Soon", "sender": {"accountUID": "{A}"}}`,
		},
		"",
	},
	{
		"debit_requests", "payments_debit",
		operation{
			"", http.MethodPost, "/v3/payments/debitrequest",
			`{"paymentAmount": 0, "speed": "Soon", "creditor": {"accountUID": "{A}"}}`,
		},
		"",
	},
	{
		"debits_v4", "payments_debit_v4",
		operation{
			"", http.MethodPost, "/v4/payments/debit",
			`{"paymentAmount": 0, "speed": "Soon", "creditor": {"accountUID": "{A}"}}`,
		},
		"",
	},
	{
		"book_transfers", "payments_book",
		operation{
			"", http.MethodPost, "/v3/payments/booktransfer",
			`{"paymentAmount": 0, "senderAccount": {"accountUID": "{A}"}}`,
		},
		"",
	},
	{
		"fx_quotes", "fx_quote_v3",
		operation{
			"", http.MethodPost, "/v3/fx/quote",
			`{"customerIdType": "CustomerUID", "sellCurrency": "USD", "buyCurrency": "USD", "productType": "SPOT"}`,
		},
		"",
	},
	{
		"fx_acceptances", "fx_accept",
		operation{"", http.MethodPut, "/v2/fx/accept", `{"quoteUUID": "00000000-0000-4000-8000-000000000000"}`},
		"",
	},
	{
		"fx_rejections", "fx_reject",
		operation{"", http.MethodPut, "/fx/00000000-0000-4000-8000-000000000000/reject", ""},
		"",
	},
	{"fx_trades", "fx_cover", operation{"", http.MethodGet, "/fx/4711/cover", ""}, ""},
	{
		"limit_check", "limits_check",
		operation{"", http.MethodPost, "/v1/customers/{C}/limits", `{"paymentAmount": 1}`},
		"",
	},
	{
		"limit_update", "limits_change",
		operation{
			"", http.MethodPatch, "/v1/customers/{C}/limits",
			`[{"entityLimitId": "NOBODYS", "entityLimitValue": "1"}]`,
		},
		"",
	},
	{
		"fees", "fees_add",
		operation{
			"", http.MethodPost, "/v1/customers/{C}/fees",
			`{"application": "Payments", "feeTier": "Lead", "feeName": "ON", "product": "Outgoing Payment"}`,
		},
		"",
	},
	{
		"signatories", "signatories_add",
		operation{
			"", http.MethodPost, "/v1/customers/{C}/signatories",
			`{"fullName": "Ada Byron", "emailAddress": "ada", "phoneNumber": "(614) 555-0123"}`,
		},
		"",
	},
	{
		"users", "users_change",
		operation{"", http.MethodPut, people + "/users/{U}", `{"roleNames": ["Nobodys"]}`},
		people + "/users" + nobody,
	},
	{
		"roles", "roles_create",
		operation{"", http.MethodPost, people + "/roles", `{"name": "Viewer"}`},
		people + "/roles" + nobody,
	},
}

// areaOf is the area of a documented operation.
func areaOf(method, path string) string {
	switch {
	case strings.Contains(path, "/realms/"):
		return "token"
	case path == "/v1/banks":
		return "banks"
	case strings.HasPrefix(path, "/v1/banks/"):
		return "routing"
	case strings.HasSuffix(path, "/creditrequest"):
		return "credit_requests"
	case strings.HasSuffix(path, "/debitrequest"):
		return "debit_requests"
	case path == "/v4/payments/credit", path == "/v5/payments/credit":
		return "credits_v4"
	case path == "/v4/payments/debit":
		return "debits_v4"
	case strings.Contains(path, "/recurring/"):
		return "recurrences_v4"
	case strings.HasSuffix(path, "/return"):
		return "returns"
	case strings.HasSuffix(path, "/reverse"):
		return "reversals"
	case strings.HasSuffix(path, "/waterfall"):
		return "waterfalls"
	case strings.HasPrefix(path, "/v1/rfi/"):
		return "rfi"
	case strings.HasPrefix(path, "/v1/recurrences/"):
		return "recurrences"
	case strings.HasPrefix(path, "/v1/payments/customers/"):
		return "uploads"
	case path == "/bulkpayment/files":
		return "uploads"
	case strings.HasPrefix(path, "/bulkpayment/files/") && method == http.MethodGet:
		return "file_payments"
	case strings.HasPrefix(path, "/bulkpayment/files/") && method == http.MethodPut:
		return "file_decisions"
	case strings.HasSuffix(path, "/files/search"):
		return "file_search"
	case strings.HasPrefix(path, "/v1/files/"):
		return "file_payments"
	case strings.Contains(path, "/virtual-accounts"):
		return "virtual_accounts"
	case path == "/v2/positivepay/exception/search":
		return "exception_search"
	case strings.HasPrefix(path, "/v2/positivepay/exception/"):
		return "exceptions"
	case strings.HasPrefix(path, "/v1/positivepay/payments/decisions/"):
		return "decisions"
	case strings.HasPrefix(path, "/v1/positivepay/"):
		return "one_decision"
	case path == "/v2/positivepay/rules/search":
		return "positive_search"
	case strings.HasPrefix(path, "/v2/positivepay/"):
		return "positive_rules"
	case strings.HasPrefix(path, "/v3/positivepay/"):
		return "positive_rules_v3"
	case strings.HasSuffix(path, "/fx/quote"):
		return "fx_quotes"
	case strings.HasSuffix(path, "/fx/accept"):
		return "fx_acceptances"
	case strings.HasSuffix(path, "/reject"):
		return "fx_rejections"
	case strings.Contains(path, "/fx/"):
		return "fx_trades"
	case strings.HasPrefix(path, "/sandbox/"):
		return "plays"
	case strings.HasSuffix(path, "/booktransfer"):
		return "book_transfers"
	case strings.HasSuffix(path, "/limits"):
		return map[string]string{http.MethodPost: "limit_check", http.MethodPatch: "limit_update"}[method]
	case strings.Contains(path, "/sweeps/"):
		return "sweeps"
	case strings.Contains(path, "/accounts") && strings.HasPrefix(path, "/v3"):
		return "accounts_v3"
	case strings.Contains(path, "/accounts") && method == http.MethodPatch:
		return "account_actions"
	}
	for _, part := range []string{
		"lookup", "payments", "fees", "signatories", "users", "roles", "accounts", "contacts", "beneficiary",
	} {
		if strings.Contains(path, "/"+part) {
			return map[string]string{"beneficiary": "contacts"}[part] + strings.TrimPrefix(part, "beneficiary")
		}
	}
	return "customers"
}

func TestEveryFailureAnswersItsGoldenBody(t *testing.T) {
	t.Parallel()
	for _, a := range areas {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			refusedGolden(t, a.name, newBank(t).refusals(a))
		})
	}
}

// refusals returns the failures of an area by status.
func (b *bank) refusals(a area) map[int]string {
	b.t.Helper()
	o := everything()[slices.IndexFunc(everything(), func(o operation) bool { return o.name == a.does })]
	reused := o
	if reused.body = another(o.body); a.name == "recurrences" { // which has no text
		reused.body = `{"amount": 13}`
	} else if a.name == "fx_acceptances" {
		reused.body = strings.Replace(o.body, "20", "21", 1)
	}
	large, media := b.keyed(o, "l"), b.keyed(o, "m")
	large.ContentLength = 1 << 20
	media.Header.Set("Content-Type", "text/plain")
	b.send(b.who(o), b.keyed(o, "k"))
	otherwise := b.keyed(reused, "k")
	if o.body == "" {
		otherwise.Header.Set("If-Match", `"9"`)
	}
	all := map[int]string{
		http.StatusBadRequest:   b.send(b.who(o), b.keyed(a.wrong, "w")).body,
		http.StatusUnauthorized: b.ask(b.Nobody(), o).body,
		http.StatusForbidden:    b.denied(o),
		http.StatusConflict:     b.send(b.who(o), otherwise).body,
	}
	if a.absent != "" {
		method, path, changes := strings.Cut(a.absent, " ")
		gone := operation{"", method, path, "{}"}
		if !changes {
			gone = operation{"", http.MethodGet, a.absent, ""}
		}
		all[http.StatusNotFound] = b.ask(b.program(), gone).body
	}
	if o.body != "" {
		all[http.StatusRequestEntityTooLarge] = b.send(b.who(o), large).body
		all[http.StatusUnsupportedMediaType] = b.send(b.who(o), media).body
	}
	for status, err := range map[int]error{
		http.StatusTooManyRequests: &fault.Fault{
			Kind: fault.TooMany, Message: "too many requests with this API key, try again in a moment",
		},
		http.StatusInternalServerError: errors.New("disk on fire"),
		http.StatusServiceUnavailable: &fault.Fault{
			Kind: fault.Unavailable, Message: "the bank is busy, try again in a moment",
		},
	} {
		w := httptest.NewRecorder()
		rest.New(b.Core, rest.Options{Log: slog.New(slog.DiscardHandler)}).Refuse(w,
			b.keyed(a.wrong, "r").WithContext(b.program()), err)
		if w.Code == status {
			all[status] = w.Body.String()
		}
	}
	if !strings.Contains(all[http.StatusConflict], "idempotency key") {
		delete(all, http.StatusConflict) // reads have no conflicts
	}
	return all
}

// denied returns the answer to a caller that may not do it. What everybody may do, only tokens without the
// scope may not, which are refused before the operation.
func (b *bank) denied(o operation) string {
	b.t.Helper()
	if !o.forAll() {
		return b.ask(b.As(), o).body
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(o.method, o.path, nil)
	rest.New(b.Core, rest.Options{Log: slog.New(slog.DiscardHandler)}).
		Refuse(w, r.WithContext(b.program()), access.ErrDenied)
	return w.Body.String()
}

func refusedGolden(t *testing.T, area string, all map[int]string) {
	t.Helper()
	bodies := map[string]json.RawMessage{}
	for status, body := range all {
		bodies[strconv.Itoa(status)] = json.RawMessage(body)
	}
	text, err := json.MarshalIndent(bodies, "", "  ")
	if err != nil {
		t.Fatalf("%s: %v %v", area, err, all)
	}
	golden(t, "refused_"+area, string(text)+"\n")
}

func basicOf(key, secret string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(key, secret)
	return r.Header.Get("Authorization")
}

// oneTime matches what is different for each token, key or bank.
var oneTime = regexp.MustCompile(`"(access_token|refresh_token|kid|x|y)":"[^"]*"`)

func TestTokenServiceAnswersItsGoldenBodies(t *testing.T) {
	t.Parallel()
	r := newRealm(t, rest.TokenLimits{})
	said := func(w *httptest.ResponseRecorder) said {
		body := strings.ReplaceAll(w.Body.String(), r.path, "/auth/realms/sandbox")
		return said{status: w.Code, body: oneTime.ReplaceAllString(body, `"$1":"…"`)}
	}
	basic := basicOf("portal", r.secret)
	said(r.post("grant_type=client_credentials", "Authorization", basic)).golden(t, "token_issue")
	keys, _ := r.get(r.path + "/protocol/openid-connect/certs")
	said(keys).golden(t, "token_keys")
	service, _ := r.get(r.path + "/.well-known/openid-configuration")
	said(service).golden(t, "token_discovery")
	all := map[int]string{
		http.StatusBadRequest: r.post("grant_type=password", "Authorization", basic).Body.String(),
		http.StatusUnauthorized: r.post("grant_type=client_credentials", "Authorization",
			basicOf("portal", "wrong")).Body.String(),
		http.StatusRequestEntityTooLarge: r.post("grant_type=client_credentials&scope="+strings.Repeat("x", 1<<20),
			"Authorization", basic).Body.String(),
	}
	absent, _ := r.get("/auth/realms/no-such-bank/protocol/openid-connect/certs")
	all[http.StatusNotFound] = absent.Body.String()
	for status, err := range map[int]error{
		http.StatusTooManyRequests: &fault.Fault{
			Kind: fault.TooMany, Message: "too many requests, try again in a moment",
		},
		http.StatusInternalServerError: errors.New("disk on fire"),
		http.StatusServiceUnavailable: &fault.Fault{
			Kind: fault.Unavailable, Message: "the bank is busy, try again in a moment",
		},
	} {
		w := httptest.NewRecorder()
		rest.RefuseToken(w, nil, err)
		all[status] = w.Body.String()
	}
	refusedGolden(t, "token", all)
}

// generated is the line in openapi.yaml where the examples begin.
const generated = "\n  # Written by \"go test ./rest -update\" from the golden files of testdata: " +
	"not by hand.\n  examples:\n"

func TestExamplesOfAnswersAreTheGoldenFiles(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	by, _, _ := strings.Cut(string(text), generated)
	want := strings.TrimRight(by, "\n") + "\n" + generated + examples(t)
	if *update {
		if err := os.WriteFile("openapi.yaml", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("openapi.yaml is stale: go test ./rest -update, twice\n%s", diff)
	}
}

// examples returns the golden bodies as YAML.
func examples(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil {
		t.Fatal(err)
	}
	var yaml strings.Builder
	write := func(name string, body []byte) {
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, bytes.TrimSpace(body), "        ", "  "); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		yaml.WriteString("    " + name + ":\n      value:\n        " + pretty.String() + "\n")
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".golden")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(name, "refused_") {
			if _, body, there := bytes.Cut(text, []byte("\n{")); there &&
				!strings.HasPrefix(name, "failure_") {
				write(name, append([]byte("{"), body...))
			}
			continue
		}
		bodies := map[string]json.RawMessage{}
		if err := json.Unmarshal(text, &bodies); err != nil {
			t.Fatal(err)
		}
		for _, status := range slices.Sorted(maps.Keys(bodies)) {
			write(name+"_"+status, bodies[status])
		}
	}
	return yaml.String()
}

func TestEveryAnswerHasItsExample(t *testing.T) {
	t.Parallel()
	doc := readDocument(t)
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			for status, response := range operation.Responses.Map() {
				media := response.Value.Content.Get("application/json")
				if media == nil {
					continue
				}
				where := method + " " + path + " " + status
				if len(media.Examples) == 0 {
					t.Errorf("%s has no example", where)
				}
				failure := "refused_" + areaOf(method, path) + "_" + status
				if doc.Components.Examples[failure] != nil && !refersTo(media.Examples, failure) {
					t.Errorf("%s does not show %s", where, failure)
				}
				for name, example := range media.Examples {
					if err := media.Schema.Value.VisitJSON(plainJSON(example.Value.Value)); err != nil {
						t.Errorf("%s: example %s: %v", where, name, err)
					}
				}
			}
		}
	}
}

func refersTo(all openapi3.Examples, name string) bool {
	for _, example := range all {
		if example.Ref == "#/components/examples/"+name {
			return true
		}
	}
	return false
}
