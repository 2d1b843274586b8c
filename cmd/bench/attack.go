package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"bankgraph/core/access"
	"bankgraph/core/tenants"
	"bankgraph/db"
)

// attack is what one caller does to keep others from the bank. Each of its connections repeats the request. A
// caller that does not read sends it once, and again after the connection should have been cut.
type attack struct {
	name        string
	connections int
	reads       bool // the answers
	request     func(token string, n int) []byte
}

var attacks = []attack{
	// Answers of about 3 MB that nobody reads.
	{"slow-readers", 64, false, func(token string, _ int) []byte {
		fields := ""
		for i := range 30 {
			fields += fmt.Sprint(" ", strings.Repeat("a", 500), i, ": uid")
		}
		return asGraphQL(token, `{ customers(first: 200) { nodes {`+fields+` } } }`)
	}},
	// Twenty searches in each request, each counted over the whole bank.
	{"counts", 32, true, func(token string, _ int) []byte {
		fields := ""
		for i := range 20 {
			fields += fmt.Sprintf(` a%d: customers(filter: {text: \"a\"}) { totalCount }`, i)
		}
		return asGraphQL(token, "{"+fields+" }")
	}},
	// Wrong secrets for keys that do not exist, and for one that does.
	{"junk-logins", 64, true, func(_ string, n int) []byte {
		key := "bench"
		if n%2 == 0 {
			key = fmt.Sprint("junk", n)
		}
		return asHTTP("POST", "/auth/realms/sandbox/protocol/openid-connect/token",
			"application/x-www-form-urlencoded", "",
			"grant_type=client_credentials&client_secret=wrong&client_id="+key)
	}},
	// Changes that the caller may not make, each of which is recorded.
	{"refused-writes", 32, true, func(token string, n int) []byte {
		return asHTTP("POST", fmt.Sprintf("/v1/customers/%d/signatories", 1_000_001+n%100), "application/json",
			token, `{"fullName": "Mallory"}`)
	}},
}

func attackNames() string {
	names := make([]string, len(attacks))
	for i, a := range attacks {
		names[i] = a.name
	}
	return strings.Join(names, ", ")
}

func asGraphQL(token, query string) []byte {
	return asHTTP("POST", "/graphql", "application/json", token, `{"query":"`+query+`"}`)
}

func asHTTP(method, path, media, token, body string) []byte {
	authorization := ""
	if token != "" {
		authorization = "Authorization: Bearer " + token + "\r\n"
	}
	return fmt.Appendf(nil,
		"%s %s HTTP/1.1\r\nHost: bench\r\n%sContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", method, path,
		authorization, media, len(body), body)
}

const unreadFor = 8 * time.Second

// A bystander passes if its p99 is at most tolerableFactor times that of the idle bank plus tolerableMore,
// and nothing is refused.
const (
	tolerableFactor = 2
	tolerableMore   = 50 // ms
)

// withstand runs each attack on a server of its own, and fails if a bystander suffers.
func withstand(ctx context.Context, o options, b *bank) error {
	program, err := build(ctx, b.work)
	if err != nil {
		return err
	}
	neighbour, same, err := b.bystanders(ctx)
	if err != nil {
		return err
	}
	var failed error
	for _, a := range attacks {
		if o.attack != "all" && o.attack != a.name {
			continue
		}
		if err := b.withstandOne(ctx, o, program, a,
			map[string]string{"same bank": same, "other bank": neighbour}); err != nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", a.name, err))
		}
	}
	return failed
}

// bystanders makes a second bank, and returns a token for a caller of each bank who is not the attacker.
func (b *bank) bystanders(ctx context.Context) (neighbour, same string, err error) {
	c, err := openCore(b.url, b.keyset, db.Options{})
	if err != nil {
		return "", "", err
	}
	defer c.DB.Close()
	operator := access.Operator(ctx, 0, "", nil)
	_, err = c.Tenants.Add(operator,
		tenants.Draft{
			Code: "neighbour", Name: "Neighbour Bank", Zone: "UTC", Currency: "USD", Admin: "jo", Sandbox: true,
		})
	if err != nil && !errors.Is(err, tenants.ErrExists) {
		return "", "", err
	}
	var tokens []string
	for _, code := range []string{"neighbour", "sandbox"} {
		tenant, err := c.Tenants.Find(operator, code)
		if err != nil {
			return "", "", err
		}
		token, err := tokenOf(access.Operator(ctx, tenant.ID, tenant.Code, tenant.Location()), c, "bench-bystander",
			access.Readers)
		if err != nil {
			return "", "", err
		}
		tokens = append(tokens, token)
	}
	return tokens[0], tokens[1], nil
}

