package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"bankgraph/db"
)

// Messages about mistyped input say what is wrong and what to do.
func TestMistakesAreExplained(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		settings, args, told string
		status               int
	}{
		{"", "client lst", `Run "bankgraph client --help"`, 2},
		{"", "client add portal", `Run "bankgraph client add --help"`, 2},
		{"", "srve", `Run "bankgraph --help" for the commands`, 2},
		{
			"BANKGRAPH_ADDR=127.0.0.1:99999", "serve",
			`--addr (BANKGRAPH_ADDR): "127.0.0.1:99999" is not a host and a port`, 2,
		},
		{"BANKGRAPH_ADDR=8080", "serve", "such as 127.0.0.1:8080", 2},
		{"BANKGRAPH_METRICS_ADDR=127.0.0.1:x", "work", "--metrics-addr (BANKGRAPH_METRICS_ADDR)", 2},
		{"BANKGRAPH_ADRR=127.0.0.1:8081", "srve", "nothing reads BANKGRAPH_ADRR; did you mean BANKGRAPH_ADDR?", 2},
		{"BANKGRAPH_DEMO_CUSTOMERS=49", "serve", "a demo bank has at least 50 customers", 2},
		{"BANKGRAPH_TRUSTED_PROXIES=,", "serve", "BANKGRAPH_TRUSTED_PROXIES) has an empty entry", 2},
		{"BANKGRAPH_TRUSTED_PROXIES=10.0.0.0/8,::ffff:127.0.0.0/104", "serve", "write it as IPv4", 2},
		{"BANKGRAPH_ORIGINS=http://Portal.example:80", "serve", "as http://portal.example\n", 2},
		{"BANKGRAPH_ORIGINS=https://jo@portal.example", "serve", "is not an origin", 2},
		{
			"BANKGRAPH_PUBLIC_URL=https://jo:hush@api.example", "serve",
			"--public-url (BANKGRAPH_PUBLIC_URL) must be", 2,
		},
		{"BANKGRAPH_DATA=", "serve", "--data (BANKGRAPH_DATA) is empty", 2},
		{"BANKGRAPH_DATA=~/bank", "serve", "write it out, or without quotes", 2},
		{"BANKGRAPH_DATABASE_URL=postgres://127.0.0.1/bank", "serve", "bankgraph keyset create FILE", 2},
		{
			"BANKGRAPH_DATABASE_URL=postgres://bank:hush@127.0.0.1:1/bank BANKGRAPH_KEYSET=/", "migrate",
			`no connection to database "bank" at 127.0.0.1:1 as role "bank", which BANKGRAPH_DATABASE_URL names: `, 1,
		},
	} {
		_, errs, status := testProgram{t, strings.Fields(c.settings)}.run(strings.Fields(c.args)...)
		if status != c.status || !strings.Contains(errs, c.told) || strings.Contains(errs, "hush") {
			t.Errorf("%s bankgraph %s: status %d\n%s", c.settings, c.args, status, errs)
		}
	}
	for _, args := range [][]string{{"version"}, {"--version"}} {
		if out := (testProgram{t, nil}).ok(args...); !strings.HasPrefix(out, "bankgraph ") ||
			!strings.Contains(out, "schema "+db.LatestVersion()) {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := (testProgram{t, nil}).ok("help", "client",
		"add"); !strings.Contains(out, "Usage: bankgraph client add") ||
		strings.Index(out, "--permissions") > strings.Index(out, "--data") {
		t.Errorf("the flags of a command come before those of all:\n%s", out)
	}
}

// With another keyset every secret would be called wrong. Nothing starts, and no new keyset is made in its
// place.
func TestWrongKeysetIsRefused(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	other := filepath.Join(t.TempDir(), "other.json")
	p.ok("keyset", "create", other)
	wrong := testProgram{t, append(p.settings, "BANKGRAPH_KEYSET="+other)}
	p.ok("client", "add", "portal", "--permissions", "all")
	p.ok("token", "portal") // makes the first signing key
	for _, command := range []string{
		"serve --addr 127.0.0.1:0", "work", "client add second --permissions all", "client rotate portal",
		"token portal",
	} {
		if _, errs, status := wrong.run(strings.Fields(command)...); status != 1 ||
			!strings.Contains(errs, other+" is not the one of this database") {
			t.Errorf("%s: status %d\n%s", command, status, errs)
		}
	}
	wrong.ok("proof")
	gone := testProgram{t, append(p.settings, "BANKGRAPH_KEYSET=/nowhere/keyset.json")}
	if _, errs, status := gone.run("serve", "--addr", "127.0.0.1:0"); status != 1 ||
		!strings.Contains(errs, "put back the copy") {
		t.Errorf("status %d\n%s", status, errs)
	}
}

func TestLostKeysetOfPrivateBankIsNotMadeAnew(t *testing.T) {
	t.Parallel()
	p := onData(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	p.ok("client", "add", "portal", "--permissions", "all")
	p.ok("token", "portal")
	data := strings.TrimPrefix(p.settings[0], "BANKGRAPH_DATA=")
	file, aside := filepath.Join(data, "keyset.json"), filepath.Join(data, "aside.json")
	if err := os.Rename(file, aside); err != nil {
		t.Fatal(err)
	}
	if _, errs, status := p.run("serve", "--addr", "127.0.0.1:0"); status != 1 ||
		!strings.Contains(errs, "keyset.json is missing") {
		t.Errorf("status %d\n%s", status, errs)
	}
	if err := os.Link(aside, file); err != nil {
		t.Errorf("something was left in its place: %v", err)
	}
	p.serve()
}

// A second serve on the same data waits for the first, which may be stopping. It says so, and obeys signals
// meanwhile.
func TestSecondServeOnTheSameDataSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	p := onDemo(t)
	p.serve()
	second := p.command("serve", "--addr", "127.0.0.1:0")
	log := new(buffer)
	second.Stderr = log
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- second.Wait() }()
	for deadline := time.Now().
		Add(15 * time.Second); !strings.Contains(log.String(),
		"waiting a while for another program"); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			_ = second.Process.Kill()
			t.Fatalf("it does not say what it waits for:\n%s", log)
		}
	}
	if err := second.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if told := log.String(); err == nil || !strings.Contains(told, "stopped before it was done") {
			t.Errorf("%v\n%s", err, told)
		}
	case <-time.After(5 * time.Second):
		_ = second.Process.Kill()
		t.Errorf("it does not hear the signal:\n%s", log)
	}
}
