package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
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
)

// service is everything that serve serves, on a bank of the test's own, without the network.
type service struct {
	*testing.T
	bank     *bank
	operator context.Context
	realm    string
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

// newServiceWith is newService with what else its core needs from outside.
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
	meters := newMeters(options.DB)
	s.health = newHealth(meters)
	s.handler = command.handler(s.bank, meters, s.health, false, s.stopping.Load)
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
	_, secret, err := s.bank.Clients.Add(s.operator, clients.Draft{Key: key, Permissions: permissions([]string{"all"})})
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

// do answers a request; headers are name, value, name, value …
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
		"/graphql":      `{"errors":[{"message":"not authorized: a valid access token is needed","extensions":{"kind":"UNAUTHENTICATED","code":"API901"}}]}`,
	} {
		answer := s.do(http.MethodGet, path+"?not=%7Bparsed", "")
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
	for path, want := range map[string]int{"/v2/customers?page=1&limit=1": http.StatusOK, "/v2/customers": http.StatusBadRequest, "/no/such": http.StatusNotFound} {
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
		"Basic " + token: http.StatusUnauthorized, token: http.StatusUnauthorized, "Bearer": http.StatusUnauthorized,
		"Bearer " + token + " " + token: http.StatusUnauthorized,
	} {
		if answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization", header); answer.Code != want {
			t.Errorf("%.20s…: %d %s", header, answer.Code, answer.Body)
		}
	}
	twice := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization", "Bearer "+token, "Authorization", "Bearer "+token)
	if twice.Code != http.StatusUnauthorized {
		t.Errorf("twice: %d", twice.Code)
	}
	if answer := s.do(http.MethodGet, "/graphql?query={__typename}&access_token="+token, ""); answer.Code != http.StatusUnauthorized {
		t.Errorf("in the address: %d", answer.Code)
	}
}

func TestAnswersCarryTheRequestId(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{})
	if id := s.do(http.MethodGet, "/healthz", "", requestID, "portal-7f.1").Header().Get(requestID); id != "portal-7f.1" {
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
		if answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization", "Bearer "+fast); answer.Code == http.StatusTooManyRequests {
			refused = answer
		}
	}
	if refused == nil || refused.Header().Get("Retry-After") == "" || !strings.Contains(refused.Body.String(), "TOO_MANY") {
		t.Fatalf("refused = %+v", refused)
	}
	if answer := s.do(http.MethodGet, "/graphql?query={__typename}", "", "Authorization", "Bearer "+other); answer.Code != http.StatusOK {
		t.Errorf("another key: %d", answer.Code)
	}
}

func TestSurplusOfRequestsIsToldToComeBack(t *testing.T) {
	t.Parallel()
	room := newRoom(1)
	inside, leave := make(chan struct{}), make(chan struct{})
	handler := room.admit(graph.Refuse, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		inside <- struct{}{}
		<-leave
	}))
	send := func(ctx context.Context) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodGet, "/", http.NoBody))
		return answer
	}
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { send(context.Background()) })
	<-inside
	room.waiting.Store(room.queue) // as many wait as may
	if answer := send(ctx); answer.Code != http.StatusServiceUnavailable || answer.Header().Get("Retry-After") != "1" {
		t.Errorf("surplus: %d %v", answer.Code, answer.Header())
	}
	room.waiting.Store(0)
	cancel()
	if answer := send(ctx); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("who gave up waiting: %d", answer.Code)
	}
	close(leave)
	all.Wait()
	if len(room.places) != 0 || room.waiting.Load() != 0 {
		t.Errorf("%d places are taken, %d wait", len(room.places), room.waiting.Load())
	}
}

func TestWhoSendsABodySlowlyHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	room := newRoom(1)
	handler := room.admit(graph.Refuse, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(r.Body)
		if len(room.places) != 1 {
			t.Errorf("%d requests are worked on in a room for one", len(room.places))
		}
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
		}
		_, _ = w.Write(text)
	}))
	send := func(ctx context.Context, body io.Reader) *httptest.ResponseRecorder {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(ctx, http.MethodPost, "/", body))
		return answer
	}
	body, caller := io.Pipe()
	var all sync.WaitGroup
	all.Go(func() {
		if answer := send(context.Background(), body); answer.Body.String() != "slow" {
			t.Errorf("slow caller: %d %s", answer.Code, answer.Body)
		}
	})
	_, _ = caller.Write([]byte("sl")) // returns once it is read: the slow one has been let in
	if answer := send(context.Background(), strings.NewReader("quick")); answer.Body.String() != "quick" {
		t.Errorf("quick caller: %d %s", answer.Code, answer.Body)
	}
	_, _ = caller.Write([]byte("ow"))
	_ = caller.Close()
	all.Wait()
}

func TestTheDeadlineEndsTheWaitForABodysWayBackIn(t *testing.T) {
	t.Parallel()
	room := newRoom(1)
	ctx, cancel := context.WithCancel(context.Background())
	body, caller := io.Pipe()
	handler := room.admit(graph.Refuse, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		go func() {
			room.places <- struct{}{} // somebody takes the place that this request gave up
			cancel()
			_ = caller.Close()
		}()
		if _, err := io.ReadAll(r.Body); !errors.Is(err, context.Canceled) {
			t.Errorf("error = %v", err)
		}
	}))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/", body))
	if len(room.places) != 1 {
		t.Errorf("%d places are taken, and one was somebody else's", len(room.places))
	}
}

func TestPanicIsAnsweredAndLogged(t *testing.T) {
	t.Parallel()
	handler := guard(graph.Refuse, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("a secret of ours") }))
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody))
	if answer.Code != http.StatusInternalServerError || strings.Contains(answer.Body.String(), "secret") {
		t.Errorf("answer: %d %s", answer.Code, answer.Body)
	}
}

func TestPanicInTheMiddleOfAnAnswerCutsIt(t *testing.T) {
	t.Parallel()
	handler := guard(graph.Refuse, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		panic("late")
	}))
	defer func() {
		if trouble, _ := recover().(error); !errors.Is(trouble, http.ErrAbortHandler) {
			t.Errorf("panic = %v", trouble)
		}
	}()
	handler.ServeHTTP(&recorder{ResponseWriter: httptest.NewRecorder()}, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/", http.NoBody))
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
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", body))
}

func TestOnlyNamedOriginsMayCallFromBrowsers(t *testing.T) {
	t.Parallel()
	s := newService(t, serveCommand{Origins: []string{"https://portal.bank.example"}})
	preflight := []string{"Access-Control-Request-Method", "POST", "Access-Control-Request-Headers", "authorization,content-type"}
	ours := s.do(http.MethodOptions, "/graphql", "", append(preflight, "Origin", "https://portal.bank.example")...)
	if ours.Header().Get("Access-Control-Allow-Origin") != "https://portal.bank.example" || ours.Header().Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("our portal: %v", ours.Header())
	}
	theirs := s.do(http.MethodOptions, "/graphql", "", append(preflight, "Origin", "https://evil.example")...)
	if theirs.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("another page: %v", theirs.Header())
	}
	none := newService(t, serveCommand{}).do(http.MethodOptions, "/graphql", "", append(preflight, "Origin", "https://portal.bank.example")...)
	if none.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("without settings: %v", none.Header())
	}
}

func TestIndexLeadsToThePages(t *testing.T) {
	t.Parallel()
	answer := newService(t, serveCommand{}).do(http.MethodGet, "/", "")
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `href="/playground"`) || !strings.Contains(answer.Body.String(), `href="/docs"`) {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
	for _, path := range []string{"/docs", "/openapi.yaml"} {
		if page := newService(t, serveCommand{}).do(http.MethodGet, path, ""); page.Code != http.StatusOK || page.Body.Len() == 0 {
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
		handler := (&serveCommand{Playground: c.set}).handler(s.bank, newMeters(s.bank.DB), newHealth(newMeters(s.bank.DB)), c.demo, s.stopping.Load)
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/playground", http.NoBody))
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
	if err := json.Unmarshal(text.Bytes(), &line); err != nil || line["request"] != "r-1" || bytes.Count(text.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%s, %v", text.String(), err)
	}
}
