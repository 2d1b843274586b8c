package transport_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"bankgraph/graph/transport"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// The table of both profiles: each event with its status as graphql-response+json and as json.
func TestStatusFollowsTheProfile(t *testing.T) {
	t.Parallel()
	missing := "query($id: ID!) { __typename }"
	for _, row := range []struct {
		name       string
		body       string
		auditG     int
		auditJ     int
		draftG     int
		draftJ     int
		data, errs bool
	}{
		{"data", document("{ __typename }"), 200, 200, 200, 200, true, false},
		{"data and errors", document("{ broken }"), 200, 200, 294, 200, true, true},
		{"data is null", document("{ nothing }"), 200, 200, 294, 200, true, true},
		{"syntax", document("{"), 400, 200, 400, 400, false, true},
		{"empty document", document(""), 400, 200, 422, 422, false, true},
		{"unknown field", document("{ nope }"), 400, 200, 422, 422, false, true},
		{"missing variable", document(missing), 400, 200, 422, 422, false, true},
		{
			"unknown operation",
			`{"query":"query A { __typename } query B { __typename }","operationName":"C"}`, 400,
			200, 422, 422, false, true,
		},
		{
			"two operations, none chosen", document("query A { __typename } query B { __typename }"),
			400, 200, 422, 422, false, true,
		},
		{"not JSON", "{", 400, 400, 400, 400, false, true},
		{"empty body", "", 400, 400, 400, 400, false, true},
		{"list of requests", "[" + document("{ __typename }") + "]", 400, 400, 400, 400, false, true},
		{"string for a request", `"{ __typename }"`, 400, 400, 400, 400, false, true},
		{"trailing bytes", document("{ __typename }") + "{}", 400, 400, 400, 400, false, true},
		{"no query", `{}`, 400, 400, 422, 422, false, true},
		{"null query", `{"query":null}`, 400, 400, 422, 422, false, true},
		{"query of the wrong type", `{"query":1}`, 400, 400, 422, 422, false, true},
		{
			"operationName of the wrong type",
			`{"query":"{ __typename }","operationName":1}`, 400, 400, 422, 422,
			false, true,
		},
		{
			"variables of the wrong type", `{"query":"{ __typename }","variables":"{}"}`, 400, 400,
			422, 422, false, true,
		},
		{
			"extensions of the wrong type", `{"query":"{ __typename }","extensions":[]}`, 400, 400,
			422, 422, false, true,
		},
		{"documentId of the wrong type", `{"documentId":5}`, 400, 400, 422, 422, false, true},
		{"subscription", document("subscription { paid }"), 400, 400, 400, 400, false, true},
	} {
		for _, one := range []struct {
			profile transport.Profile
			accept  string
			want    int
		}{
			{transport.Audit, gqlJSON, row.auditG},
			{transport.Audit, appJSON, row.auditJ},
			{"", gqlJSON, row.auditG},
			{transport.Draft, gqlJSON, row.draftG},
			{transport.Draft, appJSON, row.draftJ},
		} {
			h, _ := server(t, transport.HTTP{Profile: one.profile})
			w := send(t, h, sent{accept: one.accept, body: row.body})
			fields := answer(t, w)
			if w.Code != one.want {
				t.Errorf("%s, %s, %s: %d, want %d", row.name, one.profile, one.accept, w.Code, one.want)
			}
			if got := w.Header().Get("Content-Type"); !strings.HasPrefix(got, one.accept+";") {
				t.Errorf("%s: answered as %s", row.name, got)
			}
			if (fields["data"] != nil) != row.data || (fields["errors"] != nil) != row.errs {
				t.Errorf("%s: %s", row.name, w.Body)
			}
		}
	}
}

