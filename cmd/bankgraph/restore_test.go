package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"bankgraph/core/events"
	"bankgraph/core/seal"
	"bankgraph/db"
	"bankgraph/db/cluster"

	"bankgraph/core"
)

// house is a private PostgreSQL for one test.
type house struct {
	*testing.T
	*cluster.Cluster
}

func newHouse(t *testing.T) house {
	t.Helper()
	c, err := cluster.Start(context.Background(),
		cluster.Options{Data: folder(t), Binaries: os.Getenv("BANKGRAPH_POSTGRES"), Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Stop(context.Background()) })
	return house{t, c}
}

// postgres runs one of PostgreSQL's programs.
func (h house) postgres(name string, in io.Reader, args ...string) []byte {
	h.Helper()
	var out, errs bytes.Buffer
	command := exec.Command(filepath.Join(h.Binaries(), name), args...)
	command.Stdin, command.Stdout, command.Stderr = in, &out, &errs
	if err := command.Run(); err != nil {
		h.Fatalf("%s %v: %v\n%s", name, args, err, errs.String())
	}
	return out.Bytes()
}

// sql carries out statements as the owner, and returns the last line of what they say.
func (h house) sql(text string) string {
	h.Helper()
	said := strings.Split(strings.TrimSpace(string(h.postgres("psql", nil, "-Atc", text,
		"--dbname="+h.URL()))), "\n")
	return said[len(said)-1]
}

// later fails the test unless each number of the row that a query returns is above that of another row.
func (h house) later(than, query string) {
	h.Helper()
	row := h.sql(query)
	before, now := strings.Split(than, "|"), strings.Split(row, "|")
	for i := range now {
		was, errWas := strconv.Atoi(before[i])
		is, errIs := strconv.Atoi(now[i])
		if errWas != nil || errIs != nil || is <= was {
			h.Errorf("%s: %s, which was given before: %s", query, row, than)
		}
	}
}

// program is bankgraph on this server, with the bank's keys and checkpoints.
func (h house) program(keyset, kept string) testProgram {
	return testProgram{h.T, []string{
		"BANKGRAPH_DATABASE_URL=" + cluster.ServiceURL(h.URL()), "BANKGRAPH_MIGRATE_URL=" + h.URL(),
		"BANKGRAPH_KEYSET=" + keyset, "BANKGRAPH_AUDIT_CHECKPOINTS=" + kept,
	}}
}

// change creates a customer over REST.
func (s *testServer) change(token, name string) {
	s.Helper()
	body := fmt.Sprintf(`{
		"legalName": %[1]q, "shortName": %[1]q, "customerType": "Corporate", "taxId": "470123456",
		"language": "English",
		"legalAddress": {"addressLine1": "77 Mill Rd", "city": "Columbus", "state": "OH",
		"postalCode": "43215", "countryCode": "US"},
		"mailAddressSameAsLegal": true, "costCenter": "CC200", "relationshipManager": "jo",
		"originatingOfficer": "jo"}`, name)
	if status, text := s.post("/v2/customers", token, body); status >= 300 {
		s.Fatalf("%d %s", status, text)
	}
}

// feed reads the bank's events from a cursor to their end.
func (h house) feed(keyset string, from events.Cursor) (kinds []string, to events.Cursor) {
	h.Helper()
	keys, err := seal.Load(keyset, false)
	if err != nil {
		h.Fatal(err)
	}
	d, err := db.Open(cluster.ServiceURL(h.URL()), db.Options{Connections: 2})
	if err != nil {
		h.Fatal(err)
	}
	defer d.Close()
	b := &bank{Core: core.New(core.Options{DB: d, Keys: keys})}
	operator, _, err := b.operator(context.Background(), "FIRST")
	if err != nil {
		h.Fatal(err)
	}
	found, err := b.Events.After(operator, from, events.Most)
	if err != nil {
		h.Fatal(err)
	}
	for _, event := range found {
		kinds, from = append(kinds, event.Kind), event.Cursor
	}
	return kinds, from
}

