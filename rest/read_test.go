package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"bankgraph/core/coretest"
)

// path is the path of something of acme.
func (b *bank) path(path string) string {
	return strings.NewReplacer("{C}", b.acme.UID.String(), "{A}", b.operating.UID.String(), "{K}",
		b.supplier.UID.String(),
		"{N}", coretest.AccountNumber(b.operating.UID)).Replace(path)
}

func TestFiltersFindWhatTheySay(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct {
		path  string
		found string // a text of the only item found; "" for none
	}{
		{"/customers?Page=1&limit=9&legalName=ACME%20trad", "Acme"},
		{"/customers?Page=1&limit=9&legalName=rading", ""},
		{"/customers?Page=1&limit=9&legalName=%27%27%20OR%201=1%20--%20:*", ""},
		{"/customers?Page=1&limit=9&CustomerType=corporate", "Acme"},
		{"/customers?Page=1&limit=9&CustomerType=Downstream_Partner", `"customerUID":1000001`},
		{"/customers?Page=1&limit=9&shortName=ACME", "Acme"},
		{"/customers?Page=1&limit=9&CustomerID=cust-7", "Acme"},
		{"/v2/customers?page=1&limit=9&customerType=CORPORATE&status=active", "Acme"},
		{"/v2/customers?page=1&limit=9&customerType=Corporate&status=Suspended", ""},
		{"/v2/customers?page=1&limit=9&customerId=cust-7", "Acme"},
		{"/v2/customers?page=1&limit=9&customerUID=1000002", "Acme"},
		{"/v2/customers?page=1&limit=9&taxId=" + coretest.TaxID(b.acme.UID), "Acme"},
		{"/v2/customers?page=1&limit=9&taxId=" + coretest.TaxID(b.direct.UID), ""},
		{"/v2/customers?page=1&limit=9&shortName=acm", ""},
		{
			"/customers/{C}/contacts?page=1&limit=9&accountNumber=" + coretest.ContactNumber(b.supplier.UID),
			"Supplier",
		},
		{"/customers/{C}/contacts?page=1&records=9&contactName=SUPPL", "Supplier"},
		{"/v2/customers/{C}/contacts?page=1&limit=9&contactName=upplier", ""},
		{"/v2/customers/{C}/contacts?page=1&limit=9&accountNumber=" + coretest.ContactNumber(b.stranger.UID), ""},
		{"/customers/{C}/accounts?accountType=loan", "Credit line"},
		{"/customers/{C}/accounts?status=Inactive&currency=jpy&wireEnabled=FALSE", "Credit line"},
		{"/customers/{C}/accounts?currency=jpy&wireEnabled=No", "Credit line"},
		{"/customers/{C}/accounts?currency=jpy&wireEnabled=yes", ""},
		{"/customers/{C}/accounts?status=Closed", ""},
		{"/v2/customers/{C}/accounts?page=1&limit=9&accountSubType=Psuedo", "For benefit of"},
		{"/v2/customers/{C}/accounts?page=1&limit=9&accountSubType=LineofCredit", "Credit line"},
		{"/v2/customers/{C}/accounts?page=1&limit=9&costCenter=CC-1", "Operating"},
		{"/customers/{C}/accounts?costCenter=CC-1", "Operating"},
		{"/customers/{C}/accounts?accountSubType=Psuedo", "For benefit of"},
		{"/v2/customers/{C}/accounts?page=1&limit=9&accountNumber={N}", "Operating"},
		{"/v2/customers/{C}/accounts?page=1&limit=9&accountNumber=" + number(b.hidden), ""},
		{"/customers/{C}/accounts?unknown=1&unknown=2", "3 of them"},
	} {
		answer := b.get(b.program(), b.path(c.path))
		total := `"totalRecords":1,`
		switch c.found {
		case "":
			total = `"totalRecords":0,`
		case "3 of them":
			total, c.found = `"totalRecords":3,`, ""
		}
		if answer.status != http.StatusOK || !strings.Contains(answer.body, total) ||
			!strings.Contains(answer.body, c.found) {
			t.Errorf("%s: %d %s", c.path, answer.status, answer.body)
		}
	}
}