func TestAcceptIsNegotiatedByQuality(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	for accept, want := range map[string]string{
		"":                                  appJSON,
		"*/*":                               appJSON,
		"application/*":                     appJSON,
		"APPLICATION/GraphQL-Response+JSON": gqlJSON,
		"application/graphql-response+json, application/json":             gqlJSON,
		"application/json, application/graphql-response+json":             gqlJSON,
		"application/graphql-response+json;q=0.8, application/json;q=0.9": appJSON,
		"application/graphql-response+json;q=0.9, application/json;q=0.8": gqlJSON,
		"application/graphql-response+json, */*":                          gqlJSON,
		"application/json, text/plain, */*":                               appJSON,
		"application/json;q=0.5, */*;q=0.9":                               gqlJSON,
		"application/json;q=0, */*":                                       gqlJSON,
		"application/graphql-response+json;q=0, application/*":            appJSON,
		"application/json, multipart/mixed":                               appJSON,
		"application/graphql-response+json, application/graphql+json, application/json, text/event-stream, " +
			"multipart/mixed": gqlJSON,
		"application/json; charset=utf-8":                                           appJSON,
		"application/json; charset=latin1, application/graphql-response+json;q=0.1": gqlJSON,
		"application/json;q=nonsense, application/graphql-response+json;q=0.1":      gqlJSON,
		"text/html, application/xhtml+xml, application/xml;q=0.9, */*;q=0.8":        appJSON,
		"application/json;q=0":             "",
		"*/*;q=0":                          "",
		"text/html":                        "",
		"text/event-stream":                "",
		"application/json; charset=latin1": "",
		"application/json;q=0, application/*;q=0, */*;q=0": "",
		"application/json;q=NaN":                           "",
		"nonsense":                                         "",
	} {
		w := send(t, h, sent{accept: accept, body: document("{ __typename }")})
		answer(t, w)
		if want == "" {
			if w.Code != http.StatusNotAcceptable || code(t, w) != transport.NotAcceptable {
				t.Errorf("Accept %q: %d %s", accept, w.Code, w.Body)
			}
			continue
		}
		if got := w.Header().Get("Content-Type"); w.Code != 200 || got != want+"; charset=utf-8" {
			t.Errorf("Accept %q: %d as %s, want %s", accept, w.Code, got, want)
		}
	}
}

func TestAcceptMayComeInSeveralHeaders(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	w := send(t, h,
		sent{header: http.Header{"Accept": {"text/html", gqlJSON}}, body: document("{ __typename }")})
	if got := w.Header().Get("Content-Type"); got != gqlJSON+"; charset=utf-8" {
		t.Error(got)
	}
}

func TestOnlyJSONInUTF8IsRead(t *testing.T) {
	t.Parallel()
	h, ran := server(t, transport.HTTP{})
	for _, contentType := range []string{
		"-", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/graphql", "application/json; charset=latin1", "application/json/json",
		"application/json; charset",
	} {
		w := send(t, h, sent{contentType: contentType, body: document("{ __typename }")})
		if w.Code != http.StatusUnsupportedMediaType || code(t, w) != transport.UnsupportedMediaType {
			t.Errorf("%s: %d %s", contentType, w.Code, w.Body)
		}
		if got := w.Header().Get("Accept-Post"); got != appJSON {
			t.Errorf("%s: Accept-Post %q", contentType, got)
		}
	}
	w := send(t, h, sent{header: http.Header{"Content-Encoding": {"gzip"}}, body: "\x1f\x8b"})
	if w.Code != http.StatusUnsupportedMediaType {
		t.Errorf("compressed: %d", w.Code)
	}
	if ran.Load() > 0 {
		t.Errorf("%d executed", ran.Load())
	}
	w = send(t, h, sent{contentType: `Application/JSON; Charset="UTF-8"`, body: document("{ __typename }")})
	if w.Code != 200 {
		t.Errorf("upper case: %d", w.Code)
	}
}

func TestOtherMethodsAreToldWhatIsAllowed(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	for _, method := range []string{"PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "QUERY"} {
		w := send(t, h, sent{method: method, body: document("{ __typename }"), contentType: appJSON})
		if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "GET, POST" {
			t.Errorf("%s: %d, Allow %q", method, w.Code, w.Header().Get("Allow"))
		}
	}
}

func TestGetNeverChangesAnything(t *testing.T) {
	t.Parallel()
	h, ran := server(t, transport.HTTP{})
	for _, values := range []url.Values{
		{"query": {"mutation { pay }"}},
		{"query": {"query Look { __typename } mutation Pay { pay }"}, "operationName": {"Pay"}},
	} {
		for _, accept := range []string{gqlJSON, appJSON} {
			w := send(t, h, sent{method: "GET", url: "?" + values.Encode(), accept: accept})
			if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") != "POST" ||
				code(t, w) != transport.MethodNotAllowed {
				t.Errorf("%v: %d, Allow %q", values, w.Code, w.Header().Get("Allow"))
			}
		}
	}
	if ran.Load() > 0 {
		t.Errorf("%d executed", ran.Load())
	}
	w := send(t, h,
		sent{body: `{"query":"query Look { __typename } mutation Pay { pay }","operationName":"Pay"}`})
	if w.Code != 200 || ran.Load() != 1 {
		t.Errorf("by POST: %d, %d executed", w.Code, ran.Load())
	}
}

