package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"bankgraph/core/demo"
)

// face is one way to add a signatory. The signatory's e-mail address contains the idempotency key.
type face struct {
	name string
	path string
	body func(key string) string
}

var faces = []face{
	{"REST", "/v1/customers/" + demo.Customer(1).String() + "/signatories", func(key string) string {
		return fmt.Sprintf(
			`{"fullName": "Ada Byron", "emailAddress": "%s@mail.example", "phoneNumber": "+16145550123"}`, key)
	}},
	{"GraphQL", "/graphql", func(key string) string {
		return fmt.Sprintf(
			`{"query": "mutation { addSignatory(input: {customer: \"%s\", fullName: \"Ada Byron\", `+
				`emailAddress: \"%s@mail.example\", phoneNumber: \"+16145550123\", idempotencyKey: \"%s\"}) `+
				`{ signatory { uid emailAddress status version } approval { uid } } }"}`,
			demo.Customer(1), key, key)
	}},
}

// keepPromise sends many copies of each request at once and checks their effects (core/README.md, P2).
func keepPromise(ctx context.Context, o options, b *bank) error {
	program, err := build(ctx, b.work)
	if err != nil {
		return err
	}
	server, err := serve(program, b.work, append(b.settings(), "BANKGRAPH_RATE=0", "BANKGRAPH_TENANT_RATE=0",
		fmt.Sprintf("BANKGRAPH_IN_FLIGHT=%d", max(64, 2*o.copies)))...)
	if err != nil {
		return err
	}
	defer server.stop()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: o.copies}, Timeout: 30 * time.Second}
	defer client.CloseIdleConnections()
	for _, f := range faces {
		before, err := effects(ctx, b)
		if err != nil {
			return err
		}
		run := fmt.Sprintf("k%d", time.Now().UnixNano())
		began := time.Now()
		for n := range o.keys {
			if err := f.copies(ctx, client, server.address, b.writer, fmt.Sprintf("%s-%d", run, n),
				o.copies); err != nil {
				return fmt.Errorf("%s, key %d: %w", f.name, n, err)
			}
		}
		took := time.Since(began)
		after, err := effects(ctx, b)
		if err != nil {
			return err
		}
		for thing, n := range after {
			if n -= before[thing]; n != o.keys {
				return fmt.Errorf("%s: %d keys have left %d %s", f.name, o.keys, n, thing)
			}
		}
		fmt.Printf("%-8s %d keys × %d copies at once: %d effects, answers equal byte for byte, "+
			"no errors, %.1f s (%.0f requests/s)\n",
			f.name, o.keys, o.copies, o.keys, took.Seconds(), float64(o.keys*o.copies)/took.Seconds())
	}
	return nil
}

// copies sends a number of copies of one request at once. All must succeed with the same answer.
func (f face) copies(ctx context.Context, client *http.Client, address, token, key string, copies int) error {
	bodies, errs := make([][]byte, copies), make([]error, copies)
	var all sync.WaitGroup
	for i := range copies {
		all.Go(func() { bodies[i], errs[i] = f.send(ctx, client, address, token, key) })
	}
	all.Wait()
	for i, body := range bodies {
		if errs[i] != nil {
			return errs[i]
		}
		if !bytes.Equal(body, bodies[0]) {
			return fmt.Errorf("one copy is answered %s, and another %s", bodies[0], body)
		}
	}
	return nil
}

func (f face) send(ctx context.Context, client *http.Client, address, token, key string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+f.path,
		bytes.NewReader([]byte(f.body(key))))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Idempotency-Key", key)
	answer, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && (answer.StatusCode >= 300 || bytes.Contains(body, []byte(`"errors"`))) {
		err = fmt.Errorf("%s: %.500s", answer.Status, body)
	}
	return body, err
}

// effects counts what the requests left behind.
func effects(ctx context.Context, b *bank) (map[string]int, error) {
	conn, err := pgx.Connect(ctx, b.url)
	if err != nil {
		return nil, err
	}
	defer conn.Close(ctx)
	found := map[string]int{}
	for thing, count := range map[string]string{
		"signatories": "SELECT count(*) FROM signatories",
		"audit entries": "SELECT count(*) FROM audit_entries WHERE decision = 'done' AND action = " +
			"'addSignatory'",
		"events":           "SELECT count(*) FROM events WHERE kind = 'addSignatory'",
		"idempotency keys": "SELECT count(*) FROM idempotency_keys",
	} {
		var n int
		if err := conn.QueryRow(ctx, count).Scan(&n); err != nil {
			return nil, err
		}
		found[thing] = n
	}
	return found, nil
}
