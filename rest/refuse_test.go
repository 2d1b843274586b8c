package rest_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"bankgraph/core/access"
	"bankgraph/core/coretest"
	"bankgraph/core/fault"
	"bankgraph/rest"
)

func TestNobodyIsAnsweredByAnyOperation(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, o := range everything() {
		answer := b.ask(b.Nobody(), o)
		want := "API901"
		if o.ofBank() {
			want = "WF_CALLINGORG_UNAUTHORIZED"
		}
		answer.refused(t, o.name, http.StatusUnauthorized, want, "access token")
		if answer.header.Get("WWW-Authenticate") == "" || answer.cost.Statements.Load() != 0 {
			t.Errorf("%s: headers %v, %d statements", o.name, answer.header, answer.cost.Statements.Load())
		}
	}
}

// TestThePermissionsOfOperations calls every operation with one permission at a time, and with pairs of those
// that do not suffice alone. What suffices is in permissions.txt, which operators read by "bankgraph
// permissions".
func TestThePermissionsOfOperations(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	said := map[string]bool{}
	b := newBank(t)
	for _, o := range everything() {
		path := ""
		for name, doc := range readDocument(t).Paths.Map() {
			if doc.GetOperation(o.method) != nil && samePath(name, o.path) &&
				(path == "" || strings.Count(name, "{") < strings.Count(path, "{")) {
				path = name
			}
		}
		enough := coretest.Enough(func(may ...access.Permission) bool {
			done := b.ask(b.As(may...), o).status < 300
			if done && o.method != http.MethodGet {
				b = newBank(t) // the change may not be possible twice
			}
			return done
		})
		if o.forAll() {
			if strings.Count(enough, "|")+1 != len(access.All) {
				t.Errorf("%s: only %s suffices", o.name, enough)
			}
			continue
		}
		line := o.method + " " + path + "\t" + enough
		if enough == "" {
			t.Errorf("%s: neither one permission nor two suffice", o.name)
		}
		if !said[line] {
			fmt.Fprintln(&table, line)
		}
		said[line] = true
	}
	if *update {
		if err := os.WriteFile("permissions.txt", []byte(table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(rest.Permissions, table.String()); diff != "" && !*update {
		t.Errorf("permissions.txt is stale: go test ./rest -update\n%s", diff)
	}
}

// samePath reports whether the path of a call, with values for its parameters, fits the documented path.
func samePath(documented, called string) bool {
	called, _, _ = strings.Cut(called, "?")
	want, got := strings.Split(documented, "/"), strings.Split(called, "/")
	return len(want) == len(got) && !slices.ContainsFunc(want, func(part string) bool {
		mine := got[0]
		got = got[1:]
		return part != mine && !strings.HasPrefix(part, "{")
	})
}

func TestACallerWithoutPermissionsIsDeniedEverything(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, o := range everything() {
		answer := b.ask(b.As(), o)
		if o.forAll() {
			if answer.status != http.StatusOK {
				t.Errorf("%s: %d %s", o.name, answer.status, answer.body)
			}
			continue
		}
		code, _ := answer.failure(t)
		if answer.status != http.StatusForbidden ||
			code != "API901" && code != "LKUP_ACCESS_DENIED" && code != "WF_ACCESS_DENIED" &&
				code != "BULKFILE_ACCESS_DENIED" && !answer.messageOnly() || b.leaks(answer.body) {
			t.Errorf("%s: %d %s", o.name, answer.status, answer.body)
		}
	}
}

// TestWhatIsAnothersLooksAbsent asks for customers, accounts, contacts and numbers that belong to another
// bank, to other customers of the bank, and to nobody. The answers must be the same, except for signatories,
// which distinguish a foreign customer of the same bank (SIG_CUSTOMERACCESS_DENIED).
func TestWhatIsAnothersLooksAbsent(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	other := b.Other()
	foreign := other.Customer(coretest.Named(canary))
	account, contact := other.Account(foreign), other.Contact(foreign)
	other.Payment(account, other.Account(foreign))
	for _, o := range everything() {
		if o.method != http.MethodGet && !strings.Contains(o.path, "{") {
			continue // it names no existing thing
		}
		absent := b.at(b.program(), o, 1999999, 199999999, 199999998, "0000000001")
		theirs := b.at(b.program(), o, foreign.UID, account.UID, contact.UID,
			coretest.AccountNumber(account.UID))
		direct := b.at(b.program(), o, b.direct.UID, b.hidden.UID, b.stranger.UID, number(b.hidden))
		crossed := b.at(b.program(), o, b.acme.UID, b.hidden.UID, b.stranger.UID, number(b.hidden))
		for _, answer := range []said{absent, theirs, direct, crossed} {
			if b.leaks(answer.body) {
				t.Errorf("%s shows what is another's: %s", o.name, answer.body)
			}
		}
		if theirs.status != absent.status || theirs.body != absent.body {
			t.Errorf("%s tells another bank's from none:\n%d %s\n%d %s", o.name, theirs.status, theirs.body,
				absent.status, absent.body)
		}
		if strings.HasPrefix(o.name, "signatories_") {
			direct.refused(t, o.name, http.StatusBadRequest, "SIG_CUSTOMERACCESS_DENIED", "not the caller's")
		} else if direct.status != absent.status || direct.body != absent.body {
			t.Errorf("%s tells the bank's other customers from none:\n%d %s\n%d %s", o.name, direct.status,
				direct.body, absent.status, absent.body)
		}
	}
}

// TestTwinsInTwoBanksAreNotMixedUp asks in a bank where every row has a twin with the same number in another
// bank.
func TestTwinsInTwoBanksAreNotMixedUp(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	before := make([]string, len(operations))
	for i, o := range operations {
		before[i] = b.ask(b.program(), o).body
	}
	b.officer(b.Other())
	for i, o := range operations {
		if after := b.ask(b.program(), o).body; after != before[i] {
			t.Errorf("%s: %s\nwas %s", o.name, after, before[i])
		}
	}
}

func TestStaffSeeEveryCustomerAndAPartnerItsOwn(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, path := range []string{"/customers?Page=1&limit=1000", "/v2/customers?page=1&limit=1000"} {
		if body := b.get(b.Reader(), path).body; !b.leaks(body) ||
			!strings.Contains(body, `"totalRecords":5`) {
			t.Errorf("staff see %s", body)
		}
		if body := b.get(b.program(), path).body; b.leaks(body) ||
			!strings.Contains(body, `"totalRecords":3`) {
			t.Errorf("a partner sees %s", body)
		}
	}
}

func TestAbsentThingsAnswerTheCodesOfTheContract(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct{ path, code, message string }{
		{"/customers/1999999", "CUST001", "Customer retrieval failed: no such customer"},
		{"/v2/customers/1999999", "CUST001", "Customer retrieval failed: no such customer"},
		{"/customers/{C}/contacts/1", "CUST002", "the contact is not associated with the customer"},
		{"/v2/customers/{C}/contacts/1", "CUST002", "the contact is not associated with the customer"},
		{"/v1/customers/{C}/beneficiary/1", "CUST002", "the contact is not associated with the customer"},
		{"/v2/customers/1999999/contacts?page=1&limit=1", "CUST001", "no such customer"},
		{"/customers/{C}/accounts?accountNumber=1", "ACC002", "accountNumber: no such account"},
		{"/customers/{C}/accounts/1", "ACC002", "accountUID: no such account"},
		{"/v2/customers/{C}/accounts/1", "ACC002", "accountUID: no such account"},
		{"/v3/customers/{C}/accounts/1", "ACC002", "accountUID: no such account"},
		{"/customers/1999999/accounts", "ACC001", "no such customer"},
		{"/v1/customers/1999999/signatories", "SIG_CUSTOMER_NOTFOUND", "no such customer"},
	} {
		b.get(b.program(), strings.ReplaceAll(c.path, "{C}", b.acme.UID.String())).refused(t, c.path,
			http.StatusBadRequest, c.code, c.message)
	}
	b.call(b.program(), http.MethodPost, "/v1/customers/1999999/limits", `{"paymentRail": "ACH"}`).
		refused(t, "limits", http.StatusBadRequest, "CUSTOMER_CUSTOMERID_NOTFOUND", "no such customer")
	if lookup := b.get(b.program(), "/v1/customers/lookup/1"); lookup.status != http.StatusOK ||
		lookup.body != `{"profiles":[]}` {
		t.Errorf("lookup of an unknown number: %d %s", lookup.status, lookup.body)
	}
}

func TestFailuresOfAccountsV3NameTheFieldInTheirErrors(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	b.get(b.program(), fmt.Sprintf("/v3/customers/%d/accounts/1", b.acme.UID)).golden(t, "failure_v3_absent")
	b.call(b.program(), http.MethodPost, fmt.Sprintf("/v3/customers/%d/accounts/search?page=0", b.acme.UID), "").
		golden(t, "failure_v3_page")
	b.get(b.program(), "/v2/customers?page=1").golden(t, "failure_c1")
	b.get(b.program(), "/v1/customers/lookup/00").golden(t, "failure_c4")
	b.get(b.As(), fmt.Sprintf("/v1/customers/%d/signatories", b.acme.UID)).golden(t, "failure_c6")
}

func TestATokenWithoutPartnerListsNoSignatories(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	ctx := access.With(t.Context(),
		access.Caller{Tenant: b.Tenant, Entity: int64(b.partner.UID), Permissions: access.All})
	b.get(ctx, "/v1/customers/1999999/signatories").refused(t, "list", http.StatusBadRequest,
		"SIG_PARTNERID_REQUIRED", "partner identifier")
}

func TestUnknownPathsAnswer404(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, path := range []string{
		"/", "/customer", "/Customers?Page=1&limit=1", "/customers/", "/v2/customers/", "/v4/customers",
		fmt.Sprintf("/customers/%d/", b.acme.UID), fmt.Sprintf("/customers/%d/accounts/", b.acme.UID),
		"/v3/customers",
	} {
		b.get(b.program(), path).refused(t, path, http.StatusNotFound, "invalidPath", "no such path")
	}
	for _, path := range []string{"/customers/", "/v2/customers//", fmt.Sprintf("/customers/%d/", b.acme.UID)} {
		b.get(b.program(), path).refused(t, path, http.StatusNotFound, "invalidPath",
			"no such path: leave out the slash at its end")
	}
	b.call(b.program(), "PURGE", "/nowhere", "").refused(t, "unknown method", http.StatusNotFound, "invalidPath",
		"no such path")
}

func TestOtherMethodsAnswer405AndNameTheAllowedOnes(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, c := range []struct{ method, path, allow string }{
		{http.MethodDelete, "/v2/customers", "GET, POST, HEAD"},
		{http.MethodPatch, "/v1/customers/lookup/1", "GET, HEAD"},
		{http.MethodGet, fmt.Sprintf("/v1/customers/%d/limits", b.acme.UID), "POST, PATCH"},
		{"PURGE", "/customers", "GET, POST, HEAD"},
		{http.MethodGet, fmt.Sprintf("/v3/customers/%d/accounts/search", b.acme.UID), "POST"},
		{http.MethodPatch, fmt.Sprintf("/v3/customers/%d/accounts/search", b.acme.UID), "POST"},
		{http.MethodDelete, fmt.Sprintf("/v3/customers/%d/accounts/search", b.acme.UID), "POST"},
		{http.MethodGet, fmt.Sprintf("/api/user-management/v1/customers/%d/users/search", b.acme.UID), "POST"},
		{http.MethodPut, fmt.Sprintf("/api/user-management/v1/customers/%d/users/search", b.acme.UID), "POST"},
		{
			http.MethodPost, fmt.Sprintf("/api/user-management/v1/customers/%d/roles/search", b.acme.UID),
			"GET, HEAD",
		},
		// the name that stands further in front counts
		{http.MethodPatch, "/v1/customers/lookup/limits", "GET, HEAD"},
		{http.MethodPost, "/v2/customers/virtual-accounts", "GET, PUT, HEAD"},
	} {
		answer := b.call(b.program(), c.method, c.path, "")
		answer.refused(t, c.method+" "+c.path, http.StatusMethodNotAllowed, "invalidMethod",
			"does not have this method, but "+c.allow)
		if allow := answer.header.Get("Allow"); allow != c.allow {
			t.Errorf("%s %s allows %q", c.method, c.path, allow)
		}
	}
}

// A fixed path has its own methods alone, also where another one fits with a parameter in place of a name.
func TestAFixedPathIsNoParameter(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	methods := map[string][]string{}
	err := chi.Walk(rest.New(b.Core, rest.Options{}).Routes(), func(method, path string, _ http.Handler,
		_ ...func(http.Handler) http.Handler,
	) error {
		if !strings.Contains(path, "{") {
			methods[path] = append(methods[path], method)
		}
		return nil
	})
	if err != nil || methods["/payments/creditrequest"] == nil {
		t.Fatal(err, methods)
	}
	for path, own := range methods {
		for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			if slices.Contains(own, method) {
				continue
			}
			answer := b.call(b.program(), method, path, "")
			answer.refused(t, method+" "+path, http.StatusMethodNotAllowed, "invalidMethod", "")
			allow := strings.Split(answer.header.Get("Allow"), ", ")
			allow = slices.DeleteFunc(allow, func(name string) bool { return name == http.MethodHead })
			if slices.Sort(allow); !slices.Equal(allow, slices.Sorted(slices.Values(own))) {
				t.Errorf("%s %s allows %v", method, path, allow)
			}
		}
	}
}

func TestHEADAnswersLikeGETWithoutABody(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rest.New(b.Core, rest.Options{}).ServeHTTP(w, r.WithContext(b.program()))
	}))
	defer server.Close()
	path := fmt.Sprintf("%s/v2/customers/%d", server.URL, b.acme.UID)
	got, err := http.Get(path)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Body.Close()
	head, err := http.Head(path)
	if err != nil {
		t.Fatal(err)
	}
	defer head.Body.Close()
	if head.StatusCode != http.StatusOK || head.ContentLength != got.ContentLength ||
		head.ContentLength <= 0 {
		t.Errorf("HEAD: %d, length %d; GET: %d, length %d", head.StatusCode, head.ContentLength,
			got.StatusCode, got.ContentLength)
	}
}