// The drill of the README's section on backups: dump, restore into a new cluster, prove, verify, write, and
// follow the feed, which continues where it was.
func TestRestoreDrill(t *testing.T) {
	t.Parallel()
	keyset, kept := filepath.Join(folder(t), "keyset.json"), filepath.Join(t.TempDir(), "kept.jsonl")
	testProgram{t, nil}.ok("keyset", keyset)
	old := newHouse(t)
	p := old.program(keyset, kept)
	p.ok("migrate")
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	secret := strings.Fields(p.ok("client", "add", "portal", "--permissions", "all"))[3]
	s := p.serve()
	for n := range 5 {
		s.change(s.token("FIRST", "portal", secret), fmt.Sprintf("BEFORE%d", n))
	}
	p.ok("audit", "export") // seals and signs
	before, cursor := old.feed(keyset, events.Cursor{})
	banks := "SELECT set_config('bankgraph.tenant', '1', false); "
	old.sql(banks +
		"INSERT INTO ach_origins (tenant, origin, day, files, trace) VALUES (1, '061000146', " +
		"current_date - 1, 30, 7)")
	began := time.Now()
	dump := old.postgres("pg_dump", nil, "--format=custom", "--enable-row-security", "--dbname="+old.URL())
	for n := range 3 {
		s.change(s.token("FIRST", "portal", secret), fmt.Sprintf("LOST%d", n))
	}
	given := old.sql(told + " FROM generate_series(1, 50)")
	old.sql(banks + "UPDATE ach_origins SET day = " + newYork + ", files = 3, trace = 999")
	p.ok("audit", "export")
	_, late := old.feed(keyset, cursor)
	s.signal(os.Kill)
	_ = s.end()

	next := newHouse(t)
	next.postgres("pg_restore", bytes.NewReader(dump), "--no-owner", "--enable-row-security",
		"--exit-on-error", "--dbname="+next.URL())
	p = next.program(keyset, kept)
	p.ok("migrate")
	// What was given since the backup is out there: nothing else gets these numbers.
	next.later(given, told)
	next.later("3|999", "SELECT files, trace FROM ach_origins WHERE day = "+newYork)
	given = next.sql(told + " FROM generate_series(1, 50)")
	if out := p.ok("proof"); !strings.Contains(out, "the books hold") {
		t.Errorf("proof: %s", out)
	}
	s = p.serve()
	// A worker notes the restore itself, before anything is written.
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		out, errs, _ := p.run("audit", "verify")
		if strings.Contains(out, "lost in it: entries ") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("verify of a bank that has written nothing since: %s%s", out, errs)
		}
	}
	s.change(s.token("FIRST", "portal", secret), "AFTER")
	p.ok("audit", "export")
	out := p.ok("audit", "verify")
	t.Logf("the drill took %s\n%s", time.Since(began), out)
	if !strings.Contains(out, "hold; signed up to entry") ||
		!strings.Contains(out, "the database was restored or moved at") ||
		!strings.Contains(out, "lost in it: entries ") {
		t.Errorf("verify: %s", out)
	}
	if kinds, _ := next.feed(keyset, events.Cursor{}); len(kinds) != len(before)+1 {
		t.Errorf("the whole feed: %v, before the restore %v", kinds, before)
	}
	for name, from := range map[string]events.Cursor{"before the backup": cursor, "behind what was lost": late} {
		if kinds, _ := next.feed(keyset, from); len(kinds) != 1 || kinds[0] != "createCustomer" {
			t.Errorf("a cursor from %s: %v", name, kinds)
		}
	}
	s.shows(`bankgraph_audit_holds{tenant="FIRST"} 1`)
	// What waits in the backup may have left since: an operator says that it may go.
	s.shows(`bankgraph_sends{tenant="FIRST"} 0`)
	if _, errs, _ := p.run("sending", "list"); !strings.Contains(errs, "nothing leaves it for a network") {
		t.Errorf("sending list: %s", errs)
	}
	p.ok("sending", "resume", "--reason", "the networks' reports, nothing cancelled")
	s.shows(`bankgraph_sends{tenant="FIRST"} 1`)

	// The same backup once more: what was given after its first restore is out there, too.
	s.signal(os.Kill)
	_ = s.end()
	again := newHouse(t)
	again.postgres("pg_restore", bytes.NewReader(dump), "--no-owner", "--enable-row-security",
		"--exit-on-error", "--dbname="+again.URL())
	again.program(keyset, kept).ok("migrate")
	again.later(given, told)
	again.later("13|300999", "SELECT files, trace FROM ach_origins WHERE day = "+newYork)
}

// told are numbers by which others know things.
const told = "SELECT nextval('payment_uids'), nextval('virtual_posting_ids'), nextval('fee_tier_ids'), " +
	"nextval('network_messages_ids'), nextval('webhook_delivery_uids')"

// newYork is today where ACH has its days.
const newYork = "(now() AT TIME ZONE 'America/New_York')::date"

// shows waits until the metrics have a line.
func (s *testServer) shows(line string) {
	s.Helper()
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		_, metrics := s.get(s.metrics, "")
		if strings.Contains(metrics, line+"\n") {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("no %s in the metrics:\n%s", line, metrics)
		}
	}
}
