package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bankgraph/core/files"
	"bankgraph/graph/playground"
)

// The proxy that the README shows lets through what the program takes: the largest file, and WebSockets.
func TestTheProxyOfTheReadmeLetsEverythingThrough(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindSubmatch(readme)
	if block == nil {
		t.Fatal("the README shows no nginx")
	}
	shown := string(block[1])
	size := regexp.MustCompile(`client_max_body_size (\d+)m;`).FindStringSubmatch(shown)
	if size == nil {
		t.Fatal(shown)
	}
	if most, err := strconv.Atoi(size[1]); err != nil || most<<20 <= files.MostBytes {
		t.Errorf("bodies end at %s MiB, files at %d bytes", size[1], files.MostBytes)
	}
	for _, line := range []string{
		"proxy_request_buffering off;", "proxy_http_version 1.1;", "proxy_set_header Upgrade $http_upgrade;",
		"proxy_set_header Connection $connection_upgrade;",
	} {
		if !strings.Contains(shown, line) {
			t.Errorf("%q is missing", line)
		}
	}
}

// The requests of the README must work on a new demo bank, as a newcomer would paste them.
func TestRequestsOfTheReadmeWorkAsPasted(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(readme, -1) {
		if bytes.Contains(block[1], []byte("curl ")) {
			script.Write(block[1])
			script.WriteString("echo\n") // separates the answers
		}
	}
	s := onDemo(t).serve()
	out, err := exec.Command("sh", "-c", strings.ReplaceAll(script.String(), "http://127.0.0.1:8080", s.url)).
		Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	answers := json.NewDecoder(bytes.NewReader(out))
	var byGraph struct {
		Data struct {
			Customer struct {
				LegalName string
				Accounts  struct{ Nodes []any }
				Limits    []any
			}
		}
		Errors []any
	}
	var byREST struct {
		Status string
		Data   []struct{ LegalName string }
	}
	var abroad struct {
		Data struct{ PaymentStatus string }
	}
	var covered struct{ Data struct{ CoverTradeNo string } }
	var decided, moved, again any
	var arrived struct {
		Data struct {
			Payment struct{ Status, Currency string }
		}
	}
	type file struct {
		Data []struct{ PaymentStatus, DeliveryMethod string }
	}
	var waiting, settled file
	for _, answer := range []any{
		&byGraph, &byREST, &abroad, &covered, &decided, &moved, &arrived, &waiting, &decided, &again, &settled,
	} {
		if err := answers.Decode(answer); err != nil {
			t.Fatalf("%v; the answers are\n%s", err, out)
		}
	}
	first := byGraph.Data.Customer
	if !strings.Contains(first.LegalName, "Pinecrest") || len(first.Accounts.Nodes) == 0 ||
		len(first.Limits) == 0 || byGraph.Errors != nil {
		t.Errorf("GraphQL: %+v", byGraph)
	}
	if byREST.Status != "Success" || len(byREST.Data) != 2 {
		t.Errorf("REST: %+v", byREST)
	}
	if abroad.Data.PaymentStatus != "PENDING_APPROVAL" || covered.Data.CoverTradeNo == "" {
		t.Errorf("the payment abroad: %s", out)
	}
	if is := arrived.Data.Payment; is.Status != "PROCESSED" || is.Currency != "EUR" {
		t.Errorf("the payment abroad in the end: %+v", is)
	}
	if len(waiting.Data) != 2 || len(settled.Data) != 2 {
		t.Errorf("the file: %+v, then %+v", waiting, settled)
	}
	for i, one := range settled.Data {
		if waiting.Data[i].PaymentStatus != "PENDING_APPROVAL" || one.PaymentStatus != "PROCESSED" {
			t.Errorf("payment %d of the file: %+v, then %+v", i, waiting.Data[i], one)
		}
	}
}

// A loop that waits for what only success says never ends where the call fails: with a token that is old, or
// none.
func TestLoopsOfTheReadmeEndWhereTheCallFails(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`\buntil (ask|curl).*`).Find(readme); found != nil {
		t.Errorf("README.md: %s", found)
	}
}

