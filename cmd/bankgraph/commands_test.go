package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var shown = regexp.MustCompile(`(?m)^secret +(\S{43})$`)

func TestBankAndItsKeysAreMadeOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST.BANK-1", "--name", "First Bank", "--zone", "America/Chicago", "--currency",
		"USD", "--admin", "jo")
	if out := p.ok("tenant",
		"list"); !strings.Contains(out, "FIRST.BANK-1  First Bank  America/Chicago  USD       false") {
		t.Errorf("tenant list:\n%s", out)
	}
	secret := shown.FindStringSubmatch(p.ok("client", "add", "portal", "--permissions", "readers,mCust"))
	if secret == nil {
		t.Fatal("no secret was shown")
	}
	if out := p.ok("client", "list"); strings.Contains(out, secret[1]) || !strings.Contains(out, "portal") ||
		!strings.Contains(out, ",mCust") {
		t.Errorf("client list:\n%s", out)
	}
	fresh := shown.FindStringSubmatch(p.ok("client", "rotate", "portal", "--overlap", "1h"))
	if fresh == nil || fresh[1] == secret[1] {
		t.Error("the secret was not rotated")
	}
	if out := p.ok("client", "list"); !strings.Contains(out, "old secret until") {
		t.Errorf("client list:\n%s", out)
	}
	if out := p.ok("tenant", "rekey", "FIRST.BANK-1"); !strings.Contains(out, "signs from") {
		t.Errorf("rekey: %s", out)
	}
	p.ok("client", "disable", "portal")
	if _, errs, status := p.run("token", "portal"); status != 1 ||
		!strings.Contains(errs, "the API key is disabled") {
		t.Errorf("token of a disabled key: %d, %s", status, errs)
	}
}

func TestFeesAndKeysAreConfiguredOnTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	p.ok("fee", "add", "Payments", "Outgoing Payment", "SPOT", "Gold", "12.5")
	if out := p.ok("fee",
		"list"); !strings.Contains(out, "Payments     Outgoing Payment  SPOT  Gold  12.50  USD") {
		t.Errorf("fee list:\n%s", out)
	}
	p.ok("fee", "remove", "payments", "outgoing payment", "spot", "gold")
	if _, errs, status := p.run("fee", "remove", "payments", "outgoing payment", "spot", "gold"); status != 1 ||
		!strings.Contains(errs, "no such fee") {
		t.Errorf("%d %s", status, errs)
	}
	p.ok("reporting", "add", "Purpose")
	p.ok("reporting", "remove", "social")
	if out := p.ok("reporting", "list"); out != "routingNumber\nTaxId\nPurpose\n" {
		t.Errorf("reporting list:\n%s", out)
	}
}

func TestTokenOfTheCommandLineOpensTheService(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.settings = append(p.settings, "BANKGRAPH_PUBLIC_URL=https://api.bank.example", "BANKGRAPH_TENANT=FIRST")
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	p.ok("tenant", "add", "SECOND", "--name", "Second Bank", "--zone", "UTC", "--currency", "EUR", "--admin",
		"jo")
	p.ok("client", "add", "portal", "--permissions", "all")
	token := strings.TrimSpace(p.ok("token", "portal"))
	s := p.serve()
	if status, body := s.get(s.url+"/graphql?query={__typename}", token); status != http.StatusOK {
		t.Errorf("answer: %d %s", status, body)
	}
	p.ok("client", "disable", "portal")
	if _, errs, status := p.run("token", "portal", "--tenant", "SECOND"); status != 1 ||
		!strings.Contains(errs, "no such API key") {
		t.Errorf("token of another bank's key: %d, %s", status, errs)
	}
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	for _, c := range []struct {
		args  []string
		wants []string
	}{
		{
			[]string{"tenant", "add", "a b", "--name", "x", "--zone", "Mars", "--currency", "ZZZ", "--admin", "jo"},
			[]string{"code:", "zone:", "currency:"},
		},
		{[]string{"tenant", "add", "x"}, []string{"--name"}},
		{[]string{"client", "list"}, []string{"no bank yet", "bankgraph tenant add"}},
		{[]string{"client", "list", "--tenant", "NONE"}, []string{"no bank has this code", "NONE"}},
		{[]string{"serve", "--origins", "portal.example"}, []string{"BANKGRAPH_ORIGINS"}},
		{[]string{"serve", "--addr", "nonsense"}, []string{"BANKGRAPH_ADDR"}},
		{[]string{"serve", "--keyset", ""}, []string{"BANKGRAPH_KEYSET"}},
		{[]string{"serve", "--public-url", "bank"}, []string{"BANKGRAPH_PUBLIC_URL"}},
		{[]string{"fly"}, []string{"fly", "--help"}},
	} {
		_, errs, status := p.run(c.args...)
		if status == 0 {
			t.Errorf("%v succeeded", c.args)
		}
		for _, want := range c.wants {
			if !strings.Contains(errs, want) {
				t.Errorf("%v does not name %s:\n%s", c.args, want, errs)
			}
		}
	}
}

