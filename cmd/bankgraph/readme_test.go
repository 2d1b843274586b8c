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
	"strings"
	"testing"

	"bankgraph/graph/playground"
)

// What the README and the playground offer to newcomers is tried here as they would, on a new demo bank.
func TestFirstRequestsOfTheReadmeWorkAsPasted(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllSubmatch(readme, -1) {
		if bytes.Contains(block[1], []byte("curl ")) {
			script.Write(block[1])
			script.WriteString("echo\n") // between the answers
		}
	}
	s := onData(t).serve()
	out, err := exec.Command("sh", "-c", strings.ReplaceAll(script.String(), "http://127.0.0.1:8080", s.url)).Output()
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
	if answers.Decode(&byGraph) != nil || answers.Decode(&byREST) != nil {
		t.Fatalf("the answers are\n%s", out)
	}
	first := byGraph.Data.Customer
	if !strings.Contains(first.LegalName, "Pinecrest") || len(first.Accounts.Nodes) == 0 || len(first.Limits) == 0 || byGraph.Errors != nil {
		t.Errorf("GraphQL: %+v", byGraph)
	}
	if byREST.Status != "Success" || len(byREST.Data) != 2 {
		t.Errorf("REST: %+v", byREST)
	}
	// What needs permissions that not every key has: asking for a change, deciding as a person, the record.
	asks := map[string][]string{
		"11-ask": {"demo-staff"}, "13-approve": {"demo-linda"}, "14-history": {"demo-staff", "demo-reader"}, "15-audit": {"demo-staff", "demo-reader"},
	}
	for _, demo := range demoKeys {
		t.Run("examples of the playground for "+demo.key, func(t *testing.T) {
			t.Parallel()
			token := s.token(sandbox, demo.key, demo.key+"-secret")
			for _, example := range playground.Examples() {
				if keys := asks[example.Name]; keys != nil && !slices.Contains(keys, demo.key) {
					continue
				}
				s.tries(t, example, token, demo.partner)
			}
		})
	}
	for _, example := range playground.Examples() {
		if slices.Contains(asks[example.Name], "demo-linda") {
			s.tries(t, example, s.token(sandbox, "demo-linda", "demo-linda-secret"), false)
		}
	}
}

// tries runs an example: nobody may get errors, and all but partners, whose customers the examples do not
// ask for, must get data.
func (s *testServer) tries(t *testing.T, example playground.Example, token string, mayBeEmpty bool) {
	t.Helper()
	body, err := json.Marshal(map[string]any{"query": example.Query, "variables": json.RawMessage(example.Variables)})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/graphql", bytes.NewReader(body))
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
	text, _ := io.ReadAll(answer.Body)
	var got struct {
		Data   map[string]any
		Errors []any
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Errors != nil || len(got.Data) == 0 {
		t.Errorf("%s: %s", example.Name, text)
	}
	for field, value := range got.Data {
		list, isList := value.([]any)
		if empty := value == nil || isList && !slices.ContainsFunc(list, func(one any) bool { return one != nil }); empty && !mayBeEmpty {
			t.Errorf("%s: %s is empty", example.Name, field)
		}
	}
}
