package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"bankgraph/db/dbtest"
)

// asProgram makes the test binary run as bankgraph itself.
const asProgram = "BANKGRAPH_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		limitFiles(os.Getenv(mostFiles))
		main()
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	status := m.Run()
	_ = os.RemoveAll(withDemo.data)
	os.Exit(status)
}

// testProgram is bankgraph with its settings.
type testProgram struct {
	*testing.T
	settings []string
}

// onDatabase makes the program with a migrated database and a keyset of its own.
func onDatabase(t *testing.T) testProgram {
	t.Helper()
	keyset := filepath.Join(folder(t), "keyset.json")
	err := os.WriteFile(keyset,
		[]byte(`{"current":1,"seal":{"1":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="},`+
			`"hash":"MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="}`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	url := dbtest.URL(t)
	return testProgram{
		t, []string{
			"BANKGRAPH_DATABASE_URL=" + url, "BANKGRAPH_MIGRATE_URL=" + dbtest.Owner(url),
			"BANKGRAPH_KEYSET=" + keyset,
		},
	}
}

// onData makes the program with a private database.
func onData(t *testing.T) testProgram {
	t.Helper()
	return testProgram{t, []string{"BANKGRAPH_DATA=" + folder(t)}}
}

// withDemo is the data of a demo bank after its first start. It is made once, and copied.
var withDemo struct {
	once sync.Once
	data string
	errs string
}

// onDemo makes the program with a private database that has the demo bank, for tests that are not about a
// first start.
func onDemo(t *testing.T) testProgram {
	t.Helper()
	withDemo.once.Do(func() {
		made, err := os.MkdirTemp("", "bankgraph-demo-")
		if err != nil {
			withDemo.errs = err.Error()
			return
		}
		withDemo.data = made
		if err := os.Chmod(made, 0o755); err != nil { //nolint:gosec // the server's user must enter it
			withDemo.errs = err.Error()
			return
		}
		p := testProgram{t, []string{"BANKGRAPH_DATA=" + made}}
		if _, errs, status := p.run("demo"); status != 0 {
			withDemo.errs = errs
		} else if _, err := os.Stat(filepath.Join(made, "postgresql/pgdata/postmaster.pid")); err == nil {
			withDemo.errs = "its database was not stopped"
		}
	})
	if withDemo.errs != "" {
		t.Fatalf("the demo bank could not be made: %s", withDemo.errs)
	}
	data := folder(t)
	if out, err := exec.Command("cp", "-Rp", withDemo.data+"/.", data).CombinedOutput(); err != nil {
		t.Fatalf("copy the demo bank: %v: %s", err, out)
	}
	return testProgram{t, []string{"BANKGRAPH_DATA=" + data}}
}

// folder makes a folder that other users can enter, as the user of a private PostgreSQL must.
func folder(t *testing.T) string {
	t.Helper()
	name, err := os.MkdirTemp("", "bankgraph-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(name) })
	if err := os.Chmod(name, 0o755); err != nil { //nolint:gosec // the server's user must enter it
		t.Fatal(err)
	}
	return name
}

func (p testProgram) command(args ...string) *exec.Cmd {
	command := exec.Command(os.Args[0], args...)
	command.Env = append(os.Environ(), append(p.settings, asProgram+"=1")...)
	return command
}

// run runs a command to its end.
func (p testProgram) run(args ...string) (out, errs string, status int) {
	p.Helper()
	command := p.command(args...)
	var toOut, toErrs bytes.Buffer
	command.Stdout, command.Stderr = &toOut, &toErrs
	if err := command.Run(); err != nil && command.ProcessState == nil {
		p.Fatal(err)
	}
	return toOut.String(), toErrs.String(), command.ProcessState.ExitCode()
}

// ok runs a command that must succeed.
func (p testProgram) ok(args ...string) (out string) {
	p.Helper()
	out, errs, status := p.run(args...)
	if status != 0 {
		p.Fatalf("bankgraph %v: status %d\n%s", args, status, errs)
	}
	return out
}

// testServer is a running serve.
type testServer struct {
	*testing.T
	process *exec.Cmd
	url     string // http://127.0.0.1:PORT
	metrics string
	welcome string
	again   *buffer // what it printed after its welcome
	log     *buffer
	ended   chan error
}

// buffer can be read while it is written.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(text []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(text)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

var serving = regexp.MustCompile(`"msg":"serving","address":"([^"]+)","metrics":"([^"]+)"`)

// serve starts serve on a free port and waits for its welcome, which is printed at once.
func (p testProgram) serve(args ...string) *testServer {
	p.Helper()
	s := &testServer{T: p.T, log: new(buffer), again: new(buffer), ended: make(chan error, 1)}
	s.process = p.command(append([]string{"serve", "--addr", "127.0.0.1:0"}, args...)...)
	out, err := s.process.StdoutPipe()
	if err != nil {
		p.Fatal(err)
	}
	s.process.Stderr = s.log
	if err := s.process.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = s.process.Process.Kill() })
	welcome := make(chan string, 1)
	go func() {
		text := make([]byte, 1<<16)
		n, _ := out.Read(text)
		welcome <- string(text[:n])
		_, _ = io.Copy(s.again, out)
		s.ended <- s.process.Wait()
	}()
	select {
	case s.welcome = <-welcome:
	case <-time.After(5 * time.Minute): // a first start makes a demo bank, and lets it live some weeks
		p.Fatalf("no welcome\n%s", s.log)
	}
	if s.welcome == "" {
		p.Fatalf("serve ended: %v\n%s", <-s.ended, s.log)
	}
	var at []string // the log has another pipe and may come later
	for at == nil {
		at = serving.FindStringSubmatch(s.log.String())
		time.Sleep(time.Millisecond)
	}
	s.url, s.metrics = "http://"+at[1], "http://"+at[2]+"/metrics"
	return s
}

var working = regexp.MustCompile(`"msg":"working","metrics":"([^"]+)"`)

// work starts only the workers and waits until they work.
func (p testProgram) work() *testServer {
	p.Helper()
	s := &testServer{T: p.T, log: new(buffer), ended: make(chan error, 1)}
	s.process = p.command("work")
	s.process.Stderr = s.log
	if err := s.process.Start(); err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { _ = s.process.Process.Kill() })
	go func() { s.ended <- s.process.Wait() }()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(5 * time.Millisecond) {
		if at := working.FindStringSubmatch(s.log.String()); at != nil {
			s.metrics = "http://" + at[1] + "/metrics"
			return s
		}
		if time.Now().After(deadline) {
			p.Fatalf("no worker\n%s", s.log)
		}
	}
}