func TestHelpListsEverySetting(t *testing.T) {
	t.Parallel()
	out, _, status := onDatabase(t).run("serve", "--help")
	for _, name := range []string{
		"DATA", "DATABASE_URL", "MIGRATE_URL", "KEYSET", "ADDR", "PUBLIC_URL", "METRICS_ADDR", "ORIGINS",
		"PLAYGROUND",
	} {
		if !strings.Contains(out, "$BANKGRAPH_"+name) {
			t.Errorf("BANKGRAPH_%s is not listed", name)
		}
	}
	if status != 0 {
		t.Errorf("status %d", status)
	}
}

func TestSchemaGoesUpAndDown(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	if out := p.ok("migrate", "status"); strings.Contains(out, " no\n") {
		t.Errorf("status:\n%s", out)
	}
	if out := p.ok("migrate", "down"); !strings.Contains(out, "undone: ") {
		t.Errorf("down: %s", out)
	}
	if _, errs, status := p.run("tenant", "list"); status != 1 ||
		!strings.Contains(errs, `run "bankgraph migrate"`) {
		t.Errorf("on an old schema: %d, %s", status, errs)
	}
	p.ok("migrate")
	p.ok("tenant", "add", "FIRST", "--name", "First Bank", "--zone", "UTC", "--currency", "USD", "--admin", "jo")
	before := p.ok("migrate", "status")
	if _, errs, status := p.run("migrate",
		"down"); status != 1 || !strings.HasPrefix(errs, "bankgraph: nothing was undone") ||
		!strings.Contains(errs, "--yes") || p.ok("migrate", "status") != before {
		t.Errorf("with a bank, and nobody to ask: %d, %s", status, errs)
	}
	p.ok("migrate", "down", "--yes")
}

func TestKeysetIsNeverWrittenOver(t *testing.T) {
	t.Parallel()
	p := testProgram{T: t}
	file := filepath.Join(t.TempDir(), "keyset.json")
	p.ok("keyset", file)
	made, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, errs, status := p.run("keyset", file); status != 1 ||
		!strings.Contains(errs, "never written over: "+file) {
		t.Errorf("status %d, %s", status, errs)
	}
	if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, made) {
		t.Errorf("the keyset has changed, %v", err)
	}
}

func TestPermissionsTellsWhoMayDoWhat(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "BANK1", "--name", "First Bank", "--zone", "America/New_York", "--currency", "USD",
		"--admin", "jane.doe")
	p.ok("client", "add", "portal", "--tenant", "BANK1", "--permissions", "vCust")
	p.ok("client", "add", "desk", "--tenant", "BANK1", "--permissions", "mCust")
	p.ok("client", "add", "gone", "--tenant", "BANK1", "--permissions", "mCust")
	p.ok("client", "disable", "gone", "--tenant", "BANK1")
	report := p.ok("permissions", "--tenant", "BANK1")
	for _, line := range []string{
		"REST,GET /customers,vCust mCust,desk portal,Administrator,jane.doe",
		"REST,POST /v1/customers/{customerId}/signatories,mCust,desk,Administrator,jane.doe",
		"GraphQL,Mutation.addSignatory,mCust,desk,Administrator,jane.doe",
		"GraphQL,Customer.accounts,View_Account Manage_Account,,Administrator,jane.doe",
	} {
		if !strings.Contains(report, line+"\n") {
			t.Errorf("%q is not in\n%s", line, report)
		}
	}
}

// One typing error in an address, and every table would be made where nobody looks for it.
func TestMigrateChangesNoOtherDatabaseThanIsServed(t *testing.T) {
	t.Parallel()
	p, other := onDatabase(t), onDatabase(t)
	other.ok("migrate", "down", "--yes")
	before := other.ok("migrate", "status")
	for _, command := range [][]string{{"migrate"}, {"migrate", "down", "--yes"}, {"serve", "--addr", "127.0.0.1:0"}} {
		wrong := testProgram{t, append(slices.Clone(p.settings), other.settings[1])}
		if _, errs, status := wrong.run(command...); status != 1 ||
			!strings.Contains(errs, "must name the same database as BANKGRAPH_DATABASE_URL") {
			t.Errorf("%v: status %d, %s", command, status, errs)
		}
	}
	if after := other.ok("migrate", "status"); after != before {
		t.Errorf("before:\n%safter:\n%s", before, after)
	}
}