func TestARequestThatIsTurnedAwayIsAnsweredByItsOperation(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	face := rest.New(b.Core, rest.Options{})
	busy := fault.New(fault.Unavailable, "bank", "the bank is busy")
	for _, c := range []struct {
		path   string
		err    error
		status int
		body   string
	}{
		{
			"/v2/customers", busy, 503,
			`{"status":"Failure","code":"API900","message":"Customer search failed: the bank is busy","data":null}`,
		},
		{
			"/v1/customers/lookup/1", access.ErrUnauthenticated, 401,
			`{"errors":[{"code":"API901",` +
				`"message":"not authorized: a valid access token is needed (Authorization: Bearer TOKEN); ` +
				`it is missing, cut, ended or of another bank"}]}`,
		},
		{
			"/v1/customers/1/signatories", access.ErrDenied, 403,
			`{"code":"API901","message":"the caller may not do this"}`,
		},
		{
			"/v3/customers/1/accounts/1", fault.New(fault.TooMany, "caller", "slower"), 429,
			`{"code":"API900","message":"slower","errors":[{"code":"API900","message":"slower"}],"data":null}`,
		},
		{"/nowhere", busy, 503, `{"status":"Failure","code":"API900","message":"the bank is busy","data":null}`},
		{
			"/nowhere", access.ErrUnauthenticated, 404,
			`{"status":"Failure","code":"invalidPath","message":"no such path","data":null}`,
		},
	} {
		r, pattern := rest.Routed(httptest.NewRequest(http.MethodGet, c.path, nil))
		for _, asked := range []string{"first", "again"} { // as one whose answer is too large to be sent
			w := httptest.NewRecorder()
			face.Refuse(w, r, c.err)
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("%s, %s: %d %s, routed to %q", c.path, asked, w.Code, w.Body, pattern())
			}
		}
	}
}

