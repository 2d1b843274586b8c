package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/core/clients"
	"bankgraph/core/seal"
	"bankgraph/core/tenants"
	"bankgraph/db"
	"bankgraph/db/dbtest"
	"bankgraph/graph"
	"bankgraph/rest"
)

// service is everything that serve serves, on a bank of the test's own, without a network.
type service struct {
	*testing.T
	bank     *bank
	operator context.Context
	realm    string
	front    *front
	handler  http.Handler
	health   *health
	stopping atomic.Bool
	now      atomic.Int64 // seconds that the clock is ahead
}

const public = "https://api.bank.example"

func newService(t *testing.T, command serveCommand) *service {
	t.Helper()
	return newServiceWith(t, command, core.Options{})
}

// newServiceWith is newService with options for core.
func newServiceWith(t *testing.T, command serveCommand, options core.Options) *service {
	t.Helper()
	if options.DB == nil {
		pools, err := db.Open(dbtest.Shared(t), db.Options{Connections: 4, Tracer: dbtest.Watch(t)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = pools.Close() })
		options.DB = pools
	}
	s := &service{T: t}
	var err error
	now := func() time.Time { return time.Now().Add(time.Duration(s.now.Load()) * time.Second) }
	options.Keys, options.Now, options.PublicURL = seal.New(), now, public
	s.bank = &bank{Core: core.New(options)}
	s.realm = s.addBank()
	s.operator, _, err = s.bank.operator(context.Background(), s.realm)
	if err != nil {
		t.Fatal(err)
	}
	command.Unsent = cmp.Or(command.Unsent, 64)
	meters := newMeters(options.DB)
	s.health = newHealth(meters)
	s.front = command.handler(s.bank, meters, s.health, false, s.stopping.Load)
	s.handler = rest.Addressed(slog.Default(), command.TrustedProxies, s.front)
	return s
}

func (s *service) addBank() (realm string) {
	s.Helper()
	realm = "BANK-" + rand.Text()
	_, err := s.bank.Tenants.Add(access.Operator(context.Background(), 0, "", nil), tenants.Draft{
		Code: realm, Name: realm, Zone: "UTC", Currency: "USD", Admin: "jo",
	})
	if err != nil {
		s.Fatal(err)
	}
	return realm
}

func (s *service) client(key string) (secret string) {
	s.Helper()
	_, secret, err := s.bank.Clients.Add(s.operator,
		clients.Draft{Key: key, Preset: access.All})
	if err != nil {
		s.Fatal(err)
	}
	return secret
}

func (s *service) token(key, secret string) string {
	s.Helper()
	tokens, err := s.bank.Clients.Issue(context.Background(), s.realm, key, secret)
	if err != nil {
		s.Fatal(err)
	}
	return tokens.AccessToken
}

// do answers a request. headers are name, value, name, value …
func (s *service) do(method, path, body string, headers ...string) *httptest.ResponseRecorder {
	s.Helper()
	request := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		request.Header.Add(headers[i], headers[i+1])
	}
	answer := httptest.NewRecorder()
	s.handler.ServeHTTP(answer, request)
	return answer
}

func TestRequestWithoutATokenIsRefusedInTheMannerOfItsFace(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	for path, want := range map[string]string{
		"/v2/customers": `"code":"API901"`,
		"/graphql": `{"errors":[{"message":"not authorized: a valid access token is needed (Authorization: ` +
			`Bearer TOKEN); it is missing, cut, ended or of another bank",` +
			`"extensions":{"kind":"UNAUTHENTICATED","code":"API901","requestId":"mine-1"}}]}`,
	} {
		answer := s.do(http.MethodGet, path+"?not=%7Bparsed", "", requestID, "mine-1")
		if answer.Code != http.StatusUnauthorized || !strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %d %s", path, answer.Code, answer.Body)
		}
		if !strings.HasPrefix(answer.Header().Get("WWW-Authenticate"), "Bearer ") {
			t.Errorf("%s: WWW-Authenticate = %q", path, answer.Header().Get("WWW-Authenticate"))
		}
	}
}