// A filter that is blank is not one that is absent: it would find all, or what nobody asked for.
func TestABlankFilterIsRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, path := range []string{
		"/customers?Page=1&limit=9&legalName=%20", "/v2/customers?page=1&limit=9&shortName=%20%09",
		"/v2/customers?page=1&limit=9&customerId=%20", "/v2/customers?page=1&limit=9&achCompanyID=%20",
		"/v2/customers/{C}/contacts?page=1&limit=9&contactName=%20",
		"/v2/customers/{C}/accounts?page=1&limit=9&costCenter=%20",
	} {
		if said := b.get(b.program(), b.path(path)); said.status != http.StatusBadRequest {
			t.Errorf("%s: %d %s", path, said.status, said.body)
		}
	}
}

func TestTheFirstGenerationTakesTheCaseOfTheSecondToo(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	want := b.get(b.program(), "/customers?Page=1&limit=9&CustomerType=Corporate&CustomerID=cust-7")
	if got := b.get(b.program(),
		"/customers?page=1&limit=9&customerType=Corporate&customerId=cust-7"); got.status != http.StatusOK ||
		got.body != want.body {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// Some clients escape more of a path than they must (RFC 3986, 6.2.2.2).
func TestAPathMayBeEscaped(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, path := range []string{
		"/v2/customers/{C}", "/v3/customers/{C}/accounts/{A}", "/v1/customers/{C}/beneficiary/{K}",
		"/v1/customers/lookup/{N}",
	} {
		whole := b.path(path)
		last := len(whole) - 1
		escaped := whole[:last] + fmt.Sprintf("%%%X", whole[last])
		if got, want := b.get(b.program(), escaped), b.get(b.program(), whole); got.status != http.StatusOK ||
			got.body != want.body {
			t.Errorf("%s: %d %s", escaped, got.status, got.body)
		}
	}
}

func TestPagesAreCutByNumber(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct{ path, pagination, item string }{
		{
			"/v2/customers?page=2&limit=1",
			`{"totalRecords":3,"returnedRecords":1,"pageReturned":2,"pageSize":1}`,
			"Acme",
		},
		{
			"/customers?Page=2&limit=2",
			`{"totalRecords":3,"returnedRecords":1,"pageReturned":2,"pageSize":2}`,
			"Bare",
		},
		{
			"/v2/customers/{C}/contacts?page=2&limit=1",
			`{"totalRecords":2,"returnedRecords":1,"pageReturned":2,"pageSize":1}`, "Other",
		},
		{
			"/v2/customers/{C}/accounts?page=3&limit=1",
			`{"totalRecords":3,"returnedRecords":1,"pageReturned":3,"pageSize":1}`, "Credit line",
		},
		{
			"/customers/{C}/accounts?page=2&limit=2",
			`{"totalRecords":3,"returnedRecords":1,"pageReturned":2,"pageSize":2}`, "Credit line",
		},
	} {
		answer := b.get(b.program(), b.path(c.path))
		if !strings.Contains(answer.body, c.pagination) || !strings.Contains(answer.body, c.item) {
			t.Errorf("%s: %s", c.path, answer.body)
		}
	}
	v3 := b.call(b.program(), http.MethodPost, b.path("/v3/customers/{C}/accounts/search?page=2&limit=2"), "{}")
	if !strings.Contains(v3.body, `{"totalRecords":3,"returnedRecords":1,"pageReturned":2,"pageSize":2}`) {
		t.Errorf("v3: %s", v3.body)
	}
	signatories := b.get(b.program(), b.path("/v1/customers/{C}/signatories?page=1&size=1")).body
	if strings.Contains(signatories, "Ann Lee") || !strings.Contains(signatories, `"id":2,`) {
		t.Errorf("second page of signatories: %s", signatories)
	}
}

func TestValuesThatAnOperationDoesNotKnowAreRefusedByName(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	long := strings.Repeat("x", 256)
	for _, c := range []struct{ path, code, message string }{
		{"/customers?limit=1", "CUST001", "Page: is required"},
		{"/v2/customers?page=1&limit=9&taxId=****2167", "CUST001", "taxId: must be the whole tax id, not masked"},
		{"/customers?Page=1", "CUST001", "limit: is required"},
		{"/customers?Page=1&limit=", "CUST001", "limit: is required"},
		{"/customers?Page=0&limit=1", "CUST001", "Page: must be at least 1"},
		{"/customers?Page=-1&limit=1", "CUST001", "Page: must be at least 1"},
		{"/customers?Page=abc&limit=1", "CUST001", "Page: must be a whole number"},
		{"/customers?Page=1.0&limit=1", "CUST001", "Page: must be a whole number"},
		{"/customers?Page=1&limit=1001", "CUST001", "limit: must be at most 1000"},
		{"/customers?Page=1&limit=0", "CUST001", "limit: must be at least 1"},
		{"/customers?Page=99999999999999999999&limit=1", "CUST001", "Page: must be at most"},
		{"/customers?Page=1&page=1&limit=1", "CUST001", "page: must be given once"},
		// the parameter is named as the caller wrote it
		{"/customers?page=0&limit=1", "CUST001", "failed: page: must be at least 1"},
		{"/customers?page=1&limit=1&customerType=Banana", "CUST001", "failed: customerType: must be one of"},
		{"/v2/customers/{C}/contacts?page=1&records=101", "CUST001", "records: must be at most 100"},
		{"/customers?Page=1&limit=1&CustomerType=Banana", "CUST001", "CustomerType: must be one of"},
		{"/customers?Page=1&limit=1&shortName=a&shortName=b", "CUST001", "shortName: must be given once"},
		{"/customers?Page=1&limit=1&legalName=" + long, "CUST001", "legalName: must have at most 255 characters"},
		{"/customers?Page=1&limit=1&legalName=a%00b", "CUST001", "legalName: must be plain text"},
		{"/customers?Page=1&limit=1&legalName=%ff%fe", "CUST001", "legalName: must be plain text"},
		{"/customers?Page=1&limit=1&legalName=%zz", "CUST001", "query: must be a well-formed"},
		{"/customers/abc", "CUST001", "customerUID: must be the digits"},
		{"/customers/0", "CUST001", "customerUID: must not be all zeros"},
		{"/customers/-1", "CUST001", "customerUID: must be the digits"},
		{"/customers/%2531", "CUST001", "customerUID: must be the digits"},
		{"/customers/1%2Faccounts", "CUST001", "customerUID: must be the digits"},
		{"/v2/customers/99999999999999999999", "CUST001", "customerUID: must be the digits"},
		{"/v2/customers?page=1&limit=1&status=Dead", "CUST001", "status: must be one of"},
		{"/v2/customers?page=1&limit=1&customerUID=x", "CUST001", "customerUID: must be the digits"},
		{"/v2/customers?Page=1&limit=1", "CUST001", "page: is required"},
		{"/v2/customers/{C}/contacts?page=1&limit=101", "CUST001", "limit: must be at most 100"},
		{"/v2/customers/{C}/contacts?page=1", "CUST001", "limit: is required"},
		{
			"/customers/{C}/contacts?page=1&limit=1&records=1", "CUST001",
			"records: must be given once: limit and records are the same",
		},
		{
			"/customers/{C}/contacts?page=1&limit=1&accountNumber=****0718", "CUST001",
			"accountNumber: an account number is given as a whole, not masked",
		},
		{
			"/v2/customers/{C}/accounts?page=1&limit=1&accountNumber=****0718", "ACC001",
			"accountNumber: an account number is given as a whole, not masked",
		},
		{"/customers/{C}/contacts/x", "CUST001", "contactUID: must be the digits"},
		{"/v1/customers/{C}/beneficiary/1x", "CUST001", "contactId: must be the digits"},
		{"/customers/{C}/accounts?wireEnabled=maybe", "ACC001", "wireEnabled: must be Yes or No"},
		{
			"/v2/customers/{C}/accounts?page=1&limit=1&wireEnabled=Yes", "ACC001",
			"wireEnabled: must be true or false",
		},
		{"/customers/{C}/accounts?currency=XXQ", "ACC001", "currency: must be an ISO 4217"},
		{
			"/customers/{C}/accounts?accountNumber=12-34", "ACC001",
			"accountNumber: an account number is letters and digits",
		},
		{
			"/customers/{C}/accounts/{A}?includeAccountBalance=1", "ACC001",
			"includeAccountBalance: must be Yes or No",
		},
		{"/customers/{C}/accounts/9x", "ACC001", "accountUID: must be the digits"},
		{"/customers//accounts", "ACC001", "customerUID: must be the digits"},
		{
			"/v2/customers/{C}/accounts?page=1&limit=1&accountType=Cash", "ACC001",
			"accountType: must be Deposit or Loan",
		},
		{
			"/v2/customers/{C}/accounts?page=1&limit=1&accountSubType=Cash", "ACC001",
			"accountSubType: must be one of",
		},
		{"/v2/customers/{C}/accounts?page=1&limit=1&status=Gone", "ACC001", "status: must be one of"},
		{"/v3/customers/{C}/accounts/x", "ACC001", "accountUID: must be the digits"},
		{"/v1/customers/{C}/signatories?page=10000", "SIG_VALIDATION_ERROR", "page: must be at most 9999"},
		{"/v1/customers/{C}/signatories?size=501", "SIG_VALIDATION_ERROR", "size: must be at most 500"},
		{"/v1/customers/0/signatories", "SIG_VALIDATION_ERROR", "customerId: must not be all zeros"},
		{"/v1/customers/lookup/" + strings.Repeat("1", 36), "LKUP_ACCNUM_MAX", "at most 35"},
		{"/v1/customers/lookup/000", "LKUP_ACCNUM_ALLZERO", "not all zeros"},
		{"/v1/customers/lookup/12-3", "LKUP_ACCNUM_INVALID", "letters and digits"},
		{"/v1/customers/lookup/1?accountType=CASH", "LKUP_ACCTYPE_INVALID", "accountType"},
		{"/v1/customers/lookup/1?accountType=LOAN&accountType=LOAN", "LKUP_ACCTYPE_INVALID", "given once"},
	} {
		answer := b.get(b.program(), b.path(c.path))
		answer.refused(t, c.path, http.StatusBadRequest, c.code, c.message)
		if answer.cost.Statements.Load() != 0 {
			t.Errorf("%s reaches the database", c.path)
		}
	}
}

func TestTheLookupCountsOnlyAccountsOfTheType(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for accountType, found := range map[string]bool{"DEPOSIT": true, "LOAN": false} {
		if body := b.get(b.program(),
			b.path("/v1/customers/lookup/{N}?accountType="+accountType)).body; strings.Contains(body,
			"Acme") != found {
			t.Errorf("%s: %s", accountType, body)
		}
	}
}

func TestBalancesAreShownOnlyWhenAskedForAndKeptHere(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, generation := range []string{"", "/v2", "/v3"} {
		for _, query := range []string{"", "?includeAccountBalance=false"} {
			if body := b.get(b.program(),
				b.path(generation+"/customers/{C}/accounts/{A}"+query)).
				body; strings.Contains(body, "ledgerBalance") ||
				strings.Contains(body, "availableBalance") {
				t.Errorf("%s without balances: %s", generation, body)
			}
		}
		path := fmt.Sprintf("%s/customers/%d/accounts/%d?includeAccountBalance=true", generation, b.acme.UID,
			b.loan.UID)
		if body := b.get(b.program(), path).body; strings.Contains(body, "ledgerBalance") {
			t.Errorf("%s of an account that is kept elsewhere: %s", generation, body)
		}
	}
}

func TestTheV3SearchReadsItsBody(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := b.path("/v3/customers/{C}/accounts/search")
	for body, total := range map[string]int{
		"":   3,
		"{}": 3,
		`{"accountNumber": "` + coretest.AccountNumber(b.operating.UID) + `"}`: 1,
		`{"accountType": "loan", "accountSubType": "LineofCredit"}`:            1,
		`{"status": "INACTIVE", "currency": "JPY"}`:                            1,
		`{"wireEnabled": false}`:                                               1, `{"fedwireEnabled": true}`: 3,
		`{"achEnabled": true}`: 1, `{"fedNowEnabled": true}`: 1,
		`{"rtpEnabled": true}`: 1, `{"swiftEnabled": true}`: 0, `{"costCenter": "CC-1", "status": null}`: 1,
		`{"tenant": 7, "customerUID": 1000004, "Status": "Closed"}`: 3,
	} {
		answer := b.call(b.program(), http.MethodPost, path, body)
		if answer.status != http.StatusOK ||
			!strings.Contains(answer.body, fmt.Sprintf(`"totalRecords":%d,`, total)) {
			t.Errorf("%s: %d %s", body, answer.status, answer.body)
		}
	}
}

func TestBodiesThatAreNotOneJSONObjectAreRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, body := range []string{
		"null", "[]", `"x"`, "1", "{", `{"a": 1,}`, "{} {}",
		"{} x", "\ufeff{}", "{\"a\": \"\xff\"}", `{'a': 1}`,
		`{"a": 01}`, `{"a": NaN}`,
		`{"paymentRail": "ACH", "paymentRail": "RTP"}`, `{"x": {"a": 1, "a": 2}}`,
		strings.Repeat(`{"a":`, 10000) + "1" + strings.Repeat("}", 10000),
		strings.Repeat("[", 10_000),
	} {
		limits := b.call(b.program(), http.MethodPost, b.path("/v1/customers/{C}/limits"), body)
		limits.refused(t, body[:min(len(body), 40)], http.StatusBadRequest, "CUSTOMERLIMIT_INVALID_REQUEST",
			"body: must")
		search := b.call(b.program(), http.MethodPost, b.path("/v3/customers/{C}/accounts/search"), body)
		search.refused(t, body[:min(len(body), 40)], http.StatusBadRequest, "ACC001", "body: must")
	}
}

// No field is to blame for a body that cannot be read, nor for one that says nothing: the code is that of the
// area for everything without one of its own.
func TestABodyAsAWholeHasNoCodeOfAField(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for path, code := range map[string]string{
		"POST /v4/payments/credit": "CREDIT_REQUEST_INVALID", "POST /v5/payments/credit": "CREDIT_REQUEST_INVALID",
		"POST /v4/payments/debit":                                    "DEBIT_REQUEST_INVALID",
		"POST /v3/positivepay/rules":                                 "POSITIVERULE_REQUEST_INVALID",
		"POST /v2/{C}/virtual-accounts":                              "VIRTUALACCOUNT_REQUEST_INVALID",
		"PATCH /v1/recurrences/1":                                    "RECURRENCE_REQUEST_INVALID",
		"POST /v1/customers/{C}/accounts/{A}/sweeps/TARGET_BALANCE":  "SWEEP_VALIDATION_ERROR",
		"PATCH /v1/customers/{C}/accounts/{A}/sweeps/TARGET_BALANCE": "SWEEP_VALIDATION_ERROR",
	} {
		method, at, _ := strings.Cut(b.path(path), " ")
		for _, body := range []string{"[]", "{", `{"a": 1, "a": 1}`} {
			b.call(b.program(), method, at, body).
				refused(t, path+" "+body, http.StatusBadRequest, code, "body: must")
		}
	}
	said := b.call(b.program(), http.MethodPost, b.path("/v3/customers/{C}/accounts"), "[]")
	if strings.Contains(said.body, "_BODY_") {
		t.Error(said.body)
	}
	b.receives(operation{path: "{Q}"})
	for _, body := range []string{"", "{}"} {
		b.call(b.Staff(), http.MethodPatch, "/v1/recurrences/"+b.series.Recurrence.String(), body).
			refused(t, "a series", http.StatusBadRequest, "RECURRENCE_REQUEST_INVALID", "body: give at least one")
	}
}

// The first generation asks for the permission before it looks for its reference.
func TestANewAccountOfTheOldestFormNeedsThePermissionFirst(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := b.path("/customers/{C}/accounts")
	b.call(b.As(), http.MethodPost, path, `{}`).refused(t, "denied", http.StatusForbidden, "API901", "")
	b.call(b.Staff(), http.MethodPost, path, `{}`).refused(t, "staff", http.StatusBadRequest, "ACC001",
		"externalReferenceId: is required")
}

// The directory names the banks of accounts and payments where nobody else has.
func TestTheDirectoryNamesBanks(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.Directory()
	b.Exec("UPDATE accounts SET bank_name = '' WHERE tenant = ?", b.Tenant)
	b.receives(operation{path: "{I}"})
	b.receives(operation{path: "{sent}"})
	const ours = `(Test|Sandbox) Bank` // another test imports it by the other name
	for uid, want := range map[string]string{
		b.came.String():     `"senderBankName":"Real Time Bank".*"receiverBankName":"` + ours,
		b.gone.String():     `"senderBankName":"` + ours + `".*"receiverBankName":"Old Mill Bank"`,
		b.paid.UID.String(): `"senderBankName":"` + ours + `".*"receiverBankName":"` + ours,
	} {
		for _, said := range []said{
			b.get(b.program(), "/v3/payments/"+uid),
			b.call(b.program(), http.MethodPost, "/payments/search", `{"page": 1, "limit": 1, "paymentUID": `+uid+`}`),
		} {
			if !regexp.MustCompile(want).MatchString(said.body) {
				t.Errorf("no %s: %s", want, said.body)
			}
		}
	}
	for _, path := range []string{"/customers/{C}/accounts/{A}", "/customers/{C}/accounts"} {
		said := b.get(b.program(), b.path(path))
		if !regexp.MustCompile(`"bankName":"` + ours).MatchString(said.body) {
			t.Errorf("%s: %s", path, said.body)
		}
	}
}

func TestBodiesOfAnotherKindOrSizeAreRefused(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct {
		kind, encoding, body string
		status               int
	}{
		{"", "", `{"paymentRail": "ACH"}`, http.StatusUnsupportedMediaType},
		{"text/plain", "", `{"paymentRail": "ACH"}`, http.StatusUnsupportedMediaType},
		{"application/x-www-form-urlencoded", "", `paymentRail=ACH`, http.StatusUnsupportedMediaType},
		{"application/json; charset=latin1", "", `{"paymentRail": "ACH"}`, http.StatusUnsupportedMediaType},
		{"application/json", "gzip", `{"paymentRail": "ACH"}`, http.StatusUnsupportedMediaType},
		{"application/json", "", `{"x": "` + strings.Repeat("x", 64<<10) + `"}`, http.StatusRequestEntityTooLarge},
		{"application/json; charset=UTF-8", "identity", `{"paymentRail": "ACH"}`, http.StatusOK},
		{"application/json;charset=utf8", "", `{"paymentRail": "ACH"}`, http.StatusOK},
	} {
		for _, path := range []string{"/v1/customers/{C}/limits", "/v3/customers/{C}/accounts/search"} {
			r := httptest.NewRequest(http.MethodPost, b.path(path), strings.NewReader(c.body))
			r.Header.Set("Content-Type", c.kind)
			r.Header.Set("Content-Encoding", c.encoding)
			if answer := b.send(b.program(), r); answer.status != c.status {
				t.Errorf("%s %s %s: %d %s", path, c.kind, c.encoding, answer.status, answer.body)
			}
		}
	}
}

// Clients that have nothing to send may say that it is a form.
func TestAnEmptyBodyIsNoneWhateverItsKind(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, kind := range []string{"", "application/x-www-form-urlencoded", "application/json"} {
		r := httptest.NewRequest(http.MethodPost, b.path("/v3/customers/{C}/accounts/search"), http.NoBody)
		r.Header.Set("Content-Type", kind)
		if answer := b.send(b.program(), r); answer.status != http.StatusOK {
			t.Errorf("%q: %d %s", kind, answer.status, answer.body)
		}
	}
}

func TestTheLimitCheckRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for body, code := range map[string]string{
		`{}`:                          "CUSTOMERLIMIT_PAYMENTRAIL_REQUIRED",
		`{"paymentRail": null}`:       "CUSTOMERLIMIT_PAYMENTRAIL_REQUIRED",
		`{"PaymentRail": "ACH"}`:      "CUSTOMERLIMIT_PAYMENTRAIL_REQUIRED",
		`{"paymentRail": "SWIFT"}`:    "CUSTOMERLIMIT_PAYMENTRAIL_INVALID",
		`{"paymentRail": 7}`:          "CUSTOMERLIMIT_PAYMENTRAIL_INVALID",
		`{"paymentRail": "A\u0000H"}`: "CUSTOMERLIMIT_PAYMENTRAIL_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": "1"}`:                   "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": 1e400}`:                 "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": 1e-3}`:                  "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": 1.00000001E7}`:          "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": -1}`:                    "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": 0.001}`:                 "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": 10000000.01}`:           "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "paymentAmount": 9223372036854775808}`:   "CUSTOMERLIMIT_AMOUNT_INVALID",
		`{"paymentRail": "ACH", "deliveryDate": "2026-11-18"}`:           "CUSTOMERLIMIT_DATE_INVALID",
		`{"paymentRail": "ACH", "deliveryDate": "02-30-2026"}`:           "CUSTOMERLIMIT_DATE_INVALID",
		`{"paymentRail": "ACH", "secCode": "ABC", "entryType": "DEBIT"}`: "CUSTOMERLIMIT_SECCODE_INVALID",
		`{"paymentRail": "ACH", "secCode": 7, "entryType": "DEBIT"}`:     "CUSTOMERLIMIT_SECCODE_INVALID",
		`{"paymentRail": "ACH", "entryType": ["DEBIT"]}`:                 "CUSTOMERLIMIT_ENTRYTYPE_INVALID",
		`{"paymentRail": "ACH", "secCode": "WEB"}`:                       "CUSTOMERLIMIT_ENTRYTYPE_REQUIRED",
		`{"paymentRail": "ACH", "entryType": "BOTH"}`:                    "CUSTOMERLIMIT_ENTRYTYPE_INVALID",
	} {
		b.call(b.program(), http.MethodPost, b.path("/v1/customers/{C}/limits"), body).refused(t, body,
			http.StatusBadRequest, code, "")
	}
	for path, code := range map[string]string{
		"x": "CUSTOMER_CUSTOMERID_NUMBER", "000": "CUSTOMER_CUSTOMERID_ALLZERO",
	} {
		b.call(b.program(), http.MethodPost, "/v1/customers/"+path+"/limits", `{"paymentRail": "ACH"}`).refused(t,
			path, http.StatusBadRequest, code, "customerUID")
	}
}

