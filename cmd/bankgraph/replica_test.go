package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core"
	"bankgraph/core/access"
	"bankgraph/db"
	"bankgraph/db/cluster"
	"bankgraph/db/dbtest"
)

// Each face shows a caller its own changes made over the other face, even if the replica that it reads from
// lags. While the replica lags or is dead, the bank is ready.
func TestBothFacesShowACallerItsWritesThoughTheReplicaLags(t *testing.T) {
	t.Parallel()
	server := dbtest.OwnServer(t, dbtest.Streaming)
	replica := server.Replica()
	pools, err := db.Open(server.Service, db.Options{
		Connections: 4, ReadURL: cluster.ServiceURL(replica.URL()), ReadLag: time.Minute, Caller: access.Writer,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = pools.Close() })
	s := newServiceWith(t, serveCommand{}, core.Options{DB: pools})
	token := "Bearer " + s.token("portal", s.client("portal"))
	// the replica has the bank, and is read from
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		answer := s.do(http.MethodGet, "/v2/customers?page=1&limit=1", "", "Authorization", token)
		if state, _ := pools.Replica(); answer.Code == http.StatusOK && state.Reads > 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the replica is not read from")
		}
	}
	conn, err := pgx.Connect(t.Context(), replica.URL())
	if err == nil {
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), `SELECT pg_wal_replay_pause()`)
	}
	if err != nil {
		t.Fatal(err)
	}
	ask := func(method, path, body string) string {
		t.Helper()
		answer := s.do(method, path, body, "Authorization", token, "Content-Type", "application/json")
		if answer.Code >= 300 || strings.Contains(answer.Body.String(), `"errors":[`) {
			t.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
		}
		return answer.Body.String()
	}
	var customer string // the bank's own
	err = pools.NewRaw(`SELECT uid::text FROM customers WHERE tenant = (SELECT id FROM tenants WHERE code = ?)`,
		s.realm).Scan(t.Context(), &customer)
	if err != nil {
		t.Fatal(err)
	}
	ask(http.MethodPost, "/v1/customers/"+customer+"/signatories",
		`{"fullName": "Ines Okafor", "emailAddress": "ines@mail.example", "phoneNumber": "+15125550182",
			"title": "Treasurer"}`)
	ask(http.MethodPost, "/graphql",
		`{"query": "mutation { addSignatory(input: {customer: \"`+customer+`\", fullName: \"Rosa Lind\", `+
			`emailAddress: \"rosa@mail.example\", phoneNumber: \"+15125550183\", title: \"CFO\"}) `+
			`{ signatory { uid } } }"}`)
	for face, read := range map[string]string{
		"REST": ask(http.MethodGet, "/v1/customers/"+customer+"/signatories", ""),
		"GraphQL": ask(http.MethodPost, "/graphql",
			`{"query": "{ customer(by: {uid: \"`+customer+`\"}) { signatories { nodes { fullName } } } }"}`),
	} {
		if !strings.Contains(read, "Ines Okafor") || !strings.Contains(read, "Rosa Lind") {
			t.Errorf("%s does not show who made it what was made: %s", face, read)
		}
	}
	if err := replica.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if answer := s.do(http.MethodGet, "/readyz", ""); answer.Code != http.StatusOK {
		t.Errorf("a dead replica takes the bank out of the balancer: %d %s", answer.Code, answer.Body)
	}
	if read := ask(http.MethodGet, "/v1/customers/"+customer+"/signatories",
		""); !strings.Contains(read, "Rosa Lind") {
		t.Errorf("nobody answers for a dead replica: %s", read)
	}
}