func TestHEADAnswersLikeGET(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	bearer := "Bearer " + s.token("portal", s.client("portal"))
	for path, want := range map[string]int{
		"/v2/customers?page=1&limit=1": http.StatusOK, "/v2/customers": http.StatusBadRequest,
		"/no/such": http.StatusNotFound,
	} {
		if answer := s.do(http.MethodHead, path, "", "Authorization", bearer); answer.Code != want {
			t.Errorf("%s: %d", path, answer.Code)
		}
	}
	if answer := s.do(http.MethodHead, "/v2/customers", ""); answer.Code != http.StatusUnauthorized {
		t.Errorf("without a token: %d", answer.Code)
	}
}

func TestOnlyOneBearerHeaderCounts(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	token := s.token("portal", s.client("portal"))
	for header, want := range map[string]int{
		"Bearer " + token: http.StatusOK, "bearer  " + token: http.StatusOK,
		"Basic " + token: http.StatusUnauthorized, token: http.StatusUnauthorized,
		"Bearer":                        http.StatusUnauthorized,
		"Bearer " + token + " " + token: http.StatusUnauthorized,
	} {
		if answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization",
			header); answer.Code != want {
			t.Errorf("%.20s…: %d %s", header, answer.Code, answer.Body)
		}
	}
	twice := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization", "Bearer "+token,
		"Authorization", "Bearer "+token)
	if twice.Code != http.StatusUnauthorized {
		t.Errorf("twice: %d", twice.Code)
	}
	if answer := s.do(http.MethodGet, "/graphql?query={__typename}&access_token="+token,
		""); answer.Code != http.StatusUnauthorized {
		t.Errorf("in the address: %d", answer.Code)
	}
}

func TestAnswersCarryTheRequestId(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	if id := s.do(http.MethodGet, "/healthz", "", requestID, "portal-7f.1").Header().
		Get(requestID); id != "portal-7f.1" {
		t.Errorf("a sane id became %q", id)
	}
	for _, id := range []string{"", "a b", "a\nb", strings.Repeat("x", 101), `"`} {
		if got := s.do(http.MethodGet, "/healthz", "", requestID, id).Header().Get(requestID); len(got) != 24 {
			t.Errorf("%.10q became %q", id, got)
		}
	}
}

func TestReadyEndsWithTheSignal(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	if answer := s.do(http.MethodGet, "/readyz", ""); answer.Code != http.StatusOK {
		t.Errorf("ready: %d %s", answer.Code, answer.Body)
	}
	s.stopping.Store(true)
	if answer := s.do(http.MethodGet, "/readyz", ""); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("stopping: %d", answer.Code)
	}
	if answer := s.do(http.MethodGet, "/healthz", ""); answer.Code != http.StatusOK {
		t.Errorf("healthy: %d", answer.Code)
	}
}

func TestAPIKeyThatAsksTooOftenIsHeldBackAlone(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{Rate: 1})
	fast, other := s.token("fast", s.client("fast")), s.token("other", s.client("other"))
	var refused *httptest.ResponseRecorder
	for range 50 { // more than one in any second
		if answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization",
			"Bearer "+fast); answer.Code == http.StatusTooManyRequests {
			refused = answer
		}
	}
	if refused == nil || refused.Header().Get("Retry-After") == "" ||
		!strings.Contains(refused.Body.String(), "TOO_MANY") {
		t.Fatalf("refused = %+v", refused)
	}
	if answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization",
		"Bearer "+other); answer.Code != http.StatusOK {
		t.Errorf("another key: %d", answer.Code)
	}
}

func TestPanicIsAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	handler := guard(graph.Refuse,
		http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a secret of ours") }))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer,
		httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody))
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "secret") {
		t.Errorf("answer: %d %s", answer.Code, answer.Body)
	}
}