// Common libraries write a double of ten million as 1.0E7, and decimals with trailing zeros.
func TestAmountsCountAsJSONMeansThem(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	check := func(amount string) string {
		answer := b.call(b.program(), http.MethodPost, b.path("/v1/customers/{C}/limits"),
			`{"paymentRail": "ACH", "paymentAmount": `+amount+`}`)
		if answer.status != http.StatusOK {
			t.Errorf("%s: %d %s", amount, answer.status, answer.body)
		}
		return answer.body
	}
	for plain, others := range map[string][]string{
		"10000000": {"1.0E7", "1e+7", "0.1e8", "100000000000E-4", "10000000.00000"},
		"1234.5":   {"1.2345e3", "12345E-1", "1234.500"},
		"0":        {"0.0", "-0.0", "0e5", "0.000E-7"},
	} {
		want := check(plain)
		for _, other := range others {
			if got := check(other); got != want {
				t.Errorf("%s is not %s: %s", other, plain, got)
			}
		}
	}
}

// Texts waver between a number and a text of it: 3.0 counts the same as both (rest/CONTRACT.md, formats).
func TestAWholeNumberMayHaveZerosBehindItsPoint(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, value := range []string{`3`, `3.0`, `"3"`, `"3.0"`, `"3.00"`} {
		answer := b.call(b.program(), http.MethodPatch, b.path("/v1/customers/{C}/limits"),
			`[{"entityLimitId": "NO_OF_ACH_FILES_PER_DAY", "entityLimitValue": `+value+`}]`)
		if answer.status != http.StatusOK {
			t.Errorf("%s: %d %s", value, answer.status, answer.body)
		}
	}
}

