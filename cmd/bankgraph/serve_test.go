package main

import (
	"bufio"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFirstStartEndsWithACallThatWorksAsPasted(t *testing.T) {
	t.Parallel()
	p := onData(t)
	s := p.serve()
	paste := regexp.MustCompile(`(?m)^    (curl .*)$`).FindAllStringSubmatch(s.welcome, -1)
	if len(paste) != 2 {
		t.Fatalf("welcome:\n%s", s.welcome)
	}
	for _, line := range paste {
		answer, err := exec.Command("sh", "-c", line[1]).CombinedOutput()
		if err != nil || !strings.Contains(string(answer), "Pinecrest") { // customer 1000001
			t.Errorf("%s\n%s, %v", line[1], answer, err)
		}
	}
	s.signal(syscall.SIGUSR1)
	for end := time.Now().
		Add(10 * time.Second); s.again.String() != s.welcome; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("asked for the welcome again:\n%s", s.again)
		}
	}
	var tokens []string
	for _, demo := range demoKeys {
		token := s.token(sandbox, demo.key, demo.key+"-secret")
		tokens = append(tokens, token, demo.key+"-secret")
		if status, body := s.get(s.url+"/graphql?query={__typename}", token); status != http.StatusOK {
			t.Errorf("%s: %d %s", demo.key, status, body)
		}
	}
	// Other commands use the database of the running serve.
	if out := p.ok("client", "list"); !strings.Contains(out, "demo-partner") {
		t.Errorf("client list:\n%s", out)
	}
	forged := tokens[0][:len(tokens[0])-8] + "AAAAAAAA"
	if status, _ := s.get(s.url+"/graphql?query={__typename}", forged); status != http.StatusUnauthorized {
		t.Errorf("a forged token: %d", status)
	}
	s.signal(syscall.SIGTERM)
	if err := s.end(); err != nil {
		t.Errorf("end: %v\n%s", err, s.log)
	}
	if !strings.Contains(s.log.String(), `"refused":"its signature is wrong`) {
		t.Errorf("the log does not say why a token was refused:\n%s", s.log)
	}
	for _, secret := range append(tokens, forged) {
		if strings.Contains(s.log.String(), secret) {
			t.Errorf("%.20s… stands in the log", secret)
		}
	}
}

func TestKilledServeComesUpAgain(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	s := p.serve()
	token := s.token(sandbox, "demo-staff", "demo-staff-secret")
	s.signal(syscall.SIGKILL)
	_ = s.end()
	s = p.serve("--public-url", s.url) // so that the old token's issuer has not changed
	if status, body := s.get(s.url+"/graphql?query={__typename}", token); status != http.StatusOK {
		t.Errorf("the token from before: %d %s", status, body)
	}
	s.signal(syscall.SIGINT)
	if err := s.end(); err != nil {
		t.Errorf("end: %v\n%s", err, s.log)
	}
}

func TestTheDemoBankStartsWhoeverOfItsPeopleIsSuspended(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	s := p.serve()
	token := s.token(sandbox, "demo-staff", "demo-staff-secret")
	_, body := s.get(s.url+"/graphql?query="+url.QueryEscape(
		`{ customer(by: {uid: "1000000"}) { users(first: 50) { nodes { uid loginId } } } }`), token)
	linda := regexp.MustCompile(`"uid":"([^"]+)","loginId":"linda.chen"`).FindStringSubmatch(body)
	if linda == nil {
		t.Fatalf("users: %s", body)
	}
	body = s.graphql(token, `mutation { suspendUser(input: {uid: "`+linda[1]+`"}) { user { status } } }`)
	if !strings.Contains(body, `"SUSPENDED"`) {
		t.Fatalf("suspend: %s", body)
	}
	s.signal(syscall.SIGTERM)
	if err := s.end(); err != nil {
		t.Errorf("end: %v\n%s", err, s.log)
	}
	s = p.serve()
	s.signal(syscall.SIGTERM)
	if err := s.end(); err != nil {
		t.Errorf("end: %v\n%s", err, s.log)
	}
}

// While it drains, serve answers; the second signal does not wait for it. Whatever asks it to stop first: a
// terminal that closes does so too.
func TestSecondSignalEndsServeAtOnce(t *testing.T) {
	t.Parallel()
	heard := make(chan os.Signal, 1) // under nohup serve would ignore SIGHUP, as whoever starts it does
	signal.Notify(heard, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(heard) })
	for _, first := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(first.String(), func(t *testing.T) {
			t.Parallel()
			s := onDatabase(t).serve("--drain", "1h")
			s.signal(first)
			for end := time.Now().Add(10 * time.Second); ; { // until the first signal has been heard
				if status, _ := s.get(s.url+"/readyz", ""); status == http.StatusServiceUnavailable {
					break
				}
				if time.Now().After(end) {
					t.Fatal("still ready")
				}
			}
			if status, _ := s.get(s.url+"/healthz", ""); status != http.StatusOK {
				t.Errorf("while draining: %d", status)
			}
			s.signal(syscall.SIGTERM)
			if err := s.end(); err == nil {
				t.Error("serve ended as if nothing had happened")
			}
		})
	}
}