func TestPanicInTheMiddleOfAnAnswerLeavesNothingOfIt(t *testing.T) {
	t.Parallel()
	handler := newRoomOf(1).unsent.deliver(graph.Refuse, never,
		guard(graph.Refuse, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "4")
			_, _ = w.Write([]byte("half"))
			panic("late")
		})))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer,
		httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody))
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "half") ||
		answer.Header().Get("Content-Length") == "4" {
		t.Errorf("answer: %d %s %v", answer.Code, answer.Body, answer.Header())
	}
}

func TestRequestHasADeadlineAndABoundedBody(t *testing.T) {
	t.Parallel()
	handler := guard(graph.Refuse, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, bounded := r.Context().Deadline(); !bounded {
			t.Error("no deadline")
		}
		var tooLarge *http.MaxBytesError
		if _, err := io.Copy(io.Discard, r.Body); !errors.As(err, &tooLarge) {
			t.Errorf("error = %v", err)
		}
	}))
	body := bytes.NewReader(make([]byte, largestBody+1))
	handler.ServeHTTP(httptest.NewRecorder(),
		httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", body))
}

// The keys of the demo bank are known, so any page of this machine that may call it can do anything in it.
func TestPagesOfThisMachineMayCallTheDemoBankWhereTheyAreNamed(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	for origin, want := range map[string]bool{
		"http://localhost:5173": true, "http://localhost:5174": false, "http://localhost": false,
		"http://127.0.0.1:5173": false, "http://[::1]:5173": false, "http://localhost.evil.example": false,
	} {
		for _, named := range [][]string{nil, {"http://localhost:5173"}} {
			handler := (&serveCommand{exposure: exposure{Unsent: 64}, Origins: named}).handler(s.bank,
				newMeters(s.bank.DB), newHealth(newMeters(s.bank.DB)), true, s.stopping.Load)
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/graphql", http.NoBody)
			request.Header.Set("Origin", origin)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if may := answer.Header().Get("Access-Control-Allow-Origin") == origin; may != (want && named != nil) {
				t.Errorf("%s, named %v: %v", origin, named, answer.Header())
			}
		}
	}
}

func TestOnlyNamedOriginsMayCallFromBrowsers(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{Origins: []string{"https://portal.bank.example"}})
	preflight := []string{
		"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers",
		"authorization,content-type,prefer",
	}
	ours := s.do(http.MethodOptions, "/graphql", "",
		append(preflight, "Origin", "https://portal.bank.example")...)
	if ours.Header().Get("Access-Control-Allow-Origin") != "https://portal.bank.example" ||
		ours.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("our portal: %v", ours.Header())
	}
	looks := s.do(http.MethodOptions, "/v2/customers", "", "Access-Control-Request-Method", http.MethodHead,
		"Access-Control-Request-Headers", "authorization", "Origin", "https://portal.bank.example")
	if looks.Header().Get("Access-Control-Allow-Methods") != http.MethodHead {
		t.Errorf("our portal, with HEAD: %v", looks.Header())
	}
	answer := s.do(http.MethodGet, "/v2/customers", "", "Origin", "https://portal.bank.example")
	if shown := answer.Header().Get("Access-Control-Expose-Headers"); !strings.Contains(shown,
		"Preference-Applied") {
		t.Errorf("our portal is shown %s", shown)
	}
	theirs := s.do(http.MethodOptions, "/graphql", "", append(preflight, "Origin", "https://evil.example")...)
	if theirs.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %v", theirs.Header())
	}
	none := newService(t, serveCommand{}).do(http.MethodOptions, "/graphql", "",
		append(preflight, "Origin", "https://portal.bank.example")...)
	if none.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without settings: %v", none.Header())
	}
}