// The examples of the playground must work on a new demo bank, whose clock nobody has moved.
func TestExamplesOfThePlaygroundWork(t *testing.T) {
	t.Parallel()
	s := onDemo(t).serve()
	var keys []string
	for _, demo := range demoKeys {
		keys = append(keys, demo.key)
	}
	for _, person := range demoPeople {
		keys = append(keys, person.key)
	}
	for _, key := range keys {
		t.Run(key, func(t *testing.T) {
			t.Parallel()
			s.examples(t, key)
		})
	}
	staff := s.token(sandbox, "demo-staff", "demo-staff-secret")
	for _, example := range playground.Examples() {
		for _, call := range example.REST {
			s.serves(t, call, staff)
		}
	}
}

// writer is the key that runs an example of a change. A change is made only once, and the clock moves after
// what has a date.
var writer = map[string]string{
	"11-ask": "demo-staff", "13-approve": "demo-linda", "16-transfer": "demo-staff", "20-send": "demo-staff",
	"23-abroad": "demo-staff", "24-clock": "demo-staff", "63-follow-notice": "demo-staff",
}

// examples runs the playground's examples with a key. The page says beforehand which ones the key cannot run.
func (s *testServer) examples(t *testing.T, key string) {
	t.Helper()
	token := s.token(sandbox, key, key+"-secret")
	var found struct {
		Data struct {
			Viewer struct {
				Login, Reach string
				Permissions  []string
			}
		}
	}
	viewer := playground.Example{Query: "{ viewer { login reach permissions } }", Variables: "{}"}
	if err := json.Unmarshal(s.runs(t, viewer, token), &found); err != nil {
		t.Fatal(err)
	}
	is := found.Data.Viewer
	for _, example := range playground.Examples() {
		if is.Reach == "PARTNER" { // as the page does
			for _, pair := range partnersOwn {
				example.Variables = strings.ReplaceAll(example.Variables, pair[0], pair[1])
			}
		}
		barred := example.Person && is.Login == ""
		for _, need := range example.Needs {
			barred = barred || !slices.Contains(is.Permissions, need)
		}
		switch by := writer[example.Name]; {
		case barred:
			if text := s.runs(t, example, token); !bytes.Contains(text, []byte(`"errors":`)) {
				t.Errorf("the page says that %s is not for %s: %s", example.Name, key, text)
			}
		case by == "" || by == key:
			data := s.tries(t, example, token)
			if key == "demo-staff" {
				waitsAsSaid(t, example, data)
			}
		}
	}
}

// serves checks that an operation exists for a call that the page offers, whatever the answer.
func (s *testServer) serves(t *testing.T, call, token string) {
	t.Helper()
	method, rest, _ := strings.Cut(call, " ")
	path, _, _ := strings.Cut(rest, " ")
	path = regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "1")
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if text, _ := io.ReadAll(answer.Body); bytes.Contains(text, []byte("invalidPath")) ||
		bytes.Contains(text, []byte("invalidMethod")) {
		t.Errorf("%s: %s", call, text)
	}
}

// waitsAsSaid checks that the words of an example say truly whether its change waits for a second person.
func waitsAsSaid(t *testing.T, example playground.Example, data map[string]any) {
	t.Helper()
	for _, value := range data {
		change, _ := value.(map[string]any)
		approval, asked := change["approval"]
		if !asked {
			continue
		}
		if strings.Contains(example.Description, "waits for a second person here") && approval == nil {
			t.Errorf("%s says that it waits for a second person, and does not: %v", example.Name, change)
		}
		if !strings.Contains(example.Description, "second person") && approval != nil {
			t.Errorf("%s waits for a second person, and does not say so: %v", example.Name, change)
		}
	}
}

// tries runs an example, which must answer data without errors, and returns the data.
func (s *testServer) tries(t *testing.T, example playground.Example, token string) map[string]any {
	t.Helper()
	text := s.runs(t, example, token)
	var got struct {
		Data   map[string]any
		Errors []any
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Errors != nil || len(got.Data) == 0 {
		t.Errorf("%s: %s", example.Name, text)
	}
	for field, value := range got.Data {
		list, isList := value.([]any)
		if empty := value == nil ||
			isList && !slices.ContainsFunc(list, func(one any) bool { return one != nil }); empty {
			t.Errorf("%s: %s is empty", example.Name, field)
		}
	}
	return got.Data
}

// runs returns GraphQL's answer to an example.
func (s *testServer) runs(t *testing.T, example playground.Example, token string) []byte {
	t.Helper()
	body, err := json.Marshal(map[string]any{
		"query": example.Query, "variables": json.RawMessage(example.Variables),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, text := s.post("/graphql", token, string(body))
	return []byte(text)
}
