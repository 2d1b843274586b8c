package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// hostile is the number of requests for each face; for a long run use -hostile 20000.
var hostile = flag.Int("hostile", 300, "hostile requests of each face")

// hostileRequest is a request as sent over the network.
type hostileRequest struct{ method, target, text string }

// hostilePaths are the paths of each face to begin from.
var hostilePaths = map[string][]string{
	"rest": {
		"/v2/customers", "/customers/1000001/accounts", "/v3/customers/1000001/accounts/1",
		"/v1/customers/1/signatories", "/nothing", "/",
		"/api/user-management/v1/customers/1/users", "/api/user-management/v1/customers/1/roles",
		"/v1/customers/1/accounts/2/sweeps/In", "/v1/lookup",
	},
	"graph": {"/graphql"},
	"token": {
		"/auth/realms/sandbox/protocol/openid-connect/token",
		"/auth/realms/sandbox/protocol/openid-connect/certs",
		"/auth/realms/sandbox/.well-known/openid-configuration", "/auth/", "/auth",
	},
}

var (
	hostileMethods = []string{
		"GET", "GET", "GET", "POST", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT",
		"BREW", "get", "G(T",
	}
	hostilePieces = []string{
		"%", "%zz", "%2", "%2F", "%00", "%ff", "//", "/./",
		"/../", "/..", ";a=b", " ", "\t", "\x01", "\x7f", "é",
		"*", "#", "?", "?a=%zz", "?page=-1&limit=x",
		"?query={__typename}", "?query={", "%C4%B0", "\\", "|", "/",
	}
	hostileVersions = []string{
		"HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.1",
		"HTTP/1.1", "HTTP/1.0", "HTTP/1.2", "HTTP/3.0", "HTTP/x",
		"",
	}
	hostileHeaders = []string{
		"Content-Type: application/json", "Content-Type: application/json", "Content-Type: text/plain",
		"Content-Type: ;;;", "Content-Type: application/x-www-form-urlencoded",
		"Accept: text/html", "Accept: application/graphql-response+json", "Expect: miracles",
		"Transfer-Encoding: rot13", "Transfer-Encoding: chunked", "Content-Length: 7, 8",
		"Content-Length: -1", "Content-Encoding: gzip",
		"Bad Name: x", "Folded: a\r\n b", "NoColon", "X: \x00",
		"Host: other", "Origin: https://evil.example", "If-Match: %%%",
		"Idempotency-Key: " + strings.Repeat("k", 300), "Large: " + strings.Repeat("l", 30_000),
		"Authorization: Basic %%%", "Authorization: Bearer nonsense", "Upgrade: h2c", "Range: bytes=0-1",
	}
	hostileBodies = []string{
		"", "", "{}", "[]", "{", "null", `{"query":"{__typename}"}`, `{"query":"{"}`, `{"query":1}`,
		`{"a":1,"a":2}`, "\xff\xfe",
		"grant_type=client_credentials", "grant_type=%zz", strings.Repeat("[", 20_000),
		strings.Repeat("x", 40_000), `{"legalName":"\ud800"}`,
	}
)

func makeHostile(choice *rand.Rand, paths []string, token string) hostileRequest {
	one := func(of []string) string { return of[choice.IntN(len(of))] }
	r := hostileRequest{method: one(hostileMethods), target: one(paths)}
	for range choice.IntN(3) {
		at := choice.IntN(len(r.target) + 1)
		r.target = r.target[:at] + one(hostilePieces) + r.target[at:]
	}
	headers := "Host: bank\r\nConnection: close\r\n"
	if choice.IntN(20) == 0 {
		headers = "Connection: close\r\n"
	}
	if choice.IntN(3) > 0 {
		headers += "Authorization: Bearer " + token + "\r\n"
	}
	for range choice.IntN(3) {
		headers += one(hostileHeaders) + "\r\n"
	}
	body := one(hostileBodies)
	if !strings.Contains(headers, "Content-Length") && !strings.Contains(headers, "Transfer-Encoding") {
		headers += fmt.Sprintf("Content-Length: %d\r\n", len(body))
	}
	r.text = r.method + " " + r.target + " " + one(hostileVersions) + "\r\n" + headers + "\r\n" + body
	return r
}

// send returns what is wrong with the answer.
func (r hostileRequest) send(address string) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	if _, err := io.WriteString(conn, r.text); err != nil {
		return nil // cut while it was sending: TCP then loses the answer
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: r.method})
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	return r.envelope(answer, body)
}

var pagePaths = regexp.MustCompile(`^/(healthz|readyz|openapi\.yaml|docs(/.*)?|playground(/.*)?)?$`)

// face is the face in whose envelope a request must be answered; "" for pages.
func (r hostileRequest) face() string {
	path := strings.Fields(r.target + " x")[0]
	if r.method == http.MethodConnect && !strings.HasPrefix(path, "/") {
		path = "http://" + path // what stands before the path is a host
	}
	if at, err := url.ParseRequestURI(path); err == nil {
		path = at.Path
	} else {
		path, _, _ = strings.Cut(path, "?")
	}
	switch {
	case path == "/graphql":
		return "graph"
	case path == "/auth" || strings.HasPrefix(path, "/auth/"):
		return "token"
	case pagePaths.MatchString(path) && (r.method == http.MethodGet || r.method == http.MethodHead):
		return ""
	}
	return "rest"
}

func (r hostileRequest) envelope(answer *http.Response, body []byte) error {
	face := r.face()
	good := answer.StatusCode < 300
	if face == "" || r.method == http.MethodHead || len(body) == 0 && good {
		return nil
	}
	var said struct {
		Status, Code, Message string
		Data                  json.RawMessage
		Errors                []struct {
			Code, Message string
			Extensions    struct{ Code string }
		}
		Error       any
		Description string `json:"error_description"`
	}
	if media := answer.Header.Get("Content-Type"); !strings.HasPrefix(media, "application/") ||
		!strings.Contains(media, "json") {
		return fmt.Errorf("%s as %q: %.200s", answer.Status, media, body)
	}
	if err := json.Unmarshal(body, &said); err != nil {
		return fmt.Errorf("%s: %w: %.200s", answer.Status, err, body)
	}
	first := append(said.Errors, struct {
		Code, Message string
		Extensions    struct{ Code string }
	}{})[0]
	fits := map[string]bool{
		"graph": said.Data != nil || first.Message != "" && first.Extensions.Code != "",
		"token": good || said.Error != nil && said.Description != "",
		"rest":  good || said.Message != "" || first.Code != "" && first.Message != "",
	}
	if !fits[face] {
		return fmt.Errorf("%s, not in the envelope of %s: %.200s", answer.Status, face, body)
	}
	return nil
}

func TestEveryAnswerHasTheEnvelopeOfItsFace(t *testing.T) {
	t.Parallel()
	c := serveCommand{exposure: exposure{Unsent: 64, Connections: 4096}}
	s := newService(t, c)
	token := s.token("portal", s.client("portal"))
	address := s.overNetwork(&c)
	for face, paths := range hostilePaths {
		t.Run(face, func(t *testing.T) {
			t.Parallel()
			requests := make(chan hostileRequest)
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for r := range requests {
						if err := r.send(address); err != nil {
							t.Errorf("%.300q\n\t%v", r.text, err)
						}
					}
				})
			}
			choice := rand.New(rand.NewPCG(8, uint64(len(paths))))
			for range *hostile {
				requests <- makeHostile(choice, paths, token)
			}
			close(requests)
			all.Wait()
		})
	}
}