func TestDemoBankIsNotServedToOtherMachines(t *testing.T) {
	t.Parallel()
	_, errs, status := onData(t).run("serve", "--addr", "0.0.0.0:0", "--behind-proxy")
	if status != 1 || !strings.Contains(errs, "--demo-anywhere") {
		t.Errorf("status %d, %s", status, errs)
	}
}

func TestEarnestBankHasNoDemoKeys(t *testing.T) {
	t.Parallel()
	p := onData(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	s := p.serve()
	if strings.Contains(s.welcome, "demo-staff") {
		t.Errorf("welcome:\n%s", s.welcome)
	}
	if out := p.ok("client", "list"); strings.Contains(out, "demo") {
		t.Errorf("client list:\n%s", out)
	}
}

func TestServeSaysWhereTheSecondWallIsWeak(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		program  testProgram
		weak     bool
		settings []string
	}{
		"two roles":                     {program: onDatabase(t)},
		"a private database":            {program: onDemo(t)},
		"the service's role alone":      {program: onDatabase(t), settings: []string{"BANKGRAPH_MIGRATE_URL="}},
		"the owner of the tables alone": {program: ownerAlone(onDatabase(t)), weak: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.program.T = t
			c.program.settings = append(c.program.settings, c.settings...)
			s := c.program.serve()
			if said := strings.Contains(s.log.String(), "the second wall between banks is weak"); said != c.weak {
				t.Errorf("said %v, want %v:\n%s", said, c.weak, s.log)
			}
			s.signal(syscall.SIGTERM)
			_ = s.end()
		})
	}
}

func TestTheServicesRoleAloneCannotMigrateAndSaysWhoCan(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("migrate", "down")
	p.settings = append(p.settings, "BANKGRAPH_MIGRATE_URL=")
	_, errs, status := p.run("serve", "--addr", "127.0.0.1:0")
	if status != 1 || !strings.Contains(errs, `run "bankgraph migrate"`) ||
		!strings.Contains(errs, "permission denied") {
		t.Errorf("status %d, %s", status, errs)
	}
}

// ownerAlone is the program with only the role that owns the tables.
func ownerAlone(p testProgram) testProgram {
	p.settings[0] = strings.Replace(p.settings[1], "MIGRATE_URL", "DATABASE_URL", 1)
	p.settings[1] = "BANKGRAPH_MIGRATE_URL="
	return p
}

func TestPortOfAJustKilledPredecessorIsWaitedFor(t *testing.T) {
	t.Parallel()
	predecessor, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := predecessor.Addr().String()
	go func() {
		time.Sleep(100 * time.Millisecond)
		_ = predecessor.Close()
	}()
	successor, err := listen(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = successor.Close()
}

func TestTakenPortIsSaidBeforeADatabaseStarts(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	p := onData(t)
	_, errs, status := p.run("serve", "--addr", taken.Addr().String())
	if status != 1 || !strings.Contains(errs, "BANKGRAPH_ADDR") || strings.Contains(errs, "PostgreSQL") {
		t.Errorf("status %d, %s", status, errs)
	}
}

func TestMetricsNameRoutesAndNoIds(t *testing.T) {
	t.Parallel()
	s := onDatabase(t).serve()
	s.get(s.url+"/customers/1234567/accounts?accountNumber=987654321", "")
	_, metrics := s.get(s.metrics, "")
	for _, want := range []string{"bankgraph_requests_total", "bankgraph_pool_connections", "go_goroutines"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if status, _ := s.get(s.url+"/metrics", ""); status == http.StatusOK {
		t.Error("metrics are served to everyone")
	}
	s.signal(syscall.SIGTERM)
	_ = s.end()
	if seen := metrics + s.log.String(); strings.Contains(seen, "1234567") ||
		strings.Contains(seen, "987654321") {
		t.Errorf("an id or a number was recorded:\n%s", s.log)
	}
}

func TestServeOutlivesTheReaderOfItsLog(t *testing.T) {
	t.Parallel()
	serve := onDatabase(t).command("serve", "--addr", "127.0.0.1:0")
	log, err := serve.StderrPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = serve.Process.Kill(); _ = serve.Wait() })
	lines := bufio.NewScanner(log)
	var at []string
	for at == nil && lines.Scan() {
		at = serving.FindStringSubmatch(lines.Text())
	}
	_ = log.Close()
	for range 3 { // each writes a line
		answer, err := http.Get("http://" + at[1] + "/readyz") //nolint:noctx // it ends with the test
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
	}
}

// Who may write into the data folder may put another database, or keys that they know, in place of the
// bank's.
func TestADataFolderThatEverybodyMayWriteIsTold(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	data := strings.TrimPrefix(p.settings[0], "BANKGRAPH_DATA=")
	if err := os.Chmod(data, 0o777); err != nil { //nolint:gosec // that is what is tried
		t.Fatal(err)
	}
	if s := p.serve(); !strings.Contains(s.log.String(), "everybody on this machine may replace the keys") {
		t.Errorf("nobody is told:\n%s", s.log)
	}
}