func TestGetReadsItsParametersStrictly(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	ask := "?query=" + url.QueryEscape("query A($t: String) { echo(text: $t) }")
	for _, row := range []struct {
		url    string
		status int
		code   string
	}{
		{ask, 200, ""},
		{ask + `&variables={"t":"a"}&extensions={}&operationName=A`, 200, ""},
		{ask + `&variables=&extensions=null&operationName=`, 200, ""},
		{"", 400, transport.InvalidRequest},
		{"?query=", 200, "GRAPHQL_VALIDATION_FAILED"},
		{ask + "&query=x", 400, transport.InvalidRequest},
		{ask + "&a=%zz", 400, transport.InvalidRequest},
		{ask + `&variables={"t":1,}`, 400, transport.InvalidJSON},
		{ask + `&variables=[]`, 400, transport.InvalidRequest},
		{ask + `&extensions=5`, 400, transport.InvalidRequest},
		{ask + `&variables={"t":"\u0000"}`, 400, transport.InvalidText},
		{"?query=%ff", 400, transport.InvalidText},
		{ask + `&variables={"t":"%ff"}`, 400, transport.InvalidText},
	} {
		w := send(t, h, sent{method: "GET", url: strings.ReplaceAll(row.url, `"`, "%22")})
		switch {
		case w.Code != row.status:
			t.Errorf("%s: %d %s", row.url, w.Code, w.Body)
		case row.code != "" && code(t, w) != row.code:
			t.Errorf("%s: %s", row.url, w.Body)
		}
	}
}

func TestBodyOverTheLimitIsRefused(t *testing.T) {
	t.Parallel()
	h, ran := server(t, transport.HTTP{})
	fits := func(n int) string {
		text := document("{ __typename }")
		return text + strings.Repeat(" ", n-len(text))
	}
	if w := send(t, h, sent{body: fits(transport.DefaultBodyLimit)}); w.Code != 200 {
		t.Errorf("at the limit: %d", w.Code)
	}
	ran.Store(0)
	w := send(t, h, sent{body: fits(transport.DefaultBodyLimit + 1)})
	if w.Code != http.StatusRequestEntityTooLarge || code(t, w) != transport.BodyTooLarge {
		t.Errorf("one more: %d %s", w.Code, w.Body)
	}
	// Without a length, the limit counts received bytes.
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(fits(1<<20)))
	r.ContentLength = -1
	r.Header.Set("Content-Type", appJSON)
	w = httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("without a length: %d", w.Code)
	}
	small, _ := server(t, transport.HTTP{BodyLimit: 100})
	if w := send(t, small, sent{body: fits(101)}); w.Code != http.StatusRequestEntityTooLarge {
		t.Errorf("own limit: %d", w.Code)
	}
	if ran.Load() > 0 {
		t.Errorf("%d executed", ran.Load())
	}
}