func TestADatabaseThatDoesNotAnswerIs503(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, o := range everything() {
		if o.known() {
			continue
		}
		ctx, cancel := context.WithCancel(b.who(o))
		cancel()
		answer := b.ask(ctx, o)
		code, _ := answer.failure(t)
		want := "API900"
		if strings.HasPrefix(o.name, "rfi_") { // which have a code of their own
			want = "RFI_SERVICE_CALL_FAILED"
		}
		if o.ofBank() {
			want = "WF_ERROR"
		}
		if answer.status != http.StatusServiceUnavailable || code != want && !answer.messageOnly() ||
			answer.header.Get("Retry-After") == "" {
			t.Errorf("%s: %d %v %s", o.name, answer.status, answer.header, answer.body)
		}
	}
}

func TestDefectsAreLoggedAndHidden(t *testing.T) {
	t.Parallel()
	b := fill(t, coretest.Alone(t))
	var log strings.Builder
	b.handler = checked(t, rest.New(b.Core, rest.Options{Log: slog.New(slog.NewTextHandler(&log, nil))}))
	b.receives(operation{path: "{M}"})
	b.receives(operation{path: "{Z}"})
	b.receives(operation{path: "{G}"})
	b.receives(operation{path: "{E}"})
	b.receives(operation{name: "rfi_history", path: "{I}"})
	b.receives(operation{path: "/v2/virtual-accounts/transactions/search"})
	if _, err := b.Owner().
		Exec(`DROP TABLE banks, fee_tiers, limit_usage, signatories, balances, accounts, contacts, users,
			roles, sandbox_clocks, fx_trades, virtual_accounts, information_requests CASCADE`); err != nil {
		t.Fatal(err)
	}
	for _, o := range operations[3:] { // all except those that read only customers
		if o.known() {
			continue
		}
		log.Reset()
		answer := b.ask(b.program(), o)
		code, message := answer.failure(t)
		if answer.status != http.StatusInternalServerError ||
			code != "API900" && code != "RFI_SERVICE_ERROR" && code != "LKUP_INTERNAL_ERROR" &&
				code != "BULKFILE_INTERNAL_ERROR" && !answer.messageOnly() ||
			!strings.HasSuffix(message, "server failure, try again later") {
			t.Errorf("%s: %d %s", o.name, answer.status, answer.body)
		}
		if !strings.Contains(log.String(), "does not exist") ||
			strings.Contains(log.String(), b.acme.UID.String()) {
			t.Errorf("%s logs %s", o.name, log.String())
		}
	}
}