func (b *bank) withstandOne(
	ctx context.Context, o options, program string, a attack, bystanders map[string]string,
) error {
	server, err := serve(program, b.work, "BANKGRAPH_DATABASE_URL="+b.url, "BANKGRAPH_KEYSET="+b.keyset,
		"BANKGRAPH_PUBLIC_URL="+publicURL)
	if err != nil {
		return err
	}
	defer server.stop()
	watch := func(lasts time.Duration) map[string]*noticed {
		return watchAll(ctx, server.address, bystanders, lasts)
	}
	watch(time.Second) // to warm up
	before := memoryOf(server, "VmRSS:")
	idle := watch(seconds(o.seconds))
	attackers, stop := context.WithCancel(ctx)
	var wait sync.WaitGroup
	answers := new(tally)
	for i := range a.connections {
		wait.Go(func() { a.keepOn(attackers, server.address, b.token, i, answers) })
	}
	time.Sleep(time.Second)
	attacked := watch(seconds(o.seconds))
	stop()
	wait.Wait()
	fmt.Printf("%s: %d connections for %.0f s, answered %s; memory %d → at most %d MB\n",
		a.name, a.connections, o.seconds+1, answers, before, memoryOf(server, "VmHWM:"))
	for name := range bystanders {
		if err2 := attacked[name].report(name, idle[name]); err2 != nil {
			err = errors.Join(err, err2)
		}
	}
	return err
}

// keepOn attacks over one connection after another.
func (a attack) keepOn(ctx context.Context, address, token string, i int, answers *tally) {
	for n := i * 1_000_000; ctx.Err() == nil; {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		end := context.AfterFunc(ctx, func() { _ = conn.Close() })
		in := bufio.NewReader(conn)
		for ; ; n++ {
			if _, err := conn.Write(a.request(token, n)); err != nil {
				break
			}
			if !a.reads {
				select { // wait until it is cut, then attack again
				case <-ctx.Done():
				case <-time.After(unreadFor):
				}
				break
			}
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				break
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			answers.add(answer.StatusCode)
		}
		end()
		_ = conn.Close()
	}
}

// tally counts answers by their status.
type tally struct {
	mu  sync.Mutex
	all map[int]int
}

func (t *tally) add(status int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[int]int{}
	}
	t.all[status]++
}

func (t *tally) String() string {
	if len(t.all) == 0 {
		return "what nobody read"
	}
	return strings.TrimPrefix(fmt.Sprint(t.all), "map")
}

// noticed is what a bystander sees, who sends at most a hundred requests a second.
type noticed struct {
	round
	refused int
	first   string // the first refusal
}

// watchAll is what all bystanders see, by their names.
func watchAll(
	ctx context.Context, address string, bystanders map[string]string, lasts time.Duration,
) map[string]*noticed {
	all := map[string]*noticed{}
	var wait sync.WaitGroup
	for name, token := range bystanders {
		seen := new(noticed)
		all[name] = seen
		wait.Go(func() { seen.watch(ctx, address, token, lasts) })
	}
	wait.Wait()
	return all
}

func (s *noticed) watch(ctx context.Context, address, token string, lasts time.Duration) {
	client := &http.Client{Timeout: 30 * time.Second, Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	for end := time.Now().Add(lasts); time.Now().Before(end) &&
		ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		begun := time.Now()
		var said struct{ Data struct{ Customers any } }
		err := ask(ctx, client, address, token, `{"query":"{ customers(first: 5) { nodes { uid legalName } } }"}`,
			&said)
		if ctx.Err() != nil {
			break
		}
		s.latencies = append(s.latencies, time.Since(begun))
		if err == nil && said.Data.Customers == nil {
			err = errors.New("no customers")
		}
		if err != nil {
			s.refused++
			s.first = err.Error()
		}
	}
	slices.Sort(s.latencies)
}

// report prints what a bystander noticed, compared with the idle bank, and fails if it was too much.
func (s *noticed) report(name string, idle *noticed) error {
	bound := tolerableFactor*idle.percentile(0.99) + tolerableMore
	fmt.Printf("  %-10s idle p50 %6.1f ms, p99 %6.1f ms; attacked p50 %6.1f ms, p99 %6.1f ms (bound %.0f); %d "+
		"requests, %d refused %s\n", name,
		idle.percentile(0.5), idle.percentile(0.99), s.percentile(0.5), s.percentile(0.99), bound,
		len(s.latencies), s.refused, s.first)
	if s.refused > 0 || s.percentile(0.99) > bound {
		return fmt.Errorf("a bystander of the %s suffers", name)
	}
	return nil
}

func ask(ctx context.Context, client *http.Client, address, token, body string, said any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/graphql",
		strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	return answerOf(client, request, said)
}

// memoryOf is a server's memory in MB, as the kernel reports it.
func memoryOf(server *child, field string) (megabytes int) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", server.command.Process.Pid))
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte(field)); ok {
			_, _ = fmt.Sscan(string(value), &megabytes)
		}
	}
	return megabytes >> 10
}