// People choose their login ids, and operators open the report in a spreadsheet.
func TestPermissionsHoldNoFormulas(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	for i, login := range []string{"=1+2", "+1", "-1", "@sum"} {
		bank := fmt.Sprint("BANK", i)
		p.ok("tenant", "add", bank, "--name", "Bank", "--zone", "America/New_York", "--currency", "USD",
			"--admin="+login)
		report := p.ok("permissions", "--tenant", bank)
		if !strings.Contains(report, ",Administrator,'"+login+"\n") || strings.Contains(report, ","+login) {
			t.Errorf("%s stands as a formula in\n%.300s", login, report)
		}
	}
}

func TestAttributesAreConfiguredAtTheCommandLine(t *testing.T) {
	t.Parallel()
	p := onDatabase(t)
	p.ok("tenant", "add", "BANK1", "--name", "Bank One", "--zone", "America/New_York", "--currency", "USD",
		"--admin", "jo")
	p.ok("attribute", "add", "--tenant", "BANK1", "--level", "customer", "--name", "Next Review", "--type",
		"Date")
	if out := p.ok("attribute", "list"); !strings.Contains(out, "Next Review") ||
		!strings.Contains(out, "Date") {
		t.Error(out)
	}
	p.ok("attribute", "remove", "--level", "customer", "--name", "next review")
	if out := p.ok("attribute", "list"); strings.Contains(out, "Review") {
		t.Error(out)
	}
}

// The proof of one bank looks at no other.
func TestProofLooksAtOneBankAlone(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	p.ok("tenant", "add", "SECOND", "--name", "Second Bank", "--zone", "UTC", "--currency", "USD", "--admin",
		"jo")
	if _, err := d.Exec(
		`INSERT INTO balances (tenant, account, currency) SELECT id, 4711, 'USD' FROM tenants WHERE code = 'SECOND'`); err != nil {
		t.Fatal(err)
	}
	if out := p.ok("proof", "--tenant", "FIRST"); out != "the books hold\n" {
		t.Errorf("the bank whose books hold: %s", out)
	}
	for _, args := range [][]string{{"proof"}, {"proof", "--tenant", "SECOND"}} {
		if out, errs, status := p.run(args...); status != 1 || !strings.Contains(out, "account 4711") ||
			!strings.Contains(errs, "do not hold") {
			t.Errorf("%v: %d, %s%s", args, status, out, errs)
		}
	}
	if _, errs, status := p.run("proof", "--tenant", "NONE"); status != 1 || !strings.Contains(errs, "NONE") {
		t.Errorf("no such bank: %d, %s", status, errs)
	}
}

// Terminals of operators obey control characters. Names with them are refused, and existing ones are not
// printed as they are.
func TestNamesDoNotSteerTerminals(t *testing.T) {
	t.Parallel()
	p, d := audited(t)
	for _, evil := range []string{"x\x1b[31mred", "a\nbank two", "bell\x07", "\u009b2J", "right\u202eto left"} {
		for _, args := range [][]string{
			{"tenant", "add", "EVIL", "--name", evil, "--zone", "UTC", "--currency", "USD", "--admin", "jo"},
			{"client", "add", "evil", "--name", evil, "--permissions", "readers"},
			{"audit", "restored", "--reason", evil},
		} {
			if _, errs, status := p.run(args...); status != 1 || !strings.Contains(errs, "plain text") {
				t.Errorf("%q: %d, %s", args, status, errs)
			}
		}
		if _, errs, _ := p.run("client", "list", "--tenant", evil); strings.ContainsAny(errs, "\x1b\x07") {
			t.Errorf("an error prints %q", errs)
		}
	}
	p.ok("client", "add", "old", "--permissions", "readers")
	if _, err := d.Exec(`UPDATE clients SET name = 'x' || chr(27) || '[31mred Łódź'`); err != nil {
		t.Fatal(err)
	}
	if out := p.ok("client", "list"); strings.Contains(out, "\x1b") || !strings.Contains(out, "x?[31mred Łódź") {
		t.Errorf("%q", out)
	}
}