func TestJSONThatCanBeReadInTwoWaysIsRefused(t *testing.T) {
	t.Parallel()
	h, ran := server(t, transport.HTTP{})
	v := func(variables string) string {
		return `{"query":"query($t: String) { echo(text: $t) }","variables":` + variables + `}`
	}
	for _, row := range []struct{ body, code, place string }{
		{"\ufeff" + v("{}"), transport.InvalidJSON, "byte 1"},
		{v(`{"t":"a","t":"b"}`), transport.InvalidJSON, "variables.t twice"},
		{`{"query":"{ __typename }","query":"{ broken }"}`, transport.InvalidJSON, "query twice"},
		{v(`{"t":{"a":[0,{"b":1,"b":1}]}}`), transport.InvalidJSON, "variables.t.a[1].b twice"},
		{v(`{"t":"a\u0000b"}`), transport.InvalidText, "U+0000 in variables.t"},
		{v(`{"in":{"names":["a","\u0000"]}}`), transport.InvalidText, "U+0000 in variables.in.names[1]"},
		{v(`{"my secret":"\u0000"}`), transport.InvalidText, "U+0000 in variables.?"},
		{v(`{"a\u0000":1}`), transport.InvalidText, "U+0000 in variables"},
		{v("{\"t\":\"\xff\"}"), transport.InvalidText, "UTF-8 in variables.t"},
		{v("{\"t\":\"\xed\xa0\x80\"}"), transport.InvalidText, "UTF-8 in variables.t"},
		{v(`{"t":"\ud800"}`), transport.InvalidText, "surrogate pair in variables.t"},
		{v(`{"t":"\ud800\ud800"}`), transport.InvalidText, "surrogate pair"},
		{v(`{"t":"\udc00\ud800"}`), transport.InvalidText, "surrogate pair"},
		{v(`{"t":"\ud83d\n"}`), transport.InvalidText, "surrogate pair"},
		{v("{\"t\":\"a\x00b\"}"), transport.InvalidJSON, "not valid JSON"},
		{v("{\"t\":\"a\nb\"}"), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":"\x"}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":"\u12"}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":01}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":+1}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":1.}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":--1}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":NaN}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":nul}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":True}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{t:1}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{'t':1}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":1,}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":[1,]}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t" 1}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":1 "u":2}`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":"`), transport.InvalidJSON, "not valid JSON"},
		{v(`{"t":"\`), transport.InvalidJSON, "not valid JSON"},
		{v(`{}`) + "x", transport.InvalidJSON, "not valid JSON"},
		{v(`{}`) + v(`{}`), transport.InvalidJSON, "not valid JSON"},
		{"// comment\n" + v(`{}`), transport.InvalidJSON, "not valid JSON"},
		{
			v(`{"t":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}"), transport.InvalidJSON,
			"not valid JSON",
		},
		{v(strings.Repeat("[", 10_000)), transport.InvalidJSON, "not valid JSON"},
		{v(strings.Repeat(`{"a":`, 5_000)), transport.InvalidJSON, "not valid JSON"},
	} {
		w := send(t, h, sent{body: row.body})
		if w.Code != 400 || code(t, w) != row.code || !strings.Contains(w.Body.String(), row.place) {
			t.Errorf("%.200s: %d %s, want %q", row.body, w.Code, w.Body, row.place)
		}
	}
	if ran.Load() > 0 {
		t.Errorf("%d executed", ran.Load())
	}
}

func TestTextArrivesAsItWasSent(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	for _, text := range []string{"", "plain", "a\tb\n\"c\"\\/", "é 😀 \u202e \ufffd", "<&>\u2028"} {
		for _, escape := range []bool{false, true} {
			quoted, _ := json.Marshal(text)
			if escape {
				quoted = []byte(asciiJSON(text))
			}
			w := send(t, h,
				sent{body: `{"query":"query($t: String) { echo(text: $t) }","variables":{"t":` +
					string(quoted) + `}}`})
			var got struct{ Data struct{ Echo string } }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || got.Data.Echo != text {
				t.Errorf("%q came back as %q (%d)", text, got.Data.Echo, w.Code)
			}
		}
	}
}

// asciiJSON writes every character as \uXXXX, including surrogate pairs.
func asciiJSON(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, unit := range utf16Units(text) {
		b.WriteString(`\u`)
		for shift := 12; shift >= 0; shift -= 4 {
			b.WriteByte("0123456789abcdef"[unit>>shift&15])
		}
	}
	b.WriteByte('"')
	return b.String()
}

func utf16Units(text string) (units []uint16) {
	for _, r := range text {
		if r > 0xffff {
			r -= 0x10000
			units = append(units, uint16(0xd800+r>>10), uint16(0xdc00+r&0x3ff))
			continue
		}
		units = append(units, uint16(r))
	}
	return units
}

func TestNumbersNeverPassThroughAFloat(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	w := send(t, h,
		sent{
			body: `{"query":"query($of: [Int!], $at: Float) { ids(of: $of, at: $at) }",` +
				`"variables":{"of":[9007199254740993,-1,0],"at":0.10}}`,
		})
	var got struct{ Data struct{ IDs string } }
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil ||
		!strings.Contains(got.Data.IDs, "[9007199254740993,-1,0]") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	// A number is not a text.
	w = send(t, h, sent{body: `{"query":"query($t: String) { echo(text: $t) }","variables":{"t":5}}`})
	if answer(t, w)["data"] != nil {
		t.Errorf("%s", w.Body)
	}
}