// A change whose result cannot be read was made all the same, and its caller hears so.
func TestAChangeThatCannotBeShownIsNotToldAsRefused(t *testing.T) {
	t.Parallel()
	b := fill(t, coretest.Alone(t))
	if _, err := b.Owner().Exec(`DROP TABLE fee_tiers CASCADE`); err != nil {
		t.Fatal(err)
	}
	b.call(b.Staff(), http.MethodPut, "/v2/customers/"+b.bare.UID.String(), `{"note": "called"}`).
		refused(t, "change", http.StatusServiceUnavailable, "API900", "the request was carried out, but")
	if now := b.get(b.Staff(), "/customers/"+b.bare.UID.String()); !strings.Contains(now.body, `"called"`) {
		t.Errorf("%s", now.body)
	}
}

func TestSearchesThatFindNothingAnswerAnEmptyArray(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for _, path := range []string{
		"/customers?Page=1&limit=5&legalName=nobody", "/v2/customers?page=7&limit=5",
		"/v2/customers?page=1&limit=5&customerUID=5",
		fmt.Sprintf("/customers/%d/contacts?page=1&limit=5", b.bare.UID),
		fmt.Sprintf("/v2/customers/%d/contacts?page=9&limit=5", b.acme.UID),
		fmt.Sprintf("/customers/%d/accounts", b.bare.UID),
		fmt.Sprintf("/v2/customers/%d/accounts?page=1&limit=1", b.bare.UID),
	} {
		if answer := b.get(b.program(), path); answer.status != http.StatusOK ||
			!strings.Contains(answer.body, `"data":[]`) {
			t.Errorf("%s: %d %s", path, answer.status, answer.body)
		}
	}
	b.get(b.program(), fmt.Sprintf("/v1/customers/%d/signatories", b.bare.UID)).golden(t, "signatories_none")
	limits := b.call(b.program(), http.MethodPost, fmt.Sprintf("/v1/customers/%d/limits", b.bare.UID),
		`{"paymentRail": "RTP"}`)
	if limits.status != http.StatusNoContent || limits.body != "" {
		t.Errorf("limits of a customer without any: %d %s", limits.status, limits.body)
	}
}