func (s *testServer) signal(what os.Signal) {
	s.Helper()
	if err := s.process.Process.Signal(what); err != nil {
		s.Fatal(err)
	}
}

// end waits until the process ends.
func (s *testServer) end() error {
	s.Helper()
	select {
	case err := <-s.ended:
		return err
	case <-time.After(time.Minute):
		s.Fatal("serve did not end")
		return nil
	}
}

// get returns the status and the body of an answer.
func (s *testServer) get(url, token string) (int, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, url, http.NoBody)
	if err != nil {
		s.Fatal(err)
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// post returns the answer to a JSON body.
func (s *testServer) post(path, token, body string) (int, string) {
	s.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, s.url+path,
		strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		s.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// graphql returns the answer to a document.
func (s *testServer) graphql(token, document string) string {
	s.Helper()
	body, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		s.Fatal(err)
	}
	_, text := s.post("/graphql", token, string(body))
	return text
}

// token asks for an access token as callers do.
func (s *testServer) token(realm, key, secret string) string {
	s.Helper()
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost,
		s.url+"/auth/realms/"+realm+"/protocol/openid-connect/token",
		strings.NewReader("grant_type=client_credentials"))
	if err != nil {
		s.Fatal(err)
	}
	request.SetBasicAuth(key, secret)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer answer.Body.Close()
	var tokens struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&tokens); err != nil || answer.StatusCode != http.StatusOK {
		s.Fatalf("token: %d, %v", answer.StatusCode, err)
	}
	return tokens.Access
}