func TestErrorsNeverRepeatTheBody(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	const canary = "c4n4ry-5ecret"
	for _, s := range []sent{
		{body: `{"query":"` + canary},
		{body: canary},
		{body: `["` + canary + `"]`},
		{body: `{"` + canary + `":1,"` + canary + `":2}`},
		{body: `{"query":{"` + canary + `":1}}`},
		{body: `{"query":"{ __typename }","variables":"` + canary + `"}`},
		{body: `{"query":"{ __typename }","variables":{"a":"` + canary + `\u0000"}}`},
		{contentType: "text/" + canary, body: canary},
		{method: "GET", url: "?query=a&variables=" + canary},
		{accept: "text/" + canary, body: canary},
		{body: document(strings.Repeat(canary, 10_000))},
	} {
		w := send(t, h, s)
		if w.Code < 400 || strings.Contains(w.Body.String(), canary) {
			t.Errorf("%+v: %d %s", s, w.Code, w.Body)
		}
	}
}

func TestASubscriptionIsToldHowToConnect(t *testing.T) {
	t.Parallel()
	h, ran := server(t, transport.HTTP{})
	for _, s := range []sent{
		{body: document("subscription { paid }")},
		{method: "GET", url: "?query=subscription+%7B+paid+%7D", accept: gqlJSON},
	} {
		w := send(t, h, s)
		if w.Code != 400 || code(t, w) != transport.SubscriptionNeedsStream ||
			!strings.Contains(w.Body.String(), "text/event-stream") {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if ran.Load() > 0 {
		t.Errorf("%d executed", ran.Load())
	}
}

func TestDataGoesOutByteForByte(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	w := send(t, h, sent{body: document("{ big broken }")})
	fields := answer(t, w)
	want, _ := json.Marshal(map[string]any{"big": strings.Repeat("é<", 10_000), "broken": nil})
	if string(fields["data"]) != string(want) {
		t.Error("data differs")
	}
	if got := w.Header().Get("Content-Length"); got == "" || len(w.Body.Bytes()) != atoi(got) {
		t.Errorf("Content-Length %s for %d bytes", got, w.Body.Len())
	}
}

func atoi(text string) (n int) {
	for _, c := range text {
		n = n*10 + int(c-'0')
	}
	return n
}

func TestTheHouseDecidesTheStatusOfItsOwnCodes(t *testing.T) {
	t.Parallel()
	for _, profile := range []transport.Profile{transport.Audit, transport.Draft} {
		for _, accept := range []string{gqlJSON, appJSON} {
			w := send(t, refusing(t, profile, &gqlerror.Error{
				Message:    "slower",
				Extensions: map[string]any{"code": "RATE_LIMITED", "retryAfter": 7},
			}), sent{accept: accept, body: document("{ __typename }")})
			if w.Code != 429 || w.Header().Get("Retry-After") != "7" || answer(t, w)["data"] != nil {
				t.Errorf("%s %s: %d, Retry-After %q", profile, accept, w.Code, w.Header().Get("Retry-After"))
			}
		}
	}
}

func TestErrorsFoldedIntoOneAreAllTold(t *testing.T) {
	t.Parallel()
	list := gqlerror.List{{Message: "first"}, {Message: "second"}}
	w := send(t, refusing(t, "", &gqlerror.Error{Message: "first", Err: list}),
		sent{body: document("{ __typename }")})
	var errs []struct{ Message string }
	if err := json.Unmarshal(answer(t, w)["errors"], &errs); err != nil || len(errs) != 2 ||
		errs[1].Message != "second" {
		t.Errorf("%s", w.Body)
	}
}

func TestErrorsPassThePresenter(t *testing.T) {
	t.Parallel()
	s := handler.New(&graphql.ExecutableSchemaMock{SchemaFunc: func() *ast.Schema { return schema }})
	s.AddTransport(transport.HTTP{})
	s.SetErrorPresenter(func(ctx context.Context, err error) *gqlerror.Error {
		presented := graphql.DefaultErrorPresenter(ctx, err)
		presented.Extensions["requestId"] = "r-1"
		return presented
	})
	for _, one := range []sent{
		{method: "PUT"},
		{accept: "text/html"},
		{contentType: "-"},
		{body: "{"},
		{body: "{}"},
		{body: document("{")},
		{body: document("subscription { paid }")},
	} {
		w := send(t, s, one)
		if !strings.Contains(w.Body.String(), `"requestId":"r-1"`) {
			t.Errorf("%+v: %s", one, w.Body)
		}
	}
}

func TestAnEndedContextIsNoEmptyAnswer(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(document("{ __typename }"))).
		WithContext(ctx)
	r.Header.Set("Content-Type", appJSON)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if w.Code != http.StatusServiceUnavailable || code(t, w) != transport.TimedOut ||
		w.Header().Get("Retry-After") == "" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAnIdStandsForADocument(t *testing.T) {
	t.Parallel()
	s := handler.New(&graphql.ExecutableSchemaMock{
		SchemaFunc: func() *ast.Schema { return schema },
		ExecFunc: func(ctx context.Context) graphql.ResponseHandler {
			return graphql.OneShot(execute(ctx))
		},
	})
	s.AddTransport(transport.HTTP{})
	s.Use(trusted{"42": `{ echo(text: "trusted") }`})
	for _, one := range []sent{
		{body: `{"documentId":"42"}`},
		{method: "GET", url: "?documentId=42"},
		{body: `{"extensions":{"persistedQuery":{"version":1}},"documentId":"42"}`},
	} {
		if w := send(t, s, one); w.Code != 200 || !strings.Contains(w.Body.String(), "trusted") {
			t.Errorf("%+v: %d %s", one, w.Code, w.Body)
		}
	}
}

// trusted replaces a document's id by the document, as an extension will do.
type trusted map[string]string

func (trusted) ExtensionName() string                   { return "Trusted" }
func (trusted) Validate(graphql.ExecutableSchema) error { return nil }
func (d trusted) MutateOperationParameters(_ context.Context, p *graphql.RawParams) *gqlerror.Error {
	id, _ := p.Extensions["documentId"].(string)
	p.Query = d[id]
	return nil
}

// refusing makes a server with an extension that refuses everything.
func refusing(t *testing.T, profile transport.Profile, err *gqlerror.Error) http.Handler {
	t.Helper()
	s := handler.New(&graphql.ExecutableSchemaMock{SchemaFunc: func() *ast.Schema { return schema }})
	s.AddTransport(transport.HTTP{
		Profile: profile, Statuses: map[string]int{"RATE_LIMITED": http.StatusTooManyRequests},
	})
	s.Use(refuse{err})
	return s
}

type refuse struct{ err *gqlerror.Error }

func (refuse) ExtensionName() string                   { return "Refuse" }
func (refuse) Validate(graphql.ExecutableSchema) error { return nil }
func (r refuse) MutateOperationContext(context.Context, *graphql.OperationContext) *gqlerror.Error {
	return r.err
}

func FuzzBodies(f *testing.F) {
	h, _ := server(f, transport.HTTP{})
	f.Add(document("{ __typename }"))
	f.Add(`{"query":"query($t: String) { echo(text: $t) }","variables":{"t":"\ud83d\ude00\n",` +
		`"n":[1,-2.5e3,true,null]}}`)
	f.Add(`{"query":"{ echo(text: \"a\") }","extensions":{"a":{"b":[{}]}}}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := send(t, h, sent{body: body})
		answer(t, w)
		// Whatever the transport accepts, the standard library must accept; the reverse need not hold.
		if w.Code < 400 && !json.Valid([]byte(body)) {
			t.Errorf("took what is not JSON: %q", body)
		}
	})
}

func BenchmarkTransport(b *testing.B) {
	h, _ := server(b, transport.HTTP{})
	body := `{"query":"query A($t: String) { echo(text: $t) }","operationName":"A",` +
		`"variables":{"t":"some text"}}`
	b.ReportAllocs()
	for b.Loop() {
		send(b, h, sent{accept: "application/graphql-response+json, application/json", body: body})
	}
}

// Refusals of features that other servers have say what to do instead.
func TestWhatIsNotHereSaysWhatToDo(t *testing.T) {
	t.Parallel()
	h, _ := server(t, transport.HTTP{})
	for _, one := range []struct {
		sent       sent
		code, says string
	}{
		{
			sent{body: "[" + document("{ __typename }") + "," + document("{ __typename }") + "]"},
			transport.BatchingNotSupported, "send each operation as a request of its own",
		},
		{
			sent{accept: "application/json, text/event-stream", body: document("subscription { paid }")},
			transport.SubscriptionNeedsStream, "graphql-transport-ws",
		},
		{
			sent{
				accept: `multipart/mixed;boundary="graphql";subscriptionSpec=1.0`,
				body:   document("subscription { paid }"),
			}, transport.SubscriptionNeedsStream, "text/event-stream",
		},
		{sent{body: document("subscription { paid }")}, transport.SubscriptionNeedsStream, "text/event-stream"},
	} {
		w := send(t, h, one.sent)
		if w.Code < 400 || w.Code > 499 || code(t, w) != one.code ||
			!strings.Contains(w.Body.String(), one.says) {
			t.Errorf("%+v: %d %s", one.sent, w.Code, w.Body)
		}
	}
}