func TestIndexLeadsToThePages(t *testing.T) {
	t.Parallel()
	for _, plays := range []bool{true, false} {
		s := newService(t, serveCommand{Playground: &plays})
		for path, other := range map[string]string{"/": "/docs", "/docs": "/openapi.yaml"} {
			answer := s.do(http.MethodGet, path, "")
			if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `href="`+other+`"`) ||
				strings.Contains(answer.Body.String(), `href="/playground"`) != plays {
				t.Errorf("%s, with a playground %v: %d %s", path, plays, answer.Code, answer.Body)
			}
		}
	}
	first := newService(t, serveCommand{}).do(http.MethodGet, "/", "").Body.String()
	for _, want := range []string{`<meta name="color-scheme" content="light dark">`, `href="/docs/mark.svg"`} {
		if !strings.Contains(first, want) {
			t.Errorf("the first page has no %s: %s", want, first)
		}
	}
	for _, path := range []string{"/docs", "/openapi.yaml", "/docs/mark.svg"} {
		if page := newService(t, serveCommand{}).do(http.MethodGet, path, ""); page.Code != http.StatusOK ||
			page.Body.Len() == 0 {
			t.Errorf("%s: %d", path, page.Code)
		}
	}
}

func TestPlaygroundIsServedWhereItIsWanted(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for _, c := range []struct {
		set  *bool
		demo bool
		want int
	}{{nil, true, 200}, {nil, false, 404}, {&yes, false, 200}, {&no, true, 404}} {
		s := newService(t, serveCommand{Playground: c.set})
		handler := (&serveCommand{Playground: c.set, exposure: exposure{Unsent: 64}}).handler(s.bank,
			newMeters(s.bank.DB), newHealth(newMeters(s.bank.DB)), c.demo, s.stopping.Load)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer,
			httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/playground", http.NoBody))
		if answer.Code != c.want {
			t.Errorf("%+v: %d", c, answer.Code)
		}
	}
}

func TestLogLineHasFixedFieldsAndTheRequestId(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	log := slog.New(requestLog{slog.NewJSONHandler(&text, nil)}).With("part", "test")
	log.InfoContext(context.WithValue(context.Background(), idKey{}, "r-1"), "line\nforged", "name", "a\nb")
	var line map[string]any
	if err := json.Unmarshal(text.Bytes(), &line); err != nil || line["request"] != "r-1" ||
		bytes.Count(text.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%s, %v", text.String(), err)
	}
}

// A stranger's surplus is refused in the envelope of the face, with the request's id.
func TestTheSurplusOfStrangersIsAnsweredByTheFace(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	for path, want := range map[string]string{
		"/graphql": `"kind":"TOO_MANY"`, "/v2/customers": `"code":"`, "/auth/realms/x/token": `"error":"`,
		"/nothing": `"code":"`,
	} {
		ctx := context.WithValue(t.Context(), surplusKey{}, true)
		answer := httptest.NewRecorder()
		s.handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, path, http.NoBody))
		if answer.Code != http.StatusTooManyRequests || answer.Header().Get(requestID) == "" ||
			!strings.Contains(answer.Body.String(), want) {
			t.Errorf("%s: %d %v %s", path, answer.Code, answer.Header(), answer.Body)
		}
	}
}

// A token that was once valid lifts the limit only on paths where it is checked. Health checks have no limit.
func TestATokenCountsOnlyWhereItIsLookedAt(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	token := s.token("portal", s.client("portal"))
	if got := s.do(http.MethodGet, "/v2/customers/1", "", "Authorization",
		"Bearer "+token).Code; got == http.StatusUnauthorized {
		t.Fatal(got)
	}
	for path, want := range map[string]bool{
		"/graphql": true, "/v2/customers": true, "/graphql/schema": true, "/": false, "/docs": false,
		"/openapi.yaml": false,
		"/auth/realms/x/protocol/openid-connect/certs": false, "/healthz": true, "/readyz": true,
	} {
		request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody)
		request.Header.Set("Authorization", "Bearer "+token)
		if got := s.front.knows(request); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}