// Published texts write Debit in one place and DEBIT in another (rest/CONTRACT.md, entryType).
func TestTheLimitCheckTakesWordsInAnyCase(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := b.path("/v1/customers/{C}/limits")
	want := b.call(b.program(), http.MethodPost, path,
		`{"paymentRail": "ACH", "secCode": "WEB", "entryType": "DEBIT"}`)
	got := b.call(b.program(), http.MethodPost, path,
		`{"paymentRail": "ach", "secCode": "web", "entryType": "Debit"}`)
	if got.status != http.StatusOK || got.body != want.body {
		t.Errorf("%d %s", got.status, got.body)
	}
}

func TestTheLimitCheckIgnoresClassAndDirectionOnOtherRails(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, body := range []string{
		`{"paymentRail": "RTP", "secCode": "nonsense", "entryType": "BOTH"}`,
		`{"paymentRail": "RTP", "secCode": 7, "entryType": {}}`,
	} {
		answer := b.call(b.program(), http.MethodPost, b.path("/v1/customers/{C}/limits"), body)
		if answer.status != http.StatusNoContent {
			t.Errorf("%s: %d %s", body, answer.status, answer.body)
		}
	}
}

func TestLimitsWithOnlyARailAreAllOfTheRail(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.call(b.program(), http.MethodPost, b.path("/v1/customers/{C}/limits"),
		`{"paymentRail": "ach", "deliveryDate": "11-19-2026"}`).golden(t, "limits_rail")
}