func TestTheLookupNeedsItsPermissionOrTheTwoThatFindTheSame(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	path := "/v1/customers/lookup/" + coretest.AccountNumber(b.operating.UID)
	for _, may := range [][]access.Permission{
		{access.LookUpCustomers}, {access.ViewCustomers, access.ViewAccounts},
	} {
		if answer := b.get(b.As(may...), path); answer.status != http.StatusOK ||
			!strings.Contains(answer.body, "Acme") {
			t.Errorf("with %v: %d %s", may, answer.status, answer.body)
		}
	}
	for _, may := range [][]access.Permission{{access.ViewCustomers}, {access.ViewAccounts}} {
		b.get(b.As(may...), path).refused(t, fmt.Sprint(may), http.StatusForbidden,
			"LKUP_ACCESS_DENIED", "may not")
	}
}

func TestOneAPIKeyLooksUpOnlySoManyNumbersInAMinute(t *testing.T) {
	t.Parallel()
	b := newBank(t)
	for n := range 599 {
		if _, err := b.Accounts.Lookup(b.program(), strconv.Itoa(1000+n), ""); err != nil {
			t.Fatal(err)
		}
	}
	if answer := b.get(b.program(), "/v1/customers/lookup/1"); answer.status != http.StatusOK {
		t.Fatalf("%d %s", answer.status, answer.body)
	}
	surplus := b.get(b.program(), "/v1/customers/lookup/2")
	surplus.refused(t, "the 601st", http.StatusTooManyRequests, "API900", "tried out")
	if surplus.header.Get("Retry-After") == "" || surplus.cost.Statements.Load() != 0 {
		t.Errorf("%v, %d statements", surplus.header, surplus.cost.Statements.Load())
	}
	if other := b.get(b.Reader(), "/v1/customers/lookup/1"); other.status != http.StatusOK {
		t.Errorf("another API key: %d %s", other.status, other.body)
	}
}