func TestTheV2AccountSetSaysWhatReplacesIt(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for path, successor := range map[string]string{
		"/v2/customers/{C}/accounts?page=1&limit=1": "/v3/customers/{C}/accounts/search",
		"/v2/customers/{C}/accounts/{A}":            "/v3/customers/{C}/accounts/{A}",
		"/v2/customers/{C}/accounts/x":              "/v3/customers/{C}/accounts/x",
	} {
		header := b.get(b.program(), b.path(path)).header
		if header.Get("Link") != b.path("<"+successor+`>; rel="successor-version"`) ||
			header.Get("Deprecation") != "@1767225600" || header.Get("Sunset") != "" {
			t.Errorf("%s: %v", path, header)
		}
	}
	if header := b.get(b.program(),
		b.path("/v3/customers/{C}/accounts/{A}")).header; header.Get("Deprecation") != "" ||
		header.Get("Cache-Control") != "no-store" {
		t.Errorf("v3: %v", header)
	}
}

// A client that follows a link must not meet an operation that takes its request and does something else.
func TestNothingNamesASuccessorThatDoesNotDoIt(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, o := range []struct {
		method, path string
		deprecated   bool
	}{
		{http.MethodPatch, "/v2/customers/{C}/accounts/{A}", false},
		{http.MethodDelete, "/v2/customers/{C}/accounts/{A}", false},
		{http.MethodPut, "/v2/positivepay/rules", true},
	} {
		header := b.call(b.program(), o.method, b.path(o.path), `{}`).header
		if header.Get("Link") != "" || (header.Get("Deprecation") != "") != o.deprecated {
			t.Errorf("%s %s: %v", o.method, o.path, header)
		}
	}
}
